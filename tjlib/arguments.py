"""How the arguments of two calls are compared, as one rule a tool.

Decision: the defaults are the strictest reading that people mean: 20 is 20.0,
"20" is not, true is not 1, texts agree to the letter, lists in their order,
objects in any. Refusal: no comparison is loosened unless its rule says so,
and nothing is guessed from an argument's name.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import msgspec

from tjlib.desk.values import distance
from tjlib.trace import InputError

__all__ = ["Rule", "rule", "same"]

Mode = Literal["exact", "ignore", "subset", "superset"]
_FORM = ("write, parted by commas, one of exact, ignore, subset and superset, and caseless, "
         "text_numbers, tolerance=0.01 or without=NAME+NAME")


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the arguments of a call are compared with the reference's.

    Attributes
    ----------
    mode : {"exact", "ignore", "subset", "superset"}
        The same arguments; any; none that the reference has not; all that the
        reference has. What both have must be equal.
    without : tuple of str
        Arguments left out of it, such as a timestamp.
    caseless : bool
        Whether texts that differ in case and outer space are equal.
    text_numbers : bool
        Whether "20" is 20.
    tolerance : float
        How far apart two numbers may lie, at least 0.
    """

    mode: Mode = "exact"
    without: tuple[str, ...] = ()
    caseless: bool = False
    text_numbers: bool = False
    tolerance: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.tolerance < math.inf:
            raise ValueError("a tolerance is a number of at least 0")
        if "" in self.without:
            raise ValueError("an argument to leave out has no name")


def rule(text: str) -> Rule:
    """Read a rule such as ``subset,tolerance=0.01,without=note+time``.

    Raises
    ------
    InputError
        For a word that is none of a rule's.

    Examples
    --------
    >>> rule("tolerance=0.01,without=time")
    Rule(mode='exact', without=('time',), caseless=False, text_numbers=False, tolerance=0.01)
    """
    words: list[tuple[str, Any]] = []
    for word in text.split(","):
        name, is_set, value = word.strip().partition("=")
        if not is_set:
            name, value = (name, True) if name in ("caseless", "text_numbers") else ("mode", name)
        words.append((name, value.split("+") if name == "without" else value))
    try:
        if len(dict(words)) < len(words):
            raise ValueError("a word twice")
        return msgspec.convert(dict(words), Rule, strict=False)
    except ValueError:  # msgspec's is one
        raise InputError(f"{text[:80]!r} is no rule for arguments; {_FORM}") from None


def same(got: Any, wanted: Any, rule: Rule) -> bool:
    """Tell whether a call's arguments are the reference's, by a rule.

    Examples
    --------
    >>> [same({"eur": eur}, {"eur": 20}, Rule()) for eur in (20.0, "20", True)]
    [True, False, False]
    >>> same({"eur": "20.004", "id": 1}, {"eur": 20}, rule("superset,text_numbers,tolerance=0.01"))
    True
    """
    if rule.mode == "ignore":
        return True
    if isinstance(got, dict) and isinstance(wanted, dict):
        got, wanted = ({name: value for name, value in args.items() if name not in rule.without}
                       for args in (got, wanted))
        both = got.keys() & wanted.keys()
        if rule.mode in ("exact", "subset") and len(both) < len(got):
            return False
        if rule.mode in ("exact", "superset") and len(both) < len(wanted):
            return False
        got, wanted = ({name: args[name] for name in both} for args in (got, wanted))
    pending = [(got, wanted)]  # a stack, so that no nesting is too deep
    while pending:
        one, other = pending.pop()
        if isinstance(one, dict) and isinstance(other, dict):
            if one.keys() != other.keys():
                return False
            pending += [(value, other[name]) for name, value in one.items()]
        elif isinstance(one, list | tuple) and isinstance(other, list | tuple):
            if len(one) != len(other):
                return False
            pending += zip(one, other, strict=True)
        elif not _equal(one, other, rule):
            return False
    return True


def _equal(one: Any, other: Any, rule: Rule) -> bool:
    if rule.text_numbers:
        one, other = _number(one), _number(other)
    if isinstance(one, str) and isinstance(other, str):
        return one == other or (
            rule.caseless and one.strip().casefold() == other.strip().casefold())
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    # The slack is for floats: 20.01 - 20 > 0.01.
    near = rule.tolerance > 0 and distance(one, other) <= rule.tolerance + 1e-9
    return near or one == other


def _number(value: Any) -> Any:
    """Give a text that is a finite number as that number, a whole one to its last digit."""
    for kind in (int, float) if isinstance(value, str) else ():
        try:
            number = kind(value)
        except ValueError:
            continue
        return number if kind is int or math.isfinite(number) else value
    return value
