"""Single numbers read as words: nearly exact, a third, zero, uniformly, the base rate.

Decision: a word gets a threshold in code, named as ours where the paper gives
none, and the statistic it could also have meant is measured beside it.
Refusal: rounding decides only where the paper rounds.
"""

from __future__ import annotations

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
    universal,
)
from tjlib.measure.planner import clean_runs_needed
from tjlib.measure.prevalence import ppv
from tjlib.measure.verdicts import floors
from tjlib.trace import FAULT_TYPES

__all__ = ["CLAIMS"]

_NEAR = 0.01  # ours: "is" and "about" for two rates
_EXACT = 0.95  # ours: "nearly exact"
_NEGLIGIBLE = 0.01  # ours: a false-alarm rate one may call zero
_RARE = 0.05  # ours: a fault rate at which to read what an alarm is worth


def _base_rate(e: Evidence) -> Stats:
    fault = e.table.faulty
    always = floors(e.table).set_index(["judge", "metric"]).loc[("always faulty", "f1"), "value"]
    return {"f1": e.score("8B judge: F1", "f1", "small"),
            "precision": e.score("8B judge: precision", "precision", "small"),
            "base": share("base rate of faults in the set", fault.sum(), len(fault), sampled=False),
            "always": undefined("F1 of flagging everything", "no fault") if always is None
            else Stat("F1 of flagging everything", always, how="counted")}


def _base_rate_rule(s: Stats) -> Ruling:
    f1, precision, base, always = (s[k].value for k in ("f1", "precision", "base", "always"))
    said = (f"F1 is {f1:.3f} and the base rate {base:.3f}; precision is {precision:.3f}, and "
            f"flagging everything has an F1 of {always:.3f}")
    if abs(f1 - base) <= _NEAR:
        return Ruling(HOLDS, f"{said}.")
    true = [text for text, gap in (
        ("the precision is the base rate", precision - base),
        ("the F1 is what flagging everything gives at this base rate", f1 - always))
        if abs(gap) <= _NEAR]
    return Ruling(NOT, f"{said}; what is true: {among(true)}.")


def _uniform(e: Evidence) -> Stats:
    rows = {kind: e.score(f"8B judge: recall on {kind}", f"recall|{kind}", "small")
            for kind in FAULT_TYPES}
    rows["clean"] = e.score("8B judge: false alarms (anchor row)", "false_alarm_rate", "small")
    known = {name: x for name, x in rows.items() if x.value is not None}
    what = {"ones": "rows that print as 1.00", "lowest": "the lowest row"}
    if not known:
        return {k: undefined(v, rows["clean"].why) for k, v in what.items()} | rows
    ones = sum(x.value >= 0.995 for x in known.values())  # two decimals, as in Table 4
    name, low = min(known.items(), key=lambda item: item[1].value)
    lowest = Stat(f"{what['lowest']}, {name}", low.value, low.lo, low.hi, low.k, low.n, low.how)
    return {"ones": share(what["ones"], ones, len(known), sampled=False), "lowest": lowest} | rows


def _uniform_rule(s: Stats) -> Ruling:
    x = s["ones"]
    return universal(x.k, x.n, f"{x.k:.0f} of {x.n:.0f} rows print as 1.00; {s['lowest'].what}, is "
                     f"{s['lowest']}.")


def _misnamed(e: Evidence) -> Stats:
    what = "detected faults given another type, or none"
    if why := e.missing("step"):
        return {"misnamed": undefined(what, why)}
    t, j = e.table, e.column("step")
    found = t.flag[:, j] & (t.true_kind >= 0)
    if not (found & (t.kind[:, j] >= 0)).any():
        return {"misnamed": undefined(what, "no flag names a type")}
    other = found & (t.kind[:, j] != t.true_kind)
    x = e.estimate(what, {"other": other, "found": found}, lambda s: (s["other"], s["found"]))
    out = {"misnamed": Stat(what, x.value, x.lo, x.hi, float(other.sum()), float(found.sum()),
                            x.how),
           "exact": share("the same with the design ignored", other.sum(), found.sum())}
    return out | {kind: share(f"of these, {kind}", (other & (t.true_kind == k)).sum(), other.sum(),
                              sampled=False)
                  for k, kind in enumerate(FAULT_TYPES) if other.any()}


#: Fractions that one would say in a sentence.
_SIMPLE = {0.0: "none", 1 / 4: "a quarter", 1 / 3: "a third", 1 / 2: "a half", 1.0: "all"}


def _misnamed_rule(s: Stats) -> Ruling:
    x, y = s["misnamed"], s["exact"]
    without = [z.below(1 / 3) or z.above(1 / 3) for z in (x, y)]
    nearest = min(_SIMPLE, key=lambda part: abs(part - x.value))
    near = nearest == 1 / 3
    one, two = ("leaves a third out" if out else "contains a third" for out in without)
    said = (f"it is {x}, and the interval, with the mix of types held fixed, {one}; with the "
            f"design ignored it is [{y.lower:.3f}, {y.upper:.3f}] and {two}; the nearest simple "
            f"fraction is {_SIMPLE[nearest]}")
    if all(without):
        return Ruling(NOT, f"{said}.")
    return Ruling(HOLDS if near and not any(without) else CONDITION, f"{said}.")


def _place(e: Evidence) -> Stats:
    names = {"scored": "step_exact", "detected": "step_exact_over_detected_faults",
             "all": "step_exact_over_all_faults"}
    words = {"scored": "named step exact, where it lies inside the trace",
             "detected": "the same, of all detected faults", "all": "the same, of all faults"}
    out = {k: e.score(words[k], metric, "step") for k, metric in names.items()}
    if e.missing("step"):
        return out
    t, j = e.table, e.column("step")
    found = t.flag[:, j] & (t.true_step >= 0)
    exact = found & (t.step[:, j] == t.true_step)
    return out | {kind: share(f"exact of detected {kind}", (exact & (t.true_kind == k)).sum(),
                              (found & (t.true_kind == k)).sum())
                  for k, kind in enumerate(FAULT_TYPES)}


def _place_rule(s: Stats) -> Ruling:
    said = (f"{s['scored']} where the named step lies inside the trace and {s['detected']} of all "
            "detected faults")
    if s["scored"].value < _EXACT:
        return Ruling(NOT, f"{said}, below {_EXACT} in both.")
    if s["detected"].value >= _EXACT:
        return Ruling(HOLDS, f"{said}.")
    weak = {k: s[k] for k in FAULT_TYPES if k in s and s[k].value is not None}
    where = among(f"{k} ({x.k:.0f} of {x.n:.0f})" for k, x in weak.items() if x.value < _EXACT)
    return Ruling(CONDITION, f"{said}: the paper leaves out steps outside the trace "
                  f"(Appendix D), and the file does not keep them; below {_EXACT} are {where}.")


def _zero(e: Evidence) -> Stats:
    alarms = e.score("step judge: false alarms on clean runs", "false_alarm_rate", "step")
    if alarms.value is not None:
        alarms = share(alarms.what, alarms.k, alarms.n)  # exact, also for a judge that is a rule
    recall = e.score("step judge: recall", "recall", "step")
    worth = f"precision if {_RARE:.0%} of runs are faulty, at the highest compatible alarm rate"
    out = {"alarms": alarms, "worth": undefined(worth, alarms.why or recall.why)}
    if None not in (alarms.value, recall.value):
        out["worth"] = Stat(worth, float(ppv(recall.value, alarms.upper, _RARE)), how="computed")
    runs = clean_runs_needed(_NEGLIGIBLE)
    return out | {"needed": Stat(f"clean runs without alarm that rule out a rate of {_NEGLIGIBLE}",
                                 float(runs), how="exact binomial", digits=0)}


def _zero_rule(s: Stats) -> Ruling:
    x = s["alarms"]
    if x.k:
        return Ruling(NOT, f"it raised {x}.")
    said = f"{x.k:.0f} of {x.n:.0f} clean runs were flagged, and any rate up to {x.upper:.3f}"
    if x.upper <= _NEGLIGIBLE:
        return Ruling(HOLDS, f"{said} is compatible.")
    return Ruling(CONDITION, f"{said} is compatible with that: zero was counted, not shown; "
                  f"{s['needed']} clean runs without alarm would bound it at {_NEGLIGIBLE}.")


CLAIMS = (
    Claim("base-rate", "is the base rate of faults in the set", "section 7.3",
          "F1",
          "Is the 8B judge's F1 the share of faults in the set?", "verdicts", _base_rate,
          _base_rate_rule, ("f1", "precision", "base", "always"), "f1", 0.75,
          f"two rates agree within {_NEAR}"),
    Claim("uniformly-one", "uniformly 1.00", "Table 4",
          "lowest row",
          "Is the 8B judge's share flagged 1.00 in every row, clean runs included?", "verdicts",
          _uniform, _uniform_rule, ("ones",), "lowest", 1.0,
          "with a condition: more than half of the rows"),
    Claim("a-third", "misattributes a third of what it detects", "section 7.5",
          "detected faults given another type",
          "Which share of the detected faults did the step judge call by another type?",
          "verdicts with types", _misnamed, _misnamed_rule, ("misnamed",), "misnamed", 1 / 3,
          "a third: nearer to 1/3 than to 1/4 or 1/2; no third: outside both intervals"),
    Claim("nearly-exact", "localisation is nearly exact", "section 6",
          "exact step, of all detected faults",
          "Is the named step exact also when a step outside the trace counts as not located? (a "
          "fault that ends the run early may be a step that is missing)",
          "verdicts with steps", _place, _place_rule, ("scored", "detected"), "detected", 0.973,
          f"nearly exact: at least {_EXACT}", letter=lambda s: s["scored"].value >= _EXACT),
    Claim("zero-alarms", "zero false alarms", "abstract",
          "false-alarm rate",
          "Which true false-alarm rate is compatible with what was counted?", "verdicts", _zero,
          _zero_rule, ("alarms",), "alarms", 0.0,
          f"zero: rates above {_NEGLIGIBLE} are ruled out; {_RARE:.0%} is our fault rate",
          letter=lambda s: s["alarms"].k == 0),
)
