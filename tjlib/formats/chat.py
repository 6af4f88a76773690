"""Messages in OpenAI's chat form as steps.

Decision: a step is one assistant message with its calls, their results and
the user turns after it; a result goes to the nearest earlier call of its id
that has none yet, because logs use an id again. Refusal: no call and no text
is dropped because a part of it is odd, and what cannot be placed is noted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tjlib.documents import decode
from tjlib.formats.imported import shown
from tjlib.trace import Call, Observation, Step

__all__ = ["Chat", "is_message", "observed", "read", "text_of"]

_ROLES = {"system", "developer", "user", "assistant", "tool", "function"}


class Chat(NamedTuple):
    """What the messages of one run hold.

    ``opening`` is what the user said before the first step, ``procedure`` the
    system prompt; ``notes`` say what could not be read, each with the 0-based
    number of its message.
    """

    procedure: str
    opening: str
    steps: tuple[Step, ...]
    notes: tuple[str, ...]

    @property
    def answer(self) -> str:
        """The last message to the user, or nothing if the run ends on a call."""
        last = self.steps[-1] if self.steps else None
        return "" if last is None or last.calls else last.thought


@dataclass
class _Open:
    """A step still being read; an answer stands beside its call."""

    thought: str
    calls: list[Call] = field(default_factory=list)
    ids: list[Any] = field(default_factory=list)
    answers: list[Observation | None] = field(default_factory=list)
    strays: list[Observation] = field(default_factory=list)
    user: list[str] = field(default_factory=list)

    def closed(self) -> Step:
        """Close the step: answered calls first, so that the n-th observation is the n-th call's."""
        order = sorted(range(len(self.calls)), key=lambda i: self.answers[i] is None)
        answers = [self.answers[i] for i in order if self.answers[i] is not None]
        return Step(self.thought, tuple(self.calls[i] for i in order),
                    (*answers, *self.strays), "\n\n".join(self.user) or None)


def is_message(value: object) -> bool:
    """Tell whether a value is a chat message."""
    return isinstance(value, dict) and isinstance(role := value.get("role"), str) and role in _ROLES


def text_of(content: object) -> tuple[str, str]:
    """Return a message's text, and what of its content is not text.

    >>> text_of([{"type": "text", "text": "see"}, {"type": "image_url"}])
    ('see', 'a part of type image_url')
    """
    if content is None or isinstance(content, str):
        return content or "", ""
    if not isinstance(content, list):
        return json.dumps(content, ensure_ascii=False), ""
    texts, odd = [], []
    for part in content:
        said = part if isinstance(part, str) else part.get("text") if isinstance(
            part, dict) else None
        if isinstance(said, str):
            texts.append(said)
        else:
            kind = part.get("type") if isinstance(part, dict) else type(part).__name__
            odd.append(f"a part of type {shown(kind, 40)}")
    return "\n".join(texts), ", ".join(odd)


def observed(text: str, failed: bool) -> Observation:
    """Lay out a tool's result: an object as it is, any other text under ``text``.

    >>> observed('{"seats": 2}', False).data, observed("JFK", False).data
    ({'seats': 2}, {'text': 'JFK'})
    """
    if failed:
        return Observation(False, {}, text)
    try:
        value = decode(text) if text.lstrip().startswith("{") else None
    except ValueError:
        value = None
    return Observation(True, value if isinstance(value, dict) else {"text": text} if text else {})


def _call(raw: object) -> tuple[Call, str]:
    """Read one call, and say what was odd about it."""
    raw = raw if isinstance(raw, dict) else {"function": raw}
    function = raw.get("function", raw)
    function = function if isinstance(function, dict) else {**raw, "name": function}
    name, given = function.get("name"), function.get("arguments", {})
    odd = [] if isinstance(name, str) and name else ["a call without a tool's name"]
    args = given
    if isinstance(given, str):
        with suppress(ValueError):
            args = decode(given) if given.strip() else {}
    elif given is None:
        args = {}
    if not isinstance(args, dict):
        odd.append("arguments that are no JSON object, kept as text")
        args = {"arguments": given}
    return Call(name if not odd or isinstance(name, str) else "", args), ", ".join(odd)


def _calls(message: dict) -> list:
    calls = message.get("tool_calls")
    calls = list(calls) if isinstance(calls, list) else [calls] if calls else []
    older = message.get("function_call")
    return [*calls, older] if older else calls


def _place(steps: list[_Open], given: object, result: Observation) -> str:
    """Put a result beside its call; say why if that is not the call its id names."""
    for named in (True, False):  # by its id, else where one of the two has none
        for step in reversed(steps):
            for i, (own, answer) in enumerate(zip(step.ids, step.answers, strict=True)):
                if answer is None and (own == given if named else not own or not given):
                    step.answers[i] = result
                    return ""
    if not steps:
        return "a result before any call, left out"
    steps[-1].strays.append(result)
    return "a result of no open call"


def read(messages: Sequence, failed: Callable[[dict, str], bool]) -> Chat:
    """Read the messages of one run.

    Parameters
    ----------
    messages : sequence
        In order; content may be null, text or a list of parts, arguments a
        JSON text or an object.
    failed : function of (message, text) -> bool
        Tells whether a tool's result is an error.

    Returns
    -------
    Chat

    Examples
    --------
    >>> chat = read([{"role": "user", "content": "Hi"},
    ...              {"role": "assistant", "content": "Hello"}], lambda m, text: False)
    >>> chat.opening, chat.answer, len(chat.steps)
    ('Hi', 'Hello', 1)
    """
    steps, opening, procedure, notes = [], [], [], []

    def note(at: int, what: str) -> None:
        if what:
            notes.append(f"message {at}: {what}")

    for at, message in enumerate(messages):
        if not is_message(message):
            role = message.get("role") if isinstance(message, dict) else type(message).__name__
            note(at, f"of unknown role {shown(role, 40)!r}, left out")
            continue
        role = message["role"]
        text, odd = text_of(message.get("content"))
        note(at, odd and f"{odd}, left out")
        if role == "assistant":
            steps.append(_Open(text))
            for raw in _calls(message):
                call, odd = _call(raw)
                note(at, odd)
                steps[-1].calls.append(call)
                steps[-1].ids.append(raw.get("id") if isinstance(raw, dict) else None)
                steps[-1].answers.append(None)
        elif role in ("tool", "function"):
            result = observed(text, failed(message, text))
            note(at, _place(steps, message.get("tool_call_id"), result))
        elif role == "user":
            if text:
                (steps[-1].user if steps else opening).append(text)
        elif steps:
            note(at, "a system prompt inside the run, left out")
        else:
            procedure.append(text)
    open_calls = sum(answer is None for step in steps for answer in step.answers)
    if open_calls:
        notes.append(f"{open_calls} calls without a result")
    return Chat("\n\n".join(procedure), "\n\n".join(opening),
                tuple(step.closed() for step in steps), tuple(notes))
