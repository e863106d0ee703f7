"""Programs for the debugger's tests: each in a process of its own, saying JSON, looked at from outside."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import specimens

from inspector.debugger import healing
from inspector.debugger.attach.attached import Attached
from inspector.debugger.memory import proc
from inspector.sessions import running

SOAK = os.environ.get("INSPECTOR_SOAK") == "1"
ORPHANS_S = 6 if SOAK else 60
"""Until nobody of a session is there any more: the promise is 6 s, on a machine with room."""
HEARING = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
"""A shell starts what it runs in the background with SIGINT ignored, and that is inherited."""

PROBE = r"""
#include <Python.h>
typedef struct { int x, y; double w; } pair;
__attribute__((noinline)) long storm_probe(long n) { __asm__ volatile(""); return 3 * n + 1; }
__attribute__((noinline)) double mixed(PyObject *object, double factor, int n, const char *word, pair *p) {
    __asm__ volatile("");
    return factor * n + p->x + (object == Py_None) + word[0];
}
static PyObject *probe(PyObject *self, PyObject *n) {
    long value = PyLong_AsLong(n);
    return value == -1 && PyErr_Occurred() ? NULL : PyLong_FromLong(storm_probe(value));
}
static PyObject *mix(PyObject *self, PyObject *object) {
    pair p = {1, 2, 3.5};
    return PyFloat_FromDouble(mixed(object, 2.5, -3, "word", &p));
}
static PyObject *crash(PyObject *self, PyObject *unused) { *(volatile int *)8 = 1; return NULL; }
#include <sys/mman.h>
__attribute__((noinline)) int fall(int how, double weight, volatile int *zero) {
    char *gone = mmap(0, 4096, PROT_READ, MAP_SHARED, memfd_create("gone", 0), 0); /* a page of no file */
    int never = how == 6 ? (abort(), 0) : how == 7 ? gone[0] : how == 8 ? 100 / *zero : *(volatile int *)8;
    __asm__ volatile("" : : "r"(how), "x"(weight)); /* both live to the end */
    return never;
}
static PyObject *die(PyObject *self, PyObject *how) {
    volatile int zero = 0;
    return PyLong_FromLong(fall((int)PyLong_AsLong(how), 2.5, &zero));
}
"""
LOAD = """
import importlib.machinery, importlib.util
def load(path):
    loader = importlib.machinery.ExtensionFileLoader("probing", path)
    spec = importlib.util.spec_from_file_location("probing", path, loader=loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module
"""
PREPARE = f"""{LOAD}
import json, os, sys, threading
def say(**what):
    print(json.dumps(what), flush=True)
PATH = sys.argv[1]
"""


def library(*flags: str) -> Path:
    """The compiled module of PROBE."""
    return specimens.library("probing", PROBE, flags=flags)


def breaking(script: str) -> str:
    """A script that has Breakpoints and the module as `probing`, and waits at its end."""
    begin = "from inspector.debugger.session import Breakpoints\nprobing = load(PATH)\n"
    return f"{begin}{script}sys.stdin.readline()\n"


class Program:
    """A running script: `said()` is its next line of JSON; it lives until the block is left."""

    def __init__(self, script: str, *flags: str, python: str = sys.executable, **environment: str) -> None:
        command = [python, "-P", "-c", PREPARE + script, str(library(*flags))]
        pipes: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        self.child = subprocess.Popen(command, **pipes, text=True, env={**os.environ, **environment})
        self.pid = self.child.pid

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.child.kill()
        self.child.communicate()

    def said(self) -> dict[str, Any]:
        """The next line the script said; its error output where it ended instead."""
        line = self.child.stdout.readline()  # type: ignore[union-attr]
        if not line:
            raise AssertionError(f"ended with {self.child.wait()}: {self.child.stderr.read()[-3000:]}")  # type: ignore[union-attr]
        found: dict[str, Any] = json.loads(line)
        return found

    def go_on(self) -> None:
        """Let the script's `sys.stdin.readline()` return."""
        self.child.stdin.write("\n")  # type: ignore[union-attr]
        self.child.stdin.flush()  # type: ignore[union-attr]

    def assert_whole(self) -> None:
        """The process runs, nobody traces it, and its code is that of its files."""
        assert proc.tracer(self.pid) == 0
        assert not proc.thread_states(self.pid) & {"T", "t"}
        assert healing.differences(self.pid) == []


@contextlib.contextmanager
def target(
    script: str, python: str = sys.executable, **environment: str
) -> Iterator[tuple[Program, Attached]]:
    """A program that is ready, looked at; it is whole afterwards."""
    with Program(script, python=python, **environment) as program:
        program.said()
        yield program, running.attach(program.pid)
        program.assert_whole()


def told(script: str, *flags: str) -> dict[str, Any]:
    """What a script says, run to its end."""
    with Program(script, *flags) as program:
        return program.said()


def until(question: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait for a state; fails after a time that no machine needs."""
    limit = time.monotonic() + seconds
    while not question():
        assert time.monotonic() < limit, "it never came to that"
        time.sleep(0.005)


def ends(pid: int) -> Callable[[], bool]:
    """Whether a process has ended."""
    return lambda: not proc.alive(pid)
