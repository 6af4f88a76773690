"""Magentic-One talks as AgentRx publishes them: bare entries, labels in a file beside.

Decision: all entries of one file are one run, named as its file, so that a
label file of AgentRx (`tjlib.formats.tau_bench.outcomes`) finds it. Refusal: no
run has a success: only failures were labelled, and not all of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from tjlib.documents import Document, Unread
from tjlib.formats import speakers
from tjlib.formats.fields import named, run
from tjlib.formats.imported import Imported

__all__ = ["read", "recognise"]


def recognise(value: object) -> bool:
    """Tell whether a value is an entry: a text and its speaker, a human or an orchestrator."""
    if not isinstance(value, dict) or {"content", "role"} != set(value):
        return False
    role = value["role"]
    return isinstance(role, str) and (role == "human" or role.startswith("Orchestrator"))


def _run(entries: list[Document]) -> Imported | Unread:
    first = entries[0]
    if not any(recognise(entry.value) for entry in entries):
        return Unread(first.line, "no talk of Magentic-One")
    talk = speakers.read([entry.value for entry in entries])
    return run(first.line, named(first, "magentic", whole=True), talk.opening, talk.steps,
               talk.answer, notes=talk.notes, messages=talk.messages)


def read(found: Iterator[Document | Unread]) -> Iterator[Imported | Unread]:
    """Read the entries of each file as one run."""
    entries: list[Document] = []
    for item in found:
        if isinstance(item, Unread):
            yield item
            continue
        if entries and entries[0].source != item.source:
            yield _run(entries)
            entries = []
        entries.append(item)
    if entries:
        yield _run(entries)
