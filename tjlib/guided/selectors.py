"""Rules that take one of several candidates: the one with the lowest score.

Decision: a rule is a method of `tjlib.uncertainty.methods` on the steps so far with the
candidate after them, as section 5.3 of the RUPA paper and its authors' code have it; the lowest
score is taken, of equal ones the first drawn. Refusal: a candidate that is no call is not taken,
and one without a score only where none has one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tjlib.guided.candidates import Candidate
from tjlib.trace import InputError, Step, Trajectory
from tjlib.uncertainty.evidence import Evidence
from tjlib.uncertainty.methods import METHODS
from tjlib.uncertainty.signals import Local

__all__ = ["CONTROLS", "SELECTORS", "Made", "Pick", "checked", "choose", "lowest", "scores"]

#: What the RUPA paper's Table 3 compares -> the method whose score is the lowest; none: the
#: first drawn. Its authors' code gives entropy, saup and tracer one rule, the mean -log p of the
#: candidate, which is the first of them here.
SELECTORS = {"random": None, "entropy": "sp_mean", "saup": "saup_d", "tracer": "tracer",
             "rupa": "rupa"}
#: Ours: what RUPA is given without a graph, and the fewest words.
CONTROLS = {"flat": "flat_u", "short": "n_words"}

# Scores closer than this are one score: they share the steps before, and a sum of floats need
# not end alike.
_DIGITS = 12


class Made(NamedTuple):
    """A step that was made, and the candidate it was, None where it was given."""

    step: Step
    candidate: Candidate | None = None


class Pick(NamedTuple):
    """The number of the candidate taken, and how many share its score; None if none is a call."""

    number: int | None
    tied: int = 0


def checked(names: str | Sequence[str]) -> tuple[str, ...]:
    """Check names of selectors, comma-separated or a list; raises `InputError`.

    Examples
    --------
    >>> checked("random, rupa")
    ('random', 'rupa')
    """
    if isinstance(names, str):
        names = [name.strip() for name in names.split(",")]
    known = SELECTORS | CONTROLS
    if unknown := [name for name in names if name not in known]:
        raise InputError(f"no selector {unknown[0]!r}; there are: {', '.join(known)}")
    return tuple(dict.fromkeys(names))


def scores(
    selector: str, goal: str, made: Sequence[Made], candidates: Sequence[Candidate]
) -> list[float | None]:
    """Score each candidate by a selector, lower is better.

    Parameters
    ----------
    selector : str
        A name of `SELECTORS` or `CONTROLS`.
    goal : str
    made : sequence of Made
        The steps so far with their observations. A given one has an uncertainty of 0: nobody
        drew it, and no candidate is before another by it.
    candidates : sequence of Candidate

    Returns
    -------
    list of float or None
        None for a candidate that is no call, or that has no score.

    Examples
    --------
    >>> from tjlib.trace import Call
    >>> drawn = [Candidate("a", Call("escalate", {"reason": r}), nll=u)
    ...          for r, u in (("x", .5), ("y", .2))]
    >>> scores("entropy", "g", (), drawn), scores("random", "g", (), drawn)
    ([0.5, 0.2], [0.0, 0.0])
    """
    method = (SELECTORS | CONTROLS)[selector]
    return [None if candidate.call is None else
            0.0 if method is None else _score(goal, made, candidate, method)
            for candidate in candidates]


def _score(goal: str, made: Sequence[Made], candidate: Candidate, method: str) -> float | None:
    proposed = Step(candidate.thought, (candidate.call,))
    steps = [*(one.step for one in made), proposed]
    own = [*(one.candidate for one in made), candidate]
    if candidate.nll is None:
        local = None
    else:
        local = Local(tuple((c and c.nll) or 0.0 for c in own), "logprob")
    evidence = Evidence(
        Trajectory("", goal, tuple(steps), ""), local,
        parts=[(c.thought_nll, c.call_nll) if c else (0.0, 0.0) for c in own],
        content=[c.content_nll if c else None for c in own])
    value = METHODS[method](evidence).value
    return None if value is None else round(value, _DIGITS)


def lowest(values: Sequence[float | None], candidates: Sequence[Candidate]) -> Pick:
    """Take the lowest score, of equal ones the first drawn.

    Examples
    --------
    >>> from tjlib.trace import Call
    >>> a, b = Candidate(call=Call("reply")), Candidate(status="empty")
    >>> lowest([.3, None, .1, .1], [a, b, a, a]), lowest([None], [b])
    (Pick(number=2, tied=2), Pick(number=None, tied=0))
    """
    known = [value for value in values if value is not None]
    if known:
        return Pick(values.index(min(known)), known.count(min(known)))
    calls = [number for number, one in enumerate(candidates) if one.call is not None]
    return Pick(calls[0], len(calls)) if calls else Pick(None)


def choose(
    selector: str, goal: str, made: Sequence[Made], candidates: Sequence[Candidate]
) -> Pick:
    """Take a candidate by a selector: `scores`, then `lowest`."""
    return lowest(scores(selector, goal, made, candidates), candidates)
