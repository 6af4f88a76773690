"""Quirks of coding agents' and Anthropic's logs, on small logs written here."""

import json
from pathlib import Path

import pytest
from raw_counts import values

from tjlib.documents import Document, Unread
from tjlib.formats import mini_swe_agent, swe_agent
from tjlib.formats.imported import Imported
from tjlib.formats.registry import FORMATS, load
from tjlib.trace import Call, Observation, Trajectory, from_json, to_json

EXAMPLES = Path(__file__).parent / "examples"
OURS = {"swe_agent": "json", "mini_swe_agent": "json", "openhands": "json", "anthropic": "json",
        "claude_code": "jsonl", "managed_agents": "jsonl"}


def example(name):
    """Return the values of a written example as its importer is given them."""
    return values(EXAMPLES / f"{name}.{OURS[name]}")


def read(name, *given, source=""):
    documents = [Document(at + 1, json.dumps(v), v, source) for at, v in enumerate(given)]
    return list(FORMATS[name].read(iter(documents)))


def one(name, *given, source=""):
    run, = read(name, *given, source=source)
    assert isinstance(run, Imported)
    return run


def texts(run):
    return [o.error or o.data.get("text", "") for s in run.trajectory.steps for o in s.observations]


def tools(run):
    return [[call.tool for call in step.calls] for step in run.trajectory.steps]


def ended_well(run):
    return [[o.ok for o in step.observations] for step in run.trajectory.steps]


@pytest.mark.parametrize(("name", "steps", "calls", "observations"), [
    ("swe_agent", 3, 3, 3), ("mini_swe_agent", 3, 3, 2), ("openhands", 2, 2, 2),
    ("anthropic", 2, 2, 2), ("claude_code", 3, 2, 2), ("managed_agents", 2, 2, 2)])
def test_a_written_log_is_read_in_full_and_comes_back_from_our_own_form(
        name, steps, calls, observations):
    runs = read(name, *example(name))
    held = [step for run in runs for step in run.trajectory.steps]
    assert [len(held), sum(len(s.calls) for s in held), sum(len(s.observations) for s in held)] == [
        steps, calls, observations]
    for run in runs:
        assert run.trajectory.goal and run.trajectory.final_answer and run.success is None
        assert from_json(Trajectory, to_json(run.trajectory)) == run.trajectory


# --- SWE-agent --------------------------------------------------------------------------------

def test_a_demonstration_is_neither_the_goal_nor_a_step():
    run = one("swe_agent", *example("swe_agent"))
    assert run.trajectory.goal.startswith("Refunds of exactly 30 days")
    assert tools(run) == [["grep"], ["edit"], ["submit"]]
    assert "typo" not in to_json(run.trajectory).decode()
    alone = {"history": example("swe_agent")[0]["history"]}
    again = one("swe_agent", alone)
    assert again.trajectory.goal == run.trajectory.goal and tools(again) == tools(run)
    assert texts(again)[0].startswith("4:if age < 30:")
    assert again.notes == ("1 calls without a result",)  # nothing follows the last command


def test_state_as_a_text_or_an_object_changes_nothing_and_the_stem_names_a_run_without_an_id():
    value, = example("swe_agent")
    steps = [entry | {"state": {"open_file": "n/a"}} for entry in value["trajectory"]]
    other = {k: v for k, v in value.items() if k != "replay_config"} | {"trajectory": steps}
    run = one("swe_agent", other, source="runs/desk__refunds-31.traj")
    assert run.trajectory.steps == one("swe_agent", value).trajectory.steps
    assert (run.task_id, run.model) == ("desk__refunds-31", None)
    assert one("swe_agent", other).task_id == "swe-line1"
    packed = value | {"replay_config": json.dumps(value["replay_config"])}
    assert one("swe_agent", packed).task_id == "desk__refunds-30"


def test_a_function_call_in_the_history_is_the_call_behind_its_action():
    value, = example("swe_agent")
    message = next(m for m in value["history"] if m.get("action", "").startswith("edit"))
    message["tool_calls"] = [{"id": "c1", "function": {
        "name": "edit", "arguments": '{"line": 4, "text": "if age <= 30:"}'}}]
    run = one("swe_agent", value)
    assert run.trajectory.steps[1].calls == (Call("edit", {"line": 4, "text": "if age <= 30:"}),)
    assert run.trajectory.steps[0].calls == (Call("grep", {"command": "grep -n days rules.py"}),)


def test_a_message_without_an_action_made_no_call_and_is_answered_by_a_turn():
    value, = example("swe_agent")
    value["trajectory"].insert(0, {"action": "", "observation": "Give exactly one command.",
                                   "response": "Hello.", "thought": ""})
    step = one("swe_agent", value).trajectory.steps[0]
    assert (step.thought, step.calls, step.user) == ("Hello.", (), "Give exactly one command.")


def test_an_output_keeps_its_line_ends_and_without_a_patch_the_last_words_are_the_answer():
    value, = example("swe_agent")
    value["info"]["submission"] = None
    value["trajectory"] = [{"action": "ls", "observation": "a\r\nb\r\n", "thought": "I look."},
                           {"action": "", "observation": None, "thought": "It is fine."}]
    run = one("swe_agent", value)
    assert texts(run) == ["a\r\nb\r\n"] and run.trajectory.final_answer == "It is fine."


def test_a_result_in_the_history_names_its_call_in_a_list():
    call = [{"id": name, "function": {"name": name, "arguments": "{}"}} for name in "ab"]
    run = one("swe_agent", {"history": [
        {"role": "user", "content": "Go", "agent": "primary"},
        {"role": "assistant", "content": "", "action": "a && b", "tool_calls": call},
        {"role": "tool", "content": "of b", "tool_call_ids": ["b"]},
        {"role": "tool", "content": "of a", "tool_call_ids": ["a"]}]})
    assert tools(run) == [["a", "b"]] and texts(run) == ["of a", "of b"]


def test_an_ending_by_cost_and_messages_in_the_history_only_are_noted():
    value, = example("swe_agent")
    value["info"]["exit_status"] = "submitted (exit_cost)"
    value["history"].append({"role": "assistant", "content": "One more.", "agent": "primary"})
    value["trajectory"].append("torn")
    assert one("swe_agent", value).notes == (
        "trajectory 3: of unknown role 'str', left out", "ended as submitted (exit_cost)",
        "1 messages of the agent stand in the history only, left out")


def test_reports_and_summaries_of_swe_bench_give_outcomes_and_nothing_else_does():
    assert swe_agent.outcomes({"a": {"resolved": True}, "b": {"resolved": False}}) == {
        "a": True, "b": False}
    for other in (None, [], {}, {"a": True}, {"a": {"resolved": "yes"}}, *example("swe_agent")):
        assert swe_agent.outcomes(other) is None
    assert mini_swe_agent.outcomes({
        "resolved_ids": ["a", 7], "unresolved_ids": ["b"], "error_ids": ["c"],
        "empty_patch_ids": ["d"]}) == {"a": True, "b": False, "d": False}
    assert mini_swe_agent.outcomes({"resolved_ids": "a"}) is None
    assert mini_swe_agent.outcomes([1]) is None


def test_a_report_beside_a_run_is_its_outcome(tmp_path):
    value, = example("swe_agent")
    del value["replay_config"]  # so that only its file says which issue it is
    for name, resolved in [("desk__refunds-30", True), ("desk__refunds-31", False)]:
        (tmp_path / f"{name}.traj").write_text(json.dumps(value), "utf-8")
        report = {name: {"patch_exists": True, "resolved": resolved}}
        (tmp_path / f"{name}.report.json").write_text(json.dumps(report), "utf-8")
    assert [(run.task_id, run.success) for run in load(tmp_path).runs] == [
        ("desk__refunds-30", True), ("desk__refunds-31", False)]
    path, labels = (tmp_path / f"desk__refunds-31.{end}" for end in ("traj", "report.json"))
    assert load(path, labels=labels).runs[0].success is False


# --- mini-SWE-agent ---------------------------------------------------------------------------

def fenced(command, before="I look.", after="", mark="bash"):
    return {"role": "assistant", "content": f"{before}\n\n```{mark}\n{command}\n```\n{after}"}


def bare(*messages):
    return [{"role": "system", "content": "Give exactly ONE bash code block."},
            {"role": "user", "content": "Repair the desk."}, *messages]


def user(text):
    return {"role": "user", "content": text}


@pytest.mark.parametrize("mark", ["bash", "mswea_bash_command"])
def test_the_one_fence_of_a_message_is_a_call_and_the_next_turn_its_output(mark):
    run = one("mini_swe_agent", *bare(
        fenced("ls\ncat a", after="Then I see.", mark=mark),
        user("<returncode>1</returncode>\n<output>\nno a</output>"),
        fenced("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", mark=mark), user("the patch")))
    first = run.trajectory.steps[0]
    assert first.calls == (Call("bash", {"command": "ls\ncat a"}),)
    assert first.thought == "I look.\nThen I see." and not first.observations[0].ok
    assert (run.trajectory.goal, run.trajectory.final_answer) == ("Repair the desk.", "the patch")


def test_a_fence_in_a_part_of_a_message_is_a_call_too():
    message = fenced("ls")
    run = one("mini_swe_agent", *bare(message | {"content": [text(message["content"])]}))
    assert run.trajectory.steps[0].calls == (Call("bash", {"command": "ls"}),)
    assert run.trajectory.steps[0].thought == "I look."


def test_no_fence_and_two_fences_are_no_call_as_the_agent_ran_none():
    two = {"role": "assistant", "content": "```bash\nls\n```\n```bash\npwd\n```"}
    run = one("mini_swe_agent", *bare({"role": "assistant", "content": "Done?"}, user("Give one."),
                                      two, user("Give one.")))
    assert tools(run) == [[], []]
    assert [step.user for step in run.trajectory.steps] == ["Give one.", "Give one."]
    assert run.trajectory.steps[1].thought == two["content"]


def test_two_bare_lists_after_each_other_are_two_runs_and_a_torn_element_is_noted():
    runs = read("mini_swe_agent", *bare(fenced("ls"), 7), *bare(fenced("pwd")))
    assert [run.trajectory.steps[0].calls[0].args["command"] for run in runs] == ["ls", "pwd"]
    assert runs[0].notes[0] == "message 3: of unknown role 'int', left out"


def test_reasoning_stands_before_what_was_said_and_a_killed_command_is_an_error():
    said = {"choices": [{"logprobs": {"content": [{"token": "I", "logprob": -0.25}]}}]}
    run = one("mini_swe_agent", *bare(
        fenced("sleep 99") | {"reasoning_content": "It may take long.",
                              "extra": {"response": said}},
        user("The last command <command>sleep 99</command> timed out and has been killed.")))
    assert run.trajectory.steps[0].thought == "It may take long.\n\nI look."
    assert not run.trajectory.steps[0].observations[0].ok
    assert run.trajectory.steps[0].logprobs == (-0.25,)


# --- OpenHands --------------------------------------------------------------------------------

def test_two_calls_of_one_reply_are_one_step_and_results_go_by_their_cause():
    run = one("openhands", *example("openhands"))
    step = run.trajectory.steps[0]
    assert [call.args["command"] for call in step.calls] == ["cat order-77.json", "cat policy.json"]
    assert [o.ok for o in step.observations] == [True, False]
    assert step.observations[0].data == {"order": 77, "age_days": 12}
    assert run.usage == {"prompt_tokens": 1800, "completion_tokens": 120}


@pytest.mark.parametrize("cause", [None, -1])
def test_without_a_cause_a_result_goes_by_its_calls_id_or_else_by_order(cause):
    events = [e | ({"cause": cause} if "cause" in e else {}) for e in example("openhands")]
    assert ended_well(one("openhands", *events)) == [[True, False], []]
    nameless = [{k: v for k, v in e.items() if k != "tool_call_metadata"} for e in events]
    assert ended_well(one("openhands", *nameless)) == [[True], [False], []]  # the nearest first
    plain = [{k: v for k, v in e.items() if k not in ("id", "tool_call_metadata")} for e in events]
    in_turn = one("openhands", *(plain[at] for at in (0, 1, 2, 5, 3, 4, 6)))
    assert ended_well(in_turn) == [[True], [False], []]


def row(**fields):
    act = {"action": "run", "source": "agent", "args": {"command": "ls", "thought": "I look."}}
    seen = {"observation": "run", "content": "a", "extras": {"exit_code": 0}}
    return {"instance_id": "desk-1", "instruction": "Look.", "history": [[act, seen]],
            "metadata": {"llm_config": {"model": "small-model"}}, "error": None,
            "metrics": {"accumulated_cost": 0.5}} | fields


def test_a_row_may_hold_pairs_or_events_alone_and_success_is_what_it_states():
    good = one("openhands", row(test_result={"result": True}))
    assert (good.success, good.task_id, good.model, good.usage) == (
        True, "desk-1", "small-model", {"cost": 0.5})
    flat = one("openhands", row(history=row()["history"][0], success=False))
    assert flat.success is False and flat.trajectory.steps == good.trajectory.steps
    assert good.trajectory.steps[0].calls == (Call("run", {"command": "ls"}),)
    assert one("openhands", row(test_result={"git_patch": "x"})).success is None
    assert one("openhands", row(test_result={"report": {"resolved": True}})).success is True


def test_a_row_with_an_error_was_not_judged():
    run = one("openhands", row(test_result={"result": False}, error="RateLimitError\nretry"))
    assert run.success is None
    assert run.notes == ("ended by an error, so not judged: RateLimitError retry",)
    crashed = one("openhands", row(history=None, test_result={}, error="Docker"))
    assert (crashed.trajectory.steps, crashed.trajectory.goal) == ((), "Look.")


def test_what_the_user_ran_is_no_step_and_thoughts_and_recalls_are_no_calls():
    run = one("openhands", *[
        {"id": 0, "source": "user", "action": "message", "args": {
            "content": "Go", "image_urls": ["data:image/png"]}},
        {"id": 1, "source": "user", "action": "run", "args": {"command": "ls"}},
        {"id": 2, "source": "user", "observation": "run", "cause": 1, "content": "mine"},
        {"id": 3, "source": "agent", "action": "think", "args": {"thought": "Hm."}},
        {"id": 4, "source": "agent", "observation": "think", "cause": 3, "content": "Logged."},
        {"id": 5, "source": "user", "action": "recall", "args": {"query": "Go"}},
        {"id": 6, "source": "agent", "action": "system", "args": {"content": "Be kind."}},
        {"id": 7, "source": "agent", "action": "message", "args": {"content": "Done."}}])
    assert [(s.thought, s.calls, s.observations) for s in run.trajectory.steps] == [
        ("Hm.", (), ()), ("Done.", (), ())]
    assert run.notes == (
        "event 0: a part of type image_url, left out", "event 6: a system prompt inside the run, "
        "left out", "events of the harness left out: 2 run, 1 think, 1 recall")


def test_a_logged_model_call_is_the_conversation_it_was_sent_and_its_reply():
    sent = [{"role": "system", "content": [{"type": "text", "text": "Be kind.",
                                            "cache_control": {"type": "ephemeral"}}]},
            {"role": "user", "content": [{"type": "text", "text": "Look."}]},
            {"role": "assistant", "content": None, "tool_calls": [
                {"id": "c1", "function": {"name": "execute_bash", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "c1",
             "content": [{"type": "text",
                          "text": "x\n[Error occurred in processing last action]"}]}]
    reply = {"choices": [{"message": {"role": "assistant", "content": "It failed."},
                          "logprobs": {"content": [{"token": "It failed.", "logprob": -0.5}]}}],
             "model": "small-model", "usage": {"prompt_tokens": 5, "completion_tokens": 2}}
    run = one("openhands", {"messages": sent, "response": reply, "kwargs": {"tools": []},
                            "cost": 0.25})
    assert (run.procedure, run.trajectory.goal, run.trajectory.final_answer) == (
        "Be kind.", "Look.", "It failed.")
    assert not run.trajectory.steps[0].observations[0].ok
    assert run.usage == {"cost": 0.25, "prompt_tokens": 5, "completion_tokens": 2}
    assert [step.logprobs for step in run.trajectory.steps] == [None, (-0.5,)]
    as_text = {"messages": [{"role": "user", "content": "<function=execute_bash>"}],
               "fncall_messages": sent, "response": {"choices": []}, "fncall_response": reply}
    assert one("openhands", as_text).trajectory.steps == run.trajectory.steps


# --- Anthropic --------------------------------------------------------------------------------

def session(kind, message, **fields):
    return {"type": kind, "sessionId": "s", "message": message} | fields


def reply(given, *content, **fields):
    message = {"id": given, "role": "assistant", "content": list(content)}
    return session("assistant", message, **fields)


def text(said):
    return {"type": "text", "text": said}


def test_lines_of_one_message_are_one_step_and_its_tokens_count_once():
    run, side = read("claude_code", *example("claude_code"))
    assert tools(run) == [["Read", "Task"], []]
    assert run.usage == {"prompt_tokens": 9 + 500 + 12, "completion_tokens": 70 + 15}
    assert run.trajectory.steps[0].thought == "The order and the policy decide.\n\nI read both."
    assert run.trajectory.final_answer == "Yes: it is 12 days old, and 30 are allowed."
    assert run.notes == ("lines left out: 1 summary, 1 queue-operation",)
    assert (side.trajectory.trajectory_id, side.trajectory.goal) == (
        "desk-session-helper1", "Find the policy")


def test_side_chains_without_a_name_are_told_apart_by_their_first_line():
    def side(own, parent, kind, said):
        return session(kind, {"role": kind, "content": said}, uuid=own, parentUuid=parent,
                       isSidechain=True)

    runs = read("claude_code", session("user", {"content": "Go"}, uuid="m"),
                side("a", None, "user", "A?"), side("b", None, "user", "B?"),
                side("c", "b", "assistant", "b!"), side("d", "a", "assistant", "a!"))
    assert [(r.trajectory.trajectory_id, r.trajectory.final_answer) for r in runs] == [
        ("s", ""), ("s-a", "a!"), ("s-b", "b!")]


def test_what_the_program_wrote_itself_is_no_turn_and_is_counted():
    twice = reply("m1", text("Hi"), uuid="u1")
    run = one("claude_code", session("user", {"content": "Hello"}), twice, twice,
              reply("m1", text("Hi")),
              session("user", {"content": "This session goes on from"}, isCompactSummary=True),
              session("user", {"content": "Caveat"}, isMeta=True),
              session("assistant", {"model": "<synthetic>", "content": [text("API Error")]}),
              {"type": "system", "subtype": "compact_boundary", "sessionId": "s"})
    assert [(s.thought, s.user) for s in run.trajectory.steps] == [("Hi", None)]
    assert run.notes == ("lines left out: 2 repeated, 1 compaction summary, 1 reminder, "
                         "1 error message, 1 system",)


def test_a_streamed_session_has_its_cost_its_ending_and_its_sub_agents():
    def streamed(kind, parent=None, **fields):
        return {"type": kind, "session_id": "s", "parent_tool_use_id": parent} | fields

    runs = read("claude_code", streamed("system", subtype="init"),
                streamed("user", message={"role": "user", "content": "Go"}),
                streamed("assistant", message={"id": "m", "content": [text("On it")]}),
                streamed("assistant", "toolu_1", message={"id": "n", "content": [text("Sub")]}),
                streamed("result", subtype="error_max_turns", total_cost_usd=0.5))
    assert [r.trajectory.trajectory_id for r in runs] == ["s", "s-toolu_1"]
    assert runs[0].usage == {"cost": 0.5}
    assert runs[0].notes == ("ended as error_max_turns", "lines left out: 1 system, 1 result")


def test_a_prompt_that_the_shell_never_replaced_is_noted():
    asked = session("user", {"content": "$(cat task.md)\n"})
    run = one("claude_code", asked, reply("m", text("?")))
    assert run.notes == (
        "the prompt is a shell command that was never run: the task is not here",)


def test_a_file_with_no_message_and_a_line_without_one_are_named():
    assert read("claude_code", {"type": "summary", "summary": "x", "leafUuid": "l"}) == [
        Unread(1, "no message in the file, only lines about the session")]
    assert read("claude_code", {"type": "user", "sessionId": "s", "message": "x"}, 7) == [
        Unread(1, "a line of type user without a message"),
        Unread(2, "no line of a Claude Code session")]


def test_results_go_to_their_calls_before_what_the_user_says_beside_them():
    run = one("anthropic", *example("anthropic"))
    step = run.trajectory.steps[0]
    assert step.observations == (Observation(True, {"order": 77, "age_days": 12}),
                                 Observation(False, {}, "no such order"))
    assert (step.user, run.procedure) == ("Be brief, please.", "Answer questions about orders.")
    assert run.trajectory.final_answer == "Order 77 yes; there is no order 78."


def test_thinking_is_no_part_of_the_answer_and_pictures_are_noted():
    run = one("anthropic", {"messages": [
        {"role": "user", "content": [{"type": "image", "source": {}}, text("What is it?")]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "A lamp."},
                                          {"type": "thinking", "thinking": "", "signature": "x"},
                                          {"type": "redacted_thinking", "data": "x"},
                                          text("A lamp, I think.")]}]})
    assert run.trajectory.steps[0].thought == "A lamp.\n\nA lamp, I think."
    assert run.trajectory.final_answer == "A lamp, I think."
    assert run.notes == ("message 0: a part of type image, left out",
                         "message 1: a part of type redacted_thinking, left out")


def test_a_tool_of_the_server_is_answered_inside_the_message_that_calls_it():
    hits = [{"type": "web_search_result", "url": "https://example.org"}]
    run = one("anthropic", {"messages": [{"role": "user", "content": "Search"}, {
        "role": "assistant", "content": [
            {"type": "server_tool_use", "id": "w", "name": "web_search", "input": {"query": "x"}},
            {"type": "web_search_tool_result", "tool_use_id": "w", "content": hits},
            {"type": "tool_use", "id": "t", "name": "look", "input": "not json"}]}]})
    assert tools(run) == [["web_search", "look"]] and texts(run) == [json.dumps(hits)]
    assert run.trajectory.steps[0].calls[1].args == {"arguments": "not json"}
    assert run.notes[0] == "message 1: arguments that are no JSON object, kept as text"


@pytest.mark.parametrize("format", ["auto", "anthropic"])
def test_a_bare_list_of_messages_is_one_run_and_its_blocks_are_read(format, tmp_path):
    messages = example("anthropic")[0]["request"]["messages"]
    (tmp_path / "log.json").write_text(json.dumps(messages), "utf-8")
    run, = load(tmp_path / "log.json", format).runs
    steps = one("anthropic", *example("anthropic")).trajectory.steps
    assert run.trajectory.steps == steps[:1] and run.notes == ()


def test_a_message_of_openai_with_parts_and_calls_keeps_both_and_steps_keep_their_message():
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    run = one("openai_chat", {"messages": [
        {"role": "user", "content": [text("Hi"), {"type": "tool_result", "content": "stray"}]},
        {"role": "assistant", "content": [text("I look.")], "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": []},
        {"role": "assistant", "content": "Done."}]})
    assert tools(run) == [["look"], []] and run.trajectory.steps[0].observations == (
        Observation(True, {}),)
    assert (run.messages, run.trajectory.goal) == ((1, 3), "Hi")
    assert run.notes == ("message 0: a result before any call, left out",)


def test_a_refused_call_has_the_refusal_as_its_result_and_an_echo_counts_once():
    run = one("managed_agents", *example("managed_agents"))
    assert texts(run) == ["refused: not without a manager", "23 C and sunny"]
    assert run.usage == {"prompt_tokens": 244, "completion_tokens": 50}
    silent = [value for value in example("managed_agents")
              if not (value[0].endswith("stream") and value[1]["type"].startswith("user."))]
    sent_only = one("managed_agents", *silent)
    assert texts(sent_only) == texts(run)
    assert sent_only.trajectory.goal == "Refund order 77 and tell me the weather."


def test_bare_events_are_read_without_the_client_and_each_new_session_is_a_run():
    told = example("managed_agents")
    events = [v[1] for v in told if v[0].endswith("stream")]
    run = one("managed_agents", *events)
    assert tools(run) == [["get_weather", "refund"], []]  # who refused, a client's call says
    assert run.notes[-2:] == ("1 calls without a result", "events left out: "
                              "1 session.status_running, 1 session.status_idle")
    assert len(read("managed_agents", *told, *told)) == 2


