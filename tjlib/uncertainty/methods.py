"""Every method by its name, and the table of scores they give.

Decision: a method is a function of one run's evidence, registered in one
place, and a run no method can read still has a row. Refusal: no score is
made up where there is none: the reason stands beside the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from tjlib.trace import InputError
from tjlib.uncertainty import baselines, controls
from tjlib.uncertainty.evidence import NO_STEP, Evidence, Score
from tjlib.uncertainty.recipes import rupa_settled
from tjlib.uncertainty.rupa import rupa, rupa_structural
from tjlib.uncertainty.tracer import tracer
from tjlib.uncertainty.uprop import uprop, uprop_single

__all__ = ["AGAINST", "METHODS", "chosen", "score"]

#: Name -> method, higher means more likely to fail: the paper's, ours, its rivals, the controls.
METHODS: dict[str, Callable[[Evidence], Score]] = {
    "rupa": rupa, "rupa_structural": rupa_structural, "rupa_settled": rupa_settled,
    "flat": controls.flat, "flat_u": controls.flat_u,
    "pe": baselines.pe, "sp_sum": baselines.sp_sum, "sp_mean": baselines.sp_mean,
    "verbalized": baselines.verbalized, "saup_d": baselines.saup_d,
    "saup_d0": baselines.saup_d0, "saup_rms": baselines.saup_rms, "tracer": tracer,
    "uprop": uprop, "uprop_single": uprop_single,
    "n_steps": controls.n_steps, "fewer_steps": controls.fewer_steps,
    "n_calls": controls.n_calls, "fewer_calls": controls.fewer_calls,
    "n_words": controls.n_words, "fewer_words": controls.fewer_words,
    "failing_share": controls.failing_share, "repetition": controls.repetition,
    "random": controls.random,
}

#: Method and control whose difference is what the method adds to its own inputs, or to length.
AGAINST = (("rupa", "flat"), ("rupa", "flat_u"), ("rupa", "n_steps"),
           ("rupa_structural", "flat"), ("rupa_structural", "n_steps"))


def chosen(names: str | Sequence[str] = "all") -> tuple[str, ...]:
    """Check names of methods.

    Parameters
    ----------
    names : str or sequence of str
        Comma-separated or a list; "all" for every one.

    Returns
    -------
    tuple of str
        Each once, in the order given.

    Raises
    ------
    InputError
        If one is unknown; the message lists those there are.

    Examples
    --------
    >>> chosen("tracer, flat,tracer")
    ('tracer', 'flat')
    """
    if isinstance(names, str):
        names = tuple(METHODS) if names == "all" else [n.strip() for n in names.split(",")]
    if unknown := [name for name in names if name not in METHODS]:
        raise InputError(f"no method {unknown[0]!r}; there are: {', '.join(METHODS)}")
    if not names:
        raise InputError(f"no method named; there are: {', '.join(METHODS)}")
    return tuple(dict.fromkeys(names))


def score(runs: Iterable[Evidence], names: str | Sequence[str] = "all") -> list[dict]:
    """Score runs by several methods.

    Parameters
    ----------
    runs : iterable of Evidence
    names : str or sequence of str
        As `chosen`.

    Returns
    -------
    list of dict
        One record per run and method: trajectory_id, method, value (None if
        there is none), why, u_source and n_imputed (what the steps' own
        uncertainty was read off, and how many steps lacked it).
    """
    names, out = chosen(names), []
    for e in runs:
        about = {"u_source": e.local.source, "n_imputed": e.local.n_imputed}
        for name in names:
            found = METHODS[name](e) if e.steps else Score(None, NO_STEP)
            out.append({"trajectory_id": e.trajectory.trajectory_id, "method": name,
                        "value": found.value, "why": found.why, **about})
    return out
