"""Each advice on the real library: the line it is told for copies, and what it says does not."""

# SPDX-License-Identifier: MIT
import os
import re
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import one_line
import pytest

import inspector
from inspector.facts.statements import Statement
from inspector.verdicts.advice.rows import ADVICE

N: Final = 200_000
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
LEFT_OVER: Final = 0.1
"""Of the bytes of the copy: more than this must not be allocated without it."""


class Example(NamedTuple):
    """A line that copies what `setup` makes, and the line that the advice says; n elements of 8 bytes."""

    library: str
    setup: str
    before: str
    after: str
    proof: str = "shares"
    """How the copy is seen to be gone: it "shares" memory with x, or the "peak" of memory is lower."""


_ARRAY = "x = np.arange(n, dtype=float)"
_BYTES = "x = bytearray(8 * n)"
_TENSOR = "import torch; x = torch.arange(n, dtype=torch.float64)"
_CTYPES = "import ctypes; x = (ctypes.c_double * n)()"
_MAPPED = "import mmap; x = mmap.mmap(-1, 8 * n); x[:] = np.arange(n).tobytes()"
_SHARED = """
import os
from multiprocessing.shared_memory import SharedMemory

class Kept(SharedMemory):
    def __del__(self):
        "Its buffer lives as long as the arrays over it."

x = Kept(create=True, size=8 * n)
x.unlink()
os.close(x._fd)
"""
_CFFI = "import cffi; ffi = cffi.FFI(); p = ffi.new('double[]', n); x = ffi.buffer(p)"
_SERIES = "import pandas as pd; x = pd.Series(np.arange(n, dtype=float))"
_ARROW = "import pyarrow as pa; x = pa.array(np.arange(n, dtype=float))"
_POLARS = "import polars as pl; x = pl.Series('x', np.arange(n, dtype=float))"
_SPARSE = "import scipy.sparse as sp; x = sp.csr_matrix((np.arange(n) % 7 + 1.0).reshape(-1, 500))"
_XARRAY = "import xarray as xr; x = xr.DataArray(np.arange(n, dtype=float))"
_HDF5 = "import h5py, io; x = h5py.File(io.BytesIO(), 'w').create_dataset('x', data=np.arange(n))"
_JAX = (
    "import jax, jax.numpy as jnp; jax.config.update('jax_enable_x64', True); "
    "x = jnp.arange(n, dtype=float) + 0; x.block_until_ready()"
)

EXAMPLES: Final = (
    Example("numpy", _ARRAY, "np.array(x)", "np.asarray(x)"),
    Example("numpy", _ARRAY, "np.array(x, dtype=float)", "np.asarray(x, dtype=float)"),
    Example("numpy", _ARRAY, "x.astype(float)", "x.astype(float, copy=False)"),
    Example("numpy", _ARRAY, "x.flatten()", "x.ravel()"),
    Example("numpy", _ARRAY, "x.tobytes()", "memoryview(x)"),
    Example("numpy", _ARRAY, "bytes(x)", "memoryview(x)"),
    Example("numpy", _ARRAY, "bytearray(x)", "memoryview(x)"),
    Example("numpy", "import array; x = array.array('d', bytes(8 * n))", "np.array(x)", "np.asarray(x)"),
    Example("numpy", "x = memoryview(bytearray(8 * n))", "np.array(x)", "np.asarray(x)"),
    Example("numpy", _ARRAY, "np.concatenate([x])", "np.asarray(x)"),
    Example("torch", "import torch; " + _ARRAY, "torch.tensor(x)", "torch.from_numpy(x)"),
    Example("torch", _TENSOR, "np.array(x)", "np.asarray(x)"),
    Example("torch", _TENSOR, "x.to(torch.float64, copy=True)", "x.to(torch.float64)"),
    Example("torch", _TENSOR, "torch.tensor(x)", "x.detach()"),
    Example("torch", "import torch; " + _ARRAY, "torch.from_numpy(x.copy())", "torch.from_numpy(x)"),
    Example("torch", _TENSOR, "torch.cat([x])", "x"),
    Example("pandas", "import pandas as pd; " + _ARRAY, "pd.Series(x)", "pd.Series(x, copy=False)"),
    Example(
        "pandas",
        "import pandas as pd; x = np.zeros((n // 2, 2))",
        "pd.DataFrame(x)",
        "pd.DataFrame(x, copy=False)",
    ),
    Example("pandas", _SERIES, "np.array(x)", "np.asarray(x)"),
    Example("pandas", _SERIES, "x.to_numpy(copy=True)", "x.to_numpy()"),
    Example("pyarrow", _ARROW, "np.array(x)", "np.asarray(x)"),
    Example(
        "pyarrow", "import pyarrow as pa; x = pa.py_buffer(bytes(8 * n))", "x.to_pybytes()", "memoryview(x)"
    ),
    Example("pyarrow", "import pyarrow as pa; " + _ARRAY, "pa.array(x.tolist())", "pa.array(x)"),
    Example("polars", _POLARS, "x.to_numpy(writable=True)", "x.to_numpy()"),
    Example("polars", _POLARS, "np.array(x)", "np.asarray(x)"),
    Example("polars", "import polars as pl; " + _ARRAY, "pl.Series(x.tolist())", "pl.Series(x)"),
    Example("scipy", _SPARSE, "x.astype(float)", "x.astype(float, copy=False)"),
    Example("scipy", _SPARSE, "sp.csr_matrix(x, copy=True)", "sp.csr_matrix(x)"),
    Example("scipy", _SPARSE, "x.transpose(copy=True)", "x.T"),
    Example("xarray", _XARRAY, "x.astype(float)", "x.astype(float, copy=False)"),
    Example("xarray", _XARRAY, "np.array(x)", "np.asarray(x)"),
    Example("xarray", _XARRAY, "x.to_numpy().copy()", "x.to_numpy()"),
    Example("h5py", _HDF5, "np.array(x[:])", "x[:]", "peak"),
    Example("ctypes", _CTYPES, "np.array(x)", "np.asarray(x)"),
    Example("ctypes", _CTYPES, "bytes(x)", "memoryview(x)"),
    Example(
        "ctypes",
        "import ctypes; x = bytearray(8 * n)",
        "(ctypes.c_double * n).from_buffer_copy(x)",
        "(ctypes.c_double * n).from_buffer(x)",
    ),
    Example("cffi", _CFFI, "bytes(x)", "memoryview(x)"),
    Example("cffi", _CFFI, "np.array(x)", "np.asarray(x)"),
    Example("bytes", _BYTES, "bytes(x)", "memoryview(x)"),
    Example("bytes", "x = memoryview(bytearray(8 * n))", "x.tobytes()", "memoryview(x)"),
    Example("bytes", "x = memoryview(bytearray(8 * n))", "bytes(x)", "memoryview(x)"),
    Example("bytes", "x = bytes(8 * n)", "bytearray(x)", "memoryview(x)"),
    Example("array", "import array; x = array.array('d', bytes(8 * n))", "x.tobytes()", "memoryview(x)"),
    Example("shared memory", _SHARED, "bytes(x.buf)", "memoryview(x.buf)"),
    Example("shared memory", _SHARED, "np.array(x.buf)", "np.asarray(x.buf)"),
    Example("numpy", _ARRAY, "np.array(x, copy=True)", "np.asarray(x)"),
    Example("numpy", _ARRAY, "np.array(x.reshape(2, -1))", "np.asarray(x.reshape(2, -1))"),
    Example("numpy", _ARRAY, "np.take(x, np.arange(10, n), axis=0)", "x[10:n]"),
    Example("numpy", _ARRAY, "np.delete(x, 0, axis=0)", "x[1:]"),
    Example("numpy", _ARRAY, "np.delete(x, -1, axis=0)", "x[:-1]"),
    Example("numpy", _ARRAY, "np.stack([x] * 3)", "np.broadcast_to(x, (3, *x.shape))"),
    Example("numpy", _ARRAY, "np.repeat(x[None], 3, axis=0)", "np.broadcast_to(x, (3, *x.shape))"),
    Example("numpy", _ARRAY, "x[:].copy()", "x[:]"),
    Example("h5py", _HDF5, "x[:].copy()", "x[:]", "peak"),
    Example("torch", _TENSOR, "x[torch.arange(10, n)]", "x[10:n]"),
    Example("torch", _TENSOR, "torch.index_select(x, 0, torch.arange(10, n))", "x[10:n]"),
    Example("torch", _TENSOR, "x.unsqueeze(0).repeat(3, 1)", "x.expand(3, -1)"),
    Example("torch", _TENSOR, "x[None].repeat(3, 1)", "x.expand(3, -1)"),
    Example("torch", _TENSOR, "torch.stack([x])", "x[None]"),
    Example("torch", "import torch; " + _ARRAY, "torch.from_numpy(np.array(x))", "torch.from_numpy(x)"),
    Example("torch", _TENSOR, "x.numpy().copy()", "x.numpy()"),
    Example("pandas", _SERIES, "x.values.copy()", "x.values"),
    Example("xarray", _XARRAY, "x.values.copy()", "x.values"),
    Example("xarray", "import xarray as xr; " + _ARRAY, "xr.DataArray(np.array(x))", "xr.DataArray(x)"),
    Example("scipy", _SPARSE, "x.tocsr(copy=True)", "x.tocsr()"),
    Example("scipy", _SPARSE, "sp.csr_matrix(x.toarray())", "sp.csr_matrix(x)"),
    Example("jax", _JAX, "np.array(x)", "np.asarray(x)"),
    Example("numpy", _ARRAY, "np.frombuffer(x.tobytes(), dtype=float)", "np.frombuffer(x, dtype=float)"),
    Example("bytes", _BYTES, "np.frombuffer(bytes(x), dtype=float)", "np.frombuffer(x, dtype=float)"),
    Example(
        "shared memory",
        _SHARED,
        "np.frombuffer(bytes(x.buf), dtype=float)",
        "np.frombuffer(x.buf, dtype=float)",
    ),
    Example("shared memory", _SHARED, "x.buf.tobytes()", "memoryview(x.buf)"),
    Example("numpy", _ARRAY, "memoryview(x.tobytes())", "memoryview(x).cast('B')"),
    Example("bytes", _BYTES, "memoryview(bytes(x))", "memoryview(x).cast('B')"),
    Example("pyarrow", "import pyarrow as pa; " + _BYTES, "pa.py_buffer(bytes(x))", "pa.py_buffer(x)"),
    Example("pyarrow", "import pyarrow as pa; " + _ARRAY, "pa.py_buffer(x.tobytes())", "pa.py_buffer(x)"),
    Example("pyarrow", _ARROW, "pa.concat_arrays([x])", "x"),
    Example(
        "ctypes",
        "import ctypes; " + _ARRAY,
        "(ctypes.c_double * n)(*x)",
        "(ctypes.c_double * n).from_buffer(x)",
    ),
    Example("bytes", _BYTES, "b''.join([x])", "memoryview(x)"),
    Example("bytes", "x = np.arange(n).tobytes()", "x[8:n]", "memoryview(x)[8:n]"),
    Example("bytes", "x = bytearray(np.arange(n))", "x[:n]", "memoryview(x)[:n]"),
    Example("bytes", _MAPPED, "x[n:]", "memoryview(x)[n:]"),
)

LARGE: Final = ("torch", "polars", "scipy", "xarray", "h5py")
"""They are only in the rooms of the libraries."""


def _room(library: str) -> Any:
    """The mark of a library's room; of JAX 0.4.30 a trace does not see that np.array copies."""
    return pytest.mark.newest if library == "jax" else pytest.mark.libraries if library in LARGE else ()


def _parameters() -> list[Any]:
    return [
        pytest.param(
            one,
            id=f"{one.library}: {one.before}",
            marks=_room(one.library),
        )
        for one in EXAMPLES
    ]


def _traced(example: Example, line: str) -> tuple[dict[str, Any], Statement, Any]:
    """The names after the line `r = ...` has run in a trace, its statement, and the trace."""
    names: dict[str, Any] = {"np": np, "n": N}
    t = one_line.traced(example.setup, f"r = {line}", names)
    return names, one_line.row(t), t


def _peak(example: Example, line: str) -> int:
    """Bytes that Python and NumPy had allocated at most while the line ran."""
    names: dict[str, Any] = {"np": np, "n": N}
    exec(example.setup, names)
    code = compile(line, "<line>", "eval")
    eval(code, names)
    tracemalloc.start()
    try:
        kept = eval(code, names)
        del kept
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _bytes_of(value: Any) -> np.ndarray[Any, Any]:
    """The elements of an object of any library, without a copy, as an array; of a sparse one its values."""
    home = getattr(type(value), "__module__", "")
    if home.startswith("scipy"):
        return np.asarray(value.data)
    if home.startswith("pandas"):
        return np.asarray(value.to_numpy())
    if isinstance(value, (memoryview, bytes, bytearray)) or "Buffer" in type(value).__name__:
        return np.frombuffer(value, np.uint8)
    if hasattr(value, "buf"):
        return np.frombuffer(value.buf, np.uint8)
    if home == "_cffi_backend":
        return np.frombuffer(value, np.uint8)
    return np.asarray(value)


@pytest.mark.parametrize("example", _parameters())
def test_the_line_copies_and_the_advice_does_not(example: Example) -> None:
    if example.library != "torch":
        check(example)
        return
    # its functions are many: in a process that has loaded all libraries some have no hook
    code = f"import test_advice as t; t.check(t.EXAMPLES[{EXAMPLES.index(example)}])"
    command = [sys.executable, "-P", "-c", code]
    found_in = (Path(__file__).parent, Path(one_line.__file__).parent)
    given = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, found_in))}
    done = subprocess.run(command, capture_output=True, text=True, env=given, timeout=100)
    assert done.returncode == 0, done.stderr


def check(example: Example) -> None:
    names, row, trace = _traced(example, example.before)
    assert (row.verdict, row.instead) == ("copied", example.after)
    if row.copied_bytes >= 1_000_000:
        told = [one for one in trace.report.facts["answers"].rows if one.slug == "worth-a-change"]
        assert [one.do for one in told] == [example.after]
    first = _bytes_of(names["r"])
    assert not np.shares_memory(first, _bytes_of(names["x"])) or example.proof == "peak"
    if example.proof == "peak":
        saved = _peak(example, example.before) - _peak(example, example.after)
        assert saved > row.copied_bytes * (1 - LEFT_OVER)
        return
    names, other, _ = _traced(example, example.after)
    second = _bytes_of(names["r"])
    assert np.shares_memory(second, _bytes_of(names["x"])) and other.copied_bytes == 0
    assert first.tobytes() == second.tobytes()


def test_there_are_forty_of_them_and_every_advice_has_one() -> None:
    assert min(len(EXAMPLES), len(ADVICE)) >= 40
    assert [
        row.written for row in ADVICE if not any(re.fullmatch(row.written, one.before) for one in EXAMPLES)
    ] == []


def test_a_tobytes_of_another_kind_is_no_buffer(tmp_path: Path) -> None:
    """As that of an image of Pillow, of which `memoryview` raises TypeError."""
    library = tmp_path / "site-packages" / "images.py"
    library.parent.mkdir()
    library.write_text(
        "class Image:\n    def __init__(self):\n        self.kept = bytearray(range(256)) * 8000\n"
        "    def tobytes(self):\n        return b''.join([self.kept])\n"
    )
    code = compile(library.read_text(), str(library), "exec")
    names: dict[str, object] = {}
    exec(code, names)
    path = tmp_path / "app.py"
    path.write_text("raw = image.tobytes()\n")
    with inspector.trace() as trace:
        exec(compile(path.read_text(), str(path), "exec"), {"image": names["Image"]()})
    (row,) = [row for row in trace.statements.rows if row.target == "raw"]
    assert (row.verdict, row.copied_bytes, row.instead) == ("copied", 2_048_000, "")


@pytest.mark.parametrize(
    ("before", "after", "advised"),
    [
        ("pass", "s = float(r[0])", True),
        ("x[:] = 1.5", "s = float(r[0])", True),
        ("pass", "x += 1", False),
        ("pass", "r[:9] = 0", False),
        ("pass", "memoryview(r)[0] = 5.0", False),
    ],
)
def test_a_copy_that_is_written_or_whose_source_is_was_needed(
    before: str, after: str, advised: bool, tmp_path: Path
) -> None:
    path = tmp_path / "app.py"
    path.write_text(f"{before}\nr = np.array(x)\n{after}\n")
    with inspector.trace() as trace:
        exec(compile(path.read_text(), str(path), "exec"), {"np": np, "x": np.arange(200_000.0)})
    row = trace.lines[str(path), 2]
    assert (row.verdict, bool(row.instead)) == ("copied", advised)
