"""An agent of known competence whose own uncertainty is as telling as we set it: a control.

Decision: each candidate is the right call with a given probability, else a plausible wrong one,
and its mean -log p is drawn higher for wrong calls by a dial, so that what a signal is worth is
known before anything is measured. Thoughts depend on the tool alone. Refusal: nobody's agent is
imitated; what a selector gains here says that selection works, not that a real model's
probabilities tell right from wrong.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from statistics import NormalDist

import pandas as pd

from tjlib.desk import organic
from tjlib.desk.faults import PREMATURE_ANSWER
from tjlib.desk.oracle import calls
from tjlib.desk.world import THOUGHTS, Instance
from tjlib.guided.candidates import Candidate
from tjlib.guided.selectors import Made, Pick, choose
from tjlib.guided.tree import Point, follow
from tjlib.trace import Call

__all__ = ["BEST", "agent", "episodes", "knowing"]

#: The rule that knows which call is right: what no selector can be above.
BEST = "best"

# Of the mean -log p of a right call: its median in nats, and the spread of its logarithm (ours,
# about what a model of this size has on the desk).
_MEDIAN, _SPREAD = 0.5, 0.4


def _next(solution: Sequence[Call], made: Sequence[Made]) -> Call:
    """Return the first call of the solution that is still to be made."""
    done = [one.step.calls[0] for one in made]
    return next((call for call in solution if call not in done), solution[-1])


def _wrong(case: Instance, solution: Sequence[Call], made: Sequence[Made],
           rng: random.Random) -> Call:
    """Draw a wrong call: the last again, an invented SKU, money nobody checked, an early stop."""
    wanted = _next(solution, made)
    choices = [Call("get_policy", {"sku": f"SKU-GIFT-{rng.randrange(10, 100)}"})]
    choices += [one.step.calls[0] for one in made[-1:]]
    if wanted.tool != "reply":
        choices.append(Call("reply", {"text": PREMATURE_ANSWER}))
    if wanted.tool != "issue_refund":
        choices.append(Call("issue_refund", {"order_id": case.order_id,
                                             "amount_eur": case.total_eur}))
    return rng.choice(choices)


def agent(
    case: Instance, competence: float, telling: float, n: int, seed: int
) -> Callable[[Point, Sequence[Made]], tuple[Candidate, ...]]:
    """Make an agent for one case, to be followed.

    Parameters
    ----------
    case : Instance
    competence : float
        Probability that a candidate is the right call.
    telling : float
        AUROC of a candidate's own uncertainty for being wrong, 0.5 (says nothing) to below 1.
    n : int
        Candidates at a point.
    seed : int

    Returns
    -------
    callable
        As `tjlib.guided.tree.follow` takes it. The same calls and the same noise at every value
        of ``telling``.
    """
    apart = math.sqrt(2) * NormalDist().inv_cdf(telling)
    solution, known = calls(case), {}

    def draw(point: Point, made: Sequence[Made], number: int) -> Candidate:
        rng = random.Random(f"{seed}:{point}:{number}")
        right = rng.random() < competence
        call = _next(solution, made) if right else _wrong(case, solution, made, rng)
        u = _MEDIAN * math.exp(_SPREAD * (rng.gauss(0, 1) + (0 if right else apart)))
        return Candidate(THOUGHTS[call.tool], call, nll=u, thought_nll=u, call_nll=u,
                         content_nll=u)

    def drawn(point: Point, made: Sequence[Made]) -> tuple[Candidate, ...]:
        if point not in known:
            known[point] = tuple(draw(point, made, number) for number in range(n))
        return known[point]

    return drawn


def knowing(
    case: Instance, goal: str, made: Sequence[Made], candidates: Sequence[Candidate]
) -> Pick:
    """Take the right call if it is among the candidates, else the first drawn."""
    wanted = _next(calls(case), made)
    return Pick(next((i for i, one in enumerate(candidates) if one.call == wanted), 0))


def episodes(
    cases: Iterable[Instance], selectors: Sequence[str], telling: Sequence[float], *,
    competence: float = 0.7, n: int = 3, seed: int = 0,
) -> pd.DataFrame:
    """Let selectors drive simulated agents from the goal to the end.

    Parameters
    ----------
    cases : iterable of Instance
    selectors : sequence of str
        Names of `tjlib.guided.selectors`, or `BEST`.
    telling : sequence of float
        As `agent`.
    competence, n, seed : float, int, int
        As `agent`.

    Returns
    -------
    DataFrame
        One row a case, selector and value of the dial: instance_id, telling, selector, solved
        (1: the expected outcome and no rule broken), steps.
    """
    rows = []
    for case in cases:
        for value in telling:
            drawn = agent(case, competence, value, n, seed)
            for name in selectors:
                taking = partial(knowing, case) if name == BEST else partial(choose, name)
                path = follow(drawn, case, 0, taking)
                label = organic.label(case, path.trajectory(case))
                rows.append({"instance_id": case.instance_id, "telling": value, "selector": name,
                             "solved": int(not label.faulty), "steps": len(path.picks)})
    return pd.DataFrame(rows)
