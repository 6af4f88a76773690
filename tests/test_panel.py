"""The judge designs: who is shown and asked what, and how votes are counted."""

from __future__ import annotations

import json
import math

import pytest
from fake_servers import GOOD

from tjlib.desk import testbed
from tjlib.judges import prompts
from tjlib.judges.answer import token_confidence, verdict
from tjlib.judges.panel import CELLS, DESIGNS, RULES, Judge, vote
from tjlib.judges.protocol import Identity, Options, Reply, Token
from tjlib.trace import InputError, Step, Trajectory, Verdict

TRAJECTORY = Trajectory("t-1", "g", (Step("a"), Step("b")), "r")
FAULTY = json.dumps(GOOD)
CLEAN = json.dumps(GOOD | {"faulty": False})


class Scripted:
    """A model that answers with the given texts in turn and remembers what it was sent."""

    def __init__(self, *texts, name="tiny:1b"):
        self.name, self.options, self.texts, self.sent = name, Options(), list(texts), []

    def identity(self):
        return Identity("ollama", self.name, "d1", "ollama 0.99")

    def complete(self, prompt, schema, *, options, shared=""):
        self.sent.append((prompt, schema, options, shared))
        said = self.texts.pop(0)
        if isinstance(said, Reply):
            return said
        return Reply(said, prompt_tokens=100, completion_tokens=10, latency_s=2.0, stop="stop")


@pytest.mark.parametrize(("design", "view", "task", "name"), [
    ("outcome", "reply", "reply", "outcome:tiny:1b"), ("step", "steps", "steps", "step:tiny:1b"),
    ("reply-steps", "reply", "steps", "reply-steps:tiny:1b"),
    ("steps-reply", "steps", "reply", "steps-reply:tiny:1b"),
])
def test_a_judge_is_shown_its_view_and_asked_its_task(design, view, task, name):
    full = json.dumps(GOOD)
    model = Scripted(full)
    judge = Judge(design, model)
    said = judge.judge(TRAJECTORY)
    [(prompt, schema, options, shared)] = model.sent
    assert prompt == prompts.prompt(TRAJECTORY, view, task) and prompt.startswith(shared)
    assert shared == prompts.head(view, task)
    assert schema == prompts.schema(task) and options == Options()
    assert (said.judge, said.status, said.faulty) == (name, "ok", True)
    # Only the judge that is shown the steps and asked about them names one.
    assert said.failure_step == (1 if design == "step" else None)


def test_the_cells_are_all_four_and_the_papers_judges_are_two_of_them():
    assert CELLS == {("reply", "reply"): "outcome", ("steps", "steps"): "step",
                     ("reply", "steps"): "reply-steps", ("steps", "reply"): "steps-reply"}


def test_an_outcome_judge_needs_no_step_in_its_answer_and_a_step_judge_does():
    text = json.dumps({k: v for k, v in GOOD.items() if k != "failure_step"})
    assert Judge("outcome", Scripted(text)).judge(TRAJECTORY).status == "ok"
    assert Judge("step", Scripted(text)).judge(TRAJECTORY).status == "unparsed"


def test_the_ensemble_is_the_step_judge_three_times_with_other_seeds():
    model = Scripted(FAULTY, CLEAN, FAULTY)
    said = Judge("ensemble", model).judge(TRAJECTORY)
    assert {sent[0] for sent in model.sent} == {prompts.prompt(TRAJECTORY, "steps", "steps")}
    assert [sent[2].seed for sent in model.sent] == [7, 8, 9]
    assert {sent[2].temperature for sent in model.sent} == {0.7}
    assert said == Verdict(
        "t-1", "selfcons3:tiny:1b", True, 1, "wrong_tool", 2 / 3,
        rationale="2/3 votes for faulty", latency_s=6.0, prompt_tokens=300, completion_tokens=30)


@pytest.mark.parametrize(("texts", "expected"), [
    ((FAULTY,) * 3, ("ok", True, 1.0)),
    ((CLEAN,) * 3, ("ok", False, 1.0)),
    ((CLEAN, FAULTY, CLEAN), ("ok", False, 2 / 3)),
    (("prose", FAULTY, FAULTY), ("ok", True, 2 / 3)),
    (("prose", CLEAN, CLEAN), ("ok", False, 2 / 3)),
    ((FAULTY, "prose", CLEAN), ("unparsed", None, None)),
    (("", "prose", CLEAN), ("empty", None, None)),
    (("prose", "prose", "prose"), ("unparsed", None, None)),
])
def test_a_strict_majority_of_all_votes_decides_and_a_failed_vote_is_none_for_clean(
    texts, expected
):
    said = Judge("ensemble", Scripted(*texts)).judge(TRAJECTORY)
    assert (said.status, said.faulty, said.confidence) == expected


@pytest.mark.parametrize("status", ["error", "timeout", "too_long"])
def test_an_ensemble_does_not_ask_on_when_the_server_fails(status):
    model = Scripted(FAULTY, Reply(status=status, error="why"), FAULTY)
    said = Judge("ensemble", model).judge(TRAJECTORY)
    assert (said.status, said.faulty, len(model.sent)) == (status, None, 2)
    assert "why" in said.rationale


def test_step_and_type_are_the_winners_most_frequent_and_the_first_named_if_tied():
    def cast(step, kind, faulty=True):
        return Verdict("t", "j", faulty, step, kind, 0.9)

    said = vote([cast(4, None), cast(2, "wrong_tool"), cast(2, "premature_stop")], 3)
    assert (said.failure_step, said.failure_type) == (2, "wrong_tool")
    said = vote([cast(None, None), cast(None, None), Verdict("t", "j", False)], 3)
    assert (said.faulty, said.failure_step, said.failure_type) == (True, None, None)


def test_a_cost_that_one_vote_does_not_have_has_no_sum():
    votes = [Verdict("t", "j", True, latency_s=1.0, prompt_tokens=5),
             Verdict("t", "j", True, latency_s=2.0)]
    said = vote(votes, 2)
    assert (said.latency_s, said.prompt_tokens, said.completion_tokens) == (3.0, None, None)


def test_the_record_says_all_that_decides_a_verdict():
    about = Judge("ensemble", Scripted(), order="shared_first").identity()
    assert about["options"] == {
        "temperature": 0.7, "seed": [7, 8, 9], "num_ctx": 8192, "timeout_s": 600.0,
        "num_predict": 2048, "think": None, "reasoning_chars": None}
    assert (about["judge"], about["model"], about["digest"]) == (
        "selfcons3:tiny:1b", "tiny:1b", "d1")
    hashes = {Judge(design, Scripted(), order=order).identity()["prompt_hash"]
              for design in CELLS.values() for order in prompts.ORDERS}
    assert len(hashes) == 8


def test_the_rules_are_a_judge_like_the_others_without_a_model():
    trajectory = testbed.judged_set(7)[0][0]
    assert RULES.judge(trajectory).judge == RULES.name == "rules"
    assert RULES.identity() is None


def test_an_unknown_judge_or_order_is_named():
    with pytest.raises(InputError, match="the judges are outcome, step, ensemble"):
        Judge("oracle", Scripted())
    with pytest.raises(InputError, match="no order"):
        Judge("step", Scripted(), order="last")


def test_the_command_line_offers_every_design():
    from tjlib.usage import parser

    for name in ("rules", *DESIGNS):
        parser().parse_args(["judge", name, "--traces", "t", "--out", "v"])


def tokens(*parts):
    return [Token(text, -1.0, tuple((t, math.log(p)) for t, p in top)) for text, top in parts]


@pytest.mark.parametrize(("parts", "faulty", "expected"), [
    ([('"faulty": ', []), ("true", [("true", .3), ("false", .1), ("0", .5)])], True, .75),
    ([('"faulty"', []), (': false', [(': false', .2), (': true', .6)])], False, .25),
    # Both ways to write a value count for it, also one that only begins or runs on.
    ([('"faulty":', []), (" t", [(" true", .2), (" t", .2), (" fal", .3), (" false,", .1)]),
      ("rue", [])], True, .5),
    ([('"faulty":', []), (" true", [(" true", .9), (" 1", .1)])], True, None),
    ([('"faulty":', []), (" true", [])], True, None),
    ([("no such field", [])], True, None),
    # A draft comes before the answer; what the answer says decides which one is meant.
    ([('"faulty":', []), (" false", [(" true", .1), (" false", .9)]), ("</think>", []),
      ('"faulty":', []), (" true", [(" true", .6), (" false", .4)])], True, .6),
    ([('"faulty":', []), (" false", [(" true", .1), (" false", .9)])], True, None),
])
def test_token_confidence_by_hand(parts, faulty, expected):
    found = token_confidence(tokens(*parts), faulty)
    assert found == (expected if expected is None else pytest.approx(expected))


def test_a_field_named_in_the_reasoning_is_not_the_field():
    text = json.dumps(GOOD | {"reasoning": 'I put "faulty": false here', "faulty": True})
    parts = tokens((text[:-90], []), *((c, [("true", .7), ("false", .3)]) for c in text[-90:]))
    assert "".join(t.text for t in parts) == text
    assert token_confidence(parts, True) == pytest.approx(.7)


def test_a_failed_reply_keeps_its_cost():
    reply = Reply("prose", prompt_tokens=9, completion_tokens=2, latency_s=1.5, stop="stop")
    said = verdict(TRAJECTORY, "j", reply, task="reply", localises=False)
    assert (said.status, said.prompt_tokens, said.completion_tokens, said.latency_s) == (
        "unparsed", 9, 2, 1.5)
