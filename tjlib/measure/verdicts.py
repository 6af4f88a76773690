"""What a judge's verdicts are worth: detection, localisation, typing, calibration, cost.

Decision: every metric is one number over another, and both are weighted sums
of per-trajectory columns. The point value weights each trajectory once; the
bootstrap (`tjlib.measure.resample`) passes other weights through the same
lines, so a metric is defined once. Refusal: a denominator of zero is
"undefined: why", never 0; a reply that failed is counted as the paper counts
it (clean at .5) but never as covered, and a judge hardly read is not scored.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from tjlib.measure.calibration import BINS, bin_of
from tjlib.measure.table import VerdictTable
from tjlib.trace import FAULT_TYPES, FLOORS, InputError

__all__ = [
    "COST", "METRICS", "NO_STEP", "PROPORTIONS", "WHY_UNDEFINED", "columns", "cost_ratios",
    "floors", "metrics", "ratios",
]

_FAULT = "no faulty trajectory was judged"
_FLAG = "no trajectory was flagged"
_CONFIDENCE = "no verdict states a confidence"
_STEP = "no flagged verdict and its label both carry a step"
#: Why a judge without steps is not scored on them.
NO_STEP = "the judge names no step"

#: Metric name -> what its denominator lacked when the metric is undefined.
WHY_UNDEFINED = {
    "n_flagged": "no trajectory was judged",
    "precision": _FLAG,
    "recall": _FAULT,
    "f1": _FAULT,
    "silent_recall": "no silent fault was judged",
    "loud_recall": "no loud fault was judged",
    "loud_minus_silent": "silent and loud recall are not both defined",
    "false_alarm_rate": "no clean trajectory was judged",
    "step_exact": _STEP,
    "step_within_one": _STEP,
    "step_exact_over_detected_faults": "no detected fault has a labelled step",
    "step_exact_over_all_faults": "no fault has a labelled step",
    "type_macro_f1": "no judged fault has a labelled type",
    **{f"recall|{kind}": f"no {kind} fault was judged" for kind in FAULT_TYPES},
    "ece": _CONFIDENCE,
    "brier": _CONFIDENCE,
    **{f"{cost}_mean": f"no verdict records its {cost.replace('_s', '').replace('_', ' ')}"
       for cost in ("latency_s", "prompt_tokens", "completion_tokens")},
    "coverage": "there is no trajectory",
}
METRICS = tuple(WHY_UNDEFINED)
_PLACES = tuple(metric for metric in METRICS if metric.startswith("step_"))
COST = tuple(metric for metric in METRICS if metric.endswith("_mean"))
_SCORES = {"n_flagged", "f1", "loud_minus_silent", "type_macro_f1", "ece", "brier", *COST}
#: The metrics that are k trajectories out of n, and so have an exact interval.
PROPORTIONS = frozenset(METRICS) - _SCORES


def columns(t: VerdictTable, judge: str | int, flag: np.ndarray | None = None) -> dict:
    """Lay one judge out as per-trajectory columns whose weighted sums make every metric.

    Parameters
    ----------
    t : VerdictTable
    judge : str or int
        The judge's name or column.
    flag : (n,) float array, optional
        Replaces the judge's flags by probabilities of flagging; types, steps
        and confidences are then dropped (this is how the floors are scored).

    Returns
    -------
    dict of str -> (n,) float array
    """
    j = t.column(judge) if isinstance(judge, str) else judge
    faulty, true_kind, true_step = t.faulty.astype(float), t.true_kind, t.true_step
    survived = [label.outcome_correct for label in t.labels]
    silent, loud = (faulty * [s is side for s in survived] for side in (True, False))
    seen, kind, step, confidence = t.seen[:, j], t.kind[:, j], t.step[:, j], t.confidence[:, j]
    if flag is None:
        flag = t.flag[:, j].astype(float)
    else:
        seen, kind, confidence = np.ones(len(faulty), bool), -1, np.full(len(faulty), np.nan)
        step = np.full(len(faulty), -1)
    flag = flag * seen
    placed = flag * (true_step >= 0) * (step >= 0)
    gap = np.abs(step - true_step)
    # A judge that never names a step was not wrong about it (paper appendix D).
    names, placeable = float((seen & (step >= 0)).any()), seen * (true_step >= 0)
    out = {
        "all": np.ones(len(faulty)), "ok": t.ok[:, j].astype(float), "flag": flag,
        "faulty": seen * faulty, "silent": seen * silent, "loud": seen * loud,
        "clean": seen * (1 - faulty), "flag_faulty": flag * faulty, "flag_silent": flag * silent,
        "flag_loud": flag * loud, "flag_clean": flag * (1 - faulty), "placed": placed,
        "exact": placed * (gap == 0), "near": placed * (gap <= 1),
        "step_faults": names * placeable, "flag_step_faults": names * flag * placeable,
        "unplaced": (1 - names) * placeable,
    }
    for k, name in enumerate(t.types):
        out[f"type|{name}"] = seen * (true_kind == k)
        out[f"flag|{name}"] = flag * (true_kind == k)
        out[f"named|{name}"] = flag * (true_kind == k) * (kind == k)
        out[f"claimed|{name}"] = flag * (true_kind >= 0) * (kind == k)
    stated = seen & ~np.isnan(confidence)
    correct = (flag == faulty).astype(float)
    gap = np.where(stated, confidence - correct, 0.0)
    box = bin_of(np.where(stated, confidence, 0.0))
    out |= {"stated": stated.astype(float), "squared": gap**2}
    out |= {f"bin|{b}": gap * (box == b) for b in range(BINS)}
    for name, values in (("latency_s", t.latency_s), ("prompt_tokens", t.prompt_tokens),
                         ("completion_tokens", t.completion_tokens)):
        known = ~np.isnan(values[:, j])
        out |= {f"n|{name}": known.astype(float), name: np.where(known, values[:, j], 0.0)}
    return out


def ratios(c: Mapping[str, np.ndarray]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Turn weighted column sums into each quality metric's numerator and denominator.

    Parameters
    ----------
    c : mapping of str -> float or (B,) array
        Weighted sums of `columns`, one for each replicate.

    Returns
    -------
    dict of metric -> (numerator, denominator)
        Undefined where the denominator is 0.
    """
    f1, present, types = [], [], [name[5:] for name in c if name.startswith("type|")]
    for name in types:
        denominator = c[f"type|{name}"] + c[f"claimed|{name}"]
        f1.append(np.divide(2 * c[f"named|{name}"], denominator,
                            out=np.zeros_like(denominator), where=denominator > 0))
        present.append(c[f"type|{name}"] > 0)
    silent, loud = (np.divide(c[f"flag_{s}"], c[s], out=np.zeros_like(c[s]), where=c[s] > 0)
                    for s in ("silent", "loud"))
    return {
        "n_flagged": (c["flag"], (c["faulty"] + c["clean"] > 0).astype(float)),
        "precision": (c["flag_faulty"], c["flag"]),
        "recall": (c["flag_faulty"], c["faulty"]),
        "f1": (2 * c["flag_faulty"], (c["flag"] + c["faulty"]) * (c["faulty"] > 0)),
        "silent_recall": (c["flag_silent"], c["silent"]),
        "loud_recall": (c["flag_loud"], c["loud"]),
        "loud_minus_silent": (loud - silent, ((c["silent"] > 0) & (c["loud"] > 0)).astype(float)),
        "false_alarm_rate": (c["flag_clean"], c["clean"]),
        "step_exact": (c["exact"], c["placed"]),
        "step_within_one": (c["near"], c["placed"]),
        "step_exact_over_detected_faults": (c["exact"], c["flag_step_faults"]),
        "step_exact_over_all_faults": (c["exact"], c["step_faults"]),
        # Macro over the types the labels hold: the paper's six on its set (Table 3).
        "type_macro_f1": (sum(np.where(p, f, 0.0) for p, f in zip(present, f1, strict=True)),
                          np.asarray(sum(p.astype(float) for p in present))),
        **{f"recall|{name}": (c[f"flag|{name}"], c[f"type|{name}"]) for name in types},
        "ece": (sum(np.abs(c[f"bin|{b}"]) for b in range(BINS)), c["stated"]),
        "brier": (c["squared"], c["stated"]),
        "coverage": (c["ok"], c["all"]),
    }


def cost_ratios(c: Mapping[str, np.ndarray]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Do as `ratios` does, for the mean costs: sums over verdicts that record them."""
    return {metric: (c[metric.removesuffix("_mean")], c["n|" + metric.removesuffix("_mean")])
            for metric in COST}


def _rows(judge: str, cols: Mapping, given: Mapping = {}, unread: str = "") -> list[dict]:
    sums = {name: np.asarray(values.sum(), float) for name, values in cols.items()}
    found, rows = ratios(sums), []
    found |= cost_ratios(sums) | {"coverage": found.pop("coverage")}  # last, as in METRICS
    for metric, (top, bottom) in found.items():
        value, kind = float(top / bottom) if bottom > 0 else None, metric.partition("recall|")[2]
        whole = (kind or metric in PROPORTIONS) and value is not None  # a kind may be a user's
        k, n = (float(top), float(bottom)) if whole else (None, None)
        lacks = f"no {kind} fault was judged" if kind else WHY_UNDEFINED[metric]
        why = "" if value is not None else f"undefined: {lacks}"
        if metric in COST and value is None and metric in given:
            value, why, n = float(given[metric]), "", float(given["verdicts"])
        elif why and metric not in COST:
            unplaced = metric in _PLACES and sums["unplaced"]
            why = f"undefined: {unread or NO_STEP}" if unread or unplaced else why
        rows.append({"judge": judge, "metric": metric, "value": value, "k": k, "n": n, "why": why})
    return rows


def metrics(t: VerdictTable) -> pd.DataFrame:
    """Score every judge on every metric (paper Tables 3, 4, 6, 7 and 8).

    Parameters
    ----------
    t : VerdictTable

    Returns
    -------
    DataFrame
        One row per judge and metric: judge, metric, value, k, n, why. ``k``
        and ``n`` are the counts behind a proportion, conditional denominators
        included; ``value`` is None and ``why`` says so where undefined. Rates
        are in [0, 1]; higher is better except for false_alarm_rate, ece,
        brier and the costs.

    Examples
    --------
    >>> from tjlib.measure.table import table
    >>> from tjlib.trace import Label, Verdict
    >>> labels = [Label("a", True), Label("b", False)]
    >>> m = metrics(table(labels, [Verdict("a", "j", True), Verdict("b", "j", True)]))
    >>> m.set_index("metric").loc["precision", ["value", "k", "n"]].tolist()
    [0.5, 1.0, 2.0]
    """
    cost = {} if t.cost is None else t.cost.set_index("judge").to_dict("index")
    rows = []
    for judge in t.judges:
        rows += _rows(judge, columns(t, judge), cost.get(judge, {}), t.unread.get(judge, ""))
    # Object columns keep an undefined value None; a float column would turn it into NaN.
    return pd.DataFrame(rows, dtype=object)


def floors(t: VerdictTable) -> pd.DataFrame:
    """Score three judges that look at nothing, to read every real judge against.

    ``always faulty`` flags all, ``always clean`` none, and ``prevalence coin``
    flags each trajectory with the set's share of faults as its probability
    (expected counts, no draw). None states a type, step or confidence. A
    judge of the table with one of these names is an `InputError`.

    Parameters
    ----------
    t : VerdictTable

    Returns
    -------
    DataFrame
        As `metrics`.
    """
    faulty = t.faulty.astype(float)
    if taken := set(FLOORS) & set(t.judges):
        raise InputError(f"a judge is called {min(taken)!r}, as a floor is; rename the judge")
    rows = []
    for name, p in zip(FLOORS, (1.0, 0.0, faulty.mean()), strict=True):
        cols = columns(t, 0, flag=np.full(len(faulty), p))
        for free in ("latency_s", "prompt_tokens", "completion_tokens"):
            cols |= {free: 0 * faulty, f"n|{free}": np.ones_like(faulty)}
        rows += _rows(name, cols | {"ok": np.ones_like(faulty)})
    return pd.DataFrame(rows, dtype=object)
