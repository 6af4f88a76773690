"""Every metric and every between-judge delta with its interval.

Decision: verdicts repeat, so the unit drawn is a pattern (all judges'
verdicts on one trajectory, with its label) inside a design cell; one draw
serves all judges, which is what pairs the deltas (paper section 5, Appendix
F). Refusal: no metric is defined here (`verdicts.ratios` does that), and an
interval that would mean nothing is not printed but explained.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from scipy import sparse

from tjlib.measure.common import APART, common, uneven
from tjlib.measure.resample import (
    FIXED,
    NEVER,
    SAME,
    SPREAD,
    bca,
    clopper_pearson,
    leave_one_out,
    percentile,
    replicate_weights,
)
from tjlib.measure.structural import structural
from tjlib.measure.table import VerdictTable, patterns
from tjlib.measure.verdicts import (
    COST,
    PROPORTIONS,
    columns,
    cost_ratios,
    metrics,
    ratios,
)
from tjlib.trace import InputError

__all__ = ["intervals"]

_EMPTY = {"judge": "", "metric": "", "value": None, "lo": None, "hi": None, "k": None, "n": None,
          "how": "", "why": ""}
_COUNTED = "a count of this run, not an estimate"
_CORRECTED = "undefined: BCa needs every replicate defined and on both sides of the value"
_ONE = "undefined: one of the two is undefined"
_MEANS = "only the mean is published, no rows to resample"


def _units(t: VerdictTable, by: str, number: np.ndarray):
    """Return units to draw (how many of each, their strata) and the patterns each holds."""
    if by == "trajectory":
        _, first, groups = np.unique(number, return_index=True, return_counts=True)
        return groups, t.cell[first], None
    names = [label.instance_id for label in t.labels]
    _, cluster = np.unique(names, return_inverse=True)
    size = cluster.max() + 1
    holds = sparse.coo_array((np.ones(len(names)), (cluster, number)), (size, number.max() + 1))
    return np.ones(size, int), np.zeros(size, int), holds.T.tocsr()


def _score(x: list[np.ndarray], names: list[str], ratio, weights: np.ndarray) -> np.ndarray:
    """Score every judge under (b, P) weights: (J, metrics, b), NaN where undefined."""
    out = []
    for matrix in x:
        found = ratio(dict(zip(names, (weights @ matrix).T, strict=True)))
        out.append([np.divide(top, bottom, out=np.full_like(bottom, np.nan), where=bottom > 0)
                    for top, bottom in found.values()])
    return np.array(out)


def _draw(t, rng, draws, by, method, level, number, ratio, wanted):
    """Return point values (J, M), and a function from a row of draws to its bounds."""
    _, first = np.unique(number, return_index=True)
    x = []
    for j in range(len(t.judges)):  # one judge's columns at a time: they outweigh what is kept
        c = columns(t, j)
        names = [name for name in c if wanted(name)]
        x.append(np.column_stack([c[name][first] for name in names]))
    groups, strata, holds = _units(t, by, number)
    spread = (lambda w: w) if holds is None else (lambda w: (holds @ w.T).T)
    blocks = replicate_weights(groups, strata, rng, draws)
    values = np.concatenate([_score(x, names, ratio, spread(w)) for w in blocks], axis=-1)
    whole = np.bincount(number).astype(float)[None]
    point = _score(x, names, ratio, whole)[..., 0]
    if method == "percentile":
        return point, values, lambda d, p, _: percentile(d, level)
    jack = np.concatenate([_score(x, names, ratio, spread(w)) for w in leave_one_out(groups)],
                          axis=-1)
    return point, values, lambda d, p, at: bca(d, p, at(jack), groups, strata, level)


def _flat(values: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Tell where the defined replicates all give the same value."""
    spread = np.ptp(values, axis=-1)
    some = np.isnan(spread)
    filled = np.where(np.isnan(values[some]), point[some][:, None], values[some])
    spread[some] = np.ptp(filled, axis=-1)
    return spread < SPREAD


def _row(judge, metric, value, lo, hi, flat, how, level, fixed=False, **count) -> dict:
    row = _EMPTY | {"judge": judge, "metric": metric, "value": value} | count
    if value is None or row["why"]:
        return row
    if metric == "coverage":
        return row | {"why": _COUNTED}
    if flat and fixed:
        return row | {"why": FIXED}
    # A proportion that no resample moves would look certain; the paper has this case at 0 and 1.
    whole = metric in PROPORTIONS or metric.startswith("recall|")
    if whole and row["n"] and (flat or row["k"] in (0, row["n"])):
        lo, hi = clopper_pearson(row["k"], row["n"], level)
        return row | {"lo": lo, "hi": hi, "how": "exact binomial"}
    if flat or np.isnan(lo):
        never = _CORRECTED if how == "bca" else NEVER
        return row | {"why": SAME if flat else _MEANS if metric in COST else never}
    return row | {"lo": float(lo), "hi": float(hi), "how": how}


def _shared(t: VerdictTable, rng: np.random.Generator, **options) -> list[dict]:
    """Compare the two judges of a table on the trajectories it has, and count these."""
    name, n = f"{t.judges[1]} - {t.judges[0]}", len(t.labels)
    if not n:
        why = _ONE if t.unread else APART
        return [_EMPTY | {"judge": name, "metric": m, "n": 0, "why": why}
                for m in dict.fromkeys(metrics(t)["metric"])]
    found = intervals(t, rng, **options)
    rows = [r | {"n": n} for r in found.to_dict("records") if r["judge"] == name]
    return rows or [r | {"judge": name, "value": None, "k": None, "n": n}
                    for r in found[found["judge"] == t.judges[0]].to_dict("records")]


def intervals(
    t: VerdictTable, rng: np.random.Generator, *, draws: int = 10_000, by: str = "trajectory",
    method: str = "percentile", level: float = 0.95,
) -> pd.DataFrame:
    """Give every metric of every judge, and every difference of two judges, its interval.

    Parameters
    ----------
    t : VerdictTable
    rng : numpy.random.Generator
        The same state gives the same intervals, to the byte.
    draws : int
        Replicates; the paper's B is 10,000.
    by : {"trajectory", "instance"}
        What is resampled: trajectories inside design cells (the paper), or
        whole instances with all their trajectories.
    method : {"percentile", "bca"}
    level : float
        Coverage of the interval.

    Returns
    -------
    DataFrame
        One row per judge and metric, then one per pair of judges ("A - B",
        later judge first) and metric: judge, metric, value, lo, hi, k, n,
        how ("percentile", "bca" or "exact binomial") and why (the reason
        where value, or the interval, is None). A difference is over the
        trajectories both were asked about; where these are not all that
        either was, n counts them. Exact intervals replace the
        bootstrap of proportions at 0 and 1 (the paper) and wherever every
        replicate is equal (ours); they take trajectories as independent.

    Raises
    ------
    InputError
        For an unknown ``by`` or ``method``, or fewer than one draw.

    Examples
    --------
    >>> from tjlib.measure.table import table
    >>> from tjlib.trace import Label, Verdict
    >>> t = table([Label("a", False), Label("b", False)], [Verdict("a", "j", True)])
    >>> found = intervals(t, np.random.default_rng(0), draws=50).set_index("metric")
    >>> [round(x, 3) for x in found.loc["false_alarm_rate", ["value", "lo", "hi"]]]
    [1.0, 0.025, 1.0]
    """
    if by not in ("trajectory", "instance"):
        raise InputError(f"by={by!r}: resample by 'trajectory' or by 'instance'")
    if method not in ("percentile", "bca"):
        raise InputError(f"method={method!r}: choose 'percentile' or 'bca'")
    if draws < 1:
        raise InputError(f"draws={draws}: at least one replicate is needed")
    given = metrics(t)
    names = [m for m in given["metric"].unique() if m not in COST]
    if by == "instance":
        instances = {label.instance_id for label in t.labels}
        if None in instances or len(instances) < 2:
            why = "undefined: " + ("the labels name no instances" if None in instances
                                   else "only one instance to resample")
            return pd.DataFrame([_EMPTY | r | {"why": r["why"] or why}
                                 for r in given.to_dict("records")], dtype=object)
    is_cost = {"n|" + m.removesuffix("_mean") for m in COST}
    is_cost |= {name[2:] for name in is_cost}
    recorded = not all(np.isnan(x).all() for x in (t.latency_s, t.prompt_tokens,
                                                   t.completion_tokens))
    parts = (
        (patterns(t), ratios, names, lambda c: c not in is_cost, draws),
        (np.arange(len(t.labels)), cost_ratios, list(COST), lambda c: c in is_cost,
         draws if recorded else 1),  # nothing to resample: one draw, undefined
    )
    pairs = list(combinations(range(len(t.judges)), 2))
    apart = [(a, b) for a, b in pairs if uneven(t, a, b)]
    pairs = [pair for pair in pairs if pair not in apart]
    own, deltas = {}, []
    for number, ratio, names, wanted, times in parts:
        point, values, bounds = _draw(t, rng, times, by, method, level, number, ratio, wanted)
        lo, hi = bounds(values, point, lambda jack: jack)
        flat = _flat(values, point)
        for j, judge in enumerate(t.judges):
            own |= {(judge, m): (lo[j, i], hi[j, i], flat[j, i]) for i, m in enumerate(names)}
        for a, b in pairs:
            gap, at = values[b] - values[a], point[b] - point[a]
            lo, hi = bounds(gap, at, lambda jack, a=a, b=b: jack[b] - jack[a])
            flat = _flat(gap, at)
            for i, m in enumerate(names):
                missing = np.isnan(at[i])
                deltas.append(_row(
                    f"{t.judges[b]} - {t.judges[a]}", m, None if missing else float(at[i]), lo[i],
                    hi[i], flat[i], method, level,
                    why=_ONE if missing else ""))
    for a, b in apart:
        deltas += _shared(common(t, t.judges[a], t.judges[b]), rng, draws=draws, by=by,
                          method=method, level=level)
    fixed = {judge: structural(t, judge) for judge in t.judges}
    rows = [_row(*[r[f] for f in ("judge", "metric", "value")], *own[r["judge"], r["metric"]],
                 method, level, fixed[r["judge"]], k=r["k"], n=r["n"], why=r["why"])
            for r in given.to_dict("records")]
    return pd.DataFrame(rows + deltas, dtype=object)
