"""Is the riskiest step the step of the fault, and is its source?

Decision: two answers to compare with stand beside each share, a step at random
and where the riskiest step of the same case's clean run falls, because scores
prefer some places whatever happens there. Refusal: a fault whose run has no
riskiest step is left out and not counted as missed.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from tjlib.measure.attribution import exact_share
from tjlib.trace import FAULT_TYPES, Label

__all__ = ["WHAT", "located"]

#: Share -> what it counts.
WHAT = {
    "peak": "riskiest step", "source": "source of its heaviest edge",
    "clean peak": "riskiest step of the clean run", "clean source": "its source, clean run",
}


def located(peaks: pd.DataFrame, labels: Sequence[Label]) -> pd.DataFrame:
    """Count how often a peak, or the source of its heaviest edge, is at the failure step.

    Parameters
    ----------
    peaks : DataFrame
        One row a run: trajectory_id, steps (how many), peak and source (steps,
        0-based).
    labels : sequence of Label

    Returns
    -------
    DataFrame
        One row a fault type (and "all") and share: group, what (of `WHAT`),
        value, lo, hi (exact binomial), k, n, how, why, and chance, what a step
        of the run at random would be.

    Examples
    --------
    >>> labels = [Label("a", False), Label("b", True, 1, "wrong_tool", parent_id="a")]
    >>> peaks = pd.DataFrame({"trajectory_id": ["a", "b"], "steps": [4, 4], "peak": [1, 2],
    ...                       "source": [0, 1]})
    >>> located(peaks, labels).query("group == 'all'")["value"].tolist()
    [0.0, 1.0, 1.0, 0.0]
    """
    at = peaks.set_index("trajectory_id").to_dict("index")
    rows = []
    for label in labels:
        here, clean = at.get(label.trajectory_id), at.get(label.parent_id)
        if not label.faulty or label.failure_step is None or here is None:
            continue
        step = label.failure_step
        rows.append({
            "group": label.failure_type, "chance": 1 / here["steps"],
            "peak": here["peak"] == step, "source": here["source"] == step,
            "clean peak": None if clean is None else clean["peak"] == step,
            "clean source": None if clean is None else clean["source"] == step})
    found = pd.DataFrame(rows, columns=["group", "chance", *WHAT])
    out = []
    for group in (*FAULT_TYPES, "all"):
        mine = found if group == "all" else found[found["group"] == group]
        for what in WHAT:
            known = mine[mine[what].notna()]
            out.append({"group": group, "what": what, "chance": known["chance"].mean()
                        if len(known) else None} | exact_share(
                int(known[what].sum()), len(known), why="undefined: no such fault with a peak"))
    return pd.DataFrame(out, dtype=object)
