"""Objects that raise, lie, hang, act or flood when they are looked at: `CASES[name]()` makes one.

The first 28 are the cases on which every rendering inspector we tried broke somewhere; the rest are what
users and extensions do besides. Each user-defined method that runs is counted in `CALLS`: after a look the
counter must be empty, and so must `SIDE_EFFECTS`. What cannot be made is made by `CASES[name]()` raising
`NotHere`.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import collections
import ctypes
import enum
import sys
import time
import types
import weakref
from collections.abc import Callable
from typing import Any

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


# --- the 28 ------------------------------------------------------------------------------------


class GetattrRaises:
    def __getattr__(self, name):
        hit("__getattr__")
        raise RuntimeError("evil " + name)


class GetattrAnything:
    def __getattr__(self, name):
        hit("__getattr__")
        return self


class GetattributeBase:
    def __getattribute__(self, name):
        hit("__getattribute__")
        raise ValueError("evil")


class ReprRaises:
    def __repr__(self):
        hit("__repr__")
        raise RuntimeError("repr evil")


class ReprHuge:
    def __repr__(self):
        hit("__repr__")
        return "x" * 50_000_000


class ReprHang:
    def __repr__(self):
        hit("__repr__")
        time.sleep(1000)


class ReprNonStr:
    def __repr__(self):
        hit("__repr__")
        return 7


class ClassLies:
    @property
    def __class__(self):
        hit("__class__")
        return int


class DirRaises:
    def __dir__(self):
        hit("__dir__")
        raise RuntimeError("dir evil")


class DirHuge:
    def __dir__(self):
        hit("__dir__")
        return [f"a{i}" for i in range(1_000_000)]

    def __getattr__(self, name):
        hit("__getattr__")
        return 1


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


class LenNeg:
    def __len__(self):
        hit("__len__")
        return -5


class EqRaises:
    __hash__ = None

    def __eq__(self, other):
        hit("__eq__")
        raise RuntimeError("eq evil")


class BoolRaises:
    def __bool__(self):
        hit("__bool__")
        raise RuntimeError("bool evil")

    def __eq__(self, other):
        hit("__eq__")
        return self

    def __hash__(self):
        hit("__hash__")
        raise RuntimeError("hash evil")


class SizeofLies:
    def __sizeof__(self):
        hit("__sizeof__")
        raise RuntimeError("sizeof evil")


class Meta(type):
    def __instancecheck__(cls, other):
        hit("__instancecheck__")
        raise RuntimeError("meta evil")

    def __getattribute__(cls, name):
        if name in ("__name__", "__mro__", "__qualname__", "__module__", "__dict__", "__flags__"):
            hit("meta." + name)
            raise RuntimeError("meta " + name)
        return type.__getattribute__(cls, name)

    def __repr__(cls):
        hit("meta.__repr__")
        raise RuntimeError("meta repr")


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


class RichProto:
    def __rich__(self):
        hit("__rich__")
        raise RuntimeError("rich evil")

    def __rich_repr__(self):
        hit("__rich_repr__")
        raise RuntimeError("rich evil")

    def _repr_html_(self):
        hit("_repr_html_")
        raise RuntimeError("html evil")


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


class GetattrEndless:
    def __getattr__(self, name):
        hit("__getattr__")
        while True:
            time.sleep(1)


class ClassPretendsDict:
    __class__ = dict

    def __getitem__(self, key):
        hit("__getitem__")
        raise RuntimeError("item evil")

    def __iter__(self):
        hit("__iter__")
        while True:
            yield self


class Protocols:
    """Claims every protocol of arrays and buffers, and raises in each."""

    def __array__(self, *args, **options):
        hit("__array__")
        raise RuntimeError("array evil")

    def __dlpack__(self, **options):
        hit("__dlpack__")
        raise RuntimeError("dlpack evil")

    def __dlpack_device__(self):
        hit("__dlpack_device__")
        raise RuntimeError("device evil")

    def __arrow_c_array__(self, schema=None):
        hit("__arrow_c_array__")
        raise RuntimeError("arrow evil")

    def __buffer__(self, flags):
        hit("__buffer__")
        raise RuntimeError("buffer evil")

    @property
    def __array_interface__(self):
        hit("__array_interface__")
        raise RuntimeError("interface evil")

    @property
    def __array_struct__(self):
        hit("__array_struct__")
        raise RuntimeError("struct evil")

    @property
    def __cuda_array_interface__(self):
        hit("__cuda_array_interface__")
        raise RuntimeError("cuda evil")


class Proxy:
    """Forwards everything to something that is not there, as lazy import proxies do."""

    __slots__ = ("__weakref__",)

    def __getattribute__(self, name):
        hit("__getattribute__")
        raise ImportError("the module behind this proxy is gone")

    def __setattr__(self, name, value):
        hit("__setattr__")
        raise ImportError("gone")

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


class IntEvil(int):
    def __index__(self):
        hit("__index__")
        raise RuntimeError("index evil")

    __int__ = __repr__ = __format__ = __index__


class ListEvil(list):
    def __iter__(self):
        hit("__iter__")
        raise RuntimeError("iter evil")

    def __getitem__(self, key):
        hit("__getitem__")
        raise RuntimeError("item evil")

    def __len__(self):
        hit("__len__")
        raise RuntimeError("len evil")


class DictEvil(dict):
    def items(self):
        hit("items")
        raise RuntimeError("items evil")

    def __getitem__(self, key):
        hit("__getitem__")
        raise RuntimeError("item evil")

    __iter__ = keys = values = items


class TupleEvil(tuple):
    def __iter__(self):
        hit("__iter__")
        raise RuntimeError("iter evil")

    def __len__(self):
        hit("__len__")
        return -1


class ErrorEvil(Exception):
    def __str__(self):
        hit("__str__")
        raise RuntimeError("str evil")

    __repr__ = __str__


class SubclassEvil(type):
    """A metaclass that answers for its classes: no, and with noise."""

    def mro(cls):
        return type.mro(cls)

    def __subclasscheck__(cls, other):
        hit("__subclasscheck__")
        raise RuntimeError("subclass evil")

    def __len__(cls):
        hit("meta.__len__")
        raise RuntimeError("len evil")

    def __bool__(cls):
        hit("meta.__bool__")
        raise RuntimeError("bool evil")

    def __eq__(cls, other):
        hit("meta.__eq__")
        raise RuntimeError("eq evil")

    def __hash__(cls):
        hit("meta.__hash__")
        return 1

    @property
    def __name__(cls):
        hit("meta.__name__")
        raise RuntimeError("name evil")


class ModuleEvil(types.ModuleType):
    def __getattribute__(self, name):
        hit("__getattribute__")
        raise RuntimeError("module evil")


class Finalized:
    """Counts one user call when it dies; a look must not be what kills it."""

    def __del__(self):
        hit("__del__")


class InitUnfinished:
    """Captured in the middle of its own __init__."""

    def __init__(self):
        self.ready = False
        KEPT.append(self)
        raise RuntimeError("never finished")

    def __repr__(self):
        hit("__repr__")
        return self.name


class Descriptor:
    def __get__(self, instance, owner):
        hit("__get__")
        raise RuntimeError("descriptor evil")

    def __set_name__(self, owner, name):
        """Nothing: only to be a full descriptor."""


# --- makers ------------------------------------------------------------------------------------


def new_tuple(size: int) -> Any:
    """A tuple whose slots are all NULL, as C has it between PyTuple_New and PyTuple_SET_ITEM."""
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_ssize_t)(("PyTuple_New", ctypes.pythonapi))
    return make(size)


def new_list(size: int) -> Any:
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_ssize_t)(("PyList_New", ctypes.pythonapi))
    return make(size)


def wrong_basicsize(size: int) -> Any:
    class Wrong:
        __slots__ = ()  # no dict: CPython's own gc would look for it by the wrong size

    wrong = Wrong()
    KEPT.append(wrong)  # never freed: the wrong size must not reach the allocator
    ctypes.c_ssize_t.from_address(id(Wrong) + 4 * ctypes.sizeof(ctypes.c_void_p)).value = size
    return wrong


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


def dead_weakref():
    return weakref.ref(GetattrRaises())


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


def evil_keys():
    return {StrEvil("password"): 1, StrEvil("b"): EqRaises(), 1: StrEvil("c")}


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


CASES: dict[str, Callable[[], object]] = {
    "GetattrRaises": GetattrRaises,
    "GetattrAnything": GetattrAnything,
    "GetattributeBase": GetattributeBase,
    "ReprRaises": ReprRaises,
    "ReprHuge": ReprHuge,
    "ReprHang": ReprHang,
    "ReprNonStr": ReprNonStr,
    "ClassLies": ClassLies,
    "DirRaises": DirRaises,
    "DirHuge": DirHuge,
    "PropSide": PropSide,
    "Lazy": Lazy,
    "LenNeg": LenNeg,
    "EqRaises": EqRaises,
    "BoolRaises": BoolRaises,
    "SizeofLies": SizeofLies,
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
    "GetattrEndless": GetattrEndless,
    "ClassPretendsDict": ClassPretendsDict,
    "Protocols": Protocols,
    "Proxy": Proxy,
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
    "HalfTuple": lambda: new_tuple(3),
    "HalfList": lambda: new_list(3),
    "NestedHalfTuple": lambda: [new_tuple(2), {"password": SECRET}],
    "BasicsizeTooSmall": lambda: wrong_basicsize(3),
    "BasicsizeNegative": lambda: wrong_basicsize(-64),
    "BasicsizeHuge": lambda: wrong_basicsize((1 << 62) + 16),
    "ItemsizeNegative": wrong_itemsize,
    "DeadWeakref": dead_weakref,
    "LiveProxy": live_proxy,
    "OddNamespaceType": odd_namespace_type,
    "OddNames": odd_names,
    "EvilKeys": evil_keys,
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
