"""Messages in OpenAI's chat form, however they are wrapped, and Swarm's dialect.

Decision: a line or element is a run if it holds messages (bare, or under
``messages``, ``trace`` or ``traj``); if it is a message, the file is one run,
or one for each id that its messages name. Refusal: success only where the log
states it as true or false; a number is a reward and stays one.
"""

from __future__ import annotations

from collections.abc import Iterator

from tjlib.documents import Document, Unread
from tjlib.formats import blocks, chat
from tjlib.formats.fields import keyed, named, run, under
from tjlib.formats.imported import Imported, number
from tjlib.formats.tokens import usage

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
    called = under(message, "tool")
    if not isinstance(called, dict) or "tool" not in called:
        return message
    return {"role": "assistant", "content": message.get("content"), "tool_calls": [
        {"function": {"name": called["tool"], "arguments": called.get("args")}}]}


def _answered(about: dict, messages: list) -> list:
    """Add the reply that a logged request got, with its log-probabilities."""
    choice = under(about, "response", "choices", 0) or under(about, "choices", 0)
    said = under(choice, "message")
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
    numbered = [(at, part) for at, message in enumerate(_answered(about, messages))
                for part in blocks.unpacked(_plain(message))]
    read = chat.read([(f"message {at}", part) for at, part in numbered], _failed)
    success = next((about[name] for name in _STATED if isinstance(about.get(name), bool)), None)
    used = usage(about.get("usage") or under(about, "response", "usage"))
    name, reward = _text(about, *_IDS) or name, number(about.get("reward"))
    odd = ("a reward that is no number is left out",) * (
        reward is None and about.get("reward") is not None)
    return run(line, name, read.opening, read.steps, read.answer, success=success,
               reward=reward, task_id=_text(about, "task_id") or name,
               trial=_text(about, "trial") or None, model=_text(about, "model") or None,
               procedure=read.procedure, notes=(*read.notes, *odd), usage=used,
               messages=tuple(numbered[i][0] for i in read.messages))


def _together(found: list[tuple[Document, dict]]) -> Iterator[Imported | Unread]:
    """Read the messages of a file as one run, or as one for each id they name."""
    runs: dict[str, list[tuple[Document, dict]]] = {}
    for document, message in found:
        runs.setdefault(_text(message, *_RUNS), []).append((document, message))
    for name, own in runs.items():
        first = own[0][0]
        name = name or named(first, "chat", whole=len(runs) == 1)
        yield _run(first.line, name, {"task_id": name}, [message for _, message in own])


def read(found: Iterator[Document | Unread]) -> Iterator[Imported | Unread]:
    """Read runs; what is no message and holds none comes back with its line."""
    loose: list[tuple[Document, dict]] = []
    for document in found:
        if isinstance(document, Unread):
            yield document
            continue
        value = document.value
        if (messages := _messages(value)) is not None:
            yield _run(document.line, named(document, "chat"),
                       keyed(value), messages)
        elif isinstance(value, dict) and "role" in value:
            loose.append((document, value))
        else:
            yield Unread(document.line, "no chat message, and it holds none")
    yield from _together(loose)
