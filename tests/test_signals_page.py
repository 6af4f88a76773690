"""The figures on local signals: what stands for what, and that a gap draws nothing."""

from __future__ import annotations

import pandas as pd
from test_figures import layers, mark, spec_of

from tjlib.charts import signals
from tjlib.charts.theme import ROLE


def domain(unit: dict, channel: str) -> dict:
    scale = unit["encoding"][channel]["scale"]
    return dict(zip(scale["domain"], scale["range"], strict=True))


def test_printed_values_are_hollow_and_an_undefined_score_draws_no_point():
    rows = pd.DataFrame({
        "panel": "all pairs", "signal": ["a", "b"], "value": [0.6, None], "lo": [0.5, None],
        "hi": [0.7, None], "shown": ["0.6", "undefined"], "published": [None, 0.2], "where": ""})
    spec = spec_of(signals.forest(rows))
    hollow, filled = mark(spec, "point", style="published"), mark(spec, "point", style="reference")
    assert hollow["mark"]["filled"] is False
    assert hollow["transform"] == [{"filter": "isValid(datum.published)"}]
    assert filled["transform"] == [{"filter": "isValid(datum.value)"}]


def test_failed_runs_are_bars_in_the_colour_of_a_wrong_outcome_and_the_rest_points():
    rows = pd.DataFrame({
        "risk": "R", "part": "first", "what": ["failed runs", "successful runs"],
        "value": [0.2, 0.3], "lo": [0.1, None], "hi": [0.3, None]})
    spec = spec_of(signals.where(rows))
    bars, points = mark(spec, "bar"), mark(spec, "point")
    assert bars["transform"][-1] == {"filter": "datum.what == 'failed runs'"}
    assert points["transform"][-1] == {"filter": "datum.what != 'failed runs'"}
    # Only what there is stands in the legend, each with a shape of its own.
    assert domain(bars, "color") == {"failed runs": ROLE["loud"], "successful runs": ROLE["clean"]}
    assert len(set(domain(points, "shape").values())) == 2


def test_every_comparison_has_a_colour_and_a_shape_of_its_own():
    colours, shapes = zip(*signals.WHAT.values(), strict=True)
    assert len(set(colours)) == len(set(shapes)) == len(signals.WHAT)


def test_a_number_that_only_the_paper_has_draws_its_hollow_mark_alone():
    rows = pd.DataFrame({
        "number": ["stagnation"], "what": ["failed runs"], "value": [None], "lo": [None],
        "hi": [None], "shown": ["undefined"], "published": [0.883]})
    spec = spec_of(signals.levels(rows))
    filters = [unit.get("transform", []) for unit in layers(spec)
               if unit["mark"]["type"] == "point"]
    assert [{"filter": "isValid(datum.published)"}] in filters
    assert all(f[0]["filter"].startswith("isValid(datum.") for f in filters)


def test_differences_stand_around_a_line_at_no_difference():
    rows = pd.DataFrame({
        "relation": "latest", "what": ["failed runs"], "value": [0.1], "lo": [0.0], "hi": [0.2],
        "shown": "0.1", "peak": 0.3, "others": 0.2})
    line = mark(spec_of(signals.relations(rows)), "rule", style="chance")
    assert line["encoding"]["x"]["datum"] == 0


def test_the_step_of_the_fault_is_ringed():
    rows = pd.DataFrame({"number": "R", "step": [0, 1], "value": [0.1, 0.2], "mark": ["", "here"]})
    ring = mark(spec_of(signals.one_run(rows)), "point", filled=False)
    assert ring["transform"] == [{"filter": "datum.mark"}]
