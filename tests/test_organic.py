"""Episodes a model drove: what is counted, what the sequence rule flags, where files come from."""

from __future__ import annotations

import json
from collections import Counter

import pandas as pd
import pytest
from test_figures import contrasts, layers, spec_of

from tjlib import store
from tjlib.charts import organic as charts
from tjlib.desk import oracle, rules
from tjlib.desk.testbed import judged_set
from tjlib.desk.world import STRATA, instances, replay
from tjlib.measure import endings, organic
from tjlib.studies import driven
from tjlib.trace import FAULT_TYPES, Call, InputError, Label, Observation, Step, Trajectory

SCRIPT = ("get_customer", "lookup_order", "get_policy", "check_eligibility", "escalate", "reply")


def run(name: str, *called: str, answer: str = "Done.", refused: int = 0) -> Trajectory:
    steps = tuple(Step("", (Call(tool),), (Observation(i >= refused),))
                  for i, tool in enumerate(called))
    return Trajectory(name, f"goal of {name}", steps, answer)


#: Four episodes: one by the script, one that hands on twice, one that stops, one that replies
#: without acting though no rule of this label was broken.
EPISODES = [
    run("e-1", *SCRIPT), run("e-2", *SCRIPT[:4], "escalate", "escalate", "reply", refused=1),
    run("e-3", "get_customer", answer=" "), run("e-4", "lookup_order", "reply")]
LABELS = [
    Label("e-1", False, outcome_correct=True, stratum="expired"),
    Label("e-2", True, 5, "premature_stop", True, stratum="expired"),
    Label("e-3", True, 0, "premature_stop", False, stratum="already_refunded"),
    Label("e-4", True, None, None, False, stratum="wrong_customer")]


@pytest.fixture(scope="module")
def printed() -> pd.DataFrame:
    return organic.printed(store.published("trajectory_judge_numbers"))


def by(frame: pd.DataFrame, name: str, *columns: str) -> dict:
    columns = columns or ("k", "n")
    return {row[name]: tuple(row[c] for c in columns) for row in frame.to_dict("records")}


def test_four_episodes_are_counted_as_by_hand():
    found = by(organic.count(EPISODES, LABELS, {"goal of e-1": "Done.", "goal of e-2": "Other."}),
               "metric")
    assert found == {
        "episodes": (4, None), "flagged_or_wrong_outcome": (3, 4), "wrong_outcome": (2, 4),
        "silent": (1, 4), "premature_stop": (2, 4), "already_refunded_failed": (1, 1),
        "wrong_customer_failed": (1, 1), "episodes_with_check_eligibility": (2, 4),
        "empty_final_answer": (1, 4), "reply_identical_to_oracle": (1, 2),
        "escalate_calls": (3, None), "failed_tool_calls": (1, None), "max_steps": (7, None)}


def test_a_wrong_outcome_is_a_fault_even_where_the_label_says_no_rule_was_broken():
    assert endings.ending(Label("e", False, outcome_correct=False)) == "loud"


def test_an_unknown_outcome_is_refused_and_not_taken_for_a_right_one():
    with pytest.raises(InputError, match="e-9 does not say whether the outcome is right"):
        endings.ending(Label("e-9", False))


def test_replies_nobody_knows_are_undefined_and_not_zero():
    found = organic.count(EPISODES, LABELS).set_index("metric").loc["reply_identical_to_oracle"]
    assert found["k"] is None and found["why"].startswith("undefined: ")


def test_no_episode_at_all_gives_counts_of_nothing():
    found = by(organic.count([], []), "metric")
    assert found["episodes"] == (0, None) and found["max_steps"] == (0, None)


def test_every_count_of_the_published_table_is_taken_up(printed):
    numbers = store.published("trajectory_judge_numbers")
    denominators = {of for _, of in organic.COUNTS.values()}
    assert set(numbers.loc[numbers["table"] == "organic", "metric"]) == (
        set(organic.COUNTS) | denominators - {""})
    assert by(printed, "metric")["already_refunded_failed"] == (10, 10)


def test_the_released_episodes_give_every_printed_count(shared, printed):
    release, agent = store.released(shared / "released"), store.released_agent(shared / "released")
    replies = {t.goal: t.final_answer for t, label in zip(
        release.trajectories, release.labels, strict=True) if not label.faulty}
    found = organic.beside(printed, organic.count(*agent, replies))
    assert list(found["agrees"]) == ["agrees"] * len(organic.COUNTS)
    spoilt = [agent[0][0], *agent[0][:-1]]
    assert "differs" in set(organic.beside(printed, organic.count(spoilt, agent[1]))["agrees"])


def test_our_rules_flag_the_released_episodes_that_are_labelled_faulty(shared):
    trajectories, labels = store.released_agent(shared / "released")
    for trajectory, label in zip(trajectories, labels, strict=True):
        verdict = rules.judge(trajectory)
        assert (verdict.faulty, verdict.failure_type, verdict.failure_step) == (
            label.faulty, label.failure_type, label.failure_step)


def test_strata_are_counted_by_ending():
    found = {(r["stratum"], r["ending"]): (r["n"], r["of"])
             for r in endings.by_stratum(LABELS).to_dict("records") if r["n"]}
    assert found == {("expired", "no fault seen"): (1, 2), ("expired", "silent"): (1, 2),
                     ("already_refunded", "loud"): (1, 1), ("wrong_customer", "loud"): (1, 1)}


def test_the_printed_counts_settle_all_six_strata_as_the_release_has_them(shared, printed):
    settled = endings.printed_strata(printed, STRATA)
    _, labels = store.released_agent(shared / "released")
    counted = Counter((x.stratum, "no fault seen" if endings.ending(x) == "no fault seen"
                       else "faulty") for x in labels)
    assert {(r.stratum, r.ending): r.n for r in settled.itertuples() if r.n} == counted


def test_where_printed_failures_do_not_add_up_the_other_strata_stay_open(printed):
    more = printed.copy()
    more.loc[more["metric"] == "flagged_or_wrong_outcome", "k"] = 14
    assert set(endings.printed_strata(more, STRATA)["stratum"]) == {
        "wrong_customer", "already_refunded"}
    assert list(endings.printed_mix(more)["type"]) == ["premature_stop"]


def test_the_mix_shares_faulty_episodes_out_and_leaves_what_rules_cannot_see_undefined():
    found = endings.mix(LABELS).set_index("type")
    assert found.loc["premature_stop", ["k", "n"]].tolist() == [2, 3]
    assert found.loc[endings.UNTYPED, ["k", "n"]].tolist() == [1, 3]
    for kind in endings.INVISIBLE:
        assert found.loc[kind, "value"] is None and "no rule sees" in found.loc[kind, "why"]
    assert found["k"].dropna().sum() == 3


def test_the_types_called_invisible_are_those_no_rule_says():
    assert set(FAULT_TYPES) - {kind for _, kind in rules.RULES.values()} == set(endings.INVISIBLE)


def test_a_mix_of_no_faults_is_undefined():
    assert endings.mix(LABELS[:1]).set_index("type").loc["premature_stop", "why"] == (
        "undefined: no episode is faulty")


def test_the_oracle_is_always_on_script_and_one_call_more_or_less_is_off():
    for _, instance in zip(range(60), instances(7), strict=False):
        steps, _ = replay(instance, oracle.calls(instance))
        whole = Trajectory("t", instance.goal, steps, "")
        assert not organic.off_script(whole)
        assert organic.off_script(Trajectory("t", instance.goal, steps[1:], ""))
        assert organic.off_script(Trajectory("t", instance.goal, (*steps, steps[-1]), ""))
        assert organic.off_script(Trajectory("t", instance.goal, steps[::-1], ""))


def test_on_the_testbed_the_sequence_rule_never_errs_on_a_clean_run_and_sees_three_types():
    found = by(organic.script_flags(*judged_set(7)), "group")
    assert found["no fault"] == (0, 100)
    caught = {kind for kind in FAULT_TYPES if found[kind] == (50, 50)}
    assert caught == {"wrong_tool", "skipped_precondition", "premature_stop"}
    assert all(found[kind] == (0, 50) for kind in set(FAULT_TYPES) - caught)


def test_on_the_released_episodes_the_same_rule_flags_most_runs_in_order(shared):
    found = by(organic.script_flags(*store.released_agent(shared / "released")), "group")
    assert found["faulty"] == (13, 13) and found["no fault"] == (27, 47)


def test_the_sequence_rule_is_counted_by_hand_on_four_episodes():
    assert by(organic.script_flags(EPISODES, LABELS), "group") == {
        "no fault": (0, 1), "faulty": (3, 3), "premature_stop": (2, 2), endings.UNTYPED: (1, 1)}


def test_habits_are_counted_by_stratum_and_add_up():
    found = organic.habits(EPISODES, LABELS).set_index("stratum")
    assert found.loc["expired"].tolist() == [2, 2, 2, 0, 0, 0, 2, 3, 2]
    assert found.loc["all"].tolist() == [4, 2, 2, 0, 0, 0, 2, 3, 4]
    sums = found.drop(index="all").drop(columns="scripts").sum()
    assert (sums == found.loc["all"].drop("scripts")).all()


def test_what_the_chapter_says_of_the_released_episodes_in_words_is_so(shared):
    trajectories, labels = store.released_agent(shared / "released")
    handed_on = {"expired", "non_refundable", "wrong_customer", "already_refunded"}
    for trajectory, label in zip(trajectories, labels, strict=True):
        called = organic.tools(trajectory)
        if "check_eligibility" not in called:
            assert label.stratum in handed_on and "issue_refund" not in called
        if endings.ending(label) == "loud":
            assert called[-1] == "reply" and "escalate" not in called
        if endings.ending(label) == "silent":
            assert len(called) == 10 and called[-1] == "escalate" and "reply" not in called
    found = organic.habits(trajectories, labels)
    assert set(found["unasked"]) == {0} and (found["asked"] == found["answered"]).all()
    fine = [Counter(organic.tools(t)) for t, label in zip(trajectories, labels, strict=True)
            if endings.ending(label) == "no fault seen"]
    assert any(x["escalate"] > 1 for x in fine) and any(not x["check_eligibility"] for x in fine)
    assert any(max(n for tool, n in x.items() if tool != "escalate") > 1 for x in fine)


def folder_of(path, *ended):
    """Write the four episodes as tjlib agent does, and lines of more: (id, status, stratum)."""
    store.write(path / "trajectories.jsonl", EPISODES)
    store.write(path / "labels.jsonl", LABELS)
    lines = [*ended, *((t.trajectory_id, "ok") for t in EPISODES)]
    (path / "episodes.jsonl").write_text("".join(
        json.dumps(dict(zip(("trajectory_id", "status", "stratum"), line, strict=False))) + "\n"
        for line in lines), "utf-8")
    return path


def test_episodes_that_broke_off_are_counted_apart(tmp_path):
    found = driven.load(folder_of(tmp_path, ("e-5", "unparsed"), ("e-2", "timeout")))
    assert found.broken_off == {"unparsed": 1}  # e-2 went well when run again
    assert found.lost == {"unknown": 1}


def test_episodes_that_broke_off_are_counted_by_kind_of_case(tmp_path):
    found = driven.load(folder_of(tmp_path, ("e-5", "unparsed", "happy"),
                                  ("e-6", "timeout", "happy"), ("e-7", "unparsed", "expired")))
    assert found.broken_off == {"unparsed": 2, "timeout": 1}
    assert found.lost == {"happy": 2, "expired": 1}


def test_runs_that_no_model_is_known_to_have_driven_are_no_episodes(tmp_path):
    (folder_of(tmp_path) / "episodes.jsonl").unlink()
    with pytest.raises(InputError, match=r"no episodes.jsonl in it, so nothing says that a model"):
        driven.load(tmp_path)


@pytest.mark.parametrize(("name", "edit", "odd"), [
    ("episodes.jsonl", lambda lines: lines[:-1], "e-4"),
    ("episodes.jsonl", lambda lines: [*lines, lines[1]], "e-2"),
    ("episodes.jsonl", lambda lines: [*lines[:-1], lines[-1][:9]], "e-4"),
    ("trajectories.jsonl", lambda lines: [*lines, lines[0]], "e-1"),
    ("trajectories.jsonl", lambda lines: lines[1:], "e-1"),
], ids=["an episode lost", "an episode twice", "a torn line", "a run twice", "a run lost"])
def test_files_that_do_not_belong_together_are_refused(tmp_path, name, edit, odd):
    path = folder_of(tmp_path) / name
    if name == "trajectories.jsonl":
        store.write(tmp_path / "labels.jsonl", [x for x in LABELS if x.trajectory_id != odd]
                    if len(edit([1, 2, 3, 4])) < 4 else LABELS)
    path.write_text("".join(edit(path.read_text("utf-8").splitlines(keepends=True))), "utf-8")
    with pytest.raises(InputError, match=f"{odd} is not once in trajectories.jsonl and once in"):
        driven.load(tmp_path)


def test_a_question_the_desk_refuses_is_asked_and_not_answered():
    runs = [run("q-1", "check_eligibility", "issue_refund", "reply", refused=2),
            run("q-2", "check_eligibility", "issue_refund", "reply", refused=1),
            run("q-3", "check_eligibility", "issue_refund", "reply"), run("q-4", "escalate")]
    labels = [Label(t.trajectory_id, False, outcome_correct=True, stratum="happy") for t in runs]
    found = organic.habits(runs, labels).set_index("stratum").loc["happy"]
    assert found[["asked", "answered", "tried", "paid"]].tolist() == [3, 1, 3, 2]
    assert by(organic.answers(runs, 1), "metric") == {
        "eligibility_answered": (1, 4), "calls": (10, None), "stuck": (1, 4)}


def test_every_answer_counted_has_a_name_in_the_table():
    assert list(organic.answers([], 10)["metric"]) == list(organic.ANSWERS)


def test_an_episode_is_stuck_only_if_its_steps_are_used_up_and_nobody_was_replied_to():
    long = run("s-1", *["escalate"] * 3)
    assert endings.stuck(long, 3) and not endings.stuck(long, 4)
    assert not endings.stuck(run("s-2", "escalate", "escalate", "reply"), 3)


def test_first_breaks_tell_a_number_torn_from_the_goal_from_one_made_up():
    goal = "Customer a@b.example has asked for a refund on order ORD-21556. Verify."

    def asks(name: str, *orders: str) -> Trajectory:
        return Trajectory(name, goal, tuple(
            Step("", (Call("lookup_order", {"order_id": x}),), (Observation(False),))
            for x in orders), "")

    runs = [asks("f-1", "21556"), asks("f-2", "1234567890", "21556"), asks("f-3", "ORD-21556"),
            asks("f-4", "ORD-21556", "215"), run("f-5", "escalate", "reply")]
    kind = "hallucinated_argument"
    labels = [Label("f-1", True, 0, kind, False), Label("f-2", True, 0, kind, False),
              Label("f-3", True, 0, "premature_stop", False), Label("f-4", True, 1, kind, True),
              Label("f-5", True, None, None, False)]
    found = endings.first_breaks(runs, labels, 2).set_index("type")
    columns = ["n", "at_once", "stuck", "torn"]
    assert found.loc[kind, columns].tolist() == [3, 2, 2, 2]
    assert found.loc["premature_stop", columns].tolist() == [1, 1, 0, 0]
    assert found.loc[endings.UNTYPED, columns].tolist() == [1, 0, 0, 0]
    clean = [Label("f-1", False, outcome_correct=True)]
    assert endings.first_breaks(runs[:1], clean, 2).empty


def test_a_folder_whose_episodes_all_broke_off_says_so(tmp_path):
    (tmp_path / "episodes.jsonl").write_text(
        '{"trajectory_id": "e-1", "status": "unparsed"}\n', "utf-8")
    with pytest.raises(InputError, match=r"no episode to count, all broke off \(1 unparsed\)"):
        driven.load(tmp_path)


def test_a_refund_is_unchecked_if_the_check_comes_after_it_or_never():
    called = [("issue_refund",), ("issue_refund", "check_eligibility"),
              ("check_eligibility", "issue_refund"), ("check_eligibility",)]
    runs = [run(f"u-{i}", *each) for i, each in enumerate(called)]
    labels = [Label(t.trajectory_id, False, outcome_correct=True, stratum="happy") for t in runs]
    found = organic.habits(runs, labels).set_index("stratum").loc["happy"]
    assert found[["asked", "tried", "unasked"]].tolist() == [3, 3, 2]


def test_a_folder_gives_trajectories_and_labels_in_the_same_order(tmp_path):
    store.write(folder_of(tmp_path) / "labels.jsonl", LABELS[::-1])
    found = driven.load(tmp_path)
    assert [t.trajectory_id for t in found.trajectories] == [x.trajectory_id for x in found.labels]
    assert found.origin == f"{tmp_path} (no run record)"


def test_what_is_missing_is_said_in_one_line(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="there is no such folder; give released, recorded"):
        driven.load(tmp_path / "nowhere")
    (tmp_path / "episodes.jsonl").write_text(
        '{"trajectory_id": "e-1", "status": "ok"}\n', "utf-8")
    with pytest.raises(InputError, match=r"no trajectories.jsonl and no labels.jsonl in it; run:"):
        driven.load(tmp_path)
    store.write(folder_of(tmp_path) / "labels.jsonl", LABELS[:3])
    with pytest.raises(InputError, match=r"labels.jsonl: no label for e-4; run: tjlib agent"):
        driven.load(tmp_path)
    monkeypatch.setattr(store, "data_folder", lambda name: tmp_path / name)
    with pytest.raises(InputError, match="no agent episodes are recorded here") as caught:
        driven.load("recorded")
    assert "\n" not in str(caught.value)


def test_the_released_episodes_say_where_they_come_from(shared, monkeypatch):
    monkeypatch.setenv("TJLIB_RELEASED", str(shared / "released"))
    found = driven.load("released")
    assert len(found.trajectories) == 60 and "at 4a60c59" in found.origin


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_counts_in_the_strip_can_be_read_over_their_boxes(scheme):
    cells = endings.by_stratum(LABELS).assign(panel="four")
    found = contrasts(charts.strip(cells), scheme)
    assert len(found) == 9 and min(found)[0] >= 4.5


def test_each_panel_of_the_strip_shows_the_endings_its_source_tells_apart(printed):
    cells = pd.concat([endings.printed_strata(printed, STRATA).assign(panel="printed"),
                       endings.by_stratum(LABELS).assign(panel="four")])
    panels = spec_of(charts.strip(cells))["concat"]
    assert [layers(panel)[0]["encoding"]["x"]["sort"] for panel in panels] == [
        ["no fault seen", "faulty"], list(endings.ENDINGS)]


def test_a_mix_may_have_any_name_in_the_curves_legend():
    curves = pd.DataFrame({"judge": "j", "faults": ["as in 'this' \"set\""] * 2,
                           "fault_rate": [0.1, 1.0], "value": [0.5, 1.0], "lo": [0.4, 1.0],
                           "hi": [0.6, 1.0]})
    spans = pd.DataFrame([{"judge": "j", "where": "here", "lo": 0.1, "hi": 0.3}])
    marks = curves.head(1).assign(where="yours", shown="0.5")
    assert spec_of(charts.ppv(curves, spans, marks))["facet"]["field"] == "judge"


def test_the_readers_own_rate_is_a_triangle_whatever_stands_beside_it():
    curves = pd.DataFrame({"judge": "j", "faults": "f", "fault_rate": [0.1], "value": [0.5],
                           "lo": [0.4], "hi": [0.6]})
    spans = pd.DataFrame([{"judge": "j", "where": "here", "lo": 0.1, "hi": 0.3}])
    for places in (["yours"], ["paper", "yours"], ["paper", "ours", "yours"]):
        marks = pd.concat([curves.assign(where=place, shown="") for place in places])
        shapes = [unit["encoding"]["shape"]["scale"] for unit in layers(spec_of(
            charts.ppv(curves, spans, marks))) if "shape" in unit["encoding"]]
        assert dict(zip(shapes[0]["domain"], shapes[0]["range"], strict=True))["yours"] == (
            "triangle-up")


def test_a_row_of_runs_there_are_none_of_has_words_and_no_mark():
    rows = pd.DataFrame({"panel": "four", "label": ["faulty", "no fault seen"],
                         "value": [1.0, None], "lo": [0.4, None], "hi": [1.0, None],
                         "shown": ["1.00", "no such run"], "note": ["", "no such run"]})
    marks = {unit["mark"]["type"]: unit for unit in layers(spec_of(charts.flagged(rows)))}
    assert marks["text"]["transform"] == [{"filter": "datum.note"}]
    assert marks["point"]["transform"] == [{"filter": "isValid(datum.value)"}]


def test_a_type_no_rule_sees_has_words_and_no_mark():
    rows = endings.mix(LABELS).assign(
        panel="four", injected=0.2, published=None, shown="", note="").astype(
        {"value": float, "lo": float, "hi": float, "published": float})
    rows.loc[~rows["visible"].astype(bool), "note"] = "no rule sees it"
    marks = {unit["mark"]["type"]: unit for unit in layers(spec_of(charts.mix(rows)))}
    assert marks["text"]["transform"] == [{"filter": "datum.note"}]
    assert set(rows.loc[rows["value"].isna(), "type"]) == set(endings.INVISIBLE)
