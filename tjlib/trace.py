"""The records every other module passes around, frozen, with JSON in and out.

Decision: a label is a record of its own, in a file of its own, and a
trajectory has neither a label field nor an id that spells its fault, so that
nothing handed to a judge can hold the answer. Refusal: no file is opened here
(`tjlib.store` does that) and no record computes anything about another.
"""

from __future__ import annotations

import errno
import re
from typing import Any, TypeVar

import msgspec

__all__ = [
    "FAULT_TYPES", "FLOORS", "STATUSES", "Call", "InputError", "Label", "Observation",
    "Step", "Trajectory", "Verdict", "from_json", "to_json",
]

#: The six failure types, in the order of the judging paper's Table 1 taxonomy.
FAULT_TYPES = (
    "wrong_tool", "hallucinated_argument", "skipped_precondition",
    "ignored_observation", "premature_stop", "unsupported_claim",
)

#: What became of a reply; only ``ok`` is a judgement, and where ``not_applicable`` none was due.
STATUSES = ("ok", "unparsed", "empty", "too_long", "timeout", "error", "not_applicable")

#: The judges that look at nothing; no other judge may have one of their names.
FLOORS = ("always faulty", "always clean", "prevalence coin")

#: Beyond these a number is a mistake, and sums of it would leave the range of a float.
_LAST_STEP, _MOST = 1_000_000, 1e12

#: What steers a screen instead of being shown: controls, line ends, turns of direction, halves.
_STEERS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

_ROOM, _WAY = "make room and run the same command again", "something else is there"
_REMEDIES = {
    errno.ENOSPC: _ROOM, errno.EDQUOT: _ROOM, errno.EFBIG: _ROOM,
    errno.EEXIST: f"{_WAY}, choose another place", errno.ENOTDIR: f"{_WAY}, choose another place",
    errno.EISDIR: "give the name of a file", errno.ENOENT: "check the path, create its folder",
}


class InputError(ValueError):
    """Bad input, told in one line: where it is, what is wrong, what to do."""

    @classmethod
    def of(cls, error: OSError, path: object = None) -> InputError:
        """Tell in one line what the system refused, of which file, and what to do.

        ``path`` is what was being read or written; default the file the error names.

        >>> print(InputError.of(OSError(errno.ENOSPC, "No space left on device"), "v.jsonl"))
        v.jsonl: No space left on device; make room and run the same command again
        """
        name = error.filename if path is None else path
        what = " ".join((error.strerror or str(error) or type(error).__name__).split())
        remedy = _REMEDIES.get(error.errno, "check the path or choose another place")
        return cls(f"{'' if name is None else f'{name}: '}{what}; {remedy}")


def _check_names(record: _Record, *fields: str) -> None:
    for field in fields:
        if found := _STEERS.search(getattr(record, field) or ""):
            raise ValueError(f"{field} holds the control character U+{ord(found[0]):04X}; "
                             "use printable characters")


def _check_range(record: _Record, most: float, *fields: str) -> None:
    for field in fields:
        value = getattr(record, field)
        if value is not None and not 0 <= value <= most:
            side = ("outside [0, 1]" if most == 1 else "below 0" if value < 0
                    else f"not within 0 to {most:,.0f}")
            hint = " (steps are 0-based)" if field == "failure_step" else ""
            raise ValueError(f"{field} {str(value)[:20]} is {side}{hint}")


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

    def __post_init__(self) -> None:
        _check_names(self, "trajectory_id")


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
        _check_names(self, "trajectory_id", "instance_id", "stratum", "parent_id")
        _check_range(self, _LAST_STEP, "failure_step")


class Verdict(_Record, frozen=True):
    """What one judge said of one trajectory, or why it said nothing.

    ``faulty`` is ``None`` exactly when ``status`` is not ``"ok"``: a reply
    that failed is never a label. ``confidence`` is the judge's probability
    that its own verdict is correct, ``token_confidence`` its model's; both in
    [0, 1] or ``None``. Names hold no control characters, costs are finite.
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
    token_confidence: float | None = None

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f"status {self.status!r} is not one of {', '.join(STATUSES)}")
        if (self.faulty is None) == (self.status == "ok"):
            raise ValueError("status ok needs faulty true or false, any other status needs null")
        if not self.faulty and (self.failure_step, self.failure_type) != (None, None):
            raise ValueError("a verdict that is not faulty carries a failure step or type")
        _check_names(self, "trajectory_id", "judge", "run_id")
        if " - " in self.judge:
            raise ValueError("a judge's name holds ' - ', which stands between the two judges of "
                             "a difference; choose another name")
        _check_range(self, _LAST_STEP, "failure_step")
        _check_range(self, _MOST, "latency_s", "prompt_tokens", "completion_tokens")
        _check_range(self, 1, "confidence", "token_confidence")


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
