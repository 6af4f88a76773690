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

from tjlib.containers import Member, place
from tjlib.documents import NO_JSON, Document, Unread, values
from tjlib.formats.imported import Imported, Outcome
from tjlib.trace import InputError

__all__ = ["File", "Format", "Labels", "Passed", "format_of", "labels", "no_run", "opened", "told"]

#: Values of a file that are looked at for one that tells the format.
_LOOK = 20

#: What reads one value of a label file: the outcome of each task it names, or None.
Labels = Callable[[object], dict[str, bool | Outcome] | None]


class Format(NamedTuple):
    """How to tell a format from a value of it, and how to read one file's values.

    ``together`` is for a format whose files say of each other what they are: those of a
    folder or archive are read as one, and the reader names the source of what it gives.
    """

    recognise: Callable[[object], bool]
    read: Callable[[Iterator[Document | Unread]], Iterator[Imported | Unread]]
    together: bool = False


class Passed(NamedTuple):
    """A file of a folder or archive that holds no run, and what it holds."""

    why: str
    source: str = ""


class File(NamedTuple):
    """A file, its format if it has one, and its values; else what is told instead of them."""

    source: str
    format: str
    found: Iterator


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


def _refusal(path: Path, seen: list, formats: Mapping[str, Format]) -> InputError:
    if not seen:
        return InputError(f"{path}: holds no run; give a file of trajectories")
    item = next((item for item in seen if isinstance(item, Document)), seen[0])
    why = item.why if isinstance(item, Unread) else "no trajectory in any format that is known"
    return InputError(
        f"{place(path, '', item.line)}: {why}; known are {', '.join(formats)}")


def opened(path: Path, member: Member, formats: Mapping[str, Format],
           readers: Mapping[str, Labels], alone: bool) -> File:
    """Tell the format of a file.

    Parameters
    ----------
    path : Path
    member : Member
    formats : mapping of str to Format
        In the order in which they are tried; a single one is what the user says it is.
    readers : mapping
        What reads label files.
    alone : bool
        Whether the file is all there is.

    Returns
    -------
    File

    Raises
    ------
    InputError
        If the file is alone and of no known format.
    """
    if member.file is None:
        why = Passed(member.why) if member.passed else Unread(0, member.why)
        return File(member.name, "", iter([why]))
    source = member.name or path.name  # by which alone some formats name a run
    found = (item._replace(source=source) for item in values(member.file))
    name, found, seen = format_of(found, formats)
    if not name and alone and len(formats) == 1:
        [name] = formats
    if not name and alone:
        raise _refusal(path, seen, formats)
    return File(member.name, name, found if name else no_run(seen, found, readers))


def told(path: str | Path, item: Unread | Passed) -> str:
    """Say in one line what was not read, and where.

    >>> told("log.jsonl", Unread(3, "the last line is cut off"))
    'log.jsonl:3: the last line is cut off'
    """
    return f"{place(path, item.source, getattr(item, 'line', 0))}: {item.why}"
