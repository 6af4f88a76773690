"""Calls to a model that may fail, several at a time, until they fail for good.

Decision: a call that failed is held back until a later one succeeds, so that
what a server that died did not do is not on record as done, and is done by
the run that follows. Refusal: no call is made a second time here, and a reply
that came but is no answer is no failed call.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from queue import SimpleQueue
from typing import Any, Protocol, TypeVar

from tjlib.trace import InputError

__all__ = ["PATIENCE", "Outcome", "settled", "unordered"]

#: Failed calls in a row that end a run.
PATIENCE = 3


class Outcome(Protocol):
    """What became of a call: a status of `tjlib.trace.STATUSES`, and why."""

    status: str
    rationale: str


T = TypeVar("T")
S = TypeVar("S", bound=Outcome)


def unordered(work: Callable[[Any], T], items: Iterable[Any], workers: int) -> Iterator[T]:
    """Do work on items, so many at a time, and give results as they come.

    The threads are daemons, unlike an executor's: an interrupted run ends at
    once and does not wait for calls under way.

    Parameters
    ----------
    work : callable
        What it raises is raised here.
    items : iterable
        Taken one by one, as workers are free.
    workers : int

    Yields
    ------
    object
        What ``work`` returned.
    """
    done: SimpleQueue[T | BaseException] = SimpleQueue()

    def one(item: Any) -> None:
        try:
            done.put(work(item))
        except BaseException as error:
            done.put(error)

    def result() -> T:
        got = done.get()
        if isinstance(got, BaseException):
            raise got
        return got

    busy = 0
    for item in items:
        threading.Thread(target=one, args=(item,), daemon=True).start()
        busy += 1
        if busy == workers:
            yield result()
            busy -= 1
    for _ in range(busy):
        yield result()


def settled(outcomes: Iterable[S]) -> Iterator[S]:
    """Pass outcomes on, failed calls only once a later call shows that the server works.

    Parameters
    ----------
    outcomes : iterable of Outcome

    Yields
    ------
    Outcome

    Raises
    ------
    InputError
        If `PATIENCE` failed in a row, or all did: the last reason, and that
        the same command goes on.
    """
    held: list[S] = []
    worked = False
    for outcome in outcomes:
        if outcome.status in ("error", "timeout"):
            held.append(outcome)
            if len(held) == PATIENCE:
                break
            continue
        yield from held
        held, worked = [], True
        yield outcome
    if len(held) == PATIENCE or (held and not worked):
        raise InputError(f"{len(held)} failed in a row, the last with {held[-1].status}: "
                         f"{held[-1].rationale}; then run the same command again to go on")
    yield from held
