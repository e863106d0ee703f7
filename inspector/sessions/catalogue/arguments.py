"""How an operation is called: the expressions to try, from the names of its parameters."""

# SPDX-License-Identifier: MIT
import inspect
import keyword
from collections.abc import Callable, Iterator
from itertools import islice, product
from typing import Any, Final

MOST_TRIED: Final = 16
"""Calls tried until one is accepted."""
NAMED: Final[dict[str, tuple[str, ...]]] = {
    "axis": ("0",), "axis1": ("0",), "axis2": ("1",), "dim": ("0", "1"), "dim0": ("0",), "dim1": ("1",),
    "axes": ("(1, 0)", "0"), "dims": ("(1, 0)", "('u', 't')", "0"), "source": ("0", "x"),
    "destination": ("1",),
    "shape": ("(16, 64)", "(32, 32)", "x.shape", "1024"), "newshape": ("(16, 64)",),
    "size": ("(16, 64)", "8"),
    "dtype": ("'float32'", "'int64'"), "indices": ("[0, 2]", "1"), "index": ("[0, 2]", "1", "'a'"),
    "func": ("np.sort", "len", "lambda v: v"), "func1d": ("np.sort",), "function": ("lambda v: v",),
    "f": ("lambda v: v",), "repeats": ("2",), "reps": ("2",), "shift": ("3",), "n": ("4",), "k": ("4",),
    "kth": ("3",), "q": ("0.5",), "deg": ("2",), "condition": ("x > 3e5",), "cond": ("x > 3e5",),
    "mask": ("x > 3e5", "[True] * len(x)"), "predicate": ("x > 3e5",), "other": ("y", "2"),
    "columns": ("['a']", "{'a': 'd'}"), "column": ("'a'", "0"), "key": ("'a'", "0"), "name": ("'d'", "'a'"),
    "names": ("['d', 'e']",), "item": ("'a'",), "items": ("['a']",), "label": ("'a'",), "loc": ("0",),
    "by": ("'a'",), "subset": ("['a']",), "length": ("8",), "offset": ("1",), "start": ("0",), "stop": ("8",),
    "value": ("1", "y", "'a'"), "values": ("[1, 2]", "y"), "num": ("4",), "fill_value": ("2",),
    "width": ("40",),
    "indices_or_sections": ("2",), "sections": ("2",), "window_shape": ("4",), "window": ("4",),
    "window_size": ("4",), "freq": ("'D'",), "format": ("'csr'",), "subscripts": ("'ij->ji'",),
    "to_replace": ("1.5",), "pat": ("'text'",), "pattern": ("'text'",), "sep": ("' '",), "i": ("0",),
    "j": ("1",), "i1": ("0",), "to_index": ("0",), "keys": ("'a'",), "on": ("'a'",), "ord": ("2",),
    "a_min": ("2e5",), "a_max": ("5e5",), "target_type": ("pa.float32()",), "schema": ("x.schema",),
    "sort_keys": ("'a'",), "tz": ("'UTC'",), "unit": ("'s'",), "encoding": ("'utf-8'",), "periods": ("1",),
    "dtypes": ("'float32'",), "field": ("'d'",), "field_": ("'d'",), "left": ("2e5", "x"),
    "right": ("5e5", "y"),
    "lower": ("2e5",), "upper": ("5e5",), "expr": ("'a'",), "dimension": ("0",), "split_size": ("8",),
    "chunks": ("2",), "equation": ("'ij->ji'",),
}  # fmt: skip
"""Name of a parameter -> expressions for it."""
POOL: Final = ("y", "1", "'float32'", "[0, 2]", "'a'", "(16, 64)")
"""For a required parameter of any other name."""
BLIND: Final = (
    "",
    "y",
    "0",
    "1",
    "0, 1",
    "y, y",
    "[0, 2]",
    "'float32'",
    "'a'",
    "0, 0, 4",
    "(16, 64)",
    "2, y",
)
"""After the source, for what says nothing of its parameters."""
OPTIONS: Final[dict[str, tuple[str, ...]]] = {
    "copy": ("True", "False"), "deep": ("False",), "dtype": ("'float32'",), "order": ("'F'",), "axis": ("1",),
    "inplace": ("True",), "zero_copy_only": ("False",), "writable": ("True",), "allow_copy": ("False",),
    "rechunk": ("False",), "split_blocks": ("True",), "ignore_index": ("True",), "ndmin": ("3",),
    "fill_value": ("2.0",), "in_place": ("True",), "as_series": ("True",), "combine_chunks": ("True",),
    "keepdims": ("True",), "drop": ("True",), "refcheck": ("False",), "subok": ("True",),
    "keepdim": ("True",),
}  # fmt: skip
"""Optional parameter -> values that may change what is copied."""
SEVERAL: Final = ("objs", "arrays", "tup", "seq", "tensors", "blocks", "tables", "items", "data", "args")
"""Parameters that take a list of sources."""


def calls(callee: str, function: Callable[..., Any], method: bool) -> Iterator[str]:
    """The calls to try, the likely ones first; `callee`: "x.astype" or "np.sort"."""
    needed = _required(function, method)
    if needed is None:
        first = () if method else ("x", "[x, y]")
        for rest in BLIND:
            for source in first or ("",):
                yield f"{callee}({', '.join(part for part in (source, rest) if part)})"
        return
    placed, options = method, []
    for name, only_by_name in needed:
        some = NAMED.get(name, ())
        if not some or (not placed and name in SEVERAL):
            some, placed = (POOL if placed else ("[x, y]", "x") if name in SEVERAL else ("x", "[x, y]")), True
        options.append([f"{name}={one}" if only_by_name else one for one in some])
    if not placed:
        options.insert(0, ["x", "[x, y]"])
    tried = (f"{callee}({', '.join(one)})" for one in product(*options))
    yield from islice(tried, MOST_TRIED)


def with_options(call: str, function: Callable[..., Any]) -> Iterator[str]:
    """The same call with each option that may change what is copied."""
    names = _optional(function)
    for name, some in OPTIONS.items():
        if (names is None or name in names) and f"{name}=" not in call:
            for value in some:
                yield f"{call[:-1]}{', ' if call[-2] != '(' else ''}{name}={value})"


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter] | None:
    try:
        return list(inspect.signature(function).parameters.values())
    except (ValueError, TypeError):
        return None


def _required(function: Callable[..., Any], method: bool) -> list[tuple[str, bool]] | None:
    """(name, whether by name only) of each parameter without a default; None: nothing is known of them."""
    found = _parameters(function)
    if found is None or (len(found) >= 2 and all(one.kind in (2, 4) for one in found[method:])):
        return None
    own = found[1:] if method else found
    if any(one.kind == one.VAR_POSITIONAL for one in own) and all(_may_miss(one) for one in own):
        return None
    return [(one.name, one.kind == one.KEYWORD_ONLY) for one in own if not _may_miss(one)]


def _may_miss(one: inspect.Parameter) -> bool:
    return one.default is not one.empty or one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD)


def _optional(function: Callable[..., Any]) -> set[str] | None:
    found = _parameters(function)
    if found is None:
        return None
    return {one.name for one in found if one.default is not one.empty}


OPERATORS: Final = {
    "__getitem__": ("x[2:9]", "x[::2]", "x[[0, 2]]", "x[x > 3e5]", "x[:, 1]", "x['a']", "x[['a']]", "x[...]"),
    "__setitem__": ("x[2:9] = y[2:9]", "x['a'] = y['a']"),
    "__add__": ("x + y", "x + 1"), "__sub__": ("x - y",), "__mul__": ("x * 2",), "__truediv__": ("x / 2",),
    "__matmul__": ("x @ y",), "__pow__": ("x ** 2",), "__mod__": ("x % 7",), "__floordiv__": ("x // 7",),
    "__and__": ("x & y",), "__or__": ("x | y",), "__invert__": ("~x",), "__neg__": ("-x",),
    "__pos__": ("+x",),
    "__abs__": ("abs(x)",), "__lt__": ("x < y",), "__eq__": ("x == y",), "__iadd__": ("x += y",),
    "__imul__": ("x *= 2",), "__array__": ("np.asarray(x)", "np.array(x)"), "__iter__": ("list(x)",),
    "__copy__": ("copy.copy(x)",), "__deepcopy__": ("copy.deepcopy(x)",), "__len__": ("len(x)",),
    "__reduce_ex__": ("pickle.loads(pickle.dumps(x, 5))",), "__buffer__": ("memoryview(x)", "bytes(x)"),
}  # fmt: skip
"""Special method -> statements that call it."""


def is_word(name: str) -> bool:
    """Whether a name can be written behind a dot."""
    return name.isidentifier() and not keyword.iskeyword(name)
