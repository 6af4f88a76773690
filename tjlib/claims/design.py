"""What was counted: instances, inputs, rules broken, and clean runs beyond dispute.

Decision: these sentences are about the set, so they are tried on its text;
where a source has none, the desk's own rebuilt set stands in for the one
question it can answer (which rules a fault breaks), and is named. Refusal:
whether a reply is *good* is not asked; a promise of a time is looked for,
word for word, in what the agent had seen, and nothing else is read into it.
"""

from __future__ import annotations

import re

import numpy as np

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
    universal,
)
from tjlib.desk import rules
from tjlib.trace import FAULT_TYPES, Trajectory

__all__ = ["CLAIMS", "promised_time"]

_WIDER = 1.1  # ours: an interval this much wider is a wider one

#: Intervals the paper quotes; the first three say that two things differ.
_QUOTED = {
    "gap": ("loud minus silent recall, outcome judge", "loud_minus_silent", ("outcome",)),
    "view": ("silent recall, step minus outcome judge", "silent_recall", ("step", "outcome")),
    "ece": ("ECE, ensemble minus step judge", "ece", ("ensemble", "step")),
    "silent": ("silent recall, outcome judge", "silent_recall", ("outcome",)),
    "loud": ("loud recall, outcome judge", "loud_recall", ("outcome",)),
    "step": ("silent recall, step judge", "silent_recall", ("step",)),
}
_DIFFER = ("gap", "view", "ece")

_PROMISE = re.compile(r"\b(?:within|in) (?:\w+ ){1,2}(?:minutes?|hours?|days?|weeks?)\b")


def _clusters(e: Evidence) -> Stats:
    out = {}
    for name, (what, metric, roles) in _QUOTED.items():
        usual = e.score(f"{what}, by trajectory", metric, *roles)
        whole = e.score(f"{what}, by instance", metric, *roles, by="instance")
        out |= {f"{name}, usual": usual, name: whole}
        if None not in (usual.lo, whole.lo):
            ratio = (whole.hi - whole.lo) / (usual.hi - usual.lo)
            out[f"{name}, width"] = Stat(f"{what}: width by instance over width by trajectory",
                                         ratio, how="computed")
    return out


def _side(x: Stat) -> tuple[bool, bool]:
    return x.above(), x.below()


def _clusters_rule(s: Stats) -> Ruling:
    width = {n: s[f"{n}, width"].value for n in _QUOTED if f"{n}, width" in s}
    if not width:
        return Ruling(CANNOT, "no interval is defined when whole instances are resampled.")
    most = max(width, key=width.get)
    lost = [n for n in _DIFFER if n in width and _side(s[f"{n}, usual"]) != _side(s[n])]
    said = (f"resampling whole instances, the interval of {_QUOTED[most][0]} is "
            f"{width[most]:.2f} times as wide ({s[most]})")
    if lost:
        return Ruling(NOT, f"{said}, and {among(_QUOTED[n][0] for n in lost)} changes its side of "
                      "0.")
    kept = f"every quoted difference keeps its side of 0 (the gap is {s['gap']})"
    if width[most] <= _WIDER:
        return Ruling(HOLDS, f"{said}; {kept}.")
    return Ruling(CONDITION, f"{said}; {kept}: the conclusions hold, the widths do not.")


def _inputs(e: Evidence) -> Stats:
    what = {"distinct": "distinct inputs (goal and reply) among the outcome judge's trajectories",
            "split": "repeated inputs on which it gave more than one verdict"}
    why = e.missing("outcome") or ("" if e.texts else "needs the trajectories")
    if why:
        return {name: undefined(text, why) for name, text in what.items()}
    t, j, said = e.table, e.column("outcome"), {}
    for row in np.flatnonzero(t.seen[:, j]):
        run = e.texts[t.labels[row].trajectory_id]
        verdict = (bool(t.flag[row, j]), int(t.kind[row, j]), str(t.confidence[row, j]))
        said.setdefault((run.goal, run.final_answer), []).append(verdict)
    repeated = [verdicts for verdicts in said.values() if len(verdicts) > 1]
    n = sum(map(len, said.values()))
    return {"distinct": share(what["distinct"], len(said), n, sampled=False),
            "split": share(what["split"], sum(len(set(v)) > 1 for v in repeated), len(repeated),
                           sampled=False)}


def _inputs_rule(s: Stats) -> Ruling:
    x = s["distinct"]
    again = "" if s["split"].value is None else (
        f"; on {s['split'].k:.0f} of {s['split'].n:.0f} repeated inputs its verdicts differ")
    return universal(x.k, x.n, f"the outcome judge saw {x.k:.0f} distinct inputs in {x.n:.0f} "
                     f"trajectories{again}.")


def _one_rule(e: Evidence) -> Stats:
    what = {"one": "faults that break exactly one rule", "few": "faults that break at most one"}
    if e.texts:
        runs, where = [(e.texts.get(x.trajectory_id), x) for x in e.table.labels], "checker's rules"
    elif e.runs:
        runs, where = list(zip(*e.runs, strict=True)), "checker's rules, on the desk's rebuilt set"
    else:
        return {name: undefined(text, "needs the trajectories") for name, text in what.items()}
    broken: dict[str, list[frozenset]] = {}
    for run, label in runs:
        if label.faulty and run is not None:
            broken.setdefault(label.failure_type or "untyped", []).append(
                frozenset(v.rule for v in rules.check(run)))
    every = [len(found) for each in broken.values() for found in each]
    out = {"one": share(what["one"], every.count(1), len(every), sampled=False, how=where),
           "few": share(what["few"], every.count(0) + every.count(1), len(every), sampled=False,
                        how=where)}
    for kind in [k for k in (*FAULT_TYPES, "untyped") if k in broken]:
        common = max(sorted(set(broken[kind]), key=sorted), key=broken[kind].count)
        named = among(f"rule {x}" for x in sorted(common)) if common else "no rule"
        out[kind] = share(f"{kind} breaks {named}", broken[kind].count(common), len(broken[kind]),
                          sampled=False, how=where)
    return out


def _one_rule_rule(s: Stats) -> Ruling:
    one, few = s["one"], s["few"]
    said = f"{one.k:.0f} of {one.n:.0f} faults break exactly one rule, {few.k:.0f} at most one"
    odd = [x.what for name, x in s.items() if name not in ("one", "few")]
    if one.k == one.n:
        return Ruling(HOLDS, f"{said}.")
    return Ruling(CONDITION if 2 * few.k > few.n else NOT, f"{said}; {among(odd)}.")


def promised_time(run: Trajectory) -> str:
    """Return a time the reply promises and nothing before it mentions; empty if none.

    Examples
    --------
    >>> promised_time(Trajectory("a", "Refund?", (), "Done. It arrives within five working days."))
    'within five working days'
    """
    seen = run.goal + " ".join(str([o.data, o.error]) for s in run.steps for o in s.observations)
    return next((p for p in _PROMISE.findall(run.final_answer) if p not in seen), "")


def _clean(e: Evidence) -> Stats:
    what = {"free": "clean replies that promise no time the agent had not seen",
            "with": "outcome judge's alarms on clean runs with such a promise",
            "without": "its alarms on the other clean runs",
            "named": "of the alarms on such promises, those that name unsupported_claim"}
    if not e.texts:
        return {name: undefined(text, "needs the trajectories") for name, text in what.items()}
    t = e.table
    clean = np.array([not x.faulty and x.trajectory_id in e.texts for x in t.labels])
    extra = np.array([ok and bool(promised_time(e.texts[x.trajectory_id]))
                      for ok, x in zip(clean, t.labels, strict=True)])
    out = {"free": share(what["free"], (clean & ~extra).sum(), clean.sum(), sampled=False)}
    if e.missing("outcome"):
        return out
    j = e.column("outcome")
    flag, seen = t.flag[:, j], t.seen[:, j]
    named = t.kind[:, j] == FAULT_TYPES.index("unsupported_claim")
    return out | {"with": share(what["with"], (flag & extra).sum(), (seen & extra).sum()),
                  "without": share(what["without"], (flag & clean & ~extra).sum(),
                                   (seen & clean & ~extra).sum()),
                  "named": share(what["named"], (flag & extra & named).sum(), (flag & extra).sum(),
                                 sampled=False)}


def _clean_rule(s: Stats) -> Ruling:
    x = s["free"]
    said = f"{x.n - x.k:.0f} of {x.n:.0f} clean replies promise a time that no observation states"
    if "with" in s and s["with"].value is not None:
        said += f"; the outcome judge flags {s['with']} of these and {s['without']} of the others"
    if "named" in s and s["named"].value is not None:
        said += f", but {s['named'].k:.0f} of those alarms name unsupported_claim"
    return universal(x.k, x.n, f"{said}.")


CLAIMS = (
    Claim("by-instance", "percentile bootstrap over trajectories", "section 5",
          "the gap, whole instances resampled",
          "Do the quoted intervals and differences stand when whole instances are resampled?",
          "instances", _clusters, _clusters_rule, ("gap", "view", "ece"), "gap", 0.389,
          f"as wide: at most {_WIDER} times"),
    Claim("distinct-inputs", "over 400 trajectories", "abstract",
          "distinct inputs, share of trajectories",
          "On how many different inputs was the outcome judge asked?", "text", _inputs,
          _inputs_rule, ("distinct",), "distinct", 1.0, "with a condition: more than half"),
    Claim("one-rule", "break exactly one rule", "section 3",
          "faults that break exactly one rule",
          "How many faults break exactly one of the eight rules?",
          "text, or the desk's own set", _one_rule, _one_rule_rule, ("one",), "one", 1.0,
          "with a condition: more than half break at most one, as the section itself says that two "
          "types break none"),
    Claim("beyond-dispute", "a false positive with nothing to argue about", "section 2",
          "clean replies without a new promise",
          "Do the clean replies promise a time that the agent had not seen? (our addition: point 8 "
          "of the procedure allows only what the observations support)", "text", _clean,
          _clean_rule, ("free",), "free", 1.0, "with a condition: more than half"),
)
