"""Where labels, verdicts and published tables come from.

Decision: whoever scores verdicts names a source (``published``,
``released`` or a path) and gets labels, verdicts and one sentence saying where
they come from, to be printed under every table. Refusal: no source is chosen
for the caller, and labels are never taken from another set than the verdicts.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tjlib.fetch import find, is_released
from tjlib.formats.registry import trajectories as logged
from tjlib.jsonl import append, atomic, read, write
from tjlib.judged import read_labels, read_verdicts
from tjlib.packaged import (
    data_folder,
    free_logs,
    published,
    recorded_prefix,
    released_counts,
    sentences,
)
from tjlib.provenance import Run, origin, run_file
from tjlib.release import COMMIT, REPOSITORY
from tjlib.trace import FAULT_TYPES, InputError, Label, Trajectory, Verdict

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Released", "Source", "append", "atomic", "data_folder", "free_logs", "load", "published",
    "read", "read_labels", "read_verdicts", "recorded_prefix", "released", "released_agent",
    "released_counts", "sentences", "write",
]


@dataclass(frozen=True)
class Released:
    """The release's 400 trajectories, their labels in the same order, its 2,000 verdicts."""

    trajectories: list[Trajectory]
    labels: list[Label]
    verdicts: list[Verdict]


@dataclass(frozen=True)
class Source:
    """Labels and verdicts that belong together, and where they come from.

    ``cost`` is a table of means by judge where verdicts carry no cost of
    their own; ``trajectories`` is None where only verdicts are known.
    """

    name: str
    origin: str
    labels: list[Label]
    verdicts: list[Verdict]
    cost: pd.DataFrame | None = None
    trajectories: list[Trajectory] | None = None


def released(folder: str | Path | None = None) -> Released:
    """Read the release's built trajectories and its verdicts.

    Parameters
    ----------
    folder : str or Path, optional
        Where its files are; default as `tjlib.fetch.find`.

    Returns
    -------
    Released

    Raises
    ------
    InputError
        If the files are not on this machine, or a line of them is wrong.
    """
    folder = find(folder)
    trajectories = list(read(folder / "trajectories.jsonl", Trajectory))
    labels = read_labels(folder / "trajectories.jsonl", trajectories)
    return Released(trajectories, labels,
                    read_verdicts(folder / "verdicts.jsonl", labels, trajectories))


def released_agent(folder: str | Path | None = None) -> tuple[list[Trajectory], list[Label]]:
    """Read the release's 60 organic episodes and their labels; `released` says from where."""
    path = find(folder) / "agent_trajectories.jsonl"
    trajectories = list(read(path, Trajectory))
    return trajectories, read_labels(path, trajectories)


def _patterns() -> tuple[list[Label], list[Verdict]]:
    """Expand the pattern table: one row a combination of label and verdicts, counted."""
    labels, verdicts = [], []
    path = data_folder("published") / "verdict_patterns.csv"
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            judges = [name.partition("|")[0] for name in row if name.endswith("|faulty")]
            for _ in range(int(row["n"])):
                name, faulty = f"p-{len(labels) + 1:04d}", row["fault"] != "clean"
                labels.append(Label(
                    name, faulty, int(row["label_step"]) if row["label_step"] else None,
                    row["fault"] if faulty else None, outcome_correct=row["survival"] != "loud"))
                for judge in judges:
                    step, kind = row[f"{judge}|step"], row[f"{judge}|type"]
                    verdicts.append(Verdict(
                        name, judge, row[f"{judge}|faulty"] == "1", int(step) if step else None,
                        kind or None, float(row[f"{judge}|confidence"])))
    return labels, verdicts


def _opens_as(path: Path, kind: type) -> bool:
    """Tell whether a file is there and its first line is a ``kind``, in either shape."""
    try:
        return next(read(path, kind), None) is not None
    except InputError:
        return False


def _labels_beside(path: Path) -> Path:
    for name in ("labels.jsonl", "trajectories.jsonl"):
        beside = path.parent / name
        # Ours hold no label; the release's trajectories carry theirs inside.
        if beside.is_file() and (name == "labels.jsonl" or _opens_as(beside, Label)):
            return beside
    raise InputError(f"{path}: no labels.jsonl beside it; name the labels (--labels FILE), "
                     "for a chapter by -p labels FILE")


def _traces_beside(label_path: Path) -> Path | None:
    if _opens_as(label_path, Trajectory):
        return label_path
    beside = label_path.parent / "trajectories.jsonl"
    return beside if beside.is_file() else None


def load(
    source: str | Path, labels: str | Path | None = None, traces: str | Path | None = None,
    types: Sequence[str] = FAULT_TYPES,
) -> Source:
    """Load labels and verdicts that belong together.

    Parameters
    ----------
    source : str or Path
        ``"published"`` (the pattern table of the released verdicts, always
        there), ``"released"`` (the files themselves), ``"recorded"`` (our own
        run, always there), a file of verdicts, or a folder that holds
        ``verdicts.jsonl``.
    labels : str or Path, optional
        Labels for a file of verdicts; default the ``labels.jsonl`` beside it.
    traces : str or Path, optional
        A log in any known format, to bound the steps; default the ``trajectories.jsonl``
        beside the labels, if there is one.
    types : sequence of str
        The failure types there may be.

    Returns
    -------
    Source
        Its ``origin`` belongs under every table made from it.

    Raises
    ------
    InputError
        One line naming file, line, problem and remedy.
    """
    if str(source) in ("published", "released", "recorded") and (labels or traces):
        raise InputError(f"{source} brings its own labels; name labels and traces only for a file")
    where = f"{REPOSITORY} at {COMMIT[:7]}"
    if str(source) == "published":
        found = _patterns()
        return Source("published", f"published: the verdicts of {where}, as tabulated in "
                      "data/published/verdict_patterns.csv and cost.csv", *found,
                      cost=published("cost"))
    path = Path(source)
    if str(source) == "released":
        path = find() / "verdicts.jsonl"
    elif str(source) == "recorded":
        path = data_folder("recorded") / "verdicts.jsonl"
    if path.is_dir():
        if not (path / "verdicts.jsonl").is_file():
            raise InputError(f"{path}: no verdicts.jsonl in this folder; name the verdict file")
        path = path / "verdicts.jsonl"
    if not path.exists():
        raise InputError(f"{path}: there is no such file; give published, released, recorded, or "
                         "the path of a verdict file")
    label_path = Path(labels) if labels else _labels_beside(path)
    trace_path = Path(traces) if traces else _traces_beside(label_path)
    trajectories = [t for _, t in logged(trace_path)] if trace_path else None
    if trajectories == []:
        raise InputError(f"{trace_path}: no trajectories in it; give the file of the trajectories")
    truth = read_labels(label_path, trajectories, types)
    verdicts = read_verdicts(path, truth, trajectories, types)
    if is_released(path) and is_released(label_path):
        name, said = "released", f"released: the files of {where}, SHA-256 checked"
    elif str(source) == "recorded":
        name, said = "recorded", f"measured here: {_made(path, verdicts)}; data/recorded"
    else:
        name, said = path.name, (f"measured: {path} ({_made(path, verdicts)}), "
                                 f"labels {label_path}")
    return Source(name, said, truth, verdicts, trajectories=trajectories)


def _made(path: Path, verdicts: list[Verdict]) -> str:
    """Name the judges of a file, and the models and days where their runs are on record."""
    judges = ", ".join(dict.fromkeys(v.judge for v in verdicts))
    used, beside = {v.run_id for v in verdicts}, run_file(path)
    runs = [r for r in read(beside, Run, torn_ok=True) if r.run_id in used] if (
        beside.is_file()) else []
    return "; ".join(filter(None, [f"judges: {judges}", origin(runs)]))
