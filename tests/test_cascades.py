"""Long runs with known faults: what is in them, and what scores make of them."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import vl_convert
from built import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

from tjlib.charts import cascades as charts
from tjlib.desk import cascades, oracle, shift, testbed, world
from tjlib.desk.cascades import LINKS, MANNERS, SPREADS, Design, cascade
from tjlib.studies import cascading
from tjlib.trace import InputError
from tjlib.uncertainty.graph import build
from tjlib.uncertainty.propagate import propagate
from tjlib.uncertainty.signals import Local

SHIFT = next(shift.shifts(world.instances(7), 8))
OURS = [Design(n, manner, link, spread) for n in (1, 2, 3) for manner in MANNERS[:2]
        for link in LINKS for spread in SPREADS]
TESTBEDS = [Design(n, manner, "independent", "far") for n in (1, 2, 3) for manner in MANNERS[2:]]


def made(design, seed=7):
    return cascade(SHIFT, design, seed)


def test_a_shift_of_one_case_is_the_testbeds_clean_run_of_it():
    for trajectory in testbed.clean_runs(7, 6):
        case = next(c for c in world.instances(7) if c.goal == trajectory.goal)
        run = cascade([case], None).trajectory
        assert (run.goal, run.steps, run.final_answer) == (
            trajectory.goal, trajectory.steps, trajectory.final_answer)


@pytest.mark.parametrize("manner", MANNERS[2:])
def test_one_of_the_testbeds_faults_in_a_shift_of_one_case_is_the_testbeds_mutant(manner):
    cases = {case.instance_id: case for _, case in zip(range(12), world.instances(7),
                                                       strict=False)}
    seen = 0
    for trajectory, label in testbed.stream(7):
        if label.instance_id not in cases:
            break
        if label.failure_type == manner:
            run = cascade([cases[label.instance_id]], Design(1, manner))
            assert (run.trajectory.steps, run.faults[0].step) == (
                trajectory.steps, label.failure_step)
            seen += 1
    assert seen == 12


@pytest.mark.parametrize("design", [*OURS, *TESTBEDS], ids=str)
def test_a_run_differs_from_its_parent_in_as_many_calls_as_it_has_faults_and_there(design):
    run, parent = made(design), made(None)
    assert run.parent_id == parent.trajectory.trajectory_id and not parent.faults
    assert len(run.trajectory.steps) == len(parent.trajectory.steps) == 48
    both = zip(run.trajectory.steps, parent.trajectory.steps, strict=True)
    changed = [n for n, (one, other) in enumerate(both) if one.calls != other.calls]
    assert changed == [fault.step for fault in run.faults] and len(changed) == design.faults
    assert [s.thought for s in run.trajectory.steps] == [
        world.THOUGHTS[s.calls[0].tool] for s in run.trajectory.steps]


@pytest.mark.parametrize("design", OURS, ids=str)
def test_a_caused_fault_copies_the_first_ones_value_and_an_independent_one_has_its_own(design):
    run = made(design)
    first, *later = run.faults
    assert first.caused_by is None
    for fault in run.faults:
        call, = run.trajectory.steps[fault.step].calls
        assert fault.value in "".join(map(str, call.args.values()))
    if design.link == "caused":
        assert {(f.value, f.caused_by) for f in later} <= {(first.value, first.step)}
    else:
        assert len({f.value for f in run.faults}) == design.faults
        assert all(f.caused_by is None for f in later)


@pytest.mark.parametrize("design", OURS, ids=str)
def test_the_desk_answers_a_known_wrong_order_and_refuses_an_invented_one(design):
    run, real = made(design), {case.order_id for case in SHIFT}
    for fault in run.faults:
        step = run.trajectory.steps[fault.step]
        assert (fault.value in real) is (design.manner == "known")
        if step.calls[0].tool != "reply":  # a reply is always sent
            assert step.observations[0].ok is (design.manner == "known")


@pytest.mark.parametrize(("spread", "gaps"), [("near", [2, 4]), ("far", [8, 16])])
def test_faults_are_two_steps_apart_in_a_case_and_eight_from_case_to_case(spread, gaps):
    steps = [fault.step for fault in made(Design(3, "known", "caused", spread)).faults]
    assert [step - steps[0] for step in steps[1:]] == gaps and steps[0] % 6 == 1


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("manner", MANNERS[:2])
def test_one_fault_is_the_first_of_two_and_of_three_whatever_hangs_together(manner, spread):
    firsts = {made(Design(n, manner, link, spread)).faults[0] for n in (1, 2, 3) for link in LINKS}
    assert len(firsts) == 1


@given(st.integers(0, 10**6), st.integers(1, 10))
@settings(max_examples=30, deadline=None)
def test_no_two_cases_of_a_shift_share_an_item_a_customer_or_an_order(seed, size):
    held = next(shift.shifts(world.instances(seed), size))
    for key in (lambda c: c.sku, lambda c: c.order_id, lambda c: c.customer.email):
        assert len({key(case) for case in held}) == size
    steps, answer = shift.replay(held, [oracle.calls(case) for case in held])
    assert len(steps) == 6 * size and all(step.observations[0].ok for step in steps)
    assert answer == steps[-1].calls[0].args["text"]


def test_cascades_are_the_same_across_hash_seeds_and_others_from_another_seed():
    code = ("from tjlib.desk.cascades import *; from tjlib.trace import to_json; import hashlib; "
            "print(hashlib.sha256(b''.join(to_json(c.trajectory) + str(c.faults).encode() for c in "
            "cascades([Design(3, 'known', 'caused', 'far'), Design(2, 'invented')], seed={}, "
            "runs=3))).hexdigest())")
    said = [subprocess.run([sys.executable, "-c", code.format(seed)], cwd=ROOT, text=True,
                           capture_output=True, check=True,
                           env=os.environ | {"PYTHONHASHSEED": hash_seed}).stdout
            for seed, hash_seed in ((7, "0"), (7, "1"), (8, "0"))]
    assert said[0] == said[1] != said[2]


def test_runs_come_with_their_parent_first_and_each_has_a_name_of_its_own():
    runs = list(cascades.cascades(OURS, runs=2, cases=6))
    assert [run.design for run in runs] == [None, *OURS] * 2
    ids = [run.trajectory.trajectory_id for run in runs]
    assert len(set(ids)) == len(ids) and runs[1].parent_id == ids[0]


@pytest.mark.parametrize(("make", "what"), [
    (lambda: Design(4), "4 faults; give 1, 2 or 3"),
    (lambda: Design(1, "odd"), "no manner 'odd'"),
    (lambda: Design(2, "wrong_tool"), "one fault a case"),
    (lambda: Design(1, "wrong_tool", "caused"), "copies nothing"),
    (lambda: cascade(SHIFT[:2], Design(3, "invented", spread="far")), "need as many cases"),
    (lambda: cascade(SHIFT[:1], Design(1, "known")), "make it longer"),
    (lambda: next(shift.shifts(world.instances(7), 0)), "give 1 to 60"),
])
def test_what_cannot_be_made_is_refused_in_one_line(make, what):
    with pytest.raises(InputError, match=what) as caught:
        make()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("link", LINKS)
def test_a_wrong_order_that_the_desk_knows_changes_no_structural_risk(link):
    alike = Local((0.0,) * 48, "constant")
    one, other = (propagate(build(made(d).trajectory), alike)
                  for d in (Design(3, "known", link), None))
    assert np.abs(one.r - other.r).max() < 1e-12


def test_simulated_uncertainty_knows_a_fault_as_well_as_its_dial_says():
    plain = cascading.simulated(2000, [], 0.0, 0, "a")
    assert plain == cascading.simulated(2000, [5], 0.0, 0, "a")
    assert plain != cascading.simulated(2000, [], 0.0, 0, "b")
    assert np.median(plain.u) == pytest.approx(0.3, rel=0.05)
    half = list(range(0, 2000, 2))
    told = np.log(cascading.simulated(2000, half, 1.0, 0, "a").u)
    above = np.mean(told[half][:, None] > told[1::2][None])
    assert above == pytest.approx(0.760, abs=0.02)  # Phi(1 / sqrt 2)


def test_runs_above_their_parents_are_counted_pair_by_pair():
    faulty = pd.DataFrame({"a": [2.0, 5.0, 1.0], "flat": [1.0, 1.0, 1.0]}, index=["x", "y", "y"])
    clean = pd.DataFrame({"a": [1.0, 4.0], "flat": [1.0, 2.0]}, index=["x", "y"])
    found = cascading.ranked(faulty, clean, 0, 100, ("a", "flat")).set_index(["measure", "score"])
    assert found["value"]["paired", "a"] == pytest.approx(2 / 3)
    assert found["value"]["paired", "flat"] == pytest.approx((0.5 + 0 + 0) / 3)
    assert found["value"]["AUROC", "a"] == pytest.approx((1 + 2 + 0.5) / 6)
    assert found["change"]["paired", "a"] == pytest.approx(2 / 3 - 1 / 6)


def test_levels_are_set_at_the_first_fault_and_runs_that_end_earlier_are_left_out():
    faulty, clean = [np.arange(5.0), np.arange(3.0)], [np.zeros(5), np.zeros(3)]
    found = cascading.aligned(faulty, clean, [1, 2], ["x", "y"], 0, 100, 1, 2).set_index("offset")
    assert found["value"].tolist() == [0.5, 1.5, 2.0, 3.0] and found["n"].tolist() == [2, 2, 1, 1]


def test_a_peak_at_after_or_at_another_fault_is_told_apart_and_a_random_step_beside_it():
    series = [np.array([0, 3, 0, 0.0]), np.array([0, 0, 3, 0.0]), np.array([0, 0, 0, 3.0])]
    found = cascading.localised(series, [[1], [1, 3], [1, 3]], ["x", "y", "z"], 0, 100)
    found = found.set_index("what")
    assert found["value"].tolist() == pytest.approx([1 / 3, 1 / 3, 2 / 3])
    assert found["chance"].tolist() == pytest.approx([1 / 4, 1 / 4, (1 / 4 + 1 / 2 + 1 / 2) / 3])


def test_a_step_that_nothing_reached_counts_one_half():
    found = cascading.reached([np.array([1.0, 2.0]), np.array([1.0, 2.0])],
                              [np.array([1.0, 1.0]), np.array([1.0, 2.0])], [1, 1], ["x", "y"],
                              0, 100)
    assert found["value"] == 0.75


def test_blaming_the_caller_moves_the_peak_from_one_late_to_the_fault():
    run = made(Design(1, "invented"))
    at = run.faults[0].step
    alike = Local((0.0,) * 48, "constant")
    known = cascading.risks(build(run.trajectory), alike)
    parent = cascading.risks(build(made(None).trajectory), alike)
    assert np.argmax(known["full"] - parent["full"]) == at + 1
    assert np.argmax(known["caller"] - parent["caller"]) == at
    assert cascading.scores(build(run.trajectory), alike, known)["n_steps"] == 48


@pytest.mark.parametrize("draw", [charts.dial, charts.around])
def test_the_layers_of_a_figure_agree_on_their_legend(draw, capfd):
    rows = pd.DataFrame([
        {"panel": panel, "dial": at, "offset": at, "score": score, "value": 0.5, "lo": 0.4,
         "hi": 0.6, "shown": "0.50"}
        for panel in "ab" for at in range(3) for score in charts.LOOKS])
    vl_convert.vegalite_to_vega(draw(rows).to_dict(), show_warnings=True)
    assert capfd.readouterr().err == ""
