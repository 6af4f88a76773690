"""Exercises of parts B and C: local signals, the graph, a log of one's own.

Decision: answers come from the published tables, from the worked example, and from
what the reader's own page has found and hands over. Refusal: as for part A.
"""

from __future__ import annotations

from collections.abc import Sequence

from tjlib.exercises.asked import asked
from tjlib.trace import InputError

__all__: list[str] = []


@asked("b3-last", "a number of steps",
       "write the places down, from 0 for the first to 1 for the last, and count those at .8 or "
       "later", 0)
def _last(steps: int = 6):
    from tjlib.uncertainty.peaks import fifths

    right = int((fifths(steps) == 4).sum())
    wrong = [(round(steps / 5), "a fifth of the steps, but places run from 0 to 1 with both ends "
                                "taken, so a fifth of the scale may hold another number")]
    return right, wrong


@asked("b3-pairs", "a number of pairs",
       "a pair is one failed and one successful run: each of the ones with each of the others", 0)
def _pairs(failed: Sequence[bool | None]):
    bad, good = (sum(x == which for x in failed if x is not None) for which in (True, False))
    n = bad + good
    return bad * good, [
        (n * (n - 1) // 2, "that is all pairs; two failed runs are no pair to rank"),
        (n * n, "that is every run with every run, itself included"),
        (min(bad, good), "each failed run is in a pair with every successful one, not with one")]


def _node(parameters=None, without: str = "") -> float:
    """R of the worked example's last node, with other parameters or without an edge."""
    from tjlib.uncertainty import example
    from tjlib.uncertainty.graph import without as leave_out
    from tjlib.uncertainty.parameters import Parameters
    from tjlib.uncertainty.propagate import propagate

    graph = example.graph(Parameters(**(parameters or {})))
    graph = leave_out(graph, without) if without else graph
    return float(propagate(graph, example.local(), reliability=example.reliability()).r[2])


@asked("b4-cap", "a number, to three digits",
       "one P changes, that of node 3, and it is used twice: in G and in the momentum", 0.0005)
def _cap():
    return _node({"p_max": 1.0}), [
        (_node(), "that is as above: no P of this example reaches the chapter's own cap")]


@asked("b4-edge", "a number, to three digits",
       "leave the edge out of both sums of G, the upper and the lower; the momentum knows no edge",
       0.0005)
def _edge():
    return _node(without="3>4 repetition"), [
        (_node(), "that is with the edge"),
        (_node(without="1>4 parallel"), "that is without the parallel edge from node 1")]


@asked("c2-blind", "a share from 0 to 1",
       "of the runs whose outcome is known, how many failed?")
def _blind(outcomes: Sequence[bool | None]):
    known = [x for x in outcomes if x is not None]
    if not known:
        raise InputError("exercise c2-blind: no run of this log has a known outcome")
    failed = known.count(False)
    wrong = [(failed / len(outcomes), "below the line stand the runs with a known outcome alone"),
             (1 - failed / len(known), "that is the share that succeeded")]
    right = failed / len(known)
    return right, wrong


@asked("c2-tasks", "a number of tasks",
       "a width goes with one over the root of the number of what is drawn", 0)
def _tasks(tasks: int):
    return 4 * tasks, [
        (2 * tasks, "twice as many make it narrower by a factor of the root of two only"),
        (tasks, "that is as many as there are"),
        (16 * tasks, "that would make it a quarter as wide")]
