"""Simulations of tau2-bench: a policy, tasks and many runs in one file.

Decision: the agent answers for its own calls only, so the simulated user's
are left out and counted, as the agent never saw them; the policy is the
procedure, and a user's brief (or the ticket, where there is no user) the goal.
Refusal: a reward behind which nothing was checked could not have been missed,
so such a run has no success, nor has one that the infrastructure ended.
"""

from __future__ import annotations

from collections.abc import Iterator

from tjlib.documents import Document, Unread
from tjlib.formats import chat
from tjlib.formats.fields import keyed, listed, run, text, totals, under
from tjlib.formats.imported import Imported, number, shown
from tjlib.formats.tau_bench import without_marker, without_stop
from tjlib.formats.tokens import usage

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


def _brief(task: dict) -> str:
    """Return what the user is told to want."""
    told = under(task, "user_scenario", "instructions")
    if isinstance(told, dict):
        told = "\n\n".join(said for name, said in told.items()
                           if name != "domain" and isinstance(said, str) and said)
    return text(told)


def _checked(info: dict, part: object) -> bool:
    """Tell whether anything stands behind a part of the reward."""
    if part == "DB" and under(info, "info", "env", "note"):
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
        return message | {"tool_call_id": message.get("id"), "is_error": message.get("error")}
    if role == "assistant":
        return message | {"logprobs": under(message, "raw_data", "logprobs")}
    return message


def _unjudged(simulation: dict, info: dict, reward: float | None) -> str:
    """Say why a reward is no judgement of the agent; nothing if it is one."""
    basis, ended = listed(info.get("reward_basis")), simulation.get("termination_reason")
    if ended == "infrastructure_error":
        return "ended by the infrastructure, so not judged"
    if reward is None:
        return "no reward that is a number, so not judged"
    if under(info, "info", "note"):
        return ""  # the agent never came to the end, which fails without a check
    if "reward_basis" in info and not any(_checked(info, part) for part in basis):
        return f"nothing was checked for its reward ({shown(basis)}), so not judged"
    return ""


def _simulation(value: object, line: int, about: object, tasks: dict[str, dict]
                ) -> Imported | Unread:
    messages = under(value, "messages")
    if not isinstance(messages, list):
        return Unread(line, "a simulation without a list of messages")
    read = chat.read(chat.numbered(map(_seen, messages)))
    by = {role: [m for m in messages if under(m, "role") == role] for role in ("assistant", "user")}
    task_id, trial = (None if value.get(k) is None else str(value[k]) for k in ("task_id", "trial"))
    info, task = keyed(value.get("reward_info")), tasks.get(task_id or "", {})
    brief = _brief(task) if by["user"] else text(task.get("ticket")) or _brief(task)
    reward = number(info.get("reward"))
    why = _unjudged(value, info, reward) or ("" if messages else "no messages, so not judged")
    own = sum(len(listed(m.get("tool_calls"))) for m in by["user"])
    notes = [*read.notes, *filter(None, [why, own and f"{own} calls of the user's own tools, "
                                         "which the agent does not see, left out"])]
    domain = text(under(about, "environment_info", "domain_name"))
    task_id = "/".join(filter(None, [domain, task_id]))
    name = text(value.get("id")) or "-".join(filter(None, ["tau2", task_id, trial]))
    return run(
        line, name, brief or read.opening, tuple(map(without_marker, read.steps)),
        without_stop(read.answer), success=None if why else reward == 1.0, reward=reward,
        task_id=task_id or name, trial=trial,
        model=text(under(about, "agent_info", "llm")) or None,
        opening=read.opening if brief else "", notes=tuple(notes), messages=read.messages,
        procedure=read.procedure or text(under(about, "environment_info", "policy")),
        usage=totals(cost=number(value.get("agent_cost"))) | usage(
            *(m.get("usage") for m in by["assistant"])))


def _results(document: Document) -> Iterator[Imported | Unread]:
    value, line = document.value, document.line
    if "simulations" not in value and "messages" not in value:
        yield Unread(line, "an index of tau2 results without their simulations; give their files")
        return
    runs = [value] if "messages" in value else value["simulations"]
    if not isinstance(runs, list) or not runs:
        yield Unread(line, "tau2 results without a simulation, as an aborted evaluation leaves")
        return
    tasks = {str(task.get("id")): task for task in listed(value.get("tasks"))
             if isinstance(task, dict)}
    for at, one in enumerate(runs):
        made = _simulation(one, line, value.get("info"), tasks)
        yield made if isinstance(made, Imported) else Unread(line, f"{made.why} (number {at})")


def read(found: Iterator[Document | Unread]) -> Iterator[Imported | Unread]:
    """Read simulations, each as one run; what is none comes back with its line."""
    for document in found:
        if isinstance(document, Unread):
            yield document
        elif recognise(document.value):
            yield from _results(document)
        else:
            yield Unread(document.line, "no simulation of tau2-bench")
