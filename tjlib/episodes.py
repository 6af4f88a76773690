"""Episodes of an agent in a folder, to the end, whatever happens on the way.

Decision: an episode counts as driven once its line is in ``episodes.jsonl``,
which is written after its trajectory and its label; what a killed run left of
one without that line is taken out and driven anew. An episode that broke off
is counted there and has no label: a reply nobody can read is no fault of
conduct. Refusal: episodes of two runs are not mixed in one folder.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

import msgspec

from tjlib.desk import organic, world
from tjlib.jsonl import append, read, write
from tjlib.judges import agent
from tjlib.judges.agent import Episode
from tjlib.judges.pool import settled, unordered
from tjlib.judges.protocol import Model
from tjlib.judges.runs import Done, keep, record
from tjlib.provenance import run_file
from tjlib.trace import InputError, Label, Trajectory

__all__ = ["Episode", "run"]


def run(
    model: Model, out: str | Path, *, episodes: int = 60, seed: int = 7, workers: int = 1,
    progress: Callable[..., Iterable] | None = None,
) -> Done:
    """Drive the episodes that are not driven yet and add them to a folder.

    Parameters
    ----------
    model : Model
    out : str or Path
        A folder: ``trajectories.jsonl`` and ``labels.jsonl`` of the episodes
        with status ok, ``episodes.jsonl`` of all, ``runs.jsonl``.
    episodes : int
        On the first so many cases; a multiple of six has as many of each
        stratum.
    seed : int
        Of the cases.
    workers : int
        Episodes under way at a time.
    progress : callable, optional
        Called as ``tqdm`` with the episodes, ``total`` and ``initial``.

    Returns
    -------
    Done

    Raises
    ------
    InputError
        For bad files, a model out of reach, a folder with other episodes, or
        `tjlib.judges.pool.PATIENCE` failed in a row; those before are kept.
    """
    out = Path(out)
    made_by = record(agent.identity(model, seed))
    cases = {_id(made_by.run_id, case.instance_id): case
             for case in islice(world.instances(seed), episodes)}
    there = _there(out, made_by.run_id, set(cases))
    keep(made_by, run_file(out / "episodes.jsonl"))
    todo = (name for name in cases if name not in there)
    statuses: Counter[str] = Counter()

    started = len(there & set(cases))
    made = settled(unordered(lambda name: agent.drive(cases[name], model, name), todo,
                             max(1, workers)))
    for episode in progress(made, total=len(cases), initial=started) if progress else made:
        episode = msgspec.structs.replace(episode, run_id=made_by.run_id)
        if episode.status == "ok":
            trajectory = episode.trajectory
            append(out / "trajectories.jsonl", [trajectory])
            append(out / "labels.jsonl", [organic.label(cases[episode.trajectory_id], trajectory)])
            episode = msgspec.structs.replace(episode, trajectory=None)
        append(out / "episodes.jsonl", [episode])
        statuses[episode.status] += 1
    return Done(statuses.total(), started, dict(statuses))


def _id(run_id: str, instance_id: str) -> str:
    # A hash, for the number of a case tells its stratum.
    return "t-" + hashlib.blake2b(f"{run_id}-{instance_id}".encode(), digest_size=6).hexdigest()


def _there(out: Path, run_id: str, planned: set[str]) -> set[str]:
    """Find the episodes that are driven; take out what is left of one that is not."""
    path = out / "episodes.jsonl"
    driven, whole = set(), set()
    for episode in read(path, Episode, torn_ok=True) if path.exists() else ():
        if episode.run_id != run_id:
            raise InputError(f"{path}: holds episodes of another run ({episode.run_id}: another "
                             "model, seed, prompt or options, see runs.jsonl); choose another "
                             "--out")
        driven.add(episode.trajectory_id)
        if episode.status == "ok":
            whole.add(episode.trajectory_id)
    for name, kind in (("trajectories.jsonl", Trajectory), ("labels.jsonl", Label)):
        path = out / name
        records = list(read(path, kind, torn_ok=True)) if path.exists() else []
        ids = {record.trajectory_id for record in records}
        if foreign := ids - driven - planned:
            raise InputError(f"{path}: holds {min(foreign)}, which is no episode of this run; "
                             "choose another --out")
        if missing := whole - ids:
            raise InputError(f"{path}: lacks {min(missing)}, which episodes.jsonl says was driven; "
                             "restore the file or choose another --out")
        if ids - whole:
            write(path, (record for record in records if record.trajectory_id in whole))
    return driven
