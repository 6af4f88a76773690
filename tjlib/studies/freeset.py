"""What the free panel is set on and reported on, and how its constants are set.

Decision: of the forms of each member, the one with the highest recall on the
faults it is for, among those that flag no clean run of the part it is set on;
where two tie, the one that flags less. Refusal: nothing of the part that is
reported enters, neither a seed nor a wording nor a call.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pandas as pd

from tjlib import store
from tjlib.desk.faults import CLAIMS
from tjlib.desk.otherbed import Run, bed
from tjlib.desk.ways import REPORT_SEEDS, SET_SEEDS, Way, claiming, polite, reworded, ways
from tjlib.judges import repeats, reply
from tjlib.judges.free import MEMBERS, Panel, combined
from tjlib.judges.reply import Threshold
from tjlib.trace import InputError, Verdict

__all__ = ["BEDS", "WITHOUT", "Chosen", "beds", "choose", "claims", "judged", "wordings"]

#: Name -> (seeds, part of the ways): what is set on, and the two steps away from it.
BEDS = {
    "set": (SET_SEEDS, "set"),
    "other cases": (REPORT_SEEDS, "set"),
    "other cases and ways": (REPORT_SEEDS, "report"),
}
#: Member -> the name of the panel that lacks it.
WITHOUT = {member: Panel([m for m in MEMBERS if m != member]).name for member in MEMBERS}
_SIMILARITIES = ("none", "jaccard")


class Chosen(NamedTuple):
    """The two constants, and a row for each form that was tried."""

    form: str
    threshold: Threshold
    tried: pd.DataFrame


def _texts(part: str, name: str, harmful: int) -> list[str]:
    rows = store.sentences(name)
    return rows.loc[(rows["split"] == part) & (rows["harmful"] == harmful), "text"].tolist()


def claims(part: str) -> dict[str, list[str]]:
    """Give the sentences that a part adds to replies and that nothing supports.

    Parameters
    ----------
    part : {"set", "report"}

    Returns
    -------
    dict
        Name of the way -> its sentences.

    Examples
    --------
    >>> {name: len(texts) for name, texts in claims("report").items()}
    {'second half of ours': 33, 'claims of other kinds': 12}
    """
    ours = _texts(part, "reply_sentences", 1)
    if part == "set":
        return {"the paper's sentences": list(CLAIMS), "first half of ours": ours}
    return {"second half of ours": ours,
            "claims of other kinds": _texts(part, "other_wordings", 1)}


def wordings(part: str) -> list[Way]:
    """Make the ways of a part that are a matter of words, from data/sentences.

    Parameters
    ----------
    part : {"set", "report"}

    Returns
    -------
    list of Way

    Examples
    --------
    >>> [way.name for way in wordings("report")][2:]
    ['polite', 'reworded']
    """
    others = store.sentences("other_wordings")
    said = others[others["split"] == part].groupby("kind")["text"].apply(list)
    return [*(claiming(name, texts) for name, texts in claims(part).items()),
            polite("polite", _texts(part, "reply_sentences", 0)),
            reworded("reworded", said["paid"], said["refused"])]


def beds(name: str, *, clean: int = 100, per_type: int = 50) -> list[Run]:
    """Build the runs of one of `BEDS`, seed after seed.

    Parameters
    ----------
    name : str
    clean, per_type : int
        For each seed.

    Returns
    -------
    list of Run

    Raises
    ------
    InputError
        For another name.
    """
    if name not in BEDS:
        raise InputError(f"no bed {name!r}; there are: {', '.join(BEDS)}")
    seeds, part = BEDS[name]
    made = ways(part, wordings(part))
    return [run for seed in seeds for run in bed(seed, made, clean=clean, per_type=per_type)]


def judged(runs: Iterable[Run]) -> list[Verdict]:
    """Ask the panel, each member alone, and the panel without each member.

    Parameters
    ----------
    runs : iterable of Run

    Returns
    -------
    list of Verdict
        Judges ``free``, ``free:MEMBER`` and those of `WITHOUT`, run by run.
    """
    panel, out = Panel(), []
    for run in runs:
        said = panel.each(run.trajectory)
        out += [*said.values(), combined(panel.name, said)]
        out += (combined(name, {m: v for m, v in said.items() if m != member})
                for member, name in WITHOUT.items())
    return out


def choose(runs: Sequence[Run]) -> Chosen:
    """Set the free panel's two constants.

    Parameters
    ----------
    runs : sequence of Run
        Of the part it is set on.

    Returns
    -------
    Chosen
        ``tried`` has member, form, false_alarms (of the clean runs), caught
        and of (of the faults the member is for).

    Raises
    ------
    InputError
        If every form of a member flags a clean run.
    """
    clean = [run.trajectory for run in runs if not run.label.faulty]
    limits = {kind: reply.fit_threshold(clean, 0.0, kind) for kind in _SIMILARITIES}
    forms = {("repetition", form): ("wrong_tool", lambda t, form=form: repeats.judge(t, form))
             for form in repeats.FORMS}
    forms |= {("reply", kind): ("unsupported_claim", lambda t, kind=kind: reply.judge(
        t, limits[kind])) for kind in _SIMILARITIES}
    rows = []
    for (member, form), (fault, judge) in forms.items():
        faults = [run.trajectory for run in runs if run.label.failure_type == fault]
        rows.append({"member": member, "form": form, "clean": len(clean),
                     "false_alarms": sum(judge(t).faulty is True for t in clean),
                     "caught": sum(judge(t).faulty is True for t in faults), "of": len(faults)})
    tried, best = pd.DataFrame(rows), {}
    for member, found in tried.groupby("member"):
        quiet = found[found["false_alarms"] == 0]
        if quiet.empty:
            raise InputError(f"every form of the {member} flags a clean run it is set on")
        # The forms of a member are listed from the one that flags least.
        best[member] = quiet.loc[quiet["caught"].idxmax(), "form"]
    return Chosen(best["repetition"], limits[best["reply"]], tried)
