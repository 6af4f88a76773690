"""Does a score put a fault ahead of its own clean run, and ahead of clean runs at large?

Decision: a judge's flag and a method's score are compared with the clean run
by one definition, P(ahead) + P(tied) / 2, which for a flag is one half plus
half of `pairs.discrimination`, so that module counts and draws both. Refusal:
no threshold and no direction is chosen here: a score that puts faults behind
is below one half and stays there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from tjlib.measure.pairs import discrimination
from tjlib.measure.parents import SURVIVAL, beside_parents
from tjlib.measure.table import VerdictTable
from tjlib.measure.wins import changes
from tjlib.trace import FAULT_TYPES, InputError, Label

__all__ = ["NO_PAIR", "against_clean", "ahead", "changed", "score_pairs", "suspicion"]

NO_PAIR = "undefined: no such fault is beside its clean run"
#: Scores that are sums of the same numbers in another order differ by less.
_TIE = 1e-9
_SIDES = ("silent", "loud")


def suspicion(t: VerdictTable) -> pd.DataFrame:
    """Turn verdicts into scores, higher for likelier faulty.

    Parameters
    ----------
    t : VerdictTable

    Returns
    -------
    DataFrame
        Indexed by trajectory_id, one column a judge: the confidence that the
        run is faulty (stated confidence, or one minus it where the verdict is
        clean) if each verdict states one, else the flag, 1 or 0; NaN where a
        judge was not asked.

    Examples
    --------
    >>> from tjlib.measure.table import table
    >>> from tjlib.trace import Verdict
    >>> said = [Verdict("a", "j", True, confidence=.75), Verdict("b", "j", False, confidence=.75)]
    >>> suspicion(table([Label("a", True), Label("b", False)], said))["j"].tolist()
    [0.75, 0.25]
    """
    out = {}
    for j, judge in enumerate(t.judges):
        seen, flag, sure = t.seen[:, j], t.flag[:, j], t.confidence[:, j]
        stated = not np.isnan(sure[seen]).any()
        score = np.where(flag, sure, 1 - sure) if stated else flag.astype(float)
        out[judge] = np.where(seen, score, np.nan)
    return pd.DataFrame(out, index=[label.trajectory_id for label in t.labels])


def score_pairs(
    labels: Sequence[Label], scores: pd.DataFrame, replies: Mapping[str, str],
    parents: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Compare every fault's scores with those of its clean run.

    Parameters
    ----------
    labels : sequence of Label
    scores : DataFrame
        Indexed by trajectory_id, one column a judge or method, higher for
        likelier faulty; missing where there is no score.
    replies : mapping of trajectory_id -> final answer
    parents : DataFrame, optional
        Scores of another version of a fault's clean run, by the fault's id;
        without a row there the clean run's own.

    Returns
    -------
    DataFrame
        As `pairs.pairs_from`, with the column's name as ``judge``:
        fault_flagged is 1 where the fault has the higher score, parent_flagged
        where its clean run has, neither where they tie.

    Raises
    ------
    InputError
        If no fault has its parent in the set, or a reply is missing.

    Examples
    --------
    >>> labels = [Label("a", False), Label("b", True, parent_id="a")]
    >>> scores = pd.DataFrame({"m": [.2, .9]}, index=["a", "b"])
    >>> pairs = score_pairs(labels, scores, {"a": "", "b": ""})
    >>> pairs[["fault_flagged", "parent_flagged"]].to_numpy().tolist()
    [[1, 0]]
    """
    found = beside_parents(labels, replies)
    if not found:
        raise InputError("no fault has its clean parent in the set; labels need parent_id")
    names = [label.trajectory_id for label in labels]
    values = scores.reindex(names).to_numpy(float, na_value=np.nan)
    clean = {} if parents is None else dict(zip(
        parents.index, parents[scores.columns].to_numpy(float, na_value=np.nan), strict=True))
    rows = []
    for fault, parent, about in found:
        gaps = values[fault] - clean.get(names[fault], values[parent])
        for name, gap in zip(scores.columns, gaps, strict=True):
            if not np.isnan(gap):
                rows.append(about | {"judge": name, "fault_flagged": int(gap > _TIE),
                                     "parent_flagged": int(gap < -_TIE), "n": 1})
    columns = [*found[0][2], "judge", "fault_flagged", "parent_flagged", "n"]
    return pd.DataFrame(rows, columns=columns)


def _cells(pairs: pd.DataFrame, rng: np.random.Generator, scorers: list[str], draws: int):
    """Give the rows of `discrimination` for one set of scorers, silent and loud apart."""
    by = "instance" if "instance" in pairs and pairs["instance"].notna().all() else "pair"
    for survival in _SIDES:
        rows = pairs[(pairs["survival"] == survival) & pairs["judge"].isin(scorers)]
        there = [name for name in scorers if (rows["judge"] == name).any()]
        if len(there) == len(scorers):
            found = discrimination(rows, rng, draws=draws, by=by, judges=there)
            found = found[found["group"].isin(["all", *FAULT_TYPES]) & (found["value"].notna())]
            yield from (row | {"survival": survival} for row in found.to_dict("records"))


def _halved(row: dict, base: float) -> dict:
    """Turn a difference of shares into a share of pairs, ties one half."""
    return row | {k: None if row[k] is None else base + row[k] / 2 for k in ("value", "lo", "hi")}


def ahead(
    pairs: pd.DataFrame, rng: np.random.Generator, scorers: Sequence[str], *, draws: int = 2000
) -> pd.DataFrame:
    """Measure how often a fault is ahead of its own clean run.

    Parameters
    ----------
    pairs : DataFrame
        From `score_pairs`, or counts of the same shape.
    rng : numpy.random.Generator
    scorers : sequence of str
        Judges and methods, in the order wanted.
    draws : int
        Resamples of whole cases; of pairs, where counts name no cases.

    Returns
    -------
    DataFrame
        One row a scorer, survival (silent, loud) and group (a fault type, or
        "all"): value in [0, 1], .5 by chance, lo, hi, n (pairs), how, why.
        Where all pairs agree the bounds are exact binomial. A cell without a
        pair says so.

    Examples
    --------
    >>> pairs = pd.DataFrame({
    ...     "fault": "wrong_tool", "survival": "silent", "reply": "unchanged", "judge": "m",
    ...     "fault_flagged": [1, 0, 0], "parent_flagged": [0, 1, 0], "n": [6, 2, 2]})
    >>> t = ahead(pairs, np.random.default_rng(0), ["m"], draws=100)
    >>> t.loc[(t["survival"] == "silent") & (t["group"] == "wrong_tool"), "value"].tolist()
    [0.7]
    """
    seed, out = int(rng.integers(2**32)), []
    nothing = dict.fromkeys(("value", "lo", "hi")) | {"n": 0, "how": "", "why": NO_PAIR}
    for scorer in scorers:
        # The same draws for every scorer, without a difference of each two.
        same = np.random.default_rng(seed)
        cells = {(row["survival"], row["group"]): row
                 for row in _cells(pairs, same, [scorer], draws)}
        for side in _SIDES:
            for group in ("all", *FAULT_TYPES):
                row = _halved(cells.get((side, group), nothing), 0.5)
                out.append({"scorer": scorer, "survival": side, "group": group} | {
                    key: row[key] for key in nothing})
    return pd.DataFrame(out, dtype=object)


def changed(
    pairs: pd.DataFrame, rng: np.random.Generator, of: Mapping[str, str], *, draws: int = 2000
) -> pd.DataFrame:
    """Measure how a change of the score changes how often faults are ahead.

    Parameters
    ----------
    pairs : DataFrame
        From `score_pairs`.
    rng : numpy.random.Generator
    of : mapping of scorer to scorer
        What is changed -> what it was.
    draws : int

    Returns
    -------
    DataFrame
        As `ahead`, for the new share minus the old one.
    """
    seed, out = int(rng.integers(2**32)), []
    for new, old in of.items():
        rows = _cells(pairs, np.random.default_rng(seed), [old, new], draws)
        out += [_halved(row, 0.0) | {"scorer": new} for row in rows
                if row["judge"] == f"{new} - {old}"]
    columns = ["scorer", "survival", "group", "value", "lo", "hi", "how", "why"]
    return pd.DataFrame(out, columns=columns, dtype=object)


def against_clean(
    labels: Sequence[Label], scores: pd.DataFrame, rng: np.random.Generator, *, draws: int = 2000
) -> pd.DataFrame:
    """Measure the AUROC of each kind of fault against all clean runs, nothing paired.

    Parameters
    ----------
    labels : sequence of Label
    scores : DataFrame
        As `score_pairs` takes them.
    rng : numpy.random.Generator
    draws : int
        Resamples of whole cases.

    Returns
    -------
    DataFrame
        As `ahead`; n counts the faults that were scored.
    """
    seed, out = int(rng.integers(2**32)), []
    told = pd.DataFrame({
        "faulty": [x.faulty for x in labels], "fault": [x.failure_type for x in labels],
        "survival": [SURVIVAL[x.outcome_correct] for x in labels],
        "case": [x.instance_id or x.trajectory_id for x in labels]},
        index=[x.trajectory_id for x in labels])
    for scorer in scores:
        known = told.assign(score=scores[scorer].astype(float).reindex(told.index)).dropna(
            subset=["score"])
        for side in _SIDES:
            for group in ("all", *FAULT_TYPES):
                mine = known["faulty"] & (known["survival"] == side)
                mine &= (group == "all") | (known["fault"] == group)
                rows = known[mine | ~known["faulty"]]
                row = changes({scorer: rows[["score"]].round(9).to_numpy()}, {}, rows["faulty"],
                              rows["case"], np.random.default_rng(seed), draws=draws
                              ).to_dict("records")[0]
                out.append({"scorer": scorer, "survival": side, "group": group, "how": "",
                            **{k: row[k] for k in ("value", "lo", "hi", "why")},
                            "n": int(mine.sum())})
    return pd.DataFrame(out, dtype=object)
