"""Published judges and ours in one figure: who is hollow, and that nobody is hidden or joined."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from tjlib.charts import beside
from tjlib.charts.show import show

RATES = pd.DataFrame([
    {"judge": judge, "origin": origin, "what": what, "value": 0.5, "lo": lo, "hi": hi, "shown": "x"}
    for judge, origin, lo, hi in (("outcome (14B)", "published", 0.4, 0.6),
                                  ("outcome:m", "ours", None, None))
    for what in ("silent", "loud", "false alarm")])
FLOOR = pd.DataFrame([
    {"panel": panel, "label": judge, "origin": origin, "value": 0.1, "lo": 0.0, "hi": None,
     "shown": "x"}
    for panel in ("F1", "paired") for judge, origin in (("a", "published"), ("b", "ours"))])


def layers(chart) -> list[dict]:
    spec = show(chart, name="x", alt="A figure made for a test of it.").spec
    json.dumps(spec, allow_nan=False)  # no interval is a null, not a NaN
    return spec["layer"] if "layer" in spec else spec["spec"]["layer"]


@pytest.mark.parametrize("chart", [beside.rates(RATES), beside.floor(FLOOR)])
def test_the_published_points_are_hollow_and_ours_are_filled(chart):
    points = [x for x in layers(chart) if x["mark"]["type"] == "point"]
    hollow = {x["transform"][0]["filter"]: x["mark"].get("filled") is False for x in points}
    assert hollow == {"datum.origin == 'ours'": False, "datum.origin == 'published'": True}


@pytest.mark.parametrize("chart", [beside.rates(RATES), beside.floor(FLOOR)])
def test_every_row_has_its_interval_and_no_line_joins_two_judges(chart):
    parts = layers(chart)
    assert not any(x["mark"]["type"] == "line" for x in parts)
    spans = [x for x in parts if x["mark"]["type"] == "rule" and "x2" in x["encoding"]]
    filters = [x["transform"][0]["filter"] for x in spans if "transform" in x]
    assert spans and (not filters or len(filters) == 2)


def test_rates_of_a_judge_stand_in_lanes_of_their_own_and_judges_keep_their_order():
    encoding = layers(beside.rates(RATES))[0]["encoding"]
    assert encoding["y"]["sort"] == ["outcome (14B)", "outcome:m"]
    assert encoding["yOffset"]["scale"]["domain"] == ["silent", "loud", "false alarm"]


def test_the_floor_is_a_dashed_line_at_zero_in_each_panel():
    zero = [x for x in layers(beside.floor(FLOOR)) if x["mark"].get("style") == "chance"]
    assert [x["encoding"]["x"]["datum"] for x in zero] == [0]
