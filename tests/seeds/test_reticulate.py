"""Seed 000, matrices through reticulate: a double is R's own memory, a logical is memory nobody frees."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import reticulated

pytestmark = pytest.mark.r
PROGRAM = """
import json, os, sys
import rpy2.rinterface as r
r.initr()
r.evalr(f"Sys.setenv(RETICULATE_PYTHON='{sys.executable}')")
r.evalr("library(reticulate); m <- import('__main__', convert=FALSE)")
r.evalr("d <- matrix(c(1,2,3,4),2); m$double <- r_to_py(d)")
r.evalr("m$logical <- r_to_py(matrix(c(TRUE,FALSE,TRUE,TRUE),2))")
import __main__, inspector
from inspector.adapters.registry import adapter_of
capsule = __main__.double.base
(span,) = adapter_of(type(capsule)).spans(capsule)
facts = {name: inspector.materialization(getattr(__main__, name)) for name in ("double", "logical")}
told = {name: [fact.state, [found.slug for found in fact.findings]] for name, fact in facts.items()}
told["same"] = span.start == __main__.double.ctypes.data == r.globalenv["d"].rid + 48
print(json.dumps(told), flush=True)
os._exit(0)  # Python's end under R under Python is a fatal error of reticulate 1.28
"""


def test_a_logical_matrix_is_unowned_and_a_double_is_not(tmp_path: Path) -> None:
    # reticulate puts the working folder before the installed wheel
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM], capture_output=True, text=True, timeout=100, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told == {"double": ["shared-foreign", []], "logical": ["unowned", ["unowned-bytes"]], "same": True}


def test_what_the_page_for_r_users_shows(tmp_path: Path) -> None:
    """Counts of the ownership table (1, 2, 2, 3, 1); R's environments by name; R's width; REF beside."""
    rscript = shutil.which("Rscript")
    if rscript is None:
        pytest.skip("cannot be installed here: R")
    done = subprocess.run(
        [rscript, str(Path(__file__).with_name("from_r.R"))],
        capture_output=True,
        text=True,
        timeout=100,
        cwd=tmp_path,
        env={**os.environ, "RETICULATE_PYTHON": sys.executable},
    )
    assert done.returncode == 0, done.stderr
    told = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    assert [told[step] for step in ("start", "one", "same", "two", "end")] == ["1", "2", "2", "3", "1"]
    assert "R environment, convert=FALSE" in told["owners"].split("|")
    assert int(told["widest"]) <= 60 and told["head"].split() == ["ob", "O"]
    assert told["matrix"].startswith("R REALSXP, REF ") and told["vector"] == "list"
    assert told["traced"] == "TRUE"


CONVERSIONS = 'library(reticulate)\npy_run_string("x = 1")\ninvisible(py$x)\npy$a <- 1\n'


@pytest.mark.timeout(300)
def test_the_two_backtraces_with_r_s_functions_between(tmp_path: Path) -> None:
    """`py$x` and `py$a <- 1`: the frames of the article, in its order, and who in R called them."""
    hits = reticulated.hits(tmp_path, CONVERSIONS, sys.executable)
    down = stack_of(hits, "py_to_r", "int 1")
    assert down[:5] == [
        "py_to_r",
        "py_ref_to_r",
        "_reticulate_py_ref_to_r",
        "R py_ref_to_r",
        "R py_to_r.default",
    ]
    assert down[5] == "R py_to_r" and down[-1] == "R $"
    up = stack_of(hits, "r_to_py_cpp", "double (1 item) 1")
    assert up[0] == "r_to_py_cpp" and "_reticulate_py_set_attr_impl" in up
    r = [name for name in up if name.startswith("R ")]
    assert r == ["R py_set_attr_impl", "R py_set_attr", "R $<-.python.builtin.object", "R $<-"]


def stack_of(hits: list[Any], place: str, value: str) -> list[str]:
    """Functions of the last hit with this first argument, without plumbing and parameters; R's as "R f"."""
    (*_, hit) = (one for one in hits if one["place"] == place and one["arguments"][0]["value"] == value)
    convert = {one["name"]: one["value"] for one in hit["arguments"]}["convert"]
    assert convert == "true"
    frames = [frame for frame in hit["stack"]["frames"] if not frame["plumbing"]]
    return [
        f"R {frame['function']}" if frame["kind"] == "r" else frame["function"].partition("(")[0]
        for frame in frames
    ]
