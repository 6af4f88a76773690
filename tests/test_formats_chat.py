"""The quirks of chats, tau2 and AgentDojo, and that nothing odd breaks an importer."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mutated import mutated

from tjlib.documents import Document, Unread, documents
from tjlib.formats import chat
from tjlib.formats.imported import Imported
from tjlib.formats.registry import FORMATS, OUTCOMES, load, stream
from tjlib.trace import Observation, Trajectory, from_json, to_json

EXAMPLES = Path(__file__).parent / "examples"
OWN = ["native.jsonl", "openai_chat.jsonl", "tau_bench.json", "tau2.json", "agentdojo.json"]


def example(name):
    return {r.trajectory.trajectory_id: r for r in load(EXAMPLES / name).runs}


# --- our written logs ------------------------------------------------------------------------

@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.json*")), ids=lambda p: p.stem)
def test_a_written_log_is_recognised_by_its_own_format_before_any_other(path):
    value = next(d.value for d in documents(path) if isinstance(d, Document))
    assert next(name for name, f in FORMATS.items() if f.recognise(value)) in path.stem


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


def dojo(**fields):
    raw = json.loads((EXAMPLES / "agentdojo.json").read_text("utf-8"))
    return raw | fields


def read_dojo(tmp_path, **fields):
    (tmp_path / "run.json").write_text(json.dumps(dojo(**fields)), "utf-8")
    return load(tmp_path / "run.json").runs[0]


def test_an_attack_is_a_note_and_no_part_of_success(tmp_path):
    for reached, said in [(True, "was reached"), (False, "was not reached")]:
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


def test_six_equal_calls_without_an_id_meet_their_results_in_order(tmp_path):
    call = {"function": "f", "args": {"x": 1}, "id": None}
    messages = [{"role": "assistant", "content": None, "tool_calls": [call] * 6}, *(
        {"role": "tool", "content": str(i), "tool_call_id": None, "tool_call": call}
        for i in range(6))]
    step, = read_dojo(tmp_path, messages=messages).trajectory.steps
    assert [o.data["text"] for o in step.observations] == list("012345")


def test_reasoning_is_part_of_a_steps_thought_and_not_of_the_answer():
    got = chat.read(chat.numbered([
        {"role": "assistant", "content": "Yes.", "reasoning": "The order is new."}]))
    assert (got.steps[0].thought, got.answer) == ("The order is new.\n\nYes.", "Yes.")


@pytest.mark.parametrize(("given", "kept", "noted"), [
    ({"content": [{"token": "a", "logprob": -1.5}]}, (-1.5,), False),
    ([-1, -0.5], (-1.0, -0.5), False), ([0.0, 0.0], None, True),
    ({"content": None}, None, False), (None, None, False),
    ([0.5], None, True), (["a"], None, True), ([True], None, True)])
def test_log_probabilities_are_kept_if_they_are_some(given, kept, noted):
    got = chat.read(chat.numbered([{"role": "assistant", "content": "a", "logprobs": given}]))
    assert got.steps[0].logprobs == kept and bool(got.notes) == noted


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


# --- hostile logs ----------------------------------------------------------------------------

@pytest.mark.parametrize("name", OWN)
@given(data=st.data())
def test_no_change_to_a_log_breaks_its_importer_or_what_comes_after(name, data):
    changed = data.draw(mutated([d.value for d in documents(EXAMPLES / name)]))
    for value in changed:
        for one in FORMATS.values():
            one.recognise(value)
        for labels in OUTCOMES.values():
            labels(value)
    own = FORMATS[name.partition(".")[0]]
    found = [Document(i, json.dumps(value), value) for i, value in enumerate(changed, 1)]
    for item in own.read(iter(found)):
        assert isinstance(item, Imported | Unread)
        if isinstance(item, Imported):
            assert from_json(Trajectory, to_json(item.trajectory)) == item.trajectory
            assert all(note.isprintable() for note in item.notes)


@given(st.lists(st.sampled_from([(EXAMPLES / name).read_bytes() for name in OWN]), max_size=2),
       st.binary(max_size=20), st.integers(0, 5000))
def test_no_bytes_in_a_folder_break_the_reading(tmp_path_factory, parts, extra, cut):
    folder = tmp_path_factory.getbasetemp() / "hostile"
    folder.mkdir(exist_ok=True)
    data = b"".join(parts)
    (folder / "log.json").write_bytes(data[:cut] + extra + data[cut:])
    list(stream(folder))
