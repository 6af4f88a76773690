"""Runs of LangSmith and LangGraph: dumps of run records, each made and then updated.

Decision: records of one id are one run, later fields over earlier ones, and
the runs of a trace are read as its spans. Refusal: feedback is not in these
dumps, so nothing is judged, and a trace without tools is no agent's.
"""

from __future__ import annotations

from collections.abc import Iterator

from tjlib.documents import Document, Unread
from tjlib.formats.dialects import messages
from tjlib.formats.fields import first, keyed, text, under
from tjlib.formats.imported import Imported, shown
from tjlib.formats.spans import Span
from tjlib.formats.spans import read as read_spans
from tjlib.formats.tokens import usage

__all__ = ["read", "recognise"]

_UPDATES = {"end_time", "outputs", "error", "inputs", "events"}


def _records(value: object) -> list[dict]:
    """Take the records out of a batch of new and changed runs, or a bare record."""
    if not isinstance(value, dict):
        return []
    batch = [r for key in ("post", "patch") if isinstance(value.get(key), list)
             for r in value[key]]
    return [r for r in batch or [value] if isinstance(r, dict) and isinstance(
        r.get("id"), str) and ("run_type" in r or (_UPDATES & set(r) and "role" not in r))]


def recognise(value: object) -> bool:
    """Tell whether a value holds a run record that says what kind of run it is, or a batch."""
    return bool(records := _records(value)) and any(
        "run_type" in r or "dotted_order" in r for r in records)


def _flat(found: object) -> list:
    """Take a list of messages out of the lists around it: LangChain writes one a prompt."""
    while isinstance(found, list) and len(found) == 1 and isinstance(found[0], list):
        found = found[0]
    return found if isinstance(found, list) else [] if found is None else [found]


def _said(outputs: dict) -> list[dict]:
    """Read what a model answered, in any of the forms that its client left."""
    choices = outputs.get("choices")
    if isinstance(choices, list):
        return [m for c in choices[:1] if isinstance(c, dict) for m in messages(
            {"role": "assistant", **keyed(c.get("message")), "logprobs": c.get("logprobs")})]
    generations = _flat(outputs.get("generations"))
    if generations and isinstance(generations[0], dict):
        said = first(generations[0], "message", "text")
    elif outputs.get("content") is not None:  # Anthropic's message itself
        said = outputs
    else:
        said = first(outputs, "message", "output")
    if said is None:
        return []
    said = said if isinstance(said, dict) else {"content": said}
    named = {"role", "type", "kwargs"} & set(said)
    return messages(said if named else {"role": "assistant", **said})


def _span(line: int, record: dict) -> Span:
    inputs, outputs = keyed(record.get("inputs")), keyed(record.get("outputs"))
    run_type, name = record.get("run_type"), shown(record.get("name") or "", 60)
    trace = text(first(record, "trace_id", "id"))
    failed = bool(record.get("error"))
    start = (text(first(record, "dotted_order", "start_time")),)
    model = text(under(record, "extra", "metadata", "ls_model_name")) or text(inputs.get("model"))
    asked = [m for raw in _flat(first(inputs, "messages", "prompts")) for m in messages(raw)]
    if run_type == "tool":
        call = keyed(inputs.get("tool_call"))  # LangGraph's tool node hands over the whole call
        result = first(outputs, "output", "content")
        inner = keyed(outputs.get("output"))
        inner = inner.get("kwargs") if isinstance(inner.get("kwargs"), dict) else inner
        given = first(inner, "tool_call_id") or first(call, "id")
        arguments = first(call, "args") or first(inputs, "input") or inputs
        result = inner.get("content", result) if inner else outputs if result is None else result
        return Span(line, trace, start, "tool", name, call=(given, name, arguments),
                    result=record.get("error") if failed else result, failed=failed)
    if run_type == "llm":
        tools = inputs.get("tools") or under(record, "extra", "invocation_params", "tools")
        return Span(line, trace, start, "model", name, asked, _said(outputs), offers=bool(tools),
                    model=model or None, usage=usage(outputs.get("usage_metadata")
                                or under(outputs, "llm_output", "token_usage")))
    if record.get("parent_run_id"):  # what a link of a chain says, a model or a tool says
        return Span(line, trace, start, "", name)
    after = [m for raw in _flat(outputs.get("messages")) for m in messages(raw)]
    return Span(line, trace, start, "around", name, after or asked)


def read(found: Iterator[Document | Unread]) -> Iterator[Imported | Unread]:
    """Read all records, then give the runs they make up."""
    runs: dict[str, tuple[int, dict]] = {}
    for item in found:
        records = [] if isinstance(item, Unread) else _records(item.value)
        if isinstance(item, Unread) or not records:
            yield item if isinstance(item, Unread) else Unread(item.line, "no run of LangSmith")
        for record in records:
            line, known = runs.get(record["id"], (item.line, {}))
            runs[record["id"]] = line, known | {
                k: v for k, v in record.items() if v not in (None, "", {}, [])}
    yield from read_spans((_span(*run) for run in runs.values()), "langsmith")
