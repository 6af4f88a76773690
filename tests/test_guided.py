"""Guided agents: selectors take what they say they take, over the same candidates for all."""

from __future__ import annotations

import json
import math
import random
import re
from functools import partial
from itertools import islice

import msgspec
import numpy as np
import pandas as pd
import pytest
import vl_convert
from hypothesis import given as given_examples
from hypothesis import strategies as st

from tjlib import store
from tjlib.__main__ import main
from tjlib.charts import guided as charts
from tjlib.desk import oracle, world
from tjlib.guided import candidates, outcomes, recording, simulated, source
from tjlib.guided.candidates import Candidate
from tjlib.guided.selectors import CONTROLS, SELECTORS, Made, checked, choose, lowest, scores
from tjlib.guided.tree import Decision, Path, Point, Tree, follow, given_steps
from tjlib.judges import agent, models
from tjlib.judges.protocol import Identity, Options, Reply, Token
from tjlib.measure.by_task import means
from tjlib.measure.per_success import per_success, same_rule
from tjlib.trace import Call, InputError, Observation, Step, Trajectory
from tjlib.uncertainty.evidence import Evidence
from tjlib.uncertainty.methods import METHODS
from tjlib.uncertainty.online import Stream
from tjlib.uncertainty.signals import Local

CASES = list(islice(world.instances(7), 6))
CASE = CASES[0]  # a refund in full is due
SOLVED = oracle.calls(CASE)
GOAL = "Refund the lamp order."


def drawn(thought, call, nll, **more):
    """A candidate whose parts are as uncertain as the whole, unless said otherwise."""
    return Candidate(thought, call, **{
        "nll": nll, "thought_nll": nll, "call_nll": nll, "content_nll": nll} | more)


ESCALATE, REPLY = Call("escalate", {"reason": "x"}), Call("reply", {"text": "x"})

#: After a look at the order: the same look again; a step towards the goal; a short way out.
LOOK = Call("lookup_order", {"order_id": "ORD-1"})
BEFORE = [Made(Step("Look at the lamp order.", (LOOK,), (Observation(True, {"sku": "lamp"}),)))]
THREE = (
    drawn("Look at the lamp order.", LOOK, 0.2),
    drawn("Refund the lamp order.", ESCALATE, 0.4, thought_nll=0.1, call_nll=0.2,
          content_nll=1.5),
    drawn("Bye.", REPLY, 0.3, thought_nll=2.0, call_nll=1.0, content_nll=0.9),
)
TAKEN = {"random": 0, "entropy": 0, "saup": 1, "tracer": 0, "rupa": 1, "flat": 1, "short": 2}


@pytest.mark.parametrize("selector", TAKEN)
def test_each_selector_takes_the_candidate_that_its_rule_names(selector):
    assert choose(selector, GOAL, BEFORE, THREE).number == TAKEN[selector]


def test_the_scores_behind_the_picks_are_those_worked_by_hand():
    at = {name: scores(name, GOAL, BEFORE, THREE) for name in TAKEN}
    # The mean of two steps, of which the given one has 0.
    assert at["entropy"] == pytest.approx([0.1, 0.2, 0.15])
    # Thought's plus call's, times 1 plus how far all words so far are from refund, lamp, order:
    # 2 of 7, 3 of 10 and 2 of 11 words are shared; then the root mean square of two steps.
    assert at["saup"] == pytest.approx([x / math.sqrt(2) for x in (
        0.4 * (1 + 5 / 7), 0.3 * (1 + 7 / 10), 3.0 * (1 + 9 / 11))])
    # The largest risk of the run. The given step has 1: its answer shares no word with its call.
    # The first candidate has 1 too (the same call again), and the third's .9 does not show.
    assert at["tracer"] == pytest.approx([1.0, 1.5, 1.0])
    # Missing of the goal's three words, mean of two steps, plus the mean uncertainty.
    assert at["flat"] == pytest.approx([1 / 3 + 0.1, 1 / 6 + 0.2, 2 / 3 + 0.15])
    assert at["random"] == [0.0, 0.0, 0.0]
    # The risk of the given step ties the first candidate with the third; the first drawn is taken.
    assert choose("tracer", GOAL, BEFORE, THREE) == (0, 2)


def test_rupa_ranks_candidates_as_the_risk_of_their_step_does():
    def risk(candidate):
        stream = Stream(GOAL)
        stream.update(BEFORE[0].step, 0.0)
        return stream.update(Step(candidate.thought, (candidate.call,)), candidate.nll)

    risks = [risk(one) for one in THREE]
    found = scores("rupa", GOAL, BEFORE, THREE)
    assert np.argsort(found).tolist() == np.argsort(risks).tolist()
    # The prefix is shared: twice the mean of two steps less the first step's risk.
    first = Stream(GOAL).update(BEFORE[0].step, 0.0)
    assert [2 * value - first for value in found] == pytest.approx(risks, abs=1e-9)


@given_examples(st.lists(st.integers(1, 50), min_size=1, max_size=5), st.integers(0, 3))
def test_in_the_authors_code_entropy_saup_and_tracer_are_one_rule(levels, before):
    # Their saup has no distances and no parts, their tracer the plain mean of the candidate: over
    # shared steps both rank candidates as their mean -log p does, which is our entropy.
    ours = choose("entropy", GOAL, [Made(BEFORE[0].step, drawn("x", LOOK, 0.5))] * before,
                  [drawn("x", REPLY, u / 10) for u in levels])
    steps = (BEFORE[0].step,) * before + (Step("x", (REPLY,)),)
    theirs = [METHODS["saup_rms"](Evidence(
        Trajectory("t", GOAL, steps, ""), Local((0.5,) * before + (u / 10,), "logprob"))).value
        for u in levels]
    assert ours.number == levels.index(min(levels)) == theirs.index(min(theirs))
    assert ours.tied == levels.count(min(levels))


def test_equal_scores_go_to_the_first_drawn_and_what_is_no_call_is_never_taken():
    bad = Candidate(status="unparsed", rationale="not JSON")
    same = [bad, drawn("a", REPLY, 0.5), drawn("a", REPLY, 0.5), drawn("a", REPLY, 0.7)]
    for name in SELECTORS | CONTROLS:
        pick = choose(name, GOAL, BEFORE, same)
        assert pick.number == 1 and pick.tied >= 2
        assert choose(name, GOAL, BEFORE, [bad]) == (None, 0)
    assert lowest([None, 0.4, None, 0.4], same) == (1, 2)
    # Nothing to choose by: the first that is a call.
    blank = [bad, Candidate("a", REPLY), Candidate("b", REPLY)]
    assert choose("entropy", GOAL, BEFORE, blank) == (1, 2)


def test_every_selector_is_a_method_with_a_name():
    assert {m for m in (SELECTORS | CONTROLS).values() if m} <= set(METHODS)
    with pytest.raises(InputError, match="no selector 'best'; there are: random, entropy"):
        checked("rupa,best")


# ---------------------------------------------------------------- a scripted model


class Scripted:
    """A model that mostly knows the next call, from the prompt and the seed alone."""

    name = "script"
    options = Options(num_predict=64, reasoning_chars=100)

    def __init__(self, fails_at=None, logprobs=True):
        self.asked, self._fails_at, self._logprobs = [], fails_at, logprobs

    def identity(self):
        return Identity("local", self.name, "d1", "none 1")

    def complete(self, prompt, schema, *, options, shared=""):
        if self._fails_at == len(self.asked):
            return Reply(status="error", error="no server")
        self.asked.append((prompt, options.seed, schema))
        rng = random.Random(f"{prompt}{options.seed}")
        tools = schema["properties"]["call"]["anyOf"]
        order = ["get_customer", "lookup_order", "get_policy", "check_eligibility",
                 "issue_refund" if "'eligible': True" in prompt else "escalate", "reply"]
        at = min(prompt.count("] call:"), 5)
        wanted = order[at] if rng.random() < 0.6 else rng.choice(order)
        form = next((f for f in tools if f["properties"]["tool"]["enum"] == [wanted]), tools[0])
        call = {name: field["enum"][-1] if "enum" in field else "Some text."
                for name, field in form["properties"].items()}
        text = json.dumps({"thought": f"Now {wanted}.", "call": call})
        cut = re.findall(r"\s*\S+", text)
        tokens = tuple(Token(piece, -rng.random() * (1 if wanted == order[at] else 2),
                             (("a", -0.5), ("b", -1.0))) for piece in cut)
        return Reply(text, tokens=tokens if self._logprobs else None, prompt_tokens=100,
                     completion_tokens=len(cut), latency_s=0.5, stop="stop")


@pytest.fixture
def record(tmp_path):
    def run(name="out", model=None, **given):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        return recording.run(model or Scripted(), folder, **{"cases": 2, "episodes": 2} | given)
    return run


def test_a_run_cut_off_and_started_again_ends_with_the_bytes_of_one_that_was_not(record, tmp_path):
    whole = record("whole")
    wanted = (tmp_path / "whole" / recording.FILE).read_bytes()
    driven = (tmp_path / "whole" / recording.DRIVEN).read_bytes()
    assert driven.count(b"\n") == 2
    assert whole.added == wanted.count(b"\n") > 12 and whole.there == 0
    for after in (1, 7, 3 * 12 + 2):  # within the solutions' points, and within an episode
        name = f"cut-{after}"
        with pytest.raises(InputError, match="the model failed: no server; then run the same"):
            record(name, Scripted(fails_at=after))
        path = tmp_path / name / recording.FILE
        with path.open("ab") as file:
            file.write(b'{"instance_id":"INS')  # as if killed inside a write
        done = record(name)
        assert path.read_bytes() == wanted and done.added + done.there == whole.added
        assert path.with_name(recording.DRIVEN).read_bytes() == driven
    assert record("whole").added == 0
    assert (tmp_path / "whole" / recording.DRIVEN).read_bytes() == driven


def test_all_selectors_choose_among_the_same_candidates(record, tmp_path):
    record()
    kept = source.load(tmp_path / "out")
    followed = {name: [follow(kept.tree.at, case, 0, partial(choose, name)) for case in kept.cases]
                for name in SELECTORS}
    assert all(path.missing is None for found in followed.values() for path in found)
    shared = 0
    for case in range(2):
        for name in SELECTORS:
            a, b = followed["random"][case], followed[name][case]
            assert a.points[0] == b.points[0] == Point(kept.cases[case].instance_id, 0)
            agreed = next((i for i, (x, y) in enumerate(zip(a.picks, b.picks, strict=False))
                           if x.number != y.number), min(len(a.picks), len(b.picks)))
            assert a.points[:agreed] == b.points[:agreed]
            shared += agreed
    assert shared > 0
    frame = outcomes.decisions(kept.tree, kept.cases, list(SELECTORS))
    assert len(frame[["instance_id", "given", "calls", "distinct"]].drop_duplicates()) == 12


def test_a_point_reached_twice_has_the_same_candidates_and_each_draw_a_seed_of_its_own():
    model = Scripted()
    once = candidates.draw(model, CASE.goal, given_steps(CASE, 2), 3, 7)
    again = candidates.draw(model, CASE.goal, given_steps(CASE, 2), 3, 7)
    seeds = [seed for _, seed, _ in model.asked]
    assert once == again and seeds[:3] == seeds[3:] and len(set(seeds)) == 3
    assert candidates.draw(model, CASE.goal, given_steps(CASE, 2), 3, 8) != once
    assert [seed for _, seed, _ in model.asked][6:] != seeds[:3]


def test_arguments_are_offered_once_the_case_has_shown_them():
    tools = {}
    for given in (0, 2, 4):
        form = candidates.schema(CASE.goal, given_steps(CASE, given))["properties"]["call"]
        tools[given] = {f["properties"]["tool"]["enum"][0]: f["properties"] for f in form["anyOf"]}
    assert set(world.TOOLS) - set(tools[0]) == {"get_policy", "issue_refund"}
    assert set(tools[2]) == set(world.TOOLS)
    assert tools[2]["get_policy"]["sku"]["enum"] == [CASE.sku]
    assert tools[0]["get_customer"]["email"]["enum"] == [CASE.customer.email]
    fee = CASES[1]  # under a fee the total and the authorised amount differ
    amounts = candidates.offered(fee.goal, given_steps(fee, 4))["amount_eur"]
    assert amounts == [fee.total_eur, oracle.calls(fee)[4].args["amount_eur"]]
    for case in CASES:  # what solves the case can always be said
        for given, call in enumerate(oracle.calls(case)):
            form = candidates.schema(case.goal, given_steps(case, given))["properties"]["call"]
            [fields] = [f["properties"] for f in form["anyOf"]
                        if f["properties"]["tool"]["enum"] == [call.tool]]
            assert all(value in fields[name].get("enum", [value])
                       for name, value in call.args.items())


def test_a_reply_is_read_into_its_call_and_the_means_of_its_parts():
    text = '{"thought": "a \\"call\\" b", "call": {"tool": "escalate", "reason": "r"}}'
    pieces = ['{"thought": "a \\"call\\" b",', ' ', '"call"', ': {"tool": "escalate", ',
              '"reason": "r"}}']
    logs = [-1.0, -3.0, -0.5, -0.25, -0.75]
    reply = Reply(text, tokens=tuple(Token(p, x, (("a", math.log(0.5)), ("b", math.log(0.5))))
                                     for p, x in zip(pieces, logs, strict=True)), stop="stop")
    found = candidates._candidate(reply)
    assert (found.call, found.thought) == (Call("escalate", {"reason": "r"}), 'a "call" b')
    assert (found.nll, found.thought_nll, found.call_nll) == (1.1, 2.0, 0.5)
    assert found.entropy == round(math.log(2), 4)
    assert candidates._candidate(msgspec.structs.replace(reply, tokens=None)).nll is None
    odd = candidates._candidate(Reply('{"thought": "t", "call": {"tool": "refund"}}', stop="stop"))
    assert (odd.status, odd.call) == ("unparsed", None)
    cut = candidates._candidate(Reply('{"thought": "t', stop="length", completion_tokens=9))
    assert cut.status == "unparsed" and "cut off" in cut.rationale


def test_what_cannot_be_recorded_stops_in_one_line(record, tmp_path):
    with pytest.raises(InputError, match="gives no log-probabilities"):
        record("bare", Scripted(logprobs=False))
    record("mixed")
    for other in ({"seed": 8}, {"n": 2}):
        with pytest.raises(InputError, match=r"another run.*choose another --out"):
            record("mixed", **other)
    with pytest.raises(InputError, match=r"no decisions.jsonl in it; run: tjlib guided"):
        source.load(tmp_path)


@pytest.mark.parametrize(("change", "said"), [
    (lambda lines, run: run["options"].pop("cases_seed"), "runs.jsonl: no run of tjlib guided"),
    (lambda lines, run: run["options"].update(cases_seed="7"), "Expected `int`, got `str`"),
    (lambda lines, run: run["options"].pop("candidates"), "runs.jsonl: no run of tjlib guided"),
    (lambda lines, run: run["options"].update(candidates=7), "where the run drew 7"),
    (lambda lines, run: lines[0]["candidates"].pop(), "2 candidates at .* where the run drew 3"),
    (lambda lines, run: lines[1].update(given=9), "decisions.jsonl:2: Expected `int` <= 5"),
])
def test_a_damaged_recording_stops_in_one_line_that_names_its_file(record, tmp_path, change, said):
    record(cases=1, episodes=0)
    path, beside = tmp_path / "out" / recording.FILE, tmp_path / "out" / "runs.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    run = json.loads(beside.read_text())
    assert source.load(path.parent).n == 3
    change(lines, run)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    beside.write_text(json.dumps(run) + "\n")
    with pytest.raises(InputError, match=said) as stopped:
        source.load(path.parent)
    assert "\n" not in str(stopped.value)


def test_the_command_records_and_goes_on_with_more(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(models, "connect", lambda name: Scripted())
    out = tmp_path / "new"
    command = ["guided", "--model", "local:any", "--out", str(out), "--cases", "1"]
    assert main(command) == 0
    assert "candidates at 6 points added" in capsys.readouterr().out
    assert main([*command, "--episodes", "1", "--given", "4", "--select", "random,rupa"]) == 0
    assert "at 6 were there" in capsys.readouterr().out
    kept = source.load(out)
    assert follow(kept.tree.at, kept.cases[0], 4, partial(choose, "rupa")).missing is None
    # Driven is what was asked for, and not what looks complete.
    assert kept.driven(4, ["rupa", "random"]) == kept.cases
    assert kept.driven(4, ["rupa", "saup"]) == kept.driven(0, ["rupa"]) == []
    assert "smollm2" not in kept.origin and "script (local" in kept.origin
    assert main([*command, "--select", "best"]) == 1
    assert "no selector 'best'" in capsys.readouterr().err


# ---------------------------------------------------------------- what was right


def test_the_next_call_of_the_solution_is_right_and_prose_is_not_compared():
    assert all(outcomes.is_right(call, call) for call in SOLVED)
    assert outcomes.is_right(Call("reply", {"text": "Done."}), SOLVED[5])
    assert not outcomes.is_right(SOLVED[3], SOLVED[1])
    refund = SOLVED[4]
    cent = Call("issue_refund", refund.args | {"amount_eur": refund.args["amount_eur"] - 0.01})
    assert not outcomes.is_right(cent, refund)


HARM = {
    "the right call": (3, SOLVED[3], True), "a look again": (3, SOLVED[1], True),
    "a look ahead": (0, SOLVED[1], True),
    "eligibility before the order": (0, SOLVED[3], False),
    "money nobody checked": (2, SOLVED[4], False),
    "a hand-over though money is due": (4, ESCALATE, False),
    "a reply too early": (3, REPLY, False), "a reply in time": (5, REPLY, True),
}


@pytest.mark.parametrize("name", HARM)
def test_a_call_does_no_harm_if_the_solution_can_go_on_after_it(name):
    given, call, fine = HARM[name]
    assert outcomes.does_no_harm(CASE, given, call) is fine


def test_decisions_and_paths_count_what_was_worked_by_hand():
    good, look = drawn("a", SOLVED[0], 0.9), drawn("b", SOLVED[1], 0.1)
    bad = Candidate(status="empty", rationale="x", latency_s=1.0)
    timed = [msgspec.structs.replace(one, latency_s=2.0, prompt_tokens=10, completion_tokens=5)
             for one in (good, look)]
    tree = Tree([Decision(CASE.instance_id, 0, (), (*timed, bad))])
    frame = outcomes.decisions(tree, [CASE], ["random", "entropy"]).set_index("selector")
    assert frame["right"].to_dict() == pytest.approx(
        {"random": 1, "entropy": 0, "any": 1, "average": 1 / 3})
    assert frame["harmless"].to_dict() == pytest.approx(
        {"random": 1, "entropy": 1, "any": 1, "average": 2 / 3})
    # The first drawn costs one call, a choice all three.
    assert frame["latency_s"][:2].tolist() == [2.0, 5.0]
    assert (frame["calls"] == 2).all() and frame["prompt_tokens"].isna()["entropy"]
    with pytest.raises(InputError, match=r"no candidates at .*taken=\(0,\)"):
        outcomes.paths(tree, [CASE], 0, ["random"])
    # Given five calls, a reply solves the case.
    end = Tree([Decision(CASE.instance_id, 5, (), (drawn("a", REPLY, 1.0), drawn("b", SOLVED[0],
                                                                                .1))),
                Decision(CASE.instance_id, 5, (1,), (bad,))])
    found = outcomes.paths(end, [CASE], 5, ["random", "entropy"]).set_index("selector")
    assert found["solved"].to_dict() == {"random": 1, "entropy": 0}
    assert found["kind"].to_dict() == {"random": "", "entropy": "premature_stop"}
    assert found["steps"].to_dict() == {"random": 1, "entropy": 1}


def test_within_a_point_a_wrong_candidate_should_score_higher_than_a_right_one():
    def point(given, *candidates):
        return Decision(CASE.instance_id, given, (), candidates)

    right = [drawn("a", call, 0.5) for call in SOLVED]
    tree = Tree([
        # One right between two wrong: one pair won, one lost.
        point(0, drawn("a", SOLVED[1], 0.9), right[0], drawn("a", SOLVED[3], 0.1)),
        # A tie is half; what is no call is no pair.
        point(1, right[1], drawn("a", SOLVED[0], 0.5), Candidate(status="empty")),
        point(2, right[2], right[2]), point(3, drawn("a", SOLVED[1], 0.1))])
    found = outcomes.pairs(tree, [CASE], ["entropy", "random"])
    assert found["given"].tolist() == [0, 1]
    assert found["entropy"].tolist() == found["random"].tolist() == [0.5, 0.5]
    won = outcomes.pairs(Tree([point(0, right[0], drawn("a", SOLVED[1], 0.9))]), [CASE],
                         ["entropy"])
    assert won["entropy"].tolist() == [1.0]
    assert outcomes.pairs(Tree(), [CASE], ["entropy"]).empty


def test_a_path_ends_at_a_reply_or_at_the_last_step_allowed():
    def always(call):
        return lambda point, made: (drawn("a", call, 1.0),)

    path = follow(always(SOLVED[1]), CASE, 2, partial(choose, "rupa"))
    assert (len(path.made), len(path.picks), path.missing) == (agent.MAX_STEPS, 8, None)
    ended = follow(always(REPLY), CASE, 5, partial(choose, "rupa"))
    assert (len(ended.picks), ended.trajectory(CASE).final_answer) == (1, "x")
    nothing = follow(lambda point, made: None, CASE, 3, partial(choose, "rupa"))
    assert nothing == Path(nothing.made, (), (), Point(CASE.instance_id, 3))


# ---------------------------------------------------------------- the simulated agent


def test_the_same_calls_are_drawn_whatever_the_dial_and_the_dial_moves_the_wrong_ones_only():
    blind, sharp = (simulated.agent(CASE, 0.5, x, 40, 3)(Point("i", 0), ()) for x in (0.5, 0.9))
    assert [one.call for one in blind] == [one.call for one in sharp]
    for a, b in zip(blind, sharp, strict=True):
        right = a.call == SOLVED[0]
        assert b.nll == a.nll if right else b.nll > a.nll


@pytest.mark.parametrize("telling", [0.5, 0.75, 0.95])
def test_the_dial_is_the_auroc_of_the_agents_own_uncertainty(telling):
    found = simulated.agent(CASE, 0.5, telling, 4000, 1)(Point("i", 0), ())
    wrong = np.array([one.nll for one in found if one.call != SOLVED[0]])
    right = np.array([one.nll for one in found if one.call == SOLVED[0]])
    assert len(right) / len(found) == pytest.approx(0.5, abs=0.03)
    assert (wrong[:, None] > right).mean() == pytest.approx(telling, abs=0.02)


def test_a_competent_agent_solves_every_case_and_knowing_solves_what_chance_allows():
    sure = simulated.episodes(CASES, ["random", "rupa"], [0.5], competence=1.0)
    assert sure["solved"].eq(1).all() and sure["steps"].eq(6).all()
    none = simulated.episodes(CASES, [simulated.BEST], [0.5], competence=0.0)
    assert none["solved"].eq(0).all()


def test_a_telling_signal_is_worth_having_and_selection_reproduces_from_its_seed():
    many = list(islice(world.instances(7), 30))
    found = simulated.episodes(many, ["random", "entropy", simulated.BEST], [0.97])
    again = simulated.episodes(many, ["random", "entropy", simulated.BEST], [0.97])
    pd.testing.assert_frame_equal(found, again)
    solved = found.groupby("selector")["solved"].mean()
    # Six right calls in a row: .7 ** 6 = .12 if no wrong call could be made good, and some can.
    assert solved["random"] < 0.45 < solved["entropy"] <= solved["best"]


# ---------------------------------------------------------------- measures and data


def test_the_interval_of_a_paired_difference_is_that_of_the_cases_differences():
    # Two cases of one point: RUPA is ahead by 1 in one and level in the other, so a resample of
    # two cases has a mean difference of 0, 1/2 or 1; random alone is all or nothing.
    frame = pd.DataFrame({"rupa": [1, 1], "random": [0, 1]})
    found = means(frame, ["a", "b"], np.random.default_rng(0), pairs=[("rupa", "random")],
                  draws=400).set_index("what")
    assert found.loc["rupa - random", ["value", "lo", "hi"]].tolist() == [0.5, 0.0, 1.0]
    assert found.loc["rupa", "lo"] is None  # every replicate gives 1
    level = means(frame.assign(rupa=frame["random"]), ["a", "b"], np.random.default_rng(0),
                  pairs=[("rupa", "random")]).set_index("what")
    assert level.loc["rupa - random", "value"] == 0.0


def test_a_cost_per_success_is_a_ratio_of_sums_and_open_above_if_a_draw_may_have_none():
    rng = np.random.default_rng(0)
    found = per_success([2, 2, 4, 4], [1, 0, 1, 0], ["a", "a", "b", "b"], rng, draws=200)
    # Both tasks succeed once, so each draw of two tasks has two: 8, 12 or 16 over 2.
    assert (found["value"], found["lo"], found["hi"]) == (6.0, 4.0, 8.0)
    rare = per_success([1.0] * 4, [1, 0, 0, 0], list("abcd"), rng, draws=400)
    assert (rare["value"], rare["hi"]) == (4.0, math.inf) and rare["lo"] < 4
    assert per_success([2.0, 2.0], [1, 1], ["a", "b"], rng)["lo"] is None  # always 2
    assert per_success([1.0], [0], ["a"], rng)["why"] == "undefined: nothing succeeded"
    assert per_success([float("nan")], [1], ["a"], rng)["why"] == "undefined: no cost is recorded"


def test_three_runs_of_one_rule_differ_by_up_to_a_twentieth_in_the_published_table():
    table = store.published("rupa_table3")
    assert len(table) == 4 * 5 * 2
    found = same_rule(table).set_index(["model", "benchmark"])
    assert found["spread"].max() == pytest.approx(0.055)
    assert found["spread"].idxmax() == ("GPT-OSS-120B", "Terminal-Bench-2")
    # .141 .150 .143 and RUPA .213, random .105.
    row = found.loc[("Qwen3.5-27B", "Terminal-Bench-2")]
    assert row["mean"] == pytest.approx(0.434 / 3)
    assert row["over_best"] == pytest.approx(0.063) and row["spread"] == pytest.approx(0.009)
    assert row["gain"] == pytest.approx(0.434 / 3 - 0.105)
    assert row["sd"] == pytest.approx(np.std([0.141, 0.15, 0.143], ddof=1))


def test_the_published_table_is_the_one_of_the_shared_folder(shared):
    ours = store.data_folder("published") / "rupa_table3.csv"
    assert ours.read_bytes() == (shared / "published" / "rupa_table3.csv").read_bytes()


def test_no_two_ticks_of_the_gains_read_alike():
    rows = pd.DataFrame({"selector": ["a", "b"], "value": [-0.06, 0.02], "lo": [-0.15, -0.04],
                         "hi": [0.04, 0.12], "shown": "", "published": [0.03, 0.11], "where": ""})
    drawn_as = vl_convert.vegalite_to_svg(charts.gains(rows).to_json(validate=False))
    ticks = re.findall(r">([\u2212-]?\d\.\d+)<", drawn_as)
    assert len(ticks) > 2 and len(set(ticks)) == len(ticks)
