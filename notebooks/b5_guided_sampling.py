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
# # Does a score help the agent act?
#
# **The claim.** Choosing among candidates is only as good as the score's order *of these candidates*.
# Section 5.3 of *From Sequence to Structure* ([arXiv
# 2608.16002](https://arxiv.org/abs/2608.16002); {cite}`rupa2026`) lets an agent draw several next
# calls and take the one with the lowest uncertainty. With its own method, RUPA, as the score, the agent
# solves more tasks than with any other. This chapter records the candidates of a real model, lets every
# score choose among the very same ones, and asks what the printed gains stand on.
#
# ```{admonition} In one minute
# At {glue:text}`gs-n` points of {glue:text}`gs-cases` refund cases a small model drew
# {glue:text}`gs-drawn` candidates for the next call. The first drawn was right in
# {glue:text}`gs-random-right`, and RUPA's choice in {glue:text}`gs-rupa-right`, a paired difference of
# {glue:text}`gs-rupa-gain`; a right one was there at all in {glue:text}`gs-any-right`.
# {glue:text}`gs-minute-verdict` A simulated agent whose uncertainty does tell right from wrong (an
# {term}`AUROC` of {glue:text}`gs-sim-high`) solves {glue:text}`gs-sim-random` of its cases by the first
# drawn, {glue:text}`gs-sim-entropy-high` by entropy and {glue:text}`gs-sim-rupa-high` by RUPA. And three
# of the five rows in the paper's table may be one rule run three times: they differ by up to
# {glue:text}`gs-spread`.
# ```

# %% [markdown]
# ## Five selectors, one set of candidates
#
# A **candidate** is a thought and a call that a model might make next. A **selector** scores the steps
# so far with each candidate after them, and takes the lowest score; among equals, the first drawn. The
# steps so far are the same for all candidates, so a mean over steps ranks them as the last step alone
# does. The paper compares five selectors:
#
# - **random** takes the first drawn;
# - **entropy** scores a candidate by the mean negative {term}`log-probability` of the candidate's own tokens
#   (*mean -log p*);
# - **SAUP** {cite}`zhao2025saup` weighs that by how far the words so far have drifted from the goal;
# - **TRACER** {cite}`tayebati2026tracer` scores a run by the largest doubt, repetition or gap between
#   call and answer in it;
# - **RUPA** adds what earlier steps {term}`pass on <propagation>` along {term}`relations <relation>`.
#
# Two {term}`controls <control>` are ours: **flat** has RUPA's inputs without a graph (the
# {term}`flat score`, here with the candidates' own uncertainty), and **short** takes the fewest words.
# RUPA's relations are uncalibrated, and texts are compared by the words they share.
#
# Read on this page: {glue:text}`gs-origin`. For a model of yours:
#
# ```bash
# tjlib guided --model ollama:NAME --cases 24 --episodes 24 --given 5 --out DIR
# tjlib rerun b5_guided_sampling -p candidates DIR
# ```
#
# Our model, SmolLM2 {cite}`allal2025smollm2`, is small enough to run anywhere and too weak for the
# task; [the chapter on organic faults](a8_organic) counts what it does when it drives alone. Two things
# keep the comparison off the floor. Ids and amounts are chosen from a list of those the case has shown,
# as in a form, so a call can be wrong but not invented. And most decisions are made after **given
# steps**: the first calls of the policy that solves every case. Given steps do not fail, so what RUPA
# reads of failed observations plays no part there; it does in the simulation further down.

# %% tags=["parameters"]
candidates: str = "recorded"  # recorded (ours), or a folder that tjlib guided wrote
handed: int = 5  # solving calls that a case is given before a selector drives it to the end, 0 to 5
simulated_cases: int = 40  # cases that the simulated agent is driven through, 6 to 600
competence: float = 0.7  # probability that a simulated candidate is the right call, 0.1 to 1
draws: int = 2_000  # resamples of cases behind each interval
seed: int = 0  # seed of all that is drawn on this page

# %% tags=["hide-input"]
from tjlib import chapter

given = chapter.check(
    globals(),
    handed=lambda value: None if 0 <= value <= 5 else "give 0 to 5",
    simulated_cases=lambda value: None if 6 <= value <= 600 else "give 6 to 600",
    competence=lambda value: None if 0.1 <= value <= 1 else "give a probability from 0.1 to 1",
    draws=lambda value: None if 100 <= value <= 20_000 else "give 100 to 20000",
)

# %% tags=["hide-input"]
from itertools import islice

import numpy as np
import pandas as pd
from msgspec import structs

from tjlib import store, tables
from tjlib.charts import analysis, guided, warning
from tjlib.charts.show import show
from tjlib.desk import world
from tjlib.guided import outcomes, simulated, source
from tjlib.guided.selectors import CONTROLS, SELECTORS
from tjlib.guided.tree import Tree
from tjlib.judges.agent import MAX_STEPS
from tjlib.measure.attribution import exact_share
from tjlib.measure.by_task import means
from tjlib.measure.per_success import per_success, same_rule
from tjlib.sentences import estimate as say

drawn = source.load(given.candidates)
NAMES = {"random": "random", "entropy": "entropy", "saup": "SAUP", "tracer": "TRACER",
         "rupa": "RUPA", "flat": "flat (control)", "short": "short (control)",
         "average": "any one, on average", "any": "the best there is"}
CHOOSING = [*SELECTORS, *CONTROLS]
chosen = outcomes.decisions(drawn.tree, drawn.cases, CHOOSING)
ranked = outcomes.pairs(drawn.tree, drawn.cases, CHOOSING[1:])
driven = outcomes.paths(drawn.tree, drawn.driven(given.handed, [*SELECTORS]), given.handed,
                        [*SELECTORS])


def averaged(wide, pairs=()):
    """Average columns over the rows of whole cases, with intervals, by what they say."""
    rows = means(wide.drop(columns="instance_id"), wide["instance_id"],
                 np.random.default_rng(given.seed), pairs=pairs, draws=given.draws)
    return {row["what"]: row for row in rows.to_dict("records")}


def by_selector(frame, field, index=("instance_id", "given")):
    """Lay one measure out with a column a selector."""
    return frame.pivot_table(index=list(index), columns="selector", values=field,
                             sort=False).reset_index().drop(columns="given", errors="ignore")


NOT_DRIVEN = {"value": None, "why": "undefined: no case was driven to its end from there"}
AGAINST = [(name, "random") for name in CHOOSING[1:]] + [("rupa", "flat"), ("rupa", "entropy")]
found = {what: averaged(by_selector(chosen, what), AGAINST) for what in ("right", "harmless")}
order = averaged(ranked.drop(columns="given")) if len(ranked) else {}
solved = averaged(by_selector(driven, "solved", ["instance_id"]),
                  [("rupa", "random")]) if len(driven) else {}
if len(driven):  # one try a case, so the exact interval holds
    solved |= {name: exact_share(rows["solved"].sum(), len(rows))
               for name, rows in driven.groupby("selector")}

# %% tags=["hide-input"]
UNRANKED = {"value": None, "why": "undefined: no point has a right and a wrong candidate"}
for name in ("random", "rupa", "any"):
    chapter.text(f"gs-{name}-right", say(found["right"][name]))
for name in ("entropy", "rupa"):
    chapter.text(f"gs-{name}-spared", say(found["harmless"][f"{name} - random"]))
    chapter.text(f"gs-{name}-auroc", say(order.get(name, UNRANKED)))
chapter.text("gs-rupa-gain", say(found["right"]["rupa - random"]))
for name in SELECTORS:
    chapter.text(f"gs-{name}-solved", say(solved.get(name, NOT_DRIVEN)))
chapter.text("gs-rupa-solved-gain", say(solved.get("rupa - random", NOT_DRIVEN)))
chapter.text("gs-rupa-flat", say(found["right"]["rupa - flat"]))
chapter.text("gs-rupa-entropy", say(found["right"]["rupa - entropy"]))
one = chosen[chosen["selector"] == "rupa"]
took = {name: chosen.loc[chosen["selector"] == name, "number"].tolist() for name in CHOOSING}
tied = chosen.loc[chosen["selector"] == "tracer", "tied"]
chapter.number("gs-n", len(one), 0)
chapter.number("gs-cases", len(drawn.cases), 0)
chapter.number("gs-drawn", drawn.n, 0)
chapter.number("gs-ranked", len(ranked), 0)
chapter.number("gs-driven", driven["instance_id"].nunique() if len(driven) else 0, 0)
chapter.number("gs-handed", given.handed, 0)
chapter.number("gs-most", MAX_STEPS, 0)
chapter.text("gs-origin", drawn.origin)
chapter.number("gs-same", 100 * np.mean(np.equal(took["rupa"], took["entropy"])), 0)
chapter.number("gs-same-flat", 100 * np.mean(np.equal(took["rupa"], took["flat"])), 0)
chapter.number("gs-tied", 100 * (tied > 1).mean(), 0)
chapter.number("gs-distinct", one["distinct"].mean(), 1)
favourite = chosen.loc[chosen["selector"] == "entropy", "tool"].mode()
favourite = favourite.iloc[0] if len(favourite) else "undefined"
chapter.text("gs-favourite", favourite.replace("_", " "))
for name in ("entropy", "random"):
    tools = chosen.loc[chosen["selector"] == name, "tool"]
    chapter.number(f"gs-favourite-{name}", 100 * (tools == favourite).mean(), 0)
chapter.number("gs-favourite-right", 100 * (one["wanted"] == favourite).mean(), 0)


def told(of, names, sign=1, against="random"):
    """Name the selectors whose difference lies on one side of 0 with its interval."""
    rows = {name: of[f"{name} - {against}"] for name in names}
    return " and ".join(NAMES[name] for name, row in rows.items() if row["lo"] is not None and (
        row["lo"] > 0 if sign > 0 else row["hi"] < 0)) or "none"


MAIN = [*SELECTORS][1:]
chapter.text("gs-better", told(found["right"], MAIN))
chapter.text("gs-worse", told(found["right"], MAIN, -1))
chapter.text("gs-safer", told(found["harmless"], MAIN))
chapter.text("gs-riskier", told(found["harmless"], MAIN, -1))
chapter.text("gs-minute-verdict", "Of the paper's four scores, those told apart from the first drawn "
             f"as better at this: {told(found['right'], MAIN)}; as worse: "
             f"{told(found['right'], MAIN, -1)}.")

# %% [markdown]
# ## What was chosen
#
# Which candidate is **right**? The one that the solving policy makes next; in a reply or a hand-over the
# words are free and only the tool counts. That is strict, for other orders of calls can be as good. So
# we also ask whether a call **does no harm**: going on after it, the policy still reaches the outcome due
# and breaks no rule.
#
# {numref}`fig-gs-chosen` has both, as shares of the points, one row a selector. The last row is the bound
# for any selector: was a right (or harmless) candidate there at all? The third panel leaves choosing
# aside. Of the points with a right and a wrong candidate it takes all pairs of the two, and shows in
# what share the wrong one scores higher: an AUROC within a point, where a coin has one half, the dashed
# line. The fourth panel, on whole cases, is for [further down](#driven-to-the-end).

# %% mystnb={"figure": {"caption": "What each selector took of the same candidates, with intervals by whole cases (exact ones for solved cases): the share that is the right next call, the share that does no harm, the share of pairs in which the wrong candidate scores higher, and the share of cases solved from where the selector took over. Data: the candidates chosen at the top of this page (measured here).", "name": "fig-gs-chosen"}} tags=["hide-input"]
PANELS = {"right next call": (found["right"], [*CHOOSING, "average", "any"]),
          "does no harm": (found["harmless"], [*CHOOSING, "average", "any"]),
          "wrong one scores higher": (order, CHOOSING[1:]),
          "case solved": (solved, [*SELECTORS])}
rows = pd.DataFrame([
    {"panel": panel, "label": NAMES[name], "shown": tables.estimate(of[name], 2),
     **{k: of[name][k] for k in ("value", "lo", "hi")}, "published": None,
     "coin": 0.5 if of is order else None}
    for panel, (of, names) in PANELS.items() if of for name in names]).astype(
        dict.fromkeys(("value", "lo", "hi", "published", "coin"), float))
rows[["lo", "hi"]] = rows[["lo", "hi"]].apply(lambda bound: bound.fillna(rows["value"]))
show(analysis.forest(rows, "share", domain=(0, 1)), name="gs-chosen",
     table=rows[["panel", "label", "shown"]],
     alt="A panel a measure: selectors down, shares across with intervals; rows for any candidate "
         "on average and for the best there is; a dashed line at one half where a coin has it.")

# %% [markdown]
# The model draws {glue:text}`gs-distinct` different calls a point on average. Which of the paper's four
# scores took the right call more often than the first drawn, by a paired interval that leaves out 0?
# More often: {glue:text}`gs-better`; less often: {glue:text}`gs-worse`. Which took a harmless call more
# often? More often: {glue:text}`gs-safer`; less often: {glue:text}`gs-riskier`. In harmless calls RUPA's
# difference is {glue:text}`gs-rupa-spared`, entropy's {glue:text}`gs-entropy-spared`; in right calls RUPA
# minus entropy is {glue:text}`gs-rupa-entropy`.
#
# At {glue:text}`gs-ranked` points there is both a right and a wrong candidate. There the wrong one has
# the higher mean -log p in {glue:text}`gs-entropy-auroc` of pairs, and the higher RUPA in
# {glue:text}`gs-rupa-auroc`. The first number says how much this model's own uncertainty knows; keep it
# in mind for the dial of the simulation below.
#
# **What the graph can change here.** RUPA takes entropy's candidate at {glue:text}`gs-same` % of the
# points, and flat's, which has the same inputs and no graph, at {glue:text}`gs-same-flat` %. RUPA minus
# flat is {glue:text}`gs-rupa-flat`. The equations say why so little differs. All candidates of a point
# have the same past, hence the same {term}`momentum`. What is left is a candidate's own uncertainty, its
# distance from the goal, and the mean {term}`risk` of the steps it is related to; and most relations, to
# the newest step, observation and instruction, are the same for all candidates too. Only a candidate that
# repeats, continues or runs beside an earlier step has others.
#
# **What a low -log p buys.** Entropy's most frequent tool is {glue:text}`gs-favourite`, taken at
# {glue:text}`gs-favourite-entropy` % of the points. It was the first drawn at
# {glue:text}`gs-favourite-random` %, and right at {glue:text}`gs-favourite-right` %. A call whose words
# stand in the prompt already is easy to say again. It may be safe, too, but that does not make it the
# next one. The folded table has all tools.
#
# TRACER's score is the largest risk in the whole run, so candidates less risky than some earlier step
# share one score, and the first drawn is taken. That happens at {glue:text}`gs-tied` % of the points.

# %% tags=["hide-input"]
taken = chosen[chosen["selector"].isin(CHOOSING)]
counts = pd.crosstab(taken["tool"].fillna("no call"), taken["selector"])[CHOOSING]
counts.insert(0, "right", one["wanted"].value_counts())
counts = counts.fillna(0).astype(int).rename(columns=NAMES).rename_axis("tool")
tables.show(counts, "Points by the tool that is right and by the tool that each selector took.",
            drawn.origin, folded=True)

# %% [markdown]
# ## Gains, here and in print
#
# {numref}`fig-gs-gains` puts our differences to the first drawn beside those of the paper's Table 3, with
# eight hollow marks a selector: four models on two benchmarks. The two kinds of mark are not the same
# thing. Ours are shares of *decisions* on one desk, paired. The paper's are shares of *tasks* solved,
# without intervals or a number of tasks, and how runs were paired is not said. Compare the sign and the
# order, and nothing else.

# %% mystnb={"figure": {"caption": "Gain over taking the first drawn. Filled: share of right next calls, paired, with intervals by whole cases. Hollow: the paper's task accuracies, one mark a model and benchmark. Dashed: no gain. Data: the candidates chosen at the top of this page (measured here); rupa_table3.csv in data/published (published).", "name": "fig-gs-gains"}} tags=["hide-input"]
printed = store.published("rupa_table3")
base = printed[printed["selector"] == "random"].set_index(["model", "benchmark"])["accuracy"]
rows = [{"selector": NAMES[name], "where": "not printed", "published": None,
         "shown": tables.estimate(found["right"][f"{name} - random"], 2),
         **{k: found["right"][f"{name} - random"][k] for k in ("value", "lo", "hi")}}
        for name in CHOOSING[1:]]
rows += [{"selector": NAMES[r.selector], "where": f"{r.model}, {r.benchmark}", "shown": "",
          "published": r.accuracy - base[r.model, r.benchmark]}
         for r in printed.itertuples() if r.selector != "random"]
rows = pd.DataFrame(rows).astype(dict.fromkeys(("value", "lo", "hi", "published"), float))
show(guided.gains(rows), name="gs-gains", table=rows[["selector", "shown", "where", "published"]],
     alt="Selectors down, gain over the first drawn across: a filled mark with an interval and eight "
         "hollow diamonds a row, a dashed line at zero.")

# %% [markdown]
# ## The noise floor of the printed table
#
# In the authors' public code the selectors called entropy, "saup" and "tracer" return the same number,
# the candidate's mean -log p. If Table 3 was made with that code, three of its rows are **one rule run
# three times**, and {numref}`fig-gs-floor` shows what a repetition does: compare how far the joined
# diamonds of a row lie apart with how far the square is from them. The three differ by up to
# {glue:text}`gs-spread` ({glue:text}`gs-spread-where`), with a standard deviation of
# {glue:text}`gs-sd` over all cells. If the table was made with other code, the three are three rules, and
# the noise of a repetition is not known at all.
#
# Read as repetitions, the table says two things. Choosing by mean -log p beat the first drawn in
# {glue:text}`gs-gained` of {glue:text}`gs-cells` cells. And RUPA lies above the mean of the three by
# {glue:text}`gs-lead-least` to {glue:text}`gs-lead-most`. In units of that noise, it is more than
# {glue:text}`gs-two-sd`, two standard deviations of such a difference, in {glue:text}`gs-clear` of
# {glue:text}`gs-cells` cells; and in {glue:text}`gs-beyond` RUPA is above the *best* of the three by more
# than they differ among themselves. So the order of entropy, SAUP and TRACER would carry nothing, and RUPA's
# lead would be more than a rerun in some cells and not in others. Which tasks were drawn adds noise of its
# own, which a rerun on the same tasks does not show.

# %% tags=["hide-input"]
floor = same_rule(printed)
sd = float(np.sqrt((floor["sd"] ** 2).mean()))
two_sd = 2 * sd * np.sqrt(1 + 1 / 3)  # of one result minus the mean of three
worst = floor.loc[floor["spread"].idxmax()]
chapter.number("gs-spread", worst["spread"], 3)
chapter.text("gs-spread-where", f"{worst['model']}, {worst['benchmark']}")
chapter.number("gs-sd", sd, 3)
chapter.number("gs-two-sd", two_sd, 3)
chapter.number("gs-cells", len(floor), 0)
chapter.number("gs-gained", (floor["gain"] > 0).sum(), 0)
chapter.number("gs-lead-least", floor["lead"].min(), 3)
chapter.number("gs-lead-most", floor["lead"].max(), 3)
chapter.number("gs-clear", (floor["lead"] > two_sd).sum(), 0)
chapter.number("gs-beyond", (floor["over_best"] > floor["spread"]).sum(), 0)

# %% mystnb={"figure": {"caption": "Accuracies that the paper prints for its selectors. Diamonds, joined: entropy, SAUP and TRACER, one rule in the authors' code. Cross: random. Square: RUPA. Data: rupa_table3.csv in data/published (published).", "name": "fig-gs-floor"}} tags=["hide-input"]
KIND = {"random": "random", "rupa": "RUPA"}
marks = printed.assign(
    cell=printed["model"] + ", " + printed["benchmark"].replace({"Terminal-Bench-2": "TB2"}),
    kind=printed["selector"].map(KIND).fillna("one rule"),
    selector=printed["selector"].map(NAMES)).sort_values(["benchmark", "model"], ascending=False)
show(guided.one_rule(marks[["cell", "kind", "selector", "accuracy"]]), name="gs-floor",
     table=marks[["model", "benchmark", "selector", "accuracy"]],
     alt="Models and benchmarks down, printed accuracy across: a cross for random, three joined "
         "diamonds, and a square for RUPA on their right.")

# %% [markdown]
# ## Driven to the end
#
# A decision is not an episode. In {glue:text}`gs-driven` cases each selector took over after
# {glue:text}`gs-handed` given calls, of the six that a solution has, and drove to the end, up to
# {glue:text}`gs-most` calls in all. Selectors share every candidate as long as their paths agree, and
# part where they first choose differently. A case counts as solved if the outcome is the one due and no
# rule is broken. Rules do not see every fault, so this share is an upper bound on what was solved,
# just as the {term}`organic faults <organic fault>` that rules find are a lower bound on the faults
# ([their chapter](a8_organic)).
#
# Random solved {glue:text}`gs-random-solved`; entropy {glue:text}`gs-entropy-solved`; SAUP
# {glue:text}`gs-saup-solved`; TRACER {glue:text}`gs-tracer-solved`; RUPA {glue:text}`gs-rupa-solved`. RUPA
# minus random, paired, is {glue:text}`gs-rupa-solved-gain`. A dagger marks an exact binomial interval.
# A handful of cases cannot tell five selectors apart; look at the width of the intervals.
#
# ## What it costs
#
# A selector pays for every candidate, random for the first alone. {numref}`fig-gs-cost` divides what was
# paid by what came of it; look for the cheapest row, and for how far its interval reaches. A right call
# cost random {glue:text}`gs-random-seconds` seconds and RUPA {glue:text}`gs-rupa-seconds`; in tokens
# written, {glue:text}`gs-random-tokens` and {glue:text}`gs-rupa-tokens`. The prompt is read once for all
# candidates of a point, so several cost less than as many times one. The time of scoring itself is left
# out. Our own seconds were taken on a busy machine and are longer than on one at rest.

# %% tags=["hide-input"]
paid = {}
for what, frame, success in (("right call", chosen, "right"), ("solved case", driven, "solved")):
    for name in [*SELECTORS] if len(frame) else ():
        rows = frame[frame["selector"] == name]
        for unit, field in (("seconds", "latency_s"), ("tokens", "completion_tokens")):
            paid[f"{unit} per {what}", name] = per_success(
                rows[field].astype(float), rows[success], rows["instance_id"],
                np.random.default_rng(given.seed), draws=given.draws)
for name in ("random", "rupa"):
    for unit in ("seconds", "tokens"):
        chapter.text(f"gs-{name}-{unit}", say(paid[f"{unit} per right call", name], 0))
costs = pd.DataFrame([
    {"panel": panel, "label": NAMES[name], "shown": tables.estimate(row, 0), "published": None,
     **{k: row[k] for k in ("value", "lo", "hi")}} for (panel, name), row in paid.items()]).astype(
         dict.fromkeys(("value", "lo", "hi", "published"), float))
for bound in ("lo", "hi"):  # what is open above is drawn up to its mark
    costs[bound] = costs[bound].replace(np.inf, np.nan).fillna(costs["value"])
worth = costs[costs["value"].notna()]

# %% mystnb={"figure": {"caption": "What one right call and one solved case cost, in seconds and in tokens written, with intervals by whole cases; one without an upper end (a resample may have no success) is drawn up to its mark, and a selector that solved nothing has no mark. Data: the candidates chosen at the top of this page (measured here).", "name": "fig-gs-cost"}} tags=["hide-input"]
show(analysis.forest(worth, "cost"), name="gs-cost", table=costs[["panel", "label", "shown"]],
     alt="A panel a currency: selectors down, cost across with intervals.")

# %% [markdown]
# ## When a score does help
#
# If a selector gains nothing, is selecting useless, or do the model's probabilities not tell? A control
# of ours answers that: a **simulated agent**. Each of its candidates is right with probability
# {glue:text}`gs-competence`, and otherwise a repetition, an invented id, a refund nobody checked, or a
# reply too early. Its mean -log p is drawn higher for wrong calls by a dial, which is the AUROC of that
# number: at one half it says nothing. {numref}`fig-gs-dial` drives {glue:text}`gs-sim-cases` cases from
# the goal to the end at each setting. See where a selector leaves the dashed line of the first drawn.
#
# The first drawn solves {glue:text}`gs-sim-random` at every setting, and knowing the right call
# {glue:text}`gs-sim-best`. Where own uncertainty says nothing, entropy solves
# {glue:text}`gs-sim-entropy-low` and RUPA {glue:text}`gs-sim-rupa-low`; at an AUROC of
# {glue:text}`gs-sim-high` they solve {glue:text}`gs-sim-entropy-high` and
# {glue:text}`gs-sim-rupa-high`. Over all settings RUPA minus entropy is
# {glue:text}`gs-sim-rupa-entropy`, and RUPA minus flat {glue:text}`gs-sim-rupa-flat`. The model whose
# candidates were recorded stands at {glue:text}`gs-entropy-auroc` on this dial.
#
# What RUPA and flat have at a dial of one half comes from how we made the wrong calls: some lie far from
# the goal's words, and some are calls made again. TRACER's largest risk so far hides whatever lies below
# it, so it can follow the dial only where the newest step is the riskiest.

# %% tags=["hide-input"]
DIAL = (0.5, 0.6, 0.7, 0.8, 0.9)
DRIVING = [*SELECTORS, "flat", simulated.BEST]
sims = simulated.episodes(list(islice(world.instances(7), given.simulated_cases)), DRIVING, DIAL,
                          competence=given.competence, n=drawn.n, seed=given.seed)
NAMES[simulated.BEST] = "knowing the right call"
at = {value: averaged(by_selector(frame, "solved", ["instance_id"]))
      for value, frame in sims.groupby("telling")}
over = averaged(by_selector(sims, "solved", ["instance_id", "telling"]).drop(columns="telling"),
                [("rupa", "entropy"), ("rupa", "flat")])
for key, name in (("random", "random"), ("best", simulated.BEST)):
    chapter.text(f"gs-sim-{key}", say(at[DIAL[0]][name]))
for name in ("entropy", "rupa"):
    chapter.text(f"gs-sim-{name}-low", say(at[DIAL[0]][name]))
    chapter.text(f"gs-sim-{name}-high", say(at[DIAL[-1]][name]))
chapter.text("gs-sim-rupa-entropy", say(over["rupa - entropy"]))
chapter.text("gs-sim-rupa-flat", say(over["rupa - flat"]))
chapter.number("gs-sim-high", DIAL[-1], 1)
chapter.number("gs-sim-cases", given.simulated_cases, 0)
chapter.number("gs-competence", given.competence, 1)

# %% mystnb={"figure": {"caption": "Share of cases a simulated agent solves, by how well its own uncertainty tells wrong calls from right ones, with intervals by whole cases, one panel a selector. Dashed: the first drawn. The agent is ours and simulated. Data: made on this page (measured here).", "name": "fig-gs-dial"}} tags=["hide-input"]
rows = pd.DataFrame([
    {"panel": NAMES[name], "at": f"{value:.1f}", "series": "solved", "published": None,
     "shown": tables.estimate(at[value][name], 2),
     **{k: at[value][name][k] for k in ("value", "lo", "hi")}}
    for name in DRIVING[1:] for value in DIAL]).astype(
        dict.fromkeys(("value", "lo", "hi", "published"), float))
show(warning.curves(rows, "dial (AUROC)", "share solved",
                    at[DIAL[0]]["random"]["value"]),
     name="gs-dial", table=rows[["panel", "at", "shown"]],
     alt="A panel a selector: the dial across, share of cases solved upwards with intervals, a "
         "dashed line for the first drawn.")

# %% [markdown]
# ## What would change our mind
#
# - A recording of a model that can do the task, with RUPA minus flat above 0 in right calls, with its
#   interval. `tjlib guided` makes one, and nothing else on this page needs to change.
# - Table 3 with the number of tasks, the pairing and a rerun of one selector. Then its leads could be
#   told from noise without assuming which code made it.
# - Given steps that fail. RUPA reads failures, and given steps have none; a recording with `--episodes`
#   and `--given 0` has them, if the model gets far enough to fail.
# - Free arguments. Choosing from a list takes inventions away, and a score that notices inventions then
#   has nothing to notice.
#
# RUPA and its inputs without a graph took the same candidate at {glue:text}`gs-same-flat` % of the points.
# Which of RUPA's parts make a difference, and where, is what [the next chapter](b5_ablation) finds by
# taking them away.

# %% tags=["hide-input"]
chapter.number("gs-x-fourth", 0.25 ** len(floor), 6)
chapter.number("gs-x-rank", (floor["over_best"] > 0).sum(), 0)
pair = found["right"]["rupa - random"]
width = (pair["hi"] - pair["lo"]) / 2 if pair["lo"] is not None else None
chapter.number("gs-x-width", width, 3)
paid_by = by_selector(chosen, "latency_s").mean(numeric_only=True) if chosen[
    "latency_s"].notna().any() else {}
chapter.number("gs-x-times", paid_by["rupa"] / paid_by["random"] if len(paid_by) else None, 1)

# %% [markdown]
# ## Exercises
#
# ```{exercise} Six calls in a row
# :label: b5-six
# :nonumber:
# A simulated candidate is right with probability {glue:text}`gs-competence`, and a solution has six
# calls. What share of cases would the first drawn solve if no wrong call could be made good? Why could
# random solve more than that in {numref}`fig-gs-dial`?
# ```

# %%
from tjlib import exercises

first_drawn = None  # a share from 0 to 1
print(exercises.check("b5-six", first_drawn, competence=given.competence))

# %% [markdown]
# ```{solution-start} b5-six
# :class: dropdown
# ```

# %%
print(f"{given.competence:g} to the power of 6 = {given.competence ** 6:.3f}")

# %% [markdown]
# It could solve more because some wrong calls do no harm: a call made again costs one of the
# {glue:text}`gs-most` calls that are allowed, and nothing else.
#
# ```{solution-end}
# ```
#
# ```{exercise} A selector that always knows
# :label: b5-knows
# :nonumber:
# At each point {glue:text}`gs-drawn` candidates are drawn. What share of cases would be solved by a
# selector that takes a right one whenever there is one, if again no wrong call could be made good?
# ```

# %%
knowing = None  # a share from 0 to 1
print(exercises.check("b5-knows", knowing, competence=given.competence, drawn=drawn.n))

# %% [markdown]
# ```{solution-start} b5-knows
# :class: dropdown
# ```

# %%
at_a_point = 1 - (1 - given.competence) ** drawn.n  # that one of them is right
print(f"{at_a_point:.3f} to the power of 6 = {at_a_point ** 6:.3f}")

# %% [markdown]
# If no wrong call can be made good, no selector gains more than the distance between this and the
# first drawn.
#
# ```{solution-end}
# ```
#
# ```{exercise} Always the highest of four
# :label: gs-rank
# :nonumber:
# Suppose Table 3's four scores were all one rule, run once each. How probable is it that the row
# called RUPA is the highest of four in every one of the {glue:text}`gs-cells` cells, if cells were
# independent? In how many is it?
# ```
#
# ```{solution} gs-rank
# :class: dropdown
# One quarter to the power of the number of cells: {glue:text}`gs-x-fourth`. It is the highest in
# {glue:text}`gs-x-rank`. A row that is always the highest differs from the others by more than luck of
# that kind, even if the size of its lead is in the noise in some cells. But cells of one benchmark share
# their tasks, so they are not independent.
# ```
#
# ```{exercise} The same candidates for all
# :label: gs-shared
# :nonumber:
# Why are all selectors given the same candidates, and not each its own?
# ```
#
# ```{solution} gs-shared
# :class: dropdown
# With candidates of its own a selector may have been lucky in what was drawn. On the same candidates a
# difference is a difference in choice, and at points where two choose alike it is exactly 0.
# ```
#
# ```{exercise} A twentieth to each side
# :label: gs-width
# :nonumber:
# The interval of RUPA minus random reaches {glue:text}`gs-x-width` to each side here, with
# {glue:text}`gs-cases` cases. About how many cases would make that a twentieth?
# ```
#
# ```{solution-start} gs-width
# :class: dropdown
# ```

# %%
print("undefined here: no interval" if width is None else
      f"{len(drawn.cases)} x ({width:.3f} / 0.05) squared = {len(drawn.cases) * (width / 0.05) ** 2:.0f}")

# %% [markdown]
# Widths shrink with the square root of the number of cases.
#
# ```{solution-end}
# ```
#
# ```{exercise} Worth its cost
# :label: gs-cost
# :nonumber:
# Drawing {glue:text}`gs-drawn` candidates took {glue:text}`gs-x-times` times as long as drawing one.
# What must a selector then do to the share of right calls to be worth its cost?
# ```
#
# ```{solution} gs-cost
# :class: dropdown
# Raise it by the same factor, if right calls are all you pay for. If a wrong call does lasting harm, a
# smaller gain may do: weigh the second panel of {numref}`fig-gs-chosen`.
# ```
#
# ```{exercise} The real entropy
# :label: gs-real
# :nonumber:
# The selector called entropy reads -log p of the tokens drawn, not the entropy of what might have been
# drawn. The recording has both. Does the real entropy order candidates better?
# ```
#
# ```{solution-start} gs-real
# :class: dropdown
# ```

# %%
swapped = Tree()  # the same candidates, with their entropy where entropy's selector reads -log p
for point, several in drawn.tree.items():
    swapped[point] = tuple(structs.replace(one, nll=one.entropy) for one in several)
real = outcomes.pairs(swapped, drawn.cases, ["entropy"]).drop(columns="given")
print(f"entropy: {say(averaged(real)['entropy'] if len(real) else UNRANKED)}")
print(f"-log p:  {say(order.get('entropy', UNRANKED))}")

# %% [markdown]
# Both are the share of pairs in which the wrong candidate scores higher. Where the intervals overlap,
# these points cannot say which of the two is better.
#
# ```{solution-end}
# ```
