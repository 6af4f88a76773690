"""A score minus length, minus its own inputs, and minus the best of its rivals.

Decision: the best rival is chosen on one half of the tasks and compared on the other, both ways
round, for a rival chosen on the runs it is compared on has been given the luck of those runs.
Refusal: no outcome of a half chooses its rival, and a score is never compared across halves, in
which two rivals may stand.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from tjlib.compact import compact
from tjlib.measure.compare import compare
from tjlib.measure.ranking import auroc
from tjlib.uncertainty.crossfit import half

__all__ = ["CONTROLS", "RIVALS", "against", "chosen"]

#: Who may be the best: what costs nothing, either way round, and the methods of others. One
#: that has no score for most of a set's runs is none of that set's.
RIVALS = (
    "n_steps", "fewer_steps", "n_calls", "fewer_calls", "n_words", "fewer_words",
    "failing_share", "repetition", "pe", "sp_sum", "sp_mean", "saup_d", "saup_d0", "saup_rms",
    "tracer", "uprop_single",
)
#: Which pairs of a failed and a successful run are compared.
CONTROLS = {"pooled": "all pairs", "model": "one model", "length": "one length",
            "task": "one task"}
ONE_MODEL = "undefined: the runs are of one model"
NO_RIVAL = "undefined: half of the tasks has no such pair to choose the rival by"


def chosen(
    values: pd.DataFrame, failed: Sequence[bool], halves: Sequence[int],
    strata: Sequence | None = None,
) -> dict[int, str | None]:
    """Choose for each half of the tasks the rival that ranks best on the other.

    Parameters
    ----------
    values : (n, rivals) DataFrame
        Scores, none missing.
    failed, halves : (n,) sequences
    strata : (n,) sequence, optional
        What a pair must share.

    Returns
    -------
    dict of {0, 1} to str or None
        Of equals the first; None where the other half has no pair.

    Examples
    --------
    >>> v = pd.DataFrame({"a": [1, 0, 1, 0], "b": [0, 1, 0, 1]})
    >>> chosen(v, [1, 0, 0, 1], [0, 0, 1, 1])
    {0: 'b', 1: 'a'}
    """
    failed, halves = np.asarray(failed, bool), np.asarray(halves)
    best = {}
    for this in (0, 1):
        other = halves != this
        some = None if strata is None else np.asarray(strata)[other]
        found = {name: auroc(failed[other], values[name][other], some) if other.any() else None
                 for name in values}
        known = {name: value for name, value in found.items() if value is not None}
        best[this] = max(known, key=known.get) if known else None
    return best


def against(
    found: pd.DataFrame, rng: np.random.Generator, draws: int = 1000, *,
    ours: str = "rupa_structural", flat: str = "flat",
) -> pd.DataFrame:
    """Compare a score with length, its inputs and the best rival, under every control.

    Parameters
    ----------
    found : DataFrame
        As `scoring.scores`; runs without an outcome are left out.
    rng : numpy.random.Generator
    draws : int
        Resamples of tasks; a rival, once chosen, stays.
    ours, flat : str
        The score, and its inputs without a graph.

    Returns
    -------
    DataFrame
        One row a control of `CONTROLS` and other ("length", "flat" or "best"): control, other,
        value, lo, hi (difference in AUROC, above 0 where ours ranks failures higher), pairs, n,
        n_failed, n_tasks, why, note and of (what ours is compared with). Pairs with the best
        rival are of one half of the tasks.
    """
    runs, scores, *_ = compact(found)
    runs = runs[runs["success"].notna()]
    most = scores.loc[runs.index].notna().mean() >= 0.5
    rivals = [name for name in RIVALS if name in scores and most[name]]
    scores = scores.loc[runs.index, list(dict.fromkeys([ours, flat, "n_steps", *rivals]))]
    there = scores.notna().all(axis=1)
    runs, scores = runs[there], scores[there]
    failed = ~runs["success"].astype(bool).to_numpy()
    tasks = runs["task_id"].astype(str).to_numpy()
    halves = np.array([half(task) for task in tasks], int)
    strata = {"pooled": np.zeros(len(runs), int), "model": runs["model"].fillna("").to_numpy(str),
              "length": runs["steps"].to_numpy(int), "task": tasks}
    rows = []
    for control, stratum in strata.items():
        best = chosen(scores[rivals], failed, halves, stratum)
        inside = np.unique(np.stack([halves.astype(str), stratum.astype(str)]), axis=1,
                           return_inverse=True)[1].ravel()
        groups = {"length": ("n_steps", stratum), "flat": (flat, stratum)}
        columns = scores[list(dict.fromkeys([ours, flat, "n_steps"]))]
        if None not in best.values():
            taken = [scores[best[h]].iloc[i] for i, h in enumerate(halves)]
            columns, groups["best"] = columns.assign(best=taken), ("best", inside)
        for other in ("length", "flat", "best"):
            name, group = groups.get(other, ("best", None))
            row = {"control": control, "other": other, "value": None, "lo": None, "hi": None,
                   "pairs": None, "n": len(runs), "n_failed": int(failed.sum()),
                   "n_tasks": len(set(tasks)), "why": NO_RIVAL, "note": "", "of": name}
            if other == "best":
                row["of"] = " or ".join(dict.fromkeys(filter(None, best.values())))
            if control == "model" and len(set(stratum)) == 1:
                row["why"] = ONE_MODEL
            elif group is not None:
                table = compare(columns[[ours, name]], failed, tasks, rng, strata={"of": group},
                                pairs=[(ours, name)], draws=draws, metrics=[])
                row |= table.iloc[-1][["value", "lo", "hi", "pairs", "why", "note"]].to_dict()
            rows.append(row)
    return pd.DataFrame(rows, dtype=object)
