"""Scores as a terminal shows them and as `score --json` prints them.

Decision: an undefined score is shown as a dash with its reason below, and the
floors stand under the judges. Refusal: nothing is computed or left out here.
"""

from __future__ import annotations

import pandas as pd

from tjlib.measure.table import VerdictTable, confusion
from tjlib.trace import FAULT_TYPES

__all__ = ["records", "text"]

_BLOCKS = {
    "detection": ["n_flagged", "precision", "recall", "f1", "silent_recall", "loud_recall",
                  "false_alarm_rate"],
    "place, type, confidence": ["step_exact", "step_within_one", "type_macro_f1", "ece", "brier"],
    "recall by type": [f"recall|{kind}" for kind in FAULT_TYPES],
    "cost": ["latency_s_mean", "prompt_tokens_mean", "completion_tokens_mean", "coverage"],
}


def _whole(count: float | None) -> int | float | None:
    return int(count) if count is not None and float(count).is_integer() else count


def _column(values: pd.Series, rate: bool) -> pd.Series:
    # Rates to a fixed number of decimals; costs span seven decades, counts are whole.
    form = "{:.3f}" if rate and values.name != "n_flagged" else "{:.4g}"
    return values.map(lambda value: "-" if pd.isna(value) else form.format(value))


def records(table: VerdictTable, scores: pd.DataFrame) -> list[dict]:
    """Lay out scores, then the judges' confusion cells, as JSON objects.

    Parameters
    ----------
    table : VerdictTable
    scores : DataFrame
        Columns judge, metric, value, k, n, why.

    Returns
    -------
    list of dict
        Keys judge, metric, value, k, n; and why where value is None. A
        confusion cell's metric is ``TRUE->PREDICTED``, its value a count out
        of n faults of that type.
    """
    out = []
    for row in scores.to_dict("records"):
        record = {"judge": row["judge"], "metric": row["metric"], "value": row["value"],
                  "k": _whole(row["k"]), "n": _whole(row["n"])}
        out.append(record | ({"why": row["why"]} if row["value"] is None else {}))
    for judge in table.judges:
        for true, cells in confusion(table, judge).iterrows():
            out += [{"judge": judge, "metric": f"{true}->{said}", "value": int(k), "k": int(k),
                     "n": int(cells.sum())} for said, k in cells.items()]
    return out


def text(scores: pd.DataFrame) -> str:
    """Lay out scores as plain text, one block of judges by metrics after another.

    Parameters
    ----------
    scores : DataFrame
        Columns judge, metric, value, k, n, why.

    Returns
    -------
    str
        Ends with why each undefined score is undefined.
    """
    wide = scores.pivot_table(index="judge", columns="metric", values="value", aggfunc="first",
                              sort=False, dropna=False)
    parts = []
    for title, names in _BLOCKS.items():
        block = wide[names].rename(columns=lambda name: name.removeprefix("recall|"))
        block = block.rename_axis(index=None, columns=title)
        parts.append(block.apply(_column, rate=title != "cost").to_string())
    shown = scores["metric"].isin([name for names in _BLOCKS.values() for name in names])
    undefined = scores[scores["value"].isna() & shown]
    reasons = [f"{metric} undefined for {', '.join(rows['judge'])}: {why}"
               for (metric, why), rows in undefined.groupby(["metric", "why"], sort=False)]
    return "\n\n".join(parts + ["\n".join(reasons)] * bool(reasons))
