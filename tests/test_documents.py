"""JSON values out of files of unknown make, each with its line."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tjlib import jsontext
from tjlib.documents import Document, Unread, decode, documents
from tjlib.trace import InputError

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab\n"), inner, max_size=3),
    max_leaves=8)
objects = st.lists(st.dictionaries(st.text("ab"), values, max_size=3), min_size=1, max_size=5)


@pytest.fixture(scope="session")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "log.json"

    def write(text):
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def read(path):
    return list(documents(path))


@given(objects, st.sampled_from([None, 1]))
def test_a_list_and_json_lines_of_the_same_values_read_the_same(log, items, indent):
    listed = read(log(json.dumps(items, indent=indent)))
    lines = read(log("".join(json.dumps(item) + "\n" for item in items)))
    assert [d.value for d in listed] == [d.value for d in lines] == items
    assert [d.line for d in lines] == list(range(1, len(items) + 1))
    assert [json.loads(d.text) for d in listed] == items


@given(objects, st.sampled_from([1, 2]))
def test_an_element_of_a_list_has_the_line_it_starts_on(log, items, indent):
    text = json.dumps(items, indent=indent)
    lines = text.split("\n")
    starts = [i + 1 for i, line in enumerate(lines) if line.startswith(" " * indent + "{")]
    assert [d.line for d in read(log(text))] == starts


def test_one_object_over_several_lines_is_one_value(log):
    assert read(log('{\n "a": 1\n}\n')) == [Document(1, '{\n "a": 1\n}', {"a": 1})]


def test_a_byte_order_mark_crlf_and_blank_lines_are_no_part_of_a_value(log):
    got = read(log(b'\xef\xbb\xbf\r\n{"a": 1}\r\n\r\n{"a": 2}\r\n'))
    assert [(d.line, d.value) for d in got] == [(2, {"a": 1}), (4, {"a": 2})]
    assert [d.value for d in read(log(b'\xef\xbb\xbf[{"a": 1}]\n\n'))] == [{"a": 1}]


def test_a_bad_line_is_named_and_the_lines_after_it_are_read(log):
    got = read(log(b'{"a": 1}\n{"a": }\n{"a": "\xff"}\n{"a": 1} {}\n{"a": 2} 7\n{"a"'))
    assert [x.line for x in got] == [1, 2, 3, 4, 4, 5, 5, 6]
    assert [x.why for x in got if isinstance(x, Unread)] == [
        "not JSON (expecting value)", "not UTF-8 text; save the file as UTF-8",
        "more text after the value; it was not read", "the last line is cut off"]


@pytest.mark.parametrize(("text", "values", "line", "why"), [
    ('[\n{"a": 1},\n{"a": }]', [{"a": 1}], 3, "nothing after it was read"),
    ('[\n{"a": 1}\n{"a": 2}]', [{"a": 1}], 3, "not closed"),
    ('[\n{"a": 1}', [{"a": 1}], 2, "not closed"),
    ('[\n{"a": 1},', [{"a": 1}], 2, "nothing after"),
    ('[\n{"a": 1}\n]\n7', [{"a": 1}], 4, "more text"),
    ("trajectories", [], 1, "no JSON object"),
])
def test_a_broken_list_gives_what_stands_before_the_break(log, text, values, line, why):
    *good, last = read(log(text))
    assert [d.value for d in good] == values
    assert isinstance(last, Unread) and last.line == line and why in last.why


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "1" * 10_000])
def test_hostile_nesting_and_numbers_are_unread_not_a_crash(log, text):
    assert [type(x) for x in read(log(text))] == [Unread]
    assert [type(x) for x in read(log('{"a": 1}\n' + text + "\n"))] == [Document, Unread]


def test_not_a_number_reads_as_null_and_half_a_character_as_a_question_mark(log):
    assert decode(r'[NaN, -Infinity, {"\ud83d": "\udc00"}]') == [None, None, {"?": "?"}]
    assert decode(r'"\ud83d\ude00"') == "\U0001f600"


@pytest.mark.parametrize("text", ["", "{} {}", "{", "[" * 100_000])
def test_what_is_not_one_value_is_refused(text):
    with pytest.raises(ValueError):
        decode(text)


def test_a_file_that_cannot_be_read_says_so_in_one_line(log, tmp_path, monkeypatch):
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path / "no.json")
    monkeypatch.setattr(jsontext, "LONGEST", 20)
    assert read(log(b"[\n" + b'"' + b"1" * 50)) == [
        Unread(2, f"not JSON ({jsontext.LONG.lower()}); nothing after it was read")]


def test_an_empty_file_holds_nothing(log):
    assert read(log("")) == read(log("\n \n")) == []


@given(st.binary(max_size=60))
def test_no_bytes_bring_anything_but_values_and_reasons(log, data):
    try:
        got = read(log(data))
    except InputError as error:
        assert "\n" not in str(error)
    else:
        assert all(isinstance(x, Document | Unread) for x in got)
