"""What a log says, made safe to look at and short enough to keep.

Decision: a character that steers a screen is shown as its escape, so a page
that is read is the text that was sent; what is cut off is counted. Refusal:
nothing is taken out silently and nothing is read as markup, which is the
template's business.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

__all__ = ["Text", "cut", "plain"]

#: Characters of one text that stand on the page, and those beyond which it is folded.
MOST, FOLD = 4_000, 700
_HEAD = 90

_UNUSUAL = re.compile(r"[^ -~\n\t]")
#: Controls, formats (turns of direction, invisible tags), halves, line and paragraph ends.
_STEERS = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_JOINERS = "\u200c\u200d"  # scripts and emoji are written with them


class Text(NamedTuple):
    """A text, what of it is on the page (``shown``), and how many characters are not (``left``).

    ``head`` is its beginning as one line, if the text is long enough to be folded, else "".
    """

    shown: str
    head: str
    left: int
    length: int


def _escaped(found: re.Match[str]) -> str:
    c = found[0]
    steers = unicodedata.category(c) in _STEERS and c not in _JOINERS
    return c.encode("unicode_escape").decode() if steers else c


def plain(text: str) -> str:
    """Return a text with every character that steers a screen as its escape.

    Examples
    --------
    >>> plain("caf\u00e9 \\u202egnp.exe\\x1b[2J")
    'caf\u00e9 \\\\u202egnp.exe\\\\x1b[2J'
    """
    return _UNUSUAL.sub(_escaped, text)


def cut(text: str, fold: int = FOLD, most: int = MOST) -> Text:
    """Cut a text to what a page keeps of it.

    Examples
    --------
    >>> cut("one two", most=3)
    Text(shown='one', head='', left=4, length=7)
    """
    whole = len(text)
    shown = text[:most].replace("\r\n", "\n")
    head = " ".join(shown[:2 * _HEAD].split())[:_HEAD] if whole > fold else ""
    return Text(shown, head, max(0, whole - most), whole)
