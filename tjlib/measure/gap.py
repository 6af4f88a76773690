"""The loud-silent gap before and after a judge is held against its own clean runs.

Decision: every gap is one linear statistic of the pairs (loud counts for it,
silent against it, with or without what the judge said of the clean parent),
so all of them are read off the same draw. Refusal: no difference between
judges, and no gap where one of its two sides has no pair. All gaps but the
first are ours: the paper compares recalls (section 7.1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd

from tjlib.measure.pairs import discrimination
from tjlib.measure.resample import bounds_or_why, clopper_pearson, replicate_weights
from tjlib.measure.structural import among_pairs
from tjlib.trace import Label

__all__ = ["GAPS", "gaps", "slopes"]

#: Name -> (replies counted, whether the parent is subtracted, whether the cells count as
#: often as the labels hold them).
GAPS = {
    "recall": (("unchanged", "changed"), False, False),
    "paired": (("unchanged", "changed"), True, False),
    "paired_design": (("unchanged", "changed"), True, True),
    "recall_unchanged": (("unchanged",), False, False),
    "paired_unchanged": (("unchanged",), True, False),
    "recall_changed": (("changed",), False, False),
    "paired_changed": (("changed",), True, False),
}
_SIGN = {"loud": 1.0, "silent": -1.0}


def _design(labels: Sequence[Label]) -> Counter:
    """Count the labelled faults of each type and survival."""
    return Counter((x.failure_type or "untyped", "silent" if x.outcome_correct else "loud")
                   for x in labels if x.faulty and x.outcome_correct is not None)


def _coefficients(rows: pd.DataFrame, kind: str, design: Counter) -> tuple[np.ndarray, str]:
    """Return what one pair of each row adds to the gap, or why there is no gap."""
    replies, paired, by_design = GAPS[kind]
    flag = (rows["fault_flagged"] - paired * rows["parent_flagged"]).to_numpy(float)
    counted, n = rows["reply"].isin(replies).to_numpy(), rows["n"].to_numpy(float)
    out = np.zeros(len(rows))
    for side, sign in _SIGN.items():
        mine = counted & (rows["survival"] == side).to_numpy()
        if not mine.any():
            return out, f"undefined: no {side} pair with a reply that is {' or '.join(replies)}"
        if not by_design:
            out[mine] = sign * flag[mine] / n[mine].sum()
            continue
        cells = {cell: size for cell, size in design.items() if cell[1] == side}
        for (fault, _), size in cells.items():
            here = mine & (rows["fault"] == fault).to_numpy()
            if not here.any():
                return out, f"undefined: no {side} {fault} has its clean parent in the set"
            out[here] = sign * flag[here] * size / sum(cells.values()) / n[here].sum()
    return out, ""


def gaps(
    labels: Sequence[Label], pairs: pd.DataFrame, rng: np.random.Generator, *,
    draws: int = 10_000, level: float = 0.95,
) -> pd.DataFrame:
    """Subtract silent from loud: recall, paired discrimination, and both by reply.

    Parameters
    ----------
    labels : sequence of Label
        Of the whole set; they say how often each kind of fault occurs in it.
    pairs : DataFrame
        From `tjlib.measure.pairs.pairs_from`, or the published table of pairs.
    rng : numpy.random.Generator
    draws : int
        Replicates of pairs inside cells of type, survival and reply, each
        judge on its own.
    level : float

    Returns
    -------
    DataFrame
        One row per judge and name in `GAPS`: judge, gap, value in [-2, 2]
        (0 when a judge treats loud and silent alike), lo, hi, how, why.
        "paired_design" weighs each type and survival as the labels do,
        because not every fault has its parent in the set.

    Examples
    --------
    >>> pairs = pd.DataFrame({
    ...     "fault": ["premature_stop", "wrong_tool"], "survival": ["loud", "silent"],
    ...     "reply": ["changed", "unchanged"], "judge": "j", "fault_flagged": [1, 1],
    ...     "parent_flagged": [0, 1], "n": [3, 3]})
    >>> found = gaps([], pairs, np.random.default_rng(0), draws=10).set_index("gap")["value"]
    >>> found["recall"], found["paired"]
    (0.0, 1.0)
    """
    out, design, rules = [], _design(labels), among_pairs(pairs)
    for judge in dict.fromkeys(pairs["judge"]):
        rows = pairs[pairs["judge"] == judge]
        times = rows["n"].to_numpy()
        cell = rows.groupby(["fault", "survival", "reply"]).ngroup().to_numpy()
        found = [_coefficients(rows, kind, design) for kind in GAPS]
        x = np.column_stack([coefficients for coefficients, _ in found])
        # Sums that cancel leave 1e-17 of either sign; a gap of nothing prints as 0.
        drawn = np.round(np.concatenate(
            [w @ x for w in replicate_weights(times, cell, rng, draws)]), 12) + 0.0
        for g, (kind, (coefficients, missing)) in enumerate(zip(GAPS, found, strict=True)):
            row = {"judge": judge, "gap": kind, "value": None, "lo": None, "hi": None, "how": "",
                   "why": missing}
            if not missing:
                lo, hi, why = bounds_or_why(drawn[:, g], level, fixed=judge in rules)
                value = float(np.round(times @ coefficients, 12)) + 0.0
                row |= {"value": value, "lo": lo, "hi": hi, "how": "" if why else "percentile",
                        "why": why}
            out.append(row)
    return pd.DataFrame(out, dtype=object)


def slopes(
    pairs: pd.DataFrame, rng: np.random.Generator, *, draws: int = 10_000, level: float = 0.95
) -> pd.DataFrame:
    """Give recall and paired discrimination on the same pairs, by reply and survival.

    Parameters
    ----------
    pairs, rng, draws, level
        As `gaps`.

    Returns
    -------
    DataFrame
        Two rows per judge, reply and survival that has pairs: judge, reply,
        survival, measure ("recall" in [0, 1], "paired" in [-1, 1]; higher is
        better), value, lo, hi, n (pairs), how, why. Recalls have exact
        binomial intervals.

    Examples
    --------
    >>> pairs = pd.DataFrame({
    ...     "fault": "wrong_tool", "survival": "silent", "reply": "unchanged", "judge": "j",
    ...     "fault_flagged": [1, 0], "parent_flagged": [1, 0], "n": [17, 33]})
    >>> slopes(pairs, np.random.default_rng(0), draws=10)["value"].tolist()
    [0.34, 0.0]
    """
    out, rules = [], among_pairs(pairs)
    for (reply, survival), part in pairs.groupby(["reply", "survival"], sort=False):
        found = discrimination(part, rng, draws=draws, level=level, rules=rules)
        own = found[(found["group"] == "all") & found["judge"].isin(part["judge"])]
        for row in own.to_dict("records"):
            where = {"judge": row["judge"], "reply": reply, "survival": survival}
            flagged = round(row["fault_rate"] * row["n"])
            lo, hi = clopper_pearson(flagged, row["n"], level)
            recall = {"value": row["fault_rate"], "lo": lo, "hi": hi, "n": row["n"],
                      "how": "exact binomial", "why": ""}
            if row["judge"] in rules:
                recall |= {"lo": None, "hi": None, "how": "", "why": row["why"]}
            out.append(where | {"measure": "recall"} | recall)
            out.append(where | {"measure": "paired"} | {name: row[name] for name in recall})
    return pd.DataFrame(out, dtype=object)
