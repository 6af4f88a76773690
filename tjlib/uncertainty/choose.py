"""A recipe chosen on one half of the tasks without a label, for runs of the other half.

Decision: two criteria, each a wish that needs no outcome: a score should follow length least, or
runs of one task should agree in it once length is taken out. Refusal: no function here takes an
outcome, so none can leak into a choice; whether a criterion chooses well is for a page to say.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from tjlib.uncertainty.crossfit import half
from tjlib.uncertainty.graph import Graph
from tjlib.uncertainty.habits import Acts, disagreement, habits
from tjlib.uncertainty.recipes import CHANGES, Fitted, Recipe, fit, recipes

__all__ = ["CRITERIA", "Half", "agreement", "best", "elsewhere", "halves", "length_free", "signals"]


def _ranks(values: np.ndarray) -> np.ndarray:
    """Mid-ranks, centred and of unit variance; all 0 where every value is the same."""
    ranks = stats.rankdata(values)
    ranks = ranks - ranks.mean()
    return ranks / (ranks.std() or 1.0)


def length_free(scores: Sequence[float], steps: Sequence[int], tasks: Sequence[str]) -> float:
    """Return one minus the unsigned rank correlation of score and length, in [0, 1].

    Examples
    --------
    >>> round(length_free([1, 2, 3], [3, 4, 5], list("abc")), 6)
    0.0
    """
    return 1.0 - abs(float((_ranks(np.asarray(scores)) * _ranks(np.asarray(steps))).mean()))


def agreement(
    scores: Sequence[float], steps: Sequence[int], tasks: Sequence[str]
) -> float | None:
    """Return how alike runs of one task are in score once length is taken out, at most 1.

    An intraclass correlation: the sum, over pairs of runs that share a task, of
    the product of what length leaves of the score's ranks, over its largest.

    Returns
    -------
    float or None
        None without such a pair, or if length leaves nothing of the score.

    Examples
    --------
    >>> round(agreement([1, 1, 2, 2], [5, 6, 5, 6], list("aabb")), 6)
    1.0
    >>> agreement([1, 2], [5, 6], list("ab")) is None
    True
    """
    score, length = _ranks(np.asarray(scores)), _ranks(np.asarray(steps))
    left = score - (score * length).mean() * length
    _, task, size = np.unique(np.asarray(tasks), return_inverse=True, return_counts=True)
    most = float(((size[task] - 1) * left**2).sum())
    if most < 1e-9:
        return None
    return float(((np.bincount(task, left)**2).sum() - (left**2).sum()) / most)


#: Name -> what is to be highest.
CRITERIA: dict[str, Callable[..., float | None]] = {
    "least length": length_free, "most agreement": agreement}


class Half(NamedTuple):
    """One half of the tasks as a pool, and what it says of each recipe.

    ``members`` are the runs of the other half, which nothing here was fitted
    on. ``fitted`` and ``worth`` (criterion -> value of each recipe) are in the
    order of ``recipes.recipes`` with the signals that can be had.
    """

    members: list[int]
    own: dict[str, list[list[float]]]
    fitted: list[Fitted]
    worth: dict[str, list[float | None]]


def signals(
    acts: Sequence[Acts], tasks: Sequence[str], pool: Sequence[int]
) -> dict[str, list[list[float]]]:
    """Give every run's own uncertainty by each signal that can be had.

    Parameters
    ----------
    acts, tasks : sequences, one item a run
    pool : sequence of int
        The runs that say what is usual.

    Returns
    -------
    dict of signal to list
        Without disagreement where fewer than half of the runs have another
        run of their task; a run that has none then gets the pool's median.
    """
    known = habits(acts[i] for i in pool)
    out = {"none": [[0.0] * len(run.tools) for run in acts],
           "surprise": [known.surprise(run) for run in acts],
           "verbosity": [known.verbosity(run) for run in acts]}
    apart = disagreement(acts, tasks)
    if sum(one is not None for one in apart) * 2 >= len(acts) > 0:
        there = [value for i in pool for value in apart[i] or ()]
        usual = float(np.median(there)) if there else 0.0
        out["disagreement"] = [[usual] * len(run.tools) if one is None else one
                               for one, run in zip(apart, acts, strict=True)]
    return out


def halves(
    graphs: Sequence[Graph], acts: Sequence[Acts], tasks: Sequence[str], salt: str = "tjlib",
    kept: Sequence[str] = CHANGES["signal"],
) -> list[Half]:
    """Fit and weigh every recipe on each half of the tasks.

    Parameters
    ----------
    graphs, acts, tasks : sequences, one item a run
    salt : str
        As `crossfit.half`.
    kept : sequence of str
        Signals that may be used.

    Returns
    -------
    list of Half
        Two; a half without a run that has a step is left out.
    """
    side, out = [half(task, salt) for task in tasks], []
    for this in (0, 1):
        pool = [i for i, s in enumerate(side) if s != this and len(graphs[i].agent)]
        if not pool:
            continue
        own = signals(acts, tasks, pool)
        own = {name: own[name] for name in kept if name in own}
        fitted, worth, plain = [], {name: [] for name in CRITERIA}, {}
        there, of = [graphs[i] for i in pool], [tasks[i] for i in pool]
        for recipe in recipes(tuple(own)):
            u = [own[recipe.signal][i] for i in pool]
            known, scores = fit(recipe, there, u, plain)
            fitted.append(known)
            for name, criterion in CRITERIA.items():
                worth[name].append(criterion(scores, [len(g.agent) for g in there], of))
        out.append(Half([i for i, s in enumerate(side) if s == this], own, fitted, worth))
    return out


def best(one: Half, criterion: str) -> Fitted | None:
    """Return the recipe of the highest worth, of equals the one with fewest changes.

    None where the criterion says nothing of any recipe.
    """
    known = [(worth, fitted) for worth, fitted in
             zip(one.worth[criterion], one.fitted, strict=True) if worth is not None]
    return max(known, key=lambda pair: pair[0])[1] if known else None


def elsewhere(others: Iterable[Sequence[Half]], criterion: str, signals: Iterable[str]) -> Recipe:
    """Return the recipe of the highest worth in the mean over other sets of runs.

    Parameters
    ----------
    others : iterable of what `halves` gave of each
        A set counts once, whatever it holds; a recipe is compared by the sets
        that have it.
    criterion : str
        Of `CRITERIA`.
    signals : iterable of str
        That the runs have for which the recipe is chosen.
    """
    worth, signals = defaultdict(list), set(signals)
    for of in others:
        here = defaultdict(list)
        for one in of:
            for fitted, value in zip(one.fitted, one.worth[criterion], strict=True):
                if value is not None and fitted.recipe.signal in signals:
                    here[fitted.recipe].append(value)
        for recipe, values in here.items():
            worth[recipe].append(float(np.mean(values)))
    order = recipes()
    return max(sorted(worth, key=order.index), key=lambda recipe: np.mean(worth[recipe]),
               default=order[0])
