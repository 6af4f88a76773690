"""What the members of a voting judge said, as far as its vote share tells.

Decision: a verdict whose confidence is the majority's share tells how many
members flagged, so the votes are read back rather than asked for (paper
section 7.4). Refusal: a confidence that is no vote share is not read as one,
and which member said what is not known and not guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
import pandas as pd
from scipy import stats

from tjlib.measure.table import VerdictTable
from tjlib.trace import STATUSES, InputError, Verdict

__all__ = ["MEMBERS", "agreement", "at_least", "single_votes", "votes"]

#: Members of the paper's ensemble (section 4).
MEMBERS = 3
_COUNTED = re.compile(r"(\d+)/(\d+) votes for faulty\b")  # as `tjlib.judges.panel.vote` writes it
_FAILED = re.compile(f"; (?:{'|'.join(status for status in STATUSES if status != 'ok')}): ")


def _count(judge: str, faulty: bool, confidence: float | None, members: int) -> int:
    # A table holds NaN where no confidence was stated.
    agreeing = -1.0 if confidence is None or np.isnan(confidence) else confidence * members
    # Shares are printed with few digits (2/3 as .6667).
    if abs(agreeing - round(agreeing)) > 0.01 or not members / 2 <= round(agreeing) <= members:
        raise InputError(f"judge {judge}: confidence {confidence} is not a majority's share of "
                         f"{members} votes")
    return round(agreeing) if faulty else members - round(agreeing)


def votes(t: VerdictTable, judge: str, members: int = MEMBERS) -> np.ndarray:
    """Count, for each trajectory, the members that flagged it.

    Parameters
    ----------
    t : VerdictTable
    judge : str
        A judge whose confidence is the majority's share of the votes.
    members : int

    Returns
    -------
    (n,) int array
        0 to ``members``; -1 where the judge gave no verdict.

    Raises
    ------
    InputError
        If a confidence is not a share of ``members`` votes.

    Examples
    --------
    >>> from tjlib.measure.table import table
    >>> from tjlib.trace import Label
    >>> said = [Verdict("a", "v", True, confidence=2 / 3), Verdict("b", "v", False, confidence=1.0)]
    >>> votes(table([Label("a", True), Label("b", False)], said), "v").tolist()
    [2, 0]
    """
    j = t.column(judge)
    return np.array([
        _count(judge, t.flag[i, j], t.confidence[i, j], members) if t.ok[i, j] else -1
        for i in range(len(t.labels))])


def at_least(
    verdicts: Iterable[Verdict], judge: str, need: int, members: int = MEMBERS
) -> list[Verdict]:
    """Let the same members decide by another rule: faulty from ``need`` votes on.

    Parameters
    ----------
    verdicts : iterable of Verdict
    judge : str
        The voting judge among them.
    need : int
        Votes it takes to flag, 1 to ``members``.
    members : int

    Returns
    -------
    list of Verdict
        Named "NEED of MEMBERS votes"; type, step and confidence are left out,
        since the release holds only the majority's. A reply that failed stays
        failed.

    Examples
    --------
    >>> one = Verdict("a", "v", False, confidence=2 / 3)
    >>> at_least([one], "v", 1)[0].faulty, at_least([one], "v", 2)[0].faulty
    (True, False)
    """
    name, out = f"{need} of {members} votes", []
    for v in verdicts:
        if v.judge == judge and v.status == "ok":
            flagged = _count(judge, v.faulty, v.confidence, members) >= need
            out.append(Verdict(v.trajectory_id, name, flagged))
        elif v.judge == judge:
            out.append(msgspec.structs.replace(v, judge=name))
    return out


def single_votes(verdicts: Iterable[Verdict], judge: str) -> pd.DataFrame:
    """Read from the rationale of a voting judge what its members said, failed ones told apart.

    Parameters
    ----------
    verdicts : iterable of Verdict
    judge : str

    Returns
    -------
    DataFrame
        One row per verdict whose rationale counts votes, also where they make
        no majority: trajectory_id, flagged (votes for faulty), read (votes
        that could be read).

    Examples
    --------
    >>> said = Verdict("a", "v", rationale="1/3 votes for faulty; unparsed: -", status="unparsed")
    >>> single_votes([said, Verdict("b", "v", True)], "v").to_dict("records")
    [{'trajectory_id': 'a', 'flagged': 1, 'read': 2}]
    """
    rows = [(v.trajectory_id, int(counted[1]), int(counted[2]) - len(_FAILED.findall(v.rationale)))
            for v in verdicts if v.judge == judge
            and (counted := _COUNTED.match(v.rationale or ""))]
    return pd.DataFrame(rows, columns=["trajectory_id", "flagged", "read"])


def agreement(
    count: np.ndarray, groups: Sequence[str], members: int = MEMBERS
) -> pd.DataFrame:
    """Compare the votes with members that err independently of each other.

    Parameters
    ----------
    count : (n,) int array
        Members that flagged each trajectory; -1 leaves it out.
    groups : sequence of str
        What each trajectory is; the members of a group share one rate of
        flagging, estimated from all their votes.
    members : int

    Returns
    -------
    DataFrame
        One row per group, in order of appearance: group, n, rate, then
        "0".."members" (trajectories with so many votes) and "independent 0"..
        (how many there would be, binomial at that rate).

    Examples
    --------
    >>> row = agreement(np.array([0, 0, 3, 3]), ["x"] * 4).iloc[0]
    >>> row["0"], round(row["independent 0"], 3)
    (2, 0.5)
    """
    frame = pd.DataFrame({"group": list(groups), "votes": count})
    frame = frame[frame["votes"] >= 0]
    out, values = [], range(members + 1)
    for group, rows in frame.groupby("group", sort=False):
        rate = rows["votes"].mean() / members
        alone = len(rows) * stats.binom.pmf(values, members, rate)
        out.append({"group": group, "n": len(rows), "rate": float(rate)}
                   | {str(v): int((rows["votes"] == v).sum()) for v in values}
                   | {f"independent {v}": float(alone[v]) for v in values})
    return pd.DataFrame(out, dtype=object)
