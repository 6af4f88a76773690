"""Fields of a log of which nothing is certain, and the runs they make.

Decision: a field that is not there and one of another type are the same, for
a log may hold anything. Refusal: no number is taken that is not finite, and
no run whose name would steer a screen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Any

from tjlib.documents import Document, Unread, decode
from tjlib.formats.imported import Imported, number, shown
from tjlib.trace import Step, Trajectory

__all__ = ["added", "decoded", "each", "first", "keyed", "left_out", "listed", "named", "run",
           "text", "totals", "under"]


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


def keyed(value: object) -> dict:
    """Return an object, or an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def first(value: dict, *keys: str) -> Any:
    """Return the first of several fields that is there and not null.

    >>> first({"args": None, "input": 3}, "args", "input")
    3
    """
    return next((value[key] for key in keys if value.get(key) is not None), None)


def decoded(value: object) -> Any:
    """Decode a JSON text of an object or a list; anything else is returned as it is.

    >>> decoded('[1]'), decoded("one"), decoded(None)
    ([1], 'one', None)
    """
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        with suppress(ValueError):
            return decode(value)
    return value


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


def left_out(what: str, kinds: Counter[str]) -> list[str]:
    """Say in a note how many of each kind were left out; none if none were.

    >>> left_out("lines", Counter(summary=2))
    ['lines left out: 2 summary']
    """
    told = ", ".join(f"{count} {shown(kind, 40)}" for kind, count in kinds.items())
    return [f"{what} left out: {shown(told, 300)}"] if told else []


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


def each(found: Iterable[Document | Unread], recognise: Callable[[object], bool],
         read: Callable[[Document], Imported | Unread], why: str) -> Iterator[Imported | Unread]:
    """Read values that are each a run; one that is none comes back with its line and ``why``."""
    for item in found:
        if isinstance(item, Unread):
            yield item
        else:
            yield read(item) if recognise(item.value) else Unread(item.line, why)
