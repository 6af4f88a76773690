"""Every stored set of public runs, scored by what needs no probabilities.

Decision: a set stands as it was collected, and once more without the runs that a flag says should
not count. Refusal: sets are never pooled, and the scores that have seen an outcome are named so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from tjlib import features, scoring

__all__ = ["CHEAP", "NAMES", "WITHOUT", "left_out", "measured", "stored"]

#: What `measured` compares: ours, its inputs without the graph, and what costs nothing.
CHEAP = ("rupa_structural", "flat", "n_steps", "repetition", "failing_share", "random")
#: Set -> a flag whose runs are left out once: a cost limit all but gives the outcome away, and a
#: run repeated is one run.
WITHOUT = {"swe_agent": "exit_cost", "tau2": "same_messages"}
#: What figures call a set.
NAMES = {
    "tau_airline": "tau-bench airline", "agentdojo": "AgentDojo", "tau2": "tau2",
    "tau2 without same_messages": "tau2, no repeats", "tau2_students": "tau2, students",
    "swe_agent": "SWE-agent", "swe_agent without exit_cost": "SWE-agent, not cut off",
    "nemo_gym": "NeMo Gym",
}


def left_out() -> str:
    """Say why the students' runs of tau2 stand beside no other set.

    Examples
    --------
    >>> left_out()
    'of its 110 runs 46 have no outcome, and 9 failed'
    """
    success = features.read("tau2_students").episodes["success"]
    return (f"of its {len(success)} runs {success.isna().sum()} have no outcome, "
            f"and {success.eq(False).sum()} failed")


def stored(similarity: str = "jaccard", measure: str = "nll") -> dict[str, pd.DataFrame]:
    """Take the scores of every stored set of others.

    Parameters
    ----------
    similarity, measure : str
        As `features.scores`; one that all sets hold.

    Returns
    -------
    dict of str to DataFrame
        By the names of `NAMES`, scores as `features.scores` gives.

    Examples
    --------
    >>> len(stored()) == len(NAMES)
    True
    """
    found = {}
    for name in features.SETS:
        if name == "testbed":
            continue
        tables = features.read(name)
        found[name] = features.scores(tables, similarity, measure)
        flags = tables.episodes["flag"].fillna("").str.contains(WITHOUT.get(name, "-"))
        if flags.any():
            flagged = tables.episodes.loc[flags, "trajectory_id"]
            found[f"{name} without {WITHOUT[name]}"] = found[name][
                ~found[name]["trajectory_id"].isin(flagged)]
    return found


def measured(
    sets: Mapping[str, pd.DataFrame], pairs: Sequence[tuple[str, str]], seed: int, draws: int,
) -> pd.DataFrame:
    """Measure the cheap methods on every set.

    Parameters
    ----------
    sets : mapping of str to DataFrame
        As `stored` gives.
    pairs : sequence of (method, method)
        Differences to report, of `CHEAP`.
    seed : int
        Of each set's resamples.
    draws : int

    Returns
    -------
    DataFrame
        The AUROCs of `scoring.evaluate`, with the columns set and models (how many). Of several
        models, the method ``model`` is the share of failures of a run's model: it has seen the
        outcomes, and tells how far a pooled ranking is one of models.
    """
    found = []
    for name, scores in sets.items():
        some = scores[scores["method"].isin(CHEAP)]
        if len(set(some["model"].dropna())) > 1:
            some = pd.concat([some, _models(some)], ignore_index=True)
        table = scoring.evaluate(some, np.random.default_rng(seed), pairs=pairs, draws=draws,
                                 metrics=["auroc"])
        found.append(table.assign(set=name, models=some["model"].nunique()))
    return pd.concat(found, ignore_index=True)


def _models(scores: pd.DataFrame) -> pd.DataFrame:
    """Score each run by the share of its model's runs that failed."""
    runs = scores.drop_duplicates("trajectory_id")
    failed = 1.0 - runs["success"].astype(float)
    return runs.assign(method="model", why="",
                       value=failed.groupby(runs["model"].fillna("")).transform("mean"))
