"""What the pages on uncertainty compute with, from a log or from the numbers stored of one.

Decision: a page gets the same things whichever of the two it was given: runs
with their outcomes, graphs, each step's own uncertainty, scores. Refusal: a
signal that was asked for and is not there is an error; only "auto" falls back,
to steps that all count alike, and says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import NamedTuple

import msgspec
import numpy as np
import pandas as pd

from tjlib import features, scoring
from tjlib.extract import Tables
from tjlib.formats import registry
from tjlib.formats.imported import Imported
from tjlib.trace import InputError
from tjlib.uncertainty.evidence import NO_LOGPROBS, Evidence
from tjlib.uncertainty.graph import Graph, build
from tjlib.uncertainty.parameters import RELATIONS, Parameters
from tjlib.uncertainty.signals import Local
from tjlib.uncertainty.signals import local as read_off
from tjlib.uncertainty.similarity import similarity

__all__ = ["LOCAL", "OWN", "PUBLIC", "RULES", "SIGNALS", "STORED", "Material", "beside", "load",
           "readable", "settings"]

#: What a step's own uncertainty may be read off.
SIGNALS = ("auto", "nll", "entropy", "constant")

#: The name of the stored numbers of the airline log, as a page's parameter.
STORED = "features"

#: Stored sets of public runs, and what a figure calls them; the students' labels are weak.
PUBLIC = {"tau_airline": "tau-bench airline", "agentdojo": "AgentDojo", "tau2": "tau2",
          "swe_agent": "SWE-agent", "nemo_gym": "NeMo Gym"}

#: The methods that put a step's own uncertainty together, and what a table calls them.
OWN = {"sp_sum": "SP, sum", "sp_mean": "SP, mean", "pe": "PE", "saup_rms": "root mean square"}

#: Those, and what stands beside them; none depends on a parameter of RUPA.
LOCAL = {"random": "random numbers", **OWN, "verbalized": "stated confidence",
         "n_steps": "steps", "fewer_steps": "steps, negated"}

_PLAIN = ("window", "delta", "gamma", "eta_g", "eta_m", "lam_h", "lam_u", "temperature")
#: What a page's RUPA parameters must be, as `chapter.check` takes it.
RULES = {
    "p_max": lambda value: None if value >= 0 else "give a number above 0, or 0 for no cap",
    **dict.fromkeys(RELATIONS, lambda value: None if value >= 0 else (
        "give a strength of 0 or more"))}


class Material(NamedTuple):
    """Runs, and in their order graphs and the steps' own uncertainty.

    ``runs`` is indexed by trajectory_id: task (a run's own id where the log
    names none), failed (None where nobody judged), steps, model (empty where
    unknown). ``scores`` is what `scoring.scores` gives, ``origin`` a phrase
    that says where it all is from. ``evidence`` has the text, of a log only;
    ``summed`` what SAUP takes of each step (the message's plus the calls'),
    of stored numbers only.
    """

    runs: pd.DataFrame
    graphs: list[Graph]
    local: list[Local]
    scores: pd.DataFrame
    origin: str
    evidence: list[Evidence] | None = None
    summed: list[np.ndarray] | None = None

    @property
    def source(self) -> str:
        """What most runs' own uncertainty was read off, one of `signals.SOURCES`."""
        told = [u.source for u in self.local if u.u] or [u.source for u in self.local]
        return max(sorted(set(told)), key=told.count)


def settings(given: SimpleNamespace) -> Parameters:
    """Take RUPA's parameters from those of a page, one a strength, a cap of 0 for none.

    Parameters
    ----------
    given : SimpleNamespace
        As `chapter.check` returns it.

    Returns
    -------
    Parameters
    """
    return Parameters(
        **{name: getattr(given, name) for name in _PLAIN}, p_max=given.p_max or None,
        strengths={name: getattr(given, name) for name in RELATIONS})


def load(
    traces: str, methods: Sequence[str], embedder: str = "jaccard", signal: str = "auto",
    parameters: Parameters | None = None,
) -> Material:
    """Take runs from a log, or the stored numbers of a set.

    Parameters
    ----------
    traces : str
        `STORED`, for the airline log's, a name of `features.SETS`, or a log's path.
    methods : sequence of str
        Of `LOCAL`.
    embedder : str
        Similarity that makes the edges; stored numbers hold some only.
    signal : str
        One of `SIGNALS`: mean negative log-probability or entropy of a step's
        tokens, in nats (of stored numbers under the surrogate model), or a
        constant; "auto" is nll where there is any.
    parameters : Parameters, optional

    Returns
    -------
    Material

    Raises
    ------
    InputError
        If something is not there.
    """
    if signal not in SIGNALS:
        raise InputError(f"no signal {signal!r}; give {', '.join(SIGNALS)}")
    if unknown := [name for name in methods if name not in LOCAL]:
        raise InputError(f"no local signal {unknown[0]!r}; there are: {', '.join(LOCAL)}")
    name = "tau_airline" if traces == STORED else traces
    take = _stored if name in features.SETS else _log
    found = take(name, list(methods), embedder, signal, parameters)
    if found.source == "constant":
        own = found.scores["method"].isin(OWN)
        found.scores.loc[own, ["value", "why", "u_source"]] = [None, NO_LOGPROBS, "constant"]
    return found


def beside(traces: str, chosen: Material) -> dict[str, Material]:
    """Put the stored public sets beside what a page was asked for.

    Parameters
    ----------
    traces : str
        What was asked for, as `load` takes it.
    chosen : Material
        What `load` gave.

    Returns
    -------
    dict of name to Material
        The chosen one first; a log of one's own is "this log". The others are
        read with shared words and by no method.
    """
    name = "tau_airline" if traces == STORED else traces
    first = PUBLIC.get(name, name if name in features.SETS else "this log")
    return {first: chosen} | {
        called: _stored(other, [], "jaccard", "auto", None)
        for other, called in PUBLIC.items() if called != first}


def readable(traces: str, runs: Sequence[Imported], signal: str) -> str:
    """Tell what the steps' own uncertainty of a log is read off, or refuse what is not in it.

    Parameters
    ----------
    traces : str
        The log's path, for the message.
    runs : sequence of Imported
    signal : str
        One of `SIGNALS`.

    Returns
    -------
    {"logprob", "constant"}

    Raises
    ------
    InputError
        If the log does not hold what was asked for.
    """
    has = any(step.logprobs for run in runs for step in run.trajectory.steps)
    if signal == "entropy" or (signal == "nll" and not has):
        what = "the distributions of tokens" if signal == "entropy" else "token log-probabilities"
        raise InputError(f"{traces}: the log does not hold {what}; give signal auto")
    return "logprob" if has and signal != "constant" else "constant"


def _log(traces, methods, embedder, signal, parameters) -> Material:
    log = registry.load(traces)
    runs = [msgspec.structs.replace(run, task_id=run.task_id or run.trajectory.trajectory_id)
            for run in log.runs]
    source = readable(traces, runs, signal)
    local = [read_off(run.trajectory, source) for run in runs]
    by = similarity(embedder)
    graphs = [build(run.trajectory, parameters, by) for run in runs]
    given = {run.trajectory.trajectory_id: {"local": u} for run, u in zip(runs, local, strict=True)}
    unread = f", {len(log.unread)} more unread" * bool(log.unread)
    return Material(
        _runs(pd.DataFrame([{
            "trajectory_id": run.trajectory.trajectory_id, "task_id": run.task_id, "success":
            run.success, "steps": len(run.trajectory.steps), "model": run.model} for run in runs])),
        graphs, local, scoring.scores(runs, methods, given=given) if methods else
        pd.DataFrame(columns=list(scoring.COLUMNS), dtype=object),
        f"{traces} ({log.format}, {len(runs)} runs{unread})",
        [Evidence(run.trajectory, u, by) for run, u in zip(runs, local, strict=True)])


def _stored(name, methods, embedder, signal, parameters) -> Material:
    tables = features.read(name)
    measure = "nll" if signal in ("auto", "constant") else signal
    graphs = features.graphs(tables, embedder, parameters)
    local = features.local(tables, measure)
    if signal in ("nll", "entropy") and all(u.source == "constant" for u in local if u.u):
        raise InputError(f"{name}: nothing read these runs' tokens, so there is no {signal}; "
                         "give signal auto or constant")
    if signal == "constant":
        local = [Local((0.0,) * len(u.u), "constant") for u in local]
    scores = features.scores(tables, embedder, measure)
    order = scores["method"].map({m: i for i, m in enumerate(methods)})
    scores = scores.assign(order=order).dropna(subset=["order"])
    scores = scores.sort_values("order", kind="stable").drop(columns="order")
    return Material(_runs(tables.episodes), graphs, local, scores.reset_index(drop=True),
                    f"{features.SETS[name]}, in data/features",
                    summed=_summed(tables, measure))


def _summed(tables: Tables, measure: str) -> list[np.ndarray]:
    """Add the readings of a step's message and calls, or of the part that the set is scored by."""
    part = next(iter(tables.scores["part"].dropna()), "all")
    kinds = ("message", "call") if part == "all" else (part,)
    both = tables.steps[[f"{kind}_{measure}" for kind in kinds]].astype(float).sum(axis=1)
    held = dict(iter(both.groupby(tables.steps["trajectory_id"], sort=False)))
    return [held[who].to_numpy() if who in held else np.zeros(0)
            for who in tables.episodes["trajectory_id"]]


def _runs(episodes: pd.DataFrame) -> pd.DataFrame:
    failed = np.array([None if pd.isna(success) else not success
                       for success in episodes["success"]], dtype=object)
    return pd.DataFrame({
        "task": episodes["task_id"].to_numpy(), "failed": failed,
        "steps": episodes["steps"].to_numpy(),
        "model": episodes["model"].fillna("").astype(str).to_numpy(),
    }, index=pd.Index(episodes["trajectory_id"], name="trajectory_id"))
