"""Runs: every verdict once, whatever dies, and never two models under one name."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import pytest
from fake_servers import Answer, Drip, Fake, Refusal, by_prompt

import tjlib
from tjlib.__main__ import main
from tjlib.jsonl import read, write
from tjlib.judges import models, panel, runs
from tjlib.judges.protocol import Options
from tjlib.provenance import Run
from tjlib.trace import InputError, Observation, Step, Trajectory, Verdict

ROOT = Path(tjlib.__file__).resolve().parents[1]


@pytest.fixture
def traces(tmp_path):
    path = tmp_path / "trajectories.jsonl"
    write(path, (Trajectory(f"t-{i}", f"Refund ORD-{i}.", (Step("a"), Step("b")), f"Done {i}.")
                 for i in range(20)))
    return path


@pytest.fixture
def judge(monkeypatch, traces):
    """Judge all traces by a fake server; returns what came of it."""

    def call(fake, out, design="step", protocol="ollama", order="paper", options=None, **given):
        fake.env(monkeypatch)
        made = panel.Judge(design, models.connect(f"{protocol}:tiny:1b"), order=order,
                           options=options)
        return runs.run(made, traces, out, **given)

    return call


def said(path) -> list[tuple]:
    """What the verdicts say, without what differs between two runs: the time taken."""
    return sorted(msgspec.structs.astuple(msgspec.structs.replace(v, latency_s=None))
                  for v in read(path, Verdict))


@pytest.mark.parametrize("protocol", ["ollama", "openai"])
def test_a_run_judges_each_once_and_a_second_run_nothing(judge, tmp_path, protocol):
    out = tmp_path / "v.jsonl"
    with Fake() as fake:
        done = judge(fake, out, protocol=protocol)
        assert (done.added, done.there, done.statuses) == (20, 0, {"ok": 20})
        assert [v.trajectory_id for v in read(out, Verdict)] == [f"t-{i}" for i in range(20)]
        again = judge(fake, out, protocol=protocol)
        assert (again.added, again.there, len(fake.requests)) == (0, 20, 20)
    [record] = read(tmp_path / "runs.jsonl", Run)
    assert {v.run_id for v in read(out, Verdict)} == {record.run_id}
    assert (record.judge, record.tjlib) == ("step:tiny:1b", tjlib.__version__)
    assert record.digest == ("d1" if protocol == "ollama" else None)


def test_eight_workers_keep_eight_calls_under_way_and_lose_none(judge, tmp_path):
    together = threading.Barrier(8)

    def held(index, request):
        if index < 8:  # none is answered before all eight are there, however busy the machine
            together.wait(timeout=60)
        return by_prompt(index, request)

    with Fake(reply=held) as fake:
        done = judge(fake, tmp_path / "eight.jsonl", workers=8)
        assert done.added == 20 and fake.most_at_once == 8
    with Fake() as fake:
        (tmp_path / "one").mkdir()
        judge(fake, tmp_path / "one" / "v.jsonl")
        assert fake.most_at_once == 1
    assert said(tmp_path / "eight.jsonl") == said(tmp_path / "one" / "v.jsonl")


def test_a_server_that_dies_at_item_5_stops_the_run_and_the_next_run_completes_it(
    judge, tmp_path
):
    out, whole = tmp_path / "v.jsonl", tmp_path / "whole" / "v.jsonl"
    whole.parent.mkdir()

    def dies(index, request):
        if index == 4:
            threading.Thread(target=dying.close, daemon=True).start()
            return Drip()
        return by_prompt(index, request)

    with Fake(reply=dies) as dying, pytest.raises(
            InputError, match=r"3 failed in a row.*start it.*same command again"):
        judge(dying, out)
    assert [v.status for v in read(out, Verdict)] == ["ok"] * 4
    with Fake() as fake:
        assert judge(fake, out).added == 16
        judge(fake, whole)
    assert said(out) == said(whole)


def test_three_failures_in_a_row_stop_a_run_two_do_not(judge, tmp_path):
    def failing(*numbers):
        return lambda i, request: Refusal(500, "oops") if i in numbers else by_prompt(i, request)

    out = tmp_path / "two.jsonl"
    with Fake(reply=failing(3, 4, 9)) as fake:
        assert judge(fake, out).statuses == {"ok": 17, "error": 3}
    assert {v.trajectory_id for v in read(out, Verdict) if v.status == "error"} == {
        "t-3", "t-4", "t-9"}
    with Fake(reply=failing(3, 4, 5)) as fake, pytest.raises(InputError, match="oops"):
        judge(fake, tmp_path / "three.jsonl")
    assert len(list(read(tmp_path / "three.jsonl", Verdict))) == 3


def test_a_run_in_which_every_call_fails_leaves_no_verdict(judge, tmp_path):
    out = tmp_path / "v.jsonl"
    with Fake(reply=lambda *_: Refusal(500, "billing")) as fake:
        for limit in (1, 2, None):
            with pytest.raises(InputError, match=r"failed in a row.*billing"):
                judge(fake, out, limit=limit)
    assert list(read(out, Verdict)) == []


def test_a_run_of_timeouts_ends(judge, tmp_path):
    start = time.perf_counter()
    with Fake(reply=lambda *_: Drip()) as fake, pytest.raises(InputError, match="timeout"):
        judge(fake, tmp_path / "v.jsonl", options=Options(timeout_s=0.2))
    assert time.perf_counter() - start < 5


def test_replies_that_are_no_answer_do_not_stop_a_run(judge, tmp_path):
    texts = ["prose", "", '{"reasoning": "']
    with Fake(reply=lambda i, _: Answer(texts[i % 3], stop="length")) as fake:
        assert judge(fake, tmp_path / "v.jsonl").statuses == {"unparsed": 13, "empty": 7}


def test_a_long_trajectory_is_marked_and_the_others_judged(judge, tmp_path, traces):
    log = Observation(True, {"log": "line " * 20_000})
    write(traces, [Trajectory("t-long", "g", (Step("a", (), (log,)),), "r"),
                   Trajectory("t-short", "g", (), "r")])
    with Fake() as fake:
        judge(fake, tmp_path / "v.jsonl")
    assert [(v.trajectory_id, v.status) for v in read(tmp_path / "v.jsonl", Verdict)] == [
        ("t-long", "too_long"), ("t-short", "ok")]


@pytest.mark.parametrize("change", ["digest", "order", "options"])
def test_another_model_prompt_or_option_is_not_continued_under_the_same_name(
    judge, tmp_path, change
):
    out = tmp_path / "v.jsonl"
    with Fake() as fake:
        judge(fake, out, limit=3)
        before = out.read_bytes()
        if change == "digest":
            fake.models = {"tiny:1b": "d2"}
        given = {"order": {"order": "shared_first"}, "options": {"options": Options(seed=8)}}
        with pytest.raises(InputError, match=r"by another run \(r-.*choose another --out"):
            judge(fake, out, **given.get(change, {}))
        assert out.read_bytes() == before and len(fake.requests) == 3
    assert len(list(read(tmp_path / "runs.jsonl", Run))) == 1


def test_judges_share_a_file_and_a_server_is_asked_for_one_model_at_a_time(judge, tmp_path):
    out = tmp_path / "v.jsonl"
    with Fake() as fake:
        for design in ("outcome", "step", "ensemble"):
            judge(fake, out, design=design)
        names = [r["model"] for r in fake.requests]
        assert len(names) == 20 + 20 + 60 and set(names) == {"tiny:1b"}
        assert len({r["options"]["num_ctx"] for r in fake.requests}) == 1
    judged = [v.judge for v in read(out, Verdict)]
    assert judged == ["outcome:tiny:1b"] * 20 + ["step:tiny:1b"] * 20 + ["selfcons3:tiny:1b"] * 20
    assert len(list(read(tmp_path / "runs.jsonl", Run))) == 3


def test_a_resumed_run_under_another_server_version_is_one_run_with_two_records(
    judge, tmp_path, monkeypatch
):
    with Fake() as fake:
        judge(fake, tmp_path / "v.jsonl", limit=3)
        monkeypatch.setattr(runs, "__version__", "9.9")
        judge(fake, tmp_path / "v.jsonl", limit=5)
        judge(fake, tmp_path / "v.jsonl")
    records = list(read(tmp_path / "runs.jsonl", Run))
    assert [r.tjlib for r in records] == [tjlib.__version__, "9.9"]
    assert len({r.run_id for r in records}) == 1


def test_a_judge_that_breaks_is_not_swallowed(traces, tmp_path):
    class Broken:
        name = "broken"

        def identity(self):
            return None

        def judge(self, trajectory):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        runs.run(Broken(), traces, tmp_path / "v.jsonl")


def start(traces, out, server, *more):
    environment = os.environ | server.environment() | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-m", "tjlib", "judge", "step", "--model", "ollama:tiny:1b", "--traces",
         traces, "--out", out, *more],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")


@pytest.mark.parametrize("workers", [1, 4])
def test_a_run_killed_and_started_again_has_the_verdicts_of_one_left_alone(
    judge, traces, tmp_path, workers
):
    out, whole = tmp_path / "v.jsonl", tmp_path / "whole.jsonl"

    def slow(index, request):
        answer = by_prompt(index, request)
        answer.delay = 0.05
        return answer

    with Fake(reply=slow) as fake:
        process = start(traces, out, fake, "--workers", str(workers))
        while not out.exists() or out.read_bytes().count(b"\n") < 5:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        there = out.read_bytes().count(b"\n")
        asked = len(fake.requests)
        assert 5 <= there < 20 and asked - there <= workers
        with out.open("ab") as file:
            file.write(b'{"trajectory_id":"t-')  # as if it had been killed inside a write
        process = start(traces, out, fake)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 0 and "cut off" in err
        assert len(fake.requests) == asked + 20 - there
        judge(fake, whole)
    assert said(out) == said(whole)
    assert len({v.trajectory_id for v in read(out, Verdict)}) == 20


def test_an_interrupted_run_ends_at_once_and_says_so(traces, tmp_path):
    with Fake(reply=lambda i, r: by_prompt(i, r) if i < 2 else Drip()) as fake:
        process = start(traces, tmp_path / "v.jsonl", fake)
        while len(fake.requests) < 3:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=10)
    assert process.returncode == 130 and err.startswith("tjlib: interrupted")
    assert len(list(read(tmp_path / "v.jsonl", Verdict))) == 2


def test_the_command_line_says_what_was_added_and_what_was_not_judged(
    traces, tmp_path, capsys, monkeypatch
):
    with Fake(reply=lambda i, r: by_prompt(i, r) if i else Answer("prose")) as fake:
        fake.env(monkeypatch)
        status = main(["judge", "outcome", "--model", "openai:tiny:1b", "--traces", str(traces),
                       "--out", str(tmp_path / "v.jsonl"), "--limit", "4"])
    out, err = capsys.readouterr()
    assert (status, err) == (0, "")
    assert "4 verdicts added" in out and "without a judgement: 1 unparsed" in out


@pytest.mark.parametrize(("args", "status", "message"), [
    (["step"], 2, "needs one"), (["rules", "--model", "ollama:x"], 2, "take no --model"),
    (["step", "--model", "ollama:x", "--workers", "0"], 2, "at least 1"),
    (["step", "--model", "x"], 1, "ollama:NAME"),
    (["step", "--model", "local:gpt"], 1, "local"),
])
def test_a_judge_without_its_model_is_refused(traces, tmp_path, capsys, args, status, message):
    try:
        got = main(["judge", *args, "--traces", str(traces), "--out", str(tmp_path / "v.jsonl")])
    except SystemExit as exit_:
        got = exit_.code
    assert got == status and message in capsys.readouterr().err
    assert not (tmp_path / "v.jsonl").exists()
