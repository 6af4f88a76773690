"""Messages in OpenAI's chat form, however they are wrapped, and Swarm's dialect.

Decision: a line or element is a run if it holds messages (bare, or under
``messages``, ``trace`` or ``traj``); if it is a message, the file is one run,
or one for each id that its messages name. Refusal: success only where the log
states it as true or false; a number is a reward and stays one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tjlib.documents import Document, Unread
from tjlib.formats import blocks, chat
from tjlib.formats.imported import Imported, number
from tjlib.trace import Trajectory

__all__ = ["read", "recognise"]

_UNDER = ("messages", "trace", "traj")
_STATED = ("success", "passed", "resolved")
_IDS = ("trajectory_id", "conversation_id", "session_id", "thread_id", "id")
#: What tells the messages of several runs in one list apart.
_RUNS = ("task_id", *_IDS[:-1])


def _messages(value: object) -> list | None:
    """Return the messages of a run, or None if a value holds none."""
    if isinstance(value, dict):
        value = next((value[name] for name in _UNDER if isinstance(value.get(name), list)), None)
    return value if isinstance(value, list) and any(map(chat.is_message, value)) else None


def recognise(value: object) -> bool:
    """Tell whether a value is a message, a list of them, or holds such a list."""
    return chat.is_message(value) or _messages(value) is not None


def _plain(message: object) -> object:
    """Return a message of Swarm's in the common form: its call is what the user says."""
    called = message.get("tool") if isinstance(message, dict) else None
    if not isinstance(called, dict) or "tool" not in called:
        return message
    return {"role": "assistant", "content": message.get("content"), "tool_calls": [
        {"function": {"name": called["tool"], "arguments": called.get("args")}}]}


def _answered(about: dict, messages: list) -> list:
    """Add the reply that a logged request got, with its log-probabilities."""
    reply = about.get("response") if isinstance(about.get("response"), dict) else about
    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    said = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(said, dict):
        return messages
    said = {"role": "assistant", **said, "logprobs": choice.get("logprobs")}
    same = messages and isinstance(messages[-1], dict) and all(
        messages[-1].get(name) == said.get(name) for name in ("role", "content", "tool_calls"))
    return [*(messages[:-1] if same else messages), said]


def _failed(message: dict, text: str) -> bool:
    return message.get("is_error") is True or text.startswith("Error")


def _text(about: dict, *names: str) -> str:
    return next((str(about[name]) for name in names
                 if isinstance(about.get(name), str | int) and about[name] != ""), "")


def _run(line: int, name: str, about: dict, messages: list) -> Imported | Unread:
    placed = [(at, part) for at, message in enumerate(_answered(about, messages))
              for part in blocks.unpacked(_plain(message))]
    read = chat.read([part for _, part in placed], _failed, [f"message {at}" for at, _ in placed])
    success = next((about[name] for name in _STATED if isinstance(about.get(name), bool)), None)
    usage: Any = about.get("usage") or (about.get("response") or {}).get("usage") if isinstance(
        about.get("response") or {}, dict) else None
    used = {name: int(count) for name in ("prompt_tokens", "completion_tokens")
            if isinstance(usage, dict) and (count := number(usage.get(name))) is not None}
    name = _text(about, *_IDS) or name
    try:
        trajectory = Trajectory(name, read.opening, read.steps, read.answer)
    except ValueError as error:
        return Unread(line, f"messages whose {error}")
    return Imported(
        trajectory, line, success, number(about.get("reward")), _text(about, "task_id") or name,
        _text(about, "trial") or None, _text(about, "model") or None, procedure=read.procedure,
        notes=read.notes, usage=used, messages=tuple(placed[i][0] for i in read.messages))


def _together(found: list[tuple[int, dict]], stem: str) -> Iterator[Imported | Unread]:
    """Read the messages of a file as one run, or as one for each id they name."""
    runs: dict[str, list[tuple[int, dict]]] = {}
    for line, message in found:
        runs.setdefault(_text(message, *_RUNS), []).append((line, message))
    for name, own in runs.items():
        line = own[0][0]
        name = name or f"{stem}-{line}"
        yield _run(line, name, {"task_id": name}, [message for _, message in own])


def read(found: Iterator[Document | Unread]) -> Iterator[Imported | Unread]:
    """Read runs; what is no message and holds none comes back with its line."""
    loose: list[tuple[int, dict]] = []
    stem = "chat"
    for document in found:
        if isinstance(document, Unread):
            yield document
            continue
        line, value = document.line, document.value
        stem = Path(document.source).stem or stem
        if (messages := _messages(value)) is not None:
            yield _run(line, f"{stem}-{line}", value if isinstance(value, dict) else {}, messages)
        elif isinstance(value, dict) and "role" in value:
            loose.append((line, value))
        else:
            yield Unread(line, "no chat message, and it holds none")
    if loose:
        yield from _together(loose, stem)
