"""Figures of the chapter on the relational graph, one function a figure.

Decision: a relation is told by its dashes as well as by its colour, colours
that no role of the book has; time runs downwards, so that a bar of terms
stands in the row of its step. Refusal: nothing is computed, sampled or read
here; text of a log is only ever a tooltip's value.
"""

from __future__ import annotations

import altair as alt
import pandas as pd

from tjlib.charts.parts import facets, tips
from tjlib.charts.theme import HEAT, RELATION

__all__ = ["RELATION", "before_after", "growth", "trajectory"]

_LANES = ("user", "agent", "environment")
_PARTS = ("#08519C", "#4292C6", "#9ECAE1", "#DEEBF7")
_ROW = 32


def _scale(names: list[str], values: list) -> alt.Scale:
    return alt.Scale(domain=names, range=values)


def trajectory(
    nodes: pd.DataFrame, edges: pd.DataFrame, curves: pd.DataFrame, parts: pd.DataFrame
) -> alt.HConcatChart:
    """Draw a run as a graph on a time axis, and beside each step what its R is made of.

    Parameters
    ----------
    nodes, edges, curves, parts : DataFrame
        The frames of `tjlib.uncertainty.layout.Layout`.

    Returns
    -------
    altair.HConcatChart
        Pointing at a step leaves the edges into it strong and fades the others.
    """
    here = alt.selection_point(on="pointerover", clear="pointerout", fields=["target"])
    rows = alt.Scale(domain=[-1.1, float(nodes["row"].max()) + 0.7], reverse=True, nice=False)
    size = {"height": _ROW * (int(nodes["row"].max()) + 2)}
    y = alt.Y("row:Q", scale=rows, axis=None)
    left = alt.layer(
        _edges(edges, curves, rows, here), *_nodes(nodes, y, here), _heads(y),
    ).resolve_scale(size="independent").properties(width=320, **size)
    return alt.hconcat(left, _bars(parts, rows, here).properties(width=230, **size)).resolve_scale(
        fill="independent")


def _edges(edges: pd.DataFrame, curves: pd.DataFrame, rows: alt.Scale,
           here: alt.Parameter) -> alt.Chart:
    told = ["came_from", "goes_to", "strength", "age", "reliability", "share", "part", "evidence"]
    names, looks = list(RELATION), list(RELATION.values())
    stroke = alt.Legend(title="relation", columns=2, symbolSize=700, symbolStrokeWidth=3)
    return alt.Chart(curves).transform_lookup(
        "edge", from_=alt.LookupData(edges[["edge", *told]], "edge", told),
    ).mark_line(interpolate="basis", aria=False, strokeCap="butt").encode(
        x=alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-0.3, 2.3])),
        y=alt.Y("y:Q", scale=rows, axis=None), order="order:Q", detail="edge:N",
        color=alt.Color("relation:N", legend=stroke,
                        scale=_scale(names, [colour for colour, _ in looks])),
        strokeDash=alt.StrokeDash("relation:N", legend=stroke,
                                  scale=_scale(names, [dash for _, dash in looks])),
        # A line's size is its width.
        size=alt.Size("weight:Q", legend=None, scale=alt.Scale(
            domain=[0, float(curves["weight"].max()) if len(curves) else 1], range=[0.7, 6])),
        opacity=alt.condition(here, alt.value(0.9), alt.value(0.12)),
        tooltip=tips(relation="relation", came_from="from", goes_to="to",
                     strength=("strength", ".3f"), age=("age in nodes", "d"),
                     reliability=("reliability", ".3f"), weight=("weight", ".3f"),
                     share=("share of the step's weight", ".1%"), part=("part of G", ".3f"),
                     evidence="because"))


def _nodes(nodes: pd.DataFrame, y: alt.Y, here: alt.Parameter) -> tuple[alt.Chart, ...]:
    top = max(float(nodes["risk"].max()), 1.0)
    fill = alt.Fill("risk:Q", title="R (steps), U (others)", scale=alt.Scale(
        domain=[0, top], range=list(HEAT["range"]), interpolate="rgb"))
    base = alt.Chart(nodes.assign(target=nodes["node"])).encode(
        x=alt.X("lane:Q", axis=None), y=y)
    own = base.transform_filter("datum.kind == 'assistant'")
    steps = own.mark_point(style="published", shape="circle", aria=False).encode(
        fill=fill, size=alt.Size("risk:Q", legend=None, scale=alt.Scale(
            domain=[0, top], range=[330, 900])),
        tooltip=tips(name="node", text="says and calls", U=("U", ".3f"), Q=("Q", ".3f"),
                     G=("G", ".3f"), m=("m", ".3f"), H=("H", ".3f"), R=("R", ".3f"),
                     P=("passed on", ".3f"))).add_params(here)
    words = own.mark_text(fontSize=14, aria=False, tooltip=None).encode(
        text="step:Q", color=alt.condition(f"datum.risk > {HEAT['turn'] * top}",
                                           alt.value("white"), alt.value("black")))
    others = base.transform_filter("datum.kind != 'assistant'").mark_point(
        style="published", size=260, aria=False).encode(
        fill=fill, shape=alt.Shape("kind:N", legend=None, scale=_scale(
            ["user", "env"], ["square", "diamond"])),
        tooltip=tips(name="node", text="says", risk=("U", ".3f"), why="because"))
    return others, steps, words


def _heads(y: alt.Y) -> alt.Chart:
    heads = pd.DataFrame({"lane": range(3), "row": -0.8, "head": _LANES})
    return alt.Chart(heads).mark_text(fontSize=14, fontWeight="bold").encode(
        x=alt.X("lane:Q", axis=None), y=y, text="head:N")


def _bars(parts: pd.DataFrame, rows: alt.Scale, here: alt.Parameter) -> alt.LayerChart:
    names = list(dict.fromkeys(parts["part"]))
    base = alt.Chart(parts)
    boxes = base.mark_rect(style="published", strokeWidth=0.7, aria=False).encode(
        x=alt.X("lo:Q", title="R (higher: likelier to fail)"), x2="hi:Q",
        y=alt.Y("above:Q", scale=rows, axis=None), y2="below:Q",
        fill=alt.Fill("part:N", title="made of", scale=_scale(names, list(_PARTS)),
                      legend=alt.Legend(columns=2, symbolType="square")),
        opacity=alt.condition(here, alt.value(1), alt.value(0.35)),
        tooltip=tips(step=("step", "d"), part="part", value=("adds", ".3f"), R=("R", ".3f")))
    whole = base.transform_filter(f"datum.part == '{names[-1]}'" if names else "false")
    y = alt.Y("row:Q", scale=rows, axis=None)
    ends = whole.mark_text(align="left", dx=5, aria=False).encode(
        x="hi:Q", y=y, text=alt.Text("R:Q", format=".2f"))
    starts = whole.mark_text(align="right", dx=-5, fontWeight="bold", aria=False).encode(
        x=alt.datum(0), y=y, text="step:Q")
    return boxes + ends + starts


def before_after(risks: pd.DataFrame) -> alt.LayerChart:
    """Draw the R of each step with all edges and without some.

    Parameters
    ----------
    risks : DataFrame
        Columns step, whole, less (R with all edges, and without) and change.

    Returns
    -------
    altair.LayerChart
    """
    base = alt.Chart(risks).encode(
        y=alt.Y("step:O", title="step"),
        tooltip=tips(step=("step", "d"), whole=("all edges", ".3f"), less=("without", ".3f"),
                     change=("change", "+.3f")))
    x = alt.X("whole:Q", title="R (higher: likelier to fail)", scale=alt.Scale(zero=True))
    spans = base.mark_rule(strokeWidth=2).encode(x=x, x2="less:Q")
    # A ring around a dot: nothing changed.
    before = base.mark_point(style="published", filled=False, size=240).encode(x=x)
    after = base.mark_point(style="reference", size=70).encode(x="less:Q")
    return (spans + before + after).properties(height=alt.Step(30))


def growth(lines: pd.DataFrame) -> alt.FacetChart:
    """Draw R over a long run in which nothing happens, by what it observes and what is capped.

    Parameters
    ----------
    lines : DataFrame
        Columns panel, curve, step and R.

    Returns
    -------
    altair.FacetChart
    """
    curves = list(dict.fromkeys(lines["curve"]))
    base = alt.Chart().encode(
        x=alt.X("step:Q", title="step"), y=alt.Y("R:Q", title="R (higher: likelier to fail)"),
        strokeDash=alt.StrokeDash("curve:N", title=None, sort=curves, scale=_scale(
            curves, [[1, 0], [8, 4], [2, 3]][:len(curves)]), legend=alt.Legend(
                symbolSize=900, orient="bottom")),
        tooltip=tips(panel="run", curve="passed on", step=("step", "d"), R=("R", ".3f")))
    one = alt.layer(base.mark_line(), data=lines)
    return facets(one.properties(width=240, height=220), "panel",
                  list(dict.fromkeys(lines["panel"])), columns=2)
