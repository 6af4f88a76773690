"""What was counted: instances, inputs, and clean runs beyond dispute.

Decision: these sentences are about the set, so they are tried on its text;
a source without text leaves them untested. Refusal: whether a reply is *good*
is not asked; a promise of a time is looked for, word for word, in what the
agent had seen, and nothing else is read into it.
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
from tjlib.measure.resample import bounds_or_why, replicate_weights
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
        free = e.score(f"{what}, by trajectory without cells", metric, *roles, by="freely")
        out[f"{name}, freely"] = free
        if None not in (usual.lo, whole.lo):
            ratio = (whole.hi - whole.lo) / (usual.hi - usual.lo)
            out[f"{name}, width"] = Stat(f"{what}: width by instance over width by trajectory",
                                         ratio, how="computed")
            out[f"{name}, cells"] = Stat(
                f"{what}: width without cells over width by trajectory",
                (free.upper - free.lower) / (usual.hi - usual.lo), how="computed")
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
    if (cells := s.get(f"{most}, cells")) is not None:
        said += f"; leaving out the design cells alone makes it {cells.value:.2f} times as wide"
    if lost:
        return Ruling(NOT, f"{said}, and {among(_QUOTED[n][0] for n in lost)} changes its side of "
                      "0.")
    kept = f"every quoted difference keeps its side of 0 (the gap is {s['gap']})"
    if width[most] <= _WIDER:
        return Ruling(HOLDS, f"{said}; {kept}.")
    return Ruling(CONDITION, f"{said}; {kept}: the conclusions hold, the widths do not.")


def _inputs(e: Evidence) -> Stats:
    what = {"distinct": "distinct inputs (goal and reply) among the outcome judge's trajectories",
            "split": "repeated inputs on which it gave more than one verdict",
            "gap": "loud minus silent recall, inputs resampled whole"}
    why = e.missing("outcome") or ("" if e.texts else "needs the trajectories")
    if why:
        return {name: undefined(text, why) for name, text in what.items()}
    t, j, said, sums = e.table, e.column("outcome"), {}, {}
    for row in np.flatnonzero(t.seen[:, j]):
        run = e.texts[t.labels[row].trajectory_id]
        verdict = (bool(t.flag[row, j]), int(t.kind[row, j]), str(t.confidence[row, j]))
        said.setdefault((run.goal, run.final_answer), []).append(verdict)
        loud, silent = (t.labels[row].faulty and t.labels[row].outcome_correct is correct
                        for correct in (False, True))
        counted = np.array([loud, silent, loud and verdict[0], silent and verdict[0]], float)
        sums[run.goal, run.final_answer] = counted + sums.get((run.goal, run.final_answer), 0)
    repeated = [verdicts for verdicts in said.values() if len(verdicts) > 1]
    n = sum(map(len, said.values()))
    return {"distinct": share(what["distinct"], len(said), n, sampled=False),
            "split": share(what["split"], sum(len(set(v)) > 1 for v in repeated), len(repeated),
                           sampled=False),
            "gap": _by_input(what["gap"], np.array(list(sums.values())), e)}


def _by_input(what: str, sums: np.ndarray, e: Evidence) -> Stat:
    """Resample whole inputs; the columns count loud and silent faults, then those flagged."""
    def gap(x):
        with np.errstate(invalid="ignore", divide="ignore"):
            return x[:, 2] / x[:, 0] - x[:, 3] / x[:, 1]
    if not (sums[:, 0].any() and sums[:, 1].any()):
        return undefined(what, "there are no loud faults, or no silent ones")
    once = np.ones(len(sums), int)
    drawn = np.concatenate([gap(w @ sums)
                            for w in replicate_weights(once, 0 * once, e.rng(), e.draws)])
    lo, hi, why = bounds_or_why(drawn)
    return Stat(what, float(gap(sums.sum(axis=0)[None])[0]), lo, hi, how=why or "by input")


def _inputs_rule(s: Stats) -> Ruling:
    x = s["distinct"]
    again = "" if s["split"].value is None else (
        f"; on {s['split'].k:.0f} of {s['split'].n:.0f} repeated inputs its verdicts differ")
    if "gap" in s and s["gap"].value is not None:
        again += f"; with inputs resampled whole the gap is {s['gap']}"
    return universal(x.k, x.n, f"the outcome judge saw {x.k:.0f} distinct inputs in {x.n:.0f} "
                     f"trajectories{again}.")


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
          f"as wide: at most {_WIDER} times; by instance there are no design cells either, so the "
          "width without cells stands beside",
          letter=lambda s: s["gap, usual"].how == "percentile"),
    Claim("distinct-inputs", "over 400 trajectories", "abstract",
          "distinct inputs, share of trajectories",
          "On how many different inputs was the outcome judge asked?", "text", _inputs,
          _inputs_rule, ("distinct",), "distinct", 1.0, "with a condition: more than half",
          letter=lambda s: s["distinct"].n == 400),
    Claim("beyond-dispute", "a false positive with nothing to argue about", "section 2",
          "clean replies without a new promise",
          "Do the clean replies promise a time that the agent had not seen? (our addition: point 8 "
          "of the procedure allows only what the observations support)", "text", _clean,
          _clean_rule, ("free",), "free", 1.0, "with a condition: more than half"),
)
