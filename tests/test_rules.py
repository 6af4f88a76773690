"""The eight rules, one by one, together, and against the release."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tjlib import store
from tjlib.desk import oracle
from tjlib.desk.rules import applies, check, judge
from tjlib.desk.testbed import judged_set, stream
from tjlib.desk.world import TOOLS, instances, replay
from tjlib.trace import FAULT_TYPES, Call, Observation, Step, Trajectory, to_json

CASES = list(itertools.islice(instances(seed=7), 60))
GOAL = "Customer ana.b7@example.com has asked for a refund on order ORD-5. Be kind."


def act(tool, *, seen=None, ok=True, **args):
    """One step with one call and its observation."""
    observation = Observation(ok, seen or {}, None if ok else "it failed")
    return Step("", (Call(tool, args),), (observation,))


def run(*steps, goal=GOAL):
    return Trajectory("t-1", goal, tuple(steps), "")


def broken(*steps, goal=GOAL):
    return [(v.step, v.rule) for v in check(run(*steps, goal=goal))]


CUSTOMER = act("get_customer", email="ana.b7@example.com", seen={"customer_id": "CUS-1"})
LOOKUP = act("lookup_order", order_id="ORD-5", seen={
    "order_id": "ORD-5", "customer_id": "CUS-1", "sku": "SKU-9", "total_eur": 80.0,
    "days_since_purchase": 3, "status": "delivered",
})
POLICY = act("get_policy", sku="SKU-9", seen={"sku": "SKU-9", "refundable": True})
PASSED = act("check_eligibility", order_id="ORD-5", seen={"eligible": True, "max_refund_eur": 76.0})
FAILED = act("check_eligibility", order_id="ORD-5", seen={"eligible": False, "max_refund_eur": 0.0})
REPLY = act("reply", text="Done.", seen={"sent": True})
ESCALATE = act("escalate", reason="not due", seen={"ticket": "ESC-OPEN"})


def refund(amount, order_id="ORD-5", **kwargs):
    seen = {"refunded_eur": amount, "status": "refunded"}
    return act("issue_refund", order_id=order_id, amount_eur=amount, seen=seen, **kwargs)


def test_a_right_run_breaks_nothing():
    assert broken(CUSTOMER, LOOKUP, POLICY, PASSED, refund(76.0), REPLY) == []
    assert broken(CUSTOMER, LOOKUP, POLICY, FAILED, ESCALATE, REPLY) == []


def test_rule_1_an_argument_from_nowhere():
    invented = act("get_policy", sku="SKU-10", ok=False)
    assert broken(CUSTOMER, LOOKUP, invented, ESCALATE, REPLY) == [(2, 1)]
    assert check(run(LOOKUP, invented, ESCALATE, REPLY))[0].failure_type == "hallucinated_argument"


def test_rule_1_the_goal_grounds_its_email_and_order_and_no_other_word():
    assert broken(act("get_customer", email="kind"), ESCALATE, REPLY) == [(0, 1)]
    assert broken(act("get_customer", email="Ana.b7@example.com"), ESCALATE, REPLY) == [(0, 1)]
    assert broken(LOOKUP, ESCALATE, REPLY, goal="Refund ORD-55 please") == [(0, 1)]


def test_rule_1_a_failed_call_grounds_nothing():
    failed = act("lookup_order", order_id="ORD-5", ok=False, seen={"sku": "SKU-9"})
    assert broken(failed, POLICY, ESCALATE, REPLY) == [(1, 1)]


def test_rule_1_prose_is_not_traced():
    assert broken(act("escalate", reason="made up"), act("reply", text="made up")) == []


@pytest.mark.parametrize(
    ("value", "grounded"),
    [(80, True), (80.0, True), (80.004, True), (80.006, False), ("80.0", False), (True, False),
     (None, False), ([80.0], False), ({"eur": 80.0}, False), (math.nan, False), (math.inf, False),
     (10**400, False)],
)
def test_rule_1_numbers_match_to_the_cent_and_as_numbers_only(value, grounded):
    rules = [rule for _, rule in broken(LOOKUP, refund(value), REPLY)]
    assert (1 not in rules) == grounded


def test_rule_1_true_is_not_one_and_one_is_not_true():
    one, true = ({"x": 1}, {"x": True})
    assert 1 in [rule for _, rule in broken(act("a", seen=true), refund(1), REPLY)]
    assert 1 in [rule for _, rule in broken(act("a", seen=one), refund(True), REPLY)]
    assert 1 not in [rule for _, rule in broken(act("a", seen=true), refund(True), REPLY)]


def test_rule_1_texts_match_exactly():
    for sku in ("sku-9", "SKU-9 ", "SKU", ""):
        assert (1, 1) in broken(LOOKUP, act("get_policy", sku=sku), ESCALATE, REPLY)


def test_rule_1_scalars_deep_in_an_observation_ground():
    deep = {"sku": "SKU-77"}
    for _ in range(5_000):
        deep = {"in": [deep]}
    assert broken(act("a", seen=deep), act("get_policy", sku="SKU-77"), ESCALATE, REPLY) == []


def test_rule_2_eligibility_of_an_order_never_looked_up():
    assert broken(CUSTOMER, PASSED, refund(76.0), REPLY) == [(1, 2)]
    failed = act("lookup_order", order_id="ORD-5", ok=False)
    assert broken(failed, FAILED, ESCALATE, REPLY) == [(1, 2)]
    found = check(run(FAILED, ESCALATE, REPLY))
    assert [v.failure_type for v in found] == ["skipped_precondition"]


def test_rule_3_a_refund_without_a_passed_check():
    assert broken(CUSTOMER, LOOKUP, refund(80.0), REPLY) == [(2, 3)]
    assert broken(CUSTOMER, LOOKUP, FAILED, refund(80.0), REPLY) == [(3, 3)]
    assert check(run(LOOKUP, refund(80.0), REPLY))[0].failure_type == "skipped_precondition"


def test_rule_3_the_latest_check_is_the_one_on_record():
    assert broken(LOOKUP, FAILED, PASSED, refund(76.0), REPLY) == []
    assert broken(LOOKUP, PASSED, FAILED, refund(76.0), REPLY) == [(3, 3)]


def test_rule_3_a_check_in_the_same_message_was_not_read_yet():
    both = Step("", PASSED.calls + refund(76.0).calls, PASSED.observations)
    assert (1, 3) in broken(LOOKUP, both, REPLY)


@pytest.mark.parametrize(
    ("amount", "differs"),
    [(76, False), (76.0, False), (76.009, False), (76.01, True), (75.99, True), (80.0, True)],
)
def test_rule_4_from_one_cent_on_the_amount_differs(amount, differs):
    rules = [rule for _, rule in broken(LOOKUP, PASSED, refund(amount), REPLY)]
    assert (4 in rules) == differs


def test_rule_4_a_cent_is_a_cent_in_floats_too():
    for cents in range(2_400, 48_000, 7):
        passed = act("check_eligibility", order_id="ORD-5",
                     seen={"eligible": True, "max_refund_eur": cents / 100})
        for other in (cents - 1, cents + 1):
            assert (2, 4) in broken(LOOKUP, passed, refund(other / 100), REPLY)


def test_rule_4_names_the_two_amounts():
    (found,) = check(run(LOOKUP, PASSED, refund(80.0), REPLY))
    assert (found.failure_type, found.step) == ("ignored_observation", 2)
    assert "80.0" in found.message and "76.0" in found.message


def test_rule_5_a_refund_to_somebody_elses_order():
    other = act("get_customer", email="ana.b7@example.com", seen={"customer_id": "CUS-2"})
    assert broken(other, LOOKUP, PASSED, refund(76.0), REPLY) == [(3, 5)]
    assert broken(LOOKUP, PASSED, refund(76.0), REPLY) == []  # nobody verified: no rule for it


def test_rule_6_a_refund_on_an_order_refunded_before():
    gone = act("lookup_order", order_id="ORD-5", seen={"status": "refunded"})
    assert (2, 6) in broken(gone, PASSED, refund(76.0), REPLY)
    assert broken(LOOKUP, PASSED, refund(76.0), refund(76.0), REPLY) == [(3, 6)]
    assert broken(LOOKUP, PASSED, refund(76.0, ok=False), refund(76.0), REPLY) == []


def test_rule_7_one_reply_at_the_end():
    assert broken(LOOKUP, ESCALATE) == [(1, 7)]
    assert broken(ESCALATE, REPLY, REPLY) == [(2, 7)]
    assert broken(REPLY, ESCALATE) == [(0, 7)]


def test_rule_8_some_terminal_action():
    assert broken(CUSTOMER, LOOKUP, REPLY) == [(2, 8)]


def test_an_agent_that_does_nothing_or_only_talks_is_flagged():
    assert broken() == [(None, 7), (None, 8)]
    assert judge(run()).failure_step is None
    assert broken(REPLY) == [(0, 8)]
    assert broken(Step("Hm."), Step("Hm.")) == [(1, 7), (1, 8)]


def test_the_rules_say_nothing_of_a_log_of_other_tools():
    other = Step("", (Call("search", {"order_id": "ORD-6"}),), (Observation(True),))
    for steps, goal in (((other,), GOAL), ((other, other), "Book a flight."),
                        ((), "Book a flight."), ((Step("Hm."),), "")):
        trajectory = Trajectory("t-1", goal, steps, "Done.")
        verdict = judge(trajectory)
        assert not applies(trajectory)
        assert (verdict.status, verdict.faulty, verdict.confidence) == (
            "not_applicable", None, None)
        assert verdict.rationale == "none of the refund desk's tools was called"
    assert applies(run(other, LOOKUP)) and judge(run(other, LOOKUP)).failure_type


def test_violations_come_by_step_then_by_rule():
    found = broken(refund(99.0), act("check_eligibility", order_id="ORD-6"), REPLY, REPLY)
    assert found == [(0, 1), (0, 3), (1, 1), (1, 2), (3, 7)]


def test_independent_look_ups_may_be_swapped():
    assert broken(LOOKUP, CUSTOMER, POLICY, PASSED, refund(76.0), REPLY) == []
    both = Step("", LOOKUP.calls + CUSTOMER.calls, LOOKUP.observations + CUSTOMER.observations)
    assert broken(both, POLICY, PASSED, refund(76.0), REPLY) == []


def test_the_judge_reports_the_first_violation():
    verdict = judge(run(CUSTOMER, LOOKUP, refund(99.0)))
    assert (verdict.judge, verdict.faulty, verdict.confidence) == ("rules", True, 0.95)
    assert (verdict.failure_step, verdict.failure_type) == (2, "hallucinated_argument")
    clean = judge(run(LOOKUP, PASSED, refund(76.0), REPLY))
    assert (clean.faulty, clean.confidence, clean.failure_type) == (False, 0.60, None)
    assert "wrong_tool" in clean.rationale and "unsupported_claim" in clean.rationale


COVERED = {
    "hallucinated_argument": [1], "skipped_precondition": [3], "ignored_observation": [4],
    # One fault, two rules of one type: a run that stops early has neither action nor reply.
    "premature_stop": [7, 8],
    "wrong_tool": [], "unsupported_claim": [],
}


@pytest.mark.parametrize("fault_type", FAULT_TYPES)
def test_coverage_is_one_for_four_types_and_zero_for_two(fault_type):
    flagged, typed, n = 0, 0, 0
    for trajectory, label in itertools.islice(stream(seed=7), 5_000):
        if label.failure_type == fault_type:
            n += 1
            flagged += judge(trajectory).faulty
            typed += judge(trajectory).failure_type == fault_type
            found = [(v.step, v.rule) for v in check(trajectory)]
            assert found == [(label.failure_step, rule) for rule in COVERED[fault_type]]
    assert n > 100
    assert (flagged / n, typed / n) == ((1.0, 1.0) if COVERED[fault_type] else (0.0, 0.0))


def test_the_judge_flags_no_clean_run_of_the_judged_set():
    for trajectory, label in zip(*judged_set(seed=7), strict=True):
        verdict = judge(trajectory)
        assert verdict.trajectory_id == label.trajectory_id
        assert verdict.faulty == bool(label.faulty and COVERED[label.failure_type])


def test_the_released_rule_verdicts_come_out_on_all_400(shared):
    release = store.released(shared / "released")
    theirs = {v.trajectory_id: v for v in release.verdicts if v.judge == "programmatic"}
    assert len(release.trajectories) == len(theirs) == 400
    for trajectory in release.trajectories:
        ours, published = judge(trajectory), theirs[trajectory.trajectory_id]
        for field in ("faulty", "failure_step", "failure_type", "confidence"):
            assert getattr(ours, field) == getattr(published, field)


def test_the_organic_counts_come_out(shared):
    """Section 8: 13 of 60 flagged or wrong, 10 wrong, and every one flagged a premature stop."""
    trajectories, labels = store.released_agent(shared / "released")
    verdicts = [judge(trajectory) for trajectory in trajectories]
    wrong = [not label.outcome_correct for label in labels]
    assert len(trajectories) == 60
    assert sum(wrong) == 10
    assert sum(v.faulty or w for v, w in zip(verdicts, wrong, strict=True)) == 13
    assert Counter(v.failure_type for v in verdicts) == {None: 47, "premature_stop": 13}
    for label, verdict in zip(labels, verdicts, strict=True):
        for field in ("faulty", "failure_step", "failure_type"):
            assert getattr(verdict, field) == getattr(label, field)


# --- properties -----------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text()
    | st.sampled_from(["ORD-5", "SKU-9", "CUS-1", "refunded", 76.0, 80]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
FIELDS = st.sampled_from(
    ["email", "order_id", "sku", "amount_eur", "text", "status", "eligible", "max_refund_eur",
     "customer_id", "x"]
)
DICTS = st.dictionaries(FIELDS, JSON, max_size=4)
CALLS = st.builds(Call, st.sampled_from([*TOOLS, "search", ""]), DICTS)
OBSERVATIONS = st.builds(Observation, st.booleans(), DICTS)
STEPS = st.builds(
    Step, st.text(), st.lists(CALLS, max_size=3).map(tuple),
    st.lists(OBSERVATIONS, max_size=3).map(tuple),
)
TRAJECTORIES = st.builds(
    Trajectory, st.just("t-1"), st.text() | st.just(GOAL), st.lists(STEPS, max_size=6).map(tuple),
    st.text(),
)


@given(TRAJECTORIES)
@example(run(Step("", (Call("issue_refund", ["no", "dict"]),), (Observation(True, "no dict"),))))
@example(run(LOOKUP, PASSED, refund(76.0, order_id={}), REPLY))
def test_the_checker_is_total_and_its_verdict_is_a_record(trajectory):
    found = check(trajectory)
    keys = [(v.step or 0, v.rule) for v in found]
    assert keys == sorted(keys)
    for v in found:
        assert v.failure_type in FAULT_TYPES and v.rule in range(1, 9)
        assert v.step in range(len(trajectory.steps)) or not trajectory.steps
        assert "\n" not in v.message
    assert to_json(judge(trajectory))


def test_a_number_too_long_to_print_is_flagged_not_raised():
    (first, *_) = check(run(LOOKUP, PASSED, refund(10**5_000), REPLY))
    assert first.rule == 1 and "a huge integer" in first.message


def test_a_long_value_is_quoted_in_part():
    (first, *_) = check(run(act("get_policy", sku="x" * 10_000), ESCALATE, REPLY))
    assert len(first.message) < 200


@st.composite
def desk_runs(draw):
    """A run on a real desk by an agent that errs in every way the tools allow."""
    case = draw(st.sampled_from(CASES))
    due = replay(case, [Call("check_eligibility", {"order_id": case.order_id})])[0]
    amounts = [case.total_eur, due[0].observations[0].data["max_refund_eur"], 1, 999.0]
    ids = st.sampled_from([case.order_id, case.order_id, case.order_id, "ORD-0"])
    emails = st.sampled_from([case.customer.email, case.decoy.email])
    call = st.one_of(
        st.builds(lambda x: Call("get_customer", {"email": x}), emails),
        st.builds(lambda x: Call("lookup_order", {"order_id": x}), ids),
        st.builds(lambda x: Call("get_policy", {"sku": x}), st.sampled_from([case.sku, "SKU-0"])),
        st.builds(lambda x: Call("check_eligibility", {"order_id": x}), ids),
        st.builds(
            lambda x, y: Call("issue_refund", {"order_id": x, "amount_eur": y}),
            ids, st.sampled_from(amounts),
        ),
        st.just(Call("escalate", {"reason": "?"})),
        st.just(Call("reply", {"text": "!"})),
    )
    # Mostly the oracle's calls with a few slips, else runs would rarely get far.
    calls = oracle.calls(case)
    for slip in draw(st.lists(call, max_size=4)):
        calls.insert(draw(st.integers(0, len(calls))), slip)
    for _ in range(draw(st.integers(0, 2))):
        calls.pop(draw(st.integers(0, len(calls) - 1)))
    steps, _ = replay(case, calls)
    return case, Trajectory("t-1", case.goal, steps, "")


def by_quantifiers(case, steps):
    """Appendix B once more, each rule a sentence over all steps before, for the desk's runs."""
    flat = [(step.calls[0], step.observations[0]) for step in steps]
    found = set()
    for i, (call, _) in enumerate(flat):
        before = [(c, o) for c, o in flat[:i] if o.ok]
        known = [case.customer.email, case.order_id]
        known += [value for _, o in before for value in o.data.values()]
        mine = [(c, o) for c, o in before if c.args.get("order_id") == call.args.get("order_id")]
        looks = [o.data for c, o in mine if c.tool == "lookup_order"]
        checks = [o.data for c, o in mine if c.tool == "check_eligibility"]
        paid = [o for c, o in mine if c.tool == "issue_refund"]
        verified = [o.data["customer_id"] for c, o in before if c.tool == "get_customer"]
        traced = [v for k, v in call.args.items() if k not in ("reason", "text")]
        if any(not any(type(k) is not bool and k == v for k in known) for v in traced):
            found.add((i, 1))
        if call.tool == "check_eligibility" and not looks:
            found.add((i, 2))
        if call.tool == "issue_refund":
            if not (checks and checks[-1]["eligible"]):
                found.add((i, 3))
            elif round(100 * call.args["amount_eur"]) != round(100 * checks[-1]["max_refund_eur"]):
                found.add((i, 4))
            if looks and verified and looks[-1]["customer_id"] != verified[-1]:
                found.add((i, 5))
            if paid or any(look["status"] == "refunded" for look in looks):
                found.add((i, 6))
    tools = [call.tool for call, _ in flat]
    replies = [i for i, tool in enumerate(tools) if tool == "reply"]
    if replies != [len(tools) - 1]:
        blamed = replies[1] if len(replies) > 1 else replies[0] if replies else len(tools) - 1
        found.add((blamed, 7))
    if not {"issue_refund", "escalate"} & set(tools):
        found.add((len(tools) - 1, 8))
    return found


@given(desk_runs())
def test_one_pass_finds_what_a_definition_by_quantifiers_finds(case_and_run):
    case, trajectory = case_and_run
    assume(trajectory.steps)
    found = {(v.step, v.rule) for v in check(trajectory)}
    assert found == by_quantifiers(case, trajectory.steps)


def test_the_two_definitions_agree_on_runs_that_reach_rules_1_to_7():
    rng = random.Random(0)
    rules = Counter()
    for case in CASES:
        for _ in range(40):
            calls = [c for c in oracle.calls(case) if rng.random() < 0.8]
            calls += [Call("issue_refund", {"order_id": case.order_id, "amount_eur": 9.0})]
            calls.insert(0, Call("get_customer", {"email": case.decoy.email}))
            steps, _ = replay(case, calls)
            trajectory = Trajectory("t-1", case.goal, steps, "")
            found = {(v.step, v.rule) for v in check(trajectory)}
            assert found == by_quantifiers(case, steps)
            rules.update(rule for _, rule in found)
    assert {1, 2, 3, 4, 5, 6, 7} <= set(rules)


@given(desk_runs(), st.data())
def test_repeating_a_successful_look_up_adds_no_violation(case_and_run, data):
    """Grounded, successful, useless: why wrong_tool is out of the rules' reach."""
    _, trajectory = case_and_run
    faulted = {v.step for v in check(trajectory)}
    acts = ("issue_refund", "escalate", "reply")
    reads = [
        i for i, step in enumerate(trajectory.steps)
        if step.observations[0].ok and i not in faulted and step.calls[0].tool not in acts
    ]
    assume(reads)
    i = data.draw(st.sampled_from(reads))
    steps = (*trajectory.steps[: i + 1], trajectory.steps[i], *trajectory.steps[i + 1 :])
    longer = Trajectory("t-1", trajectory.goal, steps, "")
    shifted = [(v.step + (v.step > i), v.rule) for v in check(trajectory)]
    assert [(v.step, v.rule) for v in check(longer)] == shifted


@given(st.sampled_from(CASES), st.sampled_from(range(1, 5)), st.integers(2, 5))
def test_any_look_up_of_the_oracle_may_be_repeated_anywhere_before_the_reply(case, first, later):
    calls = oracle.calls(case)
    calls.insert(max(first, later), calls[first - 1])
    steps, _ = replay(case, calls)
    assert check(Trajectory("t-1", case.goal, steps, "")) == ()


@given(st.sampled_from(CASES), st.sampled_from([0, 2, 4]), st.text(), st.text())
def test_no_wording_of_thoughts_replies_and_reasons_moves_a_verdict(case, start, thought, text):
    prose = {"reply": "text", "escalate": "reason"}
    steps = []
    for step in replay(case, oracle.calls(case)[start:])[0]:
        (call,) = step.calls
        args = {**call.args, prose[call.tool]: text} if call.tool in prose else call.args
        steps.append(Step(thought, (Call(call.tool, args),), step.observations))
    plain, _ = replay(case, [step.calls[0] for step in steps])
    reworded = check(Trajectory("t-1", case.goal, tuple(steps), text))
    assert reworded == check(Trajectory("t-1", case.goal, plain, ""))
