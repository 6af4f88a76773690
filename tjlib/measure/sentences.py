"""Which invented sentence a judge catches: unsupported_claim, taken apart (section 7.2).

Decision: a fault is assigned by the sentence its reply holds, and the clean
runs of the same cases are counted beside it, so that a sentence is not
credited with what its cases provoke. Refusal: nothing is judged here; without
the replies there is no split.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from tjlib.measure.attribution import exact_share
from tjlib.measure.table import VerdictTable

__all__ = ["OTHER", "by_sentence", "overall"]

#: A fault whose reply holds none of the sentences asked for.
OTHER = "another sentence"
_NONE = "undefined: no clean run of these cases in the set"


def by_sentence(
    t: VerdictTable, replies: Mapping[str, str], sentences: Sequence[str], level: float = 0.95
) -> pd.DataFrame:
    """Split unsupported_claim by the sentence that was added to the reply.

    Parameters
    ----------
    t : VerdictTable
    replies : mapping of trajectory_id -> final answer
    sentences : sequence of str
        What may have been added.
    level : float
        Of the exact binomial intervals.

    Returns
    -------
    DataFrame
        Two rows per judge and sentence that occurs: judge, sentence, what
        ("fault", or "parent" for the clean runs of the same cases, one for
        each fault), value (share flagged, in [0, 1]), lo, hi, k, n, how, why.
        Detection is the fault's share less the parent's.

    Examples
    --------
    >>> from tjlib.measure.table import table
    >>> from tjlib.trace import Label, Verdict
    >>> t = table([Label("a", True, 5, "unsupported_claim")], [Verdict("a", "j", True)])
    >>> found = by_sentence(t, {"a": "Done. And a pony."}, ["And a pony."])
    >>> found[["what", "k", "n"]].values.tolist()
    [['fault', 1, 1], ['parent', 0, 0]]
    """
    at = {label.trajectory_id: row for row, label in enumerate(t.labels)}
    of = {row: next((s for s in sentences if s in replies.get(label.trajectory_id, "")), OTHER)
          for row, label in enumerate(t.labels) if label.failure_type == "unsupported_claim"}
    out = []
    for j, judge in enumerate(t.judges):
        for sentence in [*sentences, OTHER]:
            faults = [row for row, s in of.items() if s == sentence and t.seen[row, j]]
            parents = [at[p] for row in faults if (p := t.labels[row].parent_id) in at]
            parents = [row for row in parents if t.seen[row, j]]
            for what, rows in (("fault", faults), ("parent", parents)) if faults else ():
                out.append({"judge": judge, "sentence": sentence, "what": what} | exact_share(
                    int(t.flag[rows, j].sum()), len(rows), level, _NONE))
    return pd.DataFrame(out, dtype=object)


def overall(pairs: pd.DataFrame, sentence: str, level: float = 0.95) -> pd.DataFrame:
    """Give all unsupported_claim pairs together, in the shape of `by_sentence`.

    Parameters
    ----------
    pairs : DataFrame
        From `tjlib.measure.pairs.pairs_from`, or the published table of pairs.
    sentence : str
        The name of the rows.
    level : float

    Returns
    -------
    DataFrame
        Empty where no such pair is known.

    Examples
    --------
    >>> pairs = pd.DataFrame({"fault": ["unsupported_claim"], "judge": ["j"],
    ...                       "fault_flagged": [1], "parent_flagged": [0], "n": [8]})
    >>> overall(pairs, "any")[["what", "k", "n"]].values.tolist()
    [['fault', 8, 8], ['parent', 0, 8]]
    """
    out = []
    for judge, rows in pairs[pairs["fault"] == "unsupported_claim"].groupby("judge", sort=False):
        for what in ("fault", "parent"):
            k = int((rows[f"{what}_flagged"] * rows["n"]).sum())
            out.append({"judge": judge, "sentence": sentence, "what": what}
                       | exact_share(k, int(rows["n"].sum()), level))
    return pd.DataFrame(out, dtype=object)
