"""Two prompts on a page as one column, what differs marked, a bar of tokens beside each part.

Decision: plain HTML with the few styles it needs inside, so the column reads
in a notebook, in the book and in a saved page, with no script and in light and
in dark; a mark is never told by its colour alone. Refusal: what differs is
computed elsewhere, and all text is escaped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from tjlib.judges.parts import Part

__all__ = ["Column", "Verbatim"]

#: Longer parts that one judge alone reads are folded: six steps fill a telephone's screen.
_LONG = 1_000


class Column:
    """Two prompts as one column on a page.

    Parameters
    ----------
    parts : sequence of Part
        As `tjlib.judges.parts.parts` gives them.
    tokens : sequence of int
        About how many each part costs.
    names : mapping of "first", "second" -> str
        What the two judges are called.
    note : str
        How the tokens were counted.

    Examples
    --------
    >>> "&lt;b&gt;" in Column([Part("both", "<b>")], [1], {}, "counted")._repr_html_()
    True
    """

    def __init__(
        self, parts: Sequence[Part], tokens: Sequence[int], names: Mapping[str, str], note: str
    ) -> None:
        self.parts, self.tokens, self.note = parts, tokens, note
        self.names = {"both": "both judges"} | {k: f"{name} only" for k, name in names.items()}

    def _part(self, part: Part, tokens: int) -> str:
        own = part.whose != "both"
        width = 100 * tokens / max(*self.tokens, 1)
        text = "<br>".join(map(escape, part.text.split("\n")))
        if own:
            text = f"<mark>{text}</mark>"
        body = f'<div class="tj-said">{text}</div>'
        if own and len(part.text) > _LONG:
            lines = part.text.count("\n") + 1
            body = f"<details><summary>Show these {lines} lines</summary>{body}</details>"
        return (
            f'<li class="tj-part tj-{part.whose}"><div class="tj-cost"><strong>'
            f"{escape(self.names[part.whose])}</strong>, about {tokens} tokens"
            f'<div aria-hidden="true" class="tj-bar" style="background: currentColor; '
            f'height: 0.5rem; width: {width:.1f}%"></div></div>{body}</li>'
        )

    def _repr_html_(self) -> str:
        rows = "".join(map(self._part, self.parts, self.tokens))
        return (f'<div class="tj-prompt"><ol style="list-style: none; padding: 0">{rows}</ol>'
                f'<p class="tj-source">{escape(self.note)}</p></div>')

    def __repr__(self) -> str:
        return "\n\n".join(
            f"({self.names[part.whose]}, about {tokens} tokens)\n{part.text}"
            for part, tokens in zip(self.parts, self.tokens, strict=True)) + f"\n\n{self.note}"


class Verbatim:
    """A text as it stands, its lines wrapped to the page, behind ``summary`` if there is one."""

    def __init__(self, text: str, summary: str = "") -> None:
        self.text, self.summary = text, summary

    def _repr_html_(self) -> str:
        page = ('<pre class="tj-verbatim" style="white-space: pre-wrap; overflow-wrap: anywhere">'
                f"{escape(self.text)}</pre>")
        if self.summary:
            page = f"<details><summary>{escape(self.summary)}</summary>{page}</details>"
        return page

    def __repr__(self) -> str:
        return self.text
