"""A call made again: RUPA's relation of repetition as a judge of the calls.

Decision: the edge is the RUPA paper's (section 4.1), between steps that call
something, in its window; it is an alarm unless the first call failed or
brought nothing, which makes the second a retry, or the second brought
something else, which makes it news. Both excuses are ours. Refusal: no call is
judged by what it was for; a wrong tool that repeats nothing is not seen, and a
repeat that was wise is taken for a fault.
"""

from __future__ import annotations

from typing import NamedTuple

from tjlib.trace import Step, Trajectory, Verdict
from tjlib.uncertainty.graph import build
from tjlib.uncertainty.parameters import RELATIONS
from tjlib.uncertainty.signals import environment
from tjlib.uncertainty.text import observation_text

__all__ = ["FORMS", "Repeat", "judge", "repeats"]

#: What counts as the same call: all calls of the step alike, or whatever RUPA links.
FORMS = ("exact", "near")
_REPETITION = RELATIONS.index("repetition")


class Repeat(NamedTuple):
    """A 0-based step, the earlier one it repeats, the match in (0, 1], and an excuse or ''."""

    step: int
    earlier: int
    match: float
    exact: bool
    excuse: str


def repeats(trajectory: Trajectory) -> list[Repeat]:
    """Find the calls made again.

    Parameters
    ----------
    trajectory : Trajectory

    Returns
    -------
    list of Repeat
        By step, the nearest earlier one last; alike by word overlap.

    Examples
    --------
    >>> from tjlib.trace import Call, Observation
    >>> step = Step("Look.", (Call("get", {"id": 1}),), (Observation(True, {"n": 2}),))
    >>> repeats(Trajectory("t-1", "Get it.", (step, step), ""))
    [Repeat(step=1, earlier=0, match=1.0, exact=True, excuse='')]
    """
    graph = build(trajectory)
    edges, steps, found = graph.edges, trajectory.steps, []
    for source, target, code, match, why in zip(
            edges.source.tolist(), edges.target.tolist(), edges.relation.tolist(),
            edges.match.tolist(), edges.evidence, strict=True):
        earlier, step = int(graph.step[source]), int(graph.step[target])
        if code == _REPETITION and steps[step].calls and steps[earlier].calls:
            exact = why == "the same calls" and match == 1.0
            found.append(Repeat(step, earlier, match, exact,
                                _excuse(steps[earlier], steps[step])))
    return found


def _excuse(first: Step, second: Step) -> str:
    if any(environment(seen, observation_text(seen))[0] == 1 for seen in first.observations):
        return "the first failed"
    if _answers(first) != _answers(second):
        return "it brought something else"
    return ""


def _answers(step: Step) -> list[str]:
    return [observation_text(seen) for seen in step.observations]


def judge(trajectory: Trajectory, form: str = "exact") -> Verdict:
    """Judge a trajectory by its first call made again without an excuse.

    Parameters
    ----------
    trajectory : Trajectory
    form : {"exact", "near"}
        One of `FORMS`.

    Returns
    -------
    Verdict
        If faulty, ``wrong_tool`` at the repeating step; ``not_applicable``
        to a trajectory with fewer than two steps that call something. It
        states no confidence.

    Examples
    --------
    >>> judge(Trajectory("t-1", "Get it.", (), "")).status
    'not_applicable'
    """
    who = trajectory.trajectory_id
    if sum(bool(step.calls) for step in trajectory.steps) < 2:
        return Verdict(who, f"repetition:{form}", status="not_applicable",
                       rationale="fewer than two steps call a tool")
    found = [r for r in repeats(trajectory)
             if not r.excuse and (r.exact or form == "near")]
    if not found:
        return Verdict(who, f"repetition:{form}", False, rationale="no call is made again in vain")
    first = min(found, key=lambda r: (r.step, -r.earlier))
    return Verdict(who, f"repetition:{form}", True, first.step, "wrong_tool",
                   rationale=f"step {first.step} repeats step {first.earlier} (match "
                             f"{first.match:.2f}), which had brought the same")
