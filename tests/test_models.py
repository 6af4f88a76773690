"""The clients against a server that fails in every way: each failure is a status, none a label."""

from __future__ import annotations

import json
import math
import socket
import time

import msgspec
import pytest
from fake_servers import GOOD, Answer, Drip, Fake, Raw, Refusal

from tjlib.judges import models, prompts
from tjlib.judges.answer import verdict
from tjlib.judges.protocol import Options
from tjlib.trace import Call, InputError, Observation, Step, Trajectory

TRAJECTORY = Trajectory(
    "t-1", "Refund order ORD-1.",
    (Step("Look.", (Call("lookup_order", {"order_id": "ORD-1"}),), (Observation(True, {"n": 1}),)),
     Step("Write.", (Call("reply", {"text": "Done."}),), (Observation(True, {"sent": True}),))),
    "Done.")
QUICK = Options(timeout_s=5)
PROTOCOLS = ("ollama", "openai")


@pytest.fixture(params=PROTOCOLS)
def protocol(request):
    return request.param


@pytest.fixture
def ask(protocol, monkeypatch):
    """Ask a model on a fake server once; return the verdict and the reply."""

    def call(act, options=QUICK, name="tiny:1b", trajectory=TRAJECTORY, **server):
        answer = act if callable(act) else lambda index, request: act
        with Fake(reply=answer, **server) as fake:
            fake.env(monkeypatch)
            model = models.connect(f"{protocol}:{name}")
            if name in fake.models:
                model.identity()
            text = prompts.prompt(trajectory, "steps", "steps")
            reply = model.complete(text, prompts.schema("steps"), options=options)
            call.requests = fake.requests
        return verdict(trajectory, "j", reply, task="steps", localises=True), reply

    return call


def closed_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def changed(**fields) -> Answer:
    return Answer(json.dumps(GOOD | fields))


def without(name: str) -> Answer:
    return Answer(json.dumps({k: v for k, v in GOOD.items() if k != name}))


def test_a_good_reply_is_a_verdict_with_its_cost(ask):
    said, reply = ask(Answer(prompt_tokens=900, completion_tokens=55))
    assert (said.status, said.faulty, said.failure_step, said.failure_type, said.confidence) == (
        "ok", True, 1, "wrong_tool", 0.83)
    assert (said.prompt_tokens, said.completion_tokens) == (900, 55)
    assert 0 < said.latency_s < 5 and reply.stop == "stop"


def test_decoding_is_the_papers_and_goes_where_the_server_looks_for_it(ask, protocol):
    ask(Answer())
    sent = ask.requests[0]
    place = sent["options"] if protocol == "ollama" else sent
    assert (place["temperature"], place["seed"]) == (0.0, 7)
    schema = (sent["format"] if protocol == "ollama"
              else sent["response_format"]["json_schema"]["schema"])
    assert next(iter(schema["properties"])) == schema["required"][0] == "reasoning"
    if protocol == "ollama":
        assert place["num_ctx"] == 8192 and place["num_predict"] == 2048
        assert sent["path"] == "/api/generate" and "system" not in sent and "think" not in sent
        assert not {"temperature", "seed", "num_ctx"} & set(sent)
    else:
        assert [m["role"] for m in sent["messages"]] == ["user"]
        assert sent["max_tokens"] == 2048


@pytest.mark.parametrize(("act", "status", "reason"), [
    (Refusal(400, "bad request"), "error", "bad request"),
    (Refusal(401, "no key"), "error", "no key"),
    (Refusal(429, "slow down"), "error", "slow down"),
    (Refusal(500, "out of memory"), "error", "out of memory"),
    (Refusal(503, "overloaded"), "error", "overloaded"),
    (Refusal(404, "model not found"), "error", "not found"),
    (Refusal(400, "input length exceeds the context length"), "too_long", "context length"),
    (Raw(200, "<html>hello</html>", "text/html"), "error", ""),
    (Raw(200, ""), "error", ""),
    (Raw(200, "[1, 2]"), "error", ""),
    (Answer(stop=None), "error", "before the reply was complete"),
    (Answer(""), "empty", "stopped: stop"),
    (Answer(" \n\n \t"), "empty", "empty"),
    (Answer("\n" * 400, stop="length"), "empty", "raise num_predict"),
    (Answer("", thinking="Hm, faulty I think: " + json.dumps(GOOD), stop="length"), "empty",
     "it only thought; raise num_predict"),
    (Answer("The trajectory is clean."), "unparsed", "not JSON"),
    (Answer('{"reasoning": "so far", "fau', stop="length", completion_tokens=9), "unparsed",
     "cut off at the output cap of 9 tokens; raise num_predict"),
    (Answer('{"reasoning": "so far", "fau'), "unparsed", "not JSON"),
    (Answer('"faulty"'), "unparsed", "wrong fields"),
    (Answer("[]"), "unparsed", "wrong fields"),
    (changed(failure_type="wrong_tools"), "unparsed", "failure_type"),
    (changed(failure_type="Wrong_Tool"), "unparsed", "failure_type"),
    (changed(faulty="false"), "unparsed", "faulty"),
    (changed(faulty=None), "unparsed", "faulty"),
    (changed(confidence="high"), "unparsed", "confidence"),
    (changed(failure_step="1"), "unparsed", "failure_step"),
    (without("faulty"), "unparsed", "faulty"),
    (without("confidence"), "unparsed", "confidence"),
    (without("failure_type"), "unparsed", "failure_type"),
    (without("failure_step"), "unparsed", "failure_step"),
    (without("reasoning"), "unparsed", "reasoning"),
    (Answer(prompt_tokens=60), "too_long", "read 60 tokens"),
    (Answer(prompt_tokens=8192), "too_long", "filled the window"),
    (Answer(prompt_tokens=8000, completion_tokens=192), "too_long", "filled the window"),
])
def test_a_failure_is_a_status_with_its_reason_and_no_label(ask, act, status, reason):
    said, _ = ask(act)
    assert (said.status, said.faulty, said.failure_type, said.confidence) == (
        status, None, None, None)
    assert said.rationale and reason in said.rationale and "\n" not in said.rationale


@pytest.mark.parametrize(("act", "expected"), [
    (changed(failure_step=2), (True, None, "wrong_tool", 0.83)),
    (changed(failure_step=-1), (True, None, "wrong_tool", 0.83)),
    (changed(failure_step=10**30), (True, None, "wrong_tool", 0.83)),
    (changed(failure_type="none"), (True, 1, None, 0.83)),
    (changed(faulty=False), (False, None, None, 0.83)),
    (changed(confidence=0.2), (True, 1, "wrong_tool", 0.5)),
    (changed(confidence=-1e15), (True, 1, "wrong_tool", 0.5)),
    (changed(confidence=95), (True, 1, "wrong_tool", 1.0)),
    (changed(note="more"), (True, 1, "wrong_tool", 0.83)),
])
def test_what_is_out_of_range_is_clamped_or_dropped(ask, act, expected):
    said, _ = ask(act)
    assert said.status == "ok"
    assert (said.faulty, said.failure_step, said.failure_type, said.confidence) == expected


@pytest.mark.parametrize("act", [
    Drip(), Drip("\n"), Drip('{"reasoning": "'), Drip("x", every=0.1),
], ids=["silence", "newlines", "text", "bytes"])
def test_no_reply_holds_an_item_beyond_its_deadline(ask, act):
    start = time.perf_counter()
    said, _ = ask(act, options=Options(timeout_s=0.4))
    assert said.status == "timeout" and "within 0.4 s" in said.rationale
    assert time.perf_counter() - start < 3
    assert 0.3 < said.latency_s < 1.5


def test_a_server_that_miscounts_costs_an_unknown_number_of_tokens(ask):
    odd = [(" true", math.nan, [(" true", 5.0), (" false", math.nan)])]
    said, _ = ask(Answer(prompt_tokens=-3, completion_tokens=10**15,
                         logprobs=[('"faulty":', -1.0, []), *odd]))
    assert (said.status, said.prompt_tokens, said.completion_tokens) == ("ok", None, None)
    assert said.token_confidence is None


def test_a_missing_server_and_a_missing_model_have_different_remedies(protocol, monkeypatch):
    with Fake(models={"other:1b": "d"}) as fake:
        fake.env(monkeypatch)
        with pytest.raises(InputError, match=r"has no model tiny:1b.*other:1b"):
            models.connect(f"{protocol}:tiny:1b").identity()
    port = closed_port()
    monkeypatch.setenv("OLLAMA_HOST", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{port}/v1")
    model = models.connect(f"{protocol}:tiny:1b")
    with pytest.raises(InputError, match=r"no .*server at .*start it"):
        model.identity()
    reply = model.complete("Hello.", prompts.schema("reply"), options=QUICK)
    assert reply.status == "error" and "start it" in reply.error


def test_a_prompt_beyond_the_window_is_not_sent(ask):
    data = {"log": "refund order 7 " * 20_000}
    long = msgspec.structs.replace(
        TRAJECTORY, steps=(Step("Look.", (), (Observation(True, data),)),))
    said, _ = ask(Answer(), trajectory=long)
    assert (said.status, said.faulty) == ("too_long", None) and ask.requests == []


def test_the_models_own_window_counts_as_well_as_ours(monkeypatch):
    with Fake(reply=lambda *_: Answer(prompt_tokens=1024), window=1024) as fake:
        fake.env(monkeypatch)
        model = models.connect("ollama:tiny:1b")
        assert model.identity().window == 1024
        text = prompts.prompt(TRAJECTORY, "steps", "steps")
        reply = model.complete(text, prompts.schema("steps"), options=QUICK)
    assert reply.status == "too_long"


def test_reasoning_apart_from_the_answer_is_never_read_as_the_answer(ask):
    draft = json.dumps(GOOD | {"faulty": False})
    said, reply = ask(Answer(thinking=f"First I say {draft}, then not."))
    assert said.faulty is True and draft in reply.thinking and draft not in reply.text


@pytest.mark.parametrize("text", [
    "<think>a draft: " + json.dumps(GOOD | {"faulty": False}) + "</think>\n" + json.dumps(GOOD),
    "opened in the prompt</think>" + json.dumps(GOOD),
    f"```json\n{json.dumps(GOOD)}\n```",
    json.dumps(GOOD | {"reasoning": "they wrote </think> there"}),
])
def test_a_reasoning_block_or_a_code_fence_around_the_answer_is_taken_off(ask, text):
    said, _ = ask(Answer(text))
    assert (said.status, said.faulty) == ("ok", True)


@pytest.mark.parametrize("text", [
    "Here it is: " + json.dumps(GOOD),
    json.dumps(GOOD) + " I hope this helps.",
    "<think>never closed " + json.dumps(GOOD),
    json.dumps(GOOD) + json.dumps(GOOD | {"faulty": False}),
])
def test_no_answer_is_looked_for_inside_prose(ask, text):
    said, _ = ask(Answer(text))
    assert (said.status, said.faulty) == ("unparsed", None)


def test_a_model_that_can_think_is_told_to_and_the_reply_says_so(monkeypatch):
    with Fake(reply=lambda *_: Answer(), abilities=("completion", "thinking")) as fake:
        fake.env(monkeypatch)
        model = models.connect("ollama:tiny:1b")
        for think, sent in ((None, True), (False, False), (True, True)):
            reply = model.complete("Hi.", {}, options=Options(timeout_s=5, think=think))
            assert reply.think_sent is sent and fake.requests[-1]["think"] is sent


def test_a_model_that_cannot_think_after_all_is_asked_once_more_without(monkeypatch):
    def refuse(index, request):
        if "think" in request:
            return Refusal(400, '"tiny:1b" does not support thinking')
        return Answer()

    with Fake(reply=refuse, abilities=("completion", "thinking")) as fake:
        fake.env(monkeypatch)
        model = models.connect("ollama:tiny:1b")
        reply = model.complete("Hi.", {}, options=QUICK)
        assert (reply.status, reply.think_sent, len(fake.requests)) == ("ok", None, 2)
    always = Refusal(400, '"tiny:1b" does not support thinking')
    with Fake(reply=lambda *_: always, abilities=("thinking",)) as fake:
        fake.env(monkeypatch)
        reply = models.connect("ollama:tiny:1b").complete("Hi.", {}, options=QUICK)
        assert (reply.status, len(fake.requests)) == ("error", 2)


@pytest.mark.parametrize("field", ["logprobs", "seed", "max_tokens"])
def test_a_field_that_a_server_does_not_know_is_left_out_once(monkeypatch, field):
    def refuse(index, request):
        if field in request:
            return Raw(400, json.dumps({"error": {"message": f"unsupported: {field}"}}))
        return Answer()

    with Fake(reply=refuse) as fake:
        fake.env(monkeypatch)
        reply = models.connect("openai:tiny:1b").complete("Hi.", {}, options=QUICK)
        assert (reply.status, len(fake.requests)) == ("ok", 2)
        assert ("max_completion_tokens" in fake.requests[1]) == (field == "max_tokens")


def test_token_confidence_is_kept_where_the_server_lists_both_values(ask):
    top = [(" true", math.log(.6)), (" false", math.log(.2)), (' "', math.log(.1))]
    tokens = [('{"reasoning": "', -.1, []), ('x", "faulty":', -.1, []), (" true", top[0][1], top)]
    said, _ = ask(Answer(logprobs=tokens))
    assert said.token_confidence == pytest.approx(.75)
    tokens[-1] = (" true", top[0][1], [top[0], top[2]])
    said, _ = ask(Answer(logprobs=tokens))
    assert said.token_confidence is None and said.confidence == .83
    said, _ = ask(Answer())
    assert said.token_confidence is None


def test_the_name_says_where_the_model_runs():
    for name in ("qwen2.5:14b", "tiny", "ollama:", "", "grpc:tiny"):
        with pytest.raises(InputError, match="ollama:NAME, openai:NAME, local:NAME"):
            models.connect(name)
    assert models.connect("ollama:qwen2.5:14b").name == "qwen2.5:14b"


def test_openai_needs_a_server_or_a_key(monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InputError, match="set OPENAI_BASE_URL"):
        models.connect("openai:x")
