"""Which judge is a rule, whose rates are a property of its code and no estimate.

Decision (ours): a judge is taken for a rule when it has the name of one, costs
no tokens, says the same throughout each design cell, and does not say the same
everywhere, which any judge can. Refusal: the name alone proves nothing, and a
judge in doubt gets its exact interval, which claims less.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from tjlib.measure.table import VerdictTable

__all__ = ["STRUCTURAL", "among_pairs", "rule_like", "structural"]

#: Names of judges that are rules: the release's and ours (paper section 5).
STRUCTURAL = ("programmatic", "rules")


def structural(t: VerdictTable, judge: str) -> bool:
    """Tell whether a judge's rates are a property of its code, so have no interval.

    Parameters
    ----------
    t : VerdictTable
    judge : str

    Returns
    -------
    bool

    Examples
    --------
    >>> from tjlib.measure.table import table
    >>> from tjlib.trace import Label, Verdict
    >>> labels = [Label("a", True), Label("b", False)]
    >>> said = [Verdict("a", "rules", True), Verdict("b", "rules", False)]
    >>> structural(table(labels, said), "rules")
    True
    """
    j = t.column(judge)
    tokens = np.nansum(t.prompt_tokens[:, j]) + np.nansum(t.completion_tokens[:, j])
    asked = t.seen[:, j]
    return bool(tokens == 0) and rule_like(judge, t.cell[asked].tolist(), t.flag[asked, j].tolist())


def rule_like(judge: str, cell: Iterable, flag: Iterable) -> bool:
    """Do as `structural` does, from the design cell and the flag of each verdict, costs unknown."""
    said = set(zip(cell, flag, strict=True))
    return (judge in STRUCTURAL and len(said) == len({where for where, _ in said})
            and len({flagged for _, flagged in said}) > 1)


def among_pairs(pairs: pd.DataFrame) -> frozenset[str]:
    """Return the judges that are rules among those of a table of pairs (see `tjlib.measure.pairs`).

    Examples
    --------
    >>> among_pairs(pd.DataFrame({
    ...     "fault": "wrong_tool", "survival": "silent", "judge": ["rules", "j"],
    ...     "fault_flagged": [1, 1], "parent_flagged": [0, 0]}))
    frozenset({'rules'})
    """
    found = set()
    for judge in STRUCTURAL:
        rows = pairs[pairs["judge"] == judge]
        cell = [*zip(rows["fault"], rows["survival"], strict=True), *["clean"] * len(rows)]
        if rule_like(judge, cell, [*rows["fault_flagged"], *rows["parent_flagged"]]):
            found.add(judge)
    return frozenset(found)
