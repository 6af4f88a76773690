"""JSON values out of files of unknown make, each with its line."""

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tjlib import documents as module
from tjlib import jsontext
from tjlib.documents import NO_JSON, Document, Unread, decode, documents
from tjlib.documents import values as values_of
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
        Unread(2, f"{jsontext.LONG}; nothing after it was read")]
    assert read(log('{"a": 1}\n{"a": "' + "1" * 50 + '"}\n')) == [
        Document(1, '{"a": 1}', {"a": 1}), Unread(2, f"{jsontext.LONG}; nothing after it was read")]


def test_several_objects_on_a_line_are_all_read(log):
    assert read(log('{"a": 1}{"a": 2} [3]\n{"a": 4}\n')) == [
        Document(1, '{"a": 1}', {"a": 1}), Document(1, '{"a": 2}', {"a": 2}),
        Document(1, "[3]", [3]), Document(2, '{"a": 4}', {"a": 4})]


def test_objects_spread_over_lines_may_follow_each_other(log):
    got = read(log('{\n"a": 1\n}\n{\n"a": 2\n}\n'))
    assert [(d.line, d.value) for d in got] == [(1, {"a": 1}), (4, {"a": 2})]


@pytest.mark.parametrize("first", ['{"a": 0, "b', 'b": 0}', '{"a": 0,', '{"a": "x\ny"}', "{oops}"])
def test_a_torn_first_line_hides_none_of_those_after_it(log, first):
    lines = first.count("\n") + 1
    got = read(log(first + '\n{"a": 1}\n{"a": 2}\n'))
    good = [d for d in got if isinstance(d, Document)]
    assert [(d.line, d.value) for d in good] == [(lines + 1, {"a": 1}), (lines + 2, {"a": 2})]
    assert sum(isinstance(d, Unread) for d in got) == 1


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_as_windows_writes_it_is_read(log, encoding):
    mark = "\ufeff" if encoding != "utf-16" else ""
    for text in ('{"a": "\u00e9\U0001f600"}\r\n{"a": 2}\r\n',
                 '[{"a": "\u00e9\U0001f600"}, {"a": 2}]'):
        for start in (mark, ""):
            got = read(log((start + text).encode(encoding)))
            assert [d.value for d in got] == [{"a": "\u00e9\U0001f600"}, {"a": 2}]


def test_lines_of_another_encoding_are_named_and_those_in_utf_8_read(log):
    got = read(log('{"a": "\u00e9"}\n'.encode() + '{"a": "\u00e9"}\n'.encode("latin-1")))
    assert got == [Document(1, '{"a": "\u00e9"}', {"a": "\u00e9"}),
                   Unread(2, "not UTF-8 text; save the file as UTF-8")]
    listed = read(log(b'[{"a": 1},\n{"a": "\xe9"},\n{"a": 2}]'))
    assert [type(d) for d in listed] == [Document, Unread, Document] and listed[1].line == 2


def test_nul_bytes_of_a_file_that_a_crash_left_are_named(log):
    got = read(log(b'{"a": 1}\n\0\0\0\0\n{"a": 2}\n'))
    assert got[1] == Unread(2, "NUL bytes where text should be") and len(got) == 3


def test_nesting_is_read_up_to_a_limit_and_refused_beyond(log):
    for depth, kind in [(jsontext.DEEPEST, Document), (jsontext.DEEPEST + 1, Unread)]:
        text = "[" * (depth - 1) + "{}" + "]" * (depth - 1)
        assert type(read(log('{"a": 1}\n' + text))[1]) is kind


def test_a_file_of_something_else_is_one_line(log):
    for text in (b"# A README\n\nText\n", b"\x89PNG\r\n\x1a\n", b"a,b\n1,2\n", b"7\n"):
        assert read(log(text)) == [Unread(1, NO_JSON)]


@given(objects, st.integers(1, 40), st.booleans(), st.sampled_from(["", " ", "\n"]))
def test_a_list_reads_the_same_in_pieces_of_any_size(log, items, size, ascii_only, space):
    text = json.dumps(items, ensure_ascii=ascii_only, separators=("," + space, ":" + space))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CHUNK", size)
        patch.setattr(module, "_FIRST", size)
        got = read(log("[\n" + text[1:]))
    assert [d.value for d in got] == items and [json.loads(d.text) for d in got] == items
    assert [d.line for d in got] == [d.line for d in read(log("[\n" + text[1:]))]


@given(objects, st.integers(0, 200), st.integers(1, 40))
def test_a_list_cut_anywhere_gives_whole_elements_and_says_so(log, items, cut, size):
    text = "[\n" + ",\n".join(map(json.dumps, items)) + "\n]"
    cut = min(cut, len(text) - 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CHUNK", size)
        got = read(log(text[:cut]))
    good = [d.value for d in got if isinstance(d, Document)]
    assert good == items[:len(good)]
    assert cut < 2 or isinstance(got[-1], Unread)


def test_a_list_of_many_elements_is_read_in_flat_memory(log, monkeypatch):
    monkeypatch.setattr(module, "_FIRST", 2**20)
    path = log("[" + ",".join(['{"a": "' + "x" * 1000 + '"}'] * 20_000) + "]")
    tracemalloc.start()
    assert sum(1 for _ in documents(path)) == 20_000
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 12 * 2**20 < path.stat().st_size


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


def test_values_left_half_way_do_not_mind_that_their_file_was_closed(tmp_path):
    (tmp_path / "log.jsonl").write_text('{"a": 1}\n{"a": 2}\n', "utf-8")
    with (tmp_path / "log.jsonl").open("rb") as file:
        found = values_of(file)
        next(found)
    found.close()


def test_what_is_wrong_with_a_torn_line_is_a_whole_phrase(tmp_path):
    (tmp_path / "log.jsonl").write_text('{"a": 1}\n{"a": "cut\n{"a": 2}\n', "utf-8")
    assert [item.why for item in documents(tmp_path / "log.jsonl") if isinstance(item, Unread)] == [
        "not JSON (invalid control character)"]
