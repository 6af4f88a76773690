"""A run laid out: R taken apart, edges bent apart, and no text of a log that steers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from drawn import runs
from hypothesis import given
from hypothesis import strategies as st
from test_figures import layers, mark, spec_of

from tjlib.charts import graph as figures
from tjlib.charts.show import show
from tjlib.trace import Call, InputError, Observation, Step, Trajectory
from tjlib.uncertainty import example
from tjlib.uncertainty.graph import build, without
from tjlib.uncertainty.layout import PARTS, layout, parts
from tjlib.uncertainty.parameters import RELATIONS, Parameters
from tjlib.uncertainty.propagate import propagate
from tjlib.uncertainty.signals import local
from tjlib.uncertainty.variants import RANDOM, VARIANTS

HOSTILE = '</script><img src=x onerror="alert(1)">\x1b[2J\n{{7*7}}'
FAILED = Observation(False, {}, HOSTILE)
TRY = Step(HOSTILE, (Call("get", {"id": HOSTILE}),), (FAILED,))
RETRY = Trajectory("t-1", HOSTILE, (TRY,) * 3, "")


def solved(run, **parameters):
    return propagate(build(run, Parameters(**parameters)), local(run))


def test_the_example_of_the_page_is_the_one_worked_by_hand():
    done = propagate(example.graph(), example.local(), reliability=example.reliability())
    assert done.r == pytest.approx([0.610000, 1.422811, 1.459268], abs=5e-7)
    assert done.score == pytest.approx(1.164026, abs=5e-7)


def test_the_parts_of_the_worked_example():
    done = propagate(example.graph(), example.local(), reliability=example.reliability())
    # Node 3: U .6, G .905328 of which Q .1, m .630270.
    assert parts(done).iloc[1].tolist() == pytest.approx(
        [0.6, 0.7 * 0.805328, 0.7 * 0.1, 0.3 * 0.630270], abs=1e-6)


@given(runs, st.sampled_from([name for name in VARIANTS if name not in RANDOM]),
       st.sampled_from([0.0, 0.8]))
def test_the_parts_of_a_step_add_up_to_its_risk(run, variant, delta):
    done = propagate(build(run, Parameters(delta=delta)), local(run), variant=variant)
    made_of = parts(done)
    assert list(made_of) == list(PARTS)
    assert made_of.sum(axis=1).to_numpy() == pytest.approx(done.r, abs=1e-9)
    assert (made_of.to_numpy() > -1e-7).all()


def test_more_lines_than_can_be_told_apart_are_not_drawn_and_the_chart_fits_a_page():
    wordy = Step(HOSTILE * 9, (Call("get", {"id": HOSTILE}),) * 2, (FAILED,) * 2)
    done = solved(Trajectory("t-1", HOSTILE, (wordy,) * 20, ""), window=20)
    drawn = layout(done, 3, 20)
    assert len(drawn.edges) <= 150 and set(drawn.nodes["step"]) > {-1, 3, 4, 5}
    assert show(figures.trajectory(*drawn), name="x", table=drawn.nodes,
                alt="A run with many edges drawn as a graph.")


@given(runs, st.integers(0, 12), st.integers(1, 12))
def test_what_is_drawn_is_the_goal_and_the_steps_asked_for(run, begin, shown):
    done = solved(run)
    drawn = layout(done, begin, shown)
    steps = set(drawn.nodes["step"]) - {-1}
    assert steps == set(range(begin, min(begin + shown, len(run.steps))))
    assert drawn.nodes["row"].tolist() == list(range(len(drawn.nodes)))
    seen = set(drawn.nodes["node"])
    edges = done.edge_table()
    kept = edges[edges["source"].isin(seen) & edges["target"].isin(seen)]
    assert drawn.edges["edge"].tolist() == kept.index.tolist()
    assert len(drawn.curves) == 3 * len(kept)
    assert len(drawn.parts) == len(PARTS) * len(steps)


def test_a_bar_ends_at_the_risk_of_its_step():
    done = solved(RETRY)
    ends = layout(done).parts.groupby("step")["hi"].max()
    assert ends.tolist() == pytest.approx(done.r.tolist(), abs=2e-5)


def test_edges_with_the_same_ends_are_bent_apart():
    drawn = layout(solved(RETRY))
    for _, same in drawn.edges.groupby(["source", "target"]):
        bends = drawn.curves[drawn.curves["edge"].isin(same["edge"]) & (drawn.curves["order"] == 1)]
        assert len(set(zip(bends["x"], bends["y"], strict=True))) == len(same)
    assert drawn.edges.groupby(["source", "target"]).size().max() == 3


def test_three_tries_at_one_thing_are_three_edges():
    assert len(layout(solved(RETRY)).edges.query("relation == 'repetition'")) == 3


def test_text_of_a_log_is_drawn_as_one_short_line_that_opens_no_tag():
    drawn = layout(solved(RETRY))
    assert not drawn.nodes["text"].str.contains("[\x00-\x1f]", regex=True).any()
    shown = show(figures.trajectory(*drawn), name="x", alt="A hostile run drawn as a graph.")
    assert shown.html.count("<script") == 1 and "<img src=x" not in shown.html
    assert "<img" not in shown.svg and "49" not in drawn.nodes["text"].str.cat()


def test_a_relation_is_told_by_dashes_within_its_colour():
    looks = [(colour, tuple(dash)) for colour, dash in figures.RELATION.values()]
    assert tuple(figures.RELATION) == RELATIONS and len(set(looks)) == len(looks)
    edges = mark(spec_of(figures.trajectory(*layout(solved(RETRY)))), "line")
    assert edges["encoding"]["color"]["field"] == edges["encoding"]["strokeDash"]["field"]
    assert edges["encoding"]["size"]["field"] == "weight"


@pytest.mark.parametrize("run", [
    Trajectory("one", "Refund.", (Step("Look."),), ""),
    Trajectory("none", "", (Step(""),), ""),
    Trajectory("seen", "", (Step("", (), (Observation(True, {}),) * 2),), "")])
def test_the_smallest_runs_are_drawn(run):
    assert layers(spec_of(figures.trajectory(*layout(solved(run)))))


def test_without_takes_a_relation_a_pair_or_one_edge():
    graph = build(RETRY)
    n = len(graph.edges.source)
    feedback = (graph.edges.relation == RELATIONS.index("feedback")).sum()
    assert len(without(graph, "feedback").edges.source) == n - feedback
    assert len(without(graph, "2>3").edges.source) == n - 3
    assert len(without(graph, "2>3 feedback").edges.source) == n - 1
    assert len(without(graph, "parallel").edges.source) == n


@pytest.mark.parametrize("what", ["", "feed", "2>9", "3>2", "2>3 parallel", "2>3 feed", "2 > 3"])
def test_an_edge_that_is_not_there_is_named(what):
    with pytest.raises(InputError, match="no edge"):
        without(build(RETRY), what)


def test_taking_a_calm_neighbour_away_raises_the_risk_and_a_risky_one_lowers_it():
    def last(edge=None):
        graph = example.graph()
        done = propagate(without(graph, edge) if edge else graph, example.local(),
                         reliability=example.reliability())
        return done.r[-1]

    assert last("0>4 latest") > last() > last("3>4 repetition")


@given(runs)
def test_what_edges_carry_lies_between_the_calmest_and_the_riskiest_neighbour(run):
    done = solved(run)
    carried = done.g - done.q
    for step, edges in done.edge_table().groupby("step"):
        held = done.passed[edges["source"]]
        assert held.min() - 1e-6 <= carried[step] <= held.max() + 1e-6


def test_curves_keep_their_ends():
    drawn = layout(solved(RETRY))
    at = drawn.nodes.set_index("node")[["lane", "row"]]
    for edge in drawn.edges.itertuples():
        curve = drawn.curves[drawn.curves["edge"] == edge.edge]
        ends = curve.iloc[[0, 2]][["x", "y"]].to_numpy()
        assert np.array_equal(ends, at.loc[[edge.source, edge.target]].to_numpy())


def test_before_and_after_are_a_ring_and_a_dot():
    risks = pd.DataFrame({"step": [0, 1], "whole": [0.5, 1.0], "less": [0.5, 1.2],
                          "change": [0.0, 0.2]})
    spec = spec_of(figures.before_after(risks))
    ring, dot = mark(spec, "point", style="published"), mark(spec, "point", style="reference")
    assert ring["mark"]["filled"] is False and ring["mark"]["size"] > dot["mark"]["size"]
    assert dot["encoding"]["x"]["field"] == "less"


def test_growth_tells_its_curves_by_dashes():
    lines = pd.DataFrame({"panel": "a", "curve": ["x", "x", "y", "y"], "step": [0, 1, 0, 1],
                          "R": [0.1, 0.2, 0.1, 0.1]})
    line = mark(spec_of(figures.growth(lines)), "line")
    assert line["encoding"]["strokeDash"]["field"] == "curve" and "color" not in line["encoding"]
