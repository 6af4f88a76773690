"""When a score that runs along would raise an alarm, at a budget of false alarms.

Decision: the threshold that a run is held to comes from the successful runs
of the other half of the tasks, so the budget is a promise that can be seen to
fail. Refusal: no threshold is set on the runs it is reported for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from tjlib.measure.compare import compare

__all__ = ["alarms", "bins", "precisions", "threshold"]

COLUMNS = ["alarm", "step", "left", "delay"]


def threshold(successful: Sequence[np.ndarray], budget: float) -> float | None:
    """Return the least threshold that at most a share of successful runs ever exceeds.

    Parameters
    ----------
    successful : sequence of (steps,) array
        Running scores, each with a step.
    budget : float
        Share of runs allowed to exceed it, in [0, 1).

    Returns
    -------
    float or None
        One of the runs' own peaks; None without a run.

    Examples
    --------
    >>> threshold([np.array([1.0, 3.0]), np.array([2.0]), np.array([0.0])], 0.34)
    2.0
    """
    peaks = sorted((float(np.max(run)) for run in successful), reverse=True)
    return peaks[int(budget * len(peaks) + 1e-9)] if peaks else None


def alarms(
    runs: Sequence[np.ndarray], failed: Sequence[bool], side: Sequence[int], budget: float
) -> pd.DataFrame:
    """Hold each run to the threshold of the other half and note its first alarm.

    Parameters
    ----------
    runs : sequence of (steps,) array
        Running scores, higher is likelier to fail.
    failed : (n,) sequence of bool
    side : (n,) sequence of int
        The half, 0 or 1, of each run's task.
    budget : float
        Share of successful runs that may raise an alarm, in [0, 1).

    Returns
    -------
    DataFrame
        One row a run: alarm (1, 0, or missing where the other half has no
        successful run, or the run no step), step (of the first alarm, from
        1), left (steps of the run still to come then), delay (steps until
        the alarm, or until the run is over where there is none).

    Examples
    --------
    >>> runs = [np.array([1.0]), np.array([0.0, 2.0, 2.0])]
    >>> alarms(runs, [False, True], [0, 1], 0.1).loc[1].tolist()
    [1.0, 2.0, 1.0, 2.0]
    """
    limits = {half: threshold([run for run, bad, s in zip(runs, failed, side, strict=True)
                               if s != half and not bad and len(run)], budget) for half in (0, 1)}
    rows = []
    for run, s in zip(runs, side, strict=True):
        row = dict.fromkeys(COLUMNS, np.nan)
        if len(run) and limits[s] is not None:
            over = np.flatnonzero(run > limits[s])
            row |= {"alarm": float(len(over) > 0), "delay": float(len(run))}
            if len(over):
                row |= {"step": over[0] + 1.0, "left": float(len(run) - over[0] - 1),
                        "delay": over[0] + 1.0}
        rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS, dtype=float)


def precisions(
    scores: Mapping[str, np.ndarray], failed: Sequence[bool], tasks: Sequence,
    rng: np.random.Generator, *, draws: int = 2000, level: float = 0.95,
) -> pd.DataFrame:
    """Measure each score's average precision, on the runs that all of them have.

    Parameters
    ----------
    scores : mapping of name to (n, 1) array
        Higher is likelier to fail; NaN where a run has none.
    failed, tasks : (n,) sequences
    rng : numpy.random.Generator
    draws, level : int, float
        Resamples of whole tasks; coverage of the percentile interval.

    Returns
    -------
    DataFrame
        One row per name: name, value, lo, hi (in [0, 1], higher is better),
        prevalence (share of failures, what no knowledge gives), n, why.

    Examples
    --------
    >>> s = {"a": np.array([[3.0], [2.0], [1.0]])}
    >>> t = precisions(s, [1, 0, 1], ["x", "y", "z"], np.random.default_rng(0), draws=50)
    >>> t["value"].round(4).tolist(), t["prevalence"].round(4).tolist()
    ([0.8333], [0.6667])
    """
    table = compare(pd.DataFrame({name: column[:, 0] for name, column in scores.items()}), failed,
                    tasks, rng, draws=draws, level=level, metrics=["average_precision"])
    rows = table.rename(columns={"method": "name"})[["name", "value", "lo", "hi", "n", "why"]]
    # Where all runs ended alike there is no value, but still a share of failures.
    return rows.assign(prevalence=[
        failures / n if n else None for failures, n in zip(table["n_failed"], table["n"],
                                                           strict=True)])


def bins(values: Sequence[float], n: int = 5) -> np.ndarray:
    """Sort values into bins of about equal number.

    Parameters
    ----------
    values : (n,) sequence of float
        NaN stands in no bin.
    n : int
        Bins; where quantiles coincide there are fewer.

    Returns
    -------
    (n,) int array
        From 0, the lowest; -1 for NaN.

    Examples
    --------
    >>> bins([5.0, 1.0, 2.0, 4.0, float("nan")], 2).tolist()
    [1, 0, 0, 1, -1]
    """
    x = np.asarray(values, float)
    known = ~np.isnan(x)
    out = np.full(len(x), -1)
    if known.any():
        edges = np.unique(np.quantile(x[known], np.linspace(0, 1, n + 1)))
        out[known] = np.searchsorted(edges[1:-1], x[known], side="left")
    return out
