"""How many times one judge costs another, in each currency.

Decision: a ratio of means over the same trajectories, drawn together. Refusal:
no interval where only the means are known, and no ratio to a judge that costs
nothing.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from tjlib.measure.resample import bounds_or_why, replicate_weights
from tjlib.measure.table import VerdictTable

__all__ = ["cost_ratio"]


def cost_ratio(
    t: VerdictTable, judge: str, against: str, rng: np.random.Generator, *, draws: int = 10_000,
    level: float = 0.95,
) -> pd.DataFrame:
    """Divide one judge's mean cost by another's: time, prompt and completion tokens.

    Parameters
    ----------
    t : VerdictTable
    judge, against : str
    rng : numpy.random.Generator
    draws : int
        Replicates of trajectories inside design cells, where each verdict
        records its cost.
    level : float

    Returns
    -------
    DataFrame
        Rows latency_s, prompt_tokens, completion_tokens: cost, value (above 1
        where ``judge`` costs more), lo, hi, how, why.

    Examples
    --------
    >>> from tjlib.measure.table import table
    >>> from tjlib.trace import Label, Verdict
    >>> t = table([Label("a", False)], [Verdict("a", "x", False, latency_s=3.0),
    ...                                 Verdict("a", "y", False, latency_s=2.0)])
    >>> cost_ratio(t, "x", "y", np.random.default_rng(0), draws=5)["value"].tolist()
    [1.5, None, None]
    """
    a, b, out = t.column(judge), t.column(against), []
    given = {} if t.cost is None else t.cost.set_index("judge").to_dict("index")
    weights = list(replicate_weights(np.ones(len(t.labels), int), t.cell, rng, draws))
    for name in ("latency_s", "prompt_tokens", "completion_tokens"):
        values = getattr(t, name)
        row = {"cost": name, "value": None, "lo": None, "hi": None, "how": "",
               "why": "undefined: not recorded for both judges"}
        both = ~np.isnan(values[:, [a, b]]).any(axis=1)
        if values[both, b].sum() > 0:
            mine, theirs = values[both, a], values[both, b]
            sums = np.concatenate([w[:, both] @ np.column_stack([mine, theirs]) for w in weights])
            drawn = sums[sums[:, 1] > 0, 0] / sums[sums[:, 1] > 0, 1]
            lo, hi, why = bounds_or_why(drawn, level)
            row |= {"value": float(mine.sum() / theirs.sum()), "lo": lo, "hi": hi,
                    "how": "" if why else "percentile", "why": why}
        elif (means := [given.get(who, {}).get(f"{name}_mean") for who in (judge, against)]) and (
                None not in means and means[1] > 0):
            row |= {"value": means[0] / means[1], "why": "only the means are published"}
        out.append(row)
    return pd.DataFrame(out, dtype=object)
