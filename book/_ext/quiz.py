"""The quiz bank: read from book/quiz.yaml, checked against the chapters, written out.

Decision: a question names the heading under which its answer stands, and every
number in it is one that the page shows. Refusal: no question without exactly
one right option, no wrong option without a reason, and no number typed by hand.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import yaml

from tjlib.page import GLUE
from tjlib.trace import InputError

if TYPE_CHECKING:
    from nbformat import NotebookNode

__all__ = ["Option", "Question", "as_html", "as_json", "as_markdown", "problems",
           "read", "resolved"]

#: Questions a chapter has at least, and options a question has.
LEAST, OPTIONS = 4, (3, 4)
#: A number that stands alone, so not that of F1, 8B or tau2.
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]\w|\w)")
_CODE = re.compile(r"`[^`]*`")


class Option(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One answer on offer, right or wrong, and why it is wrong."""

    right: str | None = None
    wrong: str | None = None
    why: str | None = None

    @property
    def text(self) -> str:
        """What the reader is offered."""
        return self.right or self.wrong or ""


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One question on one page."""

    id: str
    section: str
    ask: str
    options: list[Option]

    @property
    def texts(self) -> list[str]:
        """Everything in it that a reader reads."""
        return [self.ask, *(text for o in self.options for text in (o.text, o.why) if text)]


class _Loader(yaml.SafeLoader):
    """YAML in which a key given twice is a mistake, not a replacement."""

    def construct_mapping(self, node, deep=False):
        keys = [key.value for key, _ in node.value]
        if twice := [key for key in keys if keys.count(key) > 1]:
            raise yaml.constructor.ConstructorError(
                None, None, f"{twice[0]} stands there twice", node.start_mark)
        return super().construct_mapping(node, deep)


def read(path: Path) -> dict[str, list[Question]]:
    """Read the bank: chapters and their questions, in the order of the file."""
    try:
        found = yaml.load(path.read_text("utf-8"), _Loader)
        return msgspec.convert(found, dict[str, list[Question]])
    except yaml.MarkedYAMLError as error:
        raise InputError(f"{path.name}:{error.problem_mark.line + 1}: {error.problem}") from None
    except msgspec.ValidationError as error:
        raise InputError(f"{path.name}: {error}; see the head of the file") from None


def problems(bank: dict[str, list[Question]], pages: dict[str, NotebookNode]) -> list[str]:
    """Tell what is wrong with the bank, one line a problem.

    Parameters
    ----------
    bank : dict
        As `read` gives it.
    pages : dict
        Chapters by name, with or without outputs.
    """
    found = [f"{name}: no such chapter" for name in bank if name not in pages]
    found += [f"{name}: fewer than {LEAST} questions" for name in pages
              if len(bank.get(name, [])) < LEAST]
    ids = [question.id for questions in bank.values() for question in questions]
    found += [f"{name}: two questions have this id" for name in sorted(set(ids))
              if ids.count(name) > 1]
    for name, questions in bank.items():
        if name not in pages:
            continue
        prose = "\n".join(c.source for c in pages[name].cells if c.cell_type == "markdown")
        headings, shown = set(re.findall(r"^#+ (.+)$", prose, re.MULTILINE)), GLUE.findall(prose)
        for question in questions:
            found += [f"{question.id}: {what}" for what in _wrong_with(question)]
            if question.section not in headings:
                found.append(f"{question.id}: {name} has no heading {question.section!r}")
            keys = {key for text in question.texts for key in GLUE.findall(text)}
            found += [f"{question.id}: {name} shows no {key}" for key in sorted(keys - set(shown))]
    return found


def _wrong_with(question: Question) -> list[str]:
    found, options = [], question.options
    if not OPTIONS[0] <= len(options) <= OPTIONS[1]:
        found.append(f"{len(options)} options; give {OPTIONS[0]} or {OPTIONS[1]}")
    if sum(o.right is not None for o in options) != 1:
        found.append("not exactly one right option")
    for option in options:
        if (option.right is None) == (option.wrong is None) or not option.text.strip():
            found.append("an option that is not either right or wrong")
        elif option.wrong is not None and not (option.why or "").strip():
            found.append(f"no reason why this is wrong: {option.wrong}")
    if len({o.text for o in options}) < len(options):
        found.append("two options are the same")
    found += [f"a number typed by hand: {number}" for text in question.texts
              for number in _NUMBER.findall(_CODE.sub("", text))]
    return found


def resolved(bank: dict[str, list[Question]], glued: dict[str, dict[str, str]]) -> list[dict]:
    """Put the chapters' numbers in, and the options in an order that tells nothing.

    Parameters
    ----------
    bank : dict
        Without problems.
    glued : dict
        By chapter, what its run glued.

    Raises
    ------
    InputError
        If a number is missing, or if with the numbers put in two options read the same.
    """
    made = []
    for name, questions in bank.items():
        for question in questions:
            put = partial(_put, at=question.id, chapter=name, glued=glued[name])
            options = sorted(question.options, key=lambda o: hashlib.sha256(
                f"{question.id} {o.text}".encode()).hexdigest())
            texts = [put(option.text) for option in options]
            if len(set(texts)) < len(texts):
                raise InputError(f"quiz {question.id}: two options read the same with the numbers "
                                 f"of this run; reword one")
            made.append({
                "id": question.id, "chapter": name, "section": question.section,
                "ask": put(question.ask),
                "options": [{"text": text, "right": option.right is not None,
                             **({"why": put(option.why)} if option.why else {})}
                            for text, option in zip(texts, options, strict=True)]})
    return made


def _put(text: str, *, at: str, chapter: str, glued: dict[str, str]) -> str:
    for key in GLUE.findall(text):
        if key not in glued:
            raise InputError(f"quiz {at}: the run of {chapter} glued no {key}")
    return GLUE.sub(lambda found: glued[found[1]], text).strip()


def as_json(questions: list[dict]) -> str:
    """Write resolved questions as JSON."""
    return json.dumps(questions, indent=1, ensure_ascii=False) + "\n"


def as_markdown(questions: list[dict], titles: dict[str, str], *, answers: bool) -> str:
    """Write resolved questions as Markdown, with the answers under each or without."""
    lines, chapter = ["# Quiz"], None
    for number, question in enumerate(questions, 1):
        if question["chapter"] != chapter:
            chapter = question["chapter"]
            lines += ["", f"## {titles[chapter]}"]
        lines += ["", f"{number}. {question['ask']}", ""]
        for letter, option in zip("ABCD", question["options"], strict=False):
            lines.append(f"    - {letter}. {option['text']}")
            if answers:
                verdict = "Right." if option["right"] else "Wrong."
                lines.append(f"        - *{verdict}* {option.get('why', '')}".rstrip())
        if answers:
            lines += ["", f"    Read again: *{question['section']}*."]
    return "\n".join(lines) + "\n"


_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Quiz</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>
:root {{ color-scheme: light dark; }}
body {{ background: #fff; color: #1a1a1a; font: 1rem/1.5 sans-serif; margin: 0 auto; }}
body {{ max-width: 44rem; padding: 1rem; }}
li {{ margin: 0 0 1.2rem; }} details {{ margin: .3rem 0; }} summary {{ cursor: pointer; }}
summary {{ min-height: 1.5rem; }} :focus-visible {{ outline: 3px solid #0072B2; }}
details p {{ border-left: 4px solid #0072B2; margin: .3rem 0 .6rem 1rem; padding-left: .6rem; }}
@media (prefers-color-scheme: dark) {{
  body {{ background: #121212; color: #eee; }}
  :focus-visible {{ outline-color: #56B4E9; }} details p {{ border-color: #56B4E9; }}
}}
@media print {{
  body {{ background: none; color: #000; max-width: none; }} li {{ break-inside: avoid; }}
}}
</style></head><body><main><h1>Quiz</h1>
<p>Open an option to see whether it is right and, if not, why.</p>
{body}
</main></body></html>
"""


def as_html(questions: list[dict], titles: dict[str, str]) -> str:
    """Write resolved questions as one page that needs no script: each option opens."""
    parts: list[str] = []
    for number, question in enumerate(questions, 1):
        if number == 1 or question["chapter"] != questions[number - 2]["chapter"]:
            title = _inline(titles[question["chapter"]])
            parts.append(f'{"</ol>" if parts else ""}<h2>{title}</h2><ol start="{number}">')
        options = "".join(
            f"<details><summary>{_inline(o['text'])}</summary><p><strong>"
            f"{'Right.' if o['right'] else 'Wrong.'}</strong> {_inline(o.get('why', ''))}"
            f"{' Read again: ' + _inline(question['section']) + '.' if not o['right'] else ''}"
            "</p></details>" for o in question["options"])
        parts.append(f"<li id=\"{question['id']}\">{_inline(question['ask'])}{options}</li>")
    return _PAGE.format(body="\n".join([*parts, "</ol>"]))


def _inline(text: str) -> str:
    """Write the little Markdown that questions use: code and emphasis."""
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))
    return re.sub(r"\*([^*]+)\*", r"<em>\1</em>", text)
