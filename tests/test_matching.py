"""Matchers: what each mode and each option lets pass, and that nothing passes by default."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tjlib.__main__ import main
from tjlib.arguments import Rule, rule, same
from tjlib.jsonl import read, write
from tjlib.matching import MODES, Matcher, Options, match
from tjlib.provenance import Run
from tjlib.trace import Call, InputError, Step, Trajectory, Verdict

A, B, C = (Call(name, {"id": 7}) for name in ("find_order", "find_customer", "refund"))
D = Call("close", {"id": 7, "note": "Done"})


def run(*steps, name="t-1") -> Trajectory:
    """One step for each call or tuple of calls; a text is a step without a call."""
    made = (Step(s) if isinstance(s, str) else Step("", s if isinstance(s, tuple) else (s,))
            for s in steps)
    return Trajectory(name, "Refund order 7.", tuple(made), "Done.")


def verdicts(got: Trajectory, wanted: Trajectory, **options) -> str:
    """One letter a mode: matches, differs, not applicable."""
    said = (match(got, wanted, Options(mode, **options)) for mode in MODES)
    return "".join({True: "d", False: "m", None: "n"}[v.faulty] for v in said)


# In the order of MODES: strict, unordered, subset, superset.
@pytest.mark.parametrize(("got", "wanted", "says"), [
    ((A, B, C), (A, B, C), "mmmm"),
    ((B, A, C), (A, B, C), "dmmm"),  # two look-ups swapped
    (((B, A), C), ((A, B), C), "mmmm"),  # swapped, but made at once
    (((A, B), C), (A, B, C), "dmmm"),
    (("Hm.", A, "So.", B, C), (A, B, C), "mmmm"),  # words are not compared
    ((A, C), (A, B, C), "ddmd"),
    ((A, B, C, D), (A, B, C), "dddm"),
    ((A, A), (A,), "dddm"),  # a call made twice is two calls
    ((A,), (A, A), "ddmd"),
    ((A, D), (B, C), "dddd"),
    ((), (), "nnnn"),  # nothing compared is nothing passed
    (("I cannot do that.",), (), "nnnn"),  # an agent that only stalls
    ((), (A,), "ddnd"),
    ((A,), (), "dddn"),
])
def test_the_modes(got, wanted, says):
    assert verdicts(run(*got), run(*wanted)) == says


def test_a_repeated_call_is_passed_over_if_that_is_said():
    assert verdicts(run(A, A, B), run(A, B), duplicates="ignore") == "mmmm"
    assert verdicts(run(A, B, A), run(A, A, B), duplicates="ignore") == "mmmm"
    assert verdicts(run(A, B, A), run(A, B)) == "dddm"
    twice = Call(A.tool, {"id": 7.0})
    assert verdicts(run(A, twice), run(A), duplicates="ignore") == "mmmm"


@pytest.mark.parametrize(("got", "wanted", "mode", "step", "why"), [
    ((A, "Hm.", C), (A, B), "strict", 2, "step 2: refund(id=7) is not the reference's; the "
     "reference's find_customer(id=7) of step 1 was not made"),
    ((A, "Hm."), (A, B), "strict", 1, "the reference's find_customer(id=7) of step 1 was not made"),
    ((), (A,), "strict", None, "the reference's find_order(id=7) of step 0 was not made"),
    ((A, B, A, A), (B, A), "unordered", 2, "step 2: find_order(id=7) is not the reference's; 1 "
     "more differences"),
    ((A,), (A, B), "superset", None, "the reference's find_customer(id=7) of step 1 was not made"),
    ((A, B), (B,), "subset", 0, "step 0: find_order(id=7) is not the reference's"),
])
def test_the_first_difference_is_told_by_its_step(got, wanted, mode, step, why):
    said = match(run(*got), run(*wanted), Options(mode))
    assert said == Verdict("t-1", f"match:{mode}", True, step, rationale=why)


@pytest.mark.parametrize(("got", "wanted", "words", "equal"), [
    (20, 20.0, "exact", True), ("20", 20, "exact", False), (True, 1, "exact", False),
    (2**60, 2**60 + 1, "exact", False),
    (0, False, "exact", False), (None, None, "exact", True), (None, "", "exact", False),
    ("20", 20, "text_numbers", True), ("20.0", "20", "text_numbers", True),
    ("9007199254740993", "9007199254740992", "text_numbers", False), ("nan", "nan", "exact", True),
    ("x", 20, "text_numbers", False), (" 20 ", 20, "text_numbers", True),
    (20.01, 20, "exact", False), (20.01, 20, "tolerance=0.01", True),
    (20.02, 20, "tolerance=0.01", False), ("20.01", 20, "tolerance=0.01", False),
    ("20.01", 20, "text_numbers,tolerance=0.01", True), (10**400, 10**400, "exact", True),
    (10**400, 1, "tolerance=1", False), (float("nan"), float("nan"), "tolerance=1", False),
    ("Open", "open", "exact", False), ("Open ", "open", "caseless", True),
    ("Straße", "STRASSE", "caseless", True), ([1, 2], [2, 1], "exact", False),
    ([1, {"a": 2}], [1.0, {"a": 2.0}], "exact", True), ({"a": 1}, {"a": 1, "b": 2}, "exact", False),
    ([20.01], [20], "tolerance=0.01", True), ("x", "y", "ignore", True),
])
def test_twenty_is_twenty_and_what_else_is_equal(got, wanted, words, equal):
    assert same({"x": got}, {"x": wanted}, rule(words)) is equal
    assert same({"x": wanted}, {"x": got}, rule(words)) is equal


@pytest.mark.parametrize(("words", "got", "wanted", "equal"), [
    ("exact", {"a": 1}, {"a": 1, "b": 2}, False), ("subset", {"a": 1}, {"a": 1, "b": 2}, True),
    ("superset", {"a": 1}, {"a": 1, "b": 2}, False), ("superset", {"a": 1, "b": 2}, {"b": 2}, True),
    ("subset", {"a": 1, "b": 2}, {"b": 2}, False), ("subset", {"a": 2}, {"a": 1, "b": 2}, False),
    ("without=b", {"a": 1}, {"a": 1, "b": 2}, True), ("without=b+c", {"b": 3}, {"c": 2}, True),
    ("without=b", {"a": 1, "c": 3}, {"a": 1, "b": 2}, False), ("ignore", {"a": 1}, {}, True),
])
def test_arguments_that_only_one_side_has(words, got, wanted, equal):
    assert same(got, wanted, rule(words)) is equal


def test_a_refund_at_another_time_is_the_same_refund_where_the_tools_rule_says_so():
    def at(time, eur):
        return run(A, Call("refund", {"eur": eur, "time": time}))

    got, wanted = at("09:01", 20.004), at("08:15", "20")
    assert verdicts(got, wanted) == "dddd"
    lenient = rule("without=time,tolerance=0.01,text_numbers")
    assert verdicts(got, wanted, overrides={"refund": lenient}) == "mmmm"
    assert verdicts(at("09:01", 21), wanted, overrides={"refund": lenient}) == "dddd"
    # The override stands in place of the rule for all tools, and for its tool only.
    assert verdicts(got, wanted, args=Rule("ignore"), overrides={"refund": Rule()}) == "dddd"
    assert verdicts(got, wanted, overrides={"find_order": Rule("ignore")}) == "dddd"


def test_calls_are_paired_so_that_as_many_as_can_be_find_one():
    # The first call fits both of the reference's; taking the first of them would leave the second.
    got = run(Call("pay", {"eur": 20.5}), Call("pay", {"eur": 20}))
    wanted = run(Call("pay", {"eur": 20}), Call("pay", {"eur": 21}))
    said = match(got, wanted, Options("unordered", rule("tolerance=0.5")))
    assert (said.faulty, said.rationale) == (False, "2 calls match the reference's")


@pytest.mark.parametrize("text", [
    "", "exactly", "exact,ignore", "tolerance", "tolerance=-1", "tolerance=inf", "tolerance=nan",
    "without=", "without=a+", "caseless=perhaps", "exact,,", "tolerance=1,tolerance=2", "depth=2"])
def test_a_rule_that_is_none_is_refused_with_its_form(text):
    with pytest.raises(InputError, match="is no rule for arguments; write, parted by commas"):
        rule(text)


CALLS = st.builds(Call, st.sampled_from("ab"), st.fixed_dictionaries(
    {"id": st.sampled_from([1, 1.0, 2, "1", True])}))
STEPS = st.lists(st.one_of(CALLS, st.tuples(CALLS, CALLS), st.just("Hm.")), max_size=5)


def exactly(steps) -> Counter:
    """The calls with their arguments as JSON tells them apart, 1 and 1.0 alike."""
    calls = [call for step in run(*steps).steps for call in step.calls]
    return Counter((c.tool, type(x := c.args["id"]) in (int, float), str(x).removesuffix(".0"))
                   for c in calls)


@given(STEPS, STEPS)
def test_the_modes_are_comparisons_of_bags_of_calls(got, wanted):
    one, other = exactly(got), exactly(wanted)
    expected = {"unordered": one == other, "subset": one <= other, "superset": one >= other}
    for mode, holds in expected.items():
        said = match(run(*got), run(*wanted), Options(mode))
        if said.status == "not_applicable":
            assert holds and not one & other
        else:
            assert said.faulty is not holds
    strict = match(run(*got), run(*wanted))
    if strict.faulty is False:
        assert expected["unordered"]
    assert match(run(*got), run(*got)).faulty is (False if one else None)


@given(STEPS, STEPS)
def test_adding_calls_never_breaks_a_superset_nor_mends_a_subset(got, more):
    longer = run(*got, *more)
    assert match(longer, run(*got), Options("superset")).faulty is not True
    assert match(run(*got), longer, Options("subset")).faulty is not True


# --- as a judge ------------------------------------------------------------------------------

@pytest.fixture
def files(tmp_path):
    write(tmp_path / "t.jsonl", [run(B, A, name="t-1"), run(A, name="t-2"), run(C, name="t-3")])
    write(tmp_path / "ref.jsonl", [run(A, B, name="t-1"), run(A, name="t-2")])
    return tmp_path


@pytest.fixture
def judged(files, capsys):
    def call(*more, reference="ref.jsonl", out="v.jsonl"):
        status = main(["judge", "match", "--traces", str(files / "t.jsonl"), "--reference",
                       str(files / reference), "--out", str(files / out), *more])
        return status, *capsys.readouterr()

    return call


def test_a_run_without_a_reference_is_not_applicable(judged, files):
    status, out, err = judged()
    assert (status, err) == (0, "")
    assert out.endswith("without a judgement: 1 not_applicable\n")
    said = {v.trajectory_id: v for v in read(files / "v.jsonl", Verdict)}
    assert [said[f"t-{i}"].faulty for i in (1, 2, 3)] == [True, False, None]
    assert said["t-3"].rationale == "there is no reference for this run"
    assert said["t-1"].failure_step == 0 and said["t-1"].judge == "match:strict"


def test_verdicts_of_other_options_are_not_continued(judged, files):
    assert judged("--mode", "unordered")[0] == 0
    assert judged("--mode", "unordered")[1].startswith("0 verdicts added")
    assert judged()[0] == 0  # another mode is another judge
    for more in (("--args", "ignore"), ("--override", "refund=ignore"), ("--duplicates", "ignore")):
        status, _, err = judged("--mode", "unordered", *more)
        assert status == 1 and "by another run" in err
    write(files / "ref.jsonl", [run(A, name="t-1")])
    assert judged("--mode", "unordered")[0] == 1
    options = {r.judge: r.options for r in read(files / "runs.jsonl", Run)}
    assert options["match:unordered"]["duplicates"] == "count"


def test_a_reference_is_found_by_the_runs_id_or_by_its_task():
    wanted = [("task-5", run(A, name="ref-5")), ("task-6", run(B, name="ref-6"))]
    judge = Matcher(wanted, {"t-1": "task-5", "t-2": "task-6", "t-3": ""})
    assert judge.judge(run(A, name="t-1")).faulty is False
    assert judge.judge(run(A, name="t-2")).faulty is True
    assert judge.judge(run(A, name="ref-5")).faulty is False
    assert judge.judge(run(A, name="t-3")).status == "not_applicable"


def test_what_is_wrong_with_references_or_rules_is_one_line(judged, files):
    write(files / "two.jsonl", [run(A, name="t-1")] * 2)
    (files / "torn.jsonl").write_bytes((files / "ref.jsonl").read_bytes()[:-9])
    for more, reference, says in [
        ((), "none.jsonl", "none.jsonl: "), ((), "torn.jsonl", "every reference must be readable"),
        (("--args", "roughly"), "ref.jsonl", "'roughly' is no rule for arguments"),
        (("--override", "refund=roughly"), "ref.jsonl", "'roughly' is no rule for arguments"),
    ]:
        status, out, err = judged(*more, reference=reference)
        assert (status, out) == (1, "") and err.count("\n") == 1 and says in err
    with pytest.raises(InputError, match="two references for 't-1'; keep one"):
        Matcher([("t-1", run(A)), ("t-1", run(B))], {})
    with pytest.raises(InputError, match="there is no reference"):
        Matcher([], {})


@pytest.mark.parametrize("wrong", [
    ("match",), ("match", "--reference", "r", "--model", "ollama:m"),
    ("match", "--reference", "r", "--procedure", "general"), ("rules", "--reference", "r"),
    ("rules", "--mode", "strict"), ("rules", "--override", "a=ignore"),
    ("match", "--reference", "r", "--override", "ignore"),
    ("match", "--reference", "r", "--mode", "loose")])
def test_what_does_not_go_together_is_wrong_usage(wrong, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["judge", *wrong, "--traces", "t", "--out", "v"])
    capsys.readouterr()
