"""One metric under four resampling designs: what the unit and the cells do to an interval."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import pytest
from published_table import OUTCOME, SMALL, STEP, published_table

from tjlib import store
from tjlib.measure.designs import DESIGNS, designs
from tjlib.measure.intervals import intervals
from tjlib.measure.table import table
from tjlib.measure.worked import parse

HELD, SURVIVAL, FREE, INSTANCES = DESIGNS


def by_design(t, metric, draws=4000):
    found = designs(t, np.random.default_rng(1), metric, draws=draws)
    return found.set_index(["design", "judge"])


def test_the_first_design_is_the_papers_interval():
    found = by_design(published_table(), "silent_recall").loc[HELD]
    paper = intervals(published_table(), np.random.default_rng(1), draws=4000)
    paper = paper[paper["metric"] == "silent_recall"].set_index("judge")
    for judge in found.index:
        assert found.loc[judge, "lo"] == paper.loc[judge, "lo"]
        assert found.loc[judge, "hi"] == paper.loc[judge, "hi"]


def test_the_step_judges_interval_doubles_when_only_survival_is_kept():
    # [.74, .80] within types, [.70, .83] within survival: an independent recomputation.
    found = by_design(published_table(), "silent_recall")
    row = found.loc[(SURVIVAL, STEP)]
    assert (row["lo"], row["hi"]) == pytest.approx((0.70, 0.83), abs=0.01)
    # The binomial spread over all silent faults, over that summed type by type. The ends lie on
    # multiples of 1/175, so the narrow width is known to two of those.
    t = published_table()
    flags = {c: t.flag[t.cell == i, t.column(STEP)] for i, c in enumerate(t.cells) if "silent" in c}
    pooled = np.concatenate(list(flags.values()))
    spread = sum(len(x) * x.mean() * (1 - x.mean()) for x in flags.values())
    expected = np.sqrt(len(pooled) * pooled.mean() * (1 - pooled.mean()) / spread)
    assert row["ratio"] == pytest.approx(expected, rel=2 / 175 / 0.06)
    assert 1.0 < found.loc[(SURVIVAL, OUTCOME), "ratio"] < 1.2


def test_free_draws_add_the_spread_of_the_fault_share_to_f1():
    # F1 of a judge that flags nearly all is the share of faults, which only the free draw moves.
    found = by_design(published_table(), "f1")
    assert found.loc[(SURVIVAL, SMALL), "ratio"] == pytest.approx(1, abs=0.1)
    assert found.loc[(FREE, SMALL), "ratio"] > 4


def test_a_free_draw_is_one_of_instances_that_hold_a_trajectory_each():
    t = published_table()
    alone = tuple(msgspec.structs.replace(x, instance_id=x.trajectory_id) for x in t.labels)
    other = intervals(replace(t, labels=alone), np.random.default_rng(2), draws=4000, by="instance")
    for metric in ("silent_recall", "loud_recall", "f1"):
        found = by_design(t, metric).loc[FREE]
        row = other[other["metric"] == metric].set_index("judge")
        for judge in (OUTCOME, STEP):
            for end in ("lo", "hi"):
                assert found.loc[judge, end] == pytest.approx(row.loc[judge, end], abs=0.012)


def test_an_exact_interval_has_no_ratio_and_nameless_instances_a_reason():
    found = by_design(published_table(), "false_alarm_rate", draws=200)
    assert found.loc[(HELD, STEP), "how"] == "exact binomial"
    assert found["ratio"].xs(STEP, level="judge").tolist() == [None] * 4
    assert set(found.loc[INSTANCES, "why"]) == {"undefined: the labels name no instances"}


def test_copies_of_a_row_narrow_the_interval_by_trajectory_and_not_by_instance():
    rows = ["wrong_tool silent 2 | faulty - - 0.9", "wrong_tool silent 2 | clean 0.9"] * 6
    labels, verdicts = parse(rows)
    widths = {}
    for times in (1, 9):
        copied = [(x, v, i) for x, v in zip(labels, verdicts, strict=True) for i in range(times)]
        change = msgspec.structs.replace
        t = table([change(x, trajectory_id=f"{x.trajectory_id}.{i}", instance_id=x.trajectory_id)
                   for x, _, i in copied],
                  [change(v, trajectory_id=f"{v.trajectory_id}.{i}") for _, v, i in copied])
        found = by_design(t, "recall")
        widths[times] = {d: found.loc[(d, "judge"), "hi"] - found.loc[(d, "judge"), "lo"]
                         for d in (HELD, INSTANCES)}
    assert widths[9][HELD] == pytest.approx(widths[1][HELD] / 3, rel=0.15)
    assert widths[9][INSTANCES] == widths[1][INSTANCES]


def test_instances_widen_the_outcome_judges_recall_and_leave_its_false_alarms(shared):
    # At most one clean run an instance: nothing to cluster there.
    source = store.released(shared / "released")
    t = table(source.labels, source.verdicts)
    assert 1.5 < by_design(t, "silent_recall").loc[(INSTANCES, OUTCOME), "ratio"] < 1.8
    assert by_design(t, "false_alarm_rate").loc[(INSTANCES, OUTCOME), "ratio"] == (
        pytest.approx(1, abs=0.1))
