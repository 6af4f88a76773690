"""The numbers of RUPA: the paper's where it prints them, flagged ours elsewhere.

Decision: one frozen record holds them all, so that a result can be saved with
what made it. Refusal: none of them is fitted to labels, here or anywhere.
"""

from __future__ import annotations

import msgspec
import numpy as np

from tjlib.trace import InputError

__all__ = ["EPS", "RELATIONS", "STRENGTHS", "Parameters"]

#: Strength of each relation that carries a weight (RUPA, Table 6); goal alignment has none.
STRENGTHS = {"sequential": 0.35, "latest": 0.75, "repetition": 0.95, "feedback": 0.85,
             "progression": 0.65, "parallel": 0.45}

#: The six weighted relations, in the order their codes count.
RELATIONS = tuple(STRENGTHS)

#: Keeps denominators from 0 (the paper prints no value; ours).
EPS = 1e-8

_CHOICES = {
    "latest": ("both", "user", "env"), "pairs": ("many", "single"),
    "strength": ("factor", "cap"), "momentum": ("all", "assistant"),
    "scale": ("raw", "p95"), "aggregate": ("mean", "max", "last", "top10"),
    "population": ("trajectory", "edge"),
}


class Parameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Every hyper-parameter, and the reading chosen where the paper leaves one open.

    Parameters
    ----------
    window : int
        Agent steps a step can look back to, at least 1 (Table 5; unit ours).
    delta, gamma : float
        Decay of an edge's weight and of momentum, in [0, 1] (Table 5).
    eta_g, eta_m, lam_h, lam_u : float
        Weights of graph, momentum, history and local uncertainty (Table 5).
    strengths : dict
        Of each relation, at least 0 (Table 6).
    temperature : float
        Of the reliabilities (eq. 6), above 0, may be inf (ours: 1).
    p_max : float or None
        Cap of what a step passes on (authors' code: 1.5); None is the paper as
        printed, under which a run without observations grows for ever.
    latest : {"both", "user", "env"}
        Which newest nodes the relation latest comes from; feedback is not asked.
    pairs : {"many", "single"}
        One edge a type between two nodes, or only the strongest.
    strength : {"factor", "cap"}
        Table 6 times the match, or a cap on the match with its age's decay.
    momentum : {"all", "assistant"}
        Over all earlier nodes (as eq. 4 reads), or the agent's only.
    scale : {"raw", "p95"}
        Local uncertainty as it is, or divided by the 95th percentile of the
        training set and capped at 1.
    aggregate : {"mean", "max", "last", "top10"}
        From steps to a trajectory (authors' code: mean; top10: of the highest tenth).
    population : {"trajectory", "edge"}
        What eq. 6's mean and variance are taken over.

    Raises
    ------
    InputError
        For a value outside its range.

    Examples
    --------
    >>> Parameters(window=3).strengths["latest"]
    0.75
    """

    window: int = 5
    delta: float = 0.80
    gamma: float = 0.75
    eta_g: float = 0.70
    eta_m: float = 0.30
    lam_h: float = 1.0
    lam_u: float = 1.0
    strengths: dict[str, float] = msgspec.field(default_factory=STRENGTHS.copy)
    temperature: float = 1.0
    p_max: float | None = 1.5
    latest: str = "both"
    pairs: str = "many"
    strength: str = "factor"
    momentum: str = "all"
    scale: str = "raw"
    aggregate: str = "mean"
    population: str = "trajectory"

    def __post_init__(self) -> None:
        if not (isinstance(self.window, int) and self.window >= 1):
            raise InputError(f"window {self.window!r} is no number of steps; give 1 or more")
        for name in ("delta", "gamma"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name} {getattr(self, name)} is outside [0, 1]")
        for name in ("eta_g", "eta_m", "lam_h", "lam_u"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise InputError(f"{name} {getattr(self, name)} is no weight; give 0 or more")
        if not self.temperature > 0:
            raise InputError(f"temperature {self.temperature} is not above 0")
        if self.p_max is not None and not self.p_max > 0:
            raise InputError(f"p_max {self.p_max} is not above 0; give None for no cap")
        if set(self.strengths) != set(RELATIONS) or not all(
                0 <= s < float("inf") for s in self.strengths.values()):
            raise InputError(f"strengths need one number of 0 or more for each of "
                             f"{', '.join(RELATIONS)}")
        for name, known in _CHOICES.items():
            if getattr(self, name) not in known:
                raise InputError(f"{name} {getattr(self, name)!r} is unknown; "
                                 f"give {' or '.join(known)}")

    def decay(self, age: np.ndarray) -> np.ndarray:
        """Return delta to the power of age - 1, in [0, 1]; age 1 is the nearest node."""
        powers = [self.delta ** nodes for nodes in range(int(age.max(initial=1)))]
        return np.array(powers, float)[age - 1]

    def strength_of(
        self, relation: np.ndarray, match: np.ndarray, age: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the strength of edges: Table 6 by the match, or a cap on it.

        Without ``age`` a capped strength is that of age 1, as eq. 6 takes it.

        Examples
        --------
        >>> Parameters().strength_of(np.array([2, 0]), np.array([0.9, 1.0])).round(3).tolist()
        [0.855, 0.35]
        """
        table = np.array([self.strengths[name] for name in RELATIONS])[relation]
        if self.strength == "factor":
            return table * match
        return np.minimum(table, match if age is None else match * self.decay(age))
