"""Runs of SWE-agent: a ``.traj`` file with its list of actions, or a history alone.

Decision: the list of actions is the run; the history gives the issue, the
system prompt and, where the model called functions, the calls behind the
actions. Any other action is shell text, its first word the tool. Refusal: a
demonstration in the history is another issue's run and never counts, and no
output is called an error, since no return code is in the log.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tjlib.documents import Document, Unread
from tjlib.formats import chat
from tjlib.formats.fields import decoded, each, listed, named, run, text, totals, under
from tjlib.formats.imported import Imported, shown

__all__ = ["outcomes", "read", "recognise"]

#: Where a message stands in its log, and the message in chat form.
Placed = tuple[str, dict]


def recognise(value: object) -> bool:
    """Tell whether a value is a run: actions with their observations, or an agent's history."""
    actions, history = under(value, "trajectory"), under(value, "history")
    if isinstance(actions, list):
        first = under(actions, 0)
        return (isinstance(first, dict) and {"action", "observation"} <= set(first)) or (
            not actions and isinstance(history, list))
    first = under(history, 0)
    return chat.is_message(first) and bool({"agent", "message_type"} & set(first))


def outcomes(value: object) -> dict[str, bool] | None:
    """Read a report of SWE-bench: of each issue it names, whether it was resolved.

    >>> outcomes({"acme__shop-12": {"resolved": False}})
    {'acme__shop-12': False}
    """
    if not isinstance(value, dict) or not value:
        return None
    told = {name: under(report, "resolved") for name, report in value.items()}
    return told if all(isinstance(resolved, bool) for resolved in told.values()) else None


def _shell(action: str) -> dict:
    return {"function": {"name": action.split()[0], "arguments": {"command": action}}}


def _is_demo(message: object) -> bool:
    return isinstance(message, dict) and bool(
        message.get("is_demo") or message.get("message_type") == "demonstration")


def _own(value: dict) -> list[Placed]:
    """Return the history's messages that are not a demonstration."""
    return [(f"history {at}", message) for at, message in enumerate(listed(value.get("history")))
            if not _is_demo(message)]


def _actions(value: dict, own: list[Placed]) -> Iterator[Placed]:
    """Lay out the actions as chat, each with the calls its message in the history made."""
    called = defaultdict(list)
    for place, message in own:
        if under(message, "role") == "assistant":
            called[chat.text_of(message.get("action"))[0]].append(listed(message.get("tool_calls")))
        elif not called:
            yield place, message
    for at, entry in enumerate(value["trajectory"]):
        place = f"trajectory {at}"
        if not isinstance(entry, dict):
            yield place, entry
            continue
        action, observation = chat.text_of(entry.get("action"))[0], entry.get("observation")
        calls = called[action].pop(0) if called[action] else []
        calls = calls or ([_shell(action)] if action.strip() else [])
        yield place, {"role": "assistant", "tool_calls": calls,
                      "content": entry.get("thought") or entry.get("response")}
        if observation is not None:
            yield place, {"role": "tool" if calls else "user", "content": observation}


def _history(own: list[Placed]) -> Iterator[Placed]:
    """Lay out a history that stands alone as chat: the turn after shell text is its output."""
    awaited = False
    for place, message in own:
        role, content = under(message, "role"), under(message, "content")
        if role == "assistant":
            action = chat.text_of(message.get("action"))[0]
            calls = listed(message.get("tool_calls"))
            awaited = bool(action.strip()) and not calls
            yield place, {"role": role, "content": message.get("thought") or content,
                          "tool_calls": [_shell(action)] if awaited else calls}
        elif role == "tool":
            yield place, {"role": role, "content": content,
                          "tool_call_id": under(message, "tool_call_ids", 0)}
        elif role == "user" and awaited:
            awaited = False
            yield place, {"role": "tool", "content": content}
        else:
            yield place, message


def _run(document: Document) -> Imported | Unread:
    value = document.value
    own = _own(value)
    actions = value.get("trajectory")
    read = chat.read(_actions(value, own) if isinstance(actions, list) else _history(own))
    info, replayed = value.get("info"), decoded(value.get("replay_config"))
    notes, status = list(read.notes), under(info, "exit_status")
    if status not in (None, "submitted"):
        notes.append(f"ended as {shown(status)}")
    untold = sum(under(message, "role") == "assistant" for _, message in own) - len(read.steps)
    if untold > 0:
        notes.append(f"{untold} messages of the agent stand in the history only, left out")
    name = text(under(replayed, "problem_statement", "id")) or named(document, "swe")
    spent = under(info, "model_stats")
    return run(
        document.line, name, read.opening, read.steps,
        text(under(info, "submission")) or read.answer,
        model=text(under(replayed, "agent", "model", "name")) or None, procedure=read.procedure,
        notes=tuple(notes), usage=totals(
            prompt_tokens=under(spent, "tokens_sent"), cost=under(spent, "instance_cost"),
            completion_tokens=under(spent, "tokens_received")))


def read(found: Iterator[Document | Unread]) -> Iterator[Imported | Unread]:
    """Read runs one by one; what is none comes back with its line."""
    return each(found, recognise, _run, "no run of SWE-agent")
