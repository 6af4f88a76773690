"""What three samples cost and bring: time, tokens, votes, quality.

Decision: cost is seconds, as the paper defines it (section 5), with the
tokens shown beside, and "straddles zero" means that 0 is not excluded: whether
it lies at an end or inside hangs on the seed, so it is told and decides
nothing. Refusal: no unit of cost is taken for the others.
"""

from __future__ import annotations

from functools import partial

import numpy as np

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
    what, x = "seconds, as a share of three times", out["seconds"]
    if x.value is None:
        return out | {"of three": undefined(what, x.why)}
    ends = [None if end is None else end / 3 for end in (x.lo, x.hi)]
    return out | {"of three": Stat(what, x.value / 3, *ends, how=f"from {x.what}")}


def _times_rule(s: Stats) -> Ruling:
    known = {name: s[name] for name in _UNITS.values() if s[name].value is not None}
    three = [name for name, x in known.items() if _is_three(x.value)]
    said = ("the ratio of the means is " + among(f"{x} in {name}" for name, x in known.items())
            + f": three in {among(three)}")
    if "seconds" in three:
        return Ruling(HOLDS, f"{said}; seconds are the paper's unit.")
    return Ruling(CONDITION if three else NOT, f"{said}; not in seconds, the paper's unit.")


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
    fixed, seconds = [name for name, x in shares.items() if x.k == x.n], s["seconds"]
    said = "the ratio rounds to three for " + among(
        f"{x.k:.0f} of {x.n:.0f} trajectories in {name}" for name, x in shares.items())
    found = universal(seconds.k, seconds.n, f"{said}: the same for each in {among(fixed)}; seconds "
                      "are the paper's unit.")
    tokens = len(fixed) < len(shares)
    return Ruling(CONDITION, found.reason) if found.verdict == HOLDS and tokens else found


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
    return universal(x.k, x.n, f"{said}; one sample caught {s['one'].k:.0f} and was outvoted.")


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
    covered = len(known) - len(clear)
    told = [f"{covered} of {len(known)} deltas do not exclude 0"]
    told += [f"{len(touch)} of these end at it ({among(touch)})"] if touch else []
    told += ["clear of 0 is " + among(f"{name} ({known[name]})" for name in clear)] if clear else []
    quoted = [name for name in clear if name in _QUOTED.values()]
    told += [f"of the four quoted in 7.4, clear of 0: {among(quoted)}"]
    return universal(covered, len(known), "; ".join(told) + ".")


_THREE = "a ratio is three if it rounds to 3"
_MOST = "with a condition: more than half"
_MEANS = f"{_THREE}; a ratio of means, in which the slowest runs weigh most"

CLAIMS = (
    Claim("step-cost", "at 3× the cost", "abstract",
          "seconds, as a share of 3x",
          "Does the step judge cost three times the outcome judge in seconds, and in tokens?",
          "verdicts with costs, or their means", partial(_times, top="step", bottom="outcome"),
          _times_rule, ("seconds",), "of three", 1.0, _MEANS),
    Claim("ensemble-cost", "three times the cost", "section 7.4",
          "seconds, as a share of 3x",
          "Does the ensemble cost three times one pass in seconds, and in tokens?",
          "verdicts with costs, or their means", partial(_times, top="ensemble", bottom="step"),
          _times_rule, ("seconds",), "of three", 1.0, _MEANS),
    Claim("ensemble-fixed", "cost is deterministically 3×", "section 7.4",
          "trajectories with a ratio of 3 in seconds",
          "Is the ratio three for each trajectory, in seconds, and not only on average?",
          "verdicts with costs of their own", _fixed, _fixed_rule, ("seconds",),
          "seconds", 1.0, f"{_THREE}; {_MOST}"),
    Claim("same-promises", "miss the same invented promises", "section 7.4",
          "no vote at all, of those missed",
          "Of the invented sentences the ensemble missed, how many got no vote at all?",
          "verdicts with vote shares", _votes, _votes_rule, ("none",), "none", 1.0, _MOST),
    Claim("deltas-straddle", "straddle zero on every axis except calibration", "Table 9",
          "change in exact step, of detected faults",
          "Does each quality delta, quoted or not, have 0 in its interval?",
          "verdicts", _deltas, _deltas_rule, ("F1",), "step exact of detected faults", 0.0,
          f"seven more deltas are tried beside the four quoted; an end at 0 counts as 0; {_MOST}"),
)
