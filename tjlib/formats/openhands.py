"""Runs of OpenHands: a list of events, a row of ``output.jsonl``, or a model call.

Decision: an event is a call if the agent's action reaches the environment; a
message, a thought and the end are text, and actions that one reply of the
model asked for are one step. Refusal: a row that reports an error was not
judged, whatever its result says, and the harness's own events are no steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tjlib.documents import Document, Unread
from tjlib.formats import chat
from tjlib.formats.fields import added, left_out, listed, named, run, text, totals, under
from tjlib.formats.imported import Imported, number, shown

__all__ = ["read", "recognise"]

#: Actions that are text of the agent, and those that are the harness's and never the agent's.
_TEXT = {"message", "finish", "think", "reject"}
_HARNESS = {"recall", "change_agent_state", "condensation", "condensation_request", "null", "start",
            "pause", "resume", "stop"}
#: Observations that answer no call.
_SILENT = {"null", "agent_state_changed", "recall", "recall_failure", "think", "condense"}
#: What a tool's result ends with, in the messages a model is sent, if it is an error.
_ERROR = "[Error occurred in processing last action]"


def _is_event(value: object) -> bool:
    kinds = [under(value, "action"), under(value, "observation")]
    return any(isinstance(kind, str) for kind in kinds) and (
        "source" in value or "args" in value or "extras" in value)


def _is_completion(value: object) -> bool:
    return (isinstance(under(value, "messages"), list)
            and isinstance(under(value, "response", "choices"), list)
            and bool({"kwargs", "args", "cost", "fncall_messages"} & set(value)))


def _events(value: object) -> list | None:
    """Return a row's events, which stand alone or in pairs; None if it is no row."""
    history = under(value, "history")
    told = isinstance(value, dict) and {"instruction", "test_result"} & set(value)
    if not told or not ("history" in value and isinstance(history, list | None)):
        return None
    return [event for item in history or [] for event in (
        item if isinstance(item, list) else [item])]


def recognise(value: object) -> bool:
    """Tell whether a value is an event, a row of results or a logged model call."""
    return _is_event(value) or _is_completion(value) or _events(value) is not None


def _key(number: object) -> str | None:
    known = isinstance(number, int) and not isinstance(number, bool) and number >= 0
    return f"e{number}" if known else None


def _said(event: dict) -> str:
    """Return what the agent says with an action."""
    args = event.get("args")
    parts = [text(under(args, "thought")), text(under(args, "thought", "text")),
             text(under(args, "final_thought")),
             chat.text_of(under(args, "content"))[0] if event["action"] == "message" else ""]
    return "\n\n".join(dict.fromkeys(filter(None, parts)))


def _called(event: dict) -> dict:
    """Return the call behind an action: the model's own where the log kept it."""
    told, args = event.get("tool_call_metadata"), event.get("args")
    asked = under(told, "model_response", "choices", 0, "message", "tool_calls")
    own = [call["function"] for call in listed(asked)
           if isinstance(under(call, "function"), dict)
           and call.get("id") == under(told, "tool_call_id")]
    if isinstance(args, dict):
        args = {name: value for name, value in args.items() if name != "thought"}
    rest = {"name": under(told, "function_name") or event["action"], "arguments": args}
    return {"id": _key(event.get("id")), "function": own[0] if own else rest}


def _failed(message: dict, said: str) -> bool:
    event = message.get("event")
    if event is None:
        return _ERROR in said
    codes = [under(event, "extras", "metadata", "exit_code"), under(event, "extras", "exit_code")]
    return (under(event, "observation") in ("error", "user_rejected")
            or under(event, "success") is False or any(number(code) for code in codes))


def _laid_out(events: list) -> tuple[list[tuple[str, object]], Counter]:
    """Lay out events as chat, each with its place, and count those left out by kind."""
    placed, left = [], Counter()
    replies, asked, silent = {}, {}, set()
    for at, event in enumerate(events):
        place, action = f"event {at}", under(event, "action")
        told, args = under(event, "tool_call_metadata"), under(event, "args")
        if isinstance(action, str):
            key = _key(event.get("id"))
            theirs = event.get("source") in ("user", "environment")
            if action in _HARNESS or (theirs and action != "message"):
                left[action] += 1
                silent.add(key)
            elif action == "system":
                placed.append((place, {"role": "system", "content": under(args, "content")}))
            elif theirs:
                pictures = [{"type": "image_url"} for _ in listed(under(args, "image_urls"))]
                placed.append((place, {"role": "user",
                                       "content": [under(args, "content") or "", *pictures]}))
            else:
                reply = text(under(told, "model_response", "id")) or place
                if reply not in replies:
                    replies[reply] = {"role": "assistant", "content": [], "tool_calls": []}
                    placed.append((place, replies[reply]))
                message, said = replies[reply], _said(event)
                if reasoned := text(under(args, "thought", "reasoning_content")):
                    message["reasoning_content"] = reasoned
                if said and said not in message["content"]:
                    message["content"].append(said)
                if action in _TEXT:
                    silent.add(key)
                else:
                    message["tool_calls"].append(_called(event))
                    if call := text(under(told, "tool_call_id")):
                        asked[call] = key
        elif isinstance(kind := under(event, "observation"), str):
            key = _key(event.get("cause")) or asked.get(text(under(told, "tool_call_id")))
            if kind in _SILENT or (key and key in silent):
                left[kind] += 1
            else:
                placed.append((place, {"role": "tool", "tool_call_id": key, "event": event,
                                       "content": event.get("content")}))
        else:
            placed.append((place, event))
    return placed, left


def _usage(events: list) -> dict[str, int | float]:
    """Sum the tokens over the model's replies; the cost is a running total."""
    replies = {text(under(e, "tool_call_metadata", "model_response", "id")):
               under(e, "tool_call_metadata", "model_response", "usage") for e in events}
    costs = [under(event, "llm_metrics", "accumulated_cost") for event in events]
    cost = next((c for c in reversed(costs) if c is not None), None)
    return totals(cost=cost, **{kind: added(replies.values(), kind)
                                for kind in ("prompt_tokens", "completion_tokens")})


def _run(document: Document, events: list, row: dict) -> Imported | Unread:
    placed, left = _laid_out(events)
    read, error = chat.read(placed, _failed), row.get("error")
    notes = [*read.notes, *left_out("events of the harness", left)]
    results = [under(row, "test_result", "result"), under(row, "test_result", "report", "resolved"),
               under(row, "report", "resolved"), row.get("success")]
    success = next((result for result in results if isinstance(result, bool)), None)
    if error:
        notes.append(f"ended by an error, so not judged: {shown(error)}")
        success = None
    metrics, meta = row.get("metrics"), row.get("metadata")
    spent = totals(cost=under(metrics, "accumulated_cost"), **{
        kind: under(metrics, "accumulated_token_usage", kind)
        for kind in ("prompt_tokens", "completion_tokens")})
    models = [under(meta, "llm_config", "model"), under(meta, "model_name"),
              *(under(e, "tool_call_metadata", "model_response", "model") for e in events)]
    name = next((str(i) for i in (row.get("instance_id"), row.get("id")) if i is not None), "")
    goal = text(row.get("instruction"))
    return run(
        document.line, name or named(document, "openhands", not row),
        goal or read.opening, read.steps, text(row.get("final_message")) or read.answer,
        success=success, model=next(filter(None, map(text, models)), None),
        opening=read.opening if goal and read.opening != goal else "", procedure=read.procedure,
        notes=tuple(notes), usage=spent or _usage(events))


def _completion(document: Document) -> Imported | Unread:
    """Read one logged model call: the conversation it was sent and its reply."""
    value = document.value
    native = isinstance(value.get("fncall_messages"), list)
    response = value["response"]
    choice = under(under(value, "fncall_response") if native else response, "choices", 0)
    choice = choice or under(response, "choices", 0)
    messages = list(value["fncall_messages" if native else "messages"])
    if isinstance(reply := under(choice, "message"), dict):
        messages.append(reply | {"logprobs": under(choice, "logprobs")})
    read = chat.read(chat.numbered(messages), _failed)
    return run(
        document.line, named(document, "openhands"), read.opening, read.steps, read.answer,
        model=text(under(response, "model")) or None, procedure=read.procedure,
        notes=read.notes, usage=totals(
            cost=value.get("cost"), prompt_tokens=under(response, "usage", "prompt_tokens"),
            completion_tokens=under(response, "usage", "completion_tokens")))


def read(found: Iterator[Document | Unread]) -> Iterator[Imported | Unread]:
    """Read rows and model calls one by one; a file of events is one run."""
    first, events = None, []
    for document in found:
        if isinstance(document, Unread):
            yield document
        elif _is_completion(document.value):
            yield _completion(document)
        elif (history := _events(document.value)) is not None:
            yield _run(document, history, document.value)
        elif first or _is_event(document.value):
            first = first or document
            events.append(document.value)
        else:
            yield Unread(document.line, "no event and no result of OpenHands")
    if first:
        yield _run(first, events, {})
