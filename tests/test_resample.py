"""The bootstrap's parts against scipy and against definitions of their own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from tjlib.measure.resample import (
    FIXED,
    NEVER,
    SAME,
    bca,
    bounds_or_why,
    clopper_pearson,
    leave_one_out,
    percentile,
    replicate_weights,
)


def drawn(groups, cells, seed=0, draws=4000):
    rng = np.random.default_rng(seed)
    return np.concatenate(list(replicate_weights(np.array(groups), np.array(cells), rng, draws)))


@pytest.mark.parametrize(("k", "n", "end", "published"), [
    (0, 100, 1, 0.0362), (125, 125, 0, 0.9709), (50, 50, 0, 0.9289)])
def test_exact_bounds_are_the_papers(k, n, end, published):
    assert round(clopper_pearson(k, n)[end], 4) == published


@given(st.integers(1, 300), st.data(), st.sampled_from([0.8, 0.95, 0.99]))
def test_exact_bounds_put_half_the_error_in_each_binomial_tail(n, data, level):
    k = data.draw(st.integers(0, n))
    lo, hi = clopper_pearson(k, n, level)
    tail = (1 - level) / 2
    lower = optimize.brentq(lambda p: stats.binom.sf(k - 1, n, p) - tail, 0, 1) if k else 0
    upper = optimize.brentq(lambda p: stats.binom.cdf(k, n, p) - tail, 0, 1) if k < n else 1
    assert (lo, hi) == (pytest.approx(lower, abs=1e-9), pytest.approx(upper, abs=1e-9))


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(0, 3)), min_size=1, max_size=20))
def test_every_replicate_keeps_every_cells_size(pairs):
    groups, cells = np.array(pairs).T
    w = drawn(groups, cells, draws=20)
    assert w.shape == (20, len(groups))
    for c in set(cells.tolist()):
        assert (w[:, cells == c].sum(axis=1) == groups[cells == c].sum()).all()


@pytest.mark.parametrize("groups", [[3, 1, 6], [30, 10, 60]])  # rows drawn, counts drawn
def test_weights_have_the_multinomials_mean_and_covariance(groups):
    w = drawn(groups, [0, 0, 0], draws=200_000)
    n, p = sum(groups), np.array(groups) / sum(groups)
    assert np.allclose(w.mean(axis=0), n * p, atol=0.03)
    assert np.allclose(np.cov(w.T), n * (np.diag(p) - np.outer(p, p)), rtol=0.05, atol=0.05)


def test_the_two_ways_to_draw_give_the_same_distribution():
    few, many = drawn([1] * 5 + [5], [0] * 6, draws=50_000), drawn([5, 5], [0, 0], draws=50_000)
    for value in range(11):
        assert abs((few[:, 5] == value).mean() - stats.binom.pmf(value, 10, 0.5)) < 0.01
        assert abs((many[:, 1] == value).mean() - stats.binom.pmf(value, 10, 0.5)) < 0.01


def test_replicates_come_in_blocks_of_bounded_size():
    rng = np.random.default_rng(0)
    blocks = list(replicate_weights(np.ones(300_000, int), np.zeros(300_000, int), rng, 7))
    assert [len(b) for b in blocks] == [3, 3, 1]


def test_leaving_one_out_takes_each_row_once():
    found = np.concatenate(list(leave_one_out(np.array([2, 1, 4]))))
    assert found.tolist() == [[1, 1, 4], [2, 0, 4], [2, 1, 3]]


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=50))
def test_the_percentile_interval_of_defined_draws_is_numpys(values):
    draws = np.array([[*values, np.nan], [np.nan] * (len(values) + 1)])
    lo, hi = percentile(draws)
    assert (lo[0], hi[0]) == tuple(np.percentile(values, [2.5, 97.5]))
    assert np.isnan(lo[1]) and np.isnan(hi[1])


def test_an_interval_that_means_nothing_is_a_reason():
    assert bounds_or_why(np.full(5, np.nan)) == (None, None, NEVER)
    assert bounds_or_why(np.array([1.0, np.nan, 1.0])) == (None, None, SAME)
    assert bounds_or_why(np.ones(5), fixed=True) == (None, None, FIXED)
    assert bounds_or_why(np.arange(101.0)) == (2.5, 97.5, "")


def test_bca_is_scipys_on_two_paired_judges_in_three_cells():
    # The statistic: the difference of two judges' precisions, a ratio over all cells at once.
    rng = np.random.default_rng(3)
    cells = [np.flatnonzero(np.repeat([0, 1, 2], [20, 30, 25]) == c) for c in range(3)]
    hit, flag = (rng.random((75, 2)) < p for p in (0.6, 0.8))

    def statistic(*index, axis):
        at = np.concatenate(index, axis=axis)
        rates = (hit & flag)[at].sum(axis=-2) / flag[at].sum(axis=-2)
        return rates[..., 1] - rates[..., 0]

    referee = {m: stats.bootstrap(cells, statistic, n_resamples=20_000, method=m, batch=1000,
                                  rng=np.random.default_rng(0)).confidence_interval
               for m in ("percentile", "bca")}
    strata, groups = np.repeat([0, 1, 2], [20, 30, 25]), np.ones(75, int)

    def score(w):
        rates = (w @ (hit & flag)) / (w @ flag)
        return rates[:, 1] - rates[:, 0]

    values = score(drawn(groups, strata, draws=20_000))
    point = score(np.ones((1, 75)))[0]
    jack = score(np.concatenate(list(leave_one_out(groups))))
    mine = {"percentile": percentile(values), "bca": bca(values, np.array(point), jack, groups,
                                                         strata)}
    for method, (low, high) in referee.items():
        assert mine[method] == (pytest.approx(low, abs=0.006), pytest.approx(high, abs=0.006))
    assert abs(mine["bca"][0] - mine["percentile"][0]) > 1e-4  # the correction does something


def test_bca_without_spread_is_not_a_number():
    lo, hi = bca(np.ones((1, 9)), np.ones(1), np.ones((1, 4)), np.ones(4, int), np.zeros(4, int))
    assert np.isnan(lo).all() and np.isnan(hi).all()
