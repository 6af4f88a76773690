"""Means over runs, and differences of means, with intervals by whole tasks.

Decision: all trials of a task are drawn together and one draw serves every
column and every difference, as in `tjlib.measure.compare`. Refusal: a run
without a value is left out of its column's mean and never counts as 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from tjlib.measure.resample import bounds_or_why, replicate_weights

__all__ = ["ONE_TASK", "means", "split"]

ONE_TASK = "undefined: all runs are of one task, and whole tasks are drawn"


def split(values: pd.DataFrame, failed: Sequence[bool]) -> pd.DataFrame:
    """Give runs that failed and runs that succeeded columns of their own, for `means`.

    Parameters
    ----------
    values : DataFrame
        One row a run.
    failed : (n,) sequence of bool or None
        Runs without an outcome have a value in neither.

    Returns
    -------
    DataFrame
        Columns "failed|COLUMN", then "successful|COLUMN".

    Examples
    --------
    >>> split(pd.DataFrame({"a": [1.0, 2.0]}), [True, None]).to_dict("list")
    {'failed|a': [1.0, nan], 'successful|a': [nan, nan]}
    """
    outcome = pd.Series(list(failed), index=values.index, dtype=object)
    return pd.concat([values.where(outcome.eq(known), np.nan).add_prefix(f"{name}|")
                      for name, known in (("failed", True), ("successful", False))], axis=1)


def means(
    values: pd.DataFrame, tasks: Sequence, rng: np.random.Generator, *,
    pairs: Sequence[tuple[str, str]] = (), draws: int = 2000, level: float = 0.95,
) -> pd.DataFrame:
    """Average columns over runs.

    Parameters
    ----------
    values : DataFrame
        One row a run; NaN where a run has no value.
    tasks : (n,) sequence
        The task each run is a trial of.
    rng : numpy.random.Generator
    pairs : sequence of (column, column)
        Differences to report, as "A - B"; the two need not have values for
        the same runs.
    draws, level : int, float
        Resamples of tasks; coverage of the percentile interval.

    Returns
    -------
    DataFrame
        One row per column, then per pair: what, value, lo, hi, n (runs with a
        value; of a pair the smaller) and why (there is no value or no interval).

    Raises
    ------
    ValueError
        If values and tasks differ in length.

    Examples
    --------
    >>> frame = pd.DataFrame({"a": [1.0, 2.0, None], "b": [0.0, None, 4.0]})
    >>> rng = np.random.default_rng(0)
    >>> means(frame, ["x", "x", "y"], rng, pairs=[("b", "a")])["value"].tolist()
    [1.5, 2.0, 0.5]
    """
    if len(values) != len(tasks):
        raise ValueError("values and tasks differ in length")
    x = values.to_numpy(dtype=float, na_value=np.nan)
    there = ~np.isnan(x)
    names, task = np.unique(np.asarray(tasks, dtype=str), return_inverse=True)
    sums, counts = np.zeros((2, len(names), x.shape[1]))
    np.add.at(sums, task, np.where(there, x, 0.0))
    np.add.at(counts, task, there)
    blocks = replicate_weights(np.ones(len(names), int), np.zeros(len(names), int), rng, draws)
    drawn = np.concatenate([_ratio(w @ sums, w @ counts) for w in blocks]) if len(x) else None
    point, n = _ratio(sums.sum(axis=0), counts.sum(axis=0)), there.sum(axis=0)
    at = {name: i for i, name in enumerate(values.columns)}
    rows = []
    for of in [(name,) for name in values.columns] + list(pairs):
        i = [at[name] for name in of]
        value = point[i[0]] - (point[i[1]] if len(i) == 2 else 0.0)
        row = {"what": " - ".join(of), "value": None, "lo": None, "hi": None,
               "n": int(n[i].min()), "why": "undefined: no run has a value"}
        if not np.isnan(value):
            lo, hi, why = (None, None, ONE_TASK) if len(names) == 1 else bounds_or_why(
                drawn[:, i[0]] - (drawn[:, i[1]] if len(i) == 2 else 0.0), level)
            row |= {"value": float(value), "lo": lo, "hi": hi, "why": why}
        rows.append(row)
    return pd.DataFrame(rows, dtype=object)


def _ratio(total: np.ndarray, count: np.ndarray) -> np.ndarray:
    return np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
