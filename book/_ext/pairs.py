"""The two files of a chapter: NAME.py, which people edit, and NAME.ipynb, which runs.

Decision: the pair agrees when cells, tags and captions do; dates are never
compared. Refusal: a stored notebook has no outputs, so nothing here runs one
or keeps a result.

``python pairs.py FOLDER`` makes the pairs agree.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import jupytext
import nbformat

__all__ = ["problems", "sync"]

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
#: Seconds by which an edited .ipynb must be newer than its .py to win over it:
#: a checkout writes both within one.
NEWER = 2.0


def problems(ipynb: Path) -> list[str]:
    """Tell what keeps a chapter from being built, one line a problem.

    Parameters
    ----------
    ipynb : Path
        The notebook of the pair; its text twin lies beside it.

    Returns
    -------
    list of str
        Empty for a pair in order.
    """
    py, found = ipynb.with_suffix(".py"), []
    notebook = nbformat.read(ipynb, as_version=4)
    if not py.exists():
        found.append(f"{py.name} is missing; run make sync")
    elif _content(jupytext.read(py, fmt="py:percent")) != _content(notebook):
        found.append(f"{py.name} and {ipynb.name} disagree; run make sync")
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    if any(cell.outputs or cell.execution_count for cell in code):
        found.append(f"{ipynb.name} stores outputs; run make sync")
    kernel = notebook.metadata.get("kernelspec", {}).get("name")
    if kernel != KERNEL["name"]:
        found.append(f"{ipynb.name} names the kernel {kernel!r}, not 'python3'; run make sync")
    return found


def sync(folder: Path) -> list[Path]:
    """Make every pair of a folder agree, without outputs.

    The text file wins, unless the notebook is the newer one (edited in an
    editor that does not know the pair) or the only one.

    Returns
    -------
    list of Path
        The files written; a second call writes none.
    """
    written = []
    for stem in sorted({p.with_suffix("") for p in folder.iterdir() if p.suffix in _SUFFIXES}):
        py, ipynb = stem.with_suffix(".py"), stem.with_suffix(".ipynb")
        if not py.exists() or (
            ipynb.exists()
            and ipynb.stat().st_mtime > py.stat().st_mtime + NEWER
            and _content(nbformat.read(ipynb, as_version=4)) != _content(jupytext.read(py))
        ):
            text = jupytext.writes(_clean(nbformat.read(ipynb, as_version=4)), "py:percent")
            written += _replace(py, text)
        notebook = _clean(jupytext.read(py, fmt="py:percent"))
        written += _replace(ipynb, nbformat.writes(notebook) + "\n")
    return written


_SUFFIXES = (".py", ".ipynb")


def _content(notebook: nbformat.NotebookNode) -> list[tuple]:
    kept = ("tags", "mystnb")
    return [
        (cell.cell_type, cell.source, {k: cell.metadata[k] for k in kept if k in cell.metadata})
        for cell in notebook.cells
    ]


def _clean(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Rebuild a notebook from its content alone: the same cells give the same bytes."""
    clean = nbformat.v4.new_notebook(
        metadata={"kernelspec": KERNEL, "jupytext": {"formats": "ipynb,py:percent"}}
    )
    for number, (kind, source, metadata) in enumerate(_content(notebook)):
        make = getattr(nbformat.v4, f"new_{kind}_cell")
        name = hashlib.sha256(f"{number} {source}".encode()).hexdigest()[:8]
        clean.cells.append(make(source, metadata=metadata, id=name))
    return clean


def _replace(path: Path, text: str) -> list[Path]:
    if path.exists() and path.read_text("utf-8") == text:
        return []
    path.write_text(text, "utf-8")
    return [path]


if __name__ == "__main__":
    for path in sync(Path(sys.argv[1])):
        print(f"wrote {path}")
