"""RUPA with a part taken away (the RUPA paper's Table 4, and controls of ours).

Decision: a variant changes one thing and is named after what is gone; which
draws of a random one were made is the caller's generator's to say. Refusal: no
variant is chosen here by how it scores. The paper prints no_graph,
no_propagation, drop50 and random_graph without defining them; these are our
readings, the other names are ours.
"""

from __future__ import annotations

import hashlib

import msgspec
import numpy as np

from tjlib.trace import InputError
from tjlib.uncertainty.parameters import RELATIONS, Parameters
from tjlib.uncertainty.prefix import Edges

__all__ = ["RANDOM", "VARIANTS", "kept", "redrawn", "seeded", "settings"]

#: What can be asked for, and what it means.
VARIANTS = {
    "full": "nothing taken away",
    "no_graph": "no edge, so G is 0 and the goal goes with it",
    "no_propagation": "a node passes on its local uncertainty only",
    "local_only": "the step's local uncertainty alone",
    "drop50": "each edge kept with probability one half",
    "random_graph": "each edge keeps type and weight, its source is any earlier node",
    "sequential_only": "the relations sequential and latest alone",
    "no_goal": "no distance from the goal",
    "no_momentum": "no momentum",
    **{f"no_{name}": f"no edge of the relation {name}" for name in RELATIONS},
}

#: The variants that draw; average many seeds.
RANDOM = ("drop50", "random_graph")


def seeded(seed: int, task: str, trial: str | int, variant: str) -> np.random.Generator:
    """Return the generator of one run's variant, the same on every machine.

    Examples
    --------
    >>> seeded(0, "task-1", 0, "drop50").random() == seeded(0, "task-1", 0, "drop50").random()
    True
    """
    named = hashlib.sha256(f"{seed}:{task}:{trial}:{variant}".encode()).digest()
    return np.random.default_rng(int.from_bytes(named, "big"))


def settings(variant: str, parameters: Parameters) -> tuple[Parameters, bool, bool]:
    """Return the variant's parameters, whether risk is passed on, and whether the goal counts.

    Raises
    ------
    InputError
        If there is no such variant.
    """
    if variant not in VARIANTS:
        raise InputError(f"no variant {variant!r}; give {', '.join(VARIANTS)}")
    if variant == "local_only":
        parameters = msgspec.structs.replace(parameters, lam_h=0.0)
    if variant == "no_momentum":
        parameters = msgspec.structs.replace(parameters, eta_m=0.0)
    return parameters, variant != "no_propagation", variant != "no_goal"


def kept(variant: str, edges: Edges, rng: np.random.Generator | None) -> np.ndarray:
    """Tell of each edge whether the variant keeps it."""
    if variant == "no_graph":
        return np.zeros(len(edges.source), bool)
    if variant == "drop50":
        return _needed(rng, variant).random(len(edges.source)) < 0.5
    if variant == "sequential_only":
        return np.isin(edges.relation, [RELATIONS.index(r) for r in ("sequential", "latest")])
    if variant.startswith("no_") and variant[3:] in RELATIONS:
        return edges.relation != RELATIONS.index(variant[3:])
    return np.ones(len(edges.source), bool)


def redrawn(variant: str, edges: Edges, rng: np.random.Generator | None) -> Edges:
    """Return the edges with their sources drawn anew, if the variant asks for it."""
    if variant != "random_graph":
        return edges
    return edges._replace(source=_needed(rng, variant).integers(0, edges.target))


def _needed(rng: np.random.Generator | None, variant: str) -> np.random.Generator:
    if rng is None:
        raise InputError(f"variant {variant} draws; give it a generator (see seeded)")
    return rng
