"""What is known of a run from elsewhere than its own lines.

Decision: outcomes of label files are joined by the trajectory's id, else by
the task's; what a file of labels says that the user named outweighs the log's
own judge, any other only fills a gap. Refusal: a label that names its task by
a bare number is not joined unless its file was named, as every benchmark has
a task 3; and two runs of one id are not merged: the second gets a number.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tjlib.containers import place
from tjlib.formats.imported import Imported, Outcome
from tjlib.formats.sidecar import beside, restored
from tjlib.trace import to_json

__all__ = ["Join"]


def _steps(said: Outcome, run: Imported) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return the steps that a label blames, and what of it is no step of the run."""
    of = {message: step for step, message in enumerate(run.messages)}
    steps = {step for step in said.steps_failed if step < len(run.trajectory.steps)}
    steps |= {of[message] for message in said.messages_failed if message in of}
    odd = [f"step {step}" for step in said.steps_failed if step not in steps]
    odd += [f"message {message}" for message in said.messages_failed if message not in of]
    return tuple(sorted(steps)), tuple(f"its label blames {what}, which is no step" for what in odd)


class Join:
    """Joins the runs of one log, as they come, with what label files say."""

    def __init__(self, path: Path, given: dict[str, Outcome], found: dict[str, Outcome],
                 rows: Iterator[dict[str, Any]] | None) -> None:
        self._path, self._given, self._beside, self._rows = path, given, found, rows
        self._ahead: dict[str, dict[str, Any]] = {}
        self._first: dict[str, tuple[bytes, str, int]] = {}
        self._times: dict[str, int] = {}
        self._used: set[str] = set()

    def run(self, run: Imported, source: str) -> Imported:
        """Return a run with its outcome, its file and an id of its own."""
        run = replace(run, source=source)
        run = self._labelled(run if source else self._with_row(run))
        if not run.trajectory.trajectory_id.strip():  # it could be neither judged nor labelled
            name = f"line{run.line}"
            run = replace(run, trajectory=replace(run.trajectory, trajectory_id=name),
                          notes=(*run.notes, "its id is blank"))
        own = name = run.trajectory.trajectory_id
        digest = hashlib.blake2b(to_json(run.trajectory), digest_size=8).digest()
        while name in self._first:
            self._times[own] = self._times.get(own, 1) + 1
            name = f"{own}~{self._times[own]}"
        self._first[name] = digest, source, run.line
        if name == own:
            return run
        known, *where = self._first[own]
        notes = run.notes
        if known == digest:
            notes += (f"the same run as {place(self._path, *where)}",)
        return replace(run, trajectory=replace(run.trajectory, trajectory_id=name), notes=notes)

    def _with_row(self, run: Imported) -> Imported:
        """Give back what a conversion wrote beside, as a rule in the order of the runs."""
        if self._rows is None:
            return run
        name = run.trajectory.trajectory_id
        while name not in self._ahead and (row := next(self._rows, None)) is not None:
            self._ahead[str(row.get("trajectory_id"))] = row
        about = self._ahead.pop(name, None)
        whole = restored(run.trajectory, about, run.line) if about else None
        return whole or replace(run, notes=(
            *run.notes, f"nothing that fits it in {beside(self._path).name}"))

    def _labelled(self, run: Imported) -> Imported:
        names = [name for name in (run.trajectory.trajectory_id, run.task_id) if name]
        for labels in (self._given, self._beside):
            name = next((name for name in names if name in labels), None)
            if name is None or (labels is self._beside and name.isdigit()):
                continue
            said, notes = labels[name], run.notes
            if name in self._used:
                return replace(run, notes=(*notes, f"the label of {name} is of an earlier run"))
            self._used.add(name)
            filled = labels is self._given or run.success is None
            success = said.success if filled and said.success is not None else run.success
            steps, odd = _steps(said, run)
            return replace(run, success=success, steps_failed=steps or run.steps_failed,
                           notes=notes + odd)
        return run

    def left(self) -> Iterator[str]:
        """Tell which labels were not joined: they fit no run, or it is not clear that they do."""
        if left := [name for name in self._given if name not in self._used]:
            yield (f"{len(left)} of the {len(self._given)} labels given fit no run, "
                   f"the first is {left[0][:60]!r}")
        if bare := sum(name.isdigit() for name in self._beside):
            yield (f"{bare} labels in it name their tasks by bare numbers, which may be those of "
                   "another benchmark, and were not joined; give their file with --labels")
