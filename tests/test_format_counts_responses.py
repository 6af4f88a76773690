"""Steps, calls and observations of public logs, counted by their raw JSON alone."""

import csv
import io
import json
import re
from collections import defaultdict
from itertools import pairwise

import pytest

try:  # reads zstandard before Python 3.14 does
    from backports.zstd import zipfile
except ImportError:
    import zipfile

from tjlib.documents import Document
from tjlib.formats import nemo_gym
from tjlib.formats.registry import load

SAMPLES = "traces/samples"
STAND_INS = ([], [0.0], [-0.1, -0.2])

#: A turn of the model: reasoning, then a message or calls; a capital letter ends it, as
#: its log-probabilities do. A reasoning behind a call is the call's if a result is next.
TURN = re.compile(r"r*(?:m?c*C|m?c+(?:r+(?=o))?|[mM])|r+")


def text_of(content):
    if not isinstance(content, list):
        return content or ""
    return "".join(part.get("text") or "" for part in content)


def letter(item):
    """One letter an item: reasoning, message, call, its output, somebody else."""
    kind, real = item.get("type", "message"), item.get("generation_log_probs") or []
    if kind == "reasoning":
        return "r" if text_of(item.get("content")) or text_of(item.get("summary")) else ""
    if kind == "function_call_output":
        return "o"
    if kind == "message" and item["role"] != "assistant":
        return "u"
    if kind == "message" and real == [0.0] and not text_of(item["content"]).strip():
        return ""
    found = "m" if kind == "message" else "c"
    return found.upper() if real not in STAND_INS else found


def rollout(row):
    """Count what a rollout holds; a nested history is told again in the one after it."""
    output = row["response"]["output"]
    given = row["responses_create_params"].get("input") or []
    given = [{"role": "user", "content": given}] if isinstance(given, str) else given
    if output and isinstance(output[0], list):
        assert all(b[:len(a)] == a for a, b in pairwise(output))
        given, output = [], output[-1]
    told = "".join(map(letter, given + output))
    return {"steps": len(TURN.findall(told)), "calls": told.lower().count("c"),
            "observations": told.count("o"),
            "tokens": sum(len(p) for i in given + output
                          if (p := i.get("generation_log_probs") or []) not in STAND_INS)}


def held(run):
    steps = run.trajectory.steps
    return {"steps": len(steps), "calls": sum(len(s.calls) for s in steps),
            "observations": sum(len(s.observations) for s in steps),
            "tokens": sum(len(s.logprobs or ()) for s in steps)}


@pytest.mark.parametrize("name", [
    "aviary_hotpotqa", "blackjack_negative", "general_agent", "hermes_math", "langchain_docs_qa",
    "mcp_weather", "multi_turn_logprobs", "multireward_2.0", "swe_claude_code",
    "tictactoe_logprobs", "verifiers_nested_output", "workplace_assistant",
    "workplace_env_logprobs_line1"])
def test_a_public_log_of_nemo_gym_keeps_every_turn_call_result_and_token(shared, name):
    path = shared / SAMPLES / "nemo_gym" / f"{name}.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    log = load(path)
    assert (log.format, log.unread) == ("nemo_gym", [])
    assert [held(run) for run in log.runs] == [rollout(row) for row in rows]


@pytest.fixture(scope="module")
def gym(shared):
    """Every episode of the big set: its index row, its raw row and the run it is read as."""
    sets = shared / "traces/sets"
    index = list(csv.DictReader(io.StringIO((sets / "nemo_gym_A_index.csv").read_text("utf-8"))))
    with zipfile.ZipFile(sets / "nemo_gym_A.zip") as packed:
        files = {name: [line for line in packed.read(name).decode().split("\n") if line.strip()]
                 for name in {row["path"] for row in index}}
    out = []
    for row in index:
        text = files[row["path"]][int(row["row"])]
        [run] = nemo_gym.read(iter([Document(1, text, json.loads(text))]))
        out.append((row, json.loads(text), run))
    return out


def test_the_183_rollouts_of_52_environments_keep_every_turn_call_result_and_token(gym):
    assert len(gym) == 183
    assert [held(run) for _, _, run in gym] == [rollout(raw) for _, raw, _ in gym]
    assert sum(held(run)["tokens"] > 0 for _, _, run in gym) == 4
    assert all(run.trajectory.goal for _, _, run in gym)


def test_success_is_that_of_the_sets_index_but_where_only_its_other_rows_tell(gym):
    said = {"": None, "0": False, "1": True}
    other = [(row, raw, run) for row, raw, run in gym if run.success is not said[row["success"]]]
    # The index leaves out all of a file whose reward is 0.0 in every row, for its environment
    # says 1.0 in some; a row in which the environment said nothing else cannot tell that.
    assert len(other) == 9
    for row, raw, run in other:
        assert "aviary_wrapper" in row["path"] and row["success"] == "" and raw["reward"] == 0.0
        assert run.success is False and '"reward": 1' not in json.dumps(raw["response"]["output"])
    told = [run for row, _, run in gym if "aviary_wrapper" in row["path"] and run.success is None]
    assert [run.notes[0] for run in told] == [
        "a reward of 0, but 1 from the environment, so not judged"] * 9


def test_calls_are_those_of_the_sets_index_but_in_five_rows_it_counts_otherwise(gym):
    other = [(row["path"].split("/data/")[0].rpartition("/")[2], held(run)["calls"],
              int(row["n_tool_calls"])) for row, _, run in gym
             if held(run)["calls"] != int(row["n_tool_calls"])]
    assert sorted(other) == [
        # Two histories, the second of which repeats the first: one call, not two.
        ("aviary", 1, 2), ("aviary", 1, 2),
        # The request holds the turns before, which the index does not count.
        ("single_step_tool_use_with_judge", 2, 1), ("tau2", 4, 1), ("tau2", 5, 1)]


def test_a_tau2_run_in_a_rollout_is_the_conversation_that_its_result_tells(gym):
    found = 0
    for row, raw, run in gym:
        if "responses_api_agents/tau2" in row["path"]:
            found += 1
            messages = raw["result"]["messages"]
            agent = [m for m in messages if m["role"] == "assistant"]
            steps = run.trajectory.steps
            assert [s.thought.strip() for s in steps] == [
                (m["content"] or "").strip() for m in agent]
            assert [[c.tool for c in s.calls] for s in steps] == [
                [c["name"] for c in m.get("tool_calls") or []] for m in agent]
            assert run.trajectory.goal == messages[1]["content"]
    assert found == 2


def test_a_task_is_the_index_s_but_for_a_system_prompt_and_a_prompt_that_is_no_list(gym):
    ours, theirs = defaultdict(set), defaultdict(set)
    for row, _, run in gym:
        ours[row["task_id"]].add(run.task_id)
        theirs[run.task_id].add(row["task_id"])
    # newton_bench tells its three tasks only in what is not the user's; example_mcp_weather
    # has the same prompt as a text and as a list of one message.
    assert sorted(map(len, ours.values()))[-2:] == [1, 3]
    assert sorted(map(len, theirs.values()))[-2:] == [1, 2]


# --- Codex -----------------------------------------------------------------------------------

def test_a_codex_session_keeps_every_turn_call_and_result(shared):
    path = shared / SAMPLES / "codex/openagents_rollout.sample.jsonl"
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    told = "".join(letter(line["payload"]) for line in lines if line["type"] == "response_item")
    [run] = load(path).runs
    assert told == "uurmcocom"
    assert held(run) == {"steps": 3, "calls": 2, "observations": 2, "tokens": 0}
    assert run.usage == {"prompt_tokens": 82056, "completion_tokens": 340,
                         "total_tokens": 82396, "cached_tokens": 44992, "reasoning_tokens": 53}
    assert (run.success, run.model, run.notes) == (None, "gpt-5.5", ())


# --- Inspect ---------------------------------------------------------------------------------

def sample(raw):
    messages = raw["messages"]
    [score] = raw.get("scores", {}).values() or [{"value": ""}]
    return {"steps": sum(m["role"] == "assistant" for m in messages),
            "calls": sum(len(m.get("tool_calls") or []) for m in messages),
            "observations": sum(m["role"] == "tool" for m in messages), "tokens": 0,
            "success": {"C": True, "I": False, "": None}[score["value"]]}


@pytest.mark.parametrize("name", [
    "log_formats.json", "log_images_tc.json", "log_read_sample.json", "popularity.json",
    "docent_ctf_members/19_epoch_1.json", "docent_ctf_members/65_epoch_1.json"])
def test_a_public_log_of_inspect_keeps_every_message_call_and_score(shared, name):
    path = shared / SAMPLES / "inspect" / name
    raw = json.loads(path.read_text("utf-8"))
    log = load(path)
    assert (log.format, log.unread) == ("inspect", [])
    assert [held(run) | {"success": run.success} for run in log.runs] == list(
        map(sample, raw.get("samples", [raw])))


@pytest.mark.parametrize(("name", "count"), [
    ("log_formats", 1), ("log_streaming", 4), ("mmlu_choices", 1), ("security-guide", 16),
    ("retry_zstd", 1)])
def test_a_public_eval_archive_gives_each_sample_once_with_its_task_and_model(
        shared, name, count):
    path = shared / SAMPLES / "inspect" / f"{name}.eval"
    with zipfile.ZipFile(path) as packed:
        files = {member: json.loads(packed.read(member)) for member in packed.namelist()}
    log, head = load(path), files["header.json"]["eval"]
    assert (log.format, log.unread, log.passed) == ("inspect", [], [])
    assert len({run.trajectory.trajectory_id for run in log.runs}) == count
    assert {run.source: held(run) | {"success": run.success} for run in log.runs} == {
        member: sample(raw) for member, raw in files.items() if member.startswith("samples/")}
    assert {run.model for run in log.runs} == {head["model"]}
    assert all(run.task_id.startswith(f"{head['task']}/") for run in log.runs)


def test_an_eval_archive_and_its_json_are_the_same_run(shared):
    folder = shared / SAMPLES / "inspect"
    [packed], [plain] = (load(folder / f"log_formats.{end}").runs for end in ("eval", "json"))
    assert packed.trajectory == plain.trajectory and packed.task_id == plain.task_id


def test_a_folder_of_logs_and_archives_gives_each_sample_the_task_of_its_own_log(shared):
    log = load(shared / SAMPLES / "inspect")
    assert (log.format, len(log.runs), log.unread, log.passed) == ("inspect", 31, [], [])
    tasks = {run.source: run.task_id.rpartition("/")[0] for run in log.runs}
    assert tasks["security-guide.eval!samples/1_epoch_1.json"] == "security_guide"
    assert tasks["popularity.json"] == "popularity"
    assert tasks["docent_ctf_members/19_epoch_1.json"] == ""  # unpacked, its head comes later
