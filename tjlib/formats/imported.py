"""What an importer makes of one run.

Decision: the outcome stays outside the trajectory, as everywhere, and what
could not be read is told beside the run it is missing from. Refusal: no
outcome is guessed: a run that was never judged has neither success nor fault.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import msgspec

from tjlib.trace import Trajectory

__all__ = ["Imported", "Outcome", "number", "short", "shown"]

#: Characters of a run's name that are shown; its end tells trials apart.
_LONGEST = 40


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
    steps_failed : tuple of int
        The 0-based steps that somebody labelled as the mistake.
    usage : dict
        Totals over the run, such as prompt_tokens, completion_tokens, cost.
    source : str
        The file in the folder or archive that was read; the reader of all
        formats fills it in.
    messages : tuple of int
        The 0-based number of the message that each step is in its log, where
        labels count messages.
    about : dict
        What else the log says of the run, each as a short text: who made the
        mistake and why, how hard the task is.
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
    steps_failed: tuple[int, ...] = ()
    usage: dict[str, int | float] = {}
    source: str = ""
    messages: tuple[int, ...] = ()
    about: dict[str, str] = {}


class Outcome(NamedTuple):
    """What a side file says of a run: whether it went well, and where not.

    That is a 0-based step, or where the file counts messages a 0-based message.
    """

    success: bool | None
    steps_failed: tuple[int, ...] = ()
    messages_failed: tuple[int, ...] = ()


def number(value: object) -> float | None:
    """Return a finite number as it is, and None for anything else.

    >>> number(1), number(True), number("1")
    (1.0, None, None)
    """
    known = isinstance(value, int | float) and not isinstance(value, bool)
    try:
        return float(value) if known and math.isfinite(value) else None
    except OverflowError:
        return None


def shown(text: object, most: int = 120) -> str:
    """Return what a log says as one short line that steers no terminal.

    Examples
    --------
    >>> shown("Rate limit\\nretry \\x1b[2J")
    'Rate limit retry ?[2J'
    """
    line = " ".join(str(text).split())
    return "".join(c if c.isprintable() else "?" for c in line[:most])


def short(name: str) -> str:
    """Return a name with its middle left out if it would fill a terminal's line.

    Examples
    --------
    >>> short("t-1"), short("t" * 100 + "-trial-7")
    ('t-1', 'tttttttttttttttttttttttttttt...t-trial-7')
    """
    return name if len(name) <= _LONGEST else f"{name[:_LONGEST - 12]}...{name[-9:]}"
