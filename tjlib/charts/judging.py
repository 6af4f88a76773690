"""Figures of the judging chapters, one function a figure.

Decision: each function takes a tidy frame that already holds every number it
shows, intervals included, and returns one chart. Refusal: nothing is
computed, sampled or read here.
"""

from __future__ import annotations

import altair as alt
import pandas as pd

from tjlib.charts.theme import role_scale

__all__ = ["RATES", "composition", "confusion", "dumbbell", "reliability", "strips", "type_strip"]

#: The rates a `dumbbell` shows, and the names it shows them by.
RATES = {"silent_recall": "silent", "loud_recall": "loud", "false_alarm_rate": "false alarm",
         "recall": "pooled"}

_SURVIVAL = ("clean", "silent", "loud")
_MARKS = {"silent": "circle", "loud": "square", "false alarm": "triangle-up"}


def _role(field: str, *names: str, legend: alt.Legend | None) -> alt.Color:
    return alt.Color(f"{field}:N", scale=alt.Scale(**role_scale(*names)), legend=legend)


def strips(steps: pd.DataFrame) -> alt.LayerChart:
    """Draw a clean trajectory and its mutants as aligned strips of steps.

    Parameters
    ----------
    steps : DataFrame
        One row a step: variant and heading (text over the strip), order, step
        (0-based), tool (short), call, observation, and role: ``clean`` for a
        step as the oracle made it, else the fault's survival at the edited one.

    Returns
    -------
    altair.LayerChart
    """
    order = alt.EncodingSortField("order")
    y = alt.Y("variant:N", sort=order, axis=None,
              scale=alt.Scale(paddingInner=0.5, paddingOuter=0.6))
    x = alt.X("step:O", title="step (0-based)",
              axis=alt.Axis(labelAngle=0, orient="top", domain=False, ticks=False))
    base = alt.Chart(steps).encode(x=x, y=y)
    boxes = base.mark_rect(stroke="white", cornerRadius=3, fillOpacity=0.85).encode(
        color=_role("role", *_SURVIVAL, legend=alt.Legend(
            title=None, orient="bottom", labelExpr="datum.value == 'clean' ? 'as the oracle' : "
            "'edited, ' + datum.value")),
        tooltip=["variant", "step", "call", "observation"])
    words = base.mark_text(fontSize=14, color="black").encode(text="tool:N")
    headings = alt.Chart(steps.drop_duplicates("variant")).mark_text(
        align="left", dy=-24, fontSize=14, fontWeight="bold",
    ).encode(y=y, x=alt.value(0), text="heading:N")
    return (boxes + words + headings).properties(height=58 * steps["variant"].nunique())


def composition(cells: pd.DataFrame) -> alt.LayerChart:
    """Draw how many trajectories each design cell of a judged set holds.

    Parameters
    ----------
    cells : DataFrame
        Columns fault, role (clean, silent or loud) and n.

    Returns
    -------
    altair.LayerChart
    """
    faults = list(dict.fromkeys(cells["fault"]))
    base = alt.Chart(cells).encode(
        y=alt.Y("fault:N", sort=faults, title=None),
        x=alt.X("n:Q", title="trajectories", stack="zero"),
        order=alt.Order("role:N"), tooltip=["fault", "role", "n"])
    bars = base.mark_bar().encode(color=_role("role", *_SURVIVAL, legend=alt.Legend(title=None)))
    words = base.mark_text(align="right", dx=-4, fontWeight="bold").encode(
        text="n:Q", detail="role:N",
        color=alt.condition("datum.role == 'loud'", alt.value("white"), alt.value("black")))
    return (bars + words).properties(height=alt.Step(34))


def dumbbell(recalls: pd.DataFrame) -> alt.LayerChart:
    """Draw silent and loud recall, the false-alarm rate and pooled recall, judge by judge.

    Parameters
    ----------
    recalls : DataFrame
        Columns judge, what (silent, loud, false alarm or pooled), value, lo
        and hi (missing where there is no interval), and shown (text).

    Returns
    -------
    altair.LayerChart
    """
    base = alt.Chart(recalls).encode(
        x=alt.X("value:Q", scale=alt.Scale(domain=[0, 1]),
                title=["share flagged", "recall: higher is better", "false alarms: lower"]),
        y=alt.Y("judge:N", sort=list(dict.fromkeys(recalls["judge"])), title=None),
        tooltip=["judge", "what", "shown"])
    color = _role("what", *_MARKS, legend=alt.Legend(
        title=None, symbolOpacity=1, columns=2))
    ends = base.transform_filter("datum.what == 'silent' || datum.what == 'loud'")
    handle = ends.mark_line(style="reference", strokeWidth=1).encode(detail="judge:N")
    spans = base.transform_filter("datum.what != 'pooled'").mark_rule(
        strokeWidth=11, opacity=0.35).encode(x="lo:Q", x2="hi:Q", color=color)
    points = base.transform_filter("datum.what != 'pooled'").mark_point(size=130).encode(
        color=color, shape=alt.Shape("what:N", scale=alt.Scale(
            domain=list(_MARKS), range=list(_MARKS.values()))))
    pooled = base.transform_filter("datum.what == 'pooled'").mark_point(
        style="published", filled=False, shape="diamond", size=130)
    return (handle + spans + points + pooled).properties(height=alt.Step(46))


def type_strip(recalls: pd.DataFrame) -> alt.LayerChart:
    """Draw recall per fault type as a heat strip, the false-alarm anchor last.

    Parameters
    ----------
    recalls : DataFrame
        Columns judge, row (fault type or the anchor's name), value, and shown
        (text with the interval).

    Returns
    -------
    altair.LayerChart
    """
    judges, rows = (list(dict.fromkeys(recalls[name])) for name in ("judge", "row"))
    base = alt.Chart(recalls).encode(
        x=alt.X("judge:N", sort=judges, title=None,
                axis=alt.Axis(orient="top", labelAngle=-90, labelLimit=160)),
        y=alt.Y("row:N", sort=rows, title=None, axis=alt.Axis(labelLimit=190)),
        tooltip=["judge", "row", "shown"])
    boxes = base.mark_rect(stroke="white").encode(color=alt.Color(
        "value:Q", scale=alt.Scale(scheme="blues", domain=[0, 1]),
        legend=alt.Legend(title="share flagged", orient="bottom", gradientLength=180)))
    words = base.mark_text(fontSize=14).encode(
        text=alt.Text("value:Q", format=".2f"),
        color=alt.condition("datum.value > .55", alt.value("white"), alt.value("black")))
    return (boxes + words).properties(height=alt.Step(34))


def reliability(bins: pd.DataFrame) -> alt.FacetChart:
    """Draw stated confidence against observed accuracy, one panel a judge.

    Parameters
    ----------
    bins : DataFrame
        Columns judge, confidence (bin mean), accuracy, lo, hi (interval of
        accuracy), n (verdicts in the bin) and kind (stated or hand-set).

    Returns
    -------
    altair.FacetChart
    """
    axis = alt.Scale(domain=[0, 1])
    base = alt.Chart().encode(x=alt.X("confidence:Q", title="stated confidence", scale=axis))
    diagonal = alt.Chart().mark_line(style="chance").encode(
        x="confidence:Q", y="ideal:Q").transform_filter("isValid(datum.ideal)")
    spans = base.mark_rule().encode(y=alt.Y("lo:Q", title="share correct", scale=axis), y2="hi:Q")
    points = base.mark_point(style="reference").encode(
        y="accuracy:Q",
        size=alt.Size("n:Q", scale=alt.Scale(range=[30, 600]), legend=alt.Legend(
            title="verdicts in the bin", orient="bottom", values=[25, 100, 300])),
        fillOpacity=alt.condition("datum.kind == 'hand-set'", alt.value(0), alt.value(0.3)),
        tooltip=["judge", "confidence", "accuracy", "n"])
    ends = bins.drop_duplicates("judge").merge(
        pd.DataFrame({"confidence": [0.0, 1.0], "ideal": [0.0, 1.0]}), how="cross",
        suffixes=("_bin", ""))[["judge", "confidence", "ideal"]]
    return alt.layer(diagonal, spans, points, data=pd.concat([bins, ends])).properties(
        width=210, height=210,
    ).facet(facet=alt.Facet("judge:N", sort=list(dict.fromkeys(bins["judge"])), title=None),
            columns=3)


def confusion(counts: pd.DataFrame) -> alt.LayerChart:
    """Draw what one judge called each type of fault.

    Parameters
    ----------
    counts : DataFrame
        Columns true, called, n and hit (whether the two agree).

    Returns
    -------
    altair.LayerChart
    """
    true, called = (list(dict.fromkeys(counts[name])) for name in ("true", "called"))
    base = alt.Chart(counts).encode(
        x=alt.X("called:N", sort=called, title="called",
                axis=alt.Axis(orient="top", labelAngle=-60, labelLimit=170)),
        y=alt.Y("true:N", sort=true, title=None, axis=alt.Axis(labelLimit=170)),
        tooltip=["true", "called", "n"])
    boxes = base.mark_rect(stroke="white").encode(
        color=alt.Color("n:Q", scale=alt.Scale(scheme="blues"), legend=None))
    words = base.transform_filter("datum.n > 0").mark_text(fontSize=14).encode(
        text="n:Q", color=alt.condition("datum.n > 25", alt.value("white"), alt.value("black")))
    return (boxes + words).properties(height=alt.Step(34))
