"""The arguments that operations are called with, by library: each kind has a name and an expression."""

# SPDX-License-Identifier: MIT
from dataclasses import dataclass
from typing import Final

Kinds = tuple[tuple[str, str], ...]
"""(name, expression) of each kind of argument."""

_R: Final = "((np.random.default_rng(7).random((32, 32)) * 9e5 - 4e5) * np.tile([1, 1, 1, 1e-6], (32, 8)))"
_I: Final = "np.random.default_rng(7).integers(-(1 << 40), 1 << 40, 1024)"
ARRAYS: Final[Kinds] = (
    ("C-contiguous", _R),
    ("Fortran-contiguous", f"np.asfortranarray({_R})"),
    ("with gaps", "(np.random.default_rng(7).random((64, 64)) * 9e5 - 4e5)[::2, ::2]"),
    ("one axis", f"{_R}.ravel().copy()"),
    ("int64", f"({_I}).reshape(32, 32)"),
    ("float32", f"{_R}.astype('f4')"),
)
_TWO: Final[Kinds] = (("ndarray, one axis", ARRAYS[3][1]), ("ndarray, two axes", _R))
_FRAME: Final = f"pd.DataFrame({_R}[:, :3], columns=list('abc'))"
_MIXED: Final = f"pd.DataFrame({{'a': {_R}[0], 'b': ({_I})[:32], 'c': {_R}[1]}})"
_TEXTS: Final = "[f'a text that is no number {i}' for i in range(64)]"
_HOURS: Final = "pd.date_range('2020-01-01', periods=512, freq='h')"
_TABLE: Final = f"pa.table({{'a': {_R}[0], 'b': ({_I})[:32]}})"
_COLUMN: Final = f"pa.array({_R}.ravel())"
_CSR: Final = "(sp.random(48, 48, 0.3, '{}', random_state=7) * 9e5)"


@dataclass(frozen=True, slots=True)
class Library:
    """What is called of a library, and with what."""

    modules: tuple[str, ...]
    own: Kinds
    """Kinds of the library's own objects: their methods, properties and operators are operations too."""
    guests: Kinds = ()
    """Further kinds that its functions and constructors are called with."""
    needs: tuple[str, ...] = ()
    """Other libraries whose names its kinds use."""


ALIASES: Final = {
    "numpy": "np", "pandas": "pd", "pyarrow": "pa", "polars": "pl", "scipy.sparse": "sp", "xarray": "xr",
    "array": "array", "torch": "torch",
}  # fmt: skip
"""Module -> name under which expressions know it."""

_OCTETS: Final = "bytearray(np.random.default_rng(3).permutation(256)[:224].astype('u1').tobytes()) * 16"
LIBRARIES: Final = {
    "numpy": Library(
        ("numpy", "numpy.linalg", "numpy.fft", "numpy.ma", "numpy.lib.stride_tricks", "numpy.lib.scimath"),
        (*ARRAYS, ("masked", f"np.ma.masked_greater({_R}, 9e5)")),
    ),
    "pandas": Library(
        ("pandas", "pandas.api.types", "pandas.api.extensions"),
        (
            ("DataFrame, one dtype", _FRAME),
            ("DataFrame, mixed dtypes", _MIXED),
            ("Series, float64", f"pd.Series({_R}.ravel())"),
            ("Series, Int64", f"pd.Series({_I}).astype('Int64')"),
            ("Series, texts", f"pd.Series({_TEXTS})"),
            ("Series, datetime64", f"pd.Series({_HOURS})"),
            ("Series, category", "pd.Series([f'k{i % 32:02d}' for i in range(512)], dtype='category')"),
            ("Index, float64", f"pd.Index({_R}.ravel())"),
            ("DatetimeIndex", _HOURS),
            ("TimedeltaIndex", f"{_HOURS} - pd.Timestamp('2019-01-01')"),
        ),
        _TWO,
    ),
    "pyarrow": Library(
        ("pyarrow", "pyarrow.compute"),
        (
            ("Array, float64", _COLUMN),
            ("Array, int64", f"pa.array({_I})"),
            ("Array, nulls", "pa.array([None if i % 7 == 0 else i * 1.5 + 0.5 for i in range(1024)])"),
            ("Array, texts", f"pa.array({_TEXTS})"),
            ("Array, timestamps", "pa.array(np.arange(512).astype('M8[s]') + np.timedelta64(10**9, 's'))"),
            ("ChunkedArray", f"pa.chunked_array([{_COLUMN}, {_COLUMN}])"),
            ("Table", _TABLE),
            ("RecordBatch", f"pa.record_batch({{'a': {_R}[0], 'b': ({_I})[:32]}})"),
            ("Buffer", f"pa.py_buffer({_OCTETS})"),
        ),
        (*_TWO, ("DataFrame", _MIXED)),
        ("pandas",),
    ),
    "polars": Library(
        ("polars",),
        (
            ("DataFrame", f"pl.DataFrame({{'a': {_R}[0], 'b': ({_I})[:32]}})"),
            ("DataFrame, one dtype", f"pl.DataFrame({{'a': {_R}[0], 'b': {_R}[1]}})"),
            ("Series, float64", f"pl.Series('a', {_R}.ravel())"),
            ("Series, int64", f"pl.Series('a', {_I})"),
            ("Series, texts", f"pl.Series('a', {_TEXTS})"),
            ("Series, datetime", "pl.Series('a', (np.arange(512) ** 2 + 10**15).astype('M8[us]'))"),
        ),
        (*_TWO, ("pyarrow Table", _TABLE), ("pandas DataFrame", _MIXED)),
        ("pandas", "pyarrow"),
    ),
    "scipy.sparse": Library(
        ("scipy.sparse", "scipy.sparse.linalg", "scipy.sparse.csgraph"),
        (
            *((name, _CSR.format(name)) for name in ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")),
            ("csr_array", f"sp.csr_array({_CSR.format('csr')})"),
        ),
        _TWO[1:],
    ),
    "xarray": Library(
        ("xarray",),
        (
            ("DataArray", f"xr.DataArray({_R}, dims=('t', 'u'))"),
            ("Dataset", f"xr.Dataset({{'a': (('t', 'u'), {_R}), 'b': ('t', {_R}[0])}})"),
            ("Variable", f"xr.Variable(('t', 'u'), {_R})"),
        ),
        (*_TWO, ("pandas DataFrame", _FRAME)),
        ("pandas",),
    ),
    "torch": Library(
        ("torch", "torch.linalg", "torch.fft", "torch.special", "torch.nn.functional"),
        (
            ("Tensor", f"torch.from_numpy({_R}).clone()"),
            ("Tensor, transposed", f"torch.from_numpy({_R}).clone().t()"),
            ("Tensor, one axis", f"torch.from_numpy({_R}.ravel()).clone()"),
            ("Tensor, float32", f"torch.from_numpy({_R}).float()"),
            ("Tensor, int64", f"torch.from_numpy(({_I}).reshape(32, 32)).clone()"),
        ),
        _TWO,
    ),
    "builtins": Library(
        ("builtins", "array"),
        (
            ("bytes", f"bytes({_OCTETS})"),
            ("bytearray", _OCTETS),
            ("memoryview", f"memoryview({_OCTETS})"),
            ("array", f"array.array('d', {_R}.ravel())"),
        ),
        (("ndarray", ARRAYS[3][1]),),
    ),
}  # fmt: skip


def library(name: str) -> Library:
    """What is called of a library; of one without a row here its functions, with arrays and bytes."""
    bytes_like = [kind for kind in LIBRARIES["builtins"].own if kind[0] in ("bytearray", "memoryview")]
    return LIBRARIES.get(name) or Library((name,), (), (*ARRAYS, *bytes_like))
