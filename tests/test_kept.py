"""Outputs kept between builds: reused for the very same inputs, and for no others."""

from __future__ import annotations

import asyncio
import os
import shutil
from types import SimpleNamespace

import nbformat
import pytest
from built import ROOT, build, small_book
from execute import run_chapter, run_or_reuse
from kept import FOLDER, chapter_key, inputs, load, save
from pairs import sync

pytestmark = pytest.mark.xdist_group("book")

#: A chapter that says what it read: a parameter, the library, and a file.
READS = """
from pathlib import Path
import tjlib
f"{seed} {tjlib.VALUE} {Path('../data/x.txt').read_text()}"
"""


class Book:
    """A book of one chapter, with a library and data of its own."""

    def __init__(self, root) -> None:
        self.root, self.path, self.ran = root, root / "notebooks" / "one.ipynb", 0
        for name, text in {"tjlib/__init__.py": "VALUE = 'old'", "data/x.txt": "1",
                           "requirements.txt": "a==1\n", "pyproject.toml": "",
                           "notebooks/one.ipynb": ""}.items():
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(text, "utf-8")
        self.chapter()

    def chapter(self, *, code=READS, seed="7", prose="# One", tags=("parameters",)) -> None:
        """Write the chapter."""
        make = nbformat.v4
        parameters = make.new_code_cell(f"seed: int = {seed}", id="b",
                                        metadata={"tags": list(tags)})
        nbformat.write(make.new_notebook(cells=[
            make.new_markdown_cell(prose, id="a"), parameters, make.new_code_cell(code, id="c"),
        ]), self.path)

    def made(self) -> nbformat.NotebookNode:
        """Build: run the chapter, or take what was kept."""
        runs = asyncio.run(run_or_reuse({"one": self.path}, 60, self.root))
        notebook, _, report = runs["one"]
        assert report is None, report
        for cell in notebook.cells:
            cell.metadata.pop("execution", None)  # when it ran: on no page
        return notebook

    def says(self) -> str:
        """What the chapter's last cell shows after a build."""
        return self.made().cells[-1].outputs[0].data["text/plain"].strip("'")


@pytest.fixture
def book(tmp_path, monkeypatch):
    made = Book(tmp_path)

    async def counted(*arguments):
        made.ran += 1
        return await run_chapter(*arguments)

    monkeypatch.setattr("execute.run_chapter", counted)
    monkeypatch.setattr("execute.problems", lambda path: [])
    return made


@pytest.mark.parametrize(("change", "told"), [
    (lambda b: b.chapter(code=READS.rstrip() + "[::-1]\n"), "1 dlo 7"),
    (lambda b: b.chapter(seed="8"), "8 old 1"),
    (lambda b: (b.root / "tjlib/__init__.py").write_text("VALUE = 'new'"), "7 new 1"),
    (lambda b: (b.root / "data/x.txt").write_text("2"), "7 old 2"),
], ids=["code", "parameter", "tjlib", "data"])
def test_a_change_of_what_a_chapter_reads_is_on_its_page_and_without_one_nothing_runs(
    book, change, told
):
    assert [book.says(), book.says()] == ["7 old 1"] * 2 and book.ran == 1
    change(book)
    assert [book.says(), book.says()] == [told] * 2 and book.ran == 2


def test_prose_is_new_on_the_page_and_outputs_are_to_the_byte_what_a_run_gives(book):
    ran = book.made()
    book.chapter(prose="# Two")
    reused = book.made()
    assert book.ran == 1 and reused.cells[0].source == "# Two"
    ran.cells[0].source = "# Two"
    assert nbformat.writes(reused) == nbformat.writes(ran)


@pytest.mark.parametrize("change", [
    lambda b, m: (b.root / "requirements.txt").write_text("a==2\n"),
    lambda b, m: (b.root / "pyproject.toml").write_text("[project]\n"),
    lambda b, m: (b.root / "tjlib/added.py").write_text(""),
    lambda b, m: (b.root / "data/x.txt").rename(b.root / "data/y.txt"),
    lambda b, m: m.setattr("sys.version", "3.99"),
    lambda b, m: m.setattr("kept.distributions", lambda: [
        SimpleNamespace(metadata={"Name": "numpy"}, version="0")]),
], ids=["pins", "project", "a new module", "a new name", "Python", "a package"])
def test_a_change_of_pins_files_python_or_packages_changes_what_outputs_are_kept_under(
    book, monkeypatch, change
):
    before = inputs(book.root)
    assert inputs(book.root) == before
    change(book, monkeypatch)
    assert inputs(book.root) != before


def test_what_python_compiles_and_when_files_were_written_changes_nothing(book):
    before = inputs(book.root)
    (book.root / "tjlib/__pycache__").mkdir()
    (book.root / "tjlib/__pycache__/x.pyc").write_bytes(b"x")
    os.utime(book.root / "data/x.txt", (0, 0))
    assert inputs(book.root) == before


def test_a_chapters_key_covers_its_code_and_tags_cell_by_cell(book):
    def key(**chapter):
        book.chapter(**chapter)
        return chapter_key(nbformat.read(book.path, as_version=4), "inputs")

    keys = [key(), key(seed="8"), key(code="1"), key(tags=("raises-exception",)),
            key(seed="7\n" + READS, code="")]
    assert len(set(keys)) == len(keys)
    assert key(prose="other words") == keys[0]
    assert chapter_key(nbformat.read(book.path, as_version=4), "others") != keys[0]


@pytest.mark.parametrize("spoil", [
    lambda text: b"", lambda text: text[:-9], lambda text: text.replace(b"7 old 1", b"7 old 2"),
    lambda text: b"\xff" + text, lambda text: text.partition(b"\n")[2],
], ids=["empty", "cut off", "altered", "not text", "without its mark"])
def test_an_entry_that_is_not_whole_is_computed_again(book, spoil):
    book.made()
    entry, = (book.root / FOLDER).iterdir()
    good = entry.read_bytes()
    assert b"7 old 1" in good
    entry.write_bytes(spoil(good))
    assert [book.says(), book.says()] == ["7 old 1"] * 2 and book.ran == 2


def test_a_chapter_under_which_data_changed_while_it_ran_is_not_kept(book):
    book.chapter(code=READS.replace("read_text()", "write_text('22')"))
    assert book.says() == "7 old 2"  # characters written
    assert not (book.root / FOLDER).exists()


def test_a_chapter_that_failed_is_not_kept(book):
    book.chapter(code="1 / 0")
    for runs in (1, 2):
        done = asyncio.run(run_or_reuse({"one": book.path}, 60, book.root))
        assert "ZeroDivisionError" in done["one"][2] and book.ran == runs


def test_entries_used_longest_ago_go_first(tmp_path, monkeypatch):
    monkeypatch.setattr("kept.ENTRIES", 2)
    notebook = nbformat.v4.new_notebook()
    for age, name in [(30, "a"), (20, "b")]:
        save(tmp_path, name, notebook, 1.0)
        os.utime(tmp_path / name, (1e9 - age, 1e9 - age))
    assert load(tmp_path, "a", notebook) == 1.0  # used now
    save(tmp_path, "c", notebook, 2.0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "c"]


GLUED = """\
# %% [markdown]
# # A chapter
#
# We found {glue:text}`found` of them.

# %%
from myst_nb import glue
glue("found", 42, display=False)
"""


def test_a_book_of_which_only_prose_changed_shows_it_with_its_numbers_and_runs_nothing(tmp_path):
    folder = small_book(tmp_path, {"mine": GLUED})
    first = build(folder, folder)
    assert first.returncode == 0 and "ran notebooks/mine" in first.stdout, first.stdout
    page = folder / "_build/html/notebooks/mine.html"
    text = page.read_text("utf-8")
    edited = GLUED.replace("We found", "One counts")
    (folder / "notebooks/mine.py").write_text(edited, "utf-8")
    sync(folder / "notebooks")
    shutil.rmtree(folder / "_build")  # as make does
    again = build(folder, folder)
    assert again.returncode == 0 and "kept notebooks/mine" in again.stdout, again.stdout
    assert "ran notebooks/mine" not in again.stdout
    assert page.read_text("utf-8") == text.replace("We found", "One counts")
    assert '<span class="pasted-text">42</span>' in text


def test_make_book_starts_from_an_empty_folder_and_make_clean_forgets_what_was_kept():
    recipes = (ROOT / "Makefile").read_text("utf-8")
    book = recipes.partition("\nbook:")[2].splitlines()[1:3]
    assert book[0] == "\trm -rf _build" and " --all " in book[1]
    clean = recipes.partition("\nclean:\n")[2].splitlines()[0]
    assert FOLDER in clean.split()
    assert f"{FOLDER}/" in (ROOT / ".gitignore").read_text("utf-8").split()
