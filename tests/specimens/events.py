"""What tests of the trace share: events decoded by the tables that `_native` exports, an extension."""

# SPDX-License-Identifier: MIT
import ctypes
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import NamedTuple

from threads import repeating

from inspector import _native

RECORD = struct.Struct("<" + "".join(code for _, code, _, _ in _native.EVENT_FIELDS))
KINDS = {number: name for name, number, _ in _native.EVENT_KINDS}
FLAGS = {name: mask for name, mask, _ in _native.EVENT_FLAGS}
TOTAL_BYTES = 64 << 20
COUNT, RECORDED, DEEP = 0, 1, 2

Event = NamedTuple("Event", [(name, int) for name, _, _, _ in _native.EVENT_FIELDS])  # type: ignore[misc]


def capsule(address: int, name: bytes | None = None) -> object:
    """A PyCapsule over an address; the name must live as long."""
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    made: object = new(address, name, None)
    return made


def decode(records: bytes) -> list[Event]:
    """Every record."""
    return [Event(*row) for row in RECORD.iter_unpack(records)]


def kind(event: Event) -> str:
    """CAPI, VALUE and so on."""
    return KINDS[event.kind]


def function(event: Event) -> str:
    """The C-API function a record is of."""
    if kind(event) == "CAPI":
        return _native.CAPI_ROWS[event.func][0]
    return _native.got_slots()[event.slot][2]


def permissions(address: int) -> str:
    """How the page of an address is mapped: "r--p"."""
    return next(row[2] for row in _native.maps() if row[0] <= address < row[1])


def signed(value: int) -> int:
    """A word as the C value it extends."""
    return value - (1 << 64) if value >> 63 else value


def text(event: Event) -> bytes:
    """What a TEXT holds."""
    return struct.pack("<3Q", event.obj, event.val, event.aux)[: event.duration]


def told(events: list[Event]) -> list[str]:
    """Events in words: `PyArg_ParseTuple "ii" -> 35, 42`, one line a call."""
    lines: list[str] = []
    for event in events:
        if kind(event) == "CAPI":
            lines.append(function(event))
        elif kind(event) == "TEXT":
            lines[-1] += f' "{text(event).decode()}"'
        elif kind(event) == "VALUE":
            lines[-1] += f"{',' if '->' in lines[-1] else ' ->'} {signed(event.val)}"
    return lines


class Traced:
    """What a block recorded, by thread, once it is over."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, int, int, int, int, int, bytes]] = []
        self.objects: list[object] = []
        self.restored: tuple[int, int, int, int] = (0, 0, 0, 0)

    @property
    def events(self) -> list[Event]:
        """Of all threads, oldest thread first."""
        return [event for row in self.rows for event in decode(row[6])]


@contextmanager
def storm(count: int, work: Callable[[], object]) -> Iterator[None]:
    """`work` again and again in `count` threads while the block arms and disarms; every record has a kind."""
    _native.ring_begin("", 1 << 12, "last", 1, 1, TOTAL_BYTES, -1)
    try:
        with repeating(count, work):
            yield
    finally:
        rows = _native.ring_end()[0]
        _native.interned_clear()
    assert {event.kind for row in rows for event in decode(row[6])} <= KINDS.keys() - {0}


@contextmanager
def traced(
    *modules: ModuleType | str,
    grade: int = RECORDED,
    capacity: int = 1 << 14,
    clocks: int = 0,
    directory: str = "",
) -> Iterator[Traced]:
    """Arm the slots of modules (or shared objects) for a block."""
    paths = frozenset(module if isinstance(module, str) else str(module.__file__) for module in modules)
    found = Traced()
    _native.ring_begin(directory, capacity, "last", 1, clocks, TOTAL_BYTES, -1)
    try:
        _native.got_arm(paths, grade)
        yield found
    finally:
        found.restored = _native.got_disarm()
        found.rows = _native.ring_end()[0]
        found.objects = _native.interned()
        _native.interned_clear()


GCD = """
#include <Python.h>
static PyObject *gcd(PyObject *self, PyObject *args) {
    int a, b;
    if (!PyArg_ParseTuple(args, "ii", &a, &b))
        return NULL;
    while (b) {
        int t = a % b;
        a = b;
        b = t;
    }
    return Py_BuildValue("i", a);
}
"""
