"""Chapters rerun on a hostile log, in a browser: its text is shown and never does anything."""

from __future__ import annotations

import pytest
from test_runpage import EVERYTHING, HOSTILE, hostile_run

from tjlib import jsonl
from tjlib.rerun import rerun


@pytest.mark.parametrize("chapter", ["b4_relational_graph", "c2_your_traces"])
def test_a_chapter_on_a_hostile_log_runs_none_of_it_and_asks_for_nothing(
    chapter, browser, tmp_path
):
    # A file holds no half of a surrogate pair.
    texts = [text.encode("utf-8", "replace").decode() for text in (EVERYTHING, *HOSTILE)]
    runs = [hostile_run(text, f"t-{i}") for i, text in enumerate(texts)]
    jsonl.write(tmp_path / "log.jsonl", [run.trajectory for run in runs])
    out = rerun(chapter, {"traces": str(tmp_path / "log.jsonl")}, tmp_path / "out")
    page = browser.new_context().new_page()
    asked, complaints = [], []
    page.on("request", lambda r: asked.append(r.url))
    page.on("dialog", lambda d: (complaints.append(d.message), d.dismiss()))
    page.on("pageerror", lambda e: complaints.append(str(e)))
    page.goto(out.with_suffix(".html").as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    page.wait_for_timeout(1500)
    assert page.evaluate("window.pwned") is None and complaints == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert page.locator("body").inner_text().count("window.pwned") > 0
