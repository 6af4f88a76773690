"""What is wrong with a line that is not the record it should be.

Decision: the remedy is told with the fault, and a line of another kind is
recognised, because the wrong file is the commonest fault. Refusal: no line is
mended here.
"""

from __future__ import annotations

import msgspec

from tjlib import release
from tjlib.trace import InputError, Label, Trajectory, Verdict, from_json

__all__ = ["is_torn", "mismatch"]

_KINDS = (Trajectory, Verdict, Label)


def is_torn(line: bytes) -> bool:
    """Tell whether a file's last line is what a killed run leaves behind."""
    if line.endswith(b"\n") or not line.startswith(b"{"):
        return False
    try:
        msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return True
    return False


def _reads_as(kind: type, line: bytes, shaped: bool) -> bool:
    """Tell whether a line is a ``kind``, in the release's shape too if ``shaped``."""
    for decode in (from_json, release.decode) if shaped else (from_json,):
        try:
            decode(kind, line)
            return True
        except InputError:
            pass
    return False


def mismatch(kind: type, line: bytes, problem: InputError) -> str:
    """Say what is wrong with a line that is not a ``kind``, and what to do."""
    name = kind.__name__.lower()
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return "not UTF-8 text; save the file as UTF-8"
    for other in _KINDS:
        # A released trajectory has its label inside: it reads as both, which tells nothing.
        if other is not kind and _reads_as(other, line, shaped=Verdict in (kind, other)):
            looks = other.__name__.lower()
            return f"this looks like a {looks} line, not a {name}; give the file of {name} lines"
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        if line.startswith(b"[") or line.strip() == b"{":
            return f"{problem}; write one object a line, not spread over several"
        return f"{problem}; mend or delete the line"
    if not isinstance(value, dict):
        return f"{problem}; write one object a line, without a list around them"
    remedies = {"missing required": "add it", "unknown field": "remove it"}
    return f"{problem}; " + next((remedy for sign, remedy in remedies.items()
                                  if sign in str(problem)), "correct it")
