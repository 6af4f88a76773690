"""Stated confidence against being right.

Decision: the target is "the verdict is correct" and a bin is summarised by
the mean of the confidences in it, not its midpoint (paper section 5 and its
published ECEs, which no other reading gives). Refusal: no verdict without a
stated confidence is scored, and none is filled in.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from tjlib.measure.table import VerdictTable

__all__ = ["BINS", "bin_of", "reliability"]

#: Ten equal-width bins on [0, 1] (paper section 5).
BINS = 10


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
