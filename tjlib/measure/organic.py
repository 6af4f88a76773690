"""What a model does when it drives the agent: counts over its episodes.

Decision: every count carries the name the published table has for it, so that
one made here can stand beside one printed there. Refusal: a list of tools
that is not the oracle's is a departure and never by itself a fault; whether
an episode is faulty is its label's to say (`tjlib.measure.endings`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from tjlib.measure.attribution import exact_share
from tjlib.measure.endings import UNTYPED, ending, stuck
from tjlib.trace import FAULT_TYPES, Label, Trajectory

__all__ = [
    "ANSWERS", "CANONICAL", "COUNTS", "answers", "beside", "count", "habits", "off_script",
    "printed", "script_flags", "tools",
]

#: The oracle's six calls: five are always the same, one depends on what the desk found.
CANONICAL = tuple(
    ("get_customer", "lookup_order", "get_policy", "check_eligibility", act, "reply")
    for act in ("issue_refund", "escalate"))

#: Published metric -> (what it counts, the metric that holds its denominator; "" for a plain sum).
COUNTS = {
    "episodes": ("episodes", ""),
    "flagged_or_wrong_outcome": ("flagged by a rule or wrong outcome", "episodes"),
    "wrong_outcome": ("wrong outcome (loud)", "episodes"),
    "silent": ("flagged, outcome right (silent)", "episodes"),
    "premature_stop": ("first broken rule says premature_stop", "episodes"),
    "already_refunded_failed": ("faulty, case already_refunded", "already_refunded_n"),
    "wrong_customer_failed": ("faulty, case wrong_customer", "wrong_customer_n"),
    "episodes_with_check_eligibility": ("eligibility asked", "episodes"),
    "empty_final_answer": ("no reply at the end", "episodes"),
    "reply_identical_to_oracle": ("reply as the oracle's", "episodes"),
    "escalate_calls": ("escalate calls, all episodes", ""),
    "failed_tool_calls": ("calls the desk refused, all episodes", ""),
    "max_steps": ("steps in the longest episode", ""),
}

#: Count that is not printed -> (what it counts, the metric of `COUNTS` to read it with).
ANSWERS = {
    "eligibility_answered": ("eligibility answered", "episodes_with_check_eligibility"),
    "calls": ("calls, all episodes", "failed_tool_calls"),
    "stuck": ("steps used up, no reply", "empty_final_answer"),
}


def tools(trajectory: Trajectory) -> tuple[str, ...]:
    """Return the names of the tools called, in order.

    Examples
    --------
    >>> from tjlib.trace import Call, Step
    >>> tools(Trajectory("t-1", "", (Step("", (Call("escalate"), Call("reply"))),), ""))
    ('escalate', 'reply')
    """
    return tuple(call.tool for step in trajectory.steps for call in step.calls)


def _answered(trajectory: Trajectory) -> tuple[str, ...]:
    return tuple(call.tool for step in trajectory.steps
                 for call, seen in zip(step.calls, step.observations, strict=False) if seen.ok)


def off_script(trajectory: Trajectory) -> bool:
    """Flag a trajectory whose tools are not exactly the oracle's six calls.

    Either of the two lists of `CANONICAL` will do, whichever the case called
    for: like a judge, the rule knows the trajectory and not the case.
    """
    return tools(trajectory) not in CANONICAL


def _row(metric: str, k: int | None, n: int | None, why: str = "") -> dict:
    return {"metric": metric, "k": k, "n": n, "why": why}


def count(
    trajectories: Sequence[Trajectory], labels: Sequence[Label],
    replies: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Count episodes the way section 8 and appendix G of the paper do.

    Parameters
    ----------
    trajectories, labels : sequence
        Aligned, one pair an episode.
    replies : mapping of goal -> str, optional
        The oracle's reply to each case, where it is known.

    Returns
    -------
    DataFrame
        One row per metric of `COUNTS`: metric, k, n (episodes it is out of,
        None for a plain sum), why (where k is None: "undefined: ...").
    """
    came_to = [ending(label) for label in labels]
    called = [tools(trajectory) for trajectory in trajectories]
    total, known = len(labels), replies or {}
    bad = [end != "no fault seen" for end in came_to]
    rows = [
        _row("episodes", total, None), _row("flagged_or_wrong_outcome", sum(bad), total),
        _row("wrong_outcome", came_to.count("loud"), total),
        _row("silent", came_to.count("silent"), total),
        _row("premature_stop", sum(x.failure_type == "premature_stop" for x in labels), total)]
    for stratum in ("already_refunded", "wrong_customer"):
        inside = [is_bad for is_bad, x in zip(bad, labels, strict=True) if x.stratum == stratum]
        rows.append(_row(f"{stratum}_failed", sum(inside), len(inside)))
    rows += [
        _row("episodes_with_check_eligibility", sum("check_eligibility" in x for x in called),
             total),
        _row("empty_final_answer", sum(not t.final_answer.strip() for t in trajectories), total)]
    same = [t.final_answer == known[t.goal] for t in trajectories if t.goal in known]
    rows.append(_row("reply_identical_to_oracle", sum(same), len(same)) if same else _row(
        "reply_identical_to_oracle", None, None,
        "undefined: the oracle's replies to these cases are not known here"))
    seen = [o.ok for t in trajectories for step in t.steps for o in step.observations]
    return pd.DataFrame([
        *rows, _row("escalate_calls", sum(x.count("escalate") for x in called), None),
        _row("failed_tool_calls", seen.count(False), None),
        _row("max_steps", max((len(t.steps) for t in trajectories), default=0), None)],
        dtype=object)


def answers(trajectories: Sequence[Trajectory], limit: int) -> pd.DataFrame:
    """Count what came back from the desk, as `count` does.

    Parameters
    ----------
    trajectories : sequence
    limit : int
        How many steps the agent was allowed.

    Returns
    -------
    DataFrame
        One row per metric of `ANSWERS`: metric, k, n, why.
    """
    total = len(trajectories)
    got = sum("check_eligibility" in _answered(t) for t in trajectories)
    return pd.DataFrame([
        _row("eligibility_answered", got, total),
        _row("calls", sum(len(tools(t)) for t in trajectories), None),
        _row("stuck", sum(stuck(t, limit) for t in trajectories), total)], dtype=object)


def printed(numbers: pd.DataFrame) -> pd.DataFrame:
    """Take the printed counts out of the published table, in the shape of `count`.

    Parameters
    ----------
    numbers : DataFrame
        The table trajectory_judge_numbers.

    Returns
    -------
    DataFrame
    """
    value = numbers[numbers["table"] == "organic"].set_index("metric")["published"].astype(int)
    return pd.DataFrame([
        _row(metric, int(value[metric]), int(value[of]) if of else None)
        for metric, (_, of) in COUNTS.items()], dtype=object)


def beside(printed: pd.DataFrame, counted: pd.DataFrame) -> pd.DataFrame:
    """Put recounted figures beside the printed ones.

    Parameters
    ----------
    printed, counted : DataFrame
        As `printed` and `count` give them.

    Returns
    -------
    DataFrame
        metric, printed, counted, agrees ("agrees", "differs", or why there
        is nothing to compare).
    """
    found = counted.set_index("metric")
    return pd.DataFrame([{
        "metric": row.metric, "printed": row.k, "counted": found.loc[row.metric, "k"],
        "agrees": found.loc[row.metric, "why"] or (
            "agrees" if (row.k, row.n) == tuple(found.loc[row.metric, ["k", "n"]]) else "differs"),
    } for row in printed.itertuples()], dtype=object)


def script_flags(trajectories: Sequence[Trajectory], labels: Sequence[Label]) -> pd.DataFrame:
    """Count what the canonical-sequence rule flags.

    Parameters
    ----------
    trajectories, labels : sequence
        Aligned.

    Returns
    -------
    DataFrame
        One row for each group there is - "no fault" (label not faulty,
        outcome right), "faulty", then each type: group, value (share
        flagged), lo, hi (exact 95 %), k, n, how, why.
    """
    groups = {name: [] for name in ("no fault", "faulty", *FAULT_TYPES, UNTYPED)}
    for trajectory, label in zip(trajectories, labels, strict=True):
        unseen = ending(label) == "no fault seen"
        for name in ["no fault"] if unseen else ["faulty", label.failure_type or UNTYPED]:
            groups[name].append(off_script(trajectory))
    return pd.DataFrame([
        {"group": name} | exact_share(sum(flags), len(flags))
        for name, flags in groups.items() if flags], dtype=object)


def habits(trajectories: Sequence[Trajectory], labels: Sequence[Label]) -> pd.DataFrame:
    """Count two habits by stratum: handing on, and asking whether a refund is due.

    Parameters
    ----------
    trajectories, labels : sequence
        Aligned.

    Returns
    -------
    DataFrame
        One row per stratum, then "all": stratum, episodes, asked (episodes
        that called check_eligibility), answered (to which the desk gave one),
        tried (that called issue_refund), unasked (that did so with no
        check_eligibility before), paid (whose refund the desk made), handed_on
        (that called escalate), escalates (calls), scripts (distinct lists).
    """
    rows = pd.DataFrame({"stratum": [x.stratum or "unknown" for x in labels],
                         "called": [tools(t) for t in trajectories],
                         "got": [_answered(t) for t in trajectories]})
    parts = [(name, part["called"], part["got"])
             for name, part in [*rows.groupby("stratum", sort=False), ("all", rows)]]
    return pd.DataFrame([{
        "stratum": name, "episodes": len(called),
        "asked": sum("check_eligibility" in x for x in called),
        "answered": sum("check_eligibility" in x for x in got),
        "tried": sum("issue_refund" in x for x in called),
        "unasked": sum("issue_refund" in x and "check_eligibility" not in
                         x[:x.index("issue_refund")] for x in called),
        "paid": sum("issue_refund" in x for x in got),
        "handed_on": sum("escalate" in x for x in called),
        "escalates": sum(x.count("escalate") for x in called),
        "scripts": len(set(called))} for name, called, got in parts])
