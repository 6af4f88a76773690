"""Calibration by every other measure, with intervals and between-judge differences.

Decision: the same draw of patterns serves every measure and every judge, so
that a difference is paired as in the paper (section 5, Appendix F) and no
conclusion hangs on one binning. Refusal: no measure is defined here
(`calibration.MEASURES` does that), and a judge that states no confidence gets
a reason, not a number.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from scipy import sparse

from tjlib.measure.calibration import MEASURES
from tjlib.measure.common import APART, common, uneven
from tjlib.measure.resample import bounds_or_why, replicate_weights
from tjlib.measure.structural import structural
from tjlib.measure.table import VerdictTable, patterns
from tjlib.measure.verdicts import WHY_UNDEFINED

__all__ = ["alternatives"]

_ONE = "undefined: one of the two is undefined"


def _score(v, right, weights) -> np.ndarray:
    """Score one judge under (b, P) weights: (measures, b), NaN where nothing is stated."""
    stated = ~np.isnan(v)
    out = np.full((len(MEASURES), len(weights)), np.nan)
    values, at = np.unique(v[stated], return_inverse=True)
    gather = sparse.coo_array((np.ones(len(at)), (at, np.arange(len(at)))),
                              (len(values), len(at))).tocsr()
    n = (gather @ weights[:, stated].T).T
    k = (gather @ (weights[:, stated] * right[stated]).T).T
    defined = n.sum(axis=-1) > 0
    if defined.any():
        out[:, defined] = [f(values, n[defined], k[defined]) for f in MEASURES.values()]
    return out


def alternatives(
    t: VerdictTable, rng: np.random.Generator, *, draws: int = 10_000, level: float = 0.95
) -> pd.DataFrame:
    """Measure every judge's calibration in each of `MEASURES`, and every difference.

    Parameters
    ----------
    t : VerdictTable
    rng : numpy.random.Generator
    draws : int
        Replicates, of trajectories inside design cells.
    level : float
        Coverage of the percentile intervals.

    Returns
    -------
    DataFrame
        One row per judge and measure, then one per pair of judges ("A - B",
        later judge first): judge, measure, value, lo, hi, n (verdicts that
        state a confidence), why. A difference is over the trajectories both
        were asked about; where these are not all that either was, n counts
        them. Lower is better save for brier_resolution.

    Examples
    --------
    >>> from tjlib.measure.table import table
    >>> from tjlib.trace import Label, Verdict
    >>> t = table([Label("a", False)], [Verdict("a", "j", False, confidence=0.9)])
    >>> found = alternatives(t, np.random.default_rng(0), draws=10).set_index("measure")
    >>> round(found.loc["ece", "value"], 3), found.loc["ece", "why"]
    (0.1, 'undefined: every replicate gives the same value')
    """
    _, first, groups = np.unique(patterns(t), return_index=True, return_counts=True)
    judged = [(np.where(t.seen[first, j], t.confidence[first, j], np.nan),
               t.flag[first, j] == t.faulty[first]) for j in range(len(t.judges))]
    point = np.array([_score(v, right, groups[None].astype(float))[:, 0] for v, right in judged])
    blocks = replicate_weights(groups, t.cell[first], rng, draws)
    values = np.concatenate(
        [[_score(v, right, weights) for v, right in judged] for weights in blocks], axis=-1)
    stated = [int(groups[~np.isnan(v)].sum()) for v, _ in judged]
    rows = [(t.judges[j], point[j], values[j], stated[j], structural(t, t.judges[j]),
             f"undefined: {WHY_UNDEFINED['ece']}") for j in range(len(t.judges))]
    apart = [(a, b) for a, b in combinations(range(len(t.judges)), 2) if uneven(t, a, b)]
    rows += [(f"{t.judges[b]} - {t.judges[a]}", point[b] - point[a], values[b] - values[a], None,
              False, _ONE)
             for a, b in combinations(range(len(t.judges)), 2) if (a, b) not in apart]
    out = []
    for judge, at, drawn, n, fixed, missing in rows:
        for i, measure in enumerate(MEASURES):
            row = {"judge": judge, "measure": measure, "value": None, "lo": None, "hi": None,
                   "n": n, "why": missing}
            if not np.isnan(at[i]):
                lo, hi, why = bounds_or_why(drawn[i], level, fixed=fixed)
                row |= {"value": float(at[i]), "lo": lo, "hi": hi, "why": why}
            out.append(row)
    for a, b in apart:
        both = common(t, t.judges[a], t.judges[b])
        name, n = f"{t.judges[b]} - {t.judges[a]}", len(both.labels)
        if not n:
            out += [{"judge": name, "measure": measure, "value": None, "lo": None, "hi": None,
                     "n": 0, "why": _ONE if both.unread else APART} for measure in MEASURES]
            continue
        shared = alternatives(both, rng, draws=draws, level=level)
        out += shared[shared["judge"] == name].assign(n=n).to_dict("records")
    return pd.DataFrame(out, dtype=object)
