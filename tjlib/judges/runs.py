"""A judge over a file of trajectories, to the end, whatever happens on the way.

Decision: each verdict is on disk before the next is asked for, and what made
it is on record beside it, so a killed run resumes where it was and never
judges twice; what a dying server did not judge is judged by the run that
follows (`judges.pool`). Refusal: verdicts made with another model, prompt or
options are not continued under one judge's name.
"""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import msgspec

from tjlib import __version__
from tjlib.formats.imported import shown
from tjlib.formats.registry import trajectories
from tjlib.jsonl import append, read
from tjlib.judges.pool import settled, unordered
from tjlib.provenance import Run, run_file
from tjlib.trace import InputError, Trajectory, Verdict

__all__ = ["Done", "Runnable", "keep", "record", "run"]

_log = logging.getLogger(__name__)


class Runnable(Protocol):
    """A judge as this module needs it."""

    name: str

    def identity(self) -> dict[str, Any] | None:
        """What makes its verdicts what they are; None if only the code does."""

    def judge(self, trajectory: Trajectory) -> Verdict:
        """Judge one trajectory; never raises."""


class Done(msgspec.Struct, frozen=True):
    """How a run ended: verdicts added, those that were there, the added by status.

    ``notes`` name the trajectories whose verdicts are to be read with care.
    """

    added: int
    there: int
    statuses: dict[str, int]
    notes: tuple[str, ...] = ()


def run(
    judge: Runnable, traces: str | Path, out: str | Path, *, workers: int = 1,
    format: str = "auto", limit: int | None = None, progress: Callable[..., Iterable] | None = None,
    elsewhere: Callable[[Iterable[Trajectory]], Iterable[Verdict]] | None = None,
) -> Done:
    """Judge what is not judged yet and add the verdicts to a file.

    Parameters
    ----------
    judge : Runnable
    traces : str or Path
        A log in any format that is known.
    out : str or Path
        Verdicts are added to it, in the order they are ready; ``runs.jsonl``
        beside it gets the record of the run.
    workers : int
        Calls under way at a time.
    format : str
        Its format, as `tjlib.formats.registry.stream`.
    limit : int, optional
        Judge only the first so many trajectories.
    progress : callable, optional
        Called as ``tqdm`` with the verdicts, ``total`` and ``initial``.
    elsewhere : callable, optional
        Takes the trajectories and gives their verdicts in any order, made by this judge in
        other processes; default this process, with ``workers``.

    Returns
    -------
    Done

    Raises
    ------
    InputError
        For bad files, a model out of reach, verdicts by another run under
        this judge's name, or `pool.PATIENCE` failed calls in a row; the verdicts
        before are kept.
    """
    if Path(out).name == run_file(out).name:
        raise InputError(f"{out}: that name is for the record of runs beside the verdicts; choose "
                         "another --out")
    if Path(traces).is_fifo():
        raise InputError(f"{traces}: a pipe can be read once, and a judge reads the log twice; "
                         "give a file")
    known, notes = _ids(traces, format)
    about = judge.identity()
    made_by = record(about) if about else None
    run_id = made_by and made_by.run_id
    there = _there(judge.name, run_id, out, traces, known)
    if made_by:
        keep(made_by, run_file(out))
    total = len(known) if limit is None else min(len(known), limit)
    todo = (t for _, t in islice(trajectories(traces, format), limit)
            if t.trajectory_id not in there)
    statuses: Counter[str] = Counter()

    def verdicts() -> Iterator[Verdict]:
        made = settled(elsewhere(todo) if elsewhere
                       else unordered(judge.judge, todo, max(1, workers)))
        for verdict in progress(made, total=total, initial=len(there)) if progress else made:
            statuses[verdict.status] += 1
            yield msgspec.structs.replace(verdict, run_id=run_id)

    added = append(out, verdicts())
    return Done(added, len(there), dict(statuses), notes)


def _ids(traces: str | Path, format: str) -> tuple[set[str], tuple[str, ...]]:
    ids: dict[str, int] = {}
    bare: list[str] = []
    for line, trajectory in trajectories(traces, format, tell=_log.warning):
        first = ids.setdefault(trajectory.trajectory_id, line)
        if first != line:
            raise InputError(f"{traces}:{line}: {trajectory.trajectory_id} is there twice, first "
                             f"on line {first}; delete one")
        if not trajectory.trajectory_id.strip():
            raise InputError(f"{traces}:{line}: the trajectory_id is empty; give it a name")
        if not trajectory.steps:
            bare.append(shown(trajectory.trajectory_id))
    if not ids:
        raise InputError(f"{traces}: no trajectories in it; give the file of the trajectories")
    return set(ids), tuple(f"{traces}: {name}: no step to look at, as in {len(bare)} of {len(ids)} "
                           "trajectories" for name in bare[:1])


def record(about: dict[str, Any]) -> Run:
    """Make the record of a run that starts now.

    Parameters
    ----------
    about : dict
        Its fields, but for id, version and date. All but ``server`` decide
        the id.

    Returns
    -------
    Run
    """
    deciding = {name: value for name, value in about.items() if name != "server"}
    text = msgspec.json.encode(deciding, order="sorted")
    return Run(run_id="r-" + hashlib.blake2b(text, digest_size=6).hexdigest(), tjlib=__version__,
               date=datetime.now(UTC).isoformat(timespec="seconds"), **about)


def keep(made_by: Run, path: Path) -> None:
    """Add a record to a file of them, unless only its date is new.

    Parameters
    ----------
    made_by : Run
    path : Path

    Raises
    ------
    InputError
        If the file holds anything else.
    """
    try:
        there = list(read(path, Run, torn_ok=True)) if path.exists() else []
    except InputError as error:
        raise InputError(f"{error}; a record of what ran is kept there, so choose another folder "
                         "for --out") from None
    if not any(msgspec.structs.replace(old, date=made_by.date) == made_by for old in there):
        append(path, [made_by])


def _there(
    name: str, run_id: str | None, out: str | Path, traces: str | Path, known: set[str]
) -> set[str]:
    """Find what this judge has judged, and that it all belongs to this run."""
    there: set[str] = set()
    if not Path(out).exists():
        return there
    for verdict in read(out, Verdict, torn_ok=True):
        if verdict.trajectory_id not in known:
            raise InputError(f"{out}: holds a verdict on {verdict.trajectory_id}, which is not in "
                             f"{traces}; choose another --out")
        if verdict.judge == name:
            if verdict.run_id != run_id:
                raise InputError(
                    f"{out}: holds verdicts of {name} by another run ({verdict.run_id}: another "
                    f"model, procedure, prompt or options, see {run_file(out).name}); choose "
                    "another --out")
            there.add(verdict.trajectory_id)
    return there
