"""Runs of any shape for property tests: few words, so that they repeat and contradict."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from tjlib.trace import Call, Observation, Step, Trajectory
from tjlib.uncertainty.graph import Graph
from tjlib.uncertainty.parameters import RELATIONS, STRENGTHS, Parameters
from tjlib.uncertainty.prefix import Edges
from tjlib.uncertainty.similarity import Thresholds

THOUGHTS = ("", "Look at the order.", "Next, look at the order.", "Try another way instead.",
            "Refund the customer now.", "Verify the refund policy", "12 34")
SAYINGS = ("", "order shipped", "refund not due", "42", "Error: no such order", "0 errors found")

calls = st.builds(Call, st.sampled_from(["get", "pay"]), st.dictionaries(
    st.sampled_from(["id", "n"]), st.integers(0, 2), max_size=1))
observations = st.one_of(
    st.builds(lambda text: Observation(True, {"content": text}), st.sampled_from(SAYINGS)),
    st.builds(lambda text: Observation(False, {}, text), st.sampled_from(SAYINGS)))
logprobs = st.lists(st.floats(-5, 0), max_size=3).map(tuple) | st.none()
steps = st.builds(
    Step, st.sampled_from(THOUGHTS), st.lists(calls, max_size=2).map(tuple),
    st.lists(observations, max_size=3).map(tuple), st.sampled_from([None, "", "Hurry up."]),
    logprobs)
runs = st.builds(
    Trajectory, st.just("t-1"), st.sampled_from(["", "...", "Refund order 7 of the customer."]),
    st.lists(steps, max_size=12).map(tuple), st.just(""))


def graph_by_hand(kinds, uncertainty, q, edges, **parameters):
    """A graph of given edges: (source, target, relation, strength at the printed constants)."""
    source, target, relation, strength = zip(*edges, strict=True)
    match = [s / STRENGTHS[name] for s, name in zip(strength, relation, strict=True)]
    codes = ["user", "assistant", "env"]
    kind = np.array([codes.index(name) for name in kinds], np.uint8)
    return Graph(
        "by hand", Parameters(**parameters), "given", Thresholds(1, 1, 0), kind,
        np.maximum(np.cumsum(kind == 1) - 1, -1), np.array(uncertainty, float),
        [""] * len(kinds), [""] * len(kinds), np.flatnonzero(kind == 1), np.array(q, float),
        Edges(np.array(source), np.array(target),
              np.array([RELATIONS.index(name) for name in relation], np.uint8),
              np.array(match), ["given"] * len(edges)))
