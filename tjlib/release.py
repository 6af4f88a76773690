"""The first paper's released files: what they are and how their lines read.

Decision: a line of the release (label inside, ``judge_id``, one call a step)
becomes our records, so that every reader takes either shape; what the shape
leaves out (stratum, parent) is derived here, in one place. Refusal: nothing
is renamed. The release's ids spell the fault; they are kept so that verdicts
on it can be matched, and no judge is shown an id.
"""

from __future__ import annotations

import re

from msgspec import Struct

from tjlib.trace import (
    Call,
    InputError,
    Label,
    Observation,
    R,
    Step,
    Trajectory,
    Verdict,
    from_json,
)

__all__ = ["COMMIT", "FILES", "REPOSITORY", "decode", "is_shaped"]

REPOSITORY = "mohammadi-hadi/trajectory-judge"
COMMIT = "4a60c595c018b759f2914a159c7b2bc3f0392ff2"

#: Local name -> (path in the repository at `COMMIT`, SHA-256).
FILES = {
    "trajectories.jsonl": (
        "results/raw/trajectories.jsonl",
        "e3459122dbc1b6ccd2a903bf85fab68ec38e121f2f1326e80ace49c02a4c7986",
    ),
    "verdicts.jsonl": (
        "results/raw/verdicts.jsonl",
        "de05ad76b17da958255aa54ed38c8d647cd92c29e71d2ee75962b07302e2b1e6",
    ),
    "agent_trajectories.jsonl": (
        "results/agent/trajectories.jsonl",
        "84a991c3ac390da3aaaa8896bac560854edb7254cc4d76deeb3948c59fc2f6c6",
    ),
}

# The release deals instances to the strata in turn (paper appendix A): index mod 6.
_STRATA = (
    "happy", "restocking", "expired", "non_refundable", "wrong_customer", "already_refunded",
)


class _Step(Struct, forbid_unknown_fields=True):
    index: int
    thought: str
    call: Call
    observation: Observation


class _Label(Struct, forbid_unknown_fields=True):
    faulty: bool
    failure_step: int | None
    failure_type: str | None
    outcome_correct: bool | None


class _Trajectory(Struct, forbid_unknown_fields=True):
    trajectory_id: str
    instance_id: str
    goal: str
    steps: tuple[_Step, ...]
    final_answer: str
    label: _Label


class _Verdict(Struct, forbid_unknown_fields=True):
    trajectory_id: str
    judge_id: str
    faulty: bool
    failure_step: int | None
    failure_type: str | None
    confidence: float | None
    rationale: str
    latency_s: float | None
    prompt_tokens: int | None
    completion_tokens: int | None
    error: str | None


def is_shaped(line: bytes) -> bool:
    """Tell whether a line has the fields only the release's shape has."""
    return b'"judge_id":' in line or b'"label":' in line


def _trajectory(r: _Trajectory) -> Trajectory:
    if [step.index for step in r.steps] != list(range(len(r.steps))):
        raise InputError("the steps are not numbered 0, 1, 2, ...")
    steps = tuple(Step(s.thought, (s.call,), (s.observation,)) for s in r.steps)
    return Trajectory(r.trajectory_id, r.goal, steps, r.final_answer)


def _label(r: _Trajectory) -> Label:
    index = re.fullmatch(r"INS-(\d+)", r.instance_id)
    injected = r.label.faulty and r.trajectory_id == f"{r.instance_id}-{r.label.failure_type}"
    return Label(
        r.trajectory_id, r.label.faulty, r.label.failure_step, r.label.failure_type,
        r.label.outcome_correct, r.instance_id,
        stratum=_STRATA[int(index[1]) % len(_STRATA)] if index else None,
        parent_id=f"{r.instance_id}-clean" if injected else None,
    )


def _verdict(r: _Verdict) -> Verdict:
    cost = {"latency_s": r.latency_s, "prompt_tokens": r.prompt_tokens,
            "completion_tokens": r.completion_tokens}
    if r.error is not None:
        return Verdict(r.trajectory_id, r.judge_id, status="error", rationale=r.error, **cost)
    return Verdict(r.trajectory_id, r.judge_id, r.faulty, r.failure_step, r.failure_type,
                   r.confidence, rationale=r.rationale, **cost)


_SHAPES = {
    Trajectory: (_Trajectory, _trajectory), Label: (_Trajectory, _label),
    Verdict: (_Verdict, _verdict),
}


def decode(kind: type[R], line: bytes) -> R:
    """Read one record from a line in the release's shape.

    Parameters
    ----------
    kind : type
        Trajectory, Label or Verdict; the first two come from one line.
    line : bytes

    Returns
    -------
    kind
        A reply the release marks as failed becomes a verdict of status
        ``error`` whose rationale is that mark.

    Raises
    ------
    InputError
        If the line is not of that shape; the message names the field.

    Examples
    --------
    >>> line = (b'{"trajectory_id": "INS-00008-clean", "instance_id": "INS-00008", "goal": "",'
    ...         b'"steps": [], "final_answer": "", "label": {"faulty": false, "failure_step": null,'
    ...         b'"failure_type": null, "outcome_correct": true}}')
    >>> decode(Label, line).stratum
    'expired'
    """
    if kind not in _SHAPES:
        raise InputError(f"the release has no lines of {kind.__name__.lower()}s")
    shape, convert = _SHAPES[kind]
    raw = from_json(shape, line)
    try:
        return convert(raw)
    except ValueError as error:
        raise InputError(str(error)) from None
