"""Long runs with one, two or three faults at known steps, each caused by the first or by nothing.

Decision: the wrong fact is an order's number. A fault writes it over the right one in one call of
a shift, and a caused fault copies what the first one wrote, where an independent one has a wrong
number of its own; so the two differ in nothing but the value. Calls in between stay right, and
every run has a clean parent of as many steps. Refusal: no rule and no judge is asked, and a
thought stays its tool's one sentence, so wording tells nothing. All of this is ours; the judging
paper has one fault a run.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence

import msgspec

from tjlib.desk import faults, oracle, shift, world
from tjlib.desk.world import Instance
from tjlib.trace import Call, InputError, Trajectory

__all__ = ["LINKS", "MANNERS", "SPREADS", "Cascade", "Design", "Fault", "cascade", "cascades"]

# The testbed's faults that keep a run's length, in each case they are put into.
_TESTBEDS = ("wrong_tool", "hallucinated_argument", "unsupported_claim")
#: What is wrong: an order of another request (the desk answers), or one nobody has (it refuses);
#: or one of the testbed's faults.
MANNERS = ("known", "invented", *_TESTBEDS)
LINKS = ("independent", "caused")
#: All faults in one case, or one in each of as many cases in a row.
SPREADS = ("near", "far")

#: The calls that carry an order's number, in the order faults take them.
_CARRIERS = ("lookup_order", "check_eligibility", "reply")


class Design(msgspec.Struct, frozen=True):
    """How many faults a run has, what is wrong, how they hang together and where they are."""

    faults: int = 1
    manner: str = "known"
    link: str = "independent"
    spread: str = "near"

    def __post_init__(self) -> None:
        for name, known in (("manner", MANNERS), ("link", LINKS), ("spread", SPREADS)):
            if getattr(self, name) not in known:
                raise InputError(f"no {name} {getattr(self, name)!r}; give {', '.join(known)}")
        if self.faults not in (1, 2, 3):
            raise InputError(f"{self.faults} faults; give 1, 2 or 3")
        if self.manner in _TESTBEDS and (self.link == "caused" or (
                self.faults > 1 and self.spread == "near")):
            raise InputError(f"{self.manner} is one fault a case and copies nothing; give link "
                             "independent, and spread far for more than one")


class Fault(msgspec.Struct, frozen=True):
    """One fault: its 0-based step, the wrong value if it is one, and the step that caused it."""

    step: int
    value: str
    caused_by: int | None = None


class Cascade(msgspec.Struct, frozen=True):
    """A run, its faults in order (none: clean), its clean parent's id, and its design."""

    trajectory: Trajectory
    faults: tuple[Fault, ...]
    parent_id: str
    design: Design | None = None


def cascade(cases: Sequence[Instance], design: Design | None, seed: int = 7) -> Cascade:
    """Make one run of a shift.

    Parameters
    ----------
    cases : sequence of Instance
        A shift, of at least as many cases as faults if they are far, and of at
        least one more than the wrong numbers that it needs if they are known.
    design : Design or None
        None makes the clean run.
    seed : int
        With the cases it draws where the first fault is and the wrong numbers;
        not with the design, so that designs of a shift share the first fault.

    Returns
    -------
    Cascade

    Raises
    ------
    InputError
        If the shift is too short.

    Examples
    --------
    >>> shift_of = next(shift.shifts(world.instances(7), 4))
    >>> made = cascade(shift_of, Design(2, "known", "caused"))
    >>> [fault.step for fault in made.faults], made.faults[1].caused_by
    ([19, 21], 19)
    """
    scripts = [list(oracle.calls(case)) for case in cases]
    made: tuple[Fault, ...] = ()
    if design is not None:
        made = tuple(_put(cases, scripts, design, seed))
    steps, answer = shift.replay(cases, scripts)
    parent = _named(cases, None, seed)
    own = Trajectory(_named(cases, design, seed), shift.goal(cases), steps, answer)
    return Cascade(own, made, parent, design)


def cascades(
    designs: Sequence[Design], *, seed: int = 7, runs: int = 20, cases: int = 6
) -> Iterator[Cascade]:
    """Make runs of every design on the same shifts, the clean parent first.

    Parameters
    ----------
    designs : sequence of Design
    seed : int
        Of the cases and of all that is drawn.
    runs : int
        Shifts; each gives one run a design.
    cases : int
        Of a shift; six steps each.

    Yields
    ------
    Cascade
    """
    stream = shift.shifts(world.instances(seed), cases)
    for _ in range(runs):
        held = next(stream)
        yield cascade(held, None, seed)
        for design in designs:
            yield cascade(held, design, seed)


def _put(
    cases: Sequence[Instance], scripts: list[list[Call]], design: Design, seed: int
) -> Iterator[Fault]:
    """Write the faults into the scripts; say where."""
    far = design.spread == "far"
    if len(cases) < (design.faults if far else 1):
        raise InputError(f"{design.faults} faults far apart need as many cases, the shift has "
                         f"{len(cases)}")
    rng = random.Random(f"cascade-{cases[0].instance_id}-{design.manner}-{design.spread}-{seed}")
    # Room for three, so that one and two faults begin where three do.
    first = rng.randrange(max(1, len(cases) - (2 if far else 0)))
    wrong = _wrong(cases, first, design, rng)
    start = [sum(map(len, scripts[:number])) for number in range(len(cases))]
    root = None
    for number in range(design.faults):
        at = first + (number if far else 0)
        case = cases[at]
        if design.manner in _TESTBEDS:
            own = random.Random(f"{case.instance_id}-{design.manner}-{seed}")  # as the testbed's
            edit = faults.inject(case, scripts[at], design.manner, own)
            scripts[at][:] = edit.calls
            yield Fault(start[at] + edit.step, "")
            continue
        value = wrong[0 if design.link == "caused" else number]
        tool = _CARRIERS[number]
        step = next(k for k, call in enumerate(scripts[at]) if call.tool == tool)
        args = {name: text.replace(case.order_id, value) if isinstance(text, str) else text
                for name, text in scripts[at][step].args.items()}
        scripts[at][step] = Call(tool, args)
        caused = root if design.link == "caused" else None
        yield Fault(start[at] + step, value, caused)
        root = start[at] + step if root is None else root


def _wrong(
    cases: Sequence[Instance], first: int, design: Design, rng: random.Random
) -> list[str]:
    """Draw three wrong numbers: of orders no fault touches, or of nobody's."""
    if design.manner in _TESTBEDS:
        return []
    real = {case.order_id for case in cases}
    if design.manner == "invented":
        free = [name for number in rng.sample(range(10_000, 100_000), 3 + len(real))
                if (name := f"ORD-{number}") not in real]
        return free[:3]
    # As many as three faults may touch, so that one fault is the first of two and of three.
    touched = range(first, first + (3 if design.spread == "far" else 1))
    others = [case.order_id for number, case in enumerate(cases) if number not in touched]
    needed = 1 if design.link == "caused" else design.faults
    if len(others) < needed:
        raise InputError(f"{needed} known wrong orders need as many cases that no fault touches, "
                         f"the shift has {len(others)}; make it longer")
    return rng.sample(others, len(others))


def _named(cases: Sequence[Instance], design: Design | None, seed: int) -> str:
    # A hash, as the testbed's: an id must not tell the fault.
    name = f"{seed}-{'-'.join(case.instance_id for case in cases)}-{design}"
    return "c-" + hashlib.blake2b(name.encode(), digest_size=6).hexdigest()
