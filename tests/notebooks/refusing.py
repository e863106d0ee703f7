"""Run a notebook where the system refuses ptrace: refusing.py IN OUT. Kernels and gdb inherit the filter."""

from __future__ import annotations

import ctypes
import struct
import sys

PTRACE = 101
"""Its number on x86-64 (arch/x86/entry/syscalls/syscall_64.tbl of the kernel)."""
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
"""BPF_LD|BPF_W|BPF_ABS, BPF_JMP|BPF_JEQ|BPF_K, BPF_RET|BPF_K (linux/bpf_common.h)."""
ALLOW, EPERM = 0x7FFF0000, 0x00050000 | 1
"""SECCOMP_RET_ALLOW; SECCOMP_RET_ERRNO with EPERM (seccomp(2))."""


def refuse_ptrace() -> None:
    """From here on ptrace(2) fails with EPERM in this process and all it starts, as in a strict container."""
    program = b"".join(
        struct.pack("=HBBI", *row)
        for row in ((LOAD, 0, 0, 0), (EQUAL, 0, 1, PTRACE), (RETURN, 0, 0, EPERM), (RETURN, 0, 0, ALLOW))
    )
    rows = ctypes.create_string_buffer(program, len(program))
    told = struct.pack("=HxxxxxxQ", len(program) // 8, ctypes.addressof(rows))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, told, 0, 0):  # PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP
        raise OSError(ctypes.get_errno(), "no filter")


def main(source: str, target: str) -> None:
    import nbclient
    import nbformat

    refuse_ptrace()
    notebook = nbformat.read(source, as_version=4)
    nbclient.NotebookClient(notebook, timeout=100, kernel_name="python3").execute()
    nbformat.write(notebook, target)


if __name__ == "__main__":
    main(*sys.argv[1:])
