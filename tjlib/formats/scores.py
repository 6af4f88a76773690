"""What Inspect's scorers say of a sample.

Decision: right and wrong are its letters C, I and N (no answer), yes and no,
and the numbers 1 and 0; P is half right. Refusal: a score between decides
nothing, and neither do scorers that contradict each other.
"""

from __future__ import annotations

from tjlib.formats.fields import under
from tjlib.formats.imported import number, shown

__all__ = ["verdict"]

_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0,
            "false": 0.0}


def _value(value: object) -> float | None:
    """Return one score as a number; None where there is none."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        known = _LETTERS.get(value, _LETTERS.get(value.lower()))
        if known is not None:
            return known
        try:
            return number(float(value))
        except ValueError:
            return None
    return number(value)


def _scores(sample: dict) -> dict[str, float | None]:
    """Return every score of a sample by its name; a score that is an object has several."""
    given = sample.get("scores")
    if not isinstance(given, dict):
        given = {"score": sample["score"]} if sample.get("score") is not None else {}
    found: dict[str, float | None] = {}
    for name, score in given.items():
        value = score.get("value") if isinstance(score, dict) else score
        if isinstance(value, dict):
            found |= {f"{name}.{part}": _value(own) for part, own in value.items()}
        else:
            found[str(name)] = _value(value)
    return found


def verdict(sample: dict) -> tuple[bool | None, float | None, list[str]]:
    """Tell whether a sample went well.

    Parameters
    ----------
    sample : dict
        With ``scores``, or the one ``score`` of old logs.

    Returns
    -------
    success : bool or None
    reward : float or None
        The raw value where there is one scorer.
    notes : list of str

    Examples
    --------
    >>> verdict({"scores": {"match": {"value": "C"}}})
    (True, 1.0, [])
    >>> verdict({"scores": {"a": {"value": "C"}, "b": {"value": 0.7}}})
    (True, None, ['several scores: a 1, b 0.7; success is what the clear ones say'])
    """
    found = _scores(sample)
    known = {name: value for name, value in found.items() if value is not None}
    clear = {value == 1.0 for value in known.values() if value in (0.0, 1.0)}
    reward = next(iter(known.values())) if len(found) == 1 and known else None
    if sample.get("error"):
        error = under(sample, "error", "message") or sample["error"]
        return None, reward, [f"crashed, so not judged: {shown(error)}"]
    if sample.get("invalidation"):
        return None, reward, ["marked as invalid, so not judged"]
    if not known:
        return None, None, ["no score that is a letter or a number, so not judged"]
    told = ", ".join(f"{shown(name, 40)} {value:g}" for name, value in known.items())
    if len(clear) == 1:
        success = clear.pop()
        return success, reward, [] if len(found) == 1 else [
            f"several scores: {told}; success is what the clear ones say"]
    why = "contradict each other" if clear else "neither right nor wrong"
    return None, reward, [f"scores that {why}, so not judged: {told}" if clear
                          else f"a score {why}, so not judged: {told}"]
