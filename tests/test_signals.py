"""Local uncertainty by hand: of steps, from whatever the log holds, and of observations."""

from __future__ import annotations

import math
import statistics

import msgspec
import pytest
from drawn import runs
from hypothesis import given
from hypothesis import strategies as st

from tjlib.trace import Call, InputError, Observation, Step, Trajectory
from tjlib.uncertainty.evidence import Evidence
from tjlib.uncertainty.methods import score
from tjlib.uncertainty.signals import (
    SOURCES,
    entropy_top_k,
    environment,
    fill,
    local,
    mean_nll,
    spread,
)
from tjlib.uncertainty.text import (
    action_text,
    failure_cue,
    has_content,
    observation_text,
    parallel_cue,
    progression_cue,
    signature,
    tokens,
)


def run(*logprobs):
    return Trajectory("t-1", "", tuple(Step("", logprobs=given) for given in logprobs), "")


def test_uncertainty_of_a_step_is_the_mean_over_its_tokens():
    found = local(run((-1.0, -2.0), (-0.5,)))
    assert (found.u, found.source, found.n_imputed) == ((1.5, 0.5), "logprob", 0)


def test_a_step_without_log_probabilities_gets_the_median_of_the_earlier_ones_and_is_counted():
    found = local(run((-1.0,), (-3.0,), None, (-9.0,), (), None))
    assert (found.u, found.n_imputed) == ((1.0, 3.0, 2.0, 9.0, 3.0, 3.0), 3)
    # Nothing came before: the training set's, and without one 0.
    assert local(run(None, (-1.0,)), median=0.4).u == (0.4, 1.0)
    assert local(run(None, (-1.0,))).u == (0.0, 1.0)


def test_without_any_signal_the_source_says_constant():
    assert local(run(None, None), median=0.3) == local(run(None, None), "constant", median=0.3)
    assert local(run(None)).source == "constant" and local(run()).u == ()


@given(st.lists(st.none() | st.floats(0, 9), max_size=30))
def test_imputing_looks_at_earlier_steps_only(raw):
    found = fill(raw, "surrogate", 0.7)
    for index, value in enumerate(raw):
        seen = [x for x in raw[:index] if x is not None]
        expected = value if value is not None else statistics.median(seen) if seen else 0.7
        assert found.u[index] == pytest.approx(expected)
    assert found.n_imputed == raw.count(None)


@given(runs)
def test_local_uncertainty_of_a_prefix_is_the_prefix(trajectory):
    shorter = msgspec.structs.replace(trajectory, steps=trajectory.steps[:-1])
    assert local(shorter).u == local(trajectory).u[:len(shorter.steps)]


def test_entropy_from_the_best_tokens_is_a_lower_bound():
    uniform = [[math.log(1 / 8)] * 8]
    assert entropy_top_k(uniform) == pytest.approx(math.log(8))
    bounds = [entropy_top_k([row[:k] for row in uniform]) for k in range(1, 9)]
    assert bounds == sorted(bounds) and bounds[0] < math.log(8)
    assert entropy_top_k([[0.0]]) == 0.0 and entropy_top_k([]) is None


@pytest.mark.parametrize("least", [-1e308, -3.4028235e38, -math.inf])
def test_the_least_number_a_server_has_is_a_token_of_no_probability(least):
    steps = Step("a", logprobs=(-1.0,)), Step("b", logprobs=(least, least))
    run = Trajectory("t", "", steps, "")
    assert (local(run).u, local(run).n_imputed) == ((1.0, 1.0), 1)
    values = [row["value"] for row in score([Evidence(run)]) if row["value"] is not None]
    assert len(values) > 10 and all(map(math.isfinite, values))


@given(st.lists(st.none() | st.floats(0, 9), min_size=1), st.sampled_from(SOURCES))
def test_a_run_without_one_usable_signal_has_none(raw, source):
    filled = fill(raw, source, 0.5)
    assert filled.source == (source if any(v is not None for v in raw) else "constant")
    unusable = Step("a", logprobs=(-math.inf,)), Step("b", logprobs=())
    row, = score([Evidence(Trajectory("t", "", unusable, ""))], "pe")
    assert (row["value"], row["u_source"], row["n_imputed"]) == (None, "constant", 2)


def test_a_token_of_no_probability_is_a_missing_signal():
    assert mean_nll((-1.0, -math.inf)) is None and mean_nll((0.0,)) == 0.0


def test_samples_that_agree_are_certain_and_one_sample_says_nothing():
    assert spread(["pay:{}"] * 3) == 0.0
    assert spread(["pay the order", "ask a colleague"]) == 1.0
    assert spread(["pay"]) is None
    assert spread(["42", "42"]) == 0.0  # equal, though no token is left of them
    found = local(run(None, None), "samples", [["refund", "refund"], None])
    assert (found.u, found.source, found.n_imputed) == ((0.0, 0.0), "samples", 1)


def test_stated_confidence_is_turned_round_and_a_surrogate_is_taken_as_it_is():
    assert local(run(None, None), "verbal", [0.9, 0.25]).u == pytest.approx((0.1, 0.75))
    found = local(run(None, None), "surrogate", [2.5, 0])
    assert (found.u, found.source) == ((2.5, 0.0), "surrogate")
    assert local(run(None), "topk", [[[math.log(0.5)]]]).u == pytest.approx((math.log(2),))


@pytest.mark.parametrize(("source", "given", "message"), [
    ("guess", None, f"give auto, {', '.join(SOURCES)}"), ("verbal", None, "got nothing"),
    ("surrogate", [1.0, 2.0], "got 2 items"), ("verbal", [1.5], "out of range"),
    ("surrogate", [float("nan")], "out of range"), ("surrogate", [-1], "out of range"),
])
def test_a_signal_that_is_none_is_refused_in_one_line(source, given, message):
    with pytest.raises(InputError, match=message) as caught:
        local(run(None), source, given)
    assert "\n" not in str(caught.value)


def said(text):
    return environment(Observation(True, {"content": text}), text)


@pytest.mark.parametrize(("text", "level"), [
    ("", 1.0), (" \n", 1.0), ("42", 0.8), ("it is 3.50", 0.8), ("order shipped", 0.0),
    ("Error: no such order", 1.0), ("TIMEOUT after 3 s", 1.0), ("the request timed out", 1.0),
    ("Traceback (most recent call last)", 1.0), ("2 tests failed", 1.0), ("Failures: x", 1.0),
    ("0 failed, 12 passed", 0.0), ("10 failed", 1.0), ("finished without errors", 0.0),
    ("no errors, zero failures", 0.0), ("no error in the log but one exception", 1.0),
    ('{"status": "sent", "error": null}', 0.0), ('{"error": "not found"}', 1.0),
    ("errors: [] warnings: none", 0.0), ("terror in the errorless mirror", 0.0),
    ("error_code of the last call", 0.0),
])
def test_levels_of_an_observation(text, level):
    assert said(text)[0] == level
    assert (said(text)[1] == "") == (level == 0)


def test_a_flag_or_an_exit_code_outranks_words():
    assert environment(Observation(False, {}, "gone"), "gone") == (1.0, "marked as an error")
    bad = Observation(True, {"exit_code": 2, "out": "fine"})
    assert environment(bad, observation_text(bad)) == (1.0, "exit code 2")
    good = Observation(True, {"returncode": 0, "out": "1 error"})
    assert environment(good, observation_text(good)) == (0.0, "")
    assert environment(Observation(True, {"exit_code": None}), "")[0] == 1.0


def test_a_tool_that_answers_nothing_or_a_number_is_an_alarm_with_its_reason():
    # Of such tools (think, calculate) the alarm is false, which the reason lets a reader see.
    assert [environment(Observation(True, {"content": said}), said) for said in ("", "42")] == [
        (1.0, "empty"), (0.8, "only numbers or stop words")]


def test_a_different_answer_to_the_same_call_is_a_conflict():
    seen = Observation(True, {"content": "two seats left"})
    assert environment(seen, "two seats left", ["sold out since June"])[0] == 0.5
    assert environment(seen, "two seats left", ["three seats left"])[0] == 0.0
    assert environment(seen, "two seats left", ["two seats left"])[0] == 0.0


def test_equal_calls_have_equal_signatures_and_others_have_not():
    assert signature(Call("f", {"a": 1, "b": {"d": 2, "c": 3}})) == signature(
        Call("f", {"b": '{"c":3, "d":2}', "a": 1}))
    assert len({signature(Call(tool, args)) for tool in "fg" for args in (
        {}, {"a": 1}, {"a": "1"}, {"a": "{1"}, {"a": [1]}, {"b": 1})}) == 12


def test_words_are_lower_case_without_stop_words_and_numbers():
    assert tokens("The ORDER no. 42: it's at order-desk B2!") == {"order", "no", "desk", "b2"}
    assert tokens("漢字 é") == {"漢字", "é"} and tokens("of the 12") == frozenset()


@given(st.text(max_size=40))
def test_content_is_there_exactly_if_a_word_is_kept(text):
    assert has_content(text) == bool(tokens(text))


@pytest.mark.parametrize(("text", "cue"), [
    ("Context of the contest", None), ("NEXT, pay", "next"), ("I verified it", "verified"),
    ("testing", "testing"), ("continually", None), ("Therefore.", "therefore"),
])
def test_progression_cues_are_whole_words(text, cue):
    assert progression_cue(text) == cue


@pytest.mark.parametrize(("text", "cue"), [
    ("in this country", None), ("I tried it", "tried"), ("Another one", "another"),
    ("indifferent", None), ("Alternatively, wait", "alternatively"), ("the fallback", "fallback"),
])
def test_parallel_cues_are_whole_words(text, cue):
    assert parallel_cue(text) == cue


def test_the_text_of_a_step_leaves_its_observation_out():
    step = Step("Look.", (Call("get"), Call("pay")), (Observation(True, {"a": "secret"}),), "user")
    assert action_text(step) == "Look.\nget:{}\npay:{}"
    assert failure_cue(action_text(Step("ok", (Call("log", {"x": "fine"}),)))) is None


@pytest.mark.parametrize(("observation", "text"), [
    (Observation(True, {"content": "  hello "}), "  hello "), (Observation(True, {}), ""),
    (Observation(True, {"content": "{}"}), ""), (Observation(True, {"a": None}), ""),
    (Observation(True, {"b": 1, "a": "x"}), '{"a":"x","b":1}'),
    (Observation(False, {"a": 1}, "gone"), 'gone\n{"a":1}'), (Observation(False, {}, None), ""),
    (Observation(True, {"n": 0}), '{"n":0}'),
])
def test_the_text_of_an_observation(observation, text):
    assert observation_text(observation) == text
