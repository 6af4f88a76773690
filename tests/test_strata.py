"""Strata: what each holds, what standardising does, and what is left undefined."""

import numpy as np
import pandas as pd
import pytest
from published_table import OUTCOME, STEP, published, released_table

from tjlib.measure.resample import FIXED, clopper_pearson
from tjlib.measure.strata import by_stratum, strata_from
from tjlib.measure.table import table
from tjlib.measure.verdicts import metrics
from tjlib.trace import InputError, Label, Verdict


def found(counts, **options):
    rows = by_stratum(counts, np.random.default_rng(0), **options)
    return {(r["judge"], r["stratum"], r["metric"]): r for r in rows.to_dict("records")}


def frame(*rows, judge="j"):
    names = ["stratum", "fault", "survival", "flagged", "n"]
    return pd.DataFrame(rows, columns=names).assign(judge=judge)


# The easy stratum holds most silent faults, the hard one most loud ones; a third holds one side.
MIXED = frame(
    ("easy", "f", "silent", 1, 8), ("easy", "f", "silent", 0, 2),
    ("easy", "g", "loud", 1, 4), ("easy", "g", "loud", 0, 1),
    ("hard", "f", "silent", 1, 1), ("hard", "f", "silent", 0, 4),
    ("hard", "g", "loud", 1, 4), ("hard", "g", "loud", 0, 6),
    ("lone", "f", "silent", 0, 7), ("lone", "clean", "clean", 0, 3),
)


def test_the_standardised_gap_is_as_worked_by_hand():
    rows = found(MIXED, draws=200)
    # easy: .8 against .8; hard: .4 against .2; each stratum holds 15 of the 30 faults.
    assert rows["j", "standardised", "silent_recall"]["value"] == pytest.approx((0.8 + 0.2) / 2)
    assert rows["j", "standardised", "loud_recall"]["value"] == pytest.approx((0.8 + 0.4) / 2)
    assert rows["j", "standardised", "loud_minus_silent"]["value"] == pytest.approx(0.1)
    assert rows["j", "standardised", "loud_minus_silent"]["over"] == "easy, hard"
    assert rows["j", "pooled", "loud_minus_silent"]["value"] == pytest.approx(8 / 15 - 9 / 22)
    assert rows["j", "easy", "loud_minus_silent"]["value"] == pytest.approx(0)


def test_what_a_stratum_lacks_is_named():
    rows = found(MIXED, draws=20)
    assert rows["j", "lone", "loud_recall"]["why"] == "undefined: no loud fault in lone"
    assert rows["j", "easy", "false_alarm_rate"]["why"] == "undefined: no clean trajectory in easy"
    assert rows["j", "lone", "loud_minus_silent"]["why"] == (
        "undefined: silent and loud faults are not both in lone")
    assert ("j", "standardised", "false_alarm_rate") not in rows


def test_without_a_stratum_that_holds_both_sides_nothing_is_standardised():
    rows = found(MIXED.query("stratum == 'lone'"), draws=20)
    for metric in ("silent_recall", "loud_recall", "loud_minus_silent"):
        assert rows["j", "standardised", metric]["value"] is None
        assert rows["j", "standardised", metric]["why"] == (
            "undefined: no stratum holds both silent and loud faults")


def test_no_or_all_flagged_in_a_stratum_is_exact():
    row = found(MIXED, draws=20)["j", "lone", "silent_recall"]
    assert (row["lo"], row["hi"], row["k"], row["n"]) == (*clopper_pearson(0, 7), 0, 7)


def test_one_stratum_standardises_to_itself():
    rows = found(MIXED.query("stratum == 'hard'"), draws=500)
    for metric in ("silent_recall", "loud_recall", "loud_minus_silent"):
        a, b, c = (rows["j", place, metric] for place in ("hard", "pooled", "standardised"))
        for field in ("value", "lo", "hi"):
            assert a[field] == pytest.approx(b[field]) == pytest.approx(c[field])


def test_a_plain_loop_agrees_on_the_standardised_gap_up_to_chance():
    rng, values = np.random.default_rng(4), []
    cells = {"easy": ((10, 8), (5, 4)), "hard": ((5, 1), (10, 4))}  # (n, flagged) silent, loud
    for _ in range(20_000):
        gap = 0
        for (n, k), (m, hits) in cells.values():
            silent, loud = rng.random(n) < k / n, rng.random(m) < hits / m
            gap += (loud.mean() - silent.mean()) / 2
        values.append(gap)
    row = found(MIXED)["j", "standardised", "loud_minus_silent"]
    assert (row["lo"], row["hi"]) == pytest.approx(tuple(np.percentile(values, [2.5, 97.5])),
                                                   abs=0.015)


def test_the_released_files_give_the_published_counts(shared):
    wanted = published("flags_by_stratum")
    keys = [c for c in wanted if c != "n"]
    mine = strata_from(released_table(shared / "released")[0])[[*keys, "n"]]
    pd.testing.assert_frame_equal(mine.sort_values(keys, ignore_index=True),
                                  wanted.sort_values(keys, ignore_index=True))


def test_pooling_the_published_strata_gives_the_papers_recalls(shared):
    wanted = metrics(released_table(shared / "released")[0])
    rows = found(published("flags_by_stratum"), draws=20)
    for r in wanted.to_dict("records"):
        if (r["judge"], "pooled", r["metric"]) in rows:
            assert rows[r["judge"], "pooled", r["metric"]]["value"] == pytest.approx(r["value"])


def test_all_six_strata_hold_both_sides_and_the_outcome_judges_gap_survives():
    row = found(published("flags_by_stratum"))[OUTCOME, "standardised", "loud_minus_silent"]
    assert len(row["over"].split(", ")) == 6
    assert row["lo"] > 0.3


def test_a_rule_is_fixed_and_every_missing_bound_has_a_reason():
    rows = found(published("flags_by_stratum"), draws=100)
    assert rows["programmatic", "pooled", "silent_recall"]["why"] == FIXED
    assert rows[STEP, "pooled", "false_alarm_rate"]["how"] == "exact binomial"
    for row in rows.values():
        assert bool(row["why"]) == (row["lo"] is None)
        assert not any(isinstance(x, float) and np.isnan(x) for x in row.values())


def test_a_label_without_a_stratum_is_refused_and_an_unasked_judge_not_counted():
    labels = [Label("a", False, stratum="happy"), Label("b", True, stratum="happy")]
    t = table(labels, [Verdict("a", "j", True), Verdict("b", "k", True)])
    assert strata_from(t)[["judge", "survival", "n"]].to_numpy().tolist() == [
        ["j", "clean", 1], ["k", "unknown", 1]]
    with pytest.raises(InputError, match="the label of c names no stratum"):
        strata_from(table([Label("c", False)], [Verdict("c", "j", True)]))
