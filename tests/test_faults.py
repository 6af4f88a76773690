"""Each fault is one edit at the step its label names."""

from __future__ import annotations

import itertools
import random
import re

import pytest

from tjlib.desk import oracle
from tjlib.desk.faults import CLAIMS, FAULTS, PREMATURE_ANSWER, FaultType, hosts, inject, known
from tjlib.desk.world import STRATA, expected_outcome, instances, replay
from tjlib.trace import FAULT_TYPES, Call, InputError

CASES = list(itertools.islice(instances(seed=7), 600))
PAIRS = [(case, fault) for case in CASES for fault in FAULTS if hosts(case, fault)]
ALWAYS_SILENT = ("wrong_tool", "hallucinated_argument", "unsupported_claim")
ALWAYS_LOUD = ("ignored_observation", "premature_stop")


def mutate(case, fault_type, seed=7):
    rng = random.Random(f"{case.instance_id}-{fault_type}-{seed}")
    return inject(case, oracle.calls(case), fault_type, rng)


def restocking_script():
    """A restocking case and its six calls, written out."""
    case = CASES[1]
    assert case.stratum == "restocking"
    order, due = case.order_id, expected_outcome(case).refunded_eur
    return case, [
        Call("get_customer", {"email": case.customer.email}),
        Call("lookup_order", {"order_id": order}),
        Call("get_policy", {"sku": case.sku}),
        Call("check_eligibility", {"order_id": order}),
        Call("issue_refund", {"order_id": order, "amount_eur": due}),
        Call("reply", {"text": "Hello."}),
    ]


def test_wrong_tool_looks_the_order_up_again_instead_of_the_policy():
    case, calls = restocking_script()
    edit = inject(case, calls, "wrong_tool", random.Random(0))
    assert list(edit.calls) == [*calls[:2], calls[1], *calls[3:]]
    assert (edit.step, edit.final_answer) == (2, "Hello.")


def test_hallucinated_argument_asks_for_the_policy_of_an_invented_item():
    case, calls = restocking_script()
    edit = inject(case, calls, "hallucinated_argument", random.Random(0))
    assert [*edit.calls[:2], *edit.calls[3:]] == [*calls[:2], *calls[3:]]
    assert edit.calls[2].tool == "get_policy"
    assert re.fullmatch(r"SKU-(BUNDLE|WARRANTY|GIFT)-\d\d", edit.calls[2].args["sku"])
    assert (edit.step, edit.final_answer) == (2, "Hello.")


def test_skipped_precondition_drops_the_check_and_refunds_the_total():
    case, calls = restocking_script()
    edit = inject(case, calls, "skipped_precondition", random.Random(0))
    total = Call("issue_refund", {"order_id": case.order_id, "amount_eur": case.total_eur})
    assert list(edit.calls) == [*calls[:3], total, calls[5]]
    assert (edit.step, edit.final_answer) == (3, "Hello.")


def test_ignored_observation_keeps_the_check_and_refunds_the_total():
    case, calls = restocking_script()
    edit = inject(case, calls, "ignored_observation", random.Random(0))
    total = Call("issue_refund", {"order_id": case.order_id, "amount_eur": case.total_eur})
    assert list(edit.calls) == [*calls[:4], total, calls[5]]
    assert (edit.step, edit.final_answer) == (4, "Hello.")


def test_premature_stop_ends_before_the_first_terminal_action():
    case, calls = restocking_script()
    edit = inject(case, calls, "premature_stop", random.Random(0))
    assert list(edit.calls) == calls[:4]
    assert (edit.step, edit.final_answer) == (3, PREMATURE_ANSWER)


def test_unsupported_claim_adds_one_sentence_to_reply_and_answer():
    case, calls = restocking_script()
    edit = inject(case, calls, "unsupported_claim", random.Random(0))
    assert list(edit.calls[:5]) == calls[:5]
    assert edit.final_answer in {f"Hello. {claim}" for claim in CLAIMS}
    assert edit.calls[5] == Call("reply", {"text": edit.final_answer})
    assert edit.step == 5


def test_the_printed_sentences_are_the_papers(shared):
    paper = (shared / "papers/trajectory-judge_2609.00038.txt").read_text(encoding="utf-8")
    plain = paper.replace("\\", "")
    assert " ".join(CLAIMS) in plain
    assert PREMATURE_ANSWER in plain


@pytest.mark.parametrize("fault_type", FAULTS)
def test_every_mutant_first_differs_from_its_parent_at_the_label(fault_type):
    """Where the mutant just ends, it ends at the label: there is no later step to name."""
    for case in (case for case, fault in PAIRS if fault == fault_type):
        parent, _ = replay(case, oracle.calls(case))
        edit = mutate(case, fault_type)
        mutant, _ = replay(case, edit.calls)
        assert mutant != parent
        differ = [i for i, (a, b) in enumerate(zip(mutant, parent, strict=False)) if a != b]
        if fault_type == "premature_stop":
            assert differ == [] and edit.step == len(mutant) - 1
        else:
            assert differ[0] == edit.step


@pytest.mark.parametrize("fault_type", FAULT_TYPES)
def test_replayed_observations_agree_with_their_calls(fault_type):
    for case in (case for case, fault in PAIRS if fault == fault_type):
        refunded = case.already_refunded
        for step in replay(case, mutate(case, fault_type).calls)[0]:
            (call,), (seen,) = step.calls, step.observations
            args, data = call.args, seen.data
            assert seen.ok == (args.get("sku", case.sku) == case.sku)
            if call.tool == "get_customer":
                assert data["customer_id"] == case.customer.customer_id
            elif call.tool == "lookup_order":
                assert data["order_id"] == args["order_id"]
                assert data["status"] == ("refunded" if refunded else "delivered")
            elif call.tool == "get_policy":
                assert (data["sku"] == args["sku"]) if seen.ok else (args["sku"] in seen.error)
            elif call.tool == "issue_refund":
                assert data["refunded_eur"] == args["amount_eur"]
                refunded = True
            elif call.tool == "escalate":
                assert data["reason"] == args["reason"]


def test_of_the_papers_faults_only_the_invented_item_makes_a_call_fail():
    for case, fault_type in ((case, fault) for case, fault in PAIRS if fault in FAULT_TYPES):
        steps, _ = replay(case, mutate(case, fault_type).calls)
        failed = [i for i, step in enumerate(steps) if not step.observations[0].ok]
        assert failed == ([2] if fault_type == "hallucinated_argument" else [])


def survives(case, fault_type):
    return replay(case, mutate(case, fault_type).calls)[1] == expected_outcome(case)


@pytest.mark.parametrize("fault_type", ALWAYS_SILENT)
def test_these_faults_leave_the_outcome_right(fault_type):
    assert all(survives(case, fault) for case, fault in PAIRS if fault == fault_type)


@pytest.mark.parametrize("fault_type", ALWAYS_LOUD)
def test_these_faults_break_the_outcome(fault_type):
    assert not any(survives(case, fault) for case, fault in PAIRS if fault == fault_type)


def test_skipped_precondition_is_silent_exactly_at_full_price():
    for case, fault_type in PAIRS:
        if fault_type == "skipped_precondition":
            assert survives(case, fault_type) == (case.stratum == "happy")


def test_hosts_are_those_of_appendix_c():
    for stratum, case in zip(STRATA, CASES, strict=False):
        assert hosts(case, "skipped_precondition") == (stratum in ("happy", "restocking"))
        assert hosts(case, "ignored_observation") == (stratum == "restocking")
        for fault_type in (*ALWAYS_SILENT, "premature_stop"):
            assert hosts(case, fault_type)


def test_every_sentence_and_every_kind_of_invented_item_occurs():
    answers = [mutate(c, f).final_answer for c, f in PAIRS if f == "unsupported_claim"]
    assert all(any(answer.endswith(claim) for answer in answers) for claim in CLAIMS)
    skus = [mutate(c, f).calls[2].args["sku"] for c, f in PAIRS if f == "hallucinated_argument"]
    assert {sku.split("-")[1] for sku in skus} == {"BUNDLE", "WARRANTY", "GIFT"}


def test_injecting_leaves_the_oracles_calls_alone():
    for case, fault_type in PAIRS[:60]:
        calls = oracle.calls(case)
        inject(case, calls, fault_type, random.Random(0))
        assert calls == oracle.calls(case)


def test_a_case_that_cannot_host_a_fault_is_refused_by_name():
    with pytest.raises(InputError, match=r"INS-00000: ignored_observation needs .* restocking"):
        inject(CASES[0], oracle.calls(CASES[0]), "ignored_observation", random.Random(0))
    with pytest.raises(InputError, match="no fault type 'typo'; the types are wrong_tool"):
        hosts(CASES[0], "typo")


def test_the_papers_six_come_first_and_are_what_is_meant_without_a_name():
    assert tuple(FAULTS)[:6] == FAULT_TYPES == known() and known("all") == tuple(FAULTS)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_type_has_a_plain_name_and_one_line_of_meaning(name):
    assert re.fullmatch(r"[a-z][a-z0-9_]*", name)
    assert name not in ("none", "clean", "faulty", "missed", "untyped", "unknown")
    assert re.fullmatch(r"\S.{9,}\.", FAULTS[name].meaning)


def test_a_fault_that_edits_nothing_or_names_no_step_is_refused(monkeypatch):
    for make in (lambda case, calls, at, rng: 2, lambda case, calls, at, rng: calls.clear()):
        monkeypatch.setitem(FAULTS, "odd", FaultType(make, "does nothing."))
        with pytest.raises(InputError, match=r"odd changes no call, or gives (2|None) for"):
            mutate(CASES[0], "odd")
    for strata in ((), ("everybody",)):
        with pytest.raises(ValueError, match="strata are one or more of happy"):
            FaultType(make, "does nothing.", strata)
