"""What the analysis chapter counts: gaps, votes, sentences, names, costs, and its figures."""

from __future__ import annotations

import json
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from published_table import ENSEMBLE, OUTCOME, SMALL, STEP

from tjlib import store
from tjlib.charts import analysis
from tjlib.charts.show import show
from tjlib.desk.faults import CLAIMS
from tjlib.judges.panel import vote
from tjlib.measure.attribution import attribution, exact_share
from tjlib.measure.costs import cost_ratio
from tjlib.measure.gap import GAPS, gaps, slopes
from tjlib.measure.intervals import intervals
from tjlib.measure.pairs import discrimination, pairs_from
from tjlib.measure.resample import replicate_weights
from tjlib.measure.sentences import OTHER, by_sentence, overall
from tjlib.measure.table import table
from tjlib.measure.votes import agreement, at_least, single_votes, votes
from tjlib.trace import FAULT_TYPES, InputError, Label, Verdict


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture(scope="module")
def published():
    source = store.load("published")
    return source, table(source.labels, source.verdicts, source.cost), store.published(
        "parent_pairs")


@pytest.fixture(scope="module")
def released(shared):
    source = store.load(shared / "released")
    replies = {x.trajectory_id: x.final_answer for x in source.trajectories}
    return source, table(source.labels, source.verdicts), replies


def gap_of(frame: pd.DataFrame, judge: str) -> pd.Series:
    return frame[frame["judge"] == judge].set_index("gap")["value"]


# Gaps


def test_a_hand_worked_gap_before_and_after_pairing():
    pairs = pd.DataFrame({
        "fault": ["premature_stop", "ignored_observation", "wrong_tool"], "judge": "j",
        "survival": ["loud", "loud", "silent"], "reply": ["changed", "unchanged", "unchanged"],
        "fault_flagged": 1, "parent_flagged": [0, 1, 1], "n": [2, 2, 4]})
    labels = [Label(f"p{i}", True, 3, "premature_stop", False) for i in range(2)]
    labels += [Label(f"i{i}", True, 4, "ignored_observation", False) for i in range(6)]
    labels += [Label(f"w{i}", True, 2, "wrong_tool", True) for i in range(4)]
    found = gap_of(gaps(labels, pairs, rng(), draws=20), "j")
    # All flagged, so recalls do not differ; paired, loud is 2 of 4 and, as the labels mix, 2 of 8.
    assert found["recall"] == 0
    assert found["paired"] == 0.5
    assert found["paired_design"] == 0.25
    assert found["paired_unchanged"] == 0


def test_a_gap_that_lacks_a_side_or_a_kind_says_which():
    pairs = pd.DataFrame({
        "fault": ["premature_stop", "wrong_tool"], "judge": "j", "survival": ["loud", "silent"],
        "reply": ["changed", "unchanged"], "fault_flagged": 1, "parent_flagged": 0, "n": 3})
    labels = [Label("a", True, 4, "ignored_observation", False),
              Label("b", True, 2, "wrong_tool", True)]
    why = gaps(labels, pairs, rng(), draws=10).set_index("gap")["why"]
    assert why["paired_unchanged"] == "undefined: no loud pair with a reply that is unchanged"
    assert why["paired_design"] == (
        "undefined: no loud ignored_observation has its clean parent in the set")


def test_the_published_gap_is_halved_by_pairing_and_mix_and_gone_on_unchanged_replies(published):
    source, _, pairs = published
    found = gaps(source.labels, pairs, rng(), draws=2000)
    outcome, step = (gap_of(found, judge).astype(float).round(3) for judge in (OUTCOME, STEP))
    assert outcome[["recall", "paired", "paired_design"]].tolist() == [0.402, 0.345, 0.218]
    assert outcome[["recall_unchanged", "paired_unchanged"]].tolist() == [0.187, 0]
    assert step["paired_design"] == 0.218


def test_the_paired_gap_is_the_one_discrimination_gives(published):
    source, _, pairs = published
    second = discrimination(pairs, rng(), draws=500)
    second = second[second["group"] == "loud_minus_silent"].set_index("judge")
    found = gaps(source.labels, pairs, rng(), draws=500)
    for row in found[found["gap"] == "paired"].to_dict("records"):
        other = second.loc[row["judge"]]
        assert row["value"] == pytest.approx(other["value"])
        if row["lo"] is not None:
            assert [row["lo"], row["hi"]] == pytest.approx([other["lo"], other["hi"]], abs=0.02)


def test_pairs_one_by_one_give_the_tabulated_gaps(published, released):
    source, t, replies = released
    ours = gaps(source.labels, pairs_from(t, replies), rng(), draws=100)
    theirs = gaps(published[0].labels, published[2], rng(), draws=100)
    for judge in t.judges:
        assert gap_of(ours, judge).tolist() == pytest.approx(gap_of(theirs, judge).tolist())


@given(st.lists(st.tuples(st.sampled_from(["loud", "silent"]), st.integers(0, 1)), min_size=1))
def test_a_judge_that_says_the_same_of_fault_and_parent_has_no_paired_gap(rows):
    rows = [*rows, ("loud", 1), ("silent", 0)]
    pairs = pd.DataFrame({
        "fault": "skipped_precondition", "survival": [side for side, _ in rows], "n": 1,
        "reply": "unchanged", "judge": "j", "fault_flagged": [flag for _, flag in rows],
        "parent_flagged": [flag for _, flag in rows]})
    found = gaps([], pairs, rng(), draws=5).set_index("gap")
    assert found.loc["paired", "value"] == 0
    assert found.loc["paired", "lo"] is None
    assert list(GAPS) == list(found.index)


def test_slopes_hold_recall_and_discrimination_of_the_same_pairs(published):
    found = slopes(published[2], rng(), draws=200).set_index(
        ["judge", "reply", "survival", "measure"]).sort_index()
    loud = found.loc[(OUTCOME, "unchanged", "loud")]
    assert loud.loc["recall", "value"] == 20 / 34
    assert (loud.loc["paired", "value"], loud.loc["paired", "n"]) == (0, 34)
    assert loud.loc["recall", "lo"] == exact_share(20, 34)["lo"]
    rule = found.loc[("programmatic", "unchanged", "loud")]
    assert rule["why"].str.startswith("structural").all() and rule["lo"].isna().all()


# Votes


def test_published_confidences_are_votes_and_give_the_published_counts(published):
    _, t, _ = published
    numbers = store.published("trajectory_judge_numbers").set_index("metric")["published"]
    count = votes(t, ENSEMBLE)
    claims = t.true_kind == FAULT_TYPES.index("unsupported_claim")
    assert (count[claims] == 0).sum() == numbers["unsupported_claim_with_0_of_3_votes"] == 32
    assert (count[claims] == 1).sum() == numbers["unsupported_claim_with_1_of_3_votes"] == 10
    assert ((count >= 2) == t.flag[:, t.column(ENSEMBLE)]).all()


@pytest.mark.parametrize("confidence", [0.77, 1 / 3, None])
def test_a_confidence_that_is_no_majority_share_is_not_read_as_votes(confidence):
    t = table([Label("a", True)], [Verdict("a", "v", True, confidence=confidence)])
    with pytest.raises(InputError, match="not a majority's share of 3 votes"):
        votes(t, "v")


def test_two_votes_are_the_majority_and_fewer_votes_never_flag_less(published):
    source, _, _ = published
    flags = [[v.faulty for v in at_least(source.verdicts, ENSEMBLE, need)] for need in (1, 2, 3)]
    said = [v.faulty for v in source.verdicts if v.judge == ENSEMBLE]
    assert flags[1] == said
    assert all(one >= two >= three for one, two, three in zip(*flags, strict=True))
    assert [sum(f) for f in flags] == [270, 254, 227]


def test_one_vote_beats_one_pass_on_the_published_verdicts(published):
    source, _, _ = published
    both = [v for v in source.verdicts if v.judge == STEP] + at_least(source.verdicts, ENSEMBLE, 1)
    found = intervals(table(source.labels, both), rng(), draws=2000).set_index(["judge", "metric"])
    row = found.loc[(f"1 of 3 votes - {STEP}", "f1")]
    assert row["value"] == pytest.approx(2 * 268 / (270 + 300) - 2 * 257 / (257 + 300))
    assert row["lo"] > 0


def test_single_votes_are_those_that_the_rationale_counts_less_those_that_failed():
    cut = "; unparsed: cut off at the output cap; raise num_predict"
    said = [Verdict("a", "v", False, rationale="0/3 votes for faulty" + cut),
            Verdict("b", "v", rationale="1/3 votes for faulty" + cut + "; timeout: none in time",
                    status="unparsed"),
            Verdict("c", "v", True, rationale="3/3 votes for faulty"),
            Verdict("d", "v", True, rationale="it was 3/3 votes for faulty"),
            Verdict("e", "other", True, rationale="3/3 votes for faulty")]
    assert [*single_votes(said, "v").itertuples(index=False, name=None)] == [
        ("a", 0, 2), ("b", 1, 1), ("c", 3, 3)]
    assert single_votes([], "v").empty


def test_the_votes_that_the_panel_writes_are_read_back():
    cast = [Verdict("a", "v", True), Verdict("a", "v", status="unparsed", rationale="prose"),
            Verdict("a", "v", True)]
    assert single_votes([vote(cast, 3)], "v").iloc[0].tolist() == ["a", 2, 2]


def test_a_reply_that_failed_has_no_votes_and_stays_failed():
    failed = Verdict("a", "v", status="timeout")
    assert votes(table([Label("a", True)], [failed]), "v").tolist() == [-1]
    assert at_least([failed], "v", 1)[0].status == "timeout"


@given(st.lists(st.integers(0, 3), min_size=1))
def test_independent_members_keep_the_total_of_votes(count):
    row = agreement(np.array(count), ["x"] * len(count)).iloc[0]
    alone = [row[f"independent {v}"] for v in range(4)]
    assert sum(alone) == pytest.approx(len(count))
    assert sum(v * a for v, a in enumerate(alone)) == pytest.approx(sum(count))
    assert sum(row[str(v)] for v in range(4)) == len(count)


# Sentences


def test_the_step_judge_sees_one_sentence_of_four(released):
    _, t, replies = released
    found = by_sentence(t, replies, CLAIMS).set_index(["judge", "what", "sentence"]).sort_index()
    step = found.loc[(STEP, "fault")]
    assert step.loc[CLAIMS[2], ["k", "n"]].tolist() == [8, 8]
    assert (step["k"].sum(), step["n"].sum()) == (9, 50)
    assert OTHER not in step.index


def test_sentences_add_up_to_the_published_pairs(published, released):
    _, t, replies = released
    parts = by_sentence(t, replies, CLAIMS).groupby(["judge", "what"])[["k", "n"]].sum()
    whole = overall(published[2], "all").set_index(["judge", "what"])[["k", "n"]]
    assert parts.astype(int).sort_index().equals(whole.astype(int).sort_index())


def test_a_sentence_whose_cases_have_no_clean_run_says_so():
    t = table([Label("a", True, 5, "unsupported_claim", parent_id="gone")],
              [Verdict("a", "j", True)])
    parent = by_sentence(t, {"a": "Yes. No."}, ["No."]).iloc[1]
    assert (parent["what"], parent["value"]) == ("parent", None)
    assert parent["why"].startswith("undefined: no clean run")


# Attribution


def test_published_shares_of_mistyped_and_placed(published):
    found = attribution(published[1], STEP).set_index(["type", "share"])
    assert found.loc[("all", "mistyped"), ["k", "n"]].tolist() == [74, 257]
    assert found.loc[("all", "step_exact"), ["k", "n"]].tolist() == [217, 223]
    assert found.loc[("all", "step_exact_over_detected"), ["k", "n"]].tolist() == [217, 257]
    assert found.loc[("premature_stop", "step_exact_over_detected"), ["k", "n"]].tolist() == [8, 48]


def test_types_add_up_and_agree_with_the_metric(published):
    _, t, _ = published
    metric = intervals(t, rng(), draws=10).set_index(["judge", "metric"])["value"]
    for judge in (STEP, SMALL, ENSEMBLE):
        found = attribution(t, judge)
        by_type = found[found["type"] != "all"].groupby("share")[["k", "n"]].sum().astype(int)
        whole = found[found["type"] == "all"].set_index("share")[["k", "n"]].astype(int)
        assert by_type.sort_index().equals(whole.sort_index())
        value = found[found["type"] == "all"].set_index("share")["value"]
        assert value["step_exact"] == pytest.approx(metric[judge, "step_exact"])
        assert value["step_exact_over_detected"] == pytest.approx(
            metric[judge, "step_exact_over_detected_faults"])


@pytest.mark.parametrize(("said", "why"), [
    (Verdict("a", "j", True), "undefined: the judge names no step"),
    (Verdict("a", "j", status="error"), "undefined: no reply could be read"),
])
def test_a_judge_that_names_no_step_has_no_share_of_exact_steps(said, why):
    found = attribution(table([Label("a", True, 2, "wrong_tool")], [said]), "j")
    rows = found[found["share"] != "mistyped"]
    assert set(rows["value"]) == {None} and set(rows["why"]) == {why}


def test_a_flag_without_type_or_step_counts_against_the_judge():
    # The judge names steps elsewhere, so it could have here.
    t = table([Label("a", True, 2, "wrong_tool"), Label("b", True, 3, "ignored_observation")],
              [Verdict("a", "j", True), Verdict("b", "j", True, 3)])
    found = attribution(t, "j").set_index(["type", "share"])
    assert found.loc[("wrong_tool", "mistyped"), "value"] == 1
    assert found.loc[("wrong_tool", "step_exact"), "value"] is None
    assert found.loc[("wrong_tool", "step_exact_over_detected"), "value"] == 0
    assert found.loc[("premature_stop", "mistyped"), "why"].startswith("undefined: no such fault")


# Costs


def test_cost_ratios_from_means_and_from_verdicts_agree(published, released):
    means = cost_ratio(published[1], ENSEMBLE, STEP, rng()).set_index("cost")
    drawn = cost_ratio(released[1], ENSEMBLE, STEP, rng(), draws=500).set_index("cost")
    assert means["value"].astype(float).round(3).tolist() == [2.913, 3.0, 3.109]
    assert drawn["value"].tolist() == pytest.approx(means["value"].tolist(), rel=1e-4)
    assert means["lo"].isna().all() and set(means["why"]) == {"only the means are published"}
    assert drawn.loc["latency_s", "lo"] < 2.913 < drawn.loc["latency_s", "hi"] < 3.1


def test_block_by_block_gives_the_ratios_of_all_weights_held_at_once(released):
    t = released[1]
    found = cost_ratio(t, STEP, OUTCOME, rng(), draws=6000).set_index("cost")
    ones = np.ones(len(t.labels), int)
    blocks = list(replicate_weights(ones, t.cell, rng(), 6000))
    assert len(blocks) > 1
    weights, at = np.concatenate(blocks), [t.column(STEP), t.column(OUTCOME)]
    for name in ("latency_s", "prompt_tokens", "completion_tokens"):
        mine, theirs = (weights @ getattr(t, name)[:, at]).T
        assert found.loc[name, ["lo", "hi"]].tolist() == pytest.approx(
            np.percentile(mine / theirs, [2.5, 97.5]).tolist(), rel=1e-12)


def test_a_ratio_holds_one_block_of_weights_at_a_time():
    runs = [f"r{i}" for i in range(2000)]
    t = table([Label(run, False) for run in runs],
              [Verdict(run, judge, False, latency_s=1.0 + (i % 3) * (judge == "x"))
               for i, run in enumerate(runs) for judge in ("x", "y")])
    tracemalloc.start()
    cost_ratio(t, "x", "y", rng(), draws=5000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6  # all weights at once: 5000 x 2000 x 8 bytes = 80 MB


def test_a_ratio_to_a_free_judge_is_undefined(published):
    found = cost_ratio(published[1], STEP, "programmatic", rng()).set_index("cost")
    assert found.loc["prompt_tokens", "value"] is None
    assert found.loc["prompt_tokens", "why"].startswith("undefined")


# Figures


def test_every_interval_reaches_the_figure_and_gaps_are_null():
    rows = pd.DataFrame({
        "panel": "p", "label": ["a", "b"], "value": [0.1, 0.2], "lo": [0.0, None],
        "hi": [0.3, None], "shown": "x", "published": [0.1, None]}, dtype=object)
    drawn = show(analysis.forest(rows, "t", panels=False), name="f", alt="Two rows of a forest.")
    values = json.loads(json.dumps(drawn.spec, allow_nan=False))
    data = next(iter(values["datasets"].values()))
    assert [(r["lo"], r["hi"]) for r in data] == [(0.0, 0.3), (None, None)]


def test_shares_share_one_axis_and_differences_have_a_line_at_zero():
    rows = pd.DataFrame({"panel": ["p", "q"], "label": "a", "value": 0.5, "lo": 0.4, "hi": 0.6,
                         "shown": "x", "published": None})
    shares = analysis.forest(rows, "share", domain=(0, 1)).to_dict()
    differences = analysis.forest(rows, "difference").to_dict()
    assert "scale" not in shares["resolve"]
    assert differences["resolve"]["scale"]["x"] == "independent"
    marks = [[layer["mark"].get("style") for layer in spec["spec"]["layer"]]
             for spec in (shares, differences)]
    assert "chance" not in marks[0] and "chance" in marks[1]
