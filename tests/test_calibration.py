"""Calibration by hand, by a second definition, and where the binnings part ways."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from published_table import ENSEMBLE, OUTCOME, STEP, published, published_table
from scipy import optimize, stats

from tjlib.measure.alternatives import alternatives
from tjlib.measure.calibration import (
    BINS,
    MEASURES,
    bin_of,
    brier_parts,
    ece,
    reliability,
    smooth_ece,
)
from tjlib.measure.resample import FIXED, SAME, replicate_weights
from tjlib.measure.table import patterns, table
from tjlib.measure.verdicts import metrics
from tjlib.trace import InputError, Label, Verdict

# Six verdicts by hand: stated, right.
SIX = np.array([0.55, 0.55, 0.75, 0.75, 0.95, 1.0]), np.array([1, 0, 1, 1, 0, 1])

said = st.lists(st.tuples(st.sampled_from([0.0, 0.3, 0.5, 0.55, 2 / 3, 0.7, 0.9, 0.92, 1.0]),
                          st.booleans()), min_size=1, max_size=40)


def split(pairs):
    confidence, correct = zip(*pairs, strict=True)
    return np.array(confidence), np.array(correct)


def test_six_verdicts_worked_by_hand():
    # .5 bin: 1 right of 1.1 stated; .7 bin: 2 of 1.5; .9 bin: 1 of 1.95.
    assert ece(*SIX) == pytest.approx((0.1 + 0.5 + 0.95) / 6)
    assert ece(*SIX, how="value") == pytest.approx((0.1 + 0.5 + 0.95 + 0) / 6)
    assert ece(*SIX, bins=2) == pytest.approx((4.55 - 4) / 6)  # all in [.5, 1]
    # Three bins of two each; the last two values share theirs.
    assert ece(*SIX, bins=3, how="mass") == pytest.approx((0.1 + 0.5 + 0.95) / 6)
    assert ece(*SIX, bins=1, how="mass") == pytest.approx(0.55 / 6)
    parts = brier_parts(*SIX)
    assert parts["brier"] == pytest.approx((0.45**2 + 0.55**2 + 2 * 0.25**2 + 0.95**2) / 6)
    assert parts["reliability"] == pytest.approx((2 * 0.05**2 + 2 * 0.25**2 + 0.95**2) / 6)
    assert parts["resolution"] == pytest.approx(
        (2 * (1 / 2 - 2 / 3) ** 2 + 2 * (1 / 3) ** 2 + (2 / 3) ** 2 + (1 / 3) ** 2) / 6)
    assert parts["uncertainty"] == pytest.approx(2 / 3 * 1 / 3)


def test_a_value_on_an_edge_opens_its_bin_and_one_closes_the_last():
    assert bin_of(np.array([0.0, 0.3, 0.7, 0.7 - 1e-12, 0.69, 1.0])).tolist() == [0, 3, 7, 7, 6, 9]


@given(said)
def test_binned_errors_agree_with_a_loop_over_bins(pairs):
    c, y = split(pairs)
    for bins in (5, 10, 15):
        total = 0
        for b in range(bins):
            inside = [i for i in range(len(c)) if min(int(c[i] * bins + 1e-9), bins - 1) == b]
            if inside:
                total += len(inside) * abs(y[inside].mean() - c[inside].mean())
        assert ece(c, y, bins) == pytest.approx(total / len(c))
    gaps = [(c == v).sum() * abs(y[c == v].mean() - v) for v in set(c.tolist())]
    assert ece(c, y, how="value") == pytest.approx(sum(gaps) / len(c))


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40,
                unique_by=lambda pair: pair[0]), st.integers(1, 12))
def test_without_ties_equal_mass_bins_split_the_sorted_verdicts_evenly(pairs, bins):
    c, y = split(sorted(pairs))
    box = [min(int(bins * (2 * i + 1) / (2 * len(c)) + 1e-9), bins - 1) for i in range(len(c))]
    sums = np.bincount(box, y - c, minlength=bins)
    assert ece(c, y, bins, "mass") == pytest.approx(np.abs(sums).sum() / len(c), abs=1e-12)
    assert np.ptp(np.bincount(box, minlength=bins)) <= 1


@given(said)
def test_the_brier_score_is_the_sum_of_its_parts_and_the_parts_are_as_defined(pairs):
    c, y = split(pairs)
    parts = brier_parts(c, y)
    assert parts["brier"] == pytest.approx(np.mean((c - y) ** 2))
    assert parts["brier"] == pytest.approx(
        parts["reliability"] - parts["resolution"] + parts["uncertainty"])
    at_value = np.array([y[c == v].mean() for v in c])
    assert parts["reliability"] == pytest.approx(np.mean((c - at_value) ** 2))
    assert parts["resolution"] == pytest.approx(np.var(at_value))
    assert parts["uncertainty"] == pytest.approx(np.var(y))


@given(said)
def test_merging_bins_never_raises_the_error(pairs):
    c, y = split(pairs)
    assert ece(c, y, bins=1) <= ece(c, y, bins=10) + 1e-12 <= ece(c, y, how="value") + 2e-12
    assert ece(c, y, bins=5) <= ece(c, y, bins=10) + 1e-12


def smooth_by_images(c, y) -> float:
    """The definition, literally: mirror images of each verdict, an integral, a root."""
    t = (np.arange(2000) + 0.5) / 2000

    def error(width):
        images = [stats.norm.pdf(t[:, None], sign * c + 2 * m, width)
                  for m in range(-4, 5) for sign in (1, -1)]
        return np.abs(sum(images) @ (y - c) / len(c)).mean()
    return optimize.brentq(lambda w: error(w) - w, 1e-3, 1)


@pytest.mark.parametrize("seed", range(6))
def test_the_smooth_error_is_its_definition_by_mirror_images(seed):
    rng = np.random.default_rng(seed)
    c = rng.choice([0.5, 0.6, 2 / 3, 0.8, 0.92, 1.0], 30)
    y = (rng.random(30) < 0.6).astype(int)
    assert smooth_ece(c, y) == pytest.approx(smooth_by_images(c, y), abs=2e-4)


def test_the_smooth_error_moves_little_when_a_verdict_does():
    c, y = np.repeat([0.699, 0.7], 50), np.repeat([1, 0], [70, 30])
    moved = c + np.repeat([0.002, 0], 50)
    assert abs(smooth_ece(moved, y) - smooth_ece(c, y)) < 0.003
    assert abs(ece(moved, y) - ece(c, y)) > 0.1  # a bin edge lies between


def test_perfect_calibration_is_zero_by_every_measure_of_error():
    c, y = np.repeat([0.5, 0.75, 1.0], 4), np.array([1, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1])
    for how in ("width", "mass", "value"):
        assert ece(c, y, how=how) == pytest.approx(0)
    assert smooth_ece(c, y) < 1e-4
    assert brier_parts(c, y)["reliability"] == pytest.approx(0)


def test_the_papers_errors_are_the_ten_bin_ones():
    t = published_table()
    for r in metrics(t).query("metric in ('ece', 'brier')").to_dict("records"):
        j = t.column(r["judge"])
        c, right = t.confidence[:, j], t.flag[:, j] == t.faulty
        mine = ece(c, right) if r["metric"] == "ece" else brier_parts(c, right)["brier"]
        assert mine == pytest.approx(r["value"])


def test_the_number_of_distinct_values_is_the_published_one():
    numbers = published("trajectory_judge_numbers").query("metric == 'n_distinct'")
    for row in numbers.itertuples():
        t = published_table()
        found = np.unique(t.confidence[:, t.column(row.subject)])
        assert len(found) == row.published


def test_the_reliability_rows_add_up_to_the_error():
    t = published_table()
    rows = reliability(t, OUTCOME)
    j = t.column(OUTCOME)
    gap = (rows["n"] * (rows["accuracy"] - rows["confidence"]).abs()).sum() / rows["n"].sum()
    assert gap == pytest.approx(ece(t.confidence[:, j], t.flag[:, j] == t.faulty))
    assert (rows["bin_hi"] - rows["bin_lo"]).to_numpy() == pytest.approx(1 / BINS)
    assert rows["n"].sum() == len(t.labels)


def found(t, **options):
    rows = alternatives(t, np.random.default_rng(0), **options)
    return {(r["judge"], r["measure"]): r for r in rows.to_dict("records")}


def test_replicates_are_scored_as_the_point_is():
    t, draws = published_table(), 40
    number = patterns(t)
    _, first, groups = np.unique(number, return_index=True, return_counts=True)
    j, k = t.column(ENSEMBLE), t.column(STEP)
    scores = {"ece": ece, "ece_width_20": lambda c, y: ece(c, y, 20),
              "ece_mass_10": lambda c, y: ece(c, y, 10, "mass"),
              "ece_value": lambda c, y: ece(c, y, how="value"), "smooth_ece": smooth_ece,
              **{f"brier_{x}": lambda c, y, x=x: brier_parts(c, y)[x]
                 for x in ("reliability", "resolution", "uncertainty")}}
    drawn = {name: [] for name in scores}
    for w in next(replicate_weights(groups, t.cell[first], np.random.default_rng(0), draws)):
        at = np.repeat(first, w.astype(int))
        for name, f in scores.items():
            own = [f(t.confidence[at, i], t.flag[at, i] == t.faulty[at]) for i in (j, k)]
            drawn[name].append(own[0] - own[1])
    rows = found(t, draws=draws)
    for name, values in drawn.items():
        row = rows[f"{ENSEMBLE} - {STEP}", name]
        assert (row["lo"], row["hi"]) == pytest.approx(tuple(np.percentile(values, [2.5, 97.5])),
                                                       abs=1e-9), name


def test_the_ensembles_worse_calibration_depends_on_the_binning():
    rows = found(published_table(), draws=2000)
    delta = {m: rows[f"{ENSEMBLE} - {STEP}", m] for m in MEASURES}
    for measure in ("ece", "ece_width_5", "ece_width_15", "ece_width_20", "smooth_ece"):
        assert delta[measure]["lo"] > 0, measure
    for measure in ("ece_value", "ece_mass_5", "ece_mass_10", "brier", "brier_reliability",
                    "brier_resolution"):
        assert delta[measure]["lo"] < 0 < delta[measure]["hi"], measure


def test_a_rule_and_a_silent_judge_get_reasons():
    assert found(published_table(), draws=50)["programmatic", "ece_value"]["why"] == FIXED
    labels = [Label("a", False), Label("b", True)]
    verdicts = [Verdict("a", "j", False, confidence=0.9), Verdict("b", "k", True),
                Verdict("b", "j", True, confidence=0.9)]
    rows = found(table(labels, verdicts), draws=50)
    assert rows["k", "ece"]["why"] == "undefined: no verdict states a confidence"
    assert rows["k", "ece"]["value"] is None and rows["k", "ece"]["n"] == 0
    assert rows["k - j", "ece"]["why"] == "undefined: one of the two is undefined"
    assert rows["j", "ece"]["why"] == SAME
    assert not any(isinstance(x, float) and np.isnan(x) for r in rows.values()
                   for x in r.values())


def test_no_confidence_and_an_unknown_binning_are_refused():
    with pytest.raises(InputError, match="no verdict states a confidence"):
        ece([], [])
    with pytest.raises(InputError, match="how='odd'"):
        ece([0.5], [True], how="odd")
