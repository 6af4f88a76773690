"""A language model reads a run of messages and says how probable what the agent wrote was.

Decision: each token is computed once. The cache of keys and values grows with the run, by one
piece a step, and goes back to the system prompt for the next run, so that a value depends on what
precedes it and on nothing else, to the last bit. Refusal: nothing is generated, no text is kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from transformers import PreTrainedModel

__all__ = ["Scored", "Teacher", "Turn"]

#: Whole vocabularies held at a time: SmolLM2 has 49,152 tokens, in float32 for each token read.
_ROWS = 256
_DECIMALS = 4


@dataclass(frozen=True)
class Turn:
    """One message: who speaks, and pieces of text, each with the step and part it is scored as.

    A piece without them is only read. ``role`` is system, user, assistant or tool.
    """

    role: str
    pieces: tuple[tuple[str, tuple[int, str] | None], ...]


class Scored(msgspec.Struct, frozen=True):
    """What the model made of one message, call or answer of one step.

    ``tokens`` are its token numbers, ``logprobs`` their natural-log probabilities, ``entropies``
    (nats) the spread of its guess before each, ``dropped`` the tokens of context it did not see.
    """

    step: int
    part: str
    tokens: list[int]
    logprobs: list[float]
    entropies: list[float]
    dropped: int


class Teacher:
    """A causal model of Hugging Face's transformers, with ChatML's frame around messages.

    Parameters
    ----------
    model : PreTrainedModel
    encode, spell : callable
        From text to token numbers, and from one number to its text.
    start, end : int
        The tokens that open and close a message.
    window : int
        Tokens it sees at a time. A longer run loses its oldest whole messages, never the system
        prompt, until a quarter of the window is free; of a message longer than that the start is
        lost.
    digest : str
        Of the weights.
    """

    def __init__(
        self, model: PreTrainedModel, *, encode: Callable[[str], list[int]],
        spell: Callable[[int], str], start: int, end: int, window: int, digest: str,
    ) -> None:
        import torch
        from transformers import DynamicCache

        # The number of threads changes the last bits, so it does not depend on the machine.
        torch.set_num_threads(1)
        self._torch, self._new_cache, self._model = torch, DynamicCache, model
        self._encode, self.spell = encode, spell
        self._start, self._closing = start, [end, *encode("\n")]
        self._line = encode("\n")
        self.window, self.digest = window, digest
        self._cache, self._system = DynamicCache(), []

    def key(self, run: Iterable[Turn]) -> str:
        """Name weights, window and text in one short digest, the same for the same reading.

        Parameters
        ----------
        run : iterable of Turn

        Returns
        -------
        str
        """
        said = [self.digest, self.window, [(turn.role, turn.pieces) for turn in run]]
        return hashlib.blake2b(msgspec.json.encode(said), digest_size=8).hexdigest()

    def read(self, run: Iterable[Turn]) -> list[Scored]:
        """Read one run and score what its agent wrote.

        Parameters
        ----------
        run : iterable of Turn
            A system turn, if any, comes first.

        Returns
        -------
        list of Scored
            In order; an empty piece has none.
        """
        text: list[int] = []   # after the system prompt
        starts = [0]           # where messages start in it
        first = seen = 0       # text[first:seen] is in the cache
        found: list[Scored] = []
        turns = list(run)
        system: list[int] = []
        if turns and turns[0].role == "system":
            system = self._laid_out(turns.pop(0))[0] + self._closing
        self._begin(system)
        for turn in turns:
            tokens, marks = self._laid_out(turn)
            base = len(text)
            text += tokens
            if marks:
                keep = self._first(first, len(text), starts, len(system))
                if keep != first:
                    self._keep(len(system))
                    first = seen = keep
                marks = [(mark, max(a, first - base + 1), b) for mark, a, b in marks
                         if b > first - base + 1]
                wanted = [base + i - seen for _, a, b in marks for i in range(a, b)]
                logprobs, entropies = self._score(text[seen:], wanted)
                seen = len(text)
                for (step, part), a, b in marks:
                    found.append(Scored(step, part, tokens[a:b], logprobs[:b - a],
                                        entropies[:b - a], first))
                    del logprobs[:b - a], entropies[:b - a]
            text += self._closing
            starts.append(len(text))
        return found

    def _laid_out(self, turn: Turn) -> tuple[list[int], list[tuple[tuple[int, str], int, int]]]:
        """Give a message's tokens, and which of them are scored as what."""
        tokens, marks = [self._start, *self._encode(turn.role), *self._line], []
        for piece, mark in turn.pieces:
            part = self._encode(piece)
            if mark is not None and part:
                marks.append((mark, len(tokens), len(tokens) + len(part)))
            tokens += part
        return tokens, marks

    def _first(self, first: int, end: int, starts: list[int], system: int) -> int:
        """Find the first token of text to keep when it ends at ``end``."""
        if system + end - first <= self.window:
            return first
        room = self.window * 3 // 4 - system
        return next((start for start in starts if end - start <= room), end - room)

    def _begin(self, system: list[int]) -> None:
        """Bring the cache to the system prompt and nothing more."""
        if system == self._system:
            self._keep(len(system))
            return
        self._cache, self._system = self._new_cache(), system
        if system:
            self._score(system, [])

    def _keep(self, length: int) -> None:
        if more := self._cache.get_seq_length() - length:
            self._cache.crop(-more)

    def _score(self, tokens: list[int], wanted: list[int]) -> tuple[list[float], list[float]]:
        """Read on; give log-probability and entropy at the wanted places, each after another."""
        torch = self._torch
        logprobs: list[Any] = []
        entropies: list[Any] = []
        with torch.inference_mode():
            ids = torch.tensor([tokens])
            hidden = self._model.model(ids, cache=self._cache, use_cache=True).last_hidden_state[0]
            for i in range(0, len(wanted), _ROWS):
                rows = torch.tensor(wanted[i:i + _ROWS])
                guess = self._model.lm_head(hidden[rows - 1]).log_softmax(-1)
                logprobs += guess.gather(1, ids[0, rows][:, None])[:, 0].tolist()
                entropies += (-(guess.exp() * guess).sum(-1)).tolist()
        return [[round(x, _DECIMALS) for x in column] for column in (logprobs, entropies)]
