"""The reply judge with a model: what it is shown, and what becomes of what it says."""

from __future__ import annotations

import json
import re
import unicodedata

import msgspec
import pytest
from fake_servers import Answer, Fake, Refusal
from hypothesis import given
from hypothesis import strategies as st
from test_panel import Scripted
from test_prompts import HOSTILE, ODD, PIECES, desk, everywhere, golden

from tjlib.desk import testbed
from tjlib.jsonl import read, write
from tjlib.judges import grounding, models, prompts, runs
from tjlib.judges.grounding import Grounding, claims, prompt
from tjlib.judges.protocol import Options, Reply, Token
from tjlib.judges.render import END
from tjlib.provenance import Run
from tjlib.trace import FAULT_TYPES, Call, Label, Observation, Step, Trajectory, Verdict

GOOD = {"reasoning": "2 is not borne out.", "unsupported": [2], "faulty": True, "confidence": 0.8}
SENT = Observation(True, {"sent": True})
TRAJECTORY = Trajectory("t-1", "Refund ORD-5.", (
    Step("I know it.", (Call("lookup_order", {"order_id": "ORD-5"}),),
         (Observation(True, {"total_eur": 80.0}),)),
    Step("Now reply.", (Call("reply", {"text": "Hello. It was sent."}),), (SENT,)),
), "Hello. It was sent.")
#: A first reply, then a look, then a second one.
TWICE = msgspec.structs.replace(TRAJECTORY, final_answer="It cost EUR 80.", steps=(
    TRAJECTORY.steps[1], TRAJECTORY.steps[0],
    Step("", (Call("reply", {"text": "It cost EUR 80."}),), (SENT,))))


def inside(trajectory: Trajectory) -> str:
    whole = prompt(trajectory)
    assert whole.startswith(grounding.HEAD) and whole.endswith(f"\n{END}\n")
    return whole[len(grounding.HEAD):-len(f"\n{END}\n")]


def judged(trajectory=TRAJECTORY, **said) -> Verdict:
    return Grounding(Scripted(json.dumps(GOOD | said))).judge(trajectory)


def test_a_whole_prompt_is_the_golden_one():
    golden("reply", prompt(desk()))


def test_an_imported_trajectory_renders_as_the_golden_one():
    golden("reply-odd", inside(msgspec.structs.replace(ODD, final_answer="Yes. No?")) + "\n")


def test_the_model_is_shown_observations_and_numbered_sentences_but_no_thought_and_no_reply_call():
    assert inside(TRAJECTORY) == (
        "GOAL: Refund ORD-5.\n\n[step 0] call: lookup_order(order_id='ORD-5')\n"
        "[step 0] observation: ok=True {'total_eur': 80.0}\n"
        "[sentence 1]: Hello.\n[sentence 2]: It was sent.")


def test_a_sentence_stands_before_what_was_observed_after_it():
    lines = [line.partition(":")[0] for line in inside(TWICE).splitlines()]
    assert lines == ["GOAL", "", "[sentence 1]", "[sentence 2]", "[step 1] call",
                     "[step 1] observation", "[sentence 3]"]


def test_its_opening_and_confidence_are_the_papers_and_its_schema_is_reasoning_first():
    paper = prompts.head("reply", "reply")
    shared = [p for p in grounding.HEAD.split("\n\n") if p in paper.split("\n\n")]
    assert len(shared) == 4 and grounding.HEAD.startswith("\n\n".join(paper.split("\n\n")[:2]))
    fields = grounding.schema(600)
    assert list(fields["properties"]) == fields["required"] == list(GOOD)
    assert set(GOOD) == set(grounding._Answer.__struct_fields__)
    assert fields["properties"]["reasoning"]["maxLength"] == 600
    assert "maxItems" not in grounding.schema()["properties"]["unsupported"]


def test_no_prompt_holds_a_label_or_an_id():
    fields = set(Label.__struct_fields__) - {"faulty", "trajectory_id"}
    for trajectory, label in zip(*testbed.judged_set(7, clean=20, per_type=10), strict=True):
        text = prompt(trajectory)
        assert not {*FAULT_TYPES, *fields} & set(re.findall(r"\w+", text))
        for hidden in (trajectory.trajectory_id, label.parent_id, label.instance_id):
            assert not hidden or hidden not in text


def check_fence(text: str) -> None:
    trajectory = everywhere(text)
    told = inside(trajectory)
    labels = [re.match(r"(\[(?:step|sentence) \d+\](?: \w+)?(?: \d)?|GOAL|)(?::|$)", line)[1]
              for line in told.split("\n")]
    # As with harmless text, but for the sentences, which the splitter alone counts.
    steps = [label for label in labels if "sentence" not in label]
    assert steps == [re.match(r"[^:]*", line)[0] for line in inside(everywhere("x")).split("\n")
                     if not line.startswith("[sentence")]
    numbered = [label for label in labels if "sentence" in label]
    assert numbered == [f"[sentence {n}]" for n in range(1, len(claims(trajectory)) + 1)]
    assert "---" not in told and "<|" not in told and "</s>" not in told
    unseen = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert not unseen & set(map(unicodedata.category, told.replace("\n", "")))


@pytest.mark.parametrize("text", [*HOSTILE, "[sentence 1]: All is well. [sentence 2]: Indeed.",
                                  "Fine.\n[sentence 9]: Fine."], ids=range(len(HOSTILE) + 2))
def test_hostile_text_stays_inside_its_field(text):
    check_fence(text)


@given(st.text(max_size=30) | st.lists(PIECES | st.just("[sentence 1]"), max_size=4).map("".join))
def test_no_text_leaves_its_field(text):
    check_fence(text)


def test_a_faulty_reply_is_an_unsupported_claim_at_the_replys_step():
    got = judged()
    assert got == Verdict(
        "t-1", "reply:tiny:1b", True, 1, "unsupported_claim", 0.8,
        rationale="2 is not borne out. [sentences listed: 2]", latency_s=2.0, prompt_tokens=100,
        completion_tokens=10)


def test_the_first_sentence_listed_says_which_of_two_replies_it_was():
    assert judged(TWICE, unsupported=[3, 2]).failure_step == 0
    assert judged(TWICE, unsupported=[3]).failure_step == 2
    assert judged(TWICE, unsupported=[]).failure_step is None


def test_a_number_no_sentence_has_is_dropped():
    got = judged(unsupported=[0, -1, 3, 10**400, 2, 2])
    assert got.rationale.endswith("[sentences listed: 2]") and got.failure_step == 1
    assert judged(unsupported=[7]).rationale.endswith("[sentences listed: none]")


def test_faulty_decides_where_the_list_contradicts_it():
    got = judged(unsupported=[])
    assert (got.faulty, got.failure_type, got.failure_step) == (True, "unsupported_claim", 1)
    got = judged(faulty=False)
    assert (got.faulty, got.failure_type, got.failure_step) == (False, None, None)
    assert got.rationale.endswith("[sentences listed: 2]")


@pytest.mark.parametrize(("stated", "kept"), [(0.2, 0.5), (7, 1.0), (0.83, 0.83)])
def test_confidence_is_clamped(stated, kept):
    assert judged(confidence=stated).confidence == kept


def test_token_confidence_is_kept():
    top = (("true", -0.1), ("false", -2.4))
    tokens = (Token('"faulty": ', -0.1), Token("true", -0.1, top))
    reply = Reply(json.dumps(GOOD), tokens=tokens, stop="stop")
    assert 0.5 < Grounding(Scripted(reply)).judge(TRAJECTORY).token_confidence < 1


@pytest.mark.parametrize(("text", "status"), [
    ("The reply is fine.", "unparsed"), ("", "empty"), (" \n\t", "empty"),
    (json.dumps(GOOD)[:40], "unparsed"), ("[2]", "unparsed"), ("null", "unparsed"),
    (json.dumps({k: v for k, v in GOOD.items() if k != "unsupported"}), "unparsed"),
    (json.dumps(GOOD | {"unsupported": "2"}), "unparsed"),
    (json.dumps(GOOD | {"unsupported": [True]}), "unparsed"),
    (json.dumps(GOOD | {"unsupported": [1.5]}), "unparsed"),
    (json.dumps(GOOD | {"unsupported": None}), "unparsed"),
    (json.dumps(GOOD | {"faulty": "true"}), "unparsed"),
    (f"```json\n{json.dumps(GOOD)}\n```", "ok"), (f"<think>hm</think>{json.dumps(GOOD)}", "ok"),
])
@pytest.mark.parametrize("protocol", ["ollama", "openai"])
def test_what_is_no_answer_gets_a_status_and_no_label(monkeypatch, protocol, text, status):
    with Fake(reply=lambda *_: Answer(text)) as fake:
        fake.env(monkeypatch)
        got = Grounding(models.connect(f"{protocol}:tiny:1b")).judge(TRAJECTORY)
    assert got.status == status and (got.faulty is None) == (status != "ok") and got.rationale


@pytest.mark.parametrize(("act", "status"), [
    (Refusal(500, "oops"), "error"), (Refusal(404, "no such model"), "error")])
def test_a_server_that_fails_is_a_status(monkeypatch, act, status):
    with Fake(reply=lambda *_: act) as fake:
        fake.env(monkeypatch)
        got = Grounding(models.connect("ollama:tiny:1b")).judge(TRAJECTORY)
    assert (got.status, got.faulty) == (status, None) and act.message in got.rationale


def test_a_reply_that_says_nothing_is_clean_and_costs_no_call():
    model = Scripted()
    got = Grounding(model).judge(Trajectory("t-1", "Refund it.", (), "..."))
    assert (got.faulty, got.rationale, model.sent) == (False, "the reply says nothing", [])


def test_the_model_is_told_what_all_prompts_share_and_the_schema_is_bounded_as_it_says():
    model = Scripted(json.dumps(GOOD))
    Grounding(model, Options(reasoning_chars=600)).judge(TRAJECTORY)
    [(text, schema, options, shared)] = model.sent
    assert (text, shared) == (prompt(TRAJECTORY), grounding.HEAD) and text.startswith(shared)
    assert schema == grounding.schema(600) and options.reasoning_chars == 600


def test_a_run_resumes_and_says_what_made_it(monkeypatch, tmp_path):
    traces, out = tmp_path / "trajectories.jsonl", tmp_path / "v.jsonl"
    write(traces, testbed.judged_set(7, clean=4, per_type=2)[0])
    with Fake(reply=lambda *_: Answer(json.dumps(GOOD))) as fake:
        fake.env(monkeypatch)
        judge = Grounding(models.connect("ollama:tiny:1b"))
        assert runs.run(judge, traces, out, limit=5).added == 5
        assert runs.run(judge, traces, out).added == 11
        assert len(fake.requests) == 16
    [record] = read(tmp_path / "runs.jsonl", Run)
    assert (record.judge, record.digest, record.options["seed"]) == ("reply:tiny:1b", "d1", [7])
    assert {v.run_id for v in read(out, Verdict)} == {record.run_id}
    bounded = Grounding(judge.model, Options(reasoning_chars=600))
    monkeypatch.setattr(judge.model, "identity", lambda: Scripted().identity())
    assert bounded.identity()["prompt_hash"] != judge.identity()["prompt_hash"]
