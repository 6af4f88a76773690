"""What of a log's scores stays in memory while the rest goes to a file.

Decision: a ranking and an evaluation need of each run its outcome, task, model and length, and
one number a method: some hundred bytes, so that a log of any length can be ranked. Refusal: no
text of a run is kept, and a reason once, not once a run.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from math import isnan, nan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

__all__ = ["Compact", "compact"]

_KEPT = ["task_id", "model", "success", "steps"]


class Compact(NamedTuple):
    """Scores of many runs, each run and method in the order they came.

    Attributes
    ----------
    runs : DataFrame
        Indexed by trajectory_id: task_id, model, success and steps.
    scores : DataFrame
        Indexed likewise, one column a method; NaN where there is no score.
    why : DataFrame
        Columns method and why, each reason that a score is missing once.
    sources : list of str
        What the steps' own uncertainty was read off.
    """

    runs: pd.DataFrame
    scores: pd.DataFrame
    why: pd.DataFrame
    sources: list[str]


def compact(found: pd.DataFrame | Iterable[Mapping[str, Any]] | Compact) -> Compact:
    """Keep of scores what a ranking and an evaluation need.

    Parameters
    ----------
    found : DataFrame, iterable of mapping or Compact
        As `scoring.scores` returns or `scoring.stream` yields; what is compact already is
        given back.

    Returns
    -------
    Compact
    """
    if isinstance(found, Compact):
        return found
    at: dict[str, int] = {}
    about, columns, why, sources = [], {}, {}, set()
    for row in found.to_dict("records") if isinstance(found, pd.DataFrame) else found:
        number = at.setdefault(row["trajectory_id"], len(at))
        if number == len(about):
            about.append([row[name] for name in _KEPT])
        column = columns.setdefault(row["method"], array("d"))
        column.extend([nan] * (number + 1 - len(column)))
        if (value := row["value"]) is None or isnan(value):
            why[row["method"], row["why"]] = None
        else:
            column[number] = value
        sources.add(row["u_source"])
    for column in columns.values():
        column.extend([nan] * (len(at) - len(column)))
    index = pd.Index(list(at), name="trajectory_id")
    return Compact(
        pd.DataFrame(about, index, _KEPT, dtype=object),
        pd.DataFrame({name: np.frombuffer(column) for name, column in columns.items()}, index),
        pd.DataFrame(list(why), columns=["method", "why"]), sorted(sources))
