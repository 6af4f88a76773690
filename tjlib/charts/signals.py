"""Figures of the chapter on local signals, one function a figure.

Decision: runs that failed are filled and in the colour of a wrong outcome;
what they are to be compared with - runs that succeeded, a step at random, the
same values dealt anew - stands in the same place with a shape of its own.
Refusal: nothing is computed, sampled or read here.
"""

from __future__ import annotations

import altair as alt
import pandas as pd

from tjlib.charts.parts import facets, tips
from tjlib.charts.theme import ROLE

__all__ = ["WHAT", "forest", "levels", "one_run", "relations", "where"]

#: What a mark is of: colour and shape, in the order of the legend.
WHAT = {
    "failed runs": (ROLE["loud"], "square"), "their other steps": ("#56B4E9", "cross"),
    "successful runs": (ROLE["clean"], "circle"),
    "a step at random": ("#E69F00", "diamond"), "values dealt anew": ("#009E73", "triangle-up"),
}


def _looks(names: list[str], columns: int = 1) -> dict[str, alt.Color | alt.Shape]:
    # A legend wider than a narrow page's plot takes the plot's width away.
    legend = alt.Legend(title=None, columns=columns, symbolOpacity=1)
    return {
        "color": alt.Color("what:N", legend=legend, scale=alt.Scale(
            domain=names, range=[WHAT[name][0] for name in names])),
        "shape": alt.Shape("what:N", legend=legend, scale=alt.Scale(
            domain=names, range=[WHAT[name][1] for name in names]))}


def _present(rows: pd.DataFrame) -> list[str]:
    return [name for name in WHAT if name in set(rows["what"])]


def forest(rows: pd.DataFrame) -> alt.FacetChart:
    """Draw how well each signal ranks, one panel for each set of pairs compared.

    Parameters
    ----------
    rows : DataFrame
        Columns panel, signal, value, lo, hi (AUROC, missing where there is
        none), shown (text), published (missing where nothing is printed) and
        where (of the printed figure).

    Returns
    -------
    altair.FacetChart
    """
    base = alt.Chart().encode(
        y=alt.Y("signal:N", sort=list(dict.fromkeys(rows["signal"])), title=None,
                axis=alt.Axis(labelLimit=190)),
        tooltip=tips(panel="pairs", signal="signal", shown="AUROC here", where="printed for",
                     published=("printed", ".3f")))
    scale = alt.Scale(domain=[0, 1])
    x = alt.X("value:Q", title="AUROC", scale=scale, axis=alt.Axis(values=[0, 0.5, 1]))
    chance = alt.Chart().mark_rule(style="chance").encode(x=alt.datum(0.5, scale=scale))
    spans = base.transform_filter("isValid(datum.lo)").mark_rule(style="reference").encode(
        x=alt.X("lo:Q", title="AUROC", scale=scale), x2="hi:Q")
    points = base.transform_filter("isValid(datum.value)").mark_point(style="reference").encode(x=x)
    hollow = base.transform_filter("isValid(datum.published)").mark_point(
        style="published", filled=False, shape="diamond", size=170).encode(
        x=alt.X("published:Q", title="AUROC", scale=scale))
    one = alt.layer(chance, spans, points, hollow, data=rows)
    return facets(one.properties(width=145, height=alt.Step(30)), "panel",
                  list(dict.fromkeys(rows["panel"])), columns=3, rows=True)


def where(rows: pd.DataFrame) -> alt.FacetChart:
    """Draw where in its run the riskiest step falls, one panel for each reading of risk.

    Parameters
    ----------
    rows : DataFrame
        Columns risk, part (text, in the order of the run), what (of `WHAT`),
        value, lo and hi (share of runs in [0, 1], missing where there is none).

    Returns
    -------
    altair.FacetChart
    """
    order = list(dict.fromkeys(rows["part"]))
    looks = _looks(_present(rows), columns=2)
    base = alt.Chart().transform_filter("isValid(datum.value)").encode(
        x=alt.X("part:N", sort=order, title="part of the run", axis=alt.Axis(labelAngle=0)),
        tooltip=tips(risk="risk", what="of", part="part of the run", value=("share", ".1%"),
                     lo=("from", ".1%"), hi=("to", ".1%")))
    y = alt.Y("value:Q", title="share of runs", axis=alt.Axis(format="%", tickCount=5))
    failed = base.transform_filter("datum.what == 'failed runs'")
    bars = failed.mark_bar(opacity=0.55).encode(y=y, color=looks["color"])
    spans = failed.transform_filter("isValid(datum.lo)").mark_rule(style="reference").encode(
        y=alt.Y("lo:Q", title="share of runs"), y2="hi:Q")
    points = base.transform_filter("datum.what != 'failed runs'").mark_point(
        size=110, opacity=1).encode(
        y=y, **looks, xOffset=alt.XOffset("what:N", scale=alt.Scale(paddingOuter=0.3)))
    one = alt.layer(bars, spans, points, data=rows).resolve_scale(xOffset="independent")
    return facets(one.properties(width=270, height=240), "risk",
                  list(dict.fromkeys(rows["risk"])), columns=2)


def relations(rows: pd.DataFrame) -> alt.LayerChart:
    """Draw how much more of the weight comes along each relation at the peak than elsewhere.

    Parameters
    ----------
    rows : DataFrame
        Columns relation, what (of `WHAT`), value, lo, hi (difference of
        shares, missing where there is none), shown (text), peak and others
        (the two shares).

    Returns
    -------
    altair.LayerChart
    """
    names = _present(rows)
    title = "share of weight at the peak minus at other steps"
    base = alt.Chart(rows).transform_filter("isValid(datum.value)").encode(
        y=alt.Y("relation:N", sort=list(dict.fromkeys(rows["relation"])), title=None),
        yOffset=alt.YOffset("what:N", sort=names),
        tooltip=tips(relation="relation", what="of", shown="difference",
                     peak=("at the peak", ".3f"), others=("at other steps", ".3f")))
    looks = _looks(names)
    zero = alt.Chart().mark_rule(style="chance").encode(x=alt.datum(0))
    axis = alt.Axis(tickCount=5)  # so that 0 is among the labels
    spans = base.transform_filter("isValid(datum.lo)").mark_rule(strokeWidth=2).encode(
        x=alt.X("lo:Q", title=title, axis=axis), x2="hi:Q", color=looks["color"])
    points = base.mark_point(size=100).encode(x=alt.X("value:Q", title=title, axis=axis), **looks)
    return alt.layer(zero, spans, points).properties(height=alt.Step(52, **{"for": "position"}))


def levels(rows: pd.DataFrame) -> alt.LayerChart:
    """Draw what the riskiest step is like beside other steps, and what is printed of it.

    Parameters
    ----------
    rows : DataFrame
        Columns number (its name), what (of `WHAT`), value, lo, hi (in [0, 1],
        missing where there is none), shown (text) and published (missing where
        nothing is printed).

    Returns
    -------
    altair.LayerChart
    """
    names, scale = _present(rows), alt.Scale(domain=[0, 1])
    looks = _looks(names)
    base = alt.Chart(rows).encode(
        y=alt.Y("number:N", sort=list(dict.fromkeys(rows["number"])), title=None,
                axis=alt.Axis(labelLimit=190)),
        tooltip=tips(number="number", what="of", shown="mean", published=("printed", ".3f")))
    drawn = base.transform_filter("isValid(datum.value)").encode(
        yOffset=alt.YOffset("what:N", sort=names))
    x = alt.X("value:Q", title="mean over runs", scale=scale)
    spans = drawn.transform_filter("isValid(datum.lo)").mark_rule(strokeWidth=2).encode(
        x=alt.X("lo:Q", title="mean over runs", scale=scale), x2="hi:Q", color=looks["color"])
    points = drawn.mark_point(size=100).encode(x=x, **looks)
    hollow = base.transform_filter("isValid(datum.published)").mark_point(
        style="published", filled=False, shape="diamond", size=170).encode(
        x=alt.X("published:Q", title="mean over runs", scale=scale))
    return alt.layer(spans, points, hollow).properties(height=alt.Step(52, **{"for": "position"}))


def one_run(rows: pd.DataFrame) -> alt.FacetChart:
    """Draw the numbers of one run, step by step, one panel a number.

    Parameters
    ----------
    rows : DataFrame
        Columns number (its name), step, value, and mark (text at the steps
        the page speaks of, or empty).

    Returns
    -------
    altair.FacetChart
    """
    base = alt.Chart().encode(
        x=alt.X("step:O", title="step", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("value:Q", title=None, scale=alt.Scale(zero=True)),
        tooltip=tips(number="number", step="step", value=("value", ".3f"), mark="note"))
    line = base.mark_line(strokeWidth=1.5)
    points = base.mark_point(style="reference", size=60)
    words = base.transform_filter("datum.mark").mark_point(
        shape="diamond", filled=False, size=330, strokeWidth=2.5, color=ROLE["loud"])
    one = alt.layer(line, points, words).properties(width=190, height=150)
    return facets(alt.layer(one, data=rows), "number", list(dict.fromkeys(rows["number"])),
                  columns=3)
