"""The pages written from docstrings: what of them is left out.

Decision: autodoc and numpydoc write them. Refusal: a field of a named tuple
whose only text is Python's own ("Alias for field number 0") takes no line.
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


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("autodoc-skip-member", says_nothing)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
