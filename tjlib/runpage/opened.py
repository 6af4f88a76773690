"""One run of a page: its row of the table, and what it opens into.

Decision: every run has a row and a line of risk; a run that opens shows its
steps as they were taken, of a long one the first, the last and those around
its riskiest. Refusal: what is left out, of a text or of a run, is counted
where it is missing, and a reply that failed stands there as what it is.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from tjlib.formats.imported import Imported
from tjlib.runpage.lines import Drawing, across, curve, drawing, height
from tjlib.runpage.texts import Text, cut
from tjlib.trace import Step, Verdict
from tjlib.uncertainty.evidence import Evidence
from tjlib.uncertainty.layout import PARTS, named, parts
from tjlib.uncertainty.online import Peak, peak
from tjlib.uncertainty.prefix import KINDS
from tjlib.uncertainty.propagate import Propagation, propagate
from tjlib.uncertainty.signals import local
from tjlib.uncertainty.similarity import Similarity
from tjlib.uncertainty.text import observation_text

__all__ = ["Opened", "Row", "kept", "opened", "propagated", "row"]

#: Steps of a run on a page: in all, and of them at each end; calls of a step, notes of a run.
STEPS, ENDS, CALLS, NOTES = 60, 10, 20, 20
#: Points of a line in the table.
_FINE = 60
#: Characters of a message that are shown unfolded.
_MESSAGE = 1_500
_NUMBERS = ["step", "U", "Q", "G", "m", "H", "R", "P", "edges"]


class Row(NamedTuple):
    """What the table says of a run."""

    run: Imported
    value: float | None
    why: str
    calls: int
    errors: int
    risks: np.ndarray
    peak: Peak | None
    verdicts: Sequence[Verdict]

    def line(self, top: float, most: int = _FINE) -> str:
        """Give the path of its risks."""
        return curve(self.risks, top, most)

    @property
    def read(self) -> int:
        """Number of verdicts that could be read."""
        return sum(verdict.status == "ok" for verdict in self.verdicts)

    @property
    def flagged(self) -> int:
        """Number of verdicts that call it faulty."""
        return sum(verdict.faulty is True for verdict in self.verdicts)


class Opened(NamedTuple):
    """What a run opens into; ``gaps`` gives the steps left out before a step, as first and last."""

    texts: dict[str, Text]
    steps: list[dict[str, Any]]
    gaps: dict[int, tuple[int, int]]
    numbers: list[dict[str, Any]]
    line: str
    dots: list[dict[str, Any]]
    graph: Drawing | None
    hears: str
    source: str
    imputed: int

    @property
    def kept(self) -> set[int]:
        """The steps that are shown."""
        return {step["n"] for step in self.steps}


def propagated(run: Imported, method: str, similarity: Similarity) -> Propagation:
    """Compute the risk of each step, without local uncertainty if the method has none."""
    e = Evidence(run.trajectory, similarity=similarity)
    of = local(run.trajectory, "constant") if method == "rupa_structural" else e.local
    return propagate(e.graph, of, parameters=e.parameters)


def row(run: Imported, done: Propagation, score: tuple[float | None, str],
        verdicts: Sequence[Verdict]) -> Row:
    """Sum a run up."""
    steps = run.trajectory.steps
    return Row(run, *score, sum(len(step.calls) for step in steps),
               sum(not o.ok for step in steps for o in step.observations), done.r, peak(done),
               verdicts)


def kept(n: int, riskiest: int, most: int = STEPS, ends: int = ENDS) -> list[int]:
    """Choose the steps of a run that are shown: the first, the last, those around the riskiest.

    Examples
    --------
    >>> kept(100, 50, most=6, ends=1)
    [0, 48, 49, 50, 51, 99]
    """
    if n <= most:
        return list(range(n))
    middle = most - 2 * ends
    begin = min(max(riskiest - middle // 2, ends), n - ends - middle)
    return [*range(ends), *range(begin, begin + middle), *range(n - ends, n)]


def _arguments(args: dict[str, Any]) -> str:
    return json.dumps(args, ensure_ascii=False, indent=1, default=str) if args else ""


def _step(step: Step, doubts: list[tuple[float, str]]) -> dict[str, Any]:
    """Lay a step out: the n-th observation beside the n-th call, what is over at the end."""
    seen = [{"ok": o.ok, "text": cut(observation_text(o)), "doubt": doubt, "why": why}
            for o, (doubt, why) in zip(step.observations, doubts, strict=True)][:2 * CALLS]
    calls = [{"tool": call.tool, "args": cut(_arguments(call.args)),
              "seen": seen[i] if i < len(seen) else None}
             for i, call in enumerate(step.calls[:CALLS])]
    strays = seen[len(step.calls):len(step.calls) + CALLS]
    return {"said": cut(step.thought, _MESSAGE), "calls": calls, "strays": strays,
            "more_calls": max(0, len(step.calls) - CALLS),
            "more_strays": max(0, len(step.observations) - len(step.calls) - len(strays)),
            "user": None if step.user is None else cut(step.user, _MESSAGE)}


def _hears(found: Peak) -> str:
    if found.relation is None:
        return ""
    return f"{found.relation}, from {named(found.source_kind, found.source_step)}: {found.evidence}"


def opened(of: Row, done: Propagation, top: float) -> Opened:
    """Lay out what a run opens into.

    Parameters
    ----------
    of : Row
    done : Propagation
        As `propagated` gives it for the same run.
    top : float
        The highest risk of the page.

    Returns
    -------
    Opened
    """
    trajectory, n = of.run.trajectory, len(of.risks)
    texts = {"goal": cut(trajectory.goal, _MESSAGE), "opening": cut(of.run.opening, _MESSAGE),
             "procedure": cut(of.run.procedure, 0),
             "answer": cut(trajectory.final_answer, _MESSAGE)}
    if not n:
        return Opened(texts, [], {}, [], "", [], None, "", done.source, 0)
    graph, chosen = done.graph, kept(n, of.peak.step)
    env = graph.kind == KINDS.index("env")
    flags: dict[int, list[str]] = {}
    for verdict in of.verdicts:
        if verdict.failure_step is not None:
            flags.setdefault(verdict.failure_step, []).append(verdict.judge)
    made = parts(done).iloc[chosen].to_dict("records")
    steps = []
    for i, terms in zip(chosen, made, strict=True):
        seen = np.flatnonzero(env & (graph.step == i))
        doubts = [(float(graph.uncertainty[node]), graph.why[node]) for node in seen]
        steps.append({"n": i, "risk": float(done.r[i]), "flags": flags.get(i, []),
                      "terms": [(name, terms[name]) for name in PARTS if terms[name] >= 0.005],
                      **_step(trajectory.steps[i], doubts)})
    gaps = {b: (a + 1, b - 1) for a, b in pairwise(chosen) if b > a + 1}
    dots = [{"x": across(i, n), "y": height(float(of.risks[i]), top), "step": i, "judges": by}
            for i, by in [(of.peak.step, []), *sorted(flags.items())] if i < n]
    return Opened(
        texts, steps, gaps, done.table().iloc[chosen][_NUMBERS].to_dict("records"),
        curve(of.risks, top), dots, drawing(done, of.peak.step, top), _hears(of.peak),
        done.source, local(trajectory).n_imputed if done.source == "logprob" else 0)
