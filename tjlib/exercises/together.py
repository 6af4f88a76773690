"""Exercises of part C: scores beside judges, a panel, changes without labels, cascades.

Decision: answers come from the desk and from the methods themselves, and from the rates
and counts that the reader's own page hands over. Refusal: as for part A.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

from tjlib.exercises.asked import asked
from tjlib.trace import InputError

__all__: list[str] = []


@asked("c1-scale", "a share from 0 to 1",
       "a pair in which the fault scores higher counts one, a tie one half, any other nothing; add "
       "up and divide by the pairs")
def _scale(rise: int, pairs: int):
    if not pairs:
        raise InputError("exercise c1-scale: there is no pair of a silent fault and its clean run")
    return (rise + pairs) / (2 * pairs), [
        (rise / pairs, "that is the share in which they rise, and the difference of the analysis; "
                       "here ties count as well"),
        ((pairs - rise) / pairs, "that is the share of ties"),
        ((pairs - rise) / (2 * pairs), "those are the ties; the pairs in which they rise are "
                                       "missing"),
        (1.0, "that would leave the ties out; they are pairs, too")]


@cache
def _longer() -> float:
    """Find how often a run that stops early has more steps than its parent, ties one half."""
    from tjlib.desk.testbed import judged_set

    runs, labels = judged_set(7)
    steps = {run.trajectory_id: len(run.steps) for run in runs}
    wins = [(1 + (mine > his) - (mine < his)) / 2 for mine, his in (
        (steps[x.trajectory_id], steps[x.parent_id])
        for x in labels if x.failure_type == "premature_stop")]
    return sum(wins) / len(wins)


@asked("c1-steps", "a share from 0 to 1",
       "a run that stops early has lost its last steps: how often does it have more than the run "
       "it was made from?")
def _steps():
    return _longer(), [
        (0.5, "that is a score that always ties. Do the two ever have equally many steps?"),
        (1.0, "that is `fewer_steps`, which is this count turned round")]


@asked("c1-any", "a share from 0 to 1",
       "when do flags of three members fall on as many runs as possible?")
def _any(alarms: Sequence[float]):
    none = math.prod(1 - x for x in alarms)
    return min(1.0, sum(alarms)), [
        (1 - none, "that is so if members flag independently; they may do worse"),
        (max(alarms), "that is the least it can be, where all flag the same runs"),
        (sum(alarms) / len(alarms), "that is their mean; one flag of any member is enough")]


@asked("c1-ppv", "a share from 0 to 1",
       "of 1,000 runs, how many are faulty and flagged, and how many are clean and flagged?")
def _ppv(recall: float, alarm: float):
    true, false = 0.02 * recall, 0.98 * alarm
    if not true + false:
        raise InputError("exercise c1-ppv: the panel flags nothing here")
    return true / (true + false), [
        (recall / (recall + alarm), "that is so where as many runs are faulty as are clean"),
        (1 - alarm, "that is the share of clean runs left alone; asked is a share of flags"),
        (true, "that is the share of all runs that are faulty and flagged; divide by all flags"),
        (false / (true + false), "that is the share of flags that are wrong")]


@asked("c1-first", "a number of nats, to two digits",
       "first the share of `pay` among all steps, smoothed; then how often a run begins with it, "
       "with five pseudo-counts of that share")
def _first():
    from tjlib.uncertainty.habits import Acts, habits

    known = habits([Acts(("find", "pay"), (3, 3))] * 20)
    right = known.surprise(Acts(("pay",), (3,)))[0]
    return right, [
        (-math.log(0.1), "nearly. The share of `pay` is smoothed, too: one more for each of two "
                         "tools and for one unseen"),
        (-math.log(0.5), "that is how surprising `pay` is anywhere; asked is at the beginning"),
        (-math.log(5 / 25), "that gives `pay` all pseudo-counts; they are dealt by each tool's "
                            "share"),
        (-math.log(21 / 43), "that is the smoothed share of `pay` anywhere; asked is at the "
                             "beginning"),
        (-right, "that is the logarithm; turn its sign")]


@asked("c1-vote", "a share from 0 to 1",
       "for each of its two steps: of the other runs, what share does not have it after the same "
       "step? Then take the mean")
def _vote():
    from tjlib.uncertainty.habits import Acts, disagreement

    most, one = Acts(("find", "pay"), (1, 1)), Acts(("find", "ask"), (1, 1))
    apart = disagreement([most, most, most, one], ["x"] * 4)
    right = sum(apart[3]) / 2
    return right, [
        (apart[3][1], "that is its second step; its first is one that all others have"),
        (sum(apart[0]) / 2, "that is the mean for each of the three"),
        (3 / 8, "a run is not compared with itself, so three others are below the line")]


@asked("c1-dial", "a chance from 0 to 1, to three digits",
       "the difference of the two is normal: with which mean, and which standard deviation?",
       0.0005)
def _dial(dial: float):
    from scipy.special import ndtr

    return ndtr(dial / math.sqrt(2)), [
        (ndtr(dial), "both steps have noise, so the difference varies more than one of them"),
        (ndtr(dial / 2), "variances add up, standard deviations do not"),
        (1 - ndtr(dial / math.sqrt(2)), "that is the chance of the other step being higher")]


@asked("c1-mean", "a number of standard deviations, to two digits",
       "by how much does one step of n move their mean, and what is the mean's own standard "
       "deviation?")
def _mean(dial: float, steps: int):
    return dial / math.sqrt(steps), [
        (dial / steps, "by so much it moves; divide by the standard deviation of a mean of n"),
        (float(dial), "that is how far it stands out at its own step"),
        (dial * math.sqrt(steps), "a mean dilutes one step and does not amplify it")]
