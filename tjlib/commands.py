"""What the command line's subcommands do: one function each, given what argparse read.

Decision: each imports what it needs when it runs, so that ``--help`` loads
nothing, and tells what it did in a line or a table on stdout. Refusal:
nothing is computed here, and no bar is drawn unless on a terminal.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tjlib.judgeargs import UsageError, chosen, elsewhere
from tjlib.logcommands import known
from tjlib.trace import FAULT_TYPES, InputError

__all__ = ["UsageError", "agent", "fetch", "guided", "judge", "rerun", "score", "testbed"]


def _folder(name: str) -> Path:
    try:
        Path(name).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError.of(error, name) from None
    return Path(name)


def _spare(path: Path, records: list) -> None:
    """Refuse to write over a file that holds anything but these records."""
    from tjlib import store

    try:
        same = not path.exists() or list(store.read(path, type(records[0]))) == records
    except InputError:
        same = False
    if not same:
        raise InputError(f"{path}: holds something else than this testbed; choose another --out, "
                         "or move the file away")


def testbed(args: argparse.Namespace) -> None:
    """Build labelled trajectories of the refund desk."""
    from tjlib import store
    from tjlib.desk import faults, testbed
    from tjlib.trace import to_json

    trajectories, labels = testbed.judged_set(
        args.seed, clean=args.clean, per_type=args.per_type, types=faults.known(args.faults or ""))
    out = _folder(args.out)
    paths = out / "trajectories.jsonl", out / "labels.jsonl"
    for path, records in zip(paths, (trajectories, labels), strict=True):
        _spare(path, records)
    with store.atomic(paths[0]) as traces, store.atomic(paths[1]) as truth:
        for trajectory, label in zip(trajectories, labels, strict=True):
            traces.write(to_json(trajectory) + b"\n")
            truth.write(to_json(label) + b"\n")
    print(f"{len(labels)} trajectories in {paths[0]}, their labels in {paths[1]}")


def _tell_failures(what: str, statuses: dict[str, int]) -> None:
    if failed := {s: n for s, n in statuses.items() if s != "ok"}:
        print(what, ", ".join(f"{n} {s}" for s, n in sorted(failed.items())))


def judge(args: argparse.Namespace) -> None:
    """Judge a file of trajectories."""
    from functools import partial

    from tqdm import tqdm

    from tjlib.formats import registry
    from tjlib.judges import runs

    registry.spare(args.out, args.traces, args.reference, args.clean, args.procedure)
    judge = chosen(args)
    done = runs.run(judge, args.traces, args.out, workers=args.workers or 1, limit=args.limit,
                    format=known(args), elsewhere=elsewhere(args),
                    progress=partial(tqdm, disable=None, leave=False))
    print(f"{done.added} verdicts added to {args.out}, {done.there} were there")
    if told := getattr(judge, "procedure", None):
        print(f"told: {told.name}, {len(told.points)} points, {len(told.taxonomy)} failure types")
    _tell_failures("without a judgement:", done.statuses)
    for note in done.notes:
        print("tjlib:", note, file=sys.stderr)


def agent(args: argparse.Namespace) -> None:
    """Let a model drive the desk."""
    from functools import partial

    from tqdm import tqdm

    from tjlib import episodes
    from tjlib.judges import models

    model = models.connect(args.model)
    done = episodes.run(model, _folder(args.out), episodes=args.episodes, seed=args.seed,
                        workers=args.workers, progress=partial(tqdm, disable=None, leave=False))
    print(f"{done.added} episodes added to {args.out}, {done.there} were there")
    _tell_failures("without a label:", done.statuses)


def guided(args: argparse.Namespace) -> None:
    """Draw candidates that selectors choose among."""
    from functools import partial

    from tqdm import tqdm

    from tjlib.guided import recording
    from tjlib.guided.selectors import checked
    from tjlib.judges import models

    selectors, model = checked(args.select), models.connect(args.model)
    done = recording.run(model, _folder(args.out), cases=args.cases, n=args.candidates,
                         episodes=args.episodes, given=args.given, selectors=selectors,
                         seed=args.seed, progress=partial(tqdm, disable=None, leave=False))
    print(f"candidates at {done.added} points added to {args.out}, at {done.there} were there")
    _tell_failures("candidates that are no call:", done.statuses)


def score(args: argparse.Namespace) -> None:
    """Score verdicts against labels."""
    import numpy as np
    import pandas as pd

    from tjlib import procedures, report, store
    from tjlib.desk import faults
    from tjlib.measure.intervals import intervals
    from tjlib.measure.table import table
    from tjlib.measure.verdicts import floors

    types = procedures.read(args.procedure).types if args.procedure else faults.known("all")
    source = store.load(args.source, args.labels, args.traces, types)
    if not args.procedure:  # a type that was added has no row where nobody speaks of it
        used = {each.failure_type for each in (*source.labels, *source.verdicts)}
        types = tuple(kind for kind in types if kind in used or kind in FAULT_TYPES)
    joined = table(source.labels, source.verdicts, source.cost, types)
    found = intervals(joined, np.random.default_rng(args.seed), draws=args.draws, by=args.by)
    scores = pd.concat([found, floors(joined)], ignore_index=True).replace({np.nan: None})
    if args.json:
        print(json.dumps(report.records(joined, scores), indent=1, allow_nan=False))
    else:
        print(report.text(scores), source.origin, sep="\n\n")


def fetch(args: argparse.Namespace) -> None:
    """Fetch a public artefact."""
    from tjlib.fetch import fetch

    print(f"the released files are in {fetch(args.what, args.out, progress=True)}")


def rerun(args: argparse.Namespace) -> None:
    """Run a chapter, or list its parameters."""
    from tjlib.rerun import parameters, read_values, rerun

    if args.list:
        for name, p in parameters(args.chapter).items():
            print(f"{name}: {p['inferred_type_name']} = {p['default']}  # {p['help']}")
        return
    given = read_values(args.file) if args.file else {}
    done = rerun(args.chapter, given | dict(args.parameter), args.out)
    print(f"{done} and {done.with_suffix('.html').name} beside it")
