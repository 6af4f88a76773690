"""Everything a page leads to is there: pages, places on them, files, and downloads that compile."""

from __future__ import annotations

import ast
import functools
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
from bs4 import BeautifulSoup
from built import ROOT, real_book
from IPython.core.inputtransformer2 import TransformerManager
from pages import CHAPTERS, PAGES, html

pytestmark = pytest.mark.xdist_group("book")


@functools.cache
def soup(page: str) -> BeautifulSoup:
    return BeautifulSoup(html(page), "html.parser")


@functools.cache
def places(path: Path) -> set[str]:
    """The places of a page that a link may name."""
    read = BeautifulSoup(path.read_text("utf-8"), "html.parser")
    return {one[key] for key in ("id", "name") for one in read.find_all(attrs={key: True})}


def dead(page: str) -> list[str]:
    """Give the addresses on a page that lead nowhere in the book, or out of it to no web page."""
    start, out = real_book() / f"{page}.html", []
    for tag in soup(page).find_all(True):
        for address in filter(None, (tag.get("href"), tag.get("src"))):
            parts = urlsplit(address)
            if parts.scheme:
                if parts.scheme not in ("https", "http", "data"):
                    out.append(address)
                continue
            path = (start.parent / unquote(parts.path)).resolve() if parts.path else start
            if path.is_dir():
                path /= "index.html"
            if not path.is_file() or not path.is_relative_to(real_book()):
                out.append(address)
            elif parts.fragment and path.suffix == ".html":
                out += [address] * (unquote(parts.fragment) not in places(path))
    return out


def test_these_are_all_the_pages():
    folder = real_book()
    found = {path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.html")}
    assert {page for page in found if not page.startswith("_static/")} == set(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_every_link_of_a_page_leads_somewhere(page):
    assert dead(page) == []


def test_a_dead_link_is_found(tmp_path, monkeypatch):
    text = ('<p id="here"></p><a href="#here">x</a><a href="#gone">x</a><a href="b.html">x</a>'
            '<img src="gone.png"><a href="https://a.b">x</a><a href="a.html#here">x</a>'
            '<a href="../out.txt">x</a><a href="javascript:x()">x</a>')
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "a.html").write_text(text, "utf-8")
    (tmp_path / "out.txt").write_text("x", "utf-8")
    monkeypatch.setattr("test_links.real_book", lambda: tmp_path / "book")
    monkeypatch.setattr("test_links.soup", lambda _: BeautifulSoup(text, "html.parser"))
    assert dead("a") == ["#gone", "b.html", "gone.png", "../out.txt", "javascript:x()"]


@pytest.mark.parametrize("page", PAGES)
def test_no_two_elements_of_a_page_share_an_id(page):
    ids = [tag["id"] for tag in soup(page).find_all(id=True)]
    assert [one for one in set(ids) if ids.count(one) > 1] == []


@pytest.mark.parametrize("page", CHAPTERS)
def test_a_page_offers_its_notebook_whose_every_cell_compiles(page):
    buttons = [a["href"] for a in soup(page).select("a.btn-download-source-button")]
    assert buttons == [f"../_sources/{page}.ipynb"]
    for path in (real_book() / "_sources" / f"{page}.ipynb", ROOT / f"{page}.ipynb"):
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
        assert cells
        for source in cells:
            compile(TransformerManager().transform_cell(source), str(path), "exec",
                    ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


@pytest.mark.parametrize("page", CHAPTERS)
def test_every_chart_has_a_description_and_its_numbers_as_a_table(page):
    for chart in soup(page).select(".tj-chart"):
        sentence = chart.img["alt"]
        assert len(sentence) >= 20 and sentence.endswith("."), chart["id"]
        rows = chart.select("details table tbody tr")
        assert rows and chart.select("details table thead th[scope=col]"), chart["id"]
        assert chart.select_one("[role=region]")["aria-label"] == f"Data table. {sentence}"


def test_the_games_chart_has_its_table_beside_it():
    result = soup("book/intro").select_one(".tj-result")
    assert result.select_one(".tj-chart img[alt]") and result.select(".tj-table tbody tr")
    charts = soup("book/intro").select(".tj-chart")
    assert len(charts) == len(result.select(".tj-chart"))
