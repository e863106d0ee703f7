"""The C-API slots of chosen modules: restored on every way out, and widened as modules come."""

# SPDX-License-Identifier: MIT
import ctypes
import operator
import sys
import types
from collections.abc import Iterator
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

import events
import pytest
from apart import printed, ran
from events import decode, function

import inspector
from inspector import _native
from inspector.errors import InspectorError
from inspector.tracing.arm.capi_slots import CapiSlots, Restored

pytestmark = [pytest.mark.core, pytest.mark.quick]
CREATE = ExtensionFileLoader.create_module


@pytest.fixture
def ring() -> Iterator[None]:
    _native.ring_begin("", 1 << 12, "last", 1, 0, events.TOTAL_BYTES, -1)
    yield
    _native.ring_end()
    _native.interned_clear()


@pytest.fixture
def gcd(specimens: ModuleType) -> ModuleType:
    return specimens.build("gcd_module", events.GCD)


def recorded() -> list[str]:
    return events.told([event for row in _native.ring_read() for event in decode(row[6])])


def patched() -> int:
    return sum(row[6] for row in _native.got_slots())


def test_a_module_is_chosen_by_name(ring: None, gcd: ModuleType) -> None:
    with CapiSlots(["gcd_module"]) as slots:
        assert gcd.gcd(35, 42) == 7
        assert patched() == slots.armed == 3
    gcd.gcd(1, 2)
    assert recorded() == ['PyArg_ParseTuple "ii" -> 35, 42', 'Py_BuildValue "i" -> 7']
    assert slots.restored == Restored(3, 0, 0, 0)
    assert ExtensionFileLoader.create_module is CREATE


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_all_is_restored_when_the_block_fails(ring: None, gcd: Any, error: Any) -> None:
    with pytest.raises(error), CapiSlots(["gcd_module"]):
        raise error
    assert (patched(), ExtensionFileLoader.create_module) == (0, CREATE)


def test_a_module_imported_while_armed_is_hooked_before_its_body(ring: None, specimens: ModuleType) -> None:
    body = """
#include <Python.h>
static int body(PyObject *module) { return PyModule_AddIntConstant(module, "answer", 42); }
static PyModuleDef_Slot slots[] = {{Py_mod_exec, body}, {0, NULL}};
static struct PyModuleDef late = {PyModuleDef_HEAD_INIT, .m_name = "late_module", .m_slots = slots};
PyMODINIT_FUNC PyInit_late_module(void) { return PyModuleDef_Init(&late); }
"""
    path = specimens.library("late_module", body)
    with CapiSlots(grade="deep"):  # PyModule_AddIntConstant has no row
        specimens.imported("late_module", path)
    calls = [
        function(event)
        for row in _native.ring_read()
        for event in decode(row[6])
        if event.kind and _native.got_slots()[event.slot][1] == str(path)
    ]
    assert calls == ["PyModule_AddIntConstant"]


def test_a_package_takes_its_shared_libraries_in(ring: None) -> None:
    import numpy

    folder = Path(str(numpy.__file__)).parent
    with CapiSlots(["numpy"], "count"):
        armed = {row[1] for row in _native.got_slots() if row[6]}
    assert armed
    assert all(Path(path).is_relative_to(folder) for path in armed)


def test_a_process_that_ends_while_armed_ends_well(gcd: ModuleType) -> None:
    child = (
        "import sys, json\nfrom inspector import _native\n"
        "from inspector.tracing.arm.capi_slots import CapiSlots\n"
        "_native.ring_begin('', 4096, 'last', 1, 0, 1 << 26, -1)\n"
        "CapiSlots(grade='deep').begin()\nimport decimal, zlib, numpy\nprint(numpy.arange(3).tolist())\n"
    )
    ended = ran("-c", child)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "[0, 1, 2]\n", "")


def test_a_second_interpreter_is_refused() -> None:
    """Where it can import the extension at all: from 3.12 on it cannot."""
    child = """
import sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
code = '''
import sys
sys.path[:] = PATH
try:
    from inspector.tracing.arm.capi_slots import CapiSlots
    CapiSlots().begin()
except ImportError as error:
    assert "interpreter" in str(error), error
except Exception as error:
    assert error.slug == "trace-subinterpreter", error
else:
    raise AssertionError("armed")
'''.replace("PATH", repr(sys.path))
failed = interpreters.run_string(interpreters.create(), code)
assert failed is None, failed
print("refused")
"""
    assert printed("-c", child) == "refused\n"


def test_a_failure_while_arming_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(paths: frozenset[str], grade: int) -> None:
        raise RuntimeError("patches are process-wide")

    monkeypatch.setattr(_native, "got_arm", fails)
    with pytest.raises(InspectorError, match="second interpreter"):
        CapiSlots().begin()
    assert (patched(), ExtensionFileLoader.create_module) == (0, CREATE)


FULL = """
import ctypes, pathlib, shutil, sys
import inspector
from inspector import _native
full, late, folder = sys.argv[1:]
kept = []
while not _native.got_without_trampoline():
    path = shutil.copy(full, f"{folder}/copy{len(kept)}.so")
    kept.append(ctypes.PyDLL(path))
    assert _native.got_arm(frozenset([path]), 0)
    _native.got_disarm()
sys.path.insert(0, str(pathlib.Path(late).parent))
import gcd_module
with inspector.trace("gcd_module") as t:
    gcd_module.gcd(35, 42)
(seen,) = [one for one in t.seen if one.module == "gcd_module"]
found = inspector.leaks("gcd_module").run(lambda: gcd_module.gcd(35, 42), 1)
print(seen.imports_hooked, seen.imports, *found.fact.notes, sep="|")
"""


def test_a_process_without_thunks_says_what_is_not_hooked(specimens: ModuleType, tmp_path: Path) -> None:
    names = [row[0] for row in _native.CAPI_ROWS if hasattr(ctypes.pythonapi, row[0])]
    declared = "".join(f"void {name}(void);\n" for name in names)
    called = "".join(f"case {number}: {name}(); break;\n" for number, name in enumerate(names))
    source = f"{declared}void all(int which) {{ switch (which) {{ {called} }} }}\n"
    full, late = specimens.library("full", source), specimens.library("gcd_module", events.GCD)
    ended = ran("-c", FULL, full, late, tmp_path)
    assert ended.stderr == ""
    hooked, imports, note = ended.stdout.strip().split("|")
    assert (hooked, imports) == ("0", "3")
    assert note.startswith("3 import slots of gcd_module are not hooked: this process has used all")


def test_a_later_trace_hooks_what_came_since(monkeypatch: pytest.MonkeyPatch) -> None:
    """The targets of a trace are kept for the next one: names that came, and a module of the same name."""
    first = types.ModuleType("kept_targets")
    first.pick = operator.itemgetter(0)
    monkeypatch.setitem(sys.modules, "kept_targets", first)
    with inspector.trace("kept_targets") as t:
        first.pick([1])
    assert [call.name for call in t.calls] == ["kept_targets.pick"]
    first.late = operator.itemgetter(-1)
    second = types.ModuleType("kept_targets")
    second.other = operator.itemgetter(0)
    with inspector.trace("kept_targets") as t:
        first.late([1, 2])
    assert [call.name for call in t.calls] == ["kept_targets.late"]
    monkeypatch.setitem(sys.modules, "kept_targets", second)
    with inspector.trace("kept_targets") as t:
        second.other([1])
        first.pick([1])
    assert [call.name for call in t.calls] == ["kept_targets.other"]
