"""RUPA with a part taken away or a number changed, on the runs of a log or a stored set.

Decision: each run is scored anew by the equations, for every part and every
number alike, all runs and settings at once; what draws is scored with many
seeds. Refusal: no outcome comes in here, so nothing can be chosen by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from tjlib.uncertainty import batch as together
from tjlib.uncertainty.calibrate import reliabilities
from tjlib.uncertainty.controls import inputs
from tjlib.uncertainty.crossfit import crossed
from tjlib.uncertainty.graph import Graph
from tjlib.uncertainty.parameters import RELATIONS, Parameters
from tjlib.uncertainty.signals import Local
from tjlib.uncertainty.variants import RANDOM, seeded

__all__ = ["CONTROLS", "GRIDS", "NAMES", "NOT_PRINTED", "NUMBERS", "PARTS", "SEEDS", "components",
           "default", "sensitivity"]

#: Seeds that a variant which draws is averaged over (ours; the paper names none).
SEEDS = 20

#: What a figure calls the parts that are taken away, one a row.
PARTS = {
    "no_graph": "no graph", "no_propagation": "no propagation", "no_goal": "no goal",
    "no_momentum": "no momentum", "unbounded": "no cap on risk", "drop50": "half of the edges",
    "random_graph": "random sources", "sequential_only": "sequential, latest only",
    **{f"no_{name}": f"no {name}" for name in RELATIONS},
}

#: What is no part of RUPA and stands beside its parts.
CONTROLS = {"local_only": "own uncertainty only", "flat": "flat: no graph at all",
            "n_steps": "number of steps"}

#: Everything that a run is scored by.
NAMES = {"full": "full", **PARTS, **CONTROLS}

#: Settings of each number, one changed at a time: the grids of the authors' code where it has
#: one (delta, gamma, window, strengths), else ours. None is no cap; of a strength, factors.
GRIDS: dict[str, tuple] = {
    "window": (1, 3, 5, 7, 9), "delta": (0.4, 0.6, 0.8, 0.9, 0.97),
    "gamma": (0.5, 0.65, 0.75, 0.85, 0.95), "eta_g": (0, 0.25, 0.5, 0.7, 0.85, 1),
    "eta_m": (0, 0.15, 0.3, 0.5, 0.7), "lam_h": (0, 0.5, 1, 1.5, 2),
    "lam_u": (0, 0.5, 1, 1.5, 2), "p_max": (1, 1.5, 3, None),
    "temperature": (0.25, 0.5, 1, 2, np.inf), **dict.fromkeys(RELATIONS, (0, 0.5, 1, 1.25, 1.5)),
}

#: What a figure calls the numbers.
NUMBERS = {
    "window": "W, steps looked back", "delta": "delta, decay of edges",
    "gamma": "gamma, decay of momentum", "eta_g": "eta_g, graph", "eta_m": "eta_m, momentum",
    "lam_h": "lambda_h, history", "lam_u": "lambda_u, own uncertainty",
    "p_max": "cap on risk", "temperature": "T of equation 6",
    **{name: f"{name}, times" for name in RELATIONS},
}

#: Numbers the paper prints no value of; the default is the authors' code's or ours.
NOT_PRINTED = ("p_max", "temperature")


def default(name: str) -> float | None:
    """Return the setting of `GRIDS` that changes nothing."""
    return 1 if name in RELATIONS else getattr(Parameters(), name)


def _u(local: Sequence[Local]) -> np.ndarray:
    return np.concatenate([np.zeros(0), *(np.array(one.u, float) for one in local)])


def components(
    graphs: Sequence[Graph], local: Sequence[Local], tasks: Sequence[str], seed: int,
    seeds: int = SEEDS, names: Sequence[str] = tuple(NAMES),
) -> dict[str, np.ndarray]:
    """Score every run with a part taken away, and by the controls.

    Parameters
    ----------
    graphs, local, tasks : sequences, one item a run
        Graphs built with the default parameters.
    seed : int
        The first of the seeds.
    seeds : int
        Of what draws.
    names : sequence of str
        Of `NAMES`: the variants of `variants.VARIANTS`, "unbounded" (no cap
        on what a step passes on), "flat" (`controls.inputs`) and "n_steps".

    Returns
    -------
    dict of name to (n, k) array
        k is ``seeds`` for what draws, else 1. NaN for a run without a step.
    """
    batch, base = together.join(graphs), Parameters()
    columns, where = [], {}
    for name in names:
        if name in ("flat", "n_steps"):
            continue
        start = len(columns)
        if name == "unbounded":
            columns.append(together.column(batch, msgspec.structs.replace(base, p_max=None)))
        for s in range(seed, seed + seeds) if name in RANDOM else ():
            rngs = [seeded(s, task, graph.trajectory_id, name)
                    for task, graph in zip(tasks, graphs, strict=True)]
            columns.append(together.column(batch, base, name, rngs))
        if len(columns) == start:
            columns.append(together.column(batch, base, name))
        where[name] = slice(start, len(columns))
    found = together.scores(batch, _u(local), columns) if columns else None
    own = {"flat": lambda graph, u: inputs(graph, u.u) if len(u.u) else np.nan,
           "n_steps": lambda graph, u: len(u.u) or np.nan}
    return {name: found[:, where[name]] if name in where else
            np.array([[own[name](*run)] for run in zip(graphs, local, strict=True)],
                     float).reshape(-1, 1) for name in names}


def sensitivity(
    graphs: Mapping[int, Sequence[Graph]], local: Sequence[Local], tasks: Sequence[str],
) -> dict[tuple[str, float | None], np.ndarray]:
    """Score every run under every setting of `GRIDS`, one number changed at a time.

    Parameters
    ----------
    graphs : mapping of window to sequence of Graph
        One for each window of the grid.
    local, tasks : sequences, one item a run

    Returns
    -------
    dict of (name, setting) to (n, 1) array
        The temperature acts through equation 6 only, so its runs are scored
        with the reliabilities of the other half of the tasks; NaN where that
        half has nothing to calibrate on.
    """
    base, u, out = Parameters(), _u(local), {}
    batch = together.join(graphs[base.window])
    fitted = crossed(graphs[base.window], local, tasks)
    blind = np.array([one is None for one in fitted], bool)
    columns, keys = [], []
    for name, value in ((name, value) for name, grid in GRIDS.items() for value in grid):
        changed = {name: value}
        if name in RELATIONS:
            changed = {"strengths": base.strengths | {name: base.strengths[name] * value}}
        parameters = msgspec.structs.replace(base, **changed)
        if parameters.window != base.window:
            other = together.join(graphs[value])
            out[name, value] = together.scores(other, u, [together.column(other, parameters)])
            continue
        rho = _rho(batch, fitted, value) if name == "temperature" else None
        columns.append(together.column(batch, parameters, reliability=rho))
        keys.append((name, value))
    for key, scored in zip(keys, together.scores(batch, u, columns).T, strict=True):
        out[key] = np.where(blind & (key[0] == "temperature"), np.nan, scored)[:, None]
    return {(name, value): out[name, value] for name, grid in GRIDS.items() for value in grid}


def _rho(batch: together.Batch, fitted: Sequence, temperature: float) -> np.ndarray:
    """Give every edge its relation's reliability at a temperature, as its run's half has it."""
    table = {}
    for one in fitted:
        if one is not None and id(one) not in table:
            rho = reliabilities(one.mean, one.variance, temperature)[1]
            table[id(one)] = np.array([rho[name] for name in RELATIONS])
    of_run = [table.get(id(one), np.ones(len(RELATIONS))) for one in fitted]
    run = np.repeat(np.arange(len(fitted)), np.diff(batch.first_edge))
    return np.array(of_run).reshape(-1, len(RELATIONS))[run, batch.edges.relation]
