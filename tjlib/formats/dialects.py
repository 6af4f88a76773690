"""Chat messages of other makers in OpenAI's form.

Decision: one reading for all of them (OpenTelemetry's parts, OpenInference's
nested keys, Vercel's and LangChain's messages), since each names the same few
things in its own way. Refusal: nothing is dropped: a part that is not known
stays in the content, where the reader of messages notes it.
"""

from __future__ import annotations

from tjlib.formats.fields import decoded, first, listed, text, under

__all__ = ["call", "messages"]

_ROLES = {"human": "user", "ai": "assistant", "model": "assistant", "HumanMessage": "user",
          "AIMessage": "assistant", "AIMessageChunk": "assistant", "SystemMessage": "system",
          "ToolMessage": "tool", "FunctionMessage": "tool"}
_CALLS = {"tool_call", "tool-call", "tool_use", "toolCall"}
_RESULTS = {"tool_call_response", "tool-result", "tool_result"}
_TEXTS = {"text", "reasoning", "thinking", "output_text", "input_text"}


def call(raw: object) -> dict:
    """Read one call, whatever its maker calls its parts.

    >>> call({"toolCallId": "a", "toolName": "refund", "input": {"order": 4}})
    {'id': 'a', 'function': {'name': 'refund', 'arguments': {'order': 4}}}
    """
    raw = raw if isinstance(raw, dict) else {"function": raw}
    raw = raw["tool_call"] if isinstance(raw.get("tool_call"), dict) else raw
    inner = raw.get("function")
    inner = inner if isinstance(inner, dict) else {**raw, "name": first(
        raw, "name", "toolName", "tool_name", "function")}
    return {"id": first(raw, "id", "toolCallId", "tool_call_id"), "function": {
        "name": inner.get("name"),
        "arguments": first(inner, "arguments", "args", "input", "parameters")}}


def _result(part: dict) -> dict:
    value = first(part, "response", "result", "output", "content")
    if isinstance(value, dict) and set(value) == {"type", "value"}:  # Vercel's
        value = value["value"]
    failed = part.get("is_error") is True or part.get("isError") is True
    return {"role": "tool", "content": value, "is_error": failed, "tool_call_id": first(
        part, "id", "toolCallId", "tool_call_id", "tool_use_id")}


def _unwrapped(raw: dict) -> dict:
    """Take the message out of what stands around it."""
    if isinstance(raw.get("message"), dict):  # OpenInference
        raw = raw["message"]
    if isinstance(raw.get("kwargs"), dict):  # LangChain, serialized
        raw = {**raw["kwargs"], "type": text(under(raw, "id", -1)) or None}
    return raw


def _parts(raw: dict) -> list | None:
    """Return a message's content as parts, if it has any."""
    parts = first(raw, "parts", "contents")
    parts = raw.get("content") if parts is None else parts
    if isinstance(parts, str) and raw.get("role") != "tool":
        decoded_parts = decoded(parts)  # OpenLLMetry writes parts as a JSON text
        parts = decoded_parts if isinstance(decoded_parts, list) and all(
            isinstance(p, dict) and "type" in p for p in decoded_parts) else None
    if not isinstance(parts, list):
        return None
    return [p["message_content"] if isinstance(p, dict) and isinstance(
        p.get("message_content"), dict) else p for p in parts]


def messages(raw: object) -> list[dict]:
    """Read one message, which may hold results of calls that are messages of their own.

    Parameters
    ----------
    raw : object
        A message of any maker; a text is the user's.

    Returns
    -------
    list of dict
        With ``role``, ``content``, ``tool_calls`` (each with ``id`` and
        ``function``), ``tool_call_id``, ``is_error``, ``logprobs``.

    Examples
    --------
    >>> messages({"role": "tool", "parts": [
    ...     {"type": "tool_call_response", "id": "a", "response": "done"}]})
    [{'role': 'tool', 'content': 'done', 'is_error': False, 'tool_call_id': 'a'}]
    """
    if isinstance(raw, str):
        return [{"role": "user", "content": raw}]
    if not isinstance(raw, dict):
        return [{"role": type(raw).__name__, "content": None}]
    raw = _unwrapped(raw)
    role = first(raw, "role", "type")
    role = _ROLES.get(role, role) if isinstance(role, str) else None
    calls = [call(c) for c in listed(raw.get("tool_calls"))]
    older = raw.get("function_call")
    calls += [call(older)] if older else []
    content, results = raw.get("content"), []
    parts = _parts(raw)
    if parts is not None:
        content = []
        known = {c["id"] for c in calls if isinstance(c["id"], str)}
        for part in parts:
            kind = text(under(part, "type"))
            if kind in _CALLS:
                own = call(part)
                calls += [] if isinstance(own["id"], str) and own["id"] in known else [own]
            elif kind in _RESULTS:
                results.append(_result(part))
            elif kind in _TEXTS:
                content.append({"type": "text", "text": first(
                    part, "text", "content", "thinking")})
            else:
                content.append(part)
    if results and not content and not calls:
        return results
    message = {"role": role, "content": content}
    if calls:
        message["tool_calls"] = calls
    if role in ("tool", "function"):
        message |= {"tool_call_id": first(raw, "tool_call_id", "id"),
                    "is_error": raw.get("status") == "error"}
    if role == "assistant" and (
            likely := first(raw, "logprobs") or under(raw, "response_metadata", "logprobs")):
        message["logprobs"] = likely
    return [message, *results]
