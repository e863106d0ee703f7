"""Seed 002: the lazy vectors of an R script by statement: made, read, materialized, by which functions."""

# SPDX-License-Identifier: MIT
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import r_libraries
import reticulated

from inspector.verdicts.r_objects import INSTEAD

pytestmark = [pytest.mark.r, pytest.mark.timeout(300)]
SCRIPT = Path(__file__).with_name("lazy.R")


def traced(*command: str, cwd: Path, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """`inspector trace --lazy -- ...` at 80 columns."""
    load = cwd / "load.R"
    classes = r_libraries.SEEDS / "altrep_classes" / "altrep_classes.R"
    built = r_libraries.built("altrep_classes").with_suffix("")
    load.write_text(f"altrep_classes <- '{built}'\nsource('{classes}')\n")
    inspector = str(Path(sys.executable).parent / "inspector")
    environment = {**os.environ, "COLUMNS": "80", "LOAD_CLASSES": str(load)}
    return subprocess.run(
        [inspector, "trace", "--lazy", *options, "--", *command], capture_output=True, text=True, cwd=cwd,
        timeout=200, env=environment,
    )  # fmt: skip


@pytest.fixture(scope="module")
def screen(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], list[str], str]:
    """(what R printed, the report, stderr)."""
    done = traced(reticulated.rscript(), str(SCRIPT), cwd=tmp_path_factory.mktemp("lazy"))
    lines = done.stdout.splitlines()
    begins = next(at for at, line in enumerate(lines) if "lazy vectors;" in line)
    return lines[:begins], lines[begins:], done.stderr


def test_the_first_screen(screen: tuple[list[str], list[str], str]) -> None:
    _, lines, _ = screen
    told = " ".join(" ".join(lines).split())
    assert len(lines) <= 24 and max(map(len, lines)) <= 80
    assert "2 were materialized, by sort and range: 12 MB." in told
    assert "5 x <- 1:1000000 x: compact integer(1,000,000) 0 of 4.0 MB made" in told
    assert "6 s <- as.character(x) s: deferred character(1,000,000) 0 of 8.0 MB made" in told
    assert "y: lazy_abs of altrep_classes, double(1,000,000) 0 of 8.0 MB made" in told
    assert "statements that read and left lazy" in told
    assert "11 z <- sort(y) y MATERIALIZED by sort to write 8.0 MB" in told
    assert "sort → sort.default → sort.int → order → radixsort → ALTVEC_DATAPTR → lazy_abs Dataptr" in told
    assert "ends → range → c → ALTVEC_DATAPTR → compact_intseq Dataptr" in told
    assert "line 13 c(min(x), max(x)) leaves x lazy" in told


def test_r_says_the_same_and_is_left_as_it_was(screen: tuple[list[str], list[str], str]) -> None:
    printed, _, stderr = screen
    assert [line.split() for line in printed] == [
        ["lazy", "FALSE", "FALSE"], ["made", "TRUE", "TRUE"], ["preload"],
    ]  # fmt: skip
    assert "half way" in stderr and "Rscript exited with 1" in stderr


def test_columns_that_a_package_reads_later_have_names(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("number\n" + "1.5\n" * 3)
    how = "altrep = TRUE, progress = FALSE, delim = ',', col_types = 'd'"
    read = f"d <- vroom::vroom('t.csv', {how})"
    expression = f"{read}; a <- d$number[2]; b <- sort(d$number)"
    done = traced(reticulated.rscript(), "-e", expression, cwd=tmp_path, options=("--json",))
    rows: list[Any] = json.loads(done.stdout)["facts"]["lazy_trace"]["statements"]
    made = [(one["name"], one["class_name"]) for row in rows for one in row["made"]]
    done_by = [(one["vector"]["name"], one["by"]) for row in rows for one in row["materialized"]]
    assert ("d$number", "vroom_dbl") in made and done_by == [("d$number", "sort")]


def test_the_advice_leaves_a_sequence_lazy() -> None:
    lines = ["lazy <- function(x) grepl('compact', capture.output(.Internal(inspect(x))))"]
    for name, said in INSTEAD.items():
        better = said.format(x="x").split("`")[1]
        lines.append(f"x <- 1:50; y <- {better}; stopifnot(lazy(x), identical(y, {name}(x)), !lazy(x))")
    done = subprocess.run([reticulated.rscript(), "-e", "\n".join(lines)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


LATER = r"""ids <- 5:400000
plain <- function(x) !grepl("compact", capture.output(.Internal(inspect(x)))[1])
labels <- as.character(ids)
one <- labels[[7]]
ids[3] <- 9L
stopifnot(plain(ids))
counts <- nchar(labels)
wrapped <- 1:60000
names(wrapped) <- labels[1:60000]
twice <- wrapped * 2L
stopifnot(any(grepl("expanded", capture.output(.Internal(inspect(wrapped))))))
"""


def test_names_that_vectors_have_left_strings_that_were_made_and_copies(tmp_path: Path) -> None:
    """R checks by itself, in the script, that `ids` and what `wrapped` wraps are ordinary afterwards."""
    (tmp_path / "later.R").write_text(LATER)
    done = traced(reticulated.rscript(), "later.R", cwd=tmp_path, options=("--json",))
    assert "exited" not in done.stderr
    rows: list[Any] = json.loads(done.stdout)["facts"]["lazy_trace"]["statements"]
    by_line = {row["line"]: row for row in rows}
    made = [
        (row["line"], one["vector"]["name"], one["copied"]) for row in rows for one in row["materialized"]
    ]
    assert (5, "ids", True) in made and (10, "wrapped", False) in made
    read = {one["vector"]["class_name"]: one for one in by_line[7]["read"]}
    assert read["compact_intseq"]["vector"]["name"] == "", "that vector is not `ids` any more"
    assert [one["strings"] for one in by_line[4]["read"] if one["vector"]["name"] == "labels"] == [1]
    assert read["deferred_string"]["strings"] == 399_996 - 1


def test_what_is_no_r_is_refused(tmp_path: Path) -> None:
    done = traced("true", cwd=tmp_path)
    assert "true is not R." in done.stderr and "no-r" in done.stderr
