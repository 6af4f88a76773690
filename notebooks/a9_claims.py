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
# # Every sentence can be put on trial
#
# **The claim.** A sentence of a paper that says something about its data can be turned into a
# question, a computation and a rule. Then the verdict on the sentence follows from numbers. This
# chapter puts sentences of the *trajectory-judge* paper
# ([arXiv 2609.00038](https://arxiv.org/abs/2609.00038)) on trial in this way: a few quoted words,
# what exactly is asked of the data, what came out, and what follows. No verdict on this page was
# written by hand.
#
# ```{admonition} In one minute
# Of {glue:text}`a9-tried` sentences, {glue:text}`a9-holds` hold, {glue:text}`a9-condition` hold
# with a condition, {glue:text}`a9-not` do not hold, and {glue:text}`a9-cannot` cannot be tested
# with the data chosen here. Of those with a condition, {glue:text}`a9-letter` are true as written,
# and the condition answers a stronger question, which is ours; in the others it limits the words.
# The paper's main number is the recall of the outcome judge, which sees the request and the reply
# only, on loud faults (those that spoiled the outcome) minus its recall on silent ones (those that
# did not): {glue:text}`a9-gap`. Among faults that left the reply exactly as in their clean parent,
# the faultless run of the same case, and measured against that parent, the gap is
# {glue:text}`a9-gap-unchanged`.
# ```
#
# A **claim** has four parts. The *question* makes the words precise. The *statistics* are named
# numbers with their intervals and denominators. The *rule* sees these statistics and nothing else,
# and gives one of four verdicts: **holds**, **holds with a condition**, **does not hold**, **cannot
# be tested with these data**. The *reason* is a sentence with the numbers in it. Change the data,
# and the verdict may change; that is what a trial is for.
#
# Sentences that say *all*, in these or other words (*uniformly*, *every axis*, *exactly one*, *the
# same*, *deterministically*), share one rule. Such a sentence holds only if there is no exception.
# If it is true of more than half of the cases, it holds with a condition, and otherwise it does not
# hold. Every other sentence has a rule of its own.
#
# Where a word needs a threshold (what is *nearly exact*?), the threshold is ours, and we say so
# under "Our choice". Where the quoted words are plainly true and our question asks for more, we say
# so under "As written".
#
# The words that you need: the *{term}`outcome judge`* sees the request and the reply, the
# *{term}`step judge`* the steps as well. A fault is *{term}`loud <loud fault>`* if the case ended
# wrong, *{term}`silent <silent fault>`* if it ended as it should, and its *{term}`clean parent`* is
# the faultless run of the same case.

# %% [markdown]
# ## Choose the data
#
# Try other data with `tjlib rerun a9_claims -p verdicts FILE`, or put another judge in the place of
# the small one with, say, `-p small outcome:qwen2.5:14b`. The released files hold more than the
# published tables do (replies, instances, the cost of each verdict), so with `-p verdicts released`
# the sentences that could not be tested get a verdict too.

# %% tags=["parameters"]
verdicts: str = "published"  # published, released, a verdict file, or a folder with the release
labels: str = ""  # the labels of a verdict file; empty: labels.jsonl beside it
only: list[str] = []  # claims to try, by id; empty: all
outcome: str = "outcome:qwen2.5:14b"  # the judge that sees the reply only
step: str = "step:qwen2.5:14b"  # the judge that sees the steps
small: str = "step:llama3.1:8b"  # the small judge that sees the steps
ensemble: str = "selfcons3:qwen2.5:14b"  # three samples of the step judge
draws: int = 10_000  # bootstrap replicates behind every interval
seed: int = 0  # seed of the bootstrap

# %% tags=["hide-input"]
from tjlib import chapter
from tjlib.claims.docket import audit, counts, select

given = chapter.check(
    globals(),
    only=lambda ids: None if select(ids) else "name at least one",
    draws=lambda value: None if 100 <= value <= 100_000 else "give 100 to 100000",
)

# %% tags=["hide-input"]
import pandas as pd

from tjlib import folds, store, tables
from tjlib.charts import claims
from tjlib.charts.show import show
from tjlib.claims.evidence import Evidence
from tjlib.claims.trial import CANNOT, CONDITION, HOLDS, NOT
from tjlib.desk.testbed import judged_set

source = store.load(given.verdicts, labels=given.labels or None)
tabulated = source.name == "published"  # the publication's own counts belong to these verdicts
evidence = Evidence(
    source.labels, source.verdicts, source.cost, source.trajectories,
    judges={role: getattr(given, role) for role in ("outcome", "step", "small", "ensemble")},
    draws=given.draws, seed=given.seed,
    pairs=store.published("parent_pairs") if tabulated else None,
    strata=store.published("flags_by_stratum") if tabulated else None,
    figures=store.published("trajectory_judge_numbers") if tabulated else None,
    runs=judged_set() if source.trajectories is None else None,
    organic=store.released_agent() if given.verdicts == "released" else None,
)

# %% [markdown]
# Four kinds of data go in. *Verdicts* alone answer most questions. *Parent pairs* (each fault with
# its clean parent) and *strata* (kinds of case) come from the labels, or, for the published
# verdicts, from tables that the publication's files were counted into. *Text* and *instances*
# (which case a run is of) are there when the source has trajectories. The release also brings 60
# {term}`episodes <episode>` of an agent. One figure is cited and not measured: how the step judge's
# catches spread over the invented sentences, with the published verdicts.

# %% tags=["hide-input"]
trials = audit(evidence, given.only)
by_id = {trial.claim.id: trial for trial in trials}
found = counts(trials)
chapter.number("a9-tried", len(trials), 0)
written = [t.claim.id for t in trials if t.as_written and t.ruling.verdict == CONDITION]
chapter.number("a9-letter", len(written), 0)
for name, verdict in (("holds", HOLDS), ("condition", CONDITION), ("not", NOT), ("cannot", CANNOT)):
    chapter.number(f"a9-{name}", found[verdict], 0)


def say(name: str, claim: str, statistic: str) -> None:
    """Put one statistic of a trial where the text asks for it."""
    trial = by_id.get(claim)
    chapter.text(name, "(not tried here)" if trial is None else str(trial.stats[statistic]))


say("a9-gap", "pooled-hides", "gap")
say("a9-gap-unchanged", "gap-paired", "unchanged")

# %% [markdown]
# ## The docket
#
# {numref}`fig-a9-docket` has one row for each sentence, in the order of the paper. The mark and the
# word are the verdict. Under the quotation stands the one statistic that decides most, with its
# interval; a hollow diamond marks where the sentence itself puts that statistic, if it says. Look
# for diamonds that lie outside the interval.
#
# All of these are shares, or differences of two shares, so that one scale serves; a cost in seconds
# is drawn as a share of the threefold cost claimed. A mark without a line is a number without an
# interval: a count of this set, or a mean of which only the mean is published. A row without a mark
# could not be tested.

# %% mystnb={"figure": {"caption": "One row a sentence: verdict (shape and word), quotation, and the deciding statistic with its 95 % interval; hollow, where the sentence puts it.", "name": "fig-a9-docket"}} tags=["hide-input"]
rows = folds.rows(trials)
show(
    claims.docket(rows), name="a9-docket",
    table=rows[["claim", "section", "quote", "verdict", "label", "shown"]],
    alt="One row for each quoted sentence: a shape and a word for the verdict, the quotation, and "
        "a statistic with its interval on a common scale beside a hollow mark for the claim.",
)

# %% tags=["hide-input"]
names = {v: [t.claim.id + "*" * (t.claim.id in written) for t in trials if t.ruling.verdict == v]
         for v in found}
summary = pd.DataFrame({
    "verdict": [f"{claims.SHAPES[v][1]} {v}" for v in found], "sentences": list(found.values()),
    "which": [", ".join(names[v]) or "-" for v in found],
})
tables.show(summary, "Verdicts, and the ids to name in the parameter only. * The quoted words are "
            "true as written; the condition answers a stronger question of ours.", source.origin)

# %% [markdown]
# ## Each sentence, unfolded
#
# Open a sentence to see what was asked, what was found, which choices are ours, and every number
# that the rule saw. "Made by" says where a number or its interval comes from:
#
# - *percentile*: the paper's {term}`bootstrap` inside design cells;
# - *exact binomial*: the {term}`Clopper-Pearson interval`, for shares of 0 and 1 and for counts
#   that the paper's design does not fix;
# - *counted*: a fact about this set, without an interval;
# - *published figure*: taken from a publication.
#
# The intervals resample trajectories. Only two folds ask what happens when whole instances
# (by-instance) or whole inputs of the outcome judge (distinct-inputs) are drawn.

# %% tags=["hide-input"]
folds.Folds(trials, source.origin, {name: mark for name, (_, mark) in claims.SHAPES.items()})

# %% [markdown]
# ## Five sentences worth opening
#
# The verdicts below are those on the data chosen for this page.
#
# **"The gap is the result": {glue:text}`a9-say-gap-paired`.** The gap on its own is
# {glue:text}`a9-gap`. Compare each fault with its clean parent, and it is {glue:text}`a9-paired`.
# Take only the faults whose reply did not change, and it is {glue:text}`a9-gap-unchanged`: from
# such a fault and from its parent, a judge that sees request and reply alone gets the same input.
# To this judge a fault can be visible only if it changed the reply, whether or not the outcome
# survived.
#
# **"most certain exactly where it is least right": {glue:text}`a9-say-most-certain`.** In the
# outcome judge's most confident bin, {glue:text}`a9-top` of the verdicts are right; in the worst
# other bin it is {glue:text}`a9-elsewhere`. Overconfidence is {glue:text}`a9-over` in the first and
# at most {glue:text}`a9-over-elsewhere` in the others. What the bin does do is contribute
# {glue:text}`a9-contribution` of the calibration error. (The fold of errors-certain asks at which
# confidence each judge's errors stand, and how many of all its verdicts stand there.)
#
# **"its stated confidence is nearly honest": {glue:text}`a9-say-nearly-honest`.** A small
# calibration error is compatible with confidence that says nothing. The step judge's mean
# confidence when right, minus that when wrong, is {glue:text}`a9-apart`. And the error depends on
# the bins: it is {glue:text}`a9-ten` in the paper's ten and {glue:text}`a9-by-value` with a bin for
# each stated value, where over- and underconfidence cannot cancel.
#
# **"straddle zero on every axis": {glue:text}`a9-say-deltas-straddle`.** We count an interval that
# ends at 0 as one that straddles it, which is kind to the sentence: at most one resample in forty
# lay beyond. The sentence leaves out one axis, the share of all *detected* faults placed at the
# exact step, and that one moves by {glue:text}`a9-detected`; of *all* faults it moves by
# {glue:text}`a9-all`. Both depend on how a named step outside the trace is counted (we count it as
# not exact, the paper discards it), and the first also on a smaller denominator where the ensemble
# detects fewer faults.
#
# **"a false positive with nothing to argue about": {glue:text}`a9-say-beyond-dispute`.** This trial
# is our addition. The procedure allows a reply to assert only what the observations support. But
# the release's refund replies promise the money within a number of working days, and no observation
# says so. The share of clean replies free of such a promise is {glue:text}`a9-free`. Whether the
# promise explains any alarm is another matter. The fold counts the alarms that name an unsupported
# claim; yet in the release every refund reply carries the promise and no other reply does, so an
# alarm at the promise cannot be told from an alarm at a refund.

# %% tags=["hide-input"]
for name in ("gap-paired", "most-certain", "nearly-honest", "deltas-straddle", "beyond-dispute"):
    chapter.text(f"a9-say-{name}", by_id[name].ruling.verdict if name in by_id else "not tried here")
say("a9-paired", "gap-paired", "gap")
say("a9-top", "most-certain", "top")
say("a9-elsewhere", "most-certain", "elsewhere")
say("a9-over", "most-certain", "over")
say("a9-over-elsewhere", "most-certain", "over elsewhere")
say("a9-contribution", "most-certain", "contribution")
say("a9-apart", "nearly-honest", "apart")
say("a9-ten", "nearly-honest", "ece")
say("a9-by-value", "nearly-honest", "value")
say("a9-all", "deltas-straddle", "step exact of all faults")
say("a9-detected", "deltas-straddle", "step exact of detected faults")
say("a9-free", "beyond-dispute", "free")

# %% [markdown]
# ## What this is not
#
# A verdict here is about a sentence, not about a paper. Most conditions are what a careful reader
# would write in the margin. Several are stated elsewhere in the paper itself (the upper bound of
# the zero false alarms, the two types that no rule sees), and the later release corrected some of
# the wording. The trials also share one weakness with what they try: one desk, one agent, one set
# of faults. A sentence that holds here holds *on these data*.
#
# ## What would change our mind
#
# - Other data. Every rule is code over statistics, so a judge, a set or a release with other
#   numbers gets other verdicts. The tests change the data of each claim until its verdict changes.
# - Another threshold. Where "Our choice" names one, you can read the statistic beside it, choose
#   differently and rule again.
# - A better reading of a sentence. If the authors meant something that the question does not ask,
#   the question is wrong, not the sentence.
#
# %% [markdown]
# ## Exercises
#
# ```{exercise} What some sentences wait for
# :label: a9-waiting
# :nonumber:
# Which sentences cannot be tested with the data of this page, and what does each wait for? Then rerun
# with `-p verdicts released` and see which of them become testable.
# ```
#
# ```{solution-start} a9-waiting
# :class: dropdown
# ```

# %%
for trial in trials:
    if trial.ruling.verdict == CANNOT:
        print(f"{trial.claim.id}: {trial.ruling.reason}")

# %% [markdown]
# A published table holds verdicts and counts. The sentences that wait need texts, instances, or the
# cost of each verdict, and the release has them.
#
# ```{solution-end}
# ```
#
# In the next two exercises the outcome judge takes the small judge's place
# (`tjlib rerun a9_claims -p small outcome:qwen2.5:14b`). Predict before you rerun. The checks
# answer for the published verdicts.
#
# ```{exercise} An F1 that is a base rate
# :label: a9-base
# :nonumber:
# What is the verdict on the sentence that the small judge's F1 "is the base rate" (`base-rate`), if the
# outcome judge stands in its place?
# ```

# %%
from tjlib import exercises

verdict = None  # one of the four verdicts, in words
print(exercises.check("a9-base", verdict))

# %% [markdown]
# ```{solution} a9-base
# :class: dropdown
# It does not hold, as it does not for the small judge, but for another reason. The small judge
# flags nearly everything, so its *precision* is the base rate. The outcome judge flags a larger
# share of the faults than of the clean runs, so its precision is above the base rate, and its F1 is
# something else again.
# ```
#
# ```{exercise} Uniformly one
# :label: a9-uniform
# :nonumber:
# And on the sentence that the small judge's column is "uniformly 1.00" (`uniformly-one`)?
# ```

# %%
verdict = None  # one of the four verdicts, in words
print(exercises.check("a9-uniform", verdict))

# %% [markdown]
# ```{solution-start} a9-uniform
# :class: dropdown
# ```

# %%
swapped = Evidence(source.labels, source.verdicts, source.cost, source.trajectories,
                   judges=evidence.judges | {"small": given.outcome}, draws=100, seed=given.seed)
for trial in audit(swapped, ["base-rate", "uniformly-one"]):
    print(f"{trial.claim.id}: {trial.ruling.verdict}. {trial.ruling.reason}")

# %% [markdown]
# A sentence that says *all* needs more than half of the rows even for a condition.
#
# ```{solution-end}
# ```
#
# ```{exercise} Two intervals for a third
# :label: a9-third
# :nonumber:
# Rerun with `-p only '["a-third"]'` and two other seeds. The fold has two intervals, one with the mix of
# types held fixed and one that ignores the design. Which of the two would you have reported, and why?
# ```
#
# ```{solution} a9-third
# :class: dropdown
# Neither alone. The first says how the share would move on other cases of this design, the second how it
# would move if the mix were drawn as well. A set whose mix was chosen by its authors is no sample of mixes,
# so the first is the honest interval for a sentence about this set, and no interval here is one for a
# sentence about faults elsewhere. Another seed moves the ends by less than the two differ.
# ```
#
# ```{exercise} Nine in ten
# :label: a9-nine
# :nonumber:
# The rule for "all" sentences says that more than half is enough for a condition. Whose verdict would
# change if nine in ten were asked for, and whose would not?
# ```
#
# ```{solution-start} a9-nine
# :class: dropdown
# ```
#
# Read the counts in the reasons of those that hold with a condition:

# %%
for trial in trials:
    if trial.ruling.verdict == CONDITION:
        print(f"{trial.claim.id}: {trial.ruling.reason}")

# %% [markdown]
# A sentence that is true of more than half but less than nine tenths of its cases would change to
# *does not hold*. A sentence without an exception stays as it is, and so does every sentence whose
# rule is not about all.
#
# ```{solution-end}
# ```
#
# ```{exercise} A sentence of your own
# :label: a9-own
# :nonumber:
# Choose a sentence of the paper that is not on the list. Write its question, name its statistics, and
# write the rule before you look at a number.
# ```
#
# ```{solution} a9-own
# :class: dropdown
# There is no one solution. It is a good one if somebody else, given question and rule alone, reaches your
# verdict; if the rule could have come out each of the four ways; and if you can name the data that would
# turn it.
# ```

# %% [markdown]
# **Next:** Part A asked somebody to judge a finished run. Part B asks whether the run itself gives a
# warning, and begins with the simplest one: [how sure the agent sounds](b3_local_signals).
