"""The figures' specifications: what drives what, and words that can be read over their fill."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pandas as pd
import pytest
import vl_convert

from tjlib.charts import judging, measures, theme
from tjlib.charts.show import show

SVG = "{http://www.w3.org/2000/svg}"
ROLES = ["clean", "silent", "loud"]


def spec_of(chart) -> dict:
    return show(chart, name="x", alt="A figure made for a test of it.").spec


def layers(spec: dict) -> list[dict]:
    """The unit specifications of a chart, outermost first."""
    parts = [*spec.get("layer", []), *spec.get("concat", []), *spec.get("hconcat", []),
             *filter(None, [spec.get("spec")])]
    return [unit for part in parts for unit in layers(part)] if parts else [spec]


def mark(spec: dict, kind: str, **style) -> dict:
    """The one layer with this mark and these properties of it."""
    found = [unit for unit in layers(spec) if unit["mark"]["type"] == kind
             and all(unit["mark"].get(name) == value for name, value in style.items())]
    assert len(found) == 1
    return found[0]


def luminance(colour: tuple[float, ...]) -> float:
    lit = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * lit[0] + 0.7152 * lit[1] + 0.0722 * lit[2]


def rgb(text: str) -> tuple[float, ...]:
    named = {"white": "#ffffff", "black": "#000000"}.get(text, text)
    if named.startswith("rgb("):
        return tuple(int(part) / 255 for part in re.findall(r"\d+", named))
    return tuple(int(named[i:i + 2], 16) / 255 for i in (1, 3, 5))


def extent(path: str) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of a drawn box, plain or with round corners."""
    if plain := re.fullmatch(r"M([-\d.]+),([-\d.]+)h([\d.]+)v([\d.]+)h-[\d.]+Z", path):
        x, y, width, height = map(float, plain.groups())
        return x, y, x + width, y + height
    xs, ys = zip(*(map(float, pair) for pair in re.findall(r"([-\d.]+),([-\d.]+)", path)),
                 strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def contrasts(chart, scheme: str) -> list[tuple[float, str]]:
    """Contrast of each word over a box, as drawn in a scheme, after WCAG 2."""
    svg = vl_convert.vegalite_to_svg(spec_of(chart) | {"config": theme.config(scheme)})
    ground = rgb(theme.SCHEMES[scheme]["background"])
    boxes, out = [], []
    for group in ET.fromstring(svg).iter(f"{SVG}g"):
        kind = group.get("class", "")
        if "role-mark" not in kind:
            continue
        for path in group.iter(f"{SVG}path") if "mark-rect" in kind else ():
            alpha = float(path.get("fill-opacity", 1)) * float(path.get("opacity", 1))
            fill = tuple(alpha * a + (1 - alpha) * b
                         for a, b in zip(rgb(path.get("fill")), ground, strict=True))
            boxes.append((*extent(path.get("d")), fill))
        for text in group.iter(f"{SVG}text") if "mark-text" in kind else ():
            x, y = map(float, re.match(r"translate\(([-\d.]+),([-\d.]+)\)",
                                       text.get("transform")).groups())
            # Text stands on its baseline, which lies below its middle.
            under = [fill for x0, y0, x1, y1, fill in boxes if x0 < x < x1 and y0 < y - 4 < y1]
            if under:
                high, low = sorted(map(luminance, (under[-1], rgb(text.get("fill")))))[::-1]
                out.append(((high + 0.05) / (low + 0.05), text.text))
    return out


STEPS = pd.DataFrame([
    {"variant": role, "heading": role, "order": i, "step": i, "tool": f"tool {role}",
     "call": "c()", "observation": "o", "role": role} for i, role in enumerate(ROLES)])
CELLS = pd.DataFrame([{"fault": role, "role": role, "n": 40} for role in ROLES])
SWEEP = pd.DataFrame([{"judge": str(i % 20), "row": str(i // 20), "value": i / 200, "shown": "-"}
                      for i in range(201)])
ASKED = pd.DataFrame([{"score": "recall", "row": i, "role": role, "full": i < len(ROLES)}
                      for i, role in enumerate(2 * ROLES)])
DRAWN = ASKED.rename(columns={"score": "strip"}).assign(strip=0, slot=ASKED["row"])
CALLED = pd.DataFrame([
    {"true": "a", "called": "a", "n": 3, "share": 0.75},
    {"true": "a", "called": "b", "n": 1, "share": 0.25},
    {"true": "b", "called": "a", "n": 0, "share": 0.0},
    {"true": "b", "called": "b", "n": 400, "share": 1.0}])
WORDED = {
    "strips": (judging.strips(STEPS), 3), "composition": (judging.composition(CELLS), 3),
    "type_strip": (judging.type_strip(SWEEP), 201), "confusion": (judging.confusion(CALLED), 3),
    "counts": (measures.counts(ASKED, pd.DataFrame({"score": ["recall"], "shown": ["1"]})), 6),
    "resamples": (measures.strips(DRAWN, pd.DataFrame({"strip": [0], "shown": ["1"]})), 6),
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", WORDED)
def test_every_word_over_a_fill_can_be_read_in_both_schemes(name, scheme):
    chart, words = WORDED[name]
    found = contrasts(chart, scheme)
    assert len(found) == words
    assert min(found)[0] >= 4.5, min(found)


@pytest.mark.parametrize("name", WORDED)
def test_a_box_answers_the_pointer_also_where_its_word_is(name):
    spec = spec_of(WORDED[name][0])
    boxes = next(unit for unit in layers(spec) if unit["mark"]["type"] in ("rect", "bar"))
    assert boxes["encoding"]["tooltip"]
    place = {axis: boxes["encoding"][axis] for axis in ("x", "y")}
    over = [unit for unit in layers(spec) if unit["mark"]["type"] == "text"
            and place.items() <= unit["encoding"].items()
            and unit["encoding"]["text"]["field"] != "shown"]  # which stands beside them
    assert over
    assert all(unit["encoding"]["tooltip"] == boxes["encoding"]["tooltip"] for unit in over)


def test_the_words_of_a_confusion_matrix_turn_white_by_share_and_not_by_count():
    spec = spec_of(judging.confusion(CALLED))
    words = mark(spec, "text")["encoding"]
    assert mark(spec, "rect")["encoding"]["color"]["field"] == "share"
    assert words["text"]["field"] == "n"
    assert words["color"]["condition"]["test"] == f"datum['share'] > {theme.HEAT['turn']}"
    svg = vl_convert.vegalite_to_svg(spec | {"config": theme.config("light")})
    inks = re.findall(r'<text [^>]*fill="(\w+)"[^>]*>(\d+)</text>', svg)
    assert sorted(inks) == [("black", "1"), ("white", "3"), ("white", "400")]


def test_confidence_set_by_hand_is_drawn_hollow_and_size_is_the_number_of_verdicts():
    bins = pd.DataFrame([
        {"judge": judge, "confidence": 0.9, "accuracy": 0.8, "lo": 0.7, "hi": 0.9, "n": 30,
         "kind": kind} for judge, kind in (("rules", "hand-set"), ("model", "stated"))])
    points = mark(spec_of(judging.reliability(bins)), "point")["encoding"]
    assert {name: points[name]["field"] for name in ("x", "y", "size")} == {
        "x": "confidence", "y": "accuracy", "size": "n"}
    assert points["fillOpacity"] == {
        "condition": {"test": "datum.kind == 'hand-set'", "value": 0}, "value": 0.3}


RATES = pd.DataFrame([
    {"judge": judge, "what": what, "value": 1.0, "lo": 0.9, "hi": 1.0, "shown": "1.00"}
    for judge in "ab" for what in judging.RATES.values()])


def test_rates_that_agree_stand_in_lanes_of_their_own():
    svg = vl_convert.vegalite_to_svg(
        spec_of(judging.dumbbell(RATES)) | {"config": theme.config("light")})
    marks = re.findall(r'<path aria-label="[^"]*judge: (\w); [^"]*rate: ([\w ]+);[^>]*'
                       r'role="graphics-symbol" aria-roledescription="point" '
                       r'transform="translate\([\d.]+,([\d.]+)\)', svg)
    heights = [float(y) for _, _, y in marks]
    assert len(heights) == len(RATES) and len(set(heights)) == len(RATES)
    rows = [{y for judge, _, y in marks if judge == name} for name in "ab"]
    assert max(map(float, rows[0])) < min(map(float, rows[1]))


def test_the_legend_of_the_gap_names_each_mark_with_its_shape():
    points = [unit["encoding"]["shape"] for unit in layers(spec_of(judging.dumbbell(RATES)))
              if unit["mark"]["type"] == "point"]
    named = {name: shape for one in points
             for name, shape in zip(one["scale"]["domain"], one["scale"]["range"], strict=True)}
    assert named == {"silent": "circle", "loud": "square", "false alarm": "triangle-up",
                     "pooled": "diamond"}
    svg = vl_convert.vegalite_to_svg(
        spec_of(judging.dumbbell(RATES)) | {"config": theme.config("light")})
    assert all(f">{name}</text>" in svg for name in named)


def test_outcomes_are_stacked_from_clean_to_loud_whatever_their_order_in_the_frame():
    spec = spec_of(judging.composition(CELLS.iloc[::-1]))
    assert layers(spec)[0]["encoding"]["order"] == {"field": "place", "type": "quantitative"}
    assert spec["layer"][0]["transform"][0]["calculate"] == (
        "indexof(['clean', 'silent', 'loud'], datum.role)")
