"""Slides of a lecture: one HTML file, made of what the chapters say and draw.

Decision: a slide is a chapter's claim, its minute, a figure as the still picture
that the chapter made, or a question of the quiz bank; so a lecture says what the
book says. Refusal: the file loads nothing, and without its script, or on paper,
the slides stand one under another.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

import msgspec
from markdown_it import MarkdownIt

from tjlib.trace import InputError

if TYPE_CHECKING:
    from nbformat import NotebookNode

__all__ = ["Lecture", "Part", "slides"]

_PICTURE = re.compile(r'<img src="data:image/svg\+xml,[^"]*" alt="[^"]*">')
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
    made = [f"<h1>{html.escape(lecture.title)}</h1>"
            "<p>Made of the chapters; every number is theirs. Arrow keys turn the slides.</p>"]
    for part in lecture.chapters:
        text = "\n\n".join(c.source for c in plain[part.name].cells if c.cell_type == "markdown")
        made += [_opening(text, part.name), _minute(text, part.name)]
        made += [_figure(executed[part.name], name) for name in part.figures]
        for name in part.ask:
            if name not in asked:
                raise InputError(f"{lecture.file}: no question {name} in the quiz bank")
            made += _question(asked[name])
        made.append("<h2>What would change our mind</h2>"
                    + _MARKDOWN.render(_section(text, "What would change our mind", part.name)))
    body = "\n".join(f'<section id="s{n}" tabindex="-1">{slide}</section>'
                     for n, slide in enumerate(made, 1))
    return _PAGE.replace("TITLE", html.escape(lecture.title)).replace("SLIDES", body)


def _found(pattern: str, text: str, what: str, chapter: str) -> str:
    found = re.search(pattern, text, re.MULTILINE | re.DOTALL)
    if not found:
        raise InputError(f"{chapter}: no {what} for a slide")
    return found[1].strip()


def _section(text: str, heading: str, chapter: str) -> str:
    return _found(rf"^## {heading} *\n(.*?)(?=^#|\Z)", text, repr(heading), chapter)


def _opening(text: str, chapter: str) -> str:
    title = _found(r"^# (.*?)$", text, "title", chapter)
    claim = _found(r"^\*\*The claim\.\*\* (.*?)\n\n", text, "claim", chapter)
    return f"<h2>{_MARKDOWN.renderInline(title)}</h2>{_MARKDOWN.render(claim)}"


def _minute(text: str, chapter: str) -> str:
    box = r"^> \*\*In one minute\*\*\n((?:^>[^\n]*\n?)+)"
    quoted = _found(box, text, "'In one minute'", chapter)
    return "<h2>In one minute</h2>" + _MARKDOWN.render(re.sub("^> ?", "", quoted, flags=re.M))


def _figure(book: NotebookNode, name: str) -> str:
    for cell in book.cells:
        figure = cell.metadata.get("mystnb", {}).get("figure", {})
        pages = [o.data["text/html"] for o in cell.get("outputs", []) if "text/html" in
                 o.get("data", {})]
        if figure.get("name") == name and pages and (drawn := _PICTURE.search("".join(pages[-1]))):
            caption = html.escape(figure["caption"])
            return f"<figure>{drawn[0]}<figcaption>{caption}</figcaption></figure>"
    raise InputError(f"no picture {name} in the chapter")


def _question(question: dict) -> list[str]:
    """Give two slides: the question, then the question with its answer."""
    ask = f"<h2>{_MARKDOWN.renderInline(question['ask'])}</h2>"
    options = question["options"]
    offered = "".join(f"<li>{_MARKDOWN.renderInline(o['text'])}</li>" for o in options)
    answered = "".join(
        f"<li class=\"{'right' if o['right'] else 'wrong'}\">{_MARKDOWN.renderInline(o['text'])}"
        f"<br><small><strong>{'Right.' if o['right'] else 'Wrong.'}</strong> "
        f"{_MARKDOWN.renderInline(o.get('why', ''))}</small></li>" for o in options)
    return [f'{ask}<ol type="A">{text}</ol>' for text in (offered, answered)]


_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>TITLE</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>
:root { color-scheme: light; }
body { background: white; color: #1a1a1a; font: 1.35rem/1.45 sans-serif; margin: 0; }
section { box-sizing: border-box; margin: 0 auto; max-width: 62rem; padding: 2rem 2rem 4rem; }
section + section { border-top: 1px solid #ccc; }
h1 { font-size: 2.6rem; line-height: 1.2; } h2 { font-size: 1.8rem; line-height: 1.25; }
figure { margin: 0; } figure img { height: auto; max-height: 78vh; max-width: 100%; width: 60rem; }
figcaption { font-size: 1rem; } li { margin: .5rem 0; } small { font-size: 1.05rem; }
.right { font-weight: 600; } .right small { font-weight: 400; }
nav { background: white; bottom: 0; font-size: 1rem; padding: .3rem 1rem; right: 0; }
nav { position: fixed; }
nav button { font: inherit; min-height: 2rem; min-width: 2.5rem; }
.turned section { border: 0; display: none; min-height: 100vh; }
.turned section.shown { display: block; } .turned section:focus { outline: none; }
@media print {
  nav { display: none; }
  .turned section, section { break-after: page; display: block; min-height: 0; }
}
</style></head><body><main>
SLIDES
</main>
<script>
"use strict";
const slides = [...document.querySelectorAll("section")];
const nav = document.createElement("nav");
nav.setAttribute("aria-label", "Slides");
nav.innerHTML = '<button aria-label="Previous slide">&lt;</button> <span role="status"></span> '
  + '<button aria-label="Next slide">&gt;</button>';
document.body.append(nav);
document.body.classList.add("turned");
let at = 0;
function turn(to) {
  at = Math.max(0, Math.min(slides.length - 1, to));
  slides.forEach((slide, n) => slide.classList.toggle("shown", n === at));
  nav.querySelector("span").textContent = `${at + 1} of ${slides.length}`;
  history.replaceState(null, "", `#s${at + 1}`);
  scrollTo(0, 0);
  slides[at].focus({preventScroll: true});
}
const [back, on] = nav.querySelectorAll("button");
back.onclick = () => turn(at - 1);
on.onclick = () => turn(at + 1);
addEventListener("keydown", event => {
  const steps = {ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1};
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key in steps) turn(at + steps[event.key]);
  else if (event.key === "Home") turn(0);
  else if (event.key === "End") turn(slides.length - 1);
  else return;
  event.preventDefault();
});
turn((parseInt(location.hash.slice(2), 10) || 1) - 1);
</script>
</body></html>
"""
