"""RUPA with a part taken away or a number changed, on the runs of a log or a stored set.

Decision: each run is scored anew by the equations, for every part and every
number alike; what draws is scored with many seeds. Refusal: no outcome comes
in here, so nothing can be chosen by it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec
import numpy as np

from tjlib.uncertainty.controls import inputs
from tjlib.uncertainty.crossfit import crossfit
from tjlib.uncertainty.graph import Graph
from tjlib.uncertainty.parameters import RELATIONS, Parameters
from tjlib.uncertainty.propagate import propagate
from tjlib.uncertainty.signals import Local
from tjlib.uncertainty.variants import RANDOM, VARIANTS, seeded

__all__ = ["CONTROLS", "GRIDS", "NOT_PRINTED", "SEEDS", "components", "default", "sensitivity"]

#: Seeds that a variant which draws is averaged over (ours; the paper names none).
SEEDS = 20

#: What is no part of RUPA and stands beside its parts.
CONTROLS = {"flat": "goal, observations and own uncertainty, averaged, without a graph",
            "n_steps": "steps of the agent"}

#: Settings of each number, one changed at a time: the grids of the authors' code where it has
#: one (delta, gamma, window, strengths), else ours. None is no cap; of a strength, factors.
GRIDS: dict[str, tuple] = {
    "window": (1, 3, 5, 7, 9), "delta": (0.4, 0.6, 0.8, 0.9, 0.97),
    "gamma": (0.5, 0.65, 0.75, 0.85, 0.95), "eta_g": (0, 0.25, 0.5, 0.7, 0.85, 1),
    "eta_m": (0, 0.15, 0.3, 0.5, 0.7), "lam_h": (0, 0.5, 1, 1.5, 2),
    "lam_u": (0, 0.5, 1, 1.5, 2), "p_max": (1, 1.5, 3, None),
    "temperature": (0.25, 0.5, 1, 2, np.inf), **dict.fromkeys(RELATIONS, (0, 0.5, 1, 1.25, 1.5)),
}

#: Numbers the paper prints no value of; the default is the authors' code's or ours.
NOT_PRINTED = ("p_max", "temperature")


def default(name: str) -> float | None:
    """Return the setting of `GRIDS` that changes nothing."""
    return 1 if name in RELATIONS else getattr(Parameters(), name)


def _scored(graphs, local, **settings) -> list[float | None]:
    return [propagate(graph, u, **settings).score for graph, u in zip(graphs, local, strict=True)]


def _column(*scorings: Sequence[float | None]) -> np.ndarray:
    return np.array(scorings, dtype=float).T.reshape(-1, len(scorings))


def components(
    graphs: Sequence[Graph], local: Sequence[Local], tasks: Sequence[str], seed: int,
    seeds: int = SEEDS,
) -> dict[str, np.ndarray]:
    """Score every run by every variant and control.

    Parameters
    ----------
    graphs, local, tasks : sequences, one item a run
    seed : int
        The first of the seeds.
    seeds : int
        Of the variants that draw.

    Returns
    -------
    dict of name to (n, k) array
        Names of `VARIANTS`, "unbounded" (no cap on what a step passes on)
        and `CONTROLS`; k is ``seeds`` for a variant that draws, else 1. NaN
        for a run without a step.
    """
    out = {}
    for name in VARIANTS:
        scorings = []
        for s in range(seed, seed + (seeds if name in RANDOM else 1)):
            rng = (seeded(s, task, graph.trajectory_id, name)
                   for task, graph in zip(tasks, graphs, strict=True))
            scorings.append([propagate(graph, u, variant=name, rng=r).score
                             for graph, u, r in zip(graphs, local, rng, strict=True)])
        out[name] = _column(*scorings)
    out["unbounded"] = _column(_scored(
        graphs, local, parameters=msgspec.structs.replace(graphs[0].parameters, p_max=None)))
    out["flat"] = _column([inputs(graph, u.u) if len(u.u) else None
                           for graph, u in zip(graphs, local, strict=True)])
    out["n_steps"] = _column([len(u.u) or None for u in local])
    return out


def sensitivity(
    graphs: Mapping[int, Sequence[Graph]], local: Sequence[Local], tasks: Sequence[str],
    progress: Callable = iter,
) -> dict[tuple[str, float | None], np.ndarray]:
    """Score every run under every setting of `GRIDS`, one number changed at a time.

    Parameters
    ----------
    graphs : mapping of window to sequence of Graph
        One for each window of the grid.
    local, tasks : sequences, one item a run
    progress : callable, optional
        Called as ``tqdm`` with the numbers' names.

    Returns
    -------
    dict of (name, setting) to (n, 1) array
        The temperature acts through equation 6 only, so its runs are scored
        with the reliabilities of the other half of the tasks.
    """
    base, out = Parameters(), {}
    for name in progress(GRIDS):
        for value in GRIDS[name]:
            if name in RELATIONS:
                changed = {"strengths": base.strengths | {name: base.strengths[name] * value}}
            else:
                changed = {name: value}
            parameters = msgspec.structs.replace(base, **changed)
            of = graphs[parameters.window]
            out[name, value] = _column(
                crossfit(of, local, tasks, parameters) if name == "temperature"
                else _scored(of, local, parameters=parameters))
    return out
