"""Resampling with whole units: multinomial weights, percentile and BCa bounds, exact binomial.

Decision: rows that are equal are drawn together, as multinomial counts of
groups inside strata whose sizes every replicate keeps, so a statistic that is
linear in the rows is one matrix product for all replicates. Refusal: no
hidden random state (a generator is passed in), no metric, and no bound where
no replicate defines one (NaN, which the callers turn into a reason).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import stats

__all__ = [
    "FIXED", "NEVER", "SAME", "SPREAD", "bca", "bounds_or_why", "clopper_pearson", "leave_one_out",
    "percentile", "replicate_weights",
]

#: Why a value has no interval.
FIXED = "structural: the same verdict on every trajectory of a design cell"
NEVER = "undefined: no replicate defines the interval"
SAME = "undefined: every replicate gives the same value"
#: Sums of the same numbers in another order differ by less.
SPREAD = 1e-12

_CHUNK = 1_000_000  # numbers held at once: 8 MB, so memory does not grow with the draws
_FEW = 8  # rows a group below which drawing rows is faster than drawing counts (measured)


def clopper_pearson(k: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Return the exact binomial interval of k successes in n trials.

    Parameters
    ----------
    k, n : int
        Successes and trials, 0 <= k <= n and n > 0.
    level : float
        Coverage.

    Returns
    -------
    lo, hi : float

    References
    ----------
    Paper section 5: used where a proportion is exactly 0 or 1.

    Examples
    --------
    >>> [round(float(x), 4) for x in clopper_pearson(0, 100)]
    [0.0, 0.0362]
    """
    tail = (1 - level) / 2
    lo = stats.beta.ppf(tail, k, n - k + 1) if k > 0 else 0.0
    hi = stats.beta.ppf(1 - tail, k + 1, n - k) if k < n else 1.0
    return float(lo), float(hi)


def replicate_weights(
    groups: np.ndarray, cells: np.ndarray, rng: np.random.Generator, draws: int
) -> Iterator[np.ndarray]:
    """Draw how often each group of equal rows appears in each bootstrap replicate.

    Parameters
    ----------
    groups : (P,) int array
        Rows in each group.
    cells : (P,) int array
        Stratum of each group; its size is kept in every replicate.
    rng : numpy.random.Generator
    draws : int
        Replicates.

    Yields
    ------
    (b, P) float array
        Blocks of replicates, ``draws`` in all; each row sums to each
        stratum's size.

    Examples
    --------
    >>> w = next(replicate_weights(np.array([3, 1]), np.zeros(2, int), np.random.default_rng(0), 4))
    >>> w.sum(axis=1).tolist()
    [4.0, 4.0, 4.0, 4.0]
    """
    cells_of = [np.flatnonzero(cells == c) for c in np.unique(cells)]
    totals = [groups[at].sum() for at in cells_of]
    block = max(1, _CHUNK // max(1, len(groups), sum(
        total for total, at in zip(totals, cells_of, strict=True) if total < _FEW * len(at))))
    for start in range(0, draws, block):
        size = min(block, draws - start)
        out = np.empty((size, len(groups)))
        for at, total in zip(cells_of, totals, strict=True):
            if total < _FEW * len(at):
                out[:, at] = _counts(groups[at], total, rng, size)
            else:
                out[:, at] = rng.multinomial(total, groups[at] / total, size)
        yield out


def _counts(groups, total, rng, size) -> np.ndarray:
    """Draw the same multinomial by drawing every row and counting."""
    group_of = np.repeat(np.arange(len(groups)), groups)
    drawn = group_of[rng.integers(0, total, (size, total), dtype=np.int32)]
    drawn += len(groups) * np.arange(size)[:, None]
    return np.bincount(drawn.ravel(), minlength=size * len(groups)).reshape(size, -1)


def leave_one_out(groups: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the jackknife's weights: row by row, one unit of one group left out.

    Parameters
    ----------
    groups : (P,) int array
        Units in each group, at least one.

    Yields
    ------
    (b, P) float array
        Blocks of rows, P in all.

    Examples
    --------
    >>> next(leave_one_out(np.array([3, 1]))).tolist()
    [[2.0, 1.0], [3.0, 0.0]]
    """
    block = max(1, _CHUNK // len(groups))
    for start in range(0, len(groups), block):
        rows = np.arange(min(block, len(groups) - start))
        out = np.tile(groups.astype(float), (len(rows), 1))
        out[rows, start + rows] -= 1
        yield out


def percentile(draws: np.ndarray, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Return the percentile interval along the last axis, over the defined draws.

    Parameters
    ----------
    draws : (..., B) array
        Replicates, NaN where undefined.
    level : float

    Returns
    -------
    lo, hi : (...) arrays
        NaN where no replicate is defined.

    Examples
    --------
    >>> lo, hi = percentile(np.arange(101.0))
    >>> float(lo), float(hi)
    (2.5, 97.5)
    """
    tail = 50 - 50 * level
    bounds = np.percentile(draws, [tail, 100 - tail], axis=-1)
    for at in map(tuple, np.argwhere(np.isnan(bounds[0]))):
        defined = draws[at][~np.isnan(draws[at])]
        if len(defined):
            bounds[(slice(None), *at)] = np.percentile(defined, [tail, 100 - tail])
    return bounds[0], bounds[1]


def bounds_or_why(
    draws: np.ndarray, level: float = 0.95, *, fixed: bool = False
) -> tuple[float | None, float | None, str]:
    """Return one statistic's percentile interval, or the reason there is none.

    Parameters
    ----------
    draws : (B,) array
        Replicates, NaN where undefined.
    level : float
    fixed : bool
        The statistic is of a judge that is a rule, so equal replicates are
        by construction.

    Returns
    -------
    lo, hi : float or None
    why : str
        Empty where there is an interval.

    Examples
    --------
    >>> bounds_or_why(np.ones(3))
    (None, None, 'undefined: every replicate gives the same value')
    """
    defined = draws[~np.isnan(draws)]
    if not len(defined):
        return None, None, NEVER
    if np.ptp(defined) < SPREAD:
        return None, None, FIXED if fixed else SAME
    lo, hi = percentile(defined, level)
    return float(lo), float(hi), ""


def bca(
    draws: np.ndarray, point: np.ndarray, jackknife: np.ndarray, groups: np.ndarray,
    strata: np.ndarray, level: float = 0.95,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the bias-corrected and accelerated interval along the last axis.

    Parameters
    ----------
    draws : (..., B) array
        Replicates.
    point : (...) array
        The statistic on the data.
    jackknife : (..., P) array
        The statistic with one unit of each group left out.
    groups, strata : (P,) int arrays
        Units in each group, and the group's stratum.
    level : float

    Returns
    -------
    lo, hi : (...) arrays
        NaN where the correction is undefined (no spread, or a point outside
        every replicate).

    References
    ----------
    Efron (1987), with the several-sample acceleration that
    `scipy.stats.bootstrap` uses.
    """
    top = bottom = 0.0
    for c in np.unique(strata):
        at = strata == c
        size = groups[at].sum()
        centre = (jackknife[..., at] * groups[at]).sum(axis=-1, keepdims=True) / size
        pull = (size - 1) * (centre - jackknife[..., at]) / size
        top = top + (groups[at] * pull**3).sum(axis=-1)
        bottom = bottom + (groups[at] * pull**2).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        a = top / (6 * bottom**1.5)
        below = (draws < point[..., None]).mean(axis=-1)
        z0 = stats.norm.ppf((below + (draws <= point[..., None]).mean(axis=-1)) / 2)
        bounds = []
        for z in stats.norm.ppf([(1 - level) / 2, (1 + level) / 2]):
            share = stats.norm.cdf(z0 + (z0 + z) / (1 - a * (z0 + z)))
            bounds.append(np.full(point.shape, np.nan))
            for at in np.ndindex(point.shape):
                if np.isfinite(share[at]) and not np.isnan(draws[at]).any():
                    bounds[-1][at] = np.percentile(draws[at], 100 * share[at])
    return bounds[0], bounds[1]
