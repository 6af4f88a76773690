"""A trajectory as a graph of relations, built from what came before each step only.

Decision: nodes and edges are columns, so that a sweep over parameters costs
little; a networkx graph is drawn from them when somebody asks for one.
Refusal: no look-ahead, which `prefix` sees to, and no label.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tjlib.trace import InputError, Trajectory
from tjlib.uncertainty.parameters import RELATIONS, Parameters
from tjlib.uncertainty.prefix import KINDS, Edges, Prefix
from tjlib.uncertainty.similarity import Jaccard, Similarity, Thresholds
from tjlib.uncertainty.text import action_text

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Graph", "build", "multigraph", "without"]

_EDGE = re.compile(r"(\d+)>(\d+)(?: (\w+))?")


class Graph(NamedTuple):
    """One trajectory's nodes and edges; nothing in it can hold a label.

    ``kind`` and ``step`` (0-based, -1 for the goal) have one item a node, as
    have ``uncertainty`` (of user and env nodes, in [0, 1]; an agent's own is
    no part of the graph), ``text`` and ``why``. ``agent`` holds the node of
    each agent step and ``q`` its distance from the goal (eq. 2), in [0, 1],
    0 if there is no goal.
    """

    trajectory_id: str
    parameters: Parameters
    similarity: str
    thresholds: Thresholds
    kind: np.ndarray
    step: np.ndarray
    uncertainty: np.ndarray
    text: list[str]
    why: list[str]
    agent: np.ndarray
    q: np.ndarray
    edges: Edges


def build(
    trajectory: Trajectory, parameters: Parameters | None = None,
    similarity: Similarity | None = None,
) -> Graph:
    """Build a trajectory's graph.

    Parameters
    ----------
    trajectory : Trajectory
        Of any length and shape. The final answer is no node of its own.
    parameters : Parameters, optional
    similarity : Similarity, optional
        Default the overlap of words.

    Returns
    -------
    Graph
        That of a prefix is the prefix of the graph.

    Examples
    --------
    >>> from tjlib.trace import Step
    >>> run = Trajectory("t-1", "Refund ORD-5.", (Step("Look."),) * 2, "")
    >>> [RELATIONS[code] for code in build(run).edges.relation]
    ['sequential', 'latest', 'sequential', 'latest', 'repetition']
    """
    prefix = Prefix(trajectory.goal, parameters or Parameters(), similarity or Jaccard())
    keys = prefix.similarity.keys([action_text(step) for step in trajectory.steps])
    for step, key in zip(trajectory.steps, keys, strict=True):
        prefix.add(step, key)
    return Graph(
        trajectory.trajectory_id, prefix.parameters, prefix.similarity.name,
        prefix.similarity.thresholds, np.array(prefix.kind, np.uint8), np.array(prefix.step, int),
        np.array(prefix.uncertainty, float), prefix.text, prefix.why,
        np.array(prefix.agent, int), np.array(prefix.q, float), prefix.edges())


def without(graph: Graph, what: str) -> Graph:
    """Take edges out of a graph; its nodes stay.

    Parameters
    ----------
    graph : Graph
    what : str
        A relation, or the edges between two nodes as ``SOURCE>TARGET``, or one
        of them as ``SOURCE>TARGET RELATION``.

    Returns
    -------
    Graph

    Raises
    ------
    InputError
        If ``what`` is none of these, or names an edge the graph does not have.
        A relation may be absent: then nothing changes.

    Examples
    --------
    >>> from tjlib.trace import Step
    >>> run = Trajectory("t-1", "Refund ORD-5.", (Step("Look."),) * 2, "")
    >>> len(without(build(run), "1>2 repetition").edges.relation)
    4
    """
    e = graph.edges
    named = _EDGE.fullmatch(what)
    relation = named[3] if named else what
    if relation is not None and relation not in RELATIONS:
        raise InputError(f"no edge {what!r}; give a relation ({', '.join(RELATIONS)}), or two "
                         "nodes and perhaps a relation, such as 2>3 feedback")
    gone = np.ones(len(e.source), bool)
    if named:
        gone &= (e.source == int(named[1])) & (e.target == int(named[2]))
    if relation is not None:
        gone &= e.relation == RELATIONS.index(relation)
    if named and not gone.any():
        raise InputError(f"{graph.trajectory_id}: has no edge {what!r}; its nodes are 0 to "
                         f"{len(graph.kind) - 1}")
    return graph._replace(edges=e.only(np.flatnonzero(~gone)))


def multigraph(graph: Graph) -> nx.MultiDiGraph:
    """Draw a graph as a `networkx.MultiDiGraph`.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    networkx.MultiDiGraph
        Nodes with kind, step, text, uncertainty (None for the agent's), why and
        goal_distance (None but for the agent's). Edges keyed by relation, with
        age, match, strength and evidence.

    Raises
    ------
    InputError
        If networkx is not installed.
    """
    try:
        import networkx as nx
    except ImportError:
        raise InputError("a drawn graph needs networkx; pip install networkx") from None
    drawn = nx.MultiDiGraph(trajectory_id=graph.trajectory_id, similarity=graph.similarity)
    distance = dict(zip(graph.agent.tolist(), graph.q.tolist(), strict=True))
    for node, kind in enumerate(graph.kind):
        own = node in distance
        drawn.add_node(node, kind=KINDS[kind], step=int(graph.step[node]), text=graph.text[node],
                       uncertainty=None if own else float(graph.uncertainty[node]),
                       why=graph.why[node], goal_distance=distance.get(node))
    e = graph.edges
    strengths = graph.parameters.strength_of(e.relation, e.match, e.age)
    for source, target, code, match, evidence, strength in zip(
            e.source.tolist(), e.target.tolist(), e.relation.tolist(), e.match.tolist(),
            e.evidence, strengths.tolist(), strict=True):
        drawn.add_edge(source, target, key=RELATIONS[code], age=target - source, match=match,
                       strength=strength, evidence=evidence)
    return drawn
