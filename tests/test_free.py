"""The free panel: calls made again, who names a fault, and the constants set again."""

from __future__ import annotations

import msgspec
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tjlib import features, store
from tjlib.__main__ import main
from tjlib.charts import free as charts
from tjlib.desk.testbed import judged_set
from tjlib.judges import asked, repeats
from tjlib.judges.free import FORM, MEMBERS, THRESHOLD, Panel, combined
from tjlib.measure import members
from tjlib.measure.rates import exact_rates
from tjlib.measure.table import table
from tjlib.provenance import Run
from tjlib.studies import freelogs, freeset
from tjlib.trace import Call, InputError, Label, Observation, Step, Trajectory, Verdict


def step(tool="get", value="A-1", *, seen=1, ok=True, thought=""):
    brought = Observation(ok, {"n": seen} if ok else {}, None if ok else "down")
    return Step(thought, (Call(tool, {"id": value}),), (brought,))


def found(*steps, form="exact"):
    """The repeating step and the one it repeats, or None."""
    said = repeats.judge(Trajectory("t", "Get it.", steps, ""), form)
    return None if not said.faulty else (
        said.failure_step, int(said.rationale.split("repeats step ")[1].split()[0]))


# --- repetition --------------------------------------------------------------------------------


def test_the_same_call_with_the_same_answer_is_made_in_vain():
    assert found(step(), step()) == (1, 0)
    assert found(step(), step("list"), step()) == (2, 0)
    assert found(step(), step("list")) is None
    assert found(step(), step(value="B-2")) is None


def test_a_retry_after_a_failure_is_none_and_a_repeat_of_the_retry_is():
    assert found(step(ok=False), step()) is None
    assert found(step(ok=False), step(ok=False), step()) is None
    assert found(step(ok=False), step(), step()) == (2, 1)


def test_a_repeat_that_brings_something_else_is_news():
    assert found(step(seen="delivered"), step(seen="refunded")) is None
    assert found(step(seen="a"), step(seen="b"), step(seen="b")) == (2, 1)


def test_another_spelling_is_a_near_repeat_and_no_exact_one():
    again = step(value="a-1", thought="Look at the thing.")
    first = step(thought="Look at the thing.")
    assert found(first, again) is None and found(first, again, form="near") == (1, 0)


def test_the_window_is_rupas_five_steps():
    between = [step(f"tool{n}", f"v{n}") for n in range(5)]
    assert found(step(), *between[:4], step()) == (5, 0)
    assert found(step(), *between, step()) is None


def test_thoughts_said_again_are_no_calls_made_again():
    said = Step("I look at the order once more.")
    assert repeats.judge(Trajectory("t", "g", (said, said), "")).status == "not_applicable"
    assert found(said, step(), said, step("list")) is None


def test_several_calls_of_a_step_are_the_same_in_any_order():
    both = Step("", (Call("a", {}), Call("b", {})), (Observation(True, {"n": 1}),) * 2)
    turned = Step("", both.calls[::-1], both.observations)
    assert found(both, turned) == (1, 0)
    assert found(both, Step("", both.calls[:1], both.observations[:1])) is None


STEPS = st.lists(st.builds(step, st.sampled_from("ab"), st.sampled_from("xy"),
                           seen=st.integers(0, 1), ok=st.booleans()), max_size=7)


@given(STEPS, STEPS)
def test_what_comes_later_changes_no_earlier_repeat(steps, more):
    early = repeats.repeats(Trajectory("t", "g", tuple(steps), ""))
    late = repeats.repeats(Trajectory("t", "g", (*steps, *more), ""))
    assert [r for r in late if r.step < len(steps)] == early


@given(STEPS)
def test_an_exact_repeat_is_the_same_call_and_an_alarm_the_same_good_answer(steps):
    for r in repeats.repeats(Trajectory("t", "g", tuple(steps), "")):
        one, other = steps[r.earlier], steps[r.step]
        assert r.earlier < r.step <= r.earlier + 5
        if r.exact:
            assert one.calls == other.calls and r.match == 1
            alike = one.observations[0].ok and one.observations == other.observations
            assert alike == (not r.excuse)


# --- the panel ---------------------------------------------------------------------------------


def said(faulty, at=None, kind=None, status="ok"):
    return Verdict("t", "x", faulty, at, kind, status=status, rationale="why", latency_s=0.5)


def test_any_flag_is_the_panels_and_the_first_member_names_it():
    voices = {"reply": said(True, 5, "unsupported_claim"),
              "repetition": said(True, 2, "wrong_tool"), "rules": said(False)}
    whole = combined("free", voices)
    assert (whole.faulty, whole.failure_step, whole.failure_type) == (True, 2, "wrong_tool")
    assert (whole.rationale, whole.latency_s) == ("repetition: why", 1.5)
    assert combined("free", voices | {"rules": said(True, 3, "premature_stop")}).failure_step == 3


def test_who_does_not_bear_on_a_run_has_no_vote_and_if_nobody_does_there_is_no_verdict():
    nobody = said(None, status="not_applicable")
    one = combined("free", {"rules": nobody, "repetition": nobody, "reply": said(False)})
    assert (one.status, one.faulty, one.rationale) == ("ok", False, "reply: why")
    none = combined("free", dict.fromkeys(MEMBERS, nobody))
    assert (none.status, none.faulty) == ("not_applicable", None)
    assert Panel().judge(Trajectory("t", "Sing.", (), "")).status == "not_applicable"


def test_a_panel_of_nobody_or_of_strangers_is_refused():
    for wrong in ([], ["rules", "jury"]):
        with pytest.raises(InputError, match="give one or more of rules, repetition, reply"):
            Panel(wrong)
    assert Panel(["reply", "rules"]).name == "free:rules+reply" and Panel().name == "free"


def test_on_the_judged_set_all_faults_are_flagged_typed_and_placed_and_no_clean_run_is():
    trajectories, labels = judged_set(seed=7)
    panel = Panel()
    for trajectory, label in zip(trajectories, labels, strict=True):
        verdict = panel.judge(trajectory)
        assert (verdict.faulty, verdict.failure_type, verdict.failure_step) == (
            label.faulty, label.failure_type, label.failure_step)
        assert (verdict.prompt_tokens, verdict.confidence) == (0, None)


# --- what it was set on, what it is reported on ------------------------------------------------


@pytest.fixture(scope="module")
def beds():
    return {name: freeset.beds(name) for name in ("set", "other cases and ways")}


def test_the_constants_are_those_that_the_part_they_are_set_on_gives(beds):
    chosen = freeset.choose(beds["set"])
    assert (chosen.form, chosen.threshold) == (FORM, THRESHOLD)
    tried = chosen.tried[["clean", "false_alarms", "caught", "of"]]
    assert tried.to_numpy().tolist() == [[200, 0, 100, 100]] * 4


def test_a_form_that_flags_a_clean_run_is_not_taken(beds):
    near = next(run for run in beds["other cases and ways"]
                if run.way == "looked up, other spelling")
    clean = near._replace(label=Label(near.label.trajectory_id, False))
    runs = [run for run in beds["set"] if run.label.failure_type in (
        "wrong_tool", "unsupported_claim")][:40]
    plain = next(run for run in beds["set"] if run.way == "as scripted")
    assert freeset.choose([plain, clean, *runs]).form == "exact"
    poll = next(run for run in beds["other cases and ways"]
                if run.way == "order polled, not yet changed")
    with pytest.raises(InputError, match="every form of the repetition flags a clean run"):
        freeset.choose([plain, poll, *runs])


def test_what_the_chapter_reports_on_other_ways(beds):
    runs = beds["other cases and ways"]
    t = table([run.label for run in runs], freeset.judged(runs))
    ways = members.by_way(t, {run.label.trajectory_id: run.way for run in runs}, ["free"])
    counts = {(row.type, row.way): (row.k, row.n) for row in ways.itertuples()}
    assert counts["wrong_tool", "handed over early"][0] == 0
    assert counts["skipped_precondition", "policy skipped"][0] == 0
    assert counts["wrong_tool", "all"] == (114, 150)
    assert counts["unsupported_claim", "all"] == (54, 150)
    assert counts["clean", "all"] == (101, 300)
    assert counts["clean", "as scripted"][0] == counts["clean", "any call retried twice"][0] == 0
    rates = exact_rates(t).set_index(["judge", "metric"])["value"]
    assert rates["free", "loud_recall"] == 1.0
    # A panel flags what its members flag, and a member's part is what is lost without it.
    flag = {judge: t.flag[:, t.column(judge)] for judge in t.judges}
    assert (flag["free"] == flag["free:rules"] | flag["free:repetition"] | flag["free:reply"]).all()
    lost = members.added(t, "free", freeset.WITHOUT).set_index(["member", "type"])["k"]
    alone = flag["free:reply"] & ~flag["free:rules"] & ~flag["free:repetition"] & ~t.faulty
    assert lost["reply", "clean"] == alone.sum()


# --- measures ----------------------------------------------------------------------------------


def test_shares_by_way_and_what_a_member_adds_by_hand():
    labels = [Label("a", True, 2, "wrong_tool", True), Label("b", True, 2, "wrong_tool", False),
              Label("c", False, outcome_correct=True)]
    flags = {"both": "abc", "one": "a", "other": "bc"}
    t = table(labels, [Verdict(x.trajectory_id, judge, x.trajectory_id in flagged)
                       for judge, flagged in flags.items() for x in labels])
    rows = members.by_way(t, {"a": "x", "b": "y", "c": "x"}, ["one"])
    assert rows[["type", "way", "survival", "k", "n"]].to_numpy().tolist() == [
        ["wrong_tool", "x", "silent", 1, 1], ["wrong_tool", "y", "loud", 0, 1],
        ["wrong_tool", "all", "both", 1, 2], ["clean", "x", "clean", 0, 1],
        ["clean", "all", "clean", 0, 1]]
    lost = members.added(t, "both", {"other": "one", "one": "other"})
    assert lost[["member", "type", "k", "n"]].to_numpy().tolist() == [
        ["other", "wrong_tool", 1, 2], ["other", "clean", 1, 1],
        ["one", "wrong_tool", 1, 2], ["one", "clean", 0, 1]]


def test_a_member_that_does_not_bear_on_a_run_leaves_the_count():
    labels = [Label("a", False), Label("b", False)]
    t = table(labels, [Verdict("a", "j", True), Verdict("b", "j", status="not_applicable")])
    rows = members.by_way(t, {"a": "x", "b": "y"}, ["j"]).set_index("way")
    assert rows.loc["all", ["k", "n"]].tolist() == [1, 1] and rows.loc["y", "value"] is None
    assert members.wholly(t, "j", {"a": "u", "b": "v"})["n"] == 1


# --- logs --------------------------------------------------------------------------------------


def test_on_the_airline_log_the_repetition_flags_no_success_and_three_failures():
    runs, _ = freelogs.flags("stored")
    mine = runs[runs["set"] == "tau_airline"]
    counts = mine.groupby("failed")["repetition"].agg(["sum", "count"])
    assert counts.loc[False].tolist() == [0, 67] and counts.loc[True].tolist() == [3, 97]
    assert runs["rules"].isna().all() and len(runs) == 200 + 437 + 1444 + 100


@pytest.mark.parametrize("name", ["tau_airline", "tau2", "swe_agent"])
def test_every_flag_on_a_public_log_has_its_equal_calls_in_the_stored_steps(name):
    steps = features.read(name).steps.dropna(subset=["signature"])
    twice = set()
    for who, rows in steps.groupby("trajectory_id"):
        pairs = rows.merge(rows, on="signature")
        if ((pairs["step_y"] > pairs["step_x"]) & (pairs["step_y"] <= pairs["step_x"] + 5)).any():
            twice.add(who)
    held = store.free_logs().query("set == @name")
    flagged = set(held.loc[held["repetition"] == 1, "trajectory_id"])
    assert flagged and flagged <= twice
    # The wider form flags whatever the exact one does.
    assert (held["near"].dropna() >= held["repetition"].dropna()).all()


def test_a_log_at_hand_is_judged_and_says_the_same_as_the_flags_that_are_kept(shared):
    mine, origin = freelogs.flags(str(shared / "traces/samples/tau_bench/gpt-4o-airline.json"))
    kept = freelogs.flags("stored")[0].query("set == 'tau_airline'")
    pd.testing.assert_frame_equal(mine[[*freelogs.FLAGS]], kept[[*freelogs.FLAGS]])
    assert (mine["failed"] == kept["failed"].to_numpy()).all() and "judged on this page" in origin


# --- the command -------------------------------------------------------------------------------


@pytest.fixture
def traces(tmp_path):
    trajectories, _ = judged_set(seed=5, clean=4, per_type=2)
    elsewhere = Trajectory("t-else", "Sing.", (), "")
    store.write(tmp_path / "trajectories.jsonl", [*trajectories, elsewhere])
    return tmp_path / "trajectories.jsonl"


def judged(traces, out, *more):
    return main(["judge", "free", "--traces", str(traces), "--out", str(out), *more])


def test_the_command_judges_resumes_and_records_what_judged(traces, tmp_path, capsys):
    out, again = tmp_path / "v.jsonl", tmp_path / "w.jsonl"
    assert judged(traces, out, "--limit", "5") == judged(traces, out) == judged(traces, again) == 0
    assert "without a judgement: 1 not_applicable" in capsys.readouterr().out
    one, two = ([msgspec.structs.replace(v, latency_s=None) for v in store.read(path, Verdict)]
                for path in (out, again))
    assert one == two and len(one) == 17
    record = next(iter(store.read(tmp_path / "runs.jsonl", Run)))
    assert {v.run_id for v in one} == {record.run_id} and record.judge == "free"
    assert record.options == {"members": list(MEMBERS), "repetition": FORM,
                              "reply": THRESHOLD.to_dict()}
    assert [v.status for v in one if v.trajectory_id == "t-else"] == ["not_applicable"]


@pytest.mark.parametrize("wrong", [
    ["--model", "ollama:x"], ["--clean", "c.jsonl"], ["--order", "paper"],
    ["--procedure", "general"], ["--reference", "r.jsonl"]])
def test_the_panel_takes_none_of_the_other_judges_arguments(traces, tmp_path, wrong, capsys):
    with pytest.raises(SystemExit) as stopped:
        judged(traces, tmp_path / "v.jsonl", *wrong)
    assert stopped.value.code == 2 and capsys.readouterr().err.count("\n") == 1


def test_the_record_changes_with_the_source_that_judges(monkeypatch):
    before = Panel().identity()["prompt_hash"]
    assert before == Panel().identity()["prompt_hash"]
    monkeypatch.setattr(asked.inspect, "getsource", lambda thing: thing.__name__)
    assert Panel().identity()["prompt_hash"] != before


# --- figures -----------------------------------------------------------------------------------


def marks(chart):
    """What each layer or panel draws, as (mark, its row and side encodings)."""
    spec = chart.to_dict()
    layers = spec["layer"] if "layer" in spec else spec["spec"]["layer"]
    return [(x["mark"]["type"], {k: v.get("field") for k, v in x["encoding"].items()
                                 if isinstance(v, dict)}) for x in layers]


def test_a_types_marks_are_joined_from_what_was_set_on_outwards_and_have_intervals():
    rows = pd.DataFrame({"type": "wrong_tool", "bed": ["set", "far"], "rank": [0, 1],
                         "role": "silent", "value": [1.0, 0.5], "lo": [0.9, 0.4],
                         "hi": [1.0, 0.6], "shown": ["1", ".5"]})
    drawn = dict(marks(charts.shrinkage(rows)))
    assert drawn["line"]["order"] == "rank" and drawn["line"]["detail"] == "type"
    assert (drawn["rule"]["x"], drawn["rule"]["x2"]) == ("lo", "hi")
    assert drawn["point"]["shape"] == "bed"


def test_each_kind_of_run_has_a_panel_with_its_own_ways_only():
    rows = pd.DataFrame({"panel": ["wrong_tool", "clean"], "way": ["a", "b"],
                         "role": ["silent", "false alarm"], "value": 0.5, "lo": 0.4, "hi": 0.6,
                         "shown": "", "who": ""})
    spec = charts.ways(rows).to_dict()
    held = [{row["way"] for row in spec["datasets"][panel["data"]["name"]]}
            for panel in spec["vconcat"]]
    assert held == [{"a"}, {"b"}]
    assert [panel["title"]["text"] for panel in spec["vconcat"]] == ["wrong_tool", "clean"]


def test_only_the_ends_that_a_log_has_are_in_the_legend():
    rows = pd.DataFrame({"panel": "reply", "set": "mine", "role": ["outcome unknown"],
                         "value": 0.5, "lo": 0.4, "hi": 0.6, "shown": ""})
    scale = charts.logs(rows).to_dict()["spec"]["layer"][0]["encoding"]["color"]["scale"]
    assert scale == {"domain": ["outcome unknown"], "range": ["#999999"]}
