"""The light environment, in place: Python without the packages that only the full one has."""

from __future__ import annotations

import os
import re
from importlib.metadata import packages_distributions
from pathlib import Path

from built import ROOT

BLOCKER = """\
import sys

class Blocked:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in {names!r}:
            raise ModuleNotFoundError(f"{{name}} is not in the light environment", name=name)

sys.meta_path.insert(0, Blocked)
"""


def plain(name: str) -> str:
    """A package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(name: str) -> dict[str, str]:
    """The lines of a requirements file that pin a package, by its name."""
    lines = (ROOT / name).read_text("utf-8").splitlines()
    return {plain(line.partition("==")[0]): line for line in lines if re.match(r"[\w.-]+==", line)}


def without_heavy(folder: Path) -> dict[str, str]:
    """Environment variables for a Python that has this checkout and the light packages only."""
    heavy = set(pins("requirements.txt")) - set(pins("requirements-light.txt"))
    names = {name for name, owners in packages_distributions().items()
             if {plain(owner) for owner in owners} <= heavy}
    (folder / "sitecustomize.py").write_text(BLOCKER.format(names=names), "utf-8")
    return {"PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])}
