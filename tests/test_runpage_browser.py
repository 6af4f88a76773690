"""A page of runs in a browser: no script of a log runs, nothing is asked for, it can be used."""

from __future__ import annotations

from itertools import pairwise

import pytest
from test_runpage import EVERYTHING, HOSTILE, a_run, hostile_run, made

from tjlib.trace import Verdict

DESK, PHONE = {"width": 1200, "height": 900}, {"width": 360, "height": 740}

#: The contrast of a colour with what is under it, and every text that has too little.
FAINT = """() => {
  const rgb = (c) => c.match(/[\\d.]+/g).map(Number);
  const light = (c) => { const [r, g, b] = rgb(c).map((v) => v / 255).map(
    (v) => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b; };
  const under = (e) => { for (; e; e = e.parentElement) {
    const c = getComputedStyle(e).backgroundColor; if ((rgb(c)[3] ?? 1) > 0) return c; } };
  const faint = [];
  for (const e of document.querySelectorAll('body *')) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || e.closest('svg') || !e.getClientRects().length) continue;
    const [a, b] = [light(getComputedStyle(e).color), light(under(e))].sort((x, y) => y - x);
    if ((a + .05) / (b + .05) < 4.5) faint.push(e.outerHTML.slice(0, 80));
  }
  return faint;
}"""


@pytest.fixture
def show(browser, tmp_path):
    """Open HTML from a file; give the page with what it asked for and complained of."""

    def call(html, *, viewport=DESK, **more):
        path = tmp_path / "page.html"
        path.write_text(html, "utf-8")
        context = browser.new_context(viewport=viewport, **more)
        page = context.new_page()
        page.asked, page.complaints = [], []
        page.on("request", lambda r: page.asked.append(r.url))
        page.on("console", lambda m: page.complaints.append(m.text))
        page.on("pageerror", lambda e: page.complaints.append(str(e)))
        page.on("dialog", lambda d: (page.complaints.append(d.message), d.dismiss()))
        page.goto(path.as_uri())
        return page

    return call


def open_all(page):
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")


@pytest.mark.parametrize("policy", [True, False], ids=["with the policy", "without the policy"])
def test_a_hostile_log_runs_no_script_and_asks_for_nothing(show, policy):
    said = [Verdict(hostile_run().trajectory.trajectory_id, "j", True, 1, rationale=EVERYTHING)]
    runs = [hostile_run(), *(hostile_run(text, f"t-{i}") for i, text in enumerate(HOSTILE, 2))]
    html = made(*runs, verdicts=said, unread=[f"log.jsonl:3: {EVERYTHING}"], top=len(runs))
    page = show(html, bypass_csp=not policy)
    open_all(page)
    for handle in page.query_selector_all("a, summary, button")[:60]:
        handle.focus()
    page.wait_for_timeout(300)
    assert page.evaluate("window.pwned") is None
    assert page.complaints == [] and len(page.asked) == 1
    assert page.evaluate("document.scripts.length") == 1
    assert page.evaluate(
        "document.querySelectorAll('img, iframe, math, base, object, embed, form, link, "
        "foreignObject, animate, use').length") == 0
    assert page.evaluate("document.title").startswith("log.jsonl")
    shown = page.locator(".said").all_inner_texts()
    assert any("<script>window.pwned = 1</script>" in text for text in shown)


def test_the_policy_alone_stops_what_would_get_through(show):
    hole = ("<script>window.pwned = 1</script><img src='x.png' onerror='window.pwned = 1'>"
            "<style>body { display: none; }</style><iframe src='x.html'></iframe>"
            "<a id=trap href='javascript:window.pwned=1'>here</a></main>")
    page = show(made(a_run()).replace("</main>", hole))
    page.locator("#trap").click()
    page.wait_for_timeout(200)
    assert page.evaluate("window.pwned") is None and page.locator("h1").is_visible()
    assert all(url.endswith("page.html") or "x.html" in url or "x.png" in url
               for url in page.asked)
    assert page.evaluate("document.querySelector('img').naturalWidth") == 0


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_and_all_of_its_text_can_be_read(show, viewport, scheme):
    said = [Verdict("t-1", "j", True, 1, "wrong_tool", 0.5, rationale="x" * 300),
            Verdict("t-2", "j", status="timeout")]
    runs = [a_run("t-1", True, n=5), a_run("t-2", False), a_run("t-3"), hostile_run(name="h" * 80)]
    page = show(made(*runs, verdicts=said), viewport=viewport, color_scheme=scheme)
    open_all(page)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert page.evaluate(FAINT) == []
    size = """() => Math.min(...[...document.querySelectorAll('body *')].filter((e) =>
      e.getClientRects().length && [...e.childNodes].some((n) => n.nodeType === 3 &&
      n.textContent.trim())).map((e) => parseFloat(getComputedStyle(e).fontSize)))"""
    assert page.evaluate(size) >= 14


def test_a_head_of_the_table_sorts_it_and_what_is_not_known_stays_last(show):
    runs = [a_run("long", n=9, success=True), a_run("short", n=1),
            a_run("middle", n=4, success=False)]
    page = show(made(*runs, top=0))
    names = page.locator("#ranking tbody th")
    before = names.all_inner_texts()
    head = page.locator("#ranking thead th", has_text="steps")
    assert page.locator("#ranking th[aria-sort]").inner_text().startswith("risk")
    head.locator("button").focus()
    page.keyboard.press("Enter")
    assert names.all_inner_texts() == ["long", "middle", "short"]
    assert head.get_attribute("aria-sort") == "descending"
    assert page.locator("#ranking th[aria-sort]").count() == 1
    page.keyboard.press("Space")
    assert names.all_inner_texts() == ["short", "middle", "long"]
    outcome = page.locator("#ranking thead button", has_text="outcome")
    for _ in range(2):
        outcome.click()
        assert names.all_inner_texts()[-1] == "short"
    page.locator("#ranking thead button", has_text="rank").click()
    page.locator("#ranking thead button", has_text="rank").click()
    assert names.all_inner_texts() == before and page.complaints == []


def test_without_scripts_the_table_the_runs_and_the_links_into_them_work(show):
    page = show(made(*(a_run(f"t-{i}", n=3 + i) for i in range(4))), java_script_enabled=False)
    assert page.locator("#ranking tbody tr").count() == 4
    assert page.locator("#ranking button, #open-all:visible").count() == 0
    last = page.locator("#ranking tbody a").last
    body = page.locator("#run-4")
    assert not body.is_visible()
    last.click()
    assert body.is_visible()


def test_a_step_of_the_graph_leads_to_its_text_and_leaves_its_edges_strong(show):
    page = show(made(a_run(n=4)))
    step = page.locator(".graph a[data-n]").nth(2)
    step.focus()
    row = step.get_attribute("data-n")
    strong = page.evaluate("""() => [...document.querySelectorAll('.graph .edge')].filter(
      (e) => getComputedStyle(e).opacity > .5).map((e) => e.dataset.t)""")
    assert strong and set(strong) == {row}
    page.keyboard.press("Enter")
    assert page.url.endswith("#run-1-step-2")


def test_drawings_have_names_and_their_numbers_stand_in_tables(show):
    page = show(made(a_run(n=4)))
    tree = page.locator("details.run").first.aria_snapshot()
    assert 'img "Risk of each step"' in tree and 'group "What each step hears"' in tree
    assert 'link "step 3, R ' in tree
    open_all(page)
    edges = page.locator(".graph tbody tr").count()
    assert edges == page.locator(".graph .edge").count() > 4
    assert page.locator("table", has_text="edges").locator("tbody tr").last.is_visible()


def test_every_region_heading_and_table_has_its_place(show):
    page = show(made(*(a_run(f"t-{i}", i % 2 == 0) for i in range(3)),
                     verdicts=[Verdict("t-1", "j", False)]))
    open_all(page)
    levels = page.evaluate(
        "[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map((h) => +h.tagName[1])")
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    assert page.locator("header, main, footer").count() == 3
    regions = page.locator("[role=region], section").all()
    named = [r.get_attribute("aria-label") or r.get_attribute("aria-labelledby") for r in regions]
    assert None not in named and len(set(named)) == len(named)
    scrolls = page.locator(".scroll")
    assert scrolls.count() == page.locator(".scroll[role=region][tabindex='0']").count()
    assert page.evaluate("[...document.querySelectorAll('th')].every((h) => h.scope)")


def test_on_paper_there_are_no_buttons_and_the_page_is_light(show):
    page = show(made(a_run(n=4)), color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert not page.locator("#open-all").is_visible()
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == (
        "rgb(255, 255, 255)")
    assert page.evaluate("getComputedStyle(document.querySelector('.graph')).position") == "static"
    assert len(page.pdf()) > 5_000
