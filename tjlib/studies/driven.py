"""Where agent-driven episodes come from: the release, our recording, or a folder.

Decision: trajectories and labels are handed over together, aligned, with one
sentence saying what made them. Refusal: printed counts are no episodes; who
has nothing but those reads the published table (`tjlib.store.published`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from tjlib import store
from tjlib.provenance import Run, origin, run_file
from tjlib.release import COMMIT, REPOSITORY
from tjlib.trace import InputError, Label, Trajectory

__all__ = ["FILES", "Episodes", "load"]

#: What `tjlib agent` writes into a folder and a reader of episodes needs.
FILES = ("trajectories.jsonl", "labels.jsonl")

_MAKE = "run: tjlib agent --model local:smollm2 --out"


@dataclass(frozen=True)
class Episodes:
    """Episodes and their labels, one pair each, aligned; ``origin`` belongs under every table.

    ``broken_off`` counts by status the episodes that ended in a reply that was no call: they
    have no label, and are in neither list; ``lost`` counts the same ones by stratum.
    """

    name: str
    origin: str
    trajectories: list[Trajectory]
    labels: list[Label]
    broken_off: dict[str, int] = field(default_factory=dict)
    lost: dict[str, int] = field(default_factory=dict)


class _Ended(msgspec.Struct):
    """What is read here of a line about one episode."""

    trajectory_id: str
    status: str
    stratum: str = "unknown"


def load(source: str | Path) -> Episodes:
    """Load the episodes of one source.

    Parameters
    ----------
    source : str or Path
        ``"released"`` (the paper's 60), ``"recorded"`` (ours), or a folder
        that `tjlib agent` wrote.

    Returns
    -------
    Episodes

    Raises
    ------
    InputError
        One line: what is missing, or which line of which file is wrong.
    """
    if str(source) == "released":
        return Episodes("released", f"released: the agent episodes of {REPOSITORY} at "
                        f"{COMMIT[:7]}", *store.released_agent())
    recorded = str(source) == "recorded"
    folder = store.data_folder("recorded") / "agent" if recorded else Path(source)
    if not folder.is_dir():
        if recorded:
            raise InputError("no agent episodes are recorded here (data/recorded/agent); "
                             f"{_MAKE} FOLDER, and name the folder")
        raise InputError(f"{folder}: there is no such folder; give released, recorded, or the "
                         "folder that tjlib agent wrote")
    ended = folder / "episodes.jsonl"
    if not ended.is_file():
        raise InputError(f"{folder}: no {ended.name} in it, so nothing says that a model drove "
                         f"these runs; {_MAKE} {folder}")
    lines = list(store.read(ended, _Ended, torn_ok=True))
    last = {x.trajectory_id: x for x in lines}
    status = Counter(x.status for x in last.values())
    if "ok" not in status:
        what = ", ".join(f"{n} {each}" for each, n in status.items())
        raise InputError(f"{ended}: no episode to count, all broke off ({what}); see the rationale "
                         "in its lines, and drive them with another model or --out")
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise InputError(f"{folder}: no {' and no '.join(missing)} in it; {_MAKE} {folder}")
    trajectories = list(store.read(folder / FILES[0], Trajectory))
    labels = {label.trajectory_id: label
              for label in store.read_labels(folder / FILES[1], trajectories)}
    listed = Counter([t.trajectory_id for t in trajectories])
    listed.update(x.trajectory_id for x in lines if x.status == "ok")
    if odd := [name for name, k in listed.items() if k != 2]:
        raise InputError(f"{folder}: {odd[0]} is not once in {FILES[0]} and once in {ended.name}; "
                         f"{_MAKE} {folder}, which completes a run that was cut off")
    unlabelled = [t.trajectory_id for t in trajectories if t.trajectory_id not in labels]
    if unlabelled:
        raise InputError(f"{folder / FILES[1]}: no label for {unlabelled[0]}; {_MAKE} {folder}, "
                         "which completes it")
    beside = run_file(folder / FILES[0])
    runs = list(store.read(beside, Run, torn_ok=True)) if beside.is_file() else []
    made = origin(runs) or "no run record"
    said = f"measured here: {made}; data/recorded/agent" if recorded else f"{folder} ({made})"
    return Episodes("recorded" if recorded else folder.name, said, trajectories,
                    [labels[t.trajectory_id] for t in trajectories],
                    *(dict(Counter(getattr(x, what) for name, x in last.items()
                                   if name not in labels)) for what in ("status", "stratum")))
