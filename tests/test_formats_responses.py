"""NeMo Gym, Codex and Inspect: every quirk of the formats at its place."""

import json
import zipfile
from pathlib import Path

import pytest
from raw_counts import values

from tjlib.documents import Document, Unread
from tjlib.formats import codex, inspect_ai, items, nemo_gym
from tjlib.formats.registry import load
from tjlib.formats.scores import verdict
from tjlib.formats.tokens import usage
from tjlib.trace import Call, Observation

EXAMPLES = Path(__file__).parent / "examples"
NAMES = {"nemo_gym": "nemo_gym.jsonl", "codex": "codex.jsonl", "inspect": "inspect.json"}


def documents(*given, sources=None):
    return [Document(at, "", value, sources[at - 1] if sources else "")
            for at, value in enumerate(given, 1)]


def said(text, role="assistant", **more):
    return {"type": "message", "role": role, "content": [{"type": "output_text", "text": text}],
            **more}


def called(own="c1", tool="look", arguments="{}", **more):
    return {"type": "function_call", "call_id": own, "name": tool, "arguments": arguments, **more}


def gave(own, output):
    return {"type": "function_call_output", "call_id": own, "output": output}


def thought(text):
    return {"type": "reasoning", "summary": [{"type": "summary_text", "text": text}]}


def run_of(*given):
    return items.read((f"item {at}", item) for at, item in enumerate(given))


def rollout(*output, reward=1.0, given=(), **fields):
    row = {"responses_create_params": {"input": list(given)}, "reward": reward,
           "response": {"id": "r", "output": list(output)}, **fields}
    [run] = nemo_gym.read(iter(documents(row)))
    return run


# --- Responses items -------------------------------------------------------------------------

def test_a_turn_is_reasoning_a_message_and_the_calls_after_it():
    run = run_of(said("Hi", "user"), thought("Look."), said("I look."), called("a"), called("b"),
                 gave("b", "2"), gave("a", "1"), said("Done."))
    first, last = run.steps
    assert first.thought == "Look.\n\nI look." and len(first.calls) == 2
    assert [o.data for o in first.observations] == [{"text": "1"}, {"text": "2"}]
    assert (last.thought, run.answer) == ("Done.", "Done.")


def test_a_message_starts_a_turn_where_results_are_not_stored():
    run = run_of(said("a"), called(), said("b"), called("c2"), said("c"))
    assert [(s.thought, len(s.calls)) for s in run.steps] == [("a", 1), ("b", 1), ("c", 0)]


def test_reasoning_behind_a_call_is_the_calls_if_its_result_is_next():
    run = run_of(called("a"), thought("why a"), gave("a", "1"), called("b"), thought("next"),
                 said("end"))
    assert [s.thought for s in run.steps] == ["why a", "", "next\n\nend"]


def test_log_probabilities_end_a_turn_and_stay_with_its_step():
    run = run_of(said("a"), called(generation_log_probs=[-0.5, -0.1]),
                 called("c2", generation_log_probs=[-0.2]), said("b", generation_log_probs=[]))
    assert [s.logprobs for s in run.steps] == [(-0.5, -0.1), (-0.2,), None]


def test_log_probabilities_of_a_messages_text_do_not_end_its_turn():
    spoken = {"role": "assistant", "content": [
        {"type": "output_text", "text": "a b", "logprobs": [{"logprob": -1}, {"logprob": -0.5}]}]}
    [step] = run_of(spoken, called()).steps
    assert (step.logprobs, len(step.calls)) == ((-1.0, -0.5), 1)


@pytest.mark.parametrize("stand_in", [[0.0], [-0.1, -0.2]])
def test_placeholder_log_probabilities_are_dropped_and_told(stand_in):
    run = run_of(said("a", generation_log_probs=stand_in))
    assert run.steps[0].logprobs is None
    assert run.notes == ("item 0: placeholder log-probabilities, left out",)


def test_the_empty_message_that_pads_a_run_is_no_turn_and_voids_no_answer():
    run = run_of(said("The answer."), said("", generation_log_probs=[0.0]))
    assert len(run.steps) == 1 and run.answer == "The answer."
    assert run.notes == (
        "item 1: an empty message with placeholder log-probabilities, left out",)


def test_a_run_that_ends_on_a_call_has_no_answer():
    assert run_of(said("I look."), called()).answer == ""


def test_a_tool_of_the_provider_brings_its_result_with_the_call():
    run = run_of({"type": "mcp_call", "id": "m", "name": "find", "arguments": '{"q": 1}',
                  "output": '{"hits": 2}'},
                 {"type": "code_interpreter_call", "id": "i", "code": "1/0", "error": "no"},
                 {"type": "web_search_call", "id": "w", "action": {"query": "lamp"}})
    [step] = run.steps
    assert step.calls == (Call("find", {"q": 1}), Call("code_interpreter", {"code": "1/0"}),
                          Call("web_search", {"action": {"query": "lamp"}}))
    assert step.observations == (Observation(True, {"hits": 2}), Observation(False, {}, "no"))


@pytest.mark.parametrize("text", [
    "Error: no", "ERROR:\nno", "KeyError: 'a'", "Traceback (most recent call last):\n no",
    "<tool_use_error>no", '{"error": "no"}', '{"status": "error"}', "Error executing tool",
    '{"output": "", "metadata": {"exit_code": 2}}', "Process exited with code 1\nOutput:",
    "Exit code: 2\nWall time: 1 s"])
def test_a_result_that_begins_as_an_error_is_one(text):
    [step] = run_of(called(), gave("c1", text)).steps
    assert step.observations == (Observation(False, {}, text),)


@pytest.mark.parametrize("text", [
    "error.log", "No error: fine", '{"error": null}', "Process exited with code 0",
    '{"metadata": {"exit_code": 0}}', "The errors: none", '{"error": '])
def test_a_result_that_only_names_an_error_is_none(text):
    [step] = run_of(called(), gave("c1", text)).steps
    assert step.observations[0].ok


def test_a_message_of_white_space_is_of_the_turn_of_the_call_after_it_and_no_text():
    [step] = run_of(said("\n\n"), called()).steps
    assert (step.thought, len(step.calls)) == ("", 1)


def test_what_a_simulated_user_says_in_the_output_is_a_turn_of_the_user():
    run = run_of(said("Which order?"), said("7412", "user"), said("Done."))
    assert [(s.thought, s.user) for s in run.steps] == [("Which order?", "7412"), ("Done.", None)]


def test_what_is_no_item_is_named_with_its_place():
    notes = run_of(7, {"type": "item_reference", "id": "x"}, {"id": "y"}, said("a")).notes
    assert notes == ("item 0: an item of type int, left out",
                     "item 1: an item of type item_reference, left out",
                     "item 2: an item of type None, left out")


def test_an_item_without_a_type_is_a_message_and_a_refusal_is_its_text():
    run = run_of({"role": "assistant", "content": [{"type": "refusal", "refusal": "I cannot."}]})
    assert (run.answer, run.notes) == ("I cannot.", ())


# --- NeMo Gym --------------------------------------------------------------------------------

def test_our_rollouts_are_read_as_they_were_written():
    first, second = load(EXAMPLES / NAMES["nemo_gym"]).runs
    assert (first.success, first.reward, first.model) == (True, 1.0, "small-desk-model")
    assert (second.success, second.reward, second.trial) == (None, 0.36, "1")
    assert first.task_id == second.task_id == "refund-7412"
    assert [len(s.calls) for s in first.trajectory.steps] == [2, 1, 1, 0]
    assert [s.logprobs for s in first.trajectory.steps] == [
        (-0.21, -0.034, -1.2), (-0.5, -0.25), None, None]
    assert [o.ok for s in first.trajectory.steps for o in s.observations] == [
        True, True, False, True]
    assert first.trajectory.steps[2].calls == (
        Call("refund", {"arguments": "order 7412 please"}),)
    assert first.trajectory.final_answer == "Your refund of 24.50 is on its way."
    assert first.procedure.startswith("You are the refund desk")
    assert first.usage["prompt_tokens"] == 820 and first.usage["reasoning_tokens"] == 20
    assert second.trajectory.steps[0].user == "I said it: 7412."


@pytest.mark.parametrize(("fields", "success"), [
    ({"reward": 1.0}, True), ({"reward": 0.0}, False), ({"reward": 1}, True),
    ({"reward": 0.36}, None), ({"reward": -12.7}, None), ({"reward": None}, None),
    ({"reward": True}, None), ({"reward": 10**400}, None), ({"reward": 2.0}, None),
    ({"reward": 2.0, "reward_components": {"format": 0.0}}, True),
    ({"reward": 0.1, "symbolic_equivalent": False}, False),
    ({"reward": 0.9999999999999998, "symbolic_equivalent": True}, True),
    ({"reward": 0.0, "success": True, "resolved": False}, None),
    ({"reward": 1.0, "mask_sample": True}, None), ({"reward": 1.0, "mask_sample": False}, True),
    ({"reward": 0.0, "trajectory_invalid_reasons": ["no message"]}, None)])
def test_success_is_a_stated_verdict_or_a_reward_of_exactly_one_or_zero(fields, success):
    run = rollout(said("a"), **fields)
    assert run.success is success
    assert (success is None) == any("not judged" in note for note in run.notes)


def test_a_graded_reward_stays_as_it_is():
    assert rollout(said("a"), reward=-12.7).reward == -12.7


def test_a_rollout_whose_environment_says_another_reward_is_not_judged():
    ended = gave("c1", '{"result": "Finished.", "reward": 1.0, "done": true}')
    run = rollout(called(), ended, said("a"), reward=0.0)
    assert run.success is None
    assert "a reward of 0, but 1 from the environment, so not judged" in run.notes
    assert rollout(called(), ended, reward=1.0).success is True


def test_a_rollout_without_output_is_not_judged():
    run = rollout(reward=0.0)
    assert (run.success, run.trajectory.steps) == (None, ())
    assert run.notes == ("no output, so not judged",)


def test_a_response_that_was_cut_short_says_so():
    row = {"response": {"output": [said("a")], "error": {"code": "x"},
                        "incomplete_details": {"reason": "max_output_tokens"}}, "reward": 1.0}
    [run] = nemo_gym.read(iter(documents(row)))
    assert run.notes == ("the response ended on an error: {'code': 'x'}",
                         "the response is incomplete: max_output_tokens")


def test_a_history_that_is_told_again_counts_once_and_brings_its_own_prompt():
    one = [said("Add 1 and 2.", "user"), called(), gave("c1", "3")]
    run = rollout(one, [*one, said("It is 3.")], given=[said("Something else", "user")])
    assert (run.trajectory.goal, len(run.trajectory.steps)) == ("Add 1 and 2.", 2)
    assert "the output has a prompt of its own; the request's was left out" in run.notes


def test_turns_in_the_request_are_steps_before_those_of_the_response():
    run = rollout(said("Done."), given=[said("Rules", "system"), said("Hello!"),
                                        said("Refund it.", "user"), called(), gave("c1", "ok")])
    assert [s.thought for s in run.trajectory.steps] == ["Hello!", "", "Done."]
    assert (run.trajectory.goal, run.procedure) == ("Refund it.", "Rules")
    assert "the request holds earlier turns, which are read as steps" in run.notes


def test_a_request_that_is_a_text_is_the_goal_and_a_problem_statement_stands_in_for_it():
    row = {"response": {"output": [said("4")]}, "reward": 1.0,
           "responses_create_params": {"input": "2+2?", "instructions": "Be brief."}}
    [run] = nemo_gym.read(iter(documents(row)))
    assert (run.trajectory.goal, run.procedure) == ("2+2?", "Be brief.")
    row["responses_create_params"] = {"metadata": {"problem_statement": "Mend it."}}
    [run] = nemo_gym.read(iter(documents(row)))
    assert run.trajectory.goal == "Mend it."


def test_a_bare_response_is_a_run_without_a_verdict():
    value = {"object": "response", "id": "resp_1", "output": [said("Hello")]}
    assert nemo_gym.recognise(value)
    [run] = nemo_gym.read(iter(documents(value)))
    assert (run.trajectory.trajectory_id, run.success) == ("resp_1", None)


def test_tokens_are_counted_under_one_name_each_and_zero_counts_are_none():
    assert usage({"input_tokens": 5, "cost": 0.25}, {"prompt_tokens": 2}, None) == {
        "prompt_tokens": 7, "cost": 0.25}
    assert usage({"input_tokens": 0, "output_tokens": 0}) == {}


# --- Codex -----------------------------------------------------------------------------------

def test_our_session_is_read_as_it_was_written():
    [run] = load(EXAMPLES / NAMES["codex"]).runs
    steps = run.trajectory.steps
    assert run.trajectory.trajectory_id == "desk-session-1" and run.success is None
    assert run.trajectory.goal == "Refund the broken lamp of order 7412."
    assert [[c.tool for c in s.calls] for s in steps] == [["local_shell"], ["archive"], []]
    assert [o.ok for s in steps for o in s.observations] == [False, True]
    assert (run.model, run.usage["total_tokens"]) == ("small-desk-model", 440)
    assert run.notes == ("line 16: the session was summed up here for the model",
                         "line 17: turn_aborted, interrupted",
                         "1 reasoning items without a text that can be read")


def test_a_head_behind_items_or_another_file_starts_another_session():
    head = [{"type": "session_meta", "payload": {"id": name}} for name in "ab"]
    item = {"type": "response_item", "payload": said("x")}
    runs = list(codex.read(iter(documents(head[0], head[1], item, head[1], item))))
    assert [run.trajectory.trajectory_id for run in runs] == ["a", "b"]
    runs = list(codex.read(iter(documents(item, item, sources=["1.jsonl", "2.jsonl"]))))
    assert [len(run.trajectory.steps) for run in runs] == [1, 1]


def test_a_line_of_unknown_type_is_counted():
    [run] = codex.read(iter(documents({"type": "response_item", "payload": said("x")},
                                      {"type": "new_thing", "payload": {}})))
    assert run.notes == ("lines left out: 1 new_thing",)


# --- Inspect ---------------------------------------------------------------------------------

def test_our_log_is_read_as_it_was_written():
    first, second = load(EXAMPLES / NAMES["inspect"]).runs
    assert (first.success, first.reward, second.success, second.reward) == (True, 1.0, False, None)
    assert (first.task_id, first.trial, second.trial) == ("refunds/lamp", "1", "2")
    one, two = first.trajectory.steps
    assert one.thought == "I need the order.\nI look it up."
    assert one.observations == (Observation(True, {"order_id": "7412", "age_days": 12}),
                                Observation(False, {}, "the policy did not load"))
    assert (one.logprobs, two.logprobs) == ((-0.7,), (-0.3, -0.02))
    assert first.trajectory.final_answer == "24.50" and first.model == "lab/small-desk-model"
    assert first.usage == {"prompt_tokens": 300, "completion_tokens": 30, "total_tokens": 330}
    assert first.notes == ("message 1: a part of type image, left out",)
    assert second.notes[0] == (
        "several scores: match 0, style 0.7; success is what the clear ones say")


@pytest.mark.parametrize(("scores", "success"), [
    ({"m": {"value": "C"}}, True), ({"m": {"value": "I"}}, False), ({"m": {"value": "N"}}, False),
    ({"m": {"value": "P"}}, None), ({"m": {"value": 1}}, True), ({"m": {"value": 0.0}}, False),
    ({"m": {"value": 0.4}}, None), ({"m": {"value": True}}, True), ({"m": {"value": "no"}}, False),
    ({"m": {"value": {"a": 1, "b": 1}}}, True), ({"m": {"value": {"a": 1, "b": 0}}}, None),
    ({"m": {"value": None}}, None), ({"m": {"value": "maybe"}}, None), ({}, None),
    ({"a": {"value": "C"}, "b": {"value": "I"}}, None),
    ({"a": {"value": "C"}, "b": {"value": 0.2}}, True)])
def test_only_a_clear_score_or_scores_that_agree_decide(scores, success):
    assert verdict({"scores": scores})[0] is success


def test_the_one_score_of_an_old_log_decides_and_a_crash_voids_any():
    assert verdict({"score": {"value": "C"}}) == (True, 1.0, [])
    assert verdict({"scores": {"m": {"value": "I"}}, "error": {"message": "gone"}}) == (
        None, 0.0, ["crashed, so not judged: gone"])
    assert verdict({"scores": {"m": {"value": "C"}}, "invalidation": {"author": "x"}})[0] is None


def sample(**fields):
    return {"id": 3, "epoch": 1, "input": "Q", "target": "A", "messages": [
        {"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}],
        "scores": {"m": {"value": "C"}}} | fields


@pytest.mark.parametrize("archive", ["", "logs/a.eval!", "unpacked/"])
def test_the_heads_of_an_archive_name_task_and_model_and_are_no_runs(archive):
    head = {"eval": {"task": "quiz", "model": "lab/m"}, "plan": {}}
    summary = {k: v for k, v in sample().items() if k != "messages"}
    names = ["_journal/start.json", "samples/3_epoch_1.json", "summaries.json", "reductions.json",
             "header.json"]
    found = documents(head, sample(), summary, {"scorer": "m", "samples": []},
                      head | {"status": "success"}, sources=[archive + name for name in names])
    assert all(inspect_ai.recognise(document.value) for document in found)
    [run] = inspect_ai.read(iter(found))
    assert (run.trajectory.trajectory_id, run.source) == ("quiz/3-1", found[1].source)
    assert (run.task_id, run.model) == ("quiz/3", "lab/m")


def test_an_archive_of_our_log_gives_the_runs_of_our_log(tmp_path):
    [log] = values(EXAMPLES / NAMES["inspect"])
    head = {k: v for k, v in log.items() if k != "samples"}
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as packed:
        packed.writestr("_journal/start.json", json.dumps({"version": 2, "eval": log["eval"]}))
        for own in log["samples"]:
            packed.writestr(f"samples/lamp_epoch_{own['epoch']}.json", json.dumps(own))
        packed.writestr("header.json", json.dumps(head))
    plain, packed = load(EXAMPLES / NAMES["inspect"]), load(tmp_path / "log.eval")
    assert (packed.format, packed.unread, packed.passed) == ("inspect", [], [])
    assert [run.source for run in packed.runs] == [
        "samples/lamp_epoch_1.json", "samples/lamp_epoch_2.json"]
    assert [(r.trajectory, r.task_id, r.model, r.success) for r in packed.runs] == [
        (r.trajectory, r.task_id, r.model, r.success) for r in plain.runs]


def test_a_log_that_failed_is_told_and_names_no_other_logs_sample():
    failed = {"eval": {"task": "quiz", "model": "m"}, "status": "error",
              "error": {"message": "no key"}}
    run, left = inspect_ai.read(iter(documents(failed, sample(), sources=[
        "a.json", "b.eval!samples/1.json"])))
    assert (run.task_id, run.model) == ("3", None)
    assert left == Unread(1, 'a log of status "error" without samples: no key', "a.json")


def test_a_result_without_its_call_and_an_attachment_that_is_gone_are_told():
    [run] = inspect_ai.read(iter(documents(sample(messages=[
        {"role": "user", "content": "Q"}, {"role": "assistant", "content": "attachment://none"},
        {"role": "tool", "tool_call_id": "x", "content": "B"}]))))
    assert run.trajectory.steps[0].observations == (Observation(True, {"text": "B"}),)
    assert run.notes == ("message 2: a result of no open call",
                         "1 attachments that are not in the log")


def test_a_tool_of_the_provider_inside_a_message_is_a_call_with_its_result():
    [run] = inspect_ai.read(iter(documents(sample(messages=[{"role": "assistant", "content": [
        {"type": "reasoning", "reasoning": "Search."},
        {"type": "tool_use", "id": "s", "name": "web", "arguments": '{"q": 1}', "result": "r"},
        {"type": "text", "text": "Found."}]}]))))
    [step] = run.trajectory.steps
    assert step.thought == "Search.\nFound."
    assert step.calls == (Call("web", {"q": 1}),)
    assert step.observations == (Observation(True, {"text": "r"}),)


def test_the_answer_is_what_was_submitted_and_not_the_scorers_copy_of_it():
    call = {"id": "s", "type": "function", "function": "submit", "arguments": {"answer": "Rome"}}
    [run] = inspect_ai.read(iter(documents(sample(
        messages=[{"role": "assistant", "content": "", "tool_calls": [call]}],
        scores={"m": {"value": "C", "answer": "rome"}}))))
    assert run.trajectory.final_answer == "Rome"


def test_the_answer_is_the_message_without_its_reasoning():
    [run] = inspect_ai.read(iter(documents(sample(messages=[{"role": "assistant", "content": [
        {"type": "reasoning", "reasoning": "2+2"}, {"type": "text", "text": "4"}]}]))))
    assert (run.trajectory.steps[0].thought, run.trajectory.final_answer) == ("2+2\n4", "4")
