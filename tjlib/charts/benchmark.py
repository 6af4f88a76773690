"""The figure of the chapter that compares RUPA with what costs nothing.

Decision: kinds of pairs are told apart by shape and place, and what the paper prints stands
hollow in the same row. Refusal: nothing is computed, sampled or read here.
"""

from __future__ import annotations

import altair as alt
import pandas as pd

from tjlib.charts.parts import facets, tips

__all__ = ["differences"]

_SHAPES = ("circle", "square", "triangle-up", "cross")


def differences(rows: pd.DataFrame) -> alt.FacetChart:
    """Draw differences in AUROC by data set, kind of pairs, and what is subtracted.

    Parameters
    ----------
    rows : DataFrame
        Columns panel (what is subtracted), set (a comma starts a new line), pairs (the kind, at
        most four; empty in a row that is printed), value, lo, hi (missing where there is none),
        shown (text), published (missing where nothing is printed).

    Returns
    -------
    altair.FacetChart
    """
    sets, kinds = (list(dict.fromkeys(filter(None, rows[name]))) for name in ("set", "pairs"))
    title = "difference in AUROC"
    places = alt.YOffset("pairs:N", sort=[*kinds, ""], scale=alt.Scale(
        domain=[*kinds, ""], paddingOuter=0.6))
    base = alt.Chart().encode(
        y=alt.Y("set:N", sort=sets, title=None, axis=alt.Axis(
            labelLimit=160, labelExpr="split(datum.label, ', ')")),
        tooltip=tips(panel="RUPA", set="runs", pairs="pairs", shown=title))
    ours = base.transform_filter("isValid(datum.value)").encode(yOffset=places)
    zero = alt.Chart().mark_rule(style="chance").encode(x=alt.datum(0))
    spans = ours.transform_filter("isValid(datum.lo)").mark_rule(style="reference").encode(
        x=alt.X("lo:Q", title=title), x2="hi:Q")
    points = ours.mark_point(style="reference", size=55).encode(
        x=alt.X("value:Q", title=title, axis=alt.Axis(tickCount=4)),
        shape=alt.Shape("pairs:N", sort=kinds, scale=alt.Scale(
            domain=kinds, range=list(_SHAPES[:len(kinds)])),
            legend=alt.Legend(title="pairs of", columns=2, symbolOpacity=1)))
    hollow = base.transform_filter("isValid(datum.published)").mark_point(
        style="published", filled=False, shape="diamond", size=110).encode(
        x=alt.X("published:Q", title=title), yOffset=places)
    layers = [zero, spans, points] + [hollow] * bool(rows["published"].notna().any())
    one = alt.layer(*layers, data=rows).properties(
        width=145, height=alt.Step(76, **{"for": "position"}))
    return facets(one, "panel", list(dict.fromkeys(rows["panel"])), columns=3, rows=True)
