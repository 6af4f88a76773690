"""Runs as numbers: everything RUPA and its variants ask of a run, without a word of it.

Decision: relations are kept with the least window in which they hold, and once for each
similarity, so that a page can vary window, strengths, decay and similarity without the logs.
Refusal: no text, and no label among what is computed; a run's outcome is a column of its own table.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from tjlib.formats.imported import Imported
from tjlib.uncertainty.controls import words
from tjlib.uncertainty.graph import Graph, build
from tjlib.uncertainty.parameters import RELATIONS, Parameters
from tjlib.uncertainty.prefix import KINDS
from tjlib.uncertainty.signals import mean_nll
from tjlib.uncertainty.similarity import similarity
from tjlib.uncertainty.surrogate import Read
from tjlib.uncertainty.teacher import Scored
from tjlib.uncertainty.text import signatures
from tjlib.uncertainty.tracer import content_nll

__all__ = ["HELD", "SCORES", "WIDEST", "Tables", "extract"]

#: The widest window of the paper's sensitivity study, in agent steps (RUPA authors' code).
WIDEST = 9
#: The columns of the table that `textscores.scored` fills.
SCORES = ["trajectory_id", "similarity", "u", "part", "method", "value", "why", "u_source",
          "n_imputed"]
#: Table -> the columns it has whatever the similarities; `tjlib.features` says what they mean.
HELD = {
    "episodes": ["trajectory_id", "task_id", "trial", "model", "reward", "success", "steps", "flag",
                 "digest", *(f"answer_{what}" for what in ("tokens", "nll", "entropy"))],
    "steps": ["trajectory_id", "step", "calls", "observations", "user", "tool", "signature",
              "words",
              *(f"{part}_{what}" for part in ("message", "call")
                for what in ("tokens", "nll", "entropy")),
              "max_nll", "max_entropy", "content_nll", "dropped"],
    "nodes": ["trajectory_id", "node", "kind", "step", "uncertainty", "signal", "window"],
    "edges": ["trajectory_id", "target", "source", "relation", "window"],
    "scores": SCORES,
}


class Tables(NamedTuple):
    """Tables that share ``trajectory_id``; `tjlib.features` says what their columns mean."""

    episodes: pd.DataFrame
    steps: pd.DataFrame
    nodes: pd.DataFrame
    edges: pd.DataFrame
    scores: pd.DataFrame


def extract(
    runs: Iterable[Imported], similarities: Sequence[str] = ("jaccard", "minilm"),
    readings: Mapping[str, Read] | None = None, spell: Callable[[int], str] | None = None,
) -> Tables:
    """Turn runs into tables of numbers.

    Parameters
    ----------
    runs : iterable of Imported
    similarities : sequence of str
        Names that `similarity.similarity` takes.
    readings : mapping, optional
        What the surrogate made of each run, by trajectory id.
    spell : callable, optional
        The text of a surrogate's token, for ``content_nll``.

    Returns
    -------
    Tables
        A run that was not read has no value in the surrogate's columns, or
        those of its own log-probabilities; ``flag`` is what the run is about
        by that name; ``scores`` is empty until `textscores.scored` fills it.
    """
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in Tables._fields}
    for run in runs:
        who = run.trajectory.trajectory_id
        read = (readings or {}).get(who)
        graphs = {name: [build(run.trajectory, Parameters(window=w), similarity(name))
                         for w in range(1, WIDEST + 1)] for name in similarities}
        parts: dict[tuple[int, str], Scored] = {
            (part.step, part.part): part for part in _joined(read.parts if read else ())}
        answer = parts.get((len(run.trajectory.steps), "answer"))
        rows["episodes"].append({
            "trajectory_id": who, "task_id": run.task_id, "trial": run.trial,
            "model": run.model, "reward": run.reward,
            "success": None if run.success is None else int(run.success),
            "steps": len(run.trajectory.steps), "flag": run.about.get("flag"),
            "digest": read and read.digest,
            **_told("answer", answer)})
        rows["steps"] += ({"trajectory_id": who, **row}
                          for row in _steps(run, graphs, parts, read is not None, spell))
        rows["nodes"] += ({"trajectory_id": who, **row} for row in _nodes(graphs))
        rows["edges"] += ({"trajectory_id": who, **row} for row in _edges(graphs))
    return Tables(*(pd.DataFrame(rows[name], columns=SCORES if name == "scores" else None)
                    for name in Tables._fields))


def _joined(parts: Iterable[Scored]) -> list[Scored]:
    """Put the calls of one step together; it has one message."""
    found: dict[tuple[int, str], Scored] = {}
    for part in parts:
        if old := found.get((part.step, part.part)):
            part = Scored(part.step, part.part, old.tokens + part.tokens,
                          old.logprobs + part.logprobs, old.entropies + part.entropies,
                          max(old.dropped, part.dropped))
        found[part.step, part.part] = part
    return list(found.values())


def _told(name: str, part: Scored | None) -> dict[str, float | None]:
    if part is None:
        return {f"{name}_{what}": None for what in ("tokens", "nll", "entropy")}
    count = len(part.tokens)
    return {f"{name}_tokens": count, f"{name}_nll": -sum(part.logprobs) / count + 0.0,
            f"{name}_entropy": sum(part.entropies) / count}


def _logged(logprobs: Sequence[float] | None) -> dict[str, float]:
    """Give what an agent's own log-probabilities say of a step, in the message's columns."""
    if (mean := mean_nll(logprobs)) is None:
        return {}
    return {"message_tokens": len(logprobs), "message_nll": mean, "max_nll": -min(logprobs) + 0.0}


def _code(texts: Sequence[str]) -> str | None:
    """Name some texts so that they can be told from others and not read."""
    if not texts:
        return None
    return hashlib.blake2b("\n".join(texts).encode(), digest_size=4).hexdigest()


def _steps(
    run: Imported, graphs: dict[str, list[Graph]], parts: dict[tuple[int, str], Scored],
    was_read: bool, spell: Callable[[int], str] | None,
) -> Iterable[dict[str, Any]]:
    for number, step in enumerate(run.trajectory.steps):
        own = [p for kind in ("message", "call") if (p := parts.get((number, kind)))]
        logprobs = [value for part in own for value in part.logprobs]
        spelt = [spell(token) for part in own for token in part.tokens] if spell else None
        yield {
            "step": number, "calls": len(step.calls), "observations": len(step.observations),
            "user": int(step.user is not None), "tool": _code([c.tool for c in step.calls]),
            "signature": _code(sorted(signatures(step))), "words": words(step),
            **{f"q_{name}": float(found[-1].q[number]) for name, found in graphs.items()},
            **_told("message", parts.get((number, "message"))),
            **_told("call", parts.get((number, "call"))),
            "max_nll": -min(logprobs) if logprobs else None,
            "max_entropy": max((e for part in own for e in part.entropies), default=None),
            "content_nll": content_nll(spelt, logprobs) if spelt else None,
            "dropped": max((part.dropped for part in own), default=0) if was_read else None,
            **({} if was_read else _logged(step.logprobs)),
        }


def _signal(u: float, why: str) -> str | None:
    """Name what makes an observation doubtful; the levels are those of `signals.environment`."""
    if not u:
        return None
    if why == "empty":
        return "empty"
    return {0.8: "bare", 0.5: "conflict"}.get(u, "cue" if why.startswith("says") else "error")


def _nodes(graphs: dict[str, list[Graph]]) -> Iterable[dict[str, Any]]:
    found = next(iter(graphs.values()))  # nodes do not depend on a similarity
    wide = found[-1]
    for node, (kind, step, u, why) in enumerate(
            zip(wide.kind, wide.step, wide.uncertainty, wide.why, strict=True)):
        least = next(g.parameters.window for g in found if g.uncertainty[node] == u)
        yield {"node": node, "kind": KINDS[kind], "step": int(step), "uncertainty": float(u),
               "signal": _signal(float(u), why), "window": least}


def _edges(graphs: dict[str, list[Graph]]) -> Iterable[dict[str, Any]]:
    found: dict[tuple[int, int, int], dict[str, Any]] = {}
    for name, narrow_to_wide in graphs.items():
        for graph in narrow_to_wide:
            columns = (graph.edges.target, graph.edges.source, graph.edges.relation)
            for key, match in zip(zip(*(c.tolist() for c in columns), strict=True),
                                  graph.edges.match.tolist(), strict=True):
                row = found.setdefault(key, {"window": graph.parameters.window})
                row.setdefault(f"match_{name}", match)
    blank = {f"match_{name}": None for name in graphs}
    for (target, source, relation), row in sorted(found.items()):
        yield {"target": target, "source": source, "relation": RELATIONS[relation],
               **blank, **row}
