"""What a free-threaded CPython imports in place of the extension: one object, by CPython's public functions.

The extension reads other objects' memory, the collector's lists and frames as the GIL keeps them. Without it
nothing stands still meanwhile: what is not here is refused in one sentence, and is never a wrong number.
"""

# SPDX-License-Identifier: MIT
import gc
import sys
from itertools import islice
from typing import Any

from inspector.errors import free_threaded, uncounted

try:
    from inspector import _counts
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
_OFFSETS = _counts.OFFSETS
CODE_FIELDS: dict[str, int] = {}  # no struct is read here
BUILD = f"CPython {sys.version.split()[0]}, free-threaded: cards of one object"


def refuse() -> Any:
    """Say in one sentence what there is: what adapters, searches, traces and ledgers read is not here."""
    raise free_threaded()


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    refuse()


class LazyVector:
    """No object here is one."""


class Subject(_counts.Subject):
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
    """As sys.getsizeof says it without a class's own __sizeof__: the nearest built-in base answers."""
    for base in _of(kind, "__mro__"):
        asked = _namespace(base).get("__sizeof__")
        if asked is not None and not _of(base, "__flags__") & _HEAP_TYPE:
            return asked(x) + (16 if _of(kind, "__flags__") & _PREHEADER else 0)
    raise TypeError(kind)  # object is the last base of every class


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


def quick_referrers(*asked: object) -> tuple[list[Any], list[Any], bool]:
    """None is found, and others may be there."""
    return [], [], False


def entered_from_c(level: int) -> bool:
    """A call through C code leaves no references on a stack of its own that are known here."""
    return False


def read(address: int, size: int) -> None:
    """No memory is read here."""


def walk_listen(file: int, patience_ms: int) -> bool:
    """No walk is long here."""
    return False


def traps_arm() -> None:
    """No debugger comes into this process, so none has to be survived."""


traps_disarm = traps_arm
