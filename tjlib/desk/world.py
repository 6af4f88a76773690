"""A customer-support desk with seven tools, changed by the calls it gets.

Decision: the desk is permissive, as a payments service is. A refund nobody
checked goes through, because a desk that enforced the procedure would leave
no silent faults to measure. Refusal: this module knows no rule of conduct and
no fault; it says what happened, never whether it should have (`desk.rules`
does that). One more decision, ours: the thought of a step is one fixed
sentence per tool, so that no wording gives a fault away. In the release of
the paper it does: the edited steps have sentences of their own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from tjlib.desk.cases import STRATA, Instance, Outcome, expected_outcome, instances, less_fee
from tjlib.trace import Call, Observation, Step

__all__ = [
    "PROCEDURE", "STRATA", "THOUGHTS", "TOOLS", "Desk", "Instance", "Outcome", "Tool",
    "expected_outcome", "instances", "replay",
]


class Tool(msgspec.Struct, frozen=True):
    """A tool's arguments and their types, and which of them are traced."""

    args: dict[str, type]
    grounded: tuple[str, ...] = ()


#: The seven tools (appendix A, Table 5). The two prose arguments are not traced.
TOOLS = {
    "get_customer": Tool({"email": str}, ("email",)),
    "lookup_order": Tool({"order_id": str}, ("order_id",)),
    "get_policy": Tool({"sku": str}, ("sku",)),
    "check_eligibility": Tool({"order_id": str}, ("order_id",)),
    "issue_refund": Tool({"order_id": str, "amount_eur": float}, ("order_id", "amount_eur")),
    "escalate": Tool({"reason": str}),
    "reply": Tool({"text": str}),
}

#: What the agent says before a call: a function of the tool and of nothing else.
THOUGHTS = {
    "get_customer": "Find the customer's record.",
    "lookup_order": "Look at the order.",
    "get_policy": "See which policy applies.",
    "check_eligibility": "Ask whether a refund is due.",
    "issue_refund": "Send the money back.",
    "escalate": "Hand the case to a colleague.",
    "reply": "Write to the customer.",
}

#: The eight points of the desk's procedure, verbatim (appendix D).
PROCEDURE = (
    "Verify who the customer is before acting on their order.",
    "Look up the order before judging it.",
    "Read the refund policy for the item that was ordered.",
    "Confirm eligibility before moving any money.",
    "Refund exactly the amount the eligibility check authorised - no more, no less.",
    "Escalate instead of refunding when the customer is not eligible.",
    "Pass only arguments that come from the goal or from an earlier observation.",
    "Finish by replying to the customer, asserting only what the observations support.",
)


class _RefusedError(Exception):
    """A call the desk cannot carry out; becomes an observation that is not ok."""


class Desk:
    """A fresh desk for one case; it changes as calls come in.

    Parameters
    ----------
    instance : Instance

    Examples
    --------
    >>> desk = Desk(next(instances(seed=7)))
    >>> desk.call(Call("get_policy", {"sku": "SKU-GIFT-10"})).error
    "no policy for SKU 'SKU-GIFT-10'"
    """

    def __init__(self, instance: Instance) -> None:
        self._case = instance
        self._refunded_eur: float | None = None
        self._escalated = False

    def call(self, call: Call) -> Observation:
        """Carry out one call.

        Parameters
        ----------
        call : Call
            Any tool name and arguments; they need not make sense.

        Returns
        -------
        Observation
            The data of appendix A, or ``ok=False`` with an error text. Bad
            calls change nothing and raise nothing.
        """
        try:
            _check_arguments(call)
            return Observation(True, getattr(self, f"_{call.tool}")(**call.args))
        except _RefusedError as refusal:
            return Observation(False, error=str(refusal))

    def outcome(self) -> Outcome:
        """Say how the case stands for the customer; what was written to them does not count."""
        return Outcome(self._refunded_eur, self._escalated)

    def _get_customer(self, email: str) -> dict[str, Any]:
        for customer in (self._case.customer, self._case.decoy):
            if customer.email == email:
                return {
                    "customer_id": customer.customer_id,
                    "name": customer.name,
                    "phone_last4": customer.phone_last4,
                }
        raise _RefusedError(f"no customer with email {email!r}")

    def _lookup_order(self, order_id: str) -> dict[str, Any]:
        self._require_order(order_id)
        return {
            "order_id": self._case.order_id,
            "customer_id": self._case.owner_id,
            "sku": self._case.sku,
            "total_eur": self._case.total_eur,
            "days_since_purchase": self._case.days_since_purchase,
            "status": "refunded" if self._is_refunded() else "delivered",
        }

    def _get_policy(self, sku: str) -> dict[str, Any]:
        if sku != self._case.sku:
            raise _RefusedError(f"no policy for SKU {sku!r}")
        return {
            "sku": sku,
            "refundable": self._case.refundable,
            "refund_window_days": self._case.refund_window_days,
            "restocking_fee_pct": float(self._case.restocking_fee_pct),
        }

    def _check_eligibility(self, order_id: str) -> dict[str, Any]:
        self._require_order(order_id)
        case = self._case
        days, window = case.days_since_purchase, case.refund_window_days
        # The order of the questions is appendix A's.
        if self._is_refunded():
            reason = "the order was refunded before"
        elif not case.refundable:
            reason = "the item is not refundable"
        elif days > window:
            reason = f"bought {days} days ago, the window is {window} days"
        elif case.owner_id != case.customer.customer_id:
            reason = "the order is another customer's"
        else:
            maximum = less_fee(case.total_eur, case.restocking_fee_pct)
            return {"eligible": True, "max_refund_eur": maximum, "reason": "the policy allows it"}
        return {"eligible": False, "max_refund_eur": 0.0, "reason": reason}

    def _issue_refund(self, order_id: str, amount_eur: float) -> dict[str, Any]:
        # Permissive on purpose: nobody asks whether eligibility was checked (section 3).
        self._require_order(order_id)
        if self._is_refunded():
            raise _RefusedError(f"order {order_id!r} is already refunded")
        if not 0 < amount_eur <= self._case.total_eur:  # also refuses NaN
            raise _RefusedError("the amount must be above 0 and at most the order total")
        self._refunded_eur = round(float(amount_eur), 2)
        return {"refunded_eur": self._refunded_eur, "status": "refunded"}

    def _escalate(self, reason: str) -> dict[str, Any]:
        self._escalated = True
        return {"ticket": "ESC-OPEN", "reason": reason}

    def _reply(self, text: str) -> dict[str, Any]:
        return {"sent": True}

    def _require_order(self, order_id: str) -> None:
        if order_id != self._case.order_id:
            raise _RefusedError(f"no order {order_id!r}")

    def _is_refunded(self) -> bool:
        return self._case.already_refunded or self._refunded_eur is not None


def _check_arguments(call: Call) -> None:
    tool = TOOLS.get(call.tool) if isinstance(call.tool, str) else None
    if tool is None:
        raise _RefusedError(f"no such tool; the tools are {', '.join(TOOLS)}")
    if not isinstance(call.args, dict) or call.args.keys() != tool.args.keys():
        raise _RefusedError(f"{call.tool} takes exactly {', '.join(tool.args)}")
    for name, kind in tool.args.items():
        value = call.args[name]
        # JSON does not tell 20 from 20.0; True is an int to Python and no amount to anyone.
        fits = isinstance(value, (int, kind) if kind is float else kind)
        if not fits or isinstance(value, bool):
            wanted = "a number" if kind is float else "a text"
            raise _RefusedError(f"{call.tool}.{name} must be {wanted}")


def replay(
    instance: Instance, calls: Iterable[Call], desk: Desk | None = None
) -> tuple[tuple[Step, ...], Outcome]:
    """Carry out calls on a fresh desk, one a step.

    Parameters
    ----------
    instance : Instance
        The case whose desk is opened.
    calls : iterable of Call
    desk : Desk, optional
        Another fresh desk for the same case, such as one that fails at times.

    Returns
    -------
    steps : tuple of Step
        One step a call, with the observation the desk gave and the tool's
        fixed thought (empty for a tool the desk does not have).
    outcome : Outcome
        How the case stands after the last call.
    """
    desk = desk or Desk(instance)
    steps = tuple(
        Step(THOUGHTS.get(call.tool, ""), (call,), (desk.call(call),)) for call in calls
    )
    return steps, desk.outcome()
