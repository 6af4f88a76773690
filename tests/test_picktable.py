"""A table to choose from: whole without its script, and with it narrowed and sorted by keyboard."""

from __future__ import annotations

import html
import json
import re

import pandas as pd
import pytest
from built import ROOT

from tjlib.studies import picktable

FRAME = pd.DataFrame(
    [["m-1", "tau2", "AUROC", "0.5", "0.7", "1,200", "-0.100"],
     ["m-1", "GAIA", "AUROC", "0.6", "undefined: no run failed", "900", "+0.100"],
     ["m-2", "tau2", "AUROC", "0.7", "0.6", "20", "+0.020"],
     ["m-2", "tau2", "F1", "0.8", "0.9", "20", "-0.010"]],
    columns=["model", "benchmark", "metric", "RUPA", "SAUP", "runs", "margin"])
SHOWN = picktable.show(FRAME, "Table <2>.", "printed", picks={"metric": "AUROC", "model": ""},
                       columns=["RUPA", "SAUP"])


def test_without_its_script_every_row_stands_and_all_is_escaped():
    page = SHOWN._repr_html_()
    assert page.count("<tr>") == 5 and "hidden" not in page
    assert "Table &lt;2&gt;." in page and "Table <2>" not in page
    told = json.loads(html.unescape(re.search(r'data-pick="([^"]*)"', page)[1]))
    assert told == {"rows": {"metric": "AUROC", "model": ""}, "columns": ["RUPA", "SAUP"]}


def test_a_column_or_a_value_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="no column 'desk'"):
        picktable.show(FRAME, "c", "s", picks={"desk": ""})
    with pytest.raises(ValueError, match="no row has 'F2'"):
        picktable.show(FRAME, "c", "s", picks={"metric": "F2"})


@pytest.fixture
def page(browser):
    page = browser.new_page(viewport={"width": 360, "height": 740})
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.set_content(f'<body class="bd-article">{SHOWN._repr_html_()}</body>')
    page.add_style_tag(path=ROOT / "book" / "_static" / "book.css")
    page.add_script_tag(path=ROOT / "book" / "_static" / "tables.js")
    yield page
    assert page.errors == []
    page.close()


def column(page, at):
    """Read a column of the rows in view."""
    return page.locator(f"tbody tr:not([hidden]) > :nth-child({at})").all_text_contents()


def test_the_menu_that_stands_chosen_narrows_at_once_and_its_column_is_not_repeated(page):
    assert page.locator("[role=status]").inner_text() == "3 of 4 rows"
    assert column(page, 2) == ["tau2", "GAIA", "tau2"]
    assert not page.locator("th", has_text="metric").is_visible()
    page.get_by_label("model").select_option("m-2")
    assert page.locator("[role=status]").inner_text() == "1 of 4 rows"
    assert page.locator("tbody th").nth(2).is_visible()  # a row keeps its name
    page.get_by_label("metric").select_option("all")
    assert column(page, 4) == ["0.7", "0.8"]
    assert page.locator("th", has_text="metric").is_visible()


def test_a_method_is_compared_alone(page):
    page.get_by_label("method").select_option("SAUP")
    assert not page.locator("thead th", has_text="RUPA").is_visible()
    assert page.locator("thead th", has_text="SAUP").is_visible()
    page.get_by_label("method").select_option("all")
    assert page.locator("thead th", has_text="RUPA").is_visible()


@pytest.mark.parametrize(("head", "down", "up"), [
    ("runs", ["1,200", "900", "20"], ["20", "900", "1,200"]),
    ("margin", ["+0.100", "+0.020", "-0.100"], ["-0.100", "+0.020", "+0.100"]),
    ("SAUP", ["0.7", "0.6", "undefined1"], ["0.6", "0.7", "undefined1"]),
    ("benchmark", ["tau2", "tau2", "GAIA"], ["GAIA", "tau2", "tau2"])])
def test_a_head_sorts_by_keyboard_numbers_as_numbers_and_what_has_none_last(page, head, down, up):
    at = list(FRAME.columns).index(head) + 1
    page.locator(f"thead th:nth-child({at}) button").focus()
    for wanted, name in ((down, "descending"), (up, "ascending")):
        page.keyboard.press("Enter")
        assert column(page, at) == wanted
        assert page.locator("th[aria-sort]").all_text_contents() == [head]
        assert page.locator("th[aria-sort]").get_attribute("aria-sort") == name


def test_on_a_phone_the_page_is_not_wider_than_the_phone(page):
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    box = page.locator("tbody th").first.bounding_box()
    assert box["width"] <= 130
