"""Without a mouse, without scripts, on paper: each page still gives all it has."""

from __future__ import annotations

import pytest
from pages import CHAPTERS, PAGES
from test_axe import CONTRAST, OPEN, SETTLED, WIDTHS
from test_browser import DESK, visit

pytestmark = pytest.mark.xdist_group("axe")


#: What can be operated, or scrolls sideways, and no key reaches, or shows no sign of being reached.
UNREACHED = """() => {
  const scrolls = (e) => ['auto', 'scroll'].includes(getComputedStyle(e).overflowX);
  const boxes = [...document.querySelectorAll('.bd-article *')]
    .filter((e) => scrolls(e) && e.scrollWidth > e.clientWidth + 1);
  const parts = document.querySelectorAll(
    'a[href], button, summary, select, input, [tabindex="0"]');
  const ring = (e) => {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(e);
    return [outlineStyle === 'none' ? '' : outlineWidth, boxShadow].join();
  };
  const out = [];
  for (const e of new Set([...boxes, ...parts])) {
    if (!e.checkVisibility({ visibilityProperty: true }) || !e.getClientRects().length) continue;
    if (e.disabled || e.closest('dialog:not([open])')) continue;
    document.activeElement.blur();
    const before = ring(e);
    e.focus({ focusVisible: true, preventScroll: true });
    const inside = boxes.includes(e) && e.querySelector('a[href], button, summary');
    if (e.tabIndex < 0 ? !inside : document.activeElement !== e || ring(e) === before)
      out.push(e.outerHTML.slice(0, 120));
  }
  return out;
}"""


@pytest.mark.parametrize("name", PAGES)
def test_a_key_reaches_what_can_be_operated_or_scrolls_and_it_shows(browser, origin, name):
    page, _ = visit(browser, f"{origin}/{name}.html", viewport=WIDTHS["phone"],
                    reduced_motion="reduce")
    page.evaluate(OPEN)
    page.wait_for_timeout(500)
    page.wait_for_function(SETTLED, timeout=60_000)
    assert page.evaluate(UNREACHED) == []
    page.context.close()


def test_what_no_key_reaches_is_found(browser):
    page = browser.new_page()
    page.set_content("""<style>a:focus-visible { outline: none }</style><div class="bd-article">
      <a href="#">no ring</a><button>good</button><button tabindex="-1">out of reach</button>
      <div style="overflow-x: auto; width: 50px" tabindex="-1"><p style="width: 90px">x</p></div>
      <div style="overflow-x: auto; width: 50px" tabindex="0"><p style="width: 90px">x</p></div>
      </div>""")
    found = page.evaluate(UNREACHED)
    wanted = ("no ring", "out of reach", 'tabindex="-1"><p')
    assert len(found) == 3 and all(any(part in one for one in found) for part in wanted)
    page.close()


def test_tab_walks_a_chapter_in_order_and_keys_unfold_what_is_folded(browser, origin):
    page, complaints = visit(browser, f"{origin}/notebooks/a6_results.html")
    page.locator(".bd-article .tj-live svg").first.wait_for()
    stops = []
    for _ in range(400):
        page.keyboard.press("Tab")
        at = page.evaluate("""() => {
          const e = document.activeElement, all = [...document.querySelectorAll('*')];
          return [all.indexOf(e), e.tagName, !!e.closest('.bd-article'),
                  !!e.closest('.tj-chart'), e.className]; }""")
        if stops and at[0] <= stops[-1][0]:
            break
        stops.append(at)
    inside = [stop for stop in stops if stop[2]]
    charts = page.locator(".tj-chart").count()
    assert sum(stop[1] == "SUMMARY" and stop[3] for stop in inside) == charts > 0
    assert sum("tj-scroll" in stop[4] for stop in inside) >= page.locator(
        ".tj-table .tj-scroll:visible").count() > 0
    fold = page.locator(".tj-chart summary").first
    fold.focus()
    for key, yes in (("Enter", True), ("Space", False), ("Space", True)):
        page.keyboard.press(key)
        assert fold.locator("..").evaluate("(e) => e.open") is yes
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.matches('.tj-chart .tj-scroll')")
    assert complaints == []
    page.context.close()


def test_a_key_unfolds_a_solution_and_folds_it(browser, origin):
    page, _ = visit(browser, f"{origin}/notebooks/b4_relational_graph.html")
    box = page.locator(".admonition.dropdown").first
    button, text = box.locator(".toggle-button"), box.locator("p:not(.admonition-title)").first
    button.focus()
    for key, shown in (("Enter", True), ("Space", False)):
        assert text.is_visible() is not shown
        page.keyboard.press(key)
        assert text.is_visible() is shown
    page.context.close()


#: Pictures of charts in view that a browser could not draw, or drew too small to see.
UNDRAWN = """() => [...document.querySelectorAll('.tj-chart > img')]
  .filter((e) => !e.closest('details:not([open])'))
  .filter((e) => !e.complete || Math.min(e.naturalWidth, e.clientWidth, 5 * e.clientHeight) < 250)
  .map((e) => e.parentElement.id)"""


@pytest.mark.parametrize("name", CHAPTERS)
def test_without_scripts_each_figure_is_a_picture_and_every_fold_opens(browser, origin, name):
    page, _ = visit(browser, f"{origin}/{name}.html", viewport=WIDTHS["phone"],
                    java_script_enabled=False)
    assert page.evaluate(UNDRAWN) == []
    # A fold is the browser's own, and its first child is what opens it.
    assert page.evaluate("""() => [...document.querySelectorAll('details')]
      .filter((e) => e.firstElementChild?.tagName !== 'SUMMARY').length""") == 0
    fold = page.locator(".bd-article details:visible").first
    fold.locator("> summary").focus()
    page.keyboard.press("Enter")
    assert fold.evaluate("(e) => e.open && e.lastElementChild.checkVisibility()")
    # What a script would fold is there to be read.
    assert page.evaluate("""() => [...document.querySelectorAll('.bd-article .dropdown > *')]
      .filter((e) => !e.closest('details:not([open])') && !e.checkVisibility()).length""") == 0
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.context.close()


@pytest.mark.parametrize("name", CHAPTERS)
def test_on_paper_are_the_pictures_and_what_the_reader_opened_and_no_navigation(
    browser, origin, name
):
    page, _ = visit(browser, f"{origin}/{name}.html", scheme="dark", viewport=DESK)
    fold = page.locator(".tj-chart:visible > details").first
    fold.locator("summary").click()
    page.wait_for_function(SETTLED, timeout=60_000)
    page.emulate_media(media="print")
    assert page.evaluate(UNDRAWN) == [] and page.locator(".tj-live:visible").count() == 0
    assert fold.locator("tbody td").first.is_visible()
    assert page.locator(".bd-article details:not([open]):visible").count() == 0
    for part in (".bd-header", ".bd-header-article", ".bd-sidebar-primary", ".bd-sidebar-secondary",
                 ".prev-next-footer", "#jb-print-toc", ".skip-link"):
        shown = page.locator(part).evaluate_all(
            "(all) => all.filter((e) => e.checkVisibility() && e.clientHeight > 1).length")
        assert shown == 0, part
    # Dark ink on white, whatever the screen was.
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate(CONTRAST)["low"] == []
    page.context.close()
