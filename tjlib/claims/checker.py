"""Claims about the rules: what one fault breaks, and what no rule could catch.

Decision: rules are run, on the trajectories of the source or, where it has
none, on the desk's own set, and the statistic says on which. Refusal: no
verdict of a judge is read here.
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
from tjlib.desk import rules
from tjlib.trace import FAULT_TYPES, Label, Trajectory

__all__ = ["CLAIMS"]


def _checked(e: Evidence) -> tuple[list[tuple[Trajectory, Label]], str]:
    """Return the trajectories that rules can be run on, none if there are none, and which."""
    if e.texts:
        known = ((e.texts.get(x.trajectory_id), x) for x in e.table.labels)
        return [(run, x) for run, x in known if run and rules.applies(run)], "checker's rules"
    runs = list(zip(*e.runs, strict=True)) if e.runs else []
    return runs, "checker's rules, on the desk's rebuilt set"


def _read(run: Trajectory) -> bool:
    return any(call.tool == "get_policy" for step in run.steps for call in step.calls)


def _ninth(e: Evidence) -> Stats:
    what = {"caught": "faults the eight rules miss, caught by one more: nobody asks for the policy",
            "alarms": "clean runs that this rule flags (the same script in all)"}
    runs, where = _checked(e)
    unread: dict[str, list[bool]] = {}
    for run, label in runs:
        if not rules.check(run):
            unread.setdefault(label.failure_type or "", []).append(
                not _read(run))
    clean = unread.pop("", [])
    missed = [found for each in unread.values() for found in each]
    if not (missed and clean):
        return {name: undefined(text, "needs trajectories") for name, text in what.items()}
    counted = {"caught": (what["caught"], missed), "alarms": (what["alarms"], clean)}
    counted |= {kind: (f"{kind} caught", unread[kind]) for kind in FAULT_TYPES if kind in unread}
    return {name: share(text, sum(x), len(x), sampled=False, how=where)
            for name, (text, x) in counted.items()} | {"organic": _organic(e)}


def _organic(e: Evidence) -> Stat:
    what = "an agent's own passing episodes that this rule flags"
    if e.organic is None:
        return undefined(what, "needs the release's agent episodes")
    unread = [not _read(run) for run, x in zip(*e.organic, strict=True) if not x.faulty]
    return share(what, sum(unread), len(unread), how="exact binomial, on the agent's episodes")


def _ninth_rule(s: Stats) -> Ruling:
    caught, alarms = s["caught"], s["alarms"]
    said = ("one more rule over the order of calls, that the policy be read, catches "
            f"{caught.k:.0f} of the {caught.n:.0f} faults the eight miss and flags "
            f"{alarms.k:.0f} of {alarms.n:.0f} clean runs")
    if "organic" in s and s["organic"].value is not None:
        said += f" and {s['organic'].k:.0f} of {s['organic'].n:.0f} passing episodes of an agent"
    if caught.k == 0:
        return Ruling(HOLDS, f"{said}.")
    return Ruling(NOT if alarms.k == 0 else CONDITION, f"{said}.")


def _one_rule(e: Evidence) -> Stats:
    what = {"one": "of the faults that break a rule, exactly one", "none": "faults that break none"}
    runs, where = _checked(e)
    if not runs:
        return {name: undefined(text, "needs the trajectories") for name, text in what.items()}
    broken: dict[str, list[frozenset]] = {}
    for run, label in runs:
        if label.faulty:
            broken.setdefault(label.failure_type or "untyped", []).append(
                frozenset(v.rule for v in rules.check(run)))
    every = [len(found) for each in broken.values() for found in each]
    none = every.count(0)
    out = {"one": share(what["one"], every.count(1), len(every) - none, sampled=False, how=where),
           "none": share(what["none"], none, len(every), sampled=False, how=where)}
    for kind in [k for k in (*FAULT_TYPES, "untyped") if k in broken]:
        common = max(sorted(set(broken[kind]), key=sorted), key=broken[kind].count)
        named = among(f"rule {x}" for x in sorted(common)) if common else "no rule"
        out[kind] = share(f"{kind} breaks {named}", broken[kind].count(common), len(broken[kind]),
                          sampled=False, how=where)
    return out


def _one_rule_rule(s: Stats) -> Ruling:
    one, none = s["one"], s["none"]
    odd = among(x.what for name, x in s.items() if name not in ("one", "none"))
    return universal(one.k, one.n, f"of {one.n:.0f} faults that break a rule, {one.k:.0f} break "
                     f"exactly one, and {none.k:.0f} faults break none; {odd}.")


CLAIMS = (
    Claim("one-rule", "break exactly one rule", "section 3",
          "exactly one, of faults that break a rule",
          "How many of the faults that break one of the eight rules break only that one?",
          "text, or the desk's own set", _one_rule, _one_rule_rule, ("one",), "one", 1.0,
          "faults that break no rule are counted apart, as the section itself says that two types "
          "break none (Table 1); with a condition: more than half"),
    Claim("ninth-rule", "with no better version possible", "section 6",
          "missed faults caught by one more rule",
          "Does a rule that the procedure states and the checker lacks, that somebody ask for the "
          "policy, catch a fault that the eight miss, without flagging a clean run?",
          "text, or the desk's own set", _ninth, _ninth_rule, ("caught", "alarms"), "caught", 0.0,
          "the ninth rule is ours, point 3 of the procedure; an alarm on a passing episode of an "
          "agent that never asked for the policy may be right"),
)
