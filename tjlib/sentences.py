"""Estimates, changes and lists as words of a sentence, alike on every page.

Decision: what a table tells in a note under it, a sentence tells in brackets. Refusal: nothing is
measured here, and nothing that is missing reads as a number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tjlib import tables

__all__ = ["change", "estimate", "listed", "own"]


def estimate(row: Mapping, digits: int = 2) -> str:
    """Write one estimate for a sentence.

    Parameters
    ----------
    row : mapping
        As `tjlib.tables.estimate` takes it.
    digits : int
        Decimals shown.

    Returns
    -------
    str

    Examples
    --------
    >>> estimate({"value": None, "why": "undefined: no run failed"})
    'undefined (no run failed)'
    """
    text = tables.estimate(row, digits)
    return text.replace("undefined: ", "undefined (") + ")" * text.startswith("undefined: ")


def change(row: Mapping, digits: int = 3) -> str:
    """Write one change for a sentence.

    Parameters
    ----------
    row : mapping
        Of `tjlib.measure.wins.changes`.
    digits : int
        Decimals shown.

    Returns
    -------
    str

    Examples
    --------
    >>> change({"change": -0.2, "change_lo": None, "change_hi": None, "change_why": ""})
    '-0.200'
    """
    return estimate({"value": row["change"], "lo": row["change_lo"], "hi": row["change_hi"],
                     "why": row["change_why"]}, digits)


def listed(names: Iterable[str]) -> str:
    """Write names for a sentence.

    Examples
    --------
    >>> listed(["one", "two"]), listed([])
    ('one, two', 'none')
    """
    return ", ".join(names) or "none"


def own(source: str, signal: str) -> str:
    """Say what a step's own uncertainty was read off.

    Parameters
    ----------
    source : {"logprob", "surrogate", "constant"}
        As `tjlib.material.Material.source`.
    signal : str
        What the page was asked for, one of `tjlib.material.SIGNALS`.

    Returns
    -------
    str

    Examples
    --------
    >>> own("surrogate", "auto")
    "the surrogate's surprise (SmolLM2), nats a token"
    """
    read = "entropy" if signal == "entropy" else "surprise"
    return {"surrogate": f"the surrogate's {read} (SmolLM2), nats a token",
            "logprob": "the agent's own log-probabilities, nats a token",
            "constant": "none, all steps alike"}[source]
