"""WCAG 2.2 AA, as far as machines can tell: axe-core on every page, and what axe leaves undecided.

A page is loaded once in each scheme and then made narrow, so what else holds of every page at
every width is asked here too: nothing from elsewhere, nothing too wide, no words too small.

axe calls the contrast of a text undecided over a gradient, under a bar that lies over the page, or
inside a drawing; so each text's own colour is held against what is painted under it here.
"""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from built import ROOT
from handouts import chapters, course
from pages import PAGES
from test_browser import visit
from test_course import stand_in

# A worker of its own: nothing here takes longer than looking at every page four times.
pytestmark = pytest.mark.xdist_group("axe")

WIDTHS = {"desk": {"width": 1200, "height": 900}, "phone": {"width": 360, "height": 740}}
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
#: Rules that are no part of WCAG and that the theme breaks.
LEFT_OUT = {
    # The theme keeps the logo and the search field of its side bar outside its landmarks.
    "region": {"enabled": False},
}
#: All rules, and those that the dark scheme, which changes colours and nothing else, can break.
RULES = {
    "light": {"runOnly": TAGS, "rules": LEFT_OUT},
    "dark": {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}},
}

#: Texts whose contrast is below WCAG's 1.4.3, each with its ratio and its two colours. Backgrounds
#: are followed through what is see-through; in a drawing, the last shape under the text's middle.
CONTRAST = """() => {
  const parse = (text) => {
    const found = text.match(/[\\d.]+/g);
    return found && text.startsWith('rgb') ? found.map(Number) : [0, 0, 0, 0];
  };
  const over = (top, under) => {
    const a = top[3] ?? 1;
    return [0, 1, 2].map((i) => top[i] * a + under[i] * (1 - a));
  };
  const light = (c) => c.slice(0, 3).map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ratio = (a, b) => {
    const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
  };
  const page = (element) => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) {
      const colour = parse(getComputedStyle(e).backgroundColor);
      if (colour[3] === 0) continue;
      layers.push(colour);
      if ((colour[3] ?? 1) === 1) break;
    }
    return layers.reduceRight((under, top) => over(top, under), [255, 255, 255]);
  };
  const shapes = new Map();
  const drawing = (text, svg) => {
    if (!shapes.has(svg)) shapes.set(svg, [...svg.querySelectorAll('path, rect, text')]
      .map((e) => [e, e.getBoundingClientRect(), getComputedStyle(e)])
      .filter(([e, box, style]) => e.tagName === 'text' ||
        (style.fill !== 'none' && box.width > 3 && box.height > 3 && !e.closest('defs'))));
    const own = text.getBoundingClientRect();
    const [x, y] = [own.x + own.width / 2, own.y + own.height / 2];
    let colour = page(svg);
    for (const [e, box, style] of shapes.get(svg)) {
      if (e === text) break;
      if (e.tagName === 'text' || x < box.left || x > box.right || y < box.top || y > box.bottom)
        continue;
      const fill = parse(style.fill);
      fill[3] = (fill[3] ?? 1) * style.opacity * style.fillOpacity;
      colour = over(fill, colour);
    }
    return colour;
  };
  const low = new Set();
  let seen = 0;
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const [node, e] = [walk.currentNode, walk.currentNode.parentElement];
    if (!node.data.trim() || ['SCRIPT', 'STYLE', 'NOSCRIPT'].includes(e.tagName)) continue;
    if (!e.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    if (!e.getClientRects().length || e.closest(':disabled')) continue;
    const style = getComputedStyle(e);
    const svg = e.closest('svg');
    const under = svg ? drawing(e.closest('text') ?? e, svg) : page(e);
    const ink = parse(svg ? style.fill : style.color);
    ink[3] = ink[3] ?? 1;
    for (let one = e; one; one = one.parentElement) ink[3] *= getComputedStyle(one).opacity;
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    const found = ratio(over(ink, under), under);
    seen += 1;
    if (found < (large ? 3 : 4.5))
      low.add(`${found.toFixed(2)}: ${over(ink, under).map(Math.round)} on ` +
        `${under.map(Math.round)}, ${e.tagName}.${e.getAttribute('class')} ` +
        `"${node.data.trim().slice(0, 40)}"`);
  }
  return { low: [...low], seen };
}"""

#: Open what is folded, and wait until each chart in view is drawn at the width it now has, and
#: nothing is still fading in.
OPEN = "() => document.querySelectorAll('details').forEach((one) => { one.open = true; })"
SETTLED = """() => [...document.querySelectorAll('.tj-chart')].every((chart) => {
  const width = Number(chart.querySelector('.tj-live svg')?.getAttribute('width'));
  return !chart.clientWidth || (width && Math.abs(width - chart.clientWidth) <= 40);
}) && document.getAnimations().every((one) => one.playState !== 'running')"""
#: Folds of code hold most elements of a page and one kind of them: axe looks at them closed.
CLOSE = OPEN.replace("'details'", "'details.hide'").replace("true", "false")
#: Charts that are shrunk by more than a pixel, or whose words are below 14 px as they are seen.
SMALL = """() => [...document.querySelectorAll('.tj-live svg')].filter((svg) => svg.clientWidth)
  .map((svg) => [svg, svg.getBoundingClientRect().width / Number(svg.getAttribute('width'))])
  .filter(([svg, scale]) => scale < 0.9965 || [...svg.querySelectorAll('text')].some((text) =>
    parseFloat(getComputedStyle(text).fontSize) * scale < 13.95))
  .map(([svg, scale]) => `${svg.closest('.tj-chart').id} drawn at ${scale.toFixed(3)}`)"""
WIDE = "document.documentElement.scrollWidth - window.innerWidth"


def faults(page, rules: dict) -> list[str]:
    """Give what axe objects to, one line an element."""
    found = Axe().run(page, options={**rules, "resultTypes": ["violations"]}).response
    return [f"{one['id']}: {node['target']} {node['html'][:120]}"
            for one in found["violations"] for node in one["nodes"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_breaks_no_rule_of_wcag_and_is_small_enough_and_large_enough(
    browser, origin, name, scheme
):
    page, complaints = visit(browser, f"{origin}/{name}.html", scheme=scheme,
                             viewport=WIDTHS["desk"], reduced_motion="reduce")
    page.evaluate(OPEN)
    # Asked before axe, which looks for an imported style sheet in a wrong place.
    assert complaints == []
    found = {}
    for width, viewport in WIDTHS.items():
        page.set_viewport_size(viewport)
        page.wait_for_timeout(300)  # less than this and a chart has not seen the change
        page.wait_for_function(SETTLED, timeout=60_000)
        told = page.evaluate(CONTRAST)
        assert told["seen"] >= 3  # all that the page of the search has on a telephone
        found[width] = [*told["low"], *page.evaluate(SMALL)]
        if (over := page.evaluate(WIDE)) > 0:
            found[width].append(f"{over} px too wide")
        page.evaluate(CLOSE)
        found[width] += faults(page, RULES[scheme])
        page.evaluate(OPEN)
    page.context.close()
    assert found == {"desk": [], "phone": []}


BAD = """<html><head><title>Bad</title></head><body><main><h1>One</h1><h3>Three</h3>
<p style="color: #999; background: #fff">pale</p>
<p style="color: #fff; background: linear-gradient(#fff, #000), #fff">white on a gradient</p>
<img src="data:,"><a href="#" style="display: block; width: 9px; height: 9px"></a>
<div style="overflow: auto; height: 20px"><p style="height: 90px">scrolls</p></div>
<svg width="90" height="50"><rect width="90" height="50" fill="#0072B2"></rect>
<text x="20" y="30">black on blue</text><text x="20" y="30" fill="white">white on blue</text></svg>
</main></body></html>"""


def test_faults_are_found_where_there_are_some(browser):
    page = browser.new_page()
    page.set_content(BAD)
    lines = faults(page, RULES["light"])
    assert {line.partition(":")[0] for line in lines} >= {
        "html-has-lang", "color-contrast", "image-alt", "link-name", "heading-order"}
    assert faults(page, RULES["dark"]) == [line for line in lines if line[:14] == "color-contrast"]
    low = page.evaluate(CONTRAST)["low"]
    # By hand: 1.05 / (0.3185 + 0.05), no contrast at all, and (0.1524 + 0.05) / 0.05.
    assert low == ['2.85: 153,153,153 on 255,255,255, P.null "pale"',
                   '1.00: 255,255,255 on 255,255,255, P.null "white on a gradient"',
                   '4.05: 0,0,0 on 0,114,178, text.null "black on blue"']
    page.close()


#: What a teacher shows: the slides, light for a projector and all of one form, and the quiz.
HANDED = [("lecture_one", "light"), ("quiz", "light"), ("quiz", "dark")]
#: The rule that the theme breaks is kept here.
ALL = RULES | {"light": {"runOnly": TAGS}}


@pytest.fixture(scope="module")
def handed():
    return course(ROOT, {name: stand_in(path) for name, path in chapters(ROOT).items()}, None)


@pytest.mark.parametrize(("name", "scheme"), HANDED)
def test_what_a_teacher_shows_breaks_no_rule_of_wcag(browser, handed, name, scheme):
    page = browser.new_page(color_scheme=scheme)
    page.set_content(handed[f"teacher/{name}.html"])
    page.evaluate(OPEN)
    found = {}
    for width, viewport in WIDTHS.items():
        page.set_viewport_size(viewport)
        found[width] = []
        # A slide of each kind: the title, a claim, a figure, a question, its answer. Paper has all.
        for at in (0, 1, 3, 5, 6) if "lecture" in name else (None,):
            if at is not None:
                page.evaluate(f"turn({at})")
            found[width] += [*page.evaluate(CONTRAST)["low"], *faults(page, ALL[scheme])]
            if (over := page.evaluate(WIDE)) > 0:
                found[width].append(f"{over} px too wide")
    page.emulate_media(media="print")
    found["paper"] = faults(page, ALL[scheme])
    page.close()
    assert found == {"desk": [], "phone": [], "paper": []}
