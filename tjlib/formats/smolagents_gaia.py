"""Runs of transformers-agents, smolagents' forerunner, on questions with a known answer.

Decision: success is ours, as the log has none: the prediction against the true
answer by GAIA's rules (numbers by value, lists part by part, text without
case, spaces or punctuation), and each run says so in a note. Refusal: a run
that crashed or has no true answer is not judged.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from tjlib.documents import Document, Unread
from tjlib.formats import chat
from tjlib.formats.fields import each, first, run
from tjlib.formats.imported import Imported, shown

__all__ = ["read", "recognise", "right"]

_JUDGED = "success is ours: the prediction compared with the true answer, as GAIA compares them"


def recognise(value: object) -> bool:
    """Tell whether a value is a question's row: its steps and what was predicted."""
    return isinstance(value, dict) and {
        "question", "prediction", "intermediate_steps"} <= set(value)


def _number(text: str, besides: str = "") -> float | None:
    """Read a number, with signs besides it that do not count."""
    try:
        return float(text.translate({ord(c): None for c in besides}))
    except ValueError:
        return None


def _same(prediction: str, answer: str) -> bool:
    if (number := _number(answer)) is not None:
        return _number(prediction, "$%,") == number
    return _bare(prediction) == _bare(answer)


def _bare(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def right(prediction: str, answer: str) -> bool:
    """Compare a prediction with the true answer as GAIA's scorer does.

    Examples
    --------
    >>> right("19.0", "19"), right("Paris, rome", "paris,Rome"), right("Rd5+", "Rd6")
    (True, True, False)
    """
    parts, others = re.split(r"[,;]", answer), re.split(r"[,;]", prediction)
    if len(parts) == 1:
        return _same(prediction, answer)
    return len(parts) == len(others) and all(map(_same, others, parts))


def _messages(at: int, step: object) -> list[dict]:
    """Lay out one step as messages: what was thought and called, and what came back.

    The step's number is its call's id, so that no other step's result is taken for it.
    """
    if not isinstance(step, dict):
        return [{"role": type(step).__name__}]
    call = step.get("tool_call")
    call = call if isinstance(call, dict) else step
    name, arguments = call.get("tool_name"), first(call, "tool_arguments", "arguments")
    if isinstance(arguments, str) and not arguments.lstrip().startswith("{"):
        arguments = {"arguments": arguments}  # code, or a tool's only argument
    said = [step.get(k) for k in ("facts", "plan")] if "plan" in step else [
        first(step, *(("rationale", "llm_output") if name else ("llm_output", "rationale")))]
    text = "\n\n".join(chat.text_of(part)[0] for part in said if part)
    out = [{"role": "system", "content": step["system_prompt"]}] if "system_prompt" in step else []
    if text or name:
        out.append({"role": "assistant", "content": text} | (
            {"tool_calls": [{"id": f"{at}", "function": {"name": name, "arguments": arguments}}]}
            if name else {}))
    error = step.get("error")
    back = first(error, "message", "error_type") if isinstance(error, dict) else error
    back = step.get("observation") if back is None else back
    if back is not None:
        out.append({"role": "tool", "content": back, "is_error": error is not None,
                    "tool_call_id": f"{at}"})
    return out


def _text(value: object) -> str | None:
    """Return a field's text; the rows write None as a text."""
    return None if value in (None, "None", "") else value if isinstance(
        value, str) else chat.text_of(value)[0]


def _row(document: Document) -> Imported | Unread:
    row, line = document.value, document.line
    question, steps = row["question"], row["intermediate_steps"]
    if not isinstance(question, str) or not isinstance(steps, list):
        return Unread(line, "a row whose question is no text or whose steps are no list")
    read = chat.read([(f"step {at}", message) for at, step in enumerate(steps)
                      for message in _messages(at, step)])
    prediction, answer = _text(row["prediction"]), _text(row.get("true_answer"))
    crash = _text(row.get("agent_error"))
    notes = [*read.notes]
    if crash:
        notes.append(f"crashed, so not judged: {shown(crash)}")
    judged = prediction is not None and answer not in (None, "?") and not crash
    notes.append(_JUDGED if judged else "no prediction or no true answer, so not judged")
    task_id = hashlib.sha256(question.encode("utf-8", "replace")).hexdigest()[:12]
    agent = _text(row.get("agent_name")) or "agent"
    return run(
        line, f"{agent}-{task_id}", question, read.steps, prediction or "", task_id=task_id,
        success=right(prediction, answer) if judged else None, model=agent,
        procedure=read.procedure, notes=tuple(notes),
        about={name: text for name, key in (("level", "task"), ("ground_truth", "true_answer"))
               if (text := _text(row.get(key)))})


def read(found: Iterator[Document | Unread]) -> Iterator[Imported | Unread]:
    """Read rows, each as one run; what is none comes back with its line."""
    return each(found, recognise, _row, "no row of a transformers-agents log")
