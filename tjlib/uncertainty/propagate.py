"""Uncertainty passed on along a trajectory's graph: the terms of every step.

Decision: every term that makes a step's risk is kept, for a risk that cannot
be taken apart explains nothing. Refusal: nothing here knows how a run ended,
and variants that draw do so from the generator they are given.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from tjlib.trace import InputError
from tjlib.uncertainty.calibrate import Reliability
from tjlib.uncertainty.equations import Recursion, Weighted, aggregate, scaled, weigh
from tjlib.uncertainty.graph import Graph
from tjlib.uncertainty.parameters import EPS, RELATIONS, Parameters
from tjlib.uncertainty.prefix import KINDS
from tjlib.uncertainty.signals import Local
from tjlib.uncertainty.variants import kept, redrawn, settings

__all__ = ["Propagation", "propagate"]


class Propagation(NamedTuple):
    """The terms of every agent step of one run, and the edges they came along.

    Columns have one item an agent step: ``u`` local uncertainty, ``q`` distance
    from the goal, ``g`` graph, ``m`` momentum, ``h`` history, ``r`` risk (all
    at least 0, higher is riskier); ``passed`` has one a node.
    """

    graph: Graph
    parameters: Parameters
    variant: str
    source: str
    weighted: Weighted
    u: np.ndarray
    q: np.ndarray
    g: np.ndarray
    m: np.ndarray
    h: np.ndarray
    r: np.ndarray
    passed: np.ndarray

    @property
    def score(self) -> float | None:
        """The run's score, higher is likelier to fail; None (undefined) without a step."""
        return aggregate(self.r.tolist(), self.parameters.aggregate)

    def table(self) -> pd.DataFrame:
        """Return one row an agent step: step, node, U, Q, G, m, H, R, P, edges."""
        agent = self.graph.agent
        at = np.searchsorted(agent, self.weighted.edges.target)
        return pd.DataFrame({
            "step": np.arange(len(agent)), "node": agent, "U": self.u, "Q": self.q, "G": self.g,
            "m": self.m, "H": self.h, "R": self.r, "P": self.passed[agent],
            "edges": np.bincount(at, minlength=len(agent))})

    def edge_table(self) -> pd.DataFrame:
        """Return one row an edge, where it comes from, its weight and its part of G.

        The parts of a step's edges add up to its G, the shares to 1 (to the
        eps of eq. 3). ``source_step`` is -1 for the goal.
        """
        w, graph = self.weighted, self.graph
        source, target = w.edges.source, w.edges.target
        at = np.searchsorted(graph.agent, target)
        total = np.bincount(at, w.weight, len(graph.agent))[at] + EPS
        return pd.DataFrame({
            "step": at, "target": target, "source": source,
            "source_kind": np.array(KINDS, object)[graph.kind[source]],
            "source_step": graph.step[source],
            "relation": np.array(RELATIONS, object)[w.edges.relation], "match": w.edges.match,
            "strength": w.strength, "age": w.age, "reliability": w.reliability,
            "weight": w.weight, "share": w.weight / total,
            "part": w.weight * (self.passed[source] + self.q[at]) / total,
            "evidence": w.edges.evidence})


def propagate(
    graph: Graph, local: Local, *, reliability: Reliability | None = None,
    parameters: Parameters | None = None, variant: str = "full",
    rng: np.random.Generator | None = None,
) -> Propagation:
    """Compute the risk of every agent step of a run.

    Parameters
    ----------
    graph : Graph
    local : Local
        One value an agent step.
    reliability : Reliability, optional
        Default: every relation counts 1.
    parameters : Parameters, optional
        Default those the graph was built with; window and latest must be the same.
    variant : str
        One of `variants.VARIANTS`.
    rng : numpy.random.Generator, optional
        For the variants that draw.

    Returns
    -------
    Propagation

    Raises
    ------
    InputError
        If graph, local uncertainties, calibration and parameters do not fit together.

    Examples
    --------
    >>> from tjlib.trace import Step, Trajectory
    >>> from tjlib.uncertainty.graph import build
    >>> run = Trajectory("t-1", "Refund it.", (Step("Look."),), "")
    >>> done = propagate(build(run), Local((0.4,), "logprob"))
    >>> round(done.score, 3)  # U + eta_g Q: here G is Q, which is 1, and nothing came before
    1.1
    """
    parameters = parameters or graph.parameters
    for name in ("window", "latest"):
        built, asked = getattr(graph.parameters, name), getattr(parameters, name)
        if built != asked:
            raise InputError(f"{graph.trajectory_id}: built with {name} {built}, asked for "
                             f"{asked}; build again")
    if len(local.u) != len(graph.agent):
        raise InputError(f"{graph.trajectory_id}: {len(local.u)} local uncertainties for "
                         f"{len(graph.agent)} steps; give one a step")
    if reliability is not None:
        reliability.check(graph.trajectory_id, graph.similarity, graph.thresholds,
                          graph.parameters)
    parameters, passes_on, with_goal = settings(variant, parameters)
    stay = kept(variant, graph.edges, rng)
    edges = graph.edges if stay.all() else graph.edges.only(np.flatnonzero(stay))
    weighted = weigh(edges, parameters, reliability)
    weighted = weighted._replace(edges=redrawn(variant, weighted.edges, rng))
    q = graph.q if with_goal else np.zeros_like(graph.q)
    u = [scaled(value, parameters, reliability) for value in local.u]
    recursion = Recursion(parameters, passes_on)
    source, weight = weighted.edges.source.tolist(), weighted.weight.tolist()
    bounds = np.searchsorted(weighted.edges.target, np.append(graph.agent, len(graph.kind)))
    bounds, goals, agents = bounds.tolist(), q.tolist(), graph.agent.tolist()
    terms, node = [], 0
    uncertainty = graph.uncertainty.tolist()
    for t, agent in enumerate(agents):
        for other in uncertainty[node:agent]:
            recursion.other(other)
        a, b = bounds[t], bounds[t + 1]
        terms.append(recursion.agent(u[t], goals[t], source[a:b], weight[a:b]))
        node = agent + 1
    for other in uncertainty[node:]:
        recursion.other(other)
    g, m, h, r = np.array(terms, float).reshape(-1, 4).T
    return Propagation(graph, parameters, variant, local.source, weighted, np.array(u, float), q,
                       g, m, h, r, np.array(recursion.passed, float))
