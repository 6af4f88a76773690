"""Equations as MathML, written when the book is built.

Decision: browsers draw MathML themselves, so a page needs neither a script
nor a font from elsewhere, and a command that does not exist stops the build
instead of showing red text. Refusal: HTML only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

__all__ = ["setup"]

LOG = logging.getLogger(__name__)
# The annotation keeps the LaTeX, for whoever copies an equation.
CONVERTER = LatexToMathML(annotation=True, fancy_error=False)


def _mathml(node: nodes.Element, *, block: bool) -> str:
    try:
        return CONVERTER.convert_with_local_state(node.astext(), displaystyle=block)
    except LatexError as error:
        LOG.warning("equation %r: %s", node.astext(), error, location=node)
        return ""


def inline(self: HTML5Translator, node: nodes.math) -> None:
    """Write a formula inside a sentence."""
    self.body.append(_mathml(node, block=False))
    raise nodes.SkipNode


def block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a displayed equation, with its number when it has one."""
    self.body.append(self.starttag(node, "div", CLASS="math tj-math"))
    self.body.append(_mathml(node, block=True))
    if node["number"]:
        number = get_node_equation_number(self, node)
        self.body.append(f'<span class="eqno">({number})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
