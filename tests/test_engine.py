"""Work spread over processes or a cluster: the same results, whoever is lost on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from tjlib.engine import TRIES, cores, in_order, spread
from tjlib.trace import InputError

ROOT = Path(__file__).resolve().parents[1]

TENS = [sum(range(n, n + 10)) for n in range(0, 200, 10)]


def results(where, work=sum, items=range(200), size=10) -> list:
    """Order by number what came in any order, each number once."""
    found = list(spread(work, items, where=where, size=size))
    assert sorted(number for number, _ in found) == list(range(len(found)))
    return [result for _, result in sorted(found)]


def until(true) -> None:
    """Wait for what is to come; a minute is a fault."""
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def ended(pid: int) -> bool:
    """Tell whether a process is gone, or dead and not yet collected."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (ProcessLookupError, FileNotFoundError):
        return True


def refuse(chunk: list[int]) -> int:
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


def _sleep(chunk: list[str]) -> None:
    """Say who works here, and go on for longer than any test."""
    Path(chunk[0]).write_text(str(os.getpid()))
    time.sleep(600)


def slowly(chunk: list[int]) -> tuple[int, int]:
    time.sleep(0.02)
    return chunk[0], os.getpid()


def _wait(flag: Path, chunk: list[int]) -> int:
    """Let the first chunk wait for a file."""
    while chunk[0] == 0 and not flag.exists():
        time.sleep(0.01)
    return chunk[0]


@pytest.mark.parametrize("where", [1, 2])
def test_chunks_carry_their_place_and_none_is_missing(where):
    assert results(where) == TENS


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
        list(spread(refuse, range(1), where=where))


def test_what_a_killed_process_held_is_done_by_another(tmp_path):
    flags = [str(tmp_path / f"{n}") for n in range(3)]
    (tmp_path / "0").touch()
    (tmp_path / "2").touch()
    assert results(2, _die_once, flags, 1) == ["0", "1", "2"]


def test_a_chunk_that_kills_every_process_ends_the_run_in_one_line():
    with pytest.raises(InputError, match=f"lost {TRIES} times over chunk 0"):
        list(spread(_die, [0], where=2))


def test_workers_end_with_a_process_that_is_killed(tmp_path):
    flags = [tmp_path / name for name in "01"]
    asking = (f"from test_engine import _sleep; from tjlib.engine import spread\n"
              f"list(spread(_sleep, {list(map(str, flags))}, where=2, size=1))")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}
    asked = subprocess.Popen([sys.executable, "-c", asking], env=env)
    until(lambda: all(flag.exists() and flag.read_text() for flag in flags))
    asked.kill()
    asked.wait()
    for pid in [int(flag.read_text()) for flag in flags]:
        until(lambda pid=pid: ended(pid))


def test_an_address_where_nobody_listens_is_refused_in_one_line(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("tjlib.engine._PATIENCE", 0.3)
    with pytest.raises(InputError, match=r"^tcp://127.0.0.1:9: no scheduler answers .*dask sched"):
        list(spread(sum, [1], where="tcp://127.0.0.1:9"))
    with pytest.raises(InputError, match="no scheduler answers"):
        list(spread(sum, [1], where="nonsense://x"))


def test_on_a_cluster_results_are_the_same_and_a_killed_worker_loses_nothing():
    pytest.importorskip("distributed")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
         Path(__file__).with_name("on_cluster.py")], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-6000:]
    assert " passed" in done.stdout and "skipped" not in done.stdout
