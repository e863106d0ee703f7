"""cffi: memory that `new` owns, a cast points to, or `from_buffer` borrows, by exact type and struct."""

# SPDX-License-Identifier: MIT
import gc
import struct
import sys
from math import prod
from typing import Any

from inspector import _native
from inspector.adapters.base import Adapter, Elements, type_name
from inspector.adapters.beyond import Beyond
from inspector.adapters.formats import format_name
from inspector.adapters.told import Layer, Told, field, finding, of_type
from inspector.facts.layout import Member
from inspector.facts.unknown import Unknown

NAMES = ("_CDataBase", "__CDataOwn", "__CDataOwnGC", "__CDataFromBuf", "__CDataGCP", "buffer")
"""The types of _cffi_backend (its C source: CData_Type, CDataOwning_Type ...)."""
FLOATS = {"float": "f", "double": "d"}
INTEGERS = {1: "b", 2: "h", 4: "i", 8: "q"}
MOST_MEMBERS = 256
INLINE = 48
"""Most bytes before the memory of `new`, which follows the object's own header."""


class CffiPointers(Adapter):
    """The exact types: cffi does not allow subclasses."""

    library = "_cffi_backend"
    versions = ("1.16", "3")
    exact = NAMES

    def self_test(self) -> None:
        """An array from `new`, its slice and a buffer over it have one address in the struct and the API."""
        backend = sys.modules["_cffi_backend"]
        number = backend.new_primitive_type("int")
        made = backend.newp(backend.new_array_type(backend.new_pointer_type(number), 4))
        slice_ = made[1:3]
        told = (_address(made), _address(slice_), _length(slice_), type(slice_) is backend._CDataBase)
        where = int(backend.cast(backend.new_primitive_type("uintptr_t"), made))
        if told != (where, where + 4, 2, True) or self.holds(backend.buffer(made)) != (("keeps", made),):
            raise ValueError("CDataObject does not lie as in cffi's C source")

    def elements(self, x: Any) -> tuple[Elements, ...]:
        """What it points to, as far as its type tells; () for `void *`, NULL, a released buffer."""
        if type_name(type(x)) == "buffer":
            start, size, _ = _words(x, 2, 3)
            return (Elements("struct fields", start, (size,), (1,), 1, "uint8", "B", False, "buffer"),)
        found = None if _is_closed(x) else _pointee(x)
        if found is None or not _address(x):
            return ()
        item, count = found
        size = _sizeof(item)
        shape, strides = ((count,), (size,)) if count is not None else ((), ())
        code = _code(item, size)
        name = format_name(code, size) if code else item.cname
        return (
            Elements(
                "struct fields", _address(x), shape, strides, size, name, code or f"|V{size}", False,
                type_name(type(x)), numeric=bool(code), members=_members(item),
            ),
        ) if size else ()  # fmt: skip

    def holds(self, x: Any) -> tuple[tuple[str, Any], ...]:
        """The exporter of `from_buffer`, the origin of `gc`, the struct behind a pointer from `new`."""
        name = type_name(type(x))
        if name == "__CDataOwn":
            return tuple(("owns", held) for held in _struct_of_pointer(x))
        relation = {"__CDataFromBuf": "from_buffer", "__CDataGCP": "gc", "buffer": "keeps"}.get(name)
        if relation is None:
            return ()
        held = [one for one in gc.get_referents(x) if name != "__CDataGCP" or type_name(type(one)) in NAMES]
        return tuple((relation, one) for one in held)

    def owns(self, x: Any) -> bool | Unknown:
        """By the exact type: only memory from `new`, and memory with a destructor."""
        name = type_name(type(x))
        if name == "__CDataOwn":
            return not _struct_of_pointer(x)
        return name in ("__CDataOwnGC", "__CDataGCP") or (name == "_CDataBase" and _is_inline(x))

    def beyond(self, x: Any, found: Beyond) -> None:
        """The memory of `new`, which lies in the object and which its type does not tell."""
        for one in self.elements(x) if type_name(type(x)) == "__CDataOwn" and _is_inline(x) else ():
            found.add_block(id(x), one.address, prod(one.shape) * one.itemsize_bytes, "memory of ffi.new")

    def names(self, x: Any) -> tuple[tuple[str, str], ...]:
        """The C type as cffi writes it."""
        if type_name(type(x)) == "buffer":
            return (("ffi.buffer", f"{_words(x, 2, 3)[1]:,} B"),)
        return (("ffi.typeof", _typeof(x).cname), ("cdata type", type_name(type(x))))

    def layers(self, x: Any) -> Told:
        """The cdata; the probe adds its bytes."""
        name = type_name(type(x))
        seen = of_type(name)
        what = "buffer" if name == "buffer" else f"cdata {_typeof(x).cname}"
        if _is_closed(x):
            gone = field("Py_buffer" if name == "__CDataFromBuf" else "destructor", "released")
            use = finding("freed-storage", "it was released; reading it raises nothing", do="drop it")
            return Told((Layer("wrapper", what, "closed", "none", evidence=(seen, gone)),), findings=(use,))
        if name == "_CDataBase" and not _is_inline(x):
            return _borrowed(x, what, seen)
        storage: Any = "inline" if self.elements(x) and _is_inline(x) else "heap"
        if not self.elements(x):
            return Told((Layer("wrapper", what, "computed", "none", "owned", (seen,)),), logical_bytes=0)
        return Told((Layer("wrapper", what, "computed", storage, evidence=(seen,)),))


def _borrowed(x: Any, what: str, seen: Any) -> Told:
    """A cast, a sum, a slice, `addressof`: an address that keeps nothing alive."""
    if not _address(x):
        null = field("c_data", "NULL")
        return Told((Layer("wrapper", what, "computed", "none", evidence=(seen, null)),), logical_bytes=0)
    danger = finding("borrowed-pointer", "it keeps nothing alive", do="keep the cdata from ffi.new")
    layer = Layer("wrapper", what, "computed", "heap", "borrowed", (seen, field("keeps alive", "nothing")))
    return Told((layer,), findings=(danger,))


def _words(x: Any, first: int, count: int) -> tuple[int, ...]:
    raw = _native.read(id(x) + 8 * first, 8 * count) or bytes(8 * count)
    return struct.unpack(f"{count}Q", raw)


def _address(x: Any) -> int:
    """`c_data`, the word after the C type."""
    return _words(x, 3, 1)[0]


def _length(x: Any) -> int | None:
    """Length of an array without a length in its type, and of a slice; None if `gc` lost its origin."""
    while type_name(type(x)) == "__CDataGCP":  # its struct has the word too, but cffi never writes it
        (origin,) = _words(x, 6, 1)
        held = [one for one in gc.get_referents(x) if id(one) == origin]
        if not held:
            return None
        (x,) = held
    return _words(x, 5, 1)[0]


def _typeof(x: Any) -> Any:
    return sys.modules["_cffi_backend"].typeof(x)


def _sizeof(ctype: Any) -> int:
    """Bytes of a C type; 0 for void and opaque ones."""
    try:
        return int(sys.modules["_cffi_backend"].sizeof(ctype))
    except ValueError:
        return 0


def _pointee(x: Any) -> tuple[Any, int | None] | None:
    """(C type of an element, count or None for a single one); None if there is nothing to read."""
    ctype = _typeof(x)
    if ctype.kind == "array":
        count = _length(x) if ctype.length is None else ctype.length
        return None if count is None else (ctype.item, count)
    if ctype.kind == "pointer" and type_name(type(x)) != "__CDataOwnGC":
        return ctype.item, None
    return (ctype, None) if ctype.kind in ("struct", "union", "primitive", "enum") else None


def _is_inline(x: Any) -> bool:
    """Whether the bytes lie in the object's own memory: a number, or memory from `new`."""
    return 0 < _address(x) - id(x) <= INLINE


def _is_closed(x: Any) -> bool:
    """Whether `ffi.release` has been called; cffi still allows reads then."""
    name = type_name(type(x))
    if name == "__CDataFromBuf":
        return not gc.get_referents(x)
    return name == "__CDataGCP" and not any(_words(x, 6, 2))


def _struct_of_pointer(x: Any) -> list[Any]:
    """The struct that a `struct *` from `new` keeps: the gc does not visit it, so the word is checked."""
    ctype = _typeof(x)
    if ctype.kind != "pointer" or ctype.item.kind not in ("struct", "union"):
        return []
    import ctypes

    (held,) = _words(x, 5, 1)
    raw = _native.read(held + 8, 16) if held else None
    expected = struct.pack("2Q", id(type(x)), id(ctype.item))
    return [ctypes.cast(held, ctypes.py_object).value] if raw == expected else []


def _code(ctype: Any, size: int) -> str:
    """PEP 3118 code of a number; "" for anything else."""
    name = ctype.cname
    if ctype.kind != "primitive" or name in ("wchar_t", "long double") or "complex" in name.lower():
        return ""
    if name == "_Bool":
        return "?"
    if name in FLOATS:
        return FLOATS[name]
    code = INTEGERS.get(size, "")
    unsigned = name == "char" or name.startswith(("unsigned", "uint", "size_t", "char16", "char32"))
    return code.upper() if unsigned else code


def _members(ctype: Any) -> tuple[Member, ...]:
    fields = ctype.fields if ctype.kind in ("struct", "union") else None
    return tuple(
        Member(name, field.type.cname, field.offset, _sizeof(field.type))
        for name, field in (fields or [])[:MOST_MEMBERS]
    )


ADAPTER = CffiPointers()
