"""The paper's numbers come out of its verdicts, from both sources, to the printed digit."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from tjlib import store
from tjlib.__main__ import main
from tjlib.measure.against import compare
from tjlib.measure.intervals import intervals
from tjlib.measure.table import confusion, table

#: Rows that need the text, another data source or a person; everything else must be compared.
RATES = ("main", "per_type", "appE", "deltas")


@pytest.fixture(scope="module", params=["published", "released"])
def source(request: pytest.FixtureRequest) -> store.Source:
    if request.param == "released":
        return store.load(request.getfixturevalue("shared") / "released")
    return store.load("published")


@pytest.fixture(scope="module")
def numbers() -> pd.DataFrame:
    return store.published("trajectory_judge_numbers")


def test_every_rate_interval_and_delta_the_paper_prints_comes_out(source, numbers):
    t = table(source.labels, source.verdicts, source.cost)
    wanted = numbers[numbers["table"].isin(RATES)]
    beside = compare(intervals(t, np.random.default_rng(0)), wanted)
    assert len(beside) == len(wanted) == 79
    assert beside[~beside["agrees"].astype(bool)].to_dict("records") == []


def test_all_210_confusion_cells_are_the_published_counts(source, numbers):
    t = table(source.labels, source.verdicts, source.cost)
    cells = numbers[numbers["table"] == "confusion"]
    assert len(cells) == 210
    wrong = [
        (row["subject"], row["metric"])
        for row in cells.to_dict("records")
        if confusion(t, row["subject"]).loc[*row["metric"].split("->")] != row["published"]
    ]
    assert wrong == []


def test_costs_are_the_published_ones(source, numbers):
    t = table(source.labels, source.verdicts, source.cost)
    ours = intervals(t, np.random.default_rng(0), draws=100).set_index(["judge", "metric"])["value"]
    cost = numbers[numbers["table"] == "cost"].set_index(["subject", "metric"])["published"]
    for judge in t.judges:
        assert round(ours[judge, "latency_s_mean"], 1) == cost[judge, "mean_latency_s"]
    for judge, tokens in (("step:qwen2.5:14b", 391), ("step:llama3.1:8b", 57)):
        assert cost[judge, "completion_tokens_per_verdict"] == tokens
        assert round(ours[judge, "completion_tokens_mean"]) == tokens


def test_both_sources_are_one_set_of_verdicts(shared):
    a, b = (table(s.labels, s.verdicts) for s in (
        store.load("published"), store.load(shared / "released")))
    counts = []
    for t in (a, b):
        cell = np.array(t.cells)[t.cell]
        counts.append(sorted(
            (cell[row], int(t.true_step[row]),
             tuple((bool(t.flag[row, j]), int(t.kind[row, j]), int(t.step[row, j]),
                    round(float(t.confidence[row, j]), 6))
                   for j in map(t.judges.index, sorted(t.judges))))
            for row in range(len(t.labels))))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("name", ["published", "released"])
def test_score_json_carries_every_interval_and_every_delta(name, capsys, request, numbers):
    if name == "released":
        name = str(request.getfixturevalue("shared") / "released")
    assert main(["score", name, "--json", "--draws", "10000", "--seed", "0"]) == 0
    printed = capsys.readouterr().out
    rows = json.loads(printed)
    assert {"judge", "metric", "value", "lo", "hi", "k", "n"} <= set(rows[0])
    assert all("NaN" not in json.dumps(row) for row in rows)
    assert all(row["why"] for row in rows if row["value"] is None)
    beside = compare(pd.DataFrame(rows, dtype=object), numbers[numbers["table"].isin(RATES)])
    assert len(beside) == 79
    assert beside["agrees"].all()
    assert main(["score", name, "--json", "--draws", "10000", "--seed", "0"]) == 0
    assert capsys.readouterr().out == printed
