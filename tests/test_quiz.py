"""The quiz bank: what its checker refuses, and that the bank in the book is in order."""

from __future__ import annotations

import html
import json
import re
from collections import Counter

import msgspec
import nbformat
import pytest
import yaml
from built import ROOT
from hypothesis import given
from hypothesis import strategies as st
from nbformat.v4 import new_markdown_cell, new_notebook
from quiz import (
    LEAST,
    Option,
    Question,
    as_html,
    as_json,
    as_markdown,
    problems,
    read,
    resolved,
)

from tjlib.page import GLUE
from tjlib.trace import InputError

BANK = ROOT / "book" / "quiz.yaml"
PAGES = {path.stem: nbformat.read(path, as_version=4)
         for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}
GOOD = Question("q1", "Here", "Is it {glue:text}`n`?", [
    Option(right="yes"), Option(wrong="no", why="It is."), Option(wrong="never", why="It is.")])
PAGE = new_notebook(cells=[new_markdown_cell("# T\n\n## Here\n\nOf {glue:text}`n` and "
                                             "{glue:text}`m` runs.")])


def bank(*questions: Question) -> dict[str, list[Question]]:
    """A bank of one chapter, filled up to the number it must have."""
    more = [msgspec.structs.replace(GOOD, id=f"more-{n}") for n in range(LEAST - len(questions))]
    return {"one": [*questions, *more]}


def change(**fields) -> Question:
    return msgspec.structs.replace(GOOD, **fields)


def test_the_books_bank_has_no_problem_and_no_chapter_without_questions():
    known = read(BANK)
    assert problems(known, PAGES) == []
    assert set(known) == set(PAGES)


def test_a_number_in_a_question_stands_on_the_page_that_answers_it():
    for name, questions in read(BANK).items():
        prose = "\n".join(c.source for c in PAGES[name].cells if c.cell_type == "markdown")
        for question in questions:
            for key in GLUE.findall(" ".join(question.texts)):
                assert f"{{glue:text}}`{key}`" in prose, (question.id, key)


def test_a_good_bank_has_no_problem():
    assert problems(bank(GOOD), {"one": PAGE}) == []


RIGHT, WRONG, OTHER = GOOD.options


@pytest.mark.parametrize(("question", "says"), [
    (change(options=[RIGHT, WRONG]), "2 options; give 3 or 4"),
    (change(options=[WRONG, OTHER, Option(wrong="perhaps", why="No.")]),
     "not exactly one right option"),
    (change(options=[RIGHT, WRONG, Option(right="perhaps")]), "not exactly one right option"),
    (change(options=[RIGHT, WRONG, Option(wrong="perhaps")]),
     "no reason why this is wrong: perhaps"),
    (change(options=[RIGHT, WRONG, Option(wrong="perhaps", why=" ")]),
     "no reason why this is wrong: perhaps"),
    (change(options=[RIGHT, WRONG, OTHER, Option(wrong="so", right="so", why="x")]),
     "an option that is not either right or wrong"),
    (change(options=[RIGHT, WRONG, Option(wrong="yes", why="x")]), "two options are the same"),
    (change(section="There"), "one has no heading 'There'"),
    (change(ask="Is it {glue:text}`k`?"), "one shows no k"),
    (change(options=[RIGHT, WRONG, Option(wrong="so", why="{glue:text}`k`")]), "one shows no k"),
    (change(ask="Is it 0.45?"), "a number typed by hand: 0.45"),
    (change(options=[RIGHT, WRONG, Option(wrong="so", why="It is 7.")]),
     "a number typed by hand: 7"),
], ids=lambda value: value if isinstance(value, str) else "")
def test_a_question_that_is_not_in_order_is_told_by_its_id(question, says):
    assert f"q1: {says}" in problems(bank(question), {"one": PAGE})


def test_a_name_with_a_digit_is_no_number_and_neither_is_code():
    fine = change(ask="Is the F1 of the 8B judge on tau2 `p[0] == 0.5`?")
    assert problems(bank(fine), {"one": PAGE}) == []


def test_a_chapter_with_too_few_questions_a_stranger_and_an_id_given_twice_are_told():
    few = {"one": [GOOD] * (LEAST - 1), "nowhere": [GOOD]}
    assert problems(few, {"one": PAGE}) == [
        "nowhere: no such chapter", f"one: fewer than {LEAST} questions",
        "q1: two questions have this id"]


@pytest.mark.parametrize(("text", "says"), [
    ("a: []\na: []\n", "quiz.yaml:1: a stands there twice"),
    ("a:\n- id: x\n  section: s\n  ask: a\n", "missing required field `options`"),
    ("a:\n- {id: x, section: s, ask: a, options: [{right: r, because: b}]}\n", "`because`"),
    ("a:\n- {id: x, section: s, ask: 1, options: []}\n", "Expected `str`, got `int`"),
    ("a: [\n", "quiz.yaml:2: "),
])
def test_a_file_that_is_no_bank_is_one_line(tmp_path, text, says):
    (tmp_path / "quiz.yaml").write_text(text, "utf-8")
    with pytest.raises(InputError, match=re.escape(says)) as told:
        read(tmp_path / "quiz.yaml")
    assert "\n" not in str(told.value)


def test_numbers_are_those_of_the_run_and_missing_or_equal_ones_are_refused():
    two = change(options=[Option(right="{glue:text}`n`"),
                          Option(wrong="{glue:text}`m`", why="{glue:text}`n`!"), OTHER])
    made, = resolved({"one": [two]}, {"one": {"n": "3", "m": "4"}})
    assert made["ask"] == "Is it 3?"
    assert {o["text"]: (o["right"], o.get("why")) for o in made["options"]} == {
        "3": (True, None), "4": (False, "3!"), "never": (False, "It is.")}
    with pytest.raises(InputError, match=r"^quiz q1: the run of one glued no m$"):
        resolved({"one": [two]}, {"one": {"n": "3"}})
    with pytest.raises(InputError, match="two options read the same"):
        resolved({"one": [two]}, {"one": {"n": "3", "m": "3"}})


def shares(bank: dict[str, list[Question]]) -> tuple[Counter, Counter]:
    """Where the right options stand in their order, and in length: shortest, longest, between."""
    places, lengths = Counter(), Counter()
    for name, questions in bank.items():
        keys = dict.fromkeys(key for q in questions for key in GLUE.findall(" ".join(q.texts)))
        # Numbers of one length each, so that options that are numbers are alike.
        glued = {name: {key: f"0.{n:03}" for n, key in enumerate(keys)}}
        for made in resolved({name: questions}, glued):
            long = [len(option["text"]) for option in made["options"]]
            right = [option["right"] for option in made["options"]].index(True)
            others = long[:right] + long[right + 1:]
            places[right] += 1
            lengths["shortest" if long[right] < min(others) else
                    "longest" if long[right] > max(others) else "between"] += 1
    return places, lengths


def even(counts: Counter, kinds: list) -> bool:
    """Tell whether three kinds are as even as chance leaves them in 19 cases of 20.

    Of n questions chance puts n / 3 into each, give or take sqrt(2 n / 9); twice that is allowed:
    of 77 questions 18 to 33 a kind, so whoever always takes one kind knows 43 % at most.
    """
    n = counts.total()
    return all(abs(counts[kind] - n / 3) <= 2 * (2 * n / 9) ** 0.5 for kind in kinds)


LENGTHS = ["shortest", "between", "longest"]


def test_neither_place_nor_length_of_the_right_option_tells_more_than_chance():
    places, lengths = shares(read(BANK))
    assert even(places, [0, 1, 2]), places
    assert even(lengths, LENGTHS), lengths


def test_a_bank_whose_right_options_are_the_short_ones_is_told():
    options = [Option(right="a"), Option(wrong="bb", why="x"), Option(wrong="ccc", why="x")]
    _, lengths = shares({"one": [change(id=f"q{n}", options=options) for n in range(77)]})
    assert lengths == {"shortest": 77} and not even(lengths, LENGTHS)
    # By hand: 77 / 3 is 25.7, and twice the root of 154 / 9 is 8.3.
    assert even(Counter(shortest=33, between=26, longest=18), LENGTHS)
    assert not even(Counter(shortest=34, between=25, longest=18), LENGTHS)


TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=12)


@given(TEXT, TEXT)
def test_on_the_page_a_question_is_text_whatever_stands_in_it(ask, option):
    made = [{"id": "q", "chapter": "one", "section": "Here", "ask": ask, "options": [
        {"text": option, "right": True}, {"text": "w", "right": False, "why": "<b>&amp;"}]}]
    page = as_html(made, {"one": "<T>"})
    plain = html.unescape(re.sub(r"</?(code|em)>", "", page))
    bare = re.sub(r"[`*]", "", ask)
    assert bare in re.sub(r"[`*]", "", plain)
    assert "<h2>&lt;T&gt;</h2>" in page and "&lt;b&gt;&amp;amp;" in page


def test_the_bank_is_the_same_as_json_and_as_markdown_and_without_answers_it_has_none():
    made = resolved({"one": [GOOD]}, {"one": {"n": "3"}})
    assert json.loads(as_json(made)) == made
    key = as_markdown(made, {"one": "T"}, answers=True)
    assert key.count("*Right.*") == 1 and key.count("*Wrong.* It is.") == 2
    sheet = as_markdown(made, {"one": "T"}, answers=False)
    assert "1. Is it 3?" in sheet and all(f"{o.text}\n" in sheet for o in GOOD.options)
    assert not re.search(r"Right|Wrong|It is\.|Here", sheet)


def test_the_bank_is_yaml_that_anybody_reads():
    assert set(yaml.safe_load(BANK.read_text("utf-8"))) == set(read(BANK))
