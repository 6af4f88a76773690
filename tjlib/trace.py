"""The records every other module passes around, frozen, with JSON in and out.

Decision: a label is a record of its own, in a file of its own, and a
trajectory has neither a label field nor an id that spells its fault, so that
nothing handed to a judge can hold the answer. Refusal: no file is opened here
(`tjlib.store` does that) and no record computes anything about another.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

__all__ = [
    "FAULT_TYPES", "STATUSES", "Call", "InputError", "Label", "Observation",
    "Step", "Trajectory", "Verdict", "from_json", "to_json",
]

#: The six failure types, in the order of the judging paper's Table 1 taxonomy.
FAULT_TYPES = (
    "wrong_tool", "hallucinated_argument", "skipped_precondition",
    "ignored_observation", "premature_stop", "unsupported_claim",
)

#: What can have become of a judge's reply; only ``ok`` carries a judgement.
STATUSES = ("ok", "unparsed", "empty", "too_long", "timeout", "error")


class InputError(ValueError):
    """Bad input, told in one line: where it is, what is wrong, what to do."""


class _Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings shared by all records."""


class Call(_Record, frozen=True):
    """One tool call: the tool's name and its keyword arguments."""

    tool: str
    args: dict[str, Any] = {}


class Observation(_Record, frozen=True):
    """What a call brought back: data when ``ok``, else an error text."""

    ok: bool
    data: dict[str, Any] = {}
    error: str | None = None


class Step(_Record, frozen=True, omit_defaults=True):
    """One assistant message, its calls, their observations, a user turn.

    The desk makes one call a step; imported logs make none or several.
    ``logprobs`` are natural-log token probabilities, each at most 0.
    """

    thought: str
    calls: tuple[Call, ...] = ()
    observations: tuple[Observation, ...] = ()
    user: str | None = None
    logprobs: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.logprobs is not None and any(not p <= 0 for p in self.logprobs):
            raise ValueError("a token log-probability is above 0")


class Trajectory(_Record, frozen=True):
    """A goal, the steps taken towards it, and the answer the user was sent."""

    trajectory_id: str
    goal: str
    steps: tuple[Step, ...]
    final_answer: str


class Label(_Record, frozen=True):
    """What is true of one trajectory; never shown to a judge.

    ``failure_step`` is 0-based. ``parent_id`` names the clean trajectory of
    the same instance, whether or not that one is part of the set.
    """

    trajectory_id: str
    faulty: bool
    failure_step: int | None = None
    failure_type: str | None = None
    outcome_correct: bool | None = None
    instance_id: str | None = None
    stratum: str | None = None
    parent_id: str | None = None

    def __post_init__(self) -> None:
        if not self.faulty and (self.failure_step, self.failure_type) != (None, None):
            raise ValueError("a clean trajectory carries a failure step or type")
        if self.failure_step is not None and self.failure_step < 0:
            raise ValueError(f"failure_step {self.failure_step} is below 0 (steps are 0-based)")


class Verdict(_Record, frozen=True):
    """What one judge said of one trajectory, or why it said nothing.

    ``faulty`` is ``None`` exactly when ``status`` is not ``"ok"``: a reply
    that failed is never a label. ``confidence`` is the judge's probability
    that its own verdict is correct, in [0, 1], or ``None`` if it gave none.
    """

    trajectory_id: str
    judge: str
    faulty: bool | None = None
    failure_step: int | None = None
    failure_type: str | None = None
    confidence: float | None = None
    status: str = "ok"
    rationale: str = ""
    latency_s: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    run_id: str | None = None

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f"status {self.status!r} is not one of {', '.join(STATUSES)}")
        if (self.faulty is None) == (self.status == "ok"):
            raise ValueError("status ok needs faulty true or false, any other status needs null")
        if not self.faulty and (self.failure_step, self.failure_type) != (None, None):
            raise ValueError("a verdict that is not faulty carries a failure step or type")
        if self.failure_step is not None and self.failure_step < 0:
            raise ValueError(f"failure_step {self.failure_step} is below 0 (steps are 0-based)")
        if self.confidence is not None and not 0 <= self.confidence <= 1:
            raise ValueError(f"confidence {self.confidence} is outside [0, 1]")


R = TypeVar("R", Call, Observation, Step, Trajectory, Label, Verdict)


def to_json(record: R) -> bytes:
    """Write one record as one line of JSON, without the line end.

    Parameters
    ----------
    record : Call, Observation, Step, Trajectory, Label or Verdict

    Returns
    -------
    bytes
        UTF-8 JSON, fields in the order of the record, the same bytes for
        equal records.

    Examples
    --------
    >>> to_json(Call("get_policy", {"sku": "SKU-LAMP-07"}))
    b'{"tool":"get_policy","args":{"sku":"SKU-LAMP-07"}}'
    """
    return msgspec.json.encode(record)


def from_json(kind: type[R], text: bytes | str) -> R:
    """Read one record from one JSON text and check it.

    Parameters
    ----------
    kind : type
        The record class expected.
    text : bytes or str
        One JSON object.

    Returns
    -------
    kind
        The record, equal to the one `to_json` was given.

    Raises
    ------
    InputError
        If the text is not JSON, lacks a field, has an unknown one, or breaks
        a rule of the record; the message names the field.

    Examples
    --------
    >>> from_json(Label, '{"trajectory_id": "t-1", "faulty": false}').faulty
    False
    """
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(str(error)) from None
    except RecursionError:
        raise InputError("the JSON is nested too deeply") from None
