"""AgentBench's rows, as MedAgentBench publishes them: calls written as text.

Decision: a line that opens with GET or POST is a call, its answer the next
turn, and FINISH hands in the result. Refusal: the rows hold no outcome (a
solver elsewhere has it), so nothing is judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tjlib.documents import Document, Unread
from tjlib.formats import chat
from tjlib.formats.fields import decoded, each, run
from tjlib.formats.imported import Imported, shown

__all__ = ["read", "recognise"]

_REQUEST = re.compile(r"\s*(?:```\w*\s*)?(GET|POST)\s+(\S+)\s*(.*?)\s*(?:```\s*)?", re.S)
_REFUSED = ("Invalid", "Error")


def recognise(value: object) -> bool:
    """Tell whether a value is a row: an index and an output with a status or a history."""
    return isinstance(value, dict) and {"index", "output"} <= set(value) and (
        "error" in value if value["output"] is None else isinstance(value["output"], dict)
        and {"status", "history"} <= set(value["output"]))


def _messages(history: list) -> list[dict]:
    out, asked = [], False
    for turn in history:
        turn = turn if isinstance(turn, dict) else {"role": type(turn).__name__}
        role, content = turn.get("role"), turn.get("content")
        text = chat.text_of(content)[0]
        if role == "user" and asked:
            out.append({"role": "tool", "content": content})
            asked = False
        elif role == "agent":
            request = _REQUEST.fullmatch(text)
            asked = request is not None
            body = {"body": decoded(request[3])} if asked and request[3] else {}
            out.append({"role": "assistant", "content": "" if asked else content} | (
                {"tool_calls": [{"function": {
                    "name": request[1], "arguments": {"url": request[2]} | body}}]}
                if asked else {}))
        else:
            out.append({"role": role, "content": content})
    return out


def _row(document: Document) -> Imported | Unread:
    row, line = document.value, document.line
    output = row["output"] or {}
    history = output.get("history")
    if not isinstance(history, list):
        return Unread(line, "a row without a history: "
                      + shown(row.get("error") or output.get("status")))
    read = chat.read(chat.numbered(_messages(history)),
                     lambda message, said: said.startswith(_REFUSED))
    notes, status = list(read.notes), output.get("status")
    if status != "completed":
        notes.append(f"ended as {shown(status, 60)}")
    if row.get("error"):
        notes.append(shown(row["error"]))
    task_id, result = shown(row["index"], 60), output.get("result")
    return run(line, f"agentbench-{task_id}", read.opening, read.steps,
               chat.text_of(result)[0] or read.answer, task_id=task_id,
               procedure=read.procedure, notes=tuple(notes))


def read(found: Iterator[Document | Unread]) -> Iterator[Imported | Unread]:
    """Read rows, each as one run; what is none comes back with its line."""
    return each(found, recognise, _row, "no row of AgentBench")
