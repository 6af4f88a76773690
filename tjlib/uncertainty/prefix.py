"""The graph of the steps so far: what each new step is related to, and how.

Decision: every edge ends in an agent's step and starts earlier, so there is no
cycle, and it stores its match; strength is the parameters' business. Refusal:
a step's own observations say nothing about it, nor does any later step.
Relations are those of section 4.1 and appendix A.1 of the RUPA paper; node
order, a window counted in agent steps, one logical relation a pair and the
order repetition, parallel, progression are ours or its authors' code's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tjlib.trace import Step
from tjlib.uncertainty import text as words
from tjlib.uncertainty.parameters import RELATIONS, Parameters
from tjlib.uncertainty.signals import environment
from tjlib.uncertainty.similarity import Similarity

__all__ = ["KINDS", "Edges", "Prefix"]

#: Node kinds, in the order their codes count: instructions, the agent's steps, observations.
KINDS = ("user", "assistant", "env")
_USER, _ASSISTANT, _ENV = range(3)

_SEQUENTIAL, _LATEST, _REPETITION, _FEEDBACK, _PROGRESSION, _PARALLEL = range(len(RELATIONS))
# The least match of a parallel branch (authors' code).
_LEAST_PARALLEL = 0.25


class Edges(NamedTuple):
    """Edges as columns of equal length, sorted by target.

    ``relation`` is a code into `RELATIONS`; ``match`` is in [0, 1]; node
    numbers are 0-based; ``evidence`` says what made the edge.
    """

    source: np.ndarray
    target: np.ndarray
    relation: np.ndarray
    match: np.ndarray
    evidence: list[str]

    @property
    def age(self) -> np.ndarray:
        """Nodes from source to target, at least 1."""
        return self.target - self.source

    def only(self, kept: np.ndarray) -> Edges:
        """Return the edges of these numbers, in this order."""
        return Edges(self.source[kept], self.target[kept], self.relation[kept], self.match[kept],
                     [self.evidence[number] for number in kept.tolist()])


class _Seen(NamedTuple):
    """What later steps need to know of an agent step."""

    node: int
    key: Any
    calls: frozenset[str]
    risky: list[tuple[int, float, str]]
    answers: list[tuple[str, str]]


class Prefix:
    """The graph of the steps so far, one more at a time.

    Parameters
    ----------
    goal : str
        A blank one makes no node, and no step is far from it.
    parameters : Parameters
    similarity : Similarity
    """

    def __init__(self, goal: str, parameters: Parameters, similarity: Similarity) -> None:
        self.parameters, self.similarity = parameters, similarity
        self.kind: list[int] = []
        self.step: list[int] = []
        self.uncertainty: list[float] = []
        self.text: list[str] = []
        self.why: list[str] = []
        self.agent: list[int] = []
        self.q: list[float] = []
        self._columns: tuple[list, ...] = ([], [], [], [], [])
        self._window: deque[_Seen] = deque(maxlen=parameters.window)
        self._user: int | None = None
        self._env: tuple[int, float, str] | None = None
        self._goal = similarity.keys([goal])[0] if words.has_content(goal) else None
        if goal.strip():
            self._user = self._node(_USER, -1, goal)

    def _node(self, kind: int, step: int, text: str, u: float = 0.0, why: str = "") -> int:
        self.kind.append(kind)
        self.step.append(step)
        self.uncertainty.append(u)
        self.text.append(text)
        self.why.append(why)
        return len(self.kind) - 1

    def add(self, step: Step, key: Any = None) -> int:
        """Add a step, what it observed and the user's turn after it; return the agent's node.

        ``key`` is `Similarity.keys` of its `action_text`, made here if not given.
        """
        index, text, written = len(self.agent), words.action_text(step), words.signatures(step)
        key = self.similarity.keys([text])[0] if key is None else key
        node = self._node(_ASSISTANT, index, text)
        self.agent.append(node)
        self.q.append(0.0 if self._goal is None else
                      1.0 - self.similarity.coverage(key, self._goal))
        calls = frozenset(written)
        for edge in self._into(node, key, calls, step.thought):
            for column, value in zip(self._columns, edge, strict=True):
                column.append(value)
        seen = _Seen(node, key, calls, [], [])
        self._observe(step, index, written, seen)
        self._window.append(seen)
        if step.user is not None:
            self._user = self._node(_USER, index, step.user)
        return node

    def _observe(self, step: Step, index: int, written: tuple[str, ...], seen: _Seen) -> None:
        for order, observation in enumerate(step.observations):
            text = words.observation_text(observation)
            call = written[order] if order < len(written) else None
            earlier = () if call is None else [
                said for past in (*self._window, seen) for asked, said in past.answers
                if asked == call]
            u, why = environment(observation, text, earlier)
            node = self._node(_ENV, index, text, u, why)
            if call is not None:
                seen.answers.append((call, text))
            self._env = (node, u, why)
            if u:
                seen.risky.append(self._env)

    def _into(
        self, t: int, key: Any, calls: frozenset[str], said: str
    ) -> Iterator[tuple[int, int, int, float, str]]:
        """Give the edges into node ``t``: source, target, relation, match, evidence."""
        if t:
            yield t - 1, t, _SEQUENTIAL, 1.0, "the node before"
        latest = self.parameters.latest
        if self._env and latest != "user":
            yield self._env[0], t, _LATEST, 1.0, "the newest observation"
        if self._user is not None and latest != "env":
            yield self._user, t, _LATEST, 1.0, "the newest instruction"
        limits, alike = self.similarity.thresholds, self.similarity.alike
        on, aside = words.progression_cue(said), words.parallel_cue(said)
        old = self._env  # the newest observation is seen from any distance
        for past in self._window:
            for node, u, why in past.risky:
                yield node, t, _FEEDBACK, u, why
                if old and node == old[0]:
                    old = None
            same = 1.0 if calls and calls == past.calls else words.overlap(calls, past.calls)
            close = alike(key, past.key)
            repeats = close >= limits.repetition and bool(calls) == bool(past.calls)
            if same >= limits.tool or repeats:
                why = "similar text" if close > same else "the same calls"
                yield past.node, t, _REPETITION, max(same, close), why
            elif aside and close < limits.parallel:
                yield past.node, t, _PARALLEL, max(_LEAST_PARALLEL, 1.0 - close), f"says {aside!r}"
            elif on and close >= limits.progression:
                yield past.node, t, _PROGRESSION, close, f"says {on!r}"
        if old and old[1]:
            yield old[0], t, _FEEDBACK, old[1], old[2]

    @property
    def n_edges(self) -> int:
        """Number of edges so far."""
        return len(self._columns[0])

    def edges(self, since: int = 0) -> Edges:
        """Return the edges from number ``since`` on as columns."""
        source, target, relation, match, evidence = (column[since:] for column in self._columns)
        return Edges(np.array(source, int), np.array(target, int), np.array(relation, np.uint8),
                     np.array(match, float), evidence)
