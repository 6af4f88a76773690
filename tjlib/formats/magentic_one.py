"""Magentic-One talks as AgentRx publishes them: bare entries, labels in a file beside.

Decision: all entries of one file are one run, named as its file, and the
labels' ``step_number`` counts entries from 1. Refusal: a run without a label
is not judged: AgentRx labelled failures only, so that no label is no success.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import PurePath

import msgspec

from tjlib.documents import Document, Unread
from tjlib.formats import speakers
from tjlib.formats.imported import Imported, shown
from tjlib.trace import Trajectory

__all__ = ["labelled", "outcomes", "read", "recognise"]


def recognise(value: object) -> bool:
    """Tell whether a value is an entry: a text and its speaker, a human or an orchestrator."""
    if not isinstance(value, dict) or {"content", "role"} != set(value):
        return False
    role = value["role"]
    return isinstance(role, str) and (role == "human" or role.startswith("Orchestrator"))


def _run(entries: list[Document]) -> Imported | Unread:
    talk = speakers.read([entry.value for entry in entries])
    first = entries[0]
    name = PurePath(first.source).stem or f"magentic-line{first.line}"
    try:
        trajectory = Trajectory(name, talk.opening, talk.steps, talk.answer)
    except ValueError as error:
        return Unread(first.line, f"a run whose {error}")
    return Imported(trajectory, first.line, task_id=name, notes=talk.notes)


def read(found: Iterator[Document | Unread]) -> Iterator[Imported | Unread]:
    """Read the entries of each file as one run."""
    for _, items in groupby(found, lambda item: getattr(item, "source", "")):
        entries = []
        for item in items:
            if isinstance(item, Unread):
                yield item
            else:
                entries.append(item)
        if any(recognise(entry.value) for entry in entries):
            yield _run(entries)
        elif entries:
            yield Unread(entries[0].line, "no talk of Magentic-One")


def _failures(value: object) -> tuple[str, list[dict]] | None:
    """Read one record of the label file, or none."""
    if not isinstance(value, dict) or not isinstance(value.get("trajectory_id"), str):
        return None
    failures = value.get("failures")
    if not isinstance(failures, list) or "root_cause" not in value:
        return None
    return value["trajectory_id"], [f for f in failures if isinstance(f, dict)]


def outcomes(value: object) -> dict[str, bool] | None:
    """Read a record of AgentRx's label file as a run's outcome.

    Returns
    -------
    dict or None
        Trajectory id -> False, as only failures are labelled; None if the
        value is no such record.
    """
    found = _failures(value)
    return None if found is None else {found[0]: False}


def _step(run: Imported, number: object) -> int | None:
    """Find the step of the entry of a 1-based number."""
    if not isinstance(number, int) or isinstance(number, bool):
        return None
    entry = 1 + bool(run.trajectory.goal)  # the human's entry comes first
    for at, step in enumerate(run.trajectory.steps):
        after = entry + 1 + len(step.observations) + (step.user is not None)
        if entry <= number < after:
            return at
        entry = after
    return None


def labelled(run: Imported, value: object) -> Imported:
    """Give a run what a record of AgentRx's label file says of it.

    Parameters
    ----------
    run : Imported
    value : object
        Any value; one that is no record, or another run's, changes nothing.

    Returns
    -------
    Imported
        With ``success`` False, ``steps_failed`` in our steps, and the root
        cause in ``about``.
    """
    found = _failures(value)
    if found is None or found[0] != run.task_id:
        return run
    cause = value["root_cause"] if isinstance(value["root_cause"], dict) else {}
    steps, notes, about = set(), [], {}
    for failure in found[1]:
        number = failure.get("step_number")
        step = _step(run, number)
        if step is None:
            notes.append(f"a failure at entry {shown(number, 20)} is at no step")
            continue
        steps.add(step)
        if failure.get("failure_id") == cause.get("failure_id"):
            about = {"mistake_agent": str(failure.get("failed_agent", "")),
                     "mistake_type": str(failure.get("failure_category", "")),
                     "mistake_reason": str(cause.get("reason_for_root_cause", "")),
                     "mistake_step": str(step)}
    return msgspec.structs.replace(
        run, success=False, steps_failed=tuple(sorted(steps)), about=run.about | about,
        notes=(*run.notes, *notes))
