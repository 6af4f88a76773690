"""Put a chart on a page: a picture that always works, upgraded where scripts run.

Decision: the page carries the picture, the specification beside it and, if
given, the numbers as a table; the book's own script turns the specification
into an interactive chart. Paper, e-mail, a code host and a browser without
scripts show the picture. Refusal: no chart without a sentence that says what
it shows, none with its own configuration, and none too heavy for a page.
"""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING, Any

import altair
import vl_convert

from tjlib.charts import theme

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BUDGET", "Shown", "show"]

#: Bytes a chart may add to its page; a page stays below a megabyte.
BUDGET = 250_000

# What an element of a picture carries for who points at it or hears it, and defaults.
_UNSEEN = re.compile(r' (?:aria-[a-z]+|role|class|pointer-events)="[^"]*"| opacity="1"'
                     r'| font-(?:family="sans-serif"|size="14px"|weight="normal")')
# Paths that draw nothing, and digits of a place that no eye tells apart.
_EMPTY = re.compile("<path d='(?:M0,0h0v0h0Z)?'(?: display='none')?/>")
_FINE = re.compile(r"\d+\.\d{3,}")
# What would end a picture's address, or be read as something else in it.
_ADDRESS = str.maketrans({one: f"%{ord(one):02X}" for one in '%#"&\n\t'})

# The still picture's width in pixels; the page scales it.
_WIDTH = 640


class Shown:
    """A chart ready for a notebook, a book page or a saved HTML file.

    Attributes
    ----------
    spec : dict
        The Vega-Lite specification, without configuration.
    svg : str
        The still picture.
    html : str
        What goes into a page.
    """

    def __init__(self, spec: dict[str, Any], svg: str, html: str) -> None:
        self.spec, self.svg, self.html = spec, svg, html

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {
            "application/vnd.vegalite.v6+json": self.spec | {"config": theme.config("light")},
            "text/html": self.html,
            "text/plain": self.spec["description"],
        }


def show(
    chart: altair.TopLevelMixin, *, name: str, alt: str, table: pd.DataFrame | None = None
) -> Shown:
    """Make a chart displayable.

    Parameters
    ----------
    chart : altair chart
        From one of the figure functions, without a configuration of its own.
    name : str
        Lower-case letters, digits and hyphens, once a page: ``a6-recall``.
    alt : str
        What the chart shows, in a sentence, for whoever cannot see it.
    table : pandas.DataFrame, optional
        The numbers drawn, offered below the chart. Missing values print as a dash.

    Returns
    -------
    Shown

    Raises
    ------
    ValueError
        If the name or the sentence is unfit, the chart configures itself, or
        it is too heavy for a page.
    """
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise ValueError(f"chart name {name!r}: use lower-case letters, digits and single hyphens")
    if len(alt) < 20 or " " not in alt or not alt.endswith("."):
        raise ValueError(f"chart {name}: alt must be a sentence that says what the chart shows")
    spec = _spec(chart, name, alt)
    svg = _picture(spec)
    # Inside a script element only "<" can end the text early.
    code = json.dumps(spec, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    parts = [
        f'<div class="tj-chart" id="chart-{name}">',
        f'<img src="data:image/svg+xml,{_address(svg)}" alt="{html.escape(alt)}">',
        f'<script type="application/json">{code}</script>',
        _table(table, alt) if table is not None else "",
        "</div>",
    ]
    page = "\n".join(filter(None, parts))
    if (size := len(page.encode())) > BUDGET:
        raise ValueError(
            f"chart {name} adds {size:,} bytes to its page, more than {BUDGET:,}: "
            "draw aggregated data"
        )
    return Shown(spec, svg, page)


def _spec(chart: altair.TopLevelMixin, name: str, sentence: str) -> dict[str, Any]:
    # Our own budget replaces Altair's row limit; its theme gives way to ours.
    with (
        altair.data_transformers.enable("default", max_rows=None),
        altair.theme.enable("none"),
    ):
        spec = chart.to_dict()
    if "config" in spec:
        raise ValueError(f"chart {name}: the look belongs to tjlib.charts.theme, drop configure_*")
    # A missing number is null in JSON; browsers read no NaN.
    spec = json.loads(json.dumps(spec), parse_constant=lambda _: None)
    return spec | {"description": sentence}


def _picture(spec: dict[str, Any]) -> str:
    still = spec | {"config": theme.config("light")}
    if "mark" in still or "layer" in still:
        still |= {"width": _WIDTH, "autosize": {"type": "fit-x", "contains": "padding"}}
    svg = vl_convert.vegalite_to_svg(still)
    # The converter numbers clip paths through its whole life; a page's bytes must not.
    order: dict[str, str] = {}
    return re.sub(r"\bclip\d+", lambda m: order.setdefault(m[0], f"clip{len(order)}"), svg)


def _address(svg: str) -> str:
    """Write a picture into an address, without what an image cannot show.

    In an image nobody can point at a part or hear its name: the sentence beside it is heard.
    """
    light = re.sub("<[^>]+>", lambda tag: _light(tag[0]), svg)
    light = _EMPTY.sub("", light).replace("<svg", "<svg font-family='sans-serif' font-size='14px'")
    return light.translate(_ADDRESS)


def _light(tag: str) -> str:
    short = _FINE.sub(lambda number: f"{round(float(number[0]), 2):g}", _UNSEEN.sub("", tag))
    return re.sub('="([^"\']*)"', r"='\1'", short)


def _table(table: pd.DataFrame, sentence: str) -> str:
    body = table.to_html(
        index=False, border=0, na_rep="–", float_format="{:.4g}".format, justify="unset"
    )
    body = body.replace("<th>", '<th scope="col">').replace(' style="text-align: unset;"', "")
    return (
        '<details><summary>Data table</summary><div class="tj-scroll" tabindex="0" role="region" '
        f'aria-label="Data table. {html.escape(sentence)}">{body}</div></details>'
    )
