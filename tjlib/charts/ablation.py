"""Figures of the ablation chapter, one function a figure.

Decision: the two forms of a score keep one mark each all page long, and a
default stands out as a hollow mark whose shape tells a printed number from
one that is not. Refusal: nothing is computed, sampled or read here.
"""

from __future__ import annotations

import altair as alt
import pandas as pd

from tjlib.charts.parts import facets, tips
from tjlib.charts.theme import ROLE

__all__ = ["FORMS", "against_length", "sensitivity"]

#: Colour and shape of each form, in the order of the legend.
FORMS = {"structural": ("#009E73", "circle"), "own uncertainty": ("#B37700", "square")}
_OUTCOMES = {"failed": (ROLE["loud"], "square"), "successful": (ROLE["clean"], "circle")}


def _looks(looks: dict[str, tuple[str, str]], field: str, present: set[str]) -> dict:
    names = [name for name in looks if name in present]
    legend = alt.Legend(title=None, symbolOpacity=1)
    return {
        "color": alt.Color(f"{field}:N", legend=legend, scale=alt.Scale(
            domain=names, range=[looks[name][0] for name in names])),
        "shape": alt.Shape(f"{field}:N", legend=legend, scale=alt.Scale(
            domain=names, range=[looks[name][1] for name in names]))}


def sensitivity(rows: pd.DataFrame) -> alt.FacetChart:
    """Draw how the AUROC changes with each number, one panel a number.

    Parameters
    ----------
    rows : DataFrame
        Columns number, setting (text that sorts in order), form (of `FORMS`),
        change, lo, hi (missing where there is none), shown (text), and
        default ("printed", "not printed" or empty).

    Returns
    -------
    altair.FacetChart
    """
    looks = _looks(FORMS, "form", set(rows["form"]))
    x = alt.X("setting:O", title=None, axis=alt.Axis(labelAngle=0))
    base = alt.Chart().transform_filter("isValid(datum.change)").encode(
        x=x, tooltip=tips(number="number", setting="set to", form="form", shown="change"))
    y = alt.Y("change:Q", title="change in AUROC", axis=alt.Axis(tickCount=4))
    zero = alt.Chart().mark_rule(style="chance").encode(y=alt.datum(0))
    spans = base.transform_filter("isValid(datum.lo)").mark_rule(
        strokeWidth=6, opacity=0.35).encode(
        y=alt.Y("lo:Q", title="change in AUROC"), y2="hi:Q", color=looks["color"])
    lines = base.mark_line(strokeWidth=1.5).encode(y=y, color=looks["color"])
    points = base.mark_point(size=60).encode(y=y, **looks)
    # Every panel has a default, so that no layer of one is empty.
    default = base.transform_filter("datum.default != ''").mark_point(
        style="published", filled=False, size=260).encode(y=y, shape=alt.condition(
            "datum.default == 'printed'", alt.value("diamond"), alt.value("cross")))
    one = alt.layer(zero, spans, lines, points, default, data=rows)
    chart = facets(one.properties(width=190, height=120), "number",
                   list(dict.fromkeys(rows["number"])), columns=3)
    return chart.resolve_scale(x="independent", y="independent")


def against_length(rows: pd.DataFrame) -> alt.FacetChart:
    """Draw the mean score of runs of a length over that length, one panel a score.

    Parameters
    ----------
    rows : DataFrame
        Columns panel, steps, outcome ("failed", "successful"), score (mean)
        and runs (how many).

    Returns
    -------
    altair.FacetChart
    """
    looks = _looks(_OUTCOMES, "outcome", set(rows["outcome"]))
    size = alt.Size("runs:Q", legend=None, scale=alt.Scale(
        domain=[0, 20], range=[0, 300], clamp=True))
    one = alt.Chart(rows).mark_point(opacity=0.7).encode(
        x=alt.X("steps:Q", title="steps of the agent", axis=alt.Axis(tickCount=5)),
        y=alt.Y("score:Q", title="mean score", scale=alt.Scale(zero=False),
                axis=alt.Axis(tickCount=5)),
        size=size, tooltip=tips(outcome="outcome", steps="steps", runs=("runs", "d"),
                                score=("mean score", ".3f")), **looks)
    chart = facets(one.properties(width=250, height=170), "panel",
                   list(dict.fromkeys(rows["panel"])), columns=2)
    return chart.resolve_scale(y="independent")
