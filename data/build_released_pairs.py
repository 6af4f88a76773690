"""Compute data/recorded/released_pairs.csv and released_found.csv anew from the release.

`PYTHONPATH=. python data/build_released_pairs.py` wants the release as `tjlib fetch released`
leaves it. What comes out is counts of pairs and of runs: no text, no instance.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from tjlib import store
from tjlib.measure.ahead import score_pairs
from tjlib.measure.parents import SURVIVAL
from tjlib.measure.table import table
from tjlib.measure.union import alarms
from tjlib.studies import oncases
from tjlib.studies.oncases import Cases, wide
from tjlib.uncertainty.crossfit import half

#: Scores that read no probabilities, which the release has none of.
METHODS = ("rupa_structural", "flat", "repetition", "failing_share", "n_words", "n_steps")
VERSIONS = {"as logged": False, "thoughts emptied": True}
#: Of the runs that are flagged; the pairs are by shared words.
SIMILARITIES = ("jaccard", "minilm")
#: Share of clean runs of the other half of the cases that a score may flag.
ALARM = 0.1


def counted(cases: Cases) -> pd.DataFrame:
    """Count the pairs of each kind by who is ahead, in both versions."""
    replies, parts = {run.trajectory_id: run.final_answer for run in cases.trajectories}, []
    for version, blanked in VERSIONS.items():
        scores = wide(oncases.scored(cases.trajectories, {}, "jaccard", METHODS, blanked=blanked))
        pairs = score_pairs(cases.labels, scores, replies)
        parts.append(pairs.assign(version=version))
    keys = ["version", "judge", "fault", "survival", "reply", "fault_flagged", "parent_flagged"]
    found = pd.concat(parts).groupby(keys, sort=False, as_index=False)["n"].sum()
    return found.sort_values(keys, ignore_index=True)


def found(cases: Cases, similarity: str) -> pd.DataFrame:
    """Count the runs of each kind by whether a judge flags them and whether a score does.

    Scores are of runs without thoughts, which on the release spell the fault.
    """
    t, labels = table(cases.labels, cases.verdicts), cases.labels
    scores = wide(oncases.scored(cases.trajectories, {}, similarity, METHODS[:4], blanked=True))
    halves = [half(label.instance_id) for label in labels]
    parts = []
    for j, judge in enumerate(t.judges):
        for name in scores:
            flagged = alarms(scores[name], ~t.faulty, halves, ALARM)
            parts.append(pd.DataFrame({
                "similarity": similarity, "judge": judge, "score": name,
                "fault": [label.failure_type or "clean" for label in labels],
                "survival": [SURVIVAL[x.outcome_correct] if x.faulty else "clean" for x in labels],
                "flagged": t.flag[:, j].astype(int), "alarm": flagged.astype(int),
                "n": np.ones(len(labels), int)}))
    keys = ["similarity", "judge", "score", "fault", "survival", "flagged", "alarm"]
    return pd.concat(parts).groupby(keys, as_index=False)["n"].sum()


if __name__ == "__main__":
    cases = oncases.load("released", "constant")
    both = pd.concat([found(cases, by) for by in SIMILARITIES])
    for name, frame in (("pairs", counted(cases)), ("found", both)):
        with store.atomic(store.data_folder("recorded") / f"released_{name}.csv") as out:
            out.write(frame.to_csv(index=False, lineterminator="\n").encode())
