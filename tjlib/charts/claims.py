"""The figure of the claims audit: one row a sentence.

Decision: a verdict is a shape and a word; position carries the statistic,
its interval, and (hollow) where the sentence puts it. Refusal: nothing is
computed or ruled here, and no verdict is told by colour.
"""

from __future__ import annotations

import altair as alt
import pandas as pd

from tjlib.charts.parts import tips

__all__ = ["SHAPES", "docket"]

#: Verdict -> (shape in the figure, the same mark in text).
SHAPES = {
    "holds": ("circle", "●"),
    "holds with a condition": ("diamond", "◆"),
    "does not hold": ("cross", "✚"),
    "cannot be tested with these data": ("square", "□"),
}

_ROW = 88  # pixels: three lines of text and the interval
_LINES = (-34, -15, 4)  # where the lines of text sit in a row
_MARK = 26  # where the interval sits


def docket(rows: pd.DataFrame) -> alt.LayerChart:
    """Draw each claim's verdict, quotation, statistic and interval, row by row.

    Parameters
    ----------
    rows : DataFrame
        Columns claim (id), verdict, section, quote, label (the statistic in
        words), value, lo, hi and claimed (missing where there is none), and
        shown (text).

    Returns
    -------
    altair.LayerChart
    """
    scale = alt.Scale(domain=[-0.4, 1.1], nice=False)
    axis = alt.Axis(orient="top", grid=False, values=[0, 0.5, 1])
    base = alt.Chart(rows).encode(
        y=alt.Y("claim:N", sort=list(rows["claim"]), axis=None),
        tooltip=tips(label="statistic", shown="value"))
    tried = base.transform_filter("isValid(datum.value)").encode(
        x=alt.X("value:Q", scale=scale, axis=axis, title="share, or difference of two shares"))
    verdicts = base.mark_point(style="reference", size=110, yOffset=_LINES[0]).encode(
        x=alt.value(8), shape=alt.Shape("verdict:N", legend=None, scale=alt.Scale(
            domain=list(SHAPES), range=[shape for shape, _ in SHAPES.values()])),
        fillOpacity=alt.condition("datum.verdict == 'cannot be tested with these data'",
                                  alt.value(0), alt.value(1)))

    # The longest verdict is cut to its first words: a telephone has no room for more.
    words = base.transform_calculate(
        said="replace(datum.verdict, ' with these data', '') + ' · ' + datum.section",
        quoted="'“' + datum.quote + '”'")

    def line(at: int, field: str, left: int, **style) -> alt.Chart:
        return words.mark_text(align="left", baseline="middle", dy=_LINES[at], fontSize=14,
                               **style).encode(x=alt.value(left), text=f"{field}:N")

    heads = line(0, "said", 20, fontWeight="bold")
    text = heads + line(1, "quoted", 2, fontStyle="italic") + line(2, "label", 2)
    zero = tried.mark_tick(style="reference", size=18, thickness=1, yOffset=_MARK).encode(
        x=alt.datum(0))
    lines = tried.mark_rule(opacity=0.25, yOffset=_MARK).encode(
        x=alt.datum(-0.4), x2=alt.datum(1.1))
    spans = tried.mark_rule(strokeWidth=4, yOffset=_MARK, opacity=0.6).encode(x="lo:Q", x2="hi:Q")
    points = tried.mark_point(style="reference", size=80, yOffset=_MARK)
    said = tried.transform_filter("isValid(datum.claimed)").mark_point(
        style="published", filled=False, shape="diamond", size=130, yOffset=_MARK,
    ).encode(x="claimed:Q")
    return (lines + zero + spans + points + said + verdicts + text).properties(
        height=alt.Step(_ROW))
