"""The paper's released files, read for the tests of the desk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from tjlib.trace import Call, Observation, Step, Trajectory

__all__ = ["Released", "read_trajectories", "read_verdicts"]


class Released(NamedTuple):
    """One released trajectory in our records, its label, and its instance."""

    trajectory: Trajectory
    label: dict
    instance_id: str


def read_trajectories(path: Path) -> list[Released]:
    records = []
    for line in path.read_text(encoding="utf-8").splitlines():
        raw = json.loads(line)
        steps = tuple(
            Step(s["thought"], (Call(**s["call"]),), (Observation(**s["observation"]),))
            for s in raw["steps"]
        )
        trajectory = Trajectory(raw["trajectory_id"], raw["goal"], steps, raw["final_answer"])
        records.append(Released(trajectory, raw["label"], raw["instance_id"]))
    return records


def read_verdicts(path: Path, judge: str) -> dict[str, dict]:
    verdicts = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {v["trajectory_id"]: v for v in verdicts if v["judge_id"] == judge}
