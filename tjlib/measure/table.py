"""Labels and verdicts joined as arrays, one row a trajectory, one column a judge.

Decision: a judge that was never asked about a trajectory leaves that
trajectory out of its denominators, as does one that had nothing to go by
(``not_applicable``); one that was asked and failed votes clean at confidence
.5, as the paper counts it (section 4). None of the three is covered.
Where fewer than half of a judge's replies could be read (our choice),
such votes would outnumber its own, and it counts as not asked.
Refusal: nothing is scored here, and a verdict that has no label, or appears
twice, stops the join.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from tjlib.trace import FAULT_TYPES, InputError, Label, Verdict

__all__ = ["MIN_READ", "VerdictTable", "confusion", "patterns", "table", "unreadable"]

#: The share of a judge's replies that must be readable for it to be scored: our choice.
MIN_READ = 0.5


@dataclass(frozen=True)
class VerdictTable:
    """Labels and verdicts as arrays: n trajectories by J judges.

    Attributes
    ----------
    judges : tuple of str
        In order of first appearance.
    labels : tuple of Label
        The n rows.
    cells : tuple of str
        Names of the design cells (clean, or TYPE/silent, TYPE/loud).
    cell : (n,) int array
        Each row's design cell.
    faulty : (n,) bool array
        The label's word.
    seen, ok, flag : (n, J) bool arrays
        Whether the judge was asked what it could judge, answered, and said
        faulty. A judge in ``unread`` has been asked nothing.
    kind, step : (n, J) int arrays
        Verdict's type (index into ``types``) and step, -1 where none.
    confidence, latency_s, prompt_tokens, completion_tokens : (n, J) float arrays
        NaN where not recorded.
    true_kind, true_step : (n,) int arrays
        The label's type and step, -1 where none.
    cost : DataFrame or None
        Mean cost by judge where only the means are published.
    unread : dict of str -> str
        By judge too few of whose replies could be read: why none is scored.
    types : tuple of str
        The failure types there may be.
    """

    judges: tuple[str, ...]
    labels: tuple[Label, ...]
    cells: tuple[str, ...]
    cell: np.ndarray
    faulty: np.ndarray
    true_kind: np.ndarray
    true_step: np.ndarray
    seen: np.ndarray
    ok: np.ndarray
    flag: np.ndarray
    kind: np.ndarray
    step: np.ndarray
    confidence: np.ndarray
    latency_s: np.ndarray
    prompt_tokens: np.ndarray
    completion_tokens: np.ndarray
    cost: pd.DataFrame | None = None
    unread: Mapping[str, str] = field(default_factory=dict)
    types: tuple[str, ...] = FAULT_TYPES

    def column(self, judge: str) -> int:
        """Return the judge's column; raise `InputError` naming the judges there are."""
        if judge not in self.judges:
            raise InputError(f"no verdicts by {judge!r}; judges here: {', '.join(self.judges)}")
        return self.judges.index(judge)


def _cell(label: Label) -> str:
    if not label.faulty:
        return "clean"
    survival = {True: "silent", False: "loud", None: "unknown"}[label.outcome_correct]
    return f"{label.failure_type or 'untyped'}/{survival}"


def unreadable(ok: Sequence[bool]) -> str:
    """Say why a judge is not scored if too few of its replies could be read, else nothing.

    Examples
    --------
    >>> unreadable([True, False, False]), unreadable([True, False])
    ('only 1 of 3 replies could be read', '')
    """
    read, asked = sum(ok), len(ok)
    if read >= MIN_READ * asked:
        return ""
    return f"only {read} of {asked} replies could be read" if read else "no reply could be read"


def _type_index(kind: str | None, who: str, types: tuple[str, ...]) -> int:
    if kind is None:
        return -1
    if kind not in types:
        raise InputError(f"{who}: unknown failure type {kind!r}; known: {', '.join(types)}")
    return types.index(kind)


def table(
    labels: Sequence[Label], verdicts: Iterable[Verdict], cost: pd.DataFrame | None = None,
    types: tuple[str, ...] = FAULT_TYPES,
) -> VerdictTable:
    """Join verdicts to labels.

    Parameters
    ----------
    labels : sequence of Label
        One for each trajectory.
    verdicts : iterable of Verdict
        At most one for each (trajectory, judge). A trajectory that a judge
        was never asked about, or that it had nothing to go by on, leaves that
        judge's denominators.
    cost : DataFrame, optional
        Columns judge, verdicts and the three cost means, for verdicts that
        carry no cost of their own.
    types : tuple of str
        The failure types there may be.

    Returns
    -------
    VerdictTable

    Raises
    ------
    InputError
        For a repeated label or verdict, a verdict without a label, an unknown
        failure type, or no verdict at all.

    Examples
    --------
    >>> labels = [Label("a", True, outcome_correct=True), Label("b", False)]
    >>> t = table(labels, [Verdict("a", "j", True), Verdict("b", "j", False)])
    >>> t.cells, t.flag[:, 0].tolist()
    (('clean', 'untyped/silent'), [True, False])
    """
    rows = {label.trajectory_id: row for row, label in enumerate(labels)}
    if len(rows) < len(labels):
        raise InputError("two labels name the same trajectory; keep one")
    verdicts = list(verdicts)
    if not verdicts:
        raise InputError("no verdicts to score")
    judges = tuple(dict.fromkeys(v.judge for v in verdicts))
    column = {judge: j for j, judge in enumerate(judges)}
    shape = (len(labels), len(judges))
    given, seen, ok, flag = (np.zeros(shape, bool) for _ in range(4))
    kind, step = np.full(shape, -1, np.int8), np.full(shape, -1, np.int32)
    confidence, latency, prompt, completion = (np.full(shape, np.nan) for _ in range(4))
    for v in verdicts:
        who = f"judge {v.judge} on {v.trajectory_id}"
        if v.trajectory_id not in rows:
            raise InputError(f"{who}: no label for this trajectory; pass the labels it belongs to")
        at = rows[v.trajectory_id], column[v.judge]
        if given[at]:
            raise InputError(f"{who}: two verdicts; keep one")
        given[at], seen[at] = True, v.status != "not_applicable"
        ok[at], flag[at] = v.status == "ok", bool(v.faulty)
        kind[at] = _type_index(v.failure_type, who, types)
        step[at] = -1 if v.failure_step is None else v.failure_step
        # The paper's rule (section 4): a reply that cannot be read votes clean at .5.
        stated = v.confidence if ok[at] else 0.5 if seen[at] else None
        for array, value in ((confidence, stated), (latency, v.latency_s),
                             (prompt, v.prompt_tokens), (completion, v.completion_tokens)):
            array[at] = np.nan if value is None else value
    unread = {}
    for j, judge in enumerate(judges):
        if why := unreadable(ok[seen[:, j], j].tolist()):
            unread[judge] = why
            seen[:, j] = flag[:, j] = False
            kind[:, j] = step[:, j] = -1
            confidence[:, j] = np.nan
    cells, cell = np.unique([_cell(label) for label in labels], return_inverse=True)
    return VerdictTable(
        judges, tuple(labels), tuple(cells.tolist()), cell,
        np.array([x.faulty for x in labels]),
        np.array([_type_index(x.failure_type, f"label of {x.trajectory_id}", types)
                  for x in labels]),
        np.array([-1 if x.failure_step is None else x.failure_step for x in labels]),
        seen, ok, flag, kind, step, confidence, latency, prompt, completion, cost, unread, types,
    )


def patterns(t: VerdictTable) -> np.ndarray:
    """Number each trajectory by its pattern: design cell, label and every judge's verdict.

    Parameters
    ----------
    t : VerdictTable

    Returns
    -------
    (n,) int array
        Equal numbers for trajectories that no quality metric can tell apart;
        cost is no part of a pattern; survival is, even where all cells are put together.

    Examples
    --------
    >>> labels = [Label(name, False) for name in "abc"]
    >>> t = table(labels, [Verdict(name, "j", name == "b") for name in "abc"])
    >>> patterns(t).tolist()
    [0, 1, 0]
    """
    survived = np.unique([str(x.outcome_correct) for x in t.labels], return_inverse=True)[1]
    codes = [t.cell, survived, t.true_kind, t.true_step]
    parts = [t.seen, t.ok, t.flag, t.kind, t.step, np.nan_to_num(t.confidence, nan=-1.0)]
    for j in range(len(t.judges)):
        view = np.column_stack([part[:, j] for part in parts])
        codes.append(np.unique(view, axis=0, return_inverse=True)[1].ravel())
    return np.unique(np.column_stack(codes), axis=0, return_inverse=True)[1].ravel()


def confusion(t: VerdictTable, judge: str) -> pd.DataFrame:
    """Count what the judge called each type of fault (paper Figure 4).

    Parameters
    ----------
    t : VerdictTable
    judge : str

    Returns
    -------
    DataFrame
        Rows the true types, columns the types and ``missed`` (not
        flagged, or flagged with no type); integer counts of faulty
        trajectories the judge was asked about.
    """
    j = t.column(judge)
    named = np.where(t.kind[:, j] >= 0, t.kind[:, j], len(t.types))
    keep = (t.true_kind >= 0) & t.seen[:, j]
    counts = np.zeros((len(t.types), len(t.types) + 1), int)
    np.add.at(counts, (t.true_kind[keep], named[keep]), 1)
    return pd.DataFrame(counts, pd.Index(t.types, name="true"), [*t.types, "missed"])
