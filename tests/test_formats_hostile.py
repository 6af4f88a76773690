"""Every format's own example: known by its content, read the same from any encoding, and whatever
is wrong in it, runs and reasons come out."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mutated import ODD, mutated

from tjlib.documents import Document, Unread, documents
from tjlib.formats.imported import Imported
from tjlib.formats.registry import FORMATS, OUTCOMES, load, stream
from tjlib.trace import Trajectory, from_json, to_json

EXAMPLES = sorted((Path(__file__).parent / "examples").glob("*.json*"))
EVERY = pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)


def values(path):
    return [item.value for item in documents(path) if isinstance(item, Document)]


def format_of(path):
    return max((name for name in FORMATS if path.stem.startswith(name)), key=len)


def read(name, found):
    return list(FORMATS[name].read(iter(
        [Document(at, json.dumps(value), value, "log") for at, value in enumerate(found, 1)])))


@EVERY
def test_no_other_format_claims_a_value_of_an_example(path):
    claims = [[name for name, one in FORMATS.items() if one.recognise(v)] for v in values(path)]
    assert {names[0] for names in claims if names} == {format_of(path)}
    assert all(names[1:] in ([], ["openai_chat"]) for names in claims)  # it takes any messages


@EVERY
def test_a_byte_order_mark_crlf_and_another_name_change_nothing(path, tmp_path):
    text = path.read_text("utf-8").replace("\n", "\r\n")
    (tmp_path / "log").write_bytes(b"\xef\xbb\xbf" + text.encode())
    (tmp_path / "wide").write_bytes(text.encode("utf-16"))
    plain = load(path)
    for name in ("log", "wide"):
        other = load(tmp_path / name)
        assert other.format == plain.format == format_of(path)
        assert [run.trajectory.steps for run in other.runs] == [
            run.trajectory.steps for run in plain.runs]


@pytest.mark.parametrize("path", [p for p in EXAMPLES if p.suffix == ".jsonl"],
                         ids=lambda path: path.name)
def test_a_torn_last_line_loses_nothing_else(path, tmp_path):
    whole, torn = load(path), tmp_path / path.name
    torn.write_bytes(path.read_bytes() + b'{"type": "assis')
    log = load(torn)
    assert [run.trajectory.steps for run in log.runs] == [
        run.trajectory.steps for run in whole.runs]
    assert [line.rpartition(": ")[2] for line in log.unread[len(whole.unread):]] == [
        "the last line is cut off"]


@pytest.mark.parametrize("name", FORMATS)
def test_a_line_that_was_not_read_is_passed_on_and_one_of_something_else_is_named(name):
    torn = Unread(3, "the last line is cut off")
    assert list(FORMATS[name].read(iter([torn]))) == [torn]
    [item] = read(name, [{"x": 1}])
    assert isinstance(item, Unread) and item.line == 1


@EVERY
@settings(max_examples=150)
@given(data=st.data())
def test_a_log_with_faults_gives_runs_and_reasons_and_nothing_else(path, data):
    found = data.draw(mutated(values(path)))
    for value in found:
        assert all(one.recognise(value) in (True, False) for one in FORMATS.values())
        for labels in OUTCOMES.values():
            told = labels(value)
            assert told is None or isinstance(told, dict)
    for item in read(format_of(path), found):
        assert isinstance(item, Imported | Unread)
        if isinstance(item, Unread):
            assert "\n" not in item.why and item.why.isprintable()
            continue
        trajectory = item.trajectory
        assert from_json(Trajectory, to_json(trajectory)) == trajectory
        assert item.success in (True, False, None)
        assert all(0 <= step < len(trajectory.steps) for step in item.steps_failed)
        assert all(note.isprintable() for note in item.notes)
        assert item.model is None or isinstance(item.model, str)
        assert isinstance("".join((item.task_id, item.procedure, item.opening,
                                   *item.about.values())), str)


@pytest.mark.parametrize("name", FORMATS)
@given(value=ODD)
def test_a_value_of_anything_is_read_or_named_by_its_line(name, value):
    assert {item.line for item in read(name, [value])} <= {1}


@given(st.lists(st.sampled_from([path.read_bytes() for path in EXAMPLES]), max_size=2),
       st.binary(max_size=20), st.integers(0, 5000))
def test_no_bytes_in_a_folder_break_the_reading(tmp_path_factory, parts, extra, cut):
    folder = tmp_path_factory.getbasetemp() / "hostile"
    folder.mkdir(exist_ok=True)
    data = b"".join(parts)
    (folder / "log.json").write_bytes(data[:cut] + extra + data[cut:])
    list(stream(folder))
