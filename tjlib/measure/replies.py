"""What a judge of replies makes of sentences added to clean replies.

Decision: a sentence is the unit, not a pair of sentence and run, because the
same words judged on many runs are one piece of evidence; a harmful one counts
as caught only if it is flagged on every run it was added to, a harmless one
as a false alarm if it is flagged on any. Refusal: no judge is chosen here, no
threshold is set, and a run whose observations lack what a sentence restates
is not one that the sentence is added to.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence

import msgspec
import pandas as pd

from tjlib.measure.attribution import exact_share
from tjlib.trace import Trajectory, Verdict

__all__ = ["appended", "by_kind", "flagged_share", "sentence_flags"]

_FIELD = re.compile(r"\{(\w+)\}")


def appended(trajectory: Trajectory, sentence: str) -> Trajectory | None:
    """Add a sentence to the reply of a run, its placeholders filled from the observations.

    Parameters
    ----------
    trajectory : Trajectory
        Its last call of ``reply`` and its final answer are both extended.
    sentence : str
        ``{key}`` stands for what the last observation with that key holds;
        an amount is written with two decimals.

    Returns
    -------
    Trajectory or None
        None if the observations lack a key that the sentence needs.

    Examples
    --------
    >>> appended(Trajectory("t-1", "", (), "Done."), "Bye.").final_answer
    'Done. Bye.'
    >>> appended(Trajectory("t-1", "", (), "Done."), "Bye, {name}.") is None
    True
    """
    seen: dict = {}
    for step in trajectory.steps:
        for observation in step.observations:
            seen |= observation.data if observation.ok else {}
    if not set(_FIELD.findall(sentence)) <= seen.keys():
        return None
    shown = {key: f"{v:.2f}" if isinstance(v, float) else f"{v}" for key, v in seen.items()}
    sentence = _FIELD.sub(lambda match: shown[match[1]], sentence)
    steps = list(trajectory.steps)
    for index in reversed(range(len(steps))):
        calls = steps[index].calls
        if any(call.tool == "reply" for call in calls):
            edited = tuple(
                msgspec.structs.replace(call, args={"text": f"{call.args['text']} {sentence}"})
                if call.tool == "reply" else call for call in calls
            )
            steps[index] = msgspec.structs.replace(steps[index], calls=edited)
            break
    answer = f"{trajectory.final_answer} {sentence}"
    return msgspec.structs.replace(trajectory, steps=tuple(steps), final_answer=answer)


def sentence_flags(
    judge: Callable[[Trajectory], Verdict], runs: Sequence[Trajectory], sentences: pd.DataFrame
) -> pd.DataFrame:
    """Judge every run with every sentence added.

    Parameters
    ----------
    judge : callable
        From a trajectory to its verdict.
    runs : sequence of Trajectory
        Clean ones, other than those the judge was set on.
    sentences : DataFrame
        Columns id, kind, harmful, split, text, as `tjlib.store.sentences` gives.

    Returns
    -------
    DataFrame
        One row per sentence: its columns, runs (how many it was added to),
        flagged (on how many of these the reply was flagged) and why (the
        rationale on the first run flagged).
    """
    out = []
    for row in sentences.to_dict("records"):
        hosts = [run for run in (appended(run, row["text"]) for run in runs) if run]
        verdicts = [judge(run) for run in hosts]
        why = next((v.rationale for v in verdicts if v.faulty), "")
        out.append(row | {"runs": len(hosts), "flagged": sum(bool(v.faulty) for v in verdicts),
                          "why": why})
    return pd.DataFrame(out)


def by_kind(flags: pd.DataFrame, level: float = 0.95) -> pd.DataFrame:
    """Count what `sentence_flags` found, by split and kind, and over all kinds.

    Parameters
    ----------
    flags : DataFrame
    level : float
        Of the exact binomial intervals.

    Returns
    -------
    DataFrame
        split, what ("recall" of harmful sentences, higher is better;
        "false alarms" on harmless ones, lower is better), kind ("all" last),
        value, lo, hi, k, n, how, why. A sentence added to no run is left out.

    Examples
    --------
    >>> flags = pd.DataFrame({"kind": ["legal"] * 2, "harmful": [1, 1], "split": ["set"] * 2,
    ...                       "runs": [6, 6], "flagged": [6, 5]})
    >>> by_kind(flags)[["kind", "k", "n"]].values.tolist()
    [['legal', 1, 2], ['all', 1, 2]]
    """
    flags, out = flags[flags["runs"] > 0], []
    for split in flags["split"].unique():
        for harmful, what in ((1, "recall"), (0, "false alarms")):
            rows = flags[(flags["split"] == split) & (flags["harmful"] == harmful)]
            hit = rows["flagged"] == rows["runs"] if harmful else rows["flagged"] > 0
            groups = [(kind, rows["kind"] == kind) for kind in rows["kind"].unique()]
            for kind, mask in [*groups, ("all", rows["kind"].notna())] if len(rows) else ():
                out.append({"split": split, "what": what, "kind": kind}
                           | exact_share(int(hit[mask].sum()), int(mask.sum()), level))
    return pd.DataFrame(out, dtype=object)


def flagged_share(
    judge: Callable[[Trajectory], Verdict], runs: Sequence[Trajectory], level: float = 0.95
) -> dict:
    """Count the runs a judge flags, and the time it takes.

    Parameters
    ----------
    judge : callable
    runs : sequence of Trajectory
    level : float
        Of the exact binomial interval.

    Returns
    -------
    dict
        value (share flagged, in [0, 1]), lo, hi, k, n, how, why, and
        seconds (a trajectory, wall clock; None without one).

    Examples
    --------
    >>> runs = [Trajectory("t-1", "", (), "Done.")]
    >>> found = flagged_share(lambda run: Verdict(run.trajectory_id, "j", False), runs)
    >>> found["k"], found["n"]
    (0, 1)
    """
    started = time.perf_counter()
    flagged = sum(bool(judge(run).faulty) for run in runs)
    seconds = time.perf_counter() - started
    return exact_share(flagged, len(runs), level, "undefined: no such run") | {
        "seconds": seconds / len(runs) if runs else None}
