"""What an agent's trace says, from the spans of its model calls and tools.

Decision: each model call repeats the talk so far, so a message is taken once:
where more copies stand in a prompt than were seen before it. A tool's span
gives the result of a call that no prompt shows, or the call itself. Refusal: a
trace that neither makes nor offers a call is no agent's, and is not read.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from tjlib.documents import Unread
from tjlib.formats import chat
from tjlib.formats.fields import left_out, run
from tjlib.formats.imported import Imported

__all__ = ["Span", "read"]


class Span(NamedTuple):
    """One span, whatever wrote it.

    ``kind`` is "model", "tool", "around" (it holds others and repeats what
    they say), "other" or "" (of no interest); ``messages`` and ``said`` are as
    `tjlib.formats.dialects` gives them; ``call`` is a tool's (id, name,
    arguments) and ``result`` what it gave; ``start`` sorts a trace's spans.
    """

    line: int
    trace: str
    start: tuple
    kind: str
    name: str = ""
    messages: Sequence[dict] = ()
    said: Sequence[dict] = ()
    call: tuple[Any, Any, Any] = (None, None, None)
    result: Any = None
    failed: bool = False
    offers: bool = False
    model: str | None = None
    usage: dict[str, int | float] = {}  # noqa: RUF012 - never written to


def _calls(message: dict) -> list[tuple[Any, Any]]:
    """Return the (id, name) of each call of a message."""
    return [(call["id"], call["function"]["name"]) for call in message.get("tool_calls", ())]


def _key(message: dict) -> str:
    """Return what makes a message the same one when another span repeats it."""
    role, given = message.get("role"), message.get("tool_call_id")
    if role == "tool" and given:
        return f"tool {given}"
    calls = _calls(message)
    text = "" if calls else chat.text_of(message.get("content"))[0].strip()
    return json.dumps([role, text, calls, given])


class _Talk:
    """The messages of one trace, each once."""

    def __init__(self) -> None:
        self.messages: list[dict] = []
        self.seen: Counter[str] = Counter()
        self.open: list[tuple[Any, Any]] = []  # calls that no tool's span has answered

    def add(self, message: dict) -> None:
        self.messages.append(message)
        self.seen[_key(message)] += 1
        self.open += _calls(message)

    def model(self, span: Span) -> None:
        here: Counter[str] = Counter()
        for message in span.messages:
            key = _key(message)
            here[key] += 1
            if here[key] > self.seen[key]:
                self.add(message)
        for message in span.said:
            self.add(message)

    def tool(self, span: Span) -> None:
        given, name, arguments = span.call
        own = next((c for c in self.open if given and c[0] == given), None) or next(
            (c for c in self.open if c[1] == name and not (given and c[0])), None)
        if own is None:
            self.add({"role": "assistant", "content": None, "tool_calls": [
                {"id": given, "function": {"name": name, "arguments": arguments}}]})
            own = self.open[-1]
        self.open.remove(own)
        result = {"role": "tool", "tool_call_id": own[0], "content": span.result,
                  "is_error": span.failed}
        if span.result is not None and not (own[0] and self.seen[_key(result)]):
            self.add(result)


def _trace(spans: list[Span], prefix: str) -> Imported | Unread:
    line, trace = min(s.line for s in spans), spans[0].trace
    spans = sorted(spans, key=lambda span: span.start)
    kinds = Counter(span.kind for span in spans)
    used = [s for s in spans if s.kind in (("model", "tool") if kinds["model"] else (
        "around", "tool"))]
    talk = _Talk()
    for span in used:
        (talk.tool if span.kind == "tool" else talk.model)(span)
    if not any(_calls(m) for m in talk.messages) and not any(s.offers for s in spans):
        return Unread(line, f"a trace of {len(spans)} spans that neither makes nor offers a tool "
                            "call, so no agent's run")
    read = chat.read(chat.numbered(talk.messages))
    others = left_out("spans of no model or tool", Counter(
        span.name for span in spans if span.kind == "other"))
    usage: Counter = Counter()
    for span in used:
        usage.update(span.usage)
    return run(line, f"{prefix}-{trace or f'line{line}'}", read.opening, read.steps, read.answer,
               model=next((s.model for s in used if s.model), None), procedure=read.procedure,
               notes=(*read.notes, *others), usage=dict(usage))


def read(spans: Iterable[Span], prefix: str) -> list[Imported | Unread]:
    """Read the traces that spans of any order belong to.

    Parameters
    ----------
    spans : iterable of Span
        A span with no trace's name is a trace of its own.
    prefix : str
        What the trajectories' names begin with.

    Returns
    -------
    list of Imported or Unread
        In the order in which the traces come.

    Examples
    --------
    >>> asked = {"role": "user", "content": "Refund order 4"}
    >>> call = {"role": "assistant", "content": None, "tool_calls": [
    ...     {"id": "a", "function": {"name": "refund", "arguments": '{"order": 4}'}}]}
    >>> got, = read([Span(1, "t", (0,), "model", messages=[asked], said=[call]),
    ...              Span(2, "t", (1,), "tool", call=("a", "refund", "{}"), result="done")], "otel")
    >>> got.trajectory.goal, [o.data for o in got.trajectory.steps[0].observations]
    ('Refund order 4', [{'text': 'done'}])
    """
    traces: dict[Any, list[Span]] = {}
    for at, span in enumerate(spans):
        traces.setdefault(span.trace or at, []).append(span)
    return [_trace(group, prefix) for group in traces.values()]
