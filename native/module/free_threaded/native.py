"""What a free-threaded CPython imports in place of the extension: objects, their bytes, who holds them.

Walks of the heap stop the other threads. What is not here is refused in one sentence, and is never a wrong
number.
"""

# SPDX-License-Identifier: MIT
import gc
import inspect
import sys
from itertools import islice
from types import FrameType, MethodDescriptorType
from typing import Any

from inspector.errors import free_threaded, uncounted

try:
    from inspector._free_threaded import (  # noqa: F401
        account,
        array_struct,
        arrow,
        ask_buffer,
        attribute_of,
        census,
        chain,
        demangle,
        dlpack,
        exactly,
        exported,
        exports,
        huge_at,
        image,
        locals_owning,
        malloc_at,
        mapping_at,
        maps,
        ndarray_fields,
        own_attributes,
        own_dict,
        reached,
        read,
        read_present,
        residency,
        retained,
        retained_by_types,
        speaks_buffer,
        walk_listen,
    )

    from inspector import _free_threaded
except ImportError as error:
    raise ImportError(
        f"inspector._native needs the GIL, and this CPython {sys.version.split()[0]} is free-threaded:"
        " no live object can be inspected, saved reports can (inspector report, inspector diff)"
    ) from error

_HEAP_TYPE, _PREHEADER = 1 << 9, 1 << 3 | 1 << 4  # Py_TPFLAGS_HEAPTYPE; weak reference list, managed dict
_STATES = ("", ", may have weak references", ", waits to be merged", ", merged")  # bits of ob_ref_shared
_SIZED = (list, tuple, dict, set, frozenset, str, bytes, bytearray)
_SHOWN = (int, float, complex, bool, str, bytes, type(None))
_MOST = 60
_WORD = 8
_OFFSETS = _free_threaded.OFFSETS
CODE_FIELDS: dict[str, int] = {}  # no code object's struct is read here
ADAPTERS = frozenset(
    (
        *("language", "array_items", "capsules", "files", "generators", "mmap_files", "ctypes_memory"),
        *("asyncio_futures", "futures_pending", "importlib_modules", "inspector_lazy", "references"),
        *("sharedmemory_blocks", "numpy_arrays", "numpy_files", "pandas_frames"),
        *("PIL_images", "dask_graphs", "scipy_sparse", "xarray_variables", "h5py_datasets"),
        *("pyarrow_buffers", "sqlalchemy_rows", "zarr_arrays"),
    )
)
"""Files of inspector/adapters that were tried without the GIL; others read structs as a GIL lays them out."""
LIBRARY = _free_threaded.__file__
BUILD = f"CPython {sys.version.split()[0]}, free-threaded: what works without the GIL"


def refuse() -> Any:
    """Say in one sentence what there is: what adapters, searches, traces and ledgers read is not here."""
    raise free_threaded()


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    refuse()


class LazyVector:
    """No object here is one."""


class Subject(_free_threaded.Subject):
    """The object under inspection; the box holds exactly one reference."""

    __slots__ = ()

    def refcount(self) -> int | None:
        """The refcount without the box's own; None if immortal."""
        try:
            return super().refcount()
        except ValueError:
            raise uncounted() from None


def object_layout(subject: Subject) -> dict[str, Any]:
    """The row of the column `object`."""
    counts = subject.counts()  # before a name here holds it
    x = subject.get()
    kind = type(x)
    flags = _of(kind, "__flags__")
    module, name = _of(kind, "__module__"), _of(kind, "__qualname__")
    module = module if type(module) is str else ""
    is_statement = flags & _HEAP_TYPE and "__firstlineno__" in _namespace(kind)
    return {
        "type_name": name if module in ("", "builtins") else f"{module}.{name}",
        "type_address": id(kind),
        "type_mro": tuple(_of(base, "__qualname__") for base in _of(kind, "__mro__")),
        "heap_type": bool(flags & _HEAP_TYPE),
        "type_module": module if is_statement else "",
        "type_origin": 0,
        "size_bytes": _size(x, kind),
        "length": len(x) if any(kind is one for one in _SIZED) else None,
        "gc_tracked": gc.is_tracked(x) if flags & 1 << 14 else None,
        "immortal": counts[6],
        "interned": sys._is_interned(x) if kind is str else None,
        "header": _header(counts, kind),
    }


def _header(counts: tuple[Any, ...], kind: type) -> tuple[tuple[str, int, int, str], ...]:
    thread, is_mine, local, shared, state, deferred, immortal = counts
    owner = "this thread" if is_mine else "another thread" if thread else "no thread"
    bits = f", refcount deferred{_STATES[state]}" if deferred else _STATES[state]
    return (
        ("ob_tid", _OFFSETS[0], _WORD, f"{thread:#x} {owner}"),
        (
            "ob_ref_local",
            _OFFSETS[1],
            4,
            "immortal" if immortal else f"{local}, counted by the owning thread",
        ),
        (
            "ob_ref_shared",
            _OFFSETS[2],
            _WORD,
            "immortal" if immortal else f"{shared}, counted by others{bits}",
        ),
        ("ob_type", _OFFSETS[3], _WORD, f"{id(kind):#x} {_of(kind, '__qualname__')}"),
    )


def _of(kind: type, name: str) -> Any:
    """What `type` itself says of a class: no metaclass is asked."""
    return type.__dict__[name].__get__(kind)


def _namespace(kind: type) -> Any:
    return type.__dict__["__dict__"].__get__(kind)


def _size(x: Any, kind: type) -> int:
    """As sys.getsizeof says it without a class's own __sizeof__: the nearest base written in C answers."""
    for base in _of(kind, "__mro__"):
        asked = _namespace(base).get("__sizeof__")
        if type(asked) is MethodDescriptorType:
            return asked(x) + (16 if _of(kind, "__flags__") & _PREHEADER else 0)
    raise TypeError(kind)  # object is the last base of every class


def own_bytes(x: Any) -> int:
    """Bytes of one object, headers included."""
    return _size(x, type(x))


def preview(subject: Subject, secret_words: tuple[str, ...]) -> str | None:
    """At most 60 characters, made from exact built-in types only; None for any other."""
    return _shown(subject.get(), _MOST)


def _shown(x: Any, most: int) -> str | None:
    kind = type(x)
    if any(kind is one for one in _SHOWN):
        text = repr(x[:most] if kind in (str, bytes) else x) if kind is not int or abs(x) < 1 << 400 else "…"
        return text if len(text) <= most else text[: most - 1] + "…"
    if kind is list or kind is tuple:
        items = ", ".join(_item(one) for one in islice(x, 4)) + (", …" if len(x) > 4 else "")
        return f"[{items}]" if kind is list else f"({items})"
    return None


def _item(x: Any) -> str:
    return _shown(x, 12) if any(type(x) is one for one in _SHOWN) else _of(type(x), "__name__")


def type_layout(subject: Subject) -> None:
    """No type, module or builtin is read here."""


module_layout = builtin_layout = type_layout


def quick_referrers(*asked: Any) -> tuple[list[Any], list[Any], bool]:
    """Holders in namespaces, in what those name, and in this thread's frames."""
    from inspector import _holders

    return _holders.quick_referrers(*asked)


def find_holders(subjects: tuple[Subject], *rest: Any) -> tuple[list[Any], dict[str, int]]:
    """Holders of one object among all that the collector tracks; no statistics: no memory is searched."""
    from inspector import _holders

    return _holders.tracked_referrers(subjects[0]), {}


def entered_from_c(level: int) -> bool:
    """A call through C code leaves no references on a stack of its own that are known here."""
    return False


def frame_locals(frame: FrameType) -> list[tuple[str, Any]]:
    """The variables of a frame of this thread; of another thread none, for it runs on meanwhile."""
    mine: FrameType | None = sys._getframe(1)
    while mine is not None and mine is not frame:
        mine = mine.f_back
    return [] if mine is None else list(frame.f_locals.items())


def local_values() -> list[Any]:
    """The values of the variables of this thread's functions."""
    values, frame = [], sys._getframe(1)
    while frame is not None:
        values += frame.f_locals.values() if frame.f_code.co_flags & inspect.CO_OPTIMIZED else ()
        frame = frame.f_back
    return values


def tracked_objects() -> list[Any]:
    """All objects that the collector tracks: it stops the other threads to list them."""
    return gc.get_objects()


def views_freed(start: int, stop: int) -> list[Any]:
    """None is known: the ledger that would know them is not here."""
    return []


def _boxed(namespace: dict[str, Any], name: str) -> Subject | None:
    """The value of a name in its box, which alone holds it; None where another thread took the name away."""
    try:
        return Subject(namespace[name]) if type(namespace[name]) is not Subject else namespace[name]
    except KeyError:
        return None


def _row(box: Subject) -> tuple[str, int, int | None, int]:
    row, counts = object_layout(box), box.counts()
    count = None if counts[6] else -1 if counts[5] else counts[2] + counts[3]
    return row["type_name"], box.address, count, row["size_bytes"]


def names(namespace: dict[str, Any]) -> list[tuple[str, str, int, int | None, int]]:
    """Rows of a namespace: (name, type name, address, references or None if immortal, own bytes).

    As in the extension; of a value whose count is deferred the references are -1.
    """
    if type(namespace) is not dict:
        raise TypeError("names() takes a dict")
    found = []
    for name in [one for one in list(namespace) if type(one) is str]:
        box = _boxed(namespace, name)
        if box is not None:
            found.append((name, *_row(box)))
    return found


def traps_arm() -> None:
    """No debugger comes into this process, so none has to be survived."""


traps_disarm = traps_arm
