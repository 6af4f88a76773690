"""Self-checks: the right answer is right, a known mistake gets its hint, no hint tells."""

from __future__ import annotations

import math
import re
from numbers import Real

import nbformat
import pytest
from built import ROOT
from hypothesis import given
from hypothesis import strategies as st

from tjlib import exercises, store
from tjlib.exercises.asked import ASKED, RIGHT, asked
from tjlib.trace import InputError


def default_rows() -> list[str]:
    """The rows that the chapter on measures begins with."""
    book = nbformat.read(ROOT / "notebooks" / "a5_measures.ipynb", as_version=4)
    cell, = (c for c in book.cells if "parameters" in c.metadata.get("tags", []))
    names: dict = {}
    exec(cell.source, names)
    return names["rows"]


ROWS = {"rows": default_rows()}
#: The paper's faults by kind of case (section 8), ten episodes each.
SHARES = {"shares": {"happy": 0.0, "restocking": 0.0, "expired": 0.0, "non_refundable": 0.0,
                     "wrong_customer": 0.3, "already_refunded": 1.0}}
LOG = {"outcomes": [True] * 10 + [False] * 7 + [None]}

#: Name: data, the right answer worked by hand, and wrong ones with a word of their hint.
WORKED = {
    # The SKU is an argument of get_policy, the third call; rule 1 reads arguments.
    "a3-rule": ({}, (1, 2), {(1, 3): "answered already", (4, 2): "no matter of order"}),
    # An amount that nobody authorised comes from nowhere: rule 1.
    "a3-second": ({}, 1, {3: "missing check itself"}),
    # Three types of 50, and half of a fourth.
    "a3-silent": ({}, 3 * 50 + 25, {150: "one type is missing", 200: "some of its cases",
                                    300: "all faults"}),
    "a4-bound": ({}, round(1 - 0.025 ** (1 / 175), 3),
                 {0: "rate seen", 0.017: "one-sided", 0.012: "all faults", 0.036: "clean runs"}),
    "a4-ece": ({}, 300 / 400, {0.25: "share that was right", 0: "not accuracy"}),
    # Rows 1 to 3 are clean; row 3 is flagged as it is, row 2 with the change.
    "a5-alarm": (ROWS, 2 / 3, {1 / 3: "before the change", 2 / 10: "not all rows",
                               2 / 7: "share of flags"}),
    # Hits 5; flags 5 + 2; faults 7.
    "a5-f1": (ROWS, 0.714, {0.769: "F1 before", 0.357: "count twice", 0.857: "no hit"}),
    "a5-needed": ({}, 555, {368: "without the alarm", 473: "one-sided", 554: "one run short"}),
    "a6-always": ({}, 2 * 300 / (400 + 300), {0.75: "precision", 1: "recall"}),
    "a6-beat": ({}, 257 / 300, {0.75: "share of this set", 0.923: "step judge's F1"}),
    # 79 of 175 less 33 of 100.
    "a6-net": ({}, 79 / 175 - 33 / 100, {0.45: "not detection", 0.283: "pooled recall",
                                         0.51: "loud faults", -0.12: "other way"}),
    "a6-pooled": ({}, 0.9 * 79 / 175 + 0.1 * 105 / 125, {
        0.613: "this set's own", 0.646: "both alike", 0.801: "exchanged", 0.451: "not all"}),
    "a7-net": ({}, (10 - 2) / 50, {0.5: "that is recall", 0.2: "count against it",
                                   0.17: "same cases"}),
    # (184/300 - .33) / .67
    "a7-floor": ({}, 0.423, {0.613: "without false alarms", 0.283: "factor", 0.75: "this set"}),
    "a8-half": ({}, 0.35, {0.538: "p over 1 - p", 0.65: "exchanged", 0.5: "more"}),
    # A tenth of (.3 + 1) / 5.
    "a8-happy": (SHARES, 0.026, {0.217: "in turn", 0.0217: "not one of them", 0.26: "a tenth"}),
    "a9-base": ({}, "does not hold", {"cannot be tested with these data": "data are there"}),
    "a9-uniform": ({}, "Does not hold ", {"holds": "every row",
                                          "cannot be tested with these data": "data are there"}),
    # 0, .2, .4, .6, .8, 1.
    "b3-last": ({}, 2, {1: "both ends"}),
    "b3-pairs": ({"failed": [True] * 3 + [False] * 4 + [None]}, 12, {
        21: "all pairs", 49: "itself included", 3: "not with one"}),
    "b4-cap": ({}, 1.286, {1.459: "as above"}),
    "b4-edge": ({}, 1.332, {1.459: "with the edge", 1.475: "parallel"}),
    # (67 + 100 / 2) / 167.
    "c1-scale": ({"rise": 67, "pairs": 167}, 0.701, {
        0.401: "share in which they rise", 0.599: "share of ties", 0.299: "are missing",
        1: "ties out"}),
    # A run that stops early is always the shorter one.
    "c1-steps": ({}, 0, {0.5: "always ties", 1: "turned round"}),
    "c1-any": ({"alarms": [0.1, 0.2, 0.05]}, 0.35, {
        0.316: "independently", 0.2: "least", 0.117: "mean"}),
    # Of 1,000 runs 16 true alarms and 98 false ones.
    "c1-ppv": ({"recall": 0.8, "alarm": 0.1}, 16 / 114, {
        8 / 9: "as many runs", 0.9: "left alone", 0.016: "divide by all flags",
        98 / 114: "are wrong"}),
    # (0 + 5 * 21 / 43) / (20 + 5)
    "c1-first": ({}, 2.33, {2.30: "smoothed, too", 0.69: "anywhere", 1.61: "all pseudo-counts",
                            0.717: "smoothed share", -2.33: "sign"}),
    # All three others find first, none of them asks.
    "c1-vote": ({}, (0 + 1) / 2, {1: "second step", 1 / 6: "of the three", 0.375: "itself"}),
    # One normal variable above another of the same spread: Phi(3 / sqrt(2)), from a table.
    "c1-dial": ({"dial": 3.0}, 0.983, {0.9987: "varies more", 0.9332: "add up", 0.017: "other"}),
    "c1-mean": ({"dial": 3.0, "steps": 36}, 0.5, {
        3 / 36: "by so much", 3: "its own step", 18: "amplify"}),
    "c2-blind": (LOG, 7 / 17, {7 / 18: "known outcome", 10 / 17: "succeeded"}),
    "c2-tasks": ({"tasks": 7}, 28, {14: "root of two", 7: "as many as there are",
                                    112: "a quarter"}),
    # 9 wins twice; each 6 wins once and ties once: 4 and two halves, of 6 pairs.
    "b5-ties": ({}, 5 / 6, {4 / 6: "as lost", 1: "as won", 0.5: "a coin", 1 / 6: "other way"}),
    # 2 x 116 / (116 + 200)
    "b5-best-f1": ({"failed": 116, "runs": 200}, 0.734, {
        0.58: "precision", 1: "recall", 0.79: "harmonic"}),
    "b5-tenth": ({"steps": [12, 2, 30, 21]}, (1, 3), {
        (0, 3): "round up", (2, 30): "whole", (3, 1): "shortest first"}),
    # Nine of ten make 14 steps, one makes one.
    "b5-delay": ({"length": 14.0, "budget": 0.1}, 12.7, {
        14: "without any", 12.6: "made that step", 2.3: "exchanged"}),
    "b5-six": ({"competence": 0.7}, 0.118, {0.7: "one call", 0.999: "at least one"}),
    # .973 six times over
    "b5-knows": ({"competence": 0.7, "drawn": 3}, 0.849, {
        0.973: "one point", 0.118: "first drawn", 0.313: "whole solutions"}),
    # 1/2, 1/4, 1/4, 1/16
    "b5-lost": ({"edges": [1, 2, 2, 4]}, 17 / 64, {
        0.5: "single edge", 0.5**2.25: "average the chances", 47 / 64: "keep at least"}),
    "b5-by-chance": ({"settings": 60}, 3, {57: "hold 0", 0.954: "at least one", 60: "all"}),
}
every = pytest.mark.parametrize("name", sorted(WORKED))


def test_every_check_is_worked_by_hand_here():
    assert exercises.names() == sorted(WORKED)


@every
def test_the_right_answer_is_right(name):
    data, right, _ = WORKED[name]
    assert exercises.check(name, right, **data) == RIGHT


@every
def test_a_mistake_that_people_make_gets_its_own_hint(name):
    data, _, wrong = WORKED[name]
    for answer, word in wrong.items():
        hint = exercises.check(name, answer, **data)
        assert word in hint and hint != ASKED[name].begin, (answer, hint)


@every
def test_every_mistake_that_is_known_can_be_reached_and_none_is_taken_for_right(name):
    data, _, _ = WORKED[name]
    right, mistakes = ASKED[name].solve(**data)
    for mistake, hint in mistakes:
        if isinstance(right, Real):
            assert abs(mistake - right) > ASKED[name].within, mistake
        assert exercises.check(name, mistake, **data) == hint


@every
def test_no_hint_gives_the_answer_and_each_is_one_line(name):
    data, _, _ = WORKED[name]
    asking = ASKED[name]
    right, mistakes = asking.solve(**data)
    if isinstance(right, Real):
        told = {f"{right:.{digits}f}" for digits in range(5)
                if abs(round(right, digits) - right) <= asking.within} | {f"{right:g}"}
        told |= {text.removeprefix("0") for text in told} - {""}
    elif isinstance(right, tuple):
        told = {str(right), " and ".join(map(str, right))}
    else:
        told = {right}
    for hint in (asking.begin, *(hint for _, hint in mistakes)):
        assert "\n" not in hint and hint
        for text in told:
            assert not re.search(rf"(?<![\w.]){re.escape(text)}(?![\w.]\w|\w)", hint), (hint, text)


@every
def test_an_answer_of_another_kind_is_told_what_to_give(name):
    data, right, _ = WORKED[name]
    asks = f"give {ASKED[name].wants}"
    assert exercises.check(name, None, **data) == f"not answered yet: {asks}"
    for other in (True, math.nan, math.inf, [], object(), 1 + 2j,
                  5 if isinstance(right, str) else "five"):
        assert exercises.check(name, other, **data) == asks


@every
def test_an_answer_that_nobody_foresaw_gets_the_way_to_begin(name):
    data, right, _ = WORKED[name]
    strange = {str: "perhaps", tuple: (99, 99)}.get(type(right), 987.654)
    assert exercises.check(name, strange, **data) == ASKED[name].begin


def test_per_cent_for_a_share_is_noticed():
    assert exercises.check("a6-always", 85.7) == "a share runs from 0 to 1; this is per cent"


def test_a_right_answer_follows_the_rows_that_the_reader_edited():
    rows = [*ROWS["rows"][:2], "clean | clean 0.6", *ROWS["rows"][3:]]
    assert exercises.check("a5-alarm", 1 / 3, rows=rows) == RIGHT
    with pytest.raises(InputError, match=r"^row 2 is no clean run that was left alone"):
        exercises.check("a5-alarm", 1 / 3, rows=["clean | clean 1", "clean | faulty - - 1"])


@given(st.lists(st.sampled_from([True, False, None]), min_size=1).filter(lambda x: False in x))
def test_the_share_of_failures_is_right_of_any_log(outcomes):
    known = [x for x in outcomes if x is not None]
    assert exercises.check("c2-blind", known.count(False) / len(known),
                           outcomes=outcomes) == RIGHT


@pytest.mark.parametrize(("call", "says"), [
    (lambda: exercises.check("a6-allways", 1), "no exercise 'a6-allways' has a check; did you mean "
                                               "'a6-always'?"),
    (lambda: exercises.check("zzz", 1), "no exercise 'zzz' has a check"),
    (lambda: exercises.check("a5-alarm", 1),
     "exercise a5-alarm: missing a required argument: 'rows'; give it as the exercise does"),
    (lambda: exercises.check("c2-blind", 0.5, outcomes=[None, None]),
     "exercise c2-blind: no run of this log has a known outcome"),
    (lambda: exercises.check("a6-always", 1, rows=[]),
     "exercise a6-always: got an unexpected keyword argument 'rows'; give it as the exercise does"),
])
def test_a_wrong_name_or_wrong_data_is_one_line(call, says):
    with pytest.raises(InputError) as told:
        call()
    assert str(told.value) == says


def test_a_name_is_given_once():
    with pytest.raises(ValueError, match="two exercises are named a6-always"):
        asked("a6-always", "x", "y")(lambda: (1, []))


def test_the_counts_worked_with_here_are_the_published_ones():
    labels = store.load("published").labels
    assert (sum(x.faulty for x in labels), len(labels)) == (300, 400)
    assert sum(x.faulty and x.outcome_correct for x in labels) == 175


def chapters_with(pattern: str) -> dict[str, set[str]]:
    return {path.stem: set(re.findall(pattern, "\n".join(
        c.source for c in nbformat.read(path, as_version=4).cells)))
        for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}


def test_every_check_is_asked_in_its_chapter_under_the_exercise_of_its_name():
    called = chapters_with(r'exercises\.check\(\s*"([^"]+)"')
    labelled = chapters_with(r"```\{exercise\}[^\n]*\n:label: (\S+)")
    assert sorted(name for names in called.values() for name in names) == sorted(WORKED)
    for chapter, names in called.items():
        assert names <= labelled[chapter]
        assert all(name.startswith(f"{chapter[:2]}-") for name in names)
        if chapter[0] in "abc":  # a chapter that somebody adds may have none
            assert len(names) >= 2 and len(labelled[chapter]) >= 4, chapter
