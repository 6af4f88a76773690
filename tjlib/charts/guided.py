"""Figures of the chapter on guided sampling, one function a figure.

Decision: what is measured here is filled, what is printed is hollow, and selectors are told apart
by their row. Refusal: nothing is computed, sampled or read here.
"""

from __future__ import annotations

import altair as alt
import pandas as pd

from tjlib.charts.parts import tips

__all__ = ["gains", "one_rule"]


def _rows(frame: pd.DataFrame, field: str) -> alt.Y:
    return alt.Y(f"{field}:N", sort=list(dict.fromkeys(frame[field])), title=None,
                 axis=alt.Axis(labelLimit=190))


def gains(rows: pd.DataFrame) -> alt.LayerChart:
    """Draw what each selector gains over taking the first drawn, here and in print.

    Parameters
    ----------
    rows : DataFrame
        Columns selector, value, lo, hi (missing where there is none), shown (text), published (a
        printed gain; missing in the row that is measured here) and where (it is printed for).

    Returns
    -------
    altair.LayerChart
    """
    base = alt.Chart().encode(y=_rows(rows, "selector"), tooltip=tips(
        selector="selector", shown="measured here", where="printed for",
        published=("printed", ".3f")))
    title = ["share gained over", "the first drawn"]
    axis = alt.Axis(format=".2f", tickCount=3)
    zero = alt.Chart().mark_rule(style="chance").encode(x=alt.datum(0))
    spans = base.transform_filter("isValid(datum.lo)").mark_rule(
        style="reference", strokeWidth=2, yOffset=-7).encode(
        x=alt.X("lo:Q", title=title, axis=axis), x2="hi:Q")
    points = base.transform_filter("isValid(datum.value)").mark_point(
        style="reference", yOffset=-7).encode(x=alt.X("value:Q", title=title, axis=axis))
    hollow = base.transform_filter("isValid(datum.published)").mark_point(
        style="published", filled=False, shape="diamond", size=110, yOffset=8).encode(
        x=alt.X("published:Q", title=title, axis=axis))
    return alt.layer(zero, spans, points, hollow, data=rows).properties(height=alt.Step(44))


def one_rule(rows: pd.DataFrame) -> alt.LayerChart:
    """Draw printed accuracies, those that may be one rule joined by a line.

    Parameters
    ----------
    rows : DataFrame
        Columns cell (model and benchmark), kind ("random", "one rule", "RUPA"), selector,
        accuracy.

    Returns
    -------
    altair.LayerChart
    """
    base = alt.Chart().encode(y=_rows(rows, "cell"), tooltip=tips(
        cell="printed for", selector="selector", accuracy=("accuracy", ".3f")))
    x = alt.X("accuracy:Q", title="printed accuracy", scale=alt.Scale(zero=True),
              axis=alt.Axis(tickCount=5))
    kinds = ["random", "one rule", "RUPA"]
    span = alt.Chart().transform_filter("datum.kind == 'one rule'").mark_rule(
        style="reference", strokeWidth=2).encode(
        y=_rows(rows, "cell"), x=alt.X("min(accuracy):Q", title="printed accuracy"),
        x2="max(accuracy):Q")
    points = base.mark_point(style="published", filled=False, size=110).encode(
        x=x, shape=alt.Shape("kind:N", legend=alt.Legend(title=None, symbolOpacity=1),
                             scale=alt.Scale(domain=kinds,
                                             range=["cross", "diamond", "square"])))
    return alt.layer(span, points, data=rows).properties(height=alt.Step(34))
