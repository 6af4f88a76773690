"""What a judge and a score find together that neither finds alone.

Decision: a score flags above a threshold that clean runs of the other half of
the cases set, at a share of false alarms named beforehand, for a rank beside a
clean twin is no alarm anybody could raise. Refusal: no threshold is set on the
runs it is counted on, and a pair of the two is not picked here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from tjlib.measure.attribution import exact_share

__all__ = ["alarms", "union"]

_TIE = 1e-9


def alarms(
    scores: Sequence[float], clean: Sequence[bool], half: Sequence[int], share: float
) -> np.ndarray:
    """Flag the runs whose score is above what few clean runs of the other half exceed.

    Parameters
    ----------
    scores : (n,) sequence of float
        Higher for likelier faulty; NaN where there is none.
    clean : (n,) sequence of bool
        Runs that may set the threshold.
    half : (n,) sequence of 0 or 1
        Of the cases.
    share : float
        Of those clean runs, the largest that may lie above the threshold.

    Returns
    -------
    (n,) float array
        1 flagged, 0 not, NaN without a score or a clean run in the other half.

    Examples
    --------
    >>> alarms([1, 2, 3, 9, 2], [1, 1, 1, 0, 0], [0, 0, 0, 1, 1], .34).tolist()
    [nan, nan, nan, 1.0, 0.0]
    """
    s, half = np.asarray(scores, float), np.asarray(half)
    out = np.full(len(s), np.nan)
    for side in (0, 1):
        known = np.sort(s[np.asarray(clean, bool) & (half != side) & ~np.isnan(s)])
        if len(known):
            over = int(np.floor(share * len(known) + 1e-9))
            threshold = known[len(known) - 1 - over] if over < len(known) else -np.inf
            out[half == side] = s[half == side] > threshold + _TIE
    return np.where(np.isnan(s), np.nan, out)


def union(
    flags: Sequence[float], alarm: Sequence[float], groups: dict[str, Sequence[bool]]
) -> pd.DataFrame:
    """Count what a judge flags, what a score flags, and what either does.

    Parameters
    ----------
    flags, alarm : (n,) sequences
        1, 0, or NaN where there is no verdict or no alarm: left out of all.
    groups : dict of name to (n,) bool sequence
        Which runs to count over.

    Returns
    -------
    DataFrame
        One row a group and who ("judge", "score", "either", "score alone"):
        value, lo, hi (exact binomial), k, n, how, why.

    Examples
    --------
    >>> t = union([1, 0, 0], [1, 1, 0], {"silent": [True] * 3}).set_index("who")
    >>> t["k"].to_dict()
    {'judge': 1, 'score': 2, 'either': 2, 'score alone': 1}
    """
    f, a = (np.asarray(x, float) for x in (flags, alarm))
    there, out = ~np.isnan(f) & ~np.isnan(a), []
    said = {"judge": f == 1, "score": a == 1, "either": (f == 1) | (a == 1),
            "score alone": (f == 0) & (a == 1)}
    for group, mine in groups.items():
        mine = np.asarray(mine, bool) & there
        for who, flagged in said.items():
            out.append({"group": group, "who": who} | exact_share(
                int((mine & flagged).sum()), int(mine.sum()),
                why="undefined: no run with both a verdict and a score"))
    return pd.DataFrame(out, dtype=object)
