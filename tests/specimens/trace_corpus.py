"""Operations of many libraries whose verdicts are known by a second method; they stand in trace_cases.txt.

The second method knows nothing of the trace: every byte of the source is flipped where the library itself
says that it lies. What is read from the result before and after tells whether it shares those bytes. It is
run apart, on fresh objects.

As a program it prints the table of all.
"""

# SPDX-License-Identifier: MIT
import array  # noqa: F401 - of the cases
import ctypes
import io
import linecache
import mmap
import pickle
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cffi
import numpy as np
from threads import at_once

from inspector.sessions.catalogue import truth

N = 4096

FFI = cffi.FFI()

DOUBLES = ctypes.POINTER(ctypes.c_double)


@dataclass(frozen=True)
class Case:
    """One operation on what `make` gives."""

    library: str
    name: str
    make: Callable[[], Any]
    operation: Callable[[Any], Any]
    hard: bool
    change: Callable[[Any], Any] | None = None
    """What changes a source that does not say where its bytes are; None: `flip` does."""
    expression: str = ""
    """The operation as it is written, on `x`."""

    def __str__(self) -> str:
        return f"{self.library}: {self.name}"


def memory(x: Any) -> list[truth.Block]:
    """Where the elements of a source lie, in the words of its own library."""
    if isinstance(x, ctypes.Array):
        return [(ctypes.addressof(x), ctypes.sizeof(x), "bytes")]
    if type(x).__module__.startswith("bitarray"):
        return [(*x.buffer_info()[:2], "bytes")]
    if "cffi" in type(x).__module__:
        return [(int(FFI.cast("uintptr_t", FFI.cast("char *", x))), FFI.sizeof(x), "bytes")]
    return list(truth.blocks(x))


def flip(x: Any) -> None:
    """Every byte of a source another one, in place: what another program's pointer would do."""
    truth.flip(memory(x))


def content(x: Any) -> bytes:
    """The bytes of a result, read afresh by its own library."""
    kind = f"{type(x).__module__}.{type(x).__name__}"
    if isinstance(x, str):
        return x.encode()
    if kind.startswith("bitarray."):
        return bytes(x.tobytes())
    if kind.startswith("_cffi_backend."):
        return bytes(x[:]) if type(x).__name__ == "buffer" else bytes(FFI.buffer(x)[:])
    if isinstance(x, ctypes.Array | ctypes.Structure | mmap.mmap):
        return bytes(x)
    found = truth.content(x)
    return b"".join(map(truth.raw, found)) if found else bytes(memoryview(x))  # Cython's own views


def shares(case: Case) -> bool:
    """Whether the result's bytes change when the source's do."""
    source = case.make()
    result = case.operation(source)
    before = content(result)
    (case.change or flip)(source)
    return content(result) != before


def answered(case: Case) -> Iterator[str]:
    """What two first screens say: of the source beside the result, and of the result alone."""
    import inspector

    x = case.make()
    r = case.operation(x)
    for rows in (
        inspector.compare(x, r, names=("x", "r")).answers,
        inspector.inspect(r, name="r").answers.rows,
    ):
        yield " ".join(row.text for row in rows)


def numbers() -> Any:
    return np.random.default_rng(7).random(N) + 1


def octets() -> Any:
    return bytearray(range(256)) * 32


def bits() -> Any:
    """Of a library that has no adapter."""
    made = _module("bitarray").bitarray()
    made.frombytes(bytes(octets()))
    return made


def records() -> Any:
    made = np.zeros(N, [("a", "i4"), ("b", "f8"), ("c", "S4")])
    made["a"], made["b"] = range(N), numbers()
    return made


def mapped() -> Any:
    """Of a file, which is there before the trace."""
    with tempfile.NamedTemporaryFile(delete=False) as file:
        made = np.memmap(file.name, "f8", "w+", shape=(N,))
    made[:] = numbers()
    return made


def element() -> Any:
    etree = _module("lxml.etree")
    root = etree.Element("root")
    etree.SubElement(root, "a").text = "x" * 9000
    return root


class Struct(ctypes.Structure):
    """Two numbers and a long array."""

    _fields_ = [("a", ctypes.c_int), ("b", ctypes.c_double), ("c", ctypes.c_double * N)]


def _change(address: int, size: int, step: int = 1) -> None:
    raw = (ctypes.c_uint8 * size).from_address(address)
    raw[::step] = bytes(value ^ 1 for value in raw[::step])


def change_arrow(column: Any) -> None:
    """The values: the last buffer of an array of Arrow's; of a dictionary the first byte of each code too."""
    for chunk in getattr(column, "chunks", [column]):
        values = chunk.buffers()[-1]
        if hasattr(chunk, "dictionary"):
            change_arrow(chunk.dictionary)
        _change(values.address, values.size, 4 if hasattr(chunk, "indices") else 1)


def change_nullable(series: Any) -> None:
    flip(series.array._data)
    series.array._mask[:] = ~series.array._mask


def change_polars(series: Any) -> None:
    """Letters of long texts, or the codes of categories."""
    if series.dtype == _module("polars").Categorical:
        _change(series._s.as_single_ptr(), len(series) * 4, 4)
        return
    for chunk in _module("pyarrow").chunked_array(series).chunks:
        for buffer in chunk.buffers()[2:]:
            _change(buffer.address, buffer.size)


def in_thread(work: Callable[[], Any]) -> Any:
    """The result of a function that another thread called."""
    return at_once(work)[0]


def after_an_error(work: Callable[[], Any], fails: Callable[[], Any]) -> Any:
    """A call that fails, then one that does not."""
    try:
        fails()
    except Exception:
        return work()
    raise AssertionError("it did not fail")


class Caching:
    """What it gives is made once, and kept."""

    def __init__(self, source: Any) -> None:
        self.kept = np.array(source)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.kept


def filled(make: Callable[[], Any], fill: Callable[[Any], Any]) -> Any:
    """An output argument: made first, then filled."""
    out = make()
    fill(out)
    return out


def windows(a: Any) -> Any:
    return np.lib.stride_tricks.sliding_window_view(a, 8)


def out_of_band(a: Any) -> Any:
    """Through pickle protocol 5 (PEP 574), its buffer beside it."""
    buffers: list[pickle.PickleBuffer] = []
    return pickle.loads(pickle.dumps(a, protocol=5, buffer_callback=buffers.append), buffers=buffers)


def saved_and_loaded(a: Any) -> Any:
    file = io.BytesIO()
    np.save(file, a)
    file.seek(0)
    return np.load(file)


def through_file(a: Any) -> Any:
    with tempfile.NamedTemporaryFile() as file:
        a.tofile(file.name)
        return np.fromfile(file.name)


def saved(t: Any) -> Any:
    file = io.BytesIO()
    _module("torch").save(t, file)
    file.seek(0)
    return _module("torch").load(file)


def written_map(b: Any) -> Any:
    made = mmap.mmap(-1, len(b))
    made.write(bytes(b))
    return memoryview(made)


def memcpy(c: Any) -> Any:
    """By the C library's own function, which no array's library sees."""
    made = np.zeros(N)
    ctypes.CDLL(None).memcpy(ctypes.c_void_p(made.ctypes.data), c, ctypes.c_size_t(8 * N))
    return made


def blosc(a: Any) -> Any:
    codec = _module("numcodecs").Blosc()
    return codec.decode(codec.encode(a))


def _module(name: str) -> Any:
    return __import__(name, fromlist=["*"])


class Of:
    """An object of the user's over another."""

    def __init__(self, source: Any, *names: str) -> None:
        self.source, self.names = source, names


class Lent(Of):
    """Lends the other's memory by one protocol."""

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__["names"]:
            return getattr(self.source, name)
        raise AttributeError(name)


class Stream(Of):
    """The same for the Arrow C stream, and C array, which are looked up in the class."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.source.__arrow_c_stream__(requested_schema)


class Capsules(Of):
    """An array of Arrow's behind its C interface."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return self.source.__arrow_c_array__(requested_schema)


class Copying(Of):
    """What it gives is made anew each time."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.source.copy()


def grown(b: Any) -> Any:
    b += b"x" * 5000
    return b


def one_by_one(b: Any) -> Any:
    for i in range(5000):
        b.append(i % 256)
    return b


def widened(b: Any) -> Any:
    b[10:10] = b[:6000]
    return b


def in_pieces(b: Any) -> Any:
    made = bytearray()
    for i in range(0, len(b), 64):
        made += b[i : i + 64]
    return made


def lengthened(a: Any) -> Any:
    a.resize(3 * N, refcheck=False)
    return a


WORDS: dict[str, Any] = {}
"""What the expressions may name."""


def _read(text: str) -> Iterator[tuple[str, Case]]:
    """(part, case) of each line that is one; the sources above the first section become functions."""
    words = WORDS
    words |= globals() | {name: _module(name) for name in ("bz2", "copy", "operator", "zlib")}
    section: list[str] = []
    for line in text.splitlines():
        name, _, expression = line.partition(" :: ")
        if line.startswith("#"):
            continue
        if line.startswith("["):
            section = [*line[1:-1].split(" | "), ""]
        elif expression and not section:
            words[name] = eval(f"lambda: {expression}", words)
            words[name].__name__ = name
        elif expression:
            library, source, part, difficulty, change = section[:5]
            shown = f"{source}: {name}" if part == "first" else f"{source}, {part}: {name}"
            work, changed = eval(f"lambda x: {expression}", words), eval(change or "None", words)
            yield part, Case(library, shown, words[source], work, difficulty == "hard", changed, expression)


_PARTS = tuple(_read(Path(__file__).with_name("trace_cases.txt").read_text()))
EVERY = tuple(case for _, case in _PARTS)
FURTHER = tuple(case for part, case in _PARTS if part == "further")
"""Of texts, nulls and codes: the bytes of their sources are not those that are read."""


@dataclass(frozen=True)
class Told:
    """What the trace says of the object that the operation gave."""

    copies: tuple[Any, ...]
    unknown: str
    result_bytes: int
    did: str
    """What the report says of the statement; "" without a row."""

    def says(self, expected: str) -> bool:
        """Whether the row of the statement agrees."""
        shared = self.did in ("view", "same object", "in place", "shared")
        return shared if expected == "shared" else self.did in ("copied", "new values", "new")

    @property
    def verdict(self) -> str:
        """ "shared", "fresh", "unknown", or "mixed" where the blocks of the object differ."""
        if self.unknown or not self.copies:
            return "unknown"
        kinds = {"shared" if copy.verdict in ("shared", "in place") else "fresh" for copy in self.copies}
        return kinds.pop() if len(kinds) == 1 else "mixed"

    def is_what(self, expected: str) -> bool:
        """Of an object's blocks some may be shared, and others new: letters, and where they begin."""
        return self.verdict == expected or (self.verdict == "mixed" and expected == "shared")

    @property
    def names_the_allocator(self) -> bool:
        """Of memory that was given in the trace; blocks under 4 KiB are not recorded."""
        large = [copy for copy in self.copies if copy.span_bytes >= 4096]
        return all(isinstance(copy.allocator, str) for copy in large)


MODULES = {
    "bytes": (),
    "pandas": ("pandas", "pyarrow"),
    "polars": ("polars", "pyarrow"),
    "others": ("lxml", "PIL", "scipy", "h5py", "numcodecs", "msgpack", "zmq", "numba"),
}


def told(case: Case) -> Told:
    """One operation under a trace."""
    import inspector
    from inspector.facts.unknown import Unknown

    words, file, text = WORDS | {"x": case.make()}, f"<{case}>", f"r = {case.expression}\n"
    linecache.cache[file] = len(text), None, [text], file
    code = compile(text, file, "exec")
    modules = MODULES.get(case.library, (case.library,))
    with inspector.trace("numpy", *modules) as trace:
        exec(code, words)
    result = words["r"]
    found, size = trace.of(result), len(content(result))
    rows = [row for row in trace.statements.rows if row.site.file == file]
    rows = [row for row in rows if row.target == "r"] or rows  # besides it what a lambda of the line did
    did = rows[0].verdict if rows else ""
    del linecache.cache[file]
    return Told((), found.reason, size, did) if isinstance(found, Unknown) else Told(found, "", size, did)


def judge(cases: tuple[Case, ...]) -> None:
    """The table of docs/benchmarks.md."""
    warnings.simplefilter("ignore")
    right: dict[str, list[bool]] = {}
    hard = named = fresh = 0
    wrong = []
    for case in cases:
        expected, one = "shared" if shares(case) else "fresh", told(case)
        right.setdefault(case.library, []).append(one.is_what(expected))
        hard += case.hard
        if one.verdict == "fresh":
            fresh += 1
            named += one.names_the_allocator
        if not one.is_what(expected):
            wrong.append(f"{case}: {one.verdict}, is {expected}; {one.unknown}")
    print("| library | operations | right |\n|---|---:|---:|")
    for library, answers in right.items():
        print(f"| {library} | {len(answers)} | {sum(answers)} |")
    answers = [answer for some in right.values() for answer in some]
    print(f"| **all**, {hard} of them hard | {len(answers)} | {sum(answers)} |")
    print(f"\nThe allocator of fresh memory is named in {named} of {fresh}.")
    print("".join(f"\n- not right: {line}" for line in wrong))


if __name__ == "__main__":
    judge(EVERY)
