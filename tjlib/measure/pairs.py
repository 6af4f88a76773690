"""Paired discrimination: does a judge flag a fault more often than its clean parent?

Decision: a fault is read against the clean run of its own instance, so what
a judge says of an instance whatever the agent did cancels out (release 0.2.0
of the paper's code; spec line 14). Pairs are drawn inside cells (type,
survival, reply), all judges together where the pairs are known one by one.
Refusal: no judgement of which reply is better, only whether it is the
parent's to the letter; a fault whose parent is not in the set is left out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from tjlib.measure.common import shared_pairs
from tjlib.measure.parents import beside_parents
from tjlib.measure.resample import bounds_or_why, clopper_pearson, replicate_weights
from tjlib.measure.structural import among_pairs
from tjlib.measure.table import VerdictTable
from tjlib.trace import FAULT_TYPES, InputError

__all__ = ["GROUPS", "discrimination", "pairs_from"]

#: The groups a pair may belong to, after the release's table of pairs.
GROUPS = ("all", "silent", "loud", "reply_unchanged_silent", "reply_unchanged_loud", *FAULT_TYPES)
_GAP = "loud_minus_silent"
_APART = "percentile, judges drawn apart"


def pairs_from(t: VerdictTable, replies: Mapping[str, str]) -> pd.DataFrame:
    """Pair every fault with the clean run of its instance, judge by judge.

    Parameters
    ----------
    t : VerdictTable
        Labels carry ``parent_id``; faults whose parent is not among them
        are left out.
    replies : mapping of trajectory_id -> final answer

    Returns
    -------
    DataFrame
        One row per pair and judge that saw both: pair (the fault's id),
        instance, fault, survival, reply ("unchanged" where it equals the
        parent's), judge, fault_flagged, parent_flagged, n (1).

    Raises
    ------
    InputError
        If no fault has its parent in the set, or a reply is missing.

    Examples
    --------
    >>> from tjlib.measure.table import table
    >>> from tjlib.trace import Label, Verdict
    >>> t = table([Label("a", False), Label("b", True, parent_id="a")],
    ...           [Verdict("a", "j", False), Verdict("b", "j", True)])
    >>> pairs = pairs_from(t, {"a": "Done.", "b": "Done."})
    >>> pairs[["reply", "fault_flagged", "parent_flagged"]].to_dict("records")
    [{'reply': 'unchanged', 'fault_flagged': 1, 'parent_flagged': 0}]
    """
    rows = []
    for fault, parent, common in beside_parents(t.labels, replies):
        for j, judge in enumerate(t.judges):
            if t.seen[fault, j] and t.seen[parent, j]:
                rows.append(common | {"judge": judge, "fault_flagged": int(t.flag[fault, j]),
                                      "parent_flagged": int(t.flag[parent, j]), "n": 1})
    if not rows:
        raise InputError("no fault has its clean parent in the set; labels need parent_id")
    return pd.DataFrame(rows)


def _members(rows: pd.DataFrame) -> np.ndarray:
    """Mark which of `GROUPS` each row belongs to: (rows, groups) of 0 and 1."""
    kept = rows["reply"] == "unchanged"
    silent, loud = (rows["survival"] == s for s in ("silent", "loud"))
    marks = [np.ones(len(rows), bool), silent, loud, kept & silent, kept & loud]
    return np.column_stack([*marks, *(rows["fault"] == f for f in FAULT_TYPES)]).astype(float)


def _layout(pairs: pd.DataFrame, judges: list[str]):
    """Yield the blocks drawn together: their pairs, and each judge's columns over them.

    The columns are, group by group, pairs judged, faults flagged, parents flagged.
    """
    if "pair" not in pairs:
        for judge in judges:
            rows = pairs[pairs["judge"] == judge]
            yield rows, {judge: _columns(rows, rows)}
        return
    rows = pairs.drop_duplicates("pair")
    yield rows, {judge: _columns(rows, pairs[pairs["judge"] == judge].set_index("pair").reindex(
        rows["pair"])) for judge in judges}


def _columns(rows, said) -> np.ndarray:
    members, judged = _members(rows), said["fault_flagged"].notna().to_numpy(float)
    flags = [said[f].fillna(0).to_numpy(float) for f in ("fault_flagged", "parent_flagged")]
    return np.column_stack([members * column[:, None] for column in (judged, *flags)])


def _weights(rows, by, rng, draws):
    if by == "pair":
        cell = rows.groupby(["fault", "survival", "reply"]).ngroup().to_numpy()
        return replicate_weights(rows["n"].to_numpy(), cell, rng, draws)
    _, at = np.unique(rows["instance"], return_inverse=True)
    once = np.ones(at.max() + 1, int)
    return (w[:, at] for w in replicate_weights(once, np.zeros_like(once), rng, draws))


def _rates(sums: np.ndarray) -> np.ndarray:
    """Turn (3 * groups, ...) sums into (3, groups + 1, ...): difference, fault and parent rate."""
    n, fault, parent = np.split(sums, 3)
    fault, parent = (np.divide(x, n, out=np.full_like(x, np.nan), where=n > 0)
                     for x in (fault, parent))
    rates = np.array([fault - parent, fault, parent])
    gap = rates[:, GROUPS.index("loud")] - rates[:, GROUPS.index("silent")]
    return np.concatenate([rates, gap[:, None]], axis=1)


def _exact(value: float, n: int, level: float) -> tuple[float, float]:
    """Bound a difference that no pair contradicts: none differs, or all differ one way."""
    if value == 0:
        bound = clopper_pearson(0, n, level)[1]
        return -bound, bound
    bound = 2 * clopper_pearson(n, n, level)[0] - 1
    return (bound, 1.0) if value > 0 else (-1.0, -bound)


def discrimination(
    pairs: pd.DataFrame, rng: np.random.Generator, *, draws: int = 10_000, by: str = "pair",
    judges: Sequence[str] | None = None, level: float = 0.95,
    rules: Collection[str] | None = None,
) -> pd.DataFrame:
    """Subtract the share of clean parents flagged from the share of faults flagged.

    Parameters
    ----------
    pairs : DataFrame
        From `pairs_from`, or counts of the same shape without the columns
        ``pair`` and ``instance`` (the published table).
    rng : numpy.random.Generator
    draws : int
    by : {"pair", "instance"}
        What is resampled. By default pairs, inside cells of type, survival
        and reply, as if no two shared a parent; by instance, a clean run is
        drawn together with all the faults made from it.
    judges : sequence of str, optional
        Which judges, and in what order; by default as the pairs list them.
    level : float
    rules : collection of str, optional
        Judges that are rules, where these pairs are too few to tell.

    Returns
    -------
    DataFrame
        One row per judge and group, with "loud_minus_silent" last, then one
        per pair of judges ("A - B", later judge first) and group: judge,
        group, value in [-1, 1] (higher is better, 0 for a judge that does not
        discriminate), lo, hi, fault_rate, parent_rate, n (pairs), how, why.
        Where no pair speaks against 0, 1 or -1 the bounds are exact binomial
        (ours). Judges tabulated apart are drawn apart, which ``how`` says.
        A difference is over the pairs both judged; n counts them if not all.

    Raises
    ------
    InputError
        For an unknown ``by`` or judge, or by="instance" where none is named.

    Examples
    --------
    >>> pairs = pd.DataFrame({
    ...     "fault": "wrong_tool", "survival": "silent", "reply": "unchanged", "judge": "j",
    ...     "fault_flagged": [1, 0], "parent_flagged": [0, 0], "n": [30, 20]})
    >>> d = discrimination(pairs, np.random.default_rng(0), draws=200).set_index("group")
    >>> d.loc["silent", ["value", "n"]].tolist()
    [0.6, 50]
    """
    if by not in ("pair", "instance"):
        raise InputError(f"by={by!r}: resample by 'pair' or by 'instance'")
    if by == "instance" and ("instance" not in pairs or pairs["instance"].isna().any()):
        raise InputError("these pairs name no instances; resample by 'pair'")
    known = list(dict.fromkeys(pairs["judge"]))
    judges = known if judges is None else list(judges)
    for judge in judges:
        if judge not in known:
            raise InputError(f"no pairs of judge {judge!r}; judges here: {', '.join(known)}")
    rules = among_pairs(pairs) if rules is None else rules
    names, own, block_of = [*GROUPS, _GAP], {}, {}
    for block, (rows, columns) in enumerate(_layout(pairs, judges)):
        times, values = rows["n"].to_numpy(float), {judge: [] for judge in columns}
        for w in _weights(rows, by, rng, draws):
            for judge, x in columns.items():
                values[judge].append(_rates((w @ x).T)[0])
        for judge, x in columns.items():
            differ = times @ (x[:, len(GROUPS):2 * len(GROUPS)] != x[:, 2 * len(GROUPS):])
            own[judge] = (_rates(times @ x), np.concatenate(values[judge], axis=-1),
                          (times @ x)[:len(GROUPS)].astype(int), differ)
            block_of[judge] = block
    out = []
    for judge, (rates, drawn, n, differ) in own.items():
        for g, group in enumerate(names):
            size = int(n[g]) if group != _GAP else None
            row = _row(judge, group, rates[0, g], drawn[g], level, judge in rules, size)
            if group != _GAP and row["value"] is not None:
                row |= {"fault_rate": float(rates[1, g]), "parent_rate": float(rates[2, g])}
                sure = differ[g] == (n[g] if abs(row["value"]) == 1 else 0)
                if row["lo"] is None and sure and judge not in rules:
                    lo, hi = _exact(row["value"], n[g], level)
                    row |= {"lo": lo, "hi": hi, "how": "exact binomial", "why": ""}
            out.append(row)
    for a, b in combinations(own, 2):
        both = shared_pairs(pairs, a, b)
        if both is not None and len(both):
            found = discrimination(both, rng, draws=draws, by=by, level=level, rules=rules)
            sizes = found.loc[found["judge"] == a, "n"].tolist()
            out += found[found["judge"] == f"{b} - {a}"].assign(n=sizes).to_dict("records")
            continue
        at, gap = own[b][0][0] - own[a][0][0], own[b][1] - own[a][1]
        at = at if both is None else np.nan * at
        how = "percentile" if block_of[a] == block_of[b] else _APART
        out += [_row(f"{b} - {a}", group, at[g], gap[g], level, False, None, how)
                for g, group in enumerate(names)]
    return pd.DataFrame(out, dtype=object)


def _row(judge, group, value, drawn, level, fixed, n, how="percentile") -> dict:
    row = {"judge": judge, "group": group, "value": None, "lo": None, "hi": None,
           "fault_rate": None, "parent_rate": None, "n": n, "how": "", "why": ""}
    if np.isnan(value):
        return row | {"why": "undefined: no pair in this group"}
    lo, hi, why = bounds_or_why(drawn, level, fixed=fixed)
    return row | {"value": float(value), "lo": lo, "hi": hi, "how": "" if why else how, "why": why}
