"""Every method on the runs of a log or of a stored set, and how well each ranks the failures.

Decision: a page gets the same table whether it was given a log or the numbers kept of one, with
RUPA calibrated on the other half of the tasks among the methods. Refusal: no method is left out
because it does badly or has no score, and no outcome is seen before the ranking.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from tjlib import features, scoring
from tjlib.formats import registry
from tjlib.material import STORED, readable
from tjlib.uncertainty.graph import build
from tjlib.uncertainty.signals import local
from tjlib.uncertainty.similarity import similarity

__all__ = ["Scored", "load", "ranked"]


class Scored(NamedTuple):
    """Scores of a log's runs, what a step's uncertainty was read off, and where they are from."""

    scores: pd.DataFrame
    source: str
    origin: str


def load(traces: str, embedder: str = "jaccard", signal: str = "auto") -> Scored:
    """Score every run by every method.

    Parameters
    ----------
    traces : str
        `material.STORED`, for the airline log's, a name of `features.SETS`, or a log's path.
    embedder : str
        Name that `similarity.similarity` takes; stored numbers hold some only.
    signal : {"auto", "nll", "entropy"}
        As `material.load`: mean negative log-probability or entropy of a step's tokens; "auto" is
        nll where there is any.

    Returns
    -------
    Scored

    Raises
    ------
    InputError
        If something is not there.
    """
    name = "tau_airline" if traces == STORED else traces
    if name in features.SETS:
        tables, measure = features.read(name), "nll" if signal == "auto" else signal
        graphs, own = features.graphs(tables, embedder), features.local(tables, measure)
        found = features.scores(tables, embedder, measure)
        origin = f"{features.SETS[name]}, in data/features"
    else:
        log = registry.load(traces)
        readable(traces, log.runs, signal)
        by = similarity(embedder)
        graphs = [build(run.trajectory, similarity=by) for run in log.runs]
        own = [local(run.trajectory) for run in log.runs]
        found = scoring.scores(log.runs, similarity=by)
        alone = found["task_id"].eq("")
        found["task_id"] = found["task_id"].where(~alone, found["trajectory_id"])
        origin = f"{traces} ({log.format}, runs: {len(log.runs)})"
    sources = {u.source for u in own if u.u}
    source = next((s for s in ("logprob", "surrogate") if s in sources), "constant")
    return Scored(scoring.calibrated(found, graphs, own), source, origin)


def ranked(
    scores: pd.DataFrame, pairs: Sequence[tuple[str, str]], rng: np.random.Generator, draws: int,
) -> pd.DataFrame:
    """Measure how well each method ranks, or say of each why that is undefined.

    Parameters
    ----------
    scores : DataFrame
        As `load` gives.
    pairs : sequence of (method, method)
        Differences to report.
    rng : numpy.random.Generator
    draws : int

    Returns
    -------
    DataFrame
        As `scoring.evaluate`, controls last; without any outcome every value is missing.
        A method that scores fewer than half of the runs is not compared, for
        the others would be compared on its few runs; ``why`` says how many.
    """
    if scores["success"].notna().any():
        share = scores.groupby("method")["value"].agg(["count", "size"])
        few = share[(share["count"] > 0) & (share["count"] < share["size"] / 2)]
        scores = scores.assign(value=scores["value"].mask(scores["method"].isin(few.index), None))
        found = scoring.evaluate(scores, rng, pairs=pairs, draws=draws)
        for name, row in few.iterrows():
            own = [name in label.split(" - ") for label in found["method"]]
            found.loc[own, "why"] = (f"not compared: {name} scores {row['count']} of "
                                     f"{row['size']} runs")
    else:
        names = [*scores["method"].unique(), *(" - ".join(pair) for pair in pairs)]
        metrics = ("auroc", "average_precision", "best_f1", "prr", "auroc|same_length",
                   "auroc|same_task", "rank_correlation|length")
        found = pd.DataFrame([
            {"method": name, "metric": metric, "value": None, "lo": None, "hi": None,
             "chance": None, "n": 0, "n_failed": 0, "pairs": 0,
             "why": "undefined: no run of the log has an outcome"}
            for name in names for metric in metrics])
    own = [name for name in found["method"].unique() if name.startswith("rupa")]
    return found.sort_values("method", key=lambda names: ~names.isin(own), kind="stable",
                             ignore_index=True)
