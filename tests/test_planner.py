"""How many clean runs: the closed form, a search of its own, and the way back."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tjlib.measure.planner import clean_runs_needed, rate_excluded
from tjlib.trace import InputError


def test_the_papers_zero_of_a_hundred_rules_out_its_printed_rate():
    assert round(rate_excluded(100), 4) == 0.0362
    # By hand: (1 - p) ** 100 = .025.
    assert rate_excluded(100) == pytest.approx(1 - 0.025 ** 0.01)
    assert rate_excluded(100, sides=1) == pytest.approx(1 - 0.05 ** 0.01)


@given(st.floats(0.002, 0.9), st.sampled_from([0.8, 0.95, 0.99]), st.sampled_from([1, 2]))
def test_without_an_alarm_the_plan_is_the_closed_form(rate, level, sides):
    needed = math.log((1 - level) / sides) / math.log1p(-rate)
    assert clean_runs_needed(rate, level, sides=sides) in (math.ceil(needed - 1e-9),
                                                           math.ceil(needed + 1e-9))


@given(st.floats(0.02, 0.9), st.integers(0, 5), st.sampled_from([1, 2]))
def test_counting_up_one_run_at_a_time_finds_the_same_number(rate, alarms, sides):
    n = alarms + 1
    while stats.binom.cdf(alarms, n, rate) > 0.05 / sides:
        n += 1
    assert clean_runs_needed(rate, alarms=alarms, sides=sides) == n


@given(st.floats(0.002, 0.9), st.integers(0, 5), st.sampled_from([1, 2]))
def test_the_two_ways_are_inverses(rate, alarms, sides):
    n = clean_runs_needed(rate, alarms=alarms, sides=sides)
    assert rate_excluded(n, alarms, sides=sides) <= rate + 1e-12
    if n > alarms + 1:
        assert rate_excluded(n - 1, alarms, sides=sides) > rate - 1e-12


def test_if_every_clean_run_was_flagged_nothing_is_ruled_out():
    assert rate_excluded(5, 5) == 1.0


@pytest.mark.parametrize(("call", "message"), [
    (lambda: rate_excluded(0), "0 alarms in 0 clean runs"),
    (lambda: rate_excluded(3, 4), "4 alarms in 3 clean runs"),
    (lambda: rate_excluded(3, 0, 1.0), "level lies between 0 and 1"),
    (lambda: clean_runs_needed(0.0), "max_rate lies between 0 and 1"),
    (lambda: clean_runs_needed(0.1, alarms=-1), "alarms are at least 0"),
    (lambda: clean_runs_needed(0.1, sides=3), "sides is 1 or 2")])
def test_impossible_questions_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
