"""Steps, calls and observations of the public chat logs, counted from their JSON alone."""

import csv
import io
import json
import zipfile

import pytest

from tjlib.formats.registry import load
from tjlib.trace import InputError

SAMPLES = "traces/samples"


def counts(runs):
    steps = [s for run in runs for s in run.trajectory.steps]
    return (len(steps), sum(len(s.calls) for s in steps), sum(len(s.observations) for s in steps))


def plain(messages):
    return (sum(m["role"] == "assistant" for m in messages),
            sum(len(m.get("tool_calls") or []) for m in messages if m["role"] == "assistant"),
            sum(m["role"] == "tool" and m.get("requestor", "assistant") == "assistant"
                for m in messages))


def added(parts):
    return tuple(map(sum, zip(*parts, strict=True)))


def tau2_samples(shared):
    for path in sorted((shared / SAMPLES / "tau2").glob("*.json")):
        raw = json.loads(path.read_text("utf-8"))
        if raw.get("simulations"):
            yield path, raw


def test_every_tau2_sample_keeps_the_agents_steps_calls_and_observations(shared):
    found = list(tau2_samples(shared))
    for path, raw in found:
        log = load(path)
        assert (log.format, log.unread) == ("tau2", [])
        assert counts(log.runs) == added(plain(s["messages"]) for s in raw["simulations"])
        assert [r.reward for r in log.runs] == [
            s["reward_info"]["reward"] for s in raw["simulations"]]
        assert all(r.trajectory.goal and r.procedure and r.model for r in log.runs)
    assert len(found) == 6


def test_a_tau2_file_without_simulations_is_refused_with_the_reason(shared):
    for name, why in [("empty_simulations", "aborted"), ("voice_results_index", "an index of")]:
        with pytest.raises(InputError, match=why):
            load(shared / SAMPLES / "tau2" / f"{name}.json")


def test_every_agentdojo_sample_keeps_its_steps_calls_and_observations(shared):
    paths = sorted((shared / SAMPLES / "agentdojo").rglob("*.json"))
    for path in paths:
        raw = json.loads(path.read_text("utf-8"))
        run, = load(path).runs
        assert counts([run]) == plain(raw["messages"])
        providers = "internal server error" in str(raw.get("error"))
        assert run.success is (None if providers else raw["utility"])
        # A result stands at the place of the call that it repeats.
        for step in run.trajectory.steps:
            assert len(step.observations) <= len(step.calls) or not step.calls
    assert len(paths) == 17
    log = load(shared / SAMPLES / "agentdojo")
    assert len(log.runs) == 17 and log.format == "agentdojo"
    assert len({r.trajectory.trajectory_id for r in log.runs}) == 17


def test_every_chat_sample_keeps_its_steps_calls_and_observations(shared):
    path = shared / SAMPLES / "openai_chat" / "tau2_sft_head.jsonl"
    raw = [json.loads(line)["messages"] for line in path.read_text("utf-8").splitlines()]
    log = load(path)
    assert (log.format, len(log.runs)) == ("openai_chat", len(raw))
    assert counts(log.runs) == added(map(plain, raw))


@pytest.mark.parametrize("name", ["134602", "135321"])
def test_a_swarm_session_is_one_run_for_each_task_and_a_users_tool_is_the_agents_call(
        shared, name):
    path = shared / SAMPLES / "openai_chat" / f"swarm_session_{name}.json"
    raw = json.loads(path.read_text("utf-8"))
    log = load(path)
    called = sum("tool" in m for m in raw)
    assert [r.task_id for r in log.runs] == list(dict.fromkeys(m["task_id"] for m in raw))
    assert counts(log.runs) == (sum(m["role"] == "assistant" for m in raw) + called, called, 0)


@pytest.mark.parametrize("name", ["tau2_A", "agentdojo_clean_A"])
def test_a_labelled_set_reads_with_the_calls_and_the_successes_of_its_index(shared, name):
    """The index was made apart; blank is not to be scored."""
    log = load(shared / "traces/sets" / f"{name}.zip")
    rows = list(csv.DictReader(io.StringIO(
        (shared / "traces/sets" / f"{name}_index.csv").read_text("utf-8"))))
    by_file = {}
    for run in log.runs:
        by_file.setdefault(run.source, []).append(run)
    assert len(log.runs) == len(rows) and log.unread == []
    for row in rows:
        run = by_file[row["path"]][int(row["row"] or 0)]
        assert run.success is {"1": True, "0": False, "": None}[row["success"]], row
        assert counts([run])[1] == int(row["n_tool_calls"]), row
    assert all("LICENSES" in line for line in log.passed)


def test_agentrx_blames_messages_of_the_agent_which_become_steps(shared):
    folder = shared / SAMPLES / "tau_bench"
    labels = {x["trajectory_id"]: [f["step_number"] for f in x["failures"]] for x in json.loads(
        (folder / "labels/agentrx_tau_ground_truth.json").read_text("utf-8"))}
    for path in sorted(folder.glob("agentrx_*.json")):
        run, = load(path, labels=folder / "labels/agentrx_tau_ground_truth.json").runs
        raw = json.loads(path.read_text("utf-8"))
        own = [i for i, m in enumerate(raw["traj"]) if m["role"] == "assistant"]
        blamed = [n - 1 for n in labels[raw["task_id"]]]
        assert list(run.steps_failed) == [own.index(m) for m in blamed if m in own]
        assert sum("blames message" in note for note in run.notes) == len(
            [m for m in blamed if m not in own])


def test_an_archive_keeps_no_run_of_a_file_from_view(shared):
    with zipfile.ZipFile(shared / "traces/sets/tau2_A.zip") as archive:
        files = [n for n in archive.namelist() if n.endswith(".json")]
        total = sum(len(v["simulations"] if isinstance(v, dict) else v)
                    for v in (json.loads(archive.read(n)) for n in files))
    assert total == len(load(shared / "traces/sets/tau2_A.zip").runs)
