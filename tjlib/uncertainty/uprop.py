"""UProp: doubt at a step and doubt carried into it, and what its name stands for elsewhere.

Decision: a kernel of height one, so that decisions that agree carry nothing.
Refusal: the method needs decisions drawn beside the one taken; what can be
computed of one logged run is another rule, under another name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from tjlib.uncertainty.evidence import NO_LOGPROBS, Evidence, Score
from tjlib.uncertainty.text import action_text

__all__ = ["uprop", "uprop_parts", "uprop_single"]

#: Least intrinsic uncertainty (ours) and largest ratio to it (a re-implementation's).
_FLOOR, _RATIO = 1e-6, 10.0
#: Earlier actions that `uprop_single` looks at (RUPA authors' code).
_EARLIER = 8


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


@lru_cache(maxsize=2**16)
def _apart(one: str, other: str) -> float:
    """One minus the share of characters two texts have in common, in order; in [0, 1]."""
    return 0.0 if one == other else 1.0 - SequenceMatcher(None, one, other, False).ratio()


def _surprise(text: str, others: Sequence[str]) -> float:
    """-log of the mean closeness of a text to others: 0 if all are equal to it, at most .5."""
    return -math.log(_mean([math.exp(-(_apart(text, other) ** 2) / 2) for other in others]))


def uprop_parts(e: Evidence) -> list[tuple[float, float]]:
    """Return UProp's intrinsic and extrinsic uncertainty of each step, in nats.

    Intrinsic is the mean -log p of the decisions drawn at the step, extrinsic
    the sum over earlier steps of how far the decision taken lay from those
    drawn. The decision taken is none of the drawn ones.
    """
    out, carried = [], 0.0
    for step, drawn in zip(e.steps, e.drawn or (), strict=True):
        out.append((max(_FLOOR, _mean([d.nll for d in drawn])), carried))
        carried += _surprise(action_text(step), [d.text for d in drawn])
    return out


def uprop(e: Evidence) -> Score:
    """UProp: the mean of intrinsic uncertainty, each step weighted by 1 + extrinsic / intrinsic.

    Written as its paper's sum of both over the sum of those weights; the
    ratio is capped at 10, so extrinsic uncertainty re-weights and no more.
    """
    if not e.drawn or not all(e.drawn):
        return Score(None, "not computable: no other decisions were drawn at each step")
    parts = [(iu, min(eu, _RATIO * iu)) for iu, eu in uprop_parts(e)]
    return Score(math.fsum(iu + eu for iu, eu in parts)
                 / math.fsum(1.0 + eu / iu for iu, eu in parts))


def uprop_single(e: Evidence) -> Score:
    """What the RUPA authors' code computes of one run under UProp's name; not UProp.

    The previous action's distance from up to 8 before it stands in for the
    draws, and its running sum enters above but not below the line, so the
    score grows with length.
    """
    if not e.has_logprobs:
        return Score(None, NO_LOGPROBS)
    acts = [action_text(step) for step in e.steps]
    over, under, carried = [], [], 0.0
    for t, u in enumerate(e.local.u):
        iu = max(_FLOOR, u)
        before = acts[max(0, t - 1 - _EARLIER):max(0, t - 1)]
        surprise = _surprise(acts[t - 1], before) if before else 0.0
        carried += surprise
        over.append(iu + carried)
        under.append(1.0 + min(_RATIO, surprise / iu))
    return Score(math.fsum(over) / math.fsum(under))
