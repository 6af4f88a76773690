"""Ranking by probability: worked by hand, by two referees, and blind to the label's threshold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu
from sklearn.metrics import roc_auc_score

from tjlib.measure.tally import METRICS, tally
from tjlib.measure.tokens import faulty_probability, ranking, spread
from tjlib.trace import Label, Verdict

#: Two clean, two silent, two loud; the judge never flags, but is least sure on the faults.
LABELS = [Label("c1", False), Label("c2", False),
          Label("s1", True, 2, "wrong_tool", outcome_correct=True),
          Label("s2", True, 2, "wrong_tool", outcome_correct=True),
          Label("l1", True, 3, "premature_stop", outcome_correct=False),
          Label("l2", True, 3, "premature_stop", outcome_correct=False)]
SURE = {"c1": 0.9, "c2": 0.7, "s1": 0.8, "s2": 0.7, "l1": 0.6, "l2": 0.55}
SAID = [Verdict(name, "j", False, confidence=0.5, token_confidence=sure)
        for name, sure in SURE.items()]


def ranked(labels, verdicts, **given):
    found = ranking(labels, verdicts, np.random.default_rng(0), **{"draws": 200} | given)
    return found.set_index(["source", "faults"])


def test_a_judge_that_never_flags_may_still_rank():
    found = ranked(LABELS, SAID)
    # s1 (.2) beats c1 (.1) and loses to c2 (.3); s2 (.3) beats c1 and ties with c2.
    assert found.loc[("token", "silent"), "value"] == pytest.approx((1 + 0 + 1 + 0.5) / 4)
    assert found.loc[("token", "loud"), "value"] == 1
    assert found.loc[("token", "all"), "value"] == pytest.approx((2.5 + 4) / 8)
    assert found.loc[("stated", "all"), "value"] == 0.5
    assert found.loc[("stated", "all"), "why"] == "undefined: every replicate gives the same value"
    assert found.loc[("token", "silent"), ["n_faulty", "n_clean"]].tolist() == [2, 2]


def test_the_probability_of_faulty_turns_with_the_verdict_and_a_failure_has_none():
    faulty = Verdict("t", "j", True, confidence=0.8, token_confidence=0.6)
    assert faulty_probability(faulty, "stated") == 0.8
    assert faulty_probability(faulty, "token") == 0.6
    assert faulty_probability(Verdict("t", "j", False, token_confidence=0.6), "token") == 0.4
    for none in (None, Verdict("t", "j", status="timeout"), Verdict("t", "j", False)):
        assert faulty_probability(none, "token") is None


def test_a_failed_reply_leaves_the_ranking_and_is_not_put_at_one_half():
    lost = [v if v.trajectory_id != "c2" else Verdict("c2", "j", status="timeout") for v in SAID]
    row = ranked(LABELS, lost).loc[("token", "silent")]
    assert (row["value"], row["n_clean"]) == (1.0, 1)


def test_without_one_of_the_two_kinds_there_is_no_ranking_but_a_reason():
    row = ranked(LABELS[2:], SAID[2:]).loc[("token", "all")]
    assert row["value"] is None and row["why"] == "undefined: no token probability on both kinds"


def auroc(score, faulty, weights=None):
    return METRICS["auroc"](tally(faulty, score, weights=weights))


SCORED = st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=2, max_size=40).filter(
    lambda rows: len({faulty for _, faulty in rows}) == 2)


@given(SCORED)
def test_the_area_is_mann_whitneys_and_scikit_learns(rows):
    score, faulty = np.array([s for s, _ in rows], float), np.array([f for _, f in rows])
    ours = auroc(score, faulty)[0]
    u = mannwhitneyu(score[faulty], score[~faulty]).statistic
    assert ours == pytest.approx(u / (faulty.sum() * (~faulty).sum()))
    assert ours == pytest.approx(roc_auc_score(faulty, score))
    assert auroc(np.exp(score), faulty)[0] == pytest.approx(ours)  # only the order counts
    assert auroc(-score, faulty)[0] == pytest.approx(1 - ours)


@given(SCORED, st.data())
def test_a_weight_counts_a_trajectory_that_often(rows, data):
    times = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows))
                      .filter(any))
    score, faulty = np.array([s for s, _ in rows], float), np.array([f for _, f in rows])
    weighted = auroc(score, faulty, np.array([times], float))
    repeated = auroc(np.repeat(score, times), np.repeat(faulty, times))
    np.testing.assert_allclose(weighted, repeated)


def test_the_interval_is_that_of_a_plain_loop_over_whole_trajectories():
    rng = np.random.default_rng(3)
    labels = [Label(f"t{i}", i % 4 > 0, None, "wrong_tool" if i % 4 else None,
                    outcome_correct=True) for i in range(120)]
    said = [Verdict(x.trajectory_id, "j", False,
                    token_confidence=float(rng.uniform(0.5, 0.9 - 0.1 * x.faulty)))
            for x in labels]
    row = ranked(labels, said, draws=20_000).loc[("token", "all")]
    score = np.array([1 - v.token_confidence for v in said])
    faulty = np.array([x.faulty for x in labels])
    again = np.random.default_rng(11)
    drawn = []
    for _ in range(20_000):
        high, low = (again.choice(score[faulty == side], (faulty == side).sum())
                     for side in (True, False))
        drawn.append((np.sign(high[:, None] - low).mean() + 1) / 2)
    # Twenty thousand draws place these quantiles to about .002.
    assert row["lo"] == pytest.approx(np.quantile(drawn, 0.025), abs=0.008)
    assert row["hi"] == pytest.approx(np.quantile(drawn, 0.975), abs=0.008)
    assert row["lo"] < row["value"] < row["hi"]


def test_the_spread_has_a_row_for_what_has_a_probability_and_none_for_the_rest():
    found = spread(LABELS, [*SAID, *(Verdict(name, "k", False) for name in SURE)])
    assert found["judge"].unique().tolist() == ["j"]
    assert found.set_index("role").loc["loud", ["n", "median"]].tolist() == [2, pytest.approx(.425)]
