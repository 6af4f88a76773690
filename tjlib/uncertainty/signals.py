"""Local uncertainty: what one step or one observation says of itself.

Decision: what a step's uncertainty was read off is stored beside it, and what
was missing is counted. Refusal: a missing signal is never a silent 0, and no
step looks ahead: one that lacks its signal gets the median of the earlier ones
(ours; a median of the whole run would let later steps change earlier scores).
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

import msgspec

from tjlib.trace import InputError, Observation, Trajectory
from tjlib.uncertainty.similarity import Jaccard, Similarity
from tjlib.uncertainty.text import failure_cue, has_content, overlap, tokens

__all__ = ["SOURCES", "Imputer", "Local", "entropy_top_k", "environment", "fill", "local",
           "mean_nll", "spread"]

#: What a step's uncertainty can be read off. The paper's is predictive entropy, which the
#: first two estimate; the others are our fallbacks, in the order of preference.
SOURCES = ("logprob", "topk", "samples", "verbal", "surrogate", "constant")

# Uncertainty of an observation: the first three levels are those of the authors'
# code, the fourth and what counts as a conflict are ours. The paper names the kinds only.
_FAILED, _EMPTY, _BARE, _CONFLICT = 1.0, 1.0, 0.8, 0.5
_SAME_BELOW = 0.3
#: Below it a log-probability says "never", for which some servers write the least number they have.
_NEVER = -1e12
_EXIT_CODES = ("exit_code", "returncode", "return_code", "exit_status")


class Local(msgspec.Struct, frozen=True):
    """Uncertainty of each assistant step and where it comes from.

    ``u`` are at least 0, higher is less certain: nats a token for logprob,
    topk and surrogate, else in [0, 1]. ``n_imputed`` steps had no signal.
    """

    u: tuple[float, ...]
    source: str
    n_imputed: int = 0


def mean_nll(logprobs: Sequence[float] | None) -> float | None:
    """Return the mean negative log-probability of tokens, in nats; None without any.

    Examples
    --------
    >>> mean_nll([-0.5, -1.5]), mean_nll(())
    (1.0, None)
    """
    if not logprobs or min(logprobs) < _NEVER:
        return None
    return -math.fsum(logprobs) / len(logprobs) + 0.0


def entropy_top_k(tokens_top: Sequence[Sequence[float]]) -> float | None:
    """Return the mean entropy of tokens from their k best log-probabilities, in nats.

    The mass that is left counts as one more token, so this is a lower bound.

    Examples
    --------
    >>> round(entropy_top_k([[math.log(0.5), math.log(0.25)]]), 4)
    1.0397
    """
    if not tokens_top:
        return None
    total = 0.0
    for logs in tokens_top:
        chances = [math.exp(log) for log in logs]
        chances.append(max(0.0, 1.0 - math.fsum(chances)))
        total -= math.fsum(p * math.log(p) for p in chances if p > 0)
    return max(0.0, total / len(tokens_top))


def spread(samples: Sequence[str], similarity: Similarity | None = None) -> float | None:
    """Return one minus the mean similarity of samples of one step, in [0, 1]; None below two.

    Examples
    --------
    >>> spread(["refund order", "refund order", "escalate case"])
    0.6666666666666667
    """
    if len(samples) < 2:
        return None
    measure = similarity or Jaccard()
    pairs = list(combinations(measure.keys(samples), 2))
    alike = math.fsum(1.0 if a is b else measure.alike(a, b) for a, b in pairs)
    return 1.0 - alike / len(pairs)


def local(
    trajectory: Trajectory, source: str = "auto", given: Sequence[Any] | None = None, *,
    median: float | None = None, similarity: Similarity | None = None,
) -> Local:
    """Read each step's own uncertainty.

    Parameters
    ----------
    trajectory : Trajectory
    source : str
        One of `SOURCES`, or ``auto``: logprob if any step has log-probabilities,
        else constant.
    given : sequence, one item a step
        What the trajectory does not hold: for topk lists of each token's
        best log-probabilities, for samples lists of texts, for verbal the
        stated confidence in [0, 1], for surrogate the mean uncertainty of the
        step's tokens under another model, in nats. None where there is none.
    median : float, optional
        Of an unlabelled training set; the constant, else 0.
    similarity : Similarity, optional
        Of samples; default the overlap of words.

    Returns
    -------
    Local

    Raises
    ------
    InputError
        If the source is unknown, or ``given`` is missing or of another length.

    Examples
    --------
    >>> from tjlib.trace import Step
    >>> run = Trajectory("t-1", "", (Step("a", logprobs=(-1.0, -3.0)), Step("b")), "")
    >>> local(run)
    Local(u=(2.0, 2.0), source='logprob', n_imputed=1)
    """
    steps = trajectory.steps
    if source == "auto":
        source = "logprob" if any(step.logprobs for step in steps) else "constant"
    if source not in SOURCES:
        raise InputError(f"no source {source!r} of uncertainty; give auto, {', '.join(SOURCES)}")
    if source == "constant":
        return Local((median or 0.0,) * len(steps), source)
    if source == "logprob":
        raw = [mean_nll(step.logprobs) for step in steps]
    elif given is None or len(given) != len(steps):
        count = "nothing" if given is None else f"{len(given)} items"
        raise InputError(f"{trajectory.trajectory_id}: {source} is read off what is given for "
                         f"each of {len(steps)} steps, got {count}; give one item a step")
    else:
        raw = [None if item is None else _one(source, item, similarity) for item in given]
    return fill(raw, source, median)


def _one(source: str, item: Any, similarity: Similarity | None) -> float | None:
    if source == "topk":
        return entropy_top_k(item)
    if source == "samples":
        return spread(item, similarity)
    if not math.isfinite(item) or item < 0 or (source == "verbal" and item > 1):
        raise InputError(f"{source} {item} is out of range; give a confidence in [0, 1] or nats")
    return 1.0 - item if source == "verbal" else float(item)


class Imputer:
    """Fills in a step's missing signal from what was seen before it.

    Parameters
    ----------
    median : float, optional
        What stands in while no step had a signal; default 0.
    """

    def __init__(self, median: float | None = None) -> None:
        self._default, self._seen = median or 0.0, []

    def __call__(self, value: float | None) -> float:
        """Return the value; for None the median of the earlier ones."""
        if value is not None:
            insort(self._seen, value)
            return value
        middle = len(self._seen) // 2
        if not self._seen:
            return self._default
        return (self._seen[middle] + self._seen[~middle]) / 2


def fill(raw: Sequence[float | None], source: str, median: float | None = None) -> Local:
    """Give steps without a signal the median of the earlier ones, else the training set's, else 0.

    Where no step has one, that is the source "constant", whatever was asked for.

    Examples
    --------
    >>> fill([None, 1.0, 3.0, None], "surrogate").u
    (0.0, 1.0, 3.0, 2.0)
    """
    missing = sum(value is None for value in raw)
    source = "constant" if raw and missing == len(raw) else source
    return Local(tuple(map(Imputer(median), raw)), source, missing)


def environment(
    observation: Observation, text: str, earlier: Iterable[str] = ()
) -> tuple[float, str]:
    """Read the uncertainty of an observation, and why.

    Parameters
    ----------
    observation : Observation
    text : str
        What it says (`text.observation_text`).
    earlier : iterable of str
        What the same call brought before, inside the window.

    Returns
    -------
    float, str
        In [0, 1]: 1 failed or empty, .8 only numbers or stop words, .5 it
        contradicts an earlier answer to the same call, else 0 and no reason.
        A flag or an exit code outranks words in the text.

    Examples
    --------
    >>> environment(Observation(True, {"exit_code": 0, "out": "1 failed"}), "1 failed")
    (0.0, '')
    >>> environment(Observation(True, {}), "")
    (1.0, 'empty')
    """
    if not observation.ok or observation.error:
        return _FAILED, "marked as an error"
    codes = [observation.data[name] for name in _EXIT_CODES if name in observation.data]
    code = next((code for code in codes if isinstance(code, int)), None)
    if code:
        return _FAILED, f"exit code {code}"
    if not text.strip():
        return _EMPTY, "empty"
    if code is None and (cue := failure_cue(text)):
        return _FAILED, f"says {cue!r}"
    if not has_content(text):
        return _BARE, "only numbers or stop words"
    for other in earlier:
        if other != text and overlap(tokens(other), tokens(text)) < _SAME_BELOW:
            return _CONFLICT, "contradicts an earlier answer to the same call"
    return 0.0, ""
