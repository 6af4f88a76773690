"""Figures of the chapter on cascades, one function a figure.

Decision: a score keeps its colour, its dashes and its mark all page long, and a band is its
interval. Refusal: nothing is computed, sampled or read here.
"""

from __future__ import annotations

import altair as alt
import pandas as pd

from tjlib.charts.parts import facets, tips

__all__ = ["LOOKS", "around", "dial"]

#: Colour, dashes and mark of each score, in the order of the legend.
LOOKS = {"RUPA": ("#009E73", [1, 0], "circle"), "no propagation": ("#B37700", [6, 3], "square"),
         "flat": ("#7B6BD6", [2, 2], "diamond")}


def _lines(rows: pd.DataFrame, x: alt.X, title: str, level: float) -> list[alt.Chart]:
    """Layer a dashed level, a band, a line and points a score."""
    names = [name for name in LOOKS if name in set(rows["score"])]
    legend = alt.Legend(title=None, symbolOpacity=1, symbolStrokeWidth=0)
    looks = list(zip(*(LOOKS[name] for name in names), strict=True))
    colour = alt.Color("score:N", legend=legend, scale=alt.Scale(domain=names, range=looks[0]))
    base = alt.Chart().encode(x=x, color=colour)
    y = alt.Y("value:Q", title=title, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=4))
    dashes = alt.StrokeDash("score:N", legend=legend, scale=alt.Scale(domain=names, range=looks[1]))
    marks = alt.Shape("score:N", legend=legend, scale=alt.Scale(domain=names, range=looks[2]))
    return [alt.Chart().mark_rule(style="chance").encode(y=alt.datum(level)),
            base.mark_area(opacity=0.2).encode(y=alt.Y("lo:Q", title=title), y2="hi:Q"),
            base.mark_line(strokeWidth=2).encode(y=y, strokeDash=dashes),
            base.mark_point(size=45, filled=True, opacity=1).encode(
                y=y, shape=marks, tooltip=tips(panel="runs", score="score", shown=title))]


def dial(rows: pd.DataFrame) -> alt.FacetChart:
    """Draw AUROC over how well own uncertainty knows a fault, one panel a design.

    Parameters
    ----------
    rows : DataFrame
        Columns panel, dial, score (of `LOOKS`), value, lo, hi and shown (text).

    Returns
    -------
    altair.FacetChart
    """
    x = alt.X("dial:Q", title="dial, standard deviations", axis=alt.Axis(tickCount=4))
    one = alt.layer(*_lines(rows, x, "AUROC", 0.5), data=rows)
    return facets(one.properties(width=190, height=140), "panel",
                  list(dict.fromkeys(rows["panel"])), columns=3)


def around(rows: pd.DataFrame) -> alt.FacetChart:
    """Draw risk above the clean parent's by distance from the first fault, one panel a design.

    Parameters
    ----------
    rows : DataFrame
        Columns panel, offset, score (of `LOOKS`), value, lo, hi and shown (text).

    Returns
    -------
    altair.FacetChart
    """
    x = alt.X("offset:Q", title="steps after the first fault", axis=alt.Axis(tickCount=5))
    one = alt.layer(*_lines(rows, x, "risk above the parent's", 0), data=rows)
    return facets(one.properties(width=240, height=140), "panel",
                  list(dict.fromkeys(rows["panel"])), columns=2)
