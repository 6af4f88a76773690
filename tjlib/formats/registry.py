"""Every format there is, and the one way to read a log of any of them.

Decision: the first value of a log decides its format, so a log needs no
particular name. Refusal: a file of which nothing could be read is an error,
and whatever else could not be read is counted and named by line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import msgspec

from tjlib.documents import Document, Unread, documents
from tjlib.formats import native, tau_bench
from tjlib.formats.imported import Imported
from tjlib.trace import InputError

__all__ = ["FORMATS", "Format", "Log", "known", "load", "stream"]


_NO_RUN = "{}: holds no run; give a file of trajectories"


class Format(NamedTuple):
    """How to tell a format from its first value, and how to read a log of it."""

    recognise: Callable[[object], bool]
    read: Callable[[Iterator[Document | Unread]], Iterator[Imported | Unread]]


#: Name -> format, in the order in which they are tried.
FORMATS = {
    "native": Format(native.recognise, native.read),
    "tau_bench": Format(tau_bench.recognise, tau_bench.read),
}


class Log(NamedTuple):
    """The runs of one file, and what of it could not be read, each as "FILE:LINE: why"."""

    format: str
    runs: list[Imported]
    unread: list[str]


def _detect(path: Path, found: Iterator) -> tuple[str, Iterator]:
    """Name the format of the first value that has one; what was looked at is read again."""
    seen = []
    for item in found:
        seen.append(item)
        if isinstance(item, Document):
            for name, kind in FORMATS.items():
                if kind.recognise(item.value):
                    return name, chain(seen, found)
            break
    if not seen:
        raise InputError(_NO_RUN.format(path))
    line, what = seen[-1].line, seen[-1].why if isinstance(seen[-1], Unread) else (
        "no trajectory in any format that is known")
    raise InputError(f"{path}:{line}: {what}; known are {', '.join(FORMATS)}")


def stream(path: str | Path, format: str = "auto") -> Iterator[Imported | Unread]:
    """Read the runs of a log one at a time.

    Parameters
    ----------
    path : str or Path
    format : str
        A name of `FORMATS`, or "auto" to tell by content.

    Yields
    ------
    Imported or Unread

    Raises
    ------
    InputError
        If the file cannot be opened or is of no known format.
    """
    yield from _open(Path(path), format)[1]


def known(format: str) -> str:
    """Return the name of a format, or refuse it and say which there are."""
    if format not in ("auto", *FORMATS):
        raise InputError(f"no format {format!r}; known are auto, {', '.join(FORMATS)}")
    return format


def _open(path: Path, format: str) -> tuple[str, Iterator[Imported | Unread]]:
    found = documents(path)
    if known(format) == "auto":
        format, found = _detect(path, found)
    return format, FORMATS[format].read(found)


def load(path: str | Path, format: str = "auto") -> Log:
    """Read all runs of a log.

    Parameters
    ----------
    path, format
        As `stream`.

    Returns
    -------
    Log
        A trajectory's id that came before gets a number behind it.

    Raises
    ------
    InputError
        As `stream`, or if no run could be read at all.
    """
    path = Path(path)
    format, found = _open(path, format)
    runs, unread = [], []
    for item in found:
        if isinstance(item, Unread):
            unread.append(f"{path}:{item.line}: {item.why}")
        else:
            runs.append(item)
    if not runs:
        raise InputError(unread[0] if unread else _NO_RUN.format(path))
    return Log(format, _told_apart(runs), unread)


def _told_apart(runs: list[Imported]) -> list[Imported]:
    """Number the ids that appear again."""
    seen: set[str] = set()
    times: dict[str, int] = {}
    out = []
    for run in runs:
        own = name = run.trajectory.trajectory_id
        while name in seen:
            times[own] = times.get(own, 1) + 1
            name = f"{own}~{times[own]}"
        seen.add(name)
        out.append(run if name == own else msgspec.structs.replace(
            run, trajectory=msgspec.structs.replace(run.trajectory, trajectory_id=name)))
    return out
