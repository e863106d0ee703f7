"""Turn a row into an Owner: kind, holder and key in the user's words. Runs no code of user types."""

# SPDX-License-Identifier: MIT
import gc
import re
import sys
import types
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from inspector import _native
from inspector.binaries.addresses import place
from inspector.facts.refs import LAST_RESULT, Owner
from inspector.facts.unknown import Address, Unknown
from inspector.objects.classes import type_bases, type_namespace
from inspector.objects.classes import type_name as name_of_type
from inspector.objects.ownership.layouts import fields
from inspector.objects.ownership.r_holders import KIND, r_holder
from inspector.objects.ownership.rows import (
    Frame,
    KnownName,
    Row,
    entry,
    is_kind,
    key_text,
    plain_name,
    type_name,
)
from inspector.objects.ownership.stack_depth import live_slots

NOT_NATIVE = Unknown("held by Python, not by native code")
_OWN_NAME = re.compile(r"_{1,3}|_i{0,3}\d*")
_CELL = re.compile(r"<ipython-input-(\d+)-")
_INTERNED = sys.intern(f"{__name__}: interned")
_GENERATORS = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
_NATIVE_PLACES = {
    "block": ("heap block", "malloc'ed block"),
    "stack": ("stack", "C stack"),
    "mapping": ("mapping", "anonymous mapping"),
}
_ITEM_TYPES = {"deque", "OrderedDict", "defaultdict", "Counter", "array"}


@dataclass
class Context:
    """Knowledge besides the rows: the user's names for dicts, and names found for holders."""

    names: Mapping[int, str]
    known: dict[int, str] = field(default_factory=dict)
    """Address of a holder -> its name: "global `cache` of app"."""
    kinds: dict[int, tuple[str, str]] = field(default_factory=dict)
    """Address of a dict -> (kind, holder) of its owner: an instance, a class, a thread."""
    climbs_left: int = 4
    """Remaining searches for R environments: each needs several searches of memory."""
    types: dict[int, tuple[dict[int, str], tuple[str, ...]]] = field(default_factory=dict)
    """Address of a type, which the rows keep alive -> names of its fields by offset, and of its slots."""

    def names_of(self, kind: type) -> tuple[dict[int, str], tuple[str, ...]]:
        """Names of a type's fields by offset, and those of them that `__slots__` tells."""
        if id(kind) not in self.types:
            self.types[id(kind)] = fields(kind), _slot_names(kind)
        return self.types[id(kind)]


def module_name(namespace: object) -> str:
    """Name of the module whose namespace this is; "" if it is no module's."""
    name = entry(namespace, "__name__")
    module = sys.modules.get(name) if type(name) is str else None
    if type(name) is str and is_kind(module, types.ModuleType) and namespace_of(module) is namespace:
        return name
    return ""


def namespace_of(module: Any) -> object:
    """A module's namespace, read from its C struct: a class of modules may define its own `__dict__`."""
    return vars(types.ModuleType)["__dict__"].__get__(module)


def _file(path: str) -> str:
    return path.rpartition("/")[2]


def frame_text(frame: Frame) -> str:
    """`f, app.py:12`; a cell of a notebook by its number."""
    where = _code_file(frame.code)
    return f"{frame.code.co_qualname}, {where if where[:5] == 'cell ' else f'{where}:{frame.line}'}"


def frame_of(code: types.CodeType) -> str:
    """`frame of f, app.py`: a frame that a traceback keeps."""
    return f"frame of {code.co_qualname}, {_code_file(code)}"


def _code_file(code: types.CodeType) -> str:
    """`app.py`, `cell 5`."""
    cell = _CELL.match(code.co_filename)
    return f"cell {cell[1]}" if cell else _file(code.co_filename)


def dict_label(namespace: Any, context: Context) -> str:
    """The name of a namespace: the user's, or its module's; "" for any other dict."""
    return context.names.get(id(namespace)) or module_name(namespace)


def known_as(name: KnownName, context: Context) -> str:
    """The name of a holder: "global `rows` of __main__", "local `rows` of f, app.py:3"."""
    text = plain_name(name.key) or key_text(name.key)
    if name.frame is not None:
        return f"local `{text}` of {frame_text(name.frame)}"
    label = dict_label(name.namespace.get(), context) if name.namespace is not None else ""
    return f"global `{text}` of {label}" if label else f"`{text}`"


def note_names(names: Sequence[KnownName], context: Context) -> None:
    """Keep what a glance learned: first what has a name itself, then the parts of what has one."""
    parts = [name for name in names if name.key is None]
    for name in names:
        if name.key is not None:
            context.known.setdefault(name.holder.address, known_as(name, context))
    for name in parts:
        if name.namespace is None:
            continue
        whole, part = name.namespace.get(), name.holder.get()
        if type(whole) is types.FunctionType and type(part) is types.CellType:
            context.known[name.holder.address] = variable_text(whole, part)
        else:
            context.kinds[name.holder.address] = ("attribute", describe(name.namespace, context))


def variable_text(function: types.FunctionType, cell: types.CellType) -> str:
    """The variable that a cell of a function's closure is."""
    cells = function.__closure__ or ()
    named = (name for name, own in zip(function.__code__.co_freevars, cells, strict=False) if own is cell)
    return f"variable `{next(named, '?')}` of function {function.__qualname__}"


def owner(row: Row, context: Context) -> Owner | None:
    """The owner that a row tells of; None where a closer look shows that it holds nothing."""
    if row.place == "frame":
        return _frame_owner(row)
    if _is_interned_table(row):
        return None
    if row.place == "object" and row.holder is not None:
        return _object_owner(row, context)
    return _native_owner(row, context)


def _is_interned_table(row: Row) -> bool:
    """Whether the holder is CPython's own table of interned strings, whose references are not counted.

    That is the dict that maps our string to itself (Objects/unicodeobject.c). From CPython 3.14 on the gc
    tracks every dict, also this one.
    """
    table = row.holder.get() if row.holder is not None and row.place == "object" else None
    if type(table) is not dict or (gc.is_tracked(table) and sys.version_info < (3, 14)):
        return False
    return table.get(_INTERNED) is _INTERNED


def _made(row: Row, kind: str, holder: str, key: str, certain: bool | None = None) -> Owner:
    address = Address(row.holder.address if row.holder is not None else row.word)
    sure = row.certain if certain is None else certain
    return Owner(kind, holder, key, row.references, sure, address, NOT_NATIVE, NOT_NATIVE)


def _frame_owner(row: Row) -> Owner | None:
    assert row.frame is not None
    text = frame_text(row.frame)
    if row.slot == "local":
        return _made(row, "local", text, plain_name(row.key))
    if row.slot == "frame":
        return _made(row, "local", text, "(the running function)")
    sure, possible = live_slots(row.frame)
    if row.certain or row.position < sure:
        return _made(row, "local", text, "(in the middle of an expression)", True)
    if row.position < possible:
        return _made(row, "local", text, "(argument of a call)", False)
    return None


def _native_owner(row: Row, context: Context) -> Owner:
    found = place(row.link or row.word)
    if row.place == "static":
        name = _file(found.library) if type(found.library) is str else "a loaded file"
        symbol = found.symbol if type(found.symbol) is str else ""
        key = f"{symbol}+{found.offset_bytes:#x}"
        return Owner(
            "static", name, key, row.references, False, Address(row.word), found.symbol, found.library
        )
    by_r = r_holder(row.word, context.climbs_left > 0) if row.place in ("block", "mapping") else None
    if by_r is not None:
        context.climbs_left -= 1
        unnamed = Unknown("held by R")
        return Owner(KIND, by_r[0], "", row.references, False, Address(by_r[1]), unnamed, unnamed)
    kind, holder = _NATIVE_PLACES.get(row.place, ("unknown holder", "anonymous memory"))
    if row.place == "block" and row.link:
        holder += f" kept by {_file(str(found.library))} {found.symbol}"
    key = f"+{row.word - row.block:#x}" if row.block else ""
    symbol_known = found.symbol if row.link else Unknown("not in a loaded file")
    library_known = found.library if row.link else Unknown("not in a loaded file")
    return Owner(kind, holder, key, row.references, False, Address(row.word), symbol_known, library_known)


def describe(holder: _native.Subject, context: Context) -> str:
    """A holder in a few words: its type, its size if cheap, and its name."""
    value = holder.get()
    kind = type(value)
    if any(kind is sized for sized in (list, tuple, dict, set, frozenset)):
        text = f"{kind.__name__} ({len(value)} {'item' if len(value) == 1 else 'items'})"
    elif kind is types.FunctionType:
        text = f"function {value.__qualname__}"
    elif is_kind(value, types.ModuleType):
        text = f"module {entry(namespace_of(value), '__name__')}"
    elif is_kind(value, type):
        text = f"class {type.__dict__['__qualname__'].__get__(value)}"
    else:
        text = f"<{type_name(holder)}>"
    known = context.known.get(holder.address, "")
    return f"{text}, {known}" if known else text


def _object_owner(row: Row, context: Context) -> Owner | None:
    assert row.holder is not None
    value = row.holder.get()
    kind = type(value)
    if kind is dict and row.slot in ("key", "value"):
        return _dict_owner(row, value, context)
    if row.slot == "type":
        return _made(row, "type", f"instance of {type_name(row.holder)}", "its type")
    if row.slot == "local":
        return _local_owner(row, value, context)
    if row.slot == "state":
        return _made(row, "module state", describe(row.holder, context), "its C state")
    if row.slot == "items" and kind is types.CodeType:
        return _made(row, "attribute", describe(row.holder, context), "._co_cached")
    if row.slot == "items":
        return _array_item_owner(row, value, context)
    if row.slot == "variable":
        return _made(row, "context variable", _variable_text(row), "its value")
    if context.kinds.get(row.holder.address, ("",))[0] == "cache key" and row.slot == "item":
        return _made(row, "cache", context.kinds[row.holder.address][1], f"argument [{row.position}]")
    if row.slot in ("item", "element", "key", "value"):
        return _made(row, "item", describe(row.holder, context), item_key(row))
    if row.slot == "attribute":
        return _attribute_owner(row, context)
    return _field_owner(row, value, context)


def item_key(row: Row) -> str:
    """`[3]`, `['k']`; "" for an element of a set; `key 'k'` where the subject is the key itself."""
    if row.slot == "item":
        return f"[{row.position}]"
    if row.slot == "key":
        return f"key {key_text(row.key)}"
    return f"[{key_text(row.key)}]" if row.slot == "value" else ""


def _attribute_owner(row: Row, context: Context) -> Owner:
    assert row.holder is not None
    name = plain_name(row.key)
    if type_name(row.holder).endswith("DisplayHook") and _OWN_NAME.fullmatch(name):
        return _made(row, "history", "DisplayHook", name)
    if type_name(row.holder).endswith("ExecutionResult") and name == "result":
        return _made(row, "history", LAST_RESULT, "the last cell's result")
    return _made(row, "attribute", describe(row.holder, context), f".{name}")


def _dict_owner(row: Row, value: dict[Any, Any], context: Context) -> Owner:
    assert row.holder is not None
    label = context.names.get(id(value), "")
    name = plain_name(row.key)
    if label in ("Out", "DisplayHook") or (label and _OWN_NAME.fullmatch(name)):
        shown = f"[{key_text(row.key)}]" if label == "Out" else name
        return _made(row, "history", label, shown)
    label = label or module_name(value)
    if row.slot == "key":
        of = label or describe(row.holder, context)
        return _made(row, "item", of, item_key(row))
    if label:
        return _made(row, "global", label, name or key_text(row.key))
    kind, holder = context.kinds.get(id(value), ("item", ""))
    if kind in ("attribute", "type", "thread-local"):
        return _made(row, kind, holder, f".{name}" if name else f"[{key_text(row.key)}]")
    return _made(row, kind, holder or describe(row.holder, context), item_key(row))


def _local_owner(row: Row, value: object, context: Context) -> Owner:
    assert row.holder is not None
    name = plain_name(row.key) or "(stack)"
    if is_kind(value, *_GENERATORS):
        text = f"{type(value).__name__} {value.__qualname__}"  # type: ignore[attr-defined]
        return _made(row, "generator local", text, name)
    return _made(row, "traceback local", frame_of(value.f_code), name)  # type: ignore[attr-defined]


def _variable_text(row: Row) -> str:
    """The ContextVar whose value it is, by its name."""
    variable = row.key.get() if row.key is not None else None
    return f"ContextVar {variable.name}" if type(variable) is ContextVar else "ContextVar"


def _array_item_owner(row: Row, value: Any, context: Context) -> Owner | None:
    """An element of an array of objects. An array of numbers holds none, even if bits look like a pointer."""
    assert row.holder is not None
    numpy = sys.modules["numpy"]
    dtype = numpy.ndarray.dtype.__get__(value)
    if not numpy.dtype.hasobject.__get__(dtype):
        return None
    index, offset = divmod(row.position, numpy.dtype.itemsize.__get__(dtype))
    field = object_field(dtype, offset)
    if field is None:
        return None
    return _made(row, "item", describe(row.holder, context), f"[{index}]{field}")


def object_field(dtype: Any, offset: int) -> str | None:
    """`['a']['b']`: the field of a structured dtype with an object there; None for a number's bytes."""
    kind = type(dtype)
    names = kind.names.__get__(dtype)
    if names is None:
        inner = kind.subdtype.__get__(dtype)
        if inner is not None:
            return object_field(inner[0], offset % kind.itemsize.__get__(inner[0]))
        return "" if kind.kind.__get__(dtype) == "O" and offset == 0 else None
    fields_of = kind.fields.__get__(dtype)
    for name in names:
        field, start = fields_of[name][:2]
        if start <= offset < start + type(field).itemsize.__get__(field):
            below = object_field(field, offset - start)
            return None if below is None else f"[{name!r}]{below}"
    return None


def _field_owner(row: Row, value: object, context: Context) -> Owner:
    assert row.holder is not None
    kind, text = type(value), type_name(row.holder)
    names, slots = context.names_of(kind)
    name = names.get(row.position, "")
    key = f".{name}" if name else f"+{row.position:#x}"
    if kind is types.CellType:
        return _made(row, "cell", context.known.get(row.holder.address, "closure cell"), "")
    if kind is types.MethodType or (kind is types.BuiltinFunctionType and name == "__self__"):
        return _made(row, "bound method", _method_text(value), key)
    if text in ("_lru_cache_wrapper", "_lru_list_elem"):
        return _made(row, "cache", context.known.get(row.holder.address, "functools.lru_cache"), "")
    if text in ("ReferenceType", "weakref", "CallableProxyType", "ProxyType", "weakproxy", "KeyedRef"):
        return _made(row, "callback", "weak reference", "its callback")
    if text == "managedbuffer":
        return _made(row, "base", context.known.get(row.holder.address, "memoryview"), ".obj")
    if text == "ndarray" and name == "base":
        return _made(row, "base", describe(row.holder, context), key)
    if is_kind(value, type):
        return _made(row, "type", describe(row.holder, context), key)
    if row.slot == "block" and any(name_of_type(base) in _ITEM_TYPES for base in type_bases(kind)):
        return _made(row, "item", describe(row.holder, context), "")
    if row.slot == "dict":
        return _made(row, "attribute", describe(row.holder, context), ".__dict__")
    declared = "slot" if name in slots else "attribute"
    return _made(row, declared, describe(row.holder, context), key if row.slot == "field" else "")


def _slot_names(kind: type) -> tuple[str, ...]:
    """Names under `__slots__` in the classes of a type, if they are plain strings."""
    found: list[str] = []
    for base in type_bases(kind):
        slots = entry(dict(type_namespace(base)), "__slots__")
        if type(slots) is tuple or type(slots) is list:
            found += [name for name in slots if type(name) is str]
        elif type(slots) is str:
            found.append(slots)
    return tuple(found)


def _method_text(value: Any) -> str:
    if type(value) is types.MethodType:
        function = value.__func__
        named = _native.exactly(function, types.FunctionType, types.BuiltinFunctionType)
        return f"bound method {function.__qualname__ if named else '?'}"
    return f"bound method {value.__name__}"
