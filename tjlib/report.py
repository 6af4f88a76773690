"""Scores as a terminal shows them and as `score --json` prints them.

Decision: an undefined score is shown as a dash with its reason below, and the
floors stand under the judges. Refusal: nothing is computed or left out here.
"""

from __future__ import annotations

import pandas as pd

from tjlib.measure.table import VerdictTable, confusion

__all__ = ["records", "text"]

_BLOCKS = {
    "detection": ["coverage", "n_flagged", "precision", "recall", "f1", "silent_recall",
                  "loud_recall", "false_alarm_rate"],
    "place, type, confidence": ["step_exact", "step_within_one", "type_macro_f1", "ece", "brier"],
    "recall by type": [],  # as many as there are
    "cost": ["latency_s_mean", "prompt_tokens_mean", "completion_tokens_mean"],
}


_WHOLE = {"n_flagged", "latency_s_mean", "prompt_tokens_mean", "completion_tokens_mean"}


def _whole(count: float | None) -> int | float | None:
    return int(count) if count is not None and float(count).is_integer() else count


def _cell(row: dict) -> str:
    if row["value"] is None:
        return "-"
    # Rates to a fixed number of decimals; costs span seven decades, counts are whole.
    form = "{:.4g}" if row["metric"] in _WHOLE else "{:.3f}"
    text = form.format(row["value"])
    if row["lo"] is not None:
        text += f" [{form.format(row['lo'])}, {form.format(row['hi'])}]"
    return text


def records(table: VerdictTable, scores: pd.DataFrame) -> list[dict]:
    """Lay out scores, then the judges' confusion cells, as JSON objects.

    Parameters
    ----------
    table : VerdictTable
    scores : DataFrame
        Columns judge, metric, value, lo, hi, k, n, how, why.

    Returns
    -------
    list of dict
        Keys judge, metric, value, lo, hi, k, n; how the interval was made,
        or why there is none, or no value. A confusion cell's metric is
        ``TRUE->PREDICTED``, its value a count out of n faults of that type.
    """
    out = []
    for row in scores.to_dict("records"):
        record = {name: row[name] for name in ("judge", "metric", "value", "lo", "hi")}
        record |= {"k": _whole(row["k"]), "n": _whole(row["n"])}
        out.append(record | {name: row[name] for name in ("how", "why") if row[name]})
    for judge in table.judges:
        for true, cells in confusion(table, judge).iterrows():
            out += [{"judge": judge, "metric": f"{true}->{said}", "value": int(k), "lo": None,
                     "hi": None, "k": int(k), "n": int(cells.sum())} for said, k in cells.items()]
    return out


def text(scores: pd.DataFrame) -> str:
    """Lay out scores as plain text, one block of judges by metrics after another.

    Parameters
    ----------
    scores : DataFrame
        As `records`; differences of two judges are left to the JSON.

    Returns
    -------
    str
        Estimates with their 95 % intervals; ends with why each undefined
        score is undefined.
    """
    own = scores[~scores["judge"].str.contains(" - ", regex=False)]
    cells = own.assign(cell=[_cell(row) for row in own.to_dict("records")])
    wide = cells.pivot_table(index="judge", columns="metric", values="cell", aggfunc="first",
                             sort=False)
    typed = [name for name in wide if name.startswith("recall|")]
    parts, blocks = [], _BLOCKS | {"recall by type": typed}
    for title, names in blocks.items():
        block = wide[names].rename(columns=lambda name: name.removeprefix("recall|"))
        parts.append(block.rename_axis(index=None, columns=title).to_string())
    shown = own["metric"].isin([name for names in blocks.values() for name in names])
    undefined = own[own["value"].isna() & shown]
    reasons = [f"{metric} of {', '.join(rows['judge'])} is {why}"
               for (metric, why), rows in undefined.groupby(["metric", "why"], sort=False)]
    return "\n\n".join(parts + ["\n".join(reasons)] * bool(reasons))
