"""Intervals and deltas: the published ones, a plain loop's, scipy's, and none where none is."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from plain_loop import bootstrap, rows_of, score_all
from published_table import (
    ENSEMBLE,
    OUTCOME,
    STEP,
    published,
    published_table,
    released_table,
)
from scipy import stats

from tjlib.measure.intervals import intervals
from tjlib.measure.resample import FIXED, NEVER, SAME, clopper_pearson, replicate_weights
from tjlib.measure.table import patterns, table
from tjlib.measure.verdicts import COST, METRICS
from tjlib.trace import FAULT_TYPES, InputError, Label, Verdict

#: Tolerances of spec/judging.md for B = 10,000: quality metrics, small cells, per-type scores.
WIDE, LATTICE = 0.01, {25: 0.04, 50: 0.02}


def found(t, seed=0, **options):
    rows = intervals(t, np.random.default_rng(seed), **options)
    return {(r["judge"], r["metric"]): r for r in rows.to_dict("records")}


def records_of(t):
    """Turn a table back into verdicts."""
    def none(x):
        return None if x < 0 or np.isnan(x) else x
    return [Verdict(label.trajectory_id, judge, bool(t.flag[i, j]),
                    None if t.step[i, j] < 0 else int(t.step[i, j]),
                    None if t.kind[i, j] < 0 else FAULT_TYPES[t.kind[i, j]],
                    none(t.confidence[i, j]))
            for i, label in enumerate(t.labels) for j, judge in enumerate(t.judges)]


def test_every_published_interval_comes_out_within_tolerance():
    rows = found(published_table())
    numbers = published("trajectory_judge_numbers")
    numbers = numbers[numbers["published_lo"].notna() & numbers["table"].isin(
        ["main", "per_type", "deltas", "appE"])]
    assert len(numbers) == 13
    for row in numbers.itertuples():
        mine = rows[row.subject, row.metric]
        wide = LATTICE.get(row.n, WIDE) + 1e-9
        assert abs(mine["lo"] - row.published_lo) <= wide, (row.subject, row.metric)
        assert abs(mine["hi"] - row.published_hi) <= wide, (row.subject, row.metric)


def test_with_the_same_weights_a_plain_loop_gives_the_same_bounds():
    t, draws = published_table(), 40
    number = patterns(t)
    _, first, groups = np.unique(number, return_index=True, return_counts=True)
    members = [np.flatnonzero(number == p) for p in range(len(groups))]
    rows = rows_of(t.labels, records_of(t))
    weights = np.concatenate(list(replicate_weights(groups, t.cell[first],
                                                    np.random.default_rng(0), draws)))
    drawn = [score_all([rows[members[p][0]] for p, n in enumerate(w) for _ in range(int(n))],
                       t.judges) for w in weights]
    checked = 0
    for key, mine in found(t, draws=draws).items():
        if mine["how"] != "percentile":
            continue
        values = [replicate[key] for replicate in drawn if replicate[key] is not None]
        assert (mine["lo"], mine["hi"]) == pytest.approx(
            tuple(np.percentile(values, [2.5, 97.5])), abs=1e-12), key
        checked += 1
    assert checked > 150


def test_a_plain_loop_with_draws_of_its_own_agrees_up_to_chance():
    t, draws = published_table(), 600
    drawn = bootstrap(rows_of(t.labels, records_of(t)), t.judges, np.random.default_rng(1), draws)
    mine = found(t)
    for metric in ("recall", "silent_recall", "loud_recall", "f1", "ece", "brier", "precision",
                   "type_macro_f1", "step_exact", "false_alarm_rate", "loud_minus_silent"):
        for judge in (OUTCOME, f"{ENSEMBLE} - {STEP}", f"{STEP} - {OUTCOME}"):
            row = mine[judge, metric]
            if row["how"] == "percentile":
                bounds = np.percentile([d[judge, metric] for d in drawn], [2.5, 97.5])
                # Bounds at 600 draws scatter by about a tenth of the interval's width.
                room = 0.12 * (row["hi"] - row["lo"]) + 1e-9
                assert np.abs(bounds - [row["lo"], row["hi"]]).max() <= room, (judge, metric)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_scipys_bootstrap_agrees_on_a_paired_difference(method):
    t = published_table()
    j, k = t.column(ENSEMBLE), t.column(STEP)

    def f1(flag, at):
        hits = (flag & t.faulty)[at].sum(axis=-1)
        return 2 * hits / (flag[at].sum(axis=-1) + t.faulty[at].sum(axis=-1))

    def statistic(*cells, axis):
        at = np.concatenate(cells, axis=axis)
        return f1(t.flag[:, j], at) - f1(t.flag[:, k], at)

    referee = stats.bootstrap(
        [np.flatnonzero(t.cell == c) for c in range(len(t.cells))], statistic, method=method,
        n_resamples=10_000, batch=1000, rng=np.random.default_rng(0)).confidence_interval
    row = found(t, method=method)[f"{ENSEMBLE} - {STEP}", "f1"]
    assert (row["lo"], row["hi"]) == pytest.approx(tuple(referee), abs=0.0015)


def test_a_rule_has_no_interval_by_trajectory_and_says_so():
    rows = found(published_table(), draws=200)
    whys = {m: rows["programmatic", m]["why"] for m in METRICS if m not in COST}
    assert whys.pop("coverage").startswith("a count")
    assert set(whys.values()) == {FIXED}


def test_a_proportion_of_none_or_all_gets_the_exact_bounds_at_the_level_asked_for():
    for level in (0.9, 0.95):
        row = found(published_table(), draws=50, level=level)[STEP, "false_alarm_rate"]
        assert (row["lo"], row["hi"]) == clopper_pearson(0, 100, level)
        assert row["how"] == "exact binomial"


def test_a_delta_of_a_constant_judge_is_the_other_judges_interval():
    rows = found(published_table(), draws=500)
    own, delta = rows[OUTCOME, "recall"], rows[f"{OUTCOME} - programmatic", "recall"]
    shift = rows["programmatic", "recall"]["value"]
    assert delta["lo"] == pytest.approx(own["lo"] - shift)
    assert delta["hi"] == pytest.approx(own["hi"] - shift)


def test_a_share_that_is_the_same_in_every_resample_gets_exact_bounds_and_f1_a_reason():
    # Two types of silent fault, one always flagged and one never: 4 of 8 in any resample.
    labels = [Label(f"{kind}{i}", True, 0, kind, True)
              for kind in FAULT_TYPES[:2] for i in range(4)]
    labels += [Label(f"c{i}", False) for i in range(4)]
    said = [Verdict(x.trajectory_id, judge, x.failure_type == FAULT_TYPES[0])
            for judge in ("j", "rules") for x in labels]
    rows = found(table(labels, said), draws=60)
    row = rows["j", "silent_recall"]
    assert (row["value"], row["k"], row["n"], row["how"]) == (0.5, 4, 8, "exact binomial")
    # P(4 or more of 8) = .025 at p = .1570, and by symmetry at most 4 of 8 at .8430.
    assert (row["lo"], row["hi"]) == pytest.approx((0.1570, 0.8430), abs=1e-4)
    assert rows["j", "f1"]["why"] == SAME  # F1 is no share of a fixed number
    assert rows["j", "coverage"]["lo"] is None
    assert rows["rules", "silent_recall"]["why"] == FIXED


def test_in_the_published_verdicts_only_shares_of_none_or_all_have_exact_bounds():
    rows = found(published_table(), draws=200).values()
    exact = [row for row in rows if row["how"] == "exact binomial"]
    assert exact and all(row["value"] in (0, 1) for row in exact)


def copies(t, times):
    """Repeat every trajectory inside its instance."""
    labels = [Label(f"{x.trajectory_id}/{i}", x.faulty, x.failure_step, x.failure_type,
                    x.outcome_correct, x.instance_id) for x in t.labels for i in range(times)]
    verdicts = [Verdict(f"{v.trajectory_id}/{i}", v.judge, v.faulty, v.failure_step,
                        v.failure_type, v.confidence) for v in records_of(t) for i in range(times)]
    return table(labels, verdicts)


def clustered(instances=30):
    rng = np.random.default_rng(5)
    labels, verdicts = [], []
    for i in range(instances):
        lean = rng.random()
        for k in range(4):
            faulty = k > 0
            labels.append(Label(f"{i}-{k}", faulty, 1 if faulty else None,
                                FAULT_TYPES[k] if faulty else None, k % 2 == 0, f"i{i}"))
            verdicts.append(Verdict(f"{i}-{k}", "j", bool(rng.random() < lean), confidence=0.8))
    return table(labels, verdicts)


def test_copying_every_trajectory_ten_times_narrows_trajectories_but_not_instances():
    once, ten = clustered(), copies(clustered(), 10)
    width = {}
    for by in ("trajectory", "instance"):
        for name, t in (("once", once), ("ten", ten)):
            row = found(t, by=by, draws=2000)["j", "recall"]
            width[by, name] = row["hi"] - row["lo"]
    assert width["instance", "ten"] == width["instance", "once"]
    assert width["trajectory", "ten"] < 0.5 * width["trajectory", "once"]


def test_whole_instances_by_a_plain_loop():
    t, draws = clustered(), 300
    rows = found(t, by="instance", draws=draws)
    cluster = np.unique([x.instance_id for x in t.labels], return_inverse=True)[1]
    size = cluster.max() + 1
    values = []
    for w in next(replicate_weights(np.ones(size, int), np.zeros(size, int),
                                    np.random.default_rng(0), draws)):
        flags = [f for f, faulty, c in zip(t.flag[:, 0], t.faulty, cluster, strict=True)
                 if faulty for _ in range(int(w[c]))]
        values.append(sum(flags) / len(flags))
    row = rows["j", "recall"]
    assert (row["lo"], row["hi"]) == pytest.approx(tuple(np.percentile(values, [2.5, 97.5])))


def test_instances_of_the_released_set_widen_the_outcome_judges_false_alarms_little(shared):
    t, _ = released_table(shared / "released")
    by = {b: found(t, by=b, draws=2000)[OUTCOME, "silent_recall"] for b in
          ("trajectory", "instance")}
    assert len({x.instance_id for x in t.labels}) == 141
    assert by["trajectory"]["value"] == by["instance"]["value"]
    assert by["instance"]["hi"] - by["instance"]["lo"] > (
        by["trajectory"]["hi"] - by["trajectory"]["lo"])


def test_both_sources_give_the_same_quality_intervals_up_to_chance(shared):
    mine, compared = found(published_table()), 0
    for key, row in found(released_table(shared / "released")[0]).items():
        if key[1] in (*COST, "n_flagged") or row["how"] != "percentile":
            continue
        # The published patterns carry confidences to six decimals.
        assert row["value"] == pytest.approx(mine[key]["value"], abs=1e-6)
        assert abs(row["lo"] - mine[key]["lo"]) <= 0.02 + 1e-9, key
        assert abs(row["hi"] - mine[key]["hi"]) <= 0.02 + 1e-9, key
        compared += 1
    assert compared > 150


L = [Label("a", True, 1, "wrong_tool", True, "i"), Label("b", True, 1, "wrong_tool", True, "i")]
DEGENERATE = {
    "one trajectory": ([L[0]], [Verdict("a", "j", True, 1, "wrong_tool", 0.9)]),
    "one class": (L, [Verdict("a", "j", True), Verdict("b", "j", False)]),
    "all right": ([*L, Label("c", False, instance_id="k")],
                  [*(Verdict(x, "j", True, 1, "wrong_tool", 0.9) for x in "ab"),
                   Verdict("c", "j", False, confidence=0.9)]),
    "one cluster": (L, [Verdict("a", "j", True), Verdict("b", "j", False)]),
    "no instances": ([Label("a", False), Label("b", True)], [Verdict("a", "j", True)]),
    "nobody asked of one cell": ([*L, Label("c", False, instance_id="k")],
                                 [Verdict("a", "j", True), Verdict("b", "k", True, confidence=1)]),
    "every reply failed": (L, [Verdict(x, "j", status="error") for x in "ab"]),
    "one stated confidence": ([*L, Label("c", False, instance_id="k")],
                              [Verdict("a", "j", True, confidence=0.7), Verdict("b", "j", True),
                               Verdict("c", "j", False)]),
}


@pytest.mark.parametrize("by", ["trajectory", "instance"])
@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("case", DEGENERATE)
def test_a_degenerate_input_is_explained_without_a_nan_or_a_warning(case, method, by):
    rows = found(table(*DEGENERATE[case]), by=by, method=method, draws=60)
    for row in rows.values():
        assert not any(isinstance(x, float) and np.isnan(x) for x in row.values())
        assert bool(row["why"]) == (row["value"] is None or row["lo"] is None)
        assert (row["lo"] is None) == (row["hi"] is None) == (row["how"] == "")


def test_the_reasons_name_what_is_missing():
    def why(case, metric, **options):
        return found(table(*DEGENERATE[case]), draws=60, **options)["j", metric]["why"]
    assert why("one class", "false_alarm_rate") == "undefined: no clean trajectory was judged"
    assert why("one cluster", "f1", by="instance") == "undefined: only one instance to resample"
    assert why("no instances", "n_flagged", by="instance") == (
        "undefined: the labels name no instances")
    assert why("all right", "f1") == SAME
    # Where some replicates hold no stated confidence, the others still all agree.
    assert why("one stated confidence", "ece") == SAME
    assert why("one stated confidence", "ece", method="bca") in (SAME, NEVER)


@pytest.mark.parametrize(("options", "message"), [
    ({"by": "step"}, "by='step'"), ({"method": "t"}, "method='t'"), ({"draws": 0}, "draws=0")])
def test_unknown_options_are_named(options, message):
    with pytest.raises(InputError, match=message):
        intervals(published_table(), np.random.default_rng(0), **options)


def test_the_same_seed_gives_the_same_bytes_in_processes_with_other_hash_seeds():
    root = Path(__file__).resolve().parents[1]
    code = ("import sys, numpy as np; sys.path.insert(0, 'tests');"
            "from published_table import published_table;"
            "from tjlib.measure.intervals import intervals;"
            "sys.stdout.write(intervals(published_table(), np.random.default_rng(7), draws=300)"
            ".to_csv())")
    texts = [subprocess.run([sys.executable, "-c", code], cwd=root, check=True, text=True,
                            capture_output=True, encoding="utf-8",
                            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(root),
                                              "PYTHONIOENCODING": "utf-8"}).stdout
             for seed in ("1", "2")]
    assert texts[0] == texts[1] and len(texts[0]) > 10_000


def test_bca_says_that_some_replicates_were_undefined():
    # One flag in four clean runs of one cell: a third of the resamples flag nothing, and
    # precision is then undefined.
    labels = [Label(f"c{i}", False) for i in range(4)] + [Label("f", True, None, "wrong_tool")]
    verdicts = [Verdict(x.trajectory_id, "j", x.trajectory_id == "c0") for x in labels]
    row = found(table(labels, verdicts), method="bca", draws=200)["j", "recall"]
    assert row["how"] == "exact binomial"
    labels += [Label("g", True, None, "wrong_tool")]
    verdicts = [Verdict(x.trajectory_id, "j", x.trajectory_id in ("c0", "f")) for x in labels]
    row = found(table(labels, verdicts), method="bca", draws=200)["j", "precision"]
    assert (row["lo"], row["hi"]) == (None, None)
    assert row["why"].startswith("undefined: BCa needs every replicate defined")
