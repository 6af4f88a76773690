"""The command line: bad input is one line and exit 1, and nothing that was there is harmed."""

from __future__ import annotations

import csv
import http.server
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import tjlib
from tjlib.__main__ import main
from tjlib.jsonl import read, write
from tjlib.trace import Label, Step, Trajectory, Verdict, to_json

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
               ("testbed", "judge", "score", "fetch", "rerun"))


@pytest.mark.parametrize("args", [
    (), ("scores",), ("score",), ("testbed",), ("judge", "oracle", "--traces", "t", "--out", "v"),
    ("testbed", "--seed", "-1", "--out", "d"), ("testbed", "--seed", "x", "--out", "d"),
    ("fetch", "weights"), ("rerun", "a6_results", "-p", "verdicts"),
])
def test_wrong_usage_is_exit_2(run, args):
    status, out, err = run(*args)
    assert (status, out) == (2, "") and "usage: tjlib" in err


def test_a_process_exits_with_the_status_and_prints_no_traceback(tmp_path):
    done = command("score", tmp_path / "none.jsonl")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "no such file" in done.stderr


def test_a_reader_that_leaves_early_is_no_error():
    with subprocess.Popen([sys.executable, "-m", "tjlib", "score", "published", "--json"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT) as process:
        process.stdout.close()
        assert process.stderr.read() == b""


def test_an_interrupt_is_one_line_and_exit_130(run, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("tjlib.store.load", interrupted)
    status, out, err = run("score", "published")
    assert (status, out, err.count("\n")) == (130, "", 1)


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


def test_missing_labels_traces_and_sources_are_named(refuses, files):
    (files / "labels.jsonl").rename(files / "truth.jsonl")
    assert "name the labels (--labels FILE)" in refuses("score", files / "v.jsonl")
    assert "none.jsonl: there is no such file" in refuses(
        "score", files / "v.jsonl", "--labels", files / "none.jsonl")
    assert "none.jsonl: there is no such file" in refuses(
        "score", files / "v.jsonl", "--labels", files / "truth.jsonl",
        "--traces", files / "none.jsonl")
    assert "no verdicts.jsonl in this folder" in refuses("score", files)


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


def test_a_testbed_that_cannot_be_written_is_one_line(refuses, files):
    assert "v.jsonl" in refuses("testbed", "--out", files / "v.jsonl")


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
    write(traces, (Trajectory(f"t-{i}", "g", (Step("x"),) * 20, "") for i in range(20_000)))
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
        (traces, "looks like a trajectory line"), (tmp_path, "this is a folder"),
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

# %% [markdown]
# There are {glue:text}`n` verdicts.
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
    (("-f", "none.yaml"), "none.yaml"),
    (("-f", "notebooks/z1_demo.py"), "z1_demo.py: "),
])
def test_wrong_parameters_stop_before_anything_runs(book, refuses, args, says):
    (book / "rerun").mkdir()
    (book / "rerun" / "z1_demo.ipynb").write_text("earlier")
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
    assert "the kernel died" in done.stderr


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
    assert "rerun needs the package papermill" in refuses("rerun", "z1_demo")
