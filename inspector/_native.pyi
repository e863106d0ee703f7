"""The contract of floor 0. Signatures and docstrings of the C extension, one block a part."""

from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any, TypedDict, final

# --- subject.c ---------------------------------------------------------------------------------

@final
class Subject:
    """The object under inspection, held by exactly one reference of the tool's own.

    Make it at the door and delete your own name for the object; then `refcount()` is the truth.
    """

    def __init__(self, object: Any, /) -> None: ...
    @property
    def address(self) -> int:
        """Address of the object (what `id` gives)."""
    def get(self) -> Any:
        """The object itself (a new reference: give it back soon)."""
    def refcount(self) -> int | None:
        """`ob_refcnt` without the Subject's own reference; None for an immortal object (PEP 683)."""
    def leave_out(self, count: int, /) -> None:
        """Leave `count` references out of `refcount()`: those of the call that brought the object here."""

# --- call.c ------------------------------------------------------------------------------------

def entered_from_c(level: int, /) -> bool:
    """Whether C code called the Python function `level` calls above; False where frames cannot be read."""

def stack_slots(subject: Subject, level: int, first: int, stop: int, /) -> int:
    """How many of the slots [first, stop) of a frame's evaluation stack hold the object.

    `level` counts Python frames above the caller. 0 where frames cannot be read.
    """

# --- census.c ----------------------------------------------------------------------------------

def census(ours: tuple[type, ...], /) -> tuple[list[tuple[str, int, int]], int, int, int]:
    """Count live objects by type: ([(type name, objects, own bytes)], gc-tracked objects, ns, extra bytes).

    Objects of the types in `ours` are neither counted nor followed. No user code runs; the gc is off.
    """

# --- names.c -----------------------------------------------------------------------------------

def names(namespace: dict[str, Any], /) -> list[tuple[str, str, int, int | None, int]]:
    """Rows of a namespace: (name, type name, address, references or None if immortal, own bytes).

    A value that is a Subject stands for its object, without the Subject's reference. Names that are no
    exact `str` have no row.
    """

# --- retained.c --------------------------------------------------------------------------------

def retained(subject: Subject, /) -> tuple[list[tuple[str, int, int]], int, int]:
    """What only the object keeps alive, with it: ([(type name, objects, bytes)], looked at, extra bytes).

    `looked at` counts the objects it reaches, short of what loaded modules hold. No user code runs.
    """

def retained_by_types(names: tuple[str, ...], ours: tuple[type, ...], /) -> list[int]:
    """Bytes freed if every object of a type went away, for each type name; types in `ours` are left out."""

# --- chain.c -----------------------------------------------------------------------------------

def chain(
    subject: Subject, names: tuple[int, ...], own_folder: str, /
) -> tuple[list[tuple[str, str, str, int, int, Any]] | None, int, int, int]:
    """The shortest path from a root to the object: (steps or None, objects entered, ns, extra bytes).

    A step is (kind, holder's type, holder's name, holder's length or -1, holder's address, key): the key is a
    str, an int, or the type name of another key in a tuple. The first holder is a root: a module, a frame,
    a thread, or a dict whose id is in `names`. Frames of code in `own_folder` and Subjects are passed over.
    """

# --- memory.c ----------------------------------------------------------------------------------

def maps() -> list[tuple[int, int, str, int, int, str]]:
    """The mappings of this process: (start, stop, permissions, file offset, inode, path), by address.

    Permissions as in "rw-p"; the path is "" or "[heap]", "[stack]" ... (proc_pid_maps(5)).
    """

def read(address: int, size: int, /) -> bytes | None:
    """`size` bytes at an address, through process_vm_readv(2); None where they are not all readable."""

# --- scan.c ------------------------------------------------------------------------------------

def scan_words(
    needles: Sequence[tuple[int, int]],
    leave_out: Sequence[tuple[int, int]] = (),
    limit: int = 65536,
    portable: bool = False,
) -> tuple[list[tuple[int, int]], int, int, int, int]:
    """Every word of the private writable memory whose value lies in a needle [start, stop).

    Gives ((word address, value), ...) up to `limit`, then: hits in all, bytes read, bytes not read
    (`leave_out`, pages never touched, memory that went), nanoseconds. The hits are candidates: a word may
    be stale, or no pointer at all. `portable` keeps to plain C where the processor has AVX2.
    """

def scan_bandwidth() -> float:
    """Bytes a second of the last search; 0.0 before the first."""

# --- preview.c ---------------------------------------------------------------------------------

def preview(subject: Subject, secret_words: tuple[str, ...], /) -> str | None:
    """At most 60 printable characters of the value; None where only code of its type could say it.

    Made from exact built-in types, nested 2 deep; values under names with a secret word are `<masked>`.
    """

# --- layout.c ----------------------------------------------------------------------------------

class ObjectRow(TypedDict):
    """One object as C sees it. Exists for the type checker only."""

    type_name: str
    type_address: int
    type_mro: tuple[str, ...]
    """At most 64 names, the type's own first."""
    heap_type: bool
    type_module: str
    """`__module__` of a type where it is a str, else ""."""
    type_origin: int
    """An address in the file that defines the type; 0 for a class statement."""
    size_bytes: int | None
    length: int | None
    gc_tracked: bool | None
    immortal: bool
    interned: bool | None
    header: tuple[tuple[str, int, int, str], ...]
    """(C name, offset from the object, size, value); offsets before the object are negative."""

def object_layout(subject: Subject, /) -> ObjectRow:
    """The object's header and its type's sizes, read from memory; no user code runs."""

# --- symbols.c ---------------------------------------------------------------------------------

def image(address: int, /) -> tuple[str, int, int, bytes] | None:
    """(path, load bias, first address, first 512 bytes) of the loaded file that holds `address`.

    The path is "" for the executable. None for an address in no loaded file.
    """

def exported(address: int, /) -> tuple[str, int] | None:
    """(symbol, offset) by dladdr(3): exported symbols only; None where none covers `address`."""

# --- buffer.c ----------------------------------------------------------------------------------

def speaks_buffer(kind: type, /) -> bool:
    """Whether instances speak the buffer protocol: the type's `bf_getbuffer` is set. Nothing is called."""

def ask_buffer(
    object: Any, /
) -> tuple[int, int, int, str, tuple[int, ...], tuple[int, ...], bool, bool, str]:
    """Ask for a full read-only buffer, describe it, release it (PEP 3118). Runs the exporter's code.

    Gives address, bytes, itemsize, format, shape, strides, readonly, indirect (suboffsets), exporter's type.
    Raises what the exporter raises; ValueError where its answer cannot be read.
    """

def exports(object: Any, /) -> int:
    """Buffers now exported by an exact bytearray, memoryview, array.array or mmap.mmap, from its C struct.

    Raises TypeError for other types.
    """

def ndarray_fields(
    object: Any, ndarray: type, /
) -> tuple[int, tuple[int, ...], tuple[int, ...], int, Any, Any]:
    """Data address, shape, strides in bytes, NPY_ARRAY_* flags, base and descr (numpy/ndarraytypes.h).

    `ndarray` is `numpy.ndarray`; instances of its subclasses are read too. Raises TypeError for others.
    """

# --- protocols.c -------------------------------------------------------------------------------

def array_struct(capsule: Any, /) -> tuple[int, tuple[int, ...], tuple[int, ...], int, str, int]:
    """Address, shape, strides, itemsize, kind, NPY_ARRAY_* flags of an `__array_struct__` capsule.

    Raises ValueError where it is no such capsule, or its pointers cannot be read.
    """

def dlpack(
    capsule: Any, /
) -> tuple[int, tuple[int, ...], tuple[int, ...] | None, int, int, int, int, int, bool]:
    """Address, shape, strides in bytes (None: C order), itemsize, type code, bits, device type, device
    number and readonly of a `__dlpack__` capsule, which stays unused. Raises ValueError as above.
    """

def arrow(schema: Any, array: Any, /) -> tuple[str, int, int, int, tuple[int, ...]]:
    """Format, length, nulls, offset and buffer addresses of `__arrow_c_array__`'s capsules, left unused."""

# --- attributes.c ------------------------------------------------------------------------------

def own_attributes(object: Any, names: tuple[str, ...], /) -> tuple[str, ...]:
    """Those of `names` that an instance or a module has among its own attributes, not its type's.

    Read where they lie: no user code runs, and no `__dict__` is made. None for a type: what is in its
    namespace is its instances'. A dict with keys that are no str is read up to its 10,000th key.
    """

# --- mappings.c --------------------------------------------------------------------------------

def mapping_at(address: int, /) -> tuple[int, int, str, int, str, int] | None:
    """Start, stop, permissions, file offset, name and page size of the mapping that holds `address`.

    None where no mapping does, or where the kernel cannot say (before Linux 6.11: PROCMAP_QUERY).
    """

def huge_at(address: int, /) -> bool | None:
    """Whether the page that holds `address` is a huge one, transparent or of hugetlbfs.

    None where it is not in memory, or where the kernel cannot say (before Linux 6.7: PAGEMAP_SCAN).
    """

def read_present(address: int, count: int, /) -> bytes | None:
    """`count` bytes (1 to 256) at `address`, if their pages are in this process's memory now; else None.

    Faults nothing in, and never dies of a bad address.
    """

def demangle(name: str, /) -> str | None:
    """A C++ symbol as C++ writes it; None for other symbols, and where no C++ runtime is loaded.

    At most 8,192 bytes; from `__cxa_demangle` (Itanium C++ ABI).
    """

# --- residency.c -------------------------------------------------------------------------------

def residency(
    ranges: Sequence[tuple[int, int, int]], cells: int, portable: bool = False, /
) -> tuple[str, int, int, int, int, int, int, str] | None:
    """Which pages of disjoint ranges (start, stop, kind) are in memory; nothing is read or brought in.

    The kind of the mapping: 0 anonymous, 1 of a file, 2 shared memory. Gives the way ("PAGEMAP_SCAN" or
    "pagemap"); bytes that are private, of the zero page, of a file, shared, swapped; of these, in huge pages;
    and `cells` letters (at most 4096), the most frequent kind of each part: p, z, f, s, w, or "." for absent.
    By the table alone (`portable`) a page shared with a forked child counts as of the zero page. None where
    the kernel tells neither.
    """

# --- locals.c ----------------------------------------------------------------------------------

def local_values() -> list[Any]:
    """What the variables of all running functions hold, of every thread; no frame object is made.

    Empty slots are left out, and so is what a frame of 3.14 only borrows.
    """

# --- types.c -----------------------------------------------------------------------------------

MethodRow = tuple[str, tuple[str, ...], int, str]
"""A PyMethodDef: name, METH_* names, address of the function, first line of the doc."""
GetSetRow = tuple[str, int, int, str]
"""A PyGetSetDef: name, address of the getter and of the setter (0: none), first line of the doc."""

class TypeRow(TypedDict):
    """A PyTypeObject. Exists for the type checker only."""

    name: str
    module: str
    """"" where it is not told."""
    origin: int
    """An address in the file that defines it; 0 for a class statement."""
    basicsize: int
    itemsize: int
    flags: tuple[str, ...]
    bases: tuple[str, ...]
    metatype: str
    slots: list[tuple[str, int, bool]]
    """(C name, address, inherited) of each filled slot."""
    tables_of: str
    """The type whose tables follow: itself, or the nearest base made in C."""
    methods: list[MethodRow]
    members: list[str]
    getset: list[GetSetRow]
    instances_hold_dict: bool
    instances_weakrefable: bool

def type_layout(subject: Subject, /) -> TypeRow | None:
    """A type object read from memory, at most 4096 rows a table; None for any other object."""

# --- functions.c -------------------------------------------------------------------------------

class BuiltinRow(TypedDict):
    """A builtin function, method or descriptor. Exists for the type checker only."""

    kind: str
    """The name of its type."""
    method: MethodRow
    bound_to: str
    """Type of `__self__`, name of the module, or the type that a descriptor belongs to."""
    vectorcall: int
    slot: str
    """The type slot that it wraps (tp_repr), else ""."""

class ModuleRow(TypedDict):
    """A module. Exists for the type checker only."""

    name: str
    file: str
    types: list[str]
    definition: int
    """Address of its PyModuleDef; 0 for a module made in Python."""
    m_name: str
    doc: str
    m_size: int
    slots: list[tuple[str, int, bool]]
    """(C name, value, whether the value is a function)."""
    methods: list[MethodRow]
    state: int
    """Address of the per-module state; 0 where there is none."""

def builtin_layout(subject: Subject, /) -> BuiltinRow | None:
    """The C row of a builtin function or descriptor, exact types only; None for any other object."""

def module_layout(subject: Subject, /) -> ModuleRow | None:
    """A module and its PyModuleDef; None for any other object."""

# --- owners.c ----------------------------------------------------------------------------------

CODE_FIELDS: dict[str, int]
"""Fields of a code object that no attribute gives -> offset; `_co_cached` is a block of references."""

HolderRow = tuple[
    int, str, Subject | None, str, int, Subject | None, int, bool, int, int, int, FrameRow | None
]
"""Number of the subject; kind of place: "object", "frame", "static", "block", "stack", "mapping", "unknown";
the holder; its slot: "item", "key", "value", "element", "attribute", "local", "stack", "type", "dict",
"field", "block", "state"; index or offset of the slot; key or name; references; certain; address of the word;
of the word that points to its block (0: none); of the block (0: none); frame."""

FrameRow = tuple[CodeType, int, int, int, int, int]
"""(code, line, offset of the current instruction, depth, thread, whether it waits for a Python function)."""

class SearchRow(TypedDict):
    """What a search of memory did: bytes, nanoseconds, hits."""

    scanned_bytes: int
    left_out_bytes: int
    scan_ns: int
    verify_ns: int
    hits: int
    stale: int
    truncated: int
    references: int
    interrupted: int

def find_holders(
    subjects: tuple[Subject, ...],
    leave_out: Sequence[tuple[int, int]],
    layouts: tuple[tuple[type, tuple[int, ...]], ...],
    own_prefix: str,
    limit: int = 16384,
    progress: Callable[[int, int], object] | None = None,
    namespaces: tuple[dict[Any, Any], ...] = (),
    brief: bool = False,
    boxes: tuple[int, ...] | None = None,
    unaligned: bool = False,
) -> tuple[list[HolderRow], SearchRow]:
    """Who holds these objects: memory is searched for pointers to them, and each hit is verified.

    All under one hold of the GIL. `leave_out` are address ranges not to read; `layouts` give the offsets of
    owned fields for exact types that the gc does not know; frames of code under the folder `own_prefix`
    are the tool's own. The tables of `namespaces` are recognised without a search for their owner; `brief`
    searches the owners of blocks only for subjects that nothing else names. At most `limit` places are kept
    for all subjects together: `truncated` counts the rest. Freed memory takes none, and the words of one
    block, or the instances of one class, take a few.
    `boxes`, one number a subject: how many references to it are the caller's own. Then the search may end
    when all others are found and verified. With `unaligned` the exact address of the one subject is looked
    for at the seven places of each word where no pointer is aligned, and nowhere else.
    `progress(bytes done, bytes in all)` is called every 0.1 s, in an unaligned search too, and may return
    False: InterruptedError. Ctrl-C is noticed within a MiB.
    """

# --- walk_told.c -------------------------------------------------------------------------------

def walk_listen(file: int, patience_ms: int, /) -> bool:
    """From now on a census, chain or retained size says on this file descriptor how far it is.

    Every 0.1 s, from `patience_ms` on; -1: nowhere. Gives whether anything was said since the last call. A
    walk lets no Python code run, so it writes the line itself.
    """

# --- glances.c ---------------------------------------------------------------------------------

def quick_referrers(
    subject: Subject,
    namespaces: tuple[dict[Any, Any], ...],
    layouts: tuple[tuple[type, tuple[int, ...]], ...],
    own_prefix: str,
    budget: int,
    /,
) -> tuple[list[HolderRow], list[tuple[Subject, Subject | None, Subject | None, FrameRow | None]], bool]:
    """Who holds the object, without a search: frames, namespaces, and what those name directly.

    Gives the rows of `find_holders`; for holders reached through a name (holder, namespace or None, key,
    frame or None); and whether `budget` words sufficed to see all of it.
    """

# --- bandwidth.c -------------------------------------------------------------------------------

def read_all(most: int = ..., /) -> tuple[int, int, int]:
    """Reads what a search would read, at most `most` bytes of it, and does nothing with it.

    Gives (bytes, nanoseconds, sum of the words): the limit that a search is measured against.
    """

# --- lazy_vector.c -----------------------------------------------------------------------------

LAZY_BLOCK_BYTES: int
LAZY_DEPTH_MAX: int

class LazyVector:
    """A recipe with its input (data1) and its result (data2, once materialized). See docs/reference/lazy.md.

    The names are ALTREP's. `inspector.lazy.Vector` adds what NumPy and Python users expect.
    """

    def __init__(self, length: int, format: str, itemsize: int, over: Any, name: str, /) -> None: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: Any = None,
        copy: Any = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]: ...
    def elt(self, i: int, /) -> Any:
        """Element i as a Python number; never materializes. IndexError out of range."""
    def get_region(self, i: int, n: int, out: Any, /) -> int:
        """Write elements i .. i+n-1 into `out`; returns min(n, length - i). Never materializes."""
    def take(self, indices: Any, out: Any, /) -> None:
        """Write the elements at `indices` (int64) into `out`, one by one; never materializes."""
    def dataptr_or_null(self) -> int | None:
        """Address of all elements if they are materialized, else None."""
    def dataptr(self, writable: bool = False, by: str | None = None) -> int:
        """Address of all elements; materializes them once, whatever the threads. `by` names who asked.

        Writable memory is this vector's alone: BufferError while consumers have it.
        """
    def materialize_blocks(self, start: int, stop: int, by: str | None, /) -> None:
        """Materialize the blocks of 128 KB that hold [start, stop)."""
    def input_changed(self, budget: int, /) -> tuple[bool, int, int]:
        """(changed, compared, touched): is what was read of the input as before? At most `budget` blocks."""
    def share(self, other: LazyVector, /) -> None:
        """Take over data2 of a materialized duplicate, shared until one is written."""
    def note(self, kind: str, by: str | None, bytes: int, /) -> None:
        """Append an event with the calling line."""
    def sum(self) -> Any:
        """Sum without data2: float, or int modulo 2**64."""
    def mean(self) -> float:
        """Mean without data2; NaN for length 0."""
    def min(self) -> Any:
        """Least element without data2; NaN wins. ValueError for length 0."""
    def max(self) -> Any:
        """Greatest element without data2; NaN wins. ValueError for length 0."""
    def is_sorted(self) -> bool:
        """Whether no element is less than the one before (NaN last, as np.sort has it)."""
    def no_na(self) -> bool:
        """Whether no element is NaN."""
    @property
    def length(self) -> int:
        """Number of elements."""
    @property
    def format(self) -> str:
        """PEP 3118 code of an element, as NumPy spells it."""
    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
    @property
    def nbytes(self) -> int:
        """Bytes the elements would take: logical, not memory."""
    @property
    def origin(self) -> str:
        """source, abs, arange, slice, python or foreign."""
    @property
    def recipe(self) -> str:
        """The name in lazy(...)."""
    @property
    def state(self) -> str:
        """lazy, filling or materialized."""
    @property
    def blocks(self) -> tuple[int, int]:
        """(done, all) blocks of data2."""
    @property
    def data1(self) -> Any:
        """The input, or None."""
    @property
    def input_references(self) -> tuple[int | None, ...]:
        """References of data1, or of each item of a tuple; None for an immortal object."""
    @property
    def data2(self) -> tuple[int, int, int, int] | None:
        """(object address, references, address of the bytes, bytes) of the storage, or None."""
    @property
    def steps(self) -> tuple[float, float] | None:
        """(start, step) of a slice or an arange."""
    @property
    def events(self) -> tuple[tuple[Any, ...], ...]:
        """(kind, by, code, instruction, line, cell, bytes, ns) of the last 16 events."""
    @property
    def events_dropped(self) -> int:
        """Events that are gone."""
    @property
    def exports(self) -> int:
        """Buffers, DLPack and Arrow capsules consumers hold."""
    @property
    def written(self) -> int:
        """1 where a consumer could write into data2."""
    @property
    def depth(self) -> int:
        """Lazy vectors below this one."""

def lazy_over(x: Any, absolute: bool, /) -> Any:
    """A vector of the elements of x, or of their absolute values; NotImplemented without a buffer."""

def lazy_arange(format: str, itemsize: int, first: float, second: float, step: float, length: int, /) -> Any:
    """first, second, first + 2 * step, ... without storing them; as NumPy rounds them."""

def lazy_foreign(address: int, keeper: Any, /) -> Any:
    """A vector over a provider struct of lazy.h at `address`."""

def lazy_capsule(capsule: Any, /) -> int:
    """Address of the provider in a PyCapsule named inspector.lazy.provider."""

def lazy_class(type: type, /) -> None:
    """Make recipes of this subclass of LazyVector from now on."""

def lazy_portable(yes: bool, /) -> None:
    """Leave AVX2 unused in vectors made from now on: tests compare both variants of the arithmetic."""

def lazy_tell(listener: Callable[[tuple[type, tuple[Any, ...]]], object] | None, /) -> None:
    """Call `listener` with (type, event) after each materialization of a lazy vector; None: nobody."""

# --- ring_read.c -------------------------------------------------------------------------------

EVENT_FIELDS: tuple[tuple[str, str, int, str], ...]
"""The fields of a record of 64 bytes: (name, code of the struct module, offset, meaning)."""
EVENT_KINDS: tuple[tuple[str, int, str], ...]
"""What `kind` of a record says: (name, number, meaning)."""
EVENT_FLAGS: tuple[tuple[str, int, str], ...]
"""The bits of `flags`: (name, mask, meaning)."""
COMPACT_KINDS: tuple[tuple[str, int, str], ...]
"""What a half byte of `refs_delta` says in a record with FOLDED: (name, number, meaning)."""
RING_HEADER: tuple[tuple[str, str, int, str], ...]
"""The fields at the start of a ring's file, whose records begin at byte 4096; as EVENT_FIELDS."""
RING_MAGIC: int
"""The first word of a ring's file, and of each chunk of a stream."""

def ring_begin(
    directory: str, capacity: int, mode: str, every: int, clocks: int, total_bytes: int, file: int, /
) -> None:
    """Begin a session of events; each thread's first event makes its ring of `capacity` records.

    `directory`: where the rings' files are made, "" for anonymous memory. `mode`: "last" keeps the last
    records, "stream" writes all of them to the descriptor `file` (taken over), "sample" those of one of
    `every` calls from Python.
    `clocks`: 0 none, 1 at the call, 2 at the return too. All rings together stay below `total_bytes`. Raises
    ValueError for a bad argument, RuntimeError while a session is on, OSError when there can be no reader.
    """

def ring_read() -> list[tuple[int, int, int, int, int, int, bytes]]:
    """What the rings hold now, oldest ring first.

    Rows are (threading.get_ident(), tid, records written, records dropped, calls left out (sample), 1 if
    in a file, the records). While threads record, those they may be overwriting are left out, and counted
    as dropped.
    """

def ring_written() -> int:
    """Records that all threads have written in this session, those included that were overwritten since."""

def ring_end() -> tuple[list[tuple[int, int, int, int, int, int, bytes]], int, int, int]:
    """End the session: (rows as of `ring_read`, records of threads without a ring, streamed bytes, errno).

    Of a stream the rows hold no more than what could not be written; `errno` says why, 0 where all was.
    A chunk of the stream is the four words (RING_MAGIC, thread, records, tid), then the records.
    Raises RuntimeError when no session is on.
    """

def ring_clock() -> tuple[int, int, int]:
    """The events' clock, CLOCK_MONOTONIC in ns, and picoseconds a tick as first measured; now."""

def ring_mark(func: int, obj: int, val: int, aux: int, /) -> bool:
    """Record a MARK of these words in the calling thread's ring; False without room or session."""

# --- interned.c --------------------------------------------------------------------------------

def interned() -> list[Any]:
    """The types and code objects that records name by number: the number is the index, 0 is None."""

def interned_clear() -> None:
    """Forget them, and give their references back."""

# --- stacks.c ----------------------------------------------------------------------------------

def stacks_open(open: bool, /) -> None:
    """Record the native frames of each conversion of grade deep, and of each block given; or stop.

    Opening forgets the frames that were seen before.
    """

def stacks() -> dict[int, tuple[int, ...]]:
    """Number in a STACK record -> return addresses, innermost first, from the C API's caller on outwards."""

# --- journal.c ---------------------------------------------------------------------------------

def journal(path: str, bytes: int, /) -> None:
    """Write what interned numbers mean into a new file of this size, as they are given; "" ends it.

    The form is told in journal.c. Raises OSError where the file cannot be made or its space not be had.
    """

# --- asked.c -----------------------------------------------------------------------------------

_ToldRow = tuple[int, int, int, int, str, int, int, tuple[int, ...], tuple[int, ...]]

def ask_spans(callable: Callable[[Any], list[_ToldRow] | tuple[_ToldRow, ...] | None] | None, /) -> None:
    """Who tells the bytes of objects whose struct is not known here; None: nobody, as before a trace.

    It gives rows (start, extent in bytes, bytes of the elements, bytes of one, NumPy's letter, flags of
    spans.h, the element with all indices 0, shape, strides: () for more than 4 axes), or None for a type it
    does not know, which is then not asked about again. Rows in a tuple: objects of this type keep them for
    life, so arguments are asked about after their call, and only where it gave bytes back.
    """

def own_span(x: Any, /) -> _ToldRow | None:
    """Such a row of an object whose struct is known here (str, bytes, ndarray ...); None for any other."""

def unrecorded(callable: Callable[[], Any], /) -> Any:
    """What the callable gives; nothing that this thread does meanwhile is recorded."""

# --- calls.c -----------------------------------------------------------------------------------

def calls_disarm() -> tuple[int, int]:
    """Put back every pointer that was replaced: (restored, left alone because somebody wrote them since)."""

def calls_armed() -> int:
    """How many pointers are replaced now."""

def calls_function(number: int, /) -> int:
    """Address of the C function behind an armed place; 0 for a number that was not given out."""

# --- methods.c ---------------------------------------------------------------------------------

def methods_arm(callables: list[Any], /) -> list[int]:
    """Replace the function pointer behind each callable; its number, which records carry as `slot`.

    -1: no thunk is left; -2: its memory cannot be written; -3: it has no pointer of its own. Recording
    begins with calls_open(True). Callables are held by one reference each until calls_disarm.
    """

def calls_open(recorded: bool, /) -> None:
    """Whether calls through replaced pointers are recorded; switched off they go straight through."""

def calls_of_stdlib(recorded: bool, /) -> None:
    """Whether calls of bytes, bytearray and memoryview in the standard library's own Python are recorded."""

# --- type_slots.c ------------------------------------------------------------------------------

def type_slots_arm(
    types: list[type], chosen: bool, for_ledger: bool = False, /
) -> list[tuple[int, type, str]]:
    """Replace slots of an allow list in types: (number as `slot` in records, type, name of the slot).

    bf_getbuffer, nb_index, nb_float, nb_int, sq_item, tp_iter and tp_finalize, where an extension wrote them;
    with `chosen` False only where the pointer is one that is armed in a base. Put back by calls_disarm.
    `for_ledger`: no bf_getbuffer and tp_finalize; mp_subscript, mp_ass_subscript, tp_init, tp_call,
    tp_iternext, tp_richcompare, tp_repr and tp_str beside the others.
    """

def type_slots_settle(types: list[type], /) -> int:
    """Put the original into slots that copied a thunk, of types made while their base was armed: how many."""

def type_slots_capsules() -> int:
    """Replace the dealloc of capsules, so that their destructors are recorded; its number."""

# --- foreign.c ---------------------------------------------------------------------------------

def foreign_arm(paths: frozenset[str], /) -> tuple[int, int]:
    """Patch the slots through which these libraries (of ctypes, of cffi) call C functions, and the GIL's.

    Returns (slots of calls, slots of the C API). The latter are restored by got_disarm. Raises RuntimeError
    in another interpreter than the main one.
    """

def foreign_disarm() -> tuple[int, int, int, int]:
    """Restore the slots of calls: (restored, another tracer's now, gone with their module, read-only)."""

def foreign_open(recorded: bool, /) -> None:
    """Whether calls are recorded."""

def foreign_names(address: int, /) -> list[str]:
    """Every name under which a loaded library exports the function at an address; indirect ones too."""

def foreign_functions() -> dict[int, int]:
    """Number of a C function, `slot` of a FOREIGN record -> its address; all that were ever recorded."""

# --- capi.c ------------------------------------------------------------------------------------

CAPI_ROWS: tuple[tuple[str, str, str, str, str, str, str, str, str, str, str, str], ...]
"""The hooked C-API functions, by the number that `func` of a CAPI record holds.

(name, result type, parameters, obj, val, aux, keep, fails, owns, effects, direction, form): the columns of
native/trace/capi/capi.def as text; `form` is "call", "variadic" or "entry".
"""

# --- got.c -------------------------------------------------------------------------------------

def got_arm(paths: frozenset[str], grade: int, pointers: bool = False, /) -> tuple[int, int, int]:
    """Patch the slots of the loaded objects at these paths, as `got_objects` spells them.

    `grade`: 0 count, 1 record (what has no row, or is a QUESTION or UPKEEP, is counted), 2 deep; those armed
    already change to it.
    `pointers`: not their imports, but the words of their data that hold a function's address. Of objects that
    import nothing of Python's those are their slots anyhow.
    Returns (slots patched, slots whose page could not be made writable, slots for which there is no thunk
    left). Raises RuntimeError in another interpreter than the main one, ValueError for a bad grade.
    """

def got_disarm() -> tuple[int, int, int, int]:
    """Restore every patched slot: (restored, another tracer's now, gone with their module, read-only)."""

def got_slots() -> list[tuple[int, str, str, int, int, int, int, int, int, int, int, int, int]]:
    """Every slot found so far; its number is `slot` of a record.

    Rows are (number, path of the module, function, row of CAPI_ROWS or -1 (-2: one of ALLOCATORS), address
    of the slot, calls counted, 1 if patched, 1 if another tracer's function is called in between, 1 if in
    RELRO, the word it held, the word we store, 1 if it is a word of the library's own data, 1 if its owner
    changed it while it was patched).
    """

def got_without_trampoline() -> list[tuple[str, int]]:
    """(path, slots) of each loaded object that came when all thunks of the process were given away.

    Of the slots that import Python's C API; they are never hooked in this process.
    """

def got_clear_counts() -> None:
    """Set the calls counted to 0."""

# --- numpy_table.c ------------------------------------------------------------------------------

NUMPY_PLACES: tuple[tuple[int, int, int], ...]
"""NumPy's functions that have a row: (row of CAPI_ROWS, index in PyArray_API of NumPy 1, of NumPy 2)."""

def numpy_table_choose(paths: frozenset[str], /) -> None:
    """Calls that these loaded objects make through NumPy's table are recorded, until numpy_table_disarm."""

def numpy_table_arm(capsule: Any, grade: int, /) -> int:
    """Patch the table in NumPy's capsule `_ARRAY_API`: how many of its functions. `grade` as in got_arm.

    0 in another interpreter than the main one, and for a NumPy whose ABI is not known. Raises ValueError for
    another capsule.
    """

def numpy_table_disarm() -> tuple[int, int]:
    """Restore the table: (words restored, another tracer's now)."""

def numpy_table_slots() -> list[tuple[int, str, int, int]]:
    """What was called through the table so far, by module; the number is `slot` of a record.

    Rows are (number, path of the module or "" where a tail call left none, row of CAPI_ROWS, calls counted).
    """

# --- loaded.c -----------------------------------------------------------------------------------

def got_objects() -> list[str]:
    """Paths of the loaded shared objects, as the dynamic linker spells them."""

def got_hosts() -> list[str]:
    """Paths of the loaded objects that embed this Python, as `got_arm` takes them.

    The program itself where it imports Python's functions, and every object that imports none and keeps
    their addresses, which dlsym gave it, in its own data.
    """

# --- hosts.c -----------------------------------------------------------------------------------

def hosts_arm(paths: frozenset[str], /) -> list[str]:
    """Answer dlsym with thunks, in the program and these objects: those that ask it and import no Python.

    Gives their paths; `got_arm` of them makes what they ask for from now on traced. At most 3 for the life
    of the process. Raises RuntimeError in another interpreter than the main one.
    """

def hosts_disarm() -> tuple[int, int, int, int]:
    """Give dlsym back: restored, left to another tracer, gone, not writable."""

# --- writes.c ----------------------------------------------------------------------------------

def writes_arm(words: list[tuple[int, int]], threads: list[int], budget: int, /) -> int:
    """Watch at most four words, (address, 1, 2, 4 or 8 bytes), in these threads and those they start.

    Gives the number of events. Raises OSError as perf_event_open(2) fails; RuntimeError when armed already.
    `budget` writes are recorded, the rest counted. SIGTRAP is the watch's own until `writes_disarm`.
    """

def writes_disarm() -> tuple[
    list[tuple[int, int, int, int, int, int, int, int, list[int], list[tuple[str, str, int, int]]]],
    int,
    bool,
]:
    """End the watch: the records, the number of writes, and whether a word changed without a write seen.

    A record is (ns, thread, address, bytes of the values, before, after, bytes written, instructions, native
    return addresses, Python frames as (name, file, line, whether C called it)), innermost first. Times are
    CLOCK_MONOTONIC.
    """

# --- hits.c ------------------------------------------------------------------------------------

def hardware_breakpoints_arm(addresses: list[int], threads: list[int], only: int, budget: int, /) -> None:
    """Count each time one of at most four addresses is reached, in these threads and those they start.

    `only`: hits of this thread alone; 0 for all. `budget` hits are recorded. Raises OSError as
    perf_event_open(2) fails; RuntimeError while this or a watch on writes is armed.
    """

def hardware_breakpoints_disarm() -> tuple[
    list[tuple[int, int, int, int, int, int, int, int, list[int], list[tuple[str, str, int, int]]]],
    list[int],
]:
    """End it: records as of `writes_disarm`, of which values and sizes say nothing, and hits by address."""

# --- writes_pages.c ----------------------------------------------------------------------------

def writes_pages_arm(
    start: int, bytes: int, size: int, anonymous: bool, threads: list[int], budget: int, /
) -> tuple[int, int]:
    """Watch a range of bytes by protecting its pages, in these threads and those they start.

    `size`: bytes of an element, at most 8. `anonymous`: of no file. Gives the numbers of pages and events.
    Raises OSError as userfaultfd(2) and perf_event_open(2) fail; RuntimeError when armed already. Stores of
    one pass over neighbours are one record; when `budget` records or 50 times as many stores were made the
    pages are opened for good. SIGTRAP is the watch's own until `writes_pages_disarm`.
    """

def writes_pages_disarm() -> (
    tuple[
        list[tuple[int, int, int, int, int, int, int, int, list[int], list[tuple[str, str, int, int]]]],
        int,
        int,
        bool,
        int,
        int,
    ]
    | None
):
    """End the watch: records as of `writes_disarm`, stores, whether bytes changed unseen (-1: not known),
    whether the budget ended it, stores beside the range in its pages, page faults that came too late to step.
    """

def writes_pages_refused() -> int:
    """0, or the errno with which this kernel refuses a userfaultfd that protects without ever blocking."""

# --- remote.c ----------------------------------------------------------------------------------

def remote_stop(pid: int, seconds: float, /) -> list[tuple[int, int]]:
    """Stop every thread of another process (PTRACE_SEIZE, ptrace(2)): (thread, signal kept for it).

    Raises OSError: EPERM, ESRCH; ETIMEDOUT when a thread did not stop within `seconds`, and then the threads
    are free once the calling process ends. Call it in a process that ends soon: its end lets go of all.
    """

def remote_go(threads: Sequence[tuple[int, int]], /) -> None:
    """Let go of what `remote_stop` gave, with the signals that were kept. By the same thread."""

def remote_scan(
    pid: int, ranges: Sequence[tuple[int, int]], needles: Sequence[tuple[int, int]], limit: int, /
) -> tuple[list[tuple[int, int]], int, int, int]:
    """Words of another process's `ranges` whose value lies in a needle [start, stop).

    Gives ((word address, value), ...) up to `limit`, then: hits in all, bytes read, bytes not read. Pages
    that are not in memory are not brought in.
    """

# --- remote_call.c -----------------------------------------------------------------------------

def remote_begin_call(thread: int, function: int, /, *arguments: int) -> bytes:
    """Call a function in a thread of another process that `remote_stop` holds; x86-64 only.

    `function` and at most six `arguments` are words of that process. The thread's registers come back: they
    are for `remote_end_call`, without which the thread faults when the function returns. Raises OSError.
    """

def remote_end_call(thread: int, registers: bytes, seconds: float, /) -> int | None:
    """The word the function returned, the thread standing as before the call; None: not within `seconds`.

    Signals that arrive meanwhile are delivered. Raises OSError: ESRCH, the thread has ended; EFAULT, the
    function faulted, and the thread stands as before the call all the same.
    """

# --- remote_objects.c --------------------------------------------------------------------------

def remote_holders(
    pid: int,
    heads: list[int],
    words: list[int],
    sets: list[int],
    generators: list[int],
    layout: tuple[int, int, int, int, int, int, int],
    limit: int,
    /,
) -> tuple[list[tuple[int, int, int]], int, bool]:
    """Which gc-tracked objects of another process hold the words at the addresses `words`, sorted.

    `heads` are the collector's lists; `sets` and `generators` are types with a layout of their own; `layout`
    is (minor version, frame in a generator, code in a frame, variables and stack size in a code object,
    variables in a frame, cached keys in a type), offsets in bytes.
    Gives ((word, object, how), ...), objects walked, and whether the lists were read to their ends. `how`:
    0 in the object, 1 list items, 2 dict entries, 3 dict values, 4 set table, 5 instance values.
    """

# --- losses.c ----------------------------------------------------------------------------------

LOSS_RULES: tuple[str, ...]
"""Ways in which an element is not kept: `func` of a LOSS record is an index."""

# --- allocations.c -----------------------------------------------------------------------------

ALLOCATORS: tuple[str, ...]
"""Functions that give memory: `func` of an ALLOCATION record is an index."""

def allocations_arm() -> tuple[int, int, int, int]:
    """Patch the slots through which loaded objects ask for memory, and Python's own allocators.

    Again after something was loaded: what is patched stays so. Returns (slots patched, slots whose page
    could not be made writable, slots for which there is no thunk left, domains of Python hooked).
    Raises RuntimeError in another interpreter than the main one.
    """

def allocations_disarm() -> tuple[int, int, int, int, int]:
    """Restore all: (slots restored, another tracer's now, gone, read-only, domains another tracer has)."""

def allocations_open(open: bool, /) -> None:
    """Record blocks of 4 KiB and more, or stop."""

# --- ledger.c ----------------------------------------------------------------------------------

LEDGER_FLAGS: dict[str, int]
"""The bits of a row's flags (native/leaks/entries/entry.h)."""
LEDGER_RELATIONS: tuple[str, ...]
"""What the object of a row was to the argument of the unbalanced call."""
LEDGER_FAULTS: tuple[str, ...]
"""The kinds of faults, by number."""

LedgerTouch = tuple[str, int, int, int, int, int, int, int]
"""Role (a letter of native/leaks/entries/entry.h), row of CAPI_ROWS or -1, slot, return address, id in INTERNED of the
running code, offset in its bytecode, 1 + number of the method (0: none), change of the count."""

LedgerRow = tuple[Subject | None, int, str, int, int, int, int, int, int, int, int, int, list[LedgerTouch]]
"""The object (None where it lies in a free list), address, type, flags, count at the first touch, count now
(of a dead object: minus what was taken since), references that the gc's objects and variables show, balance
of the calls, calls that were unbalanced, how many in a row of these fell, relation, argument (0: self),
touches."""

LedgerFault = tuple[int, int, int, int, int, int, int, int]
"""Kind, row of CAPI_ROWS or -1, slot, return address, code id, offset, 1 + number of the method, address."""

DanglingRow = tuple[Subject, int, int, int, str, int, int, int, int, int, list[LedgerTouch]]
"""The view, start and stop of what it shows, whether the memory is kept (else it may be another's by now),
the function that freed it, slot, return address (0: not known), code id, offset, 1 + number of the method,
and what the ledger noted of the view."""

def ledger_open(passed_over: str, /) -> None:
    """Begin to note, in hooks of grade 3 and in armed methods, which objects are made, given and freed.

    Code whose `co_filename` is this very object is passed over where a line of Python is noted.

    Raises RuntimeError while the ledger is open.
    """

def ledger_close(
    limit: int, /
) -> tuple[list[LedgerRow], list[LedgerFault], int, int, int, list[DanglingRow]]:
    """End noting: (what the counts make suspicious, up to `limit`; faults; left out; not noted; kept blocks;
    views whose memory was freed).

    ledger_release must follow. Empty when the ledger is not open.
    """

def ledger_release(keep: set[int], /) -> None:
    """Free what was kept apart, and the references held for safety, but for the addresses in `keep`."""

def ledger_rooms() -> list[tuple[int, int]]:
    """The memory of the ledger, which a search for owners leaves out; empty ranges while it is closed."""

def ledger_give_back(subject: Subject, count: int, /) -> None:
    """Add `count` references to an object that lost as many without right."""

# --- exits.c -----------------------------------------------------------------------------------

def at_exit(call: Callable[[], object] | None, /) -> None:
    """Have `call` called when the process exits and its Python never ended; None: nothing is called.

    One function at a time; not after a signal or `os._exit`, nor in a process that was forked.
    """

def stack_height() -> int:
    """Address on this thread's stack, at and above which frames run."""

# --- ledger_views.c, sources.c -----------------------------------------------------------------

def views_freed(start: int, stop: int, /) -> bool:
    """Whether a ledger saw some of these bytes freed under a view that still showed them: nobody has them."""

def freeing_arm() -> int:
    """Patch the slots by which loaded libraries give memory back; how many. More libraries: call again."""

def freeing_disarm() -> None:
    """Restore them."""

RAW_MEMORY_FUNCTIONS: tuple[str, ...]
"""Names of the functions that gave a block: numbers in RawMemoryRow."""

RawMemoryRow = tuple[int, int, int, int, int, tuple[int, ...], int, int, int, int, int, int, str]
"""Address, bytes asked for, run, function, number of its native frames, these (return addresses, innermost
first), code id, offset, 1 + number of the method; 0: lost, 1: only lost blocks point at it, 2: reached;
1: its allocator says that it is given out, -1: it does not say; the word that reaches it (0: none), and what
that is part of: "object", "block", "frame", "static", "stack", "mapping", "disguised" (an int, a text, a
tagged or packed pointer holds its address), "" (not known); "untraced": lost, and there was no room to look
for such a disguise."""

def raw_memory_open() -> None:
    """Begin to follow blocks that chosen modules get from malloc and its kin, and who frees them.

    Nothing is noted before raw_memory_run. Raises RuntimeError while it is open.
    """

def raw_memory_run(number: int, /) -> None:
    """What is given from now on belongs to this run, 1 to 255; 0: it is not noted."""

def raw_memory_arm(paths: frozenset[str], /) -> int:
    """Patch the slots by which these loaded files ask for memory; how many. Their code's blocks of Python's
    own allocators count from now on, too."""

def raw_memory_disarm() -> None:
    """Restore those slots."""

def raw_memory_search(
    leave_out: Sequence[tuple[int, int]], own_prefix: str, /
) -> tuple[list[RawMemoryRow], int, int]:
    """Search memory for pointers into the blocks that are not freed: (rows, bytes searched, nanoseconds)."""

def raw_memory_close() -> int:
    """Forget all blocks and listen no more; how many there was no room for."""

def raw_memory_disguised(
    blocks: Sequence[tuple[int, int]], ranges: Sequence[tuple[int, int]], way: int, /
) -> list[int]:
    """Search ranges of memory for addresses of up to 64 blocks in disguise: of each block, by address, a word
    that holds one, or 0.

    `way` 0: the fastest; 1: as on a processor without AVX2; 2: each word by itself. Raises ValueError.
    """

# --- unexplained.c ---------------------------------------------------------------------------------

UnexplainedRow = tuple[Subject, str, int, tuple[int, ...]]
"""The object, its type, the note that met it first, and its unexplained references in that note and each later one."""

def unexplained_note(limit: int, /) -> tuple[list[UnexplainedRow], int]:
    """Note the unexplained references of every object: those that nothing the gc sees holds.

    `limit` 0: no more than that. Else the last note: up to `limit` objects whose count of them grew with every
    note, or fell with every one, or that came after the first note and have one; and how many more there
    were. What was noted is forgotten then. At most 8 notes. Raises ValueError, MemoryError.
    """

def unexplained_forget() -> None:
    """Forget all notes."""

# --- traps.c -----------------------------------------------------------------------------------

def traps_arm() -> tuple[int, int] | None:
    """Guard this process against breakpoints that a killed debugger leaves: (address of the table, rows).

    The table is a count, the word of `traps_watch`, and rows of (address, byte), 8 bytes each, which the
    debugger fills before it plants. Calls nest; each makes the table empty. None where the guard cannot be
    had: not x86-64, or no /proc/self/mem.
    """

def traps_disarm() -> None:
    """Give SIGTRAP back to whom it belonged before; the last of nested calls does."""

def traps_watch(on: bool, /) -> None:
    """Tell the debugger whether the user's code runs: hits outside of it are the tool's own."""

def traps_counts() -> tuple[int, int]:
    """Since `traps_arm`: (breakpoints that a thread met and undid, single steps that were ended)."""
