"""Items of OpenAI's Responses API as steps: the core of NeMo Gym's logs and Codex's.

Decision: a step is one turn of the model, which is its reasoning, a message
and the calls after it; a message or the log-probabilities at its end close a
turn where no result stands between. Refusal: the end of a run that a harness
pads with an empty message is no turn of the model, and encrypted reasoning is
counted, not kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from tjlib.formats import chat
from tjlib.formats.fields import decoded, listed, text, under
from tjlib.formats.imported import shown
from tjlib.formats.tokens import logprobs

__all__ = ["read"]

#: The items have no mark of a failed call, so its text is asked: how tools and
#: harnesses begin to tell of an error (ours).
_ERROR = re.compile(r"\s*(<tool_use_error>|\w*(error|exception):|error executing"
                    r"|traceback \(most recent call last\)"
                    r"|(process exited with|exit) code:? [1-9])", re.IGNORECASE)

#: Fields of a call that are not its arguments.
_NO_ARGUMENT = {"type", "id", "call_id", "status", "name", "prompt_token_ids",
                "generation_token_ids", "generation_log_probs"}
#: Fields in which a tool of the provider keeps its result beside the call.
_RESULTS = ("output", "outputs", "result", "results", "error")


def _joined(texts: list[str]) -> str:
    return "\n\n".join(filter(str.strip, texts))


class _Turn:
    """A turn of the model that is still being read."""

    def __init__(self) -> None:
        self.thoughts: list[str] = []
        self.said: list[str] = []
        self.calls: list[dict] = []
        self.logprobs: tuple[float, ...] | None = None

    def message(self) -> dict:
        return {"role": "assistant", "content": _joined(self.thoughts + self.said),
                "tool_calls": self.calls, "logprobs": self.logprobs and list(self.logprobs)}


def _kind(item: object) -> str:
    """Name an item's part in a run: message, reasoning, call, result, or nothing known."""
    if not isinstance(item, dict):
        return ""
    kind = item.get("type")
    if kind in (None, "message"):
        return "message" if "role" in item else ""
    if not isinstance(kind, str):
        return ""
    return ("reasoning" if kind == "reasoning" else "call" if kind.endswith("_call")
            else "result" if kind.endswith("_output") else "")


def _failed(message: dict, told: str) -> bool:
    if message.get("status") in ("failed", "incomplete") or _ERROR.match(told):
        return True
    data = decoded(told)
    return (under(data, "status") == "error" or bool(under(data, "error"))
            or under(data, "metadata", "exit_code") not in (None, 0))


def _result(given: object, content: object, status: object = None) -> dict:
    return {"role": "tool", "tool_call_id": given, "content": content, "status": status}


def _call(item: dict) -> tuple[dict, list[dict]]:
    """Return a call in the chat form, and what the item itself says it brought back."""
    given = item.get("arguments")
    if "arguments" not in item:
        given = {k: v for k, v in item.items() if k not in _NO_ARGUMENT and k not in _RESULTS}
    name = item.get("name")
    name = item["type"].removesuffix("_call") if name is None and item[
        "type"] != "function_call" else name
    own = item.get("call_id") or item.get("id")
    results = [_result(own, item[field], "failed" if field == "error" else None)
               for field in _RESULTS if item.get(field) is not None]
    return {"id": own, "function": {"name": name, "arguments": given}}, results


def _logprobs(item: dict) -> tuple[tuple[float, ...] | None, bool, str]:
    """Return a turn's log-probabilities, whether they end it, and what is wrong with them."""
    found, odd = logprobs(item.get("generation_log_probs"))
    if found or odd:
        return found, bool(found), odd
    tokens = [token for part in listed(item.get("content"))
              for token in listed(under(part, "logprobs"))]
    found, odd = logprobs(tokens)
    return found, False, odd


def _reasoning(item: dict) -> str:
    """Return what can be read of a reasoning item: its own words, else their summary."""
    texts = (chat.text_of(item.get(field))[0] for field in ("content", "summary"))
    return next(filter(str.strip, texts), "")


def _said(item: dict) -> tuple[str, str]:
    """Return a message's text; a refusal is one."""
    content = item.get("content")
    if isinstance(content, list):
        content = [text(under(part, "refusal")) or part for part in content]
    return chat.text_of(content)


class _Reading:
    """Items on their way to chat messages, with the turn that is open."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, dict | _Turn]] = []
        self.notes: list[str] = []
        self.encrypted = 0
        self.turn: _Turn | None = None

    def add(self, place: str, message: dict | _Turn, odd: str = "") -> None:
        self.messages.append((place, message))
        self.note(place, odd and f"{odd}, left out")

    def note(self, place: str, odd: str) -> None:
        if odd:
            self.notes.append(f"{place}: {odd}")

    def take(self, place: str, item: Any, kind: str, after: str) -> None:
        """Read one item; ``after`` is the kind of the next that is no reasoning."""
        if not kind:
            what = item.get("type") if isinstance(item, dict) else type(item).__name__
            self.note(place, f"an item of type {shown(what, 40)}, left out")
        elif kind == "result":
            self.turn = None
            self.add(place, _result(item.get("call_id"), item.get("output"), item.get("status")))
        elif kind == "message" and item["role"] != "assistant":
            self.turn = None
            said, odd = _said(item)
            self.add(place, {**item, "content": said}, odd)
        else:
            self.model(place, item, kind, after)

    def model(self, place: str, item: dict, kind: str, after: str) -> None:
        """Read one item that the model wrote.

        Some logs write a call's reasoning behind it: it is the call's if its result is next.
        """
        found, ends, odd = _logprobs(item)
        thought = _reasoning(item) if kind == "reasoning" else ""
        said, strange = _said(item) if kind == "message" else ("", "")
        if kind == "reasoning" and not thought:
            self.encrypted += 1
            return
        if odd.startswith("placeholder") and kind == "message" and not said.strip():
            self.note(place, f"an empty message with {odd}")
            return
        self.note(place, odd)
        self.note(place, strange and f"{strange}, left out")
        spoke = self.turn is not None and bool(self.turn.said or self.turn.calls)
        next_one = kind == "message" or (kind == "reasoning" and after != "result")
        if self.turn is None or (spoke and next_one):
            self.turn = _Turn()
            self.add(place, self.turn)
        if kind == "call":
            call, results = _call(item)
            self.turn.calls.append(call)
            for result in results:
                self.add(place, result)
        else:
            (self.turn.thoughts if thought else self.turn.said).append(thought or said)
        self.turn.logprobs = found or self.turn.logprobs
        if ends:
            self.turn = None


def read(parts: Iterable[tuple[str, object]]) -> chat.Chat:
    """Read the items of one run.

    Parameters
    ----------
    parts : iterable of (str, item)
        In order, each with what the notes call its place.

    Returns
    -------
    Chat

    Examples
    --------
    >>> run = read([("item 0", {"role": "user", "content": "Hi"}),
    ...             ("item 1", {"type": "reasoning", "summary": [{"text": "Greet."}]}),
    ...             ("item 2", {"role": "assistant", "content": "Hello"})])
    >>> run.steps[0].thought, run.answer
    ('Greet.\\n\\nHello', 'Hello')
    """
    parts = list(parts)
    after, reading = [""], _Reading()
    for _, item in reversed(parts):
        kind = _kind(item)
        after.append(after[-1] if kind == "reasoning" else kind)
    for (place, item), kind in zip(parts, reversed(after[:-1]), strict=True):
        reading.take(place, item, _kind(item), kind)
    turns = [message for _, message in reading.messages if isinstance(message, _Turn)]
    told = chat.read([(place, message.message() if isinstance(message, _Turn) else message)
                      for place, message in reading.messages], _failed)
    notes = [*reading.notes, *told.notes]
    if reading.encrypted:
        notes.append(f"{reading.encrypted} reasoning items without a text that can be read")
    answer = "" if not turns or turns[-1].calls else _joined(turns[-1].said)
    return told._replace(notes=tuple(notes), answer=answer)
