"""The arguments of the command line.

Decision: what is wrong usage is found before anything is read, told in one line, and exit 2.
Refusal: nothing is done here; `tjlib.commands` and `tjlib.logcommands` have a function for each
subcommand.
"""

from __future__ import annotations

import argparse
from typing import NoReturn

from tjlib import __version__, commands, logcommands
from tjlib.formats.table import FORMATS
from tjlib.judges.plain import PLAIN

__all__ = ["parser"]


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


_LOG = "a log in a known format: a file, a folder, or a .gz, .zip or .eval archive"
_FORMAT = f"auto (each file by its content), {', '.join(list(FORMATS)[:-1])} or {[*FORMATS][-1]}"
_SCHEDULER = "of a dask scheduler, such as tcp://host:8786, whose workers do the work instead"
_FAULTS = ("types of fault, or all; default the paper's six (an unknown name lists those there "
           "are)")
_LABELS = "outcomes by task or run: a benchmark's label file, or lines with task_id and success"


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands; each sets ``run`` and ``refuse``, for wrong usage."""
    made = _Parser(
        "tjlib", description="When to trust an LLM agent: judges and uncertainty, measured.",
        epilog="Exit status: 0 done, 1 the input or the run failed, 2 wrong usage.")
    made.add_argument("--version", action="version", version=__version__)
    subparsers = made.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run, text: str) -> argparse.ArgumentParser:
        sub = subparsers.add_parser(name, help=text, description=text)
        sub.register("type", None, _name)  # a text, unless said otherwise
        sub.set_defaults(run=run, refuse=sub.error)
        return sub

    sub = command("testbed", commands.testbed, "build labelled trajectories of the refund desk")
    sub.add_argument("--seed", type=_count, default=7)
    sub.add_argument("--clean", type=_count, default=100, help="clean runs (100)")
    sub.add_argument("--per-type", type=_count, default=50, help="faulty runs a type (50)")
    sub.add_argument("--faults", metavar="A,B", help=_FAULTS)
    sub.add_argument("--out", required=True, metavar="DIR",
                     help="folder for trajectories.jsonl and labels.jsonl")
    sub = command("judge", commands.judge, "judge trajectories; the same command resumes")
    sub.add_argument("judge", choices=["rules", "match", "outcome", "step", "ensemble",
                                       "reply-steps", "steps-reply", "reply", "free", *PLAIN],
                     help="rules: the refund desk's strict checker, no model; match: against "
                          "reference runs, no model; outcome: shown the reply; step: "
                          "shown every step; ensemble: the step judge's majority of three; "
                          "VIEW-TASK: shown one, asked about the other; reply: each sentence of "
                          "the reply against the observations, with a model or without; free: "
                          "rules, calls made again and the reply, no model"
                          + "".join(f"; {name}: {one.asked}".replace("%", "%%")
                                    for name, one in PLAIN.items()))
    sub.add_argument("--model", metavar="M",
                     help="ollama:NAME, openai:NAME (any compatible server) or local:smollm2")
    sub.add_argument("--workers", type=_positive, metavar="K",
                     help="calls to a model at a time (1); processes of a judge without one (as "
                          "many as processors, where there is work for them)")
    sub.add_argument("--scheduler", metavar="ADDRESS", help=_SCHEDULER)
    sub.add_argument("--procedure", metavar="FILE",
                     help="what a reading judge is told of the desk and the faults: a YAML file, "
                          "or general, library_desk, refund_desk (the last, on its own runs)")
    sub.add_argument("--faults", metavar="A,B",
                     help=f"of which the refund desk's procedure tells a reading judge: {_FAULTS}")
    sub.add_argument("--reference", metavar="FILE",
                     help="match: the runs to be like, one a task, by trajectory or task id")
    sub.add_argument("--mode", choices=["strict", "unordered", "subset", "superset"],
                     help="match: the same calls step by step (strict), in any order, none "
                          "beside the reference's, or all of them")
    sub.add_argument("--args", metavar="RULE",
                     help="match: how arguments are compared: exact, ignore, subset or superset, "
                          "and caseless, text_numbers, tolerance=0.01, without=NAME+NAME; parted "
                          "by commas (exact)")
    sub.add_argument("--override", action="append", metavar="TOOL=RULE",
                     help="match: another rule for one tool; may be repeated")
    sub.add_argument("--duplicates", choices=["count", "ignore"],
                     help="match: whether a call made twice must be made twice (count)")
    sub.add_argument("--order", choices=["paper", "shared_first"],
                     help="of the prompt's paragraphs (paper); shared_first suits a prefix cache")
    sub.add_argument("--similarity", choices=["none", "jaccard", "minilm"],
                     help="reply without a model: what is added to looking up what a sentence "
                          "asserts (none); minilm needs sentence-transformers")
    sub.add_argument("--clean", metavar="FILE",
                     help="reply without a model: clean runs to set its threshold on; default: "
                          "100 of the testbed")
    sub.add_argument("--traces", required=True, metavar="LOG", help=_LOG)
    sub.add_argument("--format", default="auto", metavar="NAME", help=_FORMAT)
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
    sub = command("guided", commands.guided, "draw several next calls at each point of a case, for "
                  "selectors to choose among; the same command resumes")
    sub.add_argument("--model", required=True, metavar="M", help="as for agent; it must give "
                     "log-probabilities")
    sub.add_argument("--candidates", type=_positive, default=3, metavar="N",
                     help="drawn at a point (3)")
    sub.add_argument("--cases", type=_count, default=24, metavar="N",
                     help="a decision at each of the six points of a case's solution (24)")
    sub.add_argument("--episodes", type=_count, default=0, metavar="N",
                     help="cases that every selector then drives to the end (0)")
    sub.add_argument("--given", type=int, choices=range(6), default=0, metavar="K",
                     help="calls of the solution that these begin with, 0 to 5 (0)")
    sub.add_argument("--select", default="random,entropy,saup,tracer,rupa", metavar="A,B",
                     help="selectors that drive (random,entropy,saup,tracer,rupa; flat, short)")
    sub.add_argument("--seed", type=_count, default=7, help="of the cases and the draws (7)")
    sub.add_argument("--out", required=True, metavar="DIR",
                     help="decisions and runs are added to it")
    sub = command("score", commands.score, "score verdicts against labels")
    sub.add_argument("source", help="published, released, recorded, or a file of verdicts")
    sub.add_argument("--labels", metavar="FILE", help="default: labels.jsonl beside the verdicts")
    sub.add_argument("--traces", metavar="FILE",
                     help="default: trajectories.jsonl beside the labels")
    sub.add_argument("--procedure", metavar="FILE",
                     help="the one the judges were told, for its failure types")
    sub.add_argument("--draws", type=_draws, default=10_000, metavar="B",
                     help="bootstrap replicates behind the intervals, 100 to 100000 (10000)")
    sub.add_argument("--seed", type=_count, default=0, help="seed of the bootstrap (0)")
    sub.add_argument("--by", choices=["trajectory", "instance"], default="trajectory",
                     help="what is resampled: trajectories in design cells, or whole instances")
    sub.add_argument("--json", action="store_true", help="print every number, as JSON")
    sub = command("uq", logcommands.uq, "score runs of a log by how likely they are to fail")
    sub.add_argument("--traces", required=True, metavar="LOG", help=_LOG)
    sub.add_argument("--format", default="auto", metavar="NAME", help=_FORMAT)
    sub.add_argument("--labels", metavar="FILE", help=_LABELS)
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
    sub.add_argument("--workers", type=_positive, metavar="K",
                     help="processes (as many as processors, where there is work for them)")
    sub.add_argument("--scheduler", metavar="ADDRESS", help=_SCHEDULER)
    sub = command("convert", logcommands.convert, "write a log of any format as trajectories")
    sub.add_argument("log", metavar="LOG", help=_LOG)
    sub.add_argument("--out", required=True, metavar="FILE",
                     help="gets the trajectories, a line each; beside it NAME.runs.jsonl gets what "
                          "else the log says of each run, which every command finds there, and "
                          "NAME.labels.jsonl the outcomes, for score")
    sub.add_argument("--format", default="auto", metavar="NAME", help=_FORMAT)
    sub.add_argument("--labels", metavar="FILE", help=_LABELS)
    sub = command("validate", logcommands.validate, "tell what of a log can be read and what not; "
                  "exit status 1 if anything could not, or if there is no run")
    sub.add_argument("log", metavar="LOG", help=_LOG)
    sub.add_argument("--format", default="auto", metavar="NAME", help=_FORMAT)
    sub.add_argument("--labels", metavar="FILE", help=_LABELS)
    sub = command("report", logcommands.report, "write the runs of a log as one HTML page")
    sub.add_argument("traces", metavar="TRACES", help=_LOG)
    sub.add_argument("--format", default="auto", metavar="NAME", help=_FORMAT)
    sub.add_argument("--labels", metavar="FILE", help=_LABELS)
    sub.add_argument("--verdicts", metavar="FILE", help="verdicts on these runs, beside them")
    sub.add_argument("--method", metavar="NAME",
                     help="ranks the runs (rupa if every run has log-probabilities, else "
                          "rupa_structural)")
    sub.add_argument("--embedder", default="jaccard", metavar="NAME",
                     help="jaccard (overlap of words), minilm, bge-m3 or a model's folder")
    sub.add_argument("--top", type=_count, default=20, metavar="N",
                     help="the riskiest N runs open in full, the others stay in the table (20)")
    sub.add_argument("--out", required=True, metavar="HTML", help="the page")
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
    return made
