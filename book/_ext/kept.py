"""Outputs of chapters, kept between builds for as long as nothing they came from changes.

Decision: a chapter's key covers its code cells, every file of tjlib and data,
the pins, the Python and every package installed, and the code that runs it; so
a change of any of these runs it again, and a change of its prose does not.
What is kept are the outputs alone, and they are put into today's notebook.
Refusal: nothing is reused by date or by name, an entry that is not whole is
none, and a chapter that failed leaves no entry.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from importlib.metadata import distributions
from pathlib import Path

import nbformat

import tjlib

__all__ = ["chapter_key", "digest", "files", "inputs", "load", "save"]

#: Where entries lie, from the root of the book; `make clean` removes it.
FOLDER = ".chapters"
#: Entries kept; of more, those used longest ago go.
ENTRIES = 100
PINS = ("requirements.txt", "pyproject.toml")


def files(top: Path) -> list[Path]:
    """List a file, or the files under a folder, without what Python compiles."""
    found = [top] if top.is_file() else sorted(top.rglob("*"))
    return [path for path in found if path.is_file() and "__pycache__" not in path.parts]


def digest(tops: dict[str, Path]) -> str:
    """Fingerprint files and folders by the names given to them and by what they hold."""
    total = hashlib.sha256()
    for name, top in tops.items():
        for path in files(top):
            inside = "" if path == top else path.relative_to(top).as_posix()
            total.update(f"{name}\0{inside}\0".encode())
            total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def inputs(root: Path) -> str:
    """Fingerprint everything but its own code that a chapter of this book can read.

    Parameters
    ----------
    root : Path
        Of the book; a chapter sees its tjlib first, else the one installed.
    """
    ours = Path(tjlib.__file__).parent
    tops = {name: root / name for name in ("tjlib", "data", *PINS)}
    tops |= {"installed tjlib": ours, "its data": ours.parent / "data"}
    tops |= {name: Path(__file__).with_name(name) for name in ("execute.py", "kept.py")}
    packages = sorted({f"{d.metadata['Name']} {d.version}" for d in distributions()})
    return hashlib.sha256("\n".join([digest(tops), sys.version, *packages]).encode()).hexdigest()


def chapter_key(notebook: nbformat.NotebookNode, all_else: str) -> str:
    """Fingerprint a chapter's code, of which its parameters are a part, and its inputs."""
    code = [[cell.source, cell.metadata.get("tags", [])]
            for cell in notebook.cells if cell.cell_type == "code"]
    return hashlib.sha256(json.dumps([all_else, code]).encode()).hexdigest()


def load(folder: Path, key: str, notebook: nbformat.NotebookNode) -> float | None:
    """Put kept outputs into a notebook.

    Returns
    -------
    float or None
        The seconds its run took; None if no whole entry is kept.
    """
    path = folder / key
    try:
        mark, _, text = path.read_text("utf-8").partition("\n")
        os.utime(path)
    except (OSError, UnicodeDecodeError):
        return None
    if mark != hashlib.sha256(text.encode()).hexdigest():
        return None
    entry = json.loads(text)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell, (count, outputs) in zip(code, entry["cells"], strict=True):
        cell.execution_count = count
        cell.outputs = [nbformat.from_dict(output) for output in outputs]
    notebook.metadata["language_info"] = nbformat.from_dict(entry["language_info"])
    return entry["seconds"]


def save(folder: Path, key: str, notebook: nbformat.NotebookNode, seconds: float) -> None:
    """Keep the outputs of a notebook that ran, whole or not at all."""
    text = json.dumps({
        "seconds": seconds,
        "language_info": notebook.metadata.get("language_info", {}),
        "cells": [[cell.execution_count, cell.outputs]
                  for cell in notebook.cells if cell.cell_type == "code"],
    })
    folder.mkdir(exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, encoding="utf-8") as file:
        file.write(f"{hashlib.sha256(text.encode()).hexdigest()}\n{text}")
    Path(file.name).replace(folder / key)
    by_use = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in by_use[ENTRIES:]:
        path.unlink(missing_ok=True)
