"""The chapters' sources: paired, clean, with parameters a reader can change safely."""

from __future__ import annotations

import ast
import io
import tokenize

import nbformat
import papermill
import pytest
from built import ROOT
from light import without_heavy
from pairs import problems

CHAPTERS = sorted((ROOT / "notebooks").glob("*.ipynb"))
TAGS = {"parameters", "hide-input", "remove-output", "remove-cell", "remove-input"}

every_chapter = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)


def cells(path):
    return nbformat.read(path, as_version=4).cells


def parameter_problems(source: str) -> list[str]:
    """Tell which lines of a parameters cell are not ``name: type = literal  # help``."""
    found = []
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = {token.start[0] for token in tokens if token.type == tokenize.COMMENT}
    for node in ast.parse(source).body:
        if not (isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)):
            found.append(f"line {node.lineno}: not `name: type = value`")
            continue
        try:
            ast.literal_eval(node.value)
        except (ValueError, TypeError):
            found.append(f"line {node.lineno}: {node.target.id} is not a plain literal")
        if node.end_lineno not in comments:
            found.append(f"line {node.lineno}: {node.target.id} has no comment")
    return found


@every_chapter
def test_the_pair_agrees_has_no_outputs_and_runs_on_the_common_kernel(path):
    assert problems(path) == []


def test_every_text_has_its_notebook_and_every_chapter_of_the_book_exists():
    texts = {path.stem for path in (ROOT / "notebooks").glob("*.py")}
    assert texts == {path.stem for path in CHAPTERS}
    toc = (ROOT / "_toc.yml").read_text("utf-8")
    assert all(f"notebooks/{name}\n" in toc for name in texts)


@every_chapter
def test_the_tags_are_the_five_we_use(path):
    assert {tag for cell in cells(path) for tag in cell.metadata.get("tags", [])} <= TAGS


@every_chapter
def test_parameters_are_plain_literals_with_a_type_and_a_comment_each(path):
    tagged = [cell for cell in cells(path) if "parameters" in cell.metadata.get("tags", [])]
    assert len(tagged) <= 1
    for cell in tagged:
        assert parameter_problems(cell.source) == []


def test_a_parameter_without_type_literal_or_comment_is_noticed():
    assert parameter_problems("seed: int = 7  # of the judged set\n") == []
    assert parameter_problems('a: int = 7\nb = 2  # why\nc: list = [f()]  # why\n') == [
        "line 1: a has no comment", "line 2: not `name: type = value`",
        "line 3: c is not a plain literal",
    ]


@every_chapter
def test_no_chapter_opens_a_file_by_a_path_of_its_own(path):
    for cell in cells(path):
        if cell.cell_type == "code":
            for name in ("open(", "read_csv(", "pathlib", "os.chdir", "__file__"):
                assert name not in cell.source, cell.source


#: Chapters that show several judges of a source that the reader chooses.
TOGETHER = ("a5_measures", "a6_results", "a7_analysis")


@pytest.mark.parametrize("path", [p for p in CHAPTERS if p.stem in TOGETHER],
                         ids=lambda path: path.stem)
def test_a_chapter_of_several_judges_names_them_together_so_that_none_share_a_name(path):
    code = [cell.source for cell in cells(path) if cell.cell_type == "code"]
    assert any("tables.judge_names(" in source for source in code)
    assert not any("judge_name(" in source for source in code)  # it knows one id at a time


@every_chapter
def test_a_chapter_runs_from_any_folder_in_the_light_environment(path, tmp_path, monkeypatch):
    for name, value in without_heavy(tmp_path).items():
        monkeypatch.setenv(name, value)
    papermill.execute_notebook(
        path, tmp_path / "out.ipynb", cwd=tmp_path, kernel_name="python3", progress_bar=False
    )


def lost_outputs(source: str) -> list[int]:
    """Give the lines of a cell whose figure or table is made and, not being last, never shown."""
    *before, _ = ast.parse(source).body or [None]
    return [node.lineno for node in before
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
            and ast.unparse(node.value.func).rpartition(".")[2] == "show"]


def test_a_table_that_is_not_the_last_of_its_cell_is_found():
    assert lost_outputs("tables.show(1)\nfor a in b:\n    pass") == [1]
    assert lost_outputs("a = 1\ntables.show(a)") == [] == lost_outputs("")


@every_chapter
def test_every_figure_and_table_made_in_a_cell_is_shown(path):
    code = [cell.source for cell in cells(path) if cell.cell_type == "code"]
    assert [line for source in code for line in lost_outputs(source)] == []


@every_chapter
def test_what_is_shown_is_the_last_expression_of_its_cell(path):
    """A table or a figure made inside a branch or a loop is dropped without a word."""
    for cell in cells(path):
        if cell.cell_type == "code":
            lost = [ast.unparse(node.value)[:60] for statement in ast.parse(cell.source).body
                    if not isinstance(statement, ast.Expr) for node in ast.walk(statement)
                    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
                    and ast.unparse(node.value.func) in ("show", "tables.show")]
            assert not lost
