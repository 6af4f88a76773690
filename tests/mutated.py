"""Logs with faults in them: a written example with any of its parts replaced or taken out."""

import copy

from hypothesis import strategies as st

#: What a log may hold where something else belongs.
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just(10**400) | st.floats(allow_nan=False)
    | st.text(max_size=8) | st.sampled_from(["", "C", "assistant", "attachment://x", "\x1b[2J",
                                             "{\"error\": 1}", "[" * 50]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["type", "role", "id", "content", "text", "name", "message",
                                       "error", "arguments", "function"]), inner, max_size=3),
    max_leaves=6)


def places(value, way=()):
    """Every place in a JSON value, as the keys that lead there."""
    inner = (value.items() if isinstance(value, dict) else enumerate(value)
             if isinstance(value, list) else ())
    for key, own in inner:
        yield (*way, key)
        yield from places(own, (*way, key))


@st.composite
def mutated(draw, example):
    """A copy of a list of JSON values with one to four places in it changed."""
    value = copy.deepcopy(example)
    for _ in range(draw(st.integers(1, 4))):
        if not value:
            break
        *way, last = draw(st.sampled_from(list(places(value))))
        at = value
        for key in way:
            at = at[key]
        if draw(st.booleans()):
            at[last] = draw(ODD)
        else:
            del at[last]
    return value
