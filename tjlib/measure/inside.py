"""How well scores rank inside each model, and on average over models.

Decision: models fail at very different rates, so a ranking of all runs is half a ranking of
models; a model counts once however many runs or set-ups of it there are. Refusal: a model with
one outcome, or with next to none of the other, has no value and is no part of the mean.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from tjlib.measure.resample import bounds_or_why, replicate_weights
from tjlib.measure.tally import METRICS, tally

__all__ = ["LEAST", "MEAN", "inside"]

#: Runs of each outcome below which a model has no value: ours.
LEAST = 5
#: The name of the row that averages the models.
MEAN = "mean of models"


def inside(
    scores: pd.DataFrame, failed: Sequence[bool], tasks: Sequence, models: Sequence,
    rng: np.random.Generator, *, setups: Sequence | None = None, draws: int = 1000,
    level: float = 0.95,
) -> pd.DataFrame:
    """Measure AUROCs of each model's runs alone.

    Parameters
    ----------
    scores : (n, methods) DataFrame
        None missing; higher means more likely to fail.
    failed, tasks, models : (n,) sequences
    rng : numpy.random.Generator
    setups : (n,) sequence, optional
        What of a model's runs may be compared with each other; by default all.
    draws, level : int, float
        Resamples of tasks, the same for all models; coverage of the interval.

    Returns
    -------
    DataFrame
        One row a model and method, then `MEAN`: model, method, value, lo, hi, n, n_failed, setups
        (how many; in `MEAN`, models averaged), pairs (in `MEAN` of them all), why.

    Examples
    --------
    >>> s = pd.DataFrame({"steps": [9, 8, 7, 3, 2, 1] * 2})
    >>> t = inside(s, [1, 1, 1, 0, 0, 0] * 2, range(12), ["m"] * 12, np.random.default_rng(0))
    >>> t[["model", "value", "pairs"]].to_numpy().tolist()
    [['m', 1.0, 36], ['mean of models', 1.0, 36]]
    """
    failed, models = np.asarray(failed, bool), np.asarray(models, str)
    setups = models if setups is None else np.asarray(setups, str)
    names, task = np.unique(np.asarray(tasks, str), return_inverse=True)
    blocks = replicate_weights(np.ones(len(names), int), np.zeros(len(names), int), rng, draws)
    weights = np.concatenate([np.ones((1, len(names))), *blocks])
    rows, known = [], {method: [] for method in scores}
    for model in dict.fromkeys(models.tolist()):
        of = models == model
        y, stratum = failed[of], setups[of]
        about = {"model": model, "n": int(of.sum()), "n_failed": int(y.sum()),
                 "setups": len(set(stratum)),
                 "pairs": sum(int(y[stratum == s].sum() * (~y[stratum == s]).sum())
                              for s in set(stratum))}
        why = _why(y, about["pairs"])
        for method in scores:
            row = about | {"method": method, "value": None, "lo": None, "hi": None, "why": why}
            if not why:
                drawn = METRICS["auroc"](tally(y, scores[method][of], strata=stratum,
                                               weights=weights[:, task[of]]))
                known[method].append((drawn, about["pairs"]))
                row |= _estimate(drawn, level)
            rows.append(row)
    for method, several in known.items():
        row = {"model": MEAN, "method": method, "value": None, "lo": None, "hi": None,
               "n": len(failed), "n_failed": int(failed.sum()), "setups": len(several),
               "pairs": sum(pairs for _, pairs in several),
               "why": "undefined: no model has a value"}
        if several:
            all_drawn = np.array([drawn for drawn, _ in several])
            there = ~np.isnan(all_drawn)
            total, count = np.where(there, all_drawn, 0.0).sum(0), there.sum(0)
            row |= _estimate(np.divide(total, count, out=np.full(len(total), np.nan),
                                       where=count > 0), level)
        rows.append(row)
    return pd.DataFrame(rows, dtype=object)


def _why(failed: np.ndarray, pairs: int) -> str:
    least = min(failed.sum(), (~failed).sum())
    if not least:
        return f"undefined: {'every' if failed.any() else 'no'} run failed"
    if least < LEAST:
        return f"undefined: fewer than {LEAST} runs that failed, or that did not"
    return "" if pairs else "undefined: no set-up has both outcomes"


def _estimate(drawn: np.ndarray, level: float) -> dict:
    """Read value and interval off the data, first, and its replicates."""
    lo, hi, why = bounds_or_why(drawn[1:], level)
    return {"value": float(drawn[0]), "lo": lo, "hi": hi, "why": why}
