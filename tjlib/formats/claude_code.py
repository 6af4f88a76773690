"""Sessions of Claude Code: one line of JSON for each part of a message.

Decision: lines of one message's id are one message, whose tokens count once;
a sub-agent's side chain is a run of its own. Refusal: what the program wrote
itself - summaries, reminders, its own error messages - is no turn of the user
and no step, and is counted in the notes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from tjlib.documents import Document, Unread
from tjlib.formats import blocks, chat
from tjlib.formats.fields import keyed, left_out, run, text, totals, under
from tjlib.formats.imported import Imported, number, shown

__all__ = ["read", "recognise"]

_SPOKEN = {"user", "assistant"}
#: Lines that may come without the name of their session.
_NAMELESS = {"summary": "leafUuid", "file-history-snapshot": "messageId"}


def recognise(value: object) -> bool:
    """Tell whether a value is a line of a session, saved or streamed."""
    kind = text(under(value, "type"))
    if kind in _SPOKEN:
        return isinstance(under(value, "message"), dict)
    return bool(kind) and (bool(_session(value)) or _NAMELESS.get(kind) in value)


def _session(value: dict) -> str:
    return text(value.get("sessionId")) or text(value.get("session_id"))


@dataclass
class _Run:
    """A session or side chain still being read."""

    line: int
    name: str
    placed: list[tuple[str, dict]] = field(default_factory=list)
    replies: dict[str, dict] = field(default_factory=dict)
    spent: dict[str, dict] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    left: Counter = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    model: str | None = None
    cost: float | int | None = None

    def take(self, line: int, value: dict) -> None:
        """Take a line of a message, or count it among those left out."""
        message, own = value["message"], text(value.get("uuid"))
        model = text(message.get("model"))
        why = ("repeated" if own and own in self.seen
               else "compaction summary" if value.get("isCompactSummary")
               else "reminder" if value.get("isMeta")
               else "error message" if model == "<synthetic>" else "")
        self.seen.add(own)
        if why:
            self.left[why] += 1
            return
        key = text(message.get("id")) if value["type"] == "assistant" else ""
        self.model = self.model or model or None
        if key:
            self._spend(key, message.get("usage"))
        if not key or key not in self.replies:
            content = blocks.parts(message.get("content"))
            message = message | {"role": value["type"], "content": content}
            self.placed.append((f"line {line}", message))
            self.replies[key] = message
            return
        for part in blocks.parts(message.get("content")):
            if part in self.replies[key]["content"]:
                self.left["repeated"] += 1
            else:
                self.replies[key]["content"].append(part)

    def _spend(self, key: str, usage: object) -> None:
        """Keep the most that any line of a message says it cost: lines repeat it or grow."""
        most = self.spent.setdefault(key, {})
        for kind, amount in keyed(usage).items():
            if number(amount) is not None:
                most[kind] = max(amount, most.get(kind, 0))

    def closed(self) -> Imported | Unread:
        """Make the run of what was taken."""
        placed = [(place, part) for place, message in self.placed
                  for part in blocks.unpacked(message)]
        read = chat.read(placed)
        notes, asked = [*read.notes, *self.notes], read.opening.strip()
        if asked.startswith("$(") and asked.endswith(")"):
            notes.append("the prompt is a shell command that was never run: the task is not here")
        notes += left_out("lines", self.left)
        return run(
            self.line, self.name, read.opening, read.steps, read.answer, model=self.model,
            procedure=read.procedure, notes=tuple(notes),
            usage=blocks.usage(list(self.spent.values())) | totals(cost=self.cost))


def _chain(value: dict, roots: dict[str, str]) -> str:
    """Name the side chain a line is of; one without an agent's name by its first line."""
    own = text(value.get("uuid"))
    chain = text(value.get("parent_tool_use_id"))
    if value.get("isSidechain") is True:
        root = roots.get(text(value.get("parentUuid")), own)
        chain = roots[own] = text(value.get("agentId")) or root or "side"
    return chain


def read(found: Iterator[Document | Unread]) -> Iterator[Imported | Unread]:
    """Read the sessions of a file, in the order in which they begin."""
    runs: dict[Hashable, _Run] = {}
    roots: dict[str, str] = {}
    other, last = Counter(), 0
    for document in found:
        line, value = document.line, getattr(document, "value", None)
        if isinstance(document, Unread):
            yield document
        elif not text(under(value, "type")):
            yield Unread(line, "no line of a Claude Code session")
        elif value["type"] not in _SPOKEN:
            other[value["type"]] += 1
            last = line
            if value["type"] == "result" and (session := runs.get((_session(value), ""))):
                session.cost = value.get("total_cost_usd")
                if (end := text(value.get("subtype"))) != "success":
                    session.notes.append(f"ended as {shown(end, 40)}")
        elif not isinstance(value.get("message"), dict):
            yield Unread(line, f"a line of type {value['type']} without a message")
        else:
            key = (_session(value), _chain(value, roots))
            name = "-".join(filter(None, key)) or f"claude-line{line}"
            runs.setdefault(key, _Run(line, name)).take(line, value)
    for number_of, session in enumerate(runs.values()):
        if not number_of:
            session.left.update(other)
        yield session.closed()
    if other and not runs:
        yield Unread(last, "no message in the file, only lines about the session")
