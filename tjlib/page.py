"""An executed chapter as one HTML file that stands alone.

Decision: nbconvert writes the page, and the few things a chapter says in the
book's own Markdown - glued text, boxes, figure numbers, captions, folded code,
links to other chapters - are put into its terms first. Refusal: the page loads
nothing and runs nothing, and what is glued is never read as Markdown or as
markup.
"""

from __future__ import annotations

import ast
import html
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbformat import NotebookNode

__all__ = ["glued_in", "page", "words"]

_GLUE = "application/papermill.record/"  # myst_nb's mark on what `glue` puts away
#: The scripts nbconvert would have the page load from other hosts.
_REMOTE = ("require_js_url", "mathjax_url", "jquery_url", "mermaid_js_url",
           "mermaid_layout_elk_js_url", "jupyter_widgets_base_url", "widget_renderer_url")

BOX = re.compile(r"^(`{3,}|:{3,})\{([a-z]+)\} *(.*)\n((?:.*\n)*?)\1 *$", re.MULTILINE)
#: Where a solution that runs begins and ends: its cells lie between the two.
GATE = re.compile(r"^(`{3,}|:{3,})\{solution-(start|end)\}.*\n(?:.*\n)*?\1 *$\n?", re.MULTILINE)
_BOXES = {"exercise", "solution", "admonition", "note", "tip", "hint", "important", "warning",
          "caution", "seealso"}
NUMREF = re.compile(r"\{numref\}`([^`<]*?)(?: *<([^`>]+)>)?`")
#: A word of the glossary, and a key of the bibliography: both stay behind in the book.
_TERM = re.compile(r"\{term\}`([^`<]*?)(?: *<[^`>]+>)?`")
_CITE = re.compile(r"\{cite(?::\w+)?\}`([^`]+)`")
#: A number of the chapter, by the name it was glued under.
GLUE = re.compile(r"\{glue:text\}`([^`]+)`")
EQ = re.compile(r"\{eq\}`([^`]+)`")
EQUATION = re.compile(r"^```\{math\}\n(?::label: *(\S+)\n)?((?:.*\n)*?)``` *$", re.MULTILINE)
#: A formula in a sentence; code, where a dollar is a dollar, is matched first and left.
FORMULA = re.compile(r"(?P<code>`+[^`]*`+)|"
                     r"(?<![\\$\w])\$(?!\s)(?P<latex>[^$\n]+)(?<!\s)\$(?![\w$])")
CHAPTER = re.compile(r"\[([^\]\[]+)\]\((?![a-z]+:|#)[^)\s]+\)")

_TEMPLATE = """{% extends 'index.html.j2' %}
{% block html_head_css %}<style>
main { margin: 0 auto; max-width: 60rem; }
summary { color: #5f6368; cursor: pointer; font: .85rem sans-serif; }
.jp-InputArea-editor .highlight pre { white-space: pre-wrap; }
.tj-box { border-left: 4px solid #0072B2; background: #eef4fa; margin: 1em 0; padding: .5em 1em; }
.tj-box-title { font-weight: bold; margin: 0; }
figure { margin: 1em 0; }
figcaption { padding: .4em 0; text-align: left; }
.tj-chart > img { max-width: 100%; width: 40rem; }
.tj-scroll { overflow-x: auto; }
.tj-scroll.tj-scroll :is(th, td) { text-align: left; vertical-align: top; }
.tj-table tr > :first-child { background: white; left: 0; position: sticky; }
.tj-table .tj-prose { min-width: 10rem; }
.tj-pick .tj-scroll { max-height: 34rem; overflow-y: auto; }
.tj-part { border-left: 4px solid #ddd; margin: 0 0 .4rem; padding-left: .6rem; }
.tj-part.tj-first { border-left: 4px dashed #d55e00; }
.tj-part.tj-second { border-left: 4px double #d55e00; }
.tj-prompt mark { background: #ffe2cc; color: black; }
.tj-prompt .tj-bar { max-width: 12rem; opacity: .55; }
</style>{% endblock %}
{% block input_group %}{% if 'hide-input' in cell.metadata.tags %}
<details class="tj-code"><summary>Show code</summary>{{ super() }}</details>
{% else %}{{ super() }}{% endif %}{% endblock %}
"""


def words(text: str) -> str:
    """Leave of a word of the glossary the word, of a citation its keys, of a gate its heading.

    Parameters
    ----------
    text : str
        The book's Markdown.

    Returns
    -------
    str

    Examples
    --------
    >>> words("a {term}`verdict`, {term}`loud <loud fault>`: {cite}`guo`")
    'a verdict, loud: [guo]'
    """
    text = GATE.sub(lambda gate: "**Solution**\n" * (gate[2] == "start"), text)
    return _CITE.sub(r"[\1]", _TERM.sub(r"\1", text))


def page(book: NotebookNode, name: str) -> str:
    """Write an executed chapter as HTML.

    Parameters
    ----------
    book : NotebookNode
        As papermill leaves it; changed on the way.
    name : str
        The page's title.

    Returns
    -------
    str
    """
    from nbconvert import HTMLExporter
    from traitlets.config import Config

    glued, numbers = glued_in(book), _captions(book)
    names = list(glued)

    def hold(found: re.Match) -> str:
        # Two characters no text uses hold the place until Markdown is done.
        return f"\ue000{names.index(found[1])}\ue001" if found[1] in glued else found[0]

    def number(found: re.Match) -> str:
        words, figure = (found[1], found[2]) if found[2] else ("Fig. %s", found[1])
        if figure not in numbers:
            return found[0]
        return f"[{words.replace('%s', str(numbers[figure]))}](#{figure})"

    prose = [cell for cell in book.cells if cell.cell_type == "markdown"]
    labels = [label for cell in prose for label, _ in EQUATION.findall(cell.source)]
    drawn: list[str] = []

    def mathml(latex: str, block: bool) -> str:
        drawn.append(_mathml(latex, block))
        return f"\ue002{len(drawn) - 1}\ue003"

    def equation(found: re.Match) -> str:
        at = f" ({labels.index(found[1]) + 1})" if found[1] else ""
        return f'<p id="{html.escape(found[1] or "")}">{mathml(found[2].strip(), True)}{at}</p>'

    def pointed(found: re.Match) -> str:
        known = found[1] in labels
        return f"[({labels.index(found[1]) + 1})](#{found[1]})" if known else found[0]

    for cell in prose:
        cell.source = EQ.sub(pointed, EQUATION.sub(equation, words(cell.source)))
        cell.source = FORMULA.sub(
            lambda m: m["code"] or mathml(m["latex"], False), cell.source)
        text = BOX.sub(_box, GLUE.sub(hold, cell.source))
        cell.source = CHAPTER.sub(r"\1", NUMREF.sub(number, text))
    removed = Config({"TagRemovePreprocessor": {
        "enabled": True, "remove_cell_tags": {"remove-cell"},
        "remove_input_tags": {"remove-input"}, "remove_all_outputs_tags": {"remove-output"}}})
    exporter = HTMLExporter(
        raw_template=_TEMPLATE, exclude_input_prompt=True, exclude_output_prompt=True,
        config=removed, **dict.fromkeys(_REMOTE, ""))
    body, _ = exporter.from_notebook_node(book, {"metadata": {"name": name}})
    body = re.sub("\ue002(\\d+)\ue003", lambda m: drawn[int(m[1])], body)
    return re.sub("\ue000(\\d+)\ue001", lambda m: html.escape(glued[names[int(m[1])]]), body)


def _mathml(latex: str, block: bool) -> str:
    """Write a formula as MathML, which a browser draws by itself; one it cannot be stays LaTeX."""
    from math_core import LatexError, LatexToMathML

    try:
        return LatexToMathML(annotation=False).convert_with_local_state(latex, displaystyle=block)
    except LatexError:
        return html.escape(latex)


def glued_in(book: NotebookNode) -> dict[str, str]:
    """Take what was glued out of the outputs: its place is in the prose."""
    glued = {}
    for cell in book.cells:
        for output in cell.get("outputs", []):
            if "scrapbook" in output.get("metadata", {}):
                # What is glued is stored as Python writes it, and text so in quotes.
                text = output.data.get(f"{_GLUE}text/plain", "")
                quoted = text[:1] in ("'", '"')
                glued[output.metadata.scrapbook.name] = ast.literal_eval(text) if quoted else text
        if cell.cell_type == "code":
            cell.outputs = [o for o in cell.outputs if "scrapbook" not in o.get("metadata", {})]
    return glued


def _captions(book: NotebookNode) -> dict[str, int]:
    """Number the figures and put each one's caption under it."""
    numbers: dict[str, int] = {}
    for cell in book.cells:
        figure = cell.metadata.get("mystnb", {}).get("figure")
        drawn = [o for o in cell.get("outputs", []) if "text/html" in o.get("data", {})]
        if not figure or not drawn:
            continue
        number = numbers.setdefault(figure["name"], len(numbers) + 1)
        drawn[-1].data["text/html"] = (
            f'<figure id="{html.escape(figure["name"])}">{drawn[-1].data["text/html"]}'
            f'<figcaption><em>Fig. {number}</em> {html.escape(figure["caption"])}</figcaption>'
            "</figure>")
    return numbers


def _box(found: re.Match) -> str:
    """Turn a directive that is a box into one, its text still Markdown."""
    _, kind, title, body = found.groups()
    if kind not in _BOXES:
        return found[0]
    if kind == "exercise":
        title = f"Exercise: {title}"
    elif kind == "solution":  # after the name is the exercise's label
        title = "Solution"
    elif kind != "admonition":
        title, body = kind.capitalize(), f"{title}\n{body}"
    folded = re.search(r"^:class:.*\bdropdown\b", body, re.MULTILINE)
    outer, inner = ("details", "summary") if folded else ("div", "p")
    body = re.sub(r"^:[a-z]+:.*\n", "", body.lstrip("\n"), flags=re.MULTILINE)
    # Between blank lines Markdown goes on inside an element.
    return (f'<{outer} class="tj-box">\n<{inner} class="tj-box-title">{html.escape(title)}'
            f"</{inner}>\n\n{body.strip()}\n\n</{outer}>\n")
