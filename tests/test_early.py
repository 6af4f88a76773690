"""Scores of runs that are still going on, and the alarms they would raise."""

from __future__ import annotations

import msgspec
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score
from test_figures import layers, spec_of

from tjlib import features, material
from tjlib.charts import warning
from tjlib.desk.testbed import judged_set
from tjlib.measure.compare import compare
from tjlib.measure.early import alarms, bins, precisions, threshold
from tjlib.measure.ranking import auroc
from tjlib.studies import prefixes
from tjlib.trace import Call, Observation, Step, Trajectory
from tjlib.uncertainty.controls import inputs
from tjlib.uncertainty.evidence import Evidence
from tjlib.uncertainty.graph import build
from tjlib.uncertainty.methods import METHODS
from tjlib.uncertainty.propagate import propagate
from tjlib.uncertainty.signals import Local
from tjlib.uncertainty.similarity import Jaccard


@pytest.fixture(scope="module")
def airline():
    log = material.load("features", [], "jaccard", "entropy")
    return [prefixes.running(*run) for run in zip(log.graphs, log.local, log.summed, strict=True)]


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
            same = Local((0.0,) * k, "constant")
            assert whole["rupa_structural"][k - 1] == pytest.approx(propagate(graph, same).score)
            assert whole["flat"][k - 1] == pytest.approx(inputs(graph))
            assert whole["sp_mean"][k - 1] == pytest.approx(np.mean(cut.u))
            assert whole["saup_rms"][k - 1] == pytest.approx(np.sqrt(np.mean(np.square(cut.u))))
            assert whole["n_steps"][k - 1] == k


TALK = Trajectory("t-1", "Refund order 7 of Ann.", (
    Step("Next I look order 7 up.", (Call("look", {"id": 7}),),
         (Observation(True, {"text": "order 7, Ann, shipped"}),), logprobs=(-0.5, -0.01)),
    Step("Is it refund you want, Ann?", user="Yes, a refund please.", logprobs=(-1.5,)),
    Step("Next I look order 7 up again.", (Call("look", {"id": 7}),),
         (Observation(False, {}, "timeout"),), logprobs=(-0.2, -0.4)),
    Step("", (Call("refund", {"id": 7}),), (Observation(True, {}),), logprobs=(-2.0,)),
    Step("Done.", user="Thanks.", logprobs=(-0.3,)),
    *(Step(f"Checking item {i}.", (Call("check", {"id": i}),),
           (Observation(True, {"text": "in order"}),), logprobs=(-0.1 * i - 0.1,))
      for i in range(20))), "")


class Letters:
    """A dense similarity: the cosine of letter counts."""

    name, thresholds = "letters", Jaccard().thresholds

    def keys(self, texts):
        counts = [np.array([t.count(c) for c in "aeiorst"], float) for t in texts]
        return [c / (np.sqrt(c @ c) or 1.0) for c in counts]

    def alike(self, a, b):
        return float(max(0.0, a @ b))

    def distance(self, a, b):
        return float(1 - a @ b)


@pytest.mark.parametrize("by", [Jaccard(), Letters()], ids=["words", "vectors"])
@pytest.mark.parametrize("own", [True, False], ids=["logprobs", "none"])
def test_what_reads_the_text_scores_a_prefix_like_the_cut_trajectory(by, own):
    steps = TALK.steps if own else tuple(
        msgspec.structs.replace(step, logprobs=None) for step in TALK.steps)
    run = msgspec.structs.replace(TALK, steps=steps)
    e = Evidence(run, similarity=by)
    whole = prefixes.running(build(run), e.local, evidence=e)
    assert ("saup_d" in whole) is own and "tracer" in whole
    for k in range(1, len(steps) + 1):
        blind = msgspec.structs.replace(steps[k - 1], observations=(), user=None)
        cut = Evidence(msgspec.structs.replace(run, steps=(*steps[:k - 1], blind)), similarity=by)
        for name in {"saup_d", "saup_rms", "tracer"} & set(whole):
            assert whole[name][k - 1] == pytest.approx(METHODS[name](cut).value)


def test_every_method_that_runs_along_is_held_to_the_cut_trajectory():
    """A method that is added has to be added to the two tests above."""
    assert set(prefixes.METHODS) == {"rupa", "rupa_structural", "flat", "sp_mean", "saup_rms",
                                     "saup_d", "tracer", "n_steps"}


def test_the_last_prefix_of_an_airline_run_has_the_score_of_the_benchmark(airline):
    stored = features.scores(features.read("tau_airline"), "jaccard", "entropy")
    for name in ("rupa_structural", "rupa", "saup_rms", "sp_mean", "n_steps"):
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
    # Where no alarm is raised the run is known when it is over.
    assert found["delay"].tolist() == [2, 1, 3, 2]


def test_average_precision_is_sklearns_and_its_interval_that_of_the_benchmark(airline):
    log = material.load("features", [], "jaccard", "entropy")
    failed, tasks = log.runs["failed"].astype(bool), log.runs["task"]
    whole = {name: prefixes.at_share([run[name] for run in airline], 1.0)
             for name in ("rupa_structural", "flat")}
    found = precisions(whole, failed, tasks, np.random.default_rng(0), draws=200)
    other = compare(pd.DataFrame({n: c[:, 0] for n, c in whole.items()}), failed, tasks,
                    np.random.default_rng(0), draws=200).set_index(["method", "metric"])
    for row in found.to_dict("records"):
        assert row["value"] == pytest.approx(
            average_precision_score(failed, whole[row["name"]][:, 0]))
        assert row["prevalence"] == failed.mean()
        wanted = other.loc[(row["name"], "average_precision")]
        assert [row[k] for k in ("value", "lo", "hi", "prevalence")] == pytest.approx(
            [wanted[k] for k in ("value", "lo", "hi", "chance")])


def test_of_one_outcome_average_precision_is_undefined_and_says_so():
    row = precisions({"a": np.array([[1.0], [2.0]])}, [True, True], ["x", "y"],
                     np.random.default_rng(0), draws=50).iloc[0]
    assert row["value"] is None and row["prevalence"] == 1.0 and row["why"].startswith("undefined")


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
    rows = pd.DataFrame({"panel": "a", "at": ["1", "2"], "series": "s", "value": [0.6, None],
                         "lo": [0.5, None], "hi": [0.7, None], "shown": "", "published": None})
    spec = spec_of(warning.curves(rows, "steps", "AUROC", 0.5))
    rule = [unit for unit in layers(spec) if unit["mark"].get("style") == "chance"]
    assert rule[0]["encoding"]["y"]["datum"] == 0.5
    assert spec["spec"]["layer"][2]["transform"] == [{"filter": "isValid(datum.value)"}]


def test_the_coin_is_a_line_without_marks_and_every_method_has_its_own_shape():
    rows = pd.DataFrame({
        "panel": "a", "series": ["coin", "coin", "x", "y"], "rate": [0.0, 0.5, 0.2, 0.3],
        "value": [10.0, 5.5, 4.0, 5.0], "lo": [None, None, 3.0, 4.0], "hi": [None, None, 5.0, 6.0],
        "budget": "", "shown": ""})
    coin, spans, lines, points = spec_of(warning.delays(rows))["spec"]["layer"]
    assert coin["mark"] == {"type": "line", "style": "chance"}
    assert coin["transform"] == [{"filter": "datum.series == 'coin'"}]
    for part in (spans, lines, points):
        assert "datum.series != 'coin'" in part["transform"][0]["filter"]
    assert points["encoding"]["shape"]["scale"] == {
        "domain": ["x", "y"], "range": ["circle", "square"]}


def test_what_no_knowledge_gives_at_each_cut_is_a_dash_of_its_own():
    rows = pd.DataFrame({"panel": "a", "at": ["1", "2"], "series": "s", "value": [0.6, 0.7],
                         "lo": None, "hi": None, "shown": "", "published": None,
                         "chance": [0.4, 0.5]})
    first = spec_of(warning.curves(rows, "steps", "AP"))["spec"]["layer"][0]
    assert first["mark"]["style"] == "chance" and first["encoding"]["y"]["field"] == "chance"


@pytest.mark.parametrize(("name", "shorter"), [("agentdojo", True), ("swe_agent", False)])
def test_after_half_of_a_run_its_steps_so_far_rank_as_its_length_does(name, shorter):
    """A cut by share knows how long the run will be; one by steps, among runs going, nothing."""
    log = material.load(name, [])
    judged = log.runs["failed"].notna() & (log.runs["steps"] > 0)
    failed = log.runs["failed"][judged].astype(bool).to_numpy()
    runs = [np.arange(1.0, n + 1) for n in log.runs["steps"][judged]]
    half = auroc(failed, prefixes.at_share(runs, 0.5)[:, 0])
    whole = auroc(failed, prefixes.at_share(runs, 1.0)[:, 0])
    assert (half < 0.5) is shorter and (whole < 0.5) is shorter
    going = prefixes.at_steps(runs, 4, going=True)[:, 0]
    there = ~np.isnan(going)
    assert auroc(failed[there], going[there]) == 0.5
