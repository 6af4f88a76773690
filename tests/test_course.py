"""`make course`: whole, the same each time, and nothing of a solution in a student's hands."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
from html.parser import HTMLParser

import altair
import nbformat
import pytest
import yaml
from built import ROOT
from deck import Lecture, Part, _picture, _size, slides
from download import download, put
from handouts import chapters, course, main
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tjlib.charts.show import show
from tjlib.page import GLUE
from tjlib.trace import InputError

pytestmark = pytest.mark.xdist_group("book")

#: Where a solution may stand in a chapter, written down a second time.
FORMS = (
    r"^(`{3,})\{solution\}.*?\n(?P<one>.*?)^\1 *$",
    r"^(`{3,})\{admonition\} Solution.*?\n(?P<one>.*?)^\1 *$",
    r"<summary>Solution</summary>(?P<one>.*?)</details>",
    r"^```\{solution-start\}.*?^```$(?P<one>.*?)^```\{solution-end\}",
)
#: A figure as a chapter shows it: made by what chapters call, so that both agree on its form.
DRAWN = show(altair.Chart(altair.Data(values=[{"x": 1}])).mark_point().encode(x="x:Q"),
             name="x", alt="A point that stands for any picture.").html
SHORT = 25  # characters from which a sentence is one's own


def stand_in(path):
    """A chapter as if it had run: every key of its prose glued, each to a value of its own."""
    book = nbformat.read(path, as_version=4)
    prose = "\n".join(c.source for c in book.cells if c.cell_type == "markdown")
    keys = dict.fromkeys(GLUE.findall(prose))
    outputs = [new_output(
        "display_data", {"application/papermill.record/text/plain": repr(f"value:{key};")},
        metadata={"scrapbook": {"name": key, "mime_prefix": "x"}}) for key in keys]
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    code[-1].outputs = outputs
    for cell in code:
        if "figure" in cell.metadata.get("mystnb", {}):
            cell.outputs = [*cell.outputs, new_output("display_data", {"text/html": DRAWN})]
    return book


@pytest.fixture(scope="module")
def made():
    return course(ROOT, {name: stand_in(path) for name, path in chapters(ROOT).items()}, None)


def solved(path) -> tuple[set[str], set[str]]:
    """The sentences of a chapter's solutions, and the keys glued in solutions alone."""
    book = nbformat.read(path, as_version=4)
    # Cells in one text: a solution that runs spans several.
    text = "\n\n".join(cell.source for cell in book.cells)
    found = [m["one"] for form in FORMS
             for m in re.finditer(form, text, re.MULTILINE | re.DOTALL)]
    outside = text
    for one in found:
        outside = outside.replace(one, "")
    plain = [re.sub(r"\s+", " ", re.sub(r"^:\w+:.*$", "", one, flags=re.M)) for one in found]
    sentences = {part.strip() for one in plain
                 for part in re.split(r"(?<=[.:?])\s|\{glue:text\}`[^`]+`|[*{}`]", one)}
    keys = {key for one in found for key in GLUE.findall(one)} - set(GLUE.findall(outside))
    return {s for s in sentences if len(s) >= SHORT and s not in re.sub(r"\s+", " ", outside)}, keys


NAMES = sorted(chapters(ROOT))


def flat(text: str) -> str:
    """All that a notebook holds, sources, outputs and metadata, on one line; folds are open."""
    book = nbformat.reads(text, as_version=4)
    sources = "\n".join(re.sub("^> ?", "", c.source, flags=re.MULTILINE) for c in book.cells)
    sources = re.sub(r"</?details>(<summary>.*?</summary>)?", "", sources)
    rest = json.dumps([book.metadata, *({**cell, "source": ""} for cell in book.cells)])
    return re.sub(r"\s+", " ", f"{sources}\n{rest}")


@pytest.mark.parametrize("name", NAMES)
def test_a_students_copy_holds_no_sentence_and_no_number_of_a_solution(made, name):
    sentences, keys = solved(chapters(ROOT)[name])
    student, teacher = (flat(made[f"{who}/{name}.ipynb"]) for who in ("student", "teacher"))
    assert sentences, "no solution found: the search is blind"
    assert [sentence for sentence in sentences if sentence in student] == []
    assert [key for key in keys if f"value:{key};" in student] == []
    # The same search finds them where they are.
    assert [key for key in keys if f"value:{key};" not in teacher] == []
    assert sum(sentence in teacher for sentence in sentences) >= 0.8 * len(sentences)


@pytest.mark.parametrize("name", NAMES)
def test_a_students_copy_is_a_notebook_without_outputs_and_has_every_exercise(made, name):
    student, teacher = (nbformat.reads(made[f"{who}/{name}.ipynb"], as_version=4)
                        for who in ("student", "teacher"))
    nbformat.validate(student)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in student.cells)
    assert set(student.metadata) == {"kernelspec"}
    ends = ["\n".join(c.source for c in book.cells if c.cell_type == "markdown")
            .partition("## Exercises")[2] for book in (student, teacher)]
    asked = [re.findall(r"^> \*\*Exercise: .*|^\d\. .*", end, re.MULTILINE) for end in ends]
    assert asked[0] == asked[1] and len(asked[0]) >= 4
    assert "{glue" not in made[f"student/{name}.ipynb"]


def test_the_course_is_the_same_each_time_and_says_no_date_and_no_path(made):
    again = course(ROOT, {name: stand_in(path) for name, path in chapters(ROOT).items()}, None)
    assert again == made
    for name, text in made.items():
        assert str(ROOT) not in text and not re.search(r"20\d\d-\d\d-\d\dT", text), name


def test_the_course_has_both_copies_quiz_slides_and_guide(made):
    assert {name for name in made if not name.endswith(".ipynb")} == {
        "student/quiz.md", "teacher/quiz.md", "teacher/quiz.html", "teacher/quiz.json",
        "teacher/lecture_one.html", "teacher/lecture_two.html", "teacher/guide.md"}
    for who in ("student", "teacher"):
        assert {f"{who}/{name}.ipynb" for name in NAMES} <= set(made)
    assert "{" not in re.sub(r"```.*?```", "", made["teacher/guide.md"], flags=re.DOTALL)
    assert "value:a6-outcome-silent;" in made["teacher/guide.md"]


class Loads(HTMLParser):
    """Collect what a page would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("src", "srcset", "data", "poster") or (tag == "link" and name == "href"):
                self.found.append(value)


@pytest.mark.parametrize("name", ["teacher/lecture_one.html", "teacher/lecture_two.html",
                                  "teacher/quiz.html"])
def test_slides_and_quiz_load_nothing_and_hold_none_of_the_books_own_markdown(made, name):
    page = Loads()
    page.feed(made[name])
    assert all(value.startswith("data:image/svg+xml,") for value in page.found)
    style = made[name].partition("<style>")[2].partition("</style>")[0]
    assert "url(" not in style and "@import" not in style
    body = made[name].partition("<main>")[2].partition("</main>")[0]
    assert not re.search(r"\{[a-z:]+\}|\*\*|\]\(", body)


def test_every_figure_and_question_of_the_lectures_is_in_them(made):
    for lecture in yaml.safe_load((ROOT / "book/lectures.yaml").read_text("utf-8")):
        text = made[f"teacher/{lecture['file']}.html"]
        parts = lecture["chapters"]
        figures, asked = (sum(len(part[key]) for part in parts) for key in ("figures", "ask"))
        assert text.count("<figure") == figures and text.count('<ol type="A">') == 2 * asked
        assert text.count("<section ") == 1 + 3 * len(parts) + figures + 2 * asked
        assert text.count('class="right"') == asked


PROSE = ("# A title\n\n**The claim.** It is so.\n\n"
         "```{admonition} In one minute\nIn short.\n```\n\nBody text.\n\n"
         "## What would change our mind\n\n- A thing.\n\n## Exercises\n\nNone.")


def small(prose: str = PROSE):
    """A chapter with one figure, executed and as a download."""
    figure = {"mystnb": {"figure": {"name": "fig-x", "caption": "Of <x>."}}}
    drawn = new_output("display_data", {
        "text/html": '<div><img src="data:image/svg+xml,AA" alt="An x."></div>'})
    book = new_notebook(cells=[new_markdown_cell(prose),
                               new_code_cell("x", metadata=figure, outputs=[drawn])])
    return {"one": book}, {"one": download(copy.deepcopy(book), None)}


QUESTION = {"id": "q", "ask": "Why `a<b`?", "options": [
    {"text": "So.", "right": True, "why": "Yes."},
    {"text": "No.", "right": False, "why": "Not so."}]}


def test_a_slide_holds_its_own_part_of_the_chapter_and_no_more():
    text = slides(Lecture("l", "A & B", [Part("one", ["fig-x"], ["q"])]), *small(), [QUESTION])
    shown = re.findall(r"<section [^>]*>(.*?)</section>", text, re.DOTALL)
    assert [re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", slide)).strip() for slide in shown[1:]] == [
        "A title It is so.", "In one minute In short.", "Of &lt;x&gt;.",
        "Why a&lt;b ? So. No.", "Why a&lt;b ? So. Right. Yes. No. Wrong. Not so.",
        "What would change our mind A thing."]
    assert "<h1>A &amp; B</h1>" in text and '<a href="#s2">A title</a>' in shown[0]


def test_a_formula_is_drawn_and_a_key_of_the_bibliography_stays_behind():
    prose = PROSE.replace("It is so.", "So is $a < b$ ([this](https://x.org); [rupa2026]), `$c$`.")
    text = slides(Lecture("l", "T", [Part("one", [], [])]), *small(prose), [])
    claim = text.partition('id="s2"')[2].partition("</section>")[0]
    assert "<math" in claim and "rupa2026" not in claim and "<code>$c$</code>" in claim
    assert '(<a href="https://x.org">this</a>)' in claim


def test_a_number_that_begins_a_line_begins_no_list():
    key = "{glue:text}`n`"
    for text, made in ((f"rises at\n{key}. Then", "rises at\n1\\. Then"),
                       (f"> at\n> {key}) So", "> at\n> 1\\) So"),
                       (f"at {key}. Then", "at 1. Then"), (f"at\n{key} of all", "at\n1 of all")):
        assert put(text, {"n": "1"}) == made
    assert put(f"at\n{key}. So", {"n": "0.5"}) == "at\n0.5. So"
    assert put(key, {}) == key


@pytest.mark.parametrize(("panels", "columns", "tall", "wider"), [
    (6, 1, True, True), (2, 2, False, False)])
def test_panels_that_stand_one_under_another_are_drawn_again_side_by_side(
    panels, columns, tall, wider
):
    rows = altair.Data(values=[{"x": 1, "p": n} for n in range(panels)])
    chart = altair.Chart(rows).mark_point().encode(x="x:Q").properties(width=200, height=150)
    page = show(chart.facet("p:N", columns=columns), name="x",
                alt="Panels that hold a point each.").html
    drawn, caption_at_the_side = _picture(page)
    width, height = _size(drawn)
    assert (width > 2 * 200) is (wider or columns > 1) and (drawn not in page) is wider
    assert caption_at_the_side is tall and height > 150


@pytest.mark.parametrize(("part", "prose", "says"), [
    (Part("one", ["fig-y"], []), PROSE, "no picture fig-y in the chapter"),
    (Part("one", [], ["other"]), PROSE, "no question other in the quiz bank"),
    (Part("one", [], []), PROSE.replace("**The claim.**", ""), "one: no claim for a slide"),
    (Part("one", [], []), PROSE.replace("change our mind", "x"), "one: no 'What would change"),
])
def test_a_lecture_that_asks_for_what_is_not_there_is_refused(part, prose, says):
    with pytest.raises(InputError, match=re.escape(says)):
        slides(Lecture("l", "T", [part]), *small(prose), [QUESTION])


def test_a_broken_bank_or_chapter_writes_nothing_and_leaves_the_course_before(
    tmp_path, monkeypatch
):
    out = tmp_path / "course"
    (out / "teacher").mkdir(parents=True)
    (out / "teacher" / "old.md").write_text("old", "utf-8")

    async def failed(paths, timeout, root):
        return {name: (None, 0.0, f"{name}: NameError" if name == NAMES[0] else None)
                for name in paths}

    monkeypatch.setattr("handouts.run_or_reuse", failed)
    with pytest.raises(InputError, match=f"(?s)^no course was written.*{NAMES[0]}: NameError"):
        main(ROOT, out)
    assert [path.name for path in out.rglob("*.md")] == ["old.md"]


def test_what_is_written_takes_the_place_of_the_course_before(tmp_path, monkeypatch, capsys):
    out = tmp_path / "course"
    (out / "teacher").mkdir(parents=True)
    (out / "teacher" / "old.md").write_text("old", "utf-8")

    async def ran(paths, timeout, root):
        return {name: (stand_in(path), 1.0, None) for name, path in paths.items()}

    monkeypatch.setattr("handouts.run_or_reuse", ran)
    main(ROOT, out)
    assert not (out / "teacher" / "old.md").exists()
    assert len([path for path in out.rglob("*") if path.is_file()]) == 2 * len(NAMES) + 7
    assert "begin with" in capsys.readouterr().out


def test_the_folder_is_ignored_and_cleaned_and_make_writes_it():
    recipes = (ROOT / "Makefile").read_text("utf-8")
    assert "\ncourse: $(STAMP)\n\t$(PY) book/_ext/handouts.py . course\n" in recipes
    assert "course" in recipes.partition("\nclean:\n")[2].splitlines()[0].split()
    assert "/course/" in (ROOT / ".gitignore").read_text("utf-8").split()


def test_a_mistake_is_one_line_on_the_terminal(tmp_path):
    script = ROOT / "book" / "_ext" / "handouts.py"
    done = subprocess.run(
        [sys.executable, "-c",
         "import runpy, sys; import execute; from tjlib.trace import InputError\n"
         "async def no(*a): raise InputError('nothing ran')\n"
         "execute.run_or_reuse = no\n"
         f"sys.argv = ['handouts.py', {str(ROOT)!r}, {str(tmp_path / 'c')!r}]\n"
         f"runpy.run_path({str(script)!r}, run_name='__main__')"],
        cwd=script.parent, capture_output=True, text=True,
        env={"PYTHONPATH": f"{ROOT}:{script.parent}", "PATH": "/usr/bin:/bin"})
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "make course: nothing ran"
    assert "Traceback" not in done.stderr


def test_every_section_that_cures_a_misreading_is_a_heading_of_the_page_named():
    guide = re.sub(r"\s+", " ", (ROOT / "book" / "teaching.md").read_text("utf-8"))
    cures = re.findall(r'"([^"]+)" in \[[^\]]+\]\(\.\./notebooks/(\w+)\)', guide)
    assert len(cures) >= guide.count("Cure: ") >= 3
    for section, name in cures:
        text = (ROOT / "notebooks" / f"{name}.py").read_text("utf-8")
        assert f"\n# ## {section}\n" in text, (section, name)


def test_every_exercise_and_every_part_of_a_lecture_that_the_plans_name_is_there():
    guide = re.sub(r"\s+", " ", (ROOT / "book" / "teaching.md").read_text("utf-8"))
    plans = [guide.partition(f"## {head} ")[2].partition(" ##")[0]
             for head in ("Ninety minutes", "Four weeks")]
    named = [name for plan in plans for name in re.findall(r"(?<!\*)\*([A-Z][^*]+)\*(?!\*)", plan)
             if name != "Good if"]
    prose = "\n".join(c.source for path in chapters(ROOT).values()
                      for c in nbformat.read(path, as_version=4).cells)
    known = re.findall(r"^# (.+)$|^`{3,}\{exercise\} (.+)$", prose, re.MULTILINE)
    assert len(named) >= 9
    assert set(named) - {title for pair in known for title in pair} == set()


# The last tests: the browser keeps an event loop that those above would run into.
def test_slides_turn_by_keys_and_stand_one_under_another_on_paper(made, browser, tmp_path):
    path = tmp_path / "lecture.html"
    path.write_text(made["teacher/lecture_one.html"], "utf-8")
    page = browser.new_page(viewport={"width": 360, "height": 700})
    page.goto(path.as_uri())
    visible = "[...document.querySelectorAll('section')].filter(s => s.offsetParent).map(s => s.id)"
    assert page.evaluate(visible) == ["s1"]
    for key, at in (("ArrowRight", "s2"), ("PageDown", "s3"), ("ArrowLeft", "s2"), ("Home", "s1"),
                    ("ArrowLeft", "s1"), ("Space", "s2"), ("Shift+Space", "s1")):
        page.keyboard.press(key)
        assert page.evaluate(visible) == [at]
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.get_by_role("button", name="Next slide").click()
    assert page.evaluate(visible) == ["s2"] and "2 of" in page.get_by_role("status").inner_text()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Space")  # a button's own
    assert page.evaluate(visible) == ["s1"]
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate("document.activeElement.ariaLabel") == "Previous slide"
    assert page.evaluate(outline) == "solid"
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Home")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.hash") == "#s2"
    assert page.evaluate(outline) == "solid"
    page.keyboard.press("Enter")
    page.wait_for_function(f"{visible}.join() === 's2'")
    page.reload()
    assert page.evaluate(visible) == ["s2"]
    page.emulate_media(media="print")
    assert len(page.evaluate(visible)) == page.locator("section").count()
    paper = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type /Page\b", paper)) == page.locator("section").count()
    page.close()


@pytest.mark.parametrize("lecture", ["lecture_one", "lecture_two"])
def test_each_slide_fits_a_projector_in_letters_that_the_last_row_reads(
    made, browser, tmp_path, lecture
):
    path = tmp_path / "lecture.html"
    path.write_text(made[f"teacher/{lecture}.html"], "utf-8")
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.goto(path.as_uri())
    over = page.evaluate("""() => slides.map((slide, n) => {
      turn(n);
      const words = [...slide.querySelectorAll('p, li, small, h2, figcaption')];
      const least = Math.min(...words.map((one) => parseFloat(getComputedStyle(one).fontSize)));
      return [slide.id, document.documentElement.scrollHeight, least];
    }).filter(([, height, least]) => height > 720 || least < 16)""")
    page.close()
    assert over == []
