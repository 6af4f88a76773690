"""Messages made of Anthropic's content blocks, as chat messages.

Decision: a block that uses a tool is a call and one that holds a tool's
result is a message of its own, before whatever the user says beside it; what
the model thought comes before what it said. Refusal: no block is dropped
here: of what is neither text nor a call the chat reader makes a note.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from tjlib.formats import chat
from tjlib.formats.fields import added, listed, text, under

__all__ = ["has_tools", "parts", "unpacked", "usage"]

_TOKENS = {"input_tokens": "prompt_tokens", "cache_creation_input_tokens": "prompt_tokens",
           "cache_read_input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"}


def _kind(block: object) -> str:
    return text(under(block, "type"))


def _is_result(block: object) -> bool:
    return _kind(block).endswith("tool_result")


def has_tools(message: object) -> bool:
    """Tell whether a message has blocks that only Anthropic's form has."""
    return any(_is_result(block) or _kind(block) in ("tool_use", "thinking", "redacted_thinking")
               for block in listed(under(message, "content")))


def parts(content: object) -> list:
    """Return the blocks of a content, which may be a text or nothing."""
    if isinstance(content, list):
        return list(content)
    return [] if content is None else [{"type": "text", "text": chat.text_of(content)[0]}]


def usage(spent: Sequence) -> dict[str, int | float]:
    """Add up what replies cost in tokens; what a cache held was part of the prompt.

    >>> usage([{"input_tokens": 2, "cache_read_input_tokens": 9, "output_tokens": 5}])
    {'prompt_tokens': 11, 'completion_tokens': 5}
    """
    found = {kind: added(spent, kind) for kind in _TOKENS}
    return {name: sum(found[kind] or 0 for kind in _TOKENS if _TOKENS[kind] == name)
            for kind, name in _TOKENS.items() if found[kind] is not None}


def _result(block: dict) -> dict:
    content, plain = block.get("content"), _kind(block) in ("tool_result", "mcp_tool_result")
    return {"role": "tool", "tool_call_id": block.get("tool_use_id"),
            "is_error": block.get("is_error"),
            "content": content if plain else json.dumps(content, ensure_ascii=False)}


def unpacked(message: object) -> Iterator[object]:
    """Turn one message into chat messages: its own, and one for each result it holds.

    Examples
    --------
    >>> used = {"type": "tool_use", "id": "t1", "name": "look", "input": {"sku": 7}}
    >>> next(unpacked({"role": "assistant", "content": [used]}))["tool_calls"]
    [{'id': 't1', 'function': {'name': 'look', 'arguments': {'sku': 7}}}]
    """
    content, ours = under(message, "content"), under(message, "role") == "assistant"
    if not isinstance(content, list):
        yield message
        return
    results = [_result(block) for block in content if _is_result(block)]
    if not ours:
        yield from results
    kept, calls, thoughts = [], [], []
    for block in content:
        if ours and _kind(block).endswith("tool_use"):
            calls.append({"id": block.get("id"), "function": {
                "name": block.get("name"), "arguments": block.get("input")}})
        elif _kind(block) == "thinking":
            thoughts.append(text(block.get("thinking")))  # a signature may stand alone
        elif not _is_result(block):
            kept.append(block)
    if ours or kept or not results:
        if calls:
            message = message | {"tool_calls": [*listed(message.get("tool_calls")), *calls]}
        if any(thoughts):
            message = message | {"reasoning_content": "\n".join(filter(None, thoughts))}
        yield message | {"content": kept}
    if ours:
        yield from results
