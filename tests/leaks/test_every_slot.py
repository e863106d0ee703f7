"""Each slot by which Python calls C is watched: what macros alone lose in it, the first call tells."""

# SPDX-License-Identifier: MIT
import operator
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import specimens

import inspector

pytestmark = pytest.mark.core
OPERATORS = (
    "add", "subtract", "multiply", "remainder", "divmod", "lshift", "rshift", "and", "xor", "or",
    "floor_divide", "true_divide", "matrix_multiply",
)  # fmt: skip
UNARY = ("negative", "positive", "absolute", "invert")
HEAD = """
#include <Python.h>
#include <structmember.h>
#define LOSE(x) do { volatile PyObject *lost = (PyObject *)(x); Py_INCREF((PyObject *)lost); } while (0)
"""
SLOTS = HEAD + "\n".join(
    [
        *(
            f"static PyObject *b_{name}(PyObject *a, PyObject *b)"
            " { LOSE(PyLong_CheckExact(b) ? a : b); Py_RETURN_NONE; }"
            for name in OPERATORS
        ),
        *(f"static PyObject *u_{name}(PyObject *a) {{ LOSE(a); Py_RETURN_NONE; }}" for name in UNARY),
        r"""
static PyObject *b_power(PyObject *a, PyObject *b, PyObject *c) { LOSE(b); Py_RETURN_NONE; }
static int u_bool(PyObject *a) { LOSE(a); return 1; }
static Py_ssize_t length(PyObject *a) { LOSE(a); return 3; }
static int put(PyObject *a, Py_ssize_t i, PyObject *value) { LOSE(value ? value : a); return 0; }
static Py_hash_t hash(PyObject *a) { LOSE(a); return 77; }
static PyObject *get(PyObject *a, PyObject *name) { LOSE(a); return PyObject_GenericGetAttr(a, name); }
static int set(PyObject *a, PyObject *name, PyObject *value) { LOSE(value ? value : a); return 0; }
static PyObject *descr_get(PyObject *a, PyObject *object, PyObject *type) { LOSE(a); Py_RETURN_NONE; }
static PyObject *await_it(PyObject *a) { LOSE(a); return PyObject_GetIter(Py_None); }
static PyObject *new_one(PyTypeObject *type, PyObject *args, PyObject *names) {
    LOSE(PyTuple_GET_SIZE(args) ? PyTuple_GET_ITEM(args, 0) : Py_None);
    return type->tp_alloc(type, 0);
}
static int getbuffer(PyObject *a, Py_buffer *view, int flags) {
    LOSE(a);
    return PyBuffer_FillInfo(view, a, "bytes", 5, 1, flags);
}
static PyObject *next(PyObject *a) { return NULL; }
static PySendResult send(PyObject *a, PyObject *value, PyObject **result) {
    LOSE(a);
    *result = Py_NewRef(value);
    return PYGEN_RETURN;
}""",
        "static PyType_Slot slots[] = {",
        *(f"{{Py_nb_{name}, b_{name}}}, " for name in (*OPERATORS, "power")),
        *(f"{{Py_nb_{name}, u_{name}}}, " for name in (*UNARY, "bool")),
        r"""{Py_sq_length, length}, {Py_mp_length, length}, {Py_sq_ass_item, put}, {Py_tp_hash, hash},
    {Py_tp_new, new_one}, {Py_am_await, await_it}, {Py_am_send, send}, {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, next}, {Py_bf_getbuffer, getbuffer}, {0}};
static PyType_Slot asked[] = {{Py_tp_getattro, get}, {Py_tp_setattro, set}, {Py_tp_descr_get, descr_get},
    {Py_tp_descr_set, set}, {0}};
enum { FLAGS = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE };
static PyType_Spec Made_type = {"slots.Made", sizeof(PyObject), 0, FLAGS, slots};
static PyType_Spec Asked_type = {"slots.Asked", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT, asked};
static PyObject *nothing(PyObject *self, PyObject *unused) { Py_RETURN_NONE; }
""",
    ]
)
BINARY = (
    "add", "sub", "mul", "mod", "lshift", "rshift", "and_", "xor", "or_", "floordiv", "truediv",
    "matmul", "pow",
)  # fmt: skip


def _late(module: Any) -> Any:
    class Late(module.Made):  # type: ignore[misc, name-defined]
        pass

    return Late() - []


def _by_super(module: Any) -> Any:
    class Late(module.Made):  # type: ignore[misc, name-defined]
        def __sub__(self, other: Any) -> Any:
            return super().__sub__(other)

    return Late() - []


def _of_class(module: Any) -> Any:
    return type("Holder", (), {"field": module.Asked()})


def _put(module: Any) -> None:
    module.Made()[1] = []


def _awaited(module: Any) -> None:
    async def wait() -> None:
        await module.Made()

    with pytest.raises(TypeError):
        wait().send(None)


def _delegated(module: Any) -> None:
    def all_of() -> Any:
        yield from module.Made()

    with pytest.raises(StopIteration):
        all_of().send(None)


def _is_sent(one: Any) -> bool:
    """Whether `yield from` calls am_send, which loses a reference."""
    before = sys.getrefcount(one)
    with pytest.raises(StopIteration):
        (lambda: (yield from one))().send(None)
    return sys.getrefcount(one) > before


CALLS: dict[str, Callable[[Any], Any]] = {
    **{name: lambda m, f=getattr(operator, name): f(m.Made(), []) for name in BINARY},
    "divmod": lambda m: divmod(m.Made(), []),
    "reflected": lambda m: 3 + m.Made(),
    "neg": lambda m: -m.Made(),
    "pos": lambda m: +m.Made(),
    "abs": lambda m: abs(m.Made()),
    "invert": lambda m: ~m.Made(),
    "bool": lambda m: bool(m.Made()),
    "len": lambda m: len(m.Made()),
    "hash": lambda m: hash(m.Made()),
    "item": _put,
    "await": _awaited,
    "send": _delegated,
    "buffer": lambda m: bytes(m.Made()),
    "new": lambda m: m.Made([]),
    "subclass made meanwhile": _late,
    "by its descriptor": lambda m: m.Made.__add__(m.Made(), []),
    "by super": _by_super,
    "attribute": lambda m: m.Asked().__class__,
    "attribute set": lambda m: setattr(m.Asked(), "x", []),
    "descriptor": lambda m: _of_class(m)().field,
    "descriptor set": lambda m: setattr(_of_class(m)(), "field", []),
}


@pytest.fixture(scope="module")
def slots() -> ModuleType:
    return specimens.build("slots", SLOTS)


@pytest.mark.parametrize("way", CALLS)
def test_a_loss_by_macro_is_certain_on_the_first_call(slots: Any, way: str) -> None:
    if way == "send" and not _is_sent(slots.Made()):
        pytest.skip("not on CPython 3.12 to 3.14: `yield from` takes tp_iternext where None is sent")
    with inspector.leaks("slots") as found:
        slots.nothing()
        CALLS[way](slots)
    assert {one.kind for one in found.certain} == {"leaked"}, found.report.to_text()
    assert all(one.method.startswith("slots.") for one in found.certain)


TWINS = r"""
#include <Python.h>
static int calls;
static PyObject *add(PyObject *a, PyObject *b) { // as Cython's and NumPy's: is an operand's this one?
    PyNumberMethods *of_a = Py_TYPE(a)->tp_as_number, *of_b = Py_TYPE(b)->tp_as_number;
    calls++;
    if (PyList_CheckExact(a) || PyList_CheckExact(b)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    return Py_BuildValue("(ii)", of_a && of_a->nb_add == add, of_b && of_b->nb_add == add);
}
static int set(PyObject *a, PyObject *name, PyObject *value) {
    return PyObject_GenericSetAttr(a, name, value);
}
static PyObject *new_one(PyTypeObject *type, PyObject *args, PyObject *names) {
    return type->tp_alloc(type, 0);
}
static PyType_Slot slots[] = {{Py_nb_add, add}, {Py_tp_setattro, set}, {Py_tp_new, new_one}, {0}};
enum { FLAGS = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE };
static PyType_Spec One_type = {"twins.One", sizeof(PyObject), 0, FLAGS, slots};
static PyType_Spec Two_type = {"twins.Two", sizeof(PyObject), 0, FLAGS, slots};
static PyNumberMethods numbers = {.nb_add = add};
static PyTypeObject Still_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "twins.Still", .tp_basicsize = sizeof(PyObject),
    .tp_flags = FLAGS, .tp_as_number = &numbers, .tp_new = new_one, .tp_setattro = set};
static PyObject *count(PyObject *self, PyObject *unused) {
    int before = calls;
    calls = 0;
    return PyLong_FromLong(before);
}
"""


def _tried(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except (TypeError, AttributeError) as error:
        return str(error)


def _battery(m: Any, sub: type) -> list[Any]:
    class Late(m.One):  # type: ignore[misc, name-defined]
        pass

    class Own(m.Still):  # type: ignore[misc, name-defined]
        def __new__(cls) -> Any:
            return super().__new__(cls)

        def __setattr__(self, name: str, value: object) -> None:
            super().__setattr__(name, value)

    m.count()
    kinds: list[Any] = [m.One, m.Two, m.Still, sub, Late, Own]
    sums = [
        (_tried(lambda a=a, b=b: a() + b()), m.count())
        for a in (*kinds, list, int)
        for b in (*kinds, list, int)
    ]
    others: list[Callable[[Any], Any]] = [
        lambda kind: setattr(kind(), "x", 1),
        lambda kind: object.__setattr__(kind(), "x", 1),
        lambda kind: m.One.__setattr__(kind(), "x", 1),
        lambda kind: m.Still.__setattr__(kind(), "x", 1),
        lambda kind: type(object.__new__(kind)).__name__,
        lambda kind: type(m.One.__new__(kind)).__name__,
        lambda kind: type(m.Still.__new__(kind)).__name__,
        lambda kind: kind.__radd__(kind(), kind()),
    ]
    told = [_tried(lambda one=one, kind=kind: one(kind)) for one in others for kind in kinds]
    Late.__add__ = lambda a, b: "set"  # type: ignore[attr-defined]
    told.append(Late() + 1)
    del Late.__add__  # type: ignore[attr-defined]
    return [*sums, *told, _tried(lambda: Late() + Late()), m.count()]


def test_what_compares_slots_finds_what_it_found() -> None:
    module: Any = specimens.build("twins", TWINS)
    sub = type("Sub", (module.One,), {})
    bare = _battery(module, sub)
    assert ((1, 1), 1) in bare and ((0, 1), 1) in bare
    for _ in range(2):
        with inspector.leaks("twins") as found:
            held = _battery(module, sub)
        assert held == bare and not list(found)
    assert _battery(module, sub) == bare
