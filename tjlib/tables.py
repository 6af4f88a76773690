"""Frames laid out as tables for the page: text, interval, reason, source line.

Decision: a cell shows the estimate with its interval, or that there is none
and, in a note under the table, why; every table ends in the sentence that says where its
data come from. Refusal: nothing is computed here but text, and all text is
escaped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from html import escape

import pandas as pd

__all__ = ["Table", "beside", "estimate", "judge_name", "judge_names", "labelled", "layout", "show"]

#: Names the paper's tables use for the release's judge ids (Table 2).
JUDGE_NAMES = {
    "programmatic": "rules",
    "outcome:qwen2.5:14b": "outcome (14B)",
    "step:qwen2.5:14b": "step (14B)",
    "step:llama3.1:8b": "step (8B)",
    "selfcons3:qwen2.5:14b": "ensemble (3 x 14B)",
}

_GLUE = "\N{NO-BREAK SPACE}"
#: From so many columns on a table may use the margin.
_WIDE = 5
#: Longer text than an estimate with its counts is prose, and needs a column wide enough for it.
_PROSE = 36


def judge_name(judge: str) -> str:
    """Return the name a table shows for a judge id, or for a difference "A - B" of two.

    Examples
    --------
    >>> judge_name("step:qwen2.5:14b - outcome:qwen2.5:14b")
    'step (14B) - outcome (14B)'
    """
    return " - ".join(JUDGE_NAMES.get(part, part) for part in judge.split(" - "))


def judge_names(judges: Iterable[str]) -> dict[str, str]:
    """Return the names tables show for several judge ids; who shares one shows the id too.

    Examples
    --------
    >>> judge_names(["rules", "programmatic", "mine"])
    {'rules': 'rules (rules)', 'programmatic': 'rules (programmatic)', 'mine': 'mine'}
    """
    names = {judge: judge_name(judge) for judge in judges}
    shared = {name for name, n in Counter(names.values()).items() if n > 1}
    return {judge: f"{name} ({judge})" if name in shared else name
            for judge, name in names.items()}


def estimate(row: Mapping, digits: int = 3) -> str:
    """Write one estimate as text: value, interval, dagger or reason.

    Parameters
    ----------
    row : mapping
        With value, and where known lo, hi, n, how and why, as
        `tjlib.measure.intervals.intervals` gives them.
    digits : int
        Decimals shown.

    Returns
    -------
    str
        ``†`` marks an exact binomial interval, ``‡`` a judge that is constant
        by construction.

    Examples
    --------
    >>> estimate({"value": 0.0, "lo": 0.0, "hi": 0.0362, "how": "exact binomial"}, 2)
    '0.00 [0.00,\xa00.04]†'
    >>> estimate({"value": None, "why": "undefined: no trajectory was flagged"})
    'undefined: no trajectory was flagged'
    """
    if pd.isna(row["value"]):
        return row["why"]
    text = f"{row['value']:z.{digits}f}"
    if pd.notna(row.get("lo")):
        # No line break inside the bracket, which narrow columns would make.
        text += f" [{row['lo']:z.{digits}f},{_GLUE}{row['hi']:z.{digits}f}]"
        text += "†" if row.get("how") == "exact binomial" else ""
    elif str(row.get("why", "")).startswith("structural"):
        text += "‡"
    return text


def layout(
    frame: pd.DataFrame, metrics: Mapping[str, str], digits: int = 3, over: tuple[str, ...] = ()
) -> pd.DataFrame:
    """Lay a long frame of estimates out as judges by metrics, in text.

    Parameters
    ----------
    frame : DataFrame
        Columns judge, metric, value and those `estimate` reads.
    metrics : mapping of metric -> heading
        The columns wanted, in order.
    digits : int
    over : tuple of str
        Metrics whose denominator is shown too, as "k of n".

    Returns
    -------
    DataFrame
        Indexed by judge name, in the frame's order.
    """
    rows = {}
    for row in frame[frame["metric"].isin(list(metrics))].to_dict("records"):
        text = estimate(row, digits)
        if row["metric"] in over and pd.notna(row["n"]) and pd.notna(row["k"]):
            text += f" ({row['k']:.0f}{_GLUE}of{_GLUE}{row['n']:.0f})"
        rows.setdefault(row["judge"], {})[metrics[row["metric"]]] = text
    out = pd.DataFrame.from_dict(rows, orient="index", columns=list(metrics.values()))
    return out.rename(index=judge_names(rows)).rename_axis("judge")


def labelled(
    frame: pd.DataFrame, names: Mapping[str, str], digits: int = 3, column: str = "what"
) -> pd.DataFrame:
    """Pick the estimates of a figure and give them the names it shows.

    Parameters
    ----------
    frame : DataFrame
        As for `layout`.
    names : mapping of metric -> name
        The metrics wanted, in order.
    digits : int
    column : str
        What to call the column of names.

    Returns
    -------
    DataFrame
        Columns judge (its shown name), ``column``, value, lo, hi, and shown
        (the text `estimate` gives); estimates without a value are left out.
    """
    rows = frame[frame["metric"].isin(list(names)) & frame["value"].notna()]
    rows = rows.sort_values("metric", key=lambda m: m.map(list(names).index), kind="stable")
    shown = judge_names(rows["judge"].unique())
    return pd.DataFrame({
        "judge": rows["judge"].map(shown), column: rows["metric"].map(names),
        "value": rows["value"], "lo": rows["lo"], "hi": rows["hi"],
        "shown": [estimate(row, digits) for row in rows.to_dict("records")],
    })


def beside(compared: pd.DataFrame, digits: int = 3) -> pd.DataFrame:
    """Lay published figures out beside ours, in text.

    Parameters
    ----------
    compared : DataFrame
        As `tjlib.measure.against.compare` gives it.
    digits : int
        Decimals of our figures; the published ones keep theirs.

    Returns
    -------
    DataFrame
        Columns judge, metric, published, ours, agrees (yes or no), source.
    """
    rows, names = [], judge_names(compared["judge"].unique() if len(compared) else ())
    for row in compared.to_dict("records"):
        text = f"{row['published']:g}"
        if row["published_lo"] is not None:
            text += f" [{row['published_lo']:g}, {row['published_hi']:g}]"
        rows.append({
            "judge": names[row["judge"]], "metric": row["metric"], "published": text,
            "ours": estimate(row, 0 if row["metric"] == "n_flagged" else digits),
            "agrees": "yes" if row["agrees"] else "no",
            "source": row["source"]})
    return pd.DataFrame(rows, columns=["judge", "metric", "published", "ours", "agrees", "source"])


def _cell(text: str, notes: dict[str, int]) -> str:
    """Write one cell; why it is undefined goes into the notes, for a sentence makes a tall row."""
    if text.startswith("undefined: "):
        number = notes.setdefault(text, len(notes) + 1)
        return f"<td>undefined<sup>{number}</sup></td>"
    kind = ' class="tj-prose"' * (len(text) > _PROSE)
    return f"<td{kind}>{escape(text)}</td>"


class Table:
    """A frame as an accessible HTML table with caption and source, escaped throughout."""

    def __init__(self, frame: pd.DataFrame, caption: str, source: str, folded: bool) -> None:
        self.frame, self.caption, self.source, self.folded = frame, caption, source, folded

    def _repr_html_(self) -> str:
        frame, notes = self.frame, {}
        if frame.index.name is not None:
            frame = frame.reset_index(allow_duplicates=True)
        head = "".join(f'<th scope="col">{escape(str(name))}</th>' for name in frame.columns)
        body = "".join(
            f'<tr><th scope="row">{escape(str(first))}</th>'
            + "".join(_cell(str(value), notes) for value in rest) + "</tr>"
            for first, *rest in frame.itertuples(index=False))
        under = "".join(f"<li>{escape(reason)}</li>" for reason in notes)
        page = (
            f'<figure class="tj-table{" full-width" * (len(frame.columns) >= _WIDE)}">'
            f"<figcaption>{escape(self.caption)}</figcaption>"
            '<div class="tj-scroll" tabindex="0" role="region" '
            f'aria-label="{escape(self.caption)}">'
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
            + f'<ol class="tj-notes">{under}</ol>' * bool(notes)
            + f'<p class="tj-source">Data: {escape(self.source)}</p></figure>'
        )
        if self.folded:
            page = f"<details><summary>{escape(self.caption)}</summary>{page}</details>"
        return page

    def __repr__(self) -> str:
        return f"{self.caption}\n{self.frame.to_string()}\nData: {self.source}"


def show(frame: pd.DataFrame, caption: str, source: str, folded: bool = False) -> Table:
    """Show a frame on a page.

    Parameters
    ----------
    frame : DataFrame
        Text or numbers; a named index becomes the first column.
    caption : str
        One sentence: what is counted, in which unit, which direction is better.
    source : str
        Where the data come from: published, released, or measured here.
    folded : bool
        Whether the reader has to open the table to see it.

    Returns
    -------
    Table

    Examples
    --------
    >>> "&lt;b&gt;" in show(pd.DataFrame({"a": ["<b>"]}), "c", "s")._repr_html_()
    True
    """
    return Table(frame, caption, source, folded)
