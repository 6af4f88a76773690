"""Methods RUPA is compared with: predictive entropy, sequence probability, stated confidence, SAUP.

Decision: each rule as the RUPA paper's sources describe it, where they differ
the reading named here, and every score turned so that higher means more
likely to fail. Refusal: a rule whose input a log lacks gives no score, for
nothing takes the place of a missing log-probability.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from tjlib.trace import Step
from tjlib.uncertainty.evidence import NO_LOGPROBS, Evidence, Score
from tjlib.uncertainty.text import action_text, observation_text

__all__ = ["pe", "saup_d", "saup_d0", "saup_rms", "saup_so_far", "seen", "sp_mean", "sp_sum",
           "stated", "verbalized"]

_NUMBER = re.compile(r"(\d+(?:\.\d+)?|\.\d+)\s*(%?)")


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def pe(e: Evidence) -> Score:
    """Predictive entropy: mean -log p over all the agent's tokens, in nats.

    Pooled over tokens, so a long step weighs more (RUPA authors' code).
    """
    if not e.has_logprobs:
        return Score(None, NO_LOGPROBS)
    counts = e.tokens or [len(step.logprobs or ()) for step in e.steps]
    if not sum(counts):
        return Score(None, "not computable: the number of tokens of each step is not known")
    return Score(math.fsum(n * u for n, u in zip(counts, e.local.u, strict=True))
                 / sum(counts))


def sp_sum(e: Evidence) -> Score:
    """Sequence probability: the sum over steps of their mean -log p, which grows with steps.

    The paper calls it a signal of confidence, so it stands negated here.
    """
    return Score(math.fsum(e.local.u)) if e.has_logprobs else Score(None, NO_LOGPROBS)


def sp_mean(e: Evidence) -> Score:
    """Sequence probability a step: the mean over steps of their mean -log p."""
    return Score(_mean(e.local.u)) if e.has_logprobs else Score(None, NO_LOGPROBS)


def stated(reply: str) -> float | None:
    """Read the probability a reply states: its first number, a percentage divided by 100.

    Returns
    -------
    float or None
        In [0, 1]; None without a number.

    Examples
    --------
    >>> stated("About 85%."), stated("0.7 (of 1)"), stated("quite sure")
    (0.85, 0.7, None)
    """
    if (found := _NUMBER.search(reply)) is None:
        return None
    value = float(found[1])
    return min(1.0, value / 100 if found[2] and value > 1 else value)


def verbalized(e: Evidence) -> Score:
    """Stated confidence: one minus its mean over the steps that state one, in [0, 1]."""
    said = [c for c in e.confidence or () if c is not None]
    if not said:
        return Score(None, "not computable: no step states a confidence")
    return Score(1.0 - _mean(said))


def _joined(so_far, key):
    """Key of a text and the next one: the union of words, or the direction of the sum, unscaled.

    The sum is ours: an embedder reads the start of a long text only.
    """
    if so_far is None:
        return key
    return so_far | key if isinstance(key, frozenset) else so_far + key


def _scaled(key):
    """Give a direction length one; a set of words is what it is."""
    if isinstance(key, frozenset):
        return key
    length = math.sqrt(float(key.dot(key)))
    return key / length if length else key


def seen(step: Step) -> str:
    """Return what a step's calls brought, as one text."""
    return "\n".join(filter(None, map(observation_text, step.observations)))


def _distances(e: Evidence) -> list[tuple[float, float, float]]:
    """SAUP's inquiry drift and inference gap of each step, and its drift before it has observed."""
    keys, distance = e.similarity.keys, e.similarity.distance
    done, shown = [action_text(s) for s in e.steps], [seen(s) for s in e.steps]
    (goal,), acts, got = keys([e.trajectory.goal]), keys(done), keys(shown)
    whole = keys([f"{d}\n{s}" for d, s in zip(done, shown, strict=True)])
    out, past = [], None
    for act, saw, text, now, blind in zip(
            acts, got, shown, whole, keys([f"{d}\n" for d in done]), strict=True):
        before, past = _joined(past, blind), _joined(past, now)
        out.append((distance(goal, _scaled(past)), distance(act, saw) if text else 0.0,
                    distance(goal, _scaled(before))))
    return out


def _own(e: Evidence) -> list[float]:
    """SAUP's uncertainty of each step: the message's plus the calls'."""
    apart = e.parts or [(u, None) for u in e.local.u]
    return [math.fsum(part for part in both if part is not None) for both in apart]


def _saup(e: Evidence, weights: Sequence[float]) -> Score:
    if not e.has_logprobs:
        return Score(None, NO_LOGPROBS)
    return Score(math.sqrt(_mean([(w * u) ** 2 for w, u in zip(weights, _own(e), strict=True)])))


def saup_so_far(e: Evidence) -> list[float]:
    """Give the score of ``saup_d`` after each step, before what the step observes."""
    total, out = 0.0, []
    for (drift, gap, blind), u in zip(_distances(e), _own(e), strict=True):
        out.append(math.sqrt((total + ((1.0 + blind) * u) ** 2) / (len(out) + 1)))
        total += ((1.0 + drift + gap) * u) ** 2
    return out


def saup_d(e: Evidence) -> Score:
    """SAUP weighted by one plus inquiry drift plus inference gap (its re-implementations).

    The root mean square over steps of weight times uncertainty, which is the
    message's plus the calls' mean -log p where the log tells them apart.
    """
    return _saup(e, [1.0 + a + o for a, o, _ in _distances(e)] if e.has_logprobs else ())


def saup_d0(e: Evidence) -> Score:
    """SAUP weighted by inquiry drift plus inference gap alone (its paper)."""
    return _saup(e, [a + o for a, o, _ in _distances(e)] if e.has_logprobs else ())


def saup_rms(e: Evidence) -> Score:
    """SAUP without weights: what the RUPA authors' code computes under that name."""
    return _saup(e, [1.0] * len(e.steps))
