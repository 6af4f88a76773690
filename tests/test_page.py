"""The page of a rerun: what the book's Markdown says, in one file, and nothing live in it."""

from __future__ import annotations

import re

import nbformat
import pytest
from built import ROOT
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tjlib.page import page

CHAPTERS = sorted((ROOT / "notebooks").glob("*.ipynb"))
HOSTILE = "</p><script>alert(1)</script> [go](javascript:alert(1)) **b** {numref}`fig-a`"


def glued(name: str, text: str) -> dict:
    return new_output("display_data", {"application/papermill.record/text/plain": repr(text)},
                      metadata={"scrapbook": {"name": name, "mime_prefix": ""}})


def drawn(name: str, caption: str = "A caption.", **metadata) -> dict:
    cell = new_code_cell("draw()", metadata={
        "mystnb": {"figure": {"name": name, "caption": caption}}, **metadata})
    cell.outputs = [new_output("display_data", {"text/html": f"<p>picture {name}</p>"})]
    return cell


def written(*cells) -> str:
    return page(new_notebook(cells=list(cells)), "demo")


def body(text: str) -> str:
    return text.split("<main>")[1]


def test_a_box_is_a_box_with_its_text_still_markdown():
    box = ("```{admonition} In one *minute*\n:class: note\nThe **loud** ones:\n\n- first\n"
           "```\nAfter.")
    text = body(written(new_markdown_cell(box)))
    assert '<p class="tj-box-title">In one *minute*</p>' in text
    inside, after = text.split('<div class="tj-box">')[1].split("</div>", 1)
    assert "<strong>loud</strong>" in inside and "<li>first</li>" in inside
    assert "<p>After.</p>" in after and ":class:" not in text and "```" not in text


def test_a_box_that_the_book_folds_is_folded_on_this_page_too():
    box = "```{solution} a-one\n:label: s\n:class: tip dropdown\nIt is **seven**.\n```\nAfter."
    text = body(written(new_markdown_cell(box)))
    inside, after = text.split('<details class="tj-box">')[1].split("</details>")
    assert '<summary class="tj-box-title">Solution</summary>' in inside
    assert "<strong>seven</strong>" in inside and "<p>After.</p>" in after


def test_code_that_shows_a_shell_command_stays_code():
    text = body(written(new_markdown_cell("```bash\ntjlib rerun a6_results\n```")))
    assert "tj-box" not in text and "<pre>" in text and "tjlib rerun a6_results" in text.replace(
        '<span class="w"> </span>', " ")


def test_figures_are_numbered_in_order_linked_and_carry_their_captions():
    prose = "See {numref}`fig-b`, then {numref}`figure %s <fig-a>`; not {numref}`fig-none`."
    text = body(written(new_markdown_cell(prose), drawn("fig-a", "Rates & <b>."), drawn("fig-b")))
    assert '<a href="#fig-b">Fig. 2</a>' in text and '<a href="#fig-a">figure 1</a>' in text
    assert '<figure id="fig-a"><p>picture fig-a</p>' in text
    assert "<figcaption><em>Fig. 1</em> Rates &amp; &lt;b&gt;.</figcaption>" in text
    assert "fig-none</code>" in text  # a figure that was not drawn gets no number


def test_plumbing_is_folded_and_other_code_is_not():
    plumbing = new_code_cell("hidden = 1", metadata={"tags": ["hide-input"]})
    text = body(written(plumbing, new_code_cell("shown = 2")))
    assert text.count("<details") == 1
    folded = re.search(r"<details.*?</details>", text, re.DOTALL)[0]
    assert "hidden" in folded and "shown" not in folded


def test_a_cell_is_removed_where_its_tag_says_so():
    gone = new_code_cell("secret = 1", metadata={"tags": ["remove-cell"]})
    bare = new_code_cell("plumbing()", metadata={"tags": ["remove-input"]})
    bare.outputs = [new_output("stream", text="printed")]
    text = body(written(gone, bare))
    assert "secret" not in text and "plumbing" not in text and "printed" in text


def test_a_link_to_another_chapter_is_its_words_and_other_links_stay():
    text = body(written(new_markdown_cell("As [the audit](a9_claims) and [arXiv](https://a.b/c).")))
    assert "As the audit and" in text and 'href="https://a.b/c"' in text


def test_a_term_is_its_words_and_a_citation_its_key():
    prose = "A **{term}`silent <silent fault>`** fault, a {term}`verdict`; {cite}`guo,brier`."
    text = body(written(new_markdown_cell(prose)))
    assert "A <strong>silent</strong> fault, a verdict; [guo,brier]." in text


def test_what_is_glued_is_text_wherever_it_stands():
    source = new_code_cell("pass")
    source.outputs = [glued("x", HOSTILE)]
    box = "```{admonition} Of {glue:text}`x`\nIt said {glue:text}`x`.\n```\nAnd {glue:text}`x`."
    text = body(written(source, new_markdown_cell(box), drawn("fig-a")))
    shown = ("&lt;/p&gt;&lt;script&gt;alert(1)&lt;/script&gt; [go](javascript:alert(1)) **b** "
             "{numref}`fig-a`")
    assert text.count(shown) == 3
    assert "<script>alert" not in text and "javascript:alert(1)\"" not in text


def test_a_number_may_be_glued_too():
    source = new_code_cell("pass")
    source.outputs = [glued("x", "7")]
    source.outputs[0].data = dict.fromkeys(source.outputs[0].data, "7")
    assert "It was 7." in body(written(source, new_markdown_cell("It was {glue:text}`x`.")))


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_nothing_of_the_book_s_markdown_is_left_on_the_page_of_a_chapter(path):
    book = nbformat.read(path, as_version=4)
    prose = "".join(cell.source for cell in book.cells if cell.cell_type == "markdown")
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    names = sorted(set(re.findall(r"\{glue:text\}`(.*?)`", prose)))
    code[-1].outputs = [glued(name, "7") for name in names]
    for cell in code:
        if "figure" in cell.metadata.get("mystnb", {}):
            cell.outputs.append(new_output("display_data", {"text/html": "<p>picture</p>"}))
    text = body(page(book, path.stem))
    without_code = re.sub(r'<div class="jp-CodeMirrorEditor.*?</div>', "", text, flags=re.DOTALL)
    assert re.findall(r"\{[a-z:]+\}", without_code) == []
    assert "tj-box" in text and "<details" in text
    wanted = set(re.findall(r'href="#(fig-[^"]+)"', text))
    assert wanted and wanted <= set(re.findall(r'<figure id="([^"]+)"', text))
    assert not re.findall(r'(?:src|href)="(?!#|data:|https://arxiv)[^"]+', text)


def test_an_equation_is_mathml_with_a_number_that_is_pointed_at_and_a_dollar_in_code_is_a_dollar():
    prose = ("See {eq}`eq-b`.\n\n```{math}\n:label: eq-a\nx_1\n```\n\n"
             "```{math}\n:label: eq-b\ny < 2\n```\n\nWith $z_2$ and `$HOME` for 5 $ or 6 $.\n")
    text = body(page(new_notebook(cells=[new_markdown_cell(prose)]), "p"))
    assert '<a href="#eq-b">(2)</a>' in text and '<p id="eq-b"><math' in text
    assert text.count("<math") == 3 and "<mi>z</mi>" in text and "&lt;" in text
    assert "$HOME" in text and "5 $ or 6 $" in text and "{math}" not in text


def test_a_formula_that_is_none_stays_as_it_was_written():
    text = body(page(new_notebook(cells=[new_markdown_cell("So $\\nonsense{<b>}$.")]), "p"))
    assert "\\nonsense{&lt;b&gt;}" in text and "<math" not in text
