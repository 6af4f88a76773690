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
# **The claim.** A score that ranks failed runs above successful ones has shown nothing about what it
# understands until it is compared with what costs nothing: the length of the run, and the method's
# own inputs without its graph. Section 5 of *From Sequence to Structure* ([arXiv
# 2608.16002](https://arxiv.org/abs/2608.16002); {cite}`rupa2026`) compares its method, RUPA, with
# other scores and with neither of these. This chapter does, on public runs of many agents. No
# parameter of RUPA was set by looking at an outcome.
#
# ```{admonition} In one minute
# We compare structural RUPA, the form that needs no token probabilities, on {glue:text}`b5-sets`
# public sets of runs. It ranks failures better than **the number of steps** on
# {glue:text}`b5-length-above`; worse on {glue:text}`b5-length-below`; and
# {glue:text}`b5-length-open` of the {glue:text}`b5-length-n` comparisons cannot tell. Against
# **`flat`**, its own inputs without the graph, it is better on {glue:text}`b5-flat-above`; worse on
# {glue:text}`b5-flat-below`; and {glue:text}`b5-flat-open` of {glue:text}`b5-flat-n` cannot tell.
# Against **the best other score**, chosen on other tasks, it is better on
# {glue:text}`b5-best-above`; worse on {glue:text}`b5-best-below`; and {glue:text}`b5-best-open` of
# {glue:text}`b5-best-n` cannot tell. In print RUPA leads in {glue:text}`b5-p-led` of
# {glue:text}`b5-p-cells` cells, but neither length nor `flat` is among the scores it leads.
# ```
#
# ## The answer
#
# **RUPA** gives each step of a run a {term}`risk`: the step's own uncertainty, together with risk
# passed on along a {term}`graph of steps <relational graph>`. The score of a run is the mean over its
# steps; [the chapter on the graph](b4_relational_graph) has the equations. **Structural** RUPA leaves
# the steps' own uncertainty out, so it can be computed from any log. We set it against three things:
#
# - **length**, the number of steps (`n_steps`);
# - **`flat`**, the {term}`flat score`: the mean of RUPA's own inputs, which are how far the steps are
#   from the goal and how the tools answer, without graph, {term}`propagation` or {term}`momentum`;
# - **the best rival**: of all other scores that a log allows, the one that ranks best on other tasks.
#
# We measure a score by its **{term}`AUROC`**: of all pairs of one failed and one successful run, the
# share in which the failed one scores higher. A coin gets one half. The answer depends on which pairs
# are taken, so there are four kinds:
#
# - **all pairs**;
# - pairs of **one model**, since models fail at very different rates (on AgentDojo, of one model
#   behind one defence);
# - pairs of **one length**, where length knows nothing. There, "minus length" says how far RUPA is
#   above a coin;
# - pairs of **one task**, since some tasks are harder than others.
#
# The runs were published by others: tau-bench's airline desk {cite}`yao2024tau`, AgentDojo
# {cite}`debenedetti2024agentdojo`, tau2 {cite}`barres2025tau2`, SWE-agent {cite}`yang2024sweagent` on
# issues of SWE-bench {cite}`jimenez2024swebench`, and the example runs of NeMo Gym. The end of this
# page says where each can be had.
#
# {numref}`fig-b5-main` has one mark for each data set and kind of pairs. To the right of the dashed line
# RUPA ranks failures better than what is subtracted, to the left of it worse, and where an interval
# crosses the line these runs cannot tell. Look at the middle panel first: it shows what the graph
# adds. The hollow marks in the last panel are the paper's: for each of its six models on tau2, RUPA
# minus the highest of five rivals, picked on the very runs it is compared on, without intervals.

# %% tags=["parameters"]
traces: str = "features"  # features (the airline log), agentdojo, tau2, swe_agent, nemo_gym, or a log
embedder: str = "jaccard"  # jaccard (shared words), minilm, bge-m3 (the paper's), or a model's folder
signal: str = "auto"  # a step's own uncertainty: nll or entropy; auto: nll if there is any
draws: int = 2_000  # resamples of tasks behind each interval
seed: int = 0  # seed of all that is drawn

# %% tags=["hide-input"]
from tjlib import chapter

given = chapter.check(
    globals(), signal=("auto", "nll", "entropy"),
    draws=lambda value: None if 100 <= value <= 20_000 else "give 100 to 20000",
)

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from tjlib import features, material, packaged, scoring, sentences, store, tables
from tjlib.charts import analysis, signals
from tjlib.charts.benchmark import differences
from tjlib.charts.show import show
from tjlib.measure import printed
from tjlib.measure.inside import LEAST, MEAN
from tjlib.measure.ranking import auroc
from tjlib.studies import across, benchmark, bymodel, picktable, rivals
from tjlib.uncertainty.methods import METHODS

AGAINST = [("rupa_structural", "n_steps"), ("rupa_structural", "flat"), ("rupa", "n_steps"),
           ("rupa", "flat_u"), ("rupa_calibrated", "rupa"),
           ("rupa_structural_calibrated", "rupa_structural")]
PANELS = {"auroc": "all pairs", "auroc|same_length": "pairs of the same length",
          "auroc|same_task": "pairs of one task"}

# %% tags=["hide-input"]
runs = benchmark.load(given.traces, given.embedder, given.signal)
sets = across.stored(measure="nll" if given.signal == "auto" else given.signal)
if given.traces not in (material.STORED, *features.SETS) and runs.scores["success"].notna().any():
    sets["your log"] = runs.scores
OWN = "airline, own uncertainty"
every = pd.concat([
    *(rivals.against(scores, np.random.default_rng(given.seed), given.draws).assign(set=name)
      for name, scores in sets.items()),
    rivals.against(sets["tau_airline"], np.random.default_rng(given.seed), given.draws,
                   ours="rupa", flat="flat_u").assign(set=OWN)], ignore_index=True)
#: Sets that count once: neither a set's runs again, nor one with next to no failures.
COUNTED = [name for name in across.NAMES if " without " not in name and name != "tau2_students"]


def told(other, above):
    """Name the comparisons told apart from nothing on one side, and count them."""
    some = every[every["set"].isin(COUNTED) & (every["other"] == other) & every["lo"].notna()]
    some = some[some["lo"] > 0] if above else some[some["hi"] < 0]
    named = [f"{across.NAMES[name]} ({', '.join(rivals.CONTROLS[c] for c in part['control'])})"
             for name, part in some.groupby("set", sort=False)]
    return " and ".join(named) or "none", len(some)


for other in ("length", "flat", "best"):
    known = every[every["set"].isin(COUNTED) & (every["other"] == other) & every["lo"].notna()]
    (above, more), (below, less) = told(other, True), told(other, False)
    chapter.text(f"b5-{other}-above", above)
    chapter.text(f"b5-{other}-below", below)
    chapter.number(f"b5-{other}-n", len(known), 0)
    chapter.number(f"b5-{other}-open", len(known) - more - less, 0)
chapter.number("b5-sets", len(COUNTED), 0)
counted = int((every["set"].isin(COUNTED) & every["lo"].notna()).sum())
chapter.number("b5-counted", counted, 0)
chapter.number("b5-by-chance", 0.05 * counted, 1)
table2 = store.published("rupa_table2")
led = printed.leads(table2).query("benchmark != @printed.AVERAGE")
chapter.number("b5-p-cells", len(led), 0)
chapter.number("b5-p-led", led["leads"].sum(), 0)

# %% mystnb={"figure": {"caption": "AUROC of structural RUPA minus length, minus its own inputs without the graph, and minus the best rival, by data set and kind of pairs, with intervals by whole tasks; the row named for own uncertainty has the form of RUPA that uses it. Dashed: no difference; right of it RUPA ranks failures better. Hollow: printed, six models on tau2. Data: data/features (measured here); rupa_table2.csv in data/published (published).", "name": "fig-b5-main"}} tags=["hide-input"]
MINUS = {"length": "minus length", "flat": "minus flat", "best": "minus the best rival"}
main = every[~every["set"].isin(["tau2 without same_messages", "tau2_students"])]
main = main.assign(
    panel=main["other"].map(MINUS), pairs=main["control"].map(rivals.CONTROLS), published=None,
    set=main["set"].map(lambda name: across.NAMES.get(name, name)),
    shown=[f"{tables.estimate(row)} (minus {row['of']})" for row in main.to_dict("records")])
at_tau2 = led[led["benchmark"] == "tau2"]
hollow = pd.DataFrame([
    {"panel": MINUS["best"], "set": name, "pairs": "", "published": row["margin"],
     "shown": f"{row['margin']:+.3f}, printed for {row['model']} (minus {row['by']})"}
    for name in (OWN, across.NAMES["tau2"]) for row in at_tau2.to_dict("records")])
order = ["tau-bench airline", OWN, *main["set"]]
drawn = pd.concat([main, hollow], ignore_index=True).sort_values(
    "set", key=lambda names: names.map(order.index), kind="stable")
drawn["panel"] = pd.Categorical(drawn["panel"], list(MINUS.values()))
drawn = drawn.sort_values("panel", kind="stable")[
    ["panel", "set", "pairs", "value", "lo", "hi", "shown", "published"]]
drawn = drawn.astype(dict.fromkeys(("value", "lo", "hi", "published"), float) | {"panel": str})
show(differences(drawn), name="b5-main", table=drawn[["panel", "set", "pairs", "shown"]],
     alt="Three panels, minus length, minus flat, minus the best rival; in each a row a data set with "
         "up to four marks and intervals beside a dashed line at no difference.")

# %% tags=["hide-input"]
names = {(row["set"], row["control"], row["other"]): row for row in every.to_dict("records")}


def cut(name, control, other):
    """Write a difference for a sentence."""
    return tables.estimate(names[name, control, other])


for key, where in (("dojo-length", ("agentdojo", "length", "length")),
                   ("dojo-flat", ("agentdojo", "length", "flat")),
                   ("dojo-best", ("agentdojo", "pooled", "best")),
                   ("dojo-task", ("agentdojo", "task", "best")),
                   ("tau2-model", ("tau2", "model", "length")),
                   ("tau2-best", ("tau2", "model", "best")),
                   ("swe-length", ("swe_agent", "pooled", "length")),
                   ("swe-kept", ("swe_agent without exit_cost", "pooled", "length")),
                   ("own-length", (OWN, "pooled", "length")),
                   ("own-flat", (OWN, "pooled", "flat")), ("own-best", (OWN, "pooled", "best"))):
    chapter.text(f"b5-{key}", cut(*where))
chapter.text("b5-dojo-of", names["agentdojo", "pooled", "best"]["of"])
chapter.text("b5-tau2-of", names["tau2", "model", "best"]["of"])

# %% [markdown]
# **Intervals.** Bars and brackets are 95 % intervals by a {term}`bootstrap by task`: whole tasks are
# drawn, because the trials of one task are alike. The agents are not drawn, so the intervals speak of
# these agents. If nothing differed anywhere, about {glue:text}`b5-by-chance` of the {glue:text}`b5-counted`
# intervals drawn below would still leave out 0. Each table draws anew, so the same interval may end a hundredth elsewhere in
# another one. Texts are compared here by the words they share, whatever you choose for the log
# further down.
#
# **The best rival.** The candidates are the counts of steps, calls and words, each also negated; the
# shares of failing answers and of repeated calls; TRACER {cite}`tayebati2026tracer`, as far as a log
# allows; and on the airline runs, whose text a small model has read, every score that the paper
# compares with. Choosing the best of them on the very runs it is compared on would give it the luck of
# those runs. So it is chosen on one half of the tasks and compared on the other, both ways round, and
# both runs of a pair are from the same half. The choice is made anew for each kind of pairs, though not
# in each resample.
#
# **Length.** Length is easy to beat where it ranks the wrong way round. On AgentDojo the runs that
# fail are often those that give up early, and the best rival is {glue:text}`b5-dojo-of`: the same count
# read backwards. Minus that rival, structural RUPA is {glue:text}`b5-dojo-best` over all pairs and
# {glue:text}`b5-dojo-task` over pairs of one task. What remains is pairs of one length, where it is
# {glue:text}`b5-dojo-length` above a coin; but there `flat` does nearly as well, and RUPA minus `flat` is
# {glue:text}`b5-dojo-flat`. On tau2, over pairs of one model, RUPA minus length is
# {glue:text}`b5-tau2-model`, and minus the best rival ({glue:text}`b5-tau2-of`) it is
# {glue:text}`b5-tau2-best`. On SWE-agent RUPA minus length is {glue:text}`b5-swe-length`. Runs there
# that hit their cost limit all but give their outcome away; without them the difference is
# {glue:text}`b5-swe-kept`.
#
# **Own uncertainty.** The paper's RUPA uses the steps' own uncertainty. We can compute that form on the
# airline runs alone, and only with a stand-in: the agent's token probabilities were not logged, so a
# small model, the {term}`surrogate` {cite}`allal2025smollm2`, read the runs afterwards. In this form
# RUPA minus length is {glue:text}`b5-own-length`, minus the same inputs without a graph
# {glue:text}`b5-own-flat`, and minus the best rival {glue:text}`b5-own-best`.
#
# NeMo Gym is a patchwork of environments with a few runs each, most of them of one outcome only.
# {glue:text}`b5-own-logged` of its runs come with their own log-probabilities. It tests whether real
# logs can be read, and is weak evidence about scores. The students' tau2 has {glue:text}`b5-students`
# failures and stands in the folded tables alone.

# %% tags=["hide-input"]
chapter.number("b5-own-logged", sum(
    u.source == "logprob" for u in features.local(features.read("nemo_gym"), "nll")), 0)
chapter.number("b5-students", names["tau2_students", "pooled", "best"]["n_failed"], 0)
rows = []
for (name, control), part in every.groupby(["set", "control"], sort=False):
    of = {row["other"]: row for row in part.to_dict("records")}
    rows.append([across.NAMES.get(name, name), rivals.CONTROLS[control],
                 "" if pd.isna(of["flat"]["pairs"]) else f"{of['flat']['pairs']:,}",
                 *(tables.estimate(of[other]) for other in MINUS), of["best"]["of"]])
tables.show(pd.DataFrame(rows, columns=["set", "pairs of", "how many pairs", *MINUS.values(),
                                        "best rival, by half of the tasks"]),
            "Every difference of the figure, and of the sets it leaves out.",
            "data/features; similarity jaccard; intervals by whole tasks", folded=True)

# %% [markdown]
# ## Inside one model
#
# A ranking of runs of many models is in part a ranking of models. How much is that worth? `model` in
# the table below is no method: it scores each run by the share of its model's runs that failed, so it
# has seen the outcomes, and its AUROC over all pairs is what telling models apart brings.
#
# The other columns average AUROCs taken inside each model. A model counts once. AgentDojo's defences (a
# repeated prompt, a filter of tools, a detector, marked data) are set-ups of the model they stand
# around, and runs are compared within one set-up. A model with fewer than {glue:text}`b5-least` runs of
# either outcome has no value and no part in the mean.

# %% tags=["hide-input"]
INSIDE = {"rupa_structural": "structural RUPA", "flat": "flat", "n_steps": "n_steps",
          "failing_share": "failing_share", "repetition": "repetition"}
chapter.number("b5-least", LEAST, 0)
single = {name: scores for name, scores in sets.items() if " without " not in name}
pooled = across.measured(sets, [("rupa_structural", "n_steps"), ("rupa_structural", "flat")],
                         given.seed, min(given.draws, 1000))
cell = {(row["set"], row["method"], row["metric"]): row for row in pooled.to_dict("records")}
models, means, each = {}, [], []
for name, scores in single.items():
    table = bymodel.by_model(scores, list(INSIDE), np.random.default_rng(given.seed), given.draws)
    models[name] = table
    called, several = across.NAMES.get(name, name), table["model"].nunique() - 1
    for model, part in table.groupby("model", sort=False):
        first, values = part.iloc[0], [tables.estimate(row, 2) for row in part.to_dict("records")]
        line = [f"{first['n']:,}",
                f"{100 * first['rate']:.0f}\N{NO-BREAK SPACE}%" if first["n"] else "none"]
        if model == MEAN:
            means.append([called, ", ".join(line), f"{first['setups']} of {several}", *values[:3], *(
                tables.estimate(cell[name, m, "auroc"], 2) if (name, m, "auroc") in cell
                else "one model" for m in ("n_steps", "model"))])
        if model != MEAN if part["value"].notna().any() or table["value"].notna().any() else (
                model == MEAN):
            each.append([model if model != MEAN else f"{several} models", called, *line,
                         str(first["setups"]), *values])
tables.show(pd.DataFrame(means, columns=[
    "set", "runs, failed", "models averaged", *list(INSIDE.values())[:3], "all pairs: n_steps",
    "all pairs: model"]),
    "AUROC inside a model, averaged over models, and the trivial scores over all pairs; higher ranks "
    "failed runs higher.", "data/features; similarity jaccard; intervals by whole tasks")

# %% [markdown]
# Over all pairs length reaches {glue:text}`b5-steps-tau2` on tau2 and {glue:text}`b5-steps-swe` on
# SWE-agent, and knowing the model {glue:text}`b5-model-agentdojo` on AgentDojo. Averaged inside models,
# structural RUPA has {glue:text}`b5-inside-agentdojo` on AgentDojo and {glue:text}`b5-inside-tau2` on
# tau2; length has {glue:text}`b5-inside-steps-agentdojo` and {glue:text}`b5-inside-steps-tau2`.
#
# You can choose a set or a model in the next table, and sort by a column by pressing its head.

# %% tags=["hide-input"]
for key, name in (("tau2", "tau2"), ("swe", "swe_agent")):
    chapter.text(f"b5-steps-{key}", tables.estimate(cell[name, "n_steps", "auroc"], 2))
chapter.text("b5-model-agentdojo", tables.estimate(cell["agentdojo", "model", "auroc"], 2))
for name in ("agentdojo", "tau2"):
    held = models[name].query("model == @MEAN").set_index("method").to_dict("index")
    chapter.text(f"b5-inside-{name}", tables.estimate(held["rupa_structural"], 2))
    chapter.text(f"b5-inside-steps-{name}", tables.estimate(held["n_steps"], 2))
picktable.show(
    pd.DataFrame(each, columns=["model", "set", "runs", "failed", "set-ups", *INSIDE.values()]),
    "AUROC inside each agent model; higher ranks failed runs higher.",
    "data/features; similarity jaccard; intervals by whole tasks",
    picks={"set": across.NAMES["tau2"]}, columns=list(INSIDE.values()))

# %% tags=["hide-input"]
CONTROLLED = {"auroc": "all pairs", "auroc|same_model": "one model",
              "auroc|same_length": "one length", "auroc|same_task": "one task"}
rows = []
for name, method in pooled.groupby(["set", "method"], sort=False).groups:
    values = []
    for metric in CONTROLLED:
        row = cell.get((name, method, metric))
        values.append("one model only" if row is None else
                      "0.50 by definition" if (method, metric) == ("n_steps", "auroc|same_length")
                      else tables.estimate(row, 2) if row["pairs"] else row["why"])
    rows.append([across.NAMES.get(name, name), method, *values])
tables.show(pd.DataFrame(rows, columns=["set", "method", *CONTROLLED.values()]),
            "AUROC by set, method and kind of pairs; higher ranks failed runs higher.",
            "data/features; similarity jaccard; intervals by whole tasks", folded=True)

# %% [markdown]
# ## Every method on one log
#
# Unless you bring a log, the runs of this section and the next two are those of
# [the chapter on local signals](b3_local_signals): tau-bench's airline desk, four trials of each of
# fifty tasks, with rewards. Their text is not ours to keep, so the page computes with stored numbers.
# Methods that need token probabilities are given the surrogate's. A log of yours brings its own; if it
# has none, the methods that need them say so:
#
# ```bash
# tjlib rerun b5_benchmark -p traces my_runs.jsonl
# tjlib rerun b5_benchmark -p traces agentdojo
# ```
#
# Read on this page: {glue:text}`b5-origin`; {glue:text}`b5-n` runs, of which {glue:text}`b5-failed`
# failed. A step's {term}`own uncertainty <local uncertainty>`: {glue:text}`b5-source`. By default it is
# the mean of minus log probability over a step's tokens, in nats, here as well as in
# [early warning](b5_early_warning) and [the parts](b5_ablation). That needs the probability of the
# chosen token alone, which most logs that have any do hold; the entropy needs the whole distribution,
# and stands in a table below.
#
# Structural RUPA has an AUROC of {glue:text}`b5-structural`, the number of steps
# {glue:text}`b5-steps`, and `flat` {glue:text}`b5-flat-all`. RUPA minus steps is
# {glue:text}`b5-minus-steps`, minus `flat` {glue:text}`b5-minus-flat`: {glue:text}`b5-verdict`. Its
# rank correlation with length is {glue:text}`b5-follows`. With the steps' own uncertainty put in, RUPA
# has {glue:text}`b5-rupa`.

# %% tags=["hide-input"]
ranked = benchmark.ranked(runs.scores, AGAINST, np.random.default_rng(given.seed), given.draws)
SOURCE = sentences.own(runs.source, given.signal)
MADE = f"{runs.origin}; similarity {given.embedder}; a step's own uncertainty: {SOURCE}"
by_name = {(row["method"], row["metric"]): row for row in ranked.to_dict("records")}


def say(method, metric="auroc"):
    """Write an estimate for a sentence."""
    return sentences.estimate(by_name[method, metric])


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
for key, name in (("structural", "rupa_structural"), ("steps", "n_steps"), ("flat-all", "flat"),
                  ("rupa", "rupa"), ("minus-steps", "rupa_structural - n_steps"),
                  ("minus-flat", "rupa_structural - flat"), ("rupa-flat", "rupa - flat_u"),
                  ("calibration", "rupa_calibrated - rupa"), ("sp", "sp_mean")):
    chapter.text(f"b5-{key}", say(name))
for key, name in (("steps", "n_steps"), ("flat", "flat")):
    chapter.text(f"b5-minus-{key}-length", say(f"rupa_structural - {name}", "auroc|same_length"))
chapter.text("b5-follows", say("rupa_structural", "rank_correlation|length"))
chapter.text("b5-sp-follows", say("sp_mean", "rank_correlation|length"))
chapter.text("b5-verdict", f"the first is {apart('rupa_structural - n_steps')}, the second "
                           f"{apart('rupa_structural - flat')}")

# %% [markdown]
# {numref}`fig-b5-auroc` has the AUROC of every method, one a row; the dashed line is a coin. Each score
# stands as its paper writes it, so one to the left of the line ranks the wrong way round and is not
# turned. The controls stand at the bottom: counts, shares, random numbers. The names are those of
# `tjlib uq`, and the folded table says in a line what each is.
#
# The three columns ask three questions. Over all pairs a score may gain by telling hard tasks from
# easy ones, or long runs from short ones. Pairs of the same length take away the second, pairs of one
# task the first. Both leave few pairs, and the intervals show it.

# %% mystnb={"figure": {"caption": "AUROC of every method with intervals by whole tasks. Dashed: chance. Higher ranks failed runs higher. Data: the runs chosen at the top of this page (measured here).", "name": "fig-b5-auroc"}} tags=["hide-input"]
alone = ranked[~ranked["method"].str.contains(" - ", regex=False)]
dots = alone[alone["metric"].isin(PANELS) & ~alone["method"].str.startswith("fewer_")].assign(
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
silent = [m for m in dict.fromkeys(alone["method"])
          if all(pd.isna(by_name[m, metric]["value"]) for metric in COLUMNS)]
shown = [m for m in dict.fromkeys(alone["method"]) if m not in silent]
chance = {metric: by_name["random", metric]["chance"] for metric in COLUMNS}
WHAT = {"rupa_calibrated": "rupa, relations weighed by the paper's equation 6, fitted on the other half",
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
reasons = reasons.rename("runs").reset_index().groupby(["why", "runs"], sort=False)["method"]
missing = pd.DataFrame([(why, f"{n} of {len(runs.scores['trajectory_id'].unique())}",
                         "every method" if len(of) == runs.scores["method"].nunique()
                         else ", ".join(of)) for (why, n), of in reasons],
                       columns=["why", "runs without a score", "methods"])
tables.show(missing, "Scores that are missing, and why.", MADE) if len(missing) else print(
    "Every method has a score for every run.")

# %% [markdown]
# ## What the graph adds
#
# {numref}`fig-b5-minus` has the differences that decide. *Minus n_steps* asks whether the score knows
# more than length. *Minus flat* asks whether graph, propagation and momentum add to the inputs they are
# made of; `flat_u` has the steps' own uncertainty among them. *Calibrated minus not* asks whether
# equation 6 of the paper, which weighs {term}`relations <relation>`, earns its place when it is fitted
# without outcomes on the other half of the tasks.

# %% mystnb={"figure": {"caption": "Differences in AUROC with intervals by whole tasks, over all pairs and over pairs of the same length. Dashed: no difference. Data: the runs chosen at the top of this page (measured here).", "name": "fig-b5-minus"}} tags=["hide-input"]
minus = ranked[ranked["method"].str.contains(" - ", regex=False)
               & ranked["metric"].isin(["auroc", "auroc|same_length"])]
minus = minus.assign(
    panel=minus["metric"].map(PANELS), published=None, label=minus["method"].replace({
        "rupa_calibrated - rupa": "rupa: calibrated - not",
        "rupa_structural_calibrated - rupa_structural": "structural: calibrated - not"}),
    shown=[tables.estimate(row) for row in minus.to_dict("records")])
minus = minus.astype(dict.fromkeys(("value", "lo", "hi", "published"), float))
show(analysis.forest(minus, "difference in AUROC", shared=True), name="b5-minus",
     table=minus[["panel", "label", "shown"]],
     alt="Two panels, one row a difference: a point with an interval beside a dashed line at 0.")

# %% [markdown]
# Structural RUPA minus the number of steps is {glue:text}`b5-minus-steps` over all pairs and
# {glue:text}`b5-minus-steps-length` over pairs of the same length, where the number of steps knows
# nothing. Minus `flat` it is {glue:text}`b5-minus-flat` and {glue:text}`b5-minus-flat-length`. With the
# steps' own uncertainty, RUPA minus the same inputs without a graph is {glue:text}`b5-rupa-flat`.
# Calibration moves it by {glue:text}`b5-calibration`.
#
# A caution about the steps' own uncertainty. Its plain mean (`sp_mean`) has an AUROC of
# {glue:text}`b5-sp`, and its rank correlation with length is {glue:text}`b5-sp-follows`. Where that
# correlation is negative, a long run holds more that its reader has seen before, so each token
# surprises less and the mean falls. If long runs also fail more often, the mean ranks the wrong way
# round. This is a finding about a stand-in model, and a warning about any mean over a run.
#
# ## Under other readings
#
# The paper fixes neither the similarity nor the reading of a step's uncertainty for this log. The
# table has all four combinations that we hold, so you need not wonder which was chosen.

# %% tags=["hide-input"]
lines = []
for by in ("jaccard", "minilm") if given.traces in (material.STORED, "tau_airline") else ():
    for measure in ("nll", "entropy"):
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
# ## What the paper prints
#
# Table 2 of the paper has six models, three benchmarks and six methods: RUPA, the mean entropy, the
# sequence's probability, SAUP {cite}`zhao2025saup`, TRACER and UProp {cite}`duan2025uprop`. It prints
# AUROC; AUPRC, the area under precision over recall, close to our {term}`average precision`, whose
# level by chance is the share of failures; and {term}`F1` at a threshold that is not stated. AUROC does
# not depend on the share of failures, so we compare by it.
#
# By AUROC RUPA leads in {glue:text}`b5-p-led` of {glue:text}`b5-p-cells` cells. It does not lead in
# {glue:text}`b5-p-behind`: {glue:text}`b5-p-where`. By AUPRC the number of cells
# that it does not lead is {glue:text}`b5-p-behind-auprc`, by F1 {glue:text}`b5-p-behind-f1`. Does it lead
# every average over the benchmarks? {glue:text}`b5-p-average`. Neither intervals nor numbers of runs are
# printed, so the table alone cannot say which leads are more than noise; half of the AUROC leads are below
# {glue:text}`b5-p-median`.
#
# Choose in the menus, and sort by pressing a head. A triangle marks a method that is above RUPA, and the
# margin is RUPA minus the highest of the others.

# %% tags=["hide-input"]
MARK = "\N{NO-BREAK SPACE}▲"
NAMED = {"auroc": "AUROC", "auprc": "AUPRC", "f1": "F1"}
OTHERS = [name for name in dict.fromkeys(table2["method"]) if name != "RUPA"]
lines, behind = [], {}
for metric, called in NAMED.items():
    wide = table2.set_index(["model", "benchmark", "method"])[metric]
    found = printed.leads(table2, metric)
    behind[metric] = found[~found["leads"] & (found["benchmark"] != printed.AVERAGE)]
    for row in found.to_dict("records"):
        values = [wide[row["model"], row["benchmark"], name] for name in OTHERS]
        lines.append([row["model"], row["benchmark"], called, f"{row['ours']:.3f}",
                      f"{row['margin']:+.3f}", "yes" if row["leads"] else "no",
                      *(f"{v:.3f}{MARK * bool(v > row['ours'])}" for v in values)])
chapter.number("b5-p-behind", len(behind["auroc"]), 0)
chapter.text("b5-p-where", "; ".join(
    f"{row['model']} on {row['benchmark']} ({row['by']} {-row['margin']:+.3f})"
    for row in behind["auroc"].to_dict("records")))
for metric in ("auprc", "f1"):
    chapter.number(f"b5-p-behind-{metric}", len(behind[metric]), 0)
chapter.text("b5-p-average", "yes" if printed.leads(table2).query(
    "benchmark == @printed.AVERAGE")["leads"].all() else "no")
chapter.number("b5-p-median", led.loc[led["leads"], "margin"].median(), 3)
picktable.show(
    pd.DataFrame(lines, columns=["model", "benchmark", "metric", "RUPA", "margin",
                                 "RUPA leads", *OTHERS]),
    "The paper's Table 2; higher ranks failed runs higher.",
    "rupa_table2.csv in data/published, printed; averages are printed too",
    picks={"metric": "AUROC", "model": "", "benchmark": "", "RUPA leads": ""}, columns=OTHERS)

# %% [markdown]
# **The printed F1 is not always the largest one.** Call every run failed: recall is 1, precision is the share
# $p$ of failures, and so the largest F1 over all thresholds is at least
#
# ```{math}
# :label: eq-b5-floor
# F_1 \ge \frac{2p}{1 + p}.
# ```
#
# The paper does not print $p$. But an AUROC and an AUPRC of the same runs bound it from both sides, and
# in each cell all six methods are said to rank the same runs. Put the least possible $p$ into
# {eq}`eq-b5-floor`: in {glue:text}`b5-p-below` of {glue:text}`b5-p-cells` cells at least one printed F1
# is more than a hundredth below the result, and in {glue:text}`b5-p-below-all` cells all six are. A
# threshold chosen by another rule would explain that. The narrowest bounds are those of
# {glue:text}`b5-p-tight`, with $p$ between {glue:text}`b5-p-tight-least` and
# {glue:text}`b5-p-tight-most`. The bounds are our own, and exact for many runs only.

# %% tags=["hide-input"]
bounds = printed.shares(table2)
some = bounds[bounds["below"].str.len() > 0]
tight = bounds.loc[(bounds["most"] - bounds["least"]).idxmin()]
chapter.number("b5-p-below", len(some), 0)
chapter.number("b5-p-below-all", (some["below"].str.len() == len(OTHERS) + 1).sum(), 0)
chapter.text("b5-p-tight", f"{tight['model']} on {tight['benchmark']}")
chapter.number("b5-p-tight-least", tight["least"], 2)
chapter.number("b5-p-tight-most", tight["most"], 2)
tables.show(pd.DataFrame(
    [[row["model"], row["benchmark"], f"{row['least']:.2f} to {row['most']:.2f}",
      f"{row['forced']:.2f}", ", ".join(row["below"]) or "none"] for row in bounds.to_dict("records")],
    columns=["model", "benchmark", "share of failures", "best F1 at least", "printed F1 below that"]),
    "What AUROC and AUPRC of all six methods leave for the share of failures, and the F1 it forces.",
    "computed from rupa_table2.csv in data/published", folded=True)

# %% [markdown]
# ## The printed cells beside ours
#
# {numref}`fig-b5-beside` sets three of our sets beside the printed benchmark that is nearest, with one
# hollow mark for each of its six models. These are not the same experiment, and the list under the
# figure says what differs. What can be compared is which method stands above which. Where the paper's
# uncertainties are the agent's own and ours a small model's, a difference is as likely to be about that
# as about the method.
#
# Of the six printed values for RUPA, {glue:text}`b5-p-airline` lie inside our interval for structural
# RUPA on the airline runs, and {glue:text}`b5-p-airline-own` inside that for RUPA with the surrogate's
# uncertainty. On tau2, {glue:text}`b5-p-tau2` lie inside that for structural RUPA.

# %% mystnb={"figure": {"caption": "AUROC over all pairs: filled, ours with intervals by whole tasks; hollow, printed on the nearest benchmark, one mark a model. A method without a filled mark needs probabilities that the set does not hold. Data: data/features (measured here); rupa_table2.csv in data/published (published).", "name": "fig-b5-beside"}} tags=["hide-input"]
NEAREST = {"tau_airline": "tau2", "tau2": "tau2", "swe_agent": "Terminal-Bench-2"}
SAME = {"RUPA": "rupa", "RUPA, structural": "rupa_structural", "Entropy": "pe", "Seq-prob": "sp_sum",
        "SAUP": "saup_d", "Tracer": "tracer", "Uprop": "uprop_single"}
rows, inside = [], {}
for name, benchmark_of in NEAREST.items():
    scores = sets[name][sets[name]["method"].isin([*SAME.values(), "n_steps"])]
    if name != "tau_airline":  # without probabilities TRACER is no more than repetition
        scores = scores[scores["method"].isin(["rupa_structural", "n_steps"])]
    table = scoring.evaluate(scores, np.random.default_rng(given.seed), draws=given.draws)
    ours = {row["method"]: row for row in table.query("metric == 'auroc'").to_dict("records")}
    panel = f"{across.NAMES[name]}, beside {benchmark_of}"
    for label, method in {**SAME, "number of steps": "n_steps"}.items():
        row = ours.get(method, {"value": None, "lo": None, "hi": None, "why": "no probabilities"})
        rows.append({"panel": panel, "label": label, "published": None, "shown": tables.estimate(row),
                     **{k: row[k] for k in ("value", "lo", "hi")}})
        theirs = table2.query("benchmark == @benchmark_of and method == @label.split(',')[0]")
        rows += [{"panel": panel, "label": label, "published": one["auroc"],
                  "shown": f"{one['auroc']:.3f}, printed for {one['model']}"}
                 for one in theirs.to_dict("records")]
        if pd.notna(row["lo"]):
            inside[name, method] = int(theirs["auroc"].between(row["lo"], row["hi"]).sum())
for key, where in (("airline", ("tau_airline", "rupa_structural")),
                   ("airline-own", ("tau_airline", "rupa")), ("tau2", ("tau2", "rupa_structural"))):
    chapter.number(f"b5-p-{key}", inside[where], 0)
beside = pd.DataFrame(rows).astype(dict.fromkeys(("value", "lo", "hi", "published"), float))
show(analysis.forest(beside, "AUROC", domain=(0, 1)), name="b5-beside",
     table=beside[["panel", "label", "shown"]],
     alt="Three panels, one row a method: a filled point with an interval for our runs, hollow "
         "diamonds for the six printed models.")

# %% [markdown]
# Why they are not one experiment:
#
# - **tau-bench airline, beside tau2.** tau2 is a later version of the same desk with further desks
#   beside it. Ours is one agent by another maker, gpt-4o; the probabilities are the surrogate's, not
#   the agent's; and shared words stand in place of the paper's embedder, bge-m3. How many runs the
#   paper has is not printed.
# - **tau2, beside tau2.** The benchmark is the same, but ours pools many agents of very different
#   strength and has no probabilities, so only the structural form can be computed. Which of its domains
#   the paper counts together is not said.
# - **SWE-agent, beside Terminal-Bench-2.** Both have an agent at a shell. Benchmark, agent and form of
#   the score differ: it is the nearest we have, and not near.
# - **AgentDojo and NeMo Gym** have no printed benchmark of their kind. **GAIA** is printed, but we hold
#   no runs of it with both outcomes.

# %% [markdown]
# ## Where the runs are from
#
# We keep numbers of these runs and none of their text, which is public. The table says where it can be
# had: a repository on GitHub, a commit, a licence. The data sheet, `data/README.md`, has the commands,
# and `sources.csv` in `data/features` lists every file.

# %% tags=["hide-input"]
rows = []
for name, part in packaged.sources().groupby("set", sort=False):
    commits = list(dict.fromkeys(part["commit"]))
    rows.append([across.NAMES[name], features.SETS[name], ", ".join(dict.fromkeys(part["repository"])),
                 ", ".join(commit[:12] for commit in commits) if len(commits) < 3 else
                 f"{commits[0][:12]} and {len(commits) - 1} more",
                 f"{part['files'].sum():,}", ", ".join(dict.fromkeys(part["licence"]))])
tables.show(pd.DataFrame(rows, columns=["set", "what it is", "repository", "commit", "files",
                                        "licence"]),
            "Where the text of each set can be had.", "sources.csv in data/features")

# %% [markdown]
# ## What would change our mind
#
# - A log, of any agent, on which length ranks failures the right way round and RUPA minus the number
#   of steps *and* RUPA minus `flat` lie above 0, with intervals by task. Bring it, and it becomes a row
#   of {numref}`fig-b5-main`.
# - The paper's own runs, or only their numbers of steps. One column would tell how much of Table 2 is
#   length.
# - The agent's own log-probabilities. The surrogate's are another model's, and a method that needs the
#   agent's own doubt is not refuted by somebody else's.
# - The same comparison over pairs of one task with more than four trials a task. Here such pairs are few.
#
# All of this scores a run when it is over. Whether a score could have warned while the run went on,
# and how many good runs that would have stopped, is the question of
# [the next chapter](b5_early_warning).

# %% tags=["hide-input"]
failed_here, runs_here = (int(ranked[name].iloc[0] or 0) for name in ("n_failed", "n"))
chapter.text("b5-x-fewer", say("fewer_steps"))
chapter.number("b5-x-pairs", by_name["n_steps", "auroc"]["pairs"], 0)
chapter.number("b5-x-same", by_name["n_steps", "auroc|same_length"]["pairs"], 0)
chapter.text("b5-x-best", say("random", "best_f1"))
chapter.text("b5-x-fair", tables.estimate(names["tau2", "pooled", "best"]))

# %% [markdown]
# ## Exercises
#
# ```{exercise} Pairs and ties
# :label: b5-ties
# :nonumber:
# Three failed runs took 9, 6 and 6 steps, two successful ones 6 and 4. What AUROC has the number of
# steps?
# ```

# %%
from tjlib import exercises

ties = None  # a share from 0 to 1
print(exercises.check("b5-ties", ties))

# %% [markdown]
# ```{solution-start} b5-ties
# :class: dropdown
# ```

# %%
by_hand = auroc(np.array([True, True, True, False, False]), np.array([9.0, 6, 6, 6, 4]))
print(f"(4 + 2/2) / 6 = {by_hand:.3f}")

# %% [markdown]
# Four of the six pairs are won and two are tied. Over the tied pairs alone, those of one length, any
# count of steps has one half: that is how pairs of one length take length away.
#
# ```{solution-end}
# ```
#
# ```{exercise} Steps negated
# :label: b5-negated
# :nonumber:
# `fewer_steps` is `n_steps` negated. Work out its AUROC from that of `n_steps` without looking.
# ```
#
# ```{solution} b5-negated
# :class: dropdown
# One minus that of `n_steps` ({glue:text}`b5-steps`): {glue:text}`b5-x-fewer`. Every pair that was won
# is lost, and ties count one half both ways.
# ```
#
# ```{exercise} A best F1
# :label: b5-best-f1
# :nonumber:
# On the log of this page, random numbers have a best F1 of {glue:text}`b5-x-best`. Is that good? Work
# out the F1 of calling every run failed from {glue:text}`b5-failed` failures among {glue:text}`b5-n`
# runs.
# ```

# %%
all_failed = None  # a number from 0 to 1
print(exercises.check("b5-best-f1", all_failed, failed=failed_here, runs=runs_here))

# %% [markdown]
# ```{solution-start} b5-best-f1
# :class: dropdown
# ```

# %%
share_failed = failed_here / runs_here if runs_here else 0
print(f"2p / (1 + p) = {2 * share_failed / (1 + share_failed):.3f}" if share_failed
      else "undefined here: no run failed")

# %% [markdown]
# This is {eq}`eq-b5-floor`, and it takes no knowledge at all. F1 leaves out the runs that were rightly
# called successful, and its best threshold was chosen on these very runs.
#
# ```{solution-end}
# ```
#
# ```{exercise} Many pairs and few
# :label: b5-pairs
# :nonumber:
# Why are there {glue:text}`b5-x-pairs` pairs in one column of {numref}`fig-b5-auroc` and
# {glue:text}`b5-x-same` in the next?
# ```
#
# ```{solution} b5-pairs
# :class: dropdown
# A pair is a failed and a successful run, and few of all pairs have the same number of steps. Fewer
# pairs make a wider interval: that is the price of taking length away.
# ```
#
# ```{exercise} Single runs
# :label: b5-runs
# :nonumber:
# A colleague resamples single runs and gets narrower intervals. Why are they wrong?
# ```
#
# ```{solution} b5-runs
# :class: dropdown
# The trials of one task are alike, so the runs hold less information than their number says. Draw
# tasks, with all their trials.
# ```
#
# ```{exercise} The best on its own runs
# :label: b5-luck
# :nonumber:
# Choose tau2's best rival over all pairs on the very runs it is compared on. Which is it, and what
# does that do to the difference?
# ```
#
# ```{solution-start} b5-luck
# :class: dropdown
# ```

# %%
lucky = sets["tau2"].pivot_table(index="trajectory_id", columns="method", values="value",
                                 aggfunc="first").astype(float)
ends = sets["tau2"].drop_duplicates("trajectory_id").set_index("trajectory_id")["success"]
reached = {name: auroc(ends[lucky.index] == 0, lucky[name]) for name in rivals.RIVALS
           if name in lucky and lucky[name].notna().all()}
winner = max(reached, key=reached.get)
ours = auroc(ends[lucky.index] == 0, lucky["rupa_structural"])
print(f"{winner}: {ours:.3f} - {reached[winner]:.3f} = {ours - reached[winner]:.3f}")

# %% [markdown]
# With the rival chosen on the other half of the tasks the difference is {glue:text}`b5-x-fair`. The
# highest of several noisy values is on average too high, so a rival chosen on its own runs is flattered.
#
# ```{solution-end}
# ```
