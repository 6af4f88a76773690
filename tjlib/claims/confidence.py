"""Stated confidence on trial: most certain, nearly honest, measurably worse.

Decision: each word is tried in every reading it allows (share correct,
overconfidence, contribution to the error) and under every measure the library
has. Refusal: no binning is taken for the others.
"""

from __future__ import annotations

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
from tjlib.measure.calibration import reliability

__all__ = ["CLAIMS"]

_HONEST = 0.05  # ours: an ECE that is "nearly honest"; the paper's are .033 and .253


def _certain(e: Evidence) -> Stats:
    names = {"top": "share correct in the most confident bin",
             "elsewhere": "share correct in the worst other bin",
             "over": "overconfidence in the most confident bin",
             "over elsewhere": "largest overconfidence in another bin",
             "contribution": "share of the ECE that the most confident bin contributes"}
    why = e.missing("outcome")
    rows = reliability(e.table, e.judges["outcome"]) if not why else None
    if why or len(rows) < 2:
        why = why or "the stated confidences fill fewer than two bins"
        return {name: undefined(text, why) for name, text in names.items()}
    over, last = rows["confidence"] - rows["accuracy"], len(rows) - 1
    worst = rows["accuracy"][:last].idxmin()
    gaps = (rows["n"] * over).abs()
    return {
        "top": share(names["top"], rows["k"][last], rows["n"][last]),
        "elsewhere": share(names["elsewhere"], rows["k"][worst], rows["n"][worst]),
        "over": Stat(names["over"], float(over[last]), how="counted"),
        "over elsewhere": Stat(names["over elsewhere"], float(over[:last].max()), how="counted"),
        "contribution": Stat(names["contribution"], float(gaps[last] / max(gaps.sum(), 1e-12)),
                             how="counted"),
    }


def _certain_rule(s: Stats) -> Ruling:
    said = (f"in its most confident bin {s['top']} verdicts are right, in the worst other bin "
            f"{s['elsewhere']}")
    over = f"overconfidence is {s['over']} there and up to {s['over elsewhere']} elsewhere"
    if s["top"].value < s["elsewhere"].value:
        return Ruling(HOLDS, f"{said}.")
    if s["over"].value > s["over elsewhere"].value:
        return Ruling(CONDITION, f"{said}; read as overconfidence it holds: {over}.")
    return Ruling(NOT, f"{said}; {over}; what is true is that the bin contributes "
                  f"{s['contribution']} of the ECE.")


def _honest(e: Evidence) -> Stats:
    names = {"ece": "step judge: ECE, ten bins", "value": "the same, a bin for each stated value",
             "apart": "mean confidence when right minus when wrong",
             "modal": "wrong verdicts at their most common confidence",
             "lowest": "lowest confidence of a wrong verdict"}
    if why := e.missing("step"):
        return {name: undefined(text, why) for name, text in names.items()}
    t, j = e.table, e.column("step")
    stated = t.seen[:, j] & ~np.isnan(t.confidence[:, j])
    right = stated & (t.flag[:, j] == t.faulty)
    wrong, c = stated & ~right, np.where(stated, t.confidence[:, j], 0.0)
    apart = e.estimate(
        names["apart"], {"r": right, "cr": right * c, "w": wrong, "cw": wrong * c},
        lambda s: (s["cr"] * s["w"] - s["cw"] * s["r"], s["r"] * s["w"]))
    out = {"ece": e.score(names["ece"], "ece", "step"),
           "value": e.calibration(names["value"], "ece_value", "step"), "apart": apart}
    if not wrong.any():
        return out | {k: undefined(names[k], "no verdict was wrong") for k in ("modal", "lowest")}
    values, counts = np.unique(c[wrong], return_counts=True)
    modal = share(f"{names['modal']}, {values[counts.argmax()]:.2f}", counts.max(), wrong.sum(),
                  sampled=False)
    return out | {"modal": modal, "lowest": Stat(names["lowest"], float(values[0]), how="counted")}


def _honest_rule(s: Stats) -> Ruling:
    said = f"its ECE is {s['ece']} in ten bins and {s['value']} by stated value"
    if s["ece"].value > _HONEST:
        return Ruling(NOT, f"{said}; the first is above {_HONEST}.")
    where = (f"mean confidence, right minus wrong, is {s['apart']}; {s['modal'].what}, are "
             f"{s['modal'].k:.0f} of {s['modal'].n:.0f}")
    if s["apart"].above() and s["value"].value <= _HONEST:
        return Ruling(HOLDS, f"{said}; {where}.")
    limits = [f"by stated value it is above {_HONEST}"] if s["value"].value > _HONEST else []
    limits += [] if s["apart"].above() else ["it does not tell wrong verdicts from right"]
    return Ruling(CONDITION, f"{said}: {among(limits)}; {where}.")


_QUOTED = 0.92  # the confidence of the miss that section 7.2 quotes
_NAMES = {"step": "step judge", "outcome": "outcome judge", "small": "8B judge",
          "ensemble": "ensemble"}


def _errors(e: Evidence) -> Stats:
    out = {}
    for role, name in _NAMES.items():
        at = f"{name}: wrong verdicts at {'confidence 0.92' if role == 'step' else 'one value'}"
        if why := e.missing(role):
            out |= {role: undefined(at, why), f"{role}, all": undefined(f"{name}: all", why)}
            continue
        j, t = e.column(role), e.table
        stated = t.seen[:, j] & ~np.isnan(t.confidence[:, j])
        c, wrong = t.confidence[stated, j], (t.flag[:, j] != t.faulty)[stated]
        if not wrong.any():
            out[role] = undefined(at, "no verdict with a confidence was wrong")
            continue
        values, counts = np.unique(c[wrong], return_counts=True)
        common = _QUOTED if role == "step" else float(values[counts.argmax()])
        here = np.isclose(c, common)
        what = f"verdicts of the {name} at {common:.2f}"
        out[role] = share(f"wrong {what}", (wrong & here).sum(), wrong.sum(), sampled=False)
        out[f"{role}, all"] = share(f"all {what}", here.sum(), len(c), sampled=False)
    return out


def _errors_rule(s: Stats) -> Ruling:
    told = [f"{s[role].k:.0f} of {s[role].n:.0f} {s[role].what} ({s[f'{role}, all'].value:.3f} of "
            f"all its verdicts)" for role in _NAMES if role in s and s[role].value is not None]
    return universal(s["step"].k, s["step"].n, "; ".join(told) + ".")


_MEASURES = {
    "ece": "ECE, ten bins (the paper's)", "ece_width_5": "ECE, five bins",
    "ece_width_15": "ECE, fifteen bins", "ece_width_20": "ECE, twenty bins",
    "ece_mass_5": "ECE, five bins of equal mass", "ece_mass_10": "ECE, ten bins of equal mass",
    "ece_value": "ECE, a bin for each stated value", "smooth_ece": "smooth ECE, no bins",
    "brier": "Brier score", "brier_reliability": "reliability part of the Brier score",
}


def _calibration(e: Evidence) -> Stats:
    return {name: e.calibration(f"{text}, ensemble minus step judge", name, "ensemble", "step")
            for name, text in _MEASURES.items()}


def _calibration_rule(s: Stats) -> Ruling:
    said = f"the paper's ECE moves by {s['ece']}"
    if not s["ece"].above():
        return Ruling(NOT, f"{said}, not clear of 0.")
    apart = [f"{_MEASURES[name]} ({x.value:.3f})" for name, x in s.items() if not x.above()]
    values = [round(x.value, 9) for x in s.values()]
    alike = [_MEASURES[name] for name, x in s.items() if values.count(round(x.value, 9)) > 1]
    once = f" One number under several names: {among(alike)}." if alike else ""
    if not apart:
        return Ruling(HOLDS, f"{said} and is worse by all {len(s)} measures.")
    return Ruling(CONDITION, f"{said}, but {len(apart)} of {len(s)} measures do not tell the two "
                  f"apart: {among(apart)}.{once}")


CLAIMS = (
    Claim("most-certain", "most certain exactly where it is least right", "Figure 3",
          "share correct in the most confident bin",
          "Is the outcome judge's most confident bin the one with the fewest right verdicts, or "
          "with the largest overconfidence?", "verdicts with confidences", _certain, _certain_rule,
          ("top", "elsewhere"), "top", None, "the second reading counts as a condition"),
    Claim("nearly-honest", "its stated confidence is nearly honest", "section 6",
          "confidence when right minus when wrong",
          "Is the ECE small, also by stated value, and is the step judge less confident when it is "
          "wrong?", "verdicts with confidences", _honest, _honest_rule, ("ece", "value", "apart"),
          "apart", None,
          f"nearly honest: an ECE of at most {_HONEST}"),
    Claim("errors-certain", "reports clean at confidence 0.92", "section 7.2",
          "the step judge's errors at 0.92",
          "At which stated confidence do errors stand? Is the quoted miss typical of the step "
          "judge's errors, and where do the other judges' errors stand most often?",
          "verdicts with confidences", _errors, _errors_rule, ("step",), "step", 1.0,
          "with a condition: more than half"),
    Claim("ensemble-calibration", "calibration is measurably worse", "section 7.4",
          "change in ECE, a bin per stated value",
          "Is the ensemble worse under other binnings, without bins, and by the Brier score?",
          "verdicts with confidences", _calibration, _calibration_rule, tuple(_MEASURES),
          "ece_value", 0.051),
)
