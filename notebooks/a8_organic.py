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
# # Injected faults say what a judge can catch, not how often it must
#
# **The claim.** The testbed breaks one step of a correct run, and each type of fault as often as
# the next. That measures what a judge is *able* to see. How often each fault comes up in real work,
# and so what an alarm is worth, depends on the agent and on its cases. Section 8 and Appendix G of
# the *trajectory-judge* paper ([arXiv 2609.00038](https://arxiv.org/abs/2609.00038)) therefore let
# a model drive the agent and count what goes wrong by itself: the
# **{term}`organic <organic fault>`** faults. This chapter rebuilds those counts, sets episodes of
# our own beside them, and works out what each judge's alarms would be worth at such rates.
#
# ```{admonition} In one minute
# In the paper, {glue:text}`a8-paper-faulty` episodes ({glue:text}`a8-paper-share`) broke a rule or
# ended wrong, and {glue:text}`a8-paper-stops` of those were of a single type.
# {glue:text}`a8-ours-faulty` Neither the rate nor the mix is the testbed's, and both decide what an
# alarm is worth: with the same judge, an alarm of the outcome judge is right with probability
# {glue:text}`a8-ppv-set` on the testbed, {glue:text}`a8-ppv-organic` at the rate of
# {glue:text}`a8-rate-name` ({glue:text}`a8-rate-organic`), and {glue:text}`a8-ppv-yours` at
# {glue:text}`a8-rate-yours`, the rate given as a parameter. A rule that asks for exactly the
# oracle's six calls flags {glue:text}`a8-script-clean` of the testbed's clean runs and so looks
# perfect there. {glue:text}`a8-script-organic`
# ```
#
# An **{term}`episode`** is one case handled by a model that chooses each call itself. Nobody
# planted a fault in it, so its label comes from the rule checker and from the outcome. It is faulty
# if it breaks a rule or ends wrong: **{term}`loud <loud fault>`** if the outcome is wrong,
# **{term}`silent <silent fault>`** if a rule is broken and the outcome came out right. Of the rest
# one can only say that no fault was seen. Rules see four of the six fault types, so every organic
# rate short of one is a lower bound.
#
# Numbers in brackets are 95 % intervals. A dagger marks an exact binomial one, which takes episodes
# as independent.

# %% [markdown]
# ## Choose the episodes and the judges
#
# The paper's counts are always shown. `tjlib rerun a8_organic -p episodes released` recounts them
# from the released files, and `-p episodes FOLDER` counts what `tjlib agent` wrote. A fault rate of
# your own (`-p fault_rate 0.005`) goes into the last figure.

# %% tags=["parameters"]
episodes: str = "published"  # published (counts only), released, recorded, or a folder of tjlib agent
verdicts: str = "published"  # judges: published, released, recorded, or a file of verdicts
fault_rate: float = 0.02  # the share of faulty runs where your judge works, 0.001 to 1
draws: int = 4_000  # draws behind each band of the last figure
seed: int = 0  # seed of those draws

# %% tags=["hide-input"]
from tjlib import chapter

given = chapter.check(
    globals(),
    draws=lambda value: None if 100 <= value <= 100_000 else "give 100 to 100000",
    fault_rate=lambda value: None if 0.001 <= value <= 1 else "give a share from 0.001 to 1",
)

# %% tags=["hide-input"]
from itertools import islice

import numpy as np
import pandas as pd

from tjlib import store, tables
from tjlib.charts import organic as charts
from tjlib.charts.show import show
from tjlib.desk import oracle, world
from tjlib.desk.testbed import judged_set
from tjlib.judges.agent import MAX_STEPS
from tjlib.measure import endings, organic
from tjlib.measure.attribution import exact_share
from tjlib.measure.prevalence import deployed
from tjlib.measure.table import table
from tjlib.studies.driven import load
from tjlib.trace import FAULT_TYPES, InputError

counted_by_paper = organic.printed(store.published("trajectory_judge_numbers"))
PAPER = ("published: section 8 and appendix G of the paper, tabulated in "
         "data/published/trajectory_judge_numbers.csv")
chosen = None if given.episodes == "published" else load(given.episodes)
ours, why_not_ours = None, ""
try:
    ours = chosen if given.episodes == "recorded" else load("recorded")
except InputError as error:
    why_not_ours = f"undefined: {error}"
at_hand = [x for x in (chosen, ours if ours is not chosen else None) if x is not None]

# %% tags=["hide-input"]
NAMES = {"released": "released", "recorded": "recorded here"}
FILES_ONLY = "counts alone do not say it; rerun with -p episodes released"
files_origin = "; ".join(x.origin for x in at_hand)


def name_of(source) -> str:
    """Return what a column or a panel calls a source of episodes."""
    return NAMES.get(source.name, source.name)


def share_of(row) -> str:
    """Write one count: with its share and interval, or plain, or why there is none."""
    if row["k"] is None:
        return row["why"]
    if row["n"] is None:
        return str(row["k"])
    return f"{row['k']} of {row['n']}: {tables.estimate(exact_share(row['k'], row['n']), 2)}"


def nothing(caption: str, why: str = "") -> tables.Table:
    """Stand where a figure or table would, and say why it is not there."""
    row = {"undefined": (why or why_not_ours or FILES_ONLY).removeprefix("undefined: ")}
    return tables.show(pd.DataFrame([row]), caption, PAPER)


# %% [markdown]
# ## The counts
#
# The paper's agent was the 14B model that also serves as a judge, and it was told the same
# procedure. The first column of the table below is what the paper and its release print, with
# intervals of ours; the other columns are counted on this page. {glue:text}`a8-recount`
#
# {glue:text}`a8-ours-model` A model that small is far below what anybody would trust with such a
# task. We use it because anyone can run it, and because it shows how much a rate depends on who
# drives: two agents at the same desk, with the same kinds of case, need not fail alike.
# {glue:text}`a8-broken-off`
#
# A call made is not yet a call answered. "Eligibility asked" counts episodes that made the call, as
# the paper does, and "eligibility answered" those that got an answer from the desk.
# {glue:text}`a8-refused`

# %% tags=["hide-input"]
def oracle_replies(source) -> dict[str, str]:
    """Return the oracle's reply to each case, by the case's goal."""
    if source.name != "released":
        return {case.goal: oracle.calls(case)[-1].args["text"]
                for case in islice(world.instances(7), 600)}
    release = store.released()
    return {run.goal: run.final_answer for run, label in zip(
        release.trajectories, release.labels, strict=True) if not label.faulty}


counts = {name_of(x): organic.count(x.trajectories, x.labels, oracle_replies(x)) for x in at_hand}
came_back = {name_of(x): organic.answers(x.trajectories, MAX_STEPS) for x in at_hand}
extra = len(organic.ANSWERS)
named = organic.COUNTS | organic.ANSWERS
shown = pd.DataFrame({"counted": [what for what, _ in named.values()],
                      "paper": [*map(share_of, counted_by_paper.to_dict("records")),
                                *["not printed"] * extra]})
for name, frame in counts.items():
    shown[name] = [*map(share_of, [*frame.to_dict("records"),
                                   *came_back[name].to_dict("records")])]
again = pd.DataFrame()
if "released" in counts:
    again = organic.beside(counted_by_paper, counts["released"])
    shown["recount"] = [*again["agrees"], *["not printed"] * extra]
rows = list(organic.COUNTS)
for metric, (_, beside) in organic.ANSWERS.items():
    rows.insert(rows.index(beside) + 1, metric)
shown = shown.set_axis(list(named)).loc[rows].reset_index(drop=True)
tables.show(shown, "Episodes driven by a model: what the paper prints, and what the files at hand "
            "hold.", "; ".join(filter(None, [PAPER, files_origin])))

# %% tags=["hide-input"]
paper = counted_by_paper.set_index("metric")
chapter.text("a8-recount", "Recounted from the released files, {} of {} agree with print.".format(
    (again["agrees"] == "agrees").sum(), len(again)) if len(again) else
    "The recount from the released files needs those files (rerun with -p episodes released).")
BAD = "flagged_or_wrong_outcome"
chapter.text("a8-paper-faulty", "{} of {}".format(*paper.loc[BAD, ["k", "n"]]))
chapter.text("a8-paper-share", tables.estimate(exact_share(*paper.loc[BAD, ["k", "n"]]), 2))
chapter.text("a8-paper-stops", "{} of {}".format(
    paper.loc["premature_stop", "k"], paper.loc[BAD, "k"]))
mine = counts["recorded here"].set_index("metric") if "recorded here" in counts else None
absent = "(no episodes recorded here)"
chapter.text("a8-ours-faulty", "No episodes of our own are recorded here." if mine is None else
             "In our own, driven by a small model, it was {} of {} ({}).".format(
                 *mine.loc[BAD, ["k", "n"]],
                 tables.estimate(exact_share(*mine.loc[BAD, ["k", "n"]]), 2)))
chapter.text("a8-ours-model", "None of our own are recorded here; they are made with smollm2."
             if ours is None else "Ours were driven by {}.".format(
                 ours.origin.removeprefix("measured here: ").partition("; data")[0]))
chapter.text("a8-episodes", f"{paper.loc['episodes', 'k']}")
cut = []
for x in at_hand:
    n, kept = sum(x.broken_off.values()), len(x.labels)
    status = ", ".join(f"{k} {each}" for each, k in x.broken_off.items())
    cases = ", ".join(f"{each} {k}" for each, k in sorted(x.lost.items(), key=lambda at: -at[1]))
    cut += [f"{n} of {n + kept} ({name_of(x)}: {status}), which leaves {kept}; by kind of case "
            f"the missing are {cases}"] if n else []
chapter.text("a8-broken-off", "Some attempts broke off because a reply was not a call, and these are "
             f"in no count: {'; '.join(cut)}." if cut else "")

# %% tags=["hide-input"]
refused = []
for name, frame in counts.items():
    asked, back = frame.set_index("metric")["k"], came_back[name].set_index("metric")["k"]
    refused.append(
        f"The desk refused {asked['failed_tool_calls']} of {back['calls']} calls ({name}); "
        f"eligibility was asked in {asked['episodes_with_check_eligibility']} and answered in "
        f"{back['eligibility_answered']} of {asked['episodes']} episodes.")
chapter.text("a8-refused", " ".join(refused) or
             "In print there is no count of the answers; it takes episode files.")

# %% [markdown]
# ## Which cases break
#
# The six kinds of case are dealt in turn, so the paper's {glue:text}`a8-episodes` episodes hold
# each kind equally often. {numref}`fig-a8-strip` says how they ended, one row for each kind; look
# for the rows in which anything was faulty. The printed counts settle more than they state: the
# failures they give for two kinds of case add up to all there are, so the other four kinds had
# none. They leave open which of those failures were silent.

# %% mystnb={"figure": {"caption": "What the episodes came to, by kind of case: counts, coloured by their share of that kind. Rules see four of the six types, so no fault seen is not the same as clean, and a count of faults short of all is a lower bound. Data: the paper's section 8, and the episode files named under the table of counts.", "name": "fig-a8-strip"}} tags=["hide-input"]
settled = endings.printed_strata(counted_by_paper, world.STRATA).assign(panel="paper (printed)")
cells = pd.concat([settled, *(endings.by_stratum(x.labels).assign(panel=name_of(x))
                              for x in at_hand)], ignore_index=True)
cells["ending"] = cells["ending"].replace({"no fault seen": "none seen"})
show(
    charts.strip(cells), name="a8-strip", table=cells[["panel", "stratum", "ending", "n", "of"]],
    alt="One panel a source of episodes: kinds of case by what the episodes came to, with counts; "
        "in the printed counts faults fall on two kinds of case.")

# %% tags=["hide-input"]
broken = settled[(settled["ending"] == "faulty") & (settled["n"] > 0)]
chapter.text("a8-broken", " and ".join(
    f"{row.stratum} ({row.n} of {row.of})" for row in broken.itertuples()) or "(no kind of case)")
inside = broken["n"].sum() / max(broken["of"].sum(), 1)
dealt = broken["of"].sum() / settled.drop_duplicates("stratum")["of"].sum()
RARE = 0.05  # ours: the two kinds of case as a desk might meet them
chapter.number("a8-dealt", 100 * dealt, 0)
chapter.number("a8-rare", 100 * RARE, 0)
chapter.number("a8-rate-rare", RARE * inside, 3)
chapter.number("a8-rate-paper", dealt * inside, 3)
worst = []
for x in at_hand:
    loud = [f"{r.stratum} {r.n} of {r.of}" for r in endings.by_stratum(x.labels).itertuples()
            if r.ending == "loud" and r.n]
    worst.append(f"{', '.join(loud) or 'none'} ({name_of(x)})")
chapter.text("a8-loud-where", f"Loud endings in the files at hand: {'; '.join(worst)}." if worst
             else "Loud endings by kind of case take episode files.")

# %% [markdown]
# In the printed counts every fault falls on {glue:text}`a8-broken`. These two kinds make up
# {glue:text}`a8-dealt` % of the cases only because the cases are dealt that way. At a desk where
# they made up {glue:text}`a8-rare` %, the same agent would have a fault rate of
# {glue:text}`a8-rate-rare` and not {glue:text}`a8-rate-paper`. An organic rate belongs to an agent
# together with a mix of cases. {glue:text}`a8-loud-where`
#
# ## Which faults
#
# {numref}`fig-a8-mix` puts the organic mix beside the injected one; compare the marks with the ends
# of the bars. An episode counts under the type of the first rule it breaks. Two types have no mark
# because no rule sees them, so nothing is known of how often they occur. The last row holds
# episodes whose outcome is wrong though no rule is broken.

# %% tags=["hide-input"]
source = store.load(given.verdicts)
verdict_table = table(source.labels, source.verdicts, source.cost)
injected = pd.Series([x.failure_type for x in source.labels if x.faulty]).value_counts(normalize=True)
printed_mix = endings.printed_mix(counted_by_paper).set_index("type")
blank = pd.DataFrame({"type": [*FAULT_TYPES, endings.UNTYPED]}).assign(
    value=None, lo=None, hi=None, why="")
mixes = [(name_of(x), endings.mix(x.labels)) for x in at_hand] or [("paper (printed)", blank)]
bars = pd.concat([frame.assign(panel=name) for name, frame in mixes], ignore_index=True)
bars["shown"] = [tables.estimate(r, 2) for r in bars.to_dict("records")]
bars["injected"] = bars["type"].map(injected).astype(float).fillna(0.0)
bars["published"] = bars["type"].map(printed_mix["value"]).astype(float)
bars["note"] = np.where(bars["type"].isin(endings.INVISIBLE), "no rule sees it", "")
bars = bars.astype({"value": float, "lo": float, "hi": float})
bars["type"] = bars["type"].replace({endings.UNTYPED: "no rule broken"})

# %% mystnb={"figure": {"caption": "Share of each type among faulty runs. Bars: injected, even by design. Hollow diamonds: the paper's episodes. Filled, with exact 95 % intervals: counted from the files at hand. Rules are blind to two types, so the organic shares are shares of what rules can see. Data: labels of the judged set, the paper's section 8, and the episode files named under the table of counts.", "name": "fig-a8-mix"}} tags=["hide-input"]
show(
    charts.mix(bars[["panel", "type", "injected", "published", "value", "lo", "hi", "shown", "note"]]),
    name="a8-mix", table=bars[["panel", "type", "injected", "published", "shown"]],
    alt="One panel a source of episodes: bars of equal length for the six injected types, hollow "
        "marks for the paper's organic shares and filled ones for those counted here.")

# %% tags=["hide-input"]
def leading(frame: pd.DataFrame) -> str:
    """Name the type most faulty episodes are of, with its count."""
    rows = frame[frame["k"].notna() & (frame["k"].fillna(0) > 0)].to_dict("records")
    if not rows:
        return "no type, for no fault was seen"
    most = max(rows, key=lambda row: row["k"])
    return f"{most['type']} ({most['k']} of {most['n']})"


chapter.text("a8-lead-paper", leading(printed_mix.reset_index()))
chapter.text("a8-lead-ours", absent if ours is None else leading(endings.mix(ours.labels)))
more = []
for x in at_hand:
    breaks = endings.first_breaks(x.trajectories, x.labels, MAX_STEPS)
    for r in breaks.sort_values("n", ascending=False, kind="stable").head(1).itertuples():
        said = (f"of the {r.n} episodes under {r.type} ({name_of(x)}), {r.stuck} used up their "
                f"{MAX_STEPS} steps without a reply, and {r.at_once or 'none'} broke the rule with "
                "the very first call")
        if r.type == "hallucinated_argument":
            said += (f"; in {r.torn} the argument is a piece torn out of the goal, such as an order "
                     f"number without its letters, and in {r.n - r.torn} it is made up")
        more.append(said)
chapter.text("a8-lead-more", f"What else went wrong: {'. And '.join(more)}." if more else
             "What else went wrong in them takes episode files.")
chapter.number("a8-injected-stop", injected.get("premature_stop"), 2)

# %% [markdown]
# The injected mix gives `premature_stop` a share of {glue:text}`a8-injected-stop`. Among the
# organic faults that rules can see, the paper's agent mostly commits {glue:text}`a8-lead-paper`,
# and ours {glue:text}`a8-lead-ours`. The type names the first rule broken, which need not be the
# only one. {glue:text}`a8-lead-more`
#
# A type's name also covers more than the injected fault of that name. On [the testbed](a3_testbed)
# a premature stop is a run cut short whose reply says that somebody is looking into it. In the
# released episodes it is a reply where the case should have been handed on, or an agent that hands
# the case on again and again until its steps run out. A judge's recall on the first need not be its
# recall on the others, and nobody has published verdicts on these episodes.
#
# ## A perfect rule, until somebody is free
#
# How good can a rule look that understands nothing? The **canonical-sequence rule** flags every run
# whose list of tools is not exactly the oracle's six calls: customer, order, policy, eligibility,
# refund or hand on, reply. It reads no argument, no observation and no word.
# {numref}`fig-a8-script` shows what it flags on the testbed and on episodes; the first row of each
# panel holds its false alarms.

# %% tags=["hide-input"]
GROUPS = {"no fault": "no fault seen", endings.UNTYPED: "no rule broken"}
ruled = [("testbed", organic.script_flags(*judged_set(7)))]
ruled += [(name_of(x), organic.script_flags(x.trajectories, x.labels)) for x in at_hand]
flags = pd.concat([frame.assign(panel=name) for name, frame in ruled], ignore_index=True)
flags = flags.assign(
    shown=[f"{tables.estimate(r, 2)} ({r['k']} of {r['n']})" for r in flags.to_dict("records")])
by_group = flags.set_index(["panel", "group"])
every = pd.MultiIndex.from_product([list(dict.fromkeys(flags[x])) for x in ("panel", "group")])
flags = by_group.reindex(every.set_names(["panel", "group"])).reset_index().astype(
    {"value": float, "lo": float, "hi": float})
flags["note"] = np.where(flags["value"].isna(), "no such episode", "")
flags["shown"] = flags["shown"].fillna("no such episode")
flags["label"] = flags["group"].replace(GROUPS)

# %% mystnb={"figure": {"caption": "Share of runs flagged by the canonical-sequence rule, with exact 95 % intervals: false alarms in the first row, then faulty runs, all and by type. Data: the testbed of seed 7, built on this page, and the episode files named under the table of counts; the paper prints no such figure.", "name": "fig-a8-script"}} tags=["hide-input"]
show(
    charts.flagged(flags[["panel", "label", "value", "lo", "hi", "shown", "note"]]),
    name="a8-script", table=flags[["panel", "label", "shown"]],
    alt="One panel for the testbed and one a source of episodes: share flagged by the sequence rule "
        "on runs without a fault seen, on faulty runs, and by type of fault.")

# %% tags=["hide-input"]
chapter.text("a8-script-clean", "{k} of {n}".format(**by_group.loc[("testbed", "no fault")]))
seen = by_group.loc["testbed"].loc[list(FAULT_TYPES), "value"]
chapter.text("a8-script-sees", ", ".join(seen.index[seen == 1]) or "(no type)")
chapter.text("a8-script-misses", ", ".join(seen.index[seen == 0]) or "(no type)")
right, worth = [], []
for x in at_hand:
    rows = by_group.loc[name_of(x)]
    both = {g: rows.loc[g, ["k", "n"]].tolist() if g in rows.index else [0, 0]
            for g in ("no fault", "faulty")}
    (wrong, unseen), (hits, bad) = both["no fault"], both["faulty"]
    right.append(f"Of the episodes in which no fault was seen it flags {wrong} of {unseen} "
                 f"({name_of(x)})." if unseen else f"Of the {bad} episodes ({name_of(x)}) none was "
                 "free of fault, so false alarms cannot be tried there.")
    worth.append(f"{hits} of {hits + wrong} are on a faulty episode ({name_of(x)})" if unseen else
                 f"all {hits} are right, since every episode is faulty ({name_of(x)})")
needs_files = "(undefined for printed counts, which hold no lists of tools)"
chapter.text("a8-script-organic", " ".join(right) or
             "On printed counts, which hold no lists of tools, it cannot be tried.")
chapter.text("a8-script-worth", f"Of its alarms, {'; '.join(worth)}." if worth else "")

# %% [markdown]
# On the testbed the rule flags {glue:text}`a8-script-clean` of the clean runs, because the clean
# runs *are* the script. It catches every fault of the types {glue:text}`a8-script-sees` and none of
# {glue:text}`a8-script-misses`. By false alarms it looks as good as any judge can.
#
# On episodes it is another matter. {glue:text}`a8-script-organic` {glue:text}`a8-script-worth` In
# the released episodes the agent asks twice, hands on twice, leaves out a check whose answer it has
# read elsewhere, and still gets there. Where all clean runs look alike, a false-alarm rate says
# nothing about runs that do not. What the testbed says of a judge holds only if the judge was not
# told how its clean runs go, call by call, as this rule was.
#
# ## Habits
#
# A list of tools also shows habits that no rule calls a fault. The paper names two: its agent hands
# the same case on again and again, and it asks the desk for eligibility in only some of its
# episodes. The table of counts holds both totals; the next one splits them by kind of case.

# %% tags=["hide-input"]
HABITS = {"stratum": "case", "episodes": "episodes", "asked": "eligibility asked",
          "answered": "eligibility answered", "tried": "refund tried",
          "unasked": "tried without asking", "paid": "refund made", "handed_on": "handed on",
          "escalates": "escalate calls", "scripts": "distinct lists of tools"}
ORDER = {name: place for place, name in enumerate((*world.STRATA, "all"))}
kept = [organic.habits(x.trajectories, x.labels).assign(source=name_of(x)).sort_values(
    "stratum", key=lambda s: s.map(ORDER), kind="stable") for x in at_hand]
tables.show(
    pd.concat(kept)[["source", *HABITS]].rename(columns=HABITS),
    "Tool calls by kind of case: episodes, except escalate calls and distinct lists.", files_origin,
) if kept else nothing("Tool calls by kind of case.")

# %% tags=["hide-input"]
said = {name_of(x): frame.set_index("stratum").loc["all"] for x, frame in zip(at_hand, kept, strict=True)}
k = paper["k"]
chapter.text("a8-habits", "; ".join([
    f"{k['escalate_calls'] / k['episodes']:.2f} escalate calls an episode and eligibility asked in "
    f"{k['episodes_with_check_eligibility']} of {k['episodes']} (paper)",
    *(f"{a.escalates / a.episodes:.2f} and {a.asked} of {a.episodes}, answered in {a.answered} "
      f"({name})"
      for name, a in said.items())]))
money = [f"{a.unasked} of {a.tried} episodes that tried a refund ({name}; " + (
    f"the desk made {a.paid})" if a.paid else
    f"the desk refused {'both' if a.tried == 2 else 'every one'}, so no money moved)") if a.tried
    else f"none, for no episode tried one ({name})" for name, a in said.items()]
chapter.text("a8-unchecked", "; ".join(money) or needs_files)
chapter.text("a8-scripts", "; ".join(
    f"{a.scripts} in {a.episodes} episodes ({name})" for name, a in said.items()) or needs_files)

# %% [markdown]
# In all, that is {glue:text}`a8-habits`. "Only some" sounds like money moved without asking.
# Whether it was is another column: a refund was tried with no check before it in
# {glue:text}`a8-unchecked`. In the released files the missing checks all fall on cases that are to
# be handed on, where the order or the policy had already said no. The procedure asks for the check
# *before moving any money*, and in those cases no money moved.
#
# ## What an alarm is worth to you
#
# The share of alarms that are faults, the {term}`positive predictive value` (PPV) or precision,
# follows from three numbers: a judge's recall, its false-alarm rate, and the fault rate of the
# place where it works ([the chapter on measures](a5_measures) derives it). {numref}`fig-a8-ppv`
# draws it for each judge. Find your own fault rate on the horizontal axis, go up to the curve, and
# read the PPV at the left.
#
# An orange column is an organic rate with its interval (a rate near one makes it a line at the
# right edge), and the triangle is the rate given as a parameter. The solid curve takes recall over
# the set's own mix of types, the dotted one over the organic mix of {glue:text}`a8-rate-name`.

# %% tags=["hide-input"]
OF = {"released": "the released episodes", "recorded": "the episodes recorded here"}
NAME = "the paper's episodes" if chosen is None else OF.get(
    chosen.name, f"the episodes of {chosen.name}")
row = (paper if chosen is None else counts[name_of(chosen)].set_index("metric")).loc[BAD]
RATES = {NAME: exact_share(row["k"], row["n"])}
if ours is not None and ours is not chosen:
    row = mine.loc[BAD]
    RATES["recorded here"] = exact_share(row["k"], row["n"])
organic_mix = (printed_mix.reset_index() if chosen is None else endings.mix(chosen.labels))
organic_mix = {r["type"]: r["k"] for r in organic_mix.to_dict("records")
               if r["k"] and r["type"] in FAULT_TYPES and r["type"] in injected.index}
MIXES = {"types as in this set": None} | ({"types as in the episodes": organic_mix} if organic_mix else {})
chapter.text("a8-rate-name", NAME)
AT = {where: r["value"] for where, r in RATES.items()} | {"yours": given.fault_rate}
ENDS = {"lowest": RATES[NAME]["lo"], "organic": RATES[NAME]["value"], "highest": RATES[NAME]["hi"],
        "yours": given.fault_rate, "set": float(verdict_table.faulty.mean())}
at_rates = sorted({*np.geomspace(0.001, 1, 31).round(6).tolist(), *AT.values(), *ENDS.values()})

# %% tags=["hide-input"]
parts = []
for judge in verdict_table.judges:
    for kind, weights in MIXES.items():
        try:
            parts.append(deployed(verdict_table, judge, at_rates, np.random.default_rng(given.seed),
                                  draws=given.draws, mix=weights).assign(faults=kind))
        except InputError:  # a type of the mix that this judge was never shown: no dotted curve
            continue
carried = pd.concat(parts, ignore_index=True)
carried = carried[carried["metric"] == "ppv"]
carried["judge_id"], carried["judge"] = carried["judge"], carried["judge"].map(
    tables.judge_names(verdict_table.judges))
# Where every run is faulty no alarm can be false: an identity, and no estimate.
IDENTITY = "1 by definition (no clean episode)"
carried["shown"] = [IDENTITY if row["fault_rate"] == 1 and row["value"] is not None
                    else tables.estimate(row, 2) for row in carried.to_dict("records")]
known = carried[carried["value"].notna() & (carried["fault_rate"] >= 0.001)].astype(
    {"fault_rate": float, "value": float, "lo": float, "hi": float})
own = known[known["faults"] == "types as in this set"]
marks = pd.concat([own[own["fault_rate"] == rate].assign(where=where) for where, rate in AT.items()])
spans = pd.DataFrame([{"judge": judge, "where": where, "lo": max(r["lo"], 0.001), "hi": r["hi"]}
                      for judge in known["judge"].unique() for where, r in RATES.items()
                      if r["value"] is not None])

# %% mystnb={"figure": {"caption": "What an alarm is worth: PPV of each judge against the fault rate, with 95 % bands (grey) for types as in this set of faults. Orange columns: organic fault rates with exact 95 % intervals; a rate short of one is a lower bound, for rules are blind to two types. Data: recalls and false-alarm rates of the verdicts chosen at the top; rates from the table of counts.", "name": "fig-a8-ppv"}} tags=["hide-input"]
nothing("What an alarm is worth.", "no judge's recall and false-alarm rate are known") if (
    not len(known)) else show(
    charts.ppv(known[["judge", "faults", "fault_rate", "value", "lo", "hi"]], spans,
               marks[["judge", "where", "fault_rate", "value", "shown"]]),
    name="a8-ppv", table=marks[["judge", "where", "fault_rate", "shown"]],
    alt="One panel a judge: PPV against the fault rate on a log scale, for two mixes of fault types, "
        "with orange columns at organic rates and a triangle at the rate given as a parameter.")

# %% [markdown]
# The next table reads the solid curves at five rates, {glue:text}`a8-rates`. The first three
# columns move the rate through its own interval. The bands in brackets hold the rate fixed and move
# recall and false alarms within their exact bounds.

# %% tags=["hide-input"]
WHOSE = "paper's rate" if chosen is None else f"rate, {name_of(chosen)}"
HEADS = {"set": "this set's rate", "lowest": f"{WHOSE}, lower end", "organic": WHOSE,
         "highest": f"{WHOSE}, upper end", "yours": "your rate"}
HEADS = {at: f"{words} ({ENDS[at]:.3f})" for at, words in HEADS.items()}
read = carried[carried["faults"] == "types as in this set"].set_index(["judge", "fault_rate"])["shown"]
names = tables.judge_names(verdict_table.judges)
order = ("lowest", "organic", "highest", "yours", "set")
tables.show(
    pd.DataFrame({HEADS[at]: {name: read.get((name, ENDS[at]), "undefined: no such rate")
                              for name in names.values()} for at in order}).rename_axis("judge"),
    "PPV by fault rate (higher is better), with 95 % bands.",
    f"{source.origin}; fault rate: {PAPER if chosen is None else chosen.origin}")

# %% tags=["hide-input"]
OUTCOME, STEP = "outcome:qwen2.5:14b", "step:qwen2.5:14b"
chapter.text("a8-rates", ", ".join(f"{ENDS[at]:.3f}" for at in order))
for at in ("organic", "yours"):
    chapter.text(f"a8-rate-{at}", f"{ENDS[at]:.3f}")
not_here = "(not judged here)"
for judge, key, ats in ((OUTCOME, "a8-ppv", ("set", "organic", "yours")),
                        (STEP, "a8-step", ("organic", "yours"))):
    for at in ats:
        chapter.text(f"{key}-{at}", read.get((names.get(judge), ENDS[at]), not_here))
dotted = carried[carried["faults"] != "types as in this set"].set_index(["judge_id", "fault_rate"])
both = (OUTCOME, ENDS["organic"])
chapter.text("a8-ppv-mix", dotted.loc[both, "shown"] if both in dotted.index else
             not_here if organic_mix else "(no organic mix: no fault was seen)")
for key in ("recall", "false_alarm_rate"):
    rates = dict(zip(own["judge_id"], own[key], strict=True))
    chapter.text(f"a8-{key}", f"{rates[OUTCOME]:.2f}" if OUTCOME in rates else not_here)
chapter.text("a8-ours-worth", absent if mine is None else
             tables.estimate(exact_share(*mine.loc[BAD, ["k", "n"]]), 2))

# %% [markdown]
# The outcome judge goes from {glue:text}`a8-ppv-set` on the set to {glue:text}`a8-ppv-organic` at
# the rate of {glue:text}`a8-rate-name` and {glue:text}`a8-ppv-yours` at yours. With the mix of
# types of those episodes it is {glue:text}`a8-ppv-mix` at their rate. The step judge reads
# {glue:text}`a8-step-organic` and {glue:text}`a8-step-yours`. In the published verdicts it raised
# no false alarm, so its curve is flat at the top, and the lower edge of its band shows how little
# so few clean runs can promise.
#
# Flagging at random has a PPV equal to the fault rate, which in our own episodes is
# {glue:text}`a8-ours-worth`. Where an agent nearly always fails, every judge's alarms are nearly
# always right. A high PPV can be the agent's doing.
#
# ## What would change our mind
#
# - Somebody reads the episodes in which no fault was seen and finds wrong tools and unsupported
#   sentences, which no rule sees. The rate would go up, and the mix would no longer be a single
#   type.
# - Somebody runs judges over the organic episodes and finds a recall for each type that agrees with
#   the injected one. Then carrying recall over, as the dotted curves do, would be more than an
#   assumption.
# - Episodes that differ more from one another. The number of distinct lists of tools is
#   {glue:text}`a8-scripts`. A greedy agent on cases from one template repeats itself, and then an
#   interval for independent episodes is too narrow. Sampling at a temperature, other templates or
#   other models would tell.
# - A mix of cases taken from a real desk and not dealt in turn.
#
# %% [markdown]
# ## Exercises
#
# The first check compares your answer with the published verdicts.
#
# ```{exercise} One alarm in two
# :label: a8-half
# :nonumber:
# Before you look at {numref}`fig-a8-ppv`: at which fault rate is half of the outcome judge's
# alarms right? Its recall is {glue:text}`a8-recall`, its false-alarm rate
# {glue:text}`a8-false_alarm_rate`.
# ```

# %%
from tjlib import exercises

fault_rate_at_half = None  # a share from 0 to 1
print(exercises.check("a8-half", fault_rate_at_half))

# %% [markdown]
# ```{solution-start} a8-half
# :class: dropdown
# ```
#
# PPV is one half where true and false alarms are equally many: recall times the fault rate equals
# the false-alarm rate times the rest.

# %%
rates = own.drop_duplicates("judge_id", keep="last").set_index("judge_id")
rates = rates[["recall", "false_alarm_rate"]]
if OUTCOME in rates.index and rates.loc[OUTCOME].notna().all():
    r, f = rates.loc[OUTCOME]
    print(f"{f:.3f} / ({r:.3f} + {f:.3f}) = {f / (r + f):.3f}" if r + f else "undefined here")

# %% [markdown]
# For a judge without a false alarm this rate is zero. That is what a flat curve promises, and why
# it promises too much.
#
# ```{solution-end}
# ```
#
# ```{exercise} Mostly happy
# :label: a8-happy
# :nonumber:
# Nine of ten cases at your desk are `happy`, the others are spread evenly over the other kinds. Which
# fault rate would the paper's agent have there?
# ```

# %%
shares = settled[settled["ending"] == "faulty"].set_index("stratum")["share"].to_dict()
rate_there = None  # a share, to three digits
print(exercises.check("a8-happy", rate_there, shares=shares))

# %% [markdown]
# ```{solution-start} a8-happy
# :class: dropdown
# ```
#
# Weight the shares by kind of case with your own mix of cases.

# %%
rest = [share for kind, share in shares.items() if kind != "happy"]
print(f"{0.9 * shares['happy'] + 0.1 * sum(rest) / len(rest):.3f}")

# %% [markdown]
# In the printed counts `happy` has no fault, so all of the rate comes from the tenth that is something
# else.
#
# ```{solution-end}
# ```
#
# ```{exercise} Mend the rule
# :label: a8-mend
# :nonumber:
# Mend the canonical-sequence rule: let it forgive a tool called several times in a row. Rerun
# with `-p episodes released`. Which episodes does it still flag, and are they faulty?
# ```
#
# ```{solution} a8-mend
# :class: dropdown
# `itertools.groupby(organic.tools(run))` gives each stretch of equal calls once; compare the names
# with `organic.CANONICAL`. What is left has no eligibility check: the kinds of case where the agent
# read the answer off the order or the policy. Some of these are faulty and most are not, so the next
# thing to forgive would be that check, and with each exception the rule comes closer to being the
# checker it was meant to replace.
# ```
#
# ```{exercise} Kinds of case as the unit
# :label: a8-unit
# :nonumber:
# One kind of case failed every time in the paper. Take the kind of case, and not the episode, as
# the unit: two of six kinds have faults. What interval does that give, and for what question?
# ```
#
# ```{solution-start} a8-unit
# :class: dropdown
# ```

# %%
from tjlib.measure.resample import clopper_pearson

failing = settled[settled["ending"] == "faulty"]
ends = clopper_pearson(int((failing["n"] > 0).sum()), len(failing))
print("kinds of case: {:.2f} to {:.2f}".format(*ends))

# %% [markdown]
# This interval answers how many *kinds* of case the agent gets wrong, if these six were drawn from
# many. The narrow interval answers how often it fails on more cases of the same six. Which of the
# two a deployment asks is for you to say; with greedy decoding, the second comes close to counting
# one case ten times.
#
# ```{solution-end}
# ```
#
# ```{exercise} Stops alone
# :label: a8-stops
# :nonumber:
# Of the testbed keep the clean runs and as many of `premature_stop` as give the paper's organic
# rate. Would a judge's score on these be its score on organic episodes?
# ```
#
# ```{solution} a8-stops
# :class: dropdown
# It would have the right rate and the right name, and other runs: an injected stop is cut off after
# a fixed call with a fixed reply. Rate and mix can be reweighted after the fact, which is what the
# curves do. What a fault looks like cannot.
# ```

# %% [markdown]
# **Next:** the paper draws conclusions in words. [The audit](a9_claims) tries its sentences one by one
# against its own data.
