"""How much each relation's strength varies over runs nobody has labelled (equation 6).

Decision: what is learnt is stored with what it was learnt from: similarity,
thresholds, number of runs. Refusal: `fit` takes graphs, which have no place for
a label, and refuses anything else; no search over outcomes is offered.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import numpy as np

from tjlib.trace import InputError
from tjlib.uncertainty.graph import Graph
from tjlib.uncertainty.parameters import EPS, RELATIONS, Parameters
from tjlib.uncertainty.signals import Local
from tjlib.uncertainty.similarity import Thresholds

__all__ = ["Reliability", "fit", "reliabilities"]


class Reliability(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Equation 6 of a training set, with all that is needed to say so.

    ``rho`` weighs each relation, at least 0, six in sum. ``median`` and ``p95``
    are those of the training steps' local uncertainty, None if not given.
    """

    mean: dict[str, float]
    variance: dict[str, float]
    q: dict[str, float]
    rho: dict[str, float]
    temperature: float
    population: str
    strengths: dict[str, float]
    strength: str
    n_train: int
    similarity: str
    thresholds: Thresholds
    window: int
    source: str | None = None
    median: float | None = None
    p95: float | None = None
    latest: str = "both"

    def to_json(self) -> bytes:
        """Write it as one line of JSON; an infinite temperature becomes null."""
        return msgspec.json.encode(self)

    @classmethod
    def from_json(cls, text: bytes | str) -> Reliability:
        """Read what `to_json` gave; raise `InputError` if it is something else."""
        try:
            values = msgspec.json.decode(text)
            if isinstance(values, dict) and values.get("temperature", 0) is None:
                values["temperature"] = float("inf")
            return msgspec.convert(values, cls)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InputError(f"not a calibration of the relations: {error}") from None

    def check(self, who: str, similarity: str, thresholds: Thresholds, built: Parameters) -> None:
        """Raise `InputError` if something was built another way than the training set."""
        if (self.similarity, self.thresholds, self.window, self.latest) != (
                similarity, thresholds, built.window, built.latest):
            raise InputError(
                f"{who}: built with {similarity}, window {built.window}, latest {built.latest}, "
                f"but calibrated with {self.similarity}, {self.window}, {self.latest}, or other "
                "thresholds; fit again")


def reliabilities(
    mean: dict[str, float], variance: dict[str, float], temperature: float = 1.0
) -> tuple[dict[str, float], dict[str, float]]:
    """Turn means and variances of strengths into q and rho (equation 6).

    Examples
    --------
    >>> q, rho = reliabilities({"a": 0.5, "b": 0.5}, {"a": 0.0, "b": 0.5})
    >>> round(q["b"], 6), round(rho["a"] + rho["b"], 6)
    (1.0, 2.0)
    """
    q = {name: variance[name] / (mean[name] + EPS) for name in mean}
    highest = max(q.values())
    raised = {name: float(np.exp((x - highest) / temperature)) for name, x in q.items()}
    total = sum(raised.values())
    return q, {name: len(q) * x / total for name, x in raised.items()}


def fit(
    graphs: Iterable[Graph], local: Iterable[Local] | None = None,
    parameters: Parameters | None = None,
) -> Reliability:
    """Learn the relations' reliabilities from unlabelled runs.

    Parameters
    ----------
    graphs : iterable of Graph
        All built alike. Split a set by task, not by trial, before this.
    local : iterable of Local, optional
        Of the same runs, for their median and 95th percentile.
    parameters : Parameters, optional
        Strengths, temperature and population; default those of the graphs.

    Returns
    -------
    Reliability
        A run's strength of a relation is the mean over its agent steps of the
        strongest edge of that relation, 0 where there is none; mean and
        variance (by n) are over runs with a step, or over edges if the
        population is so (readings of ours; the paper names neither).

    Raises
    ------
    InputError
        If there is no run with a step, or something other than graphs built alike.

    Examples
    --------
    >>> from tjlib.trace import Step, Trajectory
    >>> from tjlib.uncertainty.graph import build
    >>> run = Trajectory("t-1", "Refund.", (Step("Look."),), "")
    >>> fit([build(run)]).rho["latest"]
    1.0
    """
    rows: list[np.ndarray] = []
    pooled: list[tuple[np.ndarray, np.ndarray]] = []
    first = None
    for graph in graphs:
        if not isinstance(graph, Graph):
            raise InputError(f"calibration takes graphs and nothing else, got a "
                             f"{type(graph).__name__}; build(trajectory) makes one")
        first = first or graph
        if _built(graph) != _built(first):
            raise InputError(f"{graph.trajectory_id}: built with another similarity, window or "
                             f"latest than {first.trajectory_id}; build all alike")
        parameters = parameters or graph.parameters
        e = graph.edges
        strength = parameters.strength_of(e.relation, e.match)
        pooled.append((e.relation, strength))
        if len(graph.agent):
            strongest = np.zeros((len(graph.agent), len(RELATIONS)))
            at = np.searchsorted(graph.agent, e.target), e.relation
            np.maximum.at(strongest, at, strength)
            rows.append(strongest.mean(axis=0))
    if first is None or not rows:
        raise InputError("no run with a step to calibrate on; give at least one")
    if parameters.population == "edge":
        relation, strength = map(np.concatenate, zip(*pooled, strict=True))
        parts = [strength[relation == code] for code in range(len(RELATIONS))]
    else:
        parts = list(np.array(rows).T)
    mean = {name: float(x.mean()) if len(x) else 0.0
            for name, x in zip(RELATIONS, parts, strict=True)}
    # A constant has no variance, which rounding of its mean must not give it.
    variance = {name: float(x.var()) if len(x) and np.ptp(x) else 0.0
                for name, x in zip(RELATIONS, parts, strict=True)}
    q, rho = reliabilities(mean, variance, parameters.temperature)
    signals = list(local or ())
    values = [value for one in signals for value in one.u]
    sources = sorted({one.source for one in signals})
    return Reliability(
        mean, variance, q, rho, parameters.temperature, parameters.population,
        parameters.strengths, parameters.strength, len(rows), first.similarity, first.thresholds,
        first.parameters.window, "+".join(sources) or None,
        float(np.median(values)) if values else None,
        float(np.percentile(values, 95)) if values else None, first.parameters.latest)


def _built(graph: Graph) -> tuple:
    """What of a graph no parameter changes any more."""
    return graph.similarity, graph.thresholds, graph.parameters.window, graph.parameters.latest
