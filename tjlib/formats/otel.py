"""OpenTelemetry spans: GenAI conventions, OpenInference, OpenLLMetry, Vercel's AI SDK.

Decision: spans are grouped by trace and sorted by start, since exporters
write them as they end; a span without a trace is one of its own. Refusal: a
file's spans are all held in memory, because a trace may go on to its last
line, and no outcome is read from a span's status.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from tjlib.documents import Document, Unread
from tjlib.formats.dialects import messages
from tjlib.formats.fields import decoded, first, keyed, listed
from tjlib.formats.imported import Imported, shown
from tjlib.formats.spans import Span
from tjlib.formats.spans import read as read_spans

__all__ = ["read", "recognise"]

_PREFIXES = ("gen_ai.", "llm.", "openinference.", "ai.", "traceloop.")
_MODEL, _TOOL, _AROUND = "model", "tool", "around"
_KINDS = {
    "chat": _MODEL, "text_completion": _MODEL, "generate_content": _MODEL, "LLM": _MODEL,
    "completion": _MODEL, "execute_tool": _TOOL, "TOOL": _TOOL, "tool": _TOOL,
    "ai.toolCall": _TOOL, "invoke_agent": _AROUND, "AGENT": _AROUND, "CHAIN": _AROUND,
    "create_agent": _AROUND, "invoke_workflow": _AROUND, "workflow": _AROUND, "agent": _AROUND,
    "task": _AROUND,
}
_USAGE = {
    "prompt_tokens": ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens",
                      "llm.token_count.prompt", "ai.usage.promptTokens", "ai.usage.inputTokens"),
    "completion_tokens": ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens",
                          "llm.token_count.completion", "ai.usage.completionTokens",
                          "ai.usage.outputTokens"),
}
_OFFERS = ("gen_ai.tool.definitions", "llm.tools.", "llm.request.functions.", "ai.prompt.tools",
           "gen_ai.agent.name")


def _listed(value: dict, *keys: str) -> list:
    return [v for v in listed(first(value, *keys)) if isinstance(v, dict)]


def _exported(value: dict) -> list[dict]:
    """Take the spans out of an export of OTLP."""
    return [span for resource in _listed(value, "resourceSpans", "resource_spans")
            for scope in _listed(resource, "scopeSpans", "scope_spans",
                                 "instrumentationLibrarySpans")
            for span in _listed(scope, "spans")]


def _plain(value: object) -> Any:
    """Take an attribute's value out of its type's wrapper."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    (kind, inner), = value.items()
    if kind == "arrayValue" and isinstance(inner, dict):
        return [_plain(v) for v in inner.get("values") or [] if isinstance(v, dict)]
    if kind == "kvlistValue" and isinstance(inner, dict):
        return _attributes(inner.get("values"))
    if kind == "intValue" and isinstance(inner, str) and inner.lstrip("-").isdecimal():
        return int(inner[:30])
    return inner if kind.endswith("Value") else value


def _attributes(found: object) -> dict[str, Any]:
    if isinstance(found, list):
        return {a["key"]: _plain(a.get("value")) for a in found
                if isinstance(a, dict) and isinstance(a.get("key"), str)}
    if not isinstance(found, dict):
        return {}
    flat = {}
    for key, value in found.items():  # Phoenix writes {"llm": {"model_name": ...}}
        if isinstance(value, dict) and f"{key}." in (*_PREFIXES, "tool.", "input.", "output."):
            flat |= {f"{key}.{k}": v for k, v in _attributes(value).items()}
        else:
            flat[key] = value
    return flat


def _tree(attributes: dict, prefix: str) -> object:
    """Read a value that is whole under its name, or spread over dotted names with numbers."""
    if (whole := attributes.get(prefix)) is not None:
        return decoded(whole)
    root: dict = {}
    for key, value in attributes.items():
        if not key.startswith(prefix + "."):
            continue
        *path, last = key[len(prefix) + 1:].split(".")
        at = root
        for name in path:
            inner = at.setdefault(name, {})
            at = inner if isinstance(inner, dict) else at.setdefault(name + ".", {})
        at[last] = value
    return _numbered(root)


def _numbered(node: object) -> object:
    if not isinstance(node, dict):
        return node
    if node and all(key.isdecimal() for key in node):
        return [_numbered(node[key]) for key in sorted(node, key=int)]
    return {key: _numbered(value) for key, value in node.items()}


def _messages(attributes: dict, *prefixes: str) -> list[dict]:
    for prefix in prefixes:
        found = _tree(attributes, prefix)
        if isinstance(found, dict) and "role" not in found:  # Vercel's outer span
            system = [{"role": "system", "content": text}] if (text := found.get("system")) else []
            found = system + (given if isinstance(given := first(
                found, "messages", "prompt"), list) else [given] if given else [])
        if found:
            return [m for raw in (found if isinstance(found, list) else [found])
                    for m in messages(raw)]
    return []


def _start(span: dict) -> tuple[float, float]:
    """Return when a span starts, in seconds and the nanoseconds that a float would lose."""
    value = first(span, "startTimeUnixNano", "start_time_unix_nano", "startTime", "start_time")
    if isinstance(value, list) and len(value) == 2 and all(isinstance(v, int) for v in value):
        return value[0], value[1]
    if isinstance(value, str) and value.isdecimal():
        value = int(value[:30])
    if isinstance(value, int | float):
        return (value // 10**9, value % 10**9) if value > 1e12 else (value, 0)
    try:
        return datetime.fromisoformat(str(value)).timestamp(), 0
    except (ValueError, OverflowError):
        return 0, 0


def _id(span: dict, *keys: str) -> str:
    found = first(keyed(first(span, "spanContext", "context", "span_context")) | span, *keys)
    return shown(found, 64) if isinstance(found, str | int) else ""


def _trace(span: dict) -> str:
    return _id(span, "traceId", "trace_id")


def _kind(attributes: dict) -> str:
    vercel = attributes.get("ai.operationId")
    if isinstance(vercel, str) and vercel != "ai.toolCall":
        inner = vercel.endswith((".doGenerate", ".doStream"))
        return "other" if "mbed" in vercel else _MODEL if inner else _AROUND
    name = first(attributes, "ai.operationId", "gen_ai.operation.name", "openinference.span.kind",
                 "traceloop.span.kind", "llm.request.type")
    if isinstance(name, str) and name in _KINDS:
        return _KINDS[name]
    speaks = ("gen_ai.prompt", "gen_ai.completion", "gen_ai.input.messages",
              "gen_ai.output.messages", "llm.input_messages", "llm.output_messages")
    return _MODEL if any(key.startswith(speaks) for key in attributes) else "other"


def _said(attributes: dict) -> list[dict]:
    text = first(attributes, "ai.response.text", "ai.response.object")
    calls = decoded(attributes.get("ai.response.toolCalls"))
    if text is not None or calls:
        return messages({"role": "assistant", "content": text, "tool_calls": calls})
    return _messages(attributes, "gen_ai.output.messages", "llm.output_messages",
                     "gen_ai.completion")


def _prompt(attributes: dict) -> list[dict]:
    system = _tree(attributes, "gen_ai.system_instructions")
    found = _messages(attributes, "gen_ai.input.messages", "llm.input_messages",
                      "ai.prompt.messages", "gen_ai.prompt", "ai.prompt")
    return messages({"role": "system", "content": system}) + found if system else found


def _span(line: int, span: dict) -> Span:
    attributes = _attributes(span.get("attributes", span))
    for event in _listed(span, "events"):
        attributes = {k: v for k, v in _attributes(event.get("attributes")).items()
                      if k.startswith("gen_ai.")} | attributes
    kind, status = _kind(attributes), span.get("status")
    code = first(status, "code", "status_code") if isinstance(status, dict) else first(
        span, "status_code", "status")
    usage = {name: n for name, keys in _USAGE.items()
             if type(n := first(attributes, *keys)) is int and 0 <= n < 10**12}
    name = first(attributes, "gen_ai.tool.name", "ai.toolCall.name", "tool.name",
                 "traceloop.entity.name")
    model = first(attributes, "gen_ai.response.model", "gen_ai.request.model", "llm.model_name",
                  "ai.model.id")
    return Span(
        line, _trace(span), _start(span), kind, shown(first(
            span, "name", "span_name") or first(attributes, "ai.operationId") or "", 60),
        _prompt(attributes) if kind != _TOOL else (), _said(attributes) if kind != _TOOL else (),
        (first(attributes, "gen_ai.tool.call.id", "ai.toolCall.id", "tool_call.id", "tool.id"),
         span.get("name") if name is None else name,
         first(attributes, "gen_ai.tool.call.arguments", "ai.toolCall.args", "ai.toolCall.input",
               "input.value", "tool.parameters", "traceloop.entity.input", "input")),
        first(attributes, "gen_ai.tool.call.result", "ai.toolCall.result", "ai.toolCall.output",
              "output.value", "traceloop.entity.output", "output"),
        code in (2, "ERROR", "STATUS_CODE_ERROR"), any(k.startswith(_OFFERS) for k in attributes),
        model if isinstance(model, str) else None, usage)


def _is_span(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    return ("attributes" in value and _trace(value) != "") or any(
        key.startswith(_PREFIXES) for key in value)


def recognise(value: object) -> bool:
    """Tell whether a value is an export of spans, a span, or a span's attributes alone."""
    return isinstance(value, dict) and (bool(_exported(value)) or _is_span(value))


def read(found: Iterator[Document | Unread]) -> Iterator[Imported | Unread]:
    """Read all spans, then give the runs they make up; a span that comes again is left out."""
    spans, seen = [], set()
    for item in found:
        value = None if isinstance(item, Unread) else item.value
        if isinstance(item, Unread):
            yield item
        elif recognise(value):
            for span in _exported(value) or [value]:
                name = (_trace(span), _id(span, "spanId", "span_id"))
                if name[1] and name in seen:
                    yield Unread(item.line, f"span {name[1]} is there already")
                else:
                    seen.add(name)
                    spans.append(_span(item.line, span))
        else:
            yield Unread(item.line, "no span of OpenTelemetry")
    yield from read_spans(spans, "otel")
