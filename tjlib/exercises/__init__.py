"""Self-checks of the book's exercises: an answer gets a hint, or the word right.

Decision: what is right is computed, from the data that the chapter uses, when it
is asked for; the mistakes that people make are computed beside it, and each has
its hint. Refusal: no answer is written down here, and no hint gives it away.
"""

from __future__ import annotations

import difflib
import inspect
import math
from numbers import Real
from typing import Any

from tjlib.exercises import (  # noqa: F401 - they fill ASKED
    benchmark,
    judging,
    testbed,
    together,
    warning,
)
from tjlib.exercises.asked import ASKED, RIGHT
from tjlib.trace import InputError

__all__ = ["check", "names"]


def names() -> list[str]:
    """List the exercises that have a check, by chapter."""
    return sorted(ASKED)


def check(name: str, answer: Any, **data: Any) -> str:
    """Check an answer to an exercise.

    Parameters
    ----------
    name : str
        Of the exercise, such as ``a6-always``.
    answer : object
        A number, a word, or a pair, as the exercise says; None for none yet.
    **data : object
        What the exercise names besides, such as the rows that you edited.

    Returns
    -------
    str
        One line: ``right``, or a hint.

    Raises
    ------
    InputError
        If no exercise has this name, or the data do not fit it.

    Examples
    --------
    >>> check("b3-last", None)
    'not answered yet: give a number of steps'
    """
    if name not in ASKED:
        close = difflib.get_close_matches(name, ASKED, n=1)
        mean = f"; did you mean {close[0]!r}?" if close else ""
        raise InputError(f"no exercise {name!r} has a check{mean}")
    asked = ASKED[name]
    if answer is None:
        return f"not answered yet: give {asked.wants}"
    try:
        inspect.signature(asked.solve).bind(**data)
    except TypeError as error:
        raise InputError(f"exercise {name}: {error}; give it as the exercise does") from None
    right, mistakes = asked.solve(**data)
    if not _alike(answer, right):
        return f"give {asked.wants}"
    if _same(answer, right, asked.within):
        return RIGHT
    for mistake, hint in mistakes:
        if _same(answer, mistake, asked.within):
            return hint
    if isinstance(right, Real) and 0 < right <= 1 and _same(answer / 100, right, asked.within):
        return "a share runs from 0 to 1; this is per cent"
    return asked.begin


def _alike(answer: Any, right: Any) -> bool:
    """Tell whether an answer is of the kind asked for."""
    if isinstance(right, Real):
        return (isinstance(answer, Real) and not isinstance(answer, bool)
                and math.isfinite(answer))
    if isinstance(right, tuple):
        return isinstance(answer, tuple | list) and len(answer) == len(right)
    return isinstance(answer, str)


def _same(answer: Any, other: Any, within: float) -> bool:
    if isinstance(other, Real):
        return abs(answer - other) <= within
    if isinstance(other, tuple):
        return tuple(answer) == other
    return answer.strip().lower() == other.lower()
