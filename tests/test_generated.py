"""Pages made while the book is built: parameters of every chapter, and what ran on what."""

from __future__ import annotations

import hashlib
import platform
import re
import shlex
import shutil
from html import unescape

import nbformat
import pytest
from built import ROOT, build, real_book, small_book
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from parameters import rows, title

from tjlib import rerun
from tjlib.chapter import from_text
from tjlib.usage import parser

pytestmark = pytest.mark.xdist_group("book")

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def text_of(html: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", html))


def notebook(parameters: str, check: str):
    return new_notebook(cells=[
        new_markdown_cell("# A claim\n\nWords."),
        new_code_cell(parameters, metadata={"tags": ["parameters"]}),
        new_code_cell(f"from tjlib import chapter\n{check}")])


def test_name_type_default_meaning_and_what_is_allowed_are_read_off_the_two_cells():
    made = notebook(
        'draws: int = 2_000  # replicates\nkind: str = ""  # which; empty: all\n'
        'many: list[str] = ["a"]  # some\nshare: float = 0.5  # of all # of them\n'
        'labels: str = ""  # a file\nout: str = ""  # another\n',
        "KINDS = ('a', 'b')\nRULES = {'share': lambda v: None if 0 <= v <= 1 else 'give 0 to 1'}\n"
        "given = chapter.check(globals(), kind=('', *KINDS), many=KINDS, **RULES,\n"
        "    draws=lambda v: None if v > 9 else 'give 10 or more',\n"
        "    labels=lambda v: 'name the runs first' if v and not out else None)")
    assert rows(made).to_numpy().tolist() == [
        ["draws: int", "2_000", "replicates", "10 or more"],
        ["kind: str", '""', "which; empty: all", "(empty), a, b"],
        ["many: list[str]", '["a"]', "some", "a, b"],
        ["share: float", "0.5", "of all # of them", "0 to 1"],
        ["labels: str", '""', "a file", "name the runs first"],
        ["out: str", '""', "another", "–"],
    ]
    assert title(made) == "A claim"


def test_a_rule_that_cannot_be_asked_is_said_to_exist_and_a_long_list_is_cut_short():
    made = notebook(f"ids: list[int] = {list(range(100, 140))}  # which",
                    "chapter.check(globals(), ids=lambda v: v[0].nothing)")
    assert rows(made).iloc[0].tolist() == ["ids: list[int]", "[100, ...], 40 in all", "which",
                                           "checked"]


def test_a_chapter_without_parameters_has_no_rows():
    assert rows(new_notebook(cells=[new_code_cell("1")])).empty


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_papermill_finds_the_same_parameters(path):
    found = rows(nbformat.read(path, as_version=4))
    theirs = rerun.parameters(str(path))
    assert found["parameter"].tolist() == [
        f"{name}: {told['inferred_type_name']}" for name, told in theirs.items()]
    assert found["what it is"].tolist() == [told["help"].strip() for told in theirs.values()]
    short = found["default"].str.contains(" in all")
    assert [d for d, cut in zip(found["default"], short, strict=True) if not cut] == [
        told["default"] for told, cut in zip(theirs.values(), short, strict=True) if not cut]


def test_the_page_has_every_parameter_of_every_chapter_in_reading_order():
    page = (real_book() / "book" / "rerun.html").read_text("utf-8")
    parts = re.split(r'<section id="parameters-[\w-]+">', page)[1:]
    order = re.findall(r"file: notebooks/(\w+)", (ROOT / "_toc.yml").read_text("utf-8"))
    assert len(parts) == len(order) == len(NOTEBOOKS)
    for name, part in zip(order, parts, strict=True):
        assert f'href="../notebooks/{name}.html"' in part
        frame = rows(nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4))
        body = part.split("<tbody>")[1].split("</tbody>")[0]
        shown = [[text_of(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)]
                 for row in body.split("</tr>")[:-1]]
        assert shown == frame.to_numpy().tolist() and shown


def commands(name: str) -> list[list[str]]:
    text = (ROOT / "book" / name).read_text("utf-8").replace("\\\n", " ")
    return [shlex.split(line, comments=True) for line in text.splitlines()
            if line.startswith("tjlib ")]


@pytest.mark.parametrize("words", commands("rerun.md"), ids=" ".join)
def test_a_command_of_the_page_is_one_that_the_chapter_and_the_program_take(words):
    told = parser().parse_args(words[1:])
    if words[1] == "rerun":
        known = rerun.parameters(str(ROOT / "notebooks" / f"{words[2]}.py"))
        for name, value in told.parameter:
            from_text(name, known[name]["inferred_type_name"], value)


STATUS = """\
# Status

```{chapter-runs}
```

```{versions}
```

```{data-files}
```
"""
CHAPTER = "# %% [markdown]\n# # The claim\n\n# %%\nanswer = 42\n"


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """The same book built twice, in two places."""
    made = []
    for place in ("one", "two"):
        folder = small_book(tmp_path_factory.mktemp(place), {"mine": CHAPTER})
        (folder / "data").mkdir()
        (folder / "data" / "x.csv").write_text("a,b\n", "utf-8")
        (folder / "book" / "status.md").write_text(STATUS, "utf-8")
        with (folder / "_toc.yml").open("a", encoding="utf-8") as toc:
            toc.write("  - file: book/status\n")
        done = build(folder, folder)
        assert done.returncode == 0, done.stdout
        made.append(folder)
    return made


def status(folder) -> str:
    return (folder / "_build/html/book/status.html").read_text("utf-8")


def test_two_builds_give_the_same_status_but_for_the_seconds(two):
    seconds = re.compile(r"(?<=<p>)\d+\.\d(?=</p>)")
    first, second = (seconds.sub("s", status(folder)) for folder in two)
    assert first == second and len(seconds.findall(status(two[0]))) == 1
    assert not re.search(r"20\d\d-\d\d|\d\d:\d\d", text_of(first.split("<article")[1]))


def test_kept_outputs_keep_their_seconds_and_a_changed_file_its_new_digest(two):
    folder, before = two[0], status(two[0])
    shutil.rmtree(folder / "_build")
    done = build(folder, folder)
    assert "kept notebooks/mine" in done.stdout and status(folder) == before
    (folder / "data" / "x.csv").write_text("a,c\n", "utf-8")
    done = build(folder, folder)
    assert "ran notebooks/mine" in done.stdout
    old, new = (hashlib.sha256(text).hexdigest()[:16] for text in (b"a,b\n", b"a,c\n"))
    assert old in before and new in status(folder) and old not in status(folder)


def test_the_status_links_each_chapter_and_names_versions_and_data():
    page = (real_book() / "book" / "status.html").read_text("utf-8")
    for path in NOTEBOOKS:
        words = title(nbformat.read(path, as_version=4))
        link = rf'href="\.\./notebooks/{path.stem}\.html">(?:<[^>]+>)*{re.escape(words)}<'
        assert re.search(link, page), path
    words = text_of(page)
    assert f"python\n{platform.python_version()}\n" in words
    for path in sorted((ROOT / "data").rglob("*.jsonl")):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        row = f"{path.relative_to(ROOT / 'data').as_posix()}\n{path.stat().st_size}\n{digest[:16]}"
        assert row in words
