"""Tables say what they know, why they do not know the rest, and escape it all."""

from __future__ import annotations

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from tjlib import tables
from tjlib.measure.against import compare

ROW = {"judge": "j", "metric": "recall", "value": 0.84, "lo": 0.776, "hi": 0.896, "k": 105.0,
       "n": 125.0, "how": "percentile", "why": ""}


def test_an_estimate_shows_its_interval_and_marks_the_exact_and_the_structural():
    assert tables.estimate(ROW) == "0.840 [0.776,\xa00.896]"
    assert tables.estimate(ROW | {"how": "exact binomial"}, 2) == "0.84 [0.78,\xa00.90]†"
    fixed = ROW | {"lo": None, "hi": None, "why": "structural: the same verdict everywhere"}
    assert tables.estimate(fixed) == "0.840‡"


def test_a_missing_value_shows_its_reason_and_never_nan():
    for missing in (None, float("nan")):
        shown = tables.estimate(ROW | {"value": missing, "why": "undefined: nobody was asked"})
        assert shown == "undefined: nobody was asked"


def test_a_small_negative_number_is_not_shown_as_minus_zero():
    assert tables.estimate(ROW | {"value": -1e-9, "lo": -1e-9}) == "0.000 [0.000,\xa00.896]"


def test_an_interval_lost_to_a_float_column_is_not_printed_as_nan():
    judges = pd.DataFrame([ROW], dtype=object)
    floor = pd.DataFrame([{"judge": "always faulty", "metric": "recall", "value": 1.0, "k": 125.0,
                           "n": 125.0, "why": ""}], dtype=object)
    laid = tables.layout(pd.concat([judges, floor]), {"recall": "recall"})
    assert laid.loc["always faulty", "recall"] == "1.000"


def test_a_layout_keeps_the_order_asked_for_and_shows_the_denominators_asked_for():
    short = ROW | {"metric": "f1", "value": 0.5, "lo": None, "n": None}
    frame = pd.DataFrame([ROW, short], dtype=object)
    laid = tables.layout(frame, {"f1": "F1", "recall": "recall"}, over=("recall",))
    assert list(laid.columns) == ["F1", "recall"]
    assert laid.loc["j"].tolist() == ["0.500", "0.840 [0.776,\xa00.896] (105\xa0of\xa0125)"]


def test_two_judges_with_one_name_keep_their_rows_and_show_their_ids():
    frame = pd.DataFrame([ROW | {"judge": judge, "value": value, "lo": None} for judge, value in (
        ("rules", 0.1), ("programmatic", 0.2), ("mine", 0.3))], dtype=object)
    shown = ["rules (rules)", "rules (programmatic)", "mine"]
    laid = tables.layout(frame, {"recall": "recall"})
    assert laid["recall"].to_dict() == dict(zip(shown, ["0.100", "0.200", "0.300"], strict=True))
    assert tables.labelled(frame, {"recall": "pooled"})["judge"].tolist() == shown
    # Alone, each has the name the paper's tables use.
    assert tables.layout(frame[1:], {"recall": "recall"}).index.tolist() == ["rules", "mine"]


def test_a_figure_gets_its_rows_in_the_order_of_its_names_without_the_undefined():
    frame = pd.DataFrame([ROW, ROW | {"metric": "f1"}, ROW | {"metric": "ece", "value": None}])
    rows = tables.labelled(frame, {"f1": "F1", "ece": "ECE", "recall": "pooled"})
    assert rows["what"].tolist() == ["F1", "pooled"]


@given(st.text(alphabet="<>&\"'ab/ ", min_size=1))
def test_no_text_of_a_table_reaches_the_page_as_markup(text):
    frame = pd.DataFrame({text: [text], "b": f"undefined: {text}"},
                         index=pd.Index([text], name=text))
    for folded in (False, True):
        page = tables.show(frame, text, text, folded)._repr_html_()
        parts = page.replace("&lt;", "").replace("&gt;", "")
        tags = {part.split(">")[0].split()[0].strip("/") for part in parts.split("<")[1:]}
        assert tags <= {"figure", "div", "table", "caption", "thead", "tbody", "tr", "th", "td",
                        "figcaption", "p", "details", "summary", "ol", "li", "sup"}


def test_each_table_names_its_columns_and_rows_for_a_screen_reader():
    table = pd.DataFrame({"a": ["x"], "b": [1]})
    page = tables.show(table, "Two columns.", "nowhere")._repr_html_()
    assert page.count('scope="col"') == 2
    assert page.count('scope="row"') == 1
    assert "<figcaption>Two columns.</figcaption>" in page
    assert "Data: nowhere" in page


def test_a_reason_is_a_note_under_the_table_once_and_its_cells_stay_short():
    frame = pd.DataFrame({"x": ["undefined: nobody was asked", "0.5"],
                          "y": ["undefined: nobody was asked", "undefined: no label"]},
                         index=pd.Index(["a", "b"], name="judge"))
    page = tables.show(frame, "c", "s")._repr_html_()
    assert page.count("<td>undefined<sup>1</sup></td>") == 2
    assert page.count("<td>undefined<sup>2</sup></td>") == 1
    notes = page.split('<ol class="tj-notes">')[1].split("</ol>")[0]
    assert notes == "<li>undefined: nobody was asked</li><li>undefined: no label</li>"
    assert "tj-notes" not in tables.show(frame[["x"]].tail(1), "c", "s")._repr_html_()


def test_only_a_table_of_many_columns_asks_for_the_margin():
    for columns, wide in ((4, False), (5, True)):
        page = tables.show(pd.DataFrame([range(columns)]), "c", "s")._repr_html_()
        assert ("full-width" in page) is wide


def test_a_count_is_compared_as_a_count():
    ours = ROW | {"metric": "n_flagged", "value": 257.0, "lo": 251.0, "hi": 263.0}
    theirs = PAPER | {"metric": "n_flagged", "published": "257", "published_lo": None,
                      "published_hi": None}
    rows = tables.beside(compare(pd.DataFrame([ours], dtype=object), pd.DataFrame([theirs])))
    assert rows.loc[0, "ours"] == "257 [251,\xa0263]"


PAPER = {"subject": "j", "metric": "recall", "published": "0.84", "published_lo": "0.78",
         "published_hi": "0.9", "n": "125", "source": "paper Table 3"}


def test_a_point_agrees_only_when_it_rounds_to_what_is_printed():
    for value, agrees in ((0.84, True), (0.8404, True), (0.8406, False), (0.839, False)):
        row = compare(pd.DataFrame([ROW | {"value": value}]), pd.DataFrame([PAPER])).iloc[0]
        assert row["agrees"] is agrees


def test_an_interval_agrees_only_within_its_tolerance():
    for hi, agrees in ((0.891, True), (0.889, False), (None, False)):
        row = compare(pd.DataFrame([ROW | {"hi": hi}], dtype=object), pd.DataFrame([PAPER])).iloc[0]
        assert row["agrees"] is agrees


def test_published_figures_stand_beside_ours_in_the_paper_s_own_digits():
    rows = tables.beside(compare(pd.DataFrame([ROW], dtype=object), pd.DataFrame([PAPER])))
    assert rows.iloc[0].tolist() == ["j", "recall", "0.84 [0.78, 0.9]", "0.840 [0.776,\xa00.896]",
                                     "yes", "paper Table 3"]


def test_an_undefined_rate_has_no_denominator_to_show():
    frame = pd.DataFrame([{"judge": "j", "metric": "recall", "value": None, "lo": None, "hi": None,
                           "k": None, "n": 3, "how": "", "why": "undefined: no faulty run"}])
    laid = tables.layout(frame, {"recall": "recall"}, over=("recall",))
    assert laid.loc["j", "recall"] == "undefined: no faulty run"
