"""Episodes of tau-bench and its forks: a reward around chat messages.

Decision: the goal is the user's hidden brief, success is a reward of exactly
1 (a fork grades between), and the end marker of the simulated user is no
text. Refusal: an episode that crashed is no failure of the agent: it has no
success at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from tjlib.documents import Document, Unread
from tjlib.formats import chat
from tjlib.formats.imported import Imported, shown
from tjlib.trace import Step, Trajectory

__all__ = ["read", "recognise"]

#: What the simulated user says when it is done.
STOP = "###STOP###"


def recognise(value: object) -> bool:
    """Tell whether a value is an episode: messages under ``traj``, with a task or a reward."""
    return isinstance(value, dict) and "traj" in value and bool({"task_id", "reward"} & set(value))


def _failed(message: dict, text: str) -> bool:
    """Tell a refused call: the desk answers every one of them with this word."""
    return text.startswith("Error")


def _without_marker(step: Step) -> Step:
    if STOP not in (step.user or ""):
        return step
    rest = step.user.replace(STOP, "").strip()
    return Step(step.thought, step.calls, step.observations, rest or None, step.logprobs)


def _number(value: object) -> float | None:
    known = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if known and math.isfinite(value) else None


def _crash(info: dict) -> str:
    error = info.get("error") or info.get("traceback")
    return shown(error) if error else ""


def _episode(line: int, episode: dict) -> Imported | Unread:
    messages = episode["traj"]
    if not isinstance(messages, list):
        return Unread(line, "an episode whose traj is no list of messages")
    info = episode["info"] if isinstance(episode.get("info"), dict) else {}
    task = info["task"] if isinstance(info.get("task"), dict) else {}
    read = chat.read(messages, _failed)
    steps = tuple(map(_without_marker, read.steps))
    notes, crash = list(read.notes), _crash(info)
    reward = _number(episode.get("reward"))
    if crash:
        notes.append(f"crashed, so not judged: {crash}")
    elif not messages:
        notes.append("no messages, so not judged")
    elif reward is None:
        notes.append("no reward that is a number, so not judged")
    judged = reward is not None and bool(messages) and not crash
    brief = task.get("instruction")
    brief = brief if isinstance(brief, str) and brief else None
    task_id, trial = (None if episode.get(k) is None else str(episode[k])
                      for k in ("task_id", "trial"))
    name = "-".join(part for part in ("tau", task_id or f"line{line}", trial) if part is not None)
    try:
        trajectory = Trajectory(name, brief or read.opening, steps, read.answer)
    except ValueError as error:
        return Unread(line, f"an episode whose {error}")
    return Imported(
        trajectory, line, reward == 1.0 if judged else None, reward, task_id or name, trial,
        opening=read.opening if brief else "", procedure=read.procedure, notes=tuple(notes))


def read(found: Iterator[Document | Unread]) -> Iterator[Imported | Unread]:
    """Read episodes, each as one run; what is none comes back with its line."""
    for document in found:
        if isinstance(document, Unread):
            yield document
        elif recognise(document.value):
            yield _episode(document.line, document.value)
        else:
            yield Unread(document.line, "no episode of tau-bench")
