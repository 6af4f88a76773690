"""The separate pass over the final answer (section 7.2), without a model.

Decision: a sentence is scored by two things, what it asserts that the
evidence does not bear out, and (unless the similarity is "none") how far it is
from the closest line of the evidence; a threshold set on clean runs turns
scores into verdicts. The vocabulary, the courtesies and the scale are ours.
Refusal: no label is seen, no sentence of the paper is known here, and nothing
an agent thought or failed to do excuses what it wrote.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import msgspec

from tjlib.judges.entities import entities, events
from tjlib.judges.evidence import REPLY, Evidence
from tjlib.judges.similarity import closest
from tjlib.judges.wording import sentences
from tjlib.trace import InputError, Trajectory, Verdict

__all__ = ["COURTESIES", "JUDGES", "SentenceScore", "Threshold", "fit_threshold", "judge",
           "replies", "score_reply"]

#: The judge's name by similarity. With none, only what can be looked up counts.
JUDGES = {"none": "reply:entities", "jaccard": "reply:words", "minilm": "reply:minilm"}

#: Lines that assert nothing, near which a sentence needs no evidence (ours).
COURTESIES = (
    "Hello.", "Good afternoon.", "Have a good day.", "I hope you are well.",
    "Thanks for writing.", "Thank you for contacting us.", "Thank you for your patience.",
    "Thank you for your understanding.", "I am sorry for the inconvenience.",
    "We apologise for the delay.", "Please reply to this message if you have any questions.",
    "Please let us know if you need anything else.", "We are happy to help.",
    "Kind regards, your customer support.", "I have no information about that.",
)


class SentenceScore(msgspec.Struct, frozen=True):
    """One sentence of a reply.

    ``score`` is 0 where the evidence says the same, higher is worse: one for
    each item of ``unheld``, what is asserted and the evidence does not hold,
    plus one minus the similarity, if any, to ``evidence``, the closest line.
    ``step`` is 0-based, None if the trajectory has no step.
    """

    text: str
    step: int | None
    score: float
    evidence: str
    unheld: tuple[str, ...]
    why: str


class Threshold(msgspec.Struct, frozen=True):
    """The score above which a sentence is unsupported, and what it was set on."""

    similarity: str
    value: float
    max_false_alarm: float
    runs: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return msgspec.to_builtins(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Threshold:
        """Read what `to_dict` gave; raise `InputError` if it is something else."""
        try:
            return msgspec.convert(values, cls)
        except msgspec.ValidationError as error:
            raise InputError(f"not a threshold of the reply judge: {error}") from None


def replies(trajectory: Trajectory) -> list[tuple[str, int | None, int | None]]:
    """Find each text the user was sent.

    Parameters
    ----------
    trajectory : Trajectory

    Returns
    -------
    list of (text, step, before)
        The step it was sent at, and the one its evidence ends before (None:
        all is evidence); a final answer that no call sent comes last.
    """
    found = [
        (call.args["text"], index, index)
        for index, step in enumerate(trajectory.steps)
        for call, seen in zip(step.calls, step.observations, strict=False)
        if call.tool == REPLY and seen.ok is True and isinstance(call.args.get("text"), str)
    ]
    if trajectory.final_answer not in (text for text, *_ in found):
        last = len(trajectory.steps) - 1 if trajectory.steps else None
        found.append((trajectory.final_answer, last, None))
    return found


def score_reply(trajectory: Trajectory, similarity: str = "jaccard") -> list[SentenceScore]:
    """Score every sentence that the user was sent.

    Parameters
    ----------
    trajectory : Trajectory
    similarity : {"jaccard", "minilm", "none"}
        Overlap of words, embeddings (needs two more packages), or neither.

    Returns
    -------
    list of SentenceScore
        In order; those of each reply that went out, then those of the final
        answer if it is none of these.

    Raises
    ------
    InputError
        For another similarity, or one that cannot be computed here.

    Examples
    --------
    >>> run = Trajectory("t-1", "Refund ORD-5.", (), "ORD-5 was cancelled.")
    >>> [(s.score, s.why) for s in score_reply(run)]
    [(1.5, "no call bears out 'cancelled'")]
    """
    if similarity not in JUDGES:
        raise InputError(f"no similarity {similarity!r}; give {' or '.join(JUDGES)}")
    out = []
    for text, step, before in replies(trajectory):
        known = Evidence(trajectory, before)
        lines = [*known.lines, *COURTESIES]
        out += (_score(sentence, step, known, lines, similarity) for sentence in sentences(text))
    return out


def _score(
    sentence: str, step: int | None, known: Evidence, lines: list[str], similarity: str
) -> SentenceScore:
    told = events(sentence)
    found = entities(sentence)
    broken = [f"nothing holds {e.text!r}" for e in found if not known.holds(e)]
    broken += (f"no call bears out {e.text!r}" for e in told if not known.bears_out(e))
    amounts = [e for e in found if e.kind == "amount"]
    for event in told:
        own = known.amounts_of(event)
        if event.form == "done" and own and amounts and not any(
            math.isclose(a.value, n, abs_tol=0.005) for a in amounts for n in own
        ):
            broken.append(f"{amounts[0].text!r} is not the amount of {event.text!r}")
    unheld = tuple(dict.fromkeys(broken))
    if similarity == "none":
        why = "; ".join(unheld) or "all that can be looked up is held"
        return SentenceScore(sentence, step, float(len(unheld)), "", unheld, why)
    denials = [f"Nothing was {e.text}." for e in told if e.form == "denied" and known.bears_out(e)]
    near, line = closest(sentence, [*lines, *denials], similarity)
    why = "; ".join(unheld) or f"similarity {near:.3f} to the closest line"
    return SentenceScore(sentence, step, round(len(unheld) + 1 - near, 4), line, unheld, why)


def fit_threshold(
    trajectories_clean: Iterable[Trajectory], max_false_alarm: float, similarity: str = "jaccard"
) -> Threshold:
    """Set the threshold on clean runs, so that few of them are flagged.

    Parameters
    ----------
    trajectories_clean : iterable of Trajectory
        Runs known to be clean; nothing else may help to set a threshold.
    max_false_alarm : float
        Share of these runs that may be flagged, in [0, 1).
    similarity : {"jaccard", "minilm", "none"}

    Returns
    -------
    Threshold
        The lowest that keeps to the share. On other runs the rate may be
        higher: from ``n`` runs with none flagged, up to about ``3 / n``.

    Raises
    ------
    InputError
        If there is no run, or the share is outside [0, 1).

    Examples
    --------
    >>> run = Trajectory("t-1", "Refund order ORD-5.", (), "Refund order ORD-5!")
    >>> fit_threshold([run], max_false_alarm=0.0).value
    0.0
    """
    if not 0 <= max_false_alarm < 1:
        raise InputError(f"max_false_alarm is {max_false_alarm}; give a share in [0, 1)")
    worst = sorted((_worst(score_reply(t, similarity)) for t in trajectories_clean), reverse=True)
    if not worst:
        raise InputError("no clean run to set the threshold on; give at least one")
    allowed = math.floor(max_false_alarm * len(worst) + 1e-9)
    return Threshold(similarity, worst[allowed], max_false_alarm, len(worst))


def _worst(scores: list[SentenceScore]) -> float:
    return max((s.score for s in scores), default=0.0)


def judge(trajectory: Trajectory, threshold: Threshold) -> Verdict:
    """Judge a reply by its worst sentence.

    Parameters
    ----------
    trajectory : Trajectory
    threshold : Threshold

    Returns
    -------
    Verdict
        Faulty if a sentence scores above the threshold: ``unsupported_claim``
        at the step of that reply, the worst sentence named in the rationale.
        The confidence is ours and no measured probability: .5 on the
        threshold, rising by half the distance from it to at most 1; None
        without a similarity, for a count of items has no such distance.

    Examples
    --------
    >>> run = Trajectory("t-1", "Refund ORD-5.", (), "ORD-5 was cancelled.")
    >>> judge(run, Threshold("jaccard", 0.9, 0.0, 100)).rationale
    "'ORD-5 was cancelled.': no call bears out 'cancelled'"
    """
    scores = score_reply(trajectory, threshold.similarity)
    worst = max(scores, key=lambda s: s.score, default=None)
    score = worst.score if worst else 0.0
    faulty = score > threshold.value
    rationale = "the evidence bears every sentence out" if worst else "the reply says nothing"
    return Verdict(
        trajectory_id=trajectory.trajectory_id,
        judge=JUDGES[threshold.similarity],
        faulty=faulty,
        failure_step=worst.step if faulty else None,
        failure_type="unsupported_claim" if faulty else None,
        confidence=None if threshold.similarity == "none" else round(
            0.5 + min(abs(score - threshold.value), 1.0) / 2, 4),
        rationale=f"{worst.text!r}: {worst.why}" if faulty else rationale,
    )
