"""The records: what goes to JSON comes back, and what breaks a rule does not get in."""

from __future__ import annotations

import json
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
names = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Zl", "Zp"]),
                max_size=20).filter(lambda name: " - " not in name)
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
trajectories = st.builds(Trajectory, names, text, st.lists(steps, max_size=3).map(tuple), text)
step_numbers = st.none() | st.integers(0, 99)
fault_types = st.none() | st.sampled_from(FAULT_TYPES)
optional = st.none() | names
labels = st.builds(Label, names, st.just(True), step_numbers, fault_types,
                   st.none() | st.booleans(), optional, optional, optional) | st.builds(
    Label, names, st.just(False), outcome_correct=st.none() | st.booleans(), stratum=optional)
verdicts = st.builds(
    Verdict, names, names, st.just(True), step_numbers, fault_types, st.none() | st.floats(0, 1),
    st.just("ok"), text, st.none() | st.floats(0, 1e6), st.none() | st.integers(0, 10**6),
) | st.builds(Verdict, names, names, status=st.sampled_from(STATUSES[1:]), rationale=text)


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
    (Verdict, '{"trajectory_id": "t", "judge": "a - b", "faulty": true}', "holds ' - '"),
    (Step, '{"thought": "", "logprobs": [0.5]}', "above 0"),
    (Call, '{"tool": "reply", "args": NaN}', "malformed"),
    (Call, '{"tool": "reply", "args": {"x": ' + "[" * 100_000, "nested too deeply"),
])
def test_a_record_that_breaks_a_rule_is_refused_in_one_line(kind, line, says):
    with pytest.raises(InputError) as caught:
        from_json(kind, line)
    assert says in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("record", [
    Trajectory("t", "", (), ""), Label("t", True, instance_id="i", stratum="s", parent_id="p"),
    Verdict("t", "j", False, run_id="r"),
])
@pytest.mark.parametrize("bad", [
    "\x1b[31mred", "\0", "\n", "\x7f", "\x9b", "\u202edesrever", "\u2066", "\u200f", "\u2028",
])
def test_an_id_or_a_name_that_steers_the_screen_is_refused(record, bad):
    fields = {"trajectory_id", "instance_id", "stratum", "parent_id", "judge", "run_id"}
    for field in fields & set(record.__struct_fields__):
        line = json.dumps(json.loads(to_json(record)) | {field: f"a{bad}"})
        with pytest.raises(InputError, match=f"^{field} holds the control character U.00|^{field} "
                                             "holds the control character U.20") as caught:
            from_json(type(record), line)
        assert str(caught.value).isprintable()


@pytest.mark.parametrize("name", ["qwen2.5:14b", "j–é", "судья", "裁判", "קורא", "👩‍⚖️",
                                  "a-b", "a -b"])
def test_a_name_in_any_script_is_taken(name):
    assert Verdict("t", name, False).judge == name


@pytest.mark.parametrize(("field", "good", "bad"), [
    ("failure_step", [0, 1_000_000], [-1, 1_000_001, 2**40, 10**40]),
    ("latency_s", [0.0, 1e9], [-0.1, 1.7e308, float("inf"), float("nan")]),
    ("prompt_tokens", [0, 10**9], [-1, 10**13, 10**40]),
    ("completion_tokens", [0, 10**9], [-1, 10**13, 10**40]),
])
def test_a_step_or_a_cost_no_run_can_have_is_refused(field, good, bad):
    for value in good:
        assert getattr(Verdict("t", "j", True, **{field: value}), field) == value
    for value in bad:
        with pytest.raises(ValueError, match=f"^{field} .*(below 0|not within 0 to)"):
            Verdict("t", "j", True, **{field: value})
    for value in bad if field == "failure_step" else ():
        with pytest.raises(ValueError, match=r"^failure_step"):
            Label("t", True, value)


def test_a_record_cannot_be_changed():
    with pytest.raises(AttributeError):
        Label("t", False).faulty = True


def test_importing_the_package_loads_nothing_heavy():
    heavy = {"torch", "transformers", "altair", "pandas", "scipy", "papermill"}
    code = f"import sys, tjlib, tjlib.__main__; print(sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
