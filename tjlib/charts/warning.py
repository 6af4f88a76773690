"""Figures of the early-warning chapter: a quantity along a cut, and delay against false alarms.

Decision: what shares a panel differs in shape and place as well as in colour,
and panels share a scale wherever they share a unit. Refusal: nothing is
computed, sampled or read here.
"""

from __future__ import annotations

import altair as alt
import pandas as pd

from tjlib.charts.parts import facets, tips

__all__ = ["curves", "delays"]

_LOOKS = (("#009E73", "circle"), ("#B37700", "square"), ("#7B6BD6", "triangle-up"))


def _looks(names: list[str]) -> tuple[alt.Color, alt.Shape]:
    colours, shapes = zip(*_LOOKS[:len(names)], strict=True)
    legend = alt.Legend(title=None, symbolOpacity=1, columns=1) if len(names) > 1 else None
    return (alt.Color("series:N", legend=legend,
                      scale=alt.Scale(domain=names, range=list(colours))),
            alt.Shape("series:N", legend=legend,
                      scale=alt.Scale(domain=names, range=list(shapes))))


def curves(rows: pd.DataFrame, x: str, y: str, level: float | None = None) -> alt.FacetChart:
    """Draw values with intervals along a cut, one panel a method or set.

    Parameters
    ----------
    rows : DataFrame
        Columns panel, at (text, in order), series (up to three), value, lo,
        hi (in [0, 1], missing where there is none), shown (text), published
        (missing where nothing is printed) and, if no knowledge gives
        something else at each cut, chance.
    x, y : str
        Titles of the axes.
    level : float, optional
        Where a dashed line stands: what no knowledge gives.

    Returns
    -------
    altair.FacetChart
    """
    names = list(dict.fromkeys(rows["series"]))
    colour, shape = _looks(names)
    scale = alt.Scale(domain=[0, 1])
    base = alt.Chart().encode(
        x=alt.X("at:O", sort=list(dict.fromkeys(rows["at"])), title=x,
                axis=alt.Axis(labelAngle=0)),
        tooltip=tips(panel="panel", at=x, series="of", shown=y))
    drawn = base.transform_filter("isValid(datum.value)")
    offset = alt.XOffset("series:N", sort=names, scale=alt.Scale(paddingOuter=1))
    spans = drawn.transform_filter("isValid(datum.lo)").mark_rule(
        strokeWidth=6, opacity=0.35).encode(
        y=alt.Y("lo:Q", title=y, scale=scale), y2="hi:Q", color=colour, xOffset=offset)
    points = drawn.mark_point(size=70).encode(
        y=alt.Y("value:Q", title=y, scale=scale), color=colour, shape=shape, xOffset=offset)
    hollow = base.transform_filter("isValid(datum.published)").mark_point(
        style="published", filled=False, shape="diamond", size=200).encode(
        y=alt.Y("published:Q", title=y, scale=scale))
    parts = [spans, points, hollow] if rows["published"].notna().any() else [spans, points]
    if "chance" in rows:
        parts.insert(0, base.transform_filter("isValid(datum.chance)").mark_tick(
            style="chance", thickness=2, size=24, orient="horizontal").encode(
            y=alt.Y("chance:Q", title=y, scale=scale)))
    if level is not None:
        parts.insert(0, alt.Chart().mark_rule(style="chance").encode(
            y=alt.datum(level, scale=scale)))
    one = alt.layer(*parts, data=rows).properties(width=210, height=140)
    return facets(one, "panel", list(dict.fromkeys(rows["panel"])), columns=3)


def delays(rows: pd.DataFrame) -> alt.FacetChart:
    """Draw how long failed runs go on against how many good ones are stopped, one panel a set.

    Parameters
    ----------
    rows : DataFrame
        Columns panel, series (up to three, and "coin" for the two ends of the
        dashed line), rate (share of successful runs stopped), value, lo, hi
        (steps; missing where there is none), budget and shown (text).

    Returns
    -------
    altair.FacetChart
        Lower is earlier; each panel has a scale of its own.
    """
    names = [name for name in dict.fromkeys(rows["series"]) if name != "coin"]
    colour, shape = _looks(names)
    x = alt.X("rate:Q", title="share of good runs stopped", scale=alt.Scale(zero=True),
              axis=alt.Axis(tickCount=4))
    y = alt.Y("value:Q", title="steps of failed runs", scale=alt.Scale(zero=True),
              axis=alt.Axis(tickCount=5))
    base = alt.Chart().transform_filter("datum.series != 'coin' && isValid(datum.value)").encode(
        x=x, tooltip=tips(panel="set", series="method", budget="budget",
                          rate=("good runs stopped", ".2f"), shown="steps of failed runs"))
    coin = alt.Chart().transform_filter("datum.series == 'coin'").mark_line(
        style="chance").encode(x=x, y=y)
    spans = base.transform_filter("isValid(datum.lo)").mark_rule(
        strokeWidth=5, opacity=0.3).encode(
        y=alt.Y("lo:Q", title="steps of failed runs"), y2="hi:Q", color=colour)
    lines = base.mark_line(strokeWidth=1.5).encode(y=y, color=colour)
    points = base.mark_point(size=70).encode(y=y, color=colour, shape=shape)
    one = alt.layer(coin, spans, lines, points, data=rows).properties(width=210, height=170)
    chart = facets(one, "panel", list(dict.fromkeys(rows["panel"])), columns=3)
    return chart.resolve_scale(y="independent")
