"""Where the nodes and edges of a run's graph stand on paper, and what R is made of.

Decision: time runs downwards, one row an event, with a lane each for user,
agent and environment; edges that share their ends are bent apart. The term of
eq. 3 is split into what the edges carry and what the goal adds, for only the
first depends on an edge. Refusal: nothing is drawn here, and no text of a log
reaches a frame but as one short line without control characters.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from tjlib.formats.imported import shown as line
from tjlib.uncertainty.prefix import KINDS
from tjlib.uncertainty.propagate import Propagation

__all__ = ["PARTS", "Layout", "layout", "named", "parts"]

#: The parts of R, in the order they are stacked.
PARTS = ("own uncertainty", "risk along edges", "distance from goal", "momentum")

#: Half a bar's height in rows; how far edges with the same ends are bent apart.
_HALF, _APART = 0.34, (0.16, 0.8)

#: More lines than these cannot be told apart; digits that a tooltip and a pixel need.
_MOST_EDGES, _DIGITS = 150, 5


class Layout(NamedTuple):
    """What a picture of a run needs, as tidy frames.

    ``nodes`` has one row a node: node, row (0 at the top), lane (0 user, 1
    agent, 2 environment), kind, name, step, text, risk (R of an agent's step,
    U of other nodes), why, and U to P of `Propagation.table`, None for other
    nodes. ``edges`` has one row an edge: edge, what `Propagation.edge_table`
    says of it, came_from and goes_to. ``curves`` has three rows an edge: edge,
    order, x, y, relation, weight, target. ``parts`` has one row a step and
    part of R: target, step, part, value, lo, hi, above, below.
    """

    nodes: pd.DataFrame
    edges: pd.DataFrame
    curves: pd.DataFrame
    parts: pd.DataFrame


def named(kind: str, step: int) -> str:
    """Name a node.

    Examples
    --------
    >>> named("env", 3), named("user", -1)
    ('observation of step 3', 'the goal')
    """
    if kind == "user":
        return "the goal" if step < 0 else f"user after step {step}"
    return f"step {step}" if kind == "assistant" else f"observation of step {step}"


def parts(run: Propagation) -> pd.DataFrame:
    """Take the R of every step apart.

    Parameters
    ----------
    run : Propagation

    Returns
    -------
    DataFrame
        One row an agent step, one column a part, in `PARTS` order; a row sums to R.
    """
    p, agent = run.parameters, run.graph.agent
    reached = np.isin(agent, run.weighted.edges.target[run.weighted.weight > 0])
    far = np.where(reached, run.q, 0.0)  # up to the eps of eq. 3, which goes to the edges' part
    return pd.DataFrame(dict(zip(PARTS, (
        p.lam_u * run.u, p.lam_h * p.eta_g * (run.g - far), p.lam_h * p.eta_g * far,
        p.lam_h * p.eta_m * run.m), strict=True)))


def layout(run: Propagation, begin: int = 0, shown: int = 12) -> Layout:
    """Lay a run out.

    Parameters
    ----------
    run : Propagation
    begin, shown : int
        The first agent step drawn, 0-based, and how many at most; steps with
        more edges than can be told apart are fewer. The goal is always there,
        and an edge is if both its ends are.

    Returns
    -------
    Layout
        Numbers are rounded to five digits.
    """
    graph, ends = run.graph, run.weighted.edges
    for end in range(begin + shown, begin, -1):
        seen = (graph.step >= begin) & (graph.step < end) | (graph.step < 0)
        if (seen[ends.source] & seen[ends.target]).sum() <= _MOST_EDGES:
            break
    row = np.cumsum(seen) - 1
    table = run.table()
    nodes = pd.DataFrame({
        "node": np.arange(len(seen)), "row": row, "lane": graph.kind.astype(int),
        "kind": [KINDS[code] for code in graph.kind], "step": graph.step,
        "text": [line(text) for text in graph.text], "why": graph.why,
        "risk": graph.uncertainty})
    nodes["name"] = [named(kind, step) for kind, step in zip(nodes["kind"], nodes["step"],
                                                             strict=True)]
    nodes = nodes.merge(table.drop(columns=["step", "edges"]), on="node", how="left")
    nodes.loc[graph.agent, "risk"] = run.r
    edges = run.edge_table().assign(edge=lambda e: range(len(e)))
    names = nodes["name"].to_numpy()
    edges["came_from"], edges["goes_to"] = names[edges["source"]], names[edges["target"]]
    edges = edges[seen[edges["source"]] & seen[edges["target"]]]
    stacked = parts(run).assign(target=graph.agent, step=table["step"], R=run.r)
    return Layout(*(frame.round(_DIGITS) for frame in (
        nodes[seen], edges, _curves(edges, row, nodes["lane"].to_numpy()),
        _stacked(stacked[seen[graph.agent]], row))))


def _curves(edges: pd.DataFrame, row: np.ndarray, lane: np.ndarray) -> pd.DataFrame:
    """Give each edge its two ends and the point it is bent towards."""
    ends = edges.groupby(["source", "target"])["edge"]
    aside = ends.cumcount() - (ends.transform("size") - 1) / 2
    out = []
    for edge, k in zip(edges.itertuples(), aside, strict=True):
        x0, y0, x1, y1 = lane[edge.source], row[edge.source], lane[edge.target], row[edge.target]
        if x0 == x1:
            bend = (x0 - 0.3 - 0.04 * min(y1 - y0, 10) - _APART[0] * k, (y0 + y1) / 2)
        else:
            # At a right angle to the way: both up or both down for edges that come from the right.
            side = k if x0 > x1 else -k
            bend = ((x0 + x1) / 2 + _APART[0] * side, (y0 + y1) / 2 + _APART[1] * k)
        for order, (x, y) in enumerate(((x0, y0), bend, (x1, y1))):
            out.append((edge.edge, order, x, y, edge.relation, edge.weight, edge.target))
    return pd.DataFrame(out, columns=["edge", "order", "x", "y", "relation", "weight", "target"])


def _stacked(steps: pd.DataFrame, row: np.ndarray) -> pd.DataFrame:
    """Stack the parts of each step, and say between which heights its bar stands."""
    long = steps.melt(["target", "step", "R"], var_name="part").sort_values(
        "target", kind="stable")
    long["hi"] = long.groupby("target")["value"].cumsum()
    long["lo"] = long["hi"] - long["value"]
    at = row[long["target"].to_numpy(int)]
    return long.assign(row=at, above=at - _HALF, below=at + _HALF)
