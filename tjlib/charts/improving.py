"""Figures of the chapter on improvements, one function a figure.

Decision: a recipe is a point, its signal a shape as well as a colour, the printed method a hollow
mark and what a criterion chose a ring. Refusal: nothing is computed, sampled or read here.
"""

from __future__ import annotations

import altair as alt
import pandas as pd

from tjlib.charts.parts import facets, tips

__all__ = ["SIGNALS", "recipes"]

#: Colour and shape of each signal, in the order of the legend.
SIGNALS = {"none": ("#999999", "circle"), "surprise": ("#009E73", "square"),
           "verbosity": ("#B37700", "triangle-up"), "disagreement": ("#7B6BD6", "diamond")}


def recipes(rows: pd.DataFrame, criterion: str) -> alt.FacetChart:
    """Draw what a criterion says of each recipe against its AUROC on the other half.

    Parameters
    ----------
    rows : DataFrame
        Columns panel, recipe, signal (of `SIGNALS`), worth (of the criterion),
        auroc, printed and chosen (bool).
    criterion : str
        Name of the axis.

    Returns
    -------
    altair.FacetChart
    """
    known = [name for name in SIGNALS if name in set(rows["signal"])]
    legend = alt.Legend(title=None, symbolOpacity=1, columns=2)
    base = alt.Chart().encode(
        x=alt.X("worth:Q", title=criterion, scale=alt.Scale(zero=False),
                axis=alt.Axis(tickCount=3)),
        y=alt.Y("auroc:Q", title="AUROC", scale=alt.Scale(zero=False),
                axis=alt.Axis(tickCount=4)),
        tooltip=tips(panel="runs", recipe="recipe", worth=(criterion, ".2f"),
                     auroc=("AUROC", ".2f")))
    half = alt.Chart().mark_rule(style="chance").encode(y=alt.datum(0.5))
    points = base.mark_point(size=70, opacity=0.8, filled=True).encode(
        color=alt.Color("signal:N", legend=legend, scale=alt.Scale(
            domain=known, range=[SIGNALS[name][0] for name in known])),
        shape=alt.Shape("signal:N", legend=legend, scale=alt.Scale(
            domain=known, range=[SIGNALS[name][1] for name in known])))
    printed = base.transform_filter("datum.printed").mark_point(
        style="published", filled=False, shape="diamond", size=300)
    ring = base.transform_filter("datum.chosen").mark_point(
        style="published", filled=False, shape="circle", size=300)
    one = alt.layer(half, points, printed, ring, data=rows)
    chart = facets(one.properties(width=200, height=150), "panel",
                   list(dict.fromkeys(rows["panel"])), columns=3)
    return chart.resolve_scale(x="independent", y="independent")
