"""What a file holds, told by the values in it.

Decision: a header or a line of another kind may come first, so a few values
are looked at. Refusal: a file that is neither runs nor labels is not guessed
at: it is passed over by name where it stands among others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from tjlib.containers import place
from tjlib.documents import NO_JSON, Document, Unread
from tjlib.formats.imported import Imported, Outcome

__all__ = ["Format", "Passed", "format_of", "labels", "no_run", "told"]

#: Values of a file that are looked at for one that tells the format.
_LOOK = 20

Labels = Callable[[object], dict[str, bool | Outcome] | None]


class Format(NamedTuple):
    """How to tell a format from a value of it, and how to read one file's values."""

    recognise: Callable[[object], bool]
    read: Callable[[Iterator[Document | Unread]], Iterator[Imported | Unread]]


class Passed(NamedTuple):
    """A file of a folder or archive that holds no run, and what it holds."""

    why: str
    source: str = ""


def format_of(found: Iterator, formats: Mapping[str, Format]) -> tuple[str, Iterator, list]:
    """Name the format of the first value that has one.

    Parameters
    ----------
    found : iterator of Document or Unread
    formats : mapping of str to Format
        In the order in which they are tried.

    Returns
    -------
    tuple of str, iterator and list
        The name, or "" if it is none of these; all of ``found`` again; what
        of it was looked at.
    """
    seen = []
    for item in islice(found, _LOOK):
        seen.append(item)
        if isinstance(item, Document):
            for name, one in formats.items():
                if one.recognise(item.value):
                    return name, chain(seen, found), seen
    return "", chain(seen, found), seen


def labels(item: Document | Unread, readers: Mapping[str, Labels]) -> dict | None:
    """Return the outcomes that a value of a label file states; None if it is of none."""
    if isinstance(item, Document):
        for read in readers.values():
            if (found := read(item.value)) is not None:
                return found
    return None


def no_run(
    seen: list, found: Iterator, readers: Mapping[str, Labels]
) -> Iterator[Unread | Passed]:
    """Tell of a file among others that holds no run what it holds instead.

    Parameters
    ----------
    seen, found : list, iterator
        As `format_of` returned them.
    readers : mapping
        What reads label files.

    Yields
    ------
    Unread or Passed
        What was broken JSON is unread; any other file is passed over.
    """
    if any(isinstance(item, Document) for item in seen):
        labelled = any(labels(item, readers) is not None for item in seen)
        yield Passed("labels" if labelled else "no run in any format that is known")
    elif not seen or seen[0].why == NO_JSON:
        yield Passed(NO_JSON if seen else "empty")
    else:
        yield from found


def told(path: str | Path, item: Unread | Passed) -> str:
    """Say in one line what was not read, and where.

    >>> told("log.jsonl", Unread(3, "the last line is cut off"))
    'log.jsonl:3: the last line is cut off'
    """
    return f"{place(path, item.source, getattr(item, 'line', 0))}: {item.why}"
