"""A loopback server that speaks Ollama's and OpenAI's wire formats, and fails as told to."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

#: A model's answer that fits the step judge's schema (the outcome judge passes the step over).
GOOD = {"reasoning": "Step 1 is off.", "faulty": True, "failure_step": 1,
        "failure_type": "wrong_tool", "confidence": 0.83}


@dataclass
class Answer:
    """A reply with status 200, in whichever protocol it was asked for."""

    text: str = json.dumps(GOOD)
    thinking: str = ""
    stop: str | None = "stop"  # None: the server ends the stream without saying that it is done
    prompt_tokens: int | None = None  # default: a little more than the words of the prompt
    completion_tokens: int = 40
    logprobs: list[tuple[str, float, list[tuple[str, float]]]] | None = None
    delay: float = 0.0


@dataclass
class Raw:
    """A status and a body that need not be of any protocol."""

    status: int
    body: str
    type: str = "application/json"


@dataclass
class Drip:
    """A piece of body again and again, never done; or silence, if there is no piece."""

    piece: str = ""
    every: float = 0.02


@dataclass
class Refusal:
    """An error as each protocol words it."""

    status: int
    message: str


Act = Answer | Raw | Refusal | Drip


def by_prompt(index: int, request: dict) -> Answer:
    """A judge whose answer depends on the prompt alone."""
    number = int(hashlib.sha256(request["prompt"].encode()).hexdigest(), 16)
    said = {"faulty": number % 3 > 0, "confidence": number % 51 / 100 + 0.5}
    return Answer(json.dumps(GOOD | said))


@dataclass
class Fake:
    """The server: ``reply(index, request)`` says what to do with each request for a completion."""

    reply: Callable[[int, dict], Act] = by_prompt
    models: dict[str, str] = field(default_factory=lambda: {"tiny:1b": "d1"})
    abilities: tuple[str, ...] = ("completion",)
    window: int = 32768
    requests: list[dict] = field(default_factory=list)
    most_at_once: int = 0

    def __enter__(self) -> Fake:
        self._lock, self._busy, self.closing = threading.Lock(), 0, threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()

    def env(self, monkeypatch) -> None:
        for name, value in self.environment().items():
            monkeypatch.setenv(name, value)

    def environment(self) -> dict[str, str]:
        return {"OLLAMA_HOST": f"http://127.0.0.1:{self.port}",
                "OPENAI_BASE_URL": f"http://127.0.0.1:{self.port}/v1", "OPENAI_API_KEY": "x",
                "NO_PROXY": "*", "no_proxy": "*"}

    def take(self, request: dict) -> Act:
        with self._lock:
            index = len(self.requests)
            self.requests.append(request)
            self._busy += 1
            self.most_at_once = max(self.most_at_once, self._busy)
        return self.reply(index, request)

    def left(self) -> None:
        with self._lock:
            self._busy -= 1


def _handler(fake: Fake) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def handle(self):
            with contextlib.suppress(ConnectionError, ValueError):  # the client left
                super().handle()

        def send(self, status, body, kind="application/json"):
            data = body.encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self):
            models = [{"model": n, "name": n, "digest": d} for n, d in fake.models.items()]
            known = {
                "/api/version": {"version": "0.99.1"}, "/api/tags": {"models": models},
                "/api/ps": {"models": models},
                "/v1/models": {"object": "list", "data": [
                    {"id": n, "object": "model", "created": 0, "owned_by": "x"}
                    for n in fake.models]},
            }
            if self.path in known:
                self.send(200, json.dumps(known[self.path]))
            else:
                self.send(404, json.dumps({"error": "no such page"}))

        def do_POST(self):
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path == "/api/show":
                self.send(200, json.dumps({
                    "capabilities": list(fake.abilities),
                    "model_info": {"general.architecture": "x", "x.context_length": fake.window}}))
                return
            chat = self.path == "/v1/chat/completions"
            prompt = sent["messages"][0]["content"] if "messages" in sent else sent["prompt"]
            try:
                self.act(fake.take(sent | {"prompt": prompt, "path": self.path}), prompt, chat)
            finally:
                fake.left()

        def act(self, act, prompt, chat):
            if isinstance(act, Refusal):
                said = {"message": act.message, "type": "x"} if chat else act.message
                act = Raw(act.status, json.dumps({"error": said}))
            if isinstance(act, Raw):
                self.send(act.status, act.body, act.type)
                return
            if isinstance(act, Drip) and not act.piece:
                fake.closing.wait(20)
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream" if chat else
                             "application/x-ndjson")
            self.end_headers()
            if isinstance(act, Drip):
                # The piece is a reply's text, except one byte, which is sent as it is.
                piece = act.piece if len(act.piece) == 1 and not act.piece.isspace() else (
                    _openai(Answer(act.piece, stop=None), 0)[0] if chat else
                    _ollama(Answer(act.piece, stop=None), 0)[0])
                while not fake.closing.is_set():
                    self.wfile.write(piece.encode())
                    self.wfile.flush()
                    time.sleep(act.every)
                return
            time.sleep(act.delay)
            read = act.prompt_tokens
            if read is None:
                read = len(re.findall(r"\w+|[^\w\s]", prompt))
            for line in (_openai if chat else _ollama)(act, read):
                self.wfile.write(line.encode())

    return Handler


def _pieces(text: str) -> list[str]:
    return [text[i:i + 40] for i in range(0, len(text), 40)]


def _ollama(answer: Answer, read: int) -> list[str]:
    lines = [{"response": "", "thinking": piece} for piece in _pieces(answer.thinking)]
    lines += [{"response": piece} for piece in _pieces(answer.text)]
    if answer.logprobs:
        lines.append({"response": "", "logprobs": [
            {"token": t, "logprob": p, "top_logprobs": [
                {"token": a, "logprob": q} for a, q in top]} for t, p, top in answer.logprobs]})
    lines = [{"model": "m", "done": False, **line} for line in lines]
    if answer.stop:
        lines.append({"model": "m", "response": "", "done": True, "done_reason": answer.stop,
                      "prompt_eval_count": read, "eval_count": answer.completion_tokens})
    return [json.dumps(line) + "\n" for line in lines]


def _openai(answer: Answer, read: int) -> list[str]:
    def chunk(delta=None, stop=None, logprobs=None, **rest):
        choice = {"index": 0, "delta": delta or {}, "finish_reason": stop, "logprobs": logprobs}
        return {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m",
                "choices": [choice], **rest}

    chunks = [chunk({"reasoning_content": piece}) for piece in _pieces(answer.thinking)]
    chunks += [chunk({"content": piece}) for piece in _pieces(answer.text)]
    if answer.logprobs:
        chunks.append(chunk(logprobs={"content": [
            {"token": t, "logprob": p, "bytes": None, "top_logprobs": [
                {"token": a, "logprob": q, "bytes": None} for a, q in top]}
            for t, p, top in answer.logprobs]}))
    ending = []
    if answer.stop:
        chunks.append(chunk(stop=answer.stop))
        chunks.append({**chunk(), "choices": [], "usage": {
            "prompt_tokens": read, "completion_tokens": answer.completion_tokens,
            "total_tokens": read + answer.completion_tokens,
            "prompt_tokens_details": {"cached_tokens": read // 2}}})
        ending = ["data: [DONE]\n\n"]
    return [f"data: {json.dumps(c)}\n\n" for c in chunks] + ending
