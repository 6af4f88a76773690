"""The judged set is the paper's by composition, and gives nothing away."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tjlib import store
from tjlib.desk.testbed import judged_set, stream
from tjlib.desk.world import THOUGHTS
from tjlib.trace import FAULT_TYPES, InputError, to_json

TRAJECTORIES, LABELS = judged_set(seed=7)


def cell(label):
    return label.failure_type, label.outcome_correct


def test_the_composition_is_section_3s():
    assert Counter(cell(label) for label in LABELS) == {
        (None, True): 100,
        ("wrong_tool", True): 50,
        ("hallucinated_argument", True): 50,
        ("unsupported_claim", True): 50,
        ("skipped_precondition", True): 25,
        ("skipped_precondition", False): 25,
        ("ignored_observation", False): 50,
        ("premature_stop", False): 50,
    }
    silent = sum(label.faulty and label.outcome_correct for label in LABELS)
    loud = sum(label.faulty and not label.outcome_correct for label in LABELS)
    assert (silent, loud) == (175, 125)


def test_the_strata_are_the_releases():
    assert Counter(label.stratum for label in LABELS) == {
        "happy": 78, "restocking": 128, "expired": 49, "non_refundable": 49,
        "wrong_customer": 48, "already_refunded": 48,
    }
    assert len({label.instance_id for label in LABELS}) == 141


def test_the_hosts_are_the_releases(shared):
    def design(labels):
        return {(x.failure_type, x.instance_id, x.failure_step, x.outcome_correct, x.stratum)
                for x in labels}

    assert design(LABELS) == design(store.released(shared / "released").labels)


def test_labels_are_aligned_and_name_a_step_that_exists():
    for trajectory, label in zip(TRAJECTORIES, LABELS, strict=True):
        assert trajectory.trajectory_id == label.trajectory_id
        assert label.failure_step is None or label.failure_step < len(trajectory.steps)
    assert len({label.trajectory_id for label in LABELS}) == 400


def test_parents_are_the_clean_runs_of_the_same_case():
    clean = {label.trajectory_id: label for label in LABELS if not label.faulty}
    assert all(label.parent_id is None for label in clean.values())
    faulty = [label for label in LABELS if label.faulty]
    assert all(label.parent_id not in (None, label.trajectory_id) for label in faulty)
    paired = [label for label in faulty if label.parent_id in clean]
    assert all(clean[label.parent_id].instance_id == label.instance_id for label in paired)
    assert len(paired) == 251  # judging paper, paired discrimination


def test_the_outcome_is_read_off_the_steps():
    """A second definition: what was paid and escalated, from the observations alone."""
    clean_refund = {}
    for trajectory, label in itertools.islice(stream(seed=7), 2_000):
        seen = [step.observations[0] for step in trajectory.steps]
        paid = [o.data["refunded_eur"] for o in seen if "refunded_eur" in o.data]
        end = (paid, any("ticket" in o.data for o in seen))
        if not label.faulty:
            clean_refund[label.instance_id] = end
        assert label.outcome_correct == (end == clean_refund[label.instance_id])


def test_nothing_a_judge_sees_spells_the_fault_or_counts_the_cases():
    words = (*FAULT_TYPES, "INS-", "silent", "loud", "clean", "label", "restocking_case")
    for trajectory in TRAJECTORIES:
        text = to_json(trajectory).decode()
        assert not [word for word in words if word in text]
        assert re.fullmatch(r"t-[0-9a-f]{12}", trajectory.trajectory_id)


def test_the_thought_depends_on_the_tool_alone():
    for trajectory in TRAJECTORIES:
        for step in trajectory.steps:
            assert step.thought == THOUGHTS[step.calls[0].tool]


def test_the_release_gives_edited_steps_a_sentence_of_their_own(shared):
    """Why ours are fixed: in the release some thoughts occur in faulty runs only."""
    clean, faulty = set(), set()
    release = store.released(shared / "released")
    for trajectory, label in zip(release.trajectories, release.labels, strict=True):
        (faulty if label.faulty else clean).update(step.thought for step in trajectory.steps)
    assert len(faulty - clean) == 4


PRINT_DIGEST = """
import hashlib
from tjlib.desk.testbed import judged_set
from tjlib.trace import to_json
lines = [to_json(record) for records in judged_set(seed=7) for record in records]
print(hashlib.sha256(b"\\n".join(lines)).hexdigest())
"""


def test_three_processes_with_other_hash_seeds_give_the_same_bytes():
    digests = {
        subprocess.run(
            [sys.executable, "-c", PRINT_DIGEST], check=True, capture_output=True, text=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
        ).stdout.strip()
        for seed in ("0", "1", "4242")
    }
    lines = [to_json(record) for records in (TRAJECTORIES, LABELS) for record in records]
    assert digests == {hashlib.sha256(b"\n".join(lines)).hexdigest()}


def test_another_seed_gives_other_cases_faults_and_ids():
    other, _ = judged_set(seed=8)
    assert not {t.trajectory_id for t in other} & {t.trajectory_id for t in TRAJECTORIES}
    assert not {t.goal for t in other} & {t.goal for t in TRAJECTORIES}


def assert_every_prefix_is_stratified(labels):
    sizes = Counter(map(cell, labels))
    assert len(sizes) == 8
    seen = Counter()
    for m, label in enumerate(labels, start=1):
        seen[cell(label)] += 1
        for name, size in sizes.items():
            share = size / len(labels)
            assert abs(seen[name] - m * share) <= 0.5 + 4 * share + 1e-9


def test_every_prefix_holds_each_cell_in_proportion():
    """The bound of judged_set: at most 1.5 away for clean, 1 for 50, .75 for 25."""
    for seed in range(5):
        assert_every_prefix_is_stratified(judged_set(seed)[1])


@settings(max_examples=25)
@given(st.integers(1, 60), st.integers(1, 12))
def test_the_bound_holds_at_other_sizes(clean, half):
    trajectories, labels = judged_set(clean=clean, per_type=2 * half)
    assert len(trajectories) == len(labels) == clean + 12 * half
    assert Counter(label.failure_type for label in labels) == {
        None: clean, **dict.fromkeys(FAULT_TYPES, 2 * half)
    }
    assert_every_prefix_is_stratified(labels)


def test_the_order_is_not_the_order_of_the_cases():
    clean = [label.instance_id for label in LABELS if not label.faulty]
    assert clean != sorted(clean)


def test_the_order_depends_on_the_seed():
    def order(seed):
        clean = [label.instance_id for label in judged_set(seed)[1] if not label.faulty]
        return [sorted(clean).index(name) for name in clean]

    assert order(7) == order(7) != order(8)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"per_type": 25}, "per_type is 25; give an even number"),
        ({"per_type": 0}, "per_type is 0; give a whole number above 0"),
        ({"clean": -3}, "clean is -3; give a whole number above 0"),
        ({"clean": 2.5}, "clean is 2.5; give a whole number above 0"),
        ({"instances": 0}, "instances is 0; give a whole number above 0"),
        ({"instances": 295}, "295 instances are too few, .* need 296;"),
        ({"clean": 500, "instances": 400}, "400 instances are too few, .* need 500;"),
    ],
)
def test_a_size_that_cannot_be_met_is_told_in_one_line(sizes, message):
    with pytest.raises(InputError, match=message) as caught:
        judged_set(**sizes)
    assert "\n" not in str(caught.value)


def test_the_number_of_instances_named_is_enough():
    assert judged_set(seed=7, instances=296) == (TRAJECTORIES, LABELS)


def test_the_stream_holds_the_judged_set():
    streamed = {}
    for trajectory, label in itertools.islice(stream(seed=7), 1_650):
        assert trajectory.trajectory_id not in streamed
        streamed[trajectory.trajectory_id] = trajectory, label
    for pair in zip(TRAJECTORIES, LABELS, strict=True):
        assert streamed[pair[0].trajectory_id] == pair


def test_a_trajectory_has_no_field_for_a_label():
    for trajectory in TRAJECTORIES:
        raw = json.loads(to_json(trajectory))
        assert list(raw) == ["trajectory_id", "goal", "steps", "final_answer"]


@pytest.mark.parametrize(("types", "needed"), [
    (("wrong_tool",), 9), (("ignored_observation",), 50), (("skipped_precondition",), 26),
    (("premature_stop", "ignored_observation"), 50),
])
def test_a_bed_of_some_types_holds_them_alone_and_says_how_many_cases_it_needs(types, needed):
    """Nine clean runs of nine cases; per type 9 or 10 hosts: restocking is case 2, 8, 14, ..."""
    per_type = 10 if "skipped_precondition" in types else 9
    _, labels = judged_set(clean=9, per_type=per_type, types=(*types, *types), instances=needed)
    assert Counter(label.failure_type for label in labels) == {
        None: 9, **dict.fromkeys(types, per_type)}
    with pytest.raises(InputError, match=f"need {needed};"):
        judged_set(clean=9, per_type=per_type, types=types, instances=needed - 1)


def test_a_type_that_does_not_exist_is_named_before_any_case_is_drawn():
    with pytest.raises(InputError, match="no fault type 'typo'; the types are wrong_tool, "):
        judged_set(types=("typo",))
