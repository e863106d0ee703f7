"""Seed 000: a trace of an R script is read by R's own lines: what crossed, what it cost and lost."""

# SPDX-License-Identifier: MIT
import importlib.metadata
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import reticulated

pytestmark = [pytest.mark.r, pytest.mark.timeout(300)]
TOTAL = """library(reticulate)

# by way of Python
total <- function(v) {
  py <- r_to_py(v)
  back <- py_to_r(py)
  sum(back)
}
x <- as.numeric(1:1000000)
total(x)
"""


def traced(tmp_path: Path, script: str, *options: str) -> subprocess.CompletedProcess[str]:
    """`inspector trace -- Rscript total.R` with the script, at 80 columns."""
    (tmp_path / "total.R").write_text(script)
    inspector = str(Path(sys.executable).parent / "inspector")
    command = [inspector, "trace", *options, "--", reticulated.rscript(), "total.R"]
    environment = {**os.environ, "RETICULATE_PYTHON": sys.executable, "COLUMNS": "80"}
    return subprocess.run(command, capture_output=True, text=True, timeout=250, cwd=tmp_path, env=environment)


def lines_of(tmp_path: Path, script: str) -> dict[int, Any]:
    """R's lines by number."""
    done = traced(tmp_path, script, "--json")
    assert done.returncode == 0, done.stderr
    lines = json.loads(done.stdout)["facts"]["trace"]["hosted"]["lines"]["lines"]
    return {line["inside"]["line"]: line for line in lines}


def test_the_first_screen_is_r_s_own_line(tmp_path: Path) -> None:
    done = traced(tmp_path, TOTAL)
    printed = done.stdout.splitlines()
    result, screen = printed[0], printed[1:]
    assert result == "[1] 500000500000" and len(screen) <= 24 and max(map(len, screen)) <= 80
    told = " ".join(" ".join(screen).split())
    assert "1,000,000 doubles became a list of 1,000,000 floats, 8.0 MB → 32 MB" in told or (
        "a list of 1,000,000 floats became 1,000,000 doubles, 32 MB → 8.0 MB" in told
    )
    assert "element by element" in told and "Start-up (R, packages, Python 3." in told
    assert "10 total(x) 5 py <- r_to_py(v) R → Python numeric(1,000,000) → list" in told
    assert "6 back <- py_to_r(py) Python → R list(1,000,000) → numeric" in told
    assert "line 5 r_to_py(array(v)): Python shares that array's 8.0 MB, no loop" in told
    assert "find_and_load" not in told and "copied by" not in told


MANY_KINDS = """system2(Sys.getenv("RETICULATE_PYTHON"), c("-c", "pass"))
library(reticulate)
np <- import("numpy", convert = FALSE)
through <- function(a) {
  inverse <- np$negative(a)
  py_to_r(np$positive(inverse))
}
m <- through(matrix(rnorm(1e6), 1000))
py_run_string("def count(n): yield from map(float, range(n))")
all <- iterate(py$count(1000L))
words <- r_to_py(matrix(rep("a", 5000), 50))
df <- data.frame(f = factor(c("a", "b")), t = as.POSIXct("2024-06-01", tz = "Asia/Tokyo") + 1:2)
p <- r_to_py(df)
"""


def test_a_wide_row_is_drawn_and_texts_are_no_block_and_a_zone_is_lost_once(tmp_path: Path) -> None:
    done = traced(tmp_path, MANY_KINDS)
    screen = done.stdout.splitlines()
    assert len(screen) <= 26 and max(map(len, screen)) <= 80
    told = " ".join(done.stdout.split())
    assert "R → Python numeric matrix(1,000,000) → ndarray shared the same 8.0 MB" in told
    assert "Python → R float → numeric ×1,000" in told and "1 loss in 1 line of R" in told
    assert "5,000 strings became an ndarray of 5,000 objects, 40 kB → 40 kB, element by element" in told
    assert done.stderr.count("not watched: 1 (") == 1 and "python -c p" in done.stderr  # cut if long


IN_A_LOOP = """library(reticulate)
each <- function(v) r_to_py(v)
date <- as.POSIXct("2024-01-01", tz = "Asia/Tokyo")
for (one in list(list(), list(), structure(list(), extra = 5), date, list(4))) each(one)
p <- each(1)
p <- each(1)
"""


def test_calls_that_come_again_are_told_by_their_own_line_and_object(tmp_path: Path) -> None:
    done = traced(tmp_path, IN_A_LOOP, "--json")
    told = json.loads(done.stdout)["facts"]["trace"]["hosted"]["lines"]["lines"]
    assert sorted({line["statement"]["line"] for line in told}) == [4, 5, 6], told
    each = [change for line in told for one in line["conversions"] for change in one["changes"]]
    assert [one["before"] for one in each] == ["extra", "time zone Asia/Tokyo"], told


LOSES = """library(reticulate)
py_run_string("
import numpy as np
wide = np.array([1, 2**53 + 1, 2**63 - 1])
one = np.int64(2**53 + 1)
keys = {1: 'a'}
import pandas as pd
zoned = pd.DataFrame({'t': pd.to_datetime(['2024-07-01']).tz_localize('Europe/Paris')})
")
a <- py$wide
b <- py$one
d <- r_to_py(data.frame(i = c(1L, NA), l = c(NA, TRUE), s = c("x", NA)))
m <- r_to_py(matrix(c(1L, NA, 3L, 4L), 2))
l <- r_to_py(matrix(c(TRUE, NA, FALSE, TRUE), 2))
n <- r_to_py(c(a = 1, b = 2))
u <- r_to_py(list(a = 1, a = 2))
k <- py$keys
t <- r_to_py(as.POSIXct("2024-01-01", tz = "Europe/Paris"))
e <- py_eval("2**40")
ok <- r_to_py(c(1.5, 2.5))
m <- r_to_py(matrix(list(1, "a", 2, "b"), 2))
z <- py$zoned
"""


def test_each_loss_has_its_line_and_both_values(tmp_path: Path) -> None:
    """Arrays, frames, matrices, names: what R and Python do without a word."""
    lines = lines_of(tmp_path, LOSES)
    lost = {
        number: [
            (one["name"], change["before"], change["after"])
            for one in line["conversions"]
            for change in one["changes"]
        ]
        for number, line in lines.items()
    }
    assert lost[10] == [("", str(2**53 + 1), str(2**53))]
    assert lost[11] == [("", str(2**53 + 1), str(2**53))]
    assert lost[12] == [("i", "NA", str(-(2**31))), ("l", "NA", "True"), ("s", "NA", "'NA'")]
    assert lost[13] == [("", "NA", str(-(2**31)))]
    assert lost[14] == [("", "NA", "True")]
    assert lost[15] == [("", "names a, b", "none")]
    assert lost[16] == [("", "2 items, 2 named 'a'", "1")]
    assert lost[17] == [("", "1", "'1'")]
    assert lost[18] == [("", "time zone Europe/Paris", "none")]
    assert lost[19] == [("", str(2**40), "0L")]
    assert lost[20] == [] and lines[20]["conversions"][0]["compared"]
    assert lost[21] == [("", "dim 2, 2", "none")]
    assert lost[22] == [("", "time zone Europe/Paris", "none")]


TIMES = """library(reticulate)
py_run_string("
import datetime as dt, numpy as np, pandas as pd
east = dt.datetime(2024, 5, 1, 12, tzinfo=dt.timezone(dt.timedelta(hours=5)))
gap = np.array(['NaT', '2024-01-01'], 'M8[ns]')
fine = np.array(['2024-01-01T00:00:00.123456789'], 'M8[ns]')
frame = pd.DataFrame({'t': [pd.Timestamp('2024-01-01 00:00:00.123456789')]})
micro = np.array(['2024-01-01T00:00:00.123456', '1969-01-01T00:00:00.000001'], 'M8[us]')
half = np.array([1.1, 2], 'f2')
waves = [1 + 2j, None, {1, 2}]
last = dt.datetime.max
later = np.array(['3000-01-01', '2020-01-01'], 'M8[D]')
hidden = np.ma.masked_array([[1.5, 2], [3, 4]], [[0, 0], [1, 0]])
shown = np.ma.masked_array([1.5, 2], [0, 0])
")
a <- py$east
b <- py$gap
d <- py$fine
e <- py$frame
f <- py$micro
h <- py$half
w <- py$waves
l <- py$last
y <- py$later
m <- py$hidden
n <- py$shown
stopifnot(format(a, "%H:%M") == "02:00", format(b[[1]], "%Y") == "1677", format(l, "%Y") == "10000")
stopifnot(format(y[[1]], "%Y") == "1830", m[[2, 1]] == 3)
attr(a, "tzone") <- "UTC-05:00"
stopifnot(format(a, "%H:%M") == "12:00")
"""


def test_what_posixct_does_not_keep(tmp_path: Path) -> None:
    """R reads UTC+05:00 as five hours west, has no NaT in an array, and no nanoseconds; it keeps the rest."""
    lines = lines_of(tmp_path, TIMES)
    lost = {
        number: [(one["before"], one["after"]) for part in line["conversions"] for one in part["changes"]]
        for number, line in lines.items()
    }
    fine = ("2024-01-01T00:00:00.123456789", "2024-01-01T00:00:00.123457")
    assert lost[16] == [("time zone UTC+05:00", "time zone UTC-05:00")]
    assert lost[17] == [("NaT", "1677-09-21 00:12:43")]
    assert lost[18] == lost[19] == [fine]
    assert not lost[20] and not lost[21] and not lost[22] and not lost[26]
    assert lost[23] == [("9999-12-31 23:59:59.999999", "253402300800 s since 1970")]
    assert lost[24] == [("3000-01-01", "1830-11-23T00:50:52.580896")]
    assert lost[25] == [("masked", "3")]
    assert all(one["compared"] for line in lines.values() for one in line["conversions"])
    assert 'line 16 attr(a, "tzone") <- "UTC-05:00" afterwards' in " ".join(
        traced(tmp_path, TIMES).stdout.split()
    )


SOURCED = """library(reticulate)
source("inner.R")
x <- runif(5000)
m <- mean_of(x)
"""
INNER = """mean_of <- function(v) {
  py_to_r(import("statistics", convert = FALSE)$fmean(v))
}
"""


def test_a_line_of_a_sourced_file_has_the_name_of_that_file(tmp_path: Path) -> None:
    (tmp_path / "inner.R").write_text(INNER)
    screen = " ".join(traced(tmp_path, SOURCED).stdout.split())
    assert "Line 2 of inner.R: 5,000 doubles became a list" in screen
    assert "4 m <- mean_of(x) 2 inner.R" in screen
    assert "line 2 of inner.R array(v): Python shares that array's 40 kB, no loop" in screen


FRAMES = """library(reticulate)
py_run_string("import pandas as pd")
s <- py_eval("pd.DataFrame({'n': [1, 2], 's': pd.to_timedelta([1, 2], unit='s')})")
d <- data.frame(a = 1:2, a = 3:4, check.names = FALSE)
p <- r_to_py(d)
names(d) <- make.unique(names(d))
q <- r_to_py(d)
stopifnot(inherits(s, "python.builtin.object") || is.na(s$s))
stopifnot(py_to_r(p$values$tolist())[[1]] == c(3, 3), py_to_r(q$values$tolist())[[1]] == c(1, 3))
"""


def test_columns_of_one_name_and_of_time_spans_are_lost(tmp_path: Path) -> None:
    """pandas gets the last column of a name for each of them; R gets POSIXct without a time for a span."""
    lines = lines_of(tmp_path, FRAMES)
    lost = {
        number: [(one["before"], one["after"]) for part in line["conversions"] for one in part["changes"]]
        for number, line in lines.items()
    }
    screen = " ".join(traced(tmp_path, FRAMES).stdout.split())
    if importlib.metadata.version("pandas") >= "3":  # an older one's frame stays as it is
        assert lost[3] == [("0 days 00:00:01", "NA")]
    assert lost[5] == [("2 columns 'a'", "the last one's values")]
    assert not lost[7]
    assert "line 5 names(d) <- make.unique(names(d)) before: each column crosses" in screen


LAZY = """library(reticulate)
v <- c(1.5, 2.5, 3.5); names(v) <- 1:3
n <- r_to_py(v)
i <- r_to_py(array(5000:1 + 0L))
l <- r_to_py(as.character(1:500))
u <- r_to_py(list(a = 1, a = 2, b = list(c = 1, c = 2, c = 3)))
stopifnot(py_eval("lambda a: a.base is not None and a.nbytes == 20000")(i))
"""


def test_an_altrep_is_read_where_its_class_has_the_elements(tmp_path: Path) -> None:
    """Names that are not made yet, a wrapper with what it knows of the order beside it, deferred strings."""
    lines = lines_of(tmp_path, LAZY)
    lost = [change for one in lines[3]["conversions"] for change in one["changes"]]
    assert [(one["before"], one["lost"]) for one in lost] == [("names 1, 2, 3", 3)]
    (array,) = lines[4]["conversions"]
    assert (array["how"], array["given"]["bytes"], array["compared"]) == ("shared", 20_000, True)
    (texts,) = lines[5]["conversions"]
    assert (texts["given"]["length"], texts["compared"], texts["changes"]) == (500, True, [])
    again = [change["before"] for one in lines[6]["conversions"] for change in one["changes"]]
    assert sorted(again) == ["3 items, 2 named 'a'", "3 items, 3 named 'c'"], "each list has its own row"


COLUMNS = """library(reticulate)
start <- as.POSIXct("2024-06-01", tz = "Asia/Tokyo")
d <- data.frame(a = start + 1:2, `b c` = start + 3:4, i = c(1L, NA), check.names = FALSE)
attr(d$`b c`, "tzone") <- "Europe/Paris"
p <- r_to_py(d)
py_run_string("import pandas as pd")
q <- py_to_r(py_eval("pd.DataFrame({'small': [1, 2], 'wide': [2**53 + 1, 2]})", convert = FALSE))
"""


def test_a_column_that_loses_something_is_told_by_its_name(tmp_path: Path) -> None:
    lines = lines_of(tmp_path, COLUMNS)
    lost = {
        number: [(one["name"], change["before"]) for one in line["conversions"] for change in one["changes"]]
        for number, line in lines.items()
    }
    tokyo, paris = "time zone Asia/Tokyo", "time zone Europe/Paris"
    assert sorted(lost[5]) == [("a", tokyo), ("b c", paris), ("i", "NA")]
    assert lost[7] == [("wide", str(2**53 + 1))]
    screen = " ".join(traced(tmp_path, COLUMNS).stdout.split())
    assert "LOST wide 1 of 2: 9007199254740993 → 9007199254740992" in screen
    assert '$to_datetime(d[["b c"]], utc = TRUE)$tz_convert("Europe/Paris") keeps the zone' in screen
    assert "$to_datetime(d," not in screen, "pandas makes no times of a whole data frame"


ASKED = """library(reticulate)
np <- import("numpy")
builtins <- import_builtins()
days <- np$array("2024-01-01T00:00:01", dtype = "datetime64[ns]")
pair <- builtins$dict(first = 1L)
"""


def test_what_a_method_asks_for_on_the_way_hides_no_value(tmp_path: Path) -> None:
    screen = " ".join(traced(tmp_path, ASKED).stdout.split())
    assert "Python → R ndarray → numeric array" in screen and "bool → logical" not in screen
    assert "5 pair <- builtins$dict(fir… R → Python integer → int" in screen


FACTORS = """library(reticulate)
kept <- r_to_py(data.frame(grade = factor(c("lo", NA, "hi"))))
lost <- r_to_py(data.frame(grade = factor(c("lo", NA, "NA"))))
alone <- r_to_py(factor(c("lo", NA)))
stopifnot(py_to_r(kept$grade$isna()$sum()) == 1, py_to_r(lost$grade$isna()$sum()) == 0)
"""


def test_no_value_of_a_factor_in_a_data_frame_is_kept_unless_a_level_has_its_text(tmp_path: Path) -> None:
    """The texts that reticulate makes of the factor on the way lose it, but pandas has no value again."""
    rows = lines_of(tmp_path, FACTORS)
    changed = {
        line: [change["before"] for one in found["conversions"] for change in one["changes"]]
        for line, found in rows.items()
    }
    assert (changed[2], changed[3], changed[4]) == ([], ["NA"], ["NA", "levels lo"])


def test_a_matrix_of_a_list_and_a_zone_say_what_keeps_them(tmp_path: Path) -> None:
    times = "pd.DataFrame({'t': pd.to_datetime(['2024-07-01']).tz_localize('Europe/Paris')})"
    lines = ("library(reticulate)", 'py_run_string("import pandas as pd")', 'm <- matrix(list(1, "a"), 1)',
             f'd <- py_to_r(py_eval("{times}", convert = FALSE))', "p <- r_to_py(m)")  # fmt: skip
    screen = " ".join(traced(tmp_path, "\n".join((*lines, ""))).stdout.split())
    assert 'line 4 attr(d$t, "tzone") <- "Europe/Paris" afterwards' in screen
    assert "line 5 lapply(seq_len(nrow(m)), function(i) m[i, ]) crosses as a list of rows" in screen


ADVICE = """library(reticulate)
address <- function(a) py_eval("lambda a: a.__array_interface__['data'][0]")(a)
check <- py_eval("lambda a: (type(a).__name__, len(a), a.base is not None if hasattr(a, 'base') else None)")
cat(unlist(check(r_to_py(array(as.numeric(1:2000))))), "\\n")
cat(unlist(py_eval("lambda a: (a[0], a[1] != a[1])")(r_to_py(as.numeric(c(1L, NA))))), "\\n")
cat(unlist(py_eval("lambda a: (type(a).__name__, a['b'])")(r_to_py(as.list(c(a = 1, b = 2))))), "\\n")
cat(unlist(py_eval("lambda a: (type(a).__name__, len(a))")(r_to_py(unname(list(a = 1, a = 2))))), "\\n")
kept <- py_eval("[2**53 + 1]", convert = FALSE)
cat(py_str(kept), "\\n")
m <- matrix(list(1, "a", 2, "b"), 2)
cat(py_str(r_to_py(lapply(seq_len(nrow(m)), function(i) m[i, ]))), "\\n")
x <- as.POSIXct("2024-07-01", tz = "Europe/Paris")
pandas <- import("pandas", convert = FALSE)
zoned <- pandas$to_datetime(x, utc = TRUE)$tz_convert("Europe/Paris")
cat(py_str(zoned$dtype), "\\n")
d <- py_to_r(pandas$DataFrame(dict(t = zoned)))
attr(d$t, "tzone") <- "Europe/Paris"
cat(format(d$t), attr(d$t, "tzone"), d$t == x, "\\n")
"""


def test_the_advice_holds(tmp_path: Path) -> None:
    """What a trace says to write instead keeps the bytes, the NA, the names, the items and the ints."""
    script = tmp_path / "advice.R"
    script.write_text(ADVICE)
    environment = {**os.environ, "RETICULATE_PYTHON": sys.executable}
    done = subprocess.run(
        [reticulated.rscript(), str(script)], capture_output=True, text=True, timeout=200, env=environment
    )
    told = [line.strip() for line in done.stdout.splitlines()]
    assert told == [
        "ndarray 2000 TRUE", "1 1", "dict 2", "list 2", "[9007199254740993]", "[[1.0, 2.0], ['a', 'b']]",
        "datetime64[ns, Europe/Paris]", "2024-07-01 Europe/Paris TRUE",
    ], done.stderr  # fmt: skip


def test_lines_in_loops_lapply_and_sourced_files(tmp_path: Path) -> None:
    """A loop at top level, a function within lapply, a sourced file, a pipe of two calls in one line."""
    (tmp_path / "more.R").write_text("sent <- function(v) {\n\n  r_to_py(v)\n}\n")
    script = (
        'library(reticulate)\nsource("more.R")\nfor (i in 1:3) {\n  y <- i\n  r_to_py(c(1, 2, i))\n}\n'
        "invisible(lapply(1:2, function(i) {\n  r_to_py(c(i, 1))\n}))\ninvisible(sent(c(1, 2)))\n"
    )
    done = traced(tmp_path, script, "--json")
    hosted = json.loads(done.stdout)["facts"]["trace"]["hosted"]
    told = [
        (one["statement"]["line"], one["inside"]["file"], one["inside"]["line"], one["function"])
        for one in hosted["lines"]["lines"]
    ]
    assert told == [(3, "total.R", 5, ""), (7, "total.R", 8, "FUN"), (10, "more.R", 3, "sent")]
    assert [one["conversions"][0]["times"] for one in hosted["lines"]["lines"]] == [3, 2, 1]


def test_a_profile_of_the_user_runs_and_options_stay(tmp_path: Path) -> None:
    """R runs the profile that it would have run, once; a script that fails is told first."""
    (tmp_path / ".Rprofile").write_text('cat("mine\\n")\n')
    done = traced(tmp_path, "library(reticulate)\ninvisible(r_to_py(1:3))\nstop('here')\n")
    assert done.stdout.splitlines()[0] == "mine" and done.stdout.count("mine") == 1
    assert "Rscript exited with 1" in done.stderr and "integer(3) → list" in done.stdout


def test_a_copy_as_one_block_is_the_first_sentence(tmp_path: Path) -> None:
    """reticulate#987: is a NumPy array copied on its way to R? A frame is, once for each column."""
    frame = "pd.DataFrame({'a': np.ones(500000), 'b': np.ones(500000)})"
    lines = ("library(reticulate)", "np <- import('numpy', convert = FALSE)", "x <- np$ones(1000000L)",
             "y <- py_to_r(x)", 'py_run_string("import numpy as np, pandas as pd")',
             f'd <- py_eval("{frame}", convert = FALSE)', "e <- py_to_r(d)")  # fmt: skip
    screen = " ".join(traced(tmp_path, "\n".join((*lines, ""))).stdout.split())
    assert "e <- py_to_r(d) Python → R DataFrame copied as 2 blocks 8.0 MB" in screen
    assert re.match(r"Line [47] copied 8.0 MB to R, as .* 1 more copied 8.0 MB. ", screen)
    assert "py_run_string(" not in screen, "what reticulate does at each import is no conversion of the line"
    screen = " ".join(traced(tmp_path, "\n".join((*lines[:4], ""))).stdout.split())
    told = "Line 4 copied 8.0 MB to R, as one block: ndarray of 1,000,000 → numeric array. "
    assert screen.startswith(f"{told}3 conversions in 2 lines of R.")


AGAIN = """library(reticulate)
py_run_string("x = 1.0")
py$a <- 1
b <- py$a
py$x
py$x
for (i in 1:2) {

  py$xx <- i
  py$x
}
stop(py$x)
"""


def test_what_is_written_twice_has_its_own_line(tmp_path: Path) -> None:
    """By the time at which R's statements are over; within one, by its text."""
    (tmp_path / "again.R").write_text(AGAIN)
    inspector = str(Path(sys.executable).parent / "inspector")
    command = [inspector, "break", "--preset", "reticulate", "--json", "--", reticulated.rscript(), "again.R"]
    environment = {**os.environ, "RETICULATE_PYTHON": sys.executable}
    done = subprocess.run(command, capture_output=True, text=True, timeout=250, cwd=tmp_path, env=environment)
    hits = json.loads(done.stdout)["facts"]["breaks"]["hits"]
    told = [[frame["line"] for frame in hit["stack"]["frames"] if frame["kind"] == "r"][-1] for hit in hits]
    lines = [int(line.partition(":")[2]) for line in told]
    assert lines == [3, *(4, 4), *(5, 5), *(6, 6), *(9, 10, 10) * 2, *(12, 12)]


def test_arguments_are_shown_as_r_prints_them(tmp_path: Path) -> None:
    ready = ("library(reticulate)", 'py_run_string("x = 1.0")')
    texts = ('py$a <- c("one", NA, "NA")', "py$b <- c(TRUE, NA)")
    numbers = ("py$d <- c(1.5, NA, NaN, -Inf)", "py$e <- c(3L, NA, 5:7)")
    command = [str(Path(sys.executable).parent / "inspector"), "break", "--preset", "reticulate", "--"]
    environment = {**os.environ, "RETICULATE_PYTHON": sys.executable, "COLUMNS": "80"}
    given = {"capture_output": True, "text": True, "timeout": 250, "cwd": tmp_path, "env": environment}
    found = []
    for lines in (texts, numbers):
        (tmp_path / "args.R").write_text("\n".join((*ready, *lines, "")))
        done = subprocess.run([*command, reticulated.rscript(), "args.R"], **given)
        found += re.findall(r"r_to_py_cpp\(x = (.*), convert", done.stdout)
    assert found == ['character(3) "one" NA "NA"', "logical(2) TRUE NA", "numeric(4) 1.5 NA NaN -Inf",
                     "integer(5) 3 NA 5 6 …"]  # fmt: skip


def test_the_two_stacks_of_the_article(tmp_path: Path) -> None:
    """`a <- py$x; py$a <- 1` under break: one stack each, from the user's line to C++'s arguments."""
    (tmp_path / "two.R").write_text('library(reticulate)\npy_run_string("x = 1.0")\na <- py$x\npy$a <- 1\n')
    inspector = str(Path(sys.executable).parent / "inspector")
    command = [inspector, "break", "--preset", "reticulate", "--", reticulated.rscript(), "two.R"]
    environment = {**os.environ, "RETICULATE_PYTHON": sys.executable, "COLUMNS": "80"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=250, cwd=tmp_path, env=environment)
    screen = done.stdout.splitlines()
    told = [" ".join(line.split()) for line in screen]
    assert len(screen) <= 24 and "plumbing" not in done.stdout
    assert told[0].startswith("2 conversions in 2 lines;") and "left out (--startup)" in told[0]
    down = told.index("two.R:3 a <- py$x Python → R")
    up = told.index("two.R:4 py$a <- 1 R → Python")
    first, second = " ".join(told[down + 1 : up]), " ".join(told[up + 1 :])
    assert (
        first.startswith("R $ → $.python.builtin.module → ")
        and "py_to_r → py_to_r.default → py_ref_to_r" in first
    )
    assert first.endswith(
        "C++ _reticulate_py_ref_to_r C++ py_ref_to_r C++ py_to_r(x = float 1.0, convert = TRUE)"
    )
    assert second.startswith("R $<- → $<-.python.builtin.object → py_set_attr → py_set_attr_impl")
    assert "C++ r_to_py_cpp(x = numeric(1) 1, convert = TRUE)" in second


MANY = """library(reticulate)
py_run_string("x = 1.0")
safe <- function() tryCatch(py$x, error = function(e) NULL)
for (i in 1:5) a <- safe()
p <- r_to_py(list(1, "a", TRUE, 2L))
py$b <- 2
for (i in 1:40) py$a <- i
never <- py$x
"""


def test_the_same_stack_is_shown_once_and_a_spent_budget_is_said(tmp_path: Path) -> None:
    (tmp_path / "many.R").write_text(MANY)
    inspector = str(Path(sys.executable).parent / "inspector")
    environment = {**os.environ, "RETICULATE_PYTHON": sys.executable, "COLUMNS": "80"}

    def seen(*options: str) -> str:
        command = [
            inspector,
            "break",
            "--preset",
            "reticulate",
            *options,
            "--",
            reticulated.rscript(),
            "many.R",
        ]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=250, cwd=tmp_path, env=environment
        )
        assert len(done.stdout.splitlines()) <= 26, done.stdout
        return " ".join(done.stdout.split())

    whole = seen()
    assert "many.R:4 for (i in 1:5) a <- safe() Python → R ×5 R safe → tryCatch → $ →" in whole
    assert whole.count("many.R:5") == 1 and "many.R:6 py$b <- 2 R → Python R" in whole
    assert "budget" not in whole and "conversions in 5 lines;" in whole
    part = seen("--budget", "230")
    assert part.startswith("Recorded before the budget was spent: ") and "many.R:8" not in part
    assert "budget of 230 hits reached" in part and "--budget records more" in part
