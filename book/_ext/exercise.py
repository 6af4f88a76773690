"""Exercises and their solutions in the book: sphinx-exercise, its pages made valid.

Decision: sphinx-exercise does the work. Refusal: the one id that it gives to the
content of every exercise, and another to that of every solution, is taken away,
for a page in which two elements share an id is no valid one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["setup"]

_SHARED = {"exercise-content", "solution-content"}


def _take_shared_ids(app: Sphinx, tree: nodes.document, doc: str) -> None:
    for section in tree.findall(nodes.section):
        section["ids"] = [name for name in section["ids"] if name not in _SHARED]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.setup_extension("sphinx_exercise")
    app.connect("doctree-resolved", _take_shared_ids)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
