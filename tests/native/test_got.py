"""Patched slots: what each grade sees, and that every slot is given back to the byte."""

# SPDX-License-Identifier: MIT
import ctypes
import struct
from types import ModuleType

import pytest
import specimens
from apart import printed
from events import COUNT, DEEP, FLAGS, RECORDED, function, kind, permissions, signed, traced

from inspector import _native

pytestmark = [pytest.mark.core, pytest.mark.quick]

CALLER = """
#include <Python.h>
static PyObject *double_it(PyObject *self, PyObject *number) {
    long value = PyLong_AsLong(number);
    if (value == -1 && PyErr_Occurred())
        return NULL;
    return PyLong_FromLong(2 * value); // a tail call
}
static PyObject *call_it(PyObject *self, PyObject *callable) { return PyObject_CallNoArgs(callable); }
static PyObject *unlisted(PyObject *self, PyObject *object) {
    return PyLong_FromLong(PyCallable_Check(object));
}
static PyObject *float_it(PyObject *self, PyObject *number) {
    return PyFloat_FromDouble(PyFloat_AsDouble(number) / 2);
}
"""
LAZY, FULL = ("-Wl,-z,lazy",), ("-Wl,-z,now", "-Wl,-z,relro", "-fno-plt")
FLAGS_OF = {"lazy": LAZY, "full_relro": FULL, "stripped": ("-s",)}


@pytest.fixture(scope="module", params=FLAGS_OF)
def caller(request: pytest.FixtureRequest) -> ModuleType:
    return specimens.build(f"caller_{request.param}", CALLER, flags=FLAGS_OF[request.param])


def own_slots(module: ModuleType) -> list[tuple[int, ...]]:
    return [row for row in _native.got_slots() if row[1] == module.__file__]  # type: ignore[misc]


def words(module: ModuleType) -> dict[str, int]:
    """What each slot of a module holds now."""
    return {str(row[2]): ctypes.c_uint64.from_address(row[4]).value for row in own_slots(module)}


def test_count_counts_every_call_exactly(caller: ModuleType) -> None:
    with traced(caller, grade=COUNT) as seen:
        _native.got_clear_counts()
        for number in range(1000):
            caller.double_it(number)
        counts = {row[2]: row[5] for row in own_slots(caller) if row[5]}
    assert counts == {"PyLong_AsLong": 1000, "PyLong_FromLong": 1000}
    assert seen.events == []


def test_record_shows_arguments_and_results(caller: ModuleType) -> None:
    number = 12345678901
    with traced(caller) as seen:
        twice = caller.double_it(number)
    asked, made = seen.events
    assert (function(asked), asked.obj, signed(asked.val)) == ("PyLong_AsLong", id(number), number)
    assert (function(made), made.obj, signed(made.val)) == ("PyLong_FromLong", id(twice), 2 * number)
    assert (asked.flags, made.flags) == (0, FLAGS["NEW"])
    assert (asked.start, asked.duration) == (0, 0)


def test_the_slot_names_the_module_also_under_a_tail_call(caller: ModuleType) -> None:
    with traced(caller) as seen:
        caller.double_it(3)
    assert {_native.got_slots()[event.slot][1] for event in seen.events} == {caller.__file__}


def test_a_negative_number_a_double_and_an_error(caller: ModuleType) -> None:
    with traced(caller) as seen:
        assert caller.double_it(-1) == -2
        assert caller.float_it(5.0) == 2.5
        with pytest.raises(OverflowError):
            caller.double_it(2**70)
    asked = [event for event in seen.events if function(event) == "PyLong_AsLong"]
    made = next(event for event in seen.events if function(event) == "PyLong_FromLong")
    floats = [event for event in seen.events if function(event).startswith("PyFloat")]
    assert [(signed(event.val), event.flags) for event in asked] == [(-1, 0), (-1, FLAGS["ERROR"])]
    assert signed(made.val) == -2
    assert [struct.unpack("<d", struct.pack("<Q", event.val))[0] for event in floats] == [5.0, 2.5]


def test_two_clocks_give_durations(caller: ModuleType) -> None:
    with traced(caller, clocks=2) as seen:
        caller.call_it(lambda: sum(range(100_000)))
    (call,) = [event for event in seen.events if function(event) == "PyObject_CallNoArgs"]
    tick_ps = _native.ring_clock()[2]
    assert call.start > 0
    assert call.duration * tick_ps / 1e6 > 50  # us


def test_deep_shows_types_refcounts_and_the_python_line(caller: ModuleType) -> None:
    number = 12345678901
    with traced(caller, grade=DEEP) as seen:
        caller.double_it(number)
    asked, made = seen.events
    assert [seen.objects[event.type] for event in (asked, made)] == [int, int]
    assert (asked.refs_delta, made.refs) == (0, 1)
    code = seen.objects[asked.code]
    assert code is test_deep_shows_types_refcounts_and_the_python_line.__code__
    lines = [line for start, stop, line in code.co_lines() if start <= asked.lasti < stop]
    assert lines == [code.co_firstlineno + 3]


def test_a_function_without_a_row_is_counted_and_recorded_in_grade_deep(caller: ModuleType) -> None:
    _native.got_clear_counts()
    with traced(caller) as seen:
        assert caller.unlisted(len) == 1
    assert [function(event) for event in seen.events] == ["PyLong_FromLong"]
    assert [row[5] for row in own_slots(caller) if row[2] == "PyCallable_Check"] == [1]
    with traced(caller, grade=DEEP) as seen:
        assert caller.unlisted(len) == 1
    named = seen.events[0]
    assert (kind(named), function(named), named.obj) == ("NAMED", "PyCallable_Check", id(len))
    assert named.flags == FLAGS["ENTRY"] | FLAGS["NO_GIL"]


def test_every_slot_is_restored_to_the_byte(caller: ModuleType) -> None:
    with traced(caller):  # finds the slots
        pass
    before = words(caller)
    pages = [permissions(row[4]) for row in own_slots(caller)]
    for grade in (COUNT, RECORDED, DEEP):
        with traced(caller, grade=grade) as seen:
            assert words(caller) != before
            caller.double_it(1)
        assert words(caller) == before
        assert seen.restored == (len(before), 0, 0, 0)
    assert [permissions(row[4]) for row in own_slots(caller)] == pages


def test_relro_slots_are_read_only_again() -> None:
    module = specimens.build("caller_now", CALLER, flags=FULL)
    with traced(module) as seen:
        module.double_it(2)
        assert all(permissions(row[4]).startswith("r-") for row in own_slots(module) if row[8])
    assert {row[8] for row in own_slots(module)} == {1}
    assert len(seen.events) == 2


def test_a_second_tracer_stays_in_the_chain_and_is_not_removed() -> None:
    """Its function is called through ours; when it comes after us, the slot is left to it."""
    module = specimens.build("caller_chain", CALLER, flags=LAZY)
    real = ctypes.pythonapi.PyLong_AsLong
    real.argtypes, real.restype = [ctypes.py_object], ctypes.c_long
    calls: list[object] = []

    @ctypes.PYFUNCTYPE(ctypes.c_long, ctypes.py_object)
    def other(number: int) -> int:
        calls.append(number)
        return int(real(number)) + 1

    with traced(module):
        module.double_it(1)
    address = next(row[4] for row in own_slots(module) if row[2] == "PyLong_AsLong")
    slot, theirs = ctypes.c_void_p.from_address(address), ctypes.cast(other, ctypes.c_void_p).value
    held, slot.value = slot.value, theirs
    with traced(module) as seen:
        assert module.double_it(5) == 12
    assert (calls, signed(seen.events[0].val), slot.value) == ([5], 6, theirs)
    slot.value = held
    with traced(module) as seen:
        slot.value = theirs
        module.double_it(5)
    assert (seen.restored[1], slot.value) == (1, theirs)
    slot.value = held


def test_an_object_is_left_as_it_was(caller: ModuleType, fingerprint: object) -> None:
    number = 10**30
    before = fingerprint(number)  # type: ignore[operator]
    with traced(caller, grade=DEEP), pytest.raises(OverflowError):
        caller.double_it(number)
    assert fingerprint(number) == before  # type: ignore[operator]


def test_wrong_arguments_are_said() -> None:
    with pytest.raises(ValueError, match="grade 4"):
        _native.got_arm(frozenset(), 4)
    with pytest.raises(TypeError):
        _native.got_arm({"a set"}, 0)  # type: ignore[arg-type]


def test_an_unloaded_module_is_skipped() -> None:
    """ctypes can unload what it loaded: its slots are gone, and nothing is written there."""
    path = str(specimens.library("unloaded", CALLER, flags=LAZY))
    child = f"""
import ctypes, _ctypes
from inspector import _native
handle = _ctypes.dlopen({path!r}, 2)
assert _native.got_arm(frozenset([{path!r}]), 1)[0] > 3
assert _native.got_arm(frozenset([{path!r}]), 0)[0] > 3
_ctypes.dlclose(handle)
assert {path!r} not in _native.got_objects()
restored, foreign, gone, failed = _native.got_disarm()
assert (restored, foreign, failed) == (0, 0, 0) and gone > 3, (restored, foreign, gone, failed)
handle = _ctypes.dlopen({path!r}, 2)
assert _native.got_arm(frozenset([{path!r}]), 1)[0] > 3
print(_native.got_disarm()[0] > 3)
"""
    assert printed("-c", child) == "True\n"


HOST = """
typedef long (*as_long)(void *);
static as_long table[1 << 16]; // 512 KiB that nobody has written
static as_long first = (as_long)1;
void fill(long at, void *function) { *(at < 0 ? &first : &table[at]) = (as_long)function; }
long ask(long at, void *number) { return (at < 0 ? first : table[at])(number); }
void *place(void) { return table; }
"""


def present(host: ctypes.CDLL) -> int:
    """Pages of the host's table that exist."""
    host.place.restype = ctypes.c_void_p
    pages = range(host.place() + 4096, host.place() + (512 << 10), 4096)
    return sum(_native.read_present(page, 1) is not None for page in pages)


def test_a_host_that_fills_its_table_later_is_found_at_each_arming() -> None:
    """Its variables are searched again each time, and pages that nobody wrote stay as they are."""
    path = str(specimens.library("late_host", HOST))
    host, number = ctypes.PyDLL(path), ctypes.py_object(41)
    host.ask.restype = ctypes.c_long
    as_long = ctypes.cast(ctypes.pythonapi.PyLong_AsLong, ctypes.c_void_p)
    with traced(path) as seen:
        pass
    assert (len(seen.events), present(host)) == (0, 0) and path not in _native.got_hosts()
    for filled, at in enumerate((-1, 5_000, 40_000, 60_000), start=1):
        host.fill(ctypes.c_long(at), as_long)
        with traced(path) as seen:
            assert host.ask(ctypes.c_long(at), number) == 41
        assert [function(event) for event in seen.events] == ["PyLong_AsLong"], at
        assert path in _native.got_hosts()
        slots = [row for row in _native.got_slots() if row[1] == path]
        assert (len(slots), {row[9] for row in slots}) == (filled, {as_long.value})
    assert present(host) == 3  # those of 5,000, 40,000 and 60,000
