"""The contract of the C extension inspector._native: signatures and docstrings, one block for each C file."""

# SPDX-License-Identifier: MIT
from array import array
from collections.abc import Callable, Iterable, Sequence
from types import CodeType, FrameType
from typing import Any, TypedDict, final

# native/module/build.c
BUILD: str
"""What the extension was built with: headers of which CPython, compiler, C library."""

# native/objects/subject.c
@final
class Subject:
    """The object under inspection, held by exactly one reference of the tool's own.

    Create it on entry and delete your own name for the object; then `refcount()` is the true count.
    """

    def __init__(self, object: Any, /) -> None: ...
    @property
    def address(self) -> int:
        """Address of the object (as `id` returns it)."""
    def get(self) -> Any:
        """The object itself: a new reference, to be dropped soon."""
    def refcount(self) -> int | None:
        """`ob_refcnt` without the Subject's reference; None for an immortal object (PEP 683)."""
    def leave_out(self, count: int, /) -> None:
        """Subtract `count` references in `refcount()`: those of the call that passed the object."""

# native/objects/call_references.c
def entered_from_c(level: int, /) -> bool:
    """Whether C code called the Python function `level` frames above; False if frames cannot be read."""

def stack_slots(subject: Subject, level: int, first: int, stop: int, /) -> int:
    """Number of slots in [first, stop) of a frame's evaluation stack that hold the object.

    `level` counts Python frames above the caller. 0 if frames cannot be read.
    """

# native/heap/census.c
def census(ours: tuple[type, ...], /) -> tuple[list[tuple[str, int, int]], int, int, int]:
    """Count live objects by type: ([(type name, objects, own bytes)], gc-tracked objects, ns, extra bytes).

    Objects of the types in `ours` are neither counted nor traversed. Runs no user code, with the gc disabled.
    """

# native/heap/tracked.c
def tracked_objects() -> list[Any]:
    """All objects that the collector tracks, also those of gc.freeze(), which gc.get_objects() leaves out."""

def tracked_before(words: list[int], /) -> list[Any]:
    """Of each address, in order, the tracked object that begins there, or as the last one before it.

    None: none begins within 64 KiB before the first of the addresses that no other object parts.
    """

# native/heap/account/account.c
def account(
    ours: tuple[type, ...], told: tuple[tuple[int, int, Any], ...], /
) -> tuple[
    tuple[
        list[tuple[int, int, tuple[int, ...]]],
        list[tuple[int, int, int, str, int]],
        list[tuple[str, int, int]],
        list[tuple[str, int, int]],
        list[tuple[str, int, int]],
        list[tuple[Subject, int]],
        int,
        int,
    ],
    bytes,
]:
    """Whose the resident bytes of anonymous memory are; `told`: (start, stop, object) of buffers.

    Returns a row and the text of smaps of the same moment. The row: (mappings, gaps, small, large, buffers,
    largest objects, pools, live blocks in pools). A mapping: (start, stop, resident bytes: objects, buffers,
    other live blocks of malloc, free in Python's allocator, free in malloc, in fast bins, stacks, libraries'
    data, the walk's own). A gap: (start, stop, resident bytes, file whose data points there, how often).
    Small, large, buffers: (type name, blocks, bytes).
    """

# native/objects/names.c
def names(namespace: dict[str, Any], /) -> list[tuple[str, str, int, int | None, int]]:
    """Rows of a namespace: (name, type name, address, references or None if immortal, own bytes).

    For a value that is a Subject the row describes its object, without the Subject's reference. Names of any
    type but `str` have no row. References are -1 where a free-threaded CPython does not count them.
    """

# native/heap/retained.c
def retained(
    subject: Subject, rows: array[int] = ..., references: array[int] = ..., holders: list[Any] = ..., /
) -> tuple[list[tuple[str, int, int]], int, int, list[int], list[tuple[str, int, int]], list[int]]:
    """What goes with the object, itself included: ([(type name, objects, bytes)], visited, extra bytes,
    addresses of such rows; types and addresses of what only it keeps and nothing frees: a hidden cycle).

    `visited` counts the objects it reaches, without those that loaded modules hold. `rows`: what is counted
    beyond Python, as words (address, references, first of its references, their number) by address; an odd
    address is no object's. `holders` keeps the objects that rows name. Runs no user code.
    """

def retained_by_types(names: tuple[str, ...], ours: tuple[type, ...], /) -> list[int]:
    """Bytes freed if all objects of a type were freed, for each type name; types in `ours` are left out."""

# native/heap/reached.c
def reached(
    roots: tuple[Subject, ...],
    stops: tuple[Any, ...],
    leaves: tuple[type, ...],
    most: int,
    most_leaves: int,
    once: bool,
    /,
) -> tuple[list[tuple[int, int, int, list[Any], list[Any]]], list[type], bool]:
    """What each object reaches: (a row a root, the types met, whether `most` objects sufficed).

    A row: own bytes of the objects reached, with the root; of those that no root before it reaches; how many
    they are; those of the types in `leaves`, whose bytes are not counted; and such objects that only those
    refer to. Walks end at modules, code, immortal objects, classes and the objects in `stops`; a root that is
    a class of `__main__` is followed. `once`: each object is reached from the first root only.
    """

# native/heap/chain.c
def chain(
    subject: Subject, names: tuple[int, ...], own_folder: str, /
) -> tuple[list[tuple[str, str, str, int, int, Any]] | None, int, int, int]:
    """The shortest path from a root to the object: (steps or None, objects visited, ns, extra bytes).

    A step is (kind, holder's type, holder's name, holder's length or -1, holder's address, key). The key is a
    str, an int, or for any other key a tuple of its type name. The first holder is a root: a module, frame,
    thread, or a dict whose id is in `names`. Frames of code in `own_folder` and Subjects are skipped.
    """

# native/memory/memory.c
def maps() -> list[tuple[int, int, str, int, int, str]]:
    """The mappings of this process: (start, stop, permissions, file offset, inode, path), by address.

    Permissions as in "rw-p"; the path is "" or "[heap]", "[stack]" ... (proc_pid_maps(5)).
    """

def read(address: int, size: int, /) -> bytes | None:
    """`size` bytes at an address, by process_vm_readv(2); None unless all are readable."""

# native/memory/scan.c
def scan_words(
    needles: Sequence[tuple[int, int]],
    leave_out: Sequence[tuple[int, int]] = (),
    limit: int = 65536,
    portable: bool = False,
    ignored: int = 0,
) -> tuple[list[tuple[int, int]], int, int, int, int]:
    """Search writable memory for words whose value, without `ignored` bits, is in a needle [start, stop).

    Returns [(word address, value), ...] up to `limit`, then: total hits, bytes read, bytes not read
    (`leave_out`, pages never touched, memory unmapped meanwhile), nanoseconds. Hits are candidates: a word
    may be stale, or no pointer at all. `portable` uses plain C even if the processor has AVX2.
    """

def scan_bandwidth() -> float:
    """Bytes per second of the last search; 0.0 before the first."""

# native/objects/preview.c
def preview(subject: Subject, secret_words: tuple[str, ...], /) -> str | None:
    """At most 60 printable characters of the value; None if only code of its type could make a text.

    Covers exact built-in types, nested 2 deep; values under names with a secret word are `<masked>`.
    """

# native/objects/layout.c
class ObjectRow(TypedDict):
    """One object's C structure. Exists for the type checker only."""

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
    """The object's header and its type's sizes, read from memory; runs no user code."""

# native/objects/symbols.c
def image(address: int, /) -> tuple[str, int, int, bytes] | None:
    """(path, load bias, first address, first 512 bytes) of the loaded file that holds `address`.

    The path is "" for the executable. None for an address in no loaded file.
    """

def exported(address: int, /) -> tuple[str, int] | None:
    """(symbol, offset) by dladdr(3): exported symbols only; None if none covers `address`."""

# native/objects/kinds.c
def exactly(object: Any, /, *kinds: type) -> bool:
    """Whether `type(object)` is one of these, by address: no metaclass is asked for `==` or a hash."""

# native/objects/buffer.c
def speaks_buffer(kind: type, /) -> bool:
    """Whether instances support the buffer protocol: the type's `bf_getbuffer` is set. Calls nothing."""

def ask_buffer(
    object: Any, /
) -> tuple[int, int, int, str, tuple[int, ...], tuple[int, ...], bool, bool, str]:
    """Get a buffer (PyBUF_FULL_RO, PEP 3118), describe and release it. Runs the exporter's code.

    Returns address, bytes, itemsize, format, shape, strides, readonly, indirect (suboffsets), exporter's
    type. Raises what the exporter raises; ValueError if the Py_buffer cannot be read.
    """

def exports(object: Any, /) -> int:
    """Number of buffers now exported by an exact bytearray, memoryview, array.array or mmap.mmap.

    Read from its C struct. Raises TypeError for other types.
    """

def ndarray_fields(
    object: Any, ndarray: type, /
) -> tuple[int, tuple[int, ...], tuple[int, ...], int, Any, Any]:
    """Data address, shape, strides in bytes, NPY_ARRAY_* flags, base and descr (numpy/ndarraytypes.h).

    `ndarray` is `numpy.ndarray`; instances of its subclasses are read too. Raises TypeError for others.
    """

# native/objects/protocols.c
def array_struct(capsule: Any, /) -> tuple[int, tuple[int, ...], tuple[int, ...], int, str, int]:
    """Address, shape, strides, itemsize, kind, NPY_ARRAY_* flags of an `__array_struct__` capsule.

    Raises ValueError for any other capsule, or if its pointers cannot be read.
    """

def dlpack(
    capsule: Any, /
) -> tuple[int, tuple[int, ...], tuple[int, ...] | None, int, int, int, int, int, bool]:
    """Address, shape, strides in bytes (None: C order), itemsize, type code, bits, device type, device
    number and readonly of a `__dlpack__` capsule, which is not consumed. Raises ValueError as above.
    """

def arrow(schema: Any, array: Any, /) -> tuple[str, int, int, int, tuple[int, ...]]:
    """Format, length, nulls, offset, buffer addresses of `__arrow_c_array__`'s capsules, not consumed."""

# native/objects/attributes.c
def attributes_of(object: Any, /) -> tuple[Any, ...]:
    """Name, value, name, value, ... of an instance's own attributes, of at most 10,000.

    Runs no code of its class and makes no `__dict__`. () of a class, and of an object without any.
    """

def own_attributes(object: Any, names: tuple[str, ...], /) -> tuple[str, ...]:
    """Those of `names` that an instance or a module has as its own attributes, not its type's.

    Reads memory: runs no user code and creates no `__dict__`. () for a type: its namespace holds its
    instances' attributes. A dict with keys other than str is read up to its 10,000th key.
    """

# native/memory/mappings.c, native/objects/symbols.c
def mapping_at(address: int, /) -> tuple[int, int, str, int, str, int] | None:
    """Start, stop, permissions, file offset, name and page size of the mapping that holds `address`.

    None if no mapping does, or if the kernel has no PROCMAP_QUERY (before Linux 6.11).
    """

def huge_at(address: int, /) -> bool | None:
    """Whether the page that holds `address` is a huge page, transparent or of hugetlbfs.

    None if it is not in memory, or if the kernel has no PAGEMAP_SCAN (before Linux 6.7).
    """

def read_present(address: int | Iterable[int], count: int, /) -> bytes | None:
    """`count` bytes (1 to 256) at each address, if all pages are in this process's memory now; else None.

    Causes no page fault, and a bad address does no harm.
    """

def demangle(name: str, /) -> str | None:
    """The demangled C++ name; None for other symbols, and if no C++ runtime is loaded.

    At most 8,192 bytes; from `__cxa_demangle` (Itanium C++ ABI).
    """

# native/memory/residency.c
def residency(
    ranges: Sequence[tuple[int, int, int]], cells: int, portable: bool = False, /
) -> tuple[str, int, int, int, int, int, int, str] | None:
    """Which pages of disjoint ranges (start, stop, kind) are in memory; nothing is read or paged in.

    The kind of the mapping: 0 anonymous, 1 file, 2 shared memory. Returns the source ("PAGEMAP_SCAN" or
    "pagemap"); bytes that are private, of the zero page, of a file, shared, swapped; of these, in huge pages;
    and `cells` letters (at most 4096), the most frequent kind of each part: p, z, f, s, w, or "." for absent.
    With pagemap alone (`portable`) a page shared with a forked child counts as zero page. None if the kernel
    has neither.
    """

# native/objects/locals.c
def local_values() -> list[Any]:
    """The values of the local variables of all running functions, in every thread; creates no frame object.

    Empty slots are left out, and so are references that a frame of 3.14 only borrows.
    """

def frame_locals(frame: FrameType, /) -> list[tuple[str, Any]]:
    """(name, value) of the bound variables of a frame; a cell stands for its variable. Makes no dict."""

# native/objects/types.c
MethodRow = tuple[str, tuple[str, ...], int, str]
"""A PyMethodDef: name, METH_* names, address of the function, first line of the doc."""
GetSetRow = tuple[str, int, int, str]
"""A PyGetSetDef: name, address of the getter and of the setter (0: none), first line of the doc."""

class TypeRow(TypedDict):
    """A PyTypeObject. Exists for the type checker only."""

    name: str
    module: str
    """"" where the type has none."""
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

# native/objects/functions.c
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

# native/search/owners.c
CODE_FIELDS: dict[str, int]
"""Fields of a code object without a Python attribute -> offset; `_co_cached` is a block of references."""

HolderRow = tuple[
    int, str, Subject | None, str, int, Subject | None, int, bool, int, int, int, FrameRow | None
]
"""Index of the subject; kind of place: "object", "frame", "static", "block", "stack", "mapping", "unknown";
the holder; its slot: "item", "key", "value", "element", "attribute", "local", "stack", "type", "dict",
"field", "block", "state"; index or offset of the slot; key or name; references; certain; address of the word,
of the word that points to its block (0: none), and of the block (0: none); frame."""

FrameRow = tuple[CodeType, int, int, int, int, int]
"""(code, line, offset of the current instruction, depth, thread, whether it is calling a Python function)."""

class SearchRow(TypedDict):
    """Statistics of a search of memory: bytes, nanoseconds, hits."""

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
    """Find the holders of these objects: search memory for pointers to them and verify each hit.

    The GIL is held throughout. `leave_out`: address ranges not to read; `layouts`: offsets of owned fields of
    exact types that the gc does not traverse; frames of code under the folder `own_prefix` are the tool's
    own. The tables of `namespaces` are recognised without a search for their owner; `brief` searches the
    owners of blocks only for subjects that nothing else names. At most `limit` places are kept for all
    subjects together; `truncated` counts the rest. Freed memory takes none, the words of one block, or the
    instances of one class, a few. `boxes`: for each subject, how many references are the caller's own; then
    the search may end when all others are found and verified. `unaligned` searches the address of the one
    subject at the seven unaligned positions of each word, and nowhere else. `progress(bytes done, total
    bytes)` is called every 0.1 s, in an unaligned search too; returning False raises InterruptedError. Ctrl-C
    is noticed within 1 MiB.
    """

# native/module/walk_progress.c
def walk_listen(file: int, patience_ms: int, /) -> bool:
    """Let census, chain and retained size write their progress to this file descriptor; -1: to none.

    Every 0.1 s, after `patience_ms`. Returns whether anything was written since the last call. A walk lets no
    Python code run, so C writes the line.
    """

# native/search/kept_words.c
def blocks_in_use(words: list[int], own_prefix: str, /) -> list[tuple[int, int] | None]:
    """Of each word its block, if C code uses that: an extension's object, a block, a mapping; (0, 0) in
    static data; else None."""

# native/search/quick_referrers.c
def quick_referrers(
    subject: Subject,
    namespaces: tuple[dict[Any, Any], ...],
    layouts: tuple[tuple[type, tuple[int, ...]], ...],
    own_prefix: str,
    budget: int,
    /,
) -> tuple[list[HolderRow], list[tuple[Subject, Subject | None, Subject | None, FrameRow | None]], bool]:
    """Find holders without a search: frames, namespaces, and the objects that those name directly.

    Returns the rows of `find_holders`; for holders reached through a name (holder, namespace or None, key,
    frame or None); and whether `budget` words sufficed to read all of it.
    """

# native/memory/bandwidth.c
def read_all(most: int = ..., /) -> tuple[int, int, int]:
    """Read the memory that a search would read, at most `most` bytes, without searching it.

    Returns (bytes, nanoseconds, sum of the words): the upper limit of a search's bandwidth.
    """

# native/memory/tried.c
def malloc_at() -> int:
    """The address of the malloc that libraries call."""

def give_back_try(call: Callable[[], object] | None, milliseconds: int, /) -> int | None:
    """Bytes that leave the resident set of a copy of this process by the call, or by malloc_trim(0) for None.

    None: it did not end in time, or there could be no copy.
    """

# native/lazy/vector.c
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
        """Address of all elements; materializes them once, for all threads. `by` names the requester.

        Writable memory belongs to this vector alone: BufferError while consumers hold it.
        """
    def materialize_blocks(self, start: int, stop: int, by: str | None, /) -> None:
        """Materialize the blocks of 128 KB that hold [start, stop)."""
    def input_changed(self, budget: int, /) -> tuple[bool, int, int]:
        """(changed, compared, touched): compare what was read of the input, at most `budget` blocks."""
    def share(self, other: LazyVector, /) -> None:
        """Take over data2 of a materialized duplicate, shared until one is written."""
    def note(self, kind: str, by: str | None, bytes: int, /) -> None:
        """Append an event with the line of the caller."""
    def sum(self) -> Any:
        """Sum without data2: float, or int modulo 2**64."""
    def mean(self) -> float:
        """Mean without data2; NaN for length 0."""
    def min(self) -> Any:
        """Least element without data2; NaN if there is one. ValueError for length 0."""
    def max(self) -> Any:
        """Greatest element without data2; NaN if there is one. ValueError for length 0."""
    def is_sorted(self) -> bool:
        """Whether no element is less than the one before (NaN last, as in np.sort)."""
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
        """Logical bytes of the elements; not memory in use."""
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
        """Number of older events dropped."""
    @property
    def exports(self) -> int:
        """Number of buffers, DLPack and Arrow capsules that consumers hold."""
    @property
    def written(self) -> int:
        """1 if a consumer could write into data2."""
    @property
    def depth(self) -> int:
        """Number of lazy vectors below this one."""

def lazy_over(x: Any, absolute: bool, /) -> Any:
    """A vector of the elements of x, or of their absolute values; NotImplemented without a buffer."""

def lazy_arange(format: str, itemsize: int, first: float, second: float, step: float, length: int, /) -> Any:
    """first, second, first + 2 * step, ... without storing them; rounded as NumPy rounds."""

def lazy_foreign(address: int, keeper: Any, /) -> Any:
    """A vector over a provider struct of lazy.h at `address`."""

def lazy_capsule(capsule: Any, /) -> int:
    """Address of the provider in a PyCapsule named inspector.lazy.provider."""

def lazy_class(type: type, /) -> None:
    """From now on create recipes as this subclass of LazyVector."""

def lazy_portable(yes: bool, /) -> None:
    """Do not use AVX2 in vectors made from now on: tests compare both variants of the arithmetic."""

def lazy_tell(listener: Callable[[tuple[type, tuple[Any, ...]]], object] | None, /) -> None:
    """Call `listener` with (type, event) after each materialization of a lazy vector; None: no listener."""

# native/trace/record/ring_read.c
EVENT_FIELDS: tuple[tuple[str, str, int, str], ...]
"""The fields of a 64-byte record: (name, format of the struct module, offset, meaning)."""
EVENT_KINDS: tuple[tuple[str, int, str], ...]
"""The values of a record's `kind`: (name, number, meaning)."""
EVENT_FLAGS: tuple[tuple[str, int, str], ...]
"""The bits of a record's `flags`: (name, mask, meaning)."""
COMPACT_KINDS: tuple[tuple[str, int, str], ...]
"""The values of a half byte of `refs_delta` in a compact record (flag COMPACT): (name, number, meaning)."""
RING_HEADER: tuple[tuple[str, str, int, str], ...]
"""The header fields of a ring's file, as EVENT_FIELDS; the records begin at byte 4096."""
RING_MAGIC: int
"""The first word of a ring's file, and of each chunk of a stream."""

def ring_begin(
    directory: str, capacity: int, mode: str, every: int, clocks: int, total_bytes: int, file: int, /
) -> None:
    """Begin a session of events; each thread's first event creates its ring of `capacity` records.

    `directory`: folder of the rings' files, "" for anonymous memory. `mode`: "last" keeps the last records,
    "sums" too, but adds up calls that repeat; "stream" writes all to the file descriptor `file` (stolen),
    "sample" keeps those of one of `every` calls from Python. `clocks`: 0 none, 1 at the call, 2 at the return
    too. All rings together stay below `total_bytes`. Raises ValueError for a bad argument, RuntimeError while
    a session is open, OSError if the reader cannot be started.
    """

def ring_read() -> list[tuple[int, int, int, int, int, int, bytes]]:
    """The present content of the rings, oldest ring first.

    Rows are (threading.get_ident(), tid, records written, records dropped, calls left out (sample), 1 if
    in a file, the records). While threads record, the records they may be overwriting count as dropped.
    """

def ring_written() -> int:
    """Records that all threads have written in this session, including overwritten ones."""

def ring_end() -> tuple[list[tuple[int, int, int, int, int, int, bytes]], int, int, int]:
    """End the session: (rows as of `ring_read`, records of threads without a ring, streamed bytes, errno).

    Of a stream the rows hold only the records that could not be written; `errno` says why, or is 0.
    A chunk of the stream is the four words (RING_MAGIC, thread, records, tid), then the records.
    Raises RuntimeError if no session is open.
    """

def ring_clock() -> tuple[int, int, int]:
    """Now: (the events' clock in ticks, CLOCK_MONOTONIC in ns, picoseconds per tick as first measured)."""

def ring_mark(func: int, obj: int, val: int, aux: int, /) -> bool:
    """Record a MARK with these words in the calling thread's ring; False without space or session."""

def ring_greenlets() -> None:
    """Keep open calls and records of each greenlet apart, from now on. Call it once greenlet is loaded."""

# native/trace/record/interned.c
def interned() -> list[Any]:
    """The types and code objects that records name by number: the number is the index, 0 is None."""

def interned_renew() -> int:
    """Give each object a new number from now on; return the first of these."""

def interned_clear() -> None:
    """Clear that table and release its references."""

# native/trace/record/lines.c
def lines_open(callback: Callable[[str, FrameType, Any], bool], /) -> bool:
    """On 3.11: call `callback("call" | "line" | "return", frame, value)` for the user's code of this thread.

    No more for a line, or after "call" for code, for which it returned True. What it raises is raised in
    the user's code. False if another tool traces the thread, and from 3.12 on, where sys.monitoring serves.
    """

def lines_close() -> None:
    """End `lines_open`; it may be called more than once."""

def lines_call(callable: object, /, *args: Any) -> Any:
    """Call a callback for line events, unrecorded; a SIGINT that `lines_hold` held comes again afterwards."""

def lines_hold(came_before: bool | None, /) -> bool:
    """Whether such a callback runs; then hold the SIGINT that came.

    `came_before`: hold it until the next one has run; None: hold none any more.
    """

# native/trace/record/stacks.c
def stacks_open(open: bool, /) -> None:
    """Record the native frames of each conversion of grade deep and of each allocated block; or stop.

    Opening clears the frames seen before.
    """

def stacks() -> dict[int, tuple[int, ...]]:
    """Number in a STACK record -> return addresses, innermost first, beginning with the C API's caller."""

# native/trace/record/journal.c
def journal(path: str, bytes: int, /) -> None:
    """Write the meaning of each interned number into a new file of this size, as it is assigned; "" ends it.

    The format is in journal.c. Raises OSError if the file cannot be created or its space not be allocated.
    """

# native/trace/record/reported_spans.c
_ToldRow = tuple[int, int, int, int, str, int, int, tuple[int, ...], tuple[int, ...]]

def ask_spans(callable: Callable[[Any], list[_ToldRow] | tuple[_ToldRow, ...] | None] | None, /) -> None:
    """Set the callable that reports the bytes of objects with a struct unknown to C; None: no callable.

    It returns rows (start, extent in bytes, bytes of the elements, bytes of one, NumPy's letter, flags of
    spans.h, the element with all indices 0, shape, strides: () for more than 4 axes), or None for a type it
    does not know; then it is not called again for that type. Rows in a tuple hold for the object's life: then
    it is called for arguments only after their call, and only if the call returned bytes.
    """

def own_span(x: Any, /) -> _ToldRow | None:
    """The same row for an object with a struct known to C (str, bytes, ndarray ...); None for others."""

def unrecorded(callable: Callable[[], Any], /) -> Any:
    """Call the callable and return its result; nothing that this thread does meanwhile is recorded."""

# native/trace/arm/calls.c
def calls_disarm() -> tuple[int, int]:
    """Restore all patched pointers: (restored, left alone because other code wrote them since)."""

def calls_armed() -> int:
    """Number of pointers patched now."""

def calls_function(number: int, /) -> int:
    """Address of the C function behind a patched pointer; 0 for an unknown number."""

# native/trace/arm/targets.c
def targets_sift(owner: type | dict[str, Any], /) -> tuple[list[Any], int, int, int]:
    """Names and values of a namespace, in turn, behind which a function of C can be; and how many others are
    wrapper_descriptor, getset_descriptor, member_descriptor.
    """

def targets_mark() -> int:
    """A number for the modules in sys.modules and how many names each has; another one once these change."""

# native/trace/arm/methods.c
def methods_arm(callables: list[Any], /) -> list[int]:
    """Patch the function pointer of each callable; return its number, which is `slot` in records.

    -1: no trampoline is left; -2: its memory cannot be written; -3: it has no pointer of its own. Recording
    begins with calls_open(True). Each callable is held by one reference until calls_disarm.
    """

def calls_open(recorded: bool, /) -> None:
    """Whether calls through patched pointers are recorded; if not, they go straight to the original."""

def calls_of_stdlib(recorded: bool, /) -> None:
    """Whether calls of bytes, bytearray and memoryview in the standard library's own Python are recorded."""

# native/trace/arm/type_slots.c
def type_slots_arm(types: list[type], chosen: bool, purpose: int = 0, /) -> list[tuple[int, type, str]]:
    """Patch the allowed slots of types: (number, `slot` in records; type; name of the slot).

    bf_getbuffer, nb_index, nb_float, nb_int, sq_item, tp_iter and tp_finalize, if an extension wrote them;
    with `chosen` False only if the pointer is patched in a base. Restored by calls_disarm. `purpose` 1,
    the ledger: all but those that end or walk objects (tp_finalize, tp_dealloc, tp_traverse) and those of the
    allocator; with getters and setters while most trampolines are free. 2, charges: with tp_dealloc too.
    """

def type_slots_settle(types: list[type], /) -> int:
    """Restore slots that inherited a trampoline, in types made while their base was patched; their number."""

def type_slots_capsules() -> int:
    """Patch the dealloc of capsules, so that their destructors are recorded; its number."""

# native/trace/arm/sources.c, native/trace/capi/foreign_calls.c
def foreign_arm(paths: frozenset[str], /) -> tuple[int, int]:
    """Patch the slots through which these libraries (of ctypes, of cffi) call C functions, and the GIL's.

    Returns (slots of calls, slots of the C API). The latter are restored by got_disarm. Raises RuntimeError
    in any interpreter but the main one.
    """

def foreign_disarm() -> tuple[int, int, int, int]:
    """Restore the slots of calls: (restored, another tracer's now, unloaded, read-only)."""

def foreign_open(recorded: bool, /) -> None:
    """Whether calls are recorded."""

def foreign_names(address: int, /) -> list[str]:
    """Every name under which a loaded library exports the function at an address; indirect ones too."""

def foreign_functions() -> dict[int, int]:
    """Number of a C function (`slot` of a FOREIGN record) -> its address; all ever recorded."""

# native/trace/capi/capi.c
CAPI_ROWS: tuple[tuple[str, str, str, str, str, str, str, str, str, str, str, str], ...]
"""The hooked C-API functions, by the number that `func` of a CAPI record holds.

(name, result type, parameters, obj, val, aux, keep, fails, owns, effects, direction, form): the columns of
native/trace/capi/capi.def as text; `form` is "call", "variadic" or "entry".
"""

# native/trace/arm/got.c
def got_arm(paths: frozenset[str], grade: int, pointers: bool = False, /) -> tuple[int, int, int]:
    """Patch the slots of the loaded objects at these paths, as `got_objects` spells them.

    `grade`: 0 count, 1 record (functions without a row, or QUESTION or UPKEEP, are counted), 2 deep; slots
    patched already change to it. `pointers`: instead of their imports, the words of their data that hold a
    function's address; for objects that import nothing of Python these are patched anyway.
    Returns (slots patched, slots whose page could not be made writable, slots without a free trampoline).
    Raises RuntimeError in any interpreter but the main one, ValueError for a bad grade.
    """

def got_disarm() -> tuple[int, int, int, int]:
    """Restore every patched slot: (restored, another tracer's now, unloaded, read-only)."""

def got_slots() -> list[tuple[int, str, str, int, int, int, int, int, int, int, int, int, int]]:
    """Every slot found so far; its number is `slot` of a record.

    Rows are (number, path of the module, function, row of CAPI_ROWS or -1 (-2: one of ALLOCATORS), address
    of the slot, calls counted, 1 if patched, 1 if another tracer's function is called in between, 1 if in
    RELRO, the original word, the word we store, 1 if it is a word of the library's own data, 1 if its owner
    changed it while it was patched).
    """

def got_without_trampoline() -> list[tuple[str, int]]:
    """(path, slots) of each object loaded after the process had used all its trampolines.

    The slots import Python's C API; they are never hooked in this process.
    """

def got_slot(number: int, /) -> tuple[str, str, int]:
    """Path of the object, function and row, as in `got_slots`. Raises IndexError for an unknown number."""

def got_libraries() -> list[tuple[str, int, int, int, int, int]]:
    """One for each object and family with slots: path; row of the family as in `got_slots`, -1 for the C
    API; first number and how many; of those patched now and no word of data: how many, and how many of them
    have a row.
    """

def got_hooked() -> bytes:
    """A byte for each slot found so far, in their order: 1 if it is patched now."""

def got_counts() -> list[tuple[int, int]]:
    """(number, calls counted) of each slot with any, of all families."""

def got_clear_counts() -> None:
    """Reset the counted calls to 0."""

# native/trace/arm/numpy_table.c
NUMPY_PLACES: tuple[tuple[int, int, int], ...]
"""NumPy functions with a row: (row of CAPI_ROWS, index in PyArray_API of NumPy 1, of NumPy 2)."""

def numpy_table_choose(paths: frozenset[str], /) -> None:
    """Record the calls of these loaded objects through NumPy's table, until numpy_table_disarm."""

def numpy_table_arm(capsule: Any, grade: int, /) -> int:
    """Patch the table in NumPy's capsule `_ARRAY_API`; number of functions patched. `grade` as in got_arm.

    0 in any interpreter but the main one, and for a NumPy of unknown ABI. Raises ValueError for any other
    capsule.
    """

def numpy_table_disarm() -> tuple[int, int]:
    """Restore the table: (words restored, another tracer's now)."""

def numpy_table_slots() -> list[tuple[int, str, int, int]]:
    """The calls through the table so far, by module.

    Rows are (number, `slot` of a record; path of the module, "" after a tail call; row of CAPI_ROWS; calls).
    """

# native/trace/arm/loaded.c
def got_objects() -> list[str]:
    """Paths of the loaded shared objects, as the dynamic linker spells them."""

def got_hosts() -> list[str]:
    """Paths of the loaded objects that embed this Python, for `got_arm`.

    The program itself if it imports Python's functions, and every object that imports none but keeps
    their addresses, obtained from dlsym, in its own data.
    """

# native/trace/arm/hosts.c
def hosts_arm(paths: frozenset[str], /) -> list[str]:
    """Make dlsym return trampolines, in the program and those of these objects that import no Python.

    Returns the paths of the objects patched, which call dlsym; after `got_arm` of them, the functions that
    they look up from now on are traced. At most 3 objects for the life of the process. Raises RuntimeError in
    any interpreter but the main one.
    """

def hosts_disarm() -> tuple[int, int, int, int]:
    """Restore dlsym: (restored, another tracer's now, unloaded, not writable)."""

# native/trace/arm/conversions.c
def conversions_arm(paths: frozenset[str], observer: Callable[..., object], source: str, /) -> bool:
    """Tell of the outermost conversions between R and Python by these libraries; False if there are none.

    `source`: R source of a function that says from which line R calls. Calls `observer(to_r, object, sexp,
    start_ns, stop_ns, calls, texts, frame)`: addresses of the R value, and of its data frame, or 0.
    What the observer raises is dropped.
    """

def conversions_disarm() -> tuple[int, int, int, int]:
    """Restore the slots of `conversions_arm`: (restored, foreign, gone, read-only)."""

# native/leaks/sampled/session.c
GROWTH_FUNCTIONS: tuple[str, ...]
"""The functions that rows of growth_read() name by number."""

def growth_begin(mean: float, borrows: bool = False, /) -> tuple[int, int, int]:
    """Begin to sample allocations, one for each `mean` bytes on average.

    `borrows`: no reference to a code object is taken; one that is freed meanwhile is not told.

    Returns (slots patched, slots left, pools of Arrow hooked). Raises RuntimeError while it is sampled, and
    in any interpreter but the main one.
    """

def growth_widen() -> None:
    """Hook the libraries that were loaded since growth_begin; without a block it does nothing."""

def growth_end() -> tuple[int, int]:
    """Restore all hooks, keep what was sampled: (slots restored, slots that are another tracer's now)."""

def growth_forget() -> None:
    """Discard what was sampled; nothing while it is sampled."""

# native/leaks/sampled/read.c
def growth_read() -> tuple[
    list[tuple[int, int, int, int, int]],
    dict[int, tuple[list[tuple[CodeType, int]], tuple[int, ...], int]],
    int,
    int,
]:
    """The sampled blocks in use, where they were asked for, how many found no room, ns from begin to end.

    A block: address, bytes, ns since the begin, number of its site (0: unknown), function. A site:
    (code, offset) of Python frames, return addresses, both innermost first, and 1 where the Python frames are
    the main thread's.
    """

# native/watch/writes.c
WriteRow = tuple[int, int, int, int, int, int, int, int, list[int], list[tuple[str, str, int, int]]]
"""ns (CLOCK_MONOTONIC), thread, address, bytes of the values, before, after, bytes written, instructions,
native return addresses, Python frames as (name, file, line, whether C called it); innermost first."""

def writes_arm(words: list[tuple[int, int]], threads: list[int], budget: int, /) -> int:
    """Watch at most four words, (address, 1, 2, 4 or 8 bytes), in these threads and those they start.

    Returns the number of events. Raises OSError if perf_event_open(2) fails, RuntimeError if armed already.
    `budget` writes are recorded, the rest counted. The watch handles SIGTRAP until `writes_disarm`.
    """

def writes_disarm() -> tuple[list[WriteRow], int, bool]:
    """End the watch: the records, the number of writes, whether a word changed without a recorded write."""

# native/watch/hardware_breakpoints.c
def hardware_breakpoints_arm(addresses: list[int], threads: list[int], only: int, budget: int, /) -> None:
    """Count the executions of at most four addresses, in these threads and those they start.

    `only`: hits of this thread alone; 0 for all. `budget` hits are recorded. Raises OSError if
    perf_event_open(2) fails, RuntimeError while this or a watch on writes is armed.
    """

def hardware_breakpoints_disarm() -> tuple[list[WriteRow], list[int]]:
    """End it: records as of `writes_disarm`, but without values and sizes, and the hits by address."""

# native/watch/pages.c
def writes_pages_arm(
    start: int, bytes: int, size: int, anonymous: bool, threads: list[int], budget: int, tells: bool = ..., /
) -> tuple[int, int]:
    """Watch a range of bytes by protecting its pages, in these threads and those they start.

    `size`: bytes of an element, at most 8. `anonymous`: mapping without a file. Returns the numbers of pages
    and events. Raises OSError if userfaultfd(2) or perf_event_open(2) fails, RuntimeError if armed already.
    Stores of one pass over neighbouring bytes are one record; after `budget` records or 50 times as many
    stores the pages are unprotected for good. The watch handles SIGTRAP until `writes_pages_disarm`.
    `tells`: each record also sends its thread SIGURG with the record's address: a debugger stops there.
    """

def writes_pages_disarm() -> tuple[list[WriteRow], int, int, bool, int, int] | None:
    """End the watch: records as of `writes_disarm`, stores, whether bytes changed unseen (-1: not known),
    whether the budget ended it, stores outside the range in its pages, page faults too late to single-step.
    """

def writes_pages_refused() -> int:
    """0, or the errno with which this kernel refuses a userfaultfd that write-protects without blocking."""

# native/remote/still.c
def remote_stop(pid: int, seconds: float, /) -> list[tuple[int, int]]:
    """Stop every thread of another process (PTRACE_SEIZE, ptrace(2)): (thread, signal kept for it).

    Raises OSError: EPERM, ESRCH; ETIMEDOUT if a thread did not stop within `seconds`; then the threads run
    again once the calling process ends. Call it in a process that ends soon: its end detaches from all.
    """

def remote_go(threads: Sequence[tuple[int, int]], /) -> None:
    """Detach from the threads of `remote_stop`, with the signals kept. In the thread that stopped them."""

def remote_scan(
    pid: int, ranges: Sequence[tuple[int, int]], needles: Sequence[tuple[int, int]], limit: int, /
) -> tuple[list[tuple[int, int]], int, int, int]:
    """Words of another process's `ranges` whose value lies in a needle [start, stop).

    Returns [(word address, value), ...] up to `limit`, then: total hits, bytes read, bytes not read. Pages
    that are not in memory are not paged in.
    """

# native/remote/call.c
def remote_begin_call(thread: int, function: int, /, *arguments: int) -> bytes:
    """Call a function in a thread of another process that `remote_stop` holds; x86-64 only.

    `function` and at most six `arguments` are words of that process. Returns the thread's registers, for
    `remote_end_call`; without that call the thread faults when the function returns. Raises OSError.
    """

def remote_end_call(thread: int, registers: bytes, seconds: float, /) -> int | None:
    """The word that the function returned, the thread restored as before; None: not within `seconds`.

    Signals that arrive meanwhile are delivered. Raises OSError: ESRCH, the thread has ended; EFAULT, the
    function faulted; the thread is restored then too.
    """

# native/remote/objects.c
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
    Returns [(word, object, how), ...], objects visited, and whether the lists were read to their ends. `how`:
    0 in the object, 1 list items, 2 dict entries, 3 dict values, 4 set table, 5 instance values.
    """

# native/trace/values/losses.c
LOSS_RULES: tuple[str, ...]
SPAN_UNITS: tuple[str, ...]
"""Ways in which a conversion changes an element: `func` of a LOSS record is an index."""

# native/trace/values/stores.c
def stores_watch(callback: Callable[[Any, Any, Any], object], /, *types: type) -> None:
    """Call back with (owner, key, value) after each `owner[key] = value` of this thread, while wanted.

    Only types that store by a C function are watched, until `stores_end`. Nothing is called before
    `stores_want(True)`.
    """

def stores_want(wanted: bool, /) -> None:
    """Whether stores are to be told."""

def stores_end() -> None:
    """Tell none any more, and give the types their own functions again."""

# native/trace/arm/sources.c, native/trace/capi/allocations.c
ALLOCATORS: tuple[str, ...]
"""Functions that allocate memory: `func` of an ALLOCATION record is an index."""

def allocations_arm() -> tuple[int, int, int, int]:
    """Patch the slots through which loaded objects allocate memory, and Python's own allocators (PEP 445).

    Call it again after a library was loaded: patched slots stay patched. Returns (slots patched, slots whose
    page could not be made writable, slots without a free trampoline, domains of Python hooked). Raises
    RuntimeError in any interpreter but the main one.
    """

def allocations_disarm() -> tuple[int, int, int, int, int]:
    """Restore all: (slots restored, another tracer's now, unloaded, read-only, domains of another tracer)."""

def allocations_open(open: bool, /) -> None:
    """Begin to record blocks of 4 KiB and more, or stop."""

# native/leaks/ledger.c
LEDGER_FLAGS: dict[str, int]
"""The bits of a row's flags (native/leaks/entries/entry.h)."""
LEDGER_FAULTS: tuple[str, ...]
"""Kinds of faults, by number."""

LedgerTouch = tuple[str, int, int, int, int, int, int, int]
"""Role (a letter of native/leaks/entries/entry.h), row of CAPI_ROWS or -1, slot, return address, interned
number of the running code, offset in its bytecode, 1 + number of the method (0: none), change of count; of
a C-API call: the count as it was noted, at most 127."""

LedgerRow = tuple[Subject | None, int, str, int, int, int, int, int, int, int, int, int, list[LedgerTouch]]
"""The object (None if it is in a free list), address, type, flags, count at the first touch, count now
(of a dead object: minus what was taken since), references that the gc's objects and variables show, balance
of the calls, calls that were unbalanced, how many in a row of these fell, relation, argument (0: self),
touches."""

LedgerFault = tuple[int, int, int, int, int, int, int, int]
"""Kind, row of CAPI_ROWS or -1, slot, return address, code id, offset, 1 + number of the method, address."""

DanglingRow = tuple[Subject, int, int, int, str, int, int, int, int, int, list[LedgerTouch]]
"""The view, start and stop of its bytes, whether the ledger keeps the memory (else it may be in use again),
the function that freed it, slot, return address (0: not known), code id, offset, 1 + number of the method,
and the ledger's touches of the view."""

def ledger_open(passed_over: str, /) -> None:
    """Begin to record, in hooks of grade 3 and patched methods, which objects are created, passed and freed.

    Code whose `co_filename` is the object `passed_over` (by identity) is skipped when a Python line is
    recorded. Raises RuntimeError while the ledger is open.
    """

def ledger_settle() -> int:
    """Forget noted objects that have died and wait in the free list of their type to be used again.

    Returns the number of faults until now.
    """

def ledger_close(
    limit: int, /
) -> tuple[list[LedgerRow], list[LedgerFault], int, int, int, list[DanglingRow]]:
    """Stop recording: (objects with suspicious counts, up to `limit`; faults; number left out; number not
    recorded; kept blocks; views whose memory was freed).

    The caller must call ledger_release afterwards. Empty if the ledger is not open.
    """

def ledger_release(keep: set[int], /) -> None:
    """Free the objects and blocks kept, and the references held for safety, except those in `keep`."""

def ledger_rooms() -> list[tuple[int, int]]:
    """Address ranges of the ledger, to leave out of a search for owners; empty while it is closed."""

def ledger_calls() -> dict[int, int]:
    """Number of a patched place -> how often it was called while the latest ledger was open."""

def ledger_give_back(subject: Subject, count: int, /) -> None:
    """Add `count` references to an object that was over-released by as many."""

# native/module/exits.c
def at_exit(call: Callable[[], object] | None, /) -> None:
    """Call `call` if the process exits without finalizing Python; None: nothing is called.

    One function at a time; not called after a signal or `os._exit`, nor in a forked process.
    """

def stack_height() -> int:
    """Address on this thread's stack; the running frames are at and above it."""

# native/leaks/views.c
def views_freed(start: int, stop: int, /) -> bool:
    """Whether a ledger recorded that some of these bytes were freed under a view: they have no owner."""

def freeing_arm() -> int:
    """Patch the slots through which loaded libraries free memory; their number. Call again after a load."""

def freeing_disarm() -> None:
    """Restore the slots of freeing_arm."""

RAW_MEMORY_FUNCTIONS: tuple[str, ...]
"""Names of the functions that allocated a block, by the number in RawMemoryRow."""

RawMemoryRow = tuple[int, int, int, int, int, tuple[int, ...], int, int, int, int, int, int, str]
"""Address, bytes requested, run, function, number of its native frames, these (return addresses, innermost
first), code id, offset, 1 + number of the method; 0: lost, 1: only lost blocks point to it, 2: reached;
1: its allocator reports it as allocated, -1: it cannot tell; the word that reaches it (0: none), and where
that word is: "object", "block", "frame", "static", "stack", "mapping", "disguised" (an int, a text, a tagged
or packed pointer holds its address), "" (not known); "untraced": lost, with no space to search for such a
disguise."""

def raw_memory_open() -> None:
    """Begin to follow the blocks that chosen modules get from malloc and its relatives until they are freed.

    Nothing is recorded before raw_memory_run. Raises RuntimeError while it is open.
    """

def raw_memory_run(number: int, /) -> int:
    """Assign blocks allocated from now on to this run, 1 to 255; 0: record none. How many are not freed."""

def raw_memory_arm(paths: frozenset[str], /) -> int:
    """Patch the slots through which these loaded files allocate memory; their number. Blocks that their code
    gets from Python's own allocators count from now on, too."""

def raw_memory_disarm() -> None:
    """Restore the slots of raw_memory_arm."""

def raw_memory_search(
    leave_out: Sequence[tuple[int, int]], own_prefix: str, /
) -> tuple[list[RawMemoryRow], int, int]:
    """Search memory for pointers into the blocks not freed: (rows, bytes searched, nanoseconds)."""

def raw_memory_close() -> int:
    """Forget all blocks and stop recording; number of blocks for which there was no space."""

def raw_memory_disguised(
    blocks: Sequence[tuple[int, int]], ranges: Sequence[tuple[int, int]], way: int, /
) -> list[int]:
    """Search memory ranges for disguised addresses of up to 64 blocks: for each block, in order of address,
    the address of a word that holds one, or 0.

    `way` 0: the fastest; 1: without AVX2; 2: word by word. Raises ValueError.
    """

# native/leaks/lost/lost.c
LostRow = tuple[Subject, int, int, list[tuple[Subject | None, int, int, int]], int, int, int]
"""An object; its references; how many of them no tp_traverse of a lost object tells of; who holds its address
without visiting it: (holder or None, offset of the word in it or in its block, offset of the pointer to that
block or -1, whether the object leads to the holder); how many objects it keeps, with itself; their bytes with
those of their buffers; 0 where its memory only looks like an object."""
_Sums = list[tuple[str, int, int]]

def lost(
    leave_out: Sequence[tuple[int, int]], own_prefix: str, /
) -> tuple[list[LostRow], int, int, int, _Sums, _Sums]:
    """Objects that no root reaches and no collection frees: (rows, how many more, objects of garbage that the
    next collection frees, bytes searched, what the rows keep: own bytes by type, bytes of buffers by type).

    Nothing is collected or changed. Raises MemoryError, KeyboardInterrupt.
    """

# native/leaks/unexplained.c
UnexplainedRow = tuple[Subject, str, int, tuple[int, ...]]
"""The object, its type, the first note that found it, its unexplained references in each note since."""

def unexplained_note(limit: int, /) -> tuple[list[UnexplainedRow], int]:
    """Note the unexplained references of every object: those that no object visible to the gc holds.

    `limit` 0: only note. Else this is the last note: returns up to `limit` objects whose unexplained
    references grew with every note, or fell with every note, or that appeared after the first note and have
    some; and how many more there were; then forgets all notes. At most 8 notes. Raises ValueError,
    MemoryError.
    """

def unexplained_forget() -> None:
    """Forget all notes."""

# native/leaks/charges.c
def charges_open(subjects: list[Subject], /) -> None:
    """Charge each call through a patched pointer with what it does to the counts of at most 16 objects.

    Not charged is what its result, an exception or its `self` holds more or less than before, and what calls
    within it were charged with. Raises ValueError while it is open, or another watcher is.
    """

def charges_close() -> list[tuple[int, int, int]]:
    """Stop; (number of the patched place, index of the subject, sum of the charges), where it is not 0."""

# native/leaks/instances.c
def instances_watch(types: list[type], subclasses: list[type], /) -> None:
    """Note deaths of instances of these types, and of classes made of them, while the ledger is open.

    The caller keeps the types alive; the counts of `types` are compared when the ledger is closed.
    """

def instances_enders(kind: type, /) -> tuple[int, int]:
    """Addresses of the type's tp_dealloc and tp_clear; 0: none."""

# native/leaks/unhooked.c
def ledger_unhooked(functions: list[int], types: list[type], /) -> tuple[list[str], list[Any]]:
    """Names and objects of what Python can call of these functions' libraries without a hook.

    `types`: those watched; one of which an instance called by its own pointer died is told too.
    "weakref": a function that a weak reference calls. None: not the object itself is called.
    """

# native/watch/breakpoint_guard.c
def traps_arm() -> tuple[int, int] | None:
    """Guard this process against the breakpoints of a killed debugger: (address of the table, rows).

    The table is a count, the word of `traps_watch`, and rows of (address, byte), 8 bytes each, which the
    debugger fills before it inserts breakpoints. Calls nest; each empties the table. None if the guard is not
    available: not x86-64, or no /proc/self/mem.
    """

def traps_disarm() -> None:
    """Restore the previous SIGTRAP handler; of nested calls, the last one does."""

def traps_watch(on: bool, /) -> None:
    """Tell the debugger whether the user's code is running; other hits are the tool's own."""
