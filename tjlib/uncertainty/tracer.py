"""TRACER: the worst moments of a run, by doubt, repetition or a gap between two messages.

Decision: the weights of its released dataclass, and the token filter of its
offline script, because those agree with what its authors describe; its command
line has others. Refusal: no weight is tuned, and a run without
log-probabilities is scored on repetition and gaps alone, as the rule allows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tjlib.uncertainty.baselines import seen
from tjlib.uncertainty.evidence import Evidence, Score
from tjlib.uncertainty.signals import mean_nll
from tjlib.uncertainty.text import overlap, signatures, tokens

__all__ = ["content_nll", "tracer", "tracer_risks", "tracer_so_far"]

#: Share of the messages in the tail, and the weight of the largest risk.
TAIL, TOP = 0.10, 0.10
#: How many earlier messages a text, and earlier turns a call, is compared with.
_TEXTS, _TURNS = 3, 5
#: Uncertainty of a message that has none, and the log p above which a token is sure.
_LEAST, _SURE = 1e-4, -0.05


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def content_nll(texts: Sequence[str], logprobs: Sequence[float]) -> float | None:
    """Return TRACER's uncertainty: mean -log p of the words that say something and are unsure.

    Left out are tokens with log p above -0.05, stop words, punctuation and
    numbers.

    Examples
    --------
    >>> content_nll(["the", " refund", " 7", "!", " order"], [-2, -1, -3, -4, -0.01])
    1.0
    """
    kept = [-p for text, p in zip(texts, logprobs, strict=True)
            if p <= _SURE and tokens(text)]
    return _mean(kept) if kept else None


def _unsure(e: Evidence) -> list[float]:
    """TRACER's uncertainty of each step; without the tokens' texts only sure ones are left out."""
    if e.content is not None:
        own = e.content
    elif e.local.source == "logprob":
        own = [mean_nll([p for p in step.logprobs or () if p <= _SURE]) for step in e.steps]
    else:
        own = e.local.u if e.has_logprobs else [None] * len(e.steps)
    return [_LEAST if u is None else u for u in own]


def _steps(e: Evidence) -> list[tuple[float, float, list[float]]]:
    """Give each step's risk before and after it has observed, and the reply's if there is one."""
    keys, distance = e.similarity.keys, e.similarity.distance
    words = [tokens(step.thought) for step in e.steps]
    said, shown = keys([s.thought for s in e.steps]), keys([seen(s) for s in e.steps])
    called = keys(["\n".join(signatures(s)) for s in e.steps])
    replies = keys([s.user or "" for s in e.steps])
    dense = said and not isinstance(said[0], frozenset)
    out, turns, last = [], [], None
    for i, (step, unsure) in enumerate(zip(e.steps, _unsure(e), strict=True)):
        alike = [overlap(words[i], words[j]) * (e.similarity.alike(said[i], said[j])
                                                if dense else 1.0)
                 for j in range(max(0, i - _TEXTS), i)]
        own = set(signatures(step))
        again = any(own & past for past in turns[-_TURNS:])
        turns += [own] if own else []
        gap = distance(called[i], shown[i]) if step.calls and seen(step) else 0.0
        before = max(unsure, *alike, float(again))
        last = said[i] if step.thought else last
        heard = [] if step.user is None else [
            max(_LEAST, 0.0 if last is None else distance(last, replies[i]))]
        out.append((before, max(before, gap), heard))
    return out


def tracer_risks(e: Evidence) -> list[float]:
    """Return TRACER's risk of each message, the agent's and the user's in order.

    The largest of uncertainty, repetition, and the gap between call and
    result or between message and reply; all weights 1.
    """
    return [risk for _, after, heard in _steps(e) for risk in (after, *heard)]


def _tail(risks: Sequence[float]) -> float:
    risks = sorted(risks, reverse=True)
    tail = max(1, math.floor(TAIL * len(risks) + 1e-9))
    return (1 - TOP) * _mean(risks[:tail]) + TOP * risks[0]


def tracer_so_far(e: Evidence) -> list[float]:
    """Give TRACER's score after each step, before what the step observes."""
    risks, out = [], []
    for before, after, heard in _steps(e):
        out.append(_tail([*risks, before]))
        risks += after, *heard
    return out


def tracer(e: Evidence) -> Score:
    """TRACER: the mean of the largest tenth of risks, and the largest once more at weight .1.

    Below 20 messages the tenth is one message, so the score is the largest
    risk. Without log-probabilities repetition and gaps are all it sees.
    """
    return Score(_tail(tracer_risks(e)))
