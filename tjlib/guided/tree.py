"""Candidates by the point they were drawn at, and the paths that selectors take through them.

Decision: a point is a case, how many of the solving calls it was given, and which candidate was
taken at each point after; what the desk said on the way is not kept, for it can be had again.
Selectors whose paths agree share every candidate up to where they part. Refusal: a path is not
guessed on past a point where nothing was drawn; it says which is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, NamedTuple

import msgspec

from tjlib.desk import oracle, world
from tjlib.desk.world import Desk, Instance
from tjlib.guided.candidates import Candidate
from tjlib.guided.selectors import Made, Pick
from tjlib.judges.agent import MAX_STEPS
from tjlib.trace import Step, Trajectory

__all__ = ["GIVEN", "Decision", "Path", "Point", "Tree", "follow", "given_steps"]

#: How many of its six calls a solved case can be given before the agent goes on.
GIVEN = range(6)


class Point(NamedTuple):
    """Where candidates are drawn: a case, the solving calls given, the candidates taken since."""

    instance_id: str
    given: int
    taken: tuple[int, ...] = ()


class Decision(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The candidates drawn at a point, one line of ``decisions.jsonl``."""

    instance_id: str
    given: Annotated[int, msgspec.Meta(ge=GIVEN[0], le=GIVEN[-1])]
    taken: tuple[int, ...]
    candidates: tuple[Candidate, ...]
    run_id: str | None = None

    @property
    def point(self) -> Point:
        """Where they were drawn."""
        return Point(self.instance_id, self.given, self.taken)


class Tree(dict[Point, tuple[Candidate, ...]]):
    """The candidates that were drawn, by their point."""

    def __init__(self, decisions: Iterable[Decision] = ()) -> None:
        super().__init__((d.point, d.candidates) for d in decisions)

    def at(self, point: Point, made: Sequence[Made] = ()) -> tuple[Candidate, ...] | None:
        """Return the candidates drawn at a point, None if none were; for `follow`."""
        return self.get(point)


class Path(NamedTuple):
    """How one rule of choice went on from the calls it was given.

    ``points`` are those where it chose, ``picks`` what it took there. ``missing`` is the point
    where nothing is drawn yet, None for a path that came to its end: a reply that the desk sent,
    the last step allowed, or a point where no candidate was a call.
    """

    made: tuple[Made, ...]
    points: tuple[Point, ...]
    picks: tuple[Pick, ...]
    missing: Point | None

    def trajectory(self, case: Instance) -> Trajectory:
        """Return the steps as a run of a case; its final answer is what was sent, if anything."""
        steps = tuple(one.step for one in self.made)
        last = steps[-1].calls[0] if steps and _replied(steps[-1]) else None
        return Trajectory(case.instance_id, case.goal, steps, last.args["text"] if last else "")


def given_steps(case: Instance, given: int) -> tuple[Step, ...]:
    """Return the first so many steps of the policy that solves every case."""
    return world.replay(case, oracle.calls(case)[:given])[0]


def _replied(step: Step) -> bool:
    return step.calls[0].tool == "reply" and step.observations[0].ok


def follow(
    drawn: Callable[[Point, Sequence[Made]], Sequence[Candidate] | None], case: Instance,
    given: int, taking: Callable[[str, Sequence[Made], Sequence[Candidate]], Pick],
) -> Path:
    """Follow a rule of choice as far as there are candidates.

    Parameters
    ----------
    drawn : callable
        The candidates at a point, after these steps; None if none were drawn there.
    case : Instance
    given : int
        Solving calls made before the first choice.
    taking : callable
        Takes one of the candidates, as `tjlib.guided.selectors.choose` does for a selector.

    Returns
    -------
    Path
    """
    desk = Desk(case)
    made = [Made(step) for step in given_steps(case, given)]
    for one in made:
        desk.call(one.step.calls[0])
    points, picks, missing = [], [], None
    while len(made) < MAX_STEPS and not (picks and _replied(made[-1].step)):
        point = Point(case.instance_id, given, tuple(pick.number for pick in picks))
        if (candidates := drawn(point, made)) is None:
            missing = point
            break
        points.append(point)
        pick = taking(case.goal, made, candidates)
        if pick.number is None:
            break
        picks.append(pick)
        taken = candidates[pick.number]
        made.append(Made(Step(taken.thought, (taken.call,), (desk.call(taken.call),)), taken))
    return Path(tuple(made), tuple(points), tuple(picks), missing)
