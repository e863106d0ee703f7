"""Objects that raise, lie, hang, act or flood when they are looked at: `CASES[name]()` makes one.

The first 28 are the cases on which every rendering inspector we tried broke somewhere; the rest are what
users and extensions do besides. Each user-defined method that runs is counted in `CALLS`: after a look the
counter must be empty, and so must `SIDE_EFFECTS`. What cannot be made is made by `CASES[name]()` raising
`NotHere`.
"""

# SPDX-License-Identifier: MIT
import collections
import ctypes
import enum
import sys
import time
import types
import weakref
from collections.abc import Callable
from typing import Any

import pytest

CALLS: collections.Counter[str] = collections.Counter()
"""Method name -> how often user code ran."""
SIDE_EFFECTS: list[str] = []
KEPT: list[object] = []
"""What must live as long as the specimens do."""
SECRET = "hunter2-SECRET"
"""A value that no default drawing may contain."""


class NotHere(Exception):
    """This Python cannot make the object."""


def hit(name: str) -> None:
    CALLS[name] += 1


def reset() -> None:
    CALLS.clear()
    SIDE_EFFECTS.clear()


def raises(name: str, error: type[Exception] = RuntimeError) -> Any:
    """A method that counts itself, then raises."""

    def method(*args, **options):
        hit(name)
        raise error(name + " evil")

    return method


def gives(name: str, value: Any) -> Any:
    """A method that counts itself, then gives a value."""

    def method(*args, **options):
        hit(name)
        return value

    return method


def evil(kind: str, *methods: str, base: type = object, **more: Any) -> Any:
    """A class each of whose `methods` raises."""
    return type(kind, (base,), {**{name: raises(name) for name in methods}, **more})


def sleeps(self):
    hit("__repr__")
    time.sleep(1000)


# --- the 28 ------------------------------------------------------------------------------------

GetattrRaises = evil("GetattrRaises", "__getattr__")
GetattributeBase = evil("GetattributeBase", __getattribute__=raises("__getattribute__", ValueError))
ReprRaises = evil("ReprRaises", "__repr__")
ReprHang = evil("ReprHang", __repr__=sleeps)
ReprNonStr = evil("ReprNonStr", __repr__=gives("__repr__", 7))
ClassLies = evil("ClassLies", __class__=property(gives("__class__", int)))
DirRaises = evil("DirRaises", "__dir__")
LenNeg = evil("LenNeg", __len__=gives("__len__", -5))
EqRaises = evil("EqRaises", "__eq__", __hash__=None)
SizeofLies = evil("SizeofLies", "__sizeof__")
RichProto = evil("RichProto", "__rich__", "__rich_repr__", "_repr_html_")


class GetattrAnything:
    def __getattr__(self, name):
        hit("__getattr__")
        return self


class ReprHuge:
    def __repr__(self):
        hit("__repr__")
        return "x" * 50_000_000


class DirHuge:
    __getattr__ = gives("__getattr__", 1)

    def __dir__(self):
        hit("__dir__")
        return [f"a{i}" for i in range(1_000_000)]


class PropSide:
    @property
    def delete_everything(self):
        hit("property")
        SIDE_EFFECTS.append("deleted")
        return 1


class Lazy:
    data = None

    def _materialize(self):
        SIDE_EFFECTS.append("materialized")
        self.data = b"1"

    def __repr__(self):
        hit("__repr__")
        self._materialize()
        return "Lazy"

    def __array__(self, *args, **options):
        hit("__array__")
        self._materialize()

    def __len__(self):
        hit("__len__")
        self._materialize()
        return 1

    @property
    def values(self):
        hit("property")
        self._materialize()


class BoolRaises:
    __bool__, __hash__ = raises("__bool__"), raises("__hash__")

    def __eq__(self, other):
        hit("__eq__")
        return self


class Meta(type):
    __instancecheck__, __repr__ = raises("__instancecheck__"), raises("meta.__repr__")

    def __getattribute__(cls, name):
        if name in ("__name__", "__mro__", "__qualname__", "__module__", "__dict__", "__flags__"):
            hit("meta." + name)
            raise RuntimeError("meta " + name)
        return type.__getattribute__(cls, name)

    def __eq__(cls, other):
        hit("meta.__eq__")
        return cls is other

    def __hash__(cls):
        hit("meta.__hash__")
        return 1


class MetaEvil(metaclass=Meta):
    pass


class Secret:
    def __init__(self):
        self.password = SECRET
        self.api_key = SECRET


class Slots:
    __slots__ = ("a", "b")


class Resurrect:
    def __del__(self):
        hit("__del__")
        KEPT.append(self)


def cyclic():
    loop = []
    loop.append(loop)
    return loop


def deep_nest():
    nest = []
    for _ in range(100_000):
        nest = [nest]
    return nest


def recursive_dict():
    loop = {}
    loop["d"] = loop
    loop[1] = [loop] * 3
    return loop


def released_memoryview():
    view = memoryview(b"abc")
    view.release()
    return view


def slots_half_set():
    slotted = Slots()
    slotted.a = 1
    return slotted


# --- more liars --------------------------------------------------------------------------------

IntEvil = evil("IntEvil", "__index__", "__int__", "__repr__", "__format__", base=int)
ListEvil = evil("ListEvil", "__iter__", "__getitem__", "__len__", base=list)
DictEvil = evil("DictEvil", "items", "__getitem__", "__iter__", "keys", "values", base=dict)
TupleEvil = evil("TupleEvil", "__iter__", base=tuple, __len__=gives("__len__", -1))
ErrorEvil = evil("ErrorEvil", "__str__", "__repr__", base=Exception)
ModuleEvil = evil("ModuleEvil", "__getattribute__", base=types.ModuleType)
Finalized = evil("Finalized", __del__=gives("__del__", None))  # a look must not be what kills it
Descriptor = evil("Descriptor", "__get__", __set_name__=lambda self, owner, name: None)


class GetattrEndless:
    def __getattr__(self, name):
        hit("__getattr__")
        while True:
            time.sleep(1)


class ClassPretendsDict:
    __class__ = dict
    __getitem__ = raises("__getitem__")

    def __iter__(self):
        hit("__iter__")
        while True:
            yield self


PROTOCOLS = ("__array__", "__dlpack__", "__dlpack_device__", "__arrow_c_array__", "__buffer__")
ASKED = ("__array_interface__", "__array_struct__", "__cuda_array_interface__")
Protocols = evil("Protocols", *PROTOCOLS, **{name: property(raises(name)) for name in ASKED})


class Proxy:
    """Forwards everything to something that is not there, as lazy import proxies do."""

    __slots__ = ("__weakref__",)
    __getattribute__ = raises("__getattribute__", ImportError)
    __setattr__ = raises("__setattr__", ImportError)
    __class__ = property(lambda self: hit("__class__"))
    __dict__ = property(lambda self: hit("__dict__"))
    __doc__ = property(lambda self: hit("__doc__"))


class StrEvil(str):
    """Counts as a dict key too: CPython must be able to build the dict, so it does not raise there."""

    def __eq__(self, other):
        hit("__eq__")
        return str.__eq__(self, other)

    def __hash__(self):
        hit("__hash__")
        return str.__hash__(self)

    def __str__(self):
        hit("__str__")
        return "\x1b[31m"

    __repr__ = __str__

    def __len__(self):
        hit("__len__")
        return 10**9


class SubclassEvil(type):
    """A metaclass that answers for its classes: no, and with noise."""

    __subclasscheck__, __len__ = raises("__subclasscheck__"), raises("meta.__len__")
    __bool__, __eq__ = raises("meta.__bool__"), raises("meta.__eq__")
    __hash__, __name__ = gives("meta.__hash__", 1), property(raises("meta.__name__"))

    def mro(cls):
        return type.mro(cls)


class InitUnfinished:
    """Captured in the middle of its own __init__."""

    def __init__(self):
        self.ready = False
        KEPT.append(self)
        raise RuntimeError("never finished")

    def __repr__(self):
        hit("__repr__")
        return self.name


# --- makers ------------------------------------------------------------------------------------


def unfilled(function: str, size: int) -> Any:
    """A tuple or list whose slots are all NULL, as C has it between PyTuple_New and PyTuple_SET_ITEM."""
    return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_ssize_t)((function, ctypes.pythonapi))(size)


def wrong_basicsize(size: int) -> Any:
    class Wrong:
        __slots__ = ()  # no dict: CPython's own gc would look for it by the wrong size

    wrong = Wrong()
    KEPT.append(wrong)  # never freed: the wrong size must not reach the allocator
    set_basicsize(Wrong, size)
    return wrong


def set_basicsize(cls: type, size: int) -> None:
    ctypes.c_ssize_t.from_address(id(cls) + 4 * ctypes.sizeof(ctypes.c_void_p)).value = size


def wrong_itemsize():
    class Wrong(tuple):
        __slots__ = ()  # as above

    wrong = Wrong((1, 2))
    KEPT.append(wrong)
    ctypes.c_ssize_t.from_address(id(Wrong) + 5 * ctypes.sizeof(ctypes.c_void_p)).value = -(1 << 62)
    return wrong


def init_unfinished():
    try:
        InitUnfinished()
    except RuntimeError:
        return KEPT.pop()
    raise NotHere


def live_proxy():
    target = GetattributeBase()
    KEPT.append(target)
    return weakref.proxy(target)


def odd_namespace_type():
    """A type whose dict has a key that is no exact str, beside one with the same hash."""
    return type("Odd", (), {StrEvil("__module__"): 5, StrEvil("__doc__"): 1, "plain": Descriptor()})


def odd_names():
    class Odd:
        __doc__ = Descriptor()

    Odd.__module__ = 5
    Odd.__qualname__ = "\x1b]0;owned\x07\u202e" * 40
    return Odd()


def no_module_name():
    module = types.ModuleType("gone")
    module.__dict__.clear()
    return module


def wide_instance():
    wide = types.SimpleNamespace()
    wide.__dict__.update({f"name{i}": i for i in range(100_000)})
    return wide


def function_with_evil_name():
    def function():
        """Nothing."""

    function.__name__ = StrEvil("evil")
    return function


def running_generator():
    def count():
        yield ErrorEvil()

    generator = count()
    next(generator)
    return generator


def closed_file():
    with open(__file__) as file:
        return file


def removed_set():
    numbers = set(range(100_000))
    for i in range(1, 100_000):
        numbers.discard(i)
    return numbers


def by_name(*kinds: type) -> dict[str, Callable[[], object]]:
    return {kind.__name__: kind for kind in kinds}


CASES: dict[str, Callable[[], object]] = {
    **by_name(
        *(GetattrRaises, GetattrAnything, GetattributeBase, ReprRaises, ReprHuge, ReprHang, ReprNonStr),
        *(ClassLies, DirRaises, DirHuge, PropSide, Lazy, LenNeg, EqRaises, BoolRaises, SizeofLies),
    ),
    "MetaEvil": MetaEvil,
    "Secret": Secret,
    "Slots": slots_half_set,
    "Resurrect": Resurrect,
    "RichProto": RichProto,
    "Cyclic": cyclic,
    "DeepNest": deep_nest,
    "Surrogate": lambda: "\udc80" * 10 + "\x1b[31m\x1b]0;owned\x07",
    "WeakrefDead": lambda: weakref.proxy(ReprRaises()),
    "RecursiveDict": recursive_dict,
    "BigInt": lambda: 10**200_000,
    "ReleasedMV": released_memoryview,
    # beyond the 28
    **by_name(GetattrEndless, ClassPretendsDict, Protocols, Proxy),
    "StrEvil": lambda: StrEvil("evil"),
    "IntEvil": lambda: IntEvil(7),
    "ListEvil": lambda: ListEvil([1, 2]),
    "DictEvil": lambda: DictEvil(password=SECRET),
    "TupleEvil": lambda: TupleEvil((1, 2)),
    "ErrorEvil": lambda: ErrorEvil("evil"),
    "MetaEvilType": lambda: MetaEvil,
    "SubclassEvilType": lambda: SubclassEvil("Loud", (), {}),
    "SubclassEvil": lambda: SubclassEvil("Loud", (), {})(),
    "ModuleEvil": lambda: ModuleEvil("evil"),
    "NoModuleName": no_module_name,
    "Finalized": Finalized,
    "InitUnfinished": init_unfinished,
    "HalfTuple": lambda: unfilled("PyTuple_New", 3),
    "HalfList": lambda: unfilled("PyList_New", 3),
    "NestedHalfTuple": lambda: [unfilled("PyTuple_New", 2), {"password": SECRET}],
    "BasicsizeTooSmall": lambda: wrong_basicsize(3),
    "BasicsizeNegative": lambda: wrong_basicsize(-64),
    "BasicsizeHuge": lambda: wrong_basicsize((1 << 62) + 16),
    "ItemsizeNegative": wrong_itemsize,
    "DeadWeakref": lambda: weakref.ref(GetattrRaises()),
    "LiveProxy": live_proxy,
    "OddNamespaceType": odd_namespace_type,
    "OddNames": odd_names,
    "EvilKeys": lambda: {StrEvil("password"): 1, StrEvil("b"): EqRaises(), 1: StrEvil("c")},
    "WideInstance": wide_instance,
    "FunctionName": function_with_evil_name,
    "RunningGenerator": running_generator,
    "ClosedFile": closed_file,
    "RemovedSet": removed_set,
    "EmptyCell": types.CellType,
    "NullPointer": ctypes.c_void_p,
    "MappingProxy": lambda: types.MappingProxyType(DictEvil(a=1)),
    "BoundMethod": lambda: LenNeg().__len__,
    "DeepTuple": lambda: ((((((SECRET,),),),),),),
    "Enum": lambda: enum.Enum("Colour", {"RED": StrEvil("red")}).RED,
    "SecretDict": lambda: {"user": "ann", "password": SECRET, "nested": {"api_key": SECRET}},
    "SecretPairs": lambda: [("token", SECRET), ("Authorization", SECRET)],
    "HugeStr": lambda: "é" * 50_000_000,
    "HugeBytes": lambda: bytes(50_000_000),
    "Frame": sys._getframe,
}
"""Name -> maker. The first 28 are those of the measured comparison."""

CLASSIC = tuple(CASES)[:28]


class Box:
    """Holds an object where pytest does not look: its own reports die of some of them."""

    __slots__ = ("object",)


def boxed(case: str) -> Any:
    """A bad object in its box; skips the test where it cannot be made."""
    box: Any = Box()
    try:
        box.object = CASES[case]()
    except NotHere as reason:
        pytest.skip(f"cannot be made here: {reason}")
    return box
