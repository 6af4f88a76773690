"""What the label files of a path say of runs, and what of them cannot be taken.

Decision: a label file is one from its first value on, so all that follows in
it is a label or is told. Refusal: an outcome that is neither true nor false is
none, and of two that contradict each other neither is taken.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tjlib.containers import members
from tjlib.documents import Document, Unread, values
from tjlib.formats import detect
from tjlib.formats.imported import Outcome, shown
from tjlib.formats.table import FORMATS, OUTCOMES

__all__ = ["Labels", "is_read", "outcomes"]


class Labels(NamedTuple):
    """Outcomes by the id of a task or a trajectory, and what could not be taken."""

    said: dict[str, Outcome]
    odd: list[Unread]


def _found(item: Document | Unread) -> dict[str, Outcome] | None:
    """Return what a value says as a label; None if it is none."""
    found = detect.labels(item, OUTCOMES)
    return found and {name: said if isinstance(said, Outcome) else Outcome(said)
                      for name, said in found.items()}


def _is_run(item: Document | Unread) -> bool:
    return isinstance(item, Document) and any(
        one.recognise(item.value) for one in FORMATS.values())


def _why_not(item: Document | Unread, found: dict[str, Outcome] | None) -> str:
    """Say why a value is no label; "" if it is one."""
    if isinstance(item, Unread):
        return item.why
    if found is None:
        return "no label, which has a task_id, and a success that is true or false"
    for key in ("outcome_correct", "success"):
        said = item.value.get(key) if isinstance(item.value, dict) else None
        if not isinstance(said, bool | None):
            return f"{key} is {shown(repr(said), 40)}; write true or false"
    return ""


def outcomes(path: str | Path) -> Labels:
    """Read the label files of a path.

    Parameters
    ----------
    path : str or Path
        A label file, or a folder or archive in which some may be.

    Returns
    -------
    Labels
        In ``odd`` the place of all that is no label in a label file, and of labels that
        contradict earlier ones, of which neither is in ``said``.
    """
    said: dict[str, Outcome] = {}
    odd: list[Unread] = []
    twice: set[str] = set()
    for member in members(path):
        for i, item in enumerate(values(member.file) if member.file else ()):
            found = _found(item)
            if i == 0 and (found is None or _is_run(item)):
                break
            why = _why_not(item, found)
            other = [] if why else [
                name for name, new in found.items()
                if name in said and {new.success, said[name].success} == {True, False}]
            if other:
                why = f"{shown(other[0], 60)!r} has another outcome in an earlier label; keep one"
                twice |= set(other)
            if why:
                odd.append(Unread(item.line, why, member.name))
            said |= {} if why and not other else found
    return Labels({name: one for name, one in said.items() if name not in twice}, odd)


def is_read(path: str | Path) -> bool:
    """Tell whether a file holds runs or labels, or anything else."""
    for member in members(path):
        if member.file:
            name, _, seen = detect.format_of(values(member.file), FORMATS)
            if name or any(_found(item) is not None for item in seen):
                return True
    return False
