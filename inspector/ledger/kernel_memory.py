"""Addresses that the kernel keeps for this process: one may be the only pointer to a block."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

_OWN: Final = Path("/proc/self")
_EPOLL: Final = "anon_inode:[eventpoll]"
_RING: Final = "anon_inode:[io_uring]"
_KEPT: Final = re.compile(r"^tfd:.*\bdata:\s*([0-9a-f]+)", re.MULTILINE)


def kept_by_kernel() -> tuple[tuple[int, ...], bool]:
    """The `data` of every file that an epoll of this process watches (proc_pid_fdinfo(5), epoll_ctl(2)), and
    whether an io_uring is open: its `user_data` cannot be read (io_uring_enter(2))."""
    kinds = dict(_open_files())
    told = [_told(number) for number, kind in kinds.items() if kind == _EPOLL]
    return tuple(int(word, 16) for text in told for word in _KEPT.findall(text)), _RING in kinds.values()


def _open_files() -> Iterator[tuple[str, str]]:
    """Number and kind, or path, of every open file."""
    for file in (_OWN / "fd").iterdir():
        with suppress(OSError):  # closed meanwhile, as the listing's own descriptor is
            yield file.name, str(file.readlink())


def _told(number: str) -> str:
    try:
        return (_OWN / "fdinfo" / number).read_text("ascii")
    except OSError:
        return ""
