"""One trajectory's verdicts beside its label, in words.

Decision: a verdict is right or wrong in three ways, so each is said apart:
that there is a fault, what it is called, where it is. Refusal: a reply that
could not be read is neither right nor wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from tjlib.trace import Label, Verdict

__all__ = ["beside_label"]


def _word(value: object) -> str:
    return "-" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _right(label: Label | None, verdict: Verdict) -> str:
    if label is None:
        return "no label"
    if verdict.status != "ok":
        return "no judgement"
    if verdict.faulty != label.faulty:
        return "wrong"
    if not label.faulty:
        return "right"
    typed = verdict.failure_type == label.failure_type
    placed = verdict.failure_step == label.failure_step
    return f"right, type {'right' if typed else 'wrong'}, step {'right' if placed else 'wrong'}"


def beside_label(label: Label | None, verdicts: Sequence[Verdict]) -> pd.DataFrame:
    """Lay the verdicts on one trajectory out beside its label.

    Parameters
    ----------
    label : Label or None
        What is true, if known.
    verdicts : sequence of Verdict
        All on the label's trajectory.

    Returns
    -------
    DataFrame
        Text: who, status, says, type, step (0-based), confidence, and is
        (right or wrong; "no label", or "no judgement" for a failed reply).

    Examples
    --------
    >>> label = Label("t", True, 2, "wrong_tool", outcome_correct=True)
    >>> said = Verdict("t", "j", True, 2, None, 0.9)
    >>> beside_label(label, [said])["is"].tolist()
    ['right, type wrong, step right']
    """
    rows = [{
        "who": v.judge, "status": v.status,
        "says": "-" if v.status != "ok" else "faulty" if v.faulty else "clean",
        "type": _word(v.failure_type), "step": _word(v.failure_step),
        "confidence": _word(v.confidence), "is": _right(label, v),
    } for v in verdicts]
    return pd.DataFrame(rows, columns=["who", "status", "says", "type", "step", "confidence", "is"])
