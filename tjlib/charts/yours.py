"""Figures of the chapter on the reader's own log, one function a figure.

Decision: a box is a step, darker for a higher risk, and a run's outcome stands
apart from its risk, told by colour and by words; whether the log shows an error
is a shape. Refusal: nothing is computed or read here, and text of a log is only
ever a label's or a tooltip's value.
"""

from __future__ import annotations

import altair as alt
import pandas as pd

from tjlib.charts.parts import tips
from tjlib.charts.theme import HEAT, ROLE

__all__ = ["course", "ranking"]

_OUTCOMES = {"succeeded": ROLE["clean"], "failed": ROLE["loud"], "not judged": "transparent"}
_SEEN = {"an error in the log": "triangle-up", "no error in the log": "circle"}


def ranking(boxes: pd.DataFrame) -> alt.HConcatChart:
    """Draw runs, riskiest first: the risk of each step, and beside it the run's score.

    Parameters
    ----------
    boxes : DataFrame
        As `tjlib.yourlog.boxes`.

    Returns
    -------
    altair.HConcatChart
    """
    order = list(dict.fromkeys(boxes["run"]))
    rows = {"sort": order, "title": None, "scale": alt.Scale(paddingInner=0.2)}
    size = {"height": alt.Step(28)}
    top = max(float(boxes["R"].max()), 1e-9)
    base = alt.Chart(boxes).encode(
        x=alt.X("box:O", title="steps, from first to last", axis=alt.Axis(
            labels=False, ticks=False, domain=False)),
        y=alt.Y("run:N", axis=alt.Axis(domain=False, ticks=False, labelLimit=170), **rows))
    cells = base.mark_rect(aria=False).encode(
        color=alt.Color("R:Q", title="risk R of a step", scale=alt.Scale(
            domain=[0, top], range=list(HEAT["range"]), interpolate="rgb")),
        tooltip=tips(run="run", first=("from step", "d"), last=("to step", "d"),
                     step=("riskiest", "d"), R=("its R", ".3f"), text="says and calls"))
    runs = boxes.drop_duplicates("run")[["run", "score", "outcome", "errors", "seen"]]
    dots = alt.Chart(runs[runs["score"].notna()]).mark_point(
        style="published", size=150, aria=False).encode(
        x=alt.X("score:Q", title="score of the run", scale=alt.Scale(zero=True)),
        y=alt.Y("run:N", axis=alt.Axis(labels=False, ticks=False, grid=True), **rows),
        fill=alt.Fill("outcome:N", title="outcome", scale=alt.Scale(
            domain=list(_OUTCOMES), range=list(_OUTCOMES.values())),
            legend=alt.Legend(columns=3)),
        shape=alt.Shape("seen:N", title=None, scale=alt.Scale(
            domain=list(_SEEN), range=list(_SEEN.values())), legend=alt.Legend(columns=2)),
        tooltip=tips(run="run", score=("score", ".3f"), outcome="outcome",
                     errors=("errors in the log", "d")))
    left = cells.properties(width=310, **size)
    return alt.hconcat(left, dots.properties(width=210, **size)).resolve_scale(
        y="shared", color="independent", fill="independent", shape="independent")


def course(points: pd.DataFrame) -> alt.LayerChart:
    """Draw the risk of one run along its steps, and the steps that judges flag.

    Parameters
    ----------
    points : DataFrame
        As `tjlib.yourlog.courses`.

    Returns
    -------
    altair.LayerChart
    """
    base = alt.Chart(points).encode(
        x=alt.X("step:Q", title="step", axis=alt.Axis(tickMinStep=1, format="d")),
        y=alt.Y("R:Q", title="risk R (higher: likelier to fail)"),
        tooltip=tips(step=("step", "d"), R=("R", ".3f"), flagged="flagged by"))
    line = base.mark_line(aria=False, point=len(points) <= 40)
    peak = base.transform_filter("datum.mark").mark_text(dy=-14, aria=False).encode(text="mark:N")
    flags = base.transform_filter("datum.flagged").mark_point(
        style="published", shape="diamond", size=260, filled=False, aria=False)
    words = base.transform_filter("datum.flagged").mark_text(dy=22, aria=False).encode(
        text="flagged:N")
    return (line + peak + flags + words).properties(height=220)
