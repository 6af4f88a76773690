"""RUPA calibrated on one half of the tasks, scored on the other."""

from __future__ import annotations

import inspect

import pytest

from tjlib.desk import testbed
from tjlib.uncertainty.calibrate import fit
from tjlib.uncertainty.crossfit import crossfit, half
from tjlib.uncertainty.graph import build
from tjlib.uncertainty.propagate import propagate
from tjlib.uncertainty.signals import Local

TRAJECTORIES, LABELS = testbed.judged_set(7, clean=6, per_type=2)
GRAPHS = [build(t) for t in TRAJECTORIES]
OWN = [Local((0.5,) * len(g.agent), "surrogate") for g in GRAPHS]
TASKS = [label.instance_id for label in LABELS]


def test_a_run_is_scored_by_what_the_other_half_of_the_tasks_gave():
    found = crossfit(GRAPHS, OWN, TASKS)
    for this in (0, 1):
        rows = range(len(TASKS))
        known = fit([GRAPHS[i] for i in rows if half(TASKS[i]) != this],
                    [OWN[i] for i in rows if half(TASKS[i]) != this])
        for i in (i for i in rows if half(TASKS[i]) == this):
            assert found[i] == propagate(GRAPHS[i], OWN[i], reliability=known).score


def test_a_run_does_not_change_the_reliabilities_its_own_task_is_scored_with():
    first = TASKS[0]
    kept = [i for i, task in enumerate(TASKS) if half(task) != half(first) or task == first]
    alone = crossfit(*([one[i] for i in kept] for one in (GRAPHS, OWN, TASKS)))
    assert alone[0] == crossfit(GRAPHS, OWN, TASKS)[0]


def test_trials_of_a_task_are_in_one_half_and_another_salt_gives_other_halves():
    assert half("7") == half("7")
    assert [half(str(n)) for n in range(50)] != [half(str(n), "other") for n in range(50)]
    assert 15 < sum(half(str(n)) for n in range(50)) < 35


def test_a_half_without_another_has_no_score():
    one = [i for i, task in enumerate(TASKS) if task == TASKS[0]]
    assert crossfit(*([x[i] for i in one] for x in (GRAPHS, OWN, TASKS))) == [None] * len(one)


def test_no_label_can_be_given():
    assert list(inspect.signature(crossfit).parameters) == [
        "graphs", "local", "tasks", "parameters", "salt"]
    with pytest.raises(TypeError):
        crossfit(GRAPHS, OWN, TASKS, failed=[True] * len(TASKS))
