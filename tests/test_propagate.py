"""Equations 1 to 6: an example worked by hand, a second definition, and what must not matter."""

from __future__ import annotations

import copy
import inspect
import math

import msgspec
import numpy as np
import pytest
from drawn import graph_by_hand, runs, steps
from hypothesis import given
from hypothesis import strategies as st
from plain_graph import graph_of, risks

from tjlib.desk.testbed import judged_set
from tjlib.trace import InputError, Label, Observation, Step, Trajectory
from tjlib.uncertainty.calibrate import Reliability, fit, reliabilities
from tjlib.uncertainty.equations import aggregate
from tjlib.uncertainty.graph import build
from tjlib.uncertainty.online import Stream, peak
from tjlib.uncertainty.parameters import RELATIONS, STRENGTHS, Parameters
from tjlib.uncertainty.propagate import propagate
from tjlib.uncertainty.signals import Local, local
from tjlib.uncertainty.similarity import Embedder, Jaccard, Thresholds
from tjlib.uncertainty.variants import RANDOM, VARIANTS, seeded

# The five-node example: user, assistant, observation, assistant, assistant.
MEAN = dict(zip(RELATIONS, (0.35, 0.75, 0.30, 0.25, 0.20, 0.10), strict=True))
VARIANCE = dict(zip(RELATIONS, (0.0, 0.0, 0.12, 0.10, 0.04, 0.02), strict=True))
EXAMPLE = (
    (0, 1, "sequential", 0.35), (0, 1, "latest", 0.75),
    (2, 3, "sequential", 0.35), (2, 3, "latest", 0.75), (2, 3, "feedback", 0.85),
    (1, 3, "progression", 0.39), (0, 3, "latest", 0.75),
    (3, 4, "sequential", 0.35), (3, 4, "repetition", 0.855), (2, 4, "latest", 0.75),
    (2, 4, "feedback", 0.85), (1, 4, "parallel", 0.225), (0, 4, "latest", 0.75))
LOCAL = Local((0.40, 0.60, 0.30), "logprob")
six = pytest.approx


def example(**parameters):
    return graph_by_hand(["user", "assistant", "env", "assistant", "assistant"],
                         [0, 0, 1.0, 0, 0], [0.30, 0.10, 0.20], EXAMPLE, **parameters)


def calibrated(graph):
    q, rho = reliabilities(MEAN, VARIANCE)
    return Reliability(MEAN, VARIANCE, q, rho, 1.0, "trajectory", dict(STRENGTHS), "factor", 9,
                       graph.similarity, graph.thresholds, graph.parameters.window)


def solved(variant="full", **parameters):
    graph = example(**parameters)
    return propagate(graph, LOCAL, reliability=calibrated(graph), variant=variant)


def constant(graph, u=0.3):
    return Local((u,) * len(graph.agent), "constant")


def test_reliabilities_of_the_worked_example():
    q, rho = reliabilities(MEAN, VARIANCE)
    assert list(q.values()) == six([0, 0, 0.4, 0.4, 0.2, 0.2], abs=1e-6)
    assert list(rho.values()) == six(
        [0.807923, 0.807923, 1.205279, 1.205279, 0.986799, 0.986799], abs=5e-7)


def test_every_term_of_the_worked_example():
    done = solved()
    assert done.weighted.weight == six(
        [0.282773, 0.605942, 0.282773, 0.605942, 1.024487, 0.307881, 0.387803,
         0.282773, 1.030513, 0.484754, 0.819590, 0.142099, 0.310242], abs=5e-7)
    assert done.g == six([0.300000, 0.905328, 1.261763], abs=5e-7)
    assert done.m == six([0.000000, 0.630270, 0.920114], abs=5e-7)
    assert done.h == six([0.210000, 0.822811, 1.159268], abs=5e-7)
    assert done.r == six([0.610000, 1.422811, 1.459268], abs=5e-7)
    assert done.score == six(1.164026, abs=5e-7)


@pytest.mark.parametrize(("change", "risk", "score"), [
    ({"pairs": "single"}, [0.610000, 1.352408, 1.407550], 1.123319),
    ({"momentum": "assistant"}, [0.610000, 1.416730, 1.519305], 1.182012),
    ({"variant": "no_graph"}, [0.400000, 0.768649, 0.491303], 0.553317),
    ({"p_max": 1.0}, [0.610000, 1.422811, 1.286269], 1.106360),
])
def test_the_variants_of_the_worked_example(change, risk, score):
    done = solved(**change)
    assert done.r == six(risk, abs=5e-7)
    assert done.score == six(score, abs=5e-7)


def test_the_script_beside_the_example_computes_the_same(shared):
    script = {"__name__": "example"}
    path = shared / "spec" / "rupa_example.py"
    exec(compile(path.read_text("utf-8"), path, "exec"), script)
    for theirs, mine in [({}, {}), ({"single": True}, {"pairs": "single"}),
                         ({"momentum": "assistant"}, {"momentum": "assistant"}),
                         ({"use_graph": False}, {"variant": "no_graph"}),
                         ({"pclip": 1.0}, {"p_max": 1.0})]:
        rows, score = script["run"](**theirs)
        done = solved(**mine)
        assert done.r == six([row[-1] for row in rows], abs=1e-12)
        assert done.score == six(score, abs=1e-12)


def test_a_cap_on_the_match_decays_once():
    done = solved(strength="cap")
    rows = done.edge_table().set_index(["target", "source", "relation"])
    # 4 <- 2 latest: the match 1 has decayed to .8, the cap of .75 is lower.
    assert rows.loc[(4, 2, "latest"), "weight"] == six(0.807923 * 0.75, abs=5e-7)
    # 4 <- 0 latest: the match has decayed below the cap.
    assert rows.loc[(4, 0, "latest"), "strength"] == six(0.8 ** 3)


@given(runs)
def test_a_second_definition_gives_the_same_risks(run):
    u = local(run)
    done = propagate(build(run), u)
    drawn = graph_of(run, Jaccard())
    assert done.r == six(risks(drawn, u.u), abs=1e-9)


@given(runs, st.integers(1, 3), st.sampled_from(["both", "user", "env"]))
def test_a_second_definition_finds_the_same_edges(run, window, latest):
    graph = build(run, Parameters(window=window, latest=latest))
    mine = {(s, t, RELATIONS[c], round(m, 12)) for s, t, c, m in zip(
        graph.edges.source, graph.edges.target, graph.edges.relation, graph.edges.match,
        strict=True)}
    theirs = {(s, t, k, round(data["match"], 12)) for s, t, k, data in graph_of(
        run, Jaccard(), window, latest).edges(keys=True, data=True)}
    assert mine == theirs and len(graph.edges.source) == len(mine)


@given(runs, st.sampled_from([{}, {"pairs": "single", "momentum": "assistant"},
                              {"strength": "cap", "p_max": None, "window": 2},
                              {"latest": "user", "aggregate": "max"}]))
def test_a_stream_gives_what_the_finished_run_gives_to_the_last_bit(run, change):
    parameters = Parameters(**change)
    graphs = [build(run, parameters), build(
        Trajectory("t-2", "Refund.", (Step("Next, refund.", user="no"), Step("Refund")), ""),
        parameters)]
    reliability = fit(graphs, [local(run), Local((0.5, 0.7), "logprob")])
    done = propagate(graphs[0], local(run, "logprob", median=reliability.median),
                     reliability=reliability)
    stream = Stream(run.goal, parameters, reliability=reliability)
    for length, step in enumerate(run.steps, start=1):
        assert stream.update(step) == done.r[length - 1]
        assert stream.score == aggregate(done.r[:length].tolist(), parameters.aggregate)
    assert stream.score == done.score


@given(runs, st.lists(steps, max_size=3))
def test_a_later_step_never_changes_an_earlier_risk(run, more):
    longer = msgspec.structs.replace(run, steps=(*run.steps, *more))
    now, then = propagate(build(run), local(run)), propagate(build(longer), local(longer))
    assert then.r[:len(run.steps)].tolist() == now.r.tolist()
    assert aggregate(then.r[:len(run.steps)].tolist()) == now.score


@given(runs, st.lists(st.builds(
    lambda text: Observation(True, {"content": text}), st.sampled_from(["Error", "ok"])),
    max_size=2))
def test_what_a_step_observes_and_hears_says_nothing_about_the_step(run, seen):
    if run.steps:
        other = msgspec.structs.replace(run.steps[-1], observations=tuple(seen), user="Stop.")
        changed = msgspec.structs.replace(run, steps=(*run.steps[:-1], other))
        assert (propagate(build(changed), local(changed)).r.tolist()
                == propagate(build(run), local(run)).r.tolist())


def test_no_function_has_a_place_for_a_label():
    for function in (build, fit, propagate, local, Stream.__init__, Stream.update):
        names = " ".join(inspect.signature(function).parameters)
        assert not any(word in names for word in ("label", "success", "reward", "faulty"))
    for thing in (Label("t-1", True), (build(Trajectory("t", "", (), "")), True)):
        with pytest.raises(InputError, match="graphs and nothing else"):
            fit([thing])


def test_permuting_labels_changes_no_score():
    trajectories, labels = judged_set(seed=3, clean=4, per_type=2)

    def scores(pairs):
        graphs = [build(trajectory) for trajectory, _ in pairs]
        reliability = fit(graphs)
        return [propagate(graph, constant(graph), reliability=reliability).score
                for graph in graphs]

    as_is = scores(zip(trajectories, labels, strict=True))
    assert as_is == scores(zip(trajectories, reversed(labels), strict=True))
    assert len(set(as_is)) > 1


@given(runs, st.floats(0.1, 10))
def test_scaling_every_reliability_changes_nothing_but_eps(run, factor):
    graph = build(run)
    one = fit([graph, build(Trajectory("t", "", (Step(""),), ""))])
    scaled = msgspec.structs.replace(one, rho={k: factor * v for k, v in one.rho.items()})
    a, b = (propagate(graph, constant(graph), reliability=r) for r in (one, scaled))
    assert a.g == six(b.g, abs=1e-4)


@given(runs, st.floats(0, 0.5))
def test_adding_to_every_distance_from_the_goal_raises_the_graph_term_by_as_much(run, more):
    graph = build(run)
    # One hop, as with recursion the risks that are passed on rise as well.
    base, up = (propagate(g, constant(g), variant="no_propagation")
                for g in (graph, graph._replace(q=graph.q + more)))
    into = np.isin(graph.agent, graph.edges.target)
    assert up.g[into] == six(base.g[into] + more, abs=1e-6)
    assert not into.all() or up.m.tolist() == base.m.tolist()


@given(runs, st.floats(0.1, 1.5))
def test_a_history_of_one_value_is_that_value(run, p):
    graph = build(run)
    other = np.where(graph.kind == 1, 0.0, p)
    done = propagate(graph._replace(uncertainty=other, q=graph.q * 0), constant(graph, p),
                     variant="no_propagation")
    into = np.isin(graph.agent, graph.edges.target)
    assert done.g[into] == six(p, abs=1e-6)
    assert done.m[graph.agent > 0] == six(p, abs=1e-6)


@given(runs, st.sampled_from([name for name in VARIANTS if name not in RANDOM]))
def test_without_any_uncertainty_or_distance_no_edge_makes_a_risk(run, variant):
    graph = build(run)
    calm = graph._replace(uncertainty=graph.uncertainty * 0, q=graph.q * 0)
    assert not propagate(calm, constant(graph, 0.0), variant=variant).r.any()


@given(runs)
def test_without_decay_age_does_not_matter(run):
    graph = build(run, Parameters(delta=1.0))
    weighted = propagate(graph, constant(graph)).weighted
    assert weighted.weight.tolist() == weighted.strength.tolist()


@given(runs)
def test_uncalibrated_is_the_limit_of_an_infinite_temperature(run):
    graph = build(run)
    if len(graph.agent):
        limit = fit([graph], parameters=Parameters(temperature=math.inf))
        assert limit.rho == dict.fromkeys(RELATIONS, 1.0)
        assert (propagate(graph, constant(graph), reliability=limit).r.tolist()
                == propagate(graph, constant(graph)).r.tolist())


@given(runs, st.floats(0.25, 4))
def test_reliabilities_add_up_to_the_number_of_relations(run, temperature):
    graph = build(run)
    if len(graph.agent):
        found = fit([graph, build(Trajectory("t", "", (Step(""),), ""))],
                    parameters=Parameters(temperature=temperature))
        assert sum(found.rho.values()) == six(6)
        assert max(found.q.values()) <= 0.95 + 1e-9  # no ratio above e to the .95 at T = 1


@given(runs)
def test_one_run_or_a_relation_that_never_fires_has_no_variance(run):
    graph = build(run)
    if len(graph.agent):
        assert set(fit([graph]).q.values()) == {0.0}
        assert set(fit([graph, graph, graph]).q.values()) == {0.0}


@given(runs, st.integers(0, 9))
def test_a_random_graph_keeps_each_weight_and_relation_and_looks_back(run, seed):
    graph = build(run)
    full = propagate(graph, constant(graph))
    other = propagate(graph, constant(graph), variant="random_graph",
                      rng=seeded(seed, "task", 0, "random_graph"))
    assert other.weighted.weight.tolist() == full.weighted.weight.tolist()
    assert other.weighted.edges.relation.tolist() == full.weighted.edges.relation.tolist()
    assert (other.weighted.edges.source < other.weighted.edges.target).all()
    assert (other.weighted.edges.source >= 0).all()


def test_random_variants_need_a_generator_and_depend_on_it_alone():
    graph = example()
    for variant in RANDOM:
        with pytest.raises(InputError, match="generator"):
            propagate(graph, LOCAL, variant=variant)
        drawn = [propagate(graph, LOCAL, variant=variant, rng=seeded(s, "t", 0, variant)).score
                 for s in (1, 1, 2, 3, 4)]
        assert drawn[0] == drawn[1] and len(set(drawn)) > 1


def test_half_of_the_edges_are_dropped():
    graph, kept = example(), []
    for seed in range(400):
        done = propagate(graph, LOCAL, variant="drop50", rng=seeded(seed, "t", 0, "drop50"))
        kept.append(len(done.weighted.weight) / len(EXAMPLE))
    assert np.mean(kept) == six(0.5, abs=4 * 0.5 / math.sqrt(400 * len(EXAMPLE)))


def test_each_variant_takes_away_what_it_is_named_after():
    full = solved()
    assert solved("local_only").r.tolist() == list(LOCAL.u)
    assert solved("no_goal").q.tolist() == [0, 0, 0]
    assert solved("no_momentum").h == six(0.7 * solved("no_momentum").g)
    assert solved("no_propagation").passed.tolist() == [0, 0.4, 1.0, 0.6, 0.3]
    assert set(solved("sequential_only").edge_table()["relation"]) == {"sequential", "latest"}
    for name in RELATIONS:
        assert set(solved(f"no_{name}").edge_table()["relation"]) == set(RELATIONS) - {name}
    drawn = {variant: solved(variant).score for variant in set(VARIANTS) - set(RANDOM)}
    assert drawn.pop("full") == full.score
    assert all(score != full.score for score in drawn.values())
    with pytest.raises(InputError, match="no variant 'none'; give full, no_graph"):
        solved("none")


def test_parts_of_the_edges_add_up_to_the_graph_term():
    done = solved()
    parts = done.edge_table().groupby("step")["part"].sum()
    assert parts.tolist() == six(done.g.tolist(), abs=1e-12)
    table = done.table()
    assert table["R"].tolist() == six((table["U"] + table["H"]).tolist())
    assert table["edges"].tolist() == [2, 5, 6]
    assert table["P"].tolist() == done.passed[[1, 3, 4]].tolist()


def alike(length, *observations):
    return Trajectory("t", "Refund.", (Step("Look at it.", observations=observations),) * length,
                      "")


def risk_of(run, **parameters):
    graph = build(run, Parameters(**parameters))
    return propagate(graph._replace(q=graph.q * 0), constant(graph)).r


def test_without_observations_or_a_cap_risk_counts_the_steps():
    free = risk_of(alike(80), p_max=None)
    assert free[79] - free[59] == six(free[59] - free[39], rel=0.01) and free[79] > 8
    assert risk_of(alike(80)).max() == six(0.3 + 1.5, abs=1e-6)  # U and what the cap lets through


@pytest.mark.parametrize("ok", [True, False])
def test_with_an_observation_after_every_action_risk_settles_without_a_cap(ok):
    risk = risk_of(alike(80, Observation(ok, {"content": "all is well"})), p_max=None)
    assert risk[79] == six(risk[60], abs=1e-6) and risk[79] < 1.5


def test_aggregates_of_a_run():
    risk = [float(n) for n in range(1, 21)]
    assert [aggregate(risk, how) for how in ("mean", "max", "last", "top10")] == [
        10.5, 20.0, 20.0, 19.5]
    assert aggregate([2.0, 1.0], "last") == 1.0 and aggregate([2.0, 1.0], "top10") == 2.0
    assert aggregate([], "max") is None


def test_a_scale_of_local_uncertainty_is_that_of_the_training_set():
    parameters = Parameters(scale="p95")
    graph = example(scale="p95")
    trained = msgspec.structs.replace(calibrated(graph), p95=0.5)
    assert propagate(graph, LOCAL, reliability=trained).u.tolist() == six([0.8, 1.0, 0.6])
    with pytest.raises(InputError, match="p95 needs a calibration"):
        propagate(graph, LOCAL, parameters=parameters)


def test_a_calibration_is_read_back_as_it_was_saved_and_says_what_made_it():
    graphs = [build(t) for t in judged_set(seed=3, clean=3, per_type=2)[0]]
    for temperature in (1.0, math.inf):
        found = fit(graphs, [constant(g) for g in graphs], Parameters(temperature=temperature))
        assert Reliability.from_json(found.to_json()) == found
        assert (found.n_train, found.similarity, found.source) == (15, "jaccard", "constant")
    for text in (b"{}", b"[1]", b"\xff", b'{"rho": 1}'):
        with pytest.raises(InputError, match="not a calibration"):
            Reliability.from_json(text)


def test_a_calibration_by_hand():
    # Latest fires once with .75 in each step of one run and twice in none of the other.
    one = build(Trajectory("a", "Refund.", (Step("Refund."), Step("Pay!")), ""))
    other = build(Trajectory("b", "", (Step("Refund."),), ""))
    found = fit([one, other])
    assert found.mean["latest"] == six(0.375) and found.variance["latest"] == six(0.375 ** 2)
    assert found.q["latest"] == six(0.375, abs=1e-6)
    pooled = fit([one, other], parameters=Parameters(population="edge"))
    assert pooled.mean["latest"] == six(0.75) and pooled.variance["latest"] == 0.0


@pytest.mark.parametrize(("spoil", "message"), [
    (lambda g: propagate(g, Local((0.1,), "x")), "1 local uncertainties for 3 steps"),
    (lambda g: propagate(g, LOCAL, parameters=Parameters(window=2)), "window 5, asked for 2"),
    (lambda g: propagate(g, LOCAL, parameters=Parameters(latest="user")),
     "latest both, asked for user"),
    (lambda g: Stream("", Parameters(latest="env"), reliability=msgspec.structs.replace(
        calibrated(g), similarity="jaccard", thresholds=Jaccard().thresholds)),
     "latest env, but calibrated with jaccard, 5, both"),
    (lambda g: propagate(g._replace(similarity="minilm"), LOCAL, reliability=calibrated(g)),
     "fit again"),
    (lambda g: propagate(g._replace(thresholds=Thresholds(0, 0, 0)), LOCAL,
                         reliability=calibrated(g)), "fit again"),
    (lambda g: fit([]), "no run with a step"),
    (lambda g: fit([build(Trajectory("t", "", (), ""))]), "no run with a step"),
    (lambda g: fit([g, build(Trajectory("t", "", (), ""))]), "build all alike"),
    (lambda g: Stream("", similarity=Embedder(), reliability=calibrated(g)), "fit again"),
])
def test_what_does_not_fit_together_is_refused_in_one_line(spoil, message):
    with pytest.raises(InputError, match=message) as caught:
        spoil(example())
    assert "\n" not in str(caught.value)


def test_a_peak_names_the_heaviest_edge_and_where_it_comes_from():
    found = peak(solved())
    assert (found.step, found.position, found.relation) == (2, 1.0, "repetition")
    assert found.source_step == 1 and found.source_kind == "assistant"
    broken = Step("Pay.", observations=(Observation(False, {}, "declined"),))
    run = Trajectory("t", "Pay.", (broken, Step("Pay."), *(Step("Pay it."),) * 2), "")
    done = peak(propagate(build(run), Local((0.0,) * 4, "constant")))
    # The failed call shows in the step after it, and is looked for where it happened.
    assert (done.step, done.source_step, done.evidence) == (1, 0, "marked as an error")


def test_a_peak_of_little_is_as_defined_as_it_can_be():
    assert peak(propagate(build(Trajectory("t", "", (), "")), Local((), "constant"))) is None
    lone = peak(propagate(build(Trajectory("t", "", (Step(""),), "")), Local((0.5,), "constant")))
    assert (lone.step, lone.position, lone.relation) == (0, None, None)


def test_a_copy_of_a_stream_scores_a_proposed_step_and_leaves_the_stream_alone():
    stream = Stream("Refund order.")
    for thought in ("Look.", "Look again."):
        stream.update(Step(thought), u=0.2)
    before, scores = list(stream.risks), []
    for thought in ("Pay.", "Look.", "Refund order."):
        tried = copy.deepcopy(stream)
        scores.append((tried.update(Step(thought), u=0.2), tried.score))
    # With a shared prefix the mean ranks candidates as their own risk does.
    assert sorted(scores) == sorted(scores, key=lambda pair: pair[1])
    assert len(set(scores)) == 3 and stream.risks == before
