"""The worked example: five nodes, small enough for pencil and paper.

Decision: the same numbers serve the page, the tests and whoever checks another
implementation. Refusal: it is a graph given as such; no text was read to make
it, and it says nothing about any agent.
"""

from __future__ import annotations

import numpy as np

from tjlib.uncertainty.calibrate import Reliability, reliabilities
from tjlib.uncertainty.graph import Graph
from tjlib.uncertainty.parameters import RELATIONS, STRENGTHS, Parameters
from tjlib.uncertainty.prefix import KINDS, Edges
from tjlib.uncertainty.signals import Local
from tjlib.uncertainty.similarity import Thresholds

__all__ = ["EDGES", "KIND", "MEAN", "VARIANCE", "Q", "U", "graph", "local", "reliability"]

#: What each node is, its uncertainty, and the distance of the agent's steps from the goal.
KIND = ("user", "assistant", "env", "assistant", "assistant")
U = (0.0, 0.40, 1.0, 0.60, 0.30)
Q = {1: 0.30, 3: 0.10, 4: 0.20}

#: Source, target, relation, match; strengths at Table 6's constants are these times the match.
EDGES = (
    (0, 1, "sequential", 1.0), (0, 1, "latest", 1.0),
    (2, 3, "sequential", 1.0), (2, 3, "latest", 1.0), (2, 3, "feedback", 1.0),
    (1, 3, "progression", 0.6), (0, 3, "latest", 1.0),
    (3, 4, "sequential", 1.0), (3, 4, "repetition", 0.9), (2, 4, "latest", 1.0),
    (2, 4, "feedback", 1.0), (1, 4, "parallel", 0.5), (0, 4, "latest", 1.0))

#: Mean and variance of each relation's strength over the runs of a training set (eq. 6).
MEAN = {"sequential": 0.35, "latest": 0.75, "repetition": 0.30, "feedback": 0.25,
        "progression": 0.20, "parallel": 0.10}
VARIANCE = {"sequential": 0.0, "latest": 0.0, "repetition": 0.12, "feedback": 0.10,
            "progression": 0.04, "parallel": 0.02}


def graph(parameters: Parameters | None = None) -> Graph:
    """Return the example's graph."""
    kind = np.array([KINDS.index(name) for name in KIND], np.uint8)
    own = kind == KINDS.index("assistant")
    source, target, relation, match = zip(*EDGES, strict=True)
    return Graph(
        "the worked example", parameters or Parameters(), "given", Thresholds(1, 1, 0), kind,
        np.cumsum(own) - 1, np.where(own, 0.0, U), [""] * len(kind), [""] * len(kind),
        np.flatnonzero(own), np.array(list(Q.values())),
        Edges(np.array(source), np.array(target),
              np.array([RELATIONS.index(name) for name in relation], np.uint8),
              np.array(match), ["given"] * len(match)))


def local() -> Local:
    """Return the example's local uncertainties."""
    return Local(tuple(U[node] for node in Q), "logprob")


def reliability(temperature: float = 1.0) -> Reliability:
    """Return the example's calibration."""
    built = graph()
    q, rho = reliabilities(MEAN, VARIANCE, temperature)
    return Reliability(MEAN, VARIANCE, q, rho, temperature, "trajectory", dict(STRENGTHS),
                       "factor", 9, built.similarity, built.thresholds, built.parameters.window)
