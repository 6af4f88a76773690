"""What every notebook chapter does besides its subject: check parameters, glue numbers.

Decision: a chapter's parameters are what its parameters cell annotates, so
their names, types and defaults are written once, where the reader edits
them. Refusal: no value is mended or replaced by a default; a chapter given a
name or value it does not know stops before it computes anything.
"""

from __future__ import annotations

import ast
import difflib
import math
from collections.abc import Callable, Mapping
from types import ModuleType, SimpleNamespace
from typing import Any

from tjlib.trace import InputError

__all__ = ["check", "coerce", "from_text", "number", "raise_clean", "text", "unknown"]

_SCALARS = {"str": str, "int": int, "float": (int, float), "bool": bool}
# What IPython, and a __future__ import, put among a notebook's names.
_NOT_OURS = {"In", "Out", "exit", "quit", "annotations"}


def raise_clean() -> None:
    """Show every `InputError` in this kernel as its one line, without a traceback."""
    # IPython's hook for exceptions that draw themselves.
    InputError._render_traceback_ = lambda error: [f"InputError: {error}"]


def unknown(name: str, hints: Mapping[str, str]) -> InputError:
    """Return the error for a parameter name that is not among those with a type hint."""
    close = difflib.get_close_matches(name, hints, n=1)
    mean = f" (did you mean {close[0]!r}?)" if close else ""
    valid = ", ".join(f"{known}: {hint}" for known, hint in hints.items())
    return InputError(f"no parameter {name!r}{mean}; the parameters are {valid}")


def _item(name: str, hint: str) -> str | None:
    """Return what a list hint holds, None for a scalar hint; refuse any other hint."""
    inner = hint[5:-1] if hint.startswith("list[") else None
    if (hint if inner is None else inner) not in _SCALARS:
        raise InputError(f"parameter {name}: type hint {hint} is not supported; use "
                         f"{', '.join(_SCALARS)} or a list of one, such as list[str]")
    return inner


def from_text(name: str, hint: str, text: str) -> Any:
    """Read a parameter typed on a command line, as its type hint says.

    Parameters
    ----------
    name : str
        For the message.
    hint : str
        ``str``, ``int``, ``float``, ``bool``, or ``list[...]`` of one of these.
    text : str
        A list is written ``[1, 2]`` or ``a,b``.

    Returns
    -------
    object
        Of the hinted type; text stays as typed (``3.10`` is not ``3.1``).

    Raises
    ------
    InputError
        If the text is not of that type.

    Examples
    --------
    >>> from_text("seeds", "list[int]", "[1, 2]"), from_text("judges", "list[str]", "a,b")
    ([1, 2], ['a', 'b'])
    """
    inner = _item(name, hint)
    if inner is not None:
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            value = None
        if text.lstrip().startswith("[") and isinstance(value, list):
            return coerce(name, hint, value)
        bare = text.strip().removeprefix("[").removesuffix("]")
        return [from_text(name, inner, part.strip()) for part in bare.split(",") if part.strip()]
    if hint == "bool":
        value = {"true": True, "false": False}.get(text.lower(), text)
    else:
        try:
            value = _SCALARS[hint](text) if hint in ("str", "int") else float(text)
        except ValueError:
            value = text
    return coerce(name, hint, value)


def coerce(name: str, hint: str, value: Any) -> Any:
    """Return a value as its type hint says, or say what it should have been.

    Parameters
    ----------
    name, hint
        As `from_text`.
    value : object
        A list may come as its text form, as papermill passes it; an int is
        taken for a float, a bool never for a number.

    Returns
    -------
    object

    Raises
    ------
    InputError
        Saying what was expected and what came.

    Examples
    --------
    >>> coerce("draws", "float", 2)
    2.0
    """
    inner = _item(name, hint)
    if inner is not None:
        if isinstance(value, str):
            return from_text(name, hint, value)
        if isinstance(value, list | tuple):
            return [coerce(name, inner, part) for part in value]
    elif isinstance(value, _SCALARS[hint]) and (hint == "bool" or not isinstance(value, bool)):
        if hint != "float":
            return value
        if math.isfinite(value):
            return float(value)
    got = "None" if value is None else f"{type(value).__name__} {value!r}"
    raise InputError(f"parameter {name}: expected {hint}, got {got}")


def _allowed(name: str, value: Any, rule: tuple | Callable[[Any], str | None]) -> None:
    if callable(rule):
        if problem := rule(value):
            raise InputError(f"parameter {name}: {problem}")
        return
    for part in value if isinstance(value, list) else [value]:
        if part not in rule:
            allowed = ", ".join(str(x) or "(empty)" for x in rule)
            raise InputError(f"parameter {name}: {part!r} is not one of {allowed}")


def _hint_text(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint)


#: What holds on every page: no generator takes a negative seed.
_RULES = {"seed": lambda value: None if value >= 0 else "give 0 or more"}


def check(namespace: dict[str, Any], **rules: Any) -> SimpleNamespace:
    """Check a chapter's parameters; call it in the cell after the parameters cell.

    papermill sets any name it is told to, so a misspelt one would leave the
    default in place; here it stops the run. When the cell is run again in a
    live notebook, later cells' names are there too and only values are checked.

    Parameters
    ----------
    namespace : dict
        The notebook's ``globals()``. Every annotated name is a parameter.
    **rules : tuple or callable
        By parameter: the values allowed (each item of a list), or a function
        of the value returning None or what is wrong with it. A ``seed`` is 0 or
        more, unless a page says otherwise.

    Returns
    -------
    SimpleNamespace
        The parameters, of the types their hints say.

    Raises
    ------
    InputError
        One line: the unknown name and the valid ones, the type expected, or
        the values allowed.

    Examples
    --------
    >>> p = check({"__annotations__": {"draws": int}, "draws": 100}, draws=(100, 1000))
    >>> p.draws
    100
    """
    raise_clean()
    again = namespace.get("_parameters")
    hints: Mapping[str, str] = again or {
        name: _hint_text(hint) for name, hint in namespace.get("__annotations__", {}).items()
    }
    if not hints:
        raise InputError("no annotated parameter found; run the parameters cell first")
    for name, value in namespace.items():
        if again or name.startswith("_") or name in hints or name in _NOT_OURS:
            continue
        if not (callable(value) or isinstance(value, ModuleType)):
            raise unknown(name, hints)
    for name in rules:
        if name not in hints:
            raise unknown(name, hints)
    values = {}
    for name, hint in hints.items():
        if name not in namespace:
            raise InputError(f"parameter {name} has no value; the parameters cell must set it")
        values[name] = coerce(name, hint, namespace[name])
        if rule := (_RULES | rules).get(name):
            _allowed(name, values[name], rule)
    namespace["_parameters"] = hints
    return SimpleNamespace(**values)


def number(name: str, value: float | None, digits: int) -> None:
    """Glue a number for the prose under ``name``, rounded; None or NaN reads "undefined"."""
    missing = value is None or math.isnan(value)
    text(name, "undefined" if missing else f"{value:z.{digits}f}")


def text(name: str, value: str) -> None:
    """Glue a piece of text for the prose under ``name``."""
    from myst_nb import glue

    glue(name, value, display=False)
