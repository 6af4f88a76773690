"""The risk of a run that is still going, and where a finished one peaked.

Decision: the next step costs what it costs at any length, and gets the value a
finished run's step gets. Refusal: a peak is where risk was highest, which is
no proof that something failed there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tjlib.trace import Step
from tjlib.uncertainty.calibrate import Reliability
from tjlib.uncertainty.equations import Recursion, aggregate, scaled, weigh
from tjlib.uncertainty.parameters import RELATIONS, Parameters
from tjlib.uncertainty.prefix import KINDS, Prefix
from tjlib.uncertainty.propagate import Propagation
from tjlib.uncertainty.signals import Imputer, mean_nll
from tjlib.uncertainty.similarity import Jaccard, Similarity

__all__ = ["Peak", "Stream", "peak"]


class Stream:
    """RUPA one step at a time.

    Parameters
    ----------
    goal : str
    parameters : Parameters, optional
    similarity : Similarity, optional
        Default the overlap of words.
    reliability : Reliability, optional
        Default: every relation counts 1.

    Examples
    --------
    >>> stream = Stream("Refund it.")
    >>> round(stream.update(Step("Refund.", logprobs=(-0.4,))), 3)
    0.4
    """

    def __init__(
        self, goal: str, parameters: Parameters | None = None,
        similarity: Similarity | None = None, reliability: Reliability | None = None,
    ) -> None:
        self.parameters = parameters or Parameters()
        self.reliability = reliability
        self.risks: list[float] = []
        self._prefix = Prefix(goal, self.parameters, similarity or Jaccard())
        if reliability is not None:
            built = self._prefix.similarity
            reliability.check("stream", built.name, built.thresholds, self.parameters)
        self._imputer = Imputer(reliability.median if reliability else None)
        self._recursion = Recursion(self.parameters)
        self._catch_up()

    def _catch_up(self) -> None:
        for u in self._prefix.uncertainty[len(self._recursion.passed):]:
            self._recursion.other(u)

    def update(self, step: Step, u: float | None = None) -> float:
        """Take the next step, with what it observed, and return its R, at least 0.

        Its own observations do not count yet, so they may also be unknown:
        a step that is only proposed is scored by a copy of the stream.

        Parameters
        ----------
        step : Step
        u : float, optional
            Its local uncertainty; default the mean negative log-probability
            of its tokens, without any as `signals.fill` has it.
        """
        prefix, p = self._prefix, self.parameters
        before = prefix.n_edges
        prefix.add(step)
        new = weigh(prefix.edges(before), p, self.reliability)
        raw = self._imputer(mean_nll(step.logprobs) if u is None else u)
        *_, r = self._recursion.agent(scaled(raw, p, self.reliability), prefix.q[-1],
                                      new.edges.source.tolist(), new.weight.tolist())
        self._catch_up()
        self.risks.append(r)
        return r

    @property
    def score(self) -> float | None:
        """The score of the steps so far; None (undefined) before the first."""
        return aggregate(self.risks, self.parameters.aggregate)


class Peak(NamedTuple):
    """Where a run's risk was highest, and along which edge most of it came.

    ``position`` is the step's place from 0 (first) to 1 (last), None for a run
    of one step. The edge is the heaviest into the step; as a failed call
    raises the risk of the step after it, ``source_step`` is where to look (-1:
    the goal). All of the edge is None if there is none.
    """

    step: int
    risk: float
    position: float | None
    relation: str | None = None
    source_kind: str | None = None
    source_step: int | None = None
    evidence: str | None = None


def peak(run: Propagation) -> Peak | None:
    """Find the step of highest R, the first of equals; None for a run without a step.

    The study of section 3 of the RUPA paper, whose figure has no definition;
    the dominant relation as the heaviest edge is our reading.
    """
    if not len(run.r):
        return None
    step = int(np.argmax(run.r))
    found = Peak(step, float(run.r[step]), step / (len(run.r) - 1) if len(run.r) > 1 else None)
    edges, graph = run.weighted.edges, run.graph
    into = np.flatnonzero(edges.target == graph.agent[step])
    if not len(into):
        return found
    heaviest = into[np.argmax(run.weighted.weight[into])]
    source = edges.source[heaviest]
    return found._replace(
        relation=RELATIONS[edges.relation[heaviest]], source_kind=KINDS[graph.kind[source]],
        source_step=int(graph.step[source]), evidence=edges.evidence[heaviest])
