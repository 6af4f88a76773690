"""Records in files, one a line: streaming in, atomic or resumable out.

Decision: a reader is told where it went wrong as "FILE:LINE: what; remedy",
and a last line that a killed run left half written is told apart from a
broken file, because only the first is mended by running again. Refusal: no
line is guessed at or skipped silently, and a file is never half replaced.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from tjlib import release
from tjlib.badline import is_torn, mismatch
from tjlib.trace import InputError, R, from_json, to_json

__all__ = ["append", "atomic", "numbered", "read", "write"]

_log = logging.getLogger(__name__)
_BOM = b"\xef\xbb\xbf"
#: Bytes of a line beyond which it is no record: the released ones stay below 10 kB.
_LONGEST = 64 * 2**20


def _refuse_special(path: Path) -> None:
    """Refuse to add to, or to replace, a folder, a device or a pipe."""
    if path.is_dir():
        raise InputError(f"{path}: this is a folder; give the name of a file")
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: not a regular file; give the name of a file")


def _lines(file: BinaryIO, path: Path) -> Iterator[bytes]:
    """Read line by line, but never a line that fills the memory, as a device's would."""
    number = 0
    try:
        while line := file.readline(_LONGEST + 1):
            number += 1
            if len(line) > _LONGEST:
                raise InputError(f"{path}:{number}: a line of more than {_LONGEST >> 20} MB; "
                                 "write one object a line")
            yield line
    except OSError as error:
        raise InputError.of(error, path) from None


def numbered(path: str | Path, kind: type[R], *, torn_ok: bool = False) -> Iterator[tuple[int, R]]:
    """Read as `read` does, each record with the number of its line, counted from 1."""
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path}: this is a folder; give a file in it")
    if torn_ok:  # it is to be added to
        _refuse_special(path)
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; check the path") from None
    except OSError as error:
        raise InputError.of(error, path) from None
    with file:
        for number, line in enumerate(_lines(file, path), start=1):
            if number == 1:
                line = line.removeprefix(_BOM)
            if not line.strip():
                continue
            try:
                record = from_json(kind, line)
            except InputError as problem:
                if is_torn(line):
                    if torn_ok:
                        return
                    raise InputError(
                        f"{path}:{number}: the last line is cut off; run the command that wrote "
                        "the file again to complete it, or delete the line"
                    ) from None
                try:
                    record = release.decode(kind, line)
                except InputError as other:
                    problem = other if release.is_shaped(line) else problem
                    message = mismatch(kind, line, problem)
                    raise InputError(f"{path}:{number}: {message}") from None
            yield number, record


def read(path: str | Path, kind: type[R], *, torn_ok: bool = False) -> Iterator[R]:
    """Read records one at a time, in flat memory.

    Parameters
    ----------
    path : str or Path
        A JSONL file in UTF-8; a byte-order mark, CRLF line ends and blank
        lines are accepted.
    kind : type
        The record class; a line in the release's shape is converted.
    torn_ok : bool
        Pass over a last line that a killed run left half written, which
        `append` then cuts off.

    Yields
    ------
    record

    Raises
    ------
    InputError
        One line naming file, line, problem and remedy.
    """
    for _, record in numbered(path, kind, torn_ok=torn_ok):
        yield record


@contextmanager
def atomic(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file that replaces ``path`` whole, once everything is on disk, or not at all.

    Parameters
    ----------
    path : str or Path
        Its folder must exist. Nest two of these to replace two files together.

    Yields
    ------
    binary file

    Raises
    ------
    InputError
        If the folder is missing, not writable or full, or ``path`` is no regular file; what
        was there is untouched.
    """
    path = Path(path)
    _refuse_special(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise InputError.of(error, path) from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def write(path: str | Path, records: Iterable[R]) -> None:
    """Write records as one file, atomically.

    Parameters
    ----------
    path : str or Path
        Replaced if there; its folder must exist.
    records : iterable of records

    Raises
    ------
    InputError
        As `atomic`; the old file is untouched.
    """
    with atomic(path) as file:
        file.writelines(to_json(record) + b"\n" for record in records)


def _mend(file: BinaryIO, path: Path) -> None:
    """Make ``file`` end in a complete line."""
    size = file.seek(0, os.SEEK_END)
    tail, start = b"", size
    while start and b"\n" not in tail:
        start = max(0, start - 65_536)
        file.seek(start)
        tail = file.read(size - start)
    last = tail[tail.rfind(b"\n") + 1:]
    file.seek(size)
    if not last:
        return
    if is_torn(last):
        file.truncate(size - len(last))
        _log.warning("%s: cut off a last line that an interrupted run left half written", path)
    elif last.startswith(b"{"):
        file.write(b"\n")
    else:
        raise InputError(f"{path}: does not end in a record; choose another file to add to")


def append(path: str | Path, records: Iterable[R]) -> int:
    """Add records to a file, each written out before the next is asked for.

    A half-written last line, which a killed run leaves, is cut off first and
    a warning is logged; whatever ends this call, whole lines remain.

    Parameters
    ----------
    path : str or Path
        Created if missing; its folder must exist.
    records : iterable of records
        Consumed lazily, so a generator may do the work.

    Returns
    -------
    int
        Records added.

    Raises
    ------
    InputError
        If the file cannot be written or does not end in a record.
    """
    path, added = Path(path), 0
    _refuse_special(path)
    try:
        if path.exists():
            with path.open("r+b") as file:
                _mend(file, path)
        file = path.open("ab", buffering=0)
    except OSError as error:
        raise InputError.of(error, path) from None
    with file:
        for record in records:
            _add(file, to_json(record) + b"\n", path)
            added += 1
    return added


def _add(file: BinaryIO, line: bytes, path: Path) -> None:
    """Write one line whole, or leave the file as it was."""
    size = file.seek(0, os.SEEK_END)
    try:
        written = 0
        while written < len(line):
            written += file.write(line[written:])
    except OSError as error:
        with suppress(OSError):
            file.truncate(size)
        raise InputError.of(error, path) from None
