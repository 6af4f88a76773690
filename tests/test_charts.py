"""Showing a chart: escaped, described, bounded, and the same bytes each time."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from pathlib import Path

import altair as alt
import pandas as pd
import pytest

from tjlib.charts import theme
from tjlib.charts.show import show

ALT = "Two points on a plane, the second higher."
HOSTILE = "</script><script>alert(1)</script><!-- \"'&"


def chart(data: pd.DataFrame | None = None) -> alt.Chart:
    if data is None:
        data = pd.DataFrame({"x": [1, 2], "y": [1, 3]})
    return alt.Chart(data).mark_point(clip=True).encode(x="x", y="y")


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def spec_of(html: str) -> dict:
    text = re.search(r'application/json">(.*?)</script>', html, re.DOTALL)[1]
    return json.loads(text, parse_constant=refuse)


def svg_of(html: str) -> str:
    return base64.b64decode(re.search(r"base64,([^\"]+)", html)[1]).decode()


def test_text_from_the_data_cannot_leave_its_place():
    data = pd.DataFrame({"x": [1, 2], "y": [1, 3], "note": [HOSTILE, "b"]})
    sentence = f"Two points, one noted {HOSTILE}."
    html = show(chart(data).encode(tooltip="note"), name="hostile", alt=sentence, table=data).html
    assert html.count("<script") == 1 and html.count("</script>") == 1 and "<!--" not in html
    spec = spec_of(html)
    assert spec["description"] == sentence
    assert next(iter(spec["datasets"].values()))[0]["note"] == HOSTILE


@pytest.mark.parametrize("sentence", ["", "fig1.png", "A chart.", "thechartwithoutanyspaces."])
def test_a_chart_without_a_sentence_is_refused(sentence):
    with pytest.raises(ValueError, match="must be a sentence"):
        show(chart(), name="mute", alt=sentence)


@pytest.mark.parametrize("name", ["", "Two Words", "a--b", 'x" onload="'])
def test_a_name_that_cannot_be_an_id_is_refused(name):
    with pytest.raises(ValueError, match="lower-case letters"):
        show(chart(), name=name, alt=ALT)


def test_a_chart_with_a_look_of_its_own_is_refused():
    with pytest.raises(ValueError, match="drop configure_"):
        show(chart().configure_axis(grid=False), name="own", alt=ALT)


def test_six_thousand_rows_fit_when_light_and_are_refused_by_weight_when_heavy():
    rows = pd.DataFrame({"x": range(6000)})
    counted = alt.Chart(rows).mark_bar().encode(x=alt.X("x", bin=True), y="count()")
    assert spec_of(show(counted, name="many", alt=ALT).html)["encoding"]["y"]
    heavy = rows.assign(y=0, note="a long remark on each of the steps taken")
    with pytest.raises(ValueError, match=r"chart heavy adds [\d,]+ bytes .* aggregated data"):
        show(chart(heavy), name="heavy", alt=ALT)


def test_a_missing_number_reaches_the_page_as_null():
    mixed = pd.Series([0.5, float("nan")], dtype=object)  # Altair leaves these as they are
    gaps = pd.DataFrame({"x": [1.0, float("nan")], "y": mixed})
    gapped = alt.Chart(gaps).mark_point().encode(x="x:Q", y="y:Q")
    spec = spec_of(show(gapped, name="gaps", alt=ALT).html)
    assert next(iter(spec["datasets"].values())) == [{"x": 1, "y": 0.5}, {"x": None, "y": None}]


def test_the_picture_is_opaque_and_says_its_sentence():
    html = show(chart(), name="still", alt=ALT).html
    svg = svg_of(html)
    assert re.search(r'<rect width="\d+" height="\d+" fill="#FFFFFF"', svg)
    assert f'alt="{ALT}"' in html


def test_no_text_of_the_theme_is_below_14_px():
    sizes = re.findall(r'"\w*[fF]ontSize": (\d+)', json.dumps(theme.config("light")))
    assert len(sizes) >= 5 and min(map(int, sizes)) >= 14
    drawn = re.findall(r'font-size="([\d.]+)px"', svg_of(show(chart(), name="s", alt=ALT).html))
    assert drawn and min(map(float, drawn)) >= 14


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_muted_text_meet_the_contrast_of_wcag_aa(scheme):
    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        lit = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * lit[0] + 0.7152 * lit[1] + 0.0722 * lit[2]

    colours = theme.SCHEMES[scheme]
    for name in ("text", "muted"):
        high, low = sorted(map(luminance, (colours[name], colours["background"])), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 4.5, name


def test_the_table_is_escaped_headed_and_shows_a_gap_as_a_dash():
    table = pd.DataFrame({"<judge>": ["a&b", "c"], "recall": [0.5, None]})
    html = show(chart(), name="table", alt=ALT, table=table).html
    assert '<th scope="col">&lt;judge&gt;</th>' in html
    assert "<td>a&amp;b</td>" in html and "<td>–</td>" in html and "NaN" not in html


def test_a_chart_has_the_same_bytes_whatever_was_drawn_before():
    code = (
        "import sys, altair as alt, pandas as pd; from tjlib.charts.show import show\n"
        "d = pd.DataFrame({'x': [1, 2], 'y': [1, 3]})\n"
        "pick = lambda: alt.selection_point(fields=['x'])\n"
        "def one():\n"
        "    p = pick()\n"
        "    c = alt.Chart(d).mark_point(clip=True).encode(x='x', y='y',\n"
        "        opacity=alt.when(p).then(alt.value(1)).otherwise(alt.value(.2)))\n"
        "    return show(c.add_params(p) | c, name='same', alt='Two points, drawn twice over.')\n"
        "for _ in range(int(sys.argv[1])): pick(); one()\n"
        "sys.stdout.write(one().html)"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code, str(before)], capture_output=True, check=True,
            env={"PYTHONHASHSEED": str(before), "PYTHONPATH": ":".join(filter(None, sys.path))},
        ).stdout
        for before in (0, 3)
    }
    assert len(outputs) == 1 and b"tj-chart" in outputs.pop()


def test_jupyter_gets_the_themed_chart_and_a_plain_reader_the_sentence():
    bundle = show(chart(), name="mime", alt=ALT)._repr_mimebundle_()
    assert bundle["text/plain"] == ALT
    assert bundle["application/vnd.vegalite.v6+json"]["config"] == theme.config("light")


def test_the_picture_on_the_page_looks_like_the_one_beside_it_and_carries_no_more():
    shown = show(chart(), name="light", alt=ALT)
    light, whole = svg_of(shown.html), shown.svg
    assert "aria-" in whole and not re.search(r'aria-|class="| role=', light)
    assert len(light) < 0.8 * len(whole)
    for what in (r' d="[^"]*"', r">[^<>]+<", r' transform="[^"]*"', r' fill="[^"]*"'):
        assert re.findall(what, light) == re.findall(what, whole)


def test_the_readme_s_picture_shows_the_numbers_the_code_computes():
    # The numbers, not the pixels: text is as wide as the machine's fonts make it.
    def numbers(svg: str) -> list[str]:
        return sorted(re.findall(r'aria-label="([^"]*; rate: [^"]*)"', svg))

    root = Path(__file__).parents[1]
    drawn = subprocess.run([sys.executable, root / "book/_ext/picture.py", "/dev/stdout"],
                           capture_output=True, text=True, check=True, cwd=root).stdout
    shown = numbers((root / "book/_static/recall.svg").read_text(encoding="utf-8"))
    assert len(shown) >= 20
    assert shown == numbers(drawn), "run make sync"
