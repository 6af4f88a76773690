"""Changes to RUPA that stay inside its equations: signal, scale, beginning, and who is blamed.

Decision: a recipe is one choice of each, and what it needs to know beyond the run is fitted on runs
without labels. Refusal: no recipe is good or bad here, for no outcome is seen; `choose` picks by
a criterion that needs none. All changes are ours, the equations stay the paper's.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import msgspec
import numpy as np

from tjlib.trace import InputError
from tjlib.uncertainty.controls import inputs
from tjlib.uncertainty.evidence import Evidence, Score
from tjlib.uncertainty.graph import Graph
from tjlib.uncertainty.parameters import RELATIONS
from tjlib.uncertainty.prefix import KINDS
from tjlib.uncertainty.propagate import propagate
from tjlib.uncertainty.signals import Local

__all__ = ["CHANGES", "PRINTED", "SETTLED", "Fitted", "Recipe", "attributed", "fit", "recipes",
           "rupa_settled"]

#: What can be changed: the settings of each, the first as printed.
CHANGES = {
    "signal": ("none", "surprise", "verbosity", "disagreement"),
    "scale": ("raw", "p95"),
    "beginning": ("zero", "started", "centred"),
    "blame": ("observation", "caller"),
}
#: Steps of the pool below which a position takes the mean of the last one that has as many.
_FEW = 20


class Recipe(msgspec.Struct, frozen=True):
    """One setting of each of `CHANGES`; by default RUPA as printed, structural.

    ``signal`` is a step's own uncertainty; ``scale`` leaves it, or divides by
    the pool's 95th percentile and caps at 1, the range of goal and
    observations. ``beginning``: the goal passes on 0 (printed); or what a
    step of the pool passes on in the mean, so that nothing rises from 0
    (started); or the pool's mean risk at each position is taken off (centred).
    ``blame`` moves an observation's uncertainty to the step that caused it.
    """

    signal: str = "none"
    scale: str = "raw"
    beginning: str = "zero"
    blame: str = "observation"

    def __str__(self) -> str:
        """Name what is changed."""
        named = [getattr(self, name) for name, known in CHANGES.items()
                 if getattr(self, name) != known[0]]
        return " + ".join(named) or "as printed"


PRINTED = Recipe()


def recipes(signals: Sequence[str] = CHANGES["signal"]) -> list[Recipe]:
    """List every recipe with these signals, fewest changes first.

    Examples
    --------
    >>> len(recipes(["none"])), len(recipes()), str(recipes()[0])
    (6, 36, 'as printed')
    """
    every = [Recipe(*setting) for setting in product(signals, *list(CHANGES.values())[1:])]
    # None of a signal has no scale, and a share is on the scale already.
    kept = [recipe for recipe in every
            if recipe.scale == "raw" or recipe.signal not in ("none", "disagreement")]
    return sorted(kept, key=lambda r: sum(getattr(r, n) != k[0] for n, k in CHANGES.items()))


def attributed(graph: Graph, u: np.ndarray) -> tuple[Graph, np.ndarray]:
    """Move the uncertainty of observations to the steps that caused them.

    The mean over a step's observations is added to its own uncertainty, which
    it passes on; observations keep none, and feedback comes from the step.
    """
    caused = (graph.kind == KINDS.index("env")) & (graph.step >= 0)
    env = np.flatnonzero(caused)
    level, count = np.zeros((2, len(u)))
    np.add.at(level, graph.step[env], graph.uncertainty[env])
    np.add.at(count, graph.step[env], 1.0)
    uncertainty, source = graph.uncertainty.copy(), graph.edges.source.copy()
    uncertainty[env] = 0.0
    moved = (graph.edges.relation == RELATIONS.index("feedback")) & caused[source]
    source[moved] = graph.agent[graph.step[source[moved]]]
    return (graph._replace(uncertainty=uncertainty, edges=graph.edges._replace(source=source)),
            u + np.divide(level, count, out=np.zeros(len(u)), where=count > 0))


class Fitted(msgspec.Struct, frozen=True):
    """A recipe with what it took from a pool: scale, beginning, and the pool's own scores.

    ``curve`` is the mean risk at each position, empty but for centred;
    ``middle`` and ``spread`` are mean and standard deviation of the scores of
    the pool, by which scores of two pools are put on one scale; those that
    begin with ``flat`` are of the same inputs without a graph.
    """

    recipe: Recipe
    p95: float = 1.0
    start: float = 0.0
    curve: tuple[float, ...] = ()
    middle: float = 0.0
    spread: float = 1.0
    flat_middle: float = 0.0
    flat_spread: float = 1.0

    def own(self, u: Sequence[float]) -> np.ndarray:
        """Put a run's own uncertainty on the recipe's scale."""
        values = np.asarray(u, float)
        return values if self.recipe.scale == "raw" else np.minimum(values / self.p95, 1.0)

    def risks(self, graph: Graph, u: Sequence[float]) -> np.ndarray:
        """Return every step's risk, higher is riskier; centred ones may be below 0."""
        values = self.own(u)
        if self.recipe.blame == "caller":
            graph, values = attributed(graph, values)
        if self.start and len(graph.kind):
            uncertainty = graph.uncertainty.copy()
            uncertainty[0] = self.start
            graph = graph._replace(uncertainty=uncertainty)
        return self.centre(propagate(graph, Local(tuple(values.tolist()), "constant")).r)

    def centre(self, r: np.ndarray) -> np.ndarray:
        """Take off each step's risk what its position gives in the pool, if that was fitted."""
        if not self.curve:
            return r
        return r - np.array(self.curve)[np.minimum(np.arange(len(r)), len(self.curve) - 1)]

    def score(self, graph: Graph, u: Sequence[float]) -> float | None:
        """Return a run's mean risk in standard deviations of the pool; None without a step."""
        r = self.risks(graph, u)
        return (float(r.mean()) - self.middle) / self.spread if len(r) else None

    def flat(self, graph: Graph, u: Sequence[float]) -> float | None:
        """Return the same inputs averaged, without a graph, likewise; None without a step."""
        if not len(graph.agent):
            return None
        return (inputs(graph, self.own(u).tolist()) - self.flat_middle) / self.flat_spread


#: What `choose` took by its first criterion of the recipes that one run alone can be scored by: the
#: goal passes on what a step does in the mean, over five sets of public runs without their labels.
SETTLED = Fitted(Recipe(beginning="started", blame="caller"), start=0.92)


def rupa_settled(e: Evidence) -> Score:
    """Structural RUPA that begins at its usual level and blames the caller (ours)."""
    return Score(float(SETTLED.risks(e.graph, [0.0] * len(e.steps)).mean()))


def fit(
    recipe: Recipe, graphs: Sequence[Graph], u: Sequence[Sequence[float]],
    plain: dict[Recipe, tuple[list[np.ndarray], np.ndarray]] | None = None,
) -> tuple[Fitted, list[float]]:
    """Fit what a recipe needs on runs without labels.

    Parameters
    ----------
    recipe : Recipe
    graphs, u : sequences, one item a run of the pool, each with a step
    plain : dict, optional
        Keeps what recipes that differ in their beginning share: risks that
        begin at zero, and scores without a graph. Give the same one for all
        recipes of a pool.

    Returns
    -------
    Fitted, list of float
        And the pool's own scores.

    Raises
    ------
    InputError
        If the pool is empty.
    """
    if not len(graphs):
        raise InputError("no run with a step to fit a recipe on; give at least one")
    known = Fitted(recipe)
    if recipe.scale == "p95":
        known = msgspec.structs.replace(known, p95=float(np.percentile(np.concatenate(u), 95))
                                        or 1.0)
    plain = {} if plain is None else plain
    at = msgspec.structs.replace(recipe, beginning="zero")
    if at not in plain:
        plain[at] = ([known.risks(*run) for run in zip(graphs, u, strict=True)],
                     np.array([known.flat(*run) for run in zip(graphs, u, strict=True)]))
    risks, flats = plain[at]
    if recipe.beginning == "started":
        cap = graphs[0].parameters.p_max
        mean = float(np.clip(np.concatenate(risks), 0, np.inf if cap is None else cap).mean())
        known = msgspec.structs.replace(known, start=mean)
        risks = [known.risks(*run) for run in zip(graphs, u, strict=True)]
    if recipe.beginning == "centred":
        known = msgspec.structs.replace(known, curve=_curve(risks))
        risks = [known.centre(r) for r in risks]
    means = np.array([r.mean() for r in risks])
    known = msgspec.structs.replace(
        known, middle=float(means.mean()), spread=float(means.std()) or 1.0,
        flat_middle=float(flats.mean()), flat_spread=float(flats.std()) or 1.0)
    return known, ((means - known.middle) / known.spread).tolist()


def _curve(risks: Sequence[np.ndarray]) -> tuple[float, ...]:
    """Average risk at each position that enough runs reach; the first one has all."""
    out = []
    while True:
        there = [r[len(out)] for r in risks if len(r) > len(out)]
        if out and len(there) < _FEW:
            return tuple(out)
        out.append(float(np.mean(there)))
