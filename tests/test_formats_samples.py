"""What public logs are known to hold beyond their counts (`test_formats_counts`)."""

import json
from collections import Counter

import pytest
from raw_counts import values

from tjlib import store
from tjlib.documents import Document
from tjlib.formats import magentic_one, mini_swe_agent, tau_bench
from tjlib.formats.registry import load
from tjlib.trace import Trajectory


@pytest.fixture(scope="module")
def samples(shared):
    return shared / "traces/samples"


def one(path):
    run, = load(path).runs
    return run


@pytest.mark.parametrize("pattern", [
    "tau_bench/*.json", "swe_agent/**/*.traj", "mini_swe_agent/[gl]*.json"])
def test_nothing_of_a_sample_without_a_quirk_is_doubted(samples, pattern):
    notes = [(path.name, run.notes) for path in sorted(samples.glob(pattern))
             for run in load(path).runs if run.notes]
    assert notes == []


# --- tau-bench and our own -------------------------------------------------------------------

@pytest.fixture(scope="module")
def airline(samples):
    """The raw episodes of the airline log beside their runs."""
    path = samples / "tau_bench/gpt-4o-airline.json"
    return list(zip(values(path), load(path).runs, strict=True))


def test_the_airline_log_is_200_episodes_of_50_tasks_with_51_that_end_without_an_answer(airline):
    runs = [run for _, run in airline]
    assert Counter(Counter(run.task_id for run in runs).values()) == {4: 50}
    assert len({run.trajectory.trajectory_id for run in runs}) == 200
    assert sum(not run.trajectory.final_answer for run in runs) == 51
    assert all(run.trajectory.goal and run.opening and run.procedure for run in runs)
    assert all(len(s.observations) == len(s.calls) for r in runs for s in r.trajectory.steps)


def test_every_turn_of_the_airline_logs_users_is_kept_but_the_end_marker(airline):
    for raw, run in airline:
        said = [m["content"].replace("###STOP###", "").strip() for m in raw["traj"]
                if m["role"] == "user"]
        kept = [run.opening, *(s.user for s in run.trajectory.steps if s.user)]
        assert [text.strip() for text in kept] == list(filter(None, said))


def test_in_the_airline_log_every_result_follows_its_own_call_though_73_ids_come_again(airline):
    again = 0
    for raw, run in airline:
        ids = [c["id"] for m in raw["traj"] for c in m.get("tool_calls") or []]
        again += len(ids) - len(set(ids))
        # In this log each call is answered by the very next message.
        pairs = [(m["tool_calls"][0]["function"]["name"], nxt["content"])
                 for m, nxt in zip(raw["traj"], raw["traj"][1:], strict=False)
                 if m.get("tool_calls")]
        seen = [(c.tool, o) for s in run.trajectory.steps
                for c, o in zip(s.calls, s.observations, strict=True)]
        assert [tool for tool, _ in seen] == [tool for tool, _ in pairs]
        for (_, o), (_, text) in zip(seen, pairs, strict=True):
            if o.error is not None:
                assert o.error == text
            elif set(o.data) == {"text"}:
                assert o.data["text"] == text
            else:
                assert o.data == (json.loads(text) if text else {})
    assert again == 73


def test_the_releases_organic_runs_read_as_the_store_reads_them(samples):
    path = samples / "trajectory_judge/agent_trajectories.jsonl"
    runs, labels = load(path).runs, store.read_labels(path)
    assert [r.trajectory for r in runs] == list(store.read(path, Trajectory))
    assert [(r.task_id, r.success) for r in runs] == [
        (label.instance_id, label.outcome_correct) for label in labels]
    # Success is the outcome, not the absence of a fault.
    assert any(r.success and label.faulty for r, label in zip(runs, labels, strict=True))


# --- AgentRx ---------------------------------------------------------------------------------

def test_agentrx_blames_messages_of_the_agent_which_become_steps(samples):
    truth = samples / "tau_bench/labels/agentrx_tau_ground_truth.json"
    labels = {x["trajectory_id"]: [f["step_number"] for f in x["failures"]] for x in values(truth)}
    for path in sorted(samples.glob("tau_bench/agentrx_*.json")):
        run, = load(path, labels=truth).runs
        [raw] = values(path)
        own = [i for i, m in enumerate(raw["traj"]) if m["role"] == "assistant"]
        blamed = [n - 1 for n in labels[raw["task_id"]]]
        assert list(run.steps_failed) == [own.index(m) for m in blamed if m in own]
        assert sum("blames message" in note for note in run.notes) == len(
            [m for m in blamed if m not in own])


def test_the_agents_that_agentrx_blames_said_the_entries_it_numbers_from_one(samples):
    labels = values(samples / "magentic_one/labels/magentic_one_ground_truth.json")
    agree = []
    for path in sorted(samples.glob("magentic_one/*.json")):
        run, = magentic_one.read(iter([Document(1, "", e, path.name) for e in values(path)]))
        for label in labels:
            if label["trajectory_id"].startswith(run.task_id):  # a sample's name is cut short
                said, = tau_bench.outcomes(label).values()
                agents = {f["step_number"]: f["failed_agent"] for f in label["failures"]}
                for entry, agent in zip(said.messages_failed, agents.values(), strict=True):
                    step = run.trajectory.steps[run.messages.index(entry)]
                    agree.append(step.thought.lower().startswith(agent.lower()))
    assert agree == [True] * 8


# --- coding agents ---------------------------------------------------------------------------

def test_a_history_alone_has_its_own_issue_for_a_goal(samples):
    path = samples / "swe_agent/function_calling_simple.traj"
    assert one(path).trajectory.goal == values(path)[0]["history"][1]["content"]


def test_a_run_of_mini_swe_agent_with_calls_keeps_arguments_patch_and_tokens(samples):
    path = samples / "mini_swe_agent/deepseek_chat_dev__sqlfluff__sqlfluff-2419.traj.json"
    [raw], run = values(path), one(path)
    assert [c.args for s in run.trajectory.steps for c in s.calls] == [
        json.loads(c["function"]["arguments"])
        for m in raw["messages"] for c in m.get("tool_calls") or []]
    assert run.trajectory.final_answer == raw["info"]["submission"]
    assert run.notes == ("1 calls without a result",)  # the one that submits
    spent = [m["extra"]["response"]["usage"] for m in raw["messages"] if m["role"] == "assistant"]
    assert run.usage == {
        "prompt_tokens": sum(u["prompt_tokens"] for u in spent), "cost": 0.019431048,
        "completion_tokens": sum(u["completion_tokens"] for u in spent)}


def test_a_run_of_mini_swe_agent_that_timed_out_has_no_step_and_no_outcome(samples):
    run = one(samples / "mini_swe_agent/deepseek_reasoner_dev__pvlib__pvlib-python-1154.traj.json")
    assert (run.trajectory.steps, run.success, run.notes) == ((), None, ("ended as Timeout",))


def test_the_labels_of_mini_swe_agent_are_8_resolved_of_23(samples):
    [raw] = values(samples / "mini_swe_agent/labels/deepseek__deepseek-chat.deepseek_chat_dev.json")
    told = mini_swe_agent.outcomes(raw)
    assert Counter(told.values()) == {True: 8, False: 15}
    assert told["marshmallow-code__marshmallow-1343"] and "sqlfluff__sqlfluff-2419" in told


@pytest.mark.parametrize("name", ["basic", "basic_gui_mode", "basic_interactions"])
def test_a_list_of_openhands_events_keeps_what_the_user_said(samples, name):
    path = samples / f"openhands/events_{name}.json"
    run = one(path)
    assert [run.opening or run.trajectory.goal,
            *(s.user for s in run.trajectory.steps if s.user)] == [
        e["args"]["content"] for e in values(path)
        if e.get("action") == "message" and e["source"] == "user"]


def test_rows_of_openhands_keep_their_ids_and_last_messages(samples):
    path = samples / "openhands/prontoqa_output.jsonl"
    assert [(run.task_id, run.trajectory.final_answer) for run in load(path).runs] == [
        (row["id"], row["final_message"]) for row in values(path)]


# --- Anthropic -------------------------------------------------------------------------------

def test_a_session_of_claude_code_counts_tokens_once_a_message_and_keeps_every_text(samples):
    for path in sorted(samples.glob("anthropic/claude_code/*.jsonl")):
        messages, run = [v["message"] for v in values(path) if "message" in v], one(path)
        out = {m["id"]: m["usage"]["output_tokens"] for m in messages if m["role"] == "assistant"}
        assert run.usage["completion_tokens"] == sum(out.values())  # the last line has the most
        thoughts = "".join(step.thought for step in run.trajectory.steps)
        assert all(b.get("text", "") in thoughts and b.get("thinking", "") in thoughts
                   for m in messages if isinstance(m["content"], list) for b in m["content"])


def test_a_managed_agents_session_adds_up_the_tokens_of_its_requests(samples):
    for path in sorted(samples.glob("anthropic/managed_agents/*.jsonl")):
        events = [payload for method, payload in values(path) if method.endswith("stream")]
        assert one(path).usage["completion_tokens"] == sum(
            e["model_usage"]["output_tokens"] for e in events if "model_usage" in e)


# --- the others ------------------------------------------------------------------------------

def test_every_tau2_sample_has_a_goal_a_policy_and_a_model(samples):
    for path in sorted(samples.glob("tau2/*_*.json")):
        if values(path)[0].get("simulations"):
            assert all(r.trajectory.goal and r.procedure and r.model for r in load(path).runs)


def test_a_result_of_agentdojo_stands_at_the_place_of_the_call_that_it_repeats(samples):
    for path in sorted(samples.glob("agentdojo/**/*.json")):
        for step in one(path).trajectory.steps:
            assert len(step.observations) <= len(step.calls) or not step.calls


def test_a_swarm_session_is_one_run_for_each_task(samples):
    for path in sorted(samples.glob("openai_chat/swarm_*.json")):
        assert [r.task_id for r in load(path).runs] == list(
            dict.fromkeys(m["task_id"] for m in values(path)))


def test_in_the_atif_samples_no_text_of_a_step_is_lost(samples):
    for path in sorted(samples.glob("atif/*.json")):
        run = one(path)
        kept = "\n".join([run.trajectory.goal, run.procedure, *(
            f"{s.thought}\n{s.user}" for s in run.trajectory.steps)])
        assert all(step.get("message", "") in kept for step in values(path)[0]["steps"]), path.name


def test_the_codex_session_ends_with_its_last_count_of_tokens(samples):
    assert one(samples / "codex/openagents_rollout.sample.jsonl").usage == {
        "prompt_tokens": 82056, "completion_tokens": 340, "total_tokens": 82396,
        "cached_tokens": 44992, "reasoning_tokens": 53}


def test_an_eval_archive_and_its_json_are_the_same_run(samples):
    packed, plain = (one(samples / f"inspect/log_formats.{end}") for end in ("eval", "json"))
    assert packed.trajectory == plain.trajectory and packed.task_id == plain.task_id


def test_in_a_folder_of_logs_and_archives_each_sample_has_the_task_of_its_own_log(samples):
    runs = load(samples / "inspect").runs
    tasks = {run.source: run.task_id.rpartition("/")[0] for run in runs}
    assert tasks["security-guide.eval!samples/1_epoch_1.json"] == "security_guide"
    assert tasks["popularity.json"] == "popularity"
    assert tasks["docent_ctf_members/19_epoch_1.json"] == ""  # unpacked, its head comes later
    assert all(run.model for run in runs if ".eval!" in run.source)


def test_the_answer_of_a_medagentbench_row_is_its_result(samples):
    path = samples / "agentbench/medagentbench_gpt4o_runs_head.jsonl"
    assert [run.trajectory.final_answer for run in load(path).runs] == [
        row["output"]["result"] for row in values(path)]
