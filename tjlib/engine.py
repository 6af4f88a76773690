"""Work on many runs, spread over processes of this machine or over the workers of a cluster.

Decision: either takes chunks and tells which are done, so a scheduler's address is the only
change, and results come with their place, so that the order they come in changes nothing. Refusal:
nothing is scheduled here, and what a lost worker held is given out again, never left out.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, count, islice
from typing import Any, TypeVar

from tjlib import __version__
from tjlib.trace import InputError

__all__ = ["TRIES", "cores", "in_order", "spread"]

#: Chunks a worker may be ahead of the earliest one under way: who puts results in order holds
#: no more, and a chunk that takes as long as this many keeps nobody waiting.
_AHEAD = 8
#: How often a chunk is given out before the workers it takes with it are no accident.
TRIES = 3
#: Seconds in which a scheduler has to answer.
_PATIENCE = 10

T = TypeVar("T")


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _serve() -> None:
    """Leave an interrupt to the process that asked, and end with it if it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    gone = multiprocessing.parent_process().join
    threading.Thread(target=lambda: (gone(), os._exit(1)), daemon=True).start()


class _Processes:
    """Processes of this machine; a new set when one of them was lost."""

    lost = (BrokenProcessPool,)

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool: ProcessPoolExecutor | None = None
        self.renew()

    def renew(self) -> bool:
        """Start anew; tell that all that was under way is lost."""
        if self._pool:
            self.close()
        # A fork would copy the locks of the threads that a model's library has started.
        self._pool = ProcessPoolExecutor(
            self.workers, multiprocessing.get_context("spawn"), _serve)
        return True

    def submit(self, work: Callable[[list[Any]], T], chunk: list[Any]) -> Any:
        return self._pool.submit(work, chunk)

    def done(self, futures: Collection[Any]) -> Collection[Any]:
        return wait(futures, return_when=FIRST_COMPLETED).done

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


def _version() -> str:
    return __version__


class _Cluster:
    """The workers of a dask scheduler, which gives out again what a lost one held.

    Its executor is not used: it reads a result before the status, and fails if the worker
    was lost between the two (distributed 2026.8.0).
    """

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
            from distributed.scheduler import KilledWorker
        except ImportError:
            raise InputError(f"{address}: a scheduler needs more; install it with: pip install "
                             "distributed") from None
        self.lost, self._address = (KilledWorker,), address
        try:
            self._client = Client(address, timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InputError(f"{address}: no scheduler answers ({error}); start one with: "
                             "dask scheduler") from None
        # A worker that is lost while it is asked is no reason to refuse the others.
        workers = list(self._client.run(_version, on_error="return").values())
        answers = [*workers, self._ask_scheduler()]
        if lacking := [answer for answer in answers if isinstance(answer, ImportError)]:
            self.close()
            raise InputError(f"{address}: the scheduler or a worker cannot load tjlib "
                             f"({lacking[0]}); install it there")
        there = {answer for answer in answers if isinstance(answer, str)}
        if not workers or there != {__version__}:
            self.close()
            raise InputError(f"{address}: " + (
                f"it has tjlib {', '.join(sorted(there))}, this is {__version__}; install the same"
                if workers else "no workers; start some with: dask worker ADDRESS"))
        self.workers = sum(self._client.ncores().values())

    def _ask_scheduler(self) -> str | Exception:
        try:
            return self._client.run_on_scheduler(_version)
        except Exception as error:
            return error

    def submit(self, work: Callable[[list[Any]], T], chunk: list[Any]) -> Any:
        return self._client.submit(work, chunk, pure=False)

    def done(self, futures: Collection[Any]) -> Collection[Any]:
        from distributed import wait

        try:
            with self._client.as_current():
                return wait(list(futures), return_when="FIRST_COMPLETED").done
        except CancelledError:
            raise InputError(f"{self._address}: the scheduler went away; start it and its workers "
                             "and run the same command again") from None

    def renew(self) -> bool:
        """Leave it to the scheduler; what else is under way goes on."""
        return False

    def close(self) -> None:
        self._client.close()


def spread(
    work: Callable[[list[Any]], T], items: Iterable[Any], *, where: int | str = 0, size: int = 1
) -> Iterator[tuple[int, T]]:
    """Do work on chunks of items, several at a time.

    Parameters
    ----------
    work : callable
        Takes a list of items; it and they must pickle. What it raises is raised here.
    items : iterable
        Taken as workers are free, so that it need not fit into memory.
    where : int or str
        How many processes of this machine, 1 for this process alone, 0 for as many as
        processors or, if there is no more work than two chunks for each, this process alone; or
        the address of a dask scheduler, such as ``tcp://host:8786``, whose workers have the same
        tjlib.
    size : int
        Items of a chunk.

    Yields
    ------
    number : int
        Of the chunk, from 0; chunks come as they are ready, a bounded number out of order.
    result
        What ``work`` returned.

    Raises
    ------
    InputError
        If no scheduler or worker answers, or workers were lost on a chunk `TRIES` times.

    Examples
    --------
    >>> sorted(spread(sum, [1, 2, 3], where=1, size=2))
    [(0, 3), (1, 3)]
    """
    items = iter(items)
    chunks = zip(count(), iter(lambda: list(islice(items, size)), []))
    first = list(islice(chunks, 2 * cores() + 1)) if where == 0 else []
    alone = where == 0 and (cores() == 1 or len(first) <= 2 * cores())
    chunks = chain(first, chunks)
    if where == 1 or alone:
        yield from ((number, work(chunk)) for number, chunk in chunks)
        return
    engine = _Cluster(where) if isinstance(where, str) else _Processes(where or cores())
    try:
        yield from _done(engine, work, chunks)
    finally:
        engine.close()


def _done(
    engine: _Processes | _Cluster, work: Callable[[list[Any]], T],
    chunks: Iterator[tuple[int, list[Any]]],
) -> Iterator[tuple[int, T]]:
    """Keep every worker busy with one chunk and one more waiting, none too far ahead."""
    taken, tries = 0, {}  # of those that are not done
    under_way: dict[Any, tuple[int, list[Any]]] = {}

    def give(number: int, chunk: list[Any]) -> None:
        tries[number] = tries.get(number, 0) + 1
        under_way[engine.submit(work, chunk)] = number, chunk

    while True:
        room = min(2 * engine.workers - len(under_way),
                   min(tries, default=taken) + _AHEAD * engine.workers - taken)
        for number, chunk in islice(chunks, max(0, room)):
            taken = number + 1
            give(number, chunk)
        if not under_way:
            return
        again = []
        for future in engine.done(under_way):
            number, chunk = under_way.pop(future)
            try:
                result = future.result()
            except engine.lost:
                again.append((number, chunk))
                continue
            del tries[number]
            yield number, result
        if again and engine.renew():
            again += under_way.values()
            under_way.clear()
        for number, chunk in again:
            if tries[number] == TRIES:
                raise InputError(f"workers were lost {TRIES} times over chunk {number} of the "
                                 "work; give them more memory or leave out the runs in it")
            give(number, chunk)


def in_order(done: Iterable[tuple[int, T]]) -> Iterator[T]:
    """Give the results of `spread` in the order of their work.

    Examples
    --------
    >>> list(in_order([(1, "b"), (0, "a"), (2, "c")]))
    ['a', 'b', 'c']
    """
    waiting: dict[int, T] = {}
    following = 0
    for number, result in done:
        waiting[number] = result
        while following in waiting:
            yield waiting.pop(following)
            following += 1
