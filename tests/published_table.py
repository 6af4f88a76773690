"""The paper's verdicts as tables: the published patterns, and the released files."""

import json
from functools import cache
from pathlib import Path

import pandas as pd

from tjlib.measure.table import VerdictTable, table
from tjlib.trace import Label, Verdict

PUBLISHED = Path(__file__).resolve().parents[1] / "data" / "published"
OUTCOME, STEP = "outcome:qwen2.5:14b", "step:qwen2.5:14b"
SMALL, ENSEMBLE = "step:llama3.1:8b", "selfcons3:qwen2.5:14b"

#: The desk's strata, by instance number modulo 6 (spec/judging.md, line 10).
STRATA = ("happy", "restocking", "expired", "non_refundable", "wrong_customer", "already_refunded")


def published(name: str) -> pd.DataFrame:
    return pd.read_csv(PUBLISHED / f"{name}.csv")


@cache
def published_table() -> VerdictTable:
    """Expand the published patterns into 400 labels and 2,000 verdicts."""
    patterns = published("verdict_patterns")
    judges = [name.removesuffix("|faulty") for name in patterns if name.endswith("|faulty")]
    rows = patterns.astype(object).where(patterns.notna(), None).to_dict("records")
    labels, verdicts = [], []
    for row in rows:
        faulty = row["fault"] != "clean"
        for _ in range(row["n"]):
            name = f"p-{len(labels):04d}"
            labels.append(Label(
                name, faulty, int(row["label_step"]) if faulty else None,
                row["fault"] if faulty else None, row["survival"] != "loud"))
            for judge in judges:
                flag, kind, step, confidence = (
                    row[f"{judge}|{f}"] for f in ("faulty", "type", "step", "confidence"))
                step = None if step is None else int(step)
                verdicts.append(Verdict(name, judge, bool(flag), step, kind, confidence))
    return table(labels, verdicts, published("cost"))


@cache
def released_table(folder: Path) -> tuple[VerdictTable, dict[str, str]]:
    """Join the released verdicts to their labels; return the final answers beside them."""
    labels, verdicts, replies = [], [], {}
    for line in (folder / "trajectories.jsonl").read_text("utf-8").splitlines():
        run = json.loads(line)
        name, instance, label = run["trajectory_id"], run["instance_id"], run["label"]
        replies[name] = run["final_answer"]
        stratum = STRATA[int(instance.removeprefix("INS-")) % 6]
        parent = f"{instance}-clean" if label["faulty"] else None
        labels.append(Label(name, **label, instance_id=instance, stratum=stratum,
                            parent_id=parent))
    for line in (folder / "verdicts.jsonl").read_text("utf-8").splitlines():
        said = json.loads(line)
        verdicts.append(Verdict(
            said["trajectory_id"], said["judge_id"], said["faulty"], said["failure_step"],
            said["failure_type"], said["confidence"], latency_s=said["latency_s"],
            prompt_tokens=said["prompt_tokens"], completion_tokens=said["completion_tokens"]))
    return table(labels, verdicts), replies
