"""A reader's own log as the frames of a page: what is in it, its ranking, one run opened.

Decision: beside what a log gives stands what each number would need, so that
an empty cell is a fact about the log. Refusal: text of a log leaves as short
plain lines, with what was cut off counted.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from tjlib.formats.imported import Imported
from tjlib.formats.imported import shown as line
from tjlib.formats.registry import Log
from tjlib.runpage.opened import Row, kept
from tjlib.runpage.texts import cut, plain
from tjlib.trace import Verdict
from tjlib.uncertainty.layout import parts
from tjlib.uncertainty.propagate import Propagation
from tjlib.uncertainty.text import action_text, observation_text, signatures

__all__ = ["OUTCOMES", "boxes", "counted", "courses", "errors", "named", "needs", "said", "steps",
           "word"]

#: What a page calls an outcome.
OUTCOMES = {True: "succeeded", False: "failed", None: "not judged"}
#: Characters of a text in a table's cell and in a tooltip, of an id; points of a line.
_CELL, _TIP, _ID, _POINTS = 320, 90, 28, 300


def counted(log: Log) -> pd.DataFrame:
    """Count what was read of a log, and what was not: columns what and count, as text."""
    runs, steps = log.runs, [step for run in log.runs for step in run.trajectory.steps]
    lengths = sorted(len(run.trajectory.steps) for run in runs)
    rows = [
        ("runs", len(runs)), ("tasks", len({run.task_id for run in runs})),
        ("models named", len({run.model for run in runs} - {None})), ("steps", len(steps)),
        ("steps of a run, median", float(np.median(lengths))), ("of the longest", lengths[-1]),
        ("calls", sum(len(step.calls) for step in steps)),
        ("observations", sum(len(step.observations) for step in steps)),
        ("of them errors", sum(map(errors, runs))),
        ("runs that end without an answer", sum(not r.trajectory.final_answer for r in runs)),
        ("places that could not be read", len(log.unread)),
        ("files that hold no run", len(log.passed)),
        ("notes on what was read with a doubt", sum(len(run.notes) for run in runs))]
    return pd.DataFrame([(what, f"{n:,g}") for what, n in rows], columns=["what", "count"])


def errors(run: Imported) -> int:
    """Count the observations of a run that report an error."""
    return sum(not o.ok for step in run.trajectory.steps for o in step.observations)


def needs(runs: Sequence[Imported], verdicts: Sequence[Verdict] = ()) -> pd.DataFrame:
    """Say what each number needs, and what of that a log has.

    Parameters
    ----------
    runs : sequence of Imported
    verdicts : sequence of Verdict
        On these runs.

    Returns
    -------
    DataFrame
        Columns "to know", needs, "in this log" and "can be had" (yes or no).
    """
    steps = [step for run in runs for step in run.trajectory.steps]
    known = [run for run in runs if run.success is not None]
    failed = sum(not run.success for run in known)
    tasks: dict[str, set[bool]] = {}
    for run in known:
        tasks.setdefault(run.task_id, set()).add(bool(run.success))
    both = sum(len(found) == 2 for found in tasks.values())
    sure = sum(step.logprobs is not None for step in steps)
    placed = sum(bool(run.steps_failed) for run in runs)
    read = len({v.trajectory_id for v in verdicts if v.status == "ok"})
    rows = [
        ("what was called, what failed, how long it took", "the steps",
         f"{len(steps):,} steps", bool(steps)),
        ("which runs to open first", "the steps and their texts", f"{len(steps):,} steps",
         bool(steps)),
        ("how sure the agent was of its words", "log-probabilities of its tokens",
         f"{sure:,} of {len(steps):,} steps", bool(sure)),
        ("how often it succeeds", "an outcome for each run",
         f"{len(known):,} of {len(runs):,} runs", bool(known)),
        ("what the ranking is worth", "runs that failed and runs that did not",
         f"{failed:,} failed, {len(known) - failed:,} not", 0 < failed < len(known)),
        ("how sure that is", "several tasks", f"{len(tasks):,} tasks", len(tasks) > 1),
        ("whether it is more than which task is hard", "trials of one task that end differently",
         f"{both:,} of {len(tasks):,} tasks", bool(both)),
        ("at which step it went wrong", "somebody's labels of steps",
         f"{placed:,} of {len(runs):,} runs", bool(placed)),
        ("whether a good outcome was reached properly", "a judge who knows the procedure",
         f"verdicts on {read:,} of {len(runs):,} runs", bool(read))]
    return pd.DataFrame([(*row, "yes" if there else "no") for *row, there in rows],
                        columns=["to know", "needs", "in this log", "can be had"])


def named(rank: int, run: Imported) -> str:
    """Name a run by its place and id, short enough for an axis."""
    name = run.trajectory.trajectory_id
    return f"{rank}. {line(name, _ID)}{'...' * (len(name) > _ID)}"


def word(verdict: Verdict) -> str:
    """Say a verdict in a few words.

    Examples
    --------
    >>> word(Verdict("t", "j", True, 2, "wrong_tool", .9)), word(Verdict("t", "j", status="empty"))
    ('faulty at step 2, wrong_tool (.90)', 'no verdict: empty')
    """
    if verdict.status != "ok":
        return f"no verdict: {verdict.status}"
    where = "" if verdict.failure_step is None else f" at step {verdict.failure_step}"
    kind = f", {verdict.failure_type}" if verdict.failure_type else ""
    sure = "" if verdict.confidence is None else f" ({verdict.confidence:.2f})".replace("(0", "(")
    return f"faulty{where}{kind}{sure}" if verdict.faulty else f"clean{sure}"


def said(rows: Sequence[Row], judges: Sequence[str]) -> pd.DataFrame:
    """Lay out the ranking: a row a run, with a column for each judge."""
    out = []
    for rank, row in enumerate(rows, start=1):
        by = {verdict.judge: word(verdict) for verdict in row.verdicts}
        at = "-" if row.peak is None else f"{row.peak.risk:.2f} at step {row.peak.step}"
        out.append({
            "run": named(rank, row.run), "risk": f"undefined: {row.why}" if row.value is None
            else f"{row.value:.3f}", "highest": at, "outcome": OUTCOMES[row.run.success],
            "steps": len(row.risks), "errors": row.errors, "task": line(row.run.task_id, _ID),
            **{judge: by.get(judge, "not asked") for judge in judges}})
    columns = ["run", "risk", "highest", "outcome", "steps", "errors", "task", *judges]
    return pd.DataFrame(out, columns=columns)


def boxes(rows: Sequence[Row], most: int = 20) -> pd.DataFrame:
    """Cut each run into as many boxes as it has steps, or into ``most`` stretches.

    Returns
    -------
    DataFrame
        One row a box: run (its name), from, middle and box (where it stands,
        from 0), first and last step, step (the riskiest of them), R, its text,
        failed (errors that came back), end (whether it is the run's last box),
        and of the run score, outcome and errors.
    """
    out = []
    for rank, row in enumerate(rows, start=1):
        about = {"run": named(rank, row.run), "score": row.value,
                 "outcome": OUTCOMES[row.run.success], "errors": row.errors}
        n, taken = len(row.risks), row.run.trajectory.steps
        stretches = np.array_split(np.arange(n), min(n, most)) if n else []
        for box, stretch in enumerate(stretches):
            at, first, last = int(stretch[np.argmax(row.risks[stretch])]), stretch[0], stretch[-1]
            failed = sum(not o.ok for step in taken[first:last + 1] for o in step.observations)
            out.append({"from": box, "middle": box + 0.5, "box": box + 1, "first": int(first),
                        "last": int(last), "step": at, "R": round(float(row.risks[at]), 4),
                        "text": line(action_text(taken[at]), _TIP), "failed": failed,
                        "end": box == len(stretches) - 1, **about})
    return pd.DataFrame(out, columns=["run", "from", "middle", "box", "first", "last", "step", "R",
                                      "text", "failed", "end", "score", "outcome", "errors"])


def courses(row: Row) -> pd.DataFrame:
    """Give the line of one run's risk: step, R and who flags the step, at most 300 points."""
    n = len(row.risks)
    at = [int(s[np.argmax(row.risks[s])])
          for s in np.array_split(np.arange(n), min(n, _POINTS))] if n else []
    flagged: dict[int, list[str]] = {}
    for verdict in row.verdicts:
        if verdict.failure_step is not None and verdict.failure_step < n:
            flagged.setdefault(verdict.failure_step, []).append(verdict.judge)
    at = sorted({*at, *flagged})
    return pd.DataFrame({
        "step": at, "R": [round(float(row.risks[i]), 4) for i in at],
        "mark": ["highest" if i == row.peak.step else "" for i in at],
        "flagged": [", ".join(flagged.get(i, [])) for i in at]})


def _cell(*texts: str) -> str:
    text = " | ".join(filter(None, texts))
    found = cut(text, most=_CELL)
    left = f" [{found.left:,} more characters]" if found.left else ""
    return plain(" ".join(found.shown.split())) + left or "-"


def steps(row: Row, done: Propagation, most: int = 30) -> pd.DataFrame:
    """Lay the steps of one run out, of a long one the first, the last and around the riskiest.

    Parameters
    ----------
    row : Row
    done : Propagation
        Of the same run.
    most : int
        Steps, at least 6.

    Returns
    -------
    DataFrame
        Columns step, R, "most of it" (the largest part of R), says, calls,
        "came back", "user then"; a row of dots stands for the steps left out.
    """
    columns = ["step", "R", "most of it", "says", "calls", "came back", "user then"]
    out, before = [], -1
    chosen = kept(len(row.risks), row.peak.step, most, most // 6) if row.peak else []
    made = parts(done) if chosen else None
    for i in chosen:
        if i > before + 1:
            out.append((f"{before + 1} to {i - 1}", *["..."] * (len(columns) - 1)))
        step, before = row.run.trajectory.steps[i], i
        largest = made.iloc[i].idxmax() if made.iloc[i].max() > 0 else "-"
        back = [observation_text(o) if o.ok else f"failed: {observation_text(o)}"
                for o in step.observations]
        out.append((str(i), f"{row.risks[i]:.3f}", largest, _cell(step.thought),
                    _cell(*signatures(step)), _cell(*back), _cell(step.user or "")))
    return pd.DataFrame(out, columns=columns)
