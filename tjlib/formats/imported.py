"""What an importer makes of one run.

Decision: the outcome stays outside the trajectory, as everywhere, and what
could not be read is told beside the run it is missing from. Refusal: no
outcome is guessed: a run that was never judged has neither success nor fault.
"""

from __future__ import annotations

import msgspec

from tjlib.trace import Trajectory

__all__ = ["Imported", "shown"]


class Imported(msgspec.Struct, frozen=True):
    """One run of somebody's log.

    Attributes
    ----------
    trajectory : Trajectory
    line : int
        Where it starts in its file, 1-based.
    success : bool or None
        What the log's own judge said of the outcome; None where there is no
        judgement, as of a run that crashed.
    reward : float or None
        The raw value behind it.
    task_id : str
        What trials of the same task share.
    trial : str or None
    model : str or None
    opening : str
        What the user said before the first step, where the goal is not it.
    procedure : str
        The system prompt.
    notes : tuple of str
        What could not be read or was read with a doubt, each with its place.
    """

    trajectory: Trajectory
    line: int
    success: bool | None = None
    reward: float | None = None
    task_id: str = ""
    trial: str | None = None
    model: str | None = None
    opening: str = ""
    procedure: str = ""
    notes: tuple[str, ...] = ()


def shown(text: object, most: int = 120) -> str:
    """Return what a log says as one short line that steers no terminal.

    Examples
    --------
    >>> shown("Rate limit\\nretry \\x1b[2J")
    'Rate limit retry ?[2J'
    """
    line = " ".join(str(text).split())
    return "".join(c if c.isprintable() else "?" for c in line[:most])
