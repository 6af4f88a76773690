"""A shift at the desk: several cases in one run, on one desk that knows them all.

Decision: cases are handled one after the other, each by its own script, and a call that names
another case's order is answered with that order, as a real desk would. Refusal: nothing here is a
fault; a shift of one case is that case's run, step for step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from tjlib.desk.world import THOUGHTS, Desk, Instance
from tjlib.trace import Call, InputError, Observation, Step

__all__ = ["SharedDesk", "goal", "replay", "shifts"]

#: Argument -> how a case is told by it. Escalation and reply name none: the case at hand's.
_NAMES = {"email": lambda case: case.customer.email, "order_id": lambda case: case.order_id,
          "sku": lambda case: case.sku}


def shifts(cases: Iterator[Instance], size: int) -> Iterator[tuple[Instance, ...]]:
    """Deal a stream of cases into shifts.

    Parameters
    ----------
    cases : iterator of Instance
    size : int
        Cases a shift, at least 1.

    Yields
    ------
    tuple of Instance
        No two of a shift share an item, customer or order: of an item that is
        there already the number is raised; a case whose customer or order is
        there is passed over.

    Raises
    ------
    InputError
        If the size is below 1 or above 60.

    Examples
    --------
    >>> from tjlib.desk.world import instances
    >>> [case.sku for case in next(shifts(instances(7), 3))]
    ['SKU-PHONE-88', 'SKU-LAMP-07', 'SKU-CHAIR-42']
    """
    if not 1 <= size <= 60:
        raise InputError(f"a shift of {size} cases; give 1 to 60")
    while True:
        held: list[Instance] = []
        while len(held) < size:
            case = next(cases)
            kind, _, number = case.sku.rpartition("-")
            taken = {other.sku for other in held}
            while f"{kind}-{number}" in taken:
                number = f"{(int(number) + 1) % 100:02d}"
            if not any(name(case) == name(other) for other in held
                       for name in (_NAMES["email"], _NAMES["order_id"])):
                held.append(msgspec.structs.replace(case, sku=f"{kind}-{number}"))
        yield tuple(held)


def goal(cases: Sequence[Instance]) -> str:
    """Write what the agent is asked: every case's request, a line each."""
    return "\n".join(case.goal for case in cases)


class SharedDesk:
    """One desk for all cases of a shift.

    Parameters
    ----------
    cases : sequence of Instance
    """

    def __init__(self, cases: Sequence[Instance]) -> None:
        self._cases, self._desks = tuple(cases), [Desk(case) for case in cases]

    def call(self, call: Call, at: int) -> Observation:
        """Carry out one call while case ``at`` is at hand.

        What it names decides whose desk answers; what nobody has is refused
        by that of the case at hand.
        """
        args = call.args if isinstance(call.args, dict) else {}
        for argument, name in _NAMES.items():
            for number, case in enumerate(self._cases):
                if argument in args and args[argument] == name(case):
                    return self._desks[number].call(call)
        return self._desks[at].call(call)


def replay(
    cases: Sequence[Instance], scripts: Sequence[Sequence[Call]]
) -> tuple[tuple[Step, ...], str]:
    """Carry out one script a case, one call a step, and give the last reply.

    Parameters
    ----------
    cases : sequence of Instance
    scripts : sequence of sequence of Call
        Of each case, in its order.

    Returns
    -------
    steps : tuple of Step
    answer : str
        The text of the last reply, "" without one.
    """
    desk, steps, answer = SharedDesk(cases), [], ""
    for at, script in enumerate(scripts):
        for call in script:
            steps.append(Step(THOUGHTS.get(call.tool, ""), (call,), (desk.call(call, at),)))
            if call.tool == "reply":
                answer = call.args["text"]
    return tuple(steps), answer
