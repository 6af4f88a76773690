"""A page of somebody's runs: it says what is there, and hostile text stays text."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest
from built import ROOT
from drawn import runs as any_run
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st

from tjlib import scoring
from tjlib.__main__ import main
from tjlib.formats.imported import Imported
from tjlib.formats.registry import Log
from tjlib.jsonl import write
from tjlib.runpage import lines, opened, summary
from tjlib.runpage.page import page
from tjlib.runpage.texts import MOST, cut, plain
from tjlib.trace import Call, Observation, Step, Trajectory, Verdict
from tjlib.uncertainty.similarity import Jaccard

HOSTILE = (
    "<script>window.pwned = 1</script>", "</script><script>window.pwned = 1</script>",
    '"><img src=x onerror="window.pwned = 1">', "'><svg/onload=window.pwned=1>",
    "</title></style></textarea></pre></details></main><script>window.pwned = 1</script>",
    "javascript:window.pwned=1", "<a href='javascript:window.pwned=1'>here</a>",
    "<math><mtext><img src=//evil.example/x></mtext></math>",
    "<svg><foreignObject><iframe src=//evil.example></iframe></foreignObject></svg>",
    "<![CDATA[<script>window.pwned = 1</script>]]>", "<!--><script>window.pwned = 1</script>",
    "{{ 7*7 }}{% raw %}", "&lt;script&gt;&#0;", "<style>@import '//evil.example/x'</style>",
    "<meta http-equiv=refresh content='0;url=//evil.example'><base href=//evil.example>",
    "\x1b[2J\x1b]8;;http://evil.example\x07click\x1b]8;;\x07", "a\x00b\x08\x7f\x9b31m",
    "\u202egnp.exe\u2066\u2069\u2028\u2029\U000e0041", "\ud800 half", '" onfocus="window.pwned=1',
)
EVERYTHING = "\n".join(HOSTILE)


def a_run(name="t-1", success=None, n=2, text="Look at the order.", **more):
    call = Call("get", {"id": 7})
    return Imported(Trajectory(name, "Refund order 7.", tuple(
        Step(f"{text} {i}", (call,), (Observation(True, {"n": i}),)) for i in range(n)), "Done."),
        1, success, task_id=more.pop("task_id", name), **more)


def hostile_run(text=EVERYTHING, name="t-1"):
    name = name + re.sub(r"[^ -~]", "", text)[:300]
    call = Call(text, {text: text, "deep": [{text: text}]})
    seen = Observation(True, {text: text}), Observation(False, {}, text)
    step = Step(text, (call, call), seen, text)
    return Imported(Trajectory(name, text, (step,) * 3, text), 1, False, task_id=text, trial=text,
                    model=text, opening=text, procedure=text, notes=(text,))


def made(*runs, unread=(), name="log.jsonl", **options):
    return page(Log("native", list(runs), list(unread), []), name, similarity=Jaccard(),
                **options).html


class Seen(HTMLParser):
    """The page as a parser sees it: its tags with their attributes, and its text."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.tags, self.text = [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.tags and self.tags[-1][0] not in ("style", "script"):
            self.text.append(data)

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data}")


def text_of(html):
    return re.sub(r" ([;,.])", r"\1", " ".join(" ".join(Seen(html).text).split()))


# --- what is there ---------------------------------------------------------------------------


def test_the_summary_counts_runs_steps_calls_and_errors():
    failing = Imported(Trajectory("t-2", "g", (Step("", (Call("pay"),) * 2, (
        Observation(False, {}, "no"),)),), ""), 2, task_id="t-2")
    text = text_of(made(a_run(n=3), failing))
    assert "Runs 2 2 tasks, read as native" in text and "Steps 4 1 to 3 a run" in text
    assert "median 2 " in text
    assert "Calls 5 of 2 tools; 1 error came back" in text
    assert "get 3 0 0" in text and "pay 2 1 1" in text


def test_a_share_of_one_run_a_task_has_the_exact_interval():
    found = summary.outcomes([a_run(f"t-{i}", i < 8) for i in range(8)])
    assert (found["k"], found["n"], round(found["lo"], 3), found["hi"]) == (8, 8, 0.631, 1.0)


def test_repeating_every_run_of_a_task_does_not_narrow_the_interval():
    once = [a_run(f"t-{i}", i % 3 == 0) for i in range(30)]
    ten = [a_run(f"t-{i}~{k}", i % 3 == 0, task_id=f"t-{i}") for i in range(30) for k in range(10)]
    one, many = summary.outcomes(once), summary.outcomes(ten)
    assert one["value"] == many["value"] and many["tasks"] == 30 and "resampled" in many["how"]
    assert many["hi"] - many["lo"] > 0.8 * (one["hi"] - one["lo"])


def test_trials_of_a_single_task_have_no_interval():
    found = summary.outcomes([a_run(f"t-{i}", i < 2, task_id="t") for i in range(5)])
    assert found["value"] == 0.4 and found["lo"] is None and "one task" in found["how"]


def test_a_run_that_was_never_judged_is_neither_success_nor_failure():
    html = made(a_run("t-1", True), a_run("t-2", False), a_run("t-3"))
    assert "1 of 2 judged runs" in text_of(html)
    assert [html.count(f"{mark}</span>") for mark in ("✓ success", "✕ failure", "not judged")] == [
        2, 2, 2]  # each in the table and over its run


def sure_run(name):
    steps = tuple(Step("Look.", logprobs=(-0.1,)) for _ in range(2))
    return Imported(Trajectory(name, "Refund order 7.", steps, ""), 1)


@pytest.mark.parametrize("asked, runs, used, because", [
    ("", "sure empty", "rupa", "every run has log-probabilities"),
    ("", "sure unsure", "rupa_structural", "not every run has log-probabilities"),
    ("", "unsure", "rupa_structural", "not every run has log-probabilities"),
    ("", "empty", "rupa_structural", "no run has a step"),
    ("rupa", "sure unsure", "rupa", "it was asked for"),
    ("rupa", "unsure empty", "rupa_structural",
     "rupa has no score for any of these runs: not computable: the log has no token log-prob"),
    ("n_steps", "unsure empty", "n_steps", "it was asked for"),
])
def test_the_steps_own_uncertainty_ranks_only_if_every_run_has_it_or_it_is_asked_for(
        asked, runs, used, because):
    of = {"sure": sure_run("sure"), "unsure": a_run("unsure"), "empty": a_run("empty", n=0)}
    runs = [of[name] for name in runs.split()]
    names = list(dict.fromkeys([asked or "rupa", summary.FALLBACK]))
    found = summary.method(scoring.scores(runs, names), asked)
    assert found[0] == used and found[1].startswith(because)
    assert f"Ranked by {used}, because {found[1]}" in text_of(made(*runs, method=asked))


def test_the_riskiest_come_first_equals_as_in_the_log_and_those_without_a_score_last():
    runs = [a_run("none", n=0), a_run("one", n=1), a_run("three", n=3), a_run("uno", n=1)]
    order = summary.ranked(runs, scoring.scores(runs, "n_steps"), "n_steps")
    assert [r.trajectory.trajectory_id for r in order] == ["three", "one", "uno", "none"]


def test_a_page_of_a_folder_names_the_file_of_every_run_and_what_was_passed_over(tmp_path, capsys):
    log = tmp_path / "logs"
    log.mkdir()
    for name in ("a", "b"):
        call = [{"id": "1", "function": {"name": "get", "arguments": "{}"}}]
        (log / f"{name}.json").write_text(json.dumps({"id": name, "messages": [
            {"role": "user", "content": "hi"}, {"role": "assistant", "tool_calls": call}]}))
    (log / "readme.md").write_text("# Notes")
    said = tmp_path / "said.jsonl"
    said.write_text('{"task_id": "nobody", "success": true}')
    assert main(["report", str(log), "--labels", str(said), "--out", str(tmp_path / "p")]) == 0
    text = text_of((tmp_path / "p").read_text("utf-8"))
    assert "At a.json:1 of the log" in text and "b.json:1, b : 1 calls without a result" in text
    assert "passed over: readme.md: no JSON" in text and str(tmp_path) not in text
    assert "passed over: 1 of the 1 labels given fit no run" in text
    assert "1 of the 1 labels given fit no run" in capsys.readouterr().err


def test_with_log_probabilities_rupa_ranks_and_steps_without_them_are_counted():
    sure = a_run("sure", n=3)
    torn = tuple(Step(s.thought, s.calls, s.observations, logprobs=(-4.0,) if i else None)
                 for i, s in enumerate(sure.trajectory.steps))
    text = text_of(made(sure, Imported(Trajectory("unsure", "Refund order 7.", torn, ""), 2),
                        method="rupa"))
    assert "Ranked by rupa, because it was asked for; without a score, and last: 1 run." in text
    assert "(logprob); 1 of 3 steps lack it" in text
    assert text.index("unsure") < text.index("sure not judged")


def test_runs_stand_by_score_and_equals_in_the_order_of_the_log():
    html = made(a_run("short", n=1), a_run("b"), a_run("long", n=5), a_run("c"), method="n_steps")
    assert re.findall(r"<bdi>(short|b|c|long)</bdi></a>", html) == ["long", "b", "c", "short"]


def test_the_ranking_stands_beside_length_with_intervals():
    text = text_of(made(*(a_run(f"t-{i}", i % 2 == 0, n=1 + i % 5) for i in range(30))))
    assert "rupa_structural - n_steps" in text and "0.5 is chance" in text
    assert "does not say how any run ended" in text_of(made(a_run()))


def test_rows_beyond_the_most_a_table_holds_are_told(monkeypatch):
    monkeypatch.setattr("tjlib.runpage.page.ROWS", 3)
    html = made(*(a_run(f"t-{i}", n=1 + i) for i in range(5)), method="n_steps", top=9)
    assert "3 of 5 runs by n_steps" in html and html.count("<details class=\"run\"") == 3
    assert "t-4" in html and "t-0" not in html


def test_runs_beyond_the_top_stay_in_the_table_and_it_is_told():
    html = made(*(a_run(f"t-{i}") for i in range(5)), top=2)
    assert html.count('<details class="run"') == 2 and html.count('scope="row"><bdi>t-') == 3
    assert "Not opened on this page: 3 more runs;" in html


def test_what_could_not_be_read_is_named_by_line_without_the_folder():
    html = made(a_run(notes=("message 3: odd",)), name="/home/me/log.jsonl",
                unread=["/home/me/log.jsonl:7: not JSON"])
    assert "line 7: not JSON" in html and "/home/me" not in html
    assert "line 1, <bdi>t-1</bdi>: message 3: odd" in html


def test_a_failed_reply_is_no_verdict_and_the_coverage_is_told():
    said = [Verdict("t-1", "j", True, 1, "wrong_tool", 0.9, rationale="The wrong one."),
            Verdict("t-2", "j", status="timeout"), Verdict("t-1", "k", False)]
    html = made(a_run("t-1", False), a_run("t-2", True), verdicts=said)
    text = text_of(html)
    assert "j 2 of 2 1 (50 %) 1 timeout 1.000 [0.025, 1.000] 1 of 1 –" in text
    assert "k 1 of 2 1 (100 %) – 0.000 [0.000, 0.975] 0 of 1 –" in text
    assert "no verdict (timeout)" in text and "⚑ j: faulty here" in text
    assert "1 of 2 faulty" in text and "0 of 0 faulty (1 not read)" in text
    assert re.search(r'href="#run-\d-step-1">1</a>', html)


def test_every_link_leads_to_a_place_on_the_page_and_ids_are_there_once():
    html = made(hostile_run(), *(a_run(f"t-{i}", n=90) for i in range(3)), top=3,
                verdicts=[Verdict("t-1", "j", True, 40)])
    tags = Seen(html).tags
    ids = [attrs["id"] for _, attrs in tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    targets = [attrs["href"] for tag, attrs in tags if tag == "a"]
    pointed = [word for _, attrs in tags for name in ("aria-labelledby", "aria-describedby")
               for word in attrs.get(name, "").split()]
    assert targets and {t.removeprefix("#") for t in targets} | set(pointed) <= set(ids)


def test_the_steps_of_a_long_run_left_out_are_told_and_its_peak_is_among_those_shown():
    for n, peak in [(60, 0), (60, 59), (61, 0), (61, 30), (61, 60), (500, 30), (500, 499)]:
        kept = opened.kept(n, peak)
        assert kept == sorted(set(kept)) and len(kept) == 60 and {0, peak, n - 1} <= set(kept)
    text = text_of(made(a_run(n=200)))
    told = [(int(a), int(b)) for a, b in re.findall(r"Steps (\d+) to (\d+) are not shown", text)]
    assert sum(b - a + 1 for a, b in told) == 140


def test_a_long_text_is_cut_and_the_rest_counted():
    assert cut("x" * (MOST + 7)).left == 7 and len(cut("x" * 10**6).shown) == MOST
    html = made(a_run(text="word " * 200_000, n=1))
    assert len(html) < 100_000 and "Not shown: " in html


def test_no_text_of_a_log_however_long_makes_a_large_page():
    html = made(hostile_run("<b>" * 300_000), unread=["log.jsonl:3: " + "<b>" * 300_000],
                verdicts=[Verdict("t-1" + "<b>" * 100, "<j>" * 300_000, True, 1,
                                  rationale="<b>" * 300_000)])
    assert len(html) < 400_000 and html.count("more characters)") > 10


@pytest.mark.parametrize("run", [
    Imported(Trajectory("t-1", "", (), ""), 1), Imported(Trajectory("t-1", "g", (), "bye"), 1),
    a_run(n=1), Imported(Trajectory("t-1", "g", (Step(""),) * 3, ""), 1),
    Imported(Trajectory("t-1", "g", (Step("", (), (Observation(True),) * 500),), ""), 1),
    Imported(Trajectory("t-1", "g", (Step("", (Call("x"),) * 500),) * 2, ""), 1),
], ids=["nothing", "no step", "one step", "no calls", "observations only", "calls only"])
def test_odd_runs_have_a_page(run):
    html = made(run)
    assert "t-1" in text_of(html) and not re.search(r"\b(nan|None|inf)\b", html)


@limits(max_examples=20)
@given(st.lists(any_run, min_size=1, max_size=3), st.sampled_from(["rupa", "pe", "n_steps"]))
def test_any_runs_have_a_page_of_the_same_bytes_every_time(found, method):
    runs = [Imported(Trajectory(f"t-{i}", *(getattr(t, f) for f in (
        "goal", "steps", "final_answer"))), 1) for i, t in enumerate(found)]
    html = made(*runs, method=method)
    assert html == made(*runs, method=method) and html.count('<details class="run"') == len(runs)


def test_a_run_of_ten_thousand_steps_has_a_small_page():
    html = made(a_run(n=10_000))
    assert len(html) < 400_000 and "9,940" not in html and "Steps 10" in html
    assert max(len(d) for d in re.findall(r' d="([^"]*)"', html)) < 12 * lines.MOST


# --- drawings --------------------------------------------------------------------------------


def test_a_thinned_line_keeps_the_highest_step():
    risks = np.zeros(10_000)
    risks[4321] = 2.0
    points = [tuple(map(float, p.split())) for p in lines.curve(risks, 2.0)[1:].split("L")]
    assert len(points) == lines.MOST and min(points, key=lambda p: p[1]) == (43.21, 0.0)
    assert all(a[0] < b[0] for a, b in pairwise(points))


def test_the_graph_shows_the_riskiest_step_and_draws_each_edge_into_a_step_it_shows():
    html = made(a_run(n=40))
    done = opened.propagated(a_run(n=40), "rupa", Jaccard())
    peak = int(np.argmax(done.r))
    drawn = lines.drawing(done, peak, float(done.r.max()))
    assert drawn.first <= peak <= drawn.last and drawn.last - drawn.first == 11
    assert {edge["row"] for edge in drawn.edges} <= {
        node["row"] for node in drawn.nodes if node["kind"] == "assistant"}
    widths = [edge["width"] for edge in drawn.edges]
    assert widths == sorted(widths) and max(widths) == 5.0
    assert f"The graph of steps {drawn.first} to {drawn.last} of 40" in html


# --- what must not happen --------------------------------------------------------------------


def test_hostile_text_is_text_in_every_place_a_log_can_put_it():
    said = [Verdict(hostile_run().trajectory.trajectory_id, "judge <b>", True, 1, None, 0.5,
                    rationale=EVERYTHING)]
    html = made(hostile_run(), verdicts=said, unread=[f"log.jsonl:3: {EVERYTHING}"],
                name=f"{HOSTILE[2]}.jsonl")
    tags = Seen(html).tags
    assert [tag for tag, _ in tags if tag in ("img", "iframe", "math", "base", "object", "form",
                                              "foreignobject", "link", "embed")] == []
    assert [tag for tag, _ in tags].count("script") == 1 == [t for t, _ in tags].count("style")
    assert not [attrs for _, attrs in tags if any(name.startswith("on") for name in attrs)]
    assert all(attrs["href"].startswith("#") for tag, attrs in tags if tag == "a")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", html)
    html.encode("utf-8")
    assert html.count("{{ 7*7 }}") > 5 and "49}" not in html


def test_what_steers_a_screen_is_shown_as_its_escape():
    assert plain("\x1b[2J a\x00 \u202e \ud800 \U000e0041") == (
        r"\x1b[2J a\x00 \u202e \ud800 \U000e0041")
    for whole in ("naïve café", "नमस्ते", "עברית", "👩\u200d💻", "\u3000全角", "a\n\tb"):
        assert plain(whole) == whole


# --- the command -----------------------------------------------------------------------------


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.jsonl"
    write(path, [a_run(f"t-{i}", n=i + 1).trajectory for i in range(3)])
    return path


def test_the_command_writes_the_same_page_twice_and_names_what_it_wrote(log, tmp_path, capsys):
    verdicts = tmp_path / "v.jsonl"
    write(verdicts, [Verdict("t-1", "j", True, 1)])
    pages = [tmp_path / "a.html", tmp_path / "b.html"]
    for path in pages:
        assert main(["report", str(log), "--verdicts", str(verdicts), "--top", "1",
                     "--out", str(path)]) == 0
    assert pages[0].read_bytes() == pages[1].read_bytes()
    out, err = capsys.readouterr()
    assert "3 runs by rupa_structural, 1 of them open in full" in out and err == ""


def test_two_processes_with_different_hash_seeds_write_the_same_bytes(log, tmp_path):
    pages = []
    for seed in "12":
        pages.append(tmp_path / f"{seed}.html")
        subprocess.run([sys.executable, "-m", "tjlib", "report", log, "--out", pages[-1]],
                       env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
                       check=True, capture_output=True)
    assert pages[0].read_bytes() == pages[1].read_bytes()


def test_what_was_not_read_is_named_on_stderr(log, tmp_path, capsys):
    log.write_bytes(log.read_bytes() + b'{"trajectory_id": "t-9", "go')
    assert main(["report", str(log), "--out", str(tmp_path / "p.html")]) == 0
    assert f"{log}:4: " in capsys.readouterr().err
    assert "line 4: " in (tmp_path / "p.html").read_text("utf-8")


@pytest.mark.parametrize(("change", "said"), [
    ({"traces": "none.jsonl"}, "no such file"), ({"out": "none/p.html"}, "No such file"),
    ({"out": "."}, "this is a folder"), ({"verdicts": "none.jsonl"}, "no such file"),
    ({"verdicts": "unknown.jsonl"}, "is not among the trajectories"),
    ({"verdicts": "beyond.jsonl"}, "beyond the end"), ({"traces": "odd.json"}, "no trajectory in"),
])
def test_a_mistake_is_one_line_and_exit_1_and_no_page(log, tmp_path, monkeypatch, capsys, change,
                                                      said):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "unknown.jsonl", [Verdict("t-77", "j", True)])
    write(tmp_path / "beyond.jsonl", [Verdict("t-1", "j", True, 9)])
    (tmp_path / "odd.json").write_text(json.dumps({"a": 1}), "utf-8")
    given = {"traces": "log.jsonl", "out": "p.html"} | change
    args = ["report", given.pop("traces")] + [w for k, v in given.items() for w in (f"--{k}", v)]
    before = sorted(tmp_path.iterdir())
    assert main(args) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and said in err
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("more", [["--method", "nope"], ["--method", "rupa,pe"],
                                  ["--format", "nope"], ["--top", "-1"]])
def test_wrong_usage_is_exit_2(log, tmp_path, more):
    with pytest.raises(SystemExit) as left:
        main(["report", str(log), "--out", str(tmp_path / "p.html"), *more])
    assert left.value.code == 2


def test_a_page_that_was_there_survives_a_run_that_fails(log, tmp_path, monkeypatch):
    out = tmp_path / "p.html"
    out.write_text("old", "utf-8")

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    assert main(["report", str(log), "--out", str(out)]) == 1
    assert out.read_text("utf-8") == "old" and len(list(tmp_path.iterdir())) == 2
