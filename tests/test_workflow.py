"""The workflow that publishes the book: what it runs, and what its script publishes."""

from __future__ import annotations

import os
import re
import subprocess

import pytest
import yaml
from built import ROOT
from launch import PAGES

TEXT = (ROOT / ".github" / "workflows" / "book.yml").read_text("utf-8")
STEPS = yaml.safe_load(TEXT)["jobs"]["publish"]["steps"]


def test_it_builds_by_make_with_actions_of_a_fixed_major_and_asks_for_no_secret():
    assert {"run": "make book"} in STEPS
    used = [step["uses"] for step in STEPS if "uses" in step]
    assert used and all(re.fullmatch(r"actions/[\w-]+@v\d+", name) for name in used)
    assert "secrets" not in TEXT and "token" not in TEXT.lower()


@pytest.fixture
def git(tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "a")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "a@b.c")

    def run(*words, at=tmp_path / "copy"):
        return subprocess.run(["git", *words], cwd=at, check=True, capture_output=True,
                              text=True).stdout

    run("init", "-q", "--bare", "remote", at=tmp_path)
    run("init", "-q", "-b", "main", "copy", at=tmp_path)
    run("remote", "add", "origin", str(tmp_path / "remote"))
    return run


def test_its_script_publishes_the_built_pages_and_nothing_else_each_time(git, tmp_path):
    copy, script = tmp_path / "copy", STEPS[-1]["run"]
    (copy / ".gitignore").write_text("_build/\n__pycache__/\n", "utf-8")
    (copy / "code.py").write_text("1", "utf-8")
    git("add", "--all")
    git("commit", "-qm", "one")
    for page in ("first", "second"):
        html = copy / "_build" / "html"
        (html / "_sources").mkdir(parents=True, exist_ok=True)
        (html / "index.html").write_text(page, "utf-8")
        (html / "_sources" / f"{page}.ipynb").write_text("{}", "utf-8")
        subprocess.run(["bash", "-e", "-c", script], cwd=copy, check=True,
                       env={**os.environ, "GITHUB_SHA": page})
        remote = tmp_path / "remote"
        listed = git("ls-tree", "-r", "--name-only", PAGES, at=remote).split()
        assert listed == [".nojekyll", f"_sources/{page}.ipynb", "index.html"]
        assert git("show", f"{PAGES}:index.html", at=remote) == page
        assert git("log", "--format=%s", PAGES, at=remote) == f"Publish the book of {page}\n"
        git("checkout", "--quiet", "--force", "main")  # a runner starts from a checkout
        git("branch", "--quiet", "-D", PAGES)
        (html / "_sources" / f"{page}.ipynb").unlink()
