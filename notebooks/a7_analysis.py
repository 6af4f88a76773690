# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Recall is not detection
#
# **The claim.** A judge detects what it flags beyond what it would have flagged without the fault.
# The *trajectory-judge* paper ([arXiv 2609.00038](https://arxiv.org/abs/2609.00038), sections 7.1
# to 7.5 and Table 9) compares recalls: the share of faults that each judge flags. But most of its
# faults were made from a clean run that stands in the same set and was judged as well. So every
# comparison can be made a second time, with the flags on the clean run subtracted. This chapter
# rebuilds the paper's analysis and then does that.
#
# ```{admonition} In one minute
# Recall mixes two things: what a judge sees in a fault, and how ready it is to flag that case with
# no fault in it. Where a fault left the reply exactly as it was, the outcome judge, which sees the
# reply and not the steps, flags {glue:text}`a7-loud-recall` of the loud faults (the case ended
# wrong) and {glue:text}`a7-silent-recall` of the silent ones (it ended as it should); less its
# flags on the clean runs of the same cases, {glue:text}`a7-loud-paired` and
# {glue:text}`a7-silent-paired` are left. Over all faults with a clean run beside them,
# {glue:text}`a7-level-loud-outcome` of the loud and {glue:text}`a7-level-silent-outcome` of the
# silent ones are left to the outcome judge, and {glue:text}`a7-level-loud-step` and
# {glue:text}`a7-level-silent-step` to the step judge, which sees the steps too. Loud minus silent,
# this is a gap of {glue:text}`a7-gap-paired-outcome` for the first and
# {glue:text}`a7-gap-paired-step` for the second. A gap does not say which levels it lies between,
# so report the levels.
# ```
#
# Numbers in brackets are 95 % intervals. A dagger marks an exact binomial interval, a double dagger
# a judge that is constant by construction. A value without brackets came out the same in every
# resample (every run of a cell got the same verdict), or it is a mean of which only the mean is
# published.
#
# A fault is **{term}`silent <silent fault>`** if the case still ended as it should, and
# **{term}`loud <loud fault>`** if it did not. Its **{term}`clean parent`** is the clean run of the
# same case that it was made from. **{term}`Paired discrimination <paired discrimination>`** is the
# share of faults flagged minus the share of their clean parents flagged: 1 is perfect, and a judge
# that looks at nothing scores 0. It is a net count. A pair in which only the fault was flagged
# counts for the judge, and a pair in which only the clean run was flagged counts against it.
#
# ```{admonition} Why a number can carry another interval on another page
# :class: dropdown
# An interval belongs to a way of drawing. The shares in {numref}`fig-a7-claims` and
# {numref}`fig-a7-naming`, and the recalls in {numref}`fig-a7-slopes`, have exact binomial
# intervals, which take trajectories as independent and let the mix of types vary. All others
# without a dagger come from {glue:text}`a7-draws` resamples with seed {glue:text}`a7-seed`. Scores
# of whole judges are resampled inside the design cells, as in the paper and in
# [the results](a6_results); pairs inside cells of type, survival and reply; the table by stratum
# inside stratum, type and survival.
# ```

# %% [markdown]
# ## Choose the verdicts
#
# Rerun this page on other verdicts with `tjlib rerun a7_analysis -p verdicts FILE`, or with
# `-p verdicts recorded` for the run that comes with this book. Where a sentence is about a judge
# that you do not have, it says so in place of the number. Judges are found by their ids,
# `DESIGN:MODEL`; the outcome judge, the step judge and the ensemble of the text are those
# of one model. With `-p recorded FILE` your judges stand beside the published ones at the
# capability floor, and nowhere else.
#
# Of the trajectories asked about in these verdicts, {glue:text}`a7-coverage`. A judge's own figures
# are over those it judged; a difference of two judges is over those that both judged.

# %% tags=["parameters"]
verdicts: str = "published"  # published, released, recorded, a verdict file, or a folder of one
labels: str = ""  # the labels of a verdict file; empty: labels.jsonl beside it
recorded: str = "recorded"  # judges to set beside the published ones: recorded, or a verdict file
draws: int = 10_000  # bootstrap replicates behind every interval
seed: int = 0  # seed of the bootstrap

# %% tags=["hide-input"]
from tjlib import chapter

given = chapter.check(
    globals(),
    draws=lambda value: None if 100 <= value <= 100_000 else "give 100 to 100000",
)

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from tjlib import store, tables
from tjlib.charts import analysis, beside
from tjlib.charts.show import show
from tjlib.desk.faults import CLAIMS
from tjlib.measure import sentences, votes
from tjlib.measure.against import compare
from tjlib.measure.alternatives import alternatives
from tjlib.measure.attribution import SHARES, attribution, exact_share
from tjlib.measure.common import common, coverage
from tjlib.measure.costs import cost_ratio
from tjlib.measure.floor import above_zero, floor_check, standing, standings
from tjlib.measure.gap import GAPS, gaps, slopes
from tjlib.measure.intervals import intervals
from tjlib.measure.kinds import side_by_side, trio
from tjlib.measure.pairs import discrimination, pairs_from
from tjlib.measure.resample import bounds_or_why, replicate_weights
from tjlib.measure.strata import by_stratum, strata_from
from tjlib.measure.table import table
from tjlib.measure.verdicts import metrics
from tjlib.trace import FAULT_TYPES, InputError, Verdict

source = store.load(given.verdicts, labels=given.labels or None)
verdict_table = table(source.labels, source.verdicts, source.cost)
rng = np.random.default_rng(given.seed)
found = intervals(verdict_table, rng, draws=given.draws)
numbers = store.published("trajectory_judge_numbers")
names = tables.judge_names(verdict_table.judges)
chapter.text("a7-coverage", coverage(verdict_table))
chapter.text("a7-draws", str(given.draws))
chapter.text("a7-seed", str(given.seed))

# %% tags=["hide-input"]
OUTCOME, STEP, ENSEMBLE = trio(verdict_table.judges)
STEP_8B = "step:llama3.1:8b"
VIEW, VOTING = (STEP, OUTCOME), (ENSEMBLE, STEP)  # the first minus the second
NOWHERE = {"value": None, "lo": None, "hi": None, "k": None, "n": None, "why": "(undefined here)"}


def pick(frame: pd.DataFrame, **where: str) -> dict:
    """Return the one row asked for, or a row that says why there is none."""
    missing = NOWHERE | {"why": "(not judged here)"} if len(frame) else NOWHERE
    for name, value in where.items():
        frame = frame[frame[name] == value] if len(frame) else frame
    return frame.to_dict("records")[0] if len(frame) else missing


def minus(frame: pd.DataFrame, a: str, b: str, **where: str) -> dict:
    """Return the difference of two judges, in whichever order the frame holds them."""
    row, turned = (pick(frame, judge=f"{x} - {y}", **where) for x, y in ((a, b), (b, a)))
    if "judge" in row or turned["value"] is None:
        return row if "judge" in row else turned
    ends = (None, None) if turned["lo"] is None else (0.0 - turned["hi"], 0.0 - turned["lo"])
    return turned | {"value": 0.0 - turned["value"], "lo": ends[0], "hi": ends[1]}


def say(name: str, row: dict, digits: int = 2) -> None:
    """Put one estimate, with its interval, where the text asks for it."""
    chapter.text(name, tables.estimate(row, digits))


# %% tags=["hide-input"]
def excludes_zero(row: dict) -> bool | None:
    """Tell whether the interval leaves 0 out; None where there is none."""
    return None if row["lo"] is None else bool(row["lo"] > 0 or row["hi"] < 0)


def word(name: str, truth: bool | None, yes: str, no: str) -> None:
    """Put one of two wordings into the text, or that there is nothing to choose by."""
    chapter.text(name, "(undefined here)" if truth is None else yes if truth else no)


# %% tags=["hide-input"]
why_no_pairs, pairs, strata = "", pd.DataFrame(), pd.DataFrame()
paired_origin = strata_origin = source.origin
if source.name == "published":
    paired_origin = "published: the released verdicts, tabulated in data/published/parent_pairs.csv"
    strata_origin = paired_origin.replace("parent_pairs", "flags_by_stratum")
    pairs, strata = store.published("parent_pairs"), store.published("flags_by_stratum")
else:
    replies = {x.trajectory_id: x.final_answer for x in source.trajectories or []}
    try:
        pairs = pairs_from(verdict_table, replies)
    except InputError as error:
        why_no_pairs = f"undefined: {error}"
    if all(label.stratum for label in source.labels):
        strata = strata_from(verdict_table)
both_origins = "; ".join(dict.fromkeys((source.origin, paired_origin)))
paired = discrimination(pairs, rng, draws=given.draws) if len(pairs) else pd.DataFrame()


def nothing(caption: str, why: str = "") -> tables.Table:
    """Stand where a figure or table would, and say why it is not there."""
    row = {"undefined": why.removeprefix("undefined: ") or "no judge of this comparison is here"}
    return tables.show(pd.DataFrame([row]), caption, source.origin)


# %% [markdown]
# ## The view changes, the model does not
#
# The outcome judge and the step judge are one model with the same procedure, the same list of fault
# types and the same decoding; only the step judge is shown the steps (section 7.1). From the
# outcome judge to the step judge, silent recall changes by {glue:text}`a7-view-silent`, loud recall
# by {glue:text}`a7-view-loud` and false alarms by {glue:text}`a7-view-alarm`. Recall on one type,
# `unsupported_claim`, changes by {glue:text}`a7-view-claim`. In the published verdicts that one
# falls, and a section below asks whether the fall is real.
#
# Within the outcome judge, loud recall minus silent recall is {glue:text}`a7-gap-all`. The paper
# reads such a gap as the judge's blind spot, but it can have two causes. The judge may react to
# what the fault did; or the loud faults may happen to sit in cases that it is quick to flag anyway.
# Where the fault left the reply as it was, the question answers itself: a judge of replies then
# gets the same input for the fault and for its clean parent.
#
# {numref}`fig-a7-slopes` draws both readings. In each panel recall stands on the left, and on the
# right the same faults with their clean parents subtracted. A line that falls is recall that was no
# detection. Compare, judge by judge, the panel of unchanged replies with the panel of changed ones.

# %% tags=["hide-input"]
say("a7-gap-all", pick(found, judge=OUTCOME, metric="loud_minus_silent"), 3)
say("a7-view-silent", minus(found, *VIEW, metric="silent_recall"), 3)
say("a7-view-loud", minus(found, *VIEW, metric="loud_recall"), 3)
say("a7-view-alarm", minus(found, *VIEW, metric="false_alarm_rate"))
say("a7-view-claim", minus(found, *VIEW, metric="recall|unsupported_claim"))
share = slopes(pairs, rng, draws=given.draws) if len(pairs) else pd.DataFrame()
for side in ("loud", "silent"):
    for what in ("recall", "paired"):
        say(f"a7-{side}-{what}", pick(share, judge=OUTCOME, reply="unchanged", survival=side,
                                      measure=what))

# %% tags=["hide-input"]
rank = {judge: i for i, judge in enumerate(verdict_table.judges)}
drawn = share
if len(share):
    drawn = share.assign(
        shown=[tables.estimate(row, 2) for row in share.to_dict("records")],
        panel=share["judge"].map(names) + ", reply " + share["reply"])
    drawn = drawn.iloc[np.lexsort((drawn["reply"] == "changed", drawn["judge"].map(rank)))]
    drawn = drawn[["panel", "survival", "measure", "value", "lo", "hi", "n", "shown"]]

# %% mystnb={"figure": {"caption": "From recall to paired discrimination on the same faults, by judge and by whether the fault changed the reply; 95 % intervals. Dashed: what a judge that looks at nothing scores once paired.", "name": "fig-a7-slopes"}} tags=["hide-input"]
nothing("From recall to paired discrimination.", why_no_pairs) if not len(drawn) else show(
    analysis.slopes(drawn), name="a7-slopes",
    table=drawn[["panel", "survival", "measure", "shown", "n"]],
    alt="One panel for each judge and reply, with lines from recall on the left to paired "
        "discrimination on the right, silent and loud faults apart, and a dashed line at zero.")

# %% tags=["hide-input"]
same = pairs[pairs["reply"] == "unchanged"] if len(pairs) else pairs
same = same[same["judge"] == OUTCOME] if len(same) else same
agree = (same["n"] * (same["fault_flagged"] == same["parent_flagged"])).sum() if len(same) else None
chapter.number("a7-same", agree, 0)
chapter.number("a7-unchanged", same["n"].sum() if len(same) else None, 0)
changed = pairs[pairs["reply"] == "changed"] if len(pairs) else pairs
kinds = {side: sorted(set(changed.loc[changed["survival"] == side, "fault"]))
         if len(changed) else [] for side in ("loud", "silent")}
chapter.text("a7-kinds", "; ".join(f"{', '.join(types)} ({side})" for side, types in kinds.items()
                                   if types) or "none")

# %% [markdown]
# In {glue:text}`a7-same` of the {glue:text}`a7-unchanged` pairs whose reply the fault did not
# change, the outcome judge says the same of the fault and of its parent. Whatever recall it has
# there, loud or silent, is its readiness to flag the case. The replies that did change belong to
# these types: {glue:text}`a7-kinds`. In the published verdicts, then, the gap says that *an agent
# that stops early tells the customer so.* It is a gap between replies that show a fault and replies
# that do not.
#
# The next table takes the gap apart. Not every fault has its parent in the set:
# {glue:text}`a7-orphans-loud` of the loud faults and {glue:text}`a7-orphans-silent` of the silent
# ones lack it. So the fourth row gives each type, loud and silent apart, the weight that it has
# among all faults, and takes its paired rate to hold for the faults without a parent too. For a
# greedy outcome judge on unchanged replies that is no assumption, because the input is the same.
# For the same reason a zero there is exact and carries no interval in the table; the bounds that
# {numref}`fig-a7-slopes` puts on it are those for a sample of pairs in which none differed. The
# weighting, and every row but the first, is ours.

# %% tags=["hide-input"]
ROWS = {
    "recall": "recall, faults with their parent in the set",
    "paired": "paired, the same faults",
    "paired_design": "paired, types weighted as in the whole set",
    "recall_unchanged": "reply unchanged: recall", "paired_unchanged": "reply unchanged: paired",
    "recall_changed": "reply changed: recall", "paired_changed": "reply changed: paired"}
gap = gaps(source.labels, pairs, rng, draws=given.draws) if len(pairs) else pd.DataFrame()
lines = found[found["metric"].eq("loud_minus_silent") & found["judge"].isin(verdict_table.judges)]
lines = pd.concat([lines.assign(gap="all"), gap])
wide = {names[judge]: {"recall, all faults" if kind == "all" else ROWS[kind]:
        tables.estimate(pick(lines, judge=judge, gap=kind)) for kind in ("all", *GAPS)}
        for judge in verdict_table.judges}
tables.show(
    pd.DataFrame(wide).rename_axis("loud minus silent"),
    "The loud-silent gap by judge, before and after pairing; 0 where a judge treats both alike.",
    both_origins)

# %% tags=["hide-input"]
for name, judge in (("outcome", OUTCOME), ("step", STEP)):
    for kind in ("paired", "paired_design"):
        say(f"a7-gap-{kind.replace('_', '-')}-{name}", pick(lines, judge=judge, gap=kind), 3)
for kind in ("recall", "paired"):
    say(f"a7-gap-{kind}-unchanged-outcome", pick(lines, judge=OUTCOME, gap=f"{kind}_unchanged"), 3)
for name, judge in (("outcome", OUTCOME), ("step", STEP)):
    loud, silent = (pick(paired, judge=judge, group=side) for side in ("loud", "silent"))
    say(f"a7-level-loud-{name}", loud)
    say(f"a7-level-silent-{name}", silent)
    ratio = loud["value"] / silent["value"] if loud["value"] and (silent["value"] or 0) > 0 else None
    chapter.text(f"a7-ratio-{name}", f"{ratio:.1f}" if ratio else "(undefined here)")
between = minus(paired, *VIEW, group="loud_minus_silent")
say("a7-gap-difference", between, 3)
chapter.text("a7-apart", "the source tabulates the judges apart, so each is drawn on its own"
             if "apart" in between.get("how", "") else between["why"] if between["value"] is None
             else "both judges are drawn together")
clean = {label.trajectory_id for label in source.labels if not label.faulty}
linked = any(label.parent_id for label in source.labels)  # the published patterns name no parent
for side, right in (("loud", False), ("silent", True)):
    faults = [x for x in source.labels if x.faulty and x.outcome_correct is right]
    one = pairs[(pairs["survival"] == side) & (pairs["judge"] == pairs["judge"].iloc[0])] if len(
        pairs) else pairs
    found_ones = sum(x.parent_id in clean for x in faults) if linked else one["n"].sum() if len(
        one) else None
    chapter.text(f"a7-orphans-{side}", "(undefined here)" if found_ones is None else
                 f"{len(faults) - int(found_ones)} of {len(faults)}")

# %% tags=["hide-input"]
say("a7-view-paired-silent", minus(paired, *VIEW, group="silent"))
say("a7-paired-outcome", pick(paired, judge=OUTCOME, group="all"))
say("a7-paired-step", pick(paired, judge=STEP, group="all"))
if "instance" in pairs and pairs["instance"].notna().all():
    whole = discrimination(pairs, rng, draws=given.draws, by="instance")
    say("a7-by-instance", pick(whole, judge=OUTCOME, group="all"))
else:
    chapter.text("a7-by-instance", "(undefined: these pairs name no instances; try -p verdicts released)")
standard = by_stratum(strata, rng, draws=given.draws) if len(strata) else pd.DataFrame()
for place in ("standardised", "restocking"):
    say(f"a7-strata-{place}", pick(standard, judge=OUTCOME, stratum=place,
                                   metric="loud_minus_silent"), 3)
word("a7-strata-word", excludes_zero(pick(standard, judge=OUTCOME, stratum="standardised",
                                          metric="loud_minus_silent")),
     "does not remove it", "leaves an interval that covers zero")
loud_in = strata[strata["survival"] == "loud"] if len(strata) else strata
loud_in = loud_in[loud_in["stratum"] != "restocking"] if len(loud_in) else loud_in
chapter.text("a7-strata-kinds", ", ".join(sorted(set(loud_in["fault"]))) if len(loud_in)
             else "(undefined here)")
few = loud_in[loud_in["judge"] == OUTCOME].groupby("stratum")["n"].sum() if len(loud_in) else []
chapter.text("a7-strata-few", " or ".join(map(str, sorted(set(few)))) if len(few)
             else "(undefined here)")

# %% [markdown]
# A second suspect is the kind of case, the {term}`stratum`. Fault types are not spread evenly over
# strata. So we took the gap inside each stratum and averaged it, giving each stratum its share of
# the faults as weight, the same for loud and silent. Standardised like this, the outcome judge's
# gap is {glue:text}`a7-strata-standardised`: holding the stratum fixed {glue:text}`a7-strata-word`.
#
# But look in the table below at where it comes from. In `restocking`, the one stratum that can host
# every loud type, the gap is {glue:text}`a7-strata-restocking`. In the others all loud faults are
# {glue:text}`a7-strata-kinds`, {glue:text}`a7-strata-few` of them in each. Holding the
# stratum fixed does not hold the reply fixed. And where all of so few are flagged, resampling gives
# them no variance, so the gaps of those strata, and the standardised one with them, are less
# certain than their intervals say.

# %% tags=["hide-input"]
COLUMNS = {"silent_recall": "silent recall", "loud_recall": "loud recall",
           "false_alarm_rate": "false alarms", "loud_minus_silent": "loud minus silent"}
wide = standard[standard["judge"] == OUTCOME] if len(standard) else standard
if len(wide):
    wide = wide.assign(shown=[tables.estimate(row, 2) for row in wide.to_dict("records")])
    wide = wide.pivot_table(index="stratum", columns="metric", values="shown", aggfunc="first",
                            sort=False)[list(COLUMNS)].fillna("not averaged")
tables.show(
    wide.rename(columns=COLUMNS).rename_axis(columns=None), "The outcome judge by stratum; "
    "standardised over the strata that hold both silent and loud faults. Resampled inside stratum, "
    "type and survival: a side flagged throughout adds no width to its gap.", strata_origin,
) if len(wide) else nothing("The outcome judge by stratum.",
                            "" if len(strata) else "the labels name no strata")

# %% [markdown]
# What survives? The conclusions are those of the published verdicts, the numbers those of the
# verdicts this page was run with:
#
# - **The view effect survives, and grows.** Over all pairs the outcome judge's paired
#   discrimination is {glue:text}`a7-paired-outcome` and the step judge's
#   {glue:text}`a7-paired-step`. On silent faults alone the two judges differed by
#   {glue:text}`a7-view-silent` in recall; paired, they differ by
#   {glue:text}`a7-view-paired-silent`. So the recalls understate what section 7.1 claims. (For
#   differences of paired values, {glue:text}`a7-apart`.)
# - **The gap does not survive where the reply is unchanged.** From
#   {glue:text}`a7-gap-recall-unchanged-outcome` in recall it becomes
#   {glue:text}`a7-gap-paired-unchanged-outcome` paired: loud and silent faults are equally
#   invisible.
# - **What remains of the gap has to be read with its levels.** Loud and silent, the outcome judge
#   scores {glue:text}`a7-level-loud-outcome` and {glue:text}`a7-level-silent-outcome`, the step
#   judge {glue:text}`a7-level-loud-step` and {glue:text}`a7-level-silent-step`. That makes gaps of
#   {glue:text}`a7-gap-paired-outcome` and {glue:text}`a7-gap-paired-step`; from the first judge to
#   the second the gap changes by {glue:text}`a7-gap-difference`. As a ratio, loud is
#   {glue:text}`a7-ratio-outcome` times silent for the outcome judge and {glue:text}`a7-ratio-step`
#   times for the step judge. So the outcome judge detects less on both sides, and less evenly. But
#   a gap by itself does not mark a judge of replies: the step judge has one too, because it misses
#   a silent type of its own. And how far apart the gaps lie depends on the mix of types: with the set's own mix
#   they are {glue:text}`a7-gap-paired-design-outcome` and {glue:text}`a7-gap-paired-design-step`. So we
#   conclude from the levels, and from neither difference of gaps.

# %% [markdown]
# ## Nobody reads the final answer
#
# A run with an `unsupported_claim` follows the procedure and adds one invented sentence to the
# reply. The paper's case study (section 7.2) finds that the step judge catches few of them, and the
# outcome judge hardly more than its false alarms. In these verdicts the recalls are
# {glue:text}`a7-claim-step` and {glue:text}`a7-claim-outcome`. The paper compares with the false
# alarms over all clean runs. The clean runs of these very cases are a sharper comparison, and the
# outcome judge flags {glue:text}`a7-claim-parents` of them. That leaves it a paired discrimination
# of {glue:text}`a7-claim-paired-outcome`: {glue:text}`a7-claim-only-fault` pairs with only the
# fault flagged, less {glue:text}`a7-claim-only-parent` with only the clean run flagged. The step
# judge has {glue:text}`a7-claim-paired-step`.
#
# The paper adds that on this type the judge with the steps "gets *worse*". In recall the difference
# is {glue:text}`a7-view-claim`. In paired discrimination it is {glue:text}`a7-view-claim-paired`,
# {glue:text}`a7-worse`.
#
# The injector draws one of four sentences. {numref}`fig-a7-claims` splits the faults by sentence,
# as far as the source allows: {glue:text}`a7-split`. Look at how unevenly the step judge's catches
# are spread.

# %% tags=["hide-input"]
say("a7-claim-step", pick(found, judge=STEP, metric="recall|unsupported_claim"))
say("a7-claim-outcome", pick(found, judge=OUTCOME, metric="recall|unsupported_claim"))
for name, judge in (("outcome", OUTCOME), ("step", STEP)):
    say(f"a7-claim-paired-{name}", pick(paired, judge=judge, group="unsupported_claim"))
difference = minus(paired, *VIEW, group="unsupported_claim")
say("a7-view-claim-paired", difference)
word("a7-worse", excludes_zero(difference), "with an interval that leaves out zero",
     "with an interval that covers zero: in these verdicts nothing shows that it gets worse, only "
     "that it flags less")

# %% tags=["hide-input"]
SHORT = dict(zip(CLAIMS, ("replacement", "subscription", "voucher", "courier"), strict=True))
split = sentences.overall(pairs, "all together") if len(pairs) else pd.DataFrame()
whole = pick(split, judge=STEP, what="fault")
claimed = pairs[(pairs["judge"] == OUTCOME) & (pairs["fault"] == "unsupported_claim")] if len(
    pairs) else pairs
for name, sign in (("fault", 1), ("parent", -1)):
    one_way = claimed[claimed["fault_flagged"].astype(int) - claimed["parent_flagged"].astype(int)
                      == sign] if len(claimed) else claimed
    chapter.number(f"a7-claim-only-{name}", one_way["n"].sum() if len(claimed) else None, 0)
chapter.text("a7-claim-parents", tables.estimate(pick(split, judge=OUTCOME, what="parent"), 2))
known = numbers[numbers["table"] == "unsupported_by_sentence"].to_dict("records")
how_split = "not at all, for want of replies"
if source.name == "published":
    how_split = ("the published figures give one sentence of one judge; the split of the other three, "
                 "and of the other judges, needs the text of the release "
                 "(rerun with -p verdicts released)")
    rest = {"judge": STEP, "sentence": "the other three", "what": "fault"} | exact_share(
        whole["k"] - int(known[0]["published"]), whole["n"] - int(known[0]["n"]))
    one = exact_share(int(known[0]["published"]), int(known[0]["n"]))
    one |= {"judge": STEP, "sentence": known[0]["metric"], "what": "fault"}
    split = pd.concat([pd.DataFrame([one, rest], dtype=object), split])
elif source.trajectories:
    how_split = "all four sentences, from the replies"
    named = sentences.by_sentence(verdict_table, replies, CLAIMS)
    named = named.assign(sentence=named["sentence"].replace(SHORT)) if len(named) else named
    split = pd.concat([named, split])
chapter.text("a7-split", how_split)

# %% tags=["hide-input"]
drawn = split[split["value"].notna()] if len(split) else split
if len(drawn):
    drawn = drawn.sort_values("judge", key=lambda judge: judge.map(rank), kind="stable")
    drawn = drawn.assign(
        what=drawn["what"].map({"fault": "silent", "parent": "false alarm"}),
        shown=[f"{tables.estimate(row, 2)} ({row['k']} of {row['n']})"
               for row in drawn.to_dict("records")], judge=drawn["judge"].map(names))
    drawn = drawn[["judge", "sentence", "what", "value", "lo", "hi", "shown"]]

# %% mystnb={"figure": {"caption": "unsupported_claim by the sentence added to the reply: share flagged, and share of the same cases' clean runs flagged, with exact 95 % intervals.", "name": "fig-a7-claims"}} tags=["hide-input"]
nothing("unsupported_claim by sentence.", why_no_pairs) if not len(drawn) else show(
    analysis.claims(drawn), name="a7-claims", table=drawn[["judge", "sentence", "what", "shown"]],
    alt="Share of unsupported_claim faults flagged for each invented sentence, one panel a "
        "judge, beside the share of the same cases' clean runs flagged.")

# %% tags=["hide-input"]
mine = split[(split["judge"] == STEP) & (split["what"] == "fault")] if len(split) else split
mine = mine[mine["sentence"] != "all together"] if len(mine) else mine
if len(mine):
    best = max(mine.to_dict("records"), key=lambda row: row["value"])
    others = [row for row in mine.to_dict("records") if row["sentence"] != best["sentence"]]
    k, n = (sum(row[field] for row in others) for field in ("k", "n"))
    chapter.text("a7-best", f"{best['k']} of {best['n']} with the sentence about the "
                 f"{best['sentence']}, and {k} of {n} with the others")
    say("a7-others", exact_share(k, n))
else:
    chapter.text("a7-best", "(undefined here)")
    say("a7-others", NOWHERE)

# %% [markdown]
# The step judge catches {glue:text}`a7-best` ({glue:text}`a7-others`). In the published verdicts it
# sees one sentence every time and the rest hardly ever, so its recall on this type is not a rate at
# which it reads replies. Another choice of four sentences would have given another number. The
# interval around it, which resamples trajectories, knows nothing of that. Why this sentence and not
# the others, the verdicts do not tell.
#
# ## The capability floor
#
# A judge that always says *faulty* gets an F1 for free, and the more faults the set holds, the
# higher it is. Here their share is {glue:text}`a7-base`. Section 7.3 calls the 8B judge this
# baseline in disguise: it flags {glue:text}`a7-8b-flagged` trajectories. {numref}`fig-a7-floor`
# sets every judge against this {term}`floor <floor judge>` twice: on the left its F1 minus the F1
# of always-faulty, on the same resamples; on the right its paired discrimination, where
# always-faulty scores zero. Watch which judges change sides of the dashed line.

# %% tags=["hide-input"]
FLOOR = "always faulty"
floor_verdicts = [Verdict(label.trajectory_id, FLOOR, True) for label in source.labels]
versus = intervals(table(source.labels, [*floor_verdicts, *source.verdicts]), rng, draws=given.draws)
rows = []
for judge in verdict_table.judges:
    over = pick(versus, judge=f"{judge} - {FLOOR}", metric="f1")
    for panel, row in (("F1 above the floor", over),
                       ("paired discrimination", pick(paired, judge=judge, group="all"))):
        rows.append({"panel": panel, "label": names[judge], "published": None,
                     "shown": tables.estimate(row, 3)} | {x: row[x] for x in ("value", "lo", "hi")})
rows = pd.DataFrame(rows, dtype=object)
rows = rows[rows["value"].notna()]

# %% mystnb={"figure": {"caption": "Every judge against the always-faulty floor (dashed): by F1 and by paired discrimination, with 95 % intervals; higher is better. Compare the order of the judges in the two panels.", "name": "fig-a7-floor"}} tags=["hide-input"]
show(
    analysis.forest(rows, "above the floor"), name="a7-floor",
    table=rows[["panel", "label", "shown"]],
    alt="Two panels of judges by distance to the always-faulty floor: F1 minus its F1, and paired "
        "discrimination, each with a dashed line at zero.")

# %% tags=["hide-input"]
flagged = pick(found, judge=STEP_8B, metric="n_flagged")
judged = verdict_table.seen[:, verdict_table.column(STEP_8B)].sum() if "judge" in flagged else 0
chapter.text("a7-8b-flagged", f"{flagged['value']:.0f} of {judged}" if judged else flagged["why"])
say("a7-8b-f1", pick(versus, judge=f"{STEP_8B} - {FLOOR}", metric="f1"), 3)
clean_8b = pick(paired, judge=STEP_8B, group="all")
say("a7-8b-paired", clean_8b, 3)
say("a7-outcome-f1", pick(versus, judge=f"{OUTCOME} - {FLOOR}", metric="f1"), 3)
share_faulty = exact_share(int(verdict_table.faulty.sum()), len(source.labels))
chapter.text("a7-floor-f1", tables.estimate({"value": pick(versus, judge=FLOOR, metric="f1")["value"]}))
chapter.text("a7-base", tables.estimate({"value": share_faulty["value"]}))

# %% [markdown]
# The 8B judge's F1 differs from the floor's {glue:text}`a7-floor-f1` by {glue:text}`a7-8b-f1`, and
# its paired discrimination is {glue:text}`a7-8b-paired`. In the published verdicts it is, by either
# measure, the baseline that the paper says it is. ([The audit](a9_claims) tries the words in which
# the paper says so.)
#
# But a floor check by F1 has a weakness. It puts the outcome judge at {glue:text}`a7-outcome-f1`,
# although its paired discrimination is {glue:text}`a7-paired-outcome`. In the published verdicts
# the check would throw out a judge that does discriminate. F1 against a floor depends on how many
# faults the set holds; discrimination does not. [The measures chapter](a5_measures) works out what
# happens at other fault rates.
#
# ### The same check on a run of ours
#
# Any judge can be held against the floor. {numref}`fig-a7-floor-ours` does it for a recorded run,
# beside the published judges: F1 against a judge that flags all of the same trajectories, and
# paired discrimination on the faults whose clean run was judged as well. Look for a judge far left
# in the first panel and at the dashed line in the second.
#
# The run that comes with this book puts the paper's prompts to SmolLM2-135M, where the published
# judges are of 14B and 8B; its reply judges are code that asks no model. It judged trajectories of
# our own, of the same design, so hollow and filled rows are not a paired comparison. Of the
# trajectories asked about in that run, {glue:text}`a7-ours-coverage`.

# %% tags=["hide-input"]
ours, reference = store.load(given.recorded), store.load("published")
if len({v.judge for v in ours.verdicts}) > 12:
    raise InputError(f"{given.recorded}: more than 12 judges do not fit a figure; give fewer")
our_table = table(ours.labels, ours.verdicts, ours.cost)
apart_rng = np.random.default_rng(given.seed)  # so that what follows does not hang on this run
floor_of = {who: floor_check(x.labels, x.verdicts, apart_rng, draws=given.draws)
            for who, x in (("published", reference), ("ours", ours))}
why_none, our_pairs = "", pd.DataFrame()
try:
    answers = {x.trajectory_id: x.final_answer for x in ours.trajectories or []}
    our_pairs = store.published("parent_pairs") if ours.name == "published" else pairs_from(
        our_table, answers)
except InputError as error:
    why_none = f"undefined: {error}"
paired_of = {who: discrimination(x, apart_rng, draws=given.draws) if len(x) else x
             for who, x in (("published", store.published("parent_pairs")), ("ours", our_pairs))}

# %% tags=["hide-input"]
known = {who: tables.judge_names(checked["judge"]) for who, checked in floor_of.items()}
rows, cells = [], []
for judge, who in side_by_side(list(known["published"]), list(known["ours"])):
    name = known[who][judge] + (" (ours)" if who == "ours" and (
        known[who][judge] in known["published"].values()) else "")
    over = pick(floor_of[who], judge=judge)
    apart = pick(paired_of[who], judge=judge, group="all")
    apart |= {"why": apart["why"] if len(paired_of[who]) else why_none}
    rows += [{"panel": panel, "label": name, "origin": who, "shown": tables.estimate(row)}
             | {x: row[x] for x in ("value", "lo", "hi")}
             for panel, row in (("F1 above the floor", over), ("paired discrimination", apart))]
    cells.append({"judge": name, "origin": who,
                  "as always-faulty": f"{over['flagged']} of {over['n']}",
                  "as always-clean": f"{over['n'] - over['flagged']} of {over['n']}",
                  "F1 above the floor": tables.estimate(over),
                  "paired": tables.estimate(apart) + f" ({apart['n']} pairs)" * bool(apart["n"])})
rows = pd.DataFrame(rows, dtype=object)
rows = rows[rows["value"].notna()]
floor_origins = f"{reference.origin} and parent_pairs.csv; ours: {ours.origin}"

# %% mystnb={"figure": {"caption": "Published judges (hollow, on the release's trajectories) and the recorded run (filled, on its own) against the floor (dashed), by F1 and by paired discrimination, with 95 % intervals; higher is better.", "name": "fig-a7-floor-ours"}} tags=["hide-input"]
show(
    beside.floor(rows), name="a7-floor-ours", table=rows[["panel", "label", "origin", "shown"]],
    alt="Two panels of published judges and ours by distance to the floor: F1 minus the F1 of "
        "always-faulty, and paired discrimination, each with a dashed line at zero.")

# %% tags=["hide-input"]
tables.show(
    pd.DataFrame(cells), "On how many trajectories each says what a floor judge says, its F1 less "
    "always-faulty's on those it judged, and its paired discrimination.", floor_origins)

# %% tags=["hide-input"]
chapter.text("a7-ours-coverage", coverage(our_table))
chapter.text("a7-ours-floor", standings(floor_of["ours"], known["ours"]))
over_all = paired_of["ours"]
over_all = over_all[(over_all["group"] == "all") & over_all["judge"].isin(our_table.judges)] if len(
    over_all) else over_all
chapter.text("a7-ours-sees", above_zero(over_all, known["ours"]) if len(over_all) else why_none)
once, most = trio(our_table.judges)[1:]
ours_found = intervals(our_table, apart_rng, draws=given.draws)
both = {once, most} <= set(our_table.judges)
shared = common(our_table, once, most) if both else None
vote = "The run holds no ensemble beside a step judge, so it does not say."
if both:
    j = our_table.column(most)
    alike = our_table.confidence[our_table.ok[:, j], j] == 1
    moves = {what: tables.estimate(minus(ours_found, most, once, metric=metric)) for metric, what in (
        ("f1", "F1"), ("silent_recall", "silent recall"), ("false_alarm_rate", "false alarms"))}
    over = pick(floor_of["ours"], judge=most)
    vote = (f"The ensemble of the recorded run stands {standing(over)} the floor, its F1 less "
            f"always-faulty's being {tables.estimate(over)}. On the {len(shared.labels)} trajectories "
            "that it and the step judge both judged, majority minus one pass moves "
            + "; ".join(f"{what} by {moved}" for what, moved in moves.items())
            + f". Of the majorities that it reached, {alike.sum()} of {len(alike)} were unanimous.")
chapter.text("a7-ours-vote", vote)

# %% tags=["hide-input"]
DIRECTION = {1: "raises", 0: "does not move", -1: "lowers"}
apart = "What single votes said is not in these verdicts, so the two cannot be told apart."
ballots = votes.single_votes(ours.verdicts, most).set_index("trajectory_id")[["flagged", "read"]]
if both and len(ballots := ballots.reindex([x.trajectory_id for x in shared.labels]).dropna()):
    kind = np.where(shared.faulty, "faulty", "clean")[[
        x.trajectory_id in ballots.index for x in shared.labels]]
    said = pd.concat([ballots.sum().to_frame("all").T, ballots.groupby(kind).sum()]).astype(int)
    said = said.assign(share=said["flagged"] / said["read"].where(said["read"] > 0))
    said["text"] = [f"{row.flagged} of {row.read} ({row.share:.2f})" for row in said.itertuples()]
    total = len(shared.labels)
    greedy, majority = (int(shared.flag[:, shared.column(judge)].sum()) for judge in (once, most))
    step_to, vote_to = (DIRECTION[int(np.sign(x))] for x in (
        said["share"]["all"] - greedy / total, majority / total - said["share"]["all"]))
    apart = (f"One greedy pass flags {greedy} of {total}. Of the single votes that could be read, "
             f"{said['text']['all']} flag" + "".join(
                 f"; on {name} runs {said['text'][name]}" for name in ("faulty", "clean")
                 if name in said.index)
             + f". The majority flags {majority} of {total}. So sampling by itself {step_to} the "
             f"share flagged, and the vote then {vote_to} it.")
chapter.text("a7-ours-sampling", apart)

# %% [markdown]
# By F1, in the recorded run: {glue:text}`a7-ours-floor`. Judges of that run whose paired
# discrimination is above zero: {glue:text}`a7-ours-sees`. A judge without an interval gives one
# verdict to all runs of a cell, so resampling inside the cells cannot move it; that is no certainty
# about other cases.
#
# The opposite baseline is a judge that always says *clean*. It has neither false alarms nor recall.
# Its F1 is zero, far below the floor, and paired it scores zero, as always-faulty does. Only the
# paired column puts both floors in one place.
#
# ```{admonition} Does voting lift a small judge off the floor?
# :class: dropdown
# {glue:text}`a7-ours-vote` A greedy step judge and an ensemble whose members are sampled at a
# temperature differ in two things, the sampling and the vote. {glue:text}`a7-ours-sampling`
# ```
#
# ## Voting
#
# The {term}`ensemble` samples the step judge three times and takes the majority (section 7.4).
# {numref}`fig-a7-deltas` is Table 9 as a picture: each paired difference with its interval, a
# dashed line for no difference, and the paper's value as a hollow diamond where it prints one. Look
# for intervals that clear the line, and on which side.

# %% tags=["hide-input"]
DELTAS = {
    "f1": "F1", "silent_recall": "silent recall", "loud_recall": "loud recall",
    "false_alarm_rate": "false alarms (lower)", "recall|unsupported_claim": "unsupported_claim",
    "step_exact": "right step, if any", "step_exact_over_detected_faults": "right step, of all",
    "type_macro_f1": "type macro-F1", "ece": "ECE (lower)", "brier": "Brier (lower)"}
printed = numbers[numbers["table"] == "deltas"].set_index(["subject", "metric"])["published"].to_dict()
rows = []
for panel, both in (("ensemble - step", VOTING), ("step - outcome", VIEW)):
    name = " - ".join(both)
    for metric, label in DELTAS.items():
        if both == VIEW and metric.startswith("step"):  # an outcome judge names no step
            continue
        row = minus(found, *both, metric=metric)
        rows.append({"panel": panel, "label": label,
                     "published": printed.get((name, metric)), "shown": tables.estimate(row)}
                    | {x: row[x] for x in ("value", "lo", "hi")})
rows = pd.DataFrame(rows, dtype=object)
rows = rows[rows["value"].notna()]

# %% mystnb={"figure": {"caption": "Paired differences of judges with 95 % intervals; dashed: no difference; hollow diamonds: as published. Lower is better where the label says so, higher otherwise.", "name": "fig-a7-deltas"}} tags=["hide-input"]
nothing("Table 9 as a picture.") if not len(rows) else show(
    analysis.forest(rows, "difference"), name="a7-deltas",
    table=rows[["panel", "label", "shown", "published"]],
    alt="Differences between the ensemble and the step judge, and between the step and the outcome "
        "judge, on ten measures, with intervals and a dashed line at zero.")

# %% tags=["hide-input"]
compared = compare(found, numbers[numbers["table"] == "deltas"])
tables.show(
    tables.beside(compared), "Table 9. Published paired differences beside ours; an interval "
    "agrees within what an independent bootstrap is allowed.",
    f"published figures from arXiv 2609.00038; ours: {source.origin}",
) if len(compared) else nothing("Table 9. Published paired differences beside ours.")

# %% tags=["hide-input"]
OVER = "step_exact_over_detected_faults"
OVER_ALL = "step_exact_over_all_faults"
for name in ("f1", "step_exact", OVER, OVER_ALL, "ece"):
    say(f"a7-vote-{name.replace('_', '-')}", minus(found, *VOTING, metric=name), 3)
word("a7-vote-f1-zero", excludes_zero(minus(found, *VOTING, metric="f1")), "leaves zero out",
     "reaches zero")
for name, metric in (("place", OVER), ("all", OVER_ALL)):
    word(f"a7-vote-{name}-zero", excludes_zero(minus(found, *VOTING, metric=metric)),
         "the interval leaves zero out", "the interval reaches zero")
chapter.number("a7-deltas", len(DELTAS) + 1, 0)

# %% tags=["hide-input"]
together = common(verdict_table, *VOTING) if set(VOTING) <= set(verdict_table.judges) else None
placed = metrics(together) if together else pd.DataFrame()


def outside(judge: str) -> str:
    """Count by type the detected faults whose verdict carries no usable step."""
    if not together:
        return "(not judged here)"
    part = attribution(together, judge).set_index(["share", "type"])["n"]
    less = part["step_exact_over_detected"] - part["step_exact"]
    kinds = "; ".join(f"{kind} {less[kind]}" for kind in FAULT_TYPES if less[kind])
    return f"{less['all']}" + (f" ({kinds})" if kinds else "")


for name, judge in (("step", STEP), ("vote", ENSEMBLE)):
    chapter.text(f"a7-outside-{name}", outside(judge))
    row = pick(placed, judge=judge, metric=OVER) if together else pick(found, judge="")
    chapter.text(f"a7-placed-{name}", f"{row['k']:.0f} of {row['n']:.0f}" if row["n"] else row["why"])

# %% [markdown]
# The paper says that against one pass "every quality delta is within resampling noise". In these
# verdicts F1 changes by {glue:text}`a7-vote-f1`, an interval that {glue:text}`a7-vote-f1-zero`.
# Localisation, the share of flags at the right step, changes by {glue:text}`a7-vote-step-exact` in
# the paper's denominator.
#
# That denominator leaves out flags without a usable step. In the paper's runs these flags did name
# a step, since the answer format demands one, but the step lay outside the trace and was discarded
# (Appendix D). Among the detected faults that both judged, the step judge has
# {glue:text}`a7-outside-step` such flags and the ensemble {glue:text}`a7-outside-vote`. In the
# published verdicts all of them are `premature_stop`. There the trace is short, the fault is a step
# that is missing, and the label (the last step executed) is a convention. To name the step that
# should have come next is a reasonable answer, and the release does not say which step was named.
#
# Counted over all detected faults, localisation changes by
# {glue:text}`a7-vote-step-exact-over-detected-faults`, from {glue:text}`a7-placed-step` to
# {glue:text}`a7-placed-vote`: {glue:text}`a7-vote-place-zero`. Part of that can be the denominator,
# since an ensemble that detects fewer faults divides by fewer. Over *all* faults the change is
# {glue:text}`a7-vote-step-exact-over-all-faults`: {glue:text}`a7-vote-all-zero`. And this is one of
# {glue:text}`a7-deltas` overlapping differences, picked after we had seen them. The published
# verdicts do show that more of the ensemble's steps lie inside the trace. Whether voting gives
# something back there is a question for new data.
#
# What voting costs depends on the currency. Where the source holds the cost of every verdict, the
# ratio has an interval. A ratio of mean times leans on the slow runs: in the published cost table
# the ensemble takes {glue:text}`a7-time-mean` times as long as one pass by the mean,
# {glue:text}`a7-time-median` times by the median and {glue:text}`a7-time-p95` times at the 95th
# percentile.

# %% tags=["hide-input"]
spent = store.published("cost").set_index("judge")
for how in ("mean", "median", "p95"):
    column = spent[f"latency_s_{how}"]
    chapter.number(f"a7-time-{how}",
                   column["selfcons3:qwen2.5:14b"] / column["step:qwen2.5:14b"], 2)
CURRENCY = {"latency_s": "time", "prompt_tokens": "prompt tokens",
            "completion_tokens": "completion tokens"}
rows = {}
for judge, against in ((ENSEMBLE, STEP), (STEP, OUTCOME)):
    if {judge, against} <= set(verdict_table.judges):
        ratio = cost_ratio(verdict_table, judge, against, rng, draws=given.draws)
        rows[f"{names[judge]} / {names[against]}"] = {
            CURRENCY[row["cost"]]: tables.estimate(row, 2) for row in ratio.to_dict("records")}
costs = rows
tables.show(
    pd.DataFrame.from_dict(rows, orient="index", columns=list(CURRENCY.values()))
    .rename_axis("cost of"), "How many times the first judge costs the second.", source.origin
) if rows else nothing("Cost ratios.")

# %% [markdown]
# ### Is the calibration worse?
#
# The paper calls the ensemble's calibration measurably worse. In these verdicts its {term}`ECE`,
# the distance between stated confidence and share of right verdicts, differs from the step judge's
# by {glue:text}`a7-vote-ece`. But ECE with ten equal bins is one way of many.
# {numref}`fig-a7-calibration` takes the same difference with other bins, with none, and by
# {term}`Brier score`. Count the intervals that touch the dashed line.

# %% tags=["hide-input"]
MEASURES = {
    "ece": "ECE, 10 bins (paper)", "ece_width_5": "ECE, 5 bins", "ece_width_15": "ECE, 15 bins",
    "ece_width_20": "ECE, 20 bins", "ece_mass_5": "ECE, 5 equal masses",
    "ece_mass_10": "ECE, 10 equal masses", "ece_value": "ECE by stated value",
    "smooth_ece": "smooth ECE", "brier": "Brier", "brier_reliability": "Brier, reliability"}
calibrated = alternatives(verdict_table, rng, draws=given.draws)
rows = []
for measure, label in MEASURES.items():
    row = minus(calibrated, *VOTING, measure=measure)
    rows.append({"panel": "", "label": label, "shown": tables.estimate(row), "out": excludes_zero(row),
                 "published": printed.get((" - ".join(VOTING), measure))} | {x: row[x] for x in ("value", "lo", "hi")})
rows = pd.DataFrame(rows, dtype=object)
rows = rows[rows["value"].notna()]

# %% mystnb={"figure": {"caption": "Ensemble minus step judge in ten measures of calibration, with 95 % intervals; dashed: no difference; to the right of it the ensemble is worse. Hollow diamond: as published.", "name": "fig-a7-calibration"}} tags=["hide-input"]
nothing("Calibration, ensemble minus step judge.") if not len(rows) else show(
    analysis.forest(rows, "ensemble minus step, lower is better", panels=False),
    name="a7-calibration", table=rows[["label", "shown"]],
    alt="Ensemble minus step judge under ten measures of calibration, with intervals and a dashed "
        "line at zero.")

# %% tags=["hide-input"]
out = rows["out"].eq(True) if len(rows) else pd.Series(dtype=bool)
chapter.text("a7-cal-out", f"{int(out.sum())} of {len(rows)}" if len(rows) else "(not judged here)")
chapter.text("a7-cal-not", ("; ".join(rows.loc[~out, "label"]) or "none of them") if len(rows)
             else "(not judged here)")
for name, judge, measure in (("step", STEP, "ece"), ("step", STEP, "ece_value"),
                             ("vote", ENSEMBLE, "ece_value")):
    say(f"a7-cal-{name}-{measure.replace('_', '-')}", pick(calibrated, judge=judge, measure=measure), 3)

# %% [markdown]
# The interval leaves zero out in {glue:text}`a7-cal-out` measures. The others:
# {glue:text}`a7-cal-not`. These are not so many independent votes, since with few distinct values
# several binnings come to the same. The reason for the difference shows when each stated value is
# its own bin: the step judge then has {glue:text}`a7-cal-step-ece-value` instead of
# {glue:text}`a7-cal-step-ece`, because values that are too high and too low no longer cancel inside
# one bin. A majority of three can state only two values, so there is nothing to cancel, and the
# ensemble keeps {glue:text}`a7-cal-vote-ece-value`.
#
# ### Do the samples miss the same?
#
# The paper concludes that the misses are systematic: on `unsupported_claim` "all three samples miss
# the same". The share that a majority states tells how many voted for it, so the votes can be read
# back. The table sets them beside three imagined members that err independently at the same rate,
# over all faults of the type and, where the source names the sentences, sentence by sentence.

# %% tags=["hide-input"]
cast, why_no_votes = None, "no such ensemble here"
try:
    cast = votes.votes(verdict_table, ENSEMBLE) if ENSEMBLE in verdict_table.judges else None
except InputError as error:
    why_no_votes = str(error)
asked = [row for row, label in enumerate(source.labels)
         if label.failure_type == "unsupported_claim" and cast is not None and cast[row] >= 0]
tally = pd.DataFrame()
if asked:
    tally = votes.agreement(cast[asked], ["all together"] * len(asked))
    if source.trajectories:
        said = [next((SHORT[s] for s in CLAIMS if s in replies[source.labels[row].trajectory_id]),
                     sentences.OTHER) for row in asked]
        tally = pd.concat([votes.agreement(cast[asked], said), tally])

# %% tags=["hide-input"]
cells = {}
if len(tally):
    cells = {"sentence": tally["group"], "faults": tally["n"],
             "share of votes": tally["rate"].map("{:.2f}".format)}
    for count in range(votes.MEMBERS + 1):
        cells[f"{count} votes"] = [f"{seen} ({alone:.1f})" for seen, alone in zip(
            tally[str(count)], tally[f"independent {count}"], strict=True)]
tables.show(
    pd.DataFrame(cells), "Votes for faulty on unsupported_claim: trajectories seen, and in "
    "brackets how many there would be if members erred independently.", source.origin,
) if cells else nothing("Votes on unsupported_claim.", why_no_votes)

# %% tags=["hide-input"]
last = tally.iloc[-1] if len(tally) else None
chapter.text("a7-zero", f"{last['0']} of {last['n']}" if len(tally) else "(not judged here)")
chapter.text("a7-zero-alone", f"{last['independent 0']:.1f}" if len(tally) else "(not judged here)")
chapter.text("a7-one", str(last["1"]) if len(tally) else "(not judged here)")
each = tally.iloc[:-1]
chapter.text("a7-within", f"sentence by sentence, {each['0'].sum()} have no vote where independent "
             f"members would leave {each['independent 0'].sum():.1f}" if len(each) else
             "(not judged here)" if source.trajectories else
             "the split by sentence needs the text of the release (rerun with -p verdicts released)")
missed = last["0"] + last["1"] if len(tally) else 0  # no majority of three
say("a7-missed-share", exact_share(int(last["0"]) if missed else 0, int(missed),
                                   why="(undefined here)"))
pub = numbers[numbers["table"] == "selfcons_votes"].set_index("metric")["published"]
chapter.text("a7-zero-published", f"{int(pub.iloc[0])} and {int(pub.iloc[1])}")

# %% [markdown]
# In {glue:text}`a7-zero` of these faults no sample saw anything, and in {glue:text}`a7-one` one did
# and was outvoted (the later release states {glue:text}`a7-zero-published`). So the sentence is
# true of {glue:text}`a7-missed-share` of the faults that the majority missed. Independent members
# with one rate for all would leave {glue:text}`a7-zero-alone` without a vote. In the published
# verdicts that is fewer than were seen, which speaks for the paper. Yet the rate differs by
# sentence: {glue:text}`a7-within`. Each sentence has few faults, and its rate is fitted to the very
# votes it is compared with, so the table cannot tell a hard case from an unlucky draw.
#
# The majority is also only one of three possible rules. {numref}`fig-a7-rules` lets the same
# samples flag from one vote on, from two, or only with all three. Compare the first panel with the
# second. We chose the threshold after the fact, on the set it is measured on; take it as a question
# for new data.

# %% tags=["hide-input"]
RULES = {"f1": "F1", "silent_recall": "silent recall", "loud_recall": "loud recall",
         "recall|unsupported_claim": "unsupported_claim", "false_alarm_rate": "false alarms (lower)"}
rows, by_rule = [], pd.DataFrame()
if cast is not None and STEP in verdict_table.judges:
    ruled = [v for v in source.verdicts if v.judge == STEP]
    for need in range(1, votes.MEMBERS + 1):
        ruled += votes.at_least(source.verdicts, ENSEMBLE, need)
    by_rule = intervals(table(source.labels, ruled), rng, draws=given.draws)
    for need in range(1, votes.MEMBERS + 1):
        name = f"{need} of {votes.MEMBERS} votes"
        for metric, label in RULES.items():
            row = pick(by_rule, judge=f"{name} - {STEP}", metric=metric)
            rows.append({"panel": name, "label": label, "shown": tables.estimate(row),
                         "published": printed.get((" - ".join(VOTING), metric)) if need == 2 else None}
                        | {x: row[x] for x in ("value", "lo", "hi")})
rows = pd.DataFrame(rows, columns=["panel", "label", "shown", "published", "value", "lo", "hi"])

# %% mystnb={"figure": {"caption": "The same three samples under three voting rules, each minus one greedy pass of the step judge; 95 % intervals; dashed: no difference; hollow diamonds: as published for the majority.", "name": "fig-a7-rules"}} tags=["hide-input"]
rows = rows[rows["value"].notna()]
nothing("Three voting rules.", why_no_votes) if not len(rows) else show(
    analysis.forest(rows, "difference to one pass", shared=True), name="a7-rules",
    table=rows[["panel", "label", "shown"]],
    alt="Three panels, one for each number of votes needed to flag, with differences to the step "
        "judge in F1, recalls and false alarms and a dashed line at zero.")

# %% tags=["hide-input"]
any_vote = pick(by_rule, judge=f"1 of 3 votes - {STEP}", metric="f1")
say("a7-any-f1", any_vote, 3)
say("a7-any-claim", pick(by_rule, judge=f"1 of 3 votes - {STEP}", metric="recall|unsupported_claim"))
say("a7-any-alarm", pick(by_rule, judge="1 of 3 votes", metric="false_alarm_rate"))
word("a7-any-zero", None if any_vote["lo"] is None else any_vote["lo"] > 0, "does not hold", "stands")

# %% [markdown]
# From one vote on, F1 changes by {glue:text}`a7-any-f1` and recall on `unsupported_claim` by
# {glue:text}`a7-any-claim`, with false alarms at {glue:text}`a7-any-alarm`. Under that rule the
# "nothing back" in the title of section 7.4 {glue:text}`a7-any-zero`. The interval does not allow
# for our having chosen among three rules.

# %% [markdown]
# ## Detecting and naming
#
# Of what the step judge detects, the paper says (section 7.5), it misattributes a third. For
# {glue:text}`a7-looked` the share given another type is {glue:text}`a7-mistyped`, or
# {glue:text}`a7-mistyped-of`, and a third lies {glue:text}`a7-third`. That interval is exact and
# lets the mix of types vary. Resampled with the mix held fixed, as in the paper's design, the share
# is {glue:text}`a7-mistyped-cells`, and a third lies {glue:text}`a7-third-cells`. A conclusion
# should survive both.
#
# {numref}`fig-a7-naming` shows the share type by type, beside the share placed at the right step:
# once, as in the paper, of the flags whose step lies inside the trace, and once of all flags. Look
# at `premature_stop` in the last two panels.

# %% tags=["hide-input"]
looked_at = STEP if STEP in verdict_table.judges else verdict_table.judges[-1]
named = attribution(verdict_table, looked_at)
PANELS = {"mistyped": "given another type", "step_exact": "right step, if any",
          "step_exact_over_detected": "right step, of all"}
IN_PAPER = {"mistyped": "detected_but_mistyped_share", "step_exact": "step_exact",
            "step_exact_over_detected": "step_exact_over_detected_faults"}
theirs = {share: pick(numbers, subject=looked_at, metric=name).get("published")
          for share, name in IN_PAPER.items()}
drawn = named[named["value"].notna()]
drawn = drawn.assign(
    panel=drawn["share"].map(PANELS), label=drawn["type"],
    shown=[f"{tables.estimate(row, 2)} ({row['k']} of {row['n']})" for row in drawn.to_dict("records")],
    published=[theirs[share] if kind == "all" else None
               for share, kind in zip(drawn["share"], drawn["type"], strict=True)])
drawn = drawn.sort_values("share", key=lambda s: s.map(list(SHARES).index), kind="stable")
drawn = drawn[["panel", "label", "value", "lo", "hi", "shown", "published"]]

# %% mystnb={"figure": {"caption": "Detected faults by type: share given another type or none (lower is better), and share placed at the right step, of flags with a step inside the trace and of all flags (higher is better); exact 95 % intervals. Hollow diamonds: as published.", "name": "fig-a7-naming"}} tags=["hide-input"]
nothing("Naming and placing by type.") if not len(drawn) else show(
    analysis.forest(drawn, "share of faults", domain=(0, 1)), name="a7-naming",
    table=drawn[["panel", "label", "shown"]],
    alt=f"Three panels for {names[looked_at]}: share of detected faults mistyped, "
        "share placed at the right step among those placed, and among all detected, by type.")

# %% tags=["hide-input"]
of_all = {share: pick(named, type="all", share=share) for share in SHARES}
say("a7-mistyped", of_all["mistyped"])
chapter.text("a7-mistyped-of", "{k} of {n}".format(**of_all["mistyped"]))
ends = of_all["mistyped"]["lo"], of_all["mistyped"]["hi"]
word("a7-third", None if ends[0] is None else ends[0] <= 1 / 3 <= ends[1], "inside the interval",
     "outside the interval")
j, typed = verdict_table.column(looked_at), verdict_table.true_kind >= 0
hit = verdict_table.flag[:, j] & verdict_table.faulty & typed
masks = np.column_stack([hit & (verdict_table.kind[:, j] != verdict_table.true_kind), hit])
sums = np.concatenate([w @ masks for w in replicate_weights(
    np.ones(len(hit), int), verdict_table.cell, rng, given.draws)])
sums = sums[sums[:, 1] > 0]
lo, hi, why = bounds_or_why(sums[:, 0] / sums[:, 1])
say("a7-mistyped-cells", of_all["mistyped"] | {"lo": lo, "hi": hi, "how": "percentile"})
word("a7-third-cells", None if lo is None else lo <= 1 / 3 <= hi, "inside the interval",
     "outside the interval")

# %% tags=["hide-input"]
say("a7-placed", of_all["step_exact"], 3)
say("a7-placed-all", of_all["step_exact_over_detected"], 3)
chapter.text("a7-looked", names[looked_at])
wrong = sorted((row for row in named.to_dict("records") if row["share"] == "mistyped"
                and row["type"] != "all" and row["k"]), key=lambda row: -row["k"])
chapter.text("a7-wrong", " and ".join(f"{row['type']} ({row['k']} of {row['n']})" for row in wrong[:2])
             + f", {sum(row['k'] for row in wrong[:2])} of the {of_all['mistyped']['k']} mistyped"
             if wrong else "none")
lost = [pick(named, type=kind, share="step_exact_over_detected") for kind in FAULT_TYPES]
lost = [f"{row['type']} ({row['k']} of {row['n']})" for row in lost
        if row["value"] is not None and row["value"] < 1]
chapter.text("a7-lost", ", ".join(lost) or "none")

# %% [markdown]
# The types that {glue:text}`a7-looked` most often calls something else: {glue:text}`a7-wrong`. The
# paper grants that, where it calls a `hallucinated_argument` `wrong_tool`, part of the blame
# belongs to the boundary between the two types. The step is right for {glue:text}`a7-placed` of the
# flags with a step inside the trace and for {glue:text}`a7-placed-all` of all detected faults;
# types below 1 in the second: {glue:text}`a7-lost`. So in the published verdicts "nearly exact" is
# right for five types. Of the sixth, `premature_stop`, most flags carry no usable step, for the
# reason given above, and the average describes neither.
#
# ## What follows for a deployment
#
# The paper draws five consequences for those who deploy a judge. Here is each with the number under
# it and with what this chapter would add.

# %% tags=["hide-input"]
def cell(row: dict, digits: int = 2) -> str:
    """Write an estimate for the table below."""
    return tables.estimate(row, digits)


unchanged = pick(share, judge=OUTCOME, reply="unchanged", survival="loud", measure="paired")
follows = pd.DataFrame([
    ("report recall by whether the outcome survived",
     f"outcome judge, loud minus silent: {cell(pick(lines, judge=OUTCOME, gap='all'))}",
     "subtract the clean runs, and split by whether the reply changed: where it did not, loud "
     f"faults score {cell(unchanged)}"),
    ("check the reply in a pass of its own",
     f"step judge, unsupported_claim: {cell(pick(found, judge=STEP, metric='recall|unsupported_claim'))}",
     "an outcome judge is not that pass: paired, it scores "
     f"{cell(pick(paired, judge=OUTCOME, group='unsupported_claim'))} there"),
    ("check a judge against always-faulty",
     f"8B, F1 minus the floor: {cell(pick(versus, judge=f'{STEP_8B} - {FLOOR}', metric='f1'), 3)}",
     f"check discrimination instead: 8B {cell(clean_8b)}; the outcome judge, by F1 "
     f"{cell(pick(versus, judge=f'{OUTCOME} - {FLOOR}', metric='f1'))} from the floor, "
     f"{cell(pick(paired, judge=OUTCOME, group='all'))}"),
    ("before paying for an ensemble, see whether errors are random",
     f"F1, majority minus one pass: {cell(minus(found, *VOTING, metric='f1'), 3)}",
     f"look at the votes, not the majority: from one vote on, a rule chosen after the fact, it is "
     f"{cell(any_vote, 3)}"),
    ("evaluate naming apart from detecting",
     f"{names[looked_at]}, mistyped: {cell(of_all['mistyped'])}",
     f"and by type; say what becomes of steps outside the trace: counted as wrong, the step is "
     f"right in {cell(of_all['step_exact_over_detected'])} of detected faults"),
], columns=["the paper's advice", "the number under it", "what we would add"])
tables.show(follows, "Five consequences, in our words, with their evidence.",
            both_origins)

# %% [markdown]
# ## What would change our mind
#
# - An outcome judge that is sampled at a temperature, or shown a reply that varies from run to run,
#   would not always say the same of a fault and its parent. Its paired discrimination on unchanged
#   replies would then scatter around zero. A value clearly above zero would mean that the reply
#   gives away something we think it does not hold.
# - Loud faults of other kinds, which change the reply without saying "I am looking into this",
#   would give the outcome judge a loud level of their own. Here a single type carries it.
# - One clean parent serves several faults, and the intervals take pairs as independent. With whole
#   cases resampled, the outcome judge's paired discrimination over all pairs is
#   {glue:text}`a7-by-instance`. If that interval reached the judge's recall, the slopes would be
#   noise.
# - If on new samples a one-vote rule no longer beat one pass, "nothing back" would stand again.
#
# %% [markdown]
# ## Exercises
#
# The checks compare your answers with the published verdicts.
#
# ```{exercise} Net of the same cases
# :label: a7-net
# :nonumber:
# Work out the outcome judge's paired discrimination on `unsupported_claim` from the numbers in the
# section on the final answer.
# ```

# %%
from tjlib import exercises

net = None  # a difference of two shares
print(exercises.check("a7-net", net))

# %% [markdown]
# ```{solution-start} a7-net
# :class: dropdown
# ```

# %%
if len(pairs):
    claim = pairs[(pairs["judge"] == OUTCOME) & (pairs["fault"] == "unsupported_claim")]
    for_it, against = ((claim["n"] * (claim["fault_flagged"] == a) * (claim["parent_flagged"] == b)).sum()
                       for a, b in ((1, 0), (0, 1)))
    print(f"({for_it} - {against}) / {claim['n'].sum()} pairs = "
          f"{(for_it - against) / max(claim['n'].sum(), 1):.2f}")

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} Where the floor falls below
# :label: a7-floor
# :nonumber:
# At which share of faults in the set does the F1 of always-faulty fall below the outcome judge's? Its
# recall and false-alarm rate are in [the results](a6_results); you need nothing else.
# ```

# %%
share = None  # a share from 0 to 1
print(exercises.check("a7-floor", share))

# %% [markdown]
# ```{solution-start} a7-floor
# :class: dropdown
# ```
#
# With a share p of faults, the floor's F1 is 2p / (1 + p) and the judge's 2rp / (rp + (1 - p)f + p). They
# are equal at p = (r - f) / (1 - f); with fewer faults than that the floor is below.

# %%
r, f = (pick(found, judge=OUTCOME, metric=m)["value"] for m in ("recall", "false_alarm_rate"))
print("undefined here" if None in (r, f) or f == 1 else
      f"({r:.3f} - {f:.3f}) / (1 - {f:.3f}) = {(r - f) / (1 - f):.3f}")

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} A gap of zero
# :label: a7-orphans
# :nonumber:
# In the published verdicts the pooled paired gap of the outcome judge is larger than the one with the
# types weighted as in the set. Which faults lack their parent, and at which mix of changed and unchanged
# replies would the gap be zero?
# ```
#
# ```{solution-start} a7-orphans
# :class: dropdown
# ```

# %%
if len(pairs):
    mine = pairs[pairs["judge"] == OUTCOME]
    there = mine.groupby(["fault", "survival"])["n"].sum()
    whole = pd.Series([(x.failure_type, "silent" if x.outcome_correct else "loud")
                       for x in source.labels if x.faulty]).value_counts()
    print("without a parent:", {" ".join(kind): int(n - there.get(kind, 0))
                                for kind, n in whole.items() if n > there.get(kind, 0)})
    changed = mine[mine["reply"] == "changed"]
    net = changed["n"] * (changed["fault_flagged"] - changed["parent_flagged"])
    print("detected where the reply changed:", (net.groupby(changed["survival"]).sum()
          / changed.groupby("survival")["n"].sum()).round(3).to_dict())

# %% [markdown]
# The loud faults without a parent leave the reply as it was, so the pairs hold too large a share of
# faults that changed it. A gap is the share of changed replies times what is detected on them, for
# loud faults less the same for silent ones; where the reply did not change, nothing is detected. So
# the gap is zero where the two products are equal: silent faults would have to change the reply
# more often than loud ones, by the factor by which loud ones are detected more often.
#
# ```{solution-end}
# ```
#
# ```{exercise} One sentence less
# :label: a7-sentence
# :nonumber:
# Drop the sentence that the step judge sees, and say what section 7.2 would have reported. Then imagine
# that all four were like it. (`-p verdicts released` has all four.)
# ```
#
# ```{solution} a7-sentence
# :class: dropdown
# The step judge catches {glue:text}`a7-best`. Without that sentence its recall on the type would have been
# {glue:text}`a7-others`, a judge blind to replies; with four like it, nearly one, a judge that reads them.
# Neither the interval nor the number of trajectories would have warned of this.
# ```
#
# ```{exercise} The price of one vote
# :label: a7-onevote
# :nonumber:
# Find the number of false alarms at which the one-vote rule loses its advantage in F1 over one pass. How
# far is that from the upper end of its interval?
# ```
#
# ```{solution-start} a7-onevote
# :class: dropdown
# ```

# %%
one, alone = (pick(by_rule, judge=judge, metric="f1")["value"] for judge in ("1 of 3 votes", STEP))
alarm = pick(by_rule, judge="1 of 3 votes", metric="false_alarm_rate")
caught = pick(by_rule, judge="1 of 3 votes", metric="recall")
if None not in (one, alone, alarm["hi"], caught["k"]) and alone:
    most = 2 * caught["k"] / alone - caught["k"] - caught["n"]  # from 2h / (h + alarms + faults)
    print(f"more than {most:.1f} false alarms of {alarm['n']:.0f}; "
          f"the interval ends at {alarm['hi'] * alarm['n']:.1f}")
else:
    print("no such votes here")

# %% [markdown]
# If the interval reaches further than that number, this set has too few clean runs to say that one
# vote is the better rule.
#
# ```{solution-end}
# ```
#
# ```{exercise} A kinder binning
# :label: a7-bins
# :nonumber:
# Find a binning under which the ensemble is *better* calibrated than one pass, or show that there is none.
# `tjlib.measure.calibration.ece` takes the bins; think of what merging bins can do.
# ```
#
# ```{solution-start} a7-bins
# :class: dropdown
# ```

# %%
from tjlib.measure.calibration import ece

truth = {x.trajectory_id: x.faulty for x in source.labels}
told = {judge: [v for v in source.verdicts if v.judge == judge and v.confidence is not None
                and v.faulty is not None] for judge in (STEP, ENSEMBLE)}
for bins in (1, 2, 3, 10, 100):
    print(bins, {names.get(judge, judge): round(float(ece(
        np.array([v.confidence for v in said]),
        np.array([v.faulty == truth[v.trajectory_id] for v in said]), bins)), 4)
        for judge, said in told.items() if said})

# %% [markdown]
# Merging bins can only lower the error, since what is too high in one and too low in the other cancels;
# one bin for all is the least that any binning gives, and a bin for each value the most. Where the
# ensemble's least is above one pass's most, there is no such binning.
#
# ```{solution-end}
# ```

# %% [markdown]
# **Next:** every fault so far was planted. [Organic faults](a8_organic) are those that an agent makes by
# itself, and they decide what an alarm is worth.
