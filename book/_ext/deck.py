"""Slides of a lecture: one HTML file, made of what the chapters say and draw.

Decision: a slide is a chapter's claim, its minute, a figure as the still picture
that the chapter made, or a question of the quiz bank; so a lecture says what the
book says. Words shrink until a slide fits the screen. Refusal: the file loads
nothing, and without its script, or on paper, the slides stand one under another.
"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import altair
import msgspec
from markdown_it import MarkdownIt
from mathml import CONVERTER

from tjlib.charts.show import show
from tjlib.page import FORMULA
from tjlib.trace import InputError

if TYPE_CHECKING:
    from nbformat import NotebookNode

__all__ = ["Lecture", "Part", "slides"]

_PAGE = Path(__file__).with_name("slides.html")
_PICTURE = re.compile(r'<img src="data:image/svg\+xml,[^"]*" alt="[^"]*">')
_SPEC = re.compile(r'<script type="application/json">(.*?)</script>', re.DOTALL)
_SIZE = re.compile(r"width='([\d.]+)' height='([\d.]+)'")
#: A key of the bibliography, which stays behind in the book.
_KEYS = re.compile(r"(?:[;,]? )?\[[a-z]+\d{4}[a-z]*(?:, ?[a-z]+\d{4}[a-z]*)*\](?!\()")
_MARKDOWN = MarkdownIt("commonmark", {"html": False})


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a lecture takes from a chapter."""

    name: str
    figures: list[str]
    ask: list[str]


class Lecture(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A lecture: its file, its title, and chapters in order."""

    file: str
    title: str
    chapters: list[Part]


def slides(lecture: Lecture, executed: dict[str, NotebookNode], plain: dict[str, NotebookNode],
           questions: list[dict]) -> str:
    """Write a lecture.

    Parameters
    ----------
    lecture : Lecture
    executed : dict
        Chapters by name, with their outputs.
    plain : dict
        The same as downloads: everybody's Markdown, numbers put in.
    questions : list of dict
        The quiz bank, resolved.
    """
    asked = {question["id"]: question for question in questions}
    made, begins = [""], {}
    for part in lecture.chapters:
        text = "\n\n".join(c.source for c in plain[part.name].cells if c.cell_type == "markdown")
        title = begins[len(made) + 1] = _found(r"^# (.*?)$", text, "title", part.name)
        made += [_opening(title, text, part.name), _minute(text, part.name)]
        made += [_figure(executed[part.name], name) for name in part.figures]
        for name in part.ask:
            if name not in asked:
                raise InputError(f"{lecture.file}: no question {name} in the quiz bank")
            made += _question(asked[name])
        made.append("<h2>What would change our mind</h2>"
                    + _written(_section(text, "What would change our mind", part.name)))
    made[0] = ("<p>The arrow keys or the space bar turn the slides. Every number is that of the "
               "chapter.</p><ol>" + "".join(f'<li><a href="#s{n}">{_line(name)}</a></li>'
                                            for n, name in begins.items()) + "</ol>")
    body = "\n".join(f'<section id="s{n}" tabindex="-1">{slide}</section>'
                     for n, slide in enumerate(made, 1))
    page = _PAGE.read_text("utf-8").replace("TITLE", html.escape(lecture.title))
    return page.replace("SLIDES", body)


def _written(text: str, render=_MARKDOWN.render) -> str:
    """Write Markdown as HTML, formulas as MathML, without the keys of the bibliography."""
    drawn: list[str] = []

    def hold(found: re.Match) -> str:
        if found["code"]:
            return found["code"]
        drawn.append(CONVERTER.convert_with_local_state(found["latex"], displaystyle=False))
        # Two characters no text uses hold the place until Markdown is done.
        return f"\ue002{len(drawn) - 1}\ue003"

    # No line begins with a per cent sign.
    made = render(FORMULA.sub(hold, _KEYS.sub("", text).replace(" %", "\xa0%")))
    return re.sub("\ue002(\\d+)\ue003", lambda m: drawn[int(m[1])], made)


def _line(text: str) -> str:
    return _written(text, _MARKDOWN.renderInline)


def _found(pattern: str, text: str, what: str, chapter: str) -> str:
    found = re.search(pattern, text, re.MULTILINE | re.DOTALL)
    if not found:
        raise InputError(f"{chapter}: no {what} for a slide")
    return found[1].strip()


def _section(text: str, heading: str, chapter: str) -> str:
    return _found(rf"^## {heading} *\n(.*?)(?=^#|\Z)", text, repr(heading), chapter)


def _opening(title: str, text: str, chapter: str) -> str:
    claim = _found(r"^\*\*The claim\.\*\* (.*?)\n\n", text, "claim", chapter)
    return f"<h2>{_line(title)}</h2>{_written(claim)}"


def _minute(text: str, chapter: str) -> str:
    box = r"^> \*\*In one minute\*\*\n((?:^>[^\n]*\n?)+)"
    quoted = _found(box, text, "'In one minute'", chapter)
    return "<h2>In one minute</h2>" + _written(re.sub("^> ?", "", quoted, flags=re.M))


def _figure(book: NotebookNode, name: str) -> str:
    for cell in book.cells:
        figure = cell.metadata.get("mystnb", {}).get("figure", {})
        pages = [o.data["text/html"] for o in cell.get("outputs", []) if "text/html" in
                 o.get("data", {})]
        if figure.get("name") == name and pages and _PICTURE.search("".join(pages[-1])):
            drawn, tall = _picture("".join(pages[-1]))
            # Where data are from is said at the top of the chapter, not of a slide.
            first, _, rest = figure["caption"].partition(" Data: ")[0].partition(". ")
            return (f'<figure{" class=tall" if tall else ""}><figcaption>'
                    f"<h2>{_line(first.rstrip('.') + '.')}</h2>{_line(rest)}</figcaption>"
                    f"{drawn}</figure>")
    raise InputError(f"no picture {name} in the chapter")


def _picture(page: str) -> tuple[str, bool]:
    """Give a figure's picture, and whether its caption has more room at the side than above.

    Panels under one another would be small on a screen that is wide: those of a picture that is
    taller than wide are drawn again, twice as many in a row.
    """
    picture, code = _PICTURE.search(page)[0], _SPEC.search(page)
    width, height = _size(picture)
    spec = json.loads(code[1]) if code else {}
    if height > width and "columns" in spec:
        chart = altair.Chart.from_dict(spec | {"columns": 2 * spec["columns"]})
        picture = _PICTURE.search(show(chart, name="again", alt=spec["description"]).html)[0]
        width, height = _size(picture)
    return picture, height > 0.62 * width


def _size(picture: str) -> tuple[float, float]:
    found = _SIZE.search(picture)
    return (float(found[1]), float(found[2])) if found else (0.0, 0.0)


def _question(question: dict) -> list[str]:
    """Give two slides: the question, then the question with its answer."""
    ask = f"<h2>{_line(question['ask'])}</h2>"
    options = question["options"]
    offered = "".join(f"<li>{_line(o['text'])}</li>" for o in options)
    answered = "".join(
        f"<li class=\"{'right' if o['right'] else 'wrong'}\">{_line(o['text'])}"
        f"<br><small><strong>{'Right.' if o['right'] else 'Wrong.'}</strong> "
        f"{_line(o.get('why', ''))}</small></li>" for o in options)
    return [f'{ask}<ol type="A">{text}</ol>' for text in (offered, answered)]
