"""Candidates drawn from a model into a folder, to the end, whatever happens on the way.

Decision: what is drawn is on disk before the next is asked for, in an order that the plan alone
decides, so a killed run started again ends with the file of one that was not. Refusal: candidates
of two runs are not mixed in one folder, a server that fails is not taken for a model that cannot
answer, and candidates without log-probabilities are not recorded, for there is nothing to choose
by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

import msgspec

from tjlib.desk import world
from tjlib.desk.world import Instance
from tjlib.guided import candidates
from tjlib.guided.selectors import SELECTORS, choose
from tjlib.guided.tree import GIVEN, Decision, Point, Tree, follow, given_steps
from tjlib.jsonl import append, read
from tjlib.judges.protocol import Model
from tjlib.judges.runs import Done, keep, record
from tjlib.provenance import run_file
from tjlib.trace import InputError, Step

__all__ = ["DRIVEN", "FILE", "Driven", "run"]

#: The decisions in a recording's folder, and the cases that selectors drove to the end;
#: ``runs.jsonl`` is beside them.
FILE, DRIVEN = "decisions.jsonl", "driven.jsonl"


class Driven(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A case that these selectors drove to the end, from so many given calls on.

    Which cases were driven cannot be told from the decisions: one where every selector replies at
    once has no decision beyond the first, and looks like one that nobody drove.
    """

    instance_id: str
    given: int
    selectors: tuple[str, ...]


def run(
    model: Model, out: str | Path, *, cases: int = 24, n: int = 3, episodes: int = 0,
    given: int = 0, selectors: Sequence[str] = tuple(SELECTORS), seed: int = 7,
    progress: Callable[..., Iterable] | None = None,
) -> Done:
    """Draw the candidates that are not drawn yet and add them to a folder.

    Parameters
    ----------
    model : Model
    out : str or Path
        A folder.
    cases : int
        At every point of the first so many cases' solution, a decision.
    n : int
        Candidates at a point.
    episodes : int
        Every selector goes on to the end in the first so many cases.
    given : int
        Solving calls these begin with, 0 to 5.
    selectors : sequence of str
        Those that go on.
    seed : int
        Of the cases and the draws.
    progress : callable, optional
        Called as ``tqdm`` with the decisions.

    Returns
    -------
    Done
        Counts of points; statuses are those of the candidates.

    Raises
    ------
    InputError
        For bad files, a model out of reach, one that fails or gives no log-probabilities, or a
        folder with other candidates; what is drawn is kept.
    """
    path = Path(out) / FILE
    made_by = record(candidates.identity(model, seed, n))
    tree = Tree(_there(path, made_by.run_id))
    started = len(tree)
    keep(made_by, run_file(path))
    dealt = list(islice(world.instances(seed), max(cases, episodes)))
    statuses: dict[str, int] = {}

    def drawn(missing: Iterable[tuple[Point, str, Sequence[Step]]]) -> Iterator[Decision]:
        for point, goal, steps in missing:
            found = candidates.draw(model, goal, steps, n, seed)
            _check(found, path)
            for one in found:
                statuses[one.status] = statuses.get(one.status, 0) + 1
            tree[point] = found
            yield Decision(*point, found, made_by.run_id)

    ended = path.with_name(DRIVEN)
    there = list(read(ended, Driven, torn_ok=True)) if ended.exists() else []

    def plan() -> Iterator[tuple[Point, str, Sequence[Step]]]:
        for case in dealt[:cases]:
            yield from _solution(tree, case)
        for case in dealt[:episodes]:
            yield from _episodes(tree, case, given, selectors)
            line = Driven(case.instance_id, given, tuple(selectors))
            if line not in there:
                append(ended, [line])

    added = append(path, progress(drawn(plan()), initial=started) if progress else drawn(plan()))
    return Done(added, started, statuses)


def _solution(tree: Tree, case: Instance) -> Iterator[tuple[Point, str, Sequence[Step]]]:
    """Give the points of a case's solution that have no candidates."""
    for number in GIVEN:
        if (point := Point(case.instance_id, number)) not in tree:
            yield point, case.goal, given_steps(case, number)


def _episodes(
    tree: Tree, case: Instance, given: int, selectors: Sequence[str]
) -> Iterator[tuple[Point, str, Sequence[Step]]]:
    """Give the points that selectors come to and that have no candidates, until there is none.

    Candidates are to be in the tree before the next point is asked for.
    """
    for selector in selectors:
        taking = partial(choose, selector)
        while (path := follow(tree.at, case, given, taking)).missing:
            yield path.missing, case.goal, [made.step for made in path.made]


def _check(found: Sequence[candidates.Candidate], path: Path) -> None:
    on = "then run the same command again to go on"
    for one in found:
        if one.status == "error":
            raise InputError(f"{path}: the model failed: {one.rationale}; {on}")
        if one.call and one.nll is None:
            raise InputError(f"{path}: the server gives no log-probabilities of its tokens, and "
                             "selectors choose by them; take a model or a server that does")


def _there(path: Path, run_id: str) -> Iterator[Decision]:
    for decision in read(path, Decision, torn_ok=True) if path.exists() else ():
        if decision.run_id != run_id:
            raise InputError(f"{path}: holds candidates of another run ({decision.run_id}: another "
                             "model, seed, number of candidates, prompt or options, see "
                             "runs.jsonl); choose another --out")
        yield decision
