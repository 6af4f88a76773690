"""What the outcome judge cannot see: the gap and the replies.

Decision: "does the gap survive" is asked three ways (against the clean
parent, where the reply is the parent's to the letter, and with strata held
equal), because a difference between two groups of faults may be one between
cases. Refusal: no reading is called the right one; the statistics show all.
"""

from __future__ import annotations

from collections import Counter

from tjlib.claims.evidence import Evidence
from tjlib.claims.trial import (
    CANNOT,
    CONDITION,
    HOLDS,
    NOT,
    Claim,
    Ruling,
    Stat,
    Stats,
    among,
    share,
    undefined,
)
from tjlib.measure.pairs import discrimination
from tjlib.trace import FAULT_TYPES

__all__ = ["CLAIMS"]

_INVENTED = "unsupported_claim"
_GAP = "loud_minus_silent"


def _pooled(e: Evidence) -> Stats:
    names = {"pooled": "recall", "loud": "loud_recall", "silent": "silent_recall", "gap": _GAP}
    return {name: e.score(f"outcome judge: {metric.replace('_', ' ')}", metric, "outcome")
            for name, metric in names.items()}


def _pooled_rule(s: Stats) -> Ruling:
    said = (f"recall is {s['loud']} on loud and {s['silent']} on silent faults, {s['pooled']} "
            f"pooled; the gap of {s['gap']}")
    if s["gap"].above():
        return Ruling(HOLDS, f"{said} is clear of 0.")
    return Ruling(NOT, f"{said} is not clear of 0 on the loud side.")


def _apart(what: str, a: Stat, b: Stat) -> Stat:
    """Subtract two statistics drawn apart; the bounds are combined, so never too narrow."""
    for s in (a, b):
        if s.value is None:
            return undefined(what, s.why)
    return Stat(what, a.value - b.value, a.lower - b.upper, a.upper - b.lower,
                how="bounds of both combined (ours, conservative)")


def _by_reply(e: Evidence) -> Stats:
    what = {"changed": "the same where the reply is not the parent's",
            "same": "of the faults with the parent's reply, those with the parent's verdict"}
    pairs, judge = e.paired_with, e.judges["outcome"]
    if why := e.missing("outcome") or (pairs if isinstance(pairs, str) else ""):
        return {name: undefined(text, why) for name, text in what.items()}
    rows = pairs[pairs["judge"] == judge]
    kept, out = rows["reply"] == "unchanged", {}
    if (~kept).any():
        found = discrimination(rows[~kept], e.rng(), draws=e.draws).set_index("group").loc[_GAP]
        out["changed"] = undefined(what["changed"], found["why"]) if found["value"] is None else (
            Stat(what["changed"], found["value"], found["lo"], found["hi"], how=found["how"]))
    else:
        out["changed"] = undefined(what["changed"], "no reply changed")
    agree = kept & (rows["fault_flagged"] == rows["parent_flagged"])
    return out | {"same": share(what["same"], rows.loc[agree, "n"].sum(),
                                rows.loc[kept, "n"].sum(), sampled=False)}


def _against_parents(e: Evidence) -> Stats:
    rates = {g: e.paired(f"share of faults flagged minus share of their clean parents: "
                         f"{g.replace('_', ' ')}", g, "outcome")
             for g in ("silent", "loud", "reply_unchanged_silent", "reply_unchanged_loud",
                       "premature_stop", _INVENTED)}
    return _by_reply(e) | {
        "gap": e.paired("loud minus silent, each fault against its clean parent", _GAP, "outcome"),
        "unchanged": _apart("the same where the reply is the parent's to the letter",
                            rates["reply_unchanged_loud"], rates["reply_unchanged_silent"]),
        **rates,
    }


def _against_parents_rule(s: Stats) -> Ruling:
    if not s["gap"].above():
        return Ruling(NOT, f"paired with clean parents the gap is {s['gap']}, not clear of 0.")
    said = (f"paired with clean parents the gap is {s['gap']}; where the reply is the clean run's "
            f"it is {s['unchanged']}")
    if s["unchanged"].above():
        return Ruling(HOLDS, f"{said}, clear of 0 in both.")
    x, same = s["changed"], s["same"]
    if x.value is None or not x.above():
        return Ruling(CANNOT, f"{said}, and {x} where it is not: too few pairs to tell the two "
                      "apart.")
    if same.k == same.n:
        said += f", as each of these {same.n:.0f} faults got its parent's verdict"
    return Ruling(CONDITION, f"{said}; where it is not, {x}: the gap comes from faults that "
                  "changed the reply, so it is one between replies, not between outcomes.")


def _strata(e: Evidence) -> Stats:
    out = {"pooled": e.stratum("gap, strata ignored", "pooled", _GAP, "outcome"),
           "standardised": e.stratum("gap, strata held equal", "standardised", _GAP, "outcome")}
    return out | {f"in {s}": e.stratum(f"gap in {s}", s, _GAP, "outcome")
                  for s in e.strata_names("outcome")}


def _strata_rule(s: Stats) -> Ruling:
    inside = {name.removeprefix("in "): x for name, x in s.items() if name.startswith("in ")}
    known = {name: x for name, x in inside.items() if x.value is not None}
    said = f"with strata held equal the gap is {s['standardised']}"
    if not s["standardised"].above():
        return Ruling(NOT, f"{said}, not clear of 0.")
    if not (flat := [name for name, x in known.items() if not x.above()]):
        return Ruling(HOLDS, f"{said}, and clear of 0 in each of {len(known)} strata.")
    where = among(f"{name} ({known[name]})" for name in flat)
    return Ruling(CONDITION, f"{said}, and clear of 0 in {len(known) - len(flat)} of {len(known)} "
                  f"strata, but not in {where}.")


def _replies(e: Evidence) -> Stats:
    if isinstance(e.paired_with, str):
        return {"types": undefined("types whose every reply equals the clean run's", e.paired_with)}
    # The replies are the same whoever judged them: one judge's rows are all pairs.
    largest = e.paired_with.groupby("judge")["n"].sum().idxmax()
    rows = e.paired_with[e.paired_with["judge"] == largest]
    faults = Counter(label.failure_type for label in e.table.labels)
    out, equal = {}, 0
    for kind in [f for f in FAULT_TYPES if (rows["fault"] == f).any()]:
        mine = rows[rows["fault"] == kind]
        k, n = mine.loc[mine["reply"] == "unchanged", "n"].sum(), mine["n"].sum()
        equal += k == n
        out[kind] = share(f"{kind} ({n} of {faults[kind]} have their clean run in the set): "
                          "replies equal to that run's", k, n, sampled=False)
    types = share("types whose every reply equals the clean run's", equal, len(out), sampled=False)
    return {"types": types, **out}


def _replies_rule(s: Stats) -> Ruling:
    equal = [x.what.split(":")[0] for name, x in s.items() if name != "types" and x.k == x.n]
    said = f"the reply equals the clean run's in every pair of {among(equal)}"
    if s["types"].k == 3:
        return Ruling(HOLDS, f"{said}: three types.")
    if s["types"].k > 3:
        return Ruling(CONDITION, f"{said}: at least three, in fact {s['types'].k:.0f}.")
    return Ruling(NOT, f"{said}: {s['types'].k:.0f} of {s['types'].n:.0f} types, fewer than three.")


CLAIMS = (
    Claim("pooled-hides", "a single pooled recall averages it away", "section 1",
          "loud minus silent recall",
          "Are loud and silent recall apart, with the interval of the gap clear of 0?",
          "verdicts", _pooled, _pooled_rule, ("gap",), "gap", 0.389),
    Claim("gap-paired", "The gap is the result", "section 1",
          "the gap where the reply is unchanged",
          "Does the gap survive when each fault is compared with the clean run of its instance, "
          "and where the reply is that run's to the letter?",
          "parent pairs", _against_parents, _against_parents_rule, ("gap", "unchanged"),
          "unchanged", 0.389, "bounds of the second gap are combined, which is conservative: to a "
          "judge whose verdict depends on its input alone, it is exactly 0"),
    Claim("gap-strata", "gap is +0.389", "section 7.1",
          "the gap with strata held equal",
          "Does the gap survive when silent and loud faults get the same mix of strata, and inside "
          "each stratum?", "strata", _strata, _strata_rule, ("standardised",),
          "standardised", 0.389, "each stratum's weight is its share of the faults; one in which "
          "all loud faults are flagged adds no width, however few they are",
          letter=lambda s: round(s["pooled"].value, 3) == 0.389),
    Claim("reply-equal", "for three of the six fault types", "section 7.1",
          "types with every reply unchanged",
          "In how many types does every fault have the reply of its clean parent, to the letter?",
          "parent pairs", _replies, _replies_rule, ("types",), "types", 0.5,
          "faults whose clean run is not in the set are left out"),
)
