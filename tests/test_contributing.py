"""What CONTRIBUTING.md shows works as it stands, typed into a copy of the project."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import nbformat
import pytest
from built import ROOT

from tjlib import store
from tjlib.trace import FAULT_TYPES, Label, Verdict

TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
PARTS = dict(re.findall(r"<!-- (\w[\w ]*) -->\n(.*?)(?=<!-- )", TEXT, re.DOTALL))
SIX = ["fault type", "rule", "judge", "method", "format", "chapter"]

_PLACED = re.compile(r"\*\*`([^`]+)`, (new|at the end|above (`+) ?(.+?) ?\3):\*\*\n\n"
                     r"```\w+\n(.*?)```\n", re.DOTALL)
_FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# Both run with the copy's code, as `make sync` and .venv/bin/tjlib would there.
_COMMANDS = {"make sync": ["book/_ext/pairs.py", "notebooks"], "tjlib": ["-m", "tjlib"]}


class Block(NamedTuple):
    """A block of the page: its file, the line it goes above (of a file that is there), its text."""

    file: str
    place: str
    mark: str
    text: str


def blocks(part: str) -> list[Block]:
    return [Block(file, place.partition(" `")[0], mark, text)
            for file, place, _, mark, text in _PLACED.findall(PARTS[part])]


def commands(part: str) -> list[str]:
    """The lines of a section that are typed: those of its blocks of no language."""
    return [line for language, text in _FENCED.findall(PARTS[part]) if not language
            for line in text.splitlines()]


def put(folder: Path, block: Block) -> None:
    """Do what the line above a block says."""
    path = folder / block.file
    if block.place == "new":
        assert not path.exists(), block.file
        path.write_text(block.text, "utf-8")
        return
    lines = path.read_text("utf-8").splitlines(keepends=True)
    if block.place == "at the end":
        lines += ["\n\n", block.text]
    else:
        at = next(i for i, line in enumerate(lines) if block.mark in line)
        lines.insert(at, block.text)
    path.write_text("".join(lines), "utf-8")


def run(folder: Path, *args: str) -> str:
    """Run the copy's Python there, and give what it says; it must succeed."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]),
           "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, *args], cwd=folder, env=env, encoding="utf-8",
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert done.returncode == 0, done.stdout
    return done.stdout


def typed(folder: Path, part: str) -> str:
    """Run the commands of a section."""
    said = ""
    for line in commands(part):
        start = next(start for start in _COMMANDS if line.startswith(start))
        said += run(folder, *_COMMANDS[start], *shlex.split(line.removeprefix(start)))
    return said


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A copy of the project with every example put in, in order, and what each section printed."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("tjlib", "tests", "book", "notebooks"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("_toc.yml", "pyproject.toml", "CONTRIBUTING.md"):
        shutil.copy(ROOT / name, folder)
    (folder / "data").symlink_to(ROOT / "data")
    said = {}
    for part in SIX:
        for block in blocks(part):
            put(folder, block)
        said[part] = typed(folder, part)
    return folder, said


def flagged(folder: Path, judge: str) -> Counter:
    """Count a judge's flags by the type of the label."""
    labels = {x.trajectory_id: x for x in store.read(folder / "labels.jsonl", Label)}
    return Counter(labels[v.trajectory_id].failure_type
                   for v in store.read(folder / "verdicts.jsonl", Verdict)
                   if v.judge == judge and v.faulty)


def test_the_page_shows_the_six_and_every_block_says_where_it_goes():
    assert list(PARTS) == SIX
    for part in SIX:
        shown = [language for language, _ in _FENCED.findall(PARTS[part]) if language]
        assert len(blocks(part)) == len(shown) >= 1 <= len(commands(part))


def test_the_fault_type_is_injected_into_fifty_runs_all_silent_and_no_rule_flags_one(done):
    folder, said = done
    labels = list(store.read(folder / "bed" / "labels.jsonl", Label))
    assert Counter((x.failure_type, x.failure_step, x.outcome_correct) for x in labels) == {
        (None, None, True): 100, ("unverified_customer", 0, True): 50}
    assert flagged(folder / "bed", "rules") == {}
    head, row = re.search(r"^(recall by type .*)\n(rules .*)$", said["fault type"], re.M).groups()
    assert head.split()[-1] == "unverified_customer" and row.split()[-3:] == [
        "0.000", "[0.000,", "0.071]"]  # Clopper-Pearson of 0 / 50: 1 - .025 ** (1 / 50)


def test_the_rule_then_flags_all_fifty_at_the_right_step_and_no_clean_run(done):
    folder, _ = done
    assert flagged(folder / "bed", "more-rules") == {"unverified_customer": 50}
    assert flagged(folder / "bed", "rules") == {}
    found = [v for v in store.read(folder / "bed" / "verdicts.jsonl", Verdict) if v.faulty]
    assert {(v.failure_step, v.failure_type) for v in found} == {(0, "unverified_customer")}
    assert "rule 9: lookup_order before the customer was looked up" in found[0].rationale


def test_the_judge_flags_the_invented_arguments_and_is_on_record_with_its_source(done):
    folder, _ = done
    assert flagged(folder / "six", "failed-call") == {"hallucinated_argument": 50}
    record = json.loads((folder / "six" / "runs.jsonl").read_text("utf-8"))
    assert record["judge"] == "failed-call" and len(record["prompt_hash"]) == 16
    assert "failed-call: whether a call failed" in " ".join(
        run(folder, "-m", "tjlib", "judge", "--help").split())


def test_the_method_scores_a_call_made_twice_in_a_row_and_nothing_else(done):
    folder, _ = done
    labels = {x.trajectory_id: x.failure_type
              for x in store.read(folder / "six" / "labels.jsonl", Label)}
    lines = (folder / "six" / "scores.csv").read_text("utf-8").splitlines()
    head, *rows = [line.split(",") for line in lines]
    name, value = head.index("trajectory_id"), head.index("value")
    assert {(labels[row[name]] == "wrong_tool", float(row[value])) for row in rows} == {
        (True, 0.2), (False, 0.0)}
    assert len(rows) == 400


def test_the_format_is_told_by_content(done):
    assert done[1]["format"].startswith("runs: 1 (tickets), steps: 1, calls: 1, observations: 1; "
                                        "with an outcome: 1, of them good: 1,")


def test_the_chapter_runs_with_another_seed_and_its_prose_holds_its_number(done):
    folder, _ = done
    page = nbformat.read(folder / "rerun" / "x1_length.ipynb", as_version=4)
    shown = [output for cell in page.cells for output in cell.get("outputs", [])]
    assert "'6'" in str(shown) and "seed = 8" in str([cell.source for cell in page.cells])


def test_with_all_examples_in_the_default_testbed_keeps_its_bytes(done):
    folder, _ = done
    run(ROOT, "-m", "tjlib", "testbed", "--out", str(folder / "plain"))
    for name in ("trajectories.jsonl", "labels.jsonl"):
        here, there = (hashlib.sha256((folder / bed / name).read_bytes()).hexdigest()
                       for bed in ("plain", "six"))
        assert here == there
    assert "unverified" not in run(folder, "-m", "tjlib", "score", "published", "--draws", "100")
    kinds = {x.failure_type for x in store.read(folder / "six" / "labels.jsonl", Label)}
    assert kinds == {None, *FAULT_TYPES}


def test_a_judge_that_reads_is_told_of_the_type_when_it_is_named(done):
    code = ("from tjlib.judges.procedure import DESK, desk\n"
            "print('unverified_customer' in DESK.labels, desk(['unverified_customer']).labels)")
    told = run(done[0], "-c", code)
    assert told.startswith("False - unverified_customer: acted on an order without verifying who")


def test_the_examples_pass_what_the_page_says_the_tests_ask(done):
    folder, _ = done
    run(folder, "-m", "ruff", "check", "--no-cache")
    named = " or ".join((
        "unverified_customer", "tickets", "x1_length", "same_tool", "papers_six", "a_rule_flags",
        *(f"tjlib.{name}]" for name in ("desk.faults", "desk.morerules", "judges.plain",
                                       "uncertainty.controls", "uncertainty.methods")),
        "every_judge", "every_uncertainty", "page_of_formats_names"))
    said = run(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k",
               f"({named}) and not from_any_folder",
               "tests/test_architecture.py", "tests/test_faults.py", "tests/test_morerules.py",
               "tests/test_baselines.py", "tests/test_reference.py", "tests/test_formats.py",
               "tests/test_notebooks.py")
    assert re.search(r"^\d+ passed, \d+ deselected", said, re.MULTILINE), said  # none skipped
