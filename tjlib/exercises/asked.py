"""What an exercise with a check consists of, and the list of them all.

Decision: an exercise is one function that gives the right answer and the
mistakes it knows, listed under its name. Refusal: a name is given once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["ASKED", "RIGHT", "Asked", "asked"]

RIGHT = "right"


class Asked(NamedTuple):
    """An exercise with a check.

    Attributes
    ----------
    wants : str
        What an answer is, for "give ...".
    begin : str
        The hint for an answer that is no known mistake.
    within : float
        How far a number may lie from the right one; half a unit of the last digit asked for.
    solve : callable
        Gives the right answer, and pairs of a mistake and its hint.
    """

    wants: str
    begin: str
    within: float
    solve: Callable[..., tuple[Any, list[tuple[Any, str]]]]


#: Exercises by name.
ASKED: dict[str, Asked] = {}


def asked(name: str, wants: str, begin: str, within: float = 0.005) -> Callable:
    """List the decorated function as the solution of an exercise."""
    def enter(solve: Callable) -> Callable:
        if name in ASKED:
            raise ValueError(f"two exercises are named {name}")
        ASKED[name] = Asked(wants, begin, within, solve)
        return solve
    return enter
