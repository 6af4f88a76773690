"""AUROCs of many scores over all pairs, and over pairs of one length or one model.

Decision: one table for every score and every difference, the same resamples of whole tasks in
each panel, and beside each score how far it follows length. Refusal: a score that is missing for
every run is left out by itself and takes no run from the others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from tjlib.measure.compare import rank_correlation
from tjlib.measure.wins import changes
from tjlib.trace import InputError

__all__ = ["measured"]


def measured(
    table: pd.DataFrame, about: pd.DataFrame, pairs: Sequence[tuple[str, str]], seed: int,
    draws: int,
) -> pd.DataFrame:
    """Measure how well scores rank the failed runs, over all pairs and inside strata.

    Parameters
    ----------
    table : DataFrame
        One row a run, one column a score, higher is likelier to fail; a
        column without any value is left out.
    about : DataFrame
        Columns task, model, steps and failed (None: left out), in that order.
    pairs : sequence of (column, column)
        Differences to report, of those that are there.
    seed, draws : int
        Of the resamples of whole tasks, and how many.

    Returns
    -------
    DataFrame
        panel ("all pairs", "one length" and, of several models, "one model"),
        name (of a difference "A - B"), value, lo, hi, why, n, pairs, and
        follows: the rank correlation with length, of a difference missing.

    Raises
    ------
    InputError
        If no run has an outcome.
    """
    judged = about["failed"].notna()
    if not judged.any():
        raise InputError("no run has an outcome, so no score can be ranked; "
                         "give a log of judged runs, or put labels beside it")
    table, about = table[judged].dropna(axis=1, how="all"), about[judged]
    columns = {name: table[[name]].to_numpy() for name in table}
    pairs = [pair for pair in pairs if set(pair) <= set(columns)]
    against = {f"{one} - {other}": other for one, other in pairs}
    columns |= {f"{one} - {other}": columns[one] for one, other in pairs}
    follows = {name: rank_correlation(table[name][kept], about["steps"][kept])
               for name in table if (kept := table[name].notna()).any()}
    strata = {"all pairs": None, "one length": about["steps"]}
    if len(set(about["model"])) > 1:
        strata["one model"] = about["model"]
    rows = []
    for panel, stratum in strata.items():
        found = changes(columns, against, about["failed"].astype(bool), about["task"],
                        np.random.default_rng(seed), strata=stratum, draws=draws)
        for row in found.to_dict("records"):
            name, (value, of) = row["name"], ("value", "")
            if name in against:
                value, of = "change", "change_"
            rows.append({"panel": panel, "name": name, "value": row[value], "lo": row[f"{of}lo"],
                         "hi": row[f"{of}hi"], "why": row[f"{of}why"], "n": row["n"],
                         "pairs": row["pairs"], "follows": follows.get(name)})
    return pd.DataFrame(rows).astype(dict.fromkeys(("value", "lo", "hi", "follows"), float))
