"""What one success costs, and how far apart results of one rule lie.

Decision: a cost per success is total cost over successes, and its interval is that of successes
per cost turned over, so a resample without a success makes it open at the top. Refusal: where
nothing succeeded there is no cost of a success.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from tjlib.measure.by_task import ONE_TASK
from tjlib.measure.resample import bounds_or_why, replicate_weights

__all__ = ["per_success", "same_rule"]


def per_success(
    cost: Sequence[float], success: Sequence[float], tasks: Sequence, rng: np.random.Generator, *,
    draws: int = 2000, level: float = 0.95,
) -> dict:
    """Divide what all tries cost by how many succeeded, with an interval by whole tasks.

    Parameters
    ----------
    cost : (n,) sequence of float
        Of each try, at least 0; NaN if not known, which leaves the try out.
    success : (n,) sequence of float
        0 or 1.
    tasks : (n,) sequence
    rng : numpy.random.Generator
    draws, level : int, float
        Resamples of tasks; coverage of the percentile interval.

    Returns
    -------
    dict
        value, lo, hi (infinite if a resample may have no success), why.

    Examples
    --------
    >>> per_success([3.0, 5.0], [1, 1], ["a", "b"], np.random.default_rng(0))["value"]
    4.0
    """
    cost, success = np.asarray(cost, float), np.asarray(success, float)
    known = ~np.isnan(cost)
    names, task = np.unique(np.asarray(tasks, str)[known], return_inverse=True)
    sums = np.zeros((len(names), 2))
    np.add.at(sums, task, np.column_stack([success[known], cost[known]]))
    won, paid = sums.sum(axis=0)
    row = {"value": None, "lo": None, "hi": None, "why": "undefined: no cost is recorded"}
    if not len(names):
        return row
    if not won:
        return row | {"why": "undefined: nothing succeeded"}
    row |= {"value": float(paid / won), "why": ONE_TASK if len(names) == 1 else ""}
    if len(names) == 1 or not paid:
        return row
    drawn = np.concatenate([w @ sums for w in replicate_weights(
        np.ones(len(names), int), np.zeros(len(names), int), rng, draws)])
    drawn = drawn[drawn[:, 1] > 0]
    lo, hi, why = bounds_or_why(drawn[:, 0] / drawn[:, 1], level)
    return row | {"why": why} | ({} if why else {"lo": 1 / hi, "hi": 1 / lo if lo else math.inf})


def same_rule(
    table: pd.DataFrame, of: Sequence[str] = ("entropy", "saup", "tracer"), other: str = "rupa",
) -> pd.DataFrame:
    """Compare a result with results that are runs of one other rule under several names.

    Parameters
    ----------
    table : DataFrame
        Columns model, benchmark, selector, accuracy: each selector once for each of the others.
    of : sequence of str
        Selectors that are one rule.
    other : str
        The selector that is not.

    Returns
    -------
    DataFrame
        One row a model and benchmark: mean (of the rule's results), spread (largest minus
        smallest), sd (of the results, n - 1), lead (of the other over the mean), over_best (over
        the largest of them), gain (of the mean over random).

    Examples
    --------
    >>> t = pd.DataFrame([("m", "b", s, a) for s, a in (
    ...     ("random", .1), ("entropy", .2), ("saup", .25), ("tracer", .3), ("rupa", .4))],
    ...     columns=["model", "benchmark", "selector", "accuracy"])
    >>> same_rule(t)[["mean", "spread", "lead", "over_best"]].round(2).values.tolist()
    [[0.25, 0.1, 0.15, 0.1]]
    """
    wide = table.pivot_table(index=["model", "benchmark"], columns="selector", values="accuracy",
                             sort=False)
    one = wide[list(of)]
    return pd.DataFrame({
        "mean": one.mean(axis=1), "spread": one.max(axis=1) - one.min(axis=1),
        "sd": one.std(axis=1), "lead": wide[other] - one.mean(axis=1),
        "over_best": wide[other] - one.max(axis=1),
        "gain": one.mean(axis=1) - wide["random"]}).reset_index()
