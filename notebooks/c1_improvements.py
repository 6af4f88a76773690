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
# # Can it be improved without a label?
#
# **The claim.** RUPA can be changed inside its own equations without looking at a single outcome, and a choice
# made in this way can take length out of the score. That does not make the score better. Where longer runs fail
# more often, the score loses what length gave it. Over pairs of runs of the same length, some choice ranks
# failures better than the printed score on: {glue:text}`imp-gains` (we tried {glue:text}`imp-sets` sets of
# runs). For AgentDojo, the choice of the other sets brings in one signal: how far a run departs from the
# other runs of its task. RUPA around that signal minus the signal alone is {glue:text}`imp-best-minus-alone`
# there, over all pairs.
#
# ```{admonition} In one minute
# We tried four changes in {glue:text}`imp-recipes` combinations on {glue:text}`imp-sets` sets of runs. A
# criterion that sees no outcome chose a combination on one half of each set's tasks, and the other half was
# scored with it. Choosing the score that follows length least brought the mean unsigned rank correlation with
# length from {glue:text}`imp-follows-printed` to {glue:text}`imp-follows-length`; its {term}`AUROC` lies above
# the printed one's on {glue:text}`imp-length-above` and below it on {glue:text}`imp-length-below`, over pairs of
# one length above on {glue:text}`imp-length-one-above` and below on {glue:text}`imp-length-one-below`. The two
# halves of a set chose the same combination in {glue:text}`imp-length-same` of {glue:text}`imp-sets` sets. When
# the *other sets* chose, by how alike they score runs of one task, AgentDojo came to {glue:text}`imp-best`, where
# the printed method has {glue:text}`imp-best-printed` and the signal by itself {glue:text}`imp-best-alone`.
# ```

# %% [markdown]
# ## What may be changed
#
# The RUPA paper {cite}`rupa2026` needs the probabilities of an agent's tokens, which public logs lack. Without
# them every step has the same {term}`uncertainty of its own <local uncertainty>`, and what is left, structural
# RUPA, follows length. {term}`Risk <risk>` starts at nothing and rises over the first steps, so the mean over a
# short run is a mean over the rise ([the ablation chapter](b5_ablation) shows it). We try four changes of ours,
# each with the printed setting first:
#
# - **signal**, what stands for a step's own uncertainty: *none*; *surprise*, how improbable its tools are after
#   those of the step before; *verbosity*, how far its number of words is from what is usual with its tools;
#   *disagreement*, the share of the other runs of its task that do not have this step after that one. All are
#   learnt from, or compared with, runs that nobody has labelled.
# - **scale**: *raw*, or *p95*, divided by the 95th percentile and capped at 1, which is the range of goal and
#   observations. It is tried for signals that do not lie in that range already.
# - **beginning**: *zero*; *started*, where the goal passes on what a step passes on in the mean; *centred*, where
#   the mean risk at each position is taken off.
# - **blame**: with *{term}`observation`*, a failed call raises the step after it; with *caller*, the failure
#   counts for the step that made the call.
#
# The paper's equations and the constants of its Tables 5 and 6 stay as they are, and similarity is shared words.
# Brackets are 95 % intervals, by {term}`whole tasks <bootstrap by task>`.
#
# ## How one is chosen
#
# A salted hash splits the tasks into two halves. Everything that is fitted is fitted on one half, and everything
# that is reported is of the other; then the halves change places. There are two criteria, and neither takes an
# outcome:
#
# - **least length**: one minus the unsigned rank correlation between the score and the number of steps;
# - **most agreement**: how alike the runs of one task are scored, once length has been taken out of the scores'
#   ranks. It needs several runs of a task, and some sets have one.
#
# Of equals, the combination with fewest changes is taken. The *other sets* make a choice as well: the combination
# with the highest mean of the criterion over them, which no run of the set at hand has touched.
#
# What is read on this page: {glue:text}`imp-origin`. A log of yours joins the public sets, which are then its
# other sets:
#
# ```bash
# tjlib rerun c1_improvements -p traces my_runs.jsonl
# ```

# %% tags=["parameters"]
traces: str = "public"  # public (the stored sets), or a log of runs to stand beside them
salt: str = "tjlib"  # of the hash that halves the tasks; another one, other halves
draws: int = 1_000  # resamples of tasks behind each interval
seed: int = 0  # seed of all that is drawn

# %% tags=["hide-input"]
from tjlib import chapter

given = chapter.check(
    globals(), draws=lambda value: None if 100 <= value <= 20_000 else "give 100 to 20000",
)

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from tjlib import material, tables
from tjlib.charts import analysis
from tjlib.charts import improving as charts
from tjlib.charts.show import show
from tjlib.material import PUBLIC as CALLED
from tjlib.measure.panels import measured
from tjlib.studies import improving
from tjlib.uncertainty.choose import CRITERIA, halves
from tjlib.uncertainty.habits import disagreement
from tjlib.uncertainty.recipes import PRINTED, recipes

names = [*([] if given.traces == "public" else [given.traces]), *material.PUBLIC]
sets = {name: improving.load(name) for name in names}

# %% tags=["hide-input"]
weighed = {name: halves(runs.graphs, runs.acts, runs.tasks, given.salt)
           for name, runs in sets.items()}
chosen = improving.choices(weighed)
MADE = "; ".join([*(runs.origin for name, runs in sets.items() if name == given.traces),
                  "data/features; similarity jaccard; no probabilities"])

# %% tags=["hide-input"]
OURS = ["settled", *(f"{c}{w}" for c in CRITERIA for w in ("", ", other sets"))]
PAIRS = [(name, other) for name in OURS
         for other in ("printed", "n_steps", f"{name}, flat", "disagreement alone")]
scored, found = {}, {}
for name, runs in sets.items():
    scored[name] = improving.scores(runs, weighed[name], chosen[chosen["set"] == name])
    table = measured(scored[name], runs.about, PAIRS, given.seed, given.draws)
    found |= {(name, row["panel"], row["name"]): row for row in table.to_dict("records")}
PANELS = ("all pairs", "one length", "one model")


def cell(name, panel, method, digits=2):
    """Write an estimate, or why there is none."""
    row = found.get((name, panel, method))
    if row is None:
        one = panel == "one model" and (name, "all pairs", method) in found
        return "one model only" if one else "no choice: one run a task"
    return tables.estimate(row, digits) if row["pairs"] else "no such pair"


def where(method, panel, side):
    """Name the sets on which a difference lies on one side of 0."""
    rows = [(name, found.get((name, panel, method))) for name in sets]
    known = [(name, row) for name, row in rows if row is not None and pd.notna(row["lo"])]
    return ", ".join(CALLED.get(name, name) for name, row in known if (
        row["lo"] > 0 if side == "above" else row["hi"] < 0)) or "no set"


# %% tags=["hide-input"]
def follows(method):
    """Average the unsigned rank correlation with length over the sets that have the method."""
    rows = [found.get((name, "all pairs", method)) for name in sets]
    return np.mean([abs(row["follows"]) for row in rows if row and pd.notna(row["follows"])])


for panel, part in (("all pairs", ""), ("one length", "-one")):
    for side in ("above", "below"):
        chapter.text(f"imp-length{part}-{side}", where("least length - printed", panel, side))
for key, method in (("printed", "printed"), ("length", "least length"), ("settled", "settled")):
    chapter.number(f"imp-follows-{key}", follows(method), 2)
for key, method in (("length", "least length"), ("agreement", "most agreement"),
                    ("length-other", "least length, other sets"),
                    ("agreement-other", "most agreement, other sets")):
    rows = chosen[(chosen["criterion"] + ", " + chosen["from"]).str.removesuffix(", other half")
                  .eq(method)].assign(r=lambda t: t["fitted"].map(lambda f: str(f.recipe)))
    both = rows.groupby("set")["r"].agg(["nunique", "size"])
    chapter.number(f"imp-{key}-same", (both["nunique"].eq(1) & both["size"].eq(2)).sum(), 0)
    if "other" not in key:
        chapter.number(f"imp-{key}-sets", len(both), 0)
AGREED = "most agreement, other sets"
gains = {name for method in OURS for name in sets
         if (row := found.get((name, "one length", f"{method} - printed"))) and row["lo"] > 0}
chapter.text("imp-gains", ", ".join(CALLED.get(name, name) for name in sets if name in gains) or "no set")
dojo = sets["agentdojo"]
chapter.number("imp-best-models", dojo.about["model"].nunique(), 0)
chapter.number("imp-best-succeed", 1 - dojo.about["failed"].dropna().astype(float).mean(), 2)
for key, failed in (("succeed", False), ("fail", True)):
    these = np.flatnonzero(dojo.about["failed"].eq(failed))
    among = disagreement([dojo.acts[i] for i in these], [dojo.tasks[i] for i in these])
    chapter.number(f"imp-best-apart-{key}", np.mean([np.mean(x) for x in among if x]), 2)
chapter.number("imp-recipes", len(recipes()), 0)
chapter.number("imp-intervals", sum((name, panel, f"{method} - printed") in found for name in sets
                                    for panel in PANELS[:2] for method in OURS), 0)
chapter.number("imp-leave-out", sum(
    row["lo"] > 0 or row["hi"] < 0 for name in sets for panel in PANELS[:2] for method in OURS
    if (row := found.get((name, panel, f"{method} - printed"))) and pd.notna(row["lo"])), 0)
chapter.number("imp-by-chance", 0.05 * sum(
    (name, panel, f"{method} - printed") in found for name in sets for panel in PANELS[:2]
    for method in OURS), 1)
chapter.number("imp-sets", len(sets), 0)
chapter.text("imp-origin", MADE)
for key, method in (("best-printed", "printed"), ("best-steps", "n_steps")):
    chapter.text(f"imp-{key}", cell("agentdojo", "all pairs", method))
for key, method in (("best", AGREED), ("best-alone", "disagreement alone"),
                    ("best-minus", f"{AGREED} - printed"),
                    ("best-minus-alone", f"{AGREED} - disagreement alone")):
    for panel, part in (("all pairs", ""), ("one length", "-one"), ("one model", "-model")):
        chapter.text(f"imp-{key}{part}", cell("agentdojo", panel, method))

# %% [markdown]
# ## What the choices gain
#
# {numref}`fig-imp-minus` has the AUROC of each choice minus that of structural RUPA as printed, on the half of the
# tasks it was not chosen on. A mark right of the dashed line ranks failed runs higher than the printed score
# does. Each set has two panels. In one, all pairs of a failed and a successful run count; in the other, only
# pairs with the same number of steps, where length knows nothing. *Settled* is explained below.

# %% mystnb={"figure": {"caption": "AUROC of each label-free choice minus that of structural RUPA as printed, with intervals by whole tasks; over all pairs, and over pairs of one length. Dashed: no difference. Measured here on data/features, each half of the tasks by what the other chose; settled was chosen on all of them.", "name": "fig-imp-minus"}} tags=["hide-input"]
SHORT = {"settled": "settled, one recipe", "least length": "least length",
         "least length, other sets": "length, other sets", "most agreement": "most agreement",
         "most agreement, other sets": "agreement, other sets"}
minus = pd.DataFrame([
    {"panel": f"{CALLED.get(name, name)}, {panel}", "label": SHORT[method],
     **{k: row[k] for k in ("value", "lo", "hi")}, "shown": tables.estimate(row),
     "published": None}
    for name in sets for panel in PANELS[:2] for method in SHORT
    if (row := found.get((name, panel, f"{method} - printed"))) and row["pairs"]])
minus = minus.astype(dict.fromkeys(("value", "lo", "hi", "published"), float))
show(analysis.forest(minus, "change in AUROC", shared=True), name="imp-minus",
     table=minus[["panel", "label", "shown"]],
     alt="Two panels a set of runs, all pairs and pairs of one length, one row a choice: a point "
         "with an interval beside a dashed line at no change.")

# %% [markdown]
# Of the {glue:text}`imp-intervals` intervals in the figure, {glue:text}`imp-leave-out` leave out 0; about
# {glue:text}`imp-by-chance` would if no choice did anything. The table sorts them by set, and does the same with
# two plainer rivals that the next section takes up.

# %% tags=["hide-input"]
rows = [[method, "its inputs, no graph" if other == f"{method}, flat" else other, *(
    where(f"{method} - {other}", panel, side) for panel in PANELS[:2] for side in ("above", "below"))]
    for method in OURS for other in ("printed", "n_steps", f"{method}, flat")]
tables.show(pd.DataFrame(rows, columns=["choice", "minus", *(
    f"{panel}: {side} 0" for panel in PANELS[:2] for side in ("above", "below"))]),
    "The sets on which the AUROC of a choice minus another score lies on one side of 0 with its whole "
    "interval.", MADE)

# %% [markdown]
# Read the rows of **least length** with what length itself does. On AgentDojo the number of steps has an AUROC of
# {glue:text}`imp-best-steps`. Below one half, it is the short runs that fail, those that give up early, and a
# score that follows length is dragged the wrong way. Taking length out helps there and costs elsewhere, for the
# same reason.
#
# **Settled** is the one combination that least length takes over all sets, among those that can score a run by
# itself with no other run at hand: *started + caller*. It was fitted on these very runs, without their outcomes,
# and `tjlib uq --method rupa_settled` has it. Its mean unsigned correlation with length is
# {glue:text}`imp-follows-settled`, where the printed score has {glue:text}`imp-follows-printed`. Take it where
# you do not want a risk that rises with the run, and not because it ranks better.
#
# ## Against everything it has to beat
#
# A choice that beats the printed score may still lose to something plainer. The folded tables have the levels and
# the differences. `n_steps` is the number of steps; {term}`flat <flat score>` is the average of the printed inputs
# without a graph. Every choice has its own inputs averaged in the same way, in the rows that end in *flat*, and
# rows that end in *alone* are the mean of a signal and nothing else. Only a choice minus its own inputs tells
# what the graph adds.

# %% tags=["hide-input"]
METHODS = list(dict.fromkeys(column for table in scored.values() for column in table))
rows = [[CALLED.get(name, name), method, *(("0.50 by definition" if (method, panel) == ("n_steps", "one length")
                          else cell(name, panel, method)) for panel in PANELS),
         "none" if pd.isna(found[name, "all pairs", method]["follows"])
         else f"{found[name, 'all pairs', method]['follows']:.2f}"]
        for name in sets for method in METHODS if (name, "all pairs", method) in found]
tables.show(pd.DataFrame(rows, columns=["set", "score", *PANELS, "correlation with length"]),
            "AUROC of every score with intervals by whole tasks, and its rank correlation with the "
            "number of steps.", MADE, folded=True)

# %% tags=["hide-input"]
ROWS = [(method, other) for method in OURS for other in ("n_steps", f"{method}, flat")]
rows = [[CALLED.get(name, name), f"{method} - {other.removeprefix(method + ', ')}",
         *(cell(name, panel, f"{method} - {other}") for panel in PANELS)]
        for name in sets for method, other in ROWS
        if (name, "all pairs", f"{method} - {other}") in found]
tables.show(pd.DataFrame(rows, columns=["set", "difference", *PANELS]),
            "AUROC of each choice minus the number of steps, and minus its own inputs without a "
            "graph.", MADE, folded=True)

# %% [markdown]
# **One gain, looked at.** On AgentDojo, the choice of the other sets by agreement has {glue:text}`imp-best` over
# all pairs, {glue:text}`imp-best-one` over pairs of one length and {glue:text}`imp-best-model` inside one model.
# Minus the printed score that is {glue:text}`imp-best-minus`, {glue:text}`imp-best-minus-one` and
# {glue:text}`imp-best-minus-model`. Its signal is disagreement, whose mean alone has {glue:text}`imp-best-alone`,
# {glue:text}`imp-best-alone-one` and {glue:text}`imp-best-alone-model`. So RUPA around the signal, minus the
# signal alone, is {glue:text}`imp-best-minus-alone`, {glue:text}`imp-best-minus-alone-one` and
# {glue:text}`imp-best-minus-alone-model`. An interval that is not above 0 says that the gain is the signal's and
# not the graph's.
#
# Why does disagreement work there? AgentDojo has the same task done by {glue:text}`imp-best-models` models, and
# {glue:text}`imp-best-succeed` of its judged runs succeed. Disagreement among the runs that succeed is
# {glue:text}`imp-best-apart-succeed`, among those that fail {glue:text}`imp-best-apart-fail`. Where the first is
# lower, to depart from the others is to depart from what works. That is a vote, and it needs the other runs.
# Where the runs of a task are few, or mostly fail, there is no reason for it to hold.
#
# ## What the criteria chose
#
# If a criterion found something firm, the two halves of a set would choose the same combination. The table has
# both.

# %% tags=["hide-input"]
line = chosen.assign(recipe=chosen["fitted"].map(lambda f: str(f.recipe)))
rows = [[CALLED.get(name, name), criterion, source, *(
    f"{r.recipe} ({r.worth:.2f}; printed {r.printed:.2f})" if pd.notna(r.worth) else r.recipe
    for r in part.sort_values("half").itertuples())]
    for (name, criterion, source), part in line.groupby(["set", "criterion", "from"], sort=False)]
rows = [[*row, ""][:5] for row in rows]
tables.show(pd.DataFrame(rows, columns=["set", "criterion", "chosen by", "for the first half",
                                        "for the second half"]),
            "The combination each criterion chose without an outcome, for each half of the tasks, and "
            "the criterion's value of it and of the printed method. 1 is best.", MADE)

# %% [markdown]
# By least length, both halves of a set chose the same in {glue:text}`imp-length-same` of
# {glue:text}`imp-length-sets` sets, by most agreement in {glue:text}`imp-agreement-same` of
# {glue:text}`imp-agreement-sets`. When the other sets choose, it is {glue:text}`imp-length-other-same` and
# {glue:text}`imp-agreement-other-same`. With {glue:text}`imp-recipes` combinations and half a set to choose on,
# several stand close to the best, and which of them comes first is partly chance. The other sets hold more runs
# and are steadier.
#
# ## Does the criterion point at what ranks well?
#
# {numref}`fig-imp-recipes` has a point for each combination on the raw scale. Across is what *least length* says
# of it on the half it was fitted on, upwards its AUROC on the other half. If the criterion knew what is good, the
# points would rise to the right. The rank correlation of the two, for the two halves of each set, is
# {glue:text}`imp-points-length`. For *most agreement* it is {glue:text}`imp-points-agreement`. A criterion that
# points down where length predicts failure has only found out which scores are length.

# %% tags=["hide-input"]
from tjlib.measure.compare import rank_correlation

every = pd.concat([improving.every(runs, weighed[name]).assign(set=CALLED.get(name, name))
                   for name, runs in sets.items()], ignore_index=True)
every = every.astype(dict.fromkeys((*CRITERIA, "auroc"), float))
for key, criterion in (("length", "least length"), ("agreement", "most agreement")):
    told = []
    for name, part in every.groupby("set", sort=False):
        both = [rank_correlation(half[criterion], half["auroc"])
                if half[[criterion, "auroc"]].notna().all(axis=None) else None
                for _, half in part.groupby("half")]
        told.append(f"{name} " + " and ".join("undefined" if v is None else f"{v:z.2f}"
                                              for v in both))
    chapter.text(f"imp-points-{key}", ", ".join(told))

# %% mystnb={"figure": {"caption": "Combinations of changes on the raw scale, in the mean over the two halves: least length on the half they were fitted on across, AUROC on the other half upwards; each panel has scales of its own. Hollow diamond: the printed method. Ring: the best by the criterion. Dashed: chance. Measured here on data/features.", "name": "fig-imp-recipes"}} tags=["hide-input"]
drawn = (every.rename(columns={"set": "panel"})
         .groupby(["panel", "recipe", "signal"], sort=False)[["least length", "auroc"]].mean()
         .dropna().reset_index().rename(columns={"least length": "worth"}))
drawn["printed"] = drawn["recipe"].eq(str(PRINTED))
drawn["chosen"] = drawn["worth"].eq(drawn.groupby("panel")["worth"].transform("max"))
show(charts.recipes(drawn.round(3), "least length"), name="imp-recipes",
     table=drawn[["panel", "recipe", "worth", "auroc"]].round(3),
     alt="A panel a set: points for combinations of changes, by signal, with the criterion across "
         "and AUROC upwards; the printed method and the best by the criterion are marked.")

# %% [markdown]
# ## What would change our mind
#
# - A set on which a choice lies above the printed score, above the number of steps and above its own inputs
#   without a graph, all over pairs of one length. Then the graph adds something once length is out. Bring it:
#   that is what the parameter is for.
# - Disagreement on a set whose tasks mostly fail, with several runs each. If it ranks the other way round there,
#   it is a vote and nothing else; if not, it is more.
# - Another salt with which least length chooses the same in both halves of most sets.
# - The agent's own probabilities. What a step's tools and words say is a poor stand-in for them, and here it was
#   all there was.
#
# Nobody knows where in these runs the trouble began. The next page
# [makes long runs with known faults](c1_cascades), where passing risk on ought to matter most.

# %% [markdown]
# ## Exercises
#
# The first two can be done with pencil and paper.

# %% [markdown]
# ```{exercise} Paying first
# :label: c1-first
# :nonumber:
# In a pool of twenty runs, all of which find and then pay, how surprising is a run that pays first? Use the
# smoothing of `tjlib.uncertainty.habits`: the share of `pay` among all steps counts one more for each of the two
# tools and for one unseen; then five pseudo-counts, dealt by that share, join the twenty runs.
# ```

# %%
from tjlib import exercises

nats = None  # a number of nats, to two digits
print(exercises.check("c1-first", nats))

# %% [markdown]
# ```{solution-start} c1-first
# :class: dropdown
# ```
#
# `pay` is 20 of 40 steps, smoothed 21 of 43. None of the twenty runs begins with it.

# %%
from tjlib.uncertainty.habits import Acts, habits

pool = [Acts(("find", "pay"), (3, 3))] * 20
print(f"-log((0 + 5 x 21 / 43) / (20 + 5)) = {habits(pool).surprise(Acts(('pay',), (3,)))[0]:.2f} nats")

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} A vote of three to one
# :label: c1-vote
# :nonumber:
# Three runs of a task find and pay. One finds and asks, and is the only one that does what the task wants. What is
# its mean disagreement?
# ```

# %%
apart = None  # a share from 0 to 1
print(exercises.check("c1-vote", apart))

# %% [markdown]
# ```{solution-start} c1-vote
# :class: dropdown
# ```

# %%
tries = [Acts(("find", "pay"), (1, 1))] * 3 + [Acts(("find", "ask"), (1, 1))]
print(*(f"{' and '.join(run.tools)}: {np.mean(told):.2f}"
        for run, told in zip(tries, disagreement(tries, ["x"] * 4), strict=True)), sep="\n")

# %% [markdown]
# The right one looks worst. Disagreement is a vote, and a vote is right when most are.
#
# ```{solution-end}
# ```
#
# ```{exercise} Random numbers
# :label: imp-noise
# :nonumber:
# Random numbers are nearly the best score by *least length*. What do they have on AgentDojo? Why is that no
# reason to drop the criterion, and what does the other one say?
# ```
#
# ```{solution-start} imp-noise
# :class: dropdown
# ```

# %%
from tjlib.uncertainty.choose import agreement, length_free

runs = sets["agentdojo"]
noise = np.random.default_rng(given.seed).random(len(runs.graphs))
steps = runs.about["steps"].to_numpy()
print(f"least length {length_free(noise, steps, []):.2f}, most agreement {agreement(noise, steps, runs.tasks):.2f}")

# %% [markdown]
# A criterion chooses among scores that are candidates for another reason. That a score is free of length says
# nothing for it. *Most agreement* gives noise about 0, as it should.
#
# ```{solution-end}
# ```
#
# ```{exercise} A scale that was not tried
# :label: imp-p95
# :nonumber:
# Scale *p95* is not tried for disagreement, which is a share. What would it have done on AgentDojo?
# ```
#
# ```{solution-start} imp-p95
# :class: dropdown
# ```

# %%
values = [value for of_run in weighed["agentdojo"][0].own["disagreement"] for value in of_run]
print(f"the 95th percentile of disagreement there: {np.percentile(values, 95):.2f}")

# %% [markdown]
# At 1, dividing by it and capping at 1 leaves what is there: one more name for the same score.
#
# ```{solution-end}
# ```
#
# ```{exercise} Is it a leak?
# :label: imp-leak
# :nonumber:
# Disagreement compares a run with others of its own half, without outcomes, before the run is scored. Is that a
# leak? When could you not do it?
# ```
#
# ```{solution} imp-leak
# :class: dropdown
# No outcome is used, and what is fitted (scale, beginning, which combination) comes from the other half. But the
# other runs of the task must exist. On a task that nobody has tried there is no disagreement; SWE-agent's runs,
# one a task, have none.
# ```
