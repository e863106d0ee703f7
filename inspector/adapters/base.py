"""What an adapter is: the questions a probe asks about one library's objects, and the plain answers."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from math import prod
from struct import calcsize
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from inspector.adapters.formats import format_name, letter, number_text
from inspector.facts.record import dataclass
from inspector.facts.unknown import Address, Unknown
from inspector.objects.classes import type_bases, type_namespace
from inspector.objects.classes import type_name as type_name  # adapters take it from here

if TYPE_CHECKING:
    from inspector.adapters.told import Told
    from inspector.facts.layout import Member
    from inspector.facts.memory import Range

NOT_SAID = Unknown("the protocol does not say")
_MODULE = type.__dict__["__module__"].__get__


@dataclass(frozen=True, slots=True)
class Elements:
    """One strided block of bytes an object lays open: where its elements are, nothing of what they say."""

    protocol: str
    """How it was learned: "struct fields", "buffer"."""
    address: int
    """Of the element with all indices 0."""
    shape: tuple[int, ...]
    strides_bytes: tuple[int, ...]
    itemsize_bytes: int
    format: str
    """Element type as the library prints it: "float64"."""
    typestr: str
    """As the protocol spells it: "<f8", "d"."""
    readonly: bool
    exporter: str
    numeric: bool = True
    """No Python reference lies in the bytes: the owners scan leaves them out."""
    flags: tuple[str, ...] = ()
    members: tuple[Member, ...] = ()
    aligned: bool | Unknown = NOT_SAID
    linked: bool | None = None
    """Whether an allocator that is linked into a library gave the bytes; None: as the adapter says of `x`."""

    @property
    def size(self) -> int:
        """Number of elements."""
        size = 1
        for length in self.shape:
            size *= length
        return size

    @property
    def range(self) -> Range:
        """All bytes an element can lie in, negative strides included; empty where there are no elements."""
        from inspector.facts.memory import Range

        low, high = extent(self.address, self.shape, self.strides_bytes, self.itemsize_bytes)
        return Range(Address(low), Address(high))


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table, as the library keeps it."""

    name: str
    format: str
    elements: tuple[Elements, ...]
    """Where its bytes are; () where that is not known."""
    block: int
    """Number of the block it lies in."""
    holders: int | Unknown
    """Objects that share the block's bytes until one writes, the table counted."""
    owner: int
    """Address of the object that owns the bytes: the array at the end of the block's bases; 0: not known."""


class Adapter(Protocol):
    """What one library means by "bytes", "owner", "part". Found by folder and by entry point.

    The file's name begins with the library's import name (`numpy_arrays.py`), so that it is imported only
    when the user's process has imported the library itself; it ends with `ADAPTER = <instance>`. No method
    may run user code, keep a reference to `x`, or change it: the contract test looks.
    """

    library: ClassVar[str]
    """Import name; "" for Python itself."""
    versions: ClassVar[tuple[str, str]]
    """First version it was checked with, and the first it is not good for: ("1.26", "3")."""
    links_allocator: ClassVar[bool]
    """Whether its memory comes from an allocator linked into it (mimalloc): no import slot is used."""
    marks: ClassVar[tuple[str, ...]]
    """Class attributes by which the library marks classes of the user's: ("_sa_class_manager",)."""
    bare: ClassVar[tuple[str, ...]]
    """Names of types whose objects never have elements: a trace does not ask about each of them."""
    steady: ClassVar[tuple[str, ...]]
    """Names of types whose objects keep the same elements for life: a trace may ask when a call is over."""

    def types(self) -> Iterable[type]:
        """Types whose exact instances it knows."""

    def families(self) -> Iterable[type]:
        """Types it knows together with all their subclasses (read by C struct or `stored`: none can lie)."""

    def claims(self, kind: type) -> bool:
        """Whether it knows a type that no list can name: made by a generator of bindings."""

    def is_ready(self) -> bool:
        """Whether the library is far enough to be tested; else the next look asks again."""

    def self_test(self) -> None:
        """Make an object, check a known answer; raise where it differs. Runs once, when the adapter wakes."""

    def sample(self) -> Any:
        """An object whose elements exist; what is told of it is tried when the adapter wakes (trial.py)."""

    def elements(self, x: Any) -> tuple[Elements, ...]:
        """Blocks of bytes, in the order of its parts; () where there are none or they cannot be told."""

    def spans(self, x: Any) -> tuple[Range, ...]:
        """Address ranges of the payload."""

    def holds(self, x: Any) -> tuple[tuple[str, Any], ...]:
        """Objects that keep its bytes alive, each with the relation: ("base", owner)."""

    def parts(self, x: Any) -> Iterator[tuple[str, Any]]:
        """Named parts with bytes of their own: columns, fields. Lazy: the caller stops when it has enough."""

    def columns(self, x: Any, most: int) -> tuple[tuple[Column, ...], int, int] | None:
        """The first `most` columns of a table in its order, how many there are, and in how many blocks.

        None for what is no table. The cost must not grow with the number of columns beyond `most`.
        """

    def called(self, x: Any) -> str:
        """What its user calls it where the type says little: "R double, REF 2" for a capsule of R's."""

    def owns(self, x: Any) -> bool | Unknown:
        """Whether the object itself frees its bytes."""

    def exports(self, x: Any) -> int | Unknown:
        """Buffers that consumers hold from it now."""

    def names(self, x: Any) -> tuple[tuple[str, str], ...]:
        """Facts under the library's own names: ("PyArray_NDIM", "2")."""

    def text(self, block: Elements, raw: bytes) -> str | Unknown:
        """One element of a block as text, from its bytes; unknown where it is not a number."""

    def layers(self, x: Any) -> Told:
        """Whether the elements exist, where, whose they are; what would materialize them; what is dangerous.

        Never reads bytes, calls repr, or asks an attribute that computes (docs/reference/adapters.md#layers).
        """


class Defaults:
    """Defaults that an adapter overrides with what its library knows (docs/reference/adapters.md).

    The types by name in `exact` and `inherited`; the bytes in `elements`, with `block` to describe them; who
    frees them in `owner`; what the elements wait for in `waits`; one object for the self test in `sample`.
    The questions of the protocol are answered from these.
    """

    library: ClassVar[str] = ""
    versions: ClassVar[tuple[str, str]] = ("0", "9999")
    links_allocator: ClassVar[bool] = False
    marks: ClassVar[tuple[str, ...]] = ()
    bare: ClassVar[tuple[str, ...]] = ()
    steady: ClassVar[tuple[str, ...]] = ()
    exact: ClassVar[tuple[str, ...]] = ()
    """Names of the exact types, in the library or below it: ("Ring", "parts.Part"). One with a dot may be
    missing: its module may come later, or in other releases only."""
    inherited: ClassVar[tuple[str, ...]] = ()
    """The same for types that count with all their subclasses."""

    def types(self) -> Iterable[type]:
        """Those named in `exact`."""
        return tuple(named(self.library, self.exact))

    def families(self) -> Iterable[type]:
        """Those named in `inherited`."""
        return tuple(named(self.library, self.inherited))

    def claims(self, kind: type) -> bool:
        """None."""
        return False

    def is_ready(self) -> bool:
        """As soon as it is imported."""
        return True

    def sample(self) -> Any:
        """None to try."""
        return None

    def self_test(self) -> None:
        """Nothing beside the sample to check."""

    def elements(self, x: Any) -> tuple[Elements, ...]:
        """No bytes."""
        return ()

    def owner(self, x: Any) -> Any:
        """The object that keeps its bytes alive and frees them; None: it does so itself."""
        return None

    def waits(self, x: Any) -> str:
        """What has to happen before its elements exist: "load()"; "": they do."""
        return ""

    def is_closed(self, x: Any) -> bool:
        """Whether the handle is alive and its data gone."""
        return False

    def spans(self, x: Any) -> tuple[Range, ...]:
        """The ranges of its elements."""
        ranges = (block.range for block in self.elements(x))
        return tuple(found for found in ranges if found.bytes)

    def holds(self, x: Any) -> tuple[tuple[str, Any], ...]:
        """Its owner."""
        owner = self.owner(x)
        return () if owner is None else (("owner", owner),)

    def parts(self, x: Any) -> Iterator[tuple[str, Any]]:
        """No parts."""
        return iter(())

    def columns(self, x: Any, most: int) -> tuple[tuple[Column, ...], int, int] | None:
        """No table."""
        return None

    def called(self, x: Any) -> str:
        """Its type says enough."""
        return ""

    def owns(self, x: Any) -> bool | Unknown:
        """Where nobody else is its owner."""
        return self.owner(x) is None

    def exports(self, x: Any) -> int | Unknown:
        """Not counted."""
        return Unknown(f"{type_name(type(x))} keeps no count of its exports")

    def names(self, x: Any) -> tuple[tuple[str, str], ...]:
        """No names of its own."""
        return ()

    def text(self, block: Elements, raw: bytes) -> str | Unknown:
        """One number of the formats of NumPy and of the struct module."""
        return number_text(block.typestr, raw)

    def layers(self, x: Any) -> Told:
        """closed, lazy, partial by `is_closed`, `waits`, `elements`; else what the others say already."""
        from inspector.adapters.told import closed, told

        if self.is_closed(x):
            return closed(type_name(type(x)))
        return told(type_name(type(x)), self.waits(x), bool(self.elements(x)))


def extent(
    address: int, shape: tuple[int, ...], strides_bytes: tuple[int, ...], itemsize_bytes: int
) -> tuple[int, int]:
    """First byte of a strided block, and the one behind its last; the same where it has no bytes."""
    low = high = address
    for length, stride in zip(shape, strides_bytes, strict=True):
        if not length:
            return address, address
        if stride < 0:
            low += (length - 1) * stride
        else:
            high += (length - 1) * stride
    return (low, high + itemsize_bytes) if itemsize_bytes else (address, address)


def named(library: str, names: Iterable[str]) -> Iterator[type]:
    """The types of those names; AttributeError where one without a dot is missing."""
    for name in names:
        path, _, last = name.rpartition(".")
        module = sys.modules.get(f"{library}.{path}" if path else library)
        found = vars(module).get(last) if module is not None else None
        if isinstance(found, type):
            yield found
        elif not path:
            raise AttributeError(f"{library} has no type {name}")


def block(
    x: Any,
    address: int,
    shape: tuple[int, ...],
    format: str,
    strides_bytes: tuple[int, ...] | None = None,
    *,
    readonly: bool = False,
) -> Elements:
    """Elements of `x` in a block: numbers of a format of NumPy's ("<f8") or the struct module's ("d").

    Without strides they lie in C order, one behind the other. Raises ValueError for another format.
    """
    code = letter(format)
    if not code:
        raise ValueError(f"{format!r} is no format of one number")
    itemsize = calcsize(f"@{code}")
    steps = strides_bytes
    if steps is None:
        steps = tuple(prod(shape[axis + 1 :]) * itemsize for axis in range(len(shape)))
    return Elements(
        "struct fields", address, tuple(shape), steps, itemsize, format_name(code, itemsize), format,
        readonly, exporter=type_name(type(x)),
    )  # fmt: skip


def blocks_of(adapter: Adapter, x: Any, blocks: tuple[Elements, ...]) -> int:
    """In how many blocks the bytes of `x` lie: a table may have more than those whose address is known."""
    table = adapter.columns(x, 0)
    return max(len(blocks), table[2] if table is not None else 0)


def type_module(kind: type) -> str:
    """`kind.__module__` as CPython stores it; "" where a class has put something else there."""
    module = _MODULE(kind)
    return module if type(module) is str else ""


def type_attribute(kind: type, name: str) -> Any:
    """What `name` is in the first class of the mro that defines it; None where none does. Nothing is run."""
    for base in type_bases(kind):
        namespace = type_namespace(base)
        if name in namespace:
            return namespace[name]
    return None


def stored(x: Any, name: str, absent: Any = None) -> Any:
    """What the object's own dict or slot holds under `name`; `absent` where a class computes it.

    Runs no code of its class, and does not make an instance dict where there is none yet.
    """
    found = type_attribute(type(x), name)
    computed = found is not None and type_attribute(type(found), "__get__") is not None
    if computed and type(found) is not MemberDescriptorType:
        return absent  # a property, a method: somebody's code
    try:
        return object.__getattribute__(x, name)
    except AttributeError:
        return absent
