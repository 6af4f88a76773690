"""JSON values in a text at hand, by rules that no log can break.

Decision: NaN and Infinity, which Python writes, say that there is no number
and read as null; half a surrogate pair, which no UTF-8 holds, reads as "?".
Refusal: what is nested very deeply, is longer than any log or holds bytes of
another encoding is not read, and the reason is given with its line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

__all__ = [
    "LONG",
    "LONGEST",
    "Document",
    "Unread",
    "blank",
    "decode",
    "document",
    "fault",
    "value_at",
    "values_of_line",
]

#: Characters beyond which one value is not read: the longest public log seen is 4 MB.
LONGEST = 512 * 2**20
LONG = f"a value of more than {LONGEST >> 20} MB; write one object a line"
#: Levels of nesting beyond which a value is an attack: what works on it further has its limit too.
DEEPEST = 200
_BLANK = re.compile(r"[ \t\r\n]*")
_HALF = re.compile(r"\\u[dD][89abAB]")
_HALVES = re.compile("[\ud800-\udfff]")  # what stands for bytes that are not UTF-8


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


def blank(text: str, at: int) -> int:
    """Return where the next character that is not blank stands."""
    return _BLANK.match(text, at).end()


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


def _too_deep(text: str, at: int, end: int, value: Any) -> bool:
    if text.count("]", at, end) + text.count("}", at, end) <= DEEPEST:
        return False
    level, depth = [value], 0
    while level:
        depth += 1
        level = [inner for item in level
                 for inner in (item.values() if isinstance(item, dict) else item)
                 if isinstance(inner, dict | list)]
    return depth > DEEPEST


def value_at(text: str, at: int = 0) -> tuple[Any, int]:
    """Decode the value that starts at a position; return it and its end."""
    try:
        value, end = _DECODER.raw_decode(text, at)
        if end - at > 2 * DEEPEST and _too_deep(text, at, end, value):
            raise RecursionError
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
    value, end = value_at(text)
    if end != len(text):
        raise ValueError("more than one value")
    return value


def fault(error: json.JSONDecodeError, line: int, more: str = "") -> Unread:
    odd, what = error.doc[error.pos:error.pos + 1], error.msg.lower().removesuffix(" at")
    why = LONG if error.msg == LONG else "NUL bytes where text should be" if odd == "\0" else (
        "not UTF-8 text" if _HALVES.match(odd) else f"not JSON ({what})")
    return Unread(line, why + more)


def document(text: str, line: int, value: Any) -> Document | Unread:
    """Give a value with its text, unless bytes of another encoding stand in it."""
    if not text.isascii() and _HALVES.search(text):
        return Unread(line, "not UTF-8 text; save the file as UTF-8")
    return Document(line, text, value)


def values_of_line(text: str, line: int) -> Iterator[Document | Unread]:
    """Read the values of one line: one, or several objects or lists in a row."""
    at, end = 0, len(text.rstrip())
    if end > LONGEST:
        yield Unread(line, f"{LONG}; nothing after it was read")
        return
    while at < end:
        start = blank(text, at)
        if at and not text.startswith(("{", "["), start):
            yield Unread(line, "more text after the value; it was not read")
            return
        try:
            value, at = value_at(text, start)
        except json.JSONDecodeError as error:
            yield fault(error, line) if text.endswith("\n") else Unread(
                line, "the last line is cut off")
            return
        yield document(text[start:at], line, value)


