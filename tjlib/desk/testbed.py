"""The labelled set: clean runs and single-fault mutants of them.

Decision: the hosts are the first cases in index order that can host a fault,
as in the release; whether a fault is silent is read off the replayed desk,
never assumed. The paper shuffles the set; ours is stricter and interleaves
the design cells, so that every prefix has each in proportion (`judged_set`
states the bound). Refusal: no trajectory says what it is; labels go apart.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from itertools import islice

from tjlib.desk import faults, oracle, world
from tjlib.desk.world import STRATA, Instance
from tjlib.trace import FAULT_TYPES, Call, InputError, Label, Trajectory

__all__ = ["CLEAN_SEED", "clean_runs", "judged_set", "stream"]

#: The seed of clean runs to set a threshold on: another than the judged set's (ours).
CLEAN_SEED = 101


def judged_set(
    seed: int = 7, *, clean: int = 100, per_type: int = 50, instances: int | None = None,
    types: Sequence[str] = FAULT_TYPES,
) -> tuple[list[Trajectory], list[Label]]:
    """Build the set that judges are scored on.

    Parameters
    ----------
    seed : int
        Seeds the cases, the faults and the order.
    clean : int
        How many clean runs: those of the first ``clean`` cases.
    per_type : int
        How many mutants of each type; even, for half of
        skipped_precondition is hosted at full price and half under a fee.
    instances : int, optional
        Upper limit on the cases drawn; as many as needed if left out.
    types : sequence of str
        Names of `tjlib.desk.faults.FAULTS`; default the paper's six.

    Returns
    -------
    trajectories : list of Trajectory
    labels : list of Label
        Aligned with ``trajectories``. With the default sizes 100 clean, 175
        silent and 125 loud (section 3), over 141 distinct cases.

    Raises
    ------
    InputError
        If a size is not positive, ``per_type`` is odd, ``instances`` is too
        few, or there is no such type.

    Notes
    -----
    The design cells are clean and each type split by whether the outcome
    survived (appendix F): eight. Item ``i`` of a cell of ``n``, in seeded
    order, is filed at ``(i + 1/2) / n``. Up to any filing point each cell is
    within 1/2 of its share, so a prefix of ``m`` out of ``N`` holds
    ``m n / N`` of it, give or take ``1/2 + 4 n / N``: 1.5 for clean.

    Examples
    --------
    >>> trajectories, labels = judged_set(seed=7)
    >>> len(trajectories), sum(label.faulty for label in labels)
    (400, 300)
    """
    types = tuple(dict.fromkeys(types))
    wanted = _wanted(clean, per_type, instances, types)
    cells: dict[tuple[str | None, bool | None], list[tuple[Trajectory, Label]]] = {}
    for instance in world.instances(seed):
        calls = oracle.calls(instance)
        for fault_type in (None, *types):
            # skipped_precondition has a quota for each of two strata, the others one.
            quota = (fault_type, instance.stratum)
            quota = quota if quota in wanted else (fault_type, None)
            if wanted.get(quota, 0) and _hosts(instance, fault_type):
                wanted[quota] -= 1
                pair = _labelled(instance, calls, fault_type, seed)
                cells.setdefault((fault_type, pair[1].outcome_correct), []).append(pair)
        if not any(wanted.values()):
            break
    ordered = _interleave(list(cells.values()), random.Random(f"order-{seed}"))
    return [trajectory for trajectory, _ in ordered], [label for _, label in ordered]


def stream(
    seed: int = 7, types: Sequence[str] = FAULT_TYPES
) -> Iterator[tuple[Trajectory, Label]]:
    """Generate labelled trajectories without end and without keeping any.

    Parameters
    ----------
    seed : int
    types : sequence of str
        As `judged_set`.

    Yields
    ------
    trajectory : Trajectory
    label : Label
        Case by case, the clean run first, then each fault the case hosts.
        The same case gives the same trajectories as in `judged_set`.
    """
    for instance in world.instances(seed):
        calls = oracle.calls(instance)
        for fault_type in (None, *types):
            if _hosts(instance, fault_type):
                yield _labelled(instance, calls, fault_type, seed)


def clean_runs(seed: int = CLEAN_SEED, count: int = 100) -> list[Trajectory]:
    """Take the first clean runs of a seed's stream, as a threshold is set on.

    Parameters
    ----------
    seed : int
        Another than that of the runs to be judged.
    count : int
        Default as many as the judged set has.

    Returns
    -------
    list of Trajectory

    Examples
    --------
    >>> len(clean_runs(count=3))
    3
    """
    clean = (trajectory for trajectory, label in stream(seed) if not label.faulty)
    return list(islice(clean, count))


def _wanted(
    clean: int, per_type: int, limit: int | None, types: Sequence[str]
) -> dict[tuple[str | None, str | None], int]:
    """Check the sizes and say how many to take of each (fault type, stratum)."""
    for name, size in (("clean", clean), ("per_type", per_type), ("instances", limit)):
        unlimited = size is None and name == "instances"
        if not unlimited and not (isinstance(size, int) and size > 0):
            raise InputError(f"judged_set: {name} is {size!r}; give a whole number above 0")
    strata = {fault_type: faults.strata(fault_type) for fault_type in types}
    wanted: dict[tuple[str | None, str | None], int] = {(None, None): clean}
    for fault_type in strata:
        if fault_type != "skipped_precondition":
            wanted[fault_type, None] = per_type
            continue
        if per_type % 2:
            raise InputError(
                f"judged_set: per_type is {per_type}; give an even number, for "
                "skipped_precondition is half full-price and half under a fee")
        for stratum in strata[fault_type]:
            wanted[fault_type, stratum] = per_type // 2
    needed = max(_last(size, (stratum,) if stratum else strata.get(fault_type, STRATA))
                 for (fault_type, stratum), size in wanted.items())
    if limit is not None and limit < needed:
        raise InputError(
            f"judged_set: {limit} instances are too few, {clean} clean runs and {per_type} hosts "
            f"of each type need {needed}; raise instances or lower the sizes")
    return wanted


def _last(size: int, strata: Sequence[str]) -> int:
    """Say how many cases hold ``size`` of these strata, which take turns."""
    rounds, more = divmod(size - 1, len(strata))
    return rounds * len(STRATA) + sorted(map(STRATA.index, strata))[more] + 1


def _hosts(instance: Instance, fault_type: str | None) -> bool:
    return fault_type is None or faults.hosts(instance, fault_type)


def _labelled(
    instance: Instance, calls: Sequence[Call], fault_type: str | None, seed: int
) -> tuple[Trajectory, Label]:
    trajectory_id = _trajectory_id(instance, fault_type, seed)
    if fault_type is None:
        failure_step, parent_id, answer = None, None, calls[-1].args["text"]
    else:
        rng = random.Random(f"{instance.instance_id}-{fault_type}-{seed}")  # appendix C
        edit = faults.inject(instance, calls, fault_type, rng)
        calls, failure_step, answer = edit.calls, edit.step, edit.final_answer
        parent_id = _trajectory_id(instance, None, seed)
    steps, outcome = world.replay(instance, calls)
    trajectory = Trajectory(trajectory_id, instance.goal, steps, answer)
    label = Label(
        trajectory_id=trajectory_id,
        faulty=fault_type is not None,
        failure_step=failure_step,
        failure_type=fault_type,
        outcome_correct=outcome == world.expected_outcome(instance),
        instance_id=instance.instance_id,
        stratum=instance.stratum,
        parent_id=parent_id,
    )
    return trajectory, label


def _trajectory_id(instance: Instance, fault_type: str | None, seed: int) -> str:
    # A hash, for a judge must not read the fault off the id; 48 bits keep bulk ids apart.
    name = f"{seed}-{instance.instance_id}-{fault_type}"
    return "t-" + hashlib.blake2b(name.encode(), digest_size=6).hexdigest()


def _interleave(
    cells: list[list[tuple[Trajectory, Label]]], rng: random.Random
) -> list[tuple[Trajectory, Label]]:
    rng.shuffle(cells)  # which of two items filed at the same point comes first
    filed = []
    for cell in cells:
        rng.shuffle(cell)
        filed += (((2 * i + 1) / (2 * len(cell)), pair) for i, pair in enumerate(cell))
    return [pair for _, pair in sorted(filed, key=lambda item: item[0])]
