"""Our own trajectories, and those of the judging paper's release.

Decision: a release's line holds its label, whose ``outcome_correct`` is the
success: a silent fault may end well and a clean run may not. Refusal: our own
labels are another file's, so our own lines have no success.
"""

from __future__ import annotations

from collections.abc import Iterator

from tjlib import release
from tjlib.badline import mismatch
from tjlib.documents import Document, Unread
from tjlib.formats.imported import Imported, Outcome
from tjlib.trace import InputError, Label, Trajectory, from_json

__all__ = ["outcomes", "read", "recognise"]


def recognise(value: object) -> bool:
    """Tell whether a value has the fields of our trajectories or the release's."""
    return isinstance(value, dict) and {"trajectory_id", "goal", "steps"} <= set(value)


def outcomes(value: object) -> dict[str, Outcome] | None:
    """Read a line of our labels, or of anyone's ``task_id`` and ``success``."""
    if not isinstance(value, dict) or {"judge", "judge_id", "steps", "messages"} & set(value):
        return None
    name = value.get("trajectory_id", value.get("task_id"))
    success = value.get("outcome_correct", value.get("success"))
    step = value.get("failure_step")
    if not isinstance(name, str | int) or not {"faulty", "success"} & set(value):
        return None
    return {str(name): Outcome(success if isinstance(success, bool) else None,
                               (step,) if type(step) is int and step >= 0 else ())}


def _run(document: Document) -> Imported:
    line = document.text.encode()
    if not release.is_shaped(line):
        trajectory = from_json(Trajectory, line)
        return Imported(trajectory, document.line, task_id=trajectory.trajectory_id)
    label = release.decode(Label, line)
    return Imported(release.decode(Trajectory, line), document.line, label.outcome_correct,
                    task_id=label.instance_id)


def read(found: Iterator[Document | Unread]) -> Iterator[Imported | Unread]:
    """Read trajectories one by one; what is none comes back with its line."""
    for document in found:
        if isinstance(document, Unread):
            yield document
            continue
        try:
            yield _run(document)
        except InputError as problem:
            yield Unread(document.line, mismatch(Trajectory, document.text.encode(), problem))
