"""An object of another process, read from its memory, and sampled stacks of that process."""

# SPDX-License-Identifier: MIT
from inspector.facts.record import dataclass
from inspector.facts.stack import Stack
from inspector.facts.unknown import Address, ImmortalType, Unknown

NO_ARRAY = Unknown("it is no ndarray")
NOT_READ = Unknown("its memory could not be read")


@dataclass(frozen=True, slots=True)
class Entry:
    """One item, attribute or global of the object."""

    key: str
    """"[3]", "['k']", ".attr"."""
    value: str | Unknown
    """Type and bounded value."""


@dataclass(frozen=True, slots=True)
class RemoteArray:
    """The bytes of an ndarray of another process."""

    bytes: int
    """Elements times their size."""
    owns: bool
    """It frees them (NPY_ARRAY_OWNDATA)."""
    base: str
    """The global of __main__ that is its base, else the base's type; "" for none."""
    base_is_named: bool
    base_bytes: int
    """Bytes of the base, if that is an ndarray; else 0."""


@dataclass(frozen=True, slots=True)
class RemoteInside:
    """What the items of a container or the attributes of an instance hold themselves."""

    looked: int
    """Items that were looked at."""
    blocks: int
    """Arrays, bytes and bytearrays among them; views of one array count once."""
    bytes: int


@dataclass(frozen=True, slots=True)
class Remote:
    """The column `remote`: read without running code in the process."""

    pid: int
    program: str
    python: str
    """"3.12"."""
    expression: str
    address: Address
    """Address in the other process."""
    references: int | ImmortalType
    """The refcount stored in that process."""
    value: str | Unknown
    """Type and bounded value."""
    details: tuple[tuple[str, str], ...]
    """(name, text) of further fields of its C struct, such as an ndarray's strides."""
    entries: tuple[Entry, ...]
    more: int
    """Number of entries that were not read."""
    stopped_ns: int | Unknown
    """How long the process was stopped; unknown if it kept running."""
    global_name: str = ""
    """The global that the expression begins with; "" for a module or a builtin."""
    modules: tuple[str, ...] = ()
    """Modules with this global: first the module that was read, then those with the same object."""
    namesakes: tuple[str, ...] = ()
    """Modules with another object under that name."""
    array: RemoteArray | Unknown = NO_ARRAY
    inside: RemoteInside | Unknown = NOT_READ


@dataclass(frozen=True, slots=True)
class Sampled:
    """One stack, and how often it was sampled."""

    samples: int
    stack: Stack


@dataclass(frozen=True, slots=True)
class Samples:
    """The column `samples`: stacks of another process, sampled repeatedly."""

    pid: int
    program: str
    seconds: float
    rounds: int
    unread: int
    """Samples of a thread without a stack: it changed while it was read."""
    stacks: tuple[Sampled, ...]
    """Stacks of all threads, the most frequent first."""
    processor_s: float = 0.0
    """Seconds of processors that its threads used meanwhile."""
    instead: str = ""
    """Why it was not traced from inside, if that was requested."""
