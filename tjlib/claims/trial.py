"""A claim, its statistics, and the verdict that follows from them.

Decision: a statistic that a claim cannot do without and that is undefined
ends the trial before the rule is asked: the verdict is then "cannot be tested
with these data", with the statistic's own reason. Refusal: a rule sees the
statistics only, never the data behind them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pandas as pd

from tjlib.measure.resample import clopper_pearson

__all__ = [
    "CANNOT", "CONDITION", "HOLDS", "NOT", "VERDICTS", "Claim", "Ruling", "Stat", "Trial", "among",
    "put_on_trial", "rule", "share", "undefined", "universal",
]

HOLDS = "holds"
CONDITION = "holds with a condition"
NOT = "does not hold"
CANNOT = "cannot be tested with these data"
#: The four verdicts, from the kindest to the paper on.
VERDICTS = (HOLDS, CONDITION, NOT, CANNOT)

# Bounds are sums of fractions; closer than this they are equal.
_SAME = 1e-9
_TIE = "\N{NO-BREAK SPACE}"  # or narrow columns break the brackets


@dataclass(frozen=True)
class Stat:
    """One named number with its interval and denominator, or the reason there is none.

    Attributes
    ----------
    what : str
        What the number is, in words.
    value, lo, hi : float or None
        The interval is missing where the number is not an estimate.
    k, n : float or None, counts behind a proportion
    how : str
        How the interval was made, or where a figure was taken from.
    why : str
        The reason where the value is None.
    digits : int
        Decimals shown.
    """

    what: str
    value: float | None
    lo: float | None = None
    hi: float | None = None
    k: float | None = None
    n: float | None = None
    how: str = ""
    why: str = ""
    digits: int = 3

    @property
    def lower(self) -> float:
        """The interval's lower end, or the value where there is no interval."""
        return self.value if self.lo is None else self.lo

    @property
    def upper(self) -> float:
        """The interval's upper end, or the value where there is no interval."""
        return self.value if self.hi is None else self.hi

    def above(self, limit: float = 0.0) -> bool:
        """Tell whether the whole interval lies above a limit."""
        return self.lower > limit + _SAME

    def below(self, limit: float = 0.0) -> bool:
        """Tell whether the whole interval lies below a limit."""
        return self.upper < limit - _SAME

    def touches(self, limit: float = 0.0) -> bool:
        """Tell whether the interval ends exactly at a limit."""
        return min(abs(self.lower - limit), abs(self.upper - limit)) <= _SAME

    def __str__(self) -> str:
        if self.value is None:
            return self.why
        text = f"{self.value:z.{self.digits}f}"
        if self.lo is not None:
            text += f" [{self.lo:z.{self.digits}f},{_TIE}{self.hi:z.{self.digits}f}]"
        return text if None in (self.k, self.n) else (
            f"{text} ({self.k:.0f}{_TIE}of{_TIE}{self.n:.0f})")


def undefined(what: str, why: str) -> Stat:
    """Return a statistic that these data do not give, with the reason."""
    return Stat(what, None, why=why if why.startswith("undefined") else f"undefined: {why}")


def share(what: str, k: float, n: float, *, sampled: bool = True, how: str = "") -> Stat:
    """Return k of n as a statistic.

    Parameters
    ----------
    what : str
    k, n : int
    sampled : bool
        Whether the n are a sample, and so an exact binomial interval is due.
    how : str
        Where a figure was taken from.

    Examples
    --------
    >>> str(share("missed", 32, 42))
    '0.762 [0.605,\xa00.879] (32\xa0of\xa042)'
    >>> str(share("missed", 0, 0))
    'undefined: there are none'
    """
    if not n:
        return undefined(what, "there are none")
    lo, hi = clopper_pearson(k, n) if sampled else (None, None)
    how = how or ("exact binomial" if sampled else "counted")
    return Stat(what, float(k / n), lo, hi, float(k), float(n), how)


Stats = Mapping[str, Stat]


@dataclass(frozen=True)
class Ruling:
    """One of `VERDICTS`, and the reason as one sentence that contains the numbers."""

    verdict: str
    reason: str


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, made precise.

    Attributes
    ----------
    id : str
    quote, section : str
        A few words of the paper, verbatim, and where they stand.
    label : str
        The statistic drawn in the figure, in a few words.
    question, needs : str
        What is asked of the data, and the data it takes.
    measure, decide : callable
        Evidence -> named statistics -> ruling.
    essential : tuple of str
        Statistics without which there is no ruling.
    shown : str
        The statistic drawn in the figure, on a scale of shares and differences.
    claimed : float or None
        Where the sentence puts that statistic, if it says.
    ours : str
        The thresholds that are our choice, or empty.
    letter : callable or None
        Statistics -> whether the quoted words are true as written, where our
        question asks for more than they say.
    """

    id: str
    quote: str
    section: str
    label: str
    question: str
    needs: str
    measure: Callable[..., Stats]
    decide: Callable[[Stats], Ruling]
    essential: tuple[str, ...]
    shown: str
    claimed: float | None
    ours: str = ""
    letter: Callable[[Stats], bool] | None = None


@dataclass(frozen=True)
class Trial:
    """A claim, what was found, and the ruling."""

    claim: Claim
    stats: Stats
    ruling: Ruling

    @property
    def tested(self) -> bool:
        """Whether the data allowed a ruling."""
        return self.ruling.verdict != CANNOT

    @property
    def as_written(self) -> bool:
        """Whether the words are true and only our stronger question is not met."""
        letter, stricter = self.claim.letter, self.ruling.verdict in (CONDITION, NOT)
        return stricter and letter is not None and letter(self.stats)

    def table(self) -> pd.DataFrame:
        """Lay the statistics out as text: statistic, estimate, made by."""
        return pd.DataFrame([{"statistic": s.what, "estimate": str(s), "made by": s.how or "-"}
                             for s in self.stats.values()])


def rule(claim: Claim, stats: Stats) -> Ruling:
    """Apply a claim's rule to statistics, unless one it needs is undefined."""
    for name in claim.essential:
        if stats[name].value is None:
            return Ruling(CANNOT, f"{stats[name].what}: {stats[name].why}.")
    return claim.decide(stats)


def put_on_trial(claim: Claim, evidence) -> Trial:
    """Measure a claim on the evidence and rule on what was measured.

    Parameters
    ----------
    claim : Claim
    evidence : Evidence

    Returns
    -------
    Trial
    """
    stats = claim.measure(evidence)
    return Trial(claim, stats, rule(claim, stats))


def among(names) -> str:
    """Join names for a sentence.

    Examples
    --------
    >>> among(["a", "b", "c"]), among(["a"])
    ('a, b and c', 'a')
    """
    *first, last = list(names) or ["none"]
    return f"{', '.join(first)} and {last}" if first else last


def universal(k: float, n: float, reason: str) -> Ruling:
    """Rule on "all": it holds without exception, for more than half (our choice), or not.

    Examples
    --------
    >>> universal(6, 7, "").verdict, universal(3, 6, "").verdict
    ('holds with a condition', 'does not hold')
    """
    return Ruling(HOLDS if k == n else CONDITION if 2 * k > n else NOT, reason)
