"""Exercises on ranking failures: pairs, budgets of alarms, choices among candidates, parts.

Decision: answers come from small examples, and from the numbers that a page has found and hands
over. Refusal: a page that has no such number is told so, and nothing is made up in its place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tjlib.exercises.asked import asked
from tjlib.trace import InputError

__all__: list[str] = []

#: Steps of failed and of successful runs, for counting pairs by hand.
FAILED, SUCCESSFUL = (9, 6, 6), (6, 4)
SHARE = "a share from 0 to 1"


def _known(name: str, value, what: str):
    """Return a number that the page found, or say that it has none."""
    if value is None or math.isnan(value):
        raise InputError(f"exercise {name}: undefined here, for there is no {what}")
    return value


@asked("b5-ties", SHARE,
       "write down every pair of a failed and a successful run; a win counts 1, a tie one half")
def _ties(failed: Sequence[int] = FAILED, successful: Sequence[int] = SUCCESSFUL):
    signs = [(a > b) - (a < b) for a in failed for b in successful]
    wins, ties, n = signs.count(1), signs.count(0), len(signs)
    return (wins + ties / 2) / n, [
        (wins / n, "that counts a tie as lost"),
        ((wins + ties) / n, "that counts a tie as won"),
        (0.5, "that is a coin, and what any count has over the tied pairs alone"),
        (1 - (wins + ties / 2) / n, "the other way round: the failed run is to have more steps")]


@asked("b5-best-f1", "a number from 0 to 1",
       "its hits are the failed runs, its flags are all runs")
def _best_f1(failed: int, runs: int):
    if not 0 < failed <= runs:
        raise InputError("exercise b5-best-f1: undefined here, for no run failed")
    p = failed / runs
    right = 2 * p / (1 + p)
    return right, [
        (p, "that is its precision; F1 puts recall beside it"),
        (1.0, "that is its recall; F1 puts precision beside it"),
        ((1 + p) / 2, "F1 is the harmonic mean of precision and recall, not the plain one")]


@asked("b5-tenth", "two numbers of steps, as (shortest, longest)",
       "take a tenth of each length; a cut falls after a whole step, and after one at least")
def _tenth(steps: Sequence[int]):
    ends = [n for n in (min(steps, default=0), max(steps, default=0)) if n]
    if not ends:
        raise InputError("exercise b5-tenth: undefined here, for no run has a step")
    right = tuple(-(-n // 10) for n in ends)
    wrong = [(tuple(n // 10 for n in ends), "round up: a tenth that ends inside a step takes that "
                                             "step, and no prefix is empty"),
             (tuple(ends), "that is the whole of each"),
             (right[::-1], "the shortest first")]
    return right, wrong


@asked("b5-delay", "a number of steps, to one digit",
       "most runs go on to their end; those that the coin stops have made a step by then", 0.05)
def _delay(length: float, budget: float):
    length = _known("b5-delay", length, "failed run")
    right = length * (1 - budget) + budget
    return right, [
        (length, "that is without any alarm"),
        (length * (1 - budget), "a run that is stopped at its first step has made that step"),
        (length * budget + 1 - budget, "the share that is stopped and the share that goes on are "
                                       "exchanged")]


@asked("b5-six", SHARE,
       "all of them have to be right, one after the other, and each is a draw of its own")
def _six(competence: float, calls: int = 6):
    right = competence**calls
    return right, [
        (competence, "that is one call"),
        (1 - (1 - competence) ** calls, "that is at least one right call, not every one")]


@asked("b5-knows", SHARE,
       "first: how probable is it that a right call is among the candidates of one point?")
def _knows(competence: float, drawn: int, calls: int = 6):
    one = 1 - (1 - competence) ** drawn
    return one**calls, [
        (one, "that is one point; a solution needs one right call after the other"),
        (competence**calls, "that takes the first drawn at each point"),
        (1 - (1 - competence**calls) ** drawn,
         "that draws whole solutions; here a selector chooses anew at every point")]


@asked("b5-lost", SHARE,
       "work it out for a step of one edge, of two, of three; then average over the steps")
def _lost(edges: Sequence[int]):
    if not len(edges):
        raise InputError("exercise b5-lost: undefined here, for there is no step")
    right = sum(0.5 ** int(k) for k in edges) / len(edges)
    mean = sum(map(int, edges)) / len(edges)
    return right, [
        (0.5, "that is a step of a single edge"),
        (0.5**mean, "that is a step of an average number of edges; average the chances instead"),
        (1 - right, "that is the share of steps that keep at least one")]


@asked("b5-by-chance", "a number of intervals, to one digit",
       "how often does a 95 % interval leave out a true value?", 0.05)
def _by_chance(settings: int):
    right = 0.05 * settings
    return right, [
        (0.95 * settings, "so many are expected to hold 0"),
        (1 - 0.95**settings, "that is the chance of at least one, if they were independent"),
        (settings, "that is all of them")]
