"""Parts taken away and numbers changed: what is scored, and how a change in AUROC is measured."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from tjlib import features, material, store
from tjlib.charts import ablation as charts
from tjlib.measure.by_task import ONE_TASK
from tjlib.measure.compare import compare
from tjlib.measure.wins import NO_PAIR, changes, direction
from tjlib.rerun import rerun
from tjlib.studies import ablation
from tjlib.trace import Step, Trajectory
from tjlib.uncertainty.graph import build
from tjlib.uncertainty.parameters import RELATIONS, Parameters
from tjlib.uncertainty.signals import Local
from tjlib.uncertainty.variants import RANDOM, VARIANTS


def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="module")
def airline():
    return material.load("features", [], "jaccard", "entropy")


@pytest.fixture(scope="module")
def structural(airline):
    return [Local((0.0,) * len(u.u), "constant") for u in airline.local]


@pytest.fixture(scope="module")
def parts(airline, structural):
    return ablation.components(airline.graphs, structural, airline.runs["task"], seed=0)


@pytest.fixture(scope="module")
def settings(airline, structural):
    graphs = {w: material.load("features", [], "jaccard", "entropy", Parameters(window=w)).graphs
              for w in ablation.GRIDS["window"]}
    return ablation.sensitivity(graphs, structural, airline.runs["task"])


def test_a_change_and_its_interval_are_those_of_the_other_definition(airline, parts):
    """`compare` counts thresholds and draws runs' weights; `changes` counts pairs by task."""
    failed, runs = airline.runs["failed"].astype(bool), airline.runs
    single = {name: parts[name] for name in ("full", "no_goal", "flat")}
    frame = pd.DataFrame({name: column[:, 0] for name, column in single.items()})
    other = compare(frame, failed, runs["task"], rng(), draws=300,
                    strata={"same_length": runs["steps"]}, pairs=[("no_goal", "full")])
    other = other.set_index(["method", "metric"])
    for metric, strata in (("auroc", None), ("auroc|same_length", runs["steps"])):
        found = changes(single, {"no_goal": "full"}, failed, runs["task"], rng(), strata=strata,
                        draws=300).set_index("name")
        for name in single:
            assert found.loc[name, ["value", "lo", "hi"]].tolist() == pytest.approx(
                other.loc[(name, metric), ["value", "lo", "hi"]].tolist())
        assert found.loc["no_goal", ["change", "change_lo", "change_hi"]].tolist() == (
            pytest.approx(other.loc[("no_goal - full", metric), ["value", "lo", "hi"]].tolist()))
        assert found["pairs"].eq(other.loc[("full", metric), "pairs"]).all()


def test_the_aurocs_of_seeds_are_averaged_and_not_their_scores():
    failed = [True, True, False]
    scores = np.array([[9.0, 0.0], [0.0, 2.0], [1.0, 1.0]])  # the means would rank both rightly
    assert scores.mean(axis=1)[:2].min() >= scores.mean(axis=1)[2]
    found = changes({"drawn": scores}, {}, failed, ["a", "b", "c"], rng(), draws=50)
    assert found["value"].tolist() == [0.5]


def test_scikit_learn_agrees_on_the_average_over_twenty_random_graphs(airline, parts):
    failed = airline.runs["failed"].astype(bool)
    found = changes(parts, {}, failed, airline.runs["task"], rng(), draws=50).set_index("name")
    for name in RANDOM:
        assert parts[name].shape == (200, 20)
        assert found.loc[name, "value"] == pytest.approx(
            np.mean([roc_auc_score(failed, column) for column in parts[name].T]))


def test_what_one_class_or_one_task_leaves_undefined_says_so():
    scores = {"a": np.array([[1.0], [2.0]])}
    all_failed = changes(scores, {}, [True, True], ["x", "y"], rng(), draws=50).iloc[0]
    assert (all_failed["value"], all_failed["why"]) == (None, NO_PAIR)
    nobody = changes({"a": np.zeros((0, 1))}, {}, [], [], rng(), draws=50).iloc[0]
    assert (nobody["value"], nobody["why"], nobody["n"]) == (None, NO_PAIR, 0)
    one_task = changes(scores, {}, [True, False], ["x", "x"], rng(), draws=50).iloc[0]
    assert (one_task["value"], one_task["lo"], one_task["why"]) == (0.0, None, ONE_TASK)


def test_a_run_one_score_is_missing_for_is_left_out_for_all():
    scores = {"a": np.array([[1.0], [2.0], [3.0]]), "b": np.array([[1.0], [np.nan], [3.0]])}
    found = changes(scores, {}, [False, True, True], ["x", "y", "z"], rng(), draws=50)
    assert found["n"].tolist() == [2, 2] and found["pairs"].tolist() == [1, 1]


def test_every_variant_is_scored_and_flat_is_the_control_of_the_benchmark(airline, parts):
    assert set(parts) == {*VARIANTS, "unbounded", "flat", "n_steps"}
    assert set(ablation.NUMBERS) == set(ablation.GRIDS)
    stored = features.scores(features.read("tau_airline"), "jaccard", "entropy")
    for name, method in (("flat", "flat"), ("full", "rupa_structural"), ("n_steps", "n_steps")):
        wanted = stored[stored["method"] == method]["value"].astype(float)
        assert parts[name][:, 0] == pytest.approx(wanted.to_numpy(), rel=1e-6)
    own = ablation.components(airline.graphs, airline.local, airline.runs["task"], 0, seeds=1)
    wanted = stored[stored["method"] == "flat_u"]["value"].astype(float)
    assert own["flat"][:, 0] == pytest.approx(wanted.to_numpy(), rel=1e-6)


def test_the_same_seed_draws_the_same_edges_and_another_seed_others(airline, structural, parts):
    some, tasks = slice(0, 8), airline.runs["task"][:8]
    again = ablation.components(airline.graphs[some], structural[some], tasks, 0, seeds=2)
    later = ablation.components(airline.graphs[some], structural[some], tasks, 1, seeds=1)
    for name in RANDOM:
        assert (again[name] == parts[name][some, :2]).all()
        assert (later[name][:, 0] == parts[name][some, 1]).all()
        assert (again[name][:, 0] != again[name][:, 1]).any()


def test_on_airline_flat_and_length_rank_as_well_as_structural_rupa(airline, parts):
    found = changes(parts, dict.fromkeys(parts, "full"), airline.runs["failed"].astype(bool),
                    airline.runs["task"], rng(), draws=500).set_index("name")
    value = found["value"].astype(float).round(3)
    assert value[["full", "no_graph", "flat", "n_steps", "sequential_only"]].tolist() == [
        0.682, 0.630, 0.677, 0.683, 0.684]
    for name in ("flat", "n_steps", "sequential_only", "no_momentum"):
        assert found.loc[name, "change_lo"] < 0 < found.loc[name, "change_hi"]


@pytest.mark.parametrize(("name", "full", "lower", "higher"), [
    ("agentdojo", 0.550, {"no_goal", "drop50", "no_repetition"}, {"no_momentum"}),
    ("tau2", 0.648, {"no_graph", "no_propagation", "no_goal", "random_graph", "sequential_only",
                     "no_repetition", "no_feedback"}, set()),
    ("swe_agent", 0.661, set(), set()), ("nemo_gym", 0.614, {"random_graph"}, set())])
def test_on_no_other_set_is_flat_told_from_structural_rupa(name, full, lower, higher):
    m = material.load(name, [])
    judged = m.runs["failed"].notna().to_numpy()
    same = [Local((0.0,) * len(u.u), "constant") for u in m.local]
    scored = ablation.components(m.graphs, same, m.runs["task"], 0)
    found = changes({part: column[judged] for part, column in scored.items()},
                    dict.fromkeys(set(scored) - {"full"}, "full"),
                    m.runs["failed"][judged].astype(bool), m.runs["task"][judged], rng(),
                    draws=1000).set_index("name")
    assert float(found.loc["full", "value"]) == pytest.approx(full, abs=5e-4)
    assert direction(found.loc["flat"]) == "open"
    assert {direction(found.loc[part]) for part in lower} <= {"lower"}
    assert {direction(found.loc[part]) for part in higher} <= {"higher"}


def test_every_number_at_its_default_changes_nothing(parts, settings):
    assert set(settings) == {(name, v) for name, grid in ablation.GRIDS.items() for v in grid}
    for name in ablation.GRIDS:
        if name != "temperature":
            assert (settings[name, ablation.default(name)] == parts["full"]).all()


def test_a_number_at_its_end_is_the_variant_that_takes_the_part_away(parts, settings):
    assert (settings["lam_h", 0] == parts["local_only"]).all()
    assert (settings["eta_m", 0] == parts["no_momentum"]).all()
    assert (settings["p_max", None] == parts["unbounded"]).all()
    for name in RELATIONS:
        assert settings[name, 0] == pytest.approx(parts[f"no_{name}"])


def test_the_defaults_are_those_the_paper_prints():
    printed = store.published("rupa_table5_hyperparameters").set_index("name")["value"].to_dict()
    names = {"window": "window", "edge_decay_delta": "delta", "momentum_decay_gamma": "gamma",
             "eta_graph": "eta_g", "eta_momentum": "eta_m", "lambda_local": "lam_u",
             "lambda_history": "lam_h"}
    assert printed == {long: ablation.default(name) for long, name in names.items()}
    assert set(ablation.GRIDS) == {*names.values(), *RELATIONS, *ablation.NOT_PRINTED}


def test_without_own_uncertainty_its_weight_changes_nothing(parts, settings):
    assert all((settings["lam_u", v] == parts["full"]).all() for v in ablation.GRIDS["lam_u"])


def test_at_an_infinite_temperature_every_relation_counts_alike(parts, settings):
    """At T = inf equation 6 makes every reliability 1, as it is without calibration."""
    assert settings["temperature", np.inf] == pytest.approx(parts["full"], abs=1e-6)


def test_the_page_takes_a_log_of_runs_without_a_step_apart(tmp_path):
    """Outcomes there are, of both kinds, and no score to rank them by."""
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps({
        "id": f"r-{i}", "task_id": f"t-{i}", "success": i % 2 == 0,
        "messages": [{"role": "user", "content": "Refund order 7."}]}) + "\n" for i in range(4)))
    done = rerun("b5_ablation", {"traces": str(log), "draws": 100}, tmp_path / "out")
    assert NO_PAIR in done.with_suffix(".html").read_text(encoding="utf-8")


def test_a_run_without_a_step_has_no_score():
    runs = [Trajectory("t-1", "Refund it.", (), ""),
            Trajectory("t-2", "Refund it.", (Step("Look."),), "")]
    local = [Local((), "constant"), Local((0.0,), "constant")]
    found = ablation.components([build(run) for run in runs], local, ["a", "b"], 0, seeds=1)
    assert all(np.isnan(column[0]).all() and not np.isnan(column[1]).any()
               for column in found.values())


def test_a_default_that_is_not_printed_has_a_mark_of_its_own():
    rows = pd.DataFrame({
        "number": ["p_max", "p_max"], "setting": ["1", "1.5"], "form": "structural",
        "change": [0.1, 0.0], "lo": [0.0, np.nan], "hi": [0.2, np.nan], "shown": "",
        "default": ["", "not printed"]})
    hollow = [layer for layer in charts.sensitivity(rows).to_dict()["spec"]["layer"]
              if layer["mark"].get("style") == "published"]
    assert [layer["transform"][-1]["filter"] for layer in hollow] == ["datum.default != ''"]
    assert hollow[0]["encoding"]["shape"] == {
        "condition": {"test": "datum.default == 'printed'", "value": "diamond"}, "value": "cross"}
