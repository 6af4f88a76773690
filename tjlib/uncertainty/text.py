"""What the graph reads in a step: its words, its calls, its cues.

Decision: cue words count at word boundaries, in what the agent wrote or an
observation said, never in the arguments of a call, and a failure word that is
denied ("0 failed", "error": null) is none. Refusal: no meaning is guessed at;
a word list is all there is. The cue words are those the RUPA paper names
(appendix A.1, which gives examples only); inflections, the stop list and the
rules of denial are ours.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

import msgspec

from tjlib.judges.wording import STOP
from tjlib.trace import Call, Observation, Step

__all__ = ["action_text", "failure_cue", "has_content", "observation_text", "overlap",
           "parallel_cue", "progression_cue", "signature", "signatures", "tokens"]

_WORD = re.compile(r"[^\W_]+")
_PROGRESSION = re.compile(
    r"\b(?:next|therefore|continu(?:e|es|ed|ing)|verif(?:y|ies|ied|ying)|test(?:s|ed|ing)?)\b")
_PARALLEL = re.compile(
    r"\b(?:alternative(?:s|ly)?|instead|another|different(?:ly)?|try|tries|tried|trying"
    r"|fallbacks?)\b")
_FAILURE = re.compile(
    r"(?<!\bno\s)(?<!\b0\s)(?<!\bzero\s)(?<!\bwithout\s)"
    r"\b(?:tracebacks?|errors?|exceptions?|fail(?:s|ed|ing|ures?)?|timeouts?|timed\sout)\b"
    # A field of that name that holds nothing reports no failure.
    r"(?![\"']?\s*[:=]\s*(?:null\b|none\b|false\b|0\b|\"\"|''|\[\s*\]|\{\s*\}))")
# A substring search is far quicker than the pattern, and almost always enough.
_ROOTS = {
    _PROGRESSION: ("next", "therefore", "continu", "verif", "test"),
    _PARALLEL: ("alternative", "instead", "another", "different", "try", "tri", "fallback"),
    _FAILURE: ("traceback", "error", "exception", "fail", "timeout", "timed"),
}
_NOTHING = frozenset(("", "{}", "[]", "null", "none", '""', "''"))
_sorted = msgspec.json.Encoder(order="sorted")


# Serves the texts of one run: with those of many, long logs would stay in memory.
@lru_cache(maxsize=2**10)
def tokens(text: str) -> frozenset[str]:
    """Return a text's words: lower case, no punctuation, stop words or numbers.

    Examples
    --------
    >>> sorted(tokens("Look up the order ORD-49713, please."))
    ['look', 'ord', 'order', 'please', 'up']
    """
    return frozenset(w for w in _WORD.findall(text.lower()) if w not in STOP and not w.isdigit())


def has_content(text: str) -> bool:
    """Tell whether a text holds any word that `tokens` keeps."""
    return any(w[0] not in STOP and not w[0].isdigit() for w in _WORD.finditer(text.lower()))


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of two sets' members that both have, in [0, 1]; 0 if one is empty.

    Examples
    --------
    >>> overlap(frozenset("abc"), frozenset("bcd"))
    0.5
    """
    both = len(one & other)
    return both / (len(one) + len(other) - both) if both else 0.0


def _cue(pattern: re.Pattern[str], text: str) -> str | None:
    low = text.lower()
    if any(root in low for root in _ROOTS[pattern]) and (found := pattern.search(low)):
        return found[0]
    return None


def progression_cue(text: str) -> str | None:
    """Return the first word that says the work goes on, or None.

    Examples
    --------
    >>> progression_cue("Next, look at the order."), progression_cue("The latest order.")
    ('next', None)
    """
    return _cue(_PROGRESSION, text)


def parallel_cue(text: str) -> str | None:
    """Return the first word that says another way is taken, or None."""
    return _cue(_PARALLEL, text)


def failure_cue(text: str) -> str | None:
    """Return the first word that reports a failure and is not denied, or None.

    Examples
    --------
    >>> failure_cue("3 passed, 0 failed"), failure_cue("request timed out")
    (None, 'timed out')
    """
    return _cue(_FAILURE, text)


def _json(value: Any) -> str:
    try:
        return _sorted.encode(value).decode("utf-8")
    except (TypeError, ValueError, OverflowError):  # what Python's json takes and JSON does not
        return json.dumps(value, sort_keys=True, default=str)


def _parsed(value: Any) -> Any:
    """Read an argument that is JSON written as a text, as some logs keep them."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return msgspec.json.decode(value)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return value
    return value


def signature(call: Call) -> str:
    """Write a call so that equal calls have equal texts.

    Examples
    --------
    >>> signature(Call("find", {"b": 2, "a": '{"y": 1, "x": 0}'}))
    'find:{"a":{"x":0,"y":1},"b":2}'
    """
    return f"{call.tool}:{_json({name: _parsed(value) for name, value in call.args.items()})}"


def signatures(step: Step) -> tuple[str, ...]:
    """Return the signature of each call of a step, in order."""
    return tuple(signature(call) for call in step.calls)


def action_text(step: Step) -> str:
    """Return what the agent said and called in a step, without what came of it.

    The paper appends the observation; a step that is scored before its own
    observation exists has none (our reading, so that scores work online).

    Examples
    --------
    >>> action_text(Step("Look.", (Call("get", {"id": 1}),)))
    'Look.\\nget:{"id":1}'
    """
    return "\n".join(filter(None, (step.thought, *signatures(step))))


def observation_text(observation: Observation) -> str:
    """Return what an observation says: its error, its only text, or its data as JSON.

    Examples
    --------
    >>> observation_text(Observation(True, {"content": "two seats left"}))
    'two seats left'
    >>> observation_text(Observation(True, {"content": None}))
    ''
    """
    parts = [observation.error] if observation.error else []
    held = [value for value in observation.data.values() if value is not None]
    if len(observation.data) == 1 and (not held or isinstance(held[0], str)):
        parts += held
    elif observation.data:
        parts.append(_json(observation.data))
    text = "\n".join(parts)
    return "" if text.strip().lower() in _NOTHING else text
