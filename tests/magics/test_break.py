"""`%%inspect_break` in a real kernel: the cell runs, its hits are shown, the kernel goes on untraced."""

# SPDX-License-Identifier: MIT
import re

import pytest
from debugged import LOAD, library, until
from jupyter_client import BlockingKernelClient
from kernels import shown

from inspector.debugger.memory import proc
from inspector.sessions import running

pytestmark = [pytest.mark.debugger, pytest.mark.timeout(240)]


def test_a_cell_shows_what_it_reached(kernel: BlockingKernelClient) -> None:
    said = shown(
        kernel, "%%inspect_break PyFloat_FromString\nvalue = [float(t) for t in ('1.5', '2.5')]\nvalue"
    )
    assert said[0] == "[1.5, 2.5]"
    assert "PyFloat_FromString" in said[1] and "2 hits of 1 place" in said[1]
    assert "str '1.5' | str '2.5'" in said[1] and "<module>" in said[1]
    assert re.search(r"Py +<listcomp> +cell \d+:1\b", said[1]) or re.search(
        r"<module> +cell \d+:1\b", said[1]
    )
    assert "run_cell_magic" not in said[1], "what ran the cell is plumbing"
    state = "print([l.split()[1] for l in open('/proc/self/status') if l.startswith('TracerPid')], value)"
    assert shown(kernel, state) == ["['0'] [1.5, 2.5]\n"]


def test_one_statement_and_an_error(kernel: BlockingKernelClient) -> None:
    said = shown(kernel, "%inspect_break PyFloat_FromString --record count -- float('2')")
    assert "1 hit of 1 place" in "".join(said)
    said = shown(kernel, "%%inspect_break PyFloat_FromString\nfloat('nothing')")
    assert "1 hit of 1 place" in said[0] and said[1].startswith("ValueError")


@pytest.mark.quick
@pytest.mark.core
def test_a_cell_is_stepped_in_a_forked_child_while_the_kernel_lives(kernel: BlockingKernelClient) -> None:
    shown(kernel, f"{LOAD}probing = load({str(library())!r}); value = 0")
    said = shown(
        kernel, "%%inspect_debug --at mixed\nprint('before')\nvalue = probing.mix([1])\nprint(value)"
    )
    assert said[0] == "before\n"
    assert "mixed" in said[1] and "list (1 item)" in said[1] and "<module>" in said[1]
    assert shown(kernel, "print(value)") == ["0\n"]  # the kernel runs other cells, and has its own names
    assert "x = 1, y = 2" in "".join(shown(kernel, "%inspect_debug print *p"))
    assert "stopped  mix " in shown(kernel, "%inspect_debug finish")[0]
    assert "stopped  mixed" not in shown(kernel, "%inspect_debug up")[0]
    assert "ended with code 0" in "".join(shown(kernel, "%inspect_debug continue"))
    assert "not-debugging" in "".join(shown(kernel, "%inspect_debug step"))
    cell = "%%inspect_debug\nfor n in range(40): probing.probe(1000 + n)\nprobing.crash()"
    crashed = "".join(shown(kernel, cell))
    assert "SIGSEGV" in crashed and "crash" in crashed
    last = crashed[crashed.index("calls before it") :]  # of a child that stands still: read from its rings
    assert "PyLong_AsLong" in last and "1039" in last
    shown(kernel, "%inspect_debug quit")
    assert shown(kernel, "print(value)") == ["0\n"]


@pytest.mark.core
def test_a_break_in_numpy_shows_the_array_and_the_line(kernel: BlockingKernelClient) -> None:
    shown(kernel, "import numpy as np; rows = [[1.0, 2.0], [3.0, 4.0]]; base = np.arange(6.0)")
    said = "".join(
        shown(kernel, "%%inspect_break PyArray_NewCopy\ncopied = base.copy()\nfloat(copied.sum())")
    )
    assert "15.0" in said and "1 hit of 1 place" in said
    assert "PyArray_NewCopy" in said and "<module>" in said and "_multiarray_umath" in said


def test_a_live_kernel_is_read_from_outside_while_its_cell_sleeps(kernel: BlockingKernelClient) -> None:
    """Its main thread is in C, with the cell unfinished; the heartbeat goes on."""
    pid = int(shown(kernel, "import os, time; table = {'k': [1, 'two']}; print(os.getpid())")[0])
    kernel.execute("time.sleep(1)")
    other = running.attach(pid)
    assert other.inspect("table['k'][1]").value == "str 'two'"
    assert [one.key for one in other.owners("table").owners if one.kind == "global"] == ["table"]
    kernel.hb_channel.unpause()
    until(kernel.hb_channel.is_beating)
    assert proc.tracer(pid) == 0 and not proc.thread_states(pid) & {"T", "t"}
    assert shown(kernel, "print(table)") == ["{'k': [1, 'two']}\n"]


DEADLOCK = """%%inspect_debug
import threading, time
first, second = threading.Lock(), threading.Lock()
def one():
    with first:
        time.sleep(0.3)
        with second: pass
thread = threading.Thread(target=one, name="worker")
thread.start()
with second:
    time.sleep(0.3)
    with first: pass
"""


@pytest.mark.quick
def test_a_cell_that_does_not_end_says_why(kernel: BlockingKernelClient) -> None:
    shown(kernel, LOAD)
    said = "".join(shown(kernel, DEADLOCK))
    assert said.lstrip().startswith("Deadlock: "), said
    assert "worker holds the lock first, waits for the lock second" in " ".join(said.split())
    assert re.search(r"\(cell\s+\d+:6\)", said) and "read in" in said and "gdb-late" not in said
    refused = "".join(shown(kernel, "%inspect_debug step"))
    assert "gdb-refused" in refused, "no thread stands still"
    shown(kernel, "%inspect_debug quit")
    assert shown(kernel, "1 + 1") == ["2"]
