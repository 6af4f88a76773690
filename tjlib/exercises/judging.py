"""Exercises on measures and results, from one F1 to the audit.

Decision: answers come from the published verdicts, by the functions that the chapters
use, and from the rows that the reader edited. Refusal: none is rounded before it is
compared.
"""

from __future__ import annotations

from collections.abc import Sequence

from tjlib.exercises.asked import asked
from tjlib.exercises.published import OUTCOME, STEP, faults, published, score
from tjlib.trace import FAULT_TYPES, InputError

__all__: list[str] = []


def _with_alarm(rows: Sequence[str]):
    """Give the chapter's rows as they are, and with row 2 flagged, as (labels, verdicts)."""
    from tjlib.measure.worked import parse

    if len(rows) < 2 or rows[1].partition("|")[0].strip() != "clean" or (
            not rows[1].partition("|")[2].strip().startswith("clean")):
        raise InputError("row 2 is no clean run that was left alone; put the first rows back")
    changed = [rows[0], "clean | faulty - - 0.7", *rows[2:]]
    return parse(list(rows), "the judge"), parse(changed, "the judge")


def _counts(labels, verdicts) -> tuple[int, int, int, int]:
    """Count hits, flags, faults and clean runs."""
    flags = [bool(v.faulty) for v in verdicts]
    faults = [x.faulty for x in labels]
    hits = sum(a and b for a, b in zip(flags, faults, strict=True))
    return hits, sum(flags), sum(faults), len(faults) - sum(faults)


@asked("a5-alarm", "a share from 0 to 1",
       "count the clean rows, then how many of them are flagged with the change")
def _alarm(rows):
    before, after = _with_alarm(rows)
    hits, flags, _, clean = _counts(*after)
    was = (_counts(*before)[1] - hits) / clean
    return (flags - hits) / clean, [
        (was, "that is the rate before the change"),
        ((flags - hits) / len(rows), "below the line stand the clean rows alone, not all rows"),
        ((flags - hits) / flags, "that is the share of flags that are false alarms; the rate is "
                                 "over the clean rows")]


@asked("a5-f1", "a number from 0 to 1, to three digits",
       "F1 is twice the hits over flags plus faults: which of the three does the change move?",
       0.0005)
def _f1(rows):
    before, after = _with_alarm(rows)
    hits, flags, faults, _ = _counts(*after)
    was = _counts(*before)
    return 2 * hits / (flags + faults), [
        (2 * was[0] / (was[1] + was[2]), "that is the F1 before: a false alarm is one more flag"),
        (hits / (flags + faults), "hits count twice in F1, once for each denominator"),
        (2 * (hits + 1) / (flags + faults), "a false alarm is a flag and no hit")]


@asked("a5-needed", "a number of clean runs",
       "with `at_most(1, n, 0.01)`: from which n on is its chance 2.5 % or less?", 0)
def _needed():
    from tjlib.measure.planner import clean_runs_needed

    return clean_runs_needed(0.01, alarms=1), [
        (clean_runs_needed(0.01), "that is without the alarm, `at_most(0, n, 0.01)`"),
        (clean_runs_needed(0.01, alarms=1, sides=1), "that is one-sided; the bound of a 95 % "
                                                     "interval leaves 2.5 % on this side"),
        (clean_runs_needed(0.01, alarms=1) - 1, "one run short: the chance is still above 2.5 %")]


@asked("a6-always", "a number from 0 to 1",
       "it flags all, so its hits are the faults and its flags are all trajectories")
def _always():
    faulty, clean = faults()
    return 2 * faulty / (2 * faulty + clean), [
        (faulty / (faulty + clean), "that is its precision, the share of faults; F1 puts recall "
                                    "beside it"),
        (1.0, "that is its recall; F1 puts precision beside it")]


@asked("a6-beat", "a share from 0 to 1",
       "write both F1 as functions of the share p of faults. The step judge raised no false alarm, "
       "so its F1 does not depend on p")
def _beat():
    recall = score(STEP, "recall")
    faulty, clean = faults()
    return recall, [
        (faulty / (faulty + clean), "that is the share of this set, and here it does not beat it"),
        (score(STEP, "f1"), "that is the step judge's F1; ask at which p the other's, "
                             "2p / (1 + p), is as large")]


@asked("a6-net", "a difference of two shares",
       "take the outcome judge's recall on silent faults, and take off what it flags without any")
def _net():
    silent, alarm = score(OUTCOME, "silent_recall"), score(OUTCOME, "false_alarm_rate")
    return silent - alarm, [
        (silent, "that is its recall. It flags clean runs as well, and recall at the false-alarm "
                 "rate is not detection"),
        (score(OUTCOME, "recall") - alarm, "that starts from pooled recall; asked are silent "
                                            "faults alone"),
        (score(OUTCOME, "loud_recall") - alarm, "that starts from loud faults; asked are silent "
                                                 "ones"),
        (alarm - silent, "the other way round")]


@asked("a6-pooled", "a share from 0 to 1",
       "pooled recall weighs silent and loud recall by how many there are of each")
def _pooled():
    silent, loud = (score(OUTCOME, f"{kind}_recall") for kind in ("silent", "loud"))
    return 0.9 * silent + 0.1 * loud, [
        (score(OUTCOME, "recall"), "that is pooled over this set's own numbers of silent and "
                                    "loud faults; yours has others"),
        ((silent + loud) / 2, "that weighs both alike, as if there were as many of each"),
        (0.1 * silent + 0.9 * loud, "the two weights are exchanged"),
        (silent, "nearly all are silent, and not all")]


@asked("a7-net", "a difference of two shares",
       "of the pairs in which the two differ, take those for the judge less those against it, "
       "and divide by all pairs")
def _paired():
    from tjlib import store

    pairs = store.published("parent_pairs")
    pairs = pairs[(pairs["judge"] == OUTCOME) & (pairs["fault"] == "unsupported_claim")]
    fault, parent, n = (pairs[c].to_numpy() for c in ("fault_flagged", "parent_flagged", "n"))
    of = n.sum()
    flagged, also = (n * fault).sum() / of, (n * parent).sum() / of
    return float(flagged - also), [
        (float(flagged), "that is recall; take off the clean runs of the same cases"),
        (float((n * fault * (1 - parent)).sum() / of), "these pairs count for the judge; some "
                                                       "count against it"),
        (float(flagged) - score(OUTCOME, "false_alarm_rate"),
         "that takes off the rate over all clean runs; asked are those of the same cases")]


@asked("a7-floor", "a share from 0 to 1",
       "set 2p / (1 + p) equal to the judge's F1, with recall r and false-alarm rate f, and solve "
       "for p")
def _below():
    recall, alarm = score(OUTCOME, "recall"), score(OUTCOME, "false_alarm_rate")
    faulty, clean = faults()
    return (recall - alarm) / (1 - alarm), [
        (recall, "that would be so without false alarms; this judge has some"),
        (recall - alarm, "a factor is missing: the clean runs are 1 - p of all, not all"),
        (faulty / (faulty + clean), "that is the share in this set, where the floor is above it")]


@asked("a8-half", "a share from 0 to 1",
       "true and false alarms are equally many: recall times p equals the false-alarm rate times "
       "1 - p")
def _half():
    recall, alarm = score(OUTCOME, "recall"), score(OUTCOME, "false_alarm_rate")
    return alarm / (recall + alarm), [
        (alarm / recall, "nearly: that is p over 1 - p"),
        (recall / (recall + alarm), "the two are exchanged: that is the share of clean runs"),
        (0.5, "at one half, true alarms are more, since recall is above the false-alarm rate")]


@asked("a8-happy", "a share from 0 to 1, to three digits",
       "weigh each kind of case by how often it comes to your desk; `happy` had no fault", 0.0005)
def _happy(shares):
    rest = [share for kind, share in dict(shares).items() if kind != "happy"]
    happy = dict(shares)["happy"]
    return 0.9 * happy + 0.1 * sum(rest) / len(rest), [
        (sum([happy, *rest]) / (1 + len(rest)), "that is the rate for kinds of case dealt in turn"),
        (0.1 * sum([happy, *rest]) / (1 + len(rest)), "the tenth is spread over the other kinds, "
                                                      "`happy` is not one of them"),
        (sum(rest) / len(rest), "that is the rate among the others; they are a tenth of all")]


def _verdict_in_its_place(claim: str):
    """Try a claim about the small judge with the outcome judge in its place."""
    from tjlib.claims.docket import audit
    from tjlib.claims.evidence import Evidence
    from tjlib.claims.trial import VERDICTS

    source = published()[0]
    evidence = Evidence(source.labels, source.verdicts, source.cost, source.trajectories,
                        judges={"outcome": OUTCOME, "step": STEP, "small": OUTCOME}, draws=100)
    trial, = audit(evidence, [claim])
    return trial.ruling.verdict, VERDICTS


@asked("a9-base", "one of the four verdicts, in words",
       "the sentence equates an F1 with the base rate: work out both for this judge")
def _base():
    right, every = _verdict_in_its_place("base-rate")
    return right, [(every[-1], "the data are there: only the judge is another")]


@asked("a9-uniform", "one of the four verdicts, in words",
       "count the rows of the outcome judge's column that print as one, and read what a sentence "
       "that says all needs")
def _uniform():
    right, every = _verdict_in_its_place("uniformly-one")
    return right, [(every[-1], "the data are there: only the judge is another"),
                   (every[0], f"that would take one in every row, for all {len(FAULT_TYPES)} types "
                              "and the clean runs")]
