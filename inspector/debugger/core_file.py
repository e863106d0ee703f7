"""Read a core file with pystack: the signal, its thread, and the merged stacks of all threads."""

# SPDX-License-Identifier: MIT
import signal
import time
from pathlib import Path
from typing import Any, Final

from inspector.debugger.stacks import reader, stack_of
from inspector.errors import InspectorError, unreadable
from inspector.facts.crash import Crash
from inspector.facts.stack import UNTOLD, Stack, Stacks
from inspector.facts.unknown import Address, Unknown

_ELF: Final = b"\x7fELF"
_CORE: Final = 4  # ET_CORE, elf(5)
_FAULTS: Final = (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)


def is_core(path: str) -> bool:
    """Whether a path is a core file, not a folder. Raises InspectorError: unreadable-file, bad-core."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(18)
    except IsADirectoryError:
        return False
    except OSError as error:
        do = "give the path of a core file, or of the folder of a kept trace"
        raise unreadable(path, error, do) from None
    if head[:4] != _ELF or int.from_bytes(head[16:18], "little") != _CORE:
        raise InspectorError(
            f"{path} is not a core file.",
            slug="bad-core",
            why="it has no ELF header of type ET_CORE",
            do="give a core file of the kernel (`coredumpctl list`), or the folder of a kept trace",
        )
    return True


def read(path: str) -> Crash:
    """The crash of a core file, without its last calls. Raises InspectorError: pystack-missing, bad-core."""
    pystack = reader("core files")
    begin = time.perf_counter_ns()
    try:
        core = pystack.CoreFileAnalyzer(path)
        program, failure = str(core.extract_executable()), core.extract_failure_info()
        pid = int(core.extract_pid())
        both = pystack.NativeReportingMode.ALL
        threads = list(pystack.get_process_threads_for_core(path, program, native_mode=both))
    except Exception as error:  # pystack's own errors and OSError
        raise InspectorError(
            f"{path} cannot be read as a core file of Python.",
            slug="bad-core",
            why=" ".join(str(error).split())[:200] or type(error).__name__,
            do="check that its program is installed unchanged; `gdb PROGRAM CORE` reads any core file",
        ) from None
    found = tuple(stack_of(thread, "") for thread in threads)
    stacks = Stacks(pid, Path(program).name, found, time.perf_counter_ns() - begin)
    number = int(failure.get("si_signo", 0))
    died = found[-1] if found else None  # the kernel writes it first; pystack lists in reverse
    return Crash(
        pid=pid,
        program=Path(program).name,
        signal=_signal(number),
        fault=_address(failure, number),
        thread_id=died.thread_id if died else Unknown("the core file does not say"),
        place=_place(died),
        stacks=stacks,
        last=Unknown("no trace was kept"),
        recorded=0,
        sources=(path,),
    )


def _signal(number: int) -> str | Unknown:
    try:
        return signal.Signals(number).name
    except ValueError:
        return Unknown("the core file does not say")


def _address(failure: dict[str, Any], number: int) -> Address | Unknown:
    if number not in _FAULTS:
        return Unknown("not a fault of memory")
    if sender := failure.get("sender_pid"):
        return Unknown(f"process {sender} sent it")
    if failure.get("si_code") == UNTOLD:
        return Unknown("the system tells no address: a pointer cannot be one, or an instruction is forbidden")
    return Address(int(failure.get("failed_addr", 0)))


def _place(died: Stack | None) -> str | Unknown:
    """The innermost native frame that has a name."""
    for frame in died.frames if died else ():
        if frame.kind == "native" and not frame.function.startswith(("0x", "???")):
            library = "" if isinstance(frame.library, Unknown) else f" ({frame.library})"
            return f"{frame.function}{library}"
    return Unknown("no frame of it has a name")
