"""What one run offers the methods that score it.

Decision: all methods read the same evidence, so that two scores differ by
their rule and never by their input, and a score that cannot be had says why.
Refusal: the outcome of a run is no part of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from tjlib.trace import Step, Trajectory
from tjlib.uncertainty.calibrate import Reliability
from tjlib.uncertainty.graph import Graph, build
from tjlib.uncertainty.parameters import Parameters
from tjlib.uncertainty.signals import Local, local
from tjlib.uncertainty.similarity import Jaccard, Similarity

__all__ = ["LOGPROBS", "NO_LOGPROBS", "NO_STEP", "Drawn", "Evidence", "Score"]

#: Sources of local uncertainty that are log-probabilities, the agent's or another model's.
LOGPROBS = ("logprob", "topk", "surrogate")

NO_LOGPROBS = "not computable: the log has no token log-probabilities"
NO_STEP = "not computable: the run has no step"


class Score(NamedTuple):
    """One method's score of one run, higher is more likely to fail, or why there is none."""

    value: float | None
    why: str = ""


class Drawn(NamedTuple):
    """A decision drawn at a step beside the one taken: its text, its mean -log p in nats."""

    text: str
    nll: float


@dataclass(frozen=True)
class Evidence:
    """One run and what is known of its steps, one item a step in each sequence.

    Attributes
    ----------
    trajectory : Trajectory
    local : Local, optional
        Uncertainty of each step; by default read off its log-probabilities.
    similarity : Similarity
    parameters : Parameters
    reliability : Reliability, optional
        RUPA's, fitted on runs without labels; by default every relation counts 1.
    tokens : sequence of int, optional
        Tokens the agent wrote; by default as many as there are log-probabilities.
    parts : sequence of (float or None, float or None), optional
        Mean -log p of the message and of the calls apart.
    content : sequence of float or None, optional
        Mean -log p over the tokens that `baselines.content_nll` keeps.
    confidence : sequence of float or None, optional
        Stated probability that the step is right, in [0, 1].
    drawn : sequence of sequence of Drawn, optional
        Decisions drawn at each step; without them UProp cannot be computed.
    seed : int
        Of the random score.
    """

    trajectory: Trajectory
    local: Local = None  # type: ignore[assignment]  # filled in below
    similarity: Similarity = field(default_factory=Jaccard)
    parameters: Parameters = field(default_factory=Parameters)
    reliability: Reliability | None = None
    tokens: Sequence[int] | None = None
    parts: Sequence[tuple[float | None, float | None]] | None = None
    content: Sequence[float | None] | None = None
    confidence: Sequence[float | None] | None = None
    drawn: Sequence[Sequence[Drawn]] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.local is None:
            object.__setattr__(self, "local", local(self.trajectory))
        for name in ("tokens", "parts", "content", "confidence", "drawn"):
            given = getattr(self, name)
            if given is not None and len(given) != len(self.steps):
                raise ValueError(f"{name} has {len(given)} items for {len(self.steps)} steps")

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of the run."""
        return self.trajectory.steps

    @property
    def has_logprobs(self) -> bool:
        """Whether the steps' uncertainty comes from log-probabilities, the agent's or another's."""
        return self.local.source in LOGPROBS

    @cached_property
    def graph(self) -> Graph:
        """The relational graph, built once for all methods that read it."""
        return build(self.trajectory, self.parameters, self.similarity)
