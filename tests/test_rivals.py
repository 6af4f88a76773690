"""RUPA minus length, its inputs and the best rival: how the rival is chosen, and what comes out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from tjlib.charts import benchmark as charts
from tjlib.compact import compact
from tjlib.studies import across, rivals
from tjlib.uncertainty.crossfit import half


def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="module")
def sets():
    return across.stored()


@pytest.fixture(scope="module")
def tau2(sets):
    return rivals.against(sets["tau2"], rng(), 300).set_index(["control", "other"])


def flipped(found, this):
    """Turn the outcomes of one half of the tasks."""
    turned = found["task_id"].map(half).eq(this) & found["success"].notna()
    success = found["success"].where(~turned, 1 - found["success"].astype(float))
    return found.assign(success=success)


def halves_and_values(found):
    runs, scores, *_ = compact(found)
    names = [name for name in rivals.RIVALS if scores[name].notna().all()]
    return (~runs["success"].astype(bool)).to_numpy(), runs["task_id"].map(half), scores[names]


def test_the_rival_of_a_half_is_chosen_on_the_other_half_by_hand():
    values = pd.DataFrame({"a": [2, 1, 1, 2], "b": [1, 2, 2, 1]})
    failed, halves = [True, False, True, False], [0, 0, 1, 1]
    # a ranks half 0 rightly and half 1 wrongly, b the other way round.
    assert rivals.chosen(values, failed, halves) == {0: "b", 1: "a"}
    # No pair of half 0 shares a stratum: nothing to choose half 1's rival by.
    assert rivals.chosen(values, failed, halves, ["x", "y", "z", "z"]) == {0: "b", 1: None}
    assert rivals.chosen(values, failed, [0, 0, 0, 0]) == {0: None, 1: "a"}


@pytest.mark.parametrize("this", [0, 1])
def test_no_outcome_of_a_half_chooses_its_rival(sets, this):
    """All of a half's outcomes turned: its own rival stays, the other half's is another."""
    before = halves_and_values(sets["tau2"])
    after = halves_and_values(flipped(sets["tau2"], this))
    one, other = (rivals.chosen(values, failed, halves) for failed, halves, values in (
        before, after))
    assert one[this] == other[this] and one[1 - this] != other[1 - this]


def test_minus_the_best_rival_is_the_pair_weighted_mean_of_the_halves(sets, tau2):
    failed, halves, values = halves_and_values(sets["tau2"])
    best = rivals.chosen(values, failed, halves)
    scores = compact(sets["tau2"]).scores
    total = pairs = 0
    for this in (0, 1):
        of = halves.to_numpy() == this
        n = failed[of].sum() * (~failed[of]).sum()
        total += n * (roc_auc_score(failed[of], scores["rupa_structural"][of])
                      - roc_auc_score(failed[of], values[best[this]][of]))
        pairs += n
    row = tau2.loc[("pooled", "best")]
    assert row["value"] == pytest.approx(total / pairs) and row["pairs"] == pairs
    assert row["of"] == f"{best[0]} or {best[1]}" == "n_words or n_steps"


def test_the_other_differences_are_those_of_evaluating_the_set(sets, tau2):
    pairs = [("rupa_structural", "n_steps"), ("rupa_structural", "flat")]
    table = across.measured({"tau2": sets["tau2"]}, pairs, 0, 300)
    table = table.set_index(["method", "metric"])
    metrics = {"pooled": "auroc", **{c: f"auroc|same_{c}" for c in ("model", "length", "task")}}
    for control, metric in metrics.items():
        for other, name in (("length", "n_steps"), ("flat", "flat")):
            wanted = table.loc[(f"rupa_structural - {name}", metric)]
            row = tau2.loc[(control, other)]
            assert row["value"] == pytest.approx(wanted["value"])
            assert row["pairs"] == wanted["pairs"]
            assert row["lo"] < row["value"] < row["hi"]


def test_structural_rupa_beats_its_inputs_on_no_set_and_length_on_agentdojo_alone(sets):
    """The chapter's answer; AgentDojo's length ranks the wrong way round, and negated it wins."""
    for name in ("tau_airline", "agentdojo", "tau2", "swe_agent", "nemo_gym"):
        found = rivals.against(sets[name], rng(), 1000)
        known = found[found["lo"].notna()]
        told = known[(known["lo"] > 0) | (known["hi"] < 0)].set_index(["other", "control"])
        assert "flat" not in told.index.get_level_values("other")
        length = {} if "length" not in told.index else told.loc["length", "value"].to_dict()
        wanted = {"agentdojo": {"pooled": .163, "model": .108, "length": .135, "task": .229},
                  "tau2": {"model": -.101}}.get(name, {})
        assert length == pytest.approx(wanted, abs=5e-4)
        if name == "agentdojo":
            assert told.loc[("best", "task"), "of"] == "fewer_steps"
            assert told.loc[("best", "task"), "value"] == pytest.approx(-.225, abs=5e-4)


def test_what_a_set_has_no_pairs_for_says_why(sets):
    found = rivals.against(sets["swe_agent"], rng(), 50).set_index(["control", "other"])
    assert set(found.loc["model", "why"]) == {rivals.ONE_MODEL}
    assert found.loc[("task", "best"), "why"] == rivals.NO_RIVAL
    assert found.loc[("task", "length"), "why"] == (
        "undefined: no failed and successful run share the stratum")
    assert found.loc["model", "value"].isna().all() and found.loc["task", "value"].isna().all()


def test_a_rival_that_few_runs_have_takes_no_run_from_the_others(sets):
    found = rivals.against(sets["nemo_gym"], rng(), 50)
    assert set(found["n"]) == {157} and not found["of"].str.contains("pe").any()
    own = rivals.against(sets["tau_airline"], rng(), 50, ours="rupa", flat="flat_u")
    assert set(own["n"]) == {200} and own["of"].str.contains("saup_d0").any()


def test_a_log_of_one_outcome_has_no_difference_and_says_so(sets):
    some = sets["swe_agent"]
    found = rivals.against(some[some["success"].eq(0)], rng(), 50)
    assert found["value"].isna().all() and found["why"].str.startswith("undefined: ").all()


def test_the_figure_has_a_shape_a_kind_of_pairs_and_hollow_marks_where_something_is_printed():
    rows = pd.DataFrame({
        "panel": ["minus length"] * 3, "set": ["tau2", "tau2", "a, b"],
        "pairs": ["all pairs", "one task", ""], "value": [0.1, 0.0, np.nan],
        "lo": [0.0, np.nan, np.nan], "hi": [0.2, np.nan, np.nan], "shown": "",
        "published": [np.nan, np.nan, 0.05]})
    layers = charts.differences(rows).to_dict()["spec"]["layer"]
    shape = next(layer["encoding"]["shape"] for layer in layers if "shape" in layer["encoding"])
    assert dict(zip(shape["scale"]["domain"], shape["scale"]["range"], strict=True)) == {
        "all pairs": "circle", "one task": "square"}
    assert [layer["mark"].get("style") for layer in layers].count("published") == 1
    plain = charts.differences(rows[:2]).to_dict()["spec"]["layer"]
    assert "published" not in [layer["mark"].get("style") for layer in plain]
