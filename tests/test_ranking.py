"""Ranking metrics against hand-worked cases, scikit-learn and definitions written out."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn import metrics as sk

from tjlib.measure import ranking
from tjlib.measure.tally import METRICS, tally

#: The worked example of the RUPA reading: three failures, three successes, two ties.
Y, S = [1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.8, 0.4, 0.4, 0.1]

runs = st.lists(st.tuples(st.booleans(), st.integers(0, 6)), min_size=2, max_size=25).filter(
    lambda rows: len({y for y, _ in rows}) == 2)
functions = [ranking.auroc, ranking.average_precision, ranking.best_f1, ranking.youden_f1,
             ranking.prr]


def columns(rows):
    y, s = zip(*rows, strict=True)
    return list(y), [float(x) for x in s]


def f1(y, flagged):
    hits = sum(a and b for a, b in zip(y, flagged, strict=True))
    return 2 * hits / (sum(y) + sum(flagged))


def test_the_worked_example_gives_the_four_numbers_of_the_reading():
    assert ranking.auroc(Y, S) == pytest.approx(7 / 9)
    assert round(ranking.average_precision(Y, S), 6) == 0.755556
    assert ranking.best_f1(Y, S) == (0.75, 0.4)
    assert ranking.youden_f1(Y, S) == (0.5, 0.9)  # J ties at .9 and .8: the higher one


def test_the_area_under_straight_lines_would_be_larger():
    precision, recall, _ = sk.precision_recall_curve(Y, S)
    assert round(sk.auc(recall, precision), 4) == 0.8222 > ranking.average_precision(Y, S)


@given(runs)
def test_scikit_learn_agrees_on_auroc_and_average_precision(rows):
    y, s = columns(rows)
    assert ranking.auroc(y, s) == pytest.approx(sk.roc_auc_score(y, s))
    assert ranking.average_precision(y, s) == pytest.approx(sk.average_precision_score(y, s))


@given(runs)
def test_best_f1_is_the_largest_over_every_cut_and_never_below_its_floor(rows):
    y, s = columns(rows)
    value, at = ranking.best_f1(y, s)
    cuts = {c: f1(y, [x >= c for x in s]) for c in set(s)}
    assert value == pytest.approx(max(cuts.values())) == pytest.approx(cuts[at])
    assert value >= ranking.chance("best_f1", sum(y) / len(y)) - 1e-12


@given(runs)
def test_youdens_threshold_maximises_the_exact_difference_of_rates(rows):
    y, s = columns(rows)
    value, at = ranking.youden_f1(y, s)
    positive, negative = sum(y), len(y) - sum(y)

    def lead(c):
        tp = sum(a and x >= c for a, x in zip(y, s, strict=True))
        return tp * negative - (sum(x >= c for x in s) - tp) * positive

    assert at == max(set(s), key=lambda c: (lead(c), c))
    assert value == pytest.approx(f1(y, [x >= at for x in s]))


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 2)), min_size=2, max_size=6).filter(
    lambda rows: len({y for y, _ in rows}) == 2))
def test_prr_is_the_mean_over_every_order_of_equal_scores(rows):
    def area(order):
        return np.mean([np.mean([not y for y, _ in order[r:]]) for r in range(len(order))])

    orders = [p for p in itertools.permutations(rows)
              if all(a[1] >= b[1] for a, b in itertools.pairwise(p))]
    accuracy = np.mean([not y for y, _ in rows])
    oracle = area(sorted(rows, key=lambda row: -row[0]))
    expected = (np.mean([area(p) for p in orders]) - accuracy) / (oracle - accuracy)
    assert ranking.prr(*columns(rows)) == pytest.approx(expected)


@given(runs)
def test_only_the_order_of_the_scores_counts(rows):
    y, s = columns(rows)
    bent = [math.exp(x / 3) - 7 for x in s]
    for name in METRICS:
        assert METRICS[name](tally(y, s)) == pytest.approx(METRICS[name](tally(y, bent)))


@given(runs)
def test_a_score_and_its_negative_have_areas_that_sum_to_one(rows):
    y, s = columns(rows)
    assert ranking.auroc(y, s) + ranking.auroc(y, [-x for x in s]) == pytest.approx(1)


@pytest.mark.parametrize("y", [[1, 1, 1], [0, 0, 0]])
@pytest.mark.parametrize("function", functions)
def test_one_class_leaves_every_metric_undefined(function, y):
    assert function(y, [0.1, 0.2, 0.3]) is None


def test_scores_that_are_all_equal_know_nothing():
    y, s = [1, 0, 0, 0], [0.3] * 4
    assert (ranking.auroc(y, s), ranking.average_precision(y, s), ranking.prr(y, s)) == (
        0.5, 0.25, pytest.approx(0))
    assert ranking.best_f1(y, s) == (pytest.approx(0.4), 0.3) == ranking.youden_f1(y, s)


@pytest.mark.parametrize("function", functions)
def test_an_infinite_score_stands_beyond_every_finite_one(function):
    beyond = function(Y, [math.inf, *S[1:5], -math.inf])
    assert beyond == function(Y, [1.8, *S[1:5], -0.6])


@pytest.mark.parametrize("scores", [[0.1, math.nan, 0.3], [0.1, None, 0.3]])
def test_a_missing_score_is_refused_not_dropped(scores):
    with pytest.raises(ValueError, match="none missing"):
        ranking.auroc([1, 0, 1], scores)


def test_no_score_at_all_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        ranking.auroc([], [])


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4), st.sampled_from("abc")),
                min_size=2, max_size=25))
def test_a_stratified_area_counts_only_pairs_that_share_the_stratum(rows):
    pairs = [(a[1] > b[1]) + 0.5 * (a[1] == b[1])
             for a in rows for b in rows if a[0] and not b[0] and a[2] == b[2]]
    y, s, strata = zip(*rows, strict=True)
    value = ranking.auroc(y, s, strata)
    assert value == (pytest.approx(np.mean(pairs)) if pairs else None)


@given(runs, st.data())
def test_a_weight_counts_a_run_as_often_as_copies_of_it_would(rows, data):
    weights = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    copies = [row for row, w in zip(rows, weights, strict=True) for _ in range(w)]
    assume(len({y for y, _ in copies}) == 2)
    weighted = tally(*columns(rows), weights=np.array([weights]))
    for name, metric in METRICS.items():
        assert metric(weighted)[0] == pytest.approx(metric(tally(*columns(copies)))[0]), name


@pytest.mark.parametrize(("metric", "expected"), [
    ("auroc", 0.5), ("auroc|same_task", 0.5), ("average_precision", 0.4),
    ("best_f1", 0.8 / 1.4), ("youden_f1", None), ("prr", 0), ("rank_correlation|length", 0)])
def test_what_no_knowledge_gives_is_known_for_every_metric(metric, expected):
    assert ranking.chance(metric, 0.4) == (None if expected is None else pytest.approx(expected))
