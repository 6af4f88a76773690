"""Judges of different trajectories: their differences are over those they share."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from published_table import STEP, published_table

from tjlib import store
from tjlib.measure.alternatives import alternatives
from tjlib.measure.common import APART, common, coverage, shared_pairs, uneven
from tjlib.measure.intervals import intervals
from tjlib.measure.pairs import discrimination, pairs_from
from tjlib.measure.table import table
from tjlib.trace import Label, Verdict

LABELS = [
    Label("c1", False, instance_id="1"), Label("c2", False, instance_id="2"),
    Label("s1", True, 2, "wrong_tool", True, "1", None, "c1"),
    Label("s2", True, 2, "wrong_tool", True, "2", None, "c2"),
]
REPLIES = dict.fromkeys(("c1", "c2", "s1", "s2"), "Done.")
# All four, right on the second instance alone; and a judge of the second instance, right there.
WIDE = [Verdict(name, "wide", name == "s2", confidence=0.9) for name in REPLIES]
SOME = [Verdict(name, "some", name == "s2", confidence=0.9) for name in ("c2", "s2")]
ELSE = [Verdict(name, "else", True, confidence=0.9) for name in ("c1", "s1")]


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_two_judges_that_agree_wherever_both_were_asked_do_not_differ():
    t = table(LABELS, [*WIDE, *SOME])
    found = intervals(t, rng(), draws=20).set_index(["judge", "metric"])
    assert found.loc[("wide", "recall"), "value"] == 0.5
    assert found.loc[("some", "recall"), "value"] == 1.0
    difference = found.loc[("some - wide", "recall")]
    assert (difference["value"], difference["n"]) == (0.0, 2)
    other = alternatives(t, rng(), draws=20).set_index(["judge", "measure"])
    assert other.loc[("wide", "brier"), "value"] > other.loc[("some", "brier"), "value"]
    assert other.loc[("some - wide", "brier"), ["value", "n"]].tolist() == [0.0, 2]


def test_pairs_are_compared_on_the_pairs_that_both_judged():
    pairs = pairs_from(table(LABELS, [*WIDE, *SOME]), REPLIES)
    found = discrimination(pairs, rng(), draws=20).set_index(["judge", "group"])
    assert (found.loc[("wide", "all"), "value"], found.loc[("some", "all"), "value"]) == (0.5, 1.0)
    assert found.loc[("some - wide", "all"), ["value", "n"]].tolist() == [0.0, 1]
    assert len(shared_pairs(pairs, "wide", "some")) == 2


def test_judges_with_nothing_in_common_have_no_difference():
    t = table(LABELS, [*SOME, *ELSE])
    rows = intervals(t, rng(), draws=20)
    rows = rows[rows["judge"] == "else - some"]
    assert set(rows["why"]) == {APART} and set(rows["value"]) == {None}
    other = alternatives(t, rng(), draws=20)
    assert set(other.loc[other["judge"] == "else - some", "why"]) == {APART}
    pairs = discrimination(pairs_from(t, REPLIES), rng(), draws=20)
    pairs = pairs[pairs["judge"] == "some - else"]
    assert set(pairs["value"]) == {None} and pairs["why"].str.startswith("undefined").all()


def test_a_small_common_set_by_instance_says_what_is_missing():
    found = intervals(table(LABELS, [*WIDE, *SOME]), rng(), draws=20, by="instance")
    rows = found[found["judge"] == "some - wide"].set_index("metric")
    assert rows.loc["f1", "why"] == "undefined: only one instance to resample"
    assert set(rows["value"]) == {None}


@given(st.sets(st.integers(0, 399), min_size=1, max_size=60))
def test_the_difference_is_the_one_of_both_judges_cut_to_the_common_trajectories(kept):
    source = store.load("published")
    names = {source.labels[row].trajectory_id for row in kept}
    step = [v for v in source.verdicts if v.judge == STEP]
    part = [Verdict(v.trajectory_id, "part", not v.faulty) for v in step
            if v.trajectory_id in names]
    cut = [x for x in source.labels if x.trajectory_id in names]
    both = table(cut, [v for v in [*step, *part] if v.trajectory_id in names])
    whole = intervals(table(source.labels, [*step, *part]), rng(), draws=5)
    alone = intervals(both, rng(), draws=5)
    name, quality = f"part - {STEP}", ["recall", "f1", "false_alarm_rate", "loud_minus_silent"]
    mine, theirs = (x[(x["judge"] == name) & x["metric"].isin(quality)]["value"].tolist()
                    for x in (whole, alone))
    assert mine == pytest.approx(theirs, nan_ok=False) if None not in theirs else mine == theirs


def test_a_table_of_judges_that_judged_all_is_left_alone():
    t = published_table()
    assert not any(uneven(t, 0, j) for j in range(len(t.judges)))
    same = common(t, *t.judges)
    assert same.labels == t.labels and np.array_equal(same.flag, t.flag)
    assert coverage(t) == "each judged all 400"


def test_coverage_says_who_judged_how_many_and_whose_replies_could_not_be_read():
    lost = [Verdict(x.trajectory_id, "lost", status="error") for x in LABELS]
    assert coverage(table(LABELS, [*WIDE, *SOME, *lost])) == (
        "wide judged 4 of 4, some 2 of 4, lost: no reply could be read")
