"""Scores of runs that are still going on, and the alarms they would raise."""

from __future__ import annotations

import msgspec
import numpy as np
import pandas as pd
import pytest
from test_figures import layers, spec_of

from tjlib import features, material, prefixes
from tjlib.charts import warning
from tjlib.desk.testbed import judged_set
from tjlib.measure.early import alarms, bins, threshold
from tjlib.uncertainty.controls import inputs
from tjlib.uncertainty.graph import build
from tjlib.uncertainty.propagate import propagate
from tjlib.uncertainty.signals import Local


@pytest.fixture(scope="module")
def airline():
    log = material.load("features", [], "jaccard", "entropy")
    return [prefixes.running(g, u) for g, u in zip(log.graphs, log.local, strict=True)]


def test_the_score_of_a_prefix_is_the_score_of_the_cut_trajectory():
    for trajectory in judged_set(7, clean=6, per_type=2)[0]:
        u = Local(tuple(0.1 * (i + 1) for i in range(len(trajectory.steps))), "logprob")
        whole = prefixes.running(build(trajectory), u)
        for k in range(1, len(trajectory.steps) + 1):
            # The step itself is there, what it observes is not yet.
            steps = (*trajectory.steps[:k - 1],
                     msgspec.structs.replace(trajectory.steps[k - 1], observations=()))
            graph = build(msgspec.structs.replace(trajectory, steps=steps))
            cut = Local(u.u[:k], "logprob")
            assert whole["rupa"][k - 1] == pytest.approx(propagate(graph, cut).score)
            assert whole["flat"][k - 1] == pytest.approx(inputs(graph))
            assert whole["sp_mean"][k - 1] == pytest.approx(np.mean(cut.u))
            assert whole["n_steps"][k - 1] == k


def test_the_last_prefix_of_an_airline_run_has_the_score_of_the_benchmark(airline):
    stored = features.scores(features.read("tau_airline"), "jaccard", "entropy")
    for name in ("rupa_structural", "rupa", "n_steps"):
        wanted = stored[stored["method"] == name]["value"].astype(float)
        assert [run[name][-1] for run in airline] == pytest.approx(wanted.tolist(), rel=1e-6)


def test_without_own_uncertainty_what_needs_it_is_left_out():
    trajectory = judged_set(7, clean=6, per_type=2)[0][0]
    same = Local((0.0,) * len(trajectory.steps), "constant")
    assert list(prefixes.running(build(trajectory), same)) == ["rupa_structural", "flat", "n_steps"]


def test_a_share_of_a_run_tells_its_length_and_a_number_of_steps_only_that_it_ended():
    runs = [np.arange(1.0, 11.0), np.arange(1.0, 31.0)]
    assert prefixes.at_share(runs, 0.1).ravel().tolist() == [1, 3]
    assert prefixes.at_steps(runs, 8).ravel().tolist() == [8, 8]
    assert prefixes.at_steps(runs, 16).ravel().tolist() == [10, 16]
    assert np.isnan(prefixes.at_steps(runs, 16, going=True)).ravel().tolist() == [True, False]


@pytest.mark.parametrize(("share", "steps", "wanted"), [
    (0.1, 10, 1), (0.7, 10, 7), (0.3, 10, 3), (1.0, 7, 7), (0.1, 3, 1), (0.5, 5, 3)])
def test_a_share_is_rounded_up_and_a_whole_number_is_left_alone(share, steps, wanted):
    assert prefixes.at_share([np.arange(1.0, steps + 1)], share).item() == wanted


def test_a_run_without_a_step_has_no_score_at_any_cut():
    assert np.isnan(prefixes.at_steps([np.zeros(0)], 1)).all()
    assert np.isnan(prefixes.at_share([np.zeros(0)], 1.0)).all()


@pytest.mark.parametrize("budget", [0.0, 0.05, 0.1, 0.25, 0.5])
def test_no_more_successful_runs_than_the_budget_exceed_the_threshold_they_set(airline, budget):
    runs = [run["rupa_structural"] for run in airline]
    limit = threshold(runs, budget)
    peaks = np.array([run.max() for run in runs])
    assert (peaks > limit).mean() <= budget
    lower = peaks[peaks < limit].max()
    assert (peaks > lower).mean() > budget  # and no lower one would do


def test_a_run_is_held_to_the_threshold_of_the_other_half():
    quiet, loud, bad = np.array([1.0, 1.0]), np.array([5.0]), np.array([0.0, 3.0, 9.0])
    found = alarms([quiet, loud, bad, bad], [False, False, True, True], [0, 1, 0, 1], 0.0)
    # Half 0 is held to 5, half 1 to 1.
    assert found["alarm"].tolist() == [0, 1, 1, 1]
    assert found["step"].fillna(0).tolist() == [0, 1, 3, 2]
    assert found["left"].fillna(-1).tolist() == [-1, 0, 0, 1]


def test_without_a_successful_run_in_the_other_half_there_is_no_alarm_and_no_silence():
    found = alarms([np.array([1.0])], [True], [0], 0.1)
    assert found["alarm"].isna().all() and threshold([], 0.1) is None


def test_bins_agree_with_pandas_and_merge_where_quantiles_coincide():
    values = np.random.default_rng(0).normal(size=97)
    assert bins(values).tolist() == pd.qcut(values, 5, labels=False).tolist()
    # Eight ones and two twos: the quintiles are 1, 1, 1, 1.2 and 2, so two bins are left.
    assert bins([1.0] * 8 + [2.0, 2.0]).tolist() == [0] * 8 + [1] * 2
    assert bins([np.nan, np.nan]).tolist() == [-1, -1]


def test_the_dashed_line_stands_where_no_knowledge_would():
    rows = pd.DataFrame({"method": "a", "at": ["1", "2"], "series": "s", "value": [0.6, None],
                         "lo": [0.5, None], "hi": [0.7, None], "shown": "", "published": None})
    spec = spec_of(warning.curves(rows, "steps", "AUROC", 0.5))
    rule = [unit for unit in layers(spec) if unit["mark"].get("style") == "chance"]
    assert rule[0]["encoding"]["y"]["datum"] == 0.5
    assert spec["spec"]["layer"][2]["transform"] == [{"filter": "isValid(datum.value)"}]
