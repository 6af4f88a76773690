"""The execution status: how long each chapter ran, on which versions, from which data.

Decision: the page is made of what the build recorded and of the files it read,
so the same sources and packages give the same page, but for the seconds; and
where a chapter's outputs were kept, its seconds are those of the run that made
them. Refusal: no date, no name of a machine, and no word on whether this build
or an earlier one ran a chapter.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import kept
from docutils import nodes
from docutils.statemachine import StringList
from parameters import chapters, title
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["ChapterRuns", "DataFiles", "Versions", "setup"]


class _Table(SphinxDirective):
    """A table in Markdown, so that a cell can link."""

    columns = ""

    def lines(self) -> list[str]:
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        heads = self.columns.split("|")
        rule = "|".join("---:" if head in ("seconds", "bytes") else "---" for head in heads)
        text = [f"|{self.columns}|", f"|{rule}|", *self.lines()]
        holder = nodes.Element()
        self.state.nested_parse(StringList(text, self.name), self.content_offset, holder)
        return holder.children


class ChapterRuns(_Table):
    """A row a chapter: the seconds its run took."""

    columns = "chapter|name|seconds"

    def lines(self) -> list[str]:
        """Write the rows."""
        took = self.env.app.tj_record["chapters"]
        return [f"|[{title(notebook)}](/{doc}.ipynb)|`{doc.rpartition('/')[2]}`|"
                f"{took[doc]['seconds']:.1f}|" for doc, notebook in chapters(self.env)]


class Versions(_Table):
    """A row a program or package: the version that ran the chapters."""

    columns = "what|version"

    def lines(self) -> list[str]:
        """Write the rows."""
        ran_on = self.env.app.tj_record["versions"]
        return [f"|{name}|{version}|" for name, version in ran_on.items()]


class DataFiles(_Table):
    """A row a file of data/: its size, and how its SHA-256 begins."""

    columns = "file|bytes|SHA-256 begins"

    def lines(self) -> list[str]:
        """Write the rows."""
        top = Path(self.env.srcdir, "data")
        return [f"|`{path.relative_to(top).as_posix()}`|{path.stat().st_size}|"
                f"`{hashlib.sha256(path.read_bytes()).hexdigest()[:16]}`|"
                for path in kept.files(top)]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    for name, directive in [("chapter-runs", ChapterRuns), ("versions", Versions),
                            ("data-files", DataFiles)]:
        app.add_directive(name, directive)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
