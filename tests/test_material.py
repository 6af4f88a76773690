"""A log with its text and the numbers stored of it give a page the same things."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pandas as pd
import pytest

from tjlib import features, material, store
from tjlib.compact import compact
from tjlib.desk import testbed
from tjlib.extract import extract
from tjlib.formats.imported import Imported
from tjlib.material import LOCAL, OWN, load
from tjlib.textscores import scored
from tjlib.trace import InputError

RUNS = testbed.judged_set(7)[0][::50]


@pytest.fixture
def stored(monkeypatch):
    """The testbed's tables, of a few runs and read by nobody in particular."""
    runs = [Imported(t, 1, k % 2 == 0, task_id=f"t{k}") for k, t in enumerate(RUNS)]
    tables = extract(runs, ["jaccard"])
    columns = {f"{part}_{what}": 2.0 + np.arange(len(tables.steps)) % 3
               for part in ("message", "call") for what in ("tokens", "nll", "entropy")}
    tables = tables._replace(steps=tables.steps.assign(
        **columns, content_nll=0.0, dropped=0, max_nll=9.0, max_entropy=9.0))
    tables = scored(runs, tables, ["jaccard"])
    monkeypatch.setattr(features, "read", lambda name: tables)
    return tables


def test_stored_runs_and_their_log_give_the_same_graphs_lengths_and_scores(stored, tmp_path):
    path = tmp_path / "runs.jsonl"
    store.write(path, RUNS)
    ours, theirs = (load(traces, ["n_steps", "random"]) for traces in ("testbed", str(path)))
    assert ours.runs["steps"].tolist() == theirs.runs["steps"].tolist()
    for a, b in zip(ours.graphs, theirs.graphs, strict=True):
        assert np.array_equal(a.q, b.q)
        # Edges into one step come in another order.
        assert (sorted(zip(a.edges.target, a.edges.source, a.edges.relation, strict=True))
                == sorted(zip(b.edges.target, b.edges.source, b.edges.relation, strict=True)))
    assert compact(ours.scores).scores.equals(compact(theirs.scores).scores)
    assert ours.runs["failed"].tolist() == [k % 2 == 1 for k in range(len(RUNS))]
    assert set(theirs.runs["failed"]) == {None}
    assert theirs.runs["task"].tolist() == [t.trajectory_id for t in RUNS]


def test_the_scores_come_in_the_order_asked_for_and_only_those(stored):
    found = load("testbed", ["sp_sum", "n_steps"]).scores
    assert found["method"].unique().tolist() == ["sp_sum", "n_steps"]
    assert set(found["u_source"]) == {"surrogate"}


def test_without_a_signal_no_method_that_needs_one_has_a_score(stored):
    found = load("testbed", list(LOCAL), signal="constant")
    own = found.scores["method"].isin(OWN)
    assert found.source == "constant" and found.scores.loc[own, "value"].isna().all()
    assert found.scores.loc[own, "why"].str.startswith("not computable").all()
    assert found.scores.loc[found.scores["method"] == "n_steps", "value"].notna().all()


def test_log_probabilities_of_a_log_are_the_agents_own(tmp_path):
    steps = tuple(msgspec.structs.replace(step, logprobs=(-0.5, -1.5)) for step in RUNS[0].steps)
    path = tmp_path / "runs.jsonl"
    store.write(path, [msgspec.structs.replace(RUNS[0], steps=steps)])
    found = load(str(path), ["sp_mean"])
    assert found.source == "logprob" and found.scores["value"].tolist() == [1.0]
    assert load(str(path), ["sp_mean"], signal="constant").scores["value"].isna().all()


def test_a_signal_that_is_not_there_is_refused(tmp_path):
    path = tmp_path / "runs.jsonl"
    store.write(path, RUNS[:1])
    assert load(str(path), ["pe"]).source == "constant"
    for signal, what in (("nll", "log-probabilities"), ("entropy", "distributions")):
        with pytest.raises(InputError, match=what):
            load(str(path), ["pe"], signal=signal)
    with pytest.raises(InputError, match="no signal"):
        load(str(path), ["pe"], signal="gut")
    with pytest.raises(InputError, match="no local signal"):
        load(str(path), ["rupa"])


def test_the_published_table_and_prose_are_as_the_shared_ones(shared):
    for name in ("rupa_table1", "rupa_prose_numbers"):
        theirs = pd.read_csv(shared / "published" / f"{name}.csv")
        assert store.published(name).equals(theirs)


def test_the_desks_steps_are_as_uncertain_as_their_calls_as_in_its_scores():
    found = load("testbed", ["sp_mean"])
    means = [sum(u.u) / len(u.u) for u in found.local]
    assert found.scores["value"].astype(float).tolist() == pytest.approx(means)


def test_a_stored_set_that_nothing_read_refuses_the_signals_it_does_not_have():
    for signal in ("nll", "entropy"):
        with pytest.raises(InputError, match=f"swe_agent: .* no {signal}; give signal auto"):
            load("swe_agent", [], signal=signal)
    assert load("swe_agent", []).source == "constant"


def test_a_set_s_source_is_that_of_most_of_its_runs_and_not_of_its_first():
    """AgentDojo's one run without a step, NeMo Gym's four runs with log-probabilities."""
    for name in ("agentdojo", "nemo_gym"):
        found = load(name, [])
        assert {u.source for u in found.local} == {"constant", "logprob"}
        assert found.source == "constant"


def test_the_chosen_runs_stand_first_beside_the_public_sets():
    chosen = load("tau2", [])
    found = material.beside("tau2", chosen)
    assert list(found) == ["tau2", "tau-bench airline", "AgentDojo", "SWE-agent", "NeMo Gym"]
    assert found["tau2"] is chosen
    assert [len(m.runs) for m in found.values()] == [437, 200, 1444, 100, 183]
    assert next(iter(material.beside("my.jsonl", chosen))) == "this log"
    assert next(iter(material.beside("tau2_students", chosen))) == "tau2_students"


def test_models_tell_the_runs_of_a_set_apart():
    assert len(set(load("tau2", []).runs["model"])) == 21
    assert len(set(load("features", []).runs["model"])) == 1


def test_a_log_is_read_without_any_method_too_and_with_its_text():
    path = Path(__file__).parent / "examples" / "tau_bench.json"
    found = load(str(path), [])
    assert found.scores.empty and list(found.scores) == list(load(str(path), ["n_steps"]).scores)
    assert [e.trajectory.trajectory_id for e in found.evidence] == list(found.runs.index)
    assert load("features", []).evidence is None
