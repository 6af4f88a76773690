"""What a judge's alarms are worth at a deployment's own fault rate.

Decision: recall and false-alarm rate belong to the judge, the fault rate and
the mix of fault types to the deployment, so precision and F1 are functions of
the latter. A rate seen at 0 or 1 enters with its exact bound, as in the paper
(section 5): none of 100 clean runs flagged is not a rate of zero. Refusal: no
fault rate is assumed; the set's three in four is a design, not a frequency.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from tjlib.measure.resample import FIXED
from tjlib.measure.structural import structural
from tjlib.measure.table import VerdictTable
from tjlib.measure.verdicts import WHY_UNDEFINED, metrics
from tjlib.trace import FAULT_TYPES, InputError

__all__ = ["deployed", "f1_at", "mixed_recall", "ppv"]

def _ratio(top, bottom):
    top, bottom = np.broadcast_arrays(np.asarray(top, float), np.asarray(bottom, float))
    return np.divide(top, bottom, out=np.full(top.shape, np.nan), where=bottom > 0)[()]


def ppv(recall, false_alarm_rate, fault_rate):
    """Return the share of alarms that are faults (precision) at a fault rate.

    Parameters
    ----------
    recall, false_alarm_rate, fault_rate : float or array
        All in [0, 1]; arrays broadcast.

    Returns
    -------
    float or array
        In [0, 1], higher is better; NaN where the judge would flag nothing.

    Examples
    --------
    >>> round(float(ppv(0.84, 0.33, 0.01)), 3)
    0.025
    """
    hits = np.multiply(recall, fault_rate)
    return _ratio(hits, hits + np.multiply(false_alarm_rate, np.subtract(1, fault_rate)))


def f1_at(recall, false_alarm_rate, fault_rate):
    """Return F1 at a fault rate; parameters and result as for `ppv`.

    Examples
    --------
    >>> round(float(f1_at(0.5, 0.5, 0.5)), 3)
    0.5
    """
    hits = np.multiply(recall, fault_rate)
    flags = hits + np.multiply(false_alarm_rate, np.subtract(1, fault_rate))
    return _ratio(2 * hits, np.multiply(flags + fault_rate, np.greater(fault_rate, 0)))


def mixed_recall(recalls: Mapping[str, float], mix: Mapping[str, float]):
    """Average per-type recalls over a deployment's mix of fault types.

    Parameters
    ----------
    recalls : mapping of type -> float or array
    mix : mapping of type -> weight
        At least 0; need not sum to 1.

    Returns
    -------
    float or array

    Raises
    ------
    InputError
        If a weighted type has no recall, a weight is negative, or all are 0.

    Examples
    --------
    >>> mixed_recall({"wrong_tool": 1.0, "unsupported_claim": 0.2},
    ...              {"wrong_tool": 1, "unsupported_claim": 3})
    0.4
    """
    weighed = {kind: weight for kind, weight in mix.items() if weight}
    if not weighed or min(weighed.values()) < 0:
        raise InputError("a mix of fault types needs weights of at least 0, not all 0")
    for kind in weighed:
        if kind not in recalls:
            raise InputError(f"no recall for {kind!r}; judged types: {', '.join(recalls)}")
    return sum(w * recalls[kind] for kind, w in weighed.items()) / sum(weighed.values())


def _drawn(k, n, rng, draws):
    """Draw a rate for its lower and for its upper bound, (2, draws): the exact bounds at any level.

    The percentiles of Beta(k, n - k + 1) and of Beta(k + 1, n - k) are the
    Clopper-Pearson bounds, so one more alarm never raises a band.
    """
    low = rng.beta(k, n - k + 1, draws) if k > 0 else np.zeros(draws)
    high = rng.beta(k + 1, n - k, draws) if k < n else np.ones(draws)
    return np.array([low, high])


def deployed(
    t: VerdictTable, judge: str, fault_rates: Sequence[float], rng: np.random.Generator, *,
    mix: Mapping[str, float] | None = None, draws: int = 10_000, level: float = 0.95,
) -> pd.DataFrame:
    """Carry a judge to other fault rates: precision and F1 with bands.

    Parameters
    ----------
    t : VerdictTable
    judge : str
    fault_rates : sequence of float
        In [0, 1].
    rng : numpy.random.Generator
    mix : mapping of type -> weight, optional
        The deployment's types of fault; by default the set's own.
    draws : int
    level : float

    Returns
    -------
    DataFrame
        One row per metric and fault rate: judge, metric ("ppv", "f1"),
        fault_rate, value, lo, hi, recall (after mixing), false_alarm_rate,
        why. Bands are pointwise, and ours: each rate is drawn from the
        distributions whose percentiles are its exact bounds.

    Raises
    ------
    InputError
        For a fault rate outside [0, 1] or a mix of types not judged.

    Examples
    --------
    >>> from tjlib.measure.table import table
    >>> from tjlib.trace import Label, Verdict
    >>> t = table([Label("a", True, None, "wrong_tool"), Label("b", False)],
    ...           [Verdict("a", "j", True), Verdict("b", "j", True)])
    >>> deployed(t, "j", [0.1], np.random.default_rng(0)).loc[0, "value"]
    0.1
    """
    rates = np.asarray(fault_rates, float)
    if not ((rates >= 0) & (rates <= 1)).all():
        raise InputError("fault rates are shares, from 0 to 1")
    t.column(judge)
    found = metrics(t).set_index(["judge", "metric"]).loc[judge]
    seen = {kind: found.loc[f"recall|{kind}", ["k", "n"]].tolist() for kind in FAULT_TYPES
            if found.loc[f"recall|{kind}", "n"]}
    clean = found.loc["false_alarm_rate", ["k", "n"]].tolist()
    mix = {kind: n for kind, (_, n) in seen.items()} if mix is None else mix
    missing = t.unread.get(judge) or ("" if clean[1] else WHY_UNDEFINED["false_alarm_rate"]) or (
        "" if mix else WHY_UNDEFINED["type_macro_f1"])
    if missing:
        return pd.DataFrame([_row(judge, name, rate, None, None, None, None, None, missing)
                             for name in ("ppv", "f1") for rate in rates.tolist()], dtype=object)
    recall = float(mixed_recall({kind: k / n for kind, (k, n) in seen.items()}, mix))
    alarm = clean[0] / clean[1]
    recalls = mixed_recall({kind: _drawn(k, n, rng, draws) for kind, (k, n) in seen.items()}, mix)
    alarms = _drawn(*clean, rng, draws)
    tail, rows, fixed = 50 * (1 - level), [], structural(t, judge)
    for name, at in (("ppv", ppv), ("f1", f1_at)):
        for rate in rates.tolist():
            value = at(recall, alarm, rate)
            if np.isnan(value):
                rows.append(_row(judge, name, rate, None, None, None, recall, alarm,
                                 "the judge would flag nothing" if name == "ppv"
                                 else "there would be no fault"))
                continue
            # Low recall with many alarms is the low end of both, and the reverse the high end.
            low, high = at(recalls[0], alarms[1], rate), at(recalls[1], alarms[0], rate)
            ends = [None, None] if fixed else [
                float(np.percentile(x[~np.isnan(x)], p)) if (~np.isnan(x)).any() else None
                for x, p in ((low, tail), (high, 100 - tail))]
            rows.append(_row(judge, name, rate, float(value), *ends, recall, alarm,
                             FIXED if fixed else ""))
    return pd.DataFrame(rows, dtype=object)


def _row(judge, metric, rate, value, lo, hi, recall, alarm, why) -> dict:
    if value is None:
        why = f"undefined: {why}"
    return {"judge": judge, "metric": metric, "fault_rate": rate, "value": value, "lo": lo,
            "hi": hi, "recall": recall, "false_alarm_rate": alarm, "why": why}
