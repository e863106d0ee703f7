"""The event record and the rings: what is written is read, the dropped counted, a crash keeps the file."""

# SPDX-License-Identifier: MIT
import errno
import os
import signal
import struct
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from events import RECORD, decode, kind
from threads import at_once

from inspector import _native

pytestmark = [pytest.mark.core, pytest.mark.quick]

TOTAL = 64 << 20


def begin(directory: str = "", capacity: int = 1024, mode: str = "last", **more: int) -> None:
    every, clocks, total = more.get("every", 1), more.get("clocks", 0), more.get("total", TOTAL)
    _native.ring_begin(directory, capacity, mode, every, clocks, total, more.get("file", -1))


@pytest.fixture(autouse=True)
def _no_session_is_left() -> Iterator[None]:
    yield
    with pytest.raises(RuntimeError, match="no session"):
        _native.ring_end()


def values(records: bytes) -> list[int]:
    return [event.val for event in decode(records)]


def mark(*numbers: int) -> list[bool]:
    return [_native.ring_mark(1, 0, number, 0) for number in numbers]


def test_the_table_describes_the_record_without_gaps() -> None:
    assert RECORD.size == 64
    at = 0
    for name, code, offset, meaning in _native.EVENT_FIELDS:
        assert (offset, bool(meaning)) == (at, True), name
        at += struct.calcsize("<" + code)
    assert [number for _, number, _ in _native.EVENT_KINDS] == list(range(len(_native.EVENT_KINDS)))
    assert [bit for _, bit, _ in _native.EVENT_FLAGS] == [1 << n for n in range(len(_native.EVENT_FLAGS))]


def test_what_is_recorded_is_read() -> None:
    begin()
    assert _native.ring_mark(3, 2**63, 35, 42)
    rows, refused, streamed, failed = _native.ring_end()
    (thread, tid, written, dropped, skipped, mapped, records) = rows[0]
    assert (thread, tid) == (threading.get_ident(), threading.get_native_id())
    assert (written, dropped, skipped, mapped, refused, streamed, failed) == (1, 0, 0, 0, 0, 0, 0)
    (row,) = decode(records)
    assert (kind(row), row.func, row.obj, row.val, row.aux) == ("MARK", 3, 2**63, 35, 42)
    assert (row.start, row.depth, row.flags) == (0, 0, 0)


def test_nothing_is_recorded_without_a_session() -> None:
    begin()
    _native.ring_end()
    assert mark(1) == [False]


@pytest.mark.parametrize(("capacity", "count"), [(64, 200), (1 << 14, 40_000)])
def test_the_last_records_stay_and_the_rest_is_counted(capacity: int, count: int) -> None:
    """The longer one goes round twice, over every step in which pages are asked for."""
    begin(capacity=capacity)
    mark(*range(count))
    (row,) = _native.ring_end()[0]
    assert row[2:5] == (count, count - capacity, 0)
    assert values(row[6]) == list(range(count - capacity, count))


def test_the_clock_runs_forward_in_the_ticks_it_says() -> None:
    begin(clocks=1)
    before = _native.ring_clock()
    mark(0)
    after = _native.ring_clock()
    (record,) = decode(_native.ring_end()[0][0][6])
    assert before[0] <= record.start <= after[0]
    assert before[1] <= after[1]
    assert before[2] > 0


def test_the_extension_takes_72_bytes_of_thread_local_memory() -> None:
    """Static TLS is short where an extension is loaded late: the size of its segment in the file itself."""
    from elftools.elf.elffile import ELFFile

    with Path(_native.__file__).open("rb") as file:
        parts = [part["p_memsz"] for part in ELFFile(file).iter_segments() if part["p_type"] == "PT_TLS"]
    assert parts == [72]


def test_each_thread_has_its_own_ring_also_after_its_end() -> None:
    begin()
    mark(1)
    for n in range(2, 6):
        at_once(lambda n=n: mark(n, n))
    rows = _native.ring_end()[0]
    assert [values(row[6]) for row in rows] == [[1], [2, 2], [3, 3], [4, 4], [5, 5]]


def test_a_thread_that_outlives_a_session_records_in_the_next() -> None:
    go, done = threading.Event(), threading.Event()

    def body() -> None:
        for number in (1, 2):
            go.wait()
            go.clear()
            mark(number)
            done.set()

    thread = threading.Thread(target=body)
    thread.start()
    for number in (1, 2):
        begin()
        go.set()
        done.wait()
        done.clear()
        rows = _native.ring_end()[0]
        mine = [row for row in rows if row[1] == thread.native_id]
        assert [values(row[6]) for row in mine] == [[number]]
    thread.join()


def test_threads_beyond_the_total_get_less_and_then_nothing() -> None:
    begin(capacity=4096, total=4096 * 64 + 1024 * 64 + 2 * 4096)
    mark(0)
    got = [at_once(lambda: mark(7)) for _ in range(2)]
    rows, refused, _, _ = _native.ring_end()
    assert (got, refused) == ([[[True]], [[False]]], 1)
    assert [values(row[6]) for row in rows] == [[0], [7]]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"mode": "first"}, "last, sums, stream or sample"),
        ({"capacity": 100}, "power of two"),
        ({"capacity": 32}, "power of two"),
        ({"every": 0}, "at least 1"),
        ({"directory": "x" * 300}, "longer than"),
    ],
)
def test_a_wrong_argument_is_said(wrong: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        begin(**wrong)  # type: ignore[arg-type]


def test_two_sessions_at_once_are_refused() -> None:
    begin()
    with pytest.raises(RuntimeError, match="already"):
        begin()
    _native.ring_end()


def test_rings_are_files_where_a_directory_is_given(tmp_path: Path) -> None:
    begin(str(tmp_path))
    mark(9)
    (row,) = _native.ring_read()
    (file,) = tmp_path.iterdir()
    assert (row[5], values(row[6])) == (1, [9])
    assert file.stat().st_size == 4096 + 1024 * 64
    assert file.stat().st_blocks * 512 >= 4096 + 1024 * 64  # reserved
    assert _native.ring_end()[0] == [row]


def test_a_full_disk_leaves_anonymous_memory(tmp_path: Path) -> None:
    """A file longer than any may be fails as one on a full disk does (a limit on file sizes: EFBIG)."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
        begin(str(tmp_path))
        assert mark(3) == [True]
        (row,) = _native.ring_end()[0]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert (row[5], values(row[6])) == (0, [3])
    assert list(tmp_path.iterdir()) == []


FILLED = """
import sys
from inspector import _native
_native.ring_begin(sys.argv[1], 1 << 14, "last", 1, 0, 64 << 20, -1)
got = [_native.ring_mark(1, 0, number, 0) for number in range(1 << 14)]
row, = _native.ring_end()[0]
print(row[5], sum(got), len(row[6]) // 64, row[3])
"""


def test_a_disk_that_fills_up_while_recording_costs_records_not_the_process(tmp_path: Path) -> None:
    """A file system of 512 kB, in a name space of its own; a ring of 1 MB."""
    script = tmp_path / "filled.py"
    script.write_text(FILLED)
    inside = f"mount -t tmpfs -o size=512k tmpfs /mnt && exec {sys.executable} -P {script} /mnt"
    space = [
        "unshare",
        "-m" if os.geteuid() == 0 else "-rm",
    ]  # a chroot has no other user's
    done = subprocess.run([*space, "sh", "-c", inside], capture_output=True, text=True, timeout=60)
    if done.returncode and ("unshare" in done.stderr or "mount" in done.stderr):
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    mapped, wrote, kept, dropped = map(int, done.stdout.split())
    assert (mapped, wrote, dropped) == (1, kept, (1 << 14) - kept)
    assert 0 < kept < 1 << 13


def test_a_stream_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "stream"
    begin(mode="stream", capacity=1 << 16, file=os.open(path, os.O_WRONLY | os.O_CREAT))
    kept = mark(*range(50_000))
    (row,), refused, streamed, failed = _native.ring_end()
    assert (all(kept), row[3], row[6], refused, failed) == (True, 0, b"", 0, 0)
    assert streamed == path.stat().st_size
    assert chunks(path.read_bytes()) == {threading.get_ident(): list(range(50_000))}


def chunks(stream: bytes) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    at = 0
    while at < len(stream):
        magic, thread, count, _ = struct.unpack_from("<4Q", stream, at)
        assert magic == _native.RING_MAGIC
        found.setdefault(thread, []).extend(values(stream[at + 32 : at + 32 + count * 64]))
        at += 32 + count * 64
    return found


def test_a_stream_that_cannot_be_written_counts_what_it_drops() -> None:
    begin(mode="stream", capacity=64, file=os.open("/dev/full", os.O_WRONLY))
    kept = mark(*range(1000))
    (row,), _, streamed, failed = _native.ring_end()
    assert (streamed, failed) == (0, errno.ENOSPC)
    assert (row[2], row[3]) == (kept.count(True), kept.count(False)) == (64, 936)
    assert values(row[6]) == list(range(64))


def test_a_child_records_into_rings_of_its_own(tmp_path: Path) -> None:
    """Its parent's file is mapped in both: the child must not write there."""
    begin(str(tmp_path))
    mark(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # 3.12: other tests' threads may be alive
        child = os.fork()
    if not child:
        kept = mark(2)
        rows = _native.ring_read()
        os._exit(0 if kept == [True] and [values(row[6]) for row in rows] == [[2]] else 1)
    assert os.waitpid(child, 0)[1] == 0
    mark(3)
    (row,) = _native.ring_end()[0]
    assert values(row[6]) == [1, 3]
    files = " ".join(file.name for file in tmp_path.iterdir())
    assert [files.count(f"-{pid}-") for pid in (child, os.getpid())] == [1, 1]


def resident_bytes(file: Path) -> int:
    """Of the mapping of a file, as the kernel counts it."""
    lines = iter(Path("/proc/self/smaps").read_text().splitlines())
    assert any(line.endswith(str(file)) for line in lines), "it is mapped"
    return 1024 * int(next(line for line in lines if line.startswith("Rss:")).split()[1])


def test_the_pages_of_a_ring_come_as_it_fills(tmp_path: Path) -> None:
    """The beginner's first 4 MiB are there at once; another thread's ring takes what it is written to."""
    begin(str(tmp_path), capacity=1 << 17)
    (mine,) = tmp_path.iterdir()

    def record() -> tuple[int, int]:
        mark(1)
        (file,) = set(tmp_path.iterdir()) - {mine}
        few = resident_bytes(file)
        mark(*range(20_000))
        return few, resident_bytes(file)

    [(few, many)] = at_once(record)
    assert resident_bytes(mine) < 5 << 20
    assert few <= 512 << 10 and 20_000 * 64 <= many <= 2 << 20
    assert sorted(len(row[6]) // 64 for row in _native.ring_end()[0]) == [0, 20_001]
