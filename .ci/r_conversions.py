"""Write docs/reference/r_conversions.md: what reticulate makes of each value, in both directions.

python3 .ci/r_conversions.py          write it; needs the room "R" (.ci/ready.py R)
python3 .ci/r_conversions.py --check  exit code 1 where the page is not current

Each row is run under `inspector trace`: kinds, how and losses are what it saw by comparing both sides.
Then it is run without a trace (r_conversions.R), where R and Python each write down their value. A loss that
the trace did not see, or that it told and that is none, ends this script.
"""

# SPDX-License-Identifier: MIT
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "r_conversions.md"
BEGIN = "<!-- begin: .ci/r_conversions.py -->\n"
TO_PYTHON = """\
NULL; TRUE; 1L; 1.5; 1i; "a"; NA; NA_integer_; NA_real_; NA_character_; NaN; character(0); c(1, 2); 1:3
c(TRUE, NA); c(1L, NA); c(1, NA); c(1i, NA); c("a", NA); c(a = 1, b = 2); as.raw(1); as.raw(1:3); list()
list(1, "a"); list(a = 1, b = 2); list(a = 1, a = 2); list(a = 1, 2); list(a = list(b = c(1L, NA)))
"\\u00e9"; iconv("\\u00e9", "UTF-8", "latin1"); c("\\u00e9", "b"); bit64::as.integer64(5)
matrix(c(1, 2, 3, 4), 2); matrix(c(1, NA), 1); matrix(1:4, 2); matrix(c(1L, NA), 1)
matrix(c(TRUE, FALSE), 1); matrix(c(TRUE, NA), 1); matrix(c("a", "b"), 1); matrix(c("a", NA), 1)
matrix(1i, 1); matrix(as.raw(1:2), 1); matrix(list(1, "a"), 1)
list(a = matrix(list(1, "a"), 1), 2); matrix(list(1, "a"), 1, dimnames = list("r", NULL))
matrix(1:2, 1, dimnames = list("r", c("a", "b"))); array(1:8, c(2, 2, 2)); array(c(1, 2))
factor(c("a", "b")); factor(c("a", NA)); as.Date("2020-01-01"); as.Date(c("2020-01-01", NA))
as.POSIXct("2020-01-01", tz = "UTC"); as.POSIXlt("2020-01-01", tz = "UTC"); as.difftime(1, units = "hours")
data.frame(n = c(1, 2)); data.frame(n = c(1, NA)); data.frame(n = c(1L, NA)); data.frame(n = c(TRUE, NA))
data.frame(n = c(TRUE, FALSE)); data.frame(n = c("a", NA)); data.frame(n = 1i)
data.frame(n = iconv("\\u00e9", "UTF-8", "latin1")); data.frame(n = factor("a"))
data.frame(n = as.Date("2020-01-01")); data.frame(n = as.POSIXct("2020-01-01", tz = "UTC"))
data.frame(n = as.POSIXct("2020-01-01", tz = "Europe/Berlin")); data.frame(n = bit64::as.integer64(5))
data.frame(n = I(list(1, "a"))); data.frame(n = 1, row.names = "r"); data.frame()
data.frame(a = 1, a = 2, check.names = FALSE)
Matrix::Matrix(c(0, 1), 1, sparse = TRUE); as(Matrix::Matrix(c(0, 1), 1, sparse = TRUE), "RsparseMatrix")
as(Matrix::Matrix(c(0, 1), 1, sparse = TRUE), "TsparseMatrix"); Matrix::Matrix(c(1, NA), 1, sparse = TRUE)
Matrix::Matrix(c(0, 1), 1, sparse = TRUE, dimnames = list("r", NULL))
Matrix::Matrix(c(TRUE, FALSE), 1, sparse = TRUE)
c(a = TRUE, b = NA); list(a = NULL, b = NA); list(1:2, list("a", NA)); 1:100; as.character(1:3); sort(3:1 + 0)
setNames(1:2, 8:9); array(1:80, 80); "\\u4e2d"; .Machine$integer.max; Inf; -0; complex(0); raw(0); integer(0)
as.hexmode(10L)
data.frame(a = as.POSIXct(c("2020-07-01", NA), tz = "Asia/Tokyo"), b = as.POSIXct("2020-01-01", tz = "UTC"))
data.frame(n = c(a = 1, b = 2)); data.frame(n = I(matrix(1:4, 2)))
data.frame(n = as.difftime(1:2, units = "mins"))
data.frame(n = as.raw(1)); function(x) x; sum; quote(x); y ~ x; new.env()
py_eval("1", FALSE)
factor(c("lo", "hi"), levels = c("lo", "hi"), ordered = TRUE); list(factor("a"), 1)
data.frame(f = factor(c("a", NA))); data.frame(f = factor("x"), g = factor("x")); data.frame(x = numeric(0))
structure(1:3, class = "u"); structure(list(a = 1), class = "u"); structure("a", class = "u")
table(c("a", "b")); ts(c(1, 2)); I(1:3); as.roman(4)
.Machine$double.xmax; 2^53 + 1; c(NaN, NA); 1e-320; c("", "a"); list(NULL); list(c(a = 1)); list(list())
list(x = factor("a")); list(d = as.Date("2020-01-01")); as.Date(18000.5); as.Date(NA); as.POSIXct(NA)
as.POSIXct(0.5, tz = "UTC"); as.POSIXct("2020-07-01", tz = "America/New_York"); t(matrix(1:6, 2))
matrix(numeric(0), 0, 3); array(c(TRUE, NA), c(1, 1, 2)); array("a", c(1, 1, 1))
data.frame(a = 1:2, b = c("x", NA)); data.frame(n = 1:3)[-2, , drop = FALSE]; data.frame(n = as.Date(NA))
cbind(a = 1, b = 2); quantile(1:4); rle(c(1, 1)); as.table(matrix(1:4, 2)); expression(x)
complex(real = NA, imaginary = 1); bit64::as.integer64(NA); bit64::as.integer64("9007199254740993")
list(1L, list(2L, c(NA, "x"))); list(a = data.frame(n = c(1L, NA))); head(iris, 2)
data.frame(n = c(TRUE, NA), row.names = c("a", "b")); structure(list(1, 2), names = c("", "b"))
"\\U1F600"; c(1.5, -Inf)"""
TO_R = """\
None; True; 1; -2**31; 2**31; 2**53 + 1; 1.5; float("nan"); 1j; "a"; "\u00e9"; "a\\0b"; b"ab"
bytearray(b"ab"); []; [1, 2]; [1.5, 2.5]; [1, 2.5]; [True, False]; ["a", "b"]; [1, "a"]; [2**31, 1]
[-2**31, 1]; [1, None]; [[1, 2], [3]]; (1, 2); {"a": 1}; {1: 2}; {"a": {"b": [1, 2]}}; {1, 2}; range(3)
iter([1]); (i for i in [1]); lambda x: x; len; int; fractions; fractions.Fraction(1, 3)
datetime.date(2020, 1, 1); datetime.datetime(2020, 1, 1); datetime.timedelta(1); memoryview(b"ab")
np.bool_(True); np.int8(1); np.int64(2**40); np.int64(2**53 + 1); np.uint64(2**63 + 1); np.float32(1.5)
np.complex64(1j); np.str_("a"); np.datetime64("2020-01-01"); np.array(1.5); np.array([1, 2])
np.array([2**53 + 1]); np.array([-2**31], "i4"); np.array([1, 2], "i1"); np.array([1, 2], "i2")
np.array([1, 2], "i4"); np.array([1, 2], "u1"); np.array([1, 2], "u2"); np.array([2**32 - 1], "u4")
np.array([2**63 + 1], "u8"); np.array([1.5], "f2"); np.array([1.5], "f4"); np.array([1.5], "g")
np.array([1.5], ">f8"); np.array([1j]); np.array([1j], "c8"); np.array([True]); np.array(["a"])
np.array([b"a"]); np.array(["2020-01-01"], "M8[D]"); np.array([1], "m8[s]"); np.array([(1, 2.5)], "i4,f8")
np.array([1, "a"], object); np.array([1, None], object); np.ones((2, 2)); np.asfortranarray(np.ones((2, 2)))
np.arange(6.0).reshape(2, 3)[:, ::2]; np.arange(6.0)[::-1]; np.ones((2, 2), bool); np.ones((2, 2, 2))
pd.Series([1, 2]); pd.Series([1.5, 2.5], index=["a", "b"]); pd.Series(["a", None])
pd.Series([1, None], dtype="Int64"); pd.Series([True, None], dtype="boolean")
pd.Series(["a", None], dtype="string"); pd.Series(pd.Categorical(["x"]))
pd.Series(pd.to_datetime(["2020-01-01"])); pd.Timestamp("2020-01-01"); pd.NA; pd.DataFrame({"a": [1, 2]})
pd.DataFrame({"a": [1.5, None]}); pd.DataFrame({"a": [2**53 + 1]})
pd.DataFrame({"a": [-2**31]}, dtype="i4"); pd.DataFrame({"a": [True]}); pd.DataFrame({"a": ["x", None]})
pd.DataFrame({"a": pd.Categorical(["x"])}); pd.DataFrame({"a": pd.array([1, None], "Int64")})
pd.DataFrame({"a": pd.array(["x", None], "string")}); pd.DataFrame({"a": pd.to_datetime(["2020-01-01"])})
pd.DataFrame({"a": pd.to_datetime(["2020-01-01"], utc=True)})
pd.DataFrame({"a": pd.to_datetime(["2020-07-01"]).tz_localize("Europe/Berlin")})
pd.Series(pd.to_datetime(["2020-07-01"]).tz_localize("Europe/Berlin"))
pd.Series(pd.to_datetime(["2020-07-01"], utc=True)); pd.Timestamp("2020-07-01", tz="UTC")
pd.Timestamp("2020-07-01", tz="Europe/Berlin"); datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)
pd.DataFrame({"a": [[1], "x"]})
datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=5)))
datetime.datetime(2020, 1, 1, 0, 0, 0, 123456); np.array(["NaT", "2020-01-01"], "M8[ns]"); pd.Series([pd.NaT])
np.array(["2020-01-01T00:00:00.123456"], "M8[us]"); np.array(["2020-01-01T00:00:00.123456789"], "M8[ns]")
pd.Timestamp("2020-01-01 00:00:00.123456789")
pd.DataFrame({"a": [pd.Timestamp("2020-01-01 00:00:00.123456789")]})
np.array([1.1], "f2"); np.array([1 + 2j, 3]); [1 + 2j, 3]; [1, {1, 2}]
pd.DataFrame({"a": [1]}, index=["r"]); pd.DataFrame([[1, 2]], columns=["a", "a"]); pd.DataFrame()
pd.DataFrame({"a": [pd.Timedelta("1s")]}); -2**31 + 1; [True, None]; {None: 1}
scipy.sparse.csc_matrix(np.eye(2)); scipy.sparse.csr_matrix(np.eye(2)); scipy.sparse.coo_matrix(np.eye(2))
scipy.sparse.dok_matrix((2, 2)); {"a": np.array([2**53 + 1])}; [np.float64(1.5), np.float64(2)]
[np.int64(2**53 + 1)]
(1, (2, 3)); {"a": [1, {"b": 2**40}]}; frozenset([1]); fractions.Fraction; Ellipsis; NotImplemented
slice(1, 2)
np.array([], int); np.array(["a", "bc"], "S2"); np.array([[1, 2], [3, 4]], order="F"); np.array(2**53 + 1)
np.ma.masked_array([1, 2], [0, 1]); np.ma.masked_array([1, 2], [0, 0]); np.matrix([[1, 2]])
np.array([2**24 + 1], "i4"); np.void(b"a")
decimal.Decimal("0.1"); datetime.time(1); datetime.datetime.max; np.array(["3000-01-01"], "M8[D]")
np.array(["2250-01-01T00:00:00.000001"], "M8[us]"); chr(0x1F600)
pd.Period("2020-01"); pd.Interval(0, 1)
pd.Timedelta("1s")
pd.Series([2**53 + 1, None], dtype="Int64"); pd.Series([1, 2], index=[5, 6]); pd.DataFrame({1: [1, 2]})
pd.DataFrame({"a": [1, 2]}, index=[3, 4]); pd.DataFrame({"a": pd.arrays.SparseArray([0, 1])})
pd.Series([1 + 2j])
pd.DataFrame({"a": [2**63 + 1]}, dtype="u8"); pd.DataFrame({"a": [1j]})
pd.DataFrame({"a": pd.period_range("2020", periods=1)})
pd.Index([1, 2]); pd.MultiIndex.from_tuples([(1, 2)])
np.array([-2**31, 7], ">i4"); np.array([2**53 + 1], ">i8"); np.array([0.1], ">f2"); np.array([1 + 2j], ">c16")
np.array([["a", "b"], ["c", "d"]]); pd.DataFrame({"a": pd.Categorical([2, 1])})
pd.DataFrame({"a": [1, 2]}, index=["r", "r"]); pd.DataFrame({"a": [1]}, index=[True])
pd.DataFrame({"a": [1]}, index=pd.CategoricalIndex(["r"])); pd.DataFrame({"a": [1]}, index=pd.Index([1.5]))
pd.DataFrame({"a": [1]}, index=pd.MultiIndex.from_tuples([("x", 1)]))
pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("x", 1)])); pd.DataFrame({"a": []})
pd.Series([1], index=pd.MultiIndex.from_tuples([("x", 1)])); {1.5: "x", (1, 2): "y"}
type("I", (int,), {})(2**40); [[1, 2**31], [3, 4]]; np.zeros((0, 3)); np.int32(-2**31)
-0.0; -2**53 - 1; 5e-324; b""; [None]; [[]]; [1, True]; [1, "a", None]; ["a", None]; [b"a"]; [2**53 + 1]
[1.5, None]; (); {"a": None}; {True: 1}; {"a": 1, 2: 3}; range(0); enumerate([1]); map(str, [1])
np.array([True, False])[::2]; np.array([[2**53 + 1]]); np.array([np.nan, 1]); np.array([0.1], "f4")
np.array([1 + 1e-9j], "c8"); np.array([None, "a"], object); np.zeros((2, 1, 3), "i2")
np.broadcast_to(1.5, (2, 2)); np.float16(0.1); np.longdouble(1.5); np.datetime64("NaT")
np.datetime64("2020-01-01T00:00:00.5"); np.rec.array([(1, 2.5)]); pd.Series([2**53 + 1])
pd.Series(["a"], index=["x"]); pd.Series([None], dtype="Float64"); pd.DataFrame({"a": [True, None]})
pd.DataFrame({"a": [None, None]}); pd.DataFrame({"a": pd.array([True, None], "boolean")})
pd.DataFrame({"a": [datetime.date(2020, 1, 1)]}); pd.DataFrame({"a": [b"x"]})
pd.DataFrame({"a": [1, 2]}).iloc[::-1]; pd.DataFrame({"a": [1, 2], "b": [3, 4]}).T; pd.Timestamp("NaT")
pd.to_datetime(["2020-01-01", None]); pd.array([1, None]); datetime.datetime.min; {"a": pd.Series([1, 2])}
[pd.Timestamp("2020-01-01")]; np.array([2**53 + 1], object); [np.float32(0.1)]; np.array([1, 2**31])
np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1); np.ma.masked_array([1.5, 2.5], [1, 1])
pd.DataFrame({"a": ["x"]}, index=pd.date_range("2020", periods=1)); [2**31 - 1, None]; 10**400"""
HEAD = """suppressMessages(library(reticulate))
py_run_string("import datetime, decimal, fractions, numpy as np, pandas as pd, scipy.sparse")
say <- function(n, value) cat("#", n, class(value)[[1L]], typeof(value), "\\n")
kind <- function(n, value) cat("#", n, sub("^python.builtin.", "", class(value)[[1L]]), "\\n")
"""
TWICE = ROOT / ".ci" / "r_conversions.R"
HOW = {"one by one": "element by element", "one block": "one block", "shared": "**the same bytes**"}


def main(words):
    """Exit code 1 where --check finds another table."""
    old = PAGE.read_text(encoding="utf-8")
    new = old.partition(BEGIN)[0] + BEGIN + table()
    if "--check" in words:
        return int(new != old)
    PAGE.write_text(new, encoding="utf-8")
    return 0


def table():
    """Both tables, as Markdown."""
    ours, theirs = (_split(text) for text in (TO_PYTHON, TO_R))
    lines = [
        f"tryCatch(kind({n}, r_to_py({one})), error = function(e) cat('# {n} error\\n'))"
        for n, one in enumerate(ours)
    ]
    for n, one in enumerate(theirs, len(ours)):
        value = f"py_to_r(py_eval({json.dumps(one)}, convert = FALSE))"  # `py$x` too asks R's methods
        lines.append(f"tryCatch(say({n}, {value}), error = function(e) cat('# {n} error\\n'))")
    said, seen = _run(HEAD + "\n".join(lines) + "\n", HEAD.count("\n"))
    twice = _second(ours, theirs)
    rows = [
        _row(one, said.get(n, ["?"]), seen.get(n, []), n < len(ours), twice[n])
        for n, one in enumerate(ours + theirs)
    ]
    head = "| {} | becomes | how | lost |\n|---|---|---|---|\n"
    return "\n".join(
        ["## R to Python\n", head.format("R") + "\n".join(rows[: len(ours)]) + "\n",
         "## Python to R\n", head.format("Python") + "\n".join(rows[len(ours) :]) + "\n"]
    )  # fmt: skip


def _split(text):
    return [one.strip() for line in text.splitlines() for one in line.split("; ")]


def _run(script, before):
    """(number -> class that the other side says, number -> conversions that the trace saw)."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "all.R").write_text(script)
        command = [Path(sys.executable).parent / "inspector", "trace", "--json", "--", "Rscript", "all.R"]
        told = os.environ | {"RETICULATE_PYTHON": sys.executable}
        done = subprocess.run(command, cwd=folder, env=told, capture_output=True, text=True, check=True)
    rows = [line.split()[1:] for line in done.stderr.splitlines() if line.startswith("# ")]
    lines = json.loads(done.stdout)["facts"]["trace"]["hosted"]["lines"]["lines"]
    seen = {}
    for line in lines:
        seen.setdefault(line["statement"]["line"] - before - 1, []).extend(line["conversions"])
    return {int(row[0]): row[1:] for row in rows}, seen


def _second(ours, theirs):
    """For each row what R and Python say themselves: same, reference, error, or differs and both sides."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [*(f"to_python {one}" for one in ours), *(f"to_r {one}" for one in theirs)]
        (Path(folder) / "rows").write_text("\n".join(rows) + "\n")
        command = ["Rscript", str(TWICE), "rows"]
        told = os.environ | {"RETICULATE_PYTHON": sys.executable}
        done = subprocess.run(command, cwd=folder, env=told, capture_output=True, text=True, check=True)
    return [line[2:].strip() for line in done.stdout.splitlines() if line.startswith("# ")]


def _row(text, said, seen, to_python, second):
    found = [one for one in seen if one["to_python"] == to_python]
    lost = [change for one in found for change in one["changes"]]
    asked = [
        one for one in found if one["how"] != "single" and not to_python
    ]  # a method of R's asks for the dtype before
    first = (asked or found or [None])[0]
    became = "an error" if said[0] == "error" else " ".join(dict.fromkeys(said))
    how = _how(first, became)
    losses = "; ".join(dict.fromkeys(f"{one['before']} → {one['after']}" for one in lost))
    losses = "" if became == "an error" else losses  # of what crossed before it
    if second.startswith("error") != (became == "an error"):
        raise SystemExit(f"{text}: {became}, and R and Python say: {second}")
    if bool(losses) != second.startswith("differs"):
        raise SystemExit(f"{text}: {losses or 'no loss'}, and R and Python say: {second}")
    cells = (f"`{text}`", became, how, losses.replace("|", "\\|"))
    return f"| {' | '.join(cells)} |"


def _how(first, became):
    """How it crossed; "" where the trace saw no value cross: an error, NULL, or what a method in R makes."""
    if first is None or became == "an error":
        return "a reference" if became.endswith(("environment", "closure", "function")) else ""
    if became.startswith("scipy."):
        return "by its arrays"  # R makes an array of each slot before
    return HOW.get(first["how"], "one by one, with its items" if became in ("list", "dict") else "one value")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
