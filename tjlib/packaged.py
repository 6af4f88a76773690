"""The tables that come with the library, in a checkout or in the installed package.

Decision: a table is named by what it holds, and read whole. Refusal: nothing
is fetched, and nothing a table holds is corrected here; the data sheet says
what each column means.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from tjlib.trace import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["data_folder", "free_logs", "published", "recorded_prefix", "released_counts",
           "sentences", "sources", "whole"]


def data_folder(name: str) -> Path:
    """Return one folder of the data sheet, in a checkout or in the installed package."""
    packed = Path(str(files("tjlib"))) / "data" / name
    return packed if packed.is_dir() else packed.parents[2] / "data" / name


def published(name: str) -> pd.DataFrame:
    """Read one published table, such as ``trajectory_judge_numbers``.

    Parameters
    ----------
    name : str
        A file of data/published without ``.csv``; the data sheet says what
        each holds.

    Returns
    -------
    DataFrame

    Raises
    ------
    InputError
        For a name that is not there; the message lists those that are.
    """
    import pandas as pd

    names = sorted(path.stem for path in data_folder("published").glob("*.csv"))
    if name not in names:
        raise InputError(f"no published table {name!r}; there are: {', '.join(names)}")
    return pd.read_csv(data_folder("published") / f"{name}.csv")


def sentences(name: str = "reply_sentences") -> pd.DataFrame:
    """Read the invented sentences that test a judge of replies.

    Parameters
    ----------
    name : {"reply_sentences", "other_wordings"}

    Returns
    -------
    DataFrame
        id, kind, harmful (0 or 1), split ("set" or "report") and text; the
        data sheet says what may be done with each half.
    """
    import pandas as pd

    return pd.read_csv(data_folder("sentences") / f"{name}.csv")


def recorded_prefix() -> pd.DataFrame:
    """Read what the prefix cache did for two judges over the first trajectories of the judged set.

    Returns
    -------
    DataFrame
        One row per prompt that bench/prefix.py read: condition, judge, mode,
        trajectory_id, prompt_tokens, cached_tokens, seconds; `tjlib.measure.prefix`
        sums it up.
    """
    import pandas as pd

    return pd.read_csv(data_folder("recorded") / "prefix.csv")


def released_counts(name: str) -> pd.DataFrame:
    """Read what scores of ours make of the release's runs, in counts.

    Parameters
    ----------
    name : {"pairs", "found"}

    Returns
    -------
    DataFrame
        "pairs": version ("as logged" or "thoughts emptied"), then as
        `tjlib.measure.ahead.score_pairs`, pairs that agree counted in ``n``.
        "found": similarity, judge, score, fault, survival, whether the judge flags and
        whether the score does at a tenth of the clean runs, and ``n`` runs.
    """
    import pandas as pd

    return pd.read_csv(data_folder("recorded") / f"released_{name}.csv")


def free_logs() -> pd.DataFrame:
    """Read what the free panel's members said of public logs.

    Returns
    -------
    DataFrame
        One row a run: set and trajectory_id (of `tjlib.features`), then rules,
        repetition, reply and near (the wider repetition): 1 flagged, 0 not,
        missing where the member does not bear on the run.
    """
    columns = ["set", "trajectory_id", "rules", "repetition", "reply", "near"]
    return whole(data_folder("recorded") / "free_logs.csv.gz", columns,
                 remedy="make it anew with data/build_panel.py")


def sources() -> pd.DataFrame:
    """Read where the text of the stored sets is.

    Returns
    -------
    DataFrame
        One row a file, or a pattern of many: set, repository (on GitHub), commit, path, files and
        licence; the data sheet says how to fetch one.
    """
    import pandas as pd

    return pd.read_csv(data_folder("features") / "sources.csv")


def whole(
    path: Path, columns: Sequence[str], dtype: Mapping[str, str] | None = None, *, remedy: str,
) -> pd.DataFrame:
    """Read one CSV file, packed or not, to its end.

    Parameters
    ----------
    path : Path
        A name that ends in ``.gz`` is unpacked.
    columns : sequence of str
        Those it must have, among others.
    dtype : mapping, optional
        Type by column, as `pandas.read_csv` takes it.
    remedy : str
        What to do about a file that is not all there.

    Returns
    -------
    DataFrame

    Raises
    ------
    InputError
        If the file is missing, cut off, no such table or lacks a column.
    """
    import pandas as pd

    try:
        found = pd.read_csv(path, dtype=dtype)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; {remedy}") from None
    except (OSError, EOFError, zlib.error, ValueError) as error:  # pandas' own are ValueErrors
        what = " ".join(str(error).split())[:120]
        raise InputError(f"{path}: cannot be read as a table ({what}); {remedy}") from None
    if missing := [name for name in columns if name not in found]:
        raise InputError(f"{path}: has no column {', '.join(missing[:3])}; {remedy}")
    return found
