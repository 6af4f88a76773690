"""The README's picture: the results chapter's main figure, drawn from the published verdicts.

Decision: the picture is drawn by the code that draws the chapter's figure and
committed, for a code host shows a README before anything has run; a test
draws it again. Refusal: no number of it is typed here.

``python picture.py FILE.svg`` writes it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tjlib import store, tables
from tjlib.charts import judging
from tjlib.charts.show import show
from tjlib.measure.intervals import intervals
from tjlib.measure.table import table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["picture", "rates"]


def rates() -> pd.DataFrame:
    """Give silent, loud and pooled recall and false alarms of the published judges."""
    source = store.load("published")
    t = table(source.labels, source.verdicts, source.cost)
    found = intervals(t, np.random.default_rng(0))
    return tables.labelled(found[found["judge"].isin(t.judges)], judging.RATES)


def picture() -> str:
    """Draw those rates as SVG."""
    return show(judging.dumbbell(rates()), name="readme",
                alt="Silent and loud recall and false alarms of the five published judges.").svg


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(picture(), encoding="utf-8")
