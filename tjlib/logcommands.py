"""What the command line does with somebody's log: read, convert, score, and lay out as a page.

Decision: as `tjlib.commands`, of which this is the other half: each imports what it needs when it
runs, and tells what it did on stdout and what it could not read on stderr. Refusal: nothing is
computed here.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import nullcontext

from tjlib.judgeargs import UsageError
from tjlib.trace import InputError

__all__ = ["convert", "known", "report", "uq", "validate"]


def known(args: argparse.Namespace) -> str:
    from tjlib.formats import registry

    try:
        return registry.known(args.format)
    except InputError as error:
        raise UsageError(str(error)) from None


def convert(args: argparse.Namespace) -> None:
    """Write a log of any format as our trajectories."""
    from tjlib.convert import convert

    done, files = convert(args.log, args.out, known(args), args.labels,
                          tell=lambda line: print("tjlib:", line, file=sys.stderr))
    print(done.text(), f"written: {', '.join(map(str, files))}", sep="\n")


def validate(args: argparse.Namespace) -> None:
    """Tell what of a log can be read and what cannot."""
    from tjlib.convert import count

    done = count(args.log, known(args), args.labels, tell=print)
    print(done.text())
    if done.unread or not done.runs:
        raise InputError(
            f"{args.log}: holds no run in any format that is known" if not done.unread
            else f"{args.log}: places not read: {done.unread}, named above" + (
                f"; nothing could be read as {args.format}, leave --format out and each file's "
                "content decides" if args.format != "auto" and not done.runs else ""))


def uq(args: argparse.Namespace) -> None:
    """Score the runs of a log by how likely they are to fail."""
    from itertools import chain

    import numpy as np
    from tqdm import tqdm

    from tjlib import ranktext, scoring, store
    from tjlib.compact import compact
    from tjlib.convert import Count, counted
    from tjlib.formats import registry
    from tjlib.uncertainty import methods
    from tjlib.uncertainty.similarity import similarity

    try:
        names = methods.chosen(args.method)
    except InputError as error:
        raise UsageError(str(error)) from None
    last: list[str] = []  # of what is told: where no run could be read, it is the error

    def tell(line: str) -> None:
        for before in last:
            tqdm.write(f"tjlib: {before}", file=sys.stderr)
        last[:] = [line]

    log, alike = (args.traces, known(args), args.labels), similarity(args.embedder)
    done = Count()
    runs = counted(done, *log, tell=tell)
    if (first := next(runs, None)) is None:
        raise InputError(f"{last[0]}; no run could be read" if last else
                         f"{args.traces}: holds no run in any format that is known")
    # Reads no further than the first outcome, and before hours of work where there is none.
    if args.evaluate and all(
            run.success is None for run in counted(Count(), *log, tell=lambda line: None)):
        raise InputError(f"{args.traces}: no run has an outcome; leave --evaluate out, or give "
                         "--labels that say which runs succeeded")
    if args.out:
        registry.spare(args.out, args.traces, args.labels)
    # Opened before the work, so that a file that cannot be written is told at once.
    with store.atomic(args.out) if args.out else nullcontext() as file:
        rows = scoring.stream(
            tqdm(chain([first], runs), unit=" runs", disable=None, leave=False), names,
            similarity=alike, where=args.scheduler or args.workers or 0)
        found = compact(scoring.written(rows, file) if file else rows)
    for line in last:
        print("tjlib:", line, file=sys.stderr)
    print(ranktext.ranked(found))
    if args.evaluate:
        pairs = [pair for pair in methods.AGAINST if set(pair) <= set(names)]
        table = scoring.evaluate(found, np.random.default_rng(args.seed), pairs=pairs,
                                 draws=args.draws)
        print("", ranktext.evaluation(table), sep="\n")
    print(f"\n{args.traces}: runs read: {done.runs} ({', '.join(done.formats)}), places not read: "
          f"{done.unread}, files passed over: {done.passed}; a step's own uncertainty: "
          f"{', '.join(found.sources)}; texts compared by {alike.name}")
    if args.out:
        print(f"{found.scores.size} scores in {args.out}")


def report(args: argparse.Namespace) -> None:
    """Write the runs of a log as one HTML page, riskiest first."""
    from functools import partial

    from tqdm import tqdm

    from tjlib import store
    from tjlib.desk import faults
    from tjlib.formats import registry
    from tjlib.runpage import page
    from tjlib.uncertainty import methods
    from tjlib.uncertainty.similarity import similarity

    try:
        method, *others = methods.chosen(args.method) if args.method else [""]
    except InputError as error:
        raise UsageError(str(error)) from None
    if others:
        raise UsageError("a page is ranked by one method; name one")
    registry.spare(args.out, args.traces, args.labels, args.verdicts)
    log = registry.load(args.traces, known(args), args.labels)
    verdicts = store.read_verdicts(
        args.verdicts, None, [run.trajectory for run in log.runs],
        faults.known("all")) if args.verdicts else []
    with store.atomic(args.out) as file:
        made = page.page(log, args.traces, method=method, similarity=similarity(args.embedder),
                         verdicts=verdicts, top=args.top,
                         progress=partial(tqdm, disable=None, leave=False))
        size = file.write(made.html.encode("utf-8"))
    table = f", the riskiest {made.rows} in the table" * (made.rows < made.runs)
    print(f"{args.out}: {made.runs} runs by {made.method}{table}, {made.opened} of them open in "
          f"full (--top), {size / 1e6:.1f} MB. It holds what the log says: read it before you "
          "share it")
    for line in [*log.unread, *log.passed]:
        print("tjlib:", line, file=sys.stderr)
