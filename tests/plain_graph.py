"""A second definition of the graph and of equations 1 to 5: networkx and plain loops.

It shares with tjlib.uncertainty the reading of texts only; slow on purpose.
"""

from __future__ import annotations

import networkx as nx

from tjlib.uncertainty import text as words
from tjlib.uncertainty.signals import environment

EPS = 1e-8
STRENGTH = {"sequential": 0.35, "latest": 0.75, "repetition": 0.95, "feedback": 0.85,
            "progression": 0.65, "parallel": 0.45}


def jaccard(a, b):
    return len(a & b) / len(a | b) if a and b else 0.0


def graph_of(trajectory, similarity, window=5, latest="both"):
    """Every node first, then every pair of nodes looked at."""
    graph = nx.MultiDiGraph()

    def node(kind, step, **more):
        graph.add_node(len(graph), kind=kind, step=step, **{"u": 0.0, **more})

    goal = similarity.keys([trajectory.goal])[0]
    if trajectory.goal.strip():
        node("user", -1)
    answers = []
    for number, step in enumerate(trajectory.steps):
        key = similarity.keys([words.action_text(step)])[0]
        away = 1 - similarity.coverage(key, goal) if words.has_content(trajectory.goal) else 0.0
        node("assistant", number, key=key, calls=set(words.signatures(step)), q=away,
             on=words.progression_cue(step.thought), aside=words.parallel_cue(step.thought))
        for order, observation in enumerate(step.observations):
            text = words.observation_text(observation)
            asked = words.signatures(step)[order] if order < len(step.calls) else None
            before = [said for when, call, said in answers
                      if asked is not None and call == asked and number - when <= window]
            node("env", number, u=environment(observation, text, before)[0])
            answers.append((number, asked, text))
        if step.user is not None:
            node("user", number)
    nodes = dict(graph.nodes(data=True))
    for t in [t for t, data in nodes.items() if data["kind"] == "assistant"]:
        newest = {kind: max((i for i in range(t) if nodes[i]["kind"] == kind), default=None)
                  for kind in ("user", "env")}
        for i in range(t):
            near = nodes[i]["step"] >= 0 and nodes[t]["step"] - nodes[i]["step"] <= window
            if i == t - 1:
                graph.add_edge(i, t, "sequential", match=1.0)
            if i in newest.values() and latest in ("both", nodes[i]["kind"]):
                graph.add_edge(i, t, "latest", match=1.0)
            if nodes[i]["kind"] == "env" and nodes[i]["u"] > 0 and (near or i == newest["env"]):
                graph.add_edge(i, t, "feedback", match=nodes[i]["u"])
            if nodes[i]["kind"] == "assistant" and near:
                relation = logical(nodes[i], nodes[t], similarity)
                if relation:
                    graph.add_edge(i, t, relation[0], match=relation[1])
    return graph


def logical(a, b, similarity):
    """The one relation of two steps, or None."""
    limits, close = similarity.thresholds, similarity.alike(a["key"], b["key"])
    calls = jaccard(a["calls"], b["calls"])
    if calls >= limits.tool or (
            close >= limits.repetition and bool(a["calls"]) == bool(b["calls"])):
        return "repetition", max(calls, close)
    if b["aside"] and close < limits.parallel:
        return "parallel", max(0.25, 1 - close)
    if b["on"] and close >= limits.progression:
        return "progression", close
    return None


def risks(graph, u, rho=None, delta=0.8, gamma=0.75, p_max=1.5):
    """R of each agent step, every sum written out as the paper has it."""
    passed, found, own = {}, [], iter(u)
    for t, data in graph.nodes(data=True):
        if data["kind"] != "assistant":
            passed[t] = data["u"]
            continue
        above = below = 0.0
        for i, _, relation, edge in graph.in_edges(t, keys=True, data=True):
            weight = ((rho or {}).get(relation, 1.0) * STRENGTH[relation] * edge["match"]
                      * delta ** (t - i - 1))
            above += weight * (passed[i] + data["q"])
            below += weight
        decayed = [gamma ** (t - k) for k in range(t)]
        m = sum(d * passed[k] for k, d in enumerate(decayed)) / (sum(decayed) + EPS)
        r = next(own) + 0.7 * above / (below + EPS) + 0.3 * m
        found.append(r)
        passed[t] = min(max(r, 0.0), p_max)
    return found
