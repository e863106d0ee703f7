"""System calls that the kernel refuses from here on: a seccomp filter, for this process and its children."""

# SPDX-License-Identifier: MIT
import ctypes
import os
import struct

IOCTL, PREAD, PTRACE = (16, 17, 101) if os.uname().machine == "x86_64" else (29, 67, 117)
"""Their numbers (arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h of the kernel)."""
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
"""BPF_LD|BPF_W|BPF_ABS, BPF_JMP|BPF_JEQ|BPF_K, BPF_RET|BPF_K (linux/bpf_common.h)."""
NUMBER_AT, SECOND_AT = 0, 24
"""Of the call's number and of its second argument's low half in struct seccomp_data (linux/seccomp.h)."""
ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
"""SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ERRNO (seccomp(2))."""


def refuse(answer: int, number: int, second: int | None = None) -> None:
    """From here on a system call (with this second argument, where one is given) gets `answer`."""
    told = [(LOAD, 0, 0, NUMBER_AT), (EQUAL, 0, 1 if second is None else 3, number)]
    told += [] if second is None else [(LOAD, 0, 0, SECOND_AT), (EQUAL, 0, 1, second)]
    told += [(RETURN, 0, 0, answer), (RETURN, 0, 0, ALLOW)]
    program = b"".join(struct.pack("=HBBI", *row) for row in told)
    rows = ctypes.create_string_buffer(program, len(program))
    filter_ = struct.pack("=HxxxxxxQ", len(told), ctypes.addressof(rows))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, filter_, 0, 0):  # PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP
        raise OSError(ctypes.get_errno(), "no filter")
