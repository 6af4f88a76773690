"""Judges that were not asked about the same trajectories, put on those that they share.

Decision: a difference of two judges is over the trajectories both were asked
about, because a judge of a hundred and a judge of four hundred differ by their
sets as well; whoever shows them beside each other gets a sentence that says
who judged how many. Refusal: a judge's own scores are never cut down to
another's set, and a reply that failed is asked all the same.
"""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pandas as pd

from tjlib.measure.table import VerdictTable

__all__ = ["APART", "common", "coverage", "shared_pairs", "uneven"]

#: Why two judges have no difference.
APART = "undefined: the two judged no trajectory in common"


def common(t: VerdictTable, *judges: str) -> VerdictTable:
    """Keep these judges, and the trajectories that all of them were asked about.

    Parameters
    ----------
    t : VerdictTable
    *judges : str

    Returns
    -------
    VerdictTable
        Possibly of no trajectory.

    Examples
    --------
    >>> from tjlib.measure.table import table
    >>> from tjlib.trace import Label, Verdict
    >>> t = table([Label("a", True), Label("b", False)],
    ...           [Verdict("a", "j", True), Verdict("b", "j", True), Verdict("b", "k", True)])
    >>> [label.trajectory_id for label in common(t, "j", "k").labels]
    ['b']
    """
    at = [t.column(judge) for judge in judges]
    rows = np.flatnonzero(t.seen[:, at].all(axis=1))
    arrays = {f.name: getattr(t, f.name) for f in fields(t)}
    arrays = {name: x for name, x in arrays.items() if isinstance(x, np.ndarray)}
    return replace(
        t, judges=judges, labels=tuple(t.labels[row] for row in rows),
        unread={judge: why for judge, why in t.unread.items() if judge in judges},
        **{name: x[rows] if x.ndim == 1 else x[np.ix_(rows, at)] for name, x in arrays.items()})


def uneven(t: VerdictTable, a: int, b: int) -> bool:
    """Tell whether two judges, by column, were asked about different trajectories."""
    return bool((t.seen[:, a] != t.seen[:, b]).any())


def shared_pairs(pairs: pd.DataFrame, a: str, b: str) -> pd.DataFrame | None:
    """Return the rows of two judges on the pairs both judged; None where that is all of them.

    Parameters
    ----------
    pairs : DataFrame
        From `tjlib.measure.pairs.pairs_from`. A table of counts, which does
        not know its pairs, is taken to be of judges that judged the same.
    a, b : str

    Returns
    -------
    DataFrame or None

    Examples
    --------
    >>> pairs = pd.DataFrame({"pair": ["p", "q", "q"], "judge": ["a", "a", "b"]})
    >>> shared_pairs(pairs, "a", "b")["pair"].tolist()
    ['q', 'q']
    """
    if "pair" not in pairs:
        return None
    rows = pairs[pairs["judge"].isin((a, b))]
    both = rows[rows.groupby("pair")["judge"].transform("size") == 2]
    return both if len(both) < len(rows) else None


def coverage(t: VerdictTable) -> str:
    """Say, for a page, how many trajectories each judge was asked about.

    Parameters
    ----------
    t : VerdictTable

    Returns
    -------
    str

    Examples
    --------
    >>> from tjlib.measure.table import table
    >>> from tjlib.trace import Label, Verdict
    >>> said = [Verdict("a", "j", True), Verdict("b", "j", True), Verdict("b", "k", True)]
    >>> t = table([Label("a", True), Label("b", False)], said)
    >>> coverage(t), coverage(common(t, "j"))
    ('j judged 2 of 2, k 1 of 2', 'each judged all 2')
    """
    asked = [t.unread.get(judge) or int(t.seen[:, j].sum()) for j, judge in enumerate(t.judges)]
    if set(asked) == {len(t.labels)}:
        return f"each judged all {len(t.labels)}"
    parts = [f"{judge}: {n}" if isinstance(n, str) else
             f"{judge} {'judged ' * (j == 0)}{n} of {len(t.labels)}"
             for j, (judge, n) in enumerate(zip(t.judges, asked, strict=True))]
    return ", ".join(parts)
