"""The command line: its arguments, and how a command that fails ends.

Decision: bad input and a failed run are one line on stderr and exit 1, wrong
usage is exit 2. Refusal: nothing is done here; `tjlib.commands` has a
function for each subcommand.
"""

from __future__ import annotations

import argparse
import io
import logging
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

from tjlib import __version__, commands
from tjlib.trace import InputError

__all__ = ["main"]


# Beyond it a count is a slip of the hand, and what counts with it may overflow.
_MOST = 10**9


def _whole(text: str, least: int, most: int, told: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if not least <= value <= most:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is no whole number {told}")
    return value


def _count(text: str) -> int:
    return _whole(text, 0, _MOST, "of at least 0")


def _positive(text: str) -> int:
    return _whole(text, 1, _MOST, "of at least 1")


def _draws(text: str) -> int:
    return _whole(text, 100, 100_000, "from 100 to 100000")


def _name(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("is empty; give a name")
    return text


class _Parser(argparse.ArgumentParser):
    """A parser that tells wrong usage in one line, and where the right one is told."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {' '.join(message.split())}; see {self.prog} --help\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        "tjlib", description="When to trust an LLM agent: judges and uncertainty, measured.",
        epilog="Exit status: 0 done, 1 the input or the run failed, 2 wrong usage.")
    parser.add_argument("--version", action="version", version=__version__)
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run, text: str) -> argparse.ArgumentParser:
        sub = subparsers.add_parser(name, help=text, description=text)
        sub.register("type", None, _name)  # a text, unless said otherwise
        sub.set_defaults(run=run, refuse=sub.error)
        return sub

    sub = command("testbed", commands.testbed, "build labelled trajectories of the refund desk")
    sub.add_argument("--seed", type=_count, default=7)
    sub.add_argument("--clean", type=_count, default=100, help="clean runs (100)")
    sub.add_argument("--per-type", type=_count, default=50, help="faulty runs a type (50)")
    sub.add_argument("--out", required=True, metavar="DIR",
                     help="folder for trajectories.jsonl and labels.jsonl")
    sub = command("judge", commands.judge, "judge trajectories; the same command resumes")
    sub.add_argument("judge", choices=["rules", "outcome", "step", "ensemble", "reply-steps",
                                       "steps-reply", "reply"],
                     help="rules: the strict checker, no model; outcome: shown the reply; step: "
                          "shown every step; ensemble: the step judge's majority of three; "
                          "VIEW-TASK: shown one, asked about the other; reply: each sentence of "
                          "the reply against the observations, with a model or without")
    sub.add_argument("--model", metavar="M",
                     help="ollama:NAME, openai:NAME (any compatible server) or local:smollm2")
    sub.add_argument("--workers", type=_positive, default=1, metavar="K",
                     help="calls at a time (1)")
    sub.add_argument("--order", choices=["paper", "shared_first"],
                     help="of the prompt's paragraphs (paper); shared_first suits a prefix cache")
    sub.add_argument("--similarity", choices=["none", "jaccard", "minilm"],
                     help="reply without a model: what is added to looking up what a sentence "
                          "asserts (none); minilm needs sentence-transformers")
    sub.add_argument("--clean", metavar="FILE",
                     help="reply without a model: clean runs to set its threshold on; default: "
                          "100 of the testbed")
    sub.add_argument("--traces", required=True, metavar="FILE", help="trajectories to judge")
    sub.add_argument("--out", required=True, metavar="FILE", help="verdicts are added to this")
    sub.add_argument("--limit", type=_count, metavar="N", help="judge only the first N")
    sub = command("agent", commands.agent,
                  "let a model drive the desk; the same command resumes")
    sub.add_argument("--model", required=True, metavar="M",
                     help="ollama:NAME, openai:NAME (any compatible server) or local:smollm2")
    sub.add_argument("--episodes", type=_positive, default=60, metavar="N",
                     help="one a case; the six kinds of case take turns (60)")
    sub.add_argument("--seed", type=_count, default=7, help="seed of the cases (7)")
    sub.add_argument("--workers", type=_positive, default=1, metavar="K",
                     help="episodes at a time (1)")
    sub.add_argument("--out", required=True, metavar="DIR",
                     help="trajectories, labels, episodes and runs are added to it")
    sub = command("score", commands.score, "score verdicts against labels")
    sub.add_argument("source", help="published, released, recorded, or a file of verdicts")
    sub.add_argument("--labels", metavar="FILE", help="default: labels.jsonl beside the verdicts")
    sub.add_argument("--traces", metavar="FILE",
                     help="default: trajectories.jsonl beside the labels")
    sub.add_argument("--draws", type=_draws, default=10_000, metavar="B",
                     help="bootstrap replicates behind the intervals, 100 to 100000 (10000)")
    sub.add_argument("--seed", type=_count, default=0, help="seed of the bootstrap (0)")
    sub.add_argument("--by", choices=["trajectory", "instance"], default="trajectory",
                     help="what is resampled: trajectories in design cells, or whole instances")
    sub.add_argument("--json", action="store_true", help="print every number, as JSON")
    sub = command("uq", commands.uq, "score runs of a log by how likely they are to fail")
    sub.add_argument("--traces", required=True, metavar="FILE", help="a log in a known format")
    sub.add_argument("--format", default="auto", metavar="NAME",
                     help="auto (by content), native or tau_bench")
    sub.add_argument("--method", default="all", metavar="A,B",
                     help="such as rupa,pe; the runs are ranked by the first (default: all; an "
                          "unknown name lists them)")
    sub.add_argument("--embedder", default="jaccard", metavar="NAME",
                     help="jaccard (overlap of words), minilm, bge-m3 or a model's folder")
    sub.add_argument("--out", metavar="CSV", help="write every score, or why there is none")
    sub.add_argument("--evaluate", action="store_true",
                     help="tell how well the scores put the log's failures first")
    sub.add_argument("--draws", type=_draws, default=2000, metavar="B",
                     help="resamples of tasks behind the intervals, 100 to 100000 (2000)")
    sub.add_argument("--seed", type=_count, default=0, help="seed of the resampling (0)")
    sub = command("fetch", commands.fetch, "fetch a public artefact and check its SHA-256")
    sub.add_argument("what", choices=["released"], help="the first paper's released files")
    sub.add_argument("--out", metavar="DIR", help="default: a cache folder")
    sub = command("rerun", commands.rerun, "run a chapter with other parameters")
    sub.add_argument("chapter", help="a name such as a6_results, or a .py, .md or .ipynb file")
    sub.add_argument("-p", dest="parameter", nargs=2, action="append", default=[], type=str,
                     metavar=("NAME", "VALUE"), help="set a parameter; may be repeated")
    sub.add_argument("-f", dest="file", metavar="YAML", help="set parameters from a file")
    sub.add_argument("--out", default="rerun", metavar="DIR", help="default: rerun")
    sub.add_argument("--list", action="store_true", help="list the parameters and stop")
    return parser


def _drop_output() -> None:
    """Keep the interpreter from complaining at exit of what it cannot write."""
    with suppress(OSError, ValueError):  # captured output has no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        Default the process's arguments.

    Returns
    -------
    int
        0 done, 1 the input or the run failed, 130 interrupted; wrong usage
        leaves through argparse with 2.
    """
    # Without a stream there is nobody to tell; where its encoding lacks a character, escape it.
    sys.stdout, sys.stderr = sys.stdout or io.StringIO(), sys.stderr or io.StringIO()
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    args = _parser().parse_args(argv)
    logging.basicConfig(format="tjlib: %(message)s", level=logging.WARNING)
    try:
        args.run(args)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()  # the reader left (a pager, head)
    except InputError as error:
        print("tjlib:", *str(error).splitlines(), file=sys.stderr)
        return 1
    except OSError as error:
        print("tjlib:", InputError.of(error), file=sys.stderr)
        _drop_output()  # it may be what failed
        return 1
    except commands.UsageError as error:
        args.refuse(str(error))
    except KeyboardInterrupt:
        goes_on = args.run in (commands.judge, commands.agent, commands.fetch)
        then = ("what is written is whole, the same command goes on from there" if goes_on
                else "the same command starts over")
        print("tjlib: interrupted;", then, file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
