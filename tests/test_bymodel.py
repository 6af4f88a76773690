"""AUROC inside each model: which runs are one model's, and how models are averaged."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from tjlib.compact import compact
from tjlib.measure.inside import MEAN, inside
from tjlib.studies import across, bymodel


def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="module")
def sets():
    return across.stored()


def test_a_defence_is_a_set_up_of_the_model_it_stands_around(sets):
    pipelines = set(sets["agentdojo"]["model"])
    groups = {}
    for name in pipelines:
        groups.setdefault(bymodel.model_of(name), set()).add(name)
    assert (len(pipelines), len(groups)) == (28, 22)
    assert {base: len(of) for base, of in groups.items() if len(of) > 1} == {
        "gpt-4o-2024-05-13": 5, "Meta-SecAlign-70B": 2, "meta-llama_Llama-3.3-70B-Instruct": 2}
    assert groups["gpt-4o-2024-05-13"] == {"gpt-4o-2024-05-13", *(
        f"gpt-4o-2024-05-13-{end}" for end in bymodel.DEFENCES)}
    assert "gpt-4o-mini-2024-07-18" in groups and "command-r-plus" in groups


@pytest.mark.parametrize("name", ["gpt-4.1 (llm_agent_solo)", "tool_filter", "", "x-y"])
def test_any_other_name_is_its_own(name):
    assert bymodel.model_of(name) == name


def test_a_model_behind_defences_is_compared_within_each_and_counts_once(sets):
    found = bymodel.by_model(sets["agentdojo"], ["n_steps"], rng(), 50).set_index("model")
    runs, scores, *_ = compact(sets["agentdojo"])
    runs = runs.assign(steps=scores["n_steps"]).dropna(subset=["success", "steps"])
    won = pairs = 0
    for _, part in runs[runs["model"].str.startswith("gpt-4o-2024-05-13")].groupby("model"):
        failed = part["success"].eq(0)
        n = failed.sum() * (~failed).sum()
        won, pairs = won + n * roc_auc_score(failed, part["steps"]), pairs + n
    row = found.loc["gpt-4o-2024-05-13"]
    assert row["value"] == pytest.approx(won / pairs)
    assert row[["setups", "pairs", "n", "n_failed"]].tolist() == [5, pairs, 260, 90]
    # The mean is of 22 models, each once.
    alone = found.drop(index=MEAN)["value"].astype(float)
    assert len(alone) == 22 and found.loc[MEAN, "value"] == pytest.approx(alone.mean())
    assert found.loc[MEAN, "value"] == pytest.approx(0.436, abs=5e-4)


def test_a_model_with_one_outcome_or_few_of_one_is_undefined_and_not_averaged(sets):
    found = bymodel.by_model(sets["tau2"], ["n_steps", "flat"], rng(), 50)
    why = found[found["method"] == "n_steps"].set_index("model")["why"]
    assert why["gpt-5.4 (ironforge)"] == "undefined: every run failed"
    assert why["gpt-4.1-mini"] == "undefined: fewer than 5 runs that failed, or that did not"
    assert why["gpt-4.1"] == ""
    mean = found[found["model"] == MEAN].iloc[0]
    assert (mean["setups"], (why.drop(MEAN) == "").sum()) == (10, 10)
    nemo = bymodel.by_model(sets["nemo_gym"], ["flat"], rng(), 50).set_index("model")
    assert nemo["value"].isna().all() and nemo.loc[MEAN, "why"].startswith("undefined: ")


def test_the_mean_over_models_is_not_the_pool_of_their_pairs():
    """Model a: 25 pairs, all won; model b: 50, none. The mean is one half, the pool a third."""
    a, b = [1] * 5 + [0] * 5, [1] * 5 + [0] * 10
    scores = pd.DataFrame({"s": [2] * 5 + [1] * 5 + [1] * 5 + [2] * 10})
    found = inside(scores, a + b, range(25), ["a"] * 10 + ["b"] * 15, rng(), draws=50)
    assert found["value"].tolist() == [1.0, 0.0, 0.5]
    assert found["pairs"].tolist() == [25, 50, 75]


def test_intervals_draw_whole_tasks():
    """Ten copies of each task tell no more than one: the interval is as wide."""
    scores = pd.DataFrame({"s": [5, 1, 4, 2, 3, 1, 2, 6, 1, 3, 2, 0]})
    failed, tasks = [1, 0] * 6, list(range(12))
    once = inside(scores, failed, tasks, ["m"] * 12, rng(), draws=400).iloc[0]
    many = inside(pd.concat([scores] * 10), failed * 10, tasks * 10, ["m"] * 120, rng(),
                  draws=400).iloc[0]
    assert many[["value", "lo", "hi"]].tolist() == pytest.approx(
        once[["value", "lo", "hi"]].tolist())
    single = inside(pd.concat([scores] * 10), failed * 10, range(120), ["m"] * 120, rng(),
                    draws=400).iloc[0]
    assert single["hi"] - single["lo"] < (once["hi"] - once["lo"]) / 2


def test_of_no_run_with_a_score_there_is_no_value_and_no_rate(sets):
    nothing = next(iter(sets.values())).assign(value=None)
    [row] = bymodel.by_model(nothing, ["flat"], np.random.default_rng(0), 100).to_dict("records")
    assert (row["n"], row["value"], row["why"]) == (0, None, "undefined: no model has a value")
    assert np.isnan(row["rate"])


def test_the_rate_is_the_models_share_of_failures(sets):
    found = bymodel.by_model(sets["agentdojo"], ["n_steps"], rng(), 50).set_index("model")
    assert found.loc["claude-3-7-sonnet-20250219", "rate"] == pytest.approx(6 / 52)
    assert found.loc["command-r", "rate"] == pytest.approx(40 / 52)
