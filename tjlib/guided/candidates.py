"""Several next calls drawn from one model at one point of a case.

Decision: a reply is a thought and one call with that tool's own arguments, whose ids and amounts
are chosen from a list of those that the case has shown, as in a form. In the flat form of `tjlib
agent` a weak model fills every argument of every tool, mostly with inventions: there would be
next to nothing right to choose, and tokens that never reach the desk would count in the
uncertainty. The seed of a draw is a hash of the prompt, so a point reached twice has the same
candidates. Refusal: a reply that is no call is kept with a status and never chosen; nothing here
knows which call is right.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from tjlib.desk.world import TOOLS
from tjlib.judges import agent
from tjlib.judges.answer import read
from tjlib.judges.asked import closed, described, hashed
from tjlib.judges.protocol import Model, Options, Reply, Token
from tjlib.judges.render import BEGIN
from tjlib.trace import Call, Step
from tjlib.uncertainty.signals import entropy_top_k, mean_nll
from tjlib.uncertainty.tracer import content_nll

__all__ = ["HEAD", "TEMPERATURE", "Candidate", "draw", "identity", "offered", "prompt", "schema"]

#: Of the draws (appendix A.2 of the RUPA paper).
TEMPERATURE = 0.7

_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_ORDER = re.compile(r"\bORD-\d+\b")

#: How every prompt begins, up to the case.
HEAD = "\n\n".join((
    agent.OPENING,
    "Answer with one JSON object: thought, a sentence on what to do next and why; call, the tool "
    "to call now and its arguments, which are ids and amounts of the case. The case is over when "
    f"you reply to the customer, or after {agent.MAX_STEPS} calls.",
    f"The case so far:\n{BEGIN}\n",
))


class Candidate(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One reply, and what a score may read of it.

    ``status`` is ``ok`` if it is a call, else ``call`` is None and ``rationale`` says why. Of its
    tokens there are means, in nats and to 4 decimals: -log p over all (``nll``), over the
    thought's and the call's part, over those that TRACER keeps, and the entropy over the
    alternatives that the server lists. None where the server gave none.
    """

    thought: str = ""
    call: Call | None = None
    status: str = "ok"
    rationale: str = ""
    nll: float | None = None
    thought_nll: float | None = None
    call_nll: float | None = None
    content_nll: float | None = None
    entropy: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    latency_s: float | None = None


class _Action(msgspec.Struct):
    thought: str
    call: dict[str, Any]


def prompt(goal: str, steps: Sequence[Step]) -> str:
    """Write the prompt for the next call; see `tjlib.judges.agent.prompt`."""
    return agent.prompt(goal, steps, HEAD)


def offered(goal: str, steps: Sequence[Step]) -> dict[str, list[str | float]]:
    """List what a case has shown so far for each argument that is an id or an amount.

    Examples
    --------
    >>> offered("Customer a@b.example asks for ORD-12345.", ())["order_id"]
    ['ORD-12345']
    """
    shown = [item for step in steps for seen in step.observations for item in seen.data.items()]
    found = {"email": _EMAIL.findall(goal), "order_id": _ORDER.findall(goal),
             "sku": [value for name, value in shown if name == "sku"],
             "amount_eur": [value for name, value in shown if name.endswith("_eur") and value]}
    return {name: list(dict.fromkeys(values)) for name, values in found.items()}


def schema(goal: str, steps: Sequence[Step], bounded: bool = False) -> dict[str, Any]:
    """Give the JSON schema of a reply: a thought, then a tool with arguments of the case.

    Parameters
    ----------
    goal : str
    steps : sequence of Step
        Those made so far. A tool that needs what they have not shown is not offered.
    bounded : bool
        Whether every text has an upper bound, as in `tjlib.judges.agent.schema`.

    Returns
    -------
    dict

    Examples
    --------
    >>> form = schema("Customer a@b.example asks for ORD-12345.", ())["properties"]["call"]
    >>> [tool["required"] for tool in form["anyOf"]][:3]
    [['tool', 'email'], ['tool', 'order_id'], ['tool', 'order_id']]
    """
    values = offered(goal, steps)
    tools = [closed({"tool": {"type": "string", "enum": [name]}} | {
        arg: agent.typed(kind, bounded) if arg not in values else
        {"type": agent.typed(kind, False)["type"], "enum": values[arg]}
        for arg, kind in tool.args.items()})
        for name, tool in TOOLS.items() if all(values.get(arg, True) for arg in tool.args)]
    return closed({"thought": agent.typed(str, bounded), "call": {"anyOf": tools}})


def _options(model: Model) -> Options:
    return msgspec.structs.replace(model.options, temperature=TEMPERATURE)


def identity(model: Model, seed: int, n: int) -> dict[str, Any]:
    """Say what makes candidates what they are, for the record of a run.

    Parameters
    ----------
    model : Model
    seed : int
        Of the cases and of the draws.
    n : int
        Candidates at a point.

    Returns
    -------
    dict
        Fields of `tjlib.provenance.Run`.

    Raises
    ------
    InputError
        If the model cannot be reached.
    """
    options = _options(model)
    form = schema("", (), options.reasoning_chars is not None)
    return described(f"guided:{model.name}", model, options, hashed(prompt("", ()), form),
                     "candidates", seed="by prompt", candidates=n, max_steps=agent.MAX_STEPS,
                     cases_seed=seed)


def draw(
    model: Model, goal: str, steps: Sequence[Step], n: int, seed: int
) -> tuple[Candidate, ...]:
    """Draw the candidates for the next call; never raises.

    Parameters
    ----------
    model : Model
    goal : str
    steps : sequence of Step
        Those made so far.
    n, seed : int

    Returns
    -------
    tuple of Candidate
        In the order drawn.
    """
    asked, options = prompt(goal, steps), _options(model)
    form = schema(goal, steps, options.reasoning_chars is not None)
    return tuple(
        _candidate(model.complete(asked, form, options=msgspec.structs.replace(
            options, seed=_seed(asked, seed, number)), shared=asked))
        for number in range(n))


def _seed(asked: str, seed: int, number: int) -> int:
    text = f"{seed}:{number}:{asked}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=4).digest(), "big") >> 1


def _candidate(reply: Reply) -> Candidate:
    cost = {name: getattr(reply, name) for name in ("prompt_tokens", "completion_tokens")}
    cost["latency_s"] = round(reply.latency_s, 2)
    action = read(reply, _Action) if reply.status == "ok" else (reply.status, reply.error)
    if not isinstance(action, tuple):
        args = dict(action.call)
        tool = args.pop("tool", None)
        if tool in TOOLS:
            return Candidate(action.thought, Call(tool, args), **cost, **_read(reply.tokens or ()))
        action = "unparsed", "the call names none of the tools"
    return Candidate(status=action[0], rationale=action[1], **cost)


def _read(tokens: Sequence[Token]) -> dict[str, float | None]:
    """Give the means over a reply's tokens, all None where one of them is unknown."""
    logs = [min(token.logprob, 0.0) for token in tokens]
    if not logs or not all(map(math.isfinite, logs)):
        return {}
    texts = [token.text for token in tokens]
    # A quote inside the thought is written \", so the first of these is the key.
    before, start = "".join(texts).find('"call"'), 0
    while before > 0 and start < len(texts):
        before -= len(texts[start])
        start += 1
    found = {"nll": mean_nll(logs), "thought_nll": mean_nll(logs[:start]),
             "call_nll": mean_nll(logs[start:]), "content_nll": content_nll(texts, logs),
             "entropy": entropy_top_k([[p for _, p in token.top] for token in tokens])
             if all(token.top for token in tokens) else None}
    return {name: None if value is None else round(value, 4) for name, value in found.items()}
