"""Every format there is, and the one way to read a log of any of them.

Decision: the content of each file decides its format, so a log needs no
particular name and a folder may hold several, with label files among them.
Refusal: a file of which nothing could be read is an error; of a folder or an
archive, what could not be read is named by line and what holds no run by file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import chain, groupby
from pathlib import Path
from typing import NamedTuple

from tjlib.containers import kind, members
from tjlib.documents import Unread, values
from tjlib.formats import detect, sidecar
from tjlib.formats import labels as labels_of
from tjlib.formats.detect import Format, Passed, told
from tjlib.formats.imported import Imported
from tjlib.formats.join import Join
from tjlib.formats.table import FORMATS, OUTCOMES
from tjlib.jsonl import numbered
from tjlib.trace import InputError, Trajectory

__all__ = ["FORMATS", "OUTCOMES", "Format", "Log", "Passed", "known", "load", "spare", "stream",
           "told", "trajectories"]


class Log(NamedTuple):
    """The runs of a log, what could not be read and which files held no run.

    Each of ``unread`` and ``passed`` is one line: the place, a colon, why.
    """

    format: str
    runs: list[Imported]
    unread: list[str]
    passed: Sequence[str] = ()


def known(format: str) -> str:
    """Return the name of a format, or refuse it and say which there are."""
    if format not in ("auto", *FORMATS):
        raise InputError(f"no format {format!r}; known are auto, {', '.join(FORMATS)}")
    return format


def spare(out: str | Path, *given: str | Path | None) -> None:
    """Refuse to write to a file that is read: one of those given, or of a folder of them.

    Parameters
    ----------
    out : str or Path
    *given : str, Path or None
        What is read; a file of a folder is read if it holds runs or labels.

    Raises
    ------
    InputError
    """
    if not Path(out).is_file():
        return
    for path in map(Path, filter(None, given)):
        if path.exists() and path.samefile(out):
            raise InputError(f"{out}: is the log itself, or another file that is read; choose "
                             "another --out")
        if (path.is_dir() and Path(out).resolve().is_relative_to(path.resolve())
                and labels_of.is_read(out)):
            raise InputError(f"{out}: is a part of {path}, which is read; choose another --out")


def _group(file: detect.File) -> tuple[str, str]:
    """Return what files share that are read as one: their format, or nothing."""
    together = file.format and FORMATS[file.format].together
    return file.format, "" if together else file.source


def stream(
    path: str | Path, format: str = "auto", labels: str | Path | None = None,
) -> Iterator[Imported | Unread | Passed | str]:
    """Read the runs of a log one at a time.

    Parameters
    ----------
    path : str or Path
        A file, a folder, a gzip file or a zip archive.
    format : str
        A name of `FORMATS`, or "auto" to tell by content.
    labels : str or Path, optional
        A file of outcomes, by task or trajectory; it outweighs the log's own.

    Yields
    ------
    Imported, Unread, Passed or str
        A str names the format of the runs that follow. A trajectory's id that
        came before gets a number behind it.

    Raises
    ------
    InputError
        If a file cannot be opened, or a single file is of no known format.
    """
    known(format)
    path, alone = Path(path), kind(path) not in ("folder", "zip")
    given = labels_of.outcomes(labels) if labels else labels_of.Labels({}, [])
    if given.odd:
        raise InputError(told(labels, given.odd[0]))
    if labels and not given.said:
        raise InputError(f"{labels}: holds no outcomes; give one of the label files that a known "
                         'format has, or lines of {"task_id": ..., "success": true or false}')
    found = labels_of.Labels({}, []) if alone else labels_of.outcomes(path)
    join = Join(path, given.said, found.said, sidecar.rows(path))
    tried = FORMATS if format == "auto" else {format: FORMATS[format]}
    # Closed here, or a refusal would leave the file open until it is collected.
    with closing(members(path)) as there:
        files = (detect.opened(path, member, tried, OUTCOMES, alone) for member in there)
        for (name, source), group in groupby(files, _group):
            items = chain.from_iterable(file.found for file in group)
            if name:
                yield name
            for item in FORMATS[name].read(items) if name else items:
                where = "" if alone else item.source or source
                if isinstance(item, Imported):
                    yield join.run(item, where)
                else:
                    yield item._replace(source=where)
    yield from found.odd
    for why in join.left():
        yield Passed(why)


def trajectories(
    path: str | Path, format: str = "auto", *, tell: Callable[[str], None] | None = None,
) -> Iterator[tuple[int, Trajectory]]:
    """Read the trajectories of a log of any format, each with the number of its line.

    Parameters
    ----------
    path, format
        As `stream`.
    tell : callable, optional
        Is told what could not be read, one line each.

    Yields
    ------
    tuple of int and Trajectory

    Raises
    ------
    InputError
        As `stream`; of a file of our own, at the first line that is wrong.
    """
    path = Path(path)
    if format in ("auto", "native") and not kind(path) and _is_our_own(path):
        yield from numbered(path, Trajectory)
        return
    for item in stream(path, format):
        if isinstance(item, Imported):
            yield item.line, item.trajectory
        elif isinstance(item, Unread | Passed) and tell:
            tell(told(path, item))


def _is_our_own(path: Path) -> bool:
    """Tell a file of our trajectories, or of objects of no known kind, which their reader names."""
    if not path.is_file():
        return True
    found = chain.from_iterable(values(m.file) for m in members(path) if m.file)
    name, _, seen = detect.format_of(found, FORMATS)
    return name == "native" or not (name or (seen and all(isinstance(i, Unread) for i in seen)))


def load(
    path: str | Path, format: str = "auto", labels: str | Path | None = None,
) -> Log:
    """Read all runs of a log.

    Parameters
    ----------
    path, format, labels
        As `stream`.

    Returns
    -------
    Log

    Raises
    ------
    InputError
        As `stream`, or if no run could be read at all.
    """
    names, log = {}, Log("", [], [], [])
    for item in stream(path, format, labels):
        if isinstance(item, str):
            names[item] = None
        elif isinstance(item, Imported):
            log.runs.append(item)
        elif isinstance(item, Unread):
            log.unread.append(told(path, item))
        else:
            log.passed.append(told(path, item))
    if not log.runs:
        if log.unread:
            raise InputError(log.unread[0] + ("" if format == "auto" else
                             f"; nothing of it could be read as {format}, leave that out and each "
                             "file's content decides"))
        raise InputError(f"{path}: holds no run in any format that is known; known are "
                         f"{', '.join(FORMATS)}")
    return log._replace(format=", ".join(names))
