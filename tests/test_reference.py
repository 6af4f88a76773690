"""The reference pages: no word without an entry, no judge or method without a row."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from built import ROOT, build, real_book, small_book
from methods import COSTS, JUDGES, SOURCES, judges, methods, needs
from sphinx.errors import ExtensionError

from tjlib.judges.panel import DESIGNS
from tjlib.uncertainty.methods import METHODS
from tjlib.usage import parser

pytestmark = pytest.mark.xdist_group("book")

CHAPTERS = sorted((ROOT / "notebooks").glob("*.py"))
PAGES = [*CHAPTERS, *(ROOT / "book").glob("*.md")]


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


@pytest.mark.parametrize("page", CHAPTERS, ids=lambda p: p.stem)
def test_a_chapter_leads_to_the_glossary(page):
    assert "{term}`" in page.read_text("utf-8")


def imported(page: Path) -> set[str]:
    """The modules of the library that a chapter imports from."""
    found = set()
    for node in ast.walk(ast.parse(page.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tjlib"):
            for name in node.names:
                place = ROOT / Path(*node.module.split("."), name.name)
                inner = place.with_suffix(".py").exists() or place.is_dir()
                found.add(f"{node.module}.{name.name}" if inner else node.module)
    return found


@pytest.mark.parametrize("page", CHAPTERS, ids=lambda p: p.stem)
def test_what_a_chapter_imports_can_be_looked_up_but_for_its_figures(page):
    told = {name for file in (ROOT / "book" / "api").glob("*.md")
            for name in re.findall(r"automodule:: (\S+)", file.read_text("utf-8"))}
    assert {name for name in imported(page) if ".charts" not in name} <= told


def names(rows: list[list[str]]) -> list[str]:
    """The names in the first column of a table, without their links."""
    return [re.fullmatch(r"\{py:obj\}`(\S+) <(tjlib\.\S+)>`", row[0])[1] for row in rows[1:]]


def test_every_judge_of_the_command_line_and_every_design_has_a_row():
    found = names(judges())
    assert len(found) == len(set(found)) and set(DESIGNS) | set(JUDGES) == set(found)
    for name in found:  # and none that the command line would not take
        parser().parse_args(["judge", name, "--traces", "a", "--out", "b"])


def test_every_uncertainty_method_has_a_row_and_a_source():
    assert names(methods()) == list(METHODS)
    assert set(SOURCES) <= set(METHODS) | set(names(judges()))
    assert all(row[-1] for row in methods())


def test_no_cell_of_the_tables_is_cut_by_its_own_text():
    for rows in (judges(), methods()):
        assert {len(row) for row in rows} == {len(rows[0])}
        assert not [cell for row in rows for cell in row if re.search(r"(?<!\\)\||\n", cell)]


def test_a_new_method_without_a_source_is_named_with_what_to_do(monkeypatch):
    monkeypatch.setitem(METHODS, "mine", METHODS["pe"])
    with pytest.raises(ExtensionError, match=r"'mine' is new: give it a line in SOURCES"):
        methods()


def test_what_a_method_needs_is_what_it_asks_for():
    logprobs, stated, drawn = COSTS
    assert needs("pe") == ([logprobs], False)
    assert needs("rupa") == ([logprobs], True)
    assert needs("rupa_structural") == ([], True)
    assert needs("tracer") == ([f"{logprobs}, if there are any"], True)
    assert needs("verbalized") == ([stated], False)
    assert needs("uprop") == ([drawn], False)
    assert needs("n_steps") == ([], False)


def test_the_published_tokens_are_prompt_and_answer_together():
    rows = dict(zip(names(judges()), judges()[1:], strict=True))
    assert rows["outcome"][4:6] == ["1", "710"]  # 578.30 + 132.14
    assert rows["ensemble"][4:6] == ["3", "4,255"]  # 3039.09 + 1215.52
    assert rows["rules"][4:6] == ["0", "-"]


def test_every_citation_has_its_entry_and_every_entry_is_cited():
    entries = re.findall(r"^@\w+\{(\S+),$", (ROOT / "book" / "references.bib").read_text("utf-8"),
                         re.MULTILINE)
    pages = [*PAGES, ROOT / "book" / "_ext" / "methods.py"]
    cited = {key for page in pages
             for keys in re.findall(r"\{cite(?::t)?\}+`([^`]+)`", page.read_text("utf-8"))
             for key in keys.split(",")}
    assert len(entries) == len(set(entries)) and cited == set(entries)


def test_a_judge_without_a_page_or_a_word_without_an_entry_stops_the_build(tmp_path):
    folder = small_book(tmp_path, {"one": "# %% [markdown]\n# # A chapter\n"})
    text = "# A book\n\nA {term}`nothing`, {py:obj}`tjlib.nothing`, {cite}`nobody`.\n"
    (folder / "book" / "intro.md").write_text(text, "utf-8")
    done = build(folder, folder)
    assert done.returncode != 0
    for told in ("term not in glossary: 'nothing'", "target not found: tjlib.nothing", "nobody"):
        assert told in done.stdout, told


def test_the_library_s_pages_describe_what_a_reader_calls():
    seen = {page.stem: page.read_text("utf-8")
            for page in (real_book() / "book" / "api").glob("*.html")}
    for page, name in [
        ("records", "tjlib.trace.Trajectory"), ("records", "tjlib.store.load"),
        ("desk", "tjlib.desk.testbed.judged_set"), ("judges", "tjlib.judges.panel.Judge"),
        ("measure", "tjlib.measure.intervals.intervals"),
        ("uncertainty", "tjlib.uncertainty.propagate.propagate"),
        ("records", "tjlib.formats.registry.load"), ("records", "tjlib.chapter.check"),
    ]:
        assert f'id="{name}"' in seen[page], name
    assert not [page for page, text in seen.items() if "Alias for field" in text]


def test_the_list_of_references_is_a_list_of_items():
    text = (real_book() / "book" / "references.html").read_text("utf-8")
    entries = text.partition('<div role="list" class="citation-list">')[2]
    assert entries.count('role="listitem"') == entries.count('class="citation"') >= 20
