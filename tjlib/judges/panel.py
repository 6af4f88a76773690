"""The judge designs: what each is shown, what it is asked, how votes are counted.

Decision: a judge is data (a view, a task, a number of votes), so the designs
differ in nothing that is not written in one line of `DESIGNS`; the rule
engine stands beside them as the judge without a model. Refusal: a vote that
failed is no vote for clean. The paper counts an unreadable reply as clean at
.5; whoever wants its tables can do so from the status.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from tjlib.desk import rules
from tjlib.judges import answer, prompts
from tjlib.judges.asked import described
from tjlib.judges.procedure import DESK, Procedure
from tjlib.judges.protocol import Model, Options, Reply
from tjlib.trace import InputError, Trajectory, Verdict

__all__ = ["CELLS", "DESIGNS", "RULES", "Design", "Judge", "vote"]


class Design(msgspec.Struct, frozen=True):
    """What a judge is shown and asked, and how often.

    With several ``votes`` it samples at ``temperature``, with seeds counted
    up from the options' own, and the strict majority decides.
    """

    prefix: str
    view: str
    task: str
    votes: int = 1
    temperature: float | None = None


#: By the name the command line uses. The ensemble is the paper's: k = 3, T = .7 (appendix D).
DESIGNS = {
    "outcome": Design("outcome", "reply", "reply"),
    "step": Design("step", "steps", "steps"),
    "ensemble": Design("selfcons3", "steps", "steps", votes=3, temperature=0.7),
    "reply-steps": Design("reply-steps", "reply", "steps"),
    "steps-reply": Design("steps-reply", "steps", "reply"),
}
#: View x task -> design. The paper's two judges are two of the four cells; they are not run twice.
CELLS = {(d.view, d.task): name for name, d in DESIGNS.items() if d.votes == 1}


class Judge:
    """One design with one model.

    Parameters
    ----------
    design : str
        A name of `DESIGNS`.
    model : Model
    order : {"paper", "shared_first"}
    options : Options, optional
        Default the model's own, which for a server are the paper's.
    procedure : Procedure
        What it is told of the desk; default the refund desk's.

    Raises
    ------
    InputError
        For a design or order there is not.
    """

    def __init__(
        self, design: str, model: Model, *, order: str = "paper", options: Options | None = None,
        procedure: Procedure = DESK,
    ) -> None:
        if design not in DESIGNS:
            raise InputError(f"no judge {design!r}; the judges are {', '.join(DESIGNS)}")
        self.design = DESIGNS[design]
        self.model = model
        self.order = order
        self.procedure = procedure
        self.options = options or model.options
        if self.design.temperature is not None:
            self.options = msgspec.structs.replace(
                self.options, temperature=self.design.temperature)
        #: As in the release: ``step:qwen2.5:14b``, ``selfcons3:qwen2.5:14b``.
        self.name = f"{self.design.prefix}:{model.name}"
        self._head = prompts.head(self.design.view, self.design.task, order, procedure)
        self._schema = prompts.schema(
            self.design.task, self.options.reasoning_chars, procedure.types)

    def identity(self) -> dict[str, object]:
        """Say what makes this judge's verdicts what they are, for the record of a run.

        Returns
        -------
        dict
            Fields of `tjlib.provenance.Run`; its options name a procedure other
            than the refund desk's, with its digest.

        Raises
        ------
        InputError
            If the model cannot be reached.
        """
        asked = prompts.fingerprint(self.design.view, self.design.task, self.order,
                                    self.options.reasoning_chars, self.procedure)
        told = self.procedure
        more = {} if told == DESK else {"procedure": f"{told.name} {told.digest}"}
        seeds = range(self.options.seed, self.options.seed + self.design.votes)
        return described(self.name, self.model, self.options, asked, self.order, seed=list(seeds),
                         **more)

    def judge(self, trajectory: Trajectory) -> Verdict:
        """Judge one trajectory; never raises.

        Parameters
        ----------
        trajectory : Trajectory

        Returns
        -------
        Verdict
        """
        votes: list[Verdict] = []
        for seed in range(self.options.seed, self.options.seed + self.design.votes):
            votes.append(self._one(trajectory, msgspec.structs.replace(self.options, seed=seed)))
            # What the server could not do once it is not asked to do thrice.
            if votes[-1].status in ("error", "timeout", "too_long"):
                break
        return votes[0] if self.design.votes == 1 else vote(votes, self.design.votes)

    def reply(self, trajectory: Trajectory, options: Options | None = None) -> Reply:
        """Ask the model about one trajectory and give its reply as it came.

        Parameters
        ----------
        trajectory : Trajectory
        options : Options, optional

        Returns
        -------
        Reply
        """
        text = prompts.prompt(trajectory, self.design.view, self.design.task, self.order,
                              self.procedure)
        return self.model.complete(text, self._schema, options=options or self.options,
                                   shared=self._head)

    def _one(self, trajectory: Trajectory, options: Options) -> Verdict:
        # Only a judge shown the steps has business naming one (appendix D).
        localises = (self.design.view, self.design.task) == ("steps", "steps")
        return answer.verdict(trajectory, self.name, self.reply(trajectory, options),
                              task=self.design.task, localises=localises,
                              types=self.procedure.types)


class _Rules:
    """The rule engine, which is asked like the others and needs no model."""

    name = "rules"

    def identity(self) -> None:
        """Nothing made its verdicts but the code: there is no run to record."""

    def judge(self, trajectory: Trajectory) -> Verdict:
        """Judge one trajectory by its first violation."""
        return rules.judge(trajectory)


RULES = _Rules()


def vote(votes: Sequence[Verdict], k: int) -> Verdict:
    """Count the votes of one judge asked several times about one trajectory.

    Parameters
    ----------
    votes : sequence of Verdict
        In the order they were cast; fewer than ``k`` if a call failed.
    k : int
        How many were to be cast.

    Returns
    -------
    Verdict
        The verdict that more than half of ``k`` votes agree on, else the
        status of the first vote that failed. Confidence is the winners'
        share of ``k``, in (.5, 1]; step and type are the most frequent among
        the winners, the first named if tied; cost is the sum over the votes.
    """
    first = votes[0]

    def total(field: str) -> float | None:
        costs = [getattr(v, field) for v in votes]
        return None if None in costs else sum(costs)

    def most_common(field: str) -> object:
        named = Counter(v for winner in winners if (v := getattr(winner, field)) is not None)
        return named.most_common(1)[0][0] if named else None

    cost = {field: total(field) for field in ("latency_s", "prompt_tokens", "completion_tokens")}
    counts = Counter(v.faulty for v in votes if v.status == "ok")
    failed = [v for v in votes if v.status != "ok"]
    rationale = f"{counts[True]}/{k} votes for faulty"
    for verdict in failed:
        rationale += f"; {verdict.status}: {verdict.rationale}"
    faulty = next((value for value in (True, False) if counts[value] * 2 > k), None)
    if faulty is None:
        return Verdict(first.trajectory_id, first.judge, rationale=rationale, **cost,
                       status=failed[0].status if failed else "unparsed")
    winners = [v for v in votes if v.faulty is faulty]
    return Verdict(
        first.trajectory_id, first.judge, faulty, most_common("failure_step"),
        most_common("failure_type"), len(winners) / k, rationale=rationale, **cost)
