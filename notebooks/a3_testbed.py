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
# # Ground truth without annotation
#
# **The claim.** The faults in this part of the book are known because they were put there, not because
# somebody found them. To test a {term}`judge` - anything that reads what an agent did and says whether
# it went wrong - you must know the truth about each {term}`trajectory`, the record of the agent's calls
# and of what came back. If people supply that truth, they are one more judge. Here a script solves each
# case correctly, one step is broken on purpose, and the broken script is run again. This chapter
# rebuilds the {term}`testbed` of section 3 and Appendices A to C of the *trajectory-judge* paper
# ([arXiv 2609.00038](https://arxiv.org/abs/2609.00038)) and measures what the paper says of it.
#
# ```{admonition} In one minute
# The desk in this testbed does as it is told, even when it should not; a separate checker knows the
# procedure. From {glue:text}`a3-cases` cases we make {glue:text}`a3-total` trajectories:
# {glue:text}`a3-clean` are clean, {glue:text}`a3-silent` hold a fault after which the case still ended
# as it should (a **{term}`silent <silent fault>`** fault), and {glue:text}`a3-loud` hold one after which
# it did not (a **{term}`loud <loud fault>`** fault). Of the six types of fault the checker catches four
# every time and two never. One of those two is out of its reach, because it sits in a sentence; the
# other is missed only for want of one rule.
# ```

# %% tags=["parameters"]
seed: int = 7  # seed of the cases, the faults and their order
case: int = 1  # the case drawn below, by its number; one under a restocking fee shows all six faults
clean: int = 100  # clean trajectories in the judged set
per_type: int = 50  # trajectories of each type of fault; even

# %% tags=["hide-input"]
from tjlib import chapter

given = chapter.check(
    globals(),
    case=lambda value: None if 0 <= value < 600 else "give a case number from 0 to 599",
)

# %% tags=["hide-input"]
from itertools import islice

import pandas as pd

from tjlib import tables
from tjlib.charts import judging
from tjlib.charts.show import show
from tjlib.desk import rules, world
from tjlib.desk.testbed import judged_set, stream
from tjlib.trace import FAULT_TYPES

trajectories, labels = judged_set(given.seed, clean=given.clean, per_type=given.per_type)
built = f"built on this page by tjlib.desk, seed {given.seed}"
survival = ["clean" if not x.faulty else "silent" if x.outcome_correct else "loud" for x in labels]
for role in ("clean", "silent", "loud"):
    chapter.number(f"a3-{role}", survival.count(role), 0)
chapter.number("a3-total", len(labels), 0)
chapter.number("a3-cases", len({x.instance_id for x in labels}), 0)

# %% [markdown]
# ## A desk that lets you do the wrong thing
#
# The world is a support desk with seven tools. A customer asks for a refund. The agent must find out
# who the customer is, look up the order, read the policy, ask whether a refund is due, then pay exactly
# that sum or hand the case over, and reply.
#
# The desk is **permissive**. Its tool `issue_refund` refuses an unknown order, a second refund, and an
# amount that is zero, negative, or more than the order's total. It does not care whether anybody checked
# that a refund was due, and neither does a real payment service. This is deliberate: a desk that
# enforced its procedure would not go on after a skipped check, with a wrong amount or with the policy
# unread, and of the silent faults below only the invented sentence would be left.
#
# The first table lists the tools. (Tables that carry a number carry the paper's.)

# %% tags=["hide-input"]
table5 = pd.DataFrame(
    [(name, ", ".join(tool.args), ", ".join(tool.grounded) or "none (prose)")
     for name, tool in world.TOOLS.items()], columns=["tool", "arguments", "traced by the checker"])
tables.show(table5, "Table 5. The seven tools, and the arguments the checker traces back to the "
            "goal or to an earlier observation.", "tjlib.desk.world, after the paper's Appendix A")

# %% [markdown]
# The procedure has eight points, and everybody gets the same ones: the agent, the checker, which was
# written after them, and later the judges.

# %% tags=["hide-input"]
tables.show(
    pd.DataFrame({"point": range(1, len(world.PROCEDURE) + 1), "the agent must": world.PROCEDURE}),
    "The procedure that the agent must follow.", "verbatim from the paper's Appendix D")

# %% [markdown]
# ## One case, solved and broken
#
# The **{term}`oracle`** is a fixed script of six calls with one branch: it refunds if the eligibility
# check says so, and hands the case over if not. The **injector** changes that list of calls at one step
# and replays it on a fresh desk, so everything observed after the edit is what the desk really answers.
# The result is called a {term}`mutant`, and its {term}`label` records the step, the type of fault, and
# whether the outcome survived.
#
# {numref}`fig-a3-strips` shows one case: the oracle's trajectory on top, and below it every mutant that
# the case can host. The coloured step is the one the label names. The heading of each strip says whether
# the fault is silent or loud, and which of the checker's rules it breaks; the rules are listed further
# down. Hover over a step, or open the table below the figure, to see the call and what came back.

# %% mystnb={"figure": {"caption": "One case: the oracle's trajectory and its mutants, step by step. Coloured: the step that the label names, by whether the outcome survived. Heading: type of fault, silent or loud, and the rules of the checker that it breaks.", "name": "fig-a3-strips"}} tags=["hide-input"]
SHORT = {"get_customer": "who", "lookup_order": "order", "get_policy": "policy",
         "check_eligibility": "due?", "issue_refund": "refund", "escalate": "hand on",
         "reply": "reply"}
wanted = next(islice(world.instances(given.seed), given.case, None)).instance_id
rows = []
for trajectory, label in stream(given.seed):
    if label.instance_id == wanted:
        broken = rules.check(trajectory)
        role = "clean" if not label.faulty else "silent" if label.outcome_correct else "loud"
        name = label.failure_type or "oracle"
        fired = ", ".join(str(x.rule) for x in broken)
        verdict = f"fires rule {fired}" if broken else "fires no rule"
        for index, step in enumerate(trajectory.steps):
            call, observation = step.calls[0], step.observations[0]
            arguments = ", ".join(f"{k}={v}" for k, v in call.args.items())
            rows.append({
                "variant": name, "heading": f"{name} · {role} · {verdict}", "order": len(rows),
                "step": index, "tool": SHORT[call.tool], "call": f"{call.tool}({arguments})",
                "observation": str(observation.data if observation.ok else observation.error),
                "role": role if index == label.failure_step else "clean"})
    elif rows:
        break
steps = pd.DataFrame(rows)
show(
    judging.strips(steps), name="a3-strips", table=steps[["heading", "step", "call", "observation"]],
    alt="Strips of steps, one a variant of the same case: the oracle's six calls, then each fault "
        "with its one edited step marked and the rule that fires, or none, in the heading.",
)

# %% [markdown]
# Read each strip against the oracle's. The two agree up to the label and differ at it, with one
# exception: `premature_stop` is labelled at the last step it took. That step is still the oracle's own,
# and what is wrong is that nothing follows it. In `skipped_precondition` everything after the deleted
# check moves up by one, and the label names the place where the check should have been.
#
# Two mutants break no rule. In `wrong_tool` the agent looks the order up a second time, which is a legal
# call, and in `unsupported_claim` the fault is a sentence. The paper says that its mutations are built
# to break exactly one rule; besides these two, which break none, `premature_stop` breaks two at once:
# there is no reply, and neither a refund nor a hand-over.
#
# ## What the checker can and cannot say
#
# The checker walks through a trajectory once, from the first step to the last. It keeps a pool of
# *grounded* values: the two facts of the goal (an e-mail address and an order number), and every value
# that a successful call has returned. A failed call grounds nothing. At each step it asks eight
# questions, about arguments, order, amounts, identity and endings.

# %% tags=["hide-input"]
tables.show(
    pd.DataFrame([(n, what, kind) for n, (what, kind) in rules.RULES.items()],
                 columns=["rule", "is broken by", "which the checker calls"]),
    "The checker's rules, in order of priority. It reports the first one broken at the earliest step.",
    "tjlib.desk.rules, after the paper's Appendix B")

# %% [markdown]
# Table 1 says what each fault does. Its last two columns were measured on this page, by running the
# checker over all the trajectories that we give to the judges.

# %% tags=["hide-input"]
EDITS = {
    "wrong_tool": "looks the order up again instead of reading the policy",
    "hallucinated_argument": "asks for the policy of an invented SKU",
    "skipped_precondition": "leaves out the eligibility check, refunds the order's total",
    "ignored_observation": "refunds the total though the check authorised less",
    "premature_stop": "stops before refund or escalation",
    "unsupported_claim": "adds an invented sentence to the reply",
}
judged = pd.DataFrame({
    "type": [x.failure_type for x in labels], "survival": survival,
    "step": [x.failure_step for x in labels], "verdict": [rules.judge(x) for x in trajectories]})
judged["flagged"] = [v.faulty for v in judged["verdict"]]
judged["typed"] = [v.failure_type == kind for v, kind in zip(judged["verdict"], judged["type"], strict=True)]
grouped = judged.dropna(subset="type").groupby("type")
table1 = grouped.agg(step=("step", "first"), flagged=("flagged", "mean"), typed=("typed", "mean"))
table1.insert(0, "edit", pd.Series(EDITS))
table1.insert(2, "silent or loud", grouped["survival"].agg(lambda s: " and ".join(sorted(set(s)))))
table1["step"] = table1["step"].astype(int)
tables.show(
    table1.loc[list(FAULT_TYPES)].rename_axis("type"),
    "Table 1. The six faults: what each does, the labelled step (counted from 0), silent or loud, "
    "and the share that the checker flags and calls by the right type (1 is best).", built)

# %% tags=["hide-input"]
chapter.number("a3-false", int(judged.loc[judged["type"].isna(), "flagged"].sum()), 0)
never = table1.index[table1["flagged"] == 0]
chapter.text("a3-never", " and ".join(never))
unread = pd.Series([all(c.tool != "get_policy" for s in t.steps for c in s.calls)
                    for t in trajectories])
kinds = judged["type"].fillna("clean")
for name, rows in (("wrong", kinds == "wrong_tool"), ("clean", kinds == "clean"),
                   ("other", ~kinds.isin(["wrong_tool", "clean"]))):
    chapter.text(f"a3-ninth-{name}", f"{unread[rows].sum()} of {rows.sum()}")

# %% [markdown]
# The checker raises {glue:text}`a3-false` {term}`false alarms <false alarm>` on the clean trajectories.
# It never sees {glue:text}`a3-never`. The paper calls both zeros structural: no rule says what a tool is
# meant for, and no rule reads a sentence.
#
# For the invented sentence that is so. For `wrong_tool` it is not. The third point of the procedure says
# to read the policy, and the checker simply has no rule for it. A ninth rule - *nobody ever asked
# for the policy* - flags {glue:text}`a3-ninth-wrong` of the `wrong_tool` trajectories,
# {glue:text}`a3-ninth-other` of the other faults and {glue:text}`a3-ninth-clean` of the clean runs. We
# keep the paper's eight rules so that its numbers can be compared with ours, and put its sentence on
# trial in [the audit](a9_claims).
#
# ## The judged set
#
# {numref}`fig-a3-composition` shows what the judges are given: look for the one bar with two colours.
# Three types of fault leave the outcome intact by construction and two break it.
# `skipped_precondition` does one or the other, because it refunds the order's total without asking: at
# full price that happens to be right, and under a restocking fee it is too much.

# %% mystnb={"figure": {"caption": "The judged set: trajectories by type of fault and by whether the outcome that the customer sees survived.", "name": "fig-a3-composition"}} tags=["hide-input"]
cells = pd.DataFrame({"fault": [x.failure_type or "none" for x in labels], "role": survival})
cells = cells.value_counts().rename("n").reset_index()
order = {name: i for i, name in enumerate(("none", *FAULT_TYPES))}
cells = cells.sort_values(["fault", "role"], key=lambda s: s.map(order) if s.name == "fault" else s)
show(
    judging.composition(cells), name="a3-composition", table=cells,
    alt="Bars of the number of trajectories: clean runs, then each type of fault, coloured by "
        "clean, silent and loud; only one type is split between silent and loud.",
)

# %% tags=["hide-input"]
strata = pd.crosstab(pd.Series([x.stratum for x in labels], name="stratum"), pd.Series(survival))
strata = strata.reindex(world.STRATA)[["clean", "silent", "loud"]]
strata["all"] = strata.sum(axis=1)
chapter.number("a3-restocking", int(strata.loc["restocking", "all"]), 0)
tables.show(strata, "The judged set by kind of case (stratum).", built)

# %% [markdown]
# The cases come in six kinds ({term}`strata <stratum>`), and the set is not balanced over them.
# {glue:text}`a3-restocking` of its trajectories are cases with a restocking fee, because
# `ignored_observation` can live nowhere else and the loud half of `skipped_precondition` cannot either.
# Remember this when a judge looks good on loud faults: it may only be good at restocking cases.
#
# ```{admonition} Where we depart from the release
# :class: note dropdown
# - **Thoughts.** In the released trajectories of four types the edited step also carries a thought of
#   its own, so a judge could spot those faults by their wording. Here the thought depends on the tool
#   alone.
# - **Ids.** The release's ids spell out the fault (`INS-00010-wrong_tool`), and its order numbers count
#   the cases. Ours give nothing away.
# - **Order.** The paper shuffles. We interleave the {term}`design cells <design cell>`, so that the first
#   so many trajectories hold each cell in proportion, and a judge that is stopped early has still seen a
#   stratified sample.
# - **Replies.** The release's *clean* replies promise a payment within five working days, or a call from
#   a specialist. Nothing the agent observed supports either, so by the eighth point of the procedure they
#   are not quite clean. Ours say what the desk said and nothing else.
# - **Texts.** The thoughts, replies and error messages are worded by us. The goal, the procedure, the four
#   invented sentences and the premature answer are the paper's, word for word.
# ```
#
# ## What would change our mind
#
# - A fault labelled silent after which the money or the ticket is wrong. Silent means that these two are
#   right, and no more: a customer who waits for a courier that nobody sent will notice soon enough.
# - A clean trajectory that breaks the procedure. The tests run the oracle over thousands of cases and find
#   none; a single counter-example would undo every false-alarm rate in this book.
# - Evidence that single faults are no guide to real ones. Real faults come in cascades and these come one
#   at a time, so [the results](a6_results) measure what a judge *can* catch, not how often it will have
#   to.
#
# ## Exercises
#
# ```{exercise} Which rule, and where
# :label: a3-rule
# :nonumber:
# Before you look: which of the checker's rules fires for `hallucinated_argument`, and at which step?
# ```

# %%
from tjlib import exercises

rule_and_step = None  # (rule, step)
print(exercises.check("a3-rule", rule_and_step))

# %% [markdown]
# ```{solution-start} a3-rule
# :class: dropdown
# ```

# %%
run = next(run for run, label in stream(given.seed) if label.failure_type == "hallucinated_argument")
for broken in rules.check(run):
    print(f"step {broken.step}, rule {broken.rule}: {broken.message}")

# %% [markdown]
# The invented SKU is an argument of the call that reads the policy. The rule asks where each traced
# argument came from, and it asks before the desk has answered.
#
# ```{solution-end}
# ```
#
# ```{exercise} Faults that find no host
# :label: a3-case
# :nonumber:
# Set `case` to 0, then to 2. Which strips disappear from {numref}`fig-a3-strips`, and why those?
# ```
#
# ```{solution-start} a3-case
# :class: dropdown
# ```

# %%
from tjlib.desk.faults import hosts

for number, some in enumerate(islice(world.instances(given.seed), 3)):
    missing = [kind for kind in FAULT_TYPES if not hosts(some, kind)]
    print(number, some.stratum, "cannot host " + ", ".join(missing) if missing else "can host all six")

# %% [markdown]
# A fault needs something to break. Where the check authorises the full price, there is no observation to
# ignore. Where no refund is due, there is none that could be paid without asking.
#
# ```{solution-end}
# ```
#
# ```{exercise} A second rule
# :label: a3-second
# :nonumber:
# `skipped_precondition` rewrites the amount to the order's total. Suppose it kept the amount. Under a
# restocking fee, which second rule would fire, and what would that do to a table of true types against
# named types?
# ```

# %%
rule = None  # its number
print(exercises.check("a3-second", rule))

# %% [markdown]
# ```{solution-start} a3-second
# :class: dropdown
# ```

# %%
from tjlib.desk import oracle
from tjlib.trace import Trajectory

fee = next(x for x in world.instances(given.seed) if x.stratum == "restocking")
unchecked = [call for call in oracle.calls(fee) if call.tool != "check_eligibility"]
steps_kept, _ = world.replay(fee, unchecked)
for broken in rules.check(Trajectory("kept", fee.goal, steps_kept, "")):
    print(f"step {broken.step}, rule {broken.rule} ({broken.failure_type}): {broken.message}")

# %% [markdown]
# The agent has seen that amount nowhere, so it has no source. The checker reports the first rule broken
# at a step, and the skipped checks would be counted under the name of another fault.
#
# ```{solution-end}
# ```
#
# ```{exercise} A seventh fault
# :label: a3-seventh
# :nonumber:
# Invent a seventh fault that no rule can see. At which step would you label it?
# ```
#
# ```{solution-start} a3-seventh
# :class: dropdown
# ```
# There are many. In this one the policy is read, but only after the money has moved.

# %%
order = (0, 1, 3, 4, 2, 5)  # the oracle's calls, the policy after the refund
late, outcome = world.replay(fee, [oracle.calls(fee)[i] for i in order])
print("tools:", ", ".join(step.calls[0].tool for step in late))
print("rules broken:", len(rules.check(Trajectory("late", fee.goal, late, ""))))
print("outcome as it should be:", outcome == world.expected_outcome(fee))

# %% [markdown]
# Every argument has a source, the check was made, and the amount is right. The label belongs to the step
# that moves the money: up to there the policy could still have been read.
#
# ```{solution-end}
# ```
#
# ```{exercise} Another seed
# :label: a3-silent
# :nonumber:
# Build a set of the same size with seed 8 (`tjlib testbed --seed 8 --out DIR`). How many of its faults
# will be silent? What else will be the same as with seed 7, and what will not?
# ```

# %%
silent_faults = None  # a number of trajectories
print(exercises.check("a3-silent", silent_faults))

# %% [markdown]
# ```{solution-start} a3-silent
# :class: dropdown
# ```

# %%
for other in (7, 8):
    built_labels = judged_set(other)[1]
    split = pd.Series(["clean" if not x.faulty else "silent" if x.outcome_correct else "loud"
                       for x in built_labels]).value_counts().to_dict()
    kinds_of_case = pd.Series([x.stratum for x in built_labels]).value_counts().to_dict()
    print(f"seed {other}: {split}; by kind of case {kinds_of_case}")

# %% [markdown]
# Whatever the design fixes is the same: so many faults of each type, and half of `skipped_precondition`
# silent. So is the mix of kinds of case, because cases are dealt to the kinds in turn and a fault takes
# the next one that can host it. Customers, orders and amounts are drawn anew.
#
# ```{solution-end}
# ```

# %% [markdown]
# **Next:** the trajectories are ready, so somebody has to judge them. [Two judges](a4_judges) are given
# the same model and different prompts.
