"""Rules beside appendix B's eight, by number from 9 on.

Decision: a rule is one function of a run and one line of `MORE`, and the
checker asks it after the eight. The book's own list is empty, so that its
numbers stay the paper's. Refusal: a rule is given neither case nor label, as
the eight are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from tjlib.trace import Trajectory

__all__ = ["MORE", "Rule"]


class Rule(NamedTuple):
    """What breaks a rule, its failure type, and what finds it: 0-based steps, each with a message.

    A log may hold anything, so the function raises for none; what the eight rules do not bear
    on (`tjlib.desk.rules.applies`) is not shown to it.
    """

    what: str
    failure_type: str
    find: Callable[[Trajectory], Iterable[tuple[int, str]]]


#: Number -> rule.
MORE: dict[int, Rule] = {}
