"""Six ways to break a call list at one known step.

Decision: a fault edits calls, one edit at one step (appendix C), and writes
no observation; whoever replays the edited list gets what the desk then says.
The reply is left as it was except where it is the fault. Refusal: this module
imports neither the checker nor the oracle, so that no fault can be shaped
after the rule that is to find it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import msgspec

from tjlib.desk.world import Instance
from tjlib.trace import FAULT_TYPES, Call, InputError

__all__ = ["CLAIMS", "PREMATURE_ANSWER", "Edit", "hosts", "inject"]

#: What an agent that stops too early answers, verbatim (appendix C).
PREMATURE_ANSWER = "I am looking into this and will get back to you."

#: The four sentences no observation supports, verbatim (appendix C).
CLAIMS = (
    "A replacement has already been dispatched and arrives on Tuesday.",
    "I have also cancelled the subscription linked to this order.",
    "Your account has been credited with a 10 EUR voucher as an apology.",
    "A courier will collect the item from your address tomorrow morning.",
)

_INVENTED = ("BUNDLE", "WARRANTY", "GIFT")  # SKU-{...}-nn, appendix C

# Where a fault does not fit every stratum: two need money to be due, one a fee (appendix C).
_STRATA = {"skipped_precondition": ("happy", "restocking"), "ignored_observation": ("restocking",)}


class Edit(msgspec.Struct, frozen=True):
    """An edited call list, the 0-based step of the fault, and the answer sent."""

    calls: tuple[Call, ...]
    step: int
    final_answer: str


def hosts(instance: Instance, fault_type: str) -> bool:
    """Say whether a fault can be put into a case.

    Parameters
    ----------
    instance : Instance
    fault_type : str
        One of ``FAULT_TYPES``.

    Returns
    -------
    bool

    Raises
    ------
    InputError
        If there is no such fault type.
    """
    if fault_type not in FAULT_TYPES:
        raise InputError(f"no fault type {fault_type!r}; the types are {', '.join(FAULT_TYPES)}")
    return instance.stratum in _STRATA.get(fault_type, (instance.stratum,))


def inject(
    instance: Instance, calls: Sequence[Call], fault_type: str, rng: random.Random
) -> Edit:
    """Put one fault into the calls that solve a case.

    Parameters
    ----------
    instance : Instance
    calls : sequence of Call
        The six calls of the oracle for this instance; left as they are.
    fault_type : str
        One of ``FAULT_TYPES``.
    rng : random.Random
        Draws the invented SKU or the unsupported sentence.

    Returns
    -------
    Edit
        The label step is that of appendix C: the edited call, or the last
        call executed for ``premature_stop``.

    Raises
    ------
    InputError
        If there is no such type, or the case cannot host it.
    """
    if not hosts(instance, fault_type):
        strata = " or ".join(_STRATA[fault_type])
        raise InputError(
            f"{instance.instance_id}: {fault_type} needs a case of stratum {strata}, "
            f"this one is {instance.stratum}"
        )
    edited = list(calls)
    at = {call.tool: step for step, call in enumerate(calls)}
    answer = calls[at["reply"]].args["text"]
    full_refund = Call(
        "issue_refund", {"order_id": instance.order_id, "amount_eur": instance.total_eur}
    )
    if fault_type == "wrong_tool":
        step = at["get_policy"]
        edited[step] = Call("lookup_order", {"order_id": instance.order_id})
    elif fault_type == "hallucinated_argument":
        step = at["get_policy"]
        sku = f"SKU-{rng.choice(_INVENTED)}-{rng.randrange(10, 100)}"
        edited[step] = Call("get_policy", {"sku": sku})
    elif fault_type == "skipped_precondition":
        # The amount becomes the total, which the lookup showed: one rule breaks, not two.
        step = at["check_eligibility"]
        edited[step : at["issue_refund"] + 1] = [full_refund]
    elif fault_type == "ignored_observation":
        step = at["issue_refund"]
        edited[step] = full_refund
    elif fault_type == "premature_stop":
        terminal = min(at[tool] for tool in ("issue_refund", "escalate") if tool in at)
        del edited[terminal:]
        step, answer = terminal - 1, PREMATURE_ANSWER
    else:  # unsupported_claim
        step = at["reply"]
        answer = f"{answer} {rng.choice(CLAIMS)}"
        edited[step] = Call("reply", {"text": answer})
    return Edit(tuple(edited), step, answer)
