"""What a prefix cache saved, from a table of prompts read with and without it.

Decision: one trajectory read in two ways is a pair, and pairs are resampled
whole, because what makes one trajectory's prompts long makes them long in
both ways. Seconds and their ratio stand beside the share of tokens: seconds
depend on the machine, the share only on the prompts and their order. Refusal:
nothing is timed here, and a trajectory that one of two ways did not read is
left out of their comparison.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from tjlib.measure.resample import bounds_or_why, replicate_weights
from tjlib.trace import InputError

__all__ = ["COLUMNS", "NO_CACHE", "saved", "served"]

#: A row is one prompt read. ``condition`` is an order of paragraphs or `NO_CACHE`; ``mode`` says
#: whether the judges alternate on one cache or have one each; ``seconds`` are a processor's.
COLUMNS = ("condition", "judge", "mode", "trajectory_id", "prompt_tokens", "cached_tokens",
           "seconds")
#: The condition in which every prompt is read whole, whatever the mode.
NO_CACHE = "no cache"

_PAIRS = (("shared_first", "paper"), ("paper", NO_CACHE), ("shared_first", NO_CACHE))


def _check(prompts: pd.DataFrame) -> None:
    if missing := [name for name in COLUMNS if name not in prompts]:
        raise InputError(f"no column {', '.join(missing)} in the table of prompts; "
                         "make it with bench/prefix.py")
    if prompts.duplicated(["condition", "judge", "mode", "trajectory_id"]).any():
        raise InputError("a prompt stands twice in the table of prompts; make it anew")


def served(prompts: pd.DataFrame) -> pd.DataFrame:
    """Give the share of prompt tokens that came from the cache.

    Parameters
    ----------
    prompts : DataFrame
        `COLUMNS`, as `tjlib.store.recorded_prefix` gives.

    Returns
    -------
    DataFrame
        One row per condition, mode and judge ("all" last): value (share, in
        [0, 1], higher is better; None without a token), k (tokens from the
        cache), n (all tokens), prompts, seconds (a prompt), why. A count of
        this run, with no interval. The first prompt of each cache is in it.

    Raises
    ------
    InputError
        If a column is missing or a prompt stands twice.

    Examples
    --------
    >>> rows = [("paper", "step", "alternating", "t-1", 100, 0, 2.0),
    ...         ("paper", "step", "alternating", "t-2", 100, 90, 0.5)]
    >>> served(pd.DataFrame(rows, columns=COLUMNS))["value"].tolist()
    [0.45, 0.45]
    """
    _check(prompts)
    out = []
    for (condition, mode), group in prompts.groupby(["condition", "mode"], sort=False):
        for judge in [*group["judge"].unique(), "all"]:
            mine = group if judge == "all" else group[group["judge"] == judge]
            k, n = int(mine["cached_tokens"].sum()), int(mine["prompt_tokens"].sum())
            out.append({"condition": condition, "mode": mode, "judge": judge,
                        "value": k / n if n else None, "k": k, "n": n, "prompts": len(mine),
                        "seconds": float(mine["seconds"].mean()),
                        "why": "" if n else "undefined: no token was read"})
    return pd.DataFrame(out, dtype=object)


def saved(
    prompts: pd.DataFrame, rng: np.random.Generator, *, draws: int = 10_000, level: float = 0.95
) -> pd.DataFrame:
    """Give the seconds that one way of reading saves against another, a trajectory.

    Parameters
    ----------
    prompts : DataFrame
        `COLUMNS`; prompts read without a cache stand for every mode.
    rng : numpy.random.Generator
    draws : int
        Replicates of the trajectories that both ways read.
    level : float

    Returns
    -------
    DataFrame
        Per mode, pair of conditions and judge ("all": the sum over the
        judges), two rows: mode, condition, against, judge, measure, value,
        lo, hi, n (trajectories), how, why. ``saved_s`` is the mean of
        ``against`` minus ``condition`` in seconds a trajectory, above 0
        where ``condition`` is faster; ``ratio`` the seconds of ``condition``
        over those of ``against``, below 1 where it is faster.

    Raises
    ------
    InputError
        If a column is missing or a prompt stands twice.

    Examples
    --------
    >>> rows = [("paper", "step", "alternating", "t-1", 100, 0, 2.0),
    ...         ("shared_first", "step", "alternating", "t-1", 100, 50, 1.5)]
    >>> found = saved(pd.DataFrame(rows, columns=COLUMNS), np.random.default_rng(0), draws=20)
    >>> found[found["judge"] == "all"][["measure", "value"]].values.tolist()
    [['saved_s', 0.5], ['ratio', 0.75]]
    """
    _check(prompts)
    out = []
    for mode in prompts.loc[prompts["condition"] != NO_CACHE, "mode"].unique():
        here = prompts[(prompts["mode"] == mode) | (prompts["condition"] == NO_CACHE)]
        seconds = here.pivot_table("seconds", "trajectory_id", ["condition", "judge"])
        for condition, against in _PAIRS:
            if not {condition, against} <= set(here["condition"]):
                continue
            one, other = seconds[condition], seconds[against]
            judges = [judge for judge in one if judge in other]
            for judge in [*judges, "all"]:
                each = judges if judge == "all" else [judge]
                pairs = np.column_stack([one[each].sum(axis=1, skipna=False),
                                         other[each].sum(axis=1, skipna=False)])
                for row in _compared(pairs[~np.isnan(pairs).any(axis=1)], rng, draws, level):
                    out.append({"mode": mode, "condition": condition, "against": against,
                                "judge": judge} | row)
    return pd.DataFrame(out, dtype=object)


def _compared(pairs: np.ndarray, rng, draws: int, level: float) -> list[dict]:
    """Compare two columns of seconds, row by row."""
    n = len(pairs)
    row = {"value": None, "lo": None, "hi": None, "n": n, "how": "",
           "why": "undefined: no trajectory was read in both ways"}
    if not n:
        return [{"measure": measure} | row for measure in ("saved_s", "ratio")]
    ones = np.ones(n, int)
    weights = np.concatenate(list(replicate_weights(ones, np.zeros(n, int), rng, draws)))
    drawn = weights @ pairs / n
    mean = pairs.mean(axis=0)
    out = []
    for measure, value, replicates in (
        ("saved_s", mean[1] - mean[0], drawn[:, 1] - drawn[:, 0]),
        ("ratio", mean[0] / mean[1], drawn[:, 0] / drawn[:, 1]),
    ):
        lo, hi, why = (None, None, "undefined: fewer than two trajectories") if n < 2 else (
            bounds_or_why(replicates, level))
        out.append({"measure": measure} | row | {
            "value": float(value), "lo": lo, "hi": hi, "how": "" if why else "percentile",
            "why": why})
    return out
