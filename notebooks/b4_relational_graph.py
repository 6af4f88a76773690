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
# # An edge is a vote in a mean
#
# **The claim.** Part A asked somebody to look at a run. Part B asks whether the run says by itself
# that it is going wrong. The paper *From Sequence to Structure*
# ([arXiv 2608.16002](https://arxiv.org/abs/2608.16002)), whose method is called RUPA, turns a run
# into a graph and passes uncertainty along its edges. Taken apart, the graph's term is a weighted
# mean of risk that a step's neighbours hold already. An edge decides how loudly a neighbour is
# heard. It adds no risk of its own, and an edge from a calm neighbour *lowers* the risk of a step.
#
# This chapter goes through the equations until you can work them with a pencil. Whether hearing the
# right neighbours predicts failure is a question for many runs, and for
# [the benchmark](b5_benchmark).
#
# ```{admonition} In one minute
# What reaches a step along its edges is a weighted mean: in {glue:text}`b4-bounded` of the
# {glue:text}`b4-steps` steps of this page's run it lies between the calmest and the riskiest
# neighbour, as a mean must. So an edge can lower a step's risk R as well as raise it; without
# {glue:text}`b4-drop`, R falls at {glue:text}`b4-falls` of the steps and rises at
# {glue:text}`b4-rises`. Averaged over the steps, {glue:text}`b4-own` of R is the step's own
# uncertainty, {glue:text}`b4-goal` the distance of its words from the request,
# {glue:text}`b4-along` risk that came along edges, and {glue:text}`b4-momentum` momentum, a fading
# mean of all risk before it. Giving all {glue:text}`b4-edges` edges between the run's
# {glue:text}`b4-nodes` events the same weight moves R by {glue:text}`b4-equal` at most.
# ```

# %% [markdown]
# ## One run
#
# Unless you bring a log, the run is the one written below: ten steps at the support desk of Part A.
# The agent uses a mistyped address twice, tries two amounts that the desk refuses, and makes a last
# payment that goes through although it is too high. The words are ours. The calls are carried out
# on the desk, so the observations are its own. The number in front of each line is the step's own
# uncertainty, typed in because no model generated these words; a log with token log-probabilities
# brings its own. Edit a line in a live notebook, or bring a log:
#
# ```bash
# tjlib rerun b4_relational_graph -p traces my_runs.jsonl -p pick 3 -p drop feedback
# ```
#
# A log may hold trajectories of this library or of tau-bench; `recorded` stands for the runs of a
# model that come with this book, and one of these is drawn further down. Every constant that the
# paper prints is a parameter (its Tables 5 and 6), and the last lines are ours.

# %% tags=["parameters"]
traces: str = ""  # a log of runs, or recorded (a model's, in this book); empty: the run written below
pick: int = 0  # which run of the log, counted from 0
embedder: str = "jaccard"  # jaccard (shared words), minilm, bge-m3 (the paper's), or a model's folder
drop: str = ""  # what to take away: a relation, nodes as 4>5, one edge as 4>5 feedback; empty: see there
begin: int = 0  # the first step drawn
shown: int = 10  # how many steps are drawn, at most
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
own: float = 0.0  # ours: U of a step whose log has no log-probabilities

# %% tags=["hide-input"]
from tjlib import chapter, material

given = chapter.check(
    globals(),
    pick=lambda value: None if value == 0 or (value > 0 and traces) else (
        "give 0 or more, and traces to pick from"),
    begin=lambda value: None if value >= 0 else "give 0 or more",
    shown=lambda value: None if 1 <= value <= 20 else "give 1 to 20",
    own=lambda value: None if 0 <= value <= 100 else "give 0 to 100",
    **material.RULES,
)

# %% tags=["hide-input"]
import ast
import hashlib
import inspect
import textwrap
from math import inf

import msgspec
import numpy as np
import pandas as pd

from tjlib import store, tables
from tjlib.charts import graph as figures
from tjlib.charts.show import show
from tjlib.desk import rules, world
from tjlib.desk.testbed import judged_set
from tjlib.formats import registry
from tjlib.trace import Call, InputError, Observation, Step, Trajectory
from tjlib.uncertainty import calibrate, example, similarity
from tjlib.uncertainty.equations import Recursion, weigh
from tjlib.uncertainty.evidence import Evidence
from tjlib.uncertainty.graph import build, without
from tjlib.uncertainty.layout import layout, named, parts
from tjlib.uncertainty.methods import METHODS
from tjlib.uncertainty.parameters import RELATIONS, STRENGTHS, Parameters
from tjlib.uncertainty.propagate import propagate
from tjlib.uncertainty.signals import Local, local
from tjlib.uncertainty.text import signatures
from tjlib.uncertainty.variants import RANDOM, VARIANTS, seeded

# %% tags=["hide-input"]
settings = material.settings(given)
alike = similarity.similarity(given.embedder)

# %%
case = next(case for case in world.instances(seed=7) if case.stratum == "restocking")
who, order, price = case.customer.email, case.order_id, case.total_eur
typo = who.replace("@", "@mail.")


def pay(euros):
    """Call for a refund."""
    return Call("issue_refund", {"order_id": order, "amount_eur": euros})


SCRIPT = [
    (0.2, "Find the customer's record.", Call("get_customer", {"email": typo})),
    (0.5, "Find the customer's record once more.", Call("get_customer", {"email": typo})),
    (0.4, "Use the address of the request instead.", Call("get_customer", {"email": who})),
    (0.1, "Look at the order.", Call("lookup_order", {"order_id": order})),
    (0.1, "See which refund policy applies to the item.", Call("get_policy", {"sku": case.sku})),
    (0.3, "Send the money back for the order.", pay(price + 20)),
    (0.7, "Send the money back for the order, a different amount.", pay(price + 10)),
    (0.3, "Verify with a test of the order that a refund is due.",
     Call("check_eligibility", {"order_id": order})),
    (0.2, "Therefore send back the money that is due.", pay(price)),
    (0.1, "Write to the customer.", Call("reply", {"text": "Your refund is on its way."})),
]

# %% tags=["hide-input"]
RECORDED = store.data_folder("recorded") / "agent" / "trajectories.jsonl"
if given.traces:
    log = registry.load(RECORDED if given.traces == "recorded" else given.traces)
    if given.pick >= len(log.runs):
        raise InputError(f"{given.traces}: holds {len(log.runs)} runs, no number {given.pick}; "
                         f"give pick 0 to {len(log.runs) - 1}")
    run = log.runs[given.pick].trajectory
    source = f"run {given.pick} of {given.traces} ({log.format})"
else:
    desk = world.Desk(case)
    steps = tuple(Step(said, (call,), (desk.call(call),), logprobs=(-u,)) for u, said, call in SCRIPT)
    run, source = Trajectory("a run of ours", case.goal, steps, ""), "the run written on this page"
if not run.steps:
    raise InputError(f"{source}: has no step; pick another run")
if given.begin >= len(run.steps):
    raise InputError(f"begin {given.begin}: the run has {len(run.steps)} steps, counted from 0")

# %% [markdown]
# ## The graph
#
# Every event of a run is a node: the request, each step of the agent (what it says and what it
# calls, in one), each observation. An edge runs from an earlier event to a step. Section 4.1 of the
# paper lists the {term}`relations <relation>` that make one:
#
# - Two are about time: **{term}`sequential <sequential relation>`** (the node before) and
#   **{term}`latest <latest relation>`** (the newest request, the newest observation).
# - Three are about words: **{term}`repetition <repetition relation>`** (nearly the same words or
#   calls), **{term}`progression <progression relation>`** (related words, and a cue such as *next*
#   or *verify*) and **{term}`parallel <parallel relation>`** (other words, and a cue such as
#   *instead*).
# - **{term}`Feedback <feedback relation>`** comes from an observation that failed, was empty or
#   contradicts an earlier one.
# - The seventh, **{term}`goal alignment`**, is a number at the step and makes no edge.
#
# {numref}`fig-b4-graph` draws the run, from top to bottom. Point at a step to leave only what flows
# into it, and read its terms; point at an edge to see what made it and what it weighs. The bar
# beside each step shows what its {term}`risk` R is made of: the step's own uncertainty U, the risk
# that came along its edges, the distance Q of its words from the request, and {term}`momentum`, a
# fading mean of all risk before it. The equations for each follow below. Steps are counted from 0;
# drawn are {glue:text}`b4-drawn` of {glue:text}`b4-steps`.

# %% tags=["hide-input"]
halves = [], []
for x, label in zip(*judged_set(seed=7), strict=True):
    side = hashlib.sha256(f"b4:{label.instance_id}".encode()).digest()[0] % 2
    halves[side].append(build(x, settings, alike))
fitted = calibrate.fit(halves[0])
reliability = fitted if given.calibrated else None
weighing = "weighed by the paper's equation 6" if given.calibrated else "every relation weighed alike"
graph = build(run, settings, alike)
u = local(run, median=given.own)
whole = propagate(graph, u, reliability=reliability)
terms, edges = whole.table(), whole.edge_table()
heaviest = edges[edges["step"] == terms["R"].argmax()].nlargest(1, "weight")
gone = given.drop or " ".join(f"{e.source}>{e.target} {e.relation}" for e in heaviest.itertuples())
fewer = without(graph, gone) if gone else graph
U_FROM = f"U from {u.source}" if given.traces else "U typed in"
MADE = f"{source}; {U_FROM}, similarity {graph.similarity}, {weighing}"

# %% mystnb={"figure": {"caption": "One run as a graph, time downwards. Circles: steps of the agent, darker and larger for a higher R. Square: the request. Diamonds: observations, dark if they failed. Lines: relations, wider for a higher weight. Right: what the R of each step is made of. Data: the run chosen at the top of this page.", "name": "fig-b4-graph"}} tags=["hide-input"]
drawn = layout(whole, given.begin, given.shown)
show(
    figures.trajectory(*drawn), name="b4-graph",
    table=drawn.nodes[["node", "name", "text", "U", "Q", "G", "m", "H", "R", "P", "why"]],
    alt="Three lanes, user, agent and environment, with one row an event, joined by lines whose "
        "dashes and colour name the relation; beside each step a stacked bar of the parts of R.",
)

# %% tags=["hide-input"]
listed = drawn.edges[["goes_to", "came_from", "relation", "strength", "age", "reliability", "weight",
                      "share", "part", "evidence"]]
tables.show(
    listed.rename(columns={"goes_to": "into", "came_from": "from", "part": "part of G",
                           "evidence": "because"}).round(3),
    "Every edge that is drawn: its weight by the paper's equation 1, its share of the step's weights, and the "
    "part of G it brings (P of its source, and Q).", MADE, folded=True)

# %% tags=["hide-input"]
R = terms["R"]
made_of = parts(whole)
share = made_of.mean() / made_of.mean().sum() if made_of.to_numpy().sum() else made_of.mean()
for key, value in zip(("own", "along", "goal", "momentum"), share, strict=True):
    chapter.text(f"b4-{key}", f"{value:.0%}")
chapter.text("b4-drawn", f"{drawn.parts['step'].min()} to {drawn.parts['step'].max()}")
chapter.number("b4-nodes", len(graph.kind), 0)
chapter.number("b4-edges", len(edges), 0)
chapter.number("b4-steps", len(R), 0)
chapter.number("b4-relations", edges["relation"].nunique(), 0)
chapter.number("b4-score", whole.score, 3)
chapter.number("b4-peak", int(R.argmax()), 0)
chapter.number("b4-top", R.max(), 3)
if given.traces:
    damage = "For a log of your own nobody has checked the steps."
else:
    wrong = rules.check(run)
    damage = f"The rules of Part A object to {len({found.step for found in wrong})} of the steps."
    if wrong:
        last = max(wrong, key=lambda found: found.step)
        damage += (f" The last is step {last.step}: {last.message}. By R it comes in place "
                   f"{R.rank(ascending=False)[last.step]:.0f} of {len(R)}.")
chapter.text("b4-damage", damage)

# %% [markdown]
# Of the six relations that carry a weight, {glue:text}`b4-relations` occur. R is highest at step
# {glue:text}`b4-peak`, with {glue:text}`b4-top`. {glue:text}`b4-damage` No relation compares one amount with another. The graph hears failures
# that somebody reported, and words that come back. A call that succeeds and should not have been
# made is neither.
#
# ## A run that nobody wrote
#
# The run above has all six relations because we gave it all six. {numref}`fig-b4-real` has a real
# one, driven at the desk by {glue:text}`b4-real-model`. Its log holds the log-probability of every
# token, so here U is measured and not typed in: the mean of $-\log p$ over a step's tokens, in nats
# (natural logarithms). Of the {glue:text}`b4-real-runs` runs recorded with this book it is the
# first with the most different calls. Look at which relations most of its edges belong to.

# %% tags=["hide-input"]
recorded = [item.trajectory for item in registry.load(RECORDED).runs]
real = max(recorded, key=lambda one: len({call for step in one.steps for call in signatures(step)}))
lived = propagate(build(real, settings, alike), local(real, median=given.own), reliability=reliability)
pictured = layout(lived, 0, given.shown)
heard = lived.edge_table()["relation"].value_counts().reindex(RELATIONS, fill_value=0)
seen = lived.graph.uncertainty[lived.graph.kind == 2]
broke = rules.check(real)[0].step if rules.check(real) else None
chapter.text("b4-real-model", "SmolLM2, a model of 135 million parameters")
chapter.number("b4-real-runs", len(recorded), 0)
chapter.number("b4-real-steps", len(lived.r), 0)
chapter.text("b4-real-failed", f"{(seen >= 1).sum()} of {len(seen)}")
chapter.text("b4-real-heard", ", ".join(f"{count} of {name}" for name, count in heard.items()))
chapter.number("b4-real-low", lived.u.min(), 2)
chapter.number("b4-real-high", lived.u.max(), 2)
chapter.text("b4-real-along", f"{(parts(lived).mean() / parts(lived).mean().sum()).iloc[1]:.0%}")
chapter.text("b4-real-broke", "The rules object to no step." if broke is None else
             f"The rules of Part A object first to step {broke}. By R it comes in place "
             f"{pd.Series(lived.r).rank(ascending=False)[broke]:.0f} of {len(lived.r)}.")

# %% mystnb={"figure": {"caption": "A model's own run at the desk, drawn as the figure before. U is measured on its tokens. Data: data/recorded/agent, the first of the runs with the most different calls.", "name": "fig-b4-real"}} tags=["hide-input"]
show(
    figures.trajectory(*pictured), name="b4-real",
    table=pictured.nodes[["node", "name", "text", "U", "Q", "G", "m", "H", "R", "P", "why"]],
    alt="Three lanes, user, agent and environment, with one row an event and lines that name the "
        "relation; nearly every step is joined to those before it by repetition and to every "
        "failed observation by feedback. Beside each step a stacked bar of the parts of R.",
)

# %% [markdown]
# Its {glue:text}`b4-real-steps` steps have a U between {glue:text}`b4-real-low` and
# {glue:text}`b4-real-high` nats a token. Of its observations, {glue:text}`b4-real-failed` failed.
# Its edges are {glue:text}`b4-real-heard`, and what came along them is {glue:text}`b4-real-along`
# of the mean R. {glue:text}`b4-real-broke` A step is scored before its own observation exists, so a
# first mistake is heard only by the steps after it. And where every neighbour failed, it makes
# little difference which of them is heard.
#
# ## The equations, next to the code that is them
#
# Each equation is followed by the lines of this library that compute it, printed from the source as
# it ran on this page, without help texts and type hints.

# %% tags=["hide-input"]
def code(function):
    """A function's source without its help text and type hints."""
    own = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    own.body, own.returns = own.body[isinstance(own.body[0], ast.Expr):], None
    for argument in (*own.args.args, *own.args.kwonlyargs):
        argument.annotation = None
    return ast.unparse(own)

# %% [markdown]
# **The weight of an edge** from node $i$ to step $t$ is how reliable its relation $\tau$ is, times
# how strongly it holds, times a factor that fades with age:
#
# ```{math}
# :label: eq-b4-weight
# w_{it} = \rho_{\tau}\,\tilde r_{it}\,\delta^{\mathrm{age}(i,t)-1}
# ```
#
# Age counts nodes, so an edge from the node before has age 1 and does not fade. Its strength
# $\tilde r$ is Table 6's number for the relation, times a match between 0 and 1.

# %% tags=["hide-input"]
print(code(Parameters.strength_of), code(Parameters.decay), code(weigh), sep="\n\n")

# %% [markdown]
# **The distance from the goal** is how far the step's words $y_t$ are from the request $x$:
#
# ```{math}
# :label: eq-b4-goal
# Q_t = 1 - S(y_t, x)
# ```
#
# Where shared words serve as the similarity $S$, it is the share of the request's words that occur
# in the step. A short step has few of them, whatever it does.

# %% tags=["hide-input"]
print(code(type(alike).coverage))

# %% [markdown]
# **The graph's term** is the mean of what the neighbours pass on, $P_i$, plus that distance:
#
# ```{math}
# :label: eq-b4-graph
# G_t = \frac{\sum_i w_{it}\,(P_i + Q_t)}{\sum_i w_{it} + \epsilon}
# ```
#
# **Momentum** is a fading mean over all that came before, with no edge involved, and the step's
# history $H$ joins the two:
#
# ```{math}
# :label: eq-b4-history
# m_t = \frac{\sum_{k<t} \gamma^{t-k}\,P_k}{\sum_{k<t} \gamma^{t-k} + \epsilon},
# \qquad H_t = \eta_g\,G_t + \eta_m\,m_t
# ```
#
# **The risk of a step** adds its own uncertainty, and is what the step passes on:
#
# ```{math}
# :label: eq-b4-risk
# R_t = \lambda_u\,U_t + \lambda_h\,H_t, \qquad P_t = \min(R_t, P_{\max})
# ```
#
# An observation or a request passes on its U. One function is all three equations:

# %% tags=["hide-input"]
print(code(Recursion.agent))

# %% [markdown]
# **The {term}`reliability` of a relation** is learnt from runs that nobody has labelled. The more a
# relation's strength varies from run to run, the more it counts.
#
# ```{math}
# :label: eq-b4-reliability
# q_\tau = \frac{\mathrm{Var}(\tilde r_\tau)}{\mathrm{E}(\tilde r_\tau) + \epsilon},
# \qquad \rho_\tau = K\,\frac{\exp(q_\tau / T)}{\sum_{\tau'} \exp(q_{\tau'} / T)}
# ```
#
# $K$ is the number of relations, so that their $\rho$ have a mean of 1.

# %% tags=["hide-input"]
print(code(calibrate.reliabilities))

# %% [markdown]
# A program must decide much that the paper leaves open. The table says what is printed and how we
# read the rest:

# %% tags=["hide-input"]
READ = [
    ("1", "strengths; delta; window", "printed (Tables 5, 6)", "as printed; the window counts steps, age counts nodes"),
    ("1", "whether Table 6 is a factor or a cap", "open", "a factor: strength = Table 6 x match; as a constant it would leave the paper's equation 6 nothing to vary"),
    ("1", "latest: of the user, of the environment", "'environment or user'", "both (latest='user' as in the authors' code, or 'env')"),
    ("1", "one or several edges between two nodes", "open", "several, one a relation (pairs='single' keeps the strongest)"),
    ("1", "when two texts are alike", "no threshold printed", "for shared words those of the authors' code, for embeddings ours"),
    ("1", "cue words", "examples only", "those named, and their inflections"),
    ("2", "what S is", "a similarity function", "cosine of embeddings, cut at 0; without an embedder the share of the request's words"),
    ("3", "what P is", "'propagated uncertainty'", "R of a step, U of an observation or a request"),
    ("3", "why Q has an index i", "open", "it depends on the step alone, so it leaves the sum"),
    ("4", "over which nodes", "k < t", "all earlier nodes (momentum='assistant': steps only); no window"),
    ("5", "a cap on what is passed on", "not printed", "1.5, as in the authors' code; 0 on this page is the paper as printed"),
    ("5", "from steps to a run", "'aggregates'", "the mean over steps (aggregate: max, last, top10)"),
    ("5", "the step's own observation", "part of its text (A.1)", "left out: it does not exist when the step is scored"),
    ("6", "variance over what; T", "open", "run means, over runs (population='edge' pools edges); T = 1"),
    ("-", "U of observations", "kinds named", "1 failed or empty, .8 only numbers, .5 contradicts an earlier answer, else 0"),
]
tables.show(pd.DataFrame(READ, columns=["equation", "point", "published", "here"]),
            "What the paper prints and how this library reads the rest. Names in brackets are "
            "options of tjlib.uncertainty.parameters.Parameters.",
            "section 4 and Appendix A of the paper; readings ours")

# %% [markdown]
# ## The claim, on every step
#
# In {eq}`eq-b4-graph` Q can be taken out of the sum, because it does not depend on the neighbour.
# What stays is a weighted mean of $P$, so $G_t - Q_t$ cannot leave the range of the neighbours'
# $P$, whatever the weights. (A step without any edge has a G of 0, Q included; only the first step
# of a run without a request is one.) The next cell checks this step by step. Its second check
# recomputes every R from the table of edges under {numref}`fig-b4-graph` alone, and that is what
# makes the table an explanation.

# %%
carriers = edges.assign(P=whole.passed[edges["source"]])[edges["weight"] > 0]
held = carriers.groupby("step")["P"].agg(["min", "max"])
carried = (terms["G"] - terms["Q"]).reindex(held.index)
inside = carried.between(held["min"] - 1e-6, held["max"] + 1e-6)
G = edges.groupby("step")["part"].sum().reindex(terms.index, fill_value=0.0)
again = (settings.lam_u * terms["U"]
         + settings.lam_h * (settings.eta_g * G + settings.eta_m * terms["m"]))
print(f"G - Q inside the neighbours' range: {inside.sum()} of {len(inside)} steps with an edge")
print(f"R from the edges, largest difference: {(again - R).abs().max():.0e}")

# %% tags=["hide-input"]
equal = propagate(graph, u, parameters=msgspec.structs.replace(
    settings, delta=1.0, strengths=dict.fromkeys(RELATIONS, 1.0)))
nothing = propagate(graph._replace(uncertainty=0 * graph.uncertainty), Local((0.0,) * len(R), "constant"),
                    reliability=reliability, variant="no_goal")
chapter.number("b4-bounded", inside.sum() + len(R) - len(inside), 0)
chapter.number("b4-equal", np.abs(equal.r - whole.r).max(), 3)
chapter.text("b4-equal-peak", "the same step" if equal.r.argmax() == whole.r.argmax() else
             f"step {equal.r.argmax()} instead")
chapter.number("b4-nothing", nothing.r.max(), 3)

# %% [markdown]
# There are two more ways to see it. Keep the edges but set every weight to 1, without strength,
# decay or reliability: R moves by {glue:text}`b4-equal` at most and is highest at
# {glue:text}`b4-equal-peak`. Or set every U to 0, of steps and of observations, and leave Q out:
# the highest R of this run, edges and all, is {glue:text}`b4-nothing`.
#
# ## Five nodes by hand
#
# Take a request, a step, an observation that failed, and two more steps. The numbers are made up
# and small enough for paper. First come plain loops; $\epsilon$ is too small to show in six digits
# and is left out.

# %%
q = {name: example.VARIANCE[name] / example.MEAN[name] for name in RELATIONS}
total = sum(np.exp(list(q.values())))
rho = {name: 6 * np.exp(q[name]) / total for name in RELATIONS}
P, hand = [], []
for t, kind in enumerate(example.KIND):
    if kind != "assistant":
        P.append(example.U[t])
        continue
    into = [(i, rho[name] * STRENGTHS[name] * match * 0.8 ** (t - i - 1))
            for i, target, name, match in example.EDGES if target == t]
    G_t = sum(w * (P[i] + example.Q[t]) for i, w in into) / sum(w for _, w in into)
    m_t = sum(0.75 ** (t - k) * P[k] for k in range(t)) / sum(0.75 ** (t - k) for k in range(t))
    hand.append((t, G_t, m_t, 0.7 * G_t + 0.3 * m_t, example.U[t] + 0.7 * G_t + 0.3 * m_t))
    P.append(min(hand[-1][-1], 1.5))

# %%
def solved(variant="full", **changed):
    """The example through the library."""
    return propagate(example.graph(Parameters(**changed)), example.local(),
                     reliability=example.reliability(), variant=variant)


theirs = solved().table()[["node", "G", "m", "H", "R"]].to_numpy()
beside = pd.DataFrame(
    [(f"node {int(mine[0])}", name, f"{a:.6f}", f"{b:.6f}")
     for mine, ours in zip(hand, theirs, strict=True)
     for name, a, b in zip("GmHR", mine[1:], ours[1:], strict=True)],
    columns=["step", "term", "by hand", "tjlib"])

# %% tags=["hide-input"]
chapter.number("b4-same", (beside["by hand"] == beside["tjlib"]).sum(), 0)
chapter.number("b4-terms", len(beside), 0)
tables.show(beside, "The worked example, by hand and by the library.", "tjlib.uncertainty.example")

# %% [markdown]
# Of {glue:text}`b4-terms` numbers, {glue:text}`b4-same` agree to six digits. The same five nodes
# show how much a reading matters:

# %% tags=["hide-input"]
OTHER = {"as above": {}, "strongest edge of a pair only": {"pairs": "single"},
         "momentum over steps only": {"momentum": "assistant"}, "no edge": {"variant": "no_graph"},
         "cap at 1": {"p_max": 1.0}, "no cap": {"p_max": None}}
worked = {name: solved(**change) for name, change in OTHER.items()}
tables.show(pd.DataFrame(
    [(name, *(f"{r:.6f}" for r in done.r), f"{done.score:.6f}") for name, done in worked.items()],
    columns=["reading", "R at node 1", "R at node 3", "R at node 4", "score (mean R)"]),
    "The worked example under other readings (higher: likelier to fail).", "tjlib.uncertainty.example")

# %% [markdown]
# ## Reliability, without a label
#
# Equation {eq}`eq-b4-reliability` needs runs and no outcomes. We take the testbed of Part A, split
# by case so that no case is on both sides, fit on one half and look at the other. The fit takes
# graphs, and a graph has no place for a label.

# %% tags=["hide-input"]
second = calibrate.fit(halves[1])
columns = {"mean": fitted.mean, "variance": fitted.variance, "q": fitted.q, "rho": fitted.rho,
           "rho, other half": second.rho}
tables.show(pd.DataFrame(
    [(name, *(f"{column[name]:.4f}" for column in columns.values())) for name in RELATIONS],
    columns=["relation", *columns]),
    "Mean and variance of each relation's strength over runs (a run's is the mean over its steps of "
    "the strongest edge), and what the paper's equation 6 makes of them.",
    f"the testbed built on this page, {len(halves[0])} and {len(halves[1])} trajectories by case; "
    f"similarity {graph.similarity}")

# %% tags=["hide-input"]
flat_q = [name for name in RELATIONS if fitted.q[name] < 1e-9]
chapter.text("b4-flat-q", ", ".join(flat_q) or "none")
chapter.number("b4-halves", max(abs(fitted.rho[n] - second.rho[n]) for n in RELATIONS), 3)
heat = []
for warmth in (0.25, 0.5, 1.0, 2.0, inf):
    rhos = calibrate.reliabilities(fitted.mean, fitted.variance, warmth)[1]
    done = propagate(graph, u, reliability=msgspec.structs.replace(fitted, rho=rhos))
    heat.append((warmth, max(rhos.values()) / min(rhos.values()), done.score, done.r.argmax()))
mild = pd.DataFrame(heat, columns=["T", "largest over smallest rho", "score of the run", "R is highest at step"])
chapter.number("b4-ratio", mild.set_index("T").loc[1.0].iloc[0], 2)
chapter.number("b4-ratio-cold", mild.set_index("T").loc[0.25].iloc[0], 2)
chapter.number("b4-limit", float(np.exp(max(settings.strengths.values()))), 2)
tables.show(mild.assign(**{name: mild[name].map("{:.3f}".format) for name in mild.columns[1:3]}), "What the temperature does, with the mean and variance of the table above.",
            f"the testbed, and {source}")

# %% [markdown]
# A relation that every step of every run has, or none, does not vary and gets a q of 0. Here that
# is {glue:text}`b4-flat-q`. (The testbed's agent says the same sentence with the same call, so cue
# words find little.) The two halves agree on every $\rho$ within {glue:text}`b4-halves`.
#
# At $T = 1$ the largest $\rho$ is {glue:text}`b4-ratio` times the smallest. There is little room
# for more: a strength is at most its number in Table 6, so q is at most that, and at $T = 1$ no two
# $\rho$ can differ by more than a factor of {glue:text}`b4-limit`. At $T = 0.25$ the ratio is
# {glue:text}`b4-ratio-cold`. The paper prints no T.
#
# ## Take an edge away
#
# Now take away one edge: the heaviest into the step of the highest R, unless `drop` names another.
# Before you look, what does R do without {glue:text}`b4-drop`? {numref}`fig-b4-drop` shows the run
# with all its edges as rings and without what is gone as dots. A dot in its ring has not moved. A
# step that lost no edge can change too, because its neighbours did.

# %% tags=["hide-input"]
less = propagate(fewer, u, reliability=reliability)
change = less.r - whole.r
if gone in RELATIONS:
    dropped = f"the relation {gone}"
elif given.drop:
    dropped = f"the edges {gone}"
else:
    dropped = "".join(
        f"the edge {e.relation} from {named(e.source_kind, e.source_step)} to step {e.step}"
        for e in heaviest.itertuples()) or "an edge (this run has none)"
chapter.text("b4-drop", dropped)
chapter.text("b4-why", "" if given.drop else "".join(
    f"The source of that edge passes on {whole.passed[e.source]:.2f}; what its step heard on "
    f"average is G - Q = {terms['G'][e.step] - terms['Q'][e.step]:.2f}."
    for e in heaviest.itertuples()))
chapter.number("b4-gone", len(graph.edges.source) - len(fewer.edges.source), 0)
chapter.number("b4-falls", (change < -5e-7).sum(), 0)
chapter.number("b4-rises", (change > 5e-7).sum(), 0)
chapter.number("b4-change", change[np.abs(change).argmax()], 3)
chapter.number("b4-change-at", int(np.abs(change).argmax()), 0)

# %% mystnb={"figure": {"caption": "R of each step with all edges (ring) and without those taken away (dot). Data: the run chosen at the top of this page.", "name": "fig-b4-drop"}} tags=["hide-input"]
both = pd.DataFrame({"step": range(len(R)), "whole": whole.r, "less": less.r, "change": change})
window_shown = both[both["step"].between(given.begin, given.begin + given.shown - 1)]
show(figures.before_after(window_shown), name="b4-drop", table=window_shown,
     alt="One row a step: a ring for R with all edges, a dot for R without some, and a line between "
         "the two.")

# %% tags=["hide-input"]
rows = []
for name in RELATIONS:
    moved = propagate(without(graph, name), u, reliability=reliability).r - whole.r
    rows.append((name, int((edges["relation"] == name).sum()), int((moved < -5e-7).sum()),
                 int((moved > 5e-7).sum()), f"{moved.mean():+.3f}"))
each = pd.DataFrame(rows, columns=["without", "edges", "R falls at", "R rises at", "change of the score"])
raised = [row[0] for row in rows if float(row[-1]) > 0]
chapter.text("b4-raise", ", ".join(raised) or "none")
tables.show(each, "Every relation taken away in turn: number of edges, steps at which R falls and "
            "rises, change of the mean R.", MADE)

# %% [markdown]
# Edges gone: {glue:text}`b4-gone`. The largest change is {glue:text}`b4-change`, at step
# {glue:text}`b4-change-at`. {glue:text}`b4-why` A neighbour below that average pulls R down even if
# it is a failure, and one above it pulls R up.
#
# In the table each relation goes in turn. The relations whose removal *raises* the score:
# {glue:text}`b4-raise`. That is the claim again. An edge from the request, or from an observation
# that went well, votes 0 in the mean; take its vote away, and the others are heard better.
#
# ## What propagation changed
#
# Beside any such score belongs a {term}`control`, and here it is `flat`: the mean distance from the
# goal plus the mean uncertainty of observations. These are RUPA's inputs less the steps' own U, which
# `flat_u` adds; there is no graph, no recursion and no momentum. On a single run a score can only be
# described. The table has the variants of the paper's Table 4 and ours, the random ones averaged over 20 draws.

# %% tags=["hide-input"]
def risks(name):
    """R of each step under a variant, a random one averaged."""
    draws = range(20) if name in RANDOM else [0]
    return np.mean([propagate(graph, u, reliability=reliability, variant=name,
                              rng=seeded(draw, run.trajectory_id, 0, name)).r for draw in draws], axis=0)


LINES = ("full", "no_graph", "no_propagation", "local_only", "drop50", "random_graph",
         "sequential_only", "no_goal", "no_momentum")
tried = {name: risks(name) for name in LINES}
tables.show(pd.DataFrame([
    (name, VARIANTS[name], f"{r.mean():.3f}", int(r.argmax()),
     f"{pd.Series(r).corr(R, method='spearman'):.2f}" if np.ptp(r) and np.ptp(R) else "undefined: all alike")
    for name, r in tried.items()],
    columns=["variant", "what it is", "score", "R is highest at step", "rank correlation with full"]),
    "The same run with parts of the method taken away.", MADE)

# %% tags=["hide-input"]
evidence = Evidence(run, local=u, similarity=alike, parameters=settings, reliability=reliability)
chapter.number("b4-flat", METHODS["flat"](evidence).value, 3)
env = graph.uncertainty * (graph.kind == 2)
newest = [next((env[i] for i in range(node - 1, -1, -1) if graph.kind[i] == 2), 0.0) for node in graph.agent]
simple = terms["U"] + terms["Q"] + newest
varies = np.ptp(simple) and np.ptp(R)
chapter.number("b4-order", simple.corr(R, method="spearman") if varies else None, 2)
chapter.number("b4-simple-peak", int(simple.argmax()), 0)

# %% [markdown]
# `flat` gives this run {glue:text}`b4-flat`, and the full method {glue:text}`b4-score`: two scales,
# which no single run can compare. But one run does show how much of the order of its steps was in
# the inputs already. For each step, add up its own U, its Q and the U of the newest observation
# before it. That sum is highest at step {glue:text}`b4-simple-peak`, and R at step
# {glue:text}`b4-peak`. Their rank correlation over the steps is {glue:text}`b4-order`, where 1
# means the same order. Whether what is left predicts failure takes many runs whose outcome is
# known.
#
# ## A mean that feeds itself
#
# The constants of the paper have $\eta_g + \eta_m = 1$ and $\lambda_h = 1$, so a step passes on the
# mean that it heard, plus its own U and a share of its Q. Risk builds up on the way, and only nodes
# that pass on something bounded hold it down: the observations and the request.
# {numref}`fig-b4-growth` runs a course in which nothing happens: each step has U = 0.3 and Q = 0.6
# and no words, so that only sequential and latest edges arise. It is drawn with and without an
# observation after each step, and with and without the cap. Look at where a line keeps rising.

# %% tags=["hide-input"]
LONG = 60


def uneventful(observed, cap):
    """R over a run in which nothing happens."""
    seen = (Observation(True, {"content": "a quiet answer"}),) * observed
    course = Trajectory("uneventful", "a request", (Step("", (), seen),) * LONG, "")
    bare = build(course, msgspec.structs.replace(settings, p_max=cap))
    return propagate(bare._replace(q=np.full(LONG, 0.6)), Local((0.3,) * LONG, "constant")).r


CAPS = {"no cap, as printed": None, "cap 1.5": 1.5}
growing = {(where, name): uneventful(seen, cap) for where, seen in (
    ("no observation", 0), ("one after each step", 1)) for name, cap in CAPS.items()}

# %% mystnb={"figure": {"caption": "R over a run in which nothing happens, by whether steps are observed and whether what they pass on is capped. Data: computed on this page, U = 0.3 and Q = 0.6 at every step.", "name": "fig-b4-growth"}} tags=["hide-input"]
lines = pd.concat([pd.DataFrame({"panel": where, "curve": name, "step": range(LONG), "R": r})
                   for (where, name), r in growing.items()])
show(figures.growth(lines), name="b4-growth",
     table=lines[lines["step"].isin([0, 9, 19, 39, LONG - 1])],
     alt="Two panels of R against the step: without observations a straight rising line unless "
         "capped, with observations a short rise and then a level line.")

# %% tags=["hide-input"]
free, _, seen_free, _ = growing.values()
chapter.number("b4-long", LONG, 0)
chapter.number("b4-free", free[-1], 2)
chapter.number("b4-capped", growing[("no observation", "cap 1.5")][-1], 2)
chapter.number("b4-slope", free[-1] - free[-2], 3)
chapter.number("b4-slope-middle", free[LONG // 2] - free[LONG // 2 - 1], 3)
chapter.number("b4-seen", seen_free[-1], 2)
chapter.number("b4-seen-first", seen_free[0], 2)
for key, course in (("free", free), ("seen", seen_free)):
    chapter.number(f"b4-{key}-short", course[:5].mean(), 2)
    chapter.number(f"b4-{key}-whole", course.mean(), 2)
chapter.number("b4-settled", int(np.argmax(np.abs(seen_free - seen_free[-1]) < 0.01)), 0)

# %% [markdown]
# Without observations and without a cap, R after {glue:text}`b4-long` steps is {glue:text}`b4-free`
# and still rises by {glue:text}`b4-slope` a step (by {glue:text}`b4-slope-middle` halfway): it
# counts steps. A cap of 1.5 stops it at {glue:text}`b4-capped`, which is above the cap because only
# what a step passes on, its $P$, is capped. With an observation after each step, R goes from
# {glue:text}`b4-seen-first` to {glue:text}`b4-seen` and is within 0.01 of it by step
# {glue:text}`b4-settled`.
#
# A run's score is the mean over its steps, so length leaks into it. The same course scores
# {glue:text}`b4-seen-short` if it ends after five steps and {glue:text}`b4-seen-whole` if it goes
# on to the end, although nothing happened in either. Without observations and cap it is
# {glue:text}`b4-free-short` and {glue:text}`b4-free-whole`. A benchmark has to hold length fixed.
#
# ## What would change our mind
#
# - A step whose $G - Q$ lies outside the range of its neighbours' $P$, on any run. An edge would
#   then add risk and not only pass it on.
# - Runs on which the weights move the order of steps far from what U, Q and the newest observation
#   give, *and* the new order points at what went wrong. You can look for the first of these here.
# - The authors' values for the temperature and the cap, if they are far from ours.
#
# %% [markdown]
# %% [markdown]
# ## Exercises
#
# ```{exercise} Without latest
# :label: b4-latest
# :nonumber:
# Predict which way R goes without *latest*, and at how many steps. Then look at the table above,
# or rerun with `-p drop latest`.
# ```
#
# ```{solution-start} b4-latest
# :class: dropdown
# ```

# %%
deaf = propagate(without(graph, "latest"), u, reliability=reliability)
print(f"R rises at {(deaf.r > whole.r + 5e-7).sum()} of {len(whole.r)} steps")

# %% [markdown]
# Each step has such an edge from the request, which passes on 0, and an observation that went well
# passes on 0 too. Both pull the mean down, so without them R tends to rise.
#
# ```{solution-end}
# ```
#
# ```{exercise} Edges that never fade
# :label: b4-ageless
# :nonumber:
# Set `delta` to 1, so that an edge never fades. Does step 5 rise or fall? Which step moves most?
# ```
#
# ```{solution-start} b4-ageless
# :class: dropdown
# ```

# %%
ageless = propagate(graph, u, reliability=reliability,
                    parameters=msgspec.structs.replace(settings, delta=1.0))
moved = ageless.r - whole.r
if len(moved) > 5:
    print(f"step 5 goes from {whole.r[5]:.3f} to {ageless.r[5]:.3f}")
print(f"step {np.abs(moved).argmax()} moves most, by {moved[np.abs(moved).argmax()]:+.3f}")

# %% [markdown]
# Old failures keep their full weight, and so does the request. Which of the two wins depends on how
# many of them the window holds.
#
# ```{solution-end}
# ```
#
# ```{exercise} A lower cap
# :label: b4-cap
# :nonumber:
# In the worked example, cap what is passed on at 1. Work out R at node 4 by hand: only one P
# changes.
# ```

# %%
from tjlib import exercises

r_at_four = None  # a number, to three digits
print(exercises.check("b4-cap", r_at_four))

# %% [markdown]
# ```{solution-start} b4-cap
# :class: dropdown
# ```
#
# Node 3 passes on 1 and no longer its R, in {eq}`eq-b4-graph` and in {eq}`eq-b4-history`.

# %%
print(f"R at node 4 is {worked['cap at 1'].r[2]:.6f}, and was {worked['as above'].r[2]:.6f}")

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} One edge less
# :label: b4-edge
# :nonumber:
# In the worked example, take the repetition edge from node 3 to node 4 away. What is R at node 4? And
# which way does it go if you take the parallel edge from node 1 to node 4 instead?
# ```

# %%
r_at_four = None  # a number, to three digits
print(exercises.check("b4-edge", r_at_four))

# %% [markdown]
# ```{solution-start} b4-edge
# :class: dropdown
# ```

# %%
print(f"with both: {worked['as above'].r[2]:.6f}")
for edge in ("3>4 repetition", "1>4 parallel"):
    less = propagate(without(example.graph(), edge), example.local(),
                     reliability=example.reliability())
    print(f"without {edge}: {less.r[2]:.6f}")

# %% [markdown]
# Compare the P of the source with the step's G - Q: node 3 holds more than this mean, so R falls
# without it; node 1 holds less, so R rises.
#
# ```{solution-end}
# ```
#
# ```{exercise} The last call refused
# :label: b4-refused
# :nonumber:
# Suppose that the desk had refused the last call of the run, and not a word of the run were different.
# Which R would change? And which, if it had refused the call of step 4 instead?
# ```
#
# ```{solution-start} b4-refused
# :class: dropdown
# ```

# %%
for at in (len(run.steps) - 1, 4):
    if at < len(run.steps) and run.steps[at].observations:
        no = msgspec.structs.replace(run.steps[at], observations=(Observation(False, error="refused"),))
        other = msgspec.structs.replace(run, steps=(*run.steps[:at], no, *run.steps[at + 1:]))
        then = propagate(build(other, settings, alike), u, reliability=reliability)
        moved = np.flatnonzero(np.abs(then.r - whole.r) > 5e-7) if len(then.r) == len(whole.r) else []
        print(f"refused at step {at}: R changes at steps", ", ".join(map(str, moved)) or "(none)")

# %% [markdown]
# A step is scored before its own observation exists, so a refusal can only be heard by the steps after
# it. No step follows the last one.
#
# ```{solution-end}
# ```
#
# ```{exercise} Without the cap
# :label: b4-free
# :nonumber:
# Rerun with `-p p_max 0`, which takes the cap away, and compare the scores. Then with a log in which the
# agent only thinks. Which of the two runs would you call risky, and which long?
# ```
#
# ```{solution-start} b4-free
# :class: dropdown
# ```

# %%
free = propagate(graph, u, reliability=reliability,
                 parameters=msgspec.structs.replace(settings, p_max=None))
print(f"mean R with the cap: {whole.r.mean():.3f}; without: {free.r.mean():.3f}")

# %% [markdown]
# Where every step is observed, what observations pass on is bounded, and the cap has little to do.
# An agent that only thinks has no observation to hold its R down, so without a cap R climbs with
# each step ({numref}`fig-b4-growth`). A high score there says that the run was long.
#
# ```{solution-end}
# ```

# %% [markdown]
# **Next:** one run can show what a score is made of, and only many can show what it is worth.
# [The benchmark](b5_benchmark) asks whether it beats counting steps.
