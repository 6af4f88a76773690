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
# **The claim.** An early warning has a price: how many good runs it would stop. Section 5.3 of *From
# Sequence to Structure* ([arXiv 2608.16002](https://arxiv.org/abs/2608.16002); {cite}`rupa2026`) cuts
# runs short, by a share of their steps or after a number of steps, and finds that its method, RUPA,
# ranks failures well from little of a run. Such a curve does not show the price. And a cut by share
# knows how long the run will be, which nobody knows while it goes on. This chapter has the alarms, the
# curves and that leak, on every set of runs we hold, beside a {term}`control` that has read nothing:
# the number of steps so far.
#
# ```{admonition} In one minute
# An alarm is raised when a running score passes a threshold that is meant to stop no more than
# {glue:text}`ew-budget` % of the successful runs. On {glue:text}`ew-sets` sets with
# {glue:text}`ew-all-n` runs, structural RUPA stops failed runs earlier than the number of steps does on:
# {glue:text}`ew-delay-steps-lower`; later on: {glue:text}`ew-delay-steps-higher`; and the runs cannot
# tell on: {glue:text}`ew-delay-steps-open`. It is earlier than its own inputs without a graph (`flat`,
# the {term}`flat score`) on: {glue:text}`ew-delay-flat-lower`. On {glue:text}`ew-here` it stops
# {glue:text}`ew-s-caught` of the failed runs and {glue:text}`ew-s-false` of the successful ones, and a
# failed run goes on for {glue:text}`ew-s-delay` steps; with a coin that stops as many good runs at
# their first step it goes on for {glue:text}`ew-s-coin`. And a curve by shares of a run leaks its
# length: after a *tenth* of each run the number of steps so far, which has read nothing, already has
# an {term}`AUROC` of {glue:text}`ew-leak-tenth` there.
# ```

# %% [markdown]
# ## Cutting a run
#
# RUPA gives each step a {term}`risk`. It depends on what came before the step and on nothing later, so
# one pass over a run scores every prefix: the mean of the risks so far. A prefix ends with a step,
# before what that step will observe.
#
# We follow three scores as a run goes on: *structural* RUPA, which treats all steps as equally
# uncertain, so that only goal, observations and graph speak; `flat`, which has the same inputs and no
# graph; and the number of steps so far.
#
# One log is looked at closely on this page: {glue:text}`ew-origin`. A step's
# {term}`own uncertainty <local uncertainty>` there: {glue:text}`ew-source`. Beside it stand the other
# stored sets of public runs. A set of tau2 runs that students made is left out:
# {glue:text}`ew-students`. For a log of yours, with the stored sets beside it:
#
# ```bash
# tjlib rerun b5_early_warning -p traces my_runs.jsonl -p budget 0.2
# tjlib rerun b5_early_warning -p traces tau2
# ```

# %% tags=["parameters"]
traces: str = "features"  # features (the airline log), agentdojo, tau2, swe_agent, nemo_gym, or a log
embedder: str = "jaccard"  # jaccard (shared words), minilm, bge-m3 (the paper's), or a model's folder
signal: str = "auto"  # a step's own uncertainty: nll, entropy, constant (none); auto: nll if there is any
budget: float = 0.1  # share of successful runs that may raise a false alarm
draws: int = 2_000  # resamples of tasks behind each interval
seed: int = 0  # seed of all that is drawn

# %% tags=["hide-input"]
from tjlib import chapter, material

given = chapter.check(
    globals(), signal=material.SIGNALS,
    budget=lambda value: None if 0 <= value <= 0.5 else "give a share from 0 to 0.5",
    draws=lambda value: None if 100 <= value <= 20_000 else "give 100 to 20000",
)

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from tjlib import sentences, store, tables
from tjlib.charts import warning
from tjlib.charts.show import show
from tjlib.measure import by_task
from tjlib.measure.early import alarms, bins, precisions
from tjlib.measure.wins import changes
from tjlib.sentences import change, listed
from tjlib.studies import across, prefixes
from tjlib.uncertainty.crossfit import half

log = material.load(given.traces, [], given.embedder, given.signal)
sets = material.beside(given.traces, log)
HERE = next(iter(sets))
SOURCE = sentences.own(log.source, given.signal)
MADE = f"{log.origin}; similarity {given.embedder}; a step's own uncertainty: {SOURCE}"
BESIDE = "data/features, similarity jaccard, and the runs chosen at the top of this page"
ALONG = ("rupa_structural", "flat", "n_steps")
judged = {name: m.runs[m.runs["failed"].notna()] for name, m in sets.items()}
failed = {name: runs["failed"].astype(bool).to_numpy() for name, runs in judged.items()}

# %% tags=["hide-input"]
# The running scores of every judged run, by set and method; of the chosen set by all methods.
going = {}
for name, m in sets.items():
    known = m.runs["failed"].notna().to_numpy()
    extra = m.summed or [None] * len(known), m.evidence or [None] * len(known)
    every = [prefixes.running(*run) for run, j in zip(
        zip(m.graphs, m.local, *extra, strict=True), known, strict=True) if j]
    held = ALONG if name != HERE else [method for method in prefixes.METHODS
                                       if all(method in run for run in every) or method in ALONG]
    going[name] = {method: [run[method] for run in every] for method in held}
METHODS = list(going[HERE])


def table_of(measure, name, scores, among=None, **more):
    """Measure scores of some of a set's runs."""
    among = slice(None) if among is None else among
    found = measure({m: column[among] for m, column in scores.items()}, **more,
                    failed=failed[name][among], tasks=judged[name]["task"].to_numpy()[among],
                    rng=np.random.default_rng(given.seed), draws=given.draws)
    return {row["name"]: row for row in found.to_dict("records")}


def ranked(name, scores, among=None):
    """Measure AUROCs, how much better than the number of steps, and average precisions."""
    against = {m: "n_steps" for m in scores if m != "n_steps"}
    found = table_of(changes, name, scores, among, against=against)
    exact = table_of(precisions, name, scores, among)
    return {m: row | {"ap": exact[m]} for m, row in found.items()}


# %% tags=["hide-input"]
NONE = "undefined (this method has no score here)"


def say(row, digits=2):
    """Write an estimate for a sentence."""
    return sentences.estimate(row, digits) if row else NONE


def tidy(rows):
    """Lay rows out for the figures."""
    return pd.DataFrame(rows, columns=[
        "panel", "at", "series", "value", "lo", "hi", "shown", "published", "chance"]).astype(
        dict.fromkeys(("value", "lo", "hi", "published", "chance"), float))


def mark(row, panel, at, series, **more):
    """Make a mark of an estimate."""
    return {"panel": panel, "at": at, "series": series, "shown": tables.estimate(row),
            **{k: row[k] for k in ("value", "lo", "hi")}, **more}


chapter.text("ew-here", HERE)
chapter.text("ew-origin", log.origin)
chapter.text("ew-source", SOURCE)
chapter.number("ew-sets", len(sets), 0)
chapter.text("ew-all-n", f"{sum(map(len, judged.values())):,}")
chapter.text("ew-students", across.left_out())

# %% [markdown]
# ## Delay against false alarms
#
# An alarm is raised at the first step at which the running score is above a threshold. How is the
# threshold chosen? We give a budget, the share of successful runs that may be stopped for nothing (each
# a {term}`false alarm`), and take the lowest threshold that keeps to it among the successful runs of
# *one half of the tasks*. What we report is what it does on the other half, and the same the other way
# round. So the budget is a promise, and one can see how well it was kept.
#
# {numref}`fig-ew-delay` shows what the budget buys. Upwards is the {term}`detection delay`: the steps
# that a failed run goes on until its alarm or, if there is none, until it is over, so all failed runs
# count for every method. Across is the share of good runs that were really stopped, at several budgets.
# The dashed line is a coin that stops a share of all runs at their first step and no other run. A
# warning system has to lie below it.

# %% tags=["hide-input"]
BUDGETS = sorted({0.05, 0.1, 0.2, 0.3, 0.5, given.budget})
raised, held, minus = {}, {}, {}
for name, runs in judged.items():
    side = [half(task) for task in runs["task"]]
    for budget_now in BUDGETS:
        frames = {}
        for method, scores in going[name].items():
            found = raised[name, budget_now, method] = alarms(
                scores, failed[name], side, budget_now)
            frames[method] = by_task.split(found, failed[name]).add_prefix(f"{method}|")
        pairs = [("rupa_structural|failed|delay", f"{other}|failed|delay")
                 for other in ("n_steps", "flat")]
        table = by_task.means(pd.concat(frames.values(), axis=1), runs["task"],
                              np.random.default_rng(given.seed), pairs=pairs, draws=given.draws)
        for row in table.to_dict("records"):
            held[name, budget_now, row["what"]] = row

# %% tags=["hide-input"]
rows = []
for name in sets:
    lengths = judged[name]["steps"][failed[name]]
    rates = [held[name, b, f"{m}|successful|alarm"]["value"] or 0.0 for b in BUDGETS for m in ALONG]
    rows += [{"panel": name, "series": "coin", "rate": rate, "shown": "", "budget": "",
              "value": lengths.mean() * (1 - rate) + rate, "lo": None, "hi": None}
             for rate in (0.0, max(rates)) if len(lengths)]
    for method in ALONG:
        for b in BUDGETS:
            row = held[name, b, f"{method}|failed|delay"]
            rows.append({"panel": name, "series": prefixes.METHODS[method], "budget": f"{b:.0%}",
                         "rate": held[name, b, f"{method}|successful|alarm"]["value"],
                         "shown": tables.estimate(row, 1),
                         **{k: row[k] for k in ("value", "lo", "hi")}})
delays = pd.DataFrame(rows).astype(dict.fromkeys(("rate", "value", "lo", "hi"), float))


def way(row):
    """Tell which way a difference goes beyond its interval."""
    if row["lo"] is None:
        return "open"
    return "lower" if row["hi"] < 0 else "higher" if row["lo"] > 0 else "open"


for key, other in (("steps", "n_steps"), ("flat", "flat")):
    what = f"rupa_structural|failed|delay - {other}|failed|delay"
    for direction in ("lower", "higher", "open"):
        if (key, direction) != ("flat", "open"):
            chapter.text(f"ew-delay-{key}-{direction}", listed(
                [name for name in sets if way(held[name, given.budget, what]) == direction]))
chapter.number("ew-budget", 100 * given.budget, 0)
nemo = judged["NeMo Gym"]["steps"][failed["NeMo Gym"]]  # stored, so it stands on every such page
chapter.number("ew-nemo-median", nemo.median(), 0)
chapter.number("ew-nemo-long", nemo.max(), 0)

# %% mystnb={"figure": {"caption": "Steps until a failed run is stopped or over, against the share of successful runs stopped, one panel a set; intervals by whole tasks, thresholds set on the other half of the tasks. Lower is earlier. Dashed: a coin at the first step. Each panel has a scale of its own. Data: data/features and the runs chosen at the top of this page (measured here).", "name": "fig-ew-delay"}} tags=["hide-input"]
shown = delays[delays["series"] != "coin"]
show(warning.delays(delays), name="ew-delay",
     table=shown[["panel", "series", "budget", "rate", "shown"]],
     alt="A panel a set: the share of good runs stopped across, steps of failed runs upwards with "
         "intervals, one line a method, beside the dashed line of a coin.")

# %% tags=["hide-input"]
lines = []
for name in sets:
    of = lambda what, name=name: held[name, given.budget, what]  # noqa: E731
    for method in ALONG:
        others = [tables.estimate(of(f"rupa_structural|failed|delay - {other}|failed|delay"), 2)
                  for other in ("n_steps", "flat")] if method == "rupa_structural" else ["", ""]
        lines.append([name, prefixes.METHODS[method],
                      *(tables.estimate(of(f"{method}|{what}"), 2)
                        for what in ("failed|alarm", "successful|alarm")),
                      tables.estimate(of(f"{method}|failed|delay"), 1), *others])
tables.show(pd.DataFrame(lines, columns=[
    "set", "method", "failed runs stopped", "successful runs stopped", "delay, steps",
    "minus steps so far", "minus flat"]),
    f"Alarms at a budget of {given.budget:.0%} on every set: how many runs are stopped, how many "
    "steps failed runs go on, and that delay minus the delay of the controls.", BESIDE)

# %% [markdown]
# At a budget of {glue:text}`ew-budget` % structural RUPA lets failed runs go on for fewer steps than the
# number of steps does on {glue:text}`ew-delay-steps-lower`, and for more on
# {glue:text}`ew-delay-steps-higher`; for fewer than `flat` on {glue:text}`ew-delay-flat-lower`, and for
# more on {glue:text}`ew-delay-flat-higher`. Elsewhere the runs cannot tell.
#
# Three cautions. Not every method keeps to its budget on the other half of the tasks, and one that stops
# more good runs is earlier for that alone, so read the delay together with the column of successful
# runs stopped. Sets of many models pool them, and [the benchmark](b5_benchmark) shows what telling
# models apart is worth. And a few long runs can make the mean: half of NeMo Gym's failed runs have at
# most {glue:text}`ew-nemo-median` steps, the longest has {glue:text}`ew-nemo-long`, and whatever stops
# the longest few falls far below the coin there, a bare count of steps included.
#
# Why should counting steps warn at all? Where failed runs are longer than good ones, it warns of the
# right runs. But it cannot be early, since a run has to have been long first. Where failed runs are
# *shorter*, it warns of the wrong ones.
#
# ## By steps
#
# Somebody who watches asks: of the runs before me, which will fail? {numref}`fig-ew-steps` cuts all runs
# after the same number of steps and ranks those that are *still going*. The number of steps so far is
# the same for each of them, so its AUROC lies on the dashed line by construction; look for marks whose
# intervals stay above that line.
#
# {numref}`fig-ew-precision` has {term}`average precision` (the paper's AUPRC) of the same runs. The short
# dashed lines are what no knowledge gives: the share of these runs that fail. That share changes from
# cut to cut, so compare the distances to the lines and not the heights of two marks.
#
# After one step, all that structural RUPA has read is how far that step is from the goal.

# %% tags=["hide-input"]
CUTS = [("steps, still going", k) for k in prefixes.STEPS] + [
    ("steps, all runs", k) for k in prefixes.STEPS] + [("share", p) for p in prefixes.SHARES]
K = 4


def cut(name, kind, at):
    """Cut every run of a set and measure its methods."""
    scores = {m: prefixes.at_share(r, at) if kind == "share" else
              prefixes.at_steps(r, at, going="going" in kind) for m, r in going[name].items()}
    return ranked(name, scores)


cuts = {(name, kind, at): cut(name, kind, at) for name in sets for kind, at in CUTS
        if kind != "steps, all runs" or name == HERE}
STILL, ALL = "steps, still going", "steps, all runs"
for key, method in (("s", "rupa_structural"), ("o", "rupa"), ("flat", "flat")):
    chapter.text(f"ew-{key}-k", say(cuts[HERE, ALL, K].get(method)))
    chapter.text(f"ew-{key}-k-going", say(cuts[HERE, STILL, K].get(method)))
chapter.text("ew-s-first", say(cuts[HERE, ALL, 1]["rupa_structural"]))
chapter.text("ew-steps-whole", say(cuts[HERE, "share", 1.0]["n_steps"]))
chapter.text("ew-above", listed([name for name in sets if (
    cuts[name, STILL, K]["rupa_structural"]["lo"] or 0) > 0.5]))
chapter.text("ew-below", listed([name for name in sets if (
    row := cuts[name, STILL, K]["rupa_structural"])["hi"] is not None and row["hi"] < 0.5]))
chapter.text("ew-flat-above", listed([name for name in sets if (
    cuts[name, STILL, K]["flat"]["lo"] or 0) > 0.5]))
chapter.text("ew-leak-tenth", say(cuts[HERE, "share", 0.1]["n_steps"]))
chapter.number("ew-k", K, 0)
chapter.number("ew-left", cuts[HERE, STILL, K]["n_steps"]["n"], 0)

# %% mystnb={"figure": {"caption": "AUROC among runs still going after a number of steps, one panel a set, with intervals by whole tasks. Dashed: chance. Data: data/features and the runs chosen at the top of this page (measured here).", "name": "fig-ew-steps"}} tags=["hide-input"]
rows = tidy([mark(row, name, str(k), prefixes.METHODS[m]) for name in sets for k in prefixes.STEPS
             for m, row in cuts[name, STILL, k].items() if m in ALONG]).drop(columns="chance")
show(warning.curves(rows, "steps", "AUROC", 0.5), name="ew-steps",
     table=rows[["panel", "at", "series", "shown"]],
     alt="A panel a set: numbers of steps across, AUROC upwards with intervals for three methods, a "
         "dashed line at one half.")

# %% mystnb={"figure": {"caption": "Average precision among runs still going after a number of steps, one panel a set, with intervals by whole tasks. Short dashed lines: the share of these runs that fail, which no knowledge gives. Data: data/features and the runs chosen at the top of this page (measured here).", "name": "fig-ew-precision"}} tags=["hide-input"]
rows = tidy([mark(row["ap"], name, str(k), prefixes.METHODS[m], chance=row["ap"]["prevalence"])
             for name in sets for k in prefixes.STEPS
             for m, row in cuts[name, STILL, k].items() if m in ALONG and m != "n_steps"])
show(warning.curves(rows, "steps", "average precision"), name="ew-precision",
     table=rows[["panel", "at", "series", "shown", "chance"]],
     alt="A panel a set: numbers of steps across, average precision upwards with intervals for two "
         "methods, a short dashed line at the share of failures of each cut.")

# %% tags=["hide-input"]
lines = []
for (name, kind, at), found in cuts.items():
    steps = found["n_steps"]
    lines.append([name, f"{kind}: {at:.0%}" if kind == "share" else f"{kind}: {at}", steps["n"],
                  "none" if steps["ap"]["prevalence"] is None else f"{steps['ap']['prevalence']:.2f}",
                  *(tables.estimate(found[m], 2) for m in ALONG),
                  *(change(found[m], 2) for m in ALONG[:2]),
                  *(tables.estimate(found[m]["ap"], 2) for m in ALONG)])
tables.show(pd.DataFrame(lines, columns=[
    "set", "cut", "runs", "share that fail", *(f"AUROC, {prefixes.METHODS[m]}" for m in ALONG),
    *(f"{prefixes.METHODS[m]} minus steps" for m in ALONG[:2]),
    *(f"AP, {prefixes.METHODS[m]}" for m in ALONG)]),
    "Every cut of every set: AUROC, its difference to that of the number of steps so far, and "
    "average precision (AP).", BESIDE, folded=True)

# %% [markdown]
# Among the runs still going after {glue:text}`ew-k` steps, structural RUPA ranks failures better than
# chance, with an interval above one half, on {glue:text}`ew-above`, and worse on
# {glue:text}`ew-below`. `flat` does better than chance on {glue:text}`ew-flat-above`. The later one
# looks, the fewer runs are left, which the intervals show, and those that are left are the long ones.
#
# ## By share: the leak
#
# {numref}`fig-ew-share` cuts every run at a share of its own length, as part of the paper's Figure 3
# does for GAIA and Terminal-Bench with MiniMax-M2.7. That figure prints curves without values, so no
# hollow mark stands here; the whole runs at its right end are in the paper's Table 2, which
# [the benchmark](b5_benchmark) discusses.
#
# Look at the steps so far first. They have read nothing, yet after a tenth of each run of
# {glue:text}`ew-here` their AUROC is {glue:text}`ew-leak-tenth`, and after the whole
# {glue:text}`ew-steps-whole`. The reason is the cut itself: a tenth of a long run is more steps than a
# tenth of a short one, so the cut tells how long the run is going to be. Any score that grows with the
# number of steps is told the same, and RUPA's mean is one, since its risks rise over the first steps.
# Where long runs fail this flatters the curve, where short runs fail it hurts it, and in neither case
# does the curve say what could have been known at the time.

# %% mystnb={"figure": {"caption": "AUROC after a share of each run's steps, one panel a set, with intervals by whole tasks. Dashed: chance. The number of steps so far has read nothing. Data: data/features and the runs chosen at the top of this page (measured here).", "name": "fig-ew-share"}} tags=["hide-input"]
rows = tidy([mark(row, name, f"{p:.0%}", prefixes.METHODS[m]) for name in sets
             for p in prefixes.SHARES for m, row in cuts[name, "share", p].items()
             if m in ALONG]).drop(columns="chance")
show(warning.curves(rows, "share of the run's steps", "AUROC", 0.5), name="ew-share",
     table=rows[["panel", "at", "series", "shown"]],
     alt="A panel a set: shares of a run across, AUROC upwards with intervals for three methods, a "
         "dashed line at one half.")

# %% [markdown]
# ## Every method that runs along
#
# {numref}`fig-ew-methods` has all methods on {glue:text}`ew-here` after the same number of steps, in two
# readings. *All runs* keeps a run that is over with its last score, as the authors' code does; the
# number of steps so far then still knows which runs have ended. *Still going* compares only runs that
# are that long. Compare the circles with the squares of the same panel.
#
# SAUP {cite}`zhao2025saup` is here the root mean square of the steps' own uncertainty, of message and
# calls together. Its form weighted by distances reads the text of the steps, and so does TRACER
# {cite}`tayebati2026tracer`, whose risks are repetitions and gaps between messages. Stored numbers hold
# no text, so these two run along only where a log is given: {glue:text}`ew-text`.

# %% tags=["hide-input"]
missing = [prefixes.METHODS[m] for m in prefixes.OF_TEXT if m not in METHODS]
chapter.text("ew-text", f"not on these runs ({listed(missing)})" if missing else "both are below")

# %% mystnb={"figure": {"caption": "AUROC after a number of steps, one panel a method, with intervals by whole tasks. Circles: all runs, those that are over with their last score. Squares: runs still going. Dashed: chance. Data: the runs chosen at the top of this page (measured here).", "name": "fig-ew-methods"}} tags=["hide-input"]
rows = tidy([mark(cuts[HERE, kind, k][m], prefixes.METHODS[m], str(k), called) for m in METHODS
             for k in prefixes.STEPS for kind, called in ((ALL, "all runs"), (STILL, "still going"))
             ]).drop(columns="chance")
show(warning.curves(rows, "steps", "AUROC", 0.5), name="ew-methods",
     table=rows[["panel", "at", "series", "shown"]],
     alt="A panel a method: numbers of steps across, AUROC upwards with intervals, circles for all "
         "runs and squares for runs still going, a dashed line at one half.")

# %% [markdown]
# After one step structural RUPA has {glue:text}`ew-s-first`. After {glue:text}`ew-k` steps it has
# {glue:text}`ew-s-k` over all runs and {glue:text}`ew-s-k-going` over the {glue:text}`ew-left` still
# going; `flat` has {glue:text}`ew-flat-k` and {glue:text}`ew-flat-k-going`, and RUPA with own
# uncertainty {glue:text}`ew-o-k` and {glue:text}`ew-o-k-going`.
#
# {numref}`fig-ew-alarms` has the alarms of all these methods on the same runs: the share of failed runs
# stopped and, beside it, the share of successful runs stopped, which shows how well the budget was kept.
# A warning system earns its name where the first lies above the second by more than the intervals.

# %% mystnb={"figure": {"caption": "Share of failed and of successful runs with an alarm, by budget, one panel a method, thresholds set on the other half of the tasks, with intervals by whole tasks. Data: the runs chosen at the top of this page (measured here).", "name": "fig-ew-alarms"}} tags=["hide-input"]
WHO = {"failed|alarm": "failed runs stopped", "successful|alarm": "successful runs stopped"}
rows = tidy([mark(held[HERE, b, f"{m}|{what}"], prefixes.METHODS[m], f"{b:.0%}", called)
             for m in METHODS for b in BUDGETS for what, called in WHO.items()]).drop(columns="chance")
show(warning.curves(rows, "budget of false alarms", "share stopped"), name="ew-alarms",
     table=rows[["panel", "at", "series", "shown"]],
     alt="A panel a method: budgets across, shares of runs stopped upwards, circles for failed and "
         "squares for successful runs, with intervals.")

# %% tags=["hide-input"]
def about(method, what, digits=2):
    """Write what was measured of a method's alarms at the budget asked for."""
    return say(held.get((HERE, given.budget, f"{method}|{what}")), digits)


lines = []
for m in METHODS:
    at = raised[HERE, given.budget, m]["step"][failed[HERE]].dropna()
    lines.append([prefixes.METHODS[m], about(m, "failed|alarm"), about(m, "successful|alarm"),
                  about(m, "failed|delay", 1),
                  f"{at.median():g}" if len(at) else "undefined: no failed run stopped",
                  about(m, "failed|left", 1)])
for key, m in (("s", "rupa_structural"), ("o", "rupa"), ("flat", "flat"), ("steps", "n_steps")):
    chapter.text(f"ew-{key}-delay", about(m, "failed|delay", 1))
for key, m in (("s", "rupa_structural"), ("steps", "n_steps")):
    chapter.text(f"ew-{key}-caught", about(m, "failed|alarm"))
    chapter.text(f"ew-{key}-false", about(m, "successful|alarm"))
rate = held[HERE, given.budget, "rupa_structural|successful|alarm"]["value"]
length = judged[HERE]["steps"][failed[HERE]].mean()
chapter.number("ew-s-coin", None if rate is None else length * (1 - rate) + rate, 1)
tables.show(pd.DataFrame(lines, columns=[
    "method", "failed runs stopped", "successful runs stopped", "delay, steps",
    "median step of the alarm", "steps still to come"]),
    f"Alarms at a budget of {given.budget:.0%}: how many, how long failed runs go on, and for those "
    "stopped at which step and with how many still to come.", MADE)

# %% [markdown]
# At a budget of {glue:text}`ew-budget` % structural RUPA stops {glue:text}`ew-s-caught` of the failed
# runs and {glue:text}`ew-s-false` of the successful ones; the number of steps stops
# {glue:text}`ew-steps-caught` and {glue:text}`ew-steps-false`. With structural RUPA a failed run goes on
# for {glue:text}`ew-s-delay` steps. A coin that stops as many successful runs lets it go on for
# {glue:text}`ew-s-coin`; the number of steps for {glue:text}`ew-steps-delay`, `flat` for
# {glue:text}`ew-flat-delay`, and RUPA with own uncertainty for {glue:text}`ew-o-delay`. The table's last
# two columns describe only the runs that a method stops. These differ from method to method, so they do
# not compare the methods.
#
# ## At equal entropy
#
# The paper sorts GAIA runs of MiniMax-M2.7 into bins of about equal entropy. For the lowest bin it
# reports that RUPA has an AUROC of about {glue:text}`ew-p-auroc` and an AUPRC of about
# {glue:text}`ew-p-ap`, while token-level scores are at about one half.
#
# {numref}`fig-ew-bins` and, for average precision, {numref}`fig-ew-bins-ap` sort the runs of this page
# into five bins by the mean of their steps' own uncertainty. Hollow marks are the paper's. **Why they
# differ:** it is another agent on another benchmark, and the uncertainty is the one named at the top of
# this page. Within a bin the mean of own uncertainty has little left to rank by, but length still has
# something; so hold every other panel against that of the steps so far. A bin of fewer than
# {glue:text}`ew-least` runs, or of one outcome, has no mark, and the table says why.

# %% tags=["hide-input"]
LEAST = 10
ABOUT_HALF = 0.5  # section 5.3 says so of token-level scores, without a figure of its own
prose = store.published("rupa_prose_numbers").set_index("what")["value"]
printed = {"auroc": prose["GAIA lowest-entropy bin AUROC, RUPA (approximate)"],
           "ap": prose["GAIA lowest-entropy bin AUPRC, RUPA (approximate)"]}
whole = {m: prefixes.at_share(r, 1.0) for m, r in going[HERE].items()}
bin_of = bins(whole["sp_mean"][:, 0]) if "sp_mean" in whole else np.full(len(judged[HERE]), -1)
inside, lines = {}, []
for b in range(bin_of.max(initial=-1) + 1):
    among = np.flatnonzero(bin_of == b)
    bad = failed[HERE][among]
    why = (f"undefined: {len(among)} runs, fewer than {LEAST}" if len(among) < LEAST else
           "" if len(set(bad)) == 2 else "undefined: all of these runs ended alike")
    if not why:
        inside[b] = ranked(HERE, whole, among)
    lines.append([f"Q{b + 1}", len(among), int(bad.sum()), *(
        why or f"{tables.estimate(inside[b][m], 2)}; {tables.estimate(inside[b][m]['ap'], 2)}"
        for m in METHODS)])
chapter.number("ew-p-auroc", printed["auroc"], 2)
chapter.number("ew-p-ap", printed["ap"], 2)
chapter.number("ew-least", LEAST, 0)
for key, m in (("o", "rupa"), ("s", "rupa_structural"), ("steps", "n_steps"), ("sp", "sp_mean")):
    chapter.text(f"ew-bin-{key}", say(inside[0].get(m)) if 0 in inside else
                 "undefined (no such bin to compare)")
    chapter.text(f"ew-bin-ap-{key}", say(inside[0][m]["ap"]) if 0 in inside and m in inside[0] else
                 "undefined (no such bin to compare)")
chapter.number("ew-bin-floor", inside[0]["n_steps"]["ap"]["prevalence"] if 0 in inside else None, 2)
hollow = {("rupa", 0): printed, ("sp_mean", 0): {"auroc": ABOUT_HALF},
          ("saup_rms", 0): {"auroc": ABOUT_HALF}}

# %% mystnb={"figure": {"caption": "AUROC within bins of about equal mean own uncertainty, the lowest on the left, with intervals by whole tasks, one panel a method. Hollow: the paper's approximate values for its lowest bin, on GAIA (published, rupa_prose_numbers.csv and the paper's detailed analysis). Dashed: chance. Data: the runs chosen at the top of this page (measured here).", "name": "fig-ew-bins"}} tags=["hide-input"]
rows = tidy([mark(row, prefixes.METHODS[m], f"Q{b + 1}", "runs of a bin",
                  published=hollow.get((m, b), {}).get("auroc"))
             for b, found in inside.items() for m, row in found.items()]).drop(columns="chance")
show(warning.curves(rows, "bin", "AUROC", 0.5), name="ew-bins",
     table=rows[["panel", "at", "shown", "published"]],
     alt="A panel a method: five bins across, AUROC upwards with intervals, hollow diamonds for "
         "the paper's values in the first, a dashed line at one half.") if inside else print(
    "Without own uncertainty, or with too few runs of both outcomes, there are no bins to compare.")

# %% mystnb={"figure": {"caption": "Average precision within the same bins, with intervals by whole tasks, one panel a method. Short dashed lines: the share of a bin's runs that failed. Hollow: the paper's approximate value for its lowest bin, on GAIA (published, rupa_prose_numbers.csv). Data: the runs chosen at the top of this page (measured here).", "name": "fig-ew-bins-ap"}} tags=["hide-input"]
rows = tidy([mark(row["ap"], prefixes.METHODS[m], f"Q{b + 1}", "runs of a bin",
                  chance=row["ap"]["prevalence"], published=hollow.get((m, b), {}).get("ap"))
             for b, found in inside.items() for m, row in found.items()])
show(warning.curves(rows, "bin", "average precision"), name="ew-bins-ap",
     table=rows[["panel", "at", "shown", "chance", "published"]],
     alt="A panel a method: five bins across, average precision upwards with intervals, a short "
         "dashed line at the share that failed, a hollow diamond for the paper's value.") if (
    inside) else print("No bins, no average precision within them.")

# %% tags=["hide-input"]
tables.show(pd.DataFrame(lines, columns=["bin", "runs", "failed", *(
    prefixes.METHODS[m] for m in METHODS)]),
    "AUROC, then average precision, within bins of about equal mean own uncertainty.", MADE,
    folded=True) if lines else print("No own uncertainty, no bins.")

# %% [markdown]
# In the lowest bin RUPA with own uncertainty has an AUROC of {glue:text}`ew-bin-o` and an average
# precision of {glue:text}`ew-bin-ap-o`; the structural form {glue:text}`ew-bin-s` and
# {glue:text}`ew-bin-ap-s`; the mean of own uncertainty {glue:text}`ew-bin-sp` and
# {glue:text}`ew-bin-ap-sp`; and the number of steps {glue:text}`ew-bin-steps` and
# {glue:text}`ew-bin-ap-steps`. Of the bin's runs {glue:text}`ew-bin-floor` failed, and that is the
# average precision of a score that knows nothing. The paper gives neither the number of steps nor the
# share of failures for its bins.
#
# ## What would change our mind
#
# - A set on which structural RUPA's delay is below that of the number of steps *and* below that of
#   `flat` at the same budget, with intervals by task. Here it is below that of the steps on
#   {glue:text}`ew-delay-steps-lower`, and below that of `flat` on {glue:text}`ew-delay-flat-lower`.
# - RUPA above `flat` among the runs *still going* after a few steps, with an interval by task. That
#   would be an early warning that the inputs alone do not give.
# - The paper's curves by steps, over runs still going, with the number of runs behind each point.
#
# A warning stops a run. A score could also steer one: of several next calls, take the least risky.
# Whether that helps is the question of [the next chapter](b5_guided_sampling).

# %% tags=["hide-input"]
lengths_here = [len(run) for run in going[HERE]["n_steps"]]
mean_length = judged[HERE]["steps"][failed[HERE]].mean() if failed[HERE].any() else None
chapter.number("ew-x-short", min(lengths_here, default=None), 0)
chapter.number("ew-x-long", max(lengths_here, default=None), 0)
chapter.text("ew-x-going", say(cuts[HERE, STILL, K]["n_steps"]))
chapter.number("ew-x-length", mean_length, 1)

# %% [markdown]
# ## Exercises
#
# ```{exercise} A tenth of a run
# :label: b5-tenth
# :nonumber:
# The shortest run here has {glue:text}`ew-x-short` steps, the longest {glue:text}`ew-x-long`. After
# how many steps does a tenth end in each, and what does that give away?
# ```

# %%
from tjlib import exercises

tenths = None  # two numbers of steps, (shortest, longest)
print(exercises.check("b5-tenth", tenths, steps=lengths_here))

# %% [markdown]
# ```{solution-start} b5-tenth
# :class: dropdown
# ```

# %%
for steps in (min(lengths_here, default=0), max(lengths_here, default=0)):
    counted = [np.arange(1.0, steps + 1)]  # the number of steps so far, at each step
    print(f"{steps} steps: a tenth ends after {prefixes.at_share(counted, 0.1).item():g}")

# %% [markdown]
# Who sees how many steps a tenth has knows the length of the run to within ten steps, before the run has
# gone there.
#
# ```{solution-end}
# ```
#
# ```{exercise} One number for all
# :label: ew-same
# :nonumber:
# Among the runs still going after {glue:text}`ew-k` steps the number of steps so far has an AUROC of
# {glue:text}`ew-x-going`. Could it be anything else?
# ```
#
# ```{solution} ew-same
# :class: dropdown
# No. It is {glue:text}`ew-k` for each of them, and ties count one half. Where no failed or no
# successful run is left, it is undefined.
# ```
#
# ```{exercise} Half of the tasks
# :label: ew-half
# :nonumber:
# Why is the threshold not simply set on all the successful runs there are?
# ```
#
# ```{solution} ew-half
# :class: dropdown
# Then the budget would be kept by construction, on the very runs it was set on, and nobody would know
# whether it holds on the next task. A threshold set on one half can be seen to fail on the other.
# ```
#
# ```{exercise} A coin at the first step
# :label: b5-delay
# :nonumber:
# Failed runs of {glue:text}`ew-here` have {glue:text}`ew-x-length` steps on average. A coin stops
# {glue:text}`ew-budget` % of all runs at their first step. What is its detection delay?
# ```

# %%
coins_delay = None  # a number of steps, to one digit
print(exercises.check("b5-delay", coins_delay, length=mean_length, budget=given.budget))

# %% [markdown]
# ```{solution-start} b5-delay
# :class: dropdown
# ```

# %%
print("undefined here: no run failed" if mean_length is None else
      f"{given.budget:g} x 1 + {1 - given.budget:g} x {mean_length:.1f} = "
      f"{given.budget + (1 - given.budget) * mean_length:.1f}")

# %% [markdown]
# The runs it stops have made one step, the others go on to their end. Its false alarms are the same
# share, for a coin cannot tell good runs from bad: this is a point on the dashed line of
# {numref}`fig-ew-delay`.
#
# ```{solution-end}
# ```
#
# ```{exercise} The newest step
# :label: ew-slow
# :nonumber:
# A mean over the steps so far moves slowly. Predict what happens if the alarm watches the risk of the
# newest step alone, at the same budget. Then look.
# ```
#
# ```{solution-start} ew-slow
# :class: dropdown
# ```

# %%
from tjlib.uncertainty.propagate import propagate
from tjlib.uncertainty.signals import Local

known = sets[HERE].runs["failed"].notna()
newest = [propagate(graph, Local((0.0,) * len(graph.agent), "constant")).r
          for graph, j in zip(sets[HERE].graphs, known, strict=True) if j]
for called, scores in (("mean so far", going[HERE]["rupa_structural"]), ("newest step", newest)):
    rung = alarms(scores, failed[HERE], [half(t) for t in judged[HERE]["task"]], given.budget)
    for who, some in (("failed", failed[HERE]), ("successful", ~failed[HERE])):
        print(f"{called}: alarms in {rung['alarm'][some].mean():.2f} of the {who} runs, "
              f"the median at step {rung['step'][some].median():g}")

# %% [markdown]
# One would expect earlier alarms, for a risky step is no longer averaged with the calm ones before it.
# But the threshold moves too: it is set by the peaks of the same quantity among successful runs, and
# those are higher. The budget is the same for both, so compare the lines by all three numbers: failed
# runs stopped, good runs stopped, and when.
#
# ```{solution-end}
# ```
#
# ```{exercise} Equal entropy
# :label: ew-entropy
# :nonumber:
# In a bin of equal entropy a score has a high AUROC. Name the control without which that says little
# about graphs.
# ```
#
# ```{solution} ew-entropy
# :class: dropdown
# The number of steps, and `flat`. Equal mean entropy does not mean equal length, and a bin of similar
# entropy may still hold short successes and long failures.
# ```
