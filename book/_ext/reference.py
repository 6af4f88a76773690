"""The library's pages and the references: what the tools write that no reader should get.

Decision: autodoc, numpydoc and bibtex write them, and two things are mended.
Refusal: a field of a named tuple whose only text is Python's own ("Alias for
field number 0") takes no line, and an entry of a list is never announced by
the role that ARIA dropped, which is none of a list's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["setup"]


def says_nothing(
    app: Sphinx, what: str, name: str, member: object, skip: bool, options: object
) -> bool | None:
    """Tell whether to leave a member out; None lets autodoc decide."""
    return True if (getattr(member, "__doc__", "") or "").startswith("Alias for field") else None


def mend_list(app: Sphinx, page: str, template: str, context: dict, doctree: object) -> None:
    """Make the entries of the list of references items of a list."""
    if "body" in context:
        context["body"] = context["body"].replace('role="doc-biblioentry"', 'role="listitem"')


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("autodoc-skip-member", says_nothing)
    app.connect("html-page-context", mend_list)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
