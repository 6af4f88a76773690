"""Faults against their clean parents: the published differences, by hand, and by a loop."""

import numpy as np
import pandas as pd
import pytest
from published_table import ENSEMBLE, OUTCOME, SMALL, STEP, published, released_table

from tjlib.measure.pairs import GROUPS, discrimination, pairs_from
from tjlib.measure.resample import FIXED, SAME, clopper_pearson
from tjlib.measure.table import table
from tjlib.trace import InputError, Label, Verdict


def found(pairs, seed=0, **options):
    rows = discrimination(pairs, np.random.default_rng(seed), **options)
    return {(r["judge"], r["group"]): r for r in rows.to_dict("records")}


# Two instances; the second's clean run is parent of three faults, one of another set's.
LABELS = [
    Label("c1", False, instance_id="1"), Label("c2", False, instance_id="2"),
    Label("s1", True, 2, "wrong_tool", True, "1", None, "c1"),
    Label("s2", True, 2, "wrong_tool", True, "2", None, "c2"),
    Label("l2", True, 3, "premature_stop", False, "2", None, "c2"),
    Label("u2", True, 5, "unsupported_claim", True, "2", None, "c2"),
    Label("x3", True, 5, "unsupported_claim", True, "3", None, "c3"),
]
REPLIES = {"c1": "Done.", "c2": "Sent.", "s1": "Done.", "s2": "Sent.", "l2": "Wait.",
           "u2": "Sent. And more.", "x3": "?"}
FLAGS = {"j": {"c2", "s1", "s2", "l2"}, "k": {"c1", "s1", "u2"}}
VERDICTS = [Verdict(x.trajectory_id, judge, x.trajectory_id in flagged)
            for judge, flagged in FLAGS.items() for x in LABELS]


def test_pairs_are_found_and_their_replies_compared():
    pairs = pairs_from(table(LABELS, VERDICTS), REPLIES).query("judge == 'j'")
    assert pairs[["pair", "reply", "fault_flagged", "parent_flagged"]].to_numpy().tolist() == [
        ["s1", "unchanged", 1, 0], ["s2", "unchanged", 1, 1], ["l2", "changed", 1, 1],
        ["u2", "changed", 0, 1]]


def test_the_differences_are_as_worked_by_hand():
    rows = found(pairs_from(table(LABELS, VERDICTS), REPLIES), draws=50)
    assert rows["j", "all"]["value"] == (3 - 3) / 4
    assert rows["j", "silent"]["value"] == (2 - 2) / 3
    assert rows["j", "reply_unchanged_silent"]["value"] == (2 - 1) / 2
    assert rows["j", "loud"]["value"] == 0
    assert rows["k", "silent"]["value"] == pytest.approx((2 - 1) / 3)
    assert rows["k - j", "silent"]["value"] == pytest.approx(1 / 3)
    assert rows["k", "loud_minus_silent"]["value"] == pytest.approx(0 - 1 / 3)
    assert (rows["j", "all"]["fault_rate"], rows["j", "all"]["parent_rate"]) == (0.75, 0.75)
    assert rows["j", "ignored_observation"]["value"] is None
    assert rows["j", "ignored_observation"]["why"] == "undefined: no pair in this group"


def test_a_judge_that_saw_only_the_fault_has_no_such_pair():
    verdicts = [v for v in VERDICTS if (v.judge, v.trajectory_id) != ("k", "c1")]
    rows = found(pairs_from(table(LABELS, verdicts), REPLIES), draws=20)
    assert (rows["j", "all"]["n"], rows["k", "all"]["n"]) == (4, 3)


def test_every_published_difference_comes_out_to_the_printed_digit():
    rows = found(published("parent_pairs"), draws=50)
    numbers = published("trajectory_judge_numbers").query("table == 'paired'")
    numbers = numbers[numbers["metric"].isin(GROUPS)]
    assert len(numbers) == 27
    for row in numbers.itertuples():
        mine = rows[row.subject, row.metric]
        assert abs(mine["value"] - row.published) <= 0.005 + 1e-9, (row.subject, row.metric)
        assert np.isnan(row.n) or mine["n"] == row.n


def test_the_outcome_judge_says_the_same_of_every_pair_with_the_same_reply():
    pairs = published("parent_pairs").query("reply == 'unchanged'")
    pairs = pairs[pairs["judge"] == OUTCOME]
    same = pairs[pairs["fault_flagged"] == pairs["parent_flagged"]]
    published_count = published("trajectory_judge_numbers").query(
        "metric == 'identical_verdict_on_reply_unchanged'")["published"].item()
    assert same["n"].sum() == pairs["n"].sum() == published_count


def test_pairs_from_the_released_files_are_the_published_table(shared):
    t, replies = released_table(shared / "released")
    wanted = published("parent_pairs")
    keys = list(wanted.columns[:-1])
    mine = pairs_from(t, replies).groupby(keys, as_index=False)["n"].sum()
    pd.testing.assert_frame_equal(
        mine.sort_values(keys, ignore_index=True), wanted.sort_values(keys, ignore_index=True))


def test_where_no_pair_speaks_against_zero_or_one_the_bounds_are_exact():
    rows = found(published("parent_pairs"), draws=50)
    none, all_ = rows[OUTCOME, "reply_unchanged_silent"], rows[STEP, "reply_unchanged_silent"]
    bound = clopper_pearson(0, 117)[1]
    assert (none["lo"], none["hi"], none["how"]) == (-bound, bound, "exact binomial")
    # All 117 differ one way: with probability at most q one does not, and pulls by at most 2 q.
    assert (all_["lo"], all_["hi"]) == (pytest.approx(1 - 2 * bound), 1.0)
    assert rows["programmatic", "premature_stop"]["why"] == FIXED


def loop(pairs, judges, group, rng, draws, by):
    """Resample pairs, or instances, one by one in plain Python."""
    cells = {}
    for pair in pairs:
        cells.setdefault(pair[by], []).append(pair)
    values = []
    for _ in range(draws):
        if by == "cell":
            drawn = [c[i] for c in cells.values() for i in rng.integers(0, len(c), len(c))]
        else:
            names = list(cells)
            drawn = [p for i in rng.integers(0, len(names), len(names)) for p in cells[names[i]]]
        rate = [[p[judge] for p in drawn if p[group]] for judge in judges]
        values.append(sum(rate[0]) / len(rate[0]) - sum(rate[1]) / len(rate[1]))
    return np.percentile(values, [2.5, 97.5])


@pytest.mark.parametrize("by", ["pair", "instance"])
def test_a_plain_loop_agrees_on_a_difference_of_judges_up_to_chance(shared, by):
    t, replies = released_table(shared / "released")
    pairs = pairs_from(t, replies)
    wide = pairs.assign(gap=pairs["fault_flagged"] - pairs["parent_flagged"]).pivot_table(
        index=["pair", "instance", "fault", "survival", "reply"], columns="judge", values="gap")
    plain = [{"cell": key[2:], "instance": key[1], "silent": key[3] == "silent", **row}
             for key, row in wide.to_dict("index").items()]
    row = found(pairs, by=by)[f"{STEP} - {OUTCOME}", "silent"]
    bounds = loop(plain, (STEP, OUTCOME), "silent", np.random.default_rng(2), 2000,
                  "cell" if by == "pair" else by)
    assert row["how"] == "percentile"
    assert (row["lo"], row["hi"]) == pytest.approx(tuple(bounds), abs=0.008)


def test_judges_tabulated_apart_are_drawn_apart_which_is_said():
    rows = found(published("parent_pairs"), draws=2000, judges=(STEP, ENSEMBLE))
    delta = rows[f"{ENSEMBLE} - {STEP}", "unsupported_claim"]
    assert delta["how"] == "percentile, judges drawn apart"
    own = [rows[judge, "unsupported_claim"] for judge in (ENSEMBLE, STEP)]
    halves = [(r["hi"] - r["lo"]) / 2 for r in own]
    assert (delta["hi"] - delta["lo"]) / 2 == pytest.approx(np.hypot(*halves), abs=0.03)


def test_known_pairs_make_the_ensembles_difference_narrower_than_drawn_apart(shared):
    t, replies = released_table(shared / "released")
    key = f"{ENSEMBLE} - {STEP}", "unsupported_claim"
    joint, apart = (found(p, draws=2000, judges=(STEP, ENSEMBLE))[key] for p in
                    (pairs_from(t, replies), published("parent_pairs")))
    assert joint["value"] == apart["value"]
    assert joint["hi"] - joint["lo"] < 0.5 * (apart["hi"] - apart["lo"])


def test_counts_and_their_rows_give_one_distribution():
    pairs = published("parent_pairs")
    rows = pairs.loc[pairs.index.repeat(pairs["n"])].assign(n=1)
    key = OUTCOME, "premature_stop"
    counted, listed = found(pairs)[key], found(rows)[key]
    assert counted["value"] == listed["value"]
    assert counted["lo"] == pytest.approx(listed["lo"], abs=0.02)


def test_one_instance_gives_no_interval():
    rows = found(pairs_from(table(LABELS[1:6:3], VERDICTS[1:6:3]), REPLIES), by="instance",
                 draws=20)
    assert rows["j", "all"]["how"] == "exact binomial"  # one pair that agrees
    assert rows["j", "loud_minus_silent"]["why"] == "undefined: no pair in this group"


def test_the_same_replicates_everywhere_are_a_reason():
    rows = found(published("parent_pairs"), draws=50)
    assert rows[f"{STEP} - {OUTCOME}", "wrong_tool"]["why"] == SAME
    assert not any(isinstance(x, float) and np.isnan(x) for r in rows.values()
                   for x in r.values())
    assert all(bool(r["why"]) == (r["lo"] is None) for r in rows.values())


def test_the_small_judge_does_not_discriminate():
    row = found(published("parent_pairs"))[SMALL, "all"]
    assert row["parent_rate"] == 1
    assert -0.03 < row["lo"] < row["value"] < row["hi"] <= 0


@pytest.mark.parametrize(("pairs", "options", "message"), [
    (published("parent_pairs"), {"by": "instance"}, "these pairs name no instances"),
    (published("parent_pairs"), {"by": "judge"}, "by='judge'"),
    (published("parent_pairs"), {"judges": ["me"]}, "no pairs of judge 'me'; judges here: out")])
def test_what_cannot_be_drawn_is_refused(pairs, options, message):
    with pytest.raises(InputError, match=message):
        discrimination(pairs, np.random.default_rng(0), **options)


def test_a_missing_reply_or_parent_is_named():
    t = table(LABELS, VERDICTS)
    with pytest.raises(InputError, match="no final answer for s1"):
        pairs_from(t, {k: v for k, v in REPLIES.items() if k != "s1"})
    with pytest.raises(InputError, match="no fault has its clean parent in the set"):
        pairs_from(table(LABELS[6:], [Verdict("x3", "j", True)]), REPLIES)
