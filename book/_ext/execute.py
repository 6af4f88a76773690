"""Run every chapter when the book is built, and stop the build when one fails.

Decision: MyST-NB renders, this runs. Its own runner publishes a crashed page
and its cache keeps numbers that the library no longer gives, so execution is
off there and each build runs, two at a time, the chapters of which `kept` holds
no outputs from the very same code, library, data and pins. Refusal: a chapter
that crashes, hangs, loses its kernel or differs from its text twin leaves no
book behind.

The executed notebook replaces the page's source while Sphinx reads it; the
file on disk stays without outputs, and what a reader downloads is made of it.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import re
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import kept
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError
from pairs import problems
from sphinx.util import logging
from traitlets.config import Config

import tjlib
from tjlib.kernels import need_loopback
from tjlib.trace import InputError

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

__all__ = ["digest", "run_chapter", "run_or_reuse", "setup"]

LOG = logging.getLogger(__name__)
WORKERS = 2
#: What a page's numbers depend on, from the root of the book.
SOURCES = ("_config.yml", "_toc.yml", "CONTRIBUTING.md", "requirements.txt", "book", "data",
           "notebooks", "tjlib")
RECORDED = ("jupyter-book", "myst-nb", "sphinx", "numpy", "pandas", "scipy", "networkx", "altair",
            "vl-convert-python", "msgspec")
# Without it each kernel warns, in the log, that its loopback port is open to eavesdroppers.
ENCRYPTED = Config({"KernelManager": {"transport_encryption": "auto"}})


def digest(root: Path) -> str:
    """Fingerprint the sources of the book, to tell whether a built one is theirs."""
    return kept.digest({name: root / name for name in SOURCES})


def run_all(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Run the chapters about to be read, and record how long each took."""
    root = Path(app.srcdir)
    record = {"sources": digest(root), "chapters": {}, "versions": _versions()}
    paths = {doc: Path(env.doc2path(doc)) for doc in docnames}
    paths = {doc: path for doc, path in paths.items() if path.suffix == ".ipynb"}
    if paths:
        try:
            need_loopback()
        except InputError as error:
            raise SystemExit(f"The book was not built: {error}") from None
    runs = asyncio.run(run_or_reuse(paths, app.config.tj_cell_timeout, root))
    if failed := [text for _, _, text in runs.values() if text]:
        # An exception would be told twice more, each time under Jupyter Book's own traceback.
        raise SystemExit("\n\n".join(["The book was not built.", *failed]))
    app.tj_executed = {doc: nbformat.writes(notebook) for doc, (notebook, _, _) in runs.items()}
    for doc, (_, seconds, _) in sorted(runs.items()):
        record["chapters"][doc] = {"seconds": round(seconds, 2)}
    app.tj_record = record
    _report_file(app).unlink(missing_ok=True)


def _report_file(app: Sphinx) -> Path:
    return Path(app.outdir).parent / "execution.json"


def write_record(app: Sphinx, error: Exception | None) -> None:
    """Leave the record of a build that went well: it vouches for the pages beside it."""
    if error is None and not app._warncount:  # what -W turns into exit 1 is counted nowhere else
        _report_file(app).write_text(json.dumps(app.tj_record, indent=1) + "\n", "utf-8")


async def run_or_reuse(paths: dict[str, Path], timeout: int, root: Path) -> dict[str, tuple]:
    """Give each chapter's notebook with outputs, the seconds its run took, and a report or None."""
    slots, folder, before = asyncio.Semaphore(WORKERS), root / kept.FOLDER, kept.inputs(root)

    async def run(doc: str, path: Path) -> tuple:
        if found := problems(path):
            return None, 0.0, "\n".join(f"{doc}: {line}" for line in found)
        notebook = nbformat.read(path, as_version=4)
        key = kept.chapter_key(notebook, before)
        if (seconds := kept.load(folder, key, notebook)) is not None:
            LOG.info("kept %s", doc)
            return notebook, seconds, None
        async with slots:
            notebook, seconds, report = await run_chapter(doc, path, timeout, root)
        LOG.info("ran %s in %.1f s", doc, seconds)
        # Of a chapter under which something was changed nobody knows what it read.
        if report is None and (kept.inputs(root), kept.chapter_key(notebook, before)) == (
                before, key):
            kept.save(folder, key, notebook, seconds)
        return notebook, seconds, report

    runs = await asyncio.gather(*(run(*pair) for pair in paths.items()))
    return dict(zip(paths, runs, strict=True))


async def run_chapter(
    doc: str, path: Path, timeout: int, root: Path, *, again: bool = True
) -> tuple:
    """Run one chapter; give the notebook, the seconds, and a report or None."""
    notebook = nbformat.read(path, as_version=4)
    at = {"cell": None}
    client = NotebookClient(
        notebook,
        timeout=timeout,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        config=ENCRYPTED,
        on_cell_start=lambda cell, cell_index: at.update(cell=cell_index),
    )
    # The chapter sees this checkout's tjlib, whatever else is installed.
    search = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")]))
    start, report = time.monotonic(), None
    try:
        await client.async_execute(env={**os.environ, "PYTHONPATH": search})
    except CellExecutionError as error:
        trace = "\n".join(notebook.cells[at["cell"]].outputs[-1].traceback)
        trace = re.sub(r"\x1b\[[\d;]*m", "", trace)
        report = _report(doc, notebook, at["cell"], f"{error.ename}: {error.evalue}", trace)
    except CellTimeoutError:
        why = f"CellTimeoutError: not done after {timeout} s (tj_cell_timeout)"
        report = _report(doc, notebook, at["cell"], why)
    except Exception as error:  # a kernel that dies or never starts has many faces
        # Its ports are chosen before it binds them, and another process may have been quicker.
        if again and at["cell"] is None:
            return await run_chapter(doc, path, timeout, root, again=False)
        report = _report(doc, notebook, at["cell"], f"{type(error).__name__}: {error}")
    return notebook, time.monotonic() - start, report


def _report(doc: str, notebook, index: int | None, why: str, trace: str = "") -> str:
    if index is None:
        return f"{doc}, before its first cell: {why}"
    number = sum(cell.cell_type == "code" for cell in notebook.cells[: index + 1])
    first = notebook.cells[index].source.strip().partition("\n")[0]
    head = f"{doc}, code cell {number} ({first}): {why}"
    return "\n    ".join([head, *trace.splitlines()])


def _versions() -> dict[str, str]:
    ours = {"python": platform.python_version(), "tjlib": tjlib.__version__}
    return ours | {name: version(name) for name in RECORDED}


def every_chapter(app: Sphinx, env: BuildEnvironment, *_: object) -> set[str]:
    """Call every chapter outdated: a library or data change leaves no trace in a notebook."""
    return {doc for doc in env.found_docs if env.doc2path(doc).endswith(".ipynb")}


def hand_over(app: Sphinx, docname: str, source: list[str]) -> None:
    """Give Sphinx the executed notebook in place of the stored one."""
    source[0] = app.tj_executed.get(docname, source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    if sys.platform == "win32":
        # pyzmq needs the selector loop.
        asyncio.set_event_loop_policy(asyncio.WindowsSelectorEventLoopPolicy())
    app.tj_executed, app.tj_record = {}, {}
    app.add_config_value("tj_cell_timeout", 60, "env", types=[int])
    app.connect("env-get-outdated", every_chapter)
    app.connect("env-before-read-docs", run_all)
    app.connect("source-read", hand_over)
    app.connect("build-finished", write_record)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
