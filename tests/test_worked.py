"""The worked example: read row by row, counted row by row, and equal to the weighted sums."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tjlib.measure.table import table
from tjlib.measure.verdicts import metrics
from tjlib.measure.worked import counted, parse, replicates, typed
from tjlib.trace import FAULT_TYPES, STATUSES, InputError

TEN = [
    "clean | clean 0.9",
    "clean | clean 0.7",
    "clean | faulty skipped_precondition 3 0.6",
    "wrong_tool silent 2 | faulty wrong_tool 2 0.9",
    "wrong_tool silent 2 | faulty hallucinated_argument 2 0.8",
    "wrong_tool silent 2 | clean 0.9",
    "unsupported_claim silent 5 | clean 0.95",
    "premature_stop loud 3 | faulty premature_stop 3 0.95",
    "premature_stop loud 3 | faulty unsupported_claim 4 0.9",
    "premature_stop loud 3 | faulty - - 0.75",
]

kinds = st.sampled_from([*FAULT_TYPES, "-"])
steps = st.sampled_from(["0", "1", "2", "5", "-"])
stated = st.sampled_from(["0.5", "0.61", "0.9", "1", "-"])
survivals = st.sampled_from(["silent", "loud"])
truths = st.just("clean") | st.tuples(kinds, survivals, steps).map(" ".join)
sayings = (
    st.sampled_from(STATUSES[1:])
    | stated.map("clean {}".format)
    | st.tuples(st.just("faulty"), kinds, steps, stated).map(" ".join)
)
any_rows = st.lists(st.tuples(truths, sayings).map(" | ".join), min_size=1, max_size=12)


def test_the_ten_rows_give_the_fractions_worked_out_on_paper():
    found = counted(*parse(TEN)).set_index("metric")
    assert found.loc[:, ["k", "n"]].apply(tuple, axis=1).to_dict() == {
        "coverage": (10, 10), "precision": (5, 6), "recall": (5, 7), "f1": (10, 13),
        "silent_recall": (2, 4), "loud_recall": (3, 3), "false_alarm_rate": (1, 3),
        "step_exact": (3, 4), "step_within_one": (4, 4),
        "step_exact_over_detected_faults": (3, 5), "step_exact_over_all_faults": (3, 7),
    }
    assert found.loc["step_exact", "top"] == (4, 5, 8)
    assert found.loc["step_exact", "bottom"] == (4, 5, 8, 9)


def test_types_nobody_holds_stay_out_of_the_mean_and_wrong_names_cost():
    found = typed(*parse(TEN)).set_index("type")["f1"]
    assert found.to_dict() == {"wrong_tool": 0.5, "hallucinated_argument": None,
                               "premature_stop": 0.5, "unsupported_claim": 0.0}


@given(any_rows)
def test_counting_rows_and_weighing_sums_give_the_same_scores(rows):
    labels, verdicts = parse(rows)
    sums = metrics(table(labels, verdicts)).set_index("metric")
    for row in counted(labels, verdicts).to_dict("records"):
        assert row["value"] == pytest.approx(sums.loc[row["metric"], "value"]), row["metric"]
        assert row["why"] == sums.loc[row["metric"], "why"]
        assert set(row["top"]) <= set(row["bottom"])
    mean = typed(labels, verdicts)["f1"].dropna()
    assert sums.loc["type_macro_f1", "value"] == (
        pytest.approx(mean.mean()) if len(mean) else None)


@pytest.mark.parametrize(("row", "says"), [
    ("wrong_tol silent 2 | clean 0.9", "unknown failure type 'wrong_tol'; use one of wrong_tool,"),
    ("wrong_tool quiet 2 | clean 0.9", "a fault is silent or loud, not 'quiet'"),
    ("wrong_tool silent two | clean 0.9", "the step is a number, not 'two'"),
    ("wrong_tool silent -1 | clean 0.9", "below 0"),
    ("wrong_tool silent | clean 0.9", "what is true takes 1 or 3 words, not 2"),
    ("clean clean 0.9", "one | stands between"),
    ("clean | faulty | 0.9", "one | stands between"),
    ("clean | clean 1.5", "confidence 1.5 is outside [0, 1]"),
    ("clean | clean nan", "confidence nan is outside [0, 1]"),
    ("clean | clean sure", "the confidence is a number, not 'sure'"),
    ("clean | faulty wrong_tool 0.9", "cannot read the verdict 'faulty wrong_tool 0.9'"),
    ("clean | ok", "cannot read the verdict 'ok'"),
    ("clean |", "cannot read the verdict ''"),
    ("\n | clean 0.9", "what is true takes 1 or 3 words, not 0"),
])
def test_a_row_that_cannot_be_read_is_named_in_one_line(row, says):
    with pytest.raises(InputError) as caught:
        parse([TEN[0], row])
    message = str(caught.value)
    assert message.startswith(f"row 2 ({row!r}): ") and says in message
    assert "write it as TYPE silent|loud STEP" in message and "\n" not in message


def test_no_rows_are_refused():
    with pytest.raises(InputError, match="no rows"):
        parse([])


def test_a_failed_reply_votes_clean_and_is_not_covered():
    found = counted(*parse([
        "wrong_tool loud 1 | unparsed", "clean | timeout", *["clean | clean 0.9"] * 2,
    ])).set_index("metric")
    assert found["value"][["coverage", "recall", "false_alarm_rate"]].tolist() == [0.5, 0, 0]


def test_a_judge_hardly_read_is_not_scored():
    found = counted(*parse(["wrong_tool loud 1 | faulty wrong_tool 1 1", "clean | timeout",
                            "clean | error"])).set_index("metric")
    assert found["value"].pop("coverage") == pytest.approx(1 / 3)
    rest = found.drop(index="coverage")
    assert set(rest["value"]) == {None} and set(rest["n"]) == {0}
    assert set(rest["why"]) == {"undefined: only 1 of 3 replies could be read"}


@pytest.mark.parametrize("metric", ["f1", "precision", "type_macro_f1", "ece", "step_exact"])
def test_a_replicate_scores_as_the_rows_it_drew(metric):
    labels, verdicts = parse(TEN)
    t = table(labels, verdicts)
    weights, values = replicates(t, "judge", metric, np.random.default_rng(3), 25)
    for drawn, value in zip(weights, values, strict=True):
        rows = [TEN[i] for i in np.repeat(np.arange(10), drawn)]
        assert sorted(r.split("|")[0] for r in rows) == sorted(r.split("|")[0] for r in TEN)
        again = metrics(table(*parse(rows))).set_index("metric").loc[metric, "value"]
        assert value == pytest.approx(again)


def test_a_replicate_that_defines_nothing_is_nan_and_an_unknown_metric_is_refused():
    t = table(*parse(["clean | clean 0.9", "clean | faulty - - 0.9"]))
    weights, values = replicates(t, "judge", "precision", np.random.default_rng(0), 60)
    assert (np.isnan(values) == (weights[:, 1] == 0)).all() and np.isnan(values).any()
    with pytest.raises(InputError, match="no metric 'latency_s_mean' to resample"):
        replicates(t, "judge", "latency_s_mean", np.random.default_rng(0), 2)
