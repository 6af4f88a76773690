"""A user's procedure from its YAML file, checked line by line.

Decision: every value is read as the text it is (a point "no" is no false),
what the file may say is listed in `FIELDS`, and all that reaches a prompt is
one line that cannot be taken for the fence. Refusal: no anchor, alias, tag or
second document is followed, and no mistake is passed over: the first one is
told with its line and its remedy.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path
from typing import NoReturn

from tjlib.judges.procedure import Fault, Procedure
from tjlib.judges.render import fenced
from tjlib.packaged import data_folder
from tjlib.trace import InputError

__all__ = ["FIELDS", "read"]

#: What a file may say, and how long the texts may be, in characters.
FIELDS = {"name": 40, "role": 300, "duties": 300, "user": 40, "points": 600, "tools": 600,
          "taxonomy": 400, "outcome": 600}
_NEEDED = ("name", "role", "points", "taxonomy")
# Ours: a file beyond these is no procedure, and would leave a model no room for a trajectory.
_BYTES, _DEPTH, _ENTRIES = 64 * 2**10, 6, 60
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_TOOL = re.compile(r"[\w.:/-]+")
#: Words that stand for no failure type, or for none in particular, elsewhere.
_TAKEN = {"none", "clean", "faulty", "missed", "untyped", "unknown"}
_PLAIN = {"tag:yaml.org,2002:str": "text", "tag:yaml.org,2002:seq": "a list",
          "tag:yaml.org,2002:map": "names with values"}


def read(path: str | Path) -> Procedure:
    """Read and check a procedure.

    Parameters
    ----------
    path : str or Path
        A YAML file in UTF-8, or the name of one that comes with the library:
        bicycle_desk, general, library_desk, refund_desk.

    Returns
    -------
    Procedure

    Raises
    ------
    InputError
        One line naming file, line, problem and remedy.

    Examples
    --------
    >>> read("library_desk").types
    ('wrong_copy', 'skipped_check', 'false_promise')
    """
    ours = {file.stem: file for file in data_folder("procedures").glob("*.yaml")}
    path = Path(path)
    if not path.exists():
        if str(path) not in ours:
            raise InputError(f"{path}: there is no such file; check the path, or give one of "
                             f"{', '.join(sorted(ours))}")
        path = ours[str(path)]
    if not path.is_file():
        raise InputError(f"{path}: not a regular file; give a YAML file")
    try:
        with path.open("rb") as file:
            raw = file.read(_BYTES + 1)
    except OSError as error:
        raise InputError.of(error, path) from None
    return _File(path, raw).procedure()


class _File:
    """One file on its way to a procedure; any mistake ends it."""

    def __init__(self, path: Path, raw: bytes) -> None:
        self._path, self._raw = path, raw

    def _fail(self, line: int, what: str) -> NoReturn:
        raise InputError(f"{self._path}:{line}: {what}")

    def _refuse(self, node, what: str) -> NoReturn:
        self._fail(node.start_mark.line + 1, what)

    def _node(self):
        """Parse the file, but nothing that stands for more than it says."""
        import yaml

        if len(self._raw) > _BYTES:
            self._fail(1, f"more than {_BYTES >> 10} kB; a procedure is a page, so shorten it")
        try:
            text = self._raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = self._raw[:error.start].count(b"\n") + 1
            self._fail(line, "not UTF-8 text; save the file as UTF-8")
        if tab := re.search(r"^ *\t", text, re.MULTILINE):
            self._fail(text.count("\n", 0, tab.start()) + 1, "a tab; indent with spaces")
        try:
            self._check_events(yaml.parse(text, Loader=yaml.BaseLoader))
            node = yaml.compose(text, Loader=yaml.BaseLoader)
        except yaml.reader.ReaderError as error:
            self._fail(text.count("\n", 0, error.position) + 1,
                       f"holds the character U+{ord(text[error.position]):04X}; remove it")
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            self._fail(mark.line + 1, f"not YAML ({error.problem}); check the indents, and quote "
                                      "a text that holds ': ' or begins with a sign")
        if node is None:
            self._fail(1, "nothing in it; copy and edit data/procedures/general.yaml")
        return node

    def _check_events(self, events) -> None:
        import yaml

        depth = 0
        for event in events:
            opens = isinstance(event, yaml.CollectionStartEvent)
            depth += opens - isinstance(event, yaml.CollectionEndEvent)
            if isinstance(event, yaml.NodeEvent) and event.anchor is not None:
                self._refuse(event, "an anchor or alias (& or *); write the text out, or quote it")
            if getattr(event, "tag", None) is not None:
                self._refuse(event, "a tag (!); write the text without it, or quote it")
            if depth > _DEPTH:
                self._refuse(event, f"nested more than {_DEPTH} deep; see data/procedures")

    def _map(self, node, what: str) -> dict:
        """Give a mapping's nodes by key, each key once."""
        self._kind(node, "names with values", what)
        found: dict = {}
        for key, value in node.value:
            name = self._text(key, f"a name in {what}", 80)
            if name in found:
                self._refuse(key, f"{name!r} is there twice; keep one")
            found[name] = key, value
        self._count(node, what)
        return found

    def _count(self, node, what: str) -> None:
        if not 0 < len(node.value) <= _ENTRIES:
            self._refuse(node, f"{what} has {len(node.value)} entries; give 1 to {_ENTRIES}")

    def _kind(self, node, wanted: str, what: str) -> None:
        got = _PLAIN[node.tag]
        if got != wanted:
            self._refuse(node, f"{what} is {got}, not {wanted}; write it as in data/procedures")

    def _text(self, node, what: str, most: int) -> str:
        """Give a text as one line that is safe to stand in a prompt."""
        self._kind(node, "text", what)
        text = " ".join(node.value.split())
        if not text:
            self._refuse(node, f"{what} is empty; write a text or remove the line")
        if len(text) > most:
            self._refuse(node, f"{what} has {len(text)} characters; use at most {most}")
        if fenced(text) != text:
            self._refuse(node, f"{what} holds what marks a log in a prompt, such as ---, [step 1] "
                               "or an invisible character; write it otherwise")
        return text

    def _listed(self, node, what: str, most: int) -> tuple[str, ...]:
        self._kind(node, "a list", what)
        self._count(node, what)
        return tuple(self._text(x, f"an entry of {what}", most) for x in node.value)

    def _described(self, node, what: str, main: str, other: str):
        """Give each entry's key node, name, text and other field, if it has that."""
        for name, (key, value) in self._map(node, what).items():
            if _PLAIN[value.tag] == "text":
                yield key, name, self._text(value, name, FIELDS[what]), None
                continue
            parts = self._known(value, name, (main, other), (main,))
            yield (key, name, self._text(parts[main], f"{name}'s {main}", FIELDS[what]),
                   parts.get(other))

    def _known(self, node, what: str, allowed, needed) -> dict:
        """Give a mapping's values if it has the keys it needs and no other."""
        found = self._map(node, what)
        for name, (key, _) in found.items():
            if name not in allowed:
                close = get_close_matches(name, allowed, 1)
                hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(allowed)}"
                self._refuse(key, f"unknown key {name!r} in {what}; {hint}")
        for name in needed:
            if name not in found:
                self._refuse(node, f"{what} has no {name}; add it")
        return {name: value for name, (_, value) in found.items()}

    def _tools(self, node):
        for key, name, text, args in self._described(node, "tools", "description", "args"):
            if not _TOOL.fullmatch(name):
                self._refuse(key, f"{name!r} is no tool's name; use letters, digits and _ . : / -")
            takes = self._listed(args, f"{name}'s args", 80) if args else ()
            yield f"{name}({', '.join(takes)})" if takes else name, text

    def _faults(self, node):
        for key, name, text, kind in self._described(node, "taxonomy", "definition", "kind"):
            if not _NAME.fullmatch(name):
                self._refuse(key, f"{name!r} is no failure type's name; use a to z, 0 to 9 and _")
            if name in _TAKEN:
                self._refuse(key, f"{name!r} has a meaning of its own in verdicts and scores; "
                                  "choose another name")
            said = None if kind is None else self._text(kind, f"{name}'s kind", 10)
            if said not in (None, "silent", "loud"):
                self._refuse(kind, f"{name}'s kind is {said!r}; write silent, loud or nothing")
            yield Fault(name, text, said)

    def procedure(self) -> Procedure:
        given = self._known(self._node(), "the file", FIELDS, _NEEDED)
        texts = {name: self._text(given[name], name, most) for name, most in FIELDS.items()
                 if name in given and name not in ("points", "tools", "taxonomy")}
        if not _NAME.fullmatch(texts["name"]):
            self._refuse(given["name"], f"{texts['name']!r} is no name; use a to z, 0 to 9 and _")
        return Procedure(
            points=self._listed(given["points"], "points", FIELDS["points"]),
            taxonomy=tuple(self._faults(given["taxonomy"])),
            tools=tuple(self._tools(given["tools"])) if "tools" in given else (), **texts)
