"""The invented sentence: how often it is caught, and whether seeing the steps hurts.

Decision: a recall is split by what was invented, and a loss is read twice, by
raw recall and against clean parents. Refusal: neither reading is called the
right one, and no sentence is graded by its meaning.
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
    share,
    undefined,
)
from tjlib.trace import FAULT_TYPES

__all__ = ["CLAIMS"]

_INVENTED = "unsupported_claim"
_OTHERS = tuple(kind for kind in FAULT_TYPES if kind != _INVENTED)


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
        "others": _least("recall", [
            e.score(kind, f"recall|{kind}", "step", "outcome") for kind in _OTHERS]),
        "others paired": _least("detection against clean parents", [
            e.paired(kind, kind, "step", "outcome") for kind in _OTHERS]),
    }


def _least(of: str, found: list[Stat]) -> Stat:
    what = f"the smallest change in {of} among the other types"
    known = [x for x in found if x.value is not None]
    if not known:
        return undefined(what, found[0].why)
    x = min(known, key=lambda x: x.value)
    return Stat(f"{what}, {x.what}", x.value, x.lo, x.hi, how=x.how)


def _worse_rule(s: Stats) -> Ruling:
    if not s["raw"].below():
        return Ruling(NOT, f"recall moves by {s['raw']} from the outcome to the step judge.")
    said = (f"recall moves by {s['raw']}, detection against clean parents by {s['paired']}; "
            f"{s['others'].what}, is {s['others']}")
    if s["paired"].below():
        return Ruling(HOLDS, f"{said}: worse by both.")
    return Ruling(CONDITION, f"{said}. Worse by raw recall, which counts the outcome judge's false "
                  "alarms as catches; against clean parents nothing shows that it gets worse.")


CLAIMS = (
    Claim("one-sentence", "the step judge 82% of the time", "abstract",
          "share caught, all other sentences",
          "Is the low recall on unsupported_claim spread over the invented sentences?",
          "text, or the published split", _sentences, _sentences_rule, ("recall", "best", "rest"),
          "rest", 0.18, "a sentence stands out if its exact interval lies above all others'",
          letter=lambda s: round(1 - s["recall"].value, 2) == 0.82),
    Claim("gets-worse", "where it gets worse", "section 7.2",
          "step minus outcome, against clean parents",
          "Does seeing the steps lower the detection of unsupported_claim, against clean parents, "
          "and of no other type?",
          "parent pairs", _worse, _worse_rule, ("raw", "paired"), "paired", -0.32),
)
