"""The reference pages: no word without an entry, no judge or method without a row."""

from __future__ import annotations

import re

import pytest
from built import ROOT

PAGES = [*(ROOT / "notebooks").glob("*.py"), *(ROOT / "book").glob("*.md")]


def glossary() -> list[str]:
    """The terms that the glossary explains."""
    text = (ROOT / "book" / "glossary.md").read_text("utf-8")
    lists = re.findall(r"```\{glossary\}\n(.*?)```", text, re.DOTALL)
    return [line for part in lists for line in part.splitlines() if line and line[0] != " "]


def test_every_word_that_a_page_links_has_one_entry():
    terms = glossary()
    assert len(terms) == len(set(terms)) >= 60
    linked = {
        (target or words).replace("\n# ", " ")
        for page in PAGES
        for words, target in re.findall(r"\{term\}`([^`<]*?)(?: *<([^`>]+)>)?`",
                                        page.read_text("utf-8"))}
    assert linked <= set(terms) and len(linked) >= 30


@pytest.mark.parametrize("part", ["a3", "a4", "a5", "a6", "a7", "a8", "a9", "b3", "b4", "c2"])
def test_a_chapter_leads_to_the_glossary(part):
    (page,) = (ROOT / "notebooks").glob(f"{part}_*.py")
    assert "{term}`" in page.read_text("utf-8")
