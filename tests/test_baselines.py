"""The rivals of RUPA by hand, their direction, and what a log cannot give them."""

import math
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tjlib.trace import Call, InputError, Observation, Step, Trajectory
from tjlib.uncertainty import baselines, controls, tracer, uprop
from tjlib.uncertainty.evidence import Drawn, Evidence
from tjlib.uncertainty.methods import METHODS, chosen, score
from tjlib.uncertainty.rupa import rupa, rupa_structural
from tjlib.uncertainty.signals import fill
from tjlib.uncertainty.similarity import Jaccard, Thresholds
from tjlib.uncertainty.text import tokens


def run(*steps, goal="refund order", name="t-1"):
    return Trajectory(name, goal, steps, "")


def said(*words, logprobs=None):
    return [Step(word, logprobs=None if logprobs is None else logprobs[i])
            for i, word in enumerate(words)]


def said_by(text):
    return Observation(True, {"text": text})


SURE = run(*said("aaa", "bbb", logprobs=[(-1.0, -3.0), (-5.0,)]))
BLIND = run(*said("aaa", "bbb"))
NEED_LOGPROBS = ["rupa", "pe", "sp_sum", "sp_mean", "saup_d", "saup_d0", "saup_rms",
                 "uprop_single", "flat_u"]


class Letters:
    """A dense similarity: the cosine of letter counts."""

    name, thresholds = "letters", Thresholds(0.9, 0.6, 0.75)

    def keys(self, texts):
        counts = [np.array([text.count(c) for c in "abcdefghij"], float) for text in texts]
        return [v / (np.linalg.norm(v) or 1.0) for v in counts]

    def alike(self, one, other):
        return max(0.0, float(one @ other))

    coverage = alike

    def distance(self, one, other):
        return 1.0 - float(one @ other)


# --- entropy, sequence probability, stated confidence ----------------------------------------

def test_entropy_pools_tokens_where_sequence_probability_weighs_steps():
    e = Evidence(SURE)
    assert baselines.pe(e).value == 9 / 3
    assert baselines.sp_sum(e).value == 2 + 5
    assert baselines.sp_mean(e).value == 3.5


def test_a_step_without_log_probabilities_adds_no_token_to_the_pool():
    e = Evidence(run(*SURE.steps, Step("ccc")))
    assert baselines.pe(e).value == 3
    assert baselines.sp_sum(e).value == 2 + 5 + 3.5  # the median of the earlier steps
    assert e.local.n_imputed == 1


def test_means_from_elsewhere_are_pooled_by_the_tokens_given_with_them():
    e = Evidence(BLIND, fill([1.0, 4.0], "surrogate"), tokens=[3, 1])
    assert baselines.pe(e).value == 7 / 4
    alone = baselines.pe(Evidence(BLIND, fill([1.0, 4.0], "surrogate")))
    assert alone.value is None and "number of tokens" in alone.why


@pytest.mark.parametrize("name", NEED_LOGPROBS)
def test_without_log_probabilities_there_is_no_score_but_a_reason(name):
    assert METHODS[name](Evidence(BLIND)) == (
        None, "not computable: the log has no token log-probabilities")
    stated = Evidence(BLIND, fill([0.2, 0.4], "verbal"))
    assert METHODS[name](stated).value is None


@pytest.mark.parametrize(("reply", "value"), [
    ("0.8", 0.8), ("80%", 0.8), ("I am 95 % sure", 0.95), ("Confidence: 1", 1.0), ("7", 1.0),
    (".5", 0.5), ("0.5%", 0.5), ("none", None), ("", None)])
def test_a_stated_confidence_is_the_first_number(reply, value):
    assert baselines.stated(reply) == value


def test_stated_confidence_is_turned_round_and_unparsed_replies_are_left_out():
    assert baselines.verbalized(Evidence(BLIND, confidence=[0.9, None])).value == pytest.approx(0.1)
    silent = baselines.verbalized(Evidence(BLIND, confidence=[None, None]))
    assert silent == baselines.verbalized(Evidence(BLIND))
    assert silent == (None, "not computable: no step states a confidence")


# --- SAUP ------------------------------------------------------------------------------------

def test_saup_by_hand():
    steps = (Step("refund order", logprobs=(-2.0,)),
             Step("escalate case", (Call("", {}),), (said_by("case closed"),), logprobs=(-5.0,)))
    e = Evidence(run(*steps))
    drift = 1 - 2 / 5  # the goal's two words among the five said and seen
    gap = 1 - 1 / 3
    assert baselines.saup_rms(e).value == pytest.approx(math.sqrt((4 + 25) / 2))
    assert baselines.saup_d0(e).value == pytest.approx(math.sqrt(25 * (drift + gap) ** 2 / 2))
    assert baselines.saup_d(e).value == pytest.approx(
        math.sqrt((4 + 25 * (1 + drift + gap) ** 2) / 2))


def test_saup_adds_message_and_calls_where_they_are_told_apart():
    e = Evidence(SURE, parts=[(1.0, 2.0), (3.0, None)])
    assert baselines.saup_rms(e).value == 3.0


@given(st.lists(st.text("ab ", max_size=6), min_size=1, max_size=5))
def test_the_words_so_far_are_those_of_the_whole_text_so_far(texts):
    whole = [tokens(" ".join(texts[:i + 1])) for i in range(len(texts))]
    assert list(accumulate(map(tokens, texts), baselines._joined)) == whole


def test_drift_in_vectors_is_from_the_direction_of_all_so_far():
    e = Evidence(run(*said("a", "b", logprobs=[(-1.0,), (-1.0,)]), goal="a"), similarity=Letters())
    assert baselines.saup_d0(e).value == pytest.approx((1 - math.sqrt(0.5)) / math.sqrt(2))


# --- TRACER ----------------------------------------------------------------------------------

def test_tracer_by_hand():
    look = Call("look", {"id": 1})
    steps = (
        Step("order status", (look,), (said_by("order shipped"),), logprobs=(-0.04, -0.3)),
        Step("order delayed", (look,), (), "refund money", logprobs=(-0.01,)),
        Step("", user="refund order", logprobs=(-2.0,)),
    )
    # Call: {look, id}; result: {order, shipped}: a gap of 1. Second call: the same again.
    # Replies: {refund, money} shares nothing with {order, delayed}, {refund, order} one of three.
    assert tracer.tracer_risks(Evidence(run(*steps))) == pytest.approx([1, 1, 1, 2, 2 / 3])
    quiet = (steps[0].__class__("order status", logprobs=(-0.04, -0.3)), *said("order delayed"))
    assert tracer.tracer_risks(Evidence(run(*quiet))) == pytest.approx([0.3, 1 / 3])


def test_sure_tokens_stop_words_punctuation_and_numbers_say_nothing():
    assert tracer.content_nll(["the", "."], [-3.0, -4.0]) is None
    e = Evidence(run(*said("aaa", "bbb", logprobs=[(-9.0,), (-0.01,)])), content=[None, 0.7])
    assert tracer.tracer_risks(e) == [1e-4, 0.7]


def test_repetition_of_a_text_counts_three_messages_back_and_of_a_call_five_turns():
    far = run(*said("alpha", "beta", "gamma", "delta", "alpha"))
    near = run(*said("alpha", "beta", "gamma", "alpha"))
    assert tracer.tracer(Evidence(far)).value == 1e-4
    assert tracer.tracer(Evidence(near)).value == 1
    for between, again in ((4, 1.0), (5, 1e-4)):
        calls = [Step("", (Call("t", {"k": "x"}),))] + [
            Step("", (Call("t", {"k": f"y{i}"}),)) for i in range(between)]
        steps = [*calls, Step("talk"), calls[0]]  # a message without a call is no turn
        assert tracer.tracer_risks(Evidence(run(*steps)))[-1] == again


def test_with_an_embedder_repetition_is_cosine_times_overlap():
    e = Evidence(run(*said("ab cd", "ab ef")), similarity=Letters())
    assert tracer.tracer_risks(e)[1] == pytest.approx(1 / 3 * 0.5)


messages = st.lists(st.floats(0.1, 5), min_size=1, max_size=45)


@given(messages)
def test_below_twenty_messages_tracer_is_the_largest_risk(surprises):
    names = [f"w{i}x" for i in range(len(surprises))]
    e = Evidence(run(*said(*names, logprobs=[(-s,) for s in surprises])))
    risks = sorted(tracer.tracer_risks(e), reverse=True)
    tail = risks[:max(1, len(surprises) // 10)]
    assert risks == pytest.approx(sorted(surprises, reverse=True))
    assert tracer.tracer(e).value == pytest.approx(0.9 * np.mean(tail) + 0.1 * risks[0])
    if len(surprises) < 20:
        assert tracer.tracer(e).value == pytest.approx(max(surprises))


# --- UProp -----------------------------------------------------------------------------------

def drawn(*nlls, text="aaa"):
    return [Drawn(text, nll) for nll in nlls]


def test_uprop_by_hand():
    agree = Evidence(run(*said("aaa", "bbb")), drawn=[drawn(1.0, 1.0), drawn(2.0)])
    assert uprop.uprop_parts(agree) == [(1.0, 0.0), (2.0, 0.0)]
    assert uprop.uprop(agree).value == 1.5
    differ = Evidence(run(*said("ccc", "bbb")), drawn=[drawn(1.0, 1.0), drawn(2.0)])
    assert uprop.uprop_parts(differ) == [(1.0, 0.0), (2.0, pytest.approx(0.5))]
    assert uprop.uprop(differ).value == pytest.approx((1 + 2.5) / (1 + 1.25))


@given(st.lists(st.tuples(st.text("abc", min_size=1, max_size=4),
                          st.lists(st.tuples(st.text("abc", max_size=4), st.floats(0, 5)),
                                   min_size=1, max_size=3)), min_size=1, max_size=8))
def test_uprop_is_a_weighted_mean_of_intrinsic_uncertainty(rows):
    e = Evidence(run(*said(*(text for text, _ in rows))),
                 drawn=[[Drawn(*d) for d in draws] for _, draws in rows])
    parts = uprop.uprop_parts(e)
    own = [iu for iu, _ in parts]
    weights = [1 + min(10, eu / iu) for iu, eu in parts]
    value = uprop.uprop(e).value
    assert value == pytest.approx(np.average(own, weights=weights))
    assert min(own) - 1e-9 <= value <= max(own) + 1e-9


def test_one_logged_run_does_not_make_uprop():
    for e in (Evidence(SURE), Evidence(SURE, drawn=[drawn(1.0), []])):
        assert uprop.uprop(e) == (
            None, "not computable: no other decisions were drawn at each step")


def test_what_goes_under_its_name_elsewhere_leaves_the_range_of_uncertainty_and_grows():
    def of(*words):
        return uprop.uprop_single(Evidence(run(*said(*words, logprobs=[(-1.0,)] * len(words)))))

    assert of("aaa", "bbb", "ccc").value == pytest.approx(3.5 / 3.5)
    assert of("aaa", "bbb", "ccc", "ddd").value == pytest.approx(5.5 / 5)  # every step is at 1
    assert of(*[c * 3 for c in "abcdefghij"]).value > 1.5


def test_what_goes_under_uprops_name_looks_back_at_eight_actions():
    def of(*words):
        return uprop.uprop_single(Evidence(run(*said(*words, logprobs=[(-1.0,)] * len(words)))))

    # The first action differs from all later ones; the ninth after it does not see it.
    alike = ["aaa"] * 8
    near, far = of("zzz", *alike[:7], "aaa", "q"), of("zzz", *alike, "aaa", "q")
    carried = [-math.log((k - 1 + math.exp(-0.5)) / k) for k in range(1, 9)]
    sums = np.cumsum([0, 0, *carried])
    assert near.value == pytest.approx((len(sums) + sums.sum()) / (len(sums) + sum(carried)))
    sums = np.append(sums, sums[-1])  # one more step, which sees no difference
    assert far.value == pytest.approx((len(sums) + sums.sum()) / (len(sums) + sum(carried)))


# --- controls --------------------------------------------------------------------------------

ODD = run(
    Step("refund order", (Call("get", {"k": "v"}),), (Observation(False, {}, "boom"),)),
    Step("", (Call("get", {"k": "v"}),), (said_by("found it"),)),
    Step("parcel lost", (Call("get", {"k": "w"}),) * 2, (said_by("found it"), said_by(""))),
    Step("order refund"),
)


def test_controls_by_hand():
    e = Evidence(ODD)
    assert controls.n_steps(e).value == 4 == -controls.fewer_steps(e).value
    assert controls.n_calls(e).value == 4 == -controls.fewer_calls(e).value
    assert controls.n_words(e).value == 6 + 4 * 3 == -controls.fewer_words(e).value
    assert controls.failing_share(e).value == 2 / 4  # an error, an empty answer
    assert controls.failing_share(Evidence(run(ODD.steps[0], ODD.steps[2]))).value == 2 / 3
    assert controls.failing_share(Evidence(BLIND)).value == 0  # nothing observed
    assert controls.repetition(e).value == 1  # the same call twice
    assert controls.repetition(Evidence(BLIND)).value == 0


def test_flat_is_goal_distance_plus_what_the_environment_said():
    e = Evidence(ODD)
    # The goal's words are all in steps 0 and 3, none in 1 and 2; answers are 1, 0, 0, 1 and the
    # second differs from the failed one of the same call.
    env = e.graph.uncertainty[e.graph.kind == 2]
    assert controls.flat(e).value == pytest.approx((0 + 1 + 1 + 0) / 4 + env.mean())
    talk = Evidence(run(*said("refund", "parcel")))
    assert controls.flat(talk).value == pytest.approx((0.5 + 1) / 2)
    loud = Evidence(run(*said("refund", "parcel", logprobs=[(-2.0,), (-1.0,)])))
    assert controls.flat_u(loud).value == pytest.approx(0.75 + 1.5)


def test_a_random_score_hangs_on_name_and_seed_only():
    one, again = (controls.random(Evidence(t)).value for t in (ODD, BLIND))
    assert one == again == 0.927124031423413
    assert controls.random(Evidence(ODD, seed=1)).value != one
    assert controls.random(Evidence(run(name="t-2"))).value != one


# --- RUPA ------------------------------------------------------------------------------------

def test_rupa_of_two_steps_by_hand():
    e = Evidence(run(*said("refund", "parcel", logprobs=[(-0.4,), (-0.2,)])))
    # Q is .5 and 1. Step 1 sees the goal only: G = Q, no momentum. Step 2: the step before
    # (sequential, weight .35) and the goal (latest, .75 * .8), momentum over goal and step 1.
    first = 0.4 + 0.7 * 0.5
    g = (0.35 * first + 0.75 * 0.8 * 0) / (0.35 + 0.75 * 0.8) + 1
    m = 0.75 * first / (0.75 + 0.75**2)
    second = 0.2 + 0.7 * g + 0.3 * m
    assert rupa(e).value == pytest.approx((first + second) / 2, abs=1e-6)


def test_rupa_without_log_probabilities_goes_by_another_name():
    loud = Evidence(run(*said("refund", "parcel", logprobs=[(-0.4,), (-0.2,)])))
    quiet = Evidence(run(*said("refund", "parcel")))
    assert rupa(quiet).value is None
    assert rupa_structural(quiet) == rupa_structural(loud)
    assert rupa_structural(loud).value < rupa(loud).value


# --- all methods -----------------------------------------------------------------------------

@pytest.mark.parametrize("name", [*NEED_LOGPROBS, "tracer"])
def test_a_less_probable_run_is_more_likely_to_fail(name):
    def of(factor):
        lps = [(-0.1 * factor, -0.3 * factor), (-0.2 * factor,), (-0.4 * factor,)]
        return METHODS[name](Evidence(run(*said("aaa", "bbb", "ccc", logprobs=lps)))).value

    assert of(1) < of(2) < of(3)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_says_what_it_is(name):
    assert METHODS[name].__doc__.strip()


texts = st.text(st.characters(codec="utf-8"), max_size=12)
steps = st.builds(
    Step, texts, st.lists(st.builds(Call, texts, st.dictionaries(texts, texts, max_size=2)),
                          max_size=2).map(tuple),
    st.lists(st.builds(Observation, st.booleans(), st.dictionaries(texts, texts, max_size=2),
                       st.none() | texts), max_size=3).map(tuple),
    st.none() | texts,
    st.none() | st.lists(st.floats(-1e6, 0), max_size=3).map(tuple))


@given(st.lists(steps, max_size=6).map(tuple), texts)
def test_every_run_gets_a_finite_score_or_a_reason_from_every_method(taken, goal):
    found = score([Evidence(Trajectory("t", goal, taken, ""))])
    assert [row["method"] for row in found] == list(METHODS)
    for row in found:
        assert (row["value"] is None) == row["why"].startswith("not computable: ")
        assert row["value"] is None or math.isfinite(row["value"])


def test_a_run_without_steps_has_a_reason_in_every_row():
    assert {row["why"] for row in score([Evidence(run())])} == {
        "not computable: the run has no step"}


def test_a_row_says_what_its_uncertainty_was_read_off():
    row, = score([Evidence(run(*SURE.steps, Step("c")))], "pe")
    assert row == {"trajectory_id": "t-1", "method": "pe", "value": 3.0, "why": "",
                   "u_source": "logprob", "n_imputed": 1}


def test_an_unknown_method_is_refused_with_those_there_are():
    with pytest.raises(InputError, match=r"no method .rupee.; there are: .*tracer"):
        chosen("pe,rupee")
    with pytest.raises(InputError, match="no method"):
        chosen([])
    assert chosen() == tuple(METHODS)


def test_evidence_of_another_length_than_the_run_is_refused():
    with pytest.raises(ValueError, match="tokens has 1 items for 2 steps"):
        Evidence(BLIND, tokens=[3])


def test_the_default_similarity_is_the_overlap_of_words():
    assert Evidence(BLIND).similarity == Jaccard()
