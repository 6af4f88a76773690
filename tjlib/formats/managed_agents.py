"""Sessions of Claude Managed Agents, as the client's calls or as bare events.

Decision: what the agent did in one request to the model is one step; a call
that was refused has the refusal as its result. Refusal: an event that was
sent and came back in the stream counts once, and events about the session
itself are no steps and are counted in the notes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from tjlib.documents import Document, Unread
from tjlib.formats import blocks, chat
from tjlib.formats.fields import left_out, listed, named, run, text, under
from tjlib.formats.imported import Imported

__all__ = ["read", "recognise"]

_CLIENT = "client.beta.sessions."
_PARTS = ("agent.", "user.", "session.", "span.")
_TOLD = {"agent.message", "agent.thinking"}


def _is_record(value: object) -> bool:
    return text(under(value, 0)).startswith(_CLIENT) and len(value) == 2


def recognise(value: object) -> bool:
    """Tell whether a value is a client's call with what it brought, or an event."""
    return _is_record(value) or (isinstance(value, dict) and "id" in value
                                 and text(value.get("type")).startswith(_PARTS))


def _used(event: dict) -> object:
    """Return the id of the call that an event is about."""
    ids = [event[key] for key in event if key.endswith("tool_use_id")]
    return ids[0] if ids else None


def _echo(event: dict) -> str:
    """Return what an event shares with its copy in the stream."""
    told = {key: event.get(key) for key in ("type", "content", "result")} | {"id": _used(event)}
    return json.dumps(told, sort_keys=True)


def _events(records: list[tuple[int, object]]) -> Iterator[tuple[int, object]]:
    """Yield the events of a session, those that were sent only if they did not come back."""
    streamed = Counter(_echo(under(value, 1)) for _, value in records
                       if isinstance(under(value, 1), dict))
    for line, value in records:
        if not isinstance(value, list):
            yield line, value
            continue
        sent = under(value, 1, 1, "events")
        for event in listed(sent):
            if isinstance(event, dict) and streamed[_echo(event)] > 0:
                streamed[_echo(event)] -= 1
            else:
                yield line, event
        if sent is None and not text(value[0]).endswith(".create"):
            yield line, value[1]


def _laid_out(records: list[tuple[int, object]]) -> tuple[list[tuple[str, dict]], Counter, list]:
    """Lay out a session as chat; count the events left out, and collect what requests cost."""
    events, left, spent, placed = list(_events(records)), Counter(), [], []
    answered = [_used(e) for _, e in events if text(under(e, "type")).endswith("tool_result")]
    step, asking = None, False
    for line, event in events:
        place, kind = f"line {line}", text(under(event, "type"))
        if kind in _TOLD or kind.endswith("tool_use"):
            if step is None:
                step = {"role": "assistant", "content": [], "tool_calls": [],
                        "reasoning_content": ""}
                placed.append((place, step))
            if kind == "agent.message":
                step["content"] += blocks.parts(event.get("content"))
            elif kind == "agent.thinking":
                thought = chat.text_of(event.get("content"))[0]
                step["reasoning_content"] = f"{step['reasoning_content']}\n{thought}".strip()
            else:
                step["tool_calls"].append({"id": event.get("id"), "function": {
                    "name": event.get("name"), "arguments": event.get("input")}})
            continue
        if kind == "span.model_request_start":
            step, asking = None, True
        elif kind == "span.model_request_end":
            step, asking = None, False
            spent.append(event.get("model_usage"))
        elif kind.endswith("tool_result"):
            step = step if asking else None
            placed.append((place, {
                "role": "tool", "tool_call_id": _used(event), "content": event.get("content"),
                "is_error": event.get("is_error")}))
        elif kind == "user.message":
            step = None
            placed.append((place, {"role": "user", "content": event.get("content")}))
        elif kind == "user.tool_confirmation" and event.get("result") == "deny":
            if _used(event) not in answered:
                placed.append((place, {
                    "role": "tool", "tool_call_id": _used(event), "is_error": True,
                    "content": f"refused: {text(event.get('deny_message'))}"}))
        else:
            left[kind or "of no type"] += 1
    return placed, left, spent


def _run(document: Document, records: list[tuple[int, object]]) -> Imported | Unread:
    made = next((under(value, 1) for _, value in records
                 if text(under(value, 0)).endswith(".create")), None)
    placed, left, spent = _laid_out(records)
    read = chat.read(placed)
    name = text(under(made, "id")) or named(document, "managed", not made)
    return run(
        document.line, name, read.opening, read.steps, read.answer,
        model=text(under(made, "agent", "model", "id")) or None,
        procedure=text(under(made, "agent", "system")),
        notes=(*read.notes, *left_out("events", left)), usage=blocks.usage(spent))


def read(found: Iterator[Document | Unread]) -> Iterator[Imported | Unread]:
    """Read sessions; each begins where a client makes one."""
    first, records = None, []
    for document in found:
        if isinstance(document, Unread):
            yield document
        elif not recognise(document.value):
            yield Unread(document.line, "no event of a managed agent's session")
        else:
            if first and text(under(document.value, 0)).endswith(".create"):
                yield _run(first, records)
                first, records = None, []
            first = first or document
            records.append((document.line, document.value))
    if first:
        yield _run(first, records)
