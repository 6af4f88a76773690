"""What is known of a run from elsewhere than its own lines.

Decision: outcomes of label files are joined by the trajectory's id, else by
the task's; what a file of labels says that the user named outweighs the log's
own judge, any other only fills a gap. Refusal: two runs of one id are not
merged: the second gets a number, and a note if it is the first once more.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from tjlib.containers import place
from tjlib.formats.imported import Imported, Outcome
from tjlib.trace import to_json

__all__ = ["Join"]


class Join:
    """Joins the runs of one log, as they come, with what label files say."""

    def __init__(self, path: Path, given: dict[str, Outcome], beside: dict[str, Outcome]) -> None:
        self._path, self._given, self._beside = path, given, beside
        self._first: dict[str, tuple[bytes, str]] = {}
        self._times: dict[str, int] = {}
        self._used: set[str] = set()

    def run(self, run: Imported, source: str) -> Imported:
        """Return a run with its outcome, its file and an id of its own."""
        run = self._labelled(replace(run, source=source) if source else run)
        own = name = run.trajectory.trajectory_id
        digest = hashlib.blake2b(to_json(run.trajectory), digest_size=8).digest()
        while name in self._first:
            self._times[own] = self._times.get(own, 1) + 1
            name = f"{own}~{self._times[own]}"
        where = place(self._path, source, run.line)
        self._first[name] = digest, where
        if name == own:
            return run
        same = self._first[own]
        notes = run.notes + ((f"the same run as {same[1]}",) if same[0] == digest else ())
        return replace(run, trajectory=replace(run.trajectory, trajectory_id=name), notes=notes)

    def _labelled(self, run: Imported) -> Imported:
        names = [name for name in (run.trajectory.trajectory_id, run.task_id) if name]
        for labels in (self._given, self._beside):
            name = next((name for name in names if name in labels), None)
            if name is None:
                continue
            said, notes = labels[name], run.notes
            if name in self._used:
                notes += (f"its label is that of task {name}, which other runs have too",)
            self._used.add(name)
            filled = labels is self._given or run.success is None
            success = said.success if filled and said.success is not None else run.success
            return replace(run, success=success, notes=notes,
                           steps_failed=said.steps_failed or run.steps_failed)
        return run

    def left(self) -> Iterator[str]:
        """Tell which of the labels that the user named fit no run."""
        if left := [name for name in self._given if name not in self._used]:
            yield (f"{len(left)} of the {len(self._given)} labels given fit no run, "
                   f"the first is {left[0][:60]!r}")
