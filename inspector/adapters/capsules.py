"""PyCapsule: a pointer passed between libraries; consumed, or an R vector if reticulate made it."""

# SPDX-License-Identifier: MIT
import struct
from typing import Any

from inspector import _native
from inspector.adapters.base import Adapter
from inspector.adapters.beyond import Beyond
from inspector.adapters.told import Layer, Told, field
from inspector.facts.memory import Range
from inspector.facts.unknown import Address, Unknown
from inspector.objects.layouts.r_objects import DATA, ITEM_BYTES, TYPES, header, references_text

EXPORTS = ("dltensor", "arrow_array")
"""Names of capsules that keep an array until somebody takes it over."""
POINTER, NAME, DESTRUCTOR = 0, 1, 3
"""Words after PyObject_HEAD (CPython: Objects/capsule.c); the third is the context."""


class Capsules(Adapter):
    """The exact type; its pointer is taken for an R object only if reticulate's destructor is set."""

    def types(self) -> tuple[type, ...]:
        """The type of every capsule."""
        return (type(_some_capsule()),)

    def self_test(self) -> None:
        """The name of datetime's capsule is found in the struct."""
        if name_of(_some_capsule()) != "datetime.datetime_CAPI":
            raise ValueError("PyCapsule does not lie as in CPython's Objects/capsule.c")

    def spans(self, x: Any) -> tuple[Range, ...]:
        """The elements of the R vector that reticulate keeps for an ndarray."""
        words = _words(x)
        found = header(words[POINTER]) if _is_reticulate(words[DESTRUCTOR]) else None
        if found is None or found.altrep or not found.first or found.type not in ITEM_BYTES:
            return ()
        start = found.address + DATA
        return (Range(Address(start), Address(start + found.first * ITEM_BYTES[found.type])),)

    def beyond(self, x: Any, found: Beyond) -> None:
        """What a capsule of Arrow owns: the buffer that a NumPy array shows."""
        if name_of(x) == "arrow::Buffer":
            from inspector.adapters.pyarrow_beyond import add_from
            from inspector.adapters.pyarrow_buffers import ADAPTER as ARROW
            from inspector.objects.layouts.shared_pointers import block_bytes

            add_from(x, at := _words(x)[POINTER], block_bytes(at), found, ARROW.owner_at)
        elif name_of(x).startswith(EXPORTS):
            found.why = f"a capsule named {name_of(x)} does not tell what it keeps"

    def called(self, x: Any) -> str:
        """The R vector it points to, with R's reference count."""
        words = _words(x)
        found = header(words[POINTER]) if _is_reticulate(words[DESTRUCTOR]) else None
        return "" if found is None else f"R {TYPES.get(found.type, 'object')}, REF {references_text(found)}"

    def owns(self, x: Any) -> bool | Unknown:
        """A capsule of reticulate keeps its R vector alive."""
        return True if self.spans(x) else Unknown("a capsule does not tell what its pointer leads to")

    def names(self, x: Any) -> tuple[tuple[str, str], ...]:
        """PyCapsule_GetName and PyCapsule_GetPointer."""
        return (
            ("PyCapsule_GetName", name_of(x) or "NULL"),
            ("PyCapsule_GetPointer", f"{_words(x)[POINTER]:#x}"),
            *_of_r(_words(x)),
        )

    def layers(self, x: Any) -> Told:
        """consumed if its name begins with `used_` (as DLPack marks a capsule that was taken over)."""
        name = name_of(x)
        used = name.startswith("used_")
        seen = field("name", name or "NULL")
        why = Unknown("a capsule does not tell what its pointer leads to")
        title: Any = "owned" if used or self.spans(x) else why
        layer = Layer("wrapper", "PyCapsule", "consumed" if used else "computed", "none", title, (seen,))
        return Told((layer,), state="consumed" if used else why if isinstance(title, Unknown) else "owned")


def _of_r(words: tuple[int, ...]) -> tuple[tuple[str, str], ...]:
    """SEXPTYPE and REF of the R vector that reticulate keeps."""
    found = header(words[POINTER]) if _is_reticulate(words[DESTRUCTOR]) else None
    if found is None:
        return ()
    return (("SEXPTYPE", TYPES.get(found.type, "unknown")), ("REF", references_text(found)))


def name_of(x: Any) -> str:
    """The capsule's name; "" if it has none."""
    raw = _native.read(_words(x)[NAME], 64) or _native.read(_words(x)[NAME], 8)
    return (raw or b"").partition(b"\0")[0].decode("utf-8", "replace")


def _words(x: Any) -> tuple[int, ...]:
    return struct.unpack("4Q", _native.read(id(x) + object.__basicsize__, 32) or bytes(32))


def _is_reticulate(destructor: int) -> bool:
    found = _native.image(destructor) if destructor else None
    return found is not None and found[0].rpartition("/")[2].startswith("reticulate.")


def _some_capsule() -> Any:
    from importlib import import_module

    return vars(import_module("_datetime"))["datetime_CAPI"]  # the C half alone: a first card waits for it


ADAPTER = Capsules()
