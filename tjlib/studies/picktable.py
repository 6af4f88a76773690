"""A long table that a reader can narrow, compare and sort on the page.

Decision: the page carries the whole table, and the book's own script adds controls to it, so that
a browser without scripts, a printer and a reader of the source have every row. Refusal: nothing
is filtered away here, and nothing is told by colour.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape

import pandas as pd

from tjlib.tables import Table

__all__ = ["PickTable", "show"]


class PickTable(Table):
    """A table with controls, as `show` makes it."""

    def __init__(
        self, frame: pd.DataFrame, caption: str, source: str, picks: Mapping[str, str],
        columns: Sequence[str],
    ) -> None:
        super().__init__(frame, caption, source, folded=False)
        self.picks, self.columns = dict(picks), list(columns)

    def _repr_html_(self) -> str:
        told = escape(json.dumps({"rows": self.picks, "columns": self.columns}), quote=True)
        return super()._repr_html_().replace(
            '<figure class="tj-table', f'<figure data-pick="{told}" class="tj-table tj-pick', 1)


def show(
    frame: pd.DataFrame, caption: str, source: str, *, picks: Mapping[str, str],
    columns: Sequence[str] = (),
) -> PickTable:
    """Show a frame whose rows, and some of whose columns, a reader can choose.

    Parameters
    ----------
    frame : DataFrame
        Text or numbers; every column is sorted by a press on its head, as numbers where cells
        begin with one.
    caption, source : str
        As `tables.show`.
    picks : mapping of column to value
        A menu each, with the value that stands chosen at first; "" for all rows.
    columns : sequence of str
        Columns of which a further menu leaves one; all stand at first.

    Returns
    -------
    PickTable

    Raises
    ------
    ValueError
        If a column or a value is not in the frame.

    Examples
    --------
    >>> f = pd.DataFrame({"model": ["a", "b"], "AUROC": [.5, .6]})
    >>> "tj-pick" in show(f, "c", "s", picks={"model": "a"})._repr_html_()
    True
    """
    if unknown := [name for name in (*picks, *columns) if name not in frame]:
        raise ValueError(f"no column {unknown[0]!r} to pick by")
    if unknown := [value for name, value in picks.items()
                   if value and value not in set(frame[name].astype(str))]:
        raise ValueError(f"no row has {unknown[0]!r}")
    return PickTable(frame, caption, source, picks, columns)
