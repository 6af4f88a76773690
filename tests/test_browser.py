"""The pages in a browser: nothing from elsewhere, every chart drawn, nothing too wide."""

from __future__ import annotations

import functools
import http.server
import threading
from contextlib import contextmanager, suppress

import pytest
from built import GALLERY, build, real_book, small_book
from playwright.sync_api import TimeoutError

pytestmark = pytest.mark.xdist_group("book")

PHONE, DESK = {"width": 360, "height": 740}, {"width": 1280, "height": 900}
TABLET = {"width": 1000, "height": 800}  # a side bar at the left, no margin at the right


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serve a folder without a line per request."""

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def served(folder):
    """Give the address at which a folder is served meanwhile."""
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def gallery(tmp_path_factory, browser):
    folder = small_book(tmp_path_factory.mktemp("gallery"), {"gallery": GALLERY})
    done = build(folder, folder)
    assert done.returncode == 0, done.stdout
    with served(folder / "_build" / "html") as origin:
        yield f"{origin}/notebooks/gallery.html"


@pytest.fixture(scope="module")
def book(browser):
    folder = real_book()
    pages = sorted([*folder.glob("book/*.html"), *folder.glob("notebooks/*.html")])
    with served(folder) as origin:
        yield [f"{origin}/{path.relative_to(folder).as_posix()}" for path in pages]


def visit(browser, url, *, scheme="light", viewport=DESK, **more):
    """Open a page; give it with what it complained of and where else it asked."""
    page = browser.new_context(color_scheme=scheme, viewport=viewport, **more).new_page()
    origin = "/".join(url.split("/")[:3])
    complaints: list[str] = []
    loud = ("error", "warning")
    page.on("console", lambda m: complaints.append(m.text) if m.type in loud else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "request",
        lambda r: None if r.url.startswith((origin, "data:")) else complaints.append(r.url),
    )
    page.goto(url, wait_until="networkidle")
    return page, complaints


#: Words of a chart that lie outside its drawing, which cuts them off.
CUT = """() => [...document.querySelectorAll('.tj-live svg')].flatMap((svg) => {
  const box = svg.getBoundingClientRect();
  const out = (r) => r.left < box.left - 1 || r.right > box.right + 1 ||
                     r.top < box.top - 1 || r.bottom > box.bottom + 1;
  return [...svg.querySelectorAll('text')].filter((t) => t.getBoundingClientRect().width)
    .filter((t) => out(t.getBoundingClientRect())).map((t) => t.textContent);
})"""


def check(browser, url, scheme, viewport):
    page, complaints = visit(browser, url, scheme=scheme, viewport=viewport)
    charts = page.locator(".tj-chart")
    for i in range(charts.count()):
        # Present and marked as drawn; one inside a closed box is drawn when it opens.
        if charts.nth(i).is_visible():
            charts.nth(i).locator(".tj-live svg").wait_for(timeout=15_000)
            assert not charts.nth(i).locator("> img").is_visible()
    assert page.evaluate(CUT) == [], url
    wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert wide <= 0, f"{url} is {wide} px wider than the window"
    assert complaints == [], url
    page.context.close()


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_stays_home_draws_its_charts_and_fits(browser, book, gallery, scheme, viewport):
    for url in [*book, gallery]:
        check(browser, url, scheme, viewport)


def test_charts_fit_a_phone_without_shrinking_their_text(browser, gallery):
    page, _ = visit(browser, gallery, viewport=PHONE)
    # A chart may be drawn again while its page settles, so each is asked until it fits.
    page.wait_for_function(
        """() => [...document.querySelectorAll('.tj-chart')].every((chart) => {
             const s = chart.querySelector('.tj-live svg');
             return s && s.clientWidth && Number(s.getAttribute('width')) <= s.clientWidth + 3;
           })""", timeout=20_000)
    assert page.evaluate(
        """() => Math.min(...[...document.querySelectorAll('.tj-live text')]
           .map((t) => parseFloat(getComputedStyle(t).fontSize)))"""
    ) >= 14


def test_switching_the_scheme_redraws_the_charts(browser, gallery):
    from tjlib.charts.theme import SCHEMES

    page, complaints = visit(browser, gallery)
    svg = page.locator("#chart-one .tj-live svg")
    svg.wait_for()

    def background() -> str:
        style = "getComputedStyle(document.querySelector('#chart-one .tj-live svg'))"
        parts = page.evaluate(f"{style}.backgroundColor").removeprefix("rgb(").rstrip(")")
        return "#" + "".join(f"{int(part):02X}" for part in parts.split(","))

    assert background() == SCHEMES["light"]["background"]
    before = svg.element_handle()
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    before.wait_for_element_state("hidden")
    svg.wait_for()
    dark = SCHEMES["dark"]["background"]
    assert background() == dark
    page_colour = page.evaluate(
        "getComputedStyle(document.documentElement)"
        ".getPropertyValue('--pst-color-background').trim().toUpperCase()"
    )
    assert page_colour == dark and complaints == []


def tooltip(page, mark):
    """Point at a mark, again if need be: a chart drawn anew under a still pointer sees no move."""
    shown = page.locator("#vg-tooltip-element.visible")
    for _ in range(10):
        page.mouse.move(0, 0)
        mark.hover()
        with suppress(TimeoutError):
            shown.wait_for(timeout=3_000)
            return shown
    raise AssertionError("ten moves onto the mark and no tooltip")


def test_hovering_a_point_shows_its_values(browser, gallery):
    page, complaints = visit(browser, gallery)
    page.locator("#chart-one .tj-live svg").wait_for()
    tooltip(page, page.locator("#chart-one .tj-live svg .mark-symbol path").first)
    assert complaints == []


def test_hovering_a_word_in_a_box_shows_what_the_box_stands_for(browser, book):
    url = next(url for url in book if "a3_testbed" in url)
    page, complaints = visit(browser, url)
    word = page.locator("#chart-a3-strips .tj-live svg .mark-text text", has_text="who").first
    assert "get_customer(" in tooltip(page, word).inner_text() and complaints == []


@pytest.mark.parametrize("viewport", [DESK, TABLET, PHONE], ids=["desk", "tablet", "phone"])
def test_what_a_table_hides_is_shadowed_and_scrolls_beside_its_first_column(
    browser, book, viewport
):
    seen = {"wide": 0, "hidden": 0}
    for url in book:
        page, _ = visit(browser, url, viewport=viewport)
        text = page.locator(".bd-article p").first.bounding_box()["width"]
        for table in page.locator(".tj-table").all():
            box = table.locator(".tj-scroll")
            if not table.is_visible():
                continue
            if viewport == DESK and "full-width" in table.get_attribute("class"):
                assert box.bounding_box()["width"] > 1.2 * text
                seen["wide"] += 1
            if box.evaluate("(e) => e.scrollWidth > e.clientWidth"):
                assert "scroll" in box.evaluate("(e) => getComputedStyle(e).backgroundAttachment")
                box.evaluate("(e) => { e.scrollLeft = e.scrollWidth; }")
                edge = table.locator("tbody th:visible").first.bounding_box()["x"]
                assert abs(edge - box.bounding_box()["x"]) < 1
                seen["hidden"] += 1
        assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0, url
        page.context.close()
    # On a desk the margin holds every wide table; elsewhere something has to scroll.
    assert seen["wide"] if viewport == DESK else seen["hidden"]


def test_every_column_of_table_3_is_seen_on_a_desk(browser, book):
    url = next(url for url in book if "a6_results" in url)
    page, _ = visit(browser, url, viewport={"width": 1200, "height": 900})
    heads, boxes = [], page.locator(".tj-table", has_text="Table 3, ").locator(".tj-scroll")
    for box in boxes.all():
        assert box.evaluate("(e) => e.scrollWidth <= e.clientWidth")
        heads += box.locator("thead th").all_inner_texts()
    assert {"ECE", "coverage"} <= set(heads) and boxes.count() == 2


def test_no_row_of_a_table_is_tall_for_want_of_a_number(browser, book):
    url = next(url for url in book if "a6_results" in url)
    page, _ = visit(browser, url)
    lines = page.evaluate("""() => [...document.querySelectorAll('.tj-table tbody tr')]
      .filter((row) => row.textContent.includes('undefined') && row.offsetHeight)
      .map((row) => row.offsetHeight / parseFloat(getComputedStyle(row).lineHeight))""")
    assert lines and max(lines) < 4


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_the_comments_of_the_parameters_are_there_to_the_last_word(browser, book, viewport):
    seen = 0
    for url in book:
        page, _ = visit(browser, url, viewport=viewport)
        for cell in page.locator(".tag_parameters pre").all():
            assert cell.evaluate("(e) => e.scrollWidth - e.clientWidth") <= 0, url
            seen += 1
        page.context.close()
    assert seen >= 5


def test_without_scripts_the_picture_is_there(browser, gallery):
    page, _ = visit(browser, gallery, java_script_enabled=False)
    picture = page.locator("#chart-one > img")
    assert picture.is_visible() and picture.bounding_box()["height"] > 50


def test_on_paper_the_picture_takes_the_place_of_the_drawing(browser, gallery):
    page, _ = visit(browser, gallery, scheme="dark")
    page.locator("#chart-one .tj-live svg").wait_for()
    page.emulate_media(media="print")
    assert page.locator("#chart-one > img").is_visible()
    assert not page.locator("#chart-one .tj-live").is_visible()
