"""Every rate of every judge as k of n, with its exact binomial interval.

Decision: where a judge flags almost nothing, resamples all look alike, so the
interval is the exact one everywhere; it takes trajectories as independent.
Refusal: a judge that says the same all over a design cell by construction gets
no interval, and no judge gets a rate from trajectories it was not asked about.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from tjlib.measure.attribution import exact_share
from tjlib.measure.resample import FIXED
from tjlib.measure.structural import structural
from tjlib.measure.table import VerdictTable
from tjlib.measure.verdicts import PROPORTIONS, metrics
from tjlib.trace import Verdict

__all__ = ["exact_rates", "judged_by_all", "tally"]


def exact_rates(t: VerdictTable, level: float = 0.95) -> pd.DataFrame:
    """Give every rate its exact interval.

    Parameters
    ----------
    t : VerdictTable
    level : float

    Returns
    -------
    DataFrame
        Columns judge, metric, value, lo, hi, k, n, how, why; the metrics of
        `tjlib.measure.verdicts.PROPORTIONS`. Higher is better, except for
        false_alarm_rate.

    Examples
    --------
    >>> from tjlib.measure.table import table
    >>> from tjlib.trace import Label
    >>> t = table([Label("a", False)], [Verdict("a", "j", True, confidence=0.9)])
    >>> exact_rates(t).set_index("metric").loc["false_alarm_rate", ["k", "n"]].tolist()
    [1.0, 1.0]
    """
    fixed = {judge: structural(t, judge) for judge in t.judges}
    rows = []
    for row in metrics(t).to_dict("records"):
        if row["metric"] not in PROPORTIONS:
            continue
        share = exact_share(row["k"], row["n"] or 0, level, row["why"])
        if fixed[row["judge"]] and share["value"] is not None:
            share |= {"lo": None, "hi": None, "how": "", "why": FIXED}
        rows.append({"judge": row["judge"], "metric": row["metric"]} | share)
    return pd.DataFrame(rows, dtype=object)


def judged_by_all(verdicts: Sequence[Verdict], judges: Sequence[str]) -> list[Verdict]:
    """Keep the verdicts of some judges on the trajectories that each of them was asked about.

    Examples
    --------
    >>> pairs = [("a", "x"), ("a", "y"), ("b", "x")]
    >>> said = [Verdict(name, judge, False, confidence=0.9) for name, judge in pairs]
    >>> [v.trajectory_id for v in judged_by_all(said, ["x", "y"])]
    ['a', 'a']
    """
    asked = [{v.trajectory_id for v in verdicts if v.judge == judge} for judge in judges]
    shared = set.intersection(*asked) if asked else set()
    return [v for v in verdicts if v.judge in judges and v.trajectory_id in shared]


def tally(verdicts: Sequence[Verdict]) -> pd.DataFrame:
    """Count by judge how many replies were asked for, read and flagged.

    Examples
    --------
    >>> said = [Verdict("a", "j", True), Verdict("b", "j", status="timeout")]
    >>> tally(said).loc["j"].to_dict()
    {'asked': 2, 'read': 1, 'flagged': 1}
    """
    counts: dict[str, dict[str, int]] = {}
    for verdict in verdicts:
        row = counts.setdefault(verdict.judge, {"asked": 0, "read": 0, "flagged": 0})
        row["asked"] += 1
        row["read"] += verdict.status == "ok"
        row["flagged"] += verdict.faulty is True
    return pd.DataFrame.from_dict(counts, orient="index", columns=["asked", "read", "flagged"])
