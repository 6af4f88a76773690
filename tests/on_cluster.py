"""A cluster of two workers: what `test_engine` has it run in a process of its own.

In the process of other tests a cluster leaves threads, sockets and signals to them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from itertools import islice
from operator import attrgetter
from pathlib import Path

import msgspec
import pytest
from distributed import Client, LocalCluster
from test_engine import ROOT, TENS, refuse, results, slowly

import tjlib
from tjlib import jsonl
from tjlib.desk import testbed
from tjlib.engine import spread
from tjlib.trace import InputError, Verdict

# Sockets that dask leaves to be collected.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning",
                                        "ignore::ResourceWarning")


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1",
                      dashboard_address="127.0.0.1:0", silence_logs=50) as started:
        yield started


def test_a_clusters_address_is_the_only_change(cluster):
    assert results(cluster.scheduler_address) == TENS == results(1)


def test_a_cluster_with_another_tjlib_is_refused_before_any_work(cluster, monkeypatch):
    monkeypatch.setattr("tjlib.engine.__version__", "0.0")
    with pytest.raises(InputError, match=f"has tjlib 0.0, {tjlib.__version__}, this is 0.0;"):
        list(spread(sum, [1], where=cluster.scheduler_address))


def test_a_scheduler_without_workers_is_refused_before_any_work():
    with (LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address="127.0.0.1:0") as bare,
          pytest.raises(InputError, match="no workers; start some")):
        list(spread(sum, [1], where=bare.scheduler_address))


def test_what_the_work_refuses_on_a_cluster_is_told_as_it_was_said(cluster):
    with pytest.raises(InputError, match=r"^log.jsonl:[0-2]: no step$"):
        list(spread(refuse, range(3), where=cluster.scheduler_address))


def test_a_killed_worker_of_a_cluster_loses_nothing(cluster):
    seen, pids = [], set()
    for _, (item, pid) in spread(slowly, range(300), where=cluster.scheduler_address):
        if not pids:
            os.kill(pid, signal.SIGKILL)  # a worker that this test's cluster started
        seen.append(item)
        pids.add(pid)
    assert sorted(seen) == list(range(300)) and len(pids) > 1


def _said(path: Path) -> list[Verdict]:
    """Give verdicts by trajectory, without what differs between two runs: the time taken."""
    found = [msgspec.structs.replace(v, latency_s=None) for v in jsonl.read(path, Verdict)]
    return sorted(found, key=attrgetter("trajectory_id"))


def test_a_soak_of_judging_on_two_workers_one_killed_gives_every_verdict_once(cluster, tmp_path):
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


def test_a_scheduler_that_goes_away_ends_the_run_in_one_line():
    with LocalCluster(n_workers=1, threads_per_worker=1, host="127.0.0.1",
                      dashboard_address="127.0.0.1:0", silence_logs=50) as short:
        done = spread(slowly, range(300), where=short.scheduler_address)
        next(done)
        short.close()
        with pytest.raises(InputError, match="the scheduler went away; start it and its workers"):
            list(done)
