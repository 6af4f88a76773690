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

from tjlib.judgeargs import UsageError, chosen
from tjlib.trace import FAULT_TYPES, InputError

__all__ = ["UsageError", "agent", "convert", "fetch", "judge", "report", "rerun", "score",
           "testbed", "uq", "validate"]


def _folder(name: str) -> Path:
    if not name:
        raise InputError("--out is empty; name a folder")
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
    from tjlib.desk import testbed
    from tjlib.trace import to_json

    trajectories, labels = testbed.judged_set(args.seed, clean=args.clean, per_type=args.per_type)
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


def _format(args: argparse.Namespace) -> str:
    from tjlib.formats import registry

    try:
        return registry.known(args.format)
    except InputError as error:
        raise UsageError(str(error)) from None


def convert(args: argparse.Namespace) -> None:
    """Write a log of any format as our trajectories."""
    from tjlib.convert import convert

    done, files = convert(args.log, args.out, _format(args), args.labels,
                          tell=lambda line: print("tjlib:", line, file=sys.stderr))
    print(done.text(), f"written: {', '.join(map(str, files))}", sep="\n")


def validate(args: argparse.Namespace) -> None:
    """Tell what of a log can be read and what cannot."""
    from tjlib.convert import count

    done = count(args.log, _format(args), args.labels, tell=print)
    print(done.text())
    if done.unread or not done.runs:
        raise InputError(f"{args.log}: {done.unread} places not read, named above" if done.unread
                         else f"{args.log}: holds no run in any format that is known")


def judge(args: argparse.Namespace) -> None:
    """Judge a file of trajectories."""
    from functools import partial

    from tqdm import tqdm

    from tjlib.judges import runs

    judge = chosen(args)
    done = runs.run(judge, args.traces, args.out, workers=args.workers, limit=args.limit,
                    format=_format(args),
                    progress=partial(tqdm, disable=None, leave=False))
    print(f"{done.added} verdicts added to {args.out}, {done.there} were there")
    if told := getattr(judge, "procedure", None):
        print(f"told: {told.name}, {len(told.points)} points, {len(told.taxonomy)} failure types")
    _tell_failures("without a judgement:", done.statuses)


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


def score(args: argparse.Namespace) -> None:
    """Score verdicts against labels."""
    import numpy as np
    import pandas as pd

    from tjlib import procedures, report, store
    from tjlib.measure.intervals import intervals
    from tjlib.measure.table import table
    from tjlib.measure.verdicts import floors

    types = procedures.read(args.procedure).types if args.procedure else FAULT_TYPES
    source = store.load(args.source, args.labels, args.traces, types)
    joined = table(source.labels, source.verdicts, source.cost, types)
    found = intervals(joined, np.random.default_rng(args.seed), draws=args.draws, by=args.by)
    scores = pd.concat([found, floors(joined)], ignore_index=True).replace({np.nan: None})
    if args.json:
        print(json.dumps(report.records(joined, scores), indent=1, allow_nan=False))
    else:
        print(report.text(scores), source.origin, sep="\n\n")


def uq(args: argparse.Namespace) -> None:
    """Score the runs of a log by how likely they are to fail."""
    from functools import partial

    import numpy as np
    from tqdm import tqdm

    from tjlib import ranktext, scoring, store
    from tjlib.containers import place
    from tjlib.formats import registry
    from tjlib.uncertainty import methods
    from tjlib.uncertainty.similarity import similarity

    try:
        names = methods.chosen(args.method)
    except InputError as error:
        raise UsageError(str(error)) from None
    log = registry.load(args.traces, _format(args), args.labels)
    found = scoring.scores(log.runs, names, similarity=similarity(args.embedder),
                           progress=partial(tqdm, disable=None, leave=False))
    if args.out:
        with store.atomic(args.out) as file:
            file.write(scoring.as_csv(found))
    print(ranktext.ranked(found))
    if args.evaluate:
        pairs = [pair for pair in methods.AGAINST if set(pair) <= set(names)]
        table = scoring.evaluate(found, np.random.default_rng(args.seed), pairs=pairs,
                                 draws=args.draws)
        print("", ranktext.evaluation(table), sep="\n")
    sources = ", ".join(sorted(found["u_source"].unique()))
    print(f"\n{args.traces}: {log.format}; a step's own uncertainty: {sources}")
    if args.out:
        print(f"{len(found)} scores in {args.out}")
    for line in [*log.unread, *log.passed, *(
            f"{place(args.traces, run.source, run.line)}: {run.trajectory.trajectory_id}: {note}"
            for run in log.runs for note in run.notes)]:
        print("tjlib:", line, file=sys.stderr)


def report(args: argparse.Namespace) -> None:
    """Write the runs of a log as one HTML page, riskiest first."""
    from functools import partial

    from tqdm import tqdm

    from tjlib import store
    from tjlib.formats import registry
    from tjlib.runpage import page
    from tjlib.uncertainty import methods
    from tjlib.uncertainty.similarity import similarity

    try:
        (method, *others), how = methods.chosen(args.method), registry.known(args.format)
    except InputError as error:
        raise UsageError(str(error)) from None
    if others:
        raise UsageError("a page is ranked by one method; name one")
    log = registry.load(args.traces, how)
    verdicts = store.read_verdicts(
        args.verdicts, None, [run.trajectory for run in log.runs]) if args.verdicts else []
    with store.atomic(args.out) as file:
        made = page.page(log, args.traces, method=method, similarity=similarity(args.embedder),
                         verdicts=verdicts, top=args.top,
                         progress=partial(tqdm, disable=None, leave=False))
        size = file.write(made.html.encode("utf-8"))
    print(f"{args.out}: {made.runs} runs by {made.method}, {made.opened} of them open in full "
          f"(--top), {size / 1e6:.1f} MB. It holds what the log says: read it before you share it")
    for line in log.unread:
        print("tjlib:", line, file=sys.stderr)


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
