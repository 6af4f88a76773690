"""The free panel: rules, repetition and a look at the reply, and no model.

Decision: any member's flag is the panel's, and the first member that flags, in
the order of `MEMBERS`, names type and step: rules know their desk, a repeated
call is looked at before prose. The combination is ours. Refusal: nothing here
was set on what it is reported on; `tjlib.studies.freeset` sets the two constants, on
seeds and wordings of their own, and a test sets them again.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import msgspec

from tjlib.desk import rules
from tjlib.judges import entities, evidence, repeats, reply, wording
from tjlib.judges.asked import coded
from tjlib.judges.reply import Threshold
from tjlib.trace import InputError, Trajectory, Verdict
from tjlib.uncertainty import graph, prefix, signals, text

__all__ = ["FORM", "MEMBERS", "NAME", "THRESHOLD", "Panel", "combined"]

NAME = "free"
#: The members, in the order in which they name a fault.
MEMBERS = ("rules", "repetition", "reply")
#: What `python data/build_panel.py set` sets: which calls are the same, and above which score a
#: sentence is unsupported.
FORM = "exact"
THRESHOLD = Threshold("none", 0.0, 0.0, 200)


class Panel:
    """The free panel, or some of its members.

    Parameters
    ----------
    members : sequence of str
        Of `MEMBERS`; their order there counts, not here.
    form : {"exact", "near"}
        Of the repetition.
    threshold : Threshold
        Of the reply.

    Attributes
    ----------
    name : str
        ``free``, or ``free:`` and the members if not all.

    Raises
    ------
    InputError
        For no member, or an unknown one.

    Examples
    --------
    >>> run = Trajectory("t-1", "Refund ORD-5.", (), "I cancelled ORD-5.")
    >>> Panel().judge(run).rationale.partition(":")[0], Panel(["reply"]).judge(run).failure_type
    ('rules', 'unsupported_claim')
    """

    def __init__(
        self, members: Sequence[str] = MEMBERS, form: str = FORM,
        threshold: Threshold = THRESHOLD,
    ) -> None:
        if not members or set(members) - set(MEMBERS):
            raise InputError(f"no panel of {', '.join(members) or 'nobody'}; give one or more of "
                             f"{', '.join(MEMBERS)}")
        self.members = tuple(name for name in MEMBERS if name in members)
        self.form, self.threshold = form, threshold
        self.name = NAME if self.members == MEMBERS else f"{NAME}:{'+'.join(self.members)}"

    def identity(self) -> dict[str, Any]:
        """Say what makes this panel's verdicts what they are; as `tjlib.judges.asked.coded`."""
        parts = (rules, repeats, reply, entities, evidence, wording, graph, prefix, signals, text,
                 combined)
        return coded(self.name, "+".join(self.members), parts, {
            "members": list(self.members), "repetition": self.form,
            "reply": self.threshold.to_dict()})

    def each(self, trajectory: Trajectory) -> dict[str, Verdict]:
        """Ask every member, and time it.

        Returns
        -------
        dict
            Member -> verdict, ``not_applicable`` where the member does not bear on the run.
        """
        out = {}
        for member in self.members:
            start = time.perf_counter()
            said = self._ask(member, trajectory)
            out[member] = msgspec.structs.replace(
                said, judge=f"{NAME}:{member}", confidence=None, prompt_tokens=0,
                completion_tokens=0, latency_s=time.perf_counter() - start)
        return out

    def _ask(self, member: str, trajectory: Trajectory) -> Verdict:
        if member == "rules":
            return rules.judge(trajectory)
        if member == "repetition":
            return repeats.judge(trajectory, self.form)
        if not any(wording.sentences(said) for said, *_ in reply.replies(trajectory)):
            return Verdict(trajectory.trajectory_id, "reply", status="not_applicable",
                           rationale="the user was sent nothing")
        return reply.judge(trajectory, self.threshold)

    def judge(self, trajectory: Trajectory) -> Verdict:
        """Judge one trajectory.

        Parameters
        ----------
        trajectory : Trajectory

        Returns
        -------
        Verdict
            As `combined`.
        """
        return combined(self.name, self.each(trajectory))


def combined(name: str, said: dict[str, Verdict]) -> Verdict:
    """Put members' verdicts on one trajectory together.

    Parameters
    ----------
    name : str
        The panel's.
    said : dict
        Member -> verdict.

    Returns
    -------
    Verdict
        Faulty if any member says so; type, step and rationale are those of the
        first, in the order of `MEMBERS`, that does. ``not_applicable`` if no
        member bears on the run. Cost is the sum; no confidence is stated.
    """
    asked = [member for member in MEMBERS if member in said]
    bearing = [member for member in asked if said[member].status == "ok"]
    first = next((member for member in bearing if said[member].faulty), None)
    about = said[first] if first else said[asked[0]]
    told = [first] if first else bearing or asked
    return Verdict(
        about.trajectory_id, name, bool(first) if bearing else None,
        about.failure_step if first else None, about.failure_type if first else None,
        status="ok" if bearing else "not_applicable",
        rationale="; ".join(f"{member}: {said[member].rationale}" for member in told),
        latency_s=sum(v.latency_s for v in said.values()), prompt_tokens=0, completion_tokens=0)
