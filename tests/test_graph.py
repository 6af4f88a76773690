"""The graph of a trajectory: each relation by a small case, and any trajectory at all."""

from __future__ import annotations

import subprocess
import sys
import time

import msgspec
import networkx as nx
import numpy as np
import pytest
from built import ROOT
from drawn import runs, steps
from hypothesis import given
from hypothesis import strategies as st

from tjlib.trace import Call, InputError, Observation, Step, Trajectory
from tjlib.uncertainty.graph import build, multigraph
from tjlib.uncertainty.parameters import RELATIONS, STRENGTHS, Parameters
from tjlib.uncertainty.propagate import propagate
from tjlib.uncertainty.signals import Local
from tjlib.uncertainty.similarity import Jaccard, Thresholds

GET, PAY = Call("get", {"id": 1}), Call("pay", {"id": 1})
SEEN, FAILED = Observation(True, {"content": "shipped"}), Observation(False, {}, "declined")


def run(*steps, goal="Refund order 7."):
    return Trajectory("t-1", goal, steps, "")


def edges(trajectory, *relations, **parameters):
    """(source, target, relation) of the given relations, all by default."""
    e = build(trajectory, Parameters(**parameters)).edges
    found = [(int(s), int(t), RELATIONS[c]) for s, t, c in zip(
        e.source, e.target, e.relation, strict=True)]
    return [edge for edge in found if not relations or edge[2] in relations]


def test_nodes_are_numbered_as_things_happened():
    graph = build(run(Step("Look.", (GET, PAY), (SEEN, FAILED), "Hurry."), Step("Done.")))
    assert graph.kind.tolist() == [0, 1, 2, 2, 0, 1]
    assert graph.step.tolist() == [-1, 0, 0, 0, 0, 1]
    assert graph.agent.tolist() == [1, 5]
    assert graph.text[1] == 'Look.\nget:{"id":1}\npay:{"id":1}'


def test_a_step_follows_the_node_before_and_the_newest_of_each_kind():
    trajectory = run(Step("a", (GET,), (SEEN, SEEN), "Hurry."), Step("b"), Step("c"))
    assert edges(trajectory) == [
        (0, 1, "sequential"), (0, 1, "latest"),
        (4, 5, "sequential"), (3, 5, "latest"), (4, 5, "latest"),
        (5, 6, "sequential"), (3, 6, "latest"), (4, 6, "latest")]


@pytest.mark.parametrize(("latest", "sources"), [
    ("both", [3, 4]), ("user", [4]), ("env", [3])])
def test_the_newest_instruction_the_newest_observation_or_both_are_latest(latest, sources):
    trajectory = run(Step("a", (GET,), (SEEN, FAILED), "Hurry."), Step("b"))
    assert edges(trajectory, "latest", latest=latest)[-len(sources):] == [
        (source, 5, "latest") for source in sources]
    # The failure before the user spoke is heard as feedback all the same.
    assert edges(trajectory, "feedback", latest=latest) == [(3, 5, "feedback")]


def test_three_tries_of_one_call_are_three_pairs():
    tried = tuple(Step(text, (PAY,), (SEEN,)) for text in ("Pay.", "Once more.", "Well then."))
    assert edges(run(*tried), "repetition") == [
        (1, 3, "repetition"), (1, 5, "repetition"), (3, 5, "repetition")]


def test_one_pair_of_nodes_has_an_edge_a_type():
    found = multigraph(build(run(Step("Pay.", (PAY,), (FAILED,)), Step("Why?"))))
    assert list(found[2][3]) == ["sequential", "latest", "feedback"]


def test_the_same_words_with_a_call_and_without_are_no_repetition():
    assert not edges(run(Step("Look up the order."), Step("Look up the order.", (GET,))),
                     "repetition")
    assert edges(run(Step("Look up the order."), Step("Look up that order!")), "repetition")


@pytest.mark.parametrize(("second", "relation", "match"), [
    ("Next, check the payment of the customer.", "progression", 3 / 5),
    ("Check the payment of the records here.", None, None),
    ("Instead, escalate.", "parallel", 1.0),
    ("Instead, check the customer record.", "parallel", 1 - 2 / 6),
    ("Next instead, escalate.", "parallel", 1.0),
    ("Next, escalate.", None, None),
])
def test_cue_words_and_nearness_make_progression_and_parallel(second, relation, match):
    first = Step("Check the payment of the customer now.")
    e = build(run(first, Step(second))).edges
    logical = [(RELATIONS[c], m) for c, m in zip(e.relation, e.match, strict=True)
               if c not in (0, 1)]
    assert logical == ([(relation, pytest.approx(match))] if relation else [])


def test_cue_words_in_the_arguments_of_a_call_count_for_nothing():
    said = Call("note", {"text": "Instead, next, try"})
    assert not edges(run(Step("Look."), Step("Ask.", (said,))), "parallel", "progression")


def test_repetition_comes_before_parallel_and_parallel_before_progression():
    same = "Next, try another order instead."
    assert edges(run(Step(same), Step(same)), "repetition", "parallel", "progression") == [
        (1, 2, "repetition")]


def test_the_window_counts_agent_steps_and_the_newest_nodes_are_seen_beyond_it():
    trajectory = run(Step("a", (PAY,), (FAILED, FAILED)), Step("b"), Step("c"), Step("d", (PAY,)))
    assert edges(trajectory, "repetition", window=3) == [(1, 6, "repetition")]
    assert not edges(trajectory, "repetition", window=2)
    # Both failures while they are near, the newest one from afar.
    assert edges(trajectory, "feedback", window=1) == [
        (2, 4, "feedback"), (3, 4, "feedback"), (3, 5, "feedback"), (3, 6, "feedback")]


def test_an_answer_that_contradicts_an_earlier_one_to_the_same_call_is_feedback():
    answer = (Observation(True, {"content": "it was shipped yesterday"}),
              Observation(True, {"content": "never seen that order"}))
    asked = [Step("a", (GET,), (one,)) for one in answer]
    graph = build(run(*asked))
    assert graph.uncertainty.tolist() == [0, 0, 0, 0, 0.5]
    assert "contradicts" in graph.why[4]
    other = Step("b", (PAY,), answer[1:])
    assert build(run(asked[0], other)).uncertainty.max() == 0
    # Out of the window nothing is remembered.
    assert build(run(asked[0], Step(""), asked[1]), Parameters(window=1)).uncertainty.max() == 0


def test_without_a_goal_no_node_is_made_and_nothing_is_far_from_it():
    graph = build(run(Step("Look."), goal="  "))
    assert (graph.kind.tolist(), graph.q.tolist(), len(graph.edges.source)) == ([1], [0.0], 0)
    assert build(run(Step("Look."), goal="42 ?")).q.tolist() == [0.0]
    assert build(run(Step("Look."), goal="Refund.")).q.tolist() == [1.0]
    assert build(run(Step("Refund it."), goal="Refund the customer.")).q.tolist() == [0.5]


def test_edges_say_what_made_them():
    found = multigraph(build(run(
        Step("Pay the customer.", (PAY,), (FAILED,)),
        Step("Instead, ask someone else.", (PAY,)), Step("Pay!", (GET,)))))
    said = {(s, t, key): data["evidence"] for s, t, key, data in found.edges(keys=True, data=True)}
    assert said[1, 3, "repetition"] == "the same calls"
    assert said[2, 3, "feedback"] == "marked as an error"
    assert found.nodes[2]["why"] == "marked as an error"
    assert found.nodes[3]["uncertainty"] is None and found.nodes[0]["uncertainty"] == 0.0
    assert found.nodes[0]["goal_distance"] is None and found.nodes[3]["goal_distance"] == 1.0


@given(runs)
def test_a_drawn_graph_has_no_cycle_and_ends_in_agent_steps(trajectory):
    graph = build(trajectory)
    found = multigraph(graph)
    assert isinstance(found, nx.MultiDiGraph) and nx.is_directed_acyclic_graph(found)
    for source, target, relation, data in found.edges(keys=True, data=True):
        assert source < target and found.nodes[target]["kind"] == "assistant"
        assert data["age"] == target - source >= 1
        assert 0 < data["match"] <= 1 and data["evidence"]
        assert data["strength"] == pytest.approx(STRENGTHS[relation] * data["match"])
    assert found.number_of_edges() == len(graph.edges.source)
    assert found.number_of_nodes() == len(graph.kind)


@given(runs, st.lists(steps, max_size=3))
def test_the_graph_of_a_prefix_is_the_prefix_of_the_graph(trajectory, more):
    longer = msgspec.structs.replace(trajectory, steps=(*trajectory.steps, *more))
    now, then = build(trajectory), build(longer)
    size, count = len(now.kind), len(now.edges.source)
    assert then.uncertainty[:size].tolist() == now.uncertainty.tolist()
    assert then.why[:size] == now.why and then.text[:size] == now.text
    for mine, theirs in zip(now.edges, then.edges, strict=True):
        assert list(theirs[:count]) == list(mine)


@pytest.mark.parametrize("trajectory", [
    run(), run(goal=""), run(Step("")), run(Step("Look.")),
    run(*(Step("", observations=(SEEN, FAILED)),) * 7),
    run(*(Step("", observations=(Observation(True, {}),)),) * 3, goal=""),
    run(Step("a", (GET,) * 30, (FAILED,) * 30), Step("b")),
    run(Step("\ud800 é 漢字", (Call("\ud800", {"a": "\ud800", "b": [float("nan"), 10**30]}),))),
], ids=["no step", "nothing", "silent", "one step", "only observations", "empty answers",
        "thirty calls", "odd characters"])
def test_any_trajectory_has_a_graph_and_finite_risks(trajectory):
    graph = build(trajectory)
    multigraph(graph)
    done = propagate(graph, Local((0.1,) * len(trajectory.steps), "constant"))
    assert np.isfinite(done.r).all() and len(done.r) == len(trajectory.steps)
    assert (done.score is None) == (not trajectory.steps)
    done.table(), done.edge_table()


def test_a_loop_of_ten_thousand_steps_is_done_in_linear_time():
    def seconds(length):
        trajectory = run(*(Step("Again.", (PAY,), (FAILED,)),) * length)
        start = time.process_time()
        done = propagate(build(trajectory), Local((0.2,) * length, "constant"))
        assert np.isfinite(done.r).all() and len(done.r) == length
        return time.process_time() - start

    short, long = min(seconds(2_000) for _ in range(3)), seconds(10_000)
    assert long < 15 * short  # 5 if linear, 25 if quadratic


@pytest.mark.parametrize(("change", "message"), [
    ({"window": 0}, "window 0 is no number of steps"), ({"delta": 1.5}, "outside"),
    ({"gamma": -0.1}, "outside"), ({"eta_g": -1}, "no weight"), ({"lam_u": float("nan")}, "weight"),
    ({"temperature": 0}, "not above 0"), ({"p_max": 0}, "None for no cap"),
    ({"strengths": {"latest": 1}}, "one number of 0 or more for each"),
    ({"pairs": "few"}, "give many or single"), ({"latest": "all"}, "give both or user or env"),
    ({"aggregate": "sum"}, "give mean or max"),
])
def test_a_parameter_out_of_range_is_told_in_one_line(change, message):
    with pytest.raises(InputError, match=message):
        Parameters(**change)


def test_the_defaults_are_those_the_paper_prints(shared):
    import pandas as pd

    folder = shared / "published"
    strengths = pd.read_csv(folder / "rupa_table6_strengths.csv")
    assert dict(strengths.iloc[:, :2].itertuples(index=False)) == STRENGTHS
    assert (Parameters().window, Parameters().delta, Parameters().gamma) == (5, 0.80, 0.75)


def test_thresholds_belong_to_the_similarity():
    strict = Jaccard(Thresholds(1.0, 1.0, 0.0, tool=1.0))
    alike = run(Step("Look up the new order."), Step("Look up an order, new."), goal="")
    assert build(alike).edges.relation.tolist() == [0, 2]
    other = run(Step("Look up the new order."), Step("Next, look up an order."), goal="")
    assert build(other).edges.relation.tolist() == [0, 4]
    assert build(other, None, strict).edges.relation.tolist() == [0]


def test_building_a_graph_loads_no_networkx_and_no_torch():
    code = ("import sys; from tjlib.uncertainty.online import Stream; from tjlib.trace import Step;"
            "Stream('Go.').update(Step('Go.'));"
            "print({'networkx', 'torch', 'sentence_transformers'} & set(sys.modules))")
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True,
                          check=True)
    assert done.stdout.strip() == "set()"
