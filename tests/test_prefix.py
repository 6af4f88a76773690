"""What a prefix cache saved: shares, paired seconds, and the table we recorded."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from tjlib import store
from tjlib.desk.testbed import judged_set
from tjlib.measure.prefix import COLUMNS, NO_CACHE, saved, served
from tjlib.trace import InputError


def prompts(*rows) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=COLUMNS)


#: Two trajectories, two judges; t-2 is twice as long in every way.
TABLE = prompts(*(
    (condition, judge, mode, f"t-{k}", 100 * k, cached * k, seconds * k)
    for condition, judge, mode, cached, seconds in (
        ("paper", "outcome", "alternating", 20, 0.8), ("paper", "step", "alternating", 20, 1.6),
        ("shared_first", "outcome", "alternating", 60, 0.4),
        ("shared_first", "step", "alternating", 60, 0.8),
        ("paper", "step", "judge by judge", 80, 0.5),
        (NO_CACHE, "outcome", "any", 0, 1.0), (NO_CACHE, "step", "any", 0, 2.0))
    for k in (1, 2)))


def find(measure, judge="all", mode="alternating", condition="shared_first", against="paper",
         table=TABLE):
    rows = saved(table, np.random.default_rng(0), draws=500)
    [row] = rows[(rows["measure"] == measure) & (rows["judge"] == judge) & (rows["mode"] == mode)
                 & (rows["condition"] == condition) & (rows["against"] == against)
                 ].to_dict("records")
    return row


def test_the_share_is_of_tokens_and_not_of_prompts():
    rows = served(TABLE).set_index(["condition", "mode", "judge"])
    assert rows.loc[("paper", "alternating", "step"), "value"] == 0.2
    row = rows.loc[("shared_first", "alternating", "all")]
    assert (row["value"], row["k"], row["n"], row["prompts"]) == (0.6, 360, 600, 4)
    assert rows.loc[(NO_CACHE, "any", "all"), "value"] == 0
    uneven = prompts(("paper", "step", "alternating", "t-1", 100, 0, 1.0),
                     ("paper", "step", "alternating", "t-2", 300, 300, 1.0))
    assert served(uneven)["value"].tolist() == [0.75, 0.75]


def test_seconds_saved_are_a_trajectorys_with_both_judges_summed():
    # Of (2.4 - 1.2) and twice that, the mean; every ratio is one half, so it has no interval.
    row = find("saved_s")
    assert row["value"] == pytest.approx(1.8) and row["n"] == 2
    assert (row["lo"], row["hi"]) == (pytest.approx(1.2), pytest.approx(2.4))
    row = find("ratio")
    assert row["value"] == pytest.approx(0.5) and row["lo"] is None and "same value" in row["why"]
    assert find("saved_s", judge="outcome")["value"] == pytest.approx(0.6)


def test_reading_without_a_cache_stands_against_either_mode():
    row = find("saved_s", "step", "judge by judge", "paper", NO_CACHE)
    assert row["value"] == pytest.approx(2.25)
    row = find("ratio", "all", "alternating", "paper", NO_CACHE)
    assert row["value"] == pytest.approx(0.8)


def test_pairing_takes_out_what_both_ways_of_a_trajectory_share():
    rng = np.random.default_rng(1)
    load = rng.uniform(1, 20, 50)
    rows = [(condition, "step", "alternating", f"t-{i}", 100, 0, slow + extra)
            for i, slow in enumerate(load) for condition, extra in
            (("paper", 0.5 + 0.01 * (i % 3)), ("shared_first", 0.0))]
    row = find("saved_s", table=prompts(*rows))
    assert row["lo"] < row["value"] < row["hi"] and row["hi"] - row["lo"] < 0.01


def test_a_trajectory_read_in_one_way_only_is_left_out():
    row = find("saved_s", table=TABLE.drop(index=0))  # paper, outcome, t-1
    assert (row["n"], row["value"]) == (1, pytest.approx(2.4)) and "fewer than two" in row["why"]
    alone = TABLE[~((TABLE["condition"] == "paper") & (TABLE["judge"] == "outcome"))]
    assert find("saved_s", table=alone)["value"] == pytest.approx(1.2)  # the judge both have
    apart = prompts(("paper", "step", "alternating", "t-1", 9, 0, 1.0),
                    ("shared_first", "step", "alternating", "t-2", 9, 0, 1.0))
    row = find("ratio", table=apart)
    assert (row["value"], row["n"]) == (None, 0) and row["why"].startswith("undefined: no traj")


def test_the_same_generator_gives_the_same_interval_in_any_order_of_rows():
    one, other = (saved(table, np.random.default_rng(3), draws=200)
                  for table in (TABLE, TABLE.sort_values("seconds", kind="stable")))
    keys = ["mode", "condition", "against", "judge", "measure"]
    assert one.set_index(keys)["value"].to_dict() == pytest.approx(
        other.set_index(keys)["value"].to_dict())


def test_a_table_that_is_not_one_is_named():
    with pytest.raises(InputError, match=r"no column seconds.*bench/prefix\.py"):
        served(TABLE.drop(columns="seconds"))
    with pytest.raises(InputError, match="stands twice"):
        saved(pd.concat([TABLE, TABLE[:1]]), np.random.default_rng(0))


def test_the_recorded_table_is_of_the_first_trajectories_of_the_judged_set():
    recorded = store.recorded_prefix()
    assert tuple(recorded.columns) == COLUMNS
    ids = list(dict.fromkeys(recorded["trajectory_id"]))
    assert ids == [t.trajectory_id for t in itertools.islice(judged_set(7)[0], len(ids))]
    assert (recorded.groupby("trajectory_id").size() == 10).all()
    assert (recorded["cached_tokens"] < recorded["prompt_tokens"]).all()
    assert not recorded.loc[recorded["condition"] == NO_CACHE, "cached_tokens"].any()
    assert (recorded["seconds"] > 0).all()


def test_recorded_shared_first_serves_more_where_judges_alternate_and_as_much_where_they_do_not():
    rows = served(store.recorded_prefix()).set_index(["condition", "mode", "judge"])["value"]
    assert rows["shared_first", "alternating", "all"] > 1.5 * rows["paper", "alternating", "all"]
    by_judge = [rows[order, "judge by judge", "all"] for order in ("paper", "shared_first")]
    assert by_judge[1] == pytest.approx(by_judge[0], abs=0.01)
    assert by_judge[0] > rows["shared_first", "alternating", "all"]
