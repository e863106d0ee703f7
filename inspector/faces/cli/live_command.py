"""Watch the Python and native stacks of a process on a screen.

  inspector live --pid 4711            a running process
  inspector live app.py ARGS           a script, run as python would

Samples once a second; each sample stops the process for some milliseconds.
A script's output goes to a file, which is named at the end.
"""

# SPDX-License-Identifier: MIT
import argparse
import os
import signal
import sys
import tempfile
from pathlib import Path

from inspector.errors import EXIT_DONE, EXIT_FINDINGS, InspectorError

GROUP = "inspect running programs"


def prepare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--pid", type=int, metavar="PID", help="the process to watch")
    parser.add_argument("--every", type=seconds, default=1.0, metavar="S", help="seconds between samples (1)")
    parser.add_argument("script", nargs="?", metavar="SCRIPT", help="a Python file to start")
    parser.add_argument("arguments", metavar="ARGS", nargs=argparse.REMAINDER, help="the script's arguments")


def seconds(text: str) -> float:
    """The seconds that an option gives, 0.1 to 3,600."""
    value = float(text)
    if not 0.1 <= value <= 3600:
        raise argparse.ArgumentTypeError(f"0.1 to 3600 seconds, not {text}")
    return value


def run(options: argparse.Namespace) -> int:
    """Open the screen; closing it ends a script that it started."""
    from inspector.faces.screens import opening

    if (options.pid is None) == (options.script is None):
        raise InspectorError(
            "give a process or a script." if options.pid is None else "give a process or a script, not both.",
            slug="bad-option",
            do="inspector live --pid PID, or inspector live SCRIPT ARGS",
        )
    opening.check("`inspector stacks PID` prints the stacks once")
    if options.pid is not None:
        return _watched(options.pid, options.every)
    return _started(options)


def _watched(pid: int, every_s: float) -> int:
    """Open the screen after a first sample, so that a refusal is a plain error."""
    from inspector.faces.screens.live import Live
    from inspector.sessions import running

    first = running.stacks(pid)
    Live(lambda: running.stacks(pid), f"{first.program} ({pid})", every_s).run()
    return EXIT_DONE


def _started(options: argparse.Namespace) -> int:
    from inspector.faces.cli.program import readable

    readable(options.script)
    handle, name = tempfile.mkstemp(prefix="inspector-live-", suffix=".txt")
    pid = _spawned([sys.executable, options.script, *options.arguments], handle)
    os.close(handle)
    try:
        _watched(pid, options.every)
    finally:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if not ended:
            os.kill(pid, signal.SIGTERM)
            _, status = os.waitpid(pid, 0)
    return _report_end(options.script, Path(name), os.waitstatus_to_exitcode(status), bool(ended))


def _spawned(command: list[str], output: int) -> int:
    """Start a program with its output in the file `output` and an empty input; its pid."""

    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, output, 1),
        (os.POSIX_SPAWN_DUP2, output, 2),
    ]
    return os.posix_spawn(command[0], command, os.environ, file_actions=actions)


def _report_end(script: str, output: Path, code: int, by_itself: bool) -> int:
    """Write how the script ended and where its output is; EXIT_FINDINGS where it failed by itself."""

    how = f"ended with code {code}" if by_itself else "was ended with the screen"
    if output.stat().st_size:
        how += f"; its output: {output}"
    else:
        output.unlink()
    sys.stderr.write(f"{script} {how}\n")
    return EXIT_FINDINGS if by_itself and code else EXIT_DONE
