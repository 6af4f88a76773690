"""The figure of the early-warning chapter: one quantity along a cut, a panel a method.

Decision: methods stand in panels of their own on one scale, so that none is
picked out by colour. Refusal: nothing is computed, sampled or read here.
"""

from __future__ import annotations

import altair as alt
import pandas as pd

from tjlib.charts.parts import facets, tips

__all__ = ["curves"]

_LOOKS = (("#009E73", "circle"), ("#B37700", "square"))


def curves(rows: pd.DataFrame, x: str, y: str, level: float | None = None) -> alt.FacetChart:
    """Draw values with intervals along a cut, one panel a method.

    Parameters
    ----------
    rows : DataFrame
        Columns method, at (text, in order), series (one or two), value, lo,
        hi (in [0, 1], missing where there is none), shown (text) and
        published (missing where nothing is printed).
    x, y : str
        Titles of the axes.
    level : float, optional
        Where a dashed line stands: what no knowledge gives.

    Returns
    -------
    altair.FacetChart
    """
    names = list(dict.fromkeys(rows["series"]))
    colours, shapes = zip(*_LOOKS[:len(names)], strict=True)
    legend = alt.Legend(title=None, symbolOpacity=1, columns=1) if len(names) > 1 else None
    colour = alt.Color("series:N", legend=legend, scale=alt.Scale(
        domain=names, range=list(colours)))
    shape = alt.Shape("series:N", legend=legend, scale=alt.Scale(
        domain=names, range=list(shapes)))
    scale = alt.Scale(domain=[0, 1])
    base = alt.Chart().encode(
        x=alt.X("at:O", sort=list(dict.fromkeys(rows["at"])), title=x,
                axis=alt.Axis(labelAngle=0)),
        tooltip=tips(method="method", at=x, series="of", shown=y))
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
    if level is not None:
        parts.insert(0, alt.Chart().mark_rule(style="chance").encode(
            y=alt.datum(level, scale=scale)))
    one = alt.layer(*parts, data=rows).properties(width=210, height=140)
    return facets(one, "method", list(dict.fromkeys(rows["method"])), columns=3)
