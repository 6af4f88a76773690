"""The scores of a run while it is going on: all prefixes in one pass.

Decision: a step's risk depends on what came before it, so the running mean of
the risks is the score of every prefix; the controls run along likewise. A
prefix ends with a step, before what the step will observe. Refusal: a share
of a run is cut only where the caller asks for it, for it takes the run's
length, which nobody knows while it goes on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tjlib.uncertainty.baselines import saup_so_far
from tjlib.uncertainty.evidence import Evidence
from tjlib.uncertainty.graph import Graph
from tjlib.uncertainty.prefix import KINDS
from tjlib.uncertainty.propagate import propagate
from tjlib.uncertainty.signals import Local
from tjlib.uncertainty.tracer import tracer_so_far

__all__ = ["METHODS", "OF_TEXT", "SHARES", "STEPS", "at_share", "at_steps", "running"]

#: What runs along, and what a figure calls it.
METHODS = {"rupa_structural": "RUPA, structural", "rupa": "RUPA, own uncertainty",
           "flat": "flat: no graph", "sp_mean": "own uncertainty, mean",
           "saup_rms": "SAUP, root mean square", "saup_d": "SAUP, distances", "tracer": "TRACER",
           "n_steps": "steps so far"}
#: Those that read the text of a run, so that stored numbers do not give them.
OF_TEXT = ("saup_d", "tracer")

#: Where runs are cut (the grids of the authors' code).
STEPS = (1, 2, 4, 8, 12, 16)
SHARES = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0)


def _mean_so_far(values: np.ndarray) -> np.ndarray:
    return np.cumsum(values) / np.arange(1, len(values) + 1)


def running(
    graph: Graph, local: Local, summed: Sequence[float] | None = None,
    evidence: Evidence | None = None,
) -> dict[str, np.ndarray]:
    """Score every prefix of a run.

    Parameters
    ----------
    graph : Graph
    local : Local
        One value an agent step; constant where a log has none.
    summed : sequence of float, optional
        What SAUP takes of each step, if not ``local``.
    evidence : Evidence, optional
        The run's text, for the methods of `OF_TEXT`.

    Returns
    -------
    dict of method to (steps,) array
        Names of `METHODS`, higher is likelier to fail; those that need own
        uncertainty are left out where it is constant, those that need text
        where there is none.
    """
    same = Local((0.0,) * len(graph.agent), "constant")
    is_env = graph.kind == KINDS.index("env")
    count = np.cumsum(is_env)[graph.agent]
    total = np.cumsum(np.where(is_env, graph.uncertainty, 0.0))[graph.agent]
    observed = np.divide(total, count, out=np.zeros(len(count)), where=count > 0)
    out = {"rupa_structural": _mean_so_far(propagate(graph, same).r),
           "flat": _mean_so_far(graph.q) + observed,
           "n_steps": np.arange(1, len(graph.agent) + 1, dtype=float)}
    if local.source != "constant":
        out |= {"rupa": _mean_so_far(propagate(graph, local).r),
                "sp_mean": _mean_so_far(np.array(local.u, float)),
                "saup_rms": np.sqrt(_mean_so_far(np.square(
                    local.u if summed is None else summed, dtype=float)))}
    if evidence is not None:
        out["tracer"] = np.array(tracer_so_far(evidence), float)
        if evidence.has_logprobs:
            out["saup_d"] = np.array(saup_so_far(evidence), float)
    return {name: out[name] for name in METHODS if name in out}


def at_steps(runs: Sequence[np.ndarray], k: int, *, going: bool = False) -> np.ndarray:
    """Give the score after k steps, of a shorter run the last.

    Parameters
    ----------
    runs : sequence of (steps,) array
        Of one method.
    k : int
        At least 1.
    going : bool
        Only of runs that are that long; NaN for the others.

    Returns
    -------
    (n, 1) array
        NaN for a run without a step.

    Examples
    --------
    >>> at_steps([np.array([1.0, 2.0]), np.array([3.0])], 2).ravel().tolist()
    [2.0, 3.0]
    """
    return np.array([[run[min(k, len(run)) - 1] if len(run) >= (k if going else 1) else np.nan]
                     for run in runs], float).reshape(-1, 1)


def at_share(runs: Sequence[np.ndarray], share: float) -> np.ndarray:
    """Give the score after a share of each run's steps, at least one.

    Parameters
    ----------
    runs : sequence of (steps,) array
    share : float
        Above 0, at most 1.

    Returns
    -------
    (n, 1) array
        NaN for a run without a step.

    Examples
    --------
    >>> at_share([np.arange(1.0, 11.0), np.array([7.0])], 0.3).ravel().tolist()
    [3.0, 7.0]
    """
    # A share times a length that should be whole must not be rounded up for its last digit.
    return np.array([[run[max(1, math.ceil(share * len(run) - 1e-9)) - 1] if len(run) else np.nan]
                     for run in runs], float).reshape(-1, 1)
