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
# # Pooled recall hides the silent faults
#
# **The claim.** A {term}`judge` that sees only the request and the reply looks respectable as long as all
# faults are counted together. Split the faults by whether the outcome survived, and the same verdicts fall
# apart into two very different numbers. This chapter rebuilds section 6 of the *trajectory-judge* paper
# ([arXiv 2609.00038](https://arxiv.org/abs/2609.00038)): its Tables 3, 4, 6, 7 and 8 and its Figures 2, 3
# and 4.
#
# ```{admonition} In one minute
# The {term}`outcome judge`, which sees the request and the reply, flags {glue:text}`a6-outcome-recall` of
# all faults. That is {glue:text}`a6-outcome-loud` of the **loud** ones, after which the case ended wrong,
# and {glue:text}`a6-outcome-silent` of the **silent** ones, after which it ended as it should. It also
# flags {glue:text}`a6-outcome-alarm` of the trajectories that have no fault at all. The
# {term}`step judge`, which is the same model and sees every step, flags {glue:text}`a6-step-silent` of
# the silent faults and {glue:text}`a6-step-alarm` of the clean trajectories.
# ```
#
# A *{term}`trajectory`* is the record of what an agent did: for each step a thought, a tool call and what
# came back, and at the end a reply. A *{term}`verdict`* is what a judge said of one trajectory. A fault is
# **{term}`silent <silent fault>`** if the case still ended as it should - with the right refund, or the
# right hand-over - and **{term}`loud <loud fault>`** if it did not. [The testbed chapter](a3_testbed)
# tells how the faults were built, so that all this is known and not guessed.

# %% [markdown]
# ## Choose the verdicts
#
# `tjlib rerun a6_results -p verdicts FILE` runs this page on other verdicts, and `-p verdicts recorded` on
# the run that we recorded. The text was written for the published ones. On others the tables and figures
# are yours, and a sentence that names a judge you do not have says so instead of giving a number. Judges
# are found by their ids, `DESIGN:MODEL`. With `-p recorded FILE` your judges stand beside the published
# ones in the comparison near the end, and nowhere else.

# %% tags=["parameters"]
verdicts: str = "published"  # published, released, recorded, a verdict file, or a folder of one
labels: str = ""  # the labels of a verdict file; empty: labels.jsonl beside it
judges: list[str] = []  # the judges to show, by id; empty: all
focus: str = ""  # the judge of the confusion figure; empty: the step judge, else the last
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
from tjlib.charts import beside, judging
from tjlib.charts.show import show
from tjlib.measure.against import compare
from tjlib.measure.calibration import reliability
from tjlib.measure.common import coverage
from tjlib.measure.floor import floor_check, standings
from tjlib.measure.intervals import intervals
from tjlib.measure.kinds import design, side_by_side, trio
from tjlib.measure.resample import SAME, clopper_pearson
from tjlib.measure.structural import STRUCTURAL
from tjlib.measure.table import confusion, table
from tjlib.measure.verdicts import floors
from tjlib.trace import FAULT_TYPES, InputError

source = store.load(given.verdicts, labels=given.labels or None)
asked = [v for v in source.verdicts if not given.judges or v.judge in given.judges]
if missing := set(given.judges) - {v.judge for v in asked}:
    known = ", ".join(dict.fromkeys(v.judge for v in source.verdicts))
    raise InputError(f"no verdicts by {', '.join(sorted(missing))}; judges here: {known}")
if len({v.judge for v in asked}) > 12:
    raise InputError("more than 12 judges do not fit a page; choose some with -p judges")
verdict_table = table(source.labels, asked, source.cost)
found = intervals(verdict_table, np.random.default_rng(given.seed), draws=given.draws)
own = found[found["judge"].isin(verdict_table.judges)]  # the rest are differences of two judges
floor = floors(verdict_table)
names = tables.judge_names(verdict_table.judges)

# %% tags=["hide-input"]
OUTCOME, STEP, _ = trio(verdict_table.judges)
STEP_8B, PRINTED = "step:llama3.1:8b", "outcome:qwen2.5:14b"
by_name = found.set_index(["judge", "metric"])
paper = store.published("trajectory_judge_numbers").set_index(["subject", "metric"])


def say(name: str, judge: str, metric: str, bare: bool = False) -> None:
    """Put one estimate where the text asks for it: with its interval, or bare to two digits."""
    if (judge, metric) not in by_name.index:
        return chapter.text(name, "(not judged here)")
    row = by_name.loc[(judge, metric)]
    return chapter.number(name, row["value"], 2) if bare else chapter.text(name, tables.estimate(row))


say("a6-outcome-recall", OUTCOME, "recall", bare=True)
say("a6-outcome-loud", OUTCOME, "loud_recall", bare=True)
say("a6-outcome-silent", OUTCOME, "silent_recall", bare=True)
say("a6-outcome-alarm", OUTCOME, "false_alarm_rate", bare=True)
say("a6-outcome-gap", OUTCOME, "loud_minus_silent")
gap = paper.loc[(PRINTED, "loud_minus_silent")]
over_floor = floor_check(source.labels, asked, np.random.default_rng(given.seed), draws=100)
below = [names[row["judge"]] for row in over_floor.to_dict("records") if (row["value"] or 0) < 0]
chapter.text("a6-below-floor", ", ".join(below) or "none")
chapter.text("a6-coverage", coverage(verdict_table))
chapter.number("a6-faults", int(verdict_table.faulty.sum()), 0)
chapter.number("a6-cleans", int((~verdict_table.faulty).sum()), 0)
chapter.text("a6-paper-gap", tables.estimate(
    {"value": gap["published"], "lo": gap["published_lo"], "hi": gap["published_hi"]}))
say("a6-step-silent", STEP, "silent_recall", bare=True)
say("a6-step-alarm", STEP, "false_alarm_rate", bare=True)

# %% [markdown]
# ## Judge by judge
#
# The paper's Table 3 follows in two parts. The paper has five judges: the {term}`rules`, which ask no model;
# the outcome judge and the step judge with a model of 14 billion parameters (14B); the step judge with a
# model of eight billion (8B); and the {term}`ensemble`, in which the 14B step judge votes three times. In
# these verdicts {glue:text}`a6-coverage`. (Judges that were asked about different trajectories would
# differ by that, too.)
#
# Read every {term}`recall` - the share of faults that are flagged - against two things. One is the same
# judge's {term}`false-alarm rate`. The other is the three {term}`floor judges <floor judge>` at the
# bottom, which look at nothing: one flags everything, one nothing, and one tosses a coin. *Recall at the
# false-alarm rate is not detection.*
#
# The other columns, in a line each: {term}`F1` is high where flags and faults overlap;
# {term}`step exact` asks whether the right step was named and {term}`type macro-F1` whether the right
# type was; the {term}`expected calibration error` (ECE) is how far stated confidence lies from the share
# of verdicts that were right. [The measures chapter](a5_measures) works all of these by hand.
#
# ```{admonition} What the brackets and daggers mean
# :class: note dropdown
# A bracket is a 95 % interval. The trajectories were resampled inside their
# {term}`design cells <design cell>` (clean; each type of fault, silent and loud apart), with all judges on
# the same resample. A dagger marks an exact binomial interval, which takes trajectories to be independent.
# The paper uses it where all or none were flagged; we use it for every share that no resample moves, as
# when all runs of a cell got the same verdict. F1 and differences have no such interval, so where no
# resample moves them they stand without one. A double dagger marks the rules, which say the same of every
# trajectory of a cell by construction: their rates are a property of their code, not an estimate.
# ```

# %% tags=["hide-input"]
table3 = {
    "f1": "F1", "silent_recall": "silent recall", "loud_recall": "loud recall",
    "false_alarm_rate": "false alarms", "coverage": "coverage",
}
tables.show(
    tables.layout(pd.concat([own, floor]), table3),
    "Table 3, detection. Higher is better, except for false alarms. Coverage is the share of "
    "trajectories with a readable verdict. In brackets 95 % intervals; †: exact binomial; ‡: constant "
    "by construction.", source.origin,
)

# %% tags=["hide-input"]
table3 = {"step_exact": "step exact (scored)", "type_macro_f1": "type macro-F1", "ece": "ECE"}
tables.show(
    tables.layout(own, table3, over=("step_exact",)),
    "Table 3, localisation, typing and calibration. Higher is better, except for ECE. The floor "
    "judges name no step and no type and state no confidence.", source.origin,
)

# %% [markdown]
# The floor judges are not decoration. These judges have an F1 below that of `always faulty` on the
# trajectories they judged: {glue:text}`a6-below-floor`. A set with {glue:text}`a6-faults` faults and
# {glue:text}`a6-cleans` clean runs rewards a judge for saying "faulty".
#
# ## The gap
#
# {numref}`fig-a6-recall` is the chapter in one picture. For each judge, look first at the distance between
# the silent and the loud mark, then at how far both stand from the triangle, the judge's false-alarm
# rate. A judge is worth something to the extent that its recalls leave its own false alarms behind. The
# hollow diamond is {term}`pooled recall`, over all faults together: the one number a dashboard would show.

# %% mystnb={"figure": {"caption": "The paper's Figure 2: recall on silent and loud faults with 95 % intervals, the false-alarm rate in the same row, and pooled recall (hollow).", "name": "fig-a6-recall"}} tags=["hide-input"]
recalls = tables.labelled(own, judging.RATES)
show(
    judging.dumbbell(recalls), name="a6-recall", table=recalls[["judge", "what", "shown"]],
    alt="For each judge, silent recall, loud recall, false-alarm rate and pooled recall in one "
        "row from 0 to 1, with intervals; the numbers are in the data table.",
)

# %% [markdown]
# For the outcome judge, loud recall minus silent recall is {glue:text}`a6-outcome-gap`; the paper reports
# {glue:text}`a6-paper-gap` (section 7.1). Does this gap come from what the judge sees, or from *which*
# cases happen to be silent? [The analysis](a7_analysis) takes that up. When each fault is paired with the
# clean run of the same case, some loud faults turn out to be flagged for reasons that have nothing to do
# with the fault.
#
# ## Which faults
#
# {numref}`fig-a6-types` shows the share of trajectories that each judge flags, by type of fault. Read each
# column against its last row, the clean runs: a column that looks the same all the way down tells faults
# from nothing.

# %% mystnb={"figure": {"caption": "The paper's Table 4 as a strip: share of trajectories flagged, by type of fault; the last row is the share of clean runs flagged.", "name": "fig-a6-types"}} tags=["hide-input"]
ROWS = {f"recall|{kind}": kind for kind in FAULT_TYPES} | {"false_alarm_rate": "clean (false alarms)"}
strip = tables.labelled(own, ROWS, 2, "row")
column = strip[strip["judge"] == names.get(STEP_8B)].set_index("row")["value"]
typed = column[column.index.isin(FAULT_TYPES)]
chapter.text("a6-8b-range", f"runs from {typed.min():.2f} to {typed.max():.2f}" if len(typed)
             else "is empty (not judged here)")
say("a6-8b-alarm", STEP_8B, "false_alarm_rate", bare=True)
show(
    judging.type_strip(strip), name="a6-types", table=strip[["judge", "row", "shown"]],
    alt="A grid of judges by fault types with the share flagged in each cell and the share of "
        "clean trajectories flagged in the last row.",
)

# %% [markdown]
# The column of the rules holds only 1 and 0, because a type of fault either breaks one of their rules or
# does not. (They miss `wrong_tool` for want of one rule, as [the testbed chapter](a3_testbed) shows, and
# `unsupported_claim` because no rule reads the reply.) The 8B judge's column {glue:text}`a6-8b-range`, and
# its last row is {glue:text}`a6-8b-alarm`.
#
# The paper's Table 6 gives the same shares with their intervals.

# %% tags=["hide-input"]
tables.show(
    tables.layout(own, ROWS, digits=2).T.rename_axis("type"),
    "Table 6. Share flagged by type of fault with 95 % intervals; last, the share of clean runs flagged.",
    source.origin,
)

# %% [markdown]
# ## Where and how sure
#
# *Localisation* asks whether the judge named the right step. It is scored only where the judge flagged the
# trajectory and both it and the label name a step, so each judge has a denominator of its own. A fault
# that was missed, or flagged without a step, drops out. In the next table, *exact, of detected faults*
# puts back the flags without a step, and *exact, of all faults* the missed faults as well. The
# {term}`Brier score` belongs to confidence: it is the mean squared distance between what the judge stated
# and whether it was right, 1 or 0.

# %% tags=["hide-input"]
table7 = {
    "step_exact": "step exact", "step_within_one": "within one step",
    "step_exact_over_detected_faults": "exact, of detected faults",
    "step_exact_over_all_faults": "exact, of all faults", "brier": "Brier",
}
places = tuple(name for name in table7 if name != "brier")
tables.show(
    tables.layout(own, table7, over=places),
    "Table 7. Localisation with its denominators (higher is better) and Brier score (lower is "
    "better).", source.origin,
)

# %% [markdown]
# A judge also says how sure it is. {numref}`fig-a6-reliability` sorts its verdicts into ten bins by stated
# confidence and compares that with how often they were right. Points under the diagonal are
# overconfident. The size of a mark is the number of verdicts in the bin, so one large mark can be most of
# a judge.

# %% mystnb={"figure": {"caption": "The paper's Figure 3: stated confidence against the share of verdicts that were correct, in ten equal bins, with exact 95 % intervals. Below the dashed diagonal the judge is overconfident. Hollow: confidence set by hand.", "name": "fig-a6-reliability"}} tags=["hide-input"]
bins = []
for judge in verdict_table.judges:
    rows = reliability(verdict_table, judge)
    ends = [clopper_pearson(k, n) for k, n in zip(rows["k"], rows["n"], strict=True)]
    bins.append(rows.assign(
        judge=names[judge], lo=[lo for lo, _ in ends], hi=[hi for _, hi in ends],
        kind="hand-set" if judge in STRUCTURAL else "stated"))
bins = pd.concat(bins)[["judge", "confidence", "accuracy", "lo", "hi", "n", "kind"]]
show(
    judging.reliability(bins), name="a6-reliability", table=bins,
    alt="One panel a judge: mean stated confidence of each bin on the horizontal axis, share of "
        "correct verdicts on the vertical axis, with a diagonal for perfect calibration.",
)

# %% [markdown]
# ## What it was called
#
# Detecting a fault and naming it are different tasks. {numref}`fig-a6-confusion` takes one judge and
# shows, for each true type, what the judge called it. Right names lie on the diagonal; the column `missed`
# holds the faults that it did not flag or flagged without naming a type.

# %% mystnb={"figure": {"caption": "The paper's Figure 4: what the judge called each type of fault; rows are the truth, columns the judge's word, cells count trajectories.", "name": "fig-a6-confusion"}} tags=["hide-input"]
looked_at = given.focus or (STEP if STEP in verdict_table.judges else verdict_table.judges[-1])
counts = confusion(verdict_table, looked_at).reset_index().melt("true", var_name="called", value_name="n")
counts["share"] = (counts["n"] / counts.groupby("true")["n"].transform("sum")).fillna(0)
show(
    judging.confusion(counts), name="a6-confusion",
    table=confusion(verdict_table, looked_at).reset_index(),
    alt=f"Confusion matrix of {names.get(looked_at, looked_at)}: six true types by six named types "
        "and a column for missed faults, with counts.",
)

# %% [markdown]
# ## What it costs
#
# Seeing the steps has a price, and so has asking three times.

# %% tags=["hide-input"]
table8 = {
    "latency_s_mean": "seconds a trajectory", "prompt_tokens_mean": "prompt tokens",
    "completion_tokens_mean": "completion tokens",
}
tables.show(
    tables.layout(own, table8, digits=1),
    "Table 8. Mean cost of one verdict. Time is wall clock on the workstation that made the "
    "verdicts and will differ on yours; completion tokens differ with the model's build.",
    source.origin,
)

# %% [markdown]
# ## A run of ours beside the published judges
#
# The paper's prompts run with any model. {numref}`fig-a6-beside` puts the judges of a recorded run
# (filled) under the published judges of the same design (hollow). In that run
# {glue:text}`a6-ours-coverage`. Look for rows whose three marks lie apart: a judge whose recalls sit on
# its false alarms tells no fault from a clean run.
#
# Two things differ between a hollow row and the filled one under it. One is the model: the published
# judges are of 14B and 8B, and where the run that comes with this book asks a model, it is SmolLM2
# with 135 million parameters, its reasoning held to a limit. The other is the set: the published judges
# read the release's trajectories, and that run read ours, built to the same design from other cases. So
# the distance between two rows is no paired difference. What compares across rows is how far the recalls
# of a row stand from its own false alarms.
#
# These rows of the recorded run asked no model: {glue:text}`a6-ours-modelless`. These have a design that
# no published judge has: {glue:text}`a6-ours-alone`. [The judges chapter](a4_judges) explains both.
# (There, every share has an exact interval. Here only those with a dagger do, and the others keep the mix
# of types fixed in every resample, as the paper does.)

# %% tags=["hide-input"]
ours, reference = store.load(given.recorded), store.load("published")
if len({v.judge for v in ours.verdicts}) > 12:
    raise InputError(f"{given.recorded}: more than 12 judges do not fit a figure; give fewer")
of = {"published": reference, "ours": ours}
joined = {who: table(x.labels, x.verdicts, x.cost) for who, x in of.items()}
rng = np.random.default_rng(given.seed)
scores = {who: intervals(x, rng, draws=given.draws) for who, x in joined.items()}
checks = {who: floor_check(x.labels, x.verdicts, rng, draws=given.draws).set_index("judge")
          for who, x in of.items()}
order = side_by_side(joined["published"].judges, joined["ours"].judges)
known = {who: tables.judge_names(x.judges) for who, x in joined.items()}
shown_as = {(judge, who): known[who][judge] + (" (ours)" if who == "ours" and (
    known[who][judge] in known["published"].values()) else "") for judge, who in order}

# %% tags=["hide-input"]
SPLIT = {metric: what for metric, what in judging.RATES.items() if what != "pooled"}
drawn, rows = [], []
for judge, who in order:
    name, check = shown_as[judge, who], checks[who].loc[judge]
    mine = scores[who][scores[who]["judge"] == judge]
    drawn.append(tables.labelled(mine, SPLIT).assign(judge=name, origin=who))
    f1 = mine[mine["metric"] == "f1"].iloc[0]
    rows.append({"judge": name, "origin": who, "judged": f"{check['n']} of {len(of[who].labels)}",
                 "flagged": f"{check['flagged']} of {check['n']}", "F1": tables.estimate(f1),
                 "F1 less always-faulty's": tables.estimate(check)})
drawn = pd.concat(drawn)
both_origins = f"{reference.origin}; ours: {ours.origin}"

# %% mystnb={"figure": {"caption": "Silent recall, loud recall and false alarms with 95 % intervals. Hollow, thin lines: the published judges on the release's trajectories. Filled, bands: the recorded run on its own. A judge whose three marks lie together tells no fault from a clean run.", "name": "fig-a6-beside"}} tags=["hide-input"]
show(
    beside.rates(drawn), name="a6-beside", table=drawn[["judge", "origin", "what", "shown"]],
    alt="For each published judge, and under it for ours of the same design, silent recall, loud "
        "recall and false-alarm rate in one row from 0 to 1, with intervals.",
)

# %% tags=["hide-input"]
tables.show(
    pd.DataFrame(rows), "How many each judged and flagged, and its F1 against a judge that flags "
    "all of the same trajectories. Higher is better.", both_origins,
)

# %% tags=["hide-input"]
chapter.text("a6-ours-coverage", coverage(joined["ours"]))
chapter.text("a6-ours-flagged", "; ".join(
    f"{shown_as[judge, 'ours']} {row['flagged']} of {row['n']}"
    for judge, row in checks["ours"].iterrows()))
for who, check in checks.items():
    chapter.text(f"a6-{who}-floor", standings(check.reset_index(), known[who]))
small = checks["published"].loc[STEP_8B]
chapter.text("a6-8b-flagged", f"{small['flagged']} of {small['n']}")
gaps = scores["ours"][scores["ours"]["metric"] == "loud_minus_silent"].set_index("judge")
our_outcome = trio(joined["ours"].judges).outcome
flat = our_outcome in gaps.index and gaps.loc[our_outcome, "why"] == SAME
chapter.text("a6-ours-gap", "(not judged there)" if our_outcome not in gaps.index else
             tables.estimate(gaps.loc[our_outcome]) + ", without an interval, as every run of a cell "
             "got the same verdict and no resample can move it" * flat)
spent = scores["ours"][scores["ours"]["metric"] == "prompt_tokens_mean"].set_index("judge")["value"]
chapter.text("a6-ours-modelless", ", ".join(
    known["ours"][judge] for judge in joined["ours"].judges
    if spent[judge] == 0 or judge in STRUCTURAL) or "none")
designs = set(map(design, joined["published"].judges))
chapter.text("a6-ours-alone", ", ".join(
    known["ours"][judge] for judge in joined["ours"].judges if design(judge) not in designs) or "none")

# %% [markdown]
# Flagged in the recorded run: {glue:text}`a6-ours-flagged`. The same design and the same prompt are worth
# what the model that reads them makes of them. Section 7.3 of the paper calls this a capability floor and
# shows it with the 8B judge, which flags {glue:text}`a6-8b-flagged`: all recall and no judgement. A judge
# that flags next to nothing is just as empty, and looks good only as long as nothing but false alarms is
# counted.
#
# The paper's check is to compare a judge's F1 with that of `always faulty`. In the recorded run:
# {glue:text}`a6-ours-floor`. Among the published judges: {glue:text}`a6-published-floor`. So the check
# finds judges that are worth little, but it catches others with them, because in a set with so many faults
# F1 pays for every flag. [The analysis](a7_analysis) reads each fault against its own clean run instead.
#
# A small gap says little by itself, either. For the outcome judge of the recorded run, loud minus silent
# recall is {glue:text}`a6-ours-gap`. A gap near zero is a merit only where the recalls have left the false
# alarms behind.
#
# ## Beside the paper
#
# The last table sets every published rate, interval and difference that this page recomputes beside our
# value. A point value agrees when it rounds to what is printed, and an interval when its ends lie as near
# as an independent bootstrap can be expected to come: 0.01 for metrics over the whole set, one step of 1/n
# for cells of 50 or 25, and 0.04 for typing. (Costs and the cells of the confusion matrix are compared by
# the tests.)

# %% tags=["hide-input"]
compared = compare(found, store.published("trajectory_judge_numbers"))
agree = int(compared["agrees"].sum()) if len(compared) else 0
chapter.number("a6-compared", len(compared), 0)
chapter.number("a6-agree", agree, 0)
tables.show(
    tables.beside(compared), f"Published figures beside ours: {agree} of {len(compared)} agree.",
    f"published: as the last column says; ours: {source.origin}", folded=True,
)

# %% [markdown]
# Of {glue:text}`a6-compared` published figures {glue:text}`a6-agree` agree. That does not make the
# sentences true that were built on them; [the audit](a9_claims) tries those.
#
# ## What would change our mind
#
# - A gap that closes when each fault is compared with the clean run of the same case. Then it would be a
#   gap between cases, not between views. [The analysis](a7_analysis) makes that comparison.
# - A larger outcome judge that reaches the step judge's silent recall without false alarms. Then the blind
#   spot would be weakness, not structure. Nothing here rules that out for faults that change the reply;
#   where the reply stays the same, no judge of replies can tell the two runs apart.
# - Another desk, another agent or another model. The intervals say how much these numbers move when other
#   trajectories of the *same design* are drawn, and nothing about those.

# %% [markdown]
# ## Exercises
#
# The checks compare your answer with the published verdicts.
#
# ```{exercise} A judge that flags everything
# :label: a6-always
# :nonumber:
# Take `always faulty` from the first table and recompute its F1 from the numbers of faulty and clean
# trajectories alone.
# ```

# %%
from tjlib import exercises

f1 = None  # a number from 0 to 1
print(exercises.check("a6-always", f1))

# %% [markdown]
# ```{solution-start} a6-always
# :class: dropdown
# ```
#
# Its hits are the faults, and its flags are all trajectories.

# %%
faulty, every = int(verdict_table.faulty.sum()), len(verdict_table.faulty)
print(f"2 x {faulty} / ({every} + {faulty}) = {2 * faulty / (every + faulty):.3f}" if faulty
      else "no fault here")

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} Where it wins
# :label: a6-beat
# :nonumber:
# At which share of faults in a set would that judge begin to beat the step judge on F1?
# ```

# %%
share = None  # a share from 0 to 1
print(exercises.check("a6-beat", share))

# %% [markdown]
# ```{solution-start} a6-beat
# :class: dropdown
# ```
#
# Without a false alarm, the step judge's F1 is $2r / (1 + r)$, whatever the share $p$ of faults; $r$ is
# its recall. The other's is $2p / (1 + p)$. So it wins where $p$ is above $r$. With a false-alarm rate
# $f$, it wins where $p$ is above $(r - f) / (1 - f)$.

# %%
if STEP in verdict_table.judges:
    r, f = (by_name.loc[(STEP, metric), "value"] for metric in ("recall", "false_alarm_rate"))
    print(f"p = {(r - f) / (1 - f):.3f}" if None not in (r, f) and f < 1 else "undefined here")

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} What recall leaves behind
# :label: a6-net
# :nonumber:
# How far is the outcome judge's recall on silent faults above the share of clean runs that it flags?
# ```

# %%
above = None  # a difference of two shares
print(exercises.check("a6-net", above))

# %% [markdown]
# ```{solution-start} a6-net
# :class: dropdown
# ```

# %%
if OUTCOME in verdict_table.judges:
    recall, alarm = (by_name.loc[(OUTCOME, metric), "value"]
                     for metric in ("silent_recall", "false_alarm_rate"))
    print("undefined" if None in (recall, alarm) else f"{recall:.3f} - {alarm:.3f} = {recall - alarm:.3f}")

# %% [markdown]
# This is the distance between two marks in {numref}`fig-a6-recall`. It takes off the flags on *all* clean
# runs; [the analysis](a7_analysis) takes those of the same cases.
#
# ```{solution-end}
# ```
#
# ```{exercise} Another mix
# :label: a6-pooled
# :nonumber:
# In your own set nine faults out of ten are silent. What pooled recall would the outcome judge have there,
# if its silent and loud recall stay as they are?
# ```

# %%
pooled = None  # a share from 0 to 1
print(exercises.check("a6-pooled", pooled))

# %% [markdown]
# ```{solution-start} a6-pooled
# :class: dropdown
# ```

# %%
if OUTCOME in verdict_table.judges:
    kinds = [by_name.loc[(OUTCOME, metric), "value"] for metric in ("silent_recall", "loud_recall")]
    print("undefined" if None in kinds else f"0.9 x {kinds[0]:.3f} + 0.1 x {kinds[1]:.3f} = "
          f"{0.9 * kinds[0] + 0.1 * kinds[1]:.3f}")

# %% [markdown]
# It is the same judge on another dashboard. Pooled recall is in part a number about the set.
#
# ```{solution-end}
# ```
#
# ```{exercise} Nearly perfect
# :label: a6-step
# :nonumber:
# The step judge's localisation looks nearly perfect. Find the column that makes it look least so, and say
# which of the two you would put on a dashboard.
# ```
#
# ```{solution-start} a6-step
# :class: dropdown
# ```

# %% tags=["hide-input"]
say("a6-x-exact", STEP, "step_exact")
say("a6-x-all", STEP, "step_exact_over_all_faults")

# %% [markdown]
# Of the faults where both named a step, {glue:text}`a6-x-exact` are exact; of all faults,
# {glue:text}`a6-x-all`. If you act on single flags you want the first. If you want to know how many faults
# will be found at their step, you want the second. A dashboard with room for one should have the second,
# because it cannot be raised by flagging less.
#
# ```{solution-end}
# ```
#
# ```{exercise} Rules first
# :label: a6-rules
# :nonumber:
# From a clone of the project, judge the testbed with rules (`tjlib judge rules`) and rerun the page on
# your file. Which rows of {numref}`fig-a6-types` can you predict before looking?
# ```
#
# ```{solution} a6-rules
# :class: dropdown
# All of them. A rule says the same of every run of a type, so each row is 1 or 0: 0 for the two types that
# no rule sees and for clean runs, 1 for the rest.
# ```
#
# ```{exercise} Sentences to take back
# :label: a6-recorded
# :nonumber:
# Rerun with `-p verdicts recorded`. Which sentences of this page would you no longer write?
# ```
#
# ```{solution} a6-recorded
# :class: dropdown
# Those that need a judge which flags: the claim at the top, the gap, and the reading of the reliability
# figure. A judge that flags next to nothing has no gap to speak of, and what is said of its localisation
# and its types rests on a handful of verdicts or on none. What stays is how to read a row: recall beside
# its own false alarms.
# ```

# %% [markdown]
# **Next:** is the gap about what the judge sees, or about which cases it was shown?
# [The analysis](a7_analysis) pairs each fault with the clean run of its own case.
