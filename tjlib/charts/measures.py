"""Figures of the chapter on measures, one function a figure.

Decision: each function takes a tidy frame that already holds every number it
shows and returns one chart; a row of the worked example looks the same in
all of them, filled where it counts and pale where it is only asked. Refusal:
nothing is computed, sampled or read here.
"""

from __future__ import annotations

import altair as alt
import pandas as pd

from tjlib.charts.parts import facets, ink, tips
from tjlib.charts.theme import role_scale

__all__ = ["counts", "distribution", "prevalence", "strips", "tails"]

_SURVIVAL = ("clean", "silent", "loud")
_SHARE = alt.Scale(domain=[0, 1])
_MARKS = {"this set": "circle", "organic": "square", "yours": "triangle-up"}


def _boxes(base: alt.Chart) -> alt.Chart:
    return base.mark_rect(aria=False).encode(
        color=alt.Color("role:N", scale=alt.Scale(**role_scale(*_SURVIVAL)),
                        legend=alt.Legend(title=None, orient="bottom")),
        fillOpacity=alt.condition("datum.full", alt.value(1), alt.value(0.22)))


def _words(base: alt.Chart) -> alt.LayerChart:
    on = base.transform_filter("datum.full").mark_text(fontSize=14, aria=False).encode(
        text="row:N", color=ink("role"))
    off = base.transform_filter("!datum.full").mark_text(fontSize=14, aria=False).encode(
        text="row:N")
    return on + off


def counts(cells: pd.DataFrame, values: pd.DataFrame) -> alt.LayerChart:
    """Draw which rows each score counts.

    Parameters
    ----------
    cells : DataFrame
        One row per score and row in its denominator: score, row (its number),
        role (clean, silent or loud) and full (whether the numerator has it).
    values : DataFrame
        Columns score, in drawing order, and shown (text).

    Returns
    -------
    altair.LayerChart
    """
    slots = [*map(str, sorted(set(cells["row"]))), "=", " "]
    cells = cells.astype({"row": str})
    x = alt.X("row:O", sort=slots, title="row", scale=alt.Scale(domain=slots, paddingInner=0.06),
              axis=alt.Axis(labelAngle=0, orient="top", domain=False, ticks=False))
    y = alt.Y("score:N", sort=list(values["score"]), title=None,
              scale=alt.Scale(paddingInner=0.08), axis=alt.Axis(domain=False, ticks=False))
    base = alt.Chart(cells).encode(x=x, y=y, tooltip=tips(
        score="score", row="row", role="is", full="in the numerator"))
    end = alt.Chart(values.assign(row="=")).mark_text(
        align="left", dx=-6, fontSize=14).encode(x=x, y=y, text="shown:N")
    return (_boxes(base) + _words(base) + end).properties(height=alt.Step(28))


def strips(drawn: pd.DataFrame, values: pd.DataFrame) -> alt.LayerChart:
    """Draw resamples as strips of the rows they drew, each with its score at the end.

    Parameters
    ----------
    drawn : DataFrame
        One row per strip and slot: strip, slot, row (number drawn), role and
        full (whether the judge flagged it).
    values : DataFrame
        Columns strip, in drawing order, and shown (text).

    Returns
    -------
    altair.LayerChart
    """
    slots = [*map(str, sorted(set(drawn["slot"]))), "=", " "]
    drawn = drawn.astype({"slot": str})
    x = alt.X("slot:O", sort=slots, axis=None, scale=alt.Scale(domain=slots, paddingInner=0.06))
    y = alt.Y("strip:O", sort=list(values["strip"]), axis=None,
              scale=alt.Scale(paddingInner=0.08))
    base = alt.Chart(drawn).encode(x=x, y=y, tooltip=tips(
        row="row drawn", role="is", full="flagged"))
    end = alt.Chart(values.assign(slot="=")).mark_text(
        align="left", dx=-6, fontSize=14, aria=False).encode(x=x, y=y, text="shown:N")
    return (_boxes(base) + _words(base) + end).properties(
        height=alt.Step(18))


def distribution(shares: pd.DataFrame, ends: pd.DataFrame, title: str) -> alt.LayerChart:
    """Draw how often resamples gave each value, with the point value and the interval.

    Parameters
    ----------
    shares : DataFrame
        Columns value, share (of resamples) and what: ``strips`` for those
        drawn one by one, else the long run.
    ends : DataFrame
        One row: value, lo, hi.
    title : str
        Of the horizontal axis.

    Returns
    -------
    altair.LayerChart
    """
    base = alt.Chart(shares).encode(
        x=alt.X("value:Q", title=title, scale=alt.Scale(zero=False, padding=12)),
        y=alt.Y("share:Q", title="share of resamples", axis=alt.Axis(format="%"),
                scale=alt.Scale(padding=20, nice=False)),
        tooltip=tips(what="resamples", value=(title, ".3f"), share=("share of them", ".1%")))
    long = base.transform_filter("datum.what != 'strips'").mark_bar(size=9)
    short = base.transform_filter("datum.what == 'strips'").mark_point(
        style="published", filled=False, size=90)
    span = alt.Chart(ends).mark_rule(strokeWidth=5, yOffset=12, style="reference").encode(
        x="lo:Q", x2="hi:Q", y=alt.datum(0))
    point = alt.Chart(ends).mark_point(
        style="reference", shape="diamond", size=160, yOffset=12).encode(
        x="value:Q", y=alt.datum(0))
    return (long + short + span + point).properties(height=220)


def tails(curves: pd.DataFrame, ends: pd.DataFrame, tail: float) -> alt.LayerChart:
    """Draw the two binomial tails against the true rate, and where they meet the level.

    Parameters
    ----------
    curves : DataFrame
        Columns rate, chance and side (text, drawn beside the curve).
    ends : DataFrame
        The bounds: rate, side and shown (text).
    tail : float
        Chance left beyond each bound.

    Returns
    -------
    altair.LayerChart
    """
    base = alt.Chart(curves).encode(
        x=alt.X("rate:Q", title="true rate", scale=alt.Scale(nice=False)),
        y=alt.Y("chance:Q", title="chance of such a count", scale=_SHARE))
    lines = base.mark_line().encode(strokeDash=alt.StrokeDash("side:N", legend=alt.Legend(
        title="chance of", orient="bottom")))
    level = alt.Chart(pd.DataFrame({"level": [tail]})).mark_rule(style="chance").encode(y="level:Q")
    at = alt.Chart(ends).encode(x="rate:Q", y=alt.datum(tail))
    points = at.mark_point(style="reference", size=130).encode(
        tooltip=tips(side="2.5 % chance of", rate=("at a true rate of", ".4f")))
    words = at.mark_text(dy=-16, align="left", fontWeight="bold").encode(text="shown:N")
    return (lines + level + points + words).properties(height=240)


def prevalence(curves: pd.DataFrame, marks: pd.DataFrame) -> alt.FacetChart:
    """Draw precision against the deployed fault rate, one panel a judge.

    Parameters
    ----------
    curves : DataFrame
        Columns judge, fault_rate, value, lo and hi (missing where no band).
    marks : DataFrame
        Columns judge, fault_rate, value, where (this set, organic or yours)
        and shown (text).

    Returns
    -------
    altair.FacetChart
    """
    judges = list(dict.fromkeys(curves["judge"]))
    base = alt.Chart().encode(x=alt.X(
        "fault_rate:Q", title="deployed fault rate (log scale)", scale=alt.Scale(type="log"),
        axis=alt.Axis(values=[0.001, 0.01, 0.1, 1], format="~%")))
    y = alt.Y("value:Q", title="PPV (higher is better)", scale=_SHARE)
    along = base.transform_filter("!datum.where")
    band = along.mark_area(opacity=0.25, style="reference", line=False).encode(
        y=alt.Y("lo:Q", title="PPV (higher is better)", scale=_SHARE), y2="hi:Q"
    ).transform_filter("isValid(datum.lo)")
    line = along.mark_line().encode(y=y)
    chance = along.mark_line(style="chance").encode(
        y=alt.Y("fault_rate:Q", title="PPV (higher is better)"))
    points = base.transform_filter("datum.where").mark_point(style="reference", size=110).encode(
        y=y, shape=alt.Shape("where:N", legend=alt.Legend(title=None, orient="bottom"),
                             scale=alt.Scale(domain=list(_MARKS), range=list(_MARKS.values()))),
        tooltip=tips(judge="judge", where="where", fault_rate=("fault rate", ".1%"), shown="PPV"))
    one = alt.layer(band, chance, line, points, data=pd.concat([curves, marks]))
    return facets(one.properties(width=210, height=190), "judge", judges, columns=3)
