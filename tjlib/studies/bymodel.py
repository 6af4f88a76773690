"""Scores of a stored set inside each agent model.

Decision: a defence around a model is a set-up of that model, compared with itself alone, so that
a model tried behind five defences counts once. Refusal: whatever else stands in a model's name,
an agent's harness or a fine-tune, is left in it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from tjlib.compact import compact
from tjlib.measure.inside import inside

__all__ = ["DEFENCES", "by_model", "model_of"]

#: Ends of AgentDojo's pipeline names that are a defence around the model named before.
DEFENCES = ("repeat_user_prompt", "spotlighting_with_delimiting", "tool_filter",
            "transformers_pi_detector")


def model_of(pipeline: str) -> str:
    """Return the model behind a pipeline of AgentDojo; other names are their own.

    Examples
    --------
    >>> model_of("gpt-4o-2024-05-13-tool_filter"), model_of("gpt-4o")
    ('gpt-4o-2024-05-13', 'gpt-4o')
    """
    for end in DEFENCES:
        pipeline = pipeline.removesuffix(f"-{end}")
    return pipeline


def by_model(
    found: pd.DataFrame, methods: Sequence[str], rng: np.random.Generator, draws: int = 1000,
) -> pd.DataFrame:
    """Measure methods inside each model of a set.

    Parameters
    ----------
    found : DataFrame
        As `scoring.scores`; runs without an outcome or a score are left out.
    methods : sequence of str
    rng : numpy.random.Generator
    draws : int

    Returns
    -------
    DataFrame
        As `tjlib.measure.inside.inside`, and rate, the share of the model's runs that failed, NaN
        of none.
    """
    runs, scores, *_ = compact(found[found["method"].isin(methods)])
    kept = runs["success"].notna() & scores.notna().all(axis=1)
    runs, scores = runs[kept], scores.loc[kept, list(methods)]
    setups = runs["model"].fillna("(not named)").astype(str)
    table = inside(scores, ~runs["success"].astype(bool), runs["task_id"],
                   [model_of(name) for name in setups], rng, setups=setups, draws=draws)
    return table.assign(rate=table["n_failed"] / table["n"].where(table["n"] > 0))
