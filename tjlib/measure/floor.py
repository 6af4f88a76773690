"""A judge against the two that look at nothing: what it says, and what its F1 is worth.

Decision: both floors judge the very trajectories the judge was asked about,
in the same resamples, so that a base rate cannot pass for skill (paper section
7.3, which checks against always-faulty; always-clean is ours). Refusal: F1
alone calls no judge good, since it depends on the share of faults in the set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from tjlib.measure.intervals import intervals
from tjlib.measure.table import table
from tjlib.trace import FLOORS, Label, Verdict

__all__ = ["above_zero", "floor_check", "standing", "standings"]

_FAULTY = FLOORS[0]


def floor_check(
    labels: Sequence[Label], verdicts: Sequence[Verdict], rng: np.random.Generator, *,
    draws: int = 10_000,
) -> pd.DataFrame:
    """Compare every judge with always-faulty and always-clean.

    Parameters
    ----------
    labels : sequence of Label
    verdicts : sequence of Verdict
    rng : numpy.random.Generator
    draws : int

    Returns
    -------
    DataFrame
        One row per judge: judge, n (trajectories it was asked about), flagged
        (of these: as always-faulty says; the rest, as always-clean says), f1,
        value (its F1 less that of always-faulty on the same n; higher is
        better), lo, hi, how, why.

    Examples
    --------
    >>> labels = [Label("a", True), Label("b", False), Label("c", True)]
    >>> said = [Verdict("a", "j", False), Verdict("b", "j", False)]
    >>> row = floor_check(labels, said, np.random.default_rng(0), draws=5).iloc[0]
    >>> row["flagged"], row["n"], row["f1"], round(row["value"], 3)
    (0, 2, 0.0, -0.667)
    """
    floor = [Verdict(label.trajectory_id, _FAULTY, True) for label in labels]
    t = table(labels, [*floor, *verdicts])
    found = intervals(t, rng, draws=draws).set_index(["judge", "metric"])
    out = []
    for judge in t.judges[1:]:
        j, over = t.column(judge), found.loc[(f"{judge} - {_FAULTY}", "f1")]
        out.append({"judge": judge, "n": int(t.seen[:, j].sum()),
                    "flagged": int(t.flag[:, j].sum()), "f1": found.loc[(judge, "f1"), "value"]}
                   | {name: over[name] for name in ("value", "lo", "hi", "how", "why")})
    return pd.DataFrame(out, dtype=object)


def standing(row: dict) -> str:
    """Say where an estimate stands from zero: above, below, or not told from it.

    Where every resample gives the same value, that value decides.

    Examples
    --------
    >>> [standing({"value": v, "lo": v - .1, "hi": v + .1}) for v in (.2, -.2, 0.)]
    ['above', 'below', 'not told from']
    >>> standing({"value": None, "lo": None, "hi": None}), standing({"value": 0, "lo": None})
    ('undefined against', 'at')
    """
    if pd.isna(row["value"]):
        return "undefined against"
    lo, hi = (row["value"],) * 2 if pd.isna(row["lo"]) else (row["lo"], row["hi"])
    if lo > 0 or hi < 0:
        return "above" if lo > 0 else "below"
    return "at" if lo == hi else "not told from"


def standings(checked: pd.DataFrame, names: Mapping[str, str]) -> str:
    """Say of all judges together where their F1 stands from always-faulty's.

    A judge whose difference no resample moves has no interval, and is listed apart.

    Parameters
    ----------
    checked : DataFrame
        From `floor_check`.
    names : mapping of judge -> name
        The names to give them.

    Returns
    -------
    str

    Examples
    --------
    >>> rows = pd.DataFrame({"judge": ["a", "b"], "value": [.2, -.3], "lo": [.1, -.4],
    ...                      "hi": [.3, -.2]})
    >>> standings(rows, {"a": "A", "b": "B"})
    'above the floor: A; below the floor: B'
    """
    found: dict[str, list[str]] = {}
    for row in checked.to_dict("records"):
        fixed = pd.notna(row["value"]) and pd.isna(row["lo"])
        how = " in every resample alike, so without interval" if fixed else ""
        where = f"{standing(row)} the floor{how}"
        found.setdefault(where, []).append(names[row["judge"]])
    return "; ".join(f"{where}: {', '.join(judges)}" for where, judges in found.items())


def above_zero(found: pd.DataFrame, names: Mapping[str, str]) -> str:
    """Name the judges whose estimate is above zero, by interval or, listed apart, without one.

    Parameters
    ----------
    found : DataFrame
        One row per judge: judge, value, lo; lo is None where every resample
        gives the same value.
    names : mapping of judge -> name

    Returns
    -------
    str

    Examples
    --------
    >>> rows = pd.DataFrame({"judge": ["a", "b"], "value": [.2, .5], "lo": [-.1, None]})
    >>> above_zero(rows, {"a": "A", "b": "B"})
    'none with an interval; the same in every resample, so without one: B (0.500)'
    """
    rows = [row for row in found.to_dict("records") if pd.notna(row["value"])]
    told = [names[row["judge"]] for row in rows if pd.notna(row["lo"]) and row["lo"] > 0]
    fixed = [f"{names[row['judge']]} ({row['value']:.3f})" for row in rows
             if pd.isna(row["lo"]) and row["value"] > 0]
    if not fixed:
        return ", ".join(told) or "none"
    return (f"{', '.join(told) or 'none'} with an interval; the same in every resample, so "
            f"without one: {', '.join(fixed)}")
