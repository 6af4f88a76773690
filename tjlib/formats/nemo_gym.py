"""Rollouts of NeMo Gym, and bare responses of the Responses API.

Decision: success is what the verifier itself states, else a reward of exactly
1 or 0 (2 where a reward has parts and full marks); any other reward stays raw
and decides nothing. Refusal: a rollout that its harness calls invalid, or whose
environment says another reward at its end, is not judged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from tjlib.documents import Document, Unread
from tjlib.formats import items
from tjlib.formats.fields import decoded, each, run, text, under
from tjlib.formats.imported import Imported, number, shown
from tjlib.formats.tokens import usage

__all__ = ["read", "recognise"]

#: What verifiers call their own yes or no.
_STATED = ("success", "resolved", "symbolic_equivalent")
#: How a harness marks a rollout that is not to be used.
_INVALID = ("mask_sample", "trajectory_invalid_reasons", "invalid_judge_response")


def recognise(value: object) -> bool:
    """Tell whether a value is a rollout, or a response by itself."""
    if not isinstance(value, dict):
        return False
    response = value if value.get("object") == "response" else value.get("response")
    return isinstance(response, dict) and isinstance(response.get("output"), list)


def _request(given: object) -> list:
    """Return the items of a request's input, which may be one text."""
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return given if isinstance(given, list) else [] if given is None else [given]


def _output(found: list) -> Iterator[tuple[str, object]]:
    """Give a response's items; a list in it is a turn's whole history, told again each time."""
    before: list = []
    for at, item in enumerate(found):
        if not isinstance(item, list):
            yield f"output {at}", item
            continue
        known = len(before) if item[:len(before)] == before else 0
        for i, inner in enumerate(item[known:], known):
            yield f"output {at}.{i}", inner
        before = item


def _items(request: object, response: dict) -> tuple[list[tuple[str, object]], list[str]]:
    """Join the items of a request and its response, and say what is odd about that."""
    given = [(f"input {at}", item) for at, item in enumerate(_request(under(request, "input")))]
    told, notes = list(_output(response["output"])), []
    nested = any(isinstance(item, list) for item in response["output"])
    if nested and told and under(told[0][1], "role") in ("system", "developer", "user"):
        if given and [item for _, item in given] != [item for _, item in told[:len(given)]]:
            notes.append("the output has a prompt of its own; the request's was left out")
        given = []
    if any(not isinstance(item, dict) or item.get("type") not in (None, "message")
           or item.get("role") == "assistant" for _, item in given):
        notes.append("the request holds earlier turns, which are read as steps")
    instructions = text(under(request, "instructions")) or text(response.get("instructions"))
    first = [("instructions", {"role": "system", "content": instructions})] if instructions else []
    return first + given + told, notes


def _broken(response: dict) -> list[str]:
    """Say why a response ended before its model was done."""
    error, cut = response.get("error"), under(response, "incomplete_details", "reason")
    return ([f"the response ended on an error: {shown(error)}"] if error else []) + (
        [f"the response is incomplete: {shown(cut)}"] if cut else [])


def _ended(response: dict) -> float | None:
    """Return the reward that the environment itself gave with its last result."""
    for _, item in reversed(list(_output(response["output"]))):
        if isinstance(item, dict) and item.get("type") == "function_call_output":
            last = decoded(item.get("output"))
            return number(last.get("reward")) if under(last, "done") is True else None
    return None


def _success(row: dict, response: dict, reward: float | None) -> tuple[bool | None, str]:
    """Tell whether a rollout went well, else why that is not known."""
    if not response["output"]:
        return None, "no output, so not judged"
    if marks := [name for name in _INVALID if row.get(name)]:
        return None, f"marked as not to be used ({', '.join(marks)}), so not judged"
    ended = _ended(response)
    if None not in (ended, reward) and ended != reward:
        return None, (f"a reward of {reward:g}, but {ended:g} from the environment, "
                      "so not judged")
    stated = {row[name] for name in _STATED if isinstance(row.get(name), bool)}
    if len(stated) == 1:
        return stated.pop(), ""
    if stated:
        return None, "verdicts that contradict each other, so not judged"
    if reward is None:
        return None, "no reward that is a number, so not judged"
    if reward in (0.0, 1.0) or (reward == 2.0 and isinstance(row.get("reward_components"), dict)):
        return reward > 0, ""
    return None, f"a graded reward of {reward:g}, so not judged"


def _task(row: dict, request: object, prompt: str) -> str:
    """Return what rollouts of one task share: an id the row states, else its prompt's digest."""
    stated = (row.get("task_id"), row.get("instance_id"), row.get("id"),
              under(row, "verifier_metadata", "task_id"),
              under(request, "metadata", "instance_id"), under(row, "result", "task_id"))
    for value in stated:
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            return str(value)
    return "prompt-" + hashlib.sha256(prompt.encode()).hexdigest()[:16]


def _rollout(document: Document) -> Imported | Unread:
    value = document.value
    bare = value.get("object") == "response"
    row, response = ({}, value) if bare else (value, value["response"])
    request = row.get("responses_create_params")
    parts, notes = _items(request, response)
    read = items.read(parts)
    # A simulated user answers the agent's greeting: then the task is the first thing it says.
    goal = read.opening or text(under(request, "metadata", "problem_statement")) or next(
        (step.user for step in read.steps if step.user), "")
    reward = number(row.get("reward"))
    success, why = _success(row, response, reward)
    task = _task(row, request, f"{read.procedure}\0{goal}")
    trial = row.get("_ng_rollout_index")
    name = shown(text(response.get("id"))) or shown(f"rollout-{task}")
    return run(
        document.line, name, goal, read.steps, read.answer, success=success, reward=reward,
        task_id=task, trial=str(trial) if isinstance(trial, int | str) else None,
        model=text(response.get("model")) or None, procedure=read.procedure,
        notes=(*notes, *filter(None, [why]), *_broken(response), *read.notes),
        usage=usage(response.get("usage")))


def read(found: Iterator[Document | Unread]) -> Iterator[Imported | Unread]:
    """Read rollouts, each as one run; what is none comes back with its line."""
    return each(found, recognise, _rollout,
                "no rollout of NeMo Gym: it has no response with an output")
