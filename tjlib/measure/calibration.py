"""Stated confidence against being right, binned in every way and not at all.

Decision: the target is "the verdict is correct" and a bin is summarised by
the mean of the confidences in it, not its midpoint (paper section 5 and its
published ECEs, which no other reading gives); every measure is a function of
the counts at each distinct stated value, so one definition serves the point
and all replicates. Refusal: no verdict without a stated confidence is scored,
and none is filled in.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from tjlib.measure.table import VerdictTable
from tjlib.trace import InputError

__all__ = [
    "BINS", "MEASURES", "bin_of", "brier_parts", "ece", "reliability", "smooth_ece",
]

#: Ten equal-width bins on [0, 1] (paper section 5).
BINS = 10

# The smooth error's resolution: cosines kept, points of the integral, bisections.
# Smoothing narrower than .01 would need more cosines.
_WAVES, _POINTS, _HALVINGS = 100, 200, 16


def bin_of(confidence: np.ndarray, bins: int = BINS) -> np.ndarray:
    """Return each confidence's equal-width bin on [0, 1]; 1.0 falls in the last."""
    # Rounding first keeps .7 (7 or 6.999...) in one bin whatever the platform's arithmetic.
    return np.minimum(np.round(confidence * bins, 9).astype(int), bins - 1)


def reliability(t: VerdictTable, judge: str, bins: int = BINS) -> pd.DataFrame:
    """Compare stated confidence with observed accuracy, bin by bin (paper Figure 3).

    Parameters
    ----------
    t : VerdictTable
    judge : str
    bins : int
        Number of equal-width bins on [0, 1].

    Returns
    -------
    DataFrame
        Non-empty bins only: bin_lo, bin_hi, n, k (correct verdicts),
        confidence (bin mean) and accuracy, both in [0, 1].
    """
    j = t.column(judge)
    stated = t.seen[:, j] & ~np.isnan(t.confidence[:, j])
    frame = pd.DataFrame({
        "bin": bin_of(t.confidence[stated, j], bins), "confidence": t.confidence[stated, j],
        "correct": (t.flag[:, j] == t.faulty)[stated],
    })
    rows = frame.groupby("bin").agg(n=("correct", "size"), k=("correct", "sum"),
                                    confidence=("confidence", "mean"), accuracy=("correct", "mean"))
    rows.insert(0, "bin_lo", rows.index / bins)
    rows.insert(1, "bin_hi", (rows.index + 1) / bins)
    return rows.reset_index(drop=True)


# Below, v (V,) are the distinct stated values and n, k (..., V) the verdicts
# and the correct ones at each, one row for each replicate.


def _binned(v, n, k, box, bins):
    gap = k - n * v
    sums = (np.where(box == b, gap, 0.0).sum(axis=-1) for b in range(bins))
    return sum(map(np.abs, sums)) / n.sum(axis=-1)


def _by_width(bins):
    return lambda v, n, k: _binned(v, n, k, bin_of(v, bins), bins)


def _by_mass(bins):
    def measure(v, n, k):
        # A value goes whole to the bin its middle rank falls in, which keeps ties together.
        rank = (np.cumsum(n, axis=-1) - n / 2) / n.sum(axis=-1, keepdims=True)
        return _binned(v, n, k, bin_of(rank, bins), bins)
    return measure


def _by_value(v, n, k):
    return np.abs(k - n * v).sum(axis=-1) / n.sum(axis=-1)


def _brier(v, n, k):
    return (n * v**2 - 2 * k * v + k).sum(axis=-1) / n.sum(axis=-1)


def _reliability(v, n, k):
    rate = np.divide(k, n, out=np.zeros_like(n), where=n > 0)
    return (n * (v - rate) ** 2).sum(axis=-1) / n.sum(axis=-1)


def _resolution(v, n, k):
    rate = np.divide(k, n, out=np.zeros_like(n), where=n > 0)
    base = k.sum(axis=-1, keepdims=True) / n.sum(axis=-1, keepdims=True)
    return (n * (rate - base) ** 2).sum(axis=-1) / n.sum(axis=-1)


def _uncertainty(v, n, k):
    base = k.sum(axis=-1) / n.sum(axis=-1)
    return base * (1 - base)


def _smooth(v, n, k):
    # A Gaussian reflected at 0 and 1 is the heat kernel of [0, 1]: cosines, each damped by
    # the width, so that every replicate has a width of its own at no cost.
    wave = np.pi * np.arange(_WAVES)
    at = (np.arange(_POINTS) + 0.5) / _POINTS
    scale = np.where(wave == 0, 1.0, 2.0)
    residual = (k - n * v) / n.sum(axis=-1, keepdims=True)
    weight = residual @ (scale * np.cos(np.outer(v, wave)))
    back = np.cos(np.outer(wave, at))
    low, high = np.zeros(weight.shape[:-1]), np.ones(weight.shape[:-1])
    for _ in range(_HALVINGS):
        width = (low + high) / 2
        damp = np.exp(-((width[..., None] * wave) ** 2) / 2)
        above = np.abs((weight * damp) @ back).mean(axis=-1) > width
        low, high = np.where(above, width, low), np.where(above, high, width)
    return (low + high) / 2


#: Name -> measure; ``ece`` is the paper's. All are 0 for the perfectly
#: calibrated and lower is better, save brier_resolution (higher is better)
#: and brier_uncertainty (a fact about accuracy).
MEASURES = {
    "ece": _by_width(BINS),
    **{f"ece_width_{bins}": _by_width(bins) for bins in (5, 15, 20)},
    **{f"ece_mass_{bins}": _by_mass(bins) for bins in (5, 10)},
    "ece_value": _by_value,
    "smooth_ece": _smooth,
    "brier": _brier,
    "brier_reliability": _reliability,
    "brier_resolution": _resolution,
    "brier_uncertainty": _uncertainty,
}


def _tally(confidence, correct):
    confidence, correct = np.asarray(confidence, float), np.asarray(correct, float)
    if not len(confidence):
        raise InputError("no verdict states a confidence, so calibration is undefined")
    v, at = np.unique(confidence, return_inverse=True)
    return v, np.bincount(at).astype(float), np.bincount(at, correct)


def ece(confidence, correct, bins: int = BINS, how: str = "width") -> float:
    """Return the expected calibration error, population-weighted.

    Parameters
    ----------
    confidence : (n,) array
        In [0, 1].
    correct : (n,) bool array
        Whether each verdict was right.
    bins : int
    how : {"width", "mass", "value"}
        Bins of equal width on [0, 1] (the paper); of equal population, equal
        values kept together; or one for each distinct value (``bins`` unused).

    Returns
    -------
    float
        In [0, 1]; lower is better.

    Raises
    ------
    InputError
        If there is no confidence, or ``how`` is unknown.

    Examples
    --------
    >>> round(ece([0.61, 0.69], [True, False]), 2)  # one bin: .65 stated, .5 right
    0.15
    >>> round(ece([0.61, 0.69], [True, False], how="value"), 2)
    0.54
    """
    if how not in ("width", "mass", "value"):
        raise InputError(f"how={how!r}: choose 'width', 'mass' or 'value'")
    measure = {"width": _by_width(bins), "mass": _by_mass(bins), "value": _by_value}[how]
    return float(measure(*_tally(confidence, correct)))


def brier_parts(confidence, correct) -> dict[str, float]:
    """Split the Brier score: brier = reliability - resolution + uncertainty.

    Exact, because the bins are the distinct values (Murphy 1973).

    Parameters
    ----------
    confidence, correct : (n,) arrays
        As for `ece`.

    Returns
    -------
    dict of str -> float
        brier, reliability (lower is better), resolution (higher is better),
        uncertainty (accuracy times error rate).

    Examples
    --------
    >>> {name: round(x, 3) for name, x in brier_parts([0.5, 1.0, 1.0], [1, 1, 0]).items()}
    {'brier': 0.417, 'reliability': 0.25, 'resolution': 0.056, 'uncertainty': 0.222}
    """
    tally = _tally(confidence, correct)
    parts = {"brier": _brier, "reliability": _reliability, "resolution": _resolution,
             "uncertainty": _uncertainty}
    return {name: float(part(*tally)) for name, part in parts.items()}


def smooth_ece(confidence, correct) -> float:
    """Return the smooth calibration error: no bins, and no bandwidth to choose.

    The residual (correct minus confidence) is smoothed by a reflected
    Gaussian whose width is the error itself.

    Parameters
    ----------
    confidence, correct : (n,) arrays
        As for `ece`.

    Returns
    -------
    float
        In [0, 1]; lower is better.

    References
    ----------
    Blasiok and Nakkiran (2024), Smooth ECE, arXiv 2309.12236, definition of smECE.

    Examples
    --------
    >>> round(smooth_ece([0.9] * 4, [True, True, False, False]), 3)
    0.4
    """
    return float(_smooth(*_tally(confidence, correct)))
