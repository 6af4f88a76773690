"""What a model is to a judge: one call that takes a prompt and gives a reply.

Decision: a call never raises. Whatever happens to it (no server, no answer in
time, a prompt beyond the window) comes back as the reply's status with a
sentence for people, because a run over hundreds of trajectories must outlive
one bad reply. Refusal: nothing is read into a reply here (`judges.answer`
does that), and no socket is opened (the `judges.models*` modules do).
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, Protocol

import msgspec

from tjlib.trace import InputError

__all__ = [
    "TOP_LOGPROBS", "Identity", "Model", "Options", "Reply", "Token", "ask", "failed", "late",
]

#: How many alternatives a server is asked for at each token: the most that OpenAI's protocol takes.
TOP_LOGPROBS = 20

# English prose with ids in it runs at 3 to 4.5 characters a token; only a prompt that is over the
# window even at 4.5 is turned away unseen, the rest is for the server's own count to tell.
_CHARACTERS_A_TOKEN = 4.5

# How llama.cpp, Ollama, vLLM and OpenAI word it.
_OVERLONG = re.compile(
    r"context[ _](?:length|size|window)|exceed_context|input length exceeds", re.IGNORECASE)


class Options(msgspec.Struct, frozen=True):
    """How a model is to decode; the defaults are the paper's (appendix D).

    The paper prints no output cap and no bound on the reasoning;
    ``num_predict`` and ``reasoning_chars`` are ours. ``think`` is sent to a
    model that is able to think: as given, or true if left open.
    """

    temperature: float = 0.0
    seed: int = 7
    num_ctx: int = 8192
    timeout_s: float = 600.0
    num_predict: int = 2048
    think: bool | None = None
    reasoning_chars: int | None = None


class Token(msgspec.Struct, frozen=True):
    """One generated token, its natural-log probability, and the likeliest ones in its place."""

    text: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


class Reply(msgspec.Struct, frozen=True):
    """What came back from one call.

    ``status`` is ``ok`` if a reply came (it may still be no answer), else
    ``timeout``, ``too_long`` or ``error``, with the reason and remedy in
    ``error``. ``thinking`` is kept apart from ``text`` and never read as the
    answer. ``tokens`` is None where the server gave no log-probabilities.
    ``latency_s`` is wall clock of the one attempt, with transport and any
    loading of the model, as in the paper's Table 8.
    """

    text: str = ""
    thinking: str = ""
    tokens: tuple[Token, ...] | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    latency_s: float = 0.0
    stop: str | None = None
    status: str = "ok"
    error: str = ""
    think_sent: bool | None = None


class Identity(msgspec.Struct, frozen=True):
    """Which model answers: what a run record says of it.

    ``digest`` is None where the server has none to give; ``window`` is the
    longest context the model takes, in tokens, where known.
    """

    provider: str
    name: str
    digest: str | None
    server: str
    window: int | None = None
    abilities: tuple[str, ...] = ()


class Model(Protocol):
    """Anything that completes a prompt."""

    name: str
    options: Options

    def identity(self) -> Identity:
        """Ask who answers; raises `InputError` if nobody does."""

    def complete(
        self, prompt: str, schema: dict[str, Any], *, options: Options, shared: str = ""
    ) -> Reply:
        """Complete a prompt under a JSON schema; never raises.

        ``shared`` is how the prompt begins, if the next ones begin so too: a
        model that keeps its own prefix cache may keep that much.
        """


def _misfit(prompt: str, window: int, reply: Reply | None = None) -> str:
    """Say why a prompt does not fit, before it is sent or by the reply's counts, or nothing."""
    # No tokeniser joins two words, so there are at least as many tokens as words.
    words = len(re.findall(r"\w+", prompt))
    remedy = "give a larger num_ctx, or a model with more room"
    if reply is None:
        tokens = max(words, int(len(prompt) / _CHARACTERS_A_TOKEN))
        if tokens > window:
            return f"about {tokens} tokens do not fit the window of {window}; {remedy}"
    elif reply.prompt_tokens is not None:
        if reply.prompt_tokens < words:
            return (f"the server read {reply.prompt_tokens} tokens of a prompt of {words} words, "
                    f"so it was cut; {remedy}")
        if reply.prompt_tokens + (reply.completion_tokens or 0) >= window:
            return f"prompt and reply filled the window of {window} tokens; {remedy}"
    return ""


def ask(prompt: str, options: Options, window: int | None, work: Callable[[], Reply]) -> Reply:
    """Send a prompt that fits, in time, and do not trust an answer to half of it.

    Servers cut a long prompt from the front and answer all the same with
    status 200; such an answer is about the tail.

    Parameters
    ----------
    prompt : str
    options : Options
        Its deadline is on the wall clock: a server that drips a byte a second
        keeps every socket's own deadline from running out.
    window : int, optional
        The model's own limit in tokens, where known.
    work : callable
        Sends the prompt. It is left behind when the time is up, so it should
        end by itself soon after; it may raise anything.

    Returns
    -------
    Reply
        With its wall-clock latency. Status ``too_long`` if the prompt does
        not fit, by an estimate or by the server's counts; ``timeout`` when
        the time is up; ``error`` when the work raised.
    """
    room = min(options.num_ctx, window or options.num_ctx)
    if reason := _misfit(prompt, room):
        return Reply(status="too_long", error=reason)
    start = time.perf_counter()
    reply = _timed(options.timeout_s, work)
    changed: dict[str, Any] = {"latency_s": time.perf_counter() - start}
    for field in ("prompt_tokens", "completion_tokens"):
        count = getattr(reply, field)
        if not (isinstance(count, int) and 0 <= count < 10**9):
            changed[field] = None  # a server that miscounts has not said
    reply = msgspec.structs.replace(reply, **changed)
    if reply.status == "ok" and (reason := _misfit(prompt, room, reply)):
        reply = msgspec.structs.replace(reply, status="too_long", error=reason)
    return reply


def _timed(seconds: float, work: Callable[[], Reply]) -> Reply:
    done: SimpleQueue[Reply] = SimpleQueue()

    def run() -> None:
        try:
            done.put(work())
        except Exception as error:
            done.put(failed(error))

    threading.Thread(target=run, daemon=True).start()
    try:
        return done.get(timeout=seconds)
    except Empty:
        return late(seconds)


def late(seconds: float) -> Reply:
    """Make a reply of a deadline that passed, in seconds."""
    return Reply(status="timeout", error=f"no complete reply within {seconds:g} s; use a faster "
                                         "model or a longer timeout")


def failed(error: Exception | str) -> Reply:
    """Make a reply of what went wrong: one line, for it ends up in a record.

    Parameters
    ----------
    error : Exception or str

    Returns
    -------
    Reply
        Status ``too_long`` where a server says so, else ``error``.
    """
    named = isinstance(error, str | InputError)
    reason = " ".join((str(error) if named else f"{type(error).__name__}: {error}").split())[:500]
    return Reply(status="too_long" if _OVERLONG.search(reason) else "error", error=reason)
