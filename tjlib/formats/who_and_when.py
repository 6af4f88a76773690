"""Failed runs of the Who&When set, each with the step and agent to blame.

Decision: ``mistake_step`` counts the entries of the history from 0 and is
given as the step that entry is in; a terminal's output blames the step that
it answers. Refusal: a blamed entry that is not there blames no step.
"""

from __future__ import annotations

from collections.abc import Iterator

from tjlib.documents import Document, Unread
from tjlib.formats import speakers
from tjlib.formats.fields import each, run, text
from tjlib.formats.imported import Imported, shown

__all__ = ["read", "recognise"]

_ABOUT = ("level", "mistake_agent", "mistake_reason", "mistake_type", "ground_truth")


def recognise(value: object) -> bool:
    """Tell whether a value is a history with the step that is to blame."""
    return isinstance(value, dict) and {"history", "mistake_step"} <= set(value)


def _procedure(prompts: object) -> str:
    if isinstance(prompts, dict):
        return "\n\n".join(f"{name}:\n{prompt}" for name, prompt in prompts.items())
    return text(prompts)


def _blamed(value: dict, talk: speakers.Talk) -> tuple[tuple[int, ...], list[str]]:
    """Return the steps to blame, and what is doubtful about them."""
    given, agent = value["mistake_step"], value.get("mistake_agent")
    entry = int(given) if isinstance(given, str | int) and str(given).isdecimal() and len(
        str(given)) < 10 else -1
    step = talk.at[entry] if 0 <= entry < len(talk.at) else None
    if step is None:
        return (), [f"mistake_step {shown(given, 20)!r} names no step"]
    notes, speaker = [], talk.speakers[entry]
    if talk.messages[step] != entry:
        notes.append(f"entry {entry} is to blame: {speaker}'s output, so the step before it")
    if isinstance(agent, str) and not speaker.startswith(agent):
        notes.append(f"{shown(agent, 60)} is to blame, but {speaker} said entry {entry}")
    return (step,), notes


def _run(document: Document) -> Imported | Unread:
    value, line = document.value, document.line
    history = value["history"]
    if not isinstance(history, list):
        return Unread(line, "a run whose history is no list")
    talk = speakers.read(history)
    steps_failed, notes = _blamed(value, talk)
    task_id = text(value.get("question_ID")) or f"line{line}"
    asked = text(value.get("question")) or talk.opening
    return run(
        line, f"ww-{task_id}", asked, talk.steps, talk.answer,
        success=value.get("is_correct") is True, task_id=task_id,
        opening=talk.opening if talk.opening.strip() != asked.strip() else "",
        procedure=_procedure(value.get("system_prompt")), notes=(*talk.notes, *notes),
        steps_failed=steps_failed, messages=talk.messages,
        about={k: str(value[k]) for k in _ABOUT if isinstance(value.get(k), str | int)})


def read(found: Iterator[Document | Unread]) -> Iterator[Imported | Unread]:
    """Read runs one by one; what is none comes back with its line."""
    return each(found, recognise, _run, "no run of Who&When")
