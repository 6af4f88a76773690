"""Many runs at once, in many settings: equations 1 and 3 to 5 as columns.

Decision: all runs take their n-th step together and every setting is a column, so that twenty
seeds or a whole study of the numbers cost little more than one scoring. Refusal: no second
reading of anything: weights and variants are those `propagate` uses, and what it can do and this
cannot (one edge a pair, scaled uncertainty, other aggregates) is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tjlib.trace import InputError
from tjlib.uncertainty.equations import weigh
from tjlib.uncertainty.graph import Graph
from tjlib.uncertainty.parameters import EPS, Parameters
from tjlib.uncertainty.prefix import Edges
from tjlib.uncertainty.variants import RANDOM, kept, redrawn, settings

__all__ = ["Batch", "Column", "column", "join", "risks", "scores"]

_MEANT = {"pairs": "many", "scale": "raw", "aggregate": "mean"}


class Batch(NamedTuple):
    """Graphs end to end, nodes and edges numbered through.

    ``first_node``, ``first_edge`` and ``first_step`` have one item a run and
    the total; ``uncertainty`` one a node (0 for the agent's); ``agent`` (its
    node) and ``q`` one an agent step.
    """

    first_node: np.ndarray
    first_edge: np.ndarray
    first_step: np.ndarray
    uncertainty: np.ndarray
    agent: np.ndarray
    q: np.ndarray
    edges: Edges


class Column(NamedTuple):
    """One setting: the weight and source of every edge, and what else equations 3 to 5 ask."""

    parameters: Parameters
    weight: np.ndarray
    source: np.ndarray
    passes_on: bool = True
    with_goal: bool = True


def _firsts(sizes: Sequence[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.array(sizes, int))])


def join(graphs: Sequence[Graph]) -> Batch:
    """Put graphs end to end.

    Parameters
    ----------
    graphs : sequence of Graph
        In any number; built with one window.

    Returns
    -------
    Batch
    """
    node = _firsts([len(g.kind) for g in graphs])
    edge = _firsts([len(g.edges.source) for g in graphs])
    step = _firsts([len(g.agent) for g in graphs])

    def end_to_end(arrays: Sequence[np.ndarray], kind: type) -> np.ndarray:
        return np.concatenate([np.zeros(0, kind), *arrays])

    pairs = list(zip(graphs, node[:-1].tolist(), strict=True))
    uncertainty = end_to_end([g.uncertainty for g in graphs], float)
    agent = end_to_end([g.agent + n for g, n in pairs], int)
    uncertainty[agent] = 0.0
    edges = Edges(end_to_end([g.edges.source + n for g, n in pairs], int),
                  end_to_end([g.edges.target + n for g, n in pairs], int),
                  end_to_end([g.edges.relation for g in graphs], np.uint8),
                  end_to_end([g.edges.match for g in graphs], float), [])
    return Batch(node, edge, step, uncertainty, agent, end_to_end([g.q for g in graphs], float),
                 edges)


def column(
    batch: Batch, parameters: Parameters, variant: str = "full",
    rngs: Sequence[np.random.Generator] | None = None, reliability: np.ndarray | None = None,
) -> Column:
    """Weigh all edges for a setting.

    Parameters
    ----------
    batch : Batch
    parameters : Parameters
        Of the window the graphs were built with.
    variant : str
        One of `variants.VARIANTS`.
    rngs : sequence of numpy.random.Generator, optional
        One a run, for variants that draw.
    reliability : (edges,) array, optional
        Of each edge's relation (eq. 6); default 1.

    Returns
    -------
    Column

    Raises
    ------
    InputError
        For parameters that only `propagate` knows.
    """
    if other := [name for name, only in _MEANT.items() if getattr(parameters, name) != only]:
        raise InputError(f"many runs at once go with {other[0]} {_MEANT[other[0]]} only; "
                         "propagate takes others")
    parameters, passes_on, with_goal = settings(variant, parameters)
    weight = weigh(batch.edges, parameters, None).weight
    weight = weight if reliability is None else weight * reliability
    if variant not in RANDOM:
        return Column(parameters, np.where(kept(variant, batch.edges, None), weight, 0.0),
                      batch.edges.source, passes_on, with_goal)
    stay, source = [np.zeros(0, bool)], [np.zeros(0, int)]
    for run, rng in enumerate(rngs or ()):
        part = slice(*batch.first_edge[run:run + 2])
        first = batch.first_node[run]
        edges = Edges(batch.edges.source[part] - first, batch.edges.target[part] - first,
                      batch.edges.relation[part], batch.edges.match[part], [])
        stay.append(kept(variant, edges, rng))
        source.append(redrawn(variant, edges, rng).source + first)
    return Column(parameters, np.where(np.concatenate(stay), weight, 0.0),
                  np.concatenate(source), passes_on, with_goal)


def _sums(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Add up consecutive rows, so many a group; 0 for an empty group."""
    out, there = np.zeros((len(sizes), values.shape[1])), sizes > 0
    if there.any():
        out[there] = np.add.reduceat(values, (np.cumsum(sizes) - sizes)[there], axis=0)
    return out


def risks(batch: Batch, u: np.ndarray, columns: Sequence[Column]) -> np.ndarray:
    """Compute the risk of every step of every run in every setting.

    Parameters
    ----------
    batch : Batch
    u : (steps,) array
        Local uncertainty of each agent step, run after run.
    columns : sequence of Column

    Returns
    -------
    (steps, columns) array
        R of eq. 5, at least 0.
    """
    k, steps = len(columns), len(batch.agent)
    given = {name: np.array([getattr(c.parameters, name) for c in columns], float)
             for name in ("gamma", "eta_g", "eta_m", "lam_h", "lam_u")}
    gamma = given["gamma"]
    cap = np.array([np.inf if c.parameters.p_max is None else c.parameters.p_max for c in columns])
    passes_on = np.array([c.passes_on for c in columns], bool)
    everybody = np.array([c.parameters.momentum == "all" for c in columns], float)
    q = batch.q[:, None] * np.array([c.with_goal for c in columns], float)
    weight = np.stack([c.weight for c in columns], axis=1)
    moved = any(c.source is not batch.edges.source for c in columns)
    source = np.stack([c.source for c in columns], axis=1) if moved else batch.edges.source

    run = np.repeat(np.arange(len(batch.first_step) - 1), np.diff(batch.first_step))
    level = np.arange(steps) - batch.first_step[run]
    order = np.argsort(level, kind="stable")
    gap = np.diff(batch.agent, prepend=0)[:, None]
    # What nodes that are not the agent's bring to the momentum of the step after them.
    node = np.arange(len(batch.uncertainty))
    after = np.searchsorted(batch.agent, node)
    of_run = np.searchsorted(batch.first_node, node, side="right") - 1
    other = np.flatnonzero((after < steps) & ~np.isin(node, batch.agent))
    other = other[run[after[other]] == of_run[other]]
    fading = gamma ** (batch.agent[after[other]] - other)[:, None] * everybody
    sizes = np.bincount(after[other], minlength=steps)
    brought, counted = (_sums(part, sizes) for part in (
        fading * batch.uncertainty[other, None], fading))

    step_of = np.searchsorted(batch.agent, batch.edges.target)
    n_edges = np.bincount(step_of, minlength=steps)
    total = _sums(weight, n_edges)
    first = np.cumsum(n_edges) - n_edges
    passed = np.repeat(batch.uncertainty[:, None], k, axis=1)
    out = np.zeros((steps, k))
    so_far, count, last = (np.zeros((len(batch.first_step) - 1, k)) for _ in range(3))
    across = np.arange(k)
    for now in np.split(order, np.cumsum(np.bincount(level))[:-1]) if steps else ():
        who, started = run[now], level[now[0]] > 0
        decay = gamma ** gap[now] if started else 0.0
        so_far[who] = decay * (so_far[who] + last[who]) + brought[now]
        count[who] = decay * (count[who] + 1.0) + counted[now]
        into = np.repeat(first[now] - np.cumsum(n_edges[now]) + n_edges[now], n_edges[now])
        into = into + np.arange(len(into))
        came = passed[source[into], across] if moved else passed[source[into]]
        g = (_sums(weight[into] * came, n_edges[now]) + q[now] * total[now]) / (total[now] + EPS)
        h = given["eta_g"] * g + given["eta_m"] * so_far[who] / (count[who] + EPS)
        r = given["lam_u"] * u[now, None] + given["lam_h"] * h
        last[who] = np.where(passes_on, np.clip(r, 0.0, cap), u[now, None])
        out[now], passed[batch.agent[now]] = r, last[who]
    return out


def scores(batch: Batch, u: np.ndarray, columns: Sequence[Column]) -> np.ndarray:
    """Score every run in every setting: the mean of its steps' risks.

    Parameters
    ----------
    batch, u, columns
        As `risks`.

    Returns
    -------
    (runs, columns) array
        NaN for a run without a step.
    """
    n = np.diff(batch.first_step)
    total = _sums(risks(batch, u, columns), n)
    return np.divide(total, n[:, None], out=np.full(total.shape, np.nan), where=n[:, None] > 0)
