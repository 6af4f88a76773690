"""The labelled cases of one desk, scored by judges and by uncertainty methods alike.

Decision: every score is computed from the run's text here, also of runs with
their thoughts emptied or some steps left out, so that what a score reads can
be taken away from it. What a surrogate read is stored for our own desk alone,
and of calls alone. Refusal: no judge, rule or method is given
a label, and what was read together with the thoughts is no score of a run
without them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pandas as pd

from tjlib import features, scoring, store
from tjlib.desk import rules, testbed
from tjlib.formats.imported import Imported
from tjlib.formats.registry import trajectories as logged
from tjlib.judges.modelfree import ModelFree
from tjlib.textscores import evidence
from tjlib.trace import InputError, Label, Trajectory, Verdict
from tjlib.uncertainty.signals import Local, local
from tjlib.uncertainty.similarity import similarity

__all__ = ["SIGNALS", "TOGETHER", "Cases", "blank", "load", "own", "scored", "shared_steps",
           "shortened", "wide"]

#: What a step's own uncertainty may be: the surrogate's of its calls, or none.
SIGNALS = ("nll", "entropy", "constant")

#: Why a method has no score of a run without thoughts, where it has one of the run.
TOGETHER = "not computable: the surrogate's reading holds the thoughts' tokens too"


class Cases(NamedTuple):
    """Runs and what is known of them, trajectories and labels in one order.

    ``given`` is what a surrogate read of each run, as fields of
    `tjlib.uncertainty.evidence.Evidence`, empty where nothing was read.
    """

    trajectories: list[Trajectory]
    labels: list[Label]
    verdicts: list[Verdict]
    given: dict[str, dict[str, Any]]
    origin: str


def load(traces: str, signal: str = "nll") -> Cases:
    """Take labelled runs, the verdicts on them, and what a surrogate read of them.

    Parameters
    ----------
    traces : str
        "recorded" (our own desk), "released" (the judging paper's), or a folder as `tjlib testbed`
        makes it, with verdicts.jsonl or without.
    signal : str
        One of `SIGNALS`; only our own desk's runs were read.

    Returns
    -------
    Cases
        Verdicts of the rules and of the model-free reply judge are added where
        the source has none; that judge needs clean runs of the same desk, which
        the release has none of besides those that are judged.

    Raises
    ------
    InputError
        If something is not there.
    """
    if signal not in SIGNALS:
        raise InputError(f"no signal {signal!r}; give {', '.join(SIGNALS)}")
    folder, given = Path(traces), {}
    if traces in ("recorded", "released") or (folder / "verdicts.jsonl").is_file():
        source = store.load(traces)
        runs, labels, verdicts = source.trajectories, source.labels, source.verdicts
        origin = source.origin
    else:
        if not folder.is_dir():
            raise InputError(f"{traces}: no such folder; give recorded, released, or a folder "
                             "that tjlib testbed made")
        runs = [run for _, run in logged(folder / "trajectories.jsonl")]
        labels, verdicts = store.read_labels(folder / "labels.jsonl", runs), []
        origin = f"measured: {traces}"
    if not runs:
        raise InputError(f"{traces}: no trajectories beside the verdicts; put trajectories.jsonl "
                         "there")
    of = {run.trajectory_id: run for run in runs}
    if unknown := [x.trajectory_id for x in labels if x.trajectory_id not in of]:
        raise InputError(f"{traces}: no trajectory for the label of {unknown[0]}; give both files "
                         "of one set")
    runs = [of[label.trajectory_id] for label in labels]
    if traces == "recorded" and signal != "constant":
        given = dict(evidence(features.read("testbed"), signal, "call"))
    free = _free(runs, verdicts, traces != "released")
    if free:
        added = ", ".join(dict.fromkeys(v.judge for v in free))
        origin += f"; judged on the spot: {added}"
    return Cases(runs, labels, [*free, *verdicts], given, origin)


def _free(
    runs: Sequence[Trajectory], verdicts: Sequence[Verdict], our_desk: bool
) -> list[Verdict]:
    """Judge by what costs nothing, unless the verdicts hold it already."""
    there, out = {v.judge for v in verdicts}, []
    if not there & {"rules", "programmatic"}:
        out += map(rules.judge, runs)
    judged = {run.trajectory_id for run in runs}
    clean = [run for run in testbed.clean_runs() if run.trajectory_id not in judged]
    if our_desk and clean and "reply:entities" not in there:
        out += map(ModelFree(clean).judge, runs)
    return out


def blank(run: Trajectory) -> Trajectory:
    """Empty a run's thoughts and leave all else as it was.

    Examples
    --------
    >>> from tjlib.trace import Step
    >>> blank(Trajectory("t", "Refund.", (Step("Look.", user="Well?"),), "Done.")).steps
    (Step(thought='', calls=(), observations=(), user='Well?', logprobs=None),)
    """
    steps = tuple(msgspec.structs.replace(step, thought="") for step in run.steps)
    return msgspec.structs.replace(run, steps=steps)


def shared_steps(longer: Trajectory, shorter: Trajectory) -> list[int]:
    """Say which steps of the longer run the shorter one has too, by the tools they call, in order.

    Examples
    --------
    >>> from tjlib.trace import Call, Step
    >>> a, b, c = (Step("", (Call(tool),)) for tool in "abc")
    >>> shared_steps(Trajectory("t", "", (a, b, c), ""), Trajectory("u", "", (a, c), ""))
    [0, 2]
    """
    tools = [[tuple(call.tool for call in step.calls) for step in run.steps]
             for run in (longer, shorter)]
    blocks = SequenceMatcher(None, *tools, autojunk=False).get_matching_blocks()
    return [block.a + i for block in blocks for i in range(block.size)]


def shortened(cases: Cases) -> tuple[list[Trajectory], dict[str, dict[str, Any]]]:
    """Take out of each clean run the steps that a shorter fault of its case lacks.

    So that a score cannot tell the two by length, nor by which steps a mean is over.

    Parameters
    ----------
    cases : Cases

    Returns
    -------
    list of Trajectory
        One for each such fault, under the fault's id; a fault that is as long
        as its clean run has none.
    dict
        What was read of the steps that are left, when the others were there.
    """
    of = {run.trajectory_id: run for run in cases.trajectories}
    runs, given = [], {}
    for label in cases.labels:
        fault, parent = of[label.trajectory_id], of.get(label.parent_id)
        if parent is None or len(fault.steps) >= len(parent.steps):
            continue
        steps = shared_steps(parent, fault)
        runs.append(msgspec.structs.replace(
            parent, trajectory_id=label.trajectory_id,
            steps=tuple(parent.steps[i] for i in steps)))
        if label.parent_id in cases.given:
            given[label.trajectory_id] = {
                name: _only(value, steps) for name, value in cases.given[label.parent_id].items()}
    return runs, given


def _only(value: Any, steps: Sequence[int]) -> Any:
    if isinstance(value, Local):
        return msgspec.structs.replace(value, u=tuple(value.u[i] for i in steps))
    return [value[i] for i in steps]


def scored(
    runs: Sequence[Trajectory], given: Mapping[str, Mapping[str, Any]], embedder: str,
    methods: str | Sequence[str] = "all", *, blanked: bool = False,
) -> pd.DataFrame:
    """Score runs by uncertainty methods.

    Parameters
    ----------
    runs : sequence of Trajectory
    given : mapping of trajectory_id to fields of `Evidence`
    embedder : str
        Name that `similarity.similarity` takes.
    methods : str or sequence of str
        As `methods.chosen`.
    blanked : bool
        Thoughts are emptied first. A step's own uncertainty stays that of its
        calls, which the surrogate read after the thoughts.

    Returns
    -------
    DataFrame
        trajectory_id, method, value (higher is likelier to fail, None where
        there is none), why.
    """
    if blanked:
        runs = [blank(run) for run in runs]
    found = scoring.scores([Imported(run, n) for n, run in enumerate(runs, start=1)], methods,
                           given=given, similarity=similarity(embedder))
    found = found[["trajectory_id", "method", "value", "why"]]
    if blanked and given:
        found.loc[found["method"].eq("tracer"), ["value", "why"]] = [None, TOGETHER]
    return found


def wide(found: pd.DataFrame) -> pd.DataFrame:
    """Lay scores out one row a run, one column a method; missing where there is none."""
    parts = {name: rows.set_index("trajectory_id")["value"].astype(float)
             for name, rows in found.groupby("method", sort=False)}
    return pd.DataFrame(parts).reindex(found["trajectory_id"].unique())


def own(cases: Cases) -> list[Local]:
    """Give each run's steps their own uncertainty: what was read, else all alike."""
    return [cases.given[run.trajectory_id]["local"] if run.trajectory_id in cases.given
            else local(run) for run in cases.trajectories]
