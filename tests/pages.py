"""The pages of the real book, known before it is built."""

from __future__ import annotations

import yaml
from built import ROOT, real_book

_TOC = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))


def _files(part: dict) -> list[str]:
    below = [one for key in ("parts", "chapters", "sections") for one in part.get(key, [])]
    own = part.get("file", part.get("root"))
    return [own] * bool(own) + [name for one in below for name in _files(one)]


#: Every page that the book's order names, and those Sphinx makes of them.
PAGES = [*_files(_TOC), "genindex", "py-modindex", "search", "index"]
CHAPTERS = [page for page in PAGES if page.startswith("notebooks/")]


def html(page: str) -> str:
    """Give the text of a page of the real book."""
    return (real_book() / f"{page}.html").read_text("utf-8")
