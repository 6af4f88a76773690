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
# # A panel without a model sees what it was set on
#
# **The claim.** Two {term}`judges <judge>` without a model, put beside the {term}`rules`, close the two blind
# spots of the rules on the calls and sentences they were set on. On other calls and other sentences they close
# less, and they flag {term}`clean` runs. The blind spots follow from what the rules of the *trajectory-judge*
# paper speak of {cite}`mohammadi2026` (section 3). `wrong_tool`, a redundant lookup where the policy should have
# been read, breaks no rule. `unsupported_claim`, a sentence that no {term}`observation` bears out, is prose, and
# no rule reads prose. The paper says of both that they "need something that reads".
#
# ```{admonition} In one minute
# On our own judged set, made by the paper's design, the free panel has a {term}`silent recall` of
# {glue:text}`fp-seven-silent`, a {term}`loud recall` of {glue:text}`fp-seven-loud` and a
# {term}`false-alarm rate` of {glue:text}`fp-seven-alarms`, for no token and {glue:text}`fp-ms` milliseconds a
# run. On other cases with the same kinds of call and sentence, its recall on the two blind spots is
# {glue:text}`fp-cases-tool` and {glue:text}`fp-cases-claim`. With calls and sentences it was not set on, it is
# {glue:text}`fp-report-tool` and {glue:text}`fp-report-claim`. Its false-alarm rate there is
# {glue:text}`fp-report-alarms`, from {glue:text}`fp-alarms-least` to {glue:text}`fp-alarms-most` over
# {glue:text}`fp-clean-ways` kinds of clean run. On logs of other desks, its look at the reply flags
# {glue:text}`fp-logs-reply` of successful runs, its look for repetition {glue:text}`fp-logs-repetition`.
# ```
#
# [The page before](c1_silent_uncertainty) asked which scores see silent faults; this one asks how far one gets
# without spending a token. Brackets are 95 % intervals, and a dagger marks an {term}`exact binomial one
# <Clopper-Pearson interval>`.

# %% [markdown]
# ## Three members, one rule to combine them
#
# - **Rules**: the desk's own checker, eight rules in one pass. It knows this desk and no other.
# - **Repetition**: the {term}`relation of that name <repetition relation>` in the RUPA paper {cite}`rupa2026`
#   (section 4.1) links a step to an earlier one that makes the same calls, at most {glue:text}`fp-window` steps
#   back. Here such a link is a flag, with two excuses of ours. If the first call failed, the second is a retry;
#   if the second brought something else, it is news.
# - **Reply**: each sentence that the customer was sent is split into names, amounts, dates and events, and each
#   of these is looked up in what the tools brought back ([the chapter on judges](a4_judges) takes it apart).
#
# The panel says faulty if any member does. Type and step are those of the first member that flags, in the order
# above. This rule is ours, and nobody tuned it. It adds false alarms up.
#
# Two things are **set**. One is when calls count as the same: if they are all alike (`exact`), or if RUPA links
# them (`near`). The other is how a sentence is scored: looked up only, or with a distance in words on top, and
# above which score it counts as unsupported. Of the forms that flag no clean run of the part that is set on, we
# take the one that catches most, and on a tie the one that flags less. Nothing else decides, and a test sets
# both again from the same runs.

# %% tags=["parameters"]
clean: int = 100  # clean runs for each seed
per_type: int = 50  # faulty runs of each type for each seed, even
verdicts: str = "recorded"  # LLM judges beside the published ones: recorded, or a file of verdicts
traces: str = "stored"  # stored (flags on public logs), or a log of yours
cost: str = "seconds"  # what a judge costs a run: seconds, tokens
draws: int = 2_000  # resamples of tasks behind the intervals on logs
seed: int = 0  # seed of those draws

# %% tags=["hide-input"]
from tjlib import chapter

given = chapter.check(
    globals(), cost=("seconds", "tokens"),
    clean=lambda value: None if 20 <= value <= 1000 else "give 20 to 1000",
    per_type=lambda value: None if 10 <= value <= 500 and value % 2 == 0 else (
        "give an even number from 10 to 500"),
    draws=lambda value: None if 100 <= value <= 20_000 else "give 100 to 20000",
)

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from tjlib import sentences, store, tables
from tjlib.charts import beside
from tjlib.charts import free as charts
from tjlib.charts.show import show
from tjlib.desk.otherbed import bed
from tjlib.judges import free, repeats
from tjlib.measure import by_task, members
from tjlib.measure.attribution import attribution, exact_share
from tjlib.measure.rates import exact_rates
from tjlib.measure.table import table
from tjlib.measure.verdicts import metrics
from tjlib.studies import freelogs, freeset
from tjlib.uncertainty.parameters import Parameters

SEVEN = "judged set"
runs = {name: freeset.beds(name, clean=given.clean, per_type=given.per_type)
        for name in freeset.BEDS}
runs[SEVEN] = bed(7, (), clean=100, per_type=50)
joined = {name: table([run.label for run in made], freeset.judged(made))
          for name, made in runs.items()}
rates = {name: exact_rates(t).set_index(["judge", "metric"]) for name, t in joined.items()}
ways = {name: members.by_way(t, {run.trajectory.trajectory_id: run.way for run in runs[name]},
                             [free.NAME, *(f"{free.NAME}:{m}" for m in free.MEMBERS)])
        for name, t in joined.items()}
FAR = "other cases and ways"
MADE = "computed on this page; seeds and ways: tjlib.desk.ways, sentences: data/sentences"

# %% tags=["hide-input"]
chosen = freeset.choose(runs["set"])
tried = chosen.tried.assign(**{
    "clean runs flagged": [f"{a} of {n}" for a, n in zip(
        chosen.tried["false_alarms"], chosen.tried["clean"], strict=True)],
    "faults caught": [f"{k} of {n}" for k, n in zip(
        chosen.tried["caught"], chosen.tried["of"], strict=True)],
    "taken": [("yes" if form in (chosen.form, chosen.threshold.similarity) else "no")
              for form in chosen.tried["form"]]})
tables.show(tried[["member", "form", "clean runs flagged", "faults caught", "taken"]].set_index("member"),
            "What was tried on the part that the panel is set on: clean runs flagged (lower is better) and "
            "faults of the member's own type caught (higher is better).",
            f"{MADE}; the same from data/build_panel.py set")

# %% tags=["hide-input"]
def rate(name, metric, judge=free.NAME):
    """Write one rate of one bed."""
    return tables.estimate(rates[name].loc[(judge, metric)], 2)


def flagged(name, kind, way="all", judge=free.NAME):
    """Return the row of one kind of run."""
    rows = ways[name]
    return rows[(rows["judge"] == judge) & (rows["type"] == kind) & (rows["way"] == way)].iloc[0]


for key, name in (("seven", SEVEN), ("cases", "other cases"), ("report", FAR), ("set", "set")):
    chapter.text(f"fp-{key}-silent", rate(name, "silent_recall"))
chapter.text("fp-seven-loud", rate(SEVEN, "loud_recall"))
chapter.text("fp-report-precision", rate(FAR, "precision"))
for key, name in (("seven", SEVEN), ("report", FAR)):
    chapter.text(f"fp-{key}-alarms", rate(name, "false_alarm_rate"))
for key, name in (("cases", "other cases"), ("report", FAR)):
    for short, kind in (("tool", "wrong_tool"), ("claim", "unsupported_claim")):
        chapter.text(f"fp-{key}-{short}", tables.estimate(flagged(name, kind), 2))
spent = {name: metrics(t).set_index(["judge", "metric"])["value"] for name, t in joined.items()}
chapter.number("fp-ms", 1000 * spent[SEVEN][free.NAME, "latency_s_mean"], 1)
chapter.number("fp-window", Parameters().window, 0)
kinds = ways[FAR].query("judge == @free.NAME and type == 'clean' and way != 'all'")
chapter.number("fp-clean-ways", len(kinds), 0)
chapter.number("fp-alarms-least", kinds["value"].min(), 2)
chapter.number("fp-alarms-most", kinds["value"].max(), 2)
chapter.text("fp-taken", f"{chosen.form} and {chosen.threshold.similarity}")
chapter.text("fp-as-fixed", "are" if (chosen.form, chosen.threshold.similarity, chosen.threshold.value) == (
    free.FORM, free.THRESHOLD.similarity, free.THRESHOLD.value) else "are not")
for key, name in (("set", "set"), ("report", FAR)):
    chapter.text(f"fp-seeds-{key}", ", ".join(map(str, freeset.BEDS[name][0])))
    chapter.number(f"fp-n-{key}", len(runs[name]), 0)
chapter.number("fp-report-faulty", sum(run.label.faulty for run in runs[FAR]), 0)

# %% [markdown]
# The forms taken here, {glue:text}`fp-taken`, {glue:text}`fp-as-fixed` those that the command uses:
#
# ```bash
# tjlib judge free --traces runs.jsonl --out verdicts.jsonl
# ```
#
# ## What it was set on, and what it was not
#
# The panel was set on {glue:text}`fp-n-set` runs (seeds {glue:text}`fp-seeds-set`) and is reported on
# {glue:text}`fp-n-report` others (seeds {glue:text}`fp-seeds-report`). Every seed follows the design of the judged
# set. We change two things, first one and then both. **Other cases** are other customers, orders and sums,
# with the faults made in the ways that the panel was set on. **Other ways** are new in kind:
#
# - redundant calls that are no second lookup: asking for the eligibility before the policy is read, looking the
#   order up once more later on, spelling its number another way at a desk that reads any spelling, handing the
#   case over before looking into it;
# - a skipped precondition that no rule asks for: the policy is never read, and nothing is done instead;
# - {glue:text}`fp-sentences-ours` sentences of ours that were kept out when the reply judge was made, and
#   {glue:text}`fp-sentences-other` of kinds it never met: feedback passed on, promises that it will not happen
#   again, efforts made, others blamed;
# - clean runs that repeat a call with good reason (a retry after an error, a look whether the refund has gone
#   through, the same at a desk that is slow to say so), or that word the reply or the order's number in another
#   way.
#
# In {numref}`fig-fp-shrinkage`, a circle is what the panel was set on, a square other cases, a triangle other
# cases in other ways. Where the three lie together, nothing was lost.

# %% tags=["hide-input"]
report_claims = freeset.claims("report")
for key, name in (("ours", "second half of ours"), ("other", "claims of other kinds")):
    chapter.number(f"fp-sentences-{key}", len(report_claims[name]), 0)
rows = pd.concat([ways[name].query("judge == @free.NAME and way == 'all'").assign(bed=name)
                  for name in freeset.BEDS])
ROLE = {"silent": "silent", "loud": "loud", "both": "silent", "clean": "false alarm"}
order = dict.fromkeys(ways["set"]["type"])
rows = rows.assign(role=rows["survival"].map(ROLE), shown=[
    tables.estimate(row, 2) for row in rows.to_dict("records")])
# The part of skipped_precondition that is loud is drawn with the silent part.
rows = rows.sort_values("type", key=lambda s: s.map(list(order).index), kind="stable")
rows["type"] = rows["type"].replace({"clean": "clean runs"})
rows["rank"] = rows["bed"].map(list(freeset.BEDS).index)
shrunk = rows[["type", "bed", "rank", "role", "value", "lo", "hi", "shown"]].astype(
    dict.fromkeys(("value", "lo", "hi"), float))

# %% mystnb={"figure": {"caption": "Share of each type of run that the free panel flags, on the runs it was set on (circle), on other cases (square) and on other cases in other ways (triangle), with exact 95 % intervals over runs. Faults: higher is better; clean runs: lower. A type whose runs are partly silent has the colour of silent faults. Data: computed on this page.", "name": "fig-fp-shrinkage"}} tags=["hide-input"]
show(charts.shrinkage(shrunk), name="fp-shrinkage", table=shrunk[["type", "bed", "shown"]],
     alt="One row a fault type and one for clean runs, each with three marks for the runs set on, "
         "other cases, and other cases in other ways, and their intervals between 0 and 1.")

# %% [markdown]
# **Other cases cost nothing.** Over all silent faults, recall is {glue:text}`fp-set-silent` where the panel was
# set and {glue:text}`fp-cases-silent` on other cases. That says little: on this desk, a case is a handful of
# values in the same places, and a new seed is not a new kind of run.
#
# **Other ways do.** There the silent recall is {glue:text}`fp-report-silent`; on `wrong_tool` it is
# {glue:text}`fp-report-tool`, on `unsupported_claim` {glue:text}`fp-report-claim`. Of the panel's flags,
# {glue:text}`fp-report-precision` are on a faulty run, in a set where {glue:text}`fp-report-faulty` of
# {glue:text}`fp-n-report` runs are faulty. Where faults are rarer, that share is lower.
#
# The intervals are over runs. We chose the ways ourselves and did not draw them, so an interval says how well
# the rate *on these ways* is known. One more way would give another pooled rate.
#
# ## Way by way
#
# {numref}`fig-fp-ways` takes the triangles apart. Point at a mark to see which members flag.

# %% tags=["hide-input"]
def flaggers(kind, way):
    """Name the members that flag any run of a way, with their share."""
    told = {m: flagged(FAR, kind, way, f"{free.NAME}:{m}") for m in free.MEMBERS}
    return ", ".join(f"{m} {row['value']:.2f}" for m, row in told.items() if row["k"]) or "nobody"


PANELS = {"wrong_tool": "wrong_tool", "skipped_precondition": "skipped_precondition",
          "unsupported_claim": "unsupported_claim", "clean": "clean runs (flags are false alarms)"}
apart = ways[FAR].query("judge == @free.NAME and way != 'all' and type in @PANELS")
apart = apart.assign(panel=apart["type"].map(PANELS), role=apart["survival"].map(ROLE),
                     shown=[tables.estimate(row, 2) for row in apart.to_dict("records")],
                     who=[flaggers(*key) for key in zip(apart["type"], apart["way"], strict=True)])
apart = apart.sort_values("type", key=lambda s: s.map(list(PANELS).index), kind="stable")
drawn = apart.drop(columns=["k", "n", "why", "how"]).astype(
    dict.fromkeys(("value", "lo", "hi"), float))

# %% mystnb={"figure": {"caption": "Share of runs that the free panel flags, by the way they were made, on cases and ways it was not set on, with exact 95 % intervals over runs. Faults: higher is better; clean runs: lower. Data: computed on this page.", "name": "fig-fp-ways"}} tags=["hide-input"]
show(charts.ways(drawn), name="fp-ways", table=drawn[["panel", "way", "shown", "who"]],
     alt="Four panels, for wrong tool, skipped precondition, unsupported claim and clean runs; one row a "
         "way with the share flagged between 0 and 1 and its interval.")

# %% tags=["hide-input"]
for key, kind, way in (
        ("early", "wrong_tool", "eligibility asked early"),
        ("later", "wrong_tool", "order looked up later"),
        ("spelt", "wrong_tool", "looked up, other spelling"),
        ("handed", "wrong_tool", "handed over early"),
        ("unread", "skipped_precondition", "policy skipped"),
        ("half", "unsupported_claim", "second half of ours"),
        ("others", "unsupported_claim", "claims of other kinds"),
        ("retry", "clean", "any call retried twice"),
        ("confirm", "clean", "order confirmed after refund"),
        ("poll", "clean", "order polled, not yet changed"),
        ("respelt", "clean", "other spelling all along"),
        ("polite", "clean", "polite"),
        ("reworded", "clean", "reworded"), ("plain", "clean", "as scripted")):
    chapter.text(f"fp-{key}", tables.estimate(flagged(FAR, kind, way), 2))
    if key in ("spelt", "respelt", "reworded"):
        chapter.text(f"fp-{key}-who", flaggers(kind, way))
said = {run.trajectory.trajectory_id: run.trajectory.final_answer for run in runs[FAR]
        if run.label.failure_type == "unsupported_claim"}
for key, name in (("ours", "second half of ours"), ("other", "claims of other kinds")):
    unit = {who: text for who, answer in said.items() for text in report_claims[name]
            if answer.endswith(text)}
    found = members.wholly(joined[FAR], f"{free.NAME}:reply", unit)
    chapter.text(f"fp-wholly-{key}", f"{found['k']} of {found['n']}, {tables.estimate(found, 2)}")

# %% [markdown]
# **Redundant calls.** A call made too early is repeated when its turn comes, and a late second look repeats the
# first, so the panel can see both: the shares flagged are {glue:text}`fp-early` and {glue:text}`fp-later`. Of lookups
# in another spelling it flags {glue:text}`fp-spelt`, by {glue:text}`fp-spelt-who`: the rules ask that an argument be
# written as it was read, so they take this one for invented. A case handed over early, first for one reason
# and then for another, is flagged at a rate of {glue:text}`fp-handed`, because its two calls have different arguments. And
# where the policy is left unread and nothing is done instead, there is nothing to repeat:
# {glue:text}`fp-unread`. The rules share this blind spot. The judged set does not show it, for there an unread
# policy always comes with a repeated call. So the panel closes the repeated call, not the wrong tool. A ninth
# rule that asks for the policy closes the rest, as [the chapter on the testbed](a3_testbed) found and an
# exercise below counts.
#
# **Claims.** The panel flags {glue:text}`fp-half` of the runs with a kept-out sentence and
# {glue:text}`fp-others` of those with a sentence of another kind. Runs that hold the same sentence are not
# independent, so count the sentences that were drawn: {glue:text}`fp-wholly-ours`, and {glue:text}`fp-wholly-other`, were flagged in
# every run that held them. The vocabulary of events does not know what nobody told it.
#
# **Clean runs.** Plain ones are flagged at a rate of {glue:text}`fp-plain`, retries at {glue:text}`fp-retry`, a
# look whether the refund has gone through at {glue:text}`fp-confirm`. If the desk is slow and that look brings
# nothing new, it is {glue:text}`fp-poll`: from the calls alone, a wise repeat and a useless one look the same. A
# clean run that spells the order's number in small letters throughout is flagged at {glue:text}`fp-respelt`,
# by {glue:text}`fp-respelt-who`. One with another reply, in which everything is what the desk said, is flagged at
# {glue:text}`fp-reworded`, by {glue:text}`fp-reworded-who`; one with a polite sentence at
# {glue:text}`fp-polite`.
#
# ## What each member is for
#
# {numref}`fig-fp-added` shows what the panel would lose without each member: the flags that no other member
# raises. The last row is what each member alone costs in false alarms.

# %% tags=["hide-input"]
lost = members.added(joined[FAR], free.NAME, freeset.WITHOUT)
lost = lost.assign(type=lost["type"].replace({"clean": "clean runs"}),
                   text=[f"{row['k']} of {row['n']}" for row in lost.to_dict("records")],
                   shown=[tables.estimate(row, 2) for row in lost.to_dict("records")])
cells = lost[["member", "type", "value", "text", "shown"]].astype({"value": float})

# %% mystnb={"figure": {"caption": "Runs that the free panel flags and would not flag without a member, by type of run, on cases and ways it was not set on. Faults: what the member adds in recall; clean runs: what it adds in false alarms. Data: computed on this page.", "name": "fig-fp-added"}} tags=["hide-input"]
show(charts.added(cells), name="fp-added", table=cells[["member", "type", "text", "shown"]],
     alt="A grid of six fault types and clean runs by three members; each box holds how many runs only "
         "this member flags.")

# %% tags=["hide-input"]
LINES = {free.NAME: "free panel", **{f"{free.NAME}:{m}": f"{m} alone" for m in free.MEMBERS},
         **{name: f"without {m}" for m, name in freeset.WITHOUT.items()}}
HEADS = {"silent_recall": "silent recall", "loud_recall": "loud recall",
         "false_alarm_rate": "false alarms", "precision": "precision"}
lines = []
for name in ("set", FAR):
    for judge, called in LINES.items():
        shares = attribution(joined[name], judge).query("type == 'all'").set_index("share")
        lines.append({"runs": name, "judge": called,
                      **{head: rate(name, metric, judge) for metric, head in HEADS.items()},
                      "type right": tables.estimate(
                          exact_share(shares.loc["mistyped", "n"] - shares.loc["mistyped", "k"],
                                      shares.loc["mistyped", "n"]), 2),
                      "step right": tables.estimate(shares.loc["step_exact_over_detected"], 2),
                      "ms a run": f"{1000 * spent[name][judge, 'latency_s_mean']:.2f}"})
tables.show(pd.DataFrame(lines).set_index("runs"),
            "Members and panels, where they were set and elsewhere, with exact 95 % intervals. Type and step: "
            "of the faults detected. False alarms and milliseconds: lower is better; all else: higher.",
            MADE, folded=True)

# %% tags=["hide-input"]
shares = attribution(joined[FAR], free.NAME)
for key, kind in (("all", "all"), ("tool", "wrong_tool")):
    part = shares[shares["type"] == kind].set_index("share")
    chapter.text(f"fp-step-{key}", tables.estimate(part.loc["step_exact_over_detected"], 2))
    chapter.text(f"fp-mistyped-{key}", tables.estimate(part.loc["mistyped"], 2))
for member in free.MEMBERS:
    row = lost[(lost["member"] == member) & (lost["type"] == "clean runs")].iloc[0]
    chapter.text(f"fp-alone-{member}", row["text"])

# %% [markdown]
# Of the false alarms, {glue:text}`fp-alone-rules` clean runs are flagged by the rules alone,
# {glue:text}`fp-alone-repetition` by the repetition alone and {glue:text}`fp-alone-reply` by the reply alone. Of
# the faults that are detected, {glue:text}`fp-step-all` are placed at the very step and
# {glue:text}`fp-mistyped-all` get the wrong type. For `wrong_tool` the two shares are {glue:text}`fp-step-tool`
# and {glue:text}`fp-mistyped-tool`: a call made too early is noticed only when it is made again, a step after the
# fault, and a respelt one gets its type from the rules, which come first.
#
# ## Beside judges that read
#
# {numref}`fig-fp-cost` orders judges by what they spend on a run, in {glue:text}`fp-cost-unit`, the cheapest on
# top. Compare the silent recall of a judge with its false alarms, on the same row. Hollow marks are the five
# published judges on the release's judged set: 14B and 8B models, and the rule engine. Filled marks are the
# panel, on our judged set and on the other ways, and the judges whose verdicts were chosen at the top of this
# page. Seconds are those of each judge's own machine; tokens compare better.
#
# ```{admonition} Where the filled marks come from
# :class: dropdown
# {glue:text}`fp-reading`.
# ```

# %% tags=["hide-input"]
def standing(t, names, origin):
    """Lay judges out with their rates and costs."""
    found = exact_rates(t).set_index(["judge", "metric"])
    price = metrics(t).set_index(["judge", "metric"])["value"]
    out = []
    for judge, called in names.items():
        spent = {"seconds": price.get((judge, "latency_s_mean")), "tokens": sum(
            price.get((judge, f"{kind}_tokens_mean")) or 0 for kind in ("prompt", "completion"))}
        for metric, what in RATES.items():
            row = found.loc[(judge, metric)]
            out.append({"label": called, "origin": origin, "what": what, **spent,
                        "shown": tables.estimate(row, 2), **{k: row[k] for k in ("value", "lo", "hi")}})
    return out


def time_short(value):
    """Write seconds in the unit that suits them."""
    if pd.isna(value):
        return "unknown"
    unit, name = next((u for u in ((1, "s"), (1e-3, "ms")) if value >= u[0]), (1e-6, "µs"))
    return f"{value / unit:.2g} {name}"


SHORT = {"seconds": time_short, "tokens": "{:,.0f} tokens".format}
RATES = {"silent_recall": "silent", "loud_recall": "loud", "false_alarm_rate": "false alarm"}
theirs, reading = store.load("published"), store.load(given.verdicts)
printed = table(theirs.labels, theirs.verdicts, theirs.cost)
read = table(reading.labels, reading.verdicts, reading.cost)
own = [judge for judge in read.judges if judge not in (*printed.judges, "rules")
       and not judge.startswith(("reply:", free.NAME))]
spots = pd.DataFrame([
    *standing(printed, tables.judge_names(printed.judges), "published"),
    *standing(read, tables.judge_names(own), "ours"),
    *standing(joined[SEVEN], {free.NAME: "free panel"}, "ours"),
    *standing(joined[FAR], {free.NAME: "free, other ways"}, "ours")])
spots = spots[spots["value"].notna()].sort_values(
    [given.cost, "label"], kind="stable").astype(dict.fromkeys(("value", "lo", "hi"), float))
spots["judge"] = spots["label"] + ", " + spots[given.cost].map(SHORT[given.cost])
chapter.text("fp-reading", reading.origin)
chapter.text("fp-cost-unit", given.cost)

# %% mystnb={"figure": {"caption": "Judges by what they spend on a run, the cheapest on top: share flagged of silent faults, loud faults (higher is better) and clean runs (lower), with exact 95 % intervals. Hollow: the published judges; filled: the free panel and the judges of the verdicts chosen at the top. Data: verdict_patterns.csv and cost.csv in data/published; the verdicts chosen; computed on this page.", "name": "fig-fp-cost"}} tags=["hide-input"]
show(beside.rates(spots[["judge", "origin", "what", "value", "lo", "hi", "shown"]]), name="fp-cost",
     table=spots[["label", "origin", "what", "shown", "seconds", "tokens"]],
     alt="One row a judge, from the cheapest to the dearest run, with its silent recall, loud recall and "
         "false alarms between 0 and 1; published judges hollow, ours filled.")

# %% tags=["hide-input"]
step = spots[(spots["label"] == "step (14B)") & (spots["what"] == "silent")].iloc[0]
chapter.text("fp-14b-silent", step["shown"])
chapter.text("fp-14b-spent", f"{time_short(step['seconds'])} and {step['tokens']:,.0f} tokens")
chapter.number("fp-14b-claim", exact_rates(printed).set_index(["judge", "metric"]).loc[
    ("step:qwen2.5:14b", "recall|unsupported_claim"), "value"], 2)

# %% [markdown]
# The published step judge with a 14B model has a silent recall of {glue:text}`fp-14b-silent` and spends
# {glue:text}`fp-14b-spent` on a run. The panel has {glue:text}`fp-seven-silent` on the judged set and
# {glue:text}`fp-report-silent` on other ways. The two are not on the same footing. The panel's reply member was
# made with the paper's four sentences in view, and nobody has asked the published judges about the other ways.
# On `unsupported_claim`, that judge has a recall of {glue:text}`fp-14b-claim` for four sentences, and the panel
# {glue:text}`fp-report-claim` for sentences it never met.
#
# ## Where the rules do not apply
#
# The log of another desk has other tools. The rules say nothing about it, and the panel is the other two
# members. {numref}`fig-fp-logs` has the share of runs they flag, among runs that succeeded and among runs that
# failed; look for rows in which the two lie apart. On a successful run a flag is a false alarm only if success is
# all one asks about. Such a run may still hold a useless call or a claim without support, so these shares are
# upper bounds. The runs come from {glue:text}`fp-logs-origin`.

# %% tags=["hide-input"]
logged, origin = freelogs.flags(given.traces)
CALLED = {"repetition": "repetition, exact", "near": "repetition, near", "reply": "reply"}
SETS = {"tau_airline": "tau-bench airline", "agentdojo": "AgentDojo", "swe_agent": "SWE-agent"}
ENDS = {"successful": False, "failed": True, "outcome unknown": None}
lines = []
for name, part in logged.groupby("set", sort=False):
    unknown = part["failed"].isna()
    # A few runs that nobody judged, among many that somebody did, are left out.
    for role, end in ENDS.items() if unknown.all() else list(ENDS.items())[:2]:
        mine = part[unknown if end is None else part["failed"].eq(end)]
        means = by_task.means(mine[list(CALLED)], mine["task"], np.random.default_rng(given.seed),
                              draws=given.draws)
        for row in means.to_dict("records"):
            if row["value"] in (0, 1):  # a bootstrap of what is all alike has no width
                row |= exact_share(int(row["value"] * row["n"]), row["n"])
            lines.append({"panel": CALLED[row["what"]], "set": SETS.get(name, name), "role": role,
                          "member": row["what"], **{k: row[k] for k in ("value", "lo", "hi", "n")},
                          "shown": tables.estimate(row, 2)})
seen = pd.DataFrame(lines)
shown = seen[seen["value"].notna()].drop(columns="member").astype(
    dict.fromkeys(("value", "lo", "hi"), float))

# %% tags=["hide-input"]
good = logged[logged["failed"].eq(False)]
pooled = by_task.means(good[list(CALLED)], good["set"] + "/" + good["task"],
                       np.random.default_rng(given.seed), draws=given.draws)
for row in pooled.to_dict("records"):
    chapter.text(f"fp-logs-{row['what']}", sentences.estimate(row))
chapter.text("fp-logs-origin", origin)
chapter.text("fp-logs-rules", f"{int(logged['rules'].notna().sum())} of {len(logged)}")

# %% mystnb={"figure": {"caption": "Share of runs flagged by the members that need no rules, successful and failed, on logs of other desks, with 95 % intervals by whole tasks, exact ones where the share is none or all. Runs on which a member does not bear are left out. Data: the flags or the log chosen at the top.", "name": "fig-fp-logs"}} tags=["hide-input"]
show(charts.logs(shown), name="fp-logs", table=shown[["panel", "set", "role", "shown", "n"]],
     alt="Three panels, for exact repetition, near repetition and the reply; one row a set of runs with "
         "the share of successful and of failed runs flagged, and intervals.")

# %% tags=["hide-input"]
def of_set(name, member, role):
    """Write one share of one set."""
    row = seen[(seen["set"] == name) & (seen["member"] == member) & (seen["role"] == role)]
    return row.iloc[0]["shown"] if len(row) else "undefined (not read here)"


def told_apart(member):
    """Name the sets in which failed runs are flagged more often, beyond both intervals."""
    found = []
    for name, rows in seen[seen["member"] == member].groupby("set", sort=False):
        ends = rows.set_index("role")
        if {"successful", "failed"} <= {*ends.index[ends["lo"].notna()]}:
            found += [name] * bool(ends.loc["failed", "lo"] > ends.loc["successful", "hi"])
    return ", ".join(found) or "none"


for member in ("repetition", "reply"):
    chapter.text(f"fp-apart-{member}", told_apart(member))
for role in ("successful", "failed"):
    chapter.text(f"fp-airline-{role}", of_set(SETS["tau_airline"], "repetition", role))
    chapter.text(f"fp-airline-reply-{role}", of_set(SETS["tau_airline"], "reply", role))

# %% [markdown]
# The rules bear on {glue:text}`fp-logs-rules` of these runs. Pooled over the sets, the exact repetition flags
# {glue:text}`fp-logs-repetition` of the successful runs, the near one {glue:text}`fp-logs-near` and the reply
# {glue:text}`fp-logs-reply`. On the airline log of tau-bench, the repetition flags
# {glue:text}`fp-airline-successful` of successful and {glue:text}`fp-airline-failed` of failed runs, the reply
# {glue:text}`fp-airline-reply-successful` and {glue:text}`fp-airline-reply-failed`.
#
# The exact repetition flags failed runs more often than successful ones, the two intervals apart, on these sets:
# {glue:text}`fp-apart-repetition`. The reply does so on {glue:text}`fp-apart-reply`. It knows the events of a
# refund desk and takes every number for a claim, and nothing of it was set on such logs; `tjlib judge reply
# --clean FILE` sets its threshold on clean runs of yours.
#
# ## What would change our mind
#
# - A way to call the wrong tool, made by somebody who has not read this page, on which the repetition does as
#   well as on ours. The hand that wrote the member also thought of our ways.
# - A false-alarm rate on the clean runs of a real desk that is near that of our plain ones. Then the kinds of
#   clean run that we made up would be rarer than we fear.
# - A published judge whose recall falls as far when it is asked about the other ways. Then what shrinks here
#   would be the test, not the panel.
# - A member without a model that tells a wise repeat from a useless one.
#
# The panel borrowed one relation from RUPA and left the rest. The next page asks
# [whether the method itself can be improved](c1_improvements) without looking at an outcome.

# %% [markdown]
# ## Exercises
#
# What a check compares with are the rates of this page.

# %% tags=["hide-input"]
from tjlib import exercises


def count(kind, says, way=None):
    """Count the runs of a kind of which something is so."""
    mine = [run for run in runs[FAR] if (run.label.failure_type or "clean") == kind
            and way in (None, run.way)]
    return f"{sum(bool(says(run.trajectory)) for run in mine)} of {len(mine)}"


recall, false_alarms = (rates[FAR].loc[(free.NAME, metric), "value"]
                        for metric in ("recall", "false_alarm_rate"))
alarms = [rates[FAR].loc[(f"{free.NAME}:{m}", "false_alarm_rate"), "value"] for m in free.MEMBERS]
chapter.text("fp-x-alarms", ", ".join(f"{m} {rate:.3f}" for m, rate in zip(free.MEMBERS, alarms, strict=True)))
chapter.number("fp-x-recall", recall, 3)
chapter.number("fp-x-alarm", false_alarms, 3)

# %% [markdown]
# ```{exercise} Any member is enough
# :label: c1-any
# :nonumber:
# On the other ways, the members flag these shares of the clean runs: {glue:text}`fp-x-alarms`. Knowing only
# that, how high can the panel's false-alarm rate be?
# ```

# %%
highest = None  # a share from 0 to 1
print(exercises.check("c1-any", highest, alarms=alarms))

# %% [markdown]
# ```{solution-start} c1-any
# :class: dropdown
# ```
#
# If no clean run is flagged twice, the shares add up.

# %%
print(" + ".join(f"{rate:.3f}" for rate in alarms), f"= {sum(alarms):.3f}; the panel has {false_alarms:.3f}")

# %% [markdown]
# The lowest it can be is the largest of the three, if all members flag the same runs.
#
# ```{solution-end}
# ```
#
# ```{exercise} One faulty run in fifty
# :label: c1-ppv
# :nonumber:
# On the other ways, the panel has a recall of {glue:text}`fp-x-recall` and a false-alarm rate of
# {glue:text}`fp-x-alarm`. Suppose that one run in fifty is faulty. What share of its flags is then right (the
# {term}`positive predictive value`)?
# ```

# %%
right = None  # a share from 0 to 1
print(exercises.check("c1-ppv", right, recall=recall, alarm=false_alarms))

# %% [markdown]
# ```{solution-start} c1-ppv
# :class: dropdown
# ```
#
# With recall r, false-alarm rate a and share f of faulty runs, it is r f / (r f + a (1 - f)).

# %%
plain = flagged(FAR, "clean", "as scripted")
for of, alarm in (("all clean runs", false_alarms), ("plain ones, upper end of the interval", plain["hi"])):
    print(f"{of}: {0.02 * recall / (0.02 * recall + 0.98 * alarm):.2f}" if recall + alarm else "undefined here")

# %% [markdown]
# The second line supposes that all clean runs are plain, and takes for their false-alarm rate the highest that
# their interval allows.
#
# ```{solution-end}
# ```
#
# ```{exercise} A ninth rule
# :label: fp-ninth
# :nonumber:
# Add a ninth rule: a run that never calls `get_policy` is faulty. What does it do to the ways of `wrong_tool` and
# to the skipped policy, and what does it cost?
# ```
#
# ```{solution-start} fp-ninth
# :class: dropdown
# ```

# %%
def unread(run):
    """Tell whether the policy is never asked for."""
    return all(call.tool != "get_policy" for step in run.steps for call in step.calls)


print("wrong_tool:", count("wrong_tool", unread))
print("policy skipped:", count("skipped_precondition", unread, "policy skipped"))
print("clean:", count("clean", unread))

# %% [markdown]
# One line of procedure does what the repetition does, and more. The first blind spot is a gap in eight rules, not
# in rules. The ninth would not carry to a desk where the policy need not be read.
#
# ```{solution-end}
# ```
#
# ```{exercise} The other form
# :label: fp-near
# :nonumber:
# The repetition was set to `exact`, because `near` caught no more where it was set. What would `near` have done
# on the other ways?
# ```
#
# ```{solution-start} fp-near
# :class: dropdown
# ```

# %%
for form in repeats.FORMS:
    told = {kind: count(kind, lambda run, form=form: repeats.judge(run, form).faulty)
            for kind in ("wrong_tool", "clean")}
    print(f"{form}: wrong_tool {told['wrong_tool']}, clean {told['clean']}")

# %% [markdown]
# Choosing a form by these numbers would set it on what is reported.
#
# ```{solution-end}
# ```
#
# ```{exercise} Without the excuses
# :label: fp-excuses
# :nonumber:
# Drop both excuses of the repetition, so that every call made again is a flag. Which clean runs are then
# flagged?
# ```
#
# ```{solution-start} fp-excuses
# :class: dropdown
# ```

# %%
def again(run):
    """Tell whether any call is made again, excused or not."""
    return any(found.exact for found in repeats.repeats(run))


print("clean:", count("clean", again))
for way in kinds["way"]:
    if not (told := count("clean", again, way)).startswith("0 "):
        print(f"{way}: {told}")

# %% [markdown]
# ```{solution-end}
# ```
