"""A chapter's exercises apart from their solutions, for copies to hand out.

Decision: a solution is what stands in a box that says so, or between a gate's
start and its end, its code included; and the plumbing under the heading of the
exercises, which computes what solutions say. Refusal: a gate without its other
half is an error, for what lies behind it might be handed out.
"""

from __future__ import annotations

import re

import nbformat

from tjlib.page import BOX, GATE
from tjlib.trace import InputError

__all__ = ["solutions", "without_solutions"]

_FOLDED = re.compile(
    r"^ *<details>\s*<summary>Solution</summary>.*?</details> *\n?", re.MULTILINE | re.DOTALL)
_EXERCISES = re.compile(r"^## Exercises *$", re.MULTILINE)


def _is_solution(box: re.Match) -> bool:
    return box[2] == "solution" or (box[2] == "admonition" and box[3].startswith("Solution"))


def _parts(book: nbformat.NotebookNode):
    """Split a notebook: (cell, text of it that is kept, text of it that belongs to a solution)."""
    inside, under = False, False
    for cell in book.cells:
        if cell.cell_type == "code":
            # Under the heading, what is folded away computes the numbers of solutions.
            gone = inside or (under and "hide-input" in cell.metadata.get("tags", []))
            yield (cell, None, cell.source) if gone else (cell, cell.source, None)
            continue
        under = under or bool(_EXERCISES.search(cell.source))
        kept, gone, at = [], [], 0
        for gate in GATE.finditer(cell.source):
            (gone if inside else kept).append(cell.source[at:gate.start()])
            at = gate.end()
            if (gate[2] == "start") == inside:
                raise InputError(f"a solution-{gate[2]} without its other half: {gate[0]}")
            inside = not inside
        (gone if inside else kept).append(cell.source[at:])
        text = "".join(kept)
        gone += [box[0] for box in BOX.finditer(text) if _is_solution(box)]
        gone += [folded[0] for folded in _FOLDED.finditer(text)]
        text = _FOLDED.sub("", BOX.sub(lambda box: "" if _is_solution(box) else box[0], text))
        yield cell, re.sub(r"\n{3,}", "\n\n", text).strip("\n"), "\n".join(gone)
    if inside:
        raise InputError("a solution-start without its other half")


def solutions(book: nbformat.NotebookNode) -> str:
    """Give everything in a chapter, prose and code, that belongs to a solution."""
    return "\n".join(gone for _, _, gone in _parts(book) if gone)


def without_solutions(book: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Copy a chapter without its solutions; cells of which nothing is left go too.

    Parameters
    ----------
    book : NotebookNode
        In the book's own Markdown, with or without outputs; the outputs of cells that
        stay are kept.
    """
    made = nbformat.from_dict({**book, "cells": []})
    for cell, kept, _ in _parts(book):
        if kept:
            made.cells.append(nbformat.from_dict({**cell, "source": kept}))
    return made
