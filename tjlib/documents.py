"""JSON values in files of unknown make, each with the line it starts on.

Decision: a file is one value, one list of values or one value a line, told
apart by whether its first line is a value; the elements of a list come one by
one, so that an importer sees the same thing either way and a list of any size
is read in flat memory. Text is UTF-8, or UTF-16 where the first bytes say so.
Refusal: nothing is repaired or guessed: what is not JSON, or holds bytes of
another encoding, comes back as `Unread`, with its line and why.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator
from json import JSONDecodeError
from pathlib import Path
from typing import BinaryIO

from tjlib import jsontext
from tjlib.containers import members
from tjlib.jsontext import Document, Unread, decode, value_at, values_of_line

__all__ = ["NO_JSON", "Document", "Unread", "decode", "documents", "values"]

#: Why nothing is read of a file that is something else, such as a README.
NO_JSON = "no JSON object or list; nothing of it was read"

#: Characters of a list that are read at a time, and of a first line that may be all of one.
_CHUNK, _FIRST = 2**20, 64 * 2**20


def _lines(lines: Iterator[str], line: int) -> Iterator[Document | Unread]:
    for number, text in enumerate(lines, line):
        yield from values_of_line(text, number)


def _bounded(file: io.TextIOBase) -> Iterator[str]:
    """Read line by line, but of a line without end no more than shows that it has none."""
    while line := file.readline(jsontext.LONGEST + 1):
        yield line
        if len(line) > jsontext.LONGEST:
            return


class _Ahead:
    """Text read ahead of the place that has been reached in it."""

    def __init__(self, file: io.TextIOBase, text: str, line: int) -> None:
        self.file, self.text, self.line, self.at = file, text, line, 0

    def more(self) -> bool:
        """Read on, about as much as is held already; False at the end."""
        held = len(self.text) - self.at
        if held > jsontext.LONGEST:
            raise JSONDecodeError(jsontext.LONG, self.text, self.at)
        if new := self.file.read(max(_CHUNK, held)):
            self.text, self.at = self.text[self.at:] + new, 0
        return bool(new)

    def go(self, end: int) -> None:
        """Go on to a position, counting lines."""
        self.line += self.text.count("\n", self.at, end)
        self.at = end

    def next(self) -> str:
        """Go to the next character that is not blank; "" at the end."""
        while True:
            self.go(jsontext.blank(self.text, self.at))
            if self.at < len(self.text) or not self.more():
                return self.text[self.at:self.at + 1]

    def value(self) -> Document | Unread:
        """Read the value that starts here, reading on while it may be only half there."""
        while True:
            try:
                value, end = value_at(self.text, self.at)
            except JSONDecodeError as error:
                cut = error.msg.startswith("Unterminated") or len(self.text) - error.pos < 16
                if not (cut and self.more()):
                    raise
                continue
            if end == len(self.text) and not isinstance(value, dict | list) and self.more():
                continue  # a number may go on
            found = jsontext.document(self.text[self.at:end], self.line, value)
            self.go(end)
            return found

    def lines_after(self, error: JSONDecodeError) -> tuple[int, Iterator[str]]:
        """Give the lines from the one an error is in, or where a value came before it the next."""
        start = error.doc.rfind("\n", 0, error.pos) + 1
        if start < self.at:
            start = error.doc.find("\n", self.at) + 1 or len(error.doc)
        self.go(start)
        rest = io.StringIO(self.text[start:] + self.file.readline(jsontext.LONGEST), newline="\n")
        return self.line, itertools.chain(rest, _bounded(self.file))


def _elements(text: _Ahead) -> Iterator[Document | Unread]:
    """Read a list element by element."""
    text.go(text.at + 1)
    while text.next() != "]":
        yield text.value()
        if text.next() == ",":
            text.go(text.at + 1)
            if text.next() == "]":
                raise JSONDecodeError("Expecting value", text.text, text.at)
        elif text.next() != "]":
            yield Unread(text.line, "a list that is not closed; nothing after it was read")
            return
    text.go(text.at + 1)
    if text.next():
        yield Unread(text.line, "more text after the value; it was not read")


def _spread(text: _Ahead) -> Iterator[Document | Unread]:
    """Read values that are spread over lines; behind a broken one, whole lines again."""
    try:
        if text.next() == "[":
            yield from _elements(text)
            return
        while text.next() == "{":
            yield text.value()
        if text.next():
            yield Unread(text.line, "more text after the value; it was not read")
    except JSONDecodeError as error:
        at = text.line + error.doc.count("\n", text.at, error.pos)
        first, rest = text.lines_after(error)
        for number in (first, first + 1):  # an error at a line's start may be of the one before
            found = list(values_of_line(next(rest, ""), number))
            if found and isinstance(found[0], Document) and isinstance(found[0].value, dict):
                yield jsontext.fault(error, at)
                yield from found
                yield from _lines(rest, number + 1)
                return
        yield jsontext.fault(error, at, "; nothing after it was read")


def _text(file: BinaryIO, head: bytes) -> io.TextIOBase:
    utf16 = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"{\0": "utf-16-le",
             b"[\0": "utf-16-le", b"\0{": "utf-16-be", b"\0[": "utf-16-be"}.get(head[:2])
    return io.TextIOWrapper(file, utf16 or "utf-8-sig", "replace" if utf16 else "surrogateescape",
                            newline="\n")


def _values(text: io.TextIOBase) -> Iterator[Document | Unread]:
    number, first = 1, text.readline(_FIRST)
    while first and not first.strip():
        number, first = number + 1, text.readline(_FIRST)
    if not first:
        return
    found = list(values_of_line(first, number))
    if not first.lstrip().startswith(("{", "[")):
        behind = text.readline(_FIRST)
        if not behind.startswith("{"):
            yield Unread(number, NO_JSON)
            return
        yield from found if isinstance(found[0], Unread) else [Unread(number, "no object")]
        yield from _lines(itertools.chain([behind], _bounded(text)), number + 1)
    elif isinstance(found[-1], Unread):
        yield from _spread(_Ahead(text, first, number))
    else:
        lines = enumerate(_bounded(text), number + 1)
        behind = next((pair for pair in lines if pair[1].strip()), None)
        if behind is None and len(found) == 1 and isinstance(found[0].value, list):
            yield from _elements(_Ahead(text, first, number))
            return
        yield from found
        for at, line in itertools.chain([behind] if behind else [], lines):
            yield from values_of_line(line, at)


def values(file: BinaryIO) -> Iterator[Document | Unread]:
    """Read the JSON values of an open file one at a time.

    Parameters
    ----------
    file : binary file
        Buffered; it need not be seekable.

    Yields
    ------
    Document or Unread
        As `documents`, without their source.
    """
    text = _text(file, file.peek(4))
    try:
        yield from _values(text)
        if broken := getattr(file.raw, "fault", ""):  # of an archive
            yield Unread(0, broken)
    finally:
        if not file.closed:
            text.detach()  # or it would close the file, which is not its own


def documents(path: str | Path) -> Iterator[Document | Unread]:
    """Read the JSON values of a file, or of those of a folder or archive, one at a time.

    Parameters
    ----------
    path : str or Path
        What `tjlib.containers.members` opens: JSON or JSON lines in UTF-8 or
        UTF-16; a byte-order mark, CRLF line ends and blank lines are accepted.

    Yields
    ------
    Document or Unread
        A list that is a whole file gives its elements. NaN and Infinity
        read as null, half a surrogate pair as "?".

    Raises
    ------
    InputError
        If the path is not there or cannot be opened.
    """
    for member in members(path):
        if member.file is None:
            yield Unread(0, member.why, member.name)
            continue
        for item in values(member.file):
            yield item._replace(source=member.name)
