"""Changes to RUPA chosen without labels: what chooses, what was fitted on what, and by hand."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from tjlib import features, material
from tjlib.compact import compact
from tjlib.measure import panels
from tjlib.measure.ranking import auroc
from tjlib.studies import improving
from tjlib.trace import Call, InputError, Observation, Step, Trajectory
from tjlib.uncertainty import choose, recipes
from tjlib.uncertainty.controls import inputs, words
from tjlib.uncertainty.crossfit import half
from tjlib.uncertainty.evidence import Evidence
from tjlib.uncertainty.graph import build
from tjlib.uncertainty.habits import Acts, disagreement, habits
from tjlib.uncertainty.parameters import RELATIONS
from tjlib.uncertainty.propagate import propagate
from tjlib.uncertainty.recipes import PRINTED, SETTLED, Fitted, Recipe, fit
from tjlib.uncertainty.signals import Local

FAIL = Observation(False, {}, "no such order")
FINE = Observation(True, {"order": "found here"})


def told(*observations: Observation) -> Trajectory:
    """Make a run of one call a step."""
    return Trajectory("t-1", "Find the order.", tuple(
        Step(f"Look {n}.", (Call("look", {"at": n}),), (o,)) for n, o in enumerate(observations)),
        "")


@pytest.fixture(scope="module")
def airline() -> improving.Runs:
    return improving.load("tau_airline")


@pytest.fixture(scope="module")
def weighed(airline) -> list[choose.Half]:
    return choose.halves(airline.graphs, airline.acts, airline.tasks)


def test_surprise_is_that_of_counts_with_five_more_dealt_by_the_tools_own_share():
    known = habits([Acts(("find", "pay"), (3, 3))] * 20)
    # 20 of 20 runs start with find; find is 20 of 40 steps, and one more of each of two and a new.
    first, then = known.surprise(Acts(("find", "new"), (3, 3)))
    assert first == pytest.approx(-math.log((20 + 5 * 21 / 43) / 25))
    assert then == pytest.approx(-math.log((0 + 5 * 1 / 43) / 25))


@given(st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=6), min_size=1, max_size=9),
       st.sampled_from(["(start)", *"abcd"]))
def test_what_may_follow_a_tool_has_a_total_probability_of_one(pool, before):
    known = habits(Acts(tuple(run), (1,) * len(run)) for run in pool)
    seen = [*known.singles, "never seen"]
    total = 0.0
    for tool in seen:
        acts = (tool,) if before == "(start)" else (before, tool)
        total += math.exp(-known.surprise(Acts(acts, (1,) * len(acts)))[-1])
    assert total == pytest.approx(1.0)


def test_a_step_as_long_as_its_tool_usually_is_has_no_verbosity_and_twice_as_long_has_log_two():
    known = habits([Acts(("find", "pay"), (7, 99))] * 10)
    assert known.verbosity(Acts(("find", "find", "find"), (7, 15, 3))) == pytest.approx(
        [0.0, math.log(2), math.log(2)])
    # A tool the pool hardly knows is held against all steps.
    assert known.verbosity(Acts(("rare",), (0,))) == pytest.approx([known.overall])


def test_disagreement_is_the_share_of_other_runs_without_the_step_and_none_if_there_is_no_other():
    a, b = Acts(("find", "pay"), (1, 1)), Acts(("find", "ask", "pay"), (1, 1, 1))
    assert disagreement([a, b, b, a], ["x", "x", "x", "y"]) == [
        [0.0, 1.0], [0.0, 0.5, 0.5], [0.0, 0.5, 0.5], None]


def test_an_observations_uncertainty_moves_to_the_step_that_caused_it():
    graph = build(told(FINE, FAIL, FINE, FINE))
    moved, u = recipes.attributed(graph, np.array([0.1, 0.2, 0.3, 0.4]))
    assert u.tolist() == [0.1, 1.2, 0.3, 0.4] and not moved.uncertainty.any()
    feedback = moved.edges.relation == RELATIONS.index("feedback")
    assert feedback.any() and set(moved.edges.source[feedback]) == {graph.agent[1]}
    assert (moved.edges.source < moved.edges.target).all()
    # The risk peaks where the call failed, not one step later.
    none = [0.0] * 4
    assert np.argmax(Fitted(Recipe(blame="caller")).risks(graph, none)) == 1
    assert np.argmax(Fitted(PRINTED).risks(graph, none)) == 2


def test_a_run_that_starts_at_its_level_does_not_rise():
    graph = build(told(*[FINE] * 12))._replace(q=np.zeros(12))
    own = [0.3] * 12
    printed, started = (Fitted(Recipe(beginning=b), start=s).risks(graph, own)
                        for b, s in (("zero", 0.0), ("started", 0.6)))
    assert printed[0] == pytest.approx(0.3) and np.ptp(started) < np.ptp(printed)
    assert started[0] == pytest.approx(0.3 + 0.7 * 0.6 + 0.3 * 0.6)


def test_centred_takes_the_pools_mean_at_a_position_off_and_holds_where_few_runs_are():
    graphs = [build(told(*[FINE] * n)) for n in (3,) * 10 + (5,) * 10]
    own = [[0.1 * k] * len(g.agent) for k, g in enumerate(graphs)]
    known, scores = fit(Recipe(beginning="centred"), graphs, own)
    plain = [propagate(g, Local(tuple(u), "constant")).r for g, u in zip(graphs, own, strict=True)]
    assert known.curve == pytest.approx([np.mean([r[k] for r in plain]) for k in range(3)])
    assert known.risks(graphs[-1], own[-1])[4] == pytest.approx(plain[-1][4] - known.curve[2])
    assert np.mean(scores) == pytest.approx(0.0) and np.std(scores) == pytest.approx(1.0)
    assert known.score(graphs[0], own[0]) == pytest.approx(scores[0])
    flats = [known.flat(g, u) for g, u in zip(graphs, own, strict=True)]
    assert np.mean(flats) == pytest.approx(0.0) and np.std(flats) == pytest.approx(1.0)
    assert np.argsort(flats).tolist() == np.argsort(
        [inputs(g, u) for g, u in zip(graphs, own, strict=True)]).tolist()


def test_a_scale_by_the_pool_ends_at_one():
    graphs = [build(told(FINE, FINE))] * 4
    known, _ = fit(Recipe("surprise", "p95"), graphs, [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6, 7]])
    assert known.p95 == pytest.approx(6.65)
    assert known.own([0.0, 3.325, 9.0]).tolist() == pytest.approx([0.0, 0.5, 1.0])


def test_no_pool_is_one_line():
    with pytest.raises(InputError, match="no run with a step"):
        fit(PRINTED, [], [])


def test_the_printed_recipe_ranks_as_structural_rupa(airline, weighed):
    for one in weighed:
        plain = one.fitted[0]
        assert plain.recipe == PRINTED
        for i in one.members[:20]:
            alike = Local((0.0,) * len(airline.graphs[i].agent), "constant")
            assert plain.score(airline.graphs[i], alike.u) * plain.spread + plain.middle == (
                pytest.approx(propagate(airline.graphs[i], alike).score))


def test_length_free_is_one_minus_a_library_s_rank_correlation():
    rng = np.random.default_rng(0)
    scores, steps = rng.normal(size=40), rng.integers(1, 9, 40)
    assert choose.length_free(scores, steps, []) == pytest.approx(
        1 - abs(spearmanr(scores, steps).statistic))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 6), st.sampled_from("abc")),
                min_size=2, max_size=20))
def test_agreement_is_an_average_over_pairs_of_one_task(rows):
    scores, steps, tasks = zip(*rows, strict=True)
    found = choose.agreement(scores, steps, tasks)
    score, length = (pd.Series(x).rank().to_numpy() for x in (scores, steps))
    score, length = (x - x.mean() for x in (score, length))
    score, length = (x / (x.std() or 1.0) for x in (score, length))
    left = score - (score * length).mean() * length
    pairs = [(a, b) for a in range(len(rows)) for b in range(len(rows))
             if a != b and tasks[a] == tasks[b]]
    most = sum((left[a] ** 2 + left[b] ** 2) / 2 for a, b in pairs)
    if most < 1e-9:
        assert found is None
    else:
        assert found == pytest.approx(sum(left[a] * left[b] for a, b in pairs) / most, abs=1e-6)
        assert found <= 1 + 1e-9


def test_no_function_that_chooses_has_a_place_for_an_outcome():
    for function in (choose.halves, choose.best, choose.elsewhere, choose.signals, fit,
                     choose.length_free, choose.agreement, habits, disagreement):
        names = set(inspect.signature(function).parameters)
        assert not names & {"failed", "success", "labels", "outcome", "about", "runs_failed"}


def test_permuting_the_outcomes_changes_no_choice_and_no_score(airline, weighed):
    turned = airline._replace(about=airline.about.assign(
        failed=np.random.default_rng(1).permutation(airline.about["failed"].to_numpy())))
    of = choose.halves(turned.graphs, turned.acts, turned.tasks)
    one, other = (improving.choices({"a": halves}) for halves in (weighed, of))
    pd.testing.assert_frame_equal(one, other)
    pd.testing.assert_frame_equal(improving.scores(airline, weighed, one),
                                  improving.scores(turned, of, other))


def test_turning_every_stored_outcome_changes_no_graph_no_act_and_no_task(airline, monkeypatch):
    held = features.read("tau_airline")
    turned = held.episodes.assign(success=~held.episodes["success"].astype(bool))
    monkeypatch.setattr(features, "read", lambda name: held._replace(episodes=turned))
    runs = improving.load("tau_airline")
    assert (runs.about["failed"] != airline.about["failed"]).all()
    assert (runs.acts, runs.tasks) == (airline.acts, airline.tasks)
    for one, other in zip(runs.graphs, airline.graphs, strict=True):
        np.testing.assert_equal(one._asdict(), other._asdict())


def test_what_a_run_is_scored_by_was_fitted_on_the_other_half_of_the_tasks(airline, weighed):
    sides = [{half(airline.tasks[i]) for i in one.members} for one in weighed]
    assert sides == [{0}, {1}]
    assert sorted(i for one in weighed for i in one.members) == list(range(200))
    # A run's own task may be changed as one likes: what is fitted for it stays.
    first = weighed[0]
    acts = [Acts(("other",) * len(run.tools), run.words) if i in set(first.members) else run
            for i, run in enumerate(airline.acts)]
    again = choose.halves(airline.graphs, acts, airline.tasks)[0]
    assert first.fitted == again.fitted and first.worth == again.worth


def test_of_equals_the_recipe_with_fewest_changes_is_taken():
    fitted = [Fitted(recipe) for recipe in recipes.recipes(["none"])]
    one = choose.Half([], {}, fitted, {"least length": [None, 0.5, 0.9, 0.9, 0.1, 0.9]})
    assert choose.best(one, "least length") == fitted[2]
    assert choose.best(one._replace(worth={"x": [None] * 6}), "x") is None


def test_the_other_sets_choose_by_their_means_and_only_what_these_runs_can_have():
    def a_set(**worth):
        known = [Recipe(), Recipe("surprise"), Recipe("disagreement")]
        return [choose.Half([], {}, [Fitted(r) for r in known], {"c": list(worth.values())})]

    others = [a_set(p=0.1, s=0.4, d=0.9), a_set(p=0.3, s=0.1, d=None)]
    assert choose.elsewhere(others, "c", ["none", "surprise", "disagreement"]).signal == (
        "disagreement")
    assert choose.elsewhere(others, "c", ["none", "surprise"]).signal == "surprise"
    assert choose.elsewhere([], "c", ["none"]) == PRINTED


def test_the_settled_method_is_what_the_first_criterion_takes_on_all_sets_and_starts_as_they_do():
    starts, worth = [], {recipe: [] for recipe in recipes.recipes(["none"])}
    for name in material.PUBLIC:
        runs = improving.load(name)
        kept = [i for i, g in enumerate(runs.graphs) if len(g.agent)]
        graphs = [runs.graphs[i] for i in kept]
        starts.append(fit(SETTLED.recipe, graphs, [[0.0] * len(g.agent) for g in graphs])[0].start)
        of = choose.halves(runs.graphs, runs.acts, runs.tasks, kept=["none"])
        for recipe, values in worth.items():
            values.append(np.mean([one.worth["least length"][one.fitted.index(f)]
                                   for one in of for f in one.fitted if f.recipe == recipe]))
    assert max(worth, key=lambda recipe: np.mean(worth[recipe])) == SETTLED.recipe
    assert round(float(np.mean(starts)), 2) == SETTLED.start


def test_the_settled_method_is_one_of_the_registrys_and_reads_one_run():
    run = told(FINE, FAIL)
    graph = build(run)
    moved, u = recipes.attributed(graph, np.zeros(2))
    uncertainty = moved.uncertainty.copy()
    uncertainty[0] = 0.92
    by_hand = propagate(moved._replace(uncertainty=uncertainty), Local(tuple(u), "constant"))
    assert recipes.rupa_settled(Evidence(run)).value == pytest.approx(by_hand.score)


def test_the_stored_words_are_those_of_the_stored_scores_and_the_stored_settled_of_the_graphs():
    tables = features.read("tau_airline")
    held = compact(features.scores(tables, "jaccard")).scores
    count = tables.steps.groupby("trajectory_id")["words"].sum()
    assert (count.reindex(held.index) == held["n_words"]).all()
    for graph in features.graphs(tables, "jaccard")[::20]:
        assert SETTLED.risks(graph, [0.0] * len(graph.agent)).mean() == pytest.approx(
            held["rupa_settled"][graph.trajectory_id], abs=1e-6)
    assert words(Step("Pay 5 now.", (Call("pay", {"eur": 5}),))) == 6


def test_a_log_is_read_as_stored_numbers_are(tmp_path):
    from tjlib.trace import to_json

    path = tmp_path / "log.jsonl"
    path.write_bytes(b"\n".join(to_json(told(FINE, FAIL)) for _ in range(1)) + b"\n")
    runs = improving.load(str(path))
    assert runs.acts == [Acts(("look", "look"), (5, 5))]
    assert runs.tasks == ["t-1"] and runs.about["failed"].tolist() == [None]
    of = choose.halves(runs.graphs, runs.acts, runs.tasks)
    table = improving.scores(runs, of, improving.choices({"log": of}))
    assert table["printed"].notna().all()


def test_a_measured_difference_is_that_of_its_two_levels_and_missing_columns_cost_no_run():
    rng = np.random.default_rng(2)
    about = pd.DataFrame({
        "task": [f"k{n // 2}" for n in range(40)], "model": ["m", "m", "n", "n"] * 10,
        "steps": rng.integers(3, 6, 40), "failed": [True, False, None, False] * 10})
    table = pd.DataFrame({"printed": rng.normal(size=40), "mine": rng.normal(size=40),
                          "none": np.nan})
    found = panels.measured(table, about, [("mine", "printed"), ("none", "printed")], 0, 200)
    for panel, column in (("all pairs", None), ("one length", "steps"), ("one model", "model")):
        rows = found[found["panel"] == panel].set_index("name")
        assert set(rows.index) == {"printed", "mine", "mine - printed"}
        assert rows["value"]["mine - printed"] == pytest.approx(
            rows["value"]["mine"] - rows["value"]["printed"])
        judged = about["failed"].notna()
        failed = about["failed"][judged].astype(bool)
        assert rows["value"]["mine"] == pytest.approx(auroc(
            failed, table["mine"][judged], None if column is None else about[column][judged]))
        assert (rows["n"] == 30).all() and (rows["lo"] <= rows["hi"]).all()


def test_runs_that_nobody_judged_are_one_line():
    about = pd.DataFrame({"task": ["k"], "model": [""], "steps": [3], "failed": [None]})
    with pytest.raises(InputError, match=r"^no run has an outcome.*labels beside it$"):
        panels.measured(pd.DataFrame({"printed": [1.0]}), about, [], 0, 100)
