"""Models on an Ollama server, through the `ollama` package.

Decision: one flat prompt to ``/api/generate``, streamed so that a reply given
up on is also ended at the server. Refusal: no second attempt, save the one
without ``think`` when the server says that the model cannot.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import httpx

from tjlib.judges.protocol import TOP_LOGPROBS, Identity, Options, Reply, Token, ask, failed, late
from tjlib.trace import InputError

_NO_ADDRESS = "OLLAMA_HOST is no address ({}); write host:port, such as 127.0.0.1:11434"
try:
    import ollama
except ValueError as error:  # the package makes a client of that variable when it is imported
    raise InputError(_NO_ADDRESS.format(error)) from None

__all__ = ["Ollama"]

# Seconds for questions that need no model.
_QUICK = 30.0


class _Client(ollama.Client):
    """The package's client, which does not ask for the version."""

    def version(self) -> str:
        return str(self._request_raw("GET", "/api/version").json()["version"])

    def where(self) -> str:
        return str(self._client.base_url)


class Ollama:
    """A model on the server at ``OLLAMA_HOST``.

    Parameters
    ----------
    name : str
        As ``ollama list`` shows it; without a tag, ``:latest`` is meant.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.options = Options()
        self._identity: Identity | None = None

    def identity(self) -> Identity:
        """Ask the server which model this is; asked once.

        Returns
        -------
        Identity

        Raises
        ------
        InputError
            If no server answers, or it does not have the model: two remedies.
        """
        if self._identity is None:
            try:
                client = _Client(timeout=_QUICK)
            except ValueError as error:
                raise InputError(_NO_ADDRESS.format(error)) from None
            try:
                installed = {m.model: m.digest for m in client.list().models}
                names = (self.name, f"{self.name}:latest")
                known = next((name for name in names if name in installed), None)
                if known is None:
                    there = ", ".join(sorted(filter(None, installed))) or "none"
                    raise InputError(f"the Ollama server at {client.where()} has no model "
                                     f"{self.name}; run: ollama pull {self.name} (installed: "
                                     f"{there})")
                shown = client.show(known)
                window = next((v for k, v in (shown.modelinfo or {}).items()
                               if k.endswith(".context_length")), None)
                self._identity = Identity(
                    "ollama", self.name, installed[known], f"ollama {client.version()}", window,
                    tuple(shown.capabilities or ()))
            except (httpx.HTTPError, ConnectionError):
                raise InputError(f"no Ollama server at {client.where()}; start it with: ollama "
                                 "serve, or set OLLAMA_HOST") from None
            except (ollama.ResponseError, ValueError, KeyError) as error:
                if isinstance(error, InputError):
                    raise
                raise InputError(f"the server at {client.where()} does not answer as Ollama does "
                                 f"({' '.join(str(error).split())[:200]}); check OLLAMA_HOST"
                                 ) from None
        return self._identity

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
            Not needed: the server keeps what two prompts in a row share.

        Returns
        -------
        Reply
        """
        window = self._identity.window if self._identity else None
        return ask(prompt, options, window, lambda: self._reply(prompt, schema, options))

    def _reply(self, prompt: str, schema: dict[str, Any], options: Options) -> Reply:
        think = options.think
        if think is None and "thinking" in self.identity().abilities:
            think = True
        try:
            try:
                return self._generate(prompt, schema, options, think)
            except ollama.ResponseError as error:
                if think is None or "does not support thinking" not in str(error):
                    raise
                return self._generate(prompt, schema, options, None)
        except httpx.TimeoutException:
            return late(options.timeout_s)
        except (httpx.ConnectError, ConnectionError):
            return failed("no Ollama server answers; start it with: ollama serve")
        except httpx.HTTPError as error:
            return failed(f"the server broke off ({type(error).__name__}); look at its log")
        except ollama.ResponseError as error:
            if error.status_code == 404:
                return failed(f"{error.error}; run: ollama pull {self.name}")
            return failed(f"the server refused: {error}; look at its log")
        except ValueError as error:
            return failed(f"the server does not answer as Ollama does: {error}; check OLLAMA_HOST")

    def _generate(
        self, prompt: str, schema: dict[str, Any], options: Options, think: bool | None
    ) -> Reply:
        client = _Client(timeout=options.timeout_s)
        try:
            parts: Iterator[ollama.GenerateResponse] = client.generate(
                self.name, prompt, format=schema, think=think, stream=True,
                logprobs=True, top_logprobs=TOP_LOGPROBS,
                options={"temperature": options.temperature, "seed": options.seed,
                         "num_ctx": options.num_ctx, "num_predict": options.num_predict})
            return _gather(parts, options.timeout_s, think)
        finally:
            client.close()


def _gather(
    parts: Iterator[ollama.GenerateResponse], seconds: float, think: bool | None
) -> Reply:
    text, thinking, tokens = [], [], []
    deadline = time.monotonic() + seconds
    for part in parts:
        if time.monotonic() > deadline:
            return late(seconds)
        text.append(part.response or "")
        thinking.append(part.thinking or "")
        for token in part.logprobs or ():
            top = tuple((t.token, t.logprob) for t in token.top_logprobs or ())
            tokens.append(Token(token.token, token.logprob, top))
        if part.done:
            return Reply(
                "".join(text), "".join(thinking), tuple(tokens) or None,
                part.prompt_eval_count, None, part.eval_count, stop=part.done_reason,
                think_sent=think)
    return failed("the server stopped before the reply was complete; look at its log")
