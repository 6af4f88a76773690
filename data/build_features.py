"""Compute data/features anew from the logs: `python data/build_features.py --help`.

Two stages. `read` has the surrogate model read every episode of the airline log and the testbed,
which takes about two hours of one core; it adds to a cache of token numbers, which are text and
stay out of this repository, and goes on where it was stopped. `write` makes the tables of any of
the sets from logs and cache in a few minutes; the labelled sets need no `read`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import msgspec
import pandas as pd

from tjlib import features, store
from tjlib.desk import testbed, world
from tjlib.extract import extract
from tjlib.formats import registry
from tjlib.formats.imported import Imported
from tjlib.packaged import whole
from tjlib.textscores import scored
from tjlib.trace import InputError
from tjlib.uncertainty.surrogate import Read, load, turns

#: What an agent at the desk has been told, in our words around the paper's procedure.
DESK = "You work at a refund desk. Procedure:\n{}\nTools: {}".format(
    "\n".join(f"{n}. {rule}" for n, rule in enumerate(world.PROCEDURE, start=1)),
    ", ".join(f"{name}({', '.join(tool.args)})" for name, tool in world.TOOLS.items()))
SEED = 7
#: What the surrogate read.
READ = ("tau_airline", "testbed")
#: Labelled set -> its similarities; MiniLM for all would take half an hour of one core.
LABELLED = {"agentdojo": ["jaccard"], "tau2": ["jaccard", "minilm"], "tau2_students": ["jaccard"],
            "swe_agent": ["jaccard"], "nemo_gym": ["jaccard"]}
#: What an index notes -> the flag its run gets.
FLAGS = {"(exit_cost)": "exit_cost", "same messages as": "same_messages",
         "user simulator calls": "user_calls"}


def named(run: Imported) -> Imported:
    """Say which model acted, which the log's name says and the log does not."""
    return msgspec.structs.replace(run, model="gpt-4o")


def indexed(log: Path) -> list[Imported]:
    """Load the runs of an archive as the index beside it names, labels and flags them."""
    place = log.with_name(f"{log.stem}_index.csv")
    index = whole(place, ["path", "row", "episode_id", "task_id", "model", "success", "note"],
                  {"row": "string", "success": "string", "note": "string"},
                  remedy="put the index beside the archive")
    found: dict[str, list[Imported]] = {}
    for run in registry.load(log).runs:
        found.setdefault(run.source, []).append(run)
    given = []
    for row in index.fillna({"row": "0", "note": ""}).itertuples():
        try:
            run = found[row.path][int(row.row)]
        except (KeyError, IndexError, ValueError):
            raise InputError(f"{place}: no run of {log} is {row.path}, row {row.row}; give the "
                             "archive that this index is of") from None
        flag = " ".join(flag for said, flag in FLAGS.items() if said in row.note)
        given.append(msgspec.structs.replace(
            run, trajectory=msgspec.structs.replace(run.trajectory, trajectory_id=row.episode_id),
            task_id=row.task_id, model=row.model, about={"flag": flag} if flag else {},
            success=None if pd.isna(row.success) else row.success == "1"))
    return given


def runs(given: argparse.Namespace) -> dict[str, list[Imported]]:
    """Load the sets asked for: name -> runs in the order of the log or its index."""
    sets = {}
    if given.tau_bench:
        sets["tau_airline"] = [named(run)
                               for run in registry.load(given.tau_bench, "tau_bench").runs]
    if given.testbed:
        trajectories, labels = testbed.judged_set(SEED)
        sets["testbed"] = [
            Imported(t, n, label.outcome_correct, task_id=label.instance_id, procedure=DESK)
            for n, (t, label) in enumerate(zip(trajectories, labels, strict=True), start=1)]
    for name in ("agentdojo", "tau2", "swe_agent", "nemo_gym"):
        if log := getattr(given, name):
            sets[name] = indexed(log)
    if "tau2" in sets:  # students' desks in Spanish, with weak labels, are a set apart
        both = sets["tau2"]
        sets["tau2"] = [run for run in both if not run.source.startswith("oscaralvaro")]
        sets["tau2_students"] = [run for run in both if run.source.startswith("oscaralvaro")]
    return sets


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
    parser.add_argument("--tau-bench", type=Path, metavar="FILE",
                        help="tau-bench's historical_trajectories/gpt-4o-airline.json")
    parser.add_argument("--testbed", action="store_true", help="the judged set of seed 7")
    for name in ("agentdojo", "tau2", "swe-agent", "nemo-gym"):
        parser.add_argument(f"--{name}", type=Path, metavar="ZIP",
                            help="write: an archive with NAME_index.csv beside NAME.zip")
    parser.add_argument("--cache", type=Path,
                        help="a folder outside the repository, for what was read of the airline "
                        "log and the testbed")
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
    """Read, or write every set asked for or none."""
    sets = runs(given)
    shown = {name: members for name, members in sets.items() if name in READ}
    if not sets or (given.stage == "read" and not shown):
        raise InputError("nothing to do; name the logs of one set or more, see --help")
    if shown and not given.cache:
        raise InputError("where is what was read? Give --cache")
    if given.stage == "read":
        try:
            given.cache.mkdir(exist_ok=True)
        except OSError as error:
            raise InputError.of(error) from None
        read(shown, given.cache, *given.shard)
        return
    readings = {name: cached(given.cache, name) for name in shown}
    for name, members in shown.items():
        if left := sum(run.trajectory.trajectory_id not in readings[name] for run in members):
            raise InputError(f"{given.cache}: {left} of {len(members)} runs of {name} are not read "
                             "yet; run the stage read with this cache first")
    for name, members in sets.items():
        if name in READ:
            tables = extract(members, readings=readings[name], spell=load().spell)
            # On the testbed a message is a function of the tool alone.
            tables = scored(members, tables, part="call" if name == "testbed" else "all")
        else:
            tables = scored(members, extract(members, LABELLED[name]), LABELLED[name])
        features.write(tables, name, given.out)
        print(f"{name}: {len(members)} runs")


if __name__ == "__main__":
    main()
