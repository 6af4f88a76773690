"""Our numbers beside the published ones.

Decision: a point value agrees when it rounds to what the paper prints; an
interval agrees within the tolerance an independent bootstrap is allowed
(+-.01 on 400-level metrics and deltas, one lattice step for cells of 50 or
25, +-.04 on typing). Refusal: a difference is reported, never absorbed.
"""

from __future__ import annotations

from decimal import Decimal

import pandas as pd

__all__ = ["compare", "digits", "tolerance"]


def digits(published: str | float, source: str = "") -> int:
    """Return how many decimals a published figure is printed with.

    A rate of Table 3 has three, even where its trailing zeros were dropped.

    Examples
    --------
    >>> digits("0.61"), digits("397"), digits("0.76", "paper Table 3")
    (2, 0, 3)
    """
    shown = max(0, -Decimal(str(published)).as_tuple().exponent)
    return 3 if source == "paper Table 3" and float(published) <= 1 else shown


def tolerance(metric: str, n: float | None) -> float:
    """Return how far an interval's end may lie from the published one.

    Parameters
    ----------
    metric : str
    n : float or None
        Trajectories behind the metric.

    Returns
    -------
    float

    Examples
    --------
    >>> tolerance("silent_recall", 175), tolerance("recall|wrong_tool", 50)
    (0.01, 0.02)
    """
    if metric == "type_macro_f1":
        return 0.04
    return 1 / n if n in (25, 50) else 0.01


def compare(ours: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Put each published figure beside ours and say whether they agree.

    Parameters
    ----------
    ours : DataFrame
        As `tjlib.measure.intervals.intervals` gives it, or with point values
        alone.
    published : DataFrame
        Columns subject, metric, published, published_lo, published_hi, n,
        source, with the figures as text.

    Returns
    -------
    DataFrame
        One row per published figure whose (judge, metric) is in ``ours``:
        judge, metric, published and ours with their bounds, agrees (bool),
        how, why, source.
    """
    mine = {(row["judge"], row["metric"]): row for row in ours.to_dict("records")}
    rows = []
    for p in published.to_dict("records"):
        row = mine.get((p["subject"], p["metric"]))
        if row is None:
            continue
        agrees = row["value"] is not None and (
            round(row["value"], digits(p["published"], p["source"])) == float(p["published"]))
        bounds = {}
        for end in ("lo", "hi"):
            text, got = p[f"published_{end}"], row.get(end)
            bounds |= {f"published_{end}": None if pd.isna(text) else float(text), end: got}
            if not pd.isna(text) and "lo" in row:
                near = tolerance(p["metric"], None if pd.isna(p["n"]) else float(p["n"]))
                agrees &= got is not None and abs(got - float(text)) <= near + 1e-9
        rows.append({"judge": p["subject"], "metric": p["metric"],
                     "published": float(p["published"]), "value": row["value"], **bounds,
                     "agrees": bool(agrees), "how": row.get("how", ""),
                     "why": row.get("why", ""), "source": p["source"]})
    return pd.DataFrame(rows, dtype=object)
