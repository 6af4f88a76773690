"""Methods compared on the same runs: what is drawn, what is left out, what is said of it."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tjlib.measure import compare as module
from tjlib.measure import ranking
from tjlib.measure.compare import CORRELATION, compare, rank_correlation

RNG = np.random.default_rng
N = 60
GEN = RNG(5)
TASKS = np.repeat(np.arange(15), 4)
FAILED = GEN.random(N) < 0.45
FRAME = pd.DataFrame({"good": FAILED + GEN.normal(size=N), "noise": GEN.normal(size=N)})
LENGTH = GEN.integers(3, 9, N)


def cell(table, method, metric):
    return table[(table["method"] == method) & (table["metric"] == metric)].iloc[0]


def test_every_value_is_the_metric_on_all_runs():
    t = compare(FRAME, FAILED, TASKS, RNG(0), draws=100, length=LENGTH,
                strata={"same_task": TASKS, "same_length": LENGTH})
    for m in FRAME:
        s = FRAME[m]
        expected = {
            "auroc": ranking.auroc(FAILED, s), "prr": ranking.prr(FAILED, s),
            "average_precision": ranking.average_precision(FAILED, s),
            "best_f1": ranking.best_f1(FAILED, s)[0],
            "youden_f1": ranking.youden_f1(FAILED, s)[0],
            "auroc|same_task": ranking.auroc(FAILED, s, TASKS),
            "auroc|same_length": ranking.auroc(FAILED, s, LENGTH),
            CORRELATION: stats.spearmanr(s, LENGTH).statistic,
        }
        assert {k: cell(t, m, k)["value"] for k in expected} == pytest.approx(expected)


def test_the_interval_is_that_of_tasks_drawn_whole():
    t = compare(FRAME[["good"]], FAILED, TASKS, RNG(0), draws=4000, strata={"task": TASKS})
    rng, pooled, inside = RNG(1), [], []
    for _ in range(4000):
        drawn = rng.integers(0, 15, 15)
        at = np.concatenate([np.flatnonzero(task == TASKS) for task in drawn])
        copy = np.repeat(np.arange(15), 4)  # a task drawn twice is two tasks
        pooled.append(ranking.auroc(FAILED[at], FRAME["good"][at]))
        inside.append(ranking.auroc(FAILED[at], FRAME["good"][at], copy))
    for metric, plain in (("auroc", pooled), ("auroc|task", inside)):
        row = cell(t, "good", metric)
        assert [row["lo"], row["hi"]] == pytest.approx(np.percentile(plain, [2.5, 97.5]), abs=0.02)


def test_tasks_whose_trials_agree_give_a_wider_interval_than_independent_runs():
    failed = np.repeat(np.arange(15) % 2 == 0, 4)
    frame = pd.DataFrame({"m": np.repeat(RNG(3).random(15), 4)})
    by_task = cell(compare(frame, failed, TASKS, RNG(0)), "m", "auroc")
    by_run = cell(compare(frame, failed, range(N), RNG(0)), "m", "auroc")
    assert by_task["hi"] - by_task["lo"] > 1.5 * (by_run["hi"] - by_run["lo"])


def test_a_method_differs_from_itself_by_nothing_in_every_resample():
    frame = FRAME.assign(again=FRAME["good"], better=FRAME["good"] + 5 * FAILED)
    t = compare(frame, FAILED, TASKS, RNG(0), draws=200, pairs=[("good", "again"),
                                                                ("better", "noise")])
    row = cell(t, "good - again", "auroc")
    assert (row["value"], row["why"]) == (0, "undefined: every replicate gives the same value")
    assert row["chance"] is None
    assert cell(t, "better - noise", "auroc")["lo"] > 0


def test_only_runs_that_every_method_scores_count():
    frame = FRAME.assign(rare=FRAME["noise"].where(np.arange(N) >= 10))
    t = compare(frame, FAILED, TASKS, RNG(0), draws=100)
    assert set(t["n"]) == {N - 10} and set(t["n_failed"]) == {FAILED[10:].sum()}
    assert [cell(t, m, "auroc")["n_missing"] for m in frame] == [0, 0, 10]
    assert cell(t, "good", "auroc")["value"] == ranking.auroc(FAILED[10:], FRAME["good"][10:])


def test_a_method_without_any_score_takes_no_run_from_the_others():
    t = compare(FRAME.assign(pe=None), FAILED, TASKS, RNG(0), draws=100)
    assert cell(t, "pe", "auroc")["why"] == "not computable: no run has a score"
    assert cell(t, "pe", "auroc")["n_missing"] == N
    alone = compare(FRAME, FAILED, TASKS, RNG(0), draws=100)
    pd.testing.assert_frame_equal(t[t["method"] != "pe"].reset_index(drop=True), alone)


def test_an_area_says_how_many_pairs_it_compares():
    t = compare(FRAME, FAILED, TASKS, RNG(0), draws=100, strata={"length": LENGTH})
    pooled = sum(a > b for a in FAILED for b in FAILED)
    same = sum(a > b and j == k for a, j in zip(FAILED, LENGTH, strict=True)
               for b, k in zip(FAILED, LENGTH, strict=True))
    assert cell(t, "good", "auroc")["pairs"] == pooled
    assert cell(t, "good", "auroc|length")["pairs"] == same < pooled / 2
    assert cell(t, "good", "prr")["pairs"] is None


def test_no_score_by_any_method_is_a_table_without_values():
    t = compare(pd.DataFrame({"pe": [None, None]}), [1, 0], [0, 1], RNG(0))
    assert t["value"].isna().all() and set(t["n"]) == {0}


@pytest.mark.parametrize(("failed", "why"), [(np.ones(N), "undefined: every run failed"),
                                             (np.zeros(N), "undefined: no run failed")])
def test_one_class_is_a_reason_not_a_number(failed, why):
    t = compare(FRAME, failed, TASKS, RNG(0), draws=100, length=LENGTH)
    for metric in ("auroc", "average_precision", "best_f1", "youden_f1", "prr"):
        assert (cell(t, "good", metric)["value"], cell(t, "good", metric)["why"]) == (None, why)
    assert cell(t, "good", CORRELATION)["value"] is not None


def test_strata_without_a_mixed_pair_are_a_reason():
    t = compare(FRAME, FAILED, TASKS, RNG(0), draws=100, strata={"alone": range(N)})
    assert cell(t, "good", "auroc|alone")["why"].endswith("share the stratum")


def test_resamples_of_one_class_are_counted_and_many_of_them_flagged():
    failed = np.zeros(N, bool)
    failed[:4] = True  # only task 0 fails: it is missing from 1 - (14/15)^15 = 35 % of resamples
    row = cell(compare(FRAME, failed, TASKS, RNG(0), draws=1000), "good", "auroc")
    assert "do not rely on the interval" in row["note"] and "few runs" in row["note"]
    skipped = int(row["note"].split("; ")[1].split()[0])
    assert skipped == pytest.approx(1000 * (14 / 15) ** 15, abs=50)
    assert "resamples" not in cell(compare(FRAME, FAILED, TASKS, RNG(0)), "good", "auroc")["note"]


@pytest.mark.parametrize("numbers", [N, 7 * N])
def test_the_size_of_the_blocks_changes_no_number(monkeypatch, numbers):
    whole = compare(FRAME, FAILED, TASKS, RNG(0), draws=100, length=LENGTH)
    monkeypatch.setattr(module, "_NUMBERS", numbers)
    again = compare(FRAME, FAILED, TASKS, RNG(0), draws=100, length=LENGTH)
    pd.testing.assert_frame_equal(whole, again)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=20).filter(
    lambda rows: all(len(set(c)) > 1 for c in zip(*rows, strict=True))))
def test_scipy_agrees_on_the_rank_correlation(rows):
    s, k = zip(*rows, strict=True)
    assert rank_correlation(s, k) == pytest.approx(stats.spearmanr(s, k).statistic, abs=1e-12)


def test_columns_of_different_length_and_unknown_pairs_are_refused():
    with pytest.raises(ValueError, match="differ in length"):
        compare(FRAME, FAILED[:-1], TASKS, RNG(0))
    with pytest.raises(ValueError, match="no column of scores: rupa"):
        compare(FRAME, FAILED, TASKS, RNG(0), pairs=[("rupa", "good")])
