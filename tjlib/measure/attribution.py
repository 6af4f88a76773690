"""Of the faults a judge detects, which it names and places right.

Decision: shares are of detected faults, so a flag without a type or a step
counts against the judge; the paper's localisation, which leaves such flags
out (section 5), stands beside it. Refusal: a type of which nothing was
detected has no share.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from tjlib.measure.resample import clopper_pearson
from tjlib.measure.table import VerdictTable
from tjlib.measure.verdicts import NO_STEP
from tjlib.trace import FAULT_TYPES

__all__ = ["SHARES", "attribution", "exact_share"]

#: Share -> (counted, out of), in the masks of `attribution`.
SHARES = {
    "mistyped": ("mistyped", "detected"),
    "step_exact": ("exact", "placed"),
    "step_exact_over_detected": ("exact", "detected"),
}


def exact_share(k: int, n: int, level: float = 0.95, why: str = "") -> dict:
    """Return k of n as an estimate with its exact binomial interval.

    Parameters
    ----------
    k, n : int
    level : float
    why : str
        What to say when n is 0.

    Returns
    -------
    dict
        value, lo, hi, k, n, how, why.

    Examples
    --------
    >>> round(exact_share(8, 8)["lo"], 3), exact_share(0, 0, why="undefined: none")["value"]
    (0.631, None)
    """
    row = {"value": None, "lo": None, "hi": None, "k": k, "n": n, "how": "", "why": why}
    if not n:
        return row
    lo, hi = clopper_pearson(k, n, level)
    return row | {"value": k / n, "lo": lo, "hi": hi, "how": "exact binomial", "why": ""}


def attribution(t: VerdictTable, judge: str, level: float = 0.95) -> pd.DataFrame:
    """Count, type by type, how a judge's detected faults were named and placed.

    Parameters
    ----------
    t : VerdictTable
    judge : str
    level : float
        Of the exact binomial intervals.

    Returns
    -------
    DataFrame
        One row per type ("all" last) and name in `SHARES`: type, share,
        value, lo, hi, k, n, how, why. "mistyped" (lower is better) counts a
        flag that names another type or none; "step_exact" is over flags that
        carry a step, "step_exact_over_detected" over all flagged faults with
        a labelled step (both: higher is better; undefined where the judge names
        no step at all).

    Examples
    --------
    >>> from tjlib.measure.table import table
    >>> from tjlib.trace import Label, Verdict
    >>> t = table([Label("a", True, 2, "wrong_tool")], [Verdict("a", "j", True, 2)])
    >>> attribution(t, "j").set_index(["type", "share"])["value"].loc["all"].to_dict()
    {'mistyped': 1.0, 'step_exact': 1.0, 'step_exact_over_detected': 1.0}
    """
    j, out = t.column(judge), []
    found = t.flag[:, j] & t.faulty
    placed = found & (t.true_step >= 0) & (t.step[:, j] >= 0)
    masks = {
        "mistyped": found & (t.kind[:, j] != t.true_kind), "detected": found, "placed": placed,
        "exact": placed & (t.step[:, j] == t.true_step),
    }
    stepless = not (t.step[:, j] >= 0).any()
    for k, name in [*enumerate(FAULT_TYPES), (None, "all")]:
        mine = t.true_kind >= 0 if k is None else t.true_kind == k
        for share, (top, bottom) in SHARES.items():
            kept = mine & (t.true_step >= 0) if top == "exact" else mine
            if why := t.unread.get(judge) or (NO_STEP if top == "exact" and stepless else ""):
                kept = np.zeros_like(mine)
            counts = [int((masks[m] & kept).sum()) for m in (top, bottom)]
            what = "detected" if bottom == "detected" else "flagged with a step"
            why = why or f"no such fault was {what}"
            out.append({"type": name, "share": share}
                       | exact_share(*counts, level, f"undefined: {why}"))
    return pd.DataFrame(out, dtype=object)
