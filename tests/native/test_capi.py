"""Every row of capi.def against the function itself: signature, references, ownership, failure.

A row is called on real objects by an extension made from the rows (tests/specimens/capi_calls.py), first as
it is, then through the hooks. What the row says of references and failure must come out, both times.
"""

# SPDX-License-Identifier: MIT
import sys
import types
import warnings
import weakref
from pathlib import Path
from typing import Any

import capi_calls
import events
import pytest
import specimens
from capi_calls import ROWS, exported, parameters

from inspector import _native

pytestmark = [pytest.mark.core, pytest.mark.quick]
NULL = ...


class Bad:
    """Each of its methods raises."""

    def __bool__(self, *_: object) -> Any:
        raise ValueError

    __getattr__ = __repr__ = __format__ = __dir__ = __length_hint__ = __bool__


class Box:
    """Has an attribute, can be weakly referred to."""

    def __init__(self) -> None:
        self.held = object()


class Names:
    """What the cases are written with: fresh objects, none of them immortal."""

    def __init__(self) -> None:
        self.kept: list[object] = []
        self.also: list[object] = []
        self.names: dict[str, Any] = {
            "I": lambda: int("123456789012"),
            "F": lambda: float("2.5"),
            "S": lambda: "".join(["te", "xt"]),
            "B": lambda: bytes([98, 121]),
            "O": object,
            "L": lambda: [self.watched(complex(n)) for n in range(3)],
            "T": lambda: tuple(self.watched(complex(n)) for n in range(3)),
            "D": lambda: {"key": self.watched(complex(1))},
            "key": "".join(["k", "ey"]),
            "lone": lambda: chr(0xD800) * 2,
            "failing": lambda: map(int, [object()]),
            "capsule": lambda: events.capsule(id(Box), NAME),
            "ref": self.reference,
            "module": lambda: types.ModuleType("made"),
            "ignored": lambda: PendingDeprecationWarning,
            "raised": lambda: UserWarning,
            **{"NULL": NULL, "Bad": Bad, "Box": Box},
        }

    def watched(self, made: object) -> object:
        self.also.append(made)
        return made

    def reference(self) -> object:
        self.kept.append(Box())
        self.also.append(self.kept[-1])
        return weakref.ref(self.kept[-1])


NAME = b"name"
CASES = capi_calls.cases(Path(__file__).with_name("capi_cases.txt"))
CALLED = [name for name in CASES if exported(name)]

NOT_CALLED = {
    "PyTuple_SetItem": "a tuple that others see is refused, and the specimen's arguments are seen",
    **dict.fromkeys(("PyUnicode_InternInPlace", "PyBytes_Concat"), "replaces a reference in place"),
    **dict.fromkeys(("PyUnicode_FSConverter", "PyUnicode_FSDecoder"), "stores through void *"),
    "PyUnicode_FromWideChar": "wants wide characters",
    **dict.fromkeys(("_PyBytes_Resize", "_PyTuple_Resize"), "wants the only reference"),
    **dict.fromkeys(("PyObject_GetBuffer", "PyBuffer_Release"), "test_buffers_are_shown"),
    **dict.fromkeys(("PyBuffer_ToContiguous", "PyBuffer_FromContiguous"), "writes to raw memory"),
    "PyBuffer_FillInfo": "fills a buffer of the caller's",
    "PyBuffer_GetPointer": "wants an array of indices",
    "PyMemoryView_FromBuffer": "the view outlives the caller's buffer",
    "PyObject_GetAIter": "wants an asynchronous iterable",
    "PyOS_double_to_string": "the result is freed by PyMem_Free",
    "_Py_Dealloc": "frees its argument: test_a_freed_object_is_not_read",
    **dict.fromkeys(("_PyObject_New", "_PyObject_GC_New"), "its type initialises the result"),
    **dict.fromkeys(("_PyObject_NewVar", "_PyObject_GC_NewVar"), "its type initialises the result"),
    "PyObject_Init": "wants raw memory",
    "PyStructSequence_New": "its items are NULL",
    "PyStructSequence_SetItem": "wants a sequence that nobody else has",
    "PyCMethod_New": "wants a static definition",
    "PyImport_AddModule": "its result is what sys.modules holds",
    **dict.fromkeys(("PyObject_Free", "PyMem_Free"), "wants a block of its own"),
    **dict.fromkeys(("PyObject_Malloc", "PyMem_Malloc"), "the block would be lost"),
    "PyObject_GC_Track": "wants an untracked object",
    "PyObject_GC_UnTrack": "the object would leave the collector",
    "PyModule_Create2": "test_got.py: every specimen calls it",
    "PyModuleDef_Init": "test_sources.py",
    **dict.fromkeys(("PyType_FromSpec", "PyType_FromModuleAndSpec"), "wants a static specification"),
    "PyThreadState_Get": "returns no object",
    "PyErr_NormalizeException": "replaces references in place",
    "PyErr_GetRaisedException": "with an exception set only",
    "PyErr_SetRaisedException": "with an exception only",
    **dict.fromkeys(("PyErr_WriteUnraisable", "PyErr_Print"), "writes to the terminal"),
    "PyTraceBack_Here": "wants a frame",
    "_PyArg_UnpackKeywords": "wants a static parser",
}
"""Rows without a call of their own here, and why."""
SHARED_RESULTS = {
    *("PyBool_FromLong", "PyUnicode_InternFromString", "PyObject_RichCompare", "PyObject_Type"),
    *("PyImport_Import", "PyImport_ImportModule", "PyImport_ImportModuleLevelObject"),
    *("PyEval_EvalCode", "PyRun_StringFlags"),
    *("PyUnicode_FromOrdinal", "PyObject_GetAttr", "PyObject_GetAttrString"),
    *("PyVectorcall_Call",),
}
"""Their result is an object that lives anyway, or may be."""


@pytest.fixture(scope="module")
def calls() -> types.ModuleType:
    return capi_calls.build(CALLED)


def make(calls: types.ModuleType, name: str, case: str) -> tuple[Any, ...]:
    """(changes by parameter, changes of the rest, failed, result, its references, error,
    which parameters are fresh, where the result is among what is watched)."""
    made = Names()
    args = eval(case, made.names)
    watched = [a if a is not NULL else object() for a in args] + made.also
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        warnings.simplefilter("error", UserWarning)
        changes, failed, result, refs, error, _ = getattr(calls, name)(args, tuple(watched))
    mine = [n for n, thing in enumerate(watched) if thing is result]
    counts = [is_fresh(thing) for thing in args]
    return changes[: len(args)], changes[len(args) :], failed, result, refs, error, counts, mine


def is_fresh(thing: object) -> bool:
    """Whether nobody else takes references to it meanwhile."""
    if isinstance(thing, str) and thing in ("held", "other", "math", "copy", "nothing", "no_such_module"):
        return False
    return not (thing is None or isinstance(thing, type) or (isinstance(thing, int) and abs(thing) < 1000))


def expected(name: str, failed: bool, result_at: list[int], count: int) -> list[int]:
    """How many references more each parameter has after the call, by the row's letters."""
    row = ROWS[name]
    if name in ("PyErr_SetObject", "PyErr_Restore"):
        return [0] * count  # held by the exception, which the specimen has dropped
    held = {"+": 1, "S": 1, "s": 1, "-": 0} if not failed else {"s": 1}
    found = [held.get(letter, 0) for letter in row["effects"][:count]]
    if row["owns"] == "NEW" and not failed:
        for at in result_at:
            if at < len(found):
                found[at] += 1
    return found


def is_counted(name: str) -> list[bool]:
    """Which parameters are objects whose references tell something (no type, no immortal)."""
    return [ctype in ("PyObject *", "PyLongObject *") for ctype, _ in parameters(ROWS[name])]


def check(name: str, told: tuple[Any, ...], fails: bool) -> None:
    row = ROWS[name]
    changes, rest, failed, result, refs, error, fresh, mine = told
    assert failed == fails, (failed, error)
    if row["fails"].endswith(("_SET", "_ASK")):
        assert (error is not None) == fails
    wanted = expected(name, fails, mine, len(changes))
    counted = [of_row and own for of_row, own in zip(is_counted(name), fresh, strict=False)]
    rows = list(zip(changes, wanted, counted, strict=False))
    assert [change for change, _, told in rows if told] == [want for _, want, told in rows if told]
    if row["type"] == "PyObject *" and not fails and row["owns"] != "NOTHING" and result is not None:
        if row["owns"] == "BORROWED":
            assert mine, "a borrowed result belongs to somebody"
            unowned = expected(name, False, [], len(changes)) + [0] * len(rest)
            assert (changes + rest)[mine[0]] == unowned[mine[0]]
        elif name not in SHARED_RESULTS and not mine:
            assert refs == 1, "a new reference to a new object"


def test_every_row_is_called_or_says_why_not() -> None:
    rows = {name for name, row in ROWS.items() if row["form"] == "call"}
    assert rows - set(CASES) - set(NOT_CALLED) == set()
    assert (set(CASES) | set(NOT_CALLED)) - rows == set()


@pytest.mark.parametrize("name", CALLED)
def test_a_row_says_what_the_function_does(calls: types.ModuleType, name: str) -> None:
    success, failure = CASES[name]
    for case, fails in ((success, False), (failure, True)):
        if case:
            check(name, make(calls, name, case), fails)


@pytest.mark.parametrize("grade", [events.RECORDED, events.DEEP], ids=["record", "deep"])
def test_a_hook_changes_nothing_and_shows_the_call(calls: types.ModuleType, grade: int) -> None:
    wrong = []
    with events.traced(calls):
        imported = {row[2] for row in _native.got_slots() if row[1] == calls.__file__}
    assert len(set(CALLED) - imported) < 10, "what this Python's headers make a macro"
    for name in (name for name in CALLED if name in imported):
        for case, fails in ((CASES[name][0], False), (CASES[name][1], True)):
            if not case:
                continue
            _native.got_clear_counts()
            with events.traced(calls, grade=grade) as seen:
                told = make(calls, name, case)
            check(name, told, fails)
            if grade == events.RECORDED and ROWS[name]["direction"] in ("QUESTION", "UPKEEP"):
                if not is_counted_alone(calls, name, seen):
                    wrong.append((name, fails, [], told))
                continue
            mine = [e for e in seen.events if events.kind(e) == "CAPI" and events.function(e) == name]
            marked = {bool(event.flags & events.FLAGS["ERROR"]) for event in mine}  # the specimen's own too
            if fails not in marked or not shows(name, mine, told):
                wrong.append((name, fails, mine, told))
    assert wrong == []


def is_counted_alone(calls: types.ModuleType, name: str, seen: events.Traced) -> bool:
    """Whether its calls were counted, and none was recorded."""
    counts = [row[5] for row in _native.got_slots() if row[1:3] == (calls.__file__, name)]
    recorded = {events.function(event) for event in seen.events if events.kind(event) == "CAPI"}
    return sum(counts) > 0 and name not in recorded


def shows(name: str, mine: list[events.Event], told: tuple[Any, ...]) -> bool:
    """Whether a record holds the number that the call returned."""
    row, result = ROWS[name], told[3]
    if row["val"] != "result" or row["type"] not in capi_calls.INTEGERS or not isinstance(result, int):
        return True
    return any(events.signed(e.val) == result or e.val == result for e in mine)


def test_rows_are_those_that_the_design_lists() -> None:
    """185 conversions of CPython and the next 130 by use; each exported by some supported Python."""
    assert len(ROWS) + len(_native.NUMPY_PLACES) == len(_native.CAPI_ROWS) and len(ROWS) >= 310
    missing = {name for name in ROWS if not exported(name)}
    newer = {"PyLong_AsInt", "PyLong_AsNativeBytes", "PyLong_FromNativeBytes", "PyUnicode_EqualToUTF8"}
    newer |= {"PyList_GetItemRef", "PyDict_GetItemRef", "PyObject_GetOptionalAttr", "PyWeakref_GetRef"}
    newer |= {"PyList_Extend"}
    raised = {"PyErr_GetRaisedException", "PyErr_SetRaisedException"}
    assert missing <= newer | (raised if sys.version_info < (3, 12) else set())
    if sys.version_info >= (3, 13):
        assert missing == set()


INTERNAL_HEADERS = r"""
#define Py_BUILD_CORE 1
#define Py_BUILD_CORE_MODULE 1
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#if __has_include(<internal/pycore_modsupport.h>)
#include <internal/pycore_modsupport.h>
#endif
#include <internal/pycore_call.h>
#include <internal/pycore_long.h>
"""


def test_each_row_has_the_parameters_that_this_python_declares() -> None:
    """A hook with a parameter too few passes what lies on the stack: one row has one more from 3.14 on."""
    other_pointer = {"PyObject_GC_Track", "PyArg_ParseTupleAndKeywords"}  # void *; char *const *
    rows = [(name, row["type"], row["params"]) for name, row in ROWS.items() if name not in other_pointer]
    text = "".join(
        f"#undef {name}\nextern __typeof__({kind}) {name}({params});\n" for name, kind, params in rows
    )
    warnings_of_headers = ("-Wno-deprecated-declarations", "-Werror", "-Wno-unused-function")
    specimens.library("prototypes", INTERNAL_HEADERS + text, flags=warnings_of_headers)
