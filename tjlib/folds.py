"""Trials on a page: one fold a claim, closed until asked for.

Decision: each fold is the browser's own ``details`` element, so the keyboard,
a screen reader and a printout know it; its heading is the quotation and the
verdict, its body the question, the reason and the statistics. Refusal: no
script, no verdict by colour, and all text is escaped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import pandas as pd

from tjlib import tables
from tjlib.claims.trial import Trial

__all__ = ["Folds", "rows"]


def rows(trials: Sequence[Trial]) -> pd.DataFrame:
    """Lay trials out for `tjlib.charts.claims.docket`, one row a claim.

    Parameters
    ----------
    trials : sequence of Trial

    Returns
    -------
    DataFrame
        claim, verdict, section, quote, label, value, lo, hi, claimed, shown.
    """
    out = []
    for trial in trials:
        claim, stat = trial.claim, trial.stats[trial.claim.shown]
        # Without a ruling a number would only mislead.
        drawn = stat if trial.tested else None
        out.append({
            "claim": claim.id, "verdict": trial.ruling.verdict, "section": claim.section,
            "quote": claim.quote, "label": claim.label, "value": drawn and drawn.value,
            "lo": drawn and drawn.lo, "hi": drawn and drawn.hi,
            "claimed": drawn and claim.claimed, "shown": str(stat)})
    return pd.DataFrame(out)


class Folds:
    """Trials as a list of folds.

    Parameters
    ----------
    trials : sequence of Trial
    source : str
        Where the data come from; under every table.
    marks : mapping of verdict -> str
        The mark before each verdict.
    """

    def __init__(self, trials: Sequence[Trial], source: str, marks: Mapping[str, str]) -> None:
        self.trials, self.source, self.marks = trials, source, marks

    def _fold(self, trial: Trial) -> str:
        claim, ruling = trial.claim, trial.ruling
        lines = {"Asked": claim.question, "Found": ruling.reason, "Needs": claim.needs,
                 "Our choice": claim.ours,
                 "As written": trial.as_written and "the quoted words are true; the question asks "
                 "for more, and is ours"}
        body = "".join(f"<dt>{name}</dt><dd>{escape(text)}</dd>"
                       for name, text in lines.items() if text)
        table = tables.show(trial.table(), f"Statistics behind {claim.id}.", self.source)
        return (
            f'<details id="claim-{escape(claim.id)}"><summary>“{escape(claim.quote)}” '
            f"({escape(claim.section)}): {self.marks[ruling.verdict]} "
            f"<strong>{escape(ruling.verdict)}</strong></summary>"
            f"<dl>{body}</dl>{table._repr_html_()}</details>"
        )

    def _repr_html_(self) -> str:
        return f'<div class="tj-folds">{"".join(map(self._fold, self.trials))}</div>'

    def __repr__(self) -> str:
        return "\n".join(f"{t.claim.id}: {t.ruling.verdict}. {t.ruling.reason}"
                         for t in self.trials)
