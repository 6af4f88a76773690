"""Precision at other fault rates: by hand, by counting, and at its edges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from published_table import OUTCOME, SMALL, STEP, published_table
from scipy import stats

from tjlib.measure.prevalence import deployed, f1_at, mixed_recall, ppv
from tjlib.measure.resample import FIXED, clopper_pearson
from tjlib.measure.table import table
from tjlib.measure.verdicts import metrics
from tjlib.trace import InputError, Label, Verdict

shares = st.floats(0, 1)


def curve(judge, rates, t=None, **options):
    rows = deployed(t or published_table(), judge, rates, np.random.default_rng(0), **options)
    return {(r["metric"], r["fault_rate"]): r for r in rows.to_dict("records")}


def test_a_thousand_runs_worked_by_hand():
    # 10 of 1,000 runs are faulty: 8 of them are flagged, and 99 of the 990 clean ones.
    assert ppv(0.8, 0.1, 0.01) == pytest.approx(8 / (8 + 99))
    assert f1_at(0.8, 0.1, 0.01) == pytest.approx(2 * 8 / (10 + 8 + 99))


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_at_the_sets_own_fault_rate_they_are_precision_and_f1(tp, fn, fp, tn):
    if not (tp + fn and fp + tn):
        return
    recall, alarm, rate = tp / (tp + fn), fp / (fp + tn), (tp + fn) / (tp + fn + fp + tn)
    if tp + fp:
        assert ppv(recall, alarm, rate) == pytest.approx(tp / (tp + fp))
    assert f1_at(recall, alarm, rate) == pytest.approx(2 * tp / (2 * tp + fp + fn))


@given(shares, shares, st.lists(shares, min_size=2, max_size=5))
def test_precision_rises_with_the_fault_rate(recall, alarm, rates):
    found = ppv(recall, alarm, np.sort(rates))
    found = found[~np.isnan(found)]
    assert ((found >= 0) & (found <= 1)).all() and (np.diff(found) >= -1e-12).all()


def test_a_judge_that_flags_everything_has_the_fault_rate_as_its_precision():
    rates = np.linspace(0.01, 1, 7)
    assert ppv(1, 1, rates) == pytest.approx(rates)


def test_mixing_weighs_recalls_and_refuses_what_it_cannot():
    assert mixed_recall({"a": 1.0, "b": 0.2}, {"a": 1, "b": 3}) == pytest.approx(0.4)
    assert mixed_recall({"a": 1.0}, {"a": 2, "b": 0}) == 1
    for mix in ({}, {"a": 0}, {"a": 2, "b": -1}):
        with pytest.raises(InputError, match="weights of at least 0"):
            mixed_recall({"a": 1.0, "b": 1.0}, mix)
    with pytest.raises(InputError, match="no recall for 'c'; judged types: a"):
        mixed_recall({"a": 1.0}, {"c": 1})


def test_the_curve_passes_through_the_papers_precision_and_f1():
    found = {(r["judge"], r["metric"]): r["value"]
             for r in metrics(published_table()).to_dict("records")}
    for judge in (OUTCOME, STEP, SMALL):
        rows = curve(judge, [0.75], draws=100)
        assert rows["ppv", 0.75]["value"] == pytest.approx(found[judge, "precision"])
        assert rows["f1", 0.75]["value"] == pytest.approx(found[judge, "f1"])


def test_the_organic_mix_takes_the_recall_of_early_stops_alone():
    # All 13 rule-visible faults of the 60 episodes stopped early (paper section 8).
    row = curve(STEP, [13 / 60], mix={"premature_stop": 1.0}, draws=100)["ppv", 13 / 60]
    assert (row["recall"], row["false_alarm_rate"]) == (48 / 50, 0)


def test_no_false_alarm_seen_still_bounds_precision_by_the_exact_rate():
    # Recall enters nearly fixed (300 faults), so the low end is precision at 0/100's bound.
    row = curve(STEP, [0.01])["ppv", 0.01]
    assert row["value"] == row["hi"] == 1
    assert row["lo"] == pytest.approx(ppv(row["recall"], clopper_pearson(0, 100)[1], 0.01),
                                      abs=0.01)


def verdicts_with(alarms: int, hits: int):
    """A judge that flags some of 100 clean runs and some of 50 faults of one type."""
    labels, verdicts = [], []
    for i in range(150):
        faulty = i >= 100
        labels.append(Label(f"t{i}", faulty, None, "wrong_tool" if faulty else None))
        verdicts.append(Verdict(f"t{i}", "j", i < alarms or 100 <= i < 100 + hits))
    return table(labels, verdicts)


def test_an_inner_rates_band_comes_from_the_exact_bounds_at_every_level():
    # The second definition: the exact bound of a level drawn at random, for each rate.
    rng, ends = np.random.default_rng(9), []
    for _ in range(5000):
        bounds = []
        for k, n in ((48, 50), (33, 100)):
            u = rng.random()
            bounds.append((stats.beta.ppf(u, k, n - k + 1), stats.beta.ppf(u, k + 1, n - k)))
        (recall_lo, recall_hi), (alarm_lo, alarm_hi) = bounds
        ends.append((ppv(recall_lo, alarm_hi, 0.2), ppv(recall_hi, alarm_lo, 0.2)))
    low, high = np.array(ends).T
    row = curve("j", [0.2], verdicts_with(33, 48))["ppv", 0.2]
    assert row["lo"] == pytest.approx(np.percentile(low, 2.5), abs=0.01)
    assert row["hi"] == pytest.approx(np.percentile(high, 97.5), abs=0.01)


def test_one_more_false_alarm_never_raises_the_band():
    bands = [curve("j", [0.05], verdicts_with(alarms, 48))["ppv", 0.05] for alarms in range(6)]
    for end in ("lo", "hi"):
        values = [row[end] for row in bands]
        assert values == sorted(values, reverse=True)


def test_a_fault_rate_of_none_or_all_is_handled():
    rows = curve(STEP, [0.0, 1.0], draws=100)
    assert rows["ppv", 0.0]["value"] is None
    assert rows["ppv", 0.0]["why"] == "undefined: the judge would flag nothing"
    assert rows["f1", 0.0]["why"] == "undefined: there would be no fault"
    assert rows["ppv", 1.0]["value"] == 1
    rows = curve(SMALL, [0.0], draws=100)
    assert rows["ppv", 0.0]["value"] == 0  # it flags clean runs
    assert rows["f1", 0.0]["why"] == "undefined: there would be no fault"


def test_a_rule_gets_a_curve_without_a_band():
    row = curve("programmatic", [0.2], draws=10)["ppv", 0.2]
    assert (row["value"], row["lo"], row["hi"], row["why"]) == (1.0, None, None, FIXED)


@pytest.mark.parametrize(("labels", "why"), [
    ([Label("a", True, None, "wrong_tool")], "undefined: no clean trajectory was judged"),
    ([Label("a", False)], "undefined: no judged fault has a labelled type"),
    ([Label("a", False), Label("b", True)], "undefined: no judged fault has a labelled type")])
def test_a_set_that_lacks_a_side_is_explained(labels, why):
    t = table(labels, [Verdict(x.trajectory_id, "j", True) for x in labels])
    rows = curve("j", [0.1], t, draws=10)
    assert {r["why"] for r in rows.values()} == {why}
    assert {r["value"] for r in rows.values()} == {None}


def test_a_rate_outside_its_range_and_an_unknown_judge_are_refused():
    with pytest.raises(InputError, match="from 0 to 1"):
        curve(STEP, [1.5])
    with pytest.raises(InputError, match="no verdicts by 'nobody'"):
        curve("nobody", [0.5])
    with pytest.raises(InputError, match="no recall for 'typo'"):
        curve(STEP, [0.5], mix={"typo": 1})
