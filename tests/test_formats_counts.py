"""Every public log beside the repository, read in full or refused, as an independent count says.

The counts are `raw_counts`'; the sets' indices were made apart as well.
"""

import ast
import csv
import json
import zipfile
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest
import raw_counts
from raw_counts import COUNT, Held, of_text, values

from tjlib.documents import Document, documents
from tjlib.formats.imported import Imported
from tjlib.formats.registry import FORMATS, load, stream
from tjlib.trace import InputError

#: Samples -> their format.
SAMPLES = {
    "agentbench/*.jsonl": "agentbench",
    "agentdojo/runs/**/*.json": "agentdojo",
    "anthropic/claude_code/*.jsonl": "claude_code",
    "anthropic/managed_agents/*.jsonl": "managed_agents",
    "atif/*.json": "atif",
    "codex/*.jsonl": "codex",
    "inspect/*.json": "inspect",
    "inspect/*.eval": "inspect",
    "inspect/docent_ctf_members/*_epoch_1.json": "inspect",
    "magentic_one/*.json": "magentic_one",
    "mini_swe_agent/*.traj.json": "mini_swe_agent",
    "nemo_gym/*.jsonl": "nemo_gym",
    "openai_chat/*.json*": "openai_chat",
    "openhands/*.json*": "openhands",
    "otel/*_span*.json": "otel",
    "smolagents_gaia/*.jsonl": "smolagents_gaia",
    "swe_agent/**/*.traj": "swe_agent",
    "tau2/e2e_*.json": "tau2",
    "tau2/ecommerce_15sims.json": "tau2",
    "tau2/solo_telecom_no-user.json": "tau2",
    "tau_bench/*.json": "tau_bench",
    "trajectory_judge/agent_trajectories.jsonl": "native",
    "who_and_when/*/*.json": "who_and_when",
}

#: Samples that hold no run -> what is said of one, alone and among others.
LABELS = "no trajectory in any format that is known", "labels"
NO_TOOLS = "a trace of 1 spans that neither makes nor offers a tool call, so no agent's run"
REFUSED = {
    "PROVENANCE.tsv": ("no JSON object or list; nothing of it was read",) * 2,
    "anthropic/claude_code/*.md": ("no JSON object or list; nothing of it was read",) * 2,
    # Alone it is a log without samples; beside its samples it names their task and model.
    "inspect/docent_ctf_members/header.json": (
        'a log of status "success" without samples', None),
    "langsmith/*.json*": (NO_TOOLS, NO_TOOLS),
    "magentic_one/labels/*.json": LABELS,
    "mini_swe_agent/labels/*.json": LABELS,
    "otel/vercel_v6_all-spans.json": (NO_TOOLS, NO_TOOLS),
    "swe_agent/**/*.report.json": LABELS,
    "tau2/empty_simulations.json": (
        "tau2 results without a simulation, as an aborted evaluation leaves",) * 2,
    "tau2/voice_results_index.json": (
        "an index of tau2 results without their simulations; give their files",) * 2,
    "tau_bench/labels/*.json": LABELS,
    "trajectory_judge/run.json": (LABELS[0], "no run in any format that is known"),
    "trajectory_judge/verdicts_head.jsonl": (LABELS[0], "no run in any format that is known"),
}

#: Labelled sets -> their format.
SETS = {"agentdojo_clean_A": "agentdojo", "nemo_gym_A": "nemo_gym",
        "swe_agent_verified_A": "swe_agent", "tau2_A": "tau2", "who_and_when_A": "who_and_when"}


def held(run, like):
    """Count what an importer made of a run, as far as the count of its raw JSON goes."""
    steps = run.trajectory.steps
    errors = sum(not o.ok for step in steps for o in step.observations)
    return Held(len(steps), sorted(call.tool for step in steps for call in step.calls),
                sum(len(step.observations) for step in steps),
                None if like.errors is None else errors,
                sum(len(step.logprobs or ()) for step in steps), run.success)


def plain(count):
    return count._replace(tools=sorted(count.tools))


@pytest.fixture(scope="module")
def samples(shared):
    return shared / "traces/samples"


def files(samples, pattern):
    return sorted(path for path in samples.glob(pattern) if path.is_file())


def test_the_counts_know_no_importer():
    tree = ast.parse(Path(raw_counts.__file__).read_text("utf-8"))
    named = {name for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)
             for name in [getattr(node, "module", None), *(a.name for a in node.names)] if name}
    assert not any(name.startswith("tjlib") for name in named)


def test_every_sample_stands_in_the_tables_exactly_once(samples):
    there = [path for path in samples.rglob("*") if path.is_file()]
    assert Counter(path for pattern in (*SAMPLES, *REFUSED)
                   for path in files(samples, pattern)) == Counter(there)


@pytest.mark.parametrize("pattern", SAMPLES)
def test_a_sample_keeps_every_step_call_result_error_token_and_outcome(samples, pattern):
    for path in files(samples, pattern):
        log, counts = load(path), list(COUNT[SAMPLES[pattern]](values(path)))
        assert (log.format, log.unread, log.passed) == (SAMPLES[pattern], [], []), path
        assert [held(run, count) for run, count in zip(log.runs, counts, strict=True)] == list(
            map(plain, counts)), path
        value = next(item.value for item in documents(path) if isinstance(item, Document))
        claims = {name for name, one in FORMATS.items() if one.recognise(value)}
        assert claims - {"openai_chat"} <= {SAMPLES[pattern]}, path  # which takes any messages


@pytest.mark.parametrize("pattern", REFUSED)
def test_a_sample_without_a_run_is_refused_in_one_line_that_says_why(samples, pattern):
    for path in files(samples, pattern):
        with pytest.raises(InputError) as refusal:
            load(path)
        said = str(refusal.value)
        assert said.startswith(f"{path}:") and f": {REFUSED[pattern][0]}" in said, path
        assert "\n" not in said


def test_the_folder_of_all_samples_gives_each_run_once_and_names_each_file_without_one(samples):
    runs, told = defaultdict(list), defaultdict(set)
    for item in stream(samples):
        if isinstance(item, Imported):
            runs[item.source.partition("!")[0]].append(item)
        elif not isinstance(item, str):
            told[item.source].add(item.why)
    ids = [run.trajectory.trajectory_id for own in runs.values() for run in own]
    assert len(ids) == len(set(ids))
    assert {name: len(own) for name, own in runs.items()} == {
        str(path.relative_to(samples)): len(list(COUNT[format](values(path))))
        for pattern, format in SAMPLES.items() for path in files(samples, pattern)}
    assert told.pop("") == {  # labels that could be of any benchmark
        "29 labels in it name their tasks by bare numbers, which may be those of another "
        "benchmark, and were not joined; give their file with --labels"}
    assert told == {str(path.relative_to(samples)): {why} for pattern, (_, why) in REFUSED.items()
                    if why for path in files(samples, pattern)}


# --- the labelled sets -----------------------------------------------------------------------

@pytest.fixture(scope="module")
def labelled(shared):
    """Open a set once: its log, and of each index row the row, its JSON, its count and its run."""
    folder = shared / "traces/sets"

    @cache
    def opened(name):
        log, runs, given = load(folder / f"{name}.zip"), defaultdict(list), {}
        for run in log.runs:
            runs[run.source].append(run)
        with (folder / f"{name}_index.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        with zipfile.ZipFile(folder / f"{name}.zip") as packed:
            for path in runs:
                raw = of_text(packed.read(path).decode())
                given[path] = raw, list(COUNT[SETS[name]](raw))
        out = []
        for row in rows:
            (raw, counts), at = given[row["path"]], int(row["row"] or 0)
            out.append((row, raw[at] if len(raw) == len(counts) else None, counts[at],
                        runs[row["path"]][at]))
        return log, out

    return opened


SAID = {"": None, "0": False, "1": True}


@pytest.mark.parametrize(("name", "outcomes", "calls"), [
    (name, 9 * (name == "nemo_gym_A"), 5 * (name == "nemo_gym_A")) for name in SETS])
def test_a_set_reads_as_the_count_of_each_row_and_as_its_index_says(
        labelled, name, outcomes, calls):
    """How often NeMo Gym's differs is told below row by row; a blank success is not to score."""
    log, found = labelled(name)
    assert (log.format, log.unread) == (SETS[name], [])
    assert sorted(id(run) for *_, run in found) == sorted(map(id, log.runs))
    assert all("LICENSES" in line or line.endswith(": labels") for line in log.passed)
    for row, _, count, run in found:
        assert held(run, count) == plain(count)._replace(success=run.success), row
    assert sum(run.success is not SAID[row["success"]] for row, _, _, run in found) == outcomes
    assert sum(len(count.tools) != int(row["n_tool_calls"]) for row, _, count, _ in found) == calls


def test_each_of_100_verified_runs_has_the_task_and_the_ending_of_its_row(labelled):
    _, found = labelled("swe_agent_verified_A")
    demonstrations = 0
    for row, raw, _, run in found:
        assert run.task_id == row["task_id"]
        ended = row["note"].removeprefix("exit_status ")
        assert run.notes == (() if ended == "submitted" else (f"ended as {ended}",))
        shown = [m["content"] for m in raw["history"] if m.get("is_demo")]
        assert run.trajectory.goal and run.trajectory.goal not in shown
        demonstrations += len(shown)
    assert (len(found), demonstrations) == (100, 2200)


#: The rows of part A in which the blamed entry is not the blamed agent's, and what we say.
DOUBTED = {
    "Algorithm-Generated/14.json": (
        "entry 2 is to blame: Computer_terminal's output, so the step before it",
        "Culinary_Awards_Expert is to blame, but Computer_terminal said entry 2"),
    "Hand-Crafted/20.json": (
        "WebSurfer is to blame, but Orchestrator (-> WebSurfer) said entry 3",),
    "Hand-Crafted/22.json": ("FileSurfer is to blame, but WebSurfer said entry 4",),
}


def test_each_row_of_who_and_whens_index_blames_our_step_or_a_note_explains_it(labelled):
    _, found = labelled("who_and_when_A")
    doubted = {}
    for row, raw, _, run in found:
        assert run.task_id == row["task_id"]
        assert run.about.get("level", "") == row["level"]
        assert run.about["mistake_agent"] == row["mistake_agent"]
        [step], entry = run.steps_failed, int(row["mistake_step"])
        before, = raw_counts.magentic_one(raw["history"][:entry + 1])
        assert step == before.steps - 1
        at, said = run.trajectory.steps[step], raw["history"][entry]["content"]
        assert at.thought.endswith(said) or said in [
            o.error or o.data["text"] for o in at.observations]
        if run.notes:
            doubted[row["path"]] = run.notes
    assert (len(found), doubted) == (99, DOUBTED)


def test_183_rollouts_of_nemo_gym_have_a_goal_and_four_have_log_probabilities(labelled):
    _, found = labelled("nemo_gym_A")
    assert len(found) == 183 and all(run.trajectory.goal for *_, run in found)
    assert sum(count.tokens > 0 for _, _, count, _ in found) == 4


def test_success_is_that_of_nemo_gyms_index_but_where_only_its_other_rows_tell(labelled):
    _, found = labelled("nemo_gym_A")
    # The index leaves out all of a file whose reward is 0.0 in every row, for its environment
    # says 1.0 in some; a row in which the environment said nothing else cannot tell that.
    for row, raw, _, run in found:
        if run.success is not SAID[row["success"]]:
            assert "aviary_wrapper" in row["path"] and row["success"] == ""
            assert run.success is False and raw["reward"] == 0.0
            assert '"reward": 1' not in json.dumps(raw["response"]["output"])
    told = [run.notes[0] for row, _, _, run in found
            if "aviary_wrapper" in row["path"] and run.success is None]
    assert told == ["a reward of 0, but 1 from the environment, so not judged"] * 9


def test_calls_are_those_of_nemo_gyms_index_but_in_five_rows_it_counts_otherwise(labelled):
    _, found = labelled("nemo_gym_A")
    assert sorted((row["path"].split("/data/")[0].rpartition("/")[2], len(count.tools),
                   int(row["n_tool_calls"])) for row, _, count, _ in found
                  if len(count.tools) != int(row["n_tool_calls"])) == [
        # Two histories, the second of which repeats the first: one call, not two.
        ("aviary", 1, 2), ("aviary", 1, 2),
        # The request holds the turns before, which the index does not count.
        ("single_step_tool_use_with_judge", 2, 1), ("tau2", 4, 1), ("tau2", 5, 1)]


def test_a_tau2_run_in_a_rollout_is_the_conversation_that_its_result_tells(labelled):
    own = [(raw, run) for row, raw, _, run in labelled("nemo_gym_A")[1]
           if "responses_api_agents/tau2" in row["path"]]
    for raw, run in own:
        messages, steps = raw["result"]["messages"], run.trajectory.steps
        agent = [m for m in messages if m["role"] == "assistant"]
        assert [s.thought.strip() for s in steps] == [(m["content"] or "").strip() for m in agent]
        assert [[c.tool for c in s.calls] for s in steps] == [
            [c["name"] for c in m.get("tool_calls") or []] for m in agent]
        assert run.trajectory.goal == messages[1]["content"]
    assert len(own) == 2


def test_a_task_is_that_of_nemo_gyms_index_but_for_two_of_its_prompts(labelled):
    ours, theirs = defaultdict(set), defaultdict(set)
    for row, _, _, run in labelled("nemo_gym_A")[1]:
        ours[row["task_id"]].add(run.task_id)
        theirs[run.task_id].add(row["task_id"])
    # newton_bench tells its three tasks only in what is not the user's; example_mcp_weather
    # has the same prompt as a text and as a list of one message.
    assert sorted(map(len, ours.values()))[-2:] == [1, 3]
    assert sorted(map(len, theirs.values()))[-2:] == [1, 2]
