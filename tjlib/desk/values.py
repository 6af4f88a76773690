"""Values as any log may hold them: compared and quoted without ever raising.

Decision: a value of the wrong kind is infinitely far from every number, so a
comparison with it fails. Refusal: nothing is converted; text that looks like
a number is text, and True is not 1.
"""

from __future__ import annotations

import math
import reprlib
from typing import Any

__all__ = ["distance", "quoted"]

_SHORT = reprlib.Repr()
_SHORT.maxstring = 80  # of a value quoted in a message


def quoted(value: Any) -> str:
    """Return a value as a message quotes it, shortened.

    Examples
    --------
    >>> quoted("SKU-GIFT-10"), quoted(10**5000)
    ("'SKU-GIFT-10'", 'a huge integer')
    """
    try:
        return _SHORT.repr(value)
    except ValueError:  # an integer of more digits than Python prints
        return "a huge integer"


def distance(one: Any, other: Any) -> float:
    """Return how far apart two numbers are; infinity if one is no number or not finite.

    Examples
    --------
    >>> distance(20, 20.0), distance(True, 1)
    (0.0, inf)
    """
    for value in (one, other):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return math.inf
    try:
        gap = abs(float(one) - float(other))
    except OverflowError:  # an integer beyond every float
        return math.inf
    return math.inf if math.isnan(gap) else gap
