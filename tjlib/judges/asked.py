"""What a model was asked, in the form that servers, and the record of a run, take.

Decision: every judge and the agent are described here, so that two records
differ only where the runs did. Refusal: no prompt is written here.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Iterable
from typing import Any

import msgspec

from tjlib import __version__
from tjlib.judges.protocol import Model, Options

__all__ = ["closed", "coded", "described", "hashed"]


def closed(fields: dict[str, Any]) -> dict[str, Any]:
    """Give the JSON schema of an object with these fields, all required, and no other."""
    return {"type": "object", "properties": fields, "required": list(fields),
            "additionalProperties": False}


def hashed(prompt: str, schema: dict[str, Any]) -> str:
    """Name a prompt with its case left blank, and its schema, by a hash."""
    text = json.dumps([prompt, schema])
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def described(
    name: str, model: Model, options: Options, prompt_hash: str, order: str = "", **more: Any
) -> dict[str, Any]:
    """Say what makes a model's replies what they are, for the record of a run.

    Parameters
    ----------
    name : str
        Of the judge or agent.
    model : Model
    options : Options
    prompt_hash : str
        From `hashed`.
    order : str
    **more
        Options beyond those of decoding, or in their place.

    Returns
    -------
    dict
        Fields of `tjlib.provenance.Run`.

    Raises
    ------
    InputError
        If the model cannot be reached.
    """
    who = model.identity()
    return {"judge": name, "provider": who.provider, "model": who.name, "digest": who.digest,
            "server": who.server, "order": order, "options": msgspec.to_builtins(options) | more,
            "prompt_hash": prompt_hash}


def coded(
    name: str, model: str, parts: Iterable[Any], options: dict[str, Any],
    digest: str | None = None, server: str = f"tjlib {__version__}",
) -> dict[str, Any]:
    """Say what makes the verdicts of a judge without a model what they are.

    Parameters
    ----------
    name, model : str
        Of the judge, and of what in it judges.
    parts : iterable of module or callable
        What judges; in place of a prompt's hash stands that of their source.
    options : dict
    digest : str, optional
        Of weights that embed.
    server : str
        What embeds, if something does.

    Returns
    -------
    dict
        As `described`.
    """
    source = "".join(map(inspect.getsource, parts)).encode()
    return {"judge": name, "provider": "model-free", "model": model, "digest": digest,
            "server": server, "order": "", "options": options,
            "prompt_hash": hashlib.blake2b(source, digest_size=8).hexdigest()}
