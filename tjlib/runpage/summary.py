"""The counts at the top of a page of runs, and how far its ranking can be trusted.

Decision: trials of a task are no independent runs, so the interval of the
success rate resamples tasks where tasks repeat, and the ranking stands beside
the number of steps, which often does as well. It uses the steps' own
uncertainty only if every run has it, or runs with and without would be
compared. Refusal: a run that was never judged is no failure, a reply that
failed is no verdict, and nothing sees an outcome in order to rank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from tjlib.formats.imported import Imported
from tjlib.measure.attribution import exact_share
from tjlib.measure.rates import tally
from tjlib.measure.resample import bounds_or_why, replicate_weights
from tjlib.scoring import evaluate
from tjlib.trace import Verdict

__all__ = ["FALLBACK", "Tool", "judges", "method", "outcomes", "ranked", "ranking", "sources",
           "tools"]

#: Ranks a log for which the method asked for has no score at all.
FALLBACK = "rupa_structural"

_DRAWS = 2_000
_COLUMNS = {"auroc": "all pairs", "auroc|same_length": "same number of steps",
            "auroc|same_task": "same task"}


class Tool(NamedTuple):
    """How often a tool was called, and how many of the calls came back as errors or not at all."""

    name: str
    calls: int
    errors: int
    unanswered: int


def tools(runs: Sequence[Imported]) -> list[Tool]:
    """Count the calls of each tool, most called first; the n-th observation is the n-th call's."""
    calls, errors, silent = Counter(), Counter(), Counter()
    for run in runs:
        for step in run.trajectory.steps:
            for i, call in enumerate(step.calls):
                calls[call.tool] += 1
                if i >= len(step.observations):
                    silent[call.tool] += 1
                elif not step.observations[i].ok:
                    errors[call.tool] += 1
    return [Tool(name, n, errors[name], silent[name]) for name, n in calls.most_common()]


def outcomes(runs: Sequence[Imported]) -> dict[str, Any]:
    """Give the share of judged runs that succeeded, with its 95 % interval.

    Returns
    -------
    dict
        value, lo, hi (None without a judged run), k, n, how, why, tasks.

    Examples
    --------
    >>> outcomes([])["why"]
    'undefined: the log judges no run'
    """
    judged = [run for run in runs if run.success is not None]
    _, task = np.unique([run.task_id for run in judged], return_inverse=True)
    won = np.array([run.success for run in judged], bool)
    n_tasks = int(task.max()) + 1 if judged else 0
    found = exact_share(int(won.sum()), len(judged), why="undefined: the log judges no run")
    if 1 < n_tasks < len(judged):
        per_task, good = np.bincount(task), np.bincount(task, won)
        drawn = np.concatenate([w @ good / (w @ per_task) for w in replicate_weights(
            np.ones(n_tasks, int), np.zeros(n_tasks, int), np.random.default_rng(0), _DRAWS)])
        lo, hi, why = bounds_or_why(drawn)
        if not why:
            found |= {"lo": lo, "hi": hi, "how": f"{n_tasks} tasks resampled with all their runs"}
    elif n_tasks == 1 < len(judged):
        found |= {"lo": None, "hi": None, "how": "no interval: all runs are of one task"}
    return found | {"tasks": n_tasks}


def method(found: pd.DataFrame, asked: str = "") -> tuple[str, str]:
    """Choose what ranks a log: what was asked for, else RUPA if it scores every run with a step.

    Parameters
    ----------
    found : DataFrame
        As `scoring.scores`, with `FALLBACK` and what was asked for, or else with rupa.
    asked : str
        Ranks even if some runs have no score of it, but not if none has one.

    Returns
    -------
    tuple of str and str
        The method, and why it is that one.
    """
    own = found[(found["method"] == (asked or "rupa")) & (found["steps"] > 0)]
    there = own["value"].notna()
    if asked and there.any():
        return asked, "it was asked for"
    if not asked and len(own) and there.all():
        return "rupa", "every run has log-probabilities"
    if asked in ("", FALLBACK):
        return FALLBACK, "not every run has log-probabilities" if len(own) else "no run has a step"
    return FALLBACK, f"{asked} has no score for any of these runs: " + (
        own["why"].iloc[0] if len(own) else "no run has a step")


def ranked(runs: Sequence[Imported], found: pd.DataFrame, by: str) -> list[Imported]:
    """Put the riskiest run first; equals stay in the order of the log, no score comes last."""
    own = found[found["method"] == by]
    value = {name: np.inf if score is None else -score
             for name, score in zip(own["trajectory_id"], own["value"], strict=True)}
    return sorted(runs, key=lambda run: value[run.trajectory.trajectory_id])


def sources(found: pd.DataFrame) -> list[dict[str, Any]]:
    """Say what the steps' own uncertainty was read off: source, runs, steps, steps without it."""
    once = found.drop_duplicates("trajectory_id")
    return [{"source": source, "runs": len(rows), "steps": int(rows["steps"].sum()),
             "imputed": int(rows["n_imputed"].sum())}
            for source, rows in once.groupby("u_source", sort=True)]


def ranking(found: pd.DataFrame, method: str) -> list[dict[str, Any]]:
    """Tell how well a method puts failed runs first, beside the number of steps.

    Parameters
    ----------
    found : DataFrame
        As `scoring.scores`, with the method and ``n_steps``.
    method : str

    Returns
    -------
    list of dict
        One row a method and one for their difference: name and cells, by
        heading; empty if no run was judged.
    """
    if not found["success"].notna().any():
        return []
    names = list(dict.fromkeys((method, "n_steps")))
    table = evaluate(found[found["method"].isin(names)], np.random.default_rng(0),
                     pairs=[tuple(names)] * (len(names) == 2), draws=_DRAWS)
    return [{"name": name, "cells": {
        title: row for metric, title in _COLUMNS.items()
        for row in rows[rows["metric"] == metric].to_dict("records")}}
        for name, rows in table.groupby("method", sort=False)]


def judges(runs: Sequence[Imported], verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    """Count what each judge was asked, what could be read, and what it flags, by outcome.

    Examples
    --------
    >>> judges([], [Verdict("a", "j", True), Verdict("b", "j", status="timeout")])[0]["unread"]
    '1 timeout'
    """
    won = {run.trajectory.trajectory_id: run.success for run in runs}
    out = []
    for judge, counts in tally(verdicts).to_dict("index").items():
        mine = [v for v in verdicts if v.judge == judge]
        said = [v for v in mine if v.status == "ok"]
        lost = Counter(v.status for v in mine if v.status != "ok")
        out.append({"judge": judge, "n_runs": len(runs), **counts,
                    "share": exact_share(counts["flagged"], counts["read"]),
                    "unread": ", ".join(f"{n} {status}" for status, n in sorted(lost.items())),
                    "of": {outcome: [sum(v.faulty for v in said if won.get(
                        v.trajectory_id) is outcome), sum(won.get(
                            v.trajectory_id) is outcome for v in said)]
                        for outcome in (False, True)}})
    return out
