"""Per-step numbers of runs whose text is not here, as tables and as what `propagate` takes.

Decision: one folder a set and one file a table under data/features, so that a page computes every
variant offline; `tjlib.extract` makes the same tables of any log. Refusal: no text, and no
number that is missing becomes 0. The data sheet (data/README.md) says how the files were made.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from tjlib.extract import HELD, WIDEST, Tables
from tjlib.jsonl import atomic
from tjlib.packaged import data_folder, whole
from tjlib.trace import InputError
from tjlib.uncertainty.graph import Graph
from tjlib.uncertainty.parameters import RELATIONS, Parameters
from tjlib.uncertainty.prefix import KINDS, Edges
from tjlib.uncertainty.signals import Local, fill
from tjlib.uncertainty.similarity import similarity as named

__all__ = ["SETS", "graphs", "local", "read", "scores", "write"]

#: Set -> what it is. The testbed's text is built here; the others' is not ours to keep.
SETS = {
    "tau_airline": "tau-bench airline, 50 tasks in four trials, gpt-4o, rewards by tau-bench",
    "testbed": "the 400 trajectories of the judged set, seed 7",
    "agentdojo": "AgentDojo without attacks, 52 tasks by 28 models and defences around them",
    "tau2": "tau2-bench, airline, retail and telecom, 21 agents, published runs",
    "tau2_students": "tau2 in desks made by students, in Spanish, gemma-3-27b",
    "swe_agent": "SWE-agent with claude-3.5-sonnet on 100 issues of SWE-bench Verified",
    "nemo_gym": "NeMo Gym's example rollouts, a patchwork of 52 environments",
}
_IDS = dict.fromkeys(("trajectory_id", "task_id", "trial", "model", "flag", "digest", "tool",
                      "signature", "similarity", "u", "part", "method", "why", "u_source"),
                     "string")
_ANEW = "make the set anew with data/build_features.py"
_PARTS = {"all": ("message", "call"), "message": ("message",), "call": ("call",)}


def read(name: str, folder: str | Path | None = None) -> Tables:
    """Read the tables of a set.

    Parameters
    ----------
    name : str
        One of `SETS`.
    folder : str or Path, optional
        Where its folder is; default data/features.

    Returns
    -------
    Tables
        ``episodes``: reward and success (1, 0 or missing), task_id, trial, model, steps.
        ``steps``: calls, observations, whether the user answers, q (eq. 2, 0 near to 1 far from
        the goal) for each similarity, and the surrogate's reading: tokens, mean NLL and mean
        entropy (nats) of message and calls, their largest, TRACER's ``content_nll``, and tokens
        of context it did not see (missing: a run that it did not read).
        ``nodes``: kind, step (-1: the goal), uncertainty in [0, 1] of an observation, the signal
        behind it, and from which window on.
        ``edges``: target and source node, relation, match in [0, 1] for each similarity (missing:
        no such edge), and from which window on.

    Raises
    ------
    InputError
        For a name that is not there, and a file that is not all there.

    Examples
    --------
    >>> read("tau_airline").episodes["task_id"].nunique()
    50
    """
    if name not in SETS and folder is None:
        raise InputError(f"no features of {name!r}; there are: {', '.join(SETS)}")
    place = (data_folder("features") if folder is None else Path(folder)) / name
    found = Tables(*(whole(place / f"{table}.csv.gz", HELD[table], _IDS, remedy=_ANEW)
                     for table in Tables._fields))
    told = found.episodes.set_index("trajectory_id")["steps"]
    if found.steps["trajectory_id"].value_counts().to_dict() != told[told > 0].to_dict():
        raise InputError(f"{place}: its steps are not those its episodes count; {_ANEW}")
    if odd := {*found.edges["relation"], *found.nodes["kind"]} - {*RELATIONS, *KINDS}:
        raise InputError(f"{place}: no relation or kind of node {min(map(str, odd))!r}; {_ANEW}")
    return found


def write(tables: Tables, name: str, folder: str | Path) -> None:
    """Write the tables of a set, the same bytes for the same numbers.

    Parameters
    ----------
    tables : Tables
        Floats are kept to nine digits.
    name : str
    folder : str or Path
        Must exist; ``name`` is made in it.

    Raises
    ------
    InputError
        If a file cannot be written.
    """
    place = Path(folder) / name
    place.mkdir(exist_ok=True)
    for table, frame in tables._asdict().items():
        text = frame.to_csv(index=False, lineterminator="\n", float_format="%.9g")
        packed = io.BytesIO()
        # Neither a name nor a date goes into the header.
        with gzip.GzipFile("", "wb", 9, packed, mtime=0) as file:
            file.write(text.encode())
        with atomic(place / f"{table}.csv.gz") as out:
            out.write(packed.getvalue())


def graphs(
    tables: Tables, similarity: str = "minilm", parameters: Parameters | None = None
) -> list[Graph]:
    """Rebuild each run's graph.

    Parameters
    ----------
    tables : Tables
    similarity : str
        One the tables were made with.
    parameters : Parameters, optional
        Of any window up to 9.

    Returns
    -------
    list of Graph
        In the order of ``episodes``; nodes have no text, edges no evidence
        but the relation's name, so all variants can be computed and drawn.

    Raises
    ------
    InputError
        For a similarity or a window that the tables do not hold.
    """
    parameters = parameters or Parameters()
    column = f"match_{similarity}"
    if column not in tables.edges:
        have = [c.removeprefix("match_") for c in tables.edges if c.startswith("match_")]
        raise InputError(f"no edges by {similarity!r} in these tables; there are: "
                         f"{', '.join(have)}; name the traces to compute others")
    if parameters.window > WIDEST:
        raise InputError(f"window {parameters.window} is wider than the {WIDEST} steps these "
                         "tables hold; name the traces to compute it")
    edges = tables.edges[tables.edges[column].notna()
                         & (tables.edges["window"] <= parameters.window)]
    nodes, by = tables.nodes, (similarity, named(similarity).thresholds)
    standing = nodes["window"] <= parameters.window
    parts = (
        _split(tables, tables.steps["trajectory_id"], q=tables.steps[f"q_{similarity}"]),
        _split(tables, nodes["trajectory_id"], step=nodes["step"],
               kind=nodes["kind"].map(KINDS.index).astype(np.uint8),
               u=nodes["uncertainty"].astype(float).where(standing, 0.0),
               why=nodes["signal"].where(standing).fillna("")),
        _split(tables, edges["trajectory_id"], source=edges["source"], target=edges["target"],
               code=edges["relation"].map(RELATIONS.index).astype(np.uint8),
               match=edges[column].astype(float), evidence=edges["relation"]))
    return [Graph(
        who, parameters, *by, n["kind"], n["step"], n["u"], [""] * len(n["u"]), n["why"].tolist(),
        np.flatnonzero(n["kind"] == KINDS.index("assistant")), s["q"],
        Edges(e["source"], e["target"], e["code"], e["match"], e["evidence"].tolist()))
        for who, s, n, e in zip(tables.episodes["trajectory_id"], *parts, strict=True)]


def _split(tables: Tables, who: pd.Series, **columns: pd.Series) -> Iterator[dict]:
    """Give each episode's part of columns; ``who`` tells whose each row is."""
    at = pd.Index(tables.episodes["trajectory_id"]).get_indexer(who)
    order = np.argsort(at, kind="stable")
    bounds = np.searchsorted(at[order], np.arange(len(tables.episodes) + 1))
    held = {name: column.to_numpy()[order] for name, column in columns.items()}
    return ({name: column[a:b] for name, column in held.items()}
            for a, b in pairwise(bounds))


def local(tables: Tables, measure: str = "nll", part: str | None = None) -> list[Local]:
    """Take each step's own uncertainty from what the surrogate read, or the agent's own.

    Parameters
    ----------
    tables : Tables
    measure : {"nll", "entropy"}
        Mean over the step's tokens, in nats.
    part : {"all", "message", "call"}, optional
        Default what the kept scores were read off: all, on the testbed call.

    Returns
    -------
    list of Local
        In the order of ``episodes``, source "surrogate"; a step without tokens gets the median of
        earlier ones and is counted. A run that was not read has its agent's own NLL, or nothing.

    Raises
    ------
    InputError
        If a choice is unknown.
    """
    part = part or next(iter(tables.scores["part"].dropna()), "all")
    if measure not in ("nll", "entropy") or part not in _PARTS:
        raise InputError(f"no {measure!r} of {part!r}; give nll or entropy; all, message or call")
    steps, parts = tables.steps, _PARTS[part]
    tokens, values = (steps[[f"{p}_{what}" for p in parts]].astype(float).fillna(0).to_numpy()
                      for what in ("tokens", measure))
    with np.errstate(invalid="ignore"):  # no tokens, no mean
        mean = (tokens * values).sum(1) / tokens.sum(1)
    read = steps["dropped"].notna()
    u = pd.Series(np.where(read, mean, steps["message_nll"].astype(float)))
    rows = _split(tables, steps["trajectory_id"], read=read, u=u)
    return [fill([None if np.isnan(u) else u for u in run["u"].tolist()],
                 "surrogate" if run["read"].any() else "logprob") for run in rows]


def scores(tables: Tables, similarity: str = "minilm", measure: str = "nll") -> pd.DataFrame:
    """Take every method's score of every run, as `scoring.evaluate` reads them.

    Parameters
    ----------
    tables : Tables
    similarity : str
        One the tables were made with.
    measure : {"nll", "entropy"}

    Returns
    -------
    DataFrame
        The columns of `scoring.scores`.

    Raises
    ------
    InputError
        If the tables hold no such scores.
    """
    from tjlib.scoring import COLUMNS  # with what evaluates; the graphs are read without it

    held = tables.scores.query("similarity == @similarity and (u == @measure or u.isna())")
    if held.empty:
        raise InputError(f"no scores by {similarity!r} and {measure!r} in these tables; name the "
                         "traces to compute them")
    about = tables.episodes[[name for name in COLUMNS if name in tables.episodes]]
    found = about.merge(held, on="trajectory_id", validate="one_to_many")[list(COLUMNS)]
    return found.astype(object).where(found.notna(), None)
