"""Episodes of tau-bench and its forks: a reward around chat messages.

Decision: the goal is the user's hidden brief, success is a reward of exactly
1 (a fork grades between), and the end marker of the simulated user is no
text. Refusal: an episode that crashed is no failure of the agent: it has no
success at all.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from tjlib.documents import Document, Unread
from tjlib.formats import chat
from tjlib.formats.fields import each, listed, run, text, under
from tjlib.formats.imported import Imported, Outcome, number, shown
from tjlib.trace import Step

__all__ = ["outcomes", "read", "recognise", "without_marker", "without_stop"]

#: What the simulated user says when it is done.
STOP = "###STOP###"


def recognise(value: object) -> bool:
    """Tell whether a value is an episode: messages under ``traj``, with a task or a reward."""
    return isinstance(value, dict) and "traj" in value and bool({"task_id", "reward"} & set(value))


def outcomes(value: object) -> dict[str, Outcome] | None:
    """Read a label of AgentRx: the messages, counted from 1, at which an episode went wrong."""
    if not isinstance(value, dict) or not {"trajectory_id", "failures", "root_cause"} <= set(value):
        return None
    numbers = {at for failure in listed(value["failures"])
               if type(at := under(failure, "step_number")) is int}
    return {str(value["trajectory_id"]): Outcome(None, messages_failed=tuple(
        sorted(at - 1 for at in numbers if at > 0)))}


def _failed(message: dict, said: str) -> bool:
    """Tell a refused call: the desk answers every one of them with this word."""
    return said.startswith("Error")


def without_stop(said: str) -> str:
    """Return a text without the end marker."""
    return said.replace(STOP, "").strip() if STOP in said else said


def without_marker(step: Step) -> Step:
    """Return a step whose texts do not hold the end marker."""
    if STOP not in (step.user or "") and STOP not in step.thought:
        return step
    return replace(step, user=without_stop(step.user or "") or None,
                   thought=without_stop(step.thought))


def _episode(document: Document) -> Imported | Unread:
    episode, line = document.value, document.line
    messages, info = episode["traj"], episode.get("info")
    if not isinstance(messages, list):
        return Unread(line, "an episode whose traj is no list of messages")
    read = chat.read(chat.numbered(messages), _failed)
    notes, reward = list(read.notes), number(episode.get("reward"))
    crash = under(info, "error") or under(info, "traceback")
    if crash:
        notes.append(f"crashed, so not judged: {shown(crash)}")
    elif not messages:
        notes.append("no messages, so not judged")
    elif reward is None:
        notes.append("no reward that is a number, so not judged")
    judged = reward is not None and bool(messages) and not crash
    brief = text(under(info, "task", "instruction"))
    task_id, trial = (None if episode.get(k) is None else str(episode[k])
                      for k in ("task_id", "trial"))
    name = "-".join(part for part in ("tau", task_id or f"line{line}", trial) if part is not None)
    return run(
        line, name, brief or read.opening, tuple(map(without_marker, read.steps)), read.answer,
        success=reward == 1.0 if judged else None, reward=reward, task_id=task_id or name,
        trial=trial, opening=read.opening if brief else "", procedure=read.procedure,
        notes=tuple(notes), messages=read.messages)


def read(found: Iterator[Document | Unread]) -> Iterator[Imported | Unread]:
    """Read episodes, each as one run; what is none comes back with its line."""
    return each(found, recognise, _episode, "no episode of tau-bench")
