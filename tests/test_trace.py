"""The records: what goes to JSON comes back, and what breaks a rule does not get in."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tjlib.trace import (
    FAULT_TYPES,
    STATUSES,
    Call,
    InputError,
    Label,
    Observation,
    Step,
    Trajectory,
    Verdict,
    from_json,
    to_json,
)

text = st.text(st.characters(codec="utf-8"), max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | text
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=5,
)
calls = st.builds(Call, text, st.dictionaries(text, values, max_size=3))
observations = st.builds(Observation, st.booleans(), st.dictionaries(text, values, max_size=3),
                         st.none() | text)
logprobs = st.none() | st.lists(st.floats(-50, 0), max_size=3).map(tuple)
steps = st.builds(Step, text, st.lists(calls, max_size=2).map(tuple),
                  st.lists(observations, max_size=2).map(tuple), st.none() | text, logprobs)
trajectories = st.builds(Trajectory, text, text, st.lists(steps, max_size=3).map(tuple), text)
step_numbers = st.none() | st.integers(0, 99)
fault_types = st.none() | st.sampled_from(FAULT_TYPES)
optional = st.none() | text
labels = st.builds(Label, text, st.just(True), step_numbers, fault_types,
                   st.none() | st.booleans(), optional, optional, optional) | st.builds(
    Label, text, st.just(False), outcome_correct=st.none() | st.booleans(), stratum=optional)
verdicts = st.builds(
    Verdict, text, text, st.just(True), step_numbers, fault_types, st.none() | st.floats(0, 1),
    st.just("ok"), text, st.none() | st.floats(0, 1e6), st.none() | st.integers(0, 10**6),
) | st.builds(Verdict, text, text, status=st.sampled_from(STATUSES[1:]), rationale=text)


@given(trajectories | labels | verdicts)
def test_a_record_comes_back_from_json_equal_and_on_one_line(record):
    line = to_json(record)
    assert from_json(type(record), line) == record
    assert b"\n" not in line and b"\r" not in line


def test_text_outside_ascii_is_written_as_utf8_not_escaped():
    assert "“é”😀".encode() in to_json(Call("reply", {"text": "“é”😀"}))


def test_a_trajectory_has_no_field_for_its_label():
    assert not set(Trajectory.__struct_fields__) & (set(Label.__struct_fields__)
                                                    - {"trajectory_id"})


@pytest.mark.parametrize(("kind", "line", "says"), [
    (Label, '{"faulty": true}', "trajectory_id"),
    (Label, '{"trajectory_id": "t", "faulty": 1}', "faulty"),
    (Label, '{"trajectory_id": "t", "faulty": false, "fautly": 1}', "fautly"),
    (Label, '{"trajectory_id": "t", "faulty": false, "failure_step": 1}', "clean trajectory"),
    (Label, '{"trajectory_id": "t", "faulty": true, "failure_step": -1}', "below 0"),
    (Verdict, '{"trajectory_id": "t", "judge": "j"}', "status ok needs faulty"),
    (Verdict, '{"trajectory_id": "t", "judge": "j", "faulty": true, "status": "error"}', "null"),
    (Verdict, '{"trajectory_id": "t", "judge": "j", "faulty": true, "confidence": 1.2}',
     "outside [0, 1]"),
    (Verdict, '{"trajectory_id": "t", "judge": "j", "status": "lost"}', "lost"),
    (Step, '{"thought": "", "logprobs": [0.5]}', "above 0"),
    (Call, '{"tool": "reply", "args": NaN}', "malformed"),
    (Call, '{"tool": "reply", "args": {"x": ' + "[" * 100_000, "nested too deeply"),
])
def test_a_record_that_breaks_a_rule_is_refused_in_one_line(kind, line, says):
    with pytest.raises(InputError) as caught:
        from_json(kind, line)
    assert says in str(caught.value) and "\n" not in str(caught.value)


def test_a_record_cannot_be_changed():
    with pytest.raises(AttributeError):
        Label("t", False).faulty = True


def test_importing_the_package_loads_nothing_heavy():
    heavy = {"torch", "transformers", "altair", "pandas", "scipy", "papermill"}
    code = f"import sys, tjlib, tjlib.__main__; print(sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
