"""What the exercises on published verdicts share: the verdicts, their scores, their counts.

Decision: read once. Refusal: nothing here is an exercise.
"""

from __future__ import annotations

from functools import cache

__all__ = ["OUTCOME", "STEP", "faults", "published", "score"]

OUTCOME, STEP = "outcome:qwen2.5:14b", "step:qwen2.5:14b"


@cache
def published():
    """Give the published verdicts as a source, and every score by judge and metric."""
    from tjlib import store
    from tjlib.measure.table import table
    from tjlib.measure.verdicts import metrics

    source = store.load("published")
    scores = metrics(table(source.labels, source.verdicts, source.cost))
    return source, scores.set_index(["judge", "metric"])["value"]


def score(judge: str, metric: str) -> float:
    """Give one score of one judge."""
    return float(published()[1][judge, metric])


def faults() -> tuple[int, int]:
    """Count the faulty and the clean trajectories of the published set."""
    faulty = [label.faulty for label in published()[0].labels]
    return sum(faulty), len(faulty) - sum(faulty)
