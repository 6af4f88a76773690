"""Figures of the chapter on the reader's own log, one function a figure.

Decision: a box is a step, darker for a higher risk, a cross in it an error
that came back, and the outcome stands in front of the run, told by a dot's
fill and in the tooltip by words. Refusal: nothing is computed or read here,
and text of a log is only ever a label's or a tooltip's value.
"""

from __future__ import annotations

import altair as alt
import pandas as pd

from tjlib.charts.parts import tips
from tjlib.charts.theme import HEAT, ROLE

__all__ = ["course", "ranking"]

_OUTCOMES = {"succeeded": ROLE["clean"], "failed": ROLE["loud"], "not judged": "transparent"}


def ranking(boxes: pd.DataFrame) -> alt.LayerChart:
    """Draw runs, riskiest first: the outcome, the risk of each step, the score.

    Parameters
    ----------
    boxes : DataFrame
        As `tjlib.studies.yourlog.boxes`.

    Returns
    -------
    altair.LayerChart
    """
    y = alt.Y("run:N", sort=list(dict.fromkeys(boxes["run"])), title=None,
              scale=alt.Scale(paddingInner=0.2),
              axis=alt.Axis(domain=False, ticks=False, labelLimit=150))
    top = max(float(boxes["R"].max()), 1e-9) if len(boxes) else 1.0
    last = float(boxes["box"].max()) if len(boxes) else 1.0
    x = alt.X("from:Q", title="steps, from first to last", axis=alt.Axis(
        labels=False, ticks=False, domain=False, grid=False), scale=alt.Scale(
        domain=[-0.08 * last, 1.15 * last], nice=False))
    base = alt.Chart(boxes).encode(y=y)
    cells = base.mark_rect(stroke="white", strokeWidth=0.7, aria=False).encode(
        x=x, x2="box:Q",
        color=alt.Color("R:Q", title="risk R of a step", scale=alt.Scale(
            domain=[0, top], range=list(HEAT["range"]), interpolate="rgb"),
            legend=alt.Legend(gradientLength=110)),
        tooltip=tips(run="run", first=("from step", "d"), last=("to step", "d"),
                     step=("riskiest", "d"), R=("its R", ".3f"), text="says and calls",
                     failed=("errors that came back", "d")))
    crosses = base.transform_filter("datum.failed > 0").mark_text(
        text="\u00d7", fontSize=18, aria=False, tooltip=None).encode(
        x=alt.X("middle:Q"), color=alt.condition(
            f"datum.R > {HEAT['turn'] * top}", alt.value("white"), alt.value("black")))
    whole = base.transform_filter("datum.end")
    dots = whole.mark_point(style="published", size=130, aria=False).encode(
        x=alt.datum(-0.04 * last),
        fill=alt.Fill("outcome:N", title="outcome", scale=alt.Scale(
            domain=list(_OUTCOMES), range=list(_OUTCOMES.values())),
            legend=alt.Legend(columns=1)),
        tooltip=tips(run="run", score=("score", ".3f"), outcome="outcome",
                     errors=("errors in the log", "d")))
    scores = whole.transform_filter("isValid(datum.score)").mark_text(
        align="left", dx=5, aria=False).encode(
        x="box:Q", text=alt.Text("score:Q", format=".2f"))
    return (cells + crosses + dots + scores).properties(height=alt.Step(28))


def course(points: pd.DataFrame) -> alt.LayerChart:
    """Draw the risk of one run along its steps, and the steps that judges flag.

    Parameters
    ----------
    points : DataFrame
        As `tjlib.studies.yourlog.courses`.

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
    layers = [line, peak]
    if points["flagged"].any():  # a layer without a mark has no scale
        flags = base.transform_filter("datum.flagged")
        layers += [flags.mark_point(style="published", shape="diamond", size=260, filled=False,
                                    aria=False),
                   flags.mark_text(dy=22, aria=False).encode(text="flagged:N")]
    return alt.layer(*layers).properties(height=220)
