"""What the stored numbers of the airline log say of every method, whatever they say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tjlib import features, scoring
from tjlib.compact import compact
from tjlib.uncertainty.methods import METHODS
from tjlib.uncertainty.propagate import propagate
from tjlib.uncertainty.signals import Local

SAME = ("auroc|same_length", "auroc|same_task")


@pytest.fixture(scope="module")
def tables():
    return features.read("tau_airline")


@pytest.fixture(scope="module")
def found(tables):
    return scoring.calibrated(features.scores(tables, measure="entropy"), features.graphs(tables),
                              features.local(tables, "entropy"))


@pytest.fixture(scope="module")
def table(found):
    rows = scoring.evaluate(found, np.random.default_rng(0), draws=200)
    return rows.set_index(["method", "metric"])


@pytest.mark.parametrize(("method", "auroc", "same_length", "same_task", "ap", "f1", "length"), [
    ("n_steps", .6833, .5, .4261, .7507, .7403, 1.0),
    ("rupa_structural", .7016, .6032, .5455, .7589, .7715, .7988),
    ("rupa_structural_calibrated", .7002, .6052, .5455, .7572, .7709, .8022),
    ("rupa", .4161, .4329, .4318, .5665, .7342, -.2872),
    ("rupa_calibrated", .4190, .4369, .4318, .5699, .7342, -.2692),
    ("flat", .6956, .6052, .4886, .7323, .7692, .7099),
    ("pe", .2687, .3226, .3750, .4631, .7342, -.7477),
    ("sp_sum", .6476, .3828, .4545, .7312, .7443, .9334),
])
def test_each_method_ranks_the_airline_runs_as_printed(
    table, method, auroc, same_length, same_task, ap, f1, length
):
    metrics = ("auroc", *SAME, "average_precision", "best_f1", "rank_correlation|length")
    rows = table.loc[method].loc[list(metrics)]
    assert rows["value"].tolist() == pytest.approx(
        [auroc, same_length, same_task, ap, f1, length], abs=6e-5)
    # 116 failed, 84 succeeded; every best F1 stands on the floor of calling all runs failed.
    assert rows["pairs"].dropna().tolist() == [116 * 84, 499, 88]
    assert rows.loc["average_precision", "chance"] == 116 / 200
    assert rows.loc["best_f1", "chance"] == pytest.approx(2 * 116 / (116 + 200))


def test_counting_pairs_by_hand_gives_the_same(tables, found, table):
    score = compact(found).scores["rupa_structural"].astype(float)
    runs = tables.episodes.set_index("trajectory_id").loc[score.index]
    failed = runs["success"].eq(0).to_numpy()
    worse = np.sign(score.to_numpy()[failed][:, None] - score.to_numpy()[~failed][None]) / 2 + 0.5
    for metric, key in (("auroc", None), (SAME[0], "steps"), (SAME[1], "task_id")):
        same = True if key is None else (runs[key].to_numpy()[failed][:, None]
                                         == runs[key].to_numpy()[~failed][None])
        assert table.loc[("rupa_structural", metric), "value"] == pytest.approx(
            worse[np.broadcast_to(same, worse.shape)].mean())


def test_every_method_is_measured_with_an_interval_or_says_why_not(found, table):
    assert set(found["method"]) == {*METHODS, "rupa_calibrated", "rupa_structural_calibrated"}
    missing = found[found["value"].isna()].groupby("method")["why"].unique()
    assert set(missing.index) == {"verbalized", "uprop"}
    assert all(len(why) == 1 and why[0].startswith("not computable: ") for why in missing)
    for metric in ("auroc", "average_precision", "best_f1", SAME[1]):
        rows = table.xs(metric, level="metric").drop(index=list(missing.index))
        assert rows["lo"].notna().all() and (rows["lo"] <= rows["hi"]).all()
        assert (rows["n"] == 200).all() and (rows["n_missing"] == 0).all()


@pytest.mark.parametrize("similarity", ["jaccard", "minilm"])
@pytest.mark.parametrize("measure", ["nll", "entropy"])
def test_a_stored_score_is_that_of_its_stored_graph(tables, similarity, measure):
    stored = compact(features.scores(tables, similarity, measure)).scores.astype(float)
    graphs, own = features.graphs(tables, similarity), features.local(tables, measure)
    assert pd.Series([propagate(g, u).score for g, u in zip(graphs, own, strict=True)]).to_numpy() \
        == pytest.approx(stored["rupa"].to_numpy(), abs=1e-6)
    alike = [propagate(g, Local((0.0,) * len(g.agent), "constant")).score for g in graphs]
    assert alike == pytest.approx(stored["rupa_structural"].to_numpy(), abs=1e-6)
