"""Other ways for a run to be clean, to call the wrong tool, or to claim too much.

Decision: the paper's set has one redundant call, four sentences and one clean
script; here are more of each, in two parts, so that a judge without a model
can be set on one part and reported on the other, with other cases. The seeds
and the split are constants. All but the paper's own are ours. Refusal: no
checker is known here, and what a way claims about the outcome is not believed:
whoever builds a run reads it off the desk.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from tjlib.desk import faults
from tjlib.desk.desks import Caseless, Failing, Slow
from tjlib.desk.world import STRATA, Desk, Instance, replay
from tjlib.trace import Call

__all__ = ["PARTS", "REPORT_SEEDS", "SET_SEEDS", "Made", "Way", "claiming", "polite", "reworded",
           "ways"]

#: The seeds of the cases a panel is set on, and of those it is reported on; 7 is in neither.
SET_SEEDS = (101, 103)
REPORT_SEEDS = (211, 223, 227)
PARTS = ("set", "report")

_PAID = ("happy", "restocking")
_REFUSED = tuple(stratum for stratum in STRATA if stratum not in _PAID)
_LOST = ("the service timed out; try again", "connection reset by peer")


class Made(NamedTuple):
    """Calls, the 0-based step of the fault (None: clean), the answer sent, the desk they go to."""

    calls: tuple[Call, ...]
    step: int | None
    answer: str
    desk: Desk


class Way(NamedTuple):
    """One way: its name, the fault (None: clean), the cases that can host it, how it is made.

    ``make`` takes a case, the oracle's calls and a generator.
    """

    name: str
    fault_type: str | None
    strata: tuple[str, ...]
    make: Callable[[Instance, tuple[Call, ...], random.Random], Made]


def _plain(case: Instance, calls: tuple[Call, ...], rng: random.Random) -> Made:
    return Made(calls, None, calls[-1].args["text"], Desk(case))


def _replaced(at: int, by: Callable[[Instance, tuple[Call, ...], random.Random], Call],
              desk: type[Desk] = Desk) -> Callable[..., Made]:
    """Put another call in the place of one; the step of the fault is that place."""
    def make(case: Instance, calls: tuple[Call, ...], rng: random.Random) -> Made:
        edited = (*calls[:at], by(case, calls, rng), *calls[at + 1:])
        return Made(edited, at, calls[-1].args["text"], desk(case))
    return make


def _spelt(case: Instance, calls: tuple[Call, ...], rng: random.Random) -> Call:
    spell = rng.choice((str.lower, str.title, "  {} ".format))
    return Call("lookup_order", {"order_id": spell(case.order_id)})


def _unread(case: Instance, calls: tuple[Call, ...], rng: random.Random) -> Made:
    """Leave the policy unread, and put nothing in its place."""
    return Made((*calls[:2], *calls[3:]), 2, calls[-1].args["text"], Desk(case))


def _unchecked(case: Instance, calls: tuple[Call, ...], rng: random.Random) -> Made:
    """Skip the check as the paper does."""
    edit = faults.inject(case, calls, "skipped_precondition", rng)
    return Made(edit.calls, edit.step, edit.final_answer, Desk(case))


def _later(case: Instance, calls: tuple[Call, ...], rng: random.Random) -> Made:
    """Leave the policy unread and look the order up again after the check."""
    edited = (*calls[:2], calls[3], calls[1], *calls[4:])
    return Made(edited, 3, calls[-1].args["text"], Desk(case))


def _retried(times: int, error: str, among: int) -> Callable[..., Made]:
    """Let one of the first calls fail a few times; it is made again until it succeeds."""
    def make(case: Instance, calls: tuple[Call, ...], rng: random.Random) -> Made:
        at = rng.randrange(among)
        edited = (*calls[:at], *[calls[at]] * times, *calls[at:])
        return Made(edited, None, calls[-1].args["text"], Failing(case, at, times, error))
    return make


def _confirmed(desk: type[Desk]) -> Callable[..., Made]:
    """Look the order up once more before the customer is told."""
    def make(case: Instance, calls: tuple[Call, ...], rng: random.Random) -> Made:
        return Made((*calls[:-1], calls[1], calls[-1]), None, calls[-1].args["text"], desk(case))
    return make


def _respelt(case: Instance, calls: tuple[Call, ...], rng: random.Random) -> Made:
    """Write the order's number in small letters all along."""
    edited = tuple(
        msgspec.structs.replace(call, args=call.args | {"order_id": case.order_id.lower()})
        if "order_id" in call.args else call for call in calls)
    return Made(edited, None, calls[-1].args["text"], Caseless(case))


def _replied(calls: tuple[Call, ...], text: str) -> tuple[Call, ...]:
    return (*calls[:-1], Call("reply", {"text": text}))


def _facts(case: Instance, calls: tuple[Call, ...]) -> dict[str, str]:
    """Tell what the desk said, the last word on each thing; amounts with two decimals."""
    steps, _ = replay(case, calls)
    seen = {key: value for step in steps for observation in step.observations
            for key, value in observation.data.items()}
    return {key: f"{v:.2f}" if isinstance(v, float) else f"{v}" for key, v in seen.items()}


def claiming(name: str, texts: Sequence[str]) -> Way:
    """Make a way to add one of some sentences that no observation supports to the reply.

    Parameters
    ----------
    name : str
    texts : sequence of str
        ``{key}`` stands for what the last observation with that key holds.

    Returns
    -------
    Way
    """
    def make(case: Instance, calls: tuple[Call, ...], rng: random.Random) -> Made:
        made = polite(name, texts).make(case, calls, rng)
        return made._replace(step=len(made.calls) - 1)
    return Way(name, "unsupported_claim", STRATA, make)


def polite(name: str, texts: Sequence[str]) -> Way:
    """Make a way to add one of some harmless sentences to the reply; as `claiming`."""
    def make(case: Instance, calls: tuple[Call, ...], rng: random.Random) -> Made:
        facts = _facts(case, calls)
        # Some sentences restate what only a refund, or only an escalation, brings to light.
        sayable = []
        for text in texts:
            try:
                sayable.append(text.format_map(facts))
            except KeyError:
                continue
        answer = f"{calls[-1].args['text']} {rng.choice(sayable)}"
        return Made(_replied(calls, answer), None, answer, Desk(case))
    return Way(name, None, STRATA, make)


def reworded(name: str, paid: Sequence[str], refused: Sequence[str]) -> Way:
    """Make a way to send another reply with nothing in it but what the desk said.

    Parameters
    ----------
    name : str
    paid, refused : sequence of str
        Whole replies to a customer who gets money, and to one who does not;
        ``{key}`` as in `claiming`.

    Returns
    -------
    Way
    """
    def make(case: Instance, calls: tuple[Call, ...], rng: random.Random) -> Made:
        text = rng.choice(paid if case.stratum in _PAID else refused)
        answer = text.format_map(_facts(case, calls))
        return Made(_replied(calls, answer), None, answer, Desk(case))
    return Way(name, None, STRATA, make)


_CALLS = {
    "set": (
        Way("order looked up again", "wrong_tool", STRATA, _replaced(2, lambda c, o, r: o[1])),
        Way("customer looked up again", "wrong_tool", STRATA, _replaced(2, lambda c, o, r: o[0])),
        Way("check skipped", "skipped_precondition", _PAID, _unchecked),
        Way("as scripted", None, STRATA, _plain),
        Way("lookup retried once", None, STRATA, _retried(1, _LOST[0], 3)),
    ),
    "report": (
        Way("eligibility asked early", "wrong_tool", STRATA, _replaced(2, lambda c, o, r: o[3])),
        Way("order looked up later", "wrong_tool", STRATA, _later),
        Way("looked up, other spelling", "wrong_tool", STRATA, _replaced(2, _spelt, Caseless)),
        Way("handed over early", "wrong_tool", _REFUSED, _replaced(
            2, lambda c, o, r: Call("escalate", {"reason": "the customer wants a refund"}))),
        Way("check skipped", "skipped_precondition", _PAID, _unchecked),
        Way("policy skipped", "skipped_precondition", _PAID, _unread),
        Way("as scripted", None, STRATA, _plain),
        Way("any call retried twice", None, STRATA, _retried(2, _LOST[1], 5)),
        Way("order confirmed after refund", None, _PAID, _confirmed(Desk)),
        Way("order polled, not yet changed", None, _PAID, _confirmed(Slow)),
        Way("other spelling all along", None, STRATA, _respelt),
    ),
}


def ways(part: str, wordings: Sequence[Way]) -> tuple[Way, ...]:
    """List the ways of a part: its calls, and the wordings that it is given.

    Parameters
    ----------
    part : {"set", "report"}
    wordings : sequence of Way
        From `claiming`, `polite` and `reworded`.

    Returns
    -------
    tuple of Way

    Examples
    --------
    >>> [way.name for way in ways("set", [claiming("the paper's", faults.CLAIMS)])][-1]
    "the paper's"
    """
    return (*_CALLS[part], *wordings)
