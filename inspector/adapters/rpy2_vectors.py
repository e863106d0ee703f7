"""rpy2: R objects by their header in memory. R's lazy (ALTREP) vectors are recognized and never expanded."""

# SPDX-License-Identifier: MIT
import struct
import sys
from math import prod
from typing import Any

from inspector import _native
from inspector.adapters.base import Adapter, Elements, type_name
from inspector.adapters.formats import number_text
from inspector.adapters.registry import numbers
from inspector.adapters.told import Layer, Told, attribute, field
from inspector.facts.memory import Range
from inspector.facts.unknown import Address, Unknown
from inspector.objects.layouts.r_altrep import slot_text
from inspector.objects.layouts.r_objects import (
    DATA,
    ENVIRONMENT,
    ITEM_BYTES,
    NOT_MUTABLE,
    POINTER,
    TYPES,
    Header,
    bound,
    header,
    libr_function,
    references_text,
)
from inspector.objects.layouts.r_vectors import INTEGER, altrep_class, attributes, elements

NUMBERS = {10: ("logical", "i", 4), 13: ("int32", "i", 4), 14: ("float64", "d", 8), 24: ("uint8", "B", 1)}
"""SEXPTYPE -> format, PEP 3118 code, bytes."""
MOST_DIMENSIONS = 32
EXPANDS = ("np.asarray(x)", "memoryview(x)", "hasattr(x, '__array_interface__')")
KEEPS = ("x[i]", "len", "repr", "str")


class Rpy2Vectors(Adapter):
    """rpy2's Sexp with its subclasses: the capsule in its slot holds the address of the R object."""

    library = "rpy2"
    versions = ("3.6.3", "3.6.6")
    inherited = ("rinterface_lib.sexp.Sexp",)

    def is_ready(self) -> bool:
        """Only after R has started: before, there are no R objects."""
        embedded = sys.modules.get("rpy2.rinterface_lib.embedded")
        return "rpy2.rinterface" in sys.modules and embedded is not None and bool(embedded.isready())

    def self_test(self) -> None:
        """The version of the package that embeds R is supported; a vector of three doubles reads as such."""
        from importlib.metadata import version

        found = version("rpy2-rinterface")  # rpy2 itself stores no version
        if not numbers(self.versions[0]) <= numbers(found) < numbers(self.versions[1]):
            raise ValueError(f"rpy2-rinterface {found} is outside {' <= version < '.join(self.versions)}")
        made = sys.modules["rpy2.rinterface"].FloatSexpVector([1.0, 2.0, 3.0])
        head = _header(made)
        raw = None if head is None else _native.read(head.address + DATA, 24)
        if head is None or raw is None or (head.type, head.altrep, head.first) != (14, False, 3):
            raise ValueError("SEXPREC does not lie as in R 4's Defn.h")
        if struct.unpack("3d", raw) != (1.0, 2.0, 3.0):
            raise ValueError("the elements of an R vector are not at the expected offset")

    def elements(self, x: Any) -> tuple[Elements, ...]:
        """Existing numbers: of a plain vector, or at the address that an ALTREP returns."""
        head = _header(x)
        if head is None or head.type not in NUMBERS:
            return ()
        address, length = _where(head), _length(x, head)
        if not address or isinstance(length, Unknown):
            return ()
        word, code, size = NUMBERS[head.type]
        shape = _dim(head, length)
        strides = tuple(size * prod(shape[:axis]) for axis in range(len(shape)))
        return (Elements("SEXPREC", address, shape, strides, size, word, code, False, type_name(type(x))),)

    def spans(self, x: Any) -> tuple[Range, ...]:
        """The bytes of numbers, or of the pointers of lists and strings."""
        head = _header(x)
        length = _length(x, head) if head else 0
        if head is None or isinstance(length, Unknown) or not length or not (start := _where(head)):
            return ()
        return (Range(Address(start), Address(start + length * ITEM_BYTES[head.type])),)

    def names(self, x: Any) -> tuple[tuple[str, str], ...]:
        """SEXPTYPE and REF in R's terms; for an ALTREP also its class and its two data slots."""
        head = _header(x)
        if head is None:
            return ()
        handles = sys.modules["rpy2.rinterface_lib._rinterface_capi"]._R_PRESERVED.get(head.address, 0)
        rows = [
            ("SEXP", f"{head.address:#x}"),
            ("SEXPTYPE", f"{head.type} ({TYPES.get(head.type, 'unknown')})"),
            ("REF", references_text(head)),
            ("rpy2 handles", str(handles)),
        ]
        if head.altrep:
            rows += [
                ("ALTREP", " of ".join(altrep_class(head))),
                ("data1", slot_text(head.first)),
                ("data2", slot_text(head.second)),
            ]
        return tuple(rows)

    def text(self, block: Elements, raw: bytes) -> str | Unknown:
        """One number; R's NA by its name."""
        if block.format in ("logical", "int32") and raw == struct.pack("i", -(2**31)):
            return "NA"
        return number_text(block.typestr, raw)

    def layers(self, x: Any) -> Told:
        """The handle, its R object, and the bytes, if there are any."""
        head = _header(x)
        handle = Layer("wrapper", type_name(type(x)), storage="inline")
        if head is None:
            gone = attribute("x.__sexp__", "R is not started")
            return Told((Layer("wrapper", type_name(type(x)), "closed", "none", evidence=(gone,)),))
        if head.type not in ITEM_BYTES:
            return Told((handle, _container(head, _is_there(head), ())))
        where, length = _where(head), _length(x, head)
        lazy = head.altrep and not where
        spans = self.spans(x)
        stack = [handle, _container(head, "lazy" if lazy else "computed", spans)]
        logical = length if isinstance(length, Unknown) else length * ITEM_BYTES[head.type]
        return Told(tuple(stack), logical_bytes=logical, waits_for=EXPANDS[0] if lazy else "")


def _header(x: Any) -> Header | None:
    """The R object of an rpy2 handle; None before R has started. Reads slots, no properties."""
    sexp = sys.modules["rpy2.rinterface_lib.sexp"].Sexp
    capi = sys.modules["rpy2.rinterface_lib._rinterface_capi"]
    capsule = sexp.__dict__["_sexpobject"].__get__(x)
    if not _native.exactly(capsule, capi.SexpCapsule, capi.UnmanagedSexpCapsule):
        return None
    return header(capi.get_rid(type(capsule).__dict__["_cdata"].__get__(capsule)))


def _is_there(head: Header) -> Any:
    """ "closed" for a NULL external pointer, and for reticulate's environment with one."""
    pointer = bound(head, "pyobj") if head.type == ENVIRONMENT else head
    gone = pointer is not None and pointer.type == POINTER and not pointer.first
    return "closed" if gone else "computed"


def _container(head: Header, value: Any, spans: tuple[Range, ...]) -> Layer:
    what = f"R {TYPES.get(head.type, 'object')}"
    evidence = [field("REF", references_text(head))]
    if head.altrep:
        what += ", ALTREP " + " of ".join(altrep_class(head))
        evidence.append(field("data2", slot_text(head.second)))
    lazy = value == "lazy"
    if value == "closed":
        evidence.append(field("external pointer", "NULL: its object is from another session"))
    shared = 2 < head.references < NOT_MUTABLE  # one reference is rpy2's
    return Layer(
        "container",
        what,
        value=value,
        storage="none" if lazy or value == "closed" else "heap",
        title="cow" if shared else "owned",
        evidence=tuple(evidence),
        would=EXPANDS if lazy else (),
        would_not=KEEPS if lazy else (),
        spans=spans,
    )


def _where(head: Header) -> int:
    """Address of the elements; 0 if there are none yet. Of an ALTREP, calls a method that cannot allocate."""
    if head.type not in ITEM_BYTES:
        return 0
    if not head.altrep:
        return head.address + DATA
    ask = _r_function("DATAPTR_OR_NULL")
    return 0 if ask is None else int(ask(head.address) or 0)


def _length(x: Any, head: Header) -> int | Unknown:
    if head.type not in ITEM_BYTES:
        return 0
    if not head.altrep:
        return head.first
    ask = _r_function("Rf_xlength")
    return Unknown("R runs in another thread") if ask is None else int(ask(head.address))


def _r_function(name: str) -> Any:
    """A libR function that is called with the GIL held; None while another thread is in R."""
    lock = sys.modules["rpy2.rinterface_lib.openrlib"].rlock
    if not lock.acquire(blocking=False):
        return None
    lock.release()  # no thread can take it before the call ends: this one holds the GIL
    return libr_function(name, any_thread=True)


def _dim(head: Header, length: int) -> tuple[int, ...]:
    """The `dim` attribute of a matrix, if it is a plain integer vector; else one dimension."""
    dim = attributes(head).get("dim")
    found = elements(dim) if dim is not None and (dim.type, dim.altrep) == (INTEGER, False) else None
    shape = tuple(int(n) for n in (found or ())[:MOST_DIMENSIONS])
    return shape if shape and prod(shape) == length else (length,)


ADAPTER = Rpy2Vectors()
