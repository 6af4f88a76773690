"""Work spread over processes or a cluster: the same results, whoever is lost on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from itertools import islice
from operator import attrgetter
from pathlib import Path

import msgspec
import pytest

import tjlib
from tjlib import jsonl
from tjlib.desk import testbed
from tjlib.engine import TRIES, cores, in_order, spread
from tjlib.trace import InputError, Verdict

ROOT = Path(__file__).resolve().parents[1]

# Sockets that dask leaves to be collected.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning",
                                        "ignore::ResourceWarning")

TENS = [sum(range(n, n + 10)) for n in range(0, 200, 10)]


def _results(where, work=sum, items=range(200), size=10) -> list:
    """Order by number what came in any order, each number once."""
    found = list(spread(work, items, where=where, size=size))
    assert sorted(number for number, _ in found) == list(range(len(found)))
    return [result for _, result in sorted(found)]


def _refuse(chunk: list[int]) -> int:
    raise InputError(f"log.jsonl:{chunk[0]}: no step")


def _die_once(chunk: list[str]) -> str:
    """Kill this process the first time a chunk is seen; a file remembers."""
    (flag,) = map(Path, chunk)
    if not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return flag.name


def _die(chunk: list) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _pid(chunk: list[int]) -> int:
    return os.getpid()


def _slowly(chunk: list[int]) -> tuple[int, int]:
    time.sleep(0.02)
    return chunk[0], os.getpid()


def _wait(flag: Path, chunk: list[int]) -> int:
    """Let the first chunk wait for a file."""
    while chunk[0] == 0 and not flag.exists():
        time.sleep(0.01)
    return chunk[0]


@pytest.mark.parametrize("where", [1, 2])
def test_chunks_carry_their_place_and_none_is_missing(where):
    assert _results(where) == TENS


def test_items_are_taken_as_workers_are_free():
    items = iter(range(10_000))
    found = spread(sum, items, where=2, size=10)
    next(found)
    assert next(items) < 100
    found.close()


def test_nobody_runs_far_ahead_of_a_chunk_that_takes_long(tmp_path):
    flag, items = tmp_path / "go", iter(range(1_000))
    work = partial(_wait, flag)
    found = spread(work, items, where=2)
    ahead = [next(found)[0] for _ in range(8 * 2 - 1)]  # all that may be given out but the first
    flag.touch()
    assert 0 not in ahead and next(items) == 8 * 2
    assert next(found) == (0, 0)
    found.close()


def test_results_are_put_in_the_order_of_their_work_as_soon_as_they_can_be():
    found = in_order(iter([(2, "c"), (0, "a"), (1, "b")]))
    assert list(found) == ["a", "b", "c"]
    come = iter([(0, "a"), (1, "b")])
    assert next(in_order(come)) == "a" and next(come) == (1, "b")


def test_little_work_starts_no_process():
    assert {pid for _, pid in spread(_pid, range(2 * cores()), where=0)} == {os.getpid()}


def test_nothing_to_do_is_done_at_once():
    assert list(spread(sum, [], where=2)) == []


@pytest.mark.parametrize("where", [1, 2])
def test_what_the_work_refuses_is_told_as_it_was_said(where):
    with pytest.raises(InputError, match=r"^log.jsonl:0: no step$"):
        list(spread(_refuse, range(1), where=where))


def test_what_a_killed_process_held_is_done_by_another(tmp_path):
    flags = [str(tmp_path / f"{n}") for n in range(3)]
    (tmp_path / "0").touch()
    (tmp_path / "2").touch()
    assert _results(2, _die_once, flags, 1) == ["0", "1", "2"]


def test_a_chunk_that_kills_every_process_ends_the_run_in_one_line():
    with pytest.raises(InputError, match=f"lost {TRIES} times over chunk 0"):
        list(spread(_die, [0], where=2))


def test_an_address_where_nobody_listens_is_refused_in_one_line(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("tjlib.engine._PATIENCE", 0.3)
    with pytest.raises(InputError, match=r"^tcp://127.0.0.1:9: no scheduler answers .*dask sched"):
        list(spread(sum, [1], where="tcp://127.0.0.1:9"))
    with pytest.raises(InputError, match="no scheduler answers"):
        list(spread(sum, [1], where="nonsense://x"))


#: A cluster in the test's own process leaves threads and sockets to the tests after it.
ON_REQUEST = pytest.mark.skipif("TJLIB_CLUSTER" not in os.environ,
                                reason="a cluster is started where asked: TJLIB_CLUSTER=1")


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1",
                                  dashboard_address="127.0.0.1:0", silence_logs=50) as started:
        yield started


@ON_REQUEST
def test_a_clusters_address_is_the_only_change(cluster):
    assert _results(cluster.scheduler_address) == TENS == _results(1)


@ON_REQUEST
def test_a_cluster_with_another_tjlib_is_refused_before_any_work(cluster, monkeypatch):
    monkeypatch.setattr("tjlib.engine.__version__", "0.0")
    with pytest.raises(InputError, match=f"has tjlib 0.0, {tjlib.__version__}, this is 0.0;"):
        list(spread(sum, [1], where=cluster.scheduler_address))


@ON_REQUEST
def test_a_scheduler_without_workers_is_refused_before_any_work():
    distributed = pytest.importorskip("distributed")
    with (distributed.LocalCluster(n_workers=0, host="127.0.0.1",
                                   dashboard_address="127.0.0.1:0") as bare,
          pytest.raises(InputError, match="no workers; start some")):
        list(spread(sum, [1], where=bare.scheduler_address))


@ON_REQUEST
def test_what_the_work_refuses_on_a_cluster_is_told_as_it_was_said(cluster):
    with pytest.raises(InputError, match=r"^log.jsonl:[0-2]: no step$"):
        list(spread(_refuse, range(3), where=cluster.scheduler_address))


@ON_REQUEST
def test_a_killed_worker_of_a_cluster_loses_nothing(cluster):
    seen, pids = [], set()
    for _, (item, pid) in spread(_slowly, range(300), where=cluster.scheduler_address):
        if not pids:
            os.kill(pid, signal.SIGKILL)  # a worker that this test's cluster started
        seen.append(item)
        pids.add(pid)
    assert sorted(seen) == list(range(300)) and len(pids) > 1


def _said(path: Path) -> list[Verdict]:
    """Give verdicts by trajectory, without what differs between two runs: the time taken."""
    found = [msgspec.structs.replace(v, latency_s=None) for v in jsonl.read(path, Verdict)]
    return sorted(found, key=attrgetter("trajectory_id"))


@ON_REQUEST
def test_a_soak_of_judging_on_two_workers_one_killed_gives_every_verdict_once(cluster, tmp_path):
    from distributed import Client

    bed, here, there = (tmp_path / name for name in ("t.jsonl", "here.jsonl", "there.jsonl"))
    jsonl.write(bed, (t for t, _ in islice(testbed.stream(3), 12_000)))
    judge = [sys.executable, "-m", "tjlib", "judge", "rules", "--traces", str(bed), "--out"]
    subprocess.run([*judge, str(here), "--workers", "1"], check=True, cwd=ROOT)
    done = subprocess.Popen([*judge, str(there), "--scheduler", cluster.scheduler_address],
                            cwd=ROOT)
    while done.poll() is None and not (there.exists() and there.stat().st_size):
        time.sleep(0.01)
    with Client(cluster.scheduler_address, set_as_default=False) as client:
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
    assert done.wait() == 0
    assert len(_said(there)) == 12_000 and _said(there) == _said(here)
