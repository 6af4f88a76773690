"""The audit: verdicts follow from the statistics, and change with the data."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from functools import cache

import msgspec
import pandas as pd
import pytest

from tjlib import folds, store
from tjlib.charts.claims import SHAPES, docket
from tjlib.charts.show import show
from tjlib.claims.design import _QUOTED, promised_time
from tjlib.claims.docket import CLAIMS, audit, counts, select
from tjlib.claims.evidence import ROLES, Evidence
from tjlib.claims.trial import (
    CANNOT,
    CONDITION,
    HOLDS,
    NOT,
    VERDICTS,
    Stat,
    put_on_trial,
    rule,
    undefined,
)
from tjlib.desk.testbed import judged_set
from tjlib.measure.table import confusion
from tjlib.trace import FAULT_TYPES, Call, InputError, Observation, Step, Trajectory

DRAWS = 400
OUTCOME, STEP, SMALL, ENSEMBLE = (ROLES[r] for r in ("outcome", "step", "small", "ensemble"))
every_claim = pytest.mark.parametrize("name", CLAIMS)


@cache
def published() -> Evidence:
    source = store.load("published")
    return Evidence(
        source.labels, source.verdicts, source.cost, draws=DRAWS,
        pairs=store.published("parent_pairs"), strata=store.published("flags_by_stratum"),
        figures=store.published("trajectory_judge_numbers"), runs=judged_set())


@cache
def rebuilt() -> Evidence:
    """The desk's own set, each trajectory with the published verdicts on one of its cell."""
    given, said, cells = published(), defaultdict(list), defaultdict(list)
    for v in given.verdicts:
        said[v.trajectory_id].append(v)
    for label in given.labels:
        cells[label.failure_type, label.outcome_correct].append(said[label.trajectory_id])
    trajectories, labels = judged_set()
    verdicts = [msgspec.structs.replace(v, trajectory_id=label.trajectory_id) for label in labels
                for v in cells[label.failure_type, label.outcome_correct].pop()]
    return Evidence(labels, verdicts, None, trajectories, draws=DRAWS)


@cache
def released(folder) -> Evidence:
    release = store.released(folder)
    return Evidence(release.labels, release.verdicts, None, release.trajectories, draws=DRAWS)


def verdict(name: str, evidence: Evidence) -> str:
    return put_on_trial(CLAIMS[name], evidence).ruling.verdict


def revise(e: Evidence, judge: str, change) -> Evidence:
    """Change one judge's verdicts: ``change(verdict, label)`` gives the fields that differ."""
    truth = {label.trajectory_id: label for label in e.labels}
    return replace(e, verdicts=[
        msgspec.structs.replace(v, **(change(v, truth[v.trajectory_id]) or {}))
        if v.judge == judge else v for v in e.verdicts])


def reprice(e: Evidence, judge: str, column: str, times: float) -> Evidence:
    cost = e.cost.copy()
    cost.loc[cost["judge"] == judge, column] *= times
    return replace(e, cost=cost)


def repair(e: Evidence, which, **values) -> Evidence:
    """Change the published pairs where ``which(pairs)`` says so."""
    pairs = e.pairs.copy()
    for column, value in values.items():
        pairs.loc[which(pairs), column] = value
    return replace(e, pairs=pairs)


def clean_flag(v, label):
    """Keep a verdict unless it flags what is clean, or the reverse."""
    return {"faulty": label.faulty, "failure_type": label.failure_type,
            "failure_step": label.failure_step}


def right(v, label) -> bool:
    return v.faulty == label.faulty


def with_costs(e: Evidence) -> Evidence:
    """Give each verdict a cost of its own, three times as much for the ensemble."""
    numbers = {label.trajectory_id: i for i, label in enumerate(e.labels)}

    def cost(times):
        return lambda v, _: {"latency_s": times * (1.0 + numbers[v.trajectory_id] % 7),
                             "prompt_tokens": 900 * times, "completion_tokens": 50 * times}
    return revise(revise(e, STEP, cost(1)), ENSEMBLE, cost(3))


def more_misnamed(e: Evidence) -> Evidence:
    """Call a dozen well-named wrong_tool faults by another name: 86 of 257, a third."""
    left = iter(range(12))
    return revise(e, STEP, lambda v, label: {"failure_type": "premature_stop"}
                  if label.failure_type == "wrong_tool" and next(left, None) is not None else {})


def three_in_five(e: Evidence) -> Evidence:
    """Flag 180 of the 300 faults and nothing else: an F1 of 360 / 480, the base rate."""
    left = iter(range(180))
    return revise(e, SMALL, lambda v, label: {"failure_type": None, "failure_step": None,
                  "faulty": label.faulty and next(left, None) is not None})


def one_alarm(e: Evidence) -> Evidence:
    left = iter(range(1))
    return revise(e, STEP, lambda v, label: {"faulty": True}
                  if not label.faulty and next(left, None) is not None else {})


def only_one_rule(e: Evidence) -> Evidence:
    kept = [(t, x) for t, x in zip(*e.runs, strict=True) if x.failure_type in
            ("hallucinated_argument", "skipped_precondition", "ignored_observation")]
    return replace(e, runs=tuple(zip(*kept, strict=True)))


def policy_read(e: Evidence) -> Evidence:
    """Let wrong_tool runs read the policy after all: the ninth rule has nothing left to catch."""
    def after(run, label):
        if label.failure_type != "wrong_tool":
            return run
        sku = run.steps[1].observations[0].data["sku"]
        read = Step("", (Call("get_policy", {"sku": sku}),), (Observation(True),))
        return msgspec.structs.replace(run, steps=(*run.steps[:2], read, *run.steps[2:]))
    runs, labels = e.runs
    return replace(e, runs=(tuple(map(after, runs, labels)), labels))


def flagged_everywhere(e: Evidence) -> Evidence:
    strata = e.strata.copy()
    strata.loc[strata["judge"] == OUTCOME, "flagged"] = 1
    return replace(e, strata=strata)


def as_step(e: Evidence) -> Evidence:
    said = {v.trajectory_id: v for v in e.verdicts if v.judge == STEP}
    return revise(e, ENSEMBLE, lambda v, _: {
        f: getattr(said[v.trajectory_id], f)
        for f in ("faulty", "failure_type", "failure_step", "confidence")})


def loud_unchanged(pairs):
    return ((pairs["judge"] == OUTCOME) & (pairs["survival"] == "loud")
            & (pairs["reply"] == "unchanged"))


def invented_by_outcome(pairs):
    return (pairs["judge"] == OUTCOME) & (pairs["fault"] == "unsupported_claim")


#: For each claim: what to do to the published data, and the verdict then.
OTHERWISE = {
    "zero-alarms": (one_alarm, NOT),
    "step-cost": (lambda e: reprice(e, STEP, "latency_s_mean", 2), CONDITION),
    "one-sentence": (lambda e: revise(e, STEP, clean_flag), NOT),
    "distinct-inputs": (lambda e: rebuilt(), CONDITION),
    "pooled-hides": (lambda e: revise(e, OUTCOME, clean_flag), NOT),
    "gap-paired": (lambda e: repair(e, loud_unchanged, fault_flagged=1, parent_flagged=0), HOLDS),
    "beyond-dispute": (lambda e: rebuilt(), HOLDS),
    "one-rule": (only_one_rule, HOLDS),
    "ninth-rule": (policy_read, HOLDS),
    "by-instance": (lambda e: rebuilt(), CONDITION),
    "nearly-exact": (lambda e: revise(e, STEP, lambda v, label: {
        "failure_step": label.failure_step} if v.faulty else {}), HOLDS),
    "nearly-honest": (lambda e: revise(e, STEP, lambda v, label: {
        "confidence": 0.98 if right(v, label) else 0.02}), HOLDS),
    "uniformly-one": (lambda e: revise(e, SMALL, lambda v, _: {"faulty": True}), HOLDS),
    "most-certain": (lambda e: revise(e, OUTCOME, lambda v, label: {
        "confidence": 0.6 if right(v, label) else 0.99}), HOLDS),
    "gap-strata": (flagged_everywhere, NOT),
    "reply-equal": (lambda e: repair(e, lambda p: p["fault"] == "ignored_observation",
                                     reply="changed"), HOLDS),
    "gets-worse": (lambda e: repair(e, invented_by_outcome, parent_flagged=0), HOLDS),
    "base-rate": (three_in_five, HOLDS),
    "errors-certain": (lambda e: revise(e, STEP, lambda v, label: {
        "confidence": v.confidence if label.failure_type == "unsupported_claim" else 0.8}),
        CONDITION),
    "ensemble-cost": (lambda e: reprice(e, ENSEMBLE, "latency_s_mean", 2), CONDITION),
    "ensemble-fixed": (with_costs, HOLDS),
    "ensemble-calibration": (as_step, NOT),
    "same-promises": (lambda e: revise(e, ENSEMBLE, lambda v, _: {
        "confidence": v.confidence if v.faulty else 1.0}), HOLDS),
    "a-third": (more_misnamed, HOLDS),
    "deltas-straddle": (lambda e: revise(e, ENSEMBLE, lambda v, label: {
        "faulty": True, "failure_step": 0, "failure_type": "wrong_tool"}), NOT),
}


@every_claim
def test_other_data_give_another_verdict(name):
    change, then = OTHERWISE[name]
    assert verdict(name, published()) != then
    assert verdict(name, change(published())) == then


def test_drawing_without_cells_leaves_every_value_where_it_is():
    e = published()
    for what, metric, roles in _QUOTED.values():
        kept, free = (e.score(what, metric, *roles, by=by) for by in ("trajectory", "freely"))
        assert free.value == pytest.approx(kept.value)


def test_the_published_verdicts():
    trials = audit(published())
    assert counts(trials) == {HOLDS: 4, CONDITION: 14, NOT: 3, CANNOT: 4}
    assert [t.claim.id for t in trials if t.ruling.verdict == NOT] == [
        "ninth-rule", "most-certain", "base-rate"]
    assert [t.claim.id for t in trials if t.as_written] == [
        "zero-alarms", "one-sentence", "nearly-exact", "gap-strata"]
    assert [t.claim.id for t in audit(published()) if not t.tested] == [
        "distinct-inputs", "beyond-dispute", "by-instance", "ensemble-fixed"]


def test_the_release_is_judged_as_its_tables_are_and_leaves_nothing_untested(shared):
    ours = {t.claim.id: t for t in audit(released(shared / "released"))}
    for trial in audit(published()):
        mine = ours[trial.claim.id]
        assert mine.tested
        if trial.tested:
            assert mine.ruling.verdict == trial.ruling.verdict, trial.claim.id
            for name, stat in trial.stats.items():
                if stat.value is not None:
                    # The tables of costs are printed with six digits.
                    assert mine.stats[name].value == pytest.approx(stat.value, rel=1e-4), name
                    assert (mine.stats[name].k, mine.stats[name].n) == (stat.k, stat.n)


def test_what_only_the_text_tells(shared):
    found = {t.claim.id: t.stats for t in audit(released(shared / "released"))}
    distinct = found["distinct-inputs"]
    assert (distinct["distinct"].k, distinct["split"].k, distinct["split"].n) == (241, 0, 74)
    clean = found["beyond-dispute"]
    assert [(s.k, s.n) for s in clean.values()] == [(66, 100), (23, 34), (10, 66), (0, 23)]
    fixed = found["ensemble-fixed"]
    assert [fixed[n].k for n in ("seconds", "prompt tokens", "completion tokens")] == [118, 400, 94]
    assert found["distinct-inputs"]["gap"].value == pytest.approx(105 / 125 - 79 / 175)
    assert "voucher" in found["one-sentence"]["best"].what


@every_claim
def test_the_quotation_is_the_papers(name, shared):
    [path] = (shared / "papers").glob("trajectory-judge_*.txt")
    # Letters and figures only; the text gives a formula twice, in two markups.
    plain = re.compile(r"[^a-z0-9.%]+")
    text = plain.sub("", path.read_text("utf-8").lower()).replace("33times", "3")
    assert plain.sub("", CLAIMS[name].quote.lower()) in text


def test_the_statistics_agree_with_what_the_publication_states():
    figures = store.published("trajectory_judge_numbers").set_index(["subject", "metric"])
    found = {t.claim.id: t.stats for t in audit(published())}
    for vote in ("none", "one"):
        figure = figures.loc[(ENSEMBLE, f"unsupported_claim_with_{'01'[vote == 'one']}_of_3_votes")]
        assert found["same-promises"][vote].k == float(figure["published"])
    share = float(figures.loc[(STEP, "detected_but_mistyped_share"), "published"])
    assert found["a-third"]["misnamed"].value == pytest.approx(share, abs=1e-6)
    detected = float(figures.loc[(STEP, "step_exact_over_detected_faults"), "published"])
    assert found["nearly-exact"]["detected"].value == pytest.approx(detected, abs=5e-4)


def test_misattribution_is_the_confusion_matrix_off_its_diagonal():
    matrix = confusion(published().table, STEP)
    detected = matrix.to_numpy().sum() - matrix["missed"].sum()
    well_named = sum(matrix.loc[kind, kind] for kind in FAULT_TYPES)
    stat = put_on_trial(CLAIMS["a-third"], published()).stats["misnamed"]
    assert (stat.k, stat.n) == (detected - well_named, detected)


def test_a_ninth_rule_would_flag_an_agent_that_passed_without_the_policy(shared):
    e = replace(published(), organic=store.released_agent(shared / "released"))
    stat = put_on_trial(CLAIMS["ninth-rule"], e).stats["organic"]
    assert (stat.k, stat.n) == (7, 47)


def test_words_are_true_as_written_only_where_a_stronger_question_limits_them():
    trial = put_on_trial(CLAIMS["zero-alarms"], published())
    assert trial.ruling.verdict == CONDITION and trial.as_written
    assert not put_on_trial(CLAIMS["zero-alarms"], one_alarm(published())).as_written
    assert not put_on_trial(CLAIMS["pooled-hides"], published()).as_written
    page = folds.Folds([trial], "a source", dict.fromkeys(SHAPES, ""))._repr_html_()
    assert "As written" in page


def test_the_other_types_and_the_errors_are_counted_as_a_frame_counts_them():
    found = {t.claim.id: t.stats for t in audit(published(), ["gets-worse", "errors-certain"])}
    least, errors = found["gets-worse"]["others"], found["errors-certain"]
    assert "premature_stop" in least.what and least.value == pytest.approx(48 / 50 - 50 / 50)
    assert [(errors[role].k, errors[role].n) for role in ROLES] == [
        (85, 149), (43, 43), (81, 103), (32, 48)]
    assert errors["outcome, all"].k == 276


def test_a_figure_that_was_not_measured_here_is_called_published():
    stats = put_on_trial(CLAIMS["one-sentence"], published()).stats
    assert all(stats[name].how.startswith("published figure") for name in ("best", "rest"))
    assert verdict("one-sentence", replace(published(), figures=None)) == CANNOT


def x(value, lo=None, hi=None, k=None, n=None) -> Stat:
    return Stat("a number", value, lo, hi, k, n)


def of(k, n) -> Stat:
    return Stat("a share", k / n, None, None, k, n)


THREE = {"seconds": x(3.1), "prompt tokens": x(2.6), "completion tokens": x(3.4)}
FLAT = {**dict.fromkeys(THREE, x(1.5)), "seconds": x(3.6)}
CALIBRATION = dict.fromkeys(CLAIMS["ensemble-calibration"].essential, x(0.2, 0.1, 0.3))
EXACT = {kind: of(9, 10) for kind in FAULT_TYPES}
WIDE = {f"{n}{end}": x(0.4, 0.2, 0.6) for n in ("gap", "view", "ece", "silent", "loud", "step")
        for end in ("", ", usual")}
HONEST = {"ece": x(0.03), "value": x(0.04), "apart": x(0.1, 0.05, 0.2), "modal": of(3, 4)}
LOSS = {"others": x(-0.1, -0.2, 0.0)}
REPLIES = {"gap": x(0.3, 0.2, 0.4), "unchanged": x(0.0, -0.1, 0.1),
           "changed": x(0.4, 0.2, 0.6), "same": of(9, 9)}
RATES = {"precision": x(0.745), "base": of(3, 4), "always": x(0.86)}
QUOTED = {name: x(0.0, -0.1, 0.1) for name in ("F1", "silent recall", "type macro-F1",
                                               "step exact")}

#: Statistics made up by hand, and what each rule must make of them.
BY_HAND = [
    ("zero-alarms", {"alarms": x(0.0, 0.0, 0.009, 0, 400), "needed": x(368)}, HOLDS),
    ("zero-alarms", {"alarms": x(0.0, 0.0, 0.3, 0, 10), "needed": x(368)}, CONDITION),
    ("zero-alarms", {"alarms": x(0.1, 0.0, 0.4, 1, 10), "needed": x(368)}, NOT),
    ("step-cost", THREE, HOLDS),
    ("step-cost", {**FLAT, "seconds": x(3.1)}, HOLDS),  # seconds are the paper's unit
    ("step-cost", {**THREE, "seconds": x(3.6)}, CONDITION),
    ("step-cost", {**THREE, "seconds": undefined("s", "free")}, CANNOT),
    ("step-cost", FLAT, NOT),
    ("ensemble-cost", dict.fromkeys(THREE, undefined("s", "free")), CANNOT),
    ("one-sentence", {"recall": x(0.2, 0.1, 0.3), "best": x(0.4, 0.2, 0.6),
                      "rest": x(0.1, 0.0, 0.3)}, HOLDS),
    ("one-sentence", {"recall": x(0.2, 0.1, 0.3), "best": x(0.9, 0.5, 1.0),
                      "rest": x(0.1, 0.0, 0.3)}, CONDITION),
    ("one-sentence", {"recall": x(0.8, 0.6, 0.9), "best": x(0.9, 0.5, 1.0),
                      "rest": x(0.1, 0.0, 0.3)}, NOT),
    ("distinct-inputs", {"distinct": of(5, 5), "split": undefined("r", "none")}, HOLDS),
    ("distinct-inputs", {"distinct": of(3, 5), "split": of(0, 1)}, CONDITION),
    ("distinct-inputs", {"distinct": of(2, 5), "split": of(0, 1)}, NOT),
    ("pooled-hides", {"gap": x(0.2, 0.1, 0.3), "loud": x(0.6), "silent": x(0.4),
                      "pooled": x(0.5)}, HOLDS),
    ("pooled-hides", {"gap": x(0.2, 0.0, 0.3), "loud": x(0.6), "silent": x(0.4),
                      "pooled": x(0.5)}, NOT),
    ("gap-paired", {**REPLIES, "unchanged": x(0.3, 0.1, 0.5)}, HOLDS),
    ("gap-paired", REPLIES, CONDITION),
    ("gap-paired", {**REPLIES, "changed": x(0.4, -0.2, 0.8)}, CANNOT),  # no evidence either way
    ("gap-paired", {**REPLIES, "gap": x(0.1, -0.1, 0.2)}, NOT),
    ("beyond-dispute", {"free": of(4, 4)}, HOLDS),
    ("beyond-dispute", {"free": of(3, 4)}, CONDITION),
    ("beyond-dispute", {"free": of(2, 4)}, NOT),
    ("one-rule", {"one": of(4, 4), "none": of(2, 6)}, HOLDS),
    ("one-rule", {"one": of(3, 4), "none": of(0, 4)}, CONDITION),
    ("one-rule", {"one": of(2, 4), "none": of(0, 4)}, NOT),
    ("ninth-rule", {"caught": of(0, 4), "alarms": of(0, 2)}, HOLDS),
    ("ninth-rule", {"caught": of(2, 4), "alarms": of(0, 2), "organic": of(1, 2)}, NOT),
    ("ninth-rule", {"caught": of(2, 4), "alarms": of(1, 2)}, CONDITION),
    ("by-instance", {**WIDE, "gap, width": x(1.05)}, HOLDS),
    ("by-instance", {**WIDE, "gap, width": x(1.5)}, CONDITION),
    ("by-instance", {**WIDE, "gap": x(0.4, -0.1, 0.9), "gap, width": x(2.5)}, NOT),
    ("by-instance", WIDE, CANNOT),
    ("nearly-exact", {"scored": x(0.97), "detected": x(0.96), **EXACT}, HOLDS),
    ("nearly-exact", {"scored": x(0.97), "detected": x(0.80), **EXACT}, CONDITION),
    ("nearly-exact", {"scored": x(0.90), "detected": x(0.80), **EXACT}, NOT),
    ("nearly-honest", HONEST, HOLDS),
    ("nearly-honest", {**HONEST, "apart": x(0.0, -0.1, 0.1)}, CONDITION),
    ("nearly-honest", {**HONEST, "value": x(0.06)}, CONDITION),
    ("nearly-honest", {**HONEST, "ece": x(0.06)}, NOT),
    ("errors-certain", {"step": of(4, 4), "step, all": of(5, 9)}, HOLDS),
    ("errors-certain", {"step": of(3, 4), "step, all": of(5, 9)}, CONDITION),
    ("errors-certain", {"step": of(2, 4), "step, all": of(5, 9)}, NOT),
    ("uniformly-one", {"ones": of(7, 7), "lowest": x(1.0)}, HOLDS),
    ("uniformly-one", {"ones": of(4, 7), "lowest": x(0.9)}, CONDITION),
    ("uniformly-one", {"ones": of(3, 7), "lowest": x(0.9)}, NOT),
    ("most-certain", {"top": of(1, 4), "elsewhere": of(2, 4), "over": x(0.7),
                      "over elsewhere": x(0.2), "contribution": x(0.8)}, HOLDS),
    ("most-certain", {"top": of(2, 4), "elsewhere": of(2, 4), "over": x(0.4),
                      "over elsewhere": x(0.2), "contribution": x(0.8)}, CONDITION),
    ("most-certain", {"top": of(3, 4), "elsewhere": of(2, 4), "over": x(0.1),
                      "over elsewhere": x(0.2), "contribution": x(0.8)}, NOT),
    ("gap-strata", {"standardised": x(0.3, 0.2, 0.4), "in a": x(0.3, 0.1, 0.5)}, HOLDS),
    ("gap-strata", {"standardised": x(0.3, 0.2, 0.4), "in a": x(0.3, -0.1, 0.5)}, CONDITION),
    ("gap-strata", {"standardised": x(0.3, -0.1, 0.4), "in a": x(0.3, 0.1, 0.5)}, NOT),
    ("reply-equal", {"types": of(3, 6)}, HOLDS),
    ("reply-equal", {"types": of(4, 6)}, CONDITION),
    ("reply-equal", {"types": of(2, 6)}, NOT),
    ("gets-worse", {"raw": x(-0.3, -0.4, -0.2), "paired": x(-0.2, -0.3, -0.1), **LOSS}, HOLDS),
    ("gets-worse", {"raw": x(-0.3, -0.4, -0.2), "paired": x(0.0, -0.1, 0.1), **LOSS}, CONDITION),
    ("gets-worse", {"raw": x(-0.1, -0.4, 0.2), "paired": x(-0.2, -0.3, -0.1), **LOSS}, NOT),
    ("base-rate", {"f1": x(0.755), **RATES}, HOLDS),
    ("base-rate", {"f1": x(0.855), **RATES}, NOT),  # flagging everything is not the base rate
    ("base-rate", {"f1": x(0.600), **RATES}, NOT),
    ("ensemble-fixed", {n: of(4, 4) for n in THREE}, HOLDS),
    ("ensemble-fixed", {**{n: of(1, 4) for n in THREE}, "seconds": of(4, 4)}, CONDITION),
    ("ensemble-fixed", {n: of(3, 4) for n in THREE}, CONDITION),
    ("ensemble-fixed", {**{n: of(4, 4) for n in THREE}, "seconds": of(2, 4)}, NOT),
    ("ensemble-calibration", CALIBRATION, HOLDS),
    ("ensemble-calibration", {**CALIBRATION, "brier": x(0.1, -0.1, 0.2)}, CONDITION),
    ("ensemble-calibration", {**CALIBRATION, "ece": x(0.1, 0.0, 0.2)}, NOT),
    ("same-promises", {"none": x(1.0, 0.6, 1.0, 7, 7), "one": of(0, 7)}, HOLDS),
    ("same-promises", {"none": x(0.8, 0.6, 0.9, 8, 10), "one": of(2, 10)}, CONDITION),
    ("same-promises", {"none": x(0.5, 0.3, 0.7, 5, 10), "one": of(5, 10)}, NOT),
    ("a-third", {"misnamed": x(0.34, 0.25, 0.4), "exact": x(0.34, 0.2, 0.5)}, HOLDS),
    ("a-third", {"misnamed": x(0.28, 0.25, 0.4), "exact": x(0.28, 0.2, 0.5)}, CONDITION),
    ("a-third", {"misnamed": x(0.30, 0.28, 0.32), "exact": x(0.30, 0.2, 0.5)}, CONDITION),
    ("a-third", {"misnamed": x(0.28, 0.25, 0.3), "exact": x(0.28, 0.24, 0.32)}, NOT),
    ("deltas-straddle", QUOTED, HOLDS),
    ("deltas-straddle", {**QUOTED, "F1": x(-0.1, -0.2, 0.0)}, HOLDS),
    ("deltas-straddle", {**QUOTED, "recall": x(-0.1, -0.2, -0.05)}, CONDITION),
    ("deltas-straddle", {**QUOTED, "F1": x(-0.1, -0.2, -0.05)}, CONDITION),
    ("deltas-straddle", {**QUOTED, "F1": x(-0.1, -0.2, -0.05), "step exact": x(0.1, 0.05, 0.2)},
     NOT),
]


@pytest.mark.parametrize(("name", "stats", "then"), BY_HAND)
def test_the_rule_says_by_hand_what_it_must(name, stats, then):
    found = rule(CLAIMS[name], stats)
    assert found.verdict == then
    assert found.reason.endswith(".")


def test_every_rule_was_worked_by_hand():
    assert {name for name, _, _ in BY_HAND} == set(CLAIMS) == set(OTHERWISE)


@every_claim
def test_the_verdict_follows_from_the_statistics_alone_and_says_their_numbers(name):
    trial = put_on_trial(CLAIMS[name], published())
    assert rule(trial.claim, dict(trial.stats)) == trial.ruling
    assert trial.claim.shown in trial.stats and set(trial.claim.essential) <= set(trial.stats)
    numbers = set(re.findall(r"-?\d+\.\d+|\d+", trial.ruling.reason))
    printed = set(re.findall(r"-?\d+\.\d+|\d+", " ".join(
        f"{s.what} {s} {s.k or 0:.0f} {s.n or 0:.0f}" for s in trial.stats.values())))
    assert not trial.tested or numbers & printed


@every_claim
def test_an_undefined_essential_statistic_ends_the_trial_with_its_reason(name):
    claim = CLAIMS[name]
    stats = put_on_trial(claim, published()).stats
    for essential in claim.essential:
        found = rule(claim, {**stats, essential: undefined("the number", "nobody counted")})
        assert found.verdict == CANNOT


def test_without_the_papers_judges_the_sentences_about_them_cannot_be_tested():
    e = replace(rebuilt(), judges=dict.fromkeys(ROLES, "nobody"))
    trials = {t.claim.id: t for t in audit(e)}
    tried = [name for name, t in trials.items() if t.tested]
    assert tried == ["beyond-dispute", "one-rule", "ninth-rule",
                     "reply-equal"]  # about the set, not a judge
    assert "no verdicts by nobody" in trials["zero-alarms"].ruling.reason


def test_a_judge_in_two_roles_differs_from_itself_in_nothing_that_could_be_tested():
    e = replace(published(), judges=ROLES | {"ensemble": STEP})
    trial = put_on_trial(CLAIMS["deltas-straddle"], e)
    assert trial.ruling.verdict == CANNOT
    assert f"both are {STEP}" in trial.ruling.reason


def test_no_alarm_of_a_rule_bounds_its_rate_as_any_count_does():
    e = replace(published(), judges=ROLES | {"step": "programmatic"})
    alarms = put_on_trial(CLAIMS["zero-alarms"], e).stats["alarms"]
    assert alarms.hi == pytest.approx(0.0362, abs=1e-4)


def test_a_sentence_can_be_tried_on_another_judge():
    e = replace(published(), judges=ROLES | {"small": OUTCOME})
    assert verdict("uniformly-one", e) == NOT != verdict("uniformly-one", published())


def test_trying_one_claim_gives_the_numbers_of_trying_all_and_of_trying_again():
    everything = {t.claim.id: t.table().to_string() for t in audit(published())}
    for name in CLAIMS:
        [alone] = audit(replace(published()), [name])
        assert alone.table().to_string() == everything[name]


def test_another_seed_moves_the_bounds_and_not_the_values():
    [a], [b] = (audit(replace(published(), seed=s), ["pooled-hides"]) for s in (1, 2))
    assert a.stats["gap"].value == b.stats["gap"].value
    assert a.stats["gap"].lo != b.stats["gap"].lo


def test_an_unknown_claim_is_refused_with_the_known_ones():
    with pytest.raises(InputError, match=r"no claim a-forth; there are: zero-alarms, .*a-third"):
        select(["a-forth"])


def test_a_promised_time_that_an_observation_stated_is_no_promise_of_the_agents():
    seen = Step("", (), (Observation(True, {"note": "paid within two days"}),))
    reply = "It is paid within two days. We call in three weeks."
    assert promised_time(Trajectory("a", "", (seen,), reply)) == "in three weeks"
    assert promised_time(Trajectory("a", "", (seen,), "Paid within two days.")) == ""
    assert promised_time(Trajectory("a", "", (), "It was paid.")) == ""


def test_a_resampled_number_is_the_published_metric_when_it_is_one():
    e, j = published(), published().column("step")
    t = e.table
    precise = e.estimate("precision", {"hit": t.flag[:, j] & t.faulty, "flag": t.flag[:, j]},
                         lambda s: (s["hit"], s["flag"]))
    assert precise.value == e.score("precision", "precision", "step").value == 1.0
    alarm = e.estimate("recall", {"hit": t.flag[:, j] & t.faulty, "all": t.faulty},
                       lambda s: (s["hit"], s["all"]))
    usual = e.score("recall", "recall", "step")
    assert alarm.value == pytest.approx(usual.value)
    assert alarm.lo == pytest.approx(usual.lo, abs=0.01)


def test_the_folds_are_escaped_headed_by_the_verdict_and_open_by_keyboard():
    trial = put_on_trial(CLAIMS["a-third"], published())
    evil = replace(trial, claim=replace(trial.claim, quote="<script>x</script>"))
    marks = {name: mark for name, (_, mark) in SHAPES.items()}
    page = folds.Folds([evil], "a <source>", marks)._repr_html_()
    assert "<script" not in page and "&lt;script&gt;" in page and "a &lt;source&gt;" in page
    assert re.search(r'<details id="claim-a-third"><summary>[^<]+<strong>holds with a c', page)
    assert "74 of 257" in page.replace("\N{NO-BREAK SPACE}", " ")
    assert page.count("<details") == page.count("</details>") == 1


def test_the_figure_has_a_row_for_each_claim_and_draws_no_number_without_a_ruling():
    rows = folds.rows(audit(published()))
    assert list(rows["claim"]) == list(CLAIMS)
    untested = rows[rows["verdict"] == CANNOT]
    assert untested[["value", "lo", "hi", "claimed"]].isna().all(axis=None)
    assert tuple(SHAPES) == VERDICTS and len({shape for shape, _ in SHAPES.values()}) == 4
    shown = show(docket(rows), name="docket", alt="One row a sentence with its verdict.")
    data = next(iter(shown.spec["datasets"].values()))
    assert [row["verdict"] for row in data] == list(rows["verdict"])


def test_the_figure_draws_when_nothing_could_be_tested():
    rows = folds.rows(audit(replace(published(), judges=dict.fromkeys(ROLES, "nobody")),
                            ["zero-alarms"]))
    assert isinstance(rows, pd.DataFrame) and rows["value"].isna().all()
    picture = show(docket(rows), name="none", alt="One row without a number.").svg
    assert "cannot be tested" in picture
