"""Every method on the airline runs, and on a log that nobody judged."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from tjlib import benchmark
from tjlib.compact import compact
from tjlib.desk import testbed
from tjlib.jsonl import write
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
