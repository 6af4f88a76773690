"""Rules beside appendix B's eight, by number from 9 on, and the judge that asks them too.

Decision: a rule is one function of a run and one line of `MORE`. The judge
``rules`` stays the paper's; ``more-rules`` asks the eight and these, so that
both can stand in one table. Refusal: a rule is given neither case nor label,
as the eight are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from tjlib.desk import rules
from tjlib.desk.rules import Violation
from tjlib.trace import Trajectory, Verdict

__all__ = ["MORE", "Rule", "check", "judge"]


class Rule(NamedTuple):
    """What breaks a rule, its failure type, and what finds it: 0-based steps, each with a message.

    A log may hold anything, so the function raises for none.
    """

    what: str
    failure_type: str
    find: Callable[[Trajectory], Iterable[tuple[int, str]]]


#: Number -> rule.
MORE: dict[int, Rule] = {}


def check(trajectory: Trajectory) -> tuple[Violation, ...]:
    """Find every violation of the eight rules and of `MORE`.

    Parameters
    ----------
    trajectory : Trajectory

    Returns
    -------
    tuple of Violation
        Ordered by step, then by rule.
    """
    found = list(rules.check(trajectory))
    for number, rule in MORE.items():
        found += (Violation(step, number, rule.failure_type, message)
                  for step, message in rule.find(trajectory))
    return tuple(sorted(found, key=lambda each: (each.step or 0, each.rule)))


def judge(trajectory: Trajectory) -> Verdict:
    """Judge a trajectory by its first violation, as `tjlib.desk.rules.judge` does.

    Parameters
    ----------
    trajectory : Trajectory

    Returns
    -------
    Verdict

    Examples
    --------
    >>> judge(Trajectory("t-1", "Refund ORD-5.", (), "Done.")).failure_type
    'premature_stop'
    """
    return msgspec.structs.replace(rules.judge(trajectory, check), judge="more-rules")
