"""What a called operation may not do: write outside a folder, reach the network, start a process."""

# SPDX-License-Identifier: MIT
import os
import sys
from typing import Any, Final

_REFUSED: Final = (
    "socket.connect", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname", "subprocess.Popen",
    "os.system",
    "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "os.kill", "os.killpg", "shutil.rmtree",
    "webbrowser.open", "urllib.Request", "os.chmod", "os.chown", "signal.pthread_kill",
)  # fmt: skip
_PATHS: Final = ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.truncate", "os.link", "os.symlink")
_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def guard(folder: str) -> None:
    """Refuse it in this process, from now on (PEP 578); the folder is the one where files may be written."""
    inside = os.path.realpath(folder)
    os.chdir(inside)

    def look(event: str, given: tuple[Any, ...]) -> None:
        if event in _REFUSED:
            raise PermissionError(f"{event} is not allowed here")
        writes = event == "open" and isinstance(given[2], int) and bool(given[2] & _WRITES)
        if (writes or event in _PATHS) and not _is_inside(given[0], inside):
            raise PermissionError(f"{event} of {given[0]!r:.60} is not allowed here")

    sys.addaudithook(look)


def _is_inside(path: Any, folder: str) -> bool:
    if isinstance(path, int) or str(path) == os.devnull:
        return True
    return os.path.realpath(os.fsdecode(path)).startswith(folder + os.sep)
