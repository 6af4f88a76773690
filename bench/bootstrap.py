"""Time and weigh the bootstrap: against a plain loop, against scipy, and as it grows.

Run from the repository: ``python bench/bootstrap.py``. Everything is measured in this one run;
only the loop is extrapolated (linearly, from fewer replicates), and says so.
"""

from __future__ import annotations

import resource
import sys
import time
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import plain_loop
from published_table import published_table

from tjlib.measure.intervals import intervals
from tjlib.measure.table import VerdictTable, patterns, table
from tjlib.measure.verdicts import METRICS, columns, ratios
from tjlib.trace import FAULT_TYPES, Label, Verdict

DRAWS = 10_000  # the paper's B


def seconds(work, times: int = 1) -> float:
    """Return the best wall time of some runs."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)


def verdicts_of(t: VerdictTable) -> list[Verdict]:
    """Turn a table back into records, for the loop that reads records."""
    return [Verdict(label.trajectory_id, judge, bool(t.flag[i, j]),
                    None if t.step[i, j] < 0 else int(t.step[i, j]),
                    None if t.kind[i, j] < 0 else FAULT_TYPES[t.kind[i, j]],
                    None if np.isnan(t.confidence[i, j]) else float(t.confidence[i, j]))
            for i, label in enumerate(t.labels) for j, judge in enumerate(t.judges)]


def loop_seconds(t: VerdictTable, draws: int) -> float:
    """Time the plain loop at fewer replicates and scale it up to `DRAWS`."""
    rows = plain_loop.rows_of(t.labels, verdicts_of(t))
    rng = np.random.default_rng(0)
    return seconds(lambda: plain_loop.bootstrap(rows, t.judges, rng, draws)) * DRAWS / draws


def scipy_seconds(t: VerdictTable) -> float:
    """Time `scipy.stats.bootstrap`, vectorised, on the same metrics and differences."""
    matrices = []
    for j in range(len(t.judges)):
        c = columns(t, j)
        matrices.append(np.column_stack(list(c.values())))
        names = list(c)

    def statistic(*cells, axis):
        at = np.concatenate(cells, axis=axis)
        own = []
        for x in matrices:
            sums = dict(zip(names, np.moveaxis(x[at].sum(axis=-2), -1, 0), strict=True))
            own += [np.divide(top, bottom, out=np.zeros_like(bottom), where=bottom > 0)
                    for top, bottom in ratios(sums).values()]
        own = np.array(own).reshape(len(matrices), -1, *own[0].shape)
        gaps = [own[b] - own[a] for a, b in combinations(range(len(matrices)), 2)]
        return np.concatenate([*own, *gaps])

    data = [np.flatnonzero(t.cell == c) for c in range(len(t.cells))]
    return seconds(lambda: stats.bootstrap(
        data, statistic, n_resamples=DRAWS, batch=200, method="percentile",
        rng=np.random.default_rng(0)))


def synthetic(trajectories: int, judges: int, kinds: int) -> VerdictTable:
    """Make labels and verdicts of a given number of distinct trajectories, unlike one another."""
    rng = np.random.default_rng(0)
    flags = rng.random((kinds, judges)) < 0.5
    stated = rng.choice([0.6, 0.7, 0.8, 0.9, 0.95], (kinds, judges))
    steps = rng.integers(0, 6, (kinds, judges))
    labels = [Label(f"t-{i}", i % kinds % 4 > 0, i % kinds % 4 if i % kinds % 4 else None,
                    FAULT_TYPES[i % kinds % 6] if i % kinds % 4 else None,
                    i % kinds % 8 < 4 if i % kinds % 4 else None) for i in range(trajectories)]

    def verdicts():
        for i, label in enumerate(labels):
            k = i % kinds
            for j in range(judges):
                flag = bool(flags[k, j])
                yield Verdict(label.trajectory_id, f"judge-{j}", flag,
                              int(steps[k, j]) if flag else None,
                              FAULT_TYPES[steps[k, j]] if flag else None, float(stated[k, j]),
                              latency_s=1.0, prompt_tokens=500, completion_tokens=100)

    return table(labels, verdicts())


def run(t: VerdictTable, draws: int) -> float:
    return seconds(lambda: intervals(t, np.random.default_rng(0), draws=draws), 2)


def main() -> None:
    t = published_table()
    judges, pairs = len(t.judges), len(t.judges) * (len(t.judges) - 1) // 2
    print(f"{len(t.labels)} trajectories, {judges} judges, {len(METRICS)} metrics, {pairs} pairs "
          f"of judges, {patterns(t).max() + 1} distinct patterns, B = {DRAWS:,}")
    ours, loop, other = run(t, DRAWS), loop_seconds(t, 50), scipy_seconds(t)
    print(f"intervals()             {ours:8.2f} s")
    print(f"plain loop              {loop:8.1f} s   {loop / ours:6.0f} x   (50 replicates, scaled)")
    print(f"scipy.stats.bootstrap   {other:8.1f} s   {other / ours:6.0f} x   (vectorised, full B)")

    print("\n         B   seconds   per 1,000 replicates")
    for draws in (1_250, 2_500, 5_000, 10_000, 20_000):
        took = run(t, draws)
        print(f"{draws:10,} {took:9.3f} {1000 * took / draws:12.4f}")
    print("\n  patterns   seconds   per 1,000 patterns   (5 judges, a trajectory each, B = 1,000)")
    for kinds in (500, 1_000, 2_000, 4_000, 8_000):
        many = synthetic(kinds, 5, kinds)
        took = run(many, 1_000)
        print(f"{patterns(many).max() + 1:10,} {took:9.3f} {1000 * took / kinds:12.4f}")

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    large = synthetic(100_000, 20, 100_000)
    took = seconds(lambda: intervals(large, np.random.default_rng(0), draws=200))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    print(f"\n100,000 trajectories x 20 judges, {patterns(large).max() + 1:,} patterns, B = 200: "
          f"{took:.0f} s, peak {peak:.2f} GB ({before / 1024**2:.2f} GB before)")
    kept = 20 * len(METRICS) * 1_000 * 8 / 1024**3  # a number for each judge, metric, replicate
    print(f"each further 1,000 replicates keep {kept:.3f} GB")


if __name__ == "__main__":
    main()
