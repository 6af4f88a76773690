"""The notebook behind a page's download button: it opens anywhere, reads well, and runs.

Decision: a download is the chapter without outputs, begun by a cell that
installs what it needs, with the book's own Markdown put into what every
notebook program shows; numbers in its sentences are the book's. Refusal: no
output and no date is in it, and a link that only the book can follow is words.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
from launch import Repository
from pairs import KERNEL

from tjlib.page import BOX, CHAPTER, EQ, EQUATION, GATE, GLUE, NUMREF, glued_in, words

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["download", "install", "put", "setup"]

_TARGET = re.compile(r"^\([\w-]+\)=\n", re.MULTILINE)
_OPTION = re.compile(r"^:([\w-]+): *(.*)\n", re.MULTILINE)


def install(repository: Repository | None) -> str:
    """Write the cell that a download begins with."""
    head = ("# Numbers in the sentences below are the book's, from the parameters as they stand "
            "here;\n# what the cells show is computed by you.\n")
    if repository is None:
        return (f"{head}# Needs tjlib in this Python. In a copy of the book's project, run\n"
                '#     pip install ".[book]"\nimport tjlib')
    wanted = f"tjlib[book] @ git+{repository.url}@{repository.branch}"
    return (f"{head}try:\n    import tjlib\nexcept ModuleNotFoundError:\n"
            f'    %pip install --quiet "{wanted}"')


def download(
    executed: nbformat.NotebookNode, repository: Repository | None
) -> nbformat.NotebookNode:
    """Make the download of a chapter.

    Parameters
    ----------
    executed : NotebookNode
        With its outputs, of which only what is glued is used.
    repository : Repository or None
        Where tjlib is to be had, if the book says so.
    """
    glued, figures = glued_in(executed), {}
    for cell in executed.cells:
        if figure := cell.metadata.get("mystnb", {}).get("figure"):
            figures.setdefault(figure["name"], len(figures) + 1)
    labels = [label for cell in executed.cells for label, _ in EQUATION.findall(cell.source)]

    def plain(text: str) -> str:
        """Put the book's Markdown into everybody's."""
        text = put(words(text), glued)
        text = NUMREF.sub(lambda m: _numbered(m, figures), text)
        text = EQ.sub(lambda m: f"({labels.index(m[1]) + 1})" if m[1] in labels else m[0], text)
        text = EQUATION.sub(lambda m: f"$$\n{m[2].strip()}{_tag(m[1], labels)}\n$$", text)
        return CHAPTER.sub(r"\1", BOX.sub(_box, _TARGET.sub("", text)))

    cells, inside = [("code", install(repository), {})], False
    for cell in executed.cells:
        shown = {"tags": tags} if (tags := cell.metadata.get("tags")) else {}
        if cell.cell_type == "markdown":
            text, inside = _folded(cell.source, inside)
            if text := plain(text).strip("\n"):
                cells.append(("markdown", text, shown))
            continue
        # What a box does to prose, notebook programs do to the cells of a solution that runs.
        folded = {"jupyter": {"source_hidden": True, "outputs_hidden": True}} if inside else {}
        cells.append(("code", cell.source, shown | folded))
        if figure := cell.metadata.get("mystnb", {}).get("figure"):
            number = figures[figure["name"]]
            cells.append(("markdown", f"*Fig. {number}. {plain(figure['caption'])}*", {}))
    made = nbformat.v4.new_notebook(metadata={"kernelspec": KERNEL})
    for number, (kind, source, metadata) in enumerate(cells):
        name = hashlib.sha256(f"{number} {source}".encode()).hexdigest()[:8]
        made.cells.append(getattr(nbformat.v4, f"new_{kind}_cell")(
            source, id=name, metadata=metadata))
    return made


def _folded(text: str, inside: bool) -> tuple[str, bool]:
    """Fold what prose of a cell is a solution's that runs; tell whether one is open at its end."""
    first, more = (f"<details><summary>{title}</summary>\n\n"
                   for title in ("Solution", "Solution, in words"))
    gates = [gate[2] for gate in GATE.finditer(text)]
    text = GATE.sub(lambda gate: first if gate[2] == "start" else "\n\n</details>\n", text)
    text, inside = more * inside + text, gates[-1] == "start" if gates else inside
    text += "\n\n</details>" * inside
    text = re.sub(rf"{re.escape(first.strip())}\s*</details>", "**Solution**", text)
    return re.sub(rf"{re.escape(more.strip())}\s*</details>", "", text), inside


def put(text: str, glued: dict[str, str]) -> str:
    """Put what is glued into Markdown, where a number that begins a line begins no list."""
    def value(found: re.Match) -> str:
        made, before = glued.get(found[1], found[0]), text[:found.start()].rpartition("\n")[2]
        listed = made.isdigit() and not before.strip(" >") and text[found.end():][:1] in (".", ")")
        return f"{made}\\" if listed else made

    return GLUE.sub(value, text)


def _numbered(found: re.Match, figures: dict[str, int]) -> str:
    words, name = (found[1], found[2]) if found[2] else ("Fig. %s", found[1])
    return words.replace("%s", str(figures[name])) if name in figures else found[0]


def _tag(label: str, labels: list[str]) -> str:
    return rf" \tag{{{labels.index(label) + 1}}}" if label else ""


def _box(found: re.Match) -> str:
    """Turn a box into a quotation, and one that was folded into one that folds."""
    _, kind, title, body = found.groups()
    options = dict(_OPTION.findall(body))
    body = BOX.sub(_box, _OPTION.sub("", body)).strip()
    title = "Solution" if kind == "solution" else title or kind.capitalize()
    if kind == "exercise":
        title = f"Exercise: {title}"
    if "dropdown" in options.get("class", "") or kind == "solution":
        return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>\n"
    return "\n".join(f"> {line}".rstrip() for line in [f"**{title}**", "", *body.splitlines()])


def write_all(app: Sphinx, error: Exception | None) -> None:
    """Write the downloads where the pages' buttons point: over Sphinx's copies of the sources."""
    if error or app.builder.format != "html":
        return
    for doc, text in app.tj_executed.items():
        notebook = download(nbformat.reads(text, as_version=4), app.tj_repository)
        path = Path(app.outdir, "_sources", f"{doc}.ipynb")
        path.write_text(nbformat.writes(notebook) + "\n", "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("build-finished", write_all)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
