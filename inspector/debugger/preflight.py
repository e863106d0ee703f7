"""Check whether a process may be traced, before anything is changed."""

# SPDX-License-Identifier: MIT
import errno
import os
import shutil
from functools import partial
from pathlib import Path
from typing import Final

from inspector.debugger.memory import proc
from inspector.errors import InspectorError, TargetGone
from inspector.facts.unknown import Unknown
from inspector.objects.isolation import run, seize

_DEADLINE_S: Final = 5.0
_MEMORY_BYTES: Final = 1 << 28
_SCOPE: Final = Path("/proc/sys/kernel/yama/ptrace_scope")
_YAMA: Final = {
    1: (
        "Yama ptrace_scope is 1: only a parent may trace",
        "sudo sysctl kernel.yama.ptrace_scope=0, or start it under `inspector break`",
    ),
    2: (
        "Yama ptrace_scope is 2: only CAP_SYS_PTRACE may trace",
        "sudo sysctl kernel.yama.ptrace_scope=1, or run inspector with sudo",
    ),
    3: (
        "Yama ptrace_scope is 3: no process may trace",
        "reboot with a lower scope; it cannot be lowered now",
    ),
}
"""scope -> why, what to do (Documentation/admin-guide/LSM/Yama.rst of the kernel)."""


def check(pid: int) -> str:
    """The path of gdb, where process `pid` can be traced now.

    Raises InspectorError: gdb-missing, ptrace-forbidden, already-traced; TargetGone: no-process. Tries it: a
    forked child seizes the process and ends, which stops nothing.
    """
    found = path()
    check_access(pid)
    return found


def path() -> str:
    """The path of gdb. Raises InspectorError gdb-missing."""
    found = shutil.which("gdb")
    if found is None:
        why = "breakpoints in native code need gdb; everything else works without"
        raise _no_gdb("gdb is not installed.", why, "sudo apt-get install gdb")
    return found


def unusable(why: str) -> InspectorError:
    """The error for a gdb that cannot run our agent."""
    return _no_gdb("this gdb cannot be used.", why, "sudo apt-get install gdb (not gdb-minimal)")


def _no_gdb(what: str, why: str, do: str) -> InspectorError:
    return InspectorError(what, slug="gdb-missing", why=why, do=do)


def check_access(pid: int) -> None:
    """Raise what `check` raises where process `pid` may not be traced now, except gdb-missing."""
    check_free(pid)
    answer = run(partial(seize, pid), _DEADLINE_S, _MEMORY_BYTES)
    if isinstance(answer, Unknown) and "not forked" in answer.reason:
        raise InspectorError(
            f"{pid} ({proc.program(pid)}) was not inspected.",
            slug="not-read",
            why=answer.reason,
            do="try again when those threads rest, or from a terminal: inspector attach",
        )
    if isinstance(answer, Unknown):
        raise forbidden(pid, answer.reason, scope())
    if answer == errno.ESRCH:
        raise gone(pid)
    if answer:
        raise forbidden(pid, os.strerror(answer), scope())


def check_free(pid: int) -> None:
    """Raise InspectorError already-traced where `pid` is traced; TargetGone where it does not exist."""
    if not proc.alive(pid):
        raise gone(pid)
    if tracer := proc.tracer(pid):
        raise already_traced(pid, tracer)


def scope() -> int:
    """Yama's ptrace_scope; 0 where there is no Yama."""
    try:
        return int(_SCOPE.read_text())
    except (OSError, ValueError):
        return 0


def gone(pid: int) -> TargetGone:
    """The error for a process that does not exist."""
    return TargetGone(
        f"there is no process {pid}.",
        slug="no-process",
        why="it has ended, or never existed",
        do="ps aux | grep python",
    )


def already_traced(pid: int, tracer: int) -> InspectorError:
    """The error for a process that another debugger traces."""
    return InspectorError(
        f"cannot attach to {pid} ({proc.program(pid)}): {tracer} ({proc.program(tracer)}) traces it already.",
        slug="already-traced",
        why="Linux lets one process trace another at a time",
        do="end that debugger or that session first",
    )


def forbidden(pid: int, reason: str, yama: int) -> InspectorError:
    """The error for a process that we may not trace; `yama`: the ptrace_scope."""
    why, do = _YAMA.get(
        yama,
        (
            f"{reason}: a container without SYS_PTRACE, a seccomp filter, another user's process, or an "
            "undumpable one",
            "start the container with --cap-add=SYS_PTRACE, or run inspector as the process's user",
        ),
    )
    return InspectorError(
        f"cannot attach to {pid} ({proc.program(pid)}): the system forbids tracing it.",
        slug="ptrace-forbidden",
        why=why,
        do=do,
    )
