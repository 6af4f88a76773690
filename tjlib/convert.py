"""A log of any format counted, and written as our trajectories.

Decision: one pass in flat memory, and everything that was not read is told as
it is met; what is written replaces its files whole or not at all. Refusal:
nothing is written where no run could be read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from tjlib.containers import place
from tjlib.documents import Unread
from tjlib.formats.imported import Imported, short
from tjlib.formats.registry import spare, stream, told
from tjlib.formats.sidecar import beside, label, row
from tjlib.jsonl import atomic
from tjlib.trace import InputError, to_json

__all__ = ["Count", "convert", "count", "counted"]


@dataclass
class Count:
    """How much of a log was read, and how much was not."""

    formats: dict[str, int] = field(default_factory=dict)
    runs: int = 0
    steps: int = 0
    calls: int = 0
    observations: int = 0
    judged: int = 0
    succeeded: int = 0
    labelled: int = 0
    notes: int = 0
    unread: int = 0
    passed: int = 0

    def add(self, run: Imported) -> None:
        """Count a run."""
        self.runs += 1
        for step in run.trajectory.steps:
            self.steps += 1
            self.calls += len(step.calls)
            self.observations += len(step.observations)
        self.judged += run.success is not None
        self.succeeded += run.success is True
        self.labelled += bool(run.steps_failed)
        self.notes += len(run.notes)

    def text(self) -> str:
        """Say it in a sentence or two."""
        formats = ", ".join(self.formats) or "no format"
        return (f"runs: {self.runs} ({formats}), steps: {self.steps}, calls: {self.calls}, "
                f"observations: {self.observations}; with an outcome: "
                f"{self.judged}, of them good: {self.succeeded}, with a failed step: "
                f"{self.labelled}; places not read: {self.unread}, files passed over: "
                f"{self.passed}, notes: {self.notes}")


def counted(
    done: Count, path: str | Path, format: str = "auto", labels: str | Path | None = None, *,
    tell: Callable[[str], None],
) -> Iterator[Imported]:
    """Read the runs of a log one at a time, and count them.

    Parameters
    ----------
    done : Count
        Is brought up to date before each run.
    path, format, labels
        As `tjlib.formats.registry.stream`.
    tell : callable
        Is told one line for each place not read, file passed over and note.

    Yields
    ------
    Imported

    Raises
    ------
    InputError
        As `tjlib.formats.registry.stream`.
    """
    for item in stream(path, format, labels):
        if isinstance(item, str):
            done.formats[item] = done.formats.get(item, 0) + 1
        elif isinstance(item, Imported):
            done.add(item)
            where = f"{place(path, item.source, item.line)}: {short(item.trajectory.trajectory_id)}"
            for note in item.notes:
                tell(f"{where}: {note}")
            yield item
        else:
            done.unread += isinstance(item, Unread)
            done.passed += not isinstance(item, Unread)
            tell(told(path, item))


def count(*args, **more) -> Count:
    """Count a log; the arguments are those of `counted` without the first."""
    done = Count()
    for _ in counted(done, *args, **more):
        pass
    return done


def convert(
    path: str | Path, to: str | Path, format: str = "auto", labels: str | Path | None = None, *,
    tell: Callable[[str], None],
) -> tuple[Count, list[Path]]:
    """Write a log as our trajectories, and what it says of them beside.

    Parameters
    ----------
    path, format, labels, tell
        As `counted`.
    to : str or Path
        Gets the trajectories; NAME.runs.jsonl beside it all else that the log
        holds of them, NAME.labels.jsonl the outcomes as labels, if any.

    Returns
    -------
    tuple of Count and list of Path
        The files written.

    Raises
    ------
    InputError
        As `counted`, if no run could be read or if a file cannot be written.
    """
    names = [Path(to), beside(to), beside(to, "labels")]
    for name in names:
        spare(name, path, labels)
    with ExitStack() as stack:
        traces, rows, truth = (stack.enter_context(atomic(name)) for name in names)
        done = Count()
        for run in counted(done, path, format, labels, tell=tell):
            traces.write(to_json(run.trajectory) + b"\n")
            rows.write(row(run) + b"\n")
            if (said := label(run)) is not None:
                truth.write(to_json(said) + b"\n")
        if not done.runs:
            raise InputError(f"{path}: no run could be read, so nothing was written")
    if not (done.judged or done.labelled):
        names.pop().unlink()
    return done, names
