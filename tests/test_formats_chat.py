"""The quirks of chats, tau2 and AgentDojo, and what is kept of log-probabilities."""

import json
from pathlib import Path

import pytest

from tjlib.formats import chat
from tjlib.formats.registry import load
from tjlib.formats.tokens import logprobs
from tjlib.trace import Observation

EXAMPLES = Path(__file__).parent / "examples"


def example(name):
    return {r.trajectory.trajectory_id: r for r in load(EXAMPLES / name).runs}


# --- our written logs ------------------------------------------------------------------------


REFUND = ["find_order", "read_policy", "refund"]


@pytest.mark.parametrize(("name", "run"), [
    ("openai_chat.jsonl", "lamp-1"), ("tau_bench.json", "tau-0-0"), ("tau2.json", "sim-a"),
    ("agentdojo.json", "desk-model/lamps/user_task_0/direct/injection_task_1"),
    ("native.jsonl", "lamp-native")])
def test_the_same_story_reads_the_same_in_every_format(name, run):
    """Two calls in one message, results in the other order, a repeated id or none at all."""
    run = example(name)[run]
    steps = [s for s in run.trajectory.steps if s.calls]
    assert [c.tool for s in steps for c in s.calls] == REFUND
    assert [list(o.data) for s in steps for o in s.observations] == [
        ["order", "item", "paid", "days_ago"], ["returns", "restocking_fee"], ["refunded"]]
    assert run.trajectory.final_answer == "I have refunded 40 for the lamp."
    assert run.success is True or name == "native.jsonl"


def test_a_logged_reply_is_a_step_with_its_log_probabilities_and_usage():
    run = example("openai_chat.jsonl")["lamp-2"]
    assert run.trajectory.steps[-1].thought == run.trajectory.final_answer == "Done."
    assert run.trajectory.steps[-1].logprobs == (-0.105, -0.011)
    assert run.usage == {"prompt_tokens": 210, "completion_tokens": 2}
    assert run.success is False


def test_the_older_form_of_a_call_keeps_arguments_that_are_no_json():
    run = example("openai_chat.jsonl")["openai_chat-line3"]
    call, = run.trajectory.steps[0].calls
    assert call.args == {"arguments": '{"order": 7'}
    assert not run.trajectory.steps[0].observations[0].ok and run.success is None


def test_what_the_users_own_tools_do_is_not_charged_to_the_agent():
    run = example("tau2.json")["sim-a"]
    assert all(c.tool != "photograph" for s in run.trajectory.steps for c in s.calls)
    assert "1 calls of the user's own tools" in run.notes[0]
    assert run.usage == {"prompt_tokens": 200, "completion_tokens": 20, "cost": 0.02}
    assert run.procedure.startswith("You are the desk") and run.task_id == "lamps/0"
    assert run.trajectory.goal == "Your lamp is broken.\n\nThe order is 1042."


def test_without_a_user_the_ticket_is_the_goal_and_the_end_marker_no_answer():
    run = example("tau2.json")["sim-b"]
    assert run.trajectory.goal == "Refund order 1042: cracked shade."
    assert (run.trajectory.final_answer, run.success) == ("", False)


@pytest.mark.parametrize(("name", "why"), [
    ("sim-c", "nothing was checked"), ("sim-d", "ended by the infrastructure")])
def test_a_reward_that_judges_nothing_is_no_success(name, why):
    run = example("tau2.json")[name]
    assert run.success is None and any(why in note for note in run.notes)


def test_a_bare_list_of_simulations_reads_as_the_results_they_came_in(tmp_path):
    raw = json.loads((EXAMPLES / "tau2.json").read_text("utf-8"))
    (tmp_path / "bare.json").write_text(json.dumps(raw["simulations"]), "utf-8")
    log = load(tmp_path / "bare.json")
    assert log.format == "tau2"
    assert [r.success for r in log.runs] == [r.success for r in example("tau2.json").values()]


def simulated(tmp_path, messages=(), **fields):
    """Read one simulation that stands alone, as a leaderboard's upload does."""
    run = {"id": "s", "task_id": "0", "termination_reason": None, "messages": list(messages),
           "reward_info": {"reward": 1.0, "reward_basis": ["DB"], "db_check": {"db_match": True}}}
    (tmp_path / "run.json").write_text(json.dumps([run | fields]), "utf-8")
    return load(tmp_path / "run.json", "tau2").runs[0]


def test_a_simulation_that_names_no_ending_is_judged_and_one_without_a_reward_is_not(tmp_path):
    said = [{"role": "assistant", "content": "Done"}]
    assert simulated(tmp_path, said).success is True
    assert simulated(tmp_path, said, reward_info=None).success is None


def test_log_probabilities_of_tau2_stand_in_the_raw_reply(tmp_path):
    raw = {"logprobs": {"content": [{"token": "Done", "logprob": -0.25}]}}
    run = simulated(tmp_path, [{"role": "assistant", "content": "Done", "raw_data": raw}])
    assert run.trajectory.steps[0].logprobs == (-0.25,)


def test_a_users_brief_may_be_one_text(tmp_path):
    raw = json.loads((EXAMPLES / "tau2.json").read_text("utf-8"))
    raw["tasks"][0]["user_scenario"]["instructions"] = "Ask for order 1042."
    (tmp_path / "run.json").write_text(json.dumps(raw), "utf-8")
    assert load(tmp_path / "run.json").runs[0].trajectory.goal == "Ask for order 1042."


def test_a_spoken_simulation_whose_ticks_are_no_messages_is_named(tmp_path):
    raw = json.loads((EXAMPLES / "tau2.json").read_text("utf-8"))
    raw["simulations"] = [{"id": "v", "task_id": "0", "ticks": []}, raw["simulations"][0]]
    (tmp_path / "run.json").write_text(json.dumps(raw), "utf-8")
    log = load(tmp_path / "run.json")
    assert len(log.runs) == 1
    assert log.unread[0].endswith("a simulation without a list of messages (number 0)")


def dojo(**fields):
    raw = json.loads((EXAMPLES / "agentdojo.json").read_text("utf-8"))
    return raw | fields


def read_dojo(tmp_path, **fields):
    (tmp_path / "run.json").write_text(json.dumps(dojo(**fields)), "utf-8")
    return load(tmp_path / "run.json").runs[0]


def test_an_attack_is_a_note_and_no_part_of_success(tmp_path):
    for reached, said in [(True, "was reached"), (False, "was not reached"),
                          (None, "was not judged"), ([], "was not judged")]:
        run = read_dojo(tmp_path, security=reached)
        assert run.success is True and any(said in note for note in run.notes)
    clean = read_dojo(tmp_path, injection_task_id=None, attack_type=None, security=True)
    assert clean.notes == ()
    own = read_dojo(tmp_path, injection_task_id=None, user_task_id="injection_task_3")
    assert "the goal of an attack" in own.notes[0]


@pytest.mark.parametrize(("fields", "success"), [
    ({"error": "context_length_exceeded", "utility": False}, False),
    ({"error": "internal server error", "utility": False}, None),
    ({"messages": [], "utility": True}, None), ({"utility": None}, None)])
def test_only_an_error_of_the_agents_own_is_its_failure(tmp_path, fields, success):
    assert read_dojo(tmp_path, **fields).success is success


def test_a_tools_error_is_the_observation_even_with_an_empty_content(tmp_path):
    messages = dojo()["messages"]
    messages[3] |= {"content": "", "error": "ValueError: no such item"}
    step = read_dojo(tmp_path, messages=messages).trajectory.steps[0]
    assert Observation(False, {}, "ValueError: no such item") in step.observations


@pytest.mark.parametrize("given", [{"id": None}, {"id": ""}, {}])
def test_six_equal_calls_without_an_id_meet_their_results_in_order(tmp_path, given):
    call = {"function": "f", "args": {"x": 1}} | given
    messages = [{"role": "assistant", "content": None, "tool_calls": [call] * 6}, *(
        {"role": "tool", "content": str(i), "tool_call_id": None, "tool_call": call}
        for i in range(6))]
    step, = read_dojo(tmp_path, messages=messages).trajectory.steps
    assert [o.data["text"] for o in step.observations] == list("012345")


def test_a_result_without_an_id_goes_to_the_call_that_it_repeats(tmp_path):
    first, second = ({"function": "f", "args": {"x": at}, "id": None} for at in (1, 2))
    messages = [{"role": "assistant", "content": None, "tool_calls": [first, second]}, *(
        {"role": "tool", "content": str(call["args"]["x"]), "tool_call_id": None,
         "tool_call": call} for call in (second, first))]
    step, = read_dojo(tmp_path, messages=messages).trajectory.steps
    assert [(c.args["x"], o.data["text"]) for c, o in zip(
        step.calls, step.observations, strict=True)] == [(1, "1"), (2, "2")]


def test_many_calls_without_an_id_meet_their_results_in_linear_time(tmp_path):
    called = [{"function": "f", "args": {"x": at}} for at in range(20_000)]
    messages = [*({"role": "assistant", "content": None, "tool_calls": half}
                  for half in (called[:10_000], called[10_000:])), *(
        {"role": "tool", "content": str(call["args"]["x"]), "tool_call": call}
        for call in reversed(called[10_000:])), *(
        {"role": "tool", "content": "?"} for _ in called[:10_000])]
    one, two = read_dojo(tmp_path, messages=messages).trajectory.steps
    assert [o.data["text"] for o in one.observations] == ["?"] * 10_000
    assert [o.data["text"] for o in two.observations] == [str(c.args["x"]) for c in two.calls]


def test_the_parts_of_a_message_of_agentdojo_hold_their_text_under_content(tmp_path):
    messages = [{"role": role, "content": [{"type": "text", "content": said}]}
                for role, said in [("system", "Rules"), ("user", "Go"), ("assistant", "Done")]]
    run = read_dojo(tmp_path, messages=messages)
    assert (run.procedure, run.trajectory.goal, run.trajectory.final_answer) == (
        "Rules", "Go", "Done")


@pytest.mark.parametrize("under", ["messages", "trace", "traj"])
def test_a_chat_may_stand_under_three_names_with_a_developer_and_a_call_without_content(
        tmp_path, under):
    (tmp_path / "log.json").write_text(json.dumps({under: [
        {"role": "developer", "content": "Rules"}, {"role": "user", "content": "Go"},
        {"role": "assistant", "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}]}),
        "utf-8")
    run, = load(tmp_path / "log.json", "openai_chat").runs
    assert (run.procedure, run.trajectory.goal) == ("Rules", "Go")
    assert [(s.thought, [c.tool for c in s.calls]) for s in run.trajectory.steps] == [("", ["f"])]


def test_reasoning_is_part_of_a_steps_thought_and_not_of_the_answer():
    got = chat.read(chat.numbered([
        {"role": "assistant", "content": "Yes.", "reasoning": "The order is new."}]))
    assert (got.steps[0].thought, got.answer) == ("The order is new.\n\nYes.", "Yes.")


NO_LIST = "log-probabilities that are no list of numbers up to 0, left out"
STAND_INS = "placeholder log-probabilities, left out"


@pytest.mark.parametrize(("given", "kept", "why"), [
    ([-1, -0.5, 0.0], (-1.0, -0.5, 0.0), ""),
    ({"content": [{"token": "a", "logprob": -1.5}]}, (-1.5,), ""),
    (None, None, ""), ([], None, ""), ({"content": None}, None, ""),
    ([0.0], None, STAND_INS), ([0.0] * 3, None, STAND_INS), ([-0.1, -0.2], None, STAND_INS),
    ([-0.1 * n for n in range(1, 99)], None, STAND_INS),
    *((given, None, NO_LIST) for given in (
        [0.5], [None], ["-1"], [True], {"a": 1}, [-0.1, 10**400], [-0.013, None]))])
def test_log_probabilities_are_kept_whole_if_they_were_measured_else_a_note_says_why(
        given, kept, why):
    assert logprobs(given) == (kept, why)
    got = chat.read([("here", {"role": "assistant", "content": "a", "logprobs": given})])
    assert (got.steps[0].logprobs, got.notes) == (kept, (f"here: {why}",) if why else ())


def test_messages_one_a_line_are_one_run_and_those_that_name_a_session_one_for_each(tmp_path):
    rows = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    path = tmp_path / "talk.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), "utf-8")
    assert [len(r.trajectory.steps) for r in load(path).runs] == [1]
    path.write_text("".join(json.dumps(r | {"session_id": s}) + "\n"
                            for r in rows for s in "ab"), "utf-8")
    assert [r.trajectory.trajectory_id for r in load(path).runs] == ["a", "b"]


def test_many_results_of_no_call_are_placed_in_linear_time():
    call = {"role": "assistant", "content": "", "tool_calls": [
        {"id": "x", "function": {"name": "f", "arguments": "{}"}}]}
    stray = {"role": "tool", "tool_call_id": "y", "content": "1"}
    got = chat.read(chat.numbered([call, stray] * 20_000))
    assert len(got.steps) == 20_000 and sum(len(s.observations) for s in got.steps) == 20_000


