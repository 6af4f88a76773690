"""Where the lines of a page's drawings stand: numbers and paths, no markup.

Decision: all runs of a page share one scale of risk, so that two lines can be
compared; of a long run the highest step of each stretch is drawn. Refusal: a
colour is never the only sign: a relation has dashes, a risk has its number.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tjlib.charts.theme import HEAT, RELATION
from tjlib.uncertainty.layout import Layout, layout
from tjlib.uncertainty.propagate import Propagation

__all__ = ["Drawing", "across", "around", "curve", "drawing", "heat", "height"]

#: Points of a line; agent steps of a drawn graph, and fewer where their edges are too many.
MOST, _SHOWN = 300, (12, 6, 3, 1)
#: Pixels: of a graph's left lane, between lanes, of its first row, between rows, in all.
LEFT, LANE, TOP, ROW, WIDTH = 30, 125, 52, 34, 320
#: A graph of more nodes is not drawn: steps with many observations each.
NODES = 80
_BEFORE = 7  # of the steps drawn, at most so many stand before the riskiest


def curve(risks: np.ndarray, top: float, most: int = MOST) -> str:
    """Write a run's risks as the path of a line in a box of 100 by 100.

    Parameters
    ----------
    risks : (n,) array
        At least 0.
    top : float
        The risk at the upper edge.
    most : int
        Points at most.

    Returns
    -------
    str
        A path's ``d``; of one step a dash across the box; "" without a step.

    Examples
    --------
    >>> curve(np.array([0.0, 1.0, 0.5]), 1.0)
    'M0 100L50 0L100 50'
    """
    n = len(risks)
    stretches = np.array_split(np.arange(n), min(n, most)) if n else []
    at = [int(stretch[np.argmax(risks[stretch])]) for stretch in stretches]
    points = [(across(i, n), height(float(risks[i]), top)) for i in at]
    if n == 1:
        points = [(0.0, points[0][1]), (100.0, points[0][1])]
    return "M" + "L".join(f"{x:.4g} {y:.4g}" for x, y in points) if n else ""


def across(step: int, n: int) -> float:
    """Return where a step of ``n`` stands, from 0 to 100."""
    return 100 * step / (n - 1) if n > 1 else 50.0


def height(risk: float, top: float) -> float:
    """Return how far below the upper edge a risk stands, from 0 to 100."""
    return 100 - 100 * risk / top if top else 100.0


def heat(risk: float, top: float) -> tuple[str, str]:
    """Return the colour of a risk, and that of words over it.

    Examples
    --------
    >>> heat(0.0, 1.0), heat(1.0, 1.0)
    (('#deebf7', 'black'), ('#08519c', 'white'))
    """
    share = min(risk / top, 1.0) if top else 0.0
    ends = [[int(colour[i:i + 2], 16) for i in (1, 3, 5)] for colour in HEAT["range"]]
    mixed = (round(a + share * (b - a)) for a, b in zip(*ends, strict=True))
    return "#" + "".join(f"{c:02x}" for c in mixed), ("white" if share > HEAT["turn"] else "black")


class Drawing(NamedTuple):
    """A graph ready to be drawn: nodes, edges (lightest first), its size and what it leaves out."""

    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    relations: dict[str, tuple[str, str]]
    height: int
    first: int
    last: int
    steps: int


def around(run: Propagation, peak: int) -> Layout | None:
    """Lay out as many steps around the riskiest (0-based) as can be told apart, if any can."""
    n = len(run.r)
    for shown in _SHOWN:
        begin = max(0, min(peak - _BEFORE * shown // _SHOWN[0], n - shown))
        found = layout(run, begin, shown)
        if len(found.nodes) <= NODES and run.graph.agent[peak] in set(found.nodes["node"]):
            return found
    return None


def drawing(run: Propagation, peak: int, top: float) -> Drawing | None:
    """Draw a run's graph around its riskiest step.

    Parameters
    ----------
    run : Propagation
        Of at least one step.
    peak : int
        The step, 0-based.
    top : float
        The risk with the darkest colour.

    Returns
    -------
    Drawing or None
        None where a single step has more observations than can be told apart.
    """
    found = around(run, peak)
    if found is None:
        return None

    def place(x: float, y: float) -> str:
        return f"{LEFT + LANE * x:.1f} {TOP + ROW * y:.1f}"

    nodes = []
    for node in found.nodes.to_dict("records"):
        colour, ink = heat(node["risk"], top)
        nodes.append(node | {
            "x": LEFT + LANE * node["lane"], "y": TOP + ROW * node["row"], "colour": colour,
            "ink": ink, "r": round(9 + 6 * min(node["risk"] / top, 1.0), 1) if top else 9})
    points = {edge: of[["x", "y"]].to_numpy() for edge, of in found.curves.groupby("edge")}
    heaviest = float(found.edges["weight"].max()) if len(found.edges) else 1.0
    at = dict(zip(found.nodes["node"], found.nodes["row"], strict=True))
    edges = []
    for edge in found.edges.sort_values("weight", kind="stable").to_dict("records"):
        start, bend, end = (place(*point) for point in points[edge["edge"]])
        colour, dash = RELATION[edge["relation"]]
        edges.append(edge | {
            "row": at[edge["target"]],
            "d": f"M{start}Q{bend} {end}", "colour": colour, "dash": " ".join(map(str, dash)),
            "width": round(0.8 + 4.2 * edge["weight"] / (heaviest or 1.0), 2)})
    used = set(found.edges["relation"])
    steps = found.nodes.loc[found.nodes["kind"] == "assistant", "step"]
    return Drawing(
        nodes, edges, {name: (colour, " ".join(map(str, dash)))
                       for name, (colour, dash) in RELATION.items() if name in used},
        TOP + ROW * len(nodes) - 8, int(steps.min()), int(steps.max()), len(run.r))
