"""Exercises in the book: their boxes on a page, in a download, and without their solutions."""

from __future__ import annotations

import re

import nbformat
import pytest
from built import build, small_book
from download import download
from lessons import solutions, without_solutions
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tjlib.page import page
from tjlib.trace import InputError

pytestmark = pytest.mark.xdist_group("book")

CHAPTER = '''\
# %% [markdown]
# # A chapter
#
# Before.
#
# ## Exercises
#
# ```{exercise} Sums
# :label: x-sum
# :nonumber:
# What are {glue:text}`x-two` and one?
# ```
#
# ````{exercise} Words
# :label: x-word
# :nonumber:
# Say it.
#
# ```python
# say()
# ```
# ````

# %% tags=["hide-input"]
from myst_nb import glue
glue("x-two", 2, display=False)

# %% [markdown]
# ```{solution-start} x-sum
# :class: dropdown
# ```
# They are added up.

# %%
print(sum([2, 1]) * 1111)

# %% [markdown]
# Quite a lot.
# ```{solution-end}
# ```
#
# ```{solution} x-word
# :class: dropdown
# With a loud voice.
# ```
#
# Afterword.
'''


@pytest.fixture(scope="module")
def built_page(tmp_path_factory):
    folder = small_book(tmp_path_factory.mktemp("exercise"), {"one": CHAPTER})
    done = build(folder, folder)
    assert done.returncode == 0, done.stdout
    return folder / "_build" / "html"


def test_an_exercise_is_a_box_and_its_solution_a_fold_with_the_code_and_what_it_printed(built_page):
    text = (built_page / "notebooks/one.html").read_text("utf-8")
    box = r'<div class="([^"]*)" id="([^"]*)">\s*<p class="admonition-title">(.*?)</p>'
    boxes = [(kind.split()[:-1], name, re.sub("<.*?>", "", title))
             for kind, name, title in re.findall(box, text)]
    assert boxes == [
        (["exercise"], "x-sum", "Exercise (Sums)"), (["exercise"], "x-word", "Exercise (Words)"),
        (["solution", "dropdown"], boxes[2][1], "Solution"),
        (["solution", "dropdown"], boxes[3][1], "Solution")]
    opened = text.partition(f'id="{boxes[2][1]}"')[2].partition(f'id="{boxes[3][1]}"')[0]
    assert "They are added up." in opened and ">3333\n" in opened and "Quite a lot." in opened
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(ids) == len(set(ids))


def test_a_download_says_exercise_and_solution_and_folds_the_cells_of_one_that_runs(built_page):
    book = nbformat.read(built_page / "_sources/notebooks/one.ipynb", as_version=4)
    nbformat.validate(book)
    prose = "\n".join(cell.source for cell in book.cells if cell.cell_type == "markdown")
    assert "> **Exercise: Sums**\n>\n> What are 2 and one?" in prose
    assert "> ```python\n> say()\n> ```" in prose
    opened, closed = "<details><summary>Solution", "\n\n</details>"
    assert re.search(rf"{opened}</summary>\s+They are added up.{closed}$", prose, re.MULTILINE)
    assert re.search(rf"{opened}, in words</summary>\s+Quite a lot.\s+</details>", prose)
    assert prose.count("<details>") == prose.count("</details>") == 3
    assert "<details><summary>Solution</summary>\n\nWith a loud voice." in prose
    assert not re.search(r"\{[a-z-]+\}|x-word|:label:|```\{", prose)
    folded = [c for c in book.cells if "jupyter" in c.metadata]
    assert [cell.source for cell in folded] == ["print(sum([2, 1]) * 1111)"]
    assert folded[0].metadata.jupyter == {"source_hidden": True, "outputs_hidden": True}


def chapter(*cells: str) -> nbformat.NotebookNode:
    """A notebook: code where a cell begins with a sign, else prose."""
    return new_notebook(cells=[
        new_code_cell(text[1:]) if text.startswith(">") else new_markdown_cell(text)
        for text in cells])


START, END = "```{solution-start} x\n:class: dropdown\n```", "```{solution-end}\n```"


def test_a_rerun_page_has_the_boxes_with_their_titles_and_none_of_the_gates():
    text = page(chapter("# T\n\n```{exercise} Sums\n:label: x\n:nonumber:\nAdd.\n```",
                        f"{START}\nThey add up.", "> 1", END,
                        "```{solution} x\n:class: dropdown\nOr so.\n```"), "t")
    assert '<p class="tj-box-title">Exercise: Sums</p>' in text
    assert '<summary class="tj-box-title">Solution</summary>' in text
    assert "<strong>Solution</strong>" in text
    assert not re.search(r"solution-(start|end)|\{(exercise|solution)|:label:|:nonumber:", text)


@pytest.mark.parametrize("hidden", [
    "```{solution} x\n:class: dropdown\nSECRET\n```",
    "````{solution} x\nSECRET\n```python\nSECRET\n```\n````",
    "```{admonition} Solution\n:class: dropdown\nSECRET\n```",
    "1. Why?\n\n   <details><summary>Solution</summary>\n\n   SECRET\n\n   </details>\n\n2. How?",
    f"{START}\nSECRET\n{END}",
])
def test_whatever_form_a_solution_has_it_goes_and_the_rest_stays(hidden):
    book = chapter(f"# T\n\nBefore.\n\n{hidden}\n\nAfter.", "> 1")
    left = without_solutions(book)
    assert "SECRET" not in nbformat.writes(left) and "SECRET" in solutions(book)
    assert "Before." in left.cells[0].source and "After." in left.cells[0].source
    assert "Before." not in solutions(book) and left.cells[1].source == " 1"


def test_between_the_gates_every_cell_goes_and_a_cell_of_which_nothing_is_left_goes_too():
    book = chapter("# T", f"Keep.\n\n{START}", "SECRET", "> secret()",
                   f"SECRET\n{END}\n\nKeep, too.", f"{START}\nSECRET", END, "> kept()")
    assert [c.source for c in without_solutions(book).cells] == [
        "# T", "Keep.", "Keep, too.", " kept()"]
    assert len(book.cells) == 8  # the chapter itself is as it was


def test_under_the_heading_of_the_exercises_plumbing_goes_and_what_the_reader_runs_stays():
    book = chapter("# T", "> above()", "## Exercises", "> secret()", "> check()")
    for number in (1, 3):
        book.cells[number].metadata["tags"] = ["hide-input"]
    assert [c.source for c in without_solutions(book).cells] == [
        "# T", " above()", "## Exercises", " check()"]


@pytest.mark.parametrize("cells", [[START], [END], [START, START, END], [f"{START}\n{END}\n{END}"]])
def test_a_gate_without_its_other_half_is_refused(cells):
    with pytest.raises(InputError, match="without its other half"):
        without_solutions(chapter(*cells))


def test_a_box_that_is_no_solution_stays_and_so_does_another_fold():
    text = "```{admonition} In one minute\nA.\n```\n\n<details><summary>More</summary>B</details>"
    assert without_solutions(chapter(text)).cells[0].source == text


def test_a_download_without_gates_has_no_folded_cell():
    made = download(chapter("# T", "> 1"), None)
    assert [dict(cell.metadata) for cell in made.cells] == [{}, {}, {}]
