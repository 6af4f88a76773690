"""How many clean runs bound a false-alarm rate, and which rate a number of runs rules out.

Decision: the exact binomial, two-sided at 95% by default as the paper's
intervals are, so that its zero of 100 reads .0362 here too. Refusal: no
normal approximation and no prior; a rate is ruled out or it is not.
"""

from __future__ import annotations

from scipy import stats

from tjlib.measure.resample import clopper_pearson
from tjlib.trace import InputError

__all__ = ["clean_runs_needed", "rate_excluded"]


def _two_sided(level: float, sides: int) -> float:
    """Return the level of the two-sided interval whose upper bound is asked for."""
    if sides not in (1, 2) or not 0 < level < 1:
        raise InputError("level lies between 0 and 1 and sides is 1 or 2")
    return level if sides == 2 else 2 * level - 1


def rate_excluded(n: int, alarms: int = 0, level: float = 0.95, sides: int = 2) -> float:
    """Return the false-alarm rate that n clean runs with this many alarms rule out.

    Parameters
    ----------
    n, alarms : int
        Clean runs, and how many of them were flagged.
    level : float
    sides : {1, 2}
        Sides of the exact binomial interval. The paper's are two-sided
        (0 of 100: .0362, section 6); one-sided asks for less evidence.

    Returns
    -------
    float
        The upper bound; 1.0 where every run was flagged and nothing is ruled out.

    Raises
    ------
    InputError
        Unless 0 <= alarms <= n and n > 0.

    Examples
    --------
    >>> round(rate_excluded(100), 4), round(rate_excluded(100, sides=1), 4)
    (0.0362, 0.0295)
    """
    if not 0 <= alarms <= n or n < 1:
        raise InputError(f"{alarms} alarms in {n} clean runs: need 0 <= alarms <= n and n > 0")
    return clopper_pearson(alarms, n, _two_sided(level, sides))[1]


def clean_runs_needed(
    max_rate: float, level: float = 0.95, alarms: int = 0, sides: int = 2
) -> int:
    """Return the fewest clean runs that, with this many alarms, rule out a higher rate.

    Parameters
    ----------
    max_rate : float
        The false-alarm rate to stay under, between 0 and 1.
    level, alarms, sides
        As for `rate_excluded`, whose inverse this is.

    Returns
    -------
    int

    Raises
    ------
    InputError
        For a rate outside (0, 1) or a negative count.

    Examples
    --------
    >>> clean_runs_needed(0.05), clean_runs_needed(0.05, sides=1)
    (72, 59)
    """
    if not 0 < max_rate < 1 or alarms < 0:
        raise InputError("max_rate lies between 0 and 1, and alarms are at least 0")
    tail = (1 - _two_sided(level, sides)) / 2
    low, high = alarms, alarms + 1  # low runs never suffice, high runs do after enough doubling
    while stats.binom.cdf(alarms, high, max_rate) > tail:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        enough = stats.binom.cdf(alarms, middle, max_rate) <= tail
        low, high = (low, middle) if enough else (middle, high)
    return high
