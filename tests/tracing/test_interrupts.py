"""Ctrl-C and progress of a running trace: on real signals, in this process and in programs of their own."""

# SPDX-License-Identifier: MIT
import ctypes
import functools
import math
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from threads import at_once

import inspector
from inspector import _native

pytestmark = pytest.mark.core

INTERRUPTED = """
import math, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
print("begun", flush=True)
while True:
    math.gcd(12, 18)
"""


@pytest.fixture
def hearing() -> Iterator[None]:
    """A shell starts what it runs in the background with SIGINT ignored, and that is inherited."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def armed() -> tuple[int, int]:
    return _native.calls_armed(), sum(1 for slot in _native.got_slots() if slot[6])


def test_an_interrupt_ends_the_block_and_what_was_recorded_is_there(hearing: None) -> None:
    before = armed()
    trace = inspector.trace("math")
    with pytest.raises(KeyboardInterrupt), trace:
        math.gcd(12, 18)
        signal.raise_signal(signal.SIGINT)
        math.gcd(1, 2)
    assert armed() == before
    assert [(call.name, call.times) for call in trace.calls] == [("math.gcd", 1)]


def test_an_interrupt_at_the_first_instruction_of_the_end_waits_for_it(hearing: None) -> None:
    """A subscript does not look for signals: the next to look is `__exit__`, as it begins."""
    before = armed()
    pending = defaultdict(functools.partial(getattr(ctypes.CDLL(None), "raise"), int(signal.SIGINT)))
    trace = inspector.trace("math")
    with pytest.raises(KeyboardInterrupt), trace:
        math.gcd(12, 18)
        pending["x"]
    assert armed() == before
    assert trace.calls[0].name == "math.gcd"


def test_a_handler_that_the_traced_code_sets_stays(hearing: None) -> None:
    own = lambda number, frame: None  # noqa: E731
    with inspector.trace("math"):
        signal.signal(signal.SIGINT, own)
    assert signal.getsignal(signal.SIGINT) is own
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_a_trace_that_another_thread_ends_leaves_interrupts_as_they_were(hearing: None) -> None:
    """A worker of Dask is armed in its main thread and asked in another."""
    before = armed()
    for _ in range(2):
        trace = inspector.trace("math")
        trace.__enter__()
        math.gcd(12, 18)
        at_once(lambda trace=trace: trace.__exit__(None, None, None))
        assert (armed(), len(trace.calls)) == (before, 1)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    with inspector.trace("math"):
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_progress_is_told_while_it_runs_and_is_no_part_of_it() -> None:
    heard: list[tuple[int, float]] = []
    with inspector.trace("math", told=lambda records, seconds: heard.append((records, seconds))) as trace:
        began = time.monotonic()
        while len(heard) < 2 and time.monotonic() - began < 60:
            math.gcd(12, 18)
    told = len(heard)
    assert told >= 2 and 0 < heard[0][0] <= heard[1][0] and 1 <= heard[0][1] < heard[1][1]
    assert {call.name for call in trace.calls} == {"math.gcd"}
    time.sleep(0.6)
    assert len(heard) == told


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_the_thread_that_tells_of_progress_is_none_that_the_program_counts() -> None:
    """gevent worked otherwise, or hung, where `threading` knew it; a forked child does not wait for it."""
    before, heard = threading.active_count(), list[int]()
    with inspector.trace("math", told=lambda records, seconds: heard.append(records)):
        during = threading.active_count()
        child = os.fork()
        while child and not heard:
            time.sleep(0.1)
    if not child:
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert during == before


def run_on_terminal(path: Path, stop_when: bytes) -> tuple[int, bytes, bytes]:
    """(exit code, its output, what stood on the terminal) of `inspector trace`, interrupted after a text."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "inspector", "trace", "--of", "math", str(path)]
    with subprocess.Popen(command, cwd=path.parent, stdout=subprocess.PIPE, stderr=theirs) as program:
        os.close(theirs)
        seen = b""
        while stop_when not in seen:
            seen += os.read(ours, 10_000)
        program.send_signal(signal.SIGINT)
        assert program.stdout is not None
        output = program.stdout.read()
        while True:
            try:
                part = os.read(ours, 10_000)
            except OSError:  # EIO: closed at the other end
                break
            seen += part
    os.close(ours)
    return program.returncode, output, seen


def test_a_long_program_says_how_far_it_is_and_is_shown_when_interrupted(tmp_path: Path) -> None:
    path = tmp_path / "app.py"
    path.write_text(INTERRUPTED)
    code, output, terminal = run_on_terminal(path, b" records")
    assert code == 1
    assert output.startswith(b"begun") and b"math.gcd" in output
    assert b"\r traced for 1 s, " in terminal and b"raised KeyboardInterrupt" in terminal
    assert b"Traceback" not in terminal
