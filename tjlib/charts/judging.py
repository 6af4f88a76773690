"""Figures of the judging chapters, one function a figure.

Decision: each function takes a tidy frame that already holds every number it
shows, intervals included, and returns one chart. Refusal: nothing is
computed, sampled or read here.
"""

from __future__ import annotations

import altair as alt
import pandas as pd

from tjlib.charts.parts import facets, heat, ink, tips
from tjlib.charts.theme import role_scale

__all__ = ["RATES", "composition", "confusion", "dumbbell", "reliability", "strips", "type_strip"]

#: The rates a `dumbbell` shows, and the names it shows them by.
RATES = {"silent_recall": "silent", "loud_recall": "loud", "false_alarm_rate": "false alarm",
         "recall": "pooled"}

_SURVIVAL = ("clean", "silent", "loud")
_MARKS = {"silent": "circle", "loud": "square", "false alarm": "triangle-up"}
#: From top to bottom in a judge's row: rates that agree would hide each other on one line.
_LANES = ("silent", "pooled", "loud", "false alarm")


def _role(field: str, *names: str, legend: alt.Legend | None) -> alt.Color:
    return alt.Color(f"{field}:N", scale=alt.Scale(**role_scale(*names)), legend=legend)


def _shape(field: str, marks: dict[str, str]) -> alt.Shape:
    scale = alt.Scale(domain=list(marks), range=list(marks.values()))
    return alt.Shape(f"{field}:N", scale=scale, legend=alt.Legend(title=None))


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
              scale=alt.Scale(paddingInner=0.03),
              axis=alt.Axis(labelAngle=0, orient="top", domain=False, ticks=False))
    base = alt.Chart(steps).encode(x=x, y=y, tooltip=tips(
        variant="trajectory", step="step", call="call", observation="came back"))
    boxes = base.mark_rect(cornerRadius=3).encode(
        color=_role("role", *_SURVIVAL, legend=alt.Legend(
            title=None, orient="bottom", labelExpr="datum.value == 'clean' ? 'as the oracle' : "
            "'edited, ' + datum.value")))
    words = base.mark_text(fontSize=14).encode(text="tool:N", color=ink("role"))
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
    base = alt.Chart(cells).transform_calculate(
        place=f"indexof({list(_SURVIVAL)}, datum.role)",
    ).encode(
        y=alt.Y("fault:N", sort=faults, title=None),
        x=alt.X("n:Q", title="trajectories", stack="zero"),
        order=alt.Order("place:Q"),
        tooltip=tips(fault="fault", role="outcome", n=("trajectories", "d")))
    bars = base.mark_bar().encode(color=_role("role", *_SURVIVAL, legend=alt.Legend(title=None)))
    words = base.mark_text(align="right", dx=-4, fontWeight="bold").encode(
        text="n:Q", detail="role:N", color=ink("role"))
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
    judges = list(dict.fromkeys(recalls["judge"]))
    base = alt.Chart(recalls).encode(
        x=alt.X("value:Q", scale=alt.Scale(domain=[0, 1]),
                title=["share flagged", "recall: higher is better", "false alarms: lower"]),
        y=alt.Y("judge:N", sort=judges, title=None, scale=alt.Scale(paddingInner=0.2)),
        yOffset=alt.YOffset("what:N", scale=alt.Scale(
            domain=list(_LANES), paddingInner=1, paddingOuter=0.6)),
        tooltip=tips(judge="judge", what="rate", shown="share flagged"))
    color = _role("what", *_MARKS, legend=alt.Legend(title=None, symbolOpacity=1))
    ends = base.transform_filter("datum.what == 'silent' || datum.what == 'loud'")
    handle = ends.mark_line(style="reference", strokeWidth=1).encode(detail="judge:N")
    rates = base.transform_filter("datum.what != 'pooled'")
    spans = rates.mark_rule(strokeWidth=11, opacity=0.35).encode(
        x="lo:Q", x2="hi:Q", color=_role("what", *_MARKS, legend=None))
    points = rates.mark_point(size=130).encode(color=color, shape=_shape("what", _MARKS))
    pooled = base.transform_filter("datum.what == 'pooled'").mark_point(
        style="published", filled=False, size=130,
    ).encode(shape=_shape("what", {"pooled": "diamond"}))
    return (handle + spans + points + pooled).resolve_scale(
        color="independent", shape="independent").properties(height=62 * len(judges))


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
        tooltip=tips(judge="judge", row="of", shown="share flagged"))
    fill, words_on = heat("value", "share flagged")
    boxes = base.mark_rect(stroke="white").encode(color=fill)
    words = base.mark_text(fontSize=14).encode(
        text=alt.Text("value:Q", format=".2f"), color=words_on)
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
    # Room for the marks at 0 and 1, so that none sticks out of its panel.
    scale, axis = alt.Scale(domain=[-0.08, 1.08], nice=False), alt.Axis(tickCount=6)
    base = alt.Chart().encode(
        x=alt.X("confidence:Q", title="stated confidence", scale=scale, axis=axis))
    diagonal = alt.Chart().mark_line(style="chance").encode(
        x="confidence:Q", y="ideal:Q").transform_filter("isValid(datum.ideal)")
    spans = base.mark_rule().encode(
        y=alt.Y("lo:Q", title="share correct", scale=scale, axis=axis), y2="hi:Q")
    points = base.mark_point(style="reference").encode(
        y="accuracy:Q",
        size=alt.Size("n:Q", scale=alt.Scale(range=[30, 600]), legend=alt.Legend(
            title="verdicts in the bin", orient="bottom", values=[25, 100, 300])),
        fillOpacity=alt.condition("datum.kind == 'hand-set'", alt.value(0), alt.value(0.3)),
        tooltip=tips(judge="judge", kind="confidence is", confidence=("stated confidence", ".3f"),
                     accuracy=("share correct", ".3f"), lo=("from", ".3f"), hi=("to", ".3f"),
                     n=("verdicts", "d")))
    ends = bins.drop_duplicates("judge").merge(
        pd.DataFrame({"confidence": [0.0, 1.0], "ideal": [0.0, 1.0]}), how="cross",
        suffixes=("_bin", ""))[["judge", "confidence", "ideal"]]
    one = alt.layer(diagonal, spans, points, data=pd.concat([bins, ends]))
    return facets(one.properties(width=210, height=210), "judge",
                  list(dict.fromkeys(bins["judge"])), columns=3)


def confusion(counts: pd.DataFrame) -> alt.LayerChart:
    """Draw what one judge called each type of fault.

    Parameters
    ----------
    counts : DataFrame
        Columns true, called, n, and share (of the faults of that true type).

    Returns
    -------
    altair.LayerChart
    """
    true, called = (list(dict.fromkeys(counts[name])) for name in ("true", "called"))
    base = alt.Chart(counts).encode(
        x=alt.X("called:N", sort=called, title="called",
                axis=alt.Axis(orient="top", labelAngle=-90, labelLimit=170)),
        y=alt.Y("true:N", sort=true, title=None, axis=alt.Axis(labelLimit=170)),
        tooltip=tips(true="is", called="called", n=("trajectories", "d"),
                     share=("share of the type", ".2f")))
    fill, words_on = heat("share")
    boxes = base.mark_rect(stroke="white").encode(color=fill)
    words = base.transform_filter("datum.n > 0").mark_text(fontSize=14).encode(
        text="n:Q", color=words_on)
    return (boxes + words).properties(height=alt.Step(34))
