"""Which judge the command line names, and what it is given.

Decision: what does not go together is wrong usage before any file is read.
Refusal: no judge is told the refund desk's procedure of another desk's log
unless somebody names it; that a log's own system prompt is no procedure, see
`tjlib.judges.procedure`.
"""

from __future__ import annotations

import argparse
from collections import Counter
from functools import cache, partial
from itertools import chain
from typing import TYPE_CHECKING

from tjlib.judges.plain import PLAIN, Plain
from tjlib.trace import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tjlib.formats.imported import Imported
    from tjlib.judges.runs import Runnable
    from tjlib.trace import Trajectory, Verdict

__all__ = ["UsageError", "chosen", "elsewhere"]

#: Runs a worker gets at a time from a judge without a model; one that asks a model gets one.
_CHUNK = 256


class UsageError(Exception):
    """Arguments that are each fine but do not go together."""


def chosen(args: argparse.Namespace) -> Runnable:
    """Make the judge that the arguments of ``tjlib judge`` name.

    Raises
    ------
    UsageError
        For arguments that do not go together.
    InputError
        For a file that one of them names.
    """
    from tjlib.judges import grounding, models, panel

    free = args.judge in ("rules", "match", "free", *PLAIN)
    alone = free or args.judge == "reply"  # can do without a model
    if (args.model and free) or not (alone or args.model):
        names = ", ".join(("rules", "match", *PLAIN))
        raise UsageError(f"{names} and free take no --model, reply may have one, every other "
                         "judge needs one")
    if bool(args.reference) != (args.judge == "match"):
        raise UsageError("match needs a --reference, and no other judge takes one")
    if args.judge != "match" and (args.mode or args.args or args.override or args.duplicates):
        raise UsageError("--mode, --args, --override and --duplicates go with match")
    if (args.similarity or args.clean) and (args.judge != "reply" or args.model):
        raise UsageError("--similarity and --clean go with reply without --model")
    if alone and (args.order or args.procedure or args.faults):
        raise UsageError(f"{args.judge} has no --order to choose and is told no --procedure and "
                         "no --faults")
    if args.procedure and args.faults:
        raise UsageError("a --procedure names its own failure types; leave --faults out")
    if args.judge in PLAIN:
        return Plain(args.judge)
    if args.judge == "rules":
        return panel.RULES
    if args.judge == "match":
        return _matcher(args)
    if args.judge == "free":
        from tjlib.judges.free import Panel

        return Panel()
    if not args.model:
        return _model_free(args)
    model = models.connect(args.model)
    if args.judge == "reply":
        return grounding.Grounding(model)
    return panel.Judge(args.judge, model, order=args.order or "paper", procedure=_procedure(args))


def elsewhere(
    args: argparse.Namespace,
) -> Callable[[Iterable[Trajectory]], Iterable[Verdict]] | None:
    """Say in which other processes the judge works; None for this one, as a model's client does.

    The judge is made anew in each of them, from the same arguments.
    """
    from tjlib.engine import spread

    where = args.scheduler or (1 if args.model else args.workers or 0)
    if where == 1:
        return None
    named = tuple((name, tuple(value) if isinstance(value, list) else value)
                  for name, value in sorted(vars(args).items()) if name != "run")
    work = partial(_judged, named)
    size = 1 if args.model else _CHUNK
    return lambda todo: chain.from_iterable(
        verdicts for _, verdicts in spread(work, todo, where=where, size=size))


@cache
def _made(named: tuple[tuple[str, object], ...]) -> Runnable:
    return chosen(argparse.Namespace(**dict(named)))


def _judged(named: tuple[tuple[str, object], ...], todo: list[Trajectory]) -> list[Verdict]:
    """Judge some runs; what a worker does."""
    return [_made(named).judge(trajectory) for trajectory in todo]


def _procedure(args: argparse.Namespace):
    """Read what a judge is to be told; without a file that is the refund desk's, on its runs."""
    from tjlib import procedures
    from tjlib.desk import faults, rules
    from tjlib.judges import procedure

    if args.procedure:
        return procedures.read(args.procedure)
    desk, run = procedure.desk(faults.known(args.faults or "")), None
    for run in _runs(args):
        if rules.applies(run.trajectory):
            return desk
    if run:
        raise InputError(f"{args.traces}: no run in it is the refund desk's, whose procedure a "
                         "judge is told by default; give --procedure FILE, or --procedure general "
                         "if there is none")
    return desk


def _runs(args: argparse.Namespace) -> Iterator[Imported]:
    """Read the runs of a log; what cannot be read is for the run of the judge to refuse."""
    from tjlib.formats import registry
    from tjlib.formats.imported import Imported

    found = registry.stream(args.traces, args.format)
    return (item for item in found if isinstance(item, Imported))


def _matcher(args: argparse.Namespace):
    """Make the judge that holds runs against references, by the run's id or its task's."""
    from tjlib.arguments import Rule, rule
    from tjlib.formats import registry
    from tjlib.matching import Matcher, Options

    overrides = {}
    for given in args.override or ():
        tool, _, text = given.partition("=")
        if not (tool and text):
            raise UsageError(f"--override {given!r}: write TOOL=RULE, such as refund=ignore")
        overrides[tool] = rule(text)
    options = Options(args.mode or "strict", rule(args.args) if args.args else Rule(), overrides,
                      args.duplicates or "count")
    log = registry.load(args.reference)
    if log.unread:
        raise InputError(f"{log.unread[0]}; every reference must be readable")
    tasks = {run.trajectory.trajectory_id: run.task_id for run in _runs(args)}
    try:
        return Matcher([(run.task_id, run.trajectory) for run in log.runs], tasks, options)
    except InputError as error:
        raise InputError(f"{args.reference}: {error}") from None


def _model_free(args: argparse.Namespace):
    from tjlib import store
    from tjlib.desk import testbed
    from tjlib.judges.modelfree import ModelFree
    from tjlib.trace import Trajectory

    if args.clean:
        clean = list(store.read(args.clean, Trajectory))
        if not clean:
            raise InputError(f"{args.clean}: no trajectories in it; give a file of clean runs")
        seen = Counter(t.trajectory_id for t in clean)
        if twice := [name for name, times in seen.items() if times > 1]:
            raise InputError(f"{args.clean}: {twice[0]} is there twice; delete one")
        if judged := [run.trajectory.trajectory_id for run in _runs(args)
                      if run.trajectory.trajectory_id in seen]:
            raise InputError(f"{args.clean}: {judged[0]} is in {args.traces} too; a threshold set "
                             "on what is to be judged tells nothing, give other clean runs")
    else:
        clean = testbed.clean_runs()
    return ModelFree(clean, args.similarity or "none")
