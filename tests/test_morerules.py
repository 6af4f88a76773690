"""Rules beside the eight: a judge of their own, and what is asked of each."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from test_rules import TRAJECTORIES

from tjlib.desk import morerules, rules
from tjlib.desk.faults import FAULTS
from tjlib.desk.morerules import MORE, Rule
from tjlib.desk.testbed import judged_set
from tjlib.judges.plain import PLAIN, Plain
from tjlib.trace import Call, Step, Trajectory

SET = list(zip(*judged_set(clean=30, per_type=10), strict=True))


def plain(verdict):
    return msgspec.structs.replace(verdict, judge="rules")


def test_without_a_rule_more_the_two_judges_differ_by_name_alone(monkeypatch):
    monkeypatch.setattr(morerules, "MORE", {})
    for run, _ in SET:
        said = morerules.judge(run)
        assert said.judge == "more-rules" and plain(said) == rules.judge(run)


def test_the_first_violation_names_step_and_type_whosever_rule_it_breaks(monkeypatch):
    monkeypatch.setattr(morerules, "MORE", {9: Rule(
        "no second call", "wrong_tool", lambda run: [(len(run.steps) - 1, "a second call")])})
    early = Trajectory("t-1", "Refund ORD-5.", (
        Step("", (Call("reply", {"text": "Hello."}),)), Step("", (Call("escalate", {}),))), "")
    assert [(v.step, v.rule) for v in morerules.check(early)] == [(0, 7), (1, 9)]
    one = Trajectory("t-2", "Refund ORD-5.", (
        Step("", (Call("escalate", {}), Call("reply", {"text": "Hello."}))),), "")
    said = morerules.judge(one)
    assert (said.failure_step, said.failure_type, said.confidence) == (0, "wrong_tool", 0.95)
    assert said.rationale == "rule 9: a second call" and not rules.judge(one).faulty


@pytest.mark.parametrize("number", MORE)
def test_a_rule_flags_no_clean_run_and_changes_no_verdict_on_the_papers_faults(number):
    assert number >= 9 and MORE[number].failure_type in FAULTS
    for run, label in SET:
        assert label.faulty or not list(MORE[number].find(run))
        assert plain(morerules.judge(run)) == rules.judge(run)


@given(TRAJECTORIES)
def test_no_run_however_odd_makes_the_checker_raise(run):
    found = morerules.check(run)
    assert set(rules.check(run)) <= set(found)
    assert all(v.step is None or 0 <= v.step < len(run.steps) for v in found)


def test_a_judge_that_raises_on_one_run_says_so_and_goes_on(monkeypatch):
    def failing(run):
        """Divide by nothing."""
        return 1 / 0

    entry = PLAIN["more-rules"]._replace(judge=failing)
    monkeypatch.setitem(PLAIN, "failing", entry)
    run = SET[0][0]
    said = Plain("failing").judge(run)
    assert (said.judge, said.status, said.faulty) == ("failing", "error", None)
    assert said.rationale == "ZeroDivisionError: division by zero"


def test_another_rule_makes_it_another_judge_on_record(monkeypatch):
    before = Plain("more-rules").identity()["prompt_hash"]
    monkeypatch.setitem(MORE, 99, Rule("never", "wrong_tool", lambda run: []))
    assert Plain("more-rules").identity()["prompt_hash"] != before
