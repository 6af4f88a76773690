"""What several figures are made of: tooltips, panels, and words over a fill.

Decision: a tooltip names its fields in words and rounds its numbers; each
panel carries its own axes, so that none stands under an empty place; words
over a fill are black or white by that fill alone, which is opaque, so they
read alike in light and in dark. Refusal: nothing is computed, sampled or
read here.
"""

from __future__ import annotations

import altair as alt
import pandas as pd

from tjlib.charts.theme import HEAT, INK

__all__ = ["facets", "heat", "ink", "ordered", "tips"]


def tips(**fields: str | tuple[str, str]) -> list[alt.Tooltip]:
    """Name the fields of a tooltip.

    Parameters
    ----------
    **fields : str or (str, str)
        By field: what it is called, for a number also its format.

    Returns
    -------
    list of altair.Tooltip

    Examples
    --------
    >>> [tip.to_dict()["title"] for tip in tips(judge="judge", n=("verdicts", "d"))]
    ['judge', 'verdicts']
    """
    named = {field: (what, None) if isinstance(what, str) else what
             for field, what in fields.items()}
    return [alt.Tooltip(f"{field}:N", title=title) if form is None else
            alt.Tooltip(f"{field}:Q", title=title, format=form)
            for field, (title, form) in named.items()]


def ordered(rows: pd.DataFrame, field: str) -> list[str]:
    """List the values of a column, each once, as they come."""
    return list(dict.fromkeys(rows[field]))


def ink(field: str) -> alt.Color:
    """Colour words over a fill that stands for the role in ``field``."""
    light = [role for role, colour in INK.items() if colour == "#FFFFFF"]
    return _ink(f"indexof({light}, datum['{field}']) >= 0")


def heat(field: str, title: str | None = None) -> tuple[alt.Color, alt.Color]:
    """Colour boxes by a share from 0 to 1, and the words over them.

    Parameters
    ----------
    field : str
    title : str, optional
        Of the legend; there is none without.

    Returns
    -------
    (altair.Color, altair.Color)
        For the boxes, for the words.
    """
    legend = title and alt.Legend(title=title, orient="bottom")
    scale = alt.Scale(domain=[0, 1], range=list(HEAT["range"]), interpolate="rgb")
    boxes = alt.Color(f"{field}:Q", scale=scale, legend=legend or None)
    return boxes, _ink(f"datum['{field}'] > {HEAT['turn']}")


def _ink(light: str) -> alt.Color:
    return alt.condition(light, alt.value("white"), alt.value("black"))


def facets(
    chart: alt.LayerChart, field: str, order: list[str], columns: int, *,
    rows: bool = False,
) -> alt.FacetChart:
    """Repeat a chart for each value of a field, side by side.

    Parameters
    ----------
    chart : altair.LayerChart
        One panel, with the data of all.
    field : str
    order : list of str
        Of the panels.
    columns : int
        At most; a narrow page takes fewer.
    rows : bool
        Panels beside each other have the same rows, labelled at the left.

    Returns
    -------
    altair.FacetChart
    """
    faceted = chart.facet(facet=alt.Facet(f"{field}:N", sort=order, title=None), columns=columns)
    axes = {"x": "independent"} if rows else {"x": "independent", "y": "independent"}
    return faceted.resolve_axis(**axes)
