"""Check what this machine allows: each ability is tried for a moment, and the state restored."""

# SPDX-License-Identifier: MIT
import ctypes
import errno
import fcntl
import os
import platform
import struct
from importlib import metadata, util
from pathlib import Path
from typing import Any, Final

from inspector.facts.machine import Check
from inspector.facts.unknown import Unknown

LIBRARIES: Final = ("numpy", "pandas", "pyarrow", "polars", "torch", "jax", "dask", "rpy2")
WATCHPOINTS_MAX: Final = 8
_WITH_GIL: Final = "a Python with the GIL"
_PERF_EVENT_OPEN: Final = {"x86_64": 298, "aarch64": 241}
_PAGEMAP_SCAN: Final = 0xC0606610  # _IOWR('f', 16, struct pm_scan_arg): linux/fs.h
_SCAN: Final = struct.Struct("<12Q")


def checks() -> tuple[Check, ...]:
    """The checks that need only this process."""
    first = extension()
    if first.state == "part":  # free-threaded
        refused = (Check(part, "no", "not without the GIL yet", _WITH_GIL) for part in ("attach", "writes"))
        return (first, *refused, residency(), symbols(), libraries())
    return (first, attach(), writes(), residency(), symbols(), libraries())


def extension() -> Check:
    """Whether `_native` loads, for which Python and processor."""
    python = f"CPython {platform.python_version()}, {platform.machine()}"
    try:
        from inspector import _native
    except ImportError as error:
        is_free_threaded = "needs the GIL" in str(error)
        mend = "pip install --force-reinstall native-inspector"
        return Check("extension", "no", f"{error}", _WITH_GIL if is_free_threaded else mend)
    if hasattr(_native, "refuse"):
        works = "free-threaded: cards, owners, what is kept, the heap, memory; no traces, no leaks"
        return Check("extension", "part", f"{python}, {works}", _WITH_GIL)
    file = Path(_native.__file__ or "").name
    fast = "AVX2" if "avx2" in _processor_flags() else "portable scan (no AVX2)"
    return Check("extension", "ok", f"{file.partition('.')[0]} for {python}, {fast}", "")


def _processor_flags() -> list[str]:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split() for line in lines if line.startswith("flags")), [])


def attach() -> Check:
    """Whether a process may trace one that is not its child: a child seizes this one, and ends."""
    from inspector.objects.isolation import run

    if tracer := _tracer():
        return Check("attach", "part", f"process {tracer} traces this one already", "try without a debugger")
    answer = run(_seize_parent, 5.0, 1 << 28)
    if isinstance(answer, Unknown):
        return Check("attach", "part", f"? {answer.reason}", "inspector doctor in a terminal")
    if not answer:
        return Check("attach", "ok", "ptrace allowed", "")
    return Check("attach", "no", f"ptrace refused: {os.strerror(answer)}", _mend_ptrace())


def _seize_parent() -> int:
    """0, or the errno; the kernel detaches when the tracing process ends. Does not stop the parent."""
    from inspector.objects.isolation import seize

    return seize(os.getppid())


def _tracer() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("TracerPid"))


def _mend_ptrace() -> str:
    scope = Path("/proc/sys/kernel/yama/ptrace_scope")
    if scope.exists() and scope.read_text().strip() != "0":
        return "sudo sysctl kernel.yama.ptrace_scope=0"
    return "start the container with --cap-add=SYS_PTRACE"


def writes() -> Check:
    """How many hardware watchpoints perf_event_open(2) gives this process at once."""
    number = _PERF_EVENT_OPEN.get(platform.machine())
    if number is None:
        return Check("writes", "no", f"no watchpoints on {platform.machine()}", "")
    target, failure = ctypes.c_uint64(), 0
    opened: list[int] = []
    while len(opened) < WATCHPOINTS_MAX:
        descriptor, failure = _watch(number, ctypes.addressof(target))
        if descriptor < 0:
            break
        opened.append(descriptor)
    for descriptor in opened:
        os.close(descriptor)
    if opened:
        return Check("writes", "ok", f"{len(opened)} hardware watchpoints by perf{_pages()}", "")
    refused = failure in (errno.EACCES, errno.EPERM)
    mend = "sudo sysctl kernel.perf_event_paranoid=2" if refused else "a machine with debug registers"
    return Check("writes", "no", f"perf_event_open: {os.strerror(failure)}", mend)


def _pages() -> str:
    try:
        from inspector import _native
    except ImportError:
        return ""
    refused = _native.writes_pages_refused()
    return f"; wider ranges: userfaultfd: {os.strerror(refused)}" if refused else "; any range by its pages"


def _watch(number: int, address: int) -> tuple[int, int]:
    """(descriptor or -1, errno) of a disabled watchpoint on 8 bytes (linux/perf_event.h)."""
    breakpoint_, on_write, user_only = 5, 2, 1 << 0 | 1 << 5 | 1 << 6
    attributes = struct.pack(
        "<IIQQQQQIIQQ", breakpoint_, 112, 0, 1, 0, 0, user_only, 0, on_write, address, 8
    ).ljust(112, b"\0")
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    descriptor = libc.syscall(number, attributes, 0, -1, -1, 0)
    return int(descriptor), ctypes.get_errno()


def residency() -> Check:
    """Whether the kernel reports which pages are in memory, and by which interface."""
    place = ctypes.create_string_buffer(1)
    start = ctypes.addressof(place) & -4096
    query = bytearray(_SCAN.pack(_SCAN.size, 0, start, start + 4096, 0, 0, 0, 0, 0, 0, 0, 0))
    try:
        with open("/proc/self/pagemap", "rb", buffering=0) as pagemap:  # noqa: PTH123
            try:
                fcntl.ioctl(pagemap, _PAGEMAP_SCAN, query)
            except OSError:
                return Check(
                    "residency", "ok", f"pagemap, without PAGEMAP_SCAN (Linux {platform.release()})", ""
                )
    except OSError as error:
        return Check(
            "residency", "no", f"pagemap: {error.strerror}", "mount /proc with the process's own rights"
        )
    return Check("residency", "ok", "PAGEMAP_SCAN", "")


def symbols() -> Check:
    """The symbols in the symbol tables of the interpreter and of numpy."""
    try:
        interpreter = _interpreter_file()
    except ImportError:
        return Check("symbols", "part", "? the extension finds the files", "mend the extension first")
    found = {"python": _grade(interpreter)}
    if numpy := util.find_spec("numpy"):
        cores = list(Path(numpy.origin or "").parent.glob("*core/_multiarray_umath*.so"))
        found["numpy"] = _grade(str(cores[0])) if cores else "not found"
    whole = set(found.values()) == {"full"}
    says = " · ".join(f"{name}: {grade}" for name, grade in found.items())
    return Check(
        "symbols", "ok" if whole else "part", says, "" if whole else "a build with .symtab names more"
    )


def _interpreter_file() -> str:
    from inspector.binaries.addresses import place

    library = place(id(object)).library
    return "" if isinstance(library, Unknown) else library


def _grade(path: str) -> str:
    from inspector.binaries.symbol_table import symbol_table

    table = symbol_table(path)
    if isinstance(table, Unknown):
        return "none"
    return "exported names" if table.stripped else "full"


def libraries() -> Check:
    """Versions of the libraries with existing or planned adapters; imports none."""
    found = {name: _version(name) for name in LIBRARIES}
    here = [f"{name} {version}" for name, version in found.items() if version]
    absent = [name for name, version in found.items() if not version]
    says = " · ".join(here) + (f" · not installed: {', '.join(absent)}" if absent else "")
    return Check("libraries", "ok", says.lstrip(" ·"), "")


def _version(name: str) -> Any:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""
