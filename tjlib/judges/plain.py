"""Judges that are one function of a run, by name.

Decision: a function and one line of `PLAIN` make a judge of the command line,
of the workers and of the book's table; its source is on record with its
verdicts, so that a changed one does not go on under its old name. Refusal:
no judge here takes a model, an option or a label.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import msgspec

from tjlib.desk import morerules
from tjlib.judges.asked import coded
from tjlib.trace import InputError, Trajectory, Verdict

__all__ = ["PLAIN", "Entry", "Plain"]


class Entry(NamedTuple):
    """A function that judges, and what the book says of it.

    ``sees`` is what it looks at, ``asked`` the question it answers, ``needs``
    what a run must offer, ``source`` where the idea is from; ``parts`` gives
    the functions it is made of, where a change of theirs makes it another judge.
    """

    judge: Callable[[Trajectory], Verdict]
    sees: str
    asked: str
    needs: str = "nothing"
    source: str = "ours"
    parts: Callable[[], Iterable[Callable]] = tuple


#: Name -> judge.
PLAIN = {
    "more-rules": Entry(
        morerules.judge, "every call and observation", "whether a rule is broken, of the eight or "
        "of those added to them", "the refund desk's runs",
        parts=lambda: [rule.find for rule in morerules.MORE.values()]),
}


class Plain:
    """One judge of `PLAIN`, as a run takes it.

    Parameters
    ----------
    name : str

    Raises
    ------
    InputError
        If there is no such judge.
    """

    def __init__(self, name: str) -> None:
        if name not in PLAIN:
            raise InputError(f"no judge {name!r}; there are: {', '.join(PLAIN)}")
        self.name = name

    def identity(self) -> dict[str, Any]:
        """Say what makes this judge's verdicts what they are; as `tjlib.judges.asked.coded`."""
        one = PLAIN[self.name]
        return coded(self.name, self.name, (one.judge, *one.parts()), {})

    def judge(self, trajectory: Trajectory) -> Verdict:
        """Judge one trajectory; never raises.

        Parameters
        ----------
        trajectory : Trajectory

        Returns
        -------
        Verdict
            The function's, under the judge's name, with the seconds it took; where it
            raised, the status is ``error`` and the rationale says why.
        """
        start = time.perf_counter()
        try:
            said = PLAIN[self.name].judge(trajectory)
        except Exception as error:
            why = " ".join(f"{type(error).__name__}: {error}".split())
            said = Verdict(trajectory.trajectory_id, self.name, status="error", rationale=why)
        return msgspec.structs.replace(said, judge=self.name, prompt_tokens=0, completion_tokens=0,
                                       latency_s=time.perf_counter() - start)
