"""Books for the tests: the real one, and small ones made of given chapters."""

from __future__ import annotations

import atexit
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "book" / "_ext"))

from execute import digest  # noqa: E402
from pairs import sync  # noqa: E402


def build(source: Path, output: Path) -> subprocess.CompletedProcess[str]:
    """Build as make does, and keep the log: standard output and errors in one."""
    tool = Path(sys.executable).with_name("jupyter-book")
    command = [tool, "build", source, "--all", "-n", "-W", "--keep-going", "--path-output", output]
    search = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return subprocess.run(
        command, cwd=source, env={**os.environ, "PYTHONPATH": search, "NO_COLOR": "1"},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False,
    )


@functools.cache
def real_book() -> Path:
    """The HTML of this checkout: what make book left if it is of these sources, else a new one."""
    record = ROOT / "_build" / "execution.json"
    if record.exists() and json.loads(record.read_text("utf-8"))["sources"] == digest(ROOT):
        return record.parent / "html"
    folder = Path(tempfile.mkdtemp(prefix="book-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    done = build(ROOT, folder)
    assert done.returncode == 0, done.stdout
    return folder / "_build" / "html"


def small_book(folder: Path, chapters: dict[str, str], *, timeout: int = 60) -> Path:
    """Lay out a book with the real configuration and the given chapters, each a py:percent text."""
    for name in ("_ext", "_static"):
        shutil.copytree(ROOT / "book" / name, folder / "book" / name,
                        ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "book" / "references.bib", folder / "book")
    config = (ROOT / "_config.yml").read_text("utf-8")
    config, count = re.subn(r"tj_cell_timeout: \d+", f"tj_cell_timeout: {timeout}", config)
    assert count == 1
    (folder / "_config.yml").write_text(config, "utf-8")
    (folder / "book" / "intro.md").write_text("# A small book\n", "utf-8")
    toc = ["format: jb-book", "root: book/intro", "chapters:"]
    (folder / "notebooks").mkdir()
    for name, text in chapters.items():
        (folder / "notebooks" / f"{name}.py").write_text(text, "utf-8")
        toc.append(f"  - file: notebooks/{name}")
    (folder / "_toc.yml").write_text("\n".join(toc) + "\n", "utf-8")
    sync(folder / "notebooks")
    return folder


#: A chapter with each shape of chart the theme must carry, a caption, a number.
GALLERY = '''\
# %% [markdown]
# # Charts of every shape
#
# See {numref}`fig-one`. We counted {glue:text}`three_points` points and paid
# $24 and $30 for $n_1 < 2$ of them.
#
# $$
# R_t = \\begin{cases} U_t & t = 1 \\\\ U_t + \\sum_{s<t} w_{st} R_s & \\text{else} \\end{cases}
# $$ (recursion)
#
# Equation {eq}`recursion` is drawn without a script.

# %%
import altair as alt
import pandas as pd
from myst_nb import glue

from tjlib.charts import theme
from tjlib.charts.show import show

points = pd.DataFrame(
    {"kind": ["silent", "loud", "clean"], "x": [1, 2, 3], "note": ["a </script>", "<!-- b", "c"]}
)
glue("three_points", len(points), display=False)
base = alt.Chart(points).mark_point(clip=True).encode(
    x="x", y="kind", tooltip="note",
    color=alt.Color("kind", scale=alt.Scale(**theme.role_scale("clean", "silent", "loud"))),
)

# %% mystnb={"figure": {"caption": "Three points.", "name": "fig-one"}}
show(base, name="one", alt="Three points, one a row, at one, two and three.", table=points)

# %%
rule = alt.Chart(points).mark_rule(style="chance").encode(x=alt.datum(2))
show(alt.layer(base, rule), name="layers", alt="Three points and the dashed line of chance.")

# %%
small = base.properties(width=200, height=90)
show(small.facet("kind:N", columns=3), name="facets", alt="One small plot for each of the kinds.")

# %%
show(small | small, name="beside", alt="The same three points drawn twice, side by side.")

# %%
wide = pd.DataFrame({f"a_column_{i}": [i] for i in range(30)})
wide
'''
