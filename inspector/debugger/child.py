"""gdb as a child of the broker: started with our agent inside, watched, killed when it does not respond."""

# SPDX-License-Identifier: MIT
import contextlib
import os
import re
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Final

from inspector.debugger.lines import Lines
from inspector.debugger.memory import proc

SILENT_S: Final = 5.0
"""The broker pings gdb each second, and ends one that has not answered or computed for so many seconds."""
WORKS_S: Final = 90.0
"""Seconds for a gdb that computes: torch's symbols take 5 s of its time, more on a busy machine."""
TERM_S: Final = 1.5
"""Seconds from SIGTERM, on which gdb detaches in order, to SIGKILL."""
_NO_PYTHON: Final = "Python scripting is not supported"
_FAILED: Final = re.compile(r"^(\w.*)\nError while executing Python code\.", re.MULTILINE)
"""What gdb prints where the agent did not start: the exception's last line comes before."""
_FD: Final = "INSPECTOR_AGENT_FD"
_ROOT: Final = Path(__file__).resolve().parents[2]
_EARLY: Final = (
    "set auto-load off",
    "set debuginfod enabled off",
    "set startup-with-shell off",
    "set non-stop on",
    "set pagination off",
    "set confirm off",
    "maint set internal-error quit yes",
    "maint set internal-error corefile no",
    "maint set internal-warning corefile no",
)
"""A vanished process can be an internal error of gdb: gdb then ends, without a core file in our folder."""


class Gdb:
    """One gdb, its agent's socket, and when it was last pinged."""

    def __init__(self, path: str, folder: str, settings: tuple[str, ...] = ()) -> None:
        ours, theirs = socket.socketpair()
        reads, holds = os.pipe()
        path_first = f"python import sys; sys.path.insert(0, {str(_ROOT)!r})"
        boot = f"{path_first}; from inspector.debugger.inside import agent; agent.start()"
        command = [path, "-q", "-nx", "-nh"]
        for setting in (*_EARLY, *settings):
            command += ["-iex", setting]
        with (Path(folder) / "gdb.log").open("wb") as log:
            self.child = subprocess.Popen(
                [*command, "-ex", boot],
                stdin=reads,  # gdb holds the other end: at end of input it would quit without detaching
                stdout=log,
                stderr=log,
                start_new_session=True,
                pass_fds=[theirs.fileno(), holds],
                env={**os.environ, _FD: str(theirs.fileno()), "INSPECTOR_AGENT_FOLDER": folder},
            )
        theirs.close()
        os.close(reads)
        os.close(holds)
        self.agent = Lines(ours)
        self.pidfd = os.pidfd_open(self.child.pid)
        self.asked_at: float | None = None
        self._worked = 0.0, 0.0
        """When it was last seen to compute (CLOCK_MONOTONIC seconds), and its processor time then."""
        self.ending_since: float | None = None
        self.runs = False
        """Whether the agent has answered."""
        self.hung = ""
        """Why it is ended, if it does not run."""
        self._log = Path(folder) / "gdb.log"

    def unusable(self) -> str:
        """Why its log says that it cannot run our agent; "" where it does not say so."""
        with contextlib.suppress(OSError):
            said = self._log.read_text(errors="replace")
            if _NO_PYTHON in said:
                return "it was built without Python, which our agent needs"
            if failed := _FAILED.search(said):
                return f"our agent does not start in its Python: {failed[1][:200]}"
        return ""

    def fileno(self) -> int:
        """Readable when gdb has ended."""
        return self.pidfd

    def end(self) -> None:
        """Ask gdb to detach and end (SIGTERM); `tick` sends SIGKILL later."""
        if self.ending_since is None:
            self.ending_since = time.monotonic()
            self.child.send_signal(signal.SIGTERM)
            self.child.send_signal(signal.SIGCONT)  # a stopped gdb cannot act on SIGTERM

    def tick(self, patient_until: float) -> None:
        """Called each second: ping gdb; end a gdb that was stopped, or has not answered for too long.

        `patient_until`: the deadline of a running request (CLOCK_MONOTONIC seconds).
        """
        now = time.monotonic()
        if not self.runs and self.unusable():
            self.end()
        if self.ending_since is not None:
            if now - self.ending_since > TERM_S:
                self.child.kill()
        elif "T" in proc.thread_states(self.child.pid):
            self._hangs("gdb was stopped by a signal, and was ended")
        elif self.asked_at is None:
            self.asked_at = now
            self.agent.send(id=0, do="ping")
        elif now > max(min(self._busy_until(now), self.asked_at + WORKS_S), patient_until):
            self._hangs(f"gdb did not respond for {now - self.asked_at:.0f} s and was ended")

    def _busy_until(self, now: float) -> float:
        """Until when it may be silent: SILENT_S from the ping, or from when it was last seen to compute."""
        seconds = proc.cpu_seconds(self.child.pid)
        if seconds > self._worked[1]:
            is_first = not self._worked[0]
            self._worked = (self.asked_at or now) if is_first else now, seconds
        return max(self._worked[0], self.asked_at or now) + SILENT_S

    def _hangs(self, why: str) -> None:
        self.hung = why
        self.end()

    def answered(self) -> None:
        """The agent has answered."""
        self.asked_at, self.runs = None, True

    def reap(self) -> int:
        """Wait for gdb, and close; its exit code, -N for signal N."""
        code = self.child.wait()
        os.close(self.pidfd)
        self.agent.close()
        return code
