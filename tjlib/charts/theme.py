"""The look that all charts of the book share, in light and in dark.

Decision: a colour stands for a role in the argument, the same all book long,
so judges and methods are told apart by position and label. Refusal: charts
set no configuration of their own; what differs between light and dark is
decided here alone.

The colours are those of Okabe and Ito, which colour-blind readers can tell
apart. A mark that must follow the page's text colour asks for a style:
``reference`` (lines and points to compare with), ``chance`` (the dashed line
of chance or prevalence), ``published`` (hollow points beside our filled ones).
"""

from __future__ import annotations

from typing import Any

__all__ = ["HEAT", "INK", "RELATION", "ROLE", "SCHEMES", "config", "role_scale"]

#: What each colour means.
ROLE = {
    "clean": "#999999",
    "silent": "#D55E00",
    "loud": "#0072B2",
    "false alarm": "#CC79A7",
}

#: What words over each colour are written in; the other one would not be readable.
INK = {"clean": "#000000", "silent": "#000000", "loud": "#FFFFFF", "false alarm": "#000000"}

#: Colours of a share from 0 to 1, and the share above which words over them are white.
HEAT = {"range": ("#DEEBF7", "#08519C"), "turn": 0.74}

#: Colour and dashes of each relation: one colour for what every step has, one for how steps
#: resemble each other, one for failures.
RELATION = {
    "sequential": ("#7B6BD6", [2, 3]), "latest": ("#7B6BD6", [1, 0]),
    "repetition": ("#009E73", [1, 0]), "feedback": ("#B37700", [1, 0]),
    "progression": ("#009E73", [8, 4]), "parallel": ("#009E73", [2, 3]),
}

#: Background and text per scheme; the dark background is the page theme's.
SCHEMES = {
    "light": {"background": "#FFFFFF", "text": "#000000", "muted": "#4D4D4D", "grid": "#DDDDDD"},
    "dark": {"background": "#121212", "text": "#F2F2F2", "muted": "#C4C8CE", "grid": "#3A4049"},
}

# Readable on a telephone without zooming: nothing smaller, anywhere.
_TEXT_PX = 14


def role_scale(*roles: str) -> dict[str, list[str]]:
    """Give the domain and range of a colour scale over roles.

    Parameters
    ----------
    *roles : str
        Names in `ROLE`, in the order a legend lists them; all when omitted.

    Returns
    -------
    dict
        Keyword arguments for ``altair.Scale``.

    Examples
    --------
    >>> role_scale("silent", "loud")
    {'domain': ['silent', 'loud'], 'range': ['#D55E00', '#0072B2']}
    """
    names = list(roles or ROLE)
    return {"domain": names, "range": [ROLE[name] for name in names]}


def config(scheme: str) -> dict[str, Any]:
    """Give the Vega-Lite configuration of one scheme.

    Parameters
    ----------
    scheme : {"light", "dark"}

    Returns
    -------
    dict
        A Vega-Lite ``config`` object.
    """
    colour = SCHEMES[scheme]
    label = {"labelColor": colour["text"], "labelFontSize": _TEXT_PX}
    title = {"titleColor": colour["text"], "titleFontSize": _TEXT_PX, "titleFontWeight": "normal"}
    return {
        "background": colour["background"],
        "font": "sans-serif",
        "axis": label | title | {
            "domainColor": colour["muted"], "gridColor": colour["grid"],
            "labelLimit": 220, "tickColor": colour["muted"], "titlePadding": 8,
        },
        "header": label | title | {"labelLimit": 300},
        "legend": label | title | {"gradientLength": 180, "labelLimit": 300, "orient": "top",
                                   "symbolSize": 120},
        "title": {
            "anchor": "start", "color": colour["text"], "fontSize": 16,
            "subtitleColor": colour["muted"], "subtitleFontSize": _TEXT_PX,
        },
        "view": {"continuousHeight": 260, "continuousWidth": 300, "step": 30,
                 "stroke": "transparent"},
        "range": {"category": list(ROLE.values())},
        "bar": {"color": colour["muted"]},
        "line": {"color": colour["text"], "strokeWidth": 2},
        "point": {"color": colour["text"], "filled": True, "opacity": 1, "size": 90},
        "rule": {"color": colour["text"], "strokeWidth": 1.5},
        "text": {"color": colour["text"], "fontSize": _TEXT_PX},
        "tick": {"color": colour["text"], "thickness": 2},
        "style": {
            "reference": {"color": colour["text"], "fill": colour["text"],
                          "stroke": colour["text"]},
            "chance": {"stroke": colour["text"], "strokeDash": [5, 4], "strokeWidth": 1.5},
            "published": {"fill": colour["background"], "stroke": colour["text"],
                          "strokeWidth": 1.5},
        },
    }
