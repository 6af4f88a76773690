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
# # A run that is failing can sound sure
#
# **The claim.** A model that is unsure of its words may be about to be wrong, and for one short
# answer that is a useful warning. Over a run of many steps it need not be. Section 3 of *From
# Sequence to Structure* ([arXiv 2608.16002](https://arxiv.org/abs/2608.16002)) says that there such
# signals rank failed runs no better than chance. On a public log with real rewards, tau-bench's
# airline desk, we found them the wrong way round: a small model that read the runs afterwards found
# what failed runs say *less* surprising than what successful ones say, and it was surprised least
# of all where a run repeats itself.
#
# The paper adds that the riskiest step of a failed run may lie anywhere, among steps that repeat
# and conflict, and from this it draws its case for a graph. We look at that too, and at what the
# paper leaves out: what a bare count of steps would do, where the riskiest step of a *successful*
# run lies, and where it would fall if the numbers meant nothing.
#
# ```{admonition} In one minute
# Of {glue:text}`b3-n` runs, {glue:text}`b3-n-failed` failed{glue:text}`b3-n-unknown`.
# {glue:text}`b3-minute-local`; the bare number of steps has an AUROC of
# {glue:text}`b3-auroc-n_steps`, where 0.5 is a coin. The riskiest step falls into the last fifth in
# {glue:text}`b3-last-peak` of failed runs and {glue:text}`b3-last-success` of successful ones,
# where a step taken at random would in {glue:text}`b3-last-any`. It repeats an earlier step in
# {glue:text}`b3-repeating` of the failed runs, although the paper prints a repetition of
# {glue:text}`b3-rep-paper` for such steps. A step that repeats an earlier one has an uncertainty of
# {glue:text}`b3-loop-again`, one that repeats none {glue:text}`b3-loop-fresh`.
# ```

# %% [markdown]
# ## What is read
#
# Unless you bring a log, the runs are tau-bench's {cite}`yao2024tau`: an airline desk, four trials
# of each task by gpt-4o, each with a reward. Their text is not ours to pass on, so the page
# computes with numbers that we stored of them.
#
# That log has no token probabilities, and nobody asked the agent how sure it was. In their place
# stands the **surprise of SmolLM2** {cite}`allal2025smollm2`, a small model that read each run
# afterwards: how unlikely it would have been, token by token, to write what the agent wrote. We
# call it the {term}`surrogate`. It is not the agent's own uncertainty, and a result on it is a
# result about a stand-in. A log with log-probabilities brings the agent's own:
#
# ```bash
# tjlib rerun b3_local_signals -p traces my_runs.jsonl
# ```
#
# This page reads {glue:text}`b3-origin`. A step's own uncertainty is {glue:text}`b3-source`.
# Brackets are 95 % intervals for which whole tasks were drawn, all trials of a task together.

# %% tags=["parameters"]
traces: str = "features"  # features (stored numbers of the airline log), or a log of runs
embedder: str = "jaccard"  # jaccard (shared words), minilm, bge-m3 (the paper's), or a model's folder
signal: str = "auto"  # a step's own uncertainty: nll, entropy, constant (none); auto: nll if there is any
methods: list[str] = ["random", "sp_sum", "sp_mean", "pe", "saup_rms", "verbalized", "n_steps"]  # ranked below
pick: int = 0  # which failed run of the desk you score by eye, from 0
draws: int = 2_000  # resamples of tasks behind each interval
seed: int = 0  # seed of all that is drawn
window: int = 5  # Table 5: steps a step can look back to
delta: float = 0.80  # Table 5: decay of an edge with its age
gamma: float = 0.75  # Table 5: decay of momentum
eta_g: float = 0.70  # Table 5: weight of the graph
eta_m: float = 0.30  # Table 5: weight of momentum
lam_h: float = 1.0  # Table 5: weight of history
lam_u: float = 1.0  # Table 5: weight of a step's own uncertainty
sequential: float = 0.35  # Table 6: strength of this relation
latest: float = 0.75  # Table 6
repetition: float = 0.95  # Table 6
feedback: float = 0.85  # Table 6
progression: float = 0.65  # Table 6
parallel: float = 0.45  # Table 6
p_max: float = 1.5  # not printed: cap of what a step passes on; 0: none
temperature: float = 1.0  # not printed: of the paper's equation 6
calibrated: bool = True  # whether relations are weighed by the paper's equation 6, or all alike

# %% tags=["hide-input"]
from tjlib import chapter, material

given = chapter.check(
    globals(), methods=tuple(material.LOCAL), signal=material.SIGNALS,
    draws=lambda value: None if 100 <= value <= 20_000 else "give 100 to 20000",
    window=lambda value: None if 1 <= value <= 9 else "give 1 to 9",
    **material.RULES,
)

# %% tags=["hide-input"]
import json

import msgspec
import numpy as np
import pandas as pd
from scipy import stats

from tjlib import scoring, sentences, store, tables
from tjlib.charts import signals as charts
from tjlib.charts.show import show
from tjlib.desk.testbed import judged_set
from tjlib.formats.imported import shown as line
from tjlib.measure import by_task
from tjlib.measure.resample import clopper_pearson
from tjlib.trace import InputError
from tjlib.uncertainty import peaks
from tjlib.uncertainty.crossfit import crossed
from tjlib.uncertainty.parameters import RELATIONS
from tjlib.uncertainty.propagate import propagate

settings = material.settings(given)


def drawn():
    """Return a generator that starts anew, so that no cell hangs on one before it."""
    return np.random.default_rng(given.seed)


# %% tags=["hide-input"]
log = material.load(given.traces, given.methods, given.embedder, given.signal, settings)
runs, source = log.runs, log.source
has_own = source != "constant"
SOURCE = sentences.own(source, given.signal)
NO_OWN = "undefined (no step of these runs has an uncertainty of its own)"
WEIGHED = ("relations weighed by the paper's equation 6, fitted without labels on the other half of the tasks"
           if given.calibrated else "every relation weighed alike")
MADE = (f"{log.origin}; similarity {log.graphs[0].similarity}; a step's own uncertainty: {SOURCE}; "
        f"{WEIGHED}")
judged = runs["failed"].notna()
n1, n0 = int(runs["failed"].eq(True).sum()), int(runs["failed"].eq(False).sum())
LOST = {"failed": "undefined: no run failed", "successful": "undefined: every run failed"}
NO_OUTCOME = "undefined: no run of the log has an outcome"


def means(values, pairs=()):
    """Average over failed and over successful runs, with intervals by whole tasks."""
    table = by_task.means(by_task.split(values, runs["failed"]), runs["task"], drawn(), pairs=pairs,
                          draws=given.draws).set_index("what")
    for side, count in (("failed", n1), ("successful", n0)):
        if not count:
            empty = table["value"].isna() & table.index.str.contains(side)
            table.loc[empty, "why"] = LOST[side] if judged.any() else NO_OUTCOME
    return table


def say(row, digits=2):
    """Write an estimate for a sentence."""
    text = sentences.estimate(row, digits)
    if row["value"] is not None and row.get("lo") is None and row.get("why"):
        text += f" (no interval: {row['why'].removeprefix('undefined: ')})"
    return text


chapter.text("b3-origin", log.origin)
chapter.text("b3-source", SOURCE)
chapter.number("b3-n", len(runs), 0)
chapter.number("b3-n-failed", n1, 0)
chapter.number("b3-n-unjudged", (~judged).sum(), 0)
chapter.text("b3-n-unknown", "" if judged.all() else f", and of {(~judged).sum()} nobody knows")

# %% [markdown]
# ## Score one run by eye first
#
# Before you see any number, look at a run yourself. The table below is a run from the refund desk
# of [Part A](a3_testbed), and its outcome is wrong. The request was: *{glue:text}`b3-goal`*
#
# Write two things down. Which step would you look at first? And how sure would you be, from 0 to
# 100, that the run failed, if nobody had told you? The answer stands near the end of the page.

# %% tags=["hide-input"]
desk_by = given.embedder if given.embedder in ("jaccard", "minilm") else "jaccard"
desk = material.load("testbed", [], desk_by, "entropy" if given.signal == "entropy" else "nll", settings)
texts, labels = judged_set(seed=7)
place = {graph.trajectory_id: i for i, graph in enumerate(desk.graphs)}
wrong = [i for i, label in enumerate(labels) if label.faulty and not label.outcome_correct
         and label.failure_step < len(texts[i].steps)]
if not 0 <= given.pick < len(wrong):
    raise InputError(f"pick {given.pick}: the desk has {len(wrong)} failed runs, counted from 0")
eye, truth = texts[wrong[given.pick]], labels[wrong[given.pick]]
chapter.text("b3-goal", line(eye.goal, 600))
told = pd.DataFrame([{
    "step": number, "says": line(step.thought),
    "calls": "; ".join(line(f"{c.tool} {json.dumps(c.args)}", 200) for c in step.calls),
    "gets back": "; ".join(line(json.dumps(o.data) if o.ok else o.error, 200)
                           for o in step.observations)} for number, step in enumerate(eye.steps)])
tables.show(told, "One failed run, step by step.",
            "built on this page, the judged set of seed 7")

# %% [markdown]
# ## How well local signals rank
#
# An {term}`AUROC` is the share of pairs, one failed and one successful run, in which the failed one
# has the higher score; 0.5 is a coin. {numref}`fig-b3-table1` shows what the rules of the paper's
# Table 1 do on this log as filled marks, and the paper's own values (airline and retail of
# $\tau^2$, run by another agent) as hollow diamonds. Look at which side of the dashed line a mark
# lies, and what becomes of it in the second panel. The table after it has the numbers, with the
# runs and steps that each score covers.
#
# The signals are these:
#
# - *SP*, sequence probability: the mean negative log-probability of a step's tokens, summed or
#   averaged over steps. The paper does not say which; its authors' code sums.
# - *PE*, predictive entropy: the same, averaged over all tokens of a run.
# - *Root mean square*: of each step's value, over steps.
# - *Stated confidence* {cite}`lin2022,xiong2024`: somebody has to ask the agent, and on the airline
#   log nobody did.
# - *Random numbers* and the bare number of *steps*, for comparison.

# %% tags=["hide-input"]
PANELS = {"auroc": "all pairs", "auroc|same_length": "pairs of the same length",
          "auroc|same_task": "pairs of one task"}
found = log.scores
if judged.any():
    ranked = scoring.evaluate(found, drawn(), draws=given.draws)
else:
    ranked = pd.DataFrame([{"method": m, "metric": metric, "value": None, "why": NO_OUTCOME, "pairs": 0}
                           for m in given.methods for metric in (*PANELS, "rank_correlation|length")])
own_why = found[found["value"].isna()].drop_duplicates("method").set_index("method")["why"]
silent = set(found["method"]) - set(found.dropna(subset=["value"])["method"])
ranked["why"] = [own_why[m] if m in silent else why
                 for m, why in zip(ranked["method"], ranked["why"], strict=True)]
ranked["why"] = ranked["why"].str.replace("not computable: ", "undefined: ")
by_name = {(row["method"], row["metric"]): row for row in ranked.to_dict("records")}


def cell(method, metric="auroc"):
    """Return how well a method ranks, or that nobody asked for it."""
    return by_name.get((method, metric), {
        "value": None, "lo": None, "pairs": 0, "why": "undefined: not among the methods asked for"})


# %% tags=["hide-input"]
printed = store.published("rupa_table1").replace({"sequence_probability": "sp_sum"})
printed = printed.set_index(["method", "domain"])["auroc"]
DOMAINS = {"tau2-airline": "printed, airline", "tau2-retail": "printed, retail"}
dots = []
for method in given.methods:
    for metric, panel in PANELS.items():
        row = cell(method, metric)
        mark = {"panel": panel, "signal": material.LOCAL[method], "value": row["value"], "lo": row.get("lo"),
                "hi": row.get("hi"), "shown": tables.estimate(row), "published": None, "where": ""}
        both = [mark | {"published": printed[method, d], "where": d} for d in DOMAINS
                if metric == "auroc" and (method, d) in printed.index]
        dots += [*both[:1], *(each | {"value": None, "lo": None, "hi": None} for each in both[1:])] or [mark]
dots = pd.DataFrame(dots).astype(dict.fromkeys(("value", "lo", "hi", "published"), float))

# %% mystnb={"figure": {"caption": "AUROC of local signals: filled, on the runs of this page, with intervals by whole tasks; hollow, the paper's Table 1, airline and retail. Dashed: chance. Higher ranks failed runs higher. Data: the runs chosen at the top of this page; rupa_table1.csv in data/published.", "name": "fig-b3-table1"}} tags=["hide-input"]
show(charts.forest(dots), name="b3-table1",
     table=dots[["panel", "signal", "shown", "where", "published"]],
     alt="A row a signal and a panel a set of pairs: a point with its interval on an AUROC axis "
         "from 0 to 1, a dashed line at one half, and hollow diamonds for printed values.")

# %% tags=["hide-input"]
total = int(runs["steps"].sum())


def covered(method):
    """Tell which runs, and for a step's own signal which steps, a score covers."""
    rows = found[found["method"] == method]
    own = method in material.OWN and method not in silent
    return {"runs covered": f"{rows['value'].notna().sum()} of {len(rows)}",
            "steps covered": f"{total - rows['n_imputed'].sum()} of {total}" if own else "none needed"
            if method not in silent else "none"}


tables.show(pd.DataFrame([{
    "signal": material.LOCAL[m], **{name: f"{printed[m, d]:.3f}" if (m, d) in printed.index else "not printed"
                           for d, name in DOMAINS.items()},
    **{panel: tables.estimate(cell(m, metric), 2) for metric, panel in PANELS.items()},
    "rank correlation with length": tables.estimate(cell(m, "rank_correlation|length"), 2),
    **covered(m)} for m in given.methods]),
    "Table 1 of the paper and the same rules on these runs (AUROC; higher ranks failed runs higher).",
    f"{log.origin}; a step's own uncertainty: {SOURCE}; printed: data/published/rupa_table1.csv")

# %% tags=["hide-input"]
for m in ("sp_sum", "sp_mean", "n_steps"):
    chapter.text(f"b3-auroc-{m}", say(cell(m)))
for m in ("sp_sum", "sp_mean"):
    chapter.text(f"b3-length-{m}", say(cell(m, "rank_correlation|length")))
free = [m for m in given.methods if m in ("sp_mean", "pe", "saup_rms") and m not in silent]


def sides(metric):
    """Count the length-free signals whose interval lies above, below and around chance."""
    rows = [cell(m, metric) for m in free if cell(m, metric).get("lo") is not None]
    over, under = (sum(1 for r in rows if test(r)) for test in (
        lambda r: r["lo"] > 0.5, lambda r: r["hi"] < 0.5))
    return over, under, len(rows) - over - under


def above(metric):
    """Say on which side of chance their intervals lie."""
    over, under, around = sides(metric)
    return (f"lie {over} above 0.5, {under} below it and {around} around it" if over + under + around
            else "are undefined")


chapter.text("b3-free", "; ".join(material.LOCAL[m] for m in free) or "(none can be computed here)")
chapter.text("b3-free-all", above("auroc"))
chapter.text("b3-free-length", above("auroc|same_length"))
over, under, neither = sides("auroc")
chapter.text("b3-minute-local", f"Of the {over + under + neither} local signals that do not simply add up "
             f"over steps, {over} rank failed runs as riskier, {under} as safer, and {neither} cannot be "
             "told from a coin" if over + under + neither else "No local signal can be ranked here")
spread_of_random = np.sqrt((n1 + n0 + 1) / (12 * n1 * n0)) if n1 and n0 else None
for m in ("random", "sp_sum"):
    chapter.text(f"b3-air-{m}", f"{printed[m, 'tau2-airline']:.3f}")
chapter.text("b3-flipped", f"{1 - printed['sp_sum', 'tau2-airline']:.3f}")
chapter.number("b3-stray", None if spread_of_random is None else 100 * 2 * stats.norm.sf(
    abs(printed["random", "tau2-airline"] - 0.5) / spread_of_random), 0)
for metric, key in (("auroc|same_length", "length"), ("auroc|same_task", "task")):
    chapter.text(f"b3-pairs-{key}", str(cell(given.methods[0], metric)["pairs"]))

# %% [markdown]
# Before you believe Table 1, the paper's or ours, three cautions.
#
# **Direction.** The paper calls its values "close to random guessing". But its
# {glue:text}`b3-air-sp_sum` for sequence probability on airline is far below 0.5, and such a score
# ranks well once it is turned round, at {glue:text}`b3-flipped`. Either the score stands there
# without its minus sign, or shorter or surer runs failed more; nothing in print tells which. Ours
# has the minus sign, so that surprise means failure. A mark left of the dashed line is a signal
# that ranks these runs the wrong way round, and a later section asks why.
#
# **Length.** Summed over steps, sequence probability is largely a count of steps. Here its rank
# correlation with length is {glue:text}`b3-length-sp_sum` and its AUROC
# {glue:text}`b3-auroc-sp_sum`. Averaged over steps, the same numbers have
# {glue:text}`b3-length-sp_mean` and {glue:text}`b3-auroc-sp_mean`. The number of steps alone, which
# knows no probability, has an AUROC of {glue:text}`b3-auroc-n_steps`. Pairs of the same length
# ({glue:text}`b3-pairs-length` of them) take the length away, and pairs of one task
# ({glue:text}`b3-pairs-task`) take away which tasks are hard.
#
# **Noise.** The paper prints no intervals, and its row of random numbers stands at
# {glue:text}`b3-air-random`. On as many runs as here, random numbers stray at least that far from
# 0.5 in {glue:text}`b3-stray` % of draws.
#
# What is left? For the signals that do not add up over steps ({glue:text}`b3-free`), the intervals
# {glue:text}`b3-free-all` over all pairs; over pairs of the same length they
# {glue:text}`b3-free-length`. Runs without a known outcome are in no pair; there are
# {glue:text}`b3-n-unjudged`.
#
# ## Where the riskiest step falls
#
# The paper computes "a step-level risk score" for failed runs and finds that the highest one may
# lie anywhere in the run, not near its end. Its Figure 2 shows this and defines neither the score
# nor the axis. We read it as the highest R of its equations 1 to 5. R adds up three things: U, a
# step's own {term}`uncertainty <local uncertainty>`; Q, how far its words are from the request (0
# near, 1 far); and risk that earlier steps and observations pass on along
# {term}`relations <relation>` such as *repetition* or *feedback*. The
# [next chapter](b4_relational_graph) takes them apart.
#
# A step's place runs from 0 (first) to 1 (last). Beside the highest R we show the highest U, where
# there is one.
#
# "Anywhere" compared with what? {numref}`fig-b3-where` draws failed runs as bars and three answers
# as points. Look for a fifth in which a point lies outside the interval of its bar.
#
# - **A step at random.** This is not a flat line. In a short run the last fifth holds the last step
#   *and* the one a fifth before it, and the first and the last step are always there.
# - **Successful runs.** If their riskiest step falls in the same places, the place says nothing
#   about failure.
# - **Values dealt anew.** R rises over the first steps whatever they say, because it feeds on
#   itself ([the next chapter](b4_relational_graph) works that out). So we dealt each run's own
#   values to its steps at random, {glue:text}`b3-deals` times, kept its edges, and took the highest
#   R again. A place that this finds too says something about the recursion and nothing about the
#   run.

# %% tags=["hide-input"]
fits = crossed(log.graphs, log.local, runs["task"]) if given.calibrated else [None] * len(runs)


def solved(use, local, fitted=None, **change):
    """Propagate every run, each weighed by the other half of the tasks."""
    other = msgspec.structs.replace(settings, **{k: v for k, v in change.items() if k != "variant"})
    return [propagate(graph, u, reliability=rho, parameters=other, variant=change.get("variant", "full"))
            for graph, u, rho in zip(use.graphs, local, fitted or fits, strict=True)]


whole = solved(log, log.local)
DEALS, rng = 20, drawn()
anew = np.concatenate([peaks.dealt(run, rng, DEALS, rho) for run, rho in zip(whole, fits, strict=True)])
steps = {"R": pd.concat([peaks.describe(run) for run in whole], ignore_index=True).assign(dealt=anew)}
if has_own:
    steps["U"] = pd.concat([peaks.describe(run, "U") for run in whole], ignore_index=True)
chapter.number("b3-deals", DEALS, 0)

# %% tags=["hide-input"]
RISKS = {"R": "risk R", "U": "own uncertainty U"}
PARTS = ["first", "second", "third", "fourth", "last"]


def placed(frame, *names):
    """Say for each run how much of each chance lies in each fifth."""
    return pd.concat([peaks.spread(frame, name).reindex(runs.index).set_axis(
        [f"{name}|{p}" for p in PARTS], axis=1) for name in names], axis=1)


PAIRS = [("failed|peak", "failed|any"), ("failed|peak", "successful|peak"), ("failed|peak", "failed|dealt")]
places = {}
for risk, frame in steps.items():
    table = placed(frame, "peak", "any", *["dealt"] * (risk == "R"))
    pairs = [(f"{a}|{p}", f"{b}|{p}") for a, b in PAIRS for p in PARTS
             if f"{b.partition('|')[2]}|{p}" in table]
    places[risk] = means(table, pairs)

# %% mystnb={"figure": {"caption": "Where the riskiest step of a run falls. Bars: failed runs, with intervals by whole tasks. Points: the riskiest step of successful runs, a step of a failed run taken at random, and the riskiest step of a failed run whose values were dealt anew. Data: the runs chosen at the top of this page.", "name": "fig-b3-where"}} tags=["hide-input"]
KEYS = {"failed runs": "failed|peak", "successful runs": "successful|peak",
        "a step at random": "failed|any", "values dealt anew": "failed|dealt"}
drawn_places = pd.DataFrame([
    {"risk": RISKS[risk], "part": part, "what": what} | {
        name: places[risk].loc[f"{key}|{part}", name] for name in ("value", "lo", "hi")}
    for risk in places for what, key in KEYS.items() for part in PARTS
    if f"{key}|{part}" in places[risk].index]).astype({"value": float, "lo": float, "hi": float})
show(charts.where(drawn_places), name="b3-where", table=drawn_places,
     alt="Bars over the five parts of a run, the share of failed runs whose riskiest step lies "
         "there, with points for successful runs, a random step and values dealt anew.")

# %% tags=["hide-input"]
def difference(risk, other, part="last"):
    """Write failed runs minus something else, in one part of the run."""
    name = f"failed|peak|{part} - {other}|{part}"
    return say(places[risk].loc[name]) if name in places[risk].index else NO_OWN


def excludes(risk, other, part="last"):
    """Say whether that difference is told apart from 0."""
    row = places[risk].loc[f"failed|peak|{part} - {other}|{part}"]
    return None if row["lo"] is None else row["lo"] > 0 or row["hi"] < 0


for key, name in (("peak", "failed|peak"), ("any", "failed|any"), ("dealt", "failed|dealt"),
                  ("success", "successful|peak")):
    chapter.text(f"b3-last-{key}", say(places["R"].loc[f"{name}|last"]))
for key, other in (("any", "failed|any"), ("success", "successful|peak"), ("dealt", "failed|dealt")):
    chapter.text(f"b3-last-minus-{key}", difference("R", other))
chapter.text("b3-first-minus-any", difference("R", "failed|any", "first"))
positions = pd.DataFrame({risk: f[f["peak"] == 1].set_index("trajectory_id")["position"].reindex(runs.index)
                          for risk, f in steps.items()})
mean_place = means(positions)
for key in ("failed|R", "failed|U", "successful|R"):
    chapter.text("b3-place-" + key.replace("|", "-"), say(
        mean_place.loc[key]) if key in mean_place.index else NO_OWN)
TOLD = {True: "is told apart from", False: "is not told apart from", None: "cannot be held beside"}
chapter.text("b3-told-success", TOLD[excludes("R", "successful|peak")])
chapter.text("b3-told-dealt", TOLD[excludes("R", "failed|dealt")])

# %% [markdown]
# In {glue:text}`b3-last-peak` of failed runs the highest R lies in the last fifth, and for a step
# at random it would be {glue:text}`b3-last-any`: a difference of {glue:text}`b3-last-minus-any`. In
# the first fifth the difference is {glue:text}`b3-first-minus-any`. On average the highest R stands
# {glue:text}`b3-place-failed-R` of the way through the run, and the highest U
# {glue:text}`b3-place-failed-U`.
#
# Successful runs have their highest R {glue:text}`b3-place-successful-R` of the way through, and
# {glue:text}`b3-last-success` of them in the last fifth. Failed minus successful, that is
# {glue:text}`b3-last-minus-success`, which {glue:text}`b3-told-success` 0. With values dealt anew,
# {glue:text}`b3-last-dealt` fall into the last fifth; failed runs as they were, minus that, give
# {glue:text}`b3-last-minus-dealt`, which {glue:text}`b3-told-dealt` 0.
#
# And in no case is a peak where a failure *began*. It is where the score is highest, and nobody
# marked this log's failures. The paper's "failures often originate from intermediate reasoning or
# interaction steps" would need such marks. The next table varies what we chose.

# %% tags=["hide-input"]
flat_u = [msgspec.structs.replace(u, u=(0.0,) * len(u.u), source="constant") for u in log.local]
VARIED = {"as above": {}, **({"no own uncertainty": {"local": flat_u}} if has_own else {}),
          "no momentum": {"variant": "no_momentum"}, "no cap on what is passed on": {"p_max": None},
          "no goal": {"variant": "no_goal"}, "nothing passed on": {"variant": "no_propagation"}}
lines, varied = [], {}
for name, change in VARIED.items():
    change = dict(change)
    done = solved(log, change.pop("local", log.local), **change)
    varied[name] = frame = pd.concat([peaks.describe(run) for run in done], ignore_index=True)
    table = placed(frame, "peak", "any")[["peak|last", "any|last"]]
    last = means(table, [("failed|peak|last", f"{other}|last") for other in (
        "failed|any", "successful|peak")])
    lines.append({"R with": name, "failed": tables.estimate(last.loc["failed|peak|last"], 2),
                  "successful": tables.estimate(last.loc["successful|peak|last"], 2),
                  "failed minus a step at random": tables.estimate(last.iloc[-2], 2),
                  "failed minus successful": tables.estimate(last.iloc[-1], 2)})
tables.show(pd.DataFrame(lines), "Share of runs whose highest R falls into their last fifth, under other "
            "readings.", MADE)

# %% [markdown]
# ## What surrounds it
#
# The paper's second finding is about the neighbourhood of the riskiest step. It has a mean
# repetition score of {glue:text}`b3-rep-paper` and a stagnation score of
# {glue:text}`b3-stag-paper`, and relations of conflict and retry appear "frequently". None of these
# is defined, and no such number is given for any other step, so a reader cannot tell whether they
# are high.
#
# {numref}`fig-b3-levels` has our nearest numbers, at three places: the riskiest step of failed
# runs, the other steps of the same runs, and the riskiest step of successful runs. Compare the
# first with both. *Repetition* is the closest match among the steps that a step repeats, and 0 if
# it repeats none. *Failing before* is the uncertainty of the worst observation since the step
# before, high where an observation failed. For stagnation there is no definition to compute.

# %% tags=["hide-input"]
NUMBERS = {"repetition": "repetition", "failing": "failing before", "Q": "Q, from the goal"}
columns = [*NUMBERS, "U", *(f"share|{name}" for name in RELATIONS)]
near = peaks.around(steps["R"], columns).reindex(runs.index)
beside = means(near, [(f"failed|{c}|more", f"successful|{c}|more") for c in columns])
prose = store.published("rupa_prose_numbers").set_index("what")["value"]
PRINTED = {name: prose[f"{name} score at highest-risk step of failed runs"]
           for name in ("repetition", "stagnation")}
LEVELS = {"failed runs": "failed|{}|peak", "their other steps": "failed|{}|others",
          "successful runs": "successful|{}|peak"}
bars = [{"number": label, "what": what, **beside.loc[key.format(c), ["value", "lo", "hi"]],
         "shown": tables.estimate(beside.loc[key.format(c)], 3),
         "published": PRINTED.get(c) if what == "failed runs" else None}
        for c, label in NUMBERS.items() for what, key in LEVELS.items()]
bars.insert(3, {"number": "stagnation", "what": "failed runs", "value": None, "lo": None, "hi": None,
                "shown": "undefined: the paper does not define it", "published": PRINTED["stagnation"]})
bars = pd.DataFrame(bars).astype(dict.fromkeys(("value", "lo", "hi", "published"), float))

# %% mystnb={"figure": {"caption": "The riskiest step of failed runs (filled square), the other steps of the same runs, and the riskiest step of successful runs, with intervals by whole tasks; hollow, what the paper prints for its failed runs. Data: the runs chosen at the top of this page; rupa_prose_numbers.csv in data/published.", "name": "fig-b3-levels"}} tags=["hide-input"]
show(charts.levels(bars), name="b3-levels", table=bars,
     alt="Rows for repetition, stagnation, failing observation and distance from the goal: points "
         "for the riskiest step, other steps and successful runs on an axis from 0 to 1, and hollow "
         "diamonds for printed values.")

# %% tags=["hide-input"]
chapter.text("b3-rep-paper", f"{PRINTED['repetition']:.3f}")
chapter.text("b3-stag-paper", f"{PRINTED['stagnation']:.3f}")
for key, what in (("peak", "failed|{}|peak"), ("others", "failed|{}|others"), ("more", "failed|{}|more"),
                  ("success-more", "successful|{}|more")):
    for column, short in (("repetition", "rep"), ("failing", "fail")):
        chapter.text(f"b3-{short}-{key}", say(beside.loc[what.format(column)]))
chapter.text("b3-u-more", say(beside.loc["failed|U|more"]) if has_own else NO_OWN)
at_peak = steps["R"][steps["R"]["peak"] == 1].set_index("trajectory_id").reindex(runs.index)
repeating = (at_peak["repetition"] > 0).where(at_peak["repetition"].notna())[runs["failed"].eq(True)]
chapter.number("b3-repeating", repeating.sum(), 0)
per_task = repeating.groupby(runs["task"]).any()
lo, hi = clopper_pearson(int(per_task.sum()), len(per_task)) if len(per_task) else (None, None)
chapter.text("b3-repeating-tasks", f"{per_task.sum()} of {len(per_task)} tasks, " + say({
    "value": per_task.mean() if len(per_task) else None, "lo": lo, "hi": hi, "how": "exact binomial",
    "why": LOST["failed"] if judged.any() else NO_OUTCOME}))

# %% [markdown]
# The riskiest step repeats an earlier one in {glue:text}`b3-repeating` of {glue:text}`b3-n-failed`
# failed runs; by task, such a run occurs in {glue:text}`b3-repeating-tasks` († exact, with the task
# as the unit). Repetition there is {glue:text}`b3-rep-peak` and at other steps
# {glue:text}`b3-rep-others`, a difference of {glue:text}`b3-rep-more`. In successful runs the same
# difference is {glue:text}`b3-rep-success-more`. Failing before stands at {glue:text}`b3-fail-peak`
# against {glue:text}`b3-fail-others` elsewhere, and in successful runs the difference is
# {glue:text}`b3-fail-success-more`. A step's own uncertainty is higher at the peak than elsewhere
# by {glue:text}`b3-u-more`.
#
# One trap is left. The riskiest step was *chosen* for a high R, and R is made of these very
# numbers. A high U raises it, a large Q raises it, and so does an edge from an observation that
# failed. That these stand high at the peak is arithmetic. Besides, failed and successful runs
# differ in length: the medians here are {glue:text}`b3-x-long-failed` and
# {glue:text}`b3-x-long-success` steps, and whoever goes on for longer has more to repeat.
#
# {numref}`fig-b3-relations` therefore asks three times how the weight that flows into a step is
# divided among relations, at the peak less elsewhere: in failed runs, in successful ones, and at
# the peak of values dealt anew, which was chosen without any meaning. A relation says something
# about failure only where the first mark stands apart from the other two.

# %% tags=["hide-input"]
SHARES = [f"share|{name}" for name in RELATIONS]
null = means(peaks.around(steps["R"], SHARES, "dealt").reindex(runs.index))
ROWS = {"failed runs": (beside, "failed"), "successful runs": (beside, "successful"),
        "values dealt anew": (null, "failed")}
around = pd.DataFrame([
    {"relation": name, "what": what, **table.loc[f"{who}|share|{name}|more", ["value", "lo", "hi"]],
     "shown": tables.estimate(table.loc[f"{who}|share|{name}|more"], 3),
     "peak": table.loc[f"{who}|share|{name}|peak", "value"],
     "others": table.loc[f"{who}|share|{name}|others", "value"]}
    for name in RELATIONS for what, (table, who) in ROWS.items()])
around = around.astype(dict.fromkeys(("value", "lo", "hi", "peak", "others"), float))

# %% mystnb={"figure": {"caption": "How much more of the weight into a step comes along each relation at the riskiest step than at the other steps of the same run, with intervals by whole tasks. Dashed: no more and no less. Data: the runs chosen at the top of this page.", "name": "fig-b3-relations"}} tags=["hide-input"]
show(charts.relations(around), name="b3-relations",
     table=around[["relation", "what", "shown", "peak", "others"]],
     alt="A row a relation with three points and their intervals around a dashed line at 0: failed "
         "runs, successful runs and values dealt anew.")

# %% tags=["hide-input"]
def listed(test, what="failed runs"):
    """Name the relations whose difference passes a test."""
    rows = around[(around["what"] == what) & around["lo"].notna()]
    return ", ".join(rows.loc[[test(r) for r in rows.itertuples()], "relation"]) or "none"


chapter.text("b3-more", listed(lambda r: r.lo > 0))
chapter.text("b3-less", listed(lambda r: r.hi < 0))
chapter.text("b3-more-success", listed(lambda r: r.lo > 0, "successful runs"))
chapter.text("b3-more-dealt", listed(lambda r: r.lo > 0, "values dealt anew"))
apart = [name for name in RELATIONS for row in [beside.loc[
    f"failed|share|{name}|more - successful|share|{name}|more"]]
    if row["lo"] is not None and (row["lo"] > 0 or row["hi"] < 0)]
chapter.text("b3-apart", ", ".join(apart) or "none")

# %% [markdown]
# At the peak of failed runs these relations carry more of the weight than elsewhere, with an
# interval above 0: {glue:text}`b3-more`. These carry less: {glue:text}`b3-less`. In successful
# runs, more: {glue:text}`b3-more-success`. With values dealt anew, more:
# {glue:text}`b3-more-dealt`; late steps simply have more earlier ones to resemble. Failed and
# successful runs are told apart in these: {glue:text}`b3-apart`.
#
# ## A loop does not surprise its reader
#
# How can a run that repeats itself be riskiest where it does not? Look at U alone. A step that
# repeats an earlier one has {glue:text}`b3-loop-again` on average, and a step that repeats none
# {glue:text}`b3-loop-fresh`; within one run the difference is {glue:text}`b3-loop-more`. Whoever
# has read a sentence once is not surprised to read it again. So U can be lowest where a run goes in
# circles, and in a score made of U and edges the two pull against each other. Take U out of R, and
# repetition at the riskiest step of failed runs is {glue:text}`b3-loop-peak`, at their other steps
# {glue:text}`b3-loop-others`.
#
# An agent need not be as sure of its loops as somebody who reads them. We have an agent's own
# log-probabilities for the {glue:text}`b3-lived-runs` runs that SmolLM2 drove at the desk and that
# come with this book. There {glue:text}`b3-lived-repeating` steps repeat an earlier one, with a U
# of {glue:text}`b3-lived-again`; the others have {glue:text}`b3-lived-fresh`.
#
# Are loops why a local signal ranks the wrong way round? Over all steps the mean of U, which is the
# mean form of SP, has an AUROC of {glue:text}`b3-auroc-sp_mean`. Leave all repeating steps out, and
# it has {glue:text}`b3-loop-auroc-fresh`{glue:text}`b3-loop-says-fresh`. The other candidate is how
# far a run has come. Over the first three steps alone the mean of U has
# {glue:text}`b3-loop-auroc-start`{glue:text}`b3-loop-says-start`. The table shows in which part of
# a run the two kinds come apart.

# %% tags=["hide-input"]
all_steps = steps["R"].assign(again=steps["R"]["repetition"] > 0)
kinds = all_steps.pivot_table("U", "trajectory_id", "again", "mean").reindex(
    index=runs.index, columns=[True, False]).set_axis(["again", "fresh"], axis=1)
loop = by_task.means(kinds.assign(more=kinds["again"] - kinds["fresh"]), runs["task"], drawn(),
                     draws=given.draws).set_index("what")
bare = peaks.around(varied.get("no own uncertainty", varied["as above"]), ["repetition"])
bare = means(bare.reindex(runs.index))
for name in ("again", "fresh", "more"):
    chapter.text(f"b3-loop-{name}", say(loop.loc[name]) if has_own else NO_OWN)
for name in ("peak", "others"):
    chapter.text(f"b3-loop-{name}", say(bare.loc[f"failed|repetition|{name}"]))

# %% tags=["hide-input"]
lived = material.load(str(store.data_folder("recorded") / "agent" / "trajectories.jsonl"), ["n_steps"])
each = pd.concat([peaks.describe(propagate(graph, u)) for graph, u in zip(
    lived.graphs, lived.local, strict=True)], ignore_index=True)
each = each.assign(again=each["repetition"] > 0)
own_kinds = each.pivot_table("U", "trajectory_id", "again", "mean").reindex(
    index=lived.runs.index, columns=[False, True]).set_axis(["fresh", "again"], axis=1)
own_loop = by_task.means(own_kinds, lived.runs["task"], drawn(), draws=given.draws).set_index("what")
chapter.number("b3-lived-runs", len(lived.runs), 0)
chapter.text("b3-lived-repeating", f"{each['again'].sum()} of {len(each)}")
for name in own_loop.index:
    chapter.text(f"b3-lived-{name}", say(own_loop.loc[name]))

# %% tags=["hide-input"]
LEFT = {"fresh": all_steps[~all_steps["again"]], "start": all_steps[all_steps["step"] < 3]}
about = found.drop_duplicates("trajectory_id")
left = pd.concat([about.assign(method=name, value=about["trajectory_id"].map(
    rows.groupby("trajectory_id")["U"].mean())) for name, rows in LEFT.items()], ignore_index=True)
if judged.any() and has_own:
    left = scoring.evaluate(left, drawn(), draws=given.draws).set_index(["method", "metric"])
for name in LEFT:
    chapter.text(f"b3-loop-auroc-{name}", NO_OWN if not has_own else say(
        left.loc[(name, "auroc")] if judged.any() else {"value": None, "why": NO_OUTCOME}))
FOUND = {"fresh": ("lies below 0.5 all the same: loops alone are not the reason",
                   "reaches 0.5: loops may be the reason"),
         "start": ("lies below 0.5 already: how far a run has come is not the reason",
                   "reaches 0.5: how far a run has come may be the reason")}
for name, (below, other) in FOUND.items():
    asked = has_own and judged.any() and cell("sp_mean").get("hi") is not None and cell("sp_mean")["hi"] < 0.5
    hi = left.loc[(name, "auroc"), "hi"] if asked else None
    chapter.text(f"b3-loop-says-{name}", "" if hi is None or np.isnan(hi) else
                 f", which {below if hi < 0.5 else other}")

# %% tags=["hide-input"]
by_part = all_steps[all_steps["fifth"] >= 0].pivot_table("U", "trajectory_id", "fifth", "mean")
by_part = by_part.reindex(index=runs.index, columns=range(5)).set_axis(PARTS, axis=1)
parted = means(by_part, [(f"failed|{p}", f"successful|{p}") for p in PARTS])
tables.show(pd.DataFrame([{"part of the run": part} | {
    name: tables.estimate(parted.loc[key.format(part)], 2) if has_own else NO_OWN
    for name, key in {"failed": "failed|{0}", "successful": "successful|{0}",
                      "difference": "failed|{0} - successful|{0}"}.items()} for part in PARTS]),
    "A step's own uncertainty U by fifths of a run, mean over runs.", MADE)

# %% tags=["hide-input"]
apart_at = [part for part in PARTS for row in [parted.loc[f"failed|{part} - successful|{part}"]]
            if has_own and row["lo"] is not None and (row["lo"] > 0 or row["hi"] < 0)]
chapter.text("b3-loop-apart", ", ".join(apart_at) or "none")

# %% [markdown]
# Failed and successful runs are told apart by U in these fifths: {glue:text}`b3-loop-apart`. A
# signal that is low because a run has gone on, over ground that was covered before, is no warning. Turned
# round, a signal below 0.5 would rank these runs better; but we know that from their outcomes, and only
# another log could confirm it.
#
# ## Where the fault is known
#
# On the airline log nobody knows which step was wrong. On the desk we do, because each faulty run
# has one edited step. How often is that step the riskiest? The agent of the desk says the same
# sentence with the same call, so we read U off the calls alone. A step is scored before its own
# observation exists; a fault that the desk answers with an error can therefore show in R one step
# later at the earliest. The last column of the table is the control: how often the *clean* run of
# the same case has its riskiest step at that very place.

# %% tags=["hide-input"]
desk_task = [label.instance_id for label in labels]
desk_fits = (crossed(desk.graphs, desk.local, desk_task) if given.calibrated
             else [None] * len(labels))
desk_runs = solved(desk, desk.local, desk_fits)
clean = {label.instance_id: place[label.trajectory_id] for label in labels if not label.faulty}
aimed = []
for label in labels:
    run = desk_runs[place[label.trajectory_id]]
    if label.failure_step is None or label.failure_step >= len(run.r):
        continue
    twin, where = clean.get(label.instance_id), label.failure_step
    for risk in RISKS:
        top = int(np.argmax(run.r if risk == "R" else run.u))
        of = None if twin is None else desk_runs[twin].r if risk == "R" else desk_runs[twin].u
        aimed.append({"risk": risk, "task": label.instance_id, "hit": top == where, "next": top == where + 1,
                      "chance": 1 / len(run.r), "twin": None if of is None else np.argmax(of) == where})
aimed = pd.DataFrame(aimed)
HITS = {"hit": "at the faulty step", "next": "at the step after", "chance": "a step at random",
        "twin": "its clean run there"}
hits = {risk: by_task.means(rows[list(HITS)].astype(float), rows["task"], drawn(), pairs=[
    ("hit", "chance"), ("hit", "twin")], draws=given.draws).set_index("what")
    for risk, rows in aimed.groupby("risk")}
tables.show(pd.DataFrame([{"highest": RISKS[risk], **{
    text: tables.estimate(table.loc[name], 2) for name, text in HITS.items()}}
    for risk, table in hits.items()]),
    f"Share of {len(aimed) // max(len(hits), 1)} faulty runs of the desk whose highest risk falls "
    "where the fault is.",
    f"{desk.origin}; similarity {desk_by}; intervals by case")

# %% tags=["hide-input"]
for name in ("hit", "chance", "twin"):
    chapter.text(f"b3-desk-{name}", say(hits["R"].loc[name]))
    chapter.text(f"b3-desk-u-{name}", say(hits["U"].loc[name]))
one = desk_runs[place[eye.trajectory_id]]
marks = {truth.failure_step: "the faulty step"}
numbers = {"own uncertainty U": one.u, "distance from goal Q": one.q, "risk R": one.r}
panels = pd.DataFrame([{"number": name, "step": step, "value": float(value), "mark": marks.get(step, "")}
                       for name, values in numbers.items() for step, value in enumerate(values)])
chapter.number("b3-eye-fault", truth.failure_step, 0)
chapter.text("b3-eye-type", truth.failure_type.replace("_", " "))
chapter.number("b3-eye-peak", int(np.argmax(one.r)), 0)
chapter.text("b3-eye-u", str(int(np.argmax(one.u))) if np.ptp(one.u) else "none, all alike")

# %% [markdown]
# The highest R is at the faulty step in {glue:text}`b3-desk-hit` of runs. A step at random would be
# there in {glue:text}`b3-desk-chance`, and the clean run's highest R is there in
# {glue:text}`b3-desk-twin`. For U the three are {glue:text}`b3-desk-u-hit`,
# {glue:text}`b3-desk-u-chance` and {glue:text}`b3-desk-u-twin`.
#
# Now for the run that you scored by eye. The fault was planted at step {glue:text}`b3-eye-fault`
# ({glue:text}`b3-eye-type`). R is highest at step {glue:text}`b3-eye-peak`, and U at step
# {glue:text}`b3-eye-u`. {numref}`fig-b3-eye` has U, Q and R along the run, with the faulty step
# ringed. Who was nearer, you or R? And did either of you see *why*?

# %% mystnb={"figure": {"caption": "The run scored by eye, step by step. Ringed: the step at which the fault was planted. Higher is riskier in all three. Data: the judged set of seed 7, numbers in data/features.", "name": "fig-b3-eye"}} tags=["hide-input"]
show(charts.one_run(panels), name="b3-eye", table=panels,
     alt="Three small panels of a number against the step of one run, own uncertainty, distance "
         "from the goal and risk, with the faulty step ringed.")

# %% [markdown]
# ## What would change our mind
#
# - Log-probabilities of the agent itself, on runs with rewards. The surrogate's surprise is
#   somebody else's, and a signal that fails on it may succeed on the agent's own.
# - A local signal, averaged and not summed, whose AUROC stays above 0.5 over pairs of the same
#   length *and* over pairs of one task, on several logs.
# - Definitions of the paper's step-level risk, repetition score and stagnation score, with their
#   values at other steps and in successful runs.
# - A log on which people marked the step where each run went wrong, and a peak that finds it more
#   often than the same step of a run that went well.
#
# %% [markdown]
# %% [markdown]
# ## Exercises

# %% tags=["hide-input"]
short = 6  # steps of an ordinary desk run
chapter.number("b3-x-short", short, 0)
for key, known in (("failed", True), ("success", False)):
    chapter.number(f"b3-x-long-{key}", runs.loc[runs["failed"].eq(known), "steps"].median(), 1)

# %% [markdown]
# ```{exercise} A fifth is not a fifth
# :label: b3-last
# :nonumber:
# A run has {glue:text}`b3-x-short` steps. How many of them lie in its last fifth, and how often is a
# step taken at random one of these?
# ```

# %%
from tjlib import exercises

steps_there = None  # a number of steps
print(exercises.check("b3-last", steps_there))

# %% [markdown]
# ```{solution-start} b3-last
# :class: dropdown
# ```
#
# Their places are 0, .2, .4, .6, .8 and 1, and the last fifth begins at .8.

# %%
there = peaks.fifths(short) == 4
print(f"{there.sum()} of {short} steps, so a step at random in {100 * there.mean():.0f} % of the cases")

# %% [markdown]
# A "fifth" of the scale is not a fifth of the steps. That is why the figure draws what chance gives
# and not a line at a fifth.
#
# ```{solution-end}
# ```
#
# ```{exercise} Pairs
# :label: b3-pairs
# :nonumber:
# An AUROC is a share of pairs. How many pairs do the runs of this page give, and why does the number of
# pairs say so little about how much is known?
# ```

# %%
pairs_of_runs = None  # a number of pairs
print(exercises.check("b3-pairs", pairs_of_runs, failed=runs["failed"]))

# %% [markdown]
# ```{solution-start} b3-pairs
# :class: dropdown
# ```

# %%
bad, good = (int(runs["failed"].eq(known).sum()) for known in (True, False))
print(f"{bad} x {good} = {bad * good}")

# %% [markdown]
# Each run is in as many pairs as there are runs on the other side, so pairs are far from
# independent, and trials of one task are alike. That is why whole tasks are drawn for the
# intervals.
#
# ```{solution-end}
# ```
#
# ```{exercise} After the fact
# :label: b3-after
# :nonumber:
# Somebody reports, of each score, the direction that has the higher AUROC on these runs. What would
# random numbers then score on average?
# ```
#
# ```{solution-start} b3-after
# :class: dropdown
# ```

# %%
print("undefined here" if spread_of_random is None else
      f"0.5 + {spread_of_random * np.sqrt(2 / np.pi):.3f}, and never below 0.5")

# %% [markdown]
# An AUROC of random numbers is nearly normal around 0.5, and turning it round folds its lower half
# upwards. Whoever turns a score round once its side is known has used the labels. The direction has to
# be said beforehand; ours is that surprise means failure.
#
# ```{solution-end}
# ```
#
# ```{exercise} Sum and mean at one length
# :label: b3-length
# :nonumber:
# Failed runs here have {glue:text}`b3-x-long-failed` steps in the median, successful ones
# {glue:text}`b3-x-long-success`. Predict what happens to the sum form over pairs of the same
# length, and to the mean form.
# ```
#
# ```{solution-start} b3-length
# :class: dropdown
# ```

# %% tags=["hide-input"]
chapter.text("b3-x-length", say(cell("sp_sum", "auroc|same_length")))
chapter.text("b3-x-mean-length", say(cell("sp_mean", "auroc|same_length")))

# %% [markdown]
# Over pairs of the same length a sum and a mean put two runs in the same order, so the two have to
# agree: {glue:text}`b3-x-length` and {glue:text}`b3-x-mean-length`. Whatever the sum had beyond
# that was length.
#
# ```{solution-end}
# ```
#
# ```{exercise} One of two terms
# :label: b3-weights
# :nonumber:
# Rerun with `-p lam_u 0` and with `-p lam_h 0`. Where does the riskiest step go, and which of
# the points in {numref}`fig-b3-where` must it then follow?
# ```
#
# ```{solution} b3-weights
# :class: dropdown
# With `lam_h` 0, R is U alone: values dealt anew put the peak at a step at random, and what is left
# is where the surrogate is surprised. With `lam_u` 0 only history counts, the first step has almost
# none, and the peak moves away from the start in failed, successful and dealt runs alike.
# ```
#
# ```{exercise} What a peak shows
# :label: b3-cause
# :nonumber:
# "The riskiest step of failed runs shows a failing observation far more often than other steps
# do." Give two reasons why this does not show that failing observations cause failure.
# ```
#
# ```{solution} b3-cause
# :class: dropdown
# The step was chosen by a score that a failing observation raises, so it would hold if failing
# observations were dealt at random. And successful runs have to be asked the same: here the
# difference is {glue:text}`b3-fail-more` in failed and {glue:text}`b3-fail-success-more` in
# successful runs.
# ```
#
# ```{exercise} Sentences that depend on a reading
# :label: b3-readings
# :nonumber:
# Rerun with `-p signal entropy` and with `-p embedder minilm`. Which sentence of this page would
# you have to take back?
# ```
#
# ```{solution} b3-readings
# :class: dropdown
# Look for what is said without "here": a sentence on local signals in general that holds under one signal
# only is one about that signal, and a sentence on repetition that holds under one embedder only is one
# about that embedder. What is told apart from 0 under all of them may stay.
# ```

# %% [markdown]
# **Next:** if single steps say little, perhaps their connections say more. [The graph](b4_relational_graph)
# takes the paper's equations apart.
