"""Parameters: what a reader may set, what is refused, and how a refusal looks in a notebook."""

from __future__ import annotations

import math
import sys

import pytest

from tjlib import chapter
from tjlib.trace import InputError

HINTS = {"verdicts": str, "judges": list[str], "seeds": list[int], "draws": int, "level": float,
         "quick": bool}
VALUES = {"verdicts": "published", "judges": [], "seeds": [1], "draws": 10, "level": 0.95,
          "quick": False}


def names(**changes):
    """What a notebook's globals hold after its parameters cell and papermill's."""
    ipython = {"__name__": "__main__", "In": [""], "Out": {}, "exit": 1, "quit": 1, "_ih": [""],
               "get_ipython": len, "open": open, "sys": sys, "chapter": chapter, "List": list[str],
               "InputError": InputError}
    return ipython | {"__annotations__": dict(HINTS)} | VALUES | changes


def test_the_defaults_come_back_and_only_they():
    assert vars(chapter.check(names())) == VALUES


def test_hints_written_as_text_mean_the_same():
    text = {name: hint.__name__ if hint in (str, int, float, bool) else str(hint)
            for name, hint in HINTS.items()}
    assert vars(chapter.check(names(__annotations__=text))) == VALUES


def test_a_misspelt_name_stops_with_the_valid_ones():
    with pytest.raises(InputError) as caught:
        chapter.check(names(verdict="released"))
    message = str(caught.value)
    assert "'verdict'" in message and "did you mean 'verdicts'?" in message
    assert "verdicts: str, judges: list[str], seeds: list[int], draws: int" in message


@pytest.mark.parametrize(("name", "value", "says"), [
    ("draws", 1.5, "draws: expected int, got float 1.5"),
    ("draws", True, "draws: expected int, got bool True"),
    ("draws", "10", "draws: expected int, got str '10'"),
    ("level", "0.9", "level: expected float, got str '0.9'"),
    ("level", False, "level: expected float, got bool False"),
    ("level", math.nan, "level: expected float, got float nan"),
    ("level", math.inf, "level: expected float, got float inf"),
    ("quick", 1, "quick: expected bool, got int 1"),
    ("verdicts", 3.1, "verdicts: expected str, got float 3.1"),
    ("verdicts", None, "verdicts: expected str, got None"),
    ("judges", 5, "judges: expected list[str], got int 5"),
    ("judges", ["a", 5], "judges: expected str, got int 5"),
    ("seeds", [1, 2.0], "seeds: expected int, got float 2.0"),
    ("seeds", "[1, 'x']", "seeds: expected int, got str 'x'"),
    ("seeds", "1,x", "seeds: expected int, got str 'x'"),
    ("seeds", "[__import__('os')]", "seeds: expected int"),
])
def test_a_wrong_type_says_what_was_expected_and_what_came(name, value, says):
    with pytest.raises(InputError) as caught:
        chapter.check(names(**{name: value}))
    assert says in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(("name", "value", "means"), [
    ("seeds", "[1, 2, 3]", [1, 2, 3]), ("seeds", "1, 2", [1, 2]), ("seeds", "7", [7]),
    ("seeds", (1, 2), [1, 2]), ("seeds", "[]", []), ("judges", "", []),
    ("judges", "['a:b', \"c\"]", ["a:b", "c"]), ("judges", "[a, b]", ["a", "b"]),
    ("judges", "step:qwen2.5:14b,programmatic", ["step:qwen2.5:14b", "programmatic"]),
    ("judges", "3.10,1", ["3.10", "1"]), ("level", 1, 1.0),
])
def test_a_list_may_come_as_text_and_a_whole_number_for_a_float(name, value, means):
    got = getattr(chapter.check(names(**{name: value})), name)
    assert got == means and type(got) is type(means)


@pytest.mark.parametrize(("hint", "text", "means"), [
    ("str", "3.10", "3.10"), ("str", "true", "true"), ("int", "-3", -3), ("float", "1", 1.0),
    ("bool", "True", True), ("bool", "false", False), ("list[float]", "1,2.5", [1.0, 2.5]),
])
def test_text_typed_on_a_command_line_is_read_by_the_hint(hint, text, means):
    got = chapter.from_text("x", hint, text)
    assert got == means and type(got) is type(means)


@pytest.mark.parametrize(("hint", "text"), [
    ("int", "3.0"), ("int", "three"), ("float", "nan"), ("bool", "1"), ("bool", "yes"),
    ("list[int]", "1;2"),
])
def test_text_of_another_type_is_refused(hint, text):
    with pytest.raises(InputError, match="parameter x: expected"):
        chapter.from_text("x", hint, text)


def test_values_can_be_limited_to_a_list_or_by_a_function():
    rules = {"judges": ("a", "b"), "draws": lambda n: None if n > 0 else f"{n} is not above 0"}
    assert chapter.check(names(judges=["b"]), **rules).judges == ["b"]
    with pytest.raises(InputError, match="judges: 'c' is not one of a, b"):
        chapter.check(names(judges=["b", "c"]), **rules)
    with pytest.raises(InputError, match="draws: 0 is not above 0"):
        chapter.check(names(draws=0), **rules)


def test_a_chapter_that_is_written_wrong_says_so():
    with pytest.raises(InputError, match=r"no parameter 'drawz' .*did you mean 'draws'"):
        chapter.check(names(), drawz=(1,))
    with pytest.raises(InputError, match="run the parameters cell first"):
        chapter.check({})
    with pytest.raises(InputError, match="type hint dict is not supported"):
        chapter.check({"__annotations__": {"x": dict}, "x": {}})
    with pytest.raises(InputError, match="parameter x has no value"):
        chapter.check({"__annotations__": {"x": int}})


def test_running_the_cell_again_in_a_live_notebook_checks_values_only():
    namespace = names()
    chapter.check(namespace)
    namespace |= {"source": object(), "draws": 20}
    namespace["__annotations__"]["later"] = int
    assert chapter.check(namespace).draws == 20
    namespace["draws"] = "many"
    with pytest.raises(InputError, match="expected int"):
        chapter.check(namespace)


# --- in a real kernel ------------------------------------------------------------------------


def run(*cells):
    """Run code cells in a fresh kernel and return their outputs, errors included."""
    nbclient, v4 = pytest.importorskip("nbclient"), pytest.importorskip("nbformat").v4
    book = v4.new_notebook(cells=[v4.new_code_cell(cell) for cell in cells])
    client = nbclient.NotebookClient(book, kernel_name="python3", allow_errors=True,
                                     extra_arguments=["--log-level=ERROR"])
    client.execute()
    return [cell.outputs for cell in book.cells]


PARAMETERS = 'verdicts: str = "published"  # where from\njudges: list[str] = []  # all'
CHECK = "from tjlib import chapter, store\np = chapter.check(globals())"


def test_a_kernel_keeps_the_hints_and_shows_a_refusal_as_one_line():
    good = run(PARAMETERS, '# Parameters\njudges = "[a, b]"', CHECK, "p.judges",
               'store.load("nowhere")',
               'chapter.number("x", 1 / 3, 2); chapter.number("y", None, 2)')
    assert good[3][0]["data"]["text/plain"] == "['a', 'b']"
    (error,) = good[4]
    assert error["ename"] == "InputError" and error["evalue"].startswith("nowhere: ")
    assert error["traceback"] == [f"InputError: {error['evalue']}"]
    glued = [output["data"]["application/papermill.record/text/plain"] for output in good[5]]
    assert glued == ["'0.33'", "'undefined'"]

    bad = run(PARAMETERS, '# Parameters\nverdict = "released"', CHECK)
    assert "did you mean 'verdicts'?" in bad[2][0]["evalue"]


@pytest.mark.parametrize(("value", "digits", "text"), [
    (0.6666, 3, "0.667"), (-0.0001, 2, "0.00"), (400, 0, "400"), (None, 2, "undefined"),
    (math.nan, 2, "undefined"),
])
def test_a_number_is_glued_rounded_and_not_shown(monkeypatch, value, digits, text):
    glued = []
    monkeypatch.setattr("myst_nb.glue", lambda *args, **options: glued.append((args, options)))
    chapter.number("name", value, digits)
    assert glued == [(("name", text), {"display": False})]


def test_a_negative_seed_is_refused_on_every_page():
    given = {"__annotations__": {"seed": int}, "seed": -1}
    with pytest.raises(InputError, match="parameter seed: give 0 or more"):
        chapter.check(given)
    assert chapter.check(given | {"seed": 0}).seed == 0
