"""Methods compared as rankings of the same runs, with intervals by whole tasks.

Decision: all trials of a task are drawn together, one draw serves every
method and every difference, and only runs that every method scores count, so
that no method is favoured by the runs it skips. Refusal: what too few runs
leave uncertain is flagged, what one class leaves undefined has a reason, and
no column is picked for the caller: pooled and stratified stand side by side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from tjlib.measure.ranking import chance
from tjlib.measure.resample import bounds_or_why, replicate_weights
from tjlib.measure.tally import METRICS, tally

__all__ = ["CORRELATION", "compare", "rank_correlation"]

#: The metric that tells how far a score is the number of steps.
CORRELATION = "rank_correlation|length"
ONE_CLASS = "undefined: no run failed", "undefined: every run failed"
_NUMBERS = 2_000_000  # held at once: 16 MB


def _ranks(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Mid-ranks in each replicate: (b, n), of each run among as many copies as its weight."""
    _, at, sizes = np.unique(values, return_inverse=True, return_counts=True)
    starts = np.cumsum(sizes) - sizes
    count = np.add.reduceat(weights[:, np.argsort(at, kind="stable")], starts, axis=1)
    return (np.cumsum(count, axis=1) - count / 2)[:, at]


def _correlations(scores: np.ndarray, length: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Spearman's correlation in each replicate, NaN where one of the two is constant."""
    n = weights.sum(axis=1, keepdims=True)
    a, b = (r - (weights * r).sum(axis=1, keepdims=True) / n
            for r in (_ranks(scores, weights), _ranks(length, weights)))
    scale = np.sqrt((weights * a * a).sum(axis=1) * (weights * b * b).sum(axis=1))
    return np.divide((weights * a * b).sum(axis=1), scale, out=np.full(len(scale), np.nan),
                     where=scale > 1e-9)


def rank_correlation(scores: Sequence[float], length: Sequence[float]) -> float | None:
    """Return Spearman's rank correlation, ties at their mid-rank.

    Parameters
    ----------
    scores, length : (n,) sequences

    Returns
    -------
    float or None
        In [-1, 1]; None where one of the two is constant.

    Examples
    --------
    >>> rank_correlation([.1, .2, .9], [5, 6, 7]), rank_correlation([1, 1], [5, 6])
    (1.0, None)
    """
    s, k = (np.asarray(x, dtype=float) for x in (scores, length))
    value = _correlations(s, k, np.ones((1, len(s))))[0]
    return None if np.isnan(value) else float(value)


def _inside(stratum: np.ndarray, tasks: np.ndarray) -> bool:
    """Tell whether no stratum reaches over two tasks."""
    return len(np.unique(np.stack([stratum, tasks]), axis=1).T) == len(np.unique(stratum))


def _values(y, s, tasks, strata, length, weights, metrics) -> np.ndarray:
    """All metrics of one method: (metrics, b)."""
    pooled = tally(y, s, weights=weights) if metrics else None
    out = [METRICS[name](pooled) for name in metrics]
    for stratum in strata.values():
        # A task drawn twice is two tasks: its pairs count twice, not four times.
        w = np.sqrt(weights) if _inside(stratum, tasks) else weights
        out.append(METRICS["auroc"](tally(y, s, strata=stratum, weights=w)))
    if length is not None:
        out.append(_correlations(s, length, weights))
    return np.array(out)


def _blocks(tasks: np.ndarray, rng: np.random.Generator, draws: int) -> Iterator[np.ndarray]:
    """Draw whole tasks: (b, n) weights of runs, small enough to hold."""
    n_tasks, size = tasks.max() + 1, max(1, _NUMBERS // len(tasks))
    one_cell = np.zeros(n_tasks, int)
    for block in replicate_weights(np.ones(n_tasks, int), one_cell, rng, draws):
        for at in range(0, len(block), size):
            yield block[at:at + size, tasks]


def _pairs(y: np.ndarray, stratum: np.ndarray) -> int:
    """Count the failed and successful runs that share a stratum."""
    return int((np.bincount(stratum[y], minlength=stratum.max() + 1)
                * np.bincount(stratum[~y], minlength=stratum.max() + 1)).sum())


def _why(metric: str, n_failed: int, n: int) -> str:
    if metric == CORRELATION:
        return "undefined: the score or the length is the same for every run"
    if n_failed in (0, n):
        return ONE_CLASS[n_failed > 0]
    return "undefined: no failed and successful run share the stratum"


def _notes(n: int, n_failed: int, skipped: int, draws: int) -> str:
    few = n < 10 or min(n_failed, n - n_failed) < 5
    return "; ".join(
        ["few runs"] * few
        + [f"{skipped} of {draws} resamples undefined and left out"] * (skipped > 0)
        + ["more than 5 % left out: do not rely on the interval"] * (skipped > 0.05 * draws))


def compare(
    scores: pd.DataFrame, failed: Sequence[bool], tasks: Sequence, rng: np.random.Generator, *,
    strata: Mapping[str, Sequence] | None = None, length: Sequence[float] | None = None,
    pairs: Sequence[tuple[str, str]] = (), draws: int = 2000, level: float = 0.95,
    metrics: Sequence[str] = tuple(METRICS),
) -> pd.DataFrame:
    """Rank the same runs by every method and measure each ranking.

    Parameters
    ----------
    scores : DataFrame
        One row a run, one column a method, higher means more likely to fail;
        None or NaN where a method has no score.
    failed, tasks : (n,) sequences
        Whether each run failed, and the task it is a trial of.
    rng : numpy.random.Generator
    strata : mapping of name to (n,) sequence, optional
        For each name an AUROC over only those pairs that share the stratum,
        as ``auroc|NAME``.
    length : (n,) sequence, optional
        Steps of each run, for ``rank_correlation|length``.
    pairs : sequence of (method, method)
        Differences to report, as "A - B".
    draws, level : int, float
        Resamples of tasks; coverage of the percentile interval.
    metrics : sequence of str
        Which to take over all pairs; fewer are faster.

    Returns
    -------
    DataFrame
        One row per method and metric, then per pair and metric: method,
        metric, value, lo, hi, chance (what no knowledge gives), n and
        n_failed (runs every method scored), n_missing (runs this method did
        not score), pairs (of a failed and a successful run, that an AUROC
        compares), why (there is no value or no interval), note. A method that
        scores no run at all has rows without values and does not shrink the
        runs of the others.

    Raises
    ------
    ValueError
        If the columns differ in length or a pair names no method.

    Examples
    --------
    >>> frame = pd.DataFrame({"steps": [9, 8, 8, 4, 4, 1]})
    >>> t = compare(frame, [1, 1, 0, 1, 0, 0], range(6), np.random.default_rng(0), draws=100)
    >>> [round(v, 4) for v in t["value"]]
    [0.7778, 0.7556, 0.75, 0.5, 0.6171]
    """
    strata = dict(strata or {})
    columns = [failed, tasks, *strata.values(), *([] if length is None else [length])]
    if any(len(column) != len(scores) for column in columns):
        raise ValueError("scores, failed, tasks, strata and length differ in length")
    if unknown := {name for pair in pairs for name in pair} - set(scores.columns):
        raise ValueError(f"no column of scores: {', '.join(sorted(unknown))}")
    s = scores.to_numpy(dtype=float, na_value=np.nan)
    silent = np.isnan(s).all(axis=0)
    keep = ~np.isnan(s[:, ~silent]).any(axis=1) & ~silent.all()
    codes = lambda values: np.unique(np.asarray(values), return_inverse=True)[1][keep]  # noqa: E731
    y = np.asarray(failed, dtype=bool)[keep]
    task = np.unique(codes(tasks), return_inverse=True)[1]
    strata = {name: codes(values) for name, values in strata.items()}
    long = None if length is None else np.asarray(length, dtype=float)[keep]
    named = [*metrics, *(f"auroc|{name}" for name in strata)] + [CORRELATION] * (long is not None)
    n, n_failed = len(y), int(y.sum())
    point, drawn = {}, {}
    if n:
        once = np.ones((1, n))
        used = {m: s[keep, j] for j, m in enumerate(scores.columns) if not silent[j]}
        point = {m: _values(y, v, task, strata, long, once, metrics)[:, 0] for m, v in used.items()}
        parts = {m: [] for m in used}
        for weights in _blocks(task, rng, draws):
            for m, v in used.items():
                parts[m].append(_values(y, v, task, strata, long, weights, metrics))
        drawn = {m: np.concatenate(blocks, axis=1) for m, blocks in parts.items()}
    compared = {f"auroc|{name}": _pairs(y, v) for name, v in strata.items() if n}
    compared["auroc"] = n_failed * (n - n_failed)
    missing = dict(zip(scores.columns, np.isnan(s).sum(axis=0).tolist(), strict=True))
    rows = []
    rankings = [(m, (m,)) for m in scores.columns] + [(" - ".join(pair), pair) for pair in pairs]
    for name, of in rankings:
        for i, metric in enumerate(named):
            row = {"method": name, "metric": metric, "value": None, "lo": None, "hi": None,
                   "chance": None, "n": n, "n_failed": n_failed,
                   "n_missing": missing[name] if len(of) == 1 else None,
                   "pairs": compared.get(metric),
                   "why": "not computable: no run has a score", "note": ""}
            if all(m in point for m in of):
                row |= _measured(i, metric, [point[m] for m in of], [drawn[m] for m in of],
                                 n, n_failed, level)
            rows.append(row)
    return pd.DataFrame(rows, dtype=object)


def _measured(i, metric, points, draws, n, n_failed, level) -> dict:
    """One row's numbers: of one method, or of the first minus the second."""
    value, replicates = points[0][i], draws[0][i]
    if len(points) == 2:
        value, replicates = value - points[1][i], replicates - draws[1][i]
    if np.isnan(value):
        return {"why": _why(metric, n_failed, n)}
    lo, hi, why = bounds_or_why(replicates, level)
    skipped = int(np.isnan(replicates).sum())
    expected = chance(metric, n_failed / n) if len(points) == 1 else None
    return {"value": float(value), "lo": lo, "hi": hi, "chance": expected, "why": why,
            "note": _notes(n, n_failed, skipped, len(replicates))}
