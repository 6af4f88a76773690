"""Figures of the chapter on the free panel, one function a figure.

Decision: the three beds are told apart by shape, faults and false alarms by
the book's colours, and every interval is drawn. Refusal: nothing is computed,
sampled or read here.
"""

from __future__ import annotations

import altair as alt
import pandas as pd

from tjlib.charts.parts import facets, heat, ordered, tips
from tjlib.charts.theme import role_scale

__all__ = ["added", "logs", "shrinkage", "ways"]

#: How a run of a log ended -> the role whose colour it has.
_OUTCOMES = {"successful": "false alarm", "failed": "loud", "outcome unknown": "clean"}
#: A label is broken at the first blank after eight letters, for a narrow page.
_TWO_LINES = "split(replace(datum.label, /^(.{8,}?) /, '$1|'), '|')"
_SHAPES = ("circle", "square", "triangle-up")


def shrinkage(rows: pd.DataFrame) -> alt.LayerChart:
    """Draw the share flagged of each type of run on each bed, joined by a line.

    Parameters
    ----------
    rows : DataFrame
        Columns type, bed, rank (how far a bed is from what was set on), role
        (of `charts.theme`), value, lo, hi and shown.

    Returns
    -------
    altair.LayerChart
    """
    beds = ordered(rows, "bed")
    base = alt.Chart(rows).encode(
        x=alt.X("value:Q", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(tickCount=3),
                title=["share flagged", "faults: higher is better", "clean runs: lower"]),
        y=alt.Y("type:N", sort=ordered(rows, "type"), title=None),
        color=alt.Color("role:N", scale=alt.Scale(**role_scale(*ordered(rows, "role"))),
                        legend=alt.Legend(title=None, symbolOpacity=1)),
        tooltip=tips(type="type", bed="runs", shown="share flagged"))
    offset = alt.YOffset("bed:N", scale=alt.Scale(domain=beds, paddingInner=1, paddingOuter=0.5))
    return alt.layer(
        base.mark_line(strokeWidth=1, opacity=0.7).encode(
            yOffset=offset, detail="type:N", order=alt.Order("rank:Q")),
        base.mark_rule(strokeWidth=3).encode(x="lo:Q", x2="hi:Q", yOffset=offset),
        base.mark_point(size=110).encode(yOffset=offset, shape=alt.Shape(
            "bed:N", scale=alt.Scale(domain=beds, range=list(_SHAPES[:len(beds)])),
            # Seen on white and on black.
            legend=alt.Legend(title=None, columns=1, symbolFillColor="#808080",
                              symbolStrokeColor="#808080"))),
    ).properties(height=54 * rows["type"].nunique())


def ways(rows: pd.DataFrame) -> alt.VConcatChart:
    """Draw the share flagged of each way, a panel a kind of run.

    Parameters
    ----------
    rows : DataFrame
        Columns panel, way, role, value, lo, hi, shown and who (the members that flag).

    Returns
    -------
    altair.VConcatChart
    """
    colour = alt.Color("role:N", scale=alt.Scale(**role_scale(*ordered(rows, "role"))),
                       legend=alt.Legend(title=None, symbolOpacity=1))
    panels = []
    # Each panel has rows of its own, so they are no facet.
    for panel, part in rows.groupby("panel", sort=False):
        base = alt.Chart(part).encode(
            y=alt.Y("way:N", sort=ordered(part, "way"), title=None,
                    axis=alt.Axis(labelExpr=_TWO_LINES, labelLimit=150, minExtent=120)),
            color=colour, tooltip=tips(way="way", shown="share flagged", who="flagged by"))
        panels.append(alt.layer(
            base.mark_rule(strokeWidth=4).encode(x="lo:Q", x2="hi:Q"),
            base.mark_point(size=110).encode(x=alt.X(
                "value:Q", title="share flagged", scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(tickCount=3))),
            title=alt.Title(panel, anchor="middle", fontSize=14, fontWeight="normal"),
        ).properties(width=230, height=alt.Step(42)))
    return alt.vconcat(*panels)


def added(cells: pd.DataFrame) -> alt.LayerChart:
    """Draw what the panel would lose without each member, as shares of each type of run.

    Parameters
    ----------
    cells : DataFrame
        Columns member, type, value (in [0, 1]), text and shown.

    Returns
    -------
    altair.LayerChart
    """
    boxes, words = heat("value")
    base = alt.Chart(cells).encode(
        x=alt.X("member:N", sort=ordered(cells, "member"), title=None,
                axis=alt.Axis(labelAngle=0, orient="top", domain=False, ticks=False),
                scale=alt.Scale(paddingInner=0.06)),
        y=alt.Y("type:N", sort=ordered(cells, "type"), title=None,
                axis=alt.Axis(domain=False, ticks=False), scale=alt.Scale(paddingInner=0.06)),
        tooltip=tips(member="member", type="type", shown="lost without it"))
    return alt.layer(base.mark_rect(aria=False).encode(color=boxes),
                     base.mark_text(fontSize=14).encode(text="text:N", color=words)
                     ).properties(height=alt.Step(34))


def logs(rows: pd.DataFrame) -> alt.FacetChart:
    """Draw the share of runs flagged by how they ended, a panel a member.

    Parameters
    ----------
    rows : DataFrame
        Columns panel, set, role ("successful", "failed" or "outcome unknown"),
        value, lo, hi (missing where there is no interval) and shown.

    Returns
    -------
    altair.FacetChart
    """
    roles = [role for role in _OUTCOMES if role in set(rows["role"])]
    base = alt.Chart().encode(
        y=alt.Y("set:N", sort=ordered(rows, "set"), title=None),
        yOffset=alt.YOffset("role:N", scale=alt.Scale(
            domain=roles, paddingInner=1, paddingOuter=0.6)),
        color=alt.Color("role:N", scale=alt.Scale(
            domain=roles, range=[role_scale(_OUTCOMES[role])["range"][0] for role in roles]),
            legend=alt.Legend(title=None)),
        tooltip=tips(panel="member", set="set", role="runs", shown="share flagged"))
    one = alt.layer(
        base.mark_rule(strokeWidth=4).encode(x="lo:Q", x2="hi:Q"),
        base.mark_point(size=110).encode(x=alt.X(
            "value:Q", title="share flagged", scale=alt.Scale(domain=[0, 1]),
            axis=alt.Axis(tickCount=3))),
        data=rows).properties(width=210, height={"step": 46, "for": "position"})
    return facets(one, "panel", ordered(rows, "panel"), columns=2, rows=True)
