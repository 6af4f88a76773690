"""The released files, found on this machine or fetched and checked.

Decision: a file counts as the release only if its SHA-256 says so; a broken
download is resumed, a wrong one removed. Refusal: nothing is fetched unless
asked for, and no file that is not the release's is overwritten.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import urllib.error
import urllib.request
from pathlib import Path

from tjlib.release import COMMIT, FILES, REPOSITORY
from tjlib.trace import InputError

__all__ = ["BASE_URL", "cache_folder", "fetch", "find", "is_released"]

BASE_URL = f"https://raw.githubusercontent.com/{REPOSITORY}/{COMMIT}"
_CHUNK = 1 << 16
_WITHOUT = "everything that does not say released works without it"


def cache_folder() -> Path:
    """Return the folder `fetch` saves to: ``~/.cache/tjlib/released``, or XDG_CACHE_HOME's."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "tjlib", "released")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""


def is_released(path: Path) -> bool:
    """Tell whether a file is, byte for byte, the released file of its name."""
    return path.name in FILES and _sha256(path) == FILES[path.name][1]


def find(folder: str | Path | None = None) -> Path:
    """Find a folder that holds the release's files.

    Parameters
    ----------
    folder : str or Path, optional
        Where to look; else the environment variable TJLIB_RELEASED, else
        ``../shared/released`` beside the checkout, else `cache_folder`.

    Returns
    -------
    Path

    Raises
    ------
    InputError
        If no such folder holds the files.
    """
    beside = Path(__file__).resolve().parents[2] / "shared" / "released"
    named = folder or os.environ.get("TJLIB_RELEASED")
    for place in [Path(named)] if named else [beside, cache_folder()]:
        if all((place / name).is_file() for name in FILES):
            return place
    if named:
        who = "" if folder else " (named by TJLIB_RELEASED)"
        raise InputError(f"{named}{who}: does not hold {', '.join(FILES)}; "
                         f"run: tjlib fetch released --out {named}")
    raise InputError("the released files are not on this machine; run: tjlib fetch released")


def _get(url: str, part: Path, timeout: float, bar) -> None:
    """Download to ``part``, going on from what it holds; it is complete on return."""
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    with urllib.request.urlopen(request, timeout=timeout) as reply:
        if reply.status != 206:
            have = 0  # the server sends the whole file whatever was asked
        length = reply.headers.get("Content-Length")
        bar.reset(total=have + int(length) if length else None)
        bar.update(have)
        with part.open("ab" if have else "wb") as file:
            while chunk := reply.read(_CHUNK):
                file.write(chunk)
                bar.update(len(chunk))
    if length and part.stat().st_size < have + int(length):
        raise http.client.IncompleteRead(b"", have + int(length) - part.stat().st_size)


def _reason(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"the server answered {error.code} {error.reason}"
    if isinstance(error, http.client.IncompleteRead):
        return f"the connection broke off {error.expected} bytes before the end"
    reason = getattr(error, "reason", error)
    return getattr(reason, "strerror", None) or str(reason) or type(error).__name__


def fetch(
    what: str = "released", into: str | Path | None = None, *, progress: bool = False,
    base_url: str = BASE_URL, timeout: float = 30.0,
) -> Path:
    """Fetch the release's three files, resumably, and check their SHA-256.

    Parameters
    ----------
    what : str
        ``"released"``, the only artefact there is.
    into : str or Path, optional
        Folder to save to, created if missing; default `cache_folder`.
    progress : bool
        Show a bar on a terminal.
    base_url : str
        Where the repository's files are served.
    timeout : float
        Seconds without a byte before giving up.

    Returns
    -------
    Path
        The folder. Files already there and right are not fetched again.

    Raises
    ------
    InputError
        One line with the remedy: offline, refused, cut off (what came is
        kept and the next call goes on from there), or wrong bytes (removed).
    """
    from tqdm import tqdm

    if what != "released":
        raise InputError(f"nothing called {what!r} to fetch; there is: released")
    folder = cache_folder() if into is None else Path(into)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}; choose another folder") from None
    for name, (remote, digest) in FILES.items():
        target, part, url = folder / name, folder / f"{name}.part", f"{base_url}/{remote}"
        if target.exists():
            if is_released(target):
                continue
            raise InputError(f"{target}: already there and not the released file; "
                             "move it away or choose another folder")
        if _sha256(part) == digest:  # killed between the last byte and the rename
            part.replace(target)
            continue
        try:
            with tqdm(desc=name, unit="B", unit_scale=True, leave=False,
                      disable=None if progress else True) as bar:
                _get(url, part, timeout, bar)
        except (OSError, http.client.HTTPException) as error:
            if isinstance(error, urllib.error.HTTPError) and error.code == 416:
                part.unlink()  # longer than the file itself: nothing worth keeping
            raise InputError(f"{url}: {_reason(error)}; check the network and run the same "
                             f"command again; {_WITHOUT}") from None
        if (got := _sha256(part)) != digest:
            part.unlink()
            raise InputError(f"{url}: not the released file (SHA-256 {got[:12]}..., expected "
                             f"{digest[:12]}...); removed it, run the same command again")
        part.replace(target)
    return folder
