"""Figures of the chapter that puts judges and uncertainty methods on the same cases.

Decision: a colour says whether a fault is silent or loud, a place says who
scored it, and a hollow mark is a published judge. Refusal: nothing is
computed, sampled or read here, and no scorer has a colour of its own.
"""

from __future__ import annotations

import altair as alt
import pandas as pd

from tjlib.charts.parts import facets, ordered, tips
from tjlib.charts.theme import role_scale

__all__ = ["coverage", "grid", "versions"]

_SIDES = ("silent", "loud")
#: One for colour, shape and dashes, so that they stand in one legend.
_LEGEND = alt.Legend(title=None, symbolOpacity=1)
_LOOKS = {"as logged": ("#E69F00", "square"), "thoughts emptied": ("#009E73", "circle")}


def _side() -> alt.Color:
    return alt.Color("survival:N", scale=alt.Scale(**role_scale(*_SIDES)), legend=_LEGEND)


def grid(
    rows: pd.DataFrame, what: str = "fault ahead of clean run,"
) -> alt.FacetChart:
    """Draw every scorer against every kind of fault, one panel a kind.

    Parameters
    ----------
    rows : DataFrame
        Columns panel, scorer, survival (silent or loud), origin ("here" or
        "published"), value, lo, hi (in [0, 1], missing where there is none)
        and shown (text).
    what : str
        First line of the axis' title.

    Returns
    -------
    altair.FacetChart
    """
    title = [what, "share of pairs"]
    scale, axis = alt.Scale(domain=[0, 1]), alt.Axis(values=[0, 0.5, 1])
    base = alt.Chart().encode(
        y=alt.Y("scorer:N", sort=ordered(rows, "scorer"), title=None,
                axis=alt.Axis(labelLimit=190)),
        color=_side(),
        tooltip=tips(panel="fault", scorer="score or judge", origin="verdicts",
                     shown="share of pairs"))
    chance = alt.Chart().mark_rule(style="chance").encode(x=alt.datum(0.5, scale=scale))
    spans = base.transform_filter("isValid(datum.lo)").mark_rule(
        strokeWidth=7, opacity=0.35).encode(
        x=alt.X("lo:Q", title=title, scale=scale, axis=axis), x2="hi:Q")
    x = alt.X("value:Q", title=title, scale=scale, axis=axis)
    drawn = base.transform_filter("isValid(datum.value)")
    points = drawn.transform_filter("datum.origin == 'here'").mark_point(size=75).encode(
        x=x, shape=alt.Shape("survival:N", legend=_LEGEND, scale=alt.Scale(
            domain=list(_SIDES), range=["circle", "square"])))
    hollow = drawn.transform_filter("datum.origin == 'published'").mark_point(
        filled=False, shape="diamond", size=150, strokeWidth=2).encode(x=x)
    parts = [chance, spans, points] + [hollow] * bool((rows["origin"] == "published").any())
    one = alt.layer(*parts, data=rows).properties(width=112, height=alt.Step(25))
    return facets(one, "panel", ordered(rows, "panel"), columns=4, rows=True)


def versions(rows: pd.DataFrame) -> alt.FacetChart:
    """Draw scores of runs as they were logged beside those without thoughts, a panel a fault.

    Parameters
    ----------
    rows : DataFrame
        Columns panel, scorer, version ("as logged" or "thoughts emptied"),
        value, lo, hi (in [0, 1], missing where there is none), shown (text).

    Returns
    -------
    altair.FacetChart
    """
    scale, axis = alt.Scale(domain=[0, 1]), alt.Axis(values=[0, 0.5, 1])
    legend = alt.Legend(title=None, columns=1, symbolOpacity=1)
    base = alt.Chart().transform_filter("isValid(datum.value)").encode(
        y=alt.Y("scorer:N", sort=ordered(rows, "scorer"), title=None),
        yOffset=alt.YOffset("version:N", scale=alt.Scale(
            domain=list(_LOOKS), paddingInner=1, paddingOuter=0.6)),
        color=alt.Color("version:N", legend=legend, scale=alt.Scale(
            domain=list(_LOOKS), range=[look[0] for look in _LOOKS.values()])),
        tooltip=tips(panel="fault", scorer="score", version="runs", shown="share of pairs"))
    chance = alt.Chart().mark_rule(style="chance").encode(x=alt.datum(0.5, scale=scale))
    spans = base.transform_filter("isValid(datum.lo)").mark_rule(
        strokeWidth=6, opacity=0.4).encode(
        x=alt.X("lo:Q", title="share of pairs", scale=scale, axis=axis), x2="hi:Q")
    points = base.mark_point(size=75).encode(
        x=alt.X("value:Q", title="share of pairs", scale=scale, axis=axis),
        shape=alt.Shape("version:N", legend=legend, scale=alt.Scale(
            domain=list(_LOOKS), range=[look[1] for look in _LOOKS.values()])))
    one = alt.layer(chance, spans, points, data=rows).properties(
        width=112, height={"step": 40, "for": "position"})
    return facets(one, "panel", ordered(rows, "panel"), columns=4, rows=True)


def coverage(rows: pd.DataFrame) -> alt.FacetChart:
    """Draw which share of the runs kept is faulty, as fewer are handed over, a panel a scorer.

    Parameters
    ----------
    rows : DataFrame
        Columns scorer, survival (which faults are in the set), kept (share of
        runs), value, lo, hi (in [0, 1]), level (with all runs kept) and shown.

    Returns
    -------
    altair.FacetChart
    """
    scale = alt.Scale(domain=[0, 1])
    y = alt.Axis(values=[0, 0.5, 1])
    base = alt.Chart().encode(
        x=alt.X("kept:Q", title="runs kept, share", scale=scale,
                axis=alt.Axis(values=[0, 0.5, 1])),
        color=_side(),
        tooltip=tips(scorer="score or judge", survival="faults", kept=("runs kept", ".2f"),
                     shown="faulty among them"))
    title = "faulty among them"
    band = base.mark_area(opacity=0.3).encode(
        y=alt.Y("lo:Q", title=title, scale=scale, axis=y), y2="hi:Q")
    line = base.mark_line(strokeWidth=2).encode(
        y=alt.Y("value:Q", title=title, scale=scale, axis=y), strokeDash=alt.StrokeDash(
            "survival:N", legend=_LEGEND, scale=alt.Scale(
                domain=list(_SIDES), range=[[1, 0], [8, 3]])))
    level = base.transform_filter("datum.kept == 1").mark_rule(
        strokeDash=[5, 4], strokeWidth=1).encode(
        y=alt.Y("level:Q", title=title, scale=scale, axis=y), x=alt.datum(0), x2=alt.datum(1))
    one = alt.layer(band, level, line, data=rows).properties(width=150, height=130)
    return facets(one, "scorer", ordered(rows, "scorer"), columns=4)
