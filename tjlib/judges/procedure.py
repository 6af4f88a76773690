"""What a judge is told of a desk: who it audits, what the agent must do, what can go wrong.

Decision: the words that belong to one desk are a record, and the refund
desk's, from appendix D, are its first value, so that one wording serves every
desk and the paper's prompts stay as printed. Refusal: a log's own system
prompt is never told to a judge as its procedure: it is the log's text, it may
differ from run to run, and a judge told other things by each run is another
judge each time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import msgspec

from tjlib.desk.faults import FAULTS
from tjlib.desk.world import PROCEDURE
from tjlib.trace import FAULT_TYPES

__all__ = ["DESK", "Fault", "Procedure", "desk"]

# What a fault's kind says of the outcome, in the words a judge is told.
_KINDS = {"silent": "the outcome may still be right.", "loud": "the outcome is wrong."}


class Fault(msgspec.Struct, frozen=True):
    """One failure type: its name, what it means, and whether it is silent, loud or either."""

    name: str
    definition: str
    kind: str | None = None


class Procedure(msgspec.Struct, frozen=True):
    """What a judge is told of one desk; every text is one line.

    Attributes
    ----------
    name : str
    role : str
        The first sentence of every prompt.
    points : tuple of str
        What the agent must do, in order.
    taxonomy : tuple of Fault
        The failure types a verdict may name.
    duties : str
        What introduces the points.
    tools : tuple of (str, str)
        Name, with arguments if any, and description; may be empty.
    user : str
        Whom the agent answers.
    outcome : str
        What a judge of the reply is asked, up to when to report it.
    """

    name: str
    role: str
    points: tuple[str, ...]
    taxonomy: tuple[Fault, ...]
    duties: str = "The agent must:"
    tools: tuple[tuple[str, str], ...] = ()
    user: str = "the user"
    outcome: str = ("Decide whether this answer is a correct and complete resolution of the "
                    "request.")

    @property
    def types(self) -> tuple[str, ...]:
        """The names of the failure types."""
        return tuple(fault.name for fault in self.taxonomy)

    @property
    def digest(self) -> str:
        """A hash of all that it says, however its file spells it."""
        return hashlib.blake2b(msgspec.json.encode(self), digest_size=8).hexdigest()

    @property
    def told(self) -> str:
        """The points, and the tools if there are any, as paragraphs of a prompt."""
        lines = [self.duties, *(f"{n}. {point}" for n, point in enumerate(self.points, start=1))]
        if self.tools:
            lines += ["", "Its tools:", *(f"- {name}: {what}" for name, what in self.tools)]
        return "\n".join(lines)

    @property
    def labels(self) -> str:
        """The failure types with their meaning, and the label of a correct run."""
        lines = [f"- {x.name}: {x.definition}" if x.kind is None else
                 f"- {x.name}: {x.definition.rstrip('.')}; {_KINDS[x.kind]}" for x in self.taxonomy]
        return "\n".join((*lines, "- none: the trajectory is correct."))


#: The refund desk's, as appendix D prints it.
DESK = Procedure(
    "refund_desk", "You are auditing a customer-support agent.", PROCEDURE,
    tuple(Fault(name, FAULTS[name].meaning) for name in FAULT_TYPES),
    "The agent handles refund requests for an online retailer. It must:", user="the customer")


def desk(types: Sequence[str] = FAULT_TYPES) -> Procedure:
    """Give the refund desk's procedure with other failure types than the paper's six.

    Parameters
    ----------
    types : sequence of str
        Names of `tjlib.desk.faults.FAULTS`, each told by its meaning there.

    Returns
    -------
    Procedure
        `DESK` for the paper's six.

    Examples
    --------
    >>> desk() == DESK, desk(["premature_stop"]).types
    (True, ('premature_stop',))
    """
    return msgspec.structs.replace(
        DESK, taxonomy=tuple(Fault(name, FAULTS[name].meaning) for name in types))
