"""Means over runs by whole tasks, against hand-worked values and another bootstrap."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tjlib.measure.by_task import ONE_TASK, means, split

RNG = np.random.default_rng


def test_a_run_without_a_value_is_left_out_and_is_no_zero():
    found = means(pd.DataFrame({"a": [2.0, None, 4.0]}), ["x", "x", "y"], RNG(0))
    assert found.loc[0, ["value", "n"]].tolist() == [3.0, 2]


def test_a_task_of_many_trials_counts_by_its_runs_and_is_drawn_as_one():
    # Two tasks: three runs of 0 and one of 1. A draw has either task twice or each once.
    values = pd.DataFrame({"a": [0.0, 0.0, 0.0, 1.0]})
    row = means(values, ["x", "x", "x", "y"], RNG(0), draws=4000).iloc[0]
    assert (row["value"], row["lo"], row["hi"]) == (0.25, 0.0, 1.0)


def test_the_interval_is_that_of_drawing_tasks_one_by_one():
    rng = RNG(1)
    tasks = np.repeat(np.arange(30), 4)
    values = rng.normal(size=120) + rng.normal(size=30)[tasks]
    row = means(pd.DataFrame({"a": values}), tasks, RNG(2), draws=4000).iloc[0]
    by = values.reshape(30, 4).mean(axis=1)
    again = by[rng.integers(0, 30, (4000, 30))].mean(axis=1)
    assert [row["lo"], row["hi"]] == pytest.approx(np.percentile(again, [2.5, 97.5]), abs=0.04)


def test_a_difference_uses_the_same_draws_for_both():
    values = pd.DataFrame({"a": [1.0, 5.0, 9.0], "b": [0.5, 4.5, 8.5]})
    row = means(values, ["x", "y", "z"], RNG(0), pairs=[("a", "b")]).iloc[2]
    assert row["value"] == pytest.approx(0.5)
    assert row["why"] == "undefined: every replicate gives the same value"


def test_one_task_has_a_mean_and_no_interval_and_nothing_has_a_reason():
    found = means(pd.DataFrame({"a": [1.0, 2.0], "b": [None, None]}), ["x", "x"], RNG(0))
    assert found.loc[0, ["value", "lo", "why"]].tolist() == [1.5, None, ONE_TASK]
    assert found.loc[1, ["value", "why"]].tolist() == [None, "undefined: no run has a value"]
    assert means(pd.DataFrame({"a": []}), [], RNG(0)).loc[0, "value"] is None


def test_a_run_without_an_outcome_is_on_neither_side():
    table = split(pd.DataFrame({"a": [1.0, 2.0, 3.0]}), [True, False, None])
    assert table.count().tolist() == [1, 1]


def test_columns_of_another_length_are_refused():
    with pytest.raises(ValueError, match="length"):
        means(pd.DataFrame({"a": [1.0]}), ["x", "y"], RNG(0))
