"""Requests to Anthropic's Messages API, each with the conversation it was sent.

Decision: a request, the reply beside it if the log has one, is one run; a
bare list of messages is one too. Refusal: a conversation that a later request
sends again is a run of its own, for nothing in a log says that it goes on.
"""

from __future__ import annotations

from collections.abc import Iterator

from tjlib.documents import Document, Unread
from tjlib.formats import blocks, chat
from tjlib.formats.fields import listed, named, run, text, under
from tjlib.formats.imported import Imported

__all__ = ["read", "recognise"]


def _request(value: object) -> object:
    """Return the request in a record, which may be wrapped together with its reply."""
    inner = under(value, "request")
    return inner if isinstance(under(inner, "messages"), list) else value


def _is_request(value: object) -> bool:
    request = _request(value)
    messages, reply = under(request, "messages"), under(value, "response")
    return isinstance(messages, list) and (
        any(map(blocks.has_tools, [*messages, reply]))
        or any(under(tool, "input_schema") for tool in listed(under(request, "tools"))))


def recognise(value: object) -> bool:
    """Tell whether a value is a request, or a message with blocks that only this form has."""
    return _is_request(value) or (chat.is_message(value) and blocks.has_tools(value))


def _run(document: Document, messages: list, request: object, reply: object) -> Imported | Unread:
    if isinstance(reply, dict):
        messages = [*messages, reply]
    placed = [(f"message {at}", part) for at, message in enumerate(messages)
              for part in blocks.unpacked(message)]
    read = chat.read(placed)
    models = [under(reply, "model"), under(request, "model")]
    return run(
        document.line, named(document, "anthropic", request is None), read.opening, read.steps,
        read.answer,
        model=next(filter(None, map(text, models)), None),
        procedure=chat.text_of(under(request, "system"))[0] or read.procedure, notes=read.notes,
        usage=blocks.usage([under(reply, "usage")]))


def read(found: Iterator[Document | Unread]) -> Iterator[Imported | Unread]:
    """Read requests one by one; messages that stand alone are together one run."""
    first, bare = None, []
    for document in found:
        if isinstance(document, Unread):
            yield document
        elif _is_request(document.value):
            request = _request(document.value)
            reply = under(document.value, "response")
            yield _run(document, request["messages"], request, reply)
        elif first or chat.is_message(document.value):
            first = first or document
            bare.append(document.value)
        else:
            yield Unread(document.line, "no request to the Messages API and no message of one")
    if first:
        yield _run(first, bare, None, None)
