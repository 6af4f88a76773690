"""Every fault beside the clean run of its own case.

Decision: the pair is found here once, for judges and for scores, so that both
are measured on the same pairs by one definition. Refusal: a fault whose clean
run is not in the set is left out, and replies are compared to the letter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tjlib.trace import InputError, Label

__all__ = ["SURVIVAL", "beside_parents"]

#: Outcome correct -> what the fault is called.
SURVIVAL = {True: "silent", False: "loud", None: "unknown"}


def beside_parents(
    labels: Sequence[Label], replies: Mapping[str, str]
) -> list[tuple[int, int, dict[str, Any]]]:
    """Find each fault's clean run.

    Parameters
    ----------
    labels : sequence of Label
        Of faults and clean runs.
    replies : mapping of trajectory_id -> final answer

    Returns
    -------
    list of (int, int, dict)
        Row of the fault, row of its parent, and pair (the fault's id),
        instance, fault, survival and reply ("unchanged" where it equals the
        parent's).

    Raises
    ------
    InputError
        If a reply is missing.

    Examples
    --------
    >>> labels = [Label("a", False), Label("b", True, parent_id="a")]
    >>> [(b, a, about["reply"]) for b, a, about in beside_parents(labels, {"a": "", "b": ""})]
    [(1, 0, 'unchanged')]
    """
    at = {label.trajectory_id: row for row, label in enumerate(labels)}
    found = []
    for fault, label in enumerate(labels):
        parent = at.get(label.parent_id)
        if not label.faulty or parent is None:
            continue
        for name in (label.trajectory_id, label.parent_id):
            if name not in replies:
                raise InputError(f"no final answer for {name}; pass the trajectories as well")
        same = replies[label.trajectory_id] == replies[label.parent_id]
        found.append((fault, parent, {
            "pair": label.trajectory_id, "instance": label.instance_id,
            "fault": label.failure_type or "untyped", "survival": SURVIVAL[label.outcome_correct],
            "reply": "unchanged" if same else "changed"}))
    return found
