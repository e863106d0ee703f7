"""What an operation did, by a method that knows nothing of the trace: where the bytes lie, and bytes flipped.

Where the elements of an object lie, and what they are, is asked of the object's own library.
"""

# SPDX-License-Identifier: MIT
import array
import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from inspector.facts.catalogue import Did

ITEMS: Final = 64
"""Most items of a list, tuple or dict that are looked at."""
FEW: Final = 8
"""So many numbers in a tuple are a shape."""
MISSING: Final = {"None", "nan", "<NA>", "NaT"}
"""What fills up a selection."""
Block = tuple[int, int, str]
"""(address, bytes, "bytes" | "truths" | "pointers"): where elements lie, and how they may be flipped."""


def blocks(x: Any, depth: int = 0) -> Iterator[Block]:
    """Where the elements of an object lie; nothing for what has none, or does not say."""
    kind, module = type(x).__name__, type(x).__module__.partition(".")[0]
    if isinstance(x, np.ndarray):
        yield from _of_array(x)  # of a masked array too: its mask is another array
    elif isinstance(x, bytes):
        yield ctypes.cast(ctypes.c_char_p(x), ctypes.c_void_p).value or 0, len(x), "bytes"
    elif isinstance(x, array.array | bytearray | memoryview):
        yield from _of_array(np.asarray(memoryview(x)))
    elif module == "torch":
        if kind in ("Tensor", "Parameter") and str(x.layout) == "torch.strided":
            yield x.data_ptr(), _spread(x.shape, x.stride(), x.element_size()), _how(str(x.dtype))
    elif module == "pyarrow":
        yield from _of_arrow(x)
    elif module == "polars":
        yield from _of_polars(x)
    elif module == "pandas":
        for one in _columns(x):
            yield from _of_extension(one)
    elif module == "scipy":
        for name in ("data", "indices", "indptr", "row", "col", "offsets"):
            if isinstance(part := getattr(x, name, None), np.ndarray):
                yield from _of_array(part, "pointers" if name != "data" else "")
    elif module == "xarray":
        for one in _variables(x):
            yield from blocks(one._data, depth + 1)
    elif isinstance(x, list | tuple | dict) and depth < 3 and len(x) <= ITEMS:
        for one in x.values() if isinstance(x, dict) else x:
            if not isinstance(one, int | float | str | bytes):
                yield from blocks(one, depth + 1)


def _of_array(x: np.ndarray[Any, Any], how: str = "") -> Iterator[Block]:
    if x.size:
        low = sum(min(0, step * (n - 1)) for n, step in zip(x.shape, x.strides, strict=True))
        high = sum(max(0, step * (n - 1)) for n, step in zip(x.shape, x.strides, strict=True)) + x.itemsize
        address = x.__array_interface__["data"][0]
        yield address + low, high - low, how or ("pointers" if x.dtype.hasobject else _how(str(x.dtype)))


def _how(dtype: str) -> str:
    return "truths" if "bool" in dtype else "bytes"


def _spread(shape: Any, strides: Any, size: int) -> int:
    return (
        sum((n - 1) * step for n, step in zip(shape, strides, strict=True)) * size + size
        if 0 not in shape
        else 0
    )


def _of_arrow(x: Any) -> Iterator[Block]:
    if hasattr(x, "itercolumns") or hasattr(x, "columns"):
        for column in x.columns:
            yield from _of_arrow(column)
    elif hasattr(x, "chunks"):
        for chunk in x.chunks:
            yield from _of_arrow(chunk)
    elif hasattr(x, "dictionary") and hasattr(x, "indices"):
        yield from _of_arrow(x.indices)
        yield from _of_arrow(x.dictionary)
    elif hasattr(x, "buffers") and len(x):
        *rest, last = x.buffers()
        width = (
            getattr(x.type, "bit_width", 0) // 8 if getattr(x.type, "num_fields", 1) == 0 and _fixed(x) else 0
        )
        if last is not None:
            start = last.address + x.offset * width
            yield start, len(x) * width or last.size, "bytes" if width or len(x.buffers()) >= 3 else "truths"
        yield from ((one.address, one.size, "pointers") for one in rest if one is not None)
    elif hasattr(x, "address") and hasattr(x, "size"):
        yield x.address, x.size, "bytes"


def _fixed(x: Any) -> bool:
    try:
        return bool(x.type.bit_width >= 8)
    except ValueError:
        return False


def _of_polars(x: Any) -> Iterator[Block]:
    if hasattr(x, "get_columns"):
        for column in x.get_columns():
            yield from _of_polars(column)
    elif hasattr(x, "get_chunks") and len(x):
        for chunk in x.get_chunks() if x.n_chunks() > 1 else [x]:
            kind = str(chunk.dtype)
            if chunk.dtype.is_numeric() or chunk.dtype.is_temporal() or kind == "Boolean":
                last = chunk.to_arrow().buffers()[-1]
                yield last.address, last.size, "truths" if kind == "Boolean" else "bytes"
            elif kind == "String" and hasattr(chunk, "__arrow_c_stream__"):
                for part in __import__("pyarrow").chunked_array(chunk).chunks:
                    _, places, *texts = part.buffers()
                    yield places.address, places.size, "pointers"
                    yield from ((one.address, one.size, "bytes") for one in texts)


def _columns(x: Any) -> Iterator[Any]:
    if hasattr(x, "_mgr") and hasattr(x, "columns"):
        yield from (x.iloc[:, i].array for i in range(x.shape[1]))
    elif hasattr(x, "array"):
        yield x.array
    elif hasattr(x, "dtype") and hasattr(x, "take"):
        yield x  # an extension array


def _of_extension(x: Any) -> Iterator[Block]:
    if hasattr(x, "_pa_array"):
        yield from _of_arrow(x._pa_array)
    for name in ("_ndarray", "_data", "_mask", "_codes", "_sparse_values", "_left", "_right"):
        part = getattr(x, name, None)
        if isinstance(part, np.ndarray) and not (name == "_data" and hasattr(x, "_codes")):
            yield from _of_array(part, "truths" if name == "_codes" else "")


def _variables(x: Any) -> Iterator[Any]:
    if hasattr(x, "data_vars"):
        yield from (one.variable for one in x.data_vars.values())
    elif hasattr(x, "variable"):
        yield x.variable
    elif hasattr(x, "_data"):
        yield x


def flip(found: list[Block]) -> None:
    """Every byte another one, in place; of truths and codes the lowest bit; pointers and offsets stay."""
    for address, size, how in set(found):
        if how != "pointers":
            flipped = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))
            flipped ^= np.uint8(0x15 if how == "bytes" else 1)


def content(x: Any, depth: int = 0) -> list[Any]:
    """The elements of an object, read afresh by its own library: arrays of NumPy, or lists."""
    kind, module = type(x).__name__, type(x).__module__.partition(".")[0]
    if isinstance(x, np.ndarray) and x.dtype.names:
        return [part for name in x.dtype.names for part in content(np.asarray(x)[name])]
    if isinstance(x, np.ndarray):
        listed = x.dtype.hasobject or x.dtype.kind == "U"
        return [x.ravel().tolist() if listed else np.array(x, copy=True).ravel()]
    if isinstance(x, bytes | bytearray | memoryview | array.array):
        view = memoryview(x)
        return [
            np.array(np.frombuffer(view.tobytes(), view.format if view.format in "bBhHiIlLqQfd" else "u1"))
        ]
    if module == "torch" and kind in ("Tensor", "Parameter"):
        return [
            np.array(x.detach().clone().to_dense().resolve_conj().resolve_neg().contiguous().numpy()).ravel()
        ]
    if module == "pyarrow" and hasattr(x, "columns"):
        return [part for column in x.columns for part in content(column)]
    if module == "pyarrow" and kind == "StructArray":
        return [part for one in x.flatten() for part in content(one)]
    if module == "pyarrow" and hasattr(x, "to_pylist"):
        return [
            _listed(
                x.to_pylist(),
                lambda: x.to_numpy(**({} if hasattr(x, "chunks") else {"zero_copy_only": False})),
            )
        ]
    if module == "pyarrow" and hasattr(x, "to_pybytes"):
        return [np.frombuffer(x.to_pybytes(), "u1")]
    if module == "polars" and hasattr(x, "get_columns"):
        return [_listed(one.to_list(), one.to_numpy) for one in x.get_columns()]
    if module == "polars" and hasattr(x, "get_chunks"):
        return [_listed(x.to_list(), x.to_numpy)]
    if module == "pandas":
        return [part for one in _columns(x) for part in _of_column(one)]
    if module == "scipy" and hasattr(x, "data") and hasattr(x, "nnz"):
        plain = isinstance(x.data, np.ndarray) and x.data.dtype != object
        return [np.array(x.data).ravel() if plain else x.toarray().ravel()]
    if module == "xarray":
        return [part for one in _variables(x) for part in content(np.asarray(one._data))]
    if isinstance(x, list | tuple | dict) and depth < 3:
        return _of_items(list(x.values() if isinstance(x, dict) else x), depth)
    return []


def _of_column(x: Any) -> list[Any]:
    """Of dates the numbers that they are kept as, of a category the codes too."""
    own = getattr(x, "_ndarray", None)
    if isinstance(own, np.ndarray) and own.dtype.kind in "mM":
        return [np.array(own).ravel()]
    values = [_listed(list(x), lambda: x.to_numpy())]
    return [*values, np.array(x.codes)] if hasattr(x, "categories") and hasattr(x, "codes") else values


def _of_items(items: list[Any], depth: int) -> list[Any]:
    if len(items) > FEW and all(isinstance(one, int | float | np.generic) for one in items):
        return [np.array(items)]
    return [part for one in items[:ITEMS] for part in content(one, depth + 1)]


def _listed(values: list[Any], numbers: Callable[[], Any]) -> Any:
    made = np.array(numbers(), copy=True) if values else np.empty(0)
    return made.ravel() if made.dtype != object else values


def alike(one: list[Any], other: list[Any]) -> bool:
    """Whether two contents are the same bytes."""
    return len(one) == len(other) and all(raw(a) == raw(b) for a, b in zip(one, other, strict=True))


def raw(part: Any) -> bytes:
    """A part of a content as bytes."""
    return part.tobytes() if isinstance(part, np.ndarray) else repr(part).encode()


def _has_elements(text: bytes, one: Any) -> bool:
    """Whether bytes are all elements of an array, in any order: `tobytes(order="F")`."""
    if not isinstance(one, np.ndarray) or len(text) != one.nbytes or one.dtype.kind not in "iufc":
        return text == raw(one)
    return bool((np.sort(np.frombuffer(text, one.dtype)) == np.sort(one)).all())


@dataclass(slots=True)
class Verdict:
    """What one call did."""

    did: Did
    made: float = 0
    """Bytes made for each byte of the source."""
    why: str = ""
    """Of "unknown"."""
    bound: bool = True
    """Whether the call gave anything back."""


def judge(sources: list[Any], work: Callable[[], Any]) -> Verdict:
    """What `work` did with its sources; whatever it raises comes through."""
    before, places = [content(one) for one in sources], [list(blocks(one)) for one in sources]
    result = work()
    changed = [one for one in range(len(sources)) if not alike(before[one], content(sources[one]))]
    if changed:
        did: Did = "in place" if _same_places(sources, places, changed) else "changes the object"
        return Verdict(did, bound=result is not None)
    if any(result is one for one in sources):
        return Verdict("same object")
    return _of_result(result, before, places)


def _same_places(sources: list[Any], places: list[list[Block]], changed: list[int]) -> bool:
    return all(list(blocks(sources[one])) == places[one] for one in changed)


def _of_result(result: Any, given: list[list[Any]], by_source: list[list[Block]]) -> Verdict:
    if isinstance(result, list | tuple | dict) and len(result) > ITEMS and not content(result):
        return Verdict("unknown", why="too many items")
    found, own = content(result), list(blocks(result))
    if not sum(map(len, found)):
        return Verdict("no bytes", bound=result is not None)
    places = [block for one in by_source for block in one]
    size = sum(size for _, size, _ in own)
    meets = [any(a < start + n and start < a + size for start, n, _ in places) for a, size, _ in own]
    can_flip = any(how != "pointers" for _, _, how in places)
    flip(places)
    flipped = can_flip and not alike(found, content(result))
    flip(places)
    elements = [one for one, (_, _, how) in zip(meets, own, strict=True) if how != "pointers"]
    pointers = any(one for one, (_, _, how) in zip(meets, own, strict=True) if how == "pointers")
    if flipped != any(elements) and can_flip and (own or flipped):
        return Verdict("unknown", why="addresses and flipped bytes say different things")
    if any(elements) or pointers:
        whole = all(meets if can_flip else elements) and (any(elements) or not can_flip)
        return Verdict("view" if whole else "partly a view")
    return Verdict(_values(found, given), size / max(1, sum(n for _, n, _ in by_source[0])))


def _values(found: list[Any], given: list[list[Any]]) -> Did:
    """Of bytes that no source has: its values again, some of them, with or without a loss, or new ones."""
    pool = [
        *(made for one in given for made in _joined(one)),
        *_joined([part for one in given for part in one]),
    ]
    said = {_values_of(one, pool) for one in found if len(one)}
    if len(said) == 1:
        return said.pop()
    order: tuple[Did, ...] = ("copy", "copy that loses", "selection")
    return next((one for one in order if said <= {"copy", one}), "partly new values")


def _joined(parts: list[Any]) -> list[Any]:
    """The parts, and those of one type together."""
    arrays = [one for one in parts if isinstance(one, np.ndarray)]
    types = {one.dtype for one in arrays}
    return [*parts, *(np.concatenate([one for one in arrays if one.dtype == kind]) for kind in types)]


def _values_of(part: Any, pool: list[Any]) -> Did:
    part, pool = _dates(part), [_dates(one) for one in pool]
    if any(type(one) is type(part) and len(one) == len(part) and raw(one) == raw(part) for one in pool):
        return "copy"
    if not isinstance(part, np.ndarray):
        known = {repr(value) for one in pool for value in (one if isinstance(one, list) else one.tolist())}
        return "selection" if all(repr(value) in known | MISSING for value in part) else "new values"
    numbers = [one for one in pool if isinstance(one, np.ndarray) and one.dtype.kind not in "bO"]
    if part.dtype.kind in "SV" or part.itemsize == 1:  # one byte proves nothing
        return _of_single_bytes(part, pool, numbers)
    real = part[(part == part) & (part != 0)]
    if not len(real) or (len(real) > 1 and (real == real[0]).all()):
        return "new values"
    alike = [one for one in numbers if one.dtype == part.dtype]
    if found := [one for one in alike if _all_in(real, one)]:
        same = (len(one) == len(part) and (np.sort(one) == np.sort(part)).all() for one in found)
        return "copy" if any(same) else "selection"
    if any(len(one) > FEW and _all_in(one, real) for one in alike):
        return "partly new values"  # all of a source, and others: `insert`
    return _of_casts(part, real, [one for one in numbers if one.dtype.kind in "iufc"])


def _dates(part: Any) -> Any:
    """Dates as the numbers that they are kept as, with zeros for those that are none."""
    is_dates = isinstance(part, np.ndarray) and part.dtype.kind in "mM"
    return np.where(np.isnat(part), 0, part.view("i8")) if is_dates else part


def _of_single_bytes(part: Any, pool: list[Any], numbers: list[Any]) -> Did:
    text = part.tobytes()
    if part.dtype.kind != "b" and any(_has_elements(text, one) for one in pool):
        return "copy"
    if part.dtype.kind != "b" and any(text in raw(one) or text in raw(one[::2]) for one in pool):
        return "selection"
    cast = part.dtype.kind in "iu" and len(np.unique(part)) > 2 * FEW
    same = (one for one in numbers if one.dtype.kind in "iuf" and len(one) == len(part))
    return (
        "copy that loses" if cast and any((_cast(one, part) == part).all() for one in same) else "new values"
    )


def _of_casts(part: Any, real: Any, numbers: list[Any]) -> Did:
    """Of elements that no source has in their own type."""
    if part.dtype.kind not in "iufc":
        return "new values"
    mixed = [_cast(one, part) for one in numbers]
    if len({one.dtype for one in numbers}) > 1 and _all_in(real, np.concatenate(mixed)):
        back = all(_all_in(one, _cast(made, one)) for one, made in zip(numbers, mixed, strict=True))
        return "selection" if len(part) < min(map(len, numbers)) else "copy" if back else "copy that loses"
    found = [one for one in numbers if _all_in(real, _cast(one, part))]
    if not found and any(len(np.unique(one)) > FEW and _all_in(_cast(one, part), part) for one in numbers):
        return "partly new values"
    if not any(len(one) == len(part) for one in found):
        return "selection" if found else "new values"
    back = any(_all_in(one[one == one], _cast(part, one)) for one in found)
    return "copy" if back else "copy that loses"


def _cast(one: Any, like: Any) -> Any:
    with np.errstate(all="ignore"):
        return one.astype(like.dtype)


def _all_in(part: Any, pool: Any) -> bool:
    try:
        return bool(np.isin(part, pool, kind="sort").all())
    except TypeError:
        return False
