"""Run a chapter with other parameters and keep what came out.

Decision: papermill runs the chapter, and this wrapper adds what papermill
leaves out: unknown names and wrong types stop before the run, text is typed by
the chapter's own hints, and a failure is one line with the partial notebook
kept. Refusal: nothing is written into the source tree unless asked for.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tjlib.chapter import coerce, from_text, unknown
from tjlib.page import page
from tjlib.trace import InputError

__all__ = ["parameters", "read_values", "rerun"]

_KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def _source(chapter: str) -> Path:
    """Find a chapter by its path, or by its name in ``notebooks``."""
    path = Path(chapter)
    if path.suffix in (".py", ".ipynb", ".md"):
        if path.is_file():
            return path
        raise InputError(f"{chapter}: there is no such file; check the path")
    # A chapter's text is what people edit, so it goes before its paired notebook.
    folders = [Path("notebooks"), Path(__file__).resolve().parents[1] / "notebooks"]
    for folder in folders:
        for suffix in (".py", ".ipynb"):
            if (found := folder / f"{chapter}{suffix}").is_file():
                return found
    names = sorted({p.stem for folder in folders for p in folder.glob("*.ipynb")})
    raise InputError(f"no chapter {chapter!r}; give a .py, .md or .ipynb file, or one of: "
                     f"{', '.join(names) or '(no notebooks folder here)'}")


def _notebook(path: Path, into: Path) -> Path:
    """Copy a chapter as a notebook that names its kernel, whatever its source says."""
    import jupytext
    import nbformat

    try:
        book = jupytext.read(path)
    except Exception as error:
        raise InputError(f"{path}: not a notebook ({' '.join(str(error).split())[:80]})") from None
    book.metadata["kernelspec"] = _KERNEL
    book.metadata["language_info"] = {"name": "python"}
    copy = into / f"{path.stem}.ipynb"
    _, book = nbformat.validator.normalize(book)
    nbformat.write(book, copy)
    return copy


def _need_papermill() -> None:
    try:
        import jupytext  # noqa: F401
        import nbconvert  # noqa: F401
        import papermill  # noqa: F401
    except ModuleNotFoundError as error:
        raise InputError(f"rerun needs the package {error.name}; run make book once in the book's "
                         "checkout, then .venv/bin/tjlib there") from None
    # What it would log is told here, in one line.
    logging.getLogger("papermill").setLevel(logging.CRITICAL)


def parameters(chapter: str) -> dict[str, dict[str, str]]:
    """List a chapter's parameters.

    Parameters
    ----------
    chapter : str
        A name in ``notebooks`` or the path of a .py, .md or .ipynb file.

    Returns
    -------
    dict of name -> dict
        Keys inferred_type_name, default and help, all text.

    Raises
    ------
    InputError
        If there is no such chapter or it has no parameters cell.
    """
    _need_papermill()
    with TemporaryDirectory() as folder:
        return _inspect(_notebook(_source(chapter), Path(folder)))


def read_values(path: str | Path) -> dict[str, Any]:
    """Read parameter values from a YAML file, as names and values."""
    import yaml

    try:
        values = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError.of(error, path) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not YAML ({error}); write one name: value a line") from None
    if not isinstance(values, dict):
        raise InputError(f"{path}: no names and values in it; write one name: value a line")
    for name in values:
        if not isinstance(name, str):
            raise InputError(f"{path}: {name!r} is not a parameter's name; write one name: value "
                             "a line")
    return values


def _inspect(notebook: Path) -> dict[str, dict[str, str]]:
    import papermill

    found = papermill.inspect_notebook(str(notebook))
    if not found:
        raise InputError(f"{notebook.stem}: no cell tagged 'parameters', so none can be set; "
                         "tag the cell")
    return found


def _typed(
    name: str, known: Mapping[str, Mapping[str, str]], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Give every value the type its parameter's hint says."""
    hints = {key: parameter["inferred_type_name"] for key, parameter in known.items()}
    out = {}
    for key, value in given.items():
        try:
            if key not in hints:
                raise unknown(key, hints)
            out[key] = (from_text if isinstance(value, str) else coerce)(key, hints[key], value)
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
    return out


def _html(notebook: Path) -> None:
    """Write the notebook beside itself as HTML that loads nothing from elsewhere."""
    import nbformat

    text = page(nbformat.read(notebook, as_version=4), notebook.stem)
    notebook.with_suffix(".html").write_text(text, encoding="utf-8")


def _execute(notebook: Path, partial: Path, values: dict[str, Any], *, again: bool = True) -> None:
    import papermill
    from nbclient.exceptions import DeadKernelError

    from tjlib.kernels import QuietKernelManager

    try:
        # A kernel shut down while busy would log the interrupt among our messages.
        papermill.execute_notebook(str(notebook), str(partial), values, kernel_name="python3",
                                   progress_bar=False, kernel_manager_class=QuietKernelManager,
                                   extra_arguments=["--log-level=CRITICAL"])
    except DeadKernelError:
        raise
    except RuntimeError as error:
        # Before the first cell. Its ports are chosen before it binds them, and another process
        # may have been quicker.
        if not again:
            raise InputError(f"{partial}: no kernel started ({error}); run it again") from None
        _execute(notebook, partial, values, again=False)


def rerun(
    chapter: str, given: Mapping[str, Any] | None = None, out: str | Path = "rerun",
) -> Path:
    """Run a chapter and write NAME.ipynb and NAME.html.

    Parameters
    ----------
    chapter : str
        As `parameters`.
    given : mapping, optional
        Parameter values; text is read by the parameter's type hint.
    out : str or Path
        Folder to write to, created if missing.

    Returns
    -------
    Path
        The executed notebook.

    Raises
    ------
    InputError
        Before the run, for an unknown name or a wrong type; after it, naming
        chapter, cell and exception. What had run by then is kept as
        NAME.partial.ipynb and an earlier NAME.ipynb is left alone.
    """
    _need_papermill()
    import papermill
    from nbclient.exceptions import DeadKernelError

    from tjlib.kernels import need_loopback

    need_loopback()
    source, out = _source(chapter), Path(out)
    # Else the kernel's debugger prints a warning about frozen modules on stderr.
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    with TemporaryDirectory() as folder:
        notebook = _notebook(source, Path(folder))
        values = _typed(source.stem, _inspect(notebook), given) if given else {}
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError.of(error, out) from None
        partial = out / f"{source.stem}.partial.ipynb"
        kept = f"what ran is in {partial}"
        try:
            _execute(notebook, partial, values)
        except papermill.PapermillExecutionError as error:
            what = " ".join(f"{error.ename}: {error.evalue}".split())
            raise InputError(f"{source.stem}, cell {error.exec_count}: {what}; {kept}") from None
        except DeadKernelError:
            raise InputError(f"{source.stem}: the kernel died; {kept}") from None
        except OSError as error:
            partial.unlink(missing_ok=True)  # cut off anywhere, it is no notebook
            raise InputError.of(error, partial) from None
    try:
        done = partial.replace(out / f"{source.stem}.ipynb")
        _html(done)
    except OSError as error:
        raise InputError.of(error) from None
    return done
