"""How well scores put the runs that failed above those that succeeded.

Decision: failure is the positive class and a higher score means more likely
to fail, everywhere. Refusal: a metric that one class leaves undefined is
None, never a number, and a missing score is an error: who compares methods
chooses the runs (`tjlib.measure.compare`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tjlib.measure.tally import METRICS, f1_at, tally, youden_at

__all__ = ["auroc", "average_precision", "best_f1", "chance", "prr", "youden_f1"]


def chance(metric: str, prevalence: float) -> float | None:
    """Return what a metric gives a score that knows nothing.

    Parameters
    ----------
    metric : str
    prevalence : float
        Share of runs that failed, above 0.

    Returns
    -------
    float or None
        .5 for an AUROC, the prevalence p for average precision, 2p / (1 + p)
        for best F1 (flag everything: no score is below it), 0 for PRR and
        rank correlation, None for Youden F1, which has no such value.

    Examples
    --------
    >>> round(chance("best_f1", 0.5), 4)
    0.6667
    """
    return {"average_precision": prevalence, "best_f1": 2 * prevalence / (1 + prevalence),
            "youden_f1": None, "prr": 0.0}.get(metric, 0.5 if "auroc" in metric else 0.0)


def _one(values: np.ndarray) -> float | None:
    return None if np.isnan(values[0]) else float(values[0])


def auroc(failed: Sequence[bool], scores: Sequence[float],
          strata: Sequence | None = None) -> float | None:
    """Return the share of (failed, successful) pairs the score orders rightly, ties one half.

    Parameters
    ----------
    failed, scores, strata
        As `tally`; with strata only pairs that share one count.

    Returns
    -------
    float or None
        In [0, 1], .5 by chance; None without a pair.

    Examples
    --------
    >>> round(auroc([1, 1, 0, 1, 0, 0], [.9, .8, .8, .4, .4, .1]), 6)
    0.777778
    """
    return _one(METRICS["auroc"](tally(failed, scores, strata=strata)))


def average_precision(failed: Sequence[bool], scores: Sequence[float]) -> float | None:
    """Return the sum of precision times recall gained, over distinct scores from the highest.

    In [0, 1], the prevalence by chance; None with one class. Not the area
    under straight lines between the points, which is too high.

    >>> round(average_precision([1, 1, 0, 1, 0, 0], [.9, .8, .8, .4, .4, .1]), 6)
    0.755556
    """
    return _one(METRICS["average_precision"](tally(failed, scores)))


def best_f1(failed: Sequence[bool], scores: Sequence[float]) -> tuple[float, float] | None:
    """Return the largest F1 over all thresholds and the highest threshold that gives it.

    Chosen on the runs it is computed on, so optimistic; at least
    2p / (1 + p), which flagging everything gives. None with one class.

    >>> best_f1([1, 1, 0, 1, 0, 0], [.9, .8, .8, .4, .4, .1])
    (0.75, 0.4)
    """
    t = tally(failed, scores)
    value = _one(METRICS["best_f1"](t))
    return None if value is None else (value, float(t.thresholds[f1_at(t).argmax()]))


def youden_f1(failed: Sequence[bool], scores: Sequence[float]) -> tuple[float, float] | None:
    """Return F1 at the threshold of the largest TPR - FPR, and that threshold.

    The form in the RUPA authors' code; ties go to the higher threshold. None with one class.

    >>> youden_f1([1, 1, 0, 1, 0, 0], [.9, .8, .8, .4, .4, .1])
    (0.5, 0.9)
    """
    t = tally(failed, scores)
    value = _one(METRICS["youden_f1"](t))
    return None if value is None else (value, float(t.thresholds[youden_at(t)[0]]))


def prr(failed: Sequence[bool], scores: Sequence[float]) -> float | None:
    """Return the prediction rejection ratio: 1 for a perfect order, 0 for a random one.

    The mean accuracy of what is kept, over all numbers of runs rejected from
    the highest score, rescaled between accuracy and the perfect order's mean.

    >>> round(prr([1, 0, 0], [.9, .5, .1]), 6), round(prr([1, 0], [.5, .5]), 6)
    (1.0, 0.0)
    """
    return _one(METRICS["prr"](tally(failed, scores)))
