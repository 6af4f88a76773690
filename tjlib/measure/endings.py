"""What agent-driven episodes came to, by kind of case and by type of fault.

Decision: an episode is faulty where its label says so or its outcome is wrong,
which is how the paper counts (section 8). Refusal: the labels come from rules
that cannot see two of the six types, so every share of faults is a lower
bound; nothing is added for what they miss, and what printed counts leave open
is left out rather than guessed.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from tjlib.measure.attribution import exact_share
from tjlib.trace import FAULT_TYPES, Call, InputError, Label, Trajectory

__all__ = [
    "ENDINGS", "INVISIBLE", "UNTYPED", "by_stratum", "ending", "first_breaks", "mix",
    "printed_mix", "printed_strata", "stuck",
]

#: The types no rule of the paper's appendix B expresses.
INVISIBLE = ("wrong_tool", "unsupported_claim")

#: What an episode can have come to, from the best on.
ENDINGS = ("no fault seen", "silent", "loud")

#: The type of a faulty episode whose outcome is wrong though no rule is broken.
UNTYPED = "wrong outcome, no rule broken"


def ending(label: Label) -> str:
    """Name what an episode came to, one of `ENDINGS`.

    Parameters
    ----------
    label : Label
        Its ``outcome_correct`` is known.

    Returns
    -------
    str

    Raises
    ------
    InputError
        If the label does not say whether the outcome is right.

    Examples
    --------
    >>> ending(Label("e-1", True, 2, "premature_stop", outcome_correct=True))
    'silent'
    """
    if label.outcome_correct is None:
        raise InputError(f"the label of {label.trajectory_id} does not say whether the outcome is "
                         "right; label the episodes by rules and outcome")
    if not label.outcome_correct:
        return "loud"
    return "silent" if label.faulty else "no fault seen"


def stuck(trajectory: Trajectory, limit: int) -> bool:
    """Tell whether an episode used up its steps without a reply.

    Parameters
    ----------
    trajectory : Trajectory
    limit : int
        How many steps the agent was allowed.

    Returns
    -------
    bool
    """
    replied = any(call.tool == "reply" for step in trajectory.steps for call in step.calls)
    return len(trajectory.steps) >= limit and not replied


def _torn(call: Call, goal: str) -> bool:
    # "21556" out of "ORD-21556" is torn from the goal; the whole number is copied.
    words = {word.strip(".,") for word in goal.split()}
    return any(isinstance(value, str) and value and value in goal and value not in words
               for value in call.args.values())


def first_breaks(
    trajectories: Sequence[Trajectory], labels: Sequence[Label], limit: int,
) -> pd.DataFrame:
    """Say where the first violations stand, and what else the episodes came to.

    Parameters
    ----------
    trajectories, labels : sequence
        Aligned, one pair an episode.
    limit : int
        How many steps the agent was allowed.

    Returns
    -------
    DataFrame
        One row per type of `mix` that occurs: type, n (faulty episodes), then
        how many of them broke the rule at_once (at step 0), are stuck (as
        `stuck` tells), or are torn (an argument of the step is a piece of a
        word, or of the words, of the goal).
    """
    rows = []
    for trajectory, label in zip(trajectories, labels, strict=True):
        if ending(label) != "no fault seen":
            at = label.failure_step
            calls = () if at is None else trajectory.steps[at].calls
            rows.append((label.failure_type or UNTYPED, 1, at == 0, stuck(trajectory, limit),
                         any(_torn(call, trajectory.goal) for call in calls)))
    frame = pd.DataFrame(rows, columns=["type", "n", "at_once", "stuck", "torn"])
    return frame.groupby("type", sort=False).sum().astype(int).reset_index()


def by_stratum(labels: Sequence[Label]) -> pd.DataFrame:
    """Count what the episodes of each stratum came to.

    Parameters
    ----------
    labels : sequence of Label

    Returns
    -------
    DataFrame
        One row per stratum, in order of appearance, and ending of `ENDINGS`:
        stratum, ending, n, of (episodes in the stratum), share in [0, 1].
    """
    came_to: dict[str, list[str]] = {}
    for label in labels:
        came_to.setdefault(label.stratum or "unknown", []).append(ending(label))
    return pd.DataFrame([
        {"stratum": stratum, "ending": end, "n": ends.count(end), "of": len(ends),
         "share": ends.count(end) / len(ends)}
        for stratum, ends in came_to.items() for end in ENDINGS])


def printed_strata(counts: pd.DataFrame, strata: Sequence[str]) -> pd.DataFrame:
    """Say what the printed counts settle about each stratum.

    Cases are dealt to the strata in turn (paper appendix A), which gives each
    its episodes; two strata have printed failures, and those are all there are
    exactly if they add up to the printed total.

    Parameters
    ----------
    counts : DataFrame
        As `tjlib.measure.organic.printed` gives it.
    strata : sequence of str
        In the order in which cases are dealt.

    Returns
    -------
    DataFrame
        As `by_stratum`, with the endings "no fault seen" and "faulty": counts
        alone do not say which of a stratum's faults are silent. A stratum the
        counts leave open has no row.
    """
    k = counts.set_index("metric")["k"]
    failed = {name: int(k[f"{name}_failed"]) for name in strata if f"{name}_failed" in k}
    if sum(failed.values()) == k["flagged_or_wrong_outcome"]:
        failed = dict.fromkeys(strata, 0) | failed
    rows = []
    for place, name in enumerate(strata):
        of = len(range(place, int(k["episodes"]), len(strata)))
        if name in failed:
            rows += [{"stratum": name, "ending": end, "n": n, "of": of, "share": n / of}
                     for end, n in (("no fault seen", of - failed[name]), ("faulty", failed[name]))]
    return pd.DataFrame(rows)


def mix(labels: Sequence[Label]) -> pd.DataFrame:
    """Share the faulty episodes out over the types of their first violation.

    Parameters
    ----------
    labels : sequence of Label

    Returns
    -------
    DataFrame
        One row per fault type and one for `UNTYPED`: type, visible (whether
        the rules can see it), value, lo, hi (exact 95 %), k, n (faulty
        episodes), how, why.
    """
    kinds = [x.failure_type or UNTYPED for x in labels if ending(x) != "no fault seen"]
    rows = []
    for kind in (*FAULT_TYPES, UNTYPED):
        seen = kind not in INVISIBLE
        found = exact_share(kinds.count(kind), len(kinds), why="undefined: no episode is faulty")
        blank = {"value": None, "lo": None, "hi": None, "k": None,
                 "why": "undefined: no rule sees this type"}
        rows.append({"type": kind, "visible": seen} | found | ({} if seen else blank))
    return pd.DataFrame(rows, dtype=object)


def printed_mix(counts: pd.DataFrame) -> pd.DataFrame:
    """Say what the printed counts settle about the types of fault.

    Parameters
    ----------
    counts : DataFrame
        As `tjlib.measure.organic.printed` gives it.

    Returns
    -------
    DataFrame
        As `mix`, for premature_stop; and for the other visible types too if
        it is all there is.
    """
    k = counts.set_index("metric")["k"]
    stops, n = int(k["premature_stop"]), int(k["flagged_or_wrong_outcome"])
    found = {"premature_stop": stops}
    if stops == n:
        found = {kind: 0 for kind in FAULT_TYPES if kind not in INVISIBLE} | found
    return pd.DataFrame([{"type": kind, "visible": True} | exact_share(each, n)
                         for kind, each in found.items()], dtype=object)
