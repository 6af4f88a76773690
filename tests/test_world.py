"""What the desk does, and what it does not ask."""

from __future__ import annotations

import itertools
import math
from decimal import ROUND_HALF_EVEN, Decimal

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tjlib import store
from tjlib.desk.cases import GOAL, less_fee
from tjlib.desk.world import (
    PROCEDURE,
    STRATA,
    THOUGHTS,
    TOOLS,
    Desk,
    Instance,
    Outcome,
    expected_outcome,
    instances,
    replay,
)
from tjlib.trace import Call

CASES = list(itertools.islice(instances(seed=7), 3_000))
BY_STRATUM = dict(zip(STRATA, CASES, strict=False))


def refund(case: Instance, amount: object) -> Call:
    return Call("issue_refund", {"order_id": case.order_id, "amount_eur": amount})


def check(case: Instance) -> dict:
    return Desk(case).call(Call("check_eligibility", {"order_id": case.order_id})).data


def test_strata_are_dealt_round_robin():
    assert [case.stratum for case in CASES] == list(STRATA) * 500
    assert [case.instance_id for case in CASES[:2]] == ["INS-00000", "INS-00001"]


def test_a_seed_fixes_the_cases_and_another_changes_them():
    assert list(itertools.islice(instances(seed=7), 60)) == CASES[:60]
    for other in (8, -7):
        assert list(itertools.islice(instances(seed=other), 60)) != CASES[:60]


def test_facts_stay_in_the_ranges_of_appendix_a():
    assert len({case.sku for case in CASES}) == 5
    assert {case.refund_window_days for case in CASES} == {14, 30, 60}
    assert all(24 <= case.total_eur <= 480 for case in CASES)
    assert min(case.total_eur for case in CASES) < 30
    assert max(case.total_eur for case in CASES) > 470
    assert all(case.total_eur == round(case.total_eur, 2) for case in CASES)


@pytest.mark.parametrize("stratum", STRATA)
def test_each_stratum_changes_one_fact_and_no_other(stratum):
    for case in CASES:
        if case.stratum == stratum:
            assert (case.days_since_purchase > case.refund_window_days) == (stratum == "expired")
            assert case.refundable == (stratum != "non_refundable")
            assert case.already_refunded == (stratum == "already_refunded")
            fees = {5, 10, 15} if stratum == "restocking" else {0}
            assert case.restocking_fee_pct in fees
            owner = case.decoy if stratum == "wrong_customer" else case.customer
            assert case.owner_id == owner.customer_id
            assert case.days_since_purchase >= 1


def test_the_decoy_is_somebody_else():
    for case in CASES:
        assert case.decoy.customer_id != case.customer.customer_id
        assert case.decoy.email != case.customer.email


def test_numbers_on_show_do_not_count_the_cases():
    """In the release a high order number means a fault; ours follow no order."""
    numbers = [int(case.order_id.removeprefix("ORD-")) for case in CASES]
    rises = sum(a < b for a, b in itertools.pairwise(numbers))
    assert 1_350 < rises < 1_650


def test_the_printed_texts_are_the_papers(shared):
    paper = (shared / "papers/trajectory-judge_2609.00038.txt").read_text(encoding="utf-8")
    # The text of the paper escapes punctuation and lost the spaces around set-off fields.
    plain = "".join(paper.replace("\\", "").replace("’", "'").split())
    numbered = "".join(f"{i}. {point}" for i, point in enumerate(PROCEDURE, start=1))
    for text in (numbered, GOAL):
        assert "".join(text.split()) in plain


def test_observations_have_the_fields_and_types_of_the_release(shared):
    def shapes(steps):
        for step in steps:
            (call,), (observation,) = step.calls, step.observations
            if observation.ok:
                fields = [(name, type(value)) for name, value in observation.data.items()]
                yield call.tool, tuple(fields)

    theirs, ours = set(), set()
    for trajectory in store.released(shared / "released").trajectories:
        theirs |= set(shapes(trajectory.steps))
    for case in CASES[:6]:
        calls = [
            Call("get_customer", {"email": case.customer.email}),
            Call("lookup_order", {"order_id": case.order_id}),
            Call("get_policy", {"sku": case.sku}),
            Call("check_eligibility", {"order_id": case.order_id}),
            refund(case, 1),
            Call("escalate", {"reason": "why"}),
            Call("reply", {"text": "Hello"}),
        ]
        ours |= set(shapes(replay(case, calls)[0]))
    assert ours == theirs


def test_the_goal_is_the_released_goal(shared):
    for trajectory in store.released(shared / "released").trajectories:
        first, second = (step.calls[0].args for step in trajectory.steps[:2])
        assert trajectory.goal == GOAL.format(**first, **second)


def test_the_desk_refunds_without_an_eligibility_check():
    """Permissive by design (section 3): nobody was verified, nothing was looked up."""
    for stratum in ("happy", "restocking", "expired", "non_refundable", "wrong_customer"):
        case = BY_STRATUM[stratum]
        desk = Desk(case)
        assert desk.call(refund(case, case.total_eur)).ok
        assert desk.outcome() == Outcome(case.total_eur, escalated=False)


def test_the_desk_refunds_after_a_check_that_failed():
    case = BY_STRATUM["expired"]
    desk = Desk(case)
    assert not desk.call(Call("check_eligibility", {"order_id": case.order_id})).data["eligible"]
    assert desk.call(refund(case, case.total_eur)).ok


@pytest.mark.parametrize(
    "amount",
    [0, 0.0, -1, math.nan, math.inf, -math.inf, True, "45.00", None, [45], {"eur": 45}, 10**400],
)
def test_the_desk_refuses_an_amount_that_is_none(amount):
    desk = Desk(CASES[0])
    observation = desk.call(refund(CASES[0], amount))
    assert (observation.ok, observation.data) == (False, {})
    assert desk.outcome() == Outcome(None, escalated=False)


def test_the_desk_pays_up_to_the_total_and_no_cent_more():
    case = CASES[0]
    assert not Desk(case).call(refund(case, case.total_eur + 0.01)).ok
    assert Desk(case).call(refund(case, case.total_eur)).ok
    assert Desk(case).call(refund(case, 1)).data == {"refunded_eur": 1.0, "status": "refunded"}


def test_the_desk_refunds_an_order_once():
    case = CASES[0]
    desk = Desk(case)
    assert desk.call(refund(case, 5)).ok
    assert not desk.call(refund(case, 5)).ok
    order = desk.call(Call("lookup_order", {"order_id": case.order_id})).data
    assert order["status"] == "refunded"
    before = BY_STRATUM["already_refunded"]
    assert not Desk(before).call(refund(before, 5)).ok


def test_eligibility_asks_in_the_order_of_appendix_a():
    case = msgspec.structs.replace(
        CASES[0], already_refunded=True, refundable=False, days_since_purchase=99,
        refund_window_days=30, owner_id=CASES[0].decoy.customer_id, total_eur=100.0,
        restocking_fee_pct=15,
    )
    for word, cure in [
        ("refunded before", {"already_refunded": False}),
        ("not refundable", {"refundable": True}),
        ("99 days", {"days_since_purchase": 30}),
        ("another customer", {"owner_id": case.customer.customer_id}),
    ]:
        answer = check(case)
        assert (answer["eligible"], answer["max_refund_eur"]) == (False, 0.0)
        assert word in answer["reason"]
        case = msgspec.structs.replace(case, **cure)
    assert (check(case)["eligible"], check(case)["max_refund_eur"]) == (True, 85.0)


def test_the_desk_and_the_stratum_agree_on_who_gets_what():
    for case in CASES:
        answer = check(case)
        due = answer["max_refund_eur"] if answer["eligible"] else None
        assert expected_outcome(case) == Outcome(due, escalated=due is None)
        if case.stratum == "restocking":
            assert due < case.total_eur
        elif case.stratum == "happy":
            assert due == case.total_eur


@given(st.integers(24_00, 480_00), st.sampled_from([0, 5, 10, 15]))
@example(410_30, 5)  # 389.785: half a cent
@example(24_10, 5)  # 22.895: the other way
def test_the_fee_comes_off_in_exact_decimals(cents, fee):
    exact = Decimal(cents) / 100 * (100 - fee) / 100
    assert less_fee(cents / 100, fee) == float(exact.quantize(Decimal("0.01"), ROUND_HALF_EVEN))


def test_the_fee_is_that_of_every_released_check(shared):
    checked = 0
    for trajectory in store.released(shared / "released").trajectories:
        seen = {}
        for step in trajectory.steps:
            seen |= step.observations[0].data
            if "restocking_fee_pct" in seen and seen.get("eligible"):
                due = less_fee(seen["total_eur"], int(seen["restocking_fee_pct"]))
                assert due == seen["max_refund_eur"]
                checked += 1
    assert checked > 120


@given(st.text(), st.text())
def test_escalate_and_reply_never_fail(reason, text):
    desk = Desk(CASES[0])
    assert desk.call(Call("reply", {"text": text})).data == {"sent": True}
    assert desk.outcome() == Outcome(None, escalated=False)
    assert desk.call(Call("escalate", {"reason": reason})).data["reason"] == reason
    assert desk.outcome() == Outcome(None, escalated=True)


def test_what_is_written_to_the_customer_changes_nothing():
    desk = Desk(CASES[0])
    desk.call(Call("reply", {"text": f"Your refund of EUR {CASES[0].total_eur} is on its way."}))
    assert desk.outcome() == Outcome(None, escalated=False)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
ARGUMENT_NAMES = st.sampled_from(["email", "order_id", "sku", "amount_eur", "reason", "text", "x"])


@given(
    st.sampled_from([*TOOLS, "", "delete_order", "__init__", "call", "outcome", None, 7, ("a",)]),
    st.dictionaries(ARGUMENT_NAMES, ANYTHING, max_size=3) | ANYTHING,
)
@example("issue_refund", {"order_id": CASES[0].order_id, "amount_eur": True})
@example("lookup_order", {"order_id": CASES[0].order_id, "verbose": True})
@example("issue_refund", {"order_id": CASES[0].order_id})
@example("reply", {"text": ["nested"]})
@example("escalate", {})
def test_a_bad_call_is_an_observation_and_changes_nothing(tool, args):
    desk = Desk(CASES[0])
    observation = desk.call(Call(tool, args))
    if not observation.ok:
        assert observation.data == {}
        assert observation.error and "\n" not in observation.error
        assert desk.outcome() == Outcome(None, escalated=False)
    else:
        # Nothing drawn here names an existing customer, order or SKU.
        assert tool in ("escalate", "reply")
        assert all(type(value) is str for value in args.values())


@pytest.mark.parametrize("tool", [name for name, tool in TOOLS.items() if tool.grounded])
def test_an_unknown_thing_is_not_found(tool):
    args = {name: 5.0 if kind is float else "nothing" for name, kind in TOOLS[tool].args.items()}
    observation = Desk(CASES[0]).call(Call(tool, args))
    assert not observation.ok and "nothing" in observation.error


@given(st.sampled_from(CASES[:60]), st.lists(st.sampled_from(range(4)), max_size=8))
def test_reading_changes_nothing(case, order):
    reads = [
        Call("get_customer", {"email": case.decoy.email}),
        Call("lookup_order", {"order_id": case.order_id}),
        Call("get_policy", {"sku": case.sku}),
        Call("check_eligibility", {"order_id": case.order_id}),
    ]
    fresh = [Desk(case).call(call) for call in reads]
    desk = Desk(case)
    assert [desk.call(reads[i]) for i in order] == [fresh[i] for i in order]
    assert desk.outcome() == Outcome(None, escalated=False)


def test_replay_gives_one_step_a_call_on_a_fresh_desk():
    case = CASES[0]
    calls = [refund(case, 5.0), refund(case, 5.0), Call("dance", {})]
    steps, outcome = replay(case, calls)
    assert [step.calls for step in steps] == [(call,) for call in calls]
    assert [step.observations[0].ok for step in steps] == [True, False, False]
    assert [step.thought for step in steps] == [THOUGHTS["issue_refund"]] * 2 + [""]
    assert outcome == Outcome(5.0, escalated=False)
    assert replay(case, calls) == (steps, outcome)


def test_every_tool_has_its_thought_and_only_prose_is_untraced():
    assert list(THOUGHTS) == list(TOOLS) and len(set(THOUGHTS.values())) == 7
    untraced = {
        (name, arg) for name, tool in TOOLS.items() for arg in tool.args if arg not in tool.grounded
    }
    assert untraced == {("escalate", "reason"), ("reply", "text")}
