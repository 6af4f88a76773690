"""Convert, validate, score and judge a log: the same runs all the way, nothing lost unsaid."""

import json
import os
from pathlib import Path

import msgspec
import pytest

from tjlib.__main__ import main
from tjlib.convert import convert, count
from tjlib.formats.registry import load, trajectories
from tjlib.formats.sidecar import beside, label, restored, row
from tjlib.store import read_labels
from tjlib.trace import InputError

EXAMPLES = Path(__file__).parent / "examples"


@pytest.fixture
def run(capsys):
    def call(*args):
        status = main([str(arg) for arg in args])
        out, err = capsys.readouterr()
        return status, out, err

    return call


def test_verdicts_on_a_log_are_scored_against_the_outcomes_it_states(tmp_path, run):
    log = EXAMPLES / "tau2.json"
    assert run("convert", log, "--out", tmp_path / "t.jsonl")[0] == 0
    truth = read_labels(beside(tmp_path / "t.jsonl", "labels"))
    assert [(x.trajectory_id, x.faulty, x.outcome_correct, x.instance_id) for x in truth] == [
        ("sim-a", False, True, "lamps/0"), ("sim-b", True, False, "lamps/1")]
    verdicts = tmp_path / "v.jsonl"
    verdicts.write_text("".join(json.dumps({"trajectory_id": x.trajectory_id, "judge": "me",
                                            "faulty": x.faulty}) + "\n" for x in truth), "utf-8")
    status, out, _ = run("score", verdicts, "--labels", beside(tmp_path / "t.jsonl", "labels"),
                         "--traces", log, "--draws", "100", "--json")
    scored = {(s["judge"], s["metric"]): s["value"] for s in json.loads(out)}
    assert status == 0 and scored["me", "precision"] == scored["me", "recall"] == 1.0


def test_a_judge_reads_a_log_of_any_format_and_resumes_on_it(tmp_path, run):
    log, out = EXAMPLES / "tau_bench.json", tmp_path / "v.jsonl"
    args = ("judge", "reply", "--traces", log, "--out", out)
    assert run(*args)[1].startswith("3 verdicts added")
    assert run(*args)[1].startswith("0 verdicts added")


def test_only_a_run_that_was_judged_gets_a_label():
    runs = {r.trajectory.trajectory_id: r for r in load(EXAMPLES / "tau2.json").runs}
    assert label(runs["sim-d"]) is None
    blamed = msgspec.structs.replace(runs["sim-d"], steps_failed=(1, 0))
    assert (label(blamed).faulty, label(blamed).failure_step) == (True, 0)


def test_what_cannot_be_read_is_named_counted_and_ends_in_status_1(tmp_path, run):
    good = (EXAMPLES / "openai_chat.jsonl").read_text("utf-8").splitlines()
    (tmp_path / "log").mkdir()
    lines = "\n".join([good[0], '{"x": 1', good[1], ""])
    (tmp_path / "log" / "a.jsonl").write_text(lines, "utf-8")
    (tmp_path / "log" / "README.md").write_text("# Logs\n", "utf-8")
    status, out, err = run("validate", tmp_path / "log")
    assert status == 1 and "places not read: 1, named above" in err
    assert f"{tmp_path}/log/a.jsonl:2: not JSON" in out and "README.md: no JSON" in out
    assert "runs: 2 (openai_chat)" in out and "places not read: 1, files passed over: 1" in out
    status, out, err = run("convert", tmp_path / "log", "--out", tmp_path / "t.jsonl")
    assert status == 0 and "a.jsonl:2" in err and "places not read: 1" in out


def test_a_log_without_a_run_is_refused_and_writes_nothing(tmp_path, run):
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "a.json").write_text('{"x": 1}', "utf-8")
    for command in (["validate"], ["convert", "--out", tmp_path / "t.jsonl"]):
        status, _, err = run(command[0], tmp_path / "log", *command[1:])
        assert status == 1 and "no run" in err
    assert [p.name for p in tmp_path.iterdir()] == ["log"]
    with pytest.raises(InputError, match="holds no run in any format that is known; known are"):
        load(tmp_path / "log")


def test_a_log_is_not_converted_onto_itself(tmp_path, run):
    path = tmp_path / "t.jsonl"
    path.write_bytes((EXAMPLES / "native.jsonl").read_bytes())
    assert "is the log itself" in run("convert", path, "--out", path)[2]
    assert path.read_bytes() == (EXAMPLES / "native.jsonl").read_bytes()


@pytest.mark.parametrize("command", [
    ["convert", "logs"], ["convert", "logs/a.jsonl"],
    ["report", "logs"], ["report", "logs/a.jsonl"],
    ["judge", "rules", "--traces", "logs"], ["judge", "rules", "--traces", "logs/a.jsonl"],
    ["report", "logs/a.jsonl", "--labels", "said.jsonl"],
    ["convert", "logs/a.jsonl", "--labels", "said.jsonl"],
    ["judge", "match", "--traces", "other.jsonl", "--reference", "logs/a.jsonl"],
])
def test_no_command_writes_over_a_file_that_it_reads(tmp_path, run, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    Path("logs").mkdir()
    text = (EXAMPLES / "openai_chat.jsonl").read_bytes()
    for name in ("logs/a.jsonl", "other.jsonl"):
        Path(name).write_bytes(text)
    Path("said.jsonl").write_text('{"task_id": "lamp", "success": true}', "utf-8")
    out = "said.jsonl" if "said.jsonl" in command else "logs/a.jsonl"
    there = {path: path.read_bytes() for path in tmp_path.rglob("*.jsonl")}
    status, _, err = run(*command, "--out", out)
    assert status == 1 and err.count("\n") == 1 and "is read; choose another --out" in err
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.jsonl")} == there


def test_a_pipe_is_refused_by_a_judge_who_would_find_it_empty_the_second_time(tmp_path, run):
    pipe, out = tmp_path / "pipe", tmp_path / "v.jsonl"
    os.mkfifo(pipe)
    status, _, err = run("judge", "rules", "--traces", pipe, "--out", out)
    assert status == 1 and "a judge reads the log twice; give a file" in err and not out.exists()


def test_a_run_with_a_blank_id_gets_one_and_is_judged_with_the_others(tmp_path, run):
    log = tmp_path / "a.jsonl"
    runs = [{"id": name, "messages": [{"role": "user", "content": "hi"},
                                      {"role": "assistant", "content": name + "hello"}]}
            for name in ("a", "  ", " ")]
    log.write_text("\n".join(map(json.dumps, runs)), "utf-8")
    found = load(log)
    assert [r.trajectory.trajectory_id for r in found.runs] == ["a", "line2", "line3"]
    assert found.runs[1].notes == ("its id is blank",)
    assert run("judge", "rules", "--traces", log, "--out", tmp_path / "v.jsonl")[0] == 0


def test_what_is_no_run_in_a_log_s_folder_may_be_written_again(tmp_path, run):
    (tmp_path / "a.jsonl").write_bytes((EXAMPLES / "openai_chat.jsonl").read_bytes())
    for _ in range(2):
        assert run("report", tmp_path, "--out", tmp_path / "p.html")[0] == 0
        assert run("judge", "rules", "--traces", tmp_path, "--out", tmp_path / "v.jsonl")[0] == 0


@pytest.mark.parametrize("line, why", [
    ('{"task_id": "chair", "success": "yes"}', ":2: success is 'yes'; write true or false"),
    ('{"task_id": "chair", "success": 1}', ":2: success is 1; write true or false"),
    ('{"task": "chair"}', ":2: no label, which has a task_id, and a success that"),
    ('{"task_id": "chair", "succ', ":2: the last line is cut off"),
    ('{"task_id": "lamp", "success": false}', ":2: 'lamp' has another outcome in an earlier"),
])
def test_a_mistake_in_labels_that_were_named_is_one_line_with_its_place(tmp_path, run, line, why):
    said = tmp_path / "labels.jsonl"
    said.write_text('{"task_id": "lamp", "success": true}\n' + line, "utf-8")
    status, out, err = run("validate", EXAMPLES / "openai_chat.jsonl", "--labels", said)
    assert (status, out) == (1, "") and err.startswith(f"tjlib: {said}{why}")
    assert err.count("\n") == 1


def test_of_labels_beside_a_log_that_contradict_each_other_neither_is_taken(tmp_path):
    """Two models' reports name the same issues, and nothing says whose run is whose."""
    (tmp_path / "runs.json").write_bytes((EXAMPLES / "swe_agent.json").read_bytes())
    task = load(tmp_path).runs[0].task_id
    for name, resolved in (("a", True), ("b", False)):
        (tmp_path / f"{name}.report.json").write_text(json.dumps({task: {"resolved": resolved}}))
    log = load(tmp_path)
    assert [r.success for r in log.runs if r.task_id == task] == [None]
    assert f"b.report.json:1: {task!r} has another outcome in an earlier label" in log.unread[0]
    (tmp_path / "b.report.json").unlink()
    assert [r.success for r in load(tmp_path).runs if r.task_id == task] == [True]


def test_a_torn_label_beside_a_log_is_told(tmp_path):
    (tmp_path / "runs.jsonl").write_bytes((EXAMPLES / "openai_chat.jsonl").read_bytes())
    (tmp_path / "said.jsonl").write_text('{"task_id": "lamp", "success": true}\n{"task_id": "c')
    assert load(tmp_path).unread == [f"{tmp_path}/said.jsonl:2: the last line is cut off"]


def test_a_format_that_is_not_the_log_s_is_refused_with_the_way_out(tmp_path, run):
    log = EXAMPLES / "openai_chat.jsonl"
    for command in (["validate", log], ["report", log, "--out", tmp_path / "p.html"]):
        status, _, err = run(*command, "--format", "tau2")
        assert status == 1 and "could be read as tau2, leave" in err


def test_what_is_no_json_is_refused_alike_by_a_judge_and_by_validate(tmp_path, run):
    (tmp_path / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    found = [run(*command, *more)[2] for command, more in (
        (["validate", tmp_path / "photo.png"], []),
        (["judge", "rules", "--traces", tmp_path / "photo.png"], ["--out", tmp_path / "v.jsonl"]))]
    assert found[0] == found[1] and "no JSON object or list" in found[0]


def test_labels_are_joined_by_task_and_what_fits_no_run_is_told(tmp_path, run):
    log = EXAMPLES / "openai_chat.jsonl"
    said = tmp_path / "labels.jsonl"
    outcomes = {"openai_chat-line3": True, "lamp": False, "other": True}
    said.write_text("".join(json.dumps({"task_id": name, "success": outcome}) + "\n"
                            for name, outcome in outcomes.items()), "utf-8")
    found = load(log, labels=said)
    # lamp is the task of two runs: its label is joined to the first and the second says so.
    assert [r.success for r in found.runs] == [False, False, True]
    assert "of an earlier run" in found.runs[1].notes[-1]
    assert found.passed == [f"{log}: 1 of the 3 labels given fit no run, the first is 'other'"]
    said.write_text('{"x": 1}', "utf-8")
    status, _, err = run("validate", log, "--labels", said)
    assert status == 1 and "holds no outcomes" in err


def test_a_folder_of_a_testbed_is_its_runs_with_their_labels(tmp_path, run):
    assert run("testbed", "--clean", "12", "--per-type", "2", "--out", tmp_path / "bed")[0] == 0
    found = load(tmp_path / "bed")
    truth = read_labels(tmp_path / "bed" / "labels.jsonl")
    assert [r.success for r in found.runs] == [x.outcome_correct for x in truth]
    assert [list(r.steps_failed) for r in found.runs] == [
        [] if x.failure_step is None else [x.failure_step] for x in truth]
    assert found.passed == [f"{tmp_path}/bed/labels.jsonl: labels"]


def test_labels_by_bare_numbers_are_joined_only_if_their_file_is_named(tmp_path):
    """Every benchmark has a task 0."""
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "runs.json").write_bytes((EXAMPLES / "tau_bench.json").read_bytes())
    label = {"trajectory_id": 0, "failures": [{"step_number": 3}], "root_cause": {}}
    (tmp_path / "log" / "labels.json").write_text(json.dumps([label]), "utf-8")
    found = load(tmp_path / "log")
    assert [r.steps_failed for r in found.runs] == [()] * 3
    assert "bare numbers" in found.passed[-1]
    named = load(tmp_path / "log" / "runs.json", labels=tmp_path / "log" / "labels.json")
    assert [r.steps_failed for r in named.runs] == [(0,), (), ()]


def test_a_run_that_is_there_twice_is_kept_told_apart_and_noted(tmp_path):
    line = (EXAMPLES / "openai_chat.jsonl").read_text("utf-8").splitlines()[0]
    (tmp_path / "twice.jsonl").write_text(f"{line}\n{line}\n", "utf-8")
    one, two = load(tmp_path / "twice.jsonl").runs
    assert (one.trajectory.trajectory_id, two.trajectory.trajectory_id) == ("lamp-1", "lamp-1~2")
    assert two.notes == (f"the same run as {tmp_path}/twice.jsonl:1",) and one.notes == ()


def test_a_sidecar_of_another_file_or_a_broken_one_changes_no_run(tmp_path):
    convert(EXAMPLES / "tau2.json", tmp_path / "t.jsonl", tell=lambda line: None)
    good = beside(tmp_path / "t.jsonl").read_bytes()
    own = [r.trajectory for r in load(tmp_path / "t.jsonl").runs]
    second = good.splitlines()[1]
    beside(tmp_path / "t.jsonl").write_bytes(good.replace(second, second[:50]))
    runs = load(tmp_path / "t.jsonl").runs
    assert [r.success for r in runs] == [True, None, None, None] and [
        "nothing that fits it in t.runs.jsonl" in r.notes for r in runs] == [
            False, True, False, False]
    for text in (b"{torn", good.replace(b'"sim-', b'"other-'), b'[]\n7\n', b"\xff\n",
                 good.replace(b'"notes":[', b'"notes":[1,')):
        beside(tmp_path / "t.jsonl").write_bytes(text)
        assert [r.trajectory for r in load(tmp_path / "t.jsonl").runs] == own


def test_a_row_gives_back_all_but_the_trajectory():
    for made in load(EXAMPLES / "tau2.json").runs:
        assert restored(made.trajectory, json.loads(row(made)), made.line) == made
        assert b"steps\":" not in row(made)


def test_a_format_may_be_named_and_a_wrong_name_is_wrong_usage(run):
    log = EXAMPLES / "tau2.json"
    assert run("validate", log, "--format", "tau2")[0] == 0
    assert run("validate", log, "--format", "agentdojo")[0] == 1
    with pytest.raises(SystemExit) as left:
        run("validate", log, "--format", "tau3")
    assert left.value.code == 2


def test_a_file_of_our_own_is_read_strictly_and_any_other_told_of(tmp_path):
    (tmp_path / "t.jsonl").write_text("{}\n", "utf-8")
    with pytest.raises(InputError, match=r"t\.jsonl:1: .*missing required"):
        list(trajectories(tmp_path / "t.jsonl"))
    said = []
    lines = (EXAMPLES / "openai_chat.jsonl").read_text("utf-8") + "{torn"
    (tmp_path / "c.jsonl").write_text(lines, "utf-8")
    assert len(list(trajectories(tmp_path / "c.jsonl", tell=said.append))) == 3
    assert said == [f"{tmp_path}/c.jsonl:4: the last line is cut off"]


def test_a_count_says_what_a_log_holds():
    said = []
    done = count(EXAMPLES / "tau2.json", tell=said.append)
    assert (done.runs, done.steps, done.calls, done.observations, done.judged) == (4, 8, 5, 5, 2)
    assert len(said) == done.notes == 3 and "steps: 8, calls: 5, observations: 5" in done.text()


def test_uq_spares_a_log_of_the_folder_that_it_reads(run, tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes((EXAMPLES / "openai_chat.jsonl").read_bytes())
    before = path.read_bytes()
    status, _, err = run("uq", "--traces", tmp_path, "--method", "n_steps", "--out", path)
    assert status == 1 and "is a part of" in err and path.read_bytes() == before
