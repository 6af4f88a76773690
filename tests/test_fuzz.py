"""No importer raises anything but its own error, under a fuzzer that watches its branches."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from built import ROOT

#: The same inputs on every run, some ten seconds of them; as long as asked where asked.
BOUND = (f"-max_total_time={os.environ['TJLIB_FUZZ_SECONDS']}"
         if "TJLIB_FUZZ_SECONDS" in os.environ else "-runs=12000")


@pytest.mark.skipif(importlib.util.find_spec("atheris") is None,
                    reason="atheris has no wheel for this Python; hypothesis fuzzes alone")
def test_the_fuzzer_finds_no_log_that_breaks_an_importer(tmp_path):
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("fuzz_importers.py"), tmp_path, BOUND,
         f"-artifact_prefix={tmp_path}/", "-timeout=20", "-rss_limit_mb=2000", "-seed=1"],
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"}, cwd=ROOT,
        capture_output=True, text=True, check=False)
    # What was raised is told on one stream, the input that did it on the other.
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert " NEW " in done.stderr or "DONE" in done.stderr
