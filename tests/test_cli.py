"""The command line: bad input is one line and exit 1, and nothing that was there is harmed."""

from __future__ import annotations

import csv
import errno
import http.server
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

import tjlib
from tjlib.__main__ import main
from tjlib.jsonl import read, write
from tjlib.rerun import rerun
from tjlib.trace import InputError, Label, Step, Trajectory, Verdict, to_json

ROOT = Path(tjlib.__file__).resolve().parents[1]
TRAJECTORIES = [Trajectory(name, "goal", (Step("a"), Step("b")), "") for name in ("t-1", "t-2")]
LABELS = [Label("t-1", False), Label("t-2", True, 1, "wrong_tool", True)]
GOOD = [Verdict("t-1", "j", False), Verdict("t-2", "j", True, 1, "wrong_tool", 0.9)]


def command(*args, **options):
    """Run the command line in a process of its own."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | options.pop("env", {})
    return subprocess.run([sys.executable, "-m", "tjlib", *map(str, args)], env=environment,
                          capture_output=True, text=True, encoding="utf-8", timeout=300, **options)


@pytest.fixture
def run(capsys):
    """Run a command here; return its exit status, stdout, stderr."""

    def call(*args):
        try:
            status = main([str(arg) for arg in args])
        except SystemExit as exit_:
            status = exit_.code
        out, err = capsys.readouterr()
        return status, out, err

    return call


@pytest.fixture
def refuses(run):
    """Run a command that must fail with one line on stderr, nothing on stdout; return the line."""

    def call(*args):
        status, out, err = run(*args)
        assert (status, out) == (1, "") and err.count("\n") == 1 and err.startswith("tjlib: ")
        return err

    return call


@pytest.fixture
def files(tmp_path):
    """A folder with two trajectories, their labels and a file of verdicts."""
    write(tmp_path / "trajectories.jsonl", TRAJECTORIES)
    write(tmp_path / "labels.jsonl", LABELS)
    write(tmp_path / "v.jsonl", GOOD)
    return tmp_path


# --- the skin --------------------------------------------------------------------------------


def test_help_names_every_command_and_loads_nothing_heavy():
    code = ("import sys; from tjlib.__main__ import main\ntry: main(['--help'])\n"
            "finally: print(sorted({'pandas', 'numpy', 'papermill'} & set(sys.modules)))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0 and done.stdout.endswith("[]\n")
    assert all(f"  {name} " in done.stdout for name in
               ("testbed", "judge", "agent", "guided", "score", "uq", "report", "fetch", "rerun"))


@pytest.mark.parametrize("args", [
    (), ("scores",), ("score",), ("testbed",), ("judge", "oracle", "--traces", "t", "--out", "v"),
    ("testbed", "--seed", "-1", "--out", "d"), ("testbed", "--seed", "x", "--out", "d"),
    ("fetch", "weights"), ("rerun", "a6_results", "-p", "verdicts"), ("uq", "--traces", "t", "-x"),
    ("agent", "--model", "", "--out", "d"), ("testbed", "--out", ""), ("uq", "--traces", " "),
    ("guided", "--model", "m", "--out", "d", "--given", "6"),
    ("judge", "step", "--model", "", "--traces", "t", "--out", "v"), ("score", ""),
    ("judge", "rules", "--model", "ollama:x", "--traces", "t", "--out", "v"),
])
def test_wrong_usage_is_exit_2_and_one_line_that_names_the_help(run, args):
    status, out, err = run(*args)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("tjlib") and err.endswith(" --help\n")
    if args[:1] in (("judge",), ("agent",), ("guided",)):
        assert f"; see tjlib {args[0]} --help" in err


def test_an_empty_value_of_a_chapters_parameter_is_a_value(run, tmp_path):
    status, _, err = run("rerun", "no_such_chapter", "-p", "traces", "", "--out", tmp_path / "x")
    assert status == 1 and "no_such_chapter" in err


def test_a_process_exits_with_the_status_and_prints_no_traceback(tmp_path):
    done = command("score", tmp_path / "none.jsonl")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "no such file" in done.stderr


def test_a_reader_that_leaves_early_is_no_error():
    with subprocess.Popen([sys.executable, "-m", "tjlib", "score", "published", "--json"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT) as process:
        process.stdout.close()
        assert process.stderr.read() == b""


@pytest.mark.parametrize(("args", "target", "then"), [
    (("score", "published"), "tjlib.store.load", "the same command starts over"),
    (("testbed", "--out", "bed"), "tjlib.desk.testbed.judged_set", "the same command starts over"),
    (("rerun", "a6_results"), "tjlib.rerun.rerun", "the same command starts over"),
    (("fetch", "released"), "tjlib.fetch.fetch", "the same command goes on from there"),
    (("judge", "rules", "--traces", "trajectories.jsonl", "--out", "new.jsonl"),
     "tjlib.desk.rules.judge", "the same command goes on from there"),
])
def test_an_interrupt_is_one_line_and_exit_130(run, files, monkeypatch, args, target, then):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.chdir(files)
    monkeypatch.setattr(target, interrupted)
    status, out, err = run(*args)
    assert (status, out, err.count("\n")) == (130, "", 1) and err.endswith(f"{then}\n")


def test_a_character_the_terminal_lacks_is_escaped(files):
    write(files / "v.jsonl", [Verdict("t-1", "j–é", False), GOOD[1]])
    done = command("score", files / "v.jsonl", env={"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, "") and "j\\u2013\\xe9" in done.stdout


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_closed_stream_is_no_error(files, closed):
    line = f'"$0" -m tjlib judge rules --traces trajectories.jsonl --out new.jsonl {closed}'
    done = subprocess.run(["sh", "-c", line, sys.executable], cwd=files, capture_output=True,
                          text=True, env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert (done.returncode, done.stderr) == (0, "")
    assert len(list(read(files / "new.jsonl", Verdict))) == 2


def test_a_full_disk_under_standard_output_is_one_line():
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([sys.executable, "-m", "tjlib", "score", "published", "--json"],
                              stdout=full, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    assert (done.returncode, done.stderr) == (
        1, "tjlib: No space left on device; make room and run the same command again\n")


def test_an_answer_in_any_language_survives_a_locale_without_it(files):
    said = [Verdict("t-2", "j", True, 1, "wrong_tool", 0.9, rationale="“curly” 😀")]
    write(files / "v.jsonl", [*said, Verdict("t-1", "j–é", False)])
    done = command("score", files / "v.jsonl", env={"LC_ALL": "C", "PYTHONUTF8": "0",
                                                   "PYTHONIOENCODING": "utf-8"})
    assert done.returncode == 0 and "j–é" in done.stdout


# --- score -----------------------------------------------------------------------------------


def scores(out):
    return {(r["judge"], r["metric"]): r for r in json.loads(out)}


@pytest.mark.parametrize("source", ["published", "released"])
def test_every_published_point_value_comes_out_to_the_printed_digit(run, request, source):
    if source == "released":
        request.getfixturevalue("shared")
    status, out, err = run("score", source, "--json")
    assert (status, err) == (0, "")
    got, checked = scores(out), 0
    with (ROOT / "data" / "published" / "trajectory_judge_numbers.csv").open() as file:
        for row in csv.DictReader(file):
            if row["table"] in ("main", "per_type", "confusion"):
                value = got[row["subject"], row["metric"]]["value"]
                # Table 3 prints three decimals; the file drops zeros at the end.
                places = max(len(row["published"].partition(".")[2]),
                             3 if row["source"] == "paper Table 3" else 2)
                assert round(value, places) == float(row["published"]), row
                checked += 1
    assert checked >= 210 + 5 * 6 + 5 * 6


def test_json_gives_counts_and_says_why_a_number_is_missing(run, files):
    status, out, err = run("score", files / "v.jsonl", "--json")
    assert (status, err) == (0, "")
    got = scores(out)
    # One of one: the exact 95 % interval starts at .025, for .025 of the time even a coin shows it.
    assert got["j", "recall"] == {"judge": "j", "metric": "recall", "value": 1.0,
                                  "lo": pytest.approx(0.025), "hi": 1.0, "k": 1, "n": 1,
                                  "how": "exact binomial"}
    loud = got["j", "loud_recall"]
    assert loud["value"] is None and loud["why"] == "undefined: no loud fault was judged"
    assert got["j", "wrong_tool->wrong_tool"]["value"] == 1
    assert ("always faulty", "f1") in got and ("prevalence coin", "f1") in got


def test_the_table_shows_judges_above_the_floors_and_where_the_data_come_from(run, files):
    status, out, err = run("score", files / "v.jsonl")
    assert (status, err) == (0, "")
    assert 0 < out.index("\nj ") < out.index("\nalways faulty") < out.index("\nalways clean")
    assert "loud_recall of j, " in out and " is undefined: no loud fault was judged" in out
    assert out.endswith(f"measured: {files / 'v.jsonl'} (judges: j), "
                        f"labels {files / 'labels.jsonl'}\n")


TORN = b"".join(to_json(verdict) + b"\n" for verdict in GOOD)[:-9]


@pytest.mark.parametrize(("verdicts", "says"), [
    (TORN, "v.jsonl:2: the last line is cut off"),
    ([*GOOD, GOOD[0]], "v.jsonl:3: a second verdict by j on t-1, first on line 1"),
    ([*GOOD, Verdict("t-9", "j", False)], "v.jsonl:3: unknown trajectory 't-9'"),
    ([Verdict("t-2", "j", True, 2)], "v.jsonl:1: step 2 is beyond the end of t-2"),
    ([Verdict("t-2", "j", True, 1, "typo")], "v.jsonl:1: unknown failure type 'typo'"),
    (LABELS, "v.jsonl:1: this looks like a label line, not a verdict"),
    (TRAJECTORIES, "v.jsonl:1: this looks like a trajectory line, not a verdict"),
    (b'{"trajectory_id": "\xff"}\n', "v.jsonl:1: not UTF-8"),
    (b'{"trajectory_id": "t-1", "judge": "j", "faulty": "no"}\n', "v.jsonl:1: Expected `bool"),
    (b"", "v.jsonl: no verdicts in it"),
])
def test_a_bad_verdict_file_is_one_line_and_is_left_as_it_was(refuses, files, verdicts, says):
    path = files / "v.jsonl"
    path.write_bytes(verdicts) if isinstance(verdicts, bytes) else write(path, verdicts)
    before = path.read_bytes()
    assert says in refuses("score", path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(("line", "says"), [
    ({"failure_step": 2**40}, "failure_step 1099511627776 is not within 0 to 1,000,000"),
    ({"failure_step": 10**40}, "is not within 0 to 1,000,000"),
    ({"latency_s": 1.7e308}, "latency_s 1.7e+308 is not within 0 to"),
    ({"prompt_tokens": -1}, "prompt_tokens -1 is below 0; correct it"),
    ({"judge": "\x1b[31mred"}, "judge holds the control character U+001B; use printable"),
    ({"trajectory_id": "t-\u202e"}, "trajectory_id holds the control character U+202E"),
    ({"run_id": "\0"}, "run_id holds the control character U+0000"),
    ({"judge": "a - b"}, "holds ' - '"),
    ({"judge": "always faulty"}, "the judge is called 'always faulty', as a floor is"),
])
def test_a_value_no_judge_can_have_stops_at_its_line(refuses, tmp_path, line, says):
    write(tmp_path / "labels.jsonl", LABELS)  # alone: no trajectory bounds a step
    good = {"trajectory_id": "t-2", "judge": "j", "faulty": True}
    (tmp_path / "v.jsonl").write_text(json.dumps(good | line) + "\n")
    err = refuses("score", tmp_path / "v.jsonl")
    assert "v.jsonl:1: " in err and says in err and err[:-1].isprintable()


def test_a_run_in_which_no_reply_could_be_read_is_not_scored(refuses, files):
    write(files / "v.jsonl", [Verdict("t-1", "j", status="unparsed"),
                              Verdict("t-2", "j", status="timeout")])
    assert "no verdict in it is a judgement (1 unparsed, 1 timeout); " in refuses(
        "score", files / "v.jsonl")


def test_a_judge_that_could_not_be_read_is_told_apart_beside_one_that_could(run, files):
    dead = [Verdict(label.trajectory_id, "dead", status="error") for label in LABELS]
    write(files / "v.jsonl", [*dead, *GOOD])
    status, out, err = run("score", files / "v.jsonl")
    first = out.partition("\n\n")[0].splitlines()
    assert (status, err) == (0, "") and first[0].split()[:2] == ["detection", "coverage"]
    assert ["dead", "0.000", *["-"] * 7] in [line.split() for line in first]
    assert "recall of dead is undefined: no reply could be read" in out
    got = scores(run("score", files / "v.jsonl", "--json")[1])
    assert got["j - dead", "recall"]["value"] is None
    assert got["j", "recall"]["value"] == 1


@pytest.mark.parametrize("draws", ["1", "99", "100001", "100000000000", "x"])
def test_the_number_of_draws_has_limits(run, draws):
    status, out, err = run("score", "published", "--draws", draws)
    assert (status, out) == (2, "") and "number from 100 to 100000" in err


def test_missing_labels_traces_and_sources_are_named(refuses, files):
    (files / "labels.jsonl").rename(files / "truth.jsonl")
    assert "name the labels (--labels FILE)" in refuses("score", files / "v.jsonl")
    assert "none.jsonl: there is no such file" in refuses(
        "score", files / "v.jsonl", "--labels", files / "none.jsonl")
    assert "none.jsonl: there is no such file" in refuses(
        "score", files / "v.jsonl", "--labels", files / "truth.jsonl",
        "--traces", files / "none.jsonl")
    assert "no verdicts.jsonl in this folder" in refuses("score", files)


def test_an_empty_file_of_trajectories_is_named(refuses, files):
    (files / "empty.jsonl").touch()
    for empty in (files / "empty.jsonl", "/dev/null"):
        says = f"{empty}: no trajectories in it; give the file of the trajectories"
        assert says in refuses("score", files / "v.jsonl", "--traces", empty)
        assert says in refuses("judge", "rules", "--traces", empty, "--out", files / "new.jsonl")
    assert not (files / "new.jsonl").exists()


def test_scoring_the_release_where_it_is_not_names_the_fetch(refuses, tmp_path, monkeypatch):
    monkeypatch.setenv("TJLIB_RELEASED", str(tmp_path))
    assert "run: tjlib fetch released" in refuses("score", "released")


# --- testbed and judge -----------------------------------------------------------------------


def test_the_testbed_is_the_same_bytes_in_three_processes_with_three_hash_seeds(tmp_path):
    made = set()
    for seed in "012":
        done = command("testbed", "--seed", "7", "--out", tmp_path / seed,
                       env={"PYTHONHASHSEED": seed})
        assert (done.returncode, done.stderr) == (0, "")
        made.add(tuple((tmp_path / seed / f"{name}.jsonl").read_bytes()
                       for name in ("trajectories", "labels")))
    assert len(made) == 1
    labels = list(read(tmp_path / "0" / "labels.jsonl", Label))
    names = [t.trajectory_id for t in read(tmp_path / "0" / "trajectories.jsonl", Trajectory)]
    assert [label.trajectory_id for label in labels] == names and len(labels) == 400


def test_a_size_that_cannot_be_met_harms_no_earlier_testbed(refuses, files):
    before = (files / "labels.jsonl").read_bytes()
    refuses("testbed", "--per-type", "3", "--out", files)
    assert (files / "labels.jsonl").read_bytes() == before
    assert sorted(p.name for p in files.iterdir()) == [
        "labels.jsonl", "trajectories.jsonl", "v.jsonl"]


def test_a_testbed_spares_what_is_not_its_own_and_makes_itself_again(run, refuses, files):
    before = (files / "trajectories.jsonl").read_bytes()
    assert "trajectories.jsonl: holds something else than this testbed; choose" in refuses(
        "testbed", "--out", files)
    assert (files / "trajectories.jsonl").read_bytes() == before
    for _ in range(2):
        assert run("testbed", "--clean", "20", "--per-type", "2", "--out", files / "own")[0] == 0
    assert "holds something else" in refuses("testbed", "--seed", "8", "--out", files / "own")


def test_verdicts_do_not_go_into_the_record_of_runs(refuses, files):
    assert "that name is for the record of runs" in refuses(
        "judge", "rules", "--traces", files / "trajectories.jsonl", "--out", files / "runs.jsonl")
    mine = (files / "trajectories.jsonl").read_bytes()
    (files / "runs.jsonl").write_bytes(mine)  # a log that somebody named so
    assert re.search(r"runs.jsonl:1: .* choose another folder for --out", refuses(
        "judge", "free", "--traces", files / "runs.jsonl", "--out", files / "more.jsonl"))
    assert (files / "runs.jsonl").read_bytes() == mine and not (files / "more.jsonl").exists()


@pytest.mark.parametrize("host", ["127.0.0.1:99999", "http://[bad"])
def test_an_address_that_is_none_is_one_line_that_names_the_variable(
    refuses, files, monkeypatch, host
):
    monkeypatch.setenv("OLLAMA_HOST", host)
    assert "OLLAMA_HOST is no address" in refuses(
        "judge", "step", "--model", "ollama:x", "--procedure", "general", "--traces",
        files / "trajectories.jsonl", "--out", files / "new.jsonl")


def test_a_count_that_is_a_slip_of_the_hand_is_wrong_usage(files):
    done = command("judge", "rules", "--traces", files / "trajectories.jsonl", "--limit", "9" * 20,
                   "--out", files / "new.jsonl")
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert not (files / "new.jsonl").exists()


@pytest.mark.parametrize("out", ["/dev/full", "/dev/zero", "/dev/null"])
def test_verdicts_are_not_added_to_a_device(refuses, files, out):
    assert f"{out}: not a regular file; give the name of a file" in refuses(
        "judge", "rules", "--traces", files / "trajectories.jsonl", "--out", out)


def test_verdicts_do_not_go_where_the_summary_is_printed(files):
    for out in ("/dev/stdout", "both.jsonl"):
        line = f'"$0" -m tjlib judge rules --traces trajectories.jsonl --out {out} >> both.jsonl'
        done = subprocess.run(["sh", "-c", line, sys.executable], cwd=files, capture_output=True,
                              text=True, env=os.environ | {"PYTHONPATH": str(ROOT)})
        assert done.returncode == 1 and (files / "both.jsonl").read_text() == ""
        assert done.stderr == f"tjlib: {out}: what is printed goes there; give another file\n"


def test_a_trajectory_without_a_step_is_noted_and_one_without_a_name_is_refused(
    run, refuses, files
):
    bare = [*TRAJECTORIES, Trajectory("t-3", "goal", (), ""), Trajectory("t-4", "goal", (), "")]
    write(files / "bare.jsonl", bare)
    status, out, err = run("judge", "rules", "--traces", files / "bare.jsonl", "--out",
                           files / "new.jsonl")
    assert status == 0 and out.startswith("4 verdicts added")
    assert err == (f"tjlib: {files / 'bare.jsonl'}: t-3: no step to look at, as in 2 of 4 "
                   "trajectories\n")
    write(files / "bare.jsonl", [*TRAJECTORIES, Trajectory(" ", "goal", (Step("a"),), "")])
    assert "bare.jsonl:3: the trajectory_id is empty; give it a name" in refuses(
        "judge", "rules", "--traces", files / "bare.jsonl", "--out", files / "other.jsonl")


def test_a_testbed_that_cannot_be_written_is_one_line(refuses, files):
    for out in (files / "v.jsonl", files / "v.jsonl" / "deep"):
        err = refuses("testbed", "--out", out)
        assert f"{out}: " in err and err.endswith("something else is there, choose another place\n")


def test_testbed_judge_and_score_work_together(run, tmp_path):
    traces, out = tmp_path / "trajectories.jsonl", tmp_path / "rules.jsonl"
    assert run("testbed", "--out", tmp_path)[0] == 0
    assert run("judge", "rules", "--traces", traces, "--out", out)[0] == 0
    status, printed, _ = run("score", out, "--json")
    got = scores(printed)
    assert status == 0
    # The rules see four of the six types, all of each (paper Table 1), and flag no clean run.
    assert got["rules", "recall"]["value"] == pytest.approx(2 / 3)
    assert got["rules", "loud_recall"]["value"] == 1
    assert got["rules", "false_alarm_rate"]["value"] == 0
    assert got["rules", "step_exact"]["value"] == 1


def test_judging_resumes_and_never_judges_twice(run, tmp_path, monkeypatch):
    traces, out = tmp_path / "trajectories.jsonl", tmp_path / "v.jsonl"
    run("testbed", "--clean", "20", "--per-type", "2", "--out", tmp_path)
    arguments = "judge", "rules", "--traces", traces, "--out", out
    assert run(*arguments, "--limit", "30")[1].startswith("30 verdicts added")
    whole = out.read_bytes()
    out.write_bytes(whole[:-20])
    status, printed, _ = run(*arguments, "--limit", "30")
    assert (status, out.read_bytes()) == (0, whole) and printed.startswith("1 verdicts added")
    assert run(*arguments)[1].startswith("2 verdicts added")
    monkeypatch.setattr("tjlib.desk.rules.judge", None)  # would fail if it were called
    assert run(*arguments)[1].startswith("0 verdicts added")
    names = [verdict.trajectory_id for verdict in read(out, Verdict)]
    assert names == [t.trajectory_id for t in read(traces, Trajectory)]


def test_cutting_a_torn_line_is_said(tmp_path, files):
    (files / "v.jsonl").write_bytes(TORN)
    done = command("judge", "rules", "--traces", files / "trajectories.jsonl",
                   "--out", files / "v.jsonl")
    assert done.returncode == 0
    assert done.stderr == (f"tjlib: {files / 'v.jsonl'}: cut off a last line that an interrupted "
                           "run left half written\n")
    assert len(list(read(files / "v.jsonl", Verdict))) == 3


def test_a_killed_judge_loses_at_most_the_verdict_in_flight(tmp_path):
    traces, out = tmp_path / "trajectories.jsonl", tmp_path / "v.jsonl"
    write(traces, (Trajectory(f"t-{i}", "Refund ORD-1.", (Step("x"),) * 20, "")
                   for i in range(20_000)))
    arguments = ["judge", "rules", "--traces", str(traces), "--out", str(out)]
    process = subprocess.Popen([sys.executable, "-m", "tjlib", *arguments], cwd=ROOT)
    deadline = time.monotonic() + 60
    while not out.exists() or out.stat().st_size < 50_000:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = len(list(read(out, Verdict, torn_ok=True)))
    assert 0 < done < 20_000
    assert command(*arguments).stdout == f"{20_000 - done} verdicts added to {out}, " \
                                         f"{done} were there\n"


def test_other_peoples_files_are_not_judged_into(refuses, files, tmp_path):
    traces = files / "trajectories.jsonl"
    other = tmp_path / "other.jsonl"
    write(other, [Verdict("t-9", "rules", False)])
    notes = tmp_path / "notes.txt"
    notes.write_text("a note without a newline")
    for out, says in [
        (other, "holds a verdict on t-9, which is not in"), (notes, "notes.txt:1: "),
        (traces, "is the log itself"), (tmp_path, "this is a folder"),
        (tmp_path / "no" / "v.jsonl", "create its folder"),
    ]:
        before = out.read_bytes() if out.is_file() else None
        assert says in refuses("judge", "rules", "--traces", traces, "--out", out)
        assert (out.read_bytes() if out.is_file() else None) == before


def test_traces_that_cannot_be_read_leave_no_verdict_file(refuses, files):
    traces, out = files / "trajectories.jsonl", files / "new.jsonl"
    for content, says in [
        (to_json(TRAJECTORIES[0]) + b"\n" + to_json(TRAJECTORIES[1])[:-5], ":2: the last line"),
        (to_json(TRAJECTORIES[0]) + b"\n" + to_json(TRAJECTORIES[0]) + b"\n", "t-1 is there twice"),
        (to_json(LABELS[0]) + b"\n", ":1: this looks like a label line, not a trajectory"),
    ]:
        traces.write_bytes(content)
        assert says in refuses("judge", "rules", "--traces", traces, "--out", out)
        assert not out.exists()


def test_the_rules_judge_the_released_files_as_they_are(run, shared, tmp_path):
    released, out = shared / "released", tmp_path / "v.jsonl"
    assert run("judge", "rules", "--traces", released / "trajectories.jsonl", "--out", out)[0] == 0
    published = {v.trajectory_id: v for v in read(released / "verdicts.jsonl", Verdict)
                 if v.judge == "programmatic"}
    ours = list(read(out, Verdict))
    assert len(ours) == 400
    for v in ours:
        theirs = published[v.trajectory_id]
        assert (v.faulty, v.failure_step, v.failure_type) == (
            theirs.faulty, theirs.failure_step, theirs.failure_type)
    assert run("score", out, "--labels", released / "trajectories.jsonl")[0] == 0


# --- fetch -----------------------------------------------------------------------------------


def test_fetch_without_a_server_is_one_line_and_harms_nothing(refuses, tmp_path, monkeypatch):
    monkeypatch.setattr("tjlib.fetch.fetch.__kwdefaults__", {
        "progress": False, "base_url": "http://127.0.0.1:9", "timeout": 5.0})
    monkeypatch.setenv("no_proxy", "*")
    assert "everything that does not say released works without it" in refuses(
        "fetch", "released", "--out", tmp_path / "r")


def test_fetch_draws_no_bar_when_no_terminal_is_there(shared, tmp_path):
    folder = tmp_path / "site" / "results"
    for remote, name in [("raw/trajectories", "trajectories"), ("raw/verdicts", "verdicts"),
                         ("agent/trajectories", "agent_trajectories")]:
        (folder / remote).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(shared / "released" / f"{name}.jsonl", folder / f"{remote}.jsonl")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=str(tmp_path / "site"))

        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        code = (f"import sys, tjlib.fetch as f; f.fetch.__kwdefaults__['base_url'] = "
                f"'http://127.0.0.1:{server.server_port}'; from tjlib.__main__ import main; "
                f"sys.exit(main(['fetch', 'released', '--out', {str(tmp_path / 'r')!r}]))")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                              cwd=ROOT, env=os.environ | {"no_proxy": "*"})
        server.shutdown()
        thread.join()
    assert (done.returncode, done.stderr) == (0, "")
    done = command("score", "released", env={"TJLIB_RELEASED": str(tmp_path / "r")})
    assert done.returncode == 0 and "SHA-256 checked" in done.stdout


# --- rerun -----------------------------------------------------------------------------------

CHAPTER = '''# %% [markdown]
# # A chapter

# %% tags=["parameters"]
verdicts: str = "published"  # published, released, or a path
seeds: list[int] = [1]  # one run each
version: str = "1"  # kept as typed

# %%
from tjlib import chapter, store

p = chapter.check(globals(), version=lambda v: "must not be 13" if v == "13" else None)

# %%
source = store.load(p.verdicts)
chapter.number("n", len(source.verdicts), 0)
print(source.name, p.seeds, p.version)

# %%
chapter.text("hostile", "<img src=x onerror=alert(1)> [go](javascript:alert(1)) 0.8\\xa0it's")

# %% [markdown]
# There are {glue:text}`n` verdicts. It said {glue:text}`hostile`.
'''


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A folder with one chapter in notebooks/, and the kernel able to import tjlib."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "z1_demo.py").write_text(CHAPTER, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return tmp_path


def printed(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "".join(text for cell in cells for output in cell.get("outputs", [])
                   for text in output.get("text", []))


def test_a_chapter_reruns_from_its_text_with_values_typed_as_it_says(book):
    source = (book / "notebooks" / "z1_demo.py").read_bytes()
    done = command("rerun", "z1_demo", "-p", "seeds", "[2, 3]", "-p", "version", "3.10")
    assert (done.returncode, done.stderr) == (0, "")
    assert printed(book / "rerun" / "z1_demo.ipynb") == "published [2, 3] 3.10\n"
    page = (book / "rerun" / "z1_demo.html").read_text(encoding="utf-8")
    assert "There are 2000 verdicts." in page
    shown = "[go](javascript:alert(1)) 0.8\xa0it&#x27;s"
    assert f"It said &lt;img src=x onerror=alert(1)&gt; {shown}." in page
    assert 'src="http' not in page and 'href="http' not in page and "cdn" not in page.lower()
    assert sorted(p.name for p in (book / "rerun").iterdir()) == ["z1_demo.html", "z1_demo.ipynb"]
    assert [p.name for p in (book / "notebooks").iterdir()] == ["z1_demo.py"]
    assert (book / "notebooks" / "z1_demo.py").read_bytes() == source


def test_a_chapter_reruns_on_a_verdict_file_and_values_from_yaml(book, files):
    (book / "values.yaml").write_text("seeds: [4, 5]\nversion: '2'\n")
    done = command("rerun", "notebooks/z1_demo.py", "-f", "values.yaml", "-p", "verdicts",
                   "v.jsonl", "-p", "version", "7", "--out", "deep/er")
    assert (done.returncode, done.stderr) == (0, "")
    assert printed(book / "deep" / "er" / "z1_demo.ipynb") == "v.jsonl [4, 5] 7\n"


@pytest.mark.parametrize(("args", "says"), [
    (("-p", "verdict", "released"), "z1_demo: no parameter 'verdict' (did you mean 'verdicts'?); "
                                    "the parameters are verdicts: str, seeds: list[int]"),
    (("-p", "seeds", "a,b"), "z1_demo: parameter seeds: expected int, got str 'a'"),
    (("-f", "none.yaml"), "none.yaml: No such file or directory; check the path"),
    (("-f", "number.yaml"), "number.yaml: 1 is not a parameter's name; write one name: value"),
    (("--out", "number.yaml"), "number.yaml: File exists; something else is there, choose"),
    (("-f", "notebooks/z1_demo.py"), "z1_demo.py: "),
])
def test_wrong_parameters_stop_before_anything_runs(book, refuses, args, says):
    (book / "rerun").mkdir()
    (book / "rerun" / "z1_demo.ipynb").write_text("earlier")
    (book / "number.yaml").write_text("1: 2\n")
    assert says in refuses("rerun", "z1_demo", *args)
    assert [p.read_text() for p in (book / "rerun").iterdir()] == ["earlier"]


@pytest.mark.parametrize(("args", "says"), [
    (("-p", "verdicts", "none.jsonl"), "z1_demo, cell 4: InputError: none.jsonl: there is no such"),
    (("-p", "version", "13"), "z1_demo, cell 3: InputError: parameter version: must not be 13"),
])
def test_a_chapter_that_stops_names_cell_and_reason_and_keeps_what_ran(book, args, says):
    (book / "rerun").mkdir()
    (book / "rerun" / "z1_demo.ipynb").write_text("earlier")
    done = command("rerun", "z1_demo", *args)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1), done.stderr
    assert done.stderr.startswith(f"tjlib: {says}")
    assert "what ran is in rerun/z1_demo.partial.ipynb" in done.stderr
    assert "chapter.check" in (book / "rerun" / "z1_demo.partial.ipynb").read_text()
    assert (book / "rerun" / "z1_demo.ipynb").read_text() == "earlier"


def test_a_kernel_that_dies_is_one_line(book):
    path = book / "notebooks" / "z1_demo.py"
    path.write_text(CHAPTER + "\n# %%\nimport os\nos._exit(9)\n")
    done = command("rerun", "z1_demo")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "the kernel died; what ran is in" in done.stderr and "memory" not in done.stderr


def test_an_interrupted_rerun_is_one_line(book):
    path = book / "notebooks" / "z1_demo.py"
    path.write_text(CHAPTER + "\n# %%\nfrom pathlib import Path\nfrom time import sleep\n"
                    "Path('started').touch()\nsleep(60)\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "tjlib", "rerun", "z1_demo"], cwd=book, text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, start_new_session=True)
    deadline = time.monotonic() + 60
    while not (book / "started").exists():
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err == "tjlib: interrupted; the same command starts over\n"


@pytest.mark.parametrize(("deaths", "told"), [(1, None), (2, r"no kernel started \(Kernel died")])
def test_a_kernel_that_dies_before_the_first_cell_is_started_once_more(
    book, tmp_path, monkeypatch, deaths, told
):
    import papermill

    run, left = papermill.execute_notebook, [None] * deaths

    def taken(*args, **options):
        if left:
            left.pop()
            raise RuntimeError("Kernel died before replying to kernel_info")
        return run(*args, **options)

    monkeypatch.setattr(papermill, "execute_notebook", taken)
    with pytest.raises(InputError, match=told) if told else nullcontext():
        assert rerun("z1_demo", out=tmp_path / "out").is_file()
    assert not left


def test_what_a_kernel_writes_on_its_own_stderr_is_not_heard(book):
    path = book / "notebooks" / "z1_demo.py"
    path.write_text(CHAPTER + "\n# %%\nimport os, sys\nos.write(2, b'loud')\n"
                    "os.write(sys.__stderr__.fileno(), b'loud')\n1 / 0\n")
    done = command("rerun", "z1_demo")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith("tjlib: z1_demo, cell 5: ZeroDivisionError")


def test_a_disk_that_fills_during_a_rerun_is_one_line_and_leaves_no_half_notebook(book):
    path = book / "notebooks" / "z1_demo.py"
    path.write_text(CHAPTER + "\n# %%\nprint('x' * 10**6)\n")
    limit = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (10**5, 10**5)); " \
            "from tjlib.__main__ import main; sys.exit(main(['rerun', 'z1_demo']))"
    done = subprocess.run([sys.executable, "-c", limit], capture_output=True, text=True, cwd=book,
                          env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == ("tjlib: rerun/z1_demo.partial.ipynb: File too large; make room and run "
                           "the same command again\n")
    assert list((book / "rerun").iterdir()) == []


def test_without_a_loopback_the_remedy_is_named(refuses, book, monkeypatch):
    def unreachable(*_):
        raise OSError(errno.ENETUNREACH, "Network is unreachable")

    monkeypatch.setattr("socket.socket.connect", unreachable)
    assert "no loopback network here (127.0.0.1: Network is unreachable)" in refuses(
        "rerun", "z1_demo")
    assert not (book / "rerun").exists()


def test_a_port_in_use_is_one_line_that_names_another():
    script = ROOT / "book" / "_ext" / "serve.py"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for wanted, says in ((port, f"port {port}: Address already in use; choose another, such "
                                    "as make serve PORT=8001"), ("x", "PORT=x is no port")):
            done = subprocess.run([sys.executable, script, ".", str(wanted)], capture_output=True,
                                  text=True, timeout=60)
            assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
            assert says in done.stderr


def test_parameters_are_listed_with_type_default_and_help(run, book):
    status, out, _ = run("rerun", "z1_demo", "--list")
    assert status == 0 and out.splitlines() == [
        'verdicts: str = "published"  # published, released, or a path',
        "seeds: list[int] = [1]  # one run each", 'version: str = "1"  # kept as typed']


def test_a_chapter_that_cannot_be_run_says_why(refuses, book):
    (book / "notebooks" / "z2_plain.py").write_text("# %%\nx = 1\n")
    assert "no cell tagged 'parameters'" in refuses("rerun", "z2_plain", "-p", "x", "2")
    assert "no chapter 'z9'" in refuses("rerun", "z9")
    assert "there is no such file" in refuses("rerun", "z9.ipynb")
    (book / "broken.ipynb").write_text("{")
    assert "broken.ipynb: not a notebook" in refuses("rerun", "broken.ipynb")


def test_a_chapter_in_markdown_without_a_kernel_name_runs(book):
    (book / "plain.md").write_text("# Title\n\n```python\nprint(6 * 7)\n```\n")
    assert command("rerun", "plain.md").returncode == 0
    assert printed(book / "rerun" / "plain.ipynb") == "42\n"


def test_without_papermill_the_remedy_is_named(refuses, book, monkeypatch):
    monkeypatch.setitem(sys.modules, "papermill", None)
    err = refuses("rerun", "z1_demo")
    assert "rerun needs the package papermill; run make book" in err and "pip" not in err
