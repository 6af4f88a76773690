"""What the printed Table 2 of the uncertainty paper says of itself."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from tjlib import store
from tjlib.measure import printed


@pytest.fixture(scope="module")
def table():
    return store.published("rupa_table2")


def test_the_table_is_the_shared_one_with_every_cell_once(table, shared):
    assert table.equals(pd.read_csv(shared / "published" / "rupa_table2.csv"))
    assert len(table) == 6 * 6 * 4 == len(table.drop_duplicates(["model", "method", "benchmark"]))


def test_all_108_printed_averages_are_the_mean_of_the_three_benchmarks(table):
    found = printed.averages(table)
    assert len(found) == 108
    assert found["off"].abs().max() < 0.0011


def test_rupa_does_not_lead_in_four_of_eighteen_cells_by_auroc(table):
    found = printed.leads(table)
    cells = found[found["benchmark"] != printed.AVERAGE]
    behind = cells[~cells["leads"]]
    assert (len(behind), len(cells)) == (4, 18)
    assert [tuple(row) for row in behind[["model", "benchmark", "by", "margin"]].to_numpy()] == [
        ("Gemma4-26B", "GAIA", "SAUP", -0.002), ("Gemma4-31B", "tau2", "Uprop", -0.010),
        ("Gemma4-31B", "GAIA", "Tracer", -0.008), ("GPT-oss-120B", "tau2", "Uprop", -0.139)]
    assert found[found["benchmark"] == printed.AVERAGE]["leads"].all()


def test_the_prose_prints_the_tables_averages(table):
    prose = store.published("rupa_prose_numbers").set_index("what")["value"]
    mean = table[table["benchmark"] == printed.AVERAGE].set_index(["model", "method"])["auroc"]
    best = printed.leads(table).query("benchmark == @printed.AVERAGE").set_index("model")["other"]
    called = {"GPT-OSS-120B": "GPT-oss-120B", "entropy": "Entropy", "Tracer": "Tracer",
              "best baseline (Tracer)": "Tracer", "RUPA": "RUPA", "SAUP": "SAUP"}
    checked = 0
    for what, value in prose.items():
        model, found, method = what.partition(" average AUROC, ")
        if not found:
            continue
        model = called.get(model, model)
        assert value == (best[model] if method == "best baseline" else mean[model, called[method]])
        checked += 1
    assert checked == 13
    rows = store.published("rupa_table4").set_index("setting")["auroc"]
    assert rows["full"] == mean["MiniMax-M2.7", "RUPA"]


def test_a_tie_is_led_and_the_order_of_the_table_is_kept():
    rows = [("m2", "x", "A", .5), ("m2", "x", "RUPA", .5), ("m1", "x", "A", .6),
            ("m1", "x", "RUPA", .5)]
    found = printed.leads(pd.DataFrame(rows, columns=["model", "benchmark", "method", "auroc"]))
    assert found[["model", "leads"]].to_numpy().tolist() == [["m2", True], ["m1", False]]


def test_half_of_the_failures_first_and_half_last_reaches_the_ceiling():
    # 1,000 failures and 1,000 successes: 500, then all successes, then 500.
    failed = np.repeat([True, False, True], [500, 1000, 500])
    scores = np.repeat([3.0, 2.0, 1.0], [500, 1000, 500]) - np.arange(2000) / 1e6
    assert roc_auc_score(failed, scores) == 0.5
    assert average_precision_score(failed, scores) == pytest.approx(
        printed.ceiling(0.5, 0.5), abs=0.001)


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 0.95), st.floats(0.2, 5), st.floats(0.2, 5))
def test_no_ranking_leaves_the_bounds(seed, share, a, b):
    rng = np.random.default_rng(seed)
    failed = np.arange(1000) < round(1000 * share)
    scores = np.where(failed, rng.beta(a, b, 1000), rng.beta(b, a, 1000))
    auroc, found = roc_auc_score(failed, scores), average_precision_score(failed, scores)
    share = failed.mean()
    assert printed.floor(auroc, share) - 0.02 <= found <= printed.ceiling(auroc, share) + 0.02


def test_the_share_of_failures_is_bracketed_and_printed_f1_is_below_what_it_forces(table):
    found = printed.shares(table).set_index(["model", "benchmark"])
    assert (found["least"] < found["most"]).all()
    # Entropy (.595, .326) and RUPA (.697, .781) of one cell all but contradict each other.
    least, most = found.loc[("Qwen3.5-27B", "GAIA"), ["least", "most"]]
    assert (round(least, 2), round(most, 2)) == (0.31, 0.32)
    below = found[found["below"].str.len() > 0]
    assert (len(below), len(found)) == (8, 18)
    assert found.loc[("GPT-oss-120B", "Terminal-Bench-2"), "forced"] == pytest.approx(.93, abs=.01)
    for benchmark in ("tau2", "Terminal-Bench-2", "GAIA"):
        assert len(found.loc[("GPT-oss-120B", benchmark), "below"]) == 6


def test_a_share_of_failures_that_is_there_is_inside_its_bounds():
    rng = np.random.default_rng(0)
    failed = np.arange(3000) < 1200
    rows = []
    for k in range(6):
        scores = rng.normal(failed * 0.2 * k)
        rows.append(("m", f"a{k}", "b", roc_auc_score(failed, scores),
                     average_precision_score(failed, scores), 1.0))
    found = printed.shares(pd.DataFrame(
        rows, columns=["model", "method", "benchmark", "auroc", "auprc", "f1"])).iloc[0]
    assert found["least"] < 0.4 < found["most"]
    assert found["below"] == []
