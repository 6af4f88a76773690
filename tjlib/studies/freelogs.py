"""What the free panel's members say of logs that are not the desk's.

Decision: of public logs whose text is not here the members' flags are kept, as
numbers; a log at hand is judged. Refusal: a member that does not bear on a run
has no flag there, and a run that nobody judged has no outcome.
"""

from __future__ import annotations

import pandas as pd

from tjlib import features, store
from tjlib.formats import registry
from tjlib.judges import repeats
from tjlib.judges.free import MEMBERS, Panel
from tjlib.trace import Trajectory

__all__ = ["FLAGS", "STORED", "flagged", "flags"]

#: The name of the flags that come with the library, as a page's parameter.
STORED = "stored"
#: The members, and the wider form of the repetition.
FLAGS = (*MEMBERS, "near")


def flagged(trajectory: Trajectory) -> dict[str, bool | None]:
    """Ask each of `FLAGS` of one run; None where it does not bear on it."""
    said = Panel().each(trajectory) | {"near": repeats.judge(trajectory, "near")}
    return {name: verdict.faulty for name, verdict in said.items()}


def flags(traces: str) -> tuple[pd.DataFrame, str]:
    """Take or make the members' flags on runs.

    Parameters
    ----------
    traces : str
        `STORED`, or a log's path.

    Returns
    -------
    runs : DataFrame
        set, task (a run's own id where the log names none), failed (True,
        False or None), and one column each of `FLAGS`: 1, 0, or missing where
        it does not bear on the run.
    origin : str
        A phrase that says where they are from.

    Raises
    ------
    InputError
        If the log cannot be read.
    """
    if traces == STORED:
        held = store.free_logs()
        told = pd.concat(features.read(name).episodes.assign(set=name)
                         for name in held["set"].unique())
        runs = held.merge(told, on=["set", "trajectory_id"], validate="one_to_one")
        origin = "data/recorded/free_logs.csv.gz, outcomes in data/features"
    else:
        runs = pd.DataFrame({
            "set": "your log", "trajectory_id": run.trajectory.trajectory_id,
            "task_id": run.task_id, "success": run.success, **flagged(run.trajectory)}
            for run in registry.load(traces).runs)
        origin = f"{traces}, judged on this page"
    failed = [None if pd.isna(success) else not success for success in runs["success"]]
    return pd.DataFrame({
        "set": runs["set"], "task": runs["task_id"].fillna(runs["trajectory_id"]).astype(str),
        "failed": pd.Series(failed, index=runs.index, dtype=object),
        **runs[[*FLAGS]].astype(float)}), origin
