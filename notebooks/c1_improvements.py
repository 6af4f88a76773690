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
# **The claim.** RUPA can be changed inside its own equations without looking at a single outcome, and
# such a choice can take length out of the score. That is not the same as making it better: where
# longer runs fail more often, the score loses what length gave it. Over pairs of the same length a
# choice ranks failures better than the printed score on {glue:text}`imp-gains` ({glue:text}`imp-sets`
# sets of runs were tried). The gain that the other sets' choice has on AgentDojo comes with one signal,
# how far a run departs from the other runs of its task; over all pairs RUPA around that signal minus the signal alone is
# {glue:text}`imp-best-minus-alone`.
#
# ```{admonition} In one minute
# Four changes with {glue:text}`imp-recipes` combinations, {glue:text}`imp-sets` sets of runs. A
# criterion that sees no outcome chose a combination on one half of each set's tasks; the other half
# was scored with it. Choosing the score that follows length least brought the mean unsigned rank
# correlation with length from {glue:text}`imp-follows-printed` to {glue:text}`imp-follows-length`.
# Its {term}`AUROC` minus the printed one's, over all pairs, is above 0 on {glue:text}`imp-length-above`, below
# 0 on {glue:text}`imp-length-below`; over pairs of one length it is above on
# {glue:text}`imp-length-one-above` and below on {glue:text}`imp-length-one-below`. The two halves of a
# set chose the same combination in {glue:text}`imp-length-same` of {glue:text}`imp-sets` sets.
# Choosing instead what the *other sets* agree on, by how alike runs of one task are scored, gave
# AgentDojo {glue:text}`imp-best` where the printed method has {glue:text}`imp-best-printed` and the
# signal by itself {glue:text}`imp-best-alone`.
# ```

# %% [markdown]
# ## What may be changed
#
# The RUPA paper {cite}`rupa2026` needs the probabilities of an agent's tokens, which public logs lack.
# Without them every step has the same {term}`uncertainty of its own <local uncertainty>`,
# and what is left, structural RUPA, follows length: {term}`risk` starts at nothing and rises over the first steps,
# and the mean over a short run is a mean over the rise
# ([what the ablation chapter says](b5_ablation)). Four changes of ours, each with the printed setting
# first:
#
# - **signal**, a step's own uncertainty: *none*; *surprise*, how improbable its tools are after those
#   of the step before; *verbosity*, how far its number of words is from what is usual with its tools;
#   *disagreement*, the share of the other runs of its task that do not have this step after that one.
#   All are fitted on, or compared with, runs that nobody has labelled.
# - **scale**: *raw*, or (*p95*) divided by the 95th percentile and capped at 1, the range of goal and
#   observations, of signals that are not in that range already.
# - **beginning**: *zero*; *started*, the goal passes on what a step passes on in the mean; *centred*,
#   the mean risk at each position is taken off.
# - **blame**: an *{term}`observation`* keeps its uncertainty, so that a failed call raises the step after it,
#   or it goes to the *caller*.
#
# The paper's equations and the constants of its Tables 5 and 6 stay. Similarity is shared words.
# Brackets below are 95 % intervals, by {term}`whole tasks <bootstrap by task>`.
#
# ## How one is chosen
#
# Tasks are split in two halves by a salted hash. All that is fitted is fitted on one half, all that is
# reported is of the other, and then the other way round. There are two criteria, and neither takes an
# outcome:
#
# - **least length**: one minus the unsigned rank correlation between score and number of steps;
# - **most agreement**: how alike runs of one task are scored, once length has been taken out of the
#   scores' ranks. It needs several runs of a task, and some sets have one.
#
# Of equals the combination with fewest changes is taken. A choice is also made by the *other sets*: the
# combination of the highest criterion in the mean over them, which no run of this set touched.
#
# Read on this page: {glue:text}`imp-origin`. A log of yours is added to the public sets, which then
# are its other sets:
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
    seed=lambda value: None if value >= 0 else "give 0 or more",
)

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from tjlib import improving, material, tables
from tjlib.charts import analysis
from tjlib.charts import improving as charts
from tjlib.charts.show import show
from tjlib.material import PUBLIC as CALLED
from tjlib.measure.panels import measured
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


for key, method in (("length", "least length"), ("agreement", "most agreement"),
                    ("length-other", "least length, other sets"),
                    ("agreement-other", "most agreement, other sets"), ("settled", "settled")):
    for panel, part in (("all pairs", ""), ("one length", "-one")):
        for side in ("above", "below"):
            chapter.text(f"imp-{key}{part}-{side}", where(f"{method} - printed", panel, side))
            chapter.text(f"imp-{key}{part}-steps-{side}", where(f"{method} - n_steps", panel, side))
            chapter.text(f"imp-{key}{part}-flat-{side}",
                         where(f"{method} - {method}, flat", panel, side))
    chapter.number(f"imp-follows-{key}", follows(method), 2)
    rows = chosen[(chosen["criterion"] + ", " + chosen["from"]).str.removesuffix(", other half")
                  .eq(method)].assign(r=lambda t: t["fitted"].map(lambda f: str(f.recipe)))
    both = rows.groupby("set")["r"].agg(["nunique", "size"])
    chapter.number(f"imp-{key}-same", (both["nunique"].eq(1) & both["size"].eq(2)).sum(), 0)
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
chapter.number("imp-follows-printed", follows("printed"), 2)
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
for key, method in (("best", AGREED), ("best-printed", "printed"), ("best-steps", "n_steps"),
                    ("best-alone", "disagreement alone"), ("best-flat", f"{AGREED}, flat"),
                    ("best-minus", f"{AGREED} - printed"),
                    ("best-minus-alone", f"{AGREED} - disagreement alone")):
    for panel, part in (("all pairs", ""), ("one length", "-one"), ("one model", "-model")):
        chapter.text(f"imp-{key}{part}", cell("agentdojo", panel, method))

# %% [markdown]
# ## What the choices gain
#
# {numref}`fig-imp-minus` has the AUROC of each choice minus that of structural RUPA as printed, on the
# half of the tasks it was not chosen on: right of the dashed line it ranks failed runs higher than the
# printed score does. In one panel of a set all pairs of a failed and a successful run count; in the
# other only pairs of the same number of steps, where length knows nothing.

# %% mystnb={"figure": {"caption": "AUROC of each label-free choice minus that of structural RUPA as printed, with intervals by whole tasks; over all pairs, and over pairs of one length. Dashed: no difference. Measured here on data/features, each half of the tasks by what the other chose.", "name": "fig-imp-minus"}} tags=["hide-input"]
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
# Over all pairs the choice by **least length** is above the printed score on
# {glue:text}`imp-length-above` and below it on {glue:text}`imp-length-below`; over pairs of one length
# above on {glue:text}`imp-length-one-above`, below on {glue:text}`imp-length-one-below`. Read the first
# with what length itself does: on AgentDojo the runs that give up early fail, the number of steps has an
# AUROC of {glue:text}`imp-best-steps`, and a score that follows length is dragged the wrong way. Taking
# length out helps there and costs elsewhere, for the same reason.
#
# The choice by **most agreement** is above on {glue:text}`imp-agreement-above` and below on
# {glue:text}`imp-agreement-below`; over pairs of one length above on
# {glue:text}`imp-agreement-one-above`, below on {glue:text}`imp-agreement-one-below`. Made by the other
# sets it is above on {glue:text}`imp-agreement-other-above` and below on
# {glue:text}`imp-agreement-other-below`; over pairs of one length above on
# {glue:text}`imp-agreement-other-one-above`, below on {glue:text}`imp-agreement-other-one-below`. The
# figure has {glue:text}`imp-intervals` intervals, of which {glue:text}`imp-leave-out` leave out 0; about
# {glue:text}`imp-by-chance` would if no choice did anything.
#
# **Settled** is the one combination that the first criterion takes over all sets among those that a run
# can be scored by alone, with no other run at hand: *started + caller*, fitted on these very runs but
# for their outcomes. `tjlib uq --method rupa_settled` has it. Its mean unsigned correlation with length is {glue:text}`imp-follows-settled`
# where the printed score has {glue:text}`imp-follows-printed`. Over all pairs it is above the printed
# score on {glue:text}`imp-settled-above`, below on {glue:text}`imp-settled-below`; over pairs of one
# length above on {glue:text}`imp-settled-one-above`, below on {glue:text}`imp-settled-one-below`. Take
# it where you do not want a risk that rises with the run, and not because it ranks better.
#
# ## Against everything it has to beat
#
# The table has the levels. `n_steps` is the number of steps, {term}`flat <flat score>` the printed inputs
# averaged without a graph, and every choice has its own inputs averaged likewise, in the rows that end in *flat*. The
# rows that end in *alone* are the mean of a signal and nothing else.

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
# Minus the number of steps, over all pairs, the choice by least length is above 0 on
# {glue:text}`imp-length-steps-above` and below on {glue:text}`imp-length-steps-below`; that by the
# other sets' agreement above on {glue:text}`imp-agreement-other-steps-above`, below on
# {glue:text}`imp-agreement-other-steps-below`. Minus its own inputs without a graph, least length is above
# on {glue:text}`imp-length-flat-above`, below on {glue:text}`imp-length-flat-below`, and over pairs of one
# length above on {glue:text}`imp-length-one-flat-above`; the other sets' agreement above on
# {glue:text}`imp-agreement-other-flat-above`, below on {glue:text}`imp-agreement-other-flat-below`, and over
# pairs of one length above on {glue:text}`imp-agreement-other-one-flat-above`.
#
# **One gain, looked at.** On AgentDojo the other sets' choice has {glue:text}`imp-best` over all
# pairs, {glue:text}`imp-best-one` over pairs of one length and {glue:text}`imp-best-model` inside one
# model; minus the printed score {glue:text}`imp-best-minus`, {glue:text}`imp-best-minus-one` and
# {glue:text}`imp-best-minus-model`. Its signal is disagreement, and the mean of that alone has
# {glue:text}`imp-best-alone`, {glue:text}`imp-best-alone-one` and {glue:text}`imp-best-alone-model`. With
# RUPA around it minus alone, that is {glue:text}`imp-best-minus-alone`,
# {glue:text}`imp-best-minus-alone-one` and {glue:text}`imp-best-minus-alone-model`: an interval that is
# not above 0 says that the gain is the signal's and not the graph's. AgentDojo has the same task done by
# {glue:text}`imp-best-models` models, and a share of {glue:text}`imp-best-succeed` of its judged runs
# succeed. Disagreement among the runs that succeed is {glue:text}`imp-best-apart-succeed`, among those that
# fail {glue:text}`imp-best-apart-fail`: where the first is lower, to depart from the others is to depart
# from what works. That is a vote, and it needs the others' runs. Where runs of a task are
# few, or mostly fail, there is no reason for it to hold.
#
# ## What the criteria chose

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
# Both halves of a set chose the same by least length in {glue:text}`imp-length-same` of
# {glue:text}`imp-length-sets` sets, by most agreement in {glue:text}`imp-agreement-same` of
# {glue:text}`imp-agreement-sets`; by the other sets in {glue:text}`imp-length-other-same` and
# {glue:text}`imp-agreement-other-same`. With {glue:text}`imp-recipes` combinations and half a set to
# choose on, several stand close to the best, and which one is first is partly chance. The other sets
# are more runs, and steadier.
#
# ## Does the criterion point at what ranks well?
#
# {numref}`fig-imp-recipes` has a point a combination on the raw scale: across, what *least length* says of it on the half
# it was fitted on; upwards, its AUROC on the other half. If the criterion knew what is good, points
# would rise to the right. The rank correlation of the two over these combinations is, for the two halves
# of each set, {glue:text}`imp-points-length`; for *most agreement*, {glue:text}`imp-points-agreement`. A criterion that points down where length predicts
# failure has only found out which scores are length.

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
# - A set on which a choice is above the printed score, above the number of steps, and above its own
#   inputs without a graph, all over pairs of one length. Then the graph adds something once length is
#   out. Bring it: that is what the parameter is for.
# - Disagreement on a set whose tasks mostly fail, several runs each. If it ranks the other way round
#   there, it is a vote and nothing else; if not, it is more.
# - Another salt under which the choice by least length is the same in both halves of most sets.
# - The agent's own probabilities. What a step's tools and words say is a poor stand-in for them, and
#   here it was all there was.
#
# ## Exercises

# %% tags=["hide-input"]
from tjlib.uncertainty.choose import agreement, length_free
from tjlib.uncertainty.habits import Acts, habits

pool = [Acts(("find", "pay"), (3, 3))] * 20
chapter.number("imp-x-first", habits(pool).surprise(Acts(("pay",), (3,)))[0], 2)
tries = [Acts(("find", "pay"), (1, 1))] * 3 + [Acts(("find", "ask"), (1, 1))]
apart = disagreement(tries, ["x"] * 4)
chapter.text("imp-x-apart", f"{np.mean(apart[0]):.2f} for each of the three and "
                            f"{np.mean(apart[3]):.2f} for the one")
rng = np.random.default_rng(given.seed)
runs = sets["agentdojo"]
noise = rng.random(len(runs.graphs))
steps = runs.about["steps"].to_numpy()
chapter.number("imp-x-noise", length_free(noise, steps, []), 2)
chapter.number("imp-x-noise-agreement", agreement(noise, steps, runs.tasks), 2)
apart = [value for values in weighed["agentdojo"][0].own["disagreement"] for value in values]
chapter.number("imp-x-p95", np.percentile(apart, 95), 2)
per = pd.Series(runs.tasks).value_counts()
chapter.number("imp-x-runs", per.median(), 0)

# %% [markdown]
# ```{exercise} Paying first
# :label: imp-first
# :nonumber:
# In a pool of twenty runs, all of which find and then pay, how surprising is a run that pays first?
# Use the smoothing in `tjlib.uncertainty.habits`: five pseudo-counts, dealt by each tool's share.
# ```
#
# ```{solution} imp-first
# :class: dropdown
# Pay is 20 of 40 steps; with one more for each of two tools and one unseen, 21 of 43. None of the
# twenty starts with it: (0 + 5 * 21 / 43) / (20 + 5), minus the logarithm: {glue:text}`imp-x-first` nats.
# ```
#
# ```{exercise} A vote of three to one
# :label: imp-vote
# :nonumber:
# Three runs of a task find and pay; one finds and asks, and is the only one that does as the task
# wants. What does disagreement say of the four?
# ```
#
# ```{solution} imp-vote
# :class: dropdown
# {glue:text}`imp-x-apart`: the right one looks worst. It is a vote, and a vote is right when most are.
# ```
#
# ```{exercise} Random numbers
# :label: imp-noise
# :nonumber:
# Random numbers are nearly the best score by *least length*: what do they have on AgentDojo? Why is
# that no reason to drop the criterion, and what does the other one say?
# ```
#
# ```{solution} imp-noise
# :class: dropdown
# {glue:text}`imp-x-noise`, of at most 1. A criterion chooses among scores that are candidates for
# another reason; that a score is free of length says nothing for it. *Most agreement* gives noise
# {glue:text}`imp-x-noise-agreement`, close to 0, as it should.
# ```
#
# ```{exercise} A scale that was not tried
# :label: imp-p95
# :nonumber:
# Scale *p95* is not tried for disagreement, which is a share. What would it have done on AgentDojo?
# ```
#
# ```{solution} imp-p95
# :class: dropdown
# Its 95th percentile there is {glue:text}`imp-x-p95`. Dividing by 1 and capping at 1 leaves what is
# there; it would only have been one more name for the same score.
# ```
#
# ```{exercise} Is it a leak?
# :label: imp-leak
# :nonumber:
# Disagreement compares a run with others of its own half, without outcomes, before the run is scored.
# Is that a leak? When could you not do it?
# ```
#
# ```{solution} imp-leak
# :class: dropdown
# No outcome is used, and what is fitted (scale, beginning, which combination) comes from the other half.
# But the other runs of the task must exist: here the median task has {glue:text}`imp-x-runs`. On a task
# nobody has tried, there is no disagreement; SWE-agent's runs, one a task, have none.
# ```
