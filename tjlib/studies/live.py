"""A few trajectories judged while a chapter runs.

Decision: a chapter judges the way the command line does, verdict by verdict
into a file, so a rerun with the same file goes on where the last one stopped.
Refusal: no model is chosen for the reader, and a failure comes back as a
verdict with a status, never as a label.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tjlib import store
from tjlib.judges import models, panel, runs
from tjlib.judges.procedure import DESK, Procedure
from tjlib.trace import Trajectory, Verdict

__all__ = ["judged"]


def judged(
    model: str, designs: Sequence[str], trajectories: Sequence[Trajectory], *, n: int,
    out: str = "", order: str = "paper", workers: int = 1, procedure: Procedure = DESK,
) -> list[Verdict]:
    """Judge the first trajectories of a set, now.

    Parameters
    ----------
    model : str
        As `tjlib.judges.models.connect` takes it.
    designs : sequence of str
        Names of `tjlib.judges.panel.DESIGNS`, one judge after the other.
    trajectories : sequence of Trajectory
    n : int
        How many of them.
    out : str
        A file of verdicts to go on with; empty: one that is thrown away.
    order : {"paper", "shared_first"}
    workers : int
        Calls under way at a time.
    procedure : Procedure
        What the judges are told of the desk; default the refund desk's.

    Returns
    -------
    list of Verdict
        Of these judges on these trajectories, judge by judge.

    Raises
    ------
    InputError
        For a model that cannot be reached, a design or order there is not,
        a file that holds another run, or three failed calls in a row.
    """
    connected = models.connect(model)
    judges = [panel.Judge(design, connected, order=order, procedure=procedure)
              for design in designs]
    with TemporaryDirectory() as folder:
        traces = Path(folder) / "trajectories.jsonl"
        store.write(traces, trajectories)
        verdicts = Path(out) if out else traces.with_name("verdicts.jsonl")
        for judge in judges:
            runs.run(judge, traces, verdicts, workers=workers, limit=n)
        found = {(v.judge, v.trajectory_id): v for v in store.read(verdicts, Verdict)}
    keys = [(judge.name, t.trajectory_id) for judge in judges for t in trajectories[:n]]
    return [found[key] for key in keys if key in found]
