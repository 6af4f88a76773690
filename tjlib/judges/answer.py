"""A reply into an answer and a verdict, or into the reason why it is none.

Decision: the reply must fit the schema as it stands, whatever the server
promised; only if it does not, a reasoning block or a code fence around it is
taken off and the rest tried once more. Refusal: no answer is looked for
inside prose, and a missing or misspelt field is never filled in. A reply that
fails is a verdict with a status and no label.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import cache
from typing import Any, Literal, TypeVar

import msgspec

from tjlib.judges.protocol import Reply, Token
from tjlib.trace import FAULT_TYPES, Trajectory, Verdict

__all__ = ["cost", "parsed", "read", "token_confidence", "verdict"]

T = TypeVar("T", bound=msgspec.Struct)


class _OnReply(msgspec.Struct):
    """An answer about the reply; fields the schema does not have are passed over."""

    reasoning: str
    faulty: bool
    confidence: float


_ASKED = {"reply": (), "steps": (("failure_step", int),)}


@cache
def _form(task: str, types: tuple[str, ...]) -> type[_OnReply]:
    """Make the form of an answer that may name these types, and a step if asked about steps."""
    fields = [("failure_type", Literal[*types, "none"])]
    return msgspec.defstruct("_Answer", [*fields, *_ASKED[task]], bases=(_OnReply,))


# Up to the last closing tag: some templates open the block in the prompt, and a draft of the
# answer inside it is not the answer.
_THINKING = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_FENCED = re.compile(r"\A\s*```(?:json)?\s*\n(.*)\n\s*```\s*\Z", re.DOTALL)
_VALUE = re.compile(r'"faulty"\s*:\s*(true|false)')


def _unwrapped(text: str) -> str:
    """Take a reasoning block, then a code fence, off a reply."""
    text = _THINKING.sub("", text)
    fenced = _FENCED.match(text)
    return fenced[1] if fenced else text


def read(reply: Reply, kind: type[T]) -> T | tuple[str, str]:
    """Read an answer off a reply.

    Parameters
    ----------
    reply : Reply
        With status ``ok``.
    kind : type
        The fields an answer must have, as a `msgspec.Struct`.

    Returns
    -------
    kind, or tuple of two str
        The answer; or ``empty`` or ``unparsed``, and the reason.
    """
    cut = reply.stop == "length"
    if not reply.text.strip():
        thought = "; it only thought" if reply.thinking.strip() else ""
        remedy = "; raise num_predict" if cut else ""
        return "empty", f"the reply is empty (stopped: {reply.stop or 'not said'}){thought}{remedy}"
    for text in (reply.text, _unwrapped(reply.text)):
        try:
            return msgspec.json.decode(text, type=kind)
        except msgspec.ValidationError as error:
            reason = f"wrong fields: {error}"
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            reason = f"not JSON: {error}"
            if cut:
                tokens = "" if reply.completion_tokens is None else f" of {reply.completion_tokens}"
                reason = f"cut off at the output cap{tokens} tokens; raise num_predict"
    return "unparsed", reason


def cost(reply: Reply) -> dict[str, Any]:
    """Give what a reply cost, as fields of `tjlib.trace.Verdict`."""
    return {"latency_s": reply.latency_s, "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens}


def parsed(trajectory: Trajectory, judge: str, reply: Reply, kind: type[T]) -> T | Verdict:
    """Read a judge's answer off a reply.

    Parameters
    ----------
    trajectory : Trajectory
    judge : str
        The judge's name.
    reply : Reply
    kind : type
        The fields an answer must have.

    Returns
    -------
    kind or Verdict
        The answer; or, if there is none, a verdict that says so: a status
        other than ``ok``, no label, and the reason as its rationale.
    """
    status, reason = reply.status, reply.error
    if status == "ok":
        answer = read(reply, kind)
        if not isinstance(answer, tuple):
            return answer
        status, reason = answer
    return Verdict(trajectory.trajectory_id, judge, status=status, rationale=reason, **cost(reply))


def verdict(
    trajectory: Trajectory, judge: str, reply: Reply, *, task: str, localises: bool,
    types: tuple[str, ...] = FAULT_TYPES,
) -> Verdict:
    """Turn a reply into a verdict.

    Parameters
    ----------
    trajectory : Trajectory
        Bounds the failure step.
    judge : str
        The judge's name, such as ``step:qwen2.5:14b``.
    reply : Reply
    task : {"reply", "steps"}
        Which schema the reply must fit.
    localises : bool
        Whether a step it names is kept: only if it was shown the steps.
    types : tuple of str
        The failure types it may name.

    Returns
    -------
    Verdict
        Confidence clamped to [.5, 1]; type only when faulty and a real type;
        a step out of range is dropped (appendix D). With a status other than
        ``ok`` it carries no label, and its rationale is the reason.
    """
    answer = parsed(trajectory, judge, reply, _form(task, types))
    if isinstance(answer, Verdict):
        return answer
    step, kind = getattr(answer, "failure_step", -1), answer.failure_type
    return Verdict(
        trajectory.trajectory_id, judge, answer.faulty,
        step if answer.faulty and localises and 0 <= step < len(trajectory.steps) else None,
        kind if answer.faulty and kind in types else None,
        min(1.0, max(0.5, answer.confidence)),
        rationale=answer.reasoning, **cost(reply),
        token_confidence=token_confidence(reply.tokens, answer.faulty),
    )


def token_confidence(tokens: Sequence[Token] | None, faulty: bool) -> float | None:
    """Give the probability the model put on the value it chose for ``faulty``.

    Parameters
    ----------
    tokens : sequence of Token, or None
        The reply's tokens with the likeliest alternatives at each.
    faulty : bool
        The value the answer has.

    Returns
    -------
    float or None
        p(chosen) / (p(true) + p(false)) at the token where the value begins,
        in (0, 1), higher is surer; other continuations are left out, for the
        schema rules them out. None where the server gave no probabilities or
        did not list both values: an unlisted one is unknown, not impossible.

    Examples
    --------
    >>> top = ((" true", math.log(0.6)), (" false", math.log(0.2)))
    >>> tokens = [Token('"faulty":', -0.1), Token(" true", math.log(0.6), top)]
    >>> round(token_confidence(tokens, True), 3)
    0.75
    """
    tokens = tokens or ()
    # A draft in a reasoning block may have the field too; the answer comes last.
    found = None
    for found in _VALUE.finditer("".join(token.text for token in tokens)):  # noqa: B007
        pass
    if found is None or (found[1] == "true") != faulty:
        return None
    at = 0
    for token in tokens:
        at += len(token.text)
        if at > found.start(1):
            break
    mass = {"true": 0.0, "false": 0.0}
    for text, logprob in token.top:
        value = text.lstrip(' \t\r\n":')
        for name in mass:
            # A token may hold the value's beginning only, or the value and what follows it.
            if value and (name.startswith(value) or value.startswith(name)):
                mass[name] += math.exp(min(logprob, 0.0))
    if not all(mass.values()):
        return None
    share = mass[found[1]] / sum(mass.values())
    return None if math.isnan(share) else share
