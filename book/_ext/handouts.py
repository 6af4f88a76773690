"""What a teacher hands out and shows, written from the chapters: `make course`.

Decision: notebooks, quiz, slides and guide are made of the chapters' outputs as
the book keeps them, so their numbers are the book's; chapters that are not kept
run first. Refusal: nothing is written unless all of it could be made, a student's
copy holds no solution, and no date is in any file.

``python handouts.py ROOT OUT`` writes the folder OUT.
"""

from __future__ import annotations

import asyncio
import copy
import logging
import re
import shutil
import sys
from pathlib import Path

import msgspec
import nbformat
import quiz
import yaml
from deck import Lecture, slides
from download import download, put
from execute import run_or_reuse
from launch import Repository, repository
from lessons import without_solutions
from parameters import title

from tjlib.kernels import need_loopback
from tjlib.page import CHAPTER, glued_in, words
from tjlib.trace import InputError

__all__ = ["chapters", "course", "main"]

#: A number of a chapter as another page quotes it.
_QUOTED = re.compile(r"\{glue:text\}`\.\./notebooks/(\w+)\.ipynb::([\w-]+):s`")


def chapters(root: Path) -> dict[str, Path]:
    """Give the chapters in reading order, by name."""
    toc = (root / "_toc.yml").read_text("utf-8")
    return {name: root / "notebooks" / f"{name}.ipynb"
            for name in re.findall(r"file: notebooks/(\w+)", toc)}


def course(root: Path, executed: dict[str, nbformat.NotebookNode],
           where: Repository | None) -> dict[str, str]:
    """Make every file of the course.

    Parameters
    ----------
    root : Path
        Of the book.
    executed : dict
        Chapters by name in reading order, with their outputs.
    where : Repository or None
        What the notebooks install tjlib from.

    Returns
    -------
    dict
        Text by path inside the folder.

    Raises
    ------
    InputError
        If the quiz bank or a lecture does not fit the chapters.
    """
    bank = quiz.read(root / "book" / "quiz.yaml")
    if found := quiz.problems(bank, executed):
        raise InputError("quiz.yaml: " + "; ".join(found))
    bank = {name: bank[name] for name in executed if name in bank}
    glued = {name: glued_in(copy.deepcopy(book)) for name, book in executed.items()}
    whole = {name: download(copy.deepcopy(book), where) for name, book in executed.items()}
    handed = {name: download(without_solutions(_told(book, glued[name])), where)
              for name, book in executed.items()}
    titles = {name: title(book) for name, book in executed.items()}
    questions = quiz.resolved(bank, glued)
    made = {f"{who}/{name}.ipynb": nbformat.writes(book) + "\n"
            for who, books in (("student", handed), ("teacher", whole))
            for name, book in books.items()}
    made |= {
        "student/quiz.md": quiz.as_markdown(questions, titles, answers=False),
        "teacher/quiz.md": quiz.as_markdown(questions, titles, answers=True),
        "teacher/quiz.html": quiz.as_html(questions, titles),
        "teacher/quiz.json": quiz.as_json(questions),
        "teacher/guide.md": _guide((root / "book" / "teaching.md").read_text("utf-8"), glued),
    }
    for lecture in msgspec.convert(
            yaml.safe_load((root / "book" / "lectures.yaml").read_text("utf-8")), list[Lecture]):
        made[f"teacher/{lecture.file}.html"] = slides(lecture, executed, whole, questions)
    return made


def _told(book: nbformat.NotebookNode, glued: dict[str, str]) -> nbformat.NotebookNode:
    """Copy a chapter, its numbers put in while the cells that made them are still there."""
    made = copy.deepcopy(book)
    for cell in made.cells:
        if cell.cell_type == "markdown":
            cell.source = put(cell.source, glued)
    return made


def _guide(text: str, glued: dict[str, dict[str, str]]) -> str:
    text = _QUOTED.sub(lambda found: glued[found[1]][found[2]], words(text))
    return CHAPTER.sub(r"\1", text)


def main(root: Path, out: Path) -> None:
    """Run what is not kept, then write the course in place of the one before."""
    need_loopback()
    config = yaml.safe_load((root / "_config.yml").read_text("utf-8"))["sphinx"]["config"]
    paths = chapters(root)
    runs = asyncio.run(run_or_reuse(paths, config["tj_cell_timeout"], root))
    if failed := [report for _, _, report in runs.values() if report]:
        raise InputError("no course was written.\n" + "\n".join(failed))
    executed = {name: runs[name][0] for name in paths}
    made = course(root, executed, repository(config["tj_repository"]))
    shutil.rmtree(out, ignore_errors=True)
    for name, text in made.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text, "utf-8")
    print(f"wrote {len(made)} files in {out}; begin with {out / 'teacher' / 'guide.md'}")


if __name__ == "__main__":
    logging.basicConfig(format="%(message)s", level=logging.INFO)
    try:
        main(Path(sys.argv[1]), Path(sys.argv[2]))
    except InputError as error:
        sys.exit(f"make course: {error}")
