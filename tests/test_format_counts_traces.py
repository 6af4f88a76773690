"""Steps, calls and observations of the public logs, counted from their JSON alone."""

import csv
import json
import zipfile

import pytest

from tjlib.documents import Document
from tjlib.formats import magentic_one, tau_bench, who_and_when
from tjlib.formats.registry import load
from tjlib.trace import InputError

SAMPLES = "traces/samples"


def counts(runs):
    steps = [s for run in runs for s in run.trajectory.steps]
    return (len(steps), sum(len(s.calls) for s in steps), sum(len(s.observations) for s in steps))


def samples(shared, pattern):
    found = sorted((shared / SAMPLES).glob(pattern))
    assert found, pattern
    return found


def test_every_atif_sample_keeps_each_step_of_the_agent_each_call_and_each_result(shared):
    for path in samples(shared, "atif/*.json"):
        raw = json.loads(path.read_text("utf-8"))["steps"]
        expected = (
            sum(s.get("source") == "agent" or s.get("role") == "assistant" for s in raw),
            sum(len(s.get("tool_calls") or []) for s in raw),
            sum(len((s.get("observation") or {}).get("results", s.get("results", [])))
                for s in raw))
        log = load(path)
        assert (log.format, log.unread, counts(log.runs)) == ("atif", [], expected), path.name


def test_in_the_atif_samples_no_text_of_a_step_is_lost(shared):
    for path in samples(shared, "atif/*.json"):
        raw = json.loads(path.read_text("utf-8"))["steps"]
        run, = load(path).runs
        kept = "\n".join([run.trajectory.goal, run.procedure, *(
            f"{s.thought}\n{s.user}" for s in run.trajectory.steps)])
        assert all(step.get("message", "") in kept for step in raw), path.name


def expected_talk(history):
    """Count the entries of agents and of terminals."""
    terminal = [e.get("name") == "Computer_terminal" or e["role"] == "ComputerTerminal"
                for e in history]
    human = [e["role"] == "human" for e in history]
    return len(history) - sum(terminal) - sum(human), 0, sum(terminal)


@pytest.mark.parametrize("half", ["algorithm_generated", "hand_crafted"])
def test_every_who_and_when_sample_keeps_each_entry(shared, half):
    for path in samples(shared, f"who_and_when/{half}/*.json"):
        log = load(path)
        expected = expected_talk(json.loads(path.read_text("utf-8"))["history"])
        assert (log.format, log.unread, counts(log.runs)) == ("who_and_when", [], expected)


def test_every_magentic_one_sample_is_one_run_that_keeps_each_entry(shared):
    for path in samples(shared, "magentic_one/*.json"):
        log = load(path)
        expected = expected_talk(json.loads(path.read_text("utf-8")))
        assert (log.format, log.unread, len(log.runs)) == ("magentic_one", [], 1)
        assert counts(log.runs) == expected


def test_the_agents_that_agentrx_blames_said_the_entries_it_numbers_from_one(shared):
    folder = shared / SAMPLES / "magentic_one"
    labels = json.loads((folder / "labels/magentic_one_ground_truth.json").read_text("utf-8"))
    agree = []
    for path in samples(shared, "magentic_one/*.json"):
        found = [Document(1, "", e, path.name) for e in json.loads(path.read_text("utf-8"))]
        run, = magentic_one.read(iter(found))
        for label in labels:
            if label["trajectory_id"].startswith(run.task_id):  # a sample's name is cut short
                said, = tau_bench.outcomes(label).values()
                agents = {f["step_number"]: f["failed_agent"] for f in label["failures"]}
                for entry, agent in zip(said.messages_failed, agents.values(), strict=True):
                    step = run.trajectory.steps[run.messages.index(entry)]
                    agree.append(step.thought.lower().startswith(agent.lower()))
    assert agree == [True] * 8


#: The rows of part A in which the blamed entry is not the blamed agent's, and what we say.
DOUBTED = {
    "Algorithm-Generated/14.json": (
        "entry 2 is to blame: Computer_terminal's output, so the step before it",
        "Culinary_Awards_Expert is to blame, but Computer_terminal said entry 2"),
    "Hand-Crafted/20.json": (
        "WebSurfer is to blame, but Orchestrator (-> WebSurfer) said entry 3",),
    "Hand-Crafted/22.json": ("FileSurfer is to blame, but WebSurfer said entry 4",),
}


def test_each_row_of_who_and_whens_index_agrees_or_is_explained_by_a_note(shared):
    sets = shared / "traces/sets"
    with (sets / "who_and_when_A_index.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    doubted = {}
    with zipfile.ZipFile(sets / "who_and_when_A.zip") as archive:
        for row in rows:
            text = archive.read(row["path"]).decode("utf-8")
            history = json.loads(text)["history"]
            run, = who_and_when.read(iter([Document(1, text, json.loads(text))]))
            assert run.success is (row["success"] == "1")
            assert run.task_id == row["task_id"]
            assert run.about.get("level", "") == row["level"]
            assert run.about["mistake_agent"] == row["mistake_agent"]
            assert counts([run]) == expected_talk(history)
            assert len(history) == int(row["n_messages"])
            step, = run.steps_failed
            entry = int(row["mistake_step"])
            assert step == expected_talk(history[:entry + 1])[0] - 1
            at, said = run.trajectory.steps[step], history[entry]["content"]
            assert at.thought.endswith(said) or said in [
                o.error or o.data["text"] for o in at.observations]
            if run.notes:
                doubted[row["path"]] = run.notes
    assert (len(rows), doubted) == (99, DOUBTED)


@pytest.mark.parametrize(("name", "expected"), [
    ("openinference_client_span_tool_calls", (2, 1, 1)),
    ("otel_genai_client_span_tool_calls", (2, 1, 1)),
    ("otel_genai_tool_execution_span", (1, 1, 1))])
def test_a_loose_span_of_the_samples_is_a_run_of_its_own(shared, name, expected):
    path = shared / SAMPLES / "otel" / f"{name}.json"
    raw = json.loads(path.read_text("utf-8"))
    messages = json.loads(raw["gen_ai.input.messages"]) if "gen_ai.input.messages" in raw else []
    if messages:  # the one answer of the span is a step more
        assert expected[0] == sum(m["role"] == "assistant" for m in messages) + 1
    log = load(path)
    assert (log.format, log.unread, counts(log.runs)) == ("otel", [], expected)


@pytest.mark.parametrize("name", ["otel/vercel_v6_all-spans.json",
                                  "langsmith/langgraph_run_ops_head.jsonl",
                                  "langsmith/wrap_openai_chat.json",
                                  "langsmith/wrap_openai_chat_stream_usage.json"])
def test_a_sample_without_a_call_a_tool_or_a_label_is_refused_with_the_reason(shared, name):
    path = shared / SAMPLES / name
    text = path.read_text("utf-8")
    assert "toolCalls" not in text and '"tool_call_id"' not in text
    with pytest.raises(InputError, match="neither makes nor offers a tool call") as refusal:
        load(path)
    assert "\n" not in str(refusal.value)


def test_every_row_of_the_gaia_samples_keeps_each_step_that_thinks_or_calls(shared):
    for path in samples(shared, "smolagents_gaia/*.jsonl"):
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        raw = [s for row in rows for s in row["intermediate_steps"]]
        expected = (sum("plan" in s or "llm_output" in s for s in raw),
                    sum("tool_call" in s or "tool_name" in s for s in raw),
                    sum("observation" in s or "error" in s for s in raw))
        log = load(path)
        assert (log.format, log.unread, len(log.runs)) == ("smolagents_gaia", [], len(rows))
        assert counts(log.runs) == expected
        assert [r.success for r in log.runs] == [row["prediction"] == row["true_answer"]
                                                 for row in rows]


def test_every_row_of_the_agentbench_sample_keeps_each_turn(shared):
    for path in samples(shared, "agentbench/*.jsonl"):
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        turns = [m for row in rows for m in row["output"]["history"]]
        said = [m["content"] for m in turns if m["role"] == "agent"]
        asked = sum(text.startswith(("GET ", "POST ")) for text in said)
        log = load(path)
        assert (log.format, log.unread, len(log.runs)) == ("agentbench", [], len(rows))
        assert counts(log.runs) == (len(said), asked, len(turns) - len(said) - len(rows))
        assert {run.success for run in log.runs} == {None}
        assert [run.trajectory.final_answer for run in log.runs] == [
            row["output"]["result"] for row in rows]
