"""The book: a chapter that does not run leaves none, and every page stands alone."""

from __future__ import annotations

import asyncio
import errno
import json
import os
from html.parser import HTMLParser
from types import SimpleNamespace

import jupytext
import nbformat
import pytest
from built import GALLERY, ROOT, build, real_book, small_book
from execute import NotebookClient, run_all, run_chapter
from pairs import problems, sync

pytestmark = pytest.mark.xdist_group("book")

GOOD = "# %% [markdown]\n# # A chapter\n\n# %%\nanswer = 6 * 7\nanswer\n"
CRASH = "# %% [markdown]\n# # A chapter\n\n# %%\none = 1\n\n# %%\none / 0\n"
HANG = "# %% [markdown]\n# # A chapter\n\n# %%\nimport time\ntime.sleep(5)\n"
DIES = "# %% [markdown]\n# # A chapter\n\n# %%\nimport os\nos._exit(1)\n"


class Page(HTMLParser):
    """The tags of one page, with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def all(self, *names: str) -> list[dict[str, str]]:
        """Attributes of the tags with one of these names."""
        return [attributes for tag, attributes in self.tags if tag in names]


@pytest.fixture(scope="module")
def gallery(tmp_path_factory):
    folder = small_book(tmp_path_factory.mktemp("gallery book"), {"gallery": GALLERY})
    done = build(folder, folder)
    assert done.returncode == 0, done.stdout
    return folder


@pytest.fixture(scope="module")
def pages(gallery):
    found = [*real_book().rglob("*.html"), *(gallery / "_build" / "html").rglob("*.html")]
    return {path: Page(path.read_text("utf-8")) for path in found}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (CRASH, "notebooks/broken, code cell 2 (one / 0): ZeroDivisionError: division by zero"),
        (HANG, "notebooks/broken, code cell 1 (import time): CellTimeoutError: not done after 2 s"),
        (DIES, "notebooks/broken, code cell 1 (import os): DeadKernelError: Kernel died"),
    ],
    ids=["crash", "timeout", "dead kernel"],
)
def test_a_chapter_that_does_not_finish_fails_the_build_and_the_log_says_where(
    tmp_path, text, told
):
    done = build(small_book(tmp_path, {"good": GOOD, "broken": text}, timeout=2), tmp_path)
    assert done.returncode != 0
    assert done.stdout.count(told) == 1, done.stdout
    assert not (tmp_path / "_build/html/notebooks/good.html").exists()


@pytest.mark.parametrize(("deaths", "told"), [(1, ""), (2, "before its first cell: RuntimeError")])
def test_a_kernel_that_dies_before_the_first_cell_is_started_once_more(
    tmp_path, monkeypatch, deaths, told
):
    folder = small_book(tmp_path, {"good": GOOD})
    start, left = NotebookClient.async_start_new_kernel_client, [None] * deaths

    async def taken(client):
        if left:
            left.pop()
            raise RuntimeError("Kernel died before replying to kernel_info")
        return await start(client)

    monkeypatch.setattr(NotebookClient, "async_start_new_kernel_client", taken)
    run = run_chapter("good", folder / "notebooks" / "good.ipynb", 30, ROOT)
    notebook, _, report = asyncio.run(run)
    assert told in (report or "") and bool(report) == bool(told)
    assert not left and (told or notebook.cells[1].outputs[0]["data"]["text/plain"] == "42")


def test_a_build_without_a_loopback_is_one_line_and_runs_nothing(monkeypatch):
    def unreachable(*_):
        raise OSError(errno.ENETUNREACH, "Network is unreachable")

    monkeypatch.setattr("socket.socket.connect", unreachable)
    app = SimpleNamespace(srcdir=ROOT, config=SimpleNamespace(tj_cell_timeout=60))
    env = SimpleNamespace(doc2path=lambda doc: f"{ROOT}/{doc}.ipynb")
    with pytest.raises(SystemExit, match=r"^The book was not built: no loopback .*lo up$"):
        run_all(app, env, ["notebooks/a3_testbed"])


def test_a_text_edit_that_was_not_synced_fails_the_build(tmp_path):
    folder = small_book(tmp_path, {"stale": GOOD})
    edited = folder / "notebooks" / "stale.py"
    edited.write_text(GOOD.replace("6 * 7", "6 * 8"), "utf-8")
    done = build(folder, folder)
    assert done.returncode != 0
    assert "notebooks/stale: stale.py and stale.ipynb disagree; run make sync" in done.stdout


def test_stored_outputs_and_a_private_kernel_are_refused(tmp_path):
    path = small_book(tmp_path, {"mine": GOOD}) / "notebooks" / "mine.ipynb"
    assert problems(path) == []
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1].outputs = [nbformat.v4.new_output("stream", text="42")]
    notebook.metadata.kernelspec.name = "my-conda"
    nbformat.write(notebook, path)
    assert [line.split("; ")[0] for line in problems(path)] == [
        "mine.ipynb stores outputs", "mine.ipynb names the kernel 'my-conda', not 'python3'",
    ]


def test_sync_repairs_a_pair_and_then_has_nothing_to_do(tmp_path):
    folder = small_book(tmp_path, {"mine": GOOD}) / "notebooks"
    path = folder / "mine.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1].execution_count = 7
    nbformat.write(notebook, path)
    (folder / "mine.py").write_text(GOOD.replace("6 * 7", "7 * 6"), "utf-8")
    assert sync(folder) == [path]
    assert problems(path) == [] and "7 * 6" in path.read_text("utf-8")
    assert sync(folder) == []


def test_sync_keeps_a_notebook_edited_after_its_text(tmp_path):
    folder = small_book(tmp_path, {"mine": GOOD}) / "notebooks"
    path = folder / "mine.ipynb"
    path.write_text(path.read_text("utf-8").replace("6 * 7", "5 * 5"), "utf-8")
    later = (folder / "mine.py").stat().st_mtime + 60
    os.utime(path, (later, later))
    assert folder / "mine.py" in sync(folder)
    assert problems(path) == []
    assert jupytext.read(folder / "mine.py").cells[1].source.startswith("answer = 5 * 5")


def test_only_a_build_that_went_well_vouches_for_its_pages(tmp_path):
    book = small_book(tmp_path, {"a1_good": "# %% [markdown]\n# # Good\n"})
    assert build(book, tmp_path / "out").returncode == 0
    assert (tmp_path / "out" / "_build" / "execution.json").exists()
    (book / "book" / "intro.md").write_text("# A small book\n\n[nowhere](gone.md)\n", "utf-8")
    assert build(book, tmp_path / "out").returncode == 1
    assert not (tmp_path / "out" / "_build" / "execution.json").exists()


def test_captions_numbers_and_equations_reach_the_page(gallery):
    text = (gallery / "_build/html/notebooks/gallery.html").read_text("utf-8")
    assert "We counted <span class=\"pasted-text\">3</span> points" in text
    assert "paid\n$24 and $30 for" in text
    assert '<span class="caption-number">Fig. 1 </span>' in text
    assert 'href="#fig-one"' in text and 'href="#equation-recursion"' in text
    assert text.count("<math") == 2


def test_a_glued_number_can_be_quoted_on_another_page(tmp_path):
    from_there = "{glue:text}`a.ipynb::seven:.1f`"
    other = f"# %% [markdown]\n# # Quote\n#\n# It was {from_there}.\n"
    first = (
        "# %% [markdown]\n# # Source\n\n# %%\nfrom myst_nb import glue\n"
        'glue("seven", 7, display=False)\n'
    )
    folder = small_book(tmp_path, {"a": first, "b": other})
    done = build(folder, folder)
    assert done.returncode == 0, done.stdout
    assert "7.0" in (folder / "_build/html/notebooks/b.html").read_text("utf-8")


def test_two_builds_give_the_same_chapter(gallery, tmp_path):
    folder = small_book(tmp_path, {"gallery": GALLERY})
    assert build(folder, folder).returncode == 0
    page = "_build/html/notebooks/gallery.html"
    assert (folder / page).read_bytes() == (gallery / page).read_bytes()


def test_every_image_says_what_it_shows(pages):
    for path, page in pages.items():
        for image in page.all("img"):
            alt = image.get("alt", "")
            assert alt.strip(), f"{path}: an image without alt text"
            assert alt not in image["src"] and not alt.endswith((".png", ".svg")), f"{path}: {alt}"


def test_every_chart_carries_its_description(pages):
    seen = 0
    for path in pages:
        text = path.read_text("utf-8")
        for part in text.split('<div class="tj-chart"')[1:]:
            spec = part.split('<script type="application/json">')[1].split("</script>")[0]
            assert len(json.loads(spec)["description"]) >= 20, path
            seen += 1
    assert seen >= 4


def tooltips(part: object) -> list[dict]:
    """Every field that some tooltip inside a specification shows."""
    if isinstance(part, list):
        return [field for one in part for field in tooltips(one)]
    if not isinstance(part, dict):
        return []
    own = part.get("encoding", {}).get("tooltip", [])
    return [*(own if isinstance(own, list) else [own]), *tooltips(list(part.values()))]


def test_every_tooltip_of_a_chapter_names_its_fields_and_rounds_its_numbers():
    seen = 0
    for path in (real_book() / "notebooks").glob("*.html"):
        text = path.read_text("utf-8")
        for part in text.split('<script type="application/json">')[1:]:
            for field in tooltips(json.loads(part.split("</script>")[0])):
                assert field.get("title"), f"{path.name}: {field}"
                assert field["type"] == "nominal" or field.get("format"), f"{path.name}: {field}"
                seen += 1
    assert seen >= 50


def test_no_page_weighs_a_megabyte(pages):
    assert {path: size for path in pages if (size := path.stat().st_size) >= 1_000_000} == {}


def test_no_page_loads_anything_from_elsewhere(pages):
    for path, page in pages.items():
        for tag in page.all("script", "img", "iframe", "source", "video", "audio", "embed"):
            assert not tag.get("src", "").startswith(("http:", "https:", "//")), f"{path}: {tag}"
        for tag in page.all("link"):
            assert not tag["href"].startswith(("http:", "https:", "//")), f"{path}: {tag}"


def test_no_two_elements_of_a_page_share_an_id(pages):
    for path, page in pages.items():
        charts = [a["id"] for _, a in page.tags if a.get("id", "").startswith(("chart-", "fig-"))]
        assert len(charts) == len(set(charts)), path
