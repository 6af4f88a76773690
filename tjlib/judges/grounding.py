"""The separate pass over the final answer (section 7.2), by a model.

Decision: one call a trajectory shows the goal, each call with what it brought
back, and every sentence that the user was sent, numbered, in order of time.
Thoughts are left out, and so are the calls that carry the reply: what an agent
thought or wrote is no evidence for what it wrote. The calls stay, for an
observation cannot be read without them. The opening and the sentence on
confidence are appendix D's; the rest of the wording, the schema and the
reading of contradictions are ours. Refusal: nothing but support is asked, and
no sentence is split, scored or dropped by the model's leave.
"""

from __future__ import annotations

from typing import Any

import msgspec

from tjlib.judges import answer
from tjlib.judges.asked import closed, described, hashed
from tjlib.judges.evidence import REPLY
from tjlib.judges.prompts import AUDIT, CONFIDENCE, DUTIES
from tjlib.judges.protocol import Model, Options, Reply
from tjlib.judges.render import BEGIN, END, render_evidence
from tjlib.judges.reply import replies
from tjlib.judges.wording import sentences
from tjlib.trace import Trajectory, Verdict

__all__ = ["HEAD", "Claim", "Grounding", "claims", "prompt", "schema", "verdict"]

# A model whose reasoning is bounded also lists without end.
_LISTED = 20

#: What all prompts share: all up to the line that opens the fence.
HEAD = "\n\n".join((
    AUDIT,
    DUTIES,
    "You are shown the goal, every tool call with the observation it brought back, and the "
    "sentences the customer was sent, numbered. The agent's thoughts are left out.",
    "Check each numbered sentence against the observations above it. A sentence is unsupported if "
    "it asserts something that no observation supports: an event, a promise, an amount, a date, a "
    "name or a rule. What the customer said supports names and numbers, never that something was "
    "done. The arguments of a call are the agent's own words and support nothing by themselves. "
    "Greetings, thanks and courtesies assert nothing. Judge only what the sentences say: do not "
    "report a step of the procedure that was left out.",
    "In your reasoning, go sentence by sentence and say for each which observation supports it. "
    "Then list the numbers of the unsupported sentences in unsupported, an empty list if there "
    "are none. faulty is true if at least one sentence is unsupported, and false otherwise.",
    CONFIDENCE,
    f"{BEGIN}\n",
))


class Claim(msgspec.Struct, frozen=True):
    """A sentence the user was sent, its step, and the step its evidence ends before."""

    text: str
    step: int | None
    before: int | None


class _Answer(msgspec.Struct):
    """An answer about sentences; fields the schema does not have are passed over."""

    reasoning: str
    unsupported: list[int]
    faulty: bool
    confidence: float


def claims(trajectory: Trajectory) -> list[Claim]:
    """Split what the user was sent into sentences, in the order they are numbered, from 1.

    Examples
    --------
    >>> [c.text for c in claims(Trajectory("t-1", "Refund it.", (), "Hello. It is done."))]
    ['Hello.', 'It is done.']
    """
    return [Claim(sentence, step, before) for text, step, before in replies(trajectory)
            for sentence in sentences(text)]


def prompt(trajectory: Trajectory) -> str:
    """Write the whole prompt for one trajectory.

    Parameters
    ----------
    trajectory : Trajectory

    Returns
    -------
    str
        `HEAD`, evidence and sentences on lines that cannot close the fence,
        the end.
    """
    placed = [(claim.text, claim.before) for claim in claims(trajectory)]
    return f"{HEAD}{render_evidence(trajectory, placed, REPLY)}\n{END}\n"


def schema(reasoning_chars: int | None = None) -> dict[str, Any]:
    """Give the JSON schema an answer must fit, ``reasoning`` first.

    Parameters
    ----------
    reasoning_chars : int, optional
        An upper bound, which also bounds the list.

    Returns
    -------
    dict
        A new one each time.

    Examples
    --------
    >>> list(schema()["properties"])
    ['reasoning', 'unsupported', 'faulty', 'confidence']
    """
    text, listed = ({}, {}) if reasoning_chars is None else (
        {"maxLength": reasoning_chars}, {"maxItems": _LISTED})
    fields = {
        "reasoning": {"type": "string", **text},
        "unsupported": {"type": "array", "items": {"type": "integer"}, **listed},
        "faulty": {"type": "boolean"},
        "confidence": {"type": "number"},
    }
    return closed(fields)


def verdict(trajectory: Trajectory, judge: str, reply: Reply) -> Verdict:
    """Turn a reply into a verdict.

    Parameters
    ----------
    trajectory : Trajectory
    judge : str
        The judge's name.
    reply : Reply

    Returns
    -------
    Verdict
        ``faulty`` alone decides, as for every judge; the list says where.
        A number that no sentence has is dropped. If faulty, the type is
        ``unsupported_claim`` and the step that of the first sentence listed,
        or, if none is, of the reply where only one was sent. A list beside
        ``faulty`` false changes nothing. What was listed ends the rationale.
    """
    said = answer.parsed(trajectory, judge, reply, _Answer)
    if isinstance(said, Verdict):
        return said
    sent = claims(trajectory)
    listed = sorted({number for number in said.unsupported if 1 <= number <= len(sent)})
    steps = {claim.step for claim in sent}
    step = sent[listed[0] - 1].step if listed else steps.pop() if len(steps) == 1 else None
    note = ", ".join(map(str, listed)) or "none"
    return Verdict(
        trajectory.trajectory_id, judge, said.faulty, step if said.faulty else None,
        "unsupported_claim" if said.faulty else None, min(1.0, max(0.5, said.confidence)),
        rationale=f"{said.reasoning} [sentences listed: {note}]", **answer.cost(reply),
        token_confidence=answer.token_confidence(reply.tokens, said.faulty))


class Grounding:
    """The reply judge with a model.

    Parameters
    ----------
    model : Model
    options : Options, optional
        Default the model's own.
    """

    def __init__(self, model: Model, options: Options | None = None) -> None:
        self.model = model
        self.options = options or model.options
        #: As those of the panel: ``reply:qwen2.5:14b``.
        self.name = f"reply:{model.name}"
        self._schema = schema(self.options.reasoning_chars)

    def identity(self) -> dict[str, Any]:
        """Say what makes this judge's verdicts what they are; as `tjlib.judges.panel.Judge`."""
        asked = hashed(prompt(Trajectory("", "", (), "")), self._schema)
        return described(self.name, self.model, self.options, asked, seed=[self.options.seed])

    def judge(self, trajectory: Trajectory) -> Verdict:
        """Judge one trajectory; never raises.

        Parameters
        ----------
        trajectory : Trajectory

        Returns
        -------
        Verdict
            A reply without a sentence asserts nothing: clean, and no call.
        """
        if not claims(trajectory):
            return Verdict(trajectory.trajectory_id, self.name, False,
                           rationale="the reply says nothing", latency_s=0.0, prompt_tokens=0,
                           completion_tokens=0)
        reply = self.model.complete(prompt(trajectory), self._schema, options=self.options,
                                    shared=HEAD)
        return verdict(trajectory, self.name, reply)
