"""A log scored by every method, and how well the scores put its failures first.

Decision: one row a run and method, with what the log says of the outcome
beside the score, so that a table says by itself what it can be used for.
Refusal: a method sees the trajectory and never the outcome, and runs nobody
judged are left out of an evaluation and counted.
"""

from __future__ import annotations

import csv
import io
from codecs import getwriter
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from tjlib.compact import Compact, compact
from tjlib.engine import in_order, spread
from tjlib.formats.imported import Imported
from tjlib.measure.compare import compare
from tjlib.trace import InputError
from tjlib.uncertainty.crossfit import crossfit
from tjlib.uncertainty.evidence import LOGPROBS, NO_LOGPROBS, NO_STEP, Evidence
from tjlib.uncertainty.graph import Graph
from tjlib.uncertainty.methods import chosen, score
from tjlib.uncertainty.parameters import Parameters
from tjlib.uncertainty.signals import Local

__all__ = ["COLUMNS", "as_csv", "calibrated", "evaluate", "scores", "stream", "written"]

#: The columns of `scores`.
COLUMNS = ("trajectory_id", "task_id", "trial", "model", "success", "reward", "steps", "method",
           "value", "why", "u_source", "n_imputed")
#: Runs a worker gets at a time: enough that what it loads first does not matter.
_CHUNK = 16
NO_HALF = "not computable: the other half of the tasks has no run to calibrate on"


def stream(
    runs: Iterable[Imported], names: str | Sequence[str] = "all", *,
    given: Mapping[str, Mapping[str, Any]] | None = None, where: int | str = 1, **settings: Any,
) -> Iterator[dict[str, Any]]:
    """Score runs by every method named, as they are read and in their order.

    Parameters
    ----------
    runs : iterable of Imported
        Taken as workers are free, so that a log need not fit into memory.
    names : str or sequence of str
        Names of methods, comma-separated or a list; "all" for every one.
    given : mapping of trajectory_id to mapping, optional
        What is known of single runs beyond the log, as fields of `Evidence`.
    where : int or str
        Processes or a scheduler's address, as `engine.spread`; they change no score.
    **settings
        Fields of `Evidence` that hold for all runs, such as similarity.

    Yields
    ------
    dict
        One for each run and method, by the names of `COLUMNS`; success,
        reward and value are None where there is none.

    Raises
    ------
    InputError
        If a method is unknown.
    """
    names, given = chosen(names), given or {}
    pairs = ((run, dict(given.get(run.trajectory.trajectory_id, {}))) for run in runs)
    work = partial(_rows, names=names, settings=settings)
    for chunk in in_order(spread(work, pairs, where=where, size=_CHUNK)):
        yield from chunk


def scores(
    runs: Sequence[Imported], names: str | Sequence[str] = "all", *,
    progress: Callable[..., Iterable] | None = None, **settings: Any,
) -> pd.DataFrame:
    """Score every run of a log by every method named.

    Parameters
    ----------
    runs, names, **settings
        As `stream`.
    progress : callable, optional
        Called as ``tqdm`` with the runs.

    Returns
    -------
    DataFrame
        `COLUMNS`, a row for each run and method.

    Raises
    ------
    InputError
        If a method is unknown.

    Examples
    --------
    >>> from tjlib.trace import Step, Trajectory
    >>> run = Imported(Trajectory("t-1", "Refund it.", (Step("Look."),), ""), 1, task_id="t")
    >>> scores([run], "n_steps,pe")["value"].tolist()
    [1.0, None]
    """
    rows = stream(progress(runs) if progress else runs, names, **settings)
    return pd.DataFrame(list(rows), columns=list(COLUMNS), dtype=object)


def _rows(
    pairs: Sequence[tuple[Imported, dict[str, Any]]], names: Sequence[str],
    settings: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """Score some runs; what a worker does."""
    rows = []
    for run, given in pairs:
        t = run.trajectory
        about = {"task_id": run.task_id, "trial": run.trial, "model": run.model,
                 "success": run.success, "reward": run.reward, "steps": len(t.steps)}
        rows += [about | row for row in score([Evidence(t, **settings | given)], names)]
    return rows


def calibrated(
    found: pd.DataFrame, graphs: Sequence[Graph], local: Sequence[Local],
    parameters: Parameters | None = None,
) -> pd.DataFrame:
    """Add RUPA with its relations calibrated on the other half of the tasks.

    Parameters
    ----------
    found : DataFrame
        As `scores` returns.
    graphs, local : sequences, one item a run of ``found``, in its order
    parameters : Parameters, optional

    Returns
    -------
    DataFrame
        ``found`` and a row a run for ``rupa_calibrated`` and ``rupa_structural_calibrated``.
    """
    runs = found.drop_duplicates("trajectory_id")
    same = [Local((0.0,) * len(graph.agent), "constant") for graph in graphs]
    rows = []
    for name, own in (("rupa_calibrated", local), ("rupa_structural_calibrated", same)):
        values = crossfit(graphs, own, runs["task_id"], parameters)
        why = ["" if value is not None else NO_HALF if len(graph.agent) else NO_STEP
               for value, graph in zip(values, graphs, strict=True)]
        if name == "rupa_calibrated":
            unknown = [u.source not in LOGPROBS for u in own]
            values = [None if x else value for x, value in zip(unknown, values, strict=True)]
            why = [NO_LOGPROBS if x else y for x, y in zip(unknown, why, strict=True)]
        rows.append(runs.assign(method=name, value=values, why=why).astype(object))
    return pd.concat([found, *rows], ignore_index=True)


def evaluate(
    found: pd.DataFrame | Compact, rng: np.random.Generator, *,
    pairs: Sequence[tuple[str, str]] = (), draws: int = 2000, **settings: Any,
) -> pd.DataFrame:
    """Tell how well each method puts the failed runs of a log first.

    Parameters
    ----------
    found : DataFrame or Compact
        As `scores` or `compact` returns.
    rng : numpy.random.Generator
    pairs : sequence of (method, method)
        Differences to report.
    draws : int
        Resamples of tasks behind each interval.
    **settings
        More of `compare`'s, such as metrics.

    Returns
    -------
    DataFrame
        As `compare`: pooled, and with only pairs of the same number of
        steps, of the same task and, where the log names several, of the
        same model; n_unjudged counts the runs without an outcome.

    Raises
    ------
    InputError
        If no run has an outcome.
    """
    runs, values, *_ = compact(found)
    judged = runs[runs["success"].notna()]
    if judged.empty:
        raise InputError("no run of the log has an outcome; an evaluation needs success or failure")
    strata = {"same_length": judged["steps"].astype(int), "same_task": judged["task_id"]}
    if len(set(judged["model"])) > 1:
        strata["same_model"] = judged["model"].fillna("")
    table = compare(
        values.loc[judged.index], ~judged["success"].astype(bool), judged["task_id"], rng,
        strata=strata, length=judged["steps"].astype(int), pairs=pairs, draws=draws,
        **settings)
    return table.assign(n_unjudged=len(runs) - len(judged))


def written(rows: Iterable[dict[str, Any]], file: BinaryIO) -> Iterator[dict[str, Any]]:
    """Write rows of `stream` as CSV while they pass, as `as_csv` does."""
    writer = csv.writer(getwriter("utf-8")(file), lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow([row[name] for name in COLUMNS])
        yield row


def as_csv(found: pd.DataFrame) -> bytes:
    """Write scores as CSV in UTF-8, every digit kept, nothing where there is no value."""
    out = io.BytesIO()
    deque(written(found.to_dict("records"), out), maxlen=0)
    return out.getvalue()
