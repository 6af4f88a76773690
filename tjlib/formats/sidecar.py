"""What a log says of its runs, in a file beside their trajectories.

Decision: `tjlib convert` writes the trajectories to one file and all else that
an importer found (outcome, task, model, notes) to another, a line a run in the
same order, and every command that reads the first finds the second by its
name. Refusal: no outcome stands in the trajectories' file, which judges read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from tjlib.formats.imported import Imported
from tjlib.trace import Label, Trajectory

__all__ = ["beside", "label", "restored", "row", "rows"]


def beside(path: str | Path, what: str = "runs") -> Path:
    """Return the name of the file beside one of trajectories.

    >>> beside("t.jsonl").name, beside("t.jsonl", "labels").name
    ('t.runs.jsonl', 't.labels.jsonl')
    """
    path = Path(path)
    return path.with_name(f"{path.name.removesuffix('.jsonl')}.{what}.jsonl")


def row(run: Imported) -> bytes:
    """Write all but the trajectory of a run as one line of JSON."""
    about = msgspec.to_builtins(run)
    about["trajectory_id"] = about.pop("trajectory")["trajectory_id"]
    return msgspec.json.encode(about)


def label(run: Imported) -> Label | None:
    """Return what the log says of a run's outcome as a label; None if it says nothing.

    Faulty means that its judge called the outcome wrong, or somebody blamed a step.
    """
    if run.success is None and not run.steps_failed:
        return None
    faulty = run.success is False or bool(run.steps_failed)
    step = min(run.steps_failed, default=None)
    return Label(run.trajectory.trajectory_id, faulty, step, outcome_correct=run.success,
                 instance_id=run.task_id if run.task_id.isprintable() else None)


def rows(path: str | Path) -> Iterator[dict[str, Any]] | None:
    """Read the lines beside a file of trajectories; None if there is no such file."""
    path = Path(path)
    return _rows(beside(path)) if path.is_file() and beside(path).is_file() else None


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as file:
        for line in file:
            try:
                about = msgspec.json.decode(line)
            except (msgspec.DecodeError, RecursionError):
                continue  # a run without a row says so
            if isinstance(about, dict):
                yield about


def restored(trajectory: Trajectory, about: dict[str, Any], line: int) -> Imported | None:
    """Put a trajectory and its line from beside together; None if they do not fit."""
    own = {name: value for name, value in about.items() if name != "trajectory_id"}
    bare = Trajectory(trajectory.trajectory_id, "", (), "")
    try:
        run = msgspec.convert({**own, "trajectory": msgspec.to_builtins(bare)}, Imported)
    except msgspec.ValidationError:
        return None
    return msgspec.structs.replace(run, trajectory=trajectory, line=line, source="")
