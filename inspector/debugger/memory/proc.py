"""Read another process's states, tracer and mappings from /proc; see proc(5)."""

# SPDX-License-Identifier: MIT
import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Code(NamedTuple):
    """A mapping that can be executed and comes from a file."""

    start: int
    stop: int
    file_offset: int
    path: str


def status(pid: int, field: str, thread: int = 0) -> str:
    """A field of /proc/PID/status, or of a thread's; "" where it does not exist."""
    folder = f"{pid}/task/{thread}" if thread else f"{pid}"
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{folder}/status").read_text().splitlines():
            if line.startswith(f"{field}:"):
                return line.partition(":")[2].strip()
    return ""


def tracer(pid: int) -> int:
    """The pid of the process's tracer; 0 for none."""
    return int(status(pid, "TracerPid") or 0)


def program(pid: int) -> str:
    """The name of the process as in ps(1)."""
    return status(pid, "Name") or "?"


def alive(pid: int) -> bool:
    """Whether the process runs; a zombie does not."""
    return status(pid, "State")[:1] not in ("", "Z", "X")


def thread_states(pid: int) -> set[str]:
    """The state letters of the process's threads: R, S, D, T, t ..."""
    return set(states(pid).values())


def states(pid: int) -> dict[int, str]:
    """Thread -> the letter of its state."""
    found = {}
    for task in threads(pid):
        with contextlib.suppress(OSError):
            text = Path(f"/proc/{pid}/task/{task}/stat").read_text()
            found[task] = text.rpartition(") ")[2][:1]
    return found


def cpu_seconds(pid: int) -> float:
    """Processor time that the process has used; 0.0 where it does not exist."""
    with contextlib.suppress(OSError, IndexError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def threads(pid: int) -> list[int]:
    """Ids of the process's threads."""
    with contextlib.suppress(OSError):
        return [int(task.name) for task in Path(f"/proc/{pid}/task").iterdir()]
    return []


def thread_name(pid: int, thread: int) -> str:
    """The name of a thread; "" for one that ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/task/{thread}/comm").read_text().strip()
    return ""


def maps(pid: int) -> Iterator[tuple[int, int, str, int, str, str]]:
    """(start, stop, permissions, file offset, inode, path or "") of the process's mappings."""
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        span, permissions, offset, _, inode, *path = line.split(maxsplit=5)
        start, stop = (int(word, 16) for word in span.split("-"))
        yield start, stop, permissions, int(offset, 16), inode, path[0] if path else ""


def code(pid: int) -> list[Code]:
    """The process's executable mappings of files that still exist."""
    found = []
    with contextlib.suppress(OSError):
        for start, stop, permissions, offset, inode, path in maps(pid):
            if "x" in permissions and inode != "0" and path and not path.endswith("(deleted)"):
                found.append(Code(start, stop, offset, path))
    return found


def mapped_file(pid: int, path: str) -> str:
    """The file of a mapping by a path we can open: in a container it is under the process's own root, in a
    chroot the mappings say it as we see it."""
    inside = f"/proc/{pid}/root{path}"
    return inside if Path(inside).exists() else path


def writable(pid: int) -> list[tuple[int, int, str]]:
    """(start, stop, name) of the process's private writable mappings."""
    with contextlib.suppress(OSError):
        found = ((start, stop, mode, path) for start, stop, mode, _, _, path in maps(pid))
        return [
            (start, stop, path) for start, stop, mode, path in found if mode[:2] == "rw" and mode[3] == "p"
        ]
    return []


def stack_pointers(pid: int) -> list[int]:
    """The stack pointers of the threads that the kernel reports: /proc/PID/task/TID/syscall."""
    found = []
    for task in threads(pid):
        with contextlib.suppress(OSError, ValueError, IndexError):
            found.append(int(Path(f"/proc/{pid}/task/{task}/syscall").read_text().split()[-2], 16))
    return found
