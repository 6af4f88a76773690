"""What the book says it recorded is there, is whole, and was made by this code's prompts."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from functools import partial
from itertools import islice

import msgspec
import pytest

from tjlib import store
from tjlib.desk import organic, testbed, world
from tjlib.guided import candidates, outcomes, source
from tjlib.guided.selectors import SELECTORS, choose
from tjlib.guided.tree import follow
from tjlib.judges import agent, panel, prompts
from tjlib.judges.asked import hashed
from tjlib.judges.modelfree import ModelFree
from tjlib.judges.protocol import Options
from tjlib.provenance import Run
from tjlib.studies.driven import load
from tjlib.trace import STATUSES

FOLDER = store.data_folder("recorded")
SOURCE = store.load("recorded")
RUNS = {run.run_id: run for run in store.read(FOLDER / "runs.jsonl", Run)}
BOUND = 600  # characters of reasoning that the local model is held to


def test_every_judge_judged_as_many_of_the_first_trajectories_as_the_data_sheet_says():
    of = {judge: [v.trajectory_id for v in SOURCE.verdicts if v.judge == judge]
          for judge in {v.judge for v in SOURCE.verdicts}}
    assert {judge: len(ids) for judge, ids in of.items()} == {
        "outcome:smollm2": 400, "step:smollm2": 400, "selfcons3:smollm2": 100,
        "reply-steps:smollm2": 100, "steps-reply:smollm2": 100, "reply:entities": 400,
        "reply:words": 400}
    order = [t.trajectory_id for t in SOURCE.trajectories]
    assert all(ids == order[:len(ids)] for ids in of.values())


def test_every_verdict_names_a_run_on_record_by_the_same_judge():
    for verdict in SOURCE.verdicts:
        assert RUNS[verdict.run_id].judge == verdict.judge and verdict.status in STATUSES
    assert len(RUNS) == len({v.judge for v in SOURCE.verdicts})


@pytest.mark.parametrize("name", list(panel.DESIGNS))
def test_the_recorded_prompts_are_the_prompts_of_this_code(name):
    design = panel.DESIGNS[name]
    [run] = [run for run in RUNS.values() if run.judge == f"{design.prefix}:smollm2"]
    assert run.order == "paper"
    assert run.prompt_hash == prompts.fingerprint(design.view, design.task, "paper", BOUND)
    assert run.options["seed"] == [7, 8, 9][:design.votes]
    assert run.options["temperature"] == (design.temperature or 0)
    assert (run.options["num_ctx"], run.options["timeout_s"]) == (8192, 600)


@pytest.mark.parametrize(("name", "similarity"),
                         [("reply:entities", "none"), ("reply:words", "jaccard")])
def test_the_model_free_reply_judge_gives_its_recorded_verdicts_again(name, similarity):
    judge = ModelFree(testbed.clean_runs(), similarity)
    recorded = [v for v in SOURCE.verdicts if v.judge == name]
    [run] = [run for run in RUNS.values() if run.judge == name]
    said = judge.identity()
    assert {k: said[k] for k in ("options", "digest")} == {
        "options": run.options, "digest": run.digest}
    for trajectory, verdict in zip(SOURCE.trajectories, recorded, strict=True):
        again = msgspec.structs.replace(judge.judge(trajectory), run_id=verdict.run_id,
                                        latency_s=verdict.latency_s)
        assert again == verdict


def test_the_recorded_episodes_are_sixty_ten_a_stratum_labelled_as_this_code_labels():
    episodes = load("recorded")
    lines = list(store.read(FOLDER / "agent" / "episodes.jsonl", agent.Episode))
    assert Counter(line.stratum for line in lines) == dict.fromkeys(world.STRATA, 10)
    assert Counter(line.status for line in lines if line.status != "ok") == episodes.broken_off
    cases = {case.instance_id: case for case in islice(world.instances(7), 60)}
    assert [organic.label(cases[label.instance_id], trajectory) for trajectory, label in
            zip(episodes.trajectories, episodes.labels, strict=True)] == episodes.labels
    assert all(step.logprobs for t in episodes.trajectories for step in t.steps)


def test_the_recorded_episodes_were_prompted_by_the_agent_of_this_code():
    [run] = store.read(FOLDER / "agent" / "runs.jsonl", Run)
    text = json.dumps([agent.prompt("", ()), agent.schema(bounded=True)])
    assert run.prompt_hash == hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
    assert run.options["max_steps"] == agent.MAX_STEPS == 10 and run.options["cases_seed"] == 7
    assert Options().seed == run.options["seed"]


def test_the_prefix_table_holds_fifty_trajectories_read_in_every_way():
    read = store.recorded_prefix()
    ways = read.groupby(["condition", "mode", "judge"])["trajectory_id"].nunique()
    assert set(ways) == {50} and len(ways) == 10


def test_the_recorded_candidates_are_of_one_run_with_this_codes_prompt_and_whole_cases():
    kept, folder = source.load("recorded"), FOLDER / "guided"
    [run] = store.read(folder / "runs.jsonl", Run)
    form = candidates.schema("", (), bounded=True)
    assert run.prompt_hash == hashed(candidates.prompt("", ()), form)
    assert (run.options["candidates"], run.options["temperature"]) == (3, 0.7)
    assert {len(found) for found in kept.tree.values()} == {3}
    cases = list(islice(world.instances(run.options["cases_seed"]), len(kept.cases)))
    assert kept.cases == cases and len(cases) % 6 == 0
    assert {point[:2] for point in kept.tree if not point.taken} == {
        (case.instance_id, given) for case in cases for given in range(6)}
    # Every path of a driven case comes to its end, and every point is on some path.
    driven = kept.driven(5, list(SELECTORS))
    assert driven == cases[:len(driven)] and driven
    reached = {point for case in driven for name in SELECTORS
               for point in follow(kept.tree.at, case, 5, partial(choose, name)).points}
    assert {point for point in kept.tree if point.taken} <= reached
    assert outcomes.paths(kept.tree, driven, 5, list(SELECTORS))["steps"].between(1, 5).all()


def test_the_recorded_candidates_are_small():
    assert (FOLDER / "guided" / "decisions.jsonl").stat().st_size < 700_000
