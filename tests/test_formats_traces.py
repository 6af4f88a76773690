"""The quirks of ATIF, Who&When, Magentic-One, spans, GAIA and AgentBench logs."""

import json
from pathlib import Path

import pytest
from raw_counts import values

from tjlib.documents import Document, Unread
from tjlib.formats import magentic_one
from tjlib.formats.imported import Imported
from tjlib.formats.registry import FORMATS, load
from tjlib.formats.smolagents_gaia import right
from tjlib.trace import Call, Observation

EXAMPLES = Path(__file__).parent / "examples"
OURS = {
    "agentbench.jsonl": "agentbench", "atif.json": "atif", "atif.jsonl": "atif",
    "langsmith.jsonl": "langsmith", "magentic_one.json": "magentic_one", "otel.json": "otel",
    "otel_openinference.jsonl": "otel", "otel_vercel.json": "otel",
    "smolagents_gaia.jsonl": "smolagents_gaia", "who_and_when.json": "who_and_when",
}


def example(name):
    return values(EXAMPLES / name)


def read(format, *given, source=""):
    return list(FORMATS[format].read(iter(
        [Document(at, "", value, source) for at, value in enumerate(given, 1)])))


def first(name):
    return load(EXAMPLES / name).runs[0]


def shape(run):
    return [(len(s.calls), len(s.observations), s.user) for s in run.trajectory.steps]


GET, REFUND = Call("get_order", {"order_id": "O-17"}), Call("refund", {"order_id": "O-17"})
ORDER = Observation(True, {"order_id": "O-17", "status": "delivered"})
REFUNDED = Observation(True, {"text": "refunded"})


# --- all of them ------------------------------------------------------------------------------


def test_what_a_file_also_holds_is_named_by_line_and_the_rest_is_read():
    for name, format in OURS.items():
        given = [*example(name), {"x": 1}] if format != "magentic_one" else [{"x": 1}]
        unread = [item for item in read(format, *given) if isinstance(item, Unread)]
        assert [u.line for u in unread if u.why.startswith("no ")] == [len(given)], name


# --- ATIF -------------------------------------------------------------------------------------

def test_an_atif_run_keeps_every_part_of_a_step_at_its_place():
    run = first("atif.json")
    one, two, three = run.trajectory.steps
    assert one.thought == "The order comes first.\n\nI look it up."
    assert one.calls == (GET, Call("get_policy", {"sku": "MUG"}))
    assert one.observations[:2] == (
        ORDER, Observation(True, {"text": "refundable within 30 days"}))
    assert one.user == "(system) The talk was shortened."
    assert one.logprobs == (-0.0312, -1.2094, -0.0071)
    assert (two.calls, two.observations, two.logprobs) == ((REFUND,), (REFUNDED,), None)
    assert three.user == "Thank you"
    assert run.trajectory.final_answer == "Your mug is refunded."
    assert (run.success, run.model, run.procedure) == (
        None, "small-1", "Refund only what the policy allows.")
    assert run.usage == {"prompt_tokens": 470, "completion_tokens": 35, "cost": 0.0021}
    assert run.notes == (
        "step 2: a part of type image, left out",
        "step 4: a sub-agent's own run is not read: short-1.json",
        "step 5: placeholder log-probabilities, left out")


def test_a_result_never_answers_a_call_of_another_step():
    agent = {"source": "agent", "message": ""}
    run, = read("atif", {"schema_version": "ATIF-v1.5", "steps": [
        agent | {"tool_calls": [{"tool_call_id": "a", "function_name": "finish",
                                 "arguments": {}}]},
        agent | {"observation": {"results": [{"content": "New output"}]}},
        {"source": "system", "message": "", "observation": {"results": [{"content": "reset"}]}}]})
    assert shape(run) == [(1, 0, None), (0, 2, None)]
    assert run.trajectory.final_answer == ""  # it ends on a result, so nobody was answered
    assert run.notes == ("step 1: 1 calls without a result",)


def test_results_from_before_the_agents_first_step_are_kept_with_it():
    run = first("atif.jsonl")
    assert [o.data["text"] for o in run.trajectory.steps[0].observations] == [
        "refused: 45 days old", "stock loaded"]
    assert "1 results from before the agent's first step are kept with it" in run.notes


def test_a_streamed_run_is_its_header_and_steps_and_a_repeated_line_is_told():
    header, *steps = example("atif.jsonl")
    two = read("atif", header, *steps, header | {"session_id": "next"}, steps[1])
    assert [r.trajectory.trajectory_id for r in two] == ["atif-refund-o18", "atif-next"]
    assert [len(r.trajectory.steps) for r in two] == [2, 0]
    assert two[0].notes[0] == "a line repeats step 3, left out"
    torn, = read("atif", *steps[-1:])
    assert torn.notes == ("a stream without its first line, so without its name and start",)


def test_other_files_and_copied_steps_of_an_atif_run_are_noted():
    agent = {"source": "agent", "message": "a", "is_copied_context": True}
    run, = read("atif", {"schema_version": "ATIF-v1.7", "steps": [agent], "session_id": "s",
                         "continued_trajectory_ref": "t.cont-1.json"})
    assert run.notes == ("1 steps are copied from the run that this one continues",
                         "goes on in t.cont-1.json, not read")


def test_an_atif_run_without_totals_sums_its_steps():
    steps = [{"source": "agent", "message": "", "metrics": {"prompt_tokens": n, "cost_usd": 0.5}}
             for n in (3, 4)]
    run, = read("atif", {"schema_version": "ATIF-v1.4", "steps": steps})
    assert run.usage == {"prompt_tokens": 7, "cost": 1.0}


# --- Who&When and Magentic-One ----------------------------------------------------------------

def test_a_terminals_output_is_an_observation_and_the_blamed_entry_is_told_as_our_step():
    run = first("who_and_when.json")
    assert shape(run) == [(0, 1, None), (0, 1, None), (0, 0, None), (0, 0, None)]
    assert [o.ok for s in run.trajectory.steps for o in s.observations] == [False, True]
    assert (run.success, run.steps_failed, run.notes) == (False, (1,), ())
    assert run.trajectory.final_answer == "Three mugs may be refunded."
    assert run.trajectory.steps[1].thought.startswith("Policy_Expert: I load")
    assert run.procedure == "Stock_Expert:\nYou count.\n\nPolicy_Expert:\nYou know the policy."
    assert run.about["level"] == "1"


@pytest.mark.parametrize("given", ["6", "-1", "two", None, 1.0, True, [2]])
def test_a_blamed_entry_that_is_not_there_blames_no_step(given):
    run, = read("who_and_when", example("who_and_when.json")[0] | {"mistake_step": given})
    assert run.steps_failed == ()
    assert run.notes == (f"mistake_step {str(given)!r} names no step",)


def test_a_magentic_one_file_is_one_run_named_as_the_file():
    entries = example("magentic_one.json")
    run, = read("magentic_one", *entries, source="set/a-17.json")
    assert (run.task_id, run.success, len(run.trajectory.steps)) == ("a-17", None, 6)
    assert run.trajectory.goal == entries[0]["content"]
    assert run.trajectory.final_answer == "refunded"
    pair = [Document(1, "", e, name) for name in ("a.json", "b.json") for e in entries]
    assert [r.task_id for r in magentic_one.read(iter(pair))] == ["a", "b"]


def test_agentrxs_labels_find_the_run_by_its_file_and_the_step_by_its_entry(tmp_path):
    label = {"trajectory_id": "a", "root_cause": {"failure_id": 1}, "failures": [
        {"failure_id": n, "step_number": at} for n, at in enumerate([7, 5, 6], 1)]}
    (tmp_path / "a.json").write_text((EXAMPLES / "magentic_one.json").read_text("utf-8"), "utf-8")
    (tmp_path / "labels.json").write_text(json.dumps([label]), "utf-8")
    for run in (*load(tmp_path).runs,
                *load(tmp_path / "a.json", labels=tmp_path / "labels.json").runs):
        # Entry 0 is the human's and 5 the terminal's, so that entries 4 and 6 are steps 3 and 4.
        assert (run.task_id, run.success, run.messages) == ("a", None, (1, 2, 3, 4, 6, 7))
        assert run.steps_failed == (3, 4)
        assert run.notes == ("its label blames message 5, which is no step",)


# --- spans ------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", ["otel.json", "otel_openinference.jsonl", "otel_vercel.json",
                                  "langsmith.jsonl"])
def test_a_trace_tells_each_message_once_though_every_span_repeats_the_prompt(name):
    run = first(name)
    thoughts = [s.thought for s in run.trajectory.steps]
    assert thoughts[0] == "I look it up." and len(thoughts) == len(set(thoughts))
    assert run.trajectory.steps[0].calls[0].tool == "get_order"
    assert run.trajectory.steps[0].observations == (ORDER,)
    assert run.trajectory.goal == "Please refund order O-17, the mug came broken."
    assert run.trajectory.final_answer == thoughts[-1] != ""
    assert run.model == "small-1" and run.usage["prompt_tokens"] >= 40


@pytest.mark.parametrize("name", ["otel_openinference.jsonl", "otel_vercel.json"])
def test_the_order_in_which_spans_are_exported_does_not_matter(name):
    spans = example(name)
    assert read("otel", *reversed(spans))[0].trajectory == read("otel", *spans)[0].trajectory


def test_spans_of_several_traces_are_told_apart_and_what_is_left_out_is_said():
    log = load(EXAMPLES / "otel.json")
    assert [r.trajectory.trajectory_id for r in log.runs] == ["otel-7b1f", "otel-90aa"]
    assert shape(log.runs[0]) == [(1, 1, None), (1, 1, None), (0, 0, None)]
    assert log.runs[0].notes == ("spans of no model or tool left out: 1 GET /orders",)
    assert log.runs[1].trajectory.steps[0].observations == (
        Observation(False, {}, "refused: 45 days old"),)
    assert [line.partition(": ")[2] for line in log.unread] == [
        "a trace of 1 spans that neither makes nor offers a tool call, so no agent's run"]


def test_a_tools_span_answers_a_call_that_no_prompt_shows_answered():
    prompt, answer, tool = [example("otel_openinference.jsonl")[i] for i in (1, 0, 2)]
    for spans in ([prompt, tool], [prompt, tool, answer], [prompt, answer]):
        run, = read("otel", *spans)
        assert run.trajectory.steps[0].observations == (ORDER,)


def test_a_span_that_comes_again_is_left_out_and_named():
    spans = example("otel_openinference.jsonl")
    run, = [x for x in read("otel", *spans, spans[1]) if isinstance(x, Imported)]
    assert len(run.trajectory.steps) == 2
    assert Unread(4, "span 0x1 is there already") in read("otel", *spans, spans[1])


def test_the_same_words_said_twice_are_two_messages():
    def span(at, said, *prompt):
        return {"traceId": "t", "spanId": str(at), "startTimeUnixNano": str(at), "attributes": {
            "gen_ai.operation.name": "chat", "gen_ai.tool.definitions": "[]",
            "gen_ai.input.messages": json.dumps([
                {"role": r, "parts": [{"type": "text", "content": c}]} for r, c in prompt]),
            "gen_ai.output.messages": json.dumps([
                {"role": "assistant", "parts": [{"type": "text", "content": said}]}])}}
    talk = [("user", "Yes"), ("assistant", "Which?"), ("user", "Yes")]
    run, = read("otel", span(1, "Which?", *talk[:1]), span(2, "Which?", *talk))
    assert [(s.thought, s.user) for s in run.trajectory.steps] == [
        ("Which?", "Yes"), ("Which?", None)]


@pytest.mark.parametrize("starts", [
    [[1767, 5], [1767, 40], [1768, 1]],  # seconds and nanoseconds
    ["1767000000000000005", "1767000000000000040", 1768000000000000001],
    ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.5Z", "2026-01-02T03:04:06+00:00"]])
def test_spans_are_sorted_by_their_start_in_any_notation(starts):
    spans = [{"traceId": "t", "spanId": str(at), "startTime": start, "attributes": {
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": f"tool_{at}"}}
        for at, start in enumerate(starts)]
    run, = read("otel", *(spans[at] for at in (2, 0, 1)))
    assert [c.tool for s in run.trajectory.steps for c in s.calls] == ["tool_0", "tool_1", "tool_2"]


def test_messages_under_the_older_names_with_numbers_are_read():
    run, = read("otel", {
        "traceId": "t", "name": "openai.chat", "attributes": {
            "llm.request.type": "chat", "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": "Refund O-17", "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.tool_calls.0.id": "a",
            "gen_ai.completion.0.tool_calls.0.name": "refund",
            "gen_ai.completion.0.tool_calls.0.arguments": '{"order_id": "O-17"}'}})
    assert run.trajectory.goal == "Refund O-17"
    assert run.trajectory.steps[0].calls == (REFUND,)


def test_a_langsmith_batch_of_new_and_changed_runs_is_merged_by_id():
    new, changed = example("langsmith.jsonl")[1:3]
    run, = read("langsmith", {"post": [new], "patch": [changed]})
    assert shape(run) == [(1, 0, None)]
    assert run.trajectory.steps[0].logprobs == (-0.0213, -0.4471)
    assert run.trajectory == read("langsmith", changed, new)[0].trajectory


def test_a_langsmith_run_in_openais_form_with_tools_is_a_run():
    run, = read("langsmith", {
        "id": "r", "trace_id": "r", "run_type": "llm",
        "inputs": {"messages": [{"role": "user", "content": "Hi"}], "tools": [{}]},
        "outputs": {"choices": [{"message": {"role": "assistant", "content": "Hello"},
                                 "logprobs": {"content": [{"logprob": -0.0123}]}}]}})
    assert (run.trajectory.final_answer, run.trajectory.steps[0].logprobs) == ("Hello", (-0.0123,))


# --- GAIA and AgentBench ----------------------------------------------------------------------

@pytest.mark.parametrize(("prediction", "answer", "expected"), [
    ("19.0", "19", True), ("$1,000", "1000", True), ("20", "19", False), ("about 19", "19", False),
    (" Right-Angle ", "right angle", True), ("Rd6", "Rd5", False), ("a; B", "A;b", True),
    ("1, 2.0", "1.0,2", True), ("a", "a, b", False), ("b, a", "a, b", False)])
def test_a_prediction_is_right_by_value_by_part_or_by_bare_text(prediction, answer, expected):
    assert right(prediction, answer) is expected


def test_the_success_of_a_gaia_row_is_ours_and_says_so():
    runs = load(EXAMPLES / "smolagents_gaia.jsonl").runs
    assert [r.success for r in runs] == [True, False]
    assert all(any(n.startswith("success is ours") for n in r.notes) for r in runs)
    row = example("smolagents_gaia.jsonl")[0]
    for change in ({"agent_error": "Timeout"}, {"prediction": None}, {"true_answer": "?"},
                   {"true_answer": "None"}):
        run, = read("smolagents_gaia", row | change)
        assert run.success is None and run.notes


def test_both_kinds_of_gaia_steps_keep_thought_call_and_what_came_back():
    react, plan = load(EXAMPLES / "smolagents_gaia.jsonl").runs
    assert react.procedure == "Answer with a number."
    assert react.trajectory.steps[0].calls == (
        Call("code interpreter", {"arguments": "count()"}),)
    assert react.trajectory.steps[0].observations == (
        Observation(False, {}, "count is not defined"),)
    assert plan.trajectory.steps[0].thought == "There are three orders.\n\nAsk the desk."
    assert plan.trajectory.steps[1].calls == (Call("final_answer", {"answer": "O-18, O-20"}),)


def test_an_error_without_a_call_answers_no_earlier_call():
    steps = [{"plan": "Ask.", "tool_name": "ask", "arguments": {}},
             {"error": {"error_type": "Max", "message": "Reached max iterations."}}]
    row = example("smolagents_gaia.jsonl")[1] | {"intermediate_steps": steps}
    run, = read("smolagents_gaia", row)
    assert "1 calls without a result" in run.notes
    assert run.trajectory.steps[0].observations == (
        Observation(False, {}, "Reached max iterations."),)


def test_agentbenchs_requests_are_calls_and_the_next_turn_their_result():
    run = first("agentbench.jsonl")
    assert [c for s in run.trajectory.steps for c in s.calls] == [
        Call("GET", {"url": "http://shop/orders?id=O-17"}),
        Call("POST", {"url": "http://shop/refunds", "body": {"order_id": "O-17"}})]
    assert [o.ok for s in run.trajectory.steps for o in s.observations] == [True, False]
    assert (run.trajectory.final_answer, run.success) == ('["O-17"]', None)
    assert load(EXAMPLES / "agentbench.jsonl").unread[0].endswith(
        ":2: a row without a history: AGENT_FAILED")
    cut, = read("agentbench", {"index": 1, "output": {
        "status": "task limit reached", "history": [], "result": None}})
    assert cut.notes == ("ended as task limit reached",)
