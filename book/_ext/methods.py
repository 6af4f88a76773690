"""Tables of all judges and all uncertainty methods, written when the book is built.

Decision: the rows are the registries' own, what a method needs is found by
running it, and only what no code knows - the source of an idea - is written
here; a judge or a method without that stops the build. Refusal: no row is
typed that could outlive its code.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from tjlib import store, usage
from tjlib.desk import testbed
from tjlib.judges.panel import DESIGNS
from tjlib.judges.plain import PLAIN
from tjlib.uncertainty.evidence import Drawn, Evidence
from tjlib.uncertainty.methods import METHODS
from tjlib.uncertainty.signals import local
from tjlib.uncertainty.similarity import Jaccard

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["JUDGES", "SOURCES", "judges", "methods", "needs", "setup"]

_PAPER = "{cite:t}`mohammadi2026`"
#: What a judge is that is no line of `DESIGNS`: its code, what it sees, is asked and needs, calls.
JUDGES = {
    "rules": ("desk.rules.judge", "every call and observation", "whether a rule is broken",
              "the refund desk's runs", "0"),
    "match": ("matching.Matcher", "every call", "whether it makes the reference's calls",
              "reference runs", "0"),
    "reply": ("judges.modelfree.ModelFree", "the reply's sentences and every observation",
              "whether an observation supports each sentence",
              "clean runs for a threshold, or a model", "0, or 1"),
    "free": ("judges.free.Panel", "every call, every observation and the reply",
             "whether a rule is broken, a call made again in vain or a sentence unsupported",
             "the refund desk's runs, for its rules", "0"),
}
_VIEWS = {"reply": "the request and the reply", "steps": "every step and the reply"}
_TASKS = {"reply": "whether the reply resolves the request", "steps": "whether each step was right"}
#: Where an idea comes from; "ours" where a control or a judge has no paper.
SOURCES = {
    "rules": f"{_PAPER}, appendix B", "outcome": f"{_PAPER}, appendix D",
    "step": f"{_PAPER}, appendix D",
    "ensemble": f"{_PAPER}, appendix D, after {{cite:t}}`wang2023consistency`",
    "reply": f"ours, after {_PAPER}, section 7.2", "match": "ours, with evaluators' usual modes",
    "free": "ours, with {cite:t}`rupa2026`'s repetition",
    "reply-steps": "ours", "steps-reply": "ours",
    "rupa": "{cite:t}`rupa2026`, equations 1 to 5", "rupa_structural": "ours",
    "rupa_settled": "ours",
    "pe": "{cite:t}`rupa2026`, section 5", "sp_sum": "{cite:t}`rupa2026`, section 5",
    "sp_mean": "ours", "verbalized": "{cite:t}`lin2022,xiong2024`",
    "saup_d": "{cite:t}`zhao2025saup`, as re-implemented", "saup_d0": "{cite:t}`zhao2025saup`",
    "saup_rms": "the RUPA authors' code", "tracer": "{cite:t}`tayebati2026tracer`",
    "uprop": "{cite:t}`duan2025uprop`", "uprop_single": "the RUPA authors' code",
}
JUDGES |= {name: ("judges.plain.PLAIN", one.sees, one.asked, one.needs, "0")
           for name, one in PLAIN.items()}
SOURCES |= {name: one.source for name, one in PLAIN.items()}
#: What a run can be given beside its steps, and what that costs where a log does not hold it.
COSTS = {
    "log-probabilities": "none if logged, else a surrogate's reading",
    "a stated confidence": "a short one a step",
    "decisions drawn anew": "several a step",
}


class _AllAlike(Jaccard, frozen=True):
    """A similarity to which all texts are one: a score it does not move compares none."""

    def alike(self, one, other):
        """Find nothing different."""
        return 1.0

    def coverage(self, step, goal):
        """Find all of the goal."""
        return 1.0

    def distance(self, one, other):
        """Find nothing apart."""
        return 0.0


def _evidence() -> dict[str, Evidence]:
    """Give one run bare, and with each of `COSTS` alone."""
    (run,) = testbed.clean_runs(count=1)
    bare, n = Evidence(run), len(run.steps)
    surprise = [3 + step / 10 for step in range(n)]  # above all else that TRACER looks at
    return {
        "": bare,
        "log-probabilities": replace(
            bare, local=local(run, "surrogate", surprise), tokens=[9] * n),
        "a stated confidence": replace(bare, confidence=[0.7] * n),
        "decisions drawn anew": replace(bare, drawn=[[Drawn("lookup_order(order_id=1)", 0.4)]] * n),
    }


def needs(name: str) -> tuple[list[str], bool]:
    """Find out what a method needs, by running it.

    Returns
    -------
    list of str
        Of `COSTS`; one that it can do without ends in "if there are any".
    bool
        Whether it compares texts, so that an embedder can be put in.
    """
    runs, method = _evidence(), METHODS[name]
    plain = method(runs[""]).value
    found = [what if plain is None else f"{what}, if there are any"
             for what, run in runs.items() if what and method(run).value != plain]
    compared = any(method(run).value != method(replace(run, similarity=_AllAlike())).value
                   for run in runs.values())
    return found, compared


def judges() -> list[list[str]]:
    """Write a row for each judge that the command line knows."""
    cost = store.published("cost").set_index("judge")
    out = [["name", "sees", "is asked", "needs", "calls", "tokens", "from"]]
    for name in _choices():
        tokens = "-"
        if name in DESIGNS:
            design = DESIGNS[name]
            home, need, calls = "judges.panel.Judge", "a model", str(design.votes)
            sees, asked = _VIEWS[design.view], _TASKS[design.task]
            if (judge := f"{design.prefix}:qwen2.5:14b") in cost.index:
                used = cost.loc[judge]
                tokens = f"{used['prompt_tokens_mean'] + used['completion_tokens_mean']:,.0f}"
        else:
            home, sees, asked, need, calls = _told(JUDGES, name)
        out.append([_link(name, home), sees, asked, need, calls, tokens, _told(SOURCES, name)])
    return out


def methods() -> list[list[str]]:
    """Write a row for each method of `METHODS`."""
    out = [["name", "what it is", "needs beside the steps", "compares texts", "calls", "from"]]
    for name, method in METHODS.items():
        found, compared = needs(name)
        home = f"{method.__module__.removeprefix('tjlib.')}.{method.__name__}"
        control = home.startswith("uncertainty.controls.")
        cost = "; ".join(text for what, text in COSTS.items() if what in found) or "none"
        out.append([
            _link(name, home), method.__doc__.splitlines()[0].replace("`", "").replace("|", "\\|"),
            "; ".join(found) or "nothing", "yes" if compared else "no", cost,
            "ours, a control" if control else _told(SOURCES, name)])
    return out


def _told(table: dict, name: str):
    """Look up what no code knows of a judge or method."""
    if name not in table:
        raise ExtensionError(f"the judge or method {name!r} is new: give it a line in SOURCES of "
                             "book/_ext/methods.py, a judge without a design one in JUDGES too")
    return table[name]


def _link(name: str, home: str) -> str:
    """Write a name that leads to its code's page; one that has none stops the build."""
    return f"{{py:obj}}`{name} <tjlib.{home}>`"


def _choices() -> list[str]:
    """Name the judges of ``tjlib judge``."""
    (commands,) = (a for a in usage.parser()._actions
                   if isinstance(a, argparse._SubParsersAction))
    (found,) = (a for a in commands.choices["judge"]._actions if a.dest == "judge")
    return list(found.choices)


class Rows(SphinxDirective):
    """``{judges-table}`` and ``{methods-table}``: a table, its cells still Markdown."""

    def run(self) -> list[nodes.Node]:
        """Parse the rows where the directive stands."""
        head, *rows = {"judges-table": judges, "methods-table": methods}[self.name]()
        lines = [head, ["---"] * len(head), *rows]
        text = StringList([f"| {' | '.join(line)} |" for line in lines], self.get_source_info()[0])
        made = nodes.container(classes=["tj-reference"])
        self.state.nested_parse(text, self.content_offset, made)
        return [made]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    for name in ("judges-table", "methods-table"):
        app.add_directive(name, Rows)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
