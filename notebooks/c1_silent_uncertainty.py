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
# # Two ways of looking, one set of cases
#
# **The claim.** An {term}`uncertainty` score that only reads the run sees some {term}`silent faults
# <silent fault>` that an {term}`outcome judge` misses, and fewer than a judge who reads the steps. A silent
# fault leaves the outcome right, so a judge of the outcome has little to go by; a score needs neither the
# outcome nor a judge. Beside the clean run of the same case, RUPA without probabilities rises with
# {glue:text}`c1-kinds-structural` kinds of silent fault, and with {glue:text}`c1-kinds-structural-equal` once
# both runs are scored over the same steps. On the release's runs, the published outcome
# judge rises with {glue:text}`c1-kinds-outcome` and the published {term}`step judge` with
# {glue:text}`c1-kinds-step`. Against
# the clean runs of all cases the score rises with {glue:text}`c1-kinds-clean-structural`, the outcome judge
# with {glue:text}`c1-kinds-clean-outcome` and the step judge with {glue:text}`c1-kinds-clean-step`. Neither
# the paper on judges {cite}`mohammadi2026` nor the one on uncertainty {cite}`rupa2026` puts both on the same
# cases.
#
# ```{admonition} In one minute
# Of {glue:text}`c1-n-silent` silent faults, RUPA without probabilities puts {glue:text}`c1-structural-paired`
# ahead of the clean run of the same case, where a coin would put one half; on their own pairs the published
# outcome judge has {glue:text}`c1-printed-outcome-paired` and the step judge
# {glue:text}`c1-printed-step-paired`. Nobody who runs an agent has such clean twins: against the clean runs of
# all cases, the AUROCs are {glue:text}`c1-structural-clean`, {glue:text}`c1-printed-outcome-clean` and
# {glue:text}`c1-printed-step-clean`. Two plain counts, of repeated actions and of failed observations, have
# {glue:text}`c1-repetition-clean` and {glue:text}`c1-failing-clean` against the same clean runs. RUPA's
# number also hangs on how the words of two steps are compared: with sentence embeddings in place of shared
# words it has {glue:text}`c1-read-minilm` beside the clean run. By shared words again, it has
# {glue:text}`c1-structural-loud` on loud faults against all clean runs; below one half, faulty runs look
# calmer than clean ones.
# ```

# %% [markdown]
# ## The cases
#
# A {term}`fault` is one edit at one step of a run that solves its case, and the run before the edit is its
# {term}`clean parent`. The fault is silent if the customer's outcome came out right all the same, and
# {term}`loud <loud fault>` if it did not ([the testbed chapter](a3_testbed) builds them). This page has
# {glue:text}`c1-n` runs, from {glue:text}`c1-origin`.
#
# A **score** is one number per run, higher where the run is likelier to fail. The methods are those of
# [the benchmark](b5_benchmark):
#
# - `rupa` passes {term}`risk` along {term}`relations <relation>` between steps; `rupa_structural` does the
#   same without probabilities, and {term}`flat <flat score>` averages the same inputs without a graph;
# - `pe`, `sp` and `saup` combine the probabilities of tokens;
# - the {term}`controls <control>` count steps, words, repetitions and failed observations.
#
# Our agent is a script and doubts nothing. A step's {term}`own uncertainty <local uncertainty>` is
# therefore {glue:text}`c1-signal`. We call the small model that read the calls afterwards the *reader*; elsewhere
# in the book it is a {term}`surrogate`. Brackets are 95 % intervals, and a dagger marks an {term}`exact
# binomial one <Clopper-Pearson interval>`.
#
# ```{admonition} Who judged how many
# :class: dropdown
# {glue:text}`c1-coverage`.
# ```
#
# You can run the page on the judging paper's own files, or on another set of ours:
#
# ```bash
# tjlib rerun c1_silent_uncertainty -p traces released
# tjlib testbed --seed 11 --out my_cases
# tjlib rerun c1_silent_uncertainty -p traces my_cases
# ```

# %% tags=["parameters"]
traces: str = "recorded"  # recorded (our desk), released (the paper's files), or a folder of tjlib testbed
embedder: str = "jaccard"  # jaccard (shared words), minilm, bge-m3 (the paper's), or a model's folder
signal: str = "nll"  # own uncertainty of a step's calls, read by a small model: nll, entropy, constant (none)
alarm: float = 0.1  # share of clean runs a score may flag where it is made to flag
draws: int = 1_000  # resamples of whole cases behind each interval
seed: int = 0  # seed of all that is drawn

# %% tags=["hide-input"]
from tjlib import chapter
from tjlib.studies import oncases

given = chapter.check(
    globals(), signal=oncases.SIGNALS,
    alarm=lambda value: None if 0 <= value < 1 else "give 0 or more, and less than 1",
    draws=lambda value: None if 100 <= value <= 20_000 else "give 100 to 20000",
)

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from tjlib import features, sentences, store, tables
from tjlib.charts import analysis
from tjlib.charts import cases as charts
from tjlib.charts.show import show
from tjlib.measure.ahead import against_clean, ahead, changed, score_pairs, suspicion
from tjlib.measure.common import coverage
from tjlib.measure.coverage import AT, area, best, risk_coverage
from tjlib.measure.kinds import trio
from tjlib.measure.located import WHAT, located
from tjlib.measure.table import table
from tjlib.measure.union import alarms, union
from tjlib.studies import ablation
from tjlib.trace import FAULT_TYPES
from tjlib.uncertainty.crossfit import half
from tjlib.uncertainty.graph import build
from tjlib.uncertainty.online import peak
from tjlib.uncertainty.parameters import RELATIONS
from tjlib.uncertainty.peaks import describe
from tjlib.uncertainty.propagate import propagate
from tjlib.uncertainty.signals import Local
from tjlib.uncertainty.similarity import similarity

cases = oncases.load(given.traces, given.signal)
labels, order = cases.labels, [label.trajectory_id for label in cases.labels]
replies = {run.trajectory_id: run.final_answer for run in cases.trajectories}
verdict_table = table(labels, cases.verdicts)
names = tables.judge_names(verdict_table.judges)
by_judge = suspicion(verdict_table).rename(columns=names)
asked = by_judge.columns[by_judge.notna().any()].tolist()
logged = oncases.scored(cases.trajectories, cases.given, given.embedder)
scores = oncases.wide(logged).loc[order]
methods = scores.columns[scores.notna().any()].tolist()
every = pd.concat([by_judge[asked], scores[methods]], axis=1)
MEAN = {"nll": "mean negative log-probability", "entropy": "mean entropy"}.get(given.signal)
READ = f"the {MEAN} of the calls' tokens as SmolLM2 read them, in nats" if cases.given else "none"
RUNS = {"recorded": "our own desk, as stored in data/recorded",
        "released": "the judging paper's release"}.get(given.traces, given.traces)
BY = f"similarity {given.embedder}; own uncertainty: {READ}"
MADE = f"{cases.origin}; {BY}"  # of verdicts and scores
SCORED = f"measured here: {RUNS}; {BY}"  # of scores alone

# %% tags=["hide-input"]
pairs = score_pairs(labels, every, replies)
rng = lambda: np.random.default_rng(given.seed)  # noqa: E731
paired = ahead(pairs, rng(), list(every), draws=given.draws)
clean = against_clean(labels, every, rng(), draws=given.draws)
CELLS = [("silent", "all"), *((side, kind) for side in ("silent", "loud") for kind in FAULT_TYPES),
         ("loud", "all")]
CELLS = [cell for cell in CELLS
         if any(paired.loc[(paired["survival"] == cell[0]) & (paired["group"] == cell[1]), "n"] > 0)]
TITLE = {cell: f"{cell[1]} ({cell[0]})" if cell[1] != "all" else f"all {cell[0]}" for cell in CELLS}
at = {(what, row["scorer"], row["survival"], row["group"]): row
      for what, frame in (("paired", paired), ("clean", clean)) for row in frame.to_dict("records")}
NOWHERE = {"value": None, "lo": None, "hi": None, "n": 0, "chance": None,
           "why": "undefined: no such score here"}


def pick(what, scorer, side="silent", group="all"):
    """Return one estimate, or one that says that there is none."""
    return at.get((what, scorer, side, group), NOWHERE)


def say(key, row):
    """Put an estimate into the text."""
    chapter.text(f"c1-{key}", sentences.estimate(row))


def moved(scorer, above, what="paired"):
    """Name the kinds of fault a score tells apart from a coin, in one direction."""
    rows = [(TITLE[cell], pick(what, scorer, *cell)) for cell in CELLS if cell[1] != "all"]
    named = [name for name, row in rows if row["lo"] is not None
             and (row["lo"] > 0.5 if above else row["hi"] < 0.5)]
    named += [name for name, row in rows if row["value"] is not None and row["lo"] is None
              and row["value"] == (1 if above else 0)]
    return ", ".join(named) or "none"


def kinds_above(rows, scorer):
    """Count the kinds of silent fault that a score puts ahead, the interval above a coin."""
    kinds = rows[(rows["scorer"] == scorer) & (rows["survival"] == "silent")
                 & rows["group"].ne("all") & rows["value"].notna()]
    # A value without an interval is the same in every resample.
    ahead_of_coin = kinds["lo"].fillna(kinds["value"]).astype(float) > 0.5
    return f"{ahead_of_coin.sum()} of {len(kinds)}"


# %% tags=["hide-input"]
OUTCOME = next((names[j] for j in [trio(verdict_table.judges)[0]] if j in names), "(no outcome judge)")
SHORT = {"structural": "rupa_structural", "rupa": "rupa", "outcome": OUTCOME, "flat": "flat",
         "repetition": "repetition", "failing": "failing_share", "words": "n_words",
         "fewer": "fewer_steps"}
say("structural-paired", pick("paired", "rupa_structural"))
for key in ("structural", "repetition", "failing"):
    say(f"{key}-clean", pick("clean", SHORT[key]))
for key in ("structural", "rupa"):
    say(f"{key}-loud", pick("clean", SHORT[key], "loud"))
    chapter.text(f"c1-{key}-clean-below", moved(SHORT[key], False, "clean"))
for key in ("structural", "rupa", "outcome", "flat", "words"):
    chapter.text(f"c1-{key}-below", moved(SHORT[key], False))
for key, name in SHORT.items():
    if key != "fewer":
        chapter.text(f"c1-{key}-above", moved(name, True))
    if key not in ("outcome", "words"):
        chapter.text(f"c1-{key}-clean-above", moved(name, True, "clean"))
chapter.text("c1-outcome-name", OUTCOME)
chapter.number("c1-n", len(labels), 0)
chapter.number("c1-n-silent", pick("paired", "random")["n"], 0)
chapter.number("c1-n-clean", sum(not label.faulty for label in labels), 0)
chapter.text("c1-origin", RUNS)
chapter.text("c1-signal", READ)
chapter.text("c1-coverage", coverage(verdict_table))

# %% [markdown]
# ## Beside its own clean run
#
# {numref}`fig-c1-grid` asks every judge and every method the same question: does the fault score higher than
# its clean parent? A panel is one kind of fault. A mark at 1 says that the score rises with every fault of
# the kind, a mark at 0 that it falls with every one, and the dashed line at one half is a coin. What is drawn
# is the share of pairs in which the fault is ahead, a tie counting one half: {term}`paired discrimination` on
# the scale of an {term}`AUROC`. Both runs have the same customer, order and request, so the wording of the
# case cannot help.
#
# A judge's score is the confidence it gave that the run is faulty or, if it gives none, its flag. For a flag,
# the scale is one half plus half of the difference that [the analysis](a7_analysis) reports. Hollow marks are
# the flags of the published judges on the release's own pairs, which are other cases.

# %% tags=["hide-input"]
FIGURE = ["rupa", "rupa_structural", "flat", "sp_mean", "repetition", "failing_share", "n_words"]
FULL = [name for name in asked if every[name].notna().all() and name != "reply:words"]
VARYING = [name for name in FULL if every[name].min() < every[name].max()]
counts = store.published("parent_pairs")
PRINTED = ["programmatic", "outcome:qwen2.5:14b", "step:qwen2.5:14b", "step:llama3.1:8b",
           "selfcons3:qwen2.5:14b"]
published = tables.judge_names(PRINTED)
printed = ahead(counts.replace({"judge": published}), rng(), list(published.values()),
                draws=given.draws)
own_names = {name: "rules" if judge in ("rules", "programmatic") else name
             for judge, name in names.items()}
drawn = pd.concat([
    printed.assign(origin="published"),
    paired[paired["scorer"].isin([*VARYING, *FIGURE])].replace({"scorer": own_names}).assign(
        origin="here")])
drawn = drawn.assign(
    panel=[TITLE.get((s, g)) for s, g in zip(drawn["survival"], drawn["group"], strict=True)],
    shown=[tables.estimate(row, 2) for row in drawn.to_dict("records")]).dropna(subset=["panel"])
drawn = drawn[drawn["value"].notna() & drawn["group"].ne("all")].astype(dict.fromkeys(("value", "lo", "hi"), float)).round(3)
rows = [*published.values(), *(own_names[n] for n in VARYING), *FIGURE]
rank = {name: i for i, name in enumerate(dict.fromkeys(rows))}
for key, judge in (("outcome", PRINTED[1]), ("step", PRINTED[2])):
    row = printed[(printed["scorer"] == published[judge]) & (printed["group"] == "all")]
    say(f"printed-{key}-paired", row[row["survival"] == "silent"].to_dict("records")[0])
    chapter.text(f"c1-kinds-{key}", kinds_above(printed, published[judge]))
chapter.text("c1-kinds-structural", kinds_above(paired, "rupa_structural"))
panel = {title: i for i, title in enumerate(TITLE.values())}
drawn = drawn.iloc[np.lexsort((drawn["scorer"].map(rank), drawn["panel"].map(panel)))]

# %% mystnb={"figure": {"caption": "Paired discrimination by kind of fault, with intervals by whole cases, exact binomial where all pairs agree. Rows: judges of every run that do not say the same of all, then uncertainty methods, then counts. Dashed: a coin. Hollow: published judges, flags only, on the release's pairs. Data: the cases chosen at the top of this page; parent_pairs.csv in data/published.", "name": "fig-c1-grid"}} tags=["hide-input"]
show(charts.grid(drawn[["panel", "scorer", "survival", "origin", "value", "lo", "hi", "shown"]]),
     name="c1-grid", table=drawn[["panel", "scorer", "origin", "shown", "n"]],
     alt="One panel for each kind of fault, one row a judge or method: a point for the share of pairs "
         "in which the fault scores higher than its clean run, with an interval, beside a dashed line "
         "at one half.")

# %% [markdown]
# `rupa_structural` rises with {glue:text}`c1-structural-above`, and falls with
# {glue:text}`c1-structural-below`. Compare the two plain counts: `repetition`, the closest match of a step to an
# earlier one, rises with {glue:text}`c1-repetition-above`; `failing_share`, the share of failed observations,
# with {glue:text}`c1-failing-above`. What RUPA adds to them has to come from the other kinds; for a skipped
# step, a later section asks how much of it is length.
#
# ```{admonition} The other rows in words
# :class: dropdown
# Where no kind is named, the score ties or goes both ways.
#
# - `rupa`, with a step's own uncertainty, rises with {glue:text}`c1-rupa-above` and falls with
#   {glue:text}`c1-rupa-below`.
# - `flat`, the inputs of `rupa_structural` without a graph, rises with {glue:text}`c1-flat-above` and falls
#   with {glue:text}`c1-flat-below`.
# - `n_words`, the number of words, rises with {glue:text}`c1-words-above` and falls with
#   {glue:text}`c1-words-below`.
# - The outcome judge that was asked about these runs, {glue:text}`c1-outcome-name`, rises with
#   {glue:text}`c1-outcome-above` and falls with {glue:text}`c1-outcome-below`.
# ```
#
# A score that falls with a fault is a finding too. In {glue:text}`c1-lowest` faults of the type `wrong_tool`, a
# call made twice, the step of the fault is the one at which the reader is least surprised in the whole run: it
# has just read the same words. Such a score points its user away from the fault.
#
# The intervals say less than they seem to. A fault type is one edit at one place, and our desk answers the same
# way each time, so many pairs can be one experiment repeated. No interval tells whether another redundant
# call, or another sentence, would do the same.

# %% [markdown]
# ## Among clean runs of other cases
#
# Nobody who runs an agent has the clean twin of a run. {numref}`fig-c1-clean` does without it and sets each
# kind of fault against all {glue:text}`c1-n-clean` clean runs. The mark is the share of pairs of a fault and
# any clean run in which the fault scores higher. Cases now differ in what the customer asked and what the
# desk allows, so look for marks that move towards the dashed line: those scores vary with the case more than
# with the fault.

# %% tags=["hide-input"]
source = store.load("published")
theirs = suspicion(table(source.labels, source.verdicts)).rename(columns=published)
printed_clean = against_clean(source.labels, theirs, rng(), draws=given.draws)
for key, judge in (("outcome", PRINTED[1]), ("step", PRINTED[2])):
    row = printed_clean[(printed_clean["scorer"] == published[judge])
                        & (printed_clean["group"] == "all")]
    say(f"printed-{key}-clean", row[row["survival"] == "silent"].to_dict("records")[0])
    chapter.text(f"c1-kinds-clean-{key}", kinds_above(printed_clean, published[judge]))
chapter.text("c1-kinds-clean-structural", kinds_above(clean, "rupa_structural"))
ours = clean[clean["scorer"].isin([*VARYING, *FIGURE])].replace({"scorer": own_names})
apart = pd.concat([printed_clean[printed_clean["scorer"].isin(
    [published[judge] for judge in PRINTED[:3]])].assign(origin="published"),
    ours.assign(origin="here")])
apart = apart.assign(
    panel=[TITLE.get((s, g)) for s, g in zip(apart["survival"], apart["group"], strict=True)],
    shown=[tables.estimate(row, 2) for row in apart.to_dict("records")])
apart = apart[apart["group"].ne("all")].dropna(subset=["panel", "value"]).astype(
    dict.fromkeys(("value", "lo", "hi"), float)).round(3)
apart = apart.iloc[np.lexsort((apart["scorer"].map(rank), apart["panel"].map(panel)))]

# %% mystnb={"figure": {"caption": "AUROC of each kind of fault against all clean runs, with intervals by whole cases; none where every resample agrees. Rows as before. Dashed: a coin. Hollow: published judges by stated confidence, on the release's runs, drawn by run; the other two are in the table below. Data: the cases chosen at the top of this page; verdict_patterns.csv in data/published.", "name": "fig-c1-clean"}} tags=["hide-input"]
show(charts.grid(apart[["panel", "scorer", "survival", "origin", "value", "lo", "hi", "shown"]],
                 "fault ahead of any clean run,"),
     name="c1-clean", table=apart[["panel", "scorer", "origin", "shown", "n"]],
     alt="One panel for each kind of fault, one row a judge or method: a point for the AUROC against "
         "all clean runs with an interval, beside a dashed line at one half.")

# %% [markdown]
# Over all loud faults, `rupa` has {glue:text}`c1-rupa-loud` and `rupa_structural`
# {glue:text}`c1-structural-loud`. The folded table has every judge and method over all silent and all loud
# faults, in both readings; `rupa_settled` in it is a variant of ours that [a later chapter](c1_improvements)
# explains.
#
# ```{admonition} Which scores lie above and below one half
# :class: dropdown
# Above: `rupa_structural` on {glue:text}`c1-structural-clean-above`; `rupa` on
# {glue:text}`c1-rupa-clean-above`; `flat` on {glue:text}`c1-flat-clean-above`; `repetition` on
# {glue:text}`c1-repetition-clean-above`; `failing_share` on {glue:text}`c1-failing-clean-above`;
# `fewer_steps`, which counts, on {glue:text}`c1-fewer-clean-above`. Below: `rupa_structural` on
# {glue:text}`c1-structural-clean-below`; `rupa` on {glue:text}`c1-rupa-clean-below`.
# ```

# %% tags=["hide-input"]
why = {row["method"]: row["why"] for row in logged.to_dict("records") if row["value"] is None}
lines = []
for name in published.values():
    line = [f"{name}, published"]
    for side in ("silent", "loud"):
        for frame in (printed, printed_clean):
            row = frame[(frame["scorer"] == name) & (frame["survival"] == side)
                        & (frame["group"] == "all")].to_dict("records")[0]
            line.append(tables.estimate(row, 2))
    lines.append(line)
for name in [*every, *(m for m in scores if m not in methods)]:
    line = [own_names.get(name, name)]
    for side in ("silent", "loud"):
        line += [f"undefined: {why[name]}" if name not in every else
                 tables.estimate(pick(what, name, side), 2) for what in ("paired", "clean")]
    lines.append(line)
tables.show(pd.DataFrame(lines, columns=["judge or method", "silent: beside its clean run",
                                         "silent: AUROC, all clean runs",
                                         "loud: beside its clean run",
                                         "loud: AUROC, all clean runs"]),
            "Every judge and every method over all silent and all loud faults; one half is a coin, "
            "higher puts faults first. Published judges: flags beside the clean run, stated confidence "
            "against all.", f"{MADE}; published verdicts in data/published", folded=True)

# %% [markdown]
# ## Under other readings
#
# The RUPA paper does not say, for a log like this, how the words of two steps are to be compared, nor what a
# step's own uncertainty is read off. For our own desk all four combinations are stored. Over silent faults,
# beside the clean run, `rupa_structural` has {glue:text}`c1-read-jaccard` with shared words and
# {glue:text}`c1-read-minilm` with sentence embeddings; on `wrong_tool` alone it has
# {glue:text}`c1-read-jaccard-tool` and {glue:text}`c1-read-minilm-tool`. If two such numbers lie on either
# side of one half, a choice that the method leaves open has found the fault or hidden it.
#
# The reason is in the rows of `flat`: by either similarity, the repeated call lies nearer to the goal than the
# call it replaced. With shared words the edge of the repetition outweighs that, with embeddings it does not.
# Counting repetitions needs no such choice here, because calls that are equal to the letter repeat under
# either.

# %% tags=["hide-input"]
READINGS = [(by, of) for by in ("jaccard", "minilm") for of in ("entropy", "nll")]
lines, cell = [], {}
stored = features.read("testbed") if given.traces == "recorded" else None
for by, of in READINGS if stored else ():
    held = oncases.wide(features.scores(stored, by, of))[["rupa", "rupa_structural", "flat"]]
    beside = ahead(score_pairs(labels, held, replies), rng(), list(held), draws=given.draws)
    apart_by = against_clean(labels, held, rng(), draws=given.draws)
    for row in beside.to_dict("records"):
        cell[by, of, row["scorer"], row["survival"], row["group"]] = row
    for name in held:
        one, other = (frame[(frame["scorer"] == name) & (frame["group"] == "all")].set_index(
            "survival").to_dict("index") for frame in (beside, apart_by))
        lines.append([by, of, name, tables.estimate(one["silent"], 2),
                      tables.estimate(cell[by, of, name, "silent", "wrong_tool"], 2),
                      tables.estimate(other["silent"], 2), tables.estimate(other["loud"], 2)])
for by in ("jaccard", "minilm"):
    for key, kind in (("", "all"), ("-tool", "wrong_tool")):
        say(f"read-{by}{key}", cell.get((by, "entropy", "rupa_structural", "silent", kind),
                                        NOWHERE | {"why": "undefined: stored for our desk only"}))
readings = pd.DataFrame(lines, columns=[
    "similarity", "own uncertainty", "method", "silent: beside its clean run",
    "wrong_tool: beside its clean run", "silent: AUROC, all clean runs",
    "loud: AUROC, all clean runs"])
tables.show(readings, "RUPA and its inputs under other readings; one half is a coin.",
            "measured here: our own desk, scores in data/features") if lines else print(
    "Other readings are stored for our own desk; rerun with another -p embedder.")

# %% [markdown]
# ## With the thoughts emptied
#
# A score that reads text may read the wording of a fault and not the fault. In the release, a faulty step often
# comes with a sentence of its own; on our desk, the thought depends on the tool alone. So every run is scored
# again with its thoughts emptied and everything else unchanged. Of {glue:text}`c1-blank-cells` pairs of a
# method and a kind of fault on these cases, that moves {glue:text}`c1-blank-moved`:
# {glue:text}`c1-blank-which`.
#
# {numref}`fig-c1-thoughts` does the same on the release; compare the square, as logged, with the circle,
# without thoughts. On `wrong_tool`, `flat` goes from {glue:text}`c1-release-flat-logged` to
# {glue:text}`c1-release-flat-blank`. On `premature_stop`, `rupa_structural` goes from
# {glue:text}`c1-release-stop-logged` to {glue:text}`c1-release-stop-blank`. An uncertainty score measured on the
# release as it stands is in part a reading of those sentences.
#
# ```{admonition} What is scored anew, and from what
# :class: dropdown
# - From the text of calls and observations: `rupa_structural`, `flat`, `repetition`, `failing_share` and the
#   counts, all computed anew.
# - From stored numbers of calls: `pe`, `sp`, and the steps' own uncertainty in `rupa`, `flat_u`, `saup` and
#   `uprop_single`, whose other inputs are computed anew. These numbers are of the calls' tokens alone. But the
#   reader had read the thoughts before the calls, so they are not what it would say of a run without any.
# - Not at all: `tracer`, whose stored reading mixes the tokens of thought and call; `verbalized` and `uprop`,
#   which need what no run here holds; and judges that are models, which would have to be asked again.
# ```

# %% tags=["hide-input"]
blanked = oncases.wide(oncases.scored(cases.trajectories, cases.given, given.embedder, blanked=True))
still = [name for name in methods if blanked[name].notna().any()]
without = ahead(score_pairs(labels, blanked[still], replies), rng(), still, draws=100)
without = {(row["scorer"], row["survival"], row["group"]): row for row in without.to_dict("records")}
cells = [(name, *cell) for name in still for cell in CELLS if cell[1] != "all"]
moves = [(key, pick("paired", *key)["value"], without[key]["value"]) for key in cells]
moves = [(key, old, new) for key, old, new in moves
         if old is not None and new is not None and abs(old - new) > 1e-9]
chapter.number("c1-blank-cells", len(cells), 0)
chapter.number("c1-blank-moved", len(moves), 0)
chapter.text("c1-blank-which", "; ".join(
    f"{name} on {TITLE[side, kind]}, from {old:.2f} to {new:.2f}"
    for (name, side, kind), old, new in moves[:6]) + "; and more" * (len(moves) > 6) or "none")

release = store.released_counts("pairs")
parts = {version: ahead(rows, rng(), list(rows["judge"].unique()), draws=given.draws)
         for version, rows in release.groupby("version", sort=False)}
there = pd.concat([frame.assign(version=version) for version, frame in parts.items()])
there = there[there["value"].notna() & there["group"].ne("all")].assign(
    panel=lambda rows: rows["group"] + " (" + rows["survival"] + ")",
    shown=lambda rows: [tables.estimate(row, 2) for row in rows.to_dict("records")])
told = {(r["version"], r["scorer"], r["group"]): r["value"] for r in there.to_dict("records")}
for key, scorer, kind in (("flat", "flat", "wrong_tool"), ("stop", "rupa_structural", "premature_stop")):
    for short, version in (("logged", "as logged"), ("blank", "thoughts emptied")):
        chapter.number(f"c1-release-{key}-{short}", told[version, scorer, kind], 2)

# %% mystnb={"figure": {"caption": "The release's faults beside their clean runs, as logged and with thoughts emptied, by scores that read no probabilities; intervals by pairs. Dashed: a coin. Data: measured here on the released trajectories with shared words as similarity; released_pairs.csv in data/recorded.", "name": "fig-c1-thoughts"}} tags=["hide-input"]
order_of = ["rupa_structural", "flat", "n_words"]
there = there[there["scorer"].isin(order_of)]
there = there.iloc[np.lexsort((there["scorer"].map(order_of.index), there["group"],
                               there["survival"] == "loud"))]
there = there.astype(dict.fromkeys(("value", "lo", "hi"), float))
show(charts.versions(there[["panel", "scorer", "version", "value", "lo", "hi", "shown"]]),
     name="c1-thoughts", table=there[["panel", "scorer", "version", "shown", "n"]],
     alt="One panel for each kind of fault, one row a score: a square for runs as logged and a circle "
         "for runs without thoughts, with intervals, beside a dashed line at one half.")

# %% [markdown]
# ## A step that is not there
#
# A skipped step and an early stop make a run shorter, and a score may notice only that. The number of steps has
# a paired discrimination of {glue:text}`c1-steps-skip` on a silent skipped step, because the parent is always
# longer; turned round, `fewer_steps` has {glue:text}`c1-fewer-skip`. A mean over steps is not free of this
# either: take a step out, and it is a mean over other steps. Since RUPA's risk rises over the first steps while
# {term}`momentum` gathers, a mean over fewer of them is lower. On `premature_stop`, `rupa_structural` has
# {glue:text}`c1-structural-stop`, and without momentum {glue:text}`c1-no-momentum-stop`.
#
# So we score each clean parent again without the steps that the shorter fault lacks. After an early stop the
# two are then the same run and every score of steps must tie. After a skipped step, what is left is what the
# missing step changed in the others.

# %% tags=["hide-input"]
shorter, read = oncases.shortened(cases)
SHORTER = [(side, kind) for side, kind in CELLS if kind in ("skipped_precondition", "premature_stop")]
equal = {}
if shorter:
    matched = oncases.wide(oncases.scored(shorter, read, given.embedder))
    some = [name for name in methods if name in matched and matched[name].notna().any()]
    same_steps = score_pairs(labels, scores[some], replies, parents=matched[some])
    equal = {(row["scorer"], row["survival"], row["group"]): row for row in ahead(
        same_steps, rng(), some, draws=given.draws).to_dict("records")}
say("steps-skip", pick("paired", "n_steps", "silent", "skipped_precondition"))
say("structural-stop", pick("paired", "rupa_structural", "loud", "premature_stop"))
say("fewer-skip", pick("paired", "fewer_steps", "silent", "skipped_precondition"))
for key, name in (("structural", "rupa_structural"), ("rupa", "rupa"), ("sp", "sp_mean")):
    say(f"{key}-skip", pick("paired", name, "silent", "skipped_precondition"))
    say(f"{key}-skip-equal", equal.get((name, "silent", "skipped_precondition"),
                                       NOWHERE))
instead = [row for (name, *cell), row in equal.items() if tuple(cell) in SHORTER]
others = paired[[cell not in SHORTER for cell in zip(paired["survival"], paired["group"], strict=True)]]
chapter.text("c1-kinds-structural-equal", kinds_above(
    pd.DataFrame([*others.to_dict("records"), *instead]), "rupa_structural"))
lines = [[name, *(text for cell in SHORTER for text in (
    tables.estimate(pick("paired", name, *cell), 2),
    tables.estimate(equal.get((name, *cell), NOWHERE), 2)))]
         for name in methods if name in (
             *FIGURE, "pe", "saup_d", "uprop_single", "n_steps", "fewer_steps")]
tables.show(pd.DataFrame(lines, columns=["method", *(f"{TITLE[cell]}: {what}" for cell in SHORTER
                                                     for what in ("as logged", "same steps"))]),
            "Paired discrimination of faults that shorten the run, against the clean parent as it is "
            "and without the steps the fault lacks.", SCORED)

# %% [markdown]
# On a silent skipped step, `rupa_structural` goes from {glue:text}`c1-structural-skip` to
# {glue:text}`c1-structural-skip-equal`. One half on the right says that the lead on the left was only about
# which steps the mean was over. `rupa` goes from {glue:text}`c1-rupa-skip` to
# {glue:text}`c1-rupa-skip-equal`, `sp_mean` from {glue:text}`c1-sp-skip` to {glue:text}`c1-sp-skip-equal`. If
# those two keep their lead, that may mean no more than that the reader had read less by then: its numbers for
# the parent were taken with the step still there.
#
# ## Which runs to hand over
#
# Suppose a human looks at the runs that a score suspects most. Some faults stay among the runs that are kept.
# {numref}`fig-c1-coverage` draws the share of faults among the runs kept against the share kept: a good score
# falls steeply to the left, and one that knows nothing stays on its thin dashed line. Silent faults with all
# clean runs are one set, loud faults with all clean runs the other. Faults are far more frequent here than at
# any desk, so compare curves, not levels.

# %% tags=["hide-input"]
CURVES = [name for name in (*FULL, "rupa", "rupa_structural", "flat", "sp_mean", "saup_d",
                            "repetition", "failing_share", "n_words", "fewer_steps", "random")
          if name in FULL or name in methods]
faulty = np.array([label.faulty for label in labels])
case = np.array([label.instance_id or label.trajectory_id for label in labels])
side_of = np.array(["loud" if label.outcome_correct is False else "silent" for label in labels])
curves, ideal = [], {}
for side in ("silent", "loud"):
    kept = ~faulty | (side_of == side)
    found = risk_coverage(faulty[kept], every.loc[kept, CURVES], case[kept], rng(),
                          draws=min(given.draws, 1000))
    curves.append(found.assign(survival=side, level=faulty[kept].mean()))
    ideal[side] = area(best(faulty[kept], AT))
    mine = [row for row, x in enumerate(source.labels)
            if not x.faulty or x.outcome_correct is (side == "silent")]
    if given.traces != "released":  # there these judges are among the others
        they = np.array([source.labels[row].faulty for row in mine])
        drawn_by = theirs.iloc[mine].drop(columns="rules").add_suffix(", published")
        curves.append(risk_coverage(they, drawn_by, mine, rng(), draws=min(given.draws, 1000))
                      .assign(survival=side, level=they.mean()))
curves = pd.concat(curves, ignore_index=True).replace({"scorer": own_names})
curves = curves.assign(shown=[tables.estimate(row, 2) for row in curves.to_dict("records")])
share = dict(zip(names.values(), verdict_table.flag.mean(axis=0), strict=True))
SHOWN = [*(own_names[name] for name in VARYING if share[name] >= 0.01),
         *(f"{published[judge]}, published" for judge in PRINTED[1:3]),
         "rupa", "rupa_structural", "repetition", "failing_share"]
curve = curves[curves["kept"].isin(AT[1::2]) & curves["scorer"].isin(SHOWN)]
curve = curve.astype(dict.fromkeys(("kept", "value", "lo", "hi", "level"), float)).round(3)
curve = curve.sort_values("scorer", key=lambda names: names.map(SHOWN.index), kind="stable")
curve["lo"], curve["hi"] = curve["lo"].fillna(curve["value"]), curve["hi"].fillna(curve["value"])

# %% mystnb={"figure": {"caption": "Faults left among the runs kept, by share of runs kept, with bands by whole cases; other scores are in the table below, and a judge that flags fewer than one run in a hundred is not drawn. Solid: silent faults and all clean runs; broken line: loud faults and all clean runs. Thin dashes: the share with every run kept. Lower is better. Data: the cases chosen at the top of this page; verdict_patterns.csv in data/published, drawn by run.", "name": "fig-c1-coverage"}} tags=["hide-input"]
show(charts.coverage(curve[["scorer", "survival", "kept", "value", "lo", "hi", "level", "shown"]]),
     name="c1-coverage", table=curve[["scorer", "survival", "kept", "shown"]],
     alt="One panel for each judge or method: two lines with bands for the share of faults among the "
         "runs kept, over the share of runs kept, beside dashed levels.")

# %% tags=["hide-input"]
whole = curves[curves["kept"].isna()]
lines = {}
for row in whole.to_dict("records"):
    lines.setdefault(row["scorer"], {})[row["survival"]] = tables.estimate(row, 2)
for key, judge in (("outcome", PRINTED[1]), ("step", PRINTED[2])):
    name = published[judge] + ", published" * (given.traces != "released")
    chapter.text(f"c1-area-printed-{key}", lines[name]["silent"])
lines["a score that knows"] = {side: f"{value:.2f}" for side, value in ideal.items()}
lines["no knowledge"] = {side: f"{curves.loc[curves['survival'] == side, 'level'].iloc[0]:.2f}"
                         for side in ideal}
for key, name in (("structural", "rupa_structural"), ("rupa", "rupa"),
                  ("repetition", "repetition"), ("failing", "failing_share"), ("rules", "rules")):
    chapter.text(f"c1-area-{key}", lines.get(name, {}).get("silent", "undefined (no such score here)"))
for key, name in (("known", "a score that knows"), ("level", "no knowledge")):
    chapter.text(f"c1-area-{key}", lines[name]["silent"])
tables.show(pd.DataFrame.from_dict(lines, orient="index").rename_axis("judge or method").rename(
    columns=lambda side: f"{side} faults and all clean runs"),
    "Share of faults among the runs kept, averaged over all shares kept; lower is better.", MADE, folded=True)

# %% [markdown]
# The mean height of a curve sums it up: over all shares kept, how much of what is kept is faulty. For silent
# faults with all clean runs it is {glue:text}`c1-area-structural` by `rupa_structural`,
# {glue:text}`c1-area-rupa` by `rupa`, {glue:text}`c1-area-repetition` by counting repetitions,
# {glue:text}`c1-area-failing` by counting failed observations and {glue:text}`c1-area-rules` by the rules. The
# published outcome judge has {glue:text}`c1-area-printed-outcome`, the step judge
# {glue:text}`c1-area-printed-step`. A score that knows would have {glue:text}`c1-area-known`, one that knows
# nothing {glue:text}`c1-area-level`.

# %% [markdown]
# ## Which relation carries which fault
#
# Take one relation out of the graph, score every run again, and see which fault loses its lead.
# {numref}`fig-c1-relations` does this for `rupa_structural`, in which relations are all there is besides the
# {term}`goal <goal alignment>` and the observations. A mark left of the dashed line says that the part carried
# the fault; on the line, the fault does not need it, or another part carries it too. Goal and momentum are no
# relations and stand below them. No single part moves these kinds, which are not drawn:
# {glue:text}`c1-carry-none`.
#
# These changes are told apart from nothing. In `rupa_structural`: {glue:text}`c1-carry-structural`. In `rupa`:
# {glue:text}`c1-carry-rupa`.

# %% tags=["hide-input"]
by = similarity(given.embedder)
graphs = [build(run, similarity=by) for run in cases.trajectories]
u = oncases.own(cases)
FORMS = {"rupa_structural": [Local((0.0,) * len(x.u), "constant") for x in u]}
FORMS |= {"rupa": u} if "rupa" in methods else {}
DROPPED = [*(f"no_{name}" for name in RELATIONS), "no_goal", "no_momentum"]
carry = {}
for form, of in FORMS.items():
    parts = ablation.components(graphs, of, case, given.seed, names=["full", *DROPPED])
    frame = pd.DataFrame({name: column[:, 0] for name, column in parts.items()}, index=order)
    carry[form] = changed(score_pairs(labels, frame, replies), rng(), dict.fromkeys(DROPPED, "full"),
                          draws=given.draws)


def carried(form):
    """Name the changes that are told apart from nothing."""
    if form not in carry:
        return "undefined (no own uncertainty here)"
    named = [f"{row['scorer'].replace('_', ' ')} on {TITLE[row['survival'], row['group']]} "
             f"({row['value']:+.2f})"
             for row in carry[form].to_dict("records") if row["group"] != "all" and row["value"]
             and (row["lo"] is None or row["lo"] > 0 or row["hi"] < 0)]
    return ", ".join(named) or "none"


for key, form in (("structural", "rupa_structural"), ("rupa", "rupa")):
    chapter.text(f"c1-carry-{key}", carried(form))
rows = carry["rupa_structural"].set_index(["scorer", "survival", "group"])["value"]
stop = pick("paired", "rupa_structural", "loud", "premature_stop")["value"]
chapter.number("c1-no-momentum-stop", None if stop is None else stop + rows[
    "no_momentum", "loud", "premature_stop"], 2)
twice = [(x.u, label.failure_step) for x, label in zip(u, labels, strict=True)
         if label.failure_type == "wrong_tool" and label.failure_step is not None]
least = sum(own[step] == min(own) for own, step in twice)
chapter.text("c1-lowest", f"{least} of {len(twice)}" if cases.given else
             "(undefined: no own uncertainty here)")
lost = carry["rupa_structural"]
lost = lost[lost["group"].ne("all")]
moving = {cell for cell, rows in lost.groupby(["survival", "group"]) if rows["value"].any()}
chapter.text("c1-carry-none", ", ".join(
    TITLE[cell] for cell in CELLS if cell[1] != "all" and cell not in moving) or "none")
lost = lost[[cell in moving for cell in zip(lost["survival"], lost["group"], strict=True)]].assign(
    panel=lambda f: [TITLE[cell] for cell in zip(f["survival"], f["group"], strict=True)],
    label=lambda f: f["scorer"].str.replace("_", " "), published=None,
    shown=lambda f: [tables.estimate(row, 2) for row in f.to_dict("records")])
lost = lost.astype(dict.fromkeys(("value", "lo", "hi", "published"), float))

# %% mystnb={"figure": {"caption": "Change in paired discrimination of structural RUPA when a relation, the goal or momentum is taken away, with intervals by whole cases; none where every resample has the same change. Dashed: no change; left of it the part carried the fault. Data: the cases chosen at the top of this page.", "name": "fig-c1-relations"}} tags=["hide-input"]
show(analysis.forest(lost, "change, share of pairs", shared=True), name="c1-relations",
     table=lost[["panel", "label", "shown"]],
     alt="One panel for each kind of fault, one row a part taken away: a point for the change in paired "
         "discrimination with an interval, beside a dashed line at no change.")

# %% [markdown]
# The folded table says where relations fire at all: in how many faults one of their edges ends at the step of
# the fault, or a failed observation reaches the step after, beside the clean parents at the same place.

# %% tags=["hide-input"]
runs_of = {form: [propagate(graph, x) for graph, x in zip(graphs, of, strict=True)]
           for form, of in FORMS.items()}
steps = pd.concat([describe(run) for run in runs_of["rupa_structural"]])
steps = steps.set_index(["trajectory_id", "step"])
FIRES = {f"{name} at the step": (f"share|{name}", 0)
         for name in ("repetition", "progression", "parallel")}
FIRES["feedback into the next step"] = ("share|feedback", 1)


def fires(who, step, column):
    """Tell whether a relation reaches a step of a run; None where there is no such step."""
    return bool(steps.loc[(who, step), column] > 0) if (who, step) in steps.index else None


lines = []
for kind in FAULT_TYPES:
    mine = [x for x in labels if x.failure_type == kind and x.failure_step is not None]
    line = [kind]
    for column, later in FIRES.values():
        told_of = []
        for whose in ("trajectory_id", "parent_id"):
            hits = [fires(getattr(x, whose), x.failure_step + later, column) for x in mine]
            hits = [hit for hit in hits if hit is not None]
            told_of.append(f"{sum(hits)} of {len(hits)}" if hits else "no such step")
        line.append(f"{told_of[0]}; clean: {told_of[1]}")
    lines.append(line)
tables.show(pd.DataFrame(lines, columns=["fault", *FIRES]),
            "Runs in which a relation reaches the step of the fault or the step after, faults and "
            "their clean parents at the same step.", SCORED, folded=True)

# %% [markdown]
# ## Does it point at the step?
#
# Risk that rises should rise where the fault is. A step's risk leaves out what that step itself observes, so a
# failed call shows one step late, and then the step to look at is the source of the heaviest edge into the
# riskiest step. Over all faults, the riskiest step of `rupa_structural` is the step of the fault in
# {glue:text}`c1-peak-structural`, and its source in {glue:text}`c1-source-structural`; for `rupa` the two are
# {glue:text}`c1-peak-rupa` and {glue:text}`c1-source-rupa`. A step drawn at random has
# {glue:text}`c1-peak-chance`.
#
# A place at which the clean run peaks too is a habit of the score, so the table has the clean run's shares
# beside these. The fault's share exceeds it, interval above interval, for these types: with
# `rupa_structural`, {glue:text}`c1-beyond-structural`; with `rupa`, {glue:text}`c1-beyond-rupa`.

# %% tags=["hide-input"]
spots, lines = {}, []
for form, runs in runs_of.items():
    tops = [(run, peak(run)) for run in runs]
    table_of = pd.DataFrame([
        {"trajectory_id": run.graph.trajectory_id, "steps": len(run.r), "peak": top.step,
         "source": top.source_step} for run, top in tops if top is not None])
    for row in located(table_of, labels).to_dict("records"):
        spots[form, row["group"], row["what"]] = row
for form in runs_of:
    for kind in (*FAULT_TYPES, "all"):
        lines.append([form, kind, *(tables.estimate(spots[form, kind, what], 2) for what in WHAT),
                      "" if spots[form, kind, "peak"]["chance"] is None
                      else f"{spots[form, kind, 'peak']['chance']:.2f}"])


def beyond(form):
    """Name the faults that a peak or its source points at more often than in the clean run."""
    rows = [(kind, name, *(spots.get((form, kind, w), NOWHERE) for w in (what, f"clean {what}")))
            for kind in FAULT_TYPES for what, name in (("peak", "riskiest step"), ("source", "source"))]
    return ", ".join(f"{kind} ({name})" for kind, name, own, habit in rows
                     if own["lo"] is not None and habit["hi"] is not None
                     and own["lo"] > habit["hi"]) or "none"


for key, form in (("structural", "rupa_structural"), ("rupa", "rupa")):
    chapter.text(f"c1-beyond-{key}", beyond(form))
    for what in ("peak", "source"):
        say(f"{what}-{key}", spots.get((form, "all", what), NOWHERE))
chapter.number("c1-peak-chance", spots["rupa_structural", "all", "peak"]["chance"], 2)
tables.show(pd.DataFrame(lines, columns=["score", "fault", *WHAT.values(), "a step at random"]),
            "Share of faults whose failure step is the one named; higher is better.", SCORED)

# %% [markdown]
# ## What the two find together
#
# A judge that misses a silent fault may be helped by a score that flags it. To flag, a score needs a threshold,
# and a clean twin is none. Here the clean runs of one half of the cases set it, so that no more than a share of
# {glue:text}`c1-alarm` of them lie above; the other half is counted, and then the halves change places. The
# last column of the table asks the kinder question: of the silent faults that the judge missed, which share
# does the score put ahead of the clean parent?

# %% tags=["hide-input"]
WITH = [name for name in ("rupa", "rupa_structural", "sp_mean", "repetition", "failing_share",
                          "random") if name in methods]
groups = {"silent": faulty & (side_of == "silent"), "clean": ~faulty}
halves = [half(name) for name in case]
ahead_of = pairs.set_index(["judge", "pair"])
lines, both = [], {}
for j, judge in enumerate(verdict_table.judges):
    if names[judge] not in FULL:
        continue
    said = verdict_table.flag[:, j].astype(float)
    missed = {who for who, hit, silent in zip(order, said, groups["silent"], strict=True)
              if silent and not hit}
    for name in WITH:
        flagged = alarms(scores[name], ~faulty, halves, given.alarm)
        found = union(said, flagged, groups).set_index(["group", "who"]).to_dict("index")
        both[own_names[names[judge]], name] = found
        rows = ahead_of.loc[name]
        rows = rows[rows.index.isin(missed)]
        share = ((1 + rows["fault_flagged"] - rows["parent_flagged"]) / 2).mean()
        lines.append([own_names[names[judge]], name,
                      *(tables.estimate(found["silent", who], 2)
                        for who in ("judge", "score", "either")),
                      tables.estimate(found["clean", "either"], 2),
                      f"{share:.2f} of {len(rows)}" if len(rows) else "none missed"])
tables.show(pd.DataFrame(lines, columns=[
    "judge", "score", "silent found: judge", "by the score", "by either", "false alarms of either",
    "missed, ahead of clean run"]),
    "Silent faults found by a judge, a score, or either of the two, and the false alarms.", MADE)

# %% tags=["hide-input"]
def together(judge, name, group="silent", who="either"):
    """Return one count of the table, or one that says that there is none."""
    return both.get((judge, name), {}).get((group, who), NOWHERE)


chapter.number("c1-alarm", given.alarm, 2)
say("alone-rules-structural", together("rules", "rupa_structural", who="judge"))
for key, name in (("structural", "rupa_structural"), ("repetition", "repetition")):
    say(f"either-rules-{key}", together("rules", name))
    say(f"false-rules-{key}", together("rules", name, "clean"))

# %% [markdown]
# The rules find {glue:text}`c1-alone-rules-structural` of the silent faults and have two blind spots by
# construction, the redundant call and the invented promise. Together with `rupa_structural` they find
# {glue:text}`c1-either-rules-structural` at a false-alarm rate of {glue:text}`c1-false-rules-structural`; with
# only `repetition`, one of its relations, {glue:text}`c1-either-rules-repetition` at {glue:text}`c1-false-rules-repetition`. A judge
# that flags nothing gains most from any company, so read a gain beside what the score finds by itself.
#
# The release has a larger outcome judge. The next table joins its published verdicts with scores of the
# release's runs, their thoughts emptied, at a threshold that lets a tenth of the clean runs lie above. Alone
# the outcome judge finds {glue:text}`c1-release-alone` of the silent faults at a false-alarm rate of
# {glue:text}`c1-release-alarm-alone`. With `rupa_structural` it finds {glue:text}`c1-release-structural`, with
# `repetition` {glue:text}`c1-release-repetition` and with `failing_share` {glue:text}`c1-release-failing`; the
# false-alarm rates are then {glue:text}`c1-release-alarm-structural`,
# {glue:text}`c1-release-alarm-repetition` and {glue:text}`c1-release-alarm-failing`. The step judge finds
# {glue:text}`c1-release-step` alone and {glue:text}`c1-release-step-structural` with `rupa_structural`.
#
# Two cautions. By itself `rupa_structural` finds {glue:text}`c1-release-score` there, at
# {glue:text}`c1-release-score-alarm`; what the outcome judge adds are mostly flags that it gives the clean run
# of the case as well, as its paired discrimination of {glue:text}`c1-printed-outcome-paired` shows. And all of
# this is with shared words. With sentence embeddings, the outcome judge and `rupa_structural` find
# {glue:text}`c1-release-minilm` at {glue:text}`c1-release-minilm-alarm`; with `repetition` it is
# {glue:text}`c1-release-minilm-repetition` at {glue:text}`c1-release-minilm-repetition-alarm`.

# %% tags=["hide-input"]
joined, lines = {}, []
for (by, judge, name), rows in store.released_counts("found").groupby(
        ["similarity", "judge", "score"], sort=False):
    runs = rows.loc[rows.index.repeat(rows["n"])]
    found = union(runs["flagged"], runs["alarm"], {
        side: runs["survival"].eq(side) for side in ("silent", "clean")})
    joined[by, judge, name] = found.set_index(["group", "who"]).to_dict("index")
order_of = [(judge, name, by) for judge in PRINTED
            for name in ("rupa_structural", "flat", "repetition", "failing_share")
            for by in ("jaccard", "minilm")]
for judge, name, by in order_of:
    row = joined[by, judge, name]
    lines.append([published[judge], name, by, *(tables.estimate(row["silent", who], 2)
                                            for who in ("judge", "score", "either")),
                  *(tables.estimate(row["clean", who], 2) for who in ("judge", "either"))])
OUT, STEP = PRINTED[1:3]
say("release-alone", joined["jaccard", OUT, "flat"]["silent", "judge"])
say("release-alarm-alone", joined["jaccard", OUT, "flat"]["clean", "judge"])
for key, name in (("structural", "rupa_structural"), ("repetition", "repetition"),
                  ("failing", "failing_share")):
    say(f"release-{key}", joined["jaccard", OUT, name]["silent", "either"])
    say(f"release-alarm-{key}", joined["jaccard", OUT, name]["clean", "either"])
say("release-score", joined["jaccard", OUT, "rupa_structural"]["silent", "score"])
for key, name in (("", "rupa_structural"), ("-repetition", "repetition")):
    say(f"release-minilm{key}", joined["minilm", OUT, name]["silent", "either"])
    say(f"release-minilm{key}-alarm", joined["minilm", OUT, name]["clean", "either"])
say("release-score-alarm", joined["jaccard", OUT, "rupa_structural"]["clean", "score"])
say("release-step", joined["jaccard", STEP, "flat"]["silent", "judge"])
say("release-step-structural", joined["jaccard", STEP, "rupa_structural"]["silent", "either"])
tables.show(pd.DataFrame(lines, columns=[
    "judge, published", "score", "similarity", "silent found: judge", "by the score", "by either",
    "false alarms: judge", "of either"]),
    "The release's silent faults found by a published judge, a score of the run without thoughts, or "
    "either of the two, and the false alarms.",
    "published verdicts; scores measured here; released_found.csv in data/recorded", folded=True)

# %% [markdown]
# ## What would change our mind
#
# - Runs of an agent with its own log-probabilities on these cases. What we call a step's own uncertainty is
#   that of a small model which read the calls afterwards, so nothing here refutes a score that needs the
#   agent's own doubt.
# - Harmless edits. A true sentence added to a reply, or a call repeated for a reason, should leave a score
#   alone if it sees faults. If it moves as far as with our faults, it sees edits.
# - A desk whose clean runs repeat calls and meet failed observations. Ours never do, so either count separates
#   what it sees without an error; on a real log it would not.
# - A score that leads its own clean run on a kind of fault and keeps that lead among the clean runs of other
#   cases.
#
# Three questions are left, and each has a page. Do the rules, the one relation and a judge of replies without a
# model hold on cases and sentences they were not set on? That is [the free panel](c1_free_panel), which comes
# next. Can RUPA be made better without looking at an outcome ([improvements](c1_improvements))? And does passing
# risk on begin to matter where runs are long and one fault follows from another ([cascades](c1_cascades))? Here
# a fault is one edit in a run of half a dozen steps, with little to pass on.

# %% [markdown]
# ## Exercises
#
# What a check compares with are the pairs of this page and the runs of our desk.

# %% tags=["hide-input"]
from tjlib import exercises

rules_rows = pairs[(pairs["judge"] == next((n for n in asked if own_names[n] == "rules"), ""))
                   & (pairs["survival"] == "silent")]
rise, both_ran = int(rules_rows["fault_flagged"].sum()), len(rules_rows)
chapter.number("c1-x-both", both_ran, 0)
chapter.number("c1-x-only", rise, 0)
say("x-claim", pick("paired", "rupa", "silent", "unsupported_claim"))
say("x-claim-clean", pick("clean", "rupa", "silent", "unsupported_claim"))

# %% [markdown]
# ```{exercise} Two scales
# :label: c1-scale
# :nonumber:
# The rules rise with {glue:text}`c1-x-only` of {glue:text}`c1-x-both` silent pairs and fall with none. What is
# their paired discrimination on the scale of this page?
# ```

# %%
share = None  # a share from 0 to 1
print(exercises.check("c1-scale", share, rise=rise, pairs=both_ran))

# %% [markdown]
# ```{solution-start} c1-scale
# :class: dropdown
# ```
#
# The pairs in which they rise count one each, the ties one half each.

# %%
print(f"({rise} + {both_ran - rise} / 2) / {both_ran} = {(rise + both_ran) / (2 * both_ran):.3f}"
      if both_ran else "undefined here: no such pair")

# %% [markdown]
# [The analysis](a7_analysis) takes the share of parents flagged off the share of faults flagged. That
# difference is twice this number minus one.
#
# ```{solution-end}
# ```
#
# ```{exercise} One count beside its parent
# :label: c1-steps
# :nonumber:
# Without looking: what is the paired discrimination of `n_steps`, the number of steps, on `premature_stop`?
# ```

# %%
ahead_share = None  # a share from 0 to 1
print(exercises.check("c1-steps", ahead_share))

# %% [markdown]
# ```{solution-start} c1-steps
# :class: dropdown
# ```
#
# The parent is always the longer run, so the fault never has the higher count.

# %%
print(sentences.estimate(pick("paired", "n_steps", "loud", "premature_stop")))

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} A score that knows nothing
# :label: c1-words
# :nonumber:
# Name a score that knows nothing of promises and still rises with every unsupported claim.
# ```
#
# ```{solution-start} c1-words
# :class: dropdown
# ```
#
# The number of words: the fault adds a sentence. A paired discrimination has to be read beside such counts.

# %%
print("n_words:", sentences.estimate(pick("paired", "n_words", "silent", "unsupported_claim")))

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} Two numbers of one score
# :label: c1-two
# :nonumber:
# On `unsupported_claim`, `rupa` has {glue:text}`c1-x-claim` beside the clean run and
# {glue:text}`c1-x-claim-clean` against all clean runs. How can both be right?
# ```
#
# ```{solution} c1-two
# :class: dropdown
# One more sentence moves the score of its own run. But the scores of clean runs differ by more than that from
# case to case, so many clean runs lie above many faults. Only the second number says what a threshold could
# do.
# ```
#
# ```{exercise} A threshold on the runs it is counted on
# :label: c1-threshold
# :nonumber:
# A colleague sets the threshold of a score on the very clean runs on which false alarms are then counted.
# Which numbers of the last table look better for it, and which stay?
# ```
#
# ```{solution} c1-threshold
# :class: dropdown
# The score's false alarms cannot then exceed the share asked for, so they look better. The judge's own columns
# stay. On new cases the difference comes back.
# ```
