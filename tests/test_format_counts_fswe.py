"""Coding agents' and Anthropic's logs hold what a count of their raw JSON finds."""

import csv
import json
import zipfile
from collections import Counter

import pytest

from tjlib.documents import Document, documents
from tjlib.formats import mini_swe_agent
from tjlib.formats.registry import FORMATS, load

SAMPLES = "traces/samples"


def held(runs):
    """Count what an importer made of a file."""
    steps = [step for run in runs for step in run.trajectory.steps]
    return {
        "runs": len(runs), "steps": len(steps), "calls": sum(len(s.calls) for s in steps),
        "observations": sum(len(s.observations) for s in steps),
        "errors": sum(not o.ok for s in steps for o in s.observations),
        "tools": Counter(call.tool for s in steps for call in s.calls)}


def counted(steps, calls, observations, errors, tools, runs=1):
    return {"runs": runs, "steps": steps, "calls": calls, "observations": observations,
            "errors": errors, "tools": Counter(tools)}


def raw(path):
    """Return the JSON values of a file, a list's elements one by one."""
    text = path.read_text("utf-8")
    try:
        value = json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    return value if isinstance(value, list) else [value]


# --- SWE-agent --------------------------------------------------------------------------------

def of_actions(value):
    """Count a list of actions; tools by the function called, where one was called for it."""
    functions = {}
    for message in value["history"]:
        if not message.get("is_demo") and message.get("tool_calls"):
            functions[message["action"]] = message["tool_calls"][0]["function"]["name"]
    actions = [entry["action"] for entry in value["trajectory"]]
    return counted(
        len(actions), sum(action.strip() != "" for action in actions),
        sum(isinstance(entry["observation"], str) for entry in value["trajectory"]), 0,
        [functions.get(action) or action.split()[0] for action in actions])


@pytest.mark.parametrize("name", [
    "6e44b9_gpt4", "ctf_networking_1", "humanevalfix-python-0", "marshmallow-1867_default",
    "marshmallow-1867_function_calling", "pydicom-1458_gpt4",
    "swebench_verified/django__django-11066", "swebench_verified/sympy__sympy-16886"])
def test_a_run_of_swe_agent_keeps_every_action_and_output(shared, name):
    path = shared / SAMPLES / "swe_agent" / f"{name}.traj"
    log = load(path)
    assert (log.format, log.unread) == ("swe_agent", [])
    assert held(log.runs) == of_actions(raw(path)[0])
    assert log.runs[0].notes == ()


def test_a_history_alone_keeps_every_call_and_output(shared):
    path = shared / SAMPLES / "swe_agent" / "function_calling_simple.traj"
    messages = raw(path)[0]["history"]
    calls = [c["function"]["name"] for m in messages for c in m.get("tool_calls") or []]
    run, = load(path).runs
    assert held([run]) == counted(
        sum(m["role"] == "assistant" for m in messages), len(calls),
        sum(m["role"] == "tool" for m in messages), 0, calls)
    assert run.trajectory.goal == messages[1]["content"] and run.notes == ()


def test_each_of_100_verified_runs_has_the_calls_and_the_outcome_of_its_row(shared):
    sets = shared / "traces/sets"
    with (sets / "swe_agent_verified_A_index.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["path"]: row for row in csv.DictReader(file)}
    log = load(sets / "swe_agent_verified_A.zip")
    assert (log.format, log.unread) == ("swe_agent", [])
    assert [run.source for run in log.runs] == sorted(rows)
    demonstrations = 0
    with zipfile.ZipFile(sets / "swe_agent_verified_A.zip") as packed:
        for run in log.runs:
            row, value = rows[run.source], json.loads(packed.read(run.source))
            assert (run.task_id, run.success) == (row["task_id"], row["success"] == "1")
            assert held([run]) == of_actions(value)
            assert len(run.trajectory.steps) == int(row["n_tool_calls"]) == held([run])["calls"]
            assert len(value["history"]) == int(row["n_messages"])
            ended = row["note"].removeprefix("exit_status ")
            assert run.notes == (() if ended == "submitted" else (f"ended as {ended}",))
            shown = [m["content"] for m in value["history"] if m.get("is_demo")]
            assert run.trajectory.goal and run.trajectory.goal not in shown
            demonstrations += len(shown)
    assert Counter(run.success for run in log.runs) == {False: 68, True: 32}
    assert demonstrations == 2200


# --- mini-SWE-agent ---------------------------------------------------------------------------

def test_a_run_of_mini_swe_agent_with_calls_keeps_them_and_its_return_codes(shared):
    name = "deepseek_chat_dev__sqlfluff__sqlfluff-2419.traj.json"
    path = shared / SAMPLES / "mini_swe_agent" / name
    value, = raw(path)
    calls = [c["function"] for m in value["messages"] for c in m.get("tool_calls") or []]
    results = [m for m in value["messages"] if m["role"] == "tool"]
    run, = load(path).runs
    assert held([run]) == counted(
        sum(m["role"] == "assistant" for m in value["messages"]), len(calls), len(results),
        sum(m["extra"]["returncode"] != 0 for m in results), [c["name"] for c in calls])
    assert [c.args for s in run.trajectory.steps for c in s.calls] == [
        json.loads(c["arguments"]) for c in calls]
    assert run.trajectory.final_answer == value["info"]["submission"]
    assert run.notes == ("1 calls without a result",)  # the one that submits
    spent = [m["extra"]["response"]["usage"] for m in value["messages"] if m["role"] == "assistant"]
    assert run.usage == {
        "prompt_tokens": sum(u["prompt_tokens"] for u in spent), "cost": 0.019431048,
        "completion_tokens": sum(u["completion_tokens"] for u in spent)}


@pytest.mark.parametrize("name", ["github_issue", "local"])
def test_a_bare_list_of_mini_swe_agent_keeps_every_command_and_output(shared, name):
    path = shared / SAMPLES / "mini_swe_agent" / f"{name}.traj.json"
    messages = raw(path)
    steps = sum(m["role"] == "assistant" for m in messages)
    assert all(m["content"].count("```") == 2 for m in messages if m["role"] == "assistant")
    log = load(path)
    outputs = [m["content"] for m in messages if m["role"] == "user"][1:]
    assert log.format == "mini_swe_agent" and log.runs[0].notes == ()
    assert held(log.runs) == counted(
        steps, steps, len(outputs),
        sum("<returncode>" in text and "<returncode>0" not in text for text in outputs),
        ["bash"] * steps)


def test_a_run_of_mini_swe_agent_that_timed_out_has_no_step_and_no_outcome(shared):
    name = "deepseek_reasoner_dev__pvlib__pvlib-python-1154.traj.json"
    run, = load(shared / SAMPLES / "mini_swe_agent" / name).runs
    assert (run.trajectory.steps, run.success, run.notes) == ((), None, ("ended as Timeout",))


def test_the_labels_of_mini_swe_agent_are_8_resolved_of_23(shared):
    path = shared / SAMPLES / "mini_swe_agent/labels/deepseek__deepseek-chat.deepseek_chat_dev.json"
    told = mini_swe_agent.outcomes(raw(path)[0])
    assert Counter(told.values()) == {True: 8, False: 15}
    assert told["marshmallow-code__marshmallow-1343"] and "sqlfluff__sqlfluff-2419" in told


# --- OpenHands --------------------------------------------------------------------------------

@pytest.mark.parametrize("name", ["basic", "basic_gui_mode", "basic_interactions"])
def test_a_list_of_openhands_events_keeps_every_action_of_the_agent(shared, name):
    path = shared / SAMPLES / "openhands" / f"events_{name}.json"
    events = raw(path)
    acts = [e for e in events if "action" in e and e["source"] == "agent"]
    calls = [e["tool_call_metadata"]["function_name"] for e in acts
             if e["action"] in ("run", "edit")]
    results = [e for e in events if e.get("observation") in ("run", "edit")]
    log = load(path)
    assert (log.format, log.unread) == ("openhands", [])
    assert held(log.runs) == counted(len(acts), len(calls), len(results),
                                     sum(e.get("success") is False for e in results), calls)
    said = [e["args"]["content"] for e in events if e.get("action") == "message"
            and e["source"] == "user"]
    assert [log.runs[0].opening or log.runs[0].trajectory.goal,
            *(s.user for s in log.runs[0].trajectory.steps if s.user)] == said


def test_rows_of_openhands_keep_every_action_and_their_results(shared):
    path = shared / SAMPLES / "openhands" / "prontoqa_output.jsonl"
    rows = raw(path)
    pairs = [pair for row in rows for pair in row["history"]]
    acts = [a for a, _ in pairs if a["source"] == "agent"]
    calls = [a["action"] for a in acts if a["action"] == "run_ipython"]
    runs = load(path).runs
    assert held(runs) == counted(len(acts), len(calls), sum(
        o["observation"] == "run_ipython" for _, o in pairs), 0, calls, runs=6)
    assert [run.success for run in runs] == [row["test_result"]["result"] for row in rows]
    assert Counter(run.success for run in runs) == {True: 5, False: 1}
    assert [run.task_id for run in runs] == [row["id"] for row in rows]
    assert [run.trajectory.final_answer for run in runs] == [row["final_message"] for row in rows]


# --- Anthropic --------------------------------------------------------------------------------

@pytest.mark.parametrize("name", [
    "fixture_tool_call_conversation", "regex-log_sonnet-raw", "regex-log_subagents_agent-aadec35",
    "regex-log_subagents_agent-ae48aec"])
def test_a_session_of_claude_code_counts_each_message_and_its_tokens_once(shared, name):
    path = shared / SAMPLES / "anthropic/claude_code" / f"{name}.jsonl"
    messages = [line["message"] for line in raw(path) if "message" in line]
    blocks = [b for m in messages if isinstance(m["content"], list) for b in m["content"]]
    calls = [b["name"] for b in blocks if b["type"] == "tool_use"]
    ids = {m["id"] for m in messages if m["role"] == "assistant"}
    log = load(path)
    assert (log.format, log.unread) == ("claude_code", [])
    assert held(log.runs) == counted(
        len(ids), len(calls), sum(b["type"] == "tool_result" for b in blocks), 0, calls)
    out = {m["id"]: m["usage"]["output_tokens"] for m in messages if m["role"] == "assistant"}
    assert log.runs[0].usage["completion_tokens"] == sum(out.values())  # the last line has the most
    thoughts = "".join(step.thought for step in log.runs[0].trajectory.steps)
    assert all(b.get("text", "") in thoughts and b.get("thinking", "") in thoughts for b in blocks)


@pytest.mark.parametrize("name", ["builtin_tools", "custom_tools", "mcp_tools"])
def test_a_managed_agents_session_keeps_every_request_and_its_calls(shared, name):
    path = shared / SAMPLES / "anthropic/managed_agents" / f"{name}.jsonl"
    events = [payload for method, payload in raw(path) if method.endswith("stream")]
    kinds = Counter(event["type"] for event in events)
    calls = [e["name"] for e in events if e["type"].endswith("tool_use")]
    log = load(path)
    assert (log.format, log.unread) == ("managed_agents", [])
    assert held(log.runs) == counted(
        kinds["span.model_request_start"], len(calls),
        sum(n for kind, n in kinds.items() if kind.endswith("tool_result")), 0, calls)
    assert log.runs[0].usage["completion_tokens"] == sum(
        e["model_usage"]["output_tokens"] for e in events if "model_usage" in e)


# --- everyone else's --------------------------------------------------------------------------

def test_no_log_of_another_format_is_taken_for_one_of_these(shared):
    ours = {"swe_agent": "swe_agent", "mini_swe_agent": "mini_swe_agent", "openhands": "openhands",
            "claude_code": "anthropic/claude_code", "managed_agents": "anthropic/managed_agents",
            "anthropic": "anthropic"}
    taken, others = set(), 0
    for path in sorted((shared / SAMPLES).rglob("*")):
        if path.suffix not in (".json", ".jsonl", ".traj") or "labels" in path.parts:
            continue
        folder = path.relative_to(shared / SAMPLES).parent.as_posix()
        first = next((d for d in documents(path) if isinstance(d, Document)), None)
        found = [name for name in ours if first and FORMATS[name].recognise(first.value)]
        others += not found
        taken |= {(name, folder) for name in found if not folder.startswith(ours[name])}
    assert taken == set() and others > 90
