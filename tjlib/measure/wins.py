"""AUROCs as wins of failed over successful runs, so that scores that draw can be averaged.

Decision: an AUROC is a mean over pairs of runs, so the wins of several seeds
are averaged pair by pair, and wins added up by task make an interval by whole
tasks one small product. Refusal: the scores of seeds are never averaged,
which would rank by a committee that nobody ran.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from tjlib.measure.by_task import ONE_TASK
from tjlib.measure.resample import bounds_or_why, replicate_weights

__all__ = ["NO_PAIR", "changes", "direction", "wins"]

NO_PAIR = "undefined: no pair of a failed and a successful run to compare"


def wins(failed: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Tell in which pairs the failed run has the higher score.

    Parameters
    ----------
    failed : (n,) bool array
    scores : (n, k) array
        Higher means more likely to fail; k scorings of the same runs.

    Returns
    -------
    (failed, successful) array
        In [0, 1]: the share of the k scorings in which the failed run is
        above, ties one half.

    Examples
    --------
    >>> wins(np.array([True, False, False]), np.array([[2.0], [1.0], [2.0]])).tolist()
    [[1.0, 0.5]]
    """
    high, low = scores[failed], scores[~failed]
    total = np.zeros((len(high), len(low)))
    for k in range(scores.shape[1]):
        total += 0.5 + 0.5 * np.sign(high[:, k, None] - low[None, :, k])
    return total / scores.shape[1]


def direction(row: Mapping) -> str:
    """Tell which way a change of `changes` goes beyond its interval.

    Returns
    -------
    {"lower", "higher", "open"}
        Open where the interval holds 0 or there is none.

    Examples
    --------
    >>> direction({"change_lo": -0.2, "change_hi": -0.1}), direction({"change_lo": None})
    ('lower', 'open')
    """
    if row["change_lo"] is None:
        return "open"
    return "higher" if row["change_lo"] > 0 else "lower" if row["change_hi"] < 0 else "open"


def changes(
    scores: Mapping[str, np.ndarray], against: Mapping[str, str], failed: Sequence[bool],
    tasks: Sequence, rng: np.random.Generator, *, strata: Sequence | None = None,
    draws: int = 2000, level: float = 0.95,
) -> pd.DataFrame:
    """Measure how well each score ranks, and how much better or worse than another.

    Parameters
    ----------
    scores : mapping of name to (n, k) array
        One row a run; k scorings, of one seed each, whose AUROCs are
        averaged. NaN where a run has none: such a run is left out for all.
    against : mapping of name to name
        What each is compared with; the rest have no change.
    failed, tasks : (n,) sequences
    rng : numpy.random.Generator
    strata : (n,) sequence, optional
        Only pairs that share one count. A stratum should reach over several
        tasks: of a task drawn twice the pairs count four times.
    draws, level : int, float
        Resamples of tasks; coverage of the percentile interval.

    Returns
    -------
    DataFrame
        One row per name: name, value, lo, hi (AUROC in [0, 1], higher ranks
        failed runs higher), change, change_lo, change_hi (this minus the
        other, of the same draws), why, change_why, n, pairs.

    Examples
    --------
    >>> s = {"a": np.array([[2.0], [1.0]]), "b": np.array([[1.0], [2.0]])}
    >>> t = changes(s, {"b": "a"}, [1, 0], ["x", "y"], np.random.default_rng(0), draws=100)
    >>> t["value"].tolist(), t["change"].tolist()
    ([1.0, 0.0], [None, -1.0])
    """
    keep = np.ones(len(failed), bool)
    for column in scores.values():
        keep &= ~np.isnan(column).any(axis=1)
    y, n = np.asarray(failed, bool)[keep], int(keep.sum())
    names, task = np.unique(np.asarray(tasks, str)[keep], return_inverse=True)
    there = np.ones((y.sum(), (~y).sum()))
    if strata is not None:
        of = np.asarray(strata)[keep]
        there = (of[y][:, None] == of[~y][None]).astype(float)
    in_task = np.zeros((len(y), len(names)))
    in_task[np.arange(n), task] = 1.0
    one = {name: in_task[y].T @ (wins(y, column[keep]) * there) @ in_task[~y]
           for name, column in scores.items()}
    count, pairs = in_task[y].T @ there @ in_task[~y], int(there.sum())
    drawn = {name: [] for name in scores}
    if pairs:
        for w in replicate_weights(np.ones(len(names), int), np.zeros(len(names), int), rng, draws):
            total = np.einsum("bt,bt->b", w @ count, w)
            for name, won in one.items():
                drawn[name].append(np.divide(
                    np.einsum("bt,bt->b", w @ won, w), total,
                    out=np.full(len(w), np.nan), where=total > 0))
    rows = []
    for name, won in one.items():
        row = {"name": name} | dict.fromkeys(
            ("value", "lo", "hi", "change", "change_lo", "change_hi"))
        row |= {"why": NO_PAIR, "change_why": NO_PAIR if name in against else "", "n": n,
                "pairs": pairs}
        if pairs:
            mine = np.concatenate(drawn[name])
            row |= _interval("", won.sum() / pairs, mine, len(names), level)
        if pairs and name in against:
            other = against[name]
            row |= _interval("change_", (won.sum() - one[other].sum()) / pairs,
                             mine - np.concatenate(drawn[other]), len(names), level)
        rows.append(row)
    return pd.DataFrame(rows, dtype=object)


def _interval(prefix: str, value: float, drawn: np.ndarray, tasks: int, level: float) -> dict:
    lo, hi, why = bounds_or_why(drawn, level) if tasks > 1 else (None, None, ONE_TASK)
    return {prefix.rstrip("_") or "value": float(value), f"{prefix}lo": lo, f"{prefix}hi": hi,
            f"{prefix}why": why}
