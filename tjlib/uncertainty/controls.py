"""Scores a method has to beat: its own inputs without the graph, length, words, failures, chance.

Decision: each is also given turned round, because on some sets longer runs
fail and on others shorter ones do. Refusal: none of them says "why" a run
should fail; a method that does no better has not shown that it does.
"""

from __future__ import annotations

import math
import random as randomness
import re
from collections.abc import Sequence

from tjlib.trace import Step
from tjlib.uncertainty.evidence import NO_LOGPROBS, Evidence, Score
from tjlib.uncertainty.graph import Graph
from tjlib.uncertainty.parameters import RELATIONS
from tjlib.uncertainty.prefix import KINDS
from tjlib.uncertainty.text import action_text

__all__ = [
    "failing_share", "fewer_calls", "fewer_steps", "fewer_words", "flat", "flat_u", "inputs",
    "n_calls", "n_steps", "n_words", "random", "repeated", "repetition",
    "words",
]

_WORD = re.compile(r"\w+")


def words(step: Step) -> int:
    """Count the words and numbers of a step's message and calls."""
    return len(_WORD.findall(action_text(step)))


def inputs(graph: Graph, u: Sequence[float] = ()) -> float:
    """Average what RUPA is given of a run with steps: goal, observations, own uncertainty."""
    observed = graph.uncertainty[graph.kind == KINDS.index("env")]
    level = float(graph.q.mean()) + (float(observed.mean()) if len(observed) else 0.0)
    return level + (math.fsum(u) / len(u) if len(u) else 0.0)


def flat(e: Evidence) -> Score:
    """What RUPA is given, without graph, recursion or momentum.

    The mean over steps of the distance from the goal plus the mean
    uncertainty of observations, in [0, 2]; a run without observations has
    only the first. Propagation is worth what RUPA is above this.
    """
    return Score(inputs(e.graph))


def flat_u(e: Evidence) -> Score:
    """`flat` plus the mean uncertainty of steps, where the log has log-probabilities."""
    if not e.has_logprobs:
        return Score(None, NO_LOGPROBS)
    return Score(inputs(e.graph, e.local.u))


def n_steps(e: Evidence) -> Score:
    """Steps of the agent."""
    return Score(float(len(e.steps)))


def fewer_steps(e: Evidence) -> Score:
    """Steps of the agent, negated."""
    return Score(-float(len(e.steps)))


def n_calls(e: Evidence) -> Score:
    """Tool calls of the agent."""
    return Score(float(sum(len(step.calls) for step in e.steps)))


def fewer_calls(e: Evidence) -> Score:
    """Tool calls of the agent, negated."""
    return Score(-n_calls(e).value)


def n_words(e: Evidence) -> Score:
    """Words and numbers the agent wrote, which stand for tokens whatever its tokenizer."""
    return Score(float(sum(map(words, e.steps))))


def fewer_words(e: Evidence) -> Score:
    """Words and numbers the agent wrote, negated."""
    return Score(-n_words(e).value)


def failing_share(e: Evidence) -> Score:
    """Share of observations that failed or were empty, in [0, 1]; 0 for a run without any."""
    observed = e.graph.uncertainty[e.graph.kind == KINDS.index("env")]
    return Score(float((observed >= 1).mean()) if len(observed) else 0.0)


def repeated(graph: Graph) -> float:
    """Return the closest match of any step to an earlier one it repeats; 0 if none does."""
    edges = graph.edges
    return float(edges.match[edges.relation == RELATIONS.index("repetition")].max(initial=0))


def repetition(e: Evidence) -> Score:
    """The closest match of any step to an earlier one it repeats, in [0, 1]; 0 if none does."""
    return Score(repeated(e.graph))


def random(e: Evidence) -> Score:
    """A number in [0, 1) that depends on the run's name and the seed only."""
    return Score(randomness.Random(f"{e.seed}:{e.trajectory.trajectory_id}").random())
