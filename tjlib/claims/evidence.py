"""What the claims are tried on: labels and verdicts, and what else the source holds.

Decision: every number comes from `tjlib.measure`, is computed once however
many claims ask for it, and leaves as a `Stat`; each computation starts from
the same seed, so trying one claim alone gives the numbers of trying all.
Refusal: no file is opened, and nothing stands in silently for what a source
lacks: counts and figures of the publication come in as arguments and are
named as such in every statistic made of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pandas as pd

from tjlib.claims.trial import Stat, undefined
from tjlib.measure.alternatives import alternatives
from tjlib.measure.intervals import intervals
from tjlib.measure.pairs import discrimination, pairs_from
from tjlib.measure.resample import bounds_or_why, replicate_weights
from tjlib.measure.strata import by_stratum, strata_from
from tjlib.measure.table import VerdictTable, table
from tjlib.trace import InputError, Label, Trajectory, Verdict

__all__ = ["ROLES", "Evidence"]

#: The judges the paper's sentences are about, by their role (paper Table 2).
ROLES = {
    "outcome": "outcome:qwen2.5:14b", "step": "step:qwen2.5:14b", "small": "step:llama3.1:8b",
    "ensemble": "selfcons3:qwen2.5:14b",
}


def _stat(what: str, row: Mapping, how: str = "") -> Stat:
    """Turn a row of one of the measures' frames into a statistic."""
    if row["value"] is None:
        return undefined(what, row["why"])
    made = how or row.get("how") or ("percentile" if row["lo"] is not None else "")
    return Stat(what, row["value"], row["lo"], row["hi"], row.get("k"), row.get("n"),
                made or row["why"].replace("undefined", "no interval") or "computed")


def _negative(stat: Stat) -> Stat:
    ends = (None, None) if stat.lo is None else (-stat.hi, -stat.lo)
    return Stat(stat.what, -stat.value, *ends, how=stat.how)


@dataclass(frozen=True)
class Evidence:
    """Verdicts with their labels, and how claims read them.

    Attributes
    ----------
    labels, verdicts : sequence of Label, sequence of Verdict
        Of one source.
    cost : DataFrame or None
        Mean costs by judge, for verdicts that carry none of their own.
    trajectories : sequence of Trajectory or None
        What was judged, where the source has it.
    judges : mapping of role -> judge id
        Whom each sentence is about; default `ROLES`.
    draws, seed : int
        Of the bootstrap.
    pairs, strata : DataFrame or None
        Published counts (parent_pairs, flags_by_stratum) of the same verdicts, for a source
        whose labels name no parents or strata.
    figures : DataFrame or None
        Published figures (trajectory_judge_numbers) of the same verdicts.
    runs, organic : (trajectories, labels) or None
        A set rebuilt by the desk, for a source without trajectories; an agent's own episodes.
    """

    labels: Sequence[Label]
    verdicts: Sequence[Verdict]
    cost: pd.DataFrame | None = None
    trajectories: Sequence[Trajectory] | None = None
    judges: Mapping[str, str] = field(default_factory=lambda: dict(ROLES))
    draws: int = 10_000
    seed: int = 0
    pairs: pd.DataFrame | None = None
    strata: pd.DataFrame | None = None
    figures: pd.DataFrame | None = None
    runs: tuple[Sequence[Trajectory], Sequence[Label]] | None = None
    organic: tuple[Sequence[Trajectory], Sequence[Label]] | None = None

    def rng(self) -> np.random.Generator:
        """Start the generator anew."""
        return np.random.default_rng(self.seed)

    @cached_property
    def table(self) -> VerdictTable:
        """All verdicts of the source."""
        return table(self.labels, self.verdicts, self.cost)

    @cached_property
    def texts(self) -> dict[str, Trajectory]:
        """The trajectories by id; empty where the source has none."""
        return {t.trajectory_id: t for t in self.trajectories or ()}

    def _scored(self, by: str, t: VerdictTable) -> dict:
        found = intervals(t, self.rng(), draws=self.draws, by=by)
        return {(r["judge"], r["metric"]): r for r in found.to_dict("records")}

    @cached_property
    def _by_trajectory(self) -> dict:
        return self._scored("trajectory", self.table)

    @cached_property
    def _by_freely(self) -> dict:
        return self._scored("trajectory", replace(self.table, cell=0 * self.table.cell))

    @cached_property
    def _by_instance(self) -> dict:
        return self._scored("instance", self.table)

    @cached_property
    def paired_with(self) -> pd.DataFrame | str:
        """The pairs of faults and clean parents, or why there are none."""
        try:
            replies = {name: t.final_answer for name, t in self.texts.items()}
            return pairs_from(self.table, replies)
        except InputError as error:
            return str(error) if self.pairs is None else self.pairs

    @cached_property
    def _discrimination(self) -> dict | str:
        if isinstance(self.paired_with, str):
            return self.paired_with
        found = discrimination(self.paired_with, self.rng(), draws=self.draws)
        return {(r["judge"], r["group"]): r for r in found.to_dict("records")}

    @cached_property
    def _strata(self) -> dict | str:
        try:
            counts = strata_from(self.table)
        except InputError as error:
            if self.strata is None:
                return str(error)
            counts = self.strata
        found = by_stratum(counts, self.rng(), draws=self.draws)
        return {(r["judge"], r["stratum"], r["metric"]): r for r in found.to_dict("records")}

    @cached_property
    def _calibration(self) -> dict:
        both = {self.judges["step"], self.judges["ensemble"]}
        few = table(self.labels, [v for v in self.verdicts if v.judge in both])
        found = alternatives(few, self.rng(), draws=self.draws)
        return {(r["judge"], r["measure"]): r for r in found.to_dict("records")}

    def missing(self, *roles: str) -> str:
        """Say which of these judges gave no verdicts; empty if all did."""
        absent = [self.judges[r] for r in roles if self.judges[r] not in self.table.judges]
        return f"undefined: no verdicts by {', '.join(absent)}" if absent else ""

    def column(self, role: str) -> int:
        """Return the column of a judge in `table`."""
        return self.table.column(self.judges[role])

    def _look_up(self, found: Callable[[], dict | str], roles, key, what, how="") -> Stat:
        if why := self.missing(*roles):
            return undefined(what, why)
        names = [self.judges[role] for role in roles]
        if len(set(names)) < len(names):
            return undefined(what, f"both are {names[0]}")
        rows = found()
        if isinstance(rows, str):
            return undefined(what, rows)
        if (row := rows.get((" - ".join(names), *key))) is not None:
            return _stat(what, row, how)
        if (row := rows.get((" - ".join(reversed(names)), *key))) is None:
            return undefined(what, "not in these data")
        stat = _stat(what, row, how)
        return stat if stat.value is None else _negative(stat)

    def score(self, what: str, metric: str, *roles: str, by: str = "trajectory") -> Stat:
        """Look up a metric of one judge, or of the first less the second."""
        how = {"instance": "resampled by instance", "freely": "resampled without cells"}.get(by, "")
        if by == "instance" and None in {label.instance_id for label in self.table.labels}:
            return undefined(what, "the labels name no instances")
        return self._look_up(lambda: getattr(self, f"_by_{by}"), roles, (metric,), what, how)

    def paired(self, what: str, group: str, *roles: str) -> Stat:
        """Look up paired discrimination (fault flagged minus clean parent flagged) in a group."""
        return self._look_up(lambda: self._discrimination, roles, (group,), what)

    def stratum(self, what: str, stratum: str, metric: str, role: str) -> Stat:
        """Look up a metric inside a stratum, pooled, or standardised over the strata."""
        return self._look_up(lambda: self._strata, (role,), (stratum, metric), what)

    def strata_names(self, role: str) -> list[str]:
        """List the strata in which a judge was tried; empty where none is known."""
        rows = self._strata
        names = () if isinstance(rows, str) else [s for j, s, _ in rows if j == self.judges[role]]
        return [s for s in dict.fromkeys(names) if s not in ("pooled", "standardised")]

    def calibration(self, what: str, measure: str, *roles: str) -> Stat:
        """Look up a calibration measure of the step judge, the ensemble or their difference."""
        return self._look_up(lambda: self._calibration, roles, (measure,), what)

    def estimate(
        self, what: str, columns: Mapping[str, np.ndarray], formula: Callable[[Mapping], tuple]
    ) -> Stat:
        """Resample trajectories inside design cells for a number the metrics do not hold.

        Parameters
        ----------
        what : str
        columns : mapping of name -> (n,) array
            One value for each trajectory.
        formula : callable
            Column sums -> (numerator, denominator); undefined where the latter is 0.
        """
        x = np.column_stack(list(columns.values())).astype(float)
        rows, at = np.unique(np.column_stack([self.table.cell, x]), axis=0, return_inverse=True)
        groups = np.bincount(at.ravel())

        def value(weights):
            top, bottom = formula(dict(zip(columns, (weights @ rows[:, 1:]).T, strict=True)))
            return np.divide(top, bottom, out=np.full(len(weights), np.nan), where=bottom != 0)

        point = value(groups[None].astype(float))[0]
        if np.isnan(point):
            return undefined(what, "there are none")
        drawn = np.concatenate([value(w) for w in replicate_weights(
            groups, rows[:, 0].astype(int), self.rng(), self.draws)])
        lo, hi, why = bounds_or_why(drawn)
        return Stat(what, float(point), lo, hi,
                    how=why.replace("undefined", "no interval") or "percentile")

    def times(self, what: str, unit: str, top: str, bottom: str) -> Stat:
        """Divide what one judge costs by what another costs, over the same trajectories."""
        if why := self.missing(top, bottom):
            return undefined(what, why)
        costs, mean = getattr(self.table, unit), f"{unit}_mean"
        a, b = costs[:, self.column(top)], costs[:, self.column(bottom)]
        known = ~np.isnan(a) & ~np.isnan(b)
        if known.any():
            return self.estimate(what, {"a": np.where(known, a, 0), "b": np.where(known, b, 0)},
                                 lambda s: (s["a"], s["b"]))
        means = [self.score(what, mean, role) for role in (top, bottom)]
        if any(m.value is None for m in means) or not means[1].value:
            return undefined(what, f"no verdict records {unit}")
        return Stat(what, means[0].value / means[1].value, how="ratio of the published means")
