"""Compute data/features anew from the logs: `python data/build_features.py --help`.

Two stages. `read` has the surrogate model read every episode, which takes about two hours
of one core; it adds to a cache of token numbers, which are text and stay out of this repository,
and goes on where it was stopped. `write` makes the tables from logs and cache in a few minutes.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import msgspec

from tjlib import features, store
from tjlib.desk import testbed, world
from tjlib.extract import extract
from tjlib.formats import registry
from tjlib.formats.imported import Imported
from tjlib.textscores import scored
from tjlib.trace import InputError
from tjlib.uncertainty.surrogate import Read, load, turns

#: What an agent at the desk has been told, in our words around the paper's procedure.
DESK = "You work at a refund desk. Procedure:\n{}\nTools: {}".format(
    "\n".join(f"{n}. {rule}" for n, rule in enumerate(world.PROCEDURE, start=1)),
    ", ".join(f"{name}({', '.join(tool.args)})" for name, tool in world.TOOLS.items()))
SEED = 7


def named(run: Imported) -> Imported:
    """Say which model acted, which the log's name says and the log does not."""
    return msgspec.structs.replace(run, model="gpt-4o")


def runs(tau_bench: Path) -> dict[str, list[Imported]]:
    """Load the sets: name -> runs in the order of the log."""
    trajectories, labels = testbed.judged_set(SEED)
    desk = [Imported(t, n, label.outcome_correct, task_id=label.instance_id, procedure=DESK)
            for n, (t, label) in enumerate(zip(trajectories, labels, strict=True), start=1)]
    airline = [named(run) for run in registry.load(tau_bench, "tau_bench").runs]
    return {"tau_airline": airline, "testbed": desk}


def cached(cache: Path, name: str) -> dict[str, Read]:
    """Load what the surrogate has read of a set: trajectory id -> reading."""
    return {read.trajectory_id: read for path in sorted(cache.glob(f"{name}*.jsonl"))
            for read in store.read(path, Read, torn_ok=True)}


def read(sets: dict[str, list[Imported]], cache: Path, shard: int, shards: int) -> None:
    """Have the surrogate read what it has not read yet, first trials of all tasks first."""
    model = load()
    for name, members in sets.items():
        there = {key: value.digest for key, value in cached(cache, name).items()}
        mine = sorted(members, key=lambda run: run.trial or "")[shard - 1::shards]

        def readings(mine=mine, there=there, name=name):
            for number, run in enumerate(mine, start=1):
                episode = list(turns(run.trajectory, run.procedure, run.opening))
                key, who = model.key(episode), run.trajectory.trajectory_id
                if there.get(who) != key:
                    yield Read(who, key, model.read(episode))
                print(f"{name} {number}/{len(mine)} {who}", file=sys.stderr, flush=True)

        store.append(cache / f"{name}.{shard}of{shards}.jsonl", readings())


def shard(text: str) -> tuple[int, int]:
    """Read a part of the work, such as 1/2."""
    part, parts = map(int, text.split("/"))
    if not 1 <= part <= parts:
        raise ValueError(text)
    return part, parts


def main() -> None:
    """Run one stage."""
    parser = argparse.ArgumentParser(
        description="Compute data/features anew: read, then write; data/README.md says more.")
    parser.add_argument("stage", choices=["read", "write"],
                        help="read: have the surrogate model read every run (hours, goes on where "
                        "it was stopped); write: make the tables from what it read (minutes)")
    parser.add_argument("--tau-bench", type=Path, required=True,
                        help="tau-bench's historical_trajectories/gpt-4o-airline.json")
    parser.add_argument("--cache", type=Path, required=True,
                        help="a folder outside the repository, for what was read")
    parser.add_argument("--shard", type=shard, default=(1, 1), metavar="PART/PARTS",
                        help="read: this part of the work, such as 1/2")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "features",
                        help="write: where the folders of the sets are")
    given = parser.parse_args()
    try:
        build(given)
    except InputError as error:
        sys.exit(f"build_features: {error}")


def build(given: argparse.Namespace) -> None:
    """Read, or write every set or none."""
    sets = runs(given.tau_bench)
    if given.stage == "read":
        try:
            given.cache.mkdir(exist_ok=True)
        except OSError as error:
            raise InputError.of(error) from None
        read(sets, given.cache, *given.shard)
        return
    readings = {name: cached(given.cache, name) for name in sets}
    for name, members in sets.items():
        if left := sum(run.trajectory.trajectory_id not in readings[name] for run in members):
            raise InputError(f"{given.cache}: {left} of {len(members)} runs of {name} are not read "
                             "yet; run the stage read with this cache first")
    model = load()
    for name, members in sets.items():
        tables = extract(members, readings=readings[name], spell=model.spell)
        # On the testbed a message is a function of the tool alone.
        tables = scored(members, tables, part="call" if name == "testbed" else "all")
        features.write(tables, name, given.out)
        print(f"{name}: {len(members)} runs")


if __name__ == "__main__":
    main()
