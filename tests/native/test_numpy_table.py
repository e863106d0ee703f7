"""NumPy's table of functions: each row against header and function, what is patched and put back.

The index, the parameters and the ownership of a row come from the installed NumPy: its header is read, and
each function is called once through the table by an extension made from the rows (capi_calls.py).
"""

# SPDX-License-Identifier: MIT
import _bisect
import ctypes
import re
import struct
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import capi_calls
import events
import numpy as np
import pytest
from apart import printed

from inspector import _native
from inspector.tracing.arm import numpy_table

pytestmark = pytest.mark.core
ROWS = {name: capi_calls.ALL_ROWS[name] for name in sorted(capi_calls.IN_A_TABLE)}
MAJOR = int(np.__version__.partition(".")[0])
NULL = ...
CALLED_AS = {
    **dict.fromkeys(("PyArray_Descr *", "PyArrayObject *"), "PyObject *"),
    **dict.fromkeys(("PyArray_Descr **", "PyArrayObject **"), "PyObject **"),
    **dict.fromkeys(("NPY_ORDER", "NPY_CLIPMODE", "NPY_CASTING"), "int"),
    **{"npy_intp": "Py_ssize_t", "npy_intp const *": "const Py_ssize_t *", "PyArray_Dims *": "void *"},
}
"""NumPy's type -> the type of the same machine word that a row is written with."""


class Bad:
    """Says that it is an array, and raises when it is asked for it."""

    @property
    def __array__(self) -> object:
        raise ValueError


class Interface:
    """What `__array_interface__` tells of an array."""

    def __init__(self) -> None:
        self.shown = np.arange(3.0)
        self.__array_interface__ = self.shown.__array_interface__


kept: list[Any] = []


def dims(*sizes: int) -> bytes:
    return struct.pack(f"{len(sizes)}n", *sizes)


def shape(*sizes: int) -> bytes:
    kept.append((ctypes.c_ssize_t * len(sizes))(*sizes))
    return struct.pack("Pi", ctypes.addressof(kept[-1]), len(sizes))


def read_only() -> Any:
    made = np.ones((2, 3))
    made.flags.writeable = False
    return made


NAMES: dict[str, Any] = {
    "a": lambda: np.arange(6.0).reshape(2, 3).copy(),
    "v": lambda: np.arange(4, dtype="i4"),
    "d": lambda: np.dtype("f8", copy=True),
    "words": lambda: np.array(["no", "number"]),
    **{"dims": dims, "shape": shape, "read_only": read_only, "Bad": Bad, "Interface": Interface},
    **{"np": np, "NULL": NULL},
}
CASES = capi_calls.cases(Path(__file__).with_name("numpy_cases.txt"))


@pytest.fixture(scope="module")
def calls() -> types.ModuleType:
    return capi_calls.build(
        list(ROWS),
        name="numpy_calls",
        more="#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION\n#include <numpy/arrayobject.h>\n",
        begin="import_array();",
        flags=(f"-I{np.get_include()}", "-Wno-incompatible-pointer-types"),
    )


def declared() -> dict[str, tuple[int, str, list[str]]]:
    """Function of the header -> index, type of its result, types of its parameters."""
    text = (Path(np.get_include()) / "numpy" / "__multiarray_api.h").read_text().replace("\\\n", " ")
    form = r"#define (\w+)\s+\(\*\(([^(]*?)\(\*\)\(([^)]*)\)\)\s+PyArray_API\[(\d+)\]\)"
    return {
        found[0]: (int(found[3]), " ".join(found[1].split()), [_spelled(p) for p in found[2].split(",")])
        for found in re.findall(form, text)
    }


def _spelled(ctype: str) -> str:
    return " ".join(ctype.replace("*", " *").split()).replace("* *", "**")


def test_index_and_signature_are_those_of_the_installed_header() -> None:
    header = declared()
    assert len(header) > 200
    for row, first, second in _native.NUMPY_PLACES:
        name = _native.CAPI_ROWS[row][0]
        index, result, parameters = header[name]
        assert index == (first if MAJOR == 1 else second), name
        assert CALLED_AS.get(result, result) == ROWS[name]["type"], name
        types = [ctype for ctype, _ in capi_calls.parameters(ROWS[name])]
        assert [CALLED_AS.get(p, p) for p in parameters] == types, name


def test_every_row_is_called() -> None:
    assert set(CASES) == set(ROWS) and len(ROWS) >= 50


def references(thing: object, to: object) -> int:
    """How many references an array, an iterator or a dtype's owner has to something."""
    found = int(thing is to)
    for attribute in ("dtype", "base"):
        if isinstance(thing, np.ndarray | np.flatiter) and getattr(thing, attribute, None) is to:
            found += 1
    return found


def is_counted(thing: object) -> bool:
    """Whether nobody else takes references to it meanwhile."""
    return not (thing is NULL or thing is None or isinstance(thing, type | bytes | int | float))


def check(calls: types.ModuleType, name: str, case: str, fails: bool) -> None:
    args = eval(case, NAMES)
    watched = tuple(a if is_counted(a) else object() for a in args)
    had = [sum(references(other, thing) for other in watched) for thing in watched]
    changes, failed, result, refs, error, out = getattr(calls, name)(args, watched)
    assert failed == fails and (error is not None) == fails, (name, error)
    has = [sum(references(other, thing) for other in (*watched, result, *out)) for thing in watched]
    assert changes == [now - before for now, before in zip(has, had, strict=True)], (name, case)
    if name == "PyArray_SetWritebackIfCopyBase" and not fails:
        calls.PyArray_ResolveWritebackIfCopy(args[:1], ())  # before its death, as NumPy asks
    if isinstance(result, np.ndarray) and not any(result is arg for arg in args):
        assert refs == 1, "a new reference to a new array"


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_row_says_what_the_function_does(calls: types.ModuleType, name: str) -> None:
    success, failure = CASES[name]
    check(calls, name, success, False)
    if failure:
        check(calls, name, failure, True)


def table() -> Any:
    """The words of NumPy's table."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    last = max(place[MAJOR] for place in _native.NUMPY_PLACES)
    return (ctypes.c_void_p * (last + 1)).from_address(get(numpy_table._capsule(), None))


@contextmanager
def hooked(module: types.ModuleType, grade: int) -> Iterator[events.Traced]:
    """Its calls through the table are recorded, and nothing else."""
    seen = events.Traced()
    _native.ring_begin("", 1 << 14, "last", 1, 2, events.TOTAL_BYTES, -1)
    hook = numpy_table.NumpyTable(grade)
    try:
        hook.widen(frozenset([getattr(module, "__file__", None) or ""]))
        yield seen
    finally:
        hook.end()
        seen.rows = _native.ring_end()[0]


@pytest.mark.parametrize("grade", [events.RECORDED, events.DEEP], ids=["record", "deep"])
def test_a_hook_changes_nothing_and_shows_the_call(calls: types.ModuleType, grade: int) -> None:
    for name, (success, failure) in CASES.items():
        for case, fails in ((success, False), (failure, True)):
            if not case:
                continue
            with hooked(calls, grade) as seen:
                check(calls, name, case, fails)
            called = [event for event in seen.events if events.kind(event) != "BYTES"]
            mine = [event for event in called if events.function(event) == name]
            assert mine, (name, [events.function(event) for event in called])
            assert bool(mine[0].flags & events.FLAGS["ERROR"]) == fails, name
            modules = {row[0]: row[1] for row in _native.numpy_table_slots()}
            assert modules[mine[0].slot] == calls.__file__


def test_the_table_is_put_back_to_the_byte(calls: types.ModuleType) -> None:
    before = bytes(table())
    with pytest.raises(KeyError), hooked(calls, events.RECORDED):
        assert (np.frombuffer(before, "u8") != np.frombuffer(table(), "u8")).sum() == len(ROWS)
        raise KeyError
    assert bytes(table()) == before


def test_only_chosen_modules_are_shown(calls: types.ModuleType) -> None:
    with hooked(_bisect, events.RECORDED) as seen:
        check(calls, "PyArray_Zeros", CASES["PyArray_Zeros"][0], False)
    assert seen.events == []


def test_another_tracers_word_is_left_alone(calls: types.ModuleType) -> None:
    places = {_native.CAPI_ROWS[place[0]][0]: place[MAJOR] for place in _native.NUMPY_PLACES}
    place = places["PyArray_Zeros"]
    words = table()
    before = words[place]
    _native.numpy_table_choose(frozenset([calls.__file__ or ""]))
    assert _native.numpy_table_arm(numpy_table._capsule(), events.RECORDED) == len(ROWS)
    words[place] = before + 4  # another tracer's function: nobody calls it here
    try:
        assert _native.numpy_table_disarm() == (len(ROWS) - 1, 1)
        assert words[place] == before + 4
    finally:
        words[place] = before


def test_what_is_no_table_of_numpy_is_refused() -> None:
    with pytest.raises(ValueError, match="PyCapsule"):
        _native.numpy_table_arm(object(), events.RECORDED)
    words = (ctypes.c_void_p * 400)()
    assert _native.numpy_table_arm(events.capsule(ctypes.addressof(words)), events.RECORDED) == 0
    assert list(words) == [None] * 400


def test_numpy_imported_while_armed_is_hooked(calls: types.ModuleType) -> None:
    """The C-API's slots are armed first, NumPy and then the module that calls it come after."""
    assert printed("-c", LATE, str(calls.__file__)).split() == ["PyArray_Zeros", "numpy_calls"]


LATE = """
import importlib.machinery, importlib.util, struct, sys
from inspector import _native
from inspector.tracing.arm.capi_slots import CapiSlots
assert "numpy" not in sys.modules
with CapiSlots(("numpy_calls",)):
    import numpy
    loader = importlib.machinery.ExtensionFileLoader("numpy_calls", sys.argv[1])
    spec = importlib.util.spec_from_file_location("numpy_calls", sys.argv[1], loader=loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules["numpy_calls"] = module
    loader.exec_module(module)
    module.PyArray_Zeros((1, struct.pack("n", 3), numpy.dtype("f8"), 0), ())
for slot, path, row, count in _native.numpy_table_slots():
    print(_native.CAPI_ROWS[row][0], path.rpartition("/")[2].partition(".")[0])
"""
