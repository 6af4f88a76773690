"""Where the riskiest step of a run falls, and what surrounds it, beside every other step.

Decision: a step is described by the same numbers whether or not it is the
riskiest, so that a figure about peaks has its comparison in the same table,
and where a peak would fall by itself is computed and not taken for even
(section 3 of the RUPA paper defines neither). Refusal: nothing here knows how
a run ended, and a peak is no proof of where something went wrong.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from tjlib.uncertainty.calibrate import Reliability
from tjlib.uncertainty.parameters import RELATIONS
from tjlib.uncertainty.prefix import KINDS
from tjlib.uncertainty.propagate import Propagation, propagate
from tjlib.uncertainty.signals import Local

__all__ = ["around", "dealt", "describe", "fifths", "spread"]


#: Parts a run is cut into.
_PARTS = 5


def fifths(steps: int) -> np.ndarray:
    """Say which fifth of its run each step falls into, by its place from 0 (first) to 1 (last).

    Of few steps not each fifth gets as many, and the last holds both the last
    step and its own lower end: a peak anywhere at random is not spread evenly.

    Parameters
    ----------
    steps : int
        Steps of the run.

    Returns
    -------
    (steps,) int array
        From 0; of a run of one step, which has no place, -1.

    Examples
    --------
    >>> fifths(6).tolist(), fifths(1).tolist()
    ([0, 1, 2, 3, 4, 4], [-1])
    """
    if steps == 1:
        return np.array([-1])
    return np.minimum(_PARTS * np.arange(steps) // max(steps - 1, 1), _PARTS - 1)


def spread(steps: pd.DataFrame, chance: str = "peak") -> pd.DataFrame:
    """Return how much of each run's chance lies in each fifth of it.

    Parameters
    ----------
    steps : DataFrame
        Of `describe`, for any number of runs.
    chance : str
        The column that says how likely each step is the one meant: ``peak``,
        ``any``, or one of `dealt`.

    Returns
    -------
    DataFrame
        Indexed by trajectory_id, columns 0 to 4; rows add up to 1, and a run
        of one step has none.
    """
    placed = steps[steps["fifth"] >= 0]
    table = placed.pivot_table(chance, "trajectory_id", "fifth", "sum", sort=False)
    return table.reindex(columns=range(_PARTS)).fillna(0.0)


def describe(run: Propagation, risk: str = "R") -> pd.DataFrame:
    """Describe every step of a run by the same numbers.

    Parameters
    ----------
    run : Propagation
    risk : str
        What is highest at the peak: "R", or "U", the step's own uncertainty.

    Returns
    -------
    DataFrame
        One row a step: trajectory_id, step, fifth, position (0 first, 1 last;
        missing in a run of one step), peak (1 at the first step of the highest
        risk, else 0), any (the same for each step, 1 in sum), U, Q, R;
        share|RELATION, the part of the weight into the step that comes along a
        relation (missing if nothing comes); repetition, the closest match of an
        earlier step it repeats, and failing, the highest uncertainty of the
        observations since the step before (both in [0, 1], 0 without).
    """
    graph, edges, weight = run.graph, run.weighted.edges, run.weighted.weight
    n = len(graph.agent)
    at = np.searchsorted(graph.agent, edges.target)
    total = np.bincount(at, weight, n)
    out = {"trajectory_id": graph.trajectory_id, "step": np.arange(n), "fifth": fifths(n),
           "position": np.arange(n) / (n - 1) if n > 1 else np.full(n, np.nan),
           "U": run.u, "Q": run.q, "R": run.r}
    out["peak"] = (np.arange(n) == (np.argmax(out[risk]) if n else -1)).astype(float)
    out["any"] = np.full(n, 1 / max(n, 1))
    for code, name in enumerate(RELATIONS):
        part = np.bincount(at, weight * (edges.relation == code), n)
        out[f"share|{name}"] = np.divide(part, total, out=np.full(n, np.nan), where=total > 0)
    again, failing = np.zeros(n), np.zeros(n)
    repeats = edges.relation == RELATIONS.index("repetition")
    np.maximum.at(again, at[repeats], edges.match[repeats])
    observed = np.flatnonzero(graph.kind == KINDS.index("env"))
    after = np.searchsorted(graph.agent, observed)  # the step that reads it first
    seen = after < n
    np.maximum.at(failing, after[seen], graph.uncertainty[observed[seen]])
    return pd.DataFrame(out | {"repetition": again, "failing": failing})


def dealt(
    run: Propagation, rng: np.random.Generator, draws: int = 20,
    reliability: Reliability | None = None,
) -> np.ndarray:
    """Say how often each step is the riskiest when the run's values are dealt to it at random.

    What a step brings with it (U and Q) is dealt among the steps, what an
    observation brings among the observations; which edges there are stays as
    it was. What is left of a preference for late steps is the recursion's.

    Parameters
    ----------
    run : Propagation
    rng : numpy.random.Generator
    draws : int
    reliability : Reliability, optional
        The one the run was propagated with.

    Returns
    -------
    (steps,) array
        Shares of draws, 1 in sum.
    """
    graph, out = run.graph, np.zeros(len(run.r))
    env = np.flatnonzero(graph.kind == KINDS.index("env"))
    for _ in range(draws if len(out) else 0):
        order, uncertainty = rng.permutation(len(out)), graph.uncertainty.copy()
        uncertainty[env] = rng.permutation(uncertainty[env])
        other = graph._replace(q=graph.q[order], uncertainty=uncertainty)
        done = propagate(other, Local(tuple(run.u[order].tolist()), run.source),
                         parameters=run.parameters, reliability=reliability)
        out[np.argmax(done.r)] += 1 / draws
    return out


def around(steps: pd.DataFrame, columns: Iterable[str], chance: str = "peak") -> pd.DataFrame:
    """Put one step of each run beside the mean of its other steps.

    Parameters
    ----------
    steps : DataFrame
        Of `describe`, for any number of runs.
    columns : iterable of str
        Which of its numbers.
    chance : str
        As `spread`; a step of which it is only likely that it is the one
        meant counts on both sides by that likelihood.

    Returns
    -------
    DataFrame
        Indexed by trajectory_id, in the order given: COLUMN|peak,
        COLUMN|others (missing in a run of one step) and COLUMN|more, the
        first minus the second.
    """
    who, weight, out = steps["trajectory_id"], steps[chance], {}
    for column in columns:
        there = steps[column].notna()
        for name, w in (("peak", weight), ("others", 1 - weight)):
            sums = (pd.DataFrame({"x": w * steps[column], "w": w})[there]
                    .groupby(who[there], sort=False).sum())
            out[f"{column}|{name}"] = (sums["x"] / sums["w"]).where(sums["w"] > 1e-9)
        out[f"{column}|more"] = out[f"{column}|peak"] - out[f"{column}|others"]
    return pd.DataFrame(out).reindex(who.unique())
