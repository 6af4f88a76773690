"""How the results of a log meet their calls.

Decision: a result goes to the nearest earlier call of its id that has none
yet, because logs use an id again, and where one of the two has no id, to the
nearest that waits. Refusal: a call that was never answered stays a call, and
a result of none stays a result.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tjlib.trace import Call, Observation, Step

__all__ = ["Open", "Waiting"]


@dataclass
class Open:
    """A step still being read; an answer stands beside its call."""

    at: int
    said: str
    thought: str
    logprobs: tuple[float, ...] | None
    calls: list[Call] = field(default_factory=list)
    ids: list[Any] = field(default_factory=list)
    answers: list[Observation | None] = field(default_factory=list)
    strays: list[Observation] = field(default_factory=list)
    user: list[str] = field(default_factory=list)

    def closed(self) -> Step:
        """Close the step: answered calls first, so that the n-th observation is the n-th call's."""
        order = sorted(range(len(self.calls)), key=lambda i: self.answers[i] is None)
        answers = [self.answers[i] for i in order if self.answers[i] is not None]
        return Step(self.thought, tuple(self.calls[i] for i in order),
                    (*answers, *self.strays), "\n\n".join(self.user) or None, self.logprobs)


def _key(given: object) -> object:
    return given if isinstance(given, str | int) else repr(given) if given else ""


class Waiting:
    """The calls that have no result yet, the nearest on top; one lookup a result."""

    def __init__(self) -> None:
        self._by_id: dict[object, list[tuple[Open, int]]] = {}
        self._all: list[tuple[Open, int]] = []

    def add(self, step: Open) -> None:
        """Add the calls of a step, its first one on top."""
        for i in reversed(range(len(step.ids))):
            self._by_id.setdefault(_key(step.ids[i]), []).append((step, i))
            self._all.append((step, i))

    def take(self, given: object) -> tuple[Open, int] | None:
        """Find the call of a result: by its id, else where one of the two has none."""
        key = _key(given)
        for stack in (self._by_id.get(key), self._by_id.get("") if key else self._all):
            while stack:
                step, i = stack.pop()
                if step.answers[i] is None:
                    return step, i
        return None
