"""What the model-free reply judge catches, what it flags for nothing, and what it costs.

Run ``python bench/reply.py [SIMILARITY ...]`` (jaccard and minilm by default).
Each threshold is set on clean runs of one seed and scored on other seeds:
once on the runs as they are, once with the harmless sentences of the half that
may be looked at added to their replies.
"""

from __future__ import annotations

import itertools
import sys
from functools import partial

import pandas as pd

from tjlib import store
from tjlib.desk.faults import CLAIMS
from tjlib.desk.testbed import judged_set, stream
from tjlib.judges.reply import JUDGES, fit_threshold, judge
from tjlib.measure.replies import appended, by_kind, flagged_share, sentence_flags
from tjlib.measure.sentences import by_sentence
from tjlib.measure.table import table
from tjlib.measure.verdicts import metrics
from tjlib.trace import FAULT_TYPES, InputError, Trajectory

_SET_ON, _ADDED_TO, _CLEAN, _JUDGED = 101, 202, 303, 7  # seeds
_RUNS = 100


def _clean(seed: int, count: int) -> list[Trajectory]:
    runs = (trajectory for trajectory, label in stream(seed) if not label.faulty)
    return list(itertools.islice(runs, count))


def _dressed(runs: list[Trajectory], sentences: pd.DataFrame) -> list[Trajectory]:
    """Add to each run one harmless sentence of the set half, in turn; it stays clean."""
    mine = sentences[(sentences["split"] == "set") & (sentences["harmful"] == 0)]["text"]
    return [appended(run, text) or run
            for run, text in zip(runs, itertools.cycle(mine), strict=False)]


def _share(row: dict) -> str:
    if row["value"] is None:
        return row["why"]
    return f"{row['k']:>3} of {row['n']:<3} {row['value']:.2f} [{row['lo']:.2f}, {row['hi']:.2f}]"


def _report(name: str, threshold, sentences: pd.DataFrame) -> None:
    verdict = partial(judge, threshold=threshold)
    print(f"\n{JUDGES[threshold.similarity]}, threshold {threshold.value} "
          f"set on {threshold.runs} {name}")
    clean = flagged_share(verdict, _clean(_CLEAN, _RUNS))
    print(f"  clean replies flagged          {_share(clean)}, {clean['seconds']:.4f} s each")
    flags = sentence_flags(verdict, _clean(_ADDED_TO, 6), sentences)
    for row in by_kind(flags).to_dict("records"):
        print(f"  {row['split']:6} {row['what']:12} {row['kind']:12} {_share(row)}")
    print("  missed:", *flags[(flags["harmful"] == 1) & (flags["flagged"] < flags["runs"])]
          [["split", "kind", "text"]].agg(" | ".join, axis=1), sep="\n    ")
    print("  false alarms:", *flags[(flags["harmful"] == 0) & (flags["flagged"] > 0)]
          [["split", "kind", "text", "why"]].agg(" | ".join, axis=1), sep="\n    ")
    _judged("testbed", verdict, *judged_set(_JUDGED))
    try:
        released = store.released()
    except InputError as error:
        print(f"  released: {error}")
    else:
        _judged("released", verdict, released.trajectories, released.labels)


def _judged(name: str, verdict, trajectories, labels) -> None:
    verdicts = [verdict(trajectory) for trajectory in trajectories]
    found = table(labels, verdicts)
    wanted = ["precision", "recall", "silent_recall", "loud_recall", "false_alarm_rate",
              *(f"recall|{kind}" for kind in FAULT_TYPES)]
    values = metrics(found).set_index("metric").loc[wanted, ["k", "n", "value"]]
    for metric, row in values.iterrows():
        print(f"  {name:9} {metric:30} {row['k']} of {row['n']}")
    replies = {t.trajectory_id: t.final_answer for t in trajectories}
    for row in by_sentence(found, replies, CLAIMS).to_dict("records"):
        print(f"  {name:9} {row['what']:6} {_share(row)} {row['sentence']}")
    for v, label in zip(verdicts, labels, strict=True):
        if not label.faulty and v.faulty:
            print(f"  {name:9} a clean reply flagged: {v.rationale}")
            break


def main(*similarities: str) -> int:
    sentences = store.sentences()
    for similarity in similarities or JUDGES:
        runs = _clean(_SET_ON, _RUNS)
        for name, given in (("clean runs", runs), ("clean runs with a harmless sentence each",
                                                   _dressed(runs, sentences))):
            _report(name, fit_threshold(given, 0.0, similarity), sentences)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
