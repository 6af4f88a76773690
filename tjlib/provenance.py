"""What made a set of verdicts or episodes: the run record, and one sentence of it.

Decision: model, digest, options and prompt stand in a file beside what they
made, so a figure can say where its numbers come from. Refusal: nothing is
taken on trust from a file's name.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

__all__ = ["Run", "origin", "run_file"]


class Run(msgspec.Struct, frozen=True):
    """What made a set of verdicts or episodes; ``run_id`` is a hash of what decides them.

    Those are judge, model, digest, options and prompt: a run resumed under
    another version of server or library keeps its id and gets a second line.
    """

    run_id: str
    judge: str
    provider: str
    model: str
    digest: str | None
    server: str
    order: str
    options: dict[str, Any]
    prompt_hash: str
    tjlib: str
    date: str


def run_file(out: str | Path) -> Path:
    """Name the file of run records beside a file of verdicts or episodes."""
    return Path(out).with_name("runs.jsonl")


def origin(runs: Iterable[Run]) -> str:
    """Say which models ran and when, for under a figure.

    Parameters
    ----------
    runs : iterable of Run

    Returns
    -------
    str
        Each model once, with the start of its digest and the days of its
        runs; empty for no runs.

    Examples
    --------
    >>> run = Run("r-1", "outcome:m", "local", "m", "ab" * 32, "llama", "paper", {}, "h", "0.1.0",
    ...           "2026-11-30T13:41:01+00:00")
    >>> origin([run])
    'm (local, digest abababababab), 2026-11-30'
    """
    days: dict[str, set[str]] = {}
    for run in runs:
        digest = f"digest {run.digest[:12]}" if run.digest else "no digest"
        days.setdefault(f"{run.model} ({run.provider}, {digest})", set()).add(run.date[:10])
    return "; ".join(f"{model}, {' and '.join(sorted(on))}" for model, on in days.items())
