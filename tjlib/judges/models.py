"""From a model's name to something that completes prompts.

Decision: the part before the first colon says where the model runs, the rest
is its name as that place knows it, colons included (``ollama:qwen2.5:14b``).
Refusal: no place is guessed from a name alone, and nothing is started or
downloaded for the caller; what is missing is named, with the command that
brings it.
"""

from __future__ import annotations

from importlib import import_module

from tjlib.judges.protocol import Model
from tjlib.trace import InputError

__all__ = ["PROVIDERS", "connect"]

#: Where a model may run: the module and the class that reach it.
PROVIDERS = {
    "ollama": ("tjlib.judges.models_ollama", "Ollama"),
    "openai": ("tjlib.judges.models_openai", "OpenAI"),
    "local": ("tjlib.judges.models_local", "Local"),
}


def connect(name: str) -> Model:
    """Get a model by name; nothing is asked of its server yet.

    Parameters
    ----------
    name : str
        ``ollama:NAME`` (server at ``OLLAMA_HOST``), ``openai:NAME`` (any
        compatible server, at ``OPENAI_BASE_URL``), or ``local:smollm2``.

    Returns
    -------
    Model

    Raises
    ------
    InputError
        For a place there is none of, or a missing package.
    """
    provider, _, model = name.partition(":")
    if provider not in PROVIDERS or not model:
        forms = ", ".join(f"{known}:NAME" for known in PROVIDERS)
        raise InputError(f"model {name!r}: say where it runs, as one of {forms}")
    module, kind = PROVIDERS[provider]
    try:
        return getattr(import_module(module), kind)(model)
    except ModuleNotFoundError as error:
        raise InputError(f"model {name!r}: the package {error.name} is missing; install it with: "
                         f"pip install {error.name}") from None
