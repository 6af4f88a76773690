"""The landing page's game: its cases, what it says of the reader, and that anyone can play it."""

from __future__ import annotations

import json
import random

import pytest
from built import ROOT, build, small_book
from game import KINDS, WANTED, cases, kind, own_rates
from picture import rates
from test_browser import DESK, PHONE, served, visit

from tjlib import store, tables
from tjlib.desk import rules

pytestmark = pytest.mark.xdist_group("book")

ONE = "# %% [markdown]\n# # A chapter\n"
YES, NO = "Yes, handled well", "No, something is wrong"


@pytest.fixture(scope="module")
def url(tmp_path_factory, browser):
    folder = small_book(tmp_path_factory.mktemp("game"), {"one": ONE})
    text = "# A small book\n\n## You are the judge\n\n```{outcome-game}\n```\n"
    (folder / "book" / "intro.md").write_text(text, "utf-8")
    done = build(folder, folder)
    assert done.returncode == 0, done.stdout
    with served(folder / "_build" / "html") as origin:
        yield f"{origin}/book/intro.html"


def play(page, answers):
    """Judge by keyboard alone: tab to a button, press it."""
    for at, answer in enumerate(answers):
        heading = page.get_by_role("heading", name=f"Case {at + 1} of 10")
        assert heading.is_visible()
        if at:
            assert heading.evaluate("(e) => e === document.activeElement")
        else:
            heading.focus()
        page.keyboard.press("Tab")
        if answer == NO:
            page.keyboard.press("Tab")
        button = page.get_by_role("button", name=answer)
        assert button.evaluate("(e) => e === document.activeElement")
        page.keyboard.press("Enter" if at % 2 else "Space")


def yours(page):
    """The reader's row of the table, and what the chart draws for it."""
    row = page.locator(".tj-you td").all_inner_texts()
    spec = json.loads(page.locator("#chart-play > script").text_content())
    (data,) = spec["datasets"].values()
    return row, {one["what"]: one["value"] for one in data if one["judge"] == "you"}


def test_the_ten_are_four_silent_three_loud_and_three_clean_each_of_another_case():
    drawn = cases()
    kinds = [kind(label) for _, label in drawn]
    assert [kinds.count(one) for one in ("silent", "loud", "clean")] == [4, 3, 3]
    assert len({label.instance_id for _, label in drawn}) == 10 == len(WANTED)
    assert {label.failure_type for _, label in drawn} == {what for what, _ in WANTED}
    assert len({label.stratum for _, label in drawn if not label.faulty}) == 3
    assert cases() == drawn


def test_no_place_in_the_order_gives_a_kind_away():
    orders = [[kind(label) for _, label in cases(seed)] for seed in random.Random(0).sample(
        range(1000), 25)]
    for place in zip(*orders, strict=True):
        assert set(place) == {"silent", "loud", "clean"}


def test_the_rules_agree_with_the_labels_where_they_can_see_the_fault():
    blind = {"wrong_tool", "unsupported_claim"}
    for trajectory, label in cases():
        expected = label.faulty and label.failure_type not in blind
        assert rules.judge(trajectory).faulty is expected, label


def test_a_readers_shares_carry_exact_intervals():
    own = own_rates({"silent": 4, "loud": 3, "clean": 3})
    # Worked by hand: none of n has the upper end 1 - .025 ** (1 / n).
    assert own["silent"]["rows"][0]["hi"] == pytest.approx(1 - 0.025 ** (1 / 4))
    assert own["loud"]["rows"][3]["lo"] == pytest.approx(0.025 ** (1 / 3))
    assert own["silent"]["rows"][1]["value"] == 0.25
    assert own["pooled"]["rows"][2]["shown"].startswith("2 of 7: 0.29")
    assert [len(own[what]["rows"]) for what in KINDS] == [5, 4, 4, 8]


def test_the_judges_rates_are_the_published_ones(browser, url):
    published = store.published("trajectory_judge_numbers").query("table == 'main'")
    names = {"silent": "silent_recall", "loud": "loud_recall", "false alarm": "false_alarm_rate",
             "pooled": "recall"}
    ours = rates().set_index(["judge", "what"])["value"]
    seen = 0
    for row in published[published["metric"].isin(names.values())].itertuples():
        what = next(key for key, metric in names.items() if metric == row.metric)
        digits = 2 if what == "pooled" else 3  # as the paper prints them
        assert round(ours[tables.judge_name(row.subject), what], digits) == row.published
        seen += 1
    assert seen == 16
    page, _ = visit(browser, url, java_script_enabled=False)
    table = {row[0]: row[1:] for row in page.locator(".tj-result tbody tr").evaluate_all(
        "(rows) => rows.filter((r) => !r.hidden).map((r) => [...r.cells].map((c) => c.innerText))")}
    for judge, cells in table.items():
        for what, cell in zip(KINDS, cells, strict=True):
            assert cell.startswith(f"{ours[judge, what]:.3f}"), (judge, what)
    assert len(table) == 5
    page.context.close()


@pytest.mark.parametrize(
    ("answer", "counts", "values"),
    [(YES, ["0 of 4", "0 of 3", "0 of 3", "0 of 7"], 0), (NO, ["4 of 4", "3 of 3", "3 of 3",
                                                             "7 of 7"], 1)],
    ids=["all yes", "all no"])
def test_who_always_says_the_same_by_keyboard_gets_the_same_for_all(
    browser, url, answer, counts, values
):
    page, complaints = visit(browser, url)
    play(page, [answer] * 10)
    row, drawn = yours(page)
    assert [cell.split(":")[0] for cell in row] == counts
    assert drawn == dict.fromkeys(KINDS, values)
    page.locator("#chart-play .tj-live svg text", has_text="you").first.wait_for()
    assert complaints == []
    page.context.close()


def test_each_answer_is_held_against_its_own_case(browser, url):
    page, complaints = visit(browser, url)
    kinds = [kind(label) for _, label in cases()]
    play(page, [NO if one == "loud" else YES for one in kinds])
    _, drawn = yours(page)
    assert drawn == pytest.approx({"silent": 0, "loud": 1, "false alarm": 0, "pooled": 3 / 7})
    lines = page.locator(".tj-cases summary").all_inner_texts()
    for line, one in zip(lines, kinds, strict=True):
        assert ("you were wrong" in line) == (one == "silent"), line
    # The steps are revealed with the fault marked, and the request and reply go with them.
    fold = page.locator(".tj-cases > li").nth(kinds.index("silent"))
    fold.locator("summary").focus()
    page.keyboard.press("Enter")
    assert fold.get_by_text("The labelled step.").is_visible() and fold.locator("dd").count() == 2
    assert fold.get_by_text("silent fault", exact=True).is_visible() and complaints == []
    page.context.close()


def test_the_answers_wait_and_the_focus_is_led(browser, url):
    page, _ = visit(browser, url)
    assert page.evaluate("document.activeElement === document.body")  # nobody is pulled along
    assert not page.locator(".tj-result").is_visible()
    assert not page.locator(".tj-truth").first.is_visible()
    assert page.locator(".tj-cases > li:visible").count() == 1
    group = page.get_by_role("group", name="Was this handled well?")
    assert group.get_by_role("button").count() == 2
    play(page, [YES])
    assert page.get_by_role("status").inner_text() == "1 of 10 judged."
    play_on = page.get_by_role("heading", name="Case 2 of 10")
    assert play_on.evaluate("(e) => e === document.activeElement")
    for _ in range(9):
        group.get_by_role("button", name=NO).click()
    title = page.get_by_role("heading", name="You beside the five judges")
    assert title.evaluate("(e) => e === document.activeElement")
    assert not group.is_visible()
    page.context.close()


def test_it_can_be_played_again_from_nothing(browser, url):
    page, complaints = visit(browser, url)
    play(page, [NO] * 10)
    page.get_by_role("button", name="Play again").click()
    assert not page.locator(".tj-result").is_visible()
    play(page, [YES] * 10)
    _, drawn = yours(page)
    assert drawn == dict.fromkeys(KINDS, 0) and complaints == []
    page.locator("#chart-play .tj-live svg text", has_text="you").first.wait_for()
    page.context.close()


def test_without_scripts_the_cases_are_there_with_their_answers(browser, url):
    page, _ = visit(browser, url, java_script_enabled=False)
    assert page.locator(".tj-cases > li:visible").count() == 10
    assert page.locator(".tj-cases details:visible").count() == 10
    assert not page.get_by_role("button", name=YES).is_visible()
    first = page.locator(".tj-cases details").first
    first.locator("summary").click()
    assert first.locator(".tj-truth").is_visible()
    assert page.locator("#chart-play > img").is_visible()
    page.context.close()


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_and_can_be_hit_and_read(browser, url, scheme, viewport):
    look = {"scheme": scheme, "viewport": viewport, "reduced_motion": "reduce"}
    page, complaints = visit(browser, url, **look)
    for _ in range(10):
        for button in page.locator(".tj-ask button").all():
            assert button.bounding_box()["height"] >= 44
        page.get_by_role("button", name=NO).click()
        assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    page.locator("#chart-play .tj-live svg").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"
    assert complaints == []
    page.context.close()


def test_the_script_builds_no_markup_runs_no_text_and_keeps_nothing():
    script = (ROOT / "book" / "_static" / "play.js").read_text("utf-8")
    banned = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
              "Function(", "fetch(", "XMLHttpRequest", "sendBeacon", "Storage", "cookie")
    assert [word for word in banned if word in script] == []
