"""Whether a trajectory stayed inside its fence: counts taken off a finished prompt.

Decision: the prompt is looked at from outside, by what a judge would take for
structure (markers, labels, lines), so the check shares nothing with the code
that escapes. Refusal: it does not say whether a model obeys what stands inside
the fence; no text can.
"""

from __future__ import annotations

import re
import unicodedata

from tjlib.judges.render import BEGIN, END
from tjlib.trace import Trajectory

__all__ = ["inspect"]

_LABEL = re.compile(
    r"(?:\[step \d+\] (?:thought|call|observation|user)(?: \d+)?|GOAL|FINAL ANSWER):")
_TURNS = re.compile(r"<\||</?s>|</?think|\[/?INST\]|<<SYS|_of_turn>")


def _wanted(trajectory: Trajectory, steps: bool) -> int:
    """Count the lines with a label that a trajectory should have."""
    return 2 + steps * sum(1 + len(step.calls) + len(step.observations) + (step.user is not None)
                           for step in trajectory.steps)


def inspect(prompt: str, head: str, trajectory: Trajectory, *, steps: bool) -> list[
        tuple[str, int, int]]:
    """Count in a prompt what a hostile trajectory would have to forge.

    Parameters
    ----------
    prompt : str
    head : str
        How the prompt of any trajectory begins, the opening marker included.
    trajectory : Trajectory
    steps : bool
        Whether its steps are shown.

    Returns
    -------
    list of (str, int, int)
        What was counted, how often it was found, how often it should be. The
        trajectory stayed inside its fence if the last two agree in each.

    Examples
    --------
    >>> t = Trajectory("t", "Help.", (), "Done.")
    >>> text = f"{BEGIN}\\nGOAL: Help.\\n\\nFINAL ANSWER: Done.\\n{END}\\n"
    >>> all(found == wanted for _, found, wanted in inspect(text, f"{BEGIN}\\n", t, steps=False))
    True
    """
    lines = prompt.split("\n")
    inside = prompt.removeprefix(head).removesuffix(f"\n{END}\n")
    told = [line for line in inside.split("\n") if line]
    hidden = sum(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")
                 for c in inside.replace("\n", ""))
    labelled = sum(bool(_LABEL.match(line)) for line in told)
    wanted, fields = _wanted(trajectory, steps), len(re.findall(r"(?:GOAL|FINAL ANSWER):", inside))
    return [
        ("beginning that all trajectories share", int(prompt.startswith(head)), 1),
        ("line that opens the fence", lines.count(BEGIN), 1),
        ("line that closes it", lines.count(END), 1),
        ("line inside, empty ones left out", len(told), wanted),
        ("line inside that begins with its label", labelled, wanted),
        ("label GOAL or FINAL ANSWER inside", fields, 2),
        ("run of three hyphens inside", inside.count("---"), 0),
        ("opening of a chat turn inside", len(_TURNS.findall(inside)), 0),
        ("control or invisible character inside", hidden, 0),
    ]
