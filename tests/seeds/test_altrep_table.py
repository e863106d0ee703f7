"""The table of ALTREP classes: each row as it is read from memory today, and as R's own inspect prints it."""

# SPDX-License-Identifier: MIT
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import r_libraries
import reticulated

pytestmark = [pytest.mark.r, pytest.mark.timeout(200)]
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "altrep_classes.md"
ROWS = re.findall(r"^\| `(.*?)` \| (?:`(.*?)`)? ?\|", PAGE.read_text(), re.M)
"""(vector, what was done with it); INSPECTOR_WRITE=1 writes what they give into the page."""
SAYS = {
    "(compact)": {"none"}, "(expanded)": {"all"}, "<expanded string": {"all"},
    "<deferred string": {"none", "part", "all"}, "materialized=F": {"none"}, "materialized=T": {"all"},
    "mmaped": {"all"}, "materialized lazy": {"all"}, "lazy(": {"none"},
}  # fmt: skip
"""What each word of R's text leaves open for the part that is made: all of it, of a deferred string."""


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, ...]]:
    """(vector, use, class, stands for, made, R's own words), from one R."""
    folder = tmp_path_factory.mktemp("altrep")
    classes = r_libraries.SEEDS / "altrep_classes" / "altrep_classes.R"
    built = r_libraries.built("altrep_classes").with_suffix("")
    (folder / "load.R").write_text(f"altrep_classes <- '{built}'\nsource('{classes}')\n")
    (folder / "rows").write_text("".join(f"{vector}\t{use or ' '}\n" for vector, use in ROWS))
    (folder / "numbers.csv").write_text("d,i,c\n1.5,1,a\n2.5,2,b\n3.5,3,c\n")
    command = [reticulated.rscript(), str(Path(__file__).with_name("altrep_table.R")), "load.R", "rows"]
    told = os.environ | {"RETICULATE_PYTHON": sys.executable}
    done = subprocess.run(command, cwd=folder, env=told, capture_output=True, text=True, timeout=150)
    assert done.returncode == 0, done.stderr
    found = [line.split("\t")[1:] for line in done.stdout.splitlines() if line.startswith("row\t")]
    return [(*row, *read.split("|"), own) for row, (read, own) in zip(ROWS, found, strict=True)]


def test_the_page_is_what_each_row_gives(rows: list[tuple[str, ...]]) -> None:
    page, lines = PAGE.read_text(), []
    for vector, use, name, package, stands_for, made, own in rows:
        shown = own.partition("]")[2].partition(" / ")[0].strip()
        then = f"`{use}`" if use else ""
        lines.append(f"| `{vector}` | {then} | {name} of {package} | {stands_for} | {made} | {shown} |")
    new = page[: page.index("| `")] + "\n".join(lines) + "\n"
    if os.environ.get("INSPECTOR_WRITE"):
        PAGE.write_text(new)
    assert new == page


def test_r_says_the_same(rows: list[tuple[str, ...]]) -> None:
    """Compact or expanded, deferred, materialized; a wrapper is as lazy as what it wraps."""
    for vector, use, _, _, _, made, own in rows:
        first, _, wrapped = own.partition(" / ")
        if "wrapper" in first:
            wanted = "none" if "(compact)" in wrapped.partition(" / ")[0] else "all"
            assert made == wanted, (vector, use, own)
        else:
            word = next(word for word in SAYS if word in first)
            assert made in SAYS[word], (vector, use, made, own)
