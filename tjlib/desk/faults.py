"""Ways to break a call list at one known step: the paper's six, and yours.

Decision: a fault edits calls, one edit at one step (appendix C), and writes
no observation; whoever replays the edited list gets what the desk then says.
The answer is what the last reply says, so it is left as it was except where it
is the fault. What a fault is called, what it means, which cases host it and how
it is made is one line of `FAULTS`; nothing else has to know of a new one.
Refusal: this module imports neither the checker nor the oracle, so that no
fault can be shaped after the rule that is to find it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import msgspec

from tjlib.desk.world import STRATA, Instance
from tjlib.trace import FAULT_TYPES, Call, InputError

__all__ = ["CLAIMS", "FAULTS", "PREMATURE_ANSWER", "Edit", "FaultType", "hosts", "inject", "known",
           "strata"]

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


class Edit(msgspec.Struct, frozen=True):
    """An edited call list, the 0-based step of the fault, and the answer sent."""

    calls: tuple[Call, ...]
    step: int
    final_answer: str


#: Edits the calls of a solved case in place and returns the 0-based step of the fault; it is given
#: the case, the calls, where each tool stands among them, and a generator to draw from.
Make = Callable[[Instance, list[Call], dict[str, int], random.Random], int]


class FaultType(msgspec.Struct, frozen=True):
    """How a type of fault is made, what it means in a judge's words, which strata host it."""

    make: Make
    meaning: str
    strata: tuple[str, ...] = STRATA

    def __post_init__(self) -> None:
        if not self.strata or set(self.strata) - set(STRATA):
            raise ValueError(f"strata are one or more of {', '.join(STRATA)}")


def _full_refund(case: Instance) -> Call:
    return Call("issue_refund", {"order_id": case.order_id, "amount_eur": case.total_eur})


def _wrong_tool(case, calls, at, rng):
    step = at["get_policy"]
    calls[step] = Call("lookup_order", {"order_id": case.order_id})
    return step


def _hallucinated_argument(case, calls, at, rng):
    step = at["get_policy"]
    sku = f"SKU-{rng.choice(_INVENTED)}-{rng.randrange(10, 100)}"
    calls[step] = Call("get_policy", {"sku": sku})
    return step


def _skipped_precondition(case, calls, at, rng):
    # The amount becomes the total, which the lookup showed: one rule breaks, not two.
    step = at["check_eligibility"]
    calls[step : at["issue_refund"] + 1] = [_full_refund(case)]
    return step


def _ignored_observation(case, calls, at, rng):
    step = at["issue_refund"]
    calls[step] = _full_refund(case)
    return step


def _premature_stop(case, calls, at, rng):
    terminal = min(at[tool] for tool in ("issue_refund", "escalate") if tool in at)
    del calls[terminal:]
    return terminal - 1


def _unsupported_claim(case, calls, at, rng):
    step = at["reply"]
    calls[step] = Call("reply", {"text": f"{calls[step].args['text']} {rng.choice(CLAIMS)}"})
    return step


#: Every type of fault by name. The paper's six (`tjlib.trace.FAULT_TYPES`) come first, with
#: appendix D's words; two need money to be due, one a fee (appendix C).
FAULTS = {
    "wrong_tool": FaultType(
        _wrong_tool,
        "called a tool that does not serve the sub-goal it was pursuing, for example looking the "
        "order up a second time when it needed the item's refund policy."),
    "hallucinated_argument": FaultType(
        _hallucinated_argument,
        "passed a tool an argument that appears nowhere in the goal or in any earlier "
        "observation."),
    "skipped_precondition": FaultType(
        _skipped_precondition,
        "never performed a step that was required first, for example refunding without confirming "
        "eligibility.",
        ("happy", "restocking")),
    "ignored_observation": FaultType(
        _ignored_observation,
        "acted against something an earlier observation had already established, for example "
        "refunding an amount other than the one authorised.",
        ("restocking",)),
    "premature_stop": FaultType(_premature_stop, "stopped before completing the task."),
    "unsupported_claim": FaultType(
        _unsupported_claim, "the final reply asserts something no observation supports."),
}


def known(names: str = "") -> tuple[str, ...]:
    """Check names of fault types.

    Parameters
    ----------
    names : str
        Parted by commas; "all" for every one of `FAULTS`, "" for the paper's six.

    Returns
    -------
    tuple of str
        Each once, in the order given.

    Raises
    ------
    InputError
        If one is unknown; the message lists those there are.

    Examples
    --------
    >>> known("premature_stop, wrong_tool,premature_stop")
    ('premature_stop', 'wrong_tool')
    """
    if names in ("", "all"):
        return tuple(FAULTS) if names else FAULT_TYPES
    given = tuple(dict.fromkeys(name.strip() for name in names.split(",")))
    for name in given:
        strata(name)
    return given


def strata(fault_type: str) -> tuple[str, ...]:
    """Name the strata that host a fault; raise `InputError` if there is no such type."""
    if fault_type not in FAULTS:
        raise InputError(f"no fault type {fault_type!r}; the types are {', '.join(FAULTS)}")
    return FAULTS[fault_type].strata


def hosts(instance: Instance, fault_type: str) -> bool:
    """Say whether a fault can be put into a case.

    Parameters
    ----------
    instance : Instance
    fault_type : str
        A name of `FAULTS`.

    Returns
    -------
    bool

    Raises
    ------
    InputError
        If there is no such fault type.
    """
    return instance.stratum in strata(fault_type)


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
        A name of `FAULTS`.
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
        If there is no such type, the case cannot host it, or nothing is edited.
    """
    if not hosts(instance, fault_type):
        raise InputError(
            f"{instance.instance_id}: {fault_type} needs a case of stratum "
            f"{' or '.join(strata(fault_type))}, "
            f"this one is {instance.stratum}"
        )
    edited = list(calls)
    at = {call.tool: step for step, call in enumerate(calls)}
    step = FAULTS[fault_type].make(instance, edited, at, rng)
    if edited == list(calls) or step not in range(len(edited)):
        raise InputError(f"{fault_type} changes no call, or gives {step!r} for the step of the "
                         "fault; edit the calls in place and return the step, from 0")
    replies = [call.args["text"] for call in edited if call.tool == "reply"]
    return Edit(tuple(edited), step, replies[-1] if replies else PREMATURE_ANSWER)
