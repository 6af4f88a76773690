"""A model that drives the desk: one prompt a turn, one call a reply.

Decision: the model gets the procedure in the judges' words and the case so
far as the judges see it, inside their fence, and answers with flat typed
fields, of which only those of the chosen tool reach the desk (appendix G).
A call that makes no sense is the desk's to refuse. Refusal: a reply that
cannot be read ends the episode with a status and is never taken for a call;
whether what the agent did was right is not asked here (`tjlib.desk.organic`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from tjlib.desk.world import THOUGHTS, TOOLS, Desk, Instance
from tjlib.judges.answer import read
from tjlib.judges.asked import closed, described, hashed
from tjlib.judges.prompts import DUTIES
from tjlib.judges.protocol import Model, Options, Reply
from tjlib.judges.render import BEGIN, END, render
from tjlib.trace import Call, Step, Trajectory

__all__ = ["CHARS", "HEAD", "MAX_STEPS", "OPENING", "Episode", "drive", "identity", "prompt",
           "schema", "typed"]

#: Calls after which an episode is over, replied or not (appendix G).
MAX_STEPS = 10
#: Ours: where a model's reasoning needs a bound at all (`Options.reasoning_chars`), every text of a
#: call gets this one, a long sentence's. A weak model fills up whatever it is given.
CHARS = 120
_NEXT = ("Make the next call: what the procedure asks for next, with arguments copied from the "
         "case above.")

_JSON = {str: "string", float: "number"}
# All arguments there are, each once: their types do not depend on the tool.
_ARGS = {name: kind for tool in TOOLS.values() for name, kind in tool.args.items()}
_Action = msgspec.defstruct("_Action", [
    ("thought", str), ("tool", Literal[*TOOLS]),
    *((name, kind | None) for name, kind in _ARGS.items()),
])


def _tool(name: str) -> str:
    args = ", ".join(f"{arg}: {_JSON[kind]}" for arg, kind in TOOLS[name].args.items())
    return f"- {name}({args}): {THOUGHTS[name]}"


#: How every prompt to an agent begins: its part, the procedure, the tools. The paper does not
#: print its agent's prompt: but for the procedure these words are ours.
OPENING = "\n\n".join((
    "You are a customer-support agent. You work by calling tools, one call at a time, and see "
    "what a call brought back before you make the next.",
    DUTIES,
    "\n".join(("The tools:", *map(_tool, TOOLS))),
))
#: The same up to the case, with the form of an answer.
HEAD = "\n\n".join((
    OPENING,
    "Answer with one JSON object: thought, a sentence on what to do next and why; tool, the tool "
    "to call now; then its arguments. An argument that the tool does not take is null. The case "
    f"is over when you reply to the customer, or after {MAX_STEPS} calls.",
    f"The case so far:\n{BEGIN}\n",
))


class Episode(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How one episode went.

    ``status`` is ``ok`` if every reply was a call, up to the reply to the
    customer or the last step allowed; else what became of the reply that was
    none, with the reason in ``rationale``. Costs are sums over its ``turns``,
    None where a server did not say. On file, ``trajectory`` is there only of
    an episode that is not ``ok``: up to where it broke off.
    """

    trajectory_id: str
    instance_id: str
    stratum: str
    status: str
    rationale: str
    turns: int
    latency_s: float | None
    prompt_tokens: int | None
    completion_tokens: int | None
    run_id: str | None = None
    trajectory: Trajectory | None = None


def prompt(goal: str, steps: Sequence[Step], head: str = HEAD) -> str:
    """Write the prompt for the next call: a flat text, no chat roles.

    Parameters
    ----------
    goal : str
    steps : sequence of Step
        Those made so far.
    head : str
        What comes before the case.

    Returns
    -------
    str
        The head, the case on lines that cannot close the fence, the end.
    """
    case = render(Trajectory("", goal, tuple(steps), ""), steps=True, answer=False)
    return f"{head}{case}\n{END}\n\n{_NEXT}\n"


def schema(bounded: bool = False) -> dict[str, Any]:
    """Give the JSON schema of a call, ``thought`` first.

    Every field is required, null where the tool does not take it: the form
    that both grammars and strict servers accept.

    Parameters
    ----------
    bounded : bool
        Ours: whether every text has an upper bound, for models that do not
        end one.

    Returns
    -------
    dict
        A new one each time.

    Examples
    --------
    >>> list(schema()["properties"])
    ['thought', 'tool', 'email', 'order_id', 'sku', 'amount_eur', 'reason', 'text']
    """
    fields = {"thought": typed(str, bounded), "tool": {"type": "string", "enum": list(TOOLS)}}
    for name, kind in _ARGS.items():
        field = typed(kind, bounded)
        fields[name] = field | {"type": [field["type"], "null"]}
    return closed(fields)


def typed(kind: type, bounded: bool) -> dict[str, Any]:
    """Give the JSON schema of one field, a text of at most `CHARS` if bounded."""
    return {"type": _JSON[kind]} | ({"maxLength": CHARS} if bounded and kind is str else {})


def _schema(options: Options) -> dict[str, Any]:
    return schema(options.reasoning_chars is not None)


def identity(model: Model, seed: int) -> dict[str, Any]:
    """Say what makes an agent's episodes what they are, for the record of a run.

    Parameters
    ----------
    model : Model
    seed : int
        Of the cases it is given.

    Returns
    -------
    dict
        Fields of `tjlib.provenance.Run`.

    Raises
    ------
    InputError
        If the model cannot be reached.
    """
    options = model.options
    return described(f"agent:{model.name}", model, options,
                     hashed(prompt("", ()), _schema(options)), "agent", max_steps=MAX_STEPS,
                     cases_seed=seed)


def drive(
    instance: Instance, model: Model, trajectory_id: str, *, options: Options | None = None
) -> Episode:
    """Let a model work on one case on a fresh desk; never raises.

    Parameters
    ----------
    instance : Instance
        Of it the model sees the goal, and what the desk answers.
    model : Model
    trajectory_id : str
    options : Options, optional
        Default the model's own.

    Returns
    -------
    Episode
        Its trajectory ends at the first reply that the desk sent, whose text
        is the final answer; without one the final answer is empty. Each step
        has the log-probabilities of the whole reply's tokens, to 4 decimals,
        or None where the server gave none.
    """
    options = options or model.options
    form = _schema(options)
    desk, steps, replies = Desk(instance), [], []
    status, rationale, answer = "ok", f"no reply to the customer in {MAX_STEPS} steps", ""
    while len(steps) < MAX_STEPS:
        reply = model.complete(prompt(instance.goal, steps), form, options=options, shared=HEAD)
        replies.append(reply)
        action = read(reply, _Action) if reply.status == "ok" else (reply.status, reply.error)
        if isinstance(action, tuple):
            status, rationale = action[0], f"step {len(steps)}: {action[1]}"
            break
        given = {name: getattr(action, name) for name in TOOLS[action.tool].args}
        call = Call(action.tool, {name: v for name, v in given.items() if v is not None})
        observation = desk.call(call)
        steps.append(Step(action.thought, (call,), (observation,), logprobs=_logprobs(reply)))
        if call.tool == "reply" and observation.ok:
            rationale, answer = "", call.args["text"]
            break
    return Episode(
        trajectory_id, instance.instance_id, instance.stratum, status, rationale, len(replies),
        *(_total(replies, cost) for cost in ("latency_s", "prompt_tokens", "completion_tokens")),
        trajectory=Trajectory(trajectory_id, instance.goal, tuple(steps), answer))


def _logprobs(reply: Reply) -> tuple[float, ...] | None:
    found = [token.logprob for token in reply.tokens or ()]
    # JSON has no infinity, and one token that is unknown leaves the sequence's unknown.
    if not found or not all(map(math.isfinite, found)):
        return None
    return tuple(round(min(p, 0.0), 4) for p in found)


def _total(replies: Sequence[Reply], cost: str) -> float | None:
    costs = [getattr(reply, cost) for reply in replies]
    return None if None in costs else sum(costs)
