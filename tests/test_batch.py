"""Many runs at once score what each scores alone, by the same weights, draws and refusals."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tjlib import material
from tjlib.desk.testbed import judged_set
from tjlib.trace import InputError, Step, Trajectory
from tjlib.uncertainty import batch as together
from tjlib.uncertainty.calibrate import fit
from tjlib.uncertainty.graph import build
from tjlib.uncertainty.parameters import RELATIONS, STRENGTHS, Parameters
from tjlib.uncertainty.propagate import propagate
from tjlib.uncertainty.signals import Local
from tjlib.uncertainty.variants import RANDOM, VARIANTS, seeded

EMPTY = build(Trajectory("t-0", "Refund it.", (), ""))
BARE = build(Trajectory("t-1", "", (Step("Look."), Step("Look again.")), ""))
DESK = [build(t) for t in judged_set(7, clean=6, per_type=2)[0][:9]]
MIXED = [EMPTY, *DESK[:4], BARE, *DESK[4:], EMPTY]


def alone(graphs, u, **how):
    """Give the risks of each run by itself, one after the other."""
    at, out = 0, [np.zeros(0)]
    for graph in graphs:
        own = Local(tuple(u[at:at + len(graph.agent)]), "logprob")
        out.append(propagate(graph, own, **how).r)
        at += len(graph.agent)
    return np.concatenate(out)


def uncertainties(graphs):
    return np.random.default_rng(5).random(sum(len(g.agent) for g in graphs)) * 2


share = st.floats(0, 1)
weight = st.floats(0, 3)


@settings(max_examples=40, deadline=None)
@given(parameters=st.builds(
    Parameters, delta=share, gamma=share, eta_g=weight, eta_m=weight, lam_h=weight, lam_u=weight,
    p_max=st.none() | st.floats(0.1, 3), momentum=st.sampled_from(["all", "assistant"]),
    strength=st.sampled_from(["factor", "cap"]),
    strengths=st.fixed_dictionaries(dict.fromkeys(STRENGTHS, weight))),
    variant=st.sampled_from([name for name in VARIANTS if name not in RANDOM]))
def test_every_setting_of_every_run_is_what_propagate_gives_it_alone(parameters, variant):
    u, batch = uncertainties(MIXED), together.join(MIXED)
    columns = [together.column(batch, Parameters()), together.column(batch, parameters, variant)]
    found = together.risks(batch, u, columns)
    assert found[:, 0] == pytest.approx(alone(MIXED, u))
    # Without a cap risks grow without bound, so their digits count and not their size.
    wanted = alone(MIXED, u, parameters=parameters, variant=variant)
    assert found[:, 1] == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("variant", RANDOM)
def test_what_draws_draws_for_each_run_what_it_draws_alone(variant):
    u, batch = uncertainties(MIXED), together.join(MIXED)

    def rngs(seed):
        return [seeded(seed, "task", i, variant) for i in range(len(MIXED))]

    columns = [together.column(batch, Parameters(), variant, rngs(seed)) for seed in (0, 1)]
    found, at = together.risks(batch, u, columns), batch.first_step
    for seed in (0, 1):
        for i, graph in enumerate(MIXED):
            own = alone([graph], u[at[i]:at[i + 1]], variant=variant, rng=rngs(seed)[i])
            assert found[at[i]:at[i + 1], seed] == pytest.approx(own)
    assert (found[:, 0] != found[:, 1]).any()


def test_a_random_graph_keeps_the_multiset_of_weights_of_every_run():
    airline = material.load("features", []).graphs
    batch = together.join(airline)
    whole = together.column(batch, Parameters())
    for seed in range(3):
        drawn = together.column(batch, Parameters(), "random_graph", [
            seeded(seed, "t", g.trajectory_id, "random_graph") for g in airline])
        assert (drawn.weight == whole.weight).all()  # edge by edge, and so as a multiset
        assert (drawn.source != whole.source).mean() > 0.5
        # Sources are earlier nodes of the same run.
        run = np.searchsorted(batch.first_node, batch.edges.target, side="right") - 1
        assert (drawn.source < batch.edges.target).all()
        assert (drawn.source >= batch.first_node[run]).all()


def test_a_score_is_the_mean_of_the_risks_and_a_run_without_a_step_has_none():
    u, batch = uncertainties(MIXED), together.join(MIXED)
    found = together.scores(batch, u, [together.column(batch, Parameters())])[:, 0]
    assert np.isnan(found[[0, -1]]).all() and not np.isnan(found[1:-1]).any()
    at = batch.first_step
    r = alone(MIXED, u)
    assert found[1:-1] == pytest.approx([r[a:b].mean() for a, b in pairwise(at[1:-1])])


def test_reliabilities_weigh_edges_as_a_calibration_does():
    fitted, batch, u = fit(DESK), together.join(DESK), uncertainties(DESK)
    rho = np.array([fitted.rho[name] for name in RELATIONS])[batch.edges.relation]
    found = together.risks(batch, u, [together.column(batch, Parameters(), reliability=rho)])
    assert found[:, 0] == pytest.approx(alone(DESK, u, reliability=fitted))


def test_no_run_at_all_has_no_scores():
    batch = together.join([])
    assert together.scores(batch, np.zeros(0), [together.column(batch, Parameters())]).shape == (
        0, 1)


@pytest.mark.parametrize(("name", "value"), [
    ("pairs", "single"), ("scale", "p95"), ("aggregate", "max")])
def test_what_only_propagate_can_do_is_refused(name, value):
    other = msgspec.structs.replace(Parameters(), **{name: value})
    with pytest.raises(InputError, match=f"{name} .* only; propagate takes others"):
        together.column(together.join(DESK), other)


_BYTES = """
import hashlib, numpy as np
from tjlib import material
from tjlib.studies import ablation
from tjlib.uncertainty.signals import Local
m = material.load("nemo_gym", [])
same = [Local((0.0,) * len(u.u), "constant") for u in m.local]
found = ablation.components(m.graphs, same, m.runs["task"], 0, seeds=3)
print(hashlib.sha256(b"".join(column.tobytes() for column in found.values())).hexdigest())
"""


def test_an_ablation_has_the_same_bytes_in_every_process_and_hash_seed():
    said = {subprocess.run(
        [sys.executable, "-c", _BYTES], check=True, capture_output=True, text=True,
        cwd=Path(__file__).parents[1],
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": "."}).stdout
        for seed in ("0", "1", "4711")}
    assert len(said) == 1 and len(next(iter(said)).strip()) == hashlib.sha256().digest_size * 2
