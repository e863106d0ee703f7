"""What a trace leaves out or takes back: the standard library, CPython's types, thunks; homes of types."""

# SPDX-License-Identifier: MIT
import re
import sys
from pathlib import Path
from types import GeneratorType, ModuleType
from typing import Any

import numpy as np
import pytest
import specimens
from apart import printed
from programs import inspector as run

import inspector
from inspector.facts.conversion import Call
from inspector.report import from_text
from inspector.tracing.arm.targets import Targets

pytestmark = [pytest.mark.core, pytest.mark.quick]


def names(calls: tuple[Call, ...]) -> set[str]:
    return {call.name for call in calls}


def test_the_compiler_of_regular_expressions_is_not_in_the_way() -> None:
    """It calls bytearray's methods a thousand times; a user's own calls of the same are seen."""
    pattern = "[" + "".join(chr(code) for code in range(0x400, 0x1000, 7)) + "]"
    with inspector.trace("numpy") as t:
        re.compile(pattern, re.IGNORECASE)
        found = bytearray(b"abc").find(b"c")
    assert found == 2
    assert names(t.calls) == {"builtins.bytearray", "builtins.bytearray.find"}
    re.purge()
    with inspector.trace("re") as t:
        re.compile(pattern, re.IGNORECASE)
    assert "builtins.bytearray" in names(t.calls)


def keep(monkeypatch: pytest.MonkeyPatch, name: str, **kept: Any) -> None:
    """A module of this name is imported that has these under names of its own."""
    monkeypatch.setitem(sys.modules, name, ModuleType(name))
    vars(sys.modules[name]).update(kept)


def test_a_method_of_another_packages_object_is_not_the_modules_own(monkeypatch: Any) -> None:
    """A package that keeps the `match` of a pattern would have every pattern's calls recorded."""
    keep(monkeypatch, "keeping_x", is_word=re.compile(r"\w+").fullmatch, seed=np.random.RandomState(1).seed)
    with inspector.trace("keeping_x") as t:
        re.fullmatch("a+", "aaa")
    assert not t.calls


def test_what_is_read_of_a_trace_is_not_in_it() -> None:
    """The tables are made while the hooks are still there, with regular expressions among others."""
    with inspector.trace("re") as t:
        re.fullmatch("a+", "aaa")
    assert {call.site.file for call in t.calls} == {__file__}


def test_types_of_cpython_that_a_package_exports_again_are_not_its_own(monkeypatch: Any) -> None:
    """NumPy's lib has GeneratorType under its own name; it says it is of builtins, and is not there."""
    keep(monkeypatch, "exporting_x", GeneratorType=GeneratorType, ndarray=np.ndarray)
    targets = Targets(("exporting_x", "numpy"))
    targets.look()
    assert GeneratorType not in targets.types
    assert np.ndarray in targets.types


def test_thunks_are_given_again_to_new_types() -> None:
    """20,000 slots of types that came and went, from 8,192 rows on in ones that are free again."""
    code = """
import numpy as np
from inspector import _native
numbers = set()
kept = []
for turn in range(12):
    kinds = [type(f"A{i}", (np.ndarray,), {}) for i in range(300)]
    kept += kinds
    _native.type_slots_arm([np.ndarray], True)
    rows = _native.type_slots_arm(kinds, False)
    assert len(rows) >= 5 * len(kinds), len(rows)
    assert min(number for number, _, _ in rows) >= 0
    assert memoryview(kinds[0]((2,), "f8")).nbytes == 16
    _native.type_slots_settle(kinds)
    restored, foreign = _native.calls_disarm()
    assert foreign == 0 and _native.calls_armed() == 0
    numbers |= {number for number, _, _ in rows}
print(12 * len(rows), len(numbers))
"""
    armed, thunks = map(int, printed("-c", code).split())
    assert armed > 16_384 > thunks


def test_what_specialised_opcodes_do_is_counted_and_not_seen() -> None:
    """A hot `len` leaves the pointer after some calls: the count of its module says that there are such."""

    def hot() -> int:
        return sum(len(rows) for rows in [[1, 2]] * 10_000)

    with inspector.trace("builtins.len") as t:
        assert hot() == 20_000
    assert sum(call.times for call in t.calls if call.name == "builtins.len") < 10_000
    (seen,) = [one for one in t.seen if one.module == "builtins"]
    kinds = {kind: count for kind, count in seen.functions_unseen.items() if kind.startswith("specialised")}
    assert set(kinds) == {"specialised call", "specialised operator", "specialised index"}
    assert kinds["specialised call"] == 6 and min(kinds.values()) > 0
    assert "6 specialised call" in t.tree()


DEEP = """
import importlib, sys
sys.path.insert(0, {folder!r})
import deep_0
"""


def test_a_deep_chain_of_imports_is_an_import(tmp_path: Path) -> None:
    """The user's line is 150 frames away from what the last module calls."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    for number in range(25):
        (folder / f"deep_{number}.py").write_text(f"import deep_{number + 1}\n")
    (folder / "deep_25.py").write_text("seen = bytes(bytearray(5000))\n")
    (tmp_path / "app.py").write_text(DEEP.format(folder=str(folder)))
    ran = run("trace", "--json", str(tmp_path / "app.py"))
    assert ran.returncode == 0, ran.stderr
    (copy,) = from_text(ran.stdout, "stdout").trace.copies[:1]
    assert (copy.site.text, copy.function) == ("import deep_0", "builtins.bytes")


SOURCE = r"""
#include <Python.h>
static PyObject *twice(PyObject *box, PyObject *number) {
    return PyLong_FromLong(2 * PyLong_AsLong(number));
}
#define TWICE {{"twice", twice, METH_O, NULL}, {NULL, NULL, 0, NULL}}
static PyMethodDef of_bare[] = TWICE, of_static[] = TWICE, of_heap[] = TWICE;
static PyTypeObject Bare_type = {PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "Bare", .tp_methods = of_bare,
    .tp_basicsize = sizeof(PyObject), .tp_new = PyType_GenericNew};
static PyTypeObject Static_type = {PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "_nowhere.Static",
    .tp_methods = of_static, .tp_basicsize = sizeof(PyObject), .tp_new = PyType_GenericNew};
static PyType_Slot slots[] = {{Py_tp_methods, of_heap}, {Py_tp_new, PyType_GenericNew}, {0, NULL}};
static PyType_Spec Heap_type = {"_nowhere.Heap", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT, slots};
"""


@pytest.fixture(scope="module")
def module() -> Any:
    return specimens.build("homeless", SOURCE)


@pytest.mark.parametrize("name", ["Bare", "Static", "Heap"])
def test_calls_of_its_methods_are_traced(module: Any, name: str) -> None:
    box = vars(module)[name]()
    assert type(box).__module__ in ("builtins", "_nowhere") and "_nowhere" not in sys.modules
    with inspector.trace("homeless") as t:
        assert box.twice(21) == 42
    (call,) = (call for call in t.calls if call.name.startswith("homeless."))
    assert call.name == f"homeless.{name}.twice"
    assert [one.function for one in call.conversions] == ["PyLong_AsLong", "PyLong_FromLong"]


def test_others_types_are_not_the_modules_own(module: Any, monkeypatch: Any) -> None:
    """What it only refers to lies in another file."""

    def hooked() -> int:
        """How many functions of the module a trace hooks."""
        with inspector.trace("homeless") as t:
            module.Bare().twice(1)
        return next(one.functions_hooked for one in t.seen if one.module == "homeless")

    before = hooked()
    monkeypatch.setattr(module, "borrowed", type(None), raising=False)
    assert hooked() == before >= 3


def test_a_process_without_a_trampoline_left_says_which_functions_are_not_watched() -> None:
    """A trace that sees no call then does not say that there was none."""
    code = """
import zlib, numpy as np, inspector
from inspector import _native
kinds = [type(f"A{i}", (np.ndarray,), {}) for i in range(14_000)]
_native.type_slots_arm([np.ndarray], True)
_native.type_slots_arm(kinds, False)
with inspector.trace("zlib") as t:
    zlib.crc32(b"abc")
print(*[one.functions_left_out for one in t.seen if one.module == "zlib"])
print(str(t).strip().splitlines()[0])
"""
    left_out, first = printed("-c", code).splitlines()
    assert int(left_out) >= 6
    assert "0 functions of 2 modules were watched, " in first
