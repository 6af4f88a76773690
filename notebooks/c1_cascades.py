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
# # Does propagation matter when faults cascade?
#
# **The claim.** Passing {term}`risk` on does not help a score find a wrong value that is used, and copied onward,
# without any sign of trouble. The reason for a graph is that an early mistake makes later steps suspect
# {cite}`rupa2026`, so long runs in which a wrong fact travels are where it ought to show. We made such runs, with
# one, two or three {term}`faults <fault>` at known steps. Where the agent uses another order's number and the desk
# answers, RUPA minus the same graph without passing risk on {glue:text}`casc-known`. RUPA ranks above both that
# graph and the plain average of its inputs for these faults alone: {glue:text}`casc-pays`.
#
# ```{admonition} In one minute
# We made {glue:text}`casc-runs` shifts of {glue:text}`casc-steps` steps, each with a {term}`clean parent`, and asked
# how often a faulty run scores above its parent; one half is a coin. Without {term}`own uncertainty
# <local uncertainty>`, a *known* wrong number is invisible ({glue:text}`casc-s-known`), and an *invented* one,
# which the desk refuses, has {glue:text}`casc-s-invented` with passing risk on and
# {glue:text}`casc-s-invented-np` without. For a *repeated call*, passing risk on takes the share from
# {glue:text}`casc-s-tool-np` to {glue:text}`casc-s-tool`, and one number without a graph, the closest repetition,
# has {glue:text}`casc-s-tool-rep`. We then simulated an own uncertainty that stands out at the first fault by
# {glue:text}`casc-dial` standard deviations: RUPA's {term}`AUROC` minus that without passing on is
# {glue:text}`casc-d-known` for one known wrong number and {glue:text}`casc-d-caused` where it is copied twice. At
# the copy itself, two steps on, risk lies above the parent's in {glue:text}`casc-reach` of runs.
# ```

# %% [markdown]
# ## A shift at the desk
#
# A run is a **shift**: several cases of [the testbed's desk](a3_testbed), handled one after another on one desk
# that knows them all, six steps a case. Into a clean shift we write faults, each a change of one call:
#
# - a **known** wrong number: another request's order, in a lookup, an eligibility check or the reply. The desk
#   answers, and nothing in the run says that anything is wrong.
# - an **invented** one: an order that nobody has. The desk refuses the lookup and the check.
# - one of the testbed's faults that keep a run's length, once a case: a **repeated call** (the testbed's wrong
#   tool), an invented item (its hallucinated argument), an unsupported sentence.
#
# A **caused** fault copies the wrong number that the first one wrote; an **independent** one has a wrong number of
# its own. **Near** faults are in one case, two steps apart; **far** ones are in successive cases, eight steps
# apart. Neither wording nor length gives a fault away: a thought is one sentence for each tool, and every run of a
# shift has as many steps. All of it is drawn from one seed, and runs with the same kind of fault share the first
# one. Brackets are 95 % intervals by whole shifts.
#
# The script that works these shifts has no probabilities. The **structural** form therefore gives all steps the
# same own uncertainty. Beside it stands a **simulated** one, which is a dial of ours and no measurement. Every
# step has noise, and at a fault the logarithm of its uncertainty is raised by as many standard deviations as the
# dial says. Who copies a number does not doubt it, so a caused fault is not raised. If its risk is higher all
# the same, it was passed on.

# %% tags=["parameters"]
runs: int = 80  # shifts, each with a clean parent and one run a design
cases: int = 8  # of a shift, six steps each; three far faults with known wrong numbers need six
dial: float = 3.0  # standard deviations by which simulated uncertainty knows a fault, where one is shown
draws: int = 1_000  # resamples of shifts behind each interval
seed: int = 7  # of the cases, the faults and the noise

# %% tags=["hide-input"]
from tjlib import chapter

given = chapter.check(
    globals(), runs=lambda value: None if 5 <= value <= 500 else "give 5 to 500",
    cases=lambda value: None if 6 <= value <= 10 else "give 6 to 10",
    dial=lambda value: None if 0 <= value <= 10 else "give 0 to 10",
    draws=lambda value: None if 100 <= value <= 20_000 else "give 100 to 20000",
)

# %% tags=["hide-input"]
import pandas as pd

from tjlib import tables
from tjlib.charts import analysis
from tjlib.charts import cascades as charts
from tjlib.charts.show import show
from tjlib.desk.cascades import LINKS, MANNERS, SPREADS, Design, cascades
from tjlib.measure.wins import direction
from tjlib.sentences import change
from tjlib.studies import cascading
from tjlib.uncertainty.graph import build

CALLED = {"known": "known", "invented": "invented", "wrong_tool": "repeated call",
          "hallucinated_argument": "invented item", "unsupported_claim": "unsupported sentence"}
OURS = [Design(n, manner, link, spread) for manner in MANNERS[:2] for n in (1, 2, 3)
        for link in LINKS for spread in SPREADS if n > 1 or (link, spread) == (LINKS[0], SPREADS[0])]
DESIGNS = [*OURS, *(Design(n, manner, "independent", "far" if n > 1 else "near")
                    for manner in MANNERS[2:] for n in (1, 2, 3))]
made = list(cascades(DESIGNS, seed=given.seed, runs=given.runs, cases=given.cases))
graphs = [build(run.trajectory) for run in made]
MADE = f"{given.runs} shifts of {given.cases} cases from seed {given.seed}; similarity jaccard"


def called(design):
    """Name a design."""
    apart = f" {design.link}, {design.spread}" if design.faults > 1 and design in OURS else ""
    return f"{CALLED[design.manner]}: {('one', 'two', 'three')[design.faults - 1]}{apart}"


# %% tags=["hide-input"]
STRUCTURAL = ("full", "no_propagation", "flat", "repetition", "n_steps")
table, steps = cascading.scored(made, graphs, None, given.seed)
clean = table[table["design"].isna()]
found = {}
for design in DESIGNS:
    faulty = table[[d == design for d in table["design"]]]
    for row in cascading.ranked(faulty, clean, given.seed, given.draws, STRUCTURAL,
                                "no_propagation").to_dict("records"):
        found[design, row["measure"], row["score"]] = row


def level(design, score, measure="paired"):
    """Write an estimate; equal replicates have no interval."""
    return tables.estimate(found[design, measure, score], 2)


# %% tags=["hide-input"]
DIALS = (0.0, 0.5, 1.0, 2.0, 3.0, 4.0)
SHOWN = [Design(1, "known"), Design(3, "known", "independent", "far"),
         Design(3, "known", "caused", "near"), Design(1, "invented"),
         Design(3, "invented", "caused", "near"), Design(1, "wrong_tool")]
SIMULATED = ("full", "no_propagation", "flat", "uncapped", "full max", "own max")
kept = [k for k, run in enumerate(made) if run.design is None or run.design in SHOWN]
some, of = [made[k] for k in kept], [graphs[k] for k in kept]
turned = {}
for at in sorted({*DIALS, given.dial}):
    scored, risks = cascading.scored(some, of, at, given.seed)
    parents = scored[scored["design"].isna()]
    if at == given.dial:
        dialled = risks
    for design in SHOWN:
        faulty = scored[[d == design for d in scored["design"]]]
        for against in ("no_propagation", "flat"):
            rows = cascading.ranked(faulty, parents, given.seed, given.draws, SIMULATED, against)
            for row in rows[rows["measure"] == "AUROC"].to_dict("records"):
                turned[design, at, row["score"], against] = row

# %% tags=["hide-input"]
def dials(design, which, against=("no_propagation", "flat")):
    """Name the dials at which RUPA is told apart from each of some scores, one way."""
    at = [f"{d:g}" for d in DIALS
          if all(direction(turned[design, d, "full", other]) == which for other in against)]
    return "at dial " + ", ".join(at) if at else "at no dial"


KEYS = dict(zip(("known", "far", "caused", "invented", "chain", "tool"), SHOWN, strict=True))
for key, design in KEYS.items():
    chapter.text(f"casc-up-{key}", dials(design, "higher"))
    if key != "far":
        chapter.text(f"casc-s-{key}", level(design, "full"))
    if key in ("known", "far", "caused"):
        chapter.text(f"casc-down-{key}", dials(design, "lower", ["no_propagation"]))
        chapter.text(f"casc-d-{key}", change(turned[design, given.dial, "full", "no_propagation"]))
        chapter.text(f"casc-c-{key}", change(turned[design, given.dial, "uncapped", "no_propagation"]))
for key in ("invented", "tool"):
    chapter.text(f"casc-d0-{key}", change(turned[KEYS[key], 0.0, "full", "no_propagation"]))
    chapter.text(f"casc-s-{key}-np", level(KEYS[key], "no_propagation"))
chapter.text("casc-f0-invented", change(turned[KEYS["invented"], 0.0, "full", "flat"]))
chapter.text("casc-s-tool-rep", level(KEYS["tool"], "repetition"))
for score, short in (("full", "full"), ("own max", "own"), ("full max", "max")):
    chapter.text(f"casc-l-{short}-known", tables.estimate(
        turned[KEYS["known"], given.dial, score, "flat"], 2))
PLAIN = {SHOWN[0]: "one known wrong number", SHOWN[1]: "three independent known ones",
         SHOWN[2]: "a known one copied twice", SHOWN[3]: "one invented number",
         SHOWN[4]: "an invented one copied twice", SHOWN[5]: "one repeated call"}
paying = [PLAIN[design] for design in SHOWN if "no dial" not in dials(design, "higher")]
chapter.text("casc-pays", ", ".join(paying) or "none of those tried")
told_of = [direction(turned[design, d, "full", "no_propagation"])
           for design in SHOWN[:3] for d in DIALS]
chapter.text("casc-known", f"is above 0 in {told_of.count('higher')} and below 0 in "
                           f"{told_of.count('lower')} of {len(told_of)} comparisons")
chapter.number("casc-runs", given.runs, 0)
chapter.number("casc-steps", 6 * given.cases, 0)
chapter.number("casc-dial", given.dial, 1)

# %% [markdown]
# ## At which informativeness does it pay?
#
# {numref}`fig-casc-dial` turns the dial. Each panel is a kind of fault; upwards is {term}`AUROC`, faulty against
# clean shifts, each with noise of its own. At 0, own uncertainty knows nothing of a fault. *RUPA* is the printed
# method. *No propagation* is the same graph and goal, in which a step passes on its own uncertainty and not its
# risk. *{term}`Flat <flat score>`* is the average of the same inputs. If passing on paid, the first line would
# leave the other two.

# %% mystnb={"figure": {"caption": "AUROC of faulty against clean shifts, over how many standard deviations simulated own uncertainty rises at a fault that nothing caused; bands are intervals by whole shifts. A panel's title says what is wrong, how many faults, how they hang together and where. Dashed: chance. Measured here on generated runs; own uncertainty is simulated.", "name": "fig-casc-dial"}} tags=["hide-input"]
lines = pd.DataFrame([
    {"panel": called(design), "dial": at, "score": cascading.SCORES[score],
     **{k: turned[design, at, score, "flat"][k] for k in ("value", "lo", "hi")},
     "shown": tables.estimate(turned[design, at, score, "flat"], 2)}
    for design in SHOWN for at in DIALS for score in ("full", "no_propagation", "flat")])
lines = lines.astype(dict.fromkeys(("value", "lo", "hi"), float)).round(4)
show(charts.dial(lines), name="casc-dial", table=lines[["panel", "dial", "score", "shown"]],
     alt="A panel a design: AUROC over the dial with bands, one line each for RUPA, no propagation "
         "and flat.")

# %% [markdown]
# **A known wrong number.** With one fault, RUPA lies above both others {glue:text}`casc-up-known` and below no
# propagation {glue:text}`casc-down-known`. With three independent faults it lies above
# {glue:text}`casc-up-far` and below {glue:text}`casc-down-far`; with one fault copied twice, above
# {glue:text}`casc-up-caused` and below {glue:text}`casc-down-caused`. At dial {glue:text}`casc-dial`, the
# differences to no propagation are {glue:text}`casc-d-known`, {glue:text}`casc-d-far` and
# {glue:text}`casc-d-caused`.
#
# There is a reason. As long as nothing is capped, a step's risk is a weighted sum of what goes in. Its mean over
# the run is then close to a multiple of the mean of what went in, so noise and signal are passed on in the same
# proportion. Without the cap on what a step passes on, the three differences are {glue:text}`casc-c-known`,
# {glue:text}`casc-c-far` and {glue:text}`casc-c-caused`. The cap cuts the largest values, and that is where a fault
# is.
#
# **An invented number.** RUPA lies above both {glue:text}`casc-up-invented`, and for the chain of three
# {glue:text}`casc-up-chain`. At dial 0 the difference to `flat` is {glue:text}`casc-f0-invented` and to no
# propagation {glue:text}`casc-d0-invented`. What the first has over the second is no matter of passing risk on:
# a refusal weighs more in the graph than in an average.
#
# **A repeated call.** RUPA lies above both {glue:text}`casc-up-tool`, at dial 0 by {glue:text}`casc-d0-tool` over
# no propagation. The edge of a repetition comes from an earlier step, whose risk is higher than that of an
# observation that went well, so the repeated step draws more. That does need risk to be passed on. It does not
# need a graph: how close the closest repetition is, one number a run, puts {glue:text}`casc-s-tool-rep` of the
# faulty runs above their parent.
#
# **The mean is the wrong question for a long run.** One fault in {glue:text}`casc-steps` steps moves a mean little.
# At this dial RUPA's mean has {glue:text}`casc-l-full-known` for one known wrong number. The highest own
# uncertainty of a run has {glue:text}`casc-l-own-known`, and RUPA's highest step {glue:text}`casc-l-max-known`.
#
# ## Without own uncertainty
#
# The folded table is the structural form. *Paired* is the share of faulty runs above their own clean parent, a tie
# counting one half; a value without an interval is the same in every shift. `n_steps` cannot tell anything here,
# by construction.

# %% tags=["hide-input"]
rows = [[called(design), *(level(design, score, measure) for measure in ("paired", "AUROC")
                           for score in STRUCTURAL)] for design in DESIGNS]
heads = [f"{measure}: {cascading.SCORES[score]}" for measure in ("paired", "AUROC")
         for score in STRUCTURAL]
told_apart = pd.DataFrame(rows, columns=["what is wrong, faults", *heads]).replace(
    r" ?undefined: every replicate gives the same value", "", regex=True)
tables.show(told_apart, "Structural scores by what is wrong, number of faults, how they hang together "
            "and where they are.", MADE, folded=True)

# %% [markdown]
# A known wrong number leaves no trace at all: {glue:text}`casc-s-known` for one fault, {glue:text}`casc-s-caused`
# for three. Numbers are no words to the similarity, a call's signature is compared with those of the last five
# steps only, and the desk's answer looks like any other. RUPA cannot see that a value came from the wrong place,
# whatever it passes on. Of an invented number, the first refusal says everything:
# {glue:text}`casc-s-invented` with one fault and {glue:text}`casc-s-chain` with three.
#
# ## What a fault leaves behind
#
# How far is risk passed on? {numref}`fig-casc-around` sets the first fault at 0 and draws the risk of each step
# minus that of the same step in the clean parent. Look at how long a line takes to come down. A step's risk leaves
# out what it observes itself, so a refusal shows one step late.

# %% mystnb={"figure": {"caption": "Structural risk of a step minus the clean parent's, by steps after the first fault; bands are intervals by whole shifts. Dashed: no difference. Measured here on generated runs.", "name": "fig-casc-around"}} tags=["hide-input"]
AROUND = [Design(1, "invented"), Design(3, "invented", "caused", "near"),
          Design(3, "invented", "caused", "far"), Design(1, "wrong_tool")]
frames, back = [], {}
for design in AROUND:
    these = [run for run in made if run.design == design]
    for score in ("full", "no_propagation"):
        one = cascading.aligned(
            [steps[r.trajectory.trajectory_id][score] for r in these],
            [steps[r.parent_id][score] for r in these], [r.faults[0].step for r in these],
            [r.parent_id for r in these], given.seed, given.draws)
        back[design, score] = one.set_index("offset")["value"].astype(float)
        frames.append(one.assign(panel=called(design), score=cascading.SCORES[score],
                                 shown=[tables.estimate(r, 2) for r in one.to_dict("records")]))
around = pd.concat(frames).astype(dict.fromkeys(("value", "lo", "hi"), float)).round(4)
for end in ("lo", "hi"):
    around[end] = around[end].fillna(around["value"])  # the same in every shift
show(charts.around(around), name="casc-around", table=around[["panel", "offset", "score", "shown"]],
     alt="A panel a design: risk above the parent's by steps after the first fault, with bands, for "
         "RUPA and without propagation.")

# %% tags=["hide-input"]
first = back[AROUND[0], "full"]
chapter.number("casc-a-one", first[1], 2)
chapter.number("casc-a-two", first[2], 2)
chapter.number("casc-a-six", first[6], 2)
chapter.number("casc-a-np-two", back[AROUND[0], "no_propagation"][2], 2)
chapter.number("casc-a-np-six", back[AROUND[0], "no_propagation"][6], 2)
chapter.number("casc-a-half", next((k for k in range(2, 13) if first[k] < first[1] / 2), None), 0)
reach, rows = {}, []
these = [run for run in some if run.design == SHOWN[2]]
for number, where in enumerate(("the first fault", "the copy two steps on",
                                "the copy four steps on")):
    for score, label in (("full", "RUPA"), ("no_propagation", "no propagation"),
                         ("own", "own uncertainty")):
        row = reach[score, number] = cascading.reached(
            [dialled[r.trajectory.trajectory_id][score] for r in these],
            [dialled[r.parent_id][score] for r in these],
            [r.faults[number].step for r in these], [r.parent_id for r in these],
            given.seed, given.draws)
        rows.append({"panel": where, "label": label, "value": row["value"] - 0.5,
                     "lo": None if row["lo"] is None else row["lo"] - 0.5,
                     "hi": None if row["hi"] is None else row["hi"] - 0.5,
                     "shown": tables.estimate(row, 2), "published": None})
arrived = pd.DataFrame(rows).astype(dict.fromkeys(("value", "lo", "hi", "published"), float))
chapter.text("casc-reach", tables.estimate(reach["full", 1], 2))
chapter.text("casc-reach-own", tables.estimate(reach["own", 1], 2))
chapter.text("casc-reach-np", tables.estimate(reach["no_propagation", 1], 2))
chapter.text("casc-reach-four", tables.estimate(reach["full", 2], 2))
chapter.text("casc-reach-first", tables.estimate(reach["full", 0], 2))

# %% [markdown]
# After one refusal, RUPA's risk is {glue:text}`casc-a-one` above the parent's one step on,
# {glue:text}`casc-a-two` two steps on and {glue:text}`casc-a-six` six steps on. It has come down by half after
# {glue:text}`casc-a-half` steps. Without propagation, two and six steps on, it is {glue:text}`casc-a-np-two` and
# {glue:text}`casc-a-np-six`. Most of what looks like propagation is the refusal itself, which stays in sight for
# five steps and in {term}`momentum`.
#
# ## Does it reach the copy?
#
# This is what the graph is there for. A known wrong number is looked up, with own uncertainty raised by the dial;
# two and four steps on, the same number is used again, with confidence. For each of the three steps,
# {numref}`fig-casc-reach` has the share of runs whose risk there lies above the clean parent's, minus one half. On
# the dashed line at 0, nothing but noise is left.

# %% mystnb={"figure": {"caption": "Share of runs whose risk at a step is above the clean parent's at that step, minus one half, with intervals by whole shifts: at a doubted fault, and at two confident copies of what it wrote. Dashed: nothing reached the step. Measured here on generated runs; own uncertainty is simulated.", "name": "fig-casc-reach"}} tags=["hide-input"]
show(analysis.forest(arrived, "share above, minus one half", shared=True), name="casc-reach",
     table=arrived[["panel", "label", "shown"]],
     alt="Three panels, the first fault and its two copies, one row a score: a point with an "
         "interval beside a dashed line at 0.")

# %% [markdown]
# At the first fault the share is {glue:text}`casc-reach-first`. At the copy two steps on it is
# {glue:text}`casc-reach` for RUPA, {glue:text}`casc-reach-np` without propagation and
# {glue:text}`casc-reach-own` for own uncertainty, which by construction knows nothing there. Four steps on, RUPA
# has {glue:text}`casc-reach-four`. Where an interval holds one half, we cannot say that the doubt arrived.
#
# ## Where does risk peak?
#
# With the dial as above, the folded table counts how often the riskiest step of a run is its first fault, the step
# after it, or any of its faults. *Caller blamed* moves the uncertainty of an observation to the step that caused
# it, one of the changes in [the chapter on improvements](c1_improvements).

# %% tags=["hide-input"]
SERIES = {"full": "RUPA", "no_propagation": "no propagation", "caller": "caller blamed",
          "own": "own uncertainty"}
rows, peaks = [], {}
for design in SHOWN:
    these = [run for run in some if run.design == design]
    for score, name in SERIES.items():
        one = cascading.localised(
            [dialled[r.trajectory.trajectory_id][score] for r in these],
            [[f.step for f in r.faults] for r in these], [r.parent_id for r in these], given.seed,
            given.draws).set_index("what")
        peaks[design, score] = one
        rows.append([called(design), name, *(tables.estimate(one.loc[what], 2).replace(
            "undefined: every replicate gives the same value", "").strip()
            for what in ("first", "one late", "any")), f"{one['chance']['first']:.2f}"])
for key, score, what in (("known", "full", "first"), ("known", "own", "first"),
                         ("invented", "full", "first"), ("invented", "full", "one late"),
                         ("invented", "caller", "first"), ("invented", "caller", "one late")):
    chapter.text(f"casc-p-{key}-{score}-{what.replace(' ', '-')}",
                 tables.estimate(peaks[KEYS[key], score].loc[what], 2))
tables.show(pd.DataFrame(rows, columns=["what is wrong, faults", "score", "first fault",
                                        "one step late", "any fault", "first, at random"]),
            "Share of runs whose riskiest step is where it says.", MADE
            + f"; own uncertainty simulated, dial {given.dial:g}", folded=True)

# %% [markdown]
# With one known wrong number, RUPA peaks at the fault in {glue:text}`casc-p-known-full-first` of runs, and own
# uncertainty by itself in {glue:text}`casc-p-known-own-first`. With one invented number, RUPA peaks at the fault in
# {glue:text}`casc-p-invented-full-first` and one step late in {glue:text}`casc-p-invented-full-one-late`; with the
# caller blamed, it is {glue:text}`casc-p-invented-caller-first` and
# {glue:text}`casc-p-invented-caller-one-late`. To find a fault, put the blame right first. Passing risk on comes
# after.
#
# ## What would change our mind
#
# - A similarity that knows values, with an edge from the step that wrote a number to the step that uses it. The
#   copies here would then be linked, and the doubt could arrive. The paper has no such relation.
# - Own uncertainty that rises at the copy too, by less than the noise. Adding up along a chain could then pay.
#   Our copies are made with no doubt at all, which is the hardest case and our choice.
# - A real agent's log-probabilities over runs of this length with known faults. The dial says what would have to
#   be true; it does not say that it is.
# - An interval for RUPA minus no propagation that lies above 0 in a panel of a known wrong number, at any dial,
#   with other seeds: `tjlib rerun c1_cascades -p seed 8 -p runs 200`.
#
# Everything here was measured on runs that we made. The next page [takes yours](c2_your_traces).

# %% [markdown]
# ## Exercises
#
# What a check compares with are this page's dial and length.

# %% tags=["hide-input"]
from tjlib import exercises

n = 6 * given.cases
one = made[[run.design for run in made].index(SHOWN[2])]
chapter.text("casc-x-steps", ", ".join(str(f.step) for f in one.faults))
chapter.number("casc-x-designs", len(DESIGNS), 0)

# %% [markdown]
# ```{exercise} What the dial means
# :label: c1-dial
# :nonumber:
# The dial is {glue:text}`casc-dial`: at a fault, the logarithm of own uncertainty is higher by so many standard
# deviations of its noise. With what chance is it then higher than at one other step?
# ```

# %%
chance = None  # a chance from 0 to 1, to three digits
print(exercises.check("c1-dial", chance, dial=given.dial))

# %% [markdown]
# ```{solution-start} c1-dial
# :class: dropdown
# ```
#
# The difference of the two steps has the dial as its mean and, since both have noise, the root of two as its
# standard deviation.

# %%
from math import sqrt
from statistics import NormalDist

print(f"Phi({given.dial:g} / sqrt 2) = {NormalDist().cdf(given.dial / sqrt(2)):.3f}")

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} Faint in a mean
# :label: c1-mean
# :nonumber:
# A run has {glue:text}`casc-steps` steps and one fault. By how many standard deviations of the mean does the fault
# move the mean of the logarithms?
# ```

# %%
moved = None  # a number of standard deviations, to two digits
print(exercises.check("c1-mean", moved, dial=given.dial, steps=n))

# %% [markdown]
# ```{solution-start} c1-mean
# :class: dropdown
# ```
#
# The mean moves by the dial over n, and its standard deviation is one over the root of n.

# %%
print(f"{given.dial:g} / sqrt {n} = {given.dial / sqrt(n):.2f}")

# %% [markdown]
# A signal that is plain at its step is faint in a mean.
#
# ```{solution-end}
# ```
#
# ```{exercise} With the cap and without
# :label: casc-cap
# :nonumber:
# A step has own uncertainty 2.5 and nothing before it. What does it pass on without the cap, and what with it? Why
# can the cap make RUPA worse than no propagation when own uncertainty is informative?
# ```
#
# ```{solution-start} casc-cap
# :class: dropdown
# ```

# %%
from tjlib.uncertainty.equations import Recursion
from tjlib.uncertainty.parameters import Parameters

for name, cap in (("without", None), ("with", Parameters().p_max)):
    recursion = Recursion(Parameters(p_max=cap))
    recursion.agent(2.5, 0.0, [], [])
    print(f"{name} the cap: {recursion.passed[-1]:.1f}")

# %% [markdown]
# A plain fault passes on no more than a doubtful one, while ordinary steps pass on all they have. The signal is cut
# and the noise is not.
#
# ```{solution-end}
# ```
#
# ```{exercise} Three calls of one shift
# :label: casc-calls
# :nonumber:
# Three caused faults of the first shift are at steps {glue:text}`casc-x-steps`. Which calls are these, and what
# would a reader have to compare to see the fault?
# ```
#
# ```{solution-start} casc-calls
# :class: dropdown
# ```

# %%
print(", ".join(one.trajectory.steps[f.step].calls[0].tool for f in one.faults))

# %% [markdown]
# Each names the wrong order. One has to compare the number with that of the request at hand, which is what a judge
# of steps does and no score here.
#
# ```{solution-end}
# ```
#
# ```{exercise} No help from length
# :label: casc-length
# :nonumber:
# Why can the number of steps tell nothing here, though [elsewhere](b5_benchmark) it is hard to beat?
# ```
#
# ```{solution} casc-length
# :class: dropdown
# Every fault replaces a call and none adds or removes one, so a faulty run is as long as its parent. Public logs
# are not like that: there, failing runs wander or give up.
# ```
#
# ```{exercise} Shifts that designs share
# :label: casc-shared
# :nonumber:
# {glue:text}`casc-x-designs` designs share their shifts, and those of one kind also the first fault. What would go
# wrong if each had shifts of its own?
# ```
#
# ```{solution} casc-shared
# :class: dropdown
# A difference between designs would hold the difference between their shifts. Sharing takes it out. That is also
# why the intervals draw whole shifts, with all their runs.
# ```
