"""Scores of runs, and how good they are, as a terminal shows them.

Decision: the riskiest runs stand first, and what could not be computed is one
line a reason instead of an empty column. Refusal: nothing is computed here,
and no method is left out because it does badly.
"""

from __future__ import annotations

import pandas as pd

from tjlib.compact import Compact, compact
from tjlib.formats.imported import short

__all__ = ["evaluation", "ranked"]

_SHOWN = {
    "pooled": {"auroc": "AUROC", "average_precision": "AP", "best_f1": "best F1",
               "youden_f1": "F1 at Youden's J", "prr": "PRR"},
    "only pairs that share, and length": {
        "auroc|same_length": "same length", "auroc|same_task": "same task",
        "auroc|same_model": "same model", "rank_correlation|length": "correlation with length"},
}


def _reasons(rows: pd.DataFrame, by: str) -> list[str]:
    return [f"{', '.join(dict.fromkeys(group[by]))}: {why}"
            for why, group in rows.groupby("why", sort=False)]


def _runs(n: int) -> str:
    return f"{n} run" + "s" * (n != 1)


def ranked(found: pd.DataFrame | Compact, most: int = 20) -> str:
    """Lay out the riskiest runs, by the first method that has a score.

    Parameters
    ----------
    found : DataFrame or Compact
        As `scoring.scores` or `compact`.
    most : int
        Runs shown.

    Returns
    -------
    str
        A table, then the methods without any score and why.
    """
    runs, values, why, _ = compact(found)
    table = values.dropna(axis=1, how="all")
    parts = []
    if len(table.columns):
        first = table.columns[0]
        shown = table.sort_values(first, ascending=False, kind="stable").head(most)
        if runs["success"].notna().any():
            outcome = runs.loc[shown.index, "success"]
            shown.insert(0, "outcome", outcome.map({True: "success", False: "failure"}).fillna("-"))
        shown.index = [short(name) for name in shown.index]
        parts.append(shown.rename_axis(columns=None).to_string(
            float_format="{:.4g}".format, na_rep="-"))
        rest = f"; {len(table) - most} more are not shown" * (len(table) > most)
        parts.append(f"{_runs(len(table))}, the likeliest to fail by {first} first{rest}")
    never = why[~why["method"].isin(table.columns)]
    return "\n\n".join(parts + ["\n".join(_reasons(never, "method"))] * (not never.empty))


def _cell(row: dict) -> str:
    if row["value"] is None:
        return "-"
    text = f"{row['value']:.3f}"
    return text if row["lo"] is None else f"{text} [{row['lo']:.3f}, {row['hi']:.3f}]"


def evaluation(table: pd.DataFrame) -> str:
    """Lay out how well each method ranks, beside what no knowledge gives.

    Parameters
    ----------
    table : DataFrame
        As `scoring.evaluate`.

    Returns
    -------
    str
        Values with their 95 % intervals, differences below the methods, then
        what is undefined or to be read with care, and why.
    """
    silent = table[~table["method"].isin(table.dropna(subset=["value"])["method"])]
    shown = table.drop(silent.index)
    cells = shown.assign(cell=[_cell(row) for row in shown.to_dict("records")])
    grid = cells.pivot_table(index="method", columns="metric", values="cell", aggfunc="first",
                             sort=False)
    pairs = table.dropna(subset=["pairs"]).groupby("metric", sort=False)["pairs"].first()
    chance = table.dropna(subset=["chance"]).groupby("metric", sort=False)["chance"].first()
    parts = []
    for title, names in _SHOWN.items():
        if grid.empty:  # no method has any value
            break
        block = grid[[name for name in names if name in grid]].copy()
        block.loc["(no knowledge)"] = [
            f"{chance[name]:.3f}" if name in chance else "-" for name in block]
        parts.append(block.rename(columns=names).rename_axis(
            index=None, columns=title).to_string())
    n = table.iloc[0]
    counts = ", ".join(f"{pairs[name]} {_SHOWN[title][name]}" for title in _SHOWN
                       for name in _SHOWN[title] if name in pairs.index)
    parts.append(f"{_runs(n['n'])}, {n['n_failed']} of them failed, {n['n_unjudged']} more without "
                 f"an outcome; pairs compared: {counts}. Best F1 is chosen on these runs.")
    undefined = shown[shown["value"].isna()]
    notes = shown[shown["note"] != ""].rename(columns={"why": "reason", "note": "why"})
    alone = silent[~silent["method"].str.contains(" - ", regex=False)]
    lines = [*_reasons(alone, "method"), *_reasons(undefined, "metric"),
             *_reasons(notes, "metric")]
    return "\n\n".join(parts + ["\n".join(lines)] * bool(lines))
