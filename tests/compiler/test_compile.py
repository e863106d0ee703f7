"""C text becomes a module: what is callable, what the key depends on, what a mistake is told as."""

# SPDX-License-Identifier: MIT
import sys
from pathlib import Path

import numpy as np
import pytest
from apart import printed
from refused import refused

import inspector
from inspector.errors import InspectorError
from inspector.facts.compiled import CellCall
from inspector.facts.unknown import Unknown
from inspector.report import Report
from inspector.sessions.compiler import call

pytestmark = pytest.mark.core

PLAIN = """
double dot(double *a, double *b, long n)
{
    double sum = 0;
    for (long i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}
int add(int a, unsigned char b) { return a + b; }
void fill(double *a, long n, double v) { while (n--) a[n] = v; }
static int hidden(void) { return 1; }
"""
TIMES = """
z = (PyArrayObject *)PyArray_Empty(1, PyArray_DIMS(x), PyArray_DESCR(x), 0);
if (z == NULL) { FAIL; }
for (npy_intp i = 0; i < PyArray_DIMS(x)[0]; i++)
    *(double *)PyArray_GETPTR1(z, i) = *(double *)PyArray_GETPTR1(x, i) * *(double *)PyArray_DATA(y);
"""
MENDED = TIMES.replace("z = (", "Py_INCREF(PyArray_DESCR(x));\nz = (", 1)


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of this test run's own."""
    folder = tmp_path_factory.getbasetemp() / "c-cells"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


@pytest.mark.quick
def test_plain_c_goes_through_cffi_without_a_copy() -> None:
    module = inspector.compile_c(PLAIN)
    x = np.arange(4.0)
    assert module.dot(x, x, 4) == 14.0
    assert module.add(3, 4) == 7
    module.fill(x, 3, 2.5)
    assert x.tolist() == [2.5, 2.5, 2.5, 3]
    assert [one.name for one in module.__compiled__.functions] == ["dot", "add", "fill"]
    assert module.__compiled__.functions[0].prototype == "double dot(double *a, double *b, long int n)"
    words = "dot: a needs contiguous elements of C double, it has contiguous elements of format 'f'"
    with pytest.raises(TypeError, match=words):
        module.dot(x.astype("f4"), x, 4)
    with pytest.raises(TypeError, match="not contiguous"):
        module.dot(x[::2], x, 2)


def test_python_objects_go_through_the_table() -> None:
    module = inspector.compile_c(
        "PyObject *first(PyObject *list) { return Py_XNewRef(PyList_GetItem(list, 0)); }\n"
        "long size(PyArrayObject *x) { return PyArray_SIZE(x); }\n"
        "PyObject *told(const char *name, short a, unsigned long b, float c, _Bool d)\n"
        '{ return Py_BuildValue("(sikfi)", name, a, b, c, d); }\n'
    )
    thing = object()
    before = sys.getrefcount(thing)
    assert module.first([thing]) is thing
    assert sys.getrefcount(thing) == before
    assert module.size(np.zeros((3, 4))) == 12
    assert module.told("n", -3, 2**40, 0.5, []) == ("n", -3, 2**40, 0.5, 0)
    with pytest.raises(IndexError):
        module.first([])
    with pytest.raises(OverflowError, match="told: a does not fit a C short int"):
        module.told("n", 2**15, 0, 0.0, True)
    with pytest.raises(TypeError, match="size: x must be an ndarray, not list"):
        module.size([1])
    with pytest.raises(TypeError, match="takes 1 arguments, got 2"):
        module.first([], 1)


def test_functions_of_the_same_code_are_all_there() -> None:
    """GCC makes one of them and gives the others no address in the debug information."""
    same = "PyObject *{}(PyObject *x) {{ return Py_NewRef(x); }}\n"
    module = inspector.compile_c("".join(same.format(name) for name in ("one", "two", "three")))
    assert [one.name for one in module.__compiled__.functions] == ["one", "two", "three"]
    assert module.two(7) == module.three(7) == 7


@pytest.mark.quick
def test_a_body_with_every_section() -> None:
    module = inspector.compile_c(
        "runs += 1; z = (PyArrayObject *)PyArray_SimpleNew(0, NULL, NPY_LONG);\n"
        "*(long *)PyArray_DATA(z) = started + runs;\n"
        'if (PyArray_SIZE(x) == 0) { PyErr_SetString(PyExc_ValueError, "empty"); FAIL; }\n',
        name="counted",
        inputs=["x"],
        outputs=["z"],
        support="static long started, runs, cleaned;\nlong cleanups(PyObject *o) { return cleaned; }",
        init="started = 100;",
        cleanup="cleaned += 1;",
    )
    assert module.counted(np.ones(1)) == 101
    with pytest.raises(ValueError, match="empty"):
        module.counted(np.ones(0))
    assert module.cleanups(None) == 2


def test_an_output_that_is_not_set_and_a_silent_failure_are_errors() -> None:
    forgetful = inspector.compile_c("(void)x;", name="forgetful", inputs=("x",), outputs=("z",))
    with pytest.raises(SystemError, match="forgetful did not set its output z"):
        forgetful.forgetful(np.ones(1))
    silent = inspector.compile_c("FAIL;", name="silent", inputs=("x",))
    with pytest.raises(SystemError, match="failed without an exception"):
        silent.silent(np.ones(1))


def test_an_init_that_fails_is_the_users_own_exception() -> None:
    with pytest.raises(KeyError, match="not today"):
        inspector.compile_c(PLAIN, init='PyErr_SetString(PyExc_KeyError, "not today"); FAIL;')


@pytest.mark.quick
def test_the_key_is_of_everything_that_decides() -> None:
    first = inspector.compile_c(PLAIN)
    again = inspector.compile_c(PLAIN)
    assert again is first and again.__compiled__.cached and again.__compiled__.compile_ns == 0
    others = [
        inspector.compile_c(PLAIN + " "),
        inspector.compile_c(PLAIN, (1, 0)),
        inspector.compile_c(PLAIN, (1, 1)),
        inspector.compile_c(PLAIN, compile_args=["-O0"]),
        inspector.compile_c(PLAIN, support="/* */"),
    ]
    assert len({module.__compiled__.key for module in [first, *others]}) == 6


def test_an_empty_version_is_never_kept(cache: Path) -> None:
    folders = sorted(cache.rglob("done"))
    one, two = inspector.compile_c(PLAIN, ()), inspector.compile_c(PLAIN, ())
    assert one is not two and not two.__compiled__.cached and not two.__compiled__.kept
    assert sorted(cache.rglob("done")) == folders


def test_another_process_needs_no_compiler() -> None:
    inspector.compile_c(PLAIN)
    code = f"import inspector; m = inspector.compile_c({PLAIN!r}); print(m.add(1, 2), m.__compiled__.cached)"
    assert printed("-c", code) == "3 True\n"


@pytest.mark.quick
def test_a_mistake_is_told_by_its_line() -> None:
    with refused("c-does-not-compile") as caught:
        inspector.compile_c("int a;\nint f(void) { return undeclared; }\n")
    assert "line 2: " in caught.value.what and "undeclared" in caught.value.what
    for text in ("int a;\nint f(void) {\n    return 1;\n", "int a;\nint b\n\nint x("):
        with pytest.raises(InspectorError, match=rf"line {len(text.splitlines())}: something is left open"):
            inspector.compile_c(text)
    with pytest.raises(InspectorError, match="support line 1"):
        inspector.compile_c("int b;", support="int c")
    with pytest.raises(InspectorError, match=r"does not link.*cannot find -lnowhere"):
        inspector.compile_c("int b;", libraries=["nowhere"])
    with pytest.raises(InspectorError, match="cannot be a name in C"):
        inspector.compile_c("int b;", name="a b")


def test_warnings_are_kept_with_the_module() -> None:
    code = "int f(void) { int unused = 5; return 0; }"  # no compiler makes an error of it
    module = inspector.compile_c(code, compile_args=["-Wunused-variable"])
    assert module.__compiled__.warnings[0].startswith("line 1: ")


def test_a_library_is_linked() -> None:
    code = "#include <math.h>\ndouble third(double x) { return cbrt(x); }"
    module = inspector.compile_c(code, libraries=["m"])
    assert module.third(27.0) == pytest.approx(3.0)


def own_dtype(x: np.ndarray) -> np.ndarray:
    """`x` with a dtype object of its own: NumPy's float64 is everybody's, and not ours to lose."""
    return x.view(np.dtype(x.dtype, metadata={"made for": "a test"}))


def balance(code: str, **arrays: np.ndarray) -> dict[str, object]:
    module = inspector.compile_c(code, name="body", inputs=tuple(arrays), outputs=("z",))
    _, fact, error = inspector.call_c(module.body, arrays)
    assert error is None
    return mortal(fact)


def mortal(fact: CellCall) -> dict[str, object]:
    """Verdicts by name. NumPy's own dtypes are immortal from CPython 3.13 on: their count does not move."""
    return {
        row.name: row.verdict
        for row in fact.balance
        if not (isinstance(row.verdict, Unknown) and "immortal" in row.verdict.reason)
    }


def verdicts(fact: CellCall) -> set[object]:
    return set(mortal(fact).values())


def test_the_seeds_stolen_dtype_is_found_on_the_first_call() -> None:
    x, y = own_dtype(np.arange(3.0)), np.array(2.0)
    give = inspector.compile_c("PyObject *give(PyObject *d) { Py_INCREF(d); return Py_NewRef(d); }").give
    give(x.dtype)  # what will be stolen, so that this process keeps its peace
    found = balance(TIMES, x=x, y=y)
    assert found.pop("x.dtype") == "over-released"
    assert {"x", "x.base", "y"} <= set(found) and set(found.values()) == {"balanced"}
    assert set(balance(MENDED, x=x, y=y).values()) == {"balanced"}


def test_the_seeds_strides_a_wrong_dimension_and_a_wrong_dtype() -> None:
    refused = 'if (PyArray_NDIM({}) != {}) {{ PyErr_SetString(PyExc_ValueError, "{}"); FAIL; }}\n'
    checks = refused.format("x", 1, "x needs one dimension") + refused.format("y", 0, "y needs no dimension")
    op = inspector.compile_c(checks + MENDED, name="body", inputs=("x", "y"), outputs=("z",)).body
    y = np.array(2.0)
    assert op(np.arange(6.0)[::-2], y).tolist() == [10, 6, 2]
    with pytest.raises(ValueError, match="x needs one dimension"):
        op(np.ones((2, 2)), y)
    with pytest.raises(ValueError, match="y needs no dimension"):
        op(np.ones(2), np.ones(2))
    pairs = op(np.ones(4, "f4"), y)[:2]  # two elements are read as one: the body asks for no dtype
    assert pairs.dtype == "f4" and pairs.tolist() != [2, 2]


def test_ten_operations_cross_ten_times_and_a_fused_one_once() -> None:
    each = (
        "PyObject *{}(PyArrayObject *x) {{\n"
        "for (int i = 0; i < {}; i++) *(double *)PyArray_DATA(x) += 1;\nreturn Py_NewRef(x); }}\n"
    )
    module = inspector.compile_c(each.format("one", 1) + each.format("ten", 10))
    x = np.zeros(3)
    with inspector.trace(module.__name__) as trace:
        for _ in range(10):
            module.one(x)
        module.ten(x)
    assert x[0] == 20
    crossed = [(call.name.rpartition(".")[2], call.times) for call in trace.calls]
    assert crossed == [("one", 10), ("ten", 1)]


def test_a_contiguous_array_is_the_same_array_and_another_a_copy() -> None:
    x = np.arange(6.0)
    code = "z = (PyArrayObject *)PyArray_GETCONTIGUOUS(x);"
    module = inspector.compile_c(code, name="body", inputs=("x",), outputs=("z",))
    same, fact, _ = inspector.call_c(module.body, {"x": x})
    assert same is x and fact.balance[0].held == 1 and verdicts(fact) == {"balanced"}
    copy, fact, _ = inspector.call_c(module.body, {"x": x[::2]})
    assert not np.shares_memory(copy, x) and verdicts(fact) == {"balanced"}


def test_several_outputs_and_one_kept_by_c() -> None:
    x = own_dtype(np.arange(3.0))
    code = (
        "Py_INCREF(PyArray_DESCR(x));"
        "{} = (PyArrayObject *)PyArray_Empty(1, PyArray_DIMS(x), PyArray_DESCR(x), 0);"
    )
    module = inspector.compile_c(
        code.format("a") + code.format("b"), name="two", inputs=("x",), outputs=("a", "b")
    )
    _, fact, _ = inspector.call_c(module.two, {"x": x})
    assert [(row.held, row.verdict) for row in fact.balance if row.name == "x.dtype"] == [(2, "balanced")]
    cached = inspector.compile_c(
        "if (kept == NULL) {" + code.format("kept") + "} z = (PyArrayObject *)Py_NewRef(kept);",
        name="cached",
        inputs=("x",),
        outputs=("z",),
        support="static PyArrayObject *kept;",
    )
    _, fact, _ = inspector.call_c(cached.cached, {"x": x})
    verdict = {row.name: row.verdict for row in fact.balance}["x.dtype"]
    assert isinstance(verdict, Unknown) and "may be older than the call" in verdict.reason
    _, fact, _ = inspector.call_c(cached.cached, {"x": x})
    assert verdicts(fact) == {"balanced"}


@pytest.mark.quick
def test_a_leak_and_an_exception_are_seen() -> None:
    x = np.ones(2)
    code = "Py_INCREF(x); z = (PyArrayObject *)PyArray_SimpleNew(0, NULL, NPY_LONG);"
    assert balance(code, x=x)["x"] == "more than found"
    code = 'PyErr_SetString(PyExc_ValueError, "no"); FAIL;'
    failing = inspector.compile_c(code, name="failing", inputs=("x",))
    result, fact, error = inspector.call_c(failing.failing, {"x": x})
    assert result is None and isinstance(error, ValueError) and fact.error == "ValueError: no"


@pytest.mark.quick
@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("*(volatile int *)8 = 1;", "SIGSEGV"),
        ("abort();", "SIGABRT"),
        ("volatile int n = 0; n = 77 / n;", "SIGFPE"),
        ('PyErr_SetString(PyExc_ValueError, "no"); FAIL;', "ValueError: no"),
    ],
)
def test_a_crash_apart_costs_nothing(code: str, words: str) -> None:
    module = inspector.compile_c(code, name="crash", inputs=("x",))
    result, fact = call.apart(module.crash, {"x": np.ones(1)})
    assert isinstance(result, Unknown) and words in result.reason
    assert fact.isolated and fact.result == result and fact.balance == ()


@pytest.mark.debugger
def test_a_crash_apart_says_where_in_both_languages() -> None:
    code = "int *nowhere = (int *)PyArray_DIMS(x)[0];\n*nowhere = 1;"
    module = inspector.compile_c(code, name="crash", inputs=("x",))
    result, fact, error = inspector.call_c(module.crash, {"x": np.ones(3)}, isolate=True)
    assert isinstance(result, Unknown) and result.reason.endswith("died of SIGSEGV") and error is None
    assert not isinstance(fact.died, Unknown), fact.died
    assert (fact.died.reason, fact.died.function) == ("SIGSEGV", "crash")
    assert isinstance(fact.died.line, str) and fact.died.line.endswith("cell:2")
    assert {one.name: one.value for one in fact.died.variables}["nowhere"] == "0x3"
    shown = [(one.kind, one.function) for one in fact.died.stack.frames if not one.plumbing]
    here = ("python", "test_a_crash_apart_says_where_in_both_languages")
    assert shown[:2] == [("native", "crash"), here]
    assert "cell:2" in str(Report("crash", {"call": fact}))


def test_a_crash_without_gdb_says_why_the_place_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    module = inspector.compile_c("abort();", name="crash", inputs=("x",))
    monkeypatch.setenv("PATH", "")
    result, fact, _ = inspector.call_c(module.crash, {"x": np.ones(1)}, isolate=True)
    assert isinstance(result, Unknown) and isinstance(fact.died, Unknown)
    assert fact.died.reason.startswith("the place is not known: gdb is not installed")


LOSES = """
z = (PyArrayObject *)PyArray_EMPTY(1, PyArray_DIMS(x), NPY_DOUBLE, 0);
if (z == NULL) { FAIL; }
PyObject *by = PyLong_FromLong(12345);
for (npy_intp i = 0; i < PyArray_DIMS(x)[0]; i++)
    *(double *)PyArray_GETPTR1(z, i) = PyFloat_AsDouble(by);
"""


def test_one_call_shows_trace_ledger_and_layouts() -> None:
    module = inspector.compile_c(LOSES, name="loses", inputs=("x",), outputs=("z",))
    x = np.arange(6.0)[::2]
    result, fact, error = inspector.call_c(module.loses, {"x": x}, trace=True)
    assert result.tolist() == [12345.0] * 3 and error is None
    assert not isinstance(fact.trace, Unknown) and not isinstance(fact.leaks, Unknown)
    (made,) = fact.trace.calls
    asked = {(one.function, one.times) for one in made.conversions}
    numpys = {("PyArray_DescrFromType", 1), ("PyArray_Empty", 1)}
    assert asked == {("PyLong_FromLong", 1), ("PyFloat_AsDouble", 3)} | numpys
    (lost,) = [one for one in fact.leaks.verdicts if one.certain]
    assert (lost.kind, lost.object) == ("leaked", "int 12345")
    lies = [(one.name, one.layout.strides_bytes, one.layout.words) for one in fact.arrays]
    assert lies == [("x", (16,), ("every 2nd element",)), ("result", (8,), ("C order",))]
    shown = str(Report("loses", {"call": fact}).drawn(everything=True))
    places = [shown.index(one) for one in ("every 2nd element", "PyFloat_AsDouble", "loses a reference")]
    assert places == sorted(places)


def test_plain_c_has_no_table_to_trace() -> None:
    module = inspector.compile_c(PLAIN)
    _, fact, _ = inspector.call_c(module.add, {"a": 1, "b": 2}, trace=True)
    assert isinstance(fact.trace, Unknown) and "no method table" in fact.trace.reason
    assert "no method table" in str(Report("add", {"call": fact}))


def test_a_loop_apart_is_ended_by_its_deadline() -> None:
    module = inspector.compile_c("for (volatile int i = 0; i == 0;) ;", name="loop", inputs=("x",))
    result, _ = call.apart(module.loop, {"x": np.ones(1)}, deadline_s=0.5)
    assert isinstance(result, Unknown) and "stopped after 0.5 s" in result.reason


def test_arrays_come_back_from_a_child() -> None:
    module = inspector.compile_c(MENDED, name="times", inputs=("x", "y"), outputs=("z",))
    result, _, _ = inspector.call_c(module.times, {"x": np.arange(3.0), "y": np.array(2.0)}, isolate=True)
    assert not isinstance(result, Unknown), result
    assert result.tolist() == [0.0, 2.0, 4.0] and result.flags.owndata
