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
# # Now yours: a log can rank its runs, and cannot grade the ranking
#
# **The claim.** From the steps alone, this page can say which runs of a log to open first. What that ranking is
# *worth* is not in the steps: that takes runs whose outcome somebody looked up, some of them failed. How sure the
# agent was of its words takes the log-probabilities of its tokens. And whether a run that ended well got there
# properly takes a judge who knows how it should have gone. Each number below stands beside what it needs, so
# that a gap tells you what to log next.
#
# ```{admonition} In one minute
# The log holds {glue:text}`c2-runs` runs, and {glue:text}`c2-unread` places in it could not be read. The runs are
# ranked by {glue:text}`c2-method`, because {glue:text}`c2-surest`. Outcomes are known of {glue:text}`c2-known`
# runs, of which {glue:text}`c2-failed` failed; with them the ranking gets an AUROC of {glue:text}`c2-auroc`, and
# the number of steps alone {glue:text}`c2-auroc-steps`, where a coin gets .5. Of the failed runs,
# {glue:text}`c2-quiet` have no error anywhere in the log, and {glue:text}`c2-quiet-below` of these stand in the
# lower half of the ranking. {glue:text}`c2-judged`
# ```

# %% [markdown]
# ## Bring a log
#
# Without a log of yours, the page reads [one that we wrote](../book/data): the booking desk of a bicycle
# workshop, seven requests, each tried two or three times. There is no workshop and no agent behind it, so it
# shows how to read the page and says nothing about the methods. With yours:
#
# ```bash
# tjlib validate my_runs.jsonl
# tjlib rerun c2_your_traces -p traces my_runs.jsonl
# ```
#
# `traces` is a file, a folder, or a .gz, .zip or .eval archive. The content of each file decides
# [its format](../book/formats), unless `format` insists on one. Nothing leaves your machine unless you name a
# model that runs elsewhere.

# %% tags=["parameters"]
traces: str = ""  # your log: a file, a folder or an archive; empty: the workshop's, which we wrote
format: str = "auto"  # auto (each file by its content) or the name of a format
labels: str = ""  # a file of outcomes by task or run; empty: what the log itself says
method: str = ""  # ranks the runs; empty: rupa where every run has log-probabilities, else its graph
embedder: str = "jaccard"  # jaccard (shared words), minilm, bge-m3 or a model's folder
top: int = 12  # how many of the riskiest runs are drawn and opened, 1 to 20
pick: int = 1  # the run that is opened in full, by its place in the ranking, from 1
model: str = ""  # judges the n riskiest, such as local:smollm2; empty: no judge runs
procedure: str = ""  # what a judge is told: a YAML file or a name; empty: the workshop's, or general
judges: list[str] = ["outcome", "step"]  # outcome, step, ensemble, reply-steps, steps-reply
n: int = 2  # how many runs a model judges
verdicts: str = ""  # a file of verdicts on these runs: shown, and with a model gone on with
out: str = ""  # a CSV file that gets every score; empty: none is written
draws: int = 2_000  # resamples of tasks behind an interval
seed: int = 0  # of the resampling

# %% tags=["hide-input"]
from tjlib import chapter
from tjlib.formats import registry
from tjlib.judges import panel
from tjlib.uncertainty import methods

given = chapter.check(
    globals(),
    format=("auto", *registry.FORMATS),
    labels=lambda value: "name the traces they belong to" if value and not traces else None,
    method=("", *methods.METHODS),
    top=lambda value: None if 1 <= value <= 20 else "give 1 to 20",
    pick=lambda value: None if value >= 1 else "give 1 or more; 1 is the riskiest run",
    judges=tuple(panel.DESIGNS),
    n=lambda value: None if 1 <= value <= 400 else "give 1 to 400",
    draws=lambda value: None if 100 <= value <= 20_000 else "give 100 to 20000",
)

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from tjlib import procedures, scoring, store, tables
from tjlib.charts import graph as graphs
from tjlib.charts import yours as figures
from tjlib.charts.show import show
from tjlib.containers import place, within
from tjlib.judges import prompts
from tjlib.packaged import data_folder
from tjlib.runpage import lines, summary
from tjlib.runpage.opened import propagated, row
from tjlib.runpage.texts import plain
from tjlib.studies import live, promptview, yourlog
from tjlib.trace import InputError
from tjlib.uncertainty.similarity import similarity

# %% tags=["hide-input"]
path = given.traces or data_folder("examples") / "bicycle_desk.jsonl"
registry.spare(given.out, path, given.labels, given.verdicts)
log = registry.load(path, given.format, given.labels or None)
ORIGIN = f"{plain(str(given.traces))} ({log.format})" if given.traces else (
    "data/examples/bicycle_desk.jsonl, written by us (openai_chat)")
if given.pick > len(log.runs):
    raise InputError(f"parameter pick: the log holds {len(log.runs)} runs, no number {given.pick}")
told = procedures.read(given.procedure or ("general" if given.traces else "bicycle_desk"))

# %% [markdown]
# ## What was read
#
# Before any score: is this your log? If the counts are not what you expect, stop here. An *error* is an
# observation that reports one, however the run ended.

# %% tags=["hide-input"]
tables.show(yourlog.counted(log), "What the log holds.", ORIGIN)

# %% tags=["hide-input"]
MOST = 40
lost = [("not read", within(path, line)) for line in log.unread]
lost += [("passed over", within(path, line)) for line in log.passed]
lost += [("with a doubt", f"{within(path, place(path, run.source, run.line))}: "
          f"{run.trajectory.trajectory_id}: {note}") for run in log.runs for note in run.notes]
doubts = pd.DataFrame([(what, plain(line)[:300]) for what, line in lost[:MOST]],
                      columns=["what", "file or line, and why"])
if len(lost) > MOST:
    doubts.loc[MOST] = "", f"and {len(lost) - MOST:,} more, which tjlib validate lists"
tables.show(doubts, "What could not be read, or was read with a doubt.", ORIGIN, folded=len(lost) > 8)

# %% tags=["hide-input"]
alike = similarity(given.embedder)
CONTROLS = ("n_steps", "n_words", "failing_share", "repetition", "random")
names = list(dict.fromkeys(("rupa", "rupa_structural", "flat", "pe", "sp_mean", *CONTROLS,
                            *filter(None, [given.method]))))
found = scoring.scores(log.runs, names, similarity=alike)
by, because = summary.method(found, given.method)
order = summary.ranked(log.runs, found, by)
score = {name: (value, why) for name, value, why in found.loc[
    found["method"] == by, ["trajectory_id", "value", "why"]].itertuples(index=False)}

# %% tags=["hide-input"]
known, failed = [r for r in order if r.success is not None], [r for r in order if r.success is False]
quiet = [r for r in failed if not yourlog.errors(r)]
place = {r.trajectory.trajectory_id: i for i, r in enumerate(order, start=1)}
low = [r for r in quiet if place[r.trajectory.trajectory_id] > len(order) / 2]
chapter.text("c2-runs", f"{len(order):,}")
chapter.text("c2-unread", f"{len(log.unread):,}")
chapter.text("c2-method", by)
chapter.text("c2-surest", because)
for key, runs in (("known", known), ("failed", failed), ("quiet", quiet), ("quiet-below", low)):
    chapter.text(f"c2-{key}", f"{len(runs):,}" if known else "(outcomes unknown)")
chapter.text("c2-errors-well", f"{sum(r.success is True and yourlog.errors(r) > 0 for r in order):,}")

# %% [markdown]
# ## What this log can tell
#
# The steps of a run say what was done and what came back. They do not say whether it was right. Read the last
# column of the table: where it says *no*, the number is missing on this page, and the log could not have given it.

# %% tags=["hide-input"]
trajectories = [run.trajectory for run in order]
if given.model:
    said = live.judged(given.model, given.judges, trajectories[:given.n], n=given.n,
                       out=given.verdicts, procedure=told)
elif given.verdicts:
    said = store.read_verdicts(given.verdicts, None, trajectories, told.types)
else:
    said = []
tables.show(yourlog.needs(order, said), "What each number needs, and what of it the log has.", ORIGIN)

# %% [markdown]
# ## The runs, riskiest first
#
# {numref}`fig-c2-ranking` draws the {glue:text}`c2-top` riskiest runs. Each box is a step, darker where R, the
# {term}`risk` of [the chapter on the graph](b4_relational_graph), is higher; a cross says that an error came
# back. Point at a box to read it. The number at the end of a row is the run's score, which decides its place; for
# RUPA it is the mean of R. The dot in front is the outcome, which no score has seen.
#
# Look for runs with crosses that succeeded, and for runs without crosses that failed. The first are opened for
# nothing. The second are missed by anyone who searches a log for errors.

# %% tags=["hide-input"]
spoken = {}
for verdict in said:
    spoken.setdefault(verdict.trajectory_id, []).append(verdict)
subject = order[given.pick - 1]
done = {run.trajectory.trajectory_id: propagated(run, by, alike)
        for run in [*order[:given.top], subject]}


def laid(run):
    """Lay out a run that is drawn or opened."""
    name = run.trajectory.trajectory_id
    return row(run, done[name], score[name], spoken.get(name, []))


rows = [laid(run) for run in order[:given.top]]
drawn = yourlog.boxes(rows)
chapter.text("c2-top", f"{min(given.top, len(order))}")

# %% mystnb={"figure": {"caption": "The riskiest runs of the log. One box a step, of a run of more than 20 steps one a stretch, with the risk of its riskiest step; a cross where an error came back. In front: the outcome. Behind: the score. Data: the log chosen at the top of this page.", "name": "fig-c2-ranking"}} tags=["hide-input"]
show(figures.ranking(drawn), name="c2-ranking",
     table=drawn[drawn["end"].astype(bool)][["run", "score", "outcome", "errors"]],
     alt="One row a run, the riskiest on top: a dot for the outcome, a strip of boxes, one a step, "
         "darker where the risk is higher and with a cross where an error came back, and the score.")

# %% tags=["hide-input"]
asked = list(dict.fromkeys(verdict.judge for verdict in said))
tables.show(yourlog.said(rows, asked), f"The runs that are drawn, by {by} (higher: likelier to fail).", ORIGIN)

# %% [markdown]
# Two commands go further: one writes the score of every run by every method, controls included, the other one
# HTML file in which every run can be opened offline.
#
# ```bash
# tjlib uq --traces my_runs.jsonl --method all --out scores.csv
# tjlib report my_runs.jsonl --out runs.html
# ```
#
# The scores of this page are written with `-p out scores.csv`. {glue:text}`c2-written`

# %% tags=["hide-input"]
chapter.text("c2-written", "None was asked for here.")
if given.out:
    with store.atomic(given.out) as file:
        file.write(scoring.as_csv(found))
    chapter.text("c2-written", f"They are in {plain(given.out)}, {len(found):,} rows.")

# %% [markdown]
# ## What the ranking is worth
#
# {term}`AUROC` is the chance that a failed run stands above one that succeeded. Two stricter versions stand
# beside it. Over pairs of equal length, a score that merely counts steps is worth nothing; over trials of one
# task, neither is one that merely knows which task is hard. The intervals draw whole tasks, since trials of a
# task are not independent. A line with a minus sign is a difference.

# %% tags=["hide-input"]
GRADES = {"auroc": "AUROC", "auroc|same_length": "same length", "auroc|same_task": "same task",
          "average_precision": "average precision", "rank_correlation|length": "correlation with length"}
CAPTION = ("How well each method puts failed runs first (1: all of them, .5: as a coin would), with "
           "95 % intervals by task, and how far it counts steps (last column).")
controls = list(dict.fromkeys((by, "flat", *CONTROLS)))
graded = None
if known:
    graded = scoring.evaluate(
        found[found["method"].isin(controls)], np.random.default_rng(given.seed), draws=given.draws,
        pairs=[(by, other) for other in ("flat", "n_steps") if other != by]).rename(
        columns={"method": "judge"})
grades = tables.layout(graded, GRADES, 2).rename_axis("method") if known else pd.DataFrame(
    [(name, *["undefined: the log judges no run"] * len(GRADES)) for name in controls],
    columns=["method", *GRADES.values()])
tables.show(grades, CAPTION, ORIGIN)

# %% tags=["hide-input"]
UNKNOWN = "undefined: the log judges no run"
cell = {} if graded is None else graded.set_index(["judge", "metric"]).to_dict("index")
for key, name in (("auroc", by), ("auroc-steps", "n_steps")):
    at = cell.get((name, "auroc"))
    chapter.text(f"c2-{key}", tables.estimate(at, 2) if at else UNKNOWN)
at = cell.get((by, "auroc"))
bounds = (at["lo"], at["hi"]) if at and at["lo"] is not None else None
chapter.text("c2-coin", "no interval could be made" if bounds is None else
             "the whole interval lies above a coin's .5" if bounds[0] > 0.5 else
             "the whole interval lies below a coin's .5, so failed runs come last" if bounds[1] < 0.5
             else "a coin's .5 lies inside the interval")
chapter.text("c2-note", (at or {}).get("note") or "none")
first = known[:len(failed)]
chapter.text("c2-hits", f"{sum(r.success is False for r in first)} of {len(first)}" if failed else
             "undefined: no run is known to have failed")
chapter.text("c2-base", f"{len(failed) / len(known):.0%}" if known else UNKNOWN)

# %% [markdown]
# Suppose that you open as many runs as failed, from the top of those with an outcome. Then
# {glue:text}`c2-hits` are failures; of runs opened blindly, {glue:text}`c2-base` would be. For
# {glue:text}`c2-method`, {glue:text}`c2-coin`. Notes on how it was counted: {glue:text}`c2-note`.
#
# What does such a score see? Errors that came back, words that come back, and how far a step is from the request.
# So ask for its blind side: of {glue:text}`c2-failed` failed runs, {glue:text}`c2-quiet` never met an error, and
# {glue:text}`c2-errors-well` runs that succeeded did. The table has where each of them stands.

# %% tags=["hide-input"]
ranks = {}
for run in known:
    key = yourlog.OUTCOMES[run.success], "an error" if yourlog.errors(run) else "no error"
    ranks.setdefault(key, []).append(place[run.trajectory.trajectory_id])
cross = pd.DataFrame(
    [(*key, len(at), f"{np.median(at):g}", ", ".join(map(str, sorted(at)[:12])) + " ..." * (len(at) > 12))
     for key, at in sorted(ranks.items())],
    columns=["outcome", "in the log", "runs", "median place", "places"])
tables.show(cross, f"Where runs stand in the ranking, of {len(order):,} places, by outcome and by "
            "whether the log shows an error.", ORIGIN)

# %% [markdown]
# ## One run, opened
#
# The run at place {glue:text}`c2-pick` of the ranking, in full: first what was asked and what was answered, then
# the steps, then their risk as a line, in {numref}`fig-c2-course`. {glue:text}`c2-peak` A step is scored before
# its own observation is there, so look for the cause in the rows above it.

# %% tags=["hide-input"]
of = laid(subject)
chapter.text("c2-pick", str(given.pick))
chapter.text("c2-peak", "The run has no step." if of.peak is None else
             f"Of {len(of.risks):,} steps, counted from 0, step {of.peak.step} has the highest.")
about = [("run", subject.trajectory.trajectory_id), ("outcome", yourlog.OUTCOMES[subject.success]),
         ("model", subject.model or "-"), ("asked", subject.trajectory.goal or "-"),
         ("said before the first step", subject.opening or "-"),
         ("answered", subject.trajectory.final_answer or "nothing: the run ends without an answer"),
         *[(verdict.judge, f"{yourlog.word(verdict)}: {verdict.rationale}") for verdict in of.verdicts]]
tables.show(pd.DataFrame([(what, plain(text[:800])) for what, text in about], columns=["what", "text"]),
            "The run that is opened.", ORIGIN)

# %% tags=["hide-input"]
tables.show(yourlog.steps(of, done[subject.trajectory.trajectory_id]),
            "Its steps, of a long run the first, the last and those around the riskiest.", ORIGIN)

# %% mystnb={"figure": {"caption": "R of each step of the opened run, and the steps that judges flag. Data: the log chosen at the top of this page.", "name": "fig-c2-course"}} tags=["hide-input"]
course = yourlog.courses(of)
show(figures.course(course), name="c2-course", table=course[:60],
     alt="A line of the risk R over the steps of one run, its highest step marked, with a hollow "
         "diamond at each step that a judge flags.")

# %% [markdown]
# {numref}`fig-c2-graph` shows the same run as a graph, around its riskiest step. Thicker lines carry more, and the
# bars say what each step's R is made of. Point at a step to leave only what flows into it.

# %% mystnb={"figure": {"caption": "The opened run as a graph around its riskiest step, time downwards. Circles: steps. Square: the request. Diamonds: observations, dark if they failed. Right: what the R of each step is made of. Data: the log chosen at the top of this page.", "name": "fig-c2-graph"}} tags=["hide-input"]
near = lines.around(done[subject.trajectory.trajectory_id], of.peak.step) if of.peak else None
nothing = pd.DataFrame([("no step, or more observations at one step than can be told apart",)],
                       columns=["not drawn"])
show(graphs.trajectory(*near), name="c2-graph",
     table=near.nodes[["name", "text", "U", "Q", "G", "m", "H", "R", "P", "why"]],
     alt="Three lanes, user, agent and environment, with one row an event, joined by lines whose "
         "dashes and colour name the relation; beside each step a stacked bar of the parts of R.",
     ) if near else tables.show(nothing, "The graph of the run.", ORIGIN)

# %% [markdown]
# Now the runs that were drawn. Open the ones you want to read.

# %% tags=["hide-input"]
for rank, opened in enumerate(rows, start=1):
    name = opened.run.trajectory.trajectory_id
    flags = "".join(f"; {plain(v.judge)}: {yourlog.word(v)}" for v in opened.verdicts)
    display(tables.show(  # noqa: F821  # IPython's
        yourlog.steps(opened, done[name], 12), f"{yourlog.named(rank, opened.run)}: "
        f"{yourlog.OUTCOMES[opened.run.success]}, {len(opened.risks):,} steps{flags}", ORIGIN, folded=True))

# %% [markdown]
# ## What a judge would add
#
# A judge reads what the score cannot, such as whether the second cancellation was asked for. It has to be told how
# your desk works, in a YAML file like `data/procedures/bicycle_desk.yaml`: points to keep, tools, names of faults.
# A mistake in the file is reported in one line, with its place. Without a file the judge is told `general`, which
# fits any agent that calls tools and knows nothing of yours.
#
# ```bash
# tjlib rerun c2_your_traces -p traces my_runs.jsonl \
#     -p model local:smollm2 -p procedure mine.yaml
# ```
#
# This judges the `n` riskiest runs and shows each verdict beside the risk. `local:smollm2` runs anywhere and
# judges badly, as [the chapter on judges](a4_judges) measured; `ollama:NAME` and `openai:NAME` take a model of
# yours. On this page a judge would be told {glue:text}`c2-told`. The prompt of the step judge begins like this.

# %% tags=["hide-input"]
chapter.text("c2-told", told.name)
chapter.text("c2-judged", f"{sum(v.status == 'ok' for v in said)} of {len(said)} verdicts of judges "
             "could be read." if said else "No judge ran.")
promptview.Verbatim(prompts.head("steps", "steps", procedure=told), "Show what the step judge is told")

# %% tags=["hide-input"]
def flags(judge, outcome):
    """What a judge flags of the runs with an outcome."""
    k, of_them = judge["of"][outcome]
    return f"{k} of {of_them}" if of_them else "undefined: none of the judged runs"


columns = ["judge", "asked", "coverage", "flagged", "of failed runs", "of runs that succeeded"]
counts = [(j["judge"], f"{j['asked']} of {j['n_runs']}", f"{j['read']} of {j['asked']}",
           tables.estimate(j["share"], 2), flags(j, False), flags(j, True))
          for j in summary.judges(order, said)]
tables.show(pd.DataFrame(counts or [("none", *["-"] * 5)], columns=columns),
            "What judges were asked, what of it could be read, and what they flag. Where they were asked about the "
            "riskiest runs only, no share here is one of the log.",
            ORIGIN + (f"; judged by {given.model}, told: {told.name}" if given.model else ""))

# %% [markdown]
# A flag on a run that succeeded is no false alarm by itself. The outcome is what a run left behind, and a run can
# reach the right end in the wrong way; [the testbed](a3_testbed) calls that a {term}`silent <silent fault>` fault.
# {glue:text}`c2-gears` Only a judge of steps can tell such a run from a sound one, and only your own reading
# tells whether the judge is right.
#
# ## What would change our mind
#
# - A log on which a score with no outcome says how good it is. One could then rank and grade with the steps alone.
#   A score that is high where errors are many, on a log whose failures all meet errors, would not do.
# - Your own log, if the difference to `n_steps` in the table of grades lies above 0 with its whole interval, also
#   among runs of equal length. Then the graph knows more than how long a run was.
# - Failed runs without an error that stand high in the ranking more often than chance would put them there. We
#   have not seen that in our log, which has too few to tell.
#
# This was the last chapter. Whoever wants to teach from them finds learning goals and plans in
# [the teaching guide](../book/teaching).

# %% [markdown]
# ## Exercises

# %% tags=["hide-input"]
FACTS = "In our own log that is the run gears-3, booked without a look at the free slots."
chapter.text("c2-gears", "" if given.traces else FACTS)
tasks = len({r.task_id for r in known})
chapter.text("c2-tasks", f"{tasks:,}")

# %% [markdown]
# ```{exercise} Opened blindly
# :label: c2-blind
# :nonumber:
# Somebody opens runs of this log in any order. What share of those whose outcome is known will they find
# to have failed? That is what the top of a ranking has to beat.
# ```

# %%
from tjlib import exercises

share = None  # a share from 0 to 1
print(exercises.check("c2-blind", share,
                      outcomes=[r.success for r in order]))

# %% [markdown]
# ```{solution-start} c2-blind
# :class: dropdown
# ```

# %%
print(f"{len(failed)} of {len(known)}: {len(failed) / len(known):.2f}" if known else UNKNOWN)

# %% [markdown]
# Runs without an outcome are in no grade, above the line or below it.
#
# ```{solution-end}
# ```
#
# ```{exercise} Without the outcomes
# :label: c2-strip
# :nonumber:
# Strip the outcomes from a copy of your log, and rerun the page. Which numbers go, and which change?
# ```
#
# ```{solution} c2-strip
# :class: dropdown
# Everything in the table of grades goes, each number with its reason, and so do the colours of the dots. Of the
# rest nothing changes by a digit: no method sees an outcome, and neither does a judge.
# ```
#
# ```{exercise} Every run twice
# :label: c2-twice
# :nonumber:
# Append the log to itself, so that every run is there twice. What happens to the AUROC, and what to its interval?
# And what if you rename the tasks of the second half?
# ```
#
# ```{solution} c2-twice
# :class: dropdown
# The AUROC stays. So does the interval, because copies belong to the same task and tasks are what is drawn. Under
# other names they pass for new tasks, and the interval shrinks by about a third, although nobody learnt anything.
# Name your tasks honestly.
# ```
#
# ```{exercise} Failed without an error
# :label: c2-quietly
# :nonumber:
# Open a run in the lower half that failed without an error, in our log `cancel-2`. Which sentence gives it away,
# and why can no number on this page see it?
# ```
#
# ```{solution} c2-quietly
# :class: dropdown
# The last message says that the service stays; a step earlier, its booking was cancelled too. Both cancellations
# succeeded, nothing is said twice and no cue word occurs, so the calls look like any others. One has to hold the
# message against the calls, which is what the step judge is for.
# ```
#
# ```{exercise} Half as wide
# :label: c2-tasks
# :nonumber:
# The interval of the AUROC comes from {glue:text}`c2-tasks` tasks. You want it half as wide. How many tasks do
# you need, and would more trials of the same tasks do?
# ```

# %%
needed = None  # a number of tasks
print(exercises.check("c2-tasks", needed, tasks=tasks))

# %% [markdown]
# ```{solution-start} c2-tasks
# :class: dropdown
# ```
#
# The width goes with one over the root of the number of tasks, so about four times as many.

# %%
print(f"4 x {tasks} = {4 * tasks}")

# %% [markdown]
# More trials sharpen what is known of each task. They leave the luck of which tasks you have.
#
# ```{solution-end}
# ```
#
# ```{exercise} One message with probabilities
# :label: c2-logprobs
# :nonumber:
# In a copy of the log, give one assistant message
# `"logprobs": {"content": [{"token": "a", "logprob": -0.2}]}`. What changes in the ranking?
# ```
#
# ```{solution} c2-logprobs
# :class: dropdown
# Nothing. RUPA ranks only if every run has log-probabilities, for a run with one more term would stand higher for
# that alone. `-p method rupa` overrides this, and the runs without go to the end, each with the reason why it has
# no score.
# ```
#
# ```{exercise} Hostile text
# :label: c2-markup
# :nonumber:
# Put `<script>alert(1)</script>` into a tool's result, and a name of your own for a fault into a procedure. What
# does the page show?
# ```
#
# ```{solution} c2-markup
# :class: dropdown
# The first appears as text, here and in the report: nothing of a log becomes markup. The second is what a verdict
# may then call a fault. A name that is not on the list leaves the verdict without a type.
# ```
