"""Folders and archives: every file read or named, none able to do harm."""

import gzip
import io
import json
import os
import struct
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tjlib import containers
from tjlib.containers import kind, members, place
from tjlib.documents import Document, Unread, documents
from tjlib.trace import InputError


def zipped(path, files, **options):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, **options) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def values(path):
    return [(d.source, d.value) for d in documents(path) if isinstance(d, Document)]


def refusals(path):
    return [(d.source, d.why) for d in documents(path) if isinstance(d, Unread)]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "2.json").write_text('{"n": 2}', "utf-8")
    (tmp_path / "a.jsonl").write_text('{"n": 0}\n{"n": 1}\n', "utf-8")
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(b'{"n": 3}\n'))
    zipped(tmp_path / "d.eval", {"x/5.json": '{"n": 5}', "4.json": '{"n": 4}'})
    return tmp_path


def test_a_folder_is_read_in_the_order_of_its_names_archives_in_it_included(folder):
    assert values(folder) == [
        ("a.jsonl", {"n": 0}), ("a.jsonl", {"n": 1}), ("c.jsonl.gz", {"n": 3}),
        ("d.eval!x/5.json", {"n": 5}), ("d.eval!4.json", {"n": 4}), ("b/2.json", {"n": 2})]
    assert [kind(folder / name) for name in (".", "a.jsonl", "c.jsonl.gz", "d.eval")] == [
        "folder", "", "gzip", "zip"]


def test_what_a_file_is_its_bytes_say_and_not_its_name(tmp_path):
    zipped(tmp_path / "log.json", {"a": '{"n": 1}'})
    (tmp_path / "log.zip").write_bytes(gzip.compress(b'{"n": 2}'))
    assert values(tmp_path / "log.json") == [("a", {"n": 1})]
    assert values(tmp_path / "log.zip") == [("", {"n": 2})]


def test_a_place_is_named_as_a_user_would_open_it(folder):
    assert place(folder, "b/2.json", 1) == f"{folder}/b/2.json:1"
    assert place(folder / "d.eval", "x/5.json", 1) == f"{folder / 'd.eval'}!x/5.json:1"
    assert place("a.jsonl", "", 7) == "a.jsonl:7"
    assert place("a.zip", "x\x1b[2J\n", 1) == "a.zip!x?[2J?:1"


def test_members_packed_with_zstandard_are_read_or_refused_with_the_remedy(
        shared, monkeypatch):
    path = shared / "traces/samples/inspect/retry_zstd.eval"
    assert {name for name, _ in values(path)} >= {"header.json", "samples/1_epoch_1.json"}
    monkeypatch.setattr(containers, "zipfile", zipfile)  # as without the library
    if not hasattr(zipfile, "ZIP_ZSTANDARD"):
        assert values(path) == []
        assert all("pip install backports.zstd" in why for _, why in refusals(path))


def test_names_that_lead_out_of_an_archive_are_refused_and_the_others_read(tmp_path):
    bad = ["../up.json", "/etc/passwd.json", "a/../../b.json", "C:\\x.json", "..\\y.json"]
    path = zipped(tmp_path / "z.zip", dict.fromkeys([*bad, "good.json"], '{"n": 1}'))
    assert values(path) == [("good.json", {"n": 1})]
    assert [(name, "leads out" in why) for name, why in refusals(path)] == [
        (name, True) for name in bad]


def test_an_archive_in_an_archive_is_refused(tmp_path):
    inner = zipped(tmp_path / "inner.zip", {"a.json": "{}"}).read_bytes()
    path = zipped(tmp_path / "z.zip", {"inner.zip": inner, "g.gz": gzip.compress(b"{}")})
    assert values(path) == []
    assert [why for _, why in refusals(path)] == [
        "a zip file in an archive; unpack it first", "a gzip file in an archive; unpack it first"]


@pytest.mark.parametrize("pack", [
    lambda path, data: zipped(path, {"a.jsonl": data}),
    lambda path, data: path.write_bytes(gzip.compress(data))])
def test_a_bomb_ends_where_it_outgrows_what_was_packed(tmp_path, monkeypatch, pack):
    monkeypatch.setattr(containers, "ALWAYS", 2**20)
    path = tmp_path / "bomb"
    pack(path, b'{"n": 1}\n' + b" " * 2**25)
    assert [value for _, value in values(path)] == [{"n": 1}]
    assert any("zip bomb" in why for _, why in refusals(path))


def test_members_that_overlap_share_one_budget(tmp_path, monkeypatch):
    """A flat bomb lists the same bytes under many names."""
    monkeypatch.setattr(containers, "ALWAYS", 2**20)
    path = zipped(tmp_path / "z.zip", {f"{i}.json": b'"' + b"a" * 2**19 + b'"' for i in range(9)})
    assert any("zip bomb" in why for _, why in refusals(path))


def test_a_link_to_a_folder_is_named_and_not_followed(folder):
    (folder / "loop").symlink_to(folder)
    (folder / "lost.json").symlink_to(folder / "nowhere")
    (folder / "own.json").symlink_to(folder / "own.json")
    assert len(values(folder)) == 6
    assert dict(refusals(folder)).keys() == {"loop", "lost.json", "own.json"}


def test_a_folder_that_may_not_be_entered_is_named(folder, monkeypatch):
    scan = os.scandir

    def refuse(path):
        if str(path).endswith("b"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert refusals(folder) == [("b", "Permission denied; nothing in it was read")]
    assert len(values(folder)) == 5


def test_a_pipe_in_a_folder_is_named_and_not_waited_for(folder):
    os.mkfifo(folder / "pipe.json")
    assert [name for name, _ in refusals(folder)] == ["pipe.json"]


def test_hidden_files_are_passed_over_and_counted(folder):
    (folder / ".git").mkdir()
    (folder / ".git" / "x.json").write_text("{}", "utf-8")
    (folder / ".DS_Store").write_bytes(b"\0")
    last = list(members(folder))[-1]
    assert (last.file, last.passed, last.why) == (None, True, "2 hidden files or folders")


def test_a_file_that_may_not_be_read_is_named(folder):
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    (folder / "a.jsonl").chmod(0)
    assert ("a.jsonl", "Permission denied; it was not read") in refusals(folder)


@pytest.mark.parametrize("cut", [30, 60, -8])
def test_a_gzip_file_that_is_cut_off_gives_what_came_before(tmp_path, cut):
    lines = "".join(json.dumps({"n": i, "x": os.urandom(8).hex()}) + "\n" for i in range(50))
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress(lines.encode())[:cut])
    assert [v for _, v in values(path)] == [json.loads(x) for x in lines.splitlines()][
        :len(values(path))]
    assert "cut off" in refusals(path)[-1][1]


def test_a_damaged_member_is_named_and_the_next_is_read(tmp_path):
    path = zipped(tmp_path / "z.zip", {"a.json": '{"n": 1}' + " " * 50, "b.json": '{"n": 2}'})
    data = bytearray(path.read_bytes())
    at = data.index(b"a.json") + 8
    data[at] ^= 0xFF
    path.write_bytes(data)
    assert ("b.json", {"n": 2}) in values(path)
    assert refusals(path)[-1][0] == "a.json"


def test_an_encrypted_member_and_a_broken_archive_are_named(tmp_path):
    path = zipped(tmp_path / "z.zip", {"a.json": "{}"})
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    assert refusals(path) == [("a.json", "encrypted; unpack it first")]
    path.write_bytes(bytes(data[:-10]))
    assert "cannot be read" in refusals(path)[0][1]


@pytest.mark.parametrize(("head", "name"), [
    (b"BZh9", "bzip2"), (b"\xfd7zXZ\0", "xz"), (b"\x28\xb5\x2f\xfd", "zstandard"),
    (b"a.json" + b"\0" * 251 + b"ustar", "tar")])
def test_other_packing_is_named_with_its_remedy(tmp_path, head, name):
    (tmp_path / "x").write_bytes(head + b"\0" * 600)
    assert refusals(tmp_path / "x") == [("", f"a {name} file; unpack it first")]


def test_a_path_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        list(members(tmp_path / "none"))


def test_a_log_from_a_pipe_is_read(tmp_path):
    read, write = os.pipe()
    with os.fdopen(write, "wb") as file:
        file.write(b'{"n": 1}\n{"n": 2}\n')
    try:
        assert [v for _, v in values(f"/dev/fd/{read}")] == [{"n": 1}, {"n": 2}]
    finally:
        os.close(read)


@given(st.data())
def test_no_damage_to_an_archive_raises_anything_but_our_error(tmp_path_factory, data):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.json", '{"n": 1}' * 20)
        archive.writestr("b.json", "[1, 2]")
    raw = bytearray(buffer.getvalue() if data.draw(st.booleans()) else gzip.compress(b'{"a": 1}'))
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(4, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "damaged"
    path.write_bytes(bytes(raw))
    assert all(isinstance(x, Document | Unread) for x in documents(path))


def test_a_member_count_that_lies_is_no_crash(tmp_path):
    path = zipped(tmp_path / "z.zip", {"a.json": "{}"})
    data = bytearray(path.read_bytes())
    end = data.index(b"PK\x05\x06")
    struct.pack_into("<HH", data, end + 8, 9, 9)
    path.write_bytes(data)
    assert all(isinstance(x, Document | Unread) for x in documents(path))
