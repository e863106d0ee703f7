"""The adapter interface: what a probe asks about one library's objects, and the default answers."""

# SPDX-License-Identifier: MIT
import sys
from collections.abc import Iterable, Iterator, Sequence
from math import prod
from struct import calcsize
from types import MemberDescriptorType
from typing import Any, ClassVar

from inspector.adapters.beyond import Beyond
from inspector.adapters.formats import format_name, letter, number_text
from inspector.adapters.told import Told, closed, told
from inspector.facts.autograd import Autograd
from inspector.facts.layout import Member
from inspector.facts.memory import Range
from inspector.facts.model import Model
from inspector.facts.record import dataclass
from inspector.facts.strides import dense
from inspector.facts.unknown import Address, Unknown
from inspector.objects.classes import type_bases, type_namespace
from inspector.objects.classes import type_module as type_module  # adapters import it from here
from inspector.objects.classes import type_name as type_name

NOT_SAID = Unknown("the protocol does not say")


@dataclass(frozen=True, slots=True)
class Elements:
    """One strided block of bytes that an object exposes: where its elements are, not their values."""

    protocol: str
    """How the block was found: "struct fields", "buffer"."""
    address: int
    """Address of the element with all indices 0."""
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
    """The bytes hold no Python reference: the owners scan skips them."""
    flags: tuple[str, ...] = ()
    members: tuple[Member, ...] = ()
    aligned: bool | Unknown = NOT_SAID
    linked: bool | None = None
    """Whether an allocator linked into a library allocated the bytes; None: as `links_allocator` says."""

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def range(self) -> Range:
        """All bytes that elements can occupy, negative strides included; empty if there are no elements."""
        low, high = extent(self.address, self.shape, self.strides_bytes, self.itemsize_bytes)
        return Range(Address(low), Address(high))


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table, as the library keeps it."""

    name: str
    format: str
    elements: tuple[Elements, ...]
    """Where its bytes are; () if unknown."""
    block: int
    """Number of its block."""
    holders: int | Unknown
    """Objects that share the block's bytes copy-on-write, the table included."""
    owner: int
    """Address of the object that owns the bytes (the array at the end of the block's bases); 0: unknown."""


class Adapter:
    """What "bytes", "owner" and "part" mean in one library. Found in this folder and by entry point.

    The file name begins with the library's import name (`numpy_arrays.py`): the file is imported only after
    the user's process has imported the library. It ends with `ADAPTER = <instance>`. No method may run user
    code, keep a reference to `x`, or change it: the contract test checks this.

    It names the types in `exact` and `inherited`, returns the bytes in `elements` (described by `block`), the
    object that frees them in `owner`, what the elements wait for in `waits`, and an object for the self test
    in `sample`. The other methods derive their answers from these; it overrides what it knows better
    (docs/reference/adapters.md).
    """

    library: ClassVar[str] = ""
    """Import name; "" for Python itself."""
    versions: ClassVar[tuple[str, str]] = ("0", "9999")
    """First tested version, and the first unsupported version: ("1.26", "3")."""
    links_allocator: ClassVar[bool] = False
    """Whether the library links its own allocator (mimalloc), which uses no import slot."""
    marks: ClassVar[tuple[str, ...]] = ()
    """Class attributes by which the library marks user classes: ("_sa_class_manager",)."""
    bare: ClassVar[tuple[str, ...]] = ()
    """Names of types whose objects never have elements: a trace skips them."""
    fixed: ClassVar[tuple[str, ...]] = ()
    """Names of types with weak references, whose objects have the same blocks as long as they live."""
    steady: ClassVar[tuple[str, ...]] = ()
    """Names of types whose objects never change their elements: a trace may read them after a call."""
    exact: ClassVar[tuple[str, ...]] = ()
    """Names of exact types, in the library or its submodules: ("Ring", "parts.Part"). A name with a dot
    may be missing: its module may be imported later, or exist in other releases only."""
    inherited: ClassVar[tuple[str, ...]] = ()
    """The same for types that are handled with all their subclasses."""

    def types(self) -> Iterable[type]:
        """Types whose exact instances it handles: those named in `exact`."""
        return tuple(named(self.library, self.exact))

    def families(self) -> Iterable[type]:
        """Types it handles with all subclasses (a subclass cannot falsify C structs and `stored`)."""
        return tuple(named(self.library, self.inherited))

    def claims(self, kind: type) -> bool:
        """Whether it handles a type that no list can name, made by a binding generator."""
        return False

    def is_ready(self) -> bool:
        """Whether the library is ready for the self test; if not, the next inspection asks again."""
        return True

    def sample(self) -> Any:
        """A new object whose elements exist; trial.py checks the answers on it when the adapter is loaded."""
        return None

    def self_test(self) -> None:
        """Make an object and check a known answer; raise if it differs. Runs once, at loading."""

    def elements(self, x: Any) -> tuple[Elements, ...]:
        """Blocks of bytes, in the order of its parts; () if there are none or they are unknown."""
        return ()

    def unseen(self, x: Any) -> bool:
        """Whether it has elements, and nothing says where they lie."""
        return False

    def boxed(self, x: Any) -> bool:
        """Whether its elements are Python objects in lists or dicts, which are not read."""
        return False

    def encoded(self, x: Any) -> tuple[str, tuple[int, ...]] | None:
        """Type and shape of its elements, where its one block keeps something else, as codes; else None."""
        return None

    def placing(self, x: Any) -> tuple[Elements, ...]:
        """Those of its blocks that say where its values stand, as the indices of a sparse matrix do."""
        return ()

    def order(self, x: Any) -> str:
        """In which order its blocks keep the elements, "csr"; those of two orders are not compared."""
        return ""

    def referred(self, x: Any) -> tuple[Elements, ...]:
        """Values that numbers among its elements stand for, as codes do for categories."""
        return ()

    def owner(self, x: Any) -> Any:
        """The object that keeps its bytes alive and frees them; None: the object itself does."""
        return None

    def waits(self, x: Any) -> str:
        """What must happen before its elements exist: "load()"; "": they exist."""
        return ""

    def is_closed(self, x: Any) -> bool:
        """Whether the object is alive but its data was freed."""
        return False

    def spans(self, x: Any) -> tuple[Range, ...]:
        """Address ranges of the payload: those of its elements."""
        ranges = (block.range for block in self.elements(x))
        return tuple(found for found in ranges if found.bytes)

    def roots(self, x: Any) -> tuple[Range, ...]:
        """The whole buffers behind slices of them, where no object that `holds` names has them."""
        return ()

    def holds(self, x: Any) -> tuple[tuple[str, Any], ...]:
        """Objects that keep its bytes alive, as (relation, object): ("owner", owner)."""
        owner = self.owner(x)
        return () if owner is None else (("owner", owner),)

    def beyond(self, x: Any, found: Beyond) -> None:
        """Add the counted objects of C++ that it owns, and what those own (adapters/beyond.py)."""

    def graph(self, held: Sequence[Any]) -> Autograd | None:
        """The graphs that objects of its library keep for backward(); None without one."""
        return None

    def model(self, x: Any) -> Model | None:
        """A module's or an optimizer's tensors by name; None if it is none."""
        return None

    def parts(self, x: Any) -> Iterator[tuple[str, Any]]:
        """Named parts with their own bytes (columns, fields). A lazy iterator: the caller may stop early."""
        return iter(())

    def pieces(self, x: Any) -> Iterator[tuple[str, tuple[Elements, ...]]]:
        """Named blocks of other objects that it only refers to, and is asked for: a module's tensors."""
        return iter(())

    def beside(self, x: Any) -> Iterator[tuple[str, tuple[Elements, ...]]]:
        """Blocks that go with it and are none of its elements, by a word for them: "gradient", "state"."""
        return iter(())

    def columns(self, x: Any, most: int) -> tuple[tuple[Column, ...], int, int] | None:
        """(the first `most` columns in the table's order, number of columns, number of blocks).

        None if it is not a table. The cost must not grow with the number of columns beyond `most`.
        """
        return None

    def called(self, x: Any) -> str:
        """A description if the type says little: "R double, REF 2" for an R capsule; else ""."""
        return ""

    def owns(self, x: Any) -> bool | Unknown:
        """Whether the object itself frees its bytes: no other object is its owner."""
        return self.owner(x) is None

    def exports(self, x: Any) -> int | Unknown:
        """Buffers of it that consumers hold now."""
        return Unknown(f"{type_name(type(x))} keeps no count of its exports")

    def sharers(self, x: Any) -> int | Unknown:
        """Further objects that own the same block with it, as the library counts them."""
        return Unknown(f"{type_name(type(x))} keeps no count of who shares its block")

    def names(self, x: Any) -> tuple[tuple[str, str], ...]:
        """More facts, by the library's own names: ("PyArray_NDIM", "2")."""
        return ()

    def text(self, block: Elements, raw: bytes) -> str | Unknown:
        """One element of a block as text, from its bytes; unknown if it is not a number."""
        return number_text(block.typestr, raw)

    def layers(self, x: Any) -> Told:
        """Whether the elements exist, where, who frees them, what would materialize them, and dangers.

        Must not read bytes, call repr, or read an attribute that computes (adapters.md#layers). By default
        closed, lazy or partial, by `is_closed`, `waits`, `elements`; else left to the probe.
        """
        if self.is_closed(x):
            return closed(type_name(type(x)))
        return told(type_name(type(x)), self.waits(x), bool(self.elements(x)))


def extent(
    address: int, shape: tuple[int, ...], strides_bytes: tuple[int, ...], itemsize_bytes: int
) -> tuple[int, int]:
    """(start, stop) of a strided block, stop excluded; equal if it has no bytes."""
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
    """The types with these names; raises AttributeError if one without a dot is missing."""
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
    """A block of `x` with numbers in a format of NumPy ("<f8") or of the struct module ("d").

    Without strides: contiguous, in C order. Raises ValueError for another format.
    """
    code = letter(format)
    if not code:
        raise ValueError(f"{format!r} is not the format of a number")
    itemsize = calcsize(f"@{code}")
    steps = dense(shape, itemsize) if strides_bytes is None else strides_bytes
    return Elements(
        "struct fields", address, tuple(shape), steps, itemsize, format_name(code, itemsize), format,
        readonly, exporter=type_name(type(x)),
    )  # fmt: skip


def blocks_of(adapter: Adapter, x: Any, blocks: tuple[Elements, ...]) -> int:
    """Number of blocks of `x`: a table may have more blocks than those whose address is known."""
    table = adapter.columns(x, 0)
    return max(len(blocks), table[2] if table is not None else 0)


def type_attribute(kind: type, name: str) -> Any:
    """The value of `name` in the first class of the MRO that defines it, else None. Runs no code."""
    for base in type_bases(kind):
        namespace = type_namespace(base)
        if name in namespace:
            return namespace[name]
    return None


def stored(x: Any, name: str, absent: Any = None) -> Any:
    """The value of `name` in the object's own dict or slot; `absent` if its class computes it.

    Runs no code of its class, and does not create an instance dict.
    """
    found = type_attribute(type(x), name)
    computed = found is not None and type_attribute(type(found), "__get__") is not None
    if computed and type(found) is not MemberDescriptorType:
        return absent  # a property or a method would run code
    try:
        return object.__getattribute__(x, name)
    except AttributeError:
        return absent
