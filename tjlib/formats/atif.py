"""Runs in Harbor's Agent Trajectory Interchange Format, whole or streamed.

Decision: a step is a step of the agent, and a result belongs to the step it
stands in, whether or not it names its call; results of the harness's own
steps are kept with the agent's step before. Refusal: the format has no
outcome, so nothing is judged, and other files a run names are not looked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from tjlib.documents import Document, Unread
from tjlib.formats import chat
from tjlib.formats.fields import added, keyed, listed, run, text, totals, under
from tjlib.formats.imported import Imported, shown
from tjlib.trace import Observation, Step

__all__ = ["read", "recognise"]

#: A field of a step's metrics -> our name of its total.
_TOTALS = {"prompt_tokens": "prompt_tokens", "completion_tokens": "completion_tokens",
           "cached_tokens": "cached_tokens", "cost_usd": "cost"}


def _is_run(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("steps"), list) and (
        str(value.get("schema_version")).startswith("ATIF")
        or (isinstance(value.get("agent"), dict) and "session_id" in value))


def _is_header(value: object) -> bool:
    return isinstance(value, dict) and value.get("__header__") is True


def _is_step(value: object) -> bool:
    return isinstance(value, dict) and {"step_id", "source"} <= set(value)


def recognise(value: object) -> bool:
    """Tell whether a value is a run, the header of a streamed one, or one of its steps."""
    return _is_run(value) or _is_header(value) or _is_step(value)


@dataclass
class _Turn:
    """One step of the agent and what came before the next."""

    at: int
    step: dict
    results: list = field(default_factory=list)
    events: list[Observation] = field(default_factory=list)
    user: list[str] = field(default_factory=list)


def _results(step: dict) -> list:
    return listed(under(step, "observation", "results") if "observation" in step
                  else step.get("results"))


def _content(result: object) -> tuple[object, str]:
    """Return what a result says; one of a sub-agent says where its own run is."""
    result = result if isinstance(result, dict) else {"content": result}
    there = result.get("subagent_trajectory_ref")
    if not there:
        return result.get("content"), ""
    refs = [r.get("trajectory_path") or r.get("session_id") for r in there
            if isinstance(r, dict)] if isinstance(there, list) else [there]
    content = result.get("content")
    return ({"subagent_trajectory_ref": there} if content is None else content,
            f"a sub-agent's own run is not read: {shown(', '.join(map(str, refs)))}")


class _Run:
    """The turns of one run, and what is before the first."""

    def __init__(self) -> None:
        self.turns: list[_Turn] = []
        self.early: list[Observation] = []
        self.opening: list[str] = []
        self.procedure: list[str] = []
        self.notes: list[str] = []

    def note(self, at: int, what: str) -> None:
        if what:
            self.notes.append(f"step {at}: {what}")

    def add(self, at: int, step: object) -> None:
        """Place one step of the log, whose parts may be of any type."""
        step = keyed(step)
        source = step.get("source", step.get("role"))
        if source in ("agent", "assistant"):
            self.turns.append(_Turn(at, step, list(_results(step))))
            return
        if source == "observation" and self.turns:
            self.turns[-1].results += _results(step)
            return
        if source not in ("user", "system", "observation"):
            self.note(at, f"of unknown source {shown(source, 40)!r}, left out")
            return
        said, odd = chat.text_of(step.get("message"))
        self.note(at, odd and f"{odd}, left out")
        if said and self.turns:
            self.turns[-1].user.append(said if source == "user" else f"({source}) {said}")
        elif said:
            (self.opening if source == "user" else self.procedure).append(said)
        for result in _results(step):
            content, where = _content(result)
            said, odd = chat.text_of(content)
            self.note(at, where or (odd and f"{odd}, left out"))
            kept = self.turns[-1].events if self.turns else self.early
            kept.append(chat.observed(said, False))

    def closed(self) -> list[Step]:
        """Read every turn; what came before the first is kept with it."""
        if self.early and self.turns:
            self.turns[0].events[:0] = self.early
            self.notes.append(f"{len(self.early)} results from before the agent's first step "
                              "are kept with it")
        elif self.early:
            self.notes.append(f"{len(self.early)} results of a run without a step of the agent, "
                              "left out")
        return [self._step(turn) for turn in self.turns]

    def _step(self, turn: _Turn) -> Step:
        calls, results = turn.step.get("tool_calls"), []
        for result in turn.results:
            content, where = _content(result)
            self.note(turn.at, where)
            results.append({"role": "tool", "content": content, "tool_call_id": under(
                result, "source_call_id")})
        read = chat.read(chat.numbered([turn.step | {
            "role": "assistant", "content": turn.step.get("message"),
            "tool_calls": [_call(c) for c in calls] if isinstance(calls, list) else calls,
            "logprobs": under(turn.step, "metrics", "logprobs")}, *results]))
        for note in read.notes:
            what = note.partition(": ")[2] or note
            # A step without structured calls may well have results: terminus-2 writes it so.
            if calls or what != "a result of no open call":
                self.note(turn.at, what)
        step = read.steps[0]
        return replace(step, observations=(*step.observations, *turn.events),
                       user="\n\n".join(turn.user) or None)


def _call(call: object) -> object:
    if not isinstance(call, dict):
        return call
    return {"id": call.get("tool_call_id"), "function": {
        "name": call.get("function_name"), "arguments": call.get("arguments")}}


def _usage(value: dict, steps: Sequence) -> dict[str, int | float]:
    """Take the totals, or where there are none the sums over steps."""
    return totals(**{ours: added(steps, "metrics", name) for name, ours in _TOTALS.items()}) | (
        totals(**{ours: under(value, "final_metrics", f"total_{name}")
                  for name, ours in _TOTALS.items()}))


def _imported(line: int, value: dict, steps: Sequence, notes: Sequence[str] = ()) -> (
        Imported | Unread):
    parts = _Run()
    for at, step in enumerate(steps, 1):
        parts.add(at, step)
    done = parts.closed()
    copied = sum(isinstance(s, dict) and s.get("is_copied_context") is True for s in steps)
    for there, what in (
            (copied, f"{copied} steps are copied from the run that this one continues"),
            (ref := value.get("continued_trajectory_ref"), f"goes on in {shown(ref)}, not read"),
            (value.get("subagent_trajectories"), "the runs of its sub-agents are not read")):
        if there:
            parts.notes.append(what)
    models = filter(None, map(text, (under(value, "agent", "model_name"),
                                     *(turn.step.get("model_name") for turn in parts.turns))))
    name = text(value.get("session_id")) or text(value.get("trajectory_id")) or f"line{line}"
    answer = done[-1] if done and not done[-1].calls and not done[-1].observations else None
    said = chat.text_of(parts.turns[-1].step.get("message"))[0] if answer else ""
    return run(line, f"atif-{name}", "\n\n".join(parts.opening), tuple(done), said, task_id=name,
               model=next(models, None), procedure="\n\n".join(parts.procedure),
               notes=(*notes, *parts.notes), usage=_usage(value, steps))


@dataclass
class _Stream:
    """A run that comes line by line."""

    line: int
    source: str
    header: dict
    steps: list = field(default_factory=list)

    def closed(self) -> Imported | Unread:
        notes, steps = [], []
        for step in self.steps:
            if step in steps[-3:]:
                notes.append(f"a line repeats step {shown(step['step_id'], 20)}, left out")
            else:
                steps.append(step)
        if not self.header:
            notes.insert(0, "a stream without its first line, so without its name and start")
        return _imported(self.line, self.header, steps, notes)


def read(found: Iterator[Document | Unread]) -> Iterator[Imported | Unread]:
    """Read runs one by one, whole ones or a header and its steps."""
    stream: _Stream | None = None
    for item in found:
        value = None if isinstance(item, Unread) else item.value
        starts = _is_header(value) or _is_run(value)
        if stream and (starts or (isinstance(item, Document) and item.source != stream.source)):
            yield stream.closed()
            stream = None
        if isinstance(item, Unread):
            yield item
        elif _is_run(value):
            yield _imported(item.line, value, value["steps"])
        elif _is_header(value):
            stream = _Stream(item.line, item.source, value)
        elif _is_step(value):
            stream = stream or _Stream(item.line, item.source, {})
            stream.steps.append(value)
        else:
            yield Unread(item.line, "no run of ATIF")
    if stream:
        yield stream.closed()
