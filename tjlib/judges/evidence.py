"""What a trajectory holds before a reply: the goal, and what calls brought back.

Decision: only a call that succeeded counts, and only what the tools added to
it: prose that an agent put into a call and got back is an echo, so that a
promise cannot vouch for itself. What the customer asked grounds names and
numbers, never that something was done. Refusal: thoughts, failed calls, and
anything at or after the reply's own step are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tjlib.judges.entities import EVENTS, Entity, Event, entities, events
from tjlib.judges.wording import sentences, stem, stems, word_set
from tjlib.trace import Call, Observation, Trajectory

__all__ = ["REPLY", "Evidence"]

#: The tool whose call is the reply, not evidence for it.
REPLY = "reply"

# A tool that begins so looks and changes nothing (ours); its name is no sign of an act.
_LOOKS = word_set(
    "check count describe fetch find get inspect list look lookup query read retrieve search show "
    "validate verify view")
_HALF_CENT = 0.005
_STATUS_WORDS = 3
# What kind of quantity the words of a key make its number (ours).
_KEYS = (("percent", word_set("pct percent percentage")),
         ("amount", word_set("eur usd gbp chf amount total price cost refund paid balance")))
_UNITS = ("minute", "hour", "day", "week", "month", "year")
_WORDS = re.compile(r"[^\W_]+")


class Evidence:
    """What is known before one step.

    Parameters
    ----------
    trajectory : Trajectory
    before : int, optional
        Steps below this index are read; all if left out.

    Attributes
    ----------
    lines : list of str
        A rendering in words: the goal's sentences, each call with what it
        brought back, each value alone, and the events the calls amount to.
    """

    def __init__(self, trajectory: Trajectory, before: int | None = None) -> None:
        self._quantities: list[Entity] = []
        self._words: set[str] = set()
        self._stems: set[str] = set()
        self._told: set[str] = set()  # stems of what the tools said, not the goal
        self._acts: dict[str, set[float]] = {}  # event -> numbers of the calls that did it
        self._said: set[str] = set()  # ids and dates
        self.lines: list[str] = []
        self._read(trajectory.goal)
        for step in trajectory.steps[:before]:
            if step.user:
                self._read(step.user)
            # A call without an observation did nothing that anyone knows of.
            for call, seen in zip(step.calls, step.observations, strict=False):
                if seen.ok is True and call.tool != REPLY:
                    self._learn(call, seen)
        self.lines += (EVENTS[name][1] for name in self._acts)
        self.lines = list(dict.fromkeys(self.lines))

    def _read(self, text: str) -> None:
        """Take in text that may be repeated, but proves nothing was done."""
        self._words |= {word.casefold() for word in _WORDS.findall(text)}
        self._stems |= stems(text)
        for entity in entities(text):
            if entity.value is None:
                self._said.add(entity.text.casefold())
            else:
                self._quantities.append(entity)
        self.lines += (line for line in sentences(text) if " " in line)

    def _learn(self, call: Call, seen: Observation) -> None:
        prose = {v for _, v in _leaves(call.args) if isinstance(v, str) and " " in v.strip()}
        told = [(k, v) for k, v in _leaves(seen.data) if not (isinstance(v, str) and v in prose)]
        given = [(k, v) for k, v in _leaves(call.args) if not (isinstance(v, str) and v in prose)]
        words = _WORDS.findall(str(call.tool).replace("_", " "))
        if words and words[0].casefold() not in _LOOKS:
            numbers = {float(v) for _, v in told + given if _is_number(v)}
            for name, (pattern, _) in EVENTS.items():
                if pattern.search(" ".join(words)):
                    self._acts.setdefault(name, set()).update(numbers)
        rendered = []
        for key, value in told + given:
            if isinstance(value, str):
                self._read(value)
                if (key, value) in told:
                    self._told |= _told(value)
            elif _is_number(value):
                self._quantities.append(_quantity(key, float(value)))
                self._words.add(f"{value}")
            shown = f"{value:.2f}" if isinstance(value, float) else f"{value}"
            rendered.append(f"{key.replace('_', ' ')} {shown}")
            self._stems |= stems(key.replace("_", " "))
        self.lines += rendered
        self.lines.append(f"{' '.join(words)}: {', '.join(dict.fromkeys(rendered))}")

    def holds(self, entity: Entity) -> bool:
        """Say whether an entity occurs in the evidence, for a quantity in its kind and unit."""
        if entity.value is None:
            known = self._words if entity.kind == "name" else self._said
            return entity.text.casefold() in known
        return any(
            abs(entity.value - known.value) < _HALF_CENT
            and ("number" in (entity.kind, known.kind)
                 or (entity.kind, entity.unit) == (known.kind, known.unit))
            for known in self._quantities
        )

    def bears_out(self, event: Event) -> bool:
        """Say whether what a sentence tells of an event agrees with the calls made."""
        words = {stem(word) for word in _WORDS.findall(event.text)}
        happened = event.name in self._acts or bool(words & self._told)
        if event.form == "denied":
            return event.name not in self._acts
        return happened or (event.form == "named" and bool(words & self._stems))

    def amounts_of(self, event: Event) -> set[float] | None:
        """Return the numbers of the calls that did an event; None where no call did."""
        return self._acts.get(event.name)


def _told(value: str) -> frozenset[str]:
    """Return the stems of the events a tool's text says happened; a short text is a status."""
    short = len(value.split()) <= _STATUS_WORDS
    return frozenset().union(*(
        stems(e.text) for e in events(value)
        if e.form == "done" or (short and e.form == "named")
    ))


def _leaves(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield (key, value) for everything that is no container, however deep."""
    pending: list[tuple[str, Any]] = [("", value)]
    while pending:
        key, item = pending.pop(0)
        if isinstance(item, dict):
            pending[:0] = [(str(k), v) for k, v in item.items()]
        elif isinstance(item, list | tuple):
            pending[:0] = [(key, v) for v in item]
        else:
            yield key, item


def _is_number(value: Any) -> bool:
    # JSON has no infinity; an integer beyond every float is no amount.
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15


def _quantity(key: str, value: float) -> Entity:
    words = {word.casefold() for word in _WORDS.findall(key.replace("_", " "))}
    unit = next((unit for unit in _UNITS if {unit, f"{unit}s"} & words), None)
    if unit:
        return Entity("duration", key, value, unit)
    kind = next((kind for kind, names in _KEYS if words & names), "number")
    return Entity(kind, key, value)
