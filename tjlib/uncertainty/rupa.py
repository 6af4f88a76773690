"""RUPA as a method among the others: the paper's equations, with and without log-probabilities.

Decision: the equations as printed carry the paper's name; a log without
log-probabilities has the graph's part alone, under a name that says so.
Refusal: what the authors' released code computes is another formula and goes
by neither name.
"""

from __future__ import annotations

from tjlib.uncertainty.evidence import NO_LOGPROBS, Evidence, Score
from tjlib.uncertainty.propagate import propagate
from tjlib.uncertainty.signals import Local, local

__all__ = ["rupa", "rupa_structural"]


def _propagated(e: Evidence, of: Local) -> Score:
    done = propagate(e.graph, of, reliability=e.reliability, parameters=e.parameters)
    return Score(done.score)


def rupa(e: Evidence) -> Score:
    """RUPA: the mean risk of the steps (equations 1 to 5), uncertainty from log-probabilities."""
    return _propagated(e, e.local) if e.has_logprobs else Score(None, NO_LOGPROBS)


def rupa_structural(e: Evidence) -> Score:
    """RUPA with the same local uncertainty for every step: goal, feedback and the graph's shape."""
    return _propagated(e, local(e.trajectory, "constant"))
