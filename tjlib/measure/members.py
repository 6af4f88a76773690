"""What each member of a panel catches, alone, together, and in which kind of run.

Decision: a member's part is what the panel loses without it, so a fault that
two members see is nobody's alone. Refusal: the intervals are exact binomial
ones over runs; how a run was broken, and with which words, was chosen and not
drawn, so no interval here is about ways or wordings in general.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from tjlib.measure.attribution import exact_share
from tjlib.measure.table import VerdictTable
from tjlib.trace import FAULT_TYPES

__all__ = ["CLEAN", "added", "by_way", "wholly"]

#: What stands for a fault type where there is no fault.
CLEAN = "clean"
_NONE = "undefined: the judge bears on no such run"


def _types(t: VerdictTable) -> dict[str, np.ndarray]:
    """Give the rows of each fault type, in the paper's order, the clean ones last."""
    named = {name: t.true_kind == k for k, name in enumerate(FAULT_TYPES)}
    return {name: rows for name, rows in (named | {CLEAN: ~t.faulty}).items() if rows.any()}


def by_way(
    t: VerdictTable, ways: Mapping[str, str], judges: Sequence[str], level: float = 0.95
) -> pd.DataFrame:
    """Count the runs flagged by the way they were made.

    Parameters
    ----------
    t : VerdictTable
    ways : mapping of trajectory_id -> name of the way
    judges : sequence of str
    level : float

    Returns
    -------
    DataFrame
        One row per judge, fault type ("clean" last) and way ("all" last):
        judge, type, way, survival (silent, loud, both or clean), value (share
        flagged, in [0, 1]: higher is better for a fault, lower for "clean"),
        lo, hi, k, n, how, why.

    Examples
    --------
    >>> from tjlib.measure.table import table
    >>> from tjlib.trace import Label, Verdict
    >>> t = table([Label("a", False), Label("b", False)],
    ...           [Verdict("a", "j", True), Verdict("b", "j", False)])
    >>> by_way(t, {"a": "x", "b": "y"}, ["j"])[["type", "way", "k", "n"]].values.tolist()
    [['clean', 'x', 1, 1], ['clean', 'y', 0, 1], ['clean', 'all', 1, 2]]
    """
    way = np.array([ways[label.trajectory_id] for label in t.labels], object)
    right = np.array([label.outcome_correct is True for label in t.labels])
    out = []
    for judge in judges:
        j = t.column(judge)
        for kind, rows in _types(t).items():
            for name in [*dict.fromkeys(way[rows]), "all"]:
                mine = rows if name == "all" else rows & (way == name)
                ends = set(right[mine])
                survival = ("clean" if kind == CLEAN else "both" if len(ends) > 1 else
                            "silent" if ends == {True} else "loud")
                seen = mine & t.seen[:, j]
                out.append({"judge": judge, "type": kind, "way": name, "survival": survival}
                           | exact_share(int(t.flag[seen, j].sum()), int(seen.sum()), level, _NONE))
    return pd.DataFrame(out, dtype=object)


def added(
    t: VerdictTable, whole: str, without: Mapping[str, str], level: float = 0.95
) -> pd.DataFrame:
    """Count what a panel flags with a member and would not flag without it.

    Parameters
    ----------
    t : VerdictTable
    whole : str
        The panel's name.
    without : mapping of member -> name of the panel that lacks it
    level : float

    Returns
    -------
    DataFrame
        One row per member and fault type ("clean" last): member, type, value
        (share of the runs, in [0, 1]), lo, hi, k, n, how, why.

    Examples
    --------
    >>> from tjlib.measure.table import table
    >>> from tjlib.trace import Label, Verdict
    >>> t = table([Label("a", True, 2, "wrong_tool", True)],
    ...           [Verdict("a", "both", True), Verdict("a", "one", False)])
    >>> added(t, "both", {"other": "one"})[["member", "type", "k", "n"]].values.tolist()
    [['other', 'wrong_tool', 1, 1]]
    """
    j, out = t.column(whole), []
    for member, rest in without.items():
        only = t.flag[:, j] & ~t.flag[:, t.column(rest)]
        for kind, rows in _types(t).items():
            seen = rows & t.seen[:, j]
            out.append({"member": member, "type": kind}
                       | exact_share(int(only[seen].sum()), int(seen.sum()), level, _NONE))
    return pd.DataFrame(out, dtype=object)


def wholly(
    t: VerdictTable, judge: str, units: Mapping[str, str], level: float = 0.95
) -> dict:
    """Count the units, such as sentences, of which every run is flagged.

    Parameters
    ----------
    t : VerdictTable
    judge : str
    units : mapping of trajectory_id -> unit
        Runs that are not in it do not count.
    level : float

    Returns
    -------
    dict
        value (share of units, in [0, 1]), lo, hi, k, n, how, why.

    Examples
    --------
    >>> from tjlib.measure.table import table
    >>> from tjlib.trace import Label, Verdict
    >>> t = table([Label(x, False) for x in "abc"], [Verdict(x, "j", x != "c") for x in "abc"])
    >>> found = wholly(t, "j", {"a": "one", "b": "two", "c": "two"})
    >>> found["k"], found["n"]
    (1, 2)
    """
    j, missed = t.column(judge), {}
    for row, label in enumerate(t.labels):
        unit = units.get(label.trajectory_id)
        if unit is not None and t.seen[row, j]:
            missed[unit] = missed.get(unit, 0) + int(not t.flag[row, j])
    return exact_share(sum(not n for n in missed.values()), len(missed), level, _NONE)
