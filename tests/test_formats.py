"""Other people's logs: nothing lost on the way, every quirk of the format at its place."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tjlib import store
from tjlib.desk.testbed import judged_set
from tjlib.documents import Unread
from tjlib.formats import chat
from tjlib.formats.imported import Imported
from tjlib.formats.registry import FORMATS, load, stream
from tjlib.trace import Call, InputError, Observation, to_json


@pytest.fixture
def written(tmp_path):
    def write(value, name="log.json"):
        (tmp_path / name).write_text(json.dumps(value), "utf-8")
        return tmp_path / name

    return write


def calls(*ids, tool="t", arguments="{}", content=None):
    return {"role": "assistant", "content": content, "tool_calls": [
        {"id": i, "type": "function", "function": {"name": tool, "arguments": arguments}}
        for i in ids]}


def result(given, text):
    return {"role": "tool", "tool_call_id": given, "content": text}


def episode(*messages, **fields):
    return {"task_id": 3, "trial": 1, "reward": 1.0, "traj": list(messages),
            "info": {"task": {"instruction": "Fly to JFK"}}} | fields


def one(written, value):
    log = load(written(value))
    assert (log.format, log.unread, len(log.runs)) == ("tau_bench", [], 1)
    return log.runs[0]


def read(*messages):
    return chat.read(chat.numbered(messages), lambda message, said: said.startswith("Error"))


# --- our own ---------------------------------------------------------------------------------

def test_our_own_trajectories_come_back_as_they_are(tmp_path):
    trajectories, _ = judged_set(3, clean=4, per_type=2)
    store.write(tmp_path / "t.jsonl", trajectories)
    log = load(tmp_path / "t.jsonl")
    assert log.format == "native" and [r.trajectory for r in log.runs] == trajectories
    assert {r.success for r in log.runs} == {None}


def test_a_bad_line_of_our_own_is_named_with_its_remedy_and_the_rest_is_read(tmp_path):
    trajectories, _ = judged_set(3, clean=2, per_type=2)
    good = [to_json(t).decode() for t in trajectories[:2]]
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join([good[0], good[1].replace('"goal"', '"gaol"'), '{"a": 1']), "utf-8")
    log = load(path)
    assert [r.trajectory for r in log.runs] == trajectories[:1]
    assert [line.partition(": ")[0] for line in log.unread] == [f"{path}:2", f"{path}:3"]
    assert "unknown field `gaol`; remove it" in log.unread[0]


# --- tau-bench's quirks ----------------------------------------------------------------------

def test_a_repeated_id_goes_to_the_nearest_call_that_is_open():
    got = read(calls("0", tool="a"), result("0", "1"), calls("0", tool="b"), result("0", "2"))
    assert [(s.calls[0].tool, s.observations[0].data["text"]) for s in got.steps] == [
        ("a", "1"), ("b", "2")]
    late = read(calls("0", tool="a"), calls("0", tool="b"), result("0", "2"), result("0", "1"))
    assert [s.observations[0].data["text"] for s in late.steps] == ["1", "2"]


def test_results_out_of_order_stand_beside_their_calls():
    step = read(calls("x", "y"), result("y", "2"), result("x", "1")).steps[0]
    assert [o.data["text"] for o in step.observations] == ["1", "2"]


def test_without_ids_results_go_to_calls_in_order():
    for own, named in [(None, None), ("", ""), (None, "z"), ("a", None)]:
        got = read(calls(own, own), result(named, "1"), result(named, "2"))
        assert [o.data["text"] for o in got.steps[0].observations] == ["1", "2"]
        assert got.notes == ()


def test_a_missing_result_leaves_the_others_beside_their_calls_and_is_noted():
    message = calls("x") | {"tool_calls": [
        {"id": i, "function": {"name": f"tool_{i}", "arguments": "{}"}} for i in "xy"]}
    got = read(message, result("y", "2"))
    assert [c.tool for c in got.steps[0].calls] == ["tool_y", "tool_x"]
    assert len(got.steps[0].observations) == 1
    assert got.notes == ("1 calls without a result",)


def test_a_result_of_no_open_call_is_kept_and_noted():
    got = read(calls("x"), result("x", "1"), result("q", "2"))
    assert [o.data["text"] for o in got.steps[0].observations] == ["1", "2"]
    assert got.notes == ("message 2: a result of no open call",)
    assert read(result("q", "2")).notes == ("message 0: a result before any call, left out",)


@pytest.mark.parametrize(("arguments", "args", "noted"), [
    ('{"a": 1}', {"a": 1}, False), ({"a": 1}, {"a": 1}, False), ("", {}, False),
    (None, {}, False), ('{"a": ', {"arguments": '{"a": '}, True),
    ("[1]", {"arguments": "[1]"}, True), ([1], {"arguments": [1]}, True)])
def test_arguments_are_a_text_or_an_object_and_anything_else_is_kept_as_it_is(
        arguments, args, noted):
    got = read(calls("x", arguments=arguments))
    assert got.steps[0].calls == (Call("t", args),)
    assert any("no JSON object" in note for note in got.notes) == noted


def test_null_content_text_beside_a_call_and_null_calls_are_all_fine():
    plain = {"role": "assistant", "content": "Done", "tool_calls": None}
    got = read(calls("x"), calls("y", content="Let me look"), plain)
    assert [(s.thought, len(s.calls)) for s in got.steps] == [
        ("", 1), ("Let me look", 1), ("Done", 0)]
    assert got.answer == "Done"


def test_a_list_of_parts_is_joined_and_what_is_no_text_is_noted():
    got = read({"role": "user", "content": [{"type": "text", "text": "See"},
                                            {"type": "image_url", "image_url": {}}]})
    assert got.opening == "See"
    assert got.notes == ("message 0: a part of type image_url, left out",)


def test_a_call_in_the_older_form_is_a_call():
    got = read({"role": "assistant", "content": None,
                "function_call": {"name": "f", "arguments": "{}"}},
               {"role": "function", "name": "f", "content": "7"})
    assert got.steps[0].calls == (Call("f", {}),)
    assert got.steps[0].observations == (Observation(True, {"text": "7"}),)


def test_unknown_roles_are_noted_and_user_turns_in_a_row_are_joined():
    got = read({"role": "critic", "content": "x"}, "torn", {"role": "assistant", "content": "a"},
               {"role": "user", "content": "b"}, {"role": "user", "content": "c"})
    assert got.steps[0].user == "b\n\nc"
    assert got.notes == ("message 0: of unknown role 'critic', left out",
                         "message 1: of unknown role 'str', left out")


@pytest.mark.parametrize(("reward", "kept", "notes"), [
    ("0.25", 0.25, 0), ("NaN", None, 0), ('"1"', None, 1), ("null", None, 0)])
def test_a_reward_of_plain_messages_that_is_no_number_is_left_out_and_said(
        tmp_path, reward, kept, notes):
    path = tmp_path / "log.jsonl"
    path.write_text('{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", '
                    f'"content": "Hello"}}], "reward": {reward}}}\n', "utf-8")
    run, = load(path).runs
    assert (run.reward, run.success, len(run.notes)) == (kept, None, notes)


@pytest.mark.parametrize(("reward", "success"), [
    (1.0, True), (1, True), (0.0, False), (0.99, False), (None, None), ("1.0", None),
    (10**400, None)])
def test_success_is_a_reward_of_exactly_one_and_the_raw_value_is_kept(written, reward, success):
    run = one(written, episode({"role": "assistant", "content": "Hi"}, reward=reward))
    assert run.success is success
    assert run.reward == (reward if success is not None else None)


def test_a_crashed_episode_is_no_failure_of_the_agent(written):
    run = one(written, episode(reward=0.0, info={"error": "RateLimit\nretry", "traceback": "..."}))
    assert (run.success, run.reward, run.trajectory.steps) == (None, 0.0, ())
    assert run.notes == ("crashed, so not judged: RateLimit retry",)
    later = one(written, episode({"role": "assistant", "content": "Hi"}, reward=0.0,
                                 info={"error": "Timeout"}))
    assert (later.success, len(later.trajectory.steps)) == (None, 1)


def test_the_end_marker_is_no_text_of_the_user(written):
    hello = {"role": "assistant", "content": "Done"}
    bare = one(written, episode(hello, {"role": "user", "content": "###STOP###"}))
    assert bare.trajectory.steps[0].user is None and bare.trajectory.final_answer == "Done"
    thanks = one(written, episode(hello, {"role": "user", "content": "Thanks! ###STOP###"}))
    assert thanks.trajectory.steps[0].user == "Thanks!"


def test_an_episode_that_ends_on_a_call_has_no_answer(written):
    run = one(written, episode(calls("x", content="One moment"), result("x", "Transferred")))
    assert run.trajectory.final_answer == ""


def test_the_goal_is_the_brief_and_without_one_what_the_user_said_first(written):
    hi, there = {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}
    run = one(written, episode({"role": "system", "content": "Be brief"}, hi, there))
    assert (run.trajectory.goal, run.opening, run.procedure) == ("Fly to JFK", "Hi", "Be brief")
    run = one(written, episode(hi, there, info={}))
    assert (run.trajectory.goal, run.opening) == ("Hi", "")


def test_an_episode_may_stand_alone_and_two_of_one_name_are_told_apart(written):
    alone = one(written, episode({"role": "assistant", "content": "Hi"}))
    assert (alone.task_id, alone.trial, alone.trajectory.trajectory_id) == ("3", "1", "tau-3-1")
    log = load(written([episode(trial=t) for t in (1, 1, "1~2", 2, 1)]))
    assert [r.trajectory.trajectory_id for r in log.runs] == [
        "tau-3-1", "tau-3-1~2", "tau-3-1~2~2", "tau-3-2", "tau-3-1~3"]
    assert [r.trial for r in log.runs] == ["1", "1", "1~2", "2", "1"]


def test_an_element_that_is_no_episode_is_named_and_the_rest_is_read(written, tmp_path):
    path = tmp_path / "log.json"
    path.write_text("[\n" + ",\n".join(map(json.dumps, [
        episode(), {"x": 1}, episode(traj="gone"), episode(task_id="a\u0007b")])) + "\n]", "utf-8")
    log = load(path)
    assert len(log.runs) == 1
    assert log.unread == [
        f"{path}:3: no episode of tau-bench",
        f"{path}:4: an episode whose traj is no list of messages",
        f"{path}:5: a run whose trajectory_id holds the control character U+0007; "
        "use printable characters"]


# --- detection -------------------------------------------------------------------------------

def test_a_format_is_told_by_content_not_by_name(written):
    assert load(written([episode()], "native.jsonl")).format == "tau_bench"
    trajectories, _ = judged_set(3, clean=1, per_type=2)
    path = written({}, "tau_bench.json")
    store.write(path, trajectories)
    assert load(path).format == "native"


def test_a_log_of_no_known_format_is_refused_with_the_known_ones(written):
    for value in ({"resourceSpans": []}, [], 7, [[1]]):
        with pytest.raises(InputError, match=r"known are|holds no run"):
            load(written(value))
    with pytest.raises(InputError, match="no format 'tau3'; known are auto, native, tau_bench"):
        load(written([episode()]), "tau3")
    with pytest.raises(InputError, match="1: no episode of tau-bench"):
        load(written({"x": 1}), "tau_bench")


def test_a_log_is_read_as_a_stream(written):
    path = written([episode(), {"x": 1}])
    assert [type(x) for x in stream(path)] == [str, Imported, Unread]


messages = st.recursive(
    st.none() | st.text(max_size=5) | st.integers() | st.sampled_from(["assistant", "tool", "x"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.sampled_from(["role", "content", "tool_calls", "id", "function", "name", "arguments",
                         "tool_call_id", "function_call", "type", "text"]), inner, max_size=5),
    max_leaves=20)


@given(st.lists(st.builds(lambda role, rest: rest | {"role": role},
                          st.sampled_from(["assistant", "tool", "user", "system", "critic"]),
                          st.dictionaries(st.sampled_from(["content", "tool_calls", "tool_call_id",
                                                           "function_call"]), messages)),
                max_size=6))
def test_no_message_however_odd_breaks_the_reading_or_loses_a_step(items):
    got = read(*items)
    assert len(got.steps) == sum(m["role"] == "assistant" for m in items)
    for step in got.steps:
        assert to_json(step)


def rows_of_the_page_of_formats():
    page = (Path(__file__).parents[1] / "book" / "formats.md").read_text("utf-8")
    cells = [[cell.strip() for cell in line.strip("|").split("|")]
             for line in page.splitlines() if line.startswith("| `")]
    return {name.strip("`"): rest for name, *rest in cells}


def has(runs):
    """Whether any of some runs has an outcome, log-probabilities and usage."""
    return (any(run.success is not None for run in runs),
            any(step.logprobs is not None for run in runs for step in run.trajectory.steps),
            any(run.usage for run in runs))


def test_the_page_of_formats_names_every_format_in_the_order_in_which_they_are_tried():
    assert list(rows_of_the_page_of_formats()) == list(FORMATS)


@pytest.mark.parametrize("path", sorted((Path(__file__).parent / "examples").iterdir()),
                         ids=lambda path: path.name)
def test_no_example_holds_what_the_page_of_formats_says_its_format_lacks(path):
    log = load(path)
    _, _, *claimed = rows_of_the_page_of_formats()[log.format]
    for there, cell in zip(has(log.runs), claimed, strict=True):
        assert not there or cell.split(",")[0] != "no"


def test_the_page_of_formats_says_outcome_where_and_only_where_a_sample_has_one(shared):
    found = dict.fromkeys(FORMATS, False)
    for folder in (Path(__file__).parent / "examples", *(shared / "traces" / "samples").iterdir()):
        name = ""
        for item in stream(folder) if folder.is_dir() else ():
            name = item if isinstance(item, str) else name
            if getattr(item, "success", None) is not None:
                found[name] = True
    claimed = {name: not row[2].startswith("no") for name, row in
               rows_of_the_page_of_formats().items()}
    assert found == claimed
