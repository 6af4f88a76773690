"""What a log says of tokens: how likely each was, and how many there were.

Decision: log-probabilities are kept only as a whole turn of real ones.
Refusal: the stand-ins that harnesses write where they know none are no
measurement, and counts of no tokens at all are none.
"""

from __future__ import annotations

import math

from tjlib.formats.fields import keyed
from tjlib.formats.imported import number

__all__ = ["logprobs", "usage"]

#: Our name of a total -> what logs call it, itself or inside another field.
_NAMES = {
    "prompt_tokens": ("input_tokens", "prompt_tokens"),
    "completion_tokens": ("output_tokens", "completion_tokens"),
    "total_tokens": ("total_tokens",),
    "cached_tokens": ("cached_input_tokens", "input_tokens_cache_read", "cached_tokens"),
    "reasoning_tokens": ("reasoning_output_tokens", "reasoning_tokens"),
    "cost": ("cost", "total_cost"),
}
_DETAILS = ("input_tokens_details", "output_tokens_details")


def logprobs(given: object) -> tuple[tuple[float, ...] | None, str]:
    """Return the log-probabilities of a turn, or None and what is wrong with them.

    They are numbers, or OpenAI's objects of a token each under ``content``. All 0 or
    -0.1, -0.2, -0.3 and so on are the stand-ins of NeMo Gym and Harbor.

    Examples
    --------
    >>> logprobs([-0.5, 0])
    ((-0.5, 0.0), '')
    >>> logprobs({"content": [{"token": "Hi", "logprob": -0.5}]})
    ((-0.5,), '')
    >>> logprobs([0.0])
    (None, 'placeholder log-probabilities, left out')
    """
    if isinstance(given, dict) and "content" in given:
        given = given["content"]
    if given is None or given == []:
        return None, ""
    found = [number(value.get("logprob") if isinstance(value, dict) else value)
             for value in given] if isinstance(given, list) else [None]
    if any(value is None or value > 0 for value in found):
        return None, "log-probabilities that are no list of numbers up to 0, left out"
    ramp = all(math.isclose(value, -place / 10) for place, value in enumerate(found, 1))
    if ramp or not any(found):
        return None, "placeholder log-probabilities, left out"
    return tuple(found), ""


def usage(*given: object) -> dict[str, int | float]:
    """Return the sums of the token counts of several models or parts, by our names.

    Examples
    --------
    >>> usage({"input_tokens": 9, "output_tokens_details": {"reasoning_tokens": 2}})
    {'prompt_tokens': 9, 'reasoning_tokens': 2}
    """
    totals: dict[str, int | float] = {}
    for part in given:
        if not isinstance(part, dict):
            continue
        known = dict(part)
        for name in _DETAILS:
            known |= keyed(part.get(name))
        for name, others in _NAMES.items():
            count = next((known[o] for o in others if number(known.get(o)) is not None), None)
            if count is not None:
                totals[name] = totals.get(name, 0) + count
    return totals if any(totals.values()) else {}
