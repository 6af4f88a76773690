"""A step's own uncertainty for logs without probabilities, read off runs that nobody has labelled.

Decision: what is usual is learnt from a pool of runs, and a step is uncertain as far as it is
unusual: in which tool follows which, in how much is written, or beside other runs of its task.
Refusal: no outcome has a place here, and a run is never part of the pool it is measured by,
which its caller sees to by halves of tasks. All three are ours; neither paper has them.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from statistics import median
from typing import NamedTuple

__all__ = ["Acts", "Habits", "disagreement", "habits"]

#: Before the first step there is this, which no tool's code is.
START = "(start)"
#: Pseudo-counts that a pair of tools begins with, dealt as the second tool's own share.
_PRIOR = 5.0
#: Steps of a tool in the pool below which its usual length is that of all steps.
_FEW = 10


class Acts(NamedTuple):
    """What a run did, one item a step: a code of its tools, and the words it wrote."""

    tools: tuple[str, ...]
    words: tuple[int, ...]

    @property
    def turns(self) -> list[tuple[str, str]]:
        """Each step's tools with those of the step before."""
        return list(zip((START, *self.tools), self.tools, strict=False))


class Habits(NamedTuple):
    """What is usual in a pool of runs; `habits` makes it."""

    pairs: Counter
    befores: Counter
    singles: Counter
    usual: dict[str, float]
    overall: float

    def surprise(self, run: Acts) -> list[float]:
        """Return -log p of each step's tools after those of the step before, in nats."""
        total, kinds = self.singles.total(), len(self.singles) + 1  # one for what was never seen
        out = []
        for before, tool in run.turns:
            alone = (self.singles[tool] + 1) / (total + kinds)
            out.append(-math.log((self.pairs[before, tool] + _PRIOR * alone)
                                 / (self.befores[before] + _PRIOR)))
        return out

    def verbosity(self, run: Acts) -> list[float]:
        """Return how far each step's words are from its tool's median, as a log ratio, unsigned."""
        return [abs(math.log1p(words) - self.usual.get(tool, self.overall))
                for tool, words in zip(run.tools, run.words, strict=True)]


def habits(pool: Iterable[Acts]) -> Habits:
    """Learn what is usual.

    Parameters
    ----------
    pool : iterable of Acts
        Of runs without labels, none of them a run that is to be measured.

    Returns
    -------
    Habits

    Examples
    --------
    >>> known = habits([Acts(("find", "pay"), (3, 3))] * 20)
    >>> [round(nats, 2) for nats in known.surprise(Acts(("find", "find"), (3, 3)))]
    [0.11, 2.33]
    """
    pairs, befores, singles, words = Counter(), Counter(), Counter(), defaultdict(list)
    for run in pool:
        pairs.update(run.turns)
        befores.update(before for before, _ in run.turns)
        singles.update(run.tools)
        for tool, count in zip(run.tools, run.words, strict=True):
            words[tool].append(math.log1p(count))
    every = [value for values in words.values() for value in values]
    return Habits(pairs, befores, singles,
                  {tool: median(values) for tool, values in words.items() if len(values) >= _FEW},
                  median(every) if every else 0.0)


def disagreement(runs: Sequence[Acts], tasks: Sequence[str]) -> list[list[float] | None]:
    """Say how few of the other runs of its task do what each step does, after what it followed.

    Parameters
    ----------
    runs, tasks : sequences, one item a run

    Returns
    -------
    list of (list of float, or None)
        In [0, 1], 1 where no other run of the task has the step; None for the
        only run of a task. It needs the other runs, so a run that is still
        going has it only of a task that was tried before.

    Examples
    --------
    >>> a, b = Acts(("find", "pay"), (1, 1)), Acts(("find", "ask"), (1, 1))
    >>> disagreement([a, b, a], ["x", "x", "x"])[0]
    [0.0, 0.5]
    """
    seen: dict[str, Counter] = defaultdict(Counter)
    for run, task in zip(runs, tasks, strict=True):
        seen[task].update(set(run.turns))
    size = Counter(tasks)
    return [[1.0 - (seen[task][turn] - 1) / (size[task] - 1) for turn in run.turns]
            if size[task] > 1 else None for run, task in zip(runs, tasks, strict=True)]
