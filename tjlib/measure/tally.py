"""Failures and successes above each score, and the ranking metrics as functions of them.

Decision: equal scores always enter together, and one formula serves the data
and every weighted replicate of them. Refusal: a metric that one class leaves
undefined is NaN, which the callers turn into a reason, and no score is
missing here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["METRICS", "Tally", "f1_at", "tally", "youden_at"]


@dataclass(frozen=True)
class Tally:
    """Failures and successes at or above each distinct score of each stratum.

    Attributes
    ----------
    failed, passed : (b, K) arrays
        Running sums over the distinct scores, highest first, stratum after
        stratum and never reset; one row a replicate.
    starts : (S,) int array
        Where among the K each stratum begins.
    thresholds : (K,) array
        The distinct scores.
    """

    failed: np.ndarray
    passed: np.ndarray
    starts: np.ndarray
    thresholds: np.ndarray

    @property
    def totals(self) -> tuple[np.ndarray, np.ndarray]:
        """Failures and successes in all, (b,) each."""
        return self.failed[:, -1], self.passed[:, -1]


def _finite(scores: Sequence[float]) -> np.ndarray:
    """Put infinite scores one beyond the others, which keeps every rank."""
    s = np.asarray(scores, dtype=float)
    if not s.size or np.isnan(s).any():
        raise ValueError("scores to rank must be there, at least one and none missing")
    known = s[np.isfinite(s)] if np.isfinite(s).any() else np.zeros(1)
    return np.nan_to_num(s, posinf=known.max() + 1, neginf=known.min() - 1)


def tally(failed: Sequence[bool], scores: Sequence[float], *, strata: Sequence | None = None,
          weights: np.ndarray | None = None) -> Tally:
    """Count failures and successes at or above each distinct score.

    Parameters
    ----------
    failed : (n,) sequence of bool
        Whether each run failed, the positive class.
    scores : (n,) sequence of float
        Higher means more likely to fail; infinite scores are allowed.
    strata : (n,) sequence, optional
        What two runs must share to be compared; by default nothing.
    weights : (b, n) array, optional
        How often each run counts in each replicate; by default once.

    Returns
    -------
    Tally

    Raises
    ------
    ValueError
        If a score is missing or there is none.

    Examples
    --------
    >>> t = tally([1, 0, 1], [.9, .5, .5])
    >>> t.thresholds.tolist(), t.failed.tolist(), t.passed.tolist()
    ([0.9, 0.5], [[1.0, 2.0]], [[0.0, 1.0]])
    """
    y, s = np.asarray(failed, dtype=bool), _finite(scores)
    group = np.zeros(len(s), int) if strata is None else np.unique(strata, return_inverse=True)[1]
    w = np.ones((1, len(s))) if weights is None else np.asarray(weights, dtype=float)
    order = np.lexsort((-s, group))
    s, group, w, y = s[order], group[order], w[:, order], y[order]
    new = group[1:] != group[:-1]
    last = np.flatnonzero(np.append(new | (s[1:] != s[:-1]), True))
    starts = np.flatnonzero(np.insert(group[last][1:] != group[last][:-1], 0, True))
    return Tally(np.cumsum(w * y, axis=1)[:, last], np.cumsum(w * ~y, axis=1)[:, last],
                 starts, s[last])


def _divide(over: np.ndarray, under: np.ndarray) -> np.ndarray:
    return np.divide(over, under, out=np.full(np.shape(over), np.nan), where=under > 0)


def _auroc(t: Tally) -> np.ndarray:
    up, down = (np.diff(x, axis=1, prepend=0) for x in (t.failed, t.passed))
    sizes = np.diff(np.append(t.starts, up.shape[1]))
    before = np.repeat((t.failed - up)[:, t.starts], sizes, axis=1)
    won = (down * (t.failed - up / 2 - before)).sum(axis=1)
    pairs = np.add.reduceat(up, t.starts, axis=1) * np.add.reduceat(down, t.starts, axis=1)
    return _divide(won, pairs.sum(axis=1))


def _average_precision(t: Tally) -> np.ndarray:
    flagged = np.maximum(t.failed + t.passed, 1e-300)  # none flagged: a precision that counts for 0
    gained = np.diff(t.failed, axis=1, prepend=0) * t.failed / flagged
    positive, negative = t.totals
    return np.where(negative > 0, _divide(gained.sum(axis=1), positive), np.nan)


def f1_at(t: Tally) -> np.ndarray:
    """F1 at every threshold: 2 TP / (2 TP + FP + FN), and FN = positives - TP."""
    return 2 * t.failed / np.maximum(t.failed + t.passed + t.totals[0][:, None], 1e-300)


def _defined(t: Tally, values: np.ndarray) -> np.ndarray:
    positive, negative = t.totals
    return np.where((positive > 0) & (negative > 0), values, np.nan)


def _best_f1(t: Tally) -> np.ndarray:
    return _defined(t, f1_at(t).max(axis=1))


def youden_at(t: Tally) -> np.ndarray:
    """Find the threshold of the largest TPR - FPR in whole numbers, the higher one of equals."""
    positive, negative = t.totals
    lead = t.failed * negative[:, None] - t.passed * positive[:, None]
    # A score no run of this replicate reaches is none of its thresholds.
    return np.where(t.failed + t.passed > 0, lead, -np.inf).argmax(axis=1)


def _youden_f1(t: Tally) -> np.ndarray:
    return _defined(t, np.take_along_axis(f1_at(t), youden_at(t)[:, None], axis=1)[:, 0])


def _prr(t: Tally) -> np.ndarray:
    good, bad = (np.diff(x, axis=1, prepend=0)[:, ::-1] for x in (t.passed, t.failed))
    size = good + bad
    kept, kept_good = (np.cumsum(x, axis=1) - x for x in (size, good))
    n = size.sum(axis=1)
    harmonic = np.insert(np.cumsum(1 / np.arange(1, n.max() + 1)), 0, 0)
    h = lambda m: harmonic[m.astype(int)]  # noqa: E731
    # Equal scores leave in random order: after j of a tie the kept accuracy is expected to be
    # (kept_good + j share) / (kept + j), and this is its sum over j.
    share = good / np.maximum(size, 1e-300)
    area = (share * size + (kept_good - kept * share) * (h(kept + size) - h(kept))).sum(axis=1)
    right = good.sum(axis=1)
    best = right * (1 + h(n) - h(right))
    return _defined(t, _divide(area - right, best - right))


#: Metric -> its values from an unstratified tally, one a replicate, NaN where undefined.
METRICS: dict[str, Callable[[Tally], np.ndarray]] = {
    "auroc": _auroc, "average_precision": _average_precision, "best_f1": _best_f1,
    "youden_f1": _youden_f1, "prr": _prr,
}
