"""A few rows written by hand, and which of them each score counts.

Decision: scores are worked out here in sets of row numbers, so that a reader
can point at the rows; `tjlib.measure.verdicts` has them in weighted sums, and
tests hold the two to each other. Refusal: a row that cannot be read stops
with its number, and none is mended or left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from tjlib.measure.resample import replicate_weights
from tjlib.measure.table import VerdictTable, unreadable
from tjlib.measure.verdicts import NO_STEP, WHY_UNDEFINED, columns, ratios
from tjlib.trace import FAULT_TYPES, STATUSES, InputError, Label, Verdict

__all__ = ["counted", "parse", "replicates", "typed"]

_FORM = ("write it as TYPE silent|loud STEP or clean, then |, then faulty TYPE STEP CONFIDENCE, "
         "clean CONFIDENCE or a status; - where there is none")
_FAILED = tuple(status for status in STATUSES if status != "ok")


def _number(word: str, kind: Callable, what: str):
    if word == "-":
        return None
    try:
        return kind(word)
    except ValueError:
        raise InputError(f"{what} is a number, not {word!r}") from None


def _kind(word: str) -> str | None:
    if word != "-" and word not in FAULT_TYPES:
        raise InputError(f"unknown failure type {word!r}; use one of {', '.join(FAULT_TYPES)}")
    return None if word == "-" else word


def _label(name: str, words: list[str]) -> Label:
    if words == ["clean"]:
        return Label(name, False, outcome_correct=True)
    if len(words) != 3:
        raise InputError(f"what is true takes 1 or 3 words, not {len(words)}")
    kind, survival, step = words
    if survival not in ("silent", "loud"):
        raise InputError(f"a fault is silent or loud, not {survival!r}")
    return Label(name, True, _number(step, int, "the step"), _kind(kind), survival == "silent")


def _verdict(name: str, judge: str, words: list[str]) -> Verdict:
    if len(words) == 1 and words[0] in _FAILED:
        return Verdict(name, judge, status=words[0])
    if len(words) == 2 and words[0] == "clean":
        return Verdict(name, judge, False, confidence=_number(words[1], float, "the confidence"))
    if len(words) == 4 and words[0] == "faulty":
        return Verdict(name, judge, True, _number(words[2], int, "the step"), _kind(words[1]),
                       _number(words[3], float, "the confidence"))
    raise InputError(f"cannot read the verdict {' '.join(words)!r}")


def parse(rows: Sequence[str], judge: str = "judge") -> tuple[list[Label], list[Verdict]]:
    """Read rows such as ``wrong_tool silent 2 | faulty wrong_tool 2 0.9``.

    Parameters
    ----------
    rows : sequence of str
        What is true (``clean``, or type, survival and 0-based step), a bar,
        and what the judge said (``clean`` and its confidence; ``faulty`` with
        type, step and confidence; or a status such as ``unparsed``). A dash
        stands for nothing.
    judge : str
        The judge's name.

    Returns
    -------
    labels, verdicts : list
        Aligned; trajectories are named "1", "2", ...

    Raises
    ------
    InputError
        One line naming the row.

    Examples
    --------
    >>> labels, verdicts = parse(["clean | clean 0.9", "wrong_tool silent 2 | faulty - - 0.7"])
    >>> labels[1].failure_type, verdicts[1].faulty, verdicts[1].confidence
    ('wrong_tool', True, 0.7)
    """
    labels, verdicts = [], []
    for number, text in enumerate(rows, start=1):
        try:
            if text.count("|") != 1:
                raise InputError("one | stands between what is true and what the judge said")
            truth, said = (part.split() for part in text.split("|"))
            labels.append(_label(str(number), truth))
            verdicts.append(_verdict(str(number), judge, said))
        except ValueError as error:  # ours, or a record's own refusal
            raise InputError(f"row {number} ({text!r}): {error}; {_FORM}") from None
    if not labels:
        raise InputError(f"no rows; {_FORM}")
    return labels, verdicts


def counted(labels: Sequence[Label], verdicts: Sequence[Verdict]) -> pd.DataFrame:
    """Say which rows each score of one judge counts, above and below the line.

    Parameters
    ----------
    labels, verdicts : sequence
        Aligned, one verdict for each label; rows are numbered from 1.

    Returns
    -------
    DataFrame
        One row per metric: metric, top and bottom (tuples of row numbers), k
        and n (the fraction: their sizes, save for f1, where a hit counts
        twice), value (None where n is 0) and why.

    Examples
    --------
    >>> rows = ["clean | faulty - - 0.6", "wrong_tool silent 2 | faulty wrong_tool 2 0.9"]
    >>> counted(*parse(rows)).set_index("metric").loc["precision", ["top", "bottom"]].tolist()
    [(2,), (1, 2)]
    """
    pairs = list(enumerate(zip(labels, verdicts, strict=True), start=1))
    asked = [(number, pair) for number, pair in pairs if pair[1].status != "not_applicable"]

    def rows(holds: Callable[[Label, Verdict], bool]) -> set[int]:
        return {number for number, (label, verdict) in asked if holds(label, verdict)}

    every, faulty = rows(lambda x, v: True), rows(lambda x, v: x.faulty)
    flagged = rows(lambda x, v: v.faulty)
    silent = rows(lambda x, v: x.faulty and x.outcome_correct is True)
    loud = rows(lambda x, v: x.faulty and x.outcome_correct is False)
    stepped = rows(lambda x, v: x.failure_step is not None)
    placed = flagged & stepped & rows(lambda x, v: v.failure_step is not None)
    exact = placed & rows(lambda x, v: v.failure_step == x.failure_step)
    near = {i for i in placed
            if abs(verdicts[i - 1].failure_step - labels[i - 1].failure_step) <= 1}
    sets = {
        "coverage": (rows(lambda x, v: v.status == "ok"), {number for number, _ in pairs}),
        "precision": (flagged & faulty, flagged),
        "recall": (flagged & faulty, faulty),
        "f1": (flagged & faulty, flagged | faulty if faulty else set()),
        "silent_recall": (flagged & silent, silent),
        "loud_recall": (flagged & loud, loud),
        "false_alarm_rate": (flagged - faulty, every - faulty),
        "step_exact": (exact, placed),
        "step_within_one": (near, placed),
        "step_exact_over_detected_faults": (exact, flagged & stepped),
        "step_exact_over_all_faults": (exact, stepped),
    }
    out, unread = [], unreadable([v.status == "ok" for _, (_, v) in asked])
    stepless = stepped and all(v.failure_step is None for v in verdicts)
    for metric, (top, bottom) in sets.items():
        lacks = unread or (NO_STEP if stepless and metric.startswith("step_") else "")
        if lacks and metric != "coverage":
            top, bottom = set(), set()
        k, n = len(top), len(bottom)
        if metric == "f1" and bottom:
            k, n = 2 * k, len(flagged) + len(faulty)
        out.append({"metric": metric, "top": tuple(sorted(top)), "bottom": tuple(sorted(bottom)),
                    "k": k, "n": n, "value": k / n if n else None,
                    "why": "" if n else f"undefined: {lacks or WHY_UNDEFINED[metric]}"})
    return pd.DataFrame(out, dtype=object)


def typed(labels: Sequence[Label], verdicts: Sequence[Verdict]) -> pd.DataFrame:
    """Work out F1 type by type, as type macro-F1 averages it.

    Parameters
    ----------
    labels, verdicts : sequence
        As for `counted`.

    Returns
    -------
    DataFrame
        One row per type that a label or a flag on a typed fault names: type,
        is_it and called (tuples of row numbers), both, and f1 in [0, 1],
        higher is better; None where no label holds the type, which then stays
        out of the mean (paper section 5).

    Examples
    --------
    >>> rows = ["wrong_tool silent 2 | faulty wrong_tool 2 0.9", "wrong_tool silent 2 | clean 0.9"]
    >>> round(typed(*parse(rows)).loc[0, "f1"], 3)
    0.667
    """
    pairs = [(number, x, v) for number, (x, v) in
             enumerate(zip(labels, verdicts, strict=True), start=1) if v.status != "not_applicable"]
    out, unread = [], unreadable([v.status == "ok" for *_, v in pairs])
    for kind in FAULT_TYPES:
        faults = [each for each in pairs if each[1].failure_type and not unread]
        is_it = {number for number, x, _ in faults if x.failure_type == kind}
        called = {number for number, _, v in faults if v.failure_type == kind}
        if is_it or called:
            f1 = 2 * len(is_it & called) / (len(is_it) + len(called)) if is_it else None
            out.append({"type": kind, "is_it": tuple(sorted(is_it)),
                        "called": tuple(sorted(called)),
                        "both": tuple(sorted(is_it & called)), "f1": f1})
    return pd.DataFrame(out, columns=["type", "is_it", "called", "both", "f1"], dtype=object)


def replicates(
    t: VerdictTable, judge: str, metric: str, rng: np.random.Generator, draws: int
) -> tuple[np.ndarray, np.ndarray]:
    """Resample single rows within design cells and score each resample.

    Parameters
    ----------
    t : VerdictTable
    judge, metric : str
        Any quality metric of `tjlib.measure.verdicts.metrics`; none of cost.
    rng : numpy.random.Generator
    draws : int

    Returns
    -------
    weights : (draws, n) int array
        How often each row was drawn.
    values : (draws,) float array
        The metric on each resample, NaN where undefined.

    Raises
    ------
    InputError
        For a judge that is not in the table or a metric that is not one of these.

    Examples
    --------
    >>> from tjlib.measure.table import table
    >>> t = table(*parse(["clean | clean 0.9", "clean | faulty - - 0.6"]))
    >>> weights, values = replicates(t, "judge", "false_alarm_rate", np.random.default_rng(0), 3)
    >>> (weights[:, 1] / 2 == values).all()
    np.True_
    """
    rows = np.ones(len(t.labels), int)
    weights = np.concatenate(list(replicate_weights(rows, t.cell, rng, draws)))
    found = ratios({name: weights @ column for name, column in columns(t, judge).items()})
    if metric not in found:
        raise InputError(f"no metric {metric!r} to resample; there are: {', '.join(found)}")
    top, bottom = found[metric]
    values = np.divide(top, bottom, out=np.full(draws, np.nan), where=bottom > 0)
    return weights.astype(int), values
