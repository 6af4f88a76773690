"""The parameters of every chapter, read off the cells that set and check them.

Decision: name, type, default and meaning are what a chapter's parameters cell
says, and what is allowed is what its check cell allows: its tuples of values,
and the words with which it refuses a value far out. Refusal: nothing of a
parameter is written on a page by hand.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pandas as pd
from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.util.docutils import SphinxDirective

from tjlib import chapter, tables

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

__all__ = ["Parameters", "chapters", "link", "rows", "setup", "title"]

COLUMNS = ["parameter", "default", "what it is", "allowed"]
_LONG = 100  # characters of a default that a row can hold
#: Values so far out that a rule which refuses any value of the type refuses one of these.
_FAR = {"int": (-10**9, 10**9), "float": (-1e9, 1e9), "str": ("?",), "bool": ()}


def rows(notebook: nbformat.NotebookNode) -> pd.DataFrame:
    """List the parameters of a chapter.

    Returns
    -------
    DataFrame
        One row a parameter, in `COLUMNS`; empty for a chapter without any.
    """
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    at = [i for i, cell in enumerate(code) if "parameters" in cell.metadata.get("tags", [])]
    if not at:
        return pd.DataFrame(columns=COLUMNS)
    source = code[at[0]].source
    comments = {token.start[0]: token.string.lstrip("# ")
                for token in tokenize.generate_tokens(io.StringIO(source).readline)
                if token.type == tokenize.COMMENT}
    rules = _rules(source, code[at[0] + 1].source) if len(code) > at[0] + 1 else {}
    found = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.AnnAssign):
            name, hint = node.target.id, ast.unparse(node.annotation)
            found.append([f"{name}: {hint}", _default(ast.get_source_segment(source, node.value)),
                          comments.get(node.end_lineno, ""), _allowed(hint, rules.get(name))])
    return pd.DataFrame(found, columns=COLUMNS)


def _default(text: str) -> str:
    """Write a default as it stands, of a long list its first item and how many there are."""
    value = ast.literal_eval(text)
    long = isinstance(value, list) and len(text) > _LONG
    return f"{value[:1]!r}"[:-1] + f", ...], {len(value)} in all" if long else text


def _rules(parameters: str, check: str) -> dict[str, Any]:
    """Run a chapter's parameters cell and its check cell, and keep the rules it checks by."""
    kept: dict[str, Any] = {}
    names: dict[str, Any] = {}
    original = chapter.check
    chapter.check = lambda namespace, **rules: kept.update(rules)
    try:
        exec(compile(f"{parameters}\n{check}", "the check cell", "exec"), names)
    finally:
        chapter.check = original
    return kept


def _allowed(hint: str, rule: Any) -> str:
    if rule is None:
        return "–"
    if not callable(rule):
        return ", ".join(str(value) or "(empty)" for value in rule)
    far = ([],) if hint.startswith("list") else _FAR[hint]
    said = [text for value in far if (text := _said(rule, value))]
    return "; ".join(dict.fromkeys(re.sub("^give ", "", text) for text in said)) or "checked"


def _said(rule: Any, value: Any) -> str | None:
    try:
        return rule(value)
    except Exception:  # a rule may look a value up
        return None


def title(notebook: nbformat.NotebookNode) -> str:
    """Give a chapter's first heading."""
    return next(found[1] for cell in notebook.cells
                if cell.cell_type == "markdown" and (found := re.search(r"^# (.+)", cell.source)))


def chapters(env: BuildEnvironment) -> Iterator[tuple[str, nbformat.NotebookNode]]:
    """Give the chapters in reading order, each with its notebook."""
    for doc in env.external_site_map:
        path = Path(env.doc2path(doc))
        if path.suffix == ".ipynb":
            yield doc, nbformat.read(path, as_version=4)


def link(doc: str, words: str) -> pending_xref:
    """Point at a chapter."""
    return pending_xref("", nodes.inline("", words), refdomain="std", reftype="doc",
                        reftarget=f"/{doc}", refexplicit=True, refwarn=True)


class Parameters(SphinxDirective):
    """Show one section a chapter: its title, its command, and the table of its parameters."""

    def run(self) -> list[nodes.Node]:
        """Make the sections."""
        made = []
        for doc, notebook in chapters(self.env):
            frame, name = rows(notebook), doc.rpartition("/")[2]
            if frame.empty:
                continue
            section = nodes.section(ids=[f"parameters-{nodes.make_id(name)}"])
            section += nodes.title("", "", nodes.Text(title(notebook)))
            section += nodes.paragraph("", "", link(doc, "The chapter"), nodes.Text(" is "),
                                       nodes.literal("", name), nodes.Text("."))
            table = tables.show(frame, f"Parameters of {name}.", f"notebooks/{name}.py")
            section += nodes.raw("", table._repr_html_(), format="html")
            made.append(section)
        return made


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("parameters", Parameters)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
