"""The label of an episode that nobody scripted.

Decision: the rules and the outcome decide, as in section 8 of the judging
paper, so a label is a lower bound: a wrong tool or an unsupported claim that
leaves the outcome as it should be is labelled clean. Refusal: no judge's
verdict and no model's word counts as truth.
"""

from __future__ import annotations

from tjlib.desk import rules, world
from tjlib.desk.world import Instance
from tjlib.trace import Label, Trajectory

__all__ = ["label"]


def label(instance: Instance, trajectory: Trajectory) -> Label:
    """Label an episode by the rule checker and the outcome.

    Parameters
    ----------
    instance : Instance
        The case the episode is about.
    trajectory : Trajectory
        Its calls are carried out anew on the case's desk for the outcome.

    Returns
    -------
    Label
        Faulty if a rule is broken or the outcome is not the expected one.
        Step and type are the first violation's; None where only the outcome
        is wrong.
    """
    found = rules.check(trajectory)
    _, outcome = world.replay(instance, (call for step in trajectory.steps for call in step.calls))
    correct = outcome == world.expected_outcome(instance)
    return Label(
        trajectory_id=trajectory.trajectory_id,
        faulty=bool(found) or not correct,
        failure_step=found[0].step if found else None,
        failure_type=found[0].failure_type if found else None,
        outcome_correct=correct,
        instance_id=instance.instance_id,
        stratum=instance.stratum,
    )
