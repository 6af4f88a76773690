"""A log's runs, ranked by risk, as one HTML page that stands alone.

Decision: one template writes all markup and escapes what it is given, and the
page's own policy lets a browser use nothing but the styles and the few lines
of script (which sort the table) that this package holds, by their digests.
Refusal: nothing of a log becomes markup, a link or a name in the page, and
the same log gives the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import pandas as pd

from tjlib import __version__, scoring
from tjlib.charts.theme import SCHEMES
from tjlib.containers import place, within
from tjlib.formats.imported import Imported
from tjlib.formats.registry import Log
from tjlib.runpage import lines, summary
from tjlib.runpage.opened import NOTES, Opened, Row, opened, propagated, row
from tjlib.runpage.texts import plain, short
from tjlib.trace import InputError, Verdict
from tjlib.uncertainty.parameters import Parameters
from tjlib.uncertainty.similarity import Similarity

__all__ = ["ROWS", "TOP", "Page", "page"]

#: Runs that open in full unless told otherwise; rows of the table; lines of what was not read.
TOP, ROWS, _UNREAD = 20, 2_000, 200
_MOST_TOOLS = 25


class Page(NamedTuple):
    """The HTML, and what it holds: runs, rows of the table, runs that open, the method used."""

    html: str
    runs: int
    rows: int
    opened: int
    method: str


def page(
    log: Log, name: str, *, method: str = "", similarity: Similarity,
    verdicts: Sequence[Verdict] = (), top: int = TOP,
    progress: Callable[..., Iterable] | None = None,
) -> Page:
    """Write a log's runs as one page.

    Parameters
    ----------
    log : Log
    name : str
        What the log is called on the page; a path's last part is all that is shown.
    method : str
        Of `tjlib.uncertainty.methods`, or empty; `summary.method` says what then ranks.
    similarity : Similarity
    verdicts : sequence of Verdict
        On these runs.
    top : int
        Runs that open in full, the riskiest first.
    progress : callable, optional
        Wraps what is under way, as ``tqdm`` does.

    Returns
    -------
    Page

    Raises
    ------
    InputError
        If the method is unknown or Jinja is not installed.
    """
    environment = _environment()
    names = list(dict.fromkeys((method or "rupa", summary.FALLBACK, "n_steps")))
    found = scoring.scores(log.runs, names, similarity=similarity, progress=progress)
    used, because = summary.method(found, method)
    scores = {name: (value, why) for name, value, why in found.loc[
        found["method"] == used, ["trajectory_id", "value", "why"]].itertuples(index=False)}
    said: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        said.setdefault(verdict.trajectory_id, []).append(verdict)
    ranked = summary.ranked(log.runs, found, used)[:ROWS]
    rows = [row(run, propagated(run, used, similarity), scores[run.trajectory.trajectory_id],
                said.get(run.trajectory.trajectory_id, [])) for run in (progress or iter)(ranked)]
    highest = max((float(r.risks.max()) for r in rows if len(r.risks)), default=0.0)

    def opens(of: Row) -> Opened:
        return opened(of, propagated(of.run, used, similarity), highest)

    html = environment.get_template("report.html.j2").render(
        name=Path(name).name, style=_own(environment, "report.css.j2", schemes=SCHEMES, grid=lines),
        script=_own(environment, "report.js"), version=__version__, rows=rows,
        top=min(top, len(rows)), opens=opens, highest=highest, grid=lines,
        parameters=Parameters(), similarity=similarity.name,
        because=because, **_about(log, Path(name), found, used, verdicts))
    return Page(html, len(log.runs), len(rows), min(top, len(rows)), used)


def _where(path: Path, run: Imported) -> str:
    """Say where in the log a run is."""
    return within(path, place(path, run.source, run.line))


def _about(log: Log, path: Path, found: pd.DataFrame, used: str,
           verdicts: Sequence[Verdict]) -> dict[str, Any]:
    runs = log.runs
    lengths = sorted(len(run.trajectory.steps) for run in runs)
    notes = [(_where(path, run), run.trajectory.trajectory_id, note)
             for run in runs for note in run.notes]
    unread = [within(path, line) for line in log.unread]
    passed = [within(path, line) for line in log.passed]
    n_without = int(found.loc[found["method"] == used, "value"].isna().sum())
    tools, quality = summary.tools(runs), summary.ranking(found, used)
    return {
        "log": log, "lengths": lengths, "median": median(lengths),
        "tools": tools[:_MOST_TOOLS], "n_tools": len(tools),
        "calls": sum(tool.calls for tool in tools), "errors": sum(tool.errors for tool in tools),
        "models": sorted({run.model for run in runs if run.model}),
        "n_tasks": len({run.task_id for run in runs}), "success": summary.outcomes(runs),
        "used": used, "n_without": n_without,
        "sources": summary.sources(found), "quality": quality, "remarks": list(dict.fromkeys(
            f"{title}: {cell['note']}" for of in quality for title, cell in of["cells"].items()
            if cell["note"])),
        "judges": summary.judges(runs, verdicts), "unread": unread[:_UNREAD],
        "n_unread": len(unread), "passed": passed[:_UNREAD], "n_passed": len(passed),
        "where": partial(_where, path),
        "notes": notes[:_UNREAD], "n_notes": len(notes),
        "n_noted": len({run for _, run, _ in notes}), "most_notes": NOTES,
    }


@cache
def _environment() -> Any:
    """Make the templates' environment: whatever text is put into one is plain, and escaped."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup
    except ImportError:
        raise InputError("a report needs Jinja; pip install jinja2") from None

    def text(value: Any) -> Any:
        markup = isinstance(value, Markup) or not isinstance(value, str)
        return value if markup else plain(value)

    environment = Environment(
        loader=PackageLoader("tjlib.runpage", "."), autoescape=True, trim_blocks=True,
        lstrip_blocks=True, undefined=StrictUndefined, finalize=text)
    environment.filters["short"] = short
    return environment


def _own(environment: Any, template: str, **values: Any) -> tuple[Any, str]:
    """Give a text of this package as it stands in the page, and its digest for the policy."""
    from markupsafe import Markup

    text = environment.get_template(template).render(**values).strip()
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()
    return Markup(text), f"'sha256-{digest}'"
