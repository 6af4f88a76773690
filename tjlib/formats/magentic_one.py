"""Magentic-One talks as AgentRx publishes them: bare entries, labels in a file beside.

Decision: all entries of one file are one run, named as its file, and the
labels' ``step_number`` counts entries from 1. Refusal: a run without a label
is not judged: AgentRx labelled failures only, so that no label is no success.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from tjlib.documents import Document, Unread
from tjlib.formats import speakers
from tjlib.formats.fields import named, run
from tjlib.formats.imported import Imported, Outcome

__all__ = ["outcomes", "read", "recognise"]


def recognise(value: object) -> bool:
    """Tell whether a value is an entry: a text and its speaker, a human or an orchestrator."""
    if not isinstance(value, dict) or {"content", "role"} != set(value):
        return False
    role = value["role"]
    return isinstance(role, str) and (role == "human" or role.startswith("Orchestrator"))


def _run(entries: list[Document]) -> Imported | Unread:
    talk = speakers.read([entry.value for entry in entries])
    first = entries[0]
    return run(first.line, named(first, "magentic", whole=True), talk.opening, talk.steps,
               talk.answer, notes=talk.notes, messages=talk.messages)


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


def outcomes(value: object) -> dict[str, Outcome] | None:
    """Read a record of AgentRx's label file as a run's outcome.

    Returns
    -------
    dict or None
        Trajectory id -> not well, with the entries to blame; None if the
        value is no such record.

    Examples
    --------
    >>> outcomes({"trajectory_id": "a", "failures": [{"step_number": 9}], "root_cause": {}})
    {'a': Outcome(success=False, steps_failed=(), messages_failed=(8,))}
    """
    if not isinstance(value, dict) or not {"failures", "root_cause"} <= set(value):
        return None
    name, failures = value.get("trajectory_id"), value["failures"]
    if not isinstance(name, str) or not isinstance(failures, list):
        return None
    numbers = {f.get("step_number") for f in failures if isinstance(f, dict) and type(
        f.get("step_number")) is int}
    return {name: Outcome(False, messages_failed=tuple(sorted(n - 1 for n in numbers)))}
