"""Seed 000, matrices through reticulate: a double is R's own memory, a logical is memory nobody frees."""

# SPDX-License-Identifier: MIT
import json
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
r.evalr("stale <- unserialize(serialize(m$double, NULL)); live <- m$double")
told["python"] = [inspector.materialization(r.globalenv[name]).state for name in ("live", "stale")]
told["same"] = span.start == __main__.double.ctypes.data == r.globalenv["d"].rid + 48
print(json.dumps(told), flush=True)
os._exit(0)  # Python's end under R under Python is a fatal error of reticulate 1.28
"""


def test_a_logical_matrix_is_unowned_and_a_double_is_not_and_a_stale_object_is_closed(tmp_path: Path) -> None:
    # reticulate puts the working folder before the installed wheel
    done = reticulated.ran(tmp_path, sys.executable, "-P", "-c", PROGRAM)
    told = json.loads(done.stdout.splitlines()[-1])
    live, stale = told.pop("python")
    assert (live != "closed", stale) == (True, "closed")
    assert told == {"double": ["shared-foreign", []], "logical": ["unowned", ["unowned-bytes"]], "same": True}


def test_what_the_page_for_r_users_shows(tmp_path: Path) -> None:
    """Counts of the ownership table (1, 2, 2, 3, 1); R's environments by name; R's width; REF beside."""
    done = reticulated.ran(tmp_path, reticulated.rscript(), str(Path(__file__).with_name("from_r.R")))
    told = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    assert [told[step] for step in ("start", "one", "same", "two", "end")] == ["1", "2", "2", "3", "1"]
    assert "R environment, convert=FALSE" in told["owners"].split("|")
    assert int(told["widest"]) <= 60 and told["head"].split() == ["ob", "O"]
    assert told["matrix"].startswith("R REALSXP, REF ") and told["vector"] == "list"
    assert told["traced"] == "TRUE" and told["rpycall"] == "2"


def traced(tmp_path: Path, script: str) -> tuple[list[str], Any]:
    """What a script printed, and what reticulate asked of Python meanwhile: `inspector trace -- Rscript`."""
    (tmp_path / "seed.R").write_text(script)
    inspector = str(Path(sys.executable).parent / "inspector")
    done = reticulated.ran(tmp_path, inspector, "trace", "--json", "--", reticulated.rscript(), "seed.R")
    return done.stderr.splitlines(), json.loads(done.stdout)["facts"]["trace"]["hosted"]


LOSES = """
library(reticulate)
py_run_string("a, b = 2**40, 2**31")
m <- import("__main__")
cat("wide", m$a, m$b, "\\n")
py$truth <- NA
py$number <- NA_integer_
py$texts <- list("NA", NA_character_)
cat("kept", py_eval("truth is True and number == -2**31 and texts == ['NA', 'NA']"), "\\n")
ob <- import("__main__", convert = FALSE)
py_run_string("class O: pass\\no = O()")
one <- ob$o; same <- one; two <- ob$o
rm(one, same, two); invisible(gc())
"""


@pytest.mark.timeout(300)
def test_a_trace_of_rscript_flags_each_loss_and_sees_the_finalizers(tmp_path: Path) -> None:
    """What R prints without a word is red in the trace; R's gc gives the references back: 3, 2, 1."""
    said, hosted = traced(tmp_path, LOSES)
    assert said[:2] == ["wide 0 NA ", "kept TRUE "]
    assert hosted["hosts"] == ["reticulate"]
    lost = [call for call in hosted["calls"] if call["lost"]]
    assert [(call["function"], call["values"][0], call["lost"]) for call in lost] == [
        ("PyLong_AsLong", str(2**40), f"R's integer has 32 bits: {2**40} became 0L"),
        ("PyLong_AsLong", str(2**31), f"R's integer has 32 bits: {2**31} became NA"),
        ("PyBool_FromLong", str(-(2**31)), "R's NA became True"),
        ("PyLong_FromLong", str(-(2**31)), f"R's NA became {-(2**31)}"),
        ("PyUnicode_FromString", "'NA'", "R's NA became the text 'NA'"),
    ]
    (text,) = [call for call in lost if "text" in call["lost"]]
    assert text["times"] == 1  # R's text "NA", which went over before it, is no loss
    counts = [
        (call["references"], call["references_after"])
        for call in hosted["calls"]
        if call["object_type"] == "O" and call["function"] == "Py_DecRef"
    ]
    assert counts[-2:] == [(3, 2), (2, 1)]


SCENARIOS = """
library(reticulate)
py_run_string("
import sys, threading
class Model:
    def __init__(self, layers=None): self.layers = layers
    def shown(self): return self.name()
class Box: pass
box = Box()
def count(): return sys.getrefcount(box.model) - 1
def back(function): return function(20)
def work(function):
    box.ident = threading.get_ident()
    box.value = function(41.0)
def go(function):
    thread = threading.Thread(target=work, args=(function,))
    thread.start()
    while thread.is_alive(): thread.join(0.005)
")
m <- import("__main__")
wrapped <- inherits(attr(m$Model, "py_object"), "python.builtin.object")
cat("callable", class(m$Model)[[1]], is.function(m$Model), wrapped, "\\n")
model <- m$Model(layers = 3L)
py_set_attr(m$box, "model", model); invisible(gc())
cat("owned", m$count(), "")
again <- py_get_attr(m$box, "model"); invisible(gc())
cat(m$count(), "")
rm(model, again); invisible(gc())
cat(m$count(), "\\n")
says <- function(self) paste0("R says ", self$layers)
Named <- PyClass("Named", list(name = says), inherit = import("__main__", convert = FALSE)$Model)
named <- Named(layers = 5L)
cat("closure", named$shown(), "\\n")
stale <- unserialize(serialize(import("__main__", convert = FALSE)$box, NULL))
cat("stale", tryCatch(py_get_attr(stale, "ident"), error = conditionMessage), "\\n")
cat("callback", m$back(function(x) x + 1), "\\n")
m$go(py_main_thread_func(function(x) x + 1))
cat("thread", m$box$value, py_eval("box.ident == threading.main_thread().ident"), "\\n")
"""


@pytest.mark.timeout(300)
def test_constructor_closures_callback_and_a_thread_that_waits(tmp_path: Path) -> None:
    """Scenarios 2 and 3: a class is an R function, what it makes is owned; R is called, from a thread too."""
    said, hosted = traced(tmp_path, SCENARIOS)
    told = dict(line.rstrip().split(" ", 1) for line in said if " " in line)
    assert told["callable"] == "python.builtin.type TRUE TRUE"
    assert told["owned"].split() == ["2", "3", "1"]
    assert told["closure"] == "R says 5" and told["callback"] == "21" and told["thread"] == "42 FALSE"
    assert "previous session" in told["stale"]
    threads: dict[int, set[str]] = {}
    for call in hosted["calls"]:
        threads.setdefault(call["thread"], set()).add(call["function"])
    main = hosted["calls"][0]["thread"]
    waiting = [names for thread, names in threads.items() if thread != main and "PyTuple_GetItem" in names]
    assert len(waiting) == 1 and "Py_AddPendingCall" in waiting[0]  # R runs in the main thread only


CONVERSIONS = 'library(reticulate)\npy_run_string("x = 1")\ninvisible(py$x)\npy$a <- 1\n'


@pytest.mark.timeout(300)
def test_the_two_backtraces_with_r_s_functions_between(tmp_path: Path) -> None:
    """`py$x` and `py$a <- 1`: the frames of the article, in its order, and who in R called them."""
    hits = reticulated.hits(tmp_path, CONVERSIONS, sys.executable)
    down = stack_of(hits, "py_to_r", "int 1")
    assert down[:3] == ["py_to_r", "py_ref_to_r", "_reticulate_py_ref_to_r"]
    assert down[3:6] == ["R py_ref_to_r", "R py_to_r.default", "R py_to_r"] and down[-1] == "R $"
    up = stack_of(hits, "r_to_py_cpp", "numeric(1) 1")
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
