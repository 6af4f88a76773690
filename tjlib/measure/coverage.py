"""How many faults are left when the runs a score suspects most are handed to a human.

Decision: runs are kept from the lowest score up; runs that tie leave in random
order, whose expectation is exact and needs no draw, so a judge of two answers
has a curve like any score. Refusal: no threshold is recommended, and a score
that some run lacks has no curve, because it would be over other runs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from tjlib.measure.resample import bounds_or_why, replicate_weights

__all__ = ["AT", "area", "best", "left", "risk_coverage"]

#: Shares of runs kept at which a curve is drawn.
AT = tuple(np.round(np.linspace(0.05, 1, 20), 2).tolist())


def left(
    faulty: Sequence[bool], scores: Sequence[float], at: Sequence[float] = AT,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Return the share of faults among the runs kept.

    Parameters
    ----------
    faulty : (n,) sequence of bool
    scores : (n,) sequence of float
        Higher for likelier faulty; none missing.
    at : sequence of float
        Shares of runs kept, above 0 and at most 1.
    weights : (b, n) array, optional
        How often each run counts in each replicate; by default once.

    Returns
    -------
    (b, len(at)) array
        In [0, 1], lower is better.

    Examples
    --------
    >>> left([1, 0, 1, 0], [.9, .1, .5, .5], [.25, .5, 1.]).tolist()
    [[0.0, 0.25, 0.5]]
    """
    y, s = np.asarray(faulty, float), np.round(np.asarray(scores, float), 9)
    w = np.ones((1, len(s))) if weights is None else np.asarray(weights, float)
    levels, of = np.unique(s, return_inverse=True)
    in_level = np.zeros((len(s), len(levels)))
    in_level[np.arange(len(s)), of] = 1.0
    zero = np.zeros((len(w), 1))
    kept = np.hstack([zero, np.cumsum(w @ in_level, axis=1)])
    bad = np.hstack([zero, np.cumsum((w * y) @ in_level, axis=1)])
    at = np.asarray(at, float)
    # Inside a tie faults are met at the tie's own rate, so the count is a straight line.
    return np.array([np.interp(at * k[-1], k, b) / (at * k[-1])
                     for k, b in zip(kept, bad, strict=True)])


def best(faulty: Sequence[bool], at: Sequence[float] = AT) -> np.ndarray:
    """Return what a score that knows would leave: (len(at),)."""
    return left(faulty, np.asarray(faulty, float), at)[0]


def area(curve: np.ndarray) -> np.ndarray:
    """Average a curve over the shares of runs kept; lower is better."""
    return np.asarray(curve).mean(axis=-1)


def risk_coverage(
    faulty: Sequence[bool], scores: pd.DataFrame, cases: Sequence, rng: np.random.Generator, *,
    at: Sequence[float] = AT, draws: int = 500,
) -> pd.DataFrame:
    """Draw the curve of each score, with bands by whole cases.

    Parameters
    ----------
    faulty : (n,) sequence of bool
    scores : DataFrame
        One row a run, one column a score; columns with a missing value are
        left out.
    cases : (n,) sequence
        The case each run is of.
    rng : numpy.random.Generator
    at : sequence of float
    draws : int
        Resamples of cases, the same for every score.

    Returns
    -------
    DataFrame
        One row a score and share kept: scorer, kept, value (share of faults
        among them), lo, hi, and one with kept missing for the mean over all
        shares; why says why there is no interval.
    """
    names, case = np.unique(np.asarray(cases, str), return_inverse=True)
    once = np.ones(len(names), int)
    blocks = [w[:, case] for w in replicate_weights(once, np.zeros_like(once), rng, draws)]
    weights, out = np.concatenate(blocks), []
    for scorer in scores.columns[scores.notna().all()]:
        column = scores[scorer].to_numpy(float)
        point, drawn = left(faulty, column, at)[0], left(faulty, column, at, weights)
        for kept, value, of in [*zip(at, point, drawn.T, strict=True),
                                (None, area(point), area(drawn))]:
            lo, hi, why = bounds_or_why(of)
            out.append({"scorer": scorer, "kept": kept, "value": float(value), "lo": lo,
                        "hi": hi, "why": why})
    return pd.DataFrame(out, columns=["scorer", "kept", "value", "lo", "hi", "why"], dtype=object)
