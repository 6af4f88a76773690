"""Recall and false alarms inside each stratum, and the gap with strata held equal.

Decision: silent and loud faults do not sit in the same strata (two types can
only be hosted in one), so the gap is also taken stratum by stratum and
averaged with one set of weights for both sides (direct standardisation).
Refusal: a stratum that lacks one of the two sides does not enter the average,
and nothing is filled in for it. The weights are ours: the paper does not
marginalise over strata (section 9).
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from tjlib.measure.resample import bounds_or_why, clopper_pearson, replicate_weights
from tjlib.measure.structural import rule_like
from tjlib.measure.table import VerdictTable
from tjlib.trace import InputError

__all__ = ["by_stratum", "strata_from"]

_SIDES = {"silent_recall": "silent", "loud_recall": "loud", "false_alarm_rate": "clean"}
_GAP = "loud_minus_silent"
_WHO = {"silent": "no silent fault", "loud": "no loud fault", "clean": "no clean trajectory"}


def strata_from(t: VerdictTable) -> pd.DataFrame:
    """Count flags by stratum, fault and survival, judge by judge.

    Parameters
    ----------
    t : VerdictTable
        Every label names its stratum.

    Returns
    -------
    DataFrame
        stratum, fault, survival ("clean", "silent", "loud" or "unknown"),
        judge, flagged (0 or 1), n: the shape of the published
        flags_by_stratum table.

    Raises
    ------
    InputError
        If a label names no stratum.

    Examples
    --------
    >>> from tjlib.measure.table import table
    >>> from tjlib.trace import Label, Verdict
    >>> t = table([Label("a", False, stratum="happy")], [Verdict("a", "j", True)])
    >>> strata_from(t)[["stratum", "survival", "flagged", "n"]].to_dict("records")
    [{'stratum': 'happy', 'survival': 'clean', 'flagged': 1, 'n': 1}]
    """
    for label in t.labels:
        if label.stratum is None:
            raise InputError(f"the label of {label.trajectory_id} names no stratum")
    kinds = [name.split("/") if "/" in name else (name, name) for name in t.cells]
    rows = pd.DataFrame({"stratum": [label.stratum for label in t.labels],
                         "fault": [kinds[c][0] for c in t.cell],
                         "survival": [kinds[c][1] for c in t.cell]})
    parts = [rows[t.seen[:, j]].assign(judge=judge, flagged=t.flag[t.seen[:, j], j].astype(int))
             for j, judge in enumerate(t.judges)]
    keys = ["stratum", "fault", "survival", "judge", "flagged"]
    return pd.concat(parts).groupby(keys, as_index=False).size().rename(columns={"size": "n"})


def _shares(n: np.ndarray) -> np.ndarray:
    """Weigh strata that hold both sides by their share of the faults; n is (sides, strata)."""
    faults = np.where((n[:2] > 0).all(axis=0), n[:2].sum(axis=0), 0.0)
    return faults / faults.sum() if faults.any() else faults


def by_stratum(
    counts: pd.DataFrame, rng: np.random.Generator, *, draws: int = 10_000, level: float = 0.95
) -> pd.DataFrame:
    """Score every judge inside every stratum, pooled, and with the strata standardised.

    Parameters
    ----------
    counts : DataFrame
        From `strata_from`, or the published flags_by_stratum table.
    rng : numpy.random.Generator
    draws : int
        Replicates, drawn inside cells of stratum, type and survival, each
        judge on its own (no difference between judges is reported).
    level : float

    Returns
    -------
    DataFrame
        One row per judge, stratum and metric (silent_recall, loud_recall,
        false_alarm_rate, loud_minus_silent): judge, stratum, metric, value,
        lo, hi, k, n, how, over, why. After the strata come "pooled" (strata
        ignored) and "standardised": recalls and gap averaged over the strata
        that hold both silent and loud faults, which ``over`` lists, each
        weighted by its share of their faults (ours). Replicates keep the
        strata's sizes, so pooled intervals are narrower than the paper's.
        Exact binomial where a proportion is 0 or 1.

    Examples
    --------
    >>> counts = pd.DataFrame({
    ...     "stratum": "happy", "fault": "f", "survival": ["silent", "silent", "loud", "loud"],
    ...     "judge": "j", "flagged": [1, 0, 1, 0], "n": [4, 6, 9, 1]})
    >>> found = by_stratum(counts, np.random.default_rng(0), draws=100)
    >>> rows = found.set_index(["stratum", "metric"])
    >>> round(rows.loc[("standardised", "loud_minus_silent"), "value"], 3)
    0.5
    """
    out = []
    for judge in dict.fromkeys(counts["judge"]):
        out += _judge(judge, counts[counts["judge"] == judge], rng, draws, level)
    return pd.DataFrame(out, dtype=object)


def _judge(judge, rows, rng, draws, level) -> list[dict]:
    strata = sorted(set(rows["stratum"]))
    inside = np.array([(rows["survival"] == side).to_numpy()[:, None]
                       & (rows["stratum"].to_numpy()[:, None] == strata)
                       for side in _SIDES.values()])  # (sides, rows, strata)
    times, flag = rows["n"].to_numpy(), rows["flagged"].to_numpy(float)
    cell = rows.groupby(["stratum", "fault", "survival"]).ngroup().to_numpy()
    fixed = rule_like(judge, cell.tolist(), flag.tolist())
    n = np.einsum("r,srt->st", times, inside).astype(float)
    flagged = inside * flag[:, None]
    k = np.einsum("r,srt->st", times, flagged)[..., None]
    drawn = np.concatenate([np.einsum("br,srt->stb", w, flagged)
                            for w in replicate_weights(times, cell, rng, draws)], axis=-1)
    share = _shares(n)
    over = ", ".join(s for s, w in zip(strata, share, strict=True) if w)
    out = []
    for place in [*strata, "pooled", "standardised"]:
        at = slice(None) if place in ("pooled", "standardised") else [strata.index(place)]
        size = n[:, at].sum(axis=1)
        if place == "standardised":
            # Cell sizes are kept, so these denominators and weights hold for every replicate.
            size = np.append(np.full(2, float(share.any())), np.nan)
            weigh = np.divide(share, n, out=np.zeros_like(n), where=n > 0)[..., None]
            point, values = ((x * weigh).sum(axis=1) for x in (k, drawn))
        else:
            safe = np.where(size > 0, size, 1.0)[:, None]
            point, values = (x[:, at].sum(axis=1) / safe for x in (k, drawn))
        where = {"judge": judge, "stratum": place, "level": level, "fixed": fixed}
        for s, (metric, side) in enumerate(_SIDES.items()):
            if np.isnan(size[s]):
                continue
            counted = None if place == "standardised" else (k[s, at].sum(), size[s])
            why = "" if size[s] else f"undefined: {_WHO[side]} in {place}"
            out.append(_row(where, metric, point[s], values[s], why, counted))
        why = "" if size[:2].all() else f"undefined: silent and loud faults are not both in {place}"
        out.append(_row(where, _GAP, point[1] - point[0], values[1] - values[0], why))
        if place == "standardised":
            for row in out[-3:]:
                row["over"] = over
                if not over:
                    row["why"] = "undefined: no stratum holds both silent and loud faults"
    return out


def _row(where, metric, point, values, why, counted=None) -> dict:
    row = {"judge": where["judge"], "stratum": where["stratum"], "metric": metric, "value": None,
           "lo": None, "hi": None, "k": None, "n": None, "how": "", "over": "", "why": why}
    if why:
        return row
    row["value"] = float(np.squeeze(point))
    fixed = where["fixed"]
    if counted:
        row |= {"k": int(counted[0]), "n": int(counted[1])}
        if row["value"] in (0, 1) and not fixed:
            lo, hi = clopper_pearson(row["k"], row["n"], where["level"])
            return row | {"lo": lo, "hi": hi, "how": "exact binomial"}
    lo, hi, why = bounds_or_why(values, where["level"], fixed=fixed)
    return row | {"lo": lo, "hi": hi, "how": "" if why else "percentile", "why": why}
