"""Our recorded judges beside the published ones, one function a figure.

Decision: a row is one judge, published ones hollow with a thin interval and
ours filled, so that neither hides the other where they agree. Refusal:
nothing is computed here, and no line joins two judges, for they judged
different trajectories.
"""

from __future__ import annotations

import altair as alt
import pandas as pd

from tjlib.charts.parts import facets, tips
from tjlib.charts.theme import role_scale

__all__ = ["floor", "rates"]

_MARKS = {"silent": "circle", "loud": "square", "false alarm": "triangle-up"}
_OURS, _PUBLISHED = "datum.origin == 'ours'", "datum.origin == 'published'"


def rates(rows: pd.DataFrame) -> alt.LayerChart:
    """Draw silent recall, loud recall and false alarms, published and ours.

    Parameters
    ----------
    rows : DataFrame
        Columns judge (shown name, unique), origin ("published" or "ours"),
        what (silent, loud or false alarm), value, lo and hi (missing where
        there is no interval), and shown (text).

    Returns
    -------
    altair.LayerChart
    """
    judges = list(dict.fromkeys(rows["judge"]))
    base = alt.Chart(rows).encode(
        x=alt.X("value:Q", scale=alt.Scale(domain=[0, 1]),
                title=["share flagged", "recall: higher is better", "false alarms: lower"]),
        y=alt.Y("judge:N", sort=judges, title=None, scale=alt.Scale(paddingInner=0.2)),
        # Rates that agree would hide each other on one line.
        yOffset=alt.YOffset("what:N", scale=alt.Scale(
            domain=list(_MARKS), paddingInner=1, paddingOuter=0.6)),
        color=alt.Color("what:N", scale=alt.Scale(**role_scale(*_MARKS)),
                        legend=alt.Legend(title=None, symbolOpacity=1)),
        tooltip=tips(judge="judge", origin="origin", what="rate", shown="share flagged"))
    shape = alt.Shape("what:N", scale=alt.Scale(domain=list(_MARKS), range=list(_MARKS.values())))
    ours, published = (base.transform_filter(test) for test in (_OURS, _PUBLISHED))
    return alt.layer(
        ours.mark_rule(strokeWidth=11, opacity=0.35).encode(x="lo:Q", x2="hi:Q"),
        published.mark_rule(strokeWidth=2).encode(x="lo:Q", x2="hi:Q"),
        ours.mark_point(size=130).encode(shape=shape),
        published.mark_point(style="published", filled=False, size=130, strokeWidth=2).encode(
            shape=shape),
    ).properties(height=56 * len(judges))


def floor(rows: pd.DataFrame) -> alt.FacetChart:
    """Draw how far each judge stands above the floor, published and ours.

    Parameters
    ----------
    rows : DataFrame
        Columns panel (the measure), label (the judge's shown name, unique),
        origin ("published" or "ours"), value, lo and hi (missing where there
        is no interval) and shown (text); 0 is the floor.

    Returns
    -------
    altair.FacetChart
    """
    base = alt.Chart().encode(
        y=alt.Y("label:N", sort=list(dict.fromkeys(rows["label"])), title=None,
                axis=alt.Axis(labelLimit=170)),
        tooltip=tips(panel="panel", label="judge", origin="origin", shown="above the floor"))
    zero = alt.Chart().mark_rule(style="chance").encode(x=alt.datum(0))
    spans = base.mark_rule(style="reference", strokeWidth=2).encode(x="lo:Q", x2="hi:Q")
    x = alt.X("value:Q", title="above the floor", axis=alt.Axis(tickCount=4))
    ours = base.transform_filter(_OURS).mark_point(style="reference", size=90).encode(x=x)
    published = base.transform_filter(_PUBLISHED).mark_point(
        style="published", filled=False, size=90).encode(x=x)
    chart = alt.layer(zero, spans, ours, published, data=rows)
    return facets(chart.properties(width=200, height=alt.Step(32)), "panel",
                  list(dict.fromkeys(rows["panel"])), columns=2, rows=True,
                  ).resolve_scale(x="independent")
