"""Exercises on the testbed and on its judges.

Decision: answers come from the desk as built, with the checker's own rules, and from
the published labels. Refusal: none is rounded before it is compared.
"""

from __future__ import annotations

from functools import cache
from itertools import islice

from tjlib.exercises.asked import asked
from tjlib.exercises.published import faults, published

__all__: list[str] = []


@cache
def _silent(seed: int) -> int:
    from tjlib.desk.testbed import judged_set

    return sum(x.faulty and x.outcome_correct for x in judged_set(seed)[1])


@asked("a3-rule", "a rule's number and a step, as (rule, step)",
       "follow the invented SKU: which call carries it, and which of the rules reads arguments?")
def _rule():
    from tjlib.desk import rules
    from tjlib.desk.testbed import stream

    run = next(run for run, label in stream() if label.failure_type == "hallucinated_argument")
    first = rules.check(run)[0]
    here = (first.rule, first.step)
    late = [((first.rule, first.step + by), "the rule is the one. At this step the desk has "
             "answered already, and the call was wrong before") for by in (1, 2, 3)]
    others = [((rule, first.step), "the step is the one, the rule another: an invented value is "
               "no matter of order, amount or ending") for rule in rules.RULES if rule != here[0]]
    return here, late + others


@asked("a3-second", "a rule's number",
       "take the check out of the script, keep the amount, and ask where the agent had it from", 0)
def _second():
    from tjlib.desk import oracle, rules, world
    from tjlib.trace import Trajectory

    case = next(x for x in islice(world.instances(7), 60) if x.stratum == "restocking")
    calls = [call for call in oracle.calls(case) if call.tool != "check_eligibility"]
    steps, _ = world.replay(case, calls)
    fired = {broken.rule for broken in rules.check(Trajectory("x", case.goal, steps, ""))}
    skipped = {rule for rule, (_, kind) in rules.RULES.items() if kind == "skipped_precondition"}
    (first,), (second,) = fired & skipped, fired - skipped
    return second, [(first, "that is the first, the missing check itself. What does the amount "
                            "lack once the check has not been made?")]


@asked("a3-silent", "a number of trajectories",
       "three types are silent by construction; then ask how the type that can be either is split",
       0)
def _split():
    right = _silent(8)
    each = right // 7 * 2  # of each type as many; half of one type is silent
    return right, [
        (3 * each, "these are the three that are silent by construction; one type is missing, "
                   "which is silent in some cases"),
        (4 * each, "one of these four is silent in some of its cases only"),
        (6 * each, "these are all faults")]


@asked("a4-bound", "a share from 0 to 1, to three digits",
       "at which rate p is it a rare event that none of n is flagged? Solve (1 - p)^n = .025",
       0.0005)
def _bound():
    from tjlib.measure.resample import clopper_pearson

    n = sum(x.faulty and x.outcome_correct for x in published()[0].labels)
    return clopper_pearson(0, n)[1], [
        (0.0, "that is the rate seen. The question is which true rates are compatible with it"),
        (1 - 0.05 ** (1 / n), "that is one-sided: all five per cent on one side. An interval of "
                              "95 % leaves half of that"),
        (1 - 0.025 ** (1 / faults()[0]), "that takes all faults for n; asked are the silent ones"),
        (1 - 0.025 ** (1 / faults()[1]), "that takes the clean runs for n; asked are silent "
                                          "faults")]


@asked("a4-ece", "a number from 0 to 1",
       "all verdicts fall into one bin: what was said there, and which share was right?")
def _always_clean():
    faulty, clean = faults()
    return faulty / (faulty + clean), [
        (clean / (faulty + clean), "that is the share that was right; the error is its distance "
                                   "from what was said"),
        (0.0, "three equal votes are agreement, and agreement is not accuracy")]
