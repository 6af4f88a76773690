"""What scores make of long runs with known faults: rank, level around a fault, and where they peak.

Decision: every faulty run is measured beside its clean parent, and own uncertainty that no log
gives is simulated with a dial that says how well it knows a fault. Refusal: no score sees a fault
but through that dial, which a page has to call what it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
import pandas as pd

from tjlib.desk.cascades import Cascade
from tjlib.measure.by_task import means
from tjlib.measure.wins import changes
from tjlib.uncertainty.controls import inputs, repeated
from tjlib.uncertainty.graph import Graph
from tjlib.uncertainty.propagate import propagate
from tjlib.uncertainty.recipes import attributed
from tjlib.uncertainty.signals import Local
from tjlib.uncertainty.variants import seeded

__all__ = ["SCORES", "aligned", "localised", "ranked", "reached", "risks", "scored", "scores",
           "simulated"]

#: What a run is scored by, and what a figure calls it.
SCORES = {"full": "RUPA", "no_propagation": "no propagation", "flat": "flat",
          "uncapped": "RUPA without its cap",
          "full max": "RUPA, highest step", "own max": "own U, highest step",
          "repetition": "closest repetition", "n_steps": "number of steps"}
#: Simulated uncertainty of a step without a fault: its median in nats, and the spread of its
#: logarithm. About what a small model's tokens have; ours.
_MEDIAN, _SPREAD = 0.3, 0.5


def simulated(steps: int, faults: Sequence[int], dial: float, seed: int, who: str) -> Local:
    """Draw each step's own uncertainty, log-normal, higher at a fault by the dial.

    Parameters
    ----------
    steps : int
    faults : sequence of int
        Their 0-based steps.
    dial : float
        Standard deviations of the logarithm by which a fault lies above other
        steps: 0 knows nothing; one step at a fault is above one that is not
        with probability Phi(dial / sqrt 2).
    seed : int
    who : str
        The run's id: each run has noise of its own, the same at every dial.

    Returns
    -------
    Local
        Source "surrogate", for it is nobody's own.
    """
    z = seeded(seed, who, 0, "simulated").standard_normal(steps)
    z[list(faults)] += dial
    return Local(tuple((_MEDIAN * np.exp(_SPREAD * z)).tolist()), "surrogate")


def risks(graph: Graph, own: Local) -> dict[str, np.ndarray]:
    """Return each step's risk: RUPA's ("full"), without cap, without propagation, with the
    caller blamed ("caller"), and its own uncertainty ("own").
    """
    moved, u = attributed(graph, np.array(own.u))
    free = msgspec.structs.replace(graph.parameters, p_max=None)
    return {"full": propagate(graph, own).r,
            "no_propagation": propagate(graph, own, variant="no_propagation").r,
            "uncapped": propagate(graph, own, parameters=free).r,
            "caller": propagate(moved, Local(tuple(u.tolist()), own.source)).r,
            "own": np.array(own.u)}


def scores(graph: Graph, own: Local, known: Mapping[str, np.ndarray]) -> dict[str, float]:
    """Score a run by each of `SCORES`; ``known`` is what `risks` gave of it."""
    return {"full": float(known["full"].mean()),
            "no_propagation": float(known["no_propagation"].mean()),
            "flat": inputs(graph, own.u), "uncapped": float(known["uncapped"].mean()),
            "full max": float(known["full"].max()),
            "own max": float(known["own"].max()), "repetition": repeated(graph),
            "n_steps": float(len(own.u))}


def scored(
    runs: Sequence[Cascade], graphs: Sequence[Graph], dial: float | None, seed: int
) -> tuple[pd.DataFrame, dict[str, dict[str, np.ndarray]]]:
    """Score every run, and keep the risks of its steps.

    Parameters
    ----------
    runs, graphs : sequences, one item a run
    dial : float or None
        As `simulated`, at faults that nothing caused, for who copies a value
        does not doubt it; None gives all steps the same, the structural form.
    seed : int

    Returns
    -------
    DataFrame, dict
        Indexed by parent: design (None for the parent itself) and `SCORES`;
        and by the run's id, what `risks` gives.
    """
    rows, known = [], {}
    for run, graph in zip(runs, graphs, strict=True):
        who, n = run.trajectory.trajectory_id, len(graph.agent)
        told = [fault.step for fault in run.faults if fault.caused_by is None]
        own = Local((0.0,) * n, "constant") if dial is None else simulated(n, told, dial, seed, who)
        known[who] = risks(graph, own)
        rows.append({"parent": run.parent_id, "design": run.design,
                     **scores(graph, own, known[who])})
    return pd.DataFrame(rows).set_index("parent"), known


def ranked(
    faulty: pd.DataFrame, clean: pd.DataFrame, seed: int, draws: int,
    names: Sequence[str] = tuple(SCORES), against: str = "flat",
) -> pd.DataFrame:
    """Measure how scores put faulty runs above clean ones, and above their own parent.

    Parameters
    ----------
    faulty, clean : DataFrame
        Indexed by parent, one column a score; each parent of the first is in
        the second, once.
    seed, draws : int
        Of resamples of whole shifts, a parent with its faulty runs.
    names : sequence of str
    against : str
        One of them.

    Returns
    -------
    DataFrame
        score, measure ("AUROC" over all pairs; "paired": the share of faulty
        runs above their parent, ties one half), value, lo, hi, why, and
        change, change_lo, change_hi, change_why: minus ``against``.
    """
    both = pd.concat([faulty, clean])
    failed = np.arange(len(both)) < len(faulty)
    columns = {name: both[[name]].to_numpy(float) for name in names}
    rows = changes(columns, dict.fromkeys(set(names) - {against}, against), failed, both.index,
                   np.random.default_rng(seed), draws=draws).rename(columns={"name": "score"})
    theirs = clean.loc[faulty.index]
    # Sums in another order differ in the last digit; that is no difference.
    gap = (faulty[list(names)].to_numpy() - theirs[list(names)].to_numpy()).round(9)
    won = pd.DataFrame(np.sign(gap) / 2 + 0.5, columns=list(names))
    pairs = [(name, against) for name in names if name != against]
    told = means(won, faulty.index, np.random.default_rng(seed), pairs=pairs,
                 draws=draws).set_index("what")
    paired = []
    for name in names:
        row = {"score": name, "measure": "paired", **told.loc[name, ["value", "lo", "hi", "why"]]}
        if name != against:
            other = told.loc[f"{name} - {against}"]
            row |= {"change": other["value"], "change_lo": other["lo"],
                    "change_hi": other["hi"], "change_why": other["why"]}
        paired.append(row)
    return pd.concat([rows.assign(measure="AUROC"), pd.DataFrame(paired)], ignore_index=True)


def aligned(
    faulty: Sequence[np.ndarray], clean: Sequence[np.ndarray], first: Sequence[int],
    shifts: Sequence, seed: int, draws: int, before: int = 3, after: int = 12,
) -> pd.DataFrame:
    """Average risk minus the clean parent's, by distance from the first fault.

    Parameters
    ----------
    faulty, clean : sequences of (steps,) array
        Of equal length, pair by pair.
    first : sequence of int
        The first fault's 0-based step.
    shifts : sequence
        What is drawn whole.
    seed, draws : int
    before, after : int
        Steps.

    Returns
    -------
    DataFrame
        offset (0 at the fault), value, lo, hi, n (runs that reach so far), why.
    """
    table = np.full((len(faulty), before + after + 1), np.nan)
    for row, f, c, at in zip(table, faulty, clean, first, strict=True):
        for column, step in enumerate(range(at - before, at + after + 1)):
            if 0 <= step < len(f):
                row[column] = f[step] - c[step]
    found = means(pd.DataFrame(table, columns=[str(k) for k in range(-before, after + 1)]),
                  shifts, np.random.default_rng(seed), draws=draws)
    return found.assign(offset=found["what"].astype(int)).drop(columns="what")


def localised(
    series: Sequence[np.ndarray], faults: Sequence[Sequence[int]], shifts: Sequence, seed: int,
    draws: int,
) -> pd.DataFrame:
    """Tell how often the riskiest step is the first fault, the step after it, or any fault.

    Parameters
    ----------
    series : sequence of (steps,) array
        Risk of each step; of equals the first is the riskiest.
    faults : sequence of sequence of int
        Steps, in order.
    shifts, seed, draws
        As `aligned`.

    Returns
    -------
    DataFrame
        what ("first", "one late", "any"), value, lo, hi, n, why, and chance: a
        step at random.
    """
    hits, chance = [], []
    for values, at in zip(series, faults, strict=True):
        peak = int(np.argmax(values))
        hits.append({"first": peak == at[0], "one late": peak == at[0] + 1, "any": peak in at})
        n = len(values)
        chance.append({"first": 1 / n, "one late": (at[0] + 1 < n) / n, "any": len(at) / n})
    found = means(pd.DataFrame(hits).astype(float), shifts, np.random.default_rng(seed),
                  draws=draws)
    return found.assign(chance=found["what"].map(pd.DataFrame(chance).mean()))


def reached(
    faulty: Sequence[np.ndarray], clean: Sequence[np.ndarray], steps: Sequence[int],
    shifts: Sequence, seed: int, draws: int,
) -> dict:
    """Tell in what share of runs the risk at one step is above the clean parent's at that step.

    Parameters
    ----------
    faulty, clean, shifts, seed, draws
        As `aligned`.
    steps : sequence of int
        One a run.

    Returns
    -------
    dict
        value (ties one half, so a score that nothing reached has .5), lo, hi, n, why.
    """
    gap = np.array([f[at] - c[at] for f, c, at in zip(faulty, clean, steps, strict=True)])
    won = pd.DataFrame({"above": np.sign(gap.round(9)) / 2 + 0.5})
    return means(won, shifts, np.random.default_rng(seed), draws=draws).iloc[0].to_dict()
