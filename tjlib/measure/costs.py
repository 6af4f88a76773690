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

_NAMES = ("latency_s", "prompt_tokens", "completion_tokens")


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
    a, b, given = t.column(judge), t.column(against), {}
    if t.cost is not None:
        given = t.cost.set_index("judge").to_dict("index")
    costs = {name: getattr(t, name)[:, [a, b]] for name in _NAMES}
    both = {name: ~np.isnan(x).any(axis=1) for name, x in costs.items()}
    known = [name for name in _NAMES if costs[name][both[name], 1].sum() > 0]
    sums = {name: [] for name in known}
    # One draw for all currencies, block by block, so memory does not grow with draws x rows.
    ones = np.ones(len(t.labels), int)
    for w in replicate_weights(ones, t.cell, rng, draws) if known else ():
        for name in known:
            sums[name].append(w[:, both[name]] @ costs[name][both[name]])
    out = []
    for name in _NAMES:
        row = {"cost": name, "value": None, "lo": None, "hi": None, "how": "",
               "why": "undefined: not recorded for both judges"}
        if name in known:
            mine, theirs = costs[name][both[name]].T
            drawn = np.concatenate(sums[name])
            drawn = drawn[drawn[:, 1] > 0]
            lo, hi, why = bounds_or_why(drawn[:, 0] / drawn[:, 1], level)
            row |= {"value": float(mine.sum() / theirs.sum()), "lo": lo, "hi": hi,
                    "how": "" if why else "percentile", "why": why}
        elif (means := [given.get(who, {}).get(f"{name}_mean") for who in (judge, against)]) and (
                None not in means and means[1] > 0):
            row |= {"value": means[0] / means[1], "why": "only the means are published"}
        out.append(row)
    return pd.DataFrame(out, dtype=object)
