"""Whether a run makes the calls of a reference run: the matchers that agent evaluators name alike.

Decision: calls are compared and nothing else, by one of four modes, and how
arguments and repeated calls count is said by options whose defaults are
written here. Calls made in one step, at once, have no order. Refusal: prose
and observations are not compared, and where no call was compared nothing
passes: without a reference, or with no call on either side, the verdict is
"not applicable".
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
from scipy.optimize import linear_sum_assignment

from tjlib import __version__, arguments
from tjlib.arguments import Rule, same
from tjlib.desk.values import quoted
from tjlib.trace import Call, InputError, Trajectory, Verdict, to_json

__all__ = ["MODES", "Matcher", "Options", "match"]

#: ``strict``: the same calls step by step, steps without a call passed over; ``unordered``: the
#: same calls in any order; ``subset``: no call that the reference has not; ``superset``: every
#: call that the reference has.
MODES = ("strict", "unordered", "subset", "superset")
_SAME = Rule()


class _At(NamedTuple):
    """A call and the 0-based step it was made in."""

    step: int
    call: Call

    def __str__(self) -> str:
        args = self.call.args if isinstance(self.call.args, dict) else {"": self.call.args}
        shown = ", ".join(f"{name}={quoted(value)}" for name, value in args.items())
        return f"{self.call.tool}({shown})"[:200]


class _Found(NamedTuple):
    """Calls paired off: how many pairs, and what is left on each side, in order."""

    pairs: int
    extra: list[_At]
    missing: list[_At]


class Options(msgspec.Struct, frozen=True):
    """How two runs are compared.

    Attributes
    ----------
    mode : str
        One of `MODES`.
    args : Rule
        How the arguments of every tool are compared.
    overrides : dict of str -> Rule
        In its place, for the tools it names.
    duplicates : {"count", "ignore"}
        Whether a call made twice needs a second one in the other run, or
        calls equal to an earlier one of the same run are passed over.
    """

    mode: Literal[*MODES] = "strict"
    args: Rule = _SAME
    overrides: dict[str, Rule] = {}
    duplicates: Literal["count", "ignore"] = "count"


_DEFAULT = Options()


def _calls(run: Trajectory, duplicates: str) -> list[list[_At]]:
    """Give the calls of each step that makes any."""
    steps, before = [], {}
    for index, step in enumerate(run.steps):
        made = []
        for call in step.calls:
            known = before.setdefault(call.tool, [])
            if duplicates == "ignore":
                if any(same(call.args, other, _SAME) for other in known):
                    continue
                known.append(call.args)
            made.append(_At(index, call))
        if made:
            steps.append(made)
    return steps


def _paired(made: Sequence[_At], wanted: Sequence[_At], options: Options) -> _Found:
    """Pair calls off, as many as can be, the earlier ones first."""
    pairs, left, lacking = 0, set(range(len(made))), set(range(len(wanted)))
    for tool in {at.call.tool for at in made} & {at.call.tool for at in wanted}:
        rows = [i for i, at in enumerate(made) if at.call.tool == tool]
        columns = [j for j, at in enumerate(wanted) if at.call.tool == tool]
        rule = options.overrides.get(tool, options.args)
        fits = np.array([[same(made[i].call.args, wanted[j].call.args, rule) for j in columns]
                         for i in rows])
        # Any falling weights make the assignment keep the earliest calls that can be kept.
        n, m = fits.shape
        weight = fits * ((n - np.arange(n))[:, None] * float(m * (m + 1)) + (m - np.arange(m)))
        for a, b in zip(*linear_sum_assignment(weight, maximize=True), strict=True):
            if fits[a, b]:
                pairs += 1
                left.discard(rows[a])
                lacking.discard(columns[b])
    return _Found(pairs, [made[i] for i in sorted(left)], [wanted[j] for j in sorted(lacking)])


def _difference(extra: Sequence[_At], missing: Sequence[_At]) -> str:
    """Name the first call too many and the first that lacks."""
    said = []
    if extra:
        said.append(f"step {extra[0].step}: {extra[0]} is not the reference's")
    if missing:
        said.append(f"the reference's {missing[0]} of step {missing[0].step} was not made")
    more = len(extra[1:]) + len(missing[1:])
    return "; ".join(said) + (f"; {more} more differences" if more else "")


def _strict(run: list, reference: list, last: int | None, options: Options):
    """Compare step by step; give the pairs, the step of the first difference and what it is."""
    pairs = 0
    for made, wanted in zip_longest(run, reference, fillvalue=()):
        found = _paired(made, wanted, options)
        pairs += found.pairs
        if found.extra or found.missing:
            step = made[0].step if made else last
            return pairs, step, _difference(found.extra, found.missing)
    return pairs, None, ""


def _any_order(run: list, reference: list, options: Options):
    """As `_strict`, without order; a call that lacks lacks at no step."""
    found = _paired([*chain(*run)], [*chain(*reference)], options)
    extra = [] if options.mode == "superset" else found.extra
    missing = [] if options.mode == "subset" else found.missing
    return found.pairs, extra[0].step if extra else None, _difference(extra, missing)


def match(
    run: Trajectory, reference: Trajectory | None, options: Options = _DEFAULT
) -> Verdict:
    """Compare a run's calls with a reference's.

    Parameters
    ----------
    run : Trajectory
    reference : Trajectory or None
        The run that it should be like; None if there is none.
    options : Options

    Returns
    -------
    Verdict
        Clean if the calls match, else faulty, with the step of the first
        difference (strict: the run's last step where it ends too early;
        otherwise None where all that differs is a call not made) and the
        reason. ``not_applicable`` where no call was compared and none
        differs. It states no type and no confidence.

    Examples
    --------
    >>> from tjlib.trace import Step
    >>> def run(*euros):
    ...     calls = (Call("refund", {"eur": eur}) for eur in euros)
    ...     return Trajectory("t-1", "Refund.", tuple(Step("", (call,)) for call in calls), "")
    >>> match(run(20.0), run(20)).faulty, match(run(20, 20), run(20)).rationale
    (False, "step 1: refund(eur=20) is not the reference's")
    """
    name, why = f"match:{options.mode}", "there is no reference for this run"
    if reference is not None:
        made, wanted = (_calls(each, options.duplicates) for each in (run, reference))
        last = len(run.steps) - 1 if run.steps else None
        pairs, step, why = (_strict(made, wanted, last, options) if options.mode == "strict"
                            else _any_order(made, wanted, options))
        if why:
            return Verdict(run.trajectory_id, name, True, step, rationale=why)
        if pairs:
            return Verdict(run.trajectory_id, name, False,
                           rationale=f"{pairs} calls match the reference's")
        why = "no call of this run and of the reference could be compared"
    return Verdict(run.trajectory_id, name, status="not_applicable", rationale=why)


class Matcher:
    """`match` as a judge of many runs.

    Parameters
    ----------
    references : iterable of (str, Trajectory)
        Each with the id of its task.
    tasks : mapping of str -> str
        By a run's id that of its task, where it has one.
    options : Options

    Raises
    ------
    InputError
        For two references of one task, or none at all.
    """

    def __init__(
        self, references: Iterable[tuple[str, Trajectory]], tasks: Mapping[str, str],
        options: Options = _DEFAULT,
    ) -> None:
        self.options, self._tasks = options, tasks
        self.name = f"match:{options.mode}"
        self._of: dict[str, Trajectory] = {}
        for task, trajectory in references:
            for key in {task, trajectory.trajectory_id} - {""}:
                if key in self._of:
                    raise InputError(f"two references for {quoted(key)}; keep one")
                self._of[key] = trajectory
        if not self._of:
            raise InputError("there is no reference; give a file of reference runs")

    def identity(self) -> dict[str, Any]:
        """Say what makes the verdicts what they are; as `tjlib.judges.modelfree.ModelFree`."""
        held = b"\n".join(name.encode() + to_json(run) for name, run in sorted(self._of.items()))
        source = "".join(map(inspect.getsource, (sys.modules[__name__], arguments)))
        return {
            "judge": self.name, "provider": "model-free", "model": self.options.mode,
            "digest": None, "server": f"tjlib {__version__}", "order": "",
            "options": msgspec.to_builtins(self.options) | {"references": _hash(held)},
            "prompt_hash": _hash(source.encode()),
        }

    def judge(self, trajectory: Trajectory) -> Verdict:
        """Compare a run with the reference of its own id or, without one, of its task."""
        name = trajectory.trajectory_id
        found = self._of.get(name) or self._of.get(self._tasks.get(name, name))
        return match(trajectory, found, self.options)


def _hash(text: bytes) -> str:
    return hashlib.blake2b(text, digest_size=8).hexdigest()
