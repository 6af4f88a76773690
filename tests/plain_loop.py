"""A second definition of every metric, and of the bootstrap: one row at a time, in plain Python.

Nothing is shared with tjlib.measure but the records; slow on purpose.
"""

from __future__ import annotations

from itertools import combinations

TYPES = ("wrong_tool", "hallucinated_argument", "skipped_precondition", "ignored_observation",
         "premature_stop", "unsupported_claim")


def rows_of(labels, verdicts) -> list[tuple]:
    """Pair each label with its verdicts: (label, {judge: verdict})."""
    said = {label.trajectory_id: {} for label in labels}
    for v in verdicts:
        said[v.trajectory_id][v.judge] = v
    return [(label, said[label.trajectory_id]) for label in labels]


def cell_of(label) -> tuple:
    return (label.faulty, label.failure_type, label.outcome_correct if label.faulty else None)


def _share(hits: list) -> float | None:
    return sum(hits) / len(hits) if hits else None


def score(rows, judge) -> dict[str, float | None]:
    """Score one judge over (possibly repeated) rows; None where undefined."""
    pairs = [(label, said[judge]) for label, said in rows if judge in said]
    flags = [(label, bool(v.faulty), v) for label, v in pairs]
    faults = [(label, flag, v) for label, flag, v in flags if label.faulty]
    tp = sum(flag for _, flag, _ in faults)
    fp = sum(flag for label, flag, _ in flags if not label.faulty)
    out = {"n_flagged": tp + fp if pairs else None,
           "precision": tp / (tp + fp) if tp + fp else None,
           "recall": _share([flag for _, flag, _ in faults])}
    out["f1"] = 2 * tp / (tp + fp + len(faults)) if faults else None
    silent = _share([flag for label, flag, _ in faults if label.outcome_correct is True])
    loud = _share([flag for label, flag, _ in faults if label.outcome_correct is False])
    out |= {"silent_recall": silent, "loud_recall": loud,
            "loud_minus_silent": None if silent is None or loud is None else loud - silent,
            "false_alarm_rate": _share([flag for label, flag, _ in flags if not label.faulty])}
    off = [abs(v.failure_step - label.failure_step) for label, flag, v in faults
           if flag and v.failure_step is not None and label.failure_step is not None]
    stepped = [(label, flag) for label, flag, _ in faults if label.failure_step is not None]
    found = sum(flag for _, flag in stepped)
    steps = any(v.failure_step is not None for _, _, v in flags)
    exact = sum(gap == 0 for gap in off)
    out |= {"step_exact": _share([gap == 0 for gap in off]),
            "step_within_one": _share([gap <= 1 for gap in off]),
            "step_exact_over_detected_faults": exact / found if found and steps else None,
            "step_exact_over_all_faults": exact / len(stepped) if stepped and steps else None}
    f1 = []
    for kind in TYPES:
        true = [(label, flag, v) for label, flag, v in faults if label.failure_type == kind]
        out[f"recall|{kind}"] = _share([flag for _, flag, _ in true])
        hits = sum(flag and v.failure_type == kind for _, flag, v in true)
        claimed = sum(flag and v.failure_type == kind for label, flag, v in faults
                      if label.failure_type is not None)
        if true:
            f1.append(2 * hits / (len(true) + claimed))
    out["type_macro_f1"] = _share(f1)
    bins, squares = {}, []
    for label, flag, v in flags:
        confidence = v.confidence if v.status == "ok" else 0.5
        if confidence is None:
            continue
        right = flag == label.faulty
        squares.append((confidence - right) ** 2)
        bins.setdefault(min(int(confidence * 10 + 1e-9), 9), []).append(right - confidence)
    out["brier"] = _share(squares)
    out["ece"] = sum(abs(sum(gaps)) for gaps in bins.values()) / len(squares) if squares else None
    out["coverage"] = _share([judge in said and said[judge].status == "ok" for _, said in rows])
    for name in ("latency_s", "prompt_tokens", "completion_tokens"):
        known = [getattr(v, name) for _, v in pairs if getattr(v, name) is not None]
        out[f"{name}_mean"] = _share(known)
    if sum(v.status == "ok" for _, v in pairs) < len(pairs) / 2:
        out |= {name: None for name in out if name != "coverage" and not name.endswith("_mean")}
    return out


def score_all(rows, judges) -> dict[tuple[str, str], float | None]:
    """Score every judge and every difference of two, keyed (judge, metric)."""
    own = {judge: score(rows, judge) for judge in judges}
    out = {(judge, m): x for judge in judges for m, x in own[judge].items()}
    for a, b in combinations(judges, 2):
        for m in own[a]:
            missing = own[a][m] is None or own[b][m] is None
            out[f"{b} - {a}", m] = None if missing else own[b][m] - own[a][m]
    return out


def bootstrap(rows, judges, rng, draws) -> list[dict]:
    """Resample rows inside design cells and score each replicate."""
    cells = {}
    for row in rows:
        cells.setdefault(cell_of(row[0]), []).append(row)
    out = []
    for _ in range(draws):
        drawn = [cell[i] for cell in cells.values()
                 for i in rng.integers(0, len(cell), len(cell))]
        out.append(score_all(drawn, judges))
    return out
