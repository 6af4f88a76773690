"""How fast the desk builds, injects and checks, and whether its memory stays flat.

Run ``python bench/desk.py [COUNT]``; it exits 1 below 5,000 trajectories a
second on one core, or if ten times the trajectories need more memory.
"""

from __future__ import annotations

import itertools
import resource
import sys
import time

from tjlib.desk.rules import judge
from tjlib.desk.testbed import stream

_FLOOR = 5_000  # trajectories a second
_SLACK_MB = 5.0  # peak memory that ten times the work may add


def main(count: int = 100_000) -> int:
    small, peaks, started = count // 10, [], time.perf_counter()
    flagged = 0
    for done, (trajectory, _) in enumerate(itertools.islice(stream(seed=7), count), start=1):
        flagged += judge(trajectory).faulty
        if done in (small, count):
            peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    rate = count / (time.perf_counter() - started)
    print(f"build, inject and check: {rate:,.0f} trajectories/s ({flagged:,} of {count:,} flagged)")
    print(f"peak memory: {peaks[0]:.1f} MB at {small:,}, {peaks[1]:.1f} MB at {count:,}")
    return int(rate < _FLOOR or peaks[1] - peaks[0] > _SLACK_MB)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
