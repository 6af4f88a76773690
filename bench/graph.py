"""How fast a trajectory becomes a graph and its risks, and how that grows.

Run ``python bench/graph.py [MODEL]``; MODEL (minilm) times the embedder too. It
exits 1 below 20,000 steps a second on one core with embeddings given, or if a
step of a long run costs twice one of a short run. The loop beside it is the
tests' second definition, on networkx; it checks the same risks on the way.
Processor time is measured, so that another program does not count.
"""

from __future__ import annotations

import itertools
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from plain_graph import graph_of, risks

from tjlib.desk.testbed import judged_set
from tjlib.embedding import embed, forget
from tjlib.trace import Trajectory
from tjlib.uncertainty.calibrate import fit
from tjlib.uncertainty.graph import build, multigraph
from tjlib.uncertainty.online import Stream
from tjlib.uncertainty.propagate import propagate
from tjlib.uncertainty.signals import Local
from tjlib.uncertainty.similarity import Embedder
from tjlib.uncertainty.text import action_text

_FLOOR = 20_000  # steps a second
_WIDTH = 384  # of an embedding, as minilm's


class Given(Embedder):
    """An embedder whose vectors are there already: drawn ones, one a text."""

    def keys(self, texts):
        return [_vector(text) for text in texts]


_drawn: dict[str, np.ndarray] = {}


def _vector(text: str) -> np.ndarray:
    if text not in _drawn:
        drawn = np.random.default_rng(len(_drawn)).normal(size=_WIDTH) + 1.0
        _drawn[text] = drawn / np.linalg.norm(drawn)
    return _drawn[text]


def seconds(work, times: int = 3) -> float:
    """Return the best processor time of some runs."""
    found = []
    for _ in range(times):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def chained(runs: list[Trajectory], length: int) -> Trajectory:
    """Put runs end to end, over and over, to one run of a length."""
    steps = itertools.cycle(step for run in runs for step in run.steps)
    return Trajectory("chained", runs[0].goal, tuple(itertools.islice(steps, length)), "")


def constant(run: Trajectory) -> Local:
    return Local((0.3,) * len(run.steps), "constant")


def one_pass(runs: list[Trajectory], by: Given) -> list[np.ndarray]:
    return [propagate(build(run, None, by), constant(run)).r for run in runs]


def streamed(runs: list[Trajectory], by: Given) -> None:
    for run in runs:
        stream = Stream(run.goal, similarity=by)
        for step in run.steps:
            stream.update(step, u=0.3)


def compared(name: str, runs: list[Trajectory], by: Given) -> float:
    """Time ours and the loop on the same runs and print both; return our steps a second."""
    count = sum(len(run.steps) for run in runs)
    quick = seconds(lambda: one_pass(runs, by))
    plain = seconds(lambda: [risks(graph_of(run, by), constant(run).u) for run in runs], 1)
    apart = max(float(np.abs(ours - risks(graph_of(run, by), constant(run).u)).max())
                for run, ours in zip(runs[:20], one_pass(runs[:20], by), strict=True))
    print(f"{name:28} {count / quick:9,.0f} steps/s; loop {count / plain:8,.0f}; "
          f"ratio {plain / quick:6.1f}; risks apart by {apart:.0e}")
    return count / quick


def main(model: str | None = None) -> int:
    runs, by = judged_set(seed=7)[0], Given()
    by.keys([text for run in runs for text in (run.goal, *map(action_text, run.steps))])
    rate = compared(f"{len(runs)} runs of the desk", runs, by)
    for length in (100, 300):
        compared(f"one run of {length} steps", [chained(runs, length)], by)
    costs = {length: seconds(lambda n=length: one_pass([chained(runs, n)], by)) / length
             for length in (1_000, 10_000, 100_000)}
    print("a step of a run of", ", ".join(
        f"{length:,}: {cost * 1e6:.1f} us" for length, cost in costs.items()))
    graphs = [build(run, None, by) for run in runs]
    count = sum(len(run.steps) for run in runs)
    for name, work in {
        "streamed": lambda: streamed(runs, by),
        "propagation alone": lambda: [propagate(g, constant(r))
                                      for g, r in zip(graphs, runs, strict=True)],
        "calibration of graphs": lambda: fit(graphs),
        "drawn with networkx": lambda: [multigraph(graph) for graph in graphs],
    }.items():
        print(f"{name:28} {count / seconds(work):9,.0f} steps/s")
    if model:
        texts = [action_text(step) for run in runs[:12] for step in run.steps]
        embed([""], model)
        took = seconds(lambda: embed(texts, model), 1)
        vectors = embed(texts, model)
        distinct = list(dict.fromkeys(texts))
        forget()
        embed([""], model)
        alone = seconds(lambda: [embed([text], model) for text in distinct], 1)
        same = all((a == b).all() for a, b in zip(vectors, embed(texts, model), strict=True))
        print(f"{model}: {len(texts)} texts, {len(distinct)} distinct, in batches {took:.1f} s, "
              f"one by one {alone:.1f} s of processor time; same vectors: {same}")
        if not same:
            return 1
    return int(rate < _FLOOR or costs[100_000] > 2 * costs[1_000])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
