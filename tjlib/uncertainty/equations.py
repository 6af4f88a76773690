"""Equations 1 and 3 to 5 of RUPA, edge by edge and node by node.

Decision: weights are computed by column and the recursion node by node, by the
same code for a finished run and for one that is still going. Refusal: nothing
here knows what a node is about. Equation 2 is `Similarity.coverage`, equation
6 is `calibrate.reliabilities`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tjlib.trace import InputError
from tjlib.uncertainty.calibrate import Reliability
from tjlib.uncertainty.parameters import EPS, RELATIONS, Parameters
from tjlib.uncertainty.prefix import Edges

__all__ = ["Recursion", "Weighted", "aggregate", "scaled", "weigh"]


class Weighted(NamedTuple):
    """Edges with what equation 1 makes of them; columns of equal length.

    ``strength`` and ``weight`` are at least 0; ``age`` counts nodes, from 1.
    """

    edges: Edges
    age: np.ndarray
    strength: np.ndarray
    reliability: np.ndarray
    weight: np.ndarray


def weigh(edges: Edges, parameters: Parameters, reliability: Reliability | None) -> Weighted:
    """Weigh edges (equation 1); without a calibration every relation counts 1.

    With ``pairs="single"`` only the strongest edge between two nodes is kept.
    """
    if parameters.pairs == "single":
        strength = parameters.strength_of(edges.relation, edges.match, edges.age)
        order = np.lexsort((-strength, edges.source, edges.target))  # stable: ties to the first
        pair = np.stack([edges.target[order], edges.source[order]])
        new = np.ones(len(order), bool)
        new[1:] = (pair[:, 1:] != pair[:, :-1]).any(axis=0)
        edges = edges.only(np.sort(order[new]))
    age = edges.age
    strength = parameters.strength_of(edges.relation, edges.match, age)
    rho = np.ones(len(RELATIONS)) if reliability is None else np.array(
        [reliability.rho[name] for name in RELATIONS])
    rho = rho[edges.relation]
    weight = rho * strength
    if parameters.strength == "factor":  # a capped strength has decayed already
        weight = weight * parameters.decay(age)
    return Weighted(edges, age, strength, rho, weight)


class Recursion:
    """What each node passes on, and the decayed mean of it all, node after node.

    Parameters
    ----------
    parameters : Parameters
    passes_on : bool
        Whether a step passes on its risk, or its local uncertainty only.
    """

    def __init__(self, parameters: Parameters, passes_on: bool = True) -> None:
        self.passed: list[float] = []
        self._parameters, self._passes_on = parameters, passes_on
        self._sum = self._count = 0.0

    def _pass_on(self, p: float, counts: bool) -> None:
        gamma = self._parameters.gamma
        self.passed.append(p)
        self._sum = gamma * (self._sum + (p if counts else 0.0))
        self._count = gamma * (self._count + (1.0 if counts else 0.0))

    def other(self, u: float) -> None:
        """Take a user or env node of uncertainty ``u``, which it passes on as it is."""
        self._pass_on(u, self._parameters.momentum == "all")

    def agent(
        self, u: float, q: float, sources: Sequence[int], weights: Sequence[float]
    ) -> tuple[float, float, float, float]:
        """Take an agent step; return G (eq. 3), m and H (eq. 4), and R (eq. 5)."""
        p, passed = self._parameters, self.passed
        total = risk = 0.0
        for source, weight in zip(sources, weights, strict=True):
            total += weight
            risk += weight * (passed[source] + q)
        g = risk / (total + EPS)
        m = self._sum / (self._count + EPS)
        h = p.eta_g * g + p.eta_m * m
        r = p.lam_u * u + p.lam_h * h
        on = (min(max(r, 0.0), math.inf if p.p_max is None else p.p_max)
              if self._passes_on else u)
        self._pass_on(on, True)
        return g, m, h, r


def scaled(u: float, parameters: Parameters, reliability: Reliability | None) -> float:
    """Put a local uncertainty on the scale the parameters ask for."""
    if parameters.scale == "raw":
        return u
    if reliability is None or not reliability.p95:
        raise InputError("scale p95 needs a calibration on local uncertainties that are not all "
                         "0; fit with local=..., or use raw")
    return min(u / reliability.p95, 1.0)


def aggregate(risks: Sequence[float], how: str = "mean") -> float | None:
    """Return a run's score from its steps' R; None (undefined) without a step.

    Of the first k steps' R it is the score of that prefix.

    Examples
    --------
    >>> aggregate([1.0, 2.0, 6.0]), aggregate([1.0, 6.0, 2.0], "last"), aggregate([])
    (3.0, 2.0, None)
    """
    if not len(risks):
        return None
    if how == "top10":
        risks = sorted(risks)[-math.ceil(len(risks) / 10):]
    if how in ("max", "last"):
        return float(max(risks) if how == "max" else risks[-1])
    return math.fsum(risks) / len(risks)
