"""Runs ready for the methods, from a log with its text or from the numbers stored of one.

Decision: what a page computes does not depend on which of the two it was
given; a stored run has as many steps as the run had, and no word. Refusal: a
signal that was asked for and is not there is an error, and only "auto" falls
back, to steps that all count alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pandas as pd

from tjlib import features
from tjlib.extract import Tables
from tjlib.formats import registry
from tjlib.formats.imported import Imported
from tjlib.trace import InputError, Step, Trajectory
from tjlib.uncertainty.calibrate import Reliability, fit
from tjlib.uncertainty.graph import Graph, build
from tjlib.uncertainty.parameters import Parameters
from tjlib.uncertainty.signals import Local
from tjlib.uncertainty.signals import local as read_off
from tjlib.uncertainty.similarity import similarity

__all__ = ["SIGNALS", "STORED", "WORDLESS", "Material", "crossed", "load"]

#: What a step's own uncertainty may be read off.
SIGNALS = ("auto", "nll", "entropy", "constant")

#: The name of the stored numbers of the airline log, as a page's parameter.
STORED = "features"

#: The methods that read no word, and so can score a stored run: name -> what a table calls it.
WORDLESS = {
    "random": "random numbers", "sp_sum": "sequence probability, sum",
    "sp_mean": "sequence probability, mean", "pe": "predictive entropy",
    "saup_rms": "root mean square", "verbalized": "stated confidence",
    "n_steps": "number of steps", "fewer_steps": "number of steps, negated",
}


class Material(NamedTuple):
    """Runs, and by run their graph, their steps' own uncertainty and, by id, what is known beyond.

    ``given`` is what `scoring.scores` takes under that name. ``origin`` says
    where it all comes from, in a phrase.
    """

    runs: list[Imported]
    graphs: list[Graph]
    local: list[Local]
    given: dict[str, dict[str, Any]]
    origin: str


def load(
    traces: str, embedder: str = "jaccard", signal: str = "auto",
    parameters: Parameters | None = None, part: str = "all",
) -> Material:
    """Take runs from a log, or the stored numbers of a set.

    Parameters
    ----------
    traces : str
        `STORED`, for the airline log's, a name of `features.SETS`, or a log's path.
    embedder : str
        Similarity that makes the edges; stored numbers hold some only.
    signal : str
        One of `SIGNALS`: mean negative log-probability or entropy of a step's
        tokens, in nats (of stored numbers under the surrogate model), or a
        constant; "auto" is nll where there is any.
    parameters : Parameters, optional
    part : str
        Of a stored step, as `features.local`.

    Returns
    -------
    Material

    Raises
    ------
    InputError
        If something is not there.

    Examples
    --------
    >>> found = load("testbed", signal="constant")
    >>> len(found.runs), found.runs[0].trajectory.steps[0].thought, found.local[0].source
    (400, '', 'constant')
    """
    if signal not in SIGNALS:
        raise InputError(f"no signal {signal!r}; give {', '.join(SIGNALS)}")
    name = "tau_airline" if traces == STORED else traces
    if name in features.SETS:
        return _stored(name, embedder, signal, parameters, part)
    log = registry.load(traces)
    runs = log.runs
    has = any(step.logprobs for run in runs for step in run.trajectory.steps)
    if signal == "entropy" or (signal == "nll" and not has):
        what = "the distributions of tokens" if signal == "entropy" else "token log-probabilities"
        raise InputError(f"{traces}: the log does not hold {what}; give signal auto or constant")
    source = "logprob" if has and signal != "constant" else "constant"
    local = [read_off(run.trajectory, source) for run in runs]
    by = similarity(embedder)
    graphs = [build(run.trajectory, parameters, by) for run in runs]
    given = {run.trajectory.trajectory_id: {"local": u} for run, u in zip(runs, local, strict=True)}
    unread = f", {len(log.unread)} unread" * bool(log.unread)
    return Material(runs, graphs, local, given,
                    f"{traces} ({log.format}, {len(runs)} runs{unread})")


def _stored(
    name: str, embedder: str, signal: str, parameters: Parameters | None, part: str,
) -> Material:
    tables = features.read(name)
    graphs = features.graphs(tables, embedder, parameters)
    read = tables.steps["dropped"].notna().all()
    if signal == "constant" or (signal == "auto" and not read):
        local = [Local((0.0,) * len(graph.agent), "constant") for graph in graphs]
        return Material(list(_runs(tables)), graphs, local, {
            g.trajectory_id: {"local": u} for g, u in zip(graphs, local, strict=True)},
            f"{features.SETS[name]}, in data/features")
    measure = "nll" if signal == "auto" else signal
    local = features.local(tables, measure, part)
    rows = dict(iter(tables.steps.groupby("trajectory_id", sort=False)))
    given = {}
    for graph, u in zip(graphs, local, strict=True):
        steps = rows.get(graph.trajectory_id, tables.steps.iloc[:0])
        message, call = (steps[f"{part}_tokens"].fillna(0) for part in ("message", "call"))
        given[graph.trajectory_id] = {
            "local": u, "tokens": (message + call).astype(int).tolist(),
            "parts": [tuple(None if pd.isna(x) else x for x in pair) for pair in zip(
                steps[f"message_{measure}"], steps[f"call_{measure}"], strict=True)]}
    return Material(list(_runs(tables)), graphs, local, given,
                    f"{features.SETS[name]}, in data/features; surprise of SmolLM2")


def _runs(tables: Tables) -> Iterator[Imported]:
    for row in tables.episodes.to_dict("records"):
        bare = Trajectory(row["trajectory_id"], "", (Step(""),) * int(row["steps"]), "")
        known = {name: None if pd.isna(row[name]) else row[name]
                 for name in ("success", "reward", "task_id", "trial", "model")}
        success = None if known["success"] is None else bool(known["success"])
        yield Imported(bare, 1, success, known["reward"], known["task_id"] or "", known["trial"],
                       known["model"])


def crossed(material: Material, halves: list[int]) -> list[Reliability | None]:
    """Weigh each run's relations by the runs of the other half (equation 6), without a label.

    Parameters
    ----------
    material : Material
    halves : list of int
        0 or 1 for each run, the same for all trials of a task.

    Returns
    -------
    list of Reliability or None
        One a run; None, every relation alike, where the other half has no step.
    """
    def of(half: int) -> Reliability | None:
        rows = [i for i, h in enumerate(halves) if h == half and len(material.graphs[i].agent)]
        if not rows:
            return None
        return fit([material.graphs[i] for i in rows], [material.local[i] for i in rows])

    fitted = [of(0), of(1)]
    return [fitted[1 - half] for half in halves]
