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
# # Which part earns its place?
#
# **The claim.** Section 5.4 of *From Sequence to Structure*
# ([arXiv 2608.16002](https://arxiv.org/abs/2608.16002)) takes parts of RUPA away and reads off its
# Table 4 that graph and propagation both contribute substantially. The table has four rows, no
# interval, and two rows missing: the same inputs with no graph at all, and a graph of nothing but
# what came last. This chapter takes away every part, adds the missing rows, and turns every number
# of Tables 5 and 6, each time with an interval by whole tasks for the change itself. No part and no
# number was chosen by an outcome.
#
# ```{admonition} In one minute
# On {glue:text}`abl-n` runs, {glue:text}`abl-failed` of them failed, structural RUPA has an AUROC of
# {glue:text}`abl-s-full`. Changes that lower it by more than chance does: {glue:text}`abl-s-lower`;
# that raise it: {glue:text}`abl-s-raise`. Its inputs averaged without any graph (`flat`) change the
# AUROC by {glue:text}`abl-s-flat`, the number of steps in its place by {glue:text}`abl-s-steps`. With
# the steps' own uncertainty put in, RUPA has {glue:text}`abl-o-full`. Lowered there by:
# {glue:text}`abl-o-lower`; raised by: {glue:text}`abl-o-raise`. `flat` changes it by
# {glue:text}`abl-o-flat`.
# ```

# %% [markdown]
# ## What is taken away, and from what
#
# There are two forms of the score. The **structural** form gives every step the same uncertainty of
# its own, so that goal, observations and graph are all it has. The form with **own uncertainty** puts
# in what a step's tokens say. The paper has the second. For logs without token probabilities we give
# both, and here the probabilities, if the log has none, are a small model's that read the runs
# afterwards; [the chapter on local signals](b3_local_signals) says what that is worth.
#
# Read on this page: {glue:text}`abl-origin`. A step's own uncertainty: {glue:text}`abl-source`. A log
# of yours is taken apart in the same way:
#
# ```bash
# tjlib rerun b5_ablation -p traces my_runs.jsonl
# ```
#
# The paper does not define its rows. Ours are: *no graph*, no edge at all, and as the goal enters
# through the graph, it goes too; *no propagation*, a step passes on its own uncertainty instead of
# its risk; *half of the edges*, each kept by a coin; *random sources*, each edge keeps its relation
# and its weight, but comes from any earlier node. The last two draw, so they are done with
# {glue:text}`abl-seeds` seeds and the AUROCs averaged.

# %% tags=["parameters"]
traces: str = "features"  # features (stored numbers of the airline log), or a log of runs
embedder: str = "jaccard"  # jaccard (shared words), minilm, bge-m3 (the paper's), or a model's folder
signal: str = "auto"  # a step's own uncertainty: nll, entropy, constant (none); auto: nll if there is any
draws: int = 2_000  # resamples of tasks behind each interval
seed: int = 0  # seed of all that is drawn

# %% tags=["hide-input"]
from tjlib import chapter, material

given = chapter.check(
    globals(), signal=material.SIGNALS,
    draws=lambda value: None if 100 <= value <= 20_000 else "give 100 to 20000",
    seed=lambda value: None if value >= 0 else "give 0 or more",
)

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from tjlib import ablation, store, tables
from tjlib.charts import ablation as charts
from tjlib.charts import analysis
from tjlib.charts.show import show
from tjlib.measure.compare import rank_correlation
from tjlib.measure.ranking import average_precision, best_f1, chance
from tjlib.measure.wins import changes
from tjlib.uncertainty.parameters import RELATIONS, Parameters
from tjlib.uncertainty.signals import Local

log = material.load(given.traces, ["n_steps"], given.embedder, given.signal)
judged = log.runs["failed"].notna().to_numpy()
runs, failed = log.runs[judged], log.runs["failed"][judged].astype(bool).to_numpy()
SOURCE = {"surrogate": f"the surrogate's {'entropy' if given.signal == 'entropy' else 'surprise'} "
                       "(SmolLM2), nats a token",
          "logprob": "the agent's own log-probabilities, nats a token",
          "constant": "none, all steps alike"}[log.source]
MADE = f"{log.origin}; similarity {given.embedder}; a step's own uncertainty: {SOURCE}"
same = [Local((0.0,) * len(u.u), "constant") for u in log.local]
forms = {"structural": same} | ({} if log.source == "constant" else {"own uncertainty": log.local})


def measured(scores, against, strata=None):
    """Measure scores and their changes on the runs with an outcome."""
    return changes(scores, against, failed, runs["task"], np.random.default_rng(given.seed),
                   strata=strata, draws=given.draws)


def change(row, digits=3):
    """Write a change for a sentence or a cell."""
    text = tables.estimate({"value": row["change"], "lo": row["change_lo"],
                            "hi": row["change_hi"], "why": row["change_why"]}, digits)
    return text.replace("undefined: ", "undefined (") + ")" * text.startswith("undefined: ")


# %% tags=["hide-input"]
PANELS = {"all pairs": None, "same length": runs["steps"]}
parts, found = {}, {}
for form, local in forms.items():
    every = ablation.components(log.graphs, local, log.runs["task"], given.seed)
    parts[form] = {name: column[judged] for name, column in every.items()}
    for panel, strata in PANELS.items():
        table = measured(parts[form], dict.fromkeys(set(every) - {"full"}, "full"), strata)
        found[form, panel] = {row["name"]: row for row in table.to_dict("records")}
KEYS = {"s": "structural", "o": "own uncertainty"}


def told(form, below, panel="all pairs", names=ablation.PARTS):
    """Name the parts whose removal moves the AUROC one way, told apart from nothing."""
    rows = [found[form, panel][name] for name in names]
    known = [row for row in rows if row["change_lo"] is not None]
    named = [ablation.NAMES[row["name"]] for row in known
             if (row["change_hi"] < 0 if below else row["change_lo"] > 0)]
    return ", ".join(named) or ("nothing" if known else "nothing (undefined)")


NONE = "undefined (no own uncertainty here)"
for key, form in KEYS.items():
    rows = found.get((form, "all pairs"))
    chapter.text(f"abl-{key}-full", tables.estimate(rows["full"]).replace("undefined: ", "none: ")
                 if rows else NONE)
    chapter.text(f"abl-{key}-lower", told(form, True) if rows else NONE)
    chapter.text(f"abl-{key}-raise", told(form, False) if rows else NONE)
    chapter.text(f"abl-{key}-lower-length", told(form, True, "same length") if rows else NONE)
    chapter.text(f"abl-{key}-raise-length", told(form, False, "same length") if rows else NONE)
    for name in ablation.NAMES:
        if name != "full":
            called = name.removeprefix("n_").replace("_", "-")
            chapter.text(f"abl-{key}-{called}", change(rows[name]) if rows else NONE)
chapter.text("abl-origin", log.origin)
chapter.text("abl-source", SOURCE)
chapter.number("abl-n", len(runs), 0)
chapter.number("abl-failed", failed.sum(), 0)
chapter.number("abl-seeds", ablation.SEEDS, 0)
chapter.number("abl-parts", len(ablation.PARTS), 0)
chapter.number("abl-by-chance", 0.05 * len(ablation.PARTS), 1)

# %% [markdown]
# ## Table 4, beside ours
#
# {numref}`fig-abl-table4` has the printed rows hollow and ours filled. The printed ones are
# MiniMax-M2.7 on three benchmarks, which are not these runs, so levels differ and are not what to
# compare; whether the rows fall in the same order is.
#
# One thing can be seen in print alone. Dropping half of the edges costs {glue:text}`abl-p-drop-auroc`
# of AUROC but {glue:text}`abl-p-drop-auprc` of AUPRC, and all ablated rows have an AUPRC within
# {glue:text}`abl-p-band` of each other, far below the full row. AUPRC weighs the top of a ranking, so
# the two may part; it also depends on how many runs failed, which AUROC does not, so rows over
# different runs, or averaged differently, would look like this as well. The paper does not say which.
# On the runs here, the same for every row, that step changes average precision by
# {glue:text}`abl-drop-ap` in the structural form.

# %% tags=["hide-input"]
printed = store.published("rupa_table4").set_index("setting").rename(index={
    "drop_half_of_edges": "drop50"})
METRICS = {
    "AUROC": ("auroc", None), "average precision": ("auprc", average_precision),
    "best F1": ("f1", lambda y, s: (best_f1(y, s) or (None,))[0])}
both, level = len(set(failed)) == 2, {}
rows = []
for title, (column, metric) in METRICS.items():
    for form in forms:
        for name in printed.index:
            row = dict(found[form, "all pairs"][name])
            if metric:
                scored = parts[form][name]
                ok = ~np.isnan(scored).any(axis=1)
                value = np.mean([metric(failed[ok], s) for s in scored[ok].T]) if both else None
                row |= {"value": value, "lo": None, "hi": None, "why": "" if both else row["why"]}
            level[form, title, name] = row["value"]
            rows.append({"panel": f"{title}, {form}", "label": ablation.NAMES[name],
                         **{k: row[k] for k in ("value", "lo", "hi")},
                         "shown": tables.estimate(row), "published": printed.loc[name, column]})
beside = pd.DataFrame(rows).astype(dict.fromkeys(("value", "lo", "hi", "published"), float))

ablated = printed.drop(index="full")
chapter.number("abl-p-drop-auroc", printed.loc["full", "auroc"] - printed.loc["drop50", "auroc"], 3)
chapter.number("abl-p-drop-auprc", printed.loc["full", "auprc"] - printed.loc["drop50", "auprc"], 3)
chapter.number("abl-p-band", ablated["auprc"].max() - ablated["auprc"].min(), 3)
chapter.number("abl-drop-ap", level["structural", "average precision", "drop50"]
               - level["structural", "average precision", "full"] if both else None, 3)
chapter.number("abl-p-graph", printed.loc["no_graph", "auroc"] - printed.loc["full", "auroc"], 3)
chapter.number("abl-p-propagation",
               printed.loc["no_propagation", "auroc"] - printed.loc["full", "auroc"], 3)
chapter.number("abl-p-random", printed.loc["random_graph", "auroc"] - printed.loc["no_graph", "auroc"], 3)
share = failed.mean() if both else None
chapter.number("abl-floor-ap", share, 2)
chapter.number("abl-floor-f1", chance("best_f1", share) if both else None, 2)

# %% mystnb={"figure": {"caption": "The five settings of Table 4: hollow, as printed; filled, on the runs of this page. AUROC has intervals by whole tasks; what draws is averaged over its seeds. Higher ranks failed runs higher. Data: the runs chosen at the top of this page; rupa_table4.csv in data/published.", "name": "fig-abl-table4"}} tags=["hide-input"]
show(analysis.forest(beside, "value", domain=(0, 1)), name="abl-table4",
     table=beside[["panel", "label", "shown", "published"]],
     alt="Panels of AUROC, average precision and best F1, one row a setting: a filled point here, "
         "and a hollow diamond for the printed value.")

# %% [markdown]
# On these runs a score that knows nothing has an AUROC of one half, an average precision of
# {glue:text}`abl-floor-ap` and a best F1 of {glue:text}`abl-floor-f1`; the printed table gives no
# share of failures from which its own floors could be told.
#
# ## One row a part
#
# {numref}`fig-abl-parts` has the change in AUROC when a part is taken away. Left of the dashed line
# the score ranks worse without the part: the part earned its place. An interval that reaches over
# the line says that these runs cannot tell. Where the paper prints a change, it is hollow. The last
# row is no part but the control, `flat`, put in RUPA's place.
#
# Read a form whose AUROC is below one half with care: it ranks the wrong way round, and a part may
# lower it further by working as it should or raise it by adding noise. The levels are in the folded
# table, with two more controls: own uncertainty alone, and the number of steps.

# %% mystnb={"figure": {"caption": "Change in AUROC when a part is taken away, with intervals by whole tasks in which with and without are drawn together. Dashed: no change; left of it the part earned its place. Hollow: printed. Data: the runs chosen at the top of this page; rupa_table4.csv in data/published.", "name": "fig-abl-parts"}} tags=["hide-input"]
rows = []
for (form, panel), table in found.items():
    for name in (*ablation.PARTS, "flat"):
        row, there = table[name], panel == "all pairs" and name in printed.index
        rows.append({
            "panel": f"{form}, {panel}", "label": ablation.NAMES[name], "value": row["change"],
            "lo": row["change_lo"], "hi": row["change_hi"], "shown": change(row),
            "published": printed["auroc"][name] - printed["auroc"]["full"] if there else None})
changed = pd.DataFrame(rows).astype(dict.fromkeys(("value", "lo", "hi", "published"), float))
show(analysis.forest(changed, "change in AUROC", shared=True), name="abl-parts",
     table=changed[["panel", "label", "shown", "published"]],
     alt="Panels for each form and set of pairs, one row a part: a point with an interval beside a "
         "dashed line at no change, hollow diamonds for the printed changes.")

# %% tags=["hide-input"]
lines = []
for name, called in ablation.NAMES.items():
    line = [called]
    for form in forms:
        for panel in PANELS:
            row = found[form, panel][name]
            line += [tables.estimate(row, 2), "" if name == "full" else change(row)]
    lines.append(line)
heads = [head for form in forms for panel in PANELS
         for head in (f"{form}, {panel}: AUROC", f"{form}, {panel}: change")]
tables.show(pd.DataFrame(lines, columns=["taken away", *heads]),
            "AUROC with a part taken away, and its change from the full score, with 95 % intervals.",
            MADE, folded=True)

# %% [markdown]
# **What is told apart.** Of {glue:text}`abl-parts` rows, over all pairs, the structural form is
# lowered by: {glue:text}`abl-s-lower`; raised by: {glue:text}`abl-s-raise`. With own uncertainty it
# is lowered by: {glue:text}`abl-o-lower`; raised by: {glue:text}`abl-o-raise`. Over pairs of the same
# length, the structural form is lowered by: {glue:text}`abl-s-lower-length`; raised by:
# {glue:text}`abl-s-raise-length`; the other lowered by: {glue:text}`abl-o-lower-length`; raised by:
# {glue:text}`abl-o-raise-length`. Out of so many
# intervals about {glue:text}`abl-by-chance` would leave out 0 if no part did anything.
#
# **Graph.** In print, no graph is {glue:text}`abl-p-graph`. Here it changes the structural form by
# {glue:text}`abl-s-no-graph`, the other by {glue:text}`abl-o-no-graph`. But *no graph* takes the goal
# along, and *no goal* with every edge in place changes them by {glue:text}`abl-s-no-goal` and
# {glue:text}`abl-o-no-goal`. The row that separates the two is `flat`, which keeps goal and
# observations and has no edge: {glue:text}`abl-s-flat` and {glue:text}`abl-o-flat`. Only where that
# one lies below 0 have these runs shown that the graph earns anything.
#
# **Propagation.** In print {glue:text}`abl-p-propagation`, here {glue:text}`abl-s-no-propagation` and
# {glue:text}`abl-o-no-propagation`.
#
# **Relations.** In print a random graph is {glue:text}`abl-p-random` from having none. That would say
# that relations matter, if random sources lost nothing else; they also lose what was recent. A graph of *sequential
# and latest* alone knows what was recent and nothing else: {glue:text}`abl-s-sequential-only` and
# {glue:text}`abl-o-sequential-only`, beside {glue:text}`abl-s-random-graph` and
# {glue:text}`abl-o-random-graph` for random sources. Dropping half of the edges gives
# {glue:text}`abl-s-drop50` and {glue:text}`abl-o-drop50`; a step all of whose edges fall loses its
# goal with them (exercise 4).
#
# **Momentum and the cap.** Without momentum {glue:text}`abl-s-no-momentum` and
# {glue:text}`abl-o-no-momentum`; without the cap, which the paper does not print,
# {glue:text}`abl-s-unbounded` and {glue:text}`abl-o-unbounded`.
#
# ## Score against length
#
# Risk rises over the first steps of a run, so a mean over steps depends on how many there are.
# {numref}`fig-abl-length` has a point for the runs of a length. The rank correlation with the number of steps is
# {glue:text}`abl-s-r-full` for the structural form, {glue:text}`abl-s-r-flat` for its `flat`,
# {glue:text}`abl-s-r-no-momentum` without momentum and {glue:text}`abl-s-r-no-graph` without graph;
# with own uncertainty {glue:text}`abl-o-r-full`, {glue:text}`abl-o-r-flat`,
# {glue:text}`abl-o-r-no-momentum` and {glue:text}`abl-o-r-no-graph`. The number of steps in place of
# RUPA changes the AUROC by {glue:text}`abl-s-steps` and {glue:text}`abl-o-steps`.

# %% tags=["hide-input"]
rows = []
for key, form in KEYS.items():
    for name in ("full", "flat", "no_momentum", "no_graph"):
        value = None
        if form in forms:
            scored = parts[form][name][:, 0]
            ok = ~np.isnan(scored)
            value = rank_correlation(scored[ok], runs["steps"][ok]) if ok.any() else None
            rows += [] if name in ("no_momentum", "no_graph") else [
                {"panel": f"{form}, {ablation.NAMES[name]}", "steps": steps, "score": s,
                 "outcome": "failed" if bad else "successful"}
                for steps, s, bad in zip(runs["steps"][ok], scored[ok], failed[ok], strict=True)]
        chapter.number(f"abl-{key}-r-{name.replace('_', '-')}", value, 2)
points = pd.DataFrame(rows, columns=["panel", "steps", "outcome", "score"]).groupby(
    ["panel", "steps", "outcome"], sort=False)["score"].agg(score="mean", runs="size").reset_index()

# %% mystnb={"figure": {"caption": "Mean score of the runs of each length, failed and successful apart; a larger mark is more runs. Data: the runs chosen at the top of this page that have an outcome.", "name": "fig-abl-length"}} tags=["hide-input"]
show(charts.against_length(points), name="abl-length", table=points,
     alt="Panels of points, one a length: number of steps across, mean score upwards, failed runs "
         "square and successful ones round.")

# %% [markdown]
# ## Every number, turned
#
# Appendix A.3 turns numbers one at a time on GAIA and finds the score stable, with the defaults near
# the best. Its curves have no printed values to put beside ours, and no intervals.
# {numref}`fig-abl-numbers` and {numref}`fig-abl-strengths` turn all of them, one at a time, the rest
# at their defaults, and have the change in AUROC from the default. The grids are those of the
# authors' code where it has one, else ours. The strengths of Table 6 are multiplied. T acts through equation 6 only, so its panel is of
# RUPA calibrated on the other half of the tasks, against T at its own default.

# %% tags=["hide-input"]
wide = {w: material.load(given.traces, ["n_steps"], given.embedder, given.signal,
                         Parameters(window=w)).graphs for w in ablation.GRIDS["window"]}
rows, turned, settings = [], {}, {}
for form, local in forms.items():
    every = settings[form] = ablation.sensitivity(wide, local, log.runs["task"])
    names = {key: f"{key[0]} {key[1]}" for key in every}
    base = {names[key]: names[key[0], ablation.default(key[0])] for key in every
            if key[1] != ablation.default(key[0])}
    table = measured({names[key]: column[judged] for key, column in every.items()}, base)
    for (name, value), row in zip(every, table.to_dict("records"), strict=True):
        at_default = value == ablation.default(name)
        turned[form, name, value] = row
        rows.append({
            "number": ablation.NUMBERS[name], "form": form,
            "setting": "none" if value is None else f"{value:g}",
            "change": 0.0 if at_default and row["value"] is not None else row["change"],
            "lo": row["change_lo"], "hi": row["change_hi"],
            "shown": "the default" if at_default else change(row),
            "default": ("not printed" if name in ablation.NOT_PRINTED else "printed")
            if at_default else ""})
curves = pd.DataFrame(rows).astype(dict.fromkeys(("change", "lo", "hi"), float))

# %% mystnb={"figure": {"caption": "Change in AUROC when one number is turned, with intervals by whole tasks, one panel a number; each has a scale of its own. Hollow diamond: the published default; hollow cross: a default that is not printed (the authors' code's, or ours). Data: the runs chosen at the top of this page.", "name": "fig-abl-numbers"}} tags=["hide-input"]
some = curves[curves["number"].isin(
    [ablation.NUMBERS[name] for name in ablation.GRIDS if name not in RELATIONS])]
show(charts.sensitivity(some), name="abl-numbers",
     table=some[["number", "setting", "form", "shown", "default"]],
     alt="A panel a number: its settings across, the change in AUROC from the default upwards with "
         "intervals, a hollow mark at the default on a dashed line at no change.")

# %% mystnb={"figure": {"caption": "Change in AUROC when the strength of one relation is multiplied, with intervals by whole tasks, one panel a number; each has a scale of its own. Hollow diamond: the published default; hollow cross: a default that is not printed (the authors' code's, or ours). Data: the runs chosen at the top of this page.", "name": "fig-abl-strengths"}} tags=["hide-input"]
some = curves[curves["number"].isin([ablation.NUMBERS[name] for name in RELATIONS])]
show(charts.sensitivity(some), name="abl-strengths",
     table=some[["number", "setting", "form", "shown", "default"]],
     alt="A panel a number: its settings across, the change in AUROC from the default upwards with "
         "intervals, a hollow mark at the default on a dashed line at no change.")

# %% tags=["hide-input"]
for key, form in KEYS.items():
    other = [(name, v, row) for (f, name, v), row in turned.items()
             if f == form and v != ablation.default(name) and row["change_lo"] is not None]
    up = [x for x in other if x[2]["change_lo"] > 0]
    down = [x for x in other if x[2]["change_hi"] < 0]
    name, v, row = max(other, key=lambda x: abs(x[2]["change"]), default=(None, None, None))
    inner = [x for x in other if x[1] not in (0, None, np.inf)]
    chapter.text(f"abl-{key}-turned", f"{len(up)} above and {len(down)} below"
                 if form in forms else NONE)
    chapter.number(f"abl-{key}-settings", len(other), 0)
    chapter.text(f"abl-{key}-most", f"{change(row)}, of {ablation.NUMBERS[name]} at {v:g}"
                 if row and v is not None else f"{change(row)}, of {ablation.NUMBERS[name]} without"
                 if row else "undefined")
    chapter.number(f"abl-{key}-inner", max((abs(x[2]["change"]) for x in inner), default=None), 3)

# %% [markdown]
# In the structural form {glue:text}`abl-s-settings` settings other than a default have an interval;
# {glue:text}`abl-s-turned` the default's AUROC are told apart from it. The largest change is
# {glue:text}`abl-s-most`; among settings that take nothing away altogether it is
# {glue:text}`abl-s-inner`. With own uncertainty there are {glue:text}`abl-o-settings` such settings,
# {glue:text}`abl-o-turned` told apart, the largest change {glue:text}`abl-o-most`, and
# {glue:text}`abl-o-inner` among those that take nothing away. In a form without own uncertainty its
# weight can do nothing, which is why that panel lies flat there.
#
# A number that can be turned without effect is robust, or idle. Which of the two it is, its end of
# the scale tells: where *times 0* changes nothing either, the relation is idle on these runs.
#
# A setting that does better here is not recommended by that. It was found on the outcomes of these
# very runs; choosing by it and reporting the same runs would be fitting.
#
# ## Under other readings
#
# Similarity and signal are choices of this page. The table has all combinations that we hold.

# %% tags=["hide-input"]
FEW = ("full", "no_graph", "no_propagation", "sequential_only", "flat")
lines = []
for by in ("jaccard", "minilm") if given.traces == material.STORED else ():
    for read in ("constant", "nll", "entropy"):
        other = material.load(given.traces, [], by, read)
        scored = ablation.components(other.graphs, other.local, other.runs["task"], given.seed,
                                     names=FEW)
        table = measured({name: column[judged] for name, column in scored.items()},
                         dict.fromkeys(FEW[1:], "full")).to_dict("records")
        lines.append([by, "none (structural)" if read == "constant" else read,
                      tables.estimate(table[0], 2), *(change(row) for row in table[1:])])
readings = pd.DataFrame(lines, columns=[
    "similarity", "own uncertainty", "full, AUROC", *(ablation.NAMES[name] for name in FEW[1:])])
tables.show(readings, "AUROC of the full score, and its change with a part taken away, under other "
            "readings.", log.origin) if lines else print(
    "A log of your own is taken apart as asked for at the top; rerun with another -p embedder.")

# %% [markdown]
# ## What would change our mind
#
# - A log on which `flat` in RUPA's place lowers the AUROC with an interval below 0, over all pairs
#   and over pairs of the same length. Then graph and propagation do add to what they are given.
# - A log on which *sequential, latest only* lowers it likewise. Then relations matter, and not only
#   what was recent.
# - The agent's own log-probabilities in place of the surrogate's. What the form with own uncertainty
#   shows here may be about the reader and not about RUPA.
# - Table 4 with the runs behind each row named, and intervals. A change of a few hundredths over three
#   benchmarks may well be larger than its noise; in print it cannot be told.
#
# ## Exercises

# %% tags=["hide-input"]
structural = parts["structural"]
chapter.text("abl-x-eta", change(turned["structural", "eta_g", 0]))
chapter.text("abl-x-graph", change(found["structural", "all pairs"]["no_graph"]))
gap = abs(settings["structural"]["temperature", np.inf] - settings["structural"]["window", 5])
chapter.text("abl-x-gap", f"{np.nanmax(gap):.1g}" if np.isfinite(gap).any() else "undefined")
drawn = structural["random_graph"]
committee = measured({"mean": drawn.mean(axis=1, keepdims=True)}, {}).iloc[0]
chapter.text("abl-x-committee", tables.estimate(committee))
chapter.text("abl-x-average", tables.estimate(found["structural", "all pairs"]["random_graph"]))
lost = [0.5 ** np.bincount(np.searchsorted(g.agent, g.edges.target), minlength=len(g.agent))
        for g in log.graphs]
chapter.number("abl-x-lost", 100 * np.concatenate(lost).mean() if len(lost) else None, 0)
first = [x[0] for x in lost if len(x)]
later = np.concatenate([x[1:] for x in lost]) if lost else []
chapter.number("abl-x-first", 100 * np.mean(first) if len(first) else None, 0)
chapter.number("abl-x-later", 100 * np.mean(later) if len(later) else None, 0)
chapter.number("abl-x-settings", sum(v != ablation.default(name) for name, grid in
                                     ablation.GRIDS.items() for v in grid), 0)
chapter.number("abl-x-false", 0.05 * sum(v != ablation.default(name) for name, grid in
                                         ablation.GRIDS.items() for v in grid), 1)

# %% [markdown]
# 1. Set eta_g to 0 in the structural form. Which row of {numref}`fig-abl-parts` do you get, and why?
#
# ```{admonition} Solution
# :class: dropdown
# *No graph*: eta_g weighs G, and G of no edges is 0 too. The changes are {glue:text}`abl-x-eta` and
# {glue:text}`abl-x-graph`. The goal goes with both, for equation 3 has it inside G.
# ```
#
# 2. At T = inf equation 6 gives every relation the same reliability. Why is the score then that of
#    RUPA without calibration, and how closely?
#
# ```{admonition} Solution
# :class: dropdown
# G is a weighted mean, so a factor that all weights share cancels, but for the small epsilon in its
# denominator. The largest difference over these runs is {glue:text}`abl-x-gap`.
# ```
#
# 3. A colleague averages each run's score over the seeds of *random sources* and computes one AUROC,
#    {glue:text}`abl-x-committee`. We average AUROCs: {glue:text}`abl-x-average`. What did they measure?
#
# ```{admonition} Solution
# :class: dropdown
# A committee of random graphs, in which the noise of single graphs cancels. Nobody would run it. What
# a random graph costs is what one such graph costs on average.
# ```
#
# 4. With half of the edges kept by a coin, what share of steps is expected to lose all of them?
#
# ```{admonition} Solution
# :class: dropdown
# A step with k edges loses all with probability one half to the power of k; averaged over the steps
# of these runs, {glue:text}`abl-x-lost` %: of first steps {glue:text}`abl-x-first` %, of later ones
# {glue:text}`abl-x-later` %. Their G is 0, as if they stood at the goal; the row is about the goal as
# well as about edges.
# ```
#
# 5. {numref}`fig-abl-numbers` and {numref}`fig-abl-strengths` have {glue:text}`abl-x-settings`
#    settings beside the defaults in a form. How many of their 95 % intervals would you expect to leave out 0 if no number did anything?
#
# ```{admonition} Solution
# :class: dropdown
# About {glue:text}`abl-x-false`, though not independently: settings of one number move together. Look
# for curves that bend one way, not for single intervals.
# ```
