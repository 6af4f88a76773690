"""What the outcome judge cannot see: the gap, the replies, the invented sentence.

Decision: "does the gap survive" is asked three ways (against the clean
parent, where the reply is the parent's to the letter, and with strata held
equal), because a difference between two groups of faults may be one between
cases. Refusal: no reading is called the right one; the statistics show all.
"""

from __future__ import annotations

import re

from tjlib.claims.evidence import Evidence
from tjlib.claims.trial import (
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


def _against_parents(e: Evidence) -> Stats:
    rates = {g: e.paired(f"share of faults flagged minus share of their clean parents: "
                         f"{g.replace('_', ' ')}", g, "outcome")
             for g in ("silent", "loud", "reply_unchanged_silent", "reply_unchanged_loud",
                       "premature_stop", _INVENTED)}
    return {
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
    return Ruling(CONDITION, f"{said}: it comes from faults that changed the reply, so it is a gap "
                  "between replies, not between outcomes.")


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
    out, equal = {}, 0
    for kind in [f for f in FAULT_TYPES if (rows["fault"] == f).any()]:
        mine = rows[rows["fault"] == kind]
        k, n = mine.loc[mine["reply"] == "unchanged", "n"].sum(), mine["n"].sum()
        equal += k == n
        out[kind] = share(f"{kind}: replies equal to the clean run's", k, n, sampled=False)
    types = share("types whose every reply equals the clean run's", equal, len(out), sampled=False)
    return {"types": types, **out}


def _replies_rule(s: Stats) -> Ruling:
    equal = [f"{name} ({x.k:.0f} of {x.n:.0f} pairs)" for name, x in s.items()
             if name != "types" and x.k == x.n]
    said = f"the reply equals the clean run's in every pair of {among(equal)}"
    if s["types"].k == 3:
        return Ruling(HOLDS, f"{said}: three types.")
    if s["types"].k > 3:
        return Ruling(CONDITION, f"{said}: at least three, in fact {s['types'].k:.0f}.")
    return Ruling(NOT, f"{said}: {s['types'].k:.0f} of {s['types'].n:.0f} types, fewer than three.")


def _sentences(e: Evidence) -> Stats:
    recall = e.score("step judge: recall on unsupported_claim", f"recall|{_INVENTED}", "step")
    names = {"best": "the sentence caught most often", "rest": "all other sentences"}
    rows = [] if e.missing("step") else [
        (re.split(r"(?<=[.!?])\s+", e.texts[label.trajectory_id].final_answer.strip())[-1], flag)
        for label, flag, seen in zip(e.table.labels, e.table.flag[:, e.column("step")],
                                     e.table.seen[:, e.column("step")], strict=True)
        if label.failure_type == _INVENTED and seen and label.trajectory_id in e.texts]
    caught: dict[str, list[bool]] = {}
    for sentence, flag in sorted(rows):
        caught.setdefault(sentence, []).append(bool(flag))
    if caught:
        best = max(caught, key=lambda name: (sum(caught[name]) / len(caught[name]), name))
        others = [flag for name, flags in caught.items() if name != best for flag in flags]
        return {"recall": recall, "rest": share(names["rest"], sum(others), len(others)),
                "best": share(f"{names['best']} (\"{best}\")", sum(caught[best]),
                              len(caught[best]))}
    figure = None if e.figures is None else e.figures[
        (e.figures["table"] == "unsupported_by_sentence")
        & (e.figures["subject"] == e.judges["step"])]
    if figure is None or figure.empty or recall.n is None:
        return {"recall": recall} | {k: undefined(v, "needs the replies") for k, v in names.items()}
    row = figure.iloc[0]
    k, n, how = float(row["published"]), float(row["n"]), f"published figure: {row['source']}"
    return {"recall": recall, "rest": share(names["rest"], recall.k - k, recall.n - n, how=how),
            "best": share(f"{names['best']} ({row['metric']})", k, n, how=how)}


def _sentences_rule(s: Stats) -> Ruling:
    said = f"recall on unsupported_claim is {s['recall']}"
    if s["recall"].above(0.5):
        return Ruling(NOT, f"{said}: most are caught.")
    split = f"{s['best'].what} is caught {s['best']}, all others {s['rest']}"
    if s["best"].lower > s["rest"].upper:
        return Ruling(CONDITION, f"{said}, but it is no rate of its own: {split}.")
    return Ruling(HOLDS, f"{said}, and no sentence stands out: {split}.")


def _worse(e: Evidence) -> Stats:
    return {
        "raw": e.score("recall on unsupported_claim, step minus outcome judge",
                       f"recall|{_INVENTED}", "step", "outcome"),
        "paired": e.paired("the same against clean parents", _INVENTED, "step", "outcome"),
        "step": e.paired("step judge against clean parents", _INVENTED, "step"),
        "outcome": e.paired("outcome judge against clean parents", _INVENTED, "outcome"),
    }


def _worse_rule(s: Stats) -> Ruling:
    if not s["raw"].below():
        return Ruling(NOT, f"recall moves by {s['raw']} from the outcome to the step judge.")
    said = f"recall moves by {s['raw']}, discrimination against clean parents by {s['paired']}"
    if s["paired"].below():
        return Ruling(HOLDS, f"{said}: worse by both.")
    return Ruling(CONDITION, f"{said}: worse by raw recall only, which counts the outcome judge's "
                  "false alarms as catches.")


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
          "unchanged", 0.389, "bounds of the second gap are combined, which is conservative"),
    Claim("gap-strata", "gap is +0.389", "section 7.1",
          "the gap with strata held equal",
          "Does the gap survive when silent and loud faults get the same mix of strata, and inside "
          "each stratum?", "strata", _strata, _strata_rule, ("standardised",),
          "standardised", 0.389, "each stratum's weight is its share of the faults"),
    Claim("reply-equal", "for three of the six fault types", "section 7.1",
          "types with every reply unchanged",
          "In how many types does every fault have the reply of its clean parent, to the letter?",
          "parent pairs", _replies, _replies_rule, ("types",), "types", 0.5),
    Claim("one-sentence", "the step judge 82% of the time", "abstract",
          "share caught, all other sentences",
          "Is the low recall on unsupported_claim spread over the invented sentences?",
          "text, or the published split", _sentences, _sentences_rule, ("recall", "best", "rest"),
          "rest", 0.18, "a sentence stands out if its exact interval lies above all others'"),
    Claim("gets-worse", "where it gets worse", "section 7.2",
          "step minus outcome, against clean parents",
          "Does seeing the steps lower the detection of unsupported_claim, against clean parents?",
          "parent pairs", _worse, _worse_rule, ("raw", "paired"), "paired", -0.32),
)
