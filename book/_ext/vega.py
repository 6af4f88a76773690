"""The scripts of charts and tables, served by the book itself.

Decision: vega comes out of the installed vl-convert-python, pinned with the
rest, so that no third-party script is kept in git and none is fetched by a
reader. Refusal: a page without a chart, or a table to choose from, loads none of it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import vl_convert

from tjlib.charts import theme

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["setup"]


def write_bundle(app: Sphinx) -> None:
    """Write vega and our two themes where Sphinx collects static files."""
    folder = Path(app.doctreedir) / "vega"
    folder.mkdir(parents=True, exist_ok=True)
    themes = json.dumps({"light": theme.config("light"), "dark": theme.config("dark")})
    # The bundle is written as a module; in a function its names stay off the page.
    script = f"(() => {{\n{vl_convert.javascript_bundle()}\n}})();\nwindow.tjThemes = {themes};\n"
    (folder / "vega.js").write_text(script, "utf-8")
    app.config.html_static_path.append(str(folder))


def add_scripts(app: Sphinx, page: str, template: str, context: dict, doctree: object) -> None:
    """Load the scripts on a page that holds a chart, or a table to choose from."""
    body = context.get("body", "")
    if "tj-table tj-pick" in body:
        app.add_js_file("tables.js", loading_method="defer")
    if 'class="tj-chart"' in body:
        app.add_js_file("vega.js", loading_method="defer", priority=600)
        app.add_js_file("charts.js", loading_method="defer", priority=601)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", write_bundle)
    app.connect("html-page-context", add_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
