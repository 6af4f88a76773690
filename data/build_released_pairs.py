"""Compute data/recorded/released_pairs.csv anew from the release's trajectories.

`PYTHONPATH=. python data/build_released_pairs.py` wants the release as `tjlib fetch released`
leaves it. What comes out is counts of pairs: no text, no instance.
"""

from __future__ import annotations

import pandas as pd

from tjlib import oncases, store
from tjlib.measure.ahead import score_pairs
from tjlib.oncases import Cases, wide

#: Scores that read no probabilities, which the release has none of.
METHODS = ("rupa_structural", "flat", "repetition", "failing_share", "n_words", "n_steps")
VERSIONS = {"as logged": False, "thoughts emptied": True}


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


if __name__ == "__main__":
    text = counted(oncases.load("released", "constant")).to_csv(index=False, lineterminator="\n")
    with store.atomic(store.data_folder("recorded") / "released_pairs.csv") as out:
        out.write(text.encode())
