"""Files in and out: what is wrong with a line is said at that line, and nothing is lost."""

from __future__ import annotations

import hashlib
import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tjlib import fetch as fetching
from tjlib import release, store
from tjlib.desk import testbed
from tjlib.jsonl import append, atomic, read, write
from tjlib.trace import FAULT_TYPES, InputError, Label, Step, Trajectory, Verdict, to_json

LABELS = [Label("t-1", False), Label("t-2", True, 1, "wrong_tool", True)]
TRACES = [Trajectory(name, "goal", (Step("a"), Step("b")), "") for name in ("t-1", "t-2")]
VERDICT = Verdict("t-2", "j", True, 1, "wrong_tool", 0.9)


def lines(*records):
    return b"".join(to_json(record) + b"\n" for record in records)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "v.jsonl"


# --- reading ---------------------------------------------------------------------------------


@given(st.lists(st.builds(
    Label, st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Zl", "Zp"])),
    st.booleans())))
def test_what_is_written_is_read_back(tmp_path_factory, records):
    path = tmp_path_factory.mktemp("w") / "l.jsonl"
    write(path, records)
    assert list(read(path, Label)) == records


def test_byte_order_mark_crlf_blank_lines_and_a_missing_last_newline_are_accepted(path):
    text = b"\xef\xbb\xbf" + lines(*LABELS).replace(b"\n", b"\r\n\r\n")
    path.write_bytes(text.rstrip())
    assert list(read(path, Label)) == LABELS


def test_reading_streams(path):
    path.write_bytes(lines(LABELS[0]) + b"broken\n")
    assert next(read(path, Label)) == LABELS[0]


@pytest.mark.parametrize(("content", "line", "says"), [
    (lines(LABELS[0]) + b'{"trajectory_id":"t-2","fau', 2, "cut off"),
    (b'{"trajectory_id":"t-2","fau\n' + lines(LABELS[0]), 1, "mend or delete the line"),
    (b"hello", 1, "mend or delete the line"),
    (lines(LABELS[0]) + b"\n" + b'{"trajectory_id":"\xe9"}\n', 3, "UTF-8"),
    ("\ufeff{}".encode("utf-16-le"), 1, "UTF-8"),
    (b'{"trajectory_id": "t", "faulty": "yes"}\n', 1, "faulty"),
    (b'{"trajectory_id": "t"}\n', 1, "required field `faulty`; add it"),
    (b"[1, 2]\n", 1, "write one object a line, without a list around them"),
    (b'[{"trajectory_id": "t",\n"faulty": true}]', 1, "write one object a line"),
    (b'{\n  "trajectory_id": "t"\n}\n', 1, "write one object a line, not spread over several"),
    (b'{"trajectory_id": "t", "faulty": true, "fautly": 1}\n', 1, "field `fautly`; remove it"),
    (b'{"trajectory_id": "t", "faulty": true, "failure_step": -1}\n', 1, "0-based); correct it"),
    (lines(TRACES[0]), 1, "looks like a trajectory line, not a label"),
    (lines(VERDICT), 1, "looks like a verdict line, not a label"),
])
def test_a_bad_line_is_named_with_its_number_and_a_remedy(path, content, line, says):
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        list(read(path, Label))
    assert str(caught.value).startswith(f"{path}:{line}: ") and says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_labels_given_as_verdicts_are_recognised(path):
    path.write_bytes(lines(*LABELS))
    with pytest.raises(InputError, match="looks like a label line, not a verdict"):
        list(read(path, Verdict))


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        list(read(tmp_path / "none.jsonl", Label))
    with pytest.raises(InputError, match="this is a folder"):
        list(read(tmp_path, Label))


def test_a_path_that_cannot_be_opened_is_one_line(path):
    path.touch()
    with pytest.raises(InputError, match="Not a directory; something else is there"):
        list(read(path / "v.jsonl", Label))


# --- writing ---------------------------------------------------------------------------------


def test_a_failed_write_leaves_the_old_file_and_no_other(path):
    write(path, LABELS)

    def broken():
        yield LABELS[0]
        raise RuntimeError("power")

    with pytest.raises(RuntimeError):
        write(path, broken())
    assert list(read(path, Label)) == LABELS
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_two_files_are_replaced_together_or_not_at_all(tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_text("old")
    with pytest.raises(RuntimeError), atomic(a) as one, atomic(b) as two:
        one.write(b"new")
        two.write(b"new")
        raise RuntimeError
    assert a.read_text() == "old" and [p.name for p in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("name", [".", "", "..", "/"])
def test_a_folder_without_a_name_of_its_own_is_not_written_over(name):
    with pytest.raises(InputError, match="this is a folder"), atomic(name):
        raise AssertionError("opened")


def test_writing_into_a_missing_folder_says_so(tmp_path):
    for writer in (write, append):
        with pytest.raises(InputError, match="create its folder"):
            writer(tmp_path / "no" / "v.jsonl", LABELS)
    with pytest.raises(InputError, match="this is a folder"):
        write(tmp_path, LABELS)


def test_append_hands_over_each_line_before_it_asks_for_the_next(path):
    seen = []

    def records():
        for label in LABELS:
            yield label
            seen.append(len(path.read_bytes().splitlines()))

    assert append(path, records()) == 2
    assert seen == [1, 2]


@given(st.integers(1, len(to_json(LABELS[1])) - 1))
def test_append_cuts_a_last_line_torn_anywhere_and_says_so(tmp_path_factory, cut):
    path = tmp_path_factory.mktemp("torn") / "l.jsonl"
    path.write_bytes(lines(LABELS[0]) + to_json(LABELS[1])[:cut])
    assert list(read(path, Label, torn_ok=True)) == LABELS[:1]
    append(path, LABELS[1:])
    assert list(read(path, Label)) == LABELS


def test_the_cut_is_logged_with_the_file(path, caplog):
    path.write_bytes(lines(LABELS[0]) + b'{"traj')
    append(path, [])
    assert f"{path}: cut off a last line" in caplog.text
    assert path.read_bytes() == lines(LABELS[0])


def test_append_finds_a_torn_line_longer_than_a_read_block(path):
    path.write_bytes(lines(LABELS[0]) + b'{"trajectory_id":"' + b"x" * 200_000)
    append(path, LABELS[1:])
    assert list(read(path, Label)) == LABELS


def test_append_completes_a_whole_last_line_that_lacks_its_newline(path):
    path.write_bytes(to_json(LABELS[0]))
    append(path, LABELS[1:])
    assert list(read(path, Label)) == LABELS


def test_append_leaves_a_file_that_is_not_records_alone(path):
    path.write_text("shopping list")
    with pytest.raises(InputError, match="does not end in a record"):
        append(path, LABELS)
    assert path.read_text() == "shopping list"


def test_a_killed_append_is_completed_by_running_it_again(path):
    code = ("import itertools, sys; from tjlib.jsonl import append; from tjlib.trace import Label;"
            "append(sys.argv[1], (Label(f't-{i}', False) for i in itertools.count()))")
    process = subprocess.Popen([sys.executable, "-c", code, str(path)])
    deadline = time.monotonic() + 30
    while not path.exists() or path.stat().st_size < 10_000:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = len(list(read(path, Label, torn_ok=True)))
    append(path, [Label("last", False)])
    names = [label.trajectory_id for label in read(path, Label)]
    assert names == [f"t-{i}" for i in range(done)] + ["last"]


# --- labels and verdicts ---------------------------------------------------------------------


@pytest.mark.parametrize(("labels", "line", "says"), [
    ([LABELS[0], LABELS[1], LABELS[0]], 3, "second label for t-1, first on line 1"),
    ([Label("t-1", True, 0, "typo")], 1, "unknown failure type 'typo'; use one of wrong_tool"),
    ([Label("t-1", True, 2)], 1, "step 2 is beyond the end of t-1, which has 2 steps"),
    ([Label("t-9", False)], 1, "'t-9' is not among the trajectories"),
])
def test_labels_that_cannot_be_are_refused_at_their_line(path, labels, line, says):
    write(path, labels)
    with pytest.raises(InputError, match=re.escape(f"{path}:{line}: ") + ".*" + re.escape(says)):
        store.read_labels(path, TRACES)


@pytest.mark.parametrize(("verdicts", "line", "says"), [
    ([VERDICT, Verdict("t-1", "j", False), VERDICT], 3,
     "second verdict by j on t-2, first on line 1"),
    ([VERDICT, Verdict("t-9", "j", False)], 2, "unknown trajectory 't-9'"),
    ([Verdict("t-2", "j", True, 2)], 1, "step 2 is beyond the end of t-2"),
    ([Verdict("t-2", "j", True, 1, "typo")], 1, "unknown failure type 'typo'"),
])
def test_verdicts_that_cannot_be_are_refused_at_their_line(path, verdicts, line, says):
    write(path, verdicts)
    with pytest.raises(InputError, match=re.escape(f"{path}:{line}: ") + ".*" + re.escape(says)):
        store.read_verdicts(path, LABELS, TRACES)


def test_two_judges_may_speak_on_one_trajectory_and_steps_need_trajectories_to_be_bounded(path):
    write(path, [VERDICT, Verdict("t-2", "k", True, 99)])
    assert len(store.read_verdicts(path, LABELS)) == 2


@pytest.mark.parametrize("name", ["read_labels", "read_verdicts"])
def test_an_empty_file_is_not_a_result(path, name):
    path.write_text("\n")
    with pytest.raises(InputError, match=r"no (labels|verdicts) in it"):
        store.read_labels(path) if name == "read_labels" else store.read_verdicts(path, LABELS)


# --- sources ---------------------------------------------------------------------------------


def test_the_published_source_is_the_set_the_paper_describes():
    source = store.load("published")
    silent = [label for label in source.labels if label.faulty and label.outcome_correct]
    loud = [label for label in source.labels if label.faulty and not label.outcome_correct]
    assert (len(source.labels), len(silent), len(loud)) == (400, 175, 125)
    assert [sum(label.failure_type == kind for label in source.labels) for kind in FAULT_TYPES] \
        == [50] * 6
    assert len(source.verdicts) == 2000 and source.cost["judge"].nunique() == 5
    assert len({(v.trajectory_id, v.judge) for v in source.verdicts}) == 2000


def test_published_tables_are_listed_when_the_name_is_wrong():
    assert {"published", "source"} <= set(store.published("trajectory_judge_numbers"))
    with pytest.raises(InputError, match="there are: cost, "):
        store.published("costs")


def test_the_published_figures_travel_inside_an_installed_package(tmp_path):
    package = Path(store.__file__).parent
    site = shutil.copytree(package, tmp_path / "site" / "tjlib")
    shutil.copytree(package.parent / "data" / "published", site / "data" / "published",
                    dirs_exist_ok=True)
    code = "from tjlib import store; print(store.__file__, len(store.load('published').labels))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          cwd=site.parent, env=os.environ | {"PYTHONPATH": "."}, check=True)
    assert str(site) in done.stdout and done.stdout.endswith(" 400\n")


def test_what_is_no_regular_file_is_neither_added_to_nor_replaced(path):
    os.mkfifo(path)
    for place in (path, Path("/dev/full")):
        for act in (lambda p: append(p, LABELS), lambda p: write(p, LABELS),
                    lambda p: list(read(p, Label, torn_ok=True))):
            with pytest.raises(InputError, match="not a regular file; give the name of a file"):
                act(place)
    assert path.is_fifo() and Path("/dev/full").is_char_device()


def test_a_line_without_an_end_is_refused_before_it_fills_the_memory():
    tracemalloc.start()
    with pytest.raises(InputError, match="/dev/zero:1: a line of more than 64 MB"):
        list(read("/dev/zero", Label))
    assert tracemalloc.get_traced_memory()[1] < 300e6
    tracemalloc.stop()


def test_a_pipe_can_be_read(path):
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(lines(*LABELS)))
    writer.start()
    assert list(read(path, Label)) == LABELS
    writer.join()


@pytest.mark.parametrize("act", [write, append])
def test_a_full_disk_is_one_line_and_leaves_whole_records(path, act):
    write(path, LABELS)
    code = ("import sys, resource; from tjlib.trace import *; from tjlib.jsonl import *\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
            f"try: {act.__name__}(sys.argv[1], (Label(f't-{{i}}', True) for i in range(10**4)))\n"
            "except InputError as error: print(error)")
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True,
                          check=True)
    assert done.stdout == f"{path}: File too large; make room and run the same command again\n"
    kept = list(read(path, Label))
    assert kept[:2] == LABELS and (len(kept) == 2) == (act is write)
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_record_the_release_does_not_write_by_itself_is_one_line(path):
    path.write_text("[]\n")
    with pytest.raises(InputError, match=r":1: .*write one object a line"):
        list(read(path, Step))


def test_the_pattern_table_tabulates_the_released_verdicts(shared):
    def rows(source):
        labels = {label.trajectory_id: label for label in source.labels}
        return sorted(
            (str(labels[v.trajectory_id].failure_type), labels[v.trajectory_id].outcome_correct,
             v.judge, v.faulty, str(v.failure_type), str(v.failure_step),
             round(v.confidence, 6))  # the table is rounded so
            for v in source.verdicts)

    assert rows(store.load("published")) == rows(store.load(shared / "released"))


def test_released_records_carry_what_the_files_leave_out(shared):
    found = store.released(shared / "released")
    assert [t.trajectory_id for t in found.trajectories] == [x.trajectory_id for x in found.labels]
    strata = [sum(label.stratum == s for label in found.labels) for s in (
        "happy", "restocking", "expired", "non_refundable", "wrong_customer", "already_refunded")]
    assert strata == [78, 128, 49, 49, 48, 48]  # spec: counted from the release
    assert len({label.instance_id for label in found.labels}) == 141
    known = {label.trajectory_id for label in found.labels}
    assert sum(label.parent_id in known for label in found.labels) == 251


def test_the_organic_episodes_have_no_parent(shared):
    trajectories, labels = store.released_agent(shared / "released")
    assert len(trajectories) == len(labels) == 60
    assert {label.parent_id for label in labels} == {None}
    assert sum(label.faulty or not label.outcome_correct for label in labels) == 13


def test_the_origin_claims_the_release_only_for_its_very_bytes(shared, tmp_path):
    assert store.load(shared / "released").origin.startswith("released: ")
    for name in release.FILES:
        shutil.copy(shared / "released" / name, tmp_path / name)
    with (tmp_path / "verdicts.jsonl").open("ab") as file:
        file.write(b"\n")
    source = store.load(tmp_path)
    assert source.origin.startswith(f"measured: {tmp_path}") and "programmatic" in source.origin
    assert len(source.verdicts) == 2000


def released_line(**changes):
    raw = {"trajectory_id": "INS-00008-wrong_tool", "judge_id": "j", "faulty": True,
           "failure_step": 2, "failure_type": "wrong_tool", "confidence": 0.9, "rationale": "r",
           "latency_s": 1.5, "prompt_tokens": 3, "completion_tokens": 4, "error": None}
    return json.dumps(raw | changes).encode()


def test_a_released_verdict_keeps_its_judge_and_its_cost():
    verdict = release.decode(Verdict, released_line())
    assert (verdict.judge, verdict.latency_s, verdict.completion_tokens) == ("j", 1.5, 4)


def test_a_released_verdict_with_an_error_is_no_judgement():
    verdict = release.decode(Verdict, released_line(error="no JSON"))
    assert (verdict.faulty, verdict.failure_type, verdict.status) == (None, None, "error")
    assert verdict.rationale == "no JSON"


def test_a_wrong_released_line_is_told_in_the_terms_of_its_own_shape(path):
    path.write_bytes(released_line(confidence="high") + b"\n")
    with pytest.raises(InputError, match=r":1: .*confidence"):
        list(read(path, Verdict))
    path.write_bytes(released_line(confidence=7) + b"\n")
    with pytest.raises(InputError, match=r":1: .*outside \[0, 1\]"):
        list(read(path, Verdict))


def test_released_steps_out_of_order_are_refused(shared, path):
    with (shared / "released" / "trajectories.jsonl").open("rb") as file:
        raw = json.loads(next(file))
    raw["steps"].reverse()
    path.write_text(json.dumps(raw))
    with pytest.raises(InputError, match="not numbered 0, 1, 2"):
        list(read(path, Trajectory))


def test_a_verdict_file_finds_its_labels_and_traces_beside_it(path):
    write(path, [VERDICT])
    with pytest.raises(InputError, match=r"no labels.jsonl beside it; name the labels"):
        store.load(path)
    write(path.with_name("labels.jsonl"), LABELS)
    assert store.load(path).trajectories is None
    write(path.with_name("trajectories.jsonl"), TRACES)
    assert len(store.load(path).trajectories) == 2
    write(path, [Verdict("t-2", "j", True, 2)])
    with pytest.raises(InputError, match="beyond the end"):
        store.load(path)


def test_labels_and_traces_can_be_named(path, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    write(path, [VERDICT])
    truth, traces = tmp_path / "elsewhere" / "truth.jsonl", tmp_path / "elsewhere" / "t.jsonl"
    write(truth, LABELS)
    write(traces, TRACES)
    source = store.load(path, truth, traces)
    assert source.labels == LABELS and source.trajectories == TRACES
    assert str(path) in source.origin and str(truth) in source.origin


def test_our_verdicts_on_the_released_trajectories_need_no_other_labels(shared, path):
    write(path, [Verdict("INS-00010-clean", "j", False)])
    source = store.load(path, labels=shared / "released" / "trajectories.jsonl")
    assert len(source.labels) == len(source.trajectories) == 400
    assert source.origin.startswith("measured: ")


def test_a_source_that_is_nothing_lists_what_it_could_be(tmp_path):
    with pytest.raises(InputError, match="give published, released, recorded, or the path"):
        store.load(tmp_path / "publisched")
    with pytest.raises(InputError, match=r"no verdicts\.jsonl in this folder"):
        store.load(tmp_path)
    with pytest.raises(InputError, match="brings its own labels"):
        store.load("published", labels="l.jsonl")


def test_the_released_files_are_looked_for_where_the_reader_says(tmp_path, monkeypatch):
    for name in release.FILES:
        (tmp_path / name).touch()
    assert fetching.find(tmp_path) == tmp_path
    monkeypatch.setenv("TJLIB_RELEASED", str(tmp_path))
    assert fetching.find() == tmp_path
    (tmp_path / "verdicts.jsonl").unlink()
    with pytest.raises(InputError, match=r"TJLIB_RELEASED.*tjlib fetch released --out"):
        fetching.find()


def test_without_the_released_files_the_remedy_is_named(tmp_path, monkeypatch):
    monkeypatch.delenv("TJLIB_RELEASED", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(fetching, "__file__", str(tmp_path / "a" / "b" / "fetch.py"))
    with pytest.raises(InputError, match="run: tjlib fetch released"):
        fetching.find()
    folder = tmp_path / "tjlib" / "released"
    folder.mkdir(parents=True)
    for name in release.FILES:
        (folder / name).touch()
    assert fetching.find() == folder


# --- fetching --------------------------------------------------------------------------------

CONTENT = {remote: f"{local} ".encode() * 30_000 for local, (remote, _) in release.FILES.items()}


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves the content, misbehaving as the server's ``mode`` says."""

    def do_GET(self):
        mode, asked = self.server.mode, self.headers.get("Range")
        self.server.asked.append((Path(self.path).name, asked))
        body = CONTENT[self.path.lstrip("/")]
        if mode == "hang":
            self.server.release.wait(20)
            return
        if mode == "404":
            self.send_error(404)
            return
        if mode == "wrong":
            body = body.replace(b" ", b"_")
        start = int(asked[6:-1]) if asked and mode != "no range" else 0
        if start >= len(body):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        body = body[start:]
        self.wfile.write(body[:len(body) // 2] if mode == "cut" else body)

    def log_message(self, *args):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(fetching, "FILES", {
        local: (remote, hashlib.sha256(CONTENT[remote]).hexdigest())
        for local, (remote, _) in release.FILES.items()})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as it:
        it.mode, it.asked, it.release = "", [], threading.Event()
        it.url = f"http://127.0.0.1:{it.server_port}"
        thread = threading.Thread(target=it.serve_forever, args=(0.01,))
        thread.start()
        yield it
        it.release.set()
        it.shutdown()
        thread.join()


def holds_all(folder):
    return sorted(p.name for p in folder.iterdir()) == sorted(release.FILES) and all(
        (folder / local).read_bytes() == CONTENT[remote]
        for local, (remote, _) in release.FILES.items())


def test_fetch_saves_three_checked_files_and_asks_for_them_once(server, tmp_path):
    folder = fetching.fetch("released", tmp_path / "new", base_url=server.url)
    assert folder == tmp_path / "new" and holds_all(folder) and len(server.asked) == 3
    fetching.fetch("released", folder, base_url=server.url)
    assert len(server.asked) == 3


def test_fetch_saves_to_the_cache_unless_told_otherwise(server, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert fetching.fetch(base_url=server.url) == tmp_path / "tjlib" / "released"


@pytest.mark.parametrize("mode", ["", "no range"])
def test_a_cut_download_is_kept_and_completed(server, tmp_path, mode):
    server.mode = "cut"
    with pytest.raises(InputError, match=r"broke off \d+ bytes before the end"):
        fetching.fetch("released", tmp_path, base_url=server.url)
    (part,) = tmp_path.iterdir()
    half = part.stat().st_size
    assert part.name == "trajectories.jsonl.part" and half > 0
    server.mode = mode
    fetching.fetch("released", tmp_path, base_url=server.url)
    assert server.asked[1] == ("trajectories.jsonl", f"bytes={half}-")
    assert holds_all(tmp_path)


def test_a_download_killed_before_its_rename_is_not_fetched_again(server, tmp_path):
    remote = release.FILES["trajectories.jsonl"][0]
    (tmp_path / "trajectories.jsonl.part").write_bytes(CONTENT[remote])
    fetching.fetch("released", tmp_path, base_url=server.url)
    assert holds_all(tmp_path) and len(server.asked) == 2


def test_a_part_longer_than_the_file_is_thrown_away(server, tmp_path):
    (tmp_path / "trajectories.jsonl.part").write_bytes(b"x" * 10**6)
    with pytest.raises(InputError, match="416"):
        fetching.fetch("released", tmp_path, base_url=server.url)
    fetching.fetch("released", tmp_path, base_url=server.url)
    assert holds_all(tmp_path)


def test_wrong_bytes_are_refused_and_removed(server, tmp_path):
    server.mode = "wrong"
    with pytest.raises(InputError, match=r"not the released file \(SHA-256"):
        fetching.fetch("released", tmp_path, base_url=server.url)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_page_a_silent_server_and_no_server_each_have_a_reason(server, tmp_path):
    server.mode = "404"
    with pytest.raises(InputError, match=r"answered 404 Not Found.*works without it"):
        fetching.fetch("released", tmp_path, base_url=server.url)
    server.mode = "hang"
    with pytest.raises(InputError, match=r"timed out.*run the same command again"):
        fetching.fetch("released", tmp_path, base_url=server.url, timeout=0.2)
    with pytest.raises(InputError, match=r"Connection refused.*works without it"):
        fetching.fetch("released", tmp_path, base_url="http://127.0.0.1:9")


def test_fetch_overwrites_nobodys_file(server, tmp_path):
    mine = tmp_path / "trajectories.jsonl"
    mine.write_bytes(lines(*TRACES))
    with pytest.raises(InputError, match="choose another folder"):
        fetching.fetch("released", tmp_path, base_url=server.url)
    assert mine.read_bytes() == lines(*TRACES) and server.asked == []


def test_only_the_release_can_be_fetched(tmp_path):
    with pytest.raises(InputError, match="there is: released"):
        fetching.fetch("weights", tmp_path)


def test_our_own_run_brings_labels_and_says_model_digest_and_day():
    source = store.load("recorded")
    assert source.name == "recorded" and len(source.labels) == 400
    assert source.origin.startswith("measured here: judges: outcome:smollm2, step:smollm2")
    made = r"smollm2 \(local, digest b179c952\w+\), 20\d\d-\d\d-\d\d"
    assert re.search(made, source.origin)


def test_the_recorded_trajectories_are_the_testbed_of_seed_7():
    trajectories, labels = testbed.judged_set(7)
    source = store.load("recorded")
    assert (source.trajectories, source.labels) == (trajectories, labels)
