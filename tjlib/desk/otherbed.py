"""The judged set's design, with other seeds and other ways for a run to go.

Decision: a run keeps its place, its case and its type, and only how it is made
changes, so that rates on it stand beside the paper's; among the ways that a
case can host the one used least so far is taken. Refusal: a label's outcome is
read off the desk the calls went to.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import msgspec

from tjlib.desk import oracle, world
from tjlib.desk.testbed import judged_set
from tjlib.desk.ways import Way
from tjlib.trace import Label, Trajectory

__all__ = ["SCRIPTED", "Run", "bed"]

#: What the way of a run is called that is made as the judged set makes it.
SCRIPTED = "as in the judged set"


class Run(NamedTuple):
    """The name of a way, a trajectory made in it, and its label."""

    way: str
    trajectory: Trajectory
    label: Label


def bed(seed: int, ways: Sequence[Way], *, clean: int = 100, per_type: int = 50) -> list[Run]:
    """Build the judged set of a seed in other ways.

    Parameters
    ----------
    seed : int
    ways : sequence of Way
        A type of fault that none of them makes stays as it is.
    clean, per_type : int
        As `tjlib.desk.testbed.judged_set`.

    Returns
    -------
    list of Run
        In the judged set's order. A faulty run's parent is the clean run of
        its case, in whichever way that went.

    Examples
    --------
    >>> from tjlib.desk.ways import ways
    >>> runs = bed(5, ways("set", []), clean=4, per_type=2)
    >>> sorted(run.way for run in runs if run.label.failure_type == "wrong_tool")
    ['customer looked up again', 'order looked up again']
    """
    trajectories, labels = judged_set(seed, clean=clean, per_type=per_type)
    last = max(int(label.instance_id.removeprefix("INS-")) for label in labels)
    cases = {case.instance_id: case for case in islice(world.instances(seed), last + 1)}
    used: Counter[Way] = Counter()
    out = []
    for trajectory, label in zip(trajectories, labels, strict=True):
        case = cases[label.instance_id]
        hosted = [way for way in ways
                  if way.fault_type == label.failure_type and case.stratum in way.strata]
        if not hosted:
            out.append(Run(SCRIPTED, trajectory, label))
            continue
        way = min(hosted, key=used.__getitem__)
        used[way] += 1
        rng = random.Random(f"{way.name}-{label.instance_id}-{seed}")
        made = way.make(case, tuple(oracle.calls(case)), rng)
        steps, outcome = world.replay(case, made.calls, made.desk)
        out.append(Run(way.name, msgspec.structs.replace(
            trajectory, steps=steps, final_answer=made.answer), msgspec.structs.replace(
            label, failure_step=made.step,
            outcome_correct=outcome == world.expected_outcome(case))))
    return out
