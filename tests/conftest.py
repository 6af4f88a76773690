"""Fixtures that several test modules use."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples on every run and no time limit an overloaded machine could miss.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference material beside the repository, which the product never needs."""
    folder = Path(__file__).resolve().parents[1].parent / "shared"
    if not folder.is_dir():
        reason = f"no reference material at {folder}"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    return folder


@pytest.fixture(scope="module")
def browser():
    """The system's Chromium."""
    found = shutil.which("chromium")
    if found is None:
        text = "no chromium on this machine (Debian: apt-get install chromium)"
        pytest.fail(text) if os.environ.get("CI") else pytest.skip(text)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        instance = playwright.chromium.launch(executable_path=found, args=[
            "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
            "--disable-background-networking", "--disable-component-update",
            "--disable-dev-shm-usage"])
        yield instance
        instance.close()


@pytest.fixture(scope="module")
def origin(browser):
    """The address of the real book's pages."""
    from built import real_book
    from test_browser import served

    with served(real_book()) as address:
        yield address
