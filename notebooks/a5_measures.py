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
# # A number is an answer to a question
#
# **The claim.** Every score of a {term}`judge` is a fraction. It counts some {term}`trajectories
# <trajectory>` on top, some below the line, and looks away from the rest. Which ones it counts is the
# question it answers, and the rest is what it is blind to. An interval answers a question too: what if
# *other trajectories of the same design* had been drawn? It answers no wider one. This chapter takes the
# scores of section 5 and Appendix F of the *trajectory-judge* paper
# ([arXiv 2609.00038](https://arxiv.org/abs/2609.00038)) and works each of them by hand, on verdicts that
# you can edit.
#
# ```{admonition} In one minute
# On the rows below the judge has an F1 of {glue:text}`a5-f1`, and a judge that flags everything has
# {glue:text}`a5-f1-floor`. The same rows give a recall of {glue:text}`a5-recall`, a recall on silent
# faults (those that left the outcome right) of {glue:text}`a5-silent`, and a false-alarm rate of
# {glue:text}`a5-alarm`: four questions, four answers. The same care moves conclusions about the paper's
# judges. Whether a judge that sees every step is worse calibrated when asked three times than when asked once
# depends on how its confidences are sorted into bins: the difference in error is {glue:text}`a5-ece-gap` in ten equal bins and
# {glue:text}`a5-value-gap` with one bin for each stated value. And where one run in
# {glue:text}`a5-one-in` is faulty, {glue:text}`a5-ppv-yours` of the alarms of a judge that sees only the
# reply would be faults.
# ```

# %% [markdown]
# ## A few verdicts
#
# Each row below is one trajectory. Before the bar stands what is true of it: `clean`, or the type of
# fault, whether the outcome survived it (`silent`) or not (`loud`), and its step, counted from 0. After
# the bar stands what the judge said: `clean`, or `faulty` with a type and a step (`-` if it named none),
# and how sure it was. Change a row in a live notebook and run everything: the whole page follows. Or, on
# the command line:
#
# ```bash
# tjlib rerun a5_measures -p rows "clean | clean 0.9, wrong_tool silent 2 | faulty - - 0.7"
# ```

# %% tags=["parameters"]
rows: list[str] = [
    "clean | clean 0.9",
    "clean | clean 0.7",
    "clean | faulty skipped_precondition 3 0.6",
    "wrong_tool silent 2 | faulty wrong_tool 2 0.9",
    "wrong_tool silent 2 | faulty hallucinated_argument 2 0.8",
    "wrong_tool silent 2 | clean 0.9",
    "unsupported_claim silent 5 | clean 0.95",
    "premature_stop loud 3 | faulty premature_stop 3 0.95",
    "premature_stop loud 3 | faulty unsupported_claim 4 0.9",
    "premature_stop loud 3 | faulty - - 0.75",
]  # what is true | what the judge said
shown: str = "f1"  # the metric whose resamples are drawn
clean_runs: int = 100  # clean runs, for the bound worked by hand
alarms: int = 0  # how many of them were flagged
verdicts: str = "published"  # published, released, a verdict file, or a folder with the release
labels: str = ""  # the labels of a verdict file; empty: labels.jsonl beside it
compared: str = "silent_recall"  # the metric whose interval is compared between designs
fault_rate: float = 0.01  # the share of faulty runs in your own deployment
draws: int = 10_000  # bootstrap replicates
seed: int = 0  # seed of the bootstrap

# %% tags=["hide-input"]
from tjlib import chapter
from tjlib.measure import verdicts as scores

given = chapter.check(
    globals(),
    rows=lambda value: None if 2 <= len(value) <= 12 else "give 2 to 12 rows",
    shown=tuple(name for name in scores.METRICS if name not in scores.COST),
    compared=tuple(name for name in scores.METRICS if name not in scores.COST),
    clean_runs=lambda value: None if 1 <= value <= 1000 else "give 1 to 1000",
    alarms=lambda value: None if 0 <= value <= clean_runs else "give 0 to clean_runs",
    fault_rate=lambda value: None if 0.001 <= value < 1 else "give 0.001 or more, less than 1",
    draws=lambda value: None if 100 <= value <= 100_000 else "give 100 to 100000",
)

# %% tags=["hide-input"]
from math import comb

import msgspec
import numpy as np
import pandas as pd

from tjlib import store, tables
from tjlib.charts import measures
from tjlib.charts.show import show
from tjlib.measure import planner
from tjlib.measure.alternatives import alternatives
from tjlib.measure.calibration import bin_of, reliability
from tjlib.measure.designs import DESIGNS, designs
from tjlib.measure.intervals import intervals
from tjlib.measure.prevalence import deployed
from tjlib.measure.resample import bounds_or_why, clopper_pearson
from tjlib.measure.table import table
from tjlib.measure.worked import counted, parse, replicates, typed

JUDGE = "the judge"
true, said = parse(given.rows, JUDGE)
small = table(true, said)
typed_in = "the rows typed in at the top of this page"

# %% tags=["hide-input"]
ten = pd.DataFrame({
    "row": range(1, len(true) + 1),
    "role": ["clean" if not x.faulty else "silent" if x.outcome_correct else "loud" for x in true],
    "flagged": [bool(v.faulty) for v in said],
    # A reply that cannot be read votes clean at .5 (section 4).
    "sure": [v.confidence if v.status == "ok" else 0.5 for v in said],
    "right": [bool(v.faulty) == x.faulty for x, v in zip(true, said, strict=True)],
}, dtype=object)
example = pd.DataFrame([
    (row, *(part.strip() for part in text.split("|")), ("right" if right else "wrong")
     + ("" if sure is None else f": ({sure:g} - {right:d})² = {(sure - right) ** 2:.4f}"))
    for row, text, sure, right in zip(ten["row"], given.rows, ten["sure"], ten["right"], strict=True)],
    columns=["row", "what is true", "what the judge said", "and is"])
tables.show(example, "The worked example. A verdict is right if its faulty or clean is true; the square is "
            "that of the confidence against 1 if right and 0 if wrong.", typed_in)

# %% [markdown]
# ## Which rows count
#
# {numref}`fig-a5-counts` is the chapter in one picture. A filled box is a row in the numerator, a pale
# box is a row in the denominator only, and where there is no box the score does not look. Read it line by
# line: *{term}`recall`* walks over the faults, the *{term}`false-alarm rate`* over the clean runs, and
# *{term}`precision`* over whatever the judge chose to flag. In the rows as printed, no line covers
# everything except {term}`coverage`, which does not ask whether the answer was right.

# %% mystnb={"figure": {"caption": "Which rows each score counts, and its value. Filled: in the numerator. Pale: only in the denominator. No box: not counted. Data: the rows typed in at the top of this page.", "name": "fig-a5-counts"}} tags=["hide-input"]
NAMES = {
    "coverage": "coverage", "precision": "precision", "recall": "recall", "f1": "F1",
    "silent_recall": "silent recall", "loud_recall": "loud recall",
    "false_alarm_rate": "false alarms", "step_exact": "step exact",
    "step_within_one": "within one step", "step_exact_over_detected_faults": "exact of detected",
    "step_exact_over_all_faults": "exact of all faults"}
fractions = counted(true, said)
fractions["score"] = fractions["metric"].map(NAMES)
fractions["shown"] = [tables.estimate(row, 2).partition(":")[0] for row in fractions.to_dict("records")]
role = dict(zip(ten["row"], ten["role"], strict=True))
cells = pd.DataFrame(
    [(f.score, i, role[i], i in f.top) for f in fractions.itertuples() for i in f.bottom],
    columns=["score", "row", "role", "full"])
show(
    measures.counts(cells, fractions[["score", "shown"]]), name="a5-counts",
    table=fractions[["score", "k", "n", "shown"]],
    alt="A grid of scores by rows: filled boxes are rows in the numerator of the score, pale boxes "
        "rows only in its denominator, empty places rows it does not count, and its value last.",
)

# %% tags=["hide-input"]
ASKS = {
    "coverage": ("How often was there a readable answer?", "whether it was right"),
    "precision": ("When it says faulty, how often is it?", "faults never flagged; moves with the share of faults"),
    "recall": ("Of the faults, how many were flagged?", "clean runs; whether the outcome survived"),
    "f1": ("How far do flags and faults overlap?", "clean runs left alone"),
    "silent_recall": ("Of the faults nobody sees in the outcome, how many were flagged?", "clean runs, loud faults"),
    "loud_recall": ("Of the faults that broke the outcome, how many were flagged?", "clean runs, silent faults"),
    "false_alarm_rate": ("Of the clean runs, how many were flagged?", "every fault"),
    "step_exact": ("Where both name a step, is it the same?", "missed faults, flags without a step"),
    "step_within_one": ("Is it the same or a neighbour?", "the same, and one step of error"),
    "step_exact_over_detected_faults": ("Of the faults flagged, how many were placed?", "missed faults"),
    "step_exact_over_all_faults": ("Of all faults, how many were found and placed?", "clean runs"),
}

# %% tags=["hide-input"]
def listing(k, at):
    """A count and the rows behind it."""
    word = "no row" if not at else "row " if len(at) == 1 else "rows "
    return f"{k} ({word}{' '.join(map(str, at))})"


worked = pd.DataFrame([{
    "score": f"{f.score}: {f.shown}", "the question": ASKS[f.metric][0],
    "on top": listing(f.k, f.top), "below": listing(f.n, f.bottom), "blind to": ASKS[f.metric][1],
} for f in fractions.itertuples()])
tables.show(worked, "Each score as a fraction of the rows. In F1 a row that is both flagged and "
            "faulty counts twice, on top and below.", typed_in)

# %% [markdown]
# These fractions were counted row by row. The library gets the same scores from weighted sums, which is
# what makes ten thousand resamples cheap; of the {glue:text}`a5-compared` scores in the figure,
# {glue:text}`a5-agree` come out equal both ways.
#
# ## F1, and a judge that looks at nothing
#
# Precision and recall share their numerator, the hits: faults that were flagged. F1 adds up their two
# denominators.
#
# ```{math}
# :label: eq-a5-f1
# F_1 = \frac{2 \times \text{hits}}{\text{flags} + \text{faults}}
# ```

# %%
hits = sum(bool(v.faulty) and x.faulty for x, v in zip(true, said, strict=True))
flags = sum(bool(v.faulty) for v in said)
faults = sum(x.faulty for x in true)
f1 = 2 * hits / (flags + faults) if flags + faults else None
print(f"F1 = 2 x {hits} / ({flags} flags + {faults} faults) = {f1 if f1 is None else round(f1, 3)}")

# %% [markdown]
# A clean run that was left alone appears nowhere in {eq}`eq-a5-f1`. So where faults are common, F1 rewards
# a judge for saying "faulty", whatever it saw. Three **{term}`floor judges <floor judge>`** show what can
# be earned by looking at nothing. One flags everything, one flags nothing, and one tosses a coin weighted
# by the set's own share of faults (its counts are expected values, so nothing is drawn).

# %% tags=["hide-input"]
own, floor = scores.metrics(small), scores.floors(small)
SHOWN = {"precision": "precision", "recall": "recall", "f1": "F1", "silent_recall": "silent recall",
         "loud_recall": "loud recall", "false_alarm_rate": "false alarms"}
tables.show(
    tables.layout(pd.concat([own, floor]), SHOWN).T.rename_axis("score"),
    "The judge beside three that look at nothing. Higher is better, except for false alarms.",
    typed_in)

# %% tags=["hide-input"]
value = own.set_index("metric")["value"]
everything = floor[floor["judge"] == "always faulty"].set_index("metric")["value"]
for key, metric in (("f1", "f1"), ("recall", "recall"), ("silent", "silent_recall"),
                    ("alarm", "false_alarm_rate"), ("exact", "step_exact"),
                    ("exact-all", "step_exact_over_all_faults"), ("macro", "type_macro_f1")):
    chapter.number(f"a5-{key}", value[metric], 3)
chapter.number("a5-f1-floor", everything["f1"], 3)
ahead = value["f1"] is not None and everything["f1"] is not None and everything["f1"] > value["f1"]
chapter.text("a5-floor-wins", "beats" if ahead else "does not beat")
other = fractions.set_index("metric")["value"]
chapter.number("a5-compared", len(other), 0)
chapter.number("a5-agree", sum(other[m] == value[m] for m in other.index), 0)

# %% [markdown]
# On these rows the judge that flags everything {glue:text}`a5-floor-wins` ours on F1. It beats nobody on
# false alarms, which is why a score is best read in company: a recall beside the same judge's false
# alarms, and an F1 beside its floor.
#
# ## Where: denominators that depend on the judge
#
# *{term}`Step exact <step exact>`* asks whether the judge named the right step. It is scored only where
# the judge flagged the row, the label has a step, and the judge named one. A judge that flags only what it
# is sure of, or names a step only when that is easy, gets a small denominator of its own choosing. On
# these rows step exact is {glue:text}`a5-exact`, while over all faults the same judge found and placed
# {glue:text}`a5-exact-all`. Neither is wrong. The first answers "can I trust the step it names?", the
# second "how many faults will I find at their step?".
#
# ## What it was called
#
# *{term}`Type macro-F1 <type macro-F1>`* works out an F1 for each type of fault and averages them, so that
# a rare type weighs as much as a common one. Only faulty rows count, because a false alarm has already
# been charged to precision. A flag without a type is a miss. A type that no label holds has no F1 and
# stays out of the mean, but calling a row by it still costs the row's true type.

# %% tags=["hide-input"]
kinds = typed(true, said)
listed = kinds.drop(columns="both").assign(**{
    name: kinds[name].map(lambda at: " ".join(map(str, at)) or "-") for name in ("is_it", "called")})
listed["f1"] = [
    "no label holds it" if f.f1 is None else
    f"2 x {len(f.both)} / ({len(f.is_it)} + {len(f.called)}) = {f.f1:.3f}" for f in kinds.itertuples()]
tables.show(
    listed.rename(columns={"is_it": "rows of this type", "called": "rows called it", "f1": "F1"}),
    "F1 by type of fault, over the faulty rows (higher is better).", typed_in)

# %% [markdown]
# The mean over the types that the labels hold is {glue:text}`a5-macro`.
#
# ## How sure: binned by hand
#
# The judge also says how likely its own verdict is to be right. The *{term}`expected calibration error`*
# (ECE; {cite}`naeini2015,guo2017`) sorts the verdicts into ten equal bins by this stated confidence. In
# bin $b$ it takes the distance between the mean confidence $c_b$ and the share $a_b$ of verdicts that
# were right, and averages these distances over the $N$ verdicts, $n_b$ of them in the bin.
#
# ```{math}
# :label: eq-a5-ece
# \text{ECE} = \frac{1}{N} \sum_{b=1}^{10} n_b \, |c_b - a_b|
# ```

# %%
stated = ten[ten["sure"].notna()].astype({"sure": float, "right": float})
stated["bin"] = bin_of(stated["sure"].to_numpy())
by_bin = stated.groupby("bin").agg(
    rows=("row", lambda at: " ".join(map(str, at))), n=("row", "size"),
    said=("sure", "mean"), right=("right", "mean"))
by_bin["n x distance"] = by_bin["n"] * (by_bin["said"] - by_bin["right"]).abs()
ece = by_bin["n x distance"].sum() / len(stated) if len(stated) else None
brier = ((stated["sure"] - stated["right"]) ** 2).mean() if len(stated) else None

# %% tags=["hide-input"]
for key, mine in (("ece", ece), ("brier", brier)):
    chapter.number(f"a5-{key}", mine, 3)
    chapter.number(f"a5-{key}-library", value[key], 3)
chapter.number("a5-right", float(stated["right"].mean()) if len(stated) else None, 2)
by_bin.index = [f"[{b / 10:.1f}, {(b + 1) / 10:.1f}{']' if b == 9 else ')'}" for b in by_bin.index]
tables.show(
    by_bin.drop(columns="n").round(3).rename_axis("bin"),
    "ECE by hand: sum the last column and divide by the number of verdicts (lower is better).",
    typed_in)

# %% [markdown]
# The last column, added up and divided by the number of verdicts as in {eq}`eq-a5-ece`, gives an ECE of
# {glue:text}`a5-ece` (the library: {glue:text}`a5-ece-library`). The *{term}`Brier score`* {cite}`brier1950`
# needs no bins: it is the mean of the squares in the first table, {glue:text}`a5-brier` here (the library:
# {glue:text}`a5-brier-library`).
#
# ECE is blind to whether confidence tells right from wrong. A judge that always states its own share of
# right verdicts, {glue:text}`a5-right` here, has an ECE of zero and tells you nothing. And an ECE can only
# be read together with its bins, as we shall see.
#
# ## A bound by hand
#
# The paper's step judge flagged none of {glue:text}`a5-paper-n` clean runs. Is its false-alarm rate zero?
# The **{term}`Clopper-Pearson interval`** {cite}`clopper1934` asks which true rates would make such a
# count a rare event. Its upper end is the rate $p$ at which seeing $k$ alarms *or fewer* among $n$ runs
# has a chance of 2.5 %:
#
# ```{math}
# :label: eq-a5-upper
# \sum_{i=0}^{k} \binom{n}{i} \, p^i \, (1 - p)^{n-i} = 0.025
# ```
#
# Its lower end is, likewise, the rate at which seeing $k$ or more has that chance. All it takes is this
# sum and a search.

# %%
def at_most(k, n, rate):
    """The chance of k or fewer among n runs when each has this rate."""
    return sum(comb(n, i) * rate**i * (1 - rate) ** (n - i) for i in range(k + 1))


def upper(k, n, tail=0.025):
    """The rate at which k or fewer among n has the chance `tail`, by halving."""
    low, high = k / n, 1.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if at_most(k, n, middle) > tail else (low, middle)
    return high


def lower(k, n):
    """So many flagged is so few left alone."""
    return 1 - upper(n - k, n)

# %% [markdown]
# {numref}`fig-a5-tails` draws the search for the count in the parameters `alarms` and `clean_runs`. Follow
# the curve, which is the left side of {eq}`eq-a5-upper` as the rate grows, down to the dashed line and
# read off the rate.

# %% mystnb={"figure": {"caption": "The chance of a count as extreme as the one seen, against the true rate. Where a curve meets the dashed level lies the bound. Data: the counts given as parameters.", "name": "fig-a5-tails"}} tags=["hide-input"]
k, n = given.alarms, given.clean_runs
ends = [(rate, side, f"{rate:.4f}") for rate, side, there in (
    (lower(k, n), "so many or more", k > 0), (upper(k, n), "so few or fewer", k < n)) if there]
wide = upper(k, n) - lower(k, n)
grid = np.linspace(max(0, lower(k, n) - wide), min(1, upper(k, n) + wide), 101).tolist()
curves = [(rate, at_most(k, n, rate), "so few or fewer") for rate in grid if k < n]
curves += [(rate, 1 - at_most(k - 1, n, rate), "so many or more") for rate in grid if k > 0]
bounds = pd.DataFrame(ends, columns=["rate", "side", "shown"])
show(
    measures.tails(pd.DataFrame(curves, columns=["rate", "chance", "side"]), bounds, 0.025),
    name="a5-tails", table=bounds,
    alt="Curves of the chance of seeing so few, and so many, against the true rate; each crosses "
        "the dashed level of chance at the bound of the exact interval.",
)

# %% tags=["hide-input"]
paper = store.published("trajectory_judge_numbers").set_index(["table", "subject", "metric"])
STEP, OUTCOME = "step:qwen2.5:14b", "outcome:qwen2.5:14b"
ENSEMBLE = "selfcons3:qwen2.5:14b"
chapter.number("a5-paper-n", float(paper.loc[("main", STEP, "false_alarm_rate"), "n"]), 0)
chapter.text("a5-paper-bound", str(paper.loc[("main", STEP, "false_alarm_rate"), "published_hi"]))
counts = [(f"these rows: {NAMES[m]}", *fractions.loc[fractions["metric"] == m, ["k", "n"]].iloc[0])
          for m in ("false_alarm_rate", "silent_recall", "loud_recall")]
counts += [("the parameters", k, n), ("paper: step judge, clean runs", 0, 100),
           ("paper: 8B judge, loud faults", 125, 125), ("paper: one type, all flagged", 50, 50)]
tables.show(
    pd.DataFrame([{"what": what, "flagged": a, "of": b,
                   "by hand": f"[{lower(a, b):.4f}, {upper(a, b):.4f}]",
                   "clopper_pearson": "[{:.4f}, {:.4f}]".format(*clopper_pearson(a, b))}
                  for what, a, b in counts if b]),
    "Exact binomial intervals of 95 %, by hand and from the library.",
    f"{typed_in}; counts of the paper's Tables 3 and 6")

# %% [markdown]
# For the step judge the paper prints an upper bound of {glue:text}`a5-paper-bound`. These intervals take
# trajectories to be independent draws; whether they are is a question for later.
#
# ## Resamples, drawn
#
# The paper uses exact intervals only for shares of exactly 0 or 1. For everything else - other shares,
# other scores, differences between judges - it uses the **{term}`bootstrap`** (section 5;
# {cite}`efron1979`). Take the rows as they are, draw as many again *with replacement*, compute the score on
# what you drew, and repeat. How much the score moves shows how much it owes to these very rows.
#
# The draw is **stratified**: it keeps the number of rows in each {term}`design cell` - clean, and each
# type of fault split by whether the outcome survived - because the design fixed those numbers, and any
# other sample of the same design would have the same.
#
# {numref}`fig-a5-strips` shows the first {glue:text}`a5-strips` draws, one a line, sorted by their score.
# The number in a box is the row that was drawn: some rows come twice and some not at all. Compare the
# lines at the top with those at the bottom: what did they draw?

# %% tags=["hide-input"]
weights, replicate = replicates(
    small, JUDGE, given.shown, np.random.default_rng(given.seed), given.draws)
strips = min(50, 500 // len(true))  # as many boxes as a page can carry
order = np.argsort(replicate[:strips], kind="stable")
flagged = dict(zip(ten["row"], ten["flagged"], strict=True))
numbers = [np.repeat(np.arange(1, len(true) + 1), weights[strip]).tolist() for strip in order]
drawn = pd.DataFrame([(strip, slot, i, role[i], flagged[i]) for strip, rows_drawn in enumerate(numbers)
                      for slot, i in enumerate(rows_drawn)],
                     columns=["strip", "slot", "row", "role", "full"])
ending = pd.DataFrame({
    "strip": range(len(order)), "rows": [" ".join(map(str, at)) for at in numbers],
    "shown": ["none" if np.isnan(x) else f"{x:.2f}" for x in replicate[order]]})

# %% mystnb={"figure": {"caption": "Resamples of the rows within their design cells, each with its score, sorted. Number: the row drawn. Filled: flagged. Data: the rows typed in at the top of this page.", "name": "fig-a5-strips"}} tags=["hide-input"]
show(
    measures.strips(drawn, ending), name="a5-strips", table=ending,
    alt="Strips of boxes, one box a drawn row with its number, coloured by clean, silent and "
        "loud and filled where flagged, each strip ending in its score, sorted from low to high.",
)

# %% tags=["hide-input"]
lo, hi, why = bounds_or_why(replicate)
point = value[given.shown]
chapter.text("a5-shown", NAMES.get(given.shown, given.shown))
chapter.text("a5-interval", tables.estimate({"value": point, "lo": lo, "hi": hi, "why": why}, 2)
             if lo is not None or point is None else f"{point:.2f} ({why})")
alone = [i for i, cell in zip(ten["row"], small.cell, strict=True) if (small.cell == cell).sum() == 1]
chapter.text("a5-alone", f"row {', '.join(map(str, alone))}" if alone else "no row")
loud = intervals(small, np.random.default_rng(given.seed), draws=given.draws).set_index("metric")
chapter.text("a5-loud", tables.estimate(loud.loc["loud_recall"]))
chapter.number("a5-draws", given.draws, 0)
chapter.number("a5-seed", given.seed, 0)
chapter.number("a5-strips", strips, 0)

# %% [markdown]
# {numref}`fig-a5-distribution` gathers all {glue:text}`a5-draws` draws: each bar is a value of the score,
# as high as its share of the draws. Cut 2.5 % off either end, and what remains spans the **percentile
# interval**. For {glue:text}`a5-shown` it is {glue:text}`a5-interval`.

# %% mystnb={"figure": {"caption": "How often resamples gave each value. Bars: all draws; hollow: those drawn above; diamond: the value on the rows as they are; thick line: percentile interval. Data: the rows typed in at the top of this page.", "name": "fig-a5-distribution"}} tags=["hide-input"]
shares = pd.concat([
    pd.DataFrame(np.transpose(np.unique(part.round(9), return_counts=True)), columns=["value", "n"])
    .assign(what=what, share=lambda at: at["n"] / max(at["n"].sum(), 1))
    for what, part in (("all draws", replicate), ("strips", replicate[:strips]))
    for part in (part[~np.isnan(part)],)])
span = pd.DataFrame({"value": [point], "lo": [point if lo is None else lo],
                     "hi": [point if hi is None else hi]})
show(
    measures.distribution(shares[["value", "share", "what"]], span, NAMES.get(given.shown, given.shown)),
    name="a5-distribution", table=shares[["what", "value", "share"]],
    alt="Bars of the share of resamples at each value of the score, the strips above as hollow "
        "marks, the value on the rows as a diamond and the interval as a thick line below.",
)

# %% [markdown]
# Three limits of the method show even here. A cell with a single row is drawn as it is each time:
# {glue:text}`a5-alone` never changes from strip to strip, so the bootstrap takes it on trust. A share that
# was seen at 0 or 1 cannot move at all, because every resample of rows that were all flagged is all
# flagged; there the exact interval steps in. Loud recall on these rows is {glue:text}`a5-loud`, where a
# dagger says that the interval is exact. And a handful of rows has few distinct resamples: the bars
# are all that the interval can be made of.
#
# ## What the intervals are
#
# From here on the numbers are those of real judges. The next table says how each of their intervals was
# made.

# %% tags=["hide-input"]
source = store.load(given.verdicts, labels=given.labels or None)
whole = table(source.labels, source.verdicts, source.cost)
found = intervals(whole, np.random.default_rng(given.seed), draws=given.draws)
skipped = (*scores.COST, "n_flagged")
of_judges = found[found["judge"].isin(whole.judges) & ~found["metric"].isin(skipped)]
named = tables.judge_names(whole.judges)
how = [(row["how"] or row["why"], f"{named[row['judge']]}, {row['metric']}"
        + ("" if row["value"] is None else f": {tables.estimate(row)}"))
       for row in of_judges.to_dict("records")]
ways = pd.DataFrame(how, columns=["made", "for example"])
tables.show(
    ways.groupby("made", sort=False).agg(scores=("made", "size"), example=("for example", "first")),
    "How the intervals of this source were made, and for how many scores.", source.origin)

# %% tags=["hide-input"]
by_name = found.set_index(["judge", "metric"])
for key, judge in (("ensemble", ENSEMBLE), ("step", STEP), ("delta", f"{ENSEMBLE} - {STEP}")):
    known = (judge, "f1") in by_name.index
    chapter.text(f"a5-f1-{key}", tables.estimate(by_name.loc[(judge, "f1")]) if known
                 else "(not judged here)")

# %% [markdown]
# *Structural* means that the judge is a set of rules and says the same of every trajectory in a design
# cell. Its rates are a property of its code, and an interval would pretend that another sample could
# change them.
#
# Every judge is scored on the same resample, so a *difference* between two is computed on the same
# trajectories each time. That is what pairs it. The {term}`ensemble`, which asks the step judge three
# times and takes the majority, has an F1 of {glue:text}`a5-f1-ensemble`; asking once has
# {glue:text}`a5-f1-step`. That two such intervals overlap says little. The difference on the shared draws
# is {glue:text}`a5-f1-delta`, and in the published verdicts that interval is narrower than either of the
# two, because what is hard for one is mostly hard for the other.
#
# ```{admonition} One number, two intervals
# :class: note dropdown
# The same number can carry another interval in another chapter, or in another table of this one, where it
# was drawn for another comparison. Here, where no dagger says otherwise, it
# comes from {glue:text}`a5-draws` resamples inside the design cells with seed {glue:text}`a5-seed`;
# [the analysis](a7_analysis) gives single shares exact intervals, and draws pairs and strata in cells of
# their own.
#
# A share can also stay put in every resample without being 0 or 1: a judge that gives one verdict to all
# runs of a cell leaves nothing to draw. Such a share gets the exact interval, too. (That is our choice,
# and no published figure needs it.) An F1, or a difference of two rates, is no share of a fixed number of
# runs, and is shown without an interval then.
# ```
#
# ## What they are not
#
# An interval belongs to a design: to the **unit** that is drawn, and to the **cells** whose sizes are
# kept. The next table shows the same score of the same verdicts under four designs, with the width of each
# interval against the paper's, which comes first. Keeping only survival lets types of fault trade places.
# Drawing freely lets the number of faults vary as well. Drawing **instances** takes each case with all its
# trajectories, because a clean run and its {term}`mutants <mutant>` share a customer, an order and often a
# reply, and are not independent.

# %% tags=["hide-input"]
plans = designs(whole, np.random.default_rng(given.seed), given.compared, draws=given.draws)
plans["text"] = [
    row["why"] if row["why"].startswith("undefined") else
    tables.estimate(row) + (f" (x {row['ratio']:.1f})" if row["ratio"] else "")
    for row in plans.to_dict("records")]
plans["name"] = plans["judge"].map(tables.judge_names(plans["judge"].unique()))
side_by_side = pd.DataFrame({design: part.set_index("name")["text"]
                             for design, part in plans.groupby("design", sort=False)})
tables.show(
    side_by_side.rename_axis("judge"),
    f"{NAMES.get(given.compared, given.compared)} with 95 % intervals under four designs; in "
    "brackets the width against the first.", source.origin)

# %% tags=["hide-input"]
by_plan = plans.set_index(["design", "judge"])


def factor(name, design, judge):
    """Glue how many times as wide an interval is as the paper's design makes it."""
    if (design, judge) not in by_plan.index:
        chapter.text(name, "(not judged here)")
        return
    row = by_plan.loc[(design, judge)]
    why = row["why"] if row["why"].startswith("undefined") else "no factor: not bootstrapped"
    chapter.text(name, f"{row['ratio']:.1f} times as wide" if row["ratio"] else why)


chapter.text("a5-compared-name", NAMES.get(given.compared, given.compared))
factor("a5-survival-factor", DESIGNS[1], STEP)
factor("a5-outcome-survival-factor", DESIGNS[1], OUTCOME)
factor("a5-free-factor", DESIGNS[2], STEP)
factor("a5-step-instance-factor", DESIGNS[3], STEP)
factor("a5-outcome-free-factor", DESIGNS[2], OUTCOME)
factor("a5-instance-factor", DESIGNS[3], OUTCOME)

# %% [markdown]
# For {glue:text}`a5-compared-name` of the step judge, keeping survival alone gives an interval
# {glue:text}`a5-survival-factor`; for the outcome judge, {glue:text}`a5-outcome-survival-factor`. A judge
# that catches nearly all of some types and nearly none of others hardly varies *within* a type. Its narrow
# interval says that the mix of types was held fixed, not that the judge is known so well.
#
# Drawing instances changes the unit and drops the cells, so compare it with trajectories drawn freely. For
# the outcome judge, freely: {glue:text}`a5-outcome-free-factor`; by instance:
# {glue:text}`a5-instance-factor`. For the step judge, freely: {glue:text}`a5-free-factor`; by instance:
# {glue:text}`a5-step-instance-factor`. (The published table names no instances. `-p verdicts released` has
# them, and so has any set built with `tjlib testbed`. An interval by instance can even be narrower: an
# instance that hosts several types of fault brings them all, so the mix of types varies less.)
#
# Why instances matter can be seen on the worked example. Write every row down four times, as if the same
# case had been run again with the same result. Nothing was learned, but a bootstrap over rows does not
# know that, and its interval shrinks. Drawn by instance, the copies go together and the interval stays as
# it was. (Where the two differ even with each row written once, it is because drawing instances keeps no
# cells. An exact interval, with a dagger, takes rows as independent and shrinks either way.)

# %% tags=["hide-input"]
def again(times):
    """The rows written down this many times; copies of a row share an instance."""
    name, change = (lambda x, i: f"{x.trajectory_id}.{i}"), msgspec.structs.replace
    return table([change(x, trajectory_id=name(x, i), instance_id=x.trajectory_id)
                  for i in range(times) for x in true],
                 [change(v, trajectory_id=name(v, i)) for i in range(times) for v in said])


copies = []
for times, by in ((1, "trajectory"), (4, "trajectory"), (1, "instance"), (4, "instance")):
    fresh = np.random.default_rng(given.seed)
    row = intervals(again(times), fresh, draws=given.draws, by=by).set_index("metric").loc[given.shown]
    copies.append({"each row written": f"{times} x", "drawn": f"by {by}",
                   "interval": tables.estimate(row, 2),
                   "width": "-" if row["lo"] is None else f"{row['hi'] - row['lo']:.2f}"})
tables.show(
    pd.DataFrame(copies), f"{NAMES.get(given.shown, given.shown)} with 95 % intervals when each row is "
    "repeated, drawn by trajectory and by instance.", typed_in)

# %% [markdown]
# And some things no resampling of these verdicts can tell:
#
# - **Another seed.** Cases, faults and their order come from one stream of random numbers, drawn once.
# - **Another environment.** There is one desk, with seven tools and six kinds of case.
# - **Another model or build.** Each judge said what it said once, in one build, at one temperature.
# - **Another mix.** How many faults there are of each type is the design's choice. A deployment has its
#   own mix.
#
# The paper says so itself in section 5: its intervals are conditional on "the fixed 400-trajectory
# design".
#
# ## How many clean runs
#
# A false-alarm rate can only be bounded by clean runs. How many does it take? The exact binomial answers
# both ways. First, how many clean runs rule out a rate, if so many alarms are among them:

# %% tags=["hide-input"]
RATES, RUNS, SEEN = (0.10, 0.05, 0.02, 0.01, 0.001), (10, 30, 60, 100, 300, 1000), (0, 1, 2, 5)
needed = pd.DataFrame(
    {f"{seen} alarm{'s' * (seen != 1)}": [planner.clean_runs_needed(rate, alarms=seen) for rate in RATES] for seen in SEEN},
    index=pd.Index([f"{rate:.1%}" for rate in RATES], name="rate to rule out"))
tables.show(needed, "Clean runs needed to rule out a false-alarm rate (two-sided 95 %).",
            "exact binomial, tjlib.measure.planner")

# %% [markdown]
# Then, which rate a number of clean runs rules out:

# %% tags=["hide-input"]
excluded = pd.DataFrame(
    {f"{seen} alarm{'s' * (seen != 1)}": [f"{planner.rate_excluded(runs, seen):.4f}" for runs in RUNS] for seen in SEEN},
    index=pd.Index(RUNS, name="clean runs"))
clean_n = int(paper.loc[("main", STEP, "false_alarm_rate"), "n"])
chapter.number("a5-bound-100", planner.rate_excluded(clean_n), 4)
chapter.number("a5-need-yours", planner.clean_runs_needed(given.fault_rate), 0)
tables.show(excluded, "The false-alarm rate ruled out by a number of clean runs (two-sided 95 %).",
            "exact binomial, tjlib.measure.planner")

# %% [markdown]
# With no alarm among them, the paper's {glue:text}`a5-paper-n` clean runs rule out a false-alarm rate
# above {glue:text}`a5-bound-100`, and no lower one. If one run in {glue:text}`a5-one-in` is faulty where
# you work, it takes {glue:text}`a5-need-yours` clean runs without a single alarm to know that the false-alarm
# rate lies below that.
#
# ## Calibration hangs on the bins
#
# Ten equal bins are a choice. The next table measures the same verdicts in fewer and in more bins of equal
# width, in bins of equal number, with one bin for each stated value, with no bins at all (a smooth
# estimate), and by the Brier score. If both are judged, its last column is the difference between the
# ensemble and one pass, on the same resamples.

# %% tags=["hide-input"]
MEASURES = {
    "ece": "ECE, ten equal widths (paper)", "ece_width_5": "ECE, five widths",
    "ece_width_20": "ECE, twenty widths", "ece_mass_10": "ECE, ten equal numbers",
    "ece_value": "ECE, one bin a value", "smooth_ece": "smooth error, no bins",
    "brier": "Brier score", "brier_reliability": "Brier, reliability part"}
other_ways = alternatives(
    whole, np.random.default_rng(given.seed), draws=min(given.draws, 2_000))
other_ways = other_ways.rename(columns={"measure": "metric"})
PAIR = f"{ENSEMBLE} - {STEP}"
kept = other_ways[other_ways["judge"].isin([*whole.judges, PAIR])]
tables.show(
    tables.layout(kept, MEASURES).T.rename_axis("measure"),
    "Calibration error in several ways (lower is better), with 95 % intervals.", source.origin)

# %% tags=["hide-input"]
gaps = kept[kept["judge"] == PAIR].set_index("metric")
for key, measure in (("a5-ece-gap", "ece"), ("a5-value-gap", "ece_value")):
    chapter.text(key, tables.estimate(gaps.loc[measure]) if len(gaps) else "(not judged here)")
clear = [m for m in MEASURES if len(gaps) and gaps.loc[m, "lo"] is not None
         and gaps.loc[m, "lo"] > 0]
chapter.number("a5-clear", len(clear), 0)
chapter.number("a5-ways", len(MEASURES), 0)
one_bin = dict.fromkeys(("one-bin", "low", "low-right", "high", "high-right"), "(not judged here)")
if STEP in whole.judges:
    sizes = reliability(whole, STEP)["n"]
    one_bin["one-bin"] = f"{int(sizes.max())} of {int(sizes.sum())}"
    by_value = reliability(whole, STEP, bins=100).nlargest(2, "n").sort_values("confidence")
    for end, bin_of_one in zip(("low", "high"), by_value.itertuples(), strict=False):
        one_bin |= {end: f"{bin_of_one.confidence:.2f}", f"{end}-right": f"{bin_of_one.accuracy:.3f}"}
for key, text in one_bin.items():
    chapter.text(f"a5-{key}", text)

# %% [markdown]
# The ensemble's calibration is "measurably worse", says section 7.4 of the paper, and in ten equal bins the
# difference is {glue:text}`a5-ece-gap`. With one bin a value it is {glue:text}`a5-value-gap`. In
# {glue:text}`a5-clear` of these {glue:text}`a5-ways` ways the interval lies above zero.
#
# In the published verdicts the bins explain this. Of the step judge's verdicts, {glue:text}`a5-one-bin`
# share one bin. Inside it, those stated at {glue:text}`a5-low` were right in a share of
# {glue:text}`a5-low-right` and those stated at {glue:text}`a5-high` in {glue:text}`a5-high-right`: the
# first were not sure enough, the second too sure, and in one bin the two errors cancel. An ensemble of
# three votes has only two values, in two bins, and nothing to cancel. A conclusion about calibration should
# come with more than one way of measuring it.
#
# ## What an alarm is worth
#
# Recall and false-alarm rate belong to the judge. Precision belongs to the place where the judge works,
# because it moves with the share of faulty runs there. At a stated share it is called the
# *{term}`positive predictive value`* (PPV). With recall $r$, false-alarm rate $f$ and a share $p$ of
# faulty runs,
#
# ```{math}
# :label: eq-a5-ppv
# \text{PPV} = \frac{r \, p}{r \, p + f \, (1 - p)}
# ```
#
# {numref}`fig-a5-prevalence` carries each judge from this set's share to others by {eq}`eq-a5-ppv`. Start
# at the mark for this set, follow the curve to the left, and see how far it drops towards the dashed line
# of a judge that flags everything. One more mark is a share that was observed: in section 8 of the
# paper a model drove the agent, and {glue:text}`a5-organic-k` of {glue:text}`a5-organic-n` of these
# *organic* {term}`episodes <episode>` broke a rule or ended wrong. That is a lower bound, since the rules
# are blind to two types of fault.

# %% tags=["hide-input"]
organic = {m: float(paper.loc[("organic", "agent qwen2.5:14b", m), "published"])
           for m in ("flagged_or_wrong_outcome", "episodes")}
chapter.number("a5-organic-k", organic["flagged_or_wrong_outcome"], 0)
chapter.number("a5-organic-n", organic["episodes"], 0)
AT = {"this set": float(whole.faulty.mean()), "yours": given.fault_rate,
      "organic": organic["flagged_or_wrong_outcome"] / organic["episodes"]}
at_rates = sorted({*np.geomspace(0.001, 1, 41).round(6).tolist(), *AT.values()})
carried = pd.concat([
    deployed(whole, judge, at_rates, np.random.default_rng(given.seed), draws=given.draws)
    for judge in whole.judges], ignore_index=True)
carried = carried[carried["metric"] == "ppv"].assign(name=carried["judge"].map(named))

# %% mystnb={"figure": {"caption": "Precision of each judge's alarms against the share of faulty runs where it works, with 95 % bands; marks: this set, the organic episodes, and the rate given as a parameter. Dashed: a judge that flags everything. Data: recalls and false-alarm rates of the verdicts chosen at the top.", "name": "fig-a5-prevalence"}} tags=["hide-input"]
marks = pd.concat([carried[carried["fault_rate"] == rate].assign(where=where)
                   for where, rate in AT.items()])
marks["shown"] = [tables.estimate(row) for row in marks.to_dict("records")]
FIELDS = ["fault_rate", "value", "lo", "hi"]
drawable = carried[carried["value"].notna()].drop(columns="judge").rename(columns={"name": "judge"})
points = marks[marks["value"].notna()].drop(columns="judge").rename(columns={"name": "judge"})
show(
    measures.prevalence(
        drawable[["judge", *FIELDS]].astype(dict.fromkeys(FIELDS, float)),
        points[["judge", "where", "shown", "fault_rate", "value"]].astype(
            {"fault_rate": float, "value": float})),
    name="a5-prevalence", table=marks[["name", "where", "fault_rate", "shown"]],
    alt="One panel a judge: precision of its alarms against the deployed fault rate on a log scale, "
        "with a band, three marked rates, and the dashed line of a judge that flags everything.",
)

# %% tags=["hide-input"]
worth = marks.set_index(["judge", "where"])
for key, judge, where in (("a5-ppv-yours", OUTCOME, "yours"), ("a5-ppv-set", OUTCOME, "this set"),
                          ("a5-ppv-organic", OUTCOME, "organic"), ("a5-ppv-step", STEP, "yours")):
    known = (judge, where) in worth.index
    chapter.text(key, worth.loc[(judge, where), "shown"] if known else "(not judged here)")
chapter.number("a5-one-in", 1 / given.fault_rate, 0)
chapter.number("a5-organic", AT["organic"], 3)

# %% [markdown]
# Of the outcome judge's alarms, {glue:text}`a5-ppv-set` are faults on this set,
# {glue:text}`a5-ppv-organic` at the organic share of {glue:text}`a5-organic`, and
# {glue:text}`a5-ppv-yours` where one run in {glue:text}`a5-one-in` is faulty. Nothing about the judge
# changed.
#
# In the published verdicts the step judge raised no alarm on a clean run, so its curve is flat. Its band is
# not. At the last of these shares it reads {glue:text}`a5-ppv-step`, because so few clean runs cannot rule
# out the false-alarm rate that would spoil it.
#
# The curves hold a judge's recall fixed at this set's mix of types, and a real agent has another mix.
# [A later chapter](a8_organic) takes that up.
#
# ## What would change our mind
#
# - A single score that puts judges in the right order at every fault rate. The curves above cross or touch
#   where one judge has more recall and another fewer false alarms; if they never did, one number would do.
# - Intervals by instance that agree with intervals by trajectory on a larger release. Then the shared
#   cases would not matter, and the simpler unit would be good enough.
# - A difference in calibration with the same sign under every binning. That we would report without a
#   condition.
#
# ## Exercises
#
# ```{exercise} One more false alarm
# :label: a5-alarm
# :nonumber:
# Before you run anything: turn row 2 into a false alarm, `clean | faulty - - 0.7`. Which lines of
# {numref}`fig-a5-counts` change, and which cannot? What is the false-alarm rate then?
# ```

# %%
from tjlib import exercises

rate = None  # a share from 0 to 1
print(exercises.check("a5-alarm", rate, rows=given.rows))

# %% [markdown]
# ```{solution-start} a5-alarm
# :class: dropdown
# ```

# %%
turned = [given.rows[0], "clean | faulty - - 0.7", *given.rows[2:]]
now = counted(*parse(turned, JUDGE)).set_index("metric")["value"]
for metric in now.index[[now[m] != other[m] for m in now.index]]:
    was, is_now = ("undefined" if x is None else f"{x:.3f}" for x in (other[metric], now[metric]))
    print(f"{metric} was {was} and is {is_now}")

# %% [markdown]
# No score that walks over the faults alone can change: not the three recalls, and not the four scores that
# ask for the step. Nor can coverage, which does not ask what was said.
#
# ```{solution-end}
# ```
#
# ```{exercise} What F1 makes of it
# :label: a5-f1
# :nonumber:
# What is the F1 after that change? Work it out by {eq}`eq-a5-f1`, from hits, flags and faults.
# ```

# %%
f1_then = None  # a number, to three digits
print(exercises.check("a5-f1", f1_then, rows=given.rows))

# %% [markdown]
# ```{solution-start} a5-f1
# :class: dropdown
# ```

# %%
print(f"F1 = 2 x {hits} / ({flags + 1} flags + {faults} faults) = {2 * hits / (flags + 1 + faults):.3f}")

# %% [markdown]
# There is one flag more and not one hit more.
#
# ```{solution-end}
# ```
#
# ```{exercise} An error of zero
# :label: a5-zero
# :nonumber:
# Write rows for a judge with a calibration error of zero and an F1 below that of `always faulty`. What
# does your judge know about its own verdicts?
# ```
#
# ```{solution-start} a5-zero
# :class: dropdown
# ```
#
# One of many is right half of the time, and always half sure.

# %%
mine = table(*parse(["clean | clean 0.5", "clean | faulty - - 0.5", "wrong_tool silent 2 | clean 0.5",
                     "wrong_tool silent 2 | faulty wrong_tool 2 0.5"], JUDGE))
for name, frame in ((JUDGE, scores.metrics(mine)), ("always faulty", scores.floors(mine))):
    print(name, frame[frame["metric"].isin(["ece", "f1"]) & (frame["judge"] == name)]
          .set_index("metric")["value"].to_dict())

# %% [markdown]
# It knows how often it is right, and of no single verdict whether it is.
#
# ```{solution-end}
# ```
#
# ```{exercise} Strips that are all alike
# :label: a5-loud
# :nonumber:
# Set `shown` to `loud_recall` and look at the strips. Why do they all end in the same score, and where
# does the interval come from?
# ```
#
# ```{solution} a5-loud
# :class: dropdown
# In the rows as printed every loud fault was flagged, so in whatever is drawn from them every loud fault
# is flagged again. The bootstrap has nothing to move, and the exact interval steps in. On the rows of this
# page it is {glue:text}`a5-loud`.
# ```
#
# ```{exercise} One alarm in the pilot
# :label: a5-needed
# :nonumber:
# Your pilot has raised one alarm on a clean run. How many clean runs does it take, that one among them, to
# rule out a false-alarm rate of one in a hundred? How many more is that than without the alarm? Work it
# out with `at_most`, then find it in the table.
# ```

# %%
runs = None  # a number of clean runs
print(exercises.check("a5-needed", runs))

# %% [markdown]
# ```{solution-start} a5-needed
# :class: dropdown
# ```

# %%
for seen in (0, 1):
    enough = next(n for n in range(seen + 1, 5000) if at_most(seen, n, 0.01) <= 0.025)
    planned = planner.clean_runs_needed(0.01, alarms=seen)
    print(f"{seen} alarms: {enough} clean runs; the planner says {planned}")

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} Which unit
# :label: a5-unit
# :nonumber:
# Rerun with `-p verdicts released` and compare the last two designs, once for `silent_recall` and once for
# `false_alarm_rate` (`-p compared`). One of the two hardly moves. How many clean runs does an instance
# have?
# ```
#
# ```{solution} a5-unit
# :class: dropdown
# One at most: the oracle's. So drawing instances draws clean runs one by one, and the false-alarm rate
# cannot tell the two designs apart. Silent faults share an instance with others like them, and there the
# unit matters.
# ```
#
# ```{exercise} One strip by hand
# :label: a5-strip
# :nonumber:
# Take one strip of {numref}`fig-a5-strips` and compute the F1 of the rows drawn by hand.
# ```
#
# ```{solution-start} a5-strip
# :class: dropdown
# ```
#
# Here it is for the first strip, whatever score the strips were sorted by:

# %%
kind, here = ten.set_index("row")["role"], numbers[0]
top = sum(flagged[i] and kind[i] != "clean" for i in here)
below = sum(flagged[i] for i in here) + sum(kind[i] != "clean" for i in here)
print("rows", *here, f"- F1 = 2 x {top} / {below}", f"= {2 * top / below:.2f}" if below else "undefined")

# %% [markdown]
# ```{solution-end}
# ```

# %% [markdown]
# **Next:** with the measures in hand, [the results](a6_results) of the paper's five judges.
