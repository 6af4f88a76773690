"""Which judge of a set is the outcome judge, the step judge, the ensemble: by its id.

Decision: an id is DESIGN:MODEL, as in the release, so a page that compares
designs finds them in whatever verdicts it is given; a comparison of views
needs one model, so the model with most designs is taken. Refusal: an id of
another form is a design of its own, and no judge is found that is not there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tjlib.measure.structural import STRUCTURAL

__all__ = ["Trio", "design", "side_by_side", "trio"]

#: Design -> how the release's ids begin (paper section 4); the 3 is the ensemble's votes.
_PREFIX = {"outcome": "outcome", "step": "step", "ensemble": "selfcons3"}


class Trio(NamedTuple):
    """The ids of three designs of one model, whether or not they are there."""

    outcome: str
    step: str
    ensemble: str


def design(judge: str) -> str:
    """Return a judge's design.

    Examples
    --------
    >>> [design(judge) for judge in ("selfcons3:m", "step:m:8b", "programmatic", "mine")]
    ['ensemble', 'step', 'rules', 'mine']
    """
    if judge in STRUCTURAL:
        return "rules"
    prefix = judge.partition(":")[0]
    return next((name for name, start in _PREFIX.items() if start == prefix), judge)


def trio(judges: Sequence[str]) -> Trio:
    """Return the outcome judge, step judge and ensemble of the model that has most of them.

    Parameters
    ----------
    judges : sequence of str
        Ids; of models with equally many designs, the first.

    Returns
    -------
    Trio
        Where the model lacks a design, the id that it would have.

    Examples
    --------
    >>> trio(["step:a", "outcome:b", "step:b"])
    Trio(outcome='outcome:b', step='step:b', ensemble='selfcons3:b')
    """
    models = [judge.partition(":")[2] for judge in judges if design(judge) in _PREFIX]
    model = max(models, key=models.count, default="")
    return Trio(*(f"{prefix}:{model}" if model else prefix for prefix in _PREFIX.values()))


def side_by_side(published: Sequence[str], ours: Sequence[str]) -> list[tuple[str, str]]:
    """Order judges so that ours follow the published ones of the same design.

    Parameters
    ----------
    published, ours : sequence of str
        Ids.

    Returns
    -------
    list of (str, str)
        Judge and ``"published"`` or ``"ours"``. A published judge without a
        model is left out where ours have none of its design.

    Examples
    --------
    >>> side_by_side(["programmatic", "outcome:a"], ["mine", "outcome:b"])
    [('outcome:a', 'published'), ('outcome:b', 'ours'), ('mine', 'ours')]
    """
    out = []
    for kind in dict.fromkeys(map(design, [*published, *ours])):
        mine = [(judge, "ours") for judge in ours if design(judge) == kind]
        theirs = [(judge, "published") for judge in published if design(judge) == kind]
        out += [*theirs, *mine] if mine or kind in _PREFIX else []
    return out
