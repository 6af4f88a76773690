"""RUPA as printed, with changes chosen without labels, and what both have to beat, set by set.

Decision: what chooses takes graphs, acts and tasks; outcomes come in after every score is there.
Refusal: no recipe is left out because it does badly, and scores fitted on one half of the tasks
are given to the other half only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from tjlib import features
from tjlib.formats import registry
from tjlib.measure.ranking import auroc
from tjlib.uncertainty.choose import CRITERIA, Half, best, elsewhere
from tjlib.uncertainty.controls import inputs, words
from tjlib.uncertainty.graph import Graph, build
from tjlib.uncertainty.habits import Acts
from tjlib.uncertainty.propagate import propagate
from tjlib.uncertainty.recipes import PRINTED, SETTLED, Fitted
from tjlib.uncertainty.signals import Local

__all__ = ["Runs", "choices", "every", "load", "scores"]


class Runs(NamedTuple):
    """Runs to choose on, and in their order what is only looked at afterwards.

    ``about`` has columns task, model, steps and failed (None: nobody judged).
    """

    graphs: list[Graph]
    acts: list[Acts]
    about: pd.DataFrame
    origin: str

    @property
    def tasks(self) -> list[str]:
        """The task of each run; one without a name is its own."""
        return self.about["task"].tolist()


def load(traces: str, similarity: str = "jaccard") -> Runs:
    """Take runs from a stored set or a log.

    Parameters
    ----------
    traces : str
        A name of `features.SETS`, or a log's path.
    similarity : str
        Of stored numbers; a log is compared by shared words.

    Returns
    -------
    Runs

    Raises
    ------
    InputError
        If something is not there.
    """
    if traces in features.SETS:
        tables = features.read(traces)
        of = dict(iter(tables.steps.groupby("trajectory_id", sort=False)))
        acts = [Acts(tuple(of[who]["tool"].fillna("")), tuple(of[who]["words"])) if who in of
                else Acts((), ()) for who in tables.episodes["trajectory_id"]]
        return Runs(features.graphs(tables, similarity), acts, _about(tables.episodes),
                    f"{features.SETS[traces]}, in data/features")
    log = registry.load(traces)
    ran = [run.trajectory for run in log.runs]
    acts = [Acts(tuple("\n".join(call.tool for call in step.calls) for step in run.steps),
                 tuple(map(words, run.steps))) for run in ran]
    about = _about(pd.DataFrame([
        {"trajectory_id": run.trajectory.trajectory_id, "task_id": run.task_id or None,
         "model": run.model, "success": run.success, "steps": len(run.trajectory.steps)}
        for run in log.runs]))
    return Runs([build(run) for run in ran], acts, about,
                f"{traces} ({log.format}, runs: {len(ran)})")


def _about(episodes: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({
        "task": episodes["task_id"].fillna(episodes["trajectory_id"]),
        "model": episodes["model"].fillna(""), "steps": episodes["steps"].astype(int),
        "failed": [None if pd.isna(x) else not x for x in episodes["success"]]}).reset_index(
        drop=True)


def choices(weighed: Mapping[str, Sequence[Half]]) -> pd.DataFrame:
    """Say which recipe each criterion chooses, for every set and half.

    Parameters
    ----------
    weighed : mapping of set to what `choose.halves` gave of its runs

    Returns
    -------
    DataFrame
        set, half, criterion, from ("other half" of the set, or "other sets"),
        fitted (on the other half of the set), worth, printed (the criterion of
        RUPA as printed); where a criterion says nothing, there is no row.
    """
    rows = []
    for name, of in weighed.items():
        for number, one in enumerate(of):
            for criterion in CRITERIA:
                worth = one.worth[criterion]
                others = [theirs for other, theirs in weighed.items() if other != name]
                found = {"other half": best(one, criterion)}
                if others:
                    recipe = elsewhere(others, criterion, one.own)
                    found["other sets"] = next(f for f in one.fitted if f.recipe == recipe)
                rows += [{"set": name, "half": number, "criterion": criterion, "from": where,
                          "fitted": fitted, "worth": worth[one.fitted.index(fitted)],
                          "printed": worth[[f.recipe for f in one.fitted].index(PRINTED)]}
                         for where, fitted in found.items() if fitted is not None]
    return pd.DataFrame(rows, columns=["set", "half", "criterion", "from", "fitted", "worth",
                                       "printed"])


def _filled(runs: Runs, of: Sequence[Half], fitted: Mapping[int, Fitted], how: str) -> np.ndarray:
    """Score each half's runs by the recipe fitted on the other; NaN where there is none."""
    out = np.full(len(runs.graphs), np.nan)
    for number, known in fitted.items():
        for i in of[number].members:
            value = getattr(known, how)(runs.graphs[i], of[number].own[known.recipe.signal][i])
            out[i] = np.nan if value is None else value
    return out


def scores(runs: Runs, of: Sequence[Half], chosen: pd.DataFrame) -> pd.DataFrame:
    """Score runs by what was chosen, by what was printed, and by the controls.

    Parameters
    ----------
    runs : Runs
    of : sequence of Half
        Of these runs.
    chosen : DataFrame
        The rows of `choices` of this set.

    Returns
    -------
    DataFrame
        One row a run, higher is likelier to fail: n_steps, flat, printed,
        settled; for each criterion its choice ("CRITERION"), the choice of the
        other sets ("CRITERION, other sets") and the inputs of either without a
        graph ("..., flat"); each signal's mean ("SIGNAL alone").
    """
    there, none = runs.graphs, [[0.0] * len(g.agent) for g in runs.graphs]
    out = {
        "n_steps": [float(len(u)) if u else np.nan for u in none],
        "flat": [inputs(g) if len(g.agent) else np.nan for g in there],
        "printed": [propagate(g, Local(tuple(u), "constant")).score
                    for g, u in zip(there, none, strict=True)],
        "settled": [SETTLED.score(g, u) for g, u in zip(there, none, strict=True)]}
    for (criterion, where), rows in chosen.groupby(["criterion", "from"], sort=False):
        fitted = dict(zip(rows["half"], rows["fitted"], strict=True))
        name = criterion if where == "other half" else f"{criterion}, {where}"
        out[name] = _filled(runs, of, fitted, "score")
        out[f"{name}, flat"] = _filled(runs, of, fitted, "flat")
    for signal in dict.fromkeys(name for one in of for name in one.own if name != "none"):
        column = out[f"{signal} alone"] = np.full(len(there), np.nan)
        for one in of:
            for i in one.members:
                if len(there[i].agent):
                    column[i] = np.mean(one.own[signal][i])
    return pd.DataFrame(out, dtype=float)


def every(runs: Runs, of: Sequence[Half]) -> pd.DataFrame:
    """Put what the criteria say of recipes beside how these rank the half they were not fitted on.

    Parameters
    ----------
    runs : Runs
    of : sequence of Half

    Returns
    -------
    DataFrame
        Of each recipe on the raw scale: half, recipe, signal, the criteria by
        name, and auroc (missing where that half has no pair to compare).
    """
    rows = []
    for number, one in enumerate(of):
        about = runs.about.iloc[one.members]
        kept = (about["failed"].notna() & about["steps"].gt(0)).to_numpy()
        failed = about["failed"][kept].astype(bool)
        for k, fitted in enumerate(one.fitted):
            if fitted.recipe.scale != "raw":
                continue
            s = _filled(runs, of, {number: fitted}, "score")[one.members][kept]
            rows.append({"half": number, "recipe": str(fitted.recipe),
                         "signal": fitted.recipe.signal,
                         **{name: worth[k] for name, worth in one.worth.items()},
                         "auroc": auroc(failed, s)})
    return pd.DataFrame(rows)
