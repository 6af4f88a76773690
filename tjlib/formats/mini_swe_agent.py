"""Runs of mini-SWE-agent: chat messages, a command in each, in all three of its forms.

Decision: the one fenced command of a message is a call to ``bash`` and the
next user message its output, as the agent itself reads them; a return code
other than 0 is an error. Refusal: a message with no fence or with several
made no call, since none was run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tjlib.documents import Document, Unread
from tjlib.formats import chat
from tjlib.formats.fields import added, listed, named, run, text, totals, under
from tjlib.formats.imported import Imported, number, shown

__all__ = ["outcomes", "read", "recognise"]

_FENCE = re.compile(r"```(?:mswea_bash_command|bash)[ \t]*\r?\n(.*?)\r?\n?```", re.DOTALL)
_CODE = re.compile(r"\s*<returncode>\s*(-?\d+)\s*</returncode>")
#: What the first form's system prompt says, by which its bare list of messages is known.
_ASKED = ("exactly ONE bash code block", "mswea_bash_command")
#: The command that ends a run, with the answer as its output.
_LAST = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT")


def _opens(value: object) -> bool:
    """Tell whether a value is the first message of a bare list."""
    said = chat.text_of(under(value, "content"))[0]
    return under(value, "role") == "system" and any(words in said for words in _ASKED)


def recognise(value: object) -> bool:
    """Tell whether a value is a run, or the system prompt that opens a bare list."""
    told = text(under(value, "trajectory_format")).startswith("mini-swe-agent")
    return _opens(value) or (isinstance(under(value, "messages"), list) and (
        told or under(value, "info", "mini_version") is not None))


def outcomes(value: object) -> dict[str, bool] | None:
    """Read a summary of SWE-bench: of each issue that was judged, whether it was resolved.

    >>> outcomes({"resolved_ids": ["a"], "unresolved_ids": ["b"], "error_ids": ["c"]})
    {'a': True, 'b': False}
    """
    if not isinstance(under(value, "resolved_ids"), list):
        return None
    failed = [*listed(value.get("unresolved_ids")), *listed(value.get("empty_patch_ids"))]
    told = [(name, True) for name in value["resolved_ids"]] + [(name, False) for name in failed]
    return {name: resolved for name, resolved in told if isinstance(name, str)}


def _failed(message: dict, said: str) -> bool:
    code = under(message, "extra", "returncode")
    if number(code) is None and (found := _CODE.match(said)):
        code = int(found[1][:9])
    return bool(number(code) or under(message, "extra", "exception_info")) or said.startswith(
        "The last command <command>")  # what the agent is told of a command that timed out


def _spoken(message: dict) -> dict:
    """Lay out an assistant's message: what it said and what it called."""
    content = message.get("content")
    said, calls = chat.text_of(content)[0], message.get("tool_calls")
    fenced = [] if calls else list(_FENCE.finditer(said))
    if len(fenced) == 1:
        calls = [{"function": {"name": "bash", "arguments": {"command": fenced[0][1]}}}]
        said = f"{said[:fenced[0].start()].rstrip()}\n{said[fenced[0].end():].lstrip()}".strip()
    others = [part for part in listed(content) if chat.text_of([part])[1]]
    return message | {"content": [said, *others], "tool_calls": calls, "logprobs": under(
        message, "extra", "response", "choices", 0, "logprobs")}


def _laid_out(messages: list) -> Iterator[tuple[str, object]]:
    """Lay out messages as chat, each with its place: the turn after a fence is its output."""
    awaited = False
    for at, message in enumerate(messages):
        role = under(message, "role")
        if role == "exit":
            continue
        if role == "assistant":
            fenced = not message.get("tool_calls")
            message = _spoken(message)
            awaited = fenced and bool(message["tool_calls"])
        elif role == "user" and awaited:
            awaited = False
            message = message | {"role": "tool"}
        yield f"message {at}", message


def _submitted(messages: list) -> str:
    """Return the output of the command that ends a bare list."""
    command = chat.text_of(under(messages, -2, "content"))[0]
    ended = under(messages, -1, "role") == "user" and any(word in command for word in _LAST)
    return chat.text_of(under(messages, -1, "content"))[0] if ended else ""


def _run(document: Document, messages: list, value: dict) -> Imported | Unread:
    read = chat.read(_laid_out(messages), _failed)
    info, notes = value.get("info"), list(read.notes)
    status = under(info, "exit_status")
    if status not in (None, "Submitted"):
        notes.append(f"ended as {shown(status)}")
    name = text(value.get("instance_id")) or named(document, "mini", not value)
    return run(
        document.line, name, read.opening, read.steps,
        text(under(info, "submission")) or _submitted(messages) or read.answer,
        model=text(under(info, "config", "model", "model_name")) or None,
        procedure=read.procedure, notes=tuple(notes), usage=totals(
            cost=under(info, "model_stats", "instance_cost"),
            **{kind: added(messages, "extra", "response", "usage", kind)
               for kind in ("prompt_tokens", "completion_tokens")}))


def read(found: Iterator[Document | Unread]) -> Iterator[Imported | Unread]:
    """Read runs, each an object of its own, or a bare list whose messages come one by one."""
    first, bare = None, []
    for document in found:
        if isinstance(document, Unread):
            yield document
        elif _opens(document.value):
            if first:
                yield _run(first, bare, {})
            first, bare = document, [document.value]
        elif recognise(document.value):
            yield _run(document, document.value["messages"], document.value)
        elif first:
            bare.append(document.value)
        else:
            yield Unread(document.line, "no run of mini-SWE-agent")
    if first:
        yield _run(first, bare, {})
