"""Sessions of the Codex command line: Responses items, one a line, in an envelope.

Decision: a session's head starts a run; the events beside the items repeat
them for a screen, so of these only token counts and breaks are read. Refusal:
a session has no verdict, so no success.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from tjlib.documents import Document, Unread
from tjlib.formats import items
from tjlib.formats.fields import left_out, run, text, under
from tjlib.formats.imported import Imported, shown
from tjlib.formats.tokens import usage

__all__ = ["read", "recognise"]

#: What a line may be; ``world_state`` says nothing of the run.
_KINDS = {"session_meta", "response_item", "turn_context", "event_msg", "compacted",
          "world_state"}
#: Events that say that something went wrong or was cut short.
_BREAKS = {"error", "stream_error", "turn_aborted", "task_aborted", "context_compacted",
           "thread_rolled_back"}


@dataclass
class _Session:
    """The lines of one session."""

    line: int
    head: dict = field(default_factory=dict)
    begun: bool = False
    parts: list[tuple[str, object]] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    counts: object = None
    notes: list[str] = field(default_factory=list)
    unknown: Counter = field(default_factory=Counter)

    def event(self, line: int, payload: dict) -> None:
        kind = payload.get("type")
        if kind == "token_count":
            self.counts = under(payload, "info", "total_token_usage") or self.counts
        elif isinstance(kind, str) and kind in _BREAKS:
            why = payload.get("message") or payload.get("reason") or ""
            self.notes.append(f"line {line}: {kind}{f', {shown(why)}' if why else ''}")

    def take(self, line: int, kind: str, payload: dict) -> None:
        if kind == "session_meta":
            first, self.head = not self.head, self.head or payload
            told = text(under(payload, "base_instructions", "text")) or text(
                payload.get("instructions"))
            if first and told:
                self.parts.append((f"line {line}", {"role": "system", "content": told}))
        elif kind == "response_item":
            self.begun = True
            self.parts.append((f"line {line}", payload))
        elif kind == "turn_context":
            model = text(payload.get("model"))
            if model and model not in self.models:
                self.models.append(model)
        elif kind == "event_msg":
            self.event(line, payload)
        elif kind == "compacted":
            self.notes.append(f"line {line}: the session was summed up here for the model")
        elif kind not in _KINDS:
            self.unknown[kind] += 1

    def closed(self) -> Imported | Unread:
        read = items.read(self.parts)
        own = text(self.head.get("id")) or text(self.head.get("session_id"))
        name = shown(own) or f"codex-line{self.line}"
        if len(self.models) > 1:
            self.notes.append(f"several models: {', '.join(map(shown, self.models))}")
        return run(
            self.line, name, read.opening, read.steps, read.answer,
            model=self.models[0] if self.models else None, procedure=read.procedure,
            notes=(*self.notes, *left_out("lines", self.unknown), *read.notes),
            usage=usage(self.counts))


def recognise(value: object) -> bool:
    """Tell whether a value is a line of a session: a known type around a payload."""
    return text(under(value, "type")) in _KINDS and isinstance(under(value, "payload"), dict)


def read(found: Iterator[Document | Unread]) -> Iterator[Imported | Unread]:
    """Read sessions one after the other; a line that is none comes back with its number."""
    session, source = None, None
    for document in found:
        if isinstance(document, Unread):
            yield document
            continue
        kind, payload = text(under(document.value, "type")), under(document.value, "payload")
        if not (kind and isinstance(payload, dict)):
            yield Unread(document.line, "no line of a Codex session")
            continue
        begins = kind == "session_meta" and session is not None and session.begun
        if session is None or begins or document.source != source:
            if session is not None:
                yield session.closed()
            session, source = _Session(document.line), document.source
        session.take(document.line, kind, payload)
    if session is not None:
        yield session.closed()
