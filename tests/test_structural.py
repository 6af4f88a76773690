"""Who is a rule, and so has no interval: not whoever is called one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from published_table import published_table

from tjlib.measure.gap import slopes
from tjlib.measure.intervals import intervals
from tjlib.measure.pairs import discrimination
from tjlib.measure.resample import FIXED
from tjlib.measure.strata import by_stratum
from tjlib.measure.structural import structural
from tjlib.measure.table import table
from tjlib.trace import Label, Verdict

LABELS = [Label(f"c{i}", False) for i in range(4)] + [
    Label(f"f{i}", True, 1, "wrong_tool", True) for i in range(4)]


def said(flag, judge="rules", **cost):
    return table(LABELS, [Verdict(x.trajectory_id, judge, flag(x), **cost) for x in LABELS])


def rule(label):
    return label.faulty


@pytest.mark.parametrize(("t", "is_rule"), [
    (said(rule), True),
    (said(rule, "programmatic", prompt_tokens=0, completion_tokens=0, latency_s=1e-5), True),
    (said(rule, "mine"), False),  # not the name of one
    (said(lambda x: True), False),  # flags everything: any judge can
    (said(lambda x: False), False),
    (said(rule, prompt_tokens=500), False),  # costs tokens: a model
    (said(lambda x: x.trajectory_id in ("f0", "f1")), False),  # differs within a cell
])
def test_a_rule_has_the_name_no_tokens_and_one_answer_a_cell(t, is_rule):
    assert structural(t, t.judges[0]) is is_rule
    row = intervals(t, np.random.default_rng(0), draws=200).set_index("metric").loc["recall"]
    assert (row["why"] == FIXED) is is_rule
    assert (row["lo"] is None) is is_rule


def test_a_model_called_rules_that_flags_everything_gets_the_exact_interval():
    rows = intervals(said(lambda x: True), np.random.default_rng(0), draws=50).set_index("metric")
    for metric in ("recall", "false_alarm_rate"):
        assert rows.loc[metric, "how"] == "exact binomial"
        assert rows.loc[metric, "lo"] == pytest.approx(0.025 ** (1 / 4))


def test_pairs_and_strata_do_not_go_by_the_name_either():
    pairs = pd.DataFrame({
        "fault": "wrong_tool", "survival": "silent", "reply": "unchanged", "judge": "rules",
        "fault_flagged": [1], "parent_flagged": [1], "n": [20]})
    everything = discrimination(pairs, np.random.default_rng(0), draws=50).set_index("group")
    assert everything.loc["silent", "how"] == "exact binomial"
    for row in slopes(pairs, np.random.default_rng(0), draws=50).to_dict("records"):
        assert row["lo"] is not None
    ruled = pairs.assign(parent_flagged=0)
    assert discrimination(ruled, np.random.default_rng(0), draws=50)["why"].iloc[0] == FIXED
    counts = pd.DataFrame({
        "stratum": "happy", "fault": ["clean", "wrong_tool"], "survival": ["clean", "silent"],
        "judge": "rules", "flagged": [1, 1], "n": [9, 9]})
    for flags, why in (([1, 1], ""), ([0, 1], FIXED)):
        found = by_stratum(counts.assign(flagged=flags), np.random.default_rng(0), draws=50)
        assert found.set_index(["stratum", "metric"]).loc[("pooled", "silent_recall"), "why"] == why


def test_the_released_rule_judge_is_a_rule_and_the_others_are_not():
    t = published_table()
    assert [judge for judge in t.judges if structural(t, judge)] == ["programmatic"]
    dear = replace(t, prompt_tokens=np.ones(t.seen.shape))
    assert not structural(dear, "programmatic")
