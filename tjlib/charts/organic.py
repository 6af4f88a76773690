"""Figures of the chapter on organic faults, one function a figure.

Decision: what is printed is hollow and what we counted is filled, as all book
long; what was injected by design is a bar behind both. Refusal: nothing is
computed, sampled or read here.
"""

from __future__ import annotations

import json

import altair as alt
import pandas as pd

from tjlib.charts.parts import facets, heat, ordered, tips

__all__ = ["flagged", "mix", "ppv", "strip"]

#: Rates of faults that were seen; not the grey of the bands, which are about the judge.
_SEEN = "#E69F00"


def strip(cells: pd.DataFrame) -> alt.ConcatChart:
    """Draw what the episodes of each kind of case came to, one panel a source.

    Parameters
    ----------
    cells : DataFrame
        Columns panel, stratum, ending, n, of and share (of the stratum's
        episodes, in [0, 1]).

    Returns
    -------
    altair.ConcatChart
    """
    boxes, words = heat("share", "share of the row")
    base = alt.Chart().encode(
        y=alt.Y("stratum:N", sort=ordered(cells, "stratum"), title=None,
                axis=alt.Axis(domain=False, ticks=False), scale=alt.Scale(paddingInner=0.06)),
        tooltip=tips(stratum="case", ending="came to", n=("episodes", "d"), of=("of", "d")))
    # Printed counts tell fewer endings apart than labels do, so these panels are no facet.
    return alt.concat(*(
        alt.layer(
            base.mark_rect(aria=False).encode(x=x, color=boxes),
            base.mark_text(fontSize=14).encode(x=x, text="n:Q", color=words), data=rows,
            title=alt.Title(panel, anchor="middle", fontSize=14, fontWeight="normal"),
        ).properties(width=240, height={"step": 30, "for": "position"})
        for panel, rows in cells.groupby("panel", sort=False)
        for x in [alt.X("ending:N", sort=ordered(rows, "ending"), title=None,
                        scale=alt.Scale(paddingInner=0.06),
                        axis=alt.Axis(labelAngle=0, orient="top", domain=False, ticks=False))]
    ), columns=2)


def mix(rows: pd.DataFrame) -> alt.FacetChart:
    """Draw the share of each type among faulty runs: injected, printed and counted.

    Parameters
    ----------
    rows : DataFrame
        Columns panel, type, injected, published, value, lo and hi (shares in
        [0, 1], missing where there is none), shown (text) and note (text in
        place of a mark, or empty).

    Returns
    -------
    altair.FacetChart
    """
    x = alt.X("value:Q", title="share of faulty runs", scale=alt.Scale(domain=[0, 1]),
              axis=alt.Axis(values=[0, 0.5, 1], format="%"))
    base = alt.Chart().encode(
        y=alt.Y("type:N", sort=ordered(rows, "type"), title=None, axis=alt.Axis(labelLimit=150)),
        tooltip=tips(panel="source", type="type", injected=("injected", ".0%"),
                     published=("published", ".0%"), shown="counted"))
    bars = base.mark_bar(height={"band": 0.75}, opacity=0.45).encode(
        x=alt.X("injected:Q", title="share of faulty runs"))
    hollow = base.transform_filter("isValid(datum.published)").mark_point(
        style="published", filled=False, shape="diamond", size=300).encode(x="published:Q")
    spans = base.mark_rule(style="reference").encode(x="lo:Q", x2="hi:Q")
    points = base.transform_filter("isValid(datum.value)").mark_point(
        style="reference", size=90).encode(x=x)
    words = base.transform_filter("datum.note").mark_text(align="left", dx=6, fontSize=14).encode(
        x="injected:Q", text="note:N")
    one = alt.layer(bars, spans, hollow, points, words, data=rows)
    return facets(one.properties(width=230, height=alt.Step(30)), "panel",
                  ordered(rows, "panel"), columns=2, rows=True)


def flagged(rows: pd.DataFrame) -> alt.FacetChart:
    """Draw the share of runs that a rule flags, with words where there is no run to flag.

    Parameters
    ----------
    rows : DataFrame
        Columns panel, label, value, lo and hi (shares in [0, 1], missing where
        there is no such run), shown (text) and note (text in place of a mark,
        or empty).

    Returns
    -------
    altair.FacetChart
    """
    scale = alt.Scale(domain=[0, 1])
    base = alt.Chart().encode(
        y=alt.Y("label:N", sort=ordered(rows, "label"), title=None, axis=alt.Axis(labelLimit=170)),
        tooltip=tips(panel="panel", label="row", shown="share flagged"))
    drawn = base.transform_filter("isValid(datum.value)")
    spans = drawn.mark_rule(style="reference", strokeWidth=2).encode(x="lo:Q", x2="hi:Q")
    points = drawn.mark_point(style="reference", size=60).encode(x=alt.X(
        "value:Q", title="share flagged", scale=scale, axis=alt.Axis(tickCount=4)))
    words = base.transform_filter("datum.note").mark_text(align="left", dx=6, fontSize=14).encode(
        x=alt.datum(0, scale=scale), text="note:N")
    one = alt.layer(spans, points, words, data=rows).properties(width=200, height=alt.Step(32))
    return facets(one, "panel", ordered(rows, "panel"), columns=2, rows=True)


def ppv(curves: pd.DataFrame, spans: pd.DataFrame, marks: pd.DataFrame) -> alt.FacetChart:
    """Draw what an alarm is worth against the fault rate, one panel a judge.

    Parameters
    ----------
    curves : DataFrame
        Columns judge, faults (which mix of types), fault_rate, value, lo and
        hi (missing where there is no band).
    spans : DataFrame
        Intervals of fault rates that were seen somewhere: judge, where, lo, hi.
    marks : DataFrame
        Columns judge, where (at most three, the reader's own rate last),
        fault_rate, value and shown (text).

    Returns
    -------
    altair.FacetChart
    """
    scale = alt.Scale(type="log", domain=[0.001, 1])
    title, share = "fault rate (log scale)", alt.Scale(domain=[0, 1])
    x = alt.X("fault_rate:Q", title=title, scale=scale,
              axis=alt.Axis(values=[0.001, 0.01, 0.1, 1], format="~%"))
    y = alt.Y("value:Q", title="PPV (higher is better)", scale=share)
    kinds, places = ordered(curves, "faults"), ordered(marks, "where")
    base = alt.Chart().transform_filter("datum.part == 'curve'")
    seen = alt.Chart().transform_filter("datum.part == 'span'").mark_rect(
        color=_SEEN, opacity=0.4, stroke=_SEEN, strokeWidth=3).encode(
        x=alt.X("lo:Q", title=title, scale=scale), x2="hi:Q",
        tooltip=tips(where="seen in", lo=("from", ".1%"), hi=("to", ".1%")))
    first = f"datum.faults == {json.dumps(kinds[0])} && isValid(datum.lo)"
    band = base.transform_filter(first).mark_area(
        style="reference", opacity=0.22, line=False).encode(
        x=x, y=alt.Y("lo:Q", title="PPV (higher is better)", scale=share), y2="hi:Q")
    lines = base.mark_line().encode(x=x, y=y, strokeDash=alt.StrokeDash(
        "faults:N", sort=kinds, scale=alt.Scale(domain=kinds, range=[[1, 0], [3, 3]][:len(kinds)]),
        legend=alt.Legend(title="recall on", orient="bottom", columns=1, labelLimit=280)))
    points = alt.Chart().transform_filter("datum.part == 'mark'").mark_point(
        style="reference", size=120).encode(
        x=x, y=y, shape=alt.Shape("where:N", sort=places, scale=alt.Scale(
            domain=places, range=[*("square", "circle")[:len(places) - 1], "triangle-up"]),
            legend=alt.Legend(title="fault rate of", orient="bottom", columns=1)),
        tooltip=tips(judge="judge", where="where", fault_rate=("fault rate", ".1%"), shown="PPV"))
    data = pd.concat([curves.assign(part="curve"), spans.assign(part="span"),
                      marks.assign(part="mark")])
    one = alt.layer(seen, band, lines, points, data=data).properties(width=210, height=180)
    return facets(one, "judge", ordered(curves, "judge"), columns=3)
