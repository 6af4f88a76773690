"""What was right at a point, and what a path came to: for the count, never for the choice.

Decision: a call is right if it is the one that the policy solving every case makes next, and does
no harm if that policy, going on after it, still ends with the expected outcome and no rule
broken. Where an argument is prose the tool decides. Refusal: no other order of the calls counts
as right, however good; "no harm" is there to show how much that leaves out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import numpy as np
import pandas as pd

from tjlib.arguments import Rule, same
from tjlib.desk import oracle, organic, world
from tjlib.desk.world import TOOLS, Instance
from tjlib.guided.candidates import Candidate
from tjlib.guided.selectors import Made, choose, scores
from tjlib.guided.tree import GIVEN, Point, Tree, follow, given_steps
from tjlib.trace import Call, InputError, Trajectory

__all__ = ["COSTS", "decisions", "does_no_harm", "is_right", "pairs", "paths"]

#: What a draw costs.
COSTS = ("latency_s", "prompt_tokens", "completion_tokens")


def is_right(call: Call, wanted: Call) -> bool:
    """Tell whether a call is the wanted one; prose arguments (reply, escalate) are not compared.

    Examples
    --------
    >>> is_right(Call("reply", {"text": "Hi."}), Call("reply", {"text": "Dear Sir"}))
    True
    """
    return call.tool == wanted.tool and (
        not TOOLS[wanted.tool].grounded or same(call.args, wanted.args, Rule()))


def does_no_harm(case: Instance, given: int, call: Call) -> bool:
    """Tell whether the solving policy can go on after a call as if nothing had happened.

    Parameters
    ----------
    case : Instance
    given : int
        Solving calls made before it.
    call : Call
        What is left of the solution is made after it, without the call itself if it is the next
        one; after a reply nothing is.
    """
    solution = oracle.calls(case)
    rest = solution[given + is_right(call, solution[given]):]
    made = [*solution[:given], call, *(() if call.tool == "reply" else rest)]
    steps, _ = world.replay(case, made)
    return not organic.label(case, Trajectory(case.instance_id, case.goal, steps, "")).faulty


def _cost(candidates: Sequence[Candidate], name: str) -> float | None:
    costs = [getattr(one, name) for one in candidates]
    return None if None in costs else sum(costs)


def _drawn(tree: Tree, cases: Iterable[Instance]) -> Iterator[tuple]:
    """Give the points of the solutions that have candidates, with what was right and came before.

    Each is a case, the calls given, the call wanted, the steps made, and the candidates.
    """
    for case in cases:
        for given, wanted in zip(GIVEN, oracle.calls(case), strict=True):
            candidates = tree.at(Point(case.instance_id, given))
            if candidates is not None:
                yield case, given, wanted, [Made(s) for s in given_steps(case, given)], candidates


def decisions(tree: Tree, cases: Iterable[Instance], selectors: Sequence[str]) -> pd.DataFrame:
    """Let every selector choose at each point of the solutions where candidates were drawn.

    Parameters
    ----------
    tree : Tree
    cases : iterable of Instance
    selectors : sequence of str

    Returns
    -------
    DataFrame
        One row a point and selector: instance_id, stratum, given, wanted (tool), selector, number
        and tool (taken; None if no candidate was a call), right, harmless (0 or 1), tied (how
        many share the score taken), calls (candidates that are one), distinct (different calls),
        and the costs `COSTS` of what was drawn: the first candidate alone for random. Two more
        "selectors": "any", right if some candidate is, and "average", the mean over them.
    """
    rows = []
    for case, given, wanted, made, candidates in _drawn(tree, cases):
        calls = [one.call for one in candidates if one.call is not None]
        good = {"right": [is_right(call, wanted) for call in calls],
                "harmless": [does_no_harm(case, given, call) for call in calls]}
        about = {"instance_id": case.instance_id, "stratum": case.stratum, "given": given,
                 "wanted": wanted.tool, "calls": len(calls),
                 "distinct": len({str(call) for call in calls})}
        for selector in selectors:
            pick = choose(selector, case.goal, made, candidates)
            call = None if pick.number is None else candidates[pick.number].call
            at = None if call is None else calls.index(call)
            paid = candidates[:1] if selector == "random" else candidates
            rows.append(about | {
                "selector": selector, "number": pick.number, "tool": call and call.tool,
                "tied": pick.tied,
                **{name: 0 if at is None else int(of[at]) for name, of in good.items()},
                **{name: _cost(paid, name) for name in COSTS}})
        rows.append(about | {"selector": "any"} | {
            name: float(any(of)) for name, of in good.items()})
        rows.append(about | {"selector": "average"} | {
            name: sum(of) / len(candidates) for name, of in good.items()})
    return pd.DataFrame(rows)


def paths(
    tree: Tree, cases: Iterable[Instance], given: int, selectors: Sequence[str]
) -> pd.DataFrame:
    """Follow every selector to the end of cases that were driven.

    Parameters
    ----------
    tree : Tree
    cases : iterable of Instance
        As `tjlib.guided.source.Recording.driven` has them.
    given : int
        Solving calls the paths begin with.
    selectors : sequence of str

    Returns
    -------
    DataFrame
        One row a case and selector: instance_id, stratum, selector, solved (1: the expected
        outcome and no rule broken), kind (of the first fault; "" if none), steps (made by the
        selector), and the costs `COSTS` of what was drawn.

    Raises
    ------
    InputError
        If a path comes to a point without candidates, as it may where a selector's rule is not
        the one it was recorded with.
    """
    rows = []
    for case in cases:
        for name in selectors:
            path = follow(tree.at, case, given, partial(choose, name))
            if path.missing:
                raise InputError(f"{name} in {case.instance_id}: no candidates at {path.missing}; "
                                 "run tjlib guided again with --episodes to draw them")
            label = organic.label(case, path.trajectory(case))
            drawn = [one for point in path.points
                     for one in tree[point][:1 if name == "random" else None]]
            rows.append({"instance_id": case.instance_id, "stratum": case.stratum,
                         "selector": name, "solved": int(not label.faulty),
                         "kind": label.failure_type or "", "steps": len(path.picks),
                         **{cost: _cost(drawn, cost) for cost in COSTS}})
    return pd.DataFrame(rows)


def pairs(tree: Tree, cases: Iterable[Instance], selectors: Sequence[str]) -> pd.DataFrame:
    """Ask how often a wrong candidate has the higher score of two drawn at one point.

    Parameters
    ----------
    tree : Tree
    cases : iterable of Instance
    selectors : sequence of str

    Returns
    -------
    DataFrame
        One row a point with a right and a wrong candidate: instance_id, given, and by selector
        the share of its pairs of a wrong and a right one in which the wrong one scores higher, a
        tie counting one half: the AUROC within the point, 0.5 for a score that says nothing.
    """
    rows = []
    for case, given, wanted, made, candidates in _drawn(tree, cases):
        drawn = [one for one in candidates if one.call is not None]
        right = np.array([is_right(one.call, wanted) for one in drawn], bool)
        if right.all() or not right.any():
            continue
        row = {"instance_id": case.instance_id, "given": given}
        for name in selectors:
            values = np.array(scores(name, case.goal, made, drawn), float)
            gap = values[~right][:, None] - values[right]
            row[name] = float(((np.sign(gap) + 1) / 2).mean())
        rows.append(row)
    return pd.DataFrame(rows, columns=["instance_id", "given", *selectors])
