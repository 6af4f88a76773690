"""What three samples cost and bring: time, tokens, votes, quality.

Decision: "three times" is read off each unit on its own, and "straddles
zero" to the letter: an interval that ends at 0 touches it. Refusal: no unit
of cost is taken for the others.
"""

from __future__ import annotations

from functools import partial

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
)
from tjlib.trace import FAULT_TYPES

__all__ = ["CLAIMS"]

_UNITS = {"latency_s": "seconds", "prompt_tokens": "prompt tokens",
          "completion_tokens": "completion tokens"}
_INVENTED = FAULT_TYPES.index("unsupported_claim")


def _is_three(x: float) -> bool:
    return 2.5 <= x < 3.5


def _times(e: Evidence, *, top: str, bottom: str) -> Stats:
    out = {name: e.times(f"{name}: {top} over {bottom} judge", unit, top, bottom)
           for unit, name in _UNITS.items()}
    known = [s for s in out.values() if s.value is not None]
    what = "the unit furthest from three times, as a share of three times"
    if not known:
        return {"furthest": undefined(what, next(iter(out.values())).why)} | out
    far = max(known, key=lambda s: abs(s.value - 3))
    ends = [None if x is None else x / 3 for x in (far.lo, far.hi)]
    return {"furthest": Stat(what, far.value / 3, *ends, how=f"from {far.what}")} | out


def _times_rule(s: Stats) -> Ruling:
    known = {name: x for name, x in s.items() if name != "furthest" and x.value is not None}
    if not known:
        return Ruling(CANNOT, f"{s['furthest'].what}: {s['furthest'].why}.")
    three = [name for name, x in known.items() if _is_three(x.value)]
    said = "the ratio is " + among(f"{x} in {name}" for name, x in known.items())
    if len(three) == len(_UNITS):
        return Ruling(HOLDS, f"{said}: three in every unit.")
    if not three:
        return Ruling(NOT, f"{said}: three in none.")
    return Ruling(CONDITION, f"{said}: three in {among(three)} only.")


def _fixed(e: Evidence) -> Stats:
    out = {}
    for unit, name in _UNITS.items():
        what = f"{name}: trajectories whose own ratio, ensemble over step judge, rounds to 3"
        if why := e.missing("ensemble", "step"):
            out[name] = undefined(what, why)
            continue
        a, b = (getattr(e.table, unit)[:, e.column(role)] for role in ("ensemble", "step"))
        known = ~np.isnan(a) & ~np.isnan(b) & (np.nan_to_num(b) > 0)
        if not known.any():
            out[name] = undefined(what, "the verdicts record no cost of their own")
            continue
        ratio = a[known] / b[known]
        out[name] = share(what, int(sum(map(_is_three, ratio))), len(ratio), sampled=False)
        lo, middle, hi = np.quantile(ratio, [0.025, 0.5, 0.975])
        out[f"{name}, range"] = Stat(f"{name}: median ratio, and where 95 % of trajectories lie",
                                     float(middle), float(lo), float(hi), how="quantiles")
    return out


def _fixed_rule(s: Stats) -> Ruling:
    shares = {name: s[name] for name in _UNITS.values() if s[name].value is not None}
    fixed = [name for name, x in shares.items() if x.k == x.n]
    said = "the ratio rounds to three for " + among(
        f"{x.k:.0f} of {x.n:.0f} trajectories in {name}" for name, x in shares.items())
    if len(fixed) == len(_UNITS):
        return Ruling(HOLDS, f"{said}.")
    if not fixed:
        return Ruling(NOT, f"{said}: it varies in every unit.")
    return Ruling(CONDITION, f"{said}: fixed in {among(fixed)}, an average elsewhere.")


def _votes(e: Evidence) -> Stats:
    what = {"none": "missed with no vote of three", "one": "missed with one vote of three",
            "both": "missed by the step judge too: with no vote of three"}
    if why := e.missing("ensemble"):
        return {name: undefined(text, why) for name, text in what.items()}
    t, j = e.table, e.column("ensemble")
    missed = (t.true_kind == _INVENTED) & t.seen[:, j] & ~t.flag[:, j]
    stated = t.confidence[missed, j]
    # With three votes the majority's share is 2/3 or 1 (paper section 4).
    if not (np.isclose(stated, 1) | np.isclose(stated, 2 / 3)).all():
        return {name: undefined(text, "the confidences are not shares of three votes")
                for name, text in what.items()}
    none = missed & np.isclose(t.confidence[:, j], 1)
    out = {"none": share(what["none"], none.sum(), missed.sum()),
           "one": share(what["one"], (missed & ~none).sum(), missed.sum())}
    if not e.missing("step"):
        k = e.column("step")
        also = missed & t.seen[:, k] & ~t.flag[:, k]
        out["both"] = share(what["both"], (none & also).sum(), also.sum())
    return out


def _votes_rule(s: Stats) -> Ruling:
    x = s["none"]
    said = f"of the missed invented sentences all three samples missed {x}"
    if x.k == x.n:
        return Ruling(HOLDS, f"{said}.")
    return Ruling(CONDITION if x.above(0.5) else NOT,
                  f"{said}; one sample caught {s['one'].k:.0f} and was outvoted.")


_QUOTED = {"f1": "F1", "silent_recall": "silent recall", "type_macro_f1": "type macro-F1",
           "step_exact": "step exact"}
_OTHER = {"precision": "precision", "recall": "recall", "loud_recall": "loud recall",
          "false_alarm_rate": "false alarms", "step_within_one": "step within one",
          "step_exact_over_detected_faults": "step exact of detected faults",
          "step_exact_over_all_faults": "step exact of all faults"}


def _deltas(e: Evidence) -> Stats:
    return {name: e.score(f"{name}, ensemble minus step judge"
                          + (" (quoted in 7.4)" if metric in _QUOTED else ""),
                          metric, "ensemble", "step")
            for metric, name in (_QUOTED | _OTHER).items()}


def _deltas_rule(s: Stats) -> Ruling:
    known = {name: x for name, x in s.items() if x.value is not None}
    clear = [name for name, x in known.items() if x.above() or x.below()]
    touch = [name for name, x in known.items() if name not in clear and x.touches()]
    inside = len(known) - len(clear) - len(touch)
    told = [f"{inside} of {len(known)} deltas have 0 strictly inside"]
    told += [f"{len(touch)} end at 0 ({among(touch)})"] if touch else []
    told += ["clear of 0 is " + among(f"{name} ({known[name]})" for name in clear)] if clear else []
    quoted = [name for name in clear if name in _QUOTED.values()]
    verdict = NOT if quoted else CONDITION if clear or touch else HOLDS
    return Ruling(verdict, "; ".join(told) + ".")


_THREE = "a ratio is three if it rounds to 3"

CLAIMS = (
    Claim("step-cost", "at 3× the cost", "abstract",
          "unit furthest from 3x, as a share of 3x",
          "Does the step judge cost three times the outcome judge, in time and in tokens?",
          "verdicts with costs, or their means", partial(_times, top="step", bottom="outcome"),
          _times_rule, (), "furthest", 1.0, _THREE),
    Claim("ensemble-cost", "three times the cost", "section 7.4",
          "unit furthest from 3x, as a share of 3x",
          "Does the ensemble cost three times one pass, in time and in tokens?",
          "verdicts with costs, or their means", partial(_times, top="ensemble", bottom="step"),
          _times_rule, (), "furthest", 1.0, _THREE),
    Claim("ensemble-fixed", "cost is deterministically 3×", "section 7.4",
          "trajectories with a ratio of 3 in seconds",
          "Is the ratio three for each trajectory, and not only on average?",
          "verdicts with costs of their own", _fixed, _fixed_rule, tuple(_UNITS.values()),
          "seconds", 1.0, _THREE),
    Claim("same-promises", "miss the same invented promises", "section 7.4",
          "no vote at all, of those missed",
          "Of the invented sentences the ensemble missed, how many got no vote at all?",
          "verdicts with vote shares", _votes, _votes_rule, ("none",), "none", 1.0,
          "with a condition: the exact interval lies above one half"),
    Claim("deltas-straddle", "straddle zero on every axis except calibration", "Table 9",
          "change in exact step, of detected faults",
          "Does each quality delta, quoted or not, have 0 strictly inside its interval?",
          "verdicts", _deltas, _deltas_rule, ("F1",), "step exact of detected faults", 0.0,
          "deltas beyond the four quoted ones can only make it conditional"),
)
