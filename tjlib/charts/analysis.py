"""Figures of the analysis chapter, one function a figure.

Decision: each function takes a tidy frame that already holds every number it
shows, intervals included, and returns one chart. Refusal: nothing is
computed, sampled or read here.
"""

from __future__ import annotations

import altair as alt
import pandas as pd

from tjlib.charts.parts import facets, ordered, tips
from tjlib.charts.theme import role_scale

__all__ = ["claims", "forest", "slopes"]


def slopes(shares: pd.DataFrame) -> alt.FacetChart:
    """Draw the way from recall to paired discrimination, one panel a judge and reply.

    Parameters
    ----------
    shares : DataFrame
        Columns panel (judge and reply), survival (silent or loud), measure
        ("recall" then "paired"), value, lo and hi (missing where there is no
        interval) and shown (text).

    Returns
    -------
    altair.FacetChart
    """
    base = alt.Chart().encode(
        x=alt.X("measure:N", sort=["recall", "paired"], title=None,
                axis=alt.Axis(labelAngle=0), scale=alt.Scale(paddingInner=0.2, paddingOuter=0.1)),
        xOffset=alt.XOffset("survival:N", sort=["silent", "loud"],
                            scale=alt.Scale(paddingInner=1, paddingOuter=1)),
        color=alt.Color("survival:N", scale=alt.Scale(**role_scale("silent", "loud")),
                        legend=alt.Legend(title=None, symbolOpacity=1)),
        tooltip=tips(panel="judge", survival="survival", measure="measure", shown="share"))
    zero = alt.Chart().mark_rule(style="chance").encode(y=alt.datum(0))
    y = alt.Y("value:Q", title="share", scale=alt.Scale(domain=[-0.1, 1]),
              axis=alt.Axis(values=[0, 0.5, 1]))
    lines = base.mark_line().encode(y=y, detail="survival:N")
    spans = base.mark_rule(strokeWidth=9, opacity=0.35, clip=True).encode(y="lo:Q", y2="hi:Q")
    points = base.mark_point(size=110).encode(y=y, shape=alt.Shape(
        "survival:N", scale=alt.Scale(domain=["silent", "loud"], range=["circle", "square"])))
    one = alt.layer(zero, lines, spans, points, data=shares).properties(width=260, height=130)
    return facets(one, "panel", ordered(shares, "panel"), columns=2)


def claims(shares: pd.DataFrame) -> alt.ConcatChart:
    """Draw how often each invented sentence was flagged, beside the same cases' clean runs.

    Parameters
    ----------
    shares : DataFrame
        Columns judge, sentence, what ("silent" for the fault, "false alarm"
        for its clean parents), value, lo, hi and shown (text).

    Returns
    -------
    altair.ConcatChart
    """
    named = "datum.{} == 'silent' ? 'with the sentence' : 'the same cases, clean'"
    what = alt.Shape(
        "what:N", scale=alt.Scale(domain=["silent", "false alarm"],
                                  range=["circle", "triangle-up"]))
    base = alt.Chart().encode(
        y=alt.Y("sentence:N", sort=ordered(shares, "sentence"), title=None,
                axis=alt.Axis(labelLimit=130)),
        color=alt.Color(
            "what:N", scale=alt.Scale(**role_scale("silent", "false alarm")),
            legend=alt.Legend(title=None, symbolOpacity=1, columns=1,
                              labelExpr=named.format("value"))),
        # Shares that agree would hide each other on one line.
        yOffset=alt.YOffset("what:N", scale=alt.Scale(
            domain=["silent", "false alarm"], paddingInner=1, paddingOuter=0.5)),
        tooltip=tips(judge="judge", sentence="sentence", of="of", shown="share flagged"))
    spans = base.mark_rule(strokeWidth=9, opacity=0.35).encode(x="lo:Q", x2="hi:Q")
    points = base.mark_point(size=110).encode(shape=what, x=alt.X(
        "value:Q", title="share flagged", scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(values=[0, 0.5, 1])))
    # Judges differ in their rows, so these panels are no facet.
    return alt.concat(*(
        alt.layer(spans, points, data=rows, title=alt.Title(
            judge, anchor="middle", fontSize=14, fontWeight="normal")
        ).transform_calculate(of=named.format("what")).properties(
            width=200, height={"step": 34, "for": "position"})
        for judge, rows in shares.groupby("judge", sort=False)), columns=2)


def forest(
    rows: pd.DataFrame, title: str, *, panels: bool = True, shared: bool = False,
    domain: tuple[float, float] | None = None, step: int = 32,
) -> alt.TopLevelMixin:
    """Draw estimates with intervals, one row each.

    Parameters
    ----------
    rows : DataFrame
        Columns panel, label, value, lo and hi (missing where there is no
        interval), shown (text) and published (the paper's value, drawn
        hollow; missing where it prints none); coin, if there is such a
        column, is what a coin has in the row's panel (missing: nothing).
    title : str
        Of the axis: short, a panel is narrow; a comma starts a new line.
    panels : bool
        Facet by panel; otherwise the frame holds one.
    shared : bool
        One scale for all panels; otherwise each has its own.
    domain : (float, float), optional
        Of the one axis of shares; without it rows are differences, and a
        dashed line stands at zero.
    step : int
        Height of a row in a panel, in pixels.

    Returns
    -------
    altair.FacetChart or altair.LayerChart
    """
    scale = alt.Scale(domain=domain) if domain else alt.Scale(zero=True)
    base = alt.Chart().encode(
        y=alt.Y("label:N", sort=ordered(rows, "label"), title=None,
                axis=alt.Axis(labelLimit=170)),
        tooltip=tips(panel="panel", label="row", shown=title))
    zero = [] if domain else [alt.Chart().mark_rule(style="chance").encode(x=alt.datum(0))]
    coin = [alt.Chart().transform_filter("isValid(datum.coin)").mark_rule(
        style="chance").encode(x=alt.X("coin:Q", scale=scale))] if "coin" in rows else []
    spans = base.mark_rule(style="reference", strokeWidth=2).encode(x="lo:Q", x2="hi:Q")
    points = base.mark_point(style="reference", size=60).encode(x=alt.X(
        "value:Q", title=title.split(", "), scale=scale,
        axis=alt.Axis(tickCount=4, labelOverlap="greedy", labelSeparation=6)))
    hollow = base.transform_filter("isValid(datum.published)").mark_point(
        style="published", filled=False, shape="diamond",
        size=300 if step > 24 else 200).encode(x="published:Q")
    hollow = [hollow] if rows["published"].notna().any() else []
    chart = alt.layer(*zero, *coin, *hollow, spans, points, data=rows)
    if not panels:
        return chart.properties(height=alt.Step(34))
    faceted = facets(chart.properties(width=200, height=alt.Step(step)), "panel",
                     ordered(rows, "panel"), columns=2, rows=True)
    return faceted if domain or shared else faceted.resolve_scale(x="independent")
