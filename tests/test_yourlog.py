"""A reader's own log as frames: what is counted, ranked, cut and said."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tjlib import scoring
from tjlib.charts import yours
from tjlib.charts.show import show
from tjlib.documents import values
from tjlib.formats import registry
from tjlib.formats.imported import Imported
from tjlib.packaged import data_folder
from tjlib.runpage.opened import propagated, row
from tjlib.studies import yourlog
from tjlib.trace import Call, Observation, Step, Trajectory, Verdict
from tjlib.uncertainty.similarity import Jaccard

LOG = data_folder("examples") / "bicycle_desk.jsonl"


@pytest.fixture(scope="module")
def log():
    return registry.load(LOG)


def run(name, *steps, **more):
    return Imported(Trajectory(name, "Fix it.", steps, ""), 1, **more)


def laid(one, score=(1.0, ""), verdicts=()):
    done = propagated(one, "rupa_structural", Jaccard())
    return row(one, done, score, verdicts), done


def long_run(n):
    """Return a run whose step 7 gets an error back."""
    seen = [Observation(True, {"n": i}) for i in range(n)]
    seen[7] = Observation(False, {}, "no such file")
    return run("t", *(Step(f"look {i}", (Call("f", {"i": i}),), (o,))
                      for i, o in enumerate(seen)))


def test_our_log_is_read_whole_but_for_its_torn_line(log):
    counts = yourlog.counted(log).set_index("what")["count"]
    assert log.format == "openai_chat" and len(log.unread) == 1 and ":19:" in log.unread[0]
    assert counts[["runs", "tasks", "steps", "calls", "observations"]].tolist() == [
        "18", "7", "68", "53", "51"]
    assert (counts["of them errors"], counts["runs that end without an answer"]) == ("12", "2")


def test_our_log_has_failures_that_no_error_announces_and_errors_that_did_no_harm(log):
    by = {(r.success, bool(yourlog.errors(r))): 0 for r in log.runs}
    for r in log.runs:
        by[r.success, bool(yourlog.errors(r))] += 1
    assert by == {(True, False): 7, (True, True): 3, (False, False): 4, (False, True): 3,
                  (None, True): 1}


def test_every_booking_of_our_log_answers_a_call_and_gears_3_never_looked_for_a_slot(log):
    called = {r.trajectory.trajectory_id: [c.tool for s in r.trajectory.steps for c in s.calls]
              for r in log.runs}
    assert "free_slots" not in called["gears-3"] and "book" in called["gears-3"]
    assert all("free_slots" in tools for name, tools in called.items()
               if "book" in tools and name != "gears-3")


def test_what_a_number_needs_is_a_fact_about_the_log(log):
    def had(runs, verdicts=()):
        return yourlog.needs(runs, verdicts)["can be had"].tolist()

    assert had(log.runs) == ["yes", "yes", "no", "yes", "yes", "yes", "yes", "no", "no"]
    assert had([run("t", Step("a", logprobs=(-0.1,)))]) == ["yes"] * 3 + ["no"] * 6
    good = run("t", Step("a"), success=True, task_id="x")
    assert had([good])[3:7] == ["yes", "no", "no", "no"]
    bad = run("u", Step("a"), success=False, task_id="x", steps_failed=(0,))
    said = [Verdict("u", "j", True), Verdict("t", "j", status="empty")]
    assert had([good, bad], said)[3:] == ["yes", "yes", "no", "yes", "yes", "yes"]
    assert yourlog.needs([good, bad], said)["in this log"].iloc[-1] == "verdicts on 1 of 2 runs"


def test_a_long_run_is_cut_into_stretches_that_keep_its_highest_risk_and_all_its_errors():
    one, _ = laid(long_run(101))
    boxes = yourlog.boxes([one], 20)
    assert len(boxes) == 20 and boxes["failed"].sum() == 1 and boxes["end"].tolist()[-1]
    assert boxes["R"].max() == round(float(one.risks.max()), 4)
    assert boxes["step"].iloc[boxes["R"].argmax()] == one.peak.step == 8
    assert (boxes["first"].iloc[0], boxes["last"].iloc[-1]) == (0, 100)
    assert (boxes["first"].iloc[1:].to_numpy() == boxes["last"].iloc[:-1].to_numpy() + 1).all()


def test_the_line_of_a_run_keeps_every_step_that_a_judge_flags():
    flags = [Verdict("t", "late", True, 998), Verdict("t", "beyond", True, 5_000)]
    points = yourlog.courses(laid(long_run(1_000), verdicts=flags)[0])
    assert points.loc[points["flagged"] != "", ["step", "flagged"]].to_numpy().tolist() == [
        [998, "late"]]
    assert (points["mark"] != "").sum() == 1 and len(points) <= 301


def test_of_a_long_run_the_steps_left_out_are_named():
    listed = yourlog.steps(*laid(long_run(100)), 12)
    shown = [s for s in listed["step"] if " to " not in s]
    gaps = [s.split(" to ") for s in listed["step"] if " to " in s]
    assert len(shown) == 12 and {"0", "99"} <= set(shown)
    assert len(shown) + sum(int(b) - int(a) + 1 for a, b in gaps) == 100


def test_text_of_a_log_is_cut_with_a_count_and_steers_nothing():
    evil = "\u202e\x1b[2J<script>" + "x" * 1_000
    one = run("t", Step(evil, (Call("f"),), (Observation(False, {}, evil),)))
    listed = yourlog.steps(*laid(one))
    says = listed["says"].iloc[0]
    assert says.startswith("\\u202e\\x1b[2J<script>") and says.endswith("[693 more characters]")
    assert listed["came back"].iloc[0].startswith("failed: \\u202e")


def test_a_run_without_a_step_has_a_place_in_the_ranking_and_nothing_to_draw():
    one, done = laid(run("t"), (None, "the run has no step"))
    assert yourlog.said([one], [])["risk"].tolist() == ["undefined: the run has no step"]
    assert [len(f) for f in (yourlog.boxes([one]), yourlog.courses(one),
                             yourlog.steps(one, done))] == [0, 0, 0]


def test_a_reply_that_failed_is_no_verdict_and_a_judge_not_asked_is_said_so():
    said = [Verdict("t", "a", status="too_long"), Verdict("t", "b", False, confidence=1.0)]
    one, _ = laid(run("t", Step("x")), verdicts=said)
    assert yourlog.said([one], ["a", "b", "c"])[["a", "b", "c"]].to_numpy().tolist() == [
        ["no verdict: too_long", "clean (1.00)", "not asked"]]


def test_copies_of_runs_change_neither_the_grade_nor_its_interval_but_new_names_do(log):
    """Exercise 2 of the chapter."""
    found = scoring.scores(log.runs, "rupa_structural")
    copy = found.assign(trajectory_id=found["trajectory_id"] + "'")

    def grade(*parts):
        table = scoring.evaluate(pd.concat(parts), np.random.default_rng(0), draws=2_000)
        return table.set_index("metric").loc["auroc", ["value", "lo", "hi"]].astype(float).round(9)

    once, twice = grade(found), grade(found, copy)
    renamed = grade(found, copy.assign(task_id=copy["task_id"] + "'"))
    assert once.tolist() == twice.tolist() and renamed["value"] == once["value"]
    shrunk = (renamed["hi"] - renamed["lo"]) / (once["hi"] - once["lo"])
    assert 0.6 < shrunk < 0.85


def test_a_reading_that_is_given_up_after_its_file_was_closed_ends_quietly():
    with LOG.open("rb") as file:
        reading = values(file)
        next(reading)
    reading.close()


def test_the_figures_escape_text_of_a_log_and_need_no_box_to_be_drawn():
    evil = "</script><script>alert(1)</script>"
    one, _ = laid(run(evil, Step(evil), task_id=evil), verdicts=[Verdict(evil, evil, True, 0)])
    sentence = "A figure made for a test of it."
    for rows in ([one], []):
        shown = show(yours.ranking(yourlog.boxes(rows)), name="x", alt=sentence)
        assert "<script>alert" not in shown.html
    shown = show(yours.course(yourlog.courses(one)), name="x", alt=sentence)
    assert "<script>alert" not in shown.html
    assert len(shown.spec["layer"]) == 4
