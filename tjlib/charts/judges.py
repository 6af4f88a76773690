"""Figures of the chapter on judges, one function a figure.

Decision: each function takes a tidy frame that already holds every number it
shows and returns one chart. Refusal: nothing is computed, sampled or read
here.
"""

from __future__ import annotations

import altair as alt
import pandas as pd

from tjlib.charts.parts import facets, tips
from tjlib.charts.theme import role_scale

__all__ = ["kinds", "probabilities"]

#: What `tjlib.measure.replies.by_kind` counts -> what the legend calls it.
_SENTENCES = {"recall": "invented, caught", "false alarms": "harmless, flagged"}
_SURVIVAL = ("clean", "silent", "loud")


def kinds(rows: pd.DataFrame) -> alt.LayerChart:
    """Draw the share of sentences flagged, by kind of sentence and judge.

    Parameters
    ----------
    rows : DataFrame
        As `tjlib.measure.replies.by_kind` gives it, with judge (shown name,
        at most two) and shown (text): what ("recall" or "false alarms"),
        kind, value, lo and hi.

    Returns
    -------
    altair.LayerChart
    """
    rows = rows.assign(
        role=rows["what"].map(_SENTENCES),
        label=rows["kind"].str.replace("_", " ") + rows["what"].map(
            {"recall": "", "false alarms": " (harmless)"}))
    judges = list(dict.fromkeys(rows["judge"]))
    colour = role_scale("silent", "false alarm") | {"domain": list(_SENTENCES.values())}
    marks = alt.Scale(domain=judges, range=["circle", "diamond"][:len(judges)])
    base = alt.Chart(rows).encode(
        y=alt.Y("label:N", sort=list(dict.fromkeys(rows["label"])), title=None),
        # Two judges that agree would hide each other on one line.
        yOffset=alt.YOffset("judge:N", scale=alt.Scale(domain=judges, paddingOuter=0.4)),
        color=alt.Color("role:N", scale=alt.Scale(**colour),
                        legend=alt.Legend(title=None, columns=1)),
        tooltip=tips(judge="judge", label="kind", shown="share flagged"))
    x = alt.X("lo:Q", title=["share of sentences flagged", "invented: higher is better",
                             "harmless: lower"], scale=alt.Scale(domain=[0, 1]))
    spans = base.mark_rule(strokeWidth=2).encode(x=x, x2="hi:Q")
    points = base.mark_point(size=70).encode(x="value:Q", shape=alt.Shape(
        "judge:N", scale=marks, legend=alt.Legend(title=None, columns=1)))
    return alt.layer(spans, points).properties(height=32 * rows["label"].nunique())


def probabilities(quantiles: pd.DataFrame) -> alt.FacetChart:
    """Draw where a judge's probability of ``faulty`` lies, by what is true.

    Parameters
    ----------
    quantiles : DataFrame
        As `tjlib.measure.tokens.spread` gives it: judge, role, n, lo, q1,
        median, q3 and hi.

    Returns
    -------
    altair.FacetChart
    """
    base = alt.Chart().encode(
        y=alt.Y("role:N", sort=list(_SURVIVAL), title=None),
        color=alt.Color("role:N", scale=alt.Scale(**role_scale(*_SURVIVAL)), legend=None),
        tooltip=tips(judge="judge", role="is", n=("trajectories", "d"), lo=("5 %", ".3f"),
                     q1=("quarter", ".3f"), median=("median", ".3f"),
                     q3=("three quarters", ".3f"), hi=("95 %", ".3f")))
    half = alt.Chart().mark_rule(style="chance").encode(x=alt.datum(0.5))
    x = alt.X("lo:Q", title="probability of faulty", scale=alt.Scale(domain=[0, 1]),
              axis=alt.Axis(values=[0, 0.5, 1]))
    whole = base.mark_rule(strokeWidth=2).encode(x=x, x2="hi:Q")
    middle = base.mark_rule(strokeWidth=12, opacity=0.45).encode(x="q1:Q", x2="q3:Q")
    points = base.mark_point(size=110).encode(x="median:Q", shape=alt.Shape(
        "role:N", legend=None, scale=alt.Scale(
            domain=list(_SURVIVAL), range=["triangle-up", "circle", "square"])))
    one = alt.layer(half, whole, middle, points, data=quantiles)
    return facets(one.properties(width=240, height=alt.Step(40)), "judge",
                  list(dict.fromkeys(quantiles["judge"])), columns=2)
