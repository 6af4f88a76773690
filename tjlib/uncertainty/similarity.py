"""How alike two texts are, on a scale that comes with its own thresholds.

Decision: a similarity and the thresholds at which it means "the same" travel
together, for a cosine of .6 and a word overlap of .6 say different things.
Refusal: nothing is loaded until a text is compared, and no threshold is set on
labels. The RUPA paper uses bge-m3 and allows token overlap (appendix A.1), and
publishes no threshold: those of the overlap are the ones its authors' code
has, those of the cosine are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from tjlib.embedding import embed
from tjlib.trace import InputError
from tjlib.uncertainty.text import overlap, tokens

__all__ = ["Embedder", "Jaccard", "Similarity", "Thresholds", "similarity"]

# Digits kept of a cosine, so that the order of a sum does not show.
_DECIMALS = 6


class Thresholds(msgspec.Struct, frozen=True):
    """From which similarity on a relation holds; parallel holds below its own.

    Each in [0, 1]; ``tool`` is the overlap of two steps' calls (authors' code).
    """

    repetition: float
    progression: float
    parallel: float
    tool: float = 0.80


class Similarity(Protocol):
    """What the graph asks of a similarity; a key is a text made ready to compare.

    ``keys`` prepares texts (a whole trajectory's at once is quickest, and gives
    what one by one gives); ``alike`` compares two keys, in [0, 1] and
    symmetric; ``coverage`` says how much of a goal's key a step's key holds,
    in [0, 1]; ``distance`` is 0 for equal texts, at most 2.
    """

    name: str
    thresholds: Thresholds

    def keys(self, texts: Sequence[str]) -> list[Any]: ...
    def alike(self, one: Any, other: Any) -> float: ...
    def coverage(self, step: Any, goal: Any) -> float: ...
    def distance(self, one: Any, other: Any) -> float: ...


class Jaccard(msgspec.Struct, frozen=True):
    """Overlap of words: the share of two texts' tokens that both have.

    Examples
    --------
    >>> same = Jaccard()
    >>> one, other = same.keys(["look at the order", "look at the policy"])
    >>> round(same.alike(one, other), 3), same.distance(one, one)
    (0.333, 0.0)
    """

    thresholds: Thresholds = Thresholds(0.65, 0.20, 0.45)
    name: str = "jaccard"

    def keys(self, texts: Sequence[str]) -> list[frozenset[str]]:
        """Return the token set of each text."""
        return [tokens(text) for text in texts]

    def alike(self, one: frozenset[str], other: frozenset[str]) -> float:
        """Return the overlap, in [0, 1]; 0 if one text has no token."""
        return overlap(one, other)

    def coverage(self, step: frozenset[str], goal: frozenset[str]) -> float:
        """Return the share of the goal's tokens that the step has, in [0, 1] (authors' code)."""
        return len(step & goal) / len(goal) if goal else 0.0

    def distance(self, one: frozenset[str], other: frozenset[str]) -> float:
        """Return one minus the overlap, in [0, 1]."""
        return 1.0 - overlap(one, other) if one or other else 0.0


class Embedder(msgspec.Struct, frozen=True):
    """Cosine of embeddings: ``minilm`` (packaged), ``bge-m3`` (the paper's) or a folder."""

    name: str = "minilm"
    thresholds: Thresholds = Thresholds(0.90, 0.60, 0.75)

    def keys(self, texts: Sequence[str]) -> list[Any]:
        """Return the vector of each text; each distinct text is encoded once."""
        return embed(texts, self.name)

    def alike(self, one: Any, other: Any) -> float:
        """Return the cosine, in [0, 1]; a negative one counts 0."""
        return min(max(round(float(one.dot(other)), _DECIMALS), 0.0), 1.0)

    def coverage(self, step: Any, goal: Any) -> float:
        """Return the cosine of step and goal, in [0, 1] (equation 2)."""
        return self.alike(step, goal)

    def distance(self, one: Any, other: Any) -> float:
        """Return one minus the cosine, in [0, 2]."""
        return min(max(1.0 - round(float(one.dot(other)), _DECIMALS), 0.0), 2.0)


def similarity(name: str) -> Similarity:
    """Return the similarity of a name: jaccard, minilm, bge-m3 or a model's folder.

    Raises
    ------
    InputError
        If the name is empty. A model that is missing is found out when a text is compared.

    Examples
    --------
    >>> similarity("jaccard").thresholds.repetition
    0.65
    """
    if not name.strip():
        raise InputError("no embedder named; give jaccard, minilm, bge-m3 or a model's folder")
    return Jaccard() if name == "jaccard" else Embedder(name)
