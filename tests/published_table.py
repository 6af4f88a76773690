"""The paper's verdicts as tables, built once: the published patterns, and the released files."""

from functools import cache
from pathlib import Path

from tjlib import store
from tjlib.measure.table import VerdictTable, table

OUTCOME, STEP = "outcome:qwen2.5:14b", "step:qwen2.5:14b"
SMALL, ENSEMBLE = "step:llama3.1:8b", "selfcons3:qwen2.5:14b"

published = store.published


@cache
def published_table() -> VerdictTable:
    source = store.load("published")
    return table(source.labels, source.verdicts, source.cost)


@cache
def released_table(folder: Path) -> tuple[VerdictTable, dict[str, str]]:
    """Join the released verdicts to their labels; return the final answers beside them."""
    release = store.released(folder)
    replies = {t.trajectory_id: t.final_answer for t in release.trajectories}
    return table(release.labels, release.verdicts), replies
