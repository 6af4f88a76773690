"""Labels and verdicts that belong together, checked line by line.

Decision: every fault of a file is told at its own line, before anything is
counted. Refusal: a verdict that fits no label, repeats, or points beyond a
trajectory's end stops the run; nothing is dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tjlib.jsonl import numbered
from tjlib.trace import FAULT_TYPES, FLOORS, InputError, Label, Trajectory, Verdict

__all__ = ["read_labels", "read_verdicts"]


def _check(
    where: str, record: Label | Verdict, lengths: Mapping[str, int] | None, types: Sequence[str]
) -> None:
    """Check a label's or verdict's type and step; ``lengths`` gives steps by trajectory."""
    kind, step = record.failure_type, record.failure_step
    if kind is not None and kind not in types:
        own = ", or give the --procedure that has it" if set(types) >= set(FAULT_TYPES) else ""
        raise InputError(
            f"{where}: unknown failure type {kind!r}; use one of {', '.join(types)}{own}")
    if lengths is None:
        return
    length = lengths.get(record.trajectory_id)
    if length is None:
        raise InputError(f"{where}: trajectory {record.trajectory_id!r} is not among the "
                         "trajectories; give the traces this file belongs to")
    if step is not None and step >= length:
        raise InputError(f"{where}: step {step} is beyond the end of {record.trajectory_id}, "
                         f"which has {length} steps, counted from 0; correct the step")


def _lengths(trajectories: Iterable[Trajectory] | None) -> dict[str, int] | None:
    if trajectories is None:
        return None
    return {t.trajectory_id: len(t.steps) for t in trajectories}


def read_labels(
    path: str | Path, trajectories: Iterable[Trajectory] | None = None,
    types: Sequence[str] = FAULT_TYPES,
) -> list[Label]:
    """Read and check a file of labels.

    Parameters
    ----------
    path : str or Path
        One label a line, or the release's trajectories with labels inside.
    trajectories : iterable of Trajectory, optional
        The trajectories they are about, to bound the failure steps.
    types : sequence of str
        The failure types there may be.

    Returns
    -------
    list of Label

    Raises
    ------
    InputError
        At ``FILE:LINE``, for a repeated trajectory, an unknown failure type, or a
        step or trajectory that does not exist.
    """
    lengths, first, labels = _lengths(trajectories), {}, []
    for line, label in numbered(path, Label):
        where, name = f"{path}:{line}", label.trajectory_id
        if name in first:
            raise InputError(f"{where}: a second label for {name}, first on line {first[name]}; "
                             "delete one")
        first[name] = line
        _check(where, label, lengths, types)
        labels.append(label)
    if not labels:
        raise InputError(f"{path}: no labels in it; give the labels' file")
    return labels


def read_verdicts(
    path: str | Path, labels: Iterable[Label] | None,
    trajectories: Iterable[Trajectory] | None = None, types: Sequence[str] = FAULT_TYPES,
) -> list[Verdict]:
    """Read a file of verdicts and check that it belongs to the labels.

    Parameters
    ----------
    path : str or Path
        One verdict a line, by any number of judges.
    labels : iterable of Label or None
        Of all trajectories that may be judged; None where there are only
        these ``trajectories``.
    trajectories : iterable of Trajectory, optional
        The trajectories themselves, to bound the failure steps.
    types : sequence of str
        The failure types there may be.

    Returns
    -------
    list of Verdict

    Raises
    ------
    InputError
        At ``FILE:LINE``, for a second verdict by one judge on one trajectory, an
        unknown trajectory or failure type, a step beyond the end, or a judge
        with a floor's name; and if no line holds a reply that could be read.
    """
    known = None if labels is None else {label.trajectory_id for label in labels}
    lengths, first, verdicts = _lengths(trajectories), {}, []
    for line, verdict in numbered(path, Verdict):
        where, key = f"{path}:{line}", (verdict.trajectory_id, verdict.judge)
        if known is not None and verdict.trajectory_id not in known:
            raise InputError(f"{where}: unknown trajectory {verdict.trajectory_id!r}; give the "
                             "labels these verdicts belong to")
        if verdict.judge in FLOORS:
            raise InputError(f"{where}: the judge is called {verdict.judge!r}, as a floor is; "
                             "rename the judge")
        if key in first:
            raise InputError(f"{where}: a second verdict by {verdict.judge} on {key[0]}, first on "
                             f"line {first[key]}; delete one")
        first[key] = line
        _check(where, verdict, lengths, types)
        verdicts.append(verdict)
    if not verdicts:
        raise InputError(f"{path}: no verdicts in it; run a judge first")
    if not any(verdict.status == "ok" for verdict in verdicts):
        counts = Counter(verdict.status for verdict in verdicts)
        what = ", ".join(f"{n} {status}" for status, n in counts.items())
        raise InputError(f"{path}: no verdict in it is a judgement ({what}); see the rationale in "
                         "its lines, mend the judge and judge into another file")
    return verdicts
