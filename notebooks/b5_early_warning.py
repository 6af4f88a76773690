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
# # How early, at what price?
#
# **The claim.** Section 5.3 of *From Sequence to Structure*
# ([arXiv 2608.16002](https://arxiv.org/abs/2608.16002)) cuts runs short, by a share of their steps or
# by a number of steps, and finds that RUPA ranks failures well from little of a run. An early warning
# has a price that a curve of AUROC does not show: how many good runs it would stop. And a cut by
# share knows how long the run will be, which nobody knows while it goes on. This chapter has the
# curves, the leak, and the alarms.
#
# ```{admonition} In one minute
# On {glue:text}`ew-n` runs, {glue:text}`ew-failed` of them failed. After a tenth of its steps a run's
# *number of steps so far*, which has read nothing, has an AUROC of {glue:text}`ew-leak-tenth`; that is
# the leak. After {glue:text}`ew-k` steps, structural RUPA has {glue:text}`ew-s-k` over all runs and
# {glue:text}`ew-s-k-going` over the runs still going then. At a budget of {glue:text}`ew-budget` %
# false alarms it stops {glue:text}`ew-s-caught` of the failed runs and {glue:text}`ew-s-false` of the
# successful ones.
# ```

# %% [markdown]
# ## Cutting a run
#
# A step's risk depends on what came before it and on nothing later, so one pass over a run gives the
# score of every prefix: the mean of its risks so far. A prefix ends with a step, before what that
# step will observe. Beside RUPA run `flat`, which has its inputs without a graph, the mean of the
# steps' own uncertainty, and the number of steps so far.
#
# Read on this page: {glue:text}`ew-origin`. A step's own uncertainty: {glue:text}`ew-source`. For a
# log of yours:
#
# ```bash
# tjlib rerun b5_early_warning -p traces my_runs.jsonl -p budget 0.2
# ```

# %% tags=["parameters"]
traces: str = "features"  # features (stored numbers of the airline log), or a log of runs
embedder: str = "jaccard"  # jaccard (shared words), minilm, bge-m3 (the paper's), or a model's folder
signal: str = "auto"  # a step's own uncertainty: nll, entropy, constant (none); auto: nll if there is any
budget: float = 0.1  # share of successful runs that may raise a false alarm
draws: int = 2_000  # resamples of tasks behind each interval
seed: int = 0  # seed of all that is drawn

# %% tags=["hide-input"]
from tjlib import chapter, material

given = chapter.check(
    globals(), signal=material.SIGNALS,
    budget=lambda value: None if 0 <= value <= 0.9 else "give a share from 0 to 0.9",
    draws=lambda value: None if 100 <= value <= 20_000 else "give 100 to 20000",
    seed=lambda value: None if value >= 0 else "give 0 or more",
)

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from tjlib import prefixes, store, tables
from tjlib.charts import warning
from tjlib.charts.show import show
from tjlib.measure import by_task
from tjlib.measure.early import alarms, bins
from tjlib.measure.wins import changes
from tjlib.uncertainty.crossfit import half

log = material.load(given.traces, ["n_steps"], given.embedder, given.signal)
SOURCE = {"surrogate": f"the surrogate's {'entropy' if given.signal == 'entropy' else 'surprise'} "
                       "(SmolLM2), nats a token",
          "logprob": "the agent's own log-probabilities, nats a token",
          "constant": "none, all steps alike"}[log.source]
MADE = f"{log.origin}; similarity {given.embedder}; a step's own uncertainty: {SOURCE}"
judged = log.runs["failed"].notna().to_numpy()
runs, failed = log.runs[judged], log.runs["failed"][judged].astype(bool).to_numpy()
every = [prefixes.running(g, u) for g, u, j in zip(log.graphs, log.local, judged, strict=True) if j]
methods = prefixes.running(log.graphs[0], log.local[0])
going = {name: [run[name] for run in every] for name in methods}


def ranked(scores, among=slice(None)):
    """Measure how well scores rank some runs, and how much better than the number of steps."""
    against = {name: "n_steps" for name in scores if name != "n_steps"}
    table = changes({name: column[among] for name, column in scores.items()}, against,
                    failed[among], runs["task"].to_numpy()[among],
                    np.random.default_rng(given.seed), draws=given.draws)
    return {row["name"]: row for row in table.to_dict("records")}


def change(row):
    """Write the difference to the number of steps."""
    return tables.estimate({"value": row["change"], "lo": row["change_lo"],
                            "hi": row["change_hi"], "why": row["change_why"]}, 2)


def tidy(rows):
    """Lay rows out for the figures."""
    return pd.DataFrame(rows, columns=[
        "method", "at", "series", "value", "lo", "hi", "shown", "published"]).astype(
        dict.fromkeys(("value", "lo", "hi", "published"), float))


def marks(found, at, series):
    """Make a mark of every method's AUROC at a cut."""
    return [{"method": prefixes.METHODS[name], "at": at, "series": series, "published": None,
             **{k: row[k] for k in ("value", "lo", "hi")}, "shown": tables.estimate(row)}
            for name, row in found.items()]


# %% tags=["hide-input"]
shares = {p: ranked({m: prefixes.at_share(r, p) for m, r in going.items()})
          for p in prefixes.SHARES}
steps = {k: ranked({m: prefixes.at_steps(r, k) for m, r in going.items()}) for k in prefixes.STEPS}
still = {k: ranked({m: prefixes.at_steps(r, k, going=True) for m, r in going.items()})
         for k in prefixes.STEPS}
K = 4
NONE = "undefined (no own uncertainty here)"


def say(found, name):
    """Write an AUROC for a sentence."""
    text = tables.estimate(found[name], 2) if name in found else NONE
    return text.replace("undefined: ", "undefined (") + ")" * text.startswith("undefined: ")


for key, name in (("s", "rupa_structural"), ("o", "rupa"), ("flat", "flat"), ("steps", "n_steps")):
    for p, called in ((0.1, "tenth"), (1.0, "whole")):
        chapter.text(f"ew-{key}-{called}", say(shares[p], name))
    chapter.text(f"ew-{key}-k", say(steps[K], name))
    chapter.text(f"ew-{key}-first", say(steps[1], name))
    chapter.text(f"ew-{key}-k-going", say(still[K], name))
    chapter.text(f"ew-{key}-minus", change(still[K][name]) if name in still[K] and key != "steps"
                 else NONE)
chapter.text("ew-leak-tenth", say(shares[0.1], "n_steps"))
chapter.number("ew-k", K, 0)
chapter.number("ew-left", still[K]["n_steps"]["n"], 0)
chapter.number("ew-n", len(runs), 0)
chapter.number("ew-failed", failed.sum(), 0)
chapter.text("ew-origin", log.origin)
chapter.text("ew-source", SOURCE)

# %% [markdown]
# ## By share: the leak
#
# {numref}`fig-ew-share` cuts every run at a share of its own length, as a part of the paper's Figure 3
# does. Look at the last panel first. The number of steps so far reads nothing, yet after a
# tenth of each run it has {glue:text}`ew-leak-tenth`, and after the whole {glue:text}`ew-steps-whole`:
# a tenth of a long run is more steps than a tenth of a short one, so the cut itself tells how long
# the run is going to be. Whatever grows with the number of steps, a mean over RUPA's rising first
# risks among it, is told the same thing. On a set where length ranks failures the curve is flattered,
# on one where short runs fail it is hurt, and on neither does it say what could have been known.

# %% mystnb={"figure": {"caption": "AUROC after a share of each run's steps, with intervals by whole tasks, one panel a method. Dashed: chance. Data: the runs chosen at the top of this page.", "name": "fig-ew-share"}} tags=["hide-input"]
rows = tidy([m for p, found in shares.items() for m in marks(found, f"{p:.0%}", "all runs")])
show(warning.curves(rows, "share of the run's steps", "AUROC", 0.5), name="ew-share",
     table=rows[["method", "at", "shown"]],
     alt="A panel a method: shares of a run across, AUROC upwards with intervals, a dashed line at "
         "one half.")

# %% [markdown]
# ## By steps
#
# {numref}`fig-ew-steps` cuts all runs after the same number of steps. Two readings stand side by side.
# *All runs* keeps a run that is over with its last score, as the authors' code does; the number of
# steps so far then still knows which runs have ended. *Still going* compares only runs that are that
# long, where it knows nothing at all, and its mark stands on the line. That is the question of
# somebody who watches: of the runs before me, which will fail?
#
# After one step structural RUPA has {glue:text}`ew-s-first`, and all it has read by then is how far
# the first step is from the goal. After {glue:text}`ew-k` it has {glue:text}`ew-s-k` over all runs and
# {glue:text}`ew-s-k-going` over the {glue:text}`ew-left` still going; `flat` has
# {glue:text}`ew-flat-k` and {glue:text}`ew-flat-k-going`, RUPA with own uncertainty
# {glue:text}`ew-o-k` and {glue:text}`ew-o-k-going`. Fewer runs are left the later one looks, which
# the intervals show.

# %% mystnb={"figure": {"caption": "AUROC after a number of steps, with intervals by whole tasks, one panel a method. Circles: all runs, those that are over with their last score. Squares: runs still going. Dashed: chance. Data: the runs chosen at the top of this page.", "name": "fig-ew-steps"}} tags=["hide-input"]
rows = tidy([m for k in prefixes.STEPS for m in (
    *marks(steps[k], str(k), "all runs"), *marks(still[k], str(k), "still going"))])
show(warning.curves(rows, "steps", "AUROC", 0.5), name="ew-steps",
     table=rows[["method", "at", "series", "shown"]],
     alt="A panel a method: numbers of steps across, AUROC upwards with intervals, circles for all "
         "runs and squares for runs still going, a dashed line at one half.")

# %% tags=["hide-input"]
lines = []
for called, cuts in (("share", shares), ("steps, all runs", steps), ("steps, still going", still)):
    for at, found in cuts.items():
        lines.append([called, f"{at:.0%}" if called == "share" else at, found["n_steps"]["n"],
                      *(change(row) for name, row in found.items() if name != "n_steps")])
tables.show(pd.DataFrame(lines, columns=["cut by", "at", "runs", *(
    f"{prefixes.METHODS[name]}" for name in methods if name != "n_steps")]),
    "AUROC minus that of the number of steps so far, at the same cut.", MADE, folded=True)

# %% [markdown]
# ## Alarms
#
# An alarm is raised at the first step at which the running score is above a threshold. Which one?
# We give a budget, a share of successful runs that may be stopped for nothing, and take the least
# threshold that keeps to it among the successful runs of *one half of the tasks*; it is reported on
# the other half, and the other way round. So the budget is a promise, and {numref}`fig-ew-alarms`
# shows beside the failed runs stopped how well it was kept.
#
# At {glue:text}`ew-budget` %, structural RUPA stops {glue:text}`ew-s-caught` of the failed runs and
# {glue:text}`ew-s-false` of the successful ones; `flat` {glue:text}`ew-flat-caught` and
# {glue:text}`ew-flat-false`; the number of steps {glue:text}`ew-steps-caught` and
# {glue:text}`ew-steps-false`; RUPA with own uncertainty {glue:text}`ew-o-caught` and
# {glue:text}`ew-o-false`. A warning system earns its name where the first lies above the second by
# more than the intervals.

# %% tags=["hide-input"]
BUDGETS = sorted({0.05, 0.1, 0.2, 0.3, given.budget})
side = [half(task) for task in runs["task"]]
raised, held = {}, {}
for budget_now in BUDGETS:
    for name in methods:
        found = raised[budget_now, name] = alarms(going[name], failed, side, budget_now)
        table = by_task.means(by_task.split(found, failed), runs["task"],
                              np.random.default_rng(given.seed), draws=given.draws)
        for row in table.to_dict("records"):
            held[budget_now, name, row["what"]] = row
WHO = {"failed|alarm": "failed runs stopped", "successful|alarm": "successful runs stopped"}


def about(name, what, digits=2):
    """Write what was measured of a method's alarms at the budget asked for."""
    row = held.get((given.budget, name, what))
    text = tables.estimate(row, digits) if row else NONE
    return text.replace("undefined: ", "undefined (") + ")" * text.startswith("undefined: ")


chapter.number("ew-budget", 100 * given.budget, 0)
for key, name in (("s", "rupa_structural"), ("o", "rupa"), ("flat", "flat"), ("steps", "n_steps")):
    chapter.text(f"ew-{key}-caught", about(name, "failed|alarm"))
    chapter.text(f"ew-{key}-false", about(name, "successful|alarm"))
    chapter.text(f"ew-{key}-step", about(name, "failed|step", 1))
    chapter.text(f"ew-{key}-left", about(name, "failed|left", 1))
curves = tidy([
    {"method": prefixes.METHODS[name], "at": f"{b:.0%}", "series": called, "published": None,
     **{k: held[b, name, what][k] for k in ("value", "lo", "hi")},
     "shown": tables.estimate(held[b, name, what], 2)}
    for b in BUDGETS for name in methods for what, called in WHO.items()])

# %% mystnb={"figure": {"caption": "Share of failed and of successful runs with an alarm, by budget, thresholds set on the other half of the tasks, with intervals by whole tasks. Data: the runs chosen at the top of this page.", "name": "fig-ew-alarms"}} tags=["hide-input"]
show(warning.curves(curves, "budget of false alarms", "share stopped"), name="ew-alarms",
     table=curves[["method", "at", "series", "shown"]],
     alt="A panel a method: budgets across, shares of runs stopped upwards, circles for failed and "
         "squares for successful runs, with intervals.")

# %% tags=["hide-input"]
lines = []
for name in methods:
    steps_of = raised[given.budget, name]["step"][failed].dropna()
    lines.append([prefixes.METHODS[name], about(name, "failed|alarm"),
                  about(name, "successful|alarm"),
                  f"{steps_of.median():g}" if len(steps_of) else "undefined: no failed run stopped",
                  about(name, "failed|step", 1), about(name, "failed|left", 1)])
tables.show(pd.DataFrame(lines, columns=[
    "method", "failed runs stopped", "successful runs stopped", "median step of the alarm",
    "mean step", "steps still to come"]),
    f"Alarms at a budget of {given.budget:.0%}: how many, at which step of the failed runs that were "
    "stopped, and how many of their steps were still to come.", MADE)

# %% [markdown]
# When structural RUPA stops a failed run it does so at step {glue:text}`ew-s-step` on average, with
# {glue:text}`ew-s-left` steps still to come; the number of steps at {glue:text}`ew-steps-step`, with
# {glue:text}`ew-steps-left`. These means are over the runs each one stops, which are not the same
# runs: a method that stops only the longest has many steps left to save.
#
# ## At equal entropy
#
# The paper sorts GAIA runs into bins of about equal entropy and reports, for the lowest, an AUROC of
# about {glue:text}`ew-p-auroc` for RUPA where token-level scores are at chance. {numref}`fig-ew-bins`
# sorts the runs here into five bins by the mean of their steps' own uncertainty. The paper's mark is
# hollow. Within a bin the mean of own uncertainty has little left to rank by, but length has: its
# panel is the one to hold the others against. A bin of fewer than {glue:text}`ew-least` runs, or of
# one outcome, has no mark.

# %% tags=["hide-input"]
LEAST = 10
prose = store.published("rupa_prose_numbers").set_index("what")["value"]
printed = prose["GAIA lowest-entropy bin AUROC, RUPA (approximate)"]
whole = {m: prefixes.at_share(r, 1.0) for m, r in going.items()}
bin_of = bins(whole["sp_mean"][:, 0]) if "sp_mean" in whole else np.full(len(runs), -1)
rows, inside = [], {}
for b in range(bin_of.max(initial=-1) + 1):
    among = np.flatnonzero(bin_of == b)
    if len(among) >= LEAST and len(set(failed[among])) == 2:
        inside[b] = ranked(whole, among)
        rows += marks(inside[b], f"Q{b + 1}", "runs of a bin")
for row in rows:
    if row["method"] == prefixes.METHODS["rupa"] and row["at"] == "Q1":
        row["published"] = printed
binned = tidy(rows)
chapter.number("ew-p-auroc", printed, 2)
chapter.number("ew-least", LEAST, 0)
for key, name in (("o", "rupa"), ("s", "rupa_structural"), ("steps", "n_steps")):
    chapter.text(f"ew-bin-{key}", say(inside[0], name) if 0 in inside else
                 "undefined (no such bin to compare)")

# %% mystnb={"figure": {"caption": "AUROC within bins of about equal mean own uncertainty, Q1 the lowest, with intervals by whole tasks, one panel a method. Hollow: the paper's approximate value for Q1, GAIA. Dashed: chance. Data: the runs chosen at the top of this page; rupa_prose_numbers.csv in data/published.", "name": "fig-ew-bins"}} tags=["hide-input"]
show(warning.curves(binned, "bin", "AUROC", 0.5), name="ew-bins",
     table=binned[["method", "at", "shown", "published"]],
     alt="A panel a method: five bins across, AUROC upwards with intervals, a hollow diamond for "
         "the paper's value in the first, a dashed line at one half.") if rows else print(
    "Without own uncertainty, or with too few runs of both outcomes, there are no bins to compare.")

# %% [markdown]
# In the lowest bin RUPA with own uncertainty has {glue:text}`ew-bin-o`, the structural form
# {glue:text}`ew-bin-s`, and the number of steps {glue:text}`ew-bin-steps`. The paper gives no such
# last number for its bins.
#
# ## What would change our mind
#
# - A log on which RUPA minus `flat` lies above 0 among the runs *still going* after a few steps, with
#   an interval by task. That would be an early warning that the inputs alone do not give.
# - The paper's curves by steps, over runs still going, with the number of runs behind each point.
# - A budget that is kept on other tasks while the failed runs stopped lie above what the number of
#   steps stops at the same budget.
#
# ## Exercises

# %% tags=["hide-input"]
ten = [len(run) for run in going["n_steps"]]
chapter.number("ew-x-short", min(ten) if ten else None, 0)
chapter.number("ew-x-long", max(ten) if ten else None, 0)
chapter.number("ew-x-short-k", prefixes.at_share([np.arange(1.0, min(ten) + 1)], 0.1).item()
               if ten and min(ten) else None, 0)
chapter.number("ew-x-long-k", prefixes.at_share([np.arange(1.0, max(ten) + 1)], 0.1).item()
               if ten and max(ten) else None, 0)
chapter.text("ew-x-going", say(still[K], "n_steps"))

# %% [markdown]
# 1. The shortest run here has {glue:text}`ew-x-short` steps, the longest {glue:text}`ew-x-long`. After
#    how many steps does a tenth end in each, and what does that give away?
#
# ```{admonition} Solution
# :class: dropdown
# After {glue:text}`ew-x-short-k` and {glue:text}`ew-x-long-k`. Who sees the number of steps in a tenth
# knows the length to within ten, before the run has gone there.
# ```
#
# 2. Among the runs still going after {glue:text}`ew-k` steps the number of steps so far has an AUROC of
#    {glue:text}`ew-x-going`. Could it be anything else?
#
# ```{admonition} Solution
# :class: dropdown
# No: it is {glue:text}`ew-k` for each of them, and ties count one half. Where no failed or no
# successful run is left it is undefined.
# ```
#
# 3. Why is the threshold not simply set on all the successful runs there are?
#
# ```{admonition} Solution
# :class: dropdown
# Then the budget would be kept by construction, on the runs it was set on, and nobody would know
# whether it holds on the next task. Set on one half, it can be seen to fail.
# ```
#
# 4. A running mean can only come down slowly. What does that do to the step of an alarm, compared with
#    an alarm on the risk of the newest step?
#
# ```{admonition} Solution
# :class: dropdown
# It comes later in a long run, for one risky step is averaged with all before it, and it is steadier.
# Score the newest step with `aggregate="last"` in `Parameters` and look.
# ```
#
# 5. In a bin of equal entropy a score has a high AUROC. Name the control without which that says little
#    about graphs.
#
# ```{admonition} Solution
# :class: dropdown
# The number of steps, and `flat`. Equal mean entropy does not mean equal length, and a bin of similar
# entropy may still hold short successes and long failures.
# ```
