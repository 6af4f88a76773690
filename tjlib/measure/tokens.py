"""Whether a probability ranks faulty trajectories above clean ones, whatever the label says.

Decision: what a judge said and how sure it was make one number, the
probability of ``faulty``, which is then ranked and not cut, so a judge that
never flags can still be seen to know something. Refusal: a failed reply, or one
without the probability, is left out and counted; it is not put at one half.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from tjlib.measure.resample import bounds_or_why, replicate_weights
from tjlib.measure.table import table
from tjlib.measure.tally import METRICS, tally
from tjlib.trace import Label, Verdict

__all__ = ["SOURCES", "faulty_probability", "ranking", "spread"]

#: Where a verdict's confidence comes from, and the field that holds it.
SOURCES = {"stated": "confidence", "token": "token_confidence"}
_QUANTILES = {"lo": 0.05, "q1": 0.25, "median": 0.5, "q3": 0.75, "hi": 0.95}


def faulty_probability(verdict: Verdict | None, source: str) -> float | None:
    """Give the probability of ``faulty`` that a verdict amounts to.

    Parameters
    ----------
    verdict : Verdict or None
    source : {"stated", "token"}
        The confidence it states, or the probability of its own ``faulty`` token.

    Returns
    -------
    float or None
        In [0, 1], higher is more surely faulty; None if there is none.

    Examples
    --------
    >>> faulty_probability(Verdict("t", "j", False, confidence=0.75), "stated")
    0.25
    """
    if verdict is None or verdict.status != "ok":
        return None
    sure = getattr(verdict, SOURCES[source])
    return None if sure is None else sure if verdict.faulty else 1 - sure


def _roles(labels: Sequence[Label]) -> np.ndarray:
    return np.array(["clean" if not x.faulty else "silent" if x.outcome_correct else "loud"
                     for x in labels])


def _scores(labels: Sequence[Label], verdicts: Sequence[Verdict], judge: str, source: str):
    said = {v.trajectory_id: v for v in verdicts if v.judge == judge}
    found = [faulty_probability(said.get(x.trajectory_id), source) for x in labels]
    return np.array([np.nan if p is None else p for p in found])


def ranking(
    labels: Sequence[Label], verdicts: Sequence[Verdict], rng: np.random.Generator, *,
    draws: int = 2_000, level: float = 0.95,
) -> pd.DataFrame:
    """Rank by stated and by token probability, with intervals by whole trajectories.

    Parameters
    ----------
    labels : sequence of Label
    verdicts : sequence of Verdict
    rng : numpy.random.Generator
    draws : int
        Bootstrap replicates, within design cells.
    level : float

    Returns
    -------
    DataFrame
        One row per judge, source and faults ("all", "silent", "loud", each
        against the clean): value (AUROC, higher is better, .5 is chance), lo,
        hi, n_faulty, n_clean and why.
    """
    t, roles, rows = table(labels, verdicts), _roles(labels), []
    for judge in t.judges:
        for source in SOURCES:
            score = _scores(labels, verdicts, judge, source)
            for faults in ("all", "silent", "loud"):
                keep = ~np.isnan(score) & ((roles == faults) | (roles == "clean")
                                           | (faults == "all"))
                faulty = roles[keep] != "clean"
                row = {"judge": judge, "source": source, "faults": faults, "value": None,
                       "lo": None, "hi": None, "n_faulty": int(faulty.sum()),
                       "n_clean": int((~faulty).sum()), "why": ""}
                rows.append(row)
                if not (row["n_faulty"] and row["n_clean"]):
                    row["why"] = f"undefined: no {source} probability on both kinds"
                    continue
                auroc = METRICS["auroc"]
                row["value"] = float(auroc(tally(faulty, score[keep]))[0])
                drawn = np.concatenate([
                    auroc(tally(faulty, score[keep], weights=w)) for w in replicate_weights(
                        np.ones(keep.sum(), int), t.cell[keep], rng, draws)])
                row["lo"], row["hi"], row["why"] = bounds_or_why(drawn, level)
    return pd.DataFrame(rows, dtype=object)


def spread(
    labels: Sequence[Label], verdicts: Sequence[Verdict], source: str = "token"
) -> pd.DataFrame:
    """Summarise the probabilities of ``faulty`` by judge and by what is true.

    Parameters
    ----------
    labels : sequence of Label
    verdicts : sequence of Verdict
    source : {"stated", "token"}

    Returns
    -------
    DataFrame
        Columns judge, role (clean, silent, loud), n, and the quantiles lo
        (5 %), q1, median, q3, hi (95 %); no row where there is no probability.
    """
    roles, rows = _roles(labels), []
    for judge in dict.fromkeys(v.judge for v in verdicts):
        score = _scores(labels, verdicts, judge, source)
        for role in ("clean", "silent", "loud"):
            known = score[(roles == role) & ~np.isnan(score)]
            if len(known):
                rows.append({"judge": judge, "role": role, "n": len(known)} | {
                    name: float(np.quantile(known, q)) for name, q in _QUANTILES.items()})
    return pd.DataFrame(rows, columns=["judge", "role", "n", *_QUANTILES])
