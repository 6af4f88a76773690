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
# # Does it beat length?
#
# **The claim.** A score that ranks failed runs above successful ones has not shown that it
# understands anything until it is compared with what costs nothing: how long the run was, and the
# method's own inputs without its graph. Section 5 of *From Sequence to Structure*
# ([arXiv 2608.16002](https://arxiv.org/abs/2608.16002)) compares RUPA with other scores and with
# neither of these. This chapter does, for every score of this library that a log allows, in three
# forms: all pairs of a failed and a successful run, only pairs of the same length, only pairs of the
# same task. No parameter was set on an outcome.
#
# ```{admonition} In one minute
# {glue:text}`b5-n` runs, {glue:text}`b5-failed` of them failed. Structural RUPA, which reads no
# probabilities, has an AUROC of {glue:text}`b5-structural`; the number of steps,
# {glue:text}`b5-steps`; the same inputs without the graph (`flat`), {glue:text}`b5-flat`. The
# difference to the number of steps is {glue:text}`b5-minus-steps`, to `flat`
# {glue:text}`b5-minus-flat`: {glue:text}`b5-verdict`. Its scores follow length with a rank
# correlation of {glue:text}`b5-follows`. With the steps' own uncertainty put in, RUPA has
# {glue:text}`b5-rupa`.
# ```

# %% [markdown]
# ## What is scored
#
# Unless you bring a log, the runs are those of [the chapter on local signals](b3_local_signals):
# tau-bench's airline desk, four trials of each of fifty tasks, with rewards. Their text is not ours
# to keep, so the page computes with stored numbers. Where a method needs token probabilities it is
# given those of a small model that read the runs afterwards, the surrogate; the agent's own were not
# logged. Other public runs are stored by name, and [a section below](across-sets) compares them; no
# surrogate read them. A log of yours brings its own probabilities, or has none, and then the methods
# that need them say so:
#
# ```bash
# tjlib rerun b5_benchmark -p traces my_runs.jsonl
# tjlib rerun b5_benchmark -p traces agentdojo
# ```
#
# Read on this page: {glue:text}`b5-origin`. A step's own uncertainty:
# {glue:text}`b5-source`. Brackets are 95 % intervals in which whole tasks were drawn, all trials of
# a task together.

# %% tags=["parameters"]
traces: str = "features"  # features (the airline log), agentdojo, tau2, swe_agent, nemo_gym, or a log
embedder: str = "jaccard"  # jaccard (shared words), minilm, bge-m3 (the paper's), or a model's folder
signal: str = "entropy"  # of the surrogate's tokens: entropy or nll; a log with probabilities has nll
draws: int = 2_000  # resamples of tasks behind each interval
seed: int = 0  # seed of all that is drawn

# %% tags=["hide-input"]
from tjlib import chapter

given = chapter.check(
    globals(), signal=("entropy", "nll"),
    draws=lambda value: None if 100 <= value <= 20_000 else "give 100 to 20000",
    seed=lambda value: None if value >= 0 else "give 0 or more",
)

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from tjlib import benchmark, material, tables
from tjlib.charts import analysis, signals
from tjlib.charts.show import show
from tjlib.uncertainty.methods import METHODS

AGAINST = [("rupa_structural", "n_steps"), ("rupa_structural", "flat"), ("rupa", "n_steps"),
           ("rupa", "flat_u"), ("rupa_calibrated", "rupa"),
           ("rupa_structural_calibrated", "rupa_structural")]
PANELS = {"auroc": "all pairs", "auroc|same_length": "pairs of the same length",
          "auroc|same_task": "pairs of one task"}
TOLD = "the surrogate's entropy" if given.signal == "entropy" else "the surrogate's surprise"

# %% tags=["hide-input"]
runs = benchmark.load(given.traces, given.embedder, given.signal)
ranked = benchmark.ranked(runs.scores, AGAINST, np.random.default_rng(given.seed), given.draws)
SOURCE = {"surrogate": f"{TOLD} (SmolLM2), nats a token",
          "logprob": "the agent's own log-probabilities, nats a token",
          "constant": "none in this log"}[runs.source]
MADE = f"{runs.origin}; similarity {given.embedder}; a step's own uncertainty: {SOURCE}"
by_name = {(row["method"], row["metric"]): row for row in ranked.to_dict("records")}


def say(method, metric="auroc"):
    """Write an estimate for a sentence."""
    text = tables.estimate(by_name[method, metric], 2)
    return text.replace("undefined: ", "undefined (") + ")" * text.startswith("undefined: ")


def apart(name, metric="auroc"):
    """Tell whether a difference is told apart from nothing."""
    row = by_name[name, metric]
    if pd.isna(row["lo"]):
        return "which cannot be told here"
    return "told apart from 0" if row["lo"] > 0 or row["hi"] < 0 else "not told apart from 0"


chapter.text("b5-origin", runs.origin)
chapter.text("b5-source", SOURCE)
chapter.number("b5-n", ranked["n"].iloc[0], 0)
chapter.number("b5-failed", ranked["n_failed"].iloc[0], 0)
for key, name in (("structural", "rupa_structural"), ("steps", "n_steps"), ("flat", "flat"),
                  ("rupa", "rupa"), ("minus-steps", "rupa_structural - n_steps"),
                  ("minus-flat", "rupa_structural - flat"), ("random", "random"),
                  ("rupa-flat", "rupa - flat_u"), ("calibration", "rupa_calibrated - rupa"),
                  ("sp", "sp_mean")):
    chapter.text(f"b5-{key}", say(name))
    chapter.text(f"b5-{key}-length", say(name, "auroc|same_length"))
    chapter.text(f"b5-{key}-task", say(name, "auroc|same_task"))
chapter.text("b5-follows", say("rupa_structural", "rank_correlation|length"))
chapter.text("b5-sp-follows", say("sp_mean", "rank_correlation|length"))
chapter.text("b5-verdict", f"the first is {apart('rupa_structural - n_steps')}, the second "
                           f"{apart('rupa_structural - flat')}")

# %% [markdown]
# ## Every method on the same runs
#
# {numref}`fig-b5-auroc` has an AUROC a row: the share of pairs, one failed and one successful run,
# in which the failed one has the higher score. The dashed line is a coin. Scores stand as their
# papers write them, so a row left of the line ranks the wrong way round, and is not turned. The
# controls stand below: flat scores, counts, random numbers.
#
# The names are those of `tjlib uq`; the folded table says in a line what each is.
#
# The three columns ask three questions. Over all pairs a score may gain by telling hard tasks from
# easy ones, or long runs from short. Pairs of the same length take the second away, pairs of one task
# the first; both leave few pairs, which the intervals show.

# %% mystnb={"figure": {"caption": "AUROC of every method with intervals by whole tasks. Dashed: chance. Higher ranks failed runs higher. Data: the runs chosen at the top of this page.", "name": "fig-b5-auroc"}} tags=["hide-input"]
single = ranked[~ranked["method"].str.contains(" - ", regex=False)]
dots = single[single["metric"].isin(PANELS)].assign(
    panel=lambda rows: rows["metric"].map(PANELS), signal=lambda rows: rows["method"],
    shown=lambda rows: [tables.estimate(row) for row in rows.to_dict("records")],
    published=None, where="")
dots = dots.astype(dict.fromkeys(("value", "lo", "hi", "published"), float))
show(signals.forest(dots), name="b5-auroc", table=dots[["panel", "signal", "shown"]],
     alt="Three panels, one row a method: a point for its AUROC with an interval, beside a dashed "
         "line at one half.")

# %% tags=["hide-input"]
COLUMNS = {"auroc": "AUROC", "average_precision": "AP", "best_f1": "best F1", "prr": "PRR",
           "auroc|same_length": "same length", "auroc|same_task": "same task",
           "rank_correlation|length": "correlation with length"}
silent = [m for m in dict.fromkeys(single["method"])
          if all(pd.isna(by_name[m, metric]["value"]) for metric in COLUMNS)]
shown = [m for m in dict.fromkeys(single["method"]) if m not in silent]
chance = {metric: by_name["random", metric]["chance"] for metric in COLUMNS}
WHAT = {"rupa_calibrated": "rupa, relations weighed by equation 6, fitted on the other half",
        "rupa_structural_calibrated": "rupa_structural, likewise",
        **{name: method.__doc__.splitlines()[0] for name, method in METHODS.items()}}
rows = [[m, WHAT[m], *(tables.estimate(by_name[m, metric], 2) for metric in COLUMNS),
         f"{by_name[m, 'auroc']['n']} of {len(runs.scores['trajectory_id'].unique())}"]
        for m in shown]
rows.append(["(no knowledge)", "", *(f"{c:.2f}" if pd.notna(c) else "none"
                                 for c in chance.values()), ""])
tables.show(pd.DataFrame(rows, columns=["method", "what it is", *COLUMNS.values(), "runs compared"]),
            "Every method that has a score, and what no knowledge gives: AP's is the share of "
            "failures, best F1's what calling every run failed gives. Best F1 is chosen on these "
            "very runs.", MADE, folded=True)

# %% tags=["hide-input"]
reasons = runs.scores[runs.scores["value"].isna()].groupby(["method", "why"], sort=False).size()
missing = pd.DataFrame([(m, f"{n} of {len(runs.scores['trajectory_id'].unique())}", why)
                        for (m, why), n in reasons.items()],
                       columns=["method", "runs without a score", "why"])
tables.show(missing, "Scores that are missing, and why.", MADE) if len(missing) else print(
    "Every method has a score for every run.")

# %% [markdown]
# ## What the graph adds
#
# {numref}`fig-b5-minus` has the differences that decide. *Minus n_steps* asks whether the score
# knows more than length; *minus flat* whether graph, propagation and momentum add to the inputs they
# are made of, `flat_u` with the steps' own uncertainty among them; *calibrated minus uncalibrated*
# whether equation 6 earns its place, fitted without outcomes on the other half of the tasks.

# %% mystnb={"figure": {"caption": "Differences in AUROC with intervals by whole tasks, over all pairs and over pairs of the same length. Dashed: no difference. Data: the runs chosen at the top of this page.", "name": "fig-b5-minus"}} tags=["hide-input"]
minus = ranked[ranked["method"].str.contains(" - ", regex=False)
               & ranked["metric"].isin(["auroc", "auroc|same_length"])]
minus = minus.assign(
    panel=minus["metric"].map(PANELS), label=minus["method"], published=None,
    shown=[tables.estimate(row) for row in minus.to_dict("records")])
minus = minus.astype(dict.fromkeys(("value", "lo", "hi", "published"), float))
show(analysis.forest(minus, "difference in AUROC", shared=True), name="b5-minus",
     table=minus[["panel", "label", "shown"]],
     alt="Two panels, one row a difference: a point with an interval beside a dashed line at 0.")

# %% [markdown]
# Structural RUPA minus the number of steps is {glue:text}`b5-minus-steps` over all pairs and
# {glue:text}`b5-minus-steps-length` over pairs of the same length, where the number of steps knows
# nothing. Minus `flat` it is {glue:text}`b5-minus-flat` and {glue:text}`b5-minus-flat-length`. With
# the steps' own uncertainty, RUPA minus the same inputs without a graph is
# {glue:text}`b5-rupa-flat`. Calibration moves it by {glue:text}`b5-calibration`.
#
# A caution on the steps' own uncertainty. Its plain mean (`sp_mean`) has an AUROC of
# {glue:text}`b5-sp` and follows length with {glue:text}`b5-sp-follows`. Where the second is
# negative, longer runs hold more that a reader has seen before, so each token surprises less, and a
# mean falls with length; if longer runs fail more often, it then ranks the wrong way round. That is a
# finding about a stand-in model, and a warning about any mean over a run.
#
# ## Under other readings
#
# Neither the similarity nor what a step's uncertainty is read off is fixed by the paper for this
# log. The table has all four combinations that we hold, so that nobody has to wonder which was chosen.

# %% tags=["hide-input"]
lines = []
for by in ("jaccard", "minilm") if given.traces in (material.STORED, "tau_airline") else ():
    for measure in ("entropy", "nll"):
        other = benchmark.load(material.STORED, by, measure)
        table = benchmark.ranked(other.scores, AGAINST, np.random.default_rng(given.seed),
                                 min(given.draws, 1000))
        held = {(row["method"], row["metric"]): row for row in table.to_dict("records")}
        lines.append([by, measure, *(tables.estimate(held[name, "auroc"], 2) for name in (
            "rupa", "rupa_structural", "flat", "rupa_structural - n_steps",
            "rupa_structural - flat", "rupa - flat_u"))])
readings = pd.DataFrame(lines, columns=[
    "similarity", "own uncertainty", "rupa", "rupa_structural", "flat",
    "rupa_structural - n_steps", "rupa_structural - flat", "rupa - flat_u"])
tables.show(readings, "AUROC over all pairs under other readings.", runs.origin) if lines else print(
    "These runs are scored as asked for at the top; rerun with another -p embedder.")

# %% [markdown]
# (across-sets)=
# ## Does it beat length elsewhere?
#
# The same question on public runs of other agents, whatever was chosen at the top, by methods that
# read no probabilities, with shared words as similarity. Four columns: all pairs; pairs of one model,
# since models fail at very different rates; pairs of one length; pairs of one task. `model` is no
# method. It scores a run by the share of its own model's runs that failed, so it has seen the
# outcomes; what it reaches over all pairs is what telling models apart is worth.
#
# Structural RUPA minus the number of steps, over all pairs, lies above 0 on
# {glue:text}`b5-sets-above`, below 0 on {glue:text}`b5-sets-below`, and is not told apart from 0 on
# {glue:text}`b5-sets-open`; inside one model it is {glue:text}`b5-tau2-one-model` on tau2. Minus
# `flat`, its own inputs without the graph: above on {glue:text}`b5-flat-above`, below on
# {glue:text}`b5-flat-below`, not told apart on {glue:text}`b5-flat-open`. Length itself ranks
# {glue:text}`b5-steps-agentdojo` on AgentDojo, where the runs that give up early are those that
# fail, {glue:text}`b5-steps-tau2` on tau2 and {glue:text}`b5-steps-swe` on SWE-agent. Beating it
# where it ranks the wrong way round is not hard: on AgentDojo `fewer_steps` has
# {glue:text}`b5-fewer-agentdojo`, structural RUPA {glue:text}`b5-ours-agentdojo`. `nemo_gym` is a
# patchwork of environments of a few runs each, here as a test of reading them; several of
# AgentDojo's models are one model behind several defences.

# %% tags=["hide-input"]
PAIRS_OF = {"auroc": "all pairs", "auroc|same_model": "one model",
            "auroc|same_length": "one length", "auroc|same_task": "one task"}
across = benchmark.across([("rupa_structural", "n_steps"), ("rupa_structural", "flat")],
                          given.seed, min(given.draws, 1000))
cell = {(row["set"], row["method"], row["metric"]): row for row in across.to_dict("records")}


def cells(name, method):
    """Write a row's four estimates."""
    out = []
    for metric in PAIRS_OF:
        row = cell.get((name, method, metric))
        out.append("one model only" if row is None else
                   "0.50 by definition" if (method, metric) == ("n_steps", "auroc|same_length")
                   else tables.estimate(row, 2) if row["pairs"] else row["why"])
    return out


rows = [[name, f"{part['n'].iloc[0]}, {part['n_failed'].iloc[0]}, {part['models'].iloc[0]}",
         method, *cells(name, method)]
        for (name, method), part in across.groupby(["set", "method"], sort=False)]
for key, other in (("sets", "n_steps"), ("flat", "flat")):
    found = {"above": [], "below": [], "open": []}
    for name in dict.fromkeys(across["set"]):
        row = cell[name, f"rupa_structural - {other}", "auroc"]
        if " without " not in name and pd.notna(row["lo"]):
            found["above" if row["lo"] > 0 else "below" if row["hi"] < 0 else "open"].append(name)
    for where, names in found.items():
        chapter.text(f"b5-{key}-{where}", ", ".join(names) or "none")
for key, name in (("agentdojo", "agentdojo"), ("tau2", "tau2"), ("swe", "swe_agent")):
    chapter.text(f"b5-steps-{key}", tables.estimate(cell[name, "n_steps", "auroc"], 2))
chapter.text("b5-tau2-one-model", tables.estimate(
    cell["tau2", "rupa_structural - n_steps", "auroc|same_model"], 2))
chapter.text("b5-ours-agentdojo",
             tables.estimate(cell["agentdojo", "rupa_structural", "auroc"], 2))
chapter.number("b5-fewer-agentdojo", 1 - cell["agentdojo", "n_steps", "auroc"]["value"], 2)
tables.show(pd.DataFrame(rows, columns=["set", "runs, failed, models", "method",
                                        *PAIRS_OF.values()]),
            "AUROC on stored public runs, with intervals by whole tasks. SWE-agent stands once more "
            "without the runs that hit its cost limit, tau2 without runs whose messages repeat "
            "another's.", "data/features; similarity jaccard; no probabilities", folded=True)

# %% [markdown]
# ## What would change our mind
#
# - A log, of any agent, on which length ranks failures rightly and RUPA minus the number of steps *and* RUPA minus `flat` lie above 0
#   with intervals by task. Bring it: that is what the parameter is for.
# - The agent's own log-probabilities. The surrogate's are another model's, and a method that needs
#   the agent's own doubt is not refuted by a reader's.
# - The same over pairs of one task with more than four trials a task. Here these pairs are few.
#
# ## Exercises

# %% tags=["hide-input"]
chapter.text("b5-x-fewer", say("fewer_steps"))
pairs = by_name["n_steps", "auroc"]["pairs"], by_name["n_steps", "auroc|same_length"]["pairs"]
chapter.number("b5-x-pairs", pairs[0], 0)
chapter.number("b5-x-same", pairs[1], 0)
chapter.text("b5-x-best", say("random", "best_f1"))
chapter.text("b5-x-floor", "none" if pd.isna(chance["best_f1"]) else f"{chance['best_f1']:.2f}")

# %% [markdown]
# 1. `fewer_steps` is `n_steps` negated. Work out its AUROC without looking.
#
# ```{admonition} Solution
# :class: dropdown
# One minus that of `n_steps` ({glue:text}`b5-steps`): {glue:text}`b5-x-fewer`. Ties count one half
# both ways.
# ```
#
# 2. Random numbers have a best F1 of {glue:text}`b5-x-best`. Is that good?
#
# ```{admonition} Solution
# :class: dropdown
# No: calling every run failed gives {glue:text}`b5-x-floor`. F1 ignores the runs called successful
# rightly, and the threshold was chosen on these runs.
# ```
#
# 3. Why are there {glue:text}`b5-x-pairs` pairs in one column and {glue:text}`b5-x-same` in the next?
#
# ```{admonition} Solution
# :class: dropdown
# A pair is a failed and a successful run; of all of them few have the same number of steps. Fewer
# pairs, wider interval: the price of taking length away.
# ```
#
# 4. A colleague resamples single runs and gets narrower intervals. Why are they wrong?
#
# ```{admonition} Solution
# :class: dropdown
# Four trials of one task are alike, so runs hold less information than their number says. Draw tasks,
# with all their trials.
# ```
