"""Talks of several agents as steps: the logs of AutoGen and Magentic-One.

Decision: an entry is a step of the agent who said it, with the speaker's name
before the text; what a terminal printed is an observation of the step before
it. Refusal: these logs hold no calls, only text that a terminal may have run,
so no call is made up from a code fence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tjlib.formats.chat import observed, text_of
from tjlib.formats.imported import shown
from tjlib.trace import Observation, Step

__all__ = ["Talk", "read"]

_TERMINALS = {"Computer_terminal", "ComputerTerminal"}
_EXIT = re.compile(r"exit ?code(?: was)?: ?(\d+)")
_ANSWER = re.compile(r"^FINAL ANSWER: (.*?)\s*(?:^SCENARIO\.PY COMPLETE|\Z)", re.M | re.S)


class Talk(NamedTuple):
    """What a history holds.

    ``at`` gives the step of each entry, None where it is in no step, and
    ``messages`` the entry of each step; ``speakers`` who said each entry.
    """

    opening: str
    steps: tuple[Step, ...]
    at: tuple[int | None, ...]
    speakers: tuple[str, ...]
    answer: str
    notes: tuple[str, ...]
    messages: tuple[int, ...]


class _Open(NamedTuple):
    """A step still being read."""

    speaker: str
    text: str
    observations: list[Observation]
    user: list[str]

    def closed(self) -> Step:
        thought = f"{self.speaker}: {self.text}" if self.speaker else self.text
        return Step(thought, (), tuple(self.observations), "\n\n".join(self.user) or None)


def _printed(text: str) -> Observation:
    code = _EXIT.search(text[:200])
    return observed(text, code is not None and int(code[1]) != 0)


def _answer(steps: list[_Open]) -> str:
    """Find what the agents handed in: by its mark, else the last that was said before the end."""
    if steps and (marked := _ANSWER.search(steps[-1].text)):
        return marked[1]
    while steps and steps[-1].text.strip("* \n") == "TERMINATE":
        steps = steps[:-1]
    orchestrated = any(step.speaker.startswith("Orchestrator") for step in steps)
    return "" if orchestrated or not steps or steps[-1].observations else steps[-1].text


def read(history: Sequence) -> Talk:
    """Read the entries of one talk.

    Parameters
    ----------
    history : sequence
        Entries of ``content`` and ``role`` or ``name``, in order.

    Returns
    -------
    Talk

    Examples
    --------
    >>> talk = read([{"role": "human", "content": "Is SKU 7 in stock?"},
    ...              {"role": "Clerk", "content": "FINAL ANSWER: yes"}])
    >>> talk.opening, [s.thought for s in talk.steps], talk.answer
    ('Is SKU 7 in stock?', ['Clerk: FINAL ANSWER: yes'], 'yes')
    """
    opening: list[str] = []
    steps: list[_Open] = []
    at, speakers, notes, messages = [], [], [], []
    for number, entry in enumerate(history):
        role, name = (entry.get("role"), entry.get("name")) if isinstance(entry, dict) else (
            None, None)
        speaker = next((shown(s) for s in (name, role) if isinstance(s, str) and s), "")
        speakers.append(speaker)
        at.append(None)
        if not isinstance(entry, dict):
            notes.append(f"entry {number}: no object, left out")
            continue
        text, odd = text_of(entry.get("content"))
        if odd:
            notes.append(f"entry {number}: {odd}, left out")
        if role == "human":
            (steps[-1].user if steps else opening).append(text)
            continue
        if speaker not in _TERMINALS:
            steps.append(_Open(speaker, text, [], []))
            messages.append(number)
        elif steps:
            steps[-1].observations.append(_printed(text))
        else:
            notes.append(f"entry {number}: a terminal's output before any step, left out")
            continue
        at[-1] = len(steps) - 1
    return Talk("\n\n".join(opening), tuple(step.closed() for step in steps), tuple(at),
                tuple(speakers), _answer(steps), tuple(notes), tuple(messages))
