"""Joining: who is counted, who is not, and what stops the join."""

import numpy as np
import pytest
from published_table import OUTCOME, STEP, published, published_table

from tjlib.measure.table import confusion, patterns, table
from tjlib.measure.verdicts import metrics
from tjlib.trace import FAULT_TYPES, InputError, Label, Verdict

LABELS = [Label("a", False), Label("b", True, 2, "wrong_tool", True),
          Label("c", True, 3, "premature_stop", False), Label("d", True, None, None, None)]


def test_design_cells_are_clean_and_each_type_split_by_survival():
    t = table(LABELS, [Verdict("a", "j", False)])
    assert [t.cells[c] for c in t.cell] == [
        "clean", "wrong_tool/silent", "premature_stop/loud", "untyped/unknown"]


def test_the_published_set_has_the_papers_eight_cells():
    t = published_table()
    sizes = dict(zip(t.cells, np.bincount(t.cell).tolist(), strict=True))
    wanted = published("trajectory_judge_numbers").query("metric == 'design_cell'")
    assert sizes == dict(zip(wanted["subject"], wanted["published"].astype(int), strict=True))


def test_a_judge_that_was_not_asked_is_not_seen():
    t = table(LABELS, [Verdict("a", "j", True), Verdict("b", "k", True)])
    assert t.seen.tolist() == [[True, False], [False, True], [False, False], [False, False]]
    assert not t.flag[1, 0]


def test_a_failed_reply_votes_clean_at_a_half_and_is_not_covered():
    t = table(LABELS, [Verdict("b", "j", status="unparsed"), Verdict("a", "j", False)])
    assert (t.seen[1, 0], t.ok[1, 0], t.flag[1, 0], t.confidence[1, 0]) == (True, False, False, 0.5)


def test_a_judge_with_nothing_to_go_by_judged_nothing_and_is_not_covered():
    t = table(LABELS, [Verdict("a", "j", status="not_applicable"), Verdict("b", "j", True),
                       Verdict("b", "lost", status="not_applicable")])
    assert (t.seen[0, 0], t.ok[0, 0], t.flag[0, 0]) == (False, False, False)
    assert np.isnan(t.confidence[0, 0]) and t.unread == {}
    found = metrics(t).set_index(["judge", "metric"])
    assert found.loc[("j", "coverage"), ["k", "n"]].tolist() == [1, 4]
    assert found.loc[("j", "recall"), ["k", "n"]].tolist() == [1, 1]
    assert found.loc[("j", "false_alarm_rate"), "why"] == (
        "undefined: no clean trajectory was judged")
    assert found.loc[("lost", "recall"), "why"] == "undefined: no faulty trajectory was judged"
    with pytest.raises(InputError, match="two verdicts"):
        table(LABELS, [Verdict("a", "j", status="not_applicable"), Verdict("a", "j", False)])


def test_a_verdict_without_a_confidence_is_given_none():
    assert np.isnan(table(LABELS, [Verdict("b", "j", True)]).confidence[1, 0])


@pytest.mark.parametrize(("labels", "verdicts", "message"), [
    (LABELS, [], "no verdicts to score"),
    ([LABELS[0], LABELS[0]], [Verdict("a", "j", True)], "two labels name the same trajectory"),
    (LABELS, [Verdict("z", "j", True)], "judge j on z: no label for this trajectory"),
    (LABELS, [Verdict("a", "j", True), Verdict("a", "j", False)], "judge j on a: two verdicts"),
    (LABELS, [Verdict("a", "j", True, None, "typo")], "unknown failure type 'typo'"),
    ([Label("a", True, 0, "typo")], [Verdict("a", "j", True)], "label of a: unknown failure type"),
])
def test_the_join_stops_with_one_line_that_says_where(labels, verdicts, message):
    with pytest.raises(InputError, match=message) as error:
        table(labels, verdicts)
    assert "\n" not in str(error.value)


def test_an_unknown_judge_is_answered_with_the_judges_there_are():
    with pytest.raises(InputError, match="no verdicts by 'x'; judges here: j"):
        table(LABELS, [Verdict("a", "j", True)]).column("x")


def test_patterns_differ_where_any_judge_differs_and_only_there():
    labels = [Label(name, False) for name in "abcd"]
    verdicts = [Verdict(name, "j", False, confidence=0.9) for name in "abcd"]
    verdicts += [Verdict(name, "k", name == "b", confidence=0.9) for name in "abc"]
    number = patterns(table(labels, verdicts))
    assert number[0] == number[2]
    assert len({number[0], number[1], number[3]}) == 3


def test_the_published_patterns_are_found_again():
    wanted = published("verdict_patterns").groupby("fault", sort=False)["n"].sum()
    t = published_table()
    assert patterns(t).max() + 1 == len(published("verdict_patterns"))
    assert wanted.sum() == len(t.labels)


def test_confusion_counts_an_untyped_flag_as_missed():
    t = table(LABELS, [Verdict("b", "j", True), Verdict("c", "j", True, 1, "wrong_tool")])
    found = confusion(t, "j")
    assert found.loc["wrong_tool", "missed"] == 1
    assert found.loc["premature_stop", "wrong_tool"] == 1
    assert found.to_numpy().sum() == 2
    assert list(found.columns) == [*FAULT_TYPES, "missed"]


def test_confusion_is_the_published_one():
    wanted = published("trajectory_judge_numbers").query("table == 'confusion'")
    assert set(wanted["subject"]) >= {STEP, OUTCOME}
    for judge, rows in wanted.groupby("subject"):
        found = confusion(published_table(), judge)
        assert {f"{a}->{b}": n for a in found.index for b, n in found.loc[a].items()} == dict(
            zip(rows["metric"], rows["published"].astype(int), strict=True))
