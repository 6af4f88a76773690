"""Logs of Inspect: a whole log, or the members of an .eval archive one by one.

Decision: a run is one sample in one epoch; the head of an archive names the
task and the model of the samples after it, and its summaries repeat them.
Refusal: several scorers that differ, a score between right and wrong and a
sample that crashed decide nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from tjlib.documents import Document, Unread
from tjlib.formats import chat
from tjlib.formats.fields import keyed, listed, run, text, under
from tjlib.formats.imported import Imported, shown
from tjlib.formats.scores import verdict
from tjlib.formats.tokens import usage
from tjlib.trace import Step

__all__ = ["read", "recognise"]

_ATTACHED = "attachment://"
#: How deep attachments are looked for in a call's arguments.
_DEPTH = 20


def _is_log(value: dict) -> bool:
    return isinstance(head := value.get("eval"), dict) and "task" in head and "model" in head


def _is_sample(value: dict) -> bool:
    return {"id", "epoch", "input", "target"} <= set(value)


def _is_reduction(value: dict) -> bool:
    return {"scorer", "samples"} <= set(value)


def recognise(value: object) -> bool:
    """Tell whether a value is a log or of an archive of one: a head, a sample or a summary."""
    return isinstance(value, dict) and (
        _is_log(value) or _is_sample(value) or _is_reduction(value))


def _attached(value: Any, attachments: object, missing: set[str], depth: int = _DEPTH) -> Any:
    """Put attached texts where a value names them."""
    if isinstance(value, str) and value.startswith(_ATTACHED):
        own = under(attachments, value.removeprefix(_ATTACHED))
        if isinstance(own, str):
            return own
        missing.add(value)
    elif isinstance(value, list) and depth:
        return [_attached(item, attachments, missing, depth - 1) for item in value]
    elif isinstance(value, dict) and depth:
        return {k: _attached(v, attachments, missing, depth - 1) for k, v in value.items()}
    return value


def _assistant(message: dict, likely: object) -> list[dict]:
    """Return an assistant message in the chat form, and what the provider's own tools gave it."""
    content, thoughts = message.get("content"), [message.get("reasoning")]
    calls, results = list(listed(message.get("tool_calls"))), []
    if isinstance(content, list):
        said = []
        for part in content:
            kind = under(part, "type")
            if kind == "reasoning":
                thoughts.append(part.get("reasoning") or part.get("summary"))
            elif kind == "tool_use":
                calls.append(part | {"function": part.get("name")})
                error = part.get("error")
                results.append({"role": "tool", "tool_call_id": part.get("id"),
                                "is_error": bool(error), "content": error or part.get("result")})
            else:
                said.append(part)
        content = said
    thoughts = [{"text": text} for text in thoughts if isinstance(text, str) and text]
    if thoughts:
        content = [*thoughts, *(content if isinstance(content, list) else
                                [{"text": content}] if isinstance(content, str) else [])]
    return [{"role": "assistant", "content": content, "tool_calls": calls, "logprobs": likely},
            *results]


def _tool(message: dict) -> dict:
    """Return a result in the chat form; an error's words stand for a text that is not there."""
    error = message.get("error")
    words = under(error, "message") or error
    return message | {"content": message.get("content") or words, "is_error": bool(error)}


def _messages(given: list, sample: dict) -> Iterator[tuple[str, object]]:
    """Give messages in the chat form, each with what to call it in a note."""
    choices = [under(output, "choices", 0) for output in (
        *(under(event, "output") for event in listed(sample.get("events"))), sample.get("output"))]
    made = {text(under(choice, "message", "id")): under(choice, "logprobs") for choice in choices}
    made[""] = None  # a message without an id is of no output, but the last is of the last
    last = max((at for at, m in enumerate(given) if under(m, "role") == "assistant"), default=-1)
    for at, (place, message) in enumerate(chat.numbered(given)):
        role, own = under(message, "role"), text(under(message, "id"))
        likely = under(choices[-1], "logprobs") if at == last and not own else made.get(own)
        for part in (_assistant(message, likely) if role == "assistant" else
                     [_tool(message)] if role == "tool" else [message]):
            yield place, part


def _answer(given: list, steps: tuple[Step, ...]) -> str:
    """Return the answer that the last step submits, else its message to the user."""
    if not steps:
        return ""
    for call in steps[-1].calls:
        if call.tool == "submit" and isinstance(call.args.get("answer"), str):
            return call.args["answer"]
    last = [m for m in given if under(m, "role") == "assistant"][-1].get("content")
    said = [part for part in last if under(part, "type") != "reasoning"] if isinstance(
        last, list) else last
    return "" if steps[-1].calls else chat.text_of(said)[0]


def _goal(sample: dict) -> str:
    given = sample.get("input")
    texts = (chat.text_of(m.get("content"))[0] for m in listed(given)
             if under(m, "role") == "user")
    return text(given) or "\n\n".join(filter(None, texts))


def _sample(document: Document, sample: dict, head: dict) -> Imported | Unread:
    missing: set[str] = set()
    sample = sample | {name: _attached(sample.get(name), sample.get("attachments"), missing)
                       for name in ("input", "messages")}
    given = listed(sample["messages"])
    read = chat.read(_messages(given, sample))
    success, reward, why = verdict(sample)
    notes = [*why, *read.notes]
    if missing:
        notes.append(f"{len(missing)} attachments that are not in the log")
    if limit := under(sample, "limit", "type"):
        notes.append(f"ended at its limit: {shown(limit)} {shown(under(sample, 'limit', 'limit'))}")
    own, epoch = (value if isinstance(value := sample.get(name), str | int) else ""
                  for name in ("id", "epoch"))
    task = "/".join(filter(None, [shown(text(head.get("task"))), shown(own)]))
    task = task or f"line{document.line}"
    spent = keyed(sample.get("model_usage"))
    model = text(head.get("model")) or (next(iter(spent)) if len(spent) == 1 else
                                        text(under(sample, "output", "model")))
    goal = _goal(sample) or read.opening
    return run(
        document.line, f"{task}-{shown(epoch)}", goal, read.steps, _answer(given, read.steps),
        success=success, reward=reward, task_id=task, trial=str(epoch), model=model or None,
        opening="" if read.opening == goal else read.opening, procedure=read.procedure,
        notes=tuple(notes),
        usage=usage(*([spent[model]] if model in spent else spent.values())),
        source=document.source)


def _empty(log: dict) -> str:
    """Say of a log without samples why it has none."""
    error = under(log, "error", "message")
    return (f"a log of status {shown(json.dumps(log.get('status')), 40)} without samples"
            + (f": {shown(error)}" if error else ""))


def _archive(source: str) -> str:
    """Return where the members lie that belong together: an archive, or a folder as one."""
    outer, sign, inner = source.rpartition("!")
    folder = PurePosixPath(inner).parent
    inside = folder.name in ("samples", "_journal")
    return f"{outer}{sign}{folder.parent if inside else folder}"


def read(found: Iterator[Document | Unread]) -> Iterator[Imported | Unread]:
    """Read samples, each as one run; what is neither log nor sample comes back with its line.

    The values may be of one log or of the members of archives one after the other: a log
    without samples is one that failed, the head of an archive is not.
    """
    heads: dict[str, dict] = {}
    bare: list[tuple[str, Unread]] = []
    filled: set[str] = set()
    for document in found:
        if isinstance(document, Unread):
            yield document
            continue
        line, value, source = document.line, document.value, document.source
        if not recognise(value):
            yield Unread(line, "no log and no sample of Inspect", source)
        elif _is_log(value):
            samples = listed(value.get("samples"))
            for sample in samples:
                yield (_sample(document, sample, value["eval"]) if isinstance(sample, dict)
                       else Unread(line, "a sample that is no object", source))
            if not samples:
                heads[_archive(source)] = value["eval"]
                if "status" in value:
                    bare.append((_archive(source), Unread(line, _empty(value), source)))
        elif "messages" in value:  # else it is a summary of samples
            filled.add(_archive(source))
            yield _sample(document, value, heads.get(_archive(source), {}))
    yield from (empty for archive, empty in bare if archive not in filled)
