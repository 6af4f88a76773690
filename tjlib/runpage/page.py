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
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from tjlib import __version__, scoring
from tjlib.charts.theme import SCHEMES
from tjlib.formats.registry import Log
from tjlib.runpage import lines, summary
from tjlib.runpage.opened import NOTES, Opened, Row, opened, propagated, row
from tjlib.runpage.texts import plain
from tjlib.trace import InputError, Verdict
from tjlib.uncertainty.parameters import Parameters
from tjlib.uncertainty.similarity import Similarity

__all__ = ["FALLBACK", "ROWS", "TOP", "Page", "page"]

#: Runs that open in full unless told otherwise; rows of the table; lines of what was not read.
TOP, ROWS, _UNREAD = 20, 2_000, 200
#: Ranks a log for which the method asked for has no score at all.
FALLBACK = "rupa_structural"
_MOST_TOOLS = 25


class Page(NamedTuple):
    """The HTML, and what it holds: runs, rows of the table, runs that open, the method used."""

    html: str
    runs: int
    rows: int
    opened: int
    method: str


def page(
    log: Log, name: str, *, method: str = "rupa", similarity: Similarity,
    verdicts: Sequence[Verdict] = (), top: int = TOP,
    progress: Callable[[Iterable], Iterable] = iter,
) -> Page:
    """Write a log's runs as one page.

    Parameters
    ----------
    log : Log
    name : str
        What the log is called on the page; a path's last part is all that is shown.
    method : str
        Of `tjlib.uncertainty.methods`; where it scores no run at all, `FALLBACK`
        ranks, and the page says so.
    similarity : Similarity
    verdicts : sequence of Verdict
        On these runs.
    top : int
        Runs that open in full, the riskiest first.
    progress : callable
        Wraps the runs, as tqdm does.

    Returns
    -------
    Page

    Raises
    ------
    InputError
        If the method is unknown or Jinja is not installed.
    """
    environment = _environment()
    names = list(dict.fromkeys((method, FALLBACK, "n_steps")))
    found = scoring.scores(log.runs, names, similarity=similarity, progress=progress)
    used = method if found.loc[found["method"] == method, "value"].notna().any() else FALLBACK
    scores = {name: (value, why) for name, value, why in found.loc[
        found["method"] == used, ["trajectory_id", "value", "why"]].itertuples(index=False)}
    said: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        said.setdefault(verdict.trajectory_id, []).append(verdict)
    # Stable: equals stay in the order of the log, runs without a score come last.
    ranked = sorted(log.runs, key=lambda run: -_or_last(
        scores[run.trajectory.trajectory_id][0]))[:ROWS]
    rows = [row(run, propagated(run, used, similarity), scores[run.trajectory.trajectory_id],
                said.get(run.trajectory.trajectory_id, [])) for run in progress(ranked)]
    highest = max((float(r.risks.max()) for r in rows if len(r.risks)), default=0.0)

    def opens(of: Row) -> Opened:
        return opened(of, propagated(of.run, used, similarity), highest)

    html = environment.get_template("report.html.j2").render(
        name=Path(name).name, style=_own(environment, "report.css.j2", schemes=SCHEMES, grid=lines),
        script=_own(environment, "report.js"), version=__version__, rows=rows,
        top=min(top, len(rows)), opens=opens, highest=highest, grid=lines,
        parameters=Parameters(), similarity=similarity.name,
        **_about(log, Path(name), found, method, used, verdicts))
    return Page(html, len(log.runs), len(rows), min(top, len(rows)), used)


def _or_last(value: float | None) -> float:
    return float("-inf") if value is None else value


def _about(log: Log, path: Path, found: pd.DataFrame, method: str, used: str,
           verdicts: Sequence[Verdict]) -> dict[str, Any]:
    runs = log.runs
    lengths = sorted(len(run.trajectory.steps) for run in runs)
    notes = [(run.line, run.trajectory.trajectory_id, note) for run in runs for note in run.notes]
    unread = [line.removeprefix(f"{path}:") for line in log.unread]
    why = found.loc[(found["method"] == method) & found["value"].isna(), "why"]
    tools = summary.tools(runs)
    return {
        "log": log, "lengths": lengths, "tools": tools[:_MOST_TOOLS], "n_tools": len(tools),
        "calls": sum(tool.calls for tool in tools), "errors": sum(tool.errors for tool in tools),
        "models": sorted({run.model for run in runs if run.model}),
        "n_tasks": len({run.task_id for run in runs}), "success": summary.outcomes(runs),
        "method": method, "used": used, "why_not": next(iter(why), ""), "n_without": len(why),
        "sources": summary.sources(found), "quality": summary.ranking(found, used),
        "judges": summary.judges(runs, verdicts), "unread": unread[:_UNREAD],
        "n_unread": len(unread), "notes": notes[:_UNREAD], "n_notes": len(notes),
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

    return Environment(
        loader=PackageLoader("tjlib.runpage", "."), autoescape=True, trim_blocks=True,
        lstrip_blocks=True, undefined=StrictUndefined, finalize=text)


def _own(environment: Any, template: str, **values: Any) -> tuple[Any, str]:
    """Give a text of this package as it stands in the page, and its digest for the policy."""
    from markupsafe import Markup

    text = environment.get_template(template).render(**values).strip()
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()
    return Markup(text), f"'sha256-{digest}'"
