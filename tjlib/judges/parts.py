"""Two prompts laid over each other: what they share, and what only one of them says.

Decision: the comparison is made on the finished prompts, line by line, so a
page that shows it cannot claim a likeness that the judges do not have.
Refusal: no part is named or marked by hand, and no token is counted here.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher

import msgspec

__all__ = ["Part", "parts", "shared_start"]


class Part(msgspec.Struct, frozen=True):
    """Some lines of one paragraph; ``whose`` is "both", "first" or "second"."""

    whose: str
    text: str


def _lines(text: str) -> tuple[list[str], list[bool]]:
    """Give a text's lines without the empty ones, and which of them open a paragraph."""
    lines, opens, after_gap = [], [], True
    for line in text.splitlines():
        if line:
            lines.append(line)
            opens.append(after_gap)
        after_gap = not line
    return lines, opens


def _split(whose: str, lines: list[str], opens: list[bool]) -> Iterator[Part]:
    held: list[str] = []
    for line, new in zip(lines, opens, strict=True):
        if new and held:
            yield Part(whose, "\n".join(held))
            held = []
        held.append(line)
    if held:
        yield Part(whose, "\n".join(held))


def parts(first: str, second: str) -> list[Part]:
    """Cut two prompts into what both say and what only one does.

    Parameters
    ----------
    first, second : str

    Returns
    -------
    list of Part
        In reading order, the first's own lines before the second's where they
        differ. All "both" and "first" lines are the first prompt, all "both"
        and "second" lines the second, save for empty lines.

    Examples
    --------
    >>> for part in parts("Judge.\\n\\nLook at it.", "Judge.\\n\\nLook at all."):
    ...     print(part.whose, part.text)
    both Judge.
    first Look at it.
    second Look at all.
    """
    (one, one_opens), (two, two_opens) = _lines(first), _lines(second)
    found: list[Part] = []
    for tag, a, b, c, d in SequenceMatcher(None, one, two, autojunk=False).get_opcodes():
        found += _split("both" if tag == "equal" else "first", one[a:b], one_opens[a:b])
        if tag != "equal":
            found += _split("second", two[c:d], two_opens[c:d])
    return found


def shared_start(first: str, second: str) -> int:
    """Count the characters at the start of two prompts that a prefix cache could keep.

    Examples
    --------
    >>> shared_start("You see it all.", "You see a part.")
    8
    """
    return next((i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b),
                min(len(first), len(second)))
