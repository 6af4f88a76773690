"""Every method on the airline runs, and on a log that nobody judged."""

from __future__ import annotations

import numpy as np
import pytest
from built import ROOT
from sklearn.metrics import average_precision_score, roc_auc_score

from tjlib import features, material
from tjlib.compact import compact
from tjlib.desk import testbed
from tjlib.jsonl import write
from tjlib.studies import across as sets_of
from tjlib.studies import benchmark
from tjlib.trace import InputError
from tjlib.uncertainty.evidence import NO_LOGPROBS, NO_STEP
from tjlib.uncertainty.methods import METHODS

PAIRS = [("rupa_structural", "n_steps"), ("rupa", "flat_u")]


@pytest.fixture(scope="module")
def airline():
    return benchmark.load("features", "jaccard", "entropy")


@pytest.fixture(scope="module")
def table(airline):
    found = benchmark.ranked(airline.scores, PAIRS, np.random.default_rng(0), 100)
    return found.set_index(["method", "metric"])


def test_every_method_is_in_the_table_with_rupa_calibrated_on_the_other_half(airline):
    assert set(airline.scores["method"]) == {
        *METHODS, "rupa_calibrated", "rupa_structural_calibrated"}
    assert airline.source == "surrogate"


def test_scikit_learn_agrees_on_every_methods_auroc_and_average_precision(airline, table):
    wide = compact(airline.scores).scores
    failed = ~airline.scores.drop_duplicates("trajectory_id")["success"].astype(bool)
    assert (len(failed), failed.sum()) == (200, 116)
    for method in wide.columns.difference(["verbalized", "uprop"]):
        values = wide[method].astype(float)
        assert table.loc[(method, "auroc"), "value"] == pytest.approx(
            roc_auc_score(failed, values))
        assert table.loc[(method, "average_precision"), "value"] == pytest.approx(
            average_precision_score(failed, values))


def test_on_airline_structural_rupa_ranks_as_length_does_and_own_surprise_the_wrong_way(table):
    auroc = table["value"].xs("auroc", level="metric")
    assert auroc[["rupa_structural", "flat", "n_steps"]].astype(float).round(3).tolist() == [
        0.682, 0.677, 0.683]
    assert auroc[["rupa", "sp_mean"]].astype(float).round(3).tolist() == [0.373, 0.306]
    low, high = table.loc[("rupa_structural - n_steps", "auroc"), ["lo", "hi"]]
    assert low < 0 < high


def test_what_cannot_be_computed_of_the_airline_log_says_why(airline):
    why = airline.scores.groupby("method")["why"].first()
    assert why["verbalized"] == "not computable: no step states a confidence"
    assert why["uprop"] == "not computable: no other decisions were drawn at each step"


def test_a_log_without_outcomes_has_scores_and_no_ranking(tmp_path):
    write(tmp_path / "t.jsonl", testbed.judged_set(3, clean=2, per_type=2)[0])
    found = benchmark.load(str(tmp_path / "t.jsonl"))
    table = benchmark.ranked(found.scores, PAIRS, np.random.default_rng(0), 100)
    assert found.source == "constant" and found.scores["value"].notna().any()
    assert table["value"].isna().all()
    assert set(table["why"]) == {"undefined: no run of the log has an outcome"}


def test_a_signal_that_a_log_does_not_hold_is_refused(tmp_path):
    write(tmp_path / "t.jsonl", testbed.judged_set(3, clean=2, per_type=2)[0])
    for signal, what in (("nll", "log-probabilities"), ("entropy", "distributions")):
        with pytest.raises(InputError, match=what):
            benchmark.load(str(tmp_path / "t.jsonl"), signal=signal)


def test_a_steps_own_uncertainty_is_by_default_surprise_on_every_page_that_reads_it(airline):
    """One default: mean -log p where a log has any, which is how the equations' U is defined."""
    defaults = {path.stem: line for path in (ROOT / "notebooks").glob("*.py")
                for line in path.read_text("utf-8").splitlines() if line.startswith("signal: str")}
    cases = defaults.pop("c1_silent_uncertainty")
    assert set(defaults) == {"b3_local_signals", "b5_ablation", "b5_benchmark",
                             "b5_early_warning"}
    assert all(line.startswith('signal: str = "auto"') for line in defaults.values())
    assert cases.startswith('signal: str = "nll"')
    auto, nll = (benchmark.load("features", signal=s).scores for s in ("auto", "nll"))
    assert auto.equals(nll) and not auto["value"].equals(airline.scores["value"])
    read = material.load("features", ["sp_mean"]).scores["value"].astype(float)
    mine = auto[auto["method"] == "sp_mean"]["value"].astype(float)
    assert read.tolist() == pytest.approx(mine.tolist())


def test_a_stored_set_is_loaded_by_its_name_and_says_what_it_lacks():
    found = benchmark.load("agentdojo")
    assert found.source == "constant" and "AgentDojo" in found.origin
    why = found.scores.groupby("method")["why"].agg(lambda values: set(values) - {NO_STEP})
    assert why["rupa"] == why["rupa_calibrated"] == why["pe"] == {NO_LOGPROBS}
    assert found.scores["success"].isna().sum() == found.scores["method"].nunique()


def test_the_agents_own_log_probabilities_are_those_of_four_rollouts():
    found = benchmark.load("nemo_gym")
    runs = found.scores.drop_duplicates("trajectory_id")
    assert found.source == "logprob" and (runs["u_source"] == "logprob").sum() == 4
    pe = found.scores[found.scores["method"] == "pe"]
    assert pe["value"].notna().sum() == 4


def test_a_method_that_scores_few_runs_does_not_take_the_others_runs():
    found = benchmark.load("nemo_gym")
    table = benchmark.ranked(found.scores, PAIRS, np.random.default_rng(0), 100)
    table = table.set_index(["method", "metric"])
    assert table.loc[("n_steps", "auroc"), ["n", "n_failed"]].tolist() == [157, 63]
    assert table.loc[("pe", "auroc"), "why"] == "not compared: pe scores 4 of 183 runs"
    assert table.loc[("rupa - flat_u", "auroc"), "why"].startswith("not compared: ")


@pytest.fixture(scope="module")
def across():
    found = sets_of.measured(sets_of.stored(), PAIRS[:1], 0, 100)
    return found.set_index(["set", "method", "metric"])


def test_across_sets_the_models_share_of_failures_ranks_as_it_was_found_to(across):
    """Figures of those who collected the sets; tau2's also held the students' desks."""
    assert across.loc[("agentdojo", "model", "auroc"), "value"] == pytest.approx(0.728, abs=5e-4)
    assert across.loc[("nemo_gym", "model", "auroc"), "value"] == pytest.approx(0.941, abs=5e-4)
    # Inside a model all its runs have the same share.
    assert across.loc[("agentdojo", "model", "auroc|same_model"), "value"] == 0.5


def test_across_sets_length_ranks_swe_agents_failures_and_less_so_without_those_cut_off(across):
    steps = across.xs("n_steps", level="method").xs("auroc", level="metric")
    assert steps.loc["swe_agent", "value"] == pytest.approx(0.765, abs=5e-4)
    assert (steps.loc["swe_agent", "n"], steps.loc["swe_agent without exit_cost", "n"]) == (100, 81)
    assert steps.loc["swe_agent without exit_cost", "value"] < steps.loc["swe_agent", "value"]
    assert steps.loc["agentdojo", "value"] < 0.5


def test_across_sets_numbers_are_those_of_evaluating_the_set_alone(across):
    found = features.scores(features.read("swe_agent"), "jaccard")
    wide = compact(found[found["method"].isin(sets_of.CHEAP)]).scores.astype(float)
    failed = ~found.drop_duplicates("trajectory_id")["success"].astype(bool)
    for method in sets_of.CHEAP:
        assert across.loc[("swe_agent", method, "auroc"), "value"] == pytest.approx(
            roc_auc_score(failed, wide[method]))
