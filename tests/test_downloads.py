"""What a chapter's buttons give: a notebook that runs, and the same elsewhere, or nothing."""

from __future__ import annotations

import re

import nbformat
import papermill
import pytest
from built import GALLERY, ROOT, build, real_book, small_book
from download import download, install
from launch import PAGES, Repository, buttons, repository
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tjlib.trace import InputError

pytestmark = pytest.mark.xdist_group("book")

HERE = Repository("https://github.com/o/r", "main", "o/r", "")
CHAPTERS = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
#: Roles, boxes and labels of the book's own Markdown.
BOOK_ONLY = re.compile(r"\{[a-z:]+\}`|^[`:]{3,}\{|^\([\w-]+\)=$", re.MULTILINE)


def offered(name: str):
    return real_book() / "_sources" / "notebooks" / f"{name}.ipynb"


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_download_is_a_notebook_without_outputs_that_any_program_shows(name):
    notebook = nbformat.read(offered(name), as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code)
    assert code[0] is notebook.cells[0] and code[0].source == install(None)
    stored = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)
    assert [cell.source for cell in code[1:]] == [
        cell.source for cell in stored.cells if cell.cell_type == "code"]
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert BOOK_ONLY.findall(prose) == []


@pytest.mark.parametrize("name", ["a3_testbed", "b4_relational_graph"])
def test_a_download_runs_in_any_folder_and_takes_parameters(name, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    seed = {"a3_testbed": {"seed": 8}}.get(name, {})
    done = papermill.execute_notebook(offered(name), tmp_path / "out.ipynb", seed, cwd=tmp_path,
                                      kernel_name="python3", progress_bar=False)
    assert any(cell.get("outputs") for cell in done.cells)


def test_the_first_cell_leaves_an_installed_tjlib_alone_and_else_installs_it_from_the_project():
    shell = pytest.importorskip("IPython.core.inputtransformer2").TransformerManager()
    code = shell.transform_cell(install(HERE))
    assert 'tjlib[book] @ git+https://github.com/o/r@main' in code
    asked = []
    names = {"get_ipython": lambda: type("Shell", (), {
        "run_line_magic": lambda self, *told: asked.append(told)})()}
    exec(code, dict(names))
    assert asked == []
    exec(code.replace("import tjlib", "import tjlib_is_not_here"), dict(names))
    assert asked == [("pip", 'install --quiet "tjlib[book] @ git+https://github.com/o/r@main"')]


def glue(name: str, text: str):
    return new_output("display_data", {"application/papermill.record/text/plain": repr(text)},
                      metadata={"scrapbook": {"name": name, "mime_prefix": "x"}})


def test_the_books_markdown_becomes_everybodys():
    figure = {"figure": {"name": "fig-a", "caption": "Of {glue:text}`n` runs."}}
    cells = [
        new_markdown_cell("(here)=\n# T\n{glue:text}`n` {term}`runs <run>`, {numref}`fig-a`, "
                          "see [b](b4_graph) and [c](https://c.d); {eq}`eq-x`, "
                          "{numref}`Picture %s <fig-a>`."),
        new_code_cell("1", metadata={"mystnb": figure}, outputs=[glue("n", "seven")]),
        new_markdown_cell("```{math}\n:label: eq-x\nx = 1\n```\n\n```{admonition} Solution\n"
                          ":class: dropdown\nIt is {glue:text}`n`.\n```\n\n"
                          "```{note}\nTake care.\n```"),
    ]
    made = download(new_notebook(cells=cells), None)
    assert [cell.source for cell in made.cells[1:]] == [
        "# T\nseven runs, Fig. 1, see b and [c](https://c.d); (1), Picture 1.",
        "1",
        "*Fig. 1. Of seven runs.*",
        "$$\nx = 1 \\tag{1}\n$$\n\n<details><summary>Solution</summary>\n\nIt is seven.\n\n"
        "</details>\n\n\n> **Note**\n>\n> Take care.",
    ]


@pytest.mark.parametrize("setting", [{}, {"url": "", "branch": "main", "hub": ""},
                                     {"url": None, "hub": "https://hub.x.org"}])
def test_while_the_project_has_no_address_there_is_no_button(setting):
    assert repository(setting) is None and buttons(None, "notebooks/a") == []


@pytest.mark.parametrize("setting", [
    {"url": "github.com/o/r"}, {"url": "https://github.com/o"}, {"url": "http://github.com/o/r"},
    {"url": "https://github.com/o/r?x=1"}, {"url": "https://github.com/o/r", "hub": "hub"},
    {"adress": "https://github.com/o/r"}])
def test_an_address_that_no_button_could_use_is_refused(setting):
    with pytest.raises(InputError, match=r"^tj_repository in _config.yml: "):
        repository(setting)


def test_the_buttons_follow_from_the_address():
    where = repository({"url": "https://github.com/o/r.git/", "hub": "https://hub.x.org/"})
    assert where == HERE._replace(hub="https://hub.x.org")
    assert {b["text"]: b["url"] for b in buttons(where, "notebooks/a")} == {
        "Binder": "https://mybinder.org/v2/gh/o/r/main?urlpath=lab%2Ftree%2Fnotebooks%2Fa.ipynb",
        "Colab": "https://colab.research.google.com/github/o/r/blob/gh-pages/"
                 "_sources/notebooks/a.ipynb",
        "JupyterHub": "https://hub.x.org/hub/user-redirect/git-pull?repo=https%3A%2F%2Fgithub.com"
                      "%2Fo%2Fr&branch=gh-pages&urlpath=lab%2Ftree%2Fr%2F_sources%2Fnotebooks"
                      "%2Fa.ipynb"}


def test_colab_opens_nothing_but_github_so_elsewhere_it_has_no_button():
    where = repository({"url": "https://git.x.org/a/b/c", "branch": "new/page"})
    assert [(b["text"], b["url"].partition("?")[0]) for b in buttons(where, "n")] == [
        ("Binder", "https://mybinder.org/v2/git/https%3A%2F%2Fgit.x.org%2Fa%2Fb%2Fc/new%2Fpage")]


def test_the_branch_of_the_buttons_is_the_one_the_workflow_publishes():
    text = (ROOT / ".github" / "workflows" / "book.yml").read_text("utf-8")
    assert f"origin {PAGES}\n" in text


@pytest.fixture(scope="module")
def launched(tmp_path_factory):
    folder = small_book(tmp_path_factory.mktemp("launch"), {"gallery": GALLERY})
    config = (folder / "_config.yml").read_text("utf-8")
    config = config.replace('{url: "",', '{url: "https://github.com/o/r",')
    (folder / "_config.yml").write_text(config, "utf-8")
    done = build(folder, folder)
    assert done.returncode == 0, done.stdout
    return folder / "_build" / "html"


def test_with_an_address_a_chapter_has_the_buttons_and_other_pages_have_not(launched):
    page = (launched / "notebooks/gallery.html").read_text("utf-8")
    for button in buttons(HERE, "notebooks/gallery"):
        assert f'href="{button["url"]}"' in page.replace("&amp;", "&")
        assert (launched / button["icon"]).is_file() and f"../{button['icon']}" in page
    assert not re.search(r'<(?:script|img|link|iframe)[^>]+(?:src|href)="(?:https?:)?//', page)
    assert "mybinder" not in (launched / "book/intro.html").read_text("utf-8")
    notebook = nbformat.read(launched / "_sources/notebooks/gallery.ipynb", as_version=4)
    assert notebook.cells[0].source == install(HERE)
    assert "We counted 3 points" in notebook.cells[1].source


def test_without_one_no_page_of_the_book_has_any(launched):
    for path in real_book().rglob("*.html"):
        text = path.read_text("utf-8")
        assert "mybinder" not in text and "colab" not in text and "launch-buttons" not in text, path
