"""Where the riskiest step falls, and what surrounds it, against runs worked by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from drawn import graph_by_hand, runs
from hypothesis import given

from tjlib.uncertainty import example
from tjlib.uncertainty.graph import build
from tjlib.uncertainty.online import peak
from tjlib.uncertainty.parameters import RELATIONS
from tjlib.uncertainty.peaks import around, dealt, describe, fifths, spread
from tjlib.uncertainty.propagate import propagate
from tjlib.uncertainty.signals import Local, local

SHARES = [f"share|{name}" for name in RELATIONS]


def solved():
    return propagate(example.graph(), example.local(), reliability=example.reliability())


@pytest.mark.parametrize("steps", [2, 3, 6, 11, 30, 101])
def test_a_step_on_the_border_of_two_fifths_belongs_to_the_later_one(steps):
    # Exact fractions; 3 / 5 * 5 in floats is not always 3.
    expected = [min(5 * i // (steps - 1), 4) for i in range(steps)]
    assert fifths(steps).tolist() == expected
    assert fifths(steps)[0] == 0 and fifths(steps)[-1] == 4


def test_a_step_at_random_is_in_the_last_fifth_of_a_short_run_a_third_of_the_time():
    steps = pd.DataFrame({"trajectory_id": "r", "fifth": fifths(6), "any": 1 / 6})
    assert spread(steps, "any").loc["r"].tolist() == pytest.approx([1 / 6] * 4 + [2 / 6])


def test_the_worked_example_described():
    found = describe(solved())
    assert found["peak"].tolist() == [0, 0, 1] and found["position"].tolist() == [0, 0.5, 1]
    last = found.iloc[2]
    weights = {"sequential": .282773, "latest": .484754 + .310242, "repetition": 1.030513,
               "feedback": .819590, "progression": 0.0, "parallel": .142099}
    total = sum(weights.values())
    assert last[SHARES].tolist() == pytest.approx([weights[r] / total for r in RELATIONS], abs=1e-5)
    assert last["repetition"] == pytest.approx(0.9)  # .855 / .95
    # The observation of uncertainty 1 came just before the second step, not the third.
    assert found["failing"].tolist() == [0, 1, 0]


def test_the_peak_is_the_one_the_stream_finds_and_of_u_it_is_that_of_u():
    run = solved()
    assert describe(run)["peak"].argmax() == peak(run).step == 2
    assert describe(run, "U")["peak"].argmax() == 1


@given(runs)
def test_any_run_can_be_described_and_its_chances_add_up(trajectory):
    run = propagate(build(trajectory), local(trajectory))
    steps = describe(run)
    steps["dealt"] = dealt(run, np.random.default_rng(0), 3)
    assert len(steps) == len(trajectory.steps)
    if len(steps):
        for chance in ("peak", "any", "dealt"):
            assert steps[chance].sum() == pytest.approx(1)
            assert len(spread(steps, chance)) == (len(steps) > 1)
        around(steps, ["Q", *SHARES])
    parts = steps[SHARES].sum(axis=1, min_count=1).dropna()
    assert parts.to_numpy() == pytest.approx(np.ones(len(parts)))


def test_own_uncertainty_alone_peaks_at_a_step_at_random_when_dealt():
    graph = graph_by_hand(["user"] + ["assistant"] * 4, [0.0] * 5, [0.0] * 4,
                          [(i, i + 1, "sequential", 0.35) for i in range(4)], lam_h=0.0)
    run = propagate(graph, Local((1.0, 4.0, 2.0, 3.0), "logprob"))
    shares = dealt(run, np.random.default_rng(0), 4000)
    assert shares == pytest.approx([0.25] * 4, abs=0.03)


def test_risk_that_feeds_on_itself_peaks_late_when_dealt():
    graph = graph_by_hand(["user"] + ["assistant"] * 6, [0.0] * 7, [0.5] * 6,
                          [(i, i + 1, "sequential", 0.35) for i in range(6)])
    run = propagate(graph, Local((0.3,) * 6, "logprob"))
    assert dealt(run, np.random.default_rng(0), 50)[-1] == pytest.approx(1)


def test_the_peak_beside_the_other_steps():
    steps = pd.DataFrame({"trajectory_id": ["a"] * 3 + ["b"], "x": [1.0, 5.0, 2.0, 7.0],
                          "peak": [0.0, 1.0, 0.0, 1.0], "any": [1 / 3] * 3 + [1.0]})
    found = around(steps, ["x"])
    assert found.loc["a"].tolist() == [5.0, 1.5, 3.5]
    assert found.loc["b", "x|peak"] == 7.0 and np.isnan(found.loc["b", "x|others"])
    # A step at random is like the others: the same mean on both sides.
    assert around(steps, ["x"], "any").loc["a", "x|more"] == pytest.approx(0)


def test_a_step_without_a_number_counts_on_no_side():
    steps = pd.DataFrame({"trajectory_id": "a", "x": [np.nan, 5.0, 2.0], "peak": [0.0, 1.0, 0.0]})
    assert around(steps, ["x"]).loc["a"].tolist() == [5.0, 2.0, 3.0]
