"""Every metric by hand on ten rows, by scikit-learn, and under rearrangement."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_loop import rows_of, score
from published_table import OUTCOME, SMALL, STEP, published, published_table
from sklearn.metrics import brier_score_loss, f1_score, precision_score, recall_score

from tjlib.measure.intervals import intervals
from tjlib.measure.table import table
from tjlib.measure.verdicts import COST, METRICS, WHY_UNDEFINED, floors, metrics
from tjlib.trace import FAULT_TYPES, FLOORS, InputError, Label, Verdict

# Ten rows: three clean, four silent, three loud.
TEN = [
    # label                                            flag   step  type              confidence
    (Label("t0", False),                              (False, None, None, 0.9)),
    (Label("t1", False),                              (False, None, None, 0.7)),
    (Label("t2", False),                              (True, 1, "wrong_tool", 0.8)),
    (Label("t3", True, 2, "wrong_tool", True),        (True, 2, "wrong_tool", 0.9)),
    (Label("t4", True, 2, "wrong_tool", True),        (True, 3, "premature_stop", 0.9)),
    (Label("t5", True, 5, "unsupported_claim", True), (False, None, None, 0.95)),
    (Label("t6", True, 5, "unsupported_claim", True), (True, None, None, 0.6)),
    (Label("t7", True, 3, "premature_stop", False),   (True, 3, "premature_stop", 1.0)),
    (Label("t8", True, 3, "premature_stop", False),   (True, 0, "wrong_tool", 0.7)),
    (Label("t9", True, 3, "premature_stop", False),   (False, None, None, 0.5)),
]
TEN_VERDICTS = [Verdict(label.trajectory_id, "j", *said, latency_s=float(i), prompt_tokens=10)
                for i, (label, said) in enumerate(TEN)]
TEN_LABELS = [label for label, _ in TEN]


def values(t, judge="j", of=metrics) -> dict:
    rows = of(t)
    return {r["metric"]: r for r in rows[rows["judge"] == judge].to_dict("records")}


def test_every_metric_of_the_ten_rows_is_as_worked_by_hand():
    found = {m: r["value"] for m, r in values(table(TEN_LABELS, TEN_VERDICTS)).items()}
    by_hand = {
        "n_flagged": 6,                                     # t2 t3 t4 t6 t7 t8
        "precision": 5 / 6, "recall": 5 / 7, "f1": 10 / 13,
        "silent_recall": 3 / 4, "loud_recall": 2 / 3, "loud_minus_silent": 2 / 3 - 3 / 4,
        "false_alarm_rate": 1 / 3,
        "step_exact": 2 / 4,                                # t3 t4 t7 t8 carry both steps
        "step_within_one": 3 / 4,
        "step_exact_over_detected_faults": 2 / 5,           # and t6 flagged without a step
        "step_exact_over_all_faults": 2 / 7,
        # wrong_tool: 1 named of 2 true, 2 claimed; stop: 1 of 3, 2 claimed; claim: 0 of 2.
        "type_macro_f1": (2 * 1 / (2 + 2) + 2 * 1 / (3 + 2) + 0) / 3,
        "recall|wrong_tool": 1, "recall|unsupported_claim": 1 / 2, "recall|premature_stop": 2 / 3,
        # Bins .5: t9 wrong; .6: t6 right; .7: t1 t8 right; .8: t2 wrong; .9 and 1: t0 t3 t4 t7
        # right, t5 wrong.
        "ece": (0.5 + 0.4 + (2 - 1.4) + 0.8 + abs(4 - (0.9 * 3 + 0.95 + 1.0))) / 10,
        "brier": (0.1**2 * 3 + 0.3**2 * 2 + 0.8**2 + 0.95**2 + 0.4**2 + 0 + 0.5**2) / 10,
        "latency_s_mean": 4.5, "prompt_tokens_mean": 10, "coverage": 1,
    }
    undefined = {"recall|hallucinated_argument", "recall|skipped_precondition",
                 "recall|ignored_observation", "completion_tokens_mean"}
    assert set(by_hand) | undefined == set(METRICS)
    for metric, value in by_hand.items():
        assert found[metric] == pytest.approx(value, abs=1e-12), metric
    assert {m for m, value in found.items() if value is None} == undefined


def test_conditional_denominators_are_reported():
    rows = values(table(TEN_LABELS, TEN_VERDICTS))
    assert (rows["step_exact"]["k"], rows["step_exact"]["n"]) == (2, 4)
    assert (rows["precision"]["k"], rows["precision"]["n"]) == (5, 6)
    assert rows["f1"]["n"] is None  # a score, not k out of n


@pytest.mark.parametrize("judge", [OUTCOME, STEP, SMALL])
def test_scikit_learn_agrees(judge):
    t = published_table()
    j, found = t.column(judge), values(t, judge)
    flag, kinds = t.flag[:, j], np.where(t.kind[:, j] >= 0, t.kind[:, j], len(FAULT_TYPES))
    faults = t.faulty
    referee = {
        "precision": precision_score(t.faulty, flag), "recall": recall_score(t.faulty, flag),
        "f1": f1_score(t.faulty, flag),
        "brier": brier_score_loss(flag == t.faulty, t.confidence[:, j]),
        "type_macro_f1": f1_score(t.true_kind[faults], kinds[faults], average="macro",
                                  labels=range(len(FAULT_TYPES)), zero_division=0),
    }
    for metric, value in referee.items():
        assert found[metric]["value"] == pytest.approx(value, abs=1e-12), metric


def test_every_printed_figure_of_the_paper_comes_out():
    numbers = published("trajectory_judge_numbers")
    numbers = numbers[numbers["table"].isin(["main", "per_type", "appE"])]
    found = {(r["judge"], r["metric"]): r for r in metrics(published_table()).to_dict("records")}
    assert len(numbers) > 60
    for row in numbers.itertuples():
        text = repr(row.published)
        # The paper prints three decimals, save pooled recall (two) and counts (none).
        half = 0.005 if row.metric == "recall" or row.table == "per_type" else 0.0005
        mine = found[row.subject, row.metric]
        assert abs(mine["value"] - row.published) <= half + 1e-9, (row.subject, row.metric, text)
        if row.metric.startswith("step_") or row.metric == "precision":
            assert mine["n"] == row.n


records = st.lists(st.tuples(
    st.booleans(), st.sampled_from([None, *FAULT_TYPES]), st.sampled_from([None, 0, 1, 2, 5]),
    st.sampled_from([True, False, None]),
    st.sampled_from(["flag", "clean", "unparsed", "unasked"]),
    st.sampled_from([None, *FAULT_TYPES]), st.sampled_from([None, 0, 1, 2]),
    st.sampled_from([None, 0.5, 2 / 3, 0.7, 0.9, 1.0])), min_size=1, max_size=25)


def build(rows):
    labels, verdicts = [], []
    for i, (faulty, kind, at, outcome, reply, said, step, confidence) in enumerate(rows):
        labels.append(Label(f"t{i}", faulty, at if faulty else None, kind if faulty else None,
                            outcome))
        flag = reply == "flag"
        if reply in ("flag", "clean"):
            verdicts.append(Verdict(f"t{i}", "j", flag, step if flag else None,
                                    said if flag else None, confidence))
        elif reply == "unparsed":
            verdicts.append(Verdict(f"t{i}", "j", status="unparsed"))
        verdicts.append(Verdict(f"t{i}", "other", not flag, confidence=0.8))
    return labels, verdicts


@given(records)
def test_a_row_by_row_definition_agrees_on_anything(rows):
    labels, verdicts = build(rows)
    found, rows = metrics(table(labels, verdicts)), rows_of(labels, verdicts)
    for r in found.to_dict("records"):
        wanted = score(rows, r["judge"])[r["metric"]]
        assert r["value"] == (None if wanted is None else pytest.approx(wanted, abs=1e-12)), r


@given(records, st.integers(0, 99))
def test_the_order_of_labels_and_verdicts_changes_nothing(rows, seed):
    labels, verdicts = build(rows)
    shuffle = random.Random(str(seed)).shuffle
    before = metrics(table(labels, verdicts)).set_index(["judge", "metric"])
    shuffle(labels)
    shuffle(verdicts)
    after = metrics(table(labels, verdicts)).set_index(["judge", "metric"]).loc[before.index]
    assert after["why"].tolist() == before["why"].tolist()
    for old, new in zip(before["value"], after["value"], strict=True):
        assert new == (None if old is None else pytest.approx(old, abs=1e-12))


@given(records)
def test_swapping_two_judges_names_swaps_their_rows(rows):
    labels, verdicts = build(rows)
    other = {"j": "other", "other": "j"}
    renamed = [Verdict(v.trajectory_id, other[v.judge], v.faulty, v.failure_step, v.failure_type,
                       v.confidence, v.status) for v in verdicts]
    before, after = table(labels, verdicts), table(labels, renamed)
    for judge in before.judges:
        old = values(before, judge)
        new = values(after, other[judge])
        assert {m: r["value"] for m, r in old.items()} == {m: r["value"] for m, r in new.items()}


@given(records, st.permutations(FAULT_TYPES))
def test_renaming_the_types_renames_their_recalls_and_keeps_the_rest(rows, names):
    other = dict(zip(FAULT_TYPES, names, strict=True)) | {None: None}
    before = values(table(*build(rows))) if any(r[4] != "unasked" for r in rows) else {}
    after = values(table(*build([(r[0], other[r[1]], *r[2:5], other[r[5]], *r[6:])
                                 for r in rows]))) if before else {}
    for metric, row in before.items():
        kind = metric.removeprefix("recall|")
        new = after[f"recall|{other[kind]}" if kind in other else metric]["value"]
        assert new == (None if row["value"] is None else pytest.approx(row["value"], abs=1e-12))


def test_an_unparsed_reply_counts_clean_at_a_half_and_lowers_coverage():
    labels = [Label("a", True, 0, "wrong_tool", True), Label("b", False)]
    rows = values(table(labels, [Verdict("a", "j", status="timeout"), Verdict("b", "j", False)]))
    assert rows["recall"]["value"] == 0
    assert rows["brier"]["value"] == 0.25  # b states nothing, a states .5
    assert rows["coverage"]["value"] == 0.5


@pytest.mark.parametrize(("readable", "why"), [
    (0, "undefined: no reply could be read"),
    (4, "undefined: only 4 of 10 replies could be read"), (5, None), (10, None),
])
def test_a_judge_hardly_any_of_whose_replies_could_be_read_is_not_scored(readable, why):
    said = [v if i < readable else Verdict(v.trajectory_id, "j", status="unparsed", latency_s=1.0)
            for i, v in enumerate(TEN_VERDICTS)]
    other = [Verdict(label.trajectory_id, "k", True) for label in TEN_LABELS]
    t = table(TEN_LABELS, [*said, *other])
    rows = values(t)
    assert rows["coverage"]["value"] == readable / 10
    assert rows["latency_s_mean"]["value"] is not None  # a lost reply was paid for
    deltas = intervals(t, np.random.default_rng(0), draws=100)
    deltas = deltas[deltas["judge"] == "k - j"].set_index("metric")
    for metric in set(METRICS) - set(COST) - {"coverage"}:
        if why:
            assert (rows[metric]["value"], rows[metric]["why"]) == (None, why), metric
            assert deltas.loc[metric, ["value", "lo", "hi"]].tolist() == [None] * 3, metric
            assert deltas.loc[metric, "why"] == "undefined: one of the two is undefined"
    if not why:  # the paper's rule: clean at a half
        flagged = sum(v.faulty for v in TEN_VERDICTS[:readable])
        assert rows["n_flagged"]["value"] == flagged and rows["recall"]["value"] is not None


def test_a_judge_that_is_not_scored_leaves_the_others_as_they_were():
    dead = [Verdict(label.trajectory_id, "dead", status="error") for label in TEN_LABELS]
    alone, beside = (metrics(table(TEN_LABELS, said))
                     for said in (TEN_VERDICTS, [*dead, *TEN_VERDICTS]))
    assert beside[beside["judge"] == "j"].to_dict("records") == alone.to_dict("records")


@pytest.mark.parametrize("judge", ["j", "always faulty", "always clean", "prevalence coin"])
def test_a_judge_that_names_no_step_is_not_wrong_about_steps(judge):
    t = table(TEN_LABELS, [Verdict(label.trajectory_id, "j", True) for label in TEN_LABELS])
    rows = values(t, judge, metrics if judge == "j" else floors)
    for metric in ("step_exact", "step_within_one", "step_exact_over_detected_faults",
                   "step_exact_over_all_faults"):
        assert rows[metric]["value"] is None
        assert rows[metric]["why"] == "undefined: the judge names no step"


def test_f1_is_undefined_where_nothing_is_faulty():
    labels = [Label(name, False) for name in "ab"]
    t = table(labels, [Verdict("a", "j", True), Verdict("b", "j", False)])
    for row in (values(t)["f1"], values(t, "always faulty", floors)["f1"]):
        assert (row["value"], row["why"]) == (None, "undefined: no faulty trajectory was judged")
    assert values(t)["false_alarm_rate"]["value"] == 0.5


@pytest.mark.parametrize("name", FLOORS)
def test_a_judge_with_the_name_of_a_floor_is_refused(name):
    with pytest.raises(InputError, match=f"a judge is called '{name}', as a floor is; rename"):
        floors(table(TEN_LABELS, [Verdict("t0", name, True)]))


def test_a_trajectory_the_judge_was_not_asked_about_leaves_its_denominators():
    labels = [Label("a", True), Label("b", True), Label("c", False)]
    rows = values(table(labels, [Verdict("a", "j", True)]))
    assert (rows["recall"]["k"], rows["recall"]["n"]) == (1, 1)
    assert rows["false_alarm_rate"]["value"] is None


def test_undefined_is_none_with_the_reason_and_never_zero():
    rows = values(table([Label("a", False)], [Verdict("a", "j", False)]))
    undefined = {m for m, r in rows.items() if r["value"] is None}
    assert undefined == set(METRICS) - {"n_flagged", "false_alarm_rate", "coverage"}
    assert all(rows[m]["why"] == f"undefined: {WHY_UNDEFINED[m]}" for m in undefined)
    assert all(not r["why"] for m, r in rows.items() if m not in undefined)
    assert all(WHY_UNDEFINED[m] for m in undefined)


def test_costs_of_the_table_stand_in_where_verdicts_record_none():
    rows, cost = values(published_table(), STEP), published("cost").set_index("judge")
    for metric in COST:
        assert (rows[metric]["value"], rows[metric]["n"]) == (cost.loc[STEP, metric], 400)


def test_the_floors_are_as_worked_by_hand():
    t = table(TEN_LABELS, TEN_VERDICTS)
    always, never, coin = (values(t, f"always {x}", floors) if x != "coin"
                           else values(t, "prevalence coin", floors)
                           for x in ("faulty", "clean", "coin"))
    assert always["f1"]["value"] == pytest.approx(14 / 17)  # precision .7, recall 1
    assert always["false_alarm_rate"]["value"] == 1
    assert (never["f1"]["value"], never["precision"]["value"]) == (0, None)
    for metric in ("precision", "recall", "f1", "silent_recall", "false_alarm_rate"):
        assert coin[metric]["value"] == pytest.approx(0.7)
    assert all(floor["ece"]["value"] is None and floor["latency_s_mean"]["value"] == 0
               for floor in (always, never, coin))


def test_the_small_judges_f1_is_below_the_always_faulty_floor():
    t = published_table()
    assert values(t, SMALL)["f1"]["value"] < values(t, "always faulty", floors)["f1"]["value"]
