"""Other ways for a run to go: what each does, and that the two parts share none of it."""

from __future__ import annotations

import hashlib
import itertools
import random

import pytest

from tjlib import store
from tjlib.desk import desks, faults, oracle, rules, testbed, ways
from tjlib.desk.otherbed import SCRIPTED, bed
from tjlib.desk.world import expected_outcome, instances, replay
from tjlib.studies import freeset
from tjlib.trace import Call, Trajectory, to_json

CASES = list(itertools.islice(instances(seed=19), 60))
BY_NAME = {(part, way.name): way for part in ways.PARTS
           for way in ways.ways(part, freeset.wordings(part))}


def made(part, name, case):
    """What a way makes of a case: the tools, the steps, the outcome, and the rest."""
    way = BY_NAME[part, name]
    run = way.make(case, tuple(oracle.calls(case)), random.Random(f"{name}-{case.instance_id}"))
    steps, outcome = replay(case, run.calls, run.desk)
    return [call.tool for call in run.calls], steps, outcome, run


def test_what_is_set_on_and_what_is_reported_share_no_seed_no_sentence_and_no_redundant_call():
    assert not set(ways.SET_SEEDS) & set(ways.REPORT_SEEDS)
    assert 7 not in (*ways.SET_SEEDS, *ways.REPORT_SEEDS)
    assert testbed.CLEAN_SEED not in ways.REPORT_SEEDS
    said = [{text for texts in freeset.claims(part).values() for text in texts}
            for part in ways.PARTS]
    assert not said[0] & said[1] and set(faults.CLAIMS) <= said[0]
    assert (len(said[0]), len(said[1])) == (37, 45)
    calls = [{name for (of, name), way in BY_NAME.items()
              if of == part and way.fault_type == "wrong_tool"} for part in ways.PARTS]
    assert not calls[0] & calls[1] and (len(calls[0]), len(calls[1])) == (2, 4)
    assert freeset.BEDS == {"set": (ways.SET_SEEDS, "set"),
                            "other cases": (ways.REPORT_SEEDS, "set"),
                            "other cases and ways": (ways.REPORT_SEEDS, "report")}


def test_clean_replies_and_harmless_sentences_of_the_two_parts_differ_too():
    for name in ("reply_sentences", "other_wordings"):
        texts = store.sentences(name)
        halves = [set(texts.loc[texts["split"] == part, "text"]) for part in ways.PARTS]
        assert halves[0] and halves[1] and not halves[0] & halves[1]


def test_without_other_ways_the_bed_is_the_judged_set_to_the_byte():
    trajectories, labels = testbed.judged_set(seed=7)
    runs = bed(7, ())
    assert [run.trajectory for run in runs] == trajectories
    assert [run.label for run in runs] == labels
    assert {run.way for run in runs} == {SCRIPTED}
    packed = b"\n".join(to_json(t) for t in trajectories)
    recorded = (store.data_folder("recorded") / "trajectories.jsonl").read_bytes()
    assert hashlib.sha256(packed + b"\n").digest() == hashlib.sha256(recorded).digest()


@pytest.mark.parametrize(("part", "name", "tools", "step"), [
    ("set", "order looked up again", "customer order order check end reply", 2),
    ("set", "customer looked up again", "customer order customer check end reply", 2),
    ("report", "eligibility asked early", "customer order check check end reply", 2),
    ("report", "order looked up later", "customer order check order end reply", 3),
    ("report", "looked up, other spelling", "customer order order check end reply", 2),
    ("report", "policy skipped", "customer order check end reply", 2),
    ("report", "order confirmed after refund", "customer order policy check end order reply", None),
    ("report", "order polled, not yet changed", "customer order policy check end order reply",
     None),
    ("report", "other spelling all along", "customer order policy check end reply", None),
])
def test_a_way_makes_these_calls_and_is_faulty_at_this_step(part, name, tools, step):
    short = {"get_customer": "customer", "lookup_order": "order", "get_policy": "policy",
             "check_eligibility": "check", "issue_refund": "end", "reply": "reply"}
    called, _, outcome, run = made(part, name, CASES[0])  # happy: the fifth call is the refund
    assert CASES[0].stratum == "happy"
    assert [short[tool] for tool in called] == tools.split() and run.step == step
    assert outcome == expected_outcome(CASES[0])


def test_a_case_handed_over_early_is_handed_over_twice_with_two_reasons():
    case = next(case for case in CASES if case.stratum == "expired")
    called, steps, outcome, run = made("report", "handed over early", case)
    assert called[2] == called[4] == "escalate" and run.step == 2
    assert steps[2].calls[0].args["reason"] != steps[4].calls[0].args["reason"]
    assert outcome == expected_outcome(case)


@pytest.mark.parametrize(("part", "name"), list(BY_NAME))
def test_every_way_is_silent_or_clean_and_breaks_no_rule_but_where_a_number_is_respelt(part, name):
    way = BY_NAME[part, name]
    hosts = [case for case in CASES if case.stratum in way.strata]
    assert len(hosts) >= 20
    for case in hosts:
        _, steps, outcome, run = made(part, name, case)
        broken = rules.check(Trajectory("t", case.goal, steps, run.answer))
        if name == "check skipped":  # the paper's own, loud under a fee
            assert {v.failure_type for v in broken} == {"skipped_precondition"}
            assert (outcome == expected_outcome(case)) == (case.stratum == "happy")
            continue
        assert outcome == expected_outcome(case)
        assert bool(broken) == ("spelling" in name)
        assert (run.step is None) == (way.fault_type is None)
        assert run.calls[-1] == Call("reply", {"text": run.answer})


@pytest.mark.parametrize(("part", "name", "times"), [
    ("set", "lookup retried once", 1), ("report", "any call retried twice", 2)])
def test_a_retried_call_fails_and_is_made_again_as_it_was(part, name, times):
    where = set()
    for case in CASES:
        _, steps, _, run = made(part, name, case)
        failed = [i for i, step in enumerate(steps) if not step.observations[0].ok]
        assert len(failed) == times and len(run.calls) == 6 + times
        assert all(run.calls[i] == run.calls[failed[-1] + 1] for i in failed)
        assert steps[failed[-1] + 1].observations[0].ok
        where.add(failed[0])
    assert where == set(range(3 if times == 1 else 5))


def test_a_desk_that_fails_changes_nothing_while_it_does():
    case = CASES[0]
    desk = desks.Failing(case, 0, 1, "down")
    pay = Call("issue_refund", {"order_id": case.order_id, "amount_eur": case.total_eur})
    assert desk.call(pay).error == "down" and desk.outcome().refunded_eur is None
    assert desk.call(pay).ok and desk.outcome().refunded_eur == case.total_eur


def test_a_caseless_desk_reads_any_spelling_of_its_order_and_no_other_order():
    case = CASES[0]
    desk = desks.Caseless(case)
    for spelt in (case.order_id.lower(), f" {case.order_id} "):
        seen = desk.call(Call("lookup_order", {"order_id": spelt}))
        assert seen.ok and seen.data["order_id"] == case.order_id
    assert not desk.call(Call("lookup_order", {"order_id": "ord-1"})).ok


def test_a_slow_desk_refunds_and_shows_the_order_as_before():
    _, steps, outcome, _ = made("report", "order polled, not yet changed", CASES[0])
    assert steps[5].observations == steps[1].observations and outcome.refunded_eur is not None
    _, steps, _, _ = made("report", "order confirmed after refund", CASES[0])
    assert steps[1].observations[0].data["status"] == "delivered"
    assert steps[5].observations[0].data["status"] == "refunded"


def test_reworded_replies_hold_nothing_but_what_the_desk_said():
    case = CASES[1]
    assert case.stratum == "restocking"
    way = ways.reworded("x", ["EUR {refunded_eur} of {total_eur} for {name}"], [])
    run = way.make(case, tuple(oracle.calls(case)), random.Random(0))
    assert run.answer == (f"EUR {expected_outcome(case).refunded_eur:.2f} of "
                          f"{case.total_eur:.2f} for {case.customer.name}")


def test_a_bed_keeps_the_design_and_deals_the_ways_evenly():
    runs = bed(3, ways.ways("report", freeset.wordings("report")), clean=35, per_type=20)
    _, labels = testbed.judged_set(3, clean=35, per_type=20)
    assert [(run.label.trajectory_id, run.label.failure_type, run.label.instance_id)
            for run in runs] == [(x.trajectory_id, x.failure_type, x.instance_id) for x in labels]
    counts = {}
    for run in runs:
        counts.setdefault(run.label.failure_type, {}).setdefault(run.way, 0)
        counts[run.label.failure_type][run.way] += 1
    assert sorted(counts["unsupported_claim"].values()) == [10, 10]
    assert sorted(counts["wrong_tool"].values()) == [5, 5, 5, 5]
    assert sorted(counts[None].values()) == [5] * 7
    assert counts["ignored_observation"] == {SCRIPTED: 20}
