"""What the kernel keeps for this process: an address in it may be all that leads to a block."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

_OWN: Final = Path("/proc/self")
_KEPT: Final = re.compile(r"^tfd:.*\bdata:\s*([0-9a-f]+)", re.MULTILINE)


def epoll_words() -> tuple[int, ...]:
    """The `data` of every file that an epoll of this process watches (proc_pid_fdinfo(5), epoll_ctl(2))."""
    told = [_told(number) for number in _open_as("anon_inode:[eventpoll]")]
    return tuple(int(word, 16) for text in told for word in _KEPT.findall(text))


def has_io_uring() -> bool:
    """Whether an io_uring is open: what `user_data` it holds, nobody tells (io_uring_enter(2))."""
    return any(_open_as("anon_inode:[io_uring]"))


def _open_as(kind: str) -> Iterator[str]:
    """Numbers of the open files of a kind."""
    for file in (_OWN / "fd").iterdir():
        with suppress(OSError):  # closed meanwhile: the listing's own is
            if str(file.readlink()) == kind:
                yield file.name


def _told(number: str) -> str:
    try:
        return (_OWN / "fdinfo" / number).read_text("ascii")
    except OSError:
        return ""
