"""Our own small log in each format goes through every command that takes a log."""

from __future__ import annotations

from pathlib import Path

import pytest

from tjlib.__main__ import main
from tjlib.formats.registry import FORMATS, load

EXAMPLES = sorted((Path(__file__).parent / "examples").glob("*.json*"))
EVERY = pytest.mark.parametrize("log", EXAMPLES, ids=lambda path: path.name)


def test_every_format_has_an_example_that_is_told_by_its_content():
    assert {load(path).format for path in EXAMPLES} == set(FORMATS)


@EVERY
def test_validate_convert_uq_and_report_take_it_and_what_it_was_converted_to(
    log, tmp_path, capsys
):
    runs = tmp_path / "runs.jsonl"
    assert main(["validate", str(log)]) == (1 if load(log).unread else 0)
    assert main(["convert", str(log), "--out", str(runs)]) == 0
    assert main(["validate", str(runs)]) == 0
    here, there = load(log).runs, load(runs).runs
    assert [run.trajectory for run in there] == [run.trajectory for run in here]
    for name in ("success", "reward", "task_id", "trial", "model", "steps_failed", "usage"):
        assert [getattr(run, name) for run in there] == [getattr(run, name) for run in here], name
    scores, page = {}, tmp_path / "page.html"
    for path in (log, runs):
        out = tmp_path / f"{path.name}.csv"
        assert main(["uq", "--traces", str(path), "--out", str(out)]) == 0
        scores[path] = out.read_bytes()
        assert main(["report", str(path), "--out", str(page)]) == 0
        assert page.read_text("utf-8").count("<details") >= len(here)
    assert scores[log] == scores[runs] and scores[log].count(b"\n") > len(here)
    capsys.readouterr()
