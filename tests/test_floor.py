"""Judges against the ones that look at nothing, and which judge is which design."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from published_table import ENSEMBLE, OUTCOME, SMALL, STEP

from tjlib import store
from tjlib.measure.floor import above_zero, floor_check, standing, standings
from tjlib.measure.kinds import design, side_by_side, trio
from tjlib.measure.table import table
from tjlib.measure.verdicts import floors
from tjlib.trace import Label, Verdict

LABELS = [Label(f"f{i}", True) for i in range(3)] + [Label("c", False)]


def check(labels, verdicts, draws=200):
    found = floor_check(labels, verdicts, np.random.default_rng(0), draws=draws)
    return found.set_index("judge")


def test_the_8b_judge_says_what_always_faulty_says_and_its_f1_is_not_told_from_the_floor_s():
    source = store.load("published")
    found = check(source.labels, source.verdicts)
    assert found.loc[SMALL, ["flagged", "n"]].tolist() == [397, 400]
    assert standing(found.loc[SMALL]) in ("below", "not told from")
    assert standing(found.loc[STEP]) == "above" and standing(found.loc[OUTCOME]) == "below"


def test_always_clean_has_no_f1_and_stands_below_by_all_of_the_floor_s():
    found = check(LABELS, [Verdict(x.trajectory_id, "j", False) for x in LABELS])
    floor = floors(table(LABELS, [Verdict("c", "k", True)])).set_index(["judge", "metric"])
    row = found.loc["j"]
    assert (row["flagged"], row["f1"]) == (0, 0.0)
    assert row["value"] == pytest.approx(-6 / 7)
    assert -row["value"] == pytest.approx(floor.loc[("always faulty", "f1"), "value"])
    assert standing(row) == "below"


def test_the_floor_judges_the_judge_s_own_trajectories():
    # On one fault and one clean run the floor's F1 is 2/3; on all four it is 6/7.
    row = check(LABELS, [Verdict("f0", "j", True), Verdict("c", "j", False)]).loc["j"]
    assert (row["n"], row["flagged"]) == (2, 1)
    assert row["value"] == pytest.approx(1 - 2 / 3)


def test_a_judge_that_was_asked_of_no_fault_has_no_standing():
    row = check(LABELS, [Verdict("c", "j", True)]).loc["j"]
    assert row["value"] is None and row["why"].startswith("undefined")
    assert standing(row) == "undefined against"


@given(st.lists(st.booleans(), min_size=4, max_size=4))
def test_a_judge_is_always_faulty_exactly_where_it_flags(flags):
    said = [Verdict(x.trajectory_id, "j", flag) for x, flag in zip(LABELS, flags, strict=True)]
    row = check(LABELS, said, draws=20).loc["j"]
    assert row["flagged"] == sum(flags)
    if all(flags):
        assert row["value"] == 0 and standing(row) == "at"


def test_the_published_designs_are_those_of_the_14b_model():
    judges = list(dict.fromkeys(v.judge for v in store.load("published").verdicts))
    assert trio(judges) == trio(reversed(judges)) == (OUTCOME, STEP, ENSEMBLE)
    assert [design(judge) for judge in judges] == ["rules", "outcome", "step", "step", "ensemble"]


def test_the_recorded_designs_are_those_of_the_recorded_model():
    judges = list(dict.fromkeys(v.judge for v in store.load("recorded").verdicts))
    assert trio(judges) == ("outcome:smollm2", "step:smollm2", "selfcons3:smollm2")


def test_where_no_judge_has_a_design_none_is_found():
    assert not set(trio(["rules", "mine", "reply-steps:m"])) & {"rules", "mine", "reply-steps:m"}


def test_ours_stand_below_the_published_judges_of_their_design():
    published = ["programmatic", OUTCOME, STEP, SMALL]
    assert side_by_side(published, ["mine", "step:m", "rules"]) == [
        ("programmatic", "published"), ("rules", "ours"), (OUTCOME, "published"),
        (STEP, "published"), (SMALL, "published"), ("step:m", "ours"), ("mine", "ours")]
    assert [judge for judge, _ in side_by_side(published, [])] == [OUTCOME, STEP, SMALL]


def test_standings_name_every_judge_once():
    source = store.load("published")
    found = floor_check(source.labels, source.verdicts, np.random.default_rng(0), draws=200)
    said = standings(found, {judge: f"<{judge}>" for judge in found["judge"]})
    assert all(said.count(f"<{judge}>") == 1 for judge in found["judge"])
    assert f"below the floor: <{OUTCOME}>" in said  # by interval; a rule's F1 no resample moves
    assert "in every resample alike, so without interval: <programmatic>" in said


def test_a_judge_that_no_resample_moves_is_listed_apart_from_those_with_an_interval():
    rows = pd.DataFrame({"judge": ["a", "b", "c"], "value": [-.3, -.4, None],
                         "lo": [-.4, None, None], "hi": [-.2, None, None]})
    assert standings(rows, {"a": "A", "b": "B", "c": "C"}) == (
        "below the floor: A; below the floor in every resample alike, so without interval: B; "
        "undefined against the floor: C")


def test_above_zero_by_interval_and_without_one_are_told_apart():
    rows = pd.DataFrame({"judge": list("abcd"), "value": [.3, .1, .5, 0.],
                         "lo": [.2, -.1, None, None]})
    names = {judge: judge.upper() for judge in "abcd"}
    assert above_zero(rows, names) == (
        "A with an interval; the same in every resample, so without one: C (0.500)")
    assert above_zero(rows[:2], names) == "A" and above_zero(rows[3:], names) == "none"
