"""About how many tokens a part of a prompt costs, from the counts of whole prompts.

Decision: the engine counts whole prompts, so parts are put at two rates,
one for sentences and one for the lines of steps, whose names and numbers
take more tokens a character; both are fitted to recorded counts. Refusal: no
tokeniser is guessed at, and how far the fit is off is given with it.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

__all__ = ["Rates", "fit"]


def _characters(text: str) -> tuple[int, int]:
    lines = text.splitlines()
    steps = sum(len(line) for line in lines if line.startswith("[step "))
    return sum(map(len, lines)) - steps, steps


class Rates(msgspec.Struct, frozen=True):
    """Tokens a character, in sentences and in steps; ``worst`` is the largest error in tokens."""

    sentences: float
    steps: float
    worst: float

    def of(self, text: str) -> int:
        """Give about how many tokens a text costs.

        Examples
        --------
        >>> Rates(0.25, 0.5, 0.0).of("Look at this.\\n[step 0] call: f()")
        12
        """
        sentences, steps = _characters(text)
        return round(self.sentences * sentences + self.steps * steps)


def fit(prompts: Sequence[str], tokens: Sequence[int]) -> Rates:
    """Fit the two rates by least squares.

    Parameters
    ----------
    prompts : sequence of str
        Whole prompts, at least one.
    tokens : sequence of int
        The engine's own count of each.

    Returns
    -------
    Rates
        Both rates are equal if no prompt shows a step.
    """
    characters = np.array([_characters(prompt) for prompt in prompts], float)
    counted = np.array(tokens, float)
    if not characters[:, 1].any():
        characters[:, 0] = characters.sum(axis=1)
        (one,), *_ = np.linalg.lstsq(characters[:, :1], counted)
        rates = np.array([one, one])
    else:
        rates, *_ = np.linalg.lstsq(characters, counted)
    return Rates(*map(float, rates), float(np.abs(characters @ rates - counted).max()))
