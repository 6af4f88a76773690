"""Fields of a log of which nothing is certain, and the run they make.

Decision: a field that is not there and one of another type are the same, for
a log may hold anything. Refusal: no number is taken that is not finite, and
no run whose name would steer a screen.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any

from tjlib.documents import Document, Unread
from tjlib.formats.imported import Imported, number
from tjlib.trace import Step, Trajectory

__all__ = ["added", "listed", "named", "run", "text", "totals", "under"]


def under(value: Any, *keys: str | int) -> Any:
    """Follow keys and places into a value; None where they lead nowhere.

    >>> under({"choices": [{"index": 0}]}, "choices", 0, "index")
    0
    """
    for key in keys:
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and -len(value) <= key < len(value):
            value = value[key]
        else:
            return None
    return value


def text(value: object) -> str:
    """Return a text, or an empty one for anything else."""
    return value if isinstance(value, str) else ""


def listed(value: object) -> list:
    """Return a list, or an empty one for anything else."""
    return value if isinstance(value, list) else []


def added(records: Iterable, *keys: str | int) -> int | float | None:
    """Add up what stands under some keys of each record; None if no number does.

    >>> added([{"usage": {"tokens": 2}}, {}, {"usage": {"tokens": 3}}], "usage", "tokens")
    5
    """
    found = [n for record in records if number(n := under(record, *keys)) is not None]
    return sum(found) if found else None


def totals(**given: object) -> dict[str, int | float]:
    """Keep those totals that are numbers."""
    return {name: value for name, value in given.items() if number(value) is not None}


def named(document: Document, kind: str, whole: bool = False) -> str:
    """Name a run that has no name of its own after its file, and by line unless it begins it.

    ``whole`` tells that the run is all of the file, wherever its first element stands.

    >>> named(Document(1, "", None, "runs/acme__shop-12.traj.json"), "mini")
    'acme__shop-12'
    """
    name = PurePosixPath(document.source).name
    for ending in (".gz", ".json", ".jsonl", ".traj"):
        name = name.removesuffix(ending)
    return name if name and (whole or document.line == 1) else f"{name or kind}-line{document.line}"


def run(line: int, name: str, goal: str, steps: tuple[Step, ...], answer: str,
        **more: Any) -> Imported | Unread:
    """Make a run of its parts, or say why it is none; ``more`` are fields of `Imported`."""
    try:
        trajectory = Trajectory(name, goal, steps, answer)
    except ValueError as error:
        return Unread(line, f"a run whose {error}")
    return Imported(trajectory, line, **{"task_id": name} | more)
