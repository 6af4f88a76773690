"""Messages in OpenAI's chat form as steps.

Decision: a step is one assistant message with its calls, their results and
the user turns after it; a result goes to the nearest earlier call of its id
that has none yet, because logs use an id again. Refusal: no call and no text
is dropped because a part of it is odd, and what cannot be placed is noted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from tjlib.documents import decode
from tjlib.formats.fields import decoded, text
from tjlib.formats.imported import shown
from tjlib.formats.linking import Open, Waiting
from tjlib.formats.tokens import logprobs
from tjlib.trace import Call, Observation, Step

__all__ = ["Chat", "is_message", "numbered", "observed", "read", "text_of"]

_ROLES = {"system", "developer", "user", "assistant", "tool", "function"}


class Chat(NamedTuple):
    """What the messages of one run hold.

    ``opening`` is what the user said before the first step, ``procedure`` the
    system prompt, ``answer`` the last message to the user, or nothing if the
    run ends on a call; ``notes`` say what could not be read, each with the
    0-based number of its message, and ``messages`` number each step's.
    """

    procedure: str
    opening: str
    steps: tuple[Step, ...]
    notes: tuple[str, ...]
    answer: str
    messages: tuple[int, ...]


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
        said = part if isinstance(part, str) else part.get(
            "text", part.get("content")) if isinstance(part, dict) else None
        if isinstance(said, str):
            texts.append(said)
        else:
            kind = part.get("type") if isinstance(part, dict) else type(part).__name__
            odd.append(f"a part of type {shown(kind, 40)}")
    return "\n".join(texts), ", ".join(odd)


def numbered(messages: Iterable) -> Iterator[tuple[str, object]]:
    """Name the place of each message by its 0-based number."""
    return ((f"message {at}", message) for at, message in enumerate(messages))


def observed(said: str, failed: bool) -> Observation:
    """Lay out a tool's result: an object as it is, any other text under ``text``.

    >>> observed('{"seats": 2}', False).data, observed("JFK", False).data
    ({'seats': 2}, {'text': 'JFK'})
    """
    if failed:
        return Observation(False, {}, said)
    value = decoded(said)
    return Observation(True, value if isinstance(value, dict) else {"text": said} if said else {})


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
    return Call(text(name), args), ", ".join(odd)


def _calls(message: dict) -> list:
    calls = message.get("tool_calls")
    calls = list(calls) if isinstance(calls, list) else [calls] if calls else []
    older = message.get("function_call")
    return [*calls, older] if older else calls


def _marked(message: dict, said: str) -> bool:
    return message.get("is_error") is True


def read(placed: Iterable[tuple[str, object]],
         failed: Callable[[dict, str], bool] = _marked) -> Chat:
    """Read the messages of one run.

    Parameters
    ----------
    placed : iterable of (str, message)
        In order, each with what the notes call its place; content may be
        null, text or a list of parts, arguments a JSON text or an object.
    failed : function of (message, text) -> bool
        Tells whether a tool's result is an error; by default if it is marked
        by ``is_error``.

    Returns
    -------
    Chat

    Examples
    --------
    >>> chat = read(numbered([{"role": "user", "content": "Hi"},
    ...                       {"role": "assistant", "content": "Hello"}]))
    >>> chat.opening, chat.answer, len(chat.steps)
    ('Hi', 'Hello', 1)
    """
    steps, opening, procedure, notes, waiting = [], [], [], [], Waiting()

    def note(place: str, what: str) -> None:
        if what:
            notes.append(f"{place}: {what}")

    for at, (place, message) in enumerate(placed):
        if not is_message(message):
            role = message.get("role") if isinstance(message, dict) else type(message).__name__
            note(place, f"of unknown role {shown(role, 40)!r}, left out")
            continue
        role = message["role"]
        said, odd = text_of(message.get("content"))
        note(place, odd and f"{odd}, left out")
        if role == "assistant":
            likely, odd = logprobs(message.get("logprobs"))
            note(place, odd)
            before = text(message.get("reasoning_content") or message.get("reasoning"))
            steps.append(Open(at, said, "\n\n".join(filter(None, [before, said])), likely))
            for raw in _calls(message):
                call, odd = _call(raw)
                note(place, odd)
                steps[-1].calls.append(call)
                steps[-1].ids.append(raw.get("id") if isinstance(raw, dict) else None)
                steps[-1].answers.append(None)
            waiting.add(steps[-1])
        elif role in ("tool", "function"):
            result = observed(said, failed(message, said))
            if found := waiting.take(message.get("tool_call_id")):
                found[0].answers[found[1]] = result
            elif steps:
                steps[-1].strays.append(result)
                note(place, "a result of no open call")
            else:
                note(place, "a result before any call, left out")
        elif role == "user":
            if said:
                (steps[-1].user if steps else opening).append(said)
        elif steps:
            note(place, "a system prompt inside the run, left out")
        else:
            procedure.append(said)
    open_calls = sum(answer is None for step in steps for answer in step.answers)
    if open_calls:
        notes.append(f"{open_calls} calls without a result")
    answer = steps[-1].said if steps and not steps[-1].calls else ""
    return Chat("\n\n".join(procedure), "\n\n".join(opening),
                tuple(step.closed() for step in steps), tuple(notes), answer,
                tuple(step.at for step in steps))
