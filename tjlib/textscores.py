"""What methods that read a run's text make of it, kept beside its numbers.

Decision: every method's score of every run, at the paper's parameters, so that a page without the
text still has all of them and can compute RUPA's variants anew. Refusal: no reliability is
fitted and no outcome is seen here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from tjlib import scoring
from tjlib.extract import SCORES, Tables
from tjlib.features import local
from tjlib.formats.imported import Imported
from tjlib.uncertainty.similarity import similarity

__all__ = ["MEASURES", "evidence", "scored"]

MEASURES = ("nll", "entropy")


def _known(value: object) -> float | None:
    return None if pd.isna(value) else float(value)


def evidence(tables: Tables, measure: str, part: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give what the surrogate read of each run, as fields of `Evidence`."""
    own = local(tables, measure, part)
    steps = dict(iter(tables.steps.groupby("trajectory_id", sort=False)))
    kinds = ("message", "call") if part == "all" else (part,)
    for who, u in zip(tables.episodes["trajectory_id"], own, strict=True):
        if who not in steps:  # a run without a step
            continue
        rows = steps[who]
        parts = [tuple(_known(row[f"{k}_{measure}"]) for k in kinds) for _, row in rows.iterrows()]
        yield who, {
            "local": u, "parts": [(*both, None)[:2] for both in parts],
            "tokens": rows[[f"{k}_tokens" for k in kinds]].fillna(0).sum(axis=1).astype(int)
            .tolist(),
            "content": [_known(value) for value in rows["content_nll"]]}


def scored(
    runs: Sequence[Imported], tables: Tables, similarities: Sequence[str] = ("jaccard", "minilm"),
    part: str = "all",
) -> Tables:
    """Add every method's score of every run to tables of their numbers.

    Parameters
    ----------
    runs : sequence of Imported
        Those the tables were made of.
    tables : Tables
    similarities : sequence of str
        Names that `similarity.similarity` takes.
    part : {"all", "message", "call"}
        What of a step its own uncertainty is read off.

    Returns
    -------
    Tables
        With ``scores``: one row a run, similarity, measure of uncertainty
        (of each token: mean NLL or mean entropy under the surrogate, in nats)
        and method; a value that is missing has its reason in ``why``. A run
        that the surrogate did not read has one row a similarity and method,
        without ``u`` and ``part``: by its own log-probabilities, if any.
    """
    read = {*tables.steps.loc[tables.steps["dropped"].notna(), "trajectory_id"]}
    ours, others = ([run for run in runs if (run.trajectory.trajectory_id in read) is is_read]
                    for is_read in (True, False))
    found = []
    for measure in MEASURES if ours else ():
        given = dict(evidence(tables, measure, part))
        for name in similarities:
            table = scoring.scores(ours, given=given, similarity=similarity(name))
            found.append(table.assign(similarity=name, u=measure, part=part))
    for name in similarities if others else ():
        table = scoring.scores(others, similarity=similarity(name))
        found.append(table.assign(similarity=name, u=None, part=None))
    rows = pd.concat(found, ignore_index=True)[SCORES]
    rows["value"] = rows["value"].astype(float)
    return tables._replace(scores=rows.replace({"why": {"": np.nan}}))
