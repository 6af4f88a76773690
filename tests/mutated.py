"""Logs with faults in them: a written example with any of its parts replaced, lost or doubled."""

import copy
import json
from contextlib import suppress

from hypothesis import strategies as st

#: What a log may hold where something else belongs.
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
    | st.sampled_from([10**400, "", "C", "2", "²", "assistant", "attachment://x", "\0", "\x1b[2J",
                       '{"error": 1}', "[{}]", "{", "[" * 50, "x" * 99]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["type", "role", "id", "content", "text", "name", "message",
                                       "error", "arguments", "function"]), inner, max_size=3),
    max_leaves=6)


def _changed(draw, node):
    """Change one place in a value, which may be in a JSON text inside it."""
    inner = node
    if isinstance(node, str) and node[:1] in ("[", "{"):
        with suppress(ValueError):
            inner = json.loads(node)
    what = draw(st.integers(0, 11))
    if not isinstance(inner, dict | list) or not inner or not what:
        return draw(ODD)
    key = draw(st.sampled_from(sorted(inner) if isinstance(inner, dict) else range(len(inner))))
    if what == 1:
        del inner[key]
    elif what == 2 and isinstance(inner, list):
        inner.insert(key, copy.deepcopy(inner[key]))
    else:
        inner[key] = _changed(draw, inner[key])
    return json.dumps(inner) if inner is not node else inner


@st.composite
def mutated(draw, example):
    """A copy of a list of JSON values with one to five places in it changed."""
    values = copy.deepcopy(example)
    for _ in range(draw(st.integers(1, 5))):
        at = draw(st.integers(0, len(values) - 1))
        values[at] = _changed(draw, values[at])
    return values
