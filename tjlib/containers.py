"""Files, folders, gzip and zip archives as the files they hold, one at a time.

Decision: what a file is, its first bytes say and not its name; nothing is
unpacked to disk, so a folder or an archive of any size is read in flat memory.
Refusal: an archive in an archive, a name that leads out of one, a link to a
folder and what unpacks to very much more than it was packed in are not read,
and each is told.
"""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, NamedTuple

from tjlib.trace import InputError

try:  # the standard module of Python 3.14, which reads zstandard too
    from backports.zstd import ZstdError, zipfile
except ImportError:  # then the members packed so are refused below
    import zipfile

    ZstdError = zipfile.BadZipFile

__all__ = ["Member", "kind", "members", "place", "within"]

#: Unpacked bytes allowed for each packed one, beyond what is always allowed. Logs reach 50.
RATIO, ALWAYS = 200, 256 * 2**20

_REFUSED = {b"\x1f\x8b": "gzip", b"PK\x03\x04": "zip", b"PK\x05\x06": "zip",
            b"\x28\xb5\x2f\xfd": "zstandard", b"BZh": "bzip2", b"\xfd7zXZ": "xz",
            b"7z\xbc\xaf": "7-Zip"}
_ZSTANDARD = 93  # the method's number in zip's specification
_NO_ZSTD = ("packed with zstandard; install backports.zstd (pip install backports.zstd) "
            "or use Python 3.14")


class Member(NamedTuple):
    """One file: its name in the folder or archive ("" where it is all there is) and its bytes.

    Without ``file`` it is not read, and ``why`` says so; ``passed`` where that loses nothing.
    """

    name: str
    file: BinaryIO | None
    why: str = ""
    passed: bool = False


class _Budget:
    """How much a packed file may still unpack to."""

    def __init__(self, packed: int) -> None:
        self.left = max(ALWAYS, RATIO * packed)


class _Unpacked(io.RawIOBase):
    """What a packed file holds; where it breaks it ends, and ``fault`` says why."""

    def __init__(self, file: Any, budget: _Budget) -> None:
        self.file, self.budget, self.fault = file, budget, ""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self.fault:
            return 0
        try:
            data = self.file.read1(len(buffer))
        except EOFError:
            self.fault = "the packed file is cut off; nothing after this was read"
            return 0
        except (OSError, ValueError, RuntimeError, zlib.error, zipfile.BadZipFile,
                ZstdError) as error:
            self.fault = f"the packed file is damaged ({error}); nothing after this was read"
            return 0
        self.budget.left -= len(data)
        if self.budget.left < 0:
            self.fault = (f"unpacks to more than {RATIO} times its size, as a zip bomb does; "
                          "nothing after this was read: unpack it yourself if it is none")
            return 0
        buffer[:len(data)] = data
        return len(data)


def _packed_as(head: bytes) -> str:
    if head[257:262] == b"ustar":
        return "tar"
    return next((name for sign, name in _REFUSED.items() if head.startswith(sign)), "")


def _unpacked(file: Any, name: str, budget: _Budget) -> Member:
    """Give what is packed, unless that is packed again."""
    inner = io.BufferedReader(_Unpacked(file, budget), 2**18)
    if again := _packed_as(inner.peek(512)):
        return Member(name, None, f"a {again} file in an archive; unpack it first")
    return Member(name, inner)


def _leads_out(name: str) -> bool:
    path = PurePosixPath(name.replace("\\", "/"))
    return path.is_absolute() or ".." in path.parts or name[1:2] == ":"


def _hidden(name: str) -> bool:
    return any(part.startswith(".") or part == "__MACOSX" for part in Path(name).parts)


def _passed_over(hidden: int) -> Iterator[Member]:
    if hidden:
        yield Member("", None, f"{hidden} hidden files or folders", passed=True)


def _zip(path: Path, prefix: str) -> Iterator[Member]:
    budget, hidden = _Budget(path.stat().st_size), 0
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        yield Member(prefix, None, f"a zip file that cannot be read ({error}); copy it again")
        return
    with archive:
        for info in archive.infolist():
            name = f"{prefix}!{info.filename}" if prefix else info.filename
            if info.is_dir():
                continue
            if _leads_out(info.filename):
                yield Member(name, None, "a name that leads out of the archive; pack it anew")
            elif _hidden(info.filename):
                hidden += 1
            elif info.flag_bits & 1:
                yield Member(name, None, "encrypted; unpack it first")
            else:
                try:
                    file = archive.open(info)
                except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError) as error:
                    yield Member(name, None, _NO_ZSTD if info.compress_type == _ZSTANDARD else
                                 f"cannot be unpacked ({error})")
                    continue
                with file:
                    yield _unpacked(file, name, budget)
        yield from _passed_over(hidden)


def _file(path: Path, name: str) -> Iterator[Member]:
    with path.open("rb") as file:
        packed = _packed_as(file.peek(512))
        if not packed:
            yield Member(name, file)
        elif packed == "gzip":
            size = os.fstat(file.fileno()).st_size
            with gzip.GzipFile(fileobj=file) as inner:
                yield _unpacked(inner, name, _Budget(size))
        elif packed == "zip" and path.is_file():
            yield from _zip(path, name)
        else:
            yield Member(name, None, f"a {packed} file; unpack it first")


def _folder(path: Path) -> Iterator[Member]:
    hidden, closed = 0, []
    for folder, inside, files in os.walk(path, onerror=closed.append):
        for name in sorted(inside):
            if (Path(folder) / name).is_symlink():
                yield Member(str((Path(folder) / name).relative_to(path)), None,
                             "a link to a folder, which is not followed; give that folder itself")
        hidden += sum(map(_hidden, inside + files))
        inside[:] = sorted(name for name in inside if not _hidden(name))
        for file in (Path(folder) / name for name in sorted(files) if not _hidden(name)):
            name = str(file.relative_to(path))
            try:
                if file.is_file():
                    yield from _file(file, name)
                else:
                    yield Member(name, None, "no regular file or a link that leads nowhere")
            except OSError as error:
                yield Member(name, None, f"{error.strerror or error}; it was not read")
    for error in closed:
        yield Member(os.path.relpath(error.filename, path), None,
                     f"{error.strerror or error}; nothing in it was read")
    yield from _passed_over(hidden)


def kind(path: str | Path) -> str:
    """Tell what a path is: "folder", "zip", "gzip", another way of packing, or "" for plain."""
    path = Path(path)
    try:
        if path.is_dir():
            return "folder"
        if path.is_file():
            with path.open("rb") as file:
                return _packed_as(file.peek(512))
    except OSError:
        pass  # whoever reads it says so
    return ""


def place(path: str | Path, source: str, line: int = 0) -> str:
    """Name a place as ``FILE:LINE``, ``FOLDER/FILE:LINE`` or ``ARCHIVE!MEMBER:LINE``.

    >>> place("logs.zip", "a.json", 3)
    'logs.zip!a.json:3'
    """
    between = "/" if source and Path(path).is_dir() else "!" if source else ""
    name = "".join(c if c.isprintable() else "?" for c in source)
    return f"{Path(path)}{between}{name}{f':{line}' if line else ''}"


def within(path: str | Path, told: str) -> str:
    """Say of what is told of a path only where in it that is.

    >>> within("log.jsonl", "log.jsonl:3: cut off"), within("logs", "logs/a.json:3: cut off")
    ('line 3: cut off', 'a.json:3: cut off')
    """
    rest = told.removeprefix(str(Path(path)))
    if len(rest) == len(told):
        return told
    return f"line {rest[1:]}" if rest[:1] == ":" and rest[1:2].isdigit() else rest[1:].lstrip()


def members(path: str | Path) -> Iterator[Member]:
    """Open the files of a path one at a time; each is closed when the next is asked for.

    Parameters
    ----------
    path : str or Path
        A file, a folder (read in the order of its names), a gzip file, or a
        zip archive such as Inspect's ``.eval``.

    Yields
    ------
    Member

    Raises
    ------
    InputError
        If the path is not there or cannot be opened.
    """
    path = Path(path)
    try:
        yield from _folder(path) if path.is_dir() else _file(path, "")
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; check the path") from None
    except OSError as error:
        raise InputError.of(error, path) from None
