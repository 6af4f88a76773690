"""What can be told of the uncertainty paper's Table 2 from its printed numbers alone.

Decision: a cell is one model on one benchmark, and RUPA leads it only if no other method prints a
higher value. Refusal: nothing printed is corrected; where two printed numbers cannot both hold of
one set of runs, that is reported and not explained.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.optimize import brentq

__all__ = ["AVERAGE", "averages", "ceiling", "floor", "leads", "shares"]

#: The column that is no benchmark.
AVERAGE = "Average"
_CELL = ["model", "benchmark"]
#: Half of the last printed digit.
_ROUNDED = 0.0005
#: What an F1 may be below a bound that holds for many runs: ours, for benchmarks of some dozens.
_SLACK = 0.01


def leads(table: pd.DataFrame, metric: str = "auroc", ours: str = "RUPA") -> pd.DataFrame:
    """Compare one method's printed values with the highest of the others.

    Parameters
    ----------
    table : DataFrame
        Columns model, method, benchmark and the metric's.
    metric : {"auroc", "auprc", "f1"}
    ours : str
        The method that is to lead.

    Returns
    -------
    DataFrame
        One row a model and benchmark, in the table's order: model, benchmark, ours, other (the
        highest value of another method), by (that method), margin (ours minus other), leads.

    Examples
    --------
    >>> t = pd.DataFrame({"model": "m", "benchmark": "b", "method": ["A", "RUPA"],
    ...                   "auroc": [.7, .6]})
    >>> leads(t)[["by", "leads"]].to_dict("records")
    [{'by': 'A', 'leads': False}]
    """
    wide = table.pivot_table(index=_CELL, columns="method", values=metric)
    wide = wide.loc[list(dict.fromkeys(zip(table["model"], table["benchmark"], strict=True)))]
    others = wide.drop(columns=ours)
    found = pd.DataFrame({"ours": wide[ours], "other": others.max(axis=1),
                          "by": others.idxmax(axis=1)})
    found["margin"] = (found["ours"] - found["other"]).round(3)
    return found.assign(leads=found["margin"] >= 0).reset_index()


def averages(table: pd.DataFrame) -> pd.DataFrame:
    """Compare each printed average with the mean of its benchmarks.

    Parameters
    ----------
    table : DataFrame
        As `leads`, with all three metrics.

    Returns
    -------
    DataFrame
        One row a model, method and metric: printed, mean and off (printed minus mean).
    """
    long = table.melt(["model", "method", "benchmark"], var_name="metric")
    by = ["model", "method", "metric"]
    printed = long[long["benchmark"] == AVERAGE].set_index(by)["value"]
    mean = long[long["benchmark"] != AVERAGE].groupby(by)["value"].mean()
    found = pd.DataFrame({"printed": printed, "mean": mean})
    return found.assign(off=found["printed"] - found["mean"]).reset_index()


def ceiling(auroc: float, share: float) -> float:
    """Return the highest average precision a ranking of this AUROC can have, of many runs.

    A share of the failures as large as the AUROC stands first and the rest last: precision is
    convex in the false positives at each recall, so nothing else gives more.

    Parameters
    ----------
    auroc, share : float
        In (0, 1); share is that of the runs that failed.

    Returns
    -------
    float

    Examples
    --------
    >>> ceiling(1.0, 0.3), round(ceiling(0.5, 0.5), 3)
    (1.0, 0.712)
    """
    rest = 1 - share
    return float(1 + rest / share * np.log(share * auroc + rest))


def floor(auroc: float, share: float) -> float:
    """Return a value that average precision cannot be below, of many runs of this AUROC.

    False positives spread as the square root of recall give the least; where that is no ranking,
    the true least is higher.

    Parameters
    ----------
    auroc, share
        As `ceiling`.

    Returns
    -------
    float

    Examples
    --------
    >>> round(floor(0.5, 0.5), 3)
    0.444
    """
    return 8 / 9 * share / (2 * (1 - share) * (1 - auroc) + share)


def _solve(bound, value: float, auroc: float) -> float:
    """Find the share of failures at which a bound has a value; both bounds rise with it."""
    ends = 1e-6, 1 - 1e-6
    low, high = (bound(auroc, end) - value for end in ends)
    if low >= 0 or high <= 0:
        return ends[int(low < 0)]
    return brentq(lambda share: bound(auroc, share) - value, *ends)


def shares(table: pd.DataFrame) -> pd.DataFrame:
    """Bound the share of failed runs behind each cell, and the best F1 it forces.

    All six methods of a cell are said to rank the same runs, so one share must suit every printed
    pair of AUROC and average precision. Calling every run failed has F1 2p / (1 + p) at share p,
    so no method's largest F1 over thresholds is below that.

    Parameters
    ----------
    table : DataFrame
        As `averages`; averages are left out.

    Returns
    -------
    DataFrame
        One row a model and benchmark: least and most (bounds on the share; least above most: no
        share suits all six), forced (F1 at the least share), below (methods whose printed F1 is
        lower than that by more than a hundredth, for the bounds are of many runs).
    """
    rows = []
    for (model, benchmark), cell in table[table["benchmark"] != AVERAGE].groupby(_CELL, sort=False):
        pairs = cell[["auroc", "auprc"]].to_numpy()
        least = max(_solve(ceiling, ap - _ROUNDED, a + _ROUNDED) for a, ap in pairs)
        most = min(_solve(floor, ap + _ROUNDED, a - _ROUNDED) for a, ap in pairs)
        forced = 2 * least / (1 + least)
        rows.append({"model": model, "benchmark": benchmark, "least": least, "most": most,
                     "forced": forced,
                     "below": cell.loc[cell["f1"] < forced - _SLACK, "method"].tolist()})
    return pd.DataFrame(rows)
