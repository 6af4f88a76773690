"""All claims in the order of the paper, and how to try them.

Decision: one list, so that the page, the tests and a reader's selection by id
speak of the same claims. Refusal: an unknown id stops the run and is not
skipped.
"""

from __future__ import annotations

from collections.abc import Iterable

from tjlib.claims import (
    blindspot,
    checker,
    confidence,
    design,
    ensemble,
    invented,
    readings,
)
from tjlib.claims.evidence import Evidence
from tjlib.claims.trial import VERDICTS, Claim, Trial, put_on_trial
from tjlib.trace import InputError

__all__ = ["CLAIMS", "audit", "counts", "select"]

_ORDER = (
    "zero-alarms", "step-cost", "one-sentence", "distinct-inputs", "pooled-hides", "gap-paired",
    "beyond-dispute", "one-rule", "by-instance", "ninth-rule", "nearly-exact", "nearly-honest",
    "uniformly-one", "most-certain", "gap-strata", "reply-equal", "errors-certain", "gets-worse",
    "base-rate", "ensemble-cost", "ensemble-fixed", "ensemble-calibration", "same-promises",
    "a-third", "deltas-straddle",
)

#: Every claim by its id, in the order of the paper.
CLAIMS: dict[str, Claim] = {claim.id: claim for claim in sorted(
    (*blindspot.CLAIMS, *checker.CLAIMS, *confidence.CLAIMS, *design.CLAIMS, *ensemble.CLAIMS,
     *invented.CLAIMS, *readings.CLAIMS),
    key=lambda claim: _ORDER.index(claim.id))}


def select(only: Iterable[str] = ()) -> list[Claim]:
    """Return the claims with these ids, in the order of the paper; all if none is named.

    Raises
    ------
    InputError
        Naming the ids there are.

    Examples
    --------
    >>> [claim.id for claim in select(["a-third", "one-rule"])]
    ['one-rule', 'a-third']
    """
    only = set(only)
    if unknown := sorted(only - set(CLAIMS)):
        raise InputError(f"no claim {', '.join(unknown)}; there are: {', '.join(CLAIMS)}")
    return [claim for name, claim in CLAIMS.items() if not only or name in only]


def audit(evidence: Evidence, only: Iterable[str] = ()) -> list[Trial]:
    """Try claims on the evidence, in the order of the paper.

    Parameters
    ----------
    evidence : Evidence
    only : iterable of str
        Claim ids; all if empty.

    Returns
    -------
    list of Trial
    """
    return [put_on_trial(claim, evidence) for claim in select(only)]


def counts(trials: Iterable[Trial]) -> dict[str, int]:
    """Count the trials that ended in each of `VERDICTS`."""
    found = [trial.ruling.verdict for trial in trials]
    return {verdict: found.count(verdict) for verdict in VERDICTS}
