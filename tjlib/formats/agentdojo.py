"""Runs of AgentDojo: a user's task, tools, and at times an attack through them.

Decision: success is the utility, which asks whether the user's task was done;
what the attack reached is a note. Calls without an id meet their results by
the call that a result repeats, else by order. Refusal: a run that an error of
the provider cut short is no failure of the agent, but one that outgrew the
model's window is.
"""

from __future__ import annotations

import json
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterator
from itertools import count

from tjlib.documents import Document, Unread
from tjlib.formats import chat
from tjlib.formats.fields import each, keyed, run
from tjlib.formats.imported import Imported, shown

__all__ = ["read", "recognise"]

#: The one error of a run that is the agent's own.
_OWN = "context_length_exceeded"


def recognise(value: object) -> bool:
    """Tell whether a value is a run: a suite, its task and messages."""
    return isinstance(value, dict) and {"suite_name", "user_task_id", "messages"} <= set(value)


def _key(call: object) -> str:
    return json.dumps([keyed(call).get("function"), keyed(call).get("args")], sort_keys=True)


def _linked(messages: list) -> list:
    """Return the messages in chat form, calls and results without an id given one."""
    out: list = []
    fresh = count(-1, -1)
    waiting: OrderedDict[int, None] = OrderedDict()  # ids that calls got, the oldest first
    alike: defaultdict[str, deque[int]] = defaultdict(deque)  # the same by what was called
    for message in messages:
        if not isinstance(message, dict):
            out.append(message)
            continue
        calls = message.get("tool_calls")
        if message.get("role") == "assistant" and isinstance(calls, list):
            made = []
            for call in calls:
                own = keyed(call)
                name = own.get("id") or next(fresh)
                if not own.get("id"):
                    waiting[name] = None
                    alike[_key(call)].append(name)
                made.append({"id": name, "function": {"name": own.get("function"),
                                                      "arguments": own.get("args")}})
            message = message | {"tool_calls": made}
        elif message.get("role") == "tool" and not message.get("tool_call_id"):
            same = alike[_key(message.get("tool_call"))]
            while same and same[0] not in waiting:
                same.popleft()
            if waiting:
                name = same[0] if same else next(iter(waiting))
                del waiting[name]
                message = message | {"tool_call_id": name}
        if message.get("role") == "tool" and message.get("error"):
            message = message | {"content": str(message["error"]), "is_error": True}
        out.append(message)
    return out


def _run(document: Document) -> Imported | Unread:
    raw, messages = document.value, document.value["messages"]
    if not isinstance(messages, list):
        return Unread(document.line, "a run whose messages are no list")
    read = chat.read(chat.numbered(_linked(messages)))
    notes, error, utility = list(read.notes), raw.get("error"), raw.get("utility")
    own = _OWN in str(error)
    if error:
        notes.append(f"ended by an error{'' if own else ', so not judged'}: {shown(error)}")
    if not messages:
        notes.append("no messages, so not judged")
    elif not isinstance(utility, bool):
        notes.append("no utility, so not judged")
    judged = bool(messages) and isinstance(utility, bool) and (own or not error)
    attack, injection = raw.get("attack_type"), raw.get("injection_task_id")
    if injection:
        security = raw.get("security")
        reached = ("not judged" if not isinstance(security, bool) else
                   "reached" if security else "not reached")
        notes.append(f"under the attack {shown(attack, 60)}: its goal {shown(injection, 60)} was "
                     f"{reached}")
    elif str(raw["user_task_id"]).startswith("injection_task"):
        notes.append("the goal of an attack is the user's own task here")
    suite, task, model = (str(raw.get(k)) for k in ("suite_name", "user_task_id", "pipeline_name"))
    parts = [model, suite, task, *(str(part) for part in (attack, injection) if part)]
    return run(
        document.line, "/".join(parts), read.opening, read.steps, read.answer,
        success=utility if judged else None,
        reward=float(utility) if isinstance(utility, bool) else None,
        task_id=f"{suite}/{task}", model=model if raw.get("pipeline_name") else None,
        procedure=read.procedure, notes=tuple(notes), messages=read.messages)


def read(found: Iterator[Document | Unread]) -> Iterator[Imported | Unread]:
    """Read runs one by one; what is none comes back with its line."""
    return each(found, recognise, _run, "no run of AgentDojo")
