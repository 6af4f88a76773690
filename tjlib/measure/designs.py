"""The same verdicts under other resampling designs: what an interval owes to its unit.

Decision: a design is a unit (trajectory, or instance with all its
trajectories) and the cells whose sizes every replicate keeps; only these
change, the metrics and the draw do not. Refusal: no design is called the right
one, and where the labels name no instances that design has a reason, not a
number.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from tjlib.measure.intervals import intervals
from tjlib.measure.table import VerdictTable

__all__ = ["DESIGNS", "designs"]

#: What is drawn; the first is the paper's (section 5, Appendix F).
DESIGNS = (
    "trajectories, within design cells", "trajectories, within survival",
    "trajectories, freely", "instances, freely",
)


def designs(
    t: VerdictTable, rng: np.random.Generator, metric: str, *, draws: int = 10_000
) -> pd.DataFrame:
    """Give one metric its interval under each of `DESIGNS`.

    Parameters
    ----------
    t : VerdictTable
    rng : numpy.random.Generator
    metric : str
    draws : int
        Replicates for each design.

    Returns
    -------
    DataFrame
        One row per design and judge: design, judge, metric, value, lo, hi, k,
        n, how, why as `intervals` gives them, and ratio: the interval's width
        over its width in the first design. The ratio is None unless both
        widths were bootstrapped, since an exact interval knows no design.

    Examples
    --------
    >>> from tjlib.measure.table import table
    >>> from tjlib.measure.worked import parse
    >>> t = table(*parse(["clean | clean 0.9", "clean | faulty - - 0.6"]))
    >>> found = designs(t, np.random.default_rng(0), "false_alarm_rate", draws=50)
    >>> found["ratio"].tolist(), found["why"].iloc[-1]
    ([1.0, 1.0, 1.0, None], 'undefined: the labels name no instances')
    """
    survival, cell = np.unique([name.rpartition("/")[2] for name in t.cells], return_inverse=True)
    plans = zip(DESIGNS, (
        (t, "trajectory"),
        (replace(t, cells=tuple(survival.tolist()), cell=cell[t.cell]), "trajectory"),
        (replace(t, cells=("all",), cell=0 * t.cell), "trajectory"),
        (t, "instance"),
    ), strict=True)
    rows, width = [], {}
    for design, (changed, by) in plans:
        found = intervals(changed, rng, draws=draws, by=by)
        chosen = found[(found["metric"] == metric) & found["judge"].isin(t.judges)]
        for row in chosen.to_dict("records"):
            drawn = row["how"] == "percentile"
            wide = row["hi"] - row["lo"] if drawn else None
            first = width.setdefault(row["judge"], wide)
            ratio = float(wide / first) if wide is not None and first else None
            rows.append({"design": design} | row | {"ratio": ratio})
    return pd.DataFrame(rows, dtype=object)
