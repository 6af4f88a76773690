"""The judges' prompts and answer schemas, as the judging paper prints them.

Decision: the wording of the outcome and the step judge is appendix D's, word
for word, but for what a `Procedure` says of another desk; a prompt is put
together from paragraphs by joining, so braces in a trajectory are only
braces. Paragraphs are one line each (the paper does not print its line
breaks). Ours, and flagged where defined: the order ``shared_first``, and how
the two cells of view x task that are neither judge are put together. Refusal:
no prompt is told of a label or a trajectory's id.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tjlib.judges.asked import closed, hashed
from tjlib.judges.procedure import DESK, Procedure
from tjlib.judges.render import BEGIN, END, render
from tjlib.trace import FAULT_TYPES, InputError, Trajectory

__all__ = ["AUDIT", "CONFIDENCE", "DUTIES", "ORDERS", "TASKS", "VIEWS", "fingerprint", "head",
           "prompt", "schema"]

#: What a judge is shown, and what it is asked to judge: the reply, or each step.
VIEWS = TASKS = ("reply", "steps")
#: Where the paragraphs go. ``paper`` is appendix D's. ``shared_first`` is ours: the same words
#: with all that the judges share before what they do not, so that a prefix cache lasts from one
#: judge to the next. In either order all that one judge's prompts share comes first.
ORDERS = ("paper", "shared_first")

#: How every judge's prompt begins on the refund desk, and the procedure as the judges and the
#: agent get it there.
AUDIT, DUTIES = DESK.role, DESK.told
#: What a stated confidence is to mean.
CONFIDENCE = (
    "confidence is your probability that your own verdict is correct, from 0.5 (a coin flip) to "
    "1.0 (certain). Do not default to a round number."
)
_VIEW = {
    "reply": "You are shown only the goal the agent was given and the answer it sent to {user}. "
             "The steps it took are not available to you.",
    "steps": "You are shown the agent's full trajectory: every thought, tool call and "
             "observation, then the answer it sent.",
}
_REASON = (
    "Report faulty only when the answer itself gives you a reason to: it resolves the wrong "
    "thing, leaves the request unresolved, contradicts itself, or promises something the request "
    "cannot support."
)
_UNSEEN = (
    "Not being able to see the steps is not evidence of a failure. Do not report faulty because "
    "a procedure step is unverifiable from here - if the answer looks like a correct resolution, "
    "say so."
)
_CHECK = (
    "Check each step against the procedure in order. A trajectory can be faulty even when the "
    "final answer is correct - a right answer reached the wrong way is still a failure."
)
_STEP_BY_STEP = (
    "In your reasoning, go step by step and say for each whether it was appropriate and why. "
    "Then give the index of the first step that went wrong, and the failure type from this list:"
)


def _check(view: str, task: str, order: str) -> None:
    for what, value, allowed in (("view", view, VIEWS), ("task", task, TASKS),
                                 ("order", order, ORDERS)):
        if value not in allowed:
            raise InputError(f"no {what} {value!r}; the {what}s are {', '.join(allowed)}")


def _paragraphs(view: str, task: str, order: str, procedure: Procedure) -> list[str]:
    # Each fragment goes with its view or its task, whatever the other is. That puts the paper's
    # own prompts on the diagonal; how the two other cells read is our choice, and so is to count
    # the caution about unseen steps to the view, whose premise it states.
    shown = _VIEW[view].replace("{user}", procedure.user)
    resolves = f"{procedure.outcome} {_REASON}"
    asked = [shown, resolves] if task == "reply" else [f"{shown} {_CHECK}"]
    if view == "reply":
        asked.append(_UNSEEN)
    listing = "Failure types:" if task == "reply" else _STEP_BY_STEP
    opening, labels = [procedure.role, procedure.told], procedure.labels
    if order == "paper":
        return [*opening, *asked, f"{listing}\n{labels}", CONFIDENCE]
    shared = [*opening, f"Failure types:\n{labels}", CONFIDENCE]
    # The list stands above by now.
    closing = [_STEP_BY_STEP.replace("this list:", "the list above.")] if task == "steps" else []
    return [*shared, *asked, *closing]


def head(view: str, task: str, order: str = "paper", procedure: Procedure = DESK) -> str:
    """Write what all prompts of one judge share: all up to the line that opens the fence.

    Parameters
    ----------
    view, task : {"reply", "steps"}
        What is shown and what is to be judged; reply by reply is the paper's
        outcome judge, steps by steps its step judge.
    order : {"paper", "shared_first"}
    procedure : Procedure
        What is told of the desk; default the refund desk's.

    Returns
    -------
    str

    Raises
    ------
    InputError
        For a view, task or order there is not.

    Examples
    --------
    >>> head("reply", "reply").splitlines()[0]
    'You are auditing a customer-support agent.'
    """
    _check(view, task, order)
    return "\n\n".join((*_paragraphs(view, task, order, procedure), f"{BEGIN}\n"))


def prompt(
    trajectory: Trajectory, view: str, task: str, order: str = "paper",
    procedure: Procedure = DESK,
) -> str:
    """Write one judge's whole prompt for one trajectory: a flat text, no chat roles.

    Parameters
    ----------
    trajectory : Trajectory
    view, task, order, procedure
        As `head`.

    Returns
    -------
    str
        `head`, the trajectory on lines that cannot close the fence, the end.
    """
    told = render(trajectory, steps=view == "steps")
    return f"{head(view, task, order, procedure)}{told}\n{END}\n"


def schema(
    task: str, reasoning_chars: int | None = None, types: Sequence[str] = FAULT_TYPES
) -> dict[str, Any]:
    """Give the JSON schema an answer must fit, ``reasoning`` first (appendix D).

    Parameters
    ----------
    task : {"reply", "steps"}
        Only who is asked about steps is asked for ``failure_step``.
    reasoning_chars : int, optional
        Ours: an upper bound for models that argue in circles without one.
    types : sequence of str
        The failure types it may name, besides ``none``.

    Returns
    -------
    dict
        A new one each time.

    Examples
    --------
    >>> list(schema("reply")["properties"])
    ['reasoning', 'faulty', 'failure_type', 'confidence']
    """
    bound = {} if reasoning_chars is None else {"maxLength": reasoning_chars}
    fields = {
        "reasoning": {"type": "string", **bound},
        "faulty": {"type": "boolean"},
        "failure_step": {"type": "integer"},
        "failure_type": {"type": "string", "enum": [*types, "none"]},
        "confidence": {"type": "number"},
    }
    if task == "reply":
        del fields["failure_step"]
    return closed(fields)


def fingerprint(
    view: str, task: str, order: str, reasoning_chars: int | None = None,
    procedure: Procedure = DESK,
) -> str:
    """Name a judge's wording, fence and schema by a hash, for the record of a run."""
    blank = prompt(Trajectory("", "", (), ""), view, task, order, procedure)
    return hashed(blank, schema(task, reasoning_chars, procedure.types))
