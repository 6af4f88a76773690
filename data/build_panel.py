"""The free panel's constants, and its flags on public logs: `python data/build_panel.py --help`.

`set` sets the constants again and prints what was tried. `logs` has the panel judge logs whose text
is not here, and keeps numbers only: flagged (1), not (0), or nothing where a member does not bear.
"""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path

import pandas as pd

from tjlib.studies import freelogs, freeset
from tjlib.trace import InputError

HERE = Path(__file__).parent
#: The sets of data/features that the panel judges.
LOGS = ("tau_airline", "tau2", "agentdojo", "swe_agent")


def logs(given: argparse.Namespace) -> pd.DataFrame:
    """Judge the runs of every log that was named; a row a run."""
    sets = runpy.run_path(str(HERE / "build_features.py"))["runs"](given)
    rows = [{"set": name, "trajectory_id": run.trajectory.trajectory_id,
             **freelogs.flagged(run.trajectory)}
            for name in LOGS for run in sets.get(name, ())]
    if not rows:
        raise InputError(f"nothing to do; name the logs of {' or '.join(LOGS)}, see --help")
    return pd.DataFrame(rows).astype(dict.fromkeys(freelogs.FLAGS, "Int64"))


def main() -> None:
    """Set the constants, or judge logs."""
    parser = argparse.ArgumentParser(
        description="The free panel's constants, and its flags on public logs.")
    parser.add_argument("stage", choices=["set", "logs"])
    parser.add_argument("--tau-bench", type=Path, metavar="FILE",
                        help="logs: tau-bench's historical_trajectories/gpt-4o-airline.json")
    for name in ("agentdojo", "tau2", "swe-agent"):
        parser.add_argument(f"--{name}", type=Path, metavar="ZIP",
                            help="logs: an archive with NAME_index.csv beside NAME.zip")
    parser.set_defaults(testbed=False, nemo_gym=None)
    given = parser.parse_args()
    if given.stage == "set":
        chosen = freeset.choose(freeset.beds("set"))
        print(chosen.tried.to_string(index=False))
        print(f"FORM = {chosen.form!r}\nTHRESHOLD = {chosen.threshold}")
        return
    try:
        logs(given).to_csv(HERE / "recorded" / "free_logs.csv.gz", index=False,
                           lineterminator="\n", compression={"method": "gzip", "mtime": 0})
    except InputError as error:
        sys.exit(f"build_panel: {error}")


if __name__ == "__main__":
    main()
