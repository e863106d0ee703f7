"""Owners: fifteen kinds and more, each planted and named; the gap, proved against C that hides references."""

# SPDX-License-Identifier: MIT
import collections
import contextvars
import ctypes
import datetime
import functools
import gc
import itertools
import mmap
import re
import struct
import sys
import textwrap
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any

import bad_objects
import numpy
import programs
import pytest
import specimens
import unnamed
from allocators import DEBUG
from soak import rounds
from unnamed import Thing

import inspector
from inspector import _native
from inspector.facts.refs import OWNER_KINDS, Owner, Owners
from inspector.facts.unknown import Immortal, Unknown
from inspector.objects.probes.refs import owners, refs

pytestmark = pytest.mark.core


class Plain:
    pass


class Slotted:
    __slots__ = ("kept", "other")


class Listener:
    def hear(self) -> None: ...


HIDDEN = r"""
#include <Python.h>
#include <stdlib.h>
#define GIVEN PyObject *o; int n; if (!PyArg_ParseTuple(args, "Oi", &o, &n)) return NULL;
static PyObject *volatile kept[16];
static PyObject *volatile *volatile block;
static PyObject *in_static(PyObject *self, PyObject *args) { GIVEN
    for (int i = 0; i < n; i++) { Py_INCREF(o); kept[i] = o; } Py_RETURN_NONE; }
static PyObject *in_block(PyObject *self, PyObject *args) { GIVEN
    if (!block) block = calloc(200, sizeof *block);
    for (int i = 0; i < n; i++) { Py_INCREF(o); block[i + 5] = o; } Py_RETURN_NONE; }
static void *volatile *volatile looks_like_a_float;
static PyObject *in_struct(PyObject *self, PyObject *args) { GIVEN
    if (!looks_like_a_float) looks_like_a_float = PyMem_Calloc(6, sizeof(void *));
    looks_like_a_float[0] = (void *)kept; looks_like_a_float[1] = &PyFloat_Type;
    for (int i = 0; i < n; i++) { Py_INCREF(o); looks_like_a_float[2 + i] = o; } Py_RETURN_NONE; }
static PyObject *where(PyObject *self, PyObject *unused) {
    return PyLong_FromVoidPtr((void *)looks_like_a_float); }
static PyObject *volatile *volatile tables[160];
static PyObject *in_tables(PyObject *self, PyObject *args) { GIVEN
    for (int i = 0; i < 160; i++) { PyMem_Free((void *)tables[i]); tables[i] = NULL; }
    for (int i = 0; i < n; i++) {
        tables[i] = PyMem_Calloc(15, sizeof(void *)); Py_INCREF(o); tables[i][4] = o; }
    Py_RETURN_NONE; }
static PyObject *nowhere(PyObject *self, PyObject *args) { GIVEN
    for (int i = 0; i < n; i++) Py_INCREF(o); Py_RETURN_NONE; }
static PyObject *release(PyObject *self, PyObject *args) { GIVEN
    for (int i = 0; i < 16; i++) if (kept[i] == o) kept[i] = NULL;
    for (int i = 0; block && i < 200; i++) if (block[i] == o) block[i] = NULL;
    for (int i = 2; looks_like_a_float && i < 6; i++)
        if (looks_like_a_float[i] == o) looks_like_a_float[i] = NULL;
    for (int i = 0; i < n; i++) Py_DECREF(o); Py_RETURN_NONE; }
"""


@pytest.fixture(scope="module")
def hidden() -> ModuleType:
    return specimens.build("hidden", HIDDEN)


def boxed(plant: Callable[[Any], Any], make: Callable[[], Any] = Thing) -> tuple[_native.Subject, Any]:
    """The subject in its box, and what the plant returned; no name of ours holds the subject."""
    thing = make()
    kept = plant(thing)
    subject = _native.Subject(thing)
    del thing
    return subject, kept


def certain(found: Owners) -> list[Owner]:
    return [owner for owner in found if owner.certain]


# --- fifteen kinds, and more ----------------------------------------------------------------------


def in_attribute(x: object) -> object:
    holder = Plain()
    holder.first, holder.kept = 1, x
    return holder


def in_materialized(x: object) -> object:
    holder = in_attribute(x)
    assert vars(holder)
    return holder


def in_slot(x: object) -> object:
    holder = Slotted()
    holder.other = x
    return holder


def in_generator(x: object) -> object:
    def numbers(given: object) -> Iterator[int]:
        yield 1

    made = numbers(x)
    next(made)
    return made


def in_coroutine(x: object) -> object:
    async def wait(given: object) -> None: ...

    return wait(x)


def in_closure(x: object) -> object:
    def closed() -> object:
        return x

    return closed


def in_class(x: object) -> object:
    class Registry:
        entry = x

    return Registry


def in_traceback(x: object) -> object:
    def fails(given: object) -> None:
        raise ValueError("planted")

    try:
        fails(x)
    except ValueError as error:
        del x  # the frame of this function stays too, behind f_back
        return error.with_traceback(error.__traceback__.tb_next)  # type: ignore[union-attr]


local_storage = threading.local()
PLANTED: Any = None


def in_thread_local(x: object) -> None:
    local_storage.kept = x


def in_global(x: object) -> None:
    global PLANTED
    PLANTED = x


def in_default(x: object) -> object:
    def defaulted(given: object = x) -> None: ...

    return defaulted


def in_cache(x: object) -> object:
    cell = [x]

    @functools.lru_cache(maxsize=4)
    def cached(number: int) -> object:
        return cell[0]

    cached(3)
    cell.clear()
    return cached


def in_unbounded_cache(x: object) -> object:
    box = [x]

    @functools.cache
    def cached(number: int) -> object:
        return box.pop()

    cached(3)
    return cached


def in_context(x: object) -> object:
    context = contextvars.Context()
    context.run(contextvars.ContextVar("request").set, x)
    return context


def in_field(fields: Any, *path: str) -> Callable[[Any], Any]:
    """A plant into the fourth item of a structured array."""

    def plant(x: object) -> Any:
        array = column = numpy.zeros(5, dtype=fields)
        for name in path:
            column = column[name]
        column[3] = x
        return array

    return plant


def in_callback(x: object) -> object:
    target = Plain()
    return target, weakref.ref(target, x)  # type: ignore[call-overload]


NESTED = [("y", "O"), ("z", "i8")]


def in_heap_of_thread(x: Any) -> list[Any]:
    """A list whose items lie in memory that glibc gave another thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: [0] * 1999 + [x]).result()


PLANTS: list[tuple[str, Callable[[Any], Any], str, str, str]] = [
    # (what, plant, kind, part of the holder, key)
    ("global", in_global, "global", "test_refs", "PLANTED"),
    ("list item", lambda x: [1, x], "item", "list (2 items)", "[1]"),
    ("item of a long list", lambda x: [0] * 100_000 + [x], "item", "list (100,001 items)", "[100000]"),
    ("item in a thread's heap", in_heap_of_thread, "item", "list (2,000 items)", "[1999]"),
    ("tuple item", lambda x: (x, 1), "item", "tuple (2 items)", "[0]"),
    ("dict value", lambda x: {"k": x}, "item", "dict (1 item)", "['k']"),
    ("dict key", lambda x: {x: 1}, "item", "dict (1 item)", "key <Thing>"),
    ("large dict", lambda x: dict.fromkeys(range(9999)) | {(1, 2): x}, "item", "10,000", "[(1, 2)]"),
    ("set element", lambda x: {x}, "item", "set (1 item)", ""),
    ("element of a large set", lambda x: {x, *range(5000)}, "item", "set (5,001 items)", ""),
    ("deque item", lambda x: collections.deque([0] * 200 + [x] + [0] * 200), "item", "<deque>", ""),
    ("OrderedDict value", lambda x: collections.OrderedDict(k=x), "item", "<OrderedDict>", "['k']"),
    ("attribute", in_attribute, "attribute", "<Plain>", ".kept"),
    ("attribute in __dict__", in_materialized, "attribute", "<Plain>", ".kept"),
    ("slot", in_slot, "slot", "<Slotted>", ".other"),
    ("generator local", in_generator, "generator local", "generator in_generator.<locals>.numbers", "given"),
    ("coroutine local", in_coroutine, "generator local", "coroutine in_coroutine.<locals>.wait", "given"),
    ("traceback local", in_traceback, "traceback local", "frame of in_traceback.<locals>.fails", "given"),
    ("closure cell", in_closure, "cell", "variable `x` of function in_closure.<locals>.closed", ""),
    ("class attribute", in_class, "type", "class in_class.<locals>.Registry", ".entry"),
    ("bound method", lambda x: x.hear, "bound method", "bound method Listener.hear", ".__self__"),
    ("cache", in_unbounded_cache, "cache", "functools.lru_cache of in_unbounded_cache", "[3]"),
    ("thread-local", in_thread_local, "thread-local", "threading.local", ".kept"),
    ("property", lambda x: property(x), "attribute", "<property>", ".fget"),
    ("partial", lambda x: functools.partial(print, x), "item", "tuple (1 item), attribute .args", "[0]"),
    ("mappingproxy", lambda x: [slice(x, 1)], "attribute", "<slice>", ".start"),
    ("weak reference", in_callback, "callback", "", "its callback"),
    ("context variable", in_context, "context variable", "ContextVar request", "its value"),
    ("view of bytes", memoryview, "base", "memoryview", ".obj"),
    ("view of an array", lambda x: x[1:], "base", "ndarray", ".base"),
    ("array of objects", lambda x: numpy.array([1, x, 3], dtype=object), "item", "ndarray", "[1]"),
    ("field", in_field([("b", "f8"), ("a", "O")], "a"), "item", "ndarray", "[3]['a']"),
    ("field of 3", in_field([("a", "O"), ("n", "f4", 2)], "a"), "item", "ndarray", "[3]['a']"),
    ("inner field", in_field([("x", NESTED), ("w", "f8")], "x", "y"), "item", "ndarray", "[3]['x']['y']"),
    ("default argument", in_default, "item", "attribute .__defaults__ of function in_default", "[0]"),
]


OTHER_SUBJECTS = {
    "bound method": Listener,
    "view of bytes": lambda: bytearray(b"bytes"),
    "view of an array": lambda: numpy.zeros(8),
}


def spelled(text: str) -> str:
    return text.replace(",", "")


@pytest.mark.quick
@pytest.mark.parametrize(("what", "plant", "kind", "holder", "key"), PLANTS, ids=[row[0] for row in PLANTS])
def test_each_kind_is_named(what: str, plant: Callable[[Any], Any], kind: str, holder: str, key: str) -> None:
    subject, kept = boxed(plant, OTHER_SUBJECTS.get(what, Thing))
    if kind == "traceback local":
        sys.last_value = None
    found = owners(subject, scan=True)
    matching = [one for one in certain(found) if one.kind == kind]
    assert len(matching) == 1, found
    (one,) = matching
    assert spelled(holder) in spelled(one.holder)
    assert (one.key, one.references, one.certain) == (key, 1, True)
    assert (found.unnamed, found.native, found.unstored) == (0, 0, found.references - found.named)
    assert found.unstored == 0
    if kind == "generator local":
        kept.close()
    del kept
    in_global(None)
    local_storage.__dict__.clear()
    gc.collect()
    without = owners(subject, scan=True)
    assert without.references == 0 and certain(without) == []


def is_held_at(reached: Any, x: Any) -> bool:
    """Whether the collector, or an array itself, says that it refers to `x`; at most two steps away."""
    if isinstance(reached, numpy.ndarray) and reached.dtype.hasobject:
        return repr(x) in repr(reached.tolist())
    near = (reached, getattr(reached, "base", None), *gc.get_referents(reached))
    return any(one is x for one in (*near, *gc.get_referents(*near)))


@pytest.mark.parametrize(("what", "plant"), [row[:2] for row in PLANTS], ids=[row[0] for row in PLANTS])
def test_the_sentence_on_holders_is_true(what: str, plant: Callable[[Any], Any]) -> None:
    """How many there are, and each path that is named."""
    x = OTHER_SUBJECTS.get(what, Thing)()
    kept = plant(x)
    rows = inspector.inspect(x, name="x", scan=True).answers.rows
    (text,) = [row.text for row in rows if row.slug == "holders"]
    alone = Thing()
    asking = sys.getrefcount(alone) - 1  # 0 from 3.14 on: a call borrows a local variable
    assert int(text.split()[0]) == sys.getrefcount(x) - asking, text
    names = {"x": x, "kept": kept, **globals()}
    paths = re.findall(r"`([^`]+)`", text.replace(f"{__name__}.", ""))
    assert "x" in paths and not [path for path in paths if not is_held_at(eval(path, names), x)], text
    in_global(None)
    local_storage.__dict__.clear()
    getattr(kept, "close", list)()


def test_a_local_of_a_running_function() -> None:
    variable = Thing()
    subject = _native.Subject(variable)
    (one,) = certain(owners(subject, scan=True))
    assert (one.kind, one.key, one.references) == ("local", "variable", 1)
    assert one.holder.startswith("test_a_local_of_a_running_function, test_refs.py:")
    del variable
    assert certain(owners(subject, scan=True)) == []


def test_a_local_of_another_thread() -> None:
    ready, done = threading.Event(), threading.Event()

    def work() -> None:
        elsewhere = Thing()
        boxes.append(_native.Subject(elsewhere))
        ready.set()
        done.wait()

    boxes: list[_native.Subject] = []
    thread = threading.Thread(target=work)
    thread.start()
    ready.wait()
    found = certain(owners(boxes[0], scan=True))
    cheap = certain(owners(boxes[0]))
    done.set()
    thread.join()
    assert [(one.kind, one.key) for one in found] == [("local", "elsewhere")]
    assert [(one.kind, one.key) for one in cheap] == [("local", "elsewhere")]


def test_a_local_of_a_running_generator() -> None:
    def numbers() -> Iterator[Owners]:
        inside = Thing()
        subject = _native.Subject(inside)
        yield owners(subject, scan=True)

    found = certain(next(numbers()))
    assert [(one.kind, one.key) for one in found] == [("local", "inside")]


def test_an_attribute_is_counted_once_where_its_dict_was_asked_for() -> None:
    """The dict of an instance may read the instance's own words: both are near at hand."""
    subject, holder = boxed(in_materialized)
    found = owners(subject)
    assert [(one.kind, one.key) for one in certain(found)] == [("attribute", ".kept")]
    assert (found.references, found.named, found.unnamed) == (1, 1, 0)
    assert holder.first == 1


class Rows(list):
    """A list of a size of its own: none of those where owners are looked for first."""


def test_a_holder_is_not_named_by_what_is_left_over_behind_the_end_of_a_list() -> None:
    """Such a list has the block, and holds nothing there: who names the holder is looked for further."""
    subject, holder = boxed(lambda x: [x])
    remembering = [[None] * 4 + [holder] * 4 for _ in range(100)]
    for items in remembering:
        del items[4:]
    kept = Rows([holder])
    del items, holder
    (one,) = certain(owners(subject, scan=True))
    assert (one.kind, one.key, one.holder) == ("item", "[0]", "list (1 item), item [0] of a Rows")
    assert kept and remembering


def test_a_bounded_cache_is_named_by_its_function() -> None:
    subject, kept = boxed(in_cache)
    named = {one.kind: one for one in certain(owners(subject, scan=True))}
    hidden = DEBUG and named["cache"].holder == "functools.lru_cache"  # by its prefix
    assert hidden or named["cache"].holder == "functools.lru_cache of in_cache.<locals>.cached"
    assert set(named) == {"cache"}
    del kept


def test_history_is_told_from_other_names() -> None:
    out: dict[int, object] = {}
    space: dict[str, object] = {"_": None}
    labels = {id(out): "Out", id(space): "IPython"}
    thing = Thing()
    out[4], space["_"], space["x"] = thing, thing, thing
    subject = _native.Subject(thing)
    del thing
    named = {(one.kind, one.holder, one.key) for one in certain(owners(subject, labels, scan=True))}
    assert named == {("history", "Out", "[4]"), ("history", "IPython", "_"), ("global", "IPython", "x")}


KEEPER = """
#include <Python.h>
typedef struct { PyObject *callback; char rest[600]; } state;
static PyObject *keep(PyObject *m, PyObject *o) {
    state *s = PyModule_GetState(m); Py_XSETREF(s->callback, o == Py_None ? NULL : Py_NewRef(o));
    Py_RETURN_NONE; }
int traverse(PyObject *m, visitproc visit, void *arg) {
    state *s = PyModule_GetState(m); Py_VISIT(s->callback); return 0; }
static PyMethodDef methods[] = {{"keep", keep, METH_O, 0}, {0}};
static PyModuleDef_Slot slots[] = {{0, NULL}};
static struct PyModuleDef def = {
    PyModuleDef_HEAD_INIT, "keeper", 0, sizeof(state), methods, slots, TRAVERSE, 0, 0};
PyMODINIT_FUNC PyInit_keeper(void) { return PyModuleDef_Init(&def); }
"""


@pytest.mark.parametrize("certain", [True, False], ids=["traversed", "not traversed"])
def test_module_state(certain: bool) -> None:
    """That of a module without a traverse is possible, and named."""
    keeper = specimens.build("keeper", KEEPER, flags=(f"-DTRAVERSE={'traverse' if certain else 'NULL'}",))
    subject = unnamed.boxed()
    keeper.keep(subject.get())
    found = owners(subject, scan=True)
    (one,) = found
    assert (one.kind, one.holder, one.key) == ("module state", "module keeper", one.key)
    assert (one.references, one.certain) == (1, certain)
    assert certain or one.key == "its C state"
    named = int(certain)
    assert (found.references, found.named, found.native, found.unstored) == (1, named, 1 - named, 0)
    keeper.keep(None)
    assert owners(subject, scan=True).owners == ()


@pytest.mark.parametrize("decorator", [functools.cache, functools.lru_cache(maxsize=3)], ids=["all", "some"])
def test_an_argument_that_a_cache_remembers(decorator: Callable[[Any], Any]) -> None:
    @decorator
    def load(where: int, what: object) -> None: ...

    subject, _ = boxed(lambda x: load(1, x))
    (one,) = certain(owners(subject, scan=True))
    hidden = DEBUG and (one.kind, one.key) == ("item", "[1]")  # a debug allocator's prefix hides the cache
    assert hidden or (one.kind, one.key, one.references) == ("cache", "argument [1]", 1)
    assert hidden or one.holder.endswith("lru_cache of test_an_argument_that_a_cache_remembers.<locals>.load")
    load.cache_clear()
    assert certain(owners(subject, scan=True)) == []


def test_the_names_of_a_code_object_s_variables_and_its_bytes() -> None:
    """No attribute of Python gives the first; CPython makes the second when `co_code` is asked for."""
    space: dict[str, Any] = {}
    exec("def function(some, variable): return [each for each in some]", space)
    code = space["function"].__code__
    raw = _native.read(id(code) + _native.CODE_FIELDS["co_localsplusnames"], 8)
    names = _native.Subject(ctypes.cast(int.from_bytes(raw, "little"), ctypes.py_object).value)
    assert names.get()[:2] == ("some", "variable")
    (owner,) = certain(owners(names, scan=True))
    assert (owner.kind, owner.key, owner.references) == ("attribute", ".co_localsplusnames", 1)
    bytes_of = _native.Subject(code.co_code)
    (owner,) = certain(owners(bytes_of, scan=True))
    assert owner.kind == "attribute" and owner.key in ("._co_code", "._co_cached")


def test_memory_that_c_mapped_for_itself_is_native(hidden: ModuleType) -> None:
    mapped = mmap.mmap(-1, 32 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    subject = unnamed.boxed()
    hidden.nowhere(subject.get(), 3)
    for place in (0, 4096, 40_000):
        struct.pack_into("=Q", mapped, place, subject.address)
    found = owners(subject, scan=True)
    assert (found.references, found.native, found.unstored) == (3, 3, 0)
    (kind,) = {one.kind for one in found}
    assert kind == "mapping" and not any(one.certain for one in found)
    mapped.close()
    assert owners(subject, scan=True).unstored == 3
    hidden.release(subject.get(), 3)


def test_kinds_are_those_of_the_fact() -> None:
    assert {row[2] for row in PLANTS} <= set(OWNER_KINDS)


def test_the_namespace_of_a_module_is_counted_without_the_tools_own_list_of_them() -> None:
    subject = _native.Subject(vars(textwrap))
    before = sys.getrefcount(vars(textwrap))
    found = owners(subject, scan=True)
    assert found.references == before - 2  # the call's argument, and the box
    assert found.named == found.references
    assert all(one.kind != "item" for one in found)


# --- the gap --------------------------------------------------------------------------------------


@pytest.mark.quick
@pytest.mark.parametrize("count", [0, 1, 7])
@pytest.mark.parametrize("where", ["in_static", "in_block", "nowhere"])
def test_the_gap_is_exact(hidden: ModuleType, where: str, count: int) -> None:
    subject = unnamed.boxed()
    listed = [subject.get()]
    before = owners(subject, scan=True)
    assert (before.references, before.named, before.native, before.unstored) == (1, 1, 0, 0)
    getattr(hidden, where)(subject.get(), count)
    found = owners(subject, scan=True)
    stored = 0 if where == "nowhere" else count
    assert found.references == 1 + count
    assert (found.named, found.native, found.unstored) == (1, stored, count - stored)
    assert all(not one.certain for one in found if one.kind in ("static", "heap block"))
    if where == "in_static" and count:
        native = [one for one in found if one.kind == "static"]
        assert sum(one.references for one in native) == count
        assert native[0].symbol == "kept" and str(native[0].library).endswith(hidden.__file__ or "?")
        assert native[0].key == ("kept+0x0" if count == 1 else native[0].key)
    if where == "in_block" and count:
        assert sum(one.references for one in found if one.kind == "heap block") == count
    hidden.release(subject.get(), count)
    after = owners(subject, scan=True)
    assert (after.references, after.named, after.native, after.unstored) == (1, 1, 0, 0)
    assert listed


STATICS = r"""
#include <Python.h>
PyObject *volatile exported[3];
static PyObject *volatile local[4];
static PyObject *keep(PyObject *self, PyObject *args) {
    PyObject *o; int out; if (!PyArg_ParseTuple(args, "Op", &o, &out)) return NULL;
    PyObject *volatile *at = out ? &exported[1] : &local[2];
    Py_XSETREF(*at, Py_NewRef(o)); return PyLong_FromVoidPtr((void *)at); }
"""


@pytest.mark.quick
@pytest.mark.parametrize("flags", [(), ("-s",)], ids=["with symbols", "stripped"])
def test_a_static_is_named_by_library_symbol_and_offset(flags: tuple[str, ...]) -> None:
    """A `static` one too, by the file's symbol table; where that was stripped off, the offset in the file."""
    statics = specimens.build("statics", STATICS, flags=flags)
    file = str(statics.__file__)
    for exported in (True, False):
        subject = unnamed.boxed()  # a thread's stack may name an object that was there before
        at = statics.keep(subject.get(), exported)
        with open("/proc/self/maps") as maps:
            base = min(int(line.partition("-")[0], 16) for line in maps if line.rstrip().endswith(file))
        (one,) = owners(subject, scan=True).owners
        told = (one.kind, one.certain, one.references, one.address, one.library)
        assert told == ("static", False, 1, at, file)
        if exported or not flags:
            assert (one.symbol, one.key) == (
                ("exported", "exported+0x8") if exported else ("local", "local+0x10")
            )
        else:
            assert (one.symbol, one.key) == (Unknown("stripped: local names are gone"), f"+{at - base:#x}")


def test_a_c_struct_that_points_to_a_type_is_no_object(hidden: ModuleType) -> None:
    """Its first word is an address: as an object it would have a count that nobody could raise."""
    subject = unnamed.boxed()
    hidden.in_struct(subject.get(), 2)
    found = owners(subject, scan=True)
    assert [(one.kind, one.certain, one.key) for one in found] == [
        ("heap block", False, f"+{16 + 16 * DEBUG:#x}"),  # a debug allocator puts two words before the struct
        ("heap block", False, f"+{24 + 16 * DEBUG:#x}"),
    ]
    assert (found.references, found.native, found.unstored) == (2, 2, 0)
    hidden.release(subject.get(), 2)
    assert owners(subject, scan=True).owners == ()


def behind_a_list(address: int) -> object:
    """A list that once held what was at the address: the room behind its length remembers."""
    items = [None] * 1000
    del items[600:]
    at = int.from_bytes(_native.read(id(items) + 24, 8), "little") + 8 * 700
    ctypes.c_uint64.from_address(at).value = address
    return items


def in_numbers(address: int) -> object:
    return numpy.array([address] * 3, "u8")


def in_a_set(address: int) -> object:
    return {address}  # an int is its own hash


def seen(address: int) -> object:
    return memoryview((ctypes.c_char * 48).from_address(address))


def behind_a_text(address: int) -> object:
    """A short text whose block had something else in it before: the allocator gives 16 bytes at a time."""
    texts = ("".join(map(str, range(length))) for length in range(2, 10))
    ends = ((text, -(-sys.getsizeof(text) // 8) * 8) for text in texts)
    text, end = next((text, end) for text, end in ends if end % 16 and end < str.__basicsize__)
    if not DEBUG:  # which keeps a mark there
        ctypes.c_uint64.from_address(id(text) + end).value = address
    return text


def behind_a_date(address: int) -> object:
    """The same of an object that may hold something, for all the collector knows."""
    date = datetime.timedelta(1, 2, 3)
    end = datetime.timedelta.__basicsize__
    if not DEBUG and end % 16:
        ctypes.c_uint64.from_address(id(date) + end).value = address
    return date


@pytest.mark.parametrize(
    "remembered",
    [behind_a_list, in_numbers, in_a_set, itertools.count, seen, behind_a_text, behind_a_date],
)
def test_a_block_is_not_of_the_container_that_merely_names_its_address(
    hidden: ModuleType, remembered: Callable[[int], object]
) -> None:
    """The address is left over, or a number, or looked at: who keeps the block would say so by its layout."""
    subject = unnamed.boxed()
    hidden.in_struct(subject.get(), 2)
    kept = remembered(hidden.where())
    found = owners(subject, scan=True)
    assert [(one.kind, one.certain) for one in found] == [("heap block", False)] * 2
    assert (found.references, found.native, found.unstored) == (2, 2, 0)
    del kept
    hidden.release(subject.get(), 2)
    assert owners(subject, scan=True).owners == ()


def test_a_block_where_a_dead_table_of_a_dict_was_holds_what_it_holds(hidden: ModuleType) -> None:
    """The collector empties the interpreter's list of tables for reuse, and their addresses stay behind."""
    subject = unnamed.boxed()
    tables = [{"a": 1, "b": number} for number in range(400)]
    del tables
    gc.collect()
    hidden.in_tables(subject.get(), 160)
    found = owners(subject, scan=True)
    assert (found.references, found.named, found.native, found.unstored) == (160, 0, 160, 0)
    hidden.in_tables(subject.get(), 0)
    hidden.release(subject.get(), 160)
    assert owners(subject, scan=True).references == 0


def test_the_stack_of_a_suspended_generator_owns_what_the_refcount_says() -> None:
    """Up to 3.13 the stack has a reference of its own; from 3.14 on it may borrow that of the variable."""

    def waiting(given: object) -> Iterator[list[object]]:
        yield [given, (yield)]

    subject, kept = boxed(lambda x: waiting(x))
    next(kept)
    found = owners(subject, scan=True)
    assert {one.kind for one in certain(found)} == {"generator local"}
    assert found.named == found.references >= 1 and found.unstored == 0
    assert "given" in {one.key for one in found}
    kept.close()
    assert owners(subject, scan=True).references == 0


def test_dead_tables_of_dicts_hold_nothing() -> None:
    """CPython keeps them for reuse, in a list or in a chain, with the keys and values they had."""
    subject = unnamed.boxed()
    for _ in range(3):
        tables = [{"k": subject.get(), subject.get(): 1} for _ in range(200)]
        del tables
        found = owners(subject, scan=True)
        stored = [one for one in found if one.kind != "stack"]  # where 3.14 remembers what it computed last
        assert (found.references, found.named, stored) == (0, 0, [])


def test_what_ended_threads_left_behind_stores_no_reference(hidden: ModuleType) -> None:
    subject = unnamed.boxed()
    thing = subject.get()
    threads = [threading.Thread(target=sorted, args=([thing] * 300,), kwargs={"key": id}) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    del threads, thread, thing
    hidden.nowhere(subject.get(), 7)
    found = owners(subject, scan=True)
    assert (found.references, found.named, found.native, found.unstored) == (7, 0, 0, 7)
    hidden.release(subject.get(), 7)


# --- without a search -----------------------------------------------------------------------------


@pytest.mark.quick
def test_the_default_names_what_is_near_and_counts_the_rest() -> None:
    thing = Thing()
    near, far = [thing], [[[[thing]]]]
    subject = _native.Subject(thing)
    found = owners(subject)
    assert {(one.kind, one.key) for one in found} == {("local", "thing"), ("item", "[0]")}
    assert (found.references, found.named, found.unnamed) == (3, 2, 1)
    assert isinstance(found.native, Unknown) and isinstance(found.scan, Unknown)
    assert found.searchable_bytes > 1 << 20
    assert near and far


def test_the_default_does_not_depend_on_the_size_of_containers() -> None:
    def cost(container: list[object]) -> float:
        subject = _native.Subject(container)
        times = []
        for _ in range(9):
            start = time.perf_counter()
            owners(subject)
            times.append(time.perf_counter() - start)
        return min(times)

    small, large = [None] * 1000, [None] * 5_000_000
    assert cost(large) < 3 * cost(small) + 1e-3


@pytest.mark.quick
def test_immortal_objects_have_holders_and_no_gap() -> None:
    found = refs(_native.Subject(None), scan=True)
    if sys.version_info >= (3, 12):
        assert found.references is Immortal
        assert isinstance(found.owners.native, Unknown)
    assert found.owners.named > 100


def test_weak_references_are_counted_apart() -> None:
    thing = Thing()
    subject = _native.Subject(thing)
    assert refs(subject).weakrefs == 0
    kept = [weakref.ref(thing), weakref.proxy(thing)]
    assert refs(subject).weakrefs == 2 and refs(subject).references == 1
    assert isinstance(refs(_native.Subject(3)).weakrefs, Unknown)
    assert len(kept) == 2


# --- nothing is disturbed, nothing leaks, nothing of the user's runs --------------------------------


@pytest.mark.parametrize("name", ["GetattributeBase", "EqRaises", "MetaEvil"])
def test_no_code_of_the_users_runs(name: str) -> None:
    kind = getattr(bad_objects, name)
    evil = object.__new__(kind)
    object.__setattr__(evil, "myself", evil)
    kept = [evil, {"k": evil}, (evil,)]
    bad_objects.reset()
    for scan in (False, True):
        found = refs(_native.Subject(evil), scan=scan)
        assert found.references == 5 and (found.owners.named == 5 or not scan)
    refs(_native.Subject(kind), scan=True)
    assert not bad_objects.CALLS, kept


@pytest.mark.parametrize(("scan", "rounds"), [(False, 1000), (True, 30)])
def test_looking_leaks_nothing(scan: bool, rounds: int) -> None:
    thing = Thing()
    kept = [[thing], {"k": thing}, in_attribute(thing), in_closure(thing)]
    subject = _native.Subject(thing)
    for _ in range(3):
        refs(subject, scan=scan)
    gc.collect()
    before, count = sys.getallocatedblocks(), subject.refcount()
    for _ in range(rounds):
        refs(subject, scan=scan)
    gc.collect()
    assert sys.getallocatedblocks() - before < 20
    assert subject.refcount() == count
    assert len(kept) == 4


# --- while others work ----------------------------------------------------------------------------


def test_other_threads_may_change_everything_meanwhile() -> None:
    """Four threads allocate, free and mutate; no crash, and nobody's owner is invented."""
    stop = threading.Event()

    def churn(seed: int) -> None:
        kept: list[Any] = []
        number = seed
        while not stop.is_set():
            number = (number * 1103515245 + 12345) & 0x7FFFFFFF
            kept.append([Thing(), {"k": number}, (number,), "x" * (number % 2000)])
            if len(kept) > 500:
                del kept[:: 1 + number % 5]

    subject, kept = boxed(lambda x: [x])
    threads = [threading.Thread(target=churn, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(rounds(25, 1000)):
            found = owners(subject, scan=True)
            assert [(one.kind, one.key) for one in certain(found)] == [("item", "[0]")]
            assert found.references == 1
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert kept


def test_a_heap_that_the_kernel_cut_is_walked_whole() -> None:
    """NumPy asks for huge pages inside malloc's heap; the advised part becomes a mapping of its own."""
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    libc.free.argtypes = [ctypes.c_void_p]
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    size, page, hugepage = 20 << 20, 4096, 14
    libc.free(libc.malloc(size + page))  # from now on such blocks come from the heap
    block = libc.malloc(size)
    assert libc.madvise((block + page) & -page, size - 2 * page, hugepage) == 0
    subject, _rows = boxed(lambda x: [*[None] * 77_777, x])
    found = owners(subject, scan=True)
    libc.free(block)
    assert [(one.kind, one.key) for one in certain(found)] == [("item", "[77777]")]


UNDER_ALLOCATOR = """
from inspector._native import Subject
from inspector.objects.probes.refs import owners
class Thing: pass
class Plain: pass
thing = Thing()
holder = Plain(); holder.kept = thing
listed, long, table, pair = [thing], [0] * 5000 + [thing], {"k": thing}, (thing,)
subject = Subject(thing); del thing
found = owners(subject, scan=True)
true = {("attribute", ".kept"), ("item", "[0]"), ("item", "[5000]"), ("item", "['k']")}
for one in found:
    assert not one.certain or (one.kind, one.key) in true, one
assert found.references == 5 and found.named <= 5
print(found.named, found.native, found.unstored)
"""


@pytest.mark.parametrize("allocator", ["malloc", "malloc_debug", "pymalloc_debug", "debug"])
def test_owners_stay_honest_under_other_allocators(allocator: str) -> None:
    assert programs.python(UNDER_ALLOCATOR, PYTHONMALLOC=allocator).split()[0] == "5"


def test_a_secret_is_not_told_as_the_key_of_its_holder() -> None:
    token = "hunter2-in-plain-text"
    sessions = {token: 1, ("other", token): 2}
    assert sessions
    for scan in (False, True):
        report = inspector.inspect(token, scan=scan, also=("chain",))
        assert "key <masked>" in {one.key for one in report.refs.owners}
        assert "hunter2" not in str(report.drawn(everything=True)) + report.to_json()
    told = inspector.inspect(token, scan=True, reveal=True).refs.owners
    assert any(one.key.startswith("key 'hunter2") for one in told)
