"""The landing page's game: ten cases of the testbed, and the judges' rates to stand beside.

Decision: the page carries every case with its answer, as a reader without
scripts sees it, and every interval that the reader's own counts can have;
``play.js`` only hides, counts and looks up. Refusal: no case, verdict or
number is typed by hand, and nothing is sent anywhere.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from jinja2 import Environment, FileSystemLoader
from picture import rates
from sphinx.util.docutils import SphinxDirective

from tjlib import tables
from tjlib.charts import judging
from tjlib.charts.show import show
from tjlib.desk import testbed
from tjlib.judges.procedure import DESK
from tjlib.measure.resample import clopper_pearson

if TYPE_CHECKING:
    from sphinx.application import Sphinx

    from tjlib.trace import Label, Trajectory

__all__ = ["KINDS", "cases", "kind", "own_rates", "page", "setup"]

#: What the ten are, as (fault type, whether the outcome is correct): each type at least once.
WANTED = (
    ("wrong_tool", True), ("hallucinated_argument", True), ("skipped_precondition", True),
    ("unsupported_claim", True),
    ("ignored_observation", False), ("premature_stop", False), ("skipped_precondition", False),
    (None, True), (None, True), (None, True),
)
#: The kinds of case each of a chart's rates is a share of.
KINDS = {"silent": ("silent",), "loud": ("loud",), "false alarm": ("clean",),
         "pooled": ("silent", "loud")}


def kind(label: Label) -> str:
    """Name the role of a case: clean, silent or loud."""
    return "clean" if not label.faulty else "silent" if label.outcome_correct else "loud"


def cases(seed: int = 7) -> list[tuple[Trajectory, Label]]:
    """Draw ten runs of the judged set, one of each of `WANTED`, no two of the same case.

    Parameters
    ----------
    seed : int
        Of the judged set, the draw, and the order, in which a place tells nothing.

    Returns
    -------
    list of (Trajectory, Label)
    """
    rng = random.Random(f"play-{seed}")
    runs = list(zip(*testbed.judged_set(seed), strict=True))
    rng.shuffle(runs)
    wanted, seen, found = list(WANTED), set(), []
    for trajectory, label in runs:
        what = (label.failure_type, label.outcome_correct)
        marks = {label.instance_id, (what, label.stratum)}  # nor two clean ones of one stratum
        if what in wanted and not marks & seen:
            wanted.remove(what)
            seen |= marks
            found.append((trajectory, label))
    rng.shuffle(found)
    return found


def own_rates(sizes: dict[str, int]) -> dict[str, dict]:
    """Work out every share a reader can come to, with its exact interval.

    Parameters
    ----------
    sizes : dict of kind -> int
        How many cases there are of each kind.

    Returns
    -------
    dict of rate -> dict
        ``of``, the kinds it is a share of, and ``rows``, one for each count
        flagged from none to all: value, lo, hi and shown, as a chart takes them.
    """
    out = {}
    for what, of in KINDS.items():
        n, rows = sum(sizes[one] for one in of), []
        for k in range(n + 1):
            lo, hi = clopper_pearson(k, n)
            row = {"value": k / n, "lo": lo, "hi": hi}
            shown = f"{k} of {n}: {tables.estimate(row | {'how': 'exact binomial'}, 2)}"
            rows.append(row | {"shown": shown})
        out[what] = {"of": of, "rows": rows}
    return out


def page(seed: int = 7) -> str:
    """Write the game as HTML: the cases, the chart and table of the judges, the data to play on."""
    drawn, judges = cases(seed), rates()
    kinds = [kind(label) for _, label in drawn]
    chart = show(judging.dumbbell(judges), name="play",
                 alt="Silent and loud recall, false alarms and pooled recall of the five published "
                     "judges, with intervals; the numbers are in the table beside the chart.")
    meaning = {fault.name: fault.definition for fault in DESK.taxonomy}
    known = own_rates({one: kinds.count(one) for one in dict.fromkeys(kinds)})
    table = judges.pivot_table(
        index="judge", columns="what", values="shown", aggfunc="first", sort=False)
    here = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True,
                       trim_blocks=True, lstrip_blocks=True)
    return here.get_template("game.html").render(
        cases=[_case(*pair, meaning) for pair in drawn], points=DESK.points, chart=chart.html,
        known=json.dumps(known).replace("<", "\\u003c"), table=table[list(KINDS)],
        counts={one: kinds.count(one) for one in ("silent", "loud", "clean")})


def _case(trajectory: Trajectory, label: Label, meaning: dict[str, str]) -> dict:
    steps = [
        {"thought": step.thought, "fault": index == label.failure_step, "calls": [
            (f"{call.tool}({', '.join(f'{k}={v}' for k, v in call.args.items())})",
             seen.error or ", ".join(f"{k}: {v}" for k, v in seen.data.items()))
            for call, seen in zip(step.calls, step.observations, strict=True)]}
        for index, step in enumerate(trajectory.steps)]
    return {"kind": kind(label), "goal": trajectory.goal, "reply": trajectory.final_answer,
            "type": label.failure_type, "meaning": meaning.get(label.failure_type),
            "step": label.failure_step, "right": label.outcome_correct, "steps": steps}


class Game(SphinxDirective):
    """``{outcome-game}``: the game, where the directive stands."""

    def run(self) -> list[nodes.Node]:
        """Put the game's HTML on the page."""
        return [nodes.raw("", page(), format="html")]


def add_script(app: Sphinx, page: str, template: str, context: dict, doctree: object) -> None:
    """Load the script before the charts', which draw what it leaves to be seen."""
    if 'class="tj-game"' in context.get("body", ""):
        app.add_js_file("play.js", loading_method="defer", priority=590)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("outcome-game", Game)
    app.connect("html-page-context", add_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
