"""Models on any server that speaks OpenAI's protocol, through the `openai` package.

Decision: the flat prompt is the one user message, with no system message, and
what a server calls reasoning is kept apart from the answer. Refusal: no
second attempt, save once without a field the server names as unsupported.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from typing import Any

import openai

from tjlib.judges.protocol import TOP_LOGPROBS, Identity, Options, Reply, Token, ask, failed, late
from tjlib.trace import InputError

__all__ = ["OpenAI"]

_QUICK = 30.0
# What some servers refuse, and what is sent instead.
_FALLBACKS = {
    "logprobs": lambda r: {k: v for k, v in r.items() if "logprobs" not in k},
    "seed": lambda r: {k: v for k, v in r.items() if k != "seed"},
    "max_tokens": lambda r: {("max_completion_tokens" if k == "max_tokens" else k): v
                             for k, v in r.items()},
}


class OpenAI:
    """A model on the server at ``OPENAI_BASE_URL`` (default: OpenAI's own).

    Parameters
    ----------
    name : str
        As the server lists it.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.options = Options()
        if not (os.environ.get("OPENAI_API_KEY") or os.environ.get("OPENAI_BASE_URL")):
            raise InputError("no server is named; set OPENAI_BASE_URL (such as "
                             "http://127.0.0.1:8080/v1), or OPENAI_API_KEY for OpenAI's own")

    def _client(self, timeout: float) -> openai.OpenAI:
        # A local server needs no key, but the client insists on one.
        key = os.environ.get("OPENAI_API_KEY") or "none"
        return openai.OpenAI(api_key=key, timeout=timeout, max_retries=0)

    def identity(self) -> Identity:
        """Ask the server whether it has the model.

        Returns
        -------
        Identity
            Without a digest, which the protocol does not have.

        Raises
        ------
        InputError
            If no server answers, or it lists models and this is not one.
        """
        with self._client(_QUICK) as client:
            where = client.base_url.host
            try:
                names = sorted(model.id for model in client.models.list())
            except openai.APIConnectionError:
                raise InputError(f"no server at {client.base_url}; start it, or set "
                                 "OPENAI_BASE_URL") from None
            except openai.NotFoundError:
                names = []  # not every server lists its models
            except (openai.OpenAIError, ValueError, AttributeError) as error:
                raise InputError(f"the server at {where} refused: {_first_line(error)}; check "
                                 "OPENAI_BASE_URL and OPENAI_API_KEY") from None
        if names and self.name not in names:
            raise InputError(f"the server at {where} has no model {self.name}; it has: "
                             f"{', '.join(names[:20])}")
        return Identity("openai", self.name, None, f"OpenAI protocol at {where}")

    def complete(
        self, prompt: str, schema: dict[str, Any], *, options: Options, shared: str = ""
    ) -> Reply:
        """Complete a prompt; as `tjlib.judges.protocol.Model` says.

        Parameters
        ----------
        prompt : str
        schema : dict
        options : Options
            ``num_ctx`` is not sent, the protocol has no such field; it bounds
            what is sent.
        shared : str
            Not needed: servers keep what two prompts in a row share.

        Returns
        -------
        Reply
        """
        return ask(prompt, options, None, lambda: self._reply(prompt, schema, options))

    def _reply(self, prompt: str, schema: dict[str, Any], options: Options) -> Reply:
        request = {
            "model": self.name, "messages": [{"role": "user", "content": prompt}],
            "temperature": options.temperature, "seed": options.seed,
            "max_tokens": options.num_predict, "logprobs": True, "top_logprobs": TOP_LOGPROBS,
            "response_format": {"type": "json_schema", "json_schema": {
                "name": "verdict", "schema": schema, "strict": True}},
            "stream": True, "stream_options": {"include_usage": True},
        }
        with self._client(options.timeout_s) as client:
            try:
                try:
                    return _gather(client.chat.completions.create(**request), options.timeout_s)
                except openai.BadRequestError as error:
                    named = [name for name in _FALLBACKS if name in str(error)]
                    if not named:
                        raise
                    for name in named:
                        request = _FALLBACKS[name](request)
                    return _gather(client.chat.completions.create(**request), options.timeout_s)
            except openai.APITimeoutError:
                return late(options.timeout_s)
            except openai.APIConnectionError:
                return failed(f"no server at {client.base_url}; start it, or set OPENAI_BASE_URL")
            except openai.NotFoundError as error:
                return failed(f"{_first_line(error)}; check the model's name")
            except openai.OpenAIError as error:
                return failed(f"the server refused: {_first_line(error)}")


def _first_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


def _gather(chunks: Iterable[Any], seconds: float) -> Reply:
    text, thinking, tokens, stop, usage = [], [], [], None, None
    deadline = time.monotonic() + seconds
    for chunk in chunks:
        if time.monotonic() > deadline:
            return late(seconds)
        usage = chunk.usage or usage
        for choice in chunk.choices or ():
            stop = choice.finish_reason or stop
            delta = choice.delta
            text.append(delta.content or "")
            # Servers disagree on the name; the package knows neither.
            for name in ("reasoning_content", "reasoning"):
                thinking.append(getattr(delta, name, None) or "")
            for token in (choice.logprobs and choice.logprobs.content) or ():
                top = tuple((t.token, t.logprob) for t in token.top_logprobs or ())
                tokens.append(Token(token.token, token.logprob, top))
    if stop is None:
        return failed("the server stopped before the reply was complete; look at its log")
    details = usage and usage.prompt_tokens_details
    return Reply(
        "".join(text), "".join(thinking), tuple(tokens) or None,
        usage and usage.prompt_tokens, details and details.cached_tokens,
        usage and usage.completion_tokens, stop=stop)
