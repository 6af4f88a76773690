"""RUPA with its relations calibrated on one half of the tasks and scored on the other.

Decision: the halves are of tasks, never of trials, by a salted hash of the task, so that the split
needs no list and does not follow one the set came with. Refusal: no outcome is taken, so none
can choose a split, a temperature or a half.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from tjlib.uncertainty.calibrate import Reliability, fit
from tjlib.uncertainty.graph import Graph
from tjlib.uncertainty.parameters import Parameters
from tjlib.uncertainty.propagate import propagate
from tjlib.uncertainty.signals import Local

__all__ = ["crossed", "crossfit", "half"]


def half(task_id: str, salt: str = "tjlib") -> int:
    """Tell in which half of the tasks one is: 0 or 1.

    Parameters
    ----------
    task_id : str
    salt : str
        Another one gives another split.

    Examples
    --------
    >>> [half(task) for task in ("3", "4", "5", "6")]
    [0, 1, 1, 0]
    """
    return hashlib.sha256(f"{salt}:{task_id}".encode()).digest()[0] & 1


def crossed(
    graphs: Sequence[Graph], local: Sequence[Local], tasks: Sequence[str],
    parameters: Parameters | None = None, salt: str = "tjlib",
) -> list[Reliability | None]:
    """Give each run the reliabilities of the other half of the tasks.

    Parameters
    ----------
    graphs, local, tasks, parameters, salt
        As `crossfit`.

    Returns
    -------
    list of Reliability or None
        None where the other half has no run with a step to calibrate on.
    """
    side = [half(task, salt) for task in tasks]
    known = {}
    for this in (0, 1):
        there = [i for i, s in enumerate(side) if s != this and len(graphs[i].agent)]
        known[this] = fit([graphs[i] for i in there], [local[i] for i in there],
                          parameters) if there else None
    return [known[s] for s in side]


def crossfit(
    graphs: Sequence[Graph], local: Sequence[Local], tasks: Sequence[str],
    parameters: Parameters | None = None, salt: str = "tjlib",
) -> list[float | None]:
    """Score each run with the reliabilities of the other half of the tasks.

    Parameters
    ----------
    graphs, local, tasks : sequences, one item a run
    parameters : Parameters, optional
        Default those of the graphs.
    salt : str
        As `half`.

    Returns
    -------
    list of float or None
        At least 0, higher is more likely to fail; None where the run has no
        step or the other half has none to calibrate on.

    Examples
    --------
    >>> crossfit([], [], [])
    []
    """
    known = crossed(graphs, local, tasks, parameters, salt)
    return [None if fitted is None or not len(graph.agent) else
            propagate(graph, u, reliability=fitted, parameters=parameters).score
            for graph, u, fitted in zip(graphs, local, known, strict=True)]
