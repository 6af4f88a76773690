"""What the model-free reply judge catches, what it flags for nothing, and what it costs.

Run ``python bench/reply.py [SIMILARITY ...]`` (none, jaccard and minilm by default).
A threshold is set on clean runs of one seed and scored on other seeds: on the
runs as they are, and with a harmless sentence of the half that may be looked
at added to each. Entities and events alone (none) stand beside those with a
distance, for a sentence of any new sort is far from the evidence, and distance
flags harmless and harmful ones alike.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from functools import partial

import pandas as pd

from tjlib import store
from tjlib.desk.faults import CLAIMS
from tjlib.desk.testbed import clean_runs, judged_set
from tjlib.judges.reply import JUDGES, fit_threshold, judge
from tjlib.measure.replies import appended, by_kind, flagged_share, sentence_flags
from tjlib.measure.sentences import by_sentence
from tjlib.measure.table import table
from tjlib.measure.verdicts import metrics
from tjlib.trace import FAULT_TYPES, InputError, Label, Trajectory, Verdict

_ADDED_TO, _CLEAN, _JUDGED = 202, 303, 7  # seeds
_RUNS = 100
_METRICS = ("precision", "recall", "silent_recall", "loud_recall", "false_alarm_rate",
            *(f"recall|{kind}" for kind in FAULT_TYPES))

Judge = Callable[[Trajectory], Verdict]


def _dressed(runs: list[Trajectory], sentences: pd.DataFrame) -> list[Trajectory]:
    """Add to each run one harmless sentence of the set half, in turn; it stays clean."""
    mine = sentences.query("split == 'set' and harmful == 0")["text"]
    return [appended(run, text) or run
            for run, text in zip(runs, itertools.cycle(mine), strict=False)]


def _print(*columns: str, row: dict) -> None:
    share = row["why"] if row["value"] is None else (
        f"{row['k']:>3} of {row['n']:<3} {row['value']:.2f} [{row['lo']:.2f}, {row['hi']:.2f}]")
    print(" ", *(f"{column:12}" for column in columns), share)


def _sentences(verdict: Judge, sentences: pd.DataFrame, seed: int = _CLEAN) -> None:
    # Runs unseen so far: embeddings are kept.
    clean = flagged_share(verdict, clean_runs(seed, _RUNS))
    _print("clean replies", "flagged", row=clean)
    print(f"  {clean['seconds'] * 1000:.1f} ms a trajectory")
    flags = sentence_flags(verdict, clean_runs(_ADDED_TO, 6), sentences)
    for row in by_kind(flags).to_dict("records"):
        _print(row["split"], row["what"], row["kind"], row=row)
    for row in flags[flags["split"] == "report"].to_dict("records"):
        if row["harmful"] and row["flagged"] < row["runs"]:
            print("  missed:", row["text"])
        if not row["harmful"] and row["flagged"]:
            print("  for nothing:", row["why"])


def _judged(verdict: Judge, trajectories: list[Trajectory], labels: list[Label]) -> None:
    verdicts = [verdict(trajectory) for trajectory in trajectories]
    found = table(labels, verdicts)
    for row in metrics(found).to_dict("records"):
        if row["metric"] in _METRICS:
            print(f"  {row['metric']:30} {row['k']:.0f} of {row['n']:.0f}")
    replies = {t.trajectory_id: t.final_answer for t in trajectories}
    for row in by_sentence(found, replies, CLAIMS).to_dict("records"):
        _print(row["what"], row["sentence"][:40], row=row)
    for v, label in zip(verdicts, labels, strict=True):
        if v.faulty and not label.faulty:
            print("  for nothing, for example:", v.rationale)
            break


def _released(similarity: str, threshold) -> None:
    try:
        released = store.released()
    except InputError as error:
        print(f"\nreleased: {error}")
        return
    pairs = list(zip(released.trajectories, released.labels, strict=True))
    print("\nreleased trajectories, threshold from our testbed")
    _judged(partial(judge, threshold=threshold), *map(list, zip(*pairs, strict=True)))
    clean = [trajectory for trajectory, label in pairs if not label.faulty]
    own = fit_threshold(clean[::2], 0.0, similarity)
    set_on = {trajectory.trajectory_id for trajectory in clean[::2]}
    rest = [pair for pair in pairs if pair[0].trajectory_id not in set_on]
    print(f"\nreleased trajectories, threshold {own.value} from half of their own clean ones")
    _judged(partial(judge, threshold=own), *map(list, zip(*rest, strict=True)))


def main(*similarities: str) -> int:
    sentences = store.sentences()
    for similarity in similarities or JUDGES:
        runs = clean_runs()
        thresholds = {name: fit_threshold(given, 0.0, similarity) for name, given in (
            ("clean runs with a harmless sentence each", _dressed(runs, sentences)),
            ("clean runs", runs))}
        for seed, (name, threshold) in enumerate(thresholds.items(), start=_CLEAN):
            print(f"\n{JUDGES[similarity]}, threshold {threshold.value} from {_RUNS} {name}")
            _sentences(partial(judge, threshold=threshold), sentences, seed)
        print(f"\ntestbed, seed {_JUDGED}, threshold {threshold.value}")
        _judged(partial(judge, threshold=threshold), *judged_set(_JUDGED))
        _released(similarity, threshold)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
