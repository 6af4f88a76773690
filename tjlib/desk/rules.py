"""Eight process rules, checked in one pass from left to right (appendix B).

Decision: the checker knows what the goal states and what the calls before
brought back, nothing else: not the case, not the label, not the desk. Calls
of one step are checked before the step's observations are added, for whoever
made them had seen none of these. Refusal: prose is not read and intent is not
guessed, so wrong_tool and unsupported_claim break no rule; nor is there one
for an agent that never verifies the customer (`tjlib.desk.morerules` takes more).
Of a log of other tools the rules say nothing, neither clean nor faulty.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from tjlib.desk.values import distance, quoted
from tjlib.desk.world import TOOLS
from tjlib.trace import Call, Observation, Trajectory, Verdict

__all__ = ["RULES", "Violation", "applies", "check", "judge"]

#: Appendix B's rules by number, which is their priority: what breaks one, and its failure type.
RULES = {
    1: ("a traced argument with no source", "hallucinated_argument"),
    2: ("eligibility checked on an order never looked up", "skipped_precondition"),
    3: ("a refund without a passed eligibility check", "skipped_precondition"),
    4: ("a refund of another amount than authorised", "ignored_observation"),
    5: ("a refund on an order of somebody else", "ignored_observation"),
    6: ("a refund on an order already refunded", "ignored_observation"),
    7: ("no reply, several, or one before the end", "premature_stop"),
    8: ("neither a refund nor an escalation", "premature_stop"),
}

# Set by hand, as the paper's were (section 6, Table 3): not a probability anyone measured.
_CONFIDENCE = {True: 0.95, False: 0.60}

# Two amounts differ from one cent on (rule 4); the slack is for floats: 60.04 - 60.03 < 0.01.
_CENT = 0.01 - 1e-9
# An argument matches a number it equals to the cent (ours; appendix B says "matches").
_HALF_CENT = 0.005

# Bounded repeats keep the search linear on any goal.
_GOAL_FACTS = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}|\bORD-\d+\b")


class Violation(msgspec.Struct, frozen=True):
    """One broken rule.

    ``step`` is 0-based, ``None`` only if the trajectory has no step; ``rule``
    is a number of `RULES`.
    """

    step: int | None
    rule: int
    failure_type: str
    message: str


def applies(trajectory: Trajectory) -> bool:
    """Tell whether a trajectory calls a tool of the desk, or names an order and calls nothing.

    Ours. An agent that only stalls is the desk's to flag.
    """
    tools = {call.tool for step in trajectory.steps for call in step.calls}
    return bool(tools & set(TOOLS) if tools else "ORD-" in trajectory.goal)


def check(trajectory: Trajectory) -> tuple[Violation, ...]:
    """Find every violation in a trajectory that the rules bear on (`applies`).

    Parameters
    ----------
    trajectory : Trajectory
        Any trajectory, with several calls a step or none, unknown tools,
        missing observations; nothing of it raises.

    Returns
    -------
    tuple of Violation
        Ordered by step, then by rule; empty if no rule is broken.
    """
    record = _Record(trajectory.goal)
    found: list[tuple[int | None, int, str]] = []  # step, rule, message
    reply_steps: list[int] = []
    acted = False
    for index, step in enumerate(trajectory.steps):
        for call in step.calls:
            found += ((index, *broken) for broken in record.broken_by(call))
            if call.tool == "reply":
                reply_steps.append(index)
            # An attempt counts: appendix B asks whether the tool occurs anywhere.
            acted |= call.tool in ("issue_refund", "escalate")
        # A call without an observation taught nothing.
        for call, observation in zip(step.calls, step.observations, strict=False):
            if observation.ok:
                record.learn(call, observation)
    last = len(trajectory.steps) - 1 if trajectory.steps else None
    found += _endings(reply_steps, acted, last)
    found.sort(key=lambda each: (each[0] or 0, each[1]))
    return tuple(Violation(step, rule, RULES[rule][1], text) for step, rule, text in found)


def _endings(reply_steps: list[int], acted: bool, last: int | None) -> list[tuple]:
    """Rules 7 and 8, on the whole trajectory; which reply to blame is our choice."""
    found = []
    if len(reply_steps) != 1:
        step = reply_steps[1] if reply_steps else last
        found.append((step, 7, f"{len(reply_steps)} replies instead of one"))
    elif reply_steps[0] != last:
        found.append((reply_steps[0], 7, "the reply is not the last step"))
    if not acted:
        found.append((last, 8, "neither issue_refund nor escalate was called"))
    return found


class _Record:
    """What the goal and the observations so far have established."""

    def __init__(self, goal: str) -> None:
        self._texts: set[str] = set(_GOAL_FACTS.findall(goal))
        self._numbers: set[float] = set()
        self._flags: set[bool] = set()
        self._customer: Any = None
        self._owners: dict[str, Any] = {}  # of the orders looked up
        self._refunded: set[str] = set()
        self._authorised: dict[str, Any] = {}  # euros, by the latest check if that passed

    def learn(self, call: Call, observation: Observation) -> None:
        data, order_id = _dict(observation.data), _order_id(_dict(call.args))
        self._ground(data)
        if call.tool == "get_customer":
            self._customer = data.get("customer_id")
        elif order_id is None:
            return
        elif call.tool == "lookup_order":
            self._owners[order_id] = data.get("customer_id")
            if data.get("status") == "refunded":
                self._refunded.add(order_id)
        elif call.tool == "check_eligibility":
            self._authorised.pop(order_id, None)
            if data.get("eligible") is True:
                self._authorised[order_id] = data.get("max_refund_eur")
        elif call.tool == "issue_refund":
            self._refunded.add(order_id)

    def broken_by(self, call: Call) -> list[tuple[int, str]]:
        """Name the rules 1 to 6 that a call breaks: number and message."""
        broken = []
        args = _dict(call.args)
        tool = TOOLS.get(call.tool)
        for name in tool.grounded if tool else ():
            if name in args and not self._is_grounded(args[name]):
                broken.append((1, f"{call.tool}.{name} = {quoted(args[name])} has no source"))
        order_id = _order_id(args)
        if call.tool == "check_eligibility" and order_id not in self._owners:
            broken.append((2, f"order {quoted(order_id)} checked, but never looked up"))
        if call.tool == "issue_refund":
            broken += self._broken_by_refund(order_id, args.get("amount_eur"))
        return broken

    def _broken_by_refund(self, order_id: str | None, amount: Any) -> list[tuple[int, str]]:
        broken = []
        order = f"order {quoted(order_id)}"
        if order_id not in self._authorised:
            broken.append((3, f"{order} refunded without a passed eligibility check"))
        elif distance(amount, self._authorised[order_id]) >= _CENT:
            due = quoted(self._authorised[order_id])
            broken.append((4, f"{order} refunded {quoted(amount)}, authorised was {due}"))
        owner = self._owners.get(order_id)
        if None not in (owner, self._customer) and owner != self._customer:
            verified = quoted(self._customer)
            broken.append((5, f"{order} is {quoted(owner)}'s, verified was {verified}"))
        if order_id in self._refunded:
            broken.append((6, f"{order} was already refunded"))
        return broken

    def _ground(self, data: dict[str, Any]) -> None:
        pending: list[Any] = [data]  # a stack, so that no nesting is too deep
        while pending:
            value = pending.pop()
            if isinstance(value, dict):
                pending += value.values()
            elif isinstance(value, (list, tuple)):
                pending += value
            elif isinstance(value, str):
                self._texts.add(value)
            elif isinstance(value, bool):  # before the numbers: True is not 1
                self._flags.add(value)
            elif isinstance(value, (int, float)):
                self._numbers.add(value)

    def _is_grounded(self, value: Any) -> bool:
        if isinstance(value, str):
            return value in self._texts
        if isinstance(value, bool):
            return value in self._flags
        return any(distance(value, number) < _HALF_CENT for number in self._numbers)


def _order_id(args: dict[str, Any]) -> str | None:
    value = args.get("order_id")
    return value if isinstance(value, str) else None


def _dict(value: Any) -> dict[str, Any]:
    # The records do not check types in memory, and a log may hold anything.
    return value if isinstance(value, dict) else {}


def judge(
    trajectory: Trajectory, find: Callable[[Trajectory], tuple[Violation, ...]] = check
) -> Verdict:
    """Judge a trajectory by its first violation.

    Parameters
    ----------
    trajectory : Trajectory
    find : callable
        What finds the violations, in order.

    Returns
    -------
    Verdict
        Faulty if a rule is broken, with the step and type of the first one;
        ``not_applicable`` where the rules do not bear on it.
        The confidence is .95 or, if no rule is broken, .60: constants set by
        hand (appendix D's scale, .5 a coin flip to 1 certain).

    Examples
    --------
    >>> judge(Trajectory("t-1", "Refund ORD-5.", (), "Done.")).failure_type
    'premature_stop'
    """
    if not applies(trajectory):
        return Verdict(trajectory.trajectory_id, "rules", status="not_applicable",
                       rationale="none of the refund desk's tools was called")
    found = find(trajectory)
    rationale = "; ".join(f"rule {v.rule}: {v.message}" for v in found)
    if not found:
        rationale = "no rule is broken; wrong_tool and unsupported_claim are beyond the rules"
    step, kind = (found[0].step, found[0].failure_type) if found else (None, None)
    return Verdict(trajectory.trajectory_id, "rules", bool(found), step, kind,
                   _CONFIDENCE[bool(found)], rationale=rationale)
