"""Every format there is, and the one way to read a log of any of them.

Decision: the content of each file decides its format, so a log needs no
particular name and a folder may hold several, with label files among them.
Refusal: a file of which nothing could be read is an error; of a folder or an
archive, what could not be read is named by line and what holds no run by file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from tjlib.containers import Member, is_container, members, place
from tjlib.documents import NO_JSON, Document, Unread, values
from tjlib.formats import (
    agentbench,
    anthropic,
    atif,
    claude_code,
    codex,
    inspect_ai,
    langsmith,
    magentic_one,
    managed_agents,
    mini_swe_agent,
    native,
    nemo_gym,
    openhands,
    otel,
    smolagents_gaia,
    swe_agent,
    tau_bench,
    who_and_when,
)
from tjlib.formats.imported import Imported, Outcome
from tjlib.formats.join import Join
from tjlib.trace import InputError

__all__ = ["FORMATS", "OUTCOMES", "Format", "Log", "Passed", "known", "load", "outcomes", "stream"]


class Format(NamedTuple):
    """How to tell a format from a value of it, and how to read one file's values."""

    recognise: Callable[[object], bool]
    read: Callable[[Iterator[Document | Unread]], Iterator[Imported | Unread]]


#: Name -> format, in the order in which they are tried.
FORMATS = {
    "native": Format(native.recognise, native.read),
    "tau_bench": Format(tau_bench.recognise, tau_bench.read),
    "atif": Format(atif.recognise, atif.read),
    "who_and_when": Format(who_and_when.recognise, who_and_when.read),
    "magentic_one": Format(magentic_one.recognise, magentic_one.read),
    "otel": Format(otel.recognise, otel.read),
    "langsmith": Format(langsmith.recognise, langsmith.read),
    "smolagents_gaia": Format(smolagents_gaia.recognise, smolagents_gaia.read),
    "agentbench": Format(agentbench.recognise, agentbench.read),
    "swe_agent": Format(swe_agent.recognise, swe_agent.read),
    "mini_swe_agent": Format(mini_swe_agent.recognise, mini_swe_agent.read),
    "openhands": Format(openhands.recognise, openhands.read),
    "claude_code": Format(claude_code.recognise, claude_code.read),
    "managed_agents": Format(managed_agents.recognise, managed_agents.read),
    "anthropic": Format(anthropic.recognise, anthropic.read),
    "nemo_gym": Format(nemo_gym.recognise, nemo_gym.read),
    "codex": Format(codex.recognise, codex.read),
    "inspect": Format(inspect_ai.recognise, inspect_ai.read),
}

#: Format -> what reads one value of its label files: the outcome of each task it names, or None.
OUTCOMES: dict[str, Callable[[object], dict[str, bool | Outcome] | None]] = {
    "magentic_one": magentic_one.outcomes, "native": native.outcomes,
    "swe_agent": swe_agent.outcomes,
    "mini_swe_agent": mini_swe_agent.outcomes,
}

#: Values of a file that are looked at for one that tells the format: a header may come first.
_LOOK = 20


class Passed(NamedTuple):
    """A file of a folder or archive that holds no run, and what it holds."""

    why: str
    source: str = ""


class Log(NamedTuple):
    """The runs of a log, what could not be read and which files held no run.

    Each of ``unread`` and ``passed`` is one line: the place, a colon, why.
    """

    format: str
    runs: list[Imported]
    unread: list[str]
    passed: list[str]


def known(format: str) -> str:
    """Return the name of a format, or refuse it and say which there are."""
    if format not in ("auto", *FORMATS):
        raise InputError(f"no format {format!r}; known are auto, {', '.join(FORMATS)}")
    return format


def _detect(found: Iterator, format: str) -> tuple[str, Iterator, list]:
    """Name the format of the first value that has one; what was looked at is read again."""
    tried = FORMATS if format == "auto" else {format: FORMATS[format]}
    seen = []
    for item in islice(found, _LOOK):
        seen.append(item)
        if isinstance(item, Document):
            for name, kind in tried.items():
                if kind.recognise(item.value):
                    return name, chain(seen, found), seen
    return "", chain(seen, found), seen


def _labels(item: object) -> dict[str, bool | Outcome] | None:
    if isinstance(item, Document):
        for read in OUTCOMES.values():
            if (labels := read(item.value)) is not None:
                return labels
    return None


def outcomes(path: str | Path) -> dict[str, Outcome]:
    """Read what the label files of a path say.

    Parameters
    ----------
    path : str or Path
        A label file, or a folder or archive in which some may be.

    Returns
    -------
    dict of str to Outcome
        By the id of a task or a trajectory.
    """
    found: dict[str, Outcome] = {}
    for member in members(path):
        for item in values(member.file) if member.file else ():
            if (labels := _labels(item)) is None:
                break  # a label file is one from its first value on
            found |= {name: said if isinstance(said, Outcome) else Outcome(said)
                      for name, said in labels.items()}
    return found


def _no_run(seen: list, found: Iterator) -> Iterator[Unread | Passed]:
    """Tell of a file among others that holds no run what it holds instead."""
    if not any(isinstance(item, Document) for item in seen):
        nothing = not seen or (seen[0].why == NO_JSON)
        yield from [Passed("empty" if not seen else NO_JSON)] if nothing else found
    else:
        labels = any(_labels(item) is not None for item in seen)
        yield Passed("labels" if labels else "no run in any format that is known")


def _refuse(path: Path, seen: list) -> InputError:
    if not seen:
        return InputError(f"{path}: the file is empty; give a file of trajectories")
    known = ", ".join(FORMATS)
    item = next((item for item in seen if isinstance(item, Document)), seen[0])
    why = item.why if isinstance(item, Unread) else "no trajectory in any format that is known"
    return InputError(f"{place(path, '', item.line)}: {why}; known are {known}")


def _member(path: Path, member: Member, format: str, alone: bool) -> Iterator:
    """Read the runs of one file; give the name of its format first."""
    if member.file is None:
        yield Passed(member.why) if member.passed else Unread(0, member.why)
        return
    source = member.name or path.name  # some formats name a run by its file alone
    found = (item._replace(source=source) for item in values(member.file))
    name, found, seen = _detect(found, format)
    if not name and alone and format != "auto":
        name = format  # as its user says
    if name:
        yield name
        yield from FORMATS[name].read(found)
    elif alone:
        raise _refuse(path, seen)
    else:
        yield from _no_run(seen, found)


def stream(
    path: str | Path, format: str = "auto", labels: str | Path | None = None,
) -> Iterator[Imported | Unread | Passed | str]:
    """Read the runs of a log one at a time.

    Parameters
    ----------
    path : str or Path
        A file, a folder, a gzip file or a zip archive.
    format : str
        A name of `FORMATS`, or "auto" to tell by content.
    labels : str or Path, optional
        A file of outcomes, by task or trajectory; it outweighs the log's own.

    Yields
    ------
    Imported, Unread, Passed or str
        A str names the format of the runs that follow. A trajectory's id that
        came before gets a number behind it.

    Raises
    ------
    InputError
        If a file cannot be opened, or a single file is of no known format.
    """
    known(format)
    path, alone = Path(path), not is_container(path)
    given = outcomes(labels) if labels else {}
    if labels and not given:
        raise InputError(f"{labels}: holds no outcomes; give one of the label files that a known "
                         'format has, or lines of {"task_id": ..., "success": true or false}')
    join = Join(path, given, {} if alone else outcomes(path))
    for member in members(path):
        for item in _member(path, member, format, alone):
            if isinstance(item, Imported):
                yield join.run(item, member.name)
            else:
                yield item if isinstance(item, str) else item._replace(source=member.name)
    for why in join.left():
        yield Passed(why)


def load(
    path: str | Path, format: str = "auto", labels: str | Path | None = None,
) -> Log:
    """Read all runs of a log.

    Parameters
    ----------
    path, format, labels
        As `stream`.

    Returns
    -------
    Log

    Raises
    ------
    InputError
        As `stream`, or if no run could be read at all.
    """
    names, log = {}, Log("", [], [], [])
    for item in stream(path, format, labels):
        if isinstance(item, str):
            names[item] = None
        elif isinstance(item, Imported):
            log.runs.append(item)
        elif isinstance(item, Unread):
            log.unread.append(f"{place(path, item.source, item.line)}: {item.why}")
        else:
            log.passed.append(f"{place(path, item.source)}: {item.why}")
    if not log.runs:
        raise InputError(log.unread[0] if log.unread else
                         f"{path}: holds no run in any format that is known; known are "
                         f"{', '.join(FORMATS)}")
    return log._replace(format=", ".join(names))
