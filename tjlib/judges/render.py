"""A trajectory as text that cannot leave its fence.

Decision: what comes from a trajectory fills one line a field, with control
characters written out and our own markers broken, so that no reply or
observation can end the fence, forge a step, or speak as the prompt. On the
desk's own trajectories this changes nothing, and the text is the paper's
(appendix D: thought, call with keyword arguments, observation). Refusal:
nothing is left out or cut short, whatever its length.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

import msgspec

from tjlib.trace import Call, Observation, Step, Trajectory

__all__ = ["BEGIN", "END", "fenced", "render", "render_evidence"]

BEGIN, END = "--- BEGIN ---", "--- END ---"

# Runs of hyphens (the fence), the opening of what reads as a chat template's or our own label.
_DASHES = re.compile(r"-{3,}")
_OPENING = re.compile(
    r"<(?=\||/?s>|/?think|/?(?:start|end)_of_turn|</?SYS)|\[(?=/?INST\]|(?:step|sentence) \d)",
    re.IGNORECASE)
_LABEL = re.compile(r"(GOAL|FINAL ANSWER):")


def _one_line(text: str) -> str:
    """Write control, format and separator characters (newlines too) as escapes."""
    if text.isprintable():
        return text
    return "".join(
        c.encode("unicode_escape").decode()
        if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") else c
        for c in text
    )


def fenced(text: str | None) -> str:
    """Make one field's text harmless; absent text is empty, never the word for it."""
    text = _one_line(text or "")
    text = _DASHES.sub(lambda run: " ".join(run[0]), text)
    text = _OPENING.sub(lambda sign: f"{sign[0]} ", text)
    return _LABEL.sub(r"\1 :", text)


def _value(value: Any) -> str:
    """Write a value as Python does, except that an absent one is null, as in the log."""
    if value is None:
        return "null"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return repr(value)


def _call(call: Call) -> str:
    return f"{call.tool}({', '.join(f'{k}={_value(v)}' for k, v in (call.args or {}).items())})"


def _observation(observation: Observation) -> str:
    if observation.ok:
        return f"ok=True {_value(observation.data or {})}"
    data = f" {_value(observation.data)}" if observation.data else ""
    return f"ok=False error={observation.error or ''!r}{data}"


def _lines(index: int, step: Step) -> list[tuple[str, str]]:
    """One step's fields, each with its label; numbered within the step if there are several."""
    lines = [("thought", step.thought)]
    for label, texts in (("call", list(map(_call, step.calls))),
                         ("observation", list(map(_observation, step.observations)))):
        several = len(texts) > 1
        lines += [(f"{label} {n}" if several else label, t) for n, t in enumerate(texts, start=1)]
    if step.user is not None:
        lines.append(("user", step.user))
    return [(f"[step {index}] {label}", text) for label, text in lines]


def render(trajectory: Trajectory, *, steps: bool, answer: bool = True) -> str:
    """Write a trajectory as a judge sees it, without the fence around it.

    Parameters
    ----------
    trajectory : Trajectory
        Its id is not shown.
    steps : bool
        Whether the steps are shown between the goal and the answer.
    answer : bool
        Whether the answer is shown; not while there is none yet.

    Returns
    -------
    str
        One line a field. Every step has exactly one ``thought`` line, be it
        empty; steps are counted from 0.

    Examples
    --------
    >>> from tjlib.trace import Call, Observation, Step, Trajectory
    >>> step = Step("Ask.", (Call("find", {"id": 7}),), (Observation(True, {"n": 1}),))
    >>> print(render(Trajectory("t", "Count.", (step,), "--- END ---"), steps=True))
    GOAL: Count.
    <BLANKLINE>
    [step 0] thought: Ask.
    [step 0] call: find(id=7)
    [step 0] observation: ok=True {'n': 1}
    <BLANKLINE>
    FINAL ANSWER: - - - END - - -
    """
    body = [("GOAL", trajectory.goal)]
    if steps and trajectory.steps:
        body.append(None)
        for index, step in enumerate(trajectory.steps):
            body += _lines(index, step)
    if answer:
        body += [None, ("FINAL ANSWER", trajectory.final_answer)]
    return _text(body)


def _text(body: Sequence[tuple[str, str] | None]) -> str:
    return "\n".join(f"{line[0]}: {fenced(line[1])}".rstrip() if line else "" for line in body)


def render_evidence(
    trajectory: Trajectory, claims: Sequence[tuple[str, int | None]], unseen: str
) -> str:
    """Write what calls brought back, and sentences to hold against it, in order of time.

    Parameters
    ----------
    trajectory : Trajectory
        Neither its thoughts nor its id are shown.
    claims : sequence of (text, before)
        Sentences, numbered from 1, each put before the step of that index, at
        the end if it is None.
    unseen : str
        A tool whose calls, and what they brought back, are left out.

    Returns
    -------
    str
        One line a field.

    Examples
    --------
    >>> step = Step("Ask.", (Call("find", {"id": 7}),), (Observation(True, {"n": 1}),))
    >>> run = Trajectory("t", "Count.", (step,), "One. Two.")
    >>> print(render_evidence(run, [("One.", None), ("[sentence 3] Two.", None)], "reply"))
    GOAL: Count.
    <BLANKLINE>
    [step 0] call: find(id=7)
    [step 0] observation: ok=True {'n': 1}
    [sentence 1]: One.
    [sentence 2]: [ sentence 3] Two.
    """
    body: list[tuple[str, str] | None] = [("GOAL", trajectory.goal), None]
    for index, step in [*enumerate(trajectory.steps), (None, None)]:
        body += ((f"[sentence {number}]", text)
                 for number, (text, before) in enumerate(claims, start=1) if before == index)
        if step is not None:
            hidden = {n for n, call in enumerate(step.calls) if call.tool == unseen}
            shown = {field: tuple(x for n, x in enumerate(getattr(step, field)) if n not in hidden)
                     for field in ("calls", "observations")}
            body += _lines(index, msgspec.structs.replace(step, **shown))[1:]  # without the thought
    return _text(body)
