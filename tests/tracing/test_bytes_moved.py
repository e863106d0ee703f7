"""Copies of Python's own modules: pickles, messages, files, mappings; each bytes number is compared."""

# SPDX-License-Identifier: MIT
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import one_line
import pytest

pytestmark = pytest.mark.core
LIBRARIES = pytest.mark.libraries
N = 100_000
"""Bytes of x and of m."""
SETUP = """
import array, base64, io, mmap, os, pickle, struct
import numpy as np
from multiprocessing.shared_memory import SharedMemory
x = np.random.default_rng(5).random(12_500)
m = x.tobytes()
"""


def row(line: str, setup: str = "", **names: Any) -> Any:
    """The first row of a line that runs after SETUP and `setup`."""
    return one_line.row(one_line.traced(SETUP + setup, line, names))


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Two sockets that are connected."""
    left, right = socket.socketpair()
    with left, right:
        left.setblocking(False)
        yield left, right


COPIES = (
    ("", "r = pickle.loads(pickle.dumps(x))", N),
    ("", "r = pickle.dumps(x, protocol=5)", N),
    ("", "r = pickle.dumps(x, protocol=4)", N),
    ("p = pickle.dumps(x, 5)", "r = pickle.loads(p)", N),
    ("p = pickle.dumps({'a': x, 'b': 1}, 4)", "r = pickle.loads(p)['a']", N),
    ("", "r = m[10:60_010]", 60_000),
    ("", "r = m + m", 2 * N),
    ("head = bytes(range(64))", "r = b''.join([head, m, head])", N + 128),
    ("", "r = array.array('d', m)", N),
    ("p = struct.pack('500q', *range(500))", "r = struct.unpack('500q', p)", 4000),
    ("b = io.BytesIO(m)", "r = b.getbuffer()", N),
    ("b = io.BytesIO(m)", "r = b.read(50_000)", 50_000),
    ("b = bytearray(N)", "b[100:60_100] = m[:60_000]", 60_000),
    ("b = memoryview(bytearray(2 * N))", "b[N:2 * N] = m", N),
    ("s = SharedMemory(create=True, size=N); s.unlink()", "s.buf[:N] = m", N),
    ("y = np.zeros(12_500)", "y[:] = x", N),
    ("y = np.zeros(12_500, 'f4')", "y[:] = x", N // 2),
    ("y = np.zeros((2, 12_500))", "y[1, ::2] = x[::2]", N // 2),
)


@pytest.mark.parametrize(("setup", "line", "bytes_"), COPIES, ids=[line for _, line, _ in COPIES])
def test_the_bytes_that_a_line_copies(setup: str, line: str, bytes_: int) -> None:
    found = row(line, setup, N=N)
    assert (found.verdict, found.copied_bytes, found.certain) == ("copied", bytes_, True)


def test_what_holds_no_bytes_of_its_operands_is_no_copy() -> None:
    setup = "parts = []; head = pickle.dumps(x, 5, buffer_callback=parts.append)"
    assert row("r = pickle.loads(head, buffers=parts)", setup).verdict == "view"
    assert row("r = pickle.dumps(x, 5, buffer_callback=parts.append)", "parts = []").copied_bytes == 0
    assert row("r = base64.b64encode(m)").verdict == "new values"
    assert row("r = bytes(N)", N=N).copied_bytes == 0
    assert row("r = x[::-1].tobytes()").copied_bytes in (0, N)
    assert row("b = io.BytesIO(m)").verdict == "view"
    assert row("y[:] = x * 2", "y = np.zeros(12_500)").verdict == "in place"


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "bytes"
    path.write_bytes(bytes(range(250)) * (N // 250))
    with path.open("r+b", buffering=0) as file:
        descriptor = file.fileno()
        for line in ("r = f.read()", "r = os.pread(d, N, 0)", "n = f.write(m)", "n = os.pwrite(d, m, 0)"):
            file.seek(0)
            found = row(line, f=file, d=descriptor, N=N)
            assert (line, found.verdict, found.copied_bytes) == (line, "copied", N)
        file.seek(N // 2)
        found = row("n = f.readinto(b)", "b = bytearray(200_000)", f=file)
        assert found.copied_bytes == os.fstat(descriptor).st_size - N // 2
        assert row("r = mmap.mmap(d, N)", d=descriptor, N=N).of == f"the file {path}"
        mapped = "r = mmap.mmap(d, N); "
        found = row("p = r[20_000:90_000]", mapped, d=descriptor, N=N)
        assert (found.verdict, found.copied_bytes) == ("copied", 70_000)


def test_sockets(pair: tuple[socket.socket, socket.socket]) -> None:
    left, right = pair
    found = row("n = left.send(m[:5000])", left=left)
    assert (found.verdict, found.copied_bytes, found.certain) == ("copied", 5000, True)
    found = row("n = right.recv_into(b)", "b = bytearray(9000)", right=right)
    assert (found.verdict, found.copied_bytes, found.reason) == (
        "copied", 5000, "the elements of the socket right",
    )  # fmt: skip
    left.sendall(np.arange(100.0).tobytes())
    assert row("r = right.recv(4096)", right=right).copied_bytes == 800


def test_a_users_own_file_is_not_taken_for_pythons() -> None:
    setup = "class F:\n    def read(self): return bytes(5000)\nf = F()"
    assert row("r = f.read()", setup).verdict == "new"


@pytest.mark.libraries
def test_of_a_table_only_the_columns_that_are_an_operands_are_copied() -> None:
    """Five of seven blocks are new values."""
    pd = pytest.importorskip("pandas", reason="cannot be installed")
    build = (
        "def build(df):\n"
        "    out = df.copy()\n"
        "    for n in range(6):\n"
        "        out[f'c{n}'] = out['a'] * (n + 1.5)\n"
        "    return out.drop(columns=['t'])\n"
        "df = pd.DataFrame({'a': np.arange(300_000.0), 't': np.arange(300_000)})\n"
    )
    found = row("f = build(df)", build, pd=pd)
    assert (found.verdict, found.copied_bytes, found.certain) == ("copied", 2_400_000, False)


@pytest.mark.parametrize(
    "line",
    [
        "np.save(f, x)",
        "x.tofile(f)",
        "pickle.dump(x, f)",
        pytest.param("h['a'] = x", marks=LIBRARIES),
        pytest.param("h.create_dataset('b', data=x)", marks=LIBRARIES),
        pytest.param("z[:] = x", marks=LIBRARIES),
    ],
)
def test_an_array_that_is_written_to_a_file_is_copied_there(line: str, tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    if line[:2] in ("h[", "h."):
        names["h"] = pytest.importorskip("h5py").File(tmp_path / "bytes.h5", "w")
    if line[:2] == "z[":
        zarr, kind = pytest.importorskip("zarr"), {"shape": (12_500,), "chunks": (5000,), "dtype": "f8"}
        names["z"] = zarr.open_array(str(tmp_path / "bytes.zarr"), mode="w", **kind)
    with (tmp_path / "bytes").open("wb") as file:
        found = row(line, f=file, **names)
    assert (found.verdict, found.copied_bytes) == ("copied", N)
