"""Simulations of tau2-bench: a policy, tasks and many runs in one file.

Decision: the agent answers for its own calls only, so the simulated user's
are left out and counted, as the agent never saw them; the policy is the
procedure, and a user's brief (or the ticket, where there is no user) the goal.
Refusal: a reward behind which nothing was checked could not have been missed,
so such a run has no success, nor has one that the infrastructure ended.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tjlib.documents import Document, Unread
from tjlib.formats import chat
from tjlib.formats.imported import Imported, number, shown
from tjlib.formats.tau_bench import without_marker, without_stop
from tjlib.trace import Trajectory

__all__ = ["read", "recognise"]

_RESULTS = {"info", "tasks"}
_RUN = {"messages", "task_id", "termination_reason", "reward_info"}
#: Part of a reward -> the field that holds what was checked for it.
_CHECKED = {"COMMUNICATE": "communicate_checks", "NL_ASSERTION": "nl_assertions",
            "ENV_ASSERTION": "env_assertions", "ACTION": "action_checks", "DB": "db_check"}


def recognise(value: object) -> bool:
    """Tell whether a value holds simulations, their index without them, or is one of them."""
    if not isinstance(value, dict):
        return False
    info = value.get("info")
    return (len(_RUN & set(value)) >= 3 and "messages" in value) or (
        set(value) >= _RESULTS and isinstance(info, dict) and "environment_info" in info)


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list:
    return value if isinstance(value, list) else []


def _brief(task: dict) -> str:
    """Return what the user is told to want."""
    told = _dict(task.get("user_scenario")).get("instructions")
    if isinstance(told, dict):
        told = "\n\n".join(said for name, said in told.items()
                           if name != "domain" and isinstance(said, str) and said)
    return told if isinstance(told, str) else ""


def _checked(info: dict, part: object) -> bool:
    """Tell whether anything stands behind a part of the reward."""
    if part == "DB" and _dict(_dict(info.get("info")).get("env")).get("note"):
        return False  # "no expected actions"
    return bool(info.get(_CHECKED.get(part) if isinstance(part, str) else None))


def _seen(message: object) -> object:
    """Return a message in chat form as the agent saw it: without what the user's tools do."""
    if not isinstance(message, dict):
        return message
    role = message.get("role")
    if role == "tool":
        if message.get("requestor") == "user":
            return {"role": "user"}
        return message | {"tool_call_id": message.get("id")}
    if role == "assistant":
        return message | {"logprobs": _dict(message.get("raw_data")).get("logprobs")}
    return message


def _of_user(messages: list) -> int:
    return sum(len(_list(m.get("tool_calls"))) for m in messages
               if isinstance(m, dict) and m.get("role") == "user")


def _failed(message: dict, text: str) -> bool:
    return message.get("error") is True


def _usage(run: dict, messages: list) -> dict[str, int | float]:
    """Add up what the agent's own messages used."""
    total: dict[str, int | float] = {}
    for message in messages:
        if isinstance(message, dict) and message.get("role") == "assistant":
            for name in ("prompt_tokens", "completion_tokens"):
                if (used := number(_dict(message.get("usage")).get(name))) is not None:
                    total[name] = total.get(name, 0) + int(used)
    cost = number(run.get("agent_cost"))
    return total if cost is None else total | {"cost": cost}


def _unjudged(run: dict, info: dict, reward: float | None) -> str:
    """Say why a reward is no judgement of the agent; nothing if it is one."""
    basis, ended = _list(info.get("reward_basis")), run.get("termination_reason")
    if ended == "infrastructure_error":
        return "ended by the infrastructure, so not judged"
    if reward is None:
        return "no reward that is a number, so not judged"
    if "note" in _dict(info.get("info")):
        return ""  # the agent never came to the end, which fails without a check
    if "reward_basis" in info and not any(_checked(info, part) for part in basis):
        return f"nothing was checked for its reward ({shown(basis)}), so not judged"
    return ""


def _simulation(run: dict, line: int, about: dict, tasks: dict[str, dict]) -> Imported | str:
    messages = run.get("messages")
    if not isinstance(messages, list):
        return "whose messages are no list"
    read = chat.read(list(map(_seen, messages)), _failed)
    task_id = "" if run.get("task_id") is None else str(run["task_id"])
    info, task = _dict(run.get("reward_info")), tasks.get(task_id, {})
    alone = not any(isinstance(m, dict) and m.get("role") == "user" for m in messages)
    ticket = task.get("ticket")
    brief = ticket if alone and isinstance(ticket, str) else _brief(task)
    reward = number(info.get("reward"))
    why = _unjudged(run, info, reward) or ("" if messages else "no messages, so not judged")
    own = _of_user(messages)
    notes = [*read.notes, *filter(None, [why, own and f"{own} calls of the user's own tools, "
                                         "which the agent does not see, left out"])]
    domain = _dict(about.get("environment_info"))
    policy, name = domain.get("policy"), domain.get("domain_name")
    model = _dict(about.get("agent_info")).get("llm")
    trial = None if run.get("trial") is None else str(run["trial"])
    task_id = "/".join(filter(None, [name if isinstance(name, str) else "", task_id]))
    own_id = run.get("id")
    trajectory_id = own_id if isinstance(own_id, str) and own_id else "-".join(
        filter(None, ["tau2", task_id, trial]))
    try:
        trajectory = Trajectory(trajectory_id, brief or read.opening,
                                tuple(map(without_marker, read.steps)), without_stop(read.answer))
    except ValueError as error:
        return f"whose {error}"
    return Imported(
        trajectory, line, None if why else reward == 1.0, reward, task_id or trajectory_id, trial,
        model if isinstance(model, str) else None, read.opening if brief else "",
        read.procedure or (policy if isinstance(policy, str) else ""), tuple(notes),
        usage=_usage(run, messages), messages=read.messages)


def _results(document: Document) -> Iterator[Imported | Unread]:
    value, line = document.value, document.line
    if "simulations" not in value and "messages" not in value:
        yield Unread(line, "an index of tau2 results without their simulations; give their files")
        return
    runs = [value] if "messages" in value else value["simulations"]
    if not isinstance(runs, list) or not runs:
        yield Unread(line, "tau2 results without a simulation, as an aborted evaluation leaves")
        return
    tasks = {str(task.get("id")): task for task in _list(value.get("tasks"))
             if isinstance(task, dict)}
    for at, run in enumerate(runs):
        made = (_simulation(run, line, _dict(value.get("info")), tasks)
                if isinstance(run, dict) else "that is no object")
        yield made if isinstance(made, Imported) else Unread(line, f"simulation {at}, {made}")


def read(found: Iterator[Document | Unread]) -> Iterator[Imported | Unread]:
    """Read simulations, each as one run; what is none comes back with its line."""
    for document in found:
        if isinstance(document, Unread):
            yield document
        elif recognise(document.value):
            yield from _results(document)
        else:
            yield Unread(document.line, "no simulation of tau2-bench")
