"""JSON values in a file of unknown make, each with the line it starts on.

Decision: a file is one value, one list of values or one value a line, told
apart by whether its first line is a value; the elements of a list come one by
one, so that an importer sees the same thing either way. Refusal: nothing is
repaired: what is not JSON comes back as `Unread`, with its line and why.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from tjlib.trace import InputError

__all__ = ["Document", "Unread", "decode", "documents"]

#: Bytes beyond which a value is not read: the longest public log seen is 4 MB.
LONGEST = 512 * 2**20
_PACKED = {b"\x1f\x8b": "gzip", b"PK": "zip", b"\x28\xb5\x2f\xfd": "zstandard"}
_BOM = b"\xef\xbb\xbf"
_BLANK = re.compile(r"[ \t\r\n]*")
_HALF = re.compile(r"\\u[dD][89abAB]")


class Document(NamedTuple):
    """One JSON value: its 1-based line, its text, what the text says, and its member.

    ``source`` names the file of a folder or archive; it is empty where one file is read.
    """

    line: int
    text: str
    value: Any
    source: str = ""


class Unread(NamedTuple):
    """What could not be read: its 1-based line (0 for all of a file), why, and its member."""

    line: int
    why: str
    source: str = ""


def _whole(value: Any) -> Any:
    """Replace half characters, which no UTF-8 text can hold."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    return value


#: NaN and Infinity are no JSON, but Python writes them: they say that there is no number.
_DECODER = json.JSONDecoder(parse_constant=lambda name: None)


def _value(text: str, at: int = 0) -> tuple[Any, int]:
    """Decode the value that starts at a position; return it and its end."""
    try:
        value, end = _DECODER.raw_decode(text, at)
        return (_whole(value) if _HALF.search(text, at, end) else value), end
    except json.JSONDecodeError:
        raise
    except (ValueError, RecursionError) as error:
        deep = isinstance(error, RecursionError)
        raise json.JSONDecodeError("nested too deeply" if deep else "a number too long", text,
                                   at) from None


def decode(text: str) -> Any:
    """Decode a JSON text that stands inside another, by the same rules.

    Raises
    ------
    ValueError
        If it is not one JSON value.

    Examples
    --------
    >>> decode('{"price": NaN}')
    {'price': None}
    """
    text = text.strip()
    value, end = _value(text)
    if end != len(text):
        raise ValueError("more than one value")
    return value


def _fault(error: json.JSONDecodeError, line: int) -> Unread:
    return Unread(line + error.lineno - 1, f"not JSON ({error.msg.lower()})")


def _line(raw: bytes, number: int) -> Document | Unread:
    """Read one line as one value."""
    try:
        text = raw.decode("utf-8").strip()
        value, end = _value(text)
    except UnicodeDecodeError:
        return Unread(number, "not UTF-8 text")
    except json.JSONDecodeError as error:
        if not raw.endswith(b"\n"):
            return Unread(number, "the last line is cut off")
        return _fault(error, number)
    return Document(number, text, value) if end == len(text) else Unread(
        number, "more than one value on the line")


def _one_value(text: str, line: int) -> Iterator[Document | Unread]:
    """Read a whole file as one value or as one list of values."""
    at = _BLANK.match(text, 0).end()
    listed = text.startswith("[", at)
    at += listed
    line += text.count("\n", 0, at)
    while True:
        start = _BLANK.match(text, at).end()
        line += text.count("\n", at, start)
        if listed and text.startswith("]", start):
            break
        try:
            value, at = _value(text, start)
        except json.JSONDecodeError as error:
            where = line + text.count("\n", start, error.pos)
            yield Unread(where, f"not JSON ({error.msg.lower()}); nothing after it was read")
            return
        yield Document(line, text[start:at], value)
        line += text.count("\n", start, at)
        start = _BLANK.match(text, at).end()
        line += text.count("\n", at, start)
        at = start
        if not listed:
            break
        if text.startswith(",", at):
            at += 1
        elif not text.startswith("]", at):
            yield Unread(line, "a list that is not closed; nothing after it was read")
            return
    rest = _BLANK.match(text, at + listed).end()
    if rest != len(text):
        yield Unread(line, "more text after the value; it was not read")


def _bounded(file: BinaryIO, path: Path, size: int = -1) -> bytes:
    data = file.read(LONGEST + 1) if size < 0 else file.readline(LONGEST + 1)
    if len(data) > LONGEST:
        raise InputError(f"{path}: a value of more than {LONGEST >> 20} MB; "
                         "write one object a line")
    return data


def _next(file: BinaryIO, path: Path, number: int) -> tuple[int, bytes]:
    """Read the next line that is not blank, and its number."""
    while raw := _bounded(file, path, 1):
        number += 1
        if raw.strip():
            break
    return number, raw


def _read(file: BinaryIO, path: Path) -> Iterator[Document | Unread]:
    if file.peek(3).startswith(_BOM):
        file.read(3)
    for sign, name in _PACKED.items():
        if file.peek(4).startswith(sign):
            raise InputError(f"{path}: a {name} file; unpack it first")
    start, first = _next(file, path, 0)
    found = _line(first, start)
    if isinstance(found, Document):
        number, raw = _next(file, path, start)
        if not raw and isinstance(found.value, list):
            yield from _one_value(found.text, start)
            return
        yield found
        while raw:
            yield _line(raw, number)
            number, raw = _next(file, path, number)
    elif first:
        try:
            text = (first + _bounded(file, path)).decode("utf-8")
        except UnicodeDecodeError:
            raise InputError(f"{path}: not UTF-8 text; save the file as UTF-8") from None
        yield from _one_value(text, start)


def documents(path: str | Path) -> Iterator[Document | Unread]:
    """Read the JSON values of a file one at a time.

    Parameters
    ----------
    path : str or Path
        JSON or JSON lines in UTF-8; a byte-order mark, CRLF line ends and
        blank lines are accepted. JSON lines are read in flat memory.

    Yields
    ------
    Document or Unread
        A list that is the whole file gives its elements. NaN and Infinity
        read as null, half a surrogate pair as "?".

    Raises
    ------
    InputError
        If the file is not there, is a folder, is packed or is not text.
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path}: this is a folder; give a file in it")
    try:
        with path.open("rb") as file:
            yield from _read(file, path)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; check the path") from None
    except OSError as error:
        raise InputError.of(error, path) from None
