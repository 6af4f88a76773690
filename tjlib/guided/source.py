"""Where recorded candidates come from: our recording, or a folder of the reader's.

Decision: the cases are made anew from the seed in the run record, so a recording holds what a
model said and nothing that can be computed. Refusal: a folder without a run record is not read,
for nothing says which cases its lines are about.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec

from tjlib import store
from tjlib.desk import world
from tjlib.desk.world import Instance
from tjlib.guided.recording import DRIVEN, FILE, Driven
from tjlib.guided.tree import Decision, Tree
from tjlib.provenance import Run, origin, run_file
from tjlib.trace import InputError

__all__ = ["Recording", "load"]

_MAKE = "run: tjlib guided --model local:smollm2 --out"


class _Options(msgspec.Struct):
    """What a run record has to say of candidates, as `candidates.identity` writes it."""

    candidates: Annotated[int, msgspec.Meta(ge=1)]
    cases_seed: Annotated[int, msgspec.Meta(ge=0)]


class Recording(NamedTuple):
    """Candidates by point, their cases, how many were drawn at a point, and what made them.

    ``ended`` says which cases which selectors drove to the end.
    """

    tree: Tree
    cases: list[Instance]
    n: int
    origin: str
    ended: list[Driven]

    def driven(self, given: int, selectors: Sequence[str]) -> list[Instance]:
        """Return the cases that all of these selectors drove to the end from so many calls on."""
        by_case: dict[str, set[str]] = {}
        for line in self.ended:
            if line.given == given:
                by_case.setdefault(line.instance_id, set()).update(line.selectors)
        return [case for case in self.cases
                if set(selectors) <= by_case.get(case.instance_id, set())]


def load(source: str | Path) -> Recording:
    """Load recorded candidates.

    Parameters
    ----------
    source : str or Path
        ``"recorded"`` (ours), or a folder that `tjlib guided` wrote.

    Returns
    -------
    Recording

    Raises
    ------
    InputError
        One line: what is missing, or which line of which file is wrong.
    """
    recorded = str(source) == "recorded"
    folder = store.data_folder("recorded") / "guided" if recorded else Path(source)
    path = folder / FILE
    if not path.is_file():
        raise InputError(f"{folder}: no {FILE} in it; {_MAKE} {'FOLDER' if recorded else folder}")
    decisions = list(store.read(path, Decision, torn_ok=True))
    if not decisions:
        raise InputError(f"{path}: no candidates in it; {_MAKE} {folder}")
    beside = run_file(path)
    runs = list(store.read(beside, Run, torn_ok=True)) if beside.is_file() else []
    made_by = {run.run_id: run for run in runs}
    ids = {decision.run_id for decision in decisions}
    if len(ids) != 1 or not ids <= made_by.keys():
        raise InputError(f"{beside}: does not name the one run that the candidates are of; "
                         f"{_MAKE} {folder}")
    run = made_by[ids.pop()]
    try:
        options = msgspec.convert(run.options, _Options)
    except msgspec.ValidationError as error:
        raise InputError(f"{beside}: no run of tjlib guided ({error}); {_MAKE} {folder}") from None
    for decision in decisions:
        if (n := len(decision.candidates)) != options.candidates:
            raise InputError(f"{path}: {n} candidates at {decision.point}, where the run drew "
                             f"{options.candidates}; delete the line, and record again to fill it")
    wanted, cases = {decision.instance_id for decision in decisions}, []
    dealt = islice(world.instances(options.cases_seed), 100_000)
    while wanted and (case := next(dealt, None)):
        if case.instance_id in wanted:
            cases.append(case)
            wanted.remove(case.instance_id)
    if wanted:
        raise InputError(f"{path}: {min(wanted)} is no case of seed {options.cases_seed}; "
                         "choose another folder")
    ended = folder / DRIVEN
    said = f"{origin([run])}; {options.candidates} candidates at a point"
    return Recording(Tree(decisions), cases, options.candidates,
                     f"measured here: {said}; data/recorded/guided" if recorded
                     else f"{folder} ({said})",
                     list(store.read(ended, Driven, torn_ok=True)) if ended.is_file() else [])
